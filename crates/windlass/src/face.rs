//! What a person sees of a run under way, and where they answer its questions.

use std::io::{BufRead as _, Write as _};
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use rustix::termios::{QueueSelector, tcflush};
use windlass_clerks::Spoken;
use windlass_core::run::{Event, OpenGate, Run, Standing, UnitStatus};
use windlass_core::value::Value;
use windlass_core::workflow::RunOutcome;
use windlass_engine::Left;
use windlass_engine::entry::Entry;
use windlass_engine::message::{Message, Patience};
use windlass_words::Words;

use crate::asked::asked;
use crate::editor;
use crate::forecast::Pace;
use crate::progress::{Chronicle, Happening, Sight, Watch};
use crate::render::{Live, Teller, clean, dollars, ended, holds, progress, used_up};
use crate::suggest;

/// How a run is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// In lines for people, on standard error.
    Plain,
    /// As JSON lines on standard output: every entry of the journal as it is written.
    Json,
}

impl Tone {
    /// What `--json` asks for.
    pub fn of(json: bool) -> Self {
        if json { Tone::Json } else { Tone::Plain }
    }
}

/// A terminal, or what stands for one.
pub struct Terminal {
    run: String,
    target: String,
    tone: Tone,
    /// Somebody sits here: where their answers go.
    answers: Option<Sender<Message>>,
    /// The question that is put here now.
    asked: Arc<Asked>,
    /// Somebody reads what is typed here.
    reads: bool,
    teller: Teller,
    live: Live,
    /// What is under way, and what has come to its end so far.
    watch: Watch,
    pace: Pace,
    /// A unit has settled since anybody was told how far it is.
    news: bool,
    /// What the person is spoken to in; whoever answers in another language is heard.
    spoken: Spoken,
}

impl Terminal {
    pub fn new(
        run: &Run,
        target: &str,
        tone: Tone,
        answers: Option<Sender<Message>>,
        (spoken, so_far): (Spoken, Chronicle),
    ) -> Self {
        Terminal {
            pace: Pace::of(&so_far),
            watch: so_far.into_watch(),
            news: false,
            run: run.id().to_owned(),
            target: target.to_owned(),
            tone,
            answers,
            asked: Arc::default(),
            reads: false,
            teller: Teller::of(run, spoken.words()),
            live: Live::new(tone == Tone::Plain),
            spoken,
        }
    }

    /// What is about to happen, and what it may cost.
    pub fn begins(&mut self, run: &Run) {
        let (caps, words) = (run.caps(), self.spoken.words());
        let cap = |micros: Option<u64>| {
            micros.map_or_else(|| words.say("face-no-cap", &[]), |micros| dollars(micros, words))
        };
        let hours = caps.run.wall_ms.map_or_else(
            || words.say("face-no-limit", &[]),
            |ms| {
                let hours = format!("{:.1}", ms as f64 / 3_600_000.0);
                words.say("face-hours", &[("hours", &hours)])
            },
        );
        self.line(&format!("{}: {} → {}", self.run, run.workflow().name, self.target));
        let most = [
            ("run", &*cap(caps.run.cost_micros)),
            ("hours", &hours),
            ("unit", &cap(caps.unit.cost_micros)),
            ("called", &run.workflow().called),
            ("invocation", &dollars(caps.invocation.amount.cost_micros, words)),
        ];
        self.line(&words.say("face-caps", &most));
    }

    /// What an earlier Windlass left running was ended.
    pub fn left_behind(&self, count: usize) {
        let count = [("count", &*count.to_string())];
        self.line(&self.spoken.words().say("face-left-behind", &count));
    }

    /// Work that has landed beside the branch, and how to take it.
    pub fn not_taken(&self, unit: Option<&str>, command: &str) {
        let unit = unit.map_or(String::new(), |unit| format!("{unit}: "));
        let said = self.spoken.words().say("face-not-taken", &[("command", command)]);
        self.line(&format!("{unit}{said}"));
    }

    /// Something else worth a line.
    pub fn says(&self, text: &str) {
        self.line(text);
    }

    /// It cannot go on; why is said by somebody else.
    pub fn gone(&mut self) {
        self.live.end();
    }

    /// How it was left, and what to do next.
    pub fn ends(&mut self, run: &Run, left: Left) {
        self.live.end();
        let (tally, words) = (run.tally(), self.spoken.words());
        let spent = dollars(run.purse().settled.cost_micros, words);
        // What was to be planned is, and what to do with it was just said: nothing is stopped, and nothing was to be built.
        let planned = run.input_named("plan_only") == Some(&Value::Flag(true));
        if planned && left == Left::Standing(Standing::Resting) && tally.total == 0 {
            return self.line(&words.say("face-planned", &[("spent", &spent)]));
        }
        let numbers = [
            ("done", &*tally.done.to_string()),
            ("failed", &tally.failed.to_string()),
            ("skipped", &tally.skipped.to_string()),
            ("blocked", &tally.blocked.to_string()),
            ("total", &tally.total.to_string()),
            ("spent", &spent),
        ];
        self.line(&words.say("face-tally", &numbers));
        if left == Left::Standing(Standing::Waiting) {
            for gate in run.gates().into_iter().map(|gate| asked(gate, run, words)) {
                let unit = gate.unit.as_ref().map_or(String::new(), |unit| format!("{unit}: "));
                let question = format!("{}:{} {unit}{}", self.run, gate.id.0, gate.question);
                self.line(&words.say("face-open", &[("question", &question)]));
            }
        }
        if left == Left::Standing(Standing::Escalated) && tally.total > 1 {
            holds(run, words).iter().for_each(|line| self.line(line));
        }
        if left == Left::Standing(Standing::Exhausted) {
            used_up(run, &self.watch, words).iter().for_each(|line| self.line(line));
        }
        if matches!(left, Left::Standing(Standing::Ended(_))) && tally.total > 1 {
            self.line(&words.say("face-report", &[("run", &self.run)]));
        }
        let next = match left {
            Left::Interrupted => "face-interrupted",
            Left::Standing(Standing::Waiting) => "face-waiting",
            Left::Standing(Standing::Stopped | Standing::Resting) => "face-stopped",
            Left::Standing(Standing::Exhausted) => "face-exhausted",
            Left::Standing(Standing::Escalated) => "face-escalated",
            Left::Standing(Standing::Ended(RunOutcome::Done))
                if tally.failed + tally.blocked > 0 =>
            {
                "face-not-all-done"
            }
            Left::Standing(Standing::Ended(outcome)) => return self.line(&ended(outcome, words)),
            Left::Standing(Standing::Running | Standing::Parked(_) | Standing::Stuck) => {
                "face-stuck"
            }
        };
        self.line(&words.say(next, &[]));
    }

    fn line(&self, text: &str) {
        if self.tone == Tone::Plain {
            for line in text.lines() {
                self.live.line(&clean(line));
            }
        }
    }

    /// How things are with a run, now that all that happened has been told.
    pub fn shows(&mut self, run: &Run) {
        let words = self.spoken.words();
        let sight = || Sight::of(run, &self.watch, &self.pace);
        // Where nobody looks on and much happens at once, how far it is gets a line of its own.
        if self.news && !self.live.is_watched() && self.tone == Tone::Plain && run.width() > 1 {
            self.line(&progress(&sight(), words));
        }
        self.live.hide(false);
        self.live.show(sight, words);
        self.news = false;
    }

    fn ask(&mut self, gate: &OpenGate, more: &str, file: Option<PathBuf>) {
        if self.reads {
            // What was typed before a question is put is no answer to it.
            let _ = tcflush(std::io::stdin(), QueueSelector::IFlush);
        }
        let mut text = format!("\n{more}\n\n{}\n", gate.question);
        for (name, fired) in &gate.concerns {
            if *fired != Some(false) {
                text.push_str(&format!("  ! {name}\n"));
            }
        }
        let default = self.spoken.words().say("face-default", &[]);
        for option in &gate.options {
            let about = option.about.as_deref().map_or(String::new(), |about| format!("  {about}"));
            let default = if option.default { format!(" {default}") } else { String::new() };
            text.push_str(&format!("  {:<12} {}{default}{about}\n", option.key, option.label));
        }
        if let Some(path) = &file {
            let path = path.display().to_string();
            let opens = self.spoken.words().say("face-edit", &[("path", &path)]);
            text.push_str(&format!("  {EDIT:<12} {opens}\n"));
        }
        self.line(&text);
        self.live.hide(true);
        // Put before it is prompted for: whoever still reads for the question before would take an answer that comes at
        // once for one to nothing.
        self.asked.put(Put { gate: gate.clone(), words: self.spoken.words(), file });
        prompt(gate);
        let Some(answers) = self.answers.clone().filter(|_| !self.reads) else { return };
        self.reads = true;
        let asked = self.asked.clone();
        std::thread::spawn(move || listen(&asked, &answers));
    }
}

fn prompt(gate: &OpenGate) {
    let _ = write!(anstream::stderr(), "{} [{}] > ", gate.id.0, crate::request::who());
}

/// The question that is put now, if one is. It may be answered elsewhere at any time.
#[derive(Default)]
struct Asked {
    gate: Mutex<Option<Put>>,
    put: Condvar,
}

/// A question as it is put.
#[derive(Clone)]
struct Put {
    gate: OpenGate,
    words: Words,
    /// What may be changed first.
    file: Option<PathBuf>,
}

/// What is typed to have a file opened, and the option that says that it was changed.
const EDIT: &str = "edit";
const EDITED: &str = "edited";

impl Asked {
    fn now(&self) -> MutexGuard<'_, Option<Put>> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, put: Put) {
        *self.now() = Some(put);
        self.put.notify_all();
    }

    /// Waits until there is a question. Nobody reads the terminal before that: it may be somebody else's meanwhile.
    fn wait(&self) {
        let gate = self.now();
        let asked = self.put.wait_while(gate, |gate| gate.is_none());
        drop(asked.unwrap_or_else(PoisonError::into_inner));
    }
}

/// Takes what is typed for an answer to the question that is put then.
fn listen(asked: &Asked, answers: &Sender<Message>) {
    let mut input = std::io::stdin().lock();
    loop {
        asked.wait();
        let mut line = String::new();
        match input.read_line(&mut line) {
            Ok(0) | Err(_) => {
                // The terminal is gone: leave the question for later.
                let _ = answers.send(Message::Interrupt);
                return;
            }
            Ok(_) => {}
        }
        let line = line.trim();
        // While this waited for a line, the question may have been answered elsewhere and another put. Whatever was typed
        // for the old one went when the new one was put.
        let Some(Put { gate, words, file }) = asked.now().clone() else { continue };
        let gate = &gate;
        let line = match (line, &file) {
            (EDIT, Some(file)) => match editor::open(file) {
                Ok(()) => EDITED,
                Err(error) => {
                    let _ = writeln!(anstream::stderr(), "{error}");
                    prompt(gate);
                    continue;
                }
            },
            (line, _) => line,
        };
        if let Some(near) = mistyped(gate, line) {
            let meant = words.say("face-did-you-mean", &[("option", near)]);
            let _ = writeln!(anstream::stderr(), "{meant}");
            prompt(gate);
            continue;
        }
        let (option, text) = understood(gate, line);
        let answer = crate::under_way::answer(gate.id.0, option, text, &crate::request::who());
        let (reply, wait) = channel();
        if answers.send(Message::Answer(Box::new(answer), reply)).is_err() {
            return;
        }
        match wait.recv() {
            Ok(Ok(())) => {}
            Err(_) => return,
            Ok(Err(refused)) => {
                let _ = writeln!(anstream::stderr(), "{refused}");
                asked.now().iter().for_each(|put| prompt(&put.gate));
            }
        }
    }
}

/// The first word is an option, if it is one, and the rest its reason; anything else is free text.
fn understood(gate: &OpenGate, line: &str) -> (Option<String>, Option<String>) {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let text = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let labelled =
        gate.options.iter().find(|option| option.label.to_lowercase() == line.to_lowercase());
    if gate.options.iter().any(|option| option.key == word) {
        (Some(word.to_owned()), text(rest))
    } else if let Some(option) = labelled {
        (Some(option.key.clone()), None)
    } else {
        (None, text(line))
    }
}

/// The option that was probably meant by a single word that is none.
fn mistyped<'g>(gate: &'g OpenGate, line: &str) -> Option<&'g str> {
    let lower = line.to_lowercase();
    let known = gate
        .options
        .iter()
        .any(|option| option.key == line || option.label.to_lowercase() == lower);
    let keys = gate.options.iter().map(|option| option.key.as_str());
    if known || line.contains(char::is_whitespace) { None } else { suggest::nearest(line, keys) }
}

impl Terminal {
    /// Whether to wait for an answer; `more` is what a question shows besides itself.
    /// `file` is what a person may change before they answer.
    pub fn waits_with(
        &mut self,
        run: &Run,
        more: &dyn Fn(&OpenGate) -> String,
        file: &dyn Fn(&OpenGate) -> Option<PathBuf>,
    ) -> Patience {
        if self.answers.is_none() || self.tone == Tone::Json {
            return Patience::Leave;
        }
        // One question after the other: the next is put when this one is answered.
        if let Some(gate) = run.gates().into_iter().next()
            && self.asked.now().as_ref().is_none_or(|own| own.gate.id != gate.id)
        {
            let (more, file) = (more(&gate), file(&gate));
            self.ask(&asked(gate, run, self.spoken.words()), &more, file);
        }
        Patience::Wait
    }

    /// An entry is in the journal.
    pub fn entry(&mut self, entry: &Entry, run: &Run) {
        if let Entry::Event(recorded) = entry
            && let Event::Answered { gate, .. } = &recorded.event
        {
            let mut asked = self.asked.now();
            if asked.as_ref().is_some_and(|own| own.gate.id == *gate) {
                *asked = None;
            }
        }
        for happening in self.watch.enter(entry) {
            if let Happening::Settled(finished) = happening {
                self.pace.enter(&finished);
                self.news = true;
            }
        }
        self.spoken.enter(entry);
        self.teller.speaks(self.spoken.words());
        if self.tone == Tone::Json {
            if let Ok(bytes) = entry.bytes() {
                let mut out = std::io::stdout().lock();
                let _ = out.write_all(&bytes).and_then(|()| out.write_all(b"\n"));
            }
            return;
        }
        for line in self.teller.tell(entry, run) {
            self.line(&line);
        }
    }
}

/// How a unit stands, in a word for programs and reports.
pub fn status_word(status: UnitStatus) -> &'static str {
    match status {
        UnitStatus::Pending => "pending",
        UnitStatus::Started => "under way",
        UnitStatus::Settled(how) => how.name(),
    }
}

/// How a run stands, in words for programs and reports; what people are told while it goes on is in `render/standing.rs`.
pub fn standing(run: &Run) -> &'static str {
    match run.standing() {
        Standing::Running => "under way",
        Standing::Parked(_) => "waiting for a limit to pass",
        Standing::Stopped => "stopped",
        Standing::Waiting => "waiting for an answer",
        Standing::Exhausted => "a budget is spent",
        Standing::Escalated => "needs a person",
        Standing::Resting => "resting",
        Standing::Ended(outcome) => outcome.name(),
        Standing::Stuck => "stuck",
    }
}
