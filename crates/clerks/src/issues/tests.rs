//! Selection and claims, on a folder of Markdown files.

use std::fs;
use std::path::Path;

use windlass_sources::tracker::Marker;
use windlass_sources::tracker::folder::Folder;

use super::claim::{CLAIM, FAILED, RELEASED};
use super::select::{Whose, whose};
use super::*;

fn folder(top: &Path, me: &str) -> Folder {
    Folder::of(top, "issues", Box::new(|| 1_800_000_000_000), Box::new(|_| true)).called(me)
}

fn put(top: &Path, id: &str, front: &str) {
    fs::create_dir_all(top.join("issues")).unwrap();
    fs::write(
        top.join(format!("issues/{id}.md")),
        format!("---\nlabels: [ready]\n{front}---\n\n# Title of {id}\n\nDo it.\n"),
    )
    .unwrap();
}

fn wanted() -> Wanted {
    let filter = Filter { project: "issues".to_owned(), team: None, label: "ready".to_owned() };
    Wanted { filter, only: None }
}

fn told(selection: &Selection) -> String {
    let chosen = selection.chosen.as_ref().map_or("none", |it| it.issue.id.as_str());
    let left: Vec<String> =
        selection.left_out.iter().map(|it| format!("{}: {}", it.id, it.why)).collect();
    format!("{chosen}\n{}", left.join("\n"))
}

#[test]
fn the_most_urgent_that_nobody_has_comes_next_and_every_exclusion_is_explained() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path();
    put(top, "A-1", "priority: 3\n");
    put(top, "A-2", "priority: 1\nblocked_by: [A-1]\n");
    put(top, "A-3", "priority: 1\nassignee: Ada\n");
    put(top, "A-4", "priority: 2\nstate: in progress\n");
    put(top, "A-5", "priority: 2\n");
    put(top, "A-6", "priority: 2\n");
    put(top, "A-7", "state: done\n");
    put(top, "A-8", "");
    let tracker = folder(top, "Windlass");
    tracker.post("A-5", "Harness iteration 1 starting.", &Marker::new(CLAIM, "b0b")).unwrap();
    let known = Known { settled: vec![("A-6".to_owned(), "completed it")], ..Known::default() };
    let selection = select(&tracker, &wanted(), &known, All::Yes).unwrap();
    assert_eq!(
        told(&selection),
        "A-1\n\
         A-2: it is blocked by A-1\n\
         A-3: Ada has it: it is assigned to them\n\
         A-4: somebody has it: it is in progress without a claim\n\
         A-5: another Windlass has claimed it (Windlass, 2027-01-15T08:00:00Z); `windlass issues release A-5` ends that claim\n\
         A-6: this loop completed it before; `windlass issues release A-6` lets it be taken again"
    );
    let waiting: Vec<&str> = selection.waiting.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(waiting, ["A-8"]);
    // One that a person names counts whatever became of it before, and not if somebody has it.
    let only = |id: &str| Wanted { only: Some(id.to_owned()), ..wanted() };
    assert!(told(&select(&tracker, &only("A-6"), &known, All::No).unwrap()).starts_with("A-6"));
    assert!(told(&select(&tracker, &only("A-5"), &known, All::No).unwrap()).starts_with("none"));
    let none = told(&select(&tracker, &only("A-99"), &known, All::No).unwrap());
    assert!(none.contains("has no such issue"), "{none}");
}

#[test]
fn of_two_who_claim_one_issue_the_first_has_it_and_ends_give_it_back() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path();
    put(top, "A-1", "");
    let tracker = folder(top, "Windlass");
    let claim = |key: &str| tracker.post("A-1", "starting", &Marker::new(CLAIM, key)).unwrap();
    claim("aaa");
    claim("bbb");
    let whose_is = |own: &str, known: &Known| {
        whose(&tracker.look("A-1").unwrap().unwrap(), &wanted(), known, own)
    };
    let known = Known::default();
    assert_eq!(whose_is("aaa", &known), Whose::Ours);
    assert_eq!(whose_is("bbb", &known), Whose::Taken("Windlass".to_owned()));
    assert!(matches!(whose_is("zzz", &known), Whose::Taken(_)));
    tracker.withdraw("A-1", &Marker::new(CLAIM, "aaa")).unwrap();
    assert_eq!(whose_is("bbb", &known), Whose::Ours);
    // It is in progress without a claim of anybody's: a person's.
    tracker.move_to("A-1", windlass_sources::tracker::Target::InProgress).unwrap();
    assert!(matches!(whose_is("bbb", &known), Whose::Changed(_)));
    // What failed waits for a person; what was released waits for nobody.
    tracker.post("A-1", "failed", &Marker::new(FAILED, "bbb")).unwrap();
    let chosen = |known: &Known| told(&select(&tracker, &wanted(), known, All::No).unwrap());
    assert!(chosen(&known).contains("it failed, and waits for a person"), "{}", chosen(&known));
    claim("ccc");
    assert!(chosen(&known).contains("another Windlass"), "{}", chosen(&known));
    tracker.post("A-1", "released", &Marker::new(RELEASED, "ccc")).unwrap();
    assert!(chosen(&known).starts_with("A-1"), "{}", chosen(&known));
    assert!(matches!(whose_is("ccc", &known), Whose::Changed(_)));
}

#[test]
fn an_issue_that_is_called_otherwise_since_it_was_claimed_here_is_said_to_be_ours() {
    let dir = tempfile::tempdir().unwrap();
    let (top, state) = (dir.path(), dir.path().join("state"));
    put(top, "B-1", "");
    let tracker = folder(top, "Windlass");
    let key = Secret::of(&state, "issues-1").unwrap().claim("issues-1", "A-1");
    tracker.post("B-1", "starting", &Marker::new(CLAIM, &key)).unwrap();
    let found = |names: &[&str]| {
        let names = names.iter().map(|it| (*it).to_owned()).collect();
        let known = Known { present: Secret::of_the_present(&state), names, ..Known::default() };
        told(&select(&tracker, &wanted(), &known, All::No).unwrap())
    };
    let ours = "B-1: a loop of this repository has claimed it as A-1; `windlass issues release B-1` ends that claim";
    assert_eq!(found(&["A-0", "A-1"]), format!("none\n{ours}"));
    assert!(found(&["A-0"]).contains("another Windlass has claimed it"));
    // Once that loop is over, it is nobody's, by whatever name.
    Secret::over(&state, "issues-1").unwrap();
    let past = Known {
        past: Secret::of_the_past(&state),
        names: vec!["A-1".to_owned()],
        ..Known::default()
    };
    assert!(told(&select(&tracker, &wanted(), &past, All::No).unwrap()).starts_with("B-1"));
}

#[test]
fn what_an_earlier_run_here_claimed_is_nobodys_once_that_is_over() {
    let dir = tempfile::tempdir().unwrap();
    let (top, state) = (dir.path(), dir.path().join("state"));
    put(top, "A-1", "");
    let tracker = folder(top, "Windlass");
    let secret = Secret::of(&state, "issues-1").unwrap();
    let key = secret.claim("issues-1", "A-1");
    tracker.post("A-1", "starting", &Marker::new(CLAIM, &key)).unwrap();
    tracker.move_to("A-1", windlass_sources::tracker::Target::InProgress).unwrap();
    let chosen = || {
        let known = Known { past: Secret::of_the_past(&state), ..Known::default() };
        told(&select(&tracker, &wanted(), &known, All::No).unwrap())
    };
    assert!(chosen().contains("another Windlass"), "{}", chosen());
    Secret::over(&state, "issues-1").unwrap();
    assert!(chosen().starts_with("A-1"), "{}", chosen());
}
