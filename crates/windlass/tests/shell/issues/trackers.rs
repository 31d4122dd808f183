//! The same loop at Linear and at GitHub, both pretended: what is written there, once each, whatever becomes of the answers (I3, I8).

use windlass_trackerkit::fault::Fault;
use windlass_trackerkit::{github, linear};

use super::rig::Rig;

const KEY: &str = "test-key";

/// Has the loop look for its issues at a server.
pub fn at(rig: &Rig, tracker: &str, project: &str, url: &str) {
    let config = rig.file("windlass.toml").unwrap();
    let issues =
        format!("[issues]\ntracker = '{tracker}'\nproject = '{project}'\nbase-url = '{url}'\n");
    rig.write("windlass.toml", &format!("{config}{issues}"));
    rig.scratch.git(&["commit", "-qam", "Issues are elsewhere"]);
}

/// Runs the loop, with a key. What was seen.
#[track_caller]
pub fn runs(rig: &Rig, args: &[&str], code: i32) -> String {
    let mut command = rig.scratch.windlass(args);
    let output = command.env("LINEAR_API_KEY", KEY).env("GITHUB_TOKEN", KEY).output().unwrap();
    let seen = [output.stdout, output.stderr].concat();
    let seen = String::from_utf8_lossy(&seen).into_owned();
    assert_eq!(output.status.code(), Some(code), "{seen}");
    assert!(!seen.contains(KEY), "{seen}");
    seen
}

/// Nowhere on record.
fn is_kept_nowhere(rig: &Rig) {
    assert!(!rig.log().contains(KEY) && !rig.file(super::rig::STATE).unwrap().contains(KEY));
}

const STARTING: &str = "Harness iteration 1 starting.";
const COMPLETED: &str = "Harness completed issue in iteration";

#[test]
fn issues_of_linear_are_worked_off_and_each_comment_is_there_once() {
    let tracker = linear::Linear::start().unwrap();
    let issue = |title, priority, labels| {
        tracker.issue(&linear::NewIssue { title, priority, labels, ..Default::default() })
    };
    let first = issue("Say hello", 3, &["ready"][..]);
    let urgent = issue("Say bye", 1, &["ready"]);
    let blocked = issue("Say more", 1, &["ready"]);
    let adas = issue("Say nothing", 1, &["ready"]);
    let other = issue("Not yet", 1, &[]);
    tracker.relate(&first, "blocks", &blocked);
    tracker.assign(&adas, Some("Ada"));
    let rig = Rig::of(&[&first, &urgent, &blocked], "");
    at(&rig, "linear", "Harness", &tracker.url());
    // One is asked again, and of one nobody knows whether it was written: it was.
    tracker.faults().add("", Fault::status(502));
    tracker.faults().add("commentCreate", Fault::CutAfter);
    tracker.faults().add("issueUpdate", Fault::CutAfter);
    let seen = runs(&rig, &["issues"], 0);
    assert!(seen.contains("[HARNESS_DONE]"), "{seen}");
    assert!(tracker.faults().is_empty());
    for id in [&first, &urgent, &blocked] {
        let said = tracker.said(id);
        let claims = said.iter().filter(|it| it.body.contains(" starting. Autonomous")).count();
        let ends = said.iter().filter(|it| it.body.contains(COMPLETED)).count();
        assert_eq!((claims, ends, said.len()), (1, 1, 2), "{id}: {said:?}");
        assert_eq!(tracker.state(id), "Done");
    }
    // The most urgent first, and what was blocked as soon as it is not.
    assert!(tracker.said(&urgent)[0].body.starts_with(STARTING));
    for id in [&adas, &other] {
        assert!(tracker.said(id).is_empty() && tracker.state(id) != "Done", "{id}");
    }
    assert_eq!(rig.subjects().len(), 4, "{:?}", rig.subjects());
    is_kept_nowhere(&rig);
}

#[test]
fn issues_of_github_are_worked_off_and_each_comment_is_there_once() {
    let tracker = github::GitHub::start().unwrap();
    let issue =
        |title, labels| tracker.issue(&github::NewIssue { title, labels, ..Default::default() });
    let first = issue("Say hello", &["ready"][..]);
    let urgent = issue("Say bye", &["ready", "P1"]);
    let blocked = issue("Say more", &["ready", "P1"]);
    let adas = issue("Say nothing", &["ready"]);
    tracker.block(blocked, first);
    tracker.assign(adas, "ada");
    let ids = [first, urgent, blocked].map(|number| format!("#{number}"));
    let rig = Rig::of(&[&ids[0], &ids[1], &ids[2]], "");
    at(&rig, "github", "acme/harness", &tracker.url());
    tracker.faults().add("", Fault::status(502));
    let seen = runs(&rig, &["issues"], 0);
    assert!(seen.contains("[HARNESS_DONE]"), "{seen}");
    for number in [first, urgent, blocked] {
        let said = tracker.said(number);
        let ends = said.iter().filter(|it| it.body.contains(COMPLETED)).count();
        assert_eq!((ends, said.len()), (1, 2), "{number}: {said:?}");
        assert_eq!(tracker.state(number), "completed");
    }
    assert!(tracker.said(urgent)[0].body.starts_with(STARTING));
    assert!(tracker.said(adas).is_empty());
    is_kept_nowhere(&rig);
}

/// Somebody cancels an issue at the very moment at which it is said that it is completed.
#[test]
fn an_issue_that_is_cancelled_once_its_work_has_landed_is_not_moved() {
    let tracker = linear::Linear::start().unwrap();
    let id = tracker.issue(&linear::NewIssue::default());
    let rig = Rig::of(&[&id], "");
    at(&rig, "linear", "Harness", &tracker.url());
    let tracker = std::sync::Arc::new(tracker);
    let place = std::sync::Arc::downgrade(&tracker);
    tracker.on_write(move |write| {
        if let Some(place) = place.upgrade().filter(|_| write.text.starts_with(COMPLETED)) {
            place.move_to(&write.issue, "Canceled");
        }
    });
    let seen = runs(&rig, &["issues"], 0);
    assert_eq!(tracker.state(&id), "Canceled", "{seen}");
    assert!(seen.contains("left as it is: it is Canceled by now"), "{seen}");
    assert_eq!(rig.subjects()[1..], ["feat: g1"], "it had landed before");
}

/// Anybody may comment on an issue that everybody can see.
#[test]
fn markers_of_whoever_may_write_nothing_there_take_and_end_nothing() {
    let tracker = github::GitHub::start().unwrap();
    let number = tracker.issue(&github::NewIssue::default());
    tracker.stranger("mallory");
    tracker.comment(number, "mallory", "Mine.\n\n<!-- windlass claim 0badc0de -->");
    let rig = Rig::of(&[&format!("#{number}")], "");
    at(&rig, "github", "acme/harness", &tracker.url());
    let tracker = std::sync::Arc::new(tracker);
    let place = std::sync::Arc::downgrade(&tracker);
    tracker.on_write(move |write| {
        let key = write.text.split("windlass claim ").nth(1).and_then(|it| it.split(' ').next());
        if let (Some(place), Some(key)) = (place.upgrade(), key) {
            let text = format!("Released.\n\n<!-- windlass release {key} -->");
            place.comment(number, "mallory", &text);
        }
    });
    let seen = runs(&rig, &["issues"], 0);
    assert_eq!(tracker.state(number), "completed", "{seen}");
    let said = tracker.said(number);
    assert_eq!(said.iter().filter(|it| it.by == "mallory").count(), 2, "{said:?}");
    assert_eq!(said.iter().filter(|it| it.by == "windlass").count(), 2, "{said:?}");
}

/// It stood still between the look at its claim and saying that it is in progress.
#[test]
fn an_issue_of_linear_that_is_cancelled_while_a_loop_stands_still_stays_so() {
    let tracker = linear::Linear::start().unwrap();
    let id = tracker.issue(&linear::NewIssue::default());
    let rig = Rig::of(&[&id], "");
    at(&rig, "linear", "Harness", &tracker.url());
    let mut command = rig.scratch.windlass(&["issues"]);
    rig.killed_once_claimed(command.env("LINEAR_API_KEY", KEY));
    tracker.move_to(&id, "Canceled");
    let seen = runs(&rig, &["resume"], 0);
    assert_eq!(tracker.state(&id), "Canceled", "{seen}");
    let said = tracker.said(&id);
    assert!(said.len() == 2 && said[1].body.starts_with("Harness left this issue"), "{said:?}");
    assert_eq!(rig.subjects().len(), 1, "nothing has landed: {seen}");
}

#[test]
fn an_issue_of_github_that_is_closed_while_a_loop_stands_still_stays_so() {
    let tracker = github::GitHub::start().unwrap();
    let number = tracker.issue(&github::NewIssue::default());
    let rig = Rig::of(&[&format!("#{number}")], "");
    at(&rig, "github", "acme/harness", &tracker.url());
    let mut command = rig.scratch.windlass(&["issues"]);
    rig.killed_once_claimed(command.env("GITHUB_TOKEN", KEY));
    tracker.close(number, "not_planned");
    let seen = runs(&rig, &["resume"], 0);
    assert_eq!(
        (tracker.state(number).as_str(), tracker.labels(number)),
        ("not_planned", vec!["ready".to_owned()])
    );
    let said = tracker.said(number);
    assert!(said.len() == 2 && said[1].body.starts_with("Harness left this issue"), "{said:?}");
    assert_eq!(rig.subjects().len(), 1, "nothing has landed: {seen}");
}

#[test]
fn an_issue_that_a_person_works_on_in_a_pull_request_is_left_alone_and_explained() {
    let tracker = github::GitHub::start().unwrap();
    let theirs = tracker.issue(&github::NewIssue::default());
    let free = tracker.issue(&github::NewIssue::default());
    let pull = tracker.pull("ada", "fix", "Fix it");
    tracker.edit(pull, &format!("Closes #{theirs}"));
    let name = format!("#{free}");
    let rig = Rig::of(&[&name], "");
    at(&rig, "github", "acme/harness", &tracker.url());
    let seen = runs(&rig, &["issues", "--dry-run"], 0);
    assert!(seen.contains("ada works on it: the pull request #3 is open"), "{seen}");
    assert!(seen.contains(&format!("next     {name}")), "{seen}");
    runs(&rig, &["issues"], 0);
    assert!(tracker.said(theirs).is_empty());
    assert_eq!(
        (tracker.state(theirs).as_str(), tracker.state(free).as_str()),
        ("open", "completed")
    );
}

#[test]
fn a_project_that_is_not_there_starts_nothing_and_those_that_are_there_are_named() {
    let tracker = linear::Linear::start().unwrap();
    let rig = Rig::of(&[], "");
    at(&rig, "linear", "Nowhere", &tracker.url());
    let seen = runs(&rig, &["issues"], 1);
    assert!(seen.contains("Nowhere") && seen.contains("Harness"), "{seen}");
    assert!(tracker.writes().is_empty() && rig.file(super::rig::STATE).is_none());
}

#[test]
fn a_key_that_opens_nothing_any_more_is_no_failure_of_an_issue() {
    let tracker = linear::Linear::start().unwrap();
    tracker.expire(KEY);
    let rig = Rig::of(&[], "");
    at(&rig, "linear", "Harness", &tracker.url());
    let seen = runs(&rig, &["issues"], 1);
    assert!(seen.contains("LINEAR_API_KEY"), "{seen}");
    assert!(tracker.writes().is_empty());
}

mod slow {
    use std::io::{BufRead as _, BufReader};

    use super::*;

    /// Killed after every few of its entries and resumed, at a tracker that is somewhere else.
    #[test]
    fn killed_anywhere_and_resumed_linear_hears_everything_once() {
        let mut after = 5;
        loop {
            let tracker = linear::Linear::start().unwrap();
            let id = tracker.issue(&linear::NewIssue::default());
            let rig = Rig::of(&[&id], "");
            at(&rig, "linear", "Harness", &tracker.url());
            let mut command = rig.scratch.windlass(&["issues", "--once", "--json"]);
            let mut child = command.env("LINEAR_API_KEY", KEY).spawn().unwrap();
            let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
            let read = lines.by_ref().take(after).count();
            child.kill().unwrap();
            child.wait().unwrap();
            let over = read < after;
            if !over {
                // It may have come to its end before it was killed.
                let mut command = rig.scratch.windlass(&["resume"]);
                let output = command.env("LINEAR_API_KEY", KEY).output().unwrap();
                let seen = String::from_utf8_lossy(&output.stderr).into_owned();
                let was_over = seen.contains("no run is open") || seen.contains("is over");
                assert!(output.status.code() == Some(0) || was_over, "{seen}");
            }
            let said = tracker.said(&id);
            assert_eq!(said.len(), 2, "after {after}: {said:?}");
            assert!(said[0].body.starts_with(STARTING) && said[1].body.starts_with(COMPLETED));
            assert_eq!(tracker.state(&id), "Done", "after {after}");
            assert_eq!(rig.subjects().len(), 2, "after {after}");
            if over {
                break;
            }
            after += 23;
        }
        assert!(after > 50, "it was killed a few times");
    }

    /// The same at GitHub, with two issues, one of which has two groups.
    #[test]
    fn killed_anywhere_and_resumed_github_hears_everything_once() {
        let mut after = 5;
        loop {
            let tracker = github::GitHub::start().unwrap();
            let number = || tracker.issue(&github::NewIssue::default());
            let (first, second) = (number(), number());
            let ids = [format!("#{first}"), format!("#{second}")];
            let script = super::super::rig::plans(&ids[0], &["g1", "g2"]);
            let rig = Rig::of(&[&ids[0], &ids[1]], &script);
            at(&rig, "github", "acme/harness", &tracker.url());
            let mut command = rig.scratch.windlass(&["issues", "--json"]);
            let mut child = command.env("GITHUB_TOKEN", KEY).spawn().unwrap();
            let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
            let read = lines.by_ref().take(after).count();
            child.kill().unwrap();
            child.wait().unwrap();
            let over = read < after;
            if !over {
                // It may have come to its end before it was killed.
                let mut command = rig.scratch.windlass(&["resume"]);
                let output = command.env("GITHUB_TOKEN", KEY).output().unwrap();
                let seen = String::from_utf8_lossy(&output.stderr).into_owned();
                let was_over = seen.contains("no run is open") || seen.contains("is over");
                assert!(output.status.code() == Some(0) || was_over, "{seen}");
            }
            for (issue, nth) in [(first, 1), (second, 2)] {
                let said = tracker.said(issue);
                let starts = format!("Harness iteration {nth} starting.");
                let ends = format!("{COMPLETED} {nth}.");
                assert_eq!(said.len(), 2, "after {after}: {said:?}");
                assert!(said[0].body.starts_with(&starts) && said[1].body.starts_with(&ends));
                assert_eq!(tracker.state(issue), "completed", "after {after}");
                assert_eq!(tracker.labels(issue), ["ready"], "after {after}");
            }
            let writes = |what: &str| tracker.writes().iter().filter(|it| it.what == what).count();
            assert_eq!((writes("labels.create"), writes("issue-labels.add")), (1, 2));
            assert_eq!((writes("comments.create"), writes("issues.update")), (4, 2));
            let subjects = rig.subjects();
            assert_eq!(subjects[1..], ["feat: g1", "feat: g2", "feat: g1"], "after {after}");
            if over {
                break;
            }
            after += 29;
        }
        assert!(after > 120, "it was killed a few times");
    }
}
