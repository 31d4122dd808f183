//! The clerk of mission: its queue, its contract, its files (seed: mission; docs/formats.md).

pub mod before;
mod built;
mod held;
mod overrides;
mod promised;
mod read;
mod reason;
mod session;
mod show;
pub(crate) mod stage;
mod tell;
mod theirs;
mod validated;

pub use tell::ESCALATION;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use windlass_core::run::Run;
use windlass_core::value::Value;
use windlass_core::workflow::RunOutcome;
use windlass_engine::clerk::{Blobs, Clerk, Remembered, Said, Situation, Told};
use windlass_engine::entry::Entry;
use windlass_engine::message::Trouble;
use windlass_engine::shop::lock;
use windlass_sources::contract::{Assertion, Contract, How};
use windlass_sources::features::{self, Queue};
use windlass_sources::{Reading, SourceError};
use windlass_words::Words;

use session::{CONTRACT, Session};

use crate::memory::Files;
use crate::memory::mission::{self as layers, Layers};
use crate::projection::Projection;
use crate::{Left, Office, Place, Spoken};

/// What only missions read.
pub const KNOWN_BY: &str = "features";

/// Runs that read a queue of features are missions.
pub(crate) const OFFICE: Office = Office {
    known_by: KNOWN_BY,
    reads: &read::READS,
    shows: &show::SHOWS,
    files: &["features.json", "validation-contract.md"],
    open: |at| Arc::new(Mission::new(at)),
};

/// What came to nothing stays in the queue, for the next mission over it.
pub(crate) const LEFT: Left = Left {
    after_escalation: |words| words.say("status-next-mission", &[("path", ESCALATION)]),
    retry: |unit| format!("windlass mission retry {unit}"),
};

/// Where a mission's own state and the last answers of its roles are.
const STATE: &str = ".harness/mission/state.json";
const LOGS: &str = ".harness/mission/logs";

/// Where a person may look for what is under way: a file for each feature says where that is.
const LANES: &str = ".harness/worktrees";

/// A file that takes this much longer to write than since it was written last can wait: what it shows is in the journal.
const PATIENCE: u32 = 20;

/// The clerk of a mission.
struct Mission {
    files: Files,
    /// Held by whoever writes the queue's file, so that nobody's edit is lost.
    queue_lock: PathBuf,
    spec: String,
    /// Each feature is tried through its user interface.
    tries_pages: bool,
    /// What earlier missions have landed.
    before: Vec<before::Landing>,
    run: String,
    session: Mutex<Session>,
    memory: Mutex<Layers>,
    projection: Mutex<Projection>,
    pace: Mutex<Pace>,
    said: Mutex<Vec<String>>,
    spoken: Mutex<Spoken>,
    warned: Mutex<BTreeSet<String>>,
    /// What was said last of a person's plan.
    complained: Mutex<Vec<String>>,
}

/// How often the queue's file is written: the larger it is, the less often.
#[derive(Debug, Default)]
struct Pace {
    last: Option<(Instant, Duration)>,
}

impl Session {
    /// The text of a paper.
    fn paper(&self, path: &str) -> Option<String> {
        self.papers.get(path).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }
}

impl Mission {
    fn new(Place { top, state, run, lang, project, .. }: &Place<'_>) -> Self {
        let files = Files::of(*top);
        let history = project.and_then(|project| project.history.0.as_ref());
        let spec = run.input_named("spec").map_or(String::new(), ToString::to_string);
        Mission {
            queue_lock: state.join(QUEUE_LOCK),
            spec: spec.trim_start_matches("./").to_owned(),
            tries_pages: matches!(
                run.input_named("steps"),
                Some(Value::Set(steps)) if steps.iter().any(|step| &**step == "ui-qa")
            ),
            before: history.map_or_else(Vec::new, |history| history.landed_before()),
            run: run.id().to_owned(),
            session: Mutex::default(),
            memory: Mutex::new(Layers::open(files.clone(), state, run.id())),
            projection: Mutex::new(Projection::into(files.clone(), state.join("projected.json"))),
            pace: Mutex::default(),
            said: Mutex::default(),
            spoken: Mutex::new(Spoken::at_first(run, *lang)),
            warned: Mutex::default(),
            complained: Mutex::default(),
            files,
        }
    }

    fn session(&self) -> MutexGuard<'_, Session> {
        lock(&self.session)
    }

    fn says(&self, text: impl Into<String>) {
        lock(&self.said).push(text.into());
    }

    /// Says something that stays true until somebody sees to it: once.
    fn warns(&self, text: String) {
        if lock(&self.warned).insert(text.clone()) {
            self.says(text);
        }
    }

    /// What is said of a person's plan, without what was said of it when it was read before.
    fn complains(&self, of_it: Vec<String>) -> Vec<String> {
        let before = std::mem::replace(&mut *lock(&self.complained), of_it.clone());
        of_it.into_iter().filter(|it| !before.contains(it)).collect()
    }

    /// A file as a person has it; as a role wrote it, where they have none.
    fn current(&self, path: &str) -> Result<Option<String>, SourceError> {
        let there = self.files.text(path)?.filter(|text| !text.trim().is_empty());
        Ok(there.or_else(|| self.session().paper(path)))
    }

    /// The queue's file.
    fn queue_text(&self) -> Result<Option<String>, SourceError> {
        let text = self.files.short(features::PATH, features::BYTES_MAX)?;
        Ok(text.filter(|text| !text.trim().is_empty()))
    }

    /// The queue's file, if it is not as we wrote it.
    fn foreign_queue(&self) -> Result<Option<String>, SourceError> {
        let text = self.queue_text()?;
        Ok(text.filter(|text| !lock(&self.projection).is_ours(features::PATH, text)))
    }

    /// That features are to be tried in a browser, and nothing says what to do there, if so.
    fn no_pages(&self, contract: &Contract, words: Words) -> Option<String> {
        let walks = |it: &Assertion| it.how.iter().any(|how| matches!(how, How::Ui(_)));
        let none = self.tries_pages && !contract.assertions.iter().any(walks);
        none.then(|| words.say("missionline-no-pages", &[("path", CONTRACT)]))
    }

    /// The spec as a person has it.
    fn spec_text(&self) -> Result<Option<String>, SourceError> {
        if self.spec.is_empty() { Ok(None) } else { self.files.text(&self.spec) }
    }

    /// Writes the files that are not as they should be; the queue's not more often than it is worth, unless it has to be.
    fn project_files(&self, now: bool) {
        let mut session = self.session();
        let dirty = session.dirty;
        let papers: Vec<(String, String)> = std::mem::take(&mut session.fresh)
            .iter()
            .filter(|path| path.starts_with(".harness/") && *path != features::PATH)
            .filter(|path| !layers::owns(path))
            .filter_map(|path| Some((path.clone(), session.paper(path)?)))
            .collect();
        let logs = std::mem::take(&mut session.logs);
        let old = std::mem::take(&mut session.old_logs);
        let moved = std::mem::take(&mut session.moved).into_iter();
        let moved: Vec<(String, Option<String>)> = moved
            .map(|unit| (format!("{LANES}/{unit}"), session.lanes.get(&unit).cloned()))
            .collect();
        // What was called off has nothing to say any more: whoever came after it has the files.
        let called_off = session.ended == Some(RunOutcome::Cancelled);
        let has_queue = session.papers.contains_key(features::PATH) && !called_off;
        let due = dirty && has_queue && (now || session.ended.is_some() || self.is_due());
        let queue = due.then(|| session.whole());
        let state = due.then(|| state(&session, &self.run));
        if due {
            session.dirty = false;
        }
        drop(session);
        // In this order, as whoever looks at both: nobody waits for the other.
        let mut memory = lock(&self.memory);
        let mut projection = lock(&self.projection);
        for (path, text) in papers {
            // What a person may change stands as they have it.
            let put = match path == CONTRACT {
                true => projection.lend(&path, &text),
                false => projection.put(&path, &text),
            };
            if put.is_err() {
                // Tried again with what comes next.
                self.session().fresh.insert(path.clone());
            }
            self.put(&path, put);
        }
        for (name, text) in logs {
            let path = format!("{LOGS}/{name}");
            let put = projection.put(&path, &text);
            self.put(&path, put);
        }
        for name in old {
            if let Err(trouble) = projection.remove(&format!("{LOGS}/{name}")) {
                self.warns(trouble.to_string());
            }
        }
        for (path, text) in moved {
            match text {
                Some(text) => {
                    let put = projection.put(&path, &text);
                    self.put(&path, put);
                }
                None => {
                    if let Err(trouble) = projection.remove(&path) {
                        self.warns(trouble.to_string());
                    }
                }
            }
        }
        if let Some(text) = state {
            let put = projection.put(STATE, &text);
            self.put(STATE, put);
        }
        let remembered = memory.project(&mut projection);
        lock(&self.said).extend(remembered);
        drop((memory, projection));
        if let Some(queue) = queue {
            self.write_queue(&queue);
        }
    }

    fn put(&self, path: &str, put: Result<Option<String>, Trouble>) {
        match put {
            Ok(None) => {}
            Ok(Some(aside)) => {
                self.says(format!("{path} was somebody else's: it is kept as {aside}"))
            }
            Err(trouble) => self.warns(format!("{path} cannot be written: {trouble}")),
        }
    }

    /// Whether the queue's file may be written again.
    fn is_due(&self) -> bool {
        let pace = lock(&self.pace);
        pace.last.is_none_or(|(at, took)| at.elapsed() >= took * PATIENCE)
    }

    /// Writes the queue's file, unless a person has changed it and nobody has read that yet: theirs stays until then.
    fn write_queue(&self, queue: &Queue) {
        let began = Instant::now();
        let _held = hold(&self.queue_lock);
        let there = match self.queue_text() {
            Ok(there) => there,
            Err(error) => return self.warns(format!("{error}; {}", error.next_step())),
        };
        let mut projection = lock(&self.projection);
        if there.is_some_and(|there| !projection.is_ours(features::PATH, &there)) {
            self.session().dirty = true;
            return;
        }
        let text = queue.write();
        let put = projection.put(features::PATH, &text);
        if put.is_ok()
            && let Err(trouble) = projection.forget_before(features::PATH, &text)
        {
            self.warns(trouble.to_string());
        }
        drop(projection);
        self.put(features::PATH, put);
        lock(&self.pace).last = Some((Instant::now(), began.elapsed()));
    }
}

/// Changes the queue's file on a person's behalf; `state` is where Windlass remembers things. What it was, if there is none.
///
/// # Errors
///
/// When it cannot be read or written, or what `change` says speaks against it.
pub fn edit_queue(
    files: &Files,
    state: &std::path::Path,
    mut change: impl FnMut(&mut Queue) -> Result<(), String>,
) -> Result<(), Trouble> {
    let bad = |what: String| SourceError::bad(features::PATH, what);
    let _held = hold(&state.join(QUEUE_LOCK));
    let revised = files.revise(features::PATH, features::BYTES_MAX, |text| {
        let mut queue = match text {
            Some(text) => Queue::read(text)?,
            None => Queue::default(),
        };
        change(&mut queue).map_err(bad)?;
        let flaws = queue.flaws();
        if !flaws.is_empty() {
            return Err(bad(flaws.join("; ")).into());
        }
        Ok(Some(queue.write()))
    });
    revised.map(drop)
}

/// The file that is held while the queue's file is changed, below the state directory.
const QUEUE_LOCK: &str = "features.lock";

/// Holds a lock until what is returned is dropped. Who cannot have it goes without: it only keeps two edits apart that come
/// within a moment.
fn hold(path: &std::path::Path) -> Option<File> {
    let file = File::options().create(true).append(true).open(path).ok()?;
    file.lock().ok()?;
    Some(file)
}

/// A mission's state in a few lines, for scripts.
fn state(session: &Session, run: &str) -> String {
    let state = serde_json::json!({
        "run": run,
        "iterations": session.iterations,
        "decisions": session.decisions,
        "landed": session.landed.len(),
        "cost_usd": session.spent.settled.cost_micros as f64 / 1e6,
        "standing": tell::counts(session, Words::default()),
        "outcome": session.ended.map(|outcome| format!("{outcome:?}").to_lowercase()),
    });
    format!("{}\n", serde_json::to_string_pretty(&state).unwrap_or_default())
}

impl Clerk for Mission {
    fn entry(&self, entry: &Entry, run: &Run, blobs: Blobs<'_>) {
        lock(&self.spoken).enter(entry);
        lock(&self.projection).follows(entry, blobs, |path, _| path == features::PATH);
        lock(&self.memory).entry(entry, run, blobs);
        self.session().enter(entry, run, blobs);
        let red = std::mem::take(&mut self.session().red_news);
        for check in red {
            let words = lock(&self.spoken).words();
            self.says(words.say("missionline-red", &[("check", &check)]));
        }
    }

    fn caught_up(&self) {
        lock(&self.memory).caught_up();
        lock(&self.said).clear();
    }

    fn asks_what_is_gone(&self, name: &str) -> bool {
        name == read::STILL_LANDED
    }

    fn kept(&self, unit: &str) -> Option<String> {
        self.session().kept(unit).map(str::to_owned)
    }

    fn language(&self) -> Option<String> {
        lock(&self.spoken).for_agents()
    }

    fn flush(&self) -> Vec<String> {
        self.project_files(false);
        std::mem::take(&mut *lock(&self.said))
    }

    fn read(&self, name: &str, at: &Situation) -> Result<Option<Reading>, SourceError> {
        self.look(name, at)
    }

    fn tell(&self, name: &str, at: &Situation) -> Result<Told, Trouble> {
        Ok(self.told(name, at))
    }

    fn artifact(&self, name: &str, at: &Situation) -> Option<String> {
        self.shown(name, at).or_else(|| lock(&self.memory).artifact(name))
    }

    /// Those of the feature's claims, as the contract has them by now; what is about no feature is about all that have passed.
    fn assertions(&self, at: &Situation) -> Option<Vec<Assertion>> {
        let session = self.session();
        let Some((unit, _)) = &at.unit else { return Some(session.promised()) };
        let claims = session.feature(unit).map_or(&[][..], |feature| &feature.claims);
        let mut own: Vec<&Assertion> = Vec::new();
        for assertion in claims.iter().flat_map(|claim| session.assertions(claim)) {
            if !own.iter().any(|it| it.id == assertion.id) {
                own.push(assertion);
            }
        }
        Some(own.into_iter().cloned().collect())
    }

    fn remembered(&self, role: &str) -> Remembered {
        lock(&self.memory).remembered(role)
    }

    fn examine(&self, role: &str, verdict: &str, said: Said<'_>, at: &Situation) -> Option<String> {
        match role {
            "validator" => self.validated(verdict, said, at),
            _ => lock(&self.memory).examine(role, verdict, &said),
        }
    }

    fn path(&self, name: &str, _: &Situation) -> Option<String> {
        match name {
            "features.json" => Some(features::PATH.to_owned()),
            "validation-contract.md" => Some(CONTRACT.to_owned()),
            _ => None,
        }
    }

    fn papers(&self) -> BTreeMap<String, Arc<[u8]>> {
        let session = self.session();
        let own = [features::PATH, CONTRACT];
        let own = session.papers.iter().filter(|(path, _)| own.contains(&path.as_str()));
        own.map(|(path, bytes)| (path.clone(), bytes.clone())).collect()
    }

    /// Who makes the plan or judges it finds it in their lane; all others are shown what is theirs of it.
    fn papers_for(&self, at: &Situation) -> BTreeMap<String, Arc<[u8]>> {
        match at.stage.as_str() {
            stage::PLAN | stage::PLAN_REVIEW => self.papers(),
            _ => BTreeMap::new(),
        }
    }

    /// What it promises, and nothing else: the queue and the contract are the planner's and people's.
    fn keeps(&self, path: &str, promised: &[(String, String)]) -> bool {
        promised.iter().any(|(_, own)| own == path)
    }

    fn apart(&self) -> Vec<String> {
        vec![".harness".to_owned()]
    }

    fn branches(&self) -> Option<&str> {
        Some("harness")
    }

    fn left(&self) -> Vec<String> {
        self.lets_go();
        self.names_what_is_held();
        std::mem::take(&mut *lock(&self.said))
    }

    fn over(&self) -> Vec<String> {
        self.hands_over();
        if self.session().ended == Some(RunOutcome::Done) {
            self.is_settled();
        }
        std::mem::take(&mut *lock(&self.said))
    }
}

#[cfg(test)]
mod tests;
