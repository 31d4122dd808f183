//! A tracker, as somebody has set it up for a loop.

use std::sync::Arc;
use std::time::Duration;

use windlass_engine::mask::Mask;
use windlass_sources::tracker::Tracker;
use windlass_sources::tracker::github::GitHub;

/// A tracker, as somebody has set it up.
#[derive(Clone, Debug)]
pub struct Tracked {
    /// The tracker.
    pub tracker: Arc<dyn Tracker>,
    /// What it calls its states.
    pub states: StateNames,
    /// How work becomes pull requests, where it is to.
    pub pulls: Option<PullRequests>,
}

/// How work becomes pull requests.
#[derive(Clone)]
pub struct PullRequests {
    /// Where they are made.
    pub github: Arc<GitHub>,
    /// The repository there, `owner/name`.
    pub repository: String,
    /// Where branches are pushed to, by the name that the person's git has for it.
    pub remote: String,
    /// The branch that they are to land on.
    pub base: String,
    /// So long it is between two looks.
    pub look_every: Duration,
    /// A check that has not been heard of after so long is not waited for.
    pub checks_within: Duration,
    /// Nothing secret is written there.
    pub mask: Mask,
}

impl std::fmt::Debug for PullRequests {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let PullRequests { repository, remote, base, .. } = self;
        write!(f, "PullRequests({repository}, {remote}, {base})")
    }
}

/// What a tracker calls its states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateNames {
    /// Somebody is at it.
    pub in_progress: String,
    /// It is done.
    pub done: String,
}

impl Default for StateNames {
    fn default() -> Self {
        StateNames { in_progress: "In Progress".to_owned(), done: "Done".to_owned() }
    }
}
