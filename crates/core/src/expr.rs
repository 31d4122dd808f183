//! Compiled expressions: typed, indexed, total. Evaluation is three-valued: `None` is Unknown.
//!
//! The language part of the crate turns text into these trees; nothing here can fail or loop.

use crate::{
    value::Value,
    workflow::{CounterIx, FactIx, InputIx, StageIx},
};

/// An expression tree. Names were resolved and types checked when the definition was read.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A literal.
    Const(Value),
    /// Something the run knows, or does not know yet.
    Name(Name),
    /// Negation of a flag.
    Not(Box<Expr>),
    /// True when both are.
    And(Box<Expr>, Box<Expr>),
    /// True when either is.
    Or(Box<Expr>, Box<Expr>),
    /// A comparison of two values of the same type.
    Compare(Op, Box<Expr>, Box<Expr>),
    /// Whether a word is in a set.
    In(Box<Expr>, Box<Expr>),
    /// Ordered cases, from `let`: the first whose condition is definitely true; the last has none.
    Cases(Vec<(Option<Expr>, Expr)>),
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl Op {
    fn holds<T: Ord + ?Sized>(self, left: &T, right: &T) -> bool {
        match self {
            Op::Eq => left == right,
            Op::Ne => left != right,
            Op::Lt => left < right,
            Op::Le => left <= right,
            Op::Gt => left > right,
            Op::Ge => left >= right,
        }
    }
}

/// A resolved name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// A run input.
    Input(InputIx),
    /// A counter's present value.
    Counter(CounterIx),
    /// A fact of a unit or child, or one that a stage reported.
    Fact(FactIx),
    /// `STAGE.runs`
    Runs(StageIx),
    /// `STAGE.last`
    Last(StageIx),
    /// `units.…`
    Units(UnitTally),
    /// `unit.generation`
    UnitGeneration,
    /// `unit.status`
    UnitStatus,
    /// `run.outcome`
    RunOutcome,
    /// `run.stopping`
    RunStopping,
    /// `quiet`: no concern of this gate fired.
    Quiet,
}

/// Which units are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitTally {
    /// All of them.
    Total,
    /// Those not settled.
    Left,
    /// Settled as done.
    Done,
    /// Settled as failed.
    Failed,
    /// Settled as skipped.
    Skipped,
    /// Settled as blocked.
    Blocked,
}

/// What an expression is evaluated against.
pub trait Env {
    /// The value of a name, or `None` when it is not known.
    fn value(&self, name: Name) -> Option<Value>;
}

impl Expr {
    /// The value, or `None` for Unknown.
    pub fn eval(&self, env: &impl Env) -> Option<Value> {
        match self {
            Expr::Const(value) => Some(value.clone()),
            Expr::Name(name) => env.value(*name),
            Expr::Not(inner) => inner.truth(env).map(|flag| Value::Flag(!flag)),
            Expr::And(left, right) => match (left.truth(env), right.truth(env)) {
                (Some(false), _) | (_, Some(false)) => Some(Value::Flag(false)),
                (Some(true), Some(true)) => Some(Value::Flag(true)),
                (None, _) | (_, None) => None,
            },
            Expr::Or(left, right) => match (left.truth(env), right.truth(env)) {
                (Some(true), _) | (_, Some(true)) => Some(Value::Flag(true)),
                (Some(false), Some(false)) => Some(Value::Flag(false)),
                (None, _) | (_, None) => None,
            },
            Expr::Compare(op, left, right) => {
                let (left, right) = (left.eval(env)?, right.eval(env)?);
                Some(Value::Flag(op.holds(&left, &right)))
            }
            Expr::In(word, set) => match (word.eval(env)?, set.eval(env)?) {
                (Value::Text(word), Value::Set(set)) => Some(Value::Flag(set.contains(&word))),
                _ => None,
            },
            Expr::Cases(cases) => cases
                .iter()
                .find(|(when, _)| when.as_ref().is_none_or(|w| w.truth(env) == Some(true)))
                .and_then(|(_, value)| value.eval(env)),
        }
    }

    /// The value as a truth value: `None` when Unknown.
    pub fn truth(&self, env: &impl Env) -> Option<bool> {
        match self.eval(env)? {
            Value::Flag(flag) => Some(flag),
            Value::Number(_) | Value::Text(_) | Value::Set(_) => None,
        }
    }

    /// The value as a number: `None` when Unknown.
    pub fn number(&self, env: &impl Env) -> Option<i64> {
        match self.eval(env)? {
            Value::Number(number) => Some(number),
            Value::Flag(_) | Value::Text(_) | Value::Set(_) => None,
        }
    }

    /// Calls `see` for this expression and every one inside it.
    pub fn walk<'a>(&'a self, see: &mut impl FnMut(&'a Expr)) {
        see(self);
        match self {
            Expr::Const(_) | Expr::Name(_) => {}
            Expr::Not(inner) => inner.walk(see),
            Expr::And(left, right)
            | Expr::Or(left, right)
            | Expr::Compare(_, left, right)
            | Expr::In(left, right) => {
                left.walk(see);
                right.walk(see);
            }
            Expr::Cases(cases) => {
                for (when, value) in cases {
                    if let Some(when) = when {
                        when.walk(see);
                    }
                    value.walk(see);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `Runs(0)` is true, `Runs(1)` is false, `Runs(2)` is Unknown, `Counter(n)` is n.
    struct Fixed;
    impl Env for Fixed {
        fn value(&self, name: Name) -> Option<Value> {
            if let Name::Counter(ix) = name {
                return Some(Value::Number(i64::from(ix.0)));
            }
            let Name::Runs(StageIx(at)) = name else { return None };
            [Value::Flag(true), Value::Flag(false)].get(usize::from(at)).cloned()
        }
    }

    const ALL: [Option<bool>; 3] = [Some(true), Some(false), None];

    fn flag(truth: Option<bool>) -> Box<Expr> {
        let ix = match truth {
            Some(true) => 0,
            Some(false) => 1,
            None => 2,
        };
        Box::new(Expr::Name(Name::Runs(StageIx(ix))))
    }

    #[test]
    fn logic_is_three_valued() {
        for a in ALL {
            assert_eq!(Expr::Not(flag(a)).truth(&Fixed), a.map(|a| !a));
            for b in ALL {
                let and = match (a, b) {
                    (Some(false), _) | (_, Some(false)) => Some(false),
                    (Some(true), Some(true)) => Some(true),
                    _ => None,
                };
                let or = match (a, b) {
                    (Some(true), _) | (_, Some(true)) => Some(true),
                    (Some(false), Some(false)) => Some(false),
                    _ => None,
                };
                assert_eq!(Expr::And(flag(a), flag(b)).truth(&Fixed), and, "{a:?} and {b:?}");
                assert_eq!(Expr::Or(flag(a), flag(b)).truth(&Fixed), or, "{a:?} or {b:?}");
            }
        }
    }

    #[test]
    fn comparisons_hold_as_written_and_unknown_spreads() {
        let number = |n: u16| Box::new(Expr::Name(Name::Counter(CounterIx(n))));
        let unknown = || Box::new(Expr::Name(Name::Quiet));
        let rows = [
            (Op::Eq, [false, true, false]),
            (Op::Ne, [true, false, true]),
            (Op::Lt, [true, false, false]),
            (Op::Le, [true, true, false]),
            (Op::Gt, [false, false, true]),
            (Op::Ge, [false, true, true]),
        ];
        for (op, want) in rows {
            for (right, left) in [1, 2, 3].into_iter().enumerate() {
                let expr = Expr::Compare(op, number(left), number(2));
                assert_eq!(expr.truth(&Fixed), Some(want[right]), "{left} {op:?} 2");
            }
            assert_eq!(Expr::Compare(op, unknown(), number(2)).truth(&Fixed), None);
            assert_eq!(Expr::Compare(op, number(2), unknown()).truth(&Fixed), None);
        }
    }

    #[test]
    fn a_word_is_in_a_set_or_not() {
        let set = Box::new(Expr::Const(Value::Set(vec!["a".into(), "b".into()])));
        let word = |w: &str| Box::new(Expr::Const(Value::text(w)));
        assert_eq!(Expr::In(word("b"), set.clone()).truth(&Fixed), Some(true));
        assert_eq!(Expr::In(word("c"), set).truth(&Fixed), Some(false));
    }

    #[test]
    fn cases_take_the_first_that_is_definitely_true() {
        let value = |n: i64| Expr::Const(Value::Number(n));
        let cases = |first, second| {
            Expr::Cases(vec![
                (Some(*flag(first)), value(1)),
                (Some(*flag(second)), value(2)),
                (None, value(3)),
            ])
        };
        assert_eq!(cases(Some(true), Some(true)).number(&Fixed), Some(1));
        assert_eq!(cases(None, Some(true)).number(&Fixed), Some(2));
        assert_eq!(cases(Some(false), None).number(&Fixed), Some(3));
    }
}
