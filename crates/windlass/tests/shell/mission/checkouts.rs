//! A repository with several checkouts: a run's files are in the one that it was begun in.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::people::named;
use super::rig::{QUEUE, Rig, feature, queue};
use crate::pilot::Pilot;
use crate::scratch::{Scratch, ended};

/// Another checkout beside the first, on a branch of its own.
fn beside(scratch: &Scratch) -> PathBuf {
    let other = scratch.path("wt");
    scratch.git(&["worktree", "add", "-q", "-b", "wtb", other.to_str().unwrap()]);
    other
}

/// Runs a verb in another checkout.
fn there(scratch: &Scratch, dir: &PathBuf, args: &[&str]) -> (Option<i32>, String) {
    ended(scratch.windlass(args).current_dir(dir).output().unwrap())
}

#[test]
fn a_mission_is_gone_on_with_in_the_checkout_that_it_was_begun_in() {
    let mut rig = Rig::of(&named(&["F-A", "F-B", "F-C"]), "");
    let ours = rig.file(QUEUE).unwrap();
    let other = beside(&rig.scratch);
    fs::create_dir_all(other.join(".harness")).unwrap();
    let theirs = queue(&[feature("F-A")]).replace("Build F-A", "In the worktree");
    fs::write(other.join(QUEUE), theirs).unwrap();
    let (code, said) =
        there(&rig.scratch, &other, &["mission", "--checkpoint", "pre-merge", "--lanes", "1"]);
    assert_eq!(code, Some(8), "{said}");
    // An answer is taken anywhere, and what follows from it is written where the run's files are.
    assert_eq!(rig.run(&["answer", "0", "grant"]), Some(0), "{}", rig.told);
    for verb in ["mission", "resume"] {
        assert_eq!(rig.run(&[verb]), Some(2), "{}", rig.told);
    }
    let place = other.canonicalize().unwrap();
    rig.saw(&format!("mission-1 was begun in the checkout {}", place.display()));
    rig.saw("`windlass resume mission-1` goes on with it there");
    assert_eq!(rig.run(&["project"]), Some(0), "{}", rig.told);
    assert_eq!(rig.file(QUEUE).as_deref(), Some(ours.as_str()), "nobody writes here");
    let (code, said) = there(&rig.scratch, &other, &["mission"]);
    assert_eq!(code, Some(0), "{said}");
    let queue: Value =
        serde_json::from_str(&fs::read_to_string(other.join(QUEUE)).unwrap()).unwrap();
    assert_eq!(queue["features"].as_array().map(Vec::len), Some(1), "{queue}");
    assert_eq!(queue["features"][0]["status"], "passed");
    assert_eq!(rig.scratch.git(&["log", "-1", "--format=%s", "wtb"]), "In the worktree");
    // Once it is over, the main checkout has its own mission.
    rig.ends(&[], 0);
    assert_eq!(rig.standing(), "F-A passed, F-B passed, F-C passed");
    assert_eq!(rig.landed(), ["Build F-A", "Build F-B", "Build F-C"]);
}

#[test]
fn a_plan_that_was_only_made_is_not_taken_from_another_checkout() {
    let mut rig = Rig::of(&named(&["F-A"]), "");
    let other = beside(&rig.scratch);
    fs::create_dir_all(other.join(".harness")).unwrap();
    fs::write(other.join(QUEUE), queue(&[feature("F-A")])).unwrap();
    let (code, said) = there(&rig.scratch, &other, &["mission", "--plan-only"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(rig.run(&["mission"]), Some(2), "{}", rig.told);
    rig.saw("mission-1 was begun in the checkout");
    // A checkout that is gone has no files any more: it goes on here.
    rig.scratch.git(&["worktree", "remove", "--force", other.to_str().unwrap()]);
    rig.ends(&[], 0);
}

#[test]
fn nor_is_a_session_of_another_workflow() {
    let spec = "# S\n\n## Implementation Order\n\n### Phase 1: One\n\nDo it.\n";
    let pilot = Pilot::with(spec, "", &[]);
    let other = beside(&pilot.scratch);
    let (code, said) = there(&pilot.scratch, &other, &["autopilot", "spec.md", "--thorough"]);
    assert_eq!(code, Some(8), "{said}");
    let (code, said) = pilot.run(&["autopilot"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("was begun in the checkout"), "{said}");
}
