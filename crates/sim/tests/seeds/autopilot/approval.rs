//! APPROVE_PLAN: the five concern signals, automatic approval, and a person's four answers.

use windlass_core::{
    run::{Item, UnitStatus, Wish},
    workflow::Settled,
};
use windlass_sim::{Saying, Walk};

use super::{
    adopted, begun, phase, plan, planned, present, shown, small_plan, stops_at, task, usual,
};

/// The signals that fired, by name; Unknown counts.
fn fired(walk: &Walk<'_>) -> Vec<String> {
    let gates = walk.run().gates();
    let concerns = gates.iter().flat_map(|gate| &gate.concerns);
    concerns.filter(|(_, on)| *on != Some(false)).map(|(name, _)| name.clone()).collect()
}

struct Case {
    quoted: &'static str,
    review_plans: &'static str,
    complexity: &'static str,
    over: &'static str,
    /// tasks, checkpoints, concerns
    plan: (i64, i64, i64),
    fired: &'static [&'static str],
}

const QUIET: Case = Case {
    quoted: "no signals fired",
    review_plans: "no",
    complexity: "low",
    over: "none",
    plan: (8, 3, 0),
    fired: &[],
};

const ALL: [&str; 5] =
    ["reviewPlans", "highComplexity", "complexityOverride", "plannerConcerns", "taskCount"];

const SIGNALS: [Case; 15] = [
    QUIET,
    Case {
        review_plans: "yes",
        quoted: "state.reviewPlans === true",
        fired: &["reviewPlans"],
        ..QUIET
    },
    Case {
        complexity: "high",
        quoted: "phase.complexity === \"high\"",
        fired: &["highComplexity"],
        ..QUIET
    },
    Case { complexity: "medium", quoted: "medium is not high", ..QUIET },
    Case {
        over: "medium",
        quoted: "phase.complexityOverride !== null",
        fired: &["complexityOverride"],
        ..QUIET
    },
    Case { over: "high", quoted: "override high", fired: &["complexityOverride"], ..QUIET },
    Case { plan: (10, 3, 0), quoted: "just within low", ..QUIET },
    Case {
        plan: (11, 3, 0),
        quoted: "more tasks than expected",
        fired: &["complexityOverride"],
        ..QUIET
    },
    Case {
        plan: (10, 4, 0),
        quoted: "more checkpoints than expected",
        fired: &["complexityOverride"],
        ..QUIET
    },
    Case {
        plan: (8, 3, 1),
        quoted: "concerns array is non-empty",
        fired: &["plannerConcerns"],
        ..QUIET
    },
    Case { complexity: "medium", plan: (15, 0, 0), quoted: "15 tasks: at the threshold", ..QUIET },
    Case {
        complexity: "medium",
        plan: (16, 0, 0),
        quoted: "> 15 tasks (i.e., 16+)",
        fired: &["taskCount"],
        ..QUIET
    },
    Case {
        plan: (16, 0, 0),
        quoted: "two at once, for low",
        fired: &["complexityOverride", "taskCount"],
        ..QUIET
    },
    Case {
        review_plans: "yes",
        complexity: "high",
        over: "high",
        plan: (16, 9, 2),
        quoted: "all together",
        fired: &ALL,
    },
    Case {
        complexity: "high",
        plan: (15, 9, 0),
        quoted: "an override is for low only",
        fired: &["highComplexity"],
        ..QUIET
    },
];

#[track_caller]
fn presented(case: &Case, rigor: &str) -> Walk<'static> {
    let facts = [("complexity", case.complexity), ("override", case.over)];
    let inputs = [("rigor", rigor), ("review_plans", case.review_plans)];
    let mut walk = begun(&inputs, vec![adopted("p1", &facts)]);
    let (tasks, checkpoints, concerns) = case.plan;
    present(&mut walk, plan(tasks, checkpoints, concerns));
    walk
}

#[test]
fn each_signal_at_its_boundary() {
    for case in &SIGNALS {
        let walk = presented(case, "standard");
        assert_eq!(fired(&walk), case.fired, "{}", case.quoted);
        let (at, records): (_, Vec<&str>) = if case.fired.is_empty() {
            ("do", vec!["auto_approved_plan"])
        } else {
            ("approve_plan", vec![])
        };
        assert_eq!(walk.at(), [at], "{}", case.quoted);
        assert_eq!(walk.records(), records, "{}: no record before the answer", case.quoted);
    }
}

/// "If rigorLevel is fast: Skip the signal evaluation entirely. Auto-approve the plan. Record
/// decision as auto_approved_plan_fast." It wins over `--review-plans` (A20).
#[test]
fn fast_bypasses_every_signal() {
    for case in &SIGNALS {
        let walk = presented(case, "fast");
        assert_eq!(walk.at(), ["do"], "{}", case.quoted);
        let records = walk.records();
        let last = records.last().map(String::as_str);
        assert_eq!(last, Some("auto_approved_plan_fast"), "{}", case.quoted);
        assert!(!records.contains(&"auto_approved_plan".to_owned()), "{}", case.quoted);
    }
}

/// "If rigorLevel is thorough: Force shouldPauseForReview = true regardless of other signals
/// (equivalent to --review-plans)."
#[test]
fn thorough_forces_review() {
    for case in &SIGNALS {
        let walk = presented(case, "thorough");
        assert_eq!(walk.at(), ["approve_plan"], "{}", case.quoted);
        let fired = fired(&walk);
        assert!(fired.contains(&"reviewPlans".to_owned()), "{}: {fired:?}", case.quoted);
    }
}

/// A plan whose facts nobody knows is never approved by itself; what is known to be quiet stays so.
#[test]
fn unknown_facts_fire() {
    let plan = |facts: &[(&str, i64)]| {
        let tasks = Saying::new("found").items("tasks", vec![task("t1", "none")]);
        facts.iter().fold(tasks, |saying, (name, value)| saying.fact(name, *value))
    };
    let rows: [(Saying, &[&str]); 5] = [
        (plan(&[]), &["complexityOverride", "plannerConcerns", "taskCount"]),
        (
            plan(&[("checkpoint_count", 0), ("concern_count", 0)]),
            &["complexityOverride", "taskCount"],
        ),
        (plan(&[("task_count", 1), ("concern_count", 0)]), &["complexityOverride"]),
        (plan(&[("task_count", 1), ("checkpoint_count", 0)]), &["plannerConcerns"]),
        (plan(&[("task_count", 1), ("checkpoint_count", 0), ("concern_count", 0)]), &[]),
    ];
    for (saying, expected) in rows {
        let mut walk = begun(&[], vec![phase("p1", "low")]);
        present(&mut walk, saying.clone());
        assert_eq!(fired(&walk), expected, "{saying:?}");
    }
    let mut unknown = phase("p1", "low");
    unknown.facts.clear();
    let mut walk = begun(&[], vec![unknown]);
    present(&mut walk, small_plan());
    assert_eq!(walk.at(), ["approve_plan"]);
    assert_eq!(fired(&walk), ["highComplexity", "complexityOverride"], "an unread phase");
}

fn asked() -> Walk<'static> {
    let walk = planned(&[("review_plans", "yes")], "low", small_plan());
    assert_eq!(walk.options("approve_plan"), ["yes", "revise", "skip", "stop", "other"]);
    walk
}

/// "(yes / revise / skip phase / stop)", each with its decision value and where it leads.
#[test]
fn the_four_answers() {
    let rows = [
        ("yes", "approved_plan", "do", "EXECUTE"),
        ("revise", "revised_plan", "edit_plan", "APPROVE_PLAN"),
        ("skip", "skipped_phase", "phase_skipped", "PHASE_COMPLETE"),
    ];
    for (answer, record, at, state) in rows {
        let mut walk = asked();
        walk.answers("approve_plan", answer);
        assert_eq!((walk.records(), walk.at()), (vec![record.to_owned()], vec![at.to_owned()]));
        assert_eq!(shown(&walk), [state], "{answer}");
    }
    let mut walk = planned(&[], "low", plan(11, 0, 0));
    stops_at(&mut walk, "approve_plan");
    assert_eq!(walk.runs("override_note"), 1, "at the question itself");
    let mut walk = asked();
    stops_at(&mut walk, "approve_plan");
    assert_eq!(walk.records(), ["stopped"]);
    walk.answers("approve_plan", "yes");
    assert_eq!(
        (walk.records(), walk.runs("plan")),
        (vec!["stopped".into(), "approved_plan".into()], 0)
    );
}

#[test]
fn labels_are_the_seeds_words() {
    let gates = asked().run().gates();
    let labels: Vec<&str> = gates[0].options.iter().map(|o| o.label.as_str()).collect();
    assert_eq!(labels[..4], ["yes", "revise", "skip phase", "stop"]);
    let question = "Approve this plan and begin execution? (yes / revise / skip phase / stop)";
    assert_eq!(gates[0].question, question);
}

/// "revise — Tell user to edit the plan file directly, then re-present from step 1."
#[test]
fn revise_reads_the_edited_plan_and_judges_it_anew() {
    let revised = |edited: Saying| {
        let mut walk = planned(&[], "medium", plan(16, 0, 0));
        walk.answers("approve_plan", "revise").answers("edit_plan", "edited");
        assert_eq!(walk.at(), ["read_plan"]);
        walk.says("read_plan", edited);
        walk
    };
    let tasks = vec![task("new", "none")];
    let walk = revised(plan(15, 0, 0).items("tasks", tasks));
    assert_eq!(walk.records(), ["revised_plan", "auto_approved_plan"]);
    let child = walk.find("do").and_then(|(_, effect)| effect.child.clone());
    assert_eq!(child.map(|child| child.id.to_string()).as_deref(), Some("new"), "their edit wins");
    let walk = revised(plan(17, 0, 0));
    assert_eq!((walk.at(), fired(&walk)), (vec!["approve_plan".into()], vec!["taskCount".into()]));

    let mut walk = planned(&[("review_plans", "yes")], "low", small_plan());
    walk.answers("approve_plan", "revise");
    stops_at(&mut walk, "edit_plan");
}

/// "skip phase — Mark phase as skipped in state, transition to PHASE_COMPLETE", and it stays so.
#[test]
fn a_skipped_phase_stays_skipped_and_holds_nobody_up() {
    let mut walk = asked();
    walk.answers("approve_plan", "skip").says("phase_skipped", "told");
    let skipped = Some(UnitStatus::Settled(Settled::Skipped));
    assert_eq!((walk.unit("p1"), walk.at()), (skipped, vec!["go_on".into()]));
    walk.answers("go_on", "yes");
    assert_eq!((walk.unit("p2"), walk.at()), (Some(UnitStatus::Started), vec!["find_plan".into()]));
    walk.to_the_end(&usual());
    assert_eq!((walk.unit("p1"), walk.exit_code()), (skipped, Some(0)));
    let tally = walk.run().tally();
    assert_eq!((tally.done, tally.skipped, walk.runs("landing")), (1, 1, 1));
}

/// "No executing without plan approval": every way into EXECUTE of a fresh phase has a decision.
#[test]
fn every_execution_has_an_approval_on_record() {
    let mut walk = planned(&[], "low", small_plan());
    walk.on_to("exhausted_gate", &[("do", Saying::new("failed"))]);
    walk.answers("exhausted_gate", "revise").answers("edit_plan", "edited");
    walk.says("read_plan", plan(16, 0, 0)).says("override_note", "told");
    assert_eq!(walk.at(), ["approve_plan"], "a revised plan is approved again");
    let expected = ["auto_approved_plan", "revised_plan"];
    assert_eq!(walk.records(), expected);
    walk.answers("approve_plan", "yes");
    assert_eq!(walk.at(), ["do"]);
}

/// "--review-plans flag forces human review for all plans in a session".
#[test]
fn review_plans_asks_for_every_phase() {
    let phases: Vec<Item> = ["p1", "p2", "p3"].iter().map(|id| phase(id, "low")).collect();
    let mut walk = begun(&[("review_plans", "yes")], phases);
    walk.to_the_end(&usual());
    let approved = walk.records().iter().filter(|r| *r == "approved_plan").count();
    assert_eq!((approved, walk.exit_code()), (3, Some(0)));
}

/// Time answers nothing, and a resumed run asks the same question again.
#[test]
fn the_question_waits_for_a_person() {
    let mut walk = asked();
    walk.waits(7 * 24 * 3_600_000).wishes(Wish::Pause).wishes(Wish::Resume(None));
    assert_eq!((walk.at(), walk.exit_code()), (vec!["approve_plan".into()], Some(8)));
    assert_eq!(walk.records(), [""; 0]);
}
