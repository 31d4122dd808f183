//! Expressions resolved: names looked up, types checked, lets put in place.
//!
//! A name means the same everywhere, since all names are unique; where it may be asked for is another question, and
//! for what a `let` mentions it is asked where the `let` is used.

mod name;
#[cfg(test)]
mod tests;
mod typed;
mod visible;

use std::collections::BTreeMap;

pub(super) use typed::Ty;
pub(super) use visible::Context;

use super::definition::Amount;
use super::diagnostic::{Code, Diagnostic, Span};
use super::document::Text;
use super::expression::{self, Node, Tree};
use super::outline::Outline;
use super::problems::Problems;
use crate::expr::{Expr, Name, Op};
use crate::value::Value;

/// An expression whose names are resolved.
#[derive(Clone, Debug)]
pub(super) struct Resolved {
    pub expr: Expr,
    pub ty: Ty,
    /// The names in it, and where they stand.
    mentions: Vec<(Name, Span)>,
    nodes: usize,
    depth: usize,
}

/// What an expression must come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Want {
    Flag,
    Number,
    Anything,
}

/// Nodes of one expression once its lets are in place.
const NODES: usize = 4_096;
/// Nodes of all expressions together: lets can be used many times over.
const NODES_IN_ALL: usize = 400_000;
/// How deep one expression may be: it is walked recursively later.
const DEPTH: usize = 256;
/// Lets inside lets.
const LETS: usize = 64;

enum LetState {
    UnderWay,
    Done(Resolved),
}

/// Resolves expressions.
pub(super) struct Resolver<'o, 'd> {
    outline: &'o Outline<'d>,
    lets: BTreeMap<usize, LetState>,
    used_lets: std::collections::BTreeSet<usize>,
    nodes_left: usize,
}

impl<'o, 'd> Resolver<'o, 'd> {
    pub fn new(outline: &'o Outline<'d>) -> Self {
        Resolver {
            outline,
            lets: BTreeMap::new(),
            used_lets: std::collections::BTreeSet::new(),
            nodes_left: NODES_IN_ALL,
        }
    }

    /// Resolves every let, used or not, so that mistakes in each are noted.
    pub fn all_lets(&mut self, problems: &mut Problems<'_>) {
        for at in 0..self.outline.definition.lets.len() {
            self.named_let(at, LETS, problems);
        }
    }

    /// Notes the lets that nothing uses.
    pub fn unused_lets(&self, problems: &mut Problems<'_>) {
        for (at, it) in self.outline.definition.lets.iter().enumerate() {
            if !self.used_lets.contains(&at) {
                let message = format!("nothing uses `{}`", it.name.value);
                problems.report(
                    Diagnostic::at(it.name.span.clone(), Code::Unused, message)
                        .help("use it in an expression, or leave it out"),
                );
            }
        }
    }

    /// An expression that stands somewhere and must come to something.
    pub fn expression(
        &mut self,
        text: &Text,
        want: Want,
        context: Context,
        problems: &mut Problems<'_>,
    ) -> Expr {
        let resolved = self.resolve(text, LETS, problems);
        for (name, span) in &resolved.mentions {
            self.check_visible(*name, span, text, context, problems);
        }
        typed::expect(&resolved.ty, want, text, problems);
        if resolved.nodes > self.nodes_left {
            let message = "the expressions of this file are too large when their lets are put in";
            problems.report(Diagnostic::too_large(text.span.clone(), message));
            return Expr::Const(Value::Flag(false));
        }
        self.nodes_left -= resolved.nodes;
        resolved.expr
    }

    /// A number, or an expression for one.
    pub fn amount(
        &mut self,
        amount: &Amount,
        context: Context,
        problems: &mut Problems<'_>,
    ) -> Expr {
        match amount {
            Amount::Number(number) => Expr::Const(Value::Number(*number)),
            Amount::Expression(text) => self.expression(text, Want::Number, context, problems),
        }
    }

    fn resolve(&mut self, text: &Text, lets: usize, problems: &mut Problems<'_>) -> Resolved {
        match expression::parse(text.as_str()) {
            Ok(tree) => self.tree(text, &tree, lets, problems),
            Err(mistake) => {
                problems.report(mistake.diagnostic(text));
                Resolved::unknown()
            }
        }
    }

    fn tree(
        &mut self,
        text: &Text,
        tree: &Tree,
        lets: usize,
        problems: &mut Problems<'_>,
    ) -> Resolved {
        match &tree.node {
            Node::Flag(flag) => Resolved::constant(Value::Flag(*flag), Ty::Flag),
            Node::Number(number) => Resolved::constant(Value::Number(*number), Ty::Number),
            Node::Text(word) => Resolved::constant(Value::text(word), Ty::word(word)),
            Node::Name(name) => {
                let span = text.part(tree.range.clone());
                self.bare(name, span, lets, problems)
            }
            Node::Part { owner, part, part_at } => {
                let span = text.part(tree.range.clone());
                let owner_at = text.part(tree.range.start..tree.range.start + owner.len());
                let part_at = text.part(part_at.clone());
                self.part((owner, owner_at), (part, part_at), span, problems)
            }
            Node::Not(inner) => {
                let resolved = self.tree(text, inner, lets, problems);
                typed::flag_of(&resolved.ty, "`not`", text.part(inner.range.clone()), problems);
                resolved.wrap(Ty::Flag, |expr| Expr::Not(Box::new(expr)))
            }
            Node::And(left, right) => {
                let sides = self.flags(text, left, right, "`and`", lets, problems);
                Resolved::join(sides, Ty::Flag, Expr::And)
            }
            Node::Or(left, right) => {
                let sides = self.flags(text, left, right, "`or`", lets, problems);
                Resolved::join(sides, Ty::Flag, Expr::Or)
            }
            Node::Compare(op, left, right) => {
                let sides = self.sides(text, left, right, lets, problems);
                let spans = (text.part(left.range.clone()), text.part(right.range.clone()));
                typed::comparable(*op, &sides, spans, problems);
                let op: Op = *op;
                Resolved::join(sides, Ty::Flag, |l, r| Expr::Compare(op, l, r))
            }
            Node::In(left, right) => {
                let sides = self.sides(text, left, right, lets, problems);
                let spans = (text.part(left.range.clone()), text.part(right.range.clone()));
                typed::member(&sides, spans, problems);
                Resolved::join(sides, Ty::Flag, Expr::In)
            }
        }
        .bounded(text, problems)
    }

    fn sides(
        &mut self,
        text: &Text,
        left: &Tree,
        right: &Tree,
        lets: usize,
        problems: &mut Problems<'_>,
    ) -> (Resolved, Resolved) {
        (self.tree(text, left, lets, problems), self.tree(text, right, lets, problems))
    }

    fn flags(
        &mut self,
        text: &Text,
        left: &Tree,
        right: &Tree,
        what: &str,
        lets: usize,
        problems: &mut Problems<'_>,
    ) -> (Resolved, Resolved) {
        let sides = self.sides(text, left, right, lets, problems);
        typed::flag_of(&sides.0.ty, what, text.part(left.range.clone()), problems);
        typed::flag_of(&sides.1.ty, what, text.part(right.range.clone()), problems);
        sides
    }

    /// The value of a let, put in place of its name.
    fn used_let(
        &mut self,
        at: usize,
        span: Span,
        lets: usize,
        problems: &mut Problems<'_>,
    ) -> Resolved {
        self.used_lets.insert(at);
        let Some(lets) = lets.checked_sub(1) else {
            let message = "lets are used inside lets too deeply";
            problems.report(Diagnostic::too_large(span, message));
            return Resolved::unknown();
        };
        if let Some(LetState::UnderWay) = self.lets.get(&at) {
            let name = &self.outline.definition.lets[at].name;
            let message = format!("`{}` is needed to work out `{}` itself", name.value, name.value);
            problems.report(
                Diagnostic::at(span, Code::LetCycle, message)
                    .related(name.span.clone(), "it stands here")
                    .help("say one of them without the other"),
            );
            return Resolved::unknown();
        }
        self.named_let(at, lets, problems)
    }

    fn named_let(&mut self, at: usize, lets: usize, problems: &mut Problems<'_>) -> Resolved {
        if let Some(LetState::Done(resolved)) = self.lets.get(&at) {
            return resolved.clone();
        }
        self.lets.insert(at, LetState::UnderWay);
        let definition = &self.outline.definition.lets[at];
        let mut cases = Vec::new();
        for case in &definition.cases {
            let when = case.case.when.as_ref().map(|text| {
                let resolved = self.resolve(text, lets, problems);
                typed::expect(&resolved.ty, Want::Flag, text, problems);
                resolved
            });
            let value = case.value.as_ref().map(|text| self.resolve(text, lets, problems));
            let span = case.value.as_ref().map(|text| text.span.clone());
            cases.push((when, value.unwrap_or_else(Resolved::unknown), span));
        }
        let resolved = typed::cases(cases, problems).bounded(&definition.name, problems);
        self.lets.insert(at, LetState::Done(resolved.clone()));
        resolved
    }
}

impl Resolved {
    /// For what could not be resolved: fits everywhere, so that nothing more is said about it.
    fn unknown() -> Resolved {
        Resolved::constant(Value::Flag(false), Ty::Any)
    }

    fn constant(value: Value, ty: Ty) -> Resolved {
        Resolved { expr: Expr::Const(value), ty, mentions: Vec::new(), nodes: 1, depth: 1 }
    }

    fn name(name: Name, ty: Ty, span: Span) -> Resolved {
        Resolved { expr: Expr::Name(name), ty, mentions: vec![(name, span)], nodes: 1, depth: 1 }
    }

    fn wrap(self, ty: Ty, make: impl FnOnce(Expr) -> Expr) -> Resolved {
        Resolved {
            expr: make(self.expr),
            ty,
            mentions: self.mentions,
            nodes: self.nodes + 1,
            depth: self.depth + 1,
        }
    }

    fn join(
        (left, right): (Resolved, Resolved),
        ty: Ty,
        make: impl FnOnce(Box<Expr>, Box<Expr>) -> Expr,
    ) -> Resolved {
        let mut mentions = left.mentions;
        mentions.extend(right.mentions);
        Resolved {
            expr: make(Box::new(left.expr), Box::new(right.expr)),
            ty,
            mentions,
            nodes: left.nodes + right.nodes + 1,
            depth: left.depth.max(right.depth) + 1,
        }
    }

    /// Itself, unless it is too large to go on with.
    fn bounded(self, text: &Text, problems: &mut Problems<'_>) -> Resolved {
        if self.nodes <= NODES && self.depth <= DEPTH {
            return self;
        }
        let message = "this is too long or too deep once its lets are put in";
        problems.report(Diagnostic::too_large(text.span.clone(), message));
        Resolved::unknown()
    }
}
