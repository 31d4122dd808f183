//! The clerk by itself: who is believed, what is written, and when.

use windlass_core::run::Item;
use windlass_core::value::Value;

use windlass_sources::features::Status;

use super::*;

/// A mission in a directory of its own.
struct Place {
    top: tempfile::TempDir,
    state: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Place { top: tempfile::tempdir().unwrap(), state: tempfile::tempdir().unwrap() }
    }

    fn mission(&self, queue: &str) -> Mission {
        let (files, state) = (Files::of(self.top.path()), self.state.path());
        let mission = Mission {
            before: Vec::new(),
            queue_lock: state.join(QUEUE_LOCK),
            spec: "SPEC.md".to_owned(),
            tries_pages: false,
            run: "mission-1".to_owned(),
            session: Mutex::default(),
            memory: Mutex::new(Layers::open(files.clone(), state, "mission-1")),
            projection: Mutex::new(Projection::into(files.clone(), state.join("projected.json"))),
            pace: Mutex::default(),
            said: Mutex::default(),
            spoken: Mutex::default(),
            warned: Mutex::default(),
            complained: Mutex::default(),
            files,
        };
        mission.session().take_paper(features::PATH, queue.as_bytes().to_vec());
        mission
    }

    fn queue(&self) -> Option<String> {
        Files::of(self.top.path()).text(features::PATH).unwrap()
    }

    fn write(&self, text: &str) {
        Files::of(self.top.path()).write(features::PATH, text).unwrap();
    }
}

const TWO: &str = r#"[{"id": "F-A", "title": "Build A", "claims": ["It is a"]},
    {"id": "F-B", "title": "Build B", "claims": ["It is b"]}]"#;

fn about(id: &str) -> Situation {
    let (stage, unit) = ("validator".to_owned(), Some((id.to_owned(), String::new())));
    Situation { stage, unit, ..Situation::default() }
}

/// What a validator says: its claims, each with whether it holds, and the titles of what it found.
fn validates(
    mission: &Mission,
    id: &str,
    verdict: &str,
    claims: &[(&str, &str)],
    issues: &[&str],
) -> Validated {
    let item =
        |id: &str, title: &str| Item { id: id.into(), title: title.into(), ..Item::default() };
    let claims = claims.iter().map(|(id, holds)| Item {
        facts: [("holds".into(), Value::text(holds))].into(),
        ..item(id, "")
    });
    let issues = issues.iter().map(|title| item("x", title));
    let mut lists = BTreeMap::from([
        ("claims".to_owned(), claims.collect::<Vec<_>>()),
        ("issues".to_owned(), issues.collect()),
    ]);
    let (mut facts, mut instead) = (BTreeMap::new(), None);
    let (facts, instead_of) = (&mut facts, &mut instead);
    let said = Said { attempt: 1, text: "", facts, lists: &mut lists, instead: instead_of };
    let refused = mission.validated(verdict, said, &about(id));
    let found = lists["issues"].iter().map(|it| (it.id.to_string(), it.title.to_string()));
    let counts = instead.map_or_else(|| verdict.to_owned(), |(counts, _)| counts);
    Validated { refused, found: found.collect(), counts }
}

/// What comes of what a validator says.
struct Validated {
    refused: Option<String>,
    found: Vec<(String, String)>,
    /// The verdict that counts.
    counts: String,
}

#[test]
fn a_verdict_is_held_against_its_claims() {
    let place = Place::new();
    let mission = place.mission(TWO);
    let refused = |verdict: &str, claims: &[(&str, &str)]| {
        validates(&mission, "F-A", verdict, claims, &[]).refused.is_some()
    };
    assert!(!refused("pass", &[("it is A.", "yes")]), "as it is meant");
    assert!(refused("pass", &[("It is a", "no")]));
    assert!(refused("issues", &[("It is a", "unclear")]));
    // Said of it a second time, it has another number.
    assert!(refused("pass", &[("It is a", "yes"), ("It is a-2", "no")]));
    assert!(refused("pass", &[("It is a", "yes"), ("it is fast", "no")]));
    assert!(!refused("pass", &[("It is a", "yes"), ("it is fast", "")]));
    assert!(refused("pass", &[("It is b", "yes")]));
    assert!(refused("pass", &[]));
    assert!(refused("fail", &[("It is a", "yes")]));
    assert!(!refused("fail", &[("It is a", "no")]));
    assert!(!refused("fail", &[]), "who fails it need not have come to every claim");
    assert!(!refused("ambiguous", &[("It is a", "unclear")]));
}

#[test]
fn what_was_found_is_numbered_and_nobody_builds_it_twice() {
    let place = Place::new();
    let mission = place.mission(TWO);
    let found = |id: &str, claim: &str, issues: &[&str]| {
        validates(&mission, id, "issues", &[(claim, "yes")], issues).found
    };
    let first = found("F-A", "It is a", &["No full stop", "no FULL stop!", "Build b", "No comma"]);
    let want = [("F-FIX-A-1", "No full stop"), ("F-FIX-A-2", "No comma")];
    assert_eq!(first, want.map(|(id, title)| (id.to_owned(), title.to_owned())));
    // In another lane, before anything of the first is in the journal.
    let second = found("F-B", "It is b", &["No comma.", "No colon"]);
    assert_eq!(second, [("F-FIX-B-1".to_owned(), "No colon".to_owned())]);
}

#[test]
fn what_is_refused_has_found_nothing() {
    let place = Place::new();
    let mission = place.mission(TWO);
    validates(&mission, "F-A", "issues", &[("It is a", "no")], &["No comma"]);
    let came = validates(&mission, "F-A", "issues", &[("It is a", "yes")], &["No comma"]);
    assert_eq!((came.refused, came.found.len()), (None, 1), "the next time it counts");
}

/// Nor what comes with a verdict that makes no features of it, or in an answer that the journal never got.
#[test]
fn what_became_no_feature_may_be_found_again() {
    let place = Place::new();
    let mission = place.mission(TWO);
    let says = |verdict: &str, holds: &str| {
        validates(&mission, "F-A", verdict, &[("It is a", holds)], &["No comma"])
    };
    assert_eq!(says("fail", "no").counts, "fail");
    assert_eq!(says("ambiguous", "unclear").counts, "ambiguous");
    let first = says("issues", "yes");
    assert_eq!((first.counts.as_str(), first.found.len()), ("issues", 1));
    // Whoever ran it was stopped before that was on record, and it is asked once more.
    let again = says("issues", "yes");
    assert_eq!(
        (again.counts.as_str(), again.found.len()),
        ("issues", 1),
        "it is still to be built"
    );
}

#[test]
fn whether_issues_were_found_decides_between_pass_and_issues() {
    let place = Place::new();
    let mission = place.mission(TWO);
    let counts = |verdict: &str, issues: &[&str]| {
        validates(&mission, "F-A", verdict, &[("It is a", "yes")], issues).counts
    };
    assert_eq!(counts("pass", &[]), "pass");
    assert_eq!(counts("pass", &["No comma"]), "issues");
    assert_eq!(counts("issues", &["No comma"]), "issues");
    assert_eq!(counts("issues", &[]), "pass");
    assert_eq!(counts("issues", &["Build b!"]), "pass", "somebody builds it already");
}

/// However close together two lanes are asked.
#[test]
fn two_lanes_that_find_the_same_at_the_same_moment_have_found_one_thing() {
    let place = Place::new();
    let mission = place.mission(TWO);
    for round in 0..300 {
        let title = format!("Flaw {round}");
        let both = std::sync::Barrier::new(2);
        let asks = |id: &str, claim: &str| {
            both.wait();
            validates(&mission, id, "issues", &[(claim, "yes")], &[&title]).found.len()
        };
        let found = std::thread::scope(|scope| {
            let other = scope.spawn(|| asks("F-B", "It is b"));
            asks("F-A", "It is a") + other.join().unwrap()
        });
        assert_eq!(found, 1, "{title}");
    }
}

#[test]
fn the_queue_is_written_no_more_often_than_it_is_worth_and_in_the_end() {
    let place = Place::new();
    let mission = place.mission(TWO);
    mission.project_files(false);
    let first = place.queue().expect("the first time at once");
    let settle = |status: Status| {
        let mut session = mission.session();
        session.progress.entry("F-A".to_owned()).or_default().status = status;
        session.dirty = true;
    };
    // It took an hour: for the next twenty it can wait.
    lock(&mission.pace).last = Some((Instant::now(), Duration::from_secs(3600)));
    settle(Status::InProgress);
    mission.project_files(false);
    assert_eq!(place.queue().as_ref(), Some(&first));
    assert!(mission.session().dirty, "it is still to be written");
    // It took no time at all: at once.
    lock(&mission.pace).last = Some((Instant::now(), Duration::ZERO));
    mission.project_files(false);
    assert!(place.queue().unwrap().contains("in_progress"));
    assert!(!mission.session().dirty);
    lock(&mission.pace).last = Some((Instant::now(), Duration::from_secs(3600)));
    settle(Status::Passed);
    assert_eq!(mission.over(), [""; 0]);
    assert!(place.queue().unwrap().contains("\"passed\""), "nothing is left out in the end");
}

#[test]
fn what_a_person_has_changed_is_not_written_over_until_it_is_on_record() {
    let place = Place::new();
    let mission = place.mission(TWO);
    mission.project_files(true);
    let theirs = place.queue().unwrap().replace("Build B", "Build it better");
    place.write(&theirs);
    mission.session().dirty = true;
    mission.project_files(true);
    assert_eq!(place.queue().as_ref(), Some(&theirs));
    assert!(mission.session().dirty);
    lock(&mission.projection).knows(features::PATH, &theirs);
    mission.session().take_paper(features::PATH, theirs.clone().into_bytes());
    mission.session().progress.entry("F-A".to_owned()).or_default().status = Status::Passed;
    mission.project_files(true);
    let now = place.queue().unwrap();
    assert!(now.contains("Build it better") && now.contains("\"passed\""), "{now}");
}

/// Whoever finds nothing of their memory in any prompt is told why, once.
#[test]
fn a_memory_that_is_too_long_to_be_read_is_said() {
    let place = Place::new();
    let mission = place.mission(TWO);
    let long = "x".repeat(usize::try_from(crate::memory::BYTES_MAX).unwrap() + 1);
    Files::of(place.top.path()).write(".harness/memory/MEMORY.md", &long).unwrap();
    for _ in 0..2 {
        mission.look("queue-edits", &Situation::default()).unwrap();
    }
    let said = std::mem::take(&mut *lock(&mission.said));
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("MEMORY.md") && said[0].contains("nobody is shown"), "{said:?}");
}

#[test]
fn an_edit_that_cannot_be_is_none() {
    let place = Place::new();
    place.write(TWO);
    let edit = |change: &dyn Fn(&mut Queue) -> Result<(), String>| {
        edit_queue(&Files::of(place.top.path()), place.state.path(), change)
    };
    let circle = edit(&|queue| {
        queue.features[0].depends = vec!["F-A".to_owned()];
        Ok(())
    });
    assert!(circle.unwrap_err().to_string().contains("circle"));
    assert!(edit(&|_| Err("no".to_owned())).is_err());
    assert_eq!(place.queue().as_deref(), Some(TWO), "not a byte");
    edit(&|queue| {
        queue.features[0].priority = 3;
        Ok(())
    })
    .unwrap();
    assert_eq!(Queue::read(&place.queue().unwrap()).unwrap().features[0].priority, 3);
}
