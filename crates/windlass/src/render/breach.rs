//! A simulated run that broke an invariant: which one, the smallest run that breaks it, and how to
//! see it again.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_core::workflow::Workflow;
use windlass_sim::{Outcome, Violation};

use super::story::story;
use super::text::{BAD, Line, PLAIN, STRONG, count};
use crate::story::Story;

/// Seeds that are named; there may be thousands.
const OTHERS_SHOWN: usize = 10;

/// A run that broke an invariant.
pub struct Breach {
    pub violation: Violation,
    pub seed: Option<u64>,
    /// Gives the same run again.
    pub command: String,
    /// More seeds that broke one.
    pub others: Vec<u64>,
    /// The smallest run found that breaks the same one.
    pub small: Option<Outcome>,
}

/// An invariant that does not hold, and the smallest run in which it does not.
pub fn breach(flow: &Arc<Workflow>, breach: &Breach, width: usize) -> String {
    let paragraph = |line: Line| line.fold(width);
    let violation = &breach.violation;
    let seed = breach.seed.map_or(String::new(), |seed| format!(" with seed {seed}"));
    let mut parts = vec![
        paragraph(
            Line::at(0).add(BAD, "broken: ").add(STRONG, violation.invariant).add(PLAIN, seed),
        ),
        paragraph(Line::at(2).add(PLAIN, violation.to_string())),
    ];
    if let Some(small) = &breach.small {
        let events = count(small.journal.len() as u64, "event");
        let text = format!("The smallest run found that breaks it ({events}):");
        parts.extend([String::new(), paragraph(Line::at(0).add(PLAIN, text)), String::new()]);
        parts.push(so_far(flow, breach, width));
        let end = small.violation.as_ref().map(ToString::to_string).unwrap_or_default();
        parts.push(paragraph(Line::at(0).add(BAD, end)));
    }
    parts.push(String::new());
    parts.push("This is a defect of Windlass. The same run again:".to_owned());
    // A command is never folded: it is there to be copied.
    parts.push(format!("  {}", breach.command));
    if !breach.others.is_empty() {
        let shown: Vec<String> =
            breach.others.iter().take(OTHERS_SHOWN).map(u64::to_string).collect();
        let more = if breach.others.len() > OTHERS_SHOWN { ", …" } else { "" };
        let others = count(breach.others.len() as u64, "other seed");
        let text = format!("{others} failed too: {}{more}", shown.join(", "));
        parts.push(paragraph(Line::at(0).add(PLAIN, text)));
    }
    parts.join("\n")
}

/// The story up to where it broke.
pub fn so_far(flow: &Arc<Workflow>, breach: &Breach, width: usize) -> String {
    story(&small_story(flow, breach).steps, &flow.called, width)
}

fn small_story(flow: &Arc<Workflow>, breach: &Breach) -> Story {
    let journal = breach.small.as_ref().map_or(&[][..], |small| &small.journal);
    Story::of(flow, journal)
}

pub fn breach_json(flow: &Arc<Workflow>, breach: &Breach) -> Value {
    json!({
        "workflow": flow.name,
        "seed": breach.seed,
        "command": breach.command,
        "violation": violation_json(&breach.violation),
        "smallest": {
            "events": breach.small.as_ref().map_or(0, |small| small.journal.len()),
            "steps": small_story(flow, breach).steps,
        },
    })
}

pub fn violation_json(violation: &Violation) -> Value {
    json!({ "event": violation.seq, "invariant": violation.invariant, "what": violation.what })
}

#[cfg(test)]
mod tests {
    use windlass_core::lang::{self, Catalogue};
    use windlass_sim::{Choices, Plan, drive};

    use super::*;

    fn tidy() -> Arc<Workflow> {
        let catalogue = Catalogue::parse(crate::builtin::CATALOGUE.text).unwrap();
        Arc::new(lang::load(include_str!("../../tests/fixtures/tidy.toml"), &catalogue).unwrap())
    }

    /// No real run breaks anything, so one is made to look as if it had.
    fn broken(flow: &Arc<Workflow>) -> Breach {
        let plan = Plan { calm: true, ..Plan::default() };
        let mut outcome = drive(flow, &plan, Choices::from_tape(Vec::new()));
        assert_eq!(outcome.violation, None);
        let violation =
            Violation { seq: 7, invariant: "nothing lands twice", what: "tasks-0".to_owned() };
        outcome.violation = Some(violation.clone());
        outcome.journal.truncate(12);
        Breach {
            violation,
            seed: Some(17),
            command: "windlass workflow simulate tidy.toml --seed 17".to_owned(),
            others: (18..40).collect(),
            small: Some(outcome),
        }
    }

    #[test]
    fn a_breach_says_what_broke_and_how_to_see_it_again() {
        let flow = tidy();
        let text = breach(&flow, &broken(&flow), 80);
        let plain = anstream::adapter::strip_str(&text).to_string();
        insta::assert_snapshot!(plain, @"
        broken: nothing lands twice with seed 17
          event 7: nothing lands twice: tasks-0

        The smallest run found that breaks it (12 events):

        intake
          list  read    found → end; adds 1 file (tasks)
        file tasks-0 in lane 1
          tidy  role    done → prove
        event 7: nothing lands twice: tasks-0

        This is a defect of Windlass. The same run again:
          windlass workflow simulate tidy.toml --seed 17
        22 other seeds failed too: 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, …
        ");
    }

    #[test]
    fn scripts_get_it_too() {
        let flow = tidy();
        let json = breach_json(&flow, &broken(&flow));
        assert_eq!((&json["seed"], &json["violation"]["event"]), (&17.into(), &7.into()));
        assert_eq!(json["smallest"]["events"], 12);
        assert!(json["smallest"]["steps"].as_array().is_some_and(|steps| steps.len() > 2));
    }
}
