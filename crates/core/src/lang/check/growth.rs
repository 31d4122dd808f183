//! What a unit adds may add again: there must be an end to it.

use std::collections::BTreeSet;

use super::super::compile::{Draft, MoveOrigin};
use super::super::diagnostic::{Code, Diagnostic};
use super::super::problems::Problems;
use super::graph::{Graph, chosen_by_person};
use crate::expr::{Expr, Name, Op};
use crate::workflow::{CounterIx, Holder, Move, ScopeIx, Stage, StageIx, VerdictIx};

pub(super) fn check(draft: &Draft, graph: &Graph, problems: &mut Problems<'_>) {
    let workflow = &draft.workflow;
    let put_back = put_back_by_itself(draft, graph);
    for (stage, ix) in workflow.stages.iter().zip((0..).map(StageIx)) {
        let origins = &draft.origins.stages[ix.at()].verdicts;
        let verdicts = stage.verdicts.iter().zip(origins).zip((0..).map(VerdictIx));
        for ((verdict, origins), verdict_ix) in verdicts {
            if chosen_by_person(stage, verdict_ix) {
                continue;
            }
            for (case, origin) in verdict.cases.iter().zip(origins) {
                let growth = Growth { draft, put_back: &put_back, stage, when: case.when.as_ref() };
                growth.check(&case.take, origin, problems);
                if let (Some(spent), Some(origin)) = (&case.take.spent, &origin.spent) {
                    growth.check(spent, origin, problems);
                }
            }
        }
    }
}

struct Growth<'a> {
    draft: &'a Draft,
    put_back: &'a BTreeSet<CounterIx>,
    stage: &'a Stage,
    when: Option<&'a Expr>,
}

impl Growth<'_> {
    fn check(&self, step: &Move, origin: &MoveOrigin, problems: &mut Problems<'_>) {
        for (add, span) in step.add.iter().zip(&origin.add) {
            let from = self.stage.scope;
            let units = add.scope == ScopeIx::UNIT;
            // What intake adds comes once; what a unit adds to its own children is bounded by the unit's own cycles.
            let again = if units { from != ScopeIx::INTAKE } else { from.is_child() };
            let entry = self.stage.count.as_ref().map(|(counter, _)| *counter);
            let counted = step.count.into_iter().chain(entry).any(|ix| self.bounds(ix, add.scope));
            // What `between` adds is of generation 0 again.
            let generation =
                units && from != ScopeIx::BETWEEN && self.when.is_some_and(generations_end);
            if !again || counted || generation {
                continue;
            }
            let name = &self.stage.name;
            let what = if units { "units" } else { "children" };
            let help = how_to_end(from, units);
            let message = format!("`{name}` may add {what} that add {what}, without end");
            let span = span.clone();
            problems.report(Diagnostic::at(span, Code::UnboundedGrowth, message).help(help));
        }
    }

    /// Whether a counter puts an end to what is added: it outlives what is added, nothing puts it back by itself, and what is
    /// added does not let it go further.
    fn bounds(&self, ix: CounterIx, scope: ScopeIx) -> bool {
        let counter = &self.draft.workflow.counters[ix.at()];
        if counter.each_unit.is_some() {
            return false;
        }
        let lasting = match counter.per {
            Holder::Run => true,
            Holder::Scope(holder) => holder == ScopeIx::UNIT && scope.is_child(),
            Holder::Stage => false,
        };
        lasting && !self.put_back.contains(&ix)
    }
}

fn how_to_end(from: ScopeIx, units: bool) -> &'static str {
    if !units {
        return "count a counter with `per = \"unit\"` or `\"run\"` on this move, or let a person decide \
                it at a gate";
    }
    if from == ScopeIx::BETWEEN {
        return "count a counter with `per = \"run\"` on this move, or let a person decide it at a gate; \
                what `between` adds is of generation 0 every time";
    }
    "count a counter with `per = \"run\"` on this move, let a person decide it at a gate, or make it a \
     case with `when = \"unit.generation == 0\"`"
}

/// The counters that are put back without a person while units come and go.
fn put_back_by_itself(draft: &Draft, graph: &Graph) -> BTreeSet<CounterIx> {
    let meanwhile = graph.ways.iter().filter(|way| {
        let scope = draft.workflow.stage(way.from.stage()).scope;
        !way.person && scope != ScopeIx::INTAKE && scope != ScopeIx::FINALE
    });
    meanwhile.flat_map(|way| &way.resets).map(|(counter, _)| *counter).collect()
}

/// Whether the condition holds for finitely many generations: one of what it joins by `and` says so.
fn generations_end(when: &Expr) -> bool {
    let generation = |expr: &Expr| *expr == Expr::Name(Name::UnitGeneration);
    let constant = |expr: &Expr| matches!(expr, Expr::Const(_));
    match when {
        Expr::And(left, right) => generations_end(left) || generations_end(right),
        Expr::Compare(op, left, right) => match op {
            Op::Eq => {
                (generation(left) && constant(right)) || (constant(left) && generation(right))
            }
            Op::Lt | Op::Le => generation(left) && constant(right),
            Op::Gt | Op::Ge => constant(left) && generation(right),
            Op::Ne => false,
        },
        Expr::Const(_)
        | Expr::Name(_)
        | Expr::Not(_)
        | Expr::Or(_, _)
        | Expr::In(_, _)
        | Expr::Cases(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::lang::testing::wrong;

    /// A unit stage that adds units, with keys of the stage, its move, and what stands around.
    fn adding(keys: &str, step: &str, around: &str) -> String {
        format!(
            "{around}[[unit]]\nstage='plan'\nrole='planner'\n{keys}\non={{planned={step},blocked='failed'}}\n"
        )
    }

    #[test]
    fn units_that_add_units_come_to_an_end() {
        let counter = "[counters]\nn={per='run',max=9,spent='failed'}\n";
        let unit_counter = "[counters]\nn={per='unit',max=9,spent='failed'}\n";
        let plain = "{to='next',add={unit='more'}}";
        let counted = "{to='next',add={unit='more'},count='n'}";
        let case =
            |when: &str| format!("[{{when=\"{when}\",to='next',add={{unit='more'}}}},'next']");

        assert_eq!(wrong(&adding("", plain, "")), ["unbounded-growth: more"]);
        assert_eq!(wrong(&adding("", counted, counter)), [""; 0]);
        assert_eq!(wrong(&adding("", counted, unit_counter)), ["unbounded-growth: more"]);
        assert_eq!(wrong(&adding("count='n'", plain, counter)), [""; 0]);
        let growing = "[counters]\nn={per='run',max=9,each_unit=1,spent='failed'}\n";
        assert_eq!(wrong(&adding("", counted, growing)), ["unbounded-growth: more"]);
        for bounded in [
            "unit.generation == 0",
            "0 == unit.generation",
            "3 > unit.generation and unit.weight > 2",
            "unit.generation <= 4",
        ] {
            assert_eq!(wrong(&adding("", &case(bounded), "")), [""; 0], "{bounded}");
        }
        let open = [
            "unit.generation > 0",
            "unit.generation != 3",
            "unit.generation == 0 or unit.weight > 2",
            "unit.generation < unit.weight",
            "unit.generation == unit.weight",
            "unit.weight == unit.generation",
            "unit.weight > unit.generation",
            "unit.weight == 3",
            "3 == unit.weight",
            "unit.weight < 3",
            "3 > unit.weight",
            "3 < unit.generation",
        ];
        for open in open {
            assert_eq!(wrong(&adding("", &case(open), "")), ["unbounded-growth: more"], "{open}");
        }
    }

    #[test]
    fn a_counter_that_is_put_back_bounds_nothing() {
        let counter = "[counters]\nn={per='run',max=9,spent='failed'}\n";
        let counted = "{to='next',add={unit='more'},count='n'}";
        let reset = "[[between]]\nstage='t'\ntell=['say']\non.told={to='end',reset=['n']}\n";
        let gate = "[[between]]\nstage='t'\ngate='?'\non.go={to='end',reset=['n']}\n";
        let around = |more: &str| format!("{}{more}", adding("", counted, counter));
        assert_eq!(wrong(&around(reset)), ["unbounded-growth: more"]);
        assert_eq!(wrong(&around(gate)), [""; 0]);
    }

    #[test]
    fn a_person_may_add_and_a_policy_may_not() {
        let gate = |policy: &str| {
            format!(
                "[[unit]]\nstage='plan'\nrole='planner'\non={{planned='next',blocked='failed'}}\n\
                 [[unit]]\nstage='g'\ngate='?'\n{policy}\non={{yes={{to='next',add={{unit='plan.more'}}}},no='next'}}\n"
            )
        };
        assert_eq!(wrong(&gate("")), [""; 0]);
        let policy = "policy=[{when='plan.runs > 1',answer='yes'}]";
        assert_eq!(wrong(&gate(policy)), ["unbounded-growth: plan.more"]);
    }

    #[test]
    fn generations_bound_nothing_between_units() {
        let between = |step: &str| {
            format!(
                "[counters]\nn={{per='run',max=9,spent='end'}}\n\
                 [[unit]]\nstage='a'\ntell=['say']\non.told='done'\n\
                 [[between]]\nstage='plan'\nrole='planner'\non={{planned={step},blocked={{to='end',count='n'}}}}\n"
            )
        };
        let case = "[{when='unit.generation == 0',to='end',add={unit='more'}},'end']";
        assert_eq!(wrong(&between(case)), ["unbounded-growth: more"]);
        assert_eq!(wrong(&between("{to='end',add={unit='more'},count='n'}")), [""; 0]);
    }

    #[test]
    fn children_that_add_children_come_to_an_end() {
        let child = |per: &str, step: &str| {
            format!(
                "[counters]\nn={{per='{per}',max=9,spent='failed'}}\n\
                 [[unit]]\nstage='plan'\nrole='planner'\non={{planned='next',blocked='failed'}}\n\
                 [[unit]]\nstage='work'\neach='task'\nfrom='plan.tasks'\non={{all='next',some='next',none='next'}}\n\
                 [[task]]\nstage='do'\nrole='planner'\ncount='n'\non={{planned={step},blocked='failed'}}\n"
            )
        };
        let add = "{to='next',add={task='tasks'}}";
        assert_eq!(wrong(&child("unit", add)), [""; 0]);
        assert_eq!(wrong(&child("run", add)), [""; 0]);
        assert_eq!(wrong(&child("task", add)), ["unbounded-growth: tasks"]);
    }
}
