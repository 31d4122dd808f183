//! The clerk of issues: whose issues are, what is known of each, its file (seed: issues; ADR 19; docs/formats.md).

mod checked;
pub mod claim;
mod frozen;
mod harmless;
mod knots;
mod pulls;
mod read;
mod select;
mod session;
mod show;
pub(crate) mod stage;
mod tell;
mod tracked;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use windlass_core::run::Run;
use windlass_core::value::Value;
use windlass_core::workflow::RunOutcome;
use windlass_engine::clerk::{Blobs, Clerk, Destination, Said, Situation, Told, Trial};
use windlass_engine::entry::Entry;
use windlass_engine::message::Trouble;
use windlass_engine::shop::lock;
use windlass_sources::issues::{self, State};
use windlass_sources::tracker::{Filter, Tracker};
use windlass_sources::{Reading, SourceError};

pub use read::{NEXT, names, settled};
pub use select::{All, Known, LeftOut, Selection, Wanted, held, line, select, typed};
pub use tracked::{PullRequests, StateNames, Tracked};

use claim::Secret;
use session::Session;

use crate::memory::Files;
use crate::projection::Projection;
use crate::{History, Office, Place, Spoken};

/// Runs that look for an issue are loops over issues.
pub(crate) const OFFICE: Office = Office {
    known_by: "next-issue",
    reads: &read::READS,
    shows: &show::SHOWS,
    files: &[],
    open: |at| Arc::new(Issues::new(at)),
};

/// The clerk of a loop over issues.
struct Issues {
    files: Files,
    /// Where Windlass remembers things.
    state: PathBuf,
    run: String,
    /// What the loop was begun with.
    begun: State,
    /// Where new issues are made.
    filter: Filter,
    /// The project's own commands.
    checks: BTreeMap<String, String>,
    /// What has been committed.
    history: History,
    tracker: Option<Arc<dyn Tracker>>,
    pulls: Option<PullRequests>,
    /// Checks that were seen to fail: of which issue, at which commit, which ones.
    failing: Mutex<BTreeSet<(String, String, String)>>,
    session: Mutex<Session>,
    projection: Mutex<Projection>,
    said: Mutex<Vec<String>>,
    warned: Mutex<BTreeSet<String>>,
    spoken: Mutex<Spoken>,
    secret: Mutex<Option<Secret>>,
}

impl Issues {
    fn new(Place { top, state, run, lang, project, tracker, .. }: &Place<'_>) -> Self {
        let files = Files::of(*top);
        let text = |name: &str| match run.input_named(name) {
            Some(Value::Text(text)) => text.to_string(),
            _ => String::new(),
        };
        let number = |name: &str, usual: u64| match run.input_named(name) {
            Some(Value::Number(number)) => u64::try_from(*number).unwrap_or(usual),
            _ => usual,
        };
        let names = tracker.map(|it| it.states.clone()).unwrap_or_default();
        let begun = State {
            max_iterations: number("max", 20),
            discover_interval: number("discover_interval", 5),
            project: text("project"),
            team: text("team"),
            labels: vec![text("label")],
            tracker: Some(text("tracker")).filter(|it| !it.is_empty() && it != "linear"),
            in_progress_status: names.in_progress,
            done_status: names.done,
            ..State::default()
        };
        let team = Some(text("team")).filter(|it| !it.is_empty());
        Issues {
            state: state.to_path_buf(),
            run: run.id().to_owned(),
            begun,
            filter: Filter { project: text("project"), team, label: text("label") },
            checks: project.map(|it| it.checks.clone()).unwrap_or_default(),
            history: project.map(|it| it.history.clone()).unwrap_or_default(),
            tracker: tracker.map(|it| it.tracker.clone()),
            pulls: tracker.and_then(|it| it.pulls.clone()),
            failing: Mutex::default(),
            session: Mutex::default(),
            projection: Mutex::new(Projection::into(files.clone(), state.join("projected.json"))),
            said: Mutex::default(),
            warned: Mutex::default(),
            spoken: Mutex::new(Spoken::at_first(run, *lang)),
            secret: Mutex::default(),
            files,
        }
    }

    fn session(&self) -> MutexGuard<'_, Session> {
        lock(&self.session)
    }

    /// The tracker, if somebody has said which.
    fn tracker(&self) -> Result<Arc<dyn Tracker>, SourceError> {
        self.tracker.clone().ok_or_else(|| {
            SourceError::bad("the tracker", "nobody has said which it is")
                .or_else("`windlass issues --help` tells how")
        })
    }

    /// The run's secret.
    fn secret(&self) -> Result<Secret, Trouble> {
        let mut known = lock(&self.secret);
        match &*known {
            Some(secret) => Ok(secret.clone()),
            None => Ok(known.insert(Secret::of(&self.state, &self.run)?).clone()),
        }
    }

    /// Writes the file, if it is not as it should be.
    fn project_file(&self) {
        let mut session = self.session();
        // What was called off has nothing to say any more.
        let called_off = session.ended == Some(RunOutcome::Cancelled) && !session.had_previous;
        if !std::mem::take(&mut session.dirty) || called_off {
            return;
        }
        let text = session.state(&self.begun).write();
        drop(session);
        let put = lock(&self.projection).put(issues::PATH, &text);
        let what = match put {
            Ok(None) => return,
            Ok(Some(aside)) => {
                format!("{} was somebody else's: it is kept as {aside}", issues::PATH)
            }
            Err(trouble) => {
                self.session().dirty = true;
                format!("{} cannot be written: {trouble}", issues::PATH)
            }
        };
        if lock(&self.warned).insert(what.clone()) {
            lock(&self.said).push(what);
        }
    }
}

impl Clerk for Issues {
    fn entry(&self, entry: &Entry, run: &Run, blobs: Blobs<'_>) {
        lock(&self.spoken).enter(entry);
        lock(&self.projection).follows(entry, blobs, |path, _| path == issues::PATH);
        let news = {
            let mut session = self.session();
            session.enter(entry, run, blobs);
            std::mem::take(&mut session.news)
        };
        lock(&self.said).extend(news);
    }

    fn caught_up(&self) {
        lock(&self.said).clear();
    }

    fn language(&self) -> Option<String> {
        lock(&self.spoken).for_agents()
    }

    fn flush(&self) -> Vec<String> {
        self.project_file();
        std::mem::take(&mut *lock(&self.said))
    }

    fn read(&self, name: &str, at: &Situation) -> Result<Option<Reading>, SourceError> {
        self.look(name, at)
    }

    fn tell(&self, name: &str, at: &Situation) -> Result<Told, Trouble> {
        self.told(name, at)
    }

    fn artifact(&self, name: &str, at: &Situation) -> Option<String> {
        self.shown(name, at)
    }

    fn examine(&self, role: &str, verdict: &str, said: Said<'_>, at: &Situation) -> Option<String> {
        self.examined(role, verdict, said, at)
    }

    fn path(&self, _: &str, _: &Situation) -> Option<String> {
        None
    }

    fn papers(&self) -> BTreeMap<String, Arc<[u8]>> {
        self.session().papers.clone()
    }

    /// Roles are shown what is theirs of it.
    fn papers_for(&self, _: &Situation) -> BTreeMap<String, Arc<[u8]>> {
        BTreeMap::new()
    }

    fn keeps(&self, _: &str, _: &[(String, String)]) -> bool {
        false
    }

    fn commands(&self, check: &str, at: &Situation) -> Option<Vec<Trial>> {
        self.trials(check, at)
    }

    fn may_change(&self, at: &Situation) -> Option<Vec<String>> {
        self.may_touch(at)
    }

    fn trailer(&self, name: &str, at: &Situation) -> Option<String> {
        self.trailer_of(name, at)
    }

    fn destination(&self, at: &Situation) -> Option<Destination> {
        self.pushes_to(at)
    }

    fn quotes_titles(&self) -> bool {
        true
    }

    fn in_history(&self, title: &str) -> String {
        harmless::harmless(title)
    }

    fn apart(&self) -> Vec<String> {
        vec![".harness".to_owned(), issues::PATH.to_owned()]
    }

    fn branches(&self) -> Option<&str> {
        Some("harness")
    }

    fn over(&self) -> Vec<String> {
        if let Err(trouble) = Secret::over(&self.state, &self.run) {
            let what = format!(
                "{trouble}: what this loop still claims is taken for somebody's until `windlass issues release` ends it"
            );
            lock(&self.said).push(what);
        }
        let mut session = self.session();
        session.dirty = true;
        let ended = session.state(&self.begun).ended;
        drop(session);
        // One whose queue was empty, or that was to take one issue, has nothing to be gone on with.
        if !matches!(ended.as_deref(), Some("done" | "once")) {
            let next = "`windlass issues` goes on with the queue: it asks whether to restart, or to resume with the counts of this loop";
            lock(&self.said).push(next.to_owned());
        }
        self.project_file();
        std::mem::take(&mut *lock(&self.said))
    }
}
