//! How hard a task is: five factors that can be seen, and a threshold.

use super::{Row, plain};

/// From so many points on, whoever implements thinks harder.
pub const THRESHOLD: i64 = 3;

/// From so many files on, their number counts.
const FILES_MANY: usize = 4;

/// Parts of a path that count.
const DIRECTORIES: [&str; 3] = ["core", "guardrails", "security"];

/// Words that count.
const KEYWORDS: [&str; 4] = ["architecture", "security", "design", "migration"];

/// Why a task is hard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Factor {
    /// So many files would be changed, as far as the row names them.
    Files(usize),
    /// One of them is in a directory that counts.
    Directory(String),
    /// The row has a word that counts.
    Keyword(&'static str),
    /// It has failed before.
    Failed,
    /// Whoever planned it says so.
    Ultrathink,
}

impl Factor {
    /// What it is worth.
    pub fn points(&self) -> i64 {
        match self {
            Factor::Files(_) | Factor::Directory(_) | Factor::Keyword(_) => 1,
            Factor::Failed => 2,
            Factor::Ultrathink => 3,
        }
    }
}

/// In a few words.
impl std::fmt::Display for Factor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Factor::Files(count) => write!(f, "{count} files"),
            Factor::Directory(name) => write!(f, "{name}/"),
            Factor::Keyword(word) => write!(f, "\"{word}\""),
            Factor::Failed => f.write_str("failed before"),
            Factor::Ultrathink => f.write_str("ultrathink"),
        }?;
        write!(f, " +{}", self.points())
    }
}

/// What is known of a task besides its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Nothing.
    Nothing,
    /// An attempt at it failed once.
    Failed,
}

/// How hard a task is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Why; at most one of each kind.
    pub factors: Vec<Factor>,
}

impl Effort {
    /// How hard the task of a row is.
    pub fn of(row: &Row, known: Known) -> Self {
        let files = files(row);
        let text = format!("{} {}", row.content, row.dod);
        let mut factors = Vec::new();
        if files.len() >= FILES_MANY {
            factors.push(Factor::Files(files.len()));
        }
        let counts = |part: &&str| DIRECTORIES.contains(part);
        let directory = words(&text)
            .filter(|word| word.contains('/') && !word.contains("://"))
            .find_map(|word| word.split('/').rev().skip(1).find(counts).map(str::to_owned));
        factors.extend(directory.map(Factor::Directory));
        let lower = text.to_lowercase();
        let words = lower.split(|letter: char| !letter.is_alphanumeric());
        let words = words.map(|word| word.strip_suffix('s').unwrap_or(word));
        // The first of our list that is there, whichever comes first in the row.
        let at = |word: &str| KEYWORDS.iter().position(|keyword| *keyword == word);
        factors.extend(words.filter_map(at).min().map(|at| Factor::Keyword(KEYWORDS[at])));
        if known == Known::Failed {
            factors.push(Factor::Failed);
        }
        if row.tags.ultrathink {
            factors.push(Factor::Ultrathink);
        }
        Effort { factors }
    }

    /// The sum.
    pub fn score(&self) -> i64 {
        self.factors.iter().map(Factor::points).sum()
    }

    /// Whether whoever implements is to think harder.
    pub fn is_high(&self) -> bool {
        self.score() >= THRESHOLD
    }
}

/// `4: 5 files +1, ultrathink +3`.
impl std::fmt::Display for Effort {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let factors: Vec<String> = self.factors.iter().map(ToString::to_string).collect();
        match factors.is_empty() {
            true => f.write_str("0"),
            false => write!(f, "{}: {}", self.score(), factors.join(", ")),
        }
    }
}

/// The files that a row names, each once.
pub(super) fn files(row: &Row) -> Vec<String> {
    let text = format!("{} {}", row.content, row.dod);
    let mut files: Vec<String> = Vec::new();
    for word in words(&text).filter(|word| is_file(word)) {
        let word = plain(word.trim_start_matches("./"));
        if !files.contains(&word) {
            files.push(word);
        }
    }
    files
}

/// The words of a text, without what stands around them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let splits =
        |letter: char| letter.is_whitespace() || "`\"'()[]{}<>,;=、。「」".contains(letter);
    text.split(splits).map(|word| word.trim_matches(['*', ':', '!', '?']).trim_end_matches('.'))
}

/// Names that look like files and are programs.
const PROGRAMS: [&str; 8] =
    ["node.js", "vue.js", "next.js", "nuxt.js", "react.js", "express.js", "d3.js", "three.js"];

/// Whether a word is the path of a file in a checkout.
fn is_file(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    let (stem, end) = name.rsplit_once('.').unwrap_or_default();
    let is_path = |letter: char| letter.is_alphanumeric() || "._-/@+".contains(letter);
    let is_end = (1..=8).contains(&end.len())
        && end.chars().all(|letter| letter.is_ascii_alphanumeric())
        && end.starts_with(|letter: char| letter.is_ascii_lowercase());
    !word.starts_with('/')
        && word.chars().all(is_path)
        && word.split('/').all(|part| part != ".." && !part.is_empty())
        && is_end
        && stem.chars().any(|letter| letter.is_alphabetic())
        // `e.g`, `i.e` and the like; `a/b.c` is one.
        && (word.contains('/') || name.len() > 3)
        && !PROGRAMS.contains(&word.to_lowercase().as_str())
}
