//! What is remembered while a journal is told: which frame belongs to whom, and what it is at.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_core::run::{EffectId, Event, FrameId, GateId, Run, UnitIx};
use windlass_core::workflow::{ListRef, ScopeIx, StageIx, Workflow};

use super::step::{Answer, Place};
use crate::render::scope_text;

pub struct Whereabouts {
    flow: Arc<Workflow>,
    frames: BTreeMap<FrameId, Book>,
    flights: BTreeMap<EffectId, FrameId>,
    gates: BTreeMap<GateId, FrameId>,
    lists: BTreeMap<(FrameId, ListRef), usize>,
}

#[derive(Default)]
struct Book {
    place: Place,
    stage: Option<StageIx>,
    answer: Option<Answer>,
}

/// The intake's frame is there from the start, without an event of its own.
const INTAKE: FrameId = FrameId(0);

impl Whereabouts {
    /// Before anything has happened.
    pub fn new(flow: Arc<Workflow>) -> Self {
        let intake =
            Book { place: Place::named(scope_text(&flow, ScopeIx::INTAKE)), ..Book::default() };
        Self {
            flow,
            frames: BTreeMap::from([(INTAKE, intake)]),
            flights: BTreeMap::new(),
            gates: BTreeMap::new(),
            lists: BTreeMap::new(),
        }
    }

    /// In the middle of a run: everything that its next events can be about.
    pub fn of(run: &Run) -> Self {
        let mut own = Self::new(run.workflow().clone());
        for frame in run.frames() {
            let unit = frame.unit.as_deref().map(str::to_owned);
            own.open(frame.id, frame.scope, unit, frame.child.map(|child| child + 1));
            own.frames.entry(frame.id).or_default().stage = frame.stage;
        }
        own.flights = run.flights().collect();
        own.gates = run.askers().collect();
        own
    }

    /// Enters an event; `run` is as it is after it.
    pub fn enter(&mut self, run: &Run, event: &Event) {
        match event {
            Event::UnitStarted { unit, frame, .. } => {
                self.open(*frame, ScopeIx::UNIT, self.unit_id(run, *unit), None);
            }
            Event::Opened { frame, scope, parent, child } => {
                let unit = parent.and_then(|parent| self.place(parent).unit);
                self.open(*frame, *scope, unit, child.map(|child| child + 1));
            }
            Event::FinaleOpened { frame, .. } => self.open(*frame, ScopeIx::FINALE, None, None),
            Event::Entered { frame, stage, .. } => {
                self.frames.entry(*frame).or_default().stage = Some(*stage);
            }
            Event::Wanted { effect, frame, .. } => {
                self.flights.insert(*effect, *frame);
            }
            Event::Reported(ending) => {
                if let Some((frame, stage)) = self.landed(ending.effect) {
                    for (name, items) in &ending.lists {
                        let list = ListRef { stage, name: name.clone() };
                        self.lists.insert((frame, list), items.len());
                    }
                }
            }
            Event::Asked { gate, frame, policy, .. } => {
                self.gates.insert(*gate, *frame);
                let answer = policy.as_ref().map(|policy| {
                    let who = policy.name.as_deref().unwrap_or("the workflow's policy");
                    let record = policy.record.as_deref().map(str::to_owned);
                    Some(Answer { record, ..self.answer(*frame, policy.verdict, who)? })
                });
                self.frames.entry(*frame).or_default().answer = answer.flatten();
            }
            Event::Answered { gate, verdict, who, .. } => {
                if let Some(frame) = self.asker(*gate) {
                    let answer = self.answer(frame, *verdict, who);
                    self.frames.entry(frame).or_default().answer = answer;
                }
            }
            _ => {}
        }
    }

    fn open(&mut self, frame: FrameId, scope: ScopeIx, unit: Option<String>, child: Option<u32>) {
        let place = Place { scope: Some(scope_text(&self.flow, scope).to_owned()), unit, child };
        self.frames.insert(frame, Book { place, ..Book::default() });
    }

    fn answer(
        &self,
        frame: FrameId,
        verdict: windlass_core::workflow::VerdictIx,
        who: &str,
    ) -> Option<Answer> {
        let stage = self.flow.stage(self.stage(frame)?);
        Some(Answer {
            option: stage.verdict(verdict).name.clone(),
            who: who.to_owned(),
            record: None,
        })
    }

    pub fn place(&self, frame: FrameId) -> Place {
        self.frames.get(&frame).map(|book| book.place.clone()).unwrap_or_default()
    }

    pub fn stage(&self, frame: FrameId) -> Option<StageIx> {
        self.frames.get(&frame)?.stage
    }

    pub fn asker(&self, gate: GateId) -> Option<FrameId> {
        self.gates.get(&gate).copied()
    }

    /// The frame and stage that an effect was wanted for.
    pub fn landed(&self, effect: EffectId) -> Option<(FrameId, StageIx)> {
        let frame = *self.flights.get(&effect)?;
        Some((frame, self.stage(frame)?))
    }

    /// The answer that led to a move.
    pub fn take_answer(&mut self, frame: FrameId) -> Option<Answer> {
        self.frames.get_mut(&frame)?.answer.take()
    }

    pub fn list_length(&self, frame: FrameId, list: &ListRef) -> usize {
        self.lists.get(&(frame, list.clone())).copied().unwrap_or(0)
    }

    pub fn unit_id(&self, run: &Run, unit: UnitIx) -> Option<String> {
        run.unit_at(unit).map(|unit| unit.id.to_string())
    }
}
