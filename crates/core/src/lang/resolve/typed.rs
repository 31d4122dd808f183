//! Types of expressions: what fits with what.

use std::sync::Arc;

use super::{Resolved, Want};
use crate::expr::{Expr, Op};
use crate::lang::diagnostic::{Code, Diagnostic, Span};
use crate::lang::document::Text;
use crate::lang::problems::Problems;
use crate::value::{Type, Value};

/// What an expression comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) enum Ty {
    Flag,
    Number,
    /// Any text.
    Text,
    /// One of these words.
    Word(Vec<Arc<str>>),
    /// Some of these words.
    Set(Vec<Arc<str>>),
    /// Nothing is known; a mistake was noted already.
    Any,
}

impl Ty {
    pub fn word(word: &str) -> Ty {
        Ty::Word(vec![Arc::from(word)])
    }

    pub fn words<'w>(words: impl IntoIterator<Item = &'w str>) -> Ty {
        Ty::Word(words.into_iter().map(Arc::from).collect())
    }

    pub fn of(ty: &Type) -> Ty {
        match ty {
            Type::Flag => Ty::Flag,
            Type::Number { .. } => Ty::Number,
            Type::Text | Type::Path => Ty::Text,
            Type::OneOf(words) => Ty::Word(words.clone()),
            Type::AnyOf(words) => Ty::Set(words.clone()),
        }
    }

    fn described(&self) -> &'static str {
        match self {
            Ty::Flag => "true or false",
            Ty::Number => "a number",
            Ty::Text => "text",
            Ty::Word(_) => "a word",
            Ty::Set(_) => "a set of words",
            Ty::Any => "anything",
        }
    }

    fn is_text(&self) -> bool {
        matches!(self, Ty::Text | Ty::Word(_))
    }

    /// The one type that has the values of both, if there is one.
    fn union(self, other: Ty) -> Result<Ty, (Ty, Ty)> {
        match (self, other) {
            (Ty::Any, ty) | (ty, Ty::Any) => Ok(ty),
            (Ty::Word(mut words), Ty::Word(more)) => {
                for word in more {
                    if !words.contains(&word) {
                        words.push(word);
                    }
                }
                Ok(Ty::Word(words))
            }
            (a, b) if a.is_text() && b.is_text() => Ok(Ty::Text),
            (a, b) if a == b => Ok(a),
            (a, b) => Err((a, b)),
        }
    }
}

/// Notes an expression that does not come to what it must.
pub(super) fn expect(ty: &Ty, want: Want, text: &Text, problems: &mut Problems<'_>) {
    let must = match want {
        Want::Flag if *ty != Ty::Flag => "true or false",
        Want::Number if *ty != Ty::Number => "a number",
        Want::Flag | Want::Number | Want::Anything => return,
    };
    if *ty != Ty::Any {
        let message = format!("this must come to {must}, and it is {}", ty.described());
        let help = match want {
            Want::Flag => "compare it with something",
            Want::Number | Want::Anything => "name a number, or something that is one",
        };
        let problem = Diagnostic::at(text.span.clone(), Code::TypeMismatch, message);
        problems.report(problem.help(help));
    }
}

/// Notes a side of `and`, `or` or `not` that is not true or false.
pub(super) fn flag_of(ty: &Ty, what: &str, span: Span, problems: &mut Problems<'_>) {
    if !matches!(ty, Ty::Flag | Ty::Any) {
        let message = format!("{what} takes true or false, and this is {}", ty.described());
        problems.report(
            Diagnostic::at(span, Code::TypeMismatch, message).help("compare it with something"),
        );
    }
}

/// Notes a comparison of what cannot be compared, or that can never hold.
pub(super) fn comparable(
    op: Op,
    (left, right): &(Resolved, Resolved),
    (left_at, right_at): (Span, Span),
    problems: &mut Problems<'_>,
) {
    if left.ty == Ty::Any || right.ty == Ty::Any {
        return;
    }
    let whole = left_at.start.min(right_at.start)..left_at.end.max(right_at.end);
    let equality = matches!(op, Op::Eq | Op::Ne);
    if !equality {
        let mut sides = [(left, left_at), (right, right_at)].into_iter();
        if let Some((side, span)) = sides.find(|(side, _)| side.ty != Ty::Number) {
            let message = format!("only numbers are less or more; this is {}", side.ty.described());
            let problem = Diagnostic::at(span, Code::TypeMismatch, message);
            problems.report(problem.help("compare it with `==` or `!=`"));
        }
        return;
    }
    match (&left.ty, &right.ty) {
        (Ty::Word(words), Ty::Word(others)) => {
            if !words.iter().any(|word| others.contains(word)) {
                never_equal((left, left_at), (right, right_at), problems);
            }
        }
        (Ty::Set(_), _) | (_, Ty::Set(_)) => {
            problems.report(
                Diagnostic::at(whole, Code::TypeMismatch, "a set is not compared as a whole")
                    .help("ask for one word: `'word' in set`"),
            );
        }
        (a, b) if a == b || (a.is_text() && b.is_text()) => {}
        (a, b) => {
            let message = format!("{} never equals {}", a.described(), b.described());
            problems.report(
                Diagnostic::at(whole, Code::TypeMismatch, message).help(
                    "compare it with a value of its own type; a text stands in single quotes",
                ),
            );
        }
    }
}

fn never_equal(left: (&Resolved, Span), right: (&Resolved, Span), problems: &mut Problems<'_>) {
    let ((constant, span), (other, other_at)) =
        if literal(&left.0.expr).is_some() { (left, right) } else { (right, left) };
    let Ty::Word(words) = &other.ty else { return };
    let words: Vec<&str> = words.iter().map(|word| &**word).collect();
    let (message, help) = match literal(&constant.expr) {
        Some(word) => {
            let help = problems.did_you_mean_one_of(word, &words);
            // With escapes in the text, the parts of an expression have no places of their own.
            let apart = other_at.end <= span.start || span.end <= other_at.start;
            let name = problems.text().get(other_at).filter(|_| apart);
            let name = name.map_or_else(|| "it".to_owned(), |name| format!("`{name}`"));
            (format!("{name} is never '{word}'"), help)
        }
        None => {
            let help = "they have no word in common".to_owned();
            ("these are never equal".to_owned(), help)
        }
    };
    problems.report(Diagnostic::at(span, Code::TypeMismatch, message).help(help));
}

fn literal(expr: &Expr) -> Option<&str> {
    if let Expr::Const(Value::Text(text)) = expr { Some(text) } else { None }
}

/// Notes an `in` of what is not a word and a set of such words.
pub(super) fn member(
    (left, right): &(Resolved, Resolved),
    (left_at, right_at): (Span, Span),
    problems: &mut Problems<'_>,
) {
    if !left.ty.is_text() && left.ty != Ty::Any {
        let message = format!("only a word is in a set; this is {}", left.ty.described());
        problems.report(
            Diagnostic::at(left_at.clone(), Code::TypeMismatch, message)
                .help("put a text in single quotes before `in`"),
        );
    }
    let Ty::Set(set) = &right.ty else {
        if right.ty != Ty::Any {
            let message = format!("this is {}, not a set", right.ty.described());
            problems.report(
                Diagnostic::at(right_at, Code::TypeMismatch, message)
                    .help("only what has the type `{ any_of = […] }` is a set"),
            );
        }
        return;
    };
    if let Ty::Word(words) = &left.ty
        && !words.iter().any(|word| set.contains(word))
    {
        let set: Vec<&str> = set.iter().map(|word| &**word).collect();
        let word = words.first().map_or("", |word| word);
        let help = problems.did_you_mean_one_of(word, &set);
        let message = format!("'{word}' is never in this set");
        problems.report(Diagnostic::at(left_at, Code::TypeMismatch, message).help(help));
    }
}

/// A case of a let: its condition, its value, and where the value stands.
type LetCase = (Option<Resolved>, Resolved, Option<Span>);

/// The value of a let.
pub(super) fn cases(mut cases: Vec<LetCase>, problems: &mut Problems<'_>) -> Resolved {
    if let [(None, _, _)] = cases.as_slice()
        && let Some((_, value, _)) = cases.pop()
    {
        return value;
    }
    let mut whole = Resolved::unknown();
    let mut list = Vec::new();
    for (when, value, span) in cases {
        for part in when.iter().chain([&value]) {
            whole.nodes += part.nodes;
            whole.depth = whole.depth.max(part.depth + 1);
            whole.mentions.extend(part.mentions.iter().cloned());
        }
        whole.ty = match whole.ty.union(value.ty) {
            Ok(ty) => ty,
            Err((known, other)) => {
                let message = format!(
                    "the cases before came to {}, this to {}",
                    known.described(),
                    other.described()
                );
                problems.report(
                    Diagnostic::at(span.unwrap_or(0..0), Code::TypeMismatch, message)
                        .help("all cases of a `let` have one type"),
                );
                known
            }
        };
        list.push((when.map(|when| when.expr), value.expr));
    }
    whole.expr = Expr::Cases(list);
    whole
}
