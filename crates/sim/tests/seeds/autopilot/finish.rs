//! FINAL_REVIEW and DONE.

use windlass_core::{
    run::{Answer, Input, Refused, Wish},
    workflow::RunOutcome,
};
use windlass_sim::{Saying, Walk};

use super::{FLOW, begun, phase, shown, small_plan, stops_at, told, usual, well_until, with};

fn blocking() -> Saying {
    Saying::new("blocking").list("blockers", &["b1"])
}

fn count(walk: &Walk<'_>, record: &str) -> usize {
    walk.records().iter().filter(|made| *made == record).count()
}

/// FINAL_REVIEW has found something blocking.
fn blocked() -> Walk<'static> {
    let mut walk = well_until(&[], &["p1"], "final_review");
    assert_eq!(shown(&walk), ["FINAL_REVIEW"]);
    walk.says("final_review", blocking());
    assert_eq!(walk.options("final_blocked"), ["fix", "override", "stop", "other"]);
    walk
}

/// One round of "fix": dispatched, validated, and reviewed again with the same result.
#[track_caller]
fn fix_in_vain(walk: &mut Walk<'_>) {
    walk.answers("final_blocked", "fix").says("final_fix", "done").says("final_validate", "pass");
    walk.says("final_review", blocking());
}

/// "No blocking findings: … passed, … transition to DONE." Over the whole diff, with all findings.
#[test]
fn a_clear_final_review_leads_to_done() {
    let mut walk = well_until(&[], &["p1", "p2"], "final_review");
    assert_eq!(with(&walk, "final_review", "diff").as_deref(), Some("startingCommit..HEAD"));
    assert_eq!(with(&walk, "final_review", "findings").as_deref(), Some("every phase"));
    walk.says("final_review", "clear");
    assert_eq!((walk.at(), shown(&walk)), (vec!["totals".into()], vec!["DONE".into()]));
    assert_eq!(walk.runs("final_land"), 0, "there is nothing new to land");
    assert_eq!(
        (count(&walk, "finalReview:in_progress"), count(&walk, "finalReview:passed")),
        (1, 1)
    );
}

/// "fix — Increment finalReview.retryCount. If retryCount <= 3: dispatch fixes, then run harness
/// validate, then re-run FINAL_REVIEW from step 2. If retryCount > 3: stop — … failures.md, ask".
#[test]
fn three_fixes_and_then_the_question() {
    let mut walk = blocked();
    for round in 1..=3 {
        fix_in_vain(&mut walk);
        assert_eq!(walk.at(), ["final_blocked"], "round {round}");
        assert_eq!(count(&walk, "finalReview:in_progress"), 1 + round, "re-sets in_progress");
    }
    walk.answers("final_blocked", "fix");
    assert_eq!(
        (walk.at(), walk.runs("final_fix")),
        (vec!["final_failure".into()], 3),
        "failures.md"
    );
    walk.says("final_failure", "told");
    assert_eq!(walk.options("final_stuck"), ["manual", "stop", "other"]);
    let gates = walk.run().gates();
    let labels: Vec<&str> = gates[0].options.iter().map(|o| o.label.as_str()).collect();
    assert_eq!(labels[..2], ["fix manually and continue", "stop"]);
    stops_at(&mut walk, "final_stuck");

    // What a person fixed in the lane is validated and reviewed like any other work.
    let gate = walk.run().gates()[0].id;
    let theirs = windlass_core::run::Subject { tree: "theirs".into(), change: "theirs".into() };
    let answer = Answer {
        gate,
        option: Some("manual".into()),
        text: None,
        who: "me".into(),
        shown: "digest".into(),
        subject: Some(theirs),
    };
    assert_eq!(walk.give(Input::Answer(answer)), Ok(()));
    assert_eq!(walk.records().last().map(String::as_str), Some("fixed_manually"));
    let mut fixed = walk;
    fixed.says("final_validate", "pass").says("final_review", blocking());
    for _ in 0..3 {
        fix_in_vain(&mut fixed);
    }
    assert_eq!(fixed.at(), ["final_blocked"], "their fix opens three rounds more");
    fixed.answers("final_blocked", "fix");
    assert_eq!(fixed.at(), ["final_failure"]);
}

#[test]
fn a_fix_that_works_is_landed() {
    let mut walk = blocked();
    walk.answers("final_blocked", "fix");
    let findings = with(&walk, "final_fix", "findings");
    assert_eq!(findings.as_deref(), Some("one task for each blocking finding"));
    walk.says("final_fix", "done");
    assert_eq!(walk.at(), ["final_validate"], "no fix is reviewed unproved");
    walk.says("final_validate", "pass").says("final_review", "clear");
    assert_eq!(walk.at(), ["final_land"]);
    walk.says("final_land", "landed");
    assert_eq!((walk.at(), count(&walk, "finalReview:passed")), (vec!["totals".into()], 1));
}

#[test]
fn a_fix_that_fails_or_breaks_validation_asks_again() {
    for verdict in ["failed", "blocked"] {
        let mut walk = blocked();
        walk.answers("final_blocked", "fix").says("final_fix", verdict);
        assert_eq!(walk.at(), ["final_blocked"], "{verdict}");
    }
    let mut walk = blocked();
    walk.answers("final_blocked", "fix").says("final_fix", "done").says("final_validate", "fail");
    assert_eq!(walk.at(), ["final_blocked"], "red validation");
    assert_eq!(walk.runs("final_review"), 1, "and nothing was reviewed");
}

/// "override — Record override decision (rationale from user) … overridden. Transition to DONE."
#[test]
fn override_needs_a_reason_and_leads_to_done() {
    let answer = |walk: &mut Walk<'_>, text: Option<&str>| {
        let gate = walk.run().gates()[0].id;
        walk.give(Input::Answer(Answer {
            gate,
            option: Some("override".into()),
            text: text.map(str::to_owned),
            who: "me".into(),
            shown: "digest".into(),
            subject: None,
        }))
    };
    let mut walk = blocked();
    let why = Refused::ReasonNeeded { option: "override".into() };
    assert_eq!(answer(&mut walk, None), Err(why.clone()));
    assert_eq!(answer(&mut walk, Some("  ")), Err(why));
    assert_eq!(count(&walk, "finalReview:overridden"), 0);
    assert_eq!(answer(&mut walk, Some("accepted risk")), Ok(()));
    assert_eq!(count(&walk, "finalReview:overridden"), 1);
    // Whoever was asked may have made something in the lane; if not, there is nothing to land.
    walk.says("final_land", "landed");
    assert_eq!((walk.at(), count(&walk, "finalReview:passed")), (vec!["totals".into()], 0));

    // With fixes in the lane the override is what they land on.
    let mut walk = blocked();
    fix_in_vain(&mut walk);
    walk.answers("final_blocked", "override");
    assert_eq!(walk.at(), ["final_land"]);
    walk.says("final_land", "landed").to_the_end(&[]);
    assert_eq!(walk.exit_code(), Some(0));
}

/// "stop — Save state and exit. Resumable from FINAL_REVIEW."
#[test]
fn stop_is_resumable_from_final_review() {
    let mut walk = blocked();
    stops_at(&mut walk, "final_blocked");
    assert_eq!(shown(&walk), ["FINAL_REVIEW"]);
    for _ in 0..3 {
        fix_in_vain(&mut walk);
    }
    assert_eq!(walk.answers("final_blocked", "fix").at(), ["final_failure"], "the count is kept");
}

#[test]
fn a_missing_final_review_asks_retry_or_stop() {
    for stage in ["final_review", "final_fix"] {
        let missing = || {
            let mut walk = blocked();
            walk.answers("final_blocked", "fix");
            if stage == "final_review" {
                walk.says("final_fix", "done").says("final_validate", "pass");
            }
            walk.says(stage, "no_output");
            assert_eq!(walk.options("final_missing"), ["retry", "stop", "other"], "{stage}");
            walk
        };
        let again = if stage == "final_fix" { "final_validate" } else { "final_review" };
        assert_eq!(missing().answers("final_missing", "retry").at(), [again], "{stage}");
        let mut walk = missing();
        walk.answers("final_missing", "stop");
        assert_eq!(walk.exit_code(), Some(5), "{stage}");
        assert_eq!(walk.records().last().map(String::as_str), Some("stopped"), "{stage}");
        assert_eq!(walk.wishes(Wish::Resume(None)).at(), [again], "{stage}");
    }
}

/// Fixes land as every other work does: on a moved base they are validated again, the review holds.
#[test]
fn final_fixes_land_with_evidence_only() {
    let fixed = || {
        let mut walk = blocked();
        walk.answers("final_blocked", "fix").says("final_fix", "done");
        walk.says("final_validate", "pass").says("final_review", "clear");
        walk
    };
    let mut walk = fixed();
    walk.says("final_land", "moved");
    assert_eq!(walk.at(), ["final_validate"]);
    let reviews = walk.runs("final_review");
    assert_eq!(walk.says("final_validate", "pass").at(), ["final_land"]);
    assert_eq!(walk.runs("final_review"), reviews, "upheld");

    let mut walk = fixed();
    walk.says("final_land", "conflict").says("final_resolve", "resolved");
    walk.says("final_validate", "pass");
    assert_eq!(walk.at(), ["final_review"], "something new was made");

    let mut walk = fixed();
    walk.says("final_land", "conflict").says("final_resolve", "failed");
    assert_eq!(walk.options("final_conflict"), ["manual", "stop", "other"]);
    stops_at(&mut walk, "final_conflict");

    // Ours: these budgets end too, and a person's own resolution opens the first of them again.
    let mut walk = fixed();
    for _ in 0..2 {
        for _ in 0..3 {
            walk.says("final_land", "conflict").says("final_resolve", "resolved");
            walk.says("final_validate", "pass").says("final_review", "clear");
        }
        walk.says("final_land", "conflict").answers("final_conflict", "manual");
        assert_eq!(walk.records().last().map(String::as_str), Some("fixed_manually"));
        assert_eq!(walk.at(), ["final_validate"], "it is validated and reviewed again");
        walk.says("final_validate", "pass").says("final_review", "clear");
    }
    let mut walk = fixed();
    for _ in 0..20 {
        walk.says("final_land", "moved").says("final_validate", "pass");
    }
    walk.says("final_land", "moved");
    assert_eq!((walk.at(), walk.exit_code()), (vec![], Some(3)));
    assert_eq!(walk.wishes(Wish::Resume(None)).at(), ["final_validate"]);

    let mut walk = blocked();
    walk.answers("final_blocked", "fix").says("final_fix", "done");
    let target = windlass_core::run::Target::Run;
    walk.wishes(Wish::Redo { target, stage: "final_land".into() });
    assert_eq!((walk.at(), walk.exit_code()), (vec![], Some(3)), "unproved");
}

/// "Create a PR? (yes / no)", then handoff, learnings, promotion, pruning hint, roadmap, summary.
#[test]
fn done_offers_a_pull_request() {
    for (answer, opened) in [("yes", 1), ("no", 0)] {
        let mut walk = well_until(&[], &["p1"], "offer_pr");
        assert_eq!(walk.options("offer_pr"), ["yes", "no", "other"]);
        walk.answers("offer_pr", answer).to_the_end(&[]);
        assert_eq!((walk.runs("open_pr"), walk.runs("wrap_up")), (opened, 1), "{answer}");
        assert_eq!(walk.run().outcome(), Some(RunOutcome::Done), "{answer}");
        assert_eq!((walk.exit_code(), walk.runs("cut_off")), (Some(0), 0), "{answer}");
    }
    let listed = [
        "final-handoff",
        "learnings",
        "promote-learnings",
        "prune-hint",
        "roadmap-done",
        "session-summary-file",
    ];
    assert_eq!(told("wrap_up"), listed);
}

/// A run that is not done is neither reviewed nor celebrated; the summary says why.
#[test]
fn an_unfinished_run_is_not_reviewed() {
    let mut walk = Walk::new(&FLOW, &[]);
    walk.says("session", "fresh").says("spec_phases", "missing").to_the_end(&[]);
    assert_eq!((walk.runs("final_review"), walk.runs("totals"), walk.runs("cut_off")), (0, 0, 1));
    assert_eq!((walk.records(), walk.exit_code()), (vec!["spec_missing".into()], Some(4)));
}

/// The example "3-Phase Security Scanner", start to end.
#[test]
fn the_seeds_example_run() {
    let phases = vec![phase("1", "low"), phase("2", "high"), phase("3", "low")];
    let mut walk = begun(&[], phases);
    walk.says("find_plan", "missing").says("plan", "planned").says("read_plan", small_plan());
    walk.on_to("go_on", &[]).answers("go_on", "yes");
    walk.says("find_plan", "missing").says("await_plan", "told").wishes(Wish::Resume(None));
    walk.says("find_plan", "found").says("read_plan", super::plan(14, 0, 0));
    walk.answers("approve_plan", "yes").says("do", "failed");
    walk.on_to("go_on", &[]).answers("go_on", "yes");
    walk.says("find_plan", "missing").on_to("offer_pr", &usual());
    walk.answers("offer_pr", "yes").to_the_end(&[]);
    let expected = [
        "auto_approved_plan",
        "awaiting_interactive_plan",
        "approved_plan",
        "auto_approved_plan",
        "finalReview:in_progress",
        "finalReview:passed",
    ];
    assert_eq!((walk.records(), walk.exit_code()), (expected.map(str::to_owned).to_vec(), Some(0)));
    assert_eq!((walk.run().tally().done, walk.runs("open_pr")), (3, 1));
}
