use windlass_trackerkit::fault::Fault;
use windlass_trackerkit::github::{NewIssue as Made, limited, secondary};

use super::*;
use crate::Back;

/// An error, and what to do about it.
fn told(error: &TrackerError) -> String {
    format!("{error}\n→ {}\n", error.next_step())
}

/// Everything that can happen to a request and passes.
fn passing() -> Vec<Fault> {
    vec![
        Fault::CutBefore,
        Fault::CutAfter,
        Fault::status(502),
        Fault::status(503),
        Fault::status(500),
        limited(403, 1_795_036_082, 1_795_036_100),
        secondary(429, Some(3)),
    ]
}

/// Does everything once, and looks at what came of it.
fn everything_once(there: &pretended::GitHub, github: &GitHub, what: &str) {
    let number = there.issue(&Made::default());
    let id = format!("#{number}");
    let key = format!("{number}");
    let begun = there.numbers().len();
    github.post(&id, "Begun.", &Marker::new("claim", &key)).expect(what);
    github.post(&id, "Another.", &Marker::new("claim", "other")).expect(what);
    github.withdraw(&id, &Marker::new("claim", "other")).expect(what);
    github.move_to(&id, Target::InProgress).expect(what);
    assert_eq!(there.labels(number), ["ready", "in progress"], "{what}");
    let new = NewIssue { filter: filter(), title: "Gap".to_owned(), body: String::new() };
    let made = github.create(&new, &Marker::new("issue", &key)).expect(what);
    assert_eq!(there.numbers().len(), begun + 1, "{what}: {made}");
    github.move_to(&id, Target::Done).expect(what);
    assert_eq!(there.said(number).len(), 1, "{what}");
    assert_eq!(
        (there.state(number).as_str(), there.labels(number).len()),
        ("completed", 1),
        "{what}"
    );
    assert!(there.faults().is_empty(), "{what} was met");
}

#[test]
fn whatever_passes_leaves_one_of_each() {
    for fault in passing() {
        for kind in [
            "comments.create",
            "comments.list",
            "comments.delete",
            "issues.create",
            "issues.get",
            "issues.list",
            "issues.update",
            "issue-labels.add",
            "issue-labels.remove",
            "labels.create",
            "labels.get",
            "user.get",
        ] {
            let (there, github, waits) = github();
            there.faults().add(kind, fault.clone());
            everything_once(&there, &github, &format!("{fault:?} at {kind}"));
            assert_eq!(waits.lock().unwrap().len(), 1);
        }
    }
}

#[test]
fn a_write_of_which_nothing_is_heard_is_looked_for() {
    let (there, github, waits) = github();
    for kind in ["comments.create", "issues.create", "issues.update"] {
        there.faults().add(kind, Fault::SilenceAfter);
    }
    // Several in a row, of several kinds.
    for fault in [Fault::status(502), Fault::CutAfter] {
        there.faults().add("comments.list", fault);
    }
    everything_once(&there, &github, "silence");
    assert_eq!(*waits.lock().unwrap(), [1, 2, 4, 1, 1]);
}

#[test]
fn github_is_left_alone_for_as_long_as_it_asks() {
    let (there, github, waits) = github();
    there.issue(&Made::default());
    let now_s = 1_795_036_082;
    for fault in [
        limited(403, now_s, now_s + 600),
        limited(429, now_s, now_s + 1),
        secondary(403, Some(7)),
        secondary(403, None),
        secondary(429, None),
        Fault::Answer {
            status: 503,
            headers: vec![("retry-after".to_owned(), "9".to_owned())],
            body: "<html>".to_owned(),
        },
        // It says that nothing is left, and not until when.
        Fault::Answer {
            status: 403,
            headers: vec![("x-ratelimit-remaining".to_owned(), "0".to_owned())],
            body: String::new(),
        },
    ] {
        there.faults().add("comments.create", fault);
    }
    github.post("#1", "Begun.", &marker()).unwrap();
    assert_eq!(*waits.lock().unwrap(), [601, 2, 7, 60, 60, 9, 60]);
    assert_eq!(there.said(1).len(), 1);
}

#[test]
fn nobody_waits_for_longer_than_they_want() {
    let there = pretended::GitHub::start().unwrap();
    let settings =
        Settings { url: there.url(), project: REPOSITORY.to_owned(), ..Settings::default() };
    let github = GitHub::new(settings, "test-key", Arc::new(|_| false)).unwrap();
    there.faults().add("", limited(403, 0, 3600));
    let error = github.ready(&filter()).unwrap_err();
    // It has said itself how long that is.
    assert_eq!(error.back(), Some(Back::In(Duration::from_secs(3_601))), "{error}");
    assert!(error.to_string().starts_with("GitHub is limited until "), "{error}");
    there.faults().add("", Fault::CutBefore);
    let error = github.ready(&filter()).unwrap_err();
    assert!(matches!(error, TrackerError::Unreachable { .. }), "{error}");
    drop(there);
    let error = github.ready(&filter()).unwrap_err();
    assert!(matches!(error, TrackerError::Unreachable { .. }), "{error}");
}

#[test]
fn an_issue_is_gone_only_where_its_repository_can_be_seen() {
    let (there, github, _) = github();
    there.issue(&Made::default());
    there.delete(1);
    assert_eq!(github.look("#1").unwrap(), None);
    there.hide_from("windlass");
    let error = github.look("#1").unwrap_err();
    assert!(error.to_string().contains("is not there for this key"), "{error}");
}

#[test]
fn who_may_not_come_in_is_told_why_and_what_to_do() {
    let (there, github, _) = github();
    there.issue(&Made::default());
    let mut said = String::new();
    let mut tell = |error: TrackerError| said.push_str(&told(&error));
    there.only_show_to("windlass");
    tell(github.post("#1", "Begun.", &marker()).unwrap_err());
    tell(github.move_to("#1", Target::Done).unwrap_err());
    assert_eq!(there.writes(), []);
    there.hide_from("windlass");
    tell(github.ready(&filter()).unwrap_err());
    tell(github.post("#1", "Begun.", &marker()).unwrap_err());
    there.expire("test-key");
    tell(github.ready(&filter()).unwrap_err());
    // Somebody puts another key in its place.
    there.user("boss", "another-key");
    let (github, _) = with_key(&there, "another-key");
    tell(github.ready(&Filter { label: "redy".to_owned(), ..filter() }).unwrap_err());
    tell(github.ready(&Filter { project: "acme/other".to_owned(), ..filter() }).unwrap_err());
    assert_eq!(github.ready(&Filter { label: "bug".to_owned(), ..filter() }).unwrap(), []);
    assert_eq!(github.ready(&Filter { label: String::new(), ..filter() }).unwrap().len(), 1);
    there.turn_issues_off();
    tell(github.ready(&filter()).unwrap_err());
    insta::assert_snapshot!(said, @r"
    GitHub refuses: Resource not accessible by personal access token
    → give the key in GITHUB_TOKEN the right to read and write issues and pull requests of acme/harness
    GitHub refuses: Resource not accessible by personal access token
    → give the key in GITHUB_TOKEN the right to read and write issues and pull requests of acme/harness
    GitHub refuses: acme/harness is not there for this key: Not Found
    → look whether acme/harness is right, has issues, and may be seen with the key in GITHUB_TOKEN
    GitHub refuses: acme/harness has no issue #1, or none that this key may see
    → take another issue
    GitHub does not accept the key: Bad credentials
    → put a key into GITHUB_TOKEN that is valid and may read and write issues
    GitHub refuses: acme/harness has no label `redy`
    → make the label and put it on issues that are ready, or name another with --label
    GitHub refuses: it is acme/harness, and not acme/other
    → name acme/harness
    GitHub refuses: acme/harness is not there for this key: Issues has been disabled in this repository.
    → look whether acme/harness is right, has issues, and may be seen with the key in GITHUB_TOKEN
    ");
}

#[test]
fn what_is_no_key_or_no_repository_is_said_at_once() {
    let new = |url: &str, project: &str, key: &str| {
        let settings =
            Settings { url: url.to_owned(), project: project.to_owned(), ..Settings::default() };
        told(&GitHub::new(settings, key, Arc::new(|_| true)).unwrap_err())
    };
    let said = [
        new(URL, REPOSITORY, " "),
        new(URL, REPOSITORY, "test\nkey"),
        new("http://github.example", REPOSITORY, "test-key"),
        new(URL, "harness", "test-key"),
        new(URL, "acme/../user", "test-key"),
    ];
    assert!(said.iter().all(|it| !it.contains("test-key")));
    insta::assert_snapshot!(said.concat(), @r"
    GitHub does not accept the key: there is none
    → put a key into GITHUB_TOKEN that is valid and may read and write issues
    GitHub does not accept the key: it has characters that no key has
    → put a key into GITHUB_TOKEN that is valid and may read and write issues
    GitHub refuses: a key is not sent to http://github.example, where others could read it on the way
    → use a base URL that begins with https://
    GitHub refuses: `harness` is no repository
    → name one as `owner/name`
    GitHub refuses: `acme/../user` is no repository
    → name one as `owner/name`
    ");
    let nowhere = GitHub::new(Settings::default(), "test-key", Arc::new(|_| true)).unwrap();
    for error in [
        nowhere.ready(&Filter::default()).unwrap_err(),
        nowhere.look("#1").unwrap_err(),
        nowhere.move_to("#1", Target::Done).unwrap_err(),
        nowhere.pulls().look(1).unwrap_err(),
    ] {
        assert_eq!(error.to_string(), "GitHub refuses: nobody has said which repository");
    }
}

#[test]
fn the_key_is_shown_to_nobody_else() {
    let (there, github, _) = github();
    assert!(!format!("{github:?}").contains("test-key"));
    assert!(!format!("{:?}", github.pulls()).contains("test-key"));
    let says = |status: u16, body: &str| Fault::Answer {
        status,
        headers: Vec::new(),
        body: body.to_owned(),
    };
    let elsewhere = pretended::GitHub::start().unwrap();
    let link = format!("<{}/user>; rel=\"next\"", elsewhere.url());
    let link = vec![("link".to_owned(), link)];
    let moved = vec![("location".to_owned(), format!("{}/user?k=test-key", elsewhere.url()))];
    for fault in [
        says(401, r#"{"message":"who is test-key?"}"#),
        says(403, r#"{"message":"test-key\u001b[31m may\nnot"}"#),
        says(422, r#"{"message":"no","errors":[{"message":"test-key"}]}"#),
        says(200, "<html>test-key</html>"),
        says(200, r#"[{"number":"test-key"}]"#),
        Fault::Answer { status: 200, headers: link, body: "[]".to_owned() },
        Fault::Answer { status: 301, headers: moved, body: String::new() },
    ] {
        there.faults().add("issues.list", fault.clone());
        let error = github.ready(&filter()).unwrap_err();
        let shown = format!("{error:?} {}", told(&error));
        assert!(!shown.contains("test-key") && !shown.contains('\u{1b}'), "{fault:?}: {shown}");
    }
    let asked = there.asked();
    assert!(asked.iter().all(|it| it == "issues.list"), "{asked:?}");
    assert_eq!(elsewhere.asked(), [""; 0]);
}

#[test]
fn what_is_no_github_is_strange() {
    let (there, github, _) = github();
    let body = "<html>Welcome to the hotel</html>".to_owned();
    there.faults().add("", Fault::Answer { status: 200, headers: Vec::new(), body });
    let error = github.ready(&filter()).unwrap_err();
    insta::assert_snapshot!(told(&error), @r"
    GitHub answers something else than was expected: /repos/acme/harness/issues: expected value at line 1 column 1
    → look whether the base URL is right, and whether there is a newer Windlass
    ");
}

#[test]
fn an_issue_that_is_gone_is_gone_whatever_is_done_about_it() {
    let (there, github, _) = github();
    there.issue(&Made::default());
    there.delete(1);
    assert_eq!(github.look("#1").unwrap(), None);
    github.withdraw("#1", &marker()).unwrap();
    let error = github.post("#1", "Begun.", &marker()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "GitHub refuses: acme/harness has no issue #1, or none that this key may see"
    );
    assert_eq!(there.writes(), []);
}
