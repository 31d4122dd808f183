//! Lanes as an agent left them, and what a person is told of them.

use std::fs;
use std::io::Write as _;
use std::process::{Output, Stdio};

use serde_json::Value;

use crate::scratch::{Scratch, ended};

/// Both tasks end at a question, each in its lane.
const TASKS: &str =
    "[[task]]\nid = 'hello'\ncareful = true\n[[task]]\nid = 'bye'\ncareful = true\n";

/// The lanes that are in use, by the names of their units.
fn lanes(scratch: &Scratch) -> Vec<Value> {
    let listed = scratch.windlass(&["lanes", "list", "--json"]).output().unwrap();
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    listed["lanes"].as_array().unwrap().clone()
}

fn path_of<'l>(lanes: &'l [Value], unit: &str) -> &'l str {
    let lane = lanes.iter().find(|lane| lane["unit"] == unit).unwrap();
    lane["path"].as_str().unwrap()
}

fn printed(output: Output) -> String {
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_lane_that_nobody_may_read_does_not_hide_the_others() {
    let scratch = Scratch::without_powers(&[("tasks.toml", TASKS)]);
    assert_eq!(scratch.start().output().unwrap().status.code(), Some(8));
    let before = lanes(&scratch);
    let closed = path_of(&before, "hello");
    scratch.sh(&format!("mkdir '{closed}/closed' && chmod 000 '{closed}/closed'"));
    let after = lanes(&scratch);
    let of = |unit: &str| after.iter().find(|lane| lane["unit"] == unit).unwrap();
    assert_eq!(of("bye")["dirty"], false, "{after:?}");
    assert_eq!(of("hello")["path"], closed, "{after:?}");
    let wrong = of("hello")["wrong"].as_str().unwrap();
    assert!(wrong.contains("closed") && wrong.contains("Permission denied"), "{wrong}");
    let listed = scratch.windlass(&["lanes", "list"]).output().unwrap();
    assert_eq!(listed.status.code(), Some(0));
    let text = printed(listed);
    assert!(text.contains("small-1 · bye\n"), "{text}");
    assert!(text.contains("small-1 · hello, cannot be looked at\n"), "{text}");
    assert!(text.contains("Permission denied"), "{text}");
    // What is asked of the others is answered.
    let number = of("bye")["lane"].to_string();
    let shown = scratch.windlass(&["lanes", "show", &number]).output().unwrap();
    assert_eq!(shown.status.code(), Some(0));
    scratch.sh(&format!("chmod 700 '{closed}/closed'"));
}

/// It closes what it made, a part of its repository and in the end the lane itself.
const CLOSES: &str =
    "if [ \"$WINDLASS_ROLE\" = reviewer ]; then echo '{\"verdict\":\"clear\"}'; exit; fi
mkdir -p closed/deep; echo mine > closed/deep/file; echo hello > hello.txt
chmod 000 closed/deep closed hello.txt .git/refs .; echo '{\"verdict\":\"done\"}'";

#[test]
fn what_an_agent_has_closed_to_everybody_lands_with_the_rest() {
    let config = format!(
        "[agents.mine]\nkind = 'command'\ncommand = ['sh', '-c', '''{CLOSES}''']\ncost = 'none'\n\
         [roles]\ndefault = 'mine'\n[checks]\ntest = 'sh test.sh'\n"
    );
    let tasks = "[[task]]\nid = 'hello'\ncareful = false\n";
    let scratch = Scratch::without_powers(&[("windlass.toml", &config), ("tasks.toml", tasks)]);
    let (code, said) = ended(scratch.start().output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(scratch.git(&["show", "main:closed/deep/file"]), "mine");
    let answers = scratch.notes("answered");
    let remarks: Vec<&str> = answers
        .iter()
        .filter_map(|answer| answer["remarks"].as_array())
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let told: Vec<&&str> = remarks.iter().filter(|it| it.contains("was given back")).collect();
    assert_eq!(told.len(), 1, "{remarks:?}");
    assert!(told[0].contains("closed/deep"), "{told:?}");
}

/// What a person's shell in a lane says to these lines.
fn shell(scratch: &Scratch, lane: &str, lines: &str) -> Output {
    let mut shell = scratch.windlass(&["lanes", "shell", lane]);
    let mut shell = shell.env("SHELL", "/bin/sh").stdin(Stdio::piped()).spawn().unwrap();
    // One that is refused does not read them.
    let _ = shell.stdin.take().unwrap().write_all(lines.as_bytes());
    shell.wait_with_output().unwrap()
}

#[test]
fn a_lane_whose_repository_somebody_broke_is_mended_before_a_person_enters() {
    let worker = "[[answer]]\nrole = 'worker'\nunit = 'bye'\nwrite = { 'bye.txt' = 'bye' }\ndelay_ms = 600000\nsay = { verdict = 'done' }\n\
                  [[answer]]\nrole = 'worker'\nwrite = { 'hello.txt' = 'hello' }\nsay = { verdict = 'done' }\n\
                  [[answer]]\nsay = { verdict = 'clear' }\n";
    let scratch = Scratch::with(&[("tasks.toml", TASKS), ("script.toml", worker)]);
    let mut run = scratch.follow(&mut scratch.start());
    run.until("a question", |entry| entry["event"] == "asked");
    let lanes = lanes(&scratch);
    let lane = lanes.iter().find(|lane| lane["unit"] == "hello").unwrap();
    let (number, work) = (lane["lane"].to_string(), lane["path"].as_str().unwrap());
    let look = "git status --porcelain; git rev-parse --abbrev-ref HEAD; ls ran";
    let at_first = shell(&scratch, &number, look);
    let config = format!("{work}/.git/config");
    let evil = "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = touch ran\n";
    fs::write(&config, evil).unwrap();
    let meanwhile = shell(&scratch, &number, look);
    run.child.kill().unwrap();
    let _ = run.code();
    assert_eq!(printed(at_first), "?? hello.txt\nlane\n", "as it is, it can be entered");
    let (code, said) = ended(meanwhile);
    assert_eq!(code, Some(6), "{said}");
    assert!(said.contains("has changed its settings") && said.contains("lanes path"), "{said}");
    let entered = shell(&scratch, &number, look);
    let said = String::from_utf8_lossy(&entered.stderr).into_owned();
    assert_eq!(printed(entered), "?? hello.txt\nlane\n", "{said}");
    assert!(!fs::read_to_string(&config).unwrap().contains("fsmonitor"));
    // One that is not there at all.
    fs::remove_dir_all(format!("{work}/.git")).unwrap();
    assert_eq!(printed(shell(&scratch, &number, look)), "?? hello.txt\nlane\n");
}
