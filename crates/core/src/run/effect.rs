//! Effects: what should be under way, derived from the run and never stored.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    EffectId, FrameId, LaneIx,
    budget::Amount,
    input::{Item, Subject},
    scene::Scene,
    state::{Flight, Frame, PanelPhase, Phase, Run, Slot},
    step::role_of,
    text::fill,
    time::Stamp,
};
use crate::{
    value::Value,
    workflow::{Errand, Kind, ScopeIx, StageIx},
};

/// Something that should be under way, with everything the shell needs to know to do it.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// The stage it is for.
    pub stage: StageIx,
    /// The stage's name.
    pub name: Arc<str>,
    /// The unit it is for, if any.
    pub unit: Option<Arc<str>>,
    /// The child of the unit it is for, if any.
    pub child: Option<Arc<Item>>,
    /// The unit's lane; the run's own stages have none.
    pub lane: Option<LaneIx>,
    /// The how-manieth visit to the stage this is.
    pub visit: u32,
    /// What to do.
    pub kind: EffectKind,
    /// Values passed along; what is Unknown is left out.
    pub with: BTreeMap<String, Value>,
    /// The artifacts that reach it; empty means whatever the role itself names.
    pub sees: Vec<String>,
    /// More context, for another attempt.
    pub context: Option<Arc<str>>,
    /// What the lane holds, as far as known: what a check must run on.
    pub subject: Option<Subject>,
    /// What an agent may use up before it is stopped: the reservation less one request.
    pub spend: Amount,
    /// All that is set aside for it.
    pub set_aside: Amount,
    /// How many turns an agent may take, if that is limited.
    pub turns: Option<u32>,
    /// When it will have taken too long, by the run's own clock.
    pub deadline_ms: Option<u64>,
    /// When it was first wanted: what is made on its behalf carries this date, so that doing it again makes the same.
    pub since: Stamp,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EffectKind {
    /// Invoke an agent.
    Invoke {
        /// With this role.
        role: String,
        /// By this agent, if the stage says; else whatever the configuration says.
        agent: Option<String>,
        /// A panel's phase, and which member this is.
        panel: Option<(PanelPhase, u16)>,
        /// Whether it may change files.
        edits: bool,
        /// The conversation that it goes on with, if there is one by now.
        session: Option<String>,
    },
    /// Do something without an agent.
    Errand(Errand),
}

impl EffectKind {
    /// What a definition calls it.
    pub fn name(&self) -> &'static str {
        match self {
            EffectKind::Invoke { .. } => "role",
            EffectKind::Errand(errand) => errand.name(),
        }
    }
}

impl Run {
    /// The effects that should be under way now. Cancelling is set difference.
    pub fn wants(&self) -> BTreeMap<EffectId, Effect> {
        self.flights.iter().filter_map(|(id, flight)| Some((*id, self.describe(flight)?))).collect()
    }

    /// The ids of the effects that should be under way now.
    pub fn wanted(&self) -> impl Iterator<Item = EffectId> + '_ {
        self.flights.keys().copied()
    }

    /// One effect that should be under way.
    pub fn want(&self, id: EffectId) -> Option<Effect> {
        self.describe(self.flights.get(&id)?)
    }

    /// The same as [`Run::wanted`], worked out from the frames alone. The simulator holds the two
    /// against each other after every event.
    pub fn wanted_from_scratch(&self) -> Vec<EffectId> {
        let mut wanted: Vec<EffectId> = self
            .frames
            .values()
            .flat_map(|frame| &frame.work.slots)
            .filter_map(|slot| match slot {
                Slot::Flying(id) => Some(*id),
                Slot::Idle | Slot::Parked(_) | Slot::Done(_) | Slot::Mishap(_) => None,
            })
            .collect();
        wanted.sort_unstable();
        if self.outcome == Some(crate::workflow::RunOutcome::Cancelled)
            && self.phase == Phase::Finishing
        {
            wanted.retain(|id| self.landings.contains(id));
        }
        wanted
    }

    /// The next moment at which a `Tick` changes something, by the run's own clock. The only
    /// timer there is.
    pub fn next_deadline(&self) -> Option<u64> {
        self.timers.next()
    }

    /// When the first provider that serves nobody now will serve again, by the wall clock.
    pub fn served_again_at(&self) -> Option<i64> {
        let slots = self.frames.values().flat_map(|frame| &frame.work.slots);
        let parked = slots.filter_map(|slot| match slot {
            Slot::Parked(parking) => Some(parking.reset_wall_ms),
            Slot::Idle | Slot::Flying(_) | Slot::Done(_) | Slot::Mishap(_) => None,
        });
        parked.min()
    }

    /// Slots whose provider serves again by the wall clock, whatever the run's own says.
    pub(super) fn reset_by(&self, now: Stamp) -> Vec<(FrameId, u16)> {
        let mut reset = Vec::new();
        for (id, frame) in &self.frames {
            for (at, slot) in (0..).zip(&frame.work.slots) {
                if let Slot::Parked(parking) = slot
                    && now.wall_ms >= parking.reset_wall_ms
                    && now.mono_ms >= parking.probe_ms
                {
                    reset.push((*id, at));
                }
            }
        }
        reset
    }

    /// The child that a frame is about, if it is one's.
    pub(super) fn child_of(&self, frame: &Frame) -> Option<Arc<Item>> {
        if !frame.scope.is_child() {
            return None;
        }
        let parent = self.frame(frame.parent?)?;
        let child = parent.children.get(&frame.scope)?.get(frame.child? as usize)?;
        Some(child.item.clone())
    }

    fn describe(&self, flight: &Flight) -> Option<Effect> {
        let frame = self.frame(flight.frame)?;
        let ix = frame.stage?;
        let stage = self.flow.stage(ix);
        let unit = self.lane_unit(frame).and_then(|unit| self.unit(unit));
        let scene = Scene::of(self, frame);
        let invoke = |role: &str, panel| EffectKind::Invoke {
            role: role.to_owned(),
            agent: if let Kind::Role { agents, .. } = &stage.kind {
                agents.get(usize::from(frame.work.agent)).cloned()
            } else {
                None
            },
            panel,
            edits: stage.edits,
            session: if let Kind::Role { session, .. } = &stage.kind {
                session.clone()
            } else {
                None
            },
        };
        let kind = match &stage.kind {
            Kind::Role { role, .. } => invoke(role, None),
            Kind::Panel { .. } => {
                let phase = frame.work.phase;
                let role = role_of(stage, phase, usize::from(flight.slot))?;
                invoke(role, Some((phase, flight.slot)))
            }
            Kind::Errand(Errand::Save { how, label, trailers, from }) => {
                EffectKind::Errand(Errand::Save {
                    how: *how,
                    label: label.as_ref().map(|label| fill(self, frame, label)),
                    trailers: trailers.iter().map(|trailer| fill(self, frame, trailer)).collect(),
                    from: *from,
                })
            }
            Kind::Errand(errand) => EffectKind::Errand(errand.clone()),
            Kind::Gate(_) | Kind::Each { .. } | Kind::Decide(_) => return None,
        };
        Some(Effect {
            stage: ix,
            name: stage.name.as_str().into(),
            unit: unit.map(|unit| unit.item.id.clone()),
            child: self.child_of(frame),
            lane: if frame.scope == ScopeIx::BETWEEN { None } else { unit.and_then(|u| u.lane) },
            visit: frame.runs.get(&ix).copied().unwrap_or(0),
            kind,
            with: stage
                .with
                .iter()
                .filter_map(|(name, expr)| Some((name.clone(), expr.eval(&scene)?)))
                .collect(),
            sees: stage.sees.clone(),
            context: frame.context.clone(),
            subject: flight.subject.clone(),
            spend: flight.reserved.minus(self.settings.caps.invocation.request),
            set_aside: flight.reserved,
            turns: self.settings.caps.invocation.iterations,
            deadline_ms: flight.deadline_ms,
            since: flight.since,
        })
    }
}
