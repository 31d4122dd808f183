//! People do things to the branch that a mission lands on, while its lanes are at work: they rename it, delete it, reset it
//! behind what has landed, and tidy up.

use std::fs;
use std::process::Output;

use serde_json::{Value, json};

use super::people::{begun, may, named, patient};
use super::rig::{ESCALATION, Rig};
use crate::scratch::{Followed, ended};

/// A mission with three lanes at work, of which the first has landed. The others are ready at the same moment.
fn one_landed() -> (Rig, Followed) {
    let rig = patient(&named(&["F-A", "F-B", "F-C"]));
    let said = fs::File::create(rig.scratch.path("said")).unwrap();
    let mut mission = rig.scratch.windlass(&["mission", "--lanes", "3"]);
    let mut run = rig.scratch.follow_and_say(&mut mission, said);
    for id in ["F-A", "F-B", "F-C"] {
        begun(&rig, id);
    }
    may(&rig, "F-A", "a\n");
    run.until("F-A has landed", |it| it["note"] == "landed");
    (rig, run)
}

fn others_may(rig: &Rig) {
    may(rig, "F-B", "b\n");
    may(rig, "F-C", "c\n");
}

fn resumed(rig: &Rig) -> (Option<i32>, String) {
    let output: Output = rig.scratch.windlass(&["resume"]).output().unwrap();
    ended(output)
}

#[test]
fn a_target_that_is_renamed_or_deleted_meanwhile_pauses_the_mission_with_what_to_do() {
    for away in [&["branch", "-m", "main", "trunk"][..], &["checkout", "-q", "--detach"]] {
        let (rig, run) = one_landed();
        let tip = rig.scratch.git(&["rev-parse", "main"]);
        rig.scratch.git(away);
        if away[0] == "checkout" {
            rig.scratch.git(&["branch", "-qD", "main"]);
        }
        others_may(&rig);
        assert_eq!(run.code(), Some(1));
        // Whoever watches it is told at once, and so is whoever comes later.
        let live = fs::read_to_string(rig.scratch.path("said")).unwrap();
        let (code, told) = resumed(&rig);
        assert_ne!(code, Some(0), "{told}");
        for part in ["there is no branch main", "make it again where it was", "windlass resume"] {
            assert!(live.contains(part), "{part}: {live}");
        }
        assert!(
            told.contains("`main`") && told.contains(&format!("git branch main {tip}")),
            "{told}"
        );
        // What it says is what helps.
        rig.scratch.git(&["branch", "main", &tip]);
        let (code, told) = resumed(&rig);
        assert_eq!(code, Some(0), "{told}");
        assert_eq!(rig.standing(), "F-A passed, F-B passed, F-C passed");
        let merges = rig.scratch.git(&["log", "--format=%h", "--merges", "main"]);
        assert_eq!(merges.lines().count(), 3, "{told}");
    }
}

#[test]
fn a_target_that_is_reset_behind_what_landed_is_not_called_done() {
    let (mut rig, run) = one_landed();
    let landed = rig.scratch.git(&["rev-parse", "main"]);
    rig.scratch.git(&["reset", "-q", "--hard", "HEAD~1"]);
    others_may(&rig);
    assert_eq!(run.code(), Some(3), "F-A is not there");
    let mut others = rig.landed();
    others.sort();
    assert_eq!(others, ["Build F-B", "Build F-C"], "nothing lands twice by itself");
    assert_eq!(rig.standing(), "F-A failed, F-B passed, F-C passed");
    let taken = rig.feature("F-A");
    assert_eq!(taken["reason"], "it had landed, and somebody has taken it back");
    assert_eq!(taken["commit"], Value::Null);
    let why = rig.file(ESCALATION).unwrap();
    assert!(why.contains("## F-A") && why.contains(&format!("git merge {landed}")), "{why}");
    // The next mission takes it up again.
    let again = rig.scratch.windlass(&["mission", "--lanes", "1"]).spawn().unwrap();
    begun(&rig, "F-A");
    may(&rig, "F-A", "a\n");
    let (code, said) = ended(again.wait_with_output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(rig.standing(), "F-A passed, F-B passed, F-C passed");
    assert_eq!(rig.landed().last().map(String::as_str), Some("Build F-A"));
    assert_eq!(rig.landed().len(), 3);
    rig.told = said;
}

#[test]
fn what_has_landed_and_is_gone_once_the_mission_is_over_may_be_tried_again() {
    let (mut rig, run) = one_landed();
    others_may(&rig);
    assert_eq!(run.code(), Some(0));
    let last = rig.landed().pop().unwrap().replace("Build ", "");
    rig.scratch.git(&["reset", "-q", "--hard", "HEAD~1"]);
    assert_eq!(rig.run(&["mission", "retry", &last]), Some(0), "{}", rig.told);
    let open = rig.feature(&last);
    assert_eq!((&open["status"], &open["commit"]), (&json!("pending"), &Value::Null));
    rig.scratch.git(&[
        "merge-base",
        "--is-ancestor",
        rig.feature("F-A")["commit"].as_str().unwrap(),
        "main",
    ]);
}

#[test]
fn tidying_up_in_the_persons_repository_hurts_no_mission() {
    let (rig, run) = one_landed();
    rig.scratch.git(&["reflog", "expire", "--expire=now", "--all"]);
    rig.scratch.git(&["gc", "-q", "--prune=now", "--aggressive"]);
    others_may(&rig);
    assert_eq!(run.code(), Some(0));
    assert_eq!(rig.standing(), "F-A passed, F-B passed, F-C passed");
    assert_eq!(rig.landed().len(), 3);
    rig.scratch.git(&["fsck", "--strict"]);
}
