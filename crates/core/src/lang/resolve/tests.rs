//! Names, types and visibility, expression by expression.

use crate::expr::{Expr, Name};
use crate::lang::load;
use crate::lang::testing::{catalogue, definition, wrong};
use crate::value::Value;

/// A definition in which an expression stands in a place of some scope.
fn with(place: &str, expression: &str) -> String {
    let when = |here: &str| {
        if here == place { format!("when = \"{expression}\"\n") } else { String::new() }
    };
    format!(
        r#"
[inputs]
strict = "flag"
rigor  = ["fast", "thorough"]
name   = "text"
lanes  = "1..4"
steps  = {{ any_of = ["docs", "smoke"] }}
[let]
careful = "strict or rigor == 'thorough'"
mode    = [{{ value = "'much'", when = "strict" }}, {{ value = "'little'" }}]
heavy   = "unit.weight > 3"
[counters]
all   = {{ per = "run", max = 3 }}
own   = {{ per = "unit", max = 3 }}
task_tries = {{ per = "task", max = 3 }}
visit = {{ per = "stage", max = 3 }}
[[unit]]
stage = "plan"
role  = "planner"
{unit}on    = {{ planned = "next", blocked = "failed", crashed = {{ to = "again", count = "visit", spent = "failed" }} }}
[[unit]]
stage = "route"
decide = [{{ is = "a", when = "careful and mode == 'much' and heavy" }}, {{ is = "b" }}]
on    = {{ a = {{ to = "plan", count = "all", spent = "failed" }}, b = {{ to = "plan", count = "own", spent = "next" }} }}
[[unit]]
stage = "work"
each  = "task"
from  = "plan.tasks"
on    = {{ all = "next", some = "next", none = "next" }}
[[task]]
stage = "do"
role  = "worker"
{task}on    = {{ done = "next", failed = {{ to = "do", count = "task_tries", spent = "failed" }} }}
[[between]]
stage = "tally"
tell  = ["say"]
{between}on    = {{ told = "end" }}
[[finale]]
stage = "last"
tell  = ["say"]
{finale}on    = {{ told = "end" }}
"#,
        unit = when("unit"),
        task = when("task"),
        between = when("between"),
        finale = when("finale"),
    )
}

#[test]
fn what_fits_is_taken() {
    let cases = [
        ("unit", "strict and not careful"),
        ("unit", "rigor == 'fast' or name == rigor"),
        ("unit", "'docs' in steps"),
        ("unit", "lanes < 3 and plan.steps >= plan.runs"),
        ("unit", "plan.last == 'blocked' or plan.last == 'timed_out'"),
        ("unit", "work.last == 'some'"),
        ("unit", "unit.weight == 3 and unit.generation < 2 and heavy"),
        ("unit", "all > own"),
        ("unit", "do.runs > 3"),
        ("unit", "first.count > units.left"),
        ("unit", "mode == 'little' and run.stopping"),
        ("task", "task.kind == 'code' and plan.risk == 'low' and do.last == 'done'"),
        ("task", "task_tries > own"),
        ("between", "unit.status == 'blocked' and plan.runs > 1 and do.runs > 1 and own > 0"),
        ("finale", "run.outcome == 'cancelled' or first.last == 'found'"),
        ("finale", "all == 3"),
    ];
    for (place, expression) in cases {
        assert_eq!(wrong(&with(place, expression)), [""; 0], "{place}: {expression}");
    }
}

#[test]
fn what_does_not_fit_is_pointed_at() {
    let cases = [
        ("unit", "rigor == 'fats'", "type-mismatch: 'fats'"),
        ("unit", "mode == 'lots'", "type-mismatch: 'lots'"),
        ("unit", "plan.last == 'done'", "type-mismatch: 'done'"),
        ("unit", "rigor < 'fast'", "type-mismatch: rigor"),
        ("unit", "strict == 1", "type-mismatch: strict == 1"),
        ("unit", "steps == 'docs'", "type-mismatch: steps == 'docs'"),
        ("unit", "'doc' in steps", "type-mismatch: 'doc'"),
        ("unit", "'docs' in rigor", "type-mismatch: rigor"),
        ("unit", "3 in steps", "type-mismatch: 3"),
        ("unit", "strict and lanes", "type-mismatch: lanes"),
        ("unit", "not rigor", "type-mismatch: rigor"),
        ("unit", "lanes", "type-mismatch: lanes"),
        ("unit", "strict or nothing", "unknown-name: nothing"),
        ("unit", "plan", "unknown-name: plan"),
        ("unit", "units == 3", "unknown-name: units"),
        ("unit", "units.all == 3", "unknown-name: all"),
        ("unit", "run.result == 'x'", "unknown-name: result"),
        ("unit", "plan.tasks == 3", "unknown-name: tasks"),
        ("unit", "plan.risks == 'low'", "unknown-name: risks"),
        ("unit", "unit.kind == 'code'", "unknown-name: kind"),
        ("unit", "strict.on", "unknown-name: on"),
        ("unit", "nobody.runs > 1", "unknown-name: nobody"),
        ("unit", "quiet", "not-visible: quiet"),
        ("unit", "unit.status == 'done'", "not-visible: unit.status"),
        ("unit", "run.outcome == 'done'", "not-visible: run.outcome"),
        ("unit", "task.kind == 'code'", "not-visible: task.kind"),
        ("unit", "do.last == 'done'", "not-visible: do.last"),
        ("unit", "task_tries > 1", "not-visible: task_tries"),
        ("unit", "visit > 1", "not-visible: visit"),
        ("unit", "tally.runs > 1", "not-visible: tally.runs"),
        ("finale", "unit.weight > 1", "not-visible: unit.weight"),
        ("finale", "heavy", "not-visible: heavy"),
        ("finale", "plan.runs > 1", "not-visible: plan.runs"),
        ("finale", "do.runs > 1", "not-visible: do.runs"),
        ("finale", "own > 1", "not-visible: own"),
        ("between", "task_tries > 1", "not-visible: task_tries"),
    ];
    for (place, expression, want) in cases {
        assert_eq!(wrong(&with(place, expression)), [want], "{place}: {expression}");
    }
}

#[test]
fn lets_are_put_in_place() {
    let text = definition(&with("unit", "mode == 'much'"));
    let workflow = load(&text, &catalogue()).unwrap();
    let plan = workflow.stage(workflow.stage_named("plan").unwrap());
    let Some(Expr::Compare(_, left, _)) = &plan.when else { panic!("{:?}", plan.when) };
    let Expr::Cases(cases) = &**left else { panic!("{left:?}") };
    assert_eq!(cases[1], (None, Expr::Const(Value::text("little"))));
    assert!(matches!(&cases[0].0, Some(Expr::Name(Name::Input(_)))));
}

#[test]
fn lets_that_need_one_another_or_grow_without_measure_are_refused() {
    let tail = "[[unit]]\nstage='s'\ntell=['say']\nwhen='a0'\non.told='next'\n";
    let lets = "[let]\na0 = 'not a1'\na1 = 'a2 or a0'\na2 = 'a1'\n";
    let found = wrong(&format!("{lets}{tail}"));
    assert_eq!(found, ["let-cycle: a0", "let-cycle: a1"]);

    let doubling: String =
        (0..40).map(|at| format!("a{at} = 'a{} or a{}'\n", at + 1, at + 1)).collect();
    let found = wrong(&format!("[inputs]\na40='flag'\n[let]\n{doubling}{tail}"));
    assert!(found.iter().all(|problem| problem.starts_with("too-large")), "{found:?}");
    assert!(!found.is_empty());

    let chain: String = (0..300).map(|at| format!("a{at} = 'not a{}'\n", at + 1)).collect();
    let found = wrong(&format!("[inputs]\na300='flag'\n[let]\n{chain}{tail}"));
    assert!(found.iter().all(|problem| problem.starts_with("too-large")), "{found:?}");
    assert!(!found.is_empty());
}

#[test]
fn many_uses_of_a_large_let_are_refused() {
    let terms: Vec<String> = (0..60).map(|at| format!("a == {at}")).collect();
    let doubled: String =
        (1..5).map(|at| format!("l{at} = 'l{} or l{}'\n", at - 1, at - 1)).collect();
    let lets = format!("[inputs]\na='number'\n[let]\nl0 = '{}'\n{doubled}", terms.join(" or "));
    let stages = |count: usize| -> String {
        let stage =
            |at| format!("[[unit]]\nstage='s{at}'\ntell=['say']\nwhen='l4'\non.told='next'\n");
        (0..count).map(stage).collect()
    };
    assert_eq!(wrong(&format!("{lets}{}", stages(50))), [""; 0]);
    assert!(wrong(&format!("{lets}{}", stages(200))).contains(&"too-large: l4".to_owned()));
}
