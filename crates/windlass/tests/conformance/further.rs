//! Stages that share a session: whoever mends something is the one who made it, and remembers how.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use serde_json::{Value, json};
use windlass_agents::api::Format;
use windlass_testkit::{Call, Complaint, Ending, Exchange, Reply, Request, Role, Turn};

use crate::rig::{Rig, Who};
use crate::scratch::fixture;

const LONG: Duration = Duration::from_secs(30);

/// What somebody is told who remembers.
const FURTHER: &str = "This goes on from what you did here before.";
/// What everybody is told at this stage.
const TOLD: &str = "Stage: do";

/// The workflow of these tests, in which the stage that does something has a session.
fn flow() -> String {
    fixture("small.toml").replacen(
        "role  = \"worker\"\n",
        "role  = \"worker\"\nsession = \"work\"\n",
        1,
    )
}

/// Whether the model has said anything since it was last told what to do.
fn has_spoken(request: &Request) -> bool {
    let told = |it: &windlass_testkit::Message| it.role == Role::User && it.text().contains(TOLD);
    let since = request.messages.iter().rposition(told).map_or(0, |at| at + 1);
    request.messages[since..].iter().any(|message| message.role == Role::Assistant)
}

/// Does it badly, and mends it when it is told so.
fn mends(request: &Request) -> Reply {
    if request.is_side() {
        return Reply::text("A title, or a summary: there is hello.txt to be written.");
    }
    if request.role().as_deref() != Some("worker") {
        return Reply::structured(
            json!({ "verdict": "clear", "summary": "It is as it should be." }),
        );
    }
    if has_spoken(request) {
        return Reply::structured(json!({ "verdict": "done", "summary": "It is written." }));
    }
    let (said, text) = match request.text().contains("hello.txt is wrong") {
        true => ("I mend it.", "hello"),
        false => ("I write it badly.", "bad"),
    };
    Turn::new().text(said).call(Call::shell(format!("echo {text} > hello.txt"))).into()
}

fn rig(who: Who, brain: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Rig {
    Rig::new(who, brain, "", &[("flow.toml", &flow())])
}

#[track_caller]
fn lands(rig: &Rig, args: &[&str]) {
    let output = match args {
        [] => rig.start().output(),
        args => rig.windlass(args).output(),
    };
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{:?}: {said}", rig.who);
    assert_eq!(rig.scratch.landed()["hello.txt"], "hello");
}

/// The requests of the worker that were made of somebody who remembers, or of somebody who does not.
fn of(requests: &[Exchange], further: bool) -> Vec<&Exchange> {
    let is_work = |it: &&Exchange| {
        let text = it.request.text();
        it.request.role().as_deref() == Some("worker") && text.contains(FURTHER) == further
    };
    requests.iter().filter(is_work).collect()
}

fn tokens(requests: &[&Exchange]) -> u64 {
    let whole = requests.iter().filter_map(|it| it.answered.as_ref());
    let whole = whole.filter(|it| it.ending == Ending::Whole).filter_map(|it| it.usage);
    whole.map(|usage| usage.input() + usage.output).sum()
}

fn answers(rig: &Rig) -> Vec<Value> {
    let entries = rig.scratch.entries().into_iter();
    entries.filter(|entry| entry["note"] == "answered" && entry["role"] == "worker").collect()
}

#[track_caller]
fn remembers(who: Who) {
    let rig = rig(who, mends);
    lands(&rig, &[]);
    let requests = rig.server.requests();
    let (first, second) = (of(&requests, false), of(&requests, true));
    let begins =
        &second.first().unwrap_or_else(|| panic!("{who:?} was told nothing further")).request;
    assert!(begins.answers() > 0 && begins.text().contains("I write it badly."), "{who:?}");
    // Each invocation has its own account, whatever the agent itself counts.
    let entries = rig.scratch.entries();
    let settled: Vec<u64> = answers(&rig)
        .iter()
        .map(|answer| {
            let own = |it: &&Value| it["event"] == "reported" && it["effect"] == answer["effect"];
            entries.iter().find(own).expect("a report")["settled"]["tokens"].as_u64().unwrap()
        })
        .collect();
    assert_eq!(settled, [tokens(&first), tokens(&second)], "{who:?}");
    // Once it has landed, nobody has anything further to say.
    assert!(rig.record("I write it badly").is_none(), "{who:?}");
}

#[test]
fn claude_mends_what_it_remembers_making() {
    remembers(Who::Claude);
}

#[test]
fn codex_mends_what_it_remembers_making() {
    remembers(Who::Codex);
}

#[test]
fn gemini_mends_what_it_remembers_making() {
    remembers(Who::Gemini);
}

#[test]
fn the_built_in_agent_mends_what_it_remembers_making() {
    for format in [Format::Anthropic, Format::Openai, Format::OpenaiChat, Format::Gemini] {
        remembers(Who::Api(format));
    }
}

#[test]
fn who_cannot_remember_is_told_everything() {
    let rig = rig(Who::Opencode, mends);
    lands(&rig, &[]);
    assert_eq!(of(&rig.server.requests(), true).len(), 0);
}

#[test]
fn a_memory_that_has_become_too_much_is_let_go() {
    for who in Who::BOTH {
        let rig = rig(who, |request| match request.text().contains(FURTHER) {
            true => Reply::complaint(Complaint::Overflow),
            false => mends(request),
        });
        lands(&rig, &[]);
        let last = answers(&rig).pop().unwrap();
        assert!(last["remarks"].to_string().contains("began anew"), "{who:?}: {last:#}");
    }
}

#[test]
fn who_was_cut_off_while_mending_goes_on_and_knows_what_to_mend() {
    for who in Who::BOTH {
        let has_hung = AtomicBool::new(false);
        let rig = rig(who, move |request| {
            let mending = request.text().contains(FURTHER) && has_spoken(request);
            if mending && !has_hung.swap(true, SeqCst) {
                return Reply::hang(3, Turn::new().text("I was about to say something at length"));
            }
            mends(request)
        });
        let mut followed = rig.scratch.follow(&mut rig.start());
        let hangs = rig.server.wait_until(LONG, |all| {
            all.iter().any(|it| it.request.text().contains(FURTHER) && has_spoken(&it.request))
        });
        assert!(hangs, "{who:?} did not come to mending");
        followed.child.kill().unwrap();
        followed.code();
        lands(&rig, &["resume"]);
        assert_eq!(rig.scratch.processes(), Vec::<String>::new());
        assert_eq!(rig.scratch.landed()["hello.txt"], "hello");
    }
}
