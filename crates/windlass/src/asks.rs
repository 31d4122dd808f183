//! How often agents are asked in a run that has not begun: what is known of it without any history.
//!
//! What an invocation costs nobody can say beforehand: it depends on the project, the models and the plan. How many there are
//! follows from the workflow: from all that goes well at the first attempt to all that may be tried.

use serde::Serialize;
use windlass_core::run::Run;
use windlass_core::value::Value;

/// How often agents are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Asks {
    /// If everything passes at its first attempt.
    pub least: u64,
    /// If every unit takes as many attempts as it has. Conflicts, questions and what is added on the way come on top.
    pub most: u64,
}

/// A landing so far apart has the curator asked.
const CURATED: u64 = 10;

/// So many iterations there are for each feature, where nobody says how many for all.
const ITERATIONS: u64 = 6;

/// How a mission is set up.
struct Mission {
    attempts: u64,
    /// Workers and validators of all features.
    iterations: Option<u64>,
    documenter: bool,
    /// Roles that look at what passed, besides the validator.
    looks: u64,
}

impl Asks {
    /// Of a run of so many units that is set up like this one, if its workflow is known well enough.
    pub fn of(run: &Run, units: u64) -> Option<Self> {
        if run.workflow().name != "mission" {
            return None;
        }
        let number = |name: &str| match run.input_named(name) {
            Some(Value::Number(number)) => u64::try_from(*number).unwrap_or_default(),
            _ => 0,
        };
        let has = |step: &str| match run.input_named("steps") {
            Some(Value::Set(steps)) => steps.iter().any(|it| &**it == step),
            _ => false,
        };
        let mission = Mission {
            attempts: number("max_attempts"),
            iterations: Some(number("max_iterations")).filter(|it| *it > 0),
            documenter: has("documenter"),
            looks: u64::from(has("ui-qa")) + u64::from(has("crosscheck")),
        };
        Some(mission.asks(units))
    }
}

impl Mission {
    fn asks(&self, features: u64) -> Asks {
        // The validator looks once more at what the documenter made of it.
        let documented = u64::from(self.documenter);
        let rounds = self.attempts.saturating_add(1);
        let iterations = self.iterations.unwrap_or(features.saturating_mul(ITERATIONS));
        let worked = features.saturating_mul(rounds.saturating_mul(2).saturating_add(documented));
        let worked = worked.min(iterations);
        let rounds = features.saturating_mul(rounds).min(worked.div_ceil(2));
        // The curator at the end and after every tenth landing, and the documenter of the whole.
        let whole = 2 + features / CURATED;
        let most = worked + features * documented + rounds.saturating_mul(self.looks) + whole;
        let least = features * (2 + 2 * documented + self.looks) + whole;
        Asks { least: least.min(most), most }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_implies_how_often_agents_are_asked() {
        let usual = || Mission { attempts: 3, iterations: None, documenter: false, looks: 0 };
        let asks = |mission: Mission, features| {
            let asks = mission.asks(features);
            (asks.least, asks.most)
        };
        // A worker and a validator for each; no more than six of them for each; a curator and a documenter at the end.
        assert_eq!(asks(usual(), 2), (6, 14));
        assert_eq!(asks(usual(), 40), (86, 246));
        assert_eq!(asks(Mission { attempts: 1, ..usual() }, 2), (6, 10));
        assert_eq!(asks(Mission { iterations: Some(100), ..usual() }, 2), (6, 18));
        assert_eq!(asks(Mission { iterations: Some(1), ..usual() }, 2), (3, 3));
        let all = Mission { attempts: 1, documenter: true, looks: 2, ..usual() };
        assert_eq!(asks(all, 2), (14, 22));
    }
}
