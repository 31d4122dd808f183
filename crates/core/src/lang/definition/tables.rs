//! The tables above the stages: units, inputs, entries, lets and counters.

use super::super::diagnostic::{Code, Diagnostic};
use super::super::document::{Node, Table, Text};
use super::super::problems::Problems;
use super::super::types;
use super::cases::{self, Case, Last};
use super::moves::{self, Move};
use crate::value::Type;
use crate::workflow;

/// `[units]`
#[derive(Debug, Default)]
pub(in super::super) struct Units {
    pub called: Option<Text>,
    pub order: Option<workflow::Order>,
    pub lanes: Option<Amount>,
}

/// A number, or an expression for one.
#[derive(Debug)]
pub(in super::super) enum Amount {
    Number(i64),
    Expression(Text),
}

/// An input; it needs no other name to be understood.
#[derive(Debug)]
pub(in super::super) struct Input {
    pub name: Text,
    /// `None` when the type could not be read; that was noted.
    pub input: Option<workflow::Input>,
}

/// `[entry.NAME]`
#[derive(Debug)]
pub(in super::super) struct Entry {
    pub name: Text,
    pub at: Option<Text>,
    pub requires: Vec<Text>,
    pub otherwise: Option<Text>,
}

/// A `let`: cases, often only one.
#[derive(Debug)]
pub(in super::super) struct Let {
    pub name: Text,
    pub cases: Vec<LetCase>,
}

/// A case of a `let`.
#[derive(Debug)]
pub(in super::super) struct LetCase {
    pub case: Case,
    pub value: Option<Text>,
}

/// A counter.
#[derive(Debug)]
pub(in super::super) struct Counter {
    pub name: Text,
    pub per: Option<Text>,
    pub from: u32,
    pub max: Option<Amount>,
    pub each_unit: Option<Amount>,
    pub by: Option<Text>,
    pub spent: Option<Move>,
}

pub(super) fn units(top: &Table<'_>, problems: &mut Problems<'_>) -> Units {
    let keys = ["called", "order", "lanes"];
    let table = top.get("units").and_then(|node| node.table("`[units]`", &keys, problems));
    let Some(table) = table else { return Units::default() };
    let orders = [("depends", workflow::Order::Depends), ("listed", workflow::Order::Listed)];
    let order = table.text("order", problems);
    Units {
        called: table.text("called", problems).and_then(|word| called(word, problems)),
        order: order.and_then(|word| super::choice(&word, "`order`", &orders, problems)),
        lanes: table.get("lanes").and_then(|node| amount(node, "`lanes`", 1, problems)),
    }
}

/// What a unit is called: it stands in the middle of lines that people read.
fn called(word: Text, problems: &mut Problems<'_>) -> Option<Text> {
    if !word.value.trim().is_empty() && !word.value.contains(char::is_control) {
        return Some(word);
    }
    let message = "a unit is called by a word that can be printed";
    let problem = Diagnostic::at(word.span, Code::WrongValue, message);
    problems.report(problem.help("such as `phase`, `feature` or `issue`"));
    None
}

/// The entries of a table whose keys are names.
fn named<'d>(top: &Table<'d>, key: &str, problems: &mut Problems<'_>) -> Vec<(Text, Node<'d>)> {
    let entries = top.get(key).and_then(|node| node.entries(&format!("`[{key}]`"), problems));
    entries.unwrap_or_default()
}

/// A number of at least `min`, or an expression.
fn amount(node: Node<'_>, what: &str, min: i64, problems: &mut Problems<'_>) -> Option<Amount> {
    if node.is_text() {
        return node.text(what, problems).map(Amount::Expression);
    }
    if !node.is_number() {
        node.not_a(what, "a number or an expression", problems);
        return None;
    }
    let number = node.number(what, problems)?;
    if number < min || number > i64::from(u32::MAX) {
        let message = format!("{what} cannot be {number}");
        let help = format!("at least {min}, at most {}", u32::MAX);
        problems.report(Diagnostic::at(node.span(), Code::WrongValue, message).help(help));
        return None;
    }
    Some(Amount::Number(number))
}

pub(super) fn inputs(top: &Table<'_>, problems: &mut Problems<'_>) -> Vec<Input> {
    let entries = named(top, "inputs", problems).into_iter();
    entries.map(|(name, node)| Input { input: input(&name, node, problems), name }).collect()
}

fn input(name: &Text, node: Node<'_>, problems: &mut Problems<'_>) -> Option<workflow::Input> {
    let made = |ty: Type, default, ask: Option<Text>| workflow::Input {
        name: name.value.clone(),
        default: Option::or(default, ty.implied_default()),
        ty,
        ask: ask.map(|ask| ask.value),
    };
    if !node.is_table() || is_bare_set(node, problems) {
        return types::read(node, problems).map(|ty| made(ty, None, None));
    }
    let keys = ["type", "default", "ask", "one_of", "any_of"];
    let table = node.table("an input", &keys, problems)?;
    for (key, form) in [("one_of", "[…]"), ("any_of", "{ any_of = […] }")] {
        if let Some(key) = table.key(key) {
            let message = format!("`{}` belongs in the type of an input", key.value);
            problems.report(
                Diagnostic::at(key.span.clone(), Code::MisplacedKey, message)
                    .help(format!("write `type = {form}`")),
            );
            return None;
        }
    }
    let ty = table.need("type", problems).and_then(|node| types::read(node, problems));
    let ask = table.text("ask", problems);
    let given = table.get("default");
    let ty = ty?;
    let default = given.and_then(|node| Some((types::value(node, problems)?, node.span())));
    if let Some((value, span)) = &default
        && !ty.admits(value)
    {
        let message = format!("`{value}` cannot be the default of `{}`", name.value);
        let problem = Diagnostic::at(span.clone(), Code::WrongValue, message);
        problems.report(problem.help(format!("it is {ty}")));
    }
    Some(made(ty, default.map(|(value, _)| value), ask))
}

/// `{ any_of = […] }` alone is a type, not an input's table.
fn is_bare_set(node: Node<'_>, problems: &mut Problems<'_>) -> bool {
    let entries = node.entries("an input", problems).unwrap_or_default();
    matches!(entries.as_slice(), [(key, _)] if key.value == "any_of")
}

pub(super) fn entries(top: &Table<'_>, problems: &mut Problems<'_>) -> Vec<Entry> {
    let mut all = Vec::new();
    for (name, node) in named(top, "entry", problems) {
        let Some(table) = node.table("an entry", &["at", "requires", "else"], problems) else {
            continue;
        };
        let at = table.need_text("at", problems);
        let requires = table.texts("requires", problems);
        let otherwise = if requires.is_empty() {
            table.text("else", problems)
        } else {
            table.need_text("else", problems)
        };
        all.push(Entry { name, at, requires, otherwise });
    }
    all
}

pub(super) fn lets(top: &Table<'_>, problems: &mut Problems<'_>) -> Vec<Let> {
    let entries = named(top, "let", problems).into_iter();
    entries.map(|(name, node)| Let { cases: let_cases(&name, node, problems), name }).collect()
}

fn let_cases(name: &Text, node: Node<'_>, problems: &mut Problems<'_>) -> Vec<LetCase> {
    let what = format!("`{}`", name.value);
    if !node.is_list() {
        let value = super::expression(node, &what, problems);
        return vec![LetCase { case: Case::always(node.span()), value }];
    }
    let mut all = Vec::new();
    for node in node.list(&what, problems).unwrap_or_default() {
        let table = node.table("a case of a `let`", &["value", "when"], problems);
        let Some(table) = table else { continue };
        let value = table.need("value", problems);
        let value = value.and_then(|node| super::expression(node, "`value`", problems));
        all.push(LetCase { case: Case::read(&table, problems), value });
    }
    cases::check(all.iter().map(|c| &c.case), node.span(), &what, Last::Always, problems);
    all
}

pub(super) fn counters(top: &Table<'_>, problems: &mut Problems<'_>) -> Vec<Counter> {
    let entries = named(top, "counters", problems).into_iter();
    entries.map(|(name, node)| counter(name, node, problems)).collect()
}

fn counter(name: Text, node: Node<'_>, problems: &mut Problems<'_>) -> Counter {
    let mut counter =
        Counter { name, per: None, from: 0, max: None, each_unit: None, by: None, spent: None };
    let keys = ["per", "from", "max", "each_unit", "by", "spent"];
    let Some(table) = node.table("a counter", &keys, problems) else { return counter };
    counter.per = table.need_text("per", problems);
    counter.max = table.need("max", problems).and_then(|node| amount(node, "`max`", 0, problems));
    let each = table.get("each_unit");
    counter.each_unit = each.and_then(|node| amount(node, "`each_unit`", 0, problems));
    counter.by = table.text("by", problems);
    counter.spent = table.get("spent").and_then(|node| moves::spent(node, problems));
    if let Some(node) = table.get("from")
        && let Some(from) = node.number("`from`", problems)
    {
        counter.from = u32::try_from(from).unwrap_or_default();
        let too_far = matches!(counter.max, Some(Amount::Number(max)) if from > max);
        if from < 0 || from > i64::from(u32::MAX) || too_far {
            let message = format!("a counter cannot start at {from}");
            problems.report(
                Diagnostic::at(node.span(), Code::WrongValue, message)
                    .help("`from` is at least 0 and at most `max`"),
            );
        }
    }
    counter
}
