//! On every path to a landing or a save, each of its needs was met after the last edit, waived, or passed over.
//!
//! For each need every path is walked twice over: once with the evidence, once without. What can be reached without
//! it must not be where it is needed.

use std::collections::{BTreeMap, VecDeque};

use super::super::compile::Draft;
use super::super::diagnostic::{Code, Diagnostic, Span};
use super::super::problems::Problems;
use super::graph::{Graph, Spot, Way, Why, path};
use crate::{
    expr::{Expr, Name},
    workflow::{Errand, Kind, Need, Owner, ScopeIx, Stage, StageIx, VerdictIx, Workflow},
};

pub(super) fn check(draft: &Draft, graph: &Graph, problems: &mut Problems<'_>) {
    let mut walks: BTreeMap<(StageIx, &[VerdictIx]), Walk> = BTreeMap::new();
    let workflow = &draft.workflow;
    // What could not be made out stands for a constant: with other mistakes about, a constant means nothing.
    let clean = problems.none();
    for (stage, ix) in workflow.stages.iter().zip((0..).map(StageIx)) {
        let spans = &draft.origins.stages[ix.at()].needs;
        for (need, span) in stage.needs.iter().zip(spans) {
            if let Some(what) = fickle(workflow, workflow.stage(need.stage), clean) {
                let giver = &workflow.stage(need.stage).name;
                let message = format!("whether `{giver}` is needed depends on {what}");
                problems.report(Diagnostic::at(span.clone(), Code::BadEvidence, message).help(format!(
                    "a needed stage that is passed over is not needed, so the `when` of `{giver}` may only ask for \
                     what the work itself cannot change: inputs, and facts that no editing stage reports",
                )));
            }
            let walk = walks
                .entry((need.stage, need.verdicts.as_slice()))
                .or_insert_with(|| Walk::new(workflow, graph, need));
            if let Some(ways) = walk.without(graph, ix) {
                let ways: Vec<&Way> = ways.iter().map(|at| &graph.ways[*at]).collect();
                problems.report(unproved(workflow, stage, need, span, &ways));
            }
        }
    }
}

/// What the condition of a needed stage asks for, if the work could change it on its way and so land unproved.
fn fickle(workflow: &Workflow, giver: &Stage, clean: bool) -> Option<&'static str> {
    let mut what = None;
    let mut asks = false;
    giver.when.as_ref()?.walk(&mut |expr| {
        let Expr::Name(name) = expr else { return };
        asks = true;
        what = what.or(match name {
            Name::Counter(_) => Some("a counter"),
            Name::Runs(_) => Some("how often a stage has run"),
            Name::Last(_) => Some("what a stage came to"),
            Name::Units(_) => Some("how many units there are"),
            Name::Fact(fact) => match workflow.facts[fact.at()].owner {
                Owner::Stage(stage) if workflow.stage(stage).edits => {
                    Some("what an editing stage says of itself")
                }
                Owner::Stage(_) | Owner::Item(_) => None,
            },
            Name::Input(_)
            | Name::UnitGeneration
            | Name::UnitStatus
            | Name::RunOutcome
            | Name::RunStopping
            | Name::Quiet => None,
        });
    });
    if !asks && clean { Some("nothing at all") } else { what }
}

fn unproved(
    workflow: &Workflow,
    stage: &Stage,
    need: &Need,
    span: &Span,
    ways: &[&Way],
) -> Diagnostic {
    let giver = workflow.stage(need.stage);
    let verdicts: Vec<&str> =
        need.verdicts.iter().map(|ix| giver.verdict(*ix).name.as_str()).collect();
    let message =
        format!("`{}` can be reached without `{}:{}`", stage.name, giver.name, verdicts.join("|"));
    let first = workflow.scopes[stage.scope.at()].first;
    let start = ways.first().map(|way| way.from.stage()).filter(|start| Some(*start) != first);
    let entry = workflow.entries.iter().find(|entry| Some(entry.at) == start);
    let entry = entry.map(|entry| format!("of `[entry.{}]` ", entry.name)).unwrap_or_default();
    let shown = path(ways.iter().copied(), &stage.name, workflow);
    let help = format!(
        "on the path {entry}{shown}; let it pass `{}` after the last edit, or let a person `waive` \
         it",
        giver.name
    );
    let problem = Diagnostic::at(span.clone(), Code::MissingEvidence, message).help(help);
    match ways.iter().rev().find(|way| way.why != Why::Entered) {
        Some(last) => problem.related(last.span.clone(), format!("this leads to `{}`", stage.name)),
        None => problem,
    }
}

/// Every place that can be reached, with and without the evidence, and how.
struct Walk {
    /// By place, without (0) or with (1) the evidence: the way taken to it, and whether there was evidence before.
    came: Vec<[Option<Came>; 2]>,
}

#[derive(Clone, Copy)]
enum Came {
    Start,
    By { way: usize, with: bool },
}

impl Walk {
    fn new(workflow: &Workflow, graph: &Graph, need: &Need) -> Walk {
        let scope = workflow.stage(need.stage).scope;
        let mut came = vec![[None, None]; graph.spots()];
        let mut open = VecDeque::new();
        let entries = workflow.entries.iter().map(|entry| entry.at);
        let entries = entries.filter(|_| scope == ScopeIx::UNIT);
        for start in workflow.scopes[scope.at()].first.into_iter().chain(entries) {
            let spot = Spot::arriving(start);
            came[spot.at()][0] = Some(Came::Start);
            open.push_back((spot, false));
        }
        while let Some((spot, with)) = open.pop_front() {
            for (at, way) in graph.from(spot) {
                let Some(to) = way.to else { continue };
                let after = evidence_after(workflow, need, way, with);
                let slot = &mut came[to.at()][usize::from(after)];
                if slot.is_none() {
                    *slot = Some(Came::By { way: at, with });
                    open.push_back((to, after));
                }
            }
        }
        Walk { came }
    }

    /// A shortest path to running a stage without the evidence.
    fn without(&self, graph: &Graph, stage: StageIx) -> Option<Vec<usize>> {
        let (mut spot, mut with) = (Spot::running(stage), false);
        let mut ways = Vec::new();
        while let Came::By { way, with: before } = self.came[spot.at()][usize::from(with)]? {
            ways.push(way);
            (spot, with) = (graph.ways[way].from, before);
        }
        ways.reverse();
        Some(ways)
    }
}

/// Whether there is evidence after a way was taken.
fn evidence_after(workflow: &Workflow, need: &Need, way: &Way, before: bool) -> bool {
    let from = way.from.stage();
    let stage = workflow.stage(from);
    match way.why {
        Why::Entered | Why::EntrySpent => before,
        Why::PassedOver => before || from == need.stage,
        Why::Verdict(verdict) | Why::VerdictSpent(verdict) => {
            let kept = before && !lost(workflow, stage, verdict, need);
            let given = if from == need.stage { need.verdicts.contains(&verdict) } else { kept };
            given || way.waives.contains(&need.stage)
        }
    }
}

/// Whether what a stage did leaves earlier evidence worthless.
fn lost(workflow: &Workflow, stage: &Stage, verdict: VerdictIx, need: &Need) -> bool {
    match &stage.kind {
        Kind::Each { scope, .. } => {
            workflow.scopes[scope.at()].stages.iter().any(|child| workflow.stage(*child).edits)
        }
        // A clean rebase makes a new tree, but not a new change; resolving a conflict makes both. What failed its proof
        // was rebuilt on what it failed with.
        Kind::Errand(Errand::Land { .. }) => match stage.verdict(verdict).name.as_str() {
            "moved" | "fail" => {
                matches!(workflow.stage(need.stage).kind, Kind::Errand(Errand::Checks { .. }))
            }
            "conflict" => true,
            _ => false,
        },
        Kind::Role { .. }
        | Kind::Panel { .. }
        | Kind::Errand(_)
        | Kind::Gate(_)
        | Kind::Decide(_) => stage.edits,
    }
}

#[cfg(test)]
mod tests {
    use crate::lang::{
        load,
        testing::{catalogue, definition, messages, wrong},
    };

    /// work → test → judge → land, with the moves of each to vary.
    struct Flow {
        test: &'static str,
        judge: &'static str,
        land: &'static str,
        more: &'static str,
    }

    const SOUND: Flow = Flow {
        test: "pass='next',fail='failed',skipped='failed'",
        judge: "good='next',bad='failed'",
        land: "landed='done',moved='failed',conflict='failed'",
        more: "",
    };

    impl Flow {
        fn text(&self) -> String {
            format!(
                "[inputs]\nx='flag'\n[counters]\nn={{per='unit',max=3,spent='failed'}}\n\
                 [[unit]]\nstage='work'\nrole='worker'\nedits=true\ncount='n'\non={{done='next',failed='failed'}}\n\
                 [[unit]]\nstage='test'\nchecks=['test']\non={{{}}}\n\
                 [[unit]]\nstage='judge'\nwhen='x'\nrole='judge'\non={{{}}}\n\
                 [[unit]]\nstage='land'\nland='merge'\nneeds=['test:pass','judge:good']\non={{{}}}\n{}",
                self.test, self.judge, self.land, self.more
            )
        }
    }

    #[test]
    fn a_path_that_meets_every_need_is_sound() {
        assert_eq!(wrong(&SOUND.text()), [""; 0]);
    }

    #[test]
    fn a_way_round_a_need_is_found() {
        let test = "pass='next',fail='failed',skipped='next'";
        assert_eq!(wrong(&Flow { test, ..SOUND }.text()), ["missing-evidence: test:pass"]);
        let test = "pass='land',fail='failed',skipped='next'";
        assert_eq!(
            wrong(&Flow { test, ..SOUND }.text()),
            ["missing-evidence: test:pass", "missing-evidence: judge:good"]
        );
        let judge = "good='next',bad='next'";
        assert_eq!(wrong(&Flow { judge, ..SOUND }.text()), ["missing-evidence: judge:good"]);
        assert_eq!(
            messages(&Flow { judge, ..SOUND }.text()),
            ["`land` can be reached without `judge:good`"]
        );
    }

    #[test]
    fn an_edit_a_move_and_a_conflict_cost_evidence() {
        let judge = "good='next',bad='mend'";
        let more = "[[unit]]\nstage='mend'\naside=true\nrole='worker'\nedits=true\ncount='n'\non={done='judge',failed='failed'}\n";
        assert_eq!(wrong(&Flow { judge, more, ..SOUND }.text()), ["missing-evidence: test:pass"]);
        let land = "landed='done',moved={to='land',count='n'},conflict='failed'";
        assert_eq!(wrong(&Flow { land, ..SOUND }.text()), ["missing-evidence: test:pass"]);
        let land = "landed='done',moved={to='test',count='n'},conflict='failed'";
        assert_eq!(wrong(&Flow { land, ..SOUND }.text()), [""; 0]);
        let land = "landed='done',moved='failed',conflict={to='land',count='n'}";
        assert_eq!(
            wrong(&Flow { land, ..SOUND }.text()),
            ["missing-evidence: test:pass", "missing-evidence: judge:good"]
        );
    }

    #[test]
    fn a_landing_with_a_proof_brings_its_own_checks() {
        let proof = |rest: &str, land: &'static str| {
            let text = Flow { land, ..SOUND }.text();
            text.replace("needs=['test:pass','judge:good']", rest)
        };
        let land = "landed='done',moved='failed',conflict='failed',fail='failed'";
        assert_eq!(wrong(&proof("proof=['test']", land)), [""; 0], "evidence enough");
        assert_eq!(
            wrong(&proof("proof=['test']", SOUND.land)),
            ["unhandled-verdict: land"],
            "it may be red"
        );
        assert_eq!(wrong(&proof("proof=[]\nneeds=['test:pass']", land))[..1], ["wrong-value: []"]);
        assert_eq!(wrong(&proof("proof=['tset']", land)), ["unknown-check: tset"]);
        assert_eq!(
            wrong(&proof("needs=['test:pass']\nwith={test=\"'none'\"}", SOUND.land)),
            ["misplaced-key: with"]
        );
        // What it was rebuilt on is another tree: a check's word no longer holds, and a judge's does.
        let again = "landed='done',moved='failed',conflict='failed',fail={to='land',count='n'}";
        assert_eq!(
            wrong(&proof("proof=['test']\nneeds=['test:pass','judge:good']", again)),
            ["missing-evidence: test:pass"]
        );
    }

    #[test]
    fn children_that_edit_cost_evidence() {
        let children = |edits: &str| {
            format!(
                "[[unit]]\nstage='plan'\nrole='planner'\non={{planned='next',blocked='failed'}}\n\
                 [[unit]]\nstage='test'\nchecks=['test']\non={{pass='next',fail='failed',skipped='failed'}}\n\
                 [[unit]]\nstage='each_one'\neach='task'\nfrom='plan.tasks'\non={{all='next',some='failed',none='next'}}\n\
                 [[unit]]\nstage='land'\nland='merge'\nneeds=['test:pass']\non={{landed='done',moved='failed',conflict='failed'}}\n\
                 [[task]]\nstage='do'\nrole='worker'\n{edits}\non={{done='next',failed='failed'}}\n"
            )
        };
        assert_eq!(wrong(&children("")), [""; 0]);
        assert_eq!(wrong(&children("edits=true")), ["missing-evidence: test:pass"]);
    }

    #[test]
    fn a_person_may_waive_exactly_what_is_named() {
        let test = "pass='next',fail='ask',skipped='ask'";
        let one = "[[unit]]\nstage='ask'\naside=true\ngate='?'\non={go={to='land',waive=['test']},no='failed'}\n";
        let both = "[[unit]]\nstage='ask'\naside=true\ngate='?'\non={go={to='land',waive=['test','judge']},no='failed'}\n";
        assert_eq!(
            wrong(&Flow { test, more: one, ..SOUND }.text()),
            ["missing-evidence: judge:good"]
        );
        assert_eq!(wrong(&Flow { test, more: both, ..SOUND }.text()), [""; 0]);
    }

    #[test]
    fn an_entry_starts_with_nothing() {
        let more = "[entry.late]\nat='judge'\n";
        assert_eq!(wrong(&Flow { more, ..SOUND }.text()), ["missing-evidence: test:pass"]);
    }

    #[test]
    fn only_what_looks_at_the_result_is_evidence() {
        let text = |needs: &str| SOUND.text().replace("'test:pass','judge:good'", needs);
        assert_eq!(wrong(&text("'work:done'")), ["bad-evidence: work"]);
        assert_eq!(wrong(&text("'land:landed'")), ["bad-evidence: land"]);
        assert_eq!(wrong(&text("'test'")), ["bad-evidence: test"]);
        assert_eq!(wrong(&text("'test:passed'")), ["unknown-verdict: passed"]);
        assert_eq!(wrong(&text("'test:pass|done'")), ["unknown-verdict: done"]);
        assert_eq!(wrong(&text("'test:passd|pass'")), ["unknown-verdict: passd"]);
        let unknown = text("'judge:fine'").replace("role='judge'", "role='nobody-knows'");
        assert_eq!(wrong(&unknown), ["unknown-role: nobody-knows"], "nothing more is known of it");
        assert_eq!(wrong(&text("'tset:pass'")), ["move-to-nowhere: tset"]);
    }

    #[test]
    fn whether_it_is_needed_is_not_for_the_work_to_say() {
        let asked = |edits: &str, when: &str| {
            let planned = format!(
                "[[unit]]\nstage='plan'\nrole='planner'\n{edits}\non={{planned='next',blocked='failed'}}\n\
                 [[unit]]\nstage='work'\n"
            );
            let text = SOUND.text().replace("[[unit]]\nstage='work'\n", &planned);
            wrong(&text.replace("when='x'", &format!("when=\"{when}\"")))
        };
        let fickle = ["bad-evidence: judge:good"];
        assert_eq!(asked("", "plan.steps > 1"), [""; 0], "a judge's word is no edit");
        assert_eq!(asked("edits=true", "plan.steps > 1"), fickle);
        assert_eq!(asked("", "n > 1 and x"), fickle);
        assert_eq!(asked("", "plan.runs > 1 or x"), fickle);
        assert_eq!(asked("", "plan.last == 'planned' or x"), fickle);
        assert_eq!(asked("", "units.total > 1 or x"), fickle);
        assert_eq!(asked("", "true"), fickle, "nothing at all");
        assert_eq!(asked("", "unit.generation == 0 or x"), [""; 0]);
    }

    #[test]
    fn a_long_path_is_cut_to_its_end() {
        let shown = |tells: usize| {
            let more: String = (0..tells)
                .map(|n| format!("[[unit]]\nstage='s{n}'\ntell=['say']\non.told='next'\n"))
                .collect();
            let flow = Flow { judge: "good='next',bad='next'", ..SOUND };
            let text = flow
                .text()
                .replace("[[unit]]\nstage='land'", &format!("{more}[[unit]]\nstage='land'"));
            let problems = load(&definition(&text), &catalogue()).unwrap_err();
            let help = problems[0].help.clone().unwrap();
            let path = help.split_once("path ").unwrap().1.split_once(';').unwrap().0.to_owned();
            path.split(" → ").map(str::to_owned).collect::<Vec<_>>()
        };
        // Work, test, judge and seven tells are ten steps; the landing is the end.
        assert_eq!((shown(7).len(), shown(7)[0].as_str()), (11, "work (done)"));
        let cut = shown(12);
        assert_eq!((cut.len(), cut[0].as_str(), cut[1].as_str()), (12, "…", "s2 (told)"));
        assert_eq!(cut[11], "land");
    }

    #[test]
    fn what_any_verdict_would_meet_proves_nothing() {
        let text = |needs: &str| SOUND.text().replace("'test:pass','judge:good'", needs);
        let bad = |need: &str| vec![format!("bad-evidence: {need}")];
        assert_eq!(wrong(&text("'test:fail'"))[..1], bad("test:fail"));
        assert_eq!(wrong(&text("'test:pass|fail'"))[..1], bad("test:pass|fail"));
        assert_eq!(wrong(&text("'judge:good|bad'"))[..1], bad("judge:good|bad"));
        assert_eq!(wrong(&text("'test:pass|skipped'")), [""; 0]);
        let witness = text("'judge:seen'").replace("role='judge'", "role='witness'");
        let witness = witness.replace("good='next',bad='failed'", "seen='next'");
        assert_eq!(wrong(&witness), [""; 0], "who has but one word proves something by saying it");
    }

    #[test]
    fn a_red_test_may_be_saved_but_never_lands() {
        let red = |rest: &str| SOUND.text().replace("checks=['test']", rest);
        let found = wrong(&red("checks=['test']\nexpect='fail'"));
        assert_eq!(found, ["bad-evidence: test:pass"]);
        let saved = red("checks=['test']\nexpect='fail'").replace(
            "land='merge'\nneeds=['test:pass','judge:good']\non={landed='done',moved='failed',conflict='failed'}",
            "save='commit'\nlabel='x'\nneeds=['test:pass','judge:good']\non={saved='done',nothing='failed'}",
        );
        assert_eq!(wrong(&saved), [""; 0]);
    }
}
