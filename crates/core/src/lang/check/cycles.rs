//! Every cycle passes a person or a counter that is not put back inside that cycle.
//!
//! A way that counts can be taken only so often before its counter is put back. So, of every knot of cycles, the ways
//! are cut that count a counter which nothing in the knot puts back; what then still hangs together is a smaller knot,
//! with fewer ways to put counters back. What cannot be cut in the end can go on for ever.

use std::collections::{BTreeMap, BTreeSet};

use super::super::compile::Draft;
use super::super::diagnostic::{Code, Diagnostic, Span};
use super::super::problems::Problems;
use super::components::{components, shortest};
use super::graph::{Graph, Spot, Way, Why, path};
use crate::workflow::{CounterIx, Holder, Kind, ScopeIx, StageIx};

/// Cycles reported at once.
const REPORTED: usize = 20;

pub(super) fn check(draft: &Draft, graph: &Graph, problems: &mut Problems<'_>) {
    let live = graph.ways.iter().map(|way| way.to.is_some() && !way.held && !way.person);
    let mut knots = Knots { draft, graph, live: live.collect(), component: Vec::new() };
    for _ in 0..REPORTED {
        knots.cut();
        let Some(endless) = knots.uncounted().or_else(|| knots.put_back_inside()) else { return };
        problems.report(endless.problem);
        endless.cut.into_iter().for_each(|way| knots.live[way] = false);
    }
}

struct Knots<'a> {
    draft: &'a Draft,
    graph: &'a Graph,
    /// By way: whether it is still part of some knot.
    live: Vec<bool>,
    /// By place: the knot it belongs to.
    component: Vec<usize>,
}

/// A cycle without end, and the ways to cut so that the next one can be looked for.
struct Endless {
    problem: Diagnostic,
    cut: Vec<usize>,
}

/// Which counters are put back, and where that stands.
type PutBack = BTreeMap<CounterIx, Span>;

#[derive(Default)]
struct Resets {
    /// By knot: what is put back inside it, its children's doing included.
    inside: BTreeMap<usize, PutBack>,
    /// What some unit may put back while another goes round.
    meanwhile: PutBack,
}

impl Knots<'_> {
    fn live_ways(&self) -> impl Iterator<Item = (usize, &Way)> {
        self.graph.ways.iter().enumerate().filter(|(at, _)| self.live[*at])
    }

    /// Cuts all ways that can be taken only so often, until nothing changes.
    fn cut(&mut self) {
        loop {
            self.drop_what_is_no_cycle();
            let resets = self.resets();
            // One that goes further with each unit bounds nothing: whoever goes round may add units.
            let grows = |ix: CounterIx| self.draft.workflow.counters[ix.at()].each_unit.is_some();
            let bounded = |(_, way): &(usize, &Way)| {
                way.counts.is_some_and(|counter| {
                    !grows(counter) && self.put_back(counter, way, &resets).is_none()
                })
            };
            let cut: Vec<usize> = self.live_ways().filter(bounded).map(|(at, _)| at).collect();
            if cut.is_empty() {
                return;
            }
            cut.into_iter().for_each(|at| self.live[at] = false);
        }
    }

    fn drop_what_is_no_cycle(&mut self) {
        let live = &self.live;
        self.component = components(self.graph, |at| live[at]);
        for (at, way) in self.graph.ways.iter().enumerate() {
            let within = way.to.is_some_and(|to| self.knot(to) == self.knot(way.from));
            self.live[at] = self.live[at] && within;
        }
    }

    fn knot(&self, spot: Spot) -> usize {
        self.component[spot.at()]
    }

    fn scope_of(&self, stage: StageIx) -> ScopeIx {
        self.draft.workflow.stage(stage).scope
    }

    fn resets(&self) -> Resets {
        let mut resets = Resets::default();
        let mut runs: BTreeSet<(usize, ScopeIx)> = BTreeSet::new();
        for (_, way) in self.live_ways() {
            let knot = self.knot(way.from);
            resets.inside.entry(knot).or_default().extend(way.resets.iter().cloned());
            let stage = self.draft.workflow.stage(way.from.stage());
            if let (true, Kind::Each { scope, .. }) = (way.from.is_running(), &stage.kind) {
                runs.insert((knot, *scope));
            }
        }
        for (knot, scope) in runs {
            for way in self.graph.ways.iter().filter(|way| !way.person) {
                if self.scope_of(way.from.stage()) == scope {
                    resets.inside.entry(knot).or_default().extend(way.resets.iter().cloned());
                }
            }
        }
        for (_, way) in self.live_ways().filter(|(_, way)| !self.runs_alone(way)) {
            let inside = resets.inside.get(&self.knot(way.from));
            resets.meanwhile.extend(inside.into_iter().flatten().map(|(ix, at)| (*ix, at.clone())));
        }
        resets
    }

    /// Intake and finale run once, with nothing beside them.
    fn runs_alone(&self, way: &Way) -> bool {
        let scope = self.scope_of(way.from.stage());
        scope == ScopeIx::INTAKE || scope == ScopeIx::FINALE
    }

    /// Where a counter is put back while the knot of a way goes round: inside it, or, for a counter that units share,
    /// by another unit that goes round meanwhile.
    fn put_back<'r>(&self, counter: CounterIx, way: &Way, resets: &'r Resets) -> Option<&'r Span> {
        let inside =
            resets.inside.get(&self.knot(way.from)).and_then(|inside| inside.get(&counter));
        let shared = self.draft.workflow.counters[counter.at()].per == Holder::Run;
        let meanwhile =
            || resets.meanwhile.get(&counter).filter(|_| shared && !self.runs_alone(way));
        inside.or_else(meanwhile)
    }

    /// A cycle that counts nothing at all.
    fn uncounted(&self) -> Option<Endless> {
        let counts = |at: usize| self.live[at] && self.graph.ways[at].counts.is_none();
        let component = components(self.graph, counts);
        let within = |at: usize| {
            let way = &self.graph.ways[at];
            counts(at) && way.to.is_some_and(|to| component[to.at()] == component[way.from.at()])
        };
        let (_, way) = self.graph.ways.iter().enumerate().find(|(at, _)| within(*at))?;
        let start = way.from;
        let ways = self.graph.from(start).filter(|(at, _)| within(*at));
        let cycles = ways.filter_map(|(at, way)| {
            let back = shortest(self.graph, way.to?, start, within)?;
            Some([vec![at], back].concat())
        });
        let cycle = cycles.min_by_key(Vec::len)?;
        let back = self.way_back(&cycle)?;
        Some(Endless { problem: self.neither_counter_nor_person(&cycle, back), cut: vec![back] })
    }

    /// The way of a cycle that goes back furthest in the file: that is what makes it a cycle.
    fn way_back(&self, cycle: &[usize]) -> Option<usize> {
        let moves = cycle.iter().copied().filter(|at| self.graph.ways[*at].why != Why::Entered);
        moves.min_by_key(|at| self.graph.ways[*at].to)
    }

    fn shown(&self, cycle: &[usize]) -> String {
        let workflow = &self.draft.workflow;
        let start = cycle.first().map(|at| self.graph.ways[*at].from.stage());
        let name = start.map_or("", |stage| &workflow.stage(stage).name);
        path(cycle.iter().map(|at| &self.graph.ways[*at]), name, workflow)
    }

    fn neither_counter_nor_person(&self, cycle: &[usize], back: usize) -> Diagnostic {
        let message =
            format!("the cycle {} passes neither a counter nor a person", self.shown(cycle));
        let span = self.graph.ways[back].span.clone();
        let mut problem = Diagnostic::at(span, Code::UnboundedCycle, message).help(
            "add `count = \"COUNTER\", spent = \"STAGE\"` to one of its moves, or let a person \
             decide at a gate",
        );
        for way in cycle.iter().map(|at| &self.graph.ways[*at]) {
            let stage = self.draft.workflow.stage(way.from.stage());
            if matches!(way.why, Why::Verdict(_)) && matches!(stage.kind, Kind::Gate(_)) {
                let note = format!("the policy of `{}` may answer with this", stage.name);
                problem = problem.related(way.span.clone(), note);
            }
        }
        problem
    }

    /// A cycle whose counter is put back on the way round.
    fn put_back_inside(&self) -> Option<Endless> {
        let resets = self.resets();
        let (_, way) = self.live_ways().find(|(_, way)| way.counts.is_some())?;
        let counter = way.counts?;
        let put_back = self.put_back(counter, way, &resets)?;
        let knot = self.knot(way.from);
        let same =
            |(_, way): &(usize, &Way)| way.counts == Some(counter) && self.knot(way.from) == knot;
        let cut: Vec<usize> = self.live_ways().filter(same).map(|(at, _)| at).collect();
        // The shortest of a few is easiest to read; all of many would take long.
        let cycles = cut.iter().take(16).filter_map(|at| self.cycle_through(*at, put_back));
        let cycle = cycles.min_by_key(Vec::len)?;
        let way = &self.graph.ways[*cycle.first()?];
        let name = &self.draft.workflow.counters[counter.at()].name;
        let shown = self.shown(&cycle);
        let inside = resets.inside.get(&knot).is_some_and(|inside| inside.contains_key(&counter));
        let message = if inside {
            format!("`{name}` is reset inside the cycle {shown}, so it never runs out")
        } else {
            format!(
                "`{name}` never runs out in the cycle {shown}: another unit may reset it meanwhile"
            )
        };
        let problem = Diagnostic::at(put_back.clone(), Code::ResetInCycle, message)
            .related(way.span.clone(), format!("this counts `{name}`"))
            .help(
                "reset it where a person decides, or outside of the cycle; or count one more counter \
                 that nothing resets",
            );
        Some(Endless { problem, cut })
    }

    /// A cycle that takes a way and, if it can, one that puts a counter back at this place.
    fn cycle_through(&self, at: usize, put_back: &Span) -> Option<Vec<usize>> {
        let live = |at: usize| self.live[at];
        let way = &self.graph.ways[at];
        let knot = self.knot(way.from);
        let mut by = self.live_ways().filter(|(_, other)| self.knot(other.from) == knot);
        let by = by.find(|(_, other)| other.resets.iter().any(|(_, span)| span == put_back));
        let mut cycle = vec![at];
        let mut end = way.to?;
        if let Some((by, reset)) = by.filter(|(by, _)| *by != at) {
            cycle.extend(shortest(self.graph, end, reset.from, live)?);
            cycle.push(by);
            end = reset.to?;
        }
        cycle.extend(shortest(self.graph, end, way.from, live)?);
        Some(cycle)
    }
}

#[cfg(test)]
mod tests {
    use crate::lang::{
        load,
        testing::{catalogue, definition, messages, wrong},
    };

    const COUNTERS: &str = "[inputs]\nx='flag'\n[counters]\nn={per='unit',max=3}\nk={per='unit',max=3}\nvisit={per='stage',max=2}\n";

    /// Two stages of a unit: `a` (worker) and `b` (judge), with their moves.
    fn two(a: &str, b: &str, more: &str) -> String {
        format!(
            "{COUNTERS}[[unit]]\nstage='a'\nrole='worker'\non={{{a}}}\n\
             [[unit]]\nstage='b'\nrole='judge'\non={{{b}}}\n{more}"
        )
    }

    /// What is wrong, counters that the variation does not use aside.
    fn endless(text: &str) -> Vec<String> {
        wrong(text).into_iter().filter(|problem| !problem.starts_with("unused")).collect()
    }

    #[test]
    fn children_put_a_counter_back_only_where_they_run() {
        let text = |all: &str| {
            format!(
                "[inputs]\nx='flag'\n[counters]\nk={{per='unit',max=3,spent='failed'}}\n\
                 [[unit]]\nstage='a'\nrole='planner'\non={{planned='next',blocked='failed'}}\n\
                 [[unit]]\nstage='e'\nwhen='x'\neach='task'\nfrom='a.tasks'\n\
                 on={{all='{all}',some='failed',none='failed'}}\n\
                 [[unit]]\nstage='b'\nrole='judge'\non={{good='next',bad={{to='a',count='k'}}}}\n\
                 [[task]]\nstage='t'\nrole='worker'\n\
                 on={{done={{end='done',reset=['k']}},failed='failed'}}\n"
            )
        };
        assert_eq!(wrong(&text("next")), ["reset-in-cycle: k"]);
        assert_eq!(wrong(&text("failed")), [""; 0], "who goes round has passed the children over");
    }

    #[test]
    fn a_policy_that_may_not_answer_makes_no_cycle() {
        let text = |again: &str| {
            format!(
                "[[unit]]\nstage='a'\nrole='worker'\non={{done='next',failed='failed'}}\n\
                 [[unit]]\nstage='t'\nchecks=['test']\non={{pass='next',fail='g',skipped='g'}}\n\
                 [[unit]]\nstage='g'\ngate='?'\npolicy=[{{answer='more'}}]\non={{more={again},no='failed',go='next'}}\n\
                 [[unit]]\nstage='l'\nland='merge'\nneeds=['t:pass']\non={{landed='done',moved='failed',conflict='failed'}}\n"
            )
        };
        let found = |again: &str| {
            let found = wrong(&text(again)).into_iter();
            found.map(|it| it.split(':').next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
        };
        let cycles = |again: &str| found(again).contains(&"unbounded-cycle".to_owned());
        assert!(cycles("'a'"));
        assert!(!cycles("{to='a',reason=true}"), "{:?}", found("{to='a',reason=true}"));
        assert!(!cycles("{to='a',waive=['t']}"), "{:?}", found("{to='a',waive=['t']}"));
        assert!(found("{to='a',reason=true}").contains(&"policy-answer".to_owned()));
    }

    #[test]
    fn what_runs_alone_is_not_put_back_by_units() {
        let units = "[counters]\nshared={per='run',max=3,spent='end'}\n\
                     [[unit]]\nstage='w'\nrole='worker'\n\
                     on={done={to='w',count='shared',reset=['shared'],spent='done'},failed='failed'}\n";
        assert_eq!(wrong(units), ["reset-in-cycle: shared"]);
        let finale = "[[finale]]\nstage='f'\nrole='planner'\n\
                      on={planned={to='f',count='shared',spent='end'},blocked='end'}\n";
        assert_eq!(
            wrong(&format!("{units}{finale}")),
            ["reset-in-cycle: shared"],
            "once: not for the finale"
        );
        let intake = definition(units).replace(
            "on.found = { to = \"end\"",
            "on.found = [{ when = \"first.count > 3\", to = \"first\", count = \"shared\", spent = \"end\" }, { to = \"end\"",
        );
        let intake =
            intake.replace("add = { unit = \"items\" } }", "add = { unit = \"items\" } }]");
        let problems = load(&intake, &catalogue()).unwrap_err();
        let codes: Vec<&str> = problems.iter().map(|problem| problem.code.name()).collect();
        assert_eq!(codes, ["reset-in-cycle"], "{problems:?}");
    }

    #[test]
    fn a_counter_on_any_move_of_the_cycle_will_do() {
        let counted = "{to='a',count='n',spent='failed'}";
        assert_eq!(
            endless(&two("done='next',failed='failed'", &format!("good='next',bad={counted}"), "")),
            [""; 0]
        );
        assert_eq!(
            endless(&two(
                "done={to='b',count='n',spent='failed'},failed='failed'",
                "good='next',bad='a'",
                ""
            )),
            [""; 0]
        );
        assert_eq!(
            endless(&two("done='next',failed='failed'", "good='next',bad='a'", "")),
            ["unbounded-cycle: a"]
        );
        assert_eq!(
            endless(&two("done='next',failed='again'", "good='next',bad='failed'", "")),
            ["unbounded-cycle: again"]
        );
        assert_eq!(
            endless(&two(
                "done='next',failed={to='again',count='visit',spent='failed'}",
                "good='next',bad='failed'",
                ""
            )),
            [""; 0]
        );
    }

    #[test]
    fn two_cycles_need_two_bounds_and_are_both_reported() {
        let found = endless(&two(
            "done='next',failed='a'",
            "good='b',bad='a'",
            "[[unit]]\nstage='c'\ntell=['say']\non.told='done'\n",
        ));
        assert!(found.contains(&"unbounded-cycle: b".to_owned()), "{found:?}");
        assert_eq!(found.iter().filter(|f| *f == "unbounded-cycle: a").count(), 2, "{found:?}");
    }

    #[test]
    fn a_spent_counter_that_leads_back_is_a_cycle() {
        let text =
            two("done='next',failed='failed'", "good='next',bad={to='a',count='n',spent='a'}", "");
        assert_eq!(endless(&text), ["unbounded-cycle: a"]);
        assert!(
            messages(&text).iter().any(|m| m.contains("b (bad, spent)")),
            "{:?}",
            messages(&text)
        );
    }

    #[test]
    fn a_counter_reset_on_the_way_round_bounds_nothing() {
        let reset = "done={to='next',reset=['n']},failed='failed'";
        let bad = "good='next',bad={to='a',count='n',spent='failed'}";
        assert_eq!(endless(&two(reset, bad, "")), ["reset-in-cycle: n"]);
        // Reset behind the cycle, or on a way that another counter bounds, it does.
        assert_eq!(
            endless(&two(
                "done='next',failed='failed'",
                "good={to='next',reset=['n']},bad={to='a',count='n',spent='failed'}",
                ""
            )),
            [""; 0]
        );
        let outer = "done='next',failed={to='a',count='k',spent='failed',reset=['n']}";
        assert_eq!(endless(&two(outer, bad, "")), [""; 0]);
        let both = "done='next',failed={to='a',count='k',spent='failed',reset=['n']}";
        let bad = "good='next',bad={to='a',count='n',spent='failed',reset=['k']}";
        assert_eq!(endless(&two(both, bad, "")), ["reset-in-cycle: k"]);
    }

    #[test]
    fn a_person_bounds_a_cycle_and_a_policy_does_not() {
        let gate = |policy: &str| {
            format!(
                "[[unit]]\nstage='g'\ngate='?'\naside=true\n{policy}\non={{redo='a',drop='failed'}}\n"
            )
        };
        let bad = "good='next',bad='g'";
        assert_eq!(endless(&two("done='next',failed='failed'", bad, &gate(""))), [""; 0]);
        let policy = "policy=[{when='x',answer='redo'}]";
        assert_eq!(
            endless(&two("done='next',failed='failed'", bad, &gate(policy))),
            ["unbounded-cycle: a"]
        );
        let policy = "policy=[{when='x',answer='drop'}]";
        assert_eq!(endless(&two("done='next',failed='failed'", bad, &gate(policy))), [""; 0]);
    }

    #[test]
    fn a_pause_waits_for_a_person() {
        assert_eq!(
            endless(&two("done='next',failed={pause='a'}", "good='next',bad={pause='a'}", "")),
            [""; 0]
        );
    }

    #[test]
    fn entering_counts_unless_the_stage_is_passed_over() {
        let text = |when: &str| {
            format!(
                "[inputs]\nx='flag'\n[counters]\nn={{per='unit',max=3,spent='failed'}}\n\
                 [[unit]]\nstage='a'\ncount='n'\n{when}\nrole='worker'\non={{done='next',failed='failed'}}\n\
                 [[unit]]\nstage='b'\nrole='judge'\non={{good='next',bad='a'}}\n"
            )
        };
        assert_eq!(wrong(&text("")), [""; 0]);
        assert_eq!(wrong(&text("when='x'")), ["unbounded-cycle: a"]);
    }

    /// What is paid for once is not asked again, and not counted again either.
    #[test]
    fn a_stage_whose_verdict_still_holds_is_not_counted() {
        let text = |more: &str| {
            format!(
                "[counters]\nn={{per='unit',max=3,spent='failed'}}\n{more}\
                 [[unit]]\nstage='look'\ncount='n'\nrole='judge'\non={{good='next',bad='failed'}}\n\
                 [[unit]]\nstage='test'\nchecks=['test']\non={{pass='next',fail='look',skipped='failed'}}\n\
                 [[unit]]\nstage='land'\nland='merge'\nneeds=['test:pass','look:good']\n\
                 on={{landed='done',moved='failed',conflict='failed'}}\n"
            )
        };
        assert_eq!(wrong(&text("")), ["unbounded-cycle: look"]);
        assert_eq!(wrong(&text("").replace(",'look:good'", "")), [""; 0]);
    }

    #[test]
    fn units_that_reset_one_anothers_counter_go_on_for_ever() {
        let text = |per: &str| {
            format!(
                "[counters]\nn={{per='{per}',max=3,spent='failed'}}\nk={{per='{per}',max=3,spent='failed'}}\n\
                 [[unit]]\nstage='a'\nrole='worker'\non={{done='next',failed={{to='a',count='n',reset=['k']}}}}\n\
                 [[unit]]\nstage='b'\nrole='judge'\non={{good='next',bad={{to='b',count='k',reset=['n']}}}}\n"
            )
        };
        assert_eq!(wrong(&text("unit")), [""; 0]);
        assert_eq!(wrong(&text("run")), ["reset-in-cycle: n"]);
        assert!(messages(&text("run"))[0].contains("another unit"), "{:?}", messages(&text("run")));
    }

    #[test]
    fn what_a_child_resets_bounds_nothing_around_its_stage() {
        let text = |reset: &str| {
            format!(
                "[counters]\nn={{per='unit',max=3,spent='failed'}}\n\
                 [[unit]]\nstage='plan'\nrole='planner'\non={{planned='next',blocked='failed'}}\n\
                 [[unit]]\nstage='work'\neach='task'\nfrom='plan.tasks'\n\
                 on={{all='next',some={{to='plan',count='n'}},none='next'}}\n\
                 [[task]]\nstage='do'\nrole='worker'\non={{done={{to='next'{reset}}},failed='failed'}}\n"
            )
        };
        assert_eq!(wrong(&text("")), [""; 0]);
        assert_eq!(wrong(&text(",reset=['n']")), ["reset-in-cycle: n"]);
    }
}
