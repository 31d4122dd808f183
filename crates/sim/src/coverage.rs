//! What a set of simulated runs has reached.

use std::collections::{BTreeMap, BTreeSet};

use windlass_core::{
    run::{Event, Recorded},
    workflow::{Kind, Workflow},
};

/// Things of a definition that can be reached, and how often they were.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Coverage {
    /// By what kind of thing it is and its name, such as `stage approve_plan`.
    pub reached: BTreeMap<String, u64>,
}

impl Coverage {
    /// Everything that a definition has, reached not once.
    pub fn of(flow: &Workflow) -> Self {
        let mut coverage = Coverage::default();
        let mut have = |what: String| {
            coverage.reached.insert(what, 0);
        };
        for stage in &flow.stages {
            have(format!("stage {}", stage.name));
            have(format!("state {}", stage.shown()));
            for verdict in &stage.verdicts {
                have(format!("verdict {}:{}", stage.name, verdict.name));
                for case in &verdict.cases {
                    if let Some(record) = &case.take.record {
                        have(format!("record {record}"));
                    }
                    for outcome in [case.take.outcome, finish(&case.take.go)].into_iter().flatten()
                    {
                        have(format!("outcome {}", outcome.name()));
                    }
                    let spent = case.take.spent.iter();
                    for record in spent.filter_map(|spent| spent.record.as_ref()) {
                        have(format!("record {record}"));
                    }
                }
            }
            if let Some(record) = &stage.record {
                have(format!("record {record}"));
            }
            if let Kind::Gate(gate) = &stage.kind {
                for (concern, _) in &gate.concerns {
                    have(format!("concern {concern}"));
                }
                for policy in &gate.policy {
                    if let Some(record) = &policy.record {
                        have(format!("record {record}"));
                    }
                }
            }
        }
        for counter in &flow.counters {
            have(format!("counter {}", counter.name));
            have(format!("spent {}", counter.name));
        }
        coverage
    }

    fn hit(&mut self, what: String) {
        *self.reached.entry(what).or_default() += 1;
    }

    /// Adds what a run's journal reached.
    pub fn add(&mut self, flow: &Workflow, journal: &[Recorded]) {
        for recorded in journal {
            self.add_event(flow, &recorded.event);
        }
        for record in crate::drive::records(flow, journal) {
            self.hit(format!("record {record}"));
        }
    }

    fn add_event(&mut self, flow: &Workflow, event: &Event) {
        let counter = |at: windlass_core::workflow::CounterIx| flow.counters[at.at()].name.clone();
        match event {
            Event::Entered { stage, count, .. } => {
                self.hit(format!("stage {}", flow.stage(*stage).name));
                self.hit(format!("state {}", flow.stage(*stage).shown()));
                if let Some(count) = count {
                    self.hit(format!("counter {}", counter(count.counter)));
                }
            }
            Event::Moved(moved) => {
                let stage = flow.stage(moved.stage);
                if let Some(verdict) = moved.verdict {
                    let verdict = &stage.verdict(verdict).name;
                    self.hit(format!("verdict {}:{verdict}", stage.name));
                }
                if let Some(count) = &moved.count {
                    self.hit(format!("counter {}", counter(count.counter)));
                }
                if let Some(spent) = moved.spent {
                    self.hit(format!("spent {}", counter(spent)));
                }
                if let Some(outcome) = moved.outcome {
                    self.hit(format!("outcome {}", outcome.name()));
                }
            }
            Event::Asked { frame: _, concerns, .. } if !concerns.is_empty() => {
                // The gate's stage was entered just before, so its concerns are looked up by count.
                let gates = flow.stages.iter().filter_map(|stage| match &stage.kind {
                    Kind::Gate(gate) if gate.concerns.len() == concerns.len() => Some(gate),
                    _ => None,
                });
                let fired: BTreeSet<String> = gates
                    .flat_map(|gate| gate.concerns.iter().zip(concerns))
                    .filter(|(_, fired)| **fired == Some(true))
                    .map(|((name, _), _)| format!("concern {name}"))
                    .collect();
                fired.into_iter().for_each(|what| self.hit(what));
            }
            Event::Ended { outcome } => self.hit(format!("outcome {}", outcome.name())),
            _ => {}
        }
    }

    /// Adds an exit code.
    pub fn add_exit(&mut self, code: u8) {
        self.hit(format!("exit {code}"));
    }

    /// Adds another set of runs.
    pub fn merge(&mut self, other: &Coverage) {
        for (what, times) in &other.reached {
            *self.reached.entry(what.clone()).or_default() += times;
        }
    }

    /// What was not reached.
    pub fn missing(&self) -> Vec<&str> {
        self.reached.iter().filter(|(_, n)| **n == 0).map(|(what, _)| what.as_str()).collect()
    }
}

fn finish(go: &windlass_core::workflow::Go) -> Option<windlass_core::workflow::RunOutcome> {
    match go {
        windlass_core::workflow::Go::Finish(outcome) => Some(*outcome),
        _ => None,
    }
}
