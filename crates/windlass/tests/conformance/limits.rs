//! What an invocation may take, and what becomes of one that would take more.

use serde_json::json;
use windlass_testkit::{Call, Fault, Reply, Request, Tokens, Turn, Usage};

use crate::ends::works;
use crate::rig::{Rig, Who};

/// A worker whose first request takes a million tokens, and whose second is not answered.
fn takes_a_million(request: &Request) -> Reply {
    if request.answers() > 0 {
        return Fault::HangBefore.into();
    }
    let usage = Usage { fresh: 1_000_000, ..Usage::default() };
    let turn = Turn::new().text("I write it.").call(Call::write("hello.txt", "hello\n"));
    turn.tokens(Tokens::Given(usage)).into()
}

/// Three dollars, by the prices of these tests and by Claude Code's own.
const TWO_DOLLARS: &str = "[budget]\ninvocation = { dollars = 2.5 }\nrequest = { dollars = 0.5 }\n";

#[test]
fn whoever_has_used_up_what_it_may_is_stopped() {
    for who in Who::QUICK {
        let rig = Rig::new(who, takes_a_million, TWO_DOLLARS, &[]);
        let answer = rig.first_answer();
        assert_eq!(answer["came"], "cut_short", "{who:?}: {answer:#}");
    }
}

/// Without prices in windlass.toml, it is the only one who knows what it costs.
#[test]
fn claude_watches_its_own_budget() {
    let rig = Rig::unpriced(Who::Claude, takes_a_million, TWO_DOLLARS);
    let answer = rig.first_answer();
    assert_eq!(answer["came"], "cut_short", "{answer:#}");
    assert_eq!(rig.server.requests().len(), 1, "it stopped by itself");
}

#[test]
fn claude_stops_at_its_turns() {
    let rig = Rig::with_arguments(Who::Claude, works, &["--max-turns=1"]);
    let answer = rig.first_answer();
    assert_eq!(answer["came"], "cut_short", "{answer:#}");
}

/// Nothing is denied to it unless a person has said so, and then that is said.
#[test]
fn what_claude_may_not_use_is_remarked() {
    let touches = |request: &Request| match request.answers() {
        0 => Reply::shell("touch hello.txt"),
        _ => Reply::structured(json!({ "verdict": "done", "summary": "It is there." })),
    };
    let rig = Rig::with_arguments(Who::Claude, touches, &["--disallowedTools=Bash(touch *)"]);
    let answer = rig.first_answer();
    let remarks = answer["remarks"].to_string();
    assert!(remarks.contains("it was not allowed to use Bash"), "{answer:#}");
    let rig = Rig::new(Who::Claude, touches, "", &[]);
    let answer = rig.first_answer();
    assert_eq!((&answer["came"], answer.get("remarks")), (&json!("done"), None), "{answer:#}");
}

mod slow {
    use std::thread;

    use super::*;

    #[test]
    fn opencode_that_has_used_up_what_it_may_is_stopped() {
        let rig = Rig::new(Who::Opencode, takes_a_million, TWO_DOLLARS, &[]);
        let answer = rig.first_answer();
        assert_eq!(answer["came"], "cut_short", "{answer:#}");
    }

    fn before(_: &Request) -> Reply {
        Fault::HangBefore.into()
    }

    fn midway(_: &Request) -> Reply {
        Reply::hang(3, Turn::new().text("I was about to say much more"))
    }

    #[test]
    fn opencode_whose_model_says_nothing_more_is_not_waited_for() {
        let limit = "[budget]\ninvocation = { silent_minutes = 1 }\n";
        let answer = Rig::new(Who::Opencode, midway, limit, &[]).first_answer();
        assert_eq!(answer["came"], "timed_out", "{answer:#}");
    }

    /// Waits a minute: silence is measured in minutes.
    #[test]
    fn a_model_that_says_nothing_more_is_not_waited_for() {
        let came = |who: Who, brain: fn(&Request) -> Reply| {
            let limit = "[budget]\ninvocation = { silent_minutes = 1 }\n";
            Rig::new(who, brain, limit, &[]).first_answer()
        };
        let brains: [fn(&Request) -> Reply; 2] = [before, midway];
        let cases = Who::QUICK.into_iter().flat_map(|who| brains.map(|brain| (who, brain)));
        let all: Vec<_> =
            cases.map(|(who, brain)| thread::spawn(move || (who, came(who, brain)))).collect();
        for one in all {
            let (who, answer) = one.join().unwrap();
            assert_eq!(answer["came"], "timed_out", "{who:?}: {answer:#}");
        }
    }
}
