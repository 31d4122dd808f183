//! What one Windlass asks of another that holds the repository.

use serde::{Deserialize, Serialize};
use windlass_core::run::Wish;

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
        wish: Wish,
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

/// Who sits at this terminal.
pub fn who() -> String {
    let name = |key: &str| std::env::var(key).ok().filter(|name| !name.is_empty());
    name("USER").or_else(|| name("LOGNAME")).unwrap_or_else(|| "somebody".to_owned())
}
