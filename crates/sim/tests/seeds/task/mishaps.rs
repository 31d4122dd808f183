//! What can go wrong with any step, who may change files, and the states that people see.

use windlass_core::{
    run::Wish,
    workflow::{Kind, ScopeIx},
};

use super::{FLOW, fresh, shown_as};

/// A role whose verdict cannot be read, or whose file is missing, has failed (C14): tried again
/// twice in the same visit, and then it surfaces.
#[test]
fn trouble_is_tried_again_twice() {
    for stage in ["plan_standard", "lead_plan", "advise_standard", "implement_standard"] {
        for mishap in ["crashed", "timed_out", "unknown", "no_output"] {
            let mut walk = fresh(&[], stage);
            let members = walk.at().len();
            for _ in 1..members {
                walk.says(stage, "generated");
            }
            for _ in 0..2 {
                walk.says(stage, mishap);
                assert_eq!(walk.at(), [stage], "{mishap}");
            }
            walk.says(stage, mishap);
            assert_eq!((walk.at(), walk.exit_code()), (vec![], Some(3)), "{stage}: {mishap}");
            walk.wishes(Wish::Resume(None)).says(stage, mishap);
            assert_eq!(walk.at().first().map(String::as_str), Some(stage), "{mishap}");
        }
        for mishap in ["context_full", "cut_short"] {
            let mut walk = fresh(&[], stage);
            let members = walk.at().len();
            for _ in 1..members {
                walk.says(stage, "generated");
            }
            walk.says(stage, mishap);
            assert_eq!((walk.at(), walk.exit_code()), (vec![], Some(3)), "{stage}: {mishap}");
            walk.wishes(Wish::Resume(None));
            assert!(walk.is_at(stage), "{stage}: {mishap}");
        }
    }
}

/// Each generator, the patch and the resolver; no planner, advisor, verifier or evaluator.
#[test]
fn who_may_change_files() {
    let mut editors: Vec<&str> =
        FLOW.stages.iter().filter(|stage| stage.edits).map(|stage| stage.name.as_str()).collect();
    editors.sort_unstable();
    let expected =
        ["apply_patch", "implement_multi", "implement_single", "implement_standard", "resolve"];
    assert_eq!(editors, expected);
}

/// "State Transition Diagram", and the phase that each question is asked in.
#[test]
fn the_states_are_the_seeds() {
    let diagram = [
        "plan_ready",
        "planning",
        "plan_done",
        "generate_ready",
        "generating",
        "generate_done",
        "verify_ready",
        "verifying",
        "verify_done",
        "evaluate_ready",
        "evaluating",
        "evaluate_done",
        "completed",
    ];
    let mut walk = fresh(&[], "discovery");
    let from = walk.entered().len() - 1;
    walk.to_the_end(&[]);
    let mut states: Vec<String> = Vec::new();
    for stage in walk.entered()[from..].iter().filter(|stage| **stage != "report") {
        let state = shown_as(stage);
        if states.last() != Some(&state) {
            states.push(state);
        }
    }
    assert_eq!(states, diagram);

    let asides: [(&str, &[&str]); 7] = [
        ("planning", &["plan_single", "plan_multi", "revise_spec"]),
        ("plan_done", &["plan_result", "spec_gate", "edit_spec", "reread_spec"]),
        ("generating", &["implement_single", "implement_multi", "limits", "limits_gate"]),
        ("verifying", &["verify_report", "apply_patch"]),
        ("verify_done", &["verify_result", "verify_gate", "propose", "patch_check", "patch_gate"]),
        (
            "evaluate_done",
            &[
                "recovered_verdict",
                "take_its_word",
                "evaluate_result",
                "evaluate_failed",
                "qa_layer2",
                "qa_layer3",
                "rounds_spent",
            ],
        ),
        (
            "completed",
            &[
                "commit_gate",
                "give_back",
                "lane_kept",
                "land_code",
                "land_all",
                "resolve",
                "conflict_gate",
            ],
        ),
    ];
    for (state, stages) in asides {
        for stage in stages {
            assert_eq!(shown_as(stage), state, "{stage}");
        }
    }
    let unit = FLOW.stages.iter().filter(|stage| stage.scope == ScopeIx::UNIT);
    for stage in unit.filter(|stage| !matches!(stage.kind, Kind::Decide(_))) {
        let state = shown_as(&stage.name);
        assert!(diagram.contains(&state.as_str()), "{}: {state}", stage.name);
    }
}
