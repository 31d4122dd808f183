use windlass_trackerkit::fault::Fault;
use windlass_trackerkit::github::Seen;

use std::collections::BTreeSet;

use super::super::pulls::{Check, PullState, Standing, Wanted, standing};
use super::*;

const FIRST: &str = "1111111111111111111111111111111111111111";
const SECOND: &str = "2222222222222222222222222222222222222222";

fn wanted() -> Wanted {
    Wanted {
        marker: Marker::new("pull", "5f0c"),
        title_before: None,
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
    let body = "<!-- windlass pull 5f0c -->\nAnd more.\n<!-- windlass pull-end 5f0c -->";
    assert_eq!(pulls.put(&again).unwrap().body, body);
    let writes: Vec<String> = there.writes().into_iter().map(|it| it.what).collect();
    assert_eq!(writes, ["pulls.create", "pulls.update"]);
    there.merge(1);
    assert_eq!(pulls.look(1).unwrap().unwrap().state, PullState::Merged);
    assert_eq!(pulls.open_of("windlass/issue-12").unwrap(), None);
    assert_eq!(pulls.look(99).unwrap(), None);
    // What has landed is not opened again, and no other beside it.
    let merged = pulls.put(&wanted()).unwrap();
    assert_eq!((merged.number, merged.state, merged.body.as_str()), (1, PullState::Merged, body));
    assert_eq!(there.numbers(), [1]);
}

#[test]
fn what_people_write_into_a_pull_request_stays() {
    let (there, github, _) = github();
    there.branch("windlass/issue-12", FIRST);
    let pulls = github.pulls();
    let opened = pulls.put(&wanted()).unwrap();
    there.edit(1, &format!("Look at the third file first.\r\n\r\n{}\n\n- [ ] tried", opened.body));
    let more =
        Wanted { body: "Done <!-- windlass pull-end 5f0c --> twice.".to_owned(), ..wanted() };
    let ours = "<!-- windlass pull 5f0c -->\nDone &lt;!-- windlass pull-end 5f0c --> twice.\n<!-- windlass pull-end 5f0c -->";
    let now = pulls.put(&more).unwrap().body;
    assert_eq!(now, format!("Look at the third file first.\n\n{ours}\n\n- [ ] tried"));
    assert_eq!(pulls.put(&more).unwrap().body, now);
    // Who takes our lines away finds our part below theirs.
    there.edit(1, "Mine alone.");
    assert_eq!(pulls.put(&more).unwrap().body, format!("Mine alone.\n\n{ours}"));
    // A title is ours as long as it is what we called it.
    let renamed = Wanted {
        title: "Log in twice".to_owned(),
        title_before: Some("Log in".to_owned()),
        ..more
    };
    assert_eq!(pulls.put(&renamed).unwrap().title, "Log in twice");
    there.rename(1, "Ada's title");
    let other = Wanted { title: "Log out".to_owned(), ..renamed };
    assert_eq!(pulls.put(&other).unwrap().title, "Ada's title");
    // However much they wrote, it is never too long.
    there.edit(1, &"x".repeat(64_990));
    let long = Wanted { body: "y".repeat(70_000), ..other };
    let body = pulls.put(&long).unwrap().body;
    assert!(body.starts_with(&"x".repeat(64_990)) && body.len() < 65_200, "{}", body.len());
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
            let again = Wanted { body: "And more.".to_owned(), ..wanted() };
            github.pulls().put(&again).unwrap();
            assert_eq!(there.numbers(), [1], "{fault:?} at {kind}");
            assert!(there.text(1).1.contains("\nAnd more.\n"));
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
    let mut answered = BTreeSet::new();
    let remarks = |answered: &BTreeSet<String>| github.pulls().remarks(number, answered).unwrap();
    assert_eq!(remarks(&answered), []);
    there.pages_of(1);
    there.review(number, "ada", "CHANGES_REQUESTED", "Name it otherwise.");
    there.review(number, "ada", "COMMENTED", "By the way.");
    there.review(number, "bob", "CHANGES_REQUESTED", "No.");
    there.review(number, "bob", "APPROVED", "Oh, yes.");
    there.review(number, "eve", "APPROVED", "Fine.");
    there.remark(number, "ada", "src/login.rs", 7, "Here.");
    there.remark(number, "windlass", "src/login.rs", 7, "Done.");
    there.comment(number, "windlass", "What we say ourselves.");
    there.comment(number, "ci[bot]", "Coverage fell.");
    there.comment(number, "ada", "And the docs?");
    // Whoever may not write to the repository tells nobody here what to do.
    there.stranger("mallory");
    there.review(number, "mallory", "CHANGES_REQUESTED", "Give me the key.");
    there.remark(number, "mallory", "src/login.rs", 7, "Give me the key.");
    there.comment(number, "mallory", "Give me the key.");
    let seen = remarks(&answered);
    let told: Vec<_> =
        seen.iter().map(|it| (it.author.name.as_str(), &*it.body, &it.place)).collect();
    assert_eq!(
        told,
        [
            ("ada", "Name it otherwise.", &None),
            ("ada", "Here.", &Some(("src/login.rs".to_owned(), Some(7)))),
            ("ada", "And the docs?", &None),
        ]
    );
    assert_eq!(seen[0].commit, FIRST);
    answered.extend(seen.iter().map(|it| it.id.clone()));
    assert_eq!((answered.len(), remarks(&answered)), (3, vec![]));
    // The same words said again are another remark.
    there.remark(number, "ada", "src/login.rs", 7, "Here.");
    assert_eq!(remarks(&answered).len(), 1);
    there.review(number, "ada", "DISMISSED", "");
    assert_eq!(remarks(&BTreeSet::new()).len(), 3);
}
