//! What earlier missions have landed, whatever the queue's file says of it.

use std::fs;

use serde_json::{Value, json};

use super::people::named;
use super::rig::{ESCALATION, QUEUE, Rig};

/// The file that the first feature writes is there as a draft of the person's: its landing waits beside the branch.
fn waiting(args: &[&str], code: i32) -> Rig {
    let mut rig = Rig::of(&named(&["F-A"]), "");
    rig.write("a.txt", "a draft\n");
    rig.ends(args, code);
    rig.saw("waits beside main");
    fs::remove_file(rig.scratch.repo().join("a.txt")).unwrap();
    rig
}

fn gives_up(rig: &Rig) {
    rig.scratch.git(&["branch", "-qD", "windlass/mission-1"]);
}

#[test]
fn what_was_given_up_has_not_passed_and_is_built_again() {
    let mut rig = waiting(&[], 0);
    assert_eq!(rig.standing(), "F-A passed");
    gives_up(&rig);
    assert!(rig.landed().is_empty(), "the branch has never had it: {:?}", rig.landed());
    assert_eq!(rig.run(&["status", "--all"]), Some(0));
    let status = rig.told.rsplit_once("$ windlass status").unwrap().1.to_owned();
    assert!(!status.contains("--ff-only") && status.contains("it was given up"), "{status}");
    assert_eq!(rig.run(&["status"]), Some(0));
    let status = rig.told.rsplit_once("$ windlass status").unwrap().1;
    assert!(!status.contains("mission-1"), "nothing waits any more: {status}");
    rig.ends(&[], 0);
    rig.saw("its landing was given up, so it has not passed");
    assert_eq!(rig.landed(), ["Build F-A"], "{}", rig.told);
    let feature = rig.feature("F-A");
    assert_eq!(feature["status"], "passed");
    let commit = feature["commit"].as_str().unwrap();
    rig.scratch.git(&["merge-base", "--is-ancestor", commit, "main"]);
    assert_eq!(feature["reason"], Value::Null);
}

#[test]
fn what_a_person_says_has_passed_is_not_asked_of_the_branch() {
    let mut rig = waiting(&[], 0);
    gives_up(&rig);
    rig.edit(|features| {
        features[0].as_object_mut().unwrap().remove("recorded");
    });
    rig.ends(&[], 0);
    rig.saw("there is nothing to do");
    assert_eq!(rig.standing(), "F-A passed");
}

#[test]
fn what_is_given_up_meanwhile_is_said_at_the_end() {
    let mut rig = waiting(&["--checkpoint", "pre-done"], 8);
    gives_up(&rig);
    assert_eq!(rig.answers("done_grant", &["grant"]), Some(3), "{}", rig.told);
    let feature = rig.feature("F-A");
    assert_eq!(feature["status"], "failed");
    assert!(feature["reason"].as_str().unwrap().contains("given up"), "{feature}");
    assert!(rig.file(ESCALATION).unwrap().contains("was given up"));
}

#[test]
fn what_waits_and_cannot_be_forwarded_any_more_is_offered_as_what_it_is() {
    let mut rig = waiting(&[], 0);
    rig.write("other.txt", "theirs\n");
    rig.scratch.git(&["add", "other.txt"]);
    rig.scratch.git(&["commit", "-qm", "Theirs"]);
    assert_eq!(rig.run(&["status"]), Some(0));
    let status = rig.told.rsplit_once("$ windlass status").unwrap().1.to_owned();
    assert!(status.contains(" merge windlass/mission-1"), "{status}");
    assert!(!status.contains("--ff-only"), "{status}");
    rig.scratch.git(&["merge", "-q", "windlass/mission-1"]);
    assert_eq!(rig.run(&["status", "--all"]), Some(0));
    let status = rig.told.rsplit_once("$ windlass status").unwrap().1;
    assert!(!status.contains("waits to be taken"), "{status}");
}

#[test]
fn an_old_queue_has_nothing_landed_twice() {
    let mut rig = Rig::of(&named(&["F-A", "F-B"]), "");
    let old = rig.file(QUEUE).unwrap();
    rig.ends(&[], 0);
    let landed = ["Build F-A", "Build F-B"];
    assert_eq!(rig.landed(), landed);
    // How often it was tried, only the journal knows.
    let newer = rig.file(QUEUE).unwrap().replace("\"attempts\": 1", "\"attempts\": 0");
    rig.write(QUEUE, &old);
    rig.ends(&[], 0);
    rig.saw("F-A has landed as ");
    rig.saw("`windlass mission retry F-A` has it tried again all the same");
    rig.saw("there is nothing to do");
    assert_eq!(rig.landed(), landed, "{}", rig.told);
    assert_eq!(rig.file(QUEUE).unwrap(), newer, "the file says so again");
    // With something new in it, that is built, and nothing else.
    rig.write(QUEUE, &old);
    rig.edit(|features| features.push(json!({ "id": "F-C", "title": "Build F-C", "claims": [] })));
    rig.now_says(&named(&["F-A", "F-B", "F-C"]), "");
    rig.ends(&[], 0);
    assert_eq!(rig.begun(), ["F-C"], "{}", rig.told);
    assert_eq!(rig.standing(), "F-A passed, F-B passed, F-C passed");
    assert!(rig.feature("F-A")["commit"].is_string());
    assert_eq!(rig.feature("F-A")["recorded"], "passed");
}

#[test]
fn what_has_landed_is_tried_again_where_a_person_says_so() {
    let mut rig = Rig::of(&named(&["F-A", "F-B"]), "");
    rig.ends(&[], 0);
    rig.edit(|features| features[0]["status"] = json!("pending"));
    rig.now_says(&named(&["F-A", "F-B"]), &super::rig::builds("F-A", None, "better\n"));
    rig.ends(&[], 0);
    rig.saw("F-A has landed as ");
    assert_eq!(rig.run(&["mission", "retry", "F-A"]), Some(0), "{}", rig.told);
    rig.ends(&[], 0);
    assert_eq!(rig.begun(), ["F-A"], "{}", rig.told);
    assert_eq!(rig.file("a.txt").as_deref(), Some("better\n"));
    assert_eq!(rig.landed().len(), 3);
    // Something else by the same name is something else.
    rig.edit(|features| {
        let other = json!({ "id": "F-B", "title": "Another B", "claims": [] });
        features[1] = other;
    });
    rig.now_says(&named(&["F-A", "F-B"]), &super::rig::builds("F-B", None, "another\n"));
    rig.ends(&[], 0);
    assert_eq!(rig.begun(), ["F-B"], "{}", rig.told);
}
