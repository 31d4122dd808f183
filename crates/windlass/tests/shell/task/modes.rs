//! The whole way, in each mode.

use super::rig::{DOCS, Rig, SLUG, TASK, implements};

fn whole(mode: &str) -> Rig {
    let mut rig = Rig::new(&implements(Some(1), "bad\n"));
    let main = rig.scratch.git(&["rev-parse", "main"]);
    let code = rig.does(&["--mode", mode, "--model-config", "balanced"], &[]);
    assert_eq!(code, Some(0), "{}", rig.told);
    // It is on a branch of its own, once, and nothing else has changed.
    assert_eq!(rig.landed(), ["hello.txt"]);
    assert_eq!(rig.scratch.git(&["show", &format!("harness/{SLUG}:hello.txt")]), "hello");
    let subject =
        rig.scratch.git(&["log", "-1", "--format=%s%n%an%n%cn", &format!("harness/{SLUG}")]);
    assert_eq!(subject, format!("{TASK}\nAda\nWindlass"));
    assert_eq!(rig.scratch.git(&["rev-parse", "main"]), main);
    assert_eq!(
        rig.scratch.git(&["branch", "--format=%(refname:short)"]),
        format!("harness/{SLUG}\nmain")
    );
    assert_eq!(rig.scratch.git(&["status", "--porcelain"]), "");
    assert_eq!(
        (rig.file(".harness/state.json"), rig.file(&format!("{DOCS}/spec.md"))),
        (None, None)
    );
    assert!(!rig.scratch.repo().join("docs").exists(), "what is empty does not stay");
    rig.saw("[harness] Verify (Layer 1) FAIL — retrying Generator (attempt 1/3)");
    rig
}

#[test]
fn single() {
    insta::assert_snapshot!("single", whole("single").seen());
}

#[test]
fn standard() {
    let rig = whole("standard");
    rig.saw("✓ 2 proposals generated");
    insta::assert_snapshot!("standard", rig.seen());
}

#[test]
fn multi() {
    let rig = whole("multi");
    rig.saw("✓ 3 proposals generated");
    rig.saw("✓ 3 cross-critiques completed");
    rig.saw("✓ Reviews: 2 advisors completed");
    // Who is first in a panel is nobody's to say.
    let lines = |word: &str| rig.told.lines().filter(|line| line.contains(word)).count();
    assert_eq!((lines("cross-critique (acted)"), lines("(acted)")), (3, 13));
    insta::assert_snapshot!("multi", rig.seen());
}

/// A task that is a file, or comes by standard input, is the same task.
#[test]
fn a_task_may_be_a_file_or_a_stream() {
    use std::io::Write as _;
    let mut rig =
        Rig::with("", &[("TASK.md", "Say hello to the world\n\nIn a file called hello.txt.\n")]);
    assert_eq!(rig.run(&["task", "--file", "TASK.md"]), Some(8));
    assert_eq!(rig.state()["slug"], "say-hello-to-the-world-in-a-file-called-hellotxt");
    let task = rig.state()["task"].as_str().unwrap().to_owned();
    assert_eq!(task, "Say hello to the world\n\nIn a file called hello.txt.");

    let rig = Rig::new("");
    let mut command = rig.scratch.windlass(&["task", "-"]);
    let mut child = command.stdin(std::process::Stdio::piped()).spawn().unwrap();
    // Longer than any command line.
    let long = format!("{TASK}\n{}", "and so on\n".repeat(50_000));
    child.stdin.take().unwrap().write_all(long.as_bytes()).unwrap();
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(8));
    assert_eq!(rig.state()["task"].as_str().unwrap().len(), long.trim().len());
}
