//! What becomes of an invocation, whatever its provider does: the same word for it, whoever the agent is.

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use serde_json::json;
use windlass_testkit::{Call, Complaint, Fault, Reply, Request, Turn};

use crate::rig::{Rig, Who};

/// A worker that does its one task: writes a file, then says so.
pub fn works(request: &Request) -> Reply {
    if request.is_side() {
        return Reply::text("A title, or a summary: there is hello.txt to be written.");
    }
    let is_worker = request.role().as_deref() == Some("worker");
    let has_written = !request.tool_results().is_empty() || request.answers() > 0;
    if is_worker && !has_written {
        return Turn::new().text("I write it.").call(Call::write("hello.txt", "hello\n")).into();
    }
    let verdict = if is_worker { "done" } else { "clear" };
    Reply::structured(json!({ "verdict": verdict, "summary": "It is as it should be." }))
}

/// Does what a worker does, but for the first few requests of its second turn.
pub fn troubled(
    times: usize,
    trouble: impl Fn() -> Reply + Send + Sync,
) -> impl Fn(&Request) -> Reply {
    let met = AtomicUsize::new(0);
    move |request| {
        if !request.is_side() && request.answers() > 0 && met.fetch_add(1, SeqCst) < times {
            return trouble();
        }
        works(request)
    }
}

pub fn complains(times: usize, complaint: Complaint) -> impl Fn(&Request) -> Reply + Send + Sync {
    troubled(times, move || Reply::complaint(complaint))
}

pub const FOR_EVER: usize = usize::MAX;

/// What an agent's first invocation comes to.
#[track_caller]
pub fn comes_to(
    who: Who,
    brain: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    want: &str,
) -> Rig {
    let rig = Rig::new(who, brain, "", &[]);
    let answer = rig.first_answer();
    assert_eq!(answer["came"], want, "{who:?}: {answer:#}");
    rig
}

#[test]
fn work_that_is_done_lands_and_costs_what_it_says() {
    for who in Who::QUICK {
        lands(who);
    }
}

#[track_caller]
fn lands(who: Who) {
    let rig = Rig::new(who, works, "", &[]);
    let output = rig.start().output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{who:?}: {said}");
    assert_eq!(rig.scratch.landed()["hello.txt"], "hello");
    let status = rig.scratch.status();
    let spent = status["runs"][0]["cost_usd"].as_f64().unwrap();
    assert!(spent > 0.001 && spent < 1.0, "{who:?}: {spent}");
    let key = rig.server.requests()[0].request.key.clone();
    assert_eq!(key.as_deref(), Some("test-key-1"));
    assert_eq!(rig.scratch.processes(), Vec::<String>::new());
}

#[test]
fn a_short_trouble_is_no_trouble() {
    for who in Who::BOTH {
        comes_to(who, complains(1, Complaint::rate_limited(1)), "done");
        comes_to(who, troubled(1, || Reply::cut(2, Turn::new().text("I was about to"))), "done");
    }
    comes_to(Who::Claude, complains(1, Complaint::Overloaded), "done");
}

/// A stream that is cut is asked for again by Gemini CLI itself if the connection was gone before it had read any of
/// it, and otherwise not: which of both is up to its scheduler.
#[test]
fn an_answer_to_gemini_that_is_cut_is_waited_for() {
    comes_to(Who::Gemini, complains(1, Complaint::rate_limited(1)), "done");
    let cut = troubled(1, || Reply::cut(2, Turn::new().text("I was about to")));
    let answer = Rig::new(Who::Gemini, cut, "", &[]).first_answer();
    assert!(answer["came"] == "overloaded" || answer["came"] == "done", "{answer:#}");
}

#[test]
fn a_provider_that_cannot_serve_is_waited_for() {
    comes_to(Who::Claude, complains(FOR_EVER, Complaint::Overloaded), "overloaded");
    comes_to(Who::Claude, complains(FOR_EVER, Complaint::Internal), "overloaded");
}

mod slow {
    use super::*;

    /// It tries again by itself, and waits longer each time.
    #[test]
    fn a_provider_that_cannot_serve_codex_is_waited_for() {
        comes_to(Who::Codex, complains(FOR_EVER, Complaint::Overloaded), "overloaded");
        comes_to(Who::Codex, complains(FOR_EVER, Complaint::Internal), "overloaded");
    }

    #[test]
    fn a_provider_that_cannot_serve_gemini_is_waited_for() {
        comes_to(Who::Gemini, complains(FOR_EVER, Complaint::Overloaded), "overloaded");
        comes_to(Who::Gemini, complains(FOR_EVER, Complaint::Internal), "overloaded");
        comes_to(Who::Gemini, complains(FOR_EVER, Complaint::rate_limited(1)), "limited");
    }

    /// It tries five times more by itself, which takes more than a minute.
    #[test]
    fn a_provider_that_cannot_serve_opencode_is_waited_for() {
        comes_to(Who::Opencode, complains(FOR_EVER, Complaint::Internal), "overloaded");
        comes_to(Who::Opencode, complains(FOR_EVER, Complaint::rate_limited(1)), "limited");
    }

    #[test]
    fn what_opencode_comes_to_has_a_word_of_its_own() {
        comes_to(Who::Opencode, troubled(FOR_EVER, || Reply::refusal("No.")), "refused");
        comes_to(Who::Opencode, troubled(FOR_EVER, || Reply::tokens_max("And then")), "too_long");
        let rig = comes_to(
            Who::Opencode,
            |_: &Request| Reply::complaint(Complaint::Overflow),
            "context_full",
        );
        assert!(rig.server.probes().is_empty(), "it asked for something else");
    }

    /// Trouble that is over soon, and a prompt that was summed up: it goes on.
    #[test]
    fn opencode_goes_on_by_itself() {
        comes_to(Who::Opencode, complains(1, Complaint::rate_limited(1)), "done");
        let cut = troubled(1, || Reply::cut(2, Turn::new().text("I was about to")));
        comes_to(Who::Opencode, cut, "done");
        comes_to(Who::Opencode, complains(1, Complaint::Overflow), "done");
    }

    #[test]
    fn work_that_opencode_has_done_lands_and_costs_what_it_says() {
        lands(Who::Opencode);
    }

    #[test]
    fn a_key_that_opens_nothing_for_opencode_pauses_the_run() {
        is_not_let_in(Who::Opencode);
    }
}

#[test]
fn too_many_requests_are_a_limit() {
    comes_to(Who::Claude, complains(FOR_EVER, Complaint::rate_limited(1)), "limited");
    let reset = 4_000_000_000;
    let limit = Complaint::RateLimited { retry_after_s: None, reset_unix_s: Some(reset) };
    comes_to(Who::Codex, complains(FOR_EVER, limit), "limited");
}

#[test]
fn a_key_that_opens_nothing_pauses_the_run_and_says_so() {
    for who in Who::QUICK {
        is_not_let_in(who);
    }
}

#[track_caller]
fn is_not_let_in(who: Who) {
    let rig = Rig::new(who, |_: &Request| Reply::complaint(Complaint::Unauthorized), "", &[]);
    let output = rig.start().output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_ne!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("does not let it in") && said.contains("windlass resume"), "{said}");
    assert!(!said.contains("test-key-1"), "{said}");
}

#[test]
fn a_prompt_that_has_become_too_long_is_no_success() {
    comes_to(Who::Codex, complains(1, Complaint::Overflow), "context_full");
    comes_to(Who::Gemini, complains(1, Complaint::Overflow), "context_full");
    // It sums up what was said, and goes on.
    comes_to(Who::Claude, complains(1, Complaint::Overflow), "done");
}

#[test]
fn a_model_that_will_not_is_no_success() {
    comes_to(Who::Claude, troubled(FOR_EVER, || Reply::refusal("No.")), "refused");
    // It says nothing of it, and nothing else either.
    comes_to(Who::Codex, troubled(FOR_EVER, || Reply::refusal("No.")), "no_output");
    // It says that all is well, unless nothing was said at all.
    comes_to(Who::Gemini, troubled(FOR_EVER, || Reply::refusal("No.")), "unknown");
    comes_to(Who::Gemini, troubled(FOR_EVER, || Reply::refusal("")), "no_output");
}

#[test]
fn an_answer_that_is_too_long_is_no_success() {
    comes_to(Who::Claude, troubled(FOR_EVER, || Reply::tokens_max("And then")), "too_long");
    comes_to(Who::Codex, troubled(FOR_EVER, || Reply::tokens_max("And then")), "crashed");
    comes_to(Who::Gemini, troubled(FOR_EVER, || Reply::tokens_max("And then")), "unknown");
}

/// When a subscription has something left again, in seconds since 1970.
pub const RESET: u64 = 4_000_000_000;

#[test]
fn a_limit_of_a_subscription_is_waited_for_until_it_is_over() {
    // Claude Code says so in an event of its own, to whoever has a subscription.
    let limit = Complaint::RateLimited { retry_after_s: None, reset_unix_s: Some(RESET) };
    let rig = Rig::new(Who::Claude, complains(FOR_EVER, limit), "", &[]);
    let mut command = rig.start();
    command.env_remove("ANTHROPIC_API_KEY").env("CLAUDE_CODE_OAUTH_TOKEN", "test-key-2");
    until_it_is_over(&rig, command);
    // Codex notes in its record what its provider says beside every answer.
    let headers = [("used-percent", "100"), ("window-minutes", "300"), ("reset-at", "4000000000")];
    let headers: Vec<(String, String)> = headers
        .iter()
        .map(|(name, value)| (format!("x-codex-primary-{name}"), (*value).to_owned()))
        .collect();
    let brain = troubled(FOR_EVER, move || {
        let body = json!({ "error": { "type": "usage_limit_reached", "message": "no more" } });
        Fault::Status { status: 429, headers: headers.clone(), body: body.to_string() }.into()
    });
    let rig = Rig::new(Who::Codex, brain, "", &[]);
    until_it_is_over(&rig, rig.start());
}

/// A run that waits for its provider until the limit is over, and says so.
pub fn until_it_is_over(rig: &Rig, command: Command) {
    let (mut run, answer) = rig.until_answered(command);
    assert_eq!(answer["came"], "limited", "{:?}: {answer:#}", rig.who);
    let reported = run.until("it is parked", |entry| entry["park_until_ms"].is_u64());
    assert_eq!(reported["ended"]["limited"], RESET * 1_000, "{:?}", rig.who);
    let status = rig.scratch.status();
    assert_eq!(status["runs"][0]["limited_until"], "2096-10-02T07:06:40.000Z", "{status:#}");
    run.child.kill().unwrap();
    run.code();
}
