//! Styles, and the steps one by one.

use super::rig::{DOCS, Rig, SLUG, TASK};

#[test]
fn step_by_step() {
    let mut rig = Rig::new("");
    assert_eq!(rig.run(&["task", "generate"]), Some(2));
    rig.saw("Run plan first");
    assert_eq!(
        rig.run(&["task", "plan", TASK, "--mode", "single", "--model-config", "economy"]),
        Some(8)
    );
    assert_eq!(rig.answers(&[("ask_scan", &["skip"])]), Some(0), "{}", rig.told);
    assert_eq!(
        (&rig.state()["phase"], &rig.state()["run_style"]),
        (&"plan_done".into(), &"phase".into())
    );
    assert_eq!(rig.run(&["task"]), Some(0));
    rig.saw("Plan complete. Run generate?");
    assert_eq!(rig.run(&["task", "verify"]), Some(2));
    rig.saw("Run generate first");
    assert_eq!(rig.run(&["task", "evaluate"]), Some(2));
    rig.saw("Run verify first");
    // It still asks, since nobody has confirmed the spec.
    assert_eq!(rig.run(&["task", "generate"]), Some(8));
    assert_eq!(rig.asked().unwrap().1, "spec_gate");
    assert_eq!(rig.answers(&[("spec_gate", &["proceed"])]), Some(0), "{}", rig.told);
    assert_eq!(rig.state()["phase"], "generate_done");
    assert_eq!(rig.run(&["task", "evaluate"]), Some(2));
    assert_eq!(rig.run(&["task", "verify"]), Some(0));
    assert_eq!(rig.state()["phase"], "verify_done");
    assert_eq!(rig.run(&["task"]), Some(0));
    rig.saw("Verify complete. Run evaluate?");
    assert_eq!(rig.run(&["task", "evaluate"]), Some(0));
    assert_eq!(rig.state()["phase"], "evaluate_done");
    assert_eq!(rig.run(&["resume"]), Some(8));
    assert_eq!(rig.answers(&[("commit_gate", &["code_only"])]), Some(0));
    assert_eq!(rig.landed(), ["hello.txt"]);
    insta::assert_snapshot!("step_by_step", rig.seen());
}

/// What was verified once may be verified once more.
#[test]
fn a_step_may_be_done_again() {
    let mut rig = Rig::new("");
    rig.run(&["task", "plan", TASK, "--mode", "single"]);
    rig.answers(&[("ask_scan", &["skip"])]);
    rig.run(&["task", "generate"]);
    rig.answers(&[("spec_gate", &["proceed"])]);
    assert_eq!(rig.run(&["task", "verify"]), Some(0));
    assert_eq!(rig.run(&["task", "verify"]), Some(0), "{}", rig.told);
    let ran = rig.told.matches("[harness] Phase: Verify (Layer 1 — Mechanical)").count();
    assert_eq!(ran, 2, "{}", rig.told);
    assert_eq!(rig.state()["phase"], "verify_done");
    // What was proved of this very work still is, and is told so.
    assert_eq!(rig.told.matches("  Result : PASS").count(), 2, "{}", rig.told);
    assert_eq!(rig.state()["verify"]["layer1_result"], "PASS");
}

/// An answer is gone on with by the step itself, and nothing is thrown away for it.
#[test]
fn a_step_after_an_answer_goes_on() {
    let mut rig = Rig::new("");
    rig.run(&["task", "plan", TASK, "--mode", "single"]);
    rig.answers(&[("ask_scan", &["skip"])]);
    // What is edited while the session rests is what is confirmed.
    rig.write(&format!("{DOCS}/spec.md"), "# Spec\n\nAC1: as edited.");
    assert_eq!(rig.run(&["task", "generate"]), Some(8));
    let (id, stage, _) = rig.asked().unwrap();
    assert_eq!(stage, "spec_gate");
    let gates = rig.scratch.windlass(&["gates"]).output().unwrap();
    assert!(String::from_utf8_lossy(&gates.stdout).contains("AC1: as edited."));
    assert_eq!(rig.run(&["answer", &id, "proceed"]), Some(0), "{}", rig.told);
    rig.saw("`windlass resume` goes on");
    assert_eq!(rig.run(&["task", "generate"]), Some(0), "{}", rig.told);
    assert_eq!(rig.told.matches("generator-single (acted)").count(), 1, "{}", rig.told);
    let cost = rig.scratch.status()["runs"][0]["cost_usd"].as_f64().unwrap();
    assert!(cost < 0.1, "{cost}: nothing was lost, so nothing is charged for it");
}

/// What a person mends in the configuration counts from the next resume on, whatever branch the task is for.
#[test]
fn a_configuration_that_was_mended_counts() {
    let mut rig = Rig::with("", &[("broken.toml", "")]);
    let good = rig.file("windlass.toml").unwrap();
    rig.write("windlass.toml", &good.replace("script.toml", "broken.toml"));
    rig.scratch.git(&["commit", "-qam", "Broken"]);
    rig.does(&["--mode", "single"], &[("ask_scan", &["skip"])]);
    rig.saw("plan_single: crashed");
    assert_eq!(rig.run(&["resume"]), Some(4));
    rig.saw("its budget is spent (5.00 of 5.00 dollars, 50000000 of 50000000 tokens: `[budget] unit` in windlass.toml)");
    rig.write(
        "windlass.toml",
        &format!("{good}[budget]\nunit = {{ dollars = 15, tokens = 200000000 }}\n"),
    );
    rig.scratch.git(&["commit", "-qam", "Mended"]);
    let code = rig.run(&["resume"]);
    assert_eq!(code, Some(8), "{}", rig.told);
    assert_eq!(rig.asked().unwrap().1, "spec_gate", "{}", rig.told);
}

#[test]
fn without_a_task_it_says_where_things_stand() {
    let mut rig = Rig::new("");
    assert_eq!(rig.run(&["task"]), Some(2));
    rig.saw("what should be done?");
    assert_eq!(rig.run(&["task", "genrate"]), Some(2));
    rig.saw("windlass task generate");
    assert_eq!(rig.does(&["--mode", "single"], &[("stay", &[])]), Some(8));
    rig.told.clear();
    assert_eq!(rig.run(&["task"]), Some(0));
    insta::assert_snapshot!("where_things_stand", rig.seen());
    assert_eq!(rig.run(&["task", "--json"]), Some(0));
    rig.saw("\"phase\": \"plan_ready\"");
}

/// The same task goes on; another one waits until this one is over.
#[test]
fn a_directory_has_one_task_at_a_time() {
    let mut rig = Rig::new("");
    assert_eq!(rig.does(&["--mode", "single"], &[("stay", &[])]), Some(8));
    assert_eq!(rig.run(&["task", "Something else"]), Some(2));
    rig.saw("a directory has one task at a time");
    assert_eq!(rig.run(&["task", TASK]), Some(8));
    assert_eq!(rig.scratch.status()["runs"].as_array().unwrap().len(), 1);
    // When it is over, the same task has another name.
    assert_eq!(rig.answers(&[]), Some(0), "{}", rig.told);
    assert_eq!(rig.run(&["task", TASK, "--mode", "single"]), Some(8));
    assert_eq!(rig.state()["branch"], format!("harness/{SLUG}-2"));
}
