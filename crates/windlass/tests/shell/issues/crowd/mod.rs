//! Many issues at a tracker with people at it, and with trouble: each ends as it should, and everything is said once. A
//! sample is told with the tests; `scripts/crowd` tells all of it.

mod place;
mod shared;
mod story;

use std::sync::Arc;

use windlass_trackerkit::{github, linear};

use self::place::{Place, Watched};
use self::story::{KEYS, Matter, ROUND};
use super::rig::{Rig, STATE};

/// Has the loop look for its issues there.
fn at(rig: &Rig, place: &dyn Place) {
    let config = rig.file("windlass.toml").unwrap();
    let (name, project, url) = (place.name(), place.project(), place.url());
    let issues =
        format!("[issues]\ntracker = '{name}'\nproject = '{project}'\nbase-url = '{url}'\n");
    rig.write("windlass.toml", &format!("{config}{issues}"));
    rig.scratch.git(&["commit", "-qam", "Issues are elsewhere"]);
}

/// Runs a verb with a key. How it ended, and what was seen.
fn run(rig: &Rig, args: &[&str], key: &str) -> (Option<i32>, String) {
    let mut command = rig.scratch.windlass(args);
    let output = command.env("LINEAR_API_KEY", key).env("GITHUB_TOKEN", key).output().unwrap();
    let seen = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&seen).into_owned())
}

/// So many rounds of the story at a tracker: every issue ends in its state, with each comment once.
fn told<P: Watched + 'static>(place: &Arc<P>, rounds: usize) {
    let count = rounds * ROUND;
    let ids = story::issues(&**place, count);
    // Spec gaps become issues, which come after those that are there.
    let probe = place.add("One more", 0, &[]);
    let (prefix, number) = probe.split_at(probe.rfind(['-', '#']).unwrap() + 1);
    let next: usize = number.parse().unwrap();
    let new: Vec<String> = (1..=rounds).map(|nth| format!("{prefix}{}", next + nth)).collect();
    let named: Vec<&str> = ids.iter().map(String::as_str).collect();
    let rig = Rig::of(&named, &story::script(&ids, &new));
    at(&rig, &**place);
    story::meanwhile(place, &ids, 6);
    (0..rounds).for_each(|round| story::trouble(&**place, round));

    let (code, seen) = run(&rig, &["issues", "--max", "200"], KEYS[0]);
    assert_eq!(code, Some(1), "the key that it began with is of no use any more: {seen}");
    assert!(seen.contains("does not accept the key"), "{seen}");
    let (code, seen) = run(&rig, &["issues"], KEYS[1]);
    assert_eq!(code, Some(4), "some failed: {seen}");
    assert!(seen.contains("[HARNESS_DONE]"), "{seen}");
    assert!(place.faults().is_empty(), "everything went wrong that was to go wrong");
    ends_well(&**place, &ids, &new);

    let mut done: Vec<String> = new.clone();
    done.extend(
        (1..=count).filter(|nth| Matter::of(*nth).is_done()).map(|nth| ids[nth - 1].clone()),
    );
    done.sort();
    assert_eq!(story::commits(&[&rig]), done);
    assert!(!rig.log().contains("OTHER WORDS"), "what is worked on is what was claimed");
    for key in KEYS {
        assert!(!rig.log().contains(key) && !rig.file(STATE).unwrap().contains(key));
    }
    // Who looks again finds nothing to do, and writes nothing.
    let written = place.writes();
    assert_eq!(run(&rig, &["issues"], KEYS[1]).0, Some(0));
    assert_eq!(place.writes(), written);
}

/// Where every issue stands, and what was said of it.
fn ends_well(place: &dyn Place, ids: &[String], new: &[String]) {
    let own = |issue: &str| -> Vec<String> {
        place.said(issue).into_iter().filter_map(|(ours, text)| ours.then_some(text)).collect()
    };
    for (at, id) in ids.iter().enumerate() {
        let (matter, said) = (Matter::of(at + 1), own(id));
        assert_eq!(place.stands(id), matter.ends(), "{id} ({matter:?}): {said:?}");
        let expected: &[&str] = match matter {
            it if it.is_done() => &[" starting. Autonomous", "Harness completed issue"],
            Matter::Fails => &[" starting. Autonomous", "Harness failed on this issue"],
            _ => &[],
        };
        let as_expected = said.iter().zip(expected).all(|(said, text)| said.contains(text));
        assert!(said.len() == expected.len() && as_expected, "{id} ({matter:?}): {said:?}");
        let noticed = said.last().is_some_and(|it| {
            it.contains(
                "This issue was changed while it was worked on (its description, 1 comment)",
            )
        });
        assert_eq!(noticed, matter == Matter::Edited, "{id}: {said:?}");
    }
    for id in new {
        assert!(place.title(id).starts_with("Spec gap: what "), "{id}: {}", place.title(id));
        assert_eq!((place.stands(id), own(id).len()), (place::Stands::Done, 2), "{id}");
    }
    assert_eq!(place.issues().len(), ids.len() + 1 + new.len(), "each gap is an issue once");
    in_order(place, ids);
}

/// Those that were free from the beginning were begun by urgency, and no blocked one before what it waits for was done.
fn in_order(place: &dyn Place, ids: &[String]) {
    let iteration = |nth: usize| -> u64 {
        let said = place.said(&ids[nth - 1]);
        let claim = said.iter().find(|(_, text)| text.contains(" starting. Autonomous"));
        claim.unwrap().1.split_whitespace().nth(2).unwrap().parse().unwrap()
    };
    let worked = |nth: &usize| Matter::of(*nth).is_done() || Matter::of(*nth) == Matter::Fails;
    let (blocked, free): (Vec<usize>, Vec<usize>) =
        (1..=ids.len()).filter(worked).partition(|nth| Matter::of(*nth) == Matter::Blocked);
    let mut begun = free.clone();
    begun.sort_by_key(|nth| iteration(*nth));
    let mut expected = free;
    expected.sort_by_key(|nth| (story::order(*nth), *nth));
    assert_eq!(begun, expected);
    for nth in blocked {
        assert_eq!(
            iteration(nth),
            iteration(nth - 1) + 1,
            "the most urgent, as soon as it is free"
        );
    }
}

mod slow {
    use super::*;

    #[test]
    fn at_linear_every_issue_ends_as_it_should_and_everything_is_said_once() {
        told(&Arc::new(linear::Linear::start().unwrap()), 1);
    }

    #[test]
    fn at_github_every_issue_ends_as_it_should_and_everything_is_said_once() {
        told(&Arc::new(github::GitHub::start().unwrap()), 1);
    }

    #[test]
    #[ignore = "takes minutes: scripts/crowd"]
    fn fifty_issues_at_linear() {
        told(&Arc::new(linear::Linear::start().unwrap()), 2);
    }

    #[test]
    #[ignore = "takes minutes: scripts/crowd"]
    fn fifty_issues_at_github() {
        told(&Arc::new(github::GitHub::start().unwrap()), 2);
    }
}
