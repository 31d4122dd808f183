//! A counter's maximum must not run away from the counter.

use std::collections::BTreeSet;

use super::super::compile::Draft;
use super::super::diagnostic::{Code, Diagnostic};
use super::super::problems::Problems;
use super::graph::Graph;
use crate::expr::{Expr, Name};
use crate::value::Type;
use crate::workflow::{CounterIx, FactIx, Owner, ScopeIx, Workflow};

/// Notes a maximum that may grow while it is counted: then the counter bounds nothing.
pub(super) fn check(draft: &Draft, graph: &Graph, problems: &mut Problems<'_>) {
    let workflow = &draft.workflow;
    let intake = graph.ways.iter();
    let intake = intake.filter(|way| workflow.stage(way.from.stage()).scope == ScopeIx::INTAKE);
    let in_intake: BTreeSet<CounterIx> = intake.filter_map(|way| way.counts).collect();
    let counters = workflow.counters.iter().zip(&draft.origins.counters);
    for ((counter, span), ix) in counters.zip((0..).map(CounterIx)) {
        let maximum = Maximum { workflow, in_intake: in_intake.contains(&ix) };
        let settled = |expr: &Expr| maximum.is_settled(expr);
        if !settled(&counter.max) || !counter.each_unit.as_ref().is_none_or(settled) {
            let message = format!("the `max` of `{}` may grow while it is counted", counter.name);
            problems.report(Diagnostic::at(span.clone(), Code::UnboundedMax, message).help(
                "use a number, an input, a fact of the unit or the intake, or a fact whose type is \
                 a range",
            ));
        }
    }
}

struct Maximum<'w> {
    workflow: &'w Workflow,
    /// Whether the counter is counted while the intake still reports.
    in_intake: bool,
}

impl Maximum<'_> {
    /// Whether a number has a greatest value while it matters. What only chooses between values may be anything.
    fn is_settled(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Const(_) => true,
            Expr::Name(name) => match name {
                Name::Input(_) | Name::UnitGeneration => true,
                Name::Fact(ix) => self.is_settled_fact(*ix),
                Name::Counter(_)
                | Name::Runs(_)
                | Name::Last(_)
                | Name::Units(_)
                | Name::UnitStatus
                | Name::RunOutcome
                | Name::RunStopping
                | Name::Quiet => false,
            },
            Expr::Cases(cases) => cases.iter().all(|(_, value)| self.is_settled(value)),
            // None of these is a number; that was noted.
            Expr::Not(_)
            | Expr::And(_, _)
            | Expr::Or(_, _)
            | Expr::Compare(_, _, _)
            | Expr::In(_, _) => true,
        }
    }

    fn is_settled_fact(&self, ix: FactIx) -> bool {
        let fact = &self.workflow.facts[ix.at()];
        match fact.owner {
            Owner::Item(_) => true,
            Owner::Stage(stage) => {
                let intake = self.workflow.stage(stage).scope == ScopeIx::INTAKE;
                let range = matches!(fact.ty, Type::Number { max: Some(_), .. });
                range || (intake && !self.in_intake)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::lang::testing::wrong;

    #[test]
    fn a_maximum_that_may_grow_is_refused() {
        let with = |max: &str| {
            format!(
                "[inputs]\ncap='number'\n[let]\nlimit=[{{value=\"plan.size\",when=\"plan.runs > 3\"}},{{value=\"cap\"}}]\n\
                 [counters]\nn={{per='unit',max=\"{max}\"}}\nk={{per='unit',max=\"limit\"}}\n\
                 [[unit]]\nstage='plan'\nrole='planner'\n\
                 on={{planned='next',blocked={{to='plan',count='n',spent='failed'}}}}\n\
                 [[unit]]\nstage='more'\nrole='worker'\n\
                 on={{done='next',failed={{to='more',count='k',spent='failed'}}}}\n"
            )
        };
        for settled in
            ["3", "cap", "unit.weight", "unit.generation", "plan.size", "first.count", "limit"]
        {
            assert_eq!(wrong(&with(settled)), [""; 0], "{settled}");
        }
        for growing in ["plan.steps", "plan.runs", "units.total", "k"] {
            assert_eq!(wrong(&with(growing)), ["unbounded-max: n"], "{growing}");
        }
        assert_eq!(wrong(&with("cap == 3")), ["type-mismatch: cap == 3"]);
    }

    #[test]
    fn what_it_grows_by_with_each_unit_is_a_fixed_number() {
        let with = |each: &str| {
            format!(
                "[inputs]\ncap='number'\n[counters]\nn={{per='run',max=0,each_unit='{each}'}}\nk={{per='unit',max=3,spent='failed'}}\n\
                 [[unit]]\nstage='plan'\nrole='planner'\ncount='k'\n\
                 on={{planned={{to='next',count='n',spent='failed'}},blocked={{to='plan',count='n',spent='failed'}}}}\n"
            )
        };
        for fixed in ["6", "cap"] {
            assert_eq!(wrong(&with(fixed)), [""; 0], "{fixed}");
        }
        assert_eq!(wrong(&with("units.total")), ["unbounded-max: n"]);
    }

    #[test]
    fn what_the_intake_still_reports_is_no_maximum_there() {
        let text = "[counters]\nn={per='run',max='first.count'}\n\
                    [[unit]]\nstage='a'\ntell=['say']\non.told='done'\n\
                    [[intake]]\nstage='again_here'\ngate='?'\naside=true\n\
                    on={a={to='first',count='n',spent='end'}}\n";
        assert!(wrong(text).contains(&"unbounded-max: n".to_owned()));
    }
}
