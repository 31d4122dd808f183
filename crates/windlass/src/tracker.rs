//! Trackers, as a person has set them up: which one, with which key, and with nothing secret in what is written there.

use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use windlass_clerks::{PullRequests, StateNames, Tracked};
use windlass_core::run::Run;
use windlass_core::value::Value;
use windlass_core::workflow::{Errand, Kind};
use windlass_engine::clock::wall_ms;
use windlass_engine::mask::Mask;
use windlass_repo::Repository;
use windlass_sources::Back;
use windlass_sources::tracker::folder::{DIRECTORY, Folder, States};
use windlass_sources::tracker::github::{self, GitHub};
use windlass_sources::tracker::linear::{self, Linear};
use windlass_sources::tracker::{
    Detail, Filter, Issue, Marker, NewIssue, Patience, Pause, Project, Target, Tracker,
    TrackerError,
};

use crate::config::{IssuesConfig, LandsBy, Which};
use crate::error::Error;
use crate::render::Output;
use crate::trust::Trust;

/// Whoever is at a file of a folder for longer than this is not waited for.
const PATIENCE: Duration = Duration::from_secs(15 * 60);

/// Tries that are this far apart are not about the same.
const APART: Duration = Duration::from_secs(5);

/// Nobody is left without a word for longer than this by a tracker that has no answer.
const QUIET: Duration = Duration::from_secs(2);

/// So long it is tried where nothing has been begun yet.
const AT_FIRST: Duration = Duration::from_secs(4);

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
        tracked.pulls = Some(pulls(which, &project, &config, repository, base, mask)?);
    }
    Ok(Some(tracked))
}

/// How work becomes pull requests.
pub fn pulls(
    which: Which,
    project: &str,
    config: &IssuesConfig,
    repository: &Repository,
    base: &str,
    mask: Mask,
) -> Result<PullRequests, Error> {
    let remote = config.remote().to_owned();
    let address = repository.push_address(&remote)?;
    let own = (which == Which::Github).then(|| project.to_owned());
    let named = config.repository.clone().or(own);
    let Some(named) = named.or_else(|| ends_in(&address.to_string_lossy())) else {
        return Err(Error::usage(format!(
            "nobody can tell which repository on GitHub `{remote}` is"
        ))
        .hint("`[issues] repository = \"owner/name\"` in windlass.toml says so"));
    };
    let (top, here) = (repository.top(), which == Which::Github);
    let trust = Trust::of_person(top);
    // What is said of a key is said of the tracker's.
    let said = if here { config.clone() } else { IssuesConfig::default() };
    let key = said.key(Which::Github, top, &trust)?;
    let key = key.ok_or_else(|| no_key(Which::Github, &said))?;
    let usual = github::Settings::default();
    let own = config.github_url.as_ref().map(|url| ("github-url", url));
    let own = own.or_else(|| said.base_url.as_ref().map(|url| ("base-url", url)));
    let url = own.map_or(Ok(usual.url.clone()), |(setting, url)| {
        trust.place(setting, url, &usual.url).map(|()| url.clone())
    })?;
    let settings = github::Settings { url, project: named.clone(), ..usual };
    let github = GitHub::new(settings, &key, Arc::new(patience(QUIET))).map_err(refused)?;
    Ok(PullRequests {
        github: Arc::new(github),
        repository: named,
        remote,
        base: base.to_owned(),
        look_every: Duration::from_secs(config.look_every.unwrap_or(30).max(1)),
        checks_within: Duration::from_secs(config.checks_within.unwrap_or(180)),
        mask,
    })
}

/// The `owner/name` that the address of a remote ends in, if it is on another machine.
fn ends_in(address: &str) -> Option<String> {
    let path = match address.split_once("://") {
        Some(("file", _)) => return None,
        Some((_, rest)) => rest.split_once('/')?.1,
        None => address.split_once(':').filter(|(host, _)| !host.contains('/'))?.1,
    };
    let path = path.trim_matches('/');
    let (rest, name) = path.strip_suffix(".git").unwrap_or(path).rsplit_once('/')?;
    Some(format!("{}/{name}", rest.rsplit('/').next()?))
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
        trust.place("base-url", &url, &usual).map(|()| url)
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
            let waits = move |pause: Pause| patience(pause);
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
                answer_ms_max: answer_ms_max(config, usual.answer_ms_max),
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
                answer_ms_max: answer_ms_max(config, usual.answer_ms_max),
            };
            let github = GitHub::new(settings, &key()?, patience).map_err(refused)?;
            Arc::new(github)
        }
    };
    Ok(Tracked { tracker: Arc::new(Masked { inner, mask }), states, pulls: None })
}

/// How long anybody waits for one answer.
fn answer_ms_max(config: &IssuesConfig, usual_ms: u64) -> u64 {
    config.answer_within.map_or(usual_ms, |seconds| seconds.max(1).saturating_mul(1_000))
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

fn no_key(which: Which, config: &IssuesConfig) -> Error {
    let variable = config.variable(which).unwrap_or_default();
    Error::usage(format!("there is no key for {}", which.name())).hint(format!(
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
fn patience(quiet: Duration) -> impl Fn(Pause) -> bool + Send + Sync {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_is_what_the_address_of_a_remote_ends_in() {
        for (address, is) in [
            ("https://me:key@github.com/acme/harness.git", Some("acme/harness")),
            ("git@github.com:acme/harness.git", Some("acme/harness")),
            ("ssh://git@host:22/teams/acme/harness/", Some("acme/harness")),
            ("/srv/git/harness.git", None),
            ("file:///srv/git/harness.git", None),
            ("../harness", None),
            ("https://github.com/harness", None),
        ] {
            assert_eq!(ends_in(address).as_deref(), is, "{address}");
        }
    }
}
