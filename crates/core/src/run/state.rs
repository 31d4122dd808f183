//! What a run is: frames, units, and the indices that keep every step cheap.
//!
//! The containers that grow with the number of units are persistent ones, so that `decide` can
//! work on its own copy of the run without copying it.

use std::{collections::BTreeMap, sync::Arc};

use imbl::{OrdMap, OrdSet, Vector};
use serde::{Deserialize, Serialize};

use super::{
    EffectId, FrameId, GateId, LaneIx, UnitIx,
    budget::{Amount, Purse},
    claims::Claims,
    event::Why,
    input::{Item, Settings, Subject},
    time::Stamp,
    timer::Timers,
};
use crate::{
    value::Value,
    workflow::{
        CounterIx, FactIx, Kind, ListRef, Mishap, RunOutcome, ScopeIx, Settled, Stage, StageIx,
        VerdictIx, Workflow,
    },
};

/// A run: what its journal folds to. Written down it carries its definition's text, and read back it is loaded from
/// that, so that a snapshot is as good as the journal up to there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    #[serde(with = "definition")]
    pub(super) flow: Arc<Workflow>,
    pub(super) id: Arc<str>,
    pub(super) inputs: Arc<[Option<Value>]>,
    pub(super) entry: Option<StageIx>,
    pub(super) settings: Arc<Settings>,
    /// The number of events so far.
    pub(super) seq: u64,
    pub(super) now: Stamp,

    pub(super) phase: Phase,
    pub(super) outcome: Option<RunOutcome>,
    pub(super) stopping: bool,
    pub(super) paused: bool,
    /// An overrun happened: nothing more is bought until a person raises the caps.
    pub(super) overrun: bool,
    pub(super) overruns: u32,
    pub(super) landed: bool,
    /// What the run's own lane holds, once somebody has looked, until a unit lands.
    pub(super) subject: Option<Subject>,
    pub(super) counters: Tallies,
    pub(super) purse: Purse,

    pub(super) frames: OrdMap<FrameId, Arc<Frame>>,
    pub(super) next_frame: u32,
    pub(super) next_effect: u64,
    pub(super) next_gate: u32,
    pub(super) intake: FrameId,
    pub(super) between: Option<FrameId>,
    pub(super) finale: Option<FrameId>,

    pub(super) units: Vector<Arc<Unit>>,
    pub(super) unit_ids: OrdMap<Arc<str>, UnitIx>,
    pub(super) tally: Tally,
    /// Pending units that nothing holds back, first come first.
    pub(super) ready: OrdSet<(i64, UnitIx)>,
    /// Pending units that can never start: something they depend on did not get done.
    pub(super) doomed: OrdMap<UnitIx, UnitIx>,
    pub(super) claims: Claims,
    /// Units that have a place.
    pub(super) active: OrdSet<UnitIx>,
    /// Units that want their place back.
    pub(super) waking: OrdSet<UnitIx>,
    /// Lanes in use, by units that have started and not settled.
    pub(super) lanes: OrdSet<LaneIx>,
    /// Units that settled and whose `between` is still to come.
    pub(super) settled: Vector<UnitIx>,

    /// Frames with something to decide at once.
    pub(super) agenda: OrdSet<FrameId>,
    /// Frames with an effect to be wanted.
    pub(super) dispatch: OrdSet<FrameId>,
    /// Landings under way: one, or those in the queue.
    pub(super) landings: OrdSet<EffectId>,
    pub(super) flights: OrdMap<EffectId, Flight>,
    pub(super) timers: Timers,
    pub(super) gates: OrdMap<GateId, FrameId>,
    pub(super) held: OrdMap<FrameId, Why>,
}

/// Where a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// Before any unit.
    Intake,
    /// Units are worked on.
    Units,
    /// No unit starts or goes on; what is under way comes to its end.
    Finishing,
    /// The last scope.
    Finale,
    /// Over.
    Ended,
}

/// How many units there are, and how they settled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// All of them.
    pub total: u32,
    /// Settled as done.
    pub done: u32,
    /// Settled as failed.
    pub failed: u32,
    /// Settled as skipped.
    pub skipped: u32,
    /// Settled as blocked.
    pub blocked: u32,
}

impl Tally {
    /// Those not settled.
    pub fn left(&self) -> u32 {
        self.total - self.done - self.failed - self.skipped - self.blocked
    }
}

/// Counters with their tallies; one that is missing stands at `from`.
pub(super) type Tallies = BTreeMap<(CounterIx, Option<Arc<str>>), u32>;

/// A scope under way for some holder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Frame {
    pub scope: ScopeIx,
    /// A child's unit frame; for `between`, the frame of the unit that settled.
    pub parent: Option<FrameId>,
    /// The unit this frame works on, or for `between` the one that settled.
    pub unit: Option<UnitIx>,
    /// A child's place among its unit's children.
    pub child: Option<u32>,
    /// The stage it is at.
    pub stage: Option<StageIx>,
    pub position: Position,
    pub work: Work,
    /// More context for the next attempt.
    pub context: Option<Arc<str>>,
    /// The policy that answered recorded a decision, which stands for the option's own.
    pub recorded: bool,
    /// How often each stage was entered; in a unit's frame, its children's stages too.
    pub runs: BTreeMap<StageIx, u32>,
    pub last: BTreeMap<StageIx, VerdictIx>,
    pub counters: Tallies,
    pub facts: BTreeMap<FactIx, Value>,
    pub lists: BTreeMap<ListRef, Arc<[Item]>>,
    pub evidence: BTreeMap<StageIx, Evidence>,
    /// A unit's children, by scope.
    pub children: BTreeMap<ScopeIx, Vec<Child>>,
}

/// Where a frame stands with its stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Position {
    /// About to enter a stage.
    Entering(StageIx),
    /// At a stage that is decided at once: a decide, an unasked gate, an each between children.
    Pending,
    /// Effects are to be wanted, or under way.
    Working,
    /// The stage has come to a verdict.
    Judged(VerdictIx),
    /// A gate is open.
    Asking(GateId),
    /// A child runs.
    Expanded,
    /// Waits for a person; goes on at this stage.
    Held(StageIx),
    /// Over.
    Closed,
}

/// The effects of one visit to a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Work {
    /// A panel's phase: proposals, critiques, synthesis.
    pub phase: PanelPhase,
    pub slots: Vec<Slot>,
    /// The agent in use, in the stage's list.
    pub agent: u16,
}

/// A panel goes through up to three.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum PanelPhase {
    /// Each member on its own.
    #[default]
    Propose,
    /// Each member on the others' work.
    Critique,
    /// One of it all.
    Synthesise,
}

/// One effect's place in a stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Slot {
    Idle,
    Flying(EffectId),
    Parked(Parking),
    Done(Arc<str>),
    Mishap(Mishap),
}

/// How long a slot waits for a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Parking {
    /// When it is tried again, by the run's own clock.
    pub until_ms: u64,
    /// Not before this, by the same clock.
    pub probe_ms: u64,
    /// When the provider serves again, by the wall clock. That clock goes on while nobody is there and while the machine
    /// sleeps, so it may be the earlier one; should it be wrong, one request too many is refused.
    pub reset_wall_ms: i64,
}

/// A child of a unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Child {
    pub item: Arc<Item>,
    pub settled: Option<Settled>,
    /// Taken up by a move, so not dropped when the list is read again.
    pub added: bool,
}

/// What a stage has shown, and about what exactly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Evidence {
    /// The verdict; `None` for a person's waiver.
    pub verdict: Option<VerdictIx>,
    pub subject: Option<Subject>,
}

/// A piece of work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Unit {
    pub item: Arc<Item>,
    pub facts: BTreeMap<FactIx, Value>,
    pub origin: Option<UnitIx>,
    pub generation: u32,
    /// Units it depends on that have not settled.
    pub waits_for: u32,
    pub dependents: Vec<UnitIx>,
    pub rank: i64,
    pub status: UnitStatus,
    /// The unit that it depends on and that was not done, for a blocked one.
    #[serde(default)]
    pub because: Option<UnitIx>,
    /// Its own frame, from its start until its `between` is over.
    pub frame: Option<FrameId>,
    /// The frame in control: its own or a child's.
    pub leaf: Option<FrameId>,
    pub lane: Option<LaneIx>,
    pub landed: bool,
    pub subject: Option<Subject>,
    pub purse: Purse,
}

/// Where a unit stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UnitStatus {
    /// It has not started.
    Pending,
    /// It is under way, or held.
    Started,
    /// It has settled.
    Settled(Settled),
}

/// An effect that is wanted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Flight {
    pub frame: FrameId,
    pub slot: u16,
    pub unit: Option<UnitIx>,
    pub reserved: Amount,
    pub deadline_ms: Option<u64>,
    /// What it works on, so that its report can be held to it.
    pub subject: Option<Subject>,
    pub since: Stamp,
}

impl Frame {
    pub fn new(scope: ScopeIx) -> Self {
        Frame {
            scope,
            parent: None,
            unit: None,
            child: None,
            stage: None,
            position: Position::Closed,
            work: Work::default(),
            context: None,
            recorded: false,
            runs: BTreeMap::new(),
            last: BTreeMap::new(),
            counters: Tallies::new(),
            facts: BTreeMap::new(),
            lists: BTreeMap::new(),
            evidence: BTreeMap::new(),
            children: BTreeMap::new(),
        }
    }
}

/// How many slots a stage has in a phase, and whether another phase follows.
pub(super) fn slots_in(stage: &Stage, phase: PanelPhase) -> usize {
    if let Kind::Panel { roles, .. } = &stage.kind
        && phase != PanelPhase::Synthesise
    {
        roles.len()
    } else {
        1
    }
}

/// The phase after this one, for a panel that has one.
pub(super) fn phase_after(stage: &Stage, phase: PanelPhase) -> Option<PanelPhase> {
    let Kind::Panel { critique, synthesis, .. } = &stage.kind else {
        return None;
    };
    let synthesis = synthesis.as_ref().map(|_| PanelPhase::Synthesise);
    match phase {
        PanelPhase::Propose if critique.is_some() => Some(PanelPhase::Critique),
        PanelPhase::Propose | PanelPhase::Critique => synthesis,
        PanelPhase::Synthesise => None,
    }
}

impl Run {
    pub(super) fn frame(&self, id: FrameId) -> Option<&Frame> {
        self.frames.get(&id).map(Arc::as_ref)
    }

    pub(super) fn frame_mut(&mut self, id: FrameId) -> Option<&mut Frame> {
        self.frames.get_mut(&id).map(Arc::make_mut)
    }

    pub(super) fn unit(&self, ix: UnitIx) -> Option<&Unit> {
        self.units.get(ix.at()).map(Arc::as_ref)
    }

    pub(super) fn unit_mut(&mut self, ix: UnitIx) -> Option<&mut Unit> {
        self.units.get_mut(ix.at()).map(Arc::make_mut)
    }

    /// The unit whose lane a frame works in; `between` works in none.
    pub(super) fn lane_unit(&self, frame: &Frame) -> Option<UnitIx> {
        if frame.scope == ScopeIx::UNIT || frame.scope.is_child() { frame.unit } else { None }
    }

    /// What a frame's lane holds.
    pub(super) fn subject_of(&self, frame: &Frame) -> Option<&Subject> {
        match self.lane_unit(frame) {
            Some(unit) => self.unit(unit)?.subject.as_ref(),
            None => self.subject.as_ref(),
        }
    }

    pub(super) fn stage_at(&self, frame: &Frame) -> Option<&Stage> {
        frame.stage.map(|ix| self.flow.stage(ix))
    }

    /// How many units may be under way at once.
    pub fn width(&self) -> usize {
        let scene = super::scene::Scene::of_run(self);
        let width = self.flow.lanes.number(&scene).unwrap_or(1).max(1);
        usize::try_from(width).unwrap_or(usize::MAX)
    }
}

/// A workflow is written as the text it was made from: only a sound text makes one.
mod definition {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    use crate::workflow::{Source, Workflow};

    pub fn serialize<S: Serializer>(flow: &Arc<Workflow>, to: S) -> Result<S::Ok, S::Error> {
        flow.source.serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<Workflow>, D::Error> {
        let source = Source::deserialize(from)?;
        super::super::fold::definition(&source).map_err(D::Error::custom)
    }
}
