//! Conventions, discovery notes, and the gate at which a spec is confirmed.

use super::rig::{DOCS, Rig, SPEC, says};

#[test]
fn conventions_are_asked_for_scanned_or_skipped() {
    let mut rig = Rig::new("");
    rig.does(&["--mode", "single"], &[("ask_scan", &["scan"]), ("stay", &[])]);
    rig.saw("[harness] Conventions: scanned and saved to .harness/conventions.md");
    assert_eq!(rig.file(".harness/conventions.md").as_deref(), Some("Use spaces."));
    assert_eq!(rig.state()["conventions"], "file:.harness/conventions.md");
    let mut rig = Rig::new("");
    rig.does(&["--mode", "single"], &[("ask_scan", &["skip"]), ("stay", &[])]);
    rig.saw("[harness] Conventions: skipped.");
    assert_eq!(rig.state()["conventions"], "skipped");
}

#[test]
fn a_rich_claude_md_is_taken_and_a_sparse_one_is_not() {
    let rich = "Use spaces.\n".repeat(50);
    let mut rig = Rig::with("", &[("CLAUDE.md", &rich)]);
    rig.does(&["--mode", "single"], &[("stay", &[])]);
    rig.saw("[harness] Conventions: CLAUDE.md detected (rich). Copied to .harness/conventions.md");
    assert_eq!(
        (rig.file(".harness/conventions.md"), rig.asked().unwrap().1.as_str()),
        (Some(rich), "spec_gate")
    );
    let mut rig = Rig::with("", &[("CLAUDE.md", &"Use spaces.\n".repeat(49))]);
    rig.does(&["--mode", "single"], &[("stay", &[])]);
    assert_eq!(rig.asked().unwrap().1, "ask_scan");
    // What a spec has left beside its papers counts more than either.
    let kept = format!("{DOCS}/conventions.md");
    let mut rig = Rig::with("", &[("CLAUDE.md", &"x\n".repeat(60)), (&kept, "Use tabs.")]);
    rig.does(&["--mode", "single"], &[("stay", &[])]);
    assert_eq!(rig.file(".harness/conventions.md").as_deref(), Some("Use tabs."));
}

#[test]
fn a_scan_that_writes_nothing_is_retried_twice_at_most() {
    let nothing =
        says("role = 'convention-scanner'", "verdict = 'written'", "conventions written", &[]);
    let mut rig = Rig::new(&nothing);
    let again: (&str, &[&str]) = ("scan_failed", &["retry"]);
    let code =
        rig.does(&["--mode", "single"], &[("ask_scan", &["scan"]), again, again, ("stay", &[])]);
    assert_eq!(code, Some(8), "{}", rig.told);
    let (id, stage, options) = rig.asked().unwrap();
    assert_eq!(
        (stage.as_str(), options[0].as_str()),
        ("scan_failed", "skip"),
        "{id}: no third retry"
    );
    let gates = rig.scratch.windlass(&["gates"]).output().unwrap();
    let gates = String::from_utf8_lossy(&gates.stdout).into_owned();
    assert!(gates.contains("Convention scan completed but output file not found."), "{gates}");
    rig.answers(&[("scan_failed", &["skip"]), ("stay", &[])]);
    assert_eq!(rig.state()["conventions"], "skipped");
}

#[test]
fn discovery_notes_that_cannot_be_read_are_said_and_hold_nothing_up() {
    let mut rig = Rig::new("");
    rig.write(&format!("{DOCS}/qa_notes.md/in-the-way"), "a directory");
    rig.does(&["--mode", "single"], &[("ask_scan", &["skip"]), ("stay", &[])]);
    rig.saw("Discovery Notes will be empty for planner injection.");
    assert_eq!(rig.asked().unwrap().1, "spec_gate");
}

#[test]
fn modify_takes_an_edit_or_words_and_asks_again() {
    let edited = format!("{SPEC}\nAC2: louder.");
    let editor = says(
        "role = 'spec-editor'",
        "verdict = 'generated'",
        "spec.md generated — as asked",
        &[("{spec.md}", "# Spec\n\nAC1: in words.")],
    );
    let mut rig = Rig::new(&editor);
    rig.does(&["--mode", "single"], &[("ask_scan", &["skip"]), ("stay", &[])]);
    let spec = format!("{DOCS}/spec.md");
    // What was edited since it was shown is not confirmed unseen.
    rig.write(&spec, &edited);
    let (id, stage, _) = rig.asked().unwrap();
    assert_eq!(stage, "spec_gate");
    assert_ne!(rig.run(&["answer", &id, "proceed"]), Some(0));
    rig.saw("was edited since it was shown");
    rig.answers(&[("spec_gate", &["modify"]), ("edit_spec", &["edited"]), ("stay", &[])]);
    let gates = rig.scratch.windlass(&["gates"]).output().unwrap();
    assert!(String::from_utf8_lossy(&gates.stdout).contains("AC2: louder."));
    // Words go to whoever writes it, with what was edited meanwhile, and come back as a spec.
    rig.write(&spec, &format!("{edited}\nAC3: by hand."));
    rig.answers(&[
        ("spec_gate", &["modify"]),
        ("edit_spec", &["other", "--text", "only in words"]),
        ("stay", &[]),
    ]);
    assert_eq!(rig.asked().unwrap().1, "spec_gate", "{}", rig.told);
    let gates = rig.scratch.windlass(&["gates"]).output().unwrap();
    let gates = String::from_utf8_lossy(&gates.stdout).into_owned();
    assert!(gates.contains("AC1: in words."), "{gates}");
    let entries = rig.scratch.entries();
    let asked =
        entries.iter().find(|entry| entry["note"] == "asked" && entry["role"] == "spec-editor");
    assert!(asked.is_some());
    let told = rig.scratch.windlass(&["log", "--full"]).output().unwrap();
    assert!(
        String::from_utf8_lossy(&told.stdout).contains("AC3: by hand."),
        "it was put into that"
    );
    insta::assert_snapshot!("modify", rig.seen());
}

#[test]
fn stop_halts_and_asks_again_and_no_policy_confirms_a_spec() {
    let config =
        format!("{}[policies.all]\nstage = 'spec_gate'\nanswer = 'proceed'\n", super::rig::CONFIG);
    let mut rig = Rig::with("", &[("windlass.toml", &config)]);
    assert_ne!(rig.does(&["--mode", "single"], &[]), Some(0));
    rig.saw("policy \"all\" cannot answer \"spec_gate\"");
    let mut rig = Rig::new("");
    let code =
        rig.does(&["--mode", "single"], &[("ask_scan", &["skip"]), ("spec_gate", &["stop"])]);
    assert_eq!(code, Some(5), "{}", rig.told);
    assert_eq!(rig.state()["phase"], "plan_done");
    assert_eq!(rig.run(&["resume"]), Some(8));
    assert_eq!(rig.asked().unwrap().1, "spec_gate");
}
