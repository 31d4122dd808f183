//! Sessions that another program left.

use serde_json::json;

use super::rig::{DOCS, Rig, SLUG, TASK, report};

/// A repository in which somebody left a session.
fn left(state: serde_json::Value, papers: &[(&str, &str)]) -> Rig {
    let rig = Rig::new("");
    rig.write(".harness/state.json", &state.to_string());
    for (name, text) in papers {
        rig.write(&format!("{DOCS}/{name}"), text);
    }
    rig
}

fn at(phase: &str) -> serde_json::Value {
    json!({
        "version": "2.0", "task": TASK, "mode": "single", "run_style": "auto", "phase": phase, "round": 1,
        "model_config": { "preset": "balanced" }, "docs_path": format!("{DOCS}/"), "conventions": "skipped",
        "verify": { "layer1_retries": 0, "layer2_retries": 0 },
    })
}

const PAPERS: [(&str, &str); 3] =
    [("spec.md", "# Spec"), ("changes.md", "- `hello.txt` — greets"), ("verify_report.md", "PASS")];

#[test]
fn a_session_goes_on_where_it_was() {
    for (phase, asked) in
        [("plan_ready", "spec_gate"), ("plan_done", "spec_gate"), ("generate_ready", "commit_gate")]
    {
        let mut rig = left(at(phase), &PAPERS[..1]);
        assert_eq!(rig.run(&["task"]), Some(8), "{}", rig.told);
        let (_, stage, options) = rig.asked().unwrap();
        assert_eq!(
            (stage.as_str(), &options[..3]),
            ("session_gate", &["resume".into(), "restart".into(), "stop".into()][..])
        );
        rig.answers(&[("session_gate", &["resume"]), ("stay", &[])]);
        assert_eq!(rig.asked().unwrap().1, asked, "{phase}: {}", rig.told);
    }
}

#[test]
fn restart_and_stop_remove_the_sessions_own_files_and_nothing_else() {
    for (answer, code) in [("restart", 8), ("stop", 5)] {
        let mut rig = left(at("generating"), &PAPERS);
        rig.write(".harness/learnings.md", "- keep me");
        rig.write(".harness/generator/plan.md", "");
        std::fs::write(rig.scratch.repo().join(".harness/generator/plan.md"), b"old\xff").unwrap();
        assert_eq!(rig.run(&["task"]), Some(8));
        rig.answers(&[("session_gate", &[answer]), ("stay", &[])]);
        if answer == "stop" {
            assert_eq!(rig.run(&["resume"]), Some(5), "{}", rig.told);
        }
        rig.saw("The earlier session's files are gone from here; they are kept, as they were, in ");
        let kept =
            rig.told.lines().find_map(|line| line.split_once("as they were, in ")).unwrap().1;
        let plan = std::path::Path::new(kept).join(".harness/generator/plan.md");
        // Byte for byte, whatever they are.
        assert_eq!(std::fs::read(plan).unwrap(), b"old\xff");
        assert_eq!(rig.file(".harness/learnings.md").as_deref(), Some("- keep me"));
        assert!(rig.file(".harness/generator/plan.md").is_none());
        assert_eq!(rig.file(".harness/state.json").is_some(), code == 8, "{}", rig.told);
    }
}

#[test]
fn another_skills_session_is_asked_about_first() {
    let mut rig = left(json!({ "skill": "spec", "phase": "x" }), &[]);
    assert_eq!(rig.run(&["task", TASK, "--mode", "single"]), Some(8));
    rig.saw("A /spec skill session is active in this directory.");
    rig.saw("A /spec session exists. Delete it and start /workflow?");
    assert_eq!(rig.answers(&[("session_conflict", &["cancel"])]), Some(5), "{}", rig.told);
    assert!(rig.file(".harness/state.json").unwrap().contains("spec"));
    let mut rig = left(json!({ "skill": "spec" }), &[]);
    rig.run(&["task", TASK, "--mode", "single"]);
    rig.answers(&[("session_conflict", &["delete"]), ("stay", &[])]);
    assert_eq!(rig.state()["slug"], SLUG);
}

#[test]
fn a_path_that_leads_out_is_a_restart() {
    let mut state = at("plan_done");
    state["docs_path"] = json!("docs/../../etc/");
    let mut rig = left(state, &[]);
    rig.run(&["task"]);
    rig.answers(&[("session_gate", &["resume"]), ("stay", &[])]);
    rig.saw("[harness] ⚠ Recovered docs_path failed validation: docs/../../etc/");
    assert_eq!(rig.state()["docs_path"], format!("{DOCS}/"));
}

#[test]
fn what_cannot_be_read_is_set_aside() {
    let mut rig = Rig::new("");
    rig.write(".harness/state.json", "{ not json");
    assert_eq!(rig.run(&["task", TASK, "--mode", "single"]), Some(8));
    assert_eq!(rig.asked().unwrap().1, "session_corrupt");
    assert_eq!(rig.file(".harness/state.json.aside-1").as_deref(), Some("{ not json"));
    rig.answers(&[("session_corrupt", &["yes"]), ("stay", &[])]);
    assert_eq!(rig.state()["phase"], "plan_ready");
}

/// I3: a proposal on the table is presented again, and not made twice.
#[test]
fn a_proposal_that_was_left_is_asked_about_at_once() {
    let mut state = at("verify_done");
    state["autofix"] =
        json!({ "applied": "proposed", "last_patch_path": ".harness/generator/auto_fix_patch.md" });
    state["verify"]["layer1_retries"] = json!(3);
    let mut rig = left(state, &PAPERS);
    let patch =
        "confidence: High\n\n```diff\n--- /dev/null\n+++ b/hello.txt\n@@ -0,0 +1 @@\n+hello\n```\n";
    rig.write(".harness/generator/auto_fix_patch.md", patch);
    rig.run(&["task"]);
    rig.answers(&[("session_gate", &["resume"]), ("stay", &[])]);
    assert_eq!(rig.asked().unwrap().1, "patch_gate", "{}", rig.told);
    assert_eq!(rig.state()["autofix"]["applied"], "proposed");
    assert_eq!(rig.answers(&[("patch_gate", &["apply"])]), Some(0), "{}", rig.told);
    assert_eq!(rig.landed(), ["hello.txt"]);
}

/// Another program's word is no evidence.
#[test]
fn a_verdict_that_was_left_is_proved_or_taken_by_a_person() {
    let mut rig = left(at("evaluate_done"), &PAPERS);
    rig.write(&format!("{DOCS}/qa_report.md"), &report("PASS"));
    rig.run(&["task"]);
    // What is not committed is not looked at, and that is said before anybody decides.
    let gates = rig.scratch.windlass(&["gates"]).output().unwrap();
    assert!(String::from_utf8_lossy(&gates.stdout).contains("so commit them before you resume"));
    rig.answers(&[("session_gate", &["resume"]), ("stay", &[])]);
    assert_eq!(rig.asked().unwrap().1, "take_its_word", "{}", rig.told);
}

#[test]
fn a_step_of_a_session_that_was_left() {
    let mut rig = left(at("plan_done"), &[]);
    assert_eq!(rig.run(&["task", "generate"]), Some(2));
    rig.saw("Run plan first");
    let mut rig = left(at("plan_done"), &PAPERS[..1]);
    assert_eq!(rig.run(&["task", "verify"]), Some(2));
    assert_eq!(rig.run(&["task", "generate"]), Some(8), "{}", rig.told);
    rig.answers(&[("session_gate", &["resume"]), ("spec_gate", &["proceed"]), ("stay", &[])]);
    assert_eq!(rig.state()["phase"], "generate_done", "{}", rig.told);
}

/// Missing fields have their defaults, and are not written back before anybody has decided anything.
#[test]
fn what_is_missing_has_its_default() {
    let bare = json!({ "version": "2.0", "task": TASK, "phase": "plan_ready" });
    let mut rig = left(bare.clone(), &[]);
    rig.run(&["task", "--mode", "single"]);
    assert_eq!(rig.file(".harness/state.json").unwrap(), bare.to_string());
    rig.answers(&[("session_gate", &["resume"]), ("stay", &[])]);
    let state = rig.state();
    assert_eq!(
        (&state["model_config"]["verifier"], &state["verify"]["autofix_attempted"]),
        (&"haiku".into(), &false.into())
    );
}
