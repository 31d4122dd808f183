//! Verify: layer 1 runs commands, retries the implementation role alone, and then asks.

use windlass_core::{
    run::EffectKind,
    workflow::{Errand, Expect},
};

use super::{
    LAYER1_FAILED, LAYER1_PASSED, MODES, choices, counter, fails, first_gate, fresh, last_record,
    stops_at, with,
};

/// "build, test, lint, type-check", and TODOs of changed files; the overrides reach them.
#[test]
fn layer_1_runs_the_seeds_checks() {
    let inputs = [("test_cmd", "just test"), ("todo_blocking", "yes")];
    let walk = fresh(&inputs, "verifying");
    let Some(EffectKind::Errand(Errand::Checks { names, expect: Expect::NoWorse })) =
        walk.find("verifying").map(|(_, effect)| effect.kind)
    else {
        panic!("verifying runs checks")
    };
    assert_eq!(names, ["build", "test", "lint", "type-check", "todos"]);
    let told = ["build", "test", "lint", "type_check", "todo_blocking"];
    let told = told.map(|name| with(&walk, "verifying", name).unwrap_or_default());
    assert_eq!(told, ["detected", "just test", "detected", "detected", "true"]);
}

/// "PASS → Step 6", "FAIL and retries < 3 → retrying Generator"; what does not exist here is
/// SKIPPED and goes on.
#[test]
fn the_result_decides() {
    for (verdict, at) in
        [("pass", "verify_result"), ("skipped", "verify_reading"), ("fail", "verify_report")]
    {
        assert_eq!(fresh(&[], "verifying").says("verifying", verdict).at(), [at], "{verdict}");
    }
}

/// "Generator retry — regardless of mode, launch one implementation sub-agent only (no re-plan, no
/// re-review)", three times, and then the gate.
#[test]
fn three_automatic_retries_of_the_implementation_role_alone() {
    for mode in MODES {
        let mut walk = fresh(&[("mode", mode)], "verifying");
        let implementer = format!("implement_{mode}");
        for retry in 1..=3 {
            walk.says("verifying", "fail").says("verify_report", "told");
            assert_eq!(walk.at(), [implementer.as_str()], "{mode}, retry {retry}");
            assert_eq!(counter(&walk, "layer1"), Some(retry), "{mode}");
            walk.on_to("verifying", &[]);
        }
        walk.says("verifying", "fail").says("verify_report", "told");
        assert_eq!(walk.at(), ["verify_gate"], "{mode}: max retries reached (3/3)");
        assert_eq!((walk.runs(&implementer), walk.runs("verifying")), (4, 4), "{mode}");
        let once = usize::from(mode != "single");
        let planned = [format!("plan_{mode}"), "spec_gate".into()].map(|stage| walk.runs(&stage));
        assert_eq!(planned, [1, 1], "{mode}: no re-plan, no gate");
        let advised = walk.runs("advise_standard") + walk.runs("advise_multi");
        assert_eq!((walk.runs("lead_plan"), advised), (once, once), "{mode}: no re-review");
    }
}

#[test]
fn a_retry_that_passes_goes_on() {
    for failures in 1..=3 {
        let mut walk = fresh(&[], "verifying");
        for _ in 0..failures {
            walk.says("verifying", "fail").on_to("verifying", &[]);
        }
        walk.says("verifying", "pass").on_to("evaluating", &[]);
        assert_eq!(counter(&walk, "layer1"), Some(failures));
        let context = with(&walk, "evaluating", "verify_context");
        assert_eq!(context.as_deref(), Some(LAYER1_PASSED), "after {failures}");
    }
}

/// "a project without any command to run": the verifier's model reads the change. What it finds wrong is retried like any
/// failure; who cannot read it has found nothing, and what it says is no evidence that anything works.
#[test]
fn where_nothing_can_be_run_a_model_reads() {
    let outcomes =
        ["pass", "unknown", "no_output", "crashed", "timed_out", "cut_short", "context_full"];
    for outcome in outcomes {
        let mut walk = fresh(&[], "verifying");
        walk.says("verifying", "skipped").says("verify_reading", outcome);
        assert_eq!(walk.at(), ["verify_result"], "{outcome}");
        walk.on_to("evaluating", &[]);
        let context = with(&walk, "evaluating", "verify_context");
        assert_eq!(context.as_deref(), Some("Layer 1 was not executed for this session."));
    }
    let mut walk = fresh(&[], "verifying");
    walk.says("verifying", "skipped").says("verify_reading", "fail").says("verify_report", "told");
    assert_eq!(walk.at(), ["implement_standard"]);
    assert_eq!(counter(&walk, "layer1"), Some(1));
}

/// The options of the first hard gate, in the seed's words.
#[test]
fn the_first_gate_offers_the_seeds_options() {
    let walk = first_gate(&[]);
    let offered = [
        (
            "Auto-fix proposal",
            "Let AI (Opus) analyze the failure and propose a minimal diff (1 attempt only)",
        ),
        ("Continue to Evaluator", "Skip remaining verify issues, proceed to QA"),
        ("Fix manually and continue", "Fix it in the lane; it is verified again"),
        ("Stop", "Halt for manual intervention. Review verify_report.md"),
    ];
    assert_eq!(choices(&walk, "verify_gate"), offered.map(|(l, a)| (l.into(), a.into())));
    let question = walk.run().gates()[0].question.clone();
    assert_eq!(question, "Mechanical verification failed after 3 attempts.");
    assert_eq!(walk.exit_code(), Some(8));
}

/// "If Continue: proceed to Step 6", with the failure on record; "If Stop: halt (keep phase as
/// verify_done)".
#[test]
fn continue_records_the_failure_and_the_evaluator_is_told() {
    let mut walk = first_gate(&[]);
    walk.answers("verify_gate", "continue");
    assert_eq!(last_record(&walk), "continued_after_layer1");
    walk.on_to("evaluating", &[]);
    assert_eq!(walk.runs("verify_result"), 1);
    let context = with(&walk, "evaluating", "verify_context");
    assert_eq!(context.as_deref(), Some(LAYER1_FAILED));
    walk.says("evaluating", "pass").on_to("land_code", &[]);
    assert!(walk.is_at("land_code"), "the person's answer is the waiver");

    let mut walk = first_gate(&[]);
    stops_at(&mut walk, "verify_gate");
    assert_eq!(super::shown_as("verify_gate"), "verify_done");
}

/// Ours (C17): what a person fixes in the lane is verified like any other work, with new retries.
#[test]
fn a_manual_fix_is_verified() {
    let mut walk = first_gate(&[]);
    walk.answers("verify_gate", "manual");
    assert_eq!(
        (walk.at(), last_record(&walk)),
        (vec!["verify_ready".into()], "fixed_manually".into())
    );
    let before = walk.runs("verifying");
    walk.on_to("verify_gate", &fails());
    assert_eq!(walk.runs("verifying") - before, 4);
}

/// An agent's word is no evidence: what lands was verified on exactly this tree.
#[test]
fn nothing_is_evaluated_or_landed_unverified() {
    let mut walk = fresh(&[], "land_code");
    assert_eq!((walk.runs("verifying"), walk.runs("evaluating")), (1, 1));
    walk.says("land_code", "moved");
    assert_eq!(walk.at(), ["verify_ready"]);
    walk.on_to("land_code", &[]);
    assert_eq!(
        (walk.runs("verifying"), walk.runs("evaluating")),
        (2, 1),
        "the evaluation is upheld"
    );
    walk.says("land_code", "conflict").says("resolve", "resolved").on_to("land_code", &[]);
    assert_eq!((walk.runs("verifying"), walk.runs("evaluating")), (3, 2), "and here it is not");
}
