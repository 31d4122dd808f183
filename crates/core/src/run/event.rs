//! Facts: what the journal holds and a run is folded from.
//!
//! Each says what was decided, with everything needed to apply it, so that a later version that
//! would decide otherwise still folds the same run. Stages, counters and verdicts are indices
//! into the definition whose text the first event carries.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{
    EffectId, FrameId, GateId, LaneIx, UnitIx,
    budget::{Amount, Caps},
    input::{Ended, Item, Settings, Subject},
    time::Stamp,
};
use crate::{
    value::Value,
    workflow::{
        CounterIx, FactIx, Go, ListRef, RunOutcome, ScopeIx, Settled, Source, StageIx, VerdictIx,
    },
};

/// An event with its place in the journal. How it is read back is in `recorded.rs`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Recorded {
    /// Counted from 0.
    pub seq: u64,
    /// When it was decided.
    pub at: Stamp,
    /// What.
    #[serde(flatten)]
    pub event: Event,
}

/// A fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The run began. Always first, and once.
    Started(Box<Started>),
    /// A scope began for a holder: the intake, a child, the stages between units.
    Opened {
        /// Its new frame.
        frame: FrameId,
        /// The scope.
        scope: ScopeIx,
        /// For a child its unit's frame, for `between` the frame of the unit that settled.
        parent: Option<FrameId>,
        /// For a child: its place among the unit's children of that scope.
        child: Option<u32>,
    },
    /// A unit began.
    UnitStarted {
        /// Which.
        unit: UnitIx,
        /// Its new frame.
        frame: FrameId,
        /// Its lane.
        lane: LaneIx,
        /// Where it begins: the first stage, or where a sub-command starts.
        stage: StageIx,
    },
    /// A unit whose gate was answered or whose pause ended has a place again.
    UnitWoken {
        /// Which.
        unit: UnitIx,
    },
    /// A unit settled other than by its own last move.
    UnitSettled {
        /// Which.
        unit: UnitIx,
        /// How.
        how: Settled,
        /// The unit it depends on, for a blocked one.
        because: Option<UnitIx>,
        /// Who wanted it so, and why.
        by: Option<By>,
    },
    /// A stage was passed over: its condition is definitely false.
    Passed {
        /// Where.
        frame: FrameId,
        /// Which.
        stage: StageIx,
    },
    /// A stage's verdict still stands for what the lane holds, so it is not asked again.
    Upheld {
        /// Where.
        frame: FrameId,
        /// Which.
        stage: StageIx,
        /// The verdict that stands.
        verdict: VerdictIx,
    },
    /// A stage was entered.
    Entered {
        /// Where.
        frame: FrameId,
        /// Which.
        stage: StageIx,
        /// The step of its counter.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        count: Option<Counted>,
    },
    /// An effect is wanted from now on.
    Wanted {
        /// Its id.
        effect: EffectId,
        /// For which frame.
        frame: FrameId,
        /// For which of its stage's slots: a panel has several.
        slot: u16,
        /// What was set aside for it.
        reserved: Amount,
        /// When it will have taken too long, by the run's own clock.
        deadline_ms: Option<u64>,
    },
    /// An effect that had to wait its turn is really under way.
    Began {
        /// Which.
        effect: EffectId,
        /// When it will have taken too long, by the run's own clock.
        deadline_ms: Option<u64>,
    },
    /// An effect came to its end.
    Reported(Box<Ending>),
    /// The next agent in a stage's list takes over.
    FellBack {
        /// Where.
        frame: FrameId,
        /// The agent's place in the list.
        agent: u16,
    },
    /// A limited slot may be tried again.
    Unparked {
        /// Where.
        frame: FrameId,
        /// Which slot.
        slot: u16,
    },
    /// A gate's question was put.
    Asked {
        /// The gate.
        gate: GateId,
        /// Where.
        frame: FrameId,
        /// Each concern: fired, or `None` for Unknown (which counts as fired).
        concerns: Vec<Option<bool>>,
        /// The policy that answered it on the spot.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        policy: Option<PolicyAnswer>,
    },
    /// A person answered.
    Answered {
        /// The gate.
        gate: GateId,
        /// The option.
        verdict: VerdictIx,
        /// What else they said.
        text: Option<Arc<str>>,
        /// Who.
        who: Arc<str>,
        /// Digest of what was shown to them.
        shown: Arc<str>,
        /// What the lane holds now, if a person has changed it meanwhile.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subject: Option<Subject>,
    },
    /// A verdict led somewhere.
    Moved(Box<Moved>),
    /// A frame waits for a person to do something about it.
    Held {
        /// Where.
        frame: FrameId,
        /// Why.
        why: Why,
    },
    /// A held frame goes on.
    Resumed {
        /// Where.
        frame: FrameId,
    },
    /// No further unit is to start.
    StopAsked {
        /// By whom.
        who: Arc<str>,
    },
    /// Nothing new is to be wanted.
    PauseAsked {
        /// By whom.
        who: Arc<str>,
    },
    /// Stop and pause are over.
    ResumeAsked {
        /// By whom.
        who: Arc<str>,
    },
    /// The run is to end now.
    CancelAsked {
        /// By whom.
        who: Arc<str>,
    },
    /// The caps were raised.
    CapsRaised {
        /// By whom.
        who: Arc<str>,
        /// To these.
        caps: Box<Caps>,
    },
    /// A stage is done over.
    Redone {
        /// Where.
        frame: FrameId,
        /// Which.
        stage: StageIx,
        /// By whom.
        who: Arc<str>,
    },
    /// A person let a stage count as having come to a verdict.
    Overridden {
        /// Where.
        frame: FrameId,
        /// Which.
        stage: StageIx,
        /// The verdict.
        verdict: VerdictIx,
        /// Who, and why.
        by: By,
    },
    /// Pending units have new ranks.
    Reordered {
        /// By whom.
        who: Arc<str>,
        /// Which have what.
        ranks: Vec<(UnitIx, i64)>,
    },
    /// The finale began.
    FinaleOpened {
        /// Its new frame.
        frame: FrameId,
        /// How the run ended so far.
        outcome: RunOutcome,
    },
    /// The run ended. Always last.
    Ended {
        /// How.
        outcome: RunOutcome,
    },
}

/// What the run was started with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    /// The run's id.
    pub run: Arc<str>,
    /// The workflow's name.
    pub workflow: Arc<str>,
    /// Its text, catalogue and digest.
    pub source: Source,
    /// A value for each input, in the definition's order.
    pub inputs: Vec<Option<Value>>,
    /// Where units begin, for a sub-command.
    pub entry: Option<StageIx>,
    /// What the configuration says.
    pub settings: Settings,
}

/// How an effect ended and what it left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    /// Which effect.
    pub effect: EffectId,
    /// How: already brought to one of the stage's own verdicts, or a mishap.
    pub ended: Ended,
    /// Facts that the stage declares.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<(FactIx, Value)>,
    /// Lists that the stage declares.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lists: Vec<(Arc<str>, Vec<Item>)>,
    /// What was looked at or made.
    pub subject: Option<Subject>,
    /// What it is settled at.
    pub settled: Amount,
    /// By how much it passed what was set aside.
    #[serde(default, skip_serializing_if = "Amount::is_zero")]
    pub overrun: Amount,
    /// For a limited one: when to try again, by the run's own clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub park_until_ms: Option<u64>,
    /// What was wrong with the report, if it was not taken as it came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Arc<str>>,
}

/// A policy's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyAnswer {
    /// The option.
    pub verdict: VerdictIx,
    /// The standing policy's name; without one it is the definition's own.
    pub name: Option<Arc<str>>,
    /// The decision to record.
    pub record: Option<Arc<str>>,
}

/// Where a verdict led, and what was noted on the way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    /// Where.
    pub frame: FrameId,
    /// From which stage.
    pub stage: StageIx,
    /// On which verdict; `None` when entering found the stage's counter spent.
    pub verdict: Option<VerdictIx>,
    /// Where to.
    pub go: Go,
    /// The step of a counter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<Counted>,
    /// The counter that was at its maximum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<CounterIx>,
    /// Counters put back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reset: Vec<CounterIx>,
    /// More context for the next attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Arc<str>>,
    /// Lists taken up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub add: Vec<(ScopeIx, ListRef)>,
    /// Stages whose evidence a person waived.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waive: Vec<StageIx>,
    /// The decision to record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<Arc<str>>,
    /// The run's outcome from here on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<RunOutcome>,
}

/// A step of a counter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// Which.
    pub counter: CounterIx,
    /// The tally, for a counter kept `by` a fact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Arc<str>>,
    /// Its value from now on.
    pub value: u32,
}

/// Who wanted something, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct By {
    /// Who.
    pub who: Arc<str>,
    /// Why.
    pub reason: Arc<str>,
}

/// Why a frame is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// A person chose to pause.
    Person,
    /// A planned halt.
    Rest,
    /// A mishap or a verdict led to a pause.
    Trouble,
    /// The unit's budget is spent.
    Broke,
    /// A landing's evidence is not there.
    Unproved(StageIx),
    /// It has landed once; it does not land again.
    LandedAlready,
}
