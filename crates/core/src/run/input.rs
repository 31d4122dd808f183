//! What reaches the core from outside.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use super::{
    EffectId, GateId,
    budget::{Caps, Usage},
};
use crate::{value::Value, workflow::Mishap};

/// What a run is started with, besides its workflow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// The run's id.
    pub run: Arc<str>,
    /// Inputs by name; what is missing takes its default.
    pub inputs: BTreeMap<String, Value>,
    /// The sub-command, if any.
    pub entry: Option<String>,
    /// Artifacts that exist, for the sub-command's `requires`.
    pub have: BTreeSet<String>,
    /// Everything else that is frozen into the journal.
    pub settings: Settings,
}

/// What the configuration says, frozen into the run's first event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Caps on spending.
    pub caps: Caps,
    /// Roles whose agent is declared to be without cost. Any other agent that reports none is
    /// settled at its reservation.
    pub unpriced: BTreeSet<String>,
    /// Named policies that answer gates for the person who configured them.
    pub policies: Vec<StandingPolicy>,
}

/// A policy from the configuration: answers a gate that is not hard, when no concern fired, once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandingPolicy {
    /// Its name, recorded with every answer it gives.
    pub name: String,
    /// The gate's stage.
    pub stage: String,
    /// The option.
    pub answer: String,
}

/// What reaches a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// An effect came to its end.
    Report(Report),
    /// A person answered a gate.
    Answer(Answer),
    /// Time passed.
    Tick,
    /// An effect that had to wait its turn is really under way from now on: its time is counted from here.
    Began(EffectId),
    /// A person wants something of the run.
    Control {
        /// Who.
        who: Arc<str>,
        /// What.
        wish: Wish,
    },
}

/// What a person may want of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wish {
    /// Start no further unit; let those under way settle.
    Stop,
    /// Want nothing new; take the reports of what is under way.
    Pause,
    /// Go on: with everything, or with one unit.
    Resume(Option<Target>),
    /// End the run now.
    Cancel,
    /// Raise the caps.
    Raise(Caps),
    /// Start over at one stage.
    Redo {
        /// Where.
        target: Target,
        /// The stage.
        stage: String,
    },
    /// Let a stage count as having come to this verdict.
    Override {
        /// Where.
        target: Target,
        /// The stage.
        stage: String,
        /// The verdict.
        verdict: String,
        /// Why.
        reason: String,
    },
    /// Leave a unit out.
    Skip {
        /// The unit's id.
        unit: Arc<str>,
        /// Why.
        reason: String,
    },
    /// Take these pending units first, in this order.
    Reorder(Vec<Arc<str>>),
}

/// What a wish is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// The run's own stages: intake, between, finale.
    Run,
    /// A unit, by id.
    Unit(Arc<str>),
}

/// An effect's end, as the engine saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Which effect: the fencing token. A report for one that is not wanted is stale.
    pub effect: EffectId,
    /// How it ended.
    pub ended: Ended,
    /// Facts by name.
    pub facts: BTreeMap<String, Value>,
    /// Lists by name.
    pub lists: BTreeMap<String, Vec<Item>>,
    /// For an effect that edits: what the lane holds now. For one that looks: what it looked at.
    pub subject: Option<Subject>,
    /// What it used up.
    pub usage: Usage,
}

/// How an effect ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// It came to a verdict.
    Verdict(Arc<str>),
    /// Something went wrong.
    Mishap(Mishap),
    /// The provider said: not before this time of the wall clock (in milliseconds since 1970).
    Limited(i64),
    /// It is limited too, and somebody else can take its place at once: they go on with what the lane holds.
    HandedOver,
    /// Nobody knows: Windlass itself went away meanwhile. The lane is back where the stage began.
    Lost,
}

/// Exactly what was looked at, or made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Subject {
    /// The tree: what checks are bound to.
    pub tree: Arc<str>,
    /// The change itself, whatever it sits on: what review is bound to.
    pub change: Arc<str>,
}

/// An item of a list: a unit or child to be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// Unique: among units in the run, among children in their unit.
    pub id: Arc<str>,
    /// A line for people.
    pub title: Arc<str>,
    /// Ids of the units it depends on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends: Vec<Arc<str>>,
    /// Lower goes first; equal ranks in the order listed.
    #[serde(default)]
    pub rank: i64,
    /// Files and directories it expects to change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<Arc<str>>,
    /// Its facts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub facts: BTreeMap<String, Value>,
    /// It is to be tried again, should it be known and have come to nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
}

/// A person's answer to a gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Which gate: an answer to one that is not open is refused.
    pub gate: GateId,
    /// The option; without one the text is taken as free text, without either the default.
    pub option: Option<String>,
    /// Free text.
    pub text: Option<String>,
    /// Who answered.
    pub who: Arc<str>,
    /// Digest of what was shown to them.
    pub shown: Arc<str>,
    /// What the lane holds now, if a person has changed it meanwhile ("fix manually and
    /// continue"): evidence from before no longer holds.
    pub subject: Option<Subject>,
}

/// Why an input was refused. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Nothing is taken after the end.
    #[error("the run has ended")]
    Ended,
    /// A report for an effect that is not wanted (any more).
    #[error("effect {} is not under way: the report is stale", .0.0)]
    Stale(EffectId),
    /// An answer to a gate that is not open.
    #[error("gate {} is not open: it was answered or withdrawn; `windlass gates` lists the open ones", .0.0)]
    NoSuchGate(GateId),
    /// Not one of the options.
    #[error("{given:?} is not an option here: choose one of {}", options.join(", "))]
    NoSuchOption {
        /// What was answered.
        given: String,
        /// What is offered.
        options: Vec<String>,
    },
    /// An empty answer to a gate without a default.
    #[error("this question has no default: choose one of {}", options.join(", "))]
    NoDefault {
        /// What is offered.
        options: Vec<String>,
    },
    /// The option asks for a reason.
    #[error("{option:?} needs a reason: say why")]
    ReasonNeeded {
        /// The option or wish.
        option: String,
    },
    /// What was asked about is not what it was any more.
    #[error("{0}")]
    Changed(String),
    /// No such unit.
    #[error("there is no unit {0:?}")]
    NoSuchUnit(Arc<str>),
    /// The unit has settled.
    #[error("unit {0:?} has settled already")]
    UnitSettled(Arc<str>),
    /// The unit has not started, so there is nothing to do this with.
    #[error("unit {0:?} has not started yet")]
    UnitNotStarted(Arc<str>),
    /// The unit's landing is under way and cannot be taken back.
    #[error("unit {0:?} is landing right now: wait for it")]
    Landing(Arc<str>),
    /// There is no such stage where the wish points.
    #[error("there is no stage {stage:?} here that this can be done with: {why}")]
    StageNotHere {
        /// The stage.
        stage: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Caps can only be raised.
    #[error("caps can only be raised while a run lives: {0}")]
    CapsLowered(&'static str),
    /// An input that the workflow does not have.
    #[error("the workflow has no input {0:?}")]
    NoSuchInput(String),
    /// An input without a value.
    #[error("input {name:?} is missing: {ask}")]
    InputMissing {
        /// Its name.
        name: String,
        /// What to ask for it.
        ask: String,
    },
    /// An input of the wrong type.
    #[error("input {name:?} must be {want}, not {given}")]
    InputType {
        /// Its name.
        name: String,
        /// What it must be.
        want: String,
        /// What was given.
        given: String,
    },
    /// No such sub-command.
    #[error("there is no entry {0:?}")]
    NoSuchEntry(String),
    /// The sub-command's artifacts do not exist.
    #[error("{otherwise} (missing: {})", missing.join(", "))]
    EntryNotReady {
        /// What the workflow says.
        otherwise: String,
        /// What is missing.
        missing: Vec<String>,
    },
    /// A standing policy that cannot be.
    #[error("policy {policy:?} cannot answer {stage:?} with {answer:?}: {why}")]
    BadPolicy {
        /// The policy's name.
        policy: String,
        /// The gate's stage.
        stage: String,
        /// The option.
        answer: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Caps that no request fits into.
    #[error("the caps cannot work: {0}")]
    BadCaps(&'static str),
    /// The run is finishing: no wish but cancel is taken.
    #[error("the run is finishing: it takes no more wishes but cancel")]
    Finishing,
}
