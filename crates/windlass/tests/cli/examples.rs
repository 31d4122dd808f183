//! Every verb shows examples; those that need no repository work exactly as they are written there.

use std::fs;
use std::path::{Path, PathBuf};

use crate::windlass::{printed, windlass};

/// The program and every verb below it, as its own help lists them.
fn verbs() -> Vec<Vec<String>> {
    let mut found = vec![Vec::new()];
    let mut at = 0;
    while let Some(verb) = found.get(at).cloned() {
        let help = help(&verb);
        let below = help.split("Commands:\n").nth(1).unwrap_or_default();
        let below = below.lines().take_while(|line| line.starts_with("  "));
        let names = below.filter(|line| !line.starts_with("    "));
        for name in names.filter_map(|line| line.split_whitespace().next()) {
            found.push(verb.iter().cloned().chain([name.to_owned()]).collect());
        }
        at += 1;
    }
    assert!(found.len() > 25, "{found:?}");
    found
}

fn help(verb: &[String]) -> String {
    let words: Vec<&str> = verb.iter().map(String::as_str).chain(["--help"]).collect();
    let (code, help) = printed(&words);
    assert_eq!(code, 0, "{verb:?}");
    help
}

/// The commands below `Examples:`, without what is said about them.
fn examples(help: &str) -> Vec<Vec<String>> {
    let below = help.split("Examples:\n").nth(1).unwrap_or_default();
    let lines = below.lines().take_while(|line| line.starts_with("  windlass "));
    lines
        .map(|line| {
            let command = line.trim_start().split("   ").next().unwrap_or_default();
            let command = command.split(" > ").next().unwrap_or_default();
            command.split_whitespace().skip(1).map(str::to_owned).collect()
        })
        .collect()
}

#[test]
fn every_verb_shows_examples_and_fits_the_terminal() {
    for verb in &verbs() {
        let help = help(verb);
        assert!(!examples(&help).is_empty(), "{verb:?} has no examples: {help}");
        for line in help.lines() {
            assert!(line.chars().count() <= 100, "{verb:?}: {line}");
        }
    }
}

#[test]
fn every_example_works() {
    let dir = a_directory_with_files();
    let mut tried = 0;
    for verb in &verbs() {
        // The others need a repository, and a run in it.
        let offline = |args: &Vec<String>| ["workflow", "completions"].contains(&args[0].as_str());
        for args in examples(&help(verb)).into_iter().filter(offline) {
            let printed = works(&dir, &args);
            assert!(!printed.is_empty(), "{args:?}");
            tried += 1;
        }
    }
    assert!(tried > 15, "only {tried} examples were found");
}

#[test]
fn the_readmes_tour_works() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = fs::read_to_string(readme).unwrap();
    let tour = readme.split("## A short tour").nth(1).unwrap().split("```").nth(1).unwrap();
    let indented: String = tour.trim().lines().map(|line| format!("  {line}\n")).collect();
    let dir = a_directory_with_files();
    let examples = examples(&format!("Examples:\n{indented}"));
    assert!(examples.len() > 5, "{examples:?}");
    for args in examples {
        works(&dir, &args);
    }
}

/// An example is tried, and comes to no error. What it printed.
#[track_caller]
fn works(dir: &Path, args: &[String]) -> Vec<u8> {
    let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
    // A thousand runs take a while in a test build.
    if let Some(at) = args.iter().position(|arg| *arg == "--runs") {
        args[at + 1] = "3";
    }
    let output = windlass(&args).current_dir(dir).output().expect("windlass can be started");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {stderr}");
    output.stdout
}

/// Where `my-flow.toml` and `my-roles.toml` are what the examples say they are.
fn a_directory_with_files() -> PathBuf {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let dir =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("examples-{}", std::process::id()));
    fs::create_dir_all(&dir).expect("a directory for tests");
    for (name, fixture) in [("my-flow.toml", "tidy.toml"), ("my-roles.toml", "roles.toml")] {
        fs::copy(fixtures.join(fixture), dir.join(name)).expect("a copy of a fixture");
    }
    dir
}
