//! Evidence: what a landing needs, what clears it, and who may waive it.

use std::sync::Arc;

use windlass_core::{
    run::{Ended, Standing, Target, Wish},
    workflow::{Mishap, Workflow},
};
use windlass_sim::{Saying, Walk};

use crate::{LIST, fault, flow, flow_after, listed, report, subject};

const STAGES: &str = r#"
unit do      role = "worker", edits = true, on = { done = "next", failed = "failed" }
unit prove   checks = ["test"],
    on = { pass = "next", fail = { to = "do", count = "tries", spent = "anyway" },
           skipped = "anyway" }
unit review  when = "not fast", role = "reviewer", on = { clear = "next", blocking = "anyway" }
unit land    land = "merge", needs = ["prove:pass", "review:clear"],
    on = { landed = "next", moved = { to = "prove", count = "tries", spent = "failed" },
           conflict = { to = "do", count = "tries", spent = "failed" } }
unit told    tell = ["report"], on = { told = "done" }
unit anyway  aside = true, gate = "anyway?",
    on = { land = { to = "land", waive = ["prove", "review"] }, fix = "do", no = "failed" }
"#;

const HEAD: &str = "[inputs]\nfast = \"flag\"\n[counters]\ntries = { per = \"unit\", max = 5 }";

/// A run that has come as far as its review, and what that came to.
#[track_caller]
fn reviewed<'f>(flow: &'f Arc<Workflow>, verdict: &str) -> Walk<'f> {
    let mut walk = listed(flow, &["a"]);
    walk.says("do", "done").says("prove", "pass").says("review", verdict);
    walk
}

fn redo(walk: &mut Walk<'_>, stage: &str) {
    walk.wishes(Wish::Redo { target: Target::Unit("a".into()), stage: stage.into() });
}

#[test]
fn a_landing_with_its_evidence_goes_through_once() {
    let flow = flow(HEAD, STAGES);
    let mut walk = reviewed(&flow, "clear");
    assert_eq!(walk.at(), ["land"]);
    assert_eq!(walk.run().next_deadline(), None, "nobody can tell whether a late landing happened");
    walk.says("land", "landed");
    assert_eq!(walk.run().unit_named("a").map(|u| u.landed), Some(true));
    redo(&mut walk, "land");
    assert_eq!(walk.standing(), Standing::Escalated, "it does not land twice");
    walk.wishes(Wish::Resume(None));
    assert_eq!(walk.standing(), Standing::Escalated);
    redo(&mut walk, "told");
    walk.says("told", "told");
    assert_eq!(walk.exit_code(), Some(0));
}

#[test]
fn a_new_edit_clears_what_was_proved_and_reviewed() {
    let flow = flow(HEAD, STAGES);
    let mut walk = listed(&flow, &["a"]);
    almost_landed(&mut walk);
    walk.says("do", "done");
    redo(&mut walk, "land");
    assert_eq!(walk.standing(), Standing::Escalated);
    redo(&mut walk, "prove");
    walk.says("prove", "pass");
    assert_eq!(walk.at(), ["review"], "checks alone are not enough");
    redo(&mut walk, "land");
    assert_eq!(walk.standing(), Standing::Escalated);
}

/// Everything is there, but the landing has not begun.
fn almost_landed(walk: &mut Walk<'_>) {
    walk.says("do", "done").says("prove", "pass").wishes(Wish::Pause).says("review", "clear");
    redo(walk, "do");
    walk.wishes(Wish::Resume(None));
}

#[test]
fn an_edit_that_does_not_say_what_it_made_clears_everything() {
    let flow = flow(HEAD, STAGES);
    let mut walk = listed(&flow, &["a"]);
    almost_landed(&mut walk);
    walk.waits(30 * 60_000);
    redo(&mut walk, "land");
    assert_eq!(walk.standing(), Standing::Escalated);
}

#[test]
fn review_survives_a_clean_rebase_and_checks_do_not() {
    let flow = flow(HEAD, STAGES);
    let mut walk = reviewed(&flow, "clear");
    walk.says("land", "moved");
    assert_eq!(walk.at(), ["prove"]);
    let mut unproved = reviewed(&flow, "clear");
    unproved.says("land", "moved");
    redo(&mut unproved, "land");
    assert_eq!(unproved.standing(), Standing::Escalated, "the merged tree was never proved");
    walk.says("prove", "pass");
    assert_eq!(walk.at(), ["land"], "the review still holds and is not asked again");
    assert_eq!((walk.runs("prove"), walk.runs("review")), (2, 1));
    walk.says("land", "moved");
    redo(&mut walk, "review");
    assert_eq!(walk.at(), ["review"], "a person may ask again all the same");
}

#[test]
fn a_bad_verdict_is_never_upheld() {
    let flow = flow(HEAD, STAGES);
    let mut walk = reviewed(&flow, "blocking");
    redo(&mut walk, "prove");
    walk.says("prove", "pass");
    assert_eq!(walk.at(), ["review"], "blocking is nothing to keep");
}

#[test]
fn a_conflict_clears_review_as_well() {
    let flow = flow(HEAD, STAGES);
    let mut walk = reviewed(&flow, "clear");
    walk.says("land", "conflict");
    assert_eq!(walk.at(), ["do"]);
    redo(&mut walk, "prove");
    walk.says("prove", "pass");
    redo(&mut walk, "land");
    assert_eq!(walk.standing(), Standing::Escalated);
}

#[test]
fn the_wrong_verdict_is_no_evidence() {
    let flow = flow(HEAD, STAGES);
    let mut walk = reviewed(&flow, "blocking");
    redo(&mut walk, "land");
    assert_eq!(walk.standing(), Standing::Escalated);
}

#[test]
fn a_stage_whose_condition_is_false_is_not_needed() {
    let flow = flow(HEAD, STAGES);
    let mut walk = Walk::new(&flow, &[("fast", "yes")]);
    walk.says("list", Saying::new("found").list("jobs", &["a"]));
    walk.says("do", "done").says("prove", "pass");
    assert_eq!(walk.at(), ["land"]);
}

#[test]
fn a_waiver_counts_for_exactly_this_change() {
    let flow = flow(HEAD, STAGES);
    let mut walk = listed(&flow, &["a"]);
    walk.says("do", "done").says("prove", "skipped").answers("anyway", "land");
    assert_eq!(walk.at(), ["land"]);
    walk.says("land", "conflict").says("do", "done");
    redo(&mut walk, "land");
    assert_eq!(walk.standing(), Standing::Escalated, "something else has been made since");
}

/// A check passes, on this tree.
#[track_caller]
fn passes(walk: &mut Walk<'_>, stage: &str, tree: &str) {
    let (effect, _) = walk.find(stage).expect("under way");
    let passed = Ended::Verdict("pass".into());
    assert_eq!(walk.give(report(effect, passed, Some(subject(tree)))), Ok(()));
}

#[test]
fn a_check_of_another_tree_does_not_count() {
    let flow = flow(HEAD, STAGES);
    let mut walk = listed(&flow, &["a"]);
    walk.says("do", "done");
    passes(&mut walk, "prove", "other");
    assert_eq!(walk.at(), ["prove"], "it is done again");
    assert_eq!(fault(&walk).as_deref(), Some("it looked at something else than was wanted"));
}

#[test]
fn a_person_may_override_a_verdict_with_a_reason() {
    let flow = flow(HEAD, STAGES);
    let mut walk = reviewed(&flow, "blocking");
    assert_eq!(walk.at(), ["anyway"]);
    walk.wishes(Wish::Override {
        target: Target::Unit("a".into()),
        stage: "review".into(),
        verdict: "clear".into(),
        reason: "the finding is wrong".into(),
    });
    assert_eq!(walk.at(), ["land"], "the gate is gone and the verdict counts");
    walk.says("land", "landed").says("told", "told");
    assert_eq!(walk.exit_code(), Some(0));
}

#[test]
fn one_landing_at_a_time() {
    let flow = flow(&format!("[units]\nlanes = 3\n{HEAD}"), STAGES);
    let mut walk = Walk::new(&flow, &[("fast", "yes")]);
    walk.says("list", Saying::new("found").list("jobs", &["a", "b"]));
    for _ in 0..2 {
        walk.says("do", "done");
    }
    for _ in 0..2 {
        walk.says("prove", "pass");
    }
    assert_eq!(walk.at(), ["land"]);
    walk.says("land", "landed");
    let mut at = walk.at();
    at.sort();
    assert_eq!(at, ["land", "told"]);
}

/// Two ways to land: by the queue, and alone.
const QUEUED: &str = r#"
unit do      role = "worker", edits = true, on = { done = "next", failed = "prove" }
unit land    land = "merge", proof = ["test"],
    on = { landed = "done", moved = { to = "land", count = "tries", spent = "failed" },
           conflict = { to = "do", count = "tries", spent = "failed" },
           fail = { to = "do", count = "tries", spent = "failed" } }
unit prove   aside = true, checks = ["test"], on = { pass = "alone", fail = "failed", skipped = "failed" }
unit alone   aside = true, land = "merge", needs = ["prove:pass"],
    on = { landed = "done", moved = "failed", conflict = "failed" }
"#;

#[test]
fn landings_of_the_queue_wait_together() {
    let flow = flow(&format!("[units]\nlanes = 4\n{HEAD}"), QUEUED);
    let mut walk = Walk::new(&flow, &[("fast", "yes")]);
    walk.says("list", Saying::new("found").list("jobs", &["a", "b", "c", "d"]));
    walk.says("do", "done").says("do", "done").says("do", "failed");
    walk.says("prove", "pass");
    let mut at = walk.at();
    at.sort();
    assert_eq!(at, ["do", "land", "land"], "the one that lands alone waits for both");
    let skip = Wish::Skip { unit: "b".into(), reason: "no".into() };
    let wish = |wish: Wish| windlass_core::run::Input::Control { who: "ada".into(), wish };
    assert!(walk.give(wish(skip)).is_err(), "each of them is landing");
    walk.says("land", "landed");
    assert_eq!(walk.at().iter().filter(|stage| **stage == "alone").count(), 0);
    walk.says("land", "landed");
    walk.says("do", "done");
    assert_eq!(walk.at(), ["alone"], "and the queue waits for it");
    walk.says("alone", "landed");
    assert_eq!(walk.at(), ["land"]);
    walk.says("land", "fail");
    let (_, effect) = walk.find("do").expect("it is tried again");
    let own = effect.subject.expect("on what it failed with");
    assert!(own.tree.starts_with("tree-"), "{own:?}");
    assert_eq!(walk.run().unit_named("d").map(|unit| unit.landed), Some(false));
}

#[test]
fn cancelling_leaves_no_landing_of_the_queue_out() {
    let flow = flow(&format!("[units]\nlanes = 4\n{HEAD}"), QUEUED);
    let mut walk = Walk::new(&flow, &[("fast", "yes")]);
    walk.says("list", Saying::new("found").list("jobs", &["a", "b", "c"]));
    walk.says("do", "done").says("do", "done");
    walk.wishes(Wish::Cancel);
    assert_eq!(walk.at(), ["land", "land"], "whoever may have landed is waited for");
    walk.says("land", "landed");
    assert_eq!(walk.run().unit_named("a").map(|unit| unit.landed), Some(true));
}

#[test]
fn a_landing_that_crashed_has_changed_nothing() {
    let flow = flow(HEAD, STAGES);
    let mut walk = reviewed(&flow, "clear");
    let (effect, _) = walk.find("land").expect("under way");
    assert_eq!(walk.give(report(effect, Ended::Mishap(Mishap::Crashed), None)), Ok(()));
    assert_eq!(walk.at(), ["land"], "what was proved still is, so it is tried again");
}

#[test]
fn only_what_a_landing_needs_is_kept_from_being_asked_again() {
    let (before, after) = STAGES.split_once("unit land").expect("a landing");
    let extra = r#"unit extra  role = "second", on = { clear = "next", blocking = "next" }"#;
    let flow = flow(HEAD, &format!("{before}{extra}\nunit land{after}"));
    let mut walk = reviewed(&flow, "clear");
    walk.says("extra", "clear");
    walk.says("land", "moved").says("prove", "pass");
    assert_eq!(walk.at(), ["extra"], "nothing needs it, so it is asked each time");
    assert_eq!(walk.runs("review"), 1);
}

/// The run's own lane is the branch with everything that has landed.
#[test]
fn the_run_itself_looks_at_what_has_landed() {
    let health = r#"
intake health  checks = ["test"], on = { pass = "next", fail = "next", skipped = "next" }
"#;
    let finale = r#"
finale last_look  checks = ["test"], on = { pass = "next", fail = "next", skipped = "next" }
finale mend       role = "worker", edits = true, on = { done = "end", failed = "end" }
"#;
    let flow = flow_after(HEAD, &format!("{health}{LIST}"), &format!("{STAGES}{finale}"));
    let tree = |walk: &Walk<'_>, stage: &str| {
        let (_, effect) = walk.find(stage).expect(stage);
        effect.subject.map(|subject| subject.tree.to_string())
    };
    let begun = || {
        let mut walk = Walk::new(&flow, &[]);
        passes(&mut walk, "health", "at-the-start");
        walk.says("list", Saying::new("found").list("jobs", &["a"]));
        walk
    };
    let mut walk = begun();
    walk.says("do", "done").says("prove", "pass").says("review", "clear");
    walk.says("land", "landed").says("told", "told");
    assert_eq!(tree(&walk, "last_look"), None, "nobody has looked at what has landed");
    passes(&mut walk, "last_look", "with-a");
    assert_eq!(tree(&walk, "mend").as_deref(), Some("with-a"));
    let mut walk = begun();
    walk.says("do", "failed");
    assert_eq!(tree(&walk, "last_look").as_deref(), Some("at-the-start"), "nothing has landed");
}
