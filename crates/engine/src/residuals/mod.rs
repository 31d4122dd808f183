//! Residuals: what somebody left behind in a change that belongs to nobody's work. Leftover debug output, commented-out code, mock
//! data, placeholder text, disabled tests: by file and line, only on lines that the change adds.
//!
//! It is a check, so a false alarm costs a round of fixing. What cannot be told from honest work by a line and its file is let pass:
//! a program may print, an example may have a name in it. A line that was somewhere in the changed files before is nobody's.
//!
//! | question | file |
//! |---|---|
//! | which language is a file in, and what is code, text and comment on a line? | `language.rs` |
//! | what speaks for which kind? | `debug.rs`, `dead_code.rs`, `made_up.rs`, `disabled.rs` |

mod dead_code;
mod debug;
mod disabled;
mod language;
mod made_up;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub(crate) use language::Language;
use language::Line;

/// A file of a change.
#[derive(Clone, Debug)]
pub(crate) struct File {
    /// Where it is.
    pub path: PathBuf,
    /// What it was; empty if it was not there.
    pub before: Vec<u8>,
    /// What it is.
    pub now: Vec<u8>,
}

/// Something that was left behind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Residual {
    /// What kind it is.
    pub kind: Kind,
    /// In which file.
    pub path: PathBuf,
    /// On which line, from 1.
    pub line: usize,
    /// What the line says.
    pub text: String,
}

/// What kind of thing was left behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Output that helped whoever wrote it.
    Debug,
    /// Code in comments.
    DeadCode,
    /// Data that is not real.
    MockData,
    /// Text that stands for something else.
    Placeholder,
    /// Tests that do not run.
    DisabledTest,
}

impl Kind {
    /// What it is called.
    pub fn words(self) -> &'static str {
        match self {
            Kind::Debug => "leftover debug output",
            Kind::DeadCode => "commented-out code",
            Kind::MockData => "mock data",
            Kind::Placeholder => "placeholder text",
            Kind::DisabledTest => "disabled tests",
        }
    }
}

/// What is known of a file besides a line.
struct Around<'a> {
    language: Language,
    is_test: bool,
    /// It is there to print: a script, a command.
    is_command: bool,
    /// It was there before, and printed nothing.
    was_silent: bool,
    lines: &'a [Line<'a>],
}

/// Files that are longer are nobody's to read.
const FILE_BYTES: usize = 1 << 20;

/// What a change leaves behind.
pub(crate) fn residuals(files: &[File]) -> Vec<Residual> {
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for file in files.iter().filter(|file| is_text(&file.before)) {
        for line in String::from_utf8_lossy(&file.before).lines() {
            *known.entry(line.trim().to_owned()).or_default() += 1;
        }
    }
    let mut found = Vec::new();
    for file in files {
        found.extend(in_file(file, &mut known));
    }
    found.sort();
    found
}

fn is_text(bytes: &[u8]) -> bool {
    bytes.len() <= FILE_BYTES && !bytes.contains(&0)
}

fn in_file(file: &File, known: &mut BTreeMap<String, usize>) -> Vec<Residual> {
    let Some(language) = Language::of(&file.path) else { return Vec::new() };
    if !is_text(&file.now) || is_foreign(&file.path) {
        return Vec::new();
    }
    let now = String::from_utf8_lossy(&file.now);
    let before = String::from_utf8_lossy(&file.before);
    let lines: Vec<Line<'_>> = language.lines(&now);
    let around = Around {
        language,
        is_test: is_test(&file.path, language, &now),
        is_command: is_command(&file.path, &now),
        was_silent: !before.is_empty() && !debug::prints(language, &before),
        lines: &lines,
    };
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let text = line.whole.trim();
        if text.is_empty() {
            continue;
        }
        if let Some(left) = known.get_mut(text).filter(|left| **left > 0) {
            *left -= 1;
            continue;
        }
        let rules = [
            (Kind::Debug, debug::is_debug as fn(&Around<'_>, usize) -> bool),
            (Kind::DeadCode, dead_code::is_dead),
            (Kind::MockData, made_up::is_mock),
            (Kind::Placeholder, made_up::is_placeholder),
            (Kind::DisabledTest, disabled::is_disabled),
        ];
        if let Some((kind, _)) = rules.into_iter().find(|(_, rule)| rule(&around, at)) {
            let text = text.chars().take(160).collect();
            found.push(Residual { kind, path: file.path.clone(), line: at + 1, text });
        }
    }
    found
}

/// Whether a file is somebody else's, or made by a program.
fn is_foreign(path: &Path) -> bool {
    const DIRECTORIES: [&str; 8] = [
        "node_modules",
        "vendor",
        "third_party",
        "dist",
        "build",
        "target",
        "generated",
        "__generated__",
    ];
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let within = |part: &str| DIRECTORIES.contains(&part);
    path.parent().is_some_and(|dir| dir.iter().any(|part| part.to_str().is_some_and(within)))
        || name.contains(".min.")
        || name.contains(".generated.")
        || name.contains(".pb.")
}

/// Whether a file is there for tests, or for somebody to try things out.
pub(crate) fn is_test(path: &Path, language: Language, text: &str) -> bool {
    const DIRECTORIES: [&str; 16] = [
        "test",
        "tests",
        "__tests__",
        "spec",
        "specs",
        "fixtures",
        "__fixtures__",
        "mocks",
        "__mocks__",
        "testdata",
        "e2e",
        "examples",
        "stories",
        "benches",
        "cypress",
        "seeds",
    ];
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let stem = name.split('.').next().unwrap_or_default();
    let within = |part: &str| DIRECTORIES.contains(&part.to_lowercase().as_str());
    let named =
        [".test.", ".spec.", ".stories.", ".mock.", ".fixture."].iter().any(|it| name.contains(it));
    let stemmed = stem.ends_with("_test")
        || stem.ends_with("_spec")
        || stem.starts_with("test_")
        || ["conftest", "tests", "mock", "mocks", "fixtures", "seed"].contains(&stem);
    let java = language == Language::Java && (stem.ends_with("test") || stem.ends_with("tests"));
    let rust = language == Language::Rust && text.contains("#[cfg(test)]");
    path.parent().is_some_and(|dir| dir.iter().any(|part| part.to_str().is_some_and(within)))
        || named
        || stemmed
        || java
        || rust
}

/// Whether a file is there to print.
fn is_command(path: &Path, text: &str) -> bool {
    let within = |part: &str| {
        ["bin", "scripts", "script", "cli", "cmd", "tools", "commands"].contains(&part)
    };
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    text.starts_with("#!")
        || path.iter().any(|part| part.to_str().is_some_and(within))
        || ["cli", "main", "__main__", "manage"].contains(&stem)
}

#[cfg(test)]
mod tests;
