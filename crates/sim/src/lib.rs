//! Drives whole runs of a workflow through the core, without agents, disks or clocks.
//!
//! A run is determined by a seed: the world's reports, a person's answers and wishes, crashes,
//! silence, duplicates, clock jumps. After every event an [`Auditor`] that keeps its own books
//! objects to anything that must not happen. A failing seed is made as small as possible.

mod audit;
mod choice;
mod coverage;
mod drive;
mod shrink;
mod walk;
mod world;

use std::{collections::BTreeMap, sync::Arc};

use windlass_core::{run::Recorded, workflow::Workflow};

pub use self::{
    audit::{Auditor, Violation},
    choice::Choices,
    coverage::Coverage,
    drive::{Outcome, Plan, drive, records},
    shrink::shrink,
    walk::{Saying, Walk, item, typed},
};

/// What many runs came to.
#[derive(Debug, Default)]
pub struct Totals {
    /// How many there were.
    pub runs: u64,
    /// Events in all their journals.
    pub events: u64,
    /// Inputs they took.
    pub inputs: u64,
    /// Landings.
    pub landings: u64,
    /// How many ended which way.
    pub ends: BTreeMap<String, u64>,
    /// What they reached.
    pub coverage: Coverage,
    /// The seeds that broke an invariant, and which.
    pub failures: Vec<(u64, Violation)>,
}

impl Totals {
    /// Adds other runs to these.
    pub fn merge(&mut self, other: Totals) {
        self.runs += other.runs;
        self.events += other.events;
        self.inputs += other.inputs;
        self.landings += other.landings;
        for (end, times) in other.ends {
            *self.ends.entry(end).or_default() += times;
        }
        self.coverage.merge(&other.coverage);
        self.failures.extend(other.failures);
    }
}

/// Simulates one run for each seed.
pub fn campaign(flow: &Arc<Workflow>, plan: &Plan, seeds: impl IntoIterator<Item = u64>) -> Totals {
    let mut totals = Totals { coverage: Coverage::of(flow), ..Totals::default() };
    for seed in seeds {
        let outcome = drive(flow, plan, Choices::from_seed(seed));
        totals.runs += 1;
        totals.events += outcome.journal.len() as u64;
        totals.inputs += outcome.inputs as u64;
        totals.landings += u64::from(outcome.landings);
        totals.coverage.add(flow, &outcome.journal);
        for code in &outcome.exits {
            totals.coverage.add_exit(*code);
        }
        *totals.ends.entry(format!("{:?}", outcome.standing)).or_default() += 1;
        totals.failures.extend(outcome.violation.map(|violation| (seed, violation)));
    }
    totals
}

/// A journal as bytes: a line of JSON for each event. The same seed gives the same bytes.
///
/// # Errors
///
/// When an event cannot be written as JSON, which would be a defect.
pub fn journal_bytes(journal: &[Recorded]) -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = Vec::new();
    for recorded in journal {
        serde_json::to_writer(&mut bytes, recorded)?;
        bytes.push(b'\n');
    }
    Ok(bytes)
}
