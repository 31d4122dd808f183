//! Two checkouts of two Windlasses at one tracker: none of its issues is worked on twice.

use std::process::{Child, Output};
use std::sync::Arc;

use windlass_trackerkit::{github, linear};

use super::place::{Place, Stands};
use super::story::{KEYS, commits};
use super::{Rig, at};

/// Whoever works there, in two checkouts.
fn two(issues: &[String]) -> [Rig; 2] {
    let issues: Vec<&str> = issues.iter().map(String::as_str).collect();
    [Rig::of(&issues, ""), Rig::of(&issues, "")]
}

fn starts(rig: &Rig, more: &[&str], key: &str) -> Child {
    let args: Vec<&str> = ["issues", "--max", "200"].iter().chain(more).copied().collect();
    let mut command = rig.scratch.windlass(&args);
    command.env("LINEAR_API_KEY", key).env("GITHUB_TOKEN", key).spawn().unwrap()
}

/// Both come to their end. Every issue is in one commit of one of them, and each had some.
#[track_caller]
fn both_end(rigs: &[Rig; 2], children: [Child; 2], issues: &[String]) {
    // Both are read at the same time: who is not read stands still.
    let outputs: Vec<Output> = std::thread::scope(|scope| {
        let waits = children.map(|child| scope.spawn(move || child.wait_with_output().unwrap()));
        waits.into_iter().map(|it| it.join().unwrap()).collect()
    });
    for output in outputs {
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
    }
    let mut all = issues.to_vec();
    all.sort();
    let [one, other] = rigs;
    assert_eq!(commits(&[one, other]), all);
    assert!(!commits(&[one]).is_empty() && !commits(&[other]).is_empty(), "both had some");
}

/// Two at a tracker somewhere else, with these keys.
fn share(place: &Arc<impl Place + 'static>, keys: [&str; 2], count: usize) {
    let issues: Vec<String> =
        (1..=count).map(|nth| place.add(&format!("Do number {nth}"), 0, &["ready"])).collect();
    let rigs = two(&issues);
    rigs.iter().for_each(|rig| at(rig, &**place));
    let children = [starts(&rigs[0], &[], keys[0]), starts(&rigs[1], &[], keys[1])];
    both_end(&rigs, children, &issues);
    for issue in &issues {
        let said = place.said(issue);
        let times = |text: &str| said.iter().filter(|(_, it)| it.contains(text)).count();
        let counts = (times(" starting. Autonomous"), times("Harness completed"), said.len());
        assert_eq!(counts, (1, 1, 2), "{issue}: {said:?}");
        assert_eq!(place.stands(issue), Stands::Done, "{issue}");
    }
}

/// Both with the same key: nobody can tell them apart but by their claims.
fn at_linear(count: usize) {
    share(&Arc::new(linear::Linear::start().unwrap()), [KEYS[0], KEYS[0]], count);
}

/// Each with a key of its own.
fn at_github(count: usize) {
    let place = github::GitHub::start().unwrap();
    place.user("capstan", KEYS[1]);
    share(&Arc::new(place), KEYS, count);
}

fn in_a_folder(count: usize) {
    let issues: Vec<String> = (1..=count).map(|nth| format!("A-{nth}")).collect();
    let rigs = two(&issues);
    let dir = rigs[0].issues_dir();
    let args = ["--tracker", "folder", "--project", dir.to_str().unwrap()];
    let children = [starts(&rigs[0], &args, ""), starts(&rigs[1], &args, "")];
    both_end(&rigs, children, &issues);
    for issue in &issues {
        let text = rigs[0].issue(issue);
        let times = |what: &str| text.matches(what).count();
        let counts =
            (times(" starting. Autonomous"), times("Harness completed"), times("<!-- windlass "));
        assert_eq!(counts, (1, 1, 2), "{text}");
        assert!(text.contains("\nstate: done\n"), "{text}");
    }
}

mod slow {
    use super::*;

    #[test]
    fn two_at_linear_share_its_issues() {
        at_linear(8);
    }

    #[test]
    fn two_at_github_share_its_issues() {
        at_github(8);
    }

    #[test]
    #[ignore = "takes minutes: scripts/crowd"]
    fn two_share_a_hundred_at_linear() {
        at_linear(100);
    }

    #[test]
    #[ignore = "takes minutes: scripts/crowd"]
    fn two_share_a_hundred_at_github() {
        at_github(100);
    }

    #[test]
    #[ignore = "takes minutes: scripts/crowd"]
    fn two_share_a_hundred_in_a_folder() {
        in_a_folder(100);
    }
}
