//! What one Windlass asks of another that holds the repository.

use serde::{Deserialize, Serialize};

/// What is asked, by a person at another terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// An answer to a gate.
    Answer {
        /// The run.
        run: String,
        /// The gate.
        gate: u32,
        /// The option.
        option: Option<String>,
        /// Free text, or a reason.
        text: Option<String>,
        /// Who answers.
        who: String,
    },
    /// A wish.
    Wish {
        /// The run.
        run: String,
        /// Who wishes.
        who: String,
        /// What.
        wish: Wished,
    },
}

/// What may be wished for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wished {
    /// No further unit; those under way settle.
    Stop,
    /// Nothing new at all.
    Pause,
    /// The end, now.
    Cancel,
    /// One stage over again.
    Redo {
        /// The unit; without one the run's own stages.
        unit: Option<String>,
        /// The stage.
        stage: String,
    },
    /// A unit left out.
    Skip {
        /// The unit.
        unit: String,
        /// Why.
        reason: String,
    },
    /// A verdict overruled.
    Override {
        /// The unit; without one the run's own stages.
        unit: Option<String>,
        /// The stage.
        stage: String,
        /// The verdict.
        verdict: String,
        /// Why.
        reason: String,
    },
}

/// What comes back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Response {
    /// It was taken and is on record.
    Taken,
    /// It was not, and nothing has changed.
    Refused(String),
}

impl Wished {
    /// As the core knows it.
    pub fn wish(self) -> windlass_core::run::Wish {
        use windlass_core::run::{Target, Wish};
        let target = |unit: Option<String>| match unit {
            Some(unit) => Target::Unit(unit.into()),
            None => Target::Run,
        };
        match self {
            Wished::Stop => Wish::Stop,
            Wished::Pause => Wish::Pause,
            Wished::Cancel => Wish::Cancel,
            Wished::Redo { unit, stage } => Wish::Redo { target: target(unit), stage },
            Wished::Skip { unit, reason } => Wish::Skip { unit: unit.into(), reason },
            Wished::Override { unit, stage, verdict, reason } => {
                Wish::Override { target: target(unit), stage, verdict, reason }
            }
        }
    }
}

/// Who sits at this terminal.
pub fn who() -> String {
    let name = |key: &str| std::env::var(key).ok().filter(|name| !name.is_empty());
    name("USER").or_else(|| name("LOGNAME")).unwrap_or_else(|| "somebody".to_owned())
}
