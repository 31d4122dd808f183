//! Entries of a journal in lines for people: what a run says while it goes on, and what `windlass log` says afterwards.

use std::collections::BTreeSet;
use std::sync::Arc;

use windlass_core::run::{EffectId, Ended, Ending, Event, FrameId, Moved, Run};
use windlass_core::workflow::{Go, ScopeIx, Workflow};
use windlass_engine::date;
use windlass_engine::entry::{Check, Entry, Invocation, Note};

use crate::render::clean;
use crate::story::{Whereabouts, why};

/// Tells entries one after the other; it remembers what it needs to say whose they are.
pub struct Teller {
    flow: Arc<Workflow>,
    whereabouts: Whereabouts,
    /// Effects whose end has been told with what the agent said.
    told: BTreeSet<EffectId>,
}

impl Teller {
    /// For a run that is told from its beginning.
    pub fn new(flow: Arc<Workflow>) -> Self {
        Teller { whereabouts: Whereabouts::new(flow.clone()), flow, told: BTreeSet::new() }
    }

    /// For a run that is told from where it is.
    pub fn of(run: &Run) -> Self {
        let flow = run.workflow().clone();
        Teller { whereabouts: Whereabouts::of(run), flow, told: BTreeSet::new() }
    }

    /// An entry in lines, each fit to be shown; `run` is as it is after it. Most entries are worth none.
    pub fn tell(&mut self, entry: &Entry, run: &Run) -> Vec<String> {
        let lines = match entry {
            Entry::Note(noted) => self.note(&noted.note),
            Entry::Event(recorded) => {
                self.whereabouts.enter(run, &recorded.event);
                self.event(&recorded.event, run)
            }
        };
        // Whatever somebody else wrote stays on its own line.
        lines.iter().map(|line| clean(line)).collect()
    }

    fn note(&mut self, note: &Note) -> Vec<String> {
        match note {
            Note::Asked(asked) => {
                let Invocation { role, agent, attempt, .. } = asked;
                let again =
                    if *attempt > 1 { format!(", attempt {attempt}") } else { String::new() };
                vec![format!("{}{role} ({agent}){again}", whose(asked))]
            }
            Note::Answered(it) => {
                self.told.insert(it.asked.effect);
                let mut lines = vec![format!("{}{}", whose(&it.asked), it.came)];
                lines.extend(it.remarks.iter().map(|remark| format!("    {remark}")));
                lines
            }
            Note::Checked { unit, name, came, command, output, .. } => {
                let why = match came {
                    // Windlass has looked itself, and nothing came of it.
                    Check::Skipped if command.is_none() && output.is_some() => "",
                    Check::Skipped if command.is_some() => ": its command is not installed",
                    Check::Skipped => ": there is no such command",
                    Check::Pass | Check::Fail | Check::FailedBefore => "",
                };
                vec![format!("{}check {name}: {}{why}", of(unit), came.words())]
            }
            Note::Landed { unit, commit, branch, waits, why, .. } => {
                let short = &commit[..commit.len().min(10)];
                let Some(command) = waits else {
                    return vec![format!("{}landed {short} on {branch}", of(unit))];
                };
                let why = why.as_ref().map_or(String::new(), |why| format!(": {why}"));
                vec![
                    format!("{}{short} is ready and waits beside {branch}{why}", of(unit)),
                    format!("    take it with: {command}"),
                ]
            }
            Note::Lost { effect, kept } => {
                let mut lines = vec![format!("effect {} was cut off", effect.0)];
                lines.extend(kept.as_ref().map(|kept| {
                    format!("    its edits are kept: windlass lanes restore {kept} DIRECTORY")
                }));
                lines
            }
            Note::Turned { unit, came, .. } => vec![match came.as_str() {
                "moved" => format!("{}the branch has moved: rebuilt there", of(unit)),
                _ => format!("{}the branch has moved, and there is a conflict", of(unit)),
            }],
            Note::Told { text, .. } => text.lines().map(str::to_owned).collect(),
            Note::Kept { unit, commit } => {
                vec![format!(
                    "{unit}: what was in its lane is kept: windlass lanes restore {commit} DIRECTORY"
                )]
            }
            Note::ByHand { unit, .. } => {
                vec![format!("{}changed by hand", of(unit))]
            }
            Note::Conflicted { unit, files } => {
                vec![format!("{}conflicts in {}", of(unit), files.join(", "))]
            }
            Note::TakenUp { .. }
            | Note::Tidied
            | Note::Based { .. }
            | Note::BaseChecked { .. }
            | Note::Saved { .. }
            | Note::Paper { .. }
            | Note::Left { .. }
            | Note::Shown { .. } => Vec::new(),
        }
    }

    fn event(&mut self, event: &Event, run: &Run) -> Vec<String> {
        let line = match event {
            Event::UnitStarted { unit, .. } => run
                .units()
                .nth(unit.0 as usize)
                .map(|unit| format!("{}: begins — {}", unit.id, unit.title)),
            Event::UnitSettled { unit, how, because, by } => {
                let id = self.whereabouts.unit_id(run, *unit).unwrap_or_default();
                let because = because.and_then(|unit| self.whereabouts.unit_id(run, unit));
                let because = because_of(because.as_deref());
                let by = by
                    .as_ref()
                    .map_or(String::new(), |by| format!(" by {}: {}", by.who, by.reason));
                Some(format!("{id}: {}{because}{by}", how.name()))
            }
            Event::Reported(ending) => self.trouble(ending),
            Event::Asked { gate, frame, policy: None, .. } => {
                let question =
                    run.gate(*gate).map_or(String::new(), |it| format!(": {}", it.question));
                Some(format!("{}asks (gate {}){question}", self.here(*frame), gate.0))
            }
            Event::Asked { frame, policy: Some(policy), .. } => {
                let answer = self.answer(*frame, policy.verdict);
                let name = policy.name.as_deref().unwrap_or("the workflow's policy");
                let record = policy.record.as_deref();
                let record = record.map_or(String::new(), |record| format!(" ({record})"));
                Some(format!("{}{answer}, by {name}{record}", self.here(*frame)))
            }
            Event::Answered { gate, verdict, text, who, .. } => {
                let frame = self.whereabouts.asker(*gate);
                let answer = frame.map(|frame| self.answer(frame, *verdict)).unwrap_or_default();
                let of = frame.map(|frame| self.here(frame)).unwrap_or_default();
                let text = text.as_ref().map_or(String::new(), |text| format!(" — {text}"));
                Some(format!("{of}{answer}, by {who}{text}"))
            }
            Event::Moved(moved) => self.moved(moved),
            Event::Held { frame, why: because } => {
                Some(format!("{}waits: {}", self.here(*frame), why(&self.flow, *because)))
            }
            Event::Overridden { frame, stage, verdict, by } => {
                let stage = self.flow.stage(*stage);
                let (name, verdict) = (&stage.name, &stage.verdict(*verdict).name);
                let unit = self.unit(*frame);
                Some(format!(
                    "{unit}{name}: {verdict}, by {}'s own decision: {}",
                    by.who, by.reason
                ))
            }
            Event::Redone { frame, stage, who } => {
                let name = &self.flow.stage(*stage).name;
                Some(format!("{}{name}: once more, says {who}", self.unit(*frame)))
            }
            Event::StopAsked { who } => Some(format!("{who} stops it after the units under way")),
            Event::PauseAsked { who } => Some(format!("{who} stops it: nothing new is started")),
            Event::ResumeAsked { who } => Some(format!("{who} goes on")),
            Event::CancelAsked { who } => Some(format!("{who} cancels the run")),
            Event::CapsRaised { who, .. } => Some(format!("{who} has raised the caps")),
            _ => None,
        };
        line.into_iter().collect()
    }

    /// A report that was not simply taken.
    fn trouble(&self, ending: &Ending) -> Option<String> {
        let at = self.at(ending.effect)?;
        match (&ending.ended, ending.fault.as_deref()) {
            // What it said is not what counts: why, only the core knows.
            (Ended::Mishap(mishap), Some(fault)) => Some(format!("{at}{}: {fault}", mishap.name())),
            (Ended::Mishap(mishap), None) if !self.told.contains(&ending.effect) => {
                Some(format!("{at}{}", mishap.name()))
            }
            (Ended::Limited(until), _) => {
                Some(format!("{at}it waits for its provider until {}", date::instant(*until)))
            }
            _ => None,
        }
    }

    /// A move that says something, or that settles a unit.
    fn moved(&self, moved: &Moved) -> Option<String> {
        if let Some(record) = &moved.record {
            return Some(format!("{}{record}", self.here(moved.frame)));
        }
        let place = self.whereabouts.place(moved.frame);
        let own =
            place.scope.as_deref() == Some(crate::render::scope_text(&self.flow, ScopeIx::UNIT));
        match (&moved.go, place.unit) {
            (Go::Leave(how), Some(unit)) if own && place.child.is_none() => {
                Some(format!("{unit}: {}", how.name()))
            }
            _ => None,
        }
    }

    fn unit(&self, frame: FrameId) -> String {
        self.whereabouts.place(frame).unit.map_or(String::new(), |unit| format!("{unit}: "))
    }

    /// Whose a frame is and what it is at.
    fn here(&self, frame: FrameId) -> String {
        let stage = self.whereabouts.stage(frame).map(|stage| &self.flow.stage(stage).name);
        let stage = stage.map_or(String::new(), |stage| format!("{stage}: "));
        format!("{}{stage}", self.unit(frame))
    }

    fn at(&self, effect: EffectId) -> Option<String> {
        self.whereabouts.landed(effect).map(|(frame, _)| self.here(frame))
    }

    fn answer(&self, frame: FrameId, verdict: windlass_core::workflow::VerdictIx) -> String {
        let stage = self.whereabouts.stage(frame).map(|stage| self.flow.stage(stage));
        stage.map_or(String::new(), |stage| stage.verdict(verdict).name.clone())
    }
}

/// A unit, before what is said of it.
fn of(unit: &Option<String>) -> String {
    unit.as_ref().map_or(String::new(), |unit| format!("{unit}: "))
}

/// What a unit is blocked by, after that it is.
pub fn because_of(unit: Option<&str>) -> String {
    unit.map_or(String::new(), |unit| format!(" because of {unit}"))
}

/// Whose an invocation is, before what is said of it.
fn whose(asked: &Invocation) -> String {
    let task = asked.task.as_ref().map_or(String::new(), |task| format!("task {task}: "));
    format!("{}{task}{}: ", of(&asked.unit), asked.stage)
}
