//! What people and the shell may see of a run.

use std::sync::Arc;

use super::{
    EffectId, FrameId, GateId, LaneIx, UnitIx,
    budget::{Caps, Purse},
    event::Why,
    input::Item,
    scene::Scene,
    state::{Phase, Position, Run, Tally, UnitStatus},
    text::fill,
};
use crate::{
    value::Value,
    workflow::{Go, InputIx, Kind, RunOutcome, ScopeIx, Settled, StageIx, VerdictIx, Workflow},
};

/// What becomes of an answer in one's own words where the workflow has no way for it.
const ASKED_AGAIN: &str = "Noted for whoever works on it; you are asked again";

/// A gate that waits for an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenGate {
    /// Its id, to answer it by.
    pub id: GateId,
    /// Its stage.
    pub stage: StageIx,
    /// The unit it holds, if any.
    pub unit: Option<Arc<str>>,
    /// The child of the unit that it is about, if any.
    pub child: Option<Arc<Item>>,
    /// The question.
    pub question: String,
    /// Its concerns, and whether each fired (`None`: Unknown, which counts as fired).
    pub concerns: Vec<(String, Option<bool>)>,
    /// What may be answered now.
    pub options: Vec<OptionView>,
}

/// An option of a gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionView {
    /// What to answer.
    pub key: String,
    /// What it is called.
    pub label: String,
    /// What it means.
    pub about: Option<String>,
    /// Whether a reason must be given with it.
    pub reason: bool,
    /// Whether an empty answer means this one.
    pub default: bool,
}

/// An open scope, from outside: whose it is, and what it is at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameView {
    /// Its id.
    pub id: FrameId,
    /// The scope.
    pub scope: ScopeIx,
    /// The unit that it works on, or for `between` the one that settled.
    pub unit: Option<Arc<str>>,
    /// A child's place among its unit's children.
    pub child: Option<u32>,
    /// The stage that it has entered last.
    pub stage: Option<StageIx>,
}

/// A unit, from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitView {
    /// Its id.
    pub id: Arc<str>,
    /// A line for people.
    pub title: Arc<str>,
    /// Where it stands.
    pub status: UnitStatus,
    /// The unit that it depends on and that was not done, for a blocked one.
    pub because: Option<Arc<str>>,
    /// The stage that it, or its child, is at.
    pub stage: Option<StageIx>,
    /// Its lane.
    pub lane: Option<LaneIx>,
    /// The unit whose report it came from.
    pub origin: Option<Arc<str>>,
    /// How far it is from what intake and between added.
    pub generation: u32,
    /// Whether it has landed.
    pub landed: bool,
    /// What it has used up.
    pub purse: Purse,
}

impl Run {
    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// How many scopes are open: a measure of what the run holds on to, which grows with what is under way and not
    /// with what is done. The simulator's tests hold it to that; nobody else has to know.
    pub fn open_scopes(&self) -> usize {
        self.frames.len()
    }

    /// Its workflow.
    pub fn workflow(&self) -> &Arc<Workflow> {
        &self.flow
    }

    /// The number of events so far: the sequence number of the next one.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// Where it is.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Whether something that was made for the run itself has landed.
    pub fn has_landed(&self) -> bool {
        self.landed
    }

    /// How it ended, or how it is going to.
    pub fn outcome(&self) -> Option<RunOutcome> {
        self.outcome
    }

    /// How many units there are, and how they settled.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// What it has used up and set aside.
    pub fn purse(&self) -> Purse {
        self.purse
    }

    /// Its caps.
    pub fn caps(&self) -> &Caps {
        &self.settings.caps
    }

    /// The value of an input.
    pub fn input(&self, ix: InputIx) -> Option<&Value> {
        self.inputs.get(ix.at())?.as_ref()
    }

    /// The value of the input of this name.
    pub fn input_named(&self, name: &str) -> Option<&Value> {
        let at = self.flow.inputs.iter().position(|input| input.name == name)?;
        self.inputs.get(at)?.as_ref()
    }

    /// Whether a report said more than was set aside, and nobody has raised the caps since. What follows from it is in
    /// [`Run::standing`]; the simulator's tests ask for it by itself.
    pub fn has_overrun(&self) -> bool {
        self.overrun
    }

    /// Whether any report ever said more than was set aside.
    pub fn has_ever_overrun(&self) -> bool {
        self.overruns > 0
    }

    /// The gates that wait for an answer.
    pub fn gates(&self) -> Vec<OpenGate> {
        self.gates.keys().filter_map(|id| self.gate(*id)).collect()
    }

    /// One gate that waits for an answer.
    pub fn gate(&self, id: GateId) -> Option<OpenGate> {
        let frame = self.frame(*self.gates.get(&id)?)?;
        let ix = frame.stage?;
        let stage = self.flow.stage(ix);
        let Kind::Gate(gate) = &stage.kind else { return None };
        let scene = Scene::of(self, frame);
        let filled = |text: &str| fill(self, frame, text);
        let option = |(at, verdict): (u16, &crate::workflow::Verdict)| {
            let take = self.offered(frame, ix, VerdictIx(at))?;
            let in_words = verdict.name == "other";
            let asks_again = in_words && take.go == Go::Again && take.label.is_none();
            let plain = if in_words { "in your own words" } else { &verdict.name };
            let about = take.about.as_deref().map(filled);
            Some(OptionView {
                key: verdict.name.clone(),
                label: filled(take.label.as_deref().unwrap_or(plain)),
                about: about.or_else(|| asks_again.then(|| ASKED_AGAIN.to_owned())),
                reason: take.reason || in_words,
                default: gate.default == Some(VerdictIx(at)),
            })
        };
        Some(OpenGate {
            id,
            stage: ix,
            unit: frame.unit.and_then(|unit| self.unit(unit)).map(|unit| unit.item.id.clone()),
            child: self.child_of(frame),
            question: filled(&gate.question),
            concerns: gate
                .concerns
                .iter()
                .map(|(name, concern)| (name.clone(), concern.truth(&scene)))
                .collect(),
            options: (0..).zip(&stage.verdicts).filter_map(option).collect(),
        })
    }

    /// A text with everything between braces filled in, as a gate that waits for an answer has it in its question.
    pub fn filled_in(&self, gate: GateId, text: &str) -> Option<String> {
        Some(fill(self, self.frame(*self.gates.get(&gate)?)?, text))
    }

    /// The scopes that are open.
    pub fn frames(&self) -> impl Iterator<Item = FrameView> + '_ {
        self.frames.iter().map(|(id, frame)| FrameView {
            id: *id,
            scope: frame.scope,
            unit: frame.unit.and_then(|unit| self.unit(unit)).map(|unit| unit.item.id.clone()),
            child: frame.child,
            stage: frame.stage,
        })
    }

    /// The units that wait for a person to do something about them, and why; the run itself is no unit.
    pub fn holds(&self) -> impl Iterator<Item = (Option<Arc<str>>, Why)> + '_ {
        self.held.iter().map(|(frame, why)| {
            let unit = self.frame(*frame).and_then(|frame| self.unit(frame.unit?));
            (unit.map(|unit| unit.item.id.clone()), *why)
        })
    }

    /// The frame that each effect was wanted for.
    pub fn flights(&self) -> impl Iterator<Item = (EffectId, FrameId)> + '_ {
        self.flights.iter().map(|(effect, flight)| (*effect, flight.frame))
    }

    /// The frame that asks each open question.
    pub fn askers(&self) -> impl Iterator<Item = (GateId, FrameId)> + '_ {
        self.gates.iter().map(|(gate, frame)| (*gate, *frame))
    }

    /// All units, in the order they were taken up.
    pub fn units(&self) -> impl Iterator<Item = UnitView> + '_ {
        (0..).zip(&self.units).filter_map(|(ix, _)| self.unit_view(UnitIx(ix)))
    }

    /// The unit of this id.
    pub fn unit_named(&self, id: &str) -> Option<UnitView> {
        self.unit_view(*self.unit_ids.get(id)?)
    }

    /// The unit of this number.
    pub fn unit_at(&self, ix: UnitIx) -> Option<UnitView> {
        self.unit_view(ix)
    }

    fn unit_view(&self, ix: UnitIx) -> Option<UnitView> {
        let unit = self.unit(ix)?;
        let leaf = unit.leaf.and_then(|leaf| self.frame(leaf));
        let over = matches!(self.phase, Phase::Finale | Phase::Ended);
        let status = match unit.status {
            UnitStatus::Settled(how) => UnitStatus::Settled(how),
            UnitStatus::Pending | UnitStatus::Started if over => {
                UnitStatus::Settled(Settled::Unfinished)
            }
            UnitStatus::Pending => UnitStatus::Pending,
            UnitStatus::Started => UnitStatus::Started,
        };
        let id = |of: Option<UnitIx>| Some(self.unit(of?)?.item.id.clone());
        Some(UnitView {
            id: unit.item.id.clone(),
            title: unit.item.title.clone(),
            status,
            because: id(unit.because),
            stage: leaf.and_then(|frame| match frame.position {
                Position::Entering(stage) | Position::Held(stage) => Some(stage),
                Position::Pending
                | Position::Working
                | Position::Judged(_)
                | Position::Asking(_)
                | Position::Expanded
                | Position::Closed => frame.stage,
            }),
            lane: unit.lane,
            origin: id(unit.origin),
            generation: unit.generation,
            landed: unit.landed,
            purse: unit.purse,
        })
    }

    /// Every tally of every counter that lives now, with its maximum as it is now.
    pub fn counters(&self) -> Vec<(String, u32, u32)> {
        let run = Scene::of_run(self);
        let of = |scene: &Scene<'_>, tallies: &super::state::Tallies| -> Vec<(String, u32, u32)> {
            tallies
                .iter()
                .map(|((counter, _), value)| {
                    let name = self.flow.counters[counter.at()].name.clone();
                    (name, *value, scene.counter_max(*counter))
                })
                .collect()
        };
        let mut all = of(&run, &self.counters);
        for frame in self.frames.values() {
            all.extend(of(&Scene::of(self, frame), &frame.counters));
        }
        all
    }

    /// Whether a frame would pass a stage over: the stage's condition is definitely false.
    pub fn passes_over(&self, frame: FrameId, stage: StageIx) -> bool {
        let Some(frame) = self.frame(frame) else { return false };
        let when = self.flow.stage(stage).when.as_ref();
        when.is_some_and(|when| when.truth(&Scene::of(self, frame)) == Some(false))
    }
}
