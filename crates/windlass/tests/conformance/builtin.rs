//! The built-in agent, through the whole of Windlass and inside the sandbox, in the words of four providers. How it ends,
//! fault by fault, is in the tests of its own room.

use serde_json::json;
use windlass_agents::api::Format;
use windlass_testkit::{Call, Complaint, Reply, Request, Tokens, Turn};

use crate::caps::{BUDGET, DIME, stopped};
use crate::ends::{FOR_EVER, RESET, comes_to, complains, troubled, until_it_is_over, works};
use crate::rig::{Rig, Who};
use crate::{kills, resumed};

fn each(act: impl Fn(Who)) {
    Format::ALL.map(Who::Api).into_iter().for_each(act);
}

#[test]
fn work_that_is_done_lands_and_costs_what_the_provider_says() {
    each(|who| {
        let rig = Rig::new(who, works, "", &[]);
        let output = rig.start().output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{who:?}: {said}");
        assert_eq!(rig.scratch.landed()["hello.txt"], "hello");
        let requests = rig.server.requests();
        assert_eq!(requests[0].request.key.as_deref(), Some("test-key-1"));
        let micros: f64 = requests
            .iter()
            .map(|exchange| exchange.answered.as_ref().unwrap().usage.unwrap())
            .map(resumed::cost)
            .sum();
        let spent = rig.scratch.status()["runs"][0]["cost_usd"].as_f64().unwrap();
        assert!((spent - micros / 1e6).abs() < 1e-4, "{who:?}: {spent} instead of {micros}");
        assert_eq!(rig.scratch.processes(), Vec::<String>::new());
    });
}

#[test]
fn whatever_its_provider_does_has_its_own_word() {
    each(|who| {
        comes_to(who, complains(1, Complaint::Overflow), "done");
        comes_to(who, troubled(1, || Reply::cut(2, Turn::new().text("I was about to"))), "done");
        comes_to(who, troubled(FOR_EVER, || Reply::refusal("No.")), "refused");
        comes_to(who, troubled(FOR_EVER, || Reply::tokens_max("And then")), "too_long");
        comes_to(who, complains(FOR_EVER, Complaint::rate_limited(3_600)), "limited");
    });
}

#[test]
fn a_limit_is_waited_for_until_it_is_over() {
    for format in [Format::Anthropic, Format::Openai, Format::OpenaiChat] {
        let limit = Complaint::RateLimited { retry_after_s: None, reset_unix_s: Some(RESET) };
        let rig = Rig::new(Who::Api(format), complains(FOR_EVER, limit), "", &[]);
        until_it_is_over(&rig, rig.start());
    }
}

#[test]
fn a_key_that_opens_nothing_pauses_the_run_and_says_so() {
    each(|who| {
        let rig = Rig::new(who, |_: &Request| Reply::complaint(Complaint::Unauthorized), "", &[]);
        let output = rig.start().output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_ne!(output.status.code(), Some(0), "{said}");
        assert!(said.contains("does not let it in") && said.contains("windlass resume"), "{said}");
        assert!(!said.contains("test-key-1"), "{said}");
    });
}

#[test]
fn without_a_key_nobody_is_asked_and_the_run_pauses_and_says_so() {
    each(|who| {
        let rig = Rig::new(who, works, "", &[]);
        let without = |args: &[&str]| {
            let output = rig.windlass(args).env_remove(who.key()).output().unwrap();
            let said = [output.stdout, output.stderr].concat();
            (output.status.success(), String::from_utf8_lossy(&said).into_owned())
        };
        let want = format!("has no key: `{}` is not set", who.key());
        for args in [&["doctor"][..], &["run", "flow.toml", "--catalogue", "catalogue.toml"]] {
            let (success, said) = without(args);
            assert!(!success && said.contains(&want), "{who:?} {args:?}: {said}");
        }
        assert!(rig.server.requests().is_empty());
    });
}

#[test]
fn it_is_stopped_when_it_has_used_up_what_it_may() {
    each(|who| {
        let (answer, settled, requests) = stopped(who, Tokens::Given(DIME), 3, BUDGET);
        assert_eq!(answer["came"], "cut_short", "{who:?}: {answer:#}");
        assert!((3..=4).contains(&requests), "{who:?}: {requests} requests");
        assert!(settled <= 0.5 + 1e-9, "{who:?}: {settled}");
        assert_eq!(answer["files"], json!(["hello.txt"]), "{who:?}");
        let budget = "[budget]\ninvocation = { turns = 2 }\n";
        let (answer, settled, requests) = stopped(who, Tokens::Counted, 3, budget);
        assert_eq!((&answer["came"], requests), (&json!("cut_short"), 2), "{who:?}: {answer:#}");
        assert!(settled < 0.1, "{who:?}: it ended by itself, and knows what it used up: {settled}");
    });
}

#[test]
fn what_nobody_knows_is_settled_at_what_was_set_aside() {
    each(|who| {
        let brain = |_: &Request| {
            let say = json!({ "verdict": "done", "summary": "So it is." });
            Turn::new().call(Call::structured(say)).tokens(Tokens::Missing).into()
        };
        let rig = Rig::new(who, brain, BUDGET, &[]);
        let mut run = rig.scratch.follow(&mut rig.start());
        run.until("it answered", |entry| entry["note"] == "answered");
        let settled = run.until("it was settled", |entry| entry["event"] == "reported");
        let _ = run.child.kill();
        run.code();
        assert_eq!(settled["settled"]["cost_micros"], 500_000, "{who:?}: never nothing");
    });
}

/// A server of one's own, which wants no key and costs nothing.
#[test]
fn a_server_of_ones_own_needs_no_key_and_costs_nothing() {
    let who = Who::Api(Format::OpenaiChat);
    let rig = Rig::new(who, works, "", &[]);
    rig.scratch.sh("sed -i \"s/^prices = .*/key = ''\\ncost = 'none'/\" windlass.toml");
    rig.scratch.git(&["commit", "-qam", "Nothing to pay for"]);
    let output = rig.start().env_remove(who.key()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(rig.server.requests()[0].request.key, None);
    assert_eq!(rig.scratch.status()["runs"][0]["cost_usd"], 0.0);
}

#[test]
fn whoever_was_cut_off_goes_on_and_what_was_used_is_counted_once() {
    each(resumed::goes_on);
}

#[test]
fn of_a_windlass_that_is_killed_nobody_survives_and_nothing_is_paid_or_edited_twice() {
    each(|who| kills::goes_on(who, nix::sys::signal::Signal::SIGKILL));
}

mod slow {
    use super::*;
    use crate::demo::slow::builds;

    #[track_caller]
    fn builds_the_demo(format: Format) {
        let who = Who::Api(format);
        builds(&format!("default = '{}'", who.name()), &[who]);
    }

    #[test]
    fn the_demo_is_built_from_end_to_end_in_anthropics_words() {
        builds_the_demo(Format::Anthropic);
    }

    #[test]
    fn the_demo_is_built_from_end_to_end_in_openais_words() {
        builds_the_demo(Format::Openai);
    }

    #[test]
    fn the_demo_is_built_from_end_to_end_in_the_words_of_chat() {
        builds_the_demo(Format::OpenaiChat);
    }

    #[test]
    fn the_demo_is_built_from_end_to_end_in_googles_words() {
        builds_the_demo(Format::Gemini);
    }
}
