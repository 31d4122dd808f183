//! The built-in workflows, a line each.

use serde::Serialize;
use windlass_core::workflow::Workflow;

use super::text::{FAINT, Line, PLAIN, STRONG, count, plural, widest};

#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    pub name: String,
    pub about: String,
    /// What a unit is called.
    pub unit: String,
    pub stages: usize,
    pub digest: String,
}

impl Summary {
    pub fn of(flow: &Workflow) -> Self {
        Self {
            name: flow.name.clone(),
            about: flow.about.clone(),
            unit: flow.called.clone(),
            stages: flow.stages.len(),
            digest: flow.source.digest.to_string(),
        }
    }
}

pub fn list(summaries: &[Summary], width: usize) -> String {
    let size = |summary: &Summary| {
        format!("{}, {}", count(summary.stages as u64, "stage"), plural(&summary.unit))
    };
    let names = widest(summaries.iter().map(|summary| summary.name.as_str()), 24);
    let sizes: Vec<String> = summaries.iter().map(size).collect();
    let size_width = widest(sizes.iter().map(String::as_str), 30);
    let lines: Vec<String> = summaries
        .iter()
        .zip(&sizes)
        .map(|(summary, size)| {
            Line::at(0)
                .lead(STRONG, &summary.name, names + 2)
                .lead(FAINT, size, size_width + 2)
                .add(PLAIN, &summary.about)
                .fold(width)
        })
        .collect();
    lines.join("\n")
}
