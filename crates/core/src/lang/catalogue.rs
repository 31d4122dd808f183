//! The catalogue: which roles, readers, checks and tells exist, and what roles and readers report.
//!
//! A definition names them; what they do is code and prompts. The part that a definition uses is kept with it, so that
//! a resumed run means the same by every name.

use std::collections::BTreeMap;

use super::diagnostic::{Code, Diagnostic, Span};
use super::document::{self, Node, Table, Text};
use super::problems::Problems;
use super::{types, words};
use crate::value::Type;

/// What exists.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalogue {
    /// Roles.
    pub roles: BTreeMap<String, Reporter>,
    /// Readers.
    pub reads: BTreeMap<String, Reporter>,
    /// Checks, and what each is for.
    pub checks: BTreeMap<String, String>,
    /// Tells, and what each is for.
    pub tells: BTreeMap<String, String>,
}

/// What a role or a reader reports.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reporter {
    /// What it is for, in a line.
    pub about: String,
    /// The verdicts it comes to.
    pub verdicts: Vec<String>,
    /// The facts it reports.
    pub facts: BTreeMap<String, Type>,
    /// The lists it reports, and the facts of their items.
    pub lists: BTreeMap<String, BTreeMap<String, Type>>,
    /// Lists that it is asked for and that nobody takes up: whoever knows the workflow reads them in what it said.
    pub says: BTreeMap<String, BTreeMap<String, Type>>,
    /// What it has to do with what is remembered. A reader has nothing to do with it.
    pub memory: Memory,
}

/// What a role has to do with what is remembered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Memory {
    /// Nothing.
    #[default]
    None,
    /// It may note things.
    Notes,
    /// It goes through what others noted, and proposes what is to be kept.
    Curates,
}

impl Memory {
    /// All that a catalogue can say.
    const SAID: [Memory; 2] = [Memory::Notes, Memory::Curates];

    /// As it is written.
    fn word(self) -> &'static str {
        match self {
            Memory::None => "none",
            Memory::Notes => "notes",
            Memory::Curates => "curates",
        }
    }
}

impl Catalogue {
    /// Reads a catalogue.
    pub fn parse(text: &str) -> Result<Catalogue, Vec<Diagnostic>> {
        let mut problems = Problems::new(text);
        let Some(document) = document::parse(text, &mut problems) else {
            return Err(problems.into_list());
        };
        let entries = document::entries(document.get_ref(), text);
        let keys = ["role", "read", "check", "tell"];
        let top = Table::new("the catalogue", 0..0, &keys, entries, &mut problems);
        let roles = reporters(&top, "role", &mut problems);
        let reads = reporters(&top, "read", &mut problems);
        let checks = abouts(&top, "check", &mut problems);
        let tells = abouts(&top, "tell", &mut problems);
        if problems.none() {
            Ok(Catalogue { roles, reads, checks, tells })
        } else {
            Err(problems.into_list())
        }
    }

    /// This catalogue and another; where both have an entry, the other's counts.
    pub fn merge(mut self, other: Catalogue) -> Catalogue {
        self.roles.extend(other.roles);
        self.reads.extend(other.reads);
        self.checks.extend(other.checks);
        self.tells.extend(other.tells);
        self
    }

    /// The catalogue as TOML, sorted.
    pub(super) fn written(&self) -> String {
        self.toml(|about| Some(about))
    }

    /// The catalogue without what is only for people, so that a reworded sentence is not another workflow.
    pub(super) fn canonical(&self) -> String {
        self.toml(|_| None)
    }

    fn toml(&self, said: fn(&str) -> Option<&str>) -> String {
        let mut top = toml::Table::new();
        let mut put = |name: &str, table: toml::Table| {
            if !table.is_empty() {
                top.insert(name.to_owned(), toml::Value::Table(table));
            }
        };
        let entry = |about: &str, mut table: toml::Table| {
            if let Some(about) = said(about).filter(|about| !about.is_empty()) {
                table.insert("about".to_owned(), toml::Value::String(about.to_owned()));
            }
            toml::Value::Table(table)
        };
        let reporters = |all: &BTreeMap<String, Reporter>| {
            all.iter().map(|(name, it)| (name.clone(), entry(&it.about, it.written()))).collect()
        };
        let names = |all: &BTreeMap<String, String>| {
            all.iter().map(|(name, it)| (name.clone(), entry(it, toml::Table::new()))).collect()
        };
        put("role", reporters(&self.roles));
        put("read", reporters(&self.reads));
        put("check", names(&self.checks));
        put("tell", names(&self.tells));
        top.to_string()
    }
}

impl Reporter {
    /// All but what it is about.
    fn written(&self) -> toml::Table {
        let facts = |facts: &BTreeMap<String, Type>| -> toml::Table {
            facts.iter().map(|(name, ty)| (name.clone(), types::written(ty))).collect()
        };
        let verdicts = self.verdicts.iter().map(|v| toml::Value::String(v.clone())).collect();
        let mut table = toml::Table::new();
        table.insert("verdicts".to_owned(), toml::Value::Array(verdicts));
        if !self.facts.is_empty() {
            table.insert("facts".to_owned(), toml::Value::Table(facts(&self.facts)));
        }
        for (key, lists) in [("lists", &self.lists), ("says", &self.says)] {
            if !lists.is_empty() {
                let lists = lists.iter();
                let lists = lists.map(|(name, of)| (name.clone(), toml::Value::Table(facts(of))));
                table.insert(key.to_owned(), toml::Value::Table(lists.collect()));
            }
        }
        if self.memory != Memory::None {
            table.insert("memory".to_owned(), toml::Value::String(self.memory.word().to_owned()));
        }
        table
    }
}

/// The tables under `[role.…]`, `[read.…]`, `[check.…]` or `[tell.…]`.
fn entries<'d>(
    top: &Table<'d>,
    kind: &str,
    keys: &[&'static str],
    problems: &mut Problems<'_>,
) -> Vec<(Text, Table<'d>)> {
    let all = top.get(kind).and_then(|node| node.entries(&format!("`[{kind}]`"), problems));
    let all = all.unwrap_or_default().into_iter();
    all.filter_map(|(name, node)| {
        Some((name, node.table("an entry of the catalogue", keys, problems)?))
    })
    .collect()
}

fn abouts(top: &Table<'_>, kind: &str, problems: &mut Problems<'_>) -> BTreeMap<String, String> {
    let entries = entries(top, kind, &["about"], problems).into_iter();
    entries.map(|(name, table)| (name.value, about(&table, problems))).collect()
}

fn about(table: &Table<'_>, problems: &mut Problems<'_>) -> String {
    table.text("about", problems).map(|about| about.value).unwrap_or_default()
}

fn reporters(
    top: &Table<'_>,
    kind: &str,
    problems: &mut Problems<'_>,
) -> BTreeMap<String, Reporter> {
    let mut all = BTreeMap::new();
    // Only an agent has something to note, and is asked for something in its own words.
    let keys: &[&str] = match kind {
        "role" => &["about", "verdicts", "facts", "lists", "says", "memory"],
        _ => &["about", "verdicts", "facts", "lists"],
    };
    for (name, table) in entries(top, kind, keys, problems) {
        let verdicts = table.need("verdicts", problems);
        let facts = table.get("facts");
        let (lists, says) = (table.get("lists"), table.get("says"));
        let reporter = Reporter {
            about: about(&table, problems),
            verdicts: verdicts.map(|node| verdicts_of(node, problems)).unwrap_or_default(),
            facts: facts.map(|node| facts_of(node, STAGE_WORDS, problems)).unwrap_or_default(),
            lists: lists.map(|node| lists_of(node, "`lists`", problems)).unwrap_or_default(),
            says: says.map(|node| lists_of(node, "`says`", problems)).unwrap_or_default(),
            memory: memory_of(&table, problems),
        };
        all.insert(name.value, reporter);
    }
    all
}

/// What `STAGE.` is followed by besides facts.
const STAGE_WORDS: &[&str] = &["runs", "last"];
/// What `unit.` is followed by besides facts.
const ITEM_WORDS: &[&str] = &["generation", "status"];

fn memory_of(table: &Table<'_>, problems: &mut Problems<'_>) -> Memory {
    let Some(word) = table.text("memory", problems) else { return Memory::None };
    let said = Memory::SAID.into_iter().find(|memory| memory.word() == word.as_str());
    said.unwrap_or_else(|| {
        let message = format!("`{}` is nothing that a role has to do with memory", word.value);
        problems.report(
            Diagnostic::at(word.span.clone(), Code::WrongValue, message)
                .help("`memory` is `\"notes\"` or `\"curates\"`"),
        );
        Memory::None
    })
}

fn verdicts_of(node: Node<'_>, problems: &mut Problems<'_>) -> Vec<String> {
    let verdicts = node.some_texts("`verdicts`", problems);
    for verdict in verdicts.iter().filter(|verdict| words::is_mishap(&verdict.value)) {
        let message = format!("`{}` is a mishap: nobody says it of themselves", verdict.value);
        problems.report(
            Diagnostic::at(verdict.span.clone(), Code::BadName, message)
                .help("give the verdict another name"),
        );
    }
    verdicts.into_iter().map(|verdict| checked_name(verdict, "a verdict", problems)).collect()
}

fn facts_of(node: Node<'_>, taken: &[&str], problems: &mut Problems<'_>) -> BTreeMap<String, Type> {
    let mut facts = BTreeMap::new();
    for (name, node) in node.entries("a table of facts", problems).unwrap_or_default() {
        if taken.contains(&name.value.as_str()) {
            let message = format!("`{}` already means something else there", name.value);
            problems.report(
                Diagnostic::at(name.span.clone(), Code::BadName, message)
                    .help("give the fact another name"),
            );
        }
        let ty = types::read(node, problems);
        let name = checked_name(name, "a fact", problems);
        if let Some(ty) = ty {
            facts.insert(name, ty);
        }
    }
    facts
}

fn lists_of(
    node: Node<'_>,
    key: &str,
    problems: &mut Problems<'_>,
) -> BTreeMap<String, BTreeMap<String, Type>> {
    let mut lists = BTreeMap::new();
    for (name, node) in node.entries(key, problems).unwrap_or_default() {
        let facts = facts_of(node, ITEM_WORDS, problems);
        lists.insert(checked_name(name, "a list", problems), facts);
    }
    lists
}

fn checked_name(name: Text, what: &str, problems: &mut Problems<'_>) -> String {
    check_name(&name.value, name.span, what, problems);
    name.value
}

/// Notes a name that cannot be one.
pub(super) fn check_name(name: &str, span: Span, what: &str, problems: &mut Problems<'_>) -> bool {
    let good = words::is_name(name);
    if !good {
        let message = format!("`{name}` cannot be the name of {what}");
        problems.report(
            Diagnostic::at(span, Code::BadName, message)
                .help("a name begins with a letter and goes on with letters, digits, `_` and `-`"),
        );
    }
    good
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
[role.planner]
about = "plans"
verdicts = ["planned", "blocked"]
facts = { task_count = "number", tier = ["low", "high"], marks = { any_of = ["a", "b"] } }
lists.tasks = { checkpoint = ["none", "human-verify"], size = "1..9" }
says.doubts = { about = "text" }
memory = "notes"
[role.keeper]
verdicts = ["kept"]
memory = "curates"
[read.spec]
verdicts = ["found"]
lists.phases = {}
[check.build]
about = "builds"
[tell."marker:cc:WIP"]
"#;

    #[test]
    fn what_is_written_can_be_read_again() {
        let catalogue = Catalogue::parse(TEXT).unwrap();
        let canonical = catalogue.canonical();
        let again = Catalogue::parse(&canonical).unwrap();
        assert_eq!(again.canonical(), canonical);
        assert_eq!(again.roles["planner"].facts, catalogue.roles["planner"].facts);
        assert_eq!(again.roles["planner"].lists, catalogue.roles["planner"].lists);
        assert_eq!(again.roles["planner"].says, catalogue.roles["planner"].says);
        assert_eq!(again.roles["planner"].says["doubts"].len(), 1);
        assert_eq!(again.roles["planner"].verdicts, ["planned", "blocked"]);
        assert_eq!(again.roles["planner"].memory, Memory::Notes);
        assert_eq!(again.roles["keeper"].memory, Memory::Curates);
        assert_eq!(again.reads["spec"].lists.len(), 1);
        assert!(again.checks.contains_key("build") && again.tells.contains_key("marker:cc:WIP"));
    }

    #[test]
    fn every_mistake_in_a_catalogue_is_reported() {
        let text = r#"
[role.a]
verdict = ["x"]
[role.b]
verdicts = ["crashed"]
facts = { runs = "number", ok = "flog", n = "4..1" }
memory = "note"
[read.d]
verdicts = ["found"]
memory = "notes"
[rol.c]
verdicts = []
"#;
        let problems = Catalogue::parse(text).unwrap_err();
        let codes: Vec<&str> = problems.iter().map(|p| p.code.name()).collect();
        assert_eq!(
            codes,
            [
                "unknown-key",
                "bad-name",
                "bad-name",
                "wrong-value",
                "wrong-value",
                "wrong-value",
                "unknown-key",
                "unknown-key"
            ]
        );
    }

    #[test]
    fn merging_takes_the_later_entry() {
        let first = Catalogue::parse("[check.a]\nabout='1'\n[check.b]").unwrap();
        let second = Catalogue::parse("[check.a]\nabout='2'").unwrap();
        let both = first.merge(second);
        assert_eq!(both.checks["a"], "2");
        assert!(both.checks.contains_key("b"));
    }
}
