//! Killed at every write: the tracker has carried it out, and nobody here has heard of that yet. Whoever goes on says nothing twice
//! (I8).

use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use windlass_trackerkit::fault::Fault;
use windlass_trackerkit::{github, linear};

use super::rig::{Rig, plans, simply, who};
use super::trackers::at;

const KEY: &str = "test-key";

/// Somebody who kills whoever is at it.
#[derive(Clone, Default)]
struct Killer(Arc<Mutex<Option<Pid>>>);

impl Killer {
    /// Kills whoever is at it now, once.
    fn strikes(&self) {
        if let Some(pid) = self.0.lock().unwrap().take() {
            kill(pid, Signal::SIGKILL).unwrap();
        }
    }

    /// Runs it. How it ended, if it was not killed, and what it said.
    fn lets(&self, command: &mut Command) -> (Option<i32>, String) {
        let mut at_it = self.0.lock().unwrap();
        let command = command.env("LINEAR_API_KEY", KEY).env("GITHUB_TOKEN", KEY);
        let child = command.stdout(Stdio::null()).spawn().unwrap();
        *at_it = Some(Pid::from_raw(i32::try_from(child.id()).unwrap()));
        drop(at_it);
        let output = child.wait_with_output().unwrap();
        self.0.lock().unwrap().take();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// A loop that is killed at every write, and resumed until it has come to its end. How often it was killed.
    fn has_its_way_with(&self, rig: &Rig) -> usize {
        let mut killed = 0;
        let (mut code, mut seen) = self.lets(&mut rig.scratch.windlass(&["issues"]));
        while code.is_none() {
            killed += 1;
            assert!(killed < 100, "it never ends: {seen}");
            (code, seen) = self.lets(&mut rig.scratch.windlass(&["resume"]));
        }
        // One issue failed, and that is what it says at its end.
        assert_eq!(code, Some(4), "{seen}");
        killed
    }
}

/// Three issues: one with two groups, one that fails, one more.
fn story(ids: [&str; 3]) -> Rig {
    let script = plans(ids[0], &["g1", "g2"])
        + &simply(&who("issue-worker", ids[1], "", 0), "failed", "no idea");
    Rig::of(&ids, &script)
}

/// What was said of the three, and nothing else.
#[track_caller]
fn is_said_once(nth: usize, said: &[String]) {
    let ends = if nth == 2 { "Harness failed on this issue" } else { "Harness completed issue" };
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].starts_with(&format!("Harness iteration {nth} starting.")), "{said:?}");
    assert!(said[1].starts_with(&format!("{ends} in iteration {nth}.")), "{said:?}");
}

/// The three groups that passed, each once.
#[track_caller]
fn has_landed_once(rig: &Rig) {
    assert_eq!(rig.subjects()[1..], ["feat: g1", "feat: g2", "feat: g1"]);
}

#[test]
fn killed_at_every_write_linear_hears_everything_once() {
    let tracker = linear::Linear::start().unwrap();
    let issue = || tracker.issue(&linear::NewIssue::default());
    let ids = [issue(), issue(), issue()];
    let rig = story([&ids[0], &ids[1], &ids[2]]);
    at(&rig, "linear", "Harness", &tracker.url());
    let killer = Killer::default();
    let own = killer.clone();
    tracker.on_write(move |_| own.strikes());
    let killed = killer.has_its_way_with(&rig);
    // Six comments, and five moves.
    assert_eq!((killed, tracker.writes().len()), (11, 11), "{:?}", tracker.writes());
    for (nth, id) in (1..).zip(&ids) {
        let said: Vec<String> = tracker.said(id).into_iter().map(|it| it.body).collect();
        is_said_once(nth, &said);
        assert_eq!(tracker.state(id), if nth == 2 { "In Progress" } else { "Done" });
    }
    has_landed_once(&rig);
}

#[test]
fn killed_at_every_write_github_hears_everything_once() {
    let tracker = github::GitHub::start().unwrap();
    let issue = || tracker.issue(&github::NewIssue::default());
    let numbers = [issue(), issue(), issue()];
    let ids = numbers.map(|number| format!("#{number}"));
    let rig = story([&ids[0], &ids[1], &ids[2]]);
    at(&rig, "github", "acme/harness", &tracker.url());
    let killer = Killer::default();
    let own = killer.clone();
    tracker.on_write(move |_| own.strikes());
    let killed = killer.has_its_way_with(&rig);
    // Six comments, the label, three times put on and twice taken off, two issues closed.
    assert_eq!((killed, tracker.writes().len()), (14, 14), "{:?}", tracker.writes());
    for (nth, number) in (1..).zip(numbers) {
        let said: Vec<String> = tracker.said(number).into_iter().map(|it| it.body).collect();
        is_said_once(nth, &said);
        let (state, labels) = match nth {
            2 => ("open", vec!["ready", "in progress"]),
            _ => ("completed", vec!["ready"]),
        };
        assert_eq!(
            (tracker.state(number).as_str(), tracker.labels(number)),
            (state, labels.into_iter().map(str::to_owned).collect())
        );
    }
    has_landed_once(&rig);
}

/// It is carried out, and whoever asked never hears of it.
#[test]
fn a_write_that_nobody_ever_answers_is_there_once() {
    let tracker = linear::Linear::start().unwrap();
    let id = tracker.issue(&linear::NewIssue::default());
    let rig = Rig::of(&[&id], "");
    at(&rig, "linear", "Harness", &tracker.url());
    let config = rig.file("windlass.toml").unwrap();
    rig.write("windlass.toml", &format!("{config}answer-within = 1\n"));
    rig.scratch.git(&["commit", "-qam", "Nobody waits for long"]);
    tracker.faults().add("commentCreate", Fault::SilenceAfter);
    tracker.faults().add("issueUpdate", Fault::SilenceAfter);
    let (code, seen) = Killer::default().lets(&mut rig.scratch.windlass(&["issues"]));
    assert_eq!(code, Some(0), "{seen}");
    assert!(tracker.faults().is_empty());
    let said: Vec<String> = tracker.said(&id).into_iter().map(|it| it.body).collect();
    is_said_once(1, &said);
    assert_eq!((tracker.state(&id).as_str(), tracker.writes().len()), ("Done", 4));
}
