//! What is under way, entry by entry. It remembers nothing of what is over: that is handed out as it happens, to be kept
//! by whoever wants it. So it holds on to as much as there are lanes, however long a run gets.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_core::run::{EffectId, Ended, Ending, Event, FrameId, LaneIx, Moved, Stamp, UnitIx};
use windlass_core::workflow::{Errand, Go, Kind, ScopeIx, Settled, StageIx, VerdictIx, Workflow};
use windlass_engine::entry::{Check, Entry, Note};

/// What came to its end with an entry.
#[derive(Clone, Debug, PartialEq)]
pub enum Happening {
    /// An effect.
    Ended(Box<Span>),
    /// It went back to a stage that was entered before, or the same one is tried again.
    Back(Box<Retry>),
    /// A unit.
    Settled(Finished),
}

/// What was done, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Deed {
    /// An agent that may change files.
    Work,
    /// An agent that may not.
    Judge,
    Check,
    Land,
    /// Reading, saving, telling.
    Other,
}

impl Deed {
    pub const ALL: [Deed; 5] = [Deed::Work, Deed::Judge, Deed::Check, Deed::Land, Deed::Other];

    fn of(flow: &Workflow, stage: StageIx) -> Self {
        let stage = flow.stage(stage);
        match &stage.kind {
            Kind::Role { .. } | Kind::Panel { .. } if stage.edits => Deed::Work,
            Kind::Role { .. } | Kind::Panel { .. } => Deed::Judge,
            Kind::Errand(Errand::Checks { .. }) => Deed::Check,
            Kind::Errand(Errand::Land { .. }) => Deed::Land,
            Kind::Errand(_) | Kind::Gate(_) | Kind::Each { .. } | Kind::Decide(_) => Deed::Other,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Deed::Work => "work",
            Deed::Judge => "judge",
            Deed::Check => "check",
            Deed::Land => "land",
            Deed::Other => "other",
        }
    }
}

/// An effect from its beginning to its end. Times are those of the run's own clock.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    pub effect: EffectId,
    /// The unit; the run itself without one.
    pub unit: Option<UnitIx>,
    pub lane: Option<LaneIx>,
    pub stage: StageIx,
    pub deed: Deed,
    /// Who was asked, if anybody was.
    pub role: Option<String>,
    pub agent: Option<String>,
    /// The how-manieth time that its stage is tried.
    pub attempt: u32,
    pub from_ms: u64,
    pub to_ms: u64,
    /// What it came to.
    pub came: String,
    /// It came to no verdict.
    pub mishap: bool,
    pub cost_micros: u64,
    /// The commit that landed.
    pub commit: Option<String>,
}

/// A way back to a stage that was entered before.
#[derive(Clone, Debug, PartialEq)]
pub struct Retry {
    /// The unit; the run itself without one.
    pub unit: Option<UnitIx>,
    pub at_ms: u64,
    /// Where it went back to.
    pub to: StageIx,
    /// The how-manieth time that is.
    pub attempt: u32,
    /// Where it came from, and what that came to.
    pub from: StageIx,
    pub verdict: Option<VerdictIx>,
    pub cause: Cause,
}

/// What an effect left that says why it was not enough.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cause {
    /// The effect that it is about.
    pub effect: Option<EffectId>,
    /// Checks that failed.
    pub checks: Vec<String>,
    /// What an agent said, by digest.
    pub said: Option<String>,
    /// What a person should know about it.
    pub remarks: Vec<String>,
    /// Files with both sides in them.
    pub conflicts: Vec<String>,
    /// What was wrong with the report.
    pub fault: Option<String>,
    /// Who wanted it done over.
    pub who: Option<String>,
}

/// A unit that settled.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    pub unit: UnitIx,
    pub how: Settled,
    pub begun: Option<Begun>,
    pub at_ms: u64,
}

/// A unit under way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Begun {
    pub lane: Option<LaneIx>,
    pub since_ms: u64,
    /// What it has cost so far.
    pub cost_micros: u64,
    /// The most often that somebody was set to work at one of its stages.
    pub attempts: u32,
    /// The stage that it entered last, when that was, and the how-manieth time it is.
    pub stage: Option<(StageIx, u64, u32)>,
    /// How long anything was under way for it: what waits for a person or for a provider takes no time.
    busy_ms: u64,
    busy_since_ms: u64,
    flights: usize,
    frames: Vec<FrameId>,
}

impl Begun {
    /// How long anything has been under way for it by now.
    pub fn busy_ms(&self, now_ms: u64) -> u64 {
        let since = if self.flights > 0 { now_ms.saturating_sub(self.busy_since_ms) } else { 0 };
        self.busy_ms + since
    }

    /// Whether anything is under way for it.
    pub fn is_busy(&self) -> bool {
        self.flights > 0
    }
}

/// An open scope.
#[derive(Debug, Default)]
struct Book {
    unit: Option<UnitIx>,
    /// It is the unit's own and not a child's.
    own: bool,
    /// How often each stage was tried.
    tries: BTreeMap<StageIx, u32>,
    /// The last move: from where, on what.
    moved: Option<(StageIx, Option<VerdictIx>)>,
    /// What the last effect left.
    cause: Cause,
    stage: Option<StageIx>,
}

#[derive(Debug)]
struct Flight {
    frame: FrameId,
    span: Span,
    cause: Cause,
    /// It waits for others: in the queue, or until what would not go together with it is over.
    queued: bool,
}

/// What is under way in a run.
#[derive(Debug)]
pub struct Watch {
    flow: Arc<Workflow>,
    now: Stamp,
    frames: BTreeMap<FrameId, Book>,
    flights: BTreeMap<EffectId, Flight>,
    units: BTreeMap<UnitIx, Begun>,
    /// What was saved last, and for which unit.
    saved: Option<(Option<String>, EffectId)>,
    /// Checks of the queue that failed last.
    failed: Vec<String>,
    /// What counts as used up by calls that were cut off.
    cut_off: CutOff,
}

/// Calls of agents that were cut off: nobody knows what they used, so what was set aside for them counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CutOff {
    pub calls: u32,
    pub cost_micros: u64,
    pub tokens: u64,
}

/// The intake's frame is there from the start, without an event of its own.
const INTAKE: FrameId = FrameId(0);

impl Watch {
    /// Before anything has happened.
    pub fn new(flow: Arc<Workflow>) -> Self {
        Watch {
            flow,
            now: Stamp::default(),
            frames: BTreeMap::from([(INTAKE, Book::default())]),
            flights: BTreeMap::new(),
            units: BTreeMap::new(),
            saved: None,
            failed: Vec::new(),
            cut_off: CutOff::default(),
        }
    }

    /// What counts as used up by calls that were cut off.
    pub fn cut_off(&self) -> CutOff {
        self.cut_off
    }

    /// When the last entry was made.
    pub fn now(&self) -> Stamp {
        self.now
    }

    /// A unit under way.
    pub fn unit(&self, unit: UnitIx) -> Option<&Begun> {
        self.units.get(&unit)
    }

    /// The units under way.
    pub fn units(&self) -> impl Iterator<Item = (UnitIx, &Begun)> {
        self.units.iter().map(|(unit, begun)| (*unit, begun))
    }

    /// Whether all that is under way for a unit only waits for others.
    pub fn is_queued(&self, unit: UnitIx) -> bool {
        let mut own =
            self.flights.values().filter(|flight| flight.span.unit == Some(unit)).peekable();
        own.peek().is_some() && own.all(|flight| flight.queued)
    }

    /// What has begun and not ended, as if it ended now.
    pub fn open(&self) -> impl Iterator<Item = Span> + '_ {
        self.flights.values().map(|flight| Span {
            to_ms: self.now.mono_ms,
            came: "under way".to_owned(),
            ..flight.span.clone()
        })
    }

    /// Takes an entry in. What came to its end with it.
    pub fn enter(&mut self, entry: &Entry) -> Vec<Happening> {
        let mut out = Vec::new();
        match entry {
            Entry::Event(recorded) => {
                self.at(recorded.at);
                self.event(&recorded.event, &mut out);
            }
            Entry::Note(noted) => {
                self.at(noted.at);
                self.note(&noted.note);
            }
        }
        out
    }

    fn at(&mut self, at: Stamp) {
        self.now = Stamp { mono_ms: self.now.mono_ms.max(at.mono_ms), wall_ms: at.wall_ms };
    }

    fn event(&mut self, event: &Event, out: &mut Vec<Happening>) {
        match event {
            Event::UnitStarted { unit, frame, lane, .. } => {
                let since_ms = self.now.mono_ms;
                let begun = Begun { lane: Some(*lane), since_ms, ..Begun::default() };
                self.units.insert(*unit, begun);
                self.open_frame(*frame, Some(*unit), true);
            }
            Event::Opened { frame, scope, parent, .. } => {
                let parent = parent.filter(|_| *scope != ScopeIx::BETWEEN);
                let unit = parent.and_then(|parent| self.frames.get(&parent)?.unit);
                self.open_frame(*frame, unit, false);
            }
            Event::Entered { frame, stage, .. } => {
                self.give_up(|flight| flight.frame == *frame, out);
                self.entered(*frame, *stage, out);
            }
            Event::Wanted { effect, frame, .. } => self.wanted(*effect, *frame),
            Event::Began { effect, .. } => {
                if let Some(flight) = self.flights.get_mut(effect) {
                    // Until then it has waited for a place.
                    flight.span.from_ms = self.now.mono_ms;
                }
            }
            Event::Reported(ending) => self.reported(ending, out),
            Event::Passed { frame, stage } if self.flow.stage(*stage).next.is_none() => {
                self.close(*frame, Settled::Done, out);
            }
            Event::Moved(moved) => self.moved(moved, out),
            Event::UnitSettled { unit, how, .. } => self.settle(*unit, *how, out),
            Event::Redone { frame, stage, who } => {
                self.give_up(|flight| flight.frame == *frame, out);
                if let Some(book) = self.frames.get_mut(frame) {
                    book.moved = Some((book.stage.unwrap_or(*stage), None));
                    book.cause = Cause { who: Some(who.to_string()), ..Cause::default() };
                }
            }
            Event::Overridden { frame, .. } => {
                self.give_up(|flight| flight.frame == *frame, out);
            }
            Event::FinaleOpened { frame, .. } => {
                self.end_units(out);
                self.open_frame(*frame, None, false);
            }
            Event::Ended { .. } => {
                self.end_units(out);
                self.give_up(|_| true, out);
            }
            _ => {}
        }
    }

    fn open_frame(&mut self, frame: FrameId, unit: Option<UnitIx>, own: bool) {
        if let Some(begun) = unit.and_then(|unit| self.units.get_mut(&unit)) {
            begun.frames.push(frame);
        }
        self.frames.insert(frame, Book { unit, own, ..Book::default() });
    }

    fn entered(&mut self, frame: FrameId, stage: StageIx, out: &mut Vec<Happening>) {
        let now = self.now.mono_ms;
        let Some(book) = self.frames.get_mut(&frame) else { return };
        book.stage = Some(stage);
        let tries = book.tries.entry(stage).or_default();
        *tries += 1;
        let attempt = *tries;
        let unit = book.unit;
        let (from, verdict) = book.moved.unwrap_or((stage, None));
        // What follows once more after that is only on its way.
        if attempt > 1 && stage <= from {
            let cause = book.cause.clone();
            let retry = Retry { unit, at_ms: now, to: stage, attempt, from, verdict, cause };
            out.push(Happening::Back(Box::new(retry)));
        }
        let works = Deed::of(&self.flow, stage) == Deed::Work;
        if let Some(begun) = unit.and_then(|unit| self.units.get_mut(&unit)) {
            begun.attempts = begun.attempts.max(if works { attempt } else { 1 });
            begun.stage = Some((stage, now, attempt));
        }
    }

    fn wanted(&mut self, effect: EffectId, frame: FrameId) {
        let Some(book) = self.frames.get(&frame) else { return };
        let Some(stage) = book.stage else { return };
        let now = self.now.mono_ms;
        let begun = book.unit.and_then(|unit| self.units.get_mut(&unit));
        let lane = begun.as_ref().and_then(|begun| begun.lane);
        if let Some(begun) = begun {
            if begun.flights == 0 {
                begun.busy_since_ms = now;
            }
            begun.flights += 1;
        }
        let span = Span {
            effect,
            unit: book.unit,
            lane,
            stage,
            deed: Deed::of(&self.flow, stage),
            role: None,
            agent: None,
            attempt: book.tries.get(&stage).copied().unwrap_or(1),
            from_ms: now,
            to_ms: now,
            came: String::new(),
            mishap: false,
            cost_micros: 0,
            commit: None,
        };
        let cause = Cause { effect: Some(effect), ..Cause::default() };
        self.flights.insert(effect, Flight { frame, span, cause, queued: false });
    }

    fn reported(&mut self, ending: &Ending, out: &mut Vec<Happening>) {
        let Some(mut flight) = self.flights.remove(&ending.effect) else { return };
        let (came, mishap) = match &ending.ended {
            Ended::Verdict(verdict) => (verdict.to_string(), false),
            Ended::Mishap(mishap) => (mishap.name().to_owned(), true),
            Ended::Limited(_) => ("limited".to_owned(), true),
            Ended::HandedOver => ("handed over".to_owned(), true),
            Ended::Lost => ("lost".to_owned(), true),
        };
        if ending.ended == Ended::Lost && !ending.settled.is_zero() {
            self.cut_off.calls += 1;
            self.cut_off.cost_micros += ending.settled.cost_micros;
            self.cut_off.tokens += ending.settled.tokens;
        }
        flight.span.came = came;
        flight.span.mishap = mishap;
        flight.span.cost_micros = ending.settled.cost_micros;
        flight.cause.fault = ending.fault.as_deref().map(str::to_owned);
        self.end(flight, out);
    }

    /// An effect is over.
    fn end(&mut self, mut flight: Flight, out: &mut Vec<Happening>) {
        let now = self.now.mono_ms;
        flight.span.to_ms = now;
        if let Some(begun) = flight.span.unit.and_then(|unit| self.units.get_mut(&unit)) {
            begun.cost_micros += flight.span.cost_micros;
            begun.flights = begun.flights.saturating_sub(1);
            if begun.flights == 0 {
                begun.busy_ms += now.saturating_sub(begun.busy_since_ms);
            }
        }
        if let Some(book) = self.frames.get_mut(&flight.frame) {
            book.cause = flight.cause;
        }
        out.push(Happening::Ended(Box::new(flight.span)));
    }

    /// What nobody wants any more has no end of its own.
    fn give_up(&mut self, which: impl Fn(&Flight) -> bool, out: &mut Vec<Happening>) {
        let given_up = self.flights.iter().filter(|(_, flight)| which(flight));
        let given_up: Vec<EffectId> = given_up.map(|(effect, _)| *effect).collect();
        for effect in given_up {
            if let Some(mut flight) = self.flights.remove(&effect) {
                flight.span.came = "given up".to_owned();
                flight.span.mishap = true;
                self.end(flight, out);
            }
        }
    }

    fn moved(&mut self, moved: &Moved, out: &mut Vec<Happening>) {
        if let Some(book) = self.frames.get_mut(&moved.frame) {
            book.moved = Some((moved.stage, moved.verdict));
        }
        match &moved.go {
            Go::Again => self.entered(moved.frame, moved.stage, out),
            Go::Leave(how) => self.close(moved.frame, *how, out),
            Go::Return(_) => self.close(moved.frame, Settled::Done, out),
            Go::To(_) | Go::Pause(_) | Go::Rest(_) | Go::Finish(_) => {}
        }
    }

    /// A scope is over, and with its own scope a unit.
    fn close(&mut self, frame: FrameId, how: Settled, out: &mut Vec<Happening>) {
        let Some(book) = self.frames.get(&frame) else { return };
        match book.unit {
            Some(unit) if book.own => self.settle(unit, how, out),
            _ => {
                self.frames.remove(&frame);
            }
        }
    }

    fn settle(&mut self, unit: UnitIx, how: Settled, out: &mut Vec<Happening>) {
        self.give_up(|flight| flight.span.unit == Some(unit), out);
        let begun = self.units.remove(&unit);
        for frame in begun.iter().flat_map(|begun| &begun.frames) {
            self.frames.remove(frame);
        }
        out.push(Happening::Settled(Finished { unit, how, begun, at_ms: self.now.mono_ms }));
    }

    fn end_units(&mut self, out: &mut Vec<Happening>) {
        let open: Vec<UnitIx> = self.units.keys().copied().collect();
        for unit in open {
            self.settle(unit, Settled::Unfinished, out);
        }
    }

    fn note(&mut self, note: &Note) {
        match note {
            Note::Asked(asked) => {
                if let Some(flight) = self.flights.get_mut(&asked.effect) {
                    flight.span.role = Some(asked.role.clone());
                    flight.span.agent = Some(asked.agent.clone());
                }
            }
            Note::Answered(it) => {
                if let Some(flight) = self.flights.get_mut(&it.asked.effect) {
                    flight.span.role = Some(it.asked.role.clone());
                    flight.span.agent = Some(it.asked.agent.clone());
                    flight.cause.said = Some(it.said().to_owned());
                    flight.cause.remarks.clone_from(&it.remarks);
                }
            }
            Note::Checked { effect, name, came: Check::Fail, .. } => {
                if let Some(flight) = self.flights.get_mut(effect) {
                    flight.cause.checks.push(name.clone());
                }
            }
            Note::Queued { effect, .. } | Note::HeldBack { effect, .. } => {
                if let Some(flight) = self.flights.get_mut(effect) {
                    flight.queued = true;
                }
            }
            Note::LetGo { effect } => {
                if let Some(flight) = self.flights.get_mut(effect) {
                    flight.queued = false;
                }
            }
            Note::Proved { came, checks, .. } => {
                // Whoever waited to land is on the next train.
                let waited = self.flights.values_mut().filter(|it| it.span.deed == Deed::Land);
                waited.for_each(|flight| flight.queued = false);
                if *came == Check::Fail {
                    let failed = checks.iter().filter(|it| it.came == Check::Fail);
                    self.failed = failed.map(|it| it.name.clone()).collect();
                }
            }
            Note::Turned { effect, came, .. } if came == "fail" => {
                // What goes back is what the checks failed with last.
                if let Some(flight) = self.flights.get_mut(effect) {
                    flight.cause.checks = std::mem::take(&mut self.failed);
                }
            }
            Note::Landed { effect, commit, .. } => {
                if let Some(flight) = self.flights.get_mut(effect) {
                    flight.span.commit = Some(commit.clone());
                }
            }
            Note::Saved { effect, unit, .. } => self.saved = Some((unit.clone(), *effect)),
            Note::Conflicted { unit, files } => {
                // It names its unit and not its effect; what was saved for it stands right before.
                let saved = self.saved.as_ref().filter(|(of, _)| of == unit);
                let effect = saved.map(|(_, effect)| *effect);
                if let Some(flight) = effect.and_then(|effect| self.flights.get_mut(&effect)) {
                    flight.cause.conflicts.clone_from(files);
                }
            }
            _ => {}
        }
    }
}
