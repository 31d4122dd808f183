//! Linear, over its GraphQL API.
//!
//! | question | file |
//! |---|---|
//! | what is it asked, in which words? | `query.rs`, `documents/` |
//! | how is a request sent, sent again, and given up? | `ask.rs` |
//! | which project, team and label are meant? | `place.rs` |
//! | what does an issue look like to us? | `shown.rs` |
//! | how is something written once? | `write.rs` |
//! | is what it sends of just now? | `sent.rs` |
//!
//! Comments and issues that we make have ids that are made of their markers, so that Linear itself refuses a second one.

mod ask;
mod place;
mod query;
mod sent;
mod shown;
#[cfg(test)]
mod tests;
mod write;

use std::fmt;
use std::sync::Arc;

use windlass_http::keeps_secrets;

use super::http::Http;
use super::kind::is_elsewhere;
use super::{
    Detail, Filter, Issue, Kind, Marker, NewIssue, Patience, Project, Signs, Target, Tracker,
    TrackerError,
};
use ask::{refused, unwelcome};
use query::{After, ById};

/// What people call it.
const NAME: &str = "Linear";

/// Where its key is expected.
pub const KEY: &str = "LINEAR_API_KEY";

/// Where it is, if nobody says otherwise.
pub const URL: &str = "https://api.linear.app/graphql";

/// All that others know of it.
pub const KIND: Kind = Kind {
    name: "linear",
    about: "Linear, over its API",
    key_variable: Some(KEY),
    url: Some(URL),
    project: None,
    question: "Which Linear project should the harness pull issues from?",
    has_teams: true,
    signs: Some(Signs { header: "linear-signature", prefix: "", is_fresh: sent::is_fresh }),
    is_in: is_elsewhere,
    open: |setup| {
        let usual = Settings::default();
        let settings = Settings {
            url: setup.url.unwrap_or(usual.url),
            in_progress: setup.in_progress.unwrap_or(usual.in_progress),
            done: setup.done.unwrap_or(usual.done),
            answer_ms_max: setup.answer_ms_max.unwrap_or(usual.answer_ms_max),
        };
        Ok(Arc::new(Linear::new(settings, &setup.key, setup.patience)?))
    },
};

/// No list has more pages: whoever hands out the same cursor for ever is not listened to for ever.
const PAGES_MAX: usize = 400;

/// How Linear is reached, and what its states are called.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where requests go; [`URL`].
    pub url: String,
    /// The name of the state of what is in progress, in every team: `In Progress`.
    pub in_progress: String,
    /// The name of the state of what is done: `Done`.
    pub done: String,
    /// Nobody waits longer for an answer.
    pub answer_ms_max: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            url: URL.to_owned(),
            in_progress: "In Progress".to_owned(),
            done: "Done".to_owned(),
            answer_ms_max: 60_000,
        }
    }
}

/// Linear.
pub struct Linear {
    url: String,
    key: Key,
    in_progress: String,
    done: String,
    http: Http,
    patience: Arc<Patience>,
}

/// A key, which is shown to Linear and to nobody else.
struct Key(String);

impl Key {
    fn shown(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Linear {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Linear").field("url", &self.url).finish_non_exhaustive()
    }
}

impl Linear {
    /// Linear, with the key of a person or of an application. (The token of an application begins with `Bearer `.)
    ///
    /// # Errors
    ///
    /// When there is no key, or it would be sent in the clear to another machine.
    pub fn new(
        settings: Settings,
        key: &str,
        patience: Arc<Patience>,
    ) -> Result<Self, TrackerError> {
        let Settings { url, in_progress, done, answer_ms_max } = settings;
        let key = key.trim();
        if key.is_empty() {
            return Err(unwelcome("there is none".to_owned()));
        }
        if !key.chars().all(|it| it.is_ascii_graphic() || it == ' ') {
            return Err(unwelcome("it has characters that no key has".to_owned()));
        }
        if !keeps_secrets(&url) {
            let why = format!("a key is not sent to {url}, where others could read it on the way");
            return Err(refused(why, "use a base URL that begins with https://"));
        }
        let http = Http::new(&url, answer_ms_max);
        Ok(Linear { url, key: Key(key.to_owned()), in_progress, done, http, patience })
    }
}

impl Tracker for Linear {
    fn name(&self) -> &'static str {
        NAME
    }

    fn projects(&self) -> Result<Vec<Project>, TrackerError> {
        let mut asking = self.asking();
        let projects = asking.pages(None, |asking, after| {
            Ok(asking.ask::<query::Projects>(&After { after })?.projects)
        });
        let projects = projects.map_err(|trouble| trouble.told(RIGHTS))?;
        let shown =
            projects.into_iter().map(|it| Project { id: it.slug_id, name: shown::line(&it.name) });
        Ok(shown.collect())
    }

    fn ready(&self, filter: &Filter) -> Result<Vec<Issue>, TrackerError> {
        let mut asking = self.asking();
        let place = asking.place(filter)?;
        self.issues(&mut asking, &place).map_err(|trouble| trouble.told(RIGHTS))
    }

    fn look(&self, id: &str) -> Result<Option<Detail>, TrackerError> {
        let mut asking = self.asking();
        match self.whole(&mut asking, id) {
            Err(trouble) if trouble.is_missing() => Ok(None),
            other => other.map_err(|trouble| trouble.told(RIGHTS)),
        }
    }

    fn move_to(&self, id: &str, state: Target) -> Result<(), TrackerError> {
        self.moved(id, state)
    }

    fn post(&self, id: &str, text: &str, marker: &Marker) -> Result<(), TrackerError> {
        self.said(id, text, marker)
    }

    fn withdraw(&self, id: &str, marker: &Marker) -> Result<(), TrackerError> {
        self.unsaid(id, marker)
    }

    fn create(&self, new: &NewIssue, marker: &Marker) -> Result<String, TrackerError> {
        self.made(new, marker)
    }
}

/// What to do about most refusals.
const RIGHTS: &str = "look whether the key's owner may do that in Linear";

fn by_id(id: &str, after: Option<String>) -> ById {
    ById { id: id.to_owned(), after }
}
