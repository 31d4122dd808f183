//! Answers that no other flow gives.

use serde_json::json;

use super::rig::{DOCS, Rig, SLUG, TASK, evaluates, implements, report};

const SINGLE: [&str; 4] = ["--mode", "single", "--model-config", "balanced"];

/// Where the lane of the task is.
fn lane(rig: &Rig) -> String {
    let lanes = rig.scratch.windlass(&["lanes", "list", "--json"]).output().unwrap();
    let lanes: serde_json::Value = serde_json::from_slice(&lanes.stdout).unwrap();
    let own = lanes["lanes"].as_array().unwrap().iter().find(|lane| lane["unit"] == SLUG).unwrap();
    own["path"].as_str().or(own["work"].as_str()).unwrap().to_owned()
}

/// A change that goes too far may be allowed, trimmed by hand, or left where it is.
#[test]
fn a_change_beyond_its_limits() {
    let beyond = || {
        let mut rig = Rig::new("");
        rig.does(&["--mode", "single", "--scope", "src"], &[]);
        assert_eq!(rig.asked().unwrap().1, "limits_gate", "{}", rig.told);
        rig
    };
    let mut rig = beyond();
    assert_eq!(rig.answers(&[("limits_gate", &["allow"])]), Some(0), "{}", rig.told);
    rig.saw("it goes beyond its scope or its number of files, and that was allowed");
    assert_eq!(rig.landed(), ["hello.txt"]);
    let mut rig = beyond();
    let work = lane(&rig);
    std::fs::create_dir(format!("{work}/src")).unwrap();
    std::fs::rename(format!("{work}/hello.txt"), format!("{work}/src/hello.txt")).unwrap();
    assert_eq!(rig.answers(&[("limits_gate", &["manual"])]), Some(0), "{}", rig.told);
    assert_eq!(rig.landed(), ["src/hello.txt"]);
    let mut rig = beyond();
    assert_eq!(rig.answers(&[("limits_gate", &["stop"])]), Some(5));
    assert_eq!(rig.run(&["resume"]), Some(8));
    assert_eq!(rig.asked().unwrap().1, "limits_gate");
}

/// Layer 2 may be given another round, and either gate of the evaluation may be left for later.
#[test]
fn an_evaluation_that_failed() {
    let twice = [
        evaluates(Some(1), "fail_l2"),
        evaluates(Some(2), "fail_l2"),
        evaluates(Some(3), "fail_l2"),
    ]
    .concat();
    let mut rig = Rig::new(&twice);
    rig.does(&SINGLE, &[]);
    assert_eq!(rig.asked().unwrap().1, "qa_layer2", "{}", rig.told);
    assert_eq!(rig.answers(&[("qa_layer2", &["fix"])]), Some(0), "{}", rig.told);
    rig.saw("  Round  : 2 / 3");
    for (verdict, gate) in [("fail_l2", "qa_layer2"), ("fail_l3", "qa_layer3")] {
        let mut rig = Rig::new(&evaluates(None, verdict));
        rig.does(&SINGLE, &[]);
        assert_eq!(rig.answers(&[(gate, &["stop"])]), Some(5), "{}", rig.told);
        assert_eq!((rig.run(&["resume"]), rig.asked().unwrap().1.as_str()), (Some(8), gate));
    }
    let mut rig = Rig::new(&evaluates(None, "fail_l3"));
    rig.does(&SINGLE, &[]);
    rig.answers(&[("qa_layer3", &["fix"]), ("qa_layer3", &["fix"]), ("rounds_spent", &["stop"])]);
    assert_eq!(rig.state()["round"], 3, "{}", rig.told);
    assert_eq!((rig.run(&["resume"]), rig.asked().unwrap().1.as_str()), (Some(8), "rounds_spent"));
}

/// What another program calls passed may be proved again, or taken by a person.
#[test]
fn another_programs_word() {
    let left = || {
        let mut rig = Rig::new("");
        let state = json!({ "version": "2.0", "task": TASK, "phase": "evaluate_done", "mode": "single", "conventions": "skipped" });
        rig.write(".harness/state.json", &state.to_string());
        for (name, text) in [
            ("spec.md", "# Spec"),
            ("changes.md", "- `hello.txt`"),
            ("qa_report.md", &report("PASS")),
        ] {
            rig.write(&format!("{DOCS}/{name}"), text);
        }
        rig.run(&["task"]);
        rig.answers(&[("session_gate", &["resume"]), ("stay", &[])]);
        assert_eq!(rig.asked().unwrap().1, "take_its_word", "{}", rig.told);
        rig
    };
    let mut rig = left();
    rig.answers(&[("take_its_word", &["again_please"]), ("stay", &[])]);
    rig.saw("evaluating: evaluator (acted)");
    let mut rig = left();
    rig.answers(&[("take_its_word", &["accept"]), ("stay", &[])]);
    assert_eq!(rig.asked().unwrap().1, "commit_gate", "{}", rig.told);
    assert!(!rig.told.contains("evaluator (acted)"));
}

/// What moved on the task's own branch meanwhile is joined, or seen to by a person.
#[test]
fn the_branch_that_moved_meanwhile() {
    let at_the_end = |mine: &str| {
        let mut rig = Rig::new(&super::rig::says(
            "role = 'conflict-resolver'",
            "verdict = 'failed'",
            "no",
            &[],
        ));
        rig.does(&SINGLE, &[("ask_scan", &["skip"]), ("spec_gate", &["proceed"]), ("stay", &[])]);
        rig.scratch.git(&["checkout", "-q", "-b", &format!("harness/{SLUG}")]);
        rig.write(mine, "mine\n");
        rig.scratch.git(&["add", mine]);
        rig.scratch.git(&["commit", "-qm", "Meanwhile"]);
        rig.scratch.git(&["checkout", "-q", "main"]);
        rig
    };
    let mut rig = at_the_end("other.txt");
    // It is rebuilt there and verified again, and asked about again.
    assert_eq!(
        rig.answers(&[("commit_gate", &["code_only"]), ("commit_gate", &["code_only"])]),
        Some(0),
        "{}",
        rig.told
    );
    rig.saw("the branch has moved: rebuilt there");
    assert_eq!(rig.landed(), ["hello.txt", "other.txt"]);
    let mut rig = at_the_end("hello.txt");
    rig.answers(&[("commit_gate", &["code_only"]), ("stay", &[])]);
    assert_eq!(rig.asked().unwrap().1, "conflict_gate", "{}", rig.told);
    assert_eq!(rig.answers(&[("conflict_gate", &["stop"])]), Some(5));
    assert_eq!(rig.run(&["resume"]), Some(8));
    std::fs::write(format!("{}/hello.txt", lane(&rig)), "joined\n").unwrap();
    rig.answers(&[("conflict_gate", &["manual"]), ("commit_gate", &["code_only"])]);
    assert_eq!(
        rig.scratch.git(&["show", &format!("harness/{SLUG}:hello.txt")]),
        "joined",
        "{}",
        rig.told
    );
}

#[test]
fn a_state_that_cannot_be_read_may_be_looked_at_first() {
    let mut rig = Rig::new(&implements(None, "hello\n"));
    rig.write(".harness/state.json", "{ not json");
    rig.run(&["task", TASK, "--mode", "single"]);
    rig.answers(&[("session_corrupt", &["stop"])]);
    assert_eq!(rig.run(&["resume"]), Some(5), "{}", rig.told);
    assert_eq!(rig.file(".harness/state.json.aside-1").as_deref(), Some("{ not json"));
}
