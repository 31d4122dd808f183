//! Effects: stale reports, mishaps, rate limits, lost ones, deadlines, falling back.

use windlass_core::{
    run::{EffectId, EffectKind, Ended, Event, Input, PARK_MS_MIN, Refused, Standing, Subject},
    workflow::{Errand, Expect, Mishap, RunOutcome},
};
use windlass_sim::{Saying, Walk};

use crate::{JUST_DO, flow, listed, report};

fn id(walk: &Walk<'_>) -> EffectId {
    walk.run().wanted().next().expect("something is wanted")
}

fn last_ended(walk: &Walk<'_>) -> Option<Ended> {
    walk.journal().iter().rev().find_map(|r| match &r.event {
        Event::Reported(ending) => Some(ending.ended.clone()),
        _ => None,
    })
}

#[test]
fn one_effect_is_described_as_all_of_them_are() {
    let flow = flow("", JUST_DO);
    let walk = listed(&flow, &["a"]);
    let wants = walk.run().wants();
    assert_eq!(wants.len(), 1);
    for (id, effect) in wants {
        assert_eq!(walk.run().want(id), Some(effect));
    }
    assert_eq!(walk.run().want(EffectId(99)), None);
}

#[test]
fn a_report_counts_once_and_never_for_what_is_not_wanted() {
    let flow = flow("", JUST_DO);
    let mut walk = listed(&flow, &["a"]);
    let first = id(&walk);
    let before = walk.run().clone();
    let ghost = EffectId(99);
    assert_eq!(walk.give(report(ghost, Ended::Lost, None)), Err(Refused::Stale(ghost)));
    assert_eq!(walk.run(), &before, "a refusal changes nothing");
    assert_eq!(walk.give(report(first, Ended::Lost, None)), Ok(()));
    assert_ne!(id(&walk), first, "wanted again under a new id");
    let late = walk.give(report(first, Ended::Verdict("done".into()), None));
    assert_eq!(late, Err(Refused::Stale(first)));
    let second = id(&walk);
    assert_eq!(walk.give(report(second, Ended::Verdict("done".into()), None)), Ok(()));
    assert_eq!(walk.standing(), Standing::Ended(RunOutcome::Done));
    assert_eq!(walk.give(report(second, Ended::Lost, None)), Err(Refused::Ended));
}

#[test]
fn a_verdict_that_is_not_the_stages_own_is_unknown() {
    let flow = flow("", JUST_DO);
    for word in ["LGTM", "pass", "unknown", "crashed"] {
        let mut walk = listed(&flow, &["a"]);
        let effect = id(&walk);
        assert_eq!(walk.give(report(effect, Ended::Verdict(word.into()), None)), Ok(()));
        assert_eq!(last_ended(&walk), Some(Ended::Mishap(Mishap::Unknown)), "{word}");
        assert_eq!(walk.run().counters(), [("redo".to_owned(), 1, 2)]);
    }
}

#[test]
fn a_mishap_that_a_kind_cannot_meet_is_a_crash() {
    let flow = flow("", JUST_DO);
    let mut walk = Walk::new(&flow, &[]);
    let effect = id(&walk);
    assert_eq!(walk.give(report(effect, Ended::Mishap(Mishap::ContextFull), None)), Ok(()));
    assert_eq!(last_ended(&walk), Some(Ended::Mishap(Mishap::Crashed)));
    let effect = id(&walk);
    assert_eq!(walk.give(report(effect, Ended::Limited(0), None)), Ok(()));
    assert_eq!(last_ended(&walk), Some(Ended::Mishap(Mishap::Crashed)), "only agents are limited");
    let mut walk = listed(&flow, &["a"]);
    let effect = id(&walk);
    assert_eq!(walk.give(report(effect, Ended::Mishap(Mishap::ContextFull), None)), Ok(()));
    assert_eq!(walk.standing(), Standing::Escalated, "an agent can run out of context");
}

#[test]
fn a_limited_agent_is_parked_until_its_reset_and_wanted_again() {
    let flow = flow("", JUST_DO);
    let mut walk = listed(&flow, &["a"]);
    let effect = id(&walk);
    let hours_5 = 5 * 3_600_000;
    let reset = 1_750_000_000_000 + hours_5;
    assert_eq!(walk.give(report(effect, Ended::Limited(reset), None)), Ok(()));
    assert_eq!(walk.standing(), Standing::Parked(5 * 3_600_000));
    assert_eq!(walk.run().next_deadline(), Some(5 * 3_600_000));
    assert_eq!(walk.exit_code(), None, "there is something to wait for");
    walk.waits(5 * 3_600_000 - 1);
    assert!(!walk.is_at("do"));
    walk.waits(1);
    assert!(walk.is_at("do"));
    assert_eq!(walk.runs("do"), 1, "the same visit");
    let effect = id(&walk);
    assert_eq!(walk.give(report(effect, Ended::Limited(0), None)), Ok(()));
    let at = 5 * 3_600_000 + PARK_MS_MIN;
    assert_eq!(walk.standing(), Standing::Parked(at), "a reset in the past is not hammered");
}

#[test]
fn a_limit_that_passed_while_nobody_was_there_is_not_waited_for_again() {
    let flow = flow("", JUST_DO);
    let mut walk = listed(&flow, &["a"]);
    let effect = id(&walk);
    let before = walk.run().purse();
    let hours_12 = 12 * 3_600_000;
    let reset = walk.now().wall_ms + hours_12;
    assert_eq!(walk.give(report(effect, Ended::Limited(reset), None)), Ok(()));
    // Half of it passes. Then it is cut off, and taken up again: as if nobody had been away, and at no cost.
    walk.waits(6 * 3_600_000);
    assert!(!walk.is_at("do"));
    walk.comes_back();
    assert_eq!(walk.standing(), Standing::Parked(12 * 3_600_000));
    assert_eq!(walk.run().purse().invocations, before.invocations);
    // The machine sleeps for the rest: only the wall clock goes on.
    walk.sleeps(hours_12 / 2 - 1);
    assert!(!walk.is_at("do"));
    walk.sleeps(1);
    assert!(walk.is_at("do"));
    // A wall clock that is wrong by a year costs a request now and then, not one after the other.
    let effect = id(&walk);
    assert_eq!(walk.give(report(effect, Ended::Limited(reset), None)), Ok(()));
    walk.sleeps(365 * 24 * 3_600_000);
    assert!(!walk.is_at("do"), "not within a minute");
    walk.waits(PARK_MS_MIN);
    assert!(walk.is_at("do"));
}

#[test]
fn what_takes_too_long_is_timed_out_and_its_report_is_stale() {
    let stages = r#"
unit do  limit = "120s", role = "worker", on = { done = "next", failed = "failed" }
"#;
    let flow = flow("", stages);
    let mut walk = listed(&flow, &["a"]);
    let effect = id(&walk);
    assert_eq!(walk.run().next_deadline(), Some(120_000));
    assert_eq!(walk.find("do").and_then(|(_, e)| e.deadline_ms), Some(120_000));
    walk.waits(119_999);
    assert_eq!(id(&walk), effect);
    walk.waits(1);
    assert_ne!(id(&walk), effect);
    assert_eq!(last_ended(&walk), Some(Ended::Mishap(Mishap::TimedOut)));
    let late = walk.give(report(effect, Ended::Verdict("done".into()), None));
    assert_eq!(late, Err(Refused::Stale(effect)));
}

#[test]
fn an_invocation_has_a_time_cap_of_its_own_and_other_effects_the_runs() {
    let flow = flow("", JUST_DO);
    let walk = Walk::new(&flow, &[]);
    assert_eq!(walk.run().next_deadline(), Some(8 * 3_600_000));
    let walk = listed(&flow, &["a"]);
    assert_eq!(walk.run().next_deadline(), Some(30 * 60_000));
}

#[test]
fn the_next_agent_takes_over_after_a_crash_or_a_time_out_only() {
    let stages = r#"
unit look  role = "reviewer", agents = ["codex", "second", "default"], limit = "120s",
    on = { clear = "next", blocking = "failed" }
"#;
    let flow = flow("", stages);
    let agent = |walk: &Walk<'_>| match walk.find("look").map(|(_, effect)| effect.kind) {
        Some(EffectKind::Invoke { agent, .. }) => agent,
        _ => None,
    };
    let mut walk = listed(&flow, &["a"]);
    assert_eq!(agent(&walk).as_deref(), Some("codex"));
    walk.says("look", "unknown");
    assert_eq!(agent(&walk).as_deref(), Some("codex"), "it answered, if badly");
    walk.waits(120_000);
    assert_eq!(agent(&walk).as_deref(), Some("second"));
    walk.says("look", "crashed");
    assert_eq!(agent(&walk).as_deref(), Some("default"));
    let deadline = walk.find("look").and_then(|(_, effect)| effect.deadline_ms);
    assert_eq!(deadline, Some(120_000 + 30 * 60_000), "the last has the invocation's own limit");
    assert_eq!(walk.run().counters(), [("redo".to_owned(), 1, 2)]);
    walk.says("look", "crashed");
    assert_eq!(agent(&walk).as_deref(), Some("default"), "there is no further one");
    assert_eq!(walk.run().counters(), [("redo".to_owned(), 2, 2)]);
    assert_eq!(walk.runs("look"), 1);
}

#[test]
fn effects_say_what_to_do() {
    let stages = r#"
unit do     role = "worker", edits = true, sees = ["spec.md"],
    with = { loud = "fast", level = "unit.level" },
    on = { done = "next", failed = "failed" }
unit prove  checks = ["test"], expect = "fail",
    on = { pass = "next", fail = "next", skipped = "next" }
unit keep   save = "commit", label = "[x] {unit.title}", trailers = ["Issue"],
    on = { saved = "next", nothing = "next" }
unit tell   tell = ["report"], on = { told = "next" }
"#;
    let flow = flow("[inputs]\nfast = \"flag\"", stages);
    let mut walk = listed(&flow, &["a"]);
    let (_, effect) = walk.find("do").expect("under way");
    assert_eq!(
        effect.kind,
        EffectKind::Invoke {
            role: "worker".into(),
            agent: None,
            panel: None,
            edits: true,
            session: None
        }
    );
    assert_eq!(
        (effect.unit.as_deref(), effect.lane.map(|lane| lane.0), effect.visit),
        (Some("a"), Some(0), 1)
    );
    assert_eq!(effect.sees, ["spec.md"]);
    let with: Vec<String> = effect.with.iter().map(|(k, v)| format!("{k}={v}")).collect();
    assert_eq!(with, ["loud=false"], "what is Unknown is left out");
    walk.says("do", "done");
    let (_, effect) = walk.find("prove").expect("under way");
    assert_eq!(
        effect.kind,
        EffectKind::Errand(Errand::Checks { names: vec!["test".into()], expect: Expect::Fail })
    );
    assert_eq!(effect.subject.map(|s| s.tree.to_string()), Some("tree-1".into()));
    walk.says("prove", "pass");
    let (_, effect) = walk.find("keep").expect("under way");
    let EffectKind::Errand(Errand::Save { label, trailers, .. }) = effect.kind else {
        panic!("a save")
    };
    assert_eq!((label.as_deref(), trailers), (Some("[x] a"), vec!["Issue".to_owned()]));
    walk.says("keep", "nothing");
    let (_, effect) = walk.find("tell").expect("under way");
    assert_eq!(effect.kind, EffectKind::Errand(Errand::Tell { names: vec!["report".into()] }));
}

#[test]
fn facts_of_the_wrong_type_are_unknown() {
    let stages = r#"
unit do  role = "worker",
    on = { done = [{ when = "do.size >= 0", end = "done" }, { end = "skipped" }],
           failed = "failed" }
"#;
    let flow = flow("", stages);
    let mut walk = listed(&flow, &["a"]);
    walk.says("do", Saying::new("done").fact("size", "large").fact("colour", "red"));
    assert_eq!(walk.run().tally().skipped, 1);
    let mut walk = listed(&flow, &["a"]);
    walk.says("do", Saying::new("done").fact("size", 0));
    assert_eq!(walk.run().tally().done, 1);
}

#[test]
fn time_never_runs_backwards_whatever_we_are_told() {
    let flow = flow("", JUST_DO);
    let mut walk = listed(&flow, &["a"]);
    walk.waits(60_000).says("do", "crashed");
    let early = windlass_core::run::Stamp { mono_ms: 1, wall_ms: 5 };
    let effect = id(&walk);
    let ended = report(effect, Ended::Mishap(Mishap::Crashed), None);
    let events = windlass_core::run::decide(walk.run(), early, ended).expect("taken");
    let stamps: Vec<(u64, i64)> = events.iter().map(|r| (r.at.mono_ms, r.at.wall_ms)).collect();
    assert_eq!(stamps, vec![(60_000, 5); events.len()], "the wall clock may jump, ours may not");
}

#[test]
fn who_takes_over_goes_on_at_once_from_what_the_lane_holds() {
    let stages =
        r#"unit do  role = "worker", edits = true, on = { done = "next", failed = "failed" }"#;
    let flow = flow("", stages);
    let mut walk = listed(&flow, &["a"]);
    let first = id(&walk);
    let left = Subject { tree: "half".into(), change: "done".into() };
    assert_eq!(walk.give(report(first, Ended::HandedOver, Some(left.clone()))), Ok(()));
    let second = id(&walk);
    assert_ne!(second, first);
    assert_eq!(walk.run().want(second).unwrap().subject, Some(left));
    assert_eq!(walk.run().served_again_at(), None, "nobody is waited for");
    assert_eq!(walk.give(report(second, Ended::Verdict("done".into()), None)), Ok(()));
    assert_eq!(walk.standing(), Standing::Ended(RunOutcome::Done));
}

#[test]
fn who_had_to_wait_their_turn_has_all_their_time_from_then_on() {
    let flow = flow("", JUST_DO);
    let mut walk = listed(&flow, &["a"]);
    let effect = id(&walk);
    let deadline = |walk: &Walk<'_>| walk.run().want(effect).and_then(|it| it.deadline_ms);
    let before = deadline(&walk).unwrap();
    let since = walk.run().want(effect).unwrap().since;
    walk.waits(before - 1_000);
    assert_eq!(walk.give(Input::Began(effect)), Ok(()));
    assert_eq!(deadline(&walk), Some(before - since.mono_ms + before - 1_000));
    walk.waits(2_000);
    assert_eq!(id(&walk), effect, "not by the old one");
    assert_eq!(walk.run().want(effect).unwrap().since, since, "what it is to do stays the same");
    let ghost = EffectId(99);
    assert_eq!(walk.give(Input::Began(ghost)), Err(Refused::Stale(ghost)));
    walk.waits(before);
    assert_eq!(last_ended(&walk), Some(Ended::Mishap(Mishap::TimedOut)));
}
