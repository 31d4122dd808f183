//! Budgets: reserved before anything is wanted, settled by reports, never passed.

use windlass_core::run::{
    Amount, Caps, Event, Reported, Settings, Standing, Start, Usage, Why, Wish,
};
use windlass_sim::{Saying, Walk};

use crate::{JUST_DO, LOOP, MORE, flow, listed, listed_from};

const DOLLAR: u64 = 1_000_000;

fn used(cost: u64) -> Usage {
    Usage { cost: Reported::Known(cost), tokens: Reported::Known(1) }
}

fn saying(verdict: &str, usage: Usage) -> Saying {
    Saying { usage: Some(usage), ..Saying::new(verdict) }
}

fn with(change: impl FnOnce(&mut Settings)) -> Start {
    let mut settings = Settings::default();
    change(&mut settings);
    Start { settings, ..Start::default() }
}

const TRIES: &str = "[counters]\ntries = { per = \"unit\", max = 100 }";

#[test]
fn the_worst_case_is_set_aside_first_and_one_request_is_kept_back() {
    let flow = flow("", JUST_DO);
    let mut walk = listed(&flow, &["a"]);
    assert_eq!(walk.run().purse().reserved.cost_micros, 2 * DOLLAR);
    let spend = walk.find("do").map(|(_, effect)| effect.spend.cost_micros);
    assert_eq!(spend, Some(2 * DOLLAR - 250_000));
    walk.says("do", saying("done", used(300)));
    let purse = walk.run().purse();
    assert_eq!((purse.reserved, purse.settled.cost_micros), (Amount::default(), 300));
}

#[test]
fn what_has_no_limit_has_no_deadline() {
    let prove = r#"
unit prove  checks = ["test"], on = { pass = "next", fail = "failed", skipped = "next" }
"#;
    let flow = flow("", &format!("{JUST_DO}{prove}"));
    let free = with(|settings| {
        settings.caps.run.wall_ms = None;
        settings.caps.unit.wall_ms = None;
    });
    let mut walk = listed_from(&flow, free, &["a"]);
    walk.says("do", "done");
    assert_eq!(walk.find("prove").map(|(_, effect)| effect.deadline_ms), Some(None));
    assert_eq!(walk.run().next_deadline(), None);
}

#[test]
fn unknown_cost_is_settled_at_what_was_set_aside() {
    let flow = flow("", JUST_DO);
    let mut walk = listed(&flow, &["a"]);
    walk.says("do", saying("done", Usage::UNKNOWN));
    assert_eq!(walk.run().purse().settled.cost_micros, 2 * DOLLAR);
}

#[test]
fn a_spent_unit_is_held_and_others_go_on_until_a_person_raises_its_cap() {
    let flow = flow(TRIES, LOOP);
    let mut walk = listed_from(&flow, Start::default(), &["a", "b"]);
    // 5 dollars a unit, at most 2 an invocation: 2 + 2 + 1 fit, and then nothing more does.
    for _ in 0..3 {
        walk.says("do", saying("failed", Usage::UNKNOWN));
    }
    let held =
        walk.journal().iter().any(|r| matches!(r.event, Event::Held { why: Why::Broke, .. }));
    assert!(held);
    let unit = walk.find("do").and_then(|(_, effect)| effect.unit);
    assert_eq!(unit.as_deref(), Some("b"));
    walk.says("do", saying("done", used(1)));
    assert_eq!((walk.standing(), walk.exit_code()), (Standing::Exhausted, Some(4)));
    walk.wishes(Wish::Resume(None));
    assert_eq!(walk.standing(), Standing::Exhausted, "resuming alone buys nothing");
    let mut caps = Caps::default();
    caps.unit.cost_micros = Some(6 * DOLLAR);
    caps.unit.tokens = None;
    walk.wishes(Wish::Raise(caps)).wishes(Wish::Resume(None));
    let reserved = walk.run().purse().reserved.cost_micros;
    assert_eq!(reserved, DOLLAR, "what is left, not more");
}

#[test]
fn a_spent_run_stands_still_with_exit_code_4() {
    let flow = flow(TRIES, LOOP);
    let start = with(|settings| settings.caps.run.cost_micros = Some(3 * DOLLAR));
    let mut walk = listed_from(&flow, start, &["a"]);
    walk.says("do", saying("failed", used(2 * DOLLAR)));
    assert_eq!(walk.run().purse().reserved.cost_micros, DOLLAR);
    walk.says("do", saying("failed", used(DOLLAR - 1)));
    assert_eq!((walk.standing(), walk.exit_code()), (Standing::Exhausted, Some(4)));
    let mut caps = *walk.run().caps();
    caps.run.cost_micros = Some(30 * DOLLAR);
    walk.wishes(Wish::Raise(caps));
    assert!(walk.is_at("do"), "raised, it goes on by itself");
}

#[test]
fn parallel_lanes_wait_for_what_others_have_set_aside() {
    let flow = flow(&format!("[units]\nlanes = 2\n{TRIES}"), LOOP);
    let start = with(|settings| settings.caps.run.cost_micros = Some(2 * DOLLAR + 100_000));
    let mut walk = listed_from(&flow, start, &["a", "b"]);
    assert_eq!(walk.at(), ["do"], "there is no room for two");
    assert_eq!(walk.standing(), Standing::Running);
    walk.says("do", saying("done", used(1)));
    assert_eq!(walk.at(), ["do"], "now there is");
}

#[test]
fn an_overrun_is_recorded_and_the_run_buys_nothing_more() {
    let flow = flow(TRIES, LOOP);
    let mut walk = listed(&flow, &["a"]);
    walk.says("do", saying("failed", used(2 * DOLLAR + 7)));
    let overrun = walk.journal().iter().find_map(|r| match &r.event {
        Event::Reported(ending) if !ending.overrun.is_zero() => Some(ending.overrun.cost_micros),
        _ => None,
    });
    assert_eq!(overrun, Some(7));
    assert!(walk.run().has_overrun());
    assert_eq!((walk.standing(), walk.exit_code()), (Standing::Exhausted, Some(4)));
    let caps = *walk.run().caps();
    walk.wishes(Wish::Raise(caps));
    assert!(walk.is_at("do"), "a person has looked at it");
}

#[test]
fn after_an_overrun_what_costs_nothing_still_happens() {
    let stages = r#"
unit do    role = "worker", on = { done = "next", failed = "failed" }
unit tell  tell = ["report"], on = { told = "next" }
"#;
    let flow = flow("", stages);
    let mut walk = listed(&flow, &["a"]);
    walk.says("do", saying("done", used(9 * DOLLAR)));
    assert_eq!(walk.at(), ["tell"]);
}

#[test]
fn an_agent_without_cost_must_be_declared_so() {
    let flow = flow(TRIES, LOOP);
    let start = with(|settings| {
        settings.unpriced.insert("worker".into());
    });
    let mut walk = listed_from(&flow, start, &["a"]);
    assert_eq!(walk.run().purse().reserved.cost_micros, 0);
    walk.says("do", saying("failed", Usage::UNKNOWN));
    assert_eq!(walk.run().purse().settled.cost_micros, 0);
    assert!(walk.run().purse().settled.tokens > 0, "tokens still count");
    walk.says("do", saying("failed", used(5)));
    assert!(walk.run().has_overrun(), "one that does cost something was declared wrongly");
}

#[test]
fn invocations_and_iterations_are_capped() {
    let flow = flow(TRIES, LOOP);
    let start = with(|settings| settings.caps.unit.invocations = Some(2));
    let mut walk = listed_from(&flow, start, &["a"]);
    walk.says("do", "failed").says("do", "failed");
    assert_eq!(walk.standing(), Standing::Exhausted);
    let start = with(|settings| settings.caps.run.iterations = Some(3));
    let mut walk = listed_from(&flow, start, &["a"]);
    walk.says("do", "failed").says("do", "failed");
    assert_eq!(walk.standing(), Standing::Exhausted);
    assert_eq!(walk.run().purse().iterations, 3);
}

#[test]
fn time_is_capped_and_waiting_for_a_person_does_not_count() {
    let flow = flow("", MORE);
    let start = with(|settings| settings.caps.run.wall_ms = Some(100_000));
    let mut walk = listed_from(&flow, start, &["a"]);
    walk.waits(60_000).says("do", "done");
    walk.waits(10_000_000).answers("ask", "more");
    let deadline = walk.find("do").and_then(|(_, effect)| effect.deadline_ms);
    assert_eq!(deadline, Some(10_060_000 + 40_000), "40 seconds are left");
    walk.waits(40_000);
    assert_eq!(walk.standing(), Standing::Exhausted);
}

#[test]
fn caps_that_cannot_work_or_are_lowered_are_refused() {
    let flow = flow("", JUST_DO);
    let start = with(|settings| settings.caps.invocation.amount.cost_micros = 1);
    assert!(matches!(Walk::begin(&flow, start), Err(windlass_core::run::Refused::BadCaps(_))));
    let mut walk = Walk::new(&flow, &[]);
    let wish =
        |caps| windlass_core::run::Input::Control { who: "me".into(), wish: Wish::Raise(caps) };
    let mut lower = Caps::default();
    lower.run.cost_micros = Some(19 * DOLLAR);
    let refused = walk.give(wish(lower));
    assert!(matches!(refused, Err(windlass_core::run::Refused::CapsLowered(_))));
    let mut flawed = Caps::default();
    flawed.invocation.request.cost_micros = 3 * DOLLAR;
    assert!(matches!(walk.give(wish(flawed)), Err(windlass_core::run::Refused::BadCaps(_))));
}
