//! How frames advance when events are applied: into stages, through effects, out of scopes.

use std::sync::Arc;

use imbl::{OrdMap, OrdSet, Vector};

use super::{
    EffectId, FrameId, GateId, UnitIx,
    budget::Amount,
    claims::Claims,
    event::{Ending, PolicyAnswer, Why},
    input::{Ended, Item, Subject},
    state::{
        Child, Evidence, Flight, Frame, Parking, Phase, Position, Run, Slot, Work, phase_after,
        slots_in,
    },
    time::PARK_MS_MIN,
    timer::{Timer, Timers},
};
use crate::workflow::{
    Holder, Kind, ListRef, Mishap, RunOutcome, ScopeIx, Settled, StageIx, VerdictIx,
};

impl Run {
    pub(super) fn enter(&mut self, id: FrameId, stage: StageIx) {
        self.agenda.remove(&id);
        self.dispatch.remove(&id);
        if let Some(frame) = self.frame_mut(id) {
            frame.position = Position::Entering(stage);
        }
        self.rejoin(id);
    }

    /// A new visit to a stage.
    pub(super) fn arrive(&mut self, id: FrameId, ix: StageIx) {
        self.agenda.remove(&id);
        let flow = self.flow.clone();
        let stage = flow.stage(ix);
        let Some(frame) = self.frame_mut(id) else { return };
        frame.stage = Some(ix);
        *frame.runs.entry(ix).or_default() += 1;
        frame.evidence.remove(&ix);
        frame.counters.retain(|(counter, _), _| flow.counters[counter.at()].per != Holder::Stage);
        frame.work = Work::default();
        frame.recorded = false;
        frame.position = match &stage.kind {
            Kind::Gate(_) | Kind::Decide(_) => Position::Pending,
            Kind::Each { scope, from } => {
                expand(frame, *scope, from.as_ref());
                Position::Pending
            }
            Kind::Role { .. } | Kind::Panel { .. } | Kind::Errand(_) => {
                frame.work.slots = vec![Slot::Idle; slots_in(stage, frame.work.phase)];
                Position::Working
            }
        };
        let parent = if frame.scope.is_child() { frame.parent } else { None };
        if let Some(parent) = parent.and_then(|id| self.frame_mut(id)) {
            *parent.runs.entry(ix).or_default() += 1;
        }
        self.queue(id);
    }

    /// A stage is passed through on the verdict it came to before.
    pub(super) fn uphold(&mut self, id: FrameId, ix: StageIx, verdict: VerdictIx) {
        self.agenda.remove(&id);
        if let Some(frame) = self.frame_mut(id) {
            frame.stage = Some(ix);
            frame.work = Work::default();
            frame.recorded = false;
            frame.position = Position::Judged(verdict);
        }
        self.queue(id);
    }

    pub(super) fn add_children(&mut self, id: FrameId, scope: ScopeIx, items: &[Item]) {
        if let Some(frame) = self.frame_mut(id) {
            merge(frame.children.entry(scope).or_default(), items, true);
        }
    }

    /// The same visit once more: what is finished stays finished.
    pub(super) fn repeat(&mut self, id: FrameId) {
        let flow = self.flow.clone();
        let Some(frame) = self.frame_mut(id) else { return };
        let Some(ix) = frame.stage else { return };
        let stage = flow.stage(ix);
        if matches!(stage.kind, Kind::Gate(_) | Kind::Decide(_) | Kind::Each { .. }) {
            frame.position = Position::Pending;
        } else {
            for slot in &mut frame.work.slots {
                if !matches!(slot, Slot::Done(_)) {
                    *slot = Slot::Idle;
                }
            }
            // A verdict of all, or a person's, that leads back here: nothing is left to keep.
            if frame.work.slots.iter().all(|slot| matches!(slot, Slot::Done(_))) {
                frame.work.slots = vec![Slot::Idle; slots_in(stage, frame.work.phase)];
            }
            frame.position = Position::Working;
        }
        self.queue(id);
    }

    pub(super) fn take_off(
        &mut self,
        effect: EffectId,
        id: FrameId,
        slot: u16,
        reserved: Amount,
        deadline_ms: Option<u64>,
    ) {
        self.next_effect = effect.0 + 1;
        let now = self.now.mono_ms;
        let Some(frame) = self.frame(id) else { return };
        let unit = self.lane_unit(frame);
        let subject = self.subject_of(frame).cloned();
        let kind = self.stage_at(frame).map(|stage| &stage.kind);
        let invocation = matches!(kind, Some(Kind::Role { .. } | Kind::Panel { .. }));
        if kind.is_some_and(Kind::lands) {
            self.landings.insert(effect);
        }
        if let Some(frame) = self.frame_mut(id) {
            if let Some(place) = frame.work.slots.get_mut(usize::from(slot)) {
                *place = Slot::Flying(effect);
            }
            if !frame.work.slots.contains(&Slot::Idle) {
                self.dispatch.remove(&id);
            }
        }
        self.purse.open(reserved, invocation, now);
        if let Some(unit) = unit.and_then(|unit| self.unit_mut(unit)) {
            unit.purse.open(reserved, invocation, now);
        }
        if let Some(at) = deadline_ms {
            self.timers.set(at, Timer::Effect(effect));
        }
        let since = self.now;
        self.flights.insert(
            effect,
            Flight { frame: id, slot, unit, reserved, deadline_ms, subject, since },
        );
    }

    /// Gives an effect that had to wait its turn until then, counted from now.
    pub(super) fn put_off(&mut self, effect: EffectId, deadline_ms: Option<u64>) {
        let Some(flight) = self.flights.get_mut(&effect) else { return };
        let before = std::mem::replace(&mut flight.deadline_ms, deadline_ms);
        if let Some(at) = before {
            self.timers.stop(at, Timer::Effect(effect));
        }
        if let Some(at) = deadline_ms {
            self.timers.set(at, Timer::Effect(effect));
        }
    }

    /// Takes an effect out of those under way, and settles what was set aside for it.
    fn ground(&mut self, effect: EffectId, settled: Amount) -> Option<Flight> {
        let flight = self.flights.remove(&effect)?;
        let now = self.now.mono_ms;
        self.purse.close(flight.reserved, settled, now);
        if let Some(unit) = flight.unit.and_then(|unit| self.unit_mut(unit)) {
            unit.purse.close(flight.reserved, settled, now);
        }
        if let Some(at) = flight.deadline_ms {
            self.timers.stop(at, Timer::Effect(effect));
        }
        self.landings.remove(&effect);
        Some(flight)
    }

    pub(super) fn touch_down(&mut self, ending: &Ending) {
        let Some(flight) = self.ground(ending.effect, ending.settled) else { return };
        if !ending.overrun.is_zero() {
            self.overrun = true;
            self.overruns += 1;
        }
        let id = flight.frame;
        let (flow, now_ms) = (self.flow.clone(), self.now.mono_ms);
        let Some(frame) = self.frame_mut(id) else { return };
        let Some(ix) = frame.stage else { return };
        let slot = match &ending.ended {
            Ended::Verdict(name) => {
                frame.facts.extend(ending.facts.iter().cloned());
                for (name, items) in &ending.lists {
                    let list = ListRef { stage: ix, name: name.clone() };
                    frame.lists.insert(list, Arc::from(items.clone()));
                }
                Slot::Done(name.clone())
            }
            Ended::Mishap(mishap) => Slot::Mishap(*mishap),
            Ended::Limited(reset_wall_ms) => {
                let until_ms = ending.park_until_ms.unwrap_or_default();
                self.timers.set(until_ms, Timer::Slot(id, flight.slot));
                let probe_ms = now_ms.saturating_add(PARK_MS_MIN);
                Slot::Parked(Parking { until_ms, probe_ms, reset_wall_ms: *reset_wall_ms })
            }
            Ended::HandedOver | Ended::Lost => Slot::Idle,
        };
        if let Some(frame) = self.frame_mut(id)
            && let Some(place) = frame.work.slots.get_mut(usize::from(flight.slot))
        {
            *place = slot;
        }
        let looked_at = flight.subject.clone().or_else(|| ending.subject.clone());
        self.note_subject(&flow.stage(ix).kind, flow.stage(ix).edits, &flight, ending);
        self.conclude(id, looked_at);
    }

    /// What the lane holds after an effect.
    fn note_subject(&mut self, kind: &Kind, edits: bool, flight: &Flight, ending: &Ending) {
        let said = |word: &str| matches!(&ending.ended, Ended::Verdict(v) if v.as_ref() == word);
        let land = kind.lands();
        if land && said("landed") {
            match flight.unit.and_then(|unit| self.unit_mut(unit)) {
                Some(unit) => {
                    unit.landed = true;
                    // What the run itself looks at next is the branch with this in it. Nothing of its own is lost: it
                    // makes nothing before its finale, and no unit lands then.
                    self.subject = None;
                }
                None => self.landed = true,
            }
            return;
        }
        let changed = edits || (land && (said("moved") || said("conflict") || said("fail")));
        if changed && ending.ended != Ended::Lost {
            // Without a word on what the lane holds now, it holds something nobody has looked at.
            let nobody_knows = || {
                let mark: Arc<str> = Arc::from(format!("?{}", ending.effect.0));
                Subject { tree: mark.clone(), change: mark }
            };
            let now = ending.subject.clone().unwrap_or_else(nobody_knows);
            self.set_subject(flight.unit, Some(now));
        } else if !changed
            && flight.subject.is_none()
            && matches!(ending.ended, Ended::Verdict(_))
            && ending.subject.is_some()
        {
            // Who comes to a verdict first says what the lane holds; a crash or a loss says nothing.
            self.set_subject(flight.unit, ending.subject.clone());
        }
    }

    /// Sees whether a stage has come to a verdict.
    fn conclude(&mut self, id: FrameId, looked_at: Option<Subject>) {
        let flow = self.flow.clone();
        let Some(frame) = self.frame_mut(id) else { return };
        let Some(ix) = frame.stage else { return };
        let stage = flow.stage(ix);
        let slots = &frame.work.slots;
        let open = |slot: &Slot| matches!(slot, Slot::Idle | Slot::Flying(_) | Slot::Parked(_));
        if slots.iter().any(open) {
            self.queue_idle(id);
            return;
        }
        let mishap = slots.iter().find_map(|slot| match slot {
            Slot::Mishap(mishap) => Some(*mishap),
            Slot::Idle | Slot::Flying(_) | Slot::Parked(_) | Slot::Done(_) => None,
        });
        if mishap.is_none()
            && let Some(phase) = phase_after(stage, frame.work.phase)
        {
            frame.work.phase = phase;
            frame.work.slots = vec![Slot::Idle; slots_in(stage, phase)];
            self.queue_idle(id);
            return;
        }
        let agreed = match (mishap, slots.first()) {
            (None, Some(first @ Slot::Done(name))) if slots.iter().all(|slot| slot == first) => {
                stage.verdict_named(name)
            }
            (None | Some(_), Some(_) | None) => None,
        };
        let trouble = mishap.unwrap_or(Mishap::Unknown).name();
        match agreed.or_else(|| stage.verdict_named(trouble)) {
            Some(verdict) => self.judge(id, ix, verdict, looked_at),
            None => self.hold(id, ix, Why::Trouble),
        }
    }

    fn queue_idle(&mut self, id: FrameId) {
        if self.frame(id).is_some_and(|frame| frame.work.slots.contains(&Slot::Idle)) {
            self.queue(id);
        }
    }

    /// A stage has come to a verdict, about what it looked at (or else what the lane holds).
    pub(super) fn judge(
        &mut self,
        id: FrameId,
        ix: StageIx,
        verdict: VerdictIx,
        looked_at: Option<Subject>,
    ) {
        let Some(frame) = self.frame(id) else { return };
        let stage = self.flow.stage(ix);
        let proves = stage.kind.proves();
        let subject = looked_at.or_else(|| self.subject_of(frame).cloned());
        let subject = if stage.edits { self.subject_of(frame).cloned() } else { subject };
        let Some(frame) = self.frame_mut(id) else { return };
        frame.stage = Some(ix);
        frame.position = Position::Judged(verdict);
        frame.last.insert(ix, verdict);
        if proves {
            frame.evidence.insert(ix, Evidence { verdict: Some(verdict), subject });
        }
        self.rejoin(id);
    }

    pub(super) fn fall_back(&mut self, id: FrameId, agent: u16) {
        self.agenda.remove(&id);
        if let Some(frame) = self.frame_mut(id) {
            frame.work.agent = agent;
        }
        self.repeat(id);
    }

    pub(super) fn unpark(&mut self, id: FrameId, slot: u16) {
        if let Some(frame) = self.frame_mut(id)
            && let Some(place) = frame.work.slots.get_mut(usize::from(slot))
            && let Slot::Parked(parking) = *place
        {
            *place = Slot::Idle;
            self.timers.stop(parking.until_ms, Timer::Slot(id, slot));
        }
        self.queue(id);
    }

    pub(super) fn ask(&mut self, gate: GateId, id: FrameId, policy: Option<&PolicyAnswer>) {
        self.agenda.remove(&id);
        let Some(frame) = self.frame_mut(id) else { return };
        let Some(ix) = frame.stage else { return };
        frame.recorded = policy.is_some_and(|policy| policy.record.is_some());
        frame.position = Position::Asking(gate);
        if let Some(policy) = policy {
            self.judge(id, ix, policy.verdict, None);
            return;
        }
        self.gates.insert(gate, id);
        self.give_up_place(id);
    }

    pub(super) fn answer(
        &mut self,
        gate: GateId,
        verdict: VerdictIx,
        lane_holds: Option<&Subject>,
    ) {
        let Some(id) = self.gates.remove(&gate) else { return };
        if let (Some(subject), Some(frame)) = (lane_holds, self.frame(id)) {
            let unit = self.lane_unit(frame);
            self.set_subject(unit, Some(subject.clone()));
        }
        if let Some(ix) = self.frame(id).and_then(|frame| frame.stage) {
            self.judge(id, ix, verdict, None);
        }
    }

    /// A unit that waits for a person leaves its place to others.
    fn give_up_place(&mut self, id: FrameId) {
        if let Some(unit) = self.frame(id).and_then(|frame| self.lane_unit(frame)) {
            self.active.remove(&unit);
        }
    }

    pub(super) fn hold(&mut self, id: FrameId, resume_at: StageIx, why: Why) {
        self.agenda.remove(&id);
        self.dispatch.remove(&id);
        if let Some(frame) = self.frame_mut(id) {
            frame.position = Position::Held(resume_at);
            self.held.insert(id, why);
        }
        self.give_up_place(id);
    }

    pub(super) fn resume(&mut self, id: FrameId) {
        let why = self.held.remove(&id);
        let Some(frame) = self.frame_mut(id) else { return };
        let Position::Held(stage) = frame.position else { return };
        match why {
            // These were about to act: they try again where they are.
            Some(Why::Broke | Why::Unproved(_) | Why::LandedAlready) => {
                frame.position = Position::Working;
            }
            Some(Why::Person | Why::Rest | Why::Trouble) | None => {
                frame.position = Position::Entering(stage);
            }
        }
        self.rejoin(id);
    }

    pub(super) fn return_to_parent(&mut self, id: FrameId, word: &str) {
        let Some(parent) = self.close_child(id) else { return };
        let Some(ix) = self.frame(parent).and_then(|frame| frame.stage) else { return };
        match self.flow.stage(ix).verdict_named(word) {
            Some(verdict) => self.judge(parent, ix, verdict, None),
            None => self.hold(parent, ix, Why::Trouble),
        }
    }

    fn close_child(&mut self, id: FrameId) -> Option<FrameId> {
        self.agenda.remove(&id);
        self.dispatch.remove(&id);
        self.held.remove(&id);
        let frame = self.frames.remove(&id)?;
        let parent = frame.parent?;
        if let Some(unit) = frame.unit.and_then(|unit| self.unit_mut(unit)) {
            unit.leaf = Some(parent);
        }
        Some(parent)
    }

    /// A frame leaves its scope.
    pub(super) fn leave(&mut self, id: FrameId, how: Settled) {
        self.agenda.remove(&id);
        self.dispatch.remove(&id);
        let Some(frame) = self.frame_mut(id) else { return };
        frame.position = Position::Closed;
        let (scope, child, unit) = (frame.scope, frame.child, frame.unit);
        match scope {
            ScopeIx::INTAKE => self.phase = Phase::Units,
            ScopeIx::UNIT => {
                if let Some(unit) = unit {
                    self.settle_unit(unit, how);
                }
            }
            ScopeIx::BETWEEN => {
                self.frames.remove(&id);
                self.between = None;
                if let Some(unit) = unit {
                    self.drop_unit_frame(unit);
                }
            }
            ScopeIx::FINALE => self.finale = None,
            _ => {
                let Some(parent) = self.close_child(id) else { return };
                if let Some(frame) = self.frame_mut(parent) {
                    let settled = frame
                        .children
                        .get_mut(&scope)
                        .and_then(|children| children.get_mut(child? as usize));
                    if let Some(child) = settled {
                        child.settled = Some(how);
                    }
                    frame.position = Position::Pending;
                }
                self.queue(parent);
            }
        }
    }

    /// No unit starts or goes on; what is under way comes to its end.
    pub(super) fn finish(&mut self, outcome: RunOutcome) {
        self.phase = Phase::Finishing;
        self.outcome = Some(outcome);
        self.agenda = OrdSet::new();
        self.dispatch = OrdSet::new();
        self.gates = OrdMap::new();
        self.waking = OrdSet::new();
    }

    /// Ends everything but landings under way, which nobody can take back.
    pub(super) fn cancel(&mut self) {
        let landings = self.landings.clone();
        let flying: Vec<(EffectId, Amount)> =
            self.flights.iter().map(|(id, flight)| (*id, flight.reserved)).collect();
        for (effect, reserved) in flying {
            if !landings.contains(&effect) {
                self.ground(effect, reserved);
            }
        }
        self.finish(RunOutcome::Cancelled);
    }

    pub(super) fn open_finale(&mut self, id: FrameId, outcome: RunOutcome) {
        self.clear_units();
        self.phase = Phase::Finale;
        self.outcome = Some(outcome);
        self.finale = Some(id);
        self.add_frame(id, Frame::new(ScopeIx::FINALE));
        self.begin_scope(id, ScopeIx::FINALE);
    }

    /// Forgets everything but what the intake found: no unit goes on from here.
    pub(super) fn clear_units(&mut self) {
        let intake = self.intake;
        let others: Vec<(FrameId, Option<UnitIx>)> = self
            .frames
            .iter()
            .filter(|(id, _)| **id != intake)
            .map(|(id, frame)| (*id, frame.unit))
            .collect();
        for (id, unit) in others {
            self.frames.remove(&id);
            if let Some(unit) = unit.and_then(|unit| self.unit_mut(unit)) {
                unit.frame = None;
                unit.leaf = None;
            }
        }
        self.between = None;
        self.finale = None;
        self.ready = OrdSet::new();
        self.doomed = OrdMap::new();
        self.claims = Claims::default();
        self.active = OrdSet::new();
        self.waking = OrdSet::new();
        self.lanes = OrdSet::new();
        self.settled = Vector::new();
        self.agenda = OrdSet::new();
        self.dispatch = OrdSet::new();
        self.timers = Timers::default();
        self.gates = OrdMap::new();
        self.held = OrdMap::new();
    }

    /// Stops whatever a unit is doing; its own frame is in control again.
    pub(super) fn abandon_unit(&mut self, unit: UnitIx) {
        let frame = self.unit(unit).and_then(|unit| unit.frame);
        if let Some(frame) = frame {
            self.abandon_frame(frame);
        }
    }

    /// Stops whatever a frame, or its child, is doing.
    pub(super) fn abandon_frame(&mut self, id: FrameId) {
        let leaf = self
            .frame(id)
            .and_then(|frame| self.lane_unit(frame))
            .and_then(|unit| self.unit(unit)?.leaf)
            .filter(|leaf| *leaf != id);
        for id in leaf.into_iter().chain([id]) {
            self.stop_work(id);
        }
        if let Some(leaf) = leaf {
            self.close_child(leaf);
        }
    }

    fn stop_work(&mut self, id: FrameId) {
        self.agenda.remove(&id);
        self.dispatch.remove(&id);
        self.held.remove(&id);
        let Some(frame) = self.frame_mut(id) else { return };
        let slots = std::mem::take(&mut frame.work.slots);
        if let Position::Asking(gate) = frame.position {
            self.gates.remove(&gate);
        }
        for (slot, state) in (0..).zip(slots) {
            match state {
                Slot::Flying(effect) => {
                    let reserved = self.flights.get(&effect).map(|flight| flight.reserved);
                    self.ground(effect, reserved.unwrap_or_default());
                }
                Slot::Parked(parking) => {
                    self.timers.stop(parking.until_ms, Timer::Slot(id, slot));
                }
                Slot::Idle | Slot::Done(_) | Slot::Mishap(_) => {}
            }
        }
    }
}

/// Brings a unit's children up to date with the list they are read from: what is done stays done,
/// what failed runs again, what a person took off the list is dropped.
fn expand(frame: &mut Frame, scope: ScopeIx, from: Option<&ListRef>) {
    let items = from.and_then(|list| frame.lists.get(list)).cloned();
    let children = frame.children.entry(scope).or_default();
    if let Some(items) = items {
        children.retain(|child| {
            child.added
                || child.settled == Some(Settled::Done)
                || items.iter().any(|item| item.id == child.item.id)
        });
        merge(children, &items, false);
    }
    for child in children {
        if child.settled == Some(Settled::Failed) {
            child.settled = None;
        }
    }
}

fn merge(children: &mut Vec<Child>, items: &[Item], added: bool) {
    for item in items {
        match children.iter_mut().find(|child| child.item.id == item.id) {
            Some(child) => child.item = Arc::new(item.clone()),
            None => {
                children.push(Child { item: Arc::new(item.clone()), settled: None, added });
            }
        }
    }
}
