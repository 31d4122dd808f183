//! Listens to an agent while it works, and stops it when it would use up more than it may.
//!
//! What it prints is heard as it comes; what it writes into its own record is looked for a few times a second. Both go to
//! one listener. When what it has used up reaches what it may, it is asked to end: one request may be under way then, and
//! for that something was set aside. When its provider keeps it waiting for long, it need not wait here.

use std::collections::BTreeMap;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use windlass_agents::{Came, Event, Lines, Listener, Source, record_files};
use windlass_core::run::{Amount, Reported, Usage};
use windlass_process::Child;
use windlass_process::beneath::{Links, Root};

use crate::clock::wall_ms;
use crate::shop::lock;

/// A record is looked at this often.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Whoever waits longer than this for a provider does not wait here.
const WAIT_HERE_MS: u64 = 3 * 60_000;

/// Hears one invocation.
#[derive(Clone)]
pub(super) struct Meter {
    ear: Arc<Mutex<Ear>>,
}

/// Why an agent was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// It has used up what it may.
    Spent,
    /// Its provider keeps it waiting until then.
    Waits(i64),
}

struct Ear {
    listener: Option<Box<dyn Listener>>,
    lines: Lines,
    may_use: Amount,
    seen: Usage,
    cut: Option<Cut>,
    child: Option<Arc<Child>>,
}

impl Meter {
    /// With what it may use up before it is stopped.
    pub fn new(listener: Box<dyn Listener>, may_use: Amount) -> Self {
        let ear = Ear {
            listener: Some(listener),
            lines: Lines::default(),
            may_use,
            seen: Usage::UNKNOWN,
            cut: None,
            child: None,
        };
        Meter { ear: Arc::new(Mutex::new(ear)) }
    }

    /// One more piece of its standard output.
    pub fn hear(&self, chunk: &[u8]) {
        let mut ear = lock(&self.ear);
        let mut lines = std::mem::take(&mut ear.lines);
        lines.feed(chunk, |line| ear.line(Source::Output, line));
        ear.lines = lines;
    }

    /// It runs: this stops it.
    pub fn runs(&self, child: &Arc<Child>) {
        let mut ear = lock(&self.ear);
        if ear.cut.is_some() {
            child.stop();
        }
        ear.child = Some(child.clone());
    }

    /// It has ended: who listened to it, why it was stopped, and what was seen of what it used up.
    pub fn end(&self) -> (Option<Box<dyn Listener>>, Option<Cut>, Usage) {
        let mut ear = lock(&self.ear);
        let mut lines = std::mem::take(&mut ear.lines);
        lines.end(|line| ear.line(Source::Output, line));
        ear.child = None;
        (ear.listener.take(), ear.cut, ear.seen)
    }
}

impl Ear {
    fn line(&mut self, from: Source, line: &[u8]) {
        let Some(listener) = &mut self.listener else { return };
        for event in listener.line(from, line) {
            match event {
                Event::Usage(usage) => self.uses(usage),
                Event::Waits(wait) if wait >= WAIT_HERE_MS => {
                    let wait = i64::try_from(wait).unwrap_or(i64::MAX);
                    self.cut(Cut::Waits(wall_ms().saturating_add(wait)));
                }
                Event::Waits(_)
                | Event::Session(_)
                | Event::Text(_)
                | Event::Tool { .. }
                | Event::Change(_)
                | Event::Limit(_)
                | Event::Denied(_) => {}
            }
        }
    }

    fn uses(&mut self, usage: Usage) {
        self.seen = usage;
        let reaches = |seen: Reported, most: u64| matches!(seen, Reported::Known(n) if n >= most);
        if reaches(usage.cost, self.may_use.cost_micros)
            || reaches(usage.tokens, self.may_use.tokens)
        {
            self.cut(Cut::Spent);
        }
    }

    fn cut(&mut self, cut: Cut) {
        if self.cut.is_none() {
            self.cut = Some(cut);
            if let Some(child) = &self.child {
                child.stop();
            }
        }
    }
}

/// What an agent that was stopped came to, and what a person should know about it.
pub(super) fn because(cut: Cut) -> (Came, String) {
    match cut {
        Cut::Spent => {
            (Came::Exhausted, "it was stopped: it had used up what an invocation may".to_owned())
        }
        Cut::Waits(until) => (
            Came::Limited(Some(until)),
            "its provider keeps it waiting: it was stopped, and is asked again then".to_owned(),
        ),
    }
}

/// What an invocation used up, given what was seen of it: what nobody has accounted for is not known, and is settled at
/// what was set aside, unless more than that was seen already.
pub(super) fn settled(accounted: Usage, seen: Usage, set_aside: Amount) -> Usage {
    let figure = |accounted: Reported, seen: Reported, set_aside: u64| match (accounted, seen) {
        (Reported::Unknown, Reported::Known(seen)) if seen > set_aside => Reported::Known(seen),
        (accounted, _) => accounted,
    };
    Usage {
        cost: figure(accounted.cost, seen.cost, set_aside.cost_micros),
        tokens: figure(accounted.tokens, seen.tokens, set_aside.tokens),
    }
}

/// Follows the record that an agent keeps of its session, as far as it has been read.
pub(super) struct Follower {
    below: PathBuf,
    files: BTreeMap<PathBuf, (u64, Lines)>,
    meter: Meter,
}

impl Follower {
    pub fn new(below: PathBuf, meter: Meter) -> Self {
        Follower { below, files: BTreeMap::new(), meter }
    }

    /// Takes in what is there already: it is from before.
    pub fn past(&mut self) {
        self.look(Source::Past);
    }

    /// Hands on every line that is new.
    fn look(&mut self, source: Source) {
        let Ok(root) = Root::open(&self.below, Links::Refuse) else { return };
        for path in record_files(&self.below) {
            let Ok(path) = path.strip_prefix(&self.below) else { continue };
            let (at, lines) = self.files.entry(path.to_owned()).or_default();
            while let Some(chunk) = more(&root, path, *at) {
                *at += chunk.len() as u64;
                let mut ear = lock(&self.meter.ear);
                lines.feed(&chunk, |line| ear.line(source, line));
            }
        }
    }

    /// Looks again and again while something runs, and once more when it has ended.
    pub fn during<T>(mut self, run: impl FnOnce() -> T) -> T {
        let over = (Mutex::new(false), Condvar::new());
        thread::scope(|scope| {
            let _ = thread::Builder::new().name("record".to_owned()).spawn_scoped(scope, || {
                loop {
                    let is_over = lock(&over.0);
                    let waited = over.1.wait_timeout_while(is_over, LOOK_EVERY, |over| !*over);
                    let is_over = *waited.unwrap_or_else(PoisonError::into_inner).0;
                    self.look(Source::Record);
                    if is_over {
                        return;
                    }
                }
            });
            let came = run();
            *lock(&over.0) = true;
            over.1.notify_all();
            came
        })
    }
}

/// So much of a file is taken at once.
const PIECE_BYTES: u64 = 8 << 20;

/// What a file has from here on. It belongs to somebody who may have put anything in its place.
fn more(root: &Root, path: &Path, from: u64) -> Option<Vec<u8>> {
    let mut file = root.file(path).ok()?;
    if file.metadata().ok()?.len() <= from {
        return None;
    }
    file.seek(SeekFrom::Start(from)).ok()?;
    let mut chunk = Vec::new();
    file.take(PIECE_BYTES).read_to_end(&mut chunk).ok()?;
    Some(chunk)
}
