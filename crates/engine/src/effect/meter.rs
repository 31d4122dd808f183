//! Listens to an agent while it works, and stops it when it would use up more than it may.
//!
//! What it prints is heard as it comes; what it writes into its own record is looked for again and again. Both go to
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
use crate::effect::kept::Steps;
use crate::shop::lock;

/// A record is looked at this often: sooner than a model answers, so that no more than one request is begun meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// And every so often whether there is another file of it.
const LOOK_AROUND: u32 = 12;
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
    /// It has taken all the turns that it may.
    Turned,
    /// Its provider keeps it waiting until then.
    Waits(i64),
    /// It says what nobody here understands.
    Strange,
}

struct Ear {
    listener: Option<Box<dyn Listener>>,
    lines: Lines,
    may_use: Amount,
    /// Turns that it may still take.
    turns: Option<u32>,
    seen: Usage,
    cut: Option<Cut>,
    child: Option<Arc<Child>>,
    steps: Option<Steps>,
    /// The end of what it has said.
    words: String,
}

/// So much of what an agent says is kept apart from its stream, from its end.
const WORDS_BYTES: usize = 16 << 10;

impl Meter {
    /// With what it may use up, and the turns that it may take, before it is stopped, and where it is noted how far it
    /// has come.
    pub fn new(
        listener: Box<dyn Listener>,
        may_use: Amount,
        turns: Option<u32>,
        steps: Option<Steps>,
    ) -> Self {
        let ear = Ear {
            listener: Some(listener),
            lines: Lines::default(),
            may_use,
            turns,
            seen: Usage::UNKNOWN,
            cut: None,
            child: None,
            steps,
            words: String::new(),
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

    /// What it has said, or the end of it.
    pub fn words(&self) -> String {
        lock(&self.ear).words.clone()
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
                Event::Turn => match &mut self.turns {
                    Some(0) => self.cut(Cut::Turned),
                    Some(left) => *left -= 1,
                    None => {}
                },
                Event::Waits(wait) if wait >= WAIT_HERE_MS => {
                    let wait = i64::try_from(wait).unwrap_or(i64::MAX);
                    self.cut(Cut::Waits(wall_ms().saturating_add(wait)));
                }
                Event::Step(step) => {
                    if let Some(steps) = &mut self.steps {
                        steps.take(&step);
                    }
                }
                Event::Strange => self.cut(Cut::Strange),
                Event::Text(text) => self.says(&text),
                Event::Waits(_)
                | Event::Session(_)
                | Event::Tool { .. }
                | Event::Change(_)
                | Event::Limit(_)
                | Event::Denied(_) => {}
            }
        }
    }

    fn says(&mut self, text: &str) {
        self.words.push_str(text.trim_end());
        self.words.push('\n');
        if self.words.len() > 2 * WORDS_BYTES {
            let from = self.words.ceil_char_boundary(self.words.len() - WORDS_BYTES);
            self.words.drain(..from);
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
        Cut::Turned => (
            Came::Exhausted,
            "it was stopped: it had taken the turns that an invocation may".to_owned(),
        ),
        Cut::Strange => (
            Came::Strange,
            "it was stopped: it began with something that Windlass does not understand".to_owned(),
        ),
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

/// What was used up, and the most that one request more can have used up.
pub(super) fn and_one_request(usage: Usage, request: Amount) -> Usage {
    let more = |figure: Reported, request: u64| match figure {
        Reported::Known(figure) => Reported::Known(figure.saturating_add(request)),
        Reported::Unknown => Reported::Unknown,
    };
    Usage {
        cost: more(usage.cost, request.cost_micros),
        tokens: more(usage.tokens, request.tokens),
    }
}

/// Follows the record that an agent keeps of its session, as far as it has been read.
pub(super) struct Follower {
    /// Where the agent's home is. What is in it is the agent's to shape.
    home: PathBuf,
    below: &'static Path,
    files: BTreeMap<PathBuf, (u64, Lines)>,
    /// How often it was looked at.
    looks: u32,
    meter: Meter,
}

impl Follower {
    pub fn new(home: PathBuf, below: &'static Path, meter: Meter) -> Self {
        Follower { home, below, files: BTreeMap::new(), looks: 0, meter }
    }

    /// Takes in what is there already: it is from before.
    pub fn past(&mut self, of: Source) {
        self.look(of);
    }

    /// Hands on every line that is new.
    fn look(&mut self, source: Source) {
        self.look_around();
        self.look_again(source);
    }

    /// Looks for files of the record that are new.
    fn look_around(&mut self) {
        for path in record_files(&self.home.join(self.below)) {
            if let Ok(path) = path.strip_prefix(&self.home) {
                self.files.entry(path.to_owned()).or_default();
            }
        }
    }

    /// Hands on every line that is new in the files that are known.
    fn look_again(&mut self, source: Source) {
        let Ok(root) = Root::open(&self.home, Links::Refuse) else { return };
        for (path, (at, lines)) in &mut self.files {
            while *at < RECORD_BYTES
                && let Some(chunk) = more(&root, path, *at)
            {
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
                    self.looks = self.looks.wrapping_add(1);
                    if is_over || self.looks.is_multiple_of(LOOK_AROUND) {
                        self.look_around();
                    }
                    self.look_again(Source::Record);
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

/// A file of a record is not longer than this: what follows is not looked at.
const RECORD_BYTES: u64 = 512 << 20;
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

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write as _;

    use windlass_agents::{Answer, Heard};

    use super::*;

    /// Hears a number in each line: so many tokens were used; `wait N`: it waits.
    struct Numbers;

    impl Listener for Numbers {
        fn line(&mut self, _: Source, line: &[u8]) -> Vec<Event> {
            let text = String::from_utf8_lossy(line);
            if let Some(wait) = text.strip_prefix("wait ").and_then(|wait| wait.parse().ok()) {
                return vec![Event::Waits(wait)];
            }
            if text == "turn" {
                return vec![Event::Turn];
            }
            let tokens = text.trim().parse().map_or(Reported::Unknown, Reported::Known);
            vec![Event::Usage(Usage { cost: Reported::Unknown, tokens })]
        }

        fn answer(self: Box<Self>, _: &Heard<'_>) -> Answer {
            Answer::only(Came::NoOutput, "")
        }
    }

    fn meter() -> Meter {
        Meter::new(Box::new(Numbers), Amount { cost_micros: 100, tokens: 1_000 }, Some(2), None)
    }

    fn heard(lines: &str) -> (Option<Cut>, Usage) {
        let meter = meter();
        meter.hear(lines.as_bytes());
        let (listener, cut, seen) = meter.end();
        assert!(listener.is_some());
        (cut, seen)
    }

    #[test]
    fn it_is_stopped_when_it_has_used_up_what_it_may_and_not_before() {
        assert_eq!(heard("10\n999\n").0, None);
        assert_eq!(heard("10\n1000\n").0, Some(Cut::Spent));
        assert_eq!(heard("10\n1000").0, Some(Cut::Spent), "also if its last line has no end");
        assert_eq!(heard("nobody knows\n").0, None);
        assert_eq!(heard("7\n9\n").1.tokens, Reported::Known(9));
    }

    #[test]
    fn the_end_of_what_it_says_is_kept() {
        let meter = meter();
        let mut ear = lock(&meter.ear);
        ear.says("first words\n");
        assert_eq!(ear.words, "first words\n");
        for at in 0..4_000 {
            ear.says(&format!("é{at}"));
        }
        drop(ear);
        let words = meter.words();
        assert!(words.len() <= 2 * WORDS_BYTES && words.ends_with("é3999\n"), "{}", words.len());
    }

    #[test]
    fn it_is_stopped_when_it_begins_a_turn_more_than_it_may() {
        assert_eq!(heard("turn\nturn\n").0, None);
        assert_eq!(heard("turn\nturn\nturn\n").0, Some(Cut::Turned));
        assert_eq!(because(Cut::Turned).0, Came::Exhausted);
    }

    #[test]
    fn who_waits_for_long_does_not_wait_here() {
        assert_eq!(heard("wait 1000\n").0, None);
        let before = wall_ms();
        let (cut, _) = heard("wait 3600000\n");
        let Some(Cut::Waits(until)) = cut else { panic!("{cut:?}") };
        assert!(until >= before + 3_600_000);
        assert_eq!(because(Cut::Waits(until)).0, Came::Limited(Some(until)));
        assert_eq!(because(Cut::Spent).0, Came::Exhausted);
    }

    #[test]
    fn what_nobody_accounts_for_is_settled_at_what_was_set_aside_or_at_what_was_seen() {
        let known = |tokens| Usage { cost: Reported::Unknown, tokens: Reported::Known(tokens) };
        let aside = Amount { cost_micros: 100, tokens: 1_200 };
        assert_eq!(settled(Usage::UNKNOWN, known(1_100), aside), Usage::UNKNOWN);
        assert_eq!(settled(Usage::UNKNOWN, known(1_300), aside), known(1_300), "an overrun");
        assert_eq!(settled(known(5), known(1_300), aside), known(5), "its own account counts");
    }

    #[test]
    fn a_request_that_nobody_accounts_for_counts_as_the_most_that_it_can_be() {
        let usage = Usage { cost: Reported::Unknown, tokens: Reported::Known(10) };
        let request = Amount { cost_micros: 5, tokens: 7 };
        let want = Usage { cost: Reported::Unknown, tokens: Reported::Known(17) };
        assert_eq!(and_one_request(usage, request), want);
    }

    #[test]
    fn a_record_is_followed_as_it_grows() {
        let dir = tempfile::tempdir().unwrap();
        let (meter, file) = (meter(), dir.path().join("own/2026/a.jsonl"));
        let mut follower = Follower::new(dir.path().to_owned(), Path::new("own"), meter.clone());
        follower.look(Source::Record);
        std::fs::create_dir_all(dir.path().join("own/2026")).unwrap();
        std::fs::write(&file, "10\n2").unwrap();
        follower.look(Source::Record);
        assert_eq!(lock(&meter.ear).seen.tokens, Reported::Known(10), "only whole lines count");
        OpenOptions::new().append(true).open(&file).unwrap().write_all(b"0\n").unwrap();
        follower.look(Source::Record);
        assert_eq!(lock(&meter.ear).seen.tokens, Reported::Known(20));
        // What is written last is heard as well.
        follower.during(|| std::fs::write(dir.path().join("own/b.jsonl"), "30\n").unwrap());
        assert_eq!(lock(&meter.ear).seen.tokens, Reported::Known(30));
    }

    #[test]
    fn what_is_put_in_the_place_of_a_record_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        std::fs::write(elsewhere.path().join("secret.jsonl"), "77\n").unwrap();
        let link = |to: &Path, name: &str| {
            std::os::unix::fs::symlink(to, dir.path().join(name)).unwrap();
        };
        std::fs::create_dir(dir.path().join("own")).unwrap();
        link(&elsewhere.path().join("secret.jsonl"), "own/a.jsonl");
        link(elsewhere.path(), "own/b");
        link(elsewhere.path(), "c");
        let meter = meter();
        for below in ["own", "own/b", "c"] {
            let mut follower =
                Follower::new(dir.path().to_owned(), Path::new(below), meter.clone());
            follower.look(Source::Record);
        }
        assert_eq!(lock(&meter.ear).seen.tokens, Reported::Unknown);
    }
}
