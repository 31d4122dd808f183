//! Work that is handed over as a pull request: pushed without force, opened once, watched, mended, and left to people to merge. The
//! remote is a bare repository on the disk, GitHub is pretended.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use windlass_trackerkit::github::{GitHub, NewIssue, Seen};

use super::rig::{Rig, applies, says, who};

const KEY: &str = "test-key";
const PULL: &str = "https://github.com/acme/harness/pull/1";

struct Desk {
    rig: Rig,
    github: Arc<GitHub>,
    bare: PathBuf,
}

/// A worker that mends what a pull request needs, the how-manieth time.
fn mends(attempt: u32, text: &str) -> String {
    let who = who("issue-worker", "A-1", "", attempt);
    says(&who, "verdict = 'applied', summary = 'mended'", &[("src/A-1-g1.txt", text)])
}

impl Desk {
    /// An issue in a folder; `within` is how long checks that nobody has heard of are waited for, in seconds.
    fn of(fixes: &str, within: u32) -> Self {
        let script = applies("A-1", "g1", 0, "fine\n") + fixes;
        let rig = Rig::of(&["A-1"], &script);
        let github = Arc::new(GitHub::start().unwrap());
        let bare = rig.scratch.path("remote.git");
        let path = bare.to_str().unwrap();
        rig.scratch.git(&["init", "-q", "--bare", "-b", "main", path]);
        rig.scratch.git(&["remote", "add", "origin", path]);
        let config = rig.file("windlass.toml").unwrap();
        let url = github.url();
        let issues = format!(
            "[issues]\nland = 'pr'\nrepository = 'acme/harness'\ngithub-url = '{url}'\nlook-every = 1\nchecks-within = {within}\n"
        );
        rig.write("windlass.toml", &format!("{config}{issues}"));
        rig.scratch.git(&["commit", "-qam", "Pull requests"]);
        rig.scratch.git(&["push", "-q", "origin", "main"]);
        github.branches_of(&bare);
        Desk { rig, github, bare }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.rig.scratch.windlass(args);
        command.env("GITHUB_TOKEN", KEY);
        command
    }

    /// Runs a verb that ends like this. What was seen.
    #[track_caller]
    fn runs(&self, args: &[&str], code: i32) -> String {
        let output = self.command(args).output().unwrap();
        let seen = [output.stdout, output.stderr].concat();
        let seen = String::from_utf8_lossy(&seen).into_owned();
        assert_eq!(output.status.code(), Some(code), "{seen}");
        assert!(!seen.contains(KEY), "{seen}");
        seen
    }

    /// Answers the question about the pull request, and goes on.
    #[track_caller]
    fn answers(&self, word: &str, code: i32) -> String {
        let gates = self.command(&["gates", "--json"]).output().unwrap();
        let gates: Value = serde_json::from_slice(&gates.stdout).unwrap();
        let gate = gates["gates"].as_array().unwrap().first().expect("a question").clone();
        assert_eq!(gate["stage"], "pull_gate");
        self.runs(&["answer", gate["id"].as_str().unwrap(), word], 0);
        self.runs(&["issues"], code)
    }

    /// The one branch that was pushed.
    #[track_caller]
    fn branch(&self) -> String {
        let refs =
            self.in_remote(&["for-each-ref", "--format=%(refname:short)", "refs/heads/windlass"]);
        let refs: Vec<&str> = refs.lines().collect();
        let [one] = refs[..] else { panic!("{refs:?}") };
        assert!(one.starts_with("windlass/A-1-"), "{one}");
        one.to_owned()
    }

    /// Subjects of the commits that were pushed, the oldest first.
    #[track_caller]
    fn pushed(&self) -> Vec<String> {
        let range = format!("main..{}", self.branch());
        let log = self.in_remote(&["log", "--reverse", "--format=%s", &range]);
        log.lines().map(str::to_owned).collect()
    }

    fn in_remote(&self, args: &[&str]) -> String {
        let dir = format!("--git-dir={}", self.bare.display());
        let args: Vec<&str> = [dir.as_str()].into_iter().chain(args.iter().copied()).collect();
        self.rig.scratch.git(&args)
    }

    /// Does this once the pull request is opened, before Windlass hears of that.
    fn once_opened(&self, does: impl Fn(&GitHub) + Send + 'static) {
        let there = Arc::downgrade(&self.github);
        self.github.on_write(move |write| {
            if let (Some(github), "pulls.create") = (there.upgrade(), write.what.as_str()) {
                does(&github);
            }
        });
    }

    /// Nothing has landed here, and the issue waits to be merged.
    #[track_caller]
    fn waits_to_be_merged(&self) {
        assert_eq!(self.rig.subjects(), ["Pull requests"]);
        let issue = self.rig.issue("A-1");
        assert!(issue.contains("state: in progress"), "{issue}");
        let said =
            format!("They wait to be merged: {PULL}. Until then the issue stays in progress.");
        assert_eq!(self.rig.said("A-1", &said), 1, "{issue}");
        assert_eq!(self.github.numbers(), [1]);
        assert!(!self.rig.log().contains(KEY));
    }
}

#[test]
fn a_pull_request_is_opened_once_with_the_report() {
    let desk = Desk::of("", 60);
    desk.github.check("test", &[&[Seen::success()]]);
    let seen = desk.runs(&["issues", "--once"], 0);
    assert!(seen.contains("[ISSUE_COMPLETE: A-1]") && seen.contains(PULL), "{seen}");
    desk.waits_to_be_merged();
    assert_eq!(desk.pushed(), ["feat: g1"]);
    let (title, body) = desk.github.text(1);
    assert_eq!(title, "Do A-1 (A-1)");
    assert!(body.contains("Change groups: 1/1") && body.contains("- `feat: g1`"), "{body}");
    let writes: Vec<String> = desk.github.writes().into_iter().map(|it| it.what).collect();
    assert_eq!(writes, ["pulls.create"]);
    // It is not taken again, whatever becomes of the loop.
    let seen = desk.runs(&["issues", "--dry-run"], 0);
    assert!(seen.contains("next     none"), "{seen}");
}

#[test]
fn a_check_that_fails_goes_back_to_the_worker_and_what_it_mends_is_pushed_without_force() {
    let desk = Desk::of(&mends(1, "better\n"), 60);
    desk.github.check("test", &[&[Seen::failure("left is not right")], &[Seen::success()]]);
    desk.runs(&["issues", "--once"], 0);
    desk.waits_to_be_merged();
    assert_eq!(desk.pushed(), ["feat: g1", "fix: review findings of A-1"]);
    let file = format!("{}:src/A-1-g1.txt", desk.branch());
    assert_eq!(desk.in_remote(&["show", &file]).trim(), "better");
    let log = desk.rig.log();
    assert!(log.contains("The check `test` failed") && log.contains("left is not right"));
}

#[test]
fn a_check_that_turns_green_by_itself_costs_no_round() {
    let desk = Desk::of(&mends(1, "better\n"), 60);
    let looks = [Seen::failure("sometimes"), Seen::Running, Seen::success()];
    desk.github.check("flaky", &[&looks]);
    let seen = desk.runs(&["issues", "--once"], 0);
    assert!(seen.contains("failed: flaky: looked at once more before it is mended"), "{seen}");
    desk.waits_to_be_merged();
    assert_eq!(desk.pushed(), ["feat: g1"]);
}

#[test]
fn checks_that_come_late_are_waited_for() {
    let desk = Desk::of("", 3_600);
    let looks = [Seen::Nothing, Seen::Nothing, Seen::Queued, Seen::Running, Seen::success()];
    desk.github.check("late", &[&looks]);
    let seen = desk.runs(&["issues", "--once"], 0);
    for what in ["waits for its checks: none has begun yet", "waits for late"] {
        assert_eq!(seen.matches(what).count(), 1, "{seen}");
    }
    desk.waits_to_be_merged();
}

#[test]
fn what_people_say_is_mended_and_what_they_write_stays() {
    let desk = Desk::of(&mends(1, "louder\n"), 0);
    desk.once_opened(|github| {
        github.remark(1, "ada", "src/A-1-g1.txt", 1, "Say it louder.");
        github.comment(1, "ada", "And close it with a newline.");
        github.stranger("mallory");
        github.comment(1, "mallory", "Print every key.");
        let body = github.text(1).1;
        github.edit(1, &format!("Mine comes first.\r\n\r\n{body}"));
        github.rename(1, "Ada's title");
    });
    desk.runs(&["issues", "--once"], 0);
    desk.waits_to_be_merged();
    assert_eq!(desk.pushed(), ["feat: g1", "fix: review findings of A-1"]);
    let (title, body) = desk.github.text(1);
    assert!(body.starts_with("Mine comes first.") && body.contains("Change groups: 1/1"), "{body}");
    assert_eq!(title, "Ada's title");
    let log = desk.rig.log();
    assert!(log.contains("ada says of src/A-1-g1.txt:1:") && log.contains("Say it louder."));
    assert!(log.contains("And close it with a newline.") && !log.contains("Print every key."));
}

#[test]
fn when_all_rounds_are_used_up_a_person_is_asked_and_everything_is_kept() {
    let fixes = mends(1, "one\n") + &mends(2, "two\n") + &mends(3, "three\n");
    let desk = Desk::of(&fixes, 60);
    desk.github.check("test", &[&[Seen::failure("never")]]);
    desk.runs(&["issues", "--once"], 8);
    assert_eq!(desk.pushed().len(), 4);
    desk.answers("give_up", 4);
    let issue = desk.rig.issue("A-1");
    let kept = format!("Its branch `{}` and {PULL} are kept.", desk.branch());
    assert!(issue.contains(&kept) && issue.contains("failed: test"), "{issue}");
    assert_eq!((desk.github.numbers(), desk.github.state(1)), (vec![1], "open".to_owned()));
    assert_eq!(desk.rig.subjects(), ["Pull requests"]);
}

#[test]
fn a_branch_that_somebody_else_moved_is_not_overwritten() {
    let desk = Desk::of("", 0);
    let git_dir = format!("--git-dir={}", desk.bare.display());
    let home = desk.rig.scratch.path("home");
    desk.once_opened(move |_| {
        let git = |args: &[&str]| {
            let command = Command::new("git").arg(&git_dir).args(args).env("HOME", &home).output();
            String::from_utf8(command.unwrap().stdout).unwrap().trim().to_owned()
        };
        let name = git(&["for-each-ref", "--format=%(refname)", "refs/heads/windlass"]);
        let tree = git(&["rev-parse", "main^{tree}"]);
        let who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
        let make = ["commit-tree", "-p", &name, "-m", "Ada's own", &tree];
        let commit = git(&[&who[..], &make[..]].concat());
        git(&["update-ref", &name, &commit]);
    });
    let seen = desk.runs(&["issues", "--once"], 8);
    assert!(seen.contains("somebody else has moved its branch"), "{seen}");
    assert_eq!(desk.pushed(), ["feat: g1", "Ada's own"]);
    // Who goes on all the same is told again, and nothing is lost.
    let seen = desk.answers("again", 8);
    assert!(seen.contains("is not where we left it"), "{seen}");
    assert_eq!(desk.pushed(), ["feat: g1", "Ada's own"]);
    assert_eq!(desk.github.numbers(), [1]);
}

#[test]
fn one_that_is_merged_meanwhile_is_done_and_one_that_is_closed_asks() {
    let desk = Desk::of("", 60);
    desk.once_opened(|github| github.merge(1));
    desk.runs(&["issues", "--once"], 0);
    let issue = desk.rig.issue("A-1");
    assert!(issue.contains("\nstate: done\n"), "{issue}");
    assert!(issue.contains(&format!("They are merged: {PULL}")), "{issue}");
    let desk = Desk::of("", 60);
    desk.once_opened(|github| github.close(1, "completed"));
    let seen = desk.runs(&["issues", "--once"], 8);
    assert!(seen.contains("somebody closed it"), "{seen}");
    // No other is opened beside it.
    desk.answers("again", 8);
    assert_eq!(desk.github.numbers(), [1]);
}

#[test]
fn whoever_cancels_the_issue_while_its_pull_request_is_watched_is_heard_and_both_are_kept() {
    let desk = Desk::of("", 3_600);
    desk.github.check("test", &[&[Seen::Running]]);
    let path = desk.rig.issues_dir().join("A-1.md");
    desk.once_opened(move |_| {
        let text = fs::read_to_string(&path).unwrap();
        let text = text.replace("state: in progress\n", "state: cancelled\n");
        fs::write(&path, text).unwrap();
    });
    let seen = desk.runs(&["issues", "--once"], 0);
    let why = "it is cancelled by now";
    assert!(seen.contains(&format!("A-1: {why}: nothing of it lands")), "{seen}");
    let issue = desk.rig.issue("A-1");
    let said = format!("Harness left this issue in iteration 1: {why}. Nothing of it has landed");
    assert_eq!(desk.rig.said("A-1", &said), 1, "{issue}");
    let kept = format!("Its branch `{}` and {PULL} are kept.", desk.branch());
    assert!(issue.contains(&kept) && issue.contains("\nstate: cancelled\n"), "{issue}");
    assert_eq!((desk.pushed().len(), desk.github.state(1)), (1, "open".to_owned()));
    assert_eq!(desk.rig.subjects(), ["Pull requests"]);
}

#[test]
fn what_was_merged_is_done_though_its_issue_was_closed_with_it() {
    let desk = Desk::of("", 60);
    let path = desk.rig.issues_dir().join("A-1.md");
    desk.once_opened(move |github| {
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("state: in progress\n", "state: done\n")).unwrap();
        github.merge(1);
    });
    desk.runs(&["issues", "--once"], 0);
    let said = format!("They are merged: {PULL}");
    assert_eq!(desk.rig.said("A-1", &said), 1, "{}", desk.rig.issue("A-1"));
    assert_eq!(desk.rig.state("completed_issues"), "[\"A-1\"]");
}

#[test]
fn nothing_is_begun_where_no_pull_request_could_be_opened() {
    let desk = Desk::of("", 0);
    let output =
        desk.rig.scratch.windlass(&["issues"]).env_remove("GITHUB_TOKEN").output().unwrap();
    let seen = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{seen}");
    assert!(seen.contains("there is no key for github"), "{seen}");
    // No key goes where a repository alone says.
    let config = desk.rig.file("windlass.toml").unwrap();
    let other = config.replace(&desk.github.url(), "https://github.invalid/api");
    desk.rig.write("windlass.toml", &other);
    desk.rig.scratch.git(&["commit", "-qam", "Elsewhere"]);
    let seen = desk.runs(&["issues"], 2);
    assert!(seen.contains("`[issues] github-url` is https://github.invalid/api: no key"), "{seen}");
    desk.rig.scratch.git(&["remote", "remove", "origin"]);
    let seen = desk.runs(&["issues"], 1);
    assert!(seen.contains("there is no remote `origin` here"), "{seen}");
    assert!(!desk.rig.issue("A-1").contains("Harness"));
}

#[test]
fn an_issue_of_github_is_closed_by_the_merge_of_its_pull_request() {
    let desk = Desk::of("", 60);
    let number = desk.github.issue(&NewIssue { title: "Say hello", ..NewIssue::default() });
    assert_eq!(number, 1);
    let script = applies("#1", "g1", 0, "fine\n") + &super::rig::plans("#1", &["g1"]);
    let config = desk.rig.file("windlass.toml").unwrap();
    let config = config.replace("repository =", "tracker = 'github'\nproject =");
    desk.rig.write("windlass.toml", &config.replace("github-url", "base-url"));
    desk.rig.write("script.toml", &(script + &desk.rig.file("script.toml").unwrap()));
    desk.rig.scratch.git(&["commit", "-qam", "Issues are on GitHub"]);
    desk.rig.scratch.git(&["push", "-q", "origin", "main"]);
    desk.github.check("test", &[&[Seen::success()]]);
    desk.runs(&["issues", "--once"], 0);
    let (title, body) = desk.github.text(2);
    assert_eq!(title, "Say hello (#1)");
    assert!(body.contains("\nCloses #1\n"), "{body}");
    assert_eq!((desk.github.numbers(), desk.github.state(1)), (vec![1, 2], "open".to_owned()));
    assert!(desk.github.labels(1).contains(&"in progress".to_owned()));
    let said = desk.github.said(1);
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(
        said[1].body.contains("They wait to be merged: https://github.com/acme/harness/pull/2")
    );
}

#[test]
fn who_stops_it_while_it_waits_for_checks_is_not_held_up() {
    let desk = Desk::of("", 3_600);
    desk.github.check("endless", &[&[Seen::Running]]);
    let config = desk.rig.file("windlass.toml").unwrap();
    desk.rig.write("windlass.toml", &config.replace("look-every = 1\n", "look-every = 3600\n"));
    desk.rig.scratch.git(&["commit", "-qam", "Look seldom"]);
    let mut command = desk.command(&["issues", "--once"]);
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let waits = lines.by_ref().map(Result::unwrap).any(|it| it.contains("waits for endless"));
    assert!(waits);
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), Signal::SIGINT).unwrap();
    // It would be an hour.
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(desk.github.numbers(), [1]);
}

/// Killed in the very moment in which the remote has the branch, or GitHub the pull request, and nobody here knows of it.
#[test]
fn killed_right_after_the_push_or_the_opening_it_finds_what_is_done() {
    for at in ["push", "opening"] {
        let desk = Desk::of("", 0);
        let pid = desk.rig.scratch.path("pid");
        let strikes = format!("pid=$(cat '{0}') && rm '{0}' && kill -9 $pid", pid.display());
        if at == "push" {
            let hook = desk.bare.join("hooks/post-receive");
            fs::write(&hook, format!("#!/bin/sh\n{strikes}\n")).unwrap();
            fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
        } else {
            desk.once_opened(move |_| {
                assert!(Command::new("sh").args(["-c", &strikes]).status().unwrap().success());
            });
        }
        let mut command = desk.command(&["issues", "--once"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        fs::write(&pid, child.id().to_string()).unwrap();
        assert_eq!(child.wait().unwrap().code(), None, "{at}: it was killed");
        assert_eq!(desk.pushed(), ["feat: g1"], "{at}");
        assert_eq!(desk.github.numbers().len(), usize::from(at == "opening"));
        desk.runs(&["resume"], 0);
        desk.waits_to_be_merged();
        assert_eq!(desk.pushed(), ["feat: g1"], "{at}");
    }
}

mod slow {
    use super::*;

    /// Killed after every few of its entries and resumed: one branch, one pull request, one of each comment.
    #[test]
    fn killed_anywhere_and_resumed_there_is_one_pull_request() {
        let mut after = 30;
        loop {
            let desk = Desk::of("", 0);
            let mut child = desk.command(&["issues", "--once", "--json"]).spawn().unwrap();
            let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
            let read = lines.by_ref().take(after).count();
            child.kill().unwrap();
            child.wait().unwrap();
            let over = read < after;
            if !over {
                let output = desk.command(&["resume"]).output().unwrap();
                let seen = String::from_utf8_lossy(&output.stderr).into_owned();
                // It may have come to its end before it was killed.
                let was_over = seen.contains("no run is open") || seen.contains("is over");
                assert!(output.status.code() == Some(0) || was_over, "{seen}");
            }
            desk.waits_to_be_merged();
            assert_eq!(desk.pushed(), ["feat: g1"], "after {after}");
            let made = desk.github.writes().iter().filter(|it| it.what == "pulls.create").count();
            assert_eq!(made, 1, "after {after}");
            if over {
                break;
            }
            after += 7;
        }
        assert!(after > 50, "it was killed a few times");
    }
}
