//! Why tests fail: read out of what they print, in the form of the runner where it has one, and else by words.
//!
//! The class is one of the seed's six. The key is the same for the same cause: the class, the test, and the message without what
//! changes from run to run. Where several tests fail, the first by name speaks for all, whatever order they ran in.
//!
//! | what printed it | file |
//! |---|---|
//! | anything that writes JUnit's XML | `junit.rs` |
//! | `cargo test`, `cargo nextest`, the compiler | `rust.rs` |
//! | `pytest` | `pytest.rs` |
//! | `jest` | `jest.rs` |
//! | `node --test`, as TAP and as it shows it to people | `node.rs` |
//! | `go test`, with `-json` and without | `go.rs` |
//! | anything else | `words.rs` |
//! | … and which tests have run | `ran.rs` |

mod go;
mod jest;
mod junit;
mod node;
mod proposal;
mod pytest;
mod ran;
mod rust;
mod words;

pub use proposal::{PATH as PROPOSALS, Proposal, Proposals, Unsure};
pub use ran::{Ran, ran};

/// What kind of failure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// It cannot be parsed.
    SyntaxError,
    /// Something that it uses is not there.
    ImportError,
    /// Types do not fit.
    TypeError,
    /// It does something else than expected.
    AssertionError,
    /// It takes too long.
    Timeout,
    /// Anything else.
    RuntimeError,
}

impl Class {
    /// All of them.
    pub const ALL: [Class; 6] = [
        Class::SyntaxError,
        Class::ImportError,
        Class::TypeError,
        Class::AssertionError,
        Class::Timeout,
        Class::RuntimeError,
    ];

    /// The seed's word.
    pub fn word(self) -> &'static str {
        match self {
            Class::SyntaxError => "syntax_error",
            Class::ImportError => "import_error",
            Class::TypeError => "type_error",
            Class::AssertionError => "assertion_error",
            Class::Timeout => "timeout",
            Class::RuntimeError => "runtime_error",
        }
    }
}

/// A failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind it is.
    pub class: Class,
    /// Which test, if it is one.
    pub test: Option<String>,
    /// What is said about it, on one line.
    pub message: String,
}

impl Failure {
    /// With a message that says of which class it is, or is of this one.
    fn of(test: Option<&str>, message: &str, otherwise: Class) -> Self {
        Failure {
            class: words::class(message).unwrap_or(otherwise),
            test: test.map(|test| test.trim().to_owned()),
            message: one_line(message),
        }
    }

    /// The same for the same cause.
    pub fn key(&self) -> String {
        let test = self.test.as_deref().unwrap_or("-");
        format!("{} {} {}", self.class.word(), named(test), lasting(&self.message))
    }
}

/// Why a command failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// What speaks for all.
    pub first: Failure,
    /// How many there are.
    pub count: usize,
}

impl Cause {
    /// The cause, by what a failing command has printed.
    pub fn of(printed: &str) -> Self {
        let found = failures(printed);
        let count = found.len().max(1);
        let first = found.into_iter().min_by_key(|failure| (failure.test.is_none(), failure.key()));
        let nothing = || Failure { class: Class::RuntimeError, test: None, message: String::new() };
        Cause { first: first.unwrap_or_else(nothing), count }
    }
}

/// All failures that are in what a failing command has printed; at most one if nobody knows the form.
pub fn failures(printed: &str) -> Vec<Failure> {
    let plain = without_colours(printed);
    let readers = [
        junit::read,
        go::read_json,
        rust::read,
        pytest::read,
        jest::read,
        node::read,
        go::read_text,
    ];
    let found = readers.iter().map(|read| read(&plain)).find(|found| !found.is_empty());
    found.unwrap_or_else(|| words::read(&plain))
}

/// So much of a message counts.
const MESSAGE_CHARS: usize = 300;

fn one_line(text: &str) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(MESSAGE_CHARS).collect()
}

/// A message without what changes from run to run: numbers, addresses, digests, directories.
fn lasting(message: &str) -> String {
    message.split(' ').map(|word| numbers_out(named(word))).collect::<Vec<_>>().join(" ")
}

/// A word; of an absolute path its name alone.
fn named(word: &str) -> &str {
    match word.find('/') {
        Some(at) if word[..at].trim_matches(['(', '\'', '"', '`']).is_empty() => {
            word.rsplit('/').next().unwrap_or(word)
        }
        _ => word,
    }
}

fn numbers_out(word: &str) -> String {
    let mut out = String::new();
    let mut rest = word;
    while let Some(letter) = rest.chars().next() {
        let hex = rest.find(|letter: char| !letter.is_ascii_hexdigit()).unwrap_or(rest.len());
        let is_digest = hex >= 6 && rest[..hex].bytes().any(|byte| byte.is_ascii_digit());
        let length = if is_digest {
            hex
        } else if letter.is_ascii_digit() {
            rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len())
        } else {
            out.push(letter);
            rest = &rest[letter.len_utf8()..];
            continue;
        };
        if !out.ends_with('#') {
            out.push('#');
        }
        rest = &rest[length..];
    }
    out
}

/// A text without the sequences that colour it.
fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[") {
        plain.push_str(&rest[..at]);
        let after = &rest[at + 2..];
        let end = after.find(|letter: char| ('@'..='~').contains(&letter));
        rest = end.map_or("", |end| &after[end + 1..]);
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests;
