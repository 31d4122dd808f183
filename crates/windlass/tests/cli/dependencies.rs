//! A dependency that no source file names is dead weight.

use std::fs;
use std::path::Path;

use crate::rooms::packages;

#[test]
fn every_dependency_is_used() {
    let mut unused = Vec::new();
    for package in packages() {
        let code = sources(&package.dir);
        for dependency in package.uses.iter().chain(&package.tests_use) {
            if !names(&code, dependency) {
                unused.push(format!("{} does not use {dependency}", package.name));
            }
        }
    }
    assert!(unused.is_empty(), "{}", unused.join("\n"));
}

#[test]
fn a_name_counts_only_as_a_whole_word_in_code() {
    assert!(names("use serde_json::Value;", "serde_json"));
    assert!(names("let x = clap_complete::generate();", "clap-complete"));
    assert!(!names("use serde_json::Value;", "serde"));
    assert!(!names("// serde::Serialize would do", "serde"));
    assert!(!names("use my_serde::Value;", "serde"));
}

fn names(code: &str, dependency: &str) -> bool {
    let name = dependency.replace('-', "_");
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    code.lines().filter(|line| !line.trim_start().starts_with("//")).any(|line| {
        line.match_indices(&name).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            let after = line[at + name.len()..].chars().next();
            !before.is_some_and(in_word) && !after.is_some_and(in_word)
        })
    })
}

/// All Rust files below a directory, one after another.
fn sources(dir: &Path) -> String {
    let mut code = String::new();
    for entry in fs::read_dir(dir).expect("a readable directory") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir()
            && path.file_name().is_some_and(|name| name != "fixtures" && name != "target")
        {
            code += &sources(&path);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            code += &fs::read_to_string(&path).expect("a readable file");
        }
    }
    code
}
