//! The kinds of trackers that there are, and all that others have to know of each: a `KIND` in its own file, and a line in the
//! list below. Nothing outside of this room knows a tracker by name, but who opens pull requests, which are GitHub's.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Patience, Tracker, TrackerError, folder, github, linear};

/// All of them. The first is meant where nobody says which.
pub static KINDS: [Kind; 3] = [linear::KIND, github::KIND, folder::KIND];

/// A kind of tracker.
#[derive(Debug)]
pub struct Kind {
    /// What windlass.toml and the command line call it: `linear`.
    pub name: &'static str,
    /// What it is, in a line of help.
    pub about: &'static str,
    /// The variable that holds its key, if nobody says another one; nothing if it needs none.
    pub key_variable: Option<&'static str>,
    /// Where requests go, if nobody says otherwise; nothing if none are made.
    pub url: Option<&'static str>,
    /// The project, where nobody says which; nothing if somebody has to.
    pub project: Option<&'static str>,
    /// How a person is asked for it.
    pub question: &'static str,
    /// Whether issues belong to teams, whose states people name.
    pub has_teams: bool,
    /// How what it sends is signed, if it sends anything.
    pub signs: Option<Signs>,
    /// Whether it is plainly there, in a project that somebody has checked out.
    pub is_in: fn(&Path) -> bool,
    /// Opens it.
    pub open: fn(Setup) -> Result<Arc<dyn Tracker>, TrackerError>,
}

/// How a tracker signs what it sends, with HMAC-SHA256 over all of it.
#[derive(Debug)]
pub struct Signs {
    /// The header that has the signature, in small letters.
    pub header: &'static str,
    /// What stands before its hexadecimal digits.
    pub prefix: &'static str,
    /// Whether a message was sent just now, as far as it says itself when that was (milliseconds since 1970).
    pub is_fresh: fn(&[u8], i64) -> bool,
}

/// What a tracker is opened with.
pub struct Setup {
    /// The top of what somebody has checked out.
    pub top: PathBuf,
    /// The project; empty for whoever only asks which there are.
    pub project: String,
    /// Where requests go, if not to its own place.
    pub url: Option<String>,
    /// The key; empty where there is none.
    pub key: String,
    /// What somebody calls the state of what is in progress.
    pub in_progress: Option<String>,
    /// What they call that of what is done.
    pub done: Option<String>,
    /// Nobody waits longer for an answer.
    pub answer_ms_max: Option<u64>,
    /// Milliseconds since 1970.
    pub clock: fn() -> u64,
    /// Lets time go by between two tries.
    pub patience: Arc<Patience>,
}

impl Kind {
    /// The kind of this name.
    pub fn named(name: &str) -> Option<&'static Kind> {
        KINDS.iter().find(|kind| kind.name == name)
    }
}

/// Of a tracker that is somewhere else.
pub(super) fn is_elsewhere(_: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_found_by_its_name_and_says_what_it_needs() {
        for (at, kind) in KINDS.iter().enumerate() {
            assert!(std::ptr::eq(Kind::named(kind.name).unwrap(), &KINDS[at]), "{}", kind.name);
            assert_eq!(kind.url.is_some(), kind.key_variable.is_some(), "{}", kind.name);
            let header = kind.signs.as_ref().map_or("", |signs| signs.header);
            assert_eq!(header, header.to_lowercase(), "{}", kind.name);
            assert!(kind.question.ends_with('?'), "{}", kind.name);
        }
        assert!(Kind::named("jira").is_none());
    }
}
