//! What `pytest` prints: its summary names the tests, and where that does not say why, the lines with `E` do.

use super::{Class, Failure};

pub fn read(text: &str) -> Vec<Failure> {
    let is_ours = text.lines().any(|line| {
        line.starts_with("==")
            && (line.contains(" FAILURES ")
                || line.contains(" ERRORS ")
                || line.contains("short test summary"))
    });
    if !is_ours {
        return Vec::new();
    }
    let mut failures: Vec<Failure> = Vec::new();
    for line in text.lines() {
        let Some((rest, otherwise)) =
            [("FAILED ", Class::AssertionError), ("ERROR ", Class::RuntimeError)]
                .iter()
                .find_map(|(word, class)| Some((line.strip_prefix(word)?, *class)))
        else {
            continue;
        };
        // In the log of the tests themselves it would not name a file.
        let (test, said) = rest.split_once(" - ").unwrap_or((rest, ""));
        if !test.contains(".py") || test.starts_with("collecting ") {
            continue;
        }
        let name = test.rsplit("::").next().unwrap_or(test);
        let message =
            if said.trim().is_empty() { explained(text, name, test) } else { said.to_owned() };
        let mut failure = Failure::of(Some(test), &message, otherwise);
        if failure.class == otherwise && super::words::class(&message).is_none() {
            let more = explained(text, name, test);
            failure.class = super::words::class(&more).unwrap_or(otherwise);
        }
        failures.push(failure);
    }
    failures
}

/// The lines with `E` below the heading of a test, and the name of the error after them.
fn explained(text: &str, name: &str, test: &str) -> String {
    let heading = |line: &str| {
        let bare = line.trim_matches(['_', ' ']);
        line.starts_with('_')
            && (bare == name || bare.ends_with(&format!(".{name}")) || bare.ends_with(test))
    };
    let below = text.lines().skip_while(|line| !heading(line)).skip(1);
    let mut said = Vec::new();
    for line in below.take_while(|line| !line.starts_with("___") && !line.starts_with("===")) {
        if let Some(why) = line.strip_prefix("E ") {
            said.push(why.trim());
        }
    }
    said.join("\n")
}
