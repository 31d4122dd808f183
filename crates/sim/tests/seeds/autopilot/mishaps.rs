//! What can go wrong with any step, who may change files, and what is run as a command.

use windlass_core::{
    run::Wish,
    workflow::{Errand, Kind},
};
use windlass_sim::{Saying, Walk};

use super::{FLOW, begun, phase, small_plan};

#[track_caller]
fn at(stage: &str) -> Walk<'static> {
    let mut walk = begun(&[("rigor", "thorough")], vec![phase("p1", "low")]);
    walk.on_to(stage, &[("find_plan", Saying::new("missing")), ("read_plan", small_plan())]);
    assert!(walk.is_at(stage), "at {:?}", walk.at());
    walk
}

const ROLES: [&str; 6] = ["skeleton", "plan", "do", "verify", "review", "final_review"];

/// "When context limits are approaching: Persist state immediately", and "continue from this point".
#[test]
fn a_context_limit_saves_state_and_resumes_at_the_same_step() {
    for stage in ROLES {
        for mishap in ["context_full", "cut_short"] {
            let mut walk = at(stage);
            walk.says(stage, mishap);
            assert_eq!((walk.at(), walk.exit_code()), (vec![], Some(3)), "{stage}: {mishap}");
            walk.wishes(Wish::Resume(None));
            assert_eq!(walk.at(), [stage], "{mishap}");
        }
    }
}

/// A crash, a hang or an unreadable verdict is tried again twice in the same visit, never taken for
/// a pass, and then surfaces.
#[test]
fn trouble_is_tried_again_twice() {
    for stage in ROLES {
        for mishap in ["crashed", "timed_out", "unknown"] {
            let mut walk = at(stage);
            for _ in 0..2 {
                walk.says(stage, mishap);
                assert_eq!(walk.at(), [stage], "{mishap}");
            }
            let visits = walk.runs(stage);
            walk.says(stage, mishap);
            assert_eq!((walk.at(), walk.exit_code()), (vec![], Some(3)), "{stage}: {mishap}");
            walk.wishes(Wish::Resume(None)).says(stage, mishap);
            assert_eq!((walk.at(), walk.runs(stage)), (vec![stage.to_owned()], visits + 1));
        }
    }
}

/// "Autopilot delegates, never reimplements": only these may change files, each by its own persona.
#[test]
fn who_may_change_files() {
    let mut editors = Vec::new();
    for stage in FLOW.stages.iter().filter(|stage| stage.edits) {
        let Kind::Role { role, .. } = &stage.kind else { panic!("{} is no role", stage.name) };
        editors.push((stage.name.as_str(), role.as_str()));
    }
    editors.sort_unstable();
    let expected = [
        ("do", "task-executor"),
        ("final_fix", "task-executor"),
        ("final_resolve", "conflict-resolver"),
        ("resolve", "conflict-resolver"),
    ];
    assert_eq!(editors, expected);
}

/// "harness validate — Run during INIT … Included in every execution task", "harness check-deps …
/// included in task steps": commands, not anybody's word.
#[test]
fn validation_and_dependency_checks_are_commands() {
    let names = |stage: &str| match &super::stage(stage).kind {
        Kind::Errand(Errand::Checks { names, .. }) => names.clone(),
        _ => panic!("{stage} runs no commands"),
    };
    let rows: [(&str, &[&str]); 4] = [
        ("health", &["validate"]),
        ("task_checks", &["validate", "check-deps"]),
        ("validate", &["validate"]),
        ("final_validate", &["validate"]),
    ];
    for (stage, expected) in rows {
        assert_eq!(names(stage), expected, "{stage}");
    }
}

/// The seed's ten states, and no other, are what people see.
#[test]
fn the_states_are_the_seeds() {
    let states = [
        "INIT",
        "ASSESS",
        "PLAN",
        "APPROVE_PLAN",
        "EXECUTE",
        "VERIFY",
        "REVIEW",
        "PHASE_COMPLETE",
        "FINAL_REVIEW",
        "DONE",
    ];
    let ours = ["tally", "suggest", "cut_off"];
    for stage in &FLOW.stages {
        match &stage.shown_as {
            Some(state) => assert!(states.contains(&state.as_str()), "{}: {state}", stage.name),
            None => assert!(ours.contains(&stage.name.as_str()), "{}", stage.name),
        }
    }
    let mut walk = begun(&[], vec![phase("p1", "low")]);
    walk.to_the_end(&[("find_plan", Saying::new("missing")), ("read_plan", small_plan())]);
    let mut seen: Vec<&str> = Vec::new();
    for name in walk.entered() {
        let state = super::stage(name).shown_as.as_deref();
        if let Some(state) = state.filter(|state| seen.last() != Some(state)) {
            seen.push(state);
        }
    }
    assert_eq!(seen, states, "in the order of the state machine");
}
