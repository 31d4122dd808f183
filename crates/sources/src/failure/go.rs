//! What `go test` prints, with `-json` and without.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Class, Failure};

/// A line of `go test -json`.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Event {
    action: String,
    #[serde(default)]
    package: String,
    #[serde(default)]
    test: String,
    #[serde(default)]
    output: String,
}

pub fn read_json(text: &str) -> Vec<Failure> {
    let mut said: BTreeMap<(String, String), String> = BTreeMap::new();
    let mut failed: Vec<(String, String)> = Vec::new();
    let mut rest = String::new();
    for line in text.lines() {
        let event =
            line.starts_with('{').then(|| serde_json::from_str::<Event>(line).ok()).flatten();
        let Some(event) = event else {
            rest.push_str(line);
            rest.push('\n');
            continue;
        };
        let name = (event.package, event.test);
        match event.action.as_str() {
            "output" | "build-output" => said.entry(name).or_default().push_str(&event.output),
            "fail" => failed.push(name),
            _ => {}
        }
    }
    let output = |name: &(String, String)| said.get(name).map_or("", String::as_str);
    let tests: Vec<&(String, String)> =
        failed.iter().filter(|(_, test)| !test.is_empty()).collect();
    // One whose parts have failed is not named beside them.
    let leaf = |name: &&(String, String)| {
        let inner = format!("{}/", name.1);
        !tests.iter().any(|other| other.0 == name.0 && other.1.starts_with(&inner))
    };
    let one = |name: &(String, String)| failure(&format!("{}.{}", name.0, name.1), output(name));
    let found: Vec<Failure> = tests.iter().copied().filter(leaf).map(one).collect();
    if !found.is_empty() || failed.is_empty() {
        return found;
    }
    // A package that could not be built has no tests that fail.
    let all: String = said.values().map(String::as_str).collect::<String>() + &rest;
    vec![built(&all)]
}

/// `--- FAIL: TestAdd (0.00s)`, with what is wrong further in.
pub fn read_text(text: &str) -> Vec<Failure> {
    let lines: Vec<&str> = text.lines().collect();
    let name = |line: &str| {
        let rest = line.trim_start().strip_prefix("--- FAIL: ")?;
        Some(rest.split_once(" (").map_or(rest, |(name, _)| name).to_owned())
    };
    let names: Vec<String> = lines.iter().filter_map(|line| name(line)).collect();
    let mut failures = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(test) = name(line) else { continue };
        if names.iter().any(|other| other.starts_with(&format!("{test}/"))) {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        let inside = |line: &&&str| line.len() - line.trim_start().len() > indent;
        let said: Vec<&str> = lines[at + 1..].iter().take_while(inside).copied().collect();
        // What a panic says stands behind all of it.
        let panic = lines[at + 1..].iter().find(|line| line.starts_with("panic: "));
        let said = said.join("\n");
        let said = if said.trim().is_empty() { panic.map_or("", |line| line) } else { &said };
        failures.push(failure(&test, said));
    }
    let builds = |line: &&str| line.ends_with("[build failed]") || line.ends_with("[setup failed]");
    if failures.is_empty() && lines.iter().any(builds) {
        failures.push(built(text));
    }
    failures
}

fn failure(test: &str, said: &str) -> Failure {
    let own = said.lines().filter(|line| {
        let line = line.trim_start();
        !line.is_empty() && !["=== ", "--- ", "FAIL"].iter().any(|word| line.starts_with(word))
    });
    let own: Vec<&str> = own.take(5).collect();
    let panics = own.iter().any(|line| line.starts_with("panic: "));
    let otherwise = if panics { Class::RuntimeError } else { Class::AssertionError };
    Failure::of(Some(test), &own.join("\n"), otherwise)
}

/// Why something could not be built: the first line that names a place in a file.
fn built(text: &str) -> Failure {
    let place = |line: &&str| {
        line.split_once(".go:")
            .is_some_and(|(_, rest)| rest.starts_with(|it: char| it.is_ascii_digit()))
    };
    let line = text.lines().map(str::trim).find(place).unwrap_or("build failed");
    let otherwise =
        if line.contains("undefined: ") { Class::ImportError } else { Class::TypeError };
    Failure::of(None, line, otherwise)
}
