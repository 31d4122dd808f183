//! What somebody tried against a task, and what it came to.

use std::fs;

use super::rig::{CONFIG, DOCS, Rig, SLUG, TASK, implements, patch, proposes, says};

const SINGLE: [&str; 4] = ["--mode", "single", "--model-config", "balanced"];

/// Papers that are there already are somebody's: another name is taken, and nothing of theirs changes.
#[test]
fn papers_that_are_there_already_stay() {
    let mut rig = Rig::new("");
    let spec = format!("{DOCS}/spec.md");
    fs::create_dir_all(rig.scratch.repo().join(DOCS)).unwrap();
    fs::write(rig.scratch.repo().join(&spec), b"PRECIOUS\xff").unwrap();
    assert_eq!(rig.does(&SINGLE, &[]), Some(0), "{}", rig.told);
    rig.saw(&format!("harness/{SLUG}-2"));
    assert_eq!(fs::read(rig.scratch.repo().join(&spec)).unwrap(), b"PRECIOUS\xff");
    // Also those that an earlier task has left.
    let mut rig = Rig::new("");
    rig.does(&SINGLE, &[("commit_gate", &["nothing"])]);
    rig.scratch.git(&["add", "-A"]);
    rig.scratch.git(&["commit", "-qm", "Taken"]);
    let first = rig.file(&spec).unwrap();
    rig.does(&SINGLE, &[("stay", &[])]);
    assert_eq!(rig.state()["slug"], format!("{SLUG}-2"));
    assert_eq!(rig.file(&spec), Some(first));
}

/// A restart takes `.harness/` away; a spec of theirs is set aside as it is before ours takes its place.
#[test]
fn a_restart_loses_no_spec() {
    let state = format!(r#"{{"version":"2.0","task":"{TASK}","phase":"generate_ready"}}"#);
    let mut rig = Rig::new("");
    rig.write(".harness/state.json", &state);
    let spec = format!("{DOCS}/spec.md");
    fs::create_dir_all(rig.scratch.repo().join(DOCS)).unwrap();
    fs::write(rig.scratch.repo().join(&spec), b"PRECIOUS\xff").unwrap();
    rig.run(&["task"]);
    rig.answers(&[
        ("session_gate", &["restart"]),
        ("ask_scan", &["skip"]),
        ("spec_gate", &["proceed"]),
        ("commit_gate", &["code_only"]),
    ]);
    let aside = rig.scratch.repo().join(format!("{spec}.aside-1"));
    assert_eq!(fs::read(aside).unwrap(), b"PRECIOUS\xff", "{}", rig.told);
}

/// What git is told to ignore is no reason to write over it.
#[test]
fn a_landing_leaves_an_ignored_file_alone() {
    let ignored = says(
        "role = 'generator-single'",
        "verdict = 'changed'",
        "changes.md changed — 2 files",
        &[("local.txt", "AGENT"), (".gitignore", "nothing\n"), ("{changes.md}", "- local.txt")],
    );
    let mut rig = Rig::with(&ignored, &[(".gitignore", "local.txt\n")]);
    rig.write("local.txt", "MINE");
    rig.does(&SINGLE, &[("ask_scan", &["skip"]), ("spec_gate", &["proceed"]), ("stay", &[])]);
    rig.scratch.git(&["checkout", "-q", "-b", &format!("harness/{SLUG}")]);
    rig.answers(&[("commit_gate", &["code_only"])]);
    assert_eq!(rig.file("local.txt").as_deref(), Some("MINE"), "{}", rig.told);
    rig.saw("local.txt is in the way, and no commit has it");
}

/// What was listed goes, and nothing else: not what is beside it, not what came later.
#[test]
fn the_output_base_is_what_was_said_and_what_was_listed() {
    let mut rig = Rig::with("", &[("src/main.txt", "mine")]);
    let asks = ["--mode", "single", "--output-dir", "src/papers", "--remove-output-base"];
    rig.write("src/papers/older/spec.md", "Old.");
    assert_eq!(
        rig.does(&asks, &[("commit_gate", &["code_only"]), ("stay", &[])]),
        Some(8),
        "{}",
        rig.told
    );
    let gates = rig.scratch.windlass(&["gates"]).output().unwrap();
    assert!(String::from_utf8_lossy(&gates.stdout).contains("src/papers/older: 1 files"));
    rig.write("src/papers/later.md", "Later.");
    rig.answers(&[("remove_gate", &["yes"])]);
    assert!(rig.file("src/papers/older/spec.md").is_none(), "{}", rig.told);
    assert!(rig.file("src/papers/later.md").is_some() && rig.file("src/main.txt").is_some());
}

/// Secrets are on no record: not by the command line, not in a commit.
#[test]
fn secrets_are_refused_and_do_not_land() {
    let rig = Rig::new("");
    for flags in [["--lint-cmd", "echo tok-abcdef-123456"], ["--scope", "tok-abcdef-123456"]] {
        let words = ["task", TASK, flags[0], flags[1]];
        let output = rig
            .scratch
            .windlass(&words)
            .env("MY_DEPLOY_TOKEN", "tok-abcdef-123456")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("holds the value of a secret"), "{said}");
    }
    let mut rig = Rig::new(&implements(None, "tok-abcdef-123456\n"));
    let mut go = |args: &[&str]| {
        let output = rig
            .scratch
            .windlass(args)
            .env("MY_DEPLOY_TOKEN", "tok-abcdef-123456")
            .output()
            .unwrap();
        rig.told.push_str(&String::from_utf8_lossy(&output.stderr));
        output.status.code()
    };
    go(&["task", TASK, "--mode", "single"]);
    for answer in ["skip", "proceed", "code_only"] {
        let (_, _, _) = (
            go(&["answer", "0", answer]),
            go(&["answer", "1", answer]),
            go(&["answer", "2", answer]),
        );
        go(&["resume"]);
    }
    rig.saw("hello.txt holds the value of a secret, so nothing lands");
    assert!(!rig.told.contains("tok-abcdef-123456"), "{}", rig.told);
    assert_eq!(rig.scratch.git(&["branch", "--list", "harness/*"]), "");
}

/// A stranger's file does not say where work lands, and what it says wrong is left out.
#[test]
fn a_strangers_state_decides_little() {
    let state = format!(
        r#"{{"version":"2.0","task":"{TASK}","phase":"generate_ready","slug":"../../evil","branch":"main","mode":"wild"}}"#
    );
    let mut rig = Rig::new("");
    rig.write(".harness/state.json", &state);
    rig.write(&format!("{DOCS}/spec.md"), "# Spec");
    let main = rig.scratch.git(&["rev-parse", "main"]);
    rig.run(&["task", "--mode", "single"]);
    rig.answers(&[("session_gate", &["resume"]), ("commit_gate", &["code_only"])]);
    assert_eq!(rig.scratch.git(&["rev-parse", "main"]), main, "{}", rig.told);
    assert_eq!(rig.landed(), ["hello.txt"]);
    // What cannot be read is refused at once.
    let mut rig = Rig::new("");
    fs::create_dir(rig.scratch.repo().join(".harness")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", rig.scratch.repo().join(".harness/state.json"))
        .unwrap();
    assert_eq!(rig.run(&["task", TASK]), Some(2), "{}", rig.told);
    rig.saw("an earlier session cannot be read");
}

/// Two verdicts in one report are none.
#[test]
fn a_report_with_two_verdicts_passes_nothing() {
    let both = says(
        "role = 'evaluator'",
        "verdict = 'pass'",
        "PASS — all",
        &[("{qa_report.md}", "### Verdict: FAIL\n\n### Verdict: PASS\n")],
    );
    let mut rig = Rig::new(&both);
    assert_eq!(rig.does(&SINGLE, &[]), Some(8));
    assert_eq!(rig.asked().unwrap().1, "qa_layer3", "{}", rig.told);
}

/// Papers of an earlier task that the base has are not taken for what was written by hand.
#[test]
fn papers_of_the_base_are_nobodys_answer() {
    let old = format!("{DOCS}/qa_notes.md");
    let mut rig =
        Rig::with("", &[(&old, "Old notes."), (".harness/planner/proposal_architect.md", "Old.")]);
    assert_eq!(rig.does(&SINGLE, &[("commit_gate", &["all"])]), Some(0), "{}", rig.told);
    // What the person has in their index is theirs.
    assert_eq!(rig.scratch.git(&["status", "--porcelain"]), "");
    assert_eq!(rig.file(".harness/planner/proposal_architect.md").as_deref(), Some("Old."));
}

/// What a patch may not be: more files than allowed, a link, a path that starts at a root.
#[test]
fn a_patch_stays_within_its_limits() {
    let more: String =
        (1..4).map(|n| format!("--- /dev/null\n+++ b/more-{n}.txt\n@@ -0,0 +1 @@\n+x\n")).collect();
    let link = "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc/passwd\n\\ No newline at end of file\n";
    for (text, why) in [
        (more.as_str(), "a change of more than 2 files"),
        (link, "would be a link or a submodule"),
        (
            "--- /dev/null\n+++ /tmp/evil.txt\n@@ -0,0 +1 @@\n+x\n",
            "Diff path validation failed: /tmp/evil.txt",
        ),
    ] {
        let mut rig = Rig::new(&format!(
            "{}{}",
            proposes("High", &format!("```diff\n{text}```\n")),
            implements(None, "bad\n")
        ));
        rig.does(&["--mode", "single", "--max-files", "2"], &[]);
        rig.answers(&[("verify_gate", &["autofix"]), ("patch_gate", &["apply"]), ("stay", &[])]);
        rig.saw(why);
        assert_eq!(rig.state()["autofix"]["applied"], "rejected");
    }
    assert!(patch("a", "b").contains("@@"));
}

/// Hooks: one that stages what it rewrites has changed files, and one that fails is no matter of the scope.
#[test]
fn hooks_are_heeded_where_commands_run() {
    let hook = |rig: &Rig, text: &str| {
        use std::os::unix::fs::PermissionsExt as _;
        let path = rig.scratch.repo().join(".git/hooks/pre-commit");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    for text in ["printf rewritten > hello.txt; git add hello.txt", "exit 1"] {
        let mut rig = Rig::with("", &[("windlass.toml", CONFIG)]);
        hook(&rig, text);
        rig.does(&SINGLE, &[]);
        assert_eq!(rig.asked().unwrap().1, "verify_gate", "{text}: {}", rig.told);
        rig.saw("check commit-hooks: fail");
    }
}

#[test]
fn what_says_nothing_is_refused() {
    let mut rig = Rig::new("");
    for flags in [["--test-cmd", "  "], ["--scope", " , "], ["--output-dir", "test.sh"]] {
        assert_eq!(
            rig.run(&["task", TASK, flags[0], flags[1]]),
            Some(2),
            "{flags:?}: {}",
            rig.told
        );
    }
    assert_eq!(rig.run(&["task", "--mode", "single", "generate"]), Some(2));
    rig.scratch.git(&["branch", "harness"]);
    assert_eq!(rig.run(&["task", TASK]), Some(1));
    rig.saw("there is a branch `harness`");
    assert!(rig.file(".harness/state.json").is_none());
}
