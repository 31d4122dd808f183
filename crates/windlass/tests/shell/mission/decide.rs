//! What a person has to decide is where they look for it: units that are held, reasons that they give, checks that tell nothing.

use std::fs;

use serde_json::json;

use super::people::named;
use super::rig::{CONTRACT, ESCALATION, QUEUE, Rig, feature, says, who};
use crate::scratch::ended;

/// A worker who says what nobody understands, each time.
fn held() -> Rig {
    let strange = says(
        &who("mission-worker", "F-A", None),
        "verdict = 'perhaps', summary = 'who knows'",
        &[],
    );
    let mut rig = Rig::of(&named(&["F-A", "F-B"]), &strange);
    rig.ends(&[], 3);
    rig
}

#[test]
fn what_is_held_is_a_persons_to_decide_and_stands_where_they_look_for_it() {
    let mut rig = held();
    rig.saw(&format!("What a person has to decide: {ESCALATION}"));
    let file = rig.file(ESCALATION).unwrap();
    for part in [
        "## F-A: Build F-A",
        "At `worker`: ",
        "mission-worker came to `unknown` last, and said: who knows",
        "its verdict `perhaps` is not one of built, ambiguous, failed",
        "`windlass redo worker --unit F-A`",
        "`windlass skip F-A --reason '…'`",
        "`windlass answer`",
    ] {
        assert!(file.contains(part), "{part}: {file}");
    }
    assert_eq!(rig.run(&["status"]), Some(0));
    rig.saw("`windlass skip UNIT --reason WHY`");
    // Once it is decided, and all has passed, nobody has to decide anything.
    rig.now_says(&named(&["F-A", "F-B"]), "");
    assert_eq!(rig.run(&["redo", "worker", "--unit", "F-A"]), Some(0), "{}", rig.told);
    assert_eq!(rig.run(&["resume"]), Some(0), "{}", rig.told);
    assert_eq!(rig.standing(), "F-A passed, F-B passed");
    assert_eq!(rig.file(ESCALATION), None);
}

#[test]
fn an_escalation_is_over_once_a_later_mission_has_finished_with_everything_passed() {
    let features = named(&["F-A"]);
    let mut rig = Rig::of(&features, &super::rig::builds("F-A", None, "bad\n"));
    rig.ends(&["--max-attempts", "0"], 3);
    assert!(rig.file(ESCALATION).unwrap().contains("## F-A"));
    rig.now_says(&features, "");
    rig.ends(&[], 0);
    assert_eq!(rig.file(ESCALATION), None, "{}", rig.told);
}

#[test]
fn what_a_person_has_made_of_an_escalation_stays_theirs() {
    let features = named(&["F-A"]);
    let mut rig = Rig::of(&features, &super::rig::builds("F-A", None, "bad\n"));
    rig.ends(&["--max-attempts", "0"], 3);
    rig.write(ESCALATION, "my notes\n");
    rig.now_says(&features, "");
    rig.ends(&[], 0);
    assert_eq!(rig.file(ESCALATION).as_deref(), Some("my notes\n"));
}

#[test]
fn a_reason_that_a_person_gives_stays() {
    let mut rig = Rig::of(&named(&["F-A", "F-B", "F-C", "F-D"]), "");
    rig.ends(&["--checkpoint", "post-feature"], 8);
    rig.edit(|features| {
        features[1]["status"] = json!("skipped");
        features[1]["reason"] = json!("not needed");
        features[2]["status"] = json!("passed");
        features[2]["reason"] = json!("it was there before");
    });
    while rig.asked().is_some() {
        rig.answers("feature_grant", &["grant"]);
        let reasons = (rig.feature("F-B")["reason"].clone(), rig.feature("F-C")["reason"].clone());
        assert_eq!(reasons, (json!("not needed"), json!("it was there before")), "{}", rig.told);
    }
    assert_eq!(rig.standing(), "F-A passed, F-B skipped, F-C passed, F-D passed");
    assert_eq!(rig.feature("F-B")["recorded"], "skipped by a person");
    assert_eq!(rig.feature("F-C")["recorded"], "passed by a person");
}

#[test]
fn a_check_that_fails_before_anything_is_done_is_said_to_tell_nothing() {
    let mut rig = Rig::of(&named(&["F-A", "F-B"]), "");
    rig.write("old.txt", "bad\n");
    rig.scratch.git(&["add", "old.txt"]);
    rig.scratch.git(&["commit", "-qm", "Red already"]);
    rig.ends(&[], 0);
    let first = "the check `test` fails on the branch as it is, without any of this work";
    let last = "The check `test` failed without this work as well, so it did not tell what these break: F-A, F-B";
    for said in [first, last] {
        assert_eq!(rig.told.matches(said).count(), 1, "{said}: {}", rig.told);
    }
    assert!(rig.told.find(first) < rig.told.find("F-A: landed"), "{}", rig.told);
    let report = rig.scratch.windlass(&["report"]).output().unwrap();
    let report = String::from_utf8(report.stdout).unwrap();
    assert!(report.contains("failed without this work as well"), "{report}");
}

#[test]
fn a_checkpoint_that_asks_nothing_is_said() {
    let mut rig = Rig::of(&named(&["F-A"]), "");
    rig.ends(&["--checkpoint", "post-planner"], 0);
    rig.saw("the checkpoint `post-planner` asks nothing: .harness/features.json is there");
}

#[test]
fn a_queue_that_an_editor_has_marked_is_read_and_each_flaw_of_it_is_said_once() {
    let mut rig = Rig::of(&named(&["F-A"]), "");
    let marked = format!("\u{feff}{}", rig.file(QUEUE).unwrap());
    rig.write(QUEUE, &marked);
    let more = "- VAL-NOBODY-001: nobody claims this\n  command: `true`\n";
    rig.write(CONTRACT, &format!("{}{more}", rig.file(CONTRACT).unwrap()));
    rig.ends(&[], 0);
    assert_eq!(rig.standing(), "F-A passed");
    assert_eq!(rig.told.matches("no feature claims VAL-NOBODY-001").count(), 1, "{}", rig.told);
}

#[test]
fn a_long_title_is_cut_where_it_is_one_of_many_lines() {
    let mut rig = Rig::of(&[feature("F-A")], "");
    let long = "very ".repeat(60) + "long";
    rig.edit(|features| features[0]["title"] = json!(long));
    rig.ends(&[], 0);
    assert!(!rig.told.contains(&long) && rig.told.contains("very very"), "{}", rig.told);
    assert_eq!(rig.feature("F-A")["title"], json!(long), "it is theirs");
}

#[test]
fn a_feature_that_claims_nothing_or_leaves_the_repository_is_not_added() {
    let rig = Rig::of(&named(&["F-A"]), "");
    let before = fs::read_to_string(rig.scratch.repo().join(QUEUE)).unwrap();
    for args in [
        &["mission", "add", "New", "--claim", " "][..],
        &["mission", "add", "", "--claim", "It is there"],
        &["mission", "add", "New", "--claim", "It is there", "--file", "../../x"],
        &["mission", "add", "New", "--claim", "It is there", "--file", "/etc/x"],
    ] {
        let (code, said) = ended(rig.scratch.windlass(args).output().unwrap());
        assert_eq!(code, Some(2), "{args:?}: {said}");
        assert!(said.contains("nothing was changed"), "{args:?}: {said}");
    }
    assert_eq!(rig.file(QUEUE), Some(before));
}
