//! A run's journal, told: which stages it went through, why each move was taken, who was asked and
//! what was answered. Both the text and the JSON of `simulate` are made from this.
//!
//! The journal is folded once more beside the telling, because what an event means to a reader (the
//! options of a gate, the most that a counter may reach) is known to the run and not to the event.

mod step;
mod whereabouts;

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_core::expr::Expr;
use windlass_core::run::{
    self, Ended, Event, FrameId, Moved, PolicyAnswer, Recorded, Run, fold_with,
};
use windlass_core::value::Value;
use windlass_core::workflow::{Counter, Kind, Stage, StageIx, Workflow};
use windlass_words::Words;

pub use self::step::why;
pub use self::step::{Adds, Answer, Counted, MovedStep, OptionStep, Place, Step, What};
pub use self::whereabouts::Whereabouts;
use crate::render::view::{Goal, asks_again};
use crate::render::{expr_text, scope_text};

/// A journal, told.
#[derive(Debug, Default)]
pub struct Story {
    pub steps: Vec<Step>,
    /// Agents that were invoked.
    pub invocations: u64,
    /// Everything else that was done: checks, reads, saves, landings, tells.
    pub errands: u64,
    /// Questions that a person answered.
    pub answers: u64,
    /// How often each stage reported or was answered: the words of a script that were used.
    pub used: BTreeMap<String, usize>,
    /// The run as the journal leaves it.
    pub run: Option<Run>,
}

impl Story {
    pub fn of(flow: &Arc<Workflow>, journal: &[Recorded]) -> Self {
        let Some(first) = journal.first() else { return Self::default() };
        let Ok(run) = fold_with(flow.clone(), std::slice::from_ref(first)) else {
            return Self::default();
        };
        let mut teller = Teller {
            flow,
            before: run.clone(),
            run,
            whereabouts: Whereabouts::new(flow.clone()),
            story: Self::default(),
        };
        teller.tell(first);
        for recorded in &journal[1..] {
            teller.before = teller.run.clone();
            teller.run.evolve(recorded);
            teller.tell(recorded);
        }
        teller.story.run = Some(teller.run);
        teller.story
    }
}

struct Teller<'a> {
    flow: &'a Arc<Workflow>,
    /// As it is after the event that is told, and as it was before.
    run: Run,
    before: Run,
    whereabouts: Whereabouts,
    story: Story,
}

impl Teller<'_> {
    fn tell(&mut self, recorded: &Recorded) {
        self.whereabouts.enter(&self.run, &recorded.event);
        if let Some((place, what)) = self.meaning(&recorded.event) {
            self.story.steps.push(Step { seq: recorded.seq, place, what });
        }
    }

    /// What there is to say of an event, if anything.
    fn meaning(&mut self, event: &Event) -> Option<(Place, What)> {
        match event {
            Event::Started(started) => {
                let given = self.flow.inputs.iter().zip(&started.inputs);
                let inputs = given
                    .filter_map(|(input, value)| Some((input.name.clone(), value.clone()?)))
                    .collect();
                Some((Place::RUN, What::Started { inputs }))
            }
            Event::UnitStarted { frame, lane, .. } => {
                Some((self.whereabouts.place(*frame), What::UnitStarted { lane: *lane }))
            }
            Event::UnitSettled { unit, how, because, by } => {
                let id = |ix| self.whereabouts.unit_id(&self.run, ix);
                let place = Place { unit: id(*unit), ..Place::named("unit") };
                let because = because.and_then(id);
                let reason = by.as_ref().map(|by| format!("{}: {}", by.who, by.reason));
                Some((place, What::UnitSettled { how: how.name(), because, reason }))
            }
            Event::FinaleOpened { frame, outcome } => {
                Some((self.whereabouts.place(*frame), What::Finale { outcome: outcome.name() }))
            }
            Event::Ended { outcome } => {
                let (outcome, exit_code) = (outcome.name(), outcome.exit_code());
                Some((Place::RUN, What::Ended { outcome, exit_code }))
            }
            Event::Passed { frame, .. }
            | Event::Entered { frame, .. }
            | Event::FellBack { frame, .. }
            | Event::Asked { frame, .. }
            | Event::Held { frame, .. }
            | Event::Resumed { frame } => {
                Some((self.whereabouts.place(*frame), self.at_a_stage(*frame, event)?))
            }
            Event::Moved(moved) => Some((self.whereabouts.place(moved.frame), self.moved(moved))),
            Event::Reported(ending) => {
                let (frame, stage) = self.whereabouts.landed(ending.effect)?;
                self.tally(stage);
                let note = trouble(&ending.ended, ending.fault.as_deref())?;
                Some((
                    self.whereabouts.place(frame),
                    What::Trouble { stage: self.name(stage), note },
                ))
            }
            Event::Answered { gate, .. } => {
                let stage = self.whereabouts.stage(self.whereabouts.asker(*gate)?)?;
                self.story.answers += 1;
                *self.story.used.entry(self.name(stage)).or_default() += 1;
                None
            }
            event => self.wish(event),
        }
    }

    /// What happened at a frame's stage, other than a move.
    fn at_a_stage(&self, frame: FrameId, event: &Event) -> Option<What> {
        let here = self.whereabouts.stage(frame);
        match event {
            Event::Passed { stage, .. } => {
                let when = self.flow.stage(*stage).when.as_ref();
                let when = when.map(|when| expr_text(self.flow, when));
                Some(What::Passed { stage: self.name(*stage), when })
            }
            Event::Entered { stage, count, .. } => {
                let count = count.as_ref();
                self.entered(
                    *stage,
                    count.map(|count| self.counted(count.counter.at(), count.value)),
                )
            }
            Event::FellBack { agent, .. } => {
                let Kind::Role { agents, .. } = &self.flow.stage(here?).kind else { return None };
                let agent = agents.get(usize::from(*agent))?.clone();
                Some(What::FellBack { stage: self.name(here?), agent })
            }
            Event::Asked { gate, concerns, policy, .. } => {
                let stage = self.flow.stage(here?);
                let options = self.run.gate(*gate).map(|gate| gate.options).unwrap_or_default();
                let own = |option: &run::OptionView| !asks_again(stage, &option.key);
                let options = options.into_iter().filter(own).map(OptionStep::from).collect();
                asked(stage, options, concerns, policy.as_ref())
            }
            Event::Held { why, .. } => {
                let why = step::why(self.flow, *why, Words::default());
                Some(What::Held { stage: here.map(|stage| self.name(stage)), why })
            }
            Event::Resumed { .. } => {
                Some(What::Resumed { stage: here.map(|stage| self.name(stage)) })
            }
            _ => None,
        }
    }

    /// What a person wanted.
    fn wish(&self, event: &Event) -> Option<(Place, What)> {
        let run = |who: &Arc<str>, wish: &str| {
            Some((Place::RUN, What::Wish { who: who.to_string(), wish: wish.to_owned() }))
        };
        match event {
            Event::StopAsked { who } => run(who, "starts no further unit"),
            Event::PauseAsked { who } => run(who, "pauses the run"),
            Event::ResumeAsked { who } => run(who, "resumes the run"),
            Event::CancelAsked { who } => run(who, "cancels the run"),
            Event::CapsRaised { who, .. } => run(who, "raises the caps"),
            Event::Reordered { who, .. } => run(who, "puts waiting units into another order"),
            Event::Redone { frame, stage, who } => {
                let wish = format!("starts over at {}", self.name(*stage));
                Some((self.whereabouts.place(*frame), What::Wish { who: who.to_string(), wish }))
            }
            Event::Overridden { frame, stage, verdict, by } => {
                let verdict = &self.flow.stage(*stage).verdict(*verdict).name;
                let wish = format!("lets {} count as {verdict}: {}", self.name(*stage), by.reason);
                Some((self.whereabouts.place(*frame), What::Wish { who: by.who.to_string(), wish }))
            }
            _ => None,
        }
    }

    /// Entering a stage is worth a line of its own when something is counted or recorded by it, or
    /// when children follow.
    fn entered(&self, ix: StageIx, count: Option<Counted>) -> Option<What> {
        let stage = self.flow.stage(ix);
        let each = matches!(stage.kind, Kind::Each { .. });
        (each || count.is_some() || stage.record.is_some()).then(|| What::Entered {
            stage: stage.name.clone(),
            kind: stage.kind.name(),
            count,
            record: stage.record.clone(),
        })
    }

    fn moved(&mut self, moved: &Moved) -> What {
        let stage = self.flow.stage(moved.stage);
        let answer = self.whereabouts.take_answer(moved.frame);
        let counter =
            |at: &windlass_core::workflow::CounterIx| self.flow.counters[at.at()].name.clone();
        let verdict = moved.verdict.map(|ix| stage.verdict(ix));
        let adds = moved.add.iter().map(|(scope, list)| Adds {
            scope: scope_text(self.flow, *scope).to_owned(),
            list: list.name.to_string(),
            items: self.whereabouts.list_length(moved.frame, list),
        });
        What::Moved(Box::new(MovedStep {
            stage: stage.name.clone(),
            kind: stage.kind.name(),
            verdict: verdict.map(|verdict| verdict.name.clone()),
            mishap: verdict.is_some_and(|verdict| verdict.mishap.is_some()),
            answer,
            goal: Goal::of(self.flow, stage.scope, &moved.go),
            count: moved.count.as_ref().map(|count| self.counted(count.counter.at(), count.value)),
            spent: moved.spent.map(|counter| self.spent(counter.at())),
            reset: moved.reset.iter().map(counter).collect(),
            context: moved.context.as_deref().map(str::to_owned),
            adds: adds.collect(),
            waive: moved.waive.iter().map(|stage| self.name(*stage)).collect(),
            record: moved.record.as_deref().map(str::to_owned),
            outcome: moved.outcome.map(|outcome| outcome.name()),
        }))
    }

    fn counted(&self, counter: usize, value: u32) -> Counted {
        let Counter { name, max, each_unit, .. } = &self.flow.counters[counter];
        let here = self.run.counters().into_iter().find(|(n, v, _)| n == name && *v == value);
        // A move that settles its unit takes the unit's counters away.
        let fixed = || if each_unit.is_none() { constant(max) } else { None };
        let max = here.map(|(.., max)| max).or_else(fixed);
        Counted { counter: name.clone(), value, max }
    }

    /// A counter that was found at its maximum.
    fn spent(&self, counter: usize) -> Counted {
        let Counter { name, max, .. } = &self.flow.counters[counter];
        let full = self.before.counters().into_iter().find(|(n, v, max)| n == name && v >= max);
        let max = full.map(|(.., max)| max).or_else(|| constant(max));
        Counted { counter: name.clone(), value: max.unwrap_or(0), max }
    }

    fn name(&self, stage: StageIx) -> String {
        self.flow.stage(stage).name.clone()
    }

    fn tally(&mut self, ix: StageIx) {
        let stage = self.flow.stage(ix);
        if matches!(stage.kind, Kind::Role { .. } | Kind::Panel { .. }) {
            self.story.invocations += 1;
        } else {
            self.story.errands += 1;
        }
        *self.story.used.entry(stage.name.clone()).or_default() += 1;
    }
}

/// The number that an expression always is.
fn constant(expr: &Expr) -> Option<u32> {
    match expr {
        Expr::Const(Value::Number(number)) => u32::try_from(*number).ok(),
        _ => None,
    }
}

/// A report that was not simply taken: limits, losses, and what was wrong with it.
fn trouble(ended: &Ended, fault: Option<&str>) -> Option<String> {
    match (ended, fault) {
        (Ended::Limited(_), _) => {
            Some("limited by the provider: parked until the reset".to_owned())
        }
        (Ended::HandedOver, _) => {
            Some("limited by the provider: somebody else takes over".to_owned())
        }
        (Ended::Lost, _) => Some("lost: wanted again".to_owned()),
        (Ended::Verdict(_) | Ended::Mishap(_), Some(fault)) => Some(fault.to_owned()),
        (Ended::Verdict(_) | Ended::Mishap(_), None) => None,
    }
}

fn asked(
    stage: &Stage,
    options: Vec<OptionStep>,
    concerns: &[Option<bool>],
    policy: Option<&PolicyAnswer>,
) -> Option<What> {
    let Kind::Gate(gate) = &stage.kind else { return None };
    let fired = gate.concerns.iter().zip(concerns).filter(|(_, fired)| **fired != Some(false));
    Some(What::Asked {
        stage: stage.name.clone(),
        question: gate.question.clone(),
        concerns: fired.map(|((name, _), _)| name.clone()).collect(),
        options,
        policy: policy.map(|policy| Answer {
            option: stage.verdict(policy.verdict).name.clone(),
            who: policy.name.as_deref().map_or("the workflow's policy".to_owned(), str::to_owned),
            record: policy.record.as_deref().map(str::to_owned),
        }),
    })
}
