//! A feature that is stuck on a conflict: why it is, what whoever looked at it said, and what was built of it.

use super::rig::{ESCALATION, Rig, feature, says, who};

/// A worker that writes what a person writes, too, while the mission asks before it merges.
fn clashing(resolver: &str) -> Rig {
    let script = resolver.to_owned()
        + &says(
            &who("mission-worker", "F-A", None),
            "verdict = 'built', summary = 'it is there'",
            &[("a.txt", "it\n"), ("shared.txt", "blue\n")],
        );
    let mut rig = Rig::of(&[feature("F-A")], &script);
    rig.ends(&["--checkpoint", "pre-merge"], 8);
    rig
}

fn theirs(rig: &Rig, text: &str) {
    rig.write("shared.txt", text);
    rig.scratch.git(&["add", "shared.txt"]);
    rig.scratch.git(&["commit", "-qm", "Theirs"]);
}

#[test]
fn what_a_resolver_cannot_decide_is_a_persons_question_with_the_features_own_work() {
    let contradicted = says(
        &who("conflict-resolver", "", None),
        "verdict = 'failed', summary = 'the branch wants red and F-A wants blue: which one?'",
        &[],
    );
    let mut rig = clashing(&contradicted);
    theirs(&rig, "red\n");
    assert_eq!(rig.answers("merge_grant", &["grant"]), Some(3), "{}", rig.told);
    assert_eq!(
        rig.feature("F-A")["reason"],
        "nobody could resolve its conflict with what has landed"
    );
    let why = rig.file(ESCALATION).unwrap();
    for part in [
        "nobody could resolve its conflict",
        "it conflicts with what has landed: shared.txt",
        "Still open: the branch wants red and F-A wants blue: which one?",
    ] {
        assert!(why.contains(part), "{part}: {why}");
    }
    assert!(!why.contains("attempts are used up"), "{why}");
    rig.told.clear();
    assert_eq!(rig.run(&["status"]), Some(0));
    rig.saw("conflict-resolver said last: the branch wants red and F-A wants blue: which one?");
    let status = rig.scratch.status();
    let unit = &status["runs"][0]["units"][0];
    assert!(unit["said"].as_str().is_some_and(|said| said.contains("which one?")), "{unit}");
    // What is kept is what was built of it, and not a file with both sides in it.
    let kept = unit["kept"].as_str().expect("it is kept").to_owned();
    assert!(why.contains(&format!("windlass lanes restore {kept}")), "{why}");
    assert_eq!(rig.run(&["lanes", "restore", &kept, "../F-A"]), Some(0), "{}", rig.told);
    let there = std::fs::read_to_string(rig.scratch.repo().join("../F-A/shared.txt")).unwrap();
    assert_eq!(there, "blue\n");
}

#[test]
fn a_conflict_that_comes_again_and_again_is_said_to_be_one() {
    let resolved = says(
        &who("conflict-resolver", "", None),
        "verdict = 'resolved', summary = 'blue it is'",
        &[("shared.txt", "blue\n")],
    );
    let mut rig = clashing(&resolved);
    for round in 1..=3 {
        theirs(&rig, &format!("red {round}\n"));
        assert_eq!(rig.answers("merge_grant", &["grant"]), Some(8), "{round}: {}", rig.told);
    }
    theirs(&rig, "red 4\n");
    assert_eq!(rig.answers("merge_grant", &["grant"]), Some(3), "{}", rig.told);
    let why = rig.file(ESCALATION).unwrap();
    assert!(why.contains("in conflict with what had landed again and again"), "{why}");
    assert!(rig.records().contains(&"entangled".to_owned()));
}
