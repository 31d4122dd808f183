//! Windlass is killed while a real agent works: nothing of it survives, and it goes on where it was.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use nix::unistd::Pid;
use serde_json::json;
use windlass_agents::api::Format;
use windlass_testkit::{Call, Fault, Reply, Request, Turn};

use crate::rig::{Rig, Who};

/// A worker that adds a line to a file and then waits for its model for ever, until it is told to go on.
fn hangs(request: &Request) -> Reply {
    if request.role().as_deref() != Some("worker") {
        return Reply::structured(json!({ "verdict": "clear", "summary": "Fine." }));
    }
    match request.answers() {
        0 => Turn::new().text("I write it.").call(Call::shell("echo hello >> hello.txt")).into(),
        _ if !request.text().contains("You were cut off") => Fault::HangBefore.into(),
        _ => Reply::structured(json!({ "verdict": "done", "summary": "It says hello." })),
    }
}

#[test]
fn an_agent_that_was_cut_off_goes_on_with_its_session() {
    for who in Who::QUICK {
        goes_on(who, Signal::SIGKILL);
    }
}

/// Whoever is asked to stop leaves no less behind than who is killed.
#[test]
fn an_agent_that_was_interrupted_goes_on_with_its_session() {
    goes_on(Who::Claude, Signal::SIGINT);
    goes_on(Who::Codex, Signal::SIGTERM);
    goes_on(Who::Api(Format::Anthropic), Signal::SIGINT);
}

/// Windlass is killed in the middle of an agent's work: nobody survives, and nothing is paid or edited twice.
#[track_caller]
pub fn goes_on(who: Who, signal: Signal) {
    let rig = Rig::new(who, hangs, "", &[]);
    let run = rig.scratch.follow(&mut rig.start());
    // The first turn is over, its edit is made, and the second is under way.
    let under_way = rig.server.wait_until(Duration::from_secs(60), |all| {
        all.iter().any(|exchange| exchange.request.answers() == 1)
    });
    assert!(under_way, "{who:?}");
    rig.until_written_down();
    let pid = Pid::from_raw(i32::try_from(run.child.id()).unwrap());
    nix::sys::signal::kill(pid, signal).unwrap();
    run.code();
    let gone = rig.server.wait_until(Duration::from_secs(60), |all| {
        all.iter().all(|exchange| exchange.answered.is_some())
    });
    assert!(gone, "{who:?}: its connection is still open");
    // Who was ended is gone when the system has come to it.
    let deadline = Instant::now() + Duration::from_secs(60);
    while !rig.scratch.processes().is_empty() {
        assert!(Instant::now() < deadline, "{who:?}: {:?}", rig.scratch.processes());
        std::thread::park_timeout(Duration::from_millis(5));
    }
    let output = rig.windlass(&["resume"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{who:?}: {said}");
    // Edited once, asked for the first turn once, and all that was used up is counted.
    assert_eq!(rig.scratch.landed()["hello.txt"], "hello", "{who:?}");
    let firsts = rig
        .server
        .requests()
        .iter()
        .filter(|exchange| {
            exchange.request.role().as_deref() == Some("worker") && exchange.request.answers() == 0
        })
        .count();
    assert_eq!(firsts, 1, "{who:?}: what was paid for is not asked again");
    let answered = rig.scratch.notes("answered");
    assert_eq!(answered.iter().filter(|note| note["role"] == "worker").count(), 1);
    assert_eq!(rig.scratch.notes("lost").len(), 0, "{who:?}");
    let status = rig.scratch.status();
    let spent = status["runs"][0]["cost_usd"].as_f64().unwrap();
    assert!(spent > 0.001 && spent < 1.0, "{who:?}: {spent}");
}

#[test]
fn claude_does_not_go_on_with_a_session_that_forgot_what_it_did() {
    let rig = Rig::new(Who::Claude, hangs, "", &[]);
    let mut run = rig.scratch.follow(&mut rig.start());
    let under_way = rig.server.wait_until(Duration::from_secs(60), |all| {
        all.iter().any(|exchange| exchange.request.answers() == 1)
    });
    assert!(under_way);
    rig.until_written_down();
    run.child.kill().unwrap();
    run.code();
    // It writes its session down late, and was cut off before it did: the command was run, and nothing says so.
    let (file, text) = rig.record("\"tool_use_id\"").unwrap();
    let forgotten = text.lines().filter(|line| !line.contains("\"tool_use_id\""));
    fs::write(file, forgotten.map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    // So the lane goes back, what was in it is kept, and the stage begins anew.
    let mut again = rig.scratch.follow(&mut rig.windlass(&["resume"]));
    let lost = again.until("it is given up", |entry| entry["note"] == "lost");
    assert!(lost["kept"].is_string(), "{lost}");
    let anew = rig.server.wait_until(Duration::from_secs(60), |all| {
        all.iter().filter(|exchange| exchange.request.answers() == 1).count() == 2
    });
    assert!(anew);
    rig.until_written_down();
    again.child.kill().unwrap();
    again.code();
    let output = rig.windlass(&["resume"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(rig.scratch.landed()["hello.txt"], "hello", "it was written twice");
}

mod slow {
    use super::*;

    /// Nobody can tell how far a session of opencode's has come, so it does not go on with it.
    #[test]
    fn opencode_begins_anew_and_nothing_is_done_twice() {
        let times = AtomicUsize::new(0);
        let brain = move |request: &Request| match request.answers() {
            1 if times.fetch_add(1, SeqCst) > 0 => {
                Reply::structured(json!({ "verdict": "done", "summary": "It says hello." }))
            }
            _ => hangs(request),
        };
        let rig = Rig::new(Who::Opencode, brain, "", &[]);
        let mut run = rig.scratch.follow(&mut rig.start());
        let under_way = rig.server.wait_until(Duration::from_secs(60), |all| {
            all.iter().any(|exchange| exchange.request.answers() == 1)
        });
        assert!(under_way);
        run.child.kill().unwrap();
        run.code();
        let gone = rig.server.wait_until(Duration::from_secs(60), |all| {
            all.iter().all(|exchange| exchange.answered.is_some())
        });
        assert!(gone, "its connection is still open");
        assert_eq!(rig.scratch.processes(), Vec::<String>::new());
        let output = rig.windlass(&["resume"]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(rig.scratch.landed()["hello.txt"], "hello", "it was written twice");
        assert_eq!(rig.scratch.notes("lost").len(), 1);
    }
}
