//! Clerks: what each workflow keeps besides the journal. One module for each workflow that keeps something.
//!
//! The engine knows what a clerk is (`windlass_engine::clerk`, ADR 6) and no clerk by name. Which workflows have one is
//! the list below: a line for each.
//!
//! | question | file |
//! |---|---|
//! | what does autopilot keep? | `autopilot/` |
//! | what does task keep? | `task/` |
//! | what does mission keep? | `mission/` |
//! | what does a loop over issues keep? | `issues/` |
//! | what does work on Plans.md keep? | `work/` |
//! | what does a project remember? | `memory/` |
//! | how are files written from the journal? | `projection.rs` |
//! | what did a role find? | `finding.rs` |
//! | which stages mean something to a clerk, and does it know what its definition names? | `stages.rs`, `*/stage.rs` |
//! | what did a command print? | `printed.rs` |
//! | which language is a run spoken in? | `spoken.rs`; where nothing else is kept `plain.rs` |

#[macro_use]
mod stages;

pub mod autopilot;
pub mod finding;
pub mod issues;
pub mod memory;
pub mod mission;
mod plain;
mod printed;
mod projection;
mod spoken;
pub mod task;
pub mod work;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use windlass_core::run::Run;
use windlass_core::workflow::{Errand, Kind, Workflow};
use windlass_engine::clerk::Clerk;
use windlass_sources::plans::Commit;
use windlass_words::{Lang, Words};

pub use spoken::Spoken;

/// All of them.
const OFFICES: &[Office] =
    &[autopilot::OFFICE, task::OFFICE, task::FIRST, mission::OFFICE, issues::OFFICE, work::OFFICE];

/// A kind of clerk.
#[derive(Clone, Copy, Debug)]
pub struct Office {
    /// What only its own workflows read: by this a workflow is known, so that a copy of a built-in one has its clerk.
    pub known_by: &'static str,
    /// What it can read.
    pub reads: &'static [&'static str],
    /// What it can show to roles and people, besides what every workflow can.
    pub shows: &'static [&'static str],
    /// The files that roles may be held to write.
    pub files: &'static [&'static str],
    /// Makes the clerk of a run.
    open: fn(&Place<'_>) -> Arc<dyn Clerk>,
}

/// What a clerk says of what it has left to a person.
#[derive(Clone, Copy, Debug)]
pub struct Left {
    /// Where it stands why a run has ended so, and what tries again what has come to nothing.
    pub after_escalation: fn(Words) -> String,
    /// The command that has a unit tried again which has settled and come to nothing.
    pub retry: fn(&str) -> String,
}

/// The offices that can say more of it than the log does.
const LEAVE: &[(Office, Left)] = &[(mission::OFFICE, mission::LEFT)];

/// Where a clerk works.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The top of the person's checkout.
    pub top: &'a Path,
    /// Where Windlass remembers things.
    pub state: &'a Path,
    /// The commit that the run began at.
    pub base: &'a str,
    /// The run.
    pub run: &'a Run,
    /// What is known of the project, where a run is to be driven; who only looks need not know.
    pub project: Option<&'a Project>,
    /// The language that somebody wants it to be spoken in, whatever they write.
    pub lang: Option<Lang>,
    /// Where issues are, where a run is about those and is to be driven.
    pub tracker: Option<&'a issues::Tracked>,
}

/// Says whether the person's index has a file.
#[derive(Clone)]
pub struct Tracks(pub Arc<dyn Fn(&str) -> bool + Send + Sync>);

impl Default for Tracks {
    fn default() -> Self {
        Tracks(Arc::new(|_| false))
    }
}

impl std::fmt::Debug for Tracks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tracks")
    }
}

/// What has been committed to a project.
pub trait Past: Send + Sync {
    /// All that is in the history of what is checked out, newest first, and after that what only other branches have.
    ///
    /// # Errors
    ///
    /// Why nobody can tell.
    fn commits(&self) -> Result<Vec<Commit>, String>;

    /// What a commit has changed, if it is there.
    fn changed_by(&self, commit: &str) -> Option<Changed>;

    /// The files below a directory, by path, as the branch has them on which work lands.
    ///
    /// # Errors
    ///
    /// Why nobody can tell.
    fn files_below(&self, dir: &str) -> Result<BTreeMap<String, Vec<u8>>, String>;

    /// The same as a commit has them that was made in a lane.
    ///
    /// # Errors
    ///
    /// Why nobody can tell.
    fn files_built(&self, commit: &str, dir: &str) -> Result<BTreeMap<String, Vec<u8>>, String>;

    /// What earlier missions have landed, the oldest first.
    fn landed_before(&self) -> Vec<mission::before::Landing> {
        Vec::new()
    }
}

/// What a commit has changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// The files.
    pub files: Vec<String>,
    /// How many lines were added.
    pub insertions: usize,
    /// How many lines were taken away.
    pub deletions: usize,
}

/// The past of a project, as far as somebody knows it.
#[derive(Clone, Default)]
pub struct History(pub Option<Arc<dyn Past>>);

impl std::fmt::Debug for History {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("History")
    }
}

/// What is known of a project before anything is done.
#[derive(Clone, Debug, Default)]
pub struct Project {
    /// Which files are in the person's index: those are never removed.
    pub tracks: Tracks,
    /// What it is written in.
    pub language: String,
    /// Commands by the name of their check.
    pub checks: BTreeMap<String, String>,
    /// What has been committed to it.
    pub history: History,
}

impl Office {
    /// Whose a workflow is.
    pub fn of(flow: &Workflow) -> Option<&'static Office> {
        OFFICES.iter().find(|office| {
            let mut kinds = flow.stages.iter().map(|stage| &stage.kind);
            kinds.any(|kind| matches!(kind, Kind::Errand(Errand::Read { name }) if name == office.known_by))
        })
    }
}

impl Left {
    /// What is said of it where a run of this workflow has left something to a person.
    pub fn by(flow: &Workflow) -> Option<Left> {
        let known_by = Office::of(flow)?.known_by;
        LEAVE.iter().find(|(office, _)| office.known_by == known_by).map(|(_, left)| *left)
    }
}

/// Whether a file is as we wrote it, by what is remembered of that.
pub fn wrote(remembered: &str, path: &str, text: &str) -> bool {
    projection::wrote(remembered, path, text)
}

/// The clerk of a run, whether or not its workflow keeps anything.
pub fn clerk(at: &Place<'_>) -> Arc<dyn Clerk> {
    match Office::of(at.run.workflow()) {
        Some(office) => (office.open)(at),
        None => Arc::new(plain::Plain::new(at)),
    }
}

#[cfg(test)]
mod tests {
    use windlass_sources::READERS;

    use super::*;

    #[test]
    fn no_two_readers_have_one_name() {
        // A reader for any workflow would be asked first, and the clerk's own never.
        let any = READERS.iter().map(|(name, _)| *name);
        for office in OFFICES {
            let mut names: Vec<&str> = any.clone().chain(office.reads.iter().copied()).collect();
            names.sort_unstable();
            let twice: Vec<_> = names.windows(2).filter(|pair| pair[0] == pair[1]).collect();
            assert_eq!(twice, [[""; 2]; 0], "{}", office.known_by);
            assert!(names.contains(&"tasks") && names.contains(&office.known_by));
            // By what it is known, nobody else may read.
            let others = OFFICES.iter().filter(|other| other.reads.contains(&office.known_by));
            assert_eq!(others.count(), 1, "{}", office.known_by);
        }
    }
}
