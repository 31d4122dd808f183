//! ASSESS and PLAN: the decision matrix, waiting for an interactive plan, the complexity override.

use windlass_core::run::{Start, Wish};
use windlass_sim::{Saying, Walk};

use super::{FLOW, adopted, begun, phase, plan, shown, small_plan, with};

/// "Decision matrix": effective complexity → action. "If complexityOverride is set, use it instead."
#[test]
fn the_decision_matrix() {
    // (complexity, override, existing plan) → (stage, extra scrutiny)
    let rows = [
        ("low", "none", false, "plan", Some("false")),
        ("medium", "none", false, "plan", Some("true")),
        ("high", "none", false, "await_plan", None),
        ("low", "medium", false, "plan", Some("true")),
        ("low", "high", false, "await_plan", None),
        ("high", "medium", false, "plan", Some("true")),
        ("low", "none", true, "read_plan", None),
        ("medium", "none", true, "read_plan", None),
        ("high", "none", true, "read_plan", None),
    ];
    for (complexity, over, exists, at, scrutiny) in rows {
        let row = format!("{complexity}, override {over}, plan exists: {exists}");
        let phase = adopted("p1", &[("complexity", complexity), ("override", over)]);
        let mut walk = begun(&[], vec![phase]);
        walk.says("find_plan", if exists { "found" } else { "missing" });
        assert_eq!(walk.at(), [at], "{row}");
        assert_eq!(with(&walk, at, "extra_scrutiny").as_deref(), scrutiny, "{row}");
    }
}

/// "high: Pause. … Run planning interactively, then re-invoke to continue", then "If found: …
/// APPROVE_PLAN", "If not found: remind the user and wait".
#[test]
fn a_high_phase_waits_for_an_interactive_plan_and_looks_for_it_at_every_start() {
    let mut walk = begun(&[], vec![phase("p1", "high")]);
    walk.says("find_plan", "missing");
    assert_eq!(shown(&walk), ["PLAN"]);
    walk.says("await_plan", "told");
    assert_eq!((walk.at(), walk.records()), (vec![], vec!["awaiting_interactive_plan".into()]));
    assert!(walk.exit_code().is_some_and(|code| code != 0), "it is not done");
    assert_eq!(walk.runs("plan"), 0, "the planner is not run on its own");

    walk.wishes(Wish::Resume(None)).says("find_plan", "missing");
    assert_eq!(walk.at(), ["await_plan"], "reminded");
    walk.says("await_plan", "told").wishes(Wish::Resume(None));
    walk.says("find_plan", "found").says("read_plan", plan(14, 0, 0));
    assert_eq!(walk.at(), ["approve_plan"]);
    assert_eq!(shown(&walk), ["APPROVE_PLAN"]);
}

#[test]
fn a_plan_that_was_produced_is_read_back() {
    let mut walk = begun(&[], vec![phase("p1", "low")]);
    walk.says("find_plan", "missing").says("plan", "planned");
    assert_eq!(walk.at(), ["read_plan"]);
    walk.says("read_plan", small_plan());
    assert_eq!(walk.at(), ["do"], "and what it says decides");
}

/// "task_count > 10 OR checkpoint_count > 3", "task_count > 20 OR checkpoint_count > 6", both only
/// for `spec_complexity == "low"`.
#[test]
fn the_complexity_override_at_its_thresholds() {
    // (complexity, tasks, checkpoints) → the override that the person is told of
    let rows = [
        ("low", 10, 0, None),
        ("low", 11, 0, Some("medium")),
        ("low", 20, 0, Some("medium")),
        ("low", 21, 0, Some("high")),
        ("low", 0, 3, None),
        ("low", 0, 4, Some("medium")),
        ("low", 0, 6, Some("medium")),
        ("low", 0, 7, Some("high")),
        ("low", 10, 3, None),
        ("low", 11, 7, Some("high")),
        ("low", 21, 4, Some("high")),
        ("medium", 21, 7, None),
        ("medium", 11, 4, None),
        ("high", 21, 7, None),
    ];
    for (complexity, tasks, checkpoints, over) in rows {
        let row = format!("{complexity}, {tasks} tasks, {checkpoints} checkpoints");
        let mut walk = begun(&[], vec![phase("p1", complexity)]);
        walk.says("find_plan", "found").says("read_plan", plan(tasks, checkpoints, 0));
        assert_eq!(walk.is_at("override_note"), over.is_some(), "{row}");
        if over.is_some() {
            assert_eq!(with(&walk, "override_note", "complexity").as_deref(), over, "{row}");
            let said = with(&walk, "override_note", "tasks");
            assert_eq!(said, Some(tasks.to_string()), "{row}");
        }
    }
}

/// "When a delegated skill fails to produce expected output … ask whether to retry the entire
/// phase step or stop", for everything that PLAN expects.
#[test]
fn a_missing_plan_asks_retry_or_stop() {
    // (rigor, the stage that comes up empty, what it says, where retry goes)
    let rows = [
        ("standard", "plan", "no_output", "plan"),
        ("thorough", "skeleton", "no_output", "skeleton"),
        ("thorough", "plan", "no_output", "skeleton"),
        ("standard", "read_plan", "missing", "plan"),
    ];
    for (rigor, stage, says, retried) in rows {
        let stopped = |answer: &str| {
            let mut walk = begun(&[("rigor", rigor)], vec![phase("p1", "low")]);
            walk.on_to(stage, &[("find_plan", Saying::new("missing"))]);
            walk.says(stage, says);
            assert_eq!(walk.options("plan_missing"), ["retry", "stop", "other"], "{stage}");
            walk.answers("plan_missing", answer);
            walk
        };
        assert_eq!(stopped("retry").at(), [retried], "{rigor}, {stage} {says}");
        let mut walk = stopped("stop");
        assert_eq!((walk.at(), walk.exit_code()), (vec![], Some(5)), "{rigor}, {stage}");
        assert_eq!(walk.records().last().map(String::as_str), Some("stopped"), "{rigor}, {stage}");
        walk.wishes(Wish::Resume(None));
        assert_eq!(walk.at(), [retried], "{rigor}, {stage}: resumed");
    }
}

#[test]
fn a_list_of_tasks_that_cannot_be_is_no_plan() {
    let mut walk = begun(&[], vec![phase("p1", "low")]);
    walk.says("find_plan", "found").says("read_plan", small_plan().list("tasks", &["t", "t"]));
    assert_eq!((walk.at(), walk.exit_code()), (vec![], Some(3)));
}

#[test]
fn a_spec_must_be_named() {
    let missing = windlass_core::run::start(FLOW.clone(), Default::default(), Start::default());
    let asked = missing.err().map(|refused| refused.to_string());
    assert_eq!(asked.as_deref(), Some("input \"spec\" is missing: Which spec?"));
    assert_eq!(Walk::new(&FLOW, &[("spec", "docs/a.md")]).at(), ["session"]);
}
