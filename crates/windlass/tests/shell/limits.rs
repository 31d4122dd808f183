//! Providers that serve nobody for a while.

use crate::scratch::Scratch;

/// A worker that is limited, until a time in seconds since 1970.
fn limited(until: &str) -> String {
    format!(
        "[[answer]]\nrole = 'worker'\nsay = {{ limited_until = {until}, cost_usd = 0.0, tokens = 0 }}\n"
    )
}

const TASKS: &str = "[[task]]\nid = 'hello'\ntitle = 'Say hello'\ncareful = false\n";

#[test]
fn what_is_limited_is_parked_and_stays_so_across_restarts_at_no_cost() {
    let script = limited("4000000000");
    let scratch = Scratch::with(&[("script.toml", &script), ("tasks.toml", TASKS)]);
    let mut run = scratch.follow(&mut scratch.start());
    let answer = run.until("it was limited", |entry| entry["note"] == "answered");
    assert_eq!(answer["came"], "limited");
    run.until("it is parked", |entry| entry["park_until_ms"].is_u64());
    let status = scratch.status();
    assert_eq!(status["runs"][0]["limited_until"], "2096-10-02T07:06:40.000Z", "{status:#}");
    run.child.kill().unwrap();
    run.code();
    for _ in 0..2 {
        let mut again = scratch.follow(&mut scratch.windlass(&["resume"]));
        again.until("it was taken up", |entry| entry["note"] == "taken_up");
        again.child.kill().unwrap();
        again.code();
    }
    assert_eq!(scratch.notes("asked").len(), 1, "nobody was asked again");
    let status = scratch.status();
    assert_eq!(status["runs"][0]["cost_usd"], 0.0, "{status:#}");
}

#[test]
fn who_looks_on_is_told_until_when_a_provider_is_waited_for() {
    let script = limited("4000000000");
    let scratch = Scratch::with(&[("script.toml", &script), ("tasks.toml", TASKS)]);
    let mut run = scratch.follow(&mut scratch.start());
    run.until("it is parked", |entry| entry["park_until_ms"].is_u64());
    run.child.kill().unwrap();
    run.code();
    let output = scratch.windlass(&["log"]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(told.contains("waits for its provider until 2096-10-02T07:06:40.000Z"), "{told}");
}
