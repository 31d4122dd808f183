//! Markers against the history: what has landed elsewhere, what was amended, and what is looked at before anything else.

use crate::work::rig::{PLANS, Rig, row, todo};

const SETTLED: &str = "every marker says what the history says";

#[test]
fn what_has_landed_on_another_branch_is_done() {
    let mut rig = Rig::of(&[todo("1"), todo("2")], "");
    rig.scratch.git(&["branch", "side"]);
    rig.ends(&["1", "--branch", "side", "--no-tdd"], 0);
    let done = rig.file(PLANS).unwrap();
    assert!(rig.status("1").starts_with("cc:Done ["), "{done}");
    assert_eq!(rig.scratch.git(&["show", "side:src/1.txt"]), "done 1");
    assert_eq!(rig.subjects(), [""; 0], "what is checked out does not have it");
    let seen = rig.verb(&["plan", "sync"], 0);
    assert!(seen.contains(SETTLED), "{seen}");
    assert_eq!(rig.file(PLANS).unwrap(), done, "it would be done twice");
    // And nobody is asked about it.
    let seen = rig.ends(&["2", "--no-tdd"], 0);
    assert!(!seen.contains("Stale markers"), "{seen}");
    // Once no branch has it, it is open.
    rig.scratch.git(&["branch", "-D", "side"]);
    rig.verb(&["plan", "sync"], 0);
    assert_eq!(rig.status("1"), "cc:TODO");
}

#[test]
fn of_two_rows_of_one_name_the_one_is_done_whose_number_its_commit_has() {
    let same = |number: &str| row(number, "[P] Write it", "-", "cc:TODO");
    let mut rig = Rig::of(&[same("1"), same("2")], "");
    rig.ends(&["2", "--no-tdd"], 0);
    let done = rig.status("2");
    let seen = rig.verb(&["plan", "sync"], 0);
    assert!(seen.contains(SETTLED), "{seen}");
    rig.write(PLANS, &rig.file(PLANS).unwrap().replace(&done, "cc:TODO"));
    rig.verb(&["plan", "sync"], 0);
    assert_eq!((rig.status("1").as_str(), rig.status("2")), ("cc:TODO", done));
    // Without its note nobody can tell, and nothing is changed.
    rig.write(PLANS, &rig.plans);
    rig.scratch.git(&["update-ref", "-d", "refs/notes/windlass"]);
    let seen = rig.verb(&["plan", "sync"], 0);
    assert!(seen.contains("nobody can tell whose it is: left as it is"), "{seen}");
    assert_eq!(rig.file(PLANS).unwrap(), rig.plans);
}

#[test]
fn what_waits_on_a_branch_of_its_own_is_done() {
    let mut rig = Rig::of(&[todo("1")], "");
    // A file that nobody has committed is where the change would go: it waits until that is out of its way.
    rig.write("src/1.txt", "a person's\n");
    let seen = rig.ends(&["1", "--no-tdd"], 0);
    let done = rig.file(PLANS).unwrap();
    assert!(rig.status("1").starts_with("cc:Done ["), "{seen}");
    assert_eq!(rig.subjects(), [""; 0], "{seen}");
    let seen = rig.verb(&["plan", "sync"], 0);
    assert!(seen.contains(SETTLED), "{seen}");
    assert_eq!(rig.file(PLANS).unwrap(), done);
}

#[test]
fn what_was_amended_has_its_new_commit_after_one_sync() {
    let mut rig = Rig::of(&[todo("1")], "");
    rig.ends(&["1", "--no-tdd"], 0);
    let before = rig.commit("Write 1");
    rig.write("src/more.txt", "more\n");
    rig.scratch.git(&["add", "src/more.txt"]);
    rig.scratch.git(&["commit", "-q", "--amend", "--no-edit"]);
    let now = rig.commit("Write 1");
    assert_ne!(before, now);
    let seen = rig.verb(&["plan", "sync"], 0);
    assert!(seen.contains(&format!("now cc:Done [{now}]")), "{seen}");
    rig.only_marks_changed(&["1"]);
    let seen = rig.verb(&["plan", "sync"], 0);
    assert!(seen.contains(SETTLED), "{seen}");
    rig.only_marks_changed(&["1"]);
}

#[test]
fn markers_are_looked_at_even_where_all_is_said_to_be_done() {
    let mut rig = Rig::of(&[row("1", "Write 1", "-", "cc:Done [0123456]")], "");
    let stale = "task 1 (line 7) is cc:Done [0123456], and that commit is on no branch";
    for targets in [&["all"][..], &[]] {
        let seen = rig.ends(targets, 2);
        assert!(seen.contains(stale), "{seen}");
        assert!(seen.contains("Run `windlass plan sync` first to resolve marker drift"), "{seen}");
        assert!(!seen.contains("there is nothing to do"), "{seen}");
    }
    let seen = rig.ends(&["all", "--accept-drift"], 0);
    assert!(seen.contains("every task of Plans.md is done"), "{seen}");
    assert_eq!(rig.file(PLANS).unwrap(), rig.plans);
}

#[test]
fn what_would_be_done_says_which_markers_are_stale() {
    let rows = [todo("1"), row("2", "Write 2", "-", "cc:Done [0123456]")];
    let mut rig = Rig::of(&rows, "");
    let stale = "task 2 (line 8) is cc:Done [0123456], and that commit is on no branch";
    let seen = rig.ends(&["all", "--dry-run"], 0);
    assert!(seen.contains(stale) && seen.contains("`windlass plan sync` mends them"), "{seen}");
    let seen = rig.ends(&["all", "--dry-run", "--json"], 0);
    let json: serde_json::Value = serde_json::from_str(seen.split_once('\n').unwrap().1).unwrap();
    assert_eq!(json["stale"], serde_json::json!([stale]));
    let seen = rig.ends(&["all", "--dry-run", "--accept-drift"], 0);
    assert!(!seen.contains("stale"), "{seen}");
}
