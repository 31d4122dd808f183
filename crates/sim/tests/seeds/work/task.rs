//! One task up to its review: background, red test, contract, effort, refinement (W3, W6–W10).

use windlass_core::{
    run::EffectKind,
    value::Value,
    workflow::{Errand, Expect},
};
use windlass_sim::{Saying, Walk, item};

use super::{ONE, work};
use crate::script::{Script, row, status};

#[test]
fn the_background_check_asks_one_question_and_only_when_unsure() {
    let unsure = format!("{ONE} background:unsure");
    work().holds([
        row(
            "If confident: proceed directly (no flow delay)",
            format!("{ONE} background:confident"),
        )
        .at("wip")
        .never("understood"),
        row("If not confident: ask one question only", unsure.clone()).at("understood").exits(8),
        row("… it is correct", format!("{unsure} understood:yes")).at("wip").records("cc:WIP"),
        row("… it is corrected, and not asked again", format!("{unsure} understood:other"))
            .at("wip")
            .records("corrected cc:WIP"),
        row("… it is not", format!("{unsure} understood:no"))
            .units("1=skipped")
            .records("misunderstood"),
    ]);
}

#[test]
fn the_background_check_takes_thirty_seconds_at_most() {
    let script = work();
    let mut walk = script.play(&[], ONE);
    walk.waits(29_999);
    assert_eq!(walk.at(), ["background"]);
    walk.waits(1);
    assert_eq!(walk.at(), ["wip"], "Task Background Check (30 seconds)");
    assert_eq!(walk.records(), ["background_unknown", "cc:WIP"]);
}

/// A task with these facts, in a project with or without a test framework.
fn task<'s>(
    script: &'s Script,
    inputs: &[(&str, &str)],
    framework: bool,
    facts: &[(&str, Value)],
) -> Walk<'s> {
    let mut task = item("1");
    task.facts = facts.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let found = Saying::new("found")
        .fact("target_count", 1)
        .fact("unlisted_count", 0)
        .fact("test_framework", framework)
        .items("tasks", vec![task]);
    let mut walk = script.play(inputs, "drift:clean");
    walk.says("plans", found);
    walk
}

#[test]
fn the_red_test_comes_first_where_there_is_a_framework() {
    let cases = [
        ("when [skip:tdd] is absent & test framework exists", "no", true, false, "red"),
        ("no test framework", "no", false, false, "contract"),
        ("[skip:tdd]", "no", true, true, "contract"),
        ("--no-tdd: skip TDD phase", "yes", true, false, "contract"),
    ];
    for (seed, no_tdd, framework, skip, at) in cases {
        let script = work();
        let skip_tdd = [("skip_tdd", skip.into())];
        let mut walk = task(&script, &[("no_tdd", no_tdd)], framework, &skip_tdd);
        script.go_on(&mut walk, "background:confident wip:told");
        assert_eq!(walk.at(), [at], "{seed}");
        assert_eq!(walk.records(), ["cc:WIP"], "{seed}: after cc:WIP");
        script.go_on(&mut walk, ">implement");
        assert_eq!(walk.runs("red_seen"), usize::from(at == "red"), "{seed}");
    }
    let script = work();
    let mut walk = task(&script, &[], true, &[]);
    script.go_on(&mut walk, "background:confident wip:told");
    assert_eq!(walk.at(), ["red"], "nobody said [skip:tdd]");
}

#[test]
fn the_failure_is_observed_and_not_assumed() {
    let written = "background:confident wip:told red:written";
    // What the check came to (a failing test is a pass here), and where that leads.
    let cases = [
        ("b. Confirm failure", "red_seen:pass", "contract"),
        ("… of the new test, and of no other", "red_seen:pass red_reason:wrong", "red"),
        ("… nobody can tell", "red_seen:pass red_reason:unclear", "contract"),
        ("nothing to run", "red_seen:skipped", "contract"),
        ("it does not fail: written anew", "red_seen:fail", "red"),
        ("… twice", "red_seen:fail red:written red_seen:fail", "red"),
        (
            "… and then a person is asked",
            "red_seen:fail red:written red_seen:fail red:written red_seen:fail",
            "red_stuck",
        ),
    ];
    for (seed, steps, at) in cases {
        let script = work();
        let mut walk = task(&script, &[], true, &[("skip_tdd", false.into())]);
        script.go_on(&mut walk, &format!("{written} {steps}"));
        assert_eq!(walk.at(), [at], "{seed}");
    }
    let script = work();
    let answers = [
        ("continue", "contract", "no_red_test", "started"),
        ("abort", "progress", "aborted", "failed"),
    ];
    for (answer, at, record, stands) in answers {
        let mut walk = task(&script, &[], true, &[("skip_tdd", false.into())]);
        let steps = "red_seen:fail red:written red_seen:fail red:written red_seen:fail";
        script.go_on(&mut walk, &format!("{written} {steps} red_stuck:{answer}"));
        assert_eq!(walk.at(), [at], "{answer}");
        assert_eq!(walk.records(), ["cc:WIP", record], "{answer}");
        assert_eq!(status(&walk, "1"), stands, "{answer}");
    }
    let mut walk = task(&script, &[], true, &[("skip_tdd", false.into())]);
    script.go_on(&mut walk, written);
    let (_, seen) = walk.find("red_seen").expect("under way");
    let EffectKind::Errand(Errand::Checks { names, expect }) = seen.kind else {
        panic!("{:?}", seen.kind)
    };
    assert_eq!((names, expect), (vec!["new-tests".to_owned()], Expect::Fail), "it must fail");
}

#[test]
fn the_contract_is_approved_before_anything_is_implemented() {
    let written = format!("{ONE} background:confident wip:told contract:drafted,profile=static");
    work().holds([
        row("Generate sprint-contract.json", format!("{ONE} background:confident wip:told"))
            .at("contract"),
        row("Add Reviewer perspective and confirm approved status", written.clone())
            .at("contract_review"),
        row("approved", format!("{written} contract_review:approved"))
            .passes("contract_seal contract_ready")
            .at("implement"),
        row(
            "sealed in this very run",
            format!("{ONE} background:confident wip:told contract:ready"),
        )
        .at("implement")
        .never("contract_review"),
        row("changed since", format!("{ONE} background:confident wip:told contract:changed"))
            .records("cc:WIP contract_changed")
            .units("1=failed")
            .never("implement"),
        row("changed on the disk since it was approved", {
            format!("{written} contract_review:approved contract_seal:told contract_ready:changed")
        })
        .records("cc:WIP contract_changed")
        .units("1=failed")
        .never("implement"),
        row("stop if unapproved", format!("{written} contract_review:unapproved"))
            .records("cc:WIP contract_unapproved")
            .units("1=failed")
            .never("implement"),
    ]);
}

#[test]
fn three_points_raise_the_effort() {
    let scored = |score: Option<i64>| {
        let script = work();
        let facts: Vec<(&str, Value)> =
            score.map(|s| ("effort_score", s.into())).into_iter().collect();
        let mut walk = task(&script, &[], false, &facts);
        script.go_on(&mut walk, ">implement");
        let effort = |walk: &Walk<'_>, stage: &str| {
            walk.find(stage).and_then(|(_, effect)| effect.with.get("effort").cloned())
        };
        let first = effort(&walk, "implement");
        script.go_on(&mut walk, "implement:done refine:done prove:fail");
        assert_eq!(effort(&walk, "fix"), first, "the same logic for its fixes");
        first
    };
    assert_eq!(scored(Some(2)), Some("medium".into()));
    assert_eq!(scored(Some(3)), Some("high".into()), "When score >= 3");
    assert_eq!(scored(Some(8)), Some("high".into()));
    assert_eq!(scored(Some(0)), Some("medium".into()));
    assert_eq!(scored(None), Some("medium".into()), "nothing is known");
}

#[test]
fn the_refinement_can_be_left_out() {
    let built = format!("{ONE} >implement implement:done");
    work().holds([
        row("Auto-Refinement with /simplify", built.clone()).at("refine"),
        row("… then proved, and reviewed", format!("{built} refine:nothing prove:pass"))
            .at("review"),
        row("(skip with --no-simplify)", built.clone())
            .with("no_simplify", "yes")
            .at("prove")
            .never("refine"),
        row("a failing test is a major finding: no reviewer is paid to say so", {
            format!("{built} refine:done prove:fail")
        })
        .at("fix")
        .never("review"),
        row("C15: nothing to prove it with is SKIPPED, not FAIL", {
            format!("{built} refine:done prove:skipped")
        })
        .at("review"),
    ]);
}

#[test]
fn an_implementation_that_fails_is_tried_again_and_then_a_person_is_asked() {
    let failed = |times: u32| format!("{ONE} >implement implement:failed*{times}");
    work().holds([
        row("tried again", failed(3)).at("implement"),
        row("C7: a retry budget ends", failed(4)).at("implement_stuck").exits(8),
        row("… fixed manually, proved like any other work", {
            failed(4) + " implement_stuck:manual"
        })
        .at("prove")
        .records("cc:WIP fixed_manually"),
        row("… or given up", failed(4) + " implement_stuck:abort")
            .units("1=failed")
            .records("cc:WIP aborted"),
    ]);
    let script = work();
    let mut walk = script.play(&[], &failed(1));
    let mut seen = Vec::new();
    for _ in 0..3 {
        seen.extend(walk.find("implement").and_then(|(_, effect)| effect.context));
        script.go_on(&mut walk, "implement:failed");
    }
    assert_eq!(seen.len(), 3);
    assert!(seen[0] != seen[1] && seen[1] != seen[2], "each attempt is told more: {seen:?}");
    assert_eq!(status(&walk, "1"), "started");
}
