//! What a stage does, as it was written.

use super::super::diagnostic::{Code, Diagnostic, Span};
use super::super::document::{Node, Table, Text};
use super::super::problems::Problems;
use super::super::words;
use super::cases::{self, Case, Last};
use crate::workflow::{Expect, Land, Save};

/// What a stage does.
#[derive(Debug)]
pub(in super::super) enum Kind {
    Role { role: Text, agents: Vec<Text>, session: Option<Text> },
    Panel { roles: Vec<Text>, critique: Option<Text>, synthesis: Option<Text> },
    Checks { names: Vec<Text>, expect: Expect },
    Read { name: Text },
    Gate(Gate),
    Each { scope: Text, from: Option<Text> },
    Save { how: Save, label: Option<Text>, trailers: Vec<Text>, from: Option<Text> },
    Land { how: Land, label: Option<Text>, keep: Vec<Text>, proof: Vec<Text> },
    Tell { names: Vec<Text> },
    Decide(Vec<DecideCase>),
}

/// A question to a person.
#[derive(Debug)]
pub(in super::super) struct Gate {
    pub question: Text,
    pub hard: bool,
    pub concerns: Vec<(Text, Text)>,
    pub policy: Vec<PolicyRule>,
    pub default: Option<Text>,
}

/// A rule by which a gate answers itself.
#[derive(Debug)]
pub(in super::super) struct PolicyRule {
    pub case: Case,
    pub answer: Option<Text>,
    pub record: Option<Text>,
}

/// A case of a `decide`.
#[derive(Debug)]
pub(in super::super) struct DecideCase {
    pub case: Case,
    pub is: Option<Text>,
}

/// The kind's word, its place in the file, and its value.
type Found<'d> = (&'static str, Span, Node<'d>);

/// Finds the one key that says what the stage does.
pub(super) fn find<'d>(
    table: &Table<'d>,
    name: Option<&Text>,
    problems: &mut Problems<'_>,
) -> Option<Found<'d>> {
    let kinds = words::KINDS.iter();
    let mut found: Vec<Found<'d>> = kinds
        .filter_map(|kind| Some((*kind, table.key(kind)?.span.clone(), table.get(kind)?)))
        .collect();
    found.sort_by_key(|(_, span, _)| span.start);
    if let [first, second, ..] = found.as_slice() {
        let message = format!("a stage is of one kind: both `{}` and `{}`", first.0, second.0);
        problems.report(
            Diagnostic::at(second.1.clone(), Code::StageKind, message)
                .related(first.1.clone(), "the other one is here")
                .help("make two stages of it"),
        );
    }
    if found.is_empty() {
        let span = name.map_or_else(|| table.span(), |name| name.span.clone());
        let called = name.map_or("this stage".to_owned(), |name| format!("`{}`", name.value));
        problems.report(
            Diagnostic::at(span, Code::StageKind, format!("{called} does not say what it does"))
                .help(format!("give it one of {}", words::listed(&words::KINDS))),
        );
    }
    found.into_iter().next()
}

/// Reads the value of a kind's key and the keys that go with it.
pub(super) fn read(
    kind: &'static str,
    node: Node<'_>,
    table: &Table<'_>,
    problems: &mut Problems<'_>,
) -> Option<Kind> {
    let what = format!("`{kind}`");
    match kind {
        "role" => {
            let agents = table.texts("agents", problems);
            let session = table.text("session", problems);
            Some(Kind::Role { role: node.text(&what, problems)?, agents, session })
        }
        "panel" => panel(node, problems),
        "checks" => {
            let expect = expect(table, problems);
            Some(Kind::Checks { names: node.some_texts(&what, problems), expect })
        }
        "read" => Some(Kind::Read { name: node.text(&what, problems)? }),
        "gate" => gate(node, table, problems),
        "each" => {
            let from = table.text("from", problems);
            Some(Kind::Each { scope: node.text(&what, problems)?, from })
        }
        "save" => save(node, table, problems),
        "land" => land(node, table, problems),
        "tell" => Some(Kind::Tell { names: node.some_texts(&what, problems) }),
        _ => decide(node, problems),
    }
}

fn panel(node: Node<'_>, problems: &mut Problems<'_>) -> Option<Kind> {
    let table = node.table("a panel", &["roles", "critique", "synthesis"], problems)?;
    let roles = table.need("roles", problems);
    let roles = roles.map(|node| node.some_texts("`roles`", problems)).unwrap_or_default();
    let critique = table.text("critique", problems);
    let synthesis = table.text("synthesis", problems);
    Some(Kind::Panel { roles, critique, synthesis })
}

fn expect(table: &Table<'_>, problems: &mut Problems<'_>) -> Expect {
    let Some(word) = table.text("expect", problems) else { return Expect::NoWorse };
    let choices = [("fail", Expect::Fail), ("pass", Expect::Pass)];
    super::choice(&word, "`expect`", &choices, problems).unwrap_or(Expect::NoWorse)
}

fn gate(node: Node<'_>, table: &Table<'_>, problems: &mut Problems<'_>) -> Option<Kind> {
    let hard = table.flag("hard", problems);
    let concerns = table.get("concerns");
    let concerns = concerns.map(|node| super::expressions(node, "`concerns`", problems));
    let policy = table.get("policy").map(|node| policy(node, problems)).unwrap_or_default();
    let default = table.text("default", problems);
    let question = node.text("`gate`", problems)?;
    Some(Kind::Gate(Gate {
        question,
        hard,
        concerns: concerns.unwrap_or_default(),
        policy,
        default,
    }))
}

fn policy(node: Node<'_>, problems: &mut Problems<'_>) -> Vec<PolicyRule> {
    let mut rules = Vec::new();
    for node in node.list("`policy`", problems).unwrap_or_default() {
        let keys = ["when", "answer", "record"];
        let Some(table) = node.table("a rule of a policy", &keys, problems) else { continue };
        rules.push(PolicyRule {
            case: Case::read(&table, problems),
            answer: table.need_text("answer", problems),
            record: table.text("record", problems),
        });
    }
    let cases = rules.iter().map(|rule| &rule.case);
    cases::check(cases, node.span(), "`policy`", Last::MayFail, problems);
    rules
}

fn save(node: Node<'_>, table: &Table<'_>, problems: &mut Problems<'_>) -> Option<Kind> {
    let label = table.text("label", problems);
    let trailers = table.texts("trailers", problems);
    let words = [
        ("commit", Save::Commit),
        ("patch", Save::Patch),
        ("rewind", Save::Rewind),
        ("apply", Save::Apply),
        ("push", Save::Push),
    ];
    let word = node.text("`save`", problems)?;
    let how = super::choice(&word, "`save`", &words, problems)?;
    let from = table.key("from");
    if how == Save::Patch && from.is_none() {
        let message = "a patch needs to know which stage made it";
        problems.report(
            Diagnostic::at(word.span, Code::MissingKey, message).help("add `from = \"STAGE\"`"),
        );
    }
    if how != Save::Patch
        && let Some(key) = from
    {
        let message = "only `save = \"patch\"` has a `from`";
        let problem = Diagnostic::at(key.span.clone(), Code::MisplacedKey, message);
        problems.report(problem.help("leave it out"));
    }
    let from = table.text("from", problems).filter(|_| how == Save::Patch);
    Some(Kind::Save { how, label, trailers, from })
}

fn land(node: Node<'_>, table: &Table<'_>, problems: &mut Problems<'_>) -> Option<Kind> {
    let label = table.text("label", problems);
    let keep = table.texts("keep", problems);
    let proof = table.get("proof");
    if let (None, Some(key)) = (proof, table.key("with")) {
        let message = "only a `land` with a `proof` has a `with`";
        let problem = Diagnostic::at(key.span.clone(), Code::MisplacedKey, message);
        problems.report(problem.help("it says what its checks run; leave it out, or add `proof`"));
    }
    let proof = proof.map(|node| node.some_texts("`proof`", problems)).unwrap_or_default();
    let words = [
        ("fast-forward", Land::FastForward),
        ("merge", Land::Merge),
        ("cherry-pick", Land::CherryPick),
        ("commit", Land::Commit),
    ];
    let word = node.text("`land`", problems)?;
    let how = super::choice(&word, "`land`", &words, problems)?;
    Some(Kind::Land { how, label, keep, proof })
}

fn decide(node: Node<'_>, problems: &mut Problems<'_>) -> Option<Kind> {
    let mut all = Vec::new();
    for node in node.list("`decide`", problems)? {
        let Some(table) = node.table("a case of `decide`", &["is", "when"], problems) else {
            continue;
        };
        let is = table.need_text("is", problems);
        all.push(DecideCase { case: Case::read(&table, problems), is });
    }
    cases::check(all.iter().map(|c| &c.case), node.span(), "`decide`", Last::Always, problems);
    Some(Kind::Decide(all))
}
