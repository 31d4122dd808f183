//! Changes that come as a patch, and changes that are given to the person without a commit.

use std::fs;

use crate::scratch::{Scratch, fixture};

const TASKS: &str = "[[task]]\nid = 'hello'\ntitle = 'Say hello'\ncareful = false\n";

/// The usual workflow, in which a patch mends what was done before it is proved.
fn mended(scope: &str) -> String {
    let stages = format!(
        "[[unit]]\nstage = \"propose\"\nrole = \"proposer\"\non = {{ written = \"next\" }}\n\n\
         [[unit]]\nstage = \"apply\"\nsave = \"patch\"\nfrom = \"propose\"\nedits = true\n\
         with = {{ scope = \"'{scope}'\" }}\n\
         on = {{ saved = \"next\", nothing = \"stuck\", refused = \"stuck\" }}\n\n\
         [[unit]]\nstage = \"prove\"\n"
    );
    let flow = fixture("small.toml");
    assert_eq!(flow.matches("[[unit]]\nstage  = \"prove\"\n").count(), 1);
    flow.replace("[[unit]]\nstage  = \"prove\"\n", &stages)
}

const PROPOSER: &str = "[role.proposer]\nabout = 'proposes'\nverdicts = ['written']\n";

/// A worker that writes `hallo`, and somebody who says how to mend that.
pub fn script(proposal: &str) -> String {
    format!(
        "[[answer]]\nrole = 'worker'\nwrite = {{ 'hello.txt' = \"hallo\\n\" }}\n\
         say = {{ verdict = 'done', cost_usd = 0.0, tokens = 1 }}\n\
         [[answer]]\nrole = 'proposer'\nprint = '''{proposal}'''\n\
         say = {{ verdict = 'written', cost_usd = 0.0, tokens = 1 }}\n\
         [[answer]]\nrole = 'reviewer'\nsay = {{ verdict = 'clear', cost_usd = 0.0, tokens = 1 }}\n"
    )
}

fn scratch(flow: &str, script: &str) -> Scratch {
    let catalogue = fixture("small-catalogue.toml") + PROPOSER;
    Scratch::with(&[
        ("flow.toml", flow),
        ("catalogue.toml", &catalogue),
        ("script.toml", script),
        ("tasks.toml", TASKS),
    ])
}

const MENDS: &str = "It is misspelt.\n\n```diff\n--- a/hello.txt\n+++ b/hello.txt\n@@ -1 +1 @@\n-hallo\n+hello\n```\n";

#[test]
fn a_patch_is_applied_and_what_it_makes_is_proved() {
    let scratch = scratch(&mended("(no limit)"), &script(MENDS));
    let output = scratch.start().output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(scratch.landed()["hello.txt"], "hello");
}

/// Nothing of it is applied: not what does not fit, not what is out of bounds, not half of it.
#[test]
fn a_patch_that_may_not_be_is_refused_whole() {
    let add =
        |path: &str| format!("```diff\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n```\n");
    let half = format!("{MENDS}{}", add(".harness/state.json"));
    for (scope, proposal, why) in [
        ("(no limit)", MENDS.replace("-hallo", "-hullo"), "patch does not apply"),
        ("src", MENDS.to_owned(), "hello.txt: it is outside of the scope"),
        ("(no limit)", half, ".harness/state.json: it belongs to the session"),
        ("(no limit)", add("../outside.txt"), "invalid path"),
        ("(no limit)", add(".git/hooks/x"), "invalid path"),
        ("(no limit)", "I have none.".to_owned(), "there is no patch in it"),
    ] {
        let scratch = scratch(&mended(scope), &script(&proposal));
        let output = scratch.start().output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(8), "{why}: {said}");
        assert!(said.contains(why), "{why}: {said}");
        assert!(scratch.landed().is_empty(), "{why}");
        let lane = scratch.windlass(&["lanes", "list", "--json"]).output().unwrap();
        assert!(!String::from_utf8_lossy(&lane.stdout).contains("outside.txt"));
        assert!(
            !scratch.path("outside.txt").exists() && !scratch.repo().join("outside.txt").exists()
        );
    }
}

/// The usual workflow, at whose end the work is given to the person without a commit.
pub fn given() -> String {
    let flow = fixture("small.toml");
    let from = flow.find("[[unit]]\nstage = \"land\"").unwrap();
    let until = flow.find("[[unit]]\nstage = \"stuck\"").unwrap();
    let give = "[[unit]]\nstage = \"give\"\nsave = \"apply\"\nneeds = [\"prove:pass\", \"review:clear\"]\n\
                on = { saved = \"done\", nothing = \"done\", refused = \"stuck\" }\n\n";
    format!("{}{give}{}", &flow[..from], &flow[until..])
}

#[test]
fn work_is_given_without_a_commit_and_index_and_branches_stay_as_they_are() {
    let script = script("").replace("hallo", "hello");
    let scratch = scratch(&given(), &script);
    let before = (scratch.git(&["rev-parse", "HEAD"]), scratch.git(&["ls-files", "-s"]));
    let output = scratch.start().output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(fs::read_to_string(scratch.repo().join("hello.txt")).unwrap(), "hello\n");
    assert_eq!((scratch.git(&["rev-parse", "HEAD"]), scratch.git(&["ls-files", "-s"])), before);
    assert_eq!(scratch.git(&["status", "--porcelain"]), "?? hello.txt");
}

/// What the person has changed meanwhile is theirs.
#[test]
fn work_is_not_given_to_whom_it_would_take_something_from() {
    let script = script("").replace("hallo", "hello");
    let scratch = scratch(&given(), &script);
    fs::write(scratch.repo().join("test.sh"), "true\n").unwrap();
    let output = scratch.start().output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(8), "{said}");
    assert!(said.contains("your checkout is as it was"), "{said}");
    assert_eq!(fs::read_to_string(scratch.repo().join("test.sh")).unwrap(), "true\n");
    assert!(!scratch.repo().join("hello.txt").exists());
}

mod slow {
    use super::*;
    use crate::crashes::killed;

    #[test]
    fn killed_after_any_entry_a_patch_is_applied_once() {
        let make = || scratch(&mended("(no limit)"), &script(MENDS));
        killed(make, 4, |scratch, at| {
            assert_eq!(scratch.landed()["hello.txt"], "hello", "after entry {at}");
        });
    }

    #[test]
    fn killed_after_any_entry_work_is_given_once() {
        let make = || scratch(&given(), &script("").replace("hallo", "hello"));
        killed(make, 5, |scratch, at| {
            let given = fs::read_to_string(scratch.repo().join("hello.txt")).unwrap();
            assert_eq!(given, "hello\n", "after entry {at}");
            assert_eq!(scratch.git(&["status", "--porcelain"]), "?? hello.txt", "after entry {at}");
        });
    }
}
