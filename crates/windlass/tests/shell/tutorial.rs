//! The tutorial of `docs/workflows.md`: the example that it is about is sound, is what the page shows, and runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::scratch::{Scratch, ended};

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files of the example, by path.
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

fn example() -> Scratch {
    let dir = top().join("examples/audit");
    let files = files(&dir, &dir);
    let files: Vec<(&str, &str)> = files.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect();
    Scratch::with(&files)
}

#[test]
fn the_page_shows_the_example_as_it_is() {
    let page = fs::read_to_string(top().join("docs/workflows.md")).unwrap();
    for name in ["audit.toml", "catalogue.toml"] {
        let text = fs::read_to_string(top().join("examples/audit").join(name)).unwrap();
        for part in text.split("\n\n") {
            assert!(page.contains(part.trim()), "docs/workflows.md lacks this of {name}:\n{part}");
        }
    }
}

#[test]
fn the_audit_asks_which_holes_to_fix_and_lands_those() {
    let scratch = example();
    let audit = ["run", "audit.toml", "--catalogue", "catalogue.toml"];
    let (code, said) = ended(scratch.windlass(&audit).output().unwrap());
    assert_eq!(code, Some(8), "{said}");
    assert!(said.contains("The scan found 3 holes. Which are to be fixed?"), "{said}");
    let gates = scratch.windlass(&["gates"]).output().unwrap();
    let gates = String::from_utf8(gates.stdout).unwrap();
    assert!(gates.contains("A password in src/login.txt"), "nobody chooses blind: {gates}");
    let (code, said) = ended(scratch.windlass(&["answer", "0", "high"]).output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = ended(scratch.windlass(&["resume"]).output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("H1: check test: fail\n"), "{said}");
    assert!(said.contains("2 done, 0 failed, 1 skipped, 0 blocked of 3"), "{said}");
    assert_eq!(scratch.git(&["show", "main:src/login.txt"]), "password = from the environment");
    assert_eq!(scratch.git(&["show", "main:src/run.txt"]), "parse(input)");
    assert_eq!(scratch.git(&["show", "main:src/library.txt"]), "library 1.0", "it was low");
}

#[test]
fn the_commands_of_the_page_work_as_they_are_written() {
    let page = fs::read_to_string(top().join("docs/workflows.md")).unwrap();
    let tutorial = page.split("## A workflow of your own, step by step").nth(1).unwrap();
    let tutorial = tutorial.split("\n## ").next().unwrap();
    let lines = tutorial.lines().filter(|line| line.starts_with("windlass "));
    let commands: Vec<&str> = lines.filter_map(|line| line.split("   ").next()).collect();
    assert!(commands.len() > 6, "{commands:?}");
    let scratch = example();
    for command in commands {
        let words: Vec<&str> = command.split_whitespace().skip(1).collect();
        let mut run: Command = scratch.windlass(&words);
        let (code, said) = ended(run.output().unwrap());
        // The run leaves its question open.
        let expected = if words[0] == "run" { 8 } else { 0 };
        assert_eq!(code, Some(expected), "{command}: {said}");
    }
}
