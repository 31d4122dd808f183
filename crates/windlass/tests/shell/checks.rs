//! Checks that Windlass makes itself, of the change and not of the project.

use crate::scratch::{Scratch, fixture};

const TASKS: &str = "[[task]]\nid = 'hello'\ntitle = 'Say hello'\ncareful = false\n";

/// The usual workflow, with another line for what proves the work.
fn flow(checks: &str) -> String {
    let flow = fixture("small.toml");
    let usual = "checks = [\"test\"]\n";
    assert!(flow.contains(usual));
    flow.replace(usual, checks)
}

const CATALOGUE: &str = "[check.change-limits]\nabout = 'how far a change may go'\n\
                         [check.todos]\nabout = 'what is left to be done'\n";

fn scratch(checks: &str, script: &str) -> Scratch {
    let catalogue = fixture("small-catalogue.toml") + CATALOGUE;
    Scratch::with(&[
        ("flow.toml", &flow(checks)),
        ("catalogue.toml", &catalogue),
        ("script.toml", script),
        ("tasks.toml", TASKS),
    ])
}

/// A worker that writes a file of this text, whatever it is told, and a reviewer who likes it.
fn writes(path: &str, text: &str) -> String {
    format!(
        "[[answer]]\nrole = 'worker'\nwrite = {{ '{path}' = '{text}' }}\n\
         say = {{ verdict = 'done', cost_usd = 0.0, tokens = 1 }}\n\
         [[answer]]\nrole = 'reviewer'\nsay = {{ verdict = 'clear', cost_usd = 0.0, tokens = 1 }}\n"
    )
}

fn checked(scratch: &Scratch, name: &str) -> Vec<String> {
    let notes = scratch.notes("checked");
    let own = notes.iter().filter(|note| note["name"] == name);
    own.map(|note| note["came"].as_str().unwrap().to_owned()).collect()
}

const WITHIN: &str =
    "checks = [\"change-limits\", \"test\"]\nwith = { scope = \"'src'\", max_files = \"2\" }\n";

#[test]
fn a_change_that_goes_too_far_does_not_land_whatever_its_agent_says() {
    let scratch = scratch(WITHIN, &writes("hello.txt", "hello"));
    let output = scratch.start().output().unwrap();
    assert_eq!(output.status.code(), Some(8), "it is asked about");
    assert!(scratch.landed().is_empty());
    assert_eq!(checked(&scratch, "change-limits"), ["fail"; 4], "as often as it may be tried");
    let log = scratch.windlass(&["log", "--full"]).output().unwrap().stdout;
    let log = String::from_utf8_lossy(&log).into_owned();
    assert!(log.contains("outside of the scope `src`:") && log.contains("hello.txt"), "{log}");
}

#[test]
fn a_change_within_its_limits_lands() {
    let scratch = scratch(WITHIN, &writes("src/hello.txt", "hello"));
    let output = scratch.start().output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(scratch.git(&["show", "main:src/hello.txt"]), "hello");
    assert_eq!(checked(&scratch, "change-limits"), ["pass"]);
}

#[test]
fn what_is_left_to_be_done_is_told_and_fails_only_if_that_is_wanted() {
    let todo = writes("src/a.txt", "TODO: the rest");
    let checks = |blocking: &str| {
        format!("checks = [\"test\", \"todos\"]\nwith = {{ todo_blocking = \"{blocking}\" }}\n")
    };
    for (blocking, code, came) in [("true", 8, "fail"), ("false", 0, "skipped")] {
        let scratch = scratch(&checks(blocking), &todo);
        let output = scratch.start().output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{blocking}: {said}");
        assert_eq!(checked(&scratch, "todos")[0], came);
        let log = scratch.windlass(&["log", "--full"]).output().unwrap().stdout;
        let log = String::from_utf8_lossy(&log).into_owned();
        assert!(log.contains("src/a.txt:1: TODO: the rest"), "{log}");
    }
}

/// That nothing is left to be done proves nothing: a project without any command to run is not proved by that.
#[test]
fn who_leaves_nothing_to_be_done_has_proved_nothing() {
    let checks = "checks = [\"todos\"]\nwith = { todo_blocking = \"true\" }\n";
    let scratch = scratch(checks, &writes("src/a.txt", "all of it"));
    let output = scratch.start().output().unwrap();
    assert_eq!(output.status.code(), Some(8), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(checked(&scratch, "todos"), ["pass"]);
    assert!(scratch.landed().is_empty());
}
