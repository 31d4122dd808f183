//! Sources: where work comes from. One file for each form that it has.
//!
//! A reader looks at a source and comes to one of its verdicts, with facts and lists, as the catalogue says. It changes
//! nothing. Those that any workflow may use stand in [`READERS`]: a file and a line each. The other files here are the
//! forms of what clerks read.
//!
//! | form | file |
//! |---|---|
//! | a file of tasks, for any workflow | `tasks.rs` |
//! | a spec with phases, a plan, a roadmap | `spec.rs`, `plan.rs`, `roadmap.rs`; Markdown in general `markdown.rs` |
//! | a validation contract | `contract/` |
//! | tasks as rows of a table | `plans/` |
//! | what passes such a task | `sprint/` |
//! | why tests fail | `failure/` |
//! | what a task's agent hands over | `handoff.rs` |
//! | the state of a session | `autopilot.rs`, `task.rs` |
//! | a mission's queue, and how it is to be run | `features.rs`, `harness.rs` |
//! | trackers of issues | `tracker/` |
//! | what a loop over issues remembers | `issues.rs` |
//! | what is known of a project's subsystems | `subsystems/` |

pub mod autopilot;
pub mod contract;
pub mod failure;
pub mod features;
pub mod handoff;
pub mod harness;
pub mod issues;
mod markdown;
pub mod plan;
pub mod plans;
pub mod roadmap;
pub mod spec;
pub mod sprint;
pub mod subsystems;
pub mod task;
mod tasks;
pub mod tracker;

pub use markdown::slug;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use windlass_core::{run::Item, value::Value};

/// Looks at a source.
pub trait Reader: Send + Sync {
    /// Looks; `with` is what the stage passes along.
    ///
    /// # Errors
    ///
    /// When the source is there but cannot be understood.
    fn read(&self, with: &BTreeMap<String, Value>) -> Result<Reading, SourceError>;
}

/// Makes a reader for a checkout, given its top.
pub type Open = fn(&Path) -> Box<dyn Reader>;

/// The readers that any workflow may use, by the name that its stages and its catalogue give them.
pub const READERS: &[(&str, Open)] =
    &[("tasks", |top| Box::new(tasks::Tasks { root: top.to_owned() }))];

/// What a reader came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The verdict.
    pub verdict: String,
    /// Facts by name.
    pub facts: BTreeMap<String, Value>,
    /// Lists by name.
    pub lists: BTreeMap<String, Vec<Item>>,
    /// What was read, by path: it is kept as it was.
    pub papers: BTreeMap<String, Vec<u8>>,
    /// What a person should know.
    pub remarks: Vec<String>,
    /// There is nothing to come to yet: it is looked at again, and the verdict counts for nothing.
    pub again: Option<Again>,
}

/// A source that is looked at again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Again {
    /// After so long.
    pub after: Duration,
    /// What is waited for, in a line.
    pub what: String,
}

/// When something that is away may be there again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Back {
    /// After so long: it has said so itself.
    In(Duration),
    /// Later than anybody waits for: it has said so itself.
    Late,
    /// Nobody knows.
    Sometime,
}

/// Why a source cannot be understood.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// It is not there for now: nothing is wrong with it.
    #[error("{}: {what}", path.display())]
    Away {
        /// Which.
        path: PathBuf,
        /// What happened.
        what: String,
        /// What to do about it.
        next: String,
        /// When it may be there again.
        back: Back,
    },
    /// It cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Unreadable {
        /// Where.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// It can be read and is not what it should be.
    #[error("{}: {what}", path.display())]
    Bad {
        /// Where.
        path: PathBuf,
        /// What is wrong.
        what: String,
        /// What to do about it, if it is not to mend the file.
        next: Option<String>,
    },
}

impl SourceError {
    /// A file that is not what it should be, and is to be mended.
    pub fn bad(path: impl Into<PathBuf>, what: impl Into<String>) -> Self {
        SourceError::Bad { path: path.into(), what: what.into(), next: None }
    }

    /// With something else to do about it than to mend the file.
    #[must_use]
    pub fn or_else(self, step: impl Into<String>) -> Self {
        match self {
            SourceError::Bad { path, what, .. } => {
                SourceError::Bad { path, what, next: Some(step.into()) }
            }
            other => other,
        }
    }

    /// When it may be there again, if it is only away.
    pub fn back(&self) -> Option<Back> {
        match self {
            SourceError::Away { back, .. } => Some(*back),
            _ => None,
        }
    }

    /// What to do about it.
    pub fn next_step(&self) -> String {
        match self {
            SourceError::Away { next, .. } => next.clone(),
            SourceError::Unreadable { path, .. } => format!("make {} readable", path.display()),
            SourceError::Bad { next: Some(step), .. } => step.clone(),
            SourceError::Bad { path, .. } => format!("mend {}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_says_what_to_do_next() {
        let source = std::io::ErrorKind::PermissionDenied.into();
        let unreadable = SourceError::Unreadable { path: "a.toml".into(), source };
        assert_eq!(unreadable.next_step(), "make a.toml readable");
        let bad = SourceError::bad("a.toml", "it is odd");
        assert_eq!(
            (bad.to_string().as_str(), bad.next_step().as_str()),
            ("a.toml: it is odd", "mend a.toml")
        );
        assert_eq!(bad.or_else("split it").next_step(), "split it");
    }
}
