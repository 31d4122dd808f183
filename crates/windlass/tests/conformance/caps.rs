//! Caps hold while a real agent works, however its provider counts.

use serde_json::{Value, json};
use windlass_testkit::{Call, Fault, Reply, Request, Tokens, Turn, Usage};

use crate::rig::{Rig, Who};

/// A model that never comes to an end: each turn is one more command, and costs this much. After so many it takes its
/// time, as models do: whoever is to be stopped by then has one request under way and no more.
fn goes_on_and_on(tokens: Tokens, turns: usize) -> impl Fn(&Request) -> Reply + Send + Sync {
    move |request| {
        if request.answers() >= turns {
            return Fault::HangBefore.into();
        }
        if request.role().as_deref() != Some("worker") {
            return Reply::structured(json!({ "verdict": "clear", "summary": "Fine." }));
        }
        let command = format!("echo {} >> hello.txt", request.answers());
        Turn::new().text("And once more.").call(Call::shell(command)).tokens(tokens).into()
    }
}

/// A little more than a tenth of a dollar for each request, at three dollars for a million.
pub const DIME: Usage = Usage { fresh: 33_400, read: 0, written: 0, output: 0 };

/// Half a dollar for an invocation, and at most a fifth for a request: it may begin none when 0.3 are used up.
pub const BUDGET: &str = "[budget]\ninvocation = { dollars = 0.5 }\nrequest = { dollars = 0.2 }\n";

/// What is on record of an agent that was stopped: how much it was settled at, and how many requests it made.
pub fn stopped(who: Who, tokens: Tokens, turns: usize, budget: &str) -> (Value, f64, usize) {
    let rig = Rig::new(who, goes_on_and_on(tokens, turns), budget, &[]);
    let mut run = rig.scratch.follow(&mut rig.start());
    let answer = run.until("it was stopped", |entry| entry["note"] == "answered");
    let settled = run.until("it was settled", |entry| entry["event"] == "reported");
    let _ = run.child.kill();
    run.code();
    let dollars = settled["settled"]["cost_micros"].as_f64().unwrap() / 1e6;
    (answer, dollars, rig.server.requests().len())
}

#[test]
fn an_agent_is_stopped_when_it_has_used_up_what_it_may() {
    for who in Who::BOTH {
        let (answer, settled, requests) = stopped(who, Tokens::Given(DIME), 3, BUDGET);
        assert_eq!(answer["came"], "cut_short", "{who:?}: {answer:#}");
        // The third makes it three tenths; a fourth may have been sent by then, and no more than that was set aside.
        assert!((3..=4).contains(&requests), "{who:?}: {requests} requests");
        assert!(settled <= 0.5 + 1e-9, "{who:?}: {settled}");
        // What it did is kept.
        assert_eq!(answer["files"], json!(["hello.txt"]), "{who:?}");
    }
}

#[test]
fn an_agent_is_stopped_when_it_has_taken_the_turns_that_it_may() {
    for who in Who::QUICK {
        takes_its_turns(who);
    }
}

#[track_caller]
fn takes_its_turns(who: Who) {
    let budget = "[budget]\ninvocation = { turns = 2 }\n";
    let (answer, _, requests) = stopped(who, Tokens::Counted, 3, budget);
    assert_eq!(answer["came"], "cut_short", "{who:?}: {answer:#}");
    // Codex tells of a turn when it is over.
    assert!((2..=4).contains(&requests), "{who:?}: {requests} requests");
}

mod slow {
    use super::*;

    #[test]
    fn opencode_is_stopped_when_it_has_taken_the_turns_that_it_may() {
        takes_its_turns(Who::Opencode);
    }
}

#[test]
fn an_agent_whose_usage_comes_late_is_stopped_all_the_same() {
    let (answer, settled, requests) = stopped(Who::Claude, Tokens::AtTheEnd, 20, TOKENS);
    assert_eq!(answer["came"], "cut_short", "{answer:#}");
    assert!(requests < 20 && settled <= 2.0, "{requests} requests, {settled}");
}

/// So many tokens that a few requests use them up.
const TOKENS: &str = "[budget]\ninvocation = { tokens = 60000 }\nrequest = { tokens = 20000 }\n";

#[test]
fn an_agent_whose_usage_nobody_knows_is_settled_at_what_was_set_aside() {
    for who in Who::QUICK {
        let brain = |request: &Request| {
            if request.answers() == 0 {
                return Turn::new()
                    .call(Call::shell("echo hello > hello.txt"))
                    .tokens(Tokens::Missing)
                    .into();
            }
            let role = request.role();
            let verdict = if role.as_deref() == Some("worker") { "done" } else { "clear" };
            let say = json!({ "verdict": verdict, "summary": "So it is." });
            Turn::new().call(Call::structured(say)).tokens(Tokens::Missing).into()
        };
        let rig = Rig::new(who, brain, BUDGET, &[]);
        let mut run = rig.scratch.follow(&mut rig.start());
        run.until("it answered", |entry| entry["note"] == "answered");
        let settled = run.until("it was settled", |entry| entry["event"] == "reported");
        let _ = run.child.kill();
        run.code();
        let micros = settled["settled"]["cost_micros"].as_u64().unwrap();
        assert_eq!(micros, 500_000, "{who:?}: never nothing");
    }
}
