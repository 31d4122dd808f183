//! One spec: what a file says of a subsystem. People wrote many before there was a schema, so a single text stands for a list
//! of one, and keys that nobody here knows are theirs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Deserialize;
use serde_json::Value as Json;
use windlass_core::path::Scope;

use super::Subsystem;

/// Something that has to hold of a subsystem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invariant {
    /// What others call it: what the spec says, or `NAME-N`.
    pub id: String,
    /// In words.
    pub text: String,
    /// What succeeds where it holds, if a machine can tell.
    pub command: Option<String>,
}

/// What is wrong with a spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// The file.
    pub file: String,
    /// Line and column, from 1, where there is a place.
    pub at: Option<(u64, u64)>,
    /// What.
    pub what: String,
}

impl Flaw {
    pub(super) fn of(file: &str, what: String) -> Self {
        Flaw { file: file.to_owned(), at: None, what }
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            Some((line, column)) => write!(f, "{}:{line}:{column}: {}", self.file, self.what),
            None => write!(f, "{}: {}", self.file, self.what),
        }
    }
}

/// A list, or a single one.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(untagged, expecting = "a text or a list")]
enum Many<T> {
    #[default]
    None,
    One(T),
    List(Vec<T>),
}

impl<T> Many<T> {
    fn list(self) -> Vec<T> {
        match self {
            Many::None => Vec::new(),
            Many::One(one) => vec![one],
            Many::List(list) => list,
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a text, or a table with `text`")]
enum RawInvariant {
    Text(String),
    Table {
        id: Option<String>,
        #[serde(alias = "name", alias = "description", alias = "rule")]
        text: String,
        #[serde(alias = "check")]
        command: Option<String>,
    },
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Tests {
    tier0: Many<String>,
    tier1: Many<String>,
}

#[derive(Deserialize)]
struct Raw {
    name: Option<String>,
    #[serde(default)]
    paths: Many<String>,
    #[serde(default)]
    dependents: Many<String>,
    #[serde(default)]
    dependencies: Many<String>,
    #[serde(default)]
    invariants: Many<RawInvariant>,
    #[serde(default)]
    helpful_skills: Many<String>,
    #[serde(default)]
    tests: Tests,
    #[serde(default)]
    recently_fixed: Many<Remark>,
    #[serde(default)]
    known_gaps: Many<Remark>,
}

/// A remark in words, or a table of whatever its author found worth noting.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a text or a table")]
enum Remark {
    Text(String),
    Table(BTreeMap<String, Json>),
}

impl Remark {
    fn line(self) -> String {
        match self {
            Remark::Text(text) => text,
            Remark::Table(table) => {
                let word = |value: Json| match value {
                    Json::String(text) => text,
                    other => other.to_string(),
                };
                let all = table.into_iter().map(|(key, value)| format!("{key}: {}", word(value)));
                all.collect::<Vec<_>>().join("; ")
            }
        }
    }
}

/// Reads a spec. What is wrong with it though it counts comes along.
pub(super) fn parse(file: &str, text: &str) -> Result<(Subsystem, Vec<Flaw>), Flaw> {
    let raw: Raw = serde_saphyr::from_str(text).map_err(|error| Flaw {
        file: file.to_owned(),
        at: error.location().map(|at| (at.line(), at.column())),
        what: first_line(&error.to_string()),
    })?;
    let name = raw.name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    let name = name.unwrap_or_else(|| stem(file).to_owned());
    let mut flaws = Vec::new();
    let paths = clean(raw.paths.list());
    if paths.is_empty() {
        flaws.push(Flaw::of(file, "it has no `paths`: no file is known to be its own".to_owned()));
    }
    let scope = (!paths.is_empty()).then(|| Scope::parse(&paths.join("\n")));
    let mut invariants = Vec::new();
    let mut ids = BTreeSet::new();
    for (at, raw) in raw.invariants.list().into_iter().enumerate() {
        let own = format!("{name}-{}", at + 1);
        let (id, text, command) = match raw {
            RawInvariant::Text(text) => (own.clone(), text, None),
            RawInvariant::Table { id, text, command } => {
                (id.unwrap_or_else(|| own.clone()), text, command)
            }
        };
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let command = command.filter(|command| !command.trim().is_empty());
        if !ids.insert(id.clone()) {
            flaws.push(Flaw::of(file, format!("the invariant `{id}` is there twice")));
            continue;
        }
        invariants.push(Invariant { id, text, command });
    }
    let subsystem = Subsystem {
        name,
        file: file.to_owned(),
        scope,
        paths,
        dependents: clean(raw.dependents.list()),
        dependencies: clean(raw.dependencies.list()),
        invariants,
        helpful_skills: clean(raw.helpful_skills.list()),
        tier0: clean(raw.tests.tier0.list()),
        tier1: clean(raw.tests.tier1.list()),
        recently_fixed: raw.recently_fixed.list().into_iter().map(Remark::line).collect(),
        known_gaps: raw.known_gaps.list().into_iter().map(Remark::line).collect(),
    };
    Ok((subsystem, flaws))
}

fn clean(texts: Vec<String>) -> Vec<String> {
    let texts = texts.into_iter().map(|text| text.trim().to_owned());
    texts.filter(|text| !text.is_empty()).collect()
}

/// The name of a file, without what it ends in.
fn stem(file: &str) -> &str {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default().trim_end_matches(':');
    // The place stands in front already.
    let line = line.strip_prefix("error: ").unwrap_or(line);
    match line.split_once(": ") {
        Some((place, rest)) if place.starts_with("line ") => rest.to_owned(),
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "\
name: journal
description: what nobody here knows
paths:
  - crates/journal
  - 'docs/*.md'
dependents: [engine]
dependencies: process
invariants:
  - Every event is durable before it is acted on
  - id: chain
    text: Events are
      hash-chained
    command: cargo test -p journal chain
helpful_skills: [rust-errors]
tests:
  tier0: cargo test -p journal
  tier1: [cargo test, cargo clippy]
recently_fixed:
  - issue: MB90-3
    what: a torn write
known_gaps: no test of a full disk
";

    #[test]
    fn a_spec_is_read_whole() {
        let (spec, flaws) = parse("subsystems_knowledge/journal.yaml", WHOLE).unwrap();
        assert_eq!(flaws, []);
        assert_eq!((spec.name.as_str(), spec.dependencies.len()), ("journal", 1));
        let invariants: Vec<_> = spec.invariants.iter().map(|it| it.id.as_str()).collect();
        assert_eq!(invariants, ["journal-1", "chain"]);
        assert_eq!(spec.invariants[1].text, "Events are hash-chained");
        assert_eq!(spec.invariants[1].command.as_deref(), Some("cargo test -p journal chain"));
        assert_eq!(spec.tier0, ["cargo test -p journal"]);
        assert_eq!(spec.tier1, ["cargo test", "cargo clippy"]);
        assert_eq!(spec.recently_fixed, ["issue: MB90-3; what: a torn write"]);
        assert_eq!(spec.known_gaps, ["no test of a full disk"]);
        assert!(spec.has("crates/journal/src/lib.rs") && spec.has("docs/a.md"));
        assert!(!spec.has("crates/journals/a") && !spec.has("docs/a.txt") && !spec.has("../x"));
    }

    #[test]
    fn what_is_left_out_is_empty_and_a_file_names_what_has_no_name() {
        let (spec, flaws) = parse("subsystems_knowledge/a/web.ui.yaml", "paths: [web]\n").unwrap();
        assert_eq!((spec.name.as_str(), flaws), ("web.ui", Vec::new()));
        let (spec, flaws) = parse("x/empty.yaml", "name: empty\n").unwrap();
        assert!(!spec.has("anything"), "a subsystem without paths owns nothing");
        assert_eq!(
            flaws[0].to_string(),
            "x/empty.yaml: it has no `paths`: no file is known to be its own"
        );
    }

    #[test]
    fn a_mistake_is_told_with_its_place() {
        for (text, line) in [
            ("name: a\npaths: [a\n", 2),
            ("name: a\npaths:\n  b: c\n", 2),
            ("name: a\n\ttests: x\n", 2),
            ("name: a\ntests: 3\n", 2),
            ("name: a\ninvariants:\n  - id: x\n", 3),
            ("- a\n- b\n", 1),
        ] {
            let flaw = parse("s/a.yaml", text).unwrap_err();
            let (at, _) = flaw.at.unwrap_or_else(|| panic!("no place: {flaw}"));
            assert!(at.abs_diff(line) <= 2, "{text:?}: {flaw}");
            assert!(flaw.to_string().starts_with("s/a.yaml:"), "{flaw}");
            assert!(!flaw.what.is_empty() && !flaw.what.contains('\n'), "{flaw}");
        }
    }
}
