//! Evidence: why something was allowed to land, as a note on the landed commit. Whoever reads the history can see what
//! was checked, on which tree, who said what about it, and what it cost; digests lead to the journal.

use serde_json::{Value, json};
use windlass_core::run::{Effect, Run};

use crate::books::Books;

/// What is on record about the work that an effect is to land.
pub fn evidence(run: &Run, books: &Books, effect: &Effect) -> String {
    let unit = effect.unit.as_deref();
    let checks: Vec<Value> = books
        .checks(unit)
        .map(|(name, checked)| {
            json!({
                "check": name,
                "came": checked.came,
                "tree": checked.tree,
                "command": checked.command,
                "output": checked.output,
            })
        })
        .collect();
    let mut verdicts = Vec::new();
    for (stage, attempts) in books.answers(unit) {
        for (attempt, answer) in (1..).zip(attempts) {
            verdicts.push(json!({
                "stage": stage,
                "attempt": attempt,
                "role": answer.role,
                "agent": answer.agent,
                "verdict": answer.came,
                "said": answer.said,
            }));
        }
    }
    let used = unit.and_then(|unit| run.unit_named(unit)).map_or(run.purse(), |unit| unit.purse);
    let note = json!({
        "windlass": env!("CARGO_PKG_VERSION"),
        "run": run.id(),
        "workflow": run.workflow().name,
        "unit": unit,
        "base": books.base(unit),
        "tree": effect.subject.as_ref().map(|subject| &*subject.tree),
        "change": effect.subject.as_ref().map(|subject| &*subject.change),
        "checks": checks,
        "verdicts": verdicts,
        "cost_usd": used.settled.cost_micros as f64 / 1e6,
        "tokens": used.settled.tokens,
    });
    // A map of strings and numbers can always be written down.
    serde_json::to_string_pretty(&note).unwrap_or_default()
}
