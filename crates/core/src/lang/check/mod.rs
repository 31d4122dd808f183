//! The proofs: what holds for every run of a workflow, whatever its agents say.
//!
//! Each looks at the compiled draft only, so that nothing is proved of a text that the interpreter does not run.

mod components;
mod counters;
mod cycles;
mod evidence;
mod gates;
mod graph;
mod growth;
mod landing;
mod reach;

use super::compile::Draft;
use super::problems::Problems;
use graph::Graph;

/// Notes everything that does not hold.
pub(super) fn check(draft: &Draft, problems: &mut Problems<'_>) {
    let graph = Graph::new(draft);
    reach::check(draft, &graph, problems);
    gates::check(draft, problems);
    counters::check(draft, &graph, problems);
    cycles::check(draft, &graph, problems);
    growth::check(draft, &graph, problems);
    evidence::check(draft, &graph, problems);
    landing::check(draft, &graph, problems);
}
