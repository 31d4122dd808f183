//! Evidence: why something was allowed to land, as a note on the landed commit. Whoever reads the history can see what
//! was checked, on which tree, who said what about it, and what it cost; digests lead to the journal.

use serde_json::{Value, json};
use windlass_core::run::{Effect, Run};

use crate::books::Books;
use crate::entry::{Check, Proof};

/// The same with what was proved of the tree that it landed with.
pub fn with_proof(evidence: &str, tree: &str, proofs: &[Proof]) -> String {
    let Ok(mut note) = serde_json::from_str::<Value>(evidence) else { return evidence.to_owned() };
    let Some(checks) = note.get_mut("checks").and_then(Value::as_array_mut) else {
        return evidence.to_owned();
    };
    for it in proofs {
        checks.retain(|check| check["check"] != it.name.as_str());
        checks.push(check(&it.name, it.came, tree, it.command.as_ref(), it.output.as_ref()));
    }
    let name = |check: &Value| check["check"].as_str().unwrap_or_default().to_owned();
    checks.sort_by_key(name);
    serde_json::to_string_pretty(&note).unwrap_or_default()
}

/// The unit that a note is about, if it is one of ours.
pub fn unit(note: &str) -> Option<String> {
    let note: Value = serde_json::from_str(note).ok()?;
    note.get("windlass")?;
    Some(note.get("unit")?.as_str()?.to_owned())
}

fn check(
    name: &str,
    came: Check,
    tree: &str,
    command: Option<&String>,
    output: Option<&String>,
) -> Value {
    json!({"check": name, "came": came, "tree": tree, "command": command, "output": output})
}

/// What is on record about the work that an effect is to land.
pub fn evidence(run: &Run, books: &Books, effect: &Effect) -> String {
    let unit = effect.unit.as_deref();
    let checks: Vec<Value> = books
        .checks(unit)
        .map(|(name, it)| check(name, it.came, &it.tree, it.command.as_ref(), it.output.as_ref()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_says_which_unit_it_is_about_and_others_notes_say_nothing() {
        let ours = json!({ "windlass": "1.0", "unit": "26.1", "checks": [] }).to_string();
        assert_eq!(unit(&ours).as_deref(), Some("26.1"));
        let none = json!({ "windlass": "1.0", "unit": null }).to_string();
        for text in [none.as_str(), "{\"unit\":\"1\"}", "Reviewed-by: Ada", ""] {
            assert_eq!(unit(text), None, "{text}");
        }
    }
}
