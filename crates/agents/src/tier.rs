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

/// A place in a crew: what somebody is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Post {
    /// Plans.
    Planner,
    /// Does the work.
    Executor,
    /// Gives advice on it.
    Advisor,
    /// Judges it.
    Evaluator,
    /// Runs what checks it.
    Verifier,
}

impl Post {
    /// All of them.
    pub const ALL: [Post; 5] =
        [Post::Planner, Post::Executor, Post::Advisor, Post::Evaluator, Post::Verifier];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Post::Planner => "planner",
            Post::Executor => "executor",
            Post::Advisor => "advisor",
            Post::Evaluator => "evaluator",
            Post::Verifier => "verifier",
        }
    }

    /// The one that is written so.
    pub fn named(name: &str) -> Option<Self> {
        Post::ALL.into_iter().find(|post| post.name() == name)
    }

    /// The model that suits it, where nobody says otherwise.
    pub fn usual(self) -> Tier {
        match self {
            Post::Planner | Post::Advisor | Post::Evaluator => Tier::Strong,
            Post::Executor => Tier::Standard,
            Post::Verifier => Tier::Fast,
        }
    }
}
