//! A feature that failed, was blocked or left out is tried again: in this mission where somebody still looks at the queue, and
//! in the next one with what is known and there of it.

use serde_json::{Value, json};

use super::rig::{Rig, builds, feature, says, who};

/// Nobody reads the queue any more once the last question is open: what is to be tried again stays so for the next mission.
#[test]
fn what_is_to_be_tried_again_at_the_very_end_is_what_the_next_mission_tries() {
    let features = [feature("F-A"), feature("F-B"), feature("F-C").on(&["F-B"])];
    let mut rig = Rig::of(&features, "");
    rig.edit(|features| features[2]["status"] = json!("passed"));
    rig.ends(&["--checkpoint", "post-feature", "--checkpoint", "pre-done"], 8);
    assert_eq!(rig.run(&["skip", "F-B", "--reason", "not now"]), Some(0), "{}", rig.told);
    assert_eq!(rig.answers("feature_grant", &["grant"]), Some(8), "{}", rig.told);
    assert_eq!(rig.standing(), "F-A passed, F-B skipped, F-C passed");
    assert_eq!(rig.run(&["mission", "retry", "F-B"]), Some(0), "{}", rig.told);
    assert_eq!(rig.answers("done_grant", &["grant"]), Some(0), "{}", rig.told);
    assert_eq!(rig.standing(), "F-A passed, F-B pending, F-C passed");
    rig.ends(&[], 0);
    assert_eq!(rig.begun(), ["F-B"], "{}", rig.told);
    rig.was_always_sound();
}

#[test]
fn a_failed_feature_is_tried_again_in_its_own_mission_with_what_it_has_blocked() {
    let features =
        [feature("F-A"), feature("F-AFTER").on(&["F-A"]), feature("F-B"), feature("F-C")];
    let mut rig = Rig::of(&features, &builds("F-A", None, "bad\n"));
    rig.ends(&["--max-attempts", "0", "--checkpoint", "post-feature"], 8);
    assert_eq!(rig.standing(), "F-A failed, F-AFTER blocked, F-B pending, F-C pending");
    assert_eq!(rig.run(&["skip", "F-B", "--reason", "not now"]), Some(0), "{}", rig.told);
    assert_eq!(rig.run(&["redo", "worker", "--unit", "F-A"]), Some(2), "{}", rig.told);
    rig.saw("`windlass mission retry F-A` has it tried again");
    assert_eq!(rig.run(&["mission", "retry", "F-A"]), Some(0), "{}", rig.told);
    rig.saw("a mission under way takes it up when a feature settles next");
    rig.now_says(&features, "");
    assert_eq!(rig.answers("feature_grant", &["grant"]), Some(8), "{}", rig.told);
    assert_eq!(rig.standing(), "F-A passed, F-AFTER pending, F-B skipped, F-C pending");
    let again = rig.feature("F-A");
    assert_eq!((&again["reason"], &again["kept"]), (&Value::Null, &Value::Null));
    assert_eq!(rig.run(&["mission", "retry", "F-B"]), Some(0), "{}", rig.told);
    while rig.asked().is_some() {
        rig.answers("feature_grant", &["grant"]);
    }
    assert_eq!(rig.standing(), "F-A passed, F-AFTER passed, F-B passed, F-C passed");
    assert_eq!(rig.state()["outcome"], "done", "{}", rig.told);
    let told = rig.prompts("mission-worker", "F-A");
    assert_eq!(told.len(), 2, "{}", rig.told);
    assert!(told[1].contains("a.txt:1 is bad"), "{}", told[1]);
    assert!(told[1].contains("is in your lane already"), "{}", told[1]);
    assert_eq!(
        rig.scratch.status()["runs"].as_array().map(Vec::len),
        Some(1),
        "one mission did it all"
    );
    rig.was_always_sound();
}

/// What the first mission leaves of a feature that it could not build.
fn failed(text: &str) -> Rig {
    let features = [feature("F-A"), feature("F-B")];
    let script = says(
        &who("mission-worker", "F-A", None),
        "verdict = 'built', summary = 'it is there'",
        &[("a.txt", "bad\n"), ("more.txt", text)],
    );
    let mut rig = Rig::of(&features, &script);
    rig.ends(&["--max-attempts", "0"], 3);
    let left = rig.feature("F-A");
    assert!(left["kept"].as_str().is_some_and(|kept| kept.len() >= 40), "{left}");
    assert!(left["findings"][0].as_str().is_some_and(|it| it.contains("a.txt:1 is bad")), "{left}");
    rig.now_says(&features, &builds("F-A", None, "good\n"));
    rig
}

#[test]
fn the_next_mission_goes_on_with_what_the_last_one_has_built_and_found() {
    let mut rig = failed("a beginning\n");
    rig.ends(&[], 0);
    let told = &rig.prompts("mission-worker", "F-A")[0];
    for part in ["In an earlier mission:", "a.txt:1 is bad", "is in your lane already"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert_eq!(rig.file("more.txt").as_deref(), Some("a beginning\n"), "nobody wrote it anew");
    assert_eq!(rig.file("a.txt").as_deref(), Some("good\n"));
    let done = rig.feature("F-A");
    assert_eq!((&done["kept"], &done["findings"]), (&Value::Null, &Value::Null), "it is over");
    rig.was_always_sound();
}

#[test]
fn what_was_built_and_does_not_go_together_with_the_branch_any_more_is_shown() {
    let mut rig = failed("a beginning\n");
    let kept = rig.feature("F-A")["kept"].as_str().unwrap().to_owned();
    rig.write("more.txt", "something else\n");
    rig.scratch.git(&["add", "more.txt"]);
    rig.scratch.git(&["commit", "-qm", "Theirs"]);
    rig.ends(&[], 0);
    let told = &rig.prompts("mission-worker", "F-A")[0];
    for part in ["is not in your lane", &kept, "+a beginning"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert_eq!(rig.file("more.txt").as_deref(), Some("something else\n"));
    rig.was_always_sound();
}

/// The queue's file is written by people and planners: what it names is taken up if it was put aside of this very feature.
#[test]
fn a_commit_that_was_not_put_aside_of_a_feature_is_not_taken_up() {
    let features = [feature("F-A")];
    let mut rig = Rig::of(&features, "");
    rig.write("planted.txt", "planted\n");
    rig.scratch.git(&["checkout", "-qb", "other"]);
    rig.scratch.git(&["add", "planted.txt"]);
    rig.scratch.git(&["commit", "-qm", "Planted"]);
    let planted = rig.scratch.git(&["rev-parse", "HEAD"]);
    rig.scratch.git(&["checkout", "-q", "main"]);
    rig.edit(|features| features[0]["kept"] = json!(planted));
    rig.ends(&[], 0);
    assert_eq!(rig.file("planted.txt"), None);
    assert!(!rig.prompts("mission-worker", "F-A")[0].contains("earlier attempt"));
}
