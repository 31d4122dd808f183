//! Tiers: which of an agent's models suits a role.

use serde::Deserialize;

/// Which of an agent's models suits a role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tier {
    /// The best there is.
    Strong,
    /// The usual one.
    #[default]
    Standard,
    /// A quick and cheap one.
    Fast,
}

impl Tier {
    /// All of them.
    pub const ALL: [Tier; 3] = [Tier::Strong, Tier::Standard, Tier::Fast];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Tier::Strong => "strong",
            Tier::Standard => "standard",
            Tier::Fast => "fast",
        }
    }

    /// The one that is written so.
    pub fn named(name: &str) -> Option<Self> {
        Tier::ALL.into_iter().find(|tier| tier.name() == name)
    }
}
