//! What is asked and shown around a loop: one issue by its name, lists, the status, questions at a terminal.

use windlass_trackerkit::github;

use super::rig::{Rig, STATE};
use crate::answers::Sitting;

#[test]
fn an_issue_that_is_named_is_taken_whatever_its_label_says_and_no_other() {
    let mut rig = Rig::of(&["A-1", "A-2"], "");
    rig.write("issues/A-2.md", "# Do A-2\n\nNobody has said that it is ready.\n");
    let seen = rig.ends(&["--issue", "A-2"], 0);
    assert!(seen.contains("[ISSUE_COMPLETE: A-2]") && seen.contains("[HARNESS_STOP]"), "{seen}");
    assert!(rig.issue("A-2").contains("Harness completed issue"));
    assert!(!rig.issue("A-1").contains("Harness"));
    // Whatever became of it before.
    rig.write("issues/A-2.md", "# Do A-2\n\nOnce more.\n");
    let seen = rig.ends(&["--issue", "A-2", "--dry-run"], 0);
    assert!(seen.contains("next     A-2") && !seen.contains("A-1"), "{seen}");
    let seen = rig.ends(&["--issue", "A-9", "--dry-run"], 0);
    assert!(seen.contains("left out A-9") && seen.contains("has no such issue"), "{seen}");
}

#[test]
fn an_issue_that_is_named_and_cannot_be_taken_is_an_error_that_says_why() {
    let mut rig = Rig::of(&["A-1", "A-2", "A-3"], "");
    rig.put("A-2", "blocked_by: [A-1]\n");
    rig.put("A-3", "state: done\n");
    let seen = rig.ends(&["--issue", "nope"], 2);
    assert!(seen.contains("has no issue `nope`") && seen.contains("A-1, A-2"), "{seen}");
    let seen = rig.ends(&["--issue", "A-2"], 1);
    assert!(seen.contains("A-2 cannot be taken: it is blocked by A-1"), "{seen}");
    let seen = rig.ends(&["--issue", "A-3"], 1);
    assert!(seen.contains("A-3 cannot be taken: it is done"), "{seen}");
    assert!(rig.file(STATE).is_none(), "nothing was begun");
}

#[test]
fn what_waits_in_a_circle_or_for_nobody_is_said_and_the_summary_agrees() {
    let mut rig = Rig::of(&["A-1", "A-2", "A-3", "A-4"], "");
    rig.put("A-1", "blocked_by: [A-2]\n");
    rig.put("A-2", "blocked_by: [A-1]\n");
    rig.put("A-3", "blocked_by: [typo]\n");
    for (words, code) in [(&["--dry-run"][..], 0), (&[][..], 0)] {
        let seen = rig.ends(words, code);
        assert!(seen.contains("they wait for each other (A-1 → A-2 → A-1)"), "{seen}");
        assert!(seen.contains("there is no issue `typo`"), "{seen}");
    }
    assert!(rig.told.contains("Completed: A-4\n"), "{}", rig.told);
    assert!(rig.told.contains("Left out: A-1, A-2, A-3\n"), "{}", rig.told);
}

#[test]
fn a_list_has_the_order_in_which_issues_are_taken_and_a_dry_run_explains_those_without_the_label() {
    let mut rig = Rig::of(&["A-1", "A-2", "A-3"], "");
    rig.put("A-2", "priority: 1\n");
    rig.write("issues/A-3.md", "---\nlabels: [later]\n---\n# Do A-3\n");
    rig.write("issues/A-1.md", &rig.issue("A-1").replace("[ready]", "[READY]"));
    let seen = rig.ends(&["list"], 0);
    insta::assert_snapshot!(seen, @r"
    $ windlass issues list
    next     A-2  priority 1  Do A-2
    then     A-1  priority -  Do A-1
    ");
    let seen = rig.ends(&["--dry-run"], 0);
    insta::assert_snapshot!(seen, @r"
    $ windlass issues --dry-run
    next     A-2  priority 1  Do A-2
    then     A-1  priority -  Do A-1
    left out A-3  Do A-3
             it has no label `ready`
    ");
    assert!(rig.file(STATE).is_none());
}

#[test]
fn the_status_is_there_for_programs_as_well() {
    let mut rig = Rig::of(&["A-1"], "");
    rig.ends(&["--once"], 0);
    let output = rig.scratch.windlass(&["issues", "status", "--json"]).output().unwrap();
    let status: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        status,
        serde_json::json!({
            "active": false,
            "iteration": 2,
            "max_iterations": 20,
            "completed_issues": ["A-1"],
            "failed_issues": [],
            "skipped_issues": [],
            "current_issue": null,
            "consecutive_failures": 0,
            "friction_log": [],
            "ended": "once",
        })
    );
}

#[test]
fn that_commits_are_local_is_said_in_the_issue() {
    let mut rig = Rig::of(&["A-1"], "");
    rig.ends(&["--once"], 0);
    let said = "They are on the local branch `main`: nobody has pushed them.";
    assert_eq!(rig.said("A-1", said), 1, "{}", rig.issue("A-1"));
}

/// A repository without a word of which project is meant.
fn without_project() -> (github::GitHub, Rig, String) {
    let tracker = github::GitHub::start().unwrap();
    tracker.repository("acme/other");
    let id = format!("#{}", tracker.issue(&github::NewIssue::default()));
    let rig = Rig::of(&[&id], "");
    let config = rig.file("windlass.toml").unwrap();
    let issues = format!("[issues]\ntracker = 'github'\nbase-url = '{}'\n", tracker.url());
    rig.write("windlass.toml", &format!("{config}{issues}"));
    rig.scratch.git(&["commit", "-qam", "Issues are elsewhere"]);
    (tracker, rig, id)
}

#[test]
fn without_a_project_those_that_can_be_seen_are_named() {
    let (tracker, rig, _) = without_project();
    let mut command = rig.scratch.windlass(&["issues"]);
    let output = command.env("GITHUB_TOKEN", "test-key").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("no project is named: which issues are meant?"), "{said}");
    assert!(said.contains("GitHub shows acme/harness, acme/other"), "{said}");
    assert!(tracker.writes().is_empty() && rig.file(STATE).is_none());
}

#[test]
fn at_a_terminal_the_seeds_three_questions_are_asked() {
    let (tracker, rig, _) = without_project();
    let mut sitting =
        Sitting::with(rig.scratch.windlass(&["issues"]).env("GITHUB_TOKEN", "test-key"));
    // What is typed before it is asked for waits there.
    sitting.types("acme/harness\n\n7\n");
    let seen = sitting.rest();
    for question in [
        "Which GitHub repository should the harness pull issues from?",
        "Which label marks issues as ready for autonomous work? [ready]",
        "Maximum iterations before auto-stop? [20]",
    ] {
        assert_eq!(seen.matches(question).count(), 1, "{question}: {seen}");
    }
    assert_eq!(tracker.state(1), "completed", "{seen}");
    assert_eq!(rig.state("max_iterations"), "7");
    assert_eq!(rig.state("linear_filter_labels"), "[\"ready\"]");
    // Once it stands there it is not asked for again.
    tracker.issue(&github::NewIssue::default());
    let mut command = rig.scratch.windlass(&["issues", "--dry-run"]);
    let output = command.env("GITHUB_TOKEN", "test-key").output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("next     #2"));
}
