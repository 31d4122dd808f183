//! An agent whose Windlass was killed goes on with its own session, and what it used up is counted once.

use std::time::Duration;

use windlass_testkit::{Ending, Exchange, Usage};

use crate::rig::{Rig, Who};
use crate::signals::hangs_once;

const LONG: Duration = Duration::from_secs(30);

/// What a request of the worker's came to, if it was answered to its end.
fn used(exchange: &Exchange) -> Option<Usage> {
    let answered =
        exchange.answered.as_ref().filter(|answered| answered.ending == Ending::Whole)?;
    let is_work = exchange.request.role().as_deref() == Some("worker");
    answered.usage.filter(|_| is_work)
}

/// What that costs, in millionths of a dollar, by the prices of these tests.
pub fn cost(usage: Usage) -> f64 {
    let Usage { fresh, read, written, output } = usage;
    let of = |tokens: u64, price: f64| price * f64::from(u32::try_from(tokens).unwrap());
    of(fresh, 3.0) + of(read, 0.3) + of(written, 3.75) + of(output, 15.0)
}

#[track_caller]
pub fn goes_on(who: Who) {
    let rig = Rig::new(who, hangs_once(), "", &[]);
    let mut followed = rig.scratch.follow(&mut rig.start());
    assert!(rig.server.wait_for(2, LONG), "{who:?} did not come to its second turn");
    rig.until_written_down();
    followed.child.kill().unwrap();
    followed.code();
    let output = rig.windlass(&["resume"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{who:?}: {said}");
    assert_eq!(rig.scratch.landed()["hello.txt"], "hello");
    let requests = rig.server.requests();
    let third = &requests[2].request;
    assert!(third.answers() > 0 && third.text().contains("You were cut off"), "{who:?} began anew");
    // Claude Code accounts for this run alone, Codex for the whole session: what is settled is all of it, and once.
    let used: Vec<Usage> = requests.iter().filter_map(used).collect();
    assert_eq!(used.len(), 2);
    let entries = rig.scratch.entries();
    let report = entries.iter().find(|entry| entry["event"] == "reported" && entry["effect"] == 1);
    let settled = &report.expect("a report")["settled"];
    // And the one that was under way when it was cut off: nobody knows what that came to, so it counts as the most it can.
    let tokens: u64 = used.iter().map(|usage| usage.input() + usage.output).sum();
    assert_eq!(settled["tokens"], tokens + 250_000, "{who:?}: {used:?}");
    let exact: f64 = used.iter().copied().map(cost).sum::<f64>() + 250_000.0;
    let over = settled["cost_micros"].as_f64().unwrap() - exact;
    assert!((0.0..8.0).contains(&over), "{who:?}: {settled} instead of {exact}");
}

#[test]
fn claude_goes_on_where_it_was_and_what_it_used_is_counted_once() {
    goes_on(Who::Claude);
}

#[test]
fn codex_goes_on_where_it_was_and_what_it_used_is_counted_once() {
    goes_on(Who::Codex);
}

#[test]
fn gemini_goes_on_where_it_was_and_what_it_used_is_counted_once() {
    goes_on(Who::Gemini);
}
