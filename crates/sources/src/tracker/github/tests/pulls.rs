use windlass_trackerkit::fault::Fault;
use windlass_trackerkit::github::Seen;

use super::super::pulls::{Check, PullState, Standing, Wanted, standing};
use super::*;

const FIRST: &str = "1111111111111111111111111111111111111111";
const SECOND: &str = "2222222222222222222222222222222222222222";

fn wanted() -> Wanted {
    Wanted {
        head: "windlass/issue-12".to_owned(),
        base: "main".to_owned(),
        title: "Log in".to_owned(),
        body: "What was done.\n".to_owned(),
    }
}

fn checks(github: &GitHub, commit: &str) -> (Standing, Vec<Check>) {
    let checks = github.pulls().checks(commit).unwrap();
    (standing(&checks), checks)
}

#[test]
fn a_pull_request_is_opened_once_and_kept_up_to_date() {
    let (there, github, _) = github();
    let pulls = github.pulls();
    let error = pulls.put(&wanted()).unwrap_err();
    assert_eq!(error.to_string(), "GitHub refuses: Validation Failed: head invalid");
    there.branch("windlass/issue-12", FIRST);
    assert_eq!(pulls.open_of("windlass/issue-12").unwrap(), None);
    let pull = pulls.put(&wanted()).unwrap();
    assert_eq!((pull.number, pull.state, pull.commit.as_str()), (1, PullState::Open, FIRST));
    assert_eq!(pull.url, "https://github.com/acme/harness/pull/1");
    assert_eq!(pulls.put(&wanted()).unwrap(), pull);
    assert_eq!(pulls.open_of("windlass/issue-12").unwrap(), Some(pull));
    let again = Wanted { body: "And more.".to_owned(), ..wanted() };
    assert_eq!(pulls.put(&again).unwrap().body, "And more.");
    there.rename(1, "Ada's title");
    assert_eq!(pulls.put(&again).unwrap().title, "Log in");
    let writes: Vec<String> = there.writes().into_iter().map(|it| it.what).collect();
    assert_eq!(writes, ["pulls.create", "pulls.update", "pulls.update"]);
    there.merge(1);
    assert_eq!(pulls.look(1).unwrap().unwrap().state, PullState::Merged);
    assert_eq!(pulls.open_of("windlass/issue-12").unwrap(), None);
    assert_eq!(pulls.look(99).unwrap(), None);
    // What has landed is not opened again by itself: a new one is another one.
    assert_eq!(pulls.put(&wanted()).unwrap().number, 2);
    there.close(2, "completed");
    assert_eq!(pulls.look(2).unwrap().unwrap().state, PullState::Closed);
}

#[test]
fn whatever_passes_leaves_one_pull_request() {
    for fault in [Fault::CutBefore, Fault::CutAfter, Fault::status(502), Fault::SilenceAfter] {
        for kind in ["pulls.create", "pulls.list", "pulls.update"] {
            if fault == Fault::SilenceAfter && kind != "pulls.create" {
                continue;
            }
            let (there, github, _) = github();
            there.branch("windlass/issue-12", FIRST);
            there.faults().add(kind, fault.clone());
            github.pulls().put(&wanted()).unwrap();
            let again = Wanted { title: "Log in, again".to_owned(), ..wanted() };
            github.pulls().put(&again).unwrap();
            assert_eq!(there.numbers(), [1], "{fault:?} at {kind}");
            assert_eq!(there.text(1).0, "Log in, again");
            assert!(there.faults().is_empty());
        }
    }
}

#[test]
fn checks_are_late_pending_failed_and_then_they_are_not() {
    let (there, github, _) = github();
    assert_eq!(checks(&github, FIRST).0, Standing::Nothing);
    let failure = Seen::Ended {
        conclusion: "failure",
        summary: "1 test failed".to_owned(),
        annotations: vec![("src/login.rs".to_owned(), 7, "left is not right".to_owned())],
    };
    // It comes late, takes its time, and fails; the next commit passes.
    there.check(
        "test",
        &[&[Seen::Nothing, Seen::Queued, Seen::Running, failure], &[Seen::success()]],
    );
    let seen: Vec<Standing> = (0..4).map(|_| checks(&github, FIRST).0).collect();
    assert_eq!(seen, [Standing::Nothing, Standing::Pending, Standing::Pending, Standing::Failed]);
    let (_, failed) = checks(&github, FIRST);
    assert_eq!(failed[0].output, "test\n1 test failed\nsrc/login.rs:7: left is not right");
    assert_eq!(failed[0].url, "https://github.com/acme/harness/runs/1000");
    assert_eq!(checks(&github, SECOND).0, Standing::Succeeded);
}

#[test]
fn a_check_that_is_run_again_counts_by_its_last_run() {
    let (there, github, _) = github();
    there.check("flaky", &[&[Seen::failure("sometimes"), Seen::Running, Seen::success()]]);
    let seen: Vec<Standing> = (0..4).map(|_| checks(&github, FIRST).0).collect();
    assert_eq!(
        seen,
        [Standing::Failed, Standing::Pending, Standing::Succeeded, Standing::Succeeded]
    );
}

#[test]
fn every_check_and_every_status_counts() {
    let (there, github, _) = github();
    there.pages_of(1);
    there.check("build", &[&[Seen::success()]]);
    there.check("docs", &[&[Seen::ended("skipped", "")]]);
    there.check("lint", &[&[Seen::ended("neutral", "")]]);
    there.status(
        "ci/old",
        &[&[Seen::Running, Seen::ended("success", "ok"), Seen::ended("error", "no disk")]],
    );
    let seen: Vec<Standing> = (0..3).map(|_| checks(&github, FIRST).0).collect();
    assert_eq!(seen, [Standing::Pending, Standing::Succeeded, Standing::Failed]);
    let (_, all) = checks(&github, FIRST);
    let names: Vec<&str> = all.iter().map(|it| &*it.name).collect();
    assert_eq!(names, ["build", "ci/old", "docs", "lint"]);
    assert_eq!((all[1].output.as_str(), all[1].standing), ("no disk", Standing::Failed));
    for conclusion in ["timed_out", "cancelled", "action_required", "stale", "startup_failure"] {
        let (there, github, _) = self::github();
        there.check("test", &[&[Seen::ended(conclusion, "")]]);
        let (standing, all) = checks(&github, FIRST);
        assert_eq!((standing, all[0].output.as_str()), (Standing::Failed, conclusion));
    }
}

#[test]
fn what_others_want_changed_is_heard_until_they_take_it_back() {
    let (there, github, _) = github();
    there.branch("windlass/issue-12", FIRST);
    let number = github.pulls().put(&wanted()).unwrap().number;
    assert_eq!(github.pulls().remarks(number).unwrap(), []);
    there.pages_of(1);
    there.review(number, "ada", "CHANGES_REQUESTED", "Name it otherwise.");
    there.review(number, "ada", "COMMENTED", "By the way.");
    there.review(number, "bob", "CHANGES_REQUESTED", "No.");
    there.review(number, "bob", "APPROVED", "Oh, yes.");
    there.review(number, "eve", "APPROVED", "Fine.");
    there.remark(number, "ada", "src/login.rs", 7, "Here.");
    there.remark(number, "windlass", "src/login.rs", 7, "Done.");
    let remarks = github.pulls().remarks(number).unwrap();
    let seen: Vec<_> =
        remarks.iter().map(|it| (it.author.name.as_str(), &*it.body, &it.place)).collect();
    assert_eq!(
        seen,
        [
            ("ada", "Name it otherwise.", &None),
            ("ada", "Here.", &Some(("src/login.rs".to_owned(), Some(7)))),
        ]
    );
    assert_eq!(remarks[0].commit, FIRST);
    assert_ne!(remarks[0].id, remarks[1].id);
    there.review(number, "ada", "DISMISSED", "");
    assert_eq!(github.pulls().remarks(number).unwrap().len(), 1);
}
