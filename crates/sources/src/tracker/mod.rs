//! Trackers: where issues come from, and where it is said what became of them.
//!
//! | question | file |
//! |---|---|
//! | what can every tracker do? | `mod.rs` |
//! | which are there, and what is known of each? | `kind.rs` |
//! | how is it known who wrote a comment, and what for? | `marker.rs` |
//! | how is one reached that is somewhere else, and how often is it tried? | `http.rs`, `tries.rs` |
//! | Linear | `linear/` |
//! | a folder of Markdown files | `folder/` |
//! | GitHub | `github/` |
//!
//! A tracker knows nothing of the loop. Every write may be repeated: it looks first whether it was done.

#[cfg(test)]
mod contract;
pub mod folder;
pub mod github;
mod http;
mod kind;
pub mod linear;
pub mod marker;
mod tries;

use std::fmt::Debug;
use std::time::Duration;

use crate::Back;
pub use kind::{KINDS, Kind, Setup, Signs};
pub use marker::Marker;
pub use tries::WAIT_MAX;
pub use windlass_http::keeps_secrets;

/// What every tracker can do.
pub trait Tracker: Send + Sync + Debug {
    /// What people call it: `Linear`.
    fn name(&self) -> &'static str;

    /// The projects that can be seen, for whoever has not said which.
    ///
    /// # Errors
    ///
    /// When the tracker cannot be asked.
    fn projects(&self) -> Result<Vec<Project>, TrackerError>;

    /// Every issue of the filter that is neither done nor cancelled, in whatever order; comments are left out.
    ///
    /// # Errors
    ///
    /// When the tracker cannot be asked, or has no such project, team or label.
    fn ready(&self, filter: &Filter) -> Result<Vec<Issue>, TrackerError>;

    /// What there is in the project that cannot be read as an issue, a line each, for whoever can mend it.
    ///
    /// # Errors
    ///
    /// When the tracker cannot be asked.
    fn complaints(&self, _filter: &Filter) -> Result<Vec<String>, TrackerError> {
        Ok(Vec::new())
    }

    /// One issue as it is now, with all its comments; nothing if it is gone.
    ///
    /// # Errors
    ///
    /// When the tracker cannot be asked.
    fn look(&self, id: &str) -> Result<Option<Detail>, TrackerError>;

    /// Moves an issue to a state, unless it is there already.
    ///
    /// # Errors
    ///
    /// When it cannot be moved.
    fn move_to(&self, id: &str, state: Target) -> Result<(), TrackerError>;

    /// Posts a comment, unless one of ours with this marker is there already.
    ///
    /// # Errors
    ///
    /// When it cannot be posted.
    fn post(&self, id: &str, text: &str, marker: &Marker) -> Result<(), TrackerError>;

    /// Takes back what we posted with this marker, if it is there.
    ///
    /// # Errors
    ///
    /// When it cannot be taken back.
    fn withdraw(&self, id: &str, marker: &Marker) -> Result<(), TrackerError>;

    /// Makes an issue, unless one of ours with this marker is there already. Its id.
    ///
    /// # Errors
    ///
    /// When it cannot be made.
    fn create(&self, new: &NewIssue, marker: &Marker) -> Result<String, TrackerError>;
}

/// A project that issues are in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// What `--project` takes.
    pub id: String,
    /// What people call it.
    pub name: String,
}

/// Which issues are meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// The project: Linear's id, slug or name; GitHub's `owner/name`; a directory.
    pub project: String,
    /// Linear's team, by key, name or id; nothing means any. Others have none.
    pub team: Option<String>,
    /// The label that each must have.
    pub label: String,
}

/// An issue, as lists have it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Issue {
    /// What people and `--issue` call it: `MB90-12`, `#12`, the name of a file.
    pub id: String,
    /// In a line.
    pub title: String,
    /// What is to be done, in Markdown.
    pub body: String,
    /// 1 is the most urgent; nothing if nobody said.
    pub priority: Option<u8>,
    /// All of them.
    pub labels: Vec<String>,
    /// Where it stands.
    pub state: State,
    /// What the tracker itself calls that.
    pub state_name: String,
    /// Who has it, if a person does.
    pub assignee: Option<Person>,
    /// The issues that are to be done before it, and are not.
    pub blocked_by: Vec<String>,
    /// When it was made, in the tracker's own words (RFC 3339): of two, the one that sorts first is older.
    pub created: String,
    /// Where people read it.
    pub url: String,
}

impl Issue {
    /// Whether it has a label; trackers make no difference between large and small letters there.
    pub fn has_label(&self, label: &str) -> bool {
        let label = label.to_lowercase();
        self.labels.iter().any(|own| own.to_lowercase() == label)
    }
}

/// Where an issue stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Nobody has begun.
    #[default]
    Open,
    /// Somebody is at it.
    InProgress,
    /// It is done.
    Done,
    /// It will not be done.
    Cancelled,
}

/// Where an issue is moved to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// To what the tracker's settings call in progress.
    InProgress,
    /// To what they call done.
    Done,
}

/// Somebody.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Person {
    /// What they are called.
    pub name: String,
    /// It is whose key we have.
    pub is_me: bool,
}

/// An issue with everything that was said of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Detail {
    /// The issue.
    pub issue: Issue,
    /// Oldest first, by the tracker's own order.
    pub comments: Vec<Comment>,
    /// The open pull request in which somebody works on it, where the tracker knows of such.
    pub linked: Option<Linked>,
}

/// A pull request that is about an issue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Linked {
    /// What it is called: `#12`.
    pub name: String,
    /// Whose it is.
    pub by: Person,
}

/// A comment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comment {
    /// The tracker's own name for it.
    pub id: String,
    /// Who wrote it.
    pub author: Person,
    /// When, in the tracker's own words (RFC 3339).
    pub at: String,
    /// What it says, marker included.
    pub body: String,
    /// Whoever wrote it may write to what the issue is about: anybody may comment in many places.
    pub may_write: bool,
}

/// An issue that is to be made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewIssue {
    /// Where.
    pub filter: Filter,
    /// In a line.
    pub title: String,
    /// In Markdown.
    pub body: String,
}

/// Lets time go by between two tries: false means that nobody wants to wait any longer.
pub type Patience = dyn Fn(Pause) -> bool + Send + Sync;

/// Time that is to go by between two tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// Somebody else is at a file: a moment.
    Busy(Duration),
    /// A tracker had no answer, or wants to be left alone.
    Silence {
        /// So long.
        wait: Duration,
        /// Trying it has taken so long by now.
        lost: Duration,
    },
}

impl Pause {
    /// How long it is.
    pub fn wait(self) -> Duration {
        match self {
            Pause::Busy(wait) | Pause::Silence { wait, .. } => wait,
        }
    }
}

/// Why a tracker did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrackerError {
    /// There is no key, or it opens nothing (any more).
    #[error("{tracker} does not accept the key: {why}")]
    Unwelcome {
        /// Which tracker.
        tracker: &'static str,
        /// What it said.
        why: String,
        /// Where the key is expected.
        next: String,
    },
    /// It could not be reached, or had no answer, for longer than anybody wanted to wait.
    #[error("{tracker} at {place} has no answer: {why}")]
    Unreachable {
        /// Which tracker.
        tracker: &'static str,
        /// Where it was looked for, with nothing in it that is secret.
        place: String,
        /// What happened last.
        why: String,
    },
    /// It wants to be left alone, and has said how long.
    #[error("{tracker} is limited until {}: {why}", clock(*until_ms))]
    Limited {
        /// Which tracker.
        tracker: &'static str,
        /// What it said.
        why: String,
        /// So long, from when it said so.
        wait: Duration,
        /// When that is over, in milliseconds since 1970.
        until_ms: u64,
    },
    /// It said no.
    #[error("{tracker} refuses: {why}")]
    Refused {
        /// Which tracker.
        tracker: &'static str,
        /// What it said.
        why: String,
        /// What to do about it.
        next: String,
    },
    /// Its answer is not what its documentation promises.
    #[error("{tracker} answers something else than was expected: {why}")]
    Strange {
        /// Which tracker.
        tracker: &'static str,
        /// What was expected, and what came.
        why: String,
    },
}

impl TrackerError {
    /// When it may be there again, if nothing is wrong but that it is away. Nobody waits for what would be too long.
    pub fn back(&self) -> Option<Back> {
        match self {
            TrackerError::Limited { wait, .. } if *wait <= WAIT_MAX => Some(Back::In(*wait)),
            TrackerError::Limited { .. } => Some(Back::Late),
            TrackerError::Unreachable { .. } => Some(Back::Sometime),
            _ => None,
        }
    }

    /// What to do about it, for whoever has begun nothing yet.
    pub fn first_step(&self) -> String {
        match self {
            TrackerError::Unreachable { place, .. } => {
                format!(
                    "see whether {place} is right, and try again when it can be reached: nothing was begun"
                )
            }
            TrackerError::Limited { until_ms, .. } => {
                format!("try again at {}: nothing was begun", clock(*until_ms))
            }
            other => other.next_step(),
        }
    }

    /// What to do about it.
    pub fn next_step(&self) -> String {
        match self {
            TrackerError::Unwelcome { next, .. } | TrackerError::Refused { next, .. } => {
                next.clone()
            }
            TrackerError::Unreachable { place, .. } => {
                format!("wait until {place} can be reached")
            }
            TrackerError::Limited { until_ms, .. } => format!("wait until {}", clock(*until_ms)),
            TrackerError::Strange { .. } => {
                "look whether the base URL is right, and whether there is a newer Windlass"
                    .to_owned()
            }
        }
    }
}

/// The time of day, everywhere the same.
pub fn clock(unix_ms: u64) -> String {
    let minutes = unix_ms.div_ceil(60_000);
    format!("{:02}:{:02} UTC", minutes / 60 % 24, minutes % 60)
}
