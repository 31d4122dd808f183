//! What runs have cost: by run, unit, role, agent and model, with what a cache has saved. What is still to come is in
//! `forecast.rs`.
//!
//! What an invocation cost is what the core settled it at. Which models that went to is as its agent was heard to say; of
//! several each has its share by price, or by tokens where a price is missing.

use std::collections::BTreeMap;

use serde::Serialize;
use windlass_agents::ModelUse;
use windlass_core::run::{Amount, EffectId, EffectKind, Event, Run};
use windlass_engine::entry::{Entry, Note};
use windlass_engine::shop::RUN_ITSELF;
use windlass_journal::{Journal, RunId};

use crate::error::Error;
use crate::replay::replay;

/// What was used for one thing, whatever that is.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Row {
    pub run: String,
    /// The unit; the run itself without one.
    pub unit: Option<String>,
    pub role: String,
    pub agent: String,
    /// The model, if somebody said so.
    pub model: Option<String>,
    /// How often somebody was asked. An invocation that used several models counts with the first.
    pub invocations: u64,
    pub requests: u64,
    pub input_tokens: u64,
    pub cached_tokens: u64,
    pub cache_write_tokens: u64,
    pub output_tokens: u64,
    pub cost_micros: u64,
    /// How much of that nobody has accounted for: it counts as what was set aside.
    pub assumed_micros: u64,
    /// What more it would have cost without a cache, as far as there are prices.
    pub saved_micros: i64,
}

impl Row {
    /// Adds another one's figures.
    fn add(&mut self, other: &Row) {
        self.invocations += other.invocations;
        self.requests += other.requests;
        self.input_tokens += other.input_tokens;
        self.cached_tokens += other.cached_tokens;
        self.cache_write_tokens += other.cache_write_tokens;
        self.output_tokens += other.output_tokens;
        self.cost_micros += other.cost_micros;
        self.assumed_micros += other.assumed_micros;
        self.saved_micros += other.saved_micros;
    }

    /// All that a model has read.
    pub fn read_tokens(&self) -> u64 {
        self.input_tokens + self.cached_tokens + self.cache_write_tokens
    }
}

/// What runs have cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Bill {
    pub rows: Vec<Row>,
}

/// What rows are put together by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum By {
    Run,
    Unit,
    Role,
    Agent,
    Model,
}

impl By {
    pub const ALL: [By; 5] = [By::Run, By::Unit, By::Role, By::Agent, By::Model];

    pub fn name(self) -> &'static str {
        match self {
            By::Run => "run",
            By::Unit => "unit",
            By::Role => "role",
            By::Agent => "agent",
            By::Model => "model",
        }
    }

    fn key(self, row: &Row) -> String {
        match self {
            By::Run => row.run.clone(),
            By::Unit => row.unit.clone().unwrap_or_else(|| RUN_ITSELF.to_owned()),
            By::Role => row.role.clone(),
            By::Agent => row.agent.clone(),
            By::Model => row.model.clone().unwrap_or_else(|| NOT_SAID.to_owned()),
        }
    }
}

const NOT_SAID: &str = "(not said)";

/// An invocation, as far as it has come.
#[derive(Default)]
struct Asked {
    unit: Option<String>,
    role: String,
    agent: String,
    reserved: Amount,
    settled: Option<Amount>,
    models: Vec<ModelUse>,
}

impl Bill {
    /// Adds what a run has cost.
    pub fn add(&mut self, journal: &Journal, id: &RunId) -> Result<(), Error> {
        let mut asked: BTreeMap<EffectId, Asked> = BTreeMap::new();
        replay(journal, id, |entry, run| {
            enter(&mut asked, entry, run);
            Ok(())
        })?;
        for one in asked.into_values() {
            self.rows.extend(one.rows(id.as_str()));
        }
        Ok(())
    }

    /// The rows, put together; the dearest first.
    pub fn by(&self, by: By) -> Vec<(String, Row)> {
        let mut all: BTreeMap<String, Row> = BTreeMap::new();
        for row in &self.rows {
            all.entry(by.key(row)).or_default().add(row);
        }
        let mut all: Vec<(String, Row)> = all.into_iter().collect();
        all.sort_by_key(|(_, row)| std::cmp::Reverse(row.cost_micros));
        all
    }

    /// Everything.
    pub fn total(&self) -> Row {
        let mut total = Row::default();
        self.rows.iter().for_each(|row| total.add(row));
        total
    }
}

fn enter(asked: &mut BTreeMap<EffectId, Asked>, entry: &Entry, run: &Run) {
    match entry {
        Entry::Event(recorded) => match &recorded.event {
            Event::Wanted { effect, reserved, .. } => {
                let wanted = run.want(*effect);
                if let Some(wanted) = wanted
                    && let EffectKind::Invoke { role, .. } = &wanted.kind
                {
                    let unit = wanted.unit.as_deref().map(str::to_owned);
                    let one =
                        Asked { unit, role: role.clone(), reserved: *reserved, ..Asked::default() };
                    asked.insert(*effect, one);
                }
            }
            Event::Reported(ending) => {
                if let Some(one) = asked.get_mut(&ending.effect) {
                    one.settled = Some(ending.settled);
                }
            }
            _ => {}
        },
        Entry::Note(noted) => match &noted.note {
            Note::Asked(it) => {
                if let Some(one) = asked.get_mut(&it.effect) {
                    one.agent.clone_from(&it.agent);
                }
            }
            Note::Answered(it) => {
                if let Some(one) = asked.get_mut(&it.asked.effect) {
                    one.agent.clone_from(&it.asked.agent);
                    one.models.clone_from(&it.models);
                }
            }
            _ => {}
        },
    }
}

impl Asked {
    /// A row for each model. What is still under way has cost nothing yet; what was given up counts as what was set aside.
    fn rows(self, run: &str) -> Vec<Row> {
        let Some(settled) = self.settled else { return Vec::new() };
        if self.agent.is_empty() && settled == Amount::default() {
            // Nobody was asked: nobody was served.
            return Vec::new();
        }
        let assumed = settled.cost_micros == self.reserved.cost_micros;
        let row = |cost: u64| Row {
            run: run.to_owned(),
            unit: self.unit.clone(),
            role: self.role.clone(),
            agent: if self.agent.is_empty() { NOT_SAID.to_owned() } else { self.agent.clone() },
            cost_micros: cost,
            assumed_micros: if assumed { cost } else { 0 },
            ..Row::default()
        };
        if self.models.is_empty() {
            return vec![Row { invocations: 1, ..row(settled.cost_micros) }];
        }
        let shares = shares(&self.models, settled.cost_micros);
        let rows = self.models.iter().zip(shares).enumerate().map(|(at, (used, cost))| Row {
            model: Some(used.model.clone()).filter(|model| !model.is_empty()),
            invocations: u64::from(at == 0),
            requests: used.requests,
            input_tokens: used.input,
            cached_tokens: used.cached,
            cache_write_tokens: used.cache_write,
            output_tokens: used.output,
            saved_micros: used.saved_micros.unwrap_or(0),
            ..row(cost)
        });
        rows.collect()
    }
}

/// What of a cost went to each model; nothing is lost in rounding.
fn shares(models: &[ModelUse], cost: u64) -> Vec<u64> {
    let priced: Option<Vec<u64>> = models.iter().map(|used| used.cost_micros).collect();
    let by_tokens = || models.iter().map(ModelUse::tokens).collect();
    let weights: Vec<u64> =
        priced.filter(|all| all.iter().any(|one| *one > 0)).unwrap_or_else(by_tokens);
    let all: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
    let share = |weight: u64| {
        let share = u128::from(cost) * u128::from(weight) / all.max(1);
        u64::try_from(share).unwrap_or(cost)
    };
    let mut shares: Vec<u64> = weights.into_iter().map(share).collect();
    let given: u64 = shares.iter().sum();
    if let Some(first) = shares.first_mut() {
        *first += cost.saturating_sub(given);
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(model: &str, tokens: u64, cost_micros: Option<u64>) -> ModelUse {
        ModelUse { model: model.into(), input: tokens, cost_micros, ..ModelUse::default() }
    }

    #[test]
    fn what_an_invocation_cost_is_shared_out_to_the_last_bit() {
        let two = [used("a", 10, Some(30)), used("b", 1_000, Some(10))];
        assert_eq!(shares(&two, 101), [76, 25]);
        let half = [used("a", 10, None), used("b", 30, Some(10))];
        assert_eq!(shares(&half, 101), [26, 75], "by tokens where a price is missing");
        assert_eq!(shares(&[used("a", 0, None)], 7), [7]);
        assert_eq!(shares(&[used("a", 0, Some(0)), used("b", 0, None)], 7), [7, 0]);
    }

    fn amount(cost_micros: u64) -> Amount {
        Amount { cost_micros, ..Amount::default() }
    }

    #[test]
    fn rows_are_put_together_by_what_is_asked_for() {
        let asked = |role: &str, agent: &str, cost, models| Asked {
            unit: (role == "worker").then(|| "u".to_owned()),
            role: role.into(),
            agent: agent.into(),
            reserved: amount(1_000),
            settled: cost,
            models,
        };
        let mut bill = Bill::default();
        for one in [
            asked("worker", "claude", Some(amount(300)), vec![used("m", 5, None)]),
            asked("worker", "codex", Some(amount(1_000)), Vec::new()),
            asked("reviewer", "claude", Some(amount(50)), vec![used("n", 5, None)]),
            asked("reviewer", "claude", None, Vec::new()),
            asked("reviewer", "", Some(amount(0)), Vec::new()),
        ] {
            bill.rows.extend(one.rows("r-1"));
        }
        let by = |by| {
            let rows = bill.by(by).into_iter();
            rows.map(|(key, row)| format!("{key} {}", row.cost_micros)).collect::<Vec<_>>()
        };
        assert_eq!(by(By::Agent), ["codex 1000", "claude 350"]);
        assert_eq!(by(By::Unit), ["u 1300", "(the run itself) 50"]);
        assert_eq!(by(By::Model), ["(not said) 1000", "m 300", "n 50"]);
        let total = bill.total();
        assert_eq!((total.invocations, total.cost_micros, total.assumed_micros), (3, 1_350, 1_000));
    }
}
