//! What `cargo test` and `cargo nextest` print, and the compiler before them.

use std::collections::BTreeMap;

use super::{Class, Failure};

pub fn read(text: &str) -> Vec<Failure> {
    let mut tests: BTreeMap<String, Failure> = BTreeMap::new();
    let mut runs: BTreeMap<String, Failure> = BTreeMap::new();
    let mut panics: BTreeMap<&str, String> = BTreeMap::new();
    let mut blocks: BTreeMap<&str, String> = BTreeMap::new();
    let mut errors = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(name) = panicked(line) {
            panics.entry(name).or_insert_with(|| said(lines.clone()));
        } else if let Some(name) =
            line.trim().strip_prefix("---- ").and_then(|it| it.strip_suffix(" stdout ----"))
        {
            blocks.entry(name).or_insert_with(|| said(lines.clone()));
        } else if let Some(name) =
            line.strip_prefix("test ").and_then(|it| it.strip_suffix(" ... FAILED"))
        {
            let name = name.trim_end_matches(" - should panic");
            tests.insert(name.to_owned(), Failure::of(Some(name), "", Class::RuntimeError));
        } else if let Some((name, class)) = nextest(line) {
            runs.insert(name.to_owned(), Failure::of(Some(name), "", class));
        } else if let Some(failure) = compiler(line) {
            errors.push(failure);
        }
    }
    // nextest runs each test by itself, and shows what that printed.
    let mut tests = if runs.is_empty() { tests } else { runs };
    for (name, failure) in &mut tests {
        // It has the crate before the test.
        let own = name.split_whitespace().next_back().unwrap_or(name);
        let message = panics.get(own).or_else(|| blocks.get(own));
        if let Some(message) = message.filter(|_| failure.class != Class::Timeout) {
            *failure = Failure::of(Some(name), message, Class::RuntimeError);
        }
    }
    match tests.is_empty() {
        true => errors,
        false => tests.into_values().collect(),
    }
}

/// What a test says below a line, but for where it was called from.
fn said<'t>(below: impl Iterator<Item = &'t str>) -> String {
    let lines = below.map(str::trim).skip_while(|line| line.is_empty());
    let own = lines.take_while(|line| !line.is_empty() && *line != "stack backtrace:");
    own.take(4).collect::<Vec<_>>().join("\n")
}

/// The test in `thread 'tests::it' (12) panicked at src/lib.rs:1:2:`.
fn panicked(line: &str) -> Option<&str> {
    let (name, rest) = line.trim_start().strip_prefix("thread '")?.split_once('\'')?;
    rest.contains("panicked at").then_some(name)
}

/// The test in `        FAIL [   0.004s] (1/2) crate tests::it`.
fn nextest(line: &str) -> Option<(&str, Class)> {
    let line = line.trim_start();
    let (rest, class) = [
        ("FAIL [", Class::RuntimeError),
        ("TIMEOUT [", Class::Timeout),
        ("SIGSEGV [", Class::RuntimeError),
        ("SIGABRT [", Class::RuntimeError),
        ("ABORT [", Class::RuntimeError),
    ]
    .iter()
    .find_map(|(word, class)| Some((line.strip_prefix(word)?, *class)))?;
    let (time, name) = rest.split_once(']')?;
    let is_time = time.trim().ends_with('s')
        && time.trim().starts_with(|it: char| it.is_ascii_digit() || it == '>');
    let name = name.trim();
    let name = match name.strip_prefix('(').and_then(|it| it.split_once(')')) {
        Some((_, name)) => name.trim(),
        None => name,
    };
    (is_time && !name.is_empty()).then_some((name, class))
}

/// A complaint of the compiler.
fn compiler(line: &str) -> Option<Failure> {
    let is_code =
        line.strip_prefix("error[E").is_some_and(|it| it.starts_with(|c: char| c.is_ascii_digit()));
    let expected = line.starts_with("error: expected ") || line.starts_with("error: unexpected ");
    let open = line.starts_with("error: this file contains an unclosed delimiter");
    (is_code || expected || open).then(|| {
        let otherwise = if is_code { Class::TypeError } else { Class::SyntaxError };
        // What a name leads to that is not there is no matter of types.
        let missing = ["E0405", "E0412", "E0422", "E0423", "E0425", "E0583"];
        let class = missing.iter().any(|code| line.contains(code)).then_some(Class::ImportError);
        let failure = Failure::of(None, line, otherwise);
        Failure { class: class.unwrap_or(failure.class), ..failure }
    })
}
