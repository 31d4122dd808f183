//! Many simulated runs, summed up: how they ended, how long they were, and what none of them
//! reached.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use windlass_core::workflow::Workflow;
use windlass_sim::Totals;

use super::breach::{Breach, breach_json, violation_json};
use super::story::outcome_style;
use super::text::{FAINT, GOOD, Line, PLAIN, STRONG, WARN, count};

/// Of each kind of thing that was not reached, so many are named; JSON has them all.
const SHOWN: usize = 12;

pub struct Sum {
    pub totals: Totals,
    /// The first of them.
    pub seed: u64,
    pub took: Duration,
}

impl Sum {
    fn per_second(&self) -> f64 {
        self.totals.runs as f64 / self.took.as_secs_f64().max(1e-9)
    }

    fn last_seed(&self) -> u64 {
        self.seed.wrapping_add(self.totals.runs.saturating_sub(1))
    }

    /// How runs ended, by the words that people know.
    fn ends(&self) -> BTreeMap<String, u64> {
        let word = |end: &str| match end.strip_prefix("Ended(").and_then(|e| e.strip_suffix(')')) {
            Some(outcome) => outcome.to_lowercase(),
            None => format!("not at all ({})", end.to_lowercase()),
        };
        self.totals.ends.iter().map(|(end, times)| (word(end), *times)).collect()
    }

    /// What was not reached, by what kind of thing it is.
    fn missing(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut missing: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for what in self.totals.coverage.missing() {
            let (kind, name) = what.split_once(' ').unwrap_or(("other", what));
            missing.entry(kind).or_default().push(name);
        }
        missing
    }
}

pub fn sum(flow: &Workflow, sum: &Sum, width: usize) -> String {
    let totals = &sum.totals;
    let seeds = format!("seeds {} to {}", sum.seed, sum.last_seed());
    let took = format!("{:.1} s, {:.0} a second", sum.took.as_secs_f64(), sum.per_second());
    let mut lines = vec![
        Line::at(0)
            .add(STRONG, &flow.name)
            .add(PLAIN, format!(": {}, {seeds}", count(totals.runs, "run")))
            .add(FAINT, format!(" ({took})")),
    ];
    let field = |name: &str| Line::at(2).lead(FAINT, name, 12);
    let mut ended = field("ended");
    for (at, (end, times)) in sum.ends().iter().enumerate() {
        ended = ended.add(PLAIN, if at == 0 { "" } else { ", " });
        ended = ended.add(outcome_style(end), end).add(PLAIN, format!(" {times}"));
    }
    lines.push(ended);
    let per_run = totals.events / totals.runs.max(1);
    lines.push(field("events").add(PLAIN, format!("{per_run} a run, {} in all", totals.events)));
    lines.push(field("landings").add(PLAIN, totals.landings.to_string()));
    let all = totals.coverage.reached.len();
    let reached = all - totals.coverage.missing().len();
    lines.push(
        field("reached")
            .add(PLAIN, format!("{reached} of {all} stages, verdicts, records and the like")),
    );
    for (kind, names) in sum.missing() {
        let line = Line::at(4).lead(WARN, &format!("not reached: {kind}"), 24).lead(PLAIN, "  ", 0);
        let shown = names.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
        let more = names.len().saturating_sub(SHOWN);
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        lines.push(line.add(FAINT, shown).add(PLAIN, more));
    }
    lines.push(match totals.failures.len() {
        0 => field("invariants").add(GOOD, "all held"),
        broken => {
            field("invariants").add(WARN, format!("broken in {}", count(broken as u64, "run")))
        }
    });
    lines.iter().map(|line| line.fold(width)).collect::<Vec<_>>().join("\n")
}

pub fn sum_json(flow: &Arc<Workflow>, sum: &Sum, breach: Option<&Breach>) -> Value {
    let totals = &sum.totals;
    let failures: Vec<Value> = totals
        .failures
        .iter()
        .map(|(seed, violation)| json!({ "seed": seed, "violation": violation_json(violation) }))
        .collect();
    json!({
        "workflow": flow.name,
        "digest": &*flow.source.digest,
        "seed": sum.seed,
        "runs": totals.runs,
        "events": totals.events,
        "inputs": totals.inputs,
        "landings": totals.landings,
        "ends": sum.ends(),
        "reached": totals.coverage.reached,
        "not_reached": totals.coverage.missing(),
        "failures": failures,
        "first_failure": breach.map(|breach| breach_json(flow, breach)),
        "seconds": sum.took.as_secs_f64(),
        "runs_per_second": sum.per_second(),
    })
}
