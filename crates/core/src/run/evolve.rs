//! Applying an event. Total and infallible: a recorded fact is never argued with, and one that
//! makes no sense here (only a damaged journal has those) changes nothing.

use std::sync::Arc;

use imbl::{OrdMap, OrdSet, Vector};

use super::{
    FrameId, UnitIx,
    budget::Purse,
    claims::Claims,
    event::{Counted, Event, Moved, Recorded, Started, Why},
    state::{Evidence, Frame, Phase, Position, Run, Tallies, Tally},
    time::Stamp,
    timer::Timers,
};
use crate::workflow::{Errand, Go, Holder, Kind, ScopeIx, Workflow};

impl Run {
    /// The run that a first event begins.
    pub(super) fn begin(flow: Arc<Workflow>, started: &Started) -> Run {
        Run {
            flow,
            id: started.run.clone(),
            inputs: Arc::from(started.inputs.clone()),
            entry: started.entry,
            settings: Arc::new(started.settings.clone()),
            seq: 0,
            now: Stamp::default(),
            phase: Phase::Intake,
            outcome: None,
            stopping: false,
            paused: false,
            overrun: false,
            overruns: 0,
            landed: false,
            subject: None,
            counters: Tallies::new(),
            purse: Purse::default(),
            frames: OrdMap::new(),
            next_frame: 0,
            next_effect: 0,
            next_gate: 0,
            intake: FrameId(0),
            between: None,
            finale: None,
            units: Vector::new(),
            unit_ids: OrdMap::new(),
            tally: Tally::default(),
            ready: OrdSet::new(),
            doomed: OrdMap::new(),
            claims: Claims::default(),
            active: OrdSet::new(),
            waking: OrdSet::new(),
            lanes: OrdSet::new(),
            settled: Vector::new(),
            agenda: OrdSet::new(),
            dispatch: OrdSet::new(),
            landings: OrdSet::new(),
            flights: OrdMap::new(),
            timers: Timers::default(),
            gates: OrdMap::new(),
            held: OrdMap::new(),
        }
    }

    /// Applies an event.
    #[expect(clippy::too_many_lines, reason = "one arm for each event, and nothing else")]
    pub fn evolve(&mut self, recorded: &Recorded) {
        self.seq = recorded.seq + 1;
        self.now.mono_ms = self.now.mono_ms.max(recorded.at.mono_ms);
        self.now.wall_ms = recorded.at.wall_ms;
        match &recorded.event {
            Event::Started(_) => self.open_intake(),
            Event::Opened { frame, scope, parent, child } => {
                self.open(*frame, *scope, *parent, *child);
            }
            Event::UnitStarted { unit, frame, lane, stage } => {
                self.add_frame(
                    *frame,
                    Frame {
                        unit: Some(*unit),
                        position: Position::Entering(*stage),
                        ..Frame::new(ScopeIx::UNIT)
                    },
                );
                self.start_unit(*unit, *frame, *lane);
                self.queue(*frame);
            }
            Event::UnitWoken { unit } => self.wake(*unit),
            Event::UnitSettled { unit, how, because, .. } => {
                self.settle_otherwise(*unit, *how, *because);
            }
            Event::Passed { frame, stage } => match self.flow.stage(*stage).next {
                Some(next) => self.enter(*frame, next),
                None => self.leave(*frame, crate::workflow::Settled::Done),
            },
            Event::Upheld { frame, stage, verdict } => self.uphold(*frame, *stage, *verdict),
            Event::Entered { frame, stage, count } => {
                self.arrive(*frame, *stage);
                self.count(*frame, count.as_ref());
            }
            Event::Wanted { effect, frame, slot, reserved, deadline_ms } => {
                self.take_off(*effect, *frame, *slot, *reserved, *deadline_ms);
            }
            Event::Began { effect, deadline_ms } => self.put_off(*effect, *deadline_ms),
            Event::Reported(ending) => self.touch_down(ending),
            Event::FellBack { frame, agent } => self.fall_back(*frame, *agent),
            Event::Unparked { frame, slot } => self.unpark(*frame, *slot),
            Event::Asked { gate, frame, policy, .. } => {
                self.next_gate = gate.0 + 1;
                self.ask(*gate, *frame, policy.as_ref());
            }
            Event::Answered { gate, verdict, subject, .. } => {
                self.answer(*gate, *verdict, subject.as_ref());
            }
            Event::Moved(moved) => self.apply_move(moved),
            Event::Held { frame, why } => {
                if let Some(at) = self.frame(*frame).and_then(|frame| frame.stage) {
                    self.hold(*frame, at, *why);
                }
            }
            Event::Resumed { frame } => self.resume(*frame),
            Event::StopAsked { .. } => self.stopping = true,
            Event::PauseAsked { .. } => self.paused = true,
            Event::ResumeAsked { .. } => (self.stopping, self.paused) = (false, false),
            Event::CancelAsked { .. } => self.cancel(),
            Event::CapsRaised { caps, .. } => {
                Arc::make_mut(&mut self.settings).caps = **caps;
                self.overrun = false;
            }
            Event::Redone { frame, stage, .. } => {
                self.abandon_frame(*frame);
                if let Some(frame) = self.frame_mut(*frame) {
                    frame.evidence.remove(stage);
                }
                self.enter(*frame, *stage);
            }
            Event::Overridden { frame, stage, verdict, .. } => {
                self.abandon_frame(*frame);
                self.judge(*frame, *stage, *verdict, None);
            }
            Event::Reordered { ranks, .. } => {
                for (unit, rank) in ranks {
                    self.rerank(*unit, *rank);
                }
            }
            Event::FinaleOpened { frame, outcome } => self.open_finale(*frame, *outcome),
            Event::Ended { outcome } => {
                self.clear_units();
                self.frames = OrdMap::new();
                self.phase = Phase::Ended;
                self.outcome = Some(*outcome);
            }
        }
        self.tidy_ready();
    }

    fn open_intake(&mut self) {
        let frame = FrameId(0);
        self.add_frame(frame, Frame::new(ScopeIx::INTAKE));
        self.begin_scope(frame, ScopeIx::INTAKE);
    }

    fn open(&mut self, id: FrameId, scope: ScopeIx, parent: Option<FrameId>, child: Option<u32>) {
        let unit = parent.and_then(|id| self.frame(id)).and_then(|frame| frame.unit);
        let mut frame = Frame { parent, unit, child, ..Frame::new(scope) };
        if scope == ScopeIx::BETWEEN {
            self.settled.pop_front();
            self.between = Some(id);
        } else {
            let item = parent
                .and_then(|parent| self.frame(parent))
                .and_then(|parent| parent.children.get(&scope)?.get(child? as usize))
                .map(|child| child.item.clone());
            if let Some(item) = item {
                frame.facts = super::units::item_facts(&self.flow, scope, &item);
            }
            if let Some(parent) = parent {
                self.agenda.remove(&parent);
                if let Some(parent) = self.frame_mut(parent) {
                    parent.position = Position::Expanded;
                }
            }
            if let Some(unit) = unit.and_then(|unit| self.unit_mut(unit)) {
                unit.leaf = Some(id);
            }
        }
        self.add_frame(id, frame);
        self.begin_scope(id, scope);
    }

    pub(super) fn add_frame(&mut self, id: FrameId, frame: Frame) {
        self.next_frame = id.0 + 1;
        self.frames.insert(id, Arc::new(frame));
    }

    pub(super) fn begin_scope(&mut self, frame: FrameId, scope: ScopeIx) {
        match self.flow.scopes[scope.at()].first {
            Some(first) => self.enter(frame, first),
            None => self.leave(frame, crate::workflow::Settled::Done),
        }
    }

    fn wake(&mut self, unit: UnitIx) {
        self.waking.remove(&unit);
        self.active.insert(unit);
        if let Some(leaf) = self.unit(unit).and_then(|unit| unit.leaf) {
            self.queue(leaf);
        }
    }

    /// A frame has something to do at once, or an effect to be wanted. Once the run is finishing,
    /// only the finale goes on.
    pub(super) fn queue(&mut self, id: FrameId) {
        let Some(frame) = self.frame(id) else { return };
        if self.phase == Phase::Finishing && frame.scope != ScopeIx::FINALE {
            return;
        }
        if self.lane_unit(frame).is_some_and(|unit| !self.active.contains(&unit)) {
            return;
        }
        match frame.position {
            Position::Working => {
                self.dispatch.insert(id);
            }
            Position::Entering(_) | Position::Pending | Position::Judged(_) => {
                self.agenda.insert(id);
            }
            Position::Asking(_) | Position::Expanded | Position::Held(_) | Position::Closed => {}
        }
    }

    /// Goes on with a frame whose unit may have given up its place.
    pub(super) fn rejoin(&mut self, id: FrameId) {
        let unit = self.frame(id).and_then(|frame| self.lane_unit(frame));
        match unit {
            Some(unit) if !self.active.contains(&unit) => {
                self.waking.insert(unit);
            }
            Some(_) | None => self.queue(id),
        }
    }

    pub(super) fn count(&mut self, id: FrameId, counted: Option<&Counted>) {
        let Some(Counted { counter, key, value }) = counted else { return };
        if let Some(tallies) = self.tallies_mut(id, self.flow.counters[counter.at()].per) {
            tallies.insert((*counter, key.clone()), *value);
        }
    }

    fn tallies_mut(&mut self, id: FrameId, per: Holder) -> Option<&mut Tallies> {
        match per {
            Holder::Run => Some(&mut self.counters),
            Holder::Stage => self.frame_mut(id).map(|frame| &mut frame.counters),
            Holder::Scope(scope) => {
                let frame = self.frame(id)?;
                let holder = if frame.scope == scope { id } else { frame.parent? };
                self.frame_mut(holder).map(|frame| &mut frame.counters)
            }
        }
    }

    fn apply_move(&mut self, moved: &Moved) {
        let id = moved.frame;
        self.agenda.remove(&id);
        self.count(id, moved.count.as_ref());
        for counter in &moved.reset {
            if let Some(tallies) = self.tallies_mut(id, self.flow.counters[counter.at()].per) {
                tallies.retain(|(which, _), _| which != counter);
            }
        }
        let Some(frame) = self.frame(id) else { return };
        let subject = self.subject_of(frame).cloned();
        let unit = self.lane_unit(frame);
        for (scope, list) in &moved.add {
            let items = self.frame(id).and_then(|frame| frame.lists.get(list).cloned());
            let Some(items) = items else { continue };
            if *scope == ScopeIx::UNIT {
                let reads =
                    matches!(self.flow.stage(moved.stage).kind, Kind::Errand(Errand::Read { .. }));
                self.add_units(&items, unit);
                if let Some(unit) = unit.filter(|_| reads) {
                    self.rename(unit, &items);
                }
            } else {
                self.add_children(id, *scope, &items);
            }
        }
        if let Some(frame) = self.frame_mut(id) {
            for stage in &moved.waive {
                let evidence = Evidence { verdict: None, subject: subject.clone() };
                frame.evidence.insert(*stage, evidence);
            }
            if moved.context.is_some() || moved.go != Go::Again {
                frame.context.clone_from(&moved.context);
            }
        }
        self.outcome = moved.outcome.or(self.outcome);
        self.go(id, moved);
    }

    fn go(&mut self, id: FrameId, moved: &Moved) {
        match &moved.go {
            Go::To(stage) => self.enter(id, *stage),
            Go::Again => self.repeat(id),
            Go::Leave(how) => self.leave(id, *how),
            Go::Pause(stage) => {
                let asked = matches!(self.flow.stage(moved.stage).kind, Kind::Gate(_));
                self.hold(id, *stage, if asked { Why::Person } else { Why::Trouble });
            }
            Go::Rest(stage) => self.hold(id, *stage, Why::Rest),
            Go::Return(word) => self.return_to_parent(id, word),
            Go::Finish(outcome) => {
                if self.phase == Phase::Finale {
                    self.outcome = Some(*outcome);
                    self.leave(id, crate::workflow::Settled::Done);
                } else {
                    self.finish(*outcome);
                }
            }
        }
    }
}
