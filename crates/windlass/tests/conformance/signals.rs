//! Somebody else ends an agent in the middle of an answer.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use nix::sys::signal::Signal;
use windlass_testkit::{Reply, Request, Turn};

use crate::alive::Alive;
use crate::ends::works;
use crate::rig::{Rig, Who};
use crate::scratch::Followed;

const LONG: Duration = Duration::from_secs(60);

/// Says half a sentence once, in its second turn, and then nothing more; does its work after that.
pub fn hangs_once() -> impl Fn(&Request) -> Reply + Send + Sync + 'static {
    let has_hung = AtomicBool::new(false);
    move |request| {
        if request.answers() > 0 && !has_hung.swap(true, SeqCst) {
            return Reply::hang(3, Turn::new().text("I was about to say something at length"));
        }
        works(request)
    }
}

/// What becomes of an agent whose process gets a signal; and that nobody is left, and the work is done all the same.
#[track_caller]
fn signalled(who: Who, program: &str, signal: Signal, want: &str) {
    let (rig, followed) = ended(who, program, signal, want);
    assert_eq!(followed.code(), Some(0));
    assert_eq!(rig.scratch.landed()["hello.txt"], "hello");
    assert_eq!(rig.scratch.processes(), Vec::<String>::new());
    assert!(rig.agents().is_empty());
}

/// The same, as far as the agent itself goes.
#[track_caller]
fn only_ended(who: Who, program: &str, signal: Signal, want: &str) {
    let (_rig, mut followed) = ended(who, program, signal, want);
    followed.child.kill().unwrap();
    followed.code();
}

#[track_caller]
fn ended(who: Who, program: &str, signal: Signal, want: &str) -> (Rig, Followed) {
    let rig = Rig::new(who, hangs_once(), "", &[]);
    let mut followed = rig.scratch.follow(&mut rig.start());
    let hangs = rig.server.wait_until(LONG, |exchanges| {
        exchanges.iter().any(|exchange| exchange.request.answers() > 0)
    });
    assert!(hangs, "{who:?} did not come to its second turn");
    let family = rig.agents();
    let one = family.iter().find(|one| one.is_called(program));
    one.unwrap_or_else(|| panic!("no {program} in {family:#?}")).signal(signal);
    let answer = followed.until("an agent answered", |entry| entry["note"] == "answered");
    assert_eq!(answer["came"], want, "{who:?} {program} {signal}: {answer:#}");
    let left: Vec<&Alive> = family.iter().filter(|one| one.lives()).collect();
    assert!(left.is_empty(), "{who:?} {program} {signal}: {left:#?}");
    drop(family);
    (rig, followed)
}

#[test]
fn claude_that_is_ended_by_somebody_else_is_asked_again() {
    signalled(Who::Claude, "claude", Signal::SIGTERM, "killed");
    signalled(Who::Claude, "claude", Signal::SIGKILL, "killed");
}

/// It ends with 0 then, as if all were well.
#[test]
fn claude_that_is_interrupted_is_no_success() {
    signalled(Who::Claude, "claude", Signal::SIGINT, "crashed");
}

/// It is two programs: of either, nothing is left without the other.
#[test]
fn codex_that_is_ended_by_somebody_else_is_asked_again() {
    signalled(Who::Codex, "node", Signal::SIGKILL, "killed");
    signalled(Who::Codex, "codex", Signal::SIGKILL, "killed");
}

#[test]
fn codex_that_is_interrupted_is_no_success() {
    signalled(Who::Codex, "codex", Signal::SIGTERM, "killed");
    signalled(Who::Codex, "codex", Signal::SIGINT, "crashed");
}

/// It ends with 0 when it is asked to, as if all were well.
#[test]
fn gemini_that_is_ended_by_somebody_else_is_asked_again() {
    signalled(Who::Gemini, "node", Signal::SIGKILL, "killed");
    only_ended(Who::Gemini, "node", Signal::SIGTERM, "crashed");
    only_ended(Who::Gemini, "node", Signal::SIGINT, "crashed");
}

mod slow {
    use super::*;

    #[test]
    fn opencode_that_is_ended_by_somebody_else_is_asked_again() {
        signalled(Who::Opencode, "opencode", Signal::SIGKILL, "killed");
        only_ended(Who::Opencode, "opencode", Signal::SIGTERM, "killed");
        only_ended(Who::Opencode, "opencode", Signal::SIGINT, "killed");
    }
}
