//! The loop: when it stops, what it remembers, how it is taken up again (I1, I2, I9, I10).

use windlass_trackerkit::linear;

use super::rig::{Rig, STATE, says, simply, who};

/// An issue that fails: its planner is blocked, and a policy gives it up.
const GIVE_UP: &str = "[policies.night]\nstage = 'ask_blocked'\nanswer = 'give_up'\n";

fn fails(issue: &str) -> String {
    simply(&who("issue-worker", issue, "", 0), "failed", "it does not work")
}

#[test]
fn the_queue_is_worked_on_until_it_is_empty() {
    let mut rig = Rig::of(&["A-1", "A-2", "A-3"], "");
    rig.put("A-2", "priority: 1\n");
    let seen = rig.ends(&[], 0);
    assert!(seen.contains("[HARNESS_DONE]"), "{seen}");
    assert_eq!(rig.state("completed_issues"), "[\"A-2\", \"A-1\", \"A-3\"]");
    assert_eq!((rig.state("active"), rig.state("ended")), ("false".into(), "\"done\"".into()));
    // The next one begins anew, without a question, and takes nothing again.
    rig.put("A-4", "");
    rig.write("issues/A-1.md", &rig.issue("A-1").replace("state: done", "state: open"));
    let seen = rig.ends(&["--dry-run"], 0);
    assert!(seen.contains("next     A-4"), "{seen}");
    assert!(seen.contains("this loop completed it before"), "{seen}");
}

#[test]
fn three_failures_in_a_row_stop_the_loop() {
    let issues = ["A-1", "A-2", "A-3", "A-4"];
    let script: String = issues.iter().map(|it| fails(it)).collect();
    let mut rig = Rig::of(&issues, &script);
    let seen = rig.ends(&[], 4);
    assert!(seen.contains("[HARNESS_STOP]"), "{seen}");
    assert_eq!(rig.state("failed_issues"), "[\"A-1\", \"A-2\", \"A-3\"]");
    assert_eq!(
        (rig.state("consecutive_failures"), rig.state("ended")),
        ("3".into(), "\"failures\"".into())
    );
    assert!(!rig.issue("A-4").contains("Harness"), "it was not touched");
    assert!(rig.issue("A-1").contains("state: in progress"), "the status is left for triage");
}

#[test]
fn max_iterations_are_respected_and_a_stopped_loop_asks_what_next() {
    let mut rig = Rig::of(&["A-1", "A-2", "A-3", "A-4"], "");
    rig.ends(&["--max", "1"], 0);
    assert_eq!(rig.state("ended"), "\"max_iterations\"");
    rig.ends(&["--max", "2"], 8);
    assert_eq!(rig.answers("again_gate", &["restart"]), Some(0), "{}", rig.told);
    assert_eq!(rig.state("completed_issues"), "[\"A-1\", \"A-2\", \"A-3\"]");
    assert_eq!(rig.state("ended"), "\"max_iterations\"");
    // What is resumed has only what it left.
    rig.ends(&[], 8);
    assert_eq!(rig.answers("again_gate", &["resume"]), Some(0), "{}", rig.told);
    assert!(!rig.issue("A-4").contains("Harness"), "{}", rig.told);
}

#[test]
fn what_the_seeds_loop_left_is_taken_up() {
    let mut rig = Rig::of(&["A-1", "A-2", "A-3"], &fails("A-2"));
    rig.put("A-2", "state: in progress\n");
    rig.write(
        STATE,
        "---\nactive: true\niteration: 5\nmax_iterations: 6\nconsecutive_failures: 2\ndiscover_interval: 5\ncurrent_issue: A-2\n\
         completed_issues: [A-1]\nfailed_issues: []\nskipped_issues: []\nfriction_log: []\n---\n\nGo on.\n",
    );
    // The issue that it was at is its own, and the third failure in a row stops it.
    rig.put("A-3", "priority: 4\n");
    rig.ends(&[], 4);
    assert!(rig.issue("A-2").contains("Harness iteration 5 starting."), "{}", rig.issue("A-2"));
    assert_eq!(rig.state("completed_issues"), "[\"A-1\"]");
    assert_eq!(rig.state("failed_issues"), "[\"A-2\"]");
    assert!(!rig.issue("A-3").contains("Harness"));
}

#[test]
fn a_state_that_cannot_be_read_is_set_aside_and_a_fresh_start_offered() {
    let mut rig = Rig::of(&["A-1"], "");
    rig.write(STATE, "---\nactive: [\n---\n");
    rig.ends(&[], 8);
    assert_eq!(rig.answers("state_corrupt", &["yes"]), Some(0), "{}", rig.told);
    assert_eq!(rig.file(&format!("{STATE}.aside-1")).unwrap(), "---\nactive: [\n---\n");
    assert_eq!(rig.state("completed_issues"), "[\"A-1\"]");
}

#[test]
fn status_shows_everything_and_changes_nothing() {
    let mut rig = Rig::of(&["A-1"], "");
    assert_eq!(rig.ends(&["status"], 0), "$ windlass issues status\nNo harness state file found\n");
    assert_eq!(rig.ends(&["stop"], 0), "$ windlass issues stop\nNo active harness session\n");
    let points = says(
        &who("issue-worker", "", "", 0),
        "verdict = 'applied', summary = 'x', friction = [{ id = 'f1', title = 'no test of it' }]",
        &[("src/A-1-g1.txt", "fine\n")],
    );
    let mut rig = Rig::of(&["A-1"], &points);
    rig.ends(&[], 0);
    let before = rig.file(STATE);
    let seen = rig.ends(&["status"], 0);
    insta::assert_snapshot!(seen, @r"
    $ windlass issues status
    status                inactive (the queue was empty)
    iteration             2 / 20
    completed issues      1: A-1
    failed issues         0
    skipped issues        0
    consecutive failures  0
    friction              A-1 (1): no test of it
    ");
    assert_eq!(rig.file(STATE), before);
}

#[test]
fn a_pass_over_friction_comes_with_every_nth_issue() {
    let found = says(
        &who("discoverer", "", "", 0),
        "verdict = 'found', summary = 'a pattern', patterns = [{ id = 'p1', title = 'specs are missing' }]",
        &[],
    );
    let issues = ["A-1", "A-2", "A-3", "A-4", "A-5"];
    let mut rig = Rig::of(&issues, &found);
    let seen = rig.ends(&[], 0);
    let due = "Discovery trigger: 5 issues completed since last discovery";
    assert_eq!(seen.matches(due).count(), 1, "{seen}");
    assert!(rig.file(STATE).unwrap().contains("patterns:\n  - \"specs are missing\"\n"));
}

#[test]
fn an_empty_queue_is_done_and_a_project_that_is_not_there_starts_nothing() {
    let mut rig = Rig::of(&[], "");
    rig.write("issues/README.md", "Not an issue.\n");
    let seen = rig.ends(&[], 0);
    assert!(seen.contains("[HARNESS_DONE]"), "{seen}");
    let mut rig = Rig::of(&["A-1"], "");
    let seen = rig.ends(&["--tracker", "folder", "--project", "nowhere"], 1);
    assert!(seen.contains("there is no directory nowhere"), "{seen}");
    assert!(rig.file(STATE).is_none());
    let seen = rig.ends(&["--tracker", "linear"], 2);
    assert!(seen.contains("LINEAR_API_KEY"), "{seen}");
    // What was meant to name one, and names none, is not whichever comes next.
    rig.ends(&["--issue", ""], 2);
    assert!(rig.file(STATE).is_none() && !rig.issue("A-1").contains("Harness"));
}

#[test]
fn a_loop_that_is_told_to_stop_finishes_the_issue_under_way() {
    let slow = simply(&who("issue-planner", "A-1", "", 1), "blocked", "wait")
        + &simply(&who("issue-planner", "A-1", "", 2), "blocked", "wait");
    let mut rig = Rig::of(&["A-1", "A-2"], &slow);
    rig.write("windlass.toml", &format!("{}{GIVE_UP}", rig.file("windlass.toml").unwrap()));
    // It waits for a person: that is when it is told.
    rig.ends(&[], 8);
    let seen = rig.ends(&["stop"], 0);
    assert!(seen.contains("Harness will stop after current issue completes"), "{seen}");
    assert_eq!(rig.state("active"), "false");
    assert_eq!(rig.answers("ask_blocked", &["give_up"]), Some(5), "{}", rig.told);
    assert!(rig.told.contains("`windlass issues` goes on with the queue"), "{}", rig.told);
    assert_eq!(rig.state("failed_issues"), "[\"A-1\"]");
    assert!(!rig.issue("A-2").contains("Harness"), "{}", rig.issue("A-2"));
    // There is no run to be resumed; what is meant is another command.
    for args in [&["resume"][..], &["resume", "issues-1"]] {
        let before = rig.told.len();
        assert_eq!(rig.run(args), Some(2), "{}", rig.told);
        let seen = &rig.told[before..];
        assert!(seen.contains("issues-1 is over"), "{seen}");
        assert!(seen.contains("`windlass issues` goes on with the queue"), "{seen}");
    }
    rig.ends(&[], 8);
    assert_eq!(rig.answers("again_gate", &["resume"]), Some(0), "{}", rig.told);
    assert_eq!(rig.state("completed_issues"), "[\"A-2\"]", "{}", rig.told);
}

/// As the seed's own loop leaves it, where its states, its label and its team are called otherwise.
const OTHERWISE: &str = "---\nactive: false\niteration: 1\nmax_iterations: 20\nconsecutive_failures: 0\ndiscover_interval: 2\n\n\
    linear_project: \"Ship\"\nlinear_team: \"OPS\"\nlinear_filter_labels: [\"go\"]\nlinear_done_status: \"Shipped\"\n\
    linear_in_progress_status: \"Doing\"\n\ncompleted_issues: []\nfailed_issues: []\nskipped_issues: []\nfriction_log: []\nended: done\n---\n";

#[test]
fn what_the_seeds_loop_was_set_to_counts_where_nothing_else_is_said() {
    let tracker = linear::Linear::start().unwrap();
    let states = [("Todo", "unstarted"), ("Doing", "started"), ("Shipped", "completed")];
    tracker.team("OPS", &states);
    tracker.label("go", None);
    tracker.project("Ship", "ship", &["OPS"]);
    let issue = |title| {
        let new = linear::NewIssue {
            title,
            team: "OPS",
            project: Some("Ship"),
            labels: &["go"],
            ..Default::default()
        };
        tracker.issue(&new)
    };
    let ids = [issue("Say hello"), issue("Say bye")];
    let rig = Rig::of(&[&ids[0], &ids[1]], "");
    rig.write(STATE, OTHERWISE);
    // Where Linear is has to be said; what is taken from there stands in the file.
    let config = rig.file("windlass.toml").unwrap();
    let place = format!("[issues]\nbase-url = '{}'\n", tracker.url());
    rig.write("windlass.toml", &format!("{config}{place}"));
    rig.scratch.git(&["commit", "-qam", "Linear is here"]);
    let run = |args: &[&str]| {
        let output = rig.scratch.windlass(args).env("LINEAR_API_KEY", "test-key").output().unwrap();
        let seen = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert_eq!(output.status.code(), Some(0), "{seen}");
        seen
    };
    assert!(run(&["issues", "list"]).contains(&ids[0]));
    let seen = run(&["issues"]);
    assert!(seen.contains("Discovery trigger: 2 issues completed"), "{seen}");
    for id in &ids {
        assert_eq!(tracker.state(id), "Shipped", "{seen}");
    }
    for (field, is) in [
        ("discover_interval", "2"),
        ("linear_project", "\"Ship\""),
        ("linear_team", "\"OPS\""),
        ("linear_filter_labels", "[\"go\"]"),
        ("linear_done_status", "\"Shipped\""),
        ("linear_in_progress_status", "\"Doing\""),
    ] {
        assert_eq!(rig.state(field), is, "{field}");
    }
}
