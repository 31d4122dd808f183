//! A tracker that wants to be left alone for long, and says how long: that is said and let pass, and nobody is held up who does not
//! want to wait (fault 29).

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use windlass_trackerkit::github::{GitHub, NewIssue, limited};

use super::rig::Rig;
use super::trackers::{at, runs};

const KEY: &str = "test-key";

/// A repository with one issue.
fn scene() -> (GitHub, Rig, u64) {
    let tracker = GitHub::start().unwrap();
    let number = tracker.issue(&NewIssue::default());
    let rig = Rig::of(&[&format!("#{number}")], "");
    at(&rig, "github", "acme/harness", &tracker.url());
    (tracker, rig, number)
}

/// The next request of this kind is one too many, for so many minutes.
fn limits(tracker: &GitHub, kind: &str, minutes: u64) {
    let now_s = tracker.now_s();
    tracker.faults().add(kind, limited(403, now_s, now_s + minutes * 60));
}

/// Starts it, and waits until it says that it waits.
#[track_caller]
fn waits(rig: &Rig, args: &[&str]) -> Child {
    let mut command = rig.scratch.windlass(args);
    let mut child = command.env("GITHUB_TOKEN", KEY).stdout(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(child.stderr.as_mut().unwrap()).lines().map(Result::unwrap);
    let (mut seen, mut is_there) = (String::new(), false);
    for line in lines {
        is_there =
            line.contains("GitHub is limited until ") && line.contains(" UTC: API rate limit");
        seen.push_str(&format!("{line}\n"));
        if is_there {
            break;
        }
    }
    if !is_there {
        child.wait().unwrap();
    }
    assert!(is_there, "it never says so: {seen}");
    child
}

/// Ctrl-C, which nobody is to wait for.
fn interrupt(mut child: Child) -> Option<i32> {
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), Signal::SIGINT).unwrap();
    // It would be forty minutes.
    child.wait().unwrap().code()
}

#[test]
fn whoever_only_looks_is_told_how_long_it_is_and_can_go() {
    let (tracker, rig, _) = scene();
    limits(&tracker, "issues.list", 40);
    let code = interrupt(waits(&rig, &["issues", "--dry-run"]));
    assert_ne!(code, Some(0));
    // Nobody waits for a day, and there is no run that could be gone on with.
    limits(&tracker, "issues.list", 24 * 60);
    let seen = runs(&rig, &["issues", "--dry-run"], 1);
    assert!(
        seen.contains("GitHub is limited until ") && seen.contains("nothing was begun"),
        "{seen}"
    );
    assert!(!seen.contains("resume"), "{seen}");
    assert!(tracker.faults().is_empty());
}

#[test]
fn a_run_waits_for_what_it_is_to_say_can_be_stopped_and_says_it_once() {
    let (tracker, rig, number) = scene();
    limits(&tracker, "comments.create", 40);
    assert_eq!(interrupt(waits(&rig, &["issues"])), Some(130));
    assert!(tracker.said(number).is_empty());
    // The same for what it reads; it stands where it stood.
    limits(&tracker, "timeline.list", 40);
    assert_eq!(interrupt(waits(&rig, &["resume"])), Some(130));
    let seen = runs(&rig, &["resume"], 0);
    assert_eq!(tracker.state(number), "completed", "{seen}");
    assert_eq!(tracker.said(number).len(), 2);
    assert!(tracker.faults().is_empty());
}
