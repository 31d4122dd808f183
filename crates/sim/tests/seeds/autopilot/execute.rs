//! EXECUTE: task by task, checkpoints of three kinds, and the retry budget.

use windlass_core::{
    run::{EffectKind, Item, Wish},
    workflow::Errand,
};
use windlass_sim::{Saying, Walk};

use super::{executing, small_plan, stops_at, task};

/// The context that the executor's next attempt gets.
fn context(walk: &Walk<'_>) -> Option<String> {
    walk.find("do").and_then(|(_, effect)| effect.context).map(|context| context.to_string())
}

/// The subject line of the commit that is under way.
fn label(walk: &Walk<'_>, stage: &str) -> Option<String> {
    match walk.find(stage)?.1.kind {
        EffectKind::Errand(Errand::Save { label, .. }) => label,
        _ => None,
    }
}

/// The task that is under way.
fn current(walk: &Walk<'_>) -> Option<String> {
    let wants = walk.run().wants();
    wants.values().find_map(|effect| Some(effect.child.as_ref()?.id.to_string()))
}

fn fails() -> (&'static str, Saying) {
    ("do", Saying::new("failed"))
}

#[test]
fn tasks_run_in_order_and_those_already_complete_do_not() {
    let mut done = task("t2", "none");
    done.facts.insert("complete".into(), true.into());
    let mut walk = executing(vec![task("t1", "none"), done, task("t3", "none")]);
    let mut order = Vec::new();
    while walk.is_at("do") {
        order.extend(current(&walk));
        walk.says("do", "done").says("task_checks", "pass");
    }
    assert_eq!((order, walk.at()), (vec!["t1".into(), "t3".into()], vec!["validate".to_owned()]));
}

/// "[checkpoint:human-verify] — Show output, ask for confirmation", "[checkpoint:decision] — Present
/// options, record choice", "[checkpoint:human-action] — Instruct user, wait for confirmation", each
/// "then resume execution"; a commit "after each checkpoint verification passes".
#[test]
fn each_kind_of_checkpoint_in_its_way() {
    // (marker, the question and its answer, what is recorded, the commit that follows)
    let rows = [
        ("none", None, "", None),
        (
            "human-verify",
            Some(("confirm", "confirmed")),
            "checkpoint_verified",
            Some("seen_commit"),
        ),
        ("decision", Some(("choose", "other")), "checkpoint_decision", Some("commit")),
        ("human-action", Some(("act", "confirmed")), "checkpoint_action", Some("commit")),
    ];
    for (marker, question, record, commit) in rows {
        let mut walk = executing(vec![task("t1", marker), task("t2", "none")]);
        // A decision or an action comes before the work, a verification after it.
        if let Some((gate @ ("choose" | "act"), answer)) = question {
            assert_eq!((walk.at(), walk.runs("do")), (vec![gate.to_owned()], 0), "{marker}");
            walk.answers(gate, answer);
        }
        walk.says("do", "done").says("task_checks", "pass");
        if let Some((gate @ "confirm", answer)) = question {
            assert_eq!(walk.at(), [gate], "{marker}");
            walk.answers(gate, answer);
            walk.says("seen_checks", "pass");
        }
        if let Some(commit) = commit {
            let label = label(&walk, commit);
            assert_eq!(label.as_deref(), Some("[autopilot] Checkpoint t1: t1"), "{marker}");
            walk.says(commit, "saved");
        }
        assert_eq!(current(&walk).as_deref(), Some("t2"), "{marker}: execution goes on");
        walk.says("do", "done").says("task_checks", "pass");
        assert_eq!(walk.at(), ["validate"], "{marker}: all tasks complete");
        assert_eq!(walk.records().contains(&record.to_owned()), question.is_some(), "{marker}");
    }
}

#[test]
fn a_checkpoint_can_be_refused_or_stopped_at() {
    let mut walk = executing(vec![task("t1", "human-verify")]);
    walk.on_to("confirm", &[]).answers("confirm", "redo");
    assert_eq!((walk.at(), current(&walk)), (vec!["do".into()], Some("t1".into())));
    assert_eq!(walk.records().last().map(String::as_str), Some("checkpoint_refused"));
    for (marker, gate) in
        [("human-verify", "confirm"), ("decision", "choose"), ("human-action", "act")]
    {
        let mut walk = executing(vec![task("t1", marker)]);
        walk.on_to(gate, &[]);
        stops_at(&mut walk, gate);
    }
}

/// Whoever looks at it may change it: what they leave is checked before it is committed.
#[test]
fn what_a_person_changes_at_a_checkpoint_is_checked() {
    let mut walk = executing(vec![task("t1", "human-verify")]);
    walk.on_to("confirm", &[]).answers("confirm", "confirmed").says("seen_checks", "fail");
    assert_eq!((walk.at(), current(&walk)), (vec!["do".into()], Some("t1".into())));
}

/// "If the commit result shows committed: false, no changes existed — continue silently."
#[test]
fn nothing_to_commit_is_silent() {
    for result in ["saved", "nothing"] {
        let mut walk = executing(vec![task("t1", "human-verify"), task("t2", "none")]);
        walk.on_to("seen_commit", &[]).says("seen_commit", result);
        assert_eq!(current(&walk).as_deref(), Some("t2"), "{result}");
        assert_eq!(walk.exit_code(), None, "{result}");
        walk.says("do", "done").says("task_checks", "skipped");
        assert_eq!(walk.at(), ["validate"], "{result}, and a project without checks");
    }
}

/// "Attempt 1: Read error output", "Attempt 2: Expand context — read related files, check
/// learnings.md", "Attempt 3: Full context gather"; then "If budget exhausted".
#[test]
fn three_retries_with_widening_context_and_not_one_more() {
    let contexts = [
        "the error output",
        "related files and similar failures in learnings.md",
        "all test output, imports and the plan's instructions",
    ];
    let failing: [&[(&str, &str)]; 2] =
        [&[("do", "failed")], &[("do", "done"), ("task_checks", "fail")]];
    for attempt in failing {
        let mut walk = executing(vec![task("t1", "none")]);
        assert_eq!(context(&walk), None, "the first try is no retry");
        for expected in contexts {
            for (stage, says) in attempt {
                walk.says(stage, *says);
            }
            assert_eq!(context(&walk).as_deref(), Some(expected), "{attempt:?}");
        }
        for (stage, says) in attempt {
            walk.says(stage, *says);
        }
        assert_eq!((walk.at(), walk.runs("do")), (vec!["recovery".into()], 4), "{attempt:?}");
    }
}

#[test]
fn a_retry_that_works_goes_on_as_if_nothing_had_happened() {
    for failures in 1..=3 {
        let mut walk = executing(vec![task("t1", "none"), task("t2", "none")]);
        for _ in 0..failures {
            walk.says("do", "failed");
        }
        walk.says("do", "done").says("task_checks", "pass");
        assert_eq!(current(&walk).as_deref(), Some("t2"), "after {failures}");
        assert_eq!(context(&walk), None, "the next task starts fresh");
        for _ in 0..3 {
            walk.says("do", "failed");
        }
        assert_eq!(walk.at(), ["do"], "with a budget of its own");
    }
}

/// A failed attempt by the executor and a red check draw on the same budget.
#[test]
fn failures_of_both_kinds_share_the_budget() {
    let mut walk = executing(vec![task("t1", "none")]);
    walk.says("do", "failed").says("do", "done").says("task_checks", "fail");
    assert_eq!(walk.says("do", "failed").at(), ["do"]);
    assert_eq!(walk.says("do", "failed").at(), ["recovery"]);
}

/// "Recovery commit", "Record failure in .harness/failures.md", "How should we proceed? (fix
/// manually and continue / revise plan / stop)".
#[test]
fn an_exhausted_budget_saves_records_and_asks() {
    let exhausted = || {
        let mut walk = executing(vec![task("t1", "none"), task("t2", "none")]);
        walk.on_to("recovery", &[fails()]);
        walk
    };
    for saved in ["saved", "nothing"] {
        let mut walk = exhausted();
        let subject = label(&walk, "recovery").unwrap_or_default();
        assert!(subject.starts_with("[autopilot][recovery] Phase "), "{subject}");
        walk.says("recovery", saved);
        assert_eq!(walk.at(), ["task_failure"], "failures.md");
        walk.says("task_failure", "told");
        assert_eq!(walk.options("exhausted_gate"), ["manual", "revise", "stop", "other"]);
        let gates = walk.run().gates();
        let labels: Vec<&str> = gates[0].options.iter().map(|o| o.label.as_str()).collect();
        assert_eq!(labels[..3], ["fix manually and continue", "revise plan", "stop"]);
        assert_eq!(walk.exit_code(), Some(8), "no further attempt without a person");
    }
    let asked = || {
        let mut walk = exhausted();
        walk.on_to("exhausted_gate", &[]);
        walk
    };
    // What a person fixed is verified like any other work, and gets a budget of its own.
    let mut walk = asked();
    walk.answers("exhausted_gate", "manual");
    assert_eq!((walk.at(), current(&walk)), (vec!["task_checks".into()], Some("t1".into())));
    assert_eq!(walk.records().last().map(String::as_str), Some("fixed_manually"));
    walk.says("task_checks", "fail");
    assert_eq!(context(&walk).as_deref(), Some("the error output"), "attempt 1 again");
    walk.says("do", "done").says("task_checks", "pass");
    assert_eq!(current(&walk).as_deref(), Some("t2"));

    let mut walk = asked();
    walk.answers("exhausted_gate", "revise");
    assert_eq!(walk.at(), ["edit_plan"]);
    assert_eq!(walk.records().last().map(String::as_str), Some("revised_plan"));

    stops_at(&mut asked(), "exhausted_gate");
}

/// After "revise plan": tasks that are done stay done, those taken off are dropped, new ones run.
#[test]
fn a_revised_plan_runs_what_is_left_of_it() {
    let mut walk = executing(vec![task("t1", "none"), task("t2", "none"), task("t3", "none")]);
    walk.says("do", "done").says("task_checks", "pass").on_to("exhausted_gate", &[fails()]);
    walk.answers("exhausted_gate", "revise").answers("edit_plan", "edited");
    let tasks = vec![task("t1", "none"), task("t4", "none"), task("t3", "none")];
    walk.says("read_plan", small_plan().items("tasks", tasks));
    let mut order = Vec::new();
    while walk.is_at("do") {
        order.extend(current(&walk));
        assert_eq!(context(&walk), None, "a fresh budget");
        walk.says("do", "done").says("task_checks", "pass");
    }
    order.sort();
    assert_eq!((order, walk.at()), (vec!["t3".into(), "t4".into()], vec!["validate".to_owned()]));
}

/// "Write handoff.json when done or when blocked": what it cannot do alone, a person is asked to do.
#[test]
fn a_blocked_executor_asks_a_person() {
    let mut walk = executing(vec![task("t1", "none")]);
    walk.says("do", "blocked");
    assert_eq!(walk.at(), ["act"]);
    walk.answers("act", "confirmed");
    assert_eq!((walk.at(), context(&walk)), (vec!["do".into()], None));
    for _ in 0..3 {
        walk.says("do", "failed");
    }
    assert_eq!(walk.at(), ["do"], "being blocked cost no retry");
}

#[test]
fn a_plan_without_tasks_goes_back_to_its_author() {
    let walk = executing(Vec::<Item>::new());
    assert_eq!(walk.at(), ["edit_plan"]);
}

/// "check that handoff.json was written … ask the user whether to retry or stop"
#[test]
fn a_task_without_output_asks_retry_or_stop() {
    let missing = || {
        let mut walk = executing(vec![task("t1", "none")]);
        walk.says("do", "no_output");
        assert_eq!(walk.options("do_missing"), ["retry", "stop", "other"]);
        walk
    };
    assert_eq!(missing().answers("do_missing", "retry").at(), ["do"]);
    let mut walk = missing();
    walk.answers("do_missing", "stop");
    assert_eq!(
        (walk.exit_code(), walk.records().last().cloned()),
        (Some(5), Some("stopped".into()))
    );
    walk.wishes(Wish::Resume(None));
    assert_eq!((walk.at(), current(&walk)), (vec!["do".into()], Some("t1".into())));
}
