//! Every stage can be reached, and from every stage the scope can be left.

use std::collections::BTreeSet;

use super::super::compile::Draft;
use super::super::diagnostic::{Code, Diagnostic};
use super::super::problems::Problems;
use super::super::words;
use super::graph::{Graph, Spot};
use crate::workflow::{Stage, StageIx};

/// Notes scopes that cannot begin, stages that nothing leads to, and stages without a way out of their scope.
pub(super) fn check(draft: &Draft, graph: &Graph, problems: &mut Problems<'_>) {
    beginnings(draft, problems);
    unreachable(draft, graph, problems);
    trapped(draft, graph, problems);
}

fn beginnings(draft: &Draft, problems: &mut Problems<'_>) {
    for (scope, span) in draft.workflow.scopes.iter().zip(&draft.origins.scopes) {
        if scope.first.is_none() && !scope.stages.is_empty() {
            let message = format!("`[[{}]]` has no stage to begin with", scope.name);
            problems.report(
                Diagnostic::at(span.clone(), Code::UnreachableStage, message)
                    .help("all of its stages are `aside`; leave that out of the first one"),
            );
        }
    }
}

/// Places seen so far. Each is walked through once, however many walks there are.
struct Seen(Vec<bool>);

impl Seen {
    fn nothing(graph: &Graph) -> Seen {
        Seen(vec![false; graph.spots()])
    }

    fn has(&self, stage: StageIx) -> bool {
        // Nothing runs that was not arrived at.
        self.0[Spot::arriving(stage).at()]
    }

    /// Walks on from some stages; the stages not seen before, in order.
    fn walk(
        &mut self,
        graph: &Graph,
        from: impl IntoIterator<Item = StageIx>,
    ) -> BTreeSet<StageIx> {
        let mut found = BTreeSet::new();
        let mut open: Vec<Spot> = from.into_iter().map(Spot::arriving).collect();
        while let Some(spot) = open.pop() {
            if !std::mem::replace(&mut self.0[spot.at()], true) {
                found.insert(spot.stage());
                open.extend(graph.from(spot).filter_map(|(_, way)| way.to));
            }
        }
        found
    }
}

fn unreachable(draft: &Draft, graph: &Graph, problems: &mut Problems<'_>) {
    let workflow = &draft.workflow;
    let firsts = workflow.scopes.iter().filter_map(|scope| scope.first);
    let entries = workflow.entries.iter().map(|entry| entry.at);
    let mut seen = Seen::nothing(graph);
    seen.walk(graph, firsts.chain(entries));
    let lost: Vec<StageIx> = all(workflow.stages.len()).filter(|ix| !seen.has(*ix)).collect();
    // Those that no other lost stage leads to come first: they are where the mistake is, and explain the others.
    let led_to: BTreeSet<StageIx> = lost.iter().flat_map(|ix| leads_to(graph, *ix)).collect();
    let (roots, rest): (Vec<StageIx>, Vec<StageIx>) =
        lost.into_iter().partition(|ix| !led_to.contains(ix));
    for ix in roots.into_iter().chain(rest) {
        let begins = workflow.scopes[workflow.stage(ix).scope.at()].first.is_some();
        if seen.has(ix) || !begins {
            continue;
        }
        let behind = seen.walk(graph, [ix]);
        let also = behind.iter().filter(|other| **other != ix);
        let also: Vec<&str> = also.map(|other| workflow.stage(*other).name.as_str()).collect();
        report_unreachable(draft, ix, &also, problems);
    }
}

/// The other stages that a stage leads to directly.
fn leads_to(graph: &Graph, ix: StageIx) -> impl Iterator<Item = StageIx> {
    let ways = graph.from(Spot::arriving(ix)).chain(graph.from(Spot::running(ix)));
    ways.filter_map(|(_, way)| way.to).map(Spot::stage).filter(move |to| *to != ix)
}

fn report_unreachable(draft: &Draft, ix: StageIx, also: &[&str], problems: &mut Problems<'_>) {
    let stage: &Stage = draft.workflow.stage(ix);
    let mut message = format!("nothing leads to `{}`", stage.name);
    if !also.is_empty() {
        let shown: Vec<&str> = also.iter().take(5).copied().collect();
        let more = if also.len() > 5 { ", …" } else { "" };
        message.push_str(&format!(", and so not to {}{more}", words::listed(&shown)));
    }
    let help = if stage.aside {
        format!("it is `aside`, so a move must name it: `to = \"{}\"`", stage.name)
    } else {
        let siblings = &draft.workflow.scopes[stage.scope.at()].stages;
        let before = &siblings[..siblings.partition_point(|other| *other < ix)];
        let before = before.iter().rev().find(|other| !draft.workflow.stage(**other).aside);
        match before {
            Some(before) => format!(
                "no move of `{}` goes `next`, and no other names it; add such a move, or leave the \
                 stage out",
                draft.workflow.stage(*before).name
            ),
            None => "name it in a move, or leave it out".to_owned(),
        }
    };
    let span = draft.origins.stages[ix.at()].name.clone();
    problems.report(Diagnostic::at(span, Code::UnreachableStage, message).help(help));
}

fn trapped(draft: &Draft, graph: &Graph, problems: &mut Problems<'_>) {
    let workflow = &draft.workflow;
    let leaves = that_can_leave(draft, graph);
    let mut seen = Seen::nothing(graph);
    for ix in all(workflow.stages.len()) {
        if leaves[Spot::arriving(ix).at()] || seen.has(ix) {
            continue;
        }
        let stage = workflow.stage(ix);
        let around = seen.walk(graph, [ix]);
        let names: Vec<&str> =
            around.iter().take(6).map(|ix| workflow.stage(*ix).name.as_str()).collect();
        let scope = &workflow.scopes[stage.scope.at()].name;
        let message = format!("from `{}` there is no way out of `[[{scope}]]`", stage.name);
        let help = format!(
            "it only ever gets to {}; let one of them end, settle, return or finish",
            words::listed(&names)
        );
        let span = draft.origins.stages[ix.at()].name.clone();
        problems.report(Diagnostic::at(span, Code::NoWayOut, message).help(help));
    }
}

/// By place: whether the scope can be left from there.
fn that_can_leave(draft: &Draft, graph: &Graph) -> Vec<bool> {
    let mut back: Vec<Vec<Spot>> = vec![Vec::new(); graph.spots()];
    let mut open: Vec<Spot> = Vec::new();
    for way in &graph.ways {
        match way.to {
            Some(to) => back[to.at()].push(way.from),
            None => open.push(way.from),
        }
    }
    // A verdict that leads nowhere was noted; it may yet be meant to lead out.
    for (stage, ix) in draft.workflow.stages.iter().zip((0..).map(StageIx)) {
        let mut verdicts = stage.verdicts.iter();
        if stage.verdicts.is_empty() || verdicts.any(|verdict| verdict.cases.is_empty()) {
            open.push(Spot::running(ix));
        }
    }
    let mut leaves = vec![false; graph.spots()];
    while let Some(spot) = open.pop() {
        if !std::mem::replace(&mut leaves[spot.at()], true) {
            open.extend(&back[spot.at()]);
        }
    }
    leaves
}

/// All indices of so many stages.
fn all(count: usize) -> impl Iterator<Item = StageIx> {
    (0..count).filter_map(|at| u16::try_from(at).ok()).map(StageIx)
}

#[cfg(test)]
mod tests {
    use crate::lang::testing::{messages, wrong};

    const ASIDE: &str = "[[unit]]\nstage='b'\naside=true\ntell=['say']\non.told='done'\n";

    #[test]
    fn an_aside_must_be_named_and_may_be_named_by_a_pause_or_an_entry() {
        let with = |on: &str, more: &str| {
            format!("{more}[[unit]]\nstage='a'\ntell=['say']\non={{{on}}}\n{ASIDE}")
        };
        assert_eq!(wrong(&with("told='next'", "")), ["unreachable-stage: b"]);
        assert_eq!(wrong(&with("told='b'", "")), [""; 0]);
        assert_eq!(wrong(&with("told={pause='b'}", "")), [""; 0]);
        assert_eq!(wrong(&with("told='next', crashed={rest='b'}", "")), [""; 0]);
        assert_eq!(wrong(&with("told='next'", "[entry.x]\nat='b'\n")), [""; 0]);
    }

    #[test]
    fn a_stage_passed_over_leads_on() {
        let stages = "[inputs]\nx='flag'\n[[unit]]\nstage='a'\nwhen='x'\ntell=['say']\non.told='done'\n\
                      [[unit]]\nstage='b'\ntell=['say']\non.told='done'\n";
        assert_eq!(wrong(stages), [""; 0]);
        assert_eq!(wrong(&stages.replace("when='x'\n", "")), ["unreachable-stage: b"]);
    }

    #[test]
    fn what_is_lost_with_a_lost_stage_is_said_once() {
        let stages = "[[unit]]\nstage='a'\ntell=['say']\non.told='done'\n\
                      [[unit]]\nstage='c'\naside=true\ntell=['say']\non.told='done'\n\
                      [[unit]]\nstage='b'\naside=true\ntell=['say']\non.told='c'\n";
        assert_eq!(messages(stages), ["nothing leads to `b`, and so not to `c`"]);
    }

    #[test]
    fn of_many_that_are_lost_a_few_are_named() {
        let lost = |count: usize| {
            let asides: String = (0..count)
                .map(|n| {
                    let to = if n + 1 == count { "done".to_owned() } else { format!("s{}", n + 1) };
                    format!("[[unit]]\nstage='s{n}'\naside=true\ntell=['say']\non.told='{to}'\n")
                })
                .collect();
            messages(&format!("[[unit]]\nstage='a'\ntell=['say']\non.told='done'\n{asides}"))
        };
        let five = "nothing leads to `s0`, and so not to `s1`, `s2`, `s3`, `s4` and `s5`";
        assert_eq!(lost(6), [five]);
        assert_eq!(lost(7), [format!("{five}, …")]);
    }

    #[test]
    fn a_verdict_that_leads_nowhere_yet_may_be_the_way_out() {
        let stages = "[[unit]]\nstage='a'\nrole='judge'\non={good='next'}\n\
                      [[unit]]\nstage='b'\ngate='?'\non={go='a'}\n";
        let found = wrong(stages);
        assert!(found.iter().any(|it| it.starts_with("unhandled-verdict")), "{found:?}");
        assert!(!found.iter().any(|it| it.starts_with("no-way-out")), "{found:?}");
    }

    #[test]
    fn a_scope_of_asides_cannot_begin() {
        let stages = "[[unit]]\nstage='a'\naside=true\ntell=['say']\non.told='done'\n";
        assert_eq!(wrong(stages), ["unreachable-stage: unit"]);
    }

    #[test]
    fn a_pause_is_no_way_out_unless_it_leads_to_one() {
        let gate = |on: &str| format!("[[unit]]\nstage='a'\ngate='?'\non={{{on}}}\n{ASIDE}");
        assert_eq!(wrong(&gate("go='b', wait='pause'")), [""; 0]);
        assert_eq!(wrong(&gate("wait={pause='b'}")), [""; 0]);
        let stuck = gate("go='b', wait='pause'").replace("on.told='done'", "on.told='a'");
        assert_eq!(wrong(&stuck), ["no-way-out: a"]);
    }
}
