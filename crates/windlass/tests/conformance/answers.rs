//! Answers in another form than was asked for.

use serde_json::json;
use windlass_testkit::{Call, Reply, Request};

use crate::ends::works;
use crate::rig::{Rig, Who};

/// Whether an agent is asked again for an answer that could be read.
fn is_repair(request: &Request) -> bool {
    request.text().contains("could not be read")
}

/// A worker that says this when its work is done; and that when it is asked again.
fn says(
    first: &'static str,
    again: &'static str,
) -> impl Fn(&Request) -> Reply + Send + Sync + 'static {
    move |request| match (is_repair(request), request.answers()) {
        (true, _) => Reply::text(again),
        (false, 0) => works(request),
        (false, _) => Reply::text(first),
    }
}

/// What an agent's first invocation comes to, and whether it was asked again.
#[track_caller]
fn comes_to(
    who: Who,
    brain: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    want: (&str, bool),
) {
    let rig = Rig::new(who, brain, "", &[]);
    let answer = rig.first_answer();
    let again = rig.server.requests().iter().any(|exchange| is_repair(&exchange.request));
    assert_eq!((answer["came"].as_str().unwrap(), again), want, "{who:?}: {answer:#}");
    let remarks = answer["remarks"].to_string();
    assert_eq!(remarks.contains("it had to be asked again"), again, "{remarks}");
}

const PROSE: &str = "It is all as it should be.";
const OBJECT: &str = "It is. {\"verdict\": \"done\", \"summary\": \"As it should be.\"}";

#[test]
fn an_answer_that_does_not_fit_is_given_again_in_the_same_session() {
    let brain = |request: &Request| match request.answers() {
        0 => works(request),
        1 => Reply::call(Call::structured(json!({ "verdict": "perhaps" }))),
        _ => works(request),
    };
    let rig = Rig::new(Who::Claude, brain, "", &[]);
    let answer = rig.first_answer();
    assert_eq!(answer["came"], "done", "{answer:#}");
    let requests = rig.server.requests();
    let told = requests.iter().any(|exchange| {
        exchange.request.tool_results().iter().any(|result| result.contains("verdict"))
    });
    assert!(told, "it was not told what does not fit");
}

#[test]
fn an_object_among_prose_is_an_answer() {
    comes_to(Who::Codex, says(OBJECT, ""), ("done", false));
    comes_to(Who::Claude, says(OBJECT, ""), ("done", false));
}

/// It asks its model once more by itself; then its prose is all that there is.
#[test]
fn prose_of_claude_is_no_verdict_and_is_asked_about_once() {
    comes_to(Who::Claude, says(PROSE, OBJECT), ("done", true));
    comes_to(Who::Claude, says(PROSE, PROSE), ("unknown", true));
}

#[test]
fn prose_of_codex_is_no_verdict_and_is_asked_about_once() {
    comes_to(Who::Codex, says(PROSE, OBJECT), ("done", true));
    comes_to(Who::Codex, says("{\"verdict\": \"perhaps\"}", OBJECT), ("done", true));
    comes_to(Who::Codex, says(PROSE, PROSE), ("unknown", true));
}

#[test]
fn prose_of_gemini_is_no_verdict_and_is_asked_about_once() {
    comes_to(Who::Gemini, says(OBJECT, ""), ("done", false));
    comes_to(Who::Gemini, says("{\"verdict\": \"perhaps\"}", OBJECT), ("done", true));
    comes_to(Who::Gemini, says(PROSE, PROSE), ("unknown", true));
}

mod slow {
    use super::*;

    #[test]
    fn prose_of_opencode_is_no_verdict_and_is_asked_about_once() {
        comes_to(Who::Opencode, says(OBJECT, ""), ("done", false));
        comes_to(Who::Opencode, says("{\"verdict\": \"perhaps\"}", OBJECT), ("done", true));
        comes_to(Who::Opencode, says(PROSE, PROSE), ("unknown", true));
    }
}
