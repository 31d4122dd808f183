//! Expressions as they are written in a definition. A `let` has no name any more once a definition
//! is compiled: it is shown as what it stands for, ordered cases as `(A when X, else B)`.

use windlass_core::expr::{Expr, Name, Op, UnitTally};
use windlass_core::value::Value;
use windlass_core::workflow::{Owner, ScopeIx, Workflow};

/// The expression as text.
pub fn expr_text(flow: &Workflow, expr: &Expr) -> String {
    text(flow, expr, Binds::Or)
}

/// How tightly a form binds; one that binds less tightly than its place asks for goes into
/// parentheses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binds {
    Or,
    And,
    Not,
    Compare,
    Single,
}

fn text(flow: &Workflow, expr: &Expr, place: Binds) -> String {
    let pair = |left: &Expr, sign: &str, right: &Expr, left_place, right_place| {
        format!("{} {sign} {}", text(flow, left, left_place), text(flow, right, right_place))
    };
    let (binds, written) = match expr {
        Expr::Const(value) => (Binds::Single, constant(value)),
        Expr::Name(name) => (Binds::Single, name_text(flow, *name)),
        Expr::Not(inner) => (Binds::Not, format!("not {}", text(flow, inner, Binds::Not))),
        // `a and (b and c)` was written with its parentheses; `a and b and c` leans left.
        Expr::And(left, right) => (Binds::And, pair(left, "and", right, Binds::And, Binds::Not)),
        Expr::Or(left, right) => (Binds::Or, pair(left, "or", right, Binds::Or, Binds::And)),
        Expr::Compare(op, left, right) => {
            (Binds::Compare, pair(left, sign(*op), right, Binds::Single, Binds::Single))
        }
        Expr::In(word, set) => {
            (Binds::Compare, pair(word, "in", set, Binds::Single, Binds::Single))
        }
        Expr::Cases(cases) => (Binds::Single, format!("({})", cases_text(flow, cases))),
    };
    if binds < place { format!("({written})") } else { written }
}

fn cases_text(flow: &Workflow, cases: &[(Option<Expr>, Expr)]) -> String {
    let case = |(when, value): &(Option<Expr>, Expr)| match when {
        Some(when) => format!("{} when {}", expr_text(flow, value), expr_text(flow, when)),
        None => format!("else {}", expr_text(flow, value)),
    };
    cases.iter().map(case).collect::<Vec<_>>().join(", ")
}

fn constant(value: &Value) -> String {
    match value {
        Value::Text(text) => format!("'{text}'"),
        Value::Flag(_) | Value::Number(_) => value.to_string(),
        Value::Set(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
            format!("[{}]", words.join(", "))
        }
    }
}

fn sign(op: Op) -> &'static str {
    match op {
        Op::Eq => "==",
        Op::Ne => "!=",
        Op::Lt => "<",
        Op::Le => "<=",
        Op::Gt => ">",
        Op::Ge => ">=",
    }
}

fn name_text(flow: &Workflow, name: Name) -> String {
    match name {
        Name::Input(ix) => flow.inputs[ix.at()].name.clone(),
        Name::Counter(ix) => flow.counters[ix.at()].name.clone(),
        Name::Fact(ix) => fact_text(flow, ix.at()),
        Name::Runs(ix) => format!("{}.runs", flow.stage(ix).name),
        Name::Last(ix) => format!("{}.last", flow.stage(ix).name),
        Name::Units(tally) => format!("units.{}", tally_text(tally)),
        Name::UnitGeneration => "unit.generation".to_owned(),
        Name::UnitStatus => "unit.status".to_owned(),
        Name::RunOutcome => "run.outcome".to_owned(),
        Name::RunStopping => "run.stopping".to_owned(),
        Name::Quiet => "quiet".to_owned(),
    }
}

/// `unit.FACT`, `CHILD.FACT` or `STAGE.FACT`.
pub fn fact_text(flow: &Workflow, at: usize) -> String {
    let fact = &flow.facts[at];
    let owner = match fact.owner {
        Owner::Item(scope) => scope_text(flow, scope),
        Owner::Stage(stage) => &flow.stage(stage).name,
    };
    format!("{owner}.{}", fact.name)
}

pub fn scope_text(flow: &Workflow, scope: ScopeIx) -> &str {
    &flow.scopes[scope.at()].name
}

/// What the items are called that a stage is about, as its workflow calls them: `task`, `group`.
pub fn called<'f>(flow: &'f Workflow, stage: &str) -> &'f str {
    flow.stage_named(stage).map_or("", |at| scope_text(flow, flow.stage(at).scope))
}

fn tally_text(tally: UnitTally) -> &'static str {
    match tally {
        UnitTally::Total => "total",
        UnitTally::Left => "left",
        UnitTally::Done => "done",
        UnitTally::Failed => "failed",
        UnitTally::Skipped => "skipped",
        UnitTally::Blocked => "blocked",
    }
}

#[cfg(test)]
mod tests {
    use windlass_core::lang::{self, Catalogue};
    use windlass_core::workflow::Kind;

    use super::*;

    /// Each is written as its own text again.
    const TEXTS: [&str; 16] = [
        "strict",
        "not strict",
        "strict and not fast or strict",
        "(strict or fast) and strict",
        "strict and (fast and strict)",
        "not (strict and fast)",
        "not goal == 'x'",
        "goal != 'all of it' and tries >= 1",
        "tries < 2 or tries <= 2 or tries > 2",
        "'ui' in steps",
        "look.last == 'found' and look.runs == 0",
        "look.target_count > -3",
        "unit.effort_score >= 3",
        "unit.generation == 0 and units.left > 0",
        "run.stopping == false",
        "true",
    ];

    const HEAD: &str = r#"
        workflow = "words"
        about    = "Expressions of every form."
        [inputs]
        strict = "flag"
        fast   = "flag"
        goal   = { type = "text", default = "all" }
        steps  = { any_of = ["ui", "api"] }
        [let]
        hurry = [{ value = "'very'", when = "fast" }, { value = "'no'" }]
        [counters]
        tries = { per = "unit", max = 2 }
        [always]
        crashed   = "pause"
        timed_out = "pause"
        invalid   = "pause"
        [[intake]]
        stage = "look"
        read  = "plans-table"
        on    = { found = { to = "end", add = { unit = "tasks" } }, old_format = { finish = "failed" }, missing = { finish = "failed" } }
        [[unit]]
        stage = "try"
        read  = "plans-drift"
        on    = { clean = "next", stale = { to = "again", count = "tries", spent = "failed" } }
    "#;

    fn shown(texts: &[&str]) -> Vec<String> {
        let mut definition = HEAD.to_owned();
        for (at, text) in texts.iter().enumerate() {
            definition.push_str(&format!(
                "[[unit]]\nstage = 's{at}'\non = {{ yes = 'next', no = 'next' }}\n\
                 decide = [{{ is = 'yes', when = \"{text}\" }}, {{ is = 'no' }}]\n"
            ));
        }
        let catalogue = Catalogue::parse(crate::builtin::CATALOGUE.text).unwrap();
        let flow = match lang::load(&definition, &catalogue) {
            Ok(flow) => flow,
            Err(mistakes) => panic!("{}", mistakes[0].plain("it", &definition)),
        };
        let when = |stage: &windlass_core::workflow::Stage| match &stage.kind {
            Kind::Decide(cases) => cases[0].0.as_ref().map(|when| expr_text(&flow, when)),
            _ => None,
        };
        flow.stages.iter().filter_map(when).collect()
    }

    #[test]
    fn an_expression_is_shown_as_it_was_written() {
        // A `let` that nothing uses is a mistake.
        let texts: Vec<&str> = TEXTS.into_iter().chain(["hurry == 'very'"]).collect();
        let shown = shown(&texts);
        assert_eq!(shown[..TEXTS.len()], TEXTS);
        assert_eq!(shown[TEXTS.len()], "('very' when fast, else 'no') == 'very'");
    }

    #[test]
    fn needless_parentheses_are_left_out() {
        let shown = shown(&["((strict)) or (fast and strict)", "hurry == 'no' and (not fast)"]);
        assert_eq!(shown[0], "strict or fast and strict");
        assert_eq!(shown[1], "('very' when fast, else 'no') == 'no' and not fast");
    }
}
