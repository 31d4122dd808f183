//! VERIFY, REVIEW, the landing, and PHASE_COMPLETE.

use windlass_core::{
    run::{Event, Item, Standing, Target, UnitStatus, Wish},
    workflow::Settled,
};
use windlass_sim::{Saying, Walk};

use super::{begun, phase, shown, small_plan, stops_at, told, usual, well_until};

fn failing(name: &str, finding: &str) -> Saying {
    Saying::new("fail").list(name, &[finding])
}

/// The tasks that the executor was given, in order.
fn executed(walk: &mut Walk<'_>, until: &str) -> Vec<String> {
    let mut tasks = Vec::new();
    while !walk.is_at(until) {
        let child = walk.find("do").and_then(|(_, effect)| effect.child);
        tasks.extend(child.map(|child| child.id.to_string()));
        walk.says("do", "done").says("task_checks", "pass");
    }
    tasks
}

/// "All checks pass: REVIEW", "Failures found: … (fix / skip verification / stop)".
#[test]
fn verification_leads_to_review_or_to_a_question() {
    // (rigor, validate, verify) → stage; an absent check is skipped, never a pass, and asks nothing
    let rows = [
        ("standard", "pass", Some("pass"), "review"),
        ("standard", "skipped", Some("pass"), "review"),
        ("standard", "pass", Some("fail"), "verify_failed"),
        ("standard", "fail", None, "verify_failed"),
        ("thorough", "pass", Some("fail"), "verify_failed"),
        ("fast", "pass", None, "review"),
        ("fast", "skipped", None, "review"),
        ("fast", "fail", None, "verify_failed"),
    ];
    for (rigor, validate, verify, at) in rows {
        let mut walk = well_until(&[("rigor", rigor)], &["p1"], "validate");
        assert_eq!(shown(&walk), ["VERIFY"]);
        walk.says("validate", validate);
        if let Some(verify) = verify {
            walk.says("verify", verify);
        }
        assert_eq!(walk.at(), [at], "{rigor}, validate {validate}, verify {verify:?}");
    }
}

fn verify_failed() -> Walk<'static> {
    let mut walk = well_until(&[], &["p1"], "verify");
    walk.says("verify", failing("findings", "v1"));
    assert_eq!(walk.options("verify_failed"), ["fix", "skip", "stop", "other"]);
    walk
}

/// "fix — Re-enter EXECUTE with targeted fixes (retry budget resets for verification fixes)."
#[test]
fn verification_fixes_are_new_tasks_with_a_fresh_budget() {
    let mut walk = verify_failed();
    walk.answers("verify_failed", "fix");
    assert_eq!((walk.at(), shown(&walk)), (vec!["do".into()], vec!["EXECUTE".into()]));
    assert_eq!(walk.records().last().map(String::as_str), Some("verification_fix"));
    for _ in 0..3 {
        walk.says("do", "failed");
    }
    assert_eq!(walk.at(), ["do"], "three retries of its own");
    assert_eq!(executed(&mut walk, "validate"), ["v1"], "the plan's own tasks are not run again");
    walk.says("validate", "pass");
    assert_eq!(walk.at(), ["verify"], "and verified again from the start");

    let mut walk = well_until(&[], &["p1"], "validate");
    walk.says("validate", failing("findings", "c1")).answers("verify_failed", "fix");
    assert_eq!(walk.records().last().map(String::as_str), Some("verification_fix"));
    assert_eq!(executed(&mut walk, "validate"), ["c1"], "a red command is fixed in the same way");

    // What a person let pass before is not dragged in again.
    for (let_pass, fixed) in [("validate", "verify"), ("verify", "validate")] {
        let mut walk = well_until(&[], &["p1"], let_pass);
        walk.says(let_pass, failing("findings", "old")).answers("verify_failed", "skip");
        walk.says("review", Saying::new("blocking").list("blockers", &["b1"]));
        walk.answers("review_blocked", "fix");
        assert_eq!(executed(&mut walk, "validate"), ["b1"]);
        if fixed == "verify" {
            walk.says("validate", "pass");
        }
        walk.says(fixed, failing("findings", "new")).answers("verify_failed", "fix");
        assert_eq!(executed(&mut walk, "validate"), ["new"], "{let_pass} was let pass");
    }

    // A task that had used up its own budget does not lend its fixes an empty one.
    let mut walk = well_until(&[], &["p1"], "do");
    walk.on_to("exhausted_gate", &[("do", Saying::new("failed"))]);
    walk.answers("exhausted_gate", "manual").says("task_checks", "pass").says("validate", "pass");
    walk.says("verify", failing("findings", "v1")).answers("verify_failed", "fix");
    for _ in 0..3 {
        walk.says("do", "failed");
    }
    assert_eq!(walk.at(), ["do"]);
}

/// "skip — Record skip decision … Proceed to REVIEW with verification warnings noted", and
/// "stop — Save state and exit".
#[test]
fn verification_can_be_skipped_on_record_or_stopped() {
    let mut walk = verify_failed();
    walk.answers("verify_failed", "skip");
    assert_eq!(walk.at(), ["review"]);
    assert_eq!(walk.records().last().map(String::as_str), Some("verification_skipped"));
    walk.says("review", "clear").says("landing", "landed");
    assert_eq!(walk.at(), ["phase_complete"], "the recorded skip stands for the evidence");

    stops_at(&mut verify_failed(), "verify_failed");
}

fn review_blocked() -> Walk<'static> {
    let mut walk = well_until(&[], &["p1"], "review");
    assert_eq!(shown(&walk), ["REVIEW"]);
    walk.says("review", Saying::new("blocking").list("blockers", &["b1", "b2"]));
    assert_eq!(walk.options("review_blocked"), ["fix", "override", "stop", "other"]);
    walk
}

/// "No blocking findings: … PHASE_COMPLETE", "(fix / override / stop)".
#[test]
fn blocking_findings_are_fixed_overridden_or_stopped_at() {
    let mut walk = well_until(&[], &["p1"], "review");
    walk.says("review", "clear");
    assert_eq!((walk.at(), shown(&walk)), (vec!["landing".into()], vec!["PHASE_COMPLETE".into()]));

    let mut walk = review_blocked();
    walk.answers("review_blocked", "fix");
    assert_eq!(walk.records().last().map(String::as_str), Some("review_fix"));
    assert_eq!(executed(&mut walk, "validate"), ["b1", "b2"], "one task a finding");
    walk.says("validate", "pass").says("verify", "pass");
    assert_eq!(walk.at(), ["review"], "what was fixed is verified and reviewed again");

    let mut walk = review_blocked();
    walk.answers("review_blocked", "override");
    assert_eq!(walk.at(), ["landing"]);
    assert_eq!(walk.records().last().map(String::as_str), Some("review_overridden"));
    walk.says("landing", "landed");
    assert_eq!(walk.at(), ["phase_complete"]);

    stops_at(&mut review_blocked(), "review_blocked");
}

/// "When a delegated skill fails to produce expected output" in VERIFY and REVIEW.
#[test]
fn a_missing_report_asks_retry_or_stop() {
    // (the stage that comes up empty, the question, where retry and resume go)
    let rows = [("verify", "verify_missing", "verify"), ("review", "review_missing", "review")];
    for (stage, gate, retried) in rows {
        let missing = || {
            let mut walk = well_until(&[], &["p1"], stage);
            walk.says(stage, "no_output");
            assert_eq!(walk.options(gate), ["retry", "stop", "other"], "{stage}");
            walk
        };
        let mut walk = missing();
        assert_eq!(walk.answers(gate, "retry").at(), [retried], "{stage}");
        assert_eq!(walk.runs("validate"), 1, "{stage}: the same tree is not checked twice");
        let mut walk = missing();
        walk.answers(gate, "stop");
        assert_eq!(walk.exit_code(), Some(5), "{stage}");
        assert_eq!(walk.records().last().map(String::as_str), Some("stopped"), "{stage}");
        assert_eq!(walk.wishes(Wish::Resume(None)).at(), [retried], "{stage}");
    }
}

/// "No skipping VERIFY or REVIEW": whatever a wish points at, nothing lands without its evidence.
#[test]
fn nothing_lands_unproved() {
    let land = || Wish::Redo { target: Target::Unit("p1".into()), stage: "landing".into() };
    for missing in ["validate", "verify", "review"] {
        let mut walk = well_until(&[], &["p1"], missing);
        walk.wishes(land());
        assert_eq!((walk.at(), walk.standing()), (vec![], Standing::Escalated), "{missing}");
    }
    let mut walk = well_until(&[], &["p1"], "landing");
    assert_eq!(walk.says("landing", "landed").unit("p1"), Some(UnitStatus::Started));
    assert_eq!(walk.at(), ["phase_complete"]);
}

fn upheld(walk: &Walk<'_>) -> Vec<String> {
    let name = |recorded: &windlass_core::run::Recorded| match recorded.event {
        Event::Upheld { stage, .. } => Some(super::FLOW.stage(stage).name.clone()),
        _ => None,
    };
    walk.journal().iter().filter_map(name).collect()
}

/// A base that moved: the checks run on the new tree, the review of the change is upheld. A
/// conflict: everything again.
#[test]
fn a_moved_base_is_validated_again_and_a_conflict_is_all_done_again() {
    let mut walk = well_until(&[], &["p1"], "landing");
    walk.says("landing", "moved");
    assert_eq!(walk.at(), ["validate"]);
    walk.says("validate", "pass");
    assert_eq!(
        (walk.at(), upheld(&walk)),
        (vec!["landing".into()], vec!["verify".into(), "review".into()])
    );
    assert_eq!((walk.runs("verify"), walk.runs("review")), (1, 1));

    let mut walk = well_until(&[], &["p1"], "landing");
    walk.says("landing", "moved").says("validate", "fail");
    assert_eq!(walk.at(), ["verify_failed"], "what no longer holds does not land");

    let mut walk = well_until(&[], &["p1"], "landing");
    walk.says("landing", "conflict").says("resolve", "resolved");
    walk.says("validate", "pass").says("verify", "pass").says("review", "clear");
    assert_eq!((walk.at(), upheld(&walk)), (vec!["landing".into()], vec![]));

    let mut walk = well_until(&[], &["p1"], "landing");
    walk.says("landing", "conflict").says("resolve", "failed");
    assert_eq!(walk.options("conflict_gate"), ["manual", "stop", "other"]);
    stops_at(&mut walk, "conflict_gate");
    assert_eq!(walk.answers("conflict_gate", "manual").at(), ["validate"]);
}

/// Lets a landing meet conflicts until a person is asked; how many were resolved before.
#[track_caller]
fn resolved_before_asking(walk: &mut Walk<'_>) -> usize {
    let before = walk.runs("resolve");
    while walk.is_at("landing") {
        walk.says("landing", "conflict");
        if walk.is_at("resolve") {
            walk.on_to("landing", &usual());
        }
    }
    assert_eq!(walk.at(), ["conflict_gate"]);
    walk.runs("resolve") - before
}

/// Ours: budgets that end. Conflicts and a moving base are counted apart, for each phase.
#[test]
fn conflicts_are_resolved_three_times_and_then_a_person_is_asked() {
    let mut walk = well_until(&[], &["p1", "p2"], "landing");
    assert_eq!(resolved_before_asking(&mut walk), 3);
    walk.answers("conflict_gate", "manual");
    assert_eq!(walk.records().last().map(String::as_str), Some("fixed_manually"));
    assert_eq!(walk.at(), ["validate"], "what a person resolved is verified");
    walk.on_to("landing", &usual());
    assert_eq!(resolved_before_asking(&mut walk), 3, "a new budget after their fix");
    walk.answers("conflict_gate", "manual").on_to("landing", &usual());
    walk.says("landing", "conflict").on_to("landing", &usual()).says("landing", "landed");
    walk.on_to("landing", &usual());
    assert_eq!(resolved_before_asking(&mut walk), 3, "the next phase has its own");

    let mut walk = well_until(&[], &["p1", "p2"], "landing");
    for phase in ["p1", "p2"] {
        for _ in 0..20 {
            walk.says("landing", "moved").says("validate", "pass");
        }
        assert_eq!(walk.at(), ["landing"], "{phase}");
        if phase == "p1" {
            walk.says("landing", "landed").on_to("landing", &usual());
        }
    }
    walk.says("landing", "moved");
    assert_eq!((walk.at(), walk.exit_code()), (vec![], Some(3)));
    assert_eq!(walk.wishes(Wish::Resume(None)).at(), ["validate"]);
}

/// "Phase {N} complete. Next: … Continue? (yes / stop)", asked only "If more phases remain".
#[test]
fn the_next_phase_is_asked_about() {
    let complete = || {
        let mut walk = well_until(&[], &["p1", "p2"], "phase_complete");
        walk.says("phase_complete", "told");
        assert_eq!(
            (walk.at(), shown(&walk)),
            (vec!["go_on".into()], vec!["PHASE_COMPLETE".into()])
        );
        assert_eq!(walk.unit("p1"), Some(UnitStatus::Settled(Settled::Done)));
        walk
    };
    assert_eq!(walk_on(complete(), "yes").at(), ["find_plan"]);
    stops_at(&mut complete(), "go_on");
    let mut walk = complete();
    walk.answers("go_on", "yes").on_to("phase_complete", &usual());
    walk.says("phase_complete", "told");
    assert_eq!(walk.at(), ["final_validate"], "no more phases: FINAL_REVIEW");
}

fn walk_on(mut walk: Walk<'static>, answer: &str) -> Walk<'static> {
    walk.answers("go_on", answer);
    walk
}

/// The phase's own tells: summary, history, scratchpad, roadmap, session summary.
#[test]
fn phase_complete_tells_everything_the_seed_lists() {
    let listed = [
        "phase-summary",
        "phase-history",
        "clear-scratchpad",
        "roadmap-sync",
        "session-summary-file",
    ];
    assert_eq!(told("phase_complete"), listed);
    assert!(!told("phase_skipped").contains(&"roadmap-sync".to_owned()), "it was not done");
}

/// "two phase failures in a row suggest reviewing the spec": not after one, nor when a phase that
/// went well came between.
#[test]
fn two_struggling_phases_in_a_row_suggest_reviewing_the_spec() {
    let rows: [(&str, &[bool], usize); 7] = [
        ("none", &[false, false], 0),
        ("one", &[true, false], 0),
        ("the last alone", &[false, true], 0),
        ("two in a row", &[true, true], 1),
        ("interrupted by a fine one", &[true, false, true], 0),
        ("two, after a fine one", &[false, true, true], 1),
        ("four in a row are two pairs", &[true, true, true, true], 2),
    ];
    for (row, struggles, suggested) in rows {
        let ids: Vec<String> = (1..=struggles.len()).map(|n| format!("p{n}")).collect();
        let mut walk = begun(&[], ids.iter().map(|id| phase(id, "low")).collect());
        for (at, struggled) in struggles.iter().enumerate() {
            if at > 0 {
                walk.on_to("go_on", &[]).answers("go_on", "yes");
            }
            if *struggled {
                let except = [("do", Saying::new("failed")), ("read_plan", small_plan())];
                walk.on_to("exhausted_gate", &except).answers("exhausted_gate", "manual");
            }
            walk.on_to("phase_complete", &usual()).says("phase_complete", "told");
        }
        walk.on_to("final_validate", &[]);
        assert_eq!(walk.runs("suggest"), suggested, "{row}");
        assert_eq!(walk.runs("reorder"), 0, "{row}: it is a suggestion");
    }
}

/// "When the user wants to reorder phases mid-run … Do not re-run completed phases."
#[test]
fn phases_can_be_reordered_and_none_runs_twice() {
    let mut walk = well_until(&[], &["p1", "p2", "p3"], "go_on");
    // The reader ranks phases by their place in the spec.
    let spec = |ids: &[&str]| {
        let ranked = ids.iter().zip(0..).map(|(id, rank)| Item { rank, ..phase(id, "low") });
        Saying::new("found").items("phases", ranked.collect())
    };
    walk.answers("go_on", "reorder").says("reorder", spec(&["p3", "p1", "p2", "p4"]));
    assert_eq!(walk.options("reorder_gate"), ["yes", "no", "other"]);
    walk.answers("reorder_gate", "yes");
    assert_eq!(walk.records().last().map(String::as_str), Some("phases_reordered"));
    let mut order = Vec::new();
    while walk.is_at("find_plan") {
        let unit = walk.find("find_plan").and_then(|(_, effect)| effect.unit);
        order.extend(unit.map(|unit| unit.to_string()));
        walk.on_to("phase_complete", &usual()).says("phase_complete", "told");
        if walk.is_at("go_on") {
            walk.answers("go_on", "yes");
        }
    }
    assert_eq!(order, ["p3", "p2", "p4"], "p1 is complete and p4 is new");

    for (verdict, at) in [("missing", "go_on"), ("no_phases", "go_on")] {
        let mut walk = well_until(&[], &["p1", "p2"], "go_on");
        walk.answers("go_on", "reorder").says("reorder", verdict);
        assert_eq!(walk.at(), [at], "{verdict}");
    }
    let mut walk = well_until(&[], &["p1", "p2"], "go_on");
    walk.answers("go_on", "reorder").says("reorder", spec(&["p2"])).answers("reorder_gate", "no");
    assert_eq!(walk.at(), ["go_on"], "nothing is reordered");
}
