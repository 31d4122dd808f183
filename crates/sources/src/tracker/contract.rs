//! What every tracker keeps to, said once: each of them passes through here in its own tests.

use super::{Filter, Issue, Marker, NewIssue, State, Target, Tracker, TrackerError};

/// Goes through everything that a tracker promises; the filter names a project with the label `ready` or a place for it.
pub(crate) fn holds(tracker: &dyn Tracker, filter: &Filter) {
    let id = create_twice_is_one(tracker, filter);
    post_twice_is_one(tracker, &id);
    the_oldest_claim_comes_first_and_one_is_taken_back(tracker, &id);
    move_twice_is_once(tracker, filter, &id);
    hostile_text_comes_back_as_it_was(tracker, filter);
    assert_eq!(tracker.look("no-such-issue-4711").expect("asked"), None);
    assert!(tracker.projects().expect("asked").iter().any(|it| it.id == filter.project));
}

fn listed(tracker: &dyn Tracker, filter: &Filter, id: &str) -> Option<Issue> {
    tracker.ready(filter).expect("a list").into_iter().find(|issue| issue.id == id)
}

fn create_twice_is_one(tracker: &dyn Tracker, filter: &Filter) -> String {
    let before = tracker.ready(filter).expect("a list").len();
    let marker = Marker::new("issue", "c0ffee");
    let body = "Nothing says what `/login` does.\n\n- [ ] it is said";
    let new = NewIssue {
        filter: filter.clone(),
        title: "Spec gap: login: \"what\" & why".to_owned(),
        body: body.to_owned(),
    };
    let id = tracker.create(&new, &marker).expect("made");
    assert_eq!(tracker.create(&new, &marker).expect("there already"), id);
    let others = tracker.create(&new, &Marker::new("issue", "c0ffee2")).expect("another");
    assert_ne!(others, id);
    assert_eq!(tracker.ready(filter).expect("a list").len(), before + 2);
    let issue = listed(tracker, filter, &id).expect("what was made is listed");
    assert_eq!(issue.title, new.title);
    assert_eq!(issue.state, State::Open);
    assert!(issue.labels.contains(&filter.label), "{issue:?}");
    assert!(!issue.created.is_empty() && issue.blocked_by.is_empty());
    assert_eq!(Marker::of(&issue.body), Some(marker));
    assert_eq!(Marker::stripped(&issue.body), body);
    let louder = Filter { label: filter.label.to_uppercase(), ..filter.clone() };
    assert!(listed(tracker, &louder, &id).is_some_and(|it| it.has_label(&louder.label)));
    let elsewhere = Filter { label: "some other label".to_owned(), ..filter.clone() };
    match tracker.ready(&elsewhere) {
        Ok(issues) => assert!(issues.iter().all(|issue| issue.id != id)),
        Err(error) => assert!(matches!(error, TrackerError::Refused { .. }), "{error}"),
    }
    id
}

fn markers(tracker: &dyn Tracker, id: &str) -> Vec<Marker> {
    let detail = tracker.look(id).expect("asked").expect("it is there");
    assert!(detail.comments.iter().all(|it| it.author.is_me && !it.at.is_empty()));
    let ids: std::collections::BTreeSet<_> = detail.comments.iter().map(|it| &it.id).collect();
    assert_eq!(ids.len(), detail.comments.len());
    detail.comments.iter().filter_map(|comment| Marker::of(&comment.body)).collect()
}

fn post_twice_is_one(tracker: &dyn Tracker, id: &str) {
    let marker = Marker::new("claim", "aa01");
    for _ in 0..2 {
        tracker.post(id, "Harness iteration 1 starting.", &marker).expect("posted");
    }
    let detail = tracker.look(id).expect("asked").expect("it is there");
    let [comment] = &detail.comments[..] else { panic!("{:?}", detail.comments) };
    assert_eq!(Marker::stripped(&comment.body), "Harness iteration 1 starting.");
    assert_eq!(markers(tracker, id), [marker]);
}

fn the_oldest_claim_comes_first_and_one_is_taken_back(tracker: &dyn Tracker, id: &str) {
    let claim = |key| Marker::new("claim", key);
    tracker.post(id, "Another starts.", &claim("aa02")).expect("posted");
    tracker.post(id, "And a third.", &claim("aa00")).expect("posted");
    assert_eq!(markers(tracker, id), [claim("aa01"), claim("aa02"), claim("aa00")]);
    for _ in 0..2 {
        tracker.withdraw(id, &claim("aa02")).expect("taken back");
    }
    tracker.withdraw(id, &claim("ffff")).expect("there is nothing to take back");
    assert_eq!(markers(tracker, id), [claim("aa01"), claim("aa00")]);
    tracker.post(id, "Another, again.", &claim("aa02")).expect("posted");
    assert_eq!(markers(tracker, id), [claim("aa01"), claim("aa00"), claim("aa02")]);
}

fn move_twice_is_once(tracker: &dyn Tracker, filter: &Filter, id: &str) {
    for _ in 0..2 {
        tracker.move_to(id, Target::InProgress).expect("moved");
        let issue = listed(tracker, filter, id).expect("who works on it still finds it");
        assert_eq!(issue.state, State::InProgress);
    }
    for _ in 0..2 {
        tracker.move_to(id, Target::Done).expect("moved");
        assert_eq!(listed(tracker, filter, id), None);
        let detail = tracker.look(id).expect("asked").expect("it is there");
        assert_eq!(detail.issue.state, State::Done);
        assert_eq!(detail.comments.len(), 3);
    }
}

/// What looks like a tracker's own form, within what we say, is what we say.
fn hostile_text_comes_back_as_it_was(tracker: &dyn Tracker, filter: &Filter) {
    let text = "One\n\n## Comments\n\n### Ada · 2026-11-18T21:08:02Z\n\n\\### Ada · 2026-11-18T21:08:02Z\n\
                ---\nstate: done\n---\n<!-- windlass claim 0000 -->\n\nthe end ü 🦀";
    let new = NewIssue {
        filter: filter.clone(),
        title: "---".to_owned(),
        body: "---\nstate: done\n---\n`windlass issue 00`\n\nnothing".to_owned(),
    };
    let id = tracker.create(&new, &Marker::new("issue", "beef")).expect("made");
    let marker = Marker::new("progress", "dd01");
    for _ in 0..2 {
        tracker.post(&id, text, &marker).expect("posted");
    }
    let detail = tracker.look(&id).expect("asked").expect("it is there");
    assert_eq!(detail.issue.state, State::Open);
    let [comment] = &detail.comments[..] else { panic!("{:?}", detail.comments) };
    assert_eq!(Marker::of(&comment.body), Some(marker.clone()));
    assert_eq!(Marker::stripped(&comment.body), text);
    tracker.withdraw(&id, &marker).expect("taken back");
    assert_eq!(tracker.look(&id).expect("asked").expect("there").comments, []);
}
