//! What a person sees of a run under way, and where they answer its questions.

use std::io::{BufRead as _, Write as _};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use rustix::termios::{QueueSelector, tcflush};
use windlass_core::run::{Event, OpenGate, Run, Standing, UnitStatus};
use windlass_core::workflow::RunOutcome;
use windlass_engine::Left;
use windlass_engine::entry::Entry;
use windlass_engine::message::{Message, Patience};

use crate::render::Teller;
use crate::render::{Live, clean};
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
}

impl Terminal {
    pub fn new(run: &Run, target: &str, tone: Tone, answers: Option<Sender<Message>>) -> Self {
        Terminal {
            run: run.id().to_owned(),
            target: target.to_owned(),
            tone,
            answers,
            asked: Arc::default(),
            reads: false,
            teller: Teller::of(run),
            live: Live::new(tone == Tone::Plain),
        }
    }

    /// What is about to happen, and what it may cost.
    pub fn begins(&mut self, run: &Run) {
        let caps = run.caps();
        let dollars = |micros: Option<u64>| {
            micros
                .map_or("no cap".to_owned(), |micros| format!("{:.2} dollars", micros as f64 / 1e6))
        };
        let hours = caps
            .run
            .wall_ms
            .map_or("no limit".to_owned(), |ms| format!("{:.1} hours", ms as f64 / 3_600_000.0));
        self.line(&format!("{}: {} → {}", self.run, run.workflow().name, self.target));
        self.line(&format!(
            "at most {} and {hours} for the run, {} for each {}, {:.2} dollars for each invocation",
            dollars(caps.run.cost_micros),
            dollars(caps.unit.cost_micros),
            run.workflow().called,
            caps.invocation.amount.cost_micros as f64 / 1e6,
        ));
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
        let tally = run.tally();
        let spent = run.purse().settled.cost_micros as f64 / 1e6;
        self.line(&format!(
            "{} done, {} failed, {} skipped, {} blocked of {}; {spent:.2} dollars",
            tally.done, tally.failed, tally.skipped, tally.blocked, tally.total
        ));
        if left == Left::Standing(Standing::Waiting) {
            for gate in run.gates() {
                let unit = gate.unit.as_ref().map_or(String::new(), |unit| format!("{unit}: "));
                self.line(&format!("open: {}:{} {unit}{}", self.run, gate.id.0, gate.question));
            }
        }
        let next = match left {
            Left::Interrupted => "interrupted: `windlass resume` goes on where it was",
            Left::Standing(Standing::Waiting) => {
                "waiting for an answer: `windlass gates` shows the questions, `windlass answer` takes the answers"
            }
            Left::Standing(Standing::Stopped | Standing::Resting) => {
                "stopped: `windlass resume` goes on"
            }
            Left::Standing(Standing::Exhausted) => {
                "a budget is spent: raise it in windlass.toml, commit that, then `windlass resume`"
            }
            Left::Standing(Standing::Escalated) => {
                "it needs a person to go on: what for stands above, and `windlass log --full` tells more"
            }
            Left::Standing(Standing::Ended(RunOutcome::Done))
                if tally.failed + tally.blocked > 0 =>
            {
                "it came to its end, and not everything was done: `windlass log --full` tells why"
            }
            Left::Standing(Standing::Ended(outcome)) => outcome.name(),
            Left::Standing(Standing::Running | Standing::Parked(_) | Standing::Stuck) => {
                "nothing can go on: this is a defect of Windlass, please report it"
            }
        };
        self.line(next);
    }

    fn line(&self, text: &str) {
        if self.tone == Tone::Plain {
            for line in text.lines() {
                self.live.line(&clean(line));
            }
        }
    }

    /// How things are with a run, now that all that happened has been told.
    pub fn shows(&self, run: &Run) {
        self.live.hide(false);
        self.live.show(run);
    }

    fn ask(&mut self, gate: &OpenGate, more: &str) {
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
        for option in &gate.options {
            let about = option.about.as_deref().map_or(String::new(), |about| format!("  {about}"));
            let default = if option.default { " (default)" } else { "" };
            text.push_str(&format!("  {:<12} {}{default}{about}\n", option.key, option.label));
        }
        self.line(&text);
        self.live.hide(true);
        // Put before it is prompted for: whoever still reads for the question before would take an answer that comes at
        // once for one to nothing.
        self.asked.put(gate);
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
    gate: Mutex<Option<OpenGate>>,
    put: Condvar,
}

impl Asked {
    fn now(&self) -> MutexGuard<'_, Option<OpenGate>> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, gate: &OpenGate) {
        *self.now() = Some(gate.clone());
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
        let Some(gate) = asked.now().clone() else { continue };
        let gate = &gate;
        if let Some(near) = mistyped(gate, line) {
            let _ = writeln!(
                anstream::stderr(),
                "did you mean `{near}`? Say more for an answer in your own words."
            );
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
                asked.now().iter().for_each(prompt);
            }
        }
    }
}

/// The first word is an option, if it is one, and the rest its reason; anything else is free text.
fn understood(gate: &OpenGate, line: &str) -> (Option<String>, Option<String>) {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let text = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    if gate.options.iter().any(|option| option.key == word) {
        (Some(word.to_owned()), text(rest))
    } else {
        (None, text(line))
    }
}

/// The option that was probably meant by a single word that is none.
fn mistyped<'g>(gate: &'g OpenGate, line: &str) -> Option<&'g str> {
    let known = gate.options.iter().any(|option| option.key == line);
    let keys = gate.options.iter().map(|option| option.key.as_str());
    if known || line.contains(char::is_whitespace) { None } else { suggest::nearest(line, keys) }
}

impl Terminal {
    /// Whether to wait for an answer; `more` is what a question shows besides itself.
    pub fn waits_with(
        &mut self,
        gates: &[OpenGate],
        more: &dyn Fn(&OpenGate) -> String,
    ) -> Patience {
        if self.answers.is_none() || self.tone == Tone::Json {
            return Patience::Leave;
        }
        // One question after the other: the next is put when this one is answered.
        if let Some(gate) = gates.first()
            && self.asked.now().as_ref().is_none_or(|own| own.id != gate.id)
        {
            self.ask(gate, &more(gate));
        }
        Patience::Wait
    }

    /// An entry is in the journal.
    pub fn entry(&mut self, entry: &Entry, run: &Run) {
        if let Entry::Event(recorded) = entry
            && let Event::Answered { gate, .. } = &recorded.event
        {
            let mut asked = self.asked.now();
            if asked.as_ref().is_some_and(|own| own.id == *gate) {
                *asked = None;
            }
        }
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

/// How a unit stands, in a word.
pub fn status_word(status: UnitStatus) -> &'static str {
    match status {
        UnitStatus::Pending => "pending",
        UnitStatus::Started => "under way",
        UnitStatus::Settled(how) => how.name(),
    }
}

/// How a run stands, in words.
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
