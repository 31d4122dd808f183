//! Linear, tried against a pretended one that executes its published schema.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use windlass_trackerkit::fault::Fault;
use windlass_trackerkit::linear::{self as pretended, Linear as Pretended, schema};

use super::query::DOCUMENTS;
use super::{Linear, Settings};
use crate::tracker::marker::Form;
use crate::tracker::{
    Detail, Filter, Issue, Marker, NewIssue, Pause, State, Target, Tracker, TrackerError, contract,
};

const PROJECT: &str = "5eed0f00d1e5";

/// A client, and what it waited for.
struct Client {
    linear: Linear,
    waits: Arc<Mutex<Vec<Duration>>>,
}

impl Client {
    fn of(server: &Pretended, key: &str) -> Self {
        Client::with(server, key, Settings::default())
    }

    fn with(server: &Pretended, key: &str, settings: Settings) -> Self {
        let waits = Arc::new(Mutex::new(Vec::new()));
        let own = Arc::clone(&waits);
        let patience = move |pause: Pause| {
            own.lock().unwrap().push(pause.wait());
            true
        };
        let settings = Settings { url: server.url(), ..settings };
        Client { linear: Linear::new(settings, key, Arc::new(patience)).unwrap(), waits }
    }

    /// One that soon believes that nobody answers.
    fn hasty(server: &Pretended) -> Self {
        Client::with(server, "test-key", Settings { answer_ms_max: 300, ..Settings::default() })
    }

    fn waits(&self) -> Vec<Duration> {
        self.waits.lock().unwrap().clone()
    }

    fn ready(&self) -> Vec<Issue> {
        self.linear.ready(&filter()).unwrap()
    }

    fn look(&self, id: &str) -> Detail {
        self.linear.look(id).unwrap().unwrap()
    }
}

fn server() -> Pretended {
    Pretended::start().unwrap()
}

fn issue(server: &Pretended, title: &str) -> String {
    server.issue(&pretended::NewIssue { title, ..Default::default() })
}

fn filter() -> Filter {
    Filter { project: PROJECT.to_owned(), team: Some("MB90".to_owned()), label: "ready".to_owned() }
}

fn claim() -> Marker {
    Marker::new("claim", "5f0c")
}

fn wrote(server: &Pretended) -> Vec<(String, String)> {
    server.writes().into_iter().map(|write| (write.what, write.text)).collect()
}

#[test]
fn every_document_is_what_linear_understands() {
    for (name, document) in DOCUMENTS {
        if let Err(wrong) = schema::check(document) {
            panic!("{name}: {wrong}");
        }
        assert!(document.contains(&format!(" {name}")), "{name} has another name in its document");
    }
}

#[test]
fn it_keeps_to_what_every_tracker_does() {
    let server = server();
    server.label("some other label", None);
    contract::holds(&Client::of(&server, "test-key").linear, &filter());

    let scanty = Pretended::start().unwrap();
    scanty.label("some other label", None);
    scanty.page_max(1);
    contract::holds(&Client::of(&scanty, "ada-key").linear, &filter());
}

#[test]
fn an_issue_is_seen_whole() {
    let server = server();
    server.user("Grace", "grace-key");
    let id = server.issue(&pretended::NewIssue {
        title: "Log in\u{1b}[31m\nagain",
        body: "Say `why`.\u{0}\u{7}",
        priority: 2,
        ..Default::default()
    });
    let blocker = issue(&server, "first");
    let done = issue(&server, "done");
    let dropped = issue(&server, "dropped");
    for (one, how) in [(&blocker, "blocks"), (&done, "blocks"), (&dropped, "blocks")] {
        server.relate(one, how, &id);
    }
    server.relate(&id, "blocks", &issue(&server, "after"));
    server.relate(&issue(&server, "like it"), "related", &id);
    server.move_to(&done, "Done");
    server.move_to(&dropped, "Canceled");
    server.assign(&id, Some("Grace"));

    let client = Client::of(&server, "test-key");
    let all = client.ready();
    let seen = all.iter().find(|issue| issue.id == id).unwrap();
    assert_eq!(seen.title, "Log in [31m again");
    assert_eq!(seen.body, "Say `why`.\u{0}\u{7}");
    assert_eq!((seen.priority, &seen.labels[..]), (Some(2), &["ready".to_owned()][..]));
    assert_eq!((seen.state, seen.state_name.as_str()), (State::Open, "Backlog"));
    assert_eq!(seen.blocked_by, [blocker]);
    let assignee = seen.assignee.clone().unwrap();
    assert_eq!((assignee.name.as_str(), assignee.is_me), ("grace", false));
    assert!(seen.url.ends_with(&id) && seen.created.starts_with("2026-03-01T"));
    assert_eq!(client.look(&id).issue, *seen);
    assert!(Client::of(&server, "grace-key").look(&id).issue.assignee.unwrap().is_me);

    server.assign(&id, None);
    server.empty(&id);
    let bare = client.look(&id).issue;
    assert_eq!((bare.assignee, bare.body.as_str()), (None, ""));
}

#[test]
fn priorities_are_those_of_linear() {
    let server = server();
    for priority in 0..=4 {
        server.issue(&pretended::NewIssue { priority, ..Default::default() });
    }
    let mut seen: Vec<_> = Client::of(&server, "test-key").ready();
    seen.sort_by(|one, other| one.created.cmp(&other.created));
    let seen: Vec<_> = seen.into_iter().map(|issue| issue.priority).collect();
    assert_eq!(seen, [None, Some(1), Some(2), Some(3), Some(4)]);
}

#[test]
fn states_count_as_what_they_are_for() {
    let server = server();
    let ids: Vec<_> =
        ["Triage", "Todo", "In Progress", "In Review", "Done", "Canceled", "Duplicate"]
            .map(|state| {
                let id = issue(&server, state);
                server.move_to(&id, state);
                id
            })
            .into();
    let client = Client::of(&server, "test-key");
    let states: Vec<_> = ids.iter().map(|id| client.look(id).issue.state).collect();
    use State::{Cancelled, Done, InProgress, Open};
    assert_eq!(states, [Open, Open, InProgress, InProgress, Done, Cancelled, Cancelled]);
    let mut listed: Vec<_> = client.ready().into_iter().map(|issue| issue.id).collect();
    listed.sort();
    assert_eq!(listed, ids[..4]);

    // What we move issues to counts as done, whatever else its type is.
    let settings = Settings { done: "In Review".to_owned(), ..Settings::default() };
    let ours = Client::with(&server, "test-key", settings);
    assert_eq!(ours.look(&ids[3]).issue.state, Done);
    assert_eq!(ours.ready().len(), 3);
}

#[test]
fn only_what_the_filter_means_is_listed() {
    let server = server();
    server.team("OPS", &[("Todo", "unstarted"), ("Done", "completed")]);
    server.label("later", None);
    server.label("Ready", Some("OPS"));
    server.project("Other", "00000000beef", &["MB90", "OPS"]);
    let new = pretended::NewIssue::default;
    let ours = issue(&server, "ours");
    server.issue(&pretended::NewIssue { labels: &["later"], ..new() });
    server.issue(&pretended::NewIssue { project: None, ..new() });
    server.issue(&pretended::NewIssue { project: Some("Other"), ..new() });
    let of_ops =
        pretended::NewIssue { project: Some("Other"), team: "OPS", labels: &["Ready"], ..new() };
    let theirs = server.issue(&of_ops);
    let gone = issue(&server, "gone");
    server.delete(&gone);

    let client = Client::of(&server, "test-key");
    let listed = |project: &str, team: Option<&str>, label: &str| {
        let (project, label) = (project.to_owned(), label.to_owned());
        let filter = Filter { project, team: team.map(ToOwned::to_owned), label };
        let mut ids: Vec<_> =
            client.linear.ready(&filter).unwrap().into_iter().map(|issue| issue.id).collect();
        ids.sort();
        ids
    };
    for project in [PROJECT, "Harness", "harness", "harness-5eed0f00d1e5"] {
        for team in [None, Some("MB90"), Some("mb90"), Some("Team MB90")] {
            assert_eq!(listed(project, team, "ready"), [&*ours], "{project} {team:?}");
        }
    }
    assert_eq!(listed("Other", Some("OPS"), "READY"), [theirs]);
    assert_eq!(listed("Other", None, "ready").len(), 2);
    assert_eq!(listed(PROJECT, None, "").len(), 2);
    assert_eq!(client.linear.look(&gone).unwrap(), None);
    assert_eq!(client.linear.look("MB90-4711").unwrap(), None);
}

#[test]
fn what_is_not_there_is_said_with_what_is() {
    let server = server();
    server.project("Twin", "aaaa", &["MB90"]);
    server.project("twin", "bbbb", &["MB90"]);
    let client = Client::of(&server, "test-key");
    let error = |filter: Filter| {
        let error = client.linear.ready(&filter).unwrap_err();
        format!("{error}\n{}", error.next_step())
    };
    let filter = filter();
    insta::assert_snapshot!(error(Filter { project: "Harnes".to_owned(), ..filter.clone() }), @r"
    Linear refuses: there is no project Harnes
    name one that the key can see with --project: bbbb (twin), aaaa (Twin), 5eed0f00d1e5 (Harness)
    ");
    insta::assert_snapshot!(error(Filter { team: Some("MB9".to_owned()), ..filter.clone() }), @r"
    Linear refuses: there is no team MB9
    name one that the key can see with --team: MB90 (Team MB90)
    ");
    insta::assert_snapshot!(error(Filter { label: "raedy".to_owned(), ..filter.clone() }), @r"
    Linear refuses: there is no label raedy
    name one that the key can see with --label: ready
    ");
    insta::assert_snapshot!(error(Filter { project: "twin".to_owned(), ..filter }), @r"
    Linear refuses: more than one project is called twin
    say which: bbbb, aaaa
    ");
    let projects = client.linear.projects().unwrap();
    let ids: Vec<_> = projects.iter().map(|it| (it.id.as_str(), it.name.as_str())).collect();
    assert_eq!(ids, [("bbbb", "twin"), ("aaaa", "Twin"), (PROJECT, "Harness")]);
}

#[test]
fn a_hundred_and_twenty_issues_are_three_pages() {
    let server = server();
    let mut ids: Vec<_> = (0..120).map(|at| issue(&server, &format!("issue {at}"))).collect();
    let client = Client::of(&server, "test-key");
    let mut listed: Vec<_> = client.ready().into_iter().map(|issue| issue.id).collect();
    listed.sort();
    ids.sort();
    assert_eq!(listed, ids);
    assert_eq!(server.asked().iter().filter(|name| *name == "Issues").count(), 3);
}

#[test]
fn everything_is_there_however_short_pages_are() {
    let server = server();
    let id = issue(&server, "popular");
    let blockers: Vec<_> = (0..5).map(|at| issue(&server, &format!("first {at}"))).collect();
    for blocker in &blockers {
        server.relate(blocker, "blocks", &id);
    }
    server.label("two", None);
    server.label("three", None);
    server.relabel(&id, &["ready", "two", "three"]);
    let said: Vec<_> =
        (0..7).map(|at| server.comment(&id, Some("Ada"), &format!("comment {at}"))).collect();
    server.page_max(2);
    let client = Client::of(&server, "test-key");
    let seen = client.look(&id);
    assert_eq!(seen.comments.iter().map(|it| it.id.clone()).collect::<Vec<_>>(), said);
    assert_eq!((seen.issue.blocked_by.len(), seen.issue.labels.len()), (5, 3));
    assert_eq!(client.ready().len(), 6);
    for _ in 0..2 {
        for at in 0..5 {
            let marker = Marker::new("note", &at.to_string());
            client.linear.post(&id, "Said once.", &marker).unwrap();
        }
    }
    assert_eq!(client.look(&id).comments.len(), 12);
    for at in 0..5 {
        client.linear.withdraw(&id, &Marker::new("note", &at.to_string())).unwrap();
    }
    assert_eq!(client.look(&id).comments.len(), 7);
}

#[test]
fn what_was_said_is_there_once_and_only_ours_counts() {
    let server = server();
    let id = issue(&server, "one");
    let text = claim().below("Somebody copied our marker.", Form::Code);
    server.comment(&id, Some("Ada"), &text);
    server.comment(&id, None, &text);
    let client = Client::of(&server, "test-key");
    for _ in 0..3 {
        client.linear.post(&id, "Harness iteration 1 starting.", &claim()).unwrap();
    }
    let comments = client.look(&id).comments;
    let by: Vec<_> = comments.iter().map(|it| (it.author.name.as_str(), it.author.is_me)).collect();
    assert_eq!(by, [("ada", false), ("A bot", false), ("windlass", true)]);
    assert_eq!(Marker::stripped(&comments[2].body), "Harness iteration 1 starting.");
    assert!(comments.iter().all(|it| Marker::of(&it.body) == Some(claim())));

    // It is ours by its id too, when somebody took the marker out of it.
    server.reword(&comments[2].id, "reworded");
    client.linear.post(&id, "Harness iteration 1 starting.", &claim()).unwrap();
    assert_eq!(wrote(&server).len(), 1);

    for _ in 0..2 {
        client.linear.withdraw(&id, &claim()).unwrap();
    }
    assert_eq!(server.said(&id).len(), 2);
    client.linear.post(&id, "Once more.", &claim()).unwrap();
    client.linear.post(&id, "Once more.", &claim()).unwrap();
    assert_eq!(server.said(&id).len(), 3);
}

#[test]
fn many_that_say_the_same_at_once_say_it_once() {
    let server = server();
    server.user("Windlass", "second-key");
    let id = issue(&server, "wanted");
    let clients = ["test-key", "second-key"].repeat(3);
    let clients: Vec<_> = clients.into_iter().map(|key| Client::of(&server, key)).collect();
    // All have looked before the first of them writes.
    server.gather("commentCreate", clients.len());
    std::thread::scope(|scope| {
        for client in &clients {
            scope.spawn(|| client.linear.post(&id, "It begins.", &claim()).unwrap());
        }
    });
    assert_eq!(wrote(&server).len(), 1);
    assert_eq!(server.said(&id).len(), 1);
}

#[test]
fn two_that_claim_see_the_same_oldest_claim() {
    let server = server();
    server.user("Windlass", "second-key");
    let id = issue(&server, "wanted");
    let first = Client::of(&server, "test-key");
    let second = Client::of(&server, "second-key");
    // Even if both are written at the same moment.
    server.stand_still();
    std::thread::scope(|scope| {
        for (client, key) in [(&first, "a1"), (&second, "b2")] {
            let id = &id;
            scope.spawn(move || {
                client.linear.post(id, "It begins.", &Marker::new("claim", key)).unwrap();
            });
        }
    });
    let oldest = |client: &Client| Marker::of(&client.look(&id).comments[0].body).unwrap();
    assert_eq!(oldest(&first), oldest(&second));
    assert_eq!(first.look(&id), second.look(&id));
    let loser = if oldest(&first).key() == "a1" { (&second, "b2") } else { (&first, "a1") };
    loser.0.linear.withdraw(&id, &Marker::new("claim", loser.1)).unwrap();
    assert_eq!(server.said(&id).len(), 1);
}

#[test]
fn an_issue_is_moved_within_its_own_team() {
    let server = server();
    server.team(
        "OPS",
        &[("Todo", "unstarted"), ("in progress", "started"), ("Shipped", "completed")],
    );
    let id = issue(&server, "ours");
    let new = pretended::NewIssue { team: "OPS", project: None, labels: &[], ..Default::default() };
    let theirs = server.issue(&new);
    let client = Client::of(&server, "test-key");
    for id in [&id, &theirs] {
        for _ in 0..2 {
            client.linear.move_to(id, Target::InProgress).unwrap();
        }
        assert_eq!(client.look(id).issue.state, State::InProgress);
    }
    client.linear.move_to(&id, Target::Done).unwrap();
    let error = client.linear.move_to(&theirs, Target::Done).unwrap_err();
    insta::assert_snapshot!(format!("{error}\n{}", error.next_step()), @r"
    Linear refuses: the team OPS has no state Done
    name one of its states in windlass.toml: Shipped, in progress, Todo
    ");
    assert_eq!(wrote(&server).len(), 3);
    let missing = client.linear.move_to("MB90-4711", Target::Done).unwrap_err();
    insta::assert_snapshot!(format!("{missing}\n{}", missing.next_step()), @r"
    Linear refuses: there is no issue MB90-4711
    look in Linear whether it was deleted, or moved to a team that the key cannot see
    ");
}

fn gap() -> NewIssue {
    let (title, body) = ("Spec gap: login", "Nothing says what it does.");
    NewIssue { filter: filter(), title: title.to_owned(), body: body.to_owned() }
}

#[test]
fn an_issue_is_made_once_where_it_belongs() {
    let server = server();
    server.team("OPS", &[("Todo", "unstarted")]);
    server.project("Both", "b0b0", &["MB90", "OPS"]);
    let client = Client::of(&server, "test-key");
    let marker = Marker::new("gap", "01");
    let made = client.linear.create(&gap(), &marker).unwrap();
    assert_eq!(client.linear.create(&gap(), &marker).unwrap(), made);
    let seen = client.ready();
    assert_eq!((seen.len(), &seen[0].id, seen[0].title.as_str()), (1, &made, "Spec gap: login"));
    assert_eq!(Marker::stripped(&seen[0].body), "Nothing says what it does.");

    // What somebody deleted does not come back.
    server.delete(&made);
    assert_eq!(client.linear.create(&gap(), &marker).unwrap(), made);
    assert!(client.ready().is_empty());

    let error = |project: &str, team: Option<&str>| {
        let team = team.map(ToOwned::to_owned);
        let filter = Filter { project: project.to_owned(), team, label: "ready".to_owned() };
        let new = NewIssue { filter, ..gap() };
        let error = client.linear.create(&new, &Marker::new("gap", "02")).unwrap_err();
        format!("{error}\n{}", error.next_step())
    };
    insta::assert_snapshot!(error("b0b0", None), @r"
    Linear refuses: an issue is made in one team
    say which team it is for: OPS (Team OPS), MB90 (Team MB90)
    ");
    insta::assert_snapshot!(error("b0b0", Some("OPS")), @r"
    Linear refuses: the team OPS has no label ready
    make the label in Linear, or choose another
    ");
    let own_team = Filter { team: None, ..filter() };
    client
        .linear
        .create(&NewIssue { filter: own_team, ..gap() }, &Marker::new("gap", "03"))
        .unwrap();
    assert_eq!(server.issues().len(), 2);
}

/// Every write there is, by the field of the mutation, on an issue that has a comment of ours.
fn writes(client: &Client, id: &str) -> Vec<(&'static str, Result<(), TrackerError>)> {
    let old = Marker::new("old", "00");
    vec![
        ("commentCreate", client.linear.post(id, "Harness iteration 1 starting.", &claim())),
        ("issueUpdate", client.linear.move_to(id, Target::InProgress)),
        ("commentDelete", client.linear.withdraw(id, &old)),
        ("issueCreate", client.linear.create(&gap(), &Marker::new("gap", "01")).map(|_| ())),
    ]
}

/// Goes through every write, each of which meets a fault, and then again through all of them.
fn once_each(server: &Pretended, client: &Client, fault: &Fault) {
    let id = issue(server, "one");
    client.linear.post(&id, "Earlier.", &Marker::new("old", "00")).unwrap();
    for what in ["commentCreate", "issueUpdate", "commentDelete", "issueCreate"] {
        server.faults().add(what, fault.clone());
    }
    for _ in 0..2 {
        for (what, result) in writes(client, &id) {
            assert_eq!(result, Ok(()), "{what} after {fault:?}");
        }
    }
    assert!(server.faults().is_empty());
    let wrote = wrote(server);
    let names: Vec<_> = wrote.iter().map(|(what, _)| what.as_str()).collect();
    let once = ["commentCreate", "commentCreate", "issueUpdate", "commentDelete", "issueCreate"];
    assert_eq!(names, once, "{fault:?}");
    let [said] = &server.said(&id)[..] else { panic!("{:?}", server.said(&id)) };
    assert_eq!(Marker::of(&said.body), Some(claim()));
    assert_eq!((server.state(&id).as_str(), server.issues().len()), ("In Progress", 2));
}

#[test]
fn a_write_that_nobody_answered_happened_once() {
    let server = server();
    let client = Client::hasty(&server);
    once_each(&server, &client, &Fault::SilenceAfter);
    assert_eq!(client.waits(), [Duration::from_secs(1); 4]);
}

#[test]
fn a_write_that_was_cut_off_happened_once() {
    for fault in [Fault::CutAfter, Fault::CutBefore] {
        let server = server();
        let client = Client::of(&server, "test-key");
        once_each(&server, &client, &fault);
        assert_eq!(client.waits(), [Duration::from_secs(1); 4]);
    }
}

#[test]
fn a_write_that_met_a_broken_server_happened_once() {
    for status in [500, 502, 503, 504] {
        let server = server();
        let client = Client::of(&server, "test-key");
        once_each(&server, &client, &Fault::status(status));
    }
}

#[test]
fn who_asks_too_much_waits_as_long_as_linear_says() {
    let server = server();
    let client = Client::of(&server, "test-key");
    let id = issue(&server, "one");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let reset = now + Duration::from_secs(30 * 60);
    server
        .faults()
        .add("commentCreate", pretended::limited(u64::try_from(reset.as_millis()).unwrap()));
    let after = vec![("retry-after".to_owned(), "17".to_owned())];
    let plain = Fault::Answer { status: 429, headers: after, body: String::new() };
    server.faults().add("commentCreate", plain);
    server.faults().add("commentCreate", pretended::limited(1000));
    client.linear.post(&id, "It begins.", &claim()).unwrap();
    let waits = client.waits();
    // The clock went on since, but not for ten minutes.
    assert!(waits[0] <= Duration::from_secs(30 * 60) && waits[0] > Duration::from_secs(20 * 60));
    assert_eq!(waits[1..], [Duration::from_secs(17), Duration::from_secs(1)]);
    assert_eq!(wrote(&server).len(), 1);
}

#[test]
fn a_tracker_that_never_recovers_is_given_up() {
    let server = server();
    let client = Client::of(&server, "test-key");
    for _ in 0..20 {
        server.faults().add("issues", Fault::status(503));
    }
    let error = client.linear.ready(&filter()).unwrap_err();
    let said = format!("{error}\n{}", error.next_step());
    let place = server.url().trim_end_matches("/graphql").to_owned();
    insta::assert_snapshot!(said.replace(&place, "http://HERE"), @r"
    Linear at http://HERE has no answer: it answers with status 503
    wait until http://HERE can be reached
    ");
    assert_eq!(client.waits().len(), 9);

    let settings = Settings { url: server.url(), ..Settings::default() };
    let in_a_hurry = Linear::new(settings, "test-key", Arc::new(|_| false)).unwrap();
    let error = in_a_hurry.ready(&filter()).unwrap_err();
    assert!(matches!(error, TrackerError::Unreachable { .. }), "{error}");
    let later = server.asked().iter().filter(|name| *name == "Issues").count();
    assert_eq!(later, 11);
}

#[test]
fn a_key_that_expires_in_the_middle_is_said_to_be_needed() {
    let server = server();
    let client = Client::of(&server, "test-key");
    let id = issue(&server, "one");
    client.linear.post(&id, "It begins.", &claim()).unwrap();
    server.expire("test-key");
    let error = client.linear.move_to(&id, Target::InProgress).unwrap_err();
    insta::assert_snapshot!(format!("{error}\n{}", error.next_step()), @r"
    Linear does not accept the key: Authentication required, not authenticated
    put a personal API key of Linear (Settings, Security & access) in LINEAR_API_KEY
    ");
    server.user("Windlass", "new-key");
    Client::of(&server, "new-key").linear.move_to(&id, Target::InProgress).unwrap();
    Client::of(&server, "new-key").linear.post(&id, "It begins.", &claim()).unwrap();
    assert_eq!(wrote(&server).len(), 2);
}

#[test]
fn the_key_is_shown_to_nobody() {
    let server = server();
    let client = Client::of(&server, "secret-4711");
    let echo = r#"{"errors":[{"message":"the key \u001b[31msecret-4711\u0000 is bad"}]}"#;
    let (status, headers, body) = (400, Vec::new(), echo.to_owned());
    server.faults().add("", Fault::Answer { status, headers, body });
    let error = client.linear.projects().unwrap_err();
    assert_eq!(error.to_string(), "Linear refuses: the key [31m… is bad");
    assert!(!format!("{:?} {error:?}", client.linear).contains("4711"));
}

#[test]
fn what_is_no_key_is_not_sent_and_a_key_not_in_the_clear() {
    let made = |url: &str, key: &str| {
        let settings = Settings { url: url.to_owned(), ..Settings::default() };
        Linear::new(settings, key, Arc::new(|_| true)).unwrap_err().to_string()
    };
    assert_eq!(made(super::URL, " "), "Linear does not accept the key: there is none");
    let odd = "Linear does not accept the key: it has characters that no key has";
    assert_eq!(made(super::URL, "a\nb"), odd);
    assert!(!made("http://linear.example", "secret-4711").contains("4711"));
}

#[test]
fn answers_that_nobody_expects_are_said_to_be_strange() {
    let server = server();
    let client = Client::of(&server, "test-key");
    let strange = |body: &str| {
        let (status, headers, body) = (200, Vec::new(), body.to_owned());
        server.faults().add("", Fault::Answer { status, headers, body });
        client.linear.projects().unwrap_err().to_string()
    };
    let expected = "Linear answers something else than was expected: ";
    for body in ["", "<html>", "{}", r#"{"data":null}"#, r#"{"data":{"projects":[]}}"#] {
        assert!(strange(body).starts_with(expected), "{body}");
    }
    let odd = r#"{"errors":[{"extensions":null},{"message":null,"extensions":{"code":4}}]}"#;
    assert!(strange(odd).starts_with(expected), "{odd}");
    let silent = r#"{"errors":[{"extensions":null}],"data":null}"#;
    assert_eq!(strange(silent), "Linear refuses: it gives no reason");
    for status in [301, 404, 418] {
        server.faults().add("", Fault::Answer { status, headers: Vec::new(), body: String::new() });
        let error = client.linear.projects().unwrap_err();
        assert_eq!(error.to_string(), format!("{expected}it answers with status {status}"));
        assert!(error.next_step().contains("base URL"), "{}", error.next_step());
    }
    let huge = "x".repeat(33 << 20);
    let huge = strange(&huge);
    assert!(huge.ends_with(" has no answer: the answer has more than 32 MiB"), "{huge}");
    let forever =
        r#"{"data":{"projects":{"nodes":[],"pageInfo":{"hasNextPage":true,"endCursor":"a"}}}}"#;
    let answer = Fault::Answer { status: 200, headers: Vec::new(), body: forever.to_owned() };
    for _ in 0..400 {
        server.faults().add("", answer.clone());
    }
    let error = client.linear.projects().unwrap_err().to_string();
    assert_eq!(error, format!("{expected}a list has more than 400 pages"));
}

#[test]
fn hostile_texts_survive() {
    let server = server();
    let huge = format!("{}\u{202e}\u{0}\n`windlass claim 5f0c`", "ä\n".repeat(100_000));
    let id = server.issue(&pretended::NewIssue { body: &huge, ..Default::default() });
    let client = Client::of(&server, "test-key");
    server.comment(&id, Some("Ada"), &huge);
    let seen = client.look(&id);
    assert_eq!((&seen.issue.body, &seen.comments[0].body), (&huge, &huge));
    client.linear.post(&id, &huge, &Marker::new("note", "1")).unwrap();
    let ours = client.look(&id).comments.pop().unwrap();
    assert_eq!(Marker::of(&ours.body), Some(Marker::new("note", "1")));
    assert_eq!(Marker::stripped(&ours.body), huge.replace('\u{0}', ""));
}
