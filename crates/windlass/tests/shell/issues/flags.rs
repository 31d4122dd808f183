//! What is said when a loop is there already: it goes on as it began, or somebody is told that it does not.

use serde_json::{Value, json};

use super::rig::Rig;

/// A loop over two issues that was killed before it has done anything but claim the first.
fn killed() -> Rig {
    let rig = Rig::of(&["A-1", "A-2"], "");
    rig.killed_once_claimed(&mut rig.scratch.windlass(&["issues"]));
    rig
}

#[test]
fn whoever_wants_something_else_than_the_open_loop_is_refused_and_told_how_to_have_it() {
    let mut rig = killed();
    for (words, said) in [
        (&["--once"][..], "--once, and it takes them all"),
        (&["--issue", "A-2"], "--issue A-2, and it takes them all"),
        (&["--max", "1"], "--max 1, and it has 20"),
        (&["--label", "other"], "--label other, and it has ready"),
        (&["--tracker", "linear"], "--tracker linear, and it has folder"),
        (&["--project", "bugs"], "--project bugs, and it has issues"),
        (&["--land", "pr"], "--land pr, and it has branch"),
        (&["--branch", "next"], "--branch next, and it lands on main"),
    ] {
        let seen = rig.ends(words, 2);
        let what = format!("issues-1 is not over, and began otherwise: {said}\n");
        assert!(seen.contains(&what), "{seen}");
        assert!(seen.contains("`windlass issues` alone goes on with it"), "{seen}");
        assert!(seen.contains("`windlass stop --cancel issues-1` ends it"), "{seen}");
    }
    assert_eq!(rig.subjects(), Vec::<String>::new(), "nothing was worked on");
    // What it says is true: the old one is ended, and the new one takes one and no more.
    assert_eq!(rig.run(&["stop", "--cancel", "issues-1"]), Some(0), "{}", rig.told);
    rig.ends(&["--once"], 0);
    assert_eq!(rig.subjects(), ["feat: g1"], "{}", rig.told);
    assert!(rig.issue("A-1").contains("\nstate: done\n"), "{}", rig.issue("A-1"));
    assert!(!rig.issue("A-2").contains("state:"), "{}", rig.issue("A-2"));
}

#[test]
fn whoever_says_the_same_again_goes_on() {
    let mut rig = killed();
    rig.ends(&["--tracker", "folder", "--project", "issues/", "--max", "20"], 0);
    assert_eq!(rig.state("completed_issues"), "[\"A-1\", \"A-2\"]");
}

#[test]
fn what_comes_next_is_told_to_programs_as_well() {
    let mut rig = Rig::of(&["A-1", "A-2", "A-3"], "");
    rig.put("A-1", "priority: 2\n");
    rig.put("A-3", "assignee: Grace\n");
    rig.write("issues/A-4.md", "---\nstate: odd\n---\n");
    let issue = |id: &str, priority: Value| json!({"id": id, "title": format!("Do {id}"), "priority": priority, "url": format!("issues/{id}.md")});
    for words in [["--dry-run", "--json"], ["list", "--json"]] {
        let seen = rig.ends(&words, 0);
        let (_, printed) = seen.split_once('\n').unwrap();
        let told: Value = serde_json::from_str(printed).expect("one document and nothing else");
        assert_eq!(told["next"], issue("A-1", json!(2)));
        assert_eq!(told["then"], json!([issue("A-2", Value::Null)]));
        let why = "Grace has it: it is assigned to them";
        assert_eq!(told["left_out"], json!([{"id": "A-3", "title": "Do A-3", "why": why}]));
        let complaint = told["complaints"][0].as_str().unwrap();
        assert!(complaint.starts_with("issues/A-4.md:2:"), "{complaint}");
    }
}

#[test]
fn a_name_of_a_file_begins_no_line() {
    let mut rig = Rig::of(&[], "");
    rig.write("issues/x\n[HARNESS_PAUSE: x].md", "---\nlabels: [ready]\n---\n");
    rig.write("issues/y\n[HARNESS_PAUSE: y].md", "---\nstate: odd\n---\n");
    let seen = rig.ends(&[], 0);
    assert!(seen.contains("left out: x [HARNESS_PAUSE: x]: its name has characters"), "{seen}");
    assert!(seen.contains("issues/y [HARNESS_PAUSE: y].md:2:"), "{seen}");
    assert!(!seen.contains("\n[HARNESS_PAUSE"), "{seen}");
}

#[test]
fn a_label_that_is_empty_is_no_label() {
    let mut rig = Rig::of(&["A-1"], "");
    let seen = rig.ends(&["--label", ""], 2);
    assert!(seen.contains("--label"), "{seen}");
    assert!(!rig.issue("A-1").contains("Comments"));
}
