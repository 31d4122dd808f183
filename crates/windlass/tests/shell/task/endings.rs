//! How a task ends: code only, everything, nothing; with and without git; and what is cleaned up.

use super::rig::{DOCS, Rig, SLUG};

const SINGLE: [&str; 4] = ["--mode", "single", "--model-config", "balanced"];

#[test]
fn commit_all_keeps_the_papers_in_the_commit() {
    let mut rig = Rig::new("");
    assert_eq!(rig.does(&SINGLE, &[("commit_gate", &["all"])]), Some(0), "{}", rig.told);
    let mut want: Vec<String> = ["changes.md", "qa_report.md", "spec.md", "verify_report.md"]
        .map(|name| format!("{DOCS}/{name}"))
        .into();
    want.push("hello.txt".to_owned());
    assert_eq!(rig.landed(), want);
    assert!(rig.file(".harness/state.json").is_none());
    // Nothing is in the way of the one command that takes it.
    rig.saw(&format!("Take it: git merge harness/{SLUG}"));
    rig.scratch.git(&["merge", "-q", &format!("harness/{SLUG}")]);
    assert!(rig.file(&format!("{DOCS}/spec.md")).is_some());
    insta::assert_snapshot!("commit_all", rig.seen());
}

#[test]
fn no_commit_leaves_the_change_in_the_checkout() {
    let mut rig = Rig::new("");
    let before = rig.scratch.git(&["rev-parse", "HEAD"]);
    assert_eq!(rig.does(&SINGLE, &[("commit_gate", &["nothing"])]), Some(0), "{}", rig.told);
    assert_eq!(rig.file("hello.txt").as_deref(), Some("hello\n"));
    assert_eq!(rig.scratch.git(&["rev-parse", "HEAD"]), before);
    assert_eq!(rig.scratch.git(&["branch", "--list", "harness/*"]), "");
    assert!(
        rig.file(".harness/state.json").is_none() && rig.file(&format!("{DOCS}/spec.md")).is_some()
    );
    insta::assert_snapshot!("no_commit", rig.seen());
}

/// What the person has there stays, and the lane is named.
#[test]
fn a_checkout_that_cannot_take_it_keeps_the_lane() {
    let mut rig = Rig::new("");
    rig.does(&SINGLE, &[("stay", &[])]);
    rig.answers(&[("ask_scan", &["skip"]), ("spec_gate", &["proceed"]), ("stay", &[])]);
    rig.write("hello.txt", "mine");
    assert_eq!(
        rig.answers(&[("commit_gate", &["nothing"]), ("stay", &[])]),
        Some(8),
        "{}",
        rig.told
    );
    assert_eq!(rig.file("hello.txt").as_deref(), Some("mine"));
    rig.saw("Your checkout could not take the change. It is kept");
    // Nothing is over: once there is room, it is given.
    std::fs::remove_file(rig.scratch.repo().join("hello.txt")).unwrap();
    assert_eq!(rig.answers(&[("refused_gate", &["give_again"])]), Some(0), "{}", rig.told);
    assert_eq!(rig.file("hello.txt").as_deref(), Some("hello\n"));
    rig.saw("The change is in your working tree, without a commit.");
}

/// The only ending without git: the change is there, nothing is committed, nothing of git appears.
#[test]
fn without_git_the_change_is_given() {
    let mut rig = Rig::without_git("");
    assert_eq!(rig.does(&SINGLE, &[]), Some(0), "{}", rig.told);
    assert_eq!(rig.file("hello.txt").as_deref(), Some("hello\n"));
    assert!(!rig.scratch.repo().join(".git").exists());
    assert!(!rig.told.contains("Branch"), "{}", rig.told);
    assert!(rig.file(".harness/state.json").is_none());
    rig.saw(&format!("Artifacts are in {DOCS}/"));
    insta::assert_snapshot!("without_git", rig.seen());
}

#[test]
fn without_git_a_patch_is_applied_and_a_file_of_theirs_stays() {
    use super::rig::implements;
    let mut rig = Rig::without_git(&implements(None, "bad\n"));
    rig.does(&SINGLE, &[]);
    assert_eq!(rig.state()["has_git"], false);
    assert_eq!(
        rig.answers(&[("verify_gate", &["autofix"]), ("patch_gate", &["apply"])]),
        Some(0),
        "{}",
        rig.told
    );
    assert_eq!(rig.file("hello.txt").as_deref(), Some("hello\n"));
    let mut rig = Rig::without_git("");
    rig.does(&SINGLE, &[("ask_scan", &["skip"]), ("stay", &[])]);
    rig.write("hello.txt", "mine");
    assert_eq!(rig.answers(&[("spec_gate", &["proceed"])]), Some(0), "{}", rig.told);
    assert_eq!(rig.file("hello.txt").as_deref(), Some("mine"));
    rig.saw("Your checkout could not take the change.");
    assert!(!rig.told.contains("The change is in your working tree"), "{}", rig.told);
    rig.saw("windlass lanes restore");
}

/// T20: what a spec has left is in the history before it goes; what git ignores is not, and stays.
#[test]
fn spec_artifacts_land_before_they_are_removed() {
    let mut rig = Rig::new("");
    rig.write(&format!("{DOCS}/qa_notes.md"), "Ask Bob.");
    rig.write(&format!("{DOCS}/conventions.md"), "Use tabs.");
    rig.write(&format!("{DOCS}/mine.md"), "Nobody's but mine.");
    assert_eq!(rig.does(&SINGLE, &[]), Some(0), "{}", rig.told);
    assert_eq!(
        rig.landed(),
        [format!("{DOCS}/conventions.md"), format!("{DOCS}/qa_notes.md"), "hello.txt".to_owned()]
    );
    assert_eq!(
        rig.scratch.git(&["show", &format!("harness/{SLUG}:{DOCS}/qa_notes.md")]),
        "Ask Bob."
    );
    assert_eq!(
        (rig.file(&format!("{DOCS}/qa_notes.md")), rig.file(&format!("{DOCS}/spec.md"))),
        (None, None)
    );
    assert_eq!(rig.file(&format!("{DOCS}/mine.md")).as_deref(), Some("Nobody's but mine."));
    rig.saw("Left alone, because they are not as Windlass wrote them");

    let mut rig = Rig::with("", &[(".gitignore", "docs/\n")]);
    rig.write(&format!("{DOCS}/qa_notes.md"), "Ask Bob.");
    assert_eq!(rig.does(&SINGLE, &[]), Some(0), "{}", rig.told);
    rig.saw(&format!("Failed to stage {DOCS}/qa_notes.md:"));
    rig.saw("Spec artifact may not be in git history.");
    assert_eq!(rig.landed(), ["hello.txt"]);
    assert_eq!(rig.file(&format!("{DOCS}/qa_notes.md")).as_deref(), Some("Ask Bob."));
}

#[test]
fn the_output_base_is_removed_on_request_only() {
    let mut rig = Rig::new("");
    rig.write("docs/harness/memory/team.md", "Known.");
    rig.write("docs/harness/older/spec.md", "Old.");
    let asks = ["--mode", "single", "--remove-output-base"];
    assert_eq!(
        rig.does(&asks, &[("commit_gate", &["code_only"]), ("stay", &[])]),
        Some(8),
        "{}",
        rig.told
    );
    for line in [
        "docs/harness/memory: 1 files",
        "docs/harness/older: 1 files",
        "Contains team knowledge from /memory skill.",
        "docs/ is git-ignored — all artifacts permanently deleted.",
    ] {
        rig.saw(line);
    }
    rig.answers(&[("remove_gate", &["no"])]);
    assert!(rig.file("docs/harness/older/spec.md").is_some());
    let mut rig = Rig::new("");
    rig.write("docs/harness/older/spec.md", "Old.");
    rig.does(&asks, &[("commit_gate", &["code_only"]), ("remove_gate", &["yes"])]);
    assert!(rig.file("docs/harness/older/spec.md").is_none(), "{}", rig.told);
}

/// What is ended for good leaves none of our files, and its work is named.
#[test]
fn a_task_that_is_cancelled_cleans_up_and_keeps_its_work() {
    let mut rig = Rig::new("");
    rig.does(&SINGLE, &[("ask_scan", &["skip"]), ("spec_gate", &["proceed"]), ("stay", &[])]);
    assert_eq!(rig.asked().unwrap().1, "commit_gate");
    rig.write(&format!("{DOCS}/mine.md"), "Mine.");
    assert_eq!(rig.run(&["stop", "--cancel", "task-1"]), Some(0), "{}", rig.told);
    rig.run(&["resume"]);
    assert!(!rig.scratch.repo().join(".harness").exists(), "{}", rig.told);
    assert!(
        rig.file(&format!("{DOCS}/spec.md")).is_none()
            && rig.file(&format!("{DOCS}/mine.md")).is_some()
    );
    rig.saw("what was in its lane is kept: windlass lanes restore ");
    assert_eq!(rig.scratch.git(&["branch", "--list", "harness/*"]), "");
}
