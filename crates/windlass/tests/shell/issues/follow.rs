//! Following: new issues are waited for, whatever became of those before, until somebody says that it is to stop (I1).

use std::io::{BufRead as _, BufReader, PipeReader};
use std::process::Child;

use windlass_trackerkit::fault::Fault;
use windlass_trackerkit::github;

use super::rig::{Rig, simply, who};

/// A loop that follows, and what it says.
struct Follower {
    child: Child,
    lines: std::io::Lines<BufReader<PipeReader>>,
    seen: String,
}

impl Follower {
    fn of(rig: &Rig, more: &[&str]) -> Self {
        let args = [&["issues", "--follow", "--interval", "1"], more].concat();
        let mut command = rig.scratch.windlass(&args);
        let (reader, writer) = std::io::pipe().unwrap();
        command.env("GITHUB_TOKEN", "test-key").stdout(writer.try_clone().unwrap()).stderr(writer);
        let child = command.spawn().unwrap();
        let lines = BufReader::new(reader).lines();
        Follower { child, lines, seen: String::new() }
    }

    /// Reads on until it says this.
    #[track_caller]
    fn until(&mut self, text: &str) {
        for line in self.lines.by_ref() {
            let line = line.unwrap();
            self.seen.push_str(&format!("{line}\n"));
            if line.contains(text) {
                return;
            }
        }
        panic!("it never says `{text}`: {}", self.seen);
    }

    /// Reads on to its end. How it ended, and all that it said.
    fn ends(mut self) -> (Option<i32>, String) {
        for line in self.lines.by_ref() {
            self.seen.push_str(&format!("{}\n", line.unwrap()));
        }
        (self.child.wait().unwrap().code(), std::mem::take(&mut self.seen))
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        // Whoever is not told to stop would wait for ever.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const WAITS: &str = "no issue is ready: looking again every 1 s";

#[test]
fn new_issues_are_taken_though_one_has_failed_and_a_stop_ends_the_waiting() {
    let fails = simply(&who("issue-worker", "A-1", "", 0), "failed", "it does not work");
    let more = super::rig::plans("A-2", &["g1"]) + &super::rig::applies("A-2", "g1", 0, "fine\n");
    let mut rig = Rig::of(&["A-1"], &(fails + &more));
    let mut follower = Follower::of(&rig, &[]);
    follower.until(WAITS);
    assert_eq!(rig.state("failed_issues"), "[\"A-1\"]");
    rig.put("A-2", "");
    follower.until(WAITS);
    assert_eq!(rig.state("completed_issues"), "[\"A-2\"]", "{}", follower.seen);
    // Another one that follows is not needed.
    let seen = rig.ends(&["--follow"], 2);
    assert!(seen.contains("somebody follows here already"), "{seen}");
    let seen = rig.ends(&["stop"], 0);
    assert!(seen.contains("Harness will stop after current issue completes"), "{seen}");
    rig.put("A-3", "");
    let (code, seen) = follower.ends();
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("told to stop: no more issues are waited for"), "{seen}");
    assert!(!rig.issue("A-3").contains("Harness"), "{seen}");
    assert!(
        rig.ends(&["stop"], 0).contains("No active harness session"),
        "nobody follows any more"
    );
}

#[test]
fn work_that_waits_for_a_person_is_said_once_and_waited_for() {
    let more = super::rig::plans("A-2", &["g1"]) + &super::rig::applies("A-2", "g1", 0, "fine\n");
    let mut rig = Rig::of(&["A-1"], &more);
    rig.write("src/A-1-g1.txt", "draft\n");
    let mut follower = Follower::of(&rig, &[]);
    follower.until(WAITS);
    assert!(follower.seen.contains("waits beside main"), "{}", follower.seen);
    rig.put("A-2", "");
    follower.until("work of issues-1 waits on windlass/issues-1, and main has not got it");
    follower.until("merge --ff-only windlass/issues-1");
    assert!(follower.seen.contains(": looking again every 1 s"), "{}", follower.seen);
    assert!(!rig.issue("A-2").contains("Harness"), "{}", rig.issue("A-2"));
    std::fs::remove_file(rig.scratch.repo().join("src/A-1-g1.txt")).unwrap();
    follower.until(WAITS);
    assert_eq!(rig.state("completed_issues"), "[\"A-1\", \"A-2\"]", "{}", follower.seen);
    assert_eq!(rig.subjects(), ["feat: g1", "feat: g1"]);
    rig.ends(&["stop"], 0);
    let (code, seen) = follower.ends();
    assert_eq!(code, Some(0), "{seen}");
    assert_eq!(seen.matches("and main has not got it").count(), 1, "{seen}");
}

#[test]
fn a_stop_is_heard_while_a_person_is_waited_for() {
    let mut rig = Rig::of(&["A-1"], "");
    rig.write("src/A-1-g1.txt", "draft\n");
    rig.ends(&[], 0);
    rig.put("A-2", "");
    let mut follower = Follower::of(&rig, &[]);
    follower.until("and main has not got it");
    rig.ends(&["stop"], 0);
    let (code, seen) = follower.ends();
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("told to stop"), "{seen}");
}

#[test]
fn a_stop_while_an_issue_is_under_way_ends_the_following_after_it() {
    let mut rig = Rig::of(&["A-1"], "");
    // Whoever plans it has not said a word before the stop.
    let talk = rig.scratch.path("talk");
    std::fs::create_dir(&talk).unwrap();
    let talk = talk.display();
    rig.write(
        "planner.sh",
        &format!(
            "cat > /dev/null\nuntil [ -e '{talk}/go' ]; do sleep 0.02; done\n\
             echo '{{\"verdict\": \"planned\", \"summary\": \"a plan\", \"groups\": [{{\"id\": \"g1\", \"title\": \"feat: g1\", \
             \"files\": [\"src/A-1-g1.txt\"]}}], \"criteria\": [{{\"id\": \"c1\", \"title\": \"it is there\"}}]}}'\n"
        ),
    );
    let config = rig.file("windlass.toml").unwrap().replace(
        "[roles]\n",
        "[agents.shell]\nkind = 'command'\ncommand = ['sh', 'planner.sh']\ncost = 'none'\n[roles]\nissue-planner = 'shell'\n",
    );
    rig.write("windlass.toml", &format!("[sandbox]\nwrite = ['{talk}']\n{config}"));
    rig.scratch.git(&["add", "-A"]);
    rig.scratch.git(&["commit", "-qm", "Another planner"]);
    let mut follower = Follower::of(&rig, &[]);
    follower.until("A-1: begins");
    rig.ends(&["stop"], 0);
    rig.scratch.sh(&format!("touch '{talk}/go'"));
    let (code, seen) = follower.ends();
    // Whether it is heard by the loop or after it makes no difference to what becomes of the issue.
    assert!([Some(0), Some(5)].contains(&code), "{seen}");
    assert_eq!(rig.state("completed_issues"), "[\"A-1\"]", "{seen}");
}

#[test]
fn a_tracker_that_has_no_answer_is_asked_again_and_that_is_said() {
    let tracker = github::GitHub::start().unwrap();
    let rig = Rig::of(&["#1"], "");
    super::trackers::at(&rig, "github", "acme/harness", &tracker.url());
    let mut follower = Follower::of(&rig, &[]);
    follower.until(WAITS);
    // It is away for three looks, and comes back with an issue.
    for fault in [Fault::status(503), Fault::CutBefore, Fault::status(502)] {
        tracker.faults().add("issues.list", fault);
    }
    let number = tracker.issue(&github::NewIssue::default());
    follower.until(&format!("GitHub at {} has no answer", tracker.url()));
    follower.until("looking again in 4 s");
    follower.until(WAITS);
    assert!(tracker.faults().is_empty());
    assert_eq!(tracker.state(number), "completed", "{}", follower.seen);
    let stop = rig.scratch.windlass(&["issues", "stop"]).output().unwrap();
    assert_eq!(stop.status.code(), Some(0));
    assert_eq!(follower.ends().0, Some(0));
}

#[test]
fn a_tracker_that_says_how_long_it_is_limited_is_let_be_and_a_stop_is_heard() {
    let tracker = github::GitHub::start().unwrap();
    let rig = Rig::of(&["#1"], "");
    super::trackers::at(&rig, "github", "acme/harness", &tracker.url());
    let mut follower = Follower::of(&rig, &[]);
    follower.until(WAITS);
    let now_s = tracker.now_s();
    // For longer than anybody waits, in the loop itself: what is under way is gone on with all the same.
    tracker.faults().add("comments.create", github::limited(403, now_s, now_s + 10_800));
    let number = tracker.issue(&github::NewIssue::default());
    follower.until("going on in 2 s");
    assert!(follower.seen.contains("GitHub is limited until "), "{}", follower.seen);
    follower.until(WAITS);
    assert_eq!(tracker.state(number), "completed", "{}", follower.seen);
    assert_eq!(tracker.said(number).len(), 2, "{}", follower.seen);
    tracker.faults().add("issues.list", github::limited(403, now_s, now_s + 2_400));
    follower.until("looking again then");
    let stop = rig.scratch.windlass(&["issues", "stop"]).output().unwrap();
    assert_eq!(stop.status.code(), Some(0));
    let (code, seen) = follower.ends();
    assert_eq!(code, Some(0), "{seen}");
}
