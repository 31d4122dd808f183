//! Whether the markers say what the history says. It looks at subjects and hashes of commits, and at nothing else.

use std::collections::BTreeMap;

use super::{Number, Row, Status};

/// A commit that can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// All of its hash.
    pub hash: String,
    /// The first line of its message.
    pub subject: String,
    /// By way of what.
    pub place: Place,
}

/// By way of what a commit can be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// What is checked out has it.
    Here,
    /// Only another branch of the repository has it: a task has landed there, or its landing waits there.
    Elsewhere,
}

/// A marker that does not say what the history says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drift {
    /// Whose.
    pub number: Number,
    /// Its line, from 1.
    pub line: usize,
    /// What it says.
    pub status: Status,
    /// What is wrong with that.
    pub stale: Stale,
}

/// What is wrong with a marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stale {
    /// It is not done, and there is a commit of it.
    Committed {
        /// The latest.
        hash: String,
    },
    /// It is done with a commit that cannot be reached, and another has its name: it was amended, or rebased.
    Replaced {
        /// The latest.
        hash: String,
    },
    /// It is done with a commit that cannot be reached.
    Unreachable,
}

impl Drift {
    /// What the marker should say.
    pub fn mended(&self) -> Status {
        match &self.stale {
            Stale::Committed { hash } | Stale::Replaced { hash } => Status::done(Some(hash)),
            Stale::Unreachable => Status::Todo,
        }
    }
}

/// A line for people.
impl std::fmt::Display for Drift {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Drift { number, line, status, stale } = self;
        write!(f, "task {number} (line {line}) is {status}, ")?;
        let short = |hash: &str| hash.chars().take(super::HASH_LETTERS).collect::<String>();
        match stale {
            Stale::Committed { hash } => write!(f, "and commit {} has its name", short(hash)),
            Stale::Replaced { hash } => {
                write!(f, "and that commit is on no branch: commit {} has its name", short(hash))
            }
            Stale::Unreachable => f.write_str("and that commit is on no branch"),
        }
    }
}

/// The markers of rows that are stale; `commits` are those that can be reached, the latest first.
///
/// A row is open although it is done only where what is checked out has a commit of it. It is done wherever its commit is.
pub fn drift(rows: &[Row], commits: &[Commit]) -> Vec<Drift> {
    let mut by_subject: BTreeMap<String, &Commit> = BTreeMap::new();
    let (here, elsewhere): (Vec<&Commit>, Vec<&Commit>) =
        commits.iter().partition(|commit| commit.place == Place::Here);
    for commit in here.into_iter().chain(elsewhere) {
        let name = bare(&commit.subject);
        if !name.is_empty() {
            by_subject.entry(name).or_insert(commit);
        }
    }
    let hashes = Hashes::of(commits);
    let stale = |row: &Row| match &row.status {
        Status::Todo | Status::Wip => {
            let commit = by_subject.get(&bare(&row.content))?;
            let here = commit.place == Place::Here;
            here.then(|| Stale::Committed { hash: commit.hash.clone() })
        }
        Status::Done { hash: Some(hash) } if !hashes.have(hash) => {
            let other = by_subject.get(&bare(&row.content));
            let replaced = |other: &&Commit| Stale::Replaced { hash: other.hash.clone() };
            Some(other.map_or(Stale::Unreachable, replaced))
        }
        Status::Done { .. } | Status::Other(_) => None,
    };
    let drift = |row: &Row| {
        let (number, status) = (row.number.clone(), row.status.clone());
        Some(Drift { number, line: row.line, status, stale: stale(row)? })
    };
    rows.iter().filter_map(drift).collect()
}

/// Whether it matters what only other branches have, to whom already knows what is checked out has: a row is done with a commit
/// that is not among these.
pub fn looks_elsewhere(rows: &[Row], here: &[Commit]) -> bool {
    let hashes = Hashes::of(here);
    let is_elsewhere =
        |row: &Row| matches!(&row.status, Status::Done { hash: Some(hash) } if !hashes.have(hash));
    rows.iter().any(is_elsewhere)
}

/// The hashes of commits, sorted.
struct Hashes<'c>(Vec<&'c str>);

impl<'c> Hashes<'c> {
    fn of(commits: &'c [Commit]) -> Self {
        let mut hashes: Vec<&str> = commits.iter().map(|commit| commit.hash.as_str()).collect();
        hashes.sort_unstable();
        Hashes(hashes)
    }

    /// Whether one of them begins like this.
    fn have(&self, hash: &str) -> bool {
        let hash = hash.to_ascii_lowercase();
        let at = self.0.partition_point(|own| **own < *hash);
        self.0.get(at).is_some_and(|own| own.starts_with(&hash))
    }
}

/// A text without tags and marks, in lower case: what two spellings of one thing have in common.
fn bare(text: &str) -> String {
    let text = super::untagged(text).to_lowercase();
    super::plain(&text.replace(['*', '`'], "")).trim_end_matches('.').to_owned()
}
