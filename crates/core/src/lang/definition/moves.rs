//! Moves as they were written: a word or a table.

use super::super::diagnostic::{Code, Diagnostic, Span};
use super::super::document::{Node, Table, Text};
use super::super::problems::Problems;
use super::cases::Case;

/// Where a move goes.
#[derive(Clone, Debug)]
pub(in super::super) enum Go {
    /// A word alone.
    Word(Text),
    /// `to = …`
    To(Text),
    /// `end = …`
    End(Text),
    /// `pause = …`
    Pause(Text),
    /// `rest = …`
    Rest(Text),
    /// `return = …`
    Return(Text),
    /// `finish = …`
    Finish(Text),
}

impl Go {
    pub fn text(&self) -> &Text {
        match self {
            Go::Word(text)
            | Go::To(text)
            | Go::End(text)
            | Go::Pause(text)
            | Go::Rest(text)
            | Go::Return(text)
            | Go::Finish(text) => text,
        }
    }
}

/// A move.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Move {
    pub case: Case,
    /// `None` when it does not say where to; that was noted.
    pub go: Option<Go>,
    pub count: Option<Text>,
    pub spent: Option<Box<Move>>,
    pub reset: Vec<Text>,
    pub widen: Vec<Text>,
    /// The scope, and the lists whose items are added to it.
    pub add: Vec<(Text, Vec<Text>)>,
    pub waive: Vec<Text>,
    pub reason: bool,
    pub record: Option<Text>,
    pub outcome: Option<Text>,
    pub label: Option<Text>,
    pub about: Option<Text>,
    /// The keys that only a gate's option may have.
    gate_keys: Vec<Text>,
}

impl Move {
    /// The whole move.
    pub fn span(&self) -> Span {
        self.case.span.clone()
    }
}

const KEYS: [&str; 18] = [
    "to", "end", "pause", "rest", "return", "finish", "when", "count", "spent", "reset", "widen",
    "add", "record", "outcome", "waive", "reason", "label", "about",
];
const GATE_KEYS: [&str; 4] = ["waive", "reason", "label", "about"];

/// Reads a move.
pub(super) fn read(node: Node<'_>, problems: &mut Problems<'_>) -> Option<Move> {
    if node.is_text() {
        let word = node.text("a move", problems)?;
        let case = Case::always(word.span.clone());
        return Some(Move { case, go: Some(Go::Word(word)), ..Move::default() });
    }
    if !node.is_table() {
        node.not_a("a move", "a word or a table", problems);
        return None;
    }
    let table = node.table("a move", &KEYS, problems)?;
    let when_spent = table.get("spent").and_then(|node| spent(node, problems));
    let step = Move {
        case: Case::read(&table, problems),
        go: go(&table, problems),
        count: table.text("count", problems),
        spent: when_spent.map(Box::new),
        reset: table.texts("reset", problems),
        widen: table.get("widen").map(|node| widen(node, problems)).unwrap_or_default(),
        add: table.get("add").map(|node| add(node, problems)).unwrap_or_default(),
        waive: table.texts("waive", problems),
        reason: table.flag("reason", problems),
        record: table.text("record", problems),
        outcome: table.text("outcome", problems),
        label: table.text("label", problems),
        about: table.text("about", problems),
        gate_keys: GATE_KEYS.iter().filter_map(|key| table.key(key)).cloned().collect(),
    };
    if step.count.is_none() && table.get("count").is_none() {
        without_count(&table, problems);
    }
    Some(step)
}

fn without_count(table: &Table<'_>, problems: &mut Problems<'_>) {
    for key in ["spent", "widen"].iter().filter_map(|key| table.key(key)) {
        let message = format!("`{}` means nothing without `count`", key.value);
        problems.report(
            Diagnostic::at(key.span.clone(), Code::MisplacedKey, message)
                .help("add `count = \"COUNTER\"`, or leave it out"),
        );
    }
}

/// Reads what follows when a counter is spent.
pub(super) fn spent(node: Node<'_>, problems: &mut Problems<'_>) -> Option<Move> {
    let mut step = read(node, problems)?;
    no_condition(&mut step, problems);
    not_at_a_gate(&mut step, problems);
    step.spent = None;
    step.widen.clear();
    if let Some(count) = step.count.take() {
        let message = "a move for a spent counter cannot count again";
        problems.report(
            Diagnostic::at(count.span, Code::CounterMisuse, message)
                .help("go to a stage whose own moves count, or leave `count` out"),
        );
    }
    Some(step)
}

/// Notes and drops a condition where there is only one case.
pub(super) fn no_condition(step: &mut Move, problems: &mut Problems<'_>) {
    step.case.drop_condition(problems);
}

/// Notes and drops what only an option of a gate may have.
pub(super) fn not_at_a_gate(step: &mut Move, problems: &mut Problems<'_>) {
    for key in std::mem::take(&mut step.gate_keys) {
        let message = format!("only an option of a gate has `{}`", key.value);
        problems.report(
            Diagnostic::at(key.span, Code::MisplacedKey, message)
                .help("it is a person's doing: put it on the option of a gate that leads here"),
        );
    }
    step.waive.clear();
    step.reason = false;
}

fn go(table: &Table<'_>, problems: &mut Problems<'_>) -> Option<Go> {
    type Make = fn(Text) -> Go;
    let makers: [(&str, Make); 6] = [
        ("to", Go::To),
        ("end", Go::End),
        ("pause", Go::Pause),
        ("rest", Go::Rest),
        ("return", Go::Return),
        ("finish", Go::Finish),
    ];
    let found = makers.iter().filter_map(|(key, make)| Some((table.key(key)?, *key, make)));
    let mut found: Vec<_> = found.collect();
    found.sort_by_key(|(key, _, _)| key.span.start);
    if let [first, second, ..] = found.as_slice() {
        let message = format!("a move goes one way: both `{}` and `{}`", first.1, second.1);
        problems.report(
            Diagnostic::at(second.0.span.clone(), Code::MisplacedKey, message)
                .related(first.0.span.clone(), "the other one is here")
                .help("keep one; in a finale, `outcome` changes the outcome and goes on"),
        );
    }
    let Some((_, key, make)) = found.first() else {
        problems.report(
            Diagnostic::at(table.span(), Code::MissingKey, "this move does not say where to go")
                .help("add `to = \"STAGE\"`, or `end`, `pause`, `rest`, `return` or `finish`"),
        );
        return None;
    };
    table.text(key, problems).map(make)
}

/// Unlike other lists this one may say the same twice: it goes by position.
fn widen(node: Node<'_>, problems: &mut Problems<'_>) -> Vec<Text> {
    let items = node.list("`widen`", problems).unwrap_or_default().into_iter();
    items.filter_map(|item| item.text("an item of `widen`", problems)).collect()
}

fn add(node: Node<'_>, problems: &mut Problems<'_>) -> Vec<(Text, Vec<Text>)> {
    let mut all = Vec::new();
    for (scope, node) in node.entries("`add`", problems).unwrap_or_default() {
        let lists = if node.is_list() {
            node.some_texts("`add`", problems)
        } else {
            node.text("`add`", problems).into_iter().collect()
        };
        all.push((scope, lists));
    }
    all
}
