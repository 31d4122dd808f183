//! The example that README begins with: a folder of issues, without an account, as somebody does who types what stands there.

use std::fs;
use std::path::{Path, PathBuf};

use crate::scratch::{Scratch, ended};

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files(below: &Path, dir: &Path) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(self::files(below, &path));
        } else {
            let name = path.strip_prefix(below).unwrap().to_str().unwrap().to_owned();
            files.push((name, fs::read_to_string(&path).unwrap()));
        }
    }
    files
}

#[test]
fn what_readme_says_works_as_it_is_written() {
    let page = fs::read_to_string(top().join("README.md")).unwrap();
    let section = page.split("## Work off a tracker's issues").nth(1).unwrap();
    let block = section.split("```").nth(1).unwrap();
    assert!(block.contains("cp -r examples/issues "), "{block}");
    let dir = top().join("examples/issues");
    let files = files(&dir, &dir);
    let files: Vec<(&str, &str)> = files.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect();
    let scratch = Scratch::with(&files);
    let before = scratch.git(&["status", "--porcelain"]);
    let mut told = String::new();
    let commands = block.lines().filter(|line| line.starts_with("windlass issues"));
    let mut commands: Vec<&str> = commands.filter_map(|line| line.split("   ").next()).collect();
    // The same with an account.
    commands.retain(|line| !line.contains("--tracker") && !line.contains("--land pr"));
    assert!(commands.len() >= 4, "{commands:?}");
    for command in commands {
        let words: Vec<&str> = command.split_whitespace().skip(1).collect();
        let output = scratch.windlass(&words).output().unwrap();
        told += &String::from_utf8_lossy(&output.stdout);
        let (code, said) = ended(output);
        assert_eq!(code, Some(0), "{command}: {said}");
        told += &said;
    }
    for line in ["[ISSUE_COMPLETE: hello]", "[ISSUE_COMPLETE: bye]", "[HARNESS_DONE]"] {
        assert!(told.lines().any(|it| it == line), "{line}: {told}");
    }
    assert!(told.contains("hello: check tier0: greetings: fail"), "one group fails once: {told}");
    let subjects = scratch.git(&["log", "--reverse", "--format=%s", "main"]);
    let landed: Vec<&str> = subjects.lines().skip(1).collect();
    assert_eq!(landed, ["feat: say hello", "feat: greet the world", "feat: say goodbye"]);
    let issue = fs::read_to_string(scratch.repo().join("issues/hello.md")).unwrap();
    assert!(issue.contains("Harness completed issue in iteration 1."), "{issue}");
    let someday = fs::read_to_string(scratch.repo().join("issues/someday.md")).unwrap();
    assert!(!someday.contains("Harness"), "{someday}");
    let after = scratch.git(&["status", "--porcelain"]);
    assert_eq!(before, "", "{after}");
}
