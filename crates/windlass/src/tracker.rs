//! Trackers, as a person has set them up: which one, with which key, and with nothing secret in what is written there.

use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use windlass_clerks::issues::{StateNames, Tracked};
use windlass_core::run::Run;
use windlass_core::value::Value;
use windlass_core::workflow::{Errand, Kind};
use windlass_engine::clock::wall_ms;
use windlass_engine::mask::Mask;
use windlass_repo::Repository;
use windlass_sources::Back;
use windlass_sources::tracker::{
    Detail, Filter, Issue, Marker, NewIssue, Patience, Pause, Project, Setup, Target, Tracker,
    TrackerError,
};

use crate::config::{IssuesConfig, LandsBy, Which};
use crate::error::Error;
use crate::pulls;
use crate::render::Output;
use crate::trust::Trust;

/// Whoever is at a file of a folder for longer than this is not waited for.
const PATIENCE: Duration = Duration::from_secs(15 * 60);

/// Tries that are this far apart are not about the same.
const APART: Duration = Duration::from_secs(5);

/// Nobody is left without a word for longer than this by a tracker that has no answer.
pub const QUIET: Duration = Duration::from_secs(2);

/// So long it is tried where nothing has been begun yet.
const AT_FIRST: Duration = Duration::from_secs(4);

/// What a run says of a state that it has no name for.
pub const USUAL: &str = "usual";

/// Which tracker, where nobody says: one that is plainly there, if there is no key of the first one's.
pub fn usual(config: &IssuesConfig, top: &Path) -> Which {
    config.tracker.unwrap_or_else(|| {
        let there = Which::all().find(|which| (which.is_in)(top));
        there.filter(|_| !config.has_key(Which::FIRST)).unwrap_or(Which::FIRST)
    })
}

/// The tracker of a run, if it is about issues; `base` is the branch that it lands on.
pub fn of(
    run: &Run,
    config: &IssuesConfig,
    repository: &Repository,
    base: &str,
    mask: Mask,
) -> Result<Option<Tracked>, Error> {
    let top = repository.top();
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
    let (project, patience) = (text("project"), Arc::new(patience(QUIET)));
    let mut tracked = open(which, &project, &config, top, mask.clone(), patience)?;
    if text("land") == LandsBy::Pr.name() {
        tracked.pulls = Some(pulls::of(which, &project, &config, repository, base, mask)?);
    }
    Ok(Some(tracked))
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
    let (mut url, mut key) = (None, String::new());
    if let Some(usual) = which.url {
        let said = config.base_url.clone().unwrap_or_else(|| usual.to_owned());
        trust.place("base-url", &said, usual)?;
        url = Some(said);
        key = config.key(which, top, &trust)?.ok_or_else(|| no_key(which, config))?;
    }
    let usual = StateNames::default();
    let states = StateNames {
        in_progress: config.in_progress.clone().unwrap_or(usual.in_progress),
        done: config.done.clone().unwrap_or(usual.done),
    };
    let setup = Setup {
        top: top.to_owned(),
        project: project.to_owned(),
        url,
        key,
        in_progress: config.in_progress.clone(),
        done: config.done.clone(),
        answer_ms_max: config.answer_within.map(|seconds| seconds.max(1).saturating_mul(1_000)),
        clock: || u64::try_from(wall_ms()).unwrap_or_default(),
        patience,
    };
    let inner = (which.open)(setup).map_err(refused)?;
    Ok(Tracked { tracker: Arc::new(Masked { inner, mask }), states, pulls: None })
}

/// A tracker's error, as a person reads it who has begun nothing yet.
pub fn refused(error: TrackerError) -> Error {
    let next = error.first_step();
    Error::here(error.to_string()).hint(next).away(error.back())
}

/// Asks a tracker for somebody who sits there: how long it wants to be left alone is said, and let pass.
pub fn asked<T>(out: &mut Output, ask: impl Fn() -> Result<T, TrackerError>) -> Result<T, Error> {
    loop {
        let error = match ask() {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let Some(Back::In(wait)) = error.back() else { return Err(refused(error)) };
        out.note(&format!("{error}; waiting until then, Ctrl-C ends that"))?;
        std::thread::sleep(wait);
    }
}

pub fn no_key(which: Which, config: &IssuesConfig) -> Error {
    let variable = config.variable(which).unwrap_or_default();
    Error::usage(format!("there is no key for {}", which.name)).hint(format!(
        "set {variable}, or name a file that holds the key: `[issues] key-file` in windlass.toml; `--tracker folder` needs none"
    ))
}

/// Whether the process is to end, and whom that wakes.
static ENDS: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());

/// Has nobody wait for a tracker any longer: the process is to end.
pub fn nobody_waits() {
    *ENDS.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
    ENDS.1.notify_all();
}

/// Lets time go by, unless the process is to end. False if it is.
fn sleeps(wait: Duration) -> bool {
    let ends = ENDS.0.lock().unwrap_or_else(PoisonError::into_inner);
    let (ends, _) = ENDS
        .1
        .wait_timeout_while(ends, wait, |ends| !*ends)
        .unwrap_or_else(PoisonError::into_inner);
    !*ends
}

/// The patience of whoever has begun nothing yet: a tracker that is not there is better said soon.
pub fn at_first() -> impl Fn(Pause) -> bool + Send + Sync {
    patience(AT_FIRST)
}

/// Lets time go by between two tries: without a word, so not for long. How long a tracker has no answer, or wants to be left
/// alone, is waited for by whoever can say so and can be told to stop.
pub fn patience(quiet: Duration) -> impl Fn(Pause) -> bool + Send + Sync {
    let since: Mutex<Option<(Instant, Instant)>> = Mutex::new(None);
    move |pause: Pause| match pause {
        Pause::Silence { wait, lost } => lost.saturating_add(wait) <= quiet && sleeps(wait),
        Pause::Busy(wait) => {
            let now = Instant::now();
            let began = {
                let mut since = since.lock().unwrap_or_else(PoisonError::into_inner);
                let began = match *since {
                    Some((began, last)) if now.saturating_duration_since(last) < APART => began,
                    _ => now,
                };
                *since = Some((began, now + wait));
                began
            };
            now.saturating_duration_since(began) + wait <= PATIENCE && sleeps(wait)
        }
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
