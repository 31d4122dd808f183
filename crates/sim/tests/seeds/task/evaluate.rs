//! Evaluate and verdict: what the evaluator is told, layers 2 and 3, rounds.

use windlass_core::run::Subject;
use windlass_sim::{Saying, Walk};

use super::{
    LAYER1_FAILED, LAYER1_PASSED, MODES, begin, choices, counter, first_gate, fresh, labels,
    last_record, stops_at, with,
};

fn says(verdict: &str) -> (&str, Saying) {
    ("evaluating", Saying::new(verdict))
}

/// "{verify_context}": PASSED / FAILED (user proceeded despite failures) / not executed.
#[test]
fn the_evaluator_is_told_about_layer_1() {
    let told = |walk: &Walk<'_>| with(walk, "evaluating", "verify_context").unwrap_or_default();
    assert_eq!(told(&fresh(&[], "evaluating")), LAYER1_PASSED);
    let mut walk = first_gate(&[]);
    walk.answers("verify_gate", "continue").on_to("evaluating", &[]);
    assert_eq!(told(&walk), LAYER1_FAILED);
    let mut walk = begin(&[], None, &[]);
    walk.on_to("evaluating", &[("verifying", Saying::new("skipped"))]);
    assert_eq!(told(&walk), "Layer 1 was not executed for this session.");

    // Each round is told of its own: a failure that was continued is not carried over, nor a pass.
    let mut walk = first_gate(&[]);
    walk.answers("verify_gate", "continue").on_to("evaluating", &[]);
    walk.says("evaluating", "fail_l3").on_to("qa_layer3", &[]).answers("qa_layer3", "fix");
    walk.on_to("evaluating", &[]);
    assert_eq!(told(&walk), LAYER1_PASSED);
    walk.says("evaluating", "fail_l3").on_to("qa_layer3", &[]).answers("qa_layer3", "fix");
    walk.on_to("verify_gate", &super::fails()).answers("verify_gate", "continue");
    walk.on_to("evaluating", &[]);
    assert_eq!(told(&walk), LAYER1_FAILED);
}

/// The first gate of an adopted session: its layer 1 has failed, though not under our eyes.
#[test]
fn an_adopted_failure_is_told_as_a_failure() {
    for autofix in ["stopped", "rejected"] {
        let mut walk = Walk::new(&super::FLOW, &[]);
        let tasks = vec![super::unit("verify_done", autofix, true)];
        walk.says("surroundings", "git")
            .says("session", Saying::new("found").items("tasks", tasks));
        walk.on_to("verify_gate", &[("conventions", Saying::new("live"))]);
        walk.answers("verify_gate", "continue").on_to("evaluating", &[]);
        let told = with(&walk, "evaluating", "verify_context");
        assert_eq!(told.as_deref(), Some(LAYER1_FAILED));
    }
}

/// "Anchor-free input": the spec, the changed files' names, layer 1's report, and nothing else.
#[test]
fn the_evaluator_sees_no_reasoning() {
    let walk = fresh(&[], "evaluating");
    let sees = walk.find("evaluating").map(|(_, effect)| effect.sees).unwrap_or_default();
    assert_eq!(sees, ["spec.md", "changed-files", "verify_report.md"]);
}

/// "PASS", "FAIL L2", "FAIL L3", "FAIL (no layer indicator) → treat as L3 FAIL".
#[test]
fn the_verdict_is_routed_by_layer() {
    // (what is said, how often) → stage
    let rows = [
        ("pass", 1, "completed"),
        ("fail_l2", 1, "implement_standard"),
        ("fail_l3", 1, "qa_layer3"),
        ("FAIL — something", 3, "qa_layer3"),
        ("unknown", 3, "qa_layer3"),
    ];
    for (verdict, times, at) in rows {
        let mut walk = fresh(&[], "evaluating");
        for _ in 0..times {
            assert!(walk.is_at("evaluating"), "{verdict}: no pass, asked again");
            walk.says("evaluating", verdict);
        }
        let reported = if verdict == "pass" { "evaluate_result" } else { "evaluate_failed" };
        assert_eq!(with(&walk, reported, "phase").as_deref(), Some("evaluate"), "{verdict}");
        walk.says(reported, "told");
        assert_eq!(walk.at(), [at], "{verdict}");
    }
}

/// A pass must be about what the lane holds: a report on something else is Unknown.
#[test]
fn a_pass_about_something_else_is_no_pass() {
    let mut walk = fresh(&[], "evaluating");
    let (effect, _) = walk.find("evaluating").unwrap();
    let given = walk.give(windlass_core::run::Input::Report(windlass_core::run::Report {
        effect,
        ended: windlass_core::run::Ended::Verdict("pass".into()),
        facts: std::collections::BTreeMap::new(),
        lists: std::collections::BTreeMap::new(),
        subject: Some(Subject { tree: "other".into(), change: "other".into() }),
        usage: windlass_core::run::Usage::NONE,
    }));
    assert_eq!((given, walk.at()), (Ok(()), vec!["evaluating".to_owned()]));
}

/// "FAIL — Layer 2 and layer2_retries < 2: auto-retry without user gate", the implementation role
/// alone, then "full Verify → Evaluate pipeline"; "layer2_retries >= 2": ask.
#[test]
fn layer_2_retries_twice_and_then_asks() {
    for mode in MODES {
        let mut walk = fresh(&[("mode", mode)], "evaluating");
        let implementer = format!("implement_{mode}");
        for retry in 1..=2 {
            walk.says("evaluating", "fail_l2").says("evaluate_failed", "told");
            assert_eq!(walk.at(), [implementer.as_str()], "{mode}, retry {retry}");
            assert_eq!(counter(&walk, "layer2"), Some(retry), "{mode}");
            walk.on_to("evaluating", &[]);
        }
        walk.says("evaluating", "fail_l2").says("evaluate_failed", "told");
        assert_eq!(walk.options("qa_layer2"), ["fix", "accept", "stop", "other"], "{mode}");
        let runs = (walk.runs(&implementer), walk.runs("verifying"), walk.runs("evaluating"));
        assert_eq!(runs, (3, 3, 3), "{mode}: every retry is verified and evaluated");
        assert_eq!(walk.runs("lead_plan"), usize::from(mode != "single"), "{mode}: no re-plan");
        assert_eq!(walk.runs("spec_gate"), 1, "{mode}");
    }
}

/// "Layer 2 FAIL path: Auto-fix proposal does NOT apply to Layer 2 structural failures."
#[test]
fn the_qa_gates_offer_fix_and_accept() {
    let rows = [
        ("qa_layer2", "fail_l2", "Run next round"),
        ("qa_layer3", "fail_l3", "Run next round to fix FAIL items"),
    ];
    for (gate, verdict, fix) in rows {
        let mut walk = begin(&[], None, &[]);
        walk.on_to(gate, &[says(verdict)]);
        let offered = [
            ("Fix", fix),
            ("Accept as-is", "Finish without fixing"),
            ("Stop", "Halt the workflow"),
        ];
        assert_eq!(choices(&walk, gate), offered.map(|(l, a)| (l.into(), a.into())), "{gate}");
        stops_at(&mut walk, gate);
    }
}

/// "Accept as-is: phase → completed", on record, and it may land.
#[test]
fn accept_finishes_without_fixing() {
    for (verdict, gate) in [("fail_l2", "qa_layer2"), ("fail_l3", "qa_layer3")] {
        let mut walk = begin(&[], None, &[]);
        walk.on_to(gate, &[says(verdict)]).answers(gate, "accept");
        assert_eq!(
            (walk.at(), last_record(&walk)),
            (vec!["completed".into()], "accepted_as_is".into())
        );
        walk.to_the_end(&[]);
        assert_eq!((walk.runs("land_code"), walk.exit_code()), (1, Some(0)), "{verdict}");
    }
}

/// "Fix: Increment round, reset layer1_retries → 0, layer2_retries → 0 … Go to Step 4 (Generate)."
#[test]
fn fix_is_a_new_round_with_all_its_retries() {
    for (verdict, gate) in [("fail_l2", "qa_layer2"), ("fail_l3", "qa_layer3")] {
        for mode in MODES {
            let mut walk = begin(&[("mode", mode)], None, &[]);
            walk.on_to("verifying", &[]).says("verifying", "fail");
            walk.on_to(gate, &[says(verdict)]).answers(gate, "fix");
            let row = format!("{mode}, {verdict}");
            assert_eq!(
                (counter(&walk, "rounds"), last_record(&walk)),
                (Some(2), "fix_round".into())
            );
            let left = ["layer1", "layer2"].map(|name| counter(&walk, name).unwrap_or(0));
            assert_eq!(left, [0, 0], "{row}");
            let first = if mode == "single" { "implement_single" } else { "lead_plan" };
            assert_eq!(walk.at(), [first], "{row}: planned anew");
            assert_eq!(with(&walk, first, "round").as_deref(), Some("2"), "{row}");
            assert_eq!(walk.runs("spec_gate"), 1, "{row}: the spec stands");

            let before = walk.runs("verifying");
            walk.on_to("verify_gate", &super::fails());
            assert_eq!(walk.runs("verifying") - before, 4, "{row}: three retries again");
            walk.answers("verify_gate", "continue");
            let before = walk.runs("evaluating");
            walk.on_to("qa_layer2", &[says("fail_l2"), ("verify_gate", Saying::new("continue"))]);
            assert_eq!(walk.runs("evaluating") - before, 3, "{row}: and two");
        }
    }
}

/// The limits' own attempts start anew with a round, too.
#[test]
fn a_new_round_has_its_own_attempts_at_the_limits() {
    let mut walk = fresh(&[], "limits");
    for _ in 0..3 {
        walk.says("limits", "fail").says("implement_standard", "changed");
    }
    walk.says("limits", "pass").on_to("qa_layer3", &[says("fail_l3")]).answers("qa_layer3", "fix");
    walk.on_to("limits", &[]).says("limits", "fail");
    assert_eq!(walk.at(), ["implement_standard"]);
}

/// "round < max_rounds" (3): Fix twice, and in the third round the remaining issues are named.
#[test]
fn the_third_round_is_the_last() {
    let mut walk = begin(&[], None, &[]);
    for round in 1..=2 {
        walk.on_to("qa_layer3", &[says("fail_l3")]);
        assert_eq!(labels(&walk, "qa_layer3"), ["Fix", "Accept as-is", "Stop"], "round {round}");
        walk.answers("qa_layer3", "fix");
    }
    walk.on_to("rounds_spent", &[says("fail_l3")]);
    assert_eq!(
        (walk.options("rounds_spent"), counter(&walk, "rounds")),
        (vec!["complete".into(), "stop".into(), "other".into()], Some(3))
    );
    let question = walk.run().gates()[0].question.clone();
    assert_eq!(question, "[harness] Max rounds reached. Remaining issues in qa_report.md.");
    assert_eq!(walk.runs("lead_plan"), 3);
    stops_at(&mut walk, "rounds_spent");
    walk.answers("rounds_spent", "complete");
    assert_eq!(
        (walk.at(), last_record(&walk)),
        (vec!["completed".into()], "completed_with_open_issues".into())
    );
    walk.to_the_end(&[]);
    assert_eq!(walk.exit_code(), Some(0));
}

/// "layer 2 Fix is offered only while rounds remain."
#[test]
fn layer_2_offers_no_fix_in_the_last_round() {
    let mut walk = begin(&[], None, &[]);
    for round in 1..=3 {
        walk.on_to("qa_layer2", &[says("fail_l2")]);
        let fix = walk.options("qa_layer2").contains(&"fix".to_owned());
        assert_eq!(fix, round < 3, "round {round}");
        assert_eq!(walk.runs("evaluating"), 3 * round, "round {round}: two retries each");
        if fix {
            walk.answers("qa_layer2", "fix");
        }
    }
    assert!(walk.try_answer("qa_layer2", "fix").is_err());
    assert_eq!(walk.answers("qa_layer2", "accept").at(), ["completed"]);
}
