//! Work of a loop that waits beside the branch, because something of a person's is in its way: nothing begins without it.

use std::fs;

use super::rig::{Rig, simply, who};

/// `hello` is worked on while a draft of the person's is in the way; `bye` is blocked by it.
fn with_waiting_work() -> Rig {
    let mut rig = Rig::of(&["hello", "bye"], "");
    rig.put("bye", "blocked_by: [hello]\n");
    rig.write("src/hello-g1.txt", "draft\n");
    let seen = rig.ends(&["--once"], 0);
    assert!(seen.contains("waits beside main"), "{seen}");
    assert!(rig.issue("hello").contains("wait to be taken onto `main`"), "{}", rig.issue("hello"));
    assert!(rig.subjects().is_empty());
    rig
}

#[test]
fn what_waits_of_an_earlier_loop_lands_before_the_next_one_begins() {
    let mut rig = with_waiting_work();
    // The draft is still there: the next one would be without what `bye` waited for.
    let seen = rig.ends(&[], 1);
    assert!(
        seen.contains("work of issues-1 waits on windlass/issues-1, and main has not got it"),
        "{seen}"
    );
    assert!(seen.contains("merge --ff-only windlass/issues-1"), "{seen}");
    assert!(!rig.issue("bye").contains("Harness"), "{}", rig.issue("bye"));
    assert_eq!(rig.file("src/hello-g1.txt").as_deref(), Some("draft\n"), "it is the person's");
    fs::remove_file(rig.scratch.repo().join("src/hello-g1.txt")).unwrap();
    let seen = rig.ends(&[], 0);
    assert!(seen.contains("what waited of issues-1 has landed on main: "), "{seen}");
    assert!(seen.contains("[ISSUE_COMPLETE: bye]"), "{seen}");
    // One on top of the other, and nothing is left beside them.
    assert_eq!(rig.subjects(), ["feat: g1", "feat: g1"]);
    let last = rig.scratch.git(&["diff", "--name-only", "main~1", "main"]);
    assert_eq!(last, "src/bye-g1.txt");
    assert_eq!(rig.file("src/hello-g1.txt").as_deref(), Some("fine\n"));
    assert_eq!(rig.scratch.git(&["branch", "--list", "windlass/*"]), "");
}

#[test]
fn what_waits_and_does_not_go_on_from_the_branch_is_a_persons_to_take_or_to_give_up() {
    let mut rig = with_waiting_work();
    fs::remove_file(rig.scratch.repo().join("src/hello-g1.txt")).unwrap();
    rig.write("src/by-hand.txt", "fine\n");
    rig.scratch.git(&["add", "src/by-hand.txt"]);
    rig.scratch.git(&["commit", "-qm", "By hand"]);
    let seen = rig.ends(&[], 1);
    assert!(seen.contains("git merge windlass/issues-1 "), "{seen}");
    assert!(seen.contains("`git branch -D windlass/issues-1` does without it"), "{seen}");
    rig.scratch.git(&["branch", "-D", "windlass/issues-1"]);
    let seen = rig.ends(&[], 0);
    assert!(seen.contains("[ISSUE_COMPLETE: bye]"), "{seen}");
    assert_eq!(rig.subjects(), ["By hand", "feat: g1"]);
}

#[test]
fn what_a_person_has_put_on_top_of_waiting_work_is_not_landed_for_them() {
    let mut rig = with_waiting_work();
    fs::remove_file(rig.scratch.repo().join("src/hello-g1.txt")).unwrap();
    rig.scratch.git(&["checkout", "-q", "windlass/issues-1"]);
    rig.scratch.git(&["commit", "-q", "--allow-empty", "-m", "By hand"]);
    rig.scratch.git(&["checkout", "-q", "main"]);
    let seen = rig.ends(&[], 1);
    assert!(seen.contains("git merge windlass/issues-1 "), "{seen}");
    assert!(rig.subjects().is_empty());
}

#[test]
fn what_waits_of_a_cancelled_loop_is_not_landed_unasked() {
    let asks = simply(&who("issue-planner", "bye", "", 0), "blocked", "wait");
    let mut rig = Rig::of(&["hello", "bye"], &asks);
    rig.put("hello", "priority: 1\n");
    rig.write("src/hello-g1.txt", "draft\n");
    rig.ends(&[], 8);
    assert_eq!(rig.run(&["stop", "--cancel"]), Some(0), "{}", rig.told);
    assert_eq!(rig.run(&["resume"]), Some(5), "{}", rig.told);
    fs::remove_file(rig.scratch.repo().join("src/hello-g1.txt")).unwrap();
    let seen = rig.ends(&[], 1);
    assert!(seen.contains("git merge windlass/issues-1 "), "{seen}");
    assert!(rig.subjects().is_empty());
}
