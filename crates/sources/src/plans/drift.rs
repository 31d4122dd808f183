//! Whether the markers say what the history says. It looks at subjects and hashes of commits, at the task that is on record with a
//! commit, and at nothing else.

use std::collections::{BTreeMap, BTreeSet};

use super::{Number, Row, Status};

/// A commit that can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// All of its hash.
    pub hash: String,
    /// The first line of its message.
    pub subject: String,
    /// The task that it is of, where that is on record.
    pub task: Option<String>,
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

/// A row that may be done or not: more than one has the name of a commit, and the commit does not say whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unclear {
    /// Which.
    pub number: Number,
    /// Its line, from 1.
    pub line: usize,
    /// What it says.
    pub status: Status,
    /// The latest commit of its name.
    pub hash: String,
    /// Another row that may be meant.
    pub rival: Number,
}

/// A line for people.
impl std::fmt::Display for Unclear {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Unclear { number, line, status, hash, rival } = self;
        let hash: String = hash.chars().take(super::HASH_LETTERS).collect();
        write!(
            f,
            "task {number} (line {line}) is {status}, and commit {hash} has its name and that of task {rival}: nobody can tell whose it is"
        )
    }
}

/// Markers held against the history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Those that are stale.
    pub stale: Vec<Drift>,
    /// Rows of which nobody can tell.
    pub unclear: Vec<Unclear>,
}

/// The markers of rows that are stale; `commits` are those that can be reached, the latest first.
pub fn drift(rows: &[Row], commits: &[Commit]) -> Vec<Drift> {
    compared(rows, commits).stale
}

/// The same, with the rows of which nobody can tell.
///
/// A row is open although it is done only where what is checked out has a commit of it. It is done wherever its commit is. A commit is
/// of one row at most: of the one whose number is on record with it, or else of the only one that has its name and no other.
pub fn compared(rows: &[Row], commits: &[Commit]) -> Compared {
    let history = History::of(rows, commits);
    let mut compared = Compared::default();
    for (at, row) in rows.iter().enumerate() {
        let (number, line, status) = (row.number.clone(), row.line, row.status.clone());
        match history.judged(at, row) {
            Judged::Sound => {}
            Judged::Stale(stale) => {
                compared.stale.push(Drift { number, line, status, stale });
            }
            Judged::Unclear { hash, rival } => {
                let rival = rows[rival].number.clone();
                compared.unclear.push(Unclear { number, line, status, hash, rival });
            }
        }
    }
    compared
}

/// What a row comes to.
enum Judged {
    Sound,
    Stale(Stale),
    Unclear { hash: String, rival: usize },
}

/// Commits by name, those that are checked out first, and the rows that may be meant by them.
struct History<'c> {
    commits: BTreeMap<String, Vec<&'c Commit>>,
    claimants: BTreeMap<String, Vec<usize>>,
    hashes: Hashes<'c>,
}

impl<'c> History<'c> {
    fn of(rows: &[Row], commits: &'c [Commit]) -> Self {
        let hashes = Hashes::of(commits);
        let mut history = History { commits: BTreeMap::new(), claimants: BTreeMap::new(), hashes };
        // What a row that is done names is that row's.
        let mut taken: BTreeSet<&str> = BTreeSet::new();
        for (at, row) in rows.iter().enumerate() {
            match &row.status {
                Status::Done { hash: Some(hash) } if history.hashes.reached(hash).is_some() => {
                    taken.extend(history.hashes.reached(hash));
                }
                Status::Todo | Status::Wip | Status::Done { .. } => {
                    history.claimants.entry(bare(&row.content)).or_default().push(at);
                }
                Status::Other(_) => {}
            }
        }
        let (here, elsewhere): (Vec<&Commit>, Vec<&Commit>) =
            commits.iter().partition(|commit| commit.place == Place::Here);
        for commit in here.into_iter().chain(elsewhere) {
            let name = bare(&commit.subject);
            if !name.is_empty() && !taken.contains(commit.hash.as_str()) {
                history.commits.entry(name).or_default().push(commit);
            }
        }
        history
    }

    fn judged(&self, at: usize, row: &Row) -> Judged {
        let open = match &row.status {
            Status::Todo | Status::Wip => true,
            Status::Done { hash: Some(hash) } if self.hashes.reached(hash).is_none() => false,
            Status::Done { .. } | Status::Other(_) => return Judged::Sound,
        };
        let name = bare(&row.content);
        let named = self.commits.get(&name).map(Vec::as_slice).unwrap_or_default();
        let counts = |it: &&&Commit| !open || it.place == Place::Here;
        let of = |number: &Number| {
            named.iter().filter(counts).find(|it| it.task.as_deref() == Some(number.as_str()))
        };
        let nobodys = || named.iter().filter(counts).find(|it| it.task.is_none());
        let found = of(&row.number).map(|it| (it, None)).or_else(|| {
            let claimants = self.claimants.get(&name).map(Vec::as_slice).unwrap_or_default();
            nobodys().map(|it| (it, claimants.iter().copied().find(|own| *own != at)))
        });
        match (found, open) {
            (Some((commit, Some(rival))), _) => {
                Judged::Unclear { hash: commit.hash.clone(), rival }
            }
            (Some((commit, None)), true) => {
                Judged::Stale(Stale::Committed { hash: commit.hash.clone() })
            }
            (Some((commit, None)), false) => {
                Judged::Stale(Stale::Replaced { hash: commit.hash.clone() })
            }
            (None, true) => Judged::Sound,
            (None, false) => Judged::Stale(Stale::Unreachable),
        }
    }
}

/// Whether it matters what only other branches have, to whom already knows what is checked out has: a row is done with a commit
/// that is not among these.
pub fn looks_elsewhere(rows: &[Row], here: &[Commit]) -> bool {
    let hashes = Hashes::of(here);
    let is_elsewhere = |row: &Row| matches!(&row.status, Status::Done { hash: Some(hash) } if hashes.reached(hash).is_none());
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

    /// The one that begins like this.
    fn reached(&self, hash: &str) -> Option<&'c str> {
        let hash = hash.to_ascii_lowercase();
        let at = self.0.partition_point(|own| **own < *hash);
        self.0.get(at).copied().filter(|own| own.starts_with(&hash))
    }
}

/// A text without tags and marks, in lower case: what two spellings of one thing have in common.
fn bare(text: &str) -> String {
    let text = super::untagged(text).to_lowercase();
    super::plain(&text.replace(['*', '`'], "")).trim_end_matches('.').to_owned()
}
