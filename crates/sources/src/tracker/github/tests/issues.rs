use windlass_trackerkit::github::NewIssue as Made;

use super::*;
use crate::tracker::{Person, contract};

fn ids(issues: &[Issue]) -> Vec<&str> {
    issues.iter().map(|issue| &*issue.id).collect()
}

#[test]
fn github_keeps_to_what_every_tracker_does() {
    let (_there, github, waits) = github();
    contract::holds(&github, &filter());
    assert_eq!(*waits.lock().unwrap(), [0; 0]);
}

#[test]
fn an_issue_is_what_github_says_of_it() {
    let (there, github, _) = github();
    let base = there.issue(&Made { title: "Base", labels: &[], ..Made::default() });
    let done = there.issue(&Made { title: "Done", labels: &[], ..Made::default() });
    there.close(done, "completed");
    let login = there.issue(&Made {
        title: "Log in",
        body: "One\r\ntwo\r\n",
        labels: &["Ready", "P3", "priority: high"],
        blocked_by: &[base, done],
        ..Made::default()
    });
    there.assign(login, "windlass");
    there.assign(login, "ada");
    there.pull("ada", "fix", "A pull request is no issue");
    assert_eq!(
        github.ready(&filter()).unwrap(),
        [Issue {
            id: "#3".to_owned(),
            title: "Log in".to_owned(),
            body: "One\ntwo\n".to_owned(),
            priority: Some(2),
            labels: vec!["ready".to_owned(), "P3".to_owned(), "priority: high".to_owned()],
            state: State::Open,
            state_name: "open".to_owned(),
            assignee: Some(Person { name: "ada".to_owned(), is_me: false }),
            blocked_by: vec!["#1".to_owned()],
            created: "2026-11-18T21:08:06Z".to_owned(),
            url: "https://github.com/acme/harness/issues/3".to_owned(),
        }]
    );
    there.close(base, "completed");
    there.unassign(login);
    there.assign(login, "windlass");
    let issue = github.look("3").unwrap().unwrap().issue;
    assert_eq!(issue.blocked_by, [""; 0]);
    assert!(issue.assignee.unwrap().is_me);
    // A pull request is none, even where somebody asks for its number.
    assert_eq!(github.look("#4").unwrap(), None);
    for odd in ["#99", "", "#", "12x", "-1", "+1", "../1"] {
        assert_eq!(github.look(odd).unwrap(), None, "{odd}");
    }
}

#[test]
fn long_lists_are_read_to_their_end() {
    let (there, github, _) = github();
    there.pages_of(3);
    for number in 0..10 {
        there.issue(&Made::default());
        there.comment(1, "ada", &format!("Comment {number}"));
    }
    assert_eq!(github.ready(&filter()).unwrap().len(), 10);
    assert_eq!(there.asked().iter().filter(|it| *it == "issues.list").count(), 4);
    let comments = github.look("#1").unwrap().unwrap().comments;
    assert_eq!(comments.len(), 10);
    assert_eq!((comments[0].body.as_str(), comments[9].body.as_str()), ("Comment 0", "Comment 9"));
    github.post("#1", "Ours.", &marker()).unwrap();
    github.post("#1", "Ours.", &marker()).unwrap();
    assert_eq!(there.said(1).len(), 11);
}

#[test]
fn what_a_body_waits_for_counts_where_github_knows_nothing() {
    for knows_dependencies in [true, false] {
        let (there, github, _) = github();
        if !knows_dependencies {
            there.forget_dependencies();
        }
        let open = there.issue(&Made { labels: &[], ..Made::default() });
        let done = there.issue(&Made { labels: &[], ..Made::default() });
        there.close(done, "completed");
        let listed = there.issue(&Made::default());
        let body = "Blocked by #1, #2 and #3\nDepends on #4, #99";
        let waits = there.issue(&Made { body, ..Made::default() });
        assert_eq!((open, done, listed, waits), (1, 2, 3, 4));
        let issue = github.look("#4").unwrap().unwrap().issue;
        assert_eq!(issue.blocked_by, ["#1", "#3", "#99"]);
        let ready = github.ready(&filter()).unwrap();
        assert_eq!(ids(&ready), ["#3", "#4"]);
        assert_eq!(ready[1].blocked_by, ["#1", "#3", "#99"]);
        // What GitHub was told goes before what a body says.
        there.block(4, 2);
        let issue = github.look("#4").unwrap().unwrap().issue;
        let expected: &[&str] = if knows_dependencies { &[] } else { &["#1", "#3", "#99"] };
        assert_eq!(issue.blocked_by, expected);
    }
}

#[test]
fn states_are_labels_and_reasons() {
    let (there, github, _) = github();
    let number = there.issue(&Made::default());
    let state = || {
        let issue = github.look("#1").unwrap().unwrap().issue;
        (issue.state, issue.state_name)
    };
    assert_eq!(state(), (State::Open, "open".to_owned()));
    // The label is made, once.
    for _ in 0..2 {
        github.move_to("#1", Target::InProgress).unwrap();
        assert_eq!(there.labels(number), ["ready", "in progress"]);
    }
    assert_eq!(state(), (State::InProgress, "in progress".to_owned()));
    there.close(number, "not_planned");
    assert_eq!(state(), (State::Cancelled, "closed as not planned".to_owned()));
    github.move_to("#1", Target::Done).unwrap();
    assert_eq!(state(), (State::Done, "closed".to_owned()));
    assert_eq!(
        (there.state(number).as_str(), there.labels(number)),
        ("completed", vec!["ready".to_owned()])
    );
    github.move_to("#1", Target::Done).unwrap();
    there.close(number, "duplicate");
    assert_eq!(state().0, State::Cancelled);
    github.move_to("#1", Target::InProgress).unwrap();
    assert_eq!(state().0, State::InProgress);
    let writes: Vec<String> =
        there.writes().into_iter().map(|it| format!("{} {}", it.what, it.text)).collect();
    assert_eq!(
        writes,
        [
            "labels.create in progress",
            "issue-labels.add in progress",
            "issues.update closed completed",
            "issue-labels.remove in progress",
            "issue-labels.add in progress",
            "issues.update open",
        ]
    );
    there.delete(number);
    assert!(github.move_to("#1", Target::Done).is_err());
}

#[test]
fn the_label_of_what_is_in_progress_may_be_called_otherwise() {
    let there = pretended::GitHub::start().unwrap();
    let settings = Settings {
        url: format!("{}/", there.url()),
        project: "Acme/Harness".to_owned(),
        in_progress: "Doing / now, ü".to_owned(),
        ..Settings::default()
    };
    let github = GitHub::new(settings, " test-key\n", Arc::new(|_| true)).unwrap();
    there.issue(&Made::default());
    github.move_to("#1", Target::InProgress).unwrap();
    assert_eq!(github.ready(&filter()).unwrap()[0].state, State::InProgress);
    github.move_to("#1", Target::Done).unwrap();
    assert_eq!(there.labels(1), ["ready"]);
}

#[test]
fn only_what_we_wrote_ourselves_is_ours() {
    let (there, github, _) = github();
    there.issue(&Made::default());
    let copied = marker().below("Mine!", Form::Hidden);
    there.comment(1, "ada", &copied);
    there.issue(&Made {
        body: &Marker::new("issue", "1").below("x", Form::Hidden),
        ..Made::default()
    });
    github.withdraw("#1", &marker()).unwrap();
    github.post("#1", "Ours.", &marker()).unwrap();
    github.post("#1", "Ours.", &marker()).unwrap();
    let by: Vec<String> = there.said(1).into_iter().map(|it| it.by).collect();
    assert_eq!(by, ["ada", "windlass"]);
    let comments = github.look("#1").unwrap().unwrap().comments;
    assert_eq!(comments.iter().map(|it| it.author.is_me).collect::<Vec<_>>(), [false, true]);
    github.withdraw("#1", &marker()).unwrap();
    assert_eq!(there.said(1)[0].body, copied);
    let new = NewIssue { filter: filter(), title: "New".to_owned(), body: String::new() };
    assert_eq!(github.create(&new, &Marker::new("issue", "1")).unwrap(), "#3");
}

#[test]
fn what_we_made_is_found_when_people_have_worked_on_it() {
    let (there, github, _) = github();
    let new = NewIssue { filter: filter(), title: "Gap".to_owned(), body: "Said.".to_owned() };
    let id = github.create(&new, &marker()).unwrap();
    let (_, body) = there.text(1);
    there.edit(1, &format!("{}\r\n\r\nAnd more.", body.replace('\n', "\r\n")));
    there.rename(1, "Another title");
    there.unlabel(1, "ready");
    there.close(1, "completed");
    assert_eq!(github.create(&new, &marker()).unwrap(), id);
    assert_eq!(there.numbers(), [1]);
}

#[test]
fn what_is_too_long_is_cut_and_keeps_its_marker() {
    let (there, github, _) = github();
    there.issue(&Made::default());
    let text = "ü".repeat(70_000);
    for _ in 0..2 {
        github.post("#1", &text, &marker()).unwrap();
    }
    let said = there.said(1);
    assert_eq!(said.len(), 1);
    assert_eq!(Marker::of(&said[0].body), Some(marker()));
    assert!(said[0].body.contains("… and 5000 characters more, which GitHub does not take."));
}

#[test]
fn projects_are_those_that_the_key_sees() {
    let (there, github, _) = github();
    there.repository("acme/other");
    let ids: Vec<String> = github.projects().unwrap().into_iter().map(|it| it.id).collect();
    assert_eq!(ids, ["acme/harness", "acme/other"]);
    there.turn_issues_off();
    there.pages_of(1);
    let ids: Vec<String> = github.projects().unwrap().into_iter().map(|it| it.id).collect();
    assert_eq!(ids, ["acme/other"]);
}

#[test]
fn somebody_who_works_on_an_issue_in_a_pull_request_is_named() {
    let (there, github, _) = github();
    there.pages_of(1);
    let number = there.issue(&Made::default());
    let linked = || github.look("#1").unwrap().unwrap().linked.map(|it| (it.name, it.by.name));
    let asks = there.pull("ada", "fix", "Fix it");
    there.edit(asks, "See #1, and #12.");
    assert_eq!(linked(), None, "it only names it");
    there.edit(asks, "Closes #1");
    assert_eq!(linked(), Some(("#2".to_owned(), "ada".to_owned())));
    there.close(asks, "completed");
    assert_eq!(linked(), None, "what is closed is nobody's work any more");
    // Ours is our own work; another that only names it counts once somebody has connected the two.
    let ours = there.pull("windlass", "windlass/1", "Ours");
    there.edit(ours, "Fixes #1");
    let named = there.pull("bob", "bobs", "Bob's");
    there.edit(named, "About #1");
    assert_eq!(linked(), None);
    there.connect(number);
    assert_eq!(linked(), Some(("#4".to_owned(), "bob".to_owned())));
    there.disconnect(number);
    assert_eq!(linked(), None);
    // An issue that names it is no pull request.
    there.issue(&Made { body: "Closes #1", ..Made::default() });
    assert_eq!(linked(), None);
}
