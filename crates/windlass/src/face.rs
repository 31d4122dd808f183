//! What a person sees of a run under way, and where they answer its questions.

use std::io::{BufRead as _, Write as _};
use std::sync::mpsc::{Sender, channel};

use windlass_core::run::{Ended, Event, OpenGate, Run, Standing, UnitStatus};
use windlass_engine::Left;
use windlass_engine::entry::{Entry, Note};
use windlass_engine::message::{Face, Message, Patience};

use crate::render::clean;

/// How a run is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// In lines for people, on standard error.
    Plain,
    /// As JSON lines on standard output: every entry of the journal as it is written.
    Json,
}

/// A terminal, or what stands for one.
pub struct Terminal {
    run: String,
    target: String,
    tone: Tone,
    /// Somebody sits here: where their answers go.
    answers: Option<Sender<Message>>,
    asked: Vec<u32>,
}

impl Terminal {
    pub fn new(run: &str, target: &str, tone: Tone, answers: Option<Sender<Message>>) -> Self {
        let (run, target) = (run.to_owned(), target.to_owned());
        Terminal { run, target, tone, answers, asked: Vec::new() }
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

    /// How it was left, and what to do next.
    pub fn ends(&mut self, run: &Run, left: Left) {
        let tally = run.tally();
        let spent = run.purse().settled.cost_micros as f64 / 1e6;
        self.line(&format!(
            "{} done, {} failed, {} skipped, {} blocked of {}; {spent:.2} dollars",
            tally.done, tally.failed, tally.skipped, tally.blocked, tally.total
        ));
        let next = match left {
            Left::Interrupted => "interrupted: `windlass resume` goes on where it was",
            Left::Standing(Standing::Waiting) => {
                "waiting for an answer: `windlass gates` shows the questions, `windlass answer` takes the answers"
            }
            Left::Standing(Standing::Stopped | Standing::Resting) => {
                "stopped: `windlass resume` goes on"
            }
            Left::Standing(Standing::Exhausted) => {
                "a budget is spent: raise it in windlass.toml, then `windlass resume`"
            }
            Left::Standing(Standing::Escalated) => {
                "something went wrong that needs a person: `windlass log` tells what"
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
            // Nobody is left to be told that standard error cannot be written to.
            for line in text.lines() {
                let _ = writeln!(anstream::stderr(), "{}", clean(line));
            }
        }
    }

    fn ask(&mut self, gate: &OpenGate) {
        let mut text = format!("\n{}\n", gate.question);
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
        let Some(answers) = self.answers.clone() else { return };
        let gate = gate.clone();
        std::thread::spawn(move || prompt(&gate, &answers));
    }
}

/// Reads an answer from the terminal until one is taken.
fn prompt(gate: &OpenGate, answers: &Sender<Message>) {
    let mut input = std::io::stdin().lock();
    loop {
        let _ = write!(anstream::stderr(), "{} [{}] > ", gate.id.0, crate::request::who());
        let mut line = String::new();
        match input.read_line(&mut line) {
            Ok(0) | Err(_) => {
                // The terminal is gone: leave the question for later.
                let _ = answers.send(Message::Interrupt);
                return;
            }
            Ok(_) => {}
        }
        let (option, text) = understood(gate, line.trim());
        let answer = crate::session::answer(gate.id.0, option, text, &crate::request::who());
        let (reply, wait) = channel();
        if answers.send(Message::Answer(Box::new(answer), reply)).is_err() {
            return;
        }
        match wait.recv() {
            Ok(Ok(())) | Err(_) => return,
            Ok(Err(refused)) => {
                let _ = writeln!(anstream::stderr(), "{refused}");
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

impl Face for Terminal {
    fn entry(&mut self, entry: &Entry, run: &Run) {
        if self.tone == Tone::Json {
            if let Ok(bytes) = entry.bytes() {
                let mut out = std::io::stdout().lock();
                let _ = out.write_all(&bytes).and_then(|()| out.write_all(b"\n"));
            }
            return;
        }
        if let Some(line) = told(entry, run) {
            self.line(&line);
        }
    }

    fn waits(&mut self, gates: &[OpenGate]) -> Patience {
        if self.answers.is_none() || self.tone == Tone::Json {
            return Patience::Leave;
        }
        // One question after the other: the next is put when this one is answered.
        if let Some(gate) = gates.first()
            && !self.asked.contains(&gate.id.0)
        {
            self.asked.push(gate.id.0);
            self.ask(gate);
        }
        Patience::Wait
    }
}

/// An entry in a line, if it is worth one.
pub fn told(entry: &Entry, run: &Run) -> Option<String> {
    let flow = run.workflow();
    let of =
        |unit: &Option<String>| unit.as_ref().map_or(String::new(), |unit| format!("{unit}: "));
    match entry {
        Entry::Note(noted) => match &noted.note {
            Note::Asked { unit, stage, role, agent, attempt, .. } => {
                let again =
                    if *attempt > 1 { format!(", attempt {attempt}") } else { String::new() };
                Some(format!("{}{stage}: {role} ({agent}){again}", of(unit)))
            }
            Note::Answered { unit, stage, came, remarks, .. } => {
                let remarks =
                    remarks.iter().map(|remark| format!("\n    {remark}")).collect::<String>();
                Some(format!("{}{stage}: {came}{remarks}", of(unit)))
            }
            Note::Checked { unit, name, came, .. } => {
                Some(format!("{}check {name}: {came:?}", of(unit)).to_lowercase())
            }
            Note::Landed { unit, commit, branch, waits, .. } => {
                let short = &commit[..commit.len().min(10)];
                let waits = waits.as_ref().map_or(String::new(), |command| {
                    format!("\n    it waits beside your checkout; take it with: {command}")
                });
                Some(format!("{}landed {short} on {branch}{waits}", of(unit)))
            }
            Note::Lost { effect, kept } => {
                let kept = kept.as_ref().map_or(String::new(), |kept| {
                    format!("; its edits are kept: windlass lanes restore {kept} DIRECTORY")
                });
                Some(format!("effect {} was cut off{kept}", effect.0))
            }
            Note::Turned { unit, came, .. } => Some(match came.as_str() {
                "moved" => format!("{}the branch has moved: rebuilt there", of(unit)),
                _ => format!("{}the branch has moved, and there is a conflict", of(unit)),
            }),
            Note::TakenUp { .. }
            | Note::Based { .. }
            | Note::BaseChecked { .. }
            | Note::Saved { .. }
            | Note::Told { .. }
            | Note::Shown { .. } => None,
            Note::ByHand { unit, .. } => Some(format!("{unit}: changed by hand")),
        },
        Entry::Event(recorded) => match &recorded.event {
            Event::Moved(moved) => {
                let record = moved.record.as_ref()?;
                Some(format!("{}: {record}", flow.stage(moved.stage).name))
            }
            Event::Answered { who, .. } => Some(format!("answered by {who}")),
            Event::UnitStarted { unit, .. } => {
                let unit = run.units().nth(unit.0 as usize)?;
                Some(format!("{}: begins — {}", unit.id, unit.title))
            }
            Event::Reported(ending) if ending.ended == Ended::Lost => None,
            _ => None,
        },
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
