//! A tracker that does not answer: where nothing was begun that is an error soon, and a loop under way says whom it waits for and
//! how long (fault 29).

use std::net::TcpListener;

use windlass_trackerkit::fault::Fault;
use windlass_trackerkit::github::{GitHub, NewIssue};

use super::rig::Rig;
use super::trackers::{at, runs};

/// A place at which nobody listens.
fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

#[test]
fn where_nothing_was_begun_it_is_an_error_that_names_the_place_and_the_next_step() {
    let rig = Rig::of(&["#1"], "");
    let place = nobody();
    // What opens a place is no part of its name.
    at(&rig, "github", "acme/harness", &format!("http://{place}/api/v3"));
    for args in [&["issues"][..], &["issues", "--dry-run"]] {
        let seen = runs(&rig, args, 1);
        assert!(seen.contains(&format!("GitHub at http://{place} has no answer: ")), "{seen}");
        assert!(
            seen.contains(&format!("see whether http://{place} is right"))
                && seen.contains("nothing was begun"),
            "{seen}"
        );
        assert!(!seen.contains("issues-1"), "{seen}");
    }
}

#[test]
fn a_loop_under_way_says_whom_it_waits_for_and_goes_on() {
    let tracker = GitHub::start().unwrap();
    let number = tracker.issue(&NewIssue::default());
    let rig = Rig::of(&[&format!("#{number}")], "");
    at(&rig, "github", "acme/harness", &tracker.url());
    // Once is let pass without a word.
    tracker.faults().add("comments.create", Fault::status(503));
    tracker.faults().add("comments.create", Fault::CutBefore);
    tracker.faults().add("timeline.list", Fault::status(502));
    tracker.faults().add("timeline.list", Fault::status(502));
    let seen = runs(&rig, &["issues"], 0);
    let said = format!("GitHub at {} has no answer: ", tracker.url());
    let said: Vec<&str> = seen.lines().filter(|line| line.contains(&said)).collect();
    assert_eq!(said.len(), 2, "{seen}");
    for line in said {
        assert!(line.contains("; asked again in 2 s, until ") && line.contains(" UTC"), "{line}");
    }
    assert_eq!(tracker.state(number), "completed", "{seen}");
    assert_eq!(tracker.said(number).len(), 2, "{seen}");
    assert!(tracker.faults().is_empty());
}
