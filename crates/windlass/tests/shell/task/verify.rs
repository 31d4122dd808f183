//! Layer 1: retries, the first gate, auto-fix, and projects whose checks say nothing.

use super::rig::{CONFIG, DOCS, Rig, SLUG, implements, patch, proposes, says};

const SINGLE: [&str; 4] = ["--mode", "single", "--model-config", "balanced"];

/// A task whose implementation never passes.
fn spent(script: &str) -> Rig {
    let mut rig = Rig::new(&format!("{script}{}", implements(None, "bad\n")));
    assert_eq!(rig.does(&SINGLE, &[]), Some(8), "{}", rig.told);
    assert_eq!(rig.asked().unwrap().1, "verify_gate");
    for attempt in 1..=3 {
        rig.saw(&format!(
            "[harness] Verify (Layer 1) FAIL — retrying Generator (attempt {attempt}/3)"
        ));
    }
    let state = rig.state();
    assert_eq!(
        (&state["verify"]["layer1_retries"], &state["verify"]["layer1_result"]),
        (&3.into(), &"FAIL".into())
    );
    rig
}

fn gates(rig: &Rig) -> String {
    String::from_utf8(rig.scratch.windlass(&["gates"]).output().unwrap().stdout).unwrap()
}

#[test]
fn three_retries_and_then_the_first_gate() {
    let mut rig = spent("");
    let shown = gates(&rig);
    for line in [
        "[harness] Verify (Layer 1) FAIL — max retries reached (3/3)",
        "Latest error: FAIL — test: error: hello.txt:1 is bad",
        &format!("See: {DOCS}/verify_report.md"),
        "Mechanical verification failed after 3 attempts.",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    let report = rig.file(&format!("{DOCS}/verify_report.md")).unwrap();
    assert!(report.contains("| test | `sh test.sh` | FAIL |"), "{report}");
    assert_eq!(rig.answers(&[("verify_gate", &["stop"])]), Some(5));
    assert_eq!(rig.state()["phase"], "verify_done");
    rig.told.push_str(&gates(&rig));
    insta::assert_snapshot!("layer_1_spent", rig.seen());
}

#[test]
fn continue_goes_on_with_the_failure_on_record() {
    let mut rig = spent("");
    assert_eq!(rig.answers(&[("verify_gate", &["continue"])]), Some(0), "{}", rig.told);
    rig.saw("layer 1 had failed when it was gone on with");
    assert_eq!(rig.landed(), ["hello.txt"], "the person's answer is the waiver");
    let prompts = rig.scratch.entries();
    let told =
        prompts.iter().filter(|entry| entry["note"] == "asked" && entry["role"] == "evaluator");
    assert_eq!(told.count(), 1);
    insta::assert_snapshot!("continue_after_layer_1", rig.seen());
}

#[test]
fn what_a_person_mends_in_the_lane_is_verified() {
    let mut rig = spent("");
    let lanes = rig.scratch.windlass(&["lanes", "list", "--json"]).output().unwrap();
    let lanes: serde_json::Value = serde_json::from_slice(&lanes.stdout).unwrap();
    let own = lanes["lanes"].as_array().unwrap().iter().find(|lane| lane["unit"] == SLUG).unwrap();
    let work = own["path"].as_str().or(own["work"].as_str()).unwrap().to_owned();
    std::fs::write(format!("{work}/hello.txt"), "hello by hand\n").unwrap();
    assert_eq!(rig.answers(&[("verify_gate", &["manual"])]), Some(0), "{}", rig.told);
    assert_eq!(rig.scratch.git(&["show", &format!("harness/{SLUG}:hello.txt")]), "hello by hand");
}

#[test]
fn a_patch_is_proposed_applied_and_passes() {
    let mut rig = spent("");
    rig.answers(&[("verify_gate", &["autofix"]), ("stay", &[])]);
    let (state, shown) = (rig.state(), gates(&rig));
    assert_eq!(
        (&state["autofix"]["applied"], &state["verify"]["autofix_attempted"]),
        (&"proposed".into(), &false.into())
    );
    for line in [
        "[harness] ℹ Auto-fix model: opus",
        "Proposed fix generated (confidence: High). Apply the patch?",
        "+++ b/hello.txt",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    assert_eq!(rig.answers(&[("patch_gate", &["apply"])]), Some(0), "{}", rig.told);
    rig.saw("[harness] Applying patch to: hello.txt");
    assert_eq!(rig.scratch.git(&["show", &format!("harness/{SLUG}:hello.txt")]), "hello");
    insta::assert_snapshot!("autofix_applied", rig.seen());
}

/// I2, I4: it is offered once, and the retries stay where they are.
#[test]
fn a_patch_that_does_not_mend_it_is_stopped() {
    let mut rig = spent(&proposes("Low", &patch("bad", "still bad")));
    rig.answers(&[("verify_gate", &["autofix"]), ("stay", &[])]);
    assert!(gates(&rig).contains("⚠ Low confidence — review the diff carefully before applying."));
    assert_eq!(rig.answers(&[("patch_gate", &["apply"]), ("stay", &[])]), Some(8), "{}", rig.told);
    let (_, stage, options) = rig.asked().unwrap();
    assert_eq!((stage.as_str(), options[0].as_str()), ("verify_gate", "continue"));
    let state = rig.state();
    assert_eq!(
        (&state["autofix"]["applied"], &state["verify"]["layer1_retries"]),
        (&"stopped".into(), &3.into())
    );
    assert_eq!(state["verify"]["autofix_attempted"], true);
    insta::assert_snapshot!("autofix_stopped", rig.seen());
}

#[test]
fn a_patch_may_be_rejected_or_be_none() {
    let mut rig = spent("");
    rig.answers(&[("verify_gate", &["autofix"]), ("patch_gate", &["reject"]), ("stay", &[])]);
    assert_eq!(rig.state()["autofix"]["applied"], "rejected");
    assert_eq!(rig.asked().unwrap().2[0], "continue", "it is not offered again");
    let mut rig = spent(&proposes("High", "No idea."));
    rig.answers(&[("verify_gate", &["autofix"]), ("stay", &[])]);
    rig.saw("[harness] ⚠ Patch file is empty or has no diff block — apply skipped");
    assert_eq!(rig.asked().unwrap().1, "verify_gate");
    assert_eq!(rig.state()["autofix"]["applied"], "rejected");
    // One that leads out of the work is refused whole.
    let out = "```diff\n--- /dev/null\n+++ b/.harness/state.json\n@@ -0,0 +1 @@\n+x\n```\n";
    let mut rig = spent(&proposes("High", out));
    rig.answers(&[("verify_gate", &["autofix"]), ("patch_gate", &["apply"]), ("stay", &[])]);
    rig.saw("[harness] ✗ Diff path validation failed: .harness/state.json");
    assert_eq!(rig.state()["autofix"]["applied"], "rejected");
    let mut rig = spent(&proposes("High", &patch("badly", "hello")));
    rig.answers(&[("verify_gate", &["autofix"]), ("patch_gate", &["apply"]), ("stay", &[])]);
    rig.saw("Apply failed — reverted to pre-apply state.");
}

/// I3: who stops at the second gate has decided nothing, and is asked there again.
#[test]
fn a_stop_at_the_second_gate_decides_nothing() {
    let mut rig = spent("");
    let code = rig.answers(&[("verify_gate", &["autofix"]), ("patch_gate", &["stop"])]);
    assert_eq!(code, Some(5), "{}", rig.told);
    assert_eq!(rig.state()["verify"]["autofix_attempted"], false);
    assert_eq!(rig.run(&["resume"]), Some(8));
    assert_eq!(rig.asked().unwrap().1, "patch_gate");
}

/// C15: nothing to run is SKIPPED, a model reads instead, and what lands says so.
#[test]
fn where_nothing_can_be_run_a_model_reads() {
    let config = CONFIG.replace("test = 'sh test.sh'", "test = false");
    let mut rig = Rig::with("", &[("windlass.toml", &config)]);
    let code = rig.does(&["--mode", "single", "--verifier-model", "sonnet"], &[]);
    assert_eq!(code, Some(0), "{}", rig.told);
    rig.saw("Verifier  : sonnet: it reads the change, as there is no command to run");
    rig.saw("⚠ Verifier set to sonnet — high cost for mechanical verification. haiku is usually sufficient.");
    rig.saw("no check has passed: what lands is marked as skipped");
    insta::assert_snapshot!("all_skipped", rig.seen());
}

#[test]
fn the_cost_of_a_verifier_is_no_matter_where_commands_run() {
    let mut rig = Rig::new("");
    rig.does(&["--mode", "single", "--verifier-model", "opus"], &[("stay", &[])]);
    assert!(!rig.told.contains("high cost"), "{}", rig.told);
}

/// What was red before is not charged to whoever works now.
#[test]
fn a_base_that_is_red_already_is_said() {
    let mut rig = Rig::with("", &[("old.txt", "bad\n")]);
    assert_eq!(rig.does(&SINGLE, &[]), Some(0), "{}", rig.told);
    rig.saw("fails, as it does without this work");
    assert_eq!(rig.landed(), ["hello.txt"]);
    insta::assert_snapshot!("red_base", rig.seen());
}

/// A project without the script that its language would have: there is no such check.
#[test]
fn a_script_that_is_missing_is_no_failure() {
    let config = CONFIG.replace("[checks]\ntest = 'sh test.sh'\n", "");
    let mut rig =
        Rig::with("", &[("windlass.toml", &config), ("package.json", "{\"name\":\"x\"}")]);
    assert_eq!(rig.does(&SINGLE, &[]), Some(0), "{}", rig.told);
    rig.saw("Language  : typescript");
    rig.saw("Test      : none");
    insta::assert_snapshot!("missing_script", rig.seen());
}

/// T16: whatever the agent says, what lies outside does not pass, and the files are named.
#[test]
fn scope_and_number_of_files_are_enforced() {
    let mut rig = Rig::new("");
    let code = rig.does(&["--mode", "single", "--scope", "src", "--max-files", "1"], &[]);
    assert_eq!(code, Some(8), "{}", rig.told);
    assert_eq!(rig.asked().unwrap().1, "limits_gate");
    let shown = gates(&rig);
    assert!(shown.contains("outside of the scope `src`") && shown.contains("hello.txt"), "{shown}");
    assert!(rig.scratch.git(&["branch", "--list", "harness/*"]).is_empty());
    let two = says(
        "role = 'generator-single'",
        "verdict = 'changed'",
        "changes.md changed — 2 files",
        &[("a.txt", "a"), ("b.txt", "b"), ("{changes.md}", "- a.txt")],
    );
    let mut rig = Rig::new(&two);
    rig.does(&["--mode", "single", "--max-files", "1"], &[]);
    assert!(gates(&rig).contains("2 files are changed, and no more than 1 may be"));
    rig.told.push_str(&gates(&rig));
    insta::assert_snapshot!("beyond_the_limits", rig.seen());
}

#[test]
fn what_is_left_to_be_done_fails_only_where_that_is_wanted() {
    let todo = implements(None, "hello # TODO: louder\n");
    let mut rig = Rig::new(&todo);
    assert_eq!(rig.does(&SINGLE, &[]), Some(0), "{}", rig.told);
    let mut rig = Rig::new(&todo);
    rig.does(&["--mode", "single", "--todo-blocking"], &[]);
    assert_eq!(rig.asked().unwrap().1, "verify_gate", "{}", rig.told);
    assert!(gates(&rig).contains("TODO: louder"));
}

/// T8: the command that is said is the one that runs, and `none` runs nothing.
#[test]
fn a_command_that_is_said_is_run() {
    let mut rig = Rig::new("");
    rig.does(&["--mode", "single", "--lint-cmd", "! test -e hello.txt"], &[]);
    assert_eq!(rig.asked().unwrap().1, "verify_gate", "{}", rig.told);
    rig.saw("check lint: fail");
    let mut rig = Rig::new(&implements(None, "bad\n"));
    assert_eq!(rig.does(&["--mode", "single", "--test-cmd", "none"], &[]), Some(0), "{}", rig.told);
    rig.saw("check test: skipped");
}
