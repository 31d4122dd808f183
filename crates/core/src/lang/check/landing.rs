//! A unit lands at most once: nothing leads from a landing to another one.
//!
//! The machine would hold the second landing for a person; a definition that runs into it is mistaken. What has to land
//! after the fact is a unit of its own.

use std::collections::BTreeMap;

use super::super::compile::Draft;
use super::super::diagnostic::{Code, Diagnostic};
use super::super::problems::Problems;
use super::graph::{Graph, Spot, Way, Why, path};
use crate::workflow::{StageIx, VerdictIx};

/// Notes every landing from which another one can be reached.
pub(super) fn check(draft: &Draft, graph: &Graph, problems: &mut Problems<'_>) {
    let workflow = &draft.workflow;
    for (stage, ix) in workflow.stages.iter().zip((0..).map(StageIx)) {
        if !stage.kind.lands() {
            continue;
        }
        let Some(landed) = stage.verdict_named("landed") else { continue };
        let Some((way, second)) = another(draft, graph, ix, landed) else { continue };
        let name = &workflow.stage(second).name;
        let message = if second == ix {
            format!("`{name}` can be reached again after it has landed")
        } else {
            format!("`{name}` can be reached after `{}` has landed", stage.name)
        };
        let span = way.first().map_or(0..0, |first| first.span.clone());
        problems.report(Diagnostic::at(span, Code::LandsTwice, message).help(format!(
            "a unit lands at most once, and this is a way to a second landing: {}; end the unit and `add` another one \
             for what is to land later",
            path(way.into_iter(), name, workflow),
        )));
    }
}

/// A shortest way from a landing to another one.
fn another<'g>(
    draft: &Draft,
    graph: &'g Graph,
    from: StageIx,
    landed: VerdictIx,
) -> Option<(Vec<&'g Way>, StageIx)> {
    let first = graph.from(Spot::running(from)).filter(
        |(_, way)| matches!(way.why, Why::Verdict(ix) | Why::VerdictSpent(ix) if ix == landed),
    );
    let mut open: std::collections::VecDeque<usize> = first.map(|(at, _)| at).collect();
    let mut before: BTreeMap<usize, Option<usize>> = open.iter().map(|at| (*at, None)).collect();
    let mut seen = vec![false; graph.spots()];
    while let Some(at) = open.pop_front() {
        let Some(spot) = graph.ways[at].to else { continue };
        let lands = draft.workflow.stage(spot.stage()).kind.lands();
        if lands && spot.is_running() {
            let mut way = Vec::new();
            let mut step = Some(at);
            while let Some(at) = step {
                way.push(&graph.ways[at]);
                step = before.get(&at).copied().flatten();
            }
            way.reverse();
            return Some((way, spot.stage()));
        }
        if !std::mem::replace(&mut seen[spot.at()], true) {
            for (next, _) in graph.from(spot) {
                before.entry(next).or_insert(Some(at));
                open.push_back(next);
            }
        }
    }
    None
}
