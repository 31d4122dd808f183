//! Stages as they were written: what any of them may have, and the moves.

use super::super::diagnostic::{Code, Diagnostic, Span};
use super::super::document::{Node, Table, Text};
use super::super::problems::Problems;
use super::super::words;
use super::cases::{self, Last};
use super::kind::{self, Kind};
use super::moves::{self, Move};

/// A stage.
#[derive(Debug)]
pub(in super::super) struct Stage {
    /// Its header or braces.
    pub span: Span,
    /// `None` when it has none; that was noted.
    pub name: Option<Text>,
    /// `None` when it could not be made out; that was noted.
    pub kind: Option<Kind>,
    /// The key that says the kind.
    pub kind_key: Span,
    pub when: Option<Text>,
    pub aside: bool,
    pub shown_as: Option<Text>,
    pub record: Option<Text>,
    pub count: Option<Text>,
    pub limit: Option<Limit>,
    pub edits: Option<Text>,
    pub with: Vec<(Text, Text)>,
    pub sees: Vec<Text>,
    pub needs: Vec<Text>,
    pub on: Vec<On>,
}

/// What one verdict leads to.
#[derive(Debug)]
pub(in super::super) struct On {
    pub verdict: Text,
    pub cases: Vec<Move>,
}

impl Stage {
    /// Where to point when the stage as a whole is meant.
    pub fn at(&self) -> Span {
        self.name.as_ref().map_or_else(|| self.span.clone(), |name| name.span.clone())
    }

    /// Its name, for people.
    pub fn called(&self) -> &str {
        self.name.as_ref().map_or("this stage", |name| name.as_str())
    }
}

/// Keys that only some kinds have.
const PARTICULAR: [(&str, &[&str]); 16] = [
    ("edits", &["role", "save"]),
    ("with", &["role", "panel", "tell", "read", "checks", "save", "land"]),
    ("sees", &["role", "panel", "gate"]),
    ("agents", &["role"]),
    ("session", &["role"]),
    ("expect", &["checks"]),
    ("hard", &["gate"]),
    ("concerns", &["gate"]),
    ("policy", &["gate"]),
    ("default", &["gate"]),
    ("from", &["each", "save"]),
    ("label", &["save", "land"]),
    ("trailers", &["save"]),
    ("keep", &["land"]),
    ("proof", &["land"]),
    ("needs", &["land", "save"]),
];

/// Kinds that do something which can take too long.
const LIMITED: &[&str] = &["role", "panel", "checks", "read", "save", "land", "tell"];

/// How long a stage may take.
#[derive(Debug)]
pub(in super::super) enum Limit {
    /// So many milliseconds.
    Ms(u64),
    /// So many seconds as an expression says.
    Seconds(Text),
}

/// Keys that any stage may have.
const COMMON: [&str; 8] = ["stage", "on", "when", "aside", "shown_as", "record", "count", "limit"];

pub(super) fn read(node: Node<'_>, problems: &mut Problems<'_>) -> Option<Stage> {
    let mut keys: Vec<&'static str> = COMMON.to_vec();
    keys.extend(words::KINDS);
    keys.extend(PARTICULAR.map(|(key, _)| key));
    let table = node.table("a stage", &keys, problems)?;
    let name = table.need_text("stage", problems);
    let found = kind::find(&table, name.as_ref(), problems);
    let kind = found.as_ref().map(|(kind, _, _)| *kind);
    misplaced(&table, kind, problems);

    let span = table.span();
    let has = |key: &str| PARTICULAR.iter().any(|(k, kinds)| *k == key && allows(kinds, kind));
    let with = table.get("with").filter(|_| has("with"));
    let what = name.as_ref().map_or("a stage".to_owned(), |name| format!("`{}`", name.value));
    let last = if kind == Some("gate") { Last::MayFail } else { Last::Always };
    Some(Stage {
        kind_key: found.as_ref().map_or_else(|| span.clone(), |(_, span, _)| span.clone()),
        span,
        when: table.get("when").and_then(|node| super::expression(node, "`when`", problems)),
        aside: table.flag("aside", problems),
        shown_as: table.text("shown_as", problems),
        record: table.text("record", problems),
        count: table.text("count", problems),
        limit: table.get("limit").and_then(|node| limit(node, problems)),
        edits: edits(&table, problems).filter(|_| has("edits")),
        with: with.map(|n| super::expressions(n, "`with`", problems)).unwrap_or_default(),
        sees: if has("sees") { table.texts("sees", problems) } else { Vec::new() },
        needs: if has("needs") { table.texts("needs", problems) } else { Vec::new() },
        on: on(&table, &what, last, kind, problems),
        kind: found.and_then(|(key, _, node)| kind::read(key, node, &table, problems)),
        name,
    })
}

/// Whether a key of these kinds may stand on a stage of this kind; on one of no kind we let it pass.
fn allows(kinds: &[&str], kind: Option<&str>) -> bool {
    kind.is_none_or(|kind| kinds.contains(&kind))
}

fn misplaced(table: &Table<'_>, kind: Option<&str>, problems: &mut Problems<'_>) {
    let Some(kind) = kind else { return };
    for (key, kinds) in PARTICULAR.into_iter().chain([("limit", LIMITED)]) {
        if let Some(key) = table.key(key).filter(|_| !kinds.contains(&kind)) {
            let message = format!("a {kind} stage has no `{}`", key.value);
            let help = if kind == "gate" && key.value == "limit" {
                "time never answers a gate; leave it out".to_owned()
            } else {
                format!("only {} stages have it", words::listed(kinds))
            };
            let problem = Diagnostic::at(key.span.clone(), Code::MisplacedKey, message);
            problems.report(problem.help(help));
        }
    }
}

/// The key `edits`, when it says true.
fn edits(table: &Table<'_>, problems: &mut Problems<'_>) -> Option<Text> {
    table.flag("edits", problems).then(|| table.key("edits").cloned())?
}

/// A time such as `120s`, `30m` or `2h`, or so many seconds as an expression says.
fn limit(node: Node<'_>, problems: &mut Problems<'_>) -> Option<Limit> {
    if node.is_table() {
        let table = node.table("a limit", &["seconds"], problems)?;
        let seconds = table.need("seconds", problems)?;
        return super::expression(seconds, "`seconds`", problems).map(Limit::Seconds);
    }
    let text = node.text("`limit`", problems)?;
    let units = [("s", 1_000), ("m", 60_000), ("h", 3_600_000)];
    let parsed = units.iter().find_map(|(unit, ms)| {
        let number: u64 = text.value.strip_suffix(unit)?.trim().parse().ok()?;
        number.checked_mul(*ms).filter(|ms| *ms > 0)
    });
    if parsed.is_none() {
        let message = format!("`{}` is not a time limit", text.value);
        problems.report(
            Diagnostic::at(text.span, Code::WrongValue, message)
                .help("write a whole number and a unit: `120s`, `30m` or `2h`"),
        );
    }
    parsed.map(Limit::Ms)
}

fn on(
    table: &Table<'_>,
    what: &str,
    last: Last,
    kind: Option<&str>,
    problems: &mut Problems<'_>,
) -> Vec<On> {
    let mut all = Vec::new();
    let entries = table.get("on").and_then(|node| node.entries("`on`", problems));
    for (verdict, node) in entries.unwrap_or_default() {
        let mut cases = Vec::new();
        if node.is_list() {
            let items = node.list("a list of moves", problems).unwrap_or_default().into_iter();
            cases.extend(items.filter_map(|item| moves::read(item, problems)));
            let what = format!("`{}` of {what}", verdict.value);
            cases::check(cases.iter().map(|c| &c.case), node.span(), &what, last, problems);
        } else if let Some(mut step) = moves::read(node, problems) {
            moves::no_condition(&mut step, problems);
            cases.push(step);
        }
        if kind.is_some_and(|kind| kind != "gate") {
            cases.iter_mut().for_each(|step| moves::not_at_a_gate(step, problems));
        }
        all.push(On { verdict, cases });
    }
    all
}
