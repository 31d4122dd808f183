//! Once more after the last checks have failed: what a person has settled meanwhile is theirs, and the checks are run again.

use serde_json::json;

use super::rig::{
    CONFIG, CONTRACT, ESCALATION, Feature, Rig, builds, contract, feature, says, val, who,
};

/// What later features land has broken a claim of the first.
fn broken(features: &[Feature]) -> Rig {
    let mut rig = Rig::of(features, "");
    let gone = "- VAL-A-001: there is no b\n  file: `b.txt` absent\n";
    rig.write(CONTRACT, &format!("{gone}{}", contract(&features[1..])));
    rig.ends(&[], 3);
    assert_eq!(rig.feature("F-A")["status"], "failed", "{}", rig.told);
    rig
}

/// The checks of everything that was claimed, and what each came to.
fn looked_at_all(rig: &Rig) -> Vec<String> {
    let checked = rig.scratch.notes("checked");
    let own = checked.iter().filter(|it| it["name"] == "contract" && it["unit"].is_null());
    own.map(|it| it["came"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_a_person_has_passed_between_two_missions_is_theirs_and_on_record() {
    let features = [feature("F-A"), feature("F-B").on(&["F-A"]), feature("F-C")];
    let mut rig = broken(&features[..2]);
    rig.edit(|all| {
        all[0]["status"] = json!("passed");
        all.push(json!({ "id": "F-C", "title": "Build F-C", "claims": [val("F-C")] }));
        all.push(json!({ "id": "F-D", "title": "Build F-D", "claims": [], "status": "skipped", "reason": "later" }));
    });
    let assertions = rig.file(CONTRACT).unwrap() + &contract(&features[2..]);
    rig.write(CONTRACT, &assertions);
    rig.now_says(&features, "");
    rig.ends(&[], 0);
    assert_eq!(rig.standing(), "F-A passed, F-B passed, F-C passed, F-D skipped");
    assert_eq!(
        (rig.begun(), looked_at_all(&rig)),
        (vec!["F-C".to_owned()], vec!["pass".to_owned()])
    );
    assert_eq!(rig.decided("override"), 1, "{}", rig.state());
    for said in ["F-A was set to `passed` by hand", "F-D was set to `skipped` by hand"] {
        rig.saw(said);
    }
    let own = rig.feature("F-A");
    assert_eq!(own["reason"], "a person set it to passed in features.json");
    assert_eq!(own["recorded"], "passed by a person");
    assert_eq!(rig.feature("F-B")["recorded"], "passed", "it was built");
    assert_eq!(rig.feature("F-D")["reason"], "later", "theirs");
    // It stays so, and is on record once.
    rig.edit(|all| all.push(json!({ "id": "F-E", "title": "Build F-E", "claims": [val("F-E")] })));
    rig.write(CONTRACT, &(assertions + &contract(&[feature("F-E")])));
    rig.now_says(&[feature("F-E")], "");
    rig.ends(&[], 0);
    assert_eq!((rig.decided("override"), looked_at_all(&rig)), (0, vec!["pass".to_owned()]));
    assert_eq!(rig.feature("F-A")["recorded"], "passed by a person");
    rig.was_always_sound();
}

/// Also where there is nothing else to do: what they have taken upon themselves is no reason to escalate again.
#[test]
fn what_is_passed_by_hand_ends_an_escalation() {
    let mut rig = broken(&[feature("F-A"), feature("F-B").on(&["F-A"])]);
    rig.edit(|all| all[0]["status"] = json!("passed"));
    rig.ends(&[], 0);
    assert_eq!((rig.decided("DONE"), rig.decided("override")), (1, 1), "{}", rig.told);
    assert_eq!((rig.begun().len(), looked_at_all(&rig)), (0, vec!["pass".to_owned()]));
    rig.ends(&[], 0);
    rig.saw("there is nothing to do");
}

/// Somebody changes what the features are together, and nothing of them is stuck.
#[test]
fn after_a_last_smoke_test_that_failed_the_next_mission_runs_it_again() {
    let config = format!("{CONFIG}smoke = 'sh smoke.sh'\n");
    let smoke = "if grep -qs rough a.txt; then echo 'error: a.txt is rough'; exit 1; fi\n";
    let files = [("windlass.toml", config.as_str()), ("smoke.sh", smoke)];
    let mut rig = Rig::with(&[feature("F-A")], "", &files);
    rig.ends(&["--step", "smoke", "--checkpoint", "pre-done"], 8);
    let commits = |rig: &Rig, text: &str| {
        rig.write("a.txt", text);
        rig.scratch.git(&["commit", "-qam", "By hand"]);
    };
    commits(&rig, "rough\n");
    assert_eq!(rig.answers("done_grant", &["grant"]), Some(3), "{}", rig.told);
    rig.saw("Escalated: the final checks failed");
    let why = rig.file(ESCALATION).unwrap();
    assert!(
        why.contains("a.txt is rough") && why.contains("goes to the final checks again"),
        "{why}"
    );
    assert!(!why.contains("stuck"), "nothing is: {why}");
    // Nobody has mended it.
    rig.ends(&["--step", "smoke"], 3);
    assert_eq!((rig.decided("ESCALATE"), rig.begun().len()), (1, 0), "{}", rig.told);
    rig.told.clear();
    assert_eq!(rig.run(&["status"]), Some(0));
    rig.saw("and the final checks");
    // It is a plan's alone to be made: there is none to make.
    rig.ends(&["--plan-only"], 0);
    rig.saw("there is nothing to do");
    commits(&rig, "a\n");
    rig.ends(&["--step", "smoke"], 0);
    assert_eq!((rig.decided("DONE"), rig.landed().len()), (1, 1), "{}", rig.told);
    rig.told.clear();
    rig.ends(&[], 0);
    rig.saw("there is nothing to do");
}

/// What is added while the last smoke test fails belongs to the next mission, and is held to what all others are.
#[test]
fn what_is_added_while_the_last_smoke_test_fails_is_left_to_the_next_mission_and_held_to_the_same()
{
    let config = format!("{CONFIG}smoke = 'sh smoke.sh'\n");
    let smoke = "if grep -qs rough a.txt new.txt; then echo 'error: it is rough'; exit 1; fi\n";
    let files = [("windlass.toml", config.as_str()), ("smoke.sh", smoke)];
    let mut rig = Rig::with(&[feature("F-A")], "", &files);
    rig.ends(&["--step", "smoke", "--checkpoint", "pre-done"], 8);
    rig.write("a.txt", "rough\n");
    rig.scratch.git(&["commit", "-qam", "By hand"]);
    rig.now_says(&[feature("F-NEW")], &builds("F-NEW", None, "rough\n"));
    let add = ["mission", "add", "Build F-NEW", "--claim", &val("F-NEW"), "--id", "F-NEW"];
    assert_eq!(rig.run(&add), Some(0), "{}", rig.told);
    rig.saw("no feature begins in it any more: the next `windlass mission` takes it up");
    assert_eq!(rig.answers("done_grant", &["grant"]), Some(3), "{}", rig.told);
    rig.saw("that counts from the next `windlass mission` on");
    assert_eq!(
        (rig.standing(), rig.begun()),
        ("F-A passed, F-NEW pending".into(), vec!["F-A".into()])
    );
    let why = rig.file(ESCALATION).unwrap();
    assert!(why.contains("it is rough") && !why.contains("already"), "{why}");
    // It makes it no worse, so it lands as any other; the whole is not done by that.
    rig.ends(&["--step", "smoke"], 3);
    rig.saw("F-NEW: check smoke: fails, as it does without this work");
    assert_eq!((rig.decided("DONE"), rig.decided("ESCALATE")), (0, 1), "{}", rig.told);
    assert_eq!(rig.standing(), "F-A passed, F-NEW passed");
    let why = rig.file(ESCALATION).unwrap();
    assert!(why.contains("(it failed already when this was proved: F-NEW)"), "{why}");
    // What is added once it passes is held to that.
    for (file, text) in [("a.txt", "a\n"), ("new.txt", "new\n")] {
        rig.write(file, text);
    }
    rig.scratch.git(&["commit", "-qam", "Mended by hand"]);
    let add = ["mission", "add", "Build F-WORSE", "--claim", &val("F-WORSE"), "--id", "F-WORSE"];
    assert_eq!(rig.run(&add), Some(0), "{}", rig.told);
    rig.saw("a mission under way takes it up when a feature settles next");
    rig.now_says(
        &[feature("F-WORSE")],
        &says(
            &who("mission-worker", "F-WORSE", None),
            "verdict = 'built', summary = 'built'",
            &[("new.txt", "rough\n")],
        ),
    );
    rig.ends(&["--step", "smoke", "--max-attempts", "1"], 3);
    assert_eq!(rig.feature("F-WORSE")["status"], "failed", "{}", rig.told);
}
