//! Trackers, as a person has set them up: which one, with which key, and with nothing secret in what is written there.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use windlass_clerks::{StateNames, Tracked};
use windlass_core::run::Run;
use windlass_core::value::Value;
use windlass_core::workflow::{Errand, Kind};
use windlass_engine::clock::wall_ms;
use windlass_engine::mask::Mask;
use windlass_sources::tracker::folder::{DIRECTORY, Folder, States};
use windlass_sources::tracker::github::{self, GitHub};
use windlass_sources::tracker::linear::{self, Linear};
use windlass_sources::tracker::{
    Detail, Filter, Issue, Marker, NewIssue, Patience, Project, Target, Tracker, TrackerError,
};

use crate::config::{IssuesConfig, Which};
use crate::error::Error;
use crate::trust::Trust;

/// A tracker that holds us up for longer than this is given up.
const PATIENCE: Duration = Duration::from_secs(15 * 60);

/// Tries that are this far apart are not about the same.
const APART: Duration = Duration::from_secs(5);

/// What a run says of a state that it has no name for.
pub const USUAL: &str = "usual";

/// Which tracker, where nobody says: where there is a folder of issues and no key of Linear's, that.
pub fn usual(config: &IssuesConfig, top: &Path) -> Which {
    config.tracker.unwrap_or_else(|| {
        match !config.has_key(Which::Linear) && top.join(DIRECTORY).is_dir() {
            true => Which::Folder,
            false => Which::Linear,
        }
    })
}

/// The tracker of a run, if it is about issues.
pub fn of(
    run: &Run,
    config: &IssuesConfig,
    top: &Path,
    mask: Mask,
) -> Result<Option<Tracked>, Error> {
    let about =
        |kind: &Kind| matches!(kind, Kind::Errand(Errand::Read { name }) if name == "next-issue");
    if !run.workflow().stages.iter().any(|stage| about(&stage.kind)) {
        return Ok(None);
    }
    let text = |name: &str| match run.input_named(name) {
        Some(Value::Text(text)) => text.to_string(),
        _ => String::new(),
    };
    let which = Which::named(&text("tracker")).unwrap_or_else(|| usual(config, top));
    // What states are called was settled when the run began.
    let mut config = config.clone();
    for (own, name) in
        [(&mut config.in_progress, "state_in_progress"), (&mut config.done, "state_done")]
    {
        let settled = Some(text(name)).filter(|it| !it.is_empty() && it != USUAL);
        *own = settled.or_else(|| own.take());
    }
    let patience = Arc::new(patience());
    open(which, &text("project"), &config, top, mask, patience).map(Some)
}

/// A tracker.
pub fn open(
    which: Which,
    project: &str,
    config: &IssuesConfig,
    top: &Path,
    mask: Mask,
    patience: Arc<Patience>,
) -> Result<Tracked, Error> {
    let trust = Trust::of_person(top);
    let key = || config.key(which, top, &trust)?.ok_or_else(|| no_key(which, config));
    let sent_to = |usual: String| {
        let url = config.base_url.clone().unwrap_or_else(|| usual.clone());
        trust.place(&url, &usual).map(|()| url)
    };
    let usual = StateNames::default();
    let states = StateNames {
        in_progress: config.in_progress.clone().unwrap_or(usual.in_progress),
        done: config.done.clone().unwrap_or(usual.done),
    };
    let inner: Arc<dyn Tracker> = match which {
        Which::Folder => {
            let directory = if project.is_empty() { DIRECTORY } else { project };
            let clock = || u64::try_from(wall_ms()).unwrap_or_default();
            let waits = move |wait: Duration| patience(wait);
            let folder = Folder::of(top, directory, Box::new(clock), Box::new(waits));
            let words = States::default();
            Arc::new(folder.with_states(States {
                in_progress: config.in_progress.clone().unwrap_or(words.in_progress),
                done: config.done.clone().unwrap_or(words.done),
            }))
        }
        Which::Linear => {
            let usual = linear::Settings::default();
            let settings = linear::Settings {
                url: sent_to(usual.url)?,
                in_progress: states.in_progress.clone(),
                done: states.done.clone(),
                ..usual
            };
            let linear = Linear::new(settings, &key()?, patience).map_err(refused)?;
            Arc::new(linear)
        }
        Which::Github => {
            let usual = github::Settings::default();
            let settings = github::Settings {
                url: sent_to(usual.url)?,
                project: project.to_owned(),
                in_progress: config.in_progress.clone().unwrap_or(usual.in_progress),
                ..usual
            };
            let github = GitHub::new(settings, &key()?, patience).map_err(refused)?;
            Arc::new(github)
        }
    };
    Ok(Tracked { tracker: Arc::new(Masked { inner, mask }), states })
}

/// A tracker's error, as a person reads it.
pub fn refused(error: TrackerError) -> Error {
    let next = error.next_step();
    Error::here(error.to_string()).hint(next)
}

fn no_key(which: Which, config: &IssuesConfig) -> Error {
    let variable = config.variable(which).unwrap_or_default();
    Error::usage(format!("there is no key for {}", which.name())).hint(format!(
        "set {variable}, or name a file that holds the key: `[issues] key-file` in windlass.toml; `--tracker folder` needs none"
    ))
}

/// Lets time go by between two tries, for a while: what keeps failing for longer than that is said.
pub fn patience() -> impl Fn(Duration) -> bool + Send + Sync {
    let since: Mutex<Option<(Instant, Instant)>> = Mutex::new(None);
    move |wait: Duration| {
        let now = Instant::now();
        let began = {
            let mut since = since.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let began = match *since {
                Some((began, last)) if now.saturating_duration_since(last) < APART => began,
                _ => now,
            };
            *since = Some((began, now + wait));
            began
        };
        if now.saturating_duration_since(began) + wait > PATIENCE {
            return false;
        }
        std::thread::sleep(wait);
        true
    }
}

/// A tracker to which nothing secret is written.
struct Masked {
    inner: Arc<dyn Tracker>,
    mask: Mask,
}

impl std::fmt::Debug for Masked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.inner.fmt(f)
    }
}

impl Tracker for Masked {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn projects(&self) -> Result<Vec<Project>, TrackerError> {
        self.inner.projects()
    }

    fn ready(&self, filter: &Filter) -> Result<Vec<Issue>, TrackerError> {
        self.inner.ready(filter)
    }

    fn complaints(&self, filter: &Filter) -> Result<Vec<String>, TrackerError> {
        self.inner.complaints(filter)
    }

    fn look(&self, id: &str) -> Result<Option<Detail>, TrackerError> {
        self.inner.look(id)
    }

    fn move_to(&self, id: &str, state: Target) -> Result<(), TrackerError> {
        self.inner.move_to(id, state)
    }

    fn post(&self, id: &str, text: &str, marker: &Marker) -> Result<(), TrackerError> {
        self.inner.post(id, &self.mask.text(text), marker)
    }

    fn withdraw(&self, id: &str, marker: &Marker) -> Result<(), TrackerError> {
        self.inner.withdraw(id, marker)
    }

    fn create(&self, new: &NewIssue, marker: &Marker) -> Result<String, TrackerError> {
        let (title, body) = (self.mask.text(&new.title), self.mask.text(&new.body));
        self.inner.create(&NewIssue { filter: new.filter.clone(), title, body }, marker)
    }
}
