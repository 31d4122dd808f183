//! The steps of a story.

use std::collections::BTreeMap;

use serde::Serialize;
use windlass_core::run::{self, LaneIx, Why};
use windlass_core::value::Value;
use windlass_core::workflow::Workflow;
use windlass_words::Words;

use crate::render::view::Goal;

/// One thing that happened, and where.
#[derive(Clone, Debug, Serialize)]
pub struct Step {
    /// The event's place in the journal.
    pub seq: u64,
    #[serde(flatten)]
    pub place: Place,
    #[serde(flatten)]
    pub what: What,
}

/// Whose stages these are.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Place {
    /// The scope; without one it is the run itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// The unit's id; in `between`, of the one that settled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The child's place among its unit's, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub child: Option<u32>,
}

impl Place {
    pub const RUN: Self = Self { scope: None, unit: None, child: None };

    pub fn named(scope: &str) -> Self {
        Self { scope: Some(scope.to_owned()), ..Self::RUN }
    }
}

#[derive(Clone, Debug, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum What {
    Started {
        inputs: BTreeMap<String, Value>,
    },
    UnitStarted {
        lane: LaneIx,
    },
    UnitSettled {
        how: &'static str,
        /// The unit it depends on, for a blocked one.
        #[serde(skip_serializing_if = "Option::is_none")]
        because: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    Passed {
        stage: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        when: Option<String>,
    },
    Entered {
        stage: String,
        kind: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        count: Option<Counted>,
        #[serde(skip_serializing_if = "Option::is_none")]
        record: Option<String>,
    },
    Trouble {
        stage: String,
        note: String,
    },
    FellBack {
        stage: String,
        agent: String,
    },
    Asked {
        stage: String,
        question: String,
        /// Concerns that fired.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        concerns: Vec<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        options: Vec<OptionStep>,
        #[serde(skip_serializing_if = "Option::is_none")]
        policy: Option<Answer>,
    },
    Moved(Box<MovedStep>),
    Held {
        #[serde(skip_serializing_if = "Option::is_none")]
        stage: Option<String>,
        why: String,
    },
    Resumed {
        #[serde(skip_serializing_if = "Option::is_none")]
        stage: Option<String>,
    },
    Wish {
        who: String,
        wish: String,
    },
    Finale {
        outcome: &'static str,
    },
    Ended {
        outcome: &'static str,
        exit_code: u8,
    },
}

impl What {
    /// The stage that it is about.
    pub fn stage(&self) -> Option<&str> {
        match self {
            Self::Passed { stage, .. }
            | Self::Entered { stage, .. }
            | Self::Trouble { stage, .. }
            | Self::FellBack { stage, .. }
            | Self::Asked { stage, .. } => Some(stage),
            Self::Moved(moved) => Some(&moved.stage),
            Self::Held { stage, .. } | Self::Resumed { stage } => stage.as_deref(),
            Self::Started { .. }
            | Self::UnitStarted { .. }
            | Self::UnitSettled { .. }
            | Self::Wish { .. }
            | Self::Finale { .. }
            | Self::Ended { .. } => None,
        }
    }
}

/// A verdict and where it led.
#[derive(Clone, Debug, Serialize)]
pub struct MovedStep {
    pub stage: String,
    pub kind: &'static str,
    /// Without one, entering found the stage's own counter spent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub mishap: bool,
    /// Who gave the verdict, for a gate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    #[serde(flatten)]
    pub goal: Goal,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<Counted>,
    /// The counter that was at its maximum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spent: Option<Counted>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reset: Vec<String>,
    /// More context for the next attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub adds: Vec<Adds>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waive: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<&'static str>,
}

/// A list taken up.
#[derive(Clone, Debug, Serialize)]
pub struct Adds {
    /// What its items become.
    pub scope: String,
    pub list: String,
    pub items: usize,
}

/// A counter's step.
#[derive(Clone, Debug, Serialize)]
pub struct Counted {
    pub counter: String,
    pub value: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<u32>,
}

/// An answer to a gate.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    pub option: String,
    pub who: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<String>,
}

/// An option that was offered.
#[derive(Clone, Debug, Serialize)]
pub struct OptionStep {
    pub option: String,
    pub label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
}

impl From<run::OptionView> for OptionStep {
    fn from(view: run::OptionView) -> Self {
        Self { option: view.key, label: view.label, about: view.about }
    }
}

/// Why a frame is held, in words.
pub fn why(flow: &Workflow, why: Why, words: Words) -> String {
    let id = match why {
        Why::Person => "tell-why-person",
        Why::Rest => "tell-why-rest",
        Why::Trouble => "tell-why-trouble",
        Why::Broke => "tell-why-broke",
        Why::Unproved(stage) => {
            return words.say("tell-why-unproved", &[("stage", &flow.stage(stage).name)]);
        }
        Why::LandedAlready => "tell-why-landed",
    };
    words.say(id, &[])
}
