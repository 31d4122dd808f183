//! A definition as it was written: every name still text, every text with its place.
//!
//! Reading is tolerant. What is wrong is noted, left out or replaced by something harmless, and the rest is read: one
//! slip must not hide another.

mod cases;
mod kind;
mod moves;
mod stage;
mod tables;

use toml::de::DeTable;

pub(super) use kind::{DecideCase, Gate, Kind};
pub(super) use moves::{Go, Move};
pub(super) use stage::{Limit, On, Stage};
pub(super) use tables::{Amount, Counter, Entry, Input, Let, Units};

use super::diagnostic::{Code, Diagnostic};
use super::document::{self, ITEMS_MAX, Node, Table, Text};
use super::problems::Problems;
use super::words;

/// A definition as it was written.
#[derive(Debug, Default)]
pub(super) struct Definition {
    pub name: Option<Text>,
    pub about: Option<Text>,
    pub units: Units,
    pub inputs: Vec<Input>,
    pub entries: Vec<Entry>,
    pub lets: Vec<Let>,
    pub counters: Vec<Counter>,
    pub always: Vec<(Text, Move)>,
    pub scopes: Vec<Scope>,
}

/// A scope: its name and its stages.
#[derive(Debug)]
pub(super) struct Scope {
    pub name: Text,
    pub stages: Vec<Stage>,
}

impl Definition {
    pub fn read(document: &DeTable<'_>, problems: &mut Problems<'_>) -> Definition {
        let entries = document::entries(document, problems.text());
        let (named, mut scopes): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|(key, node)| !is_scope(key, *node));
        if let Some((key, _)) = scopes.get(ITEMS_MAX) {
            let message = format!("there are more than {ITEMS_MAX} scopes");
            problems.report(Diagnostic::too_large(key.span.clone(), message));
            scopes.truncate(ITEMS_MAX);
        }
        let top = Table::new("a definition", 0..0, &words::TOP, named, problems);
        Definition {
            name: top.need_text("workflow", problems),
            about: top.text("about", problems),
            units: tables::units(&top, problems),
            inputs: tables::inputs(&top, problems),
            entries: tables::entries(&top, problems),
            lets: tables::lets(&top, problems),
            counters: tables::counters(&top, problems),
            always: always(&top, problems),
            scopes: scopes.into_iter().map(|(key, node)| scope(key, node, problems)).collect(),
        }
    }
}

/// Whether this is a scope: one of the four, or any other list of tables.
fn is_scope(key: &Text, node: Node<'_>) -> bool {
    words::SCOPES.contains(&key.as_str())
        || (!words::TOP.contains(&key.as_str()) && node.is_list_of_tables())
}

fn scope(name: Text, node: Node<'_>, problems: &mut Problems<'_>) -> Scope {
    let stages = if node.is_table() {
        let message = format!("`{}` is a list of stages", name.value);
        problems.report(
            Diagnostic::at(name.span.clone(), Code::WrongValue, message)
                .help(format!("write `[[{}]]` above each of its stages", name.value)),
        );
        vec![node]
    } else {
        node.stages("a scope", problems).unwrap_or_default()
    };
    let stages = stages.into_iter().filter_map(|stage| stage::read(stage, problems)).collect();
    Scope { name, stages }
}

fn always(top: &Table<'_>, problems: &mut Problems<'_>) -> Vec<(Text, Move)> {
    let Some(node) = top.get("always") else { return Vec::new() };
    let mut all = Vec::new();
    for (mishap, node) in node.entries("`[always]`", problems).unwrap_or_default() {
        if !words::is_mishap(&mishap.value) {
            let names = crate::workflow::Mishap::ALL.map(|mishap| mishap.name());
            document::unknown_key(&mishap, "`[always]`", &names, problems);
        } else if node.is_list() {
            let message = format!("`{}` in `[always]` must be one move", mishap.value);
            problems.report(
                Diagnostic::at(node.span(), Code::WrongValue, message)
                    .help("cases belong in a stage's own `on`"),
            );
        } else if let Some(mut step) = moves::read(node, problems) {
            moves::no_condition(&mut step, problems);
            moves::not_at_a_gate(&mut step, problems);
            all.push((mishap, step));
        }
    }
    all
}

/// A word of a closed list.
fn choice<T: Copy>(
    text: &Text,
    what: &str,
    words: &[(&str, T)],
    problems: &mut Problems<'_>,
) -> Option<T> {
    let found = words.iter().find(|(word, _)| *word == text.value).map(|(_, it)| *it);
    if found.is_none() {
        let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let help = problems.did_you_mean_one_of(&text.value, &names);
        let message = format!("{what} cannot be `{}`", text.value);
        let problem = Diagnostic::at(text.span.clone(), Code::WrongValue, message);
        problems.report(problem.help(help));
    }
    found
}

/// `NAME = "expression"` for each key of a table.
fn expressions(node: Node<'_>, what: &str, problems: &mut Problems<'_>) -> Vec<(Text, Text)> {
    let entries = node.entries(what, problems).unwrap_or_default().into_iter();
    entries
        .filter_map(|(name, node)| {
            let text = expression(node, &format!("`{}` in {what}", name.value), problems)?;
            Some((name, text))
        })
        .collect()
}

/// An expression: text, even when it is only a number.
fn expression(node: Node<'_>, what: &str, problems: &mut Problems<'_>) -> Option<Text> {
    if node.is_number() || node.is_flag() {
        let span = node.span();
        let written = problems.text().get(span.clone()).unwrap_or("…");
        let help = format!("write `\"{written}\"`");
        let message = format!("{what} must be an expression in quotes");
        problems.report(Diagnostic::at(span, Code::WrongValue, message).help(help));
        return None;
    }
    node.text(what, problems)
}
