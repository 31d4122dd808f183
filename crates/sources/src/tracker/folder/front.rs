//! The front matter of an issue's file: YAML between two lines `---`, at the very top.

use std::fmt;

use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};
use serde_saphyr::{Location, Spanned};

use super::super::State;

/// What the front matter says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Front {
    /// In a line.
    pub title: Option<String>,
    /// Where it stands, and the word for that.
    pub state: Option<(State, String)>,
    /// 1 is the most urgent.
    pub priority: Option<u8>,
    /// All of them.
    pub labels: Vec<String>,
    /// What is to be done before it, as written.
    pub blocked_by: Vec<String>,
    /// Who has it.
    pub assignee: Option<String>,
    /// When it was made, as written.
    pub created: Option<String>,
}

/// What is wrong with a file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The line, from 1.
    pub line: u64,
    /// The column, from 1.
    pub column: u64,
    /// What is wrong.
    pub what: String,
}

impl Wrong {
    /// Something wrong at a place in a text.
    pub fn at(text: &str, offset: usize, what: impl Into<String>) -> Self {
        let before = &text[..text.floor_char_boundary(offset)];
        let line = before.matches('\n').count() as u64 + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() as u64 + 1;
        Wrong { line, column, what: what.into() }
    }

    fn there(location: Location, what: impl Into<String>) -> Self {
        Wrong { line: location.line(), column: location.column(), what: what.into() }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.what)
    }
}

/// What the tracker's own states are called, besides the usual words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct States {
    /// What is written when work begins.
    pub in_progress: String,
    /// What is written when an issue is done.
    pub done: String,
}

impl Default for States {
    fn default() -> Self {
        States { in_progress: "in progress".to_owned(), done: "done".to_owned() }
    }
}

impl States {
    /// Which state a word means.
    pub fn of(&self, word: &str) -> Option<State> {
        let plain = |word: &str| -> String {
            word.chars().filter(|it| it.is_alphanumeric()).flat_map(char::to_lowercase).collect()
        };
        let word = plain(word);
        if word == plain(&self.in_progress) {
            return Some(State::InProgress);
        }
        if word == plain(&self.done) {
            return Some(State::Done);
        }
        match word.as_str() {
            "" | "open" | "todo" | "backlog" | "new" | "reopened" => Some(State::Open),
            "inprogress" | "started" | "doing" | "inreview" => Some(State::InProgress),
            "done" | "closed" | "completed" | "resolved" => Some(State::Done),
            "cancelled" | "canceled" | "wontfix" | "notplanned" | "duplicate" => {
                Some(State::Cancelled)
            }
            _ => None,
        }
    }
}

impl Front {
    /// Reads front matter, its first line `---` included, so that lines are those of the file.
    pub fn parse(yaml: &str, states: &States) -> Result<Front, Wrong> {
        // Nothing between the lines is nothing said.
        if yaml.lines().skip(1).all(|line| line.trim().is_empty() || line.starts_with('#')) {
            return Ok(Front::default());
        }
        let raw: Raw = serde_saphyr::from_str(yaml).map_err(|error| {
            let error = error.without_snippet();
            let (line, column) = error.location().map_or((1, 1), |at| (at.line(), at.column()));
            Wrong { line, column, what: said(&error.to_string()) }
        })?;
        let state = match raw.state {
            None => None,
            Some(word) => match states.of(&word.value.0) {
                Some(state) => Some((state, word.value.0)),
                None => {
                    let what = format!(
                        "`{}` is no state: open, {}, {} or cancelled",
                        word.value.0, states.in_progress, states.done
                    );
                    return Err(Wrong::there(word.referenced, what));
                }
            },
        };
        let priority = match raw.priority {
            None => None,
            Some(word) => priority(&word.value.0).map_err(|()| {
                let what = format!(
                    "`{}` is no priority: 1 to 4, or urgent, high, medium, low",
                    word.value.0
                );
                Wrong::there(word.referenced, what)
            })?,
        };
        let said = |word: Option<Spanned<Word>>| {
            word.map(|word| word.value.0.trim().to_owned()).filter(|word| !word.is_empty())
        };
        Ok(Front {
            title: said(raw.title),
            state: state.filter(|(_, word)| !word.is_empty()),
            priority,
            labels: raw.labels.0,
            blocked_by: raw.blocked_by.0,
            assignee: said(raw.assignee),
            created: said(raw.created),
        })
    }
}

/// What a parser said, in a line, without the place, which is said by us, and without advice to programmers.
fn said(error: &str) -> String {
    let line = error.lines().next().unwrap_or_default();
    let line = line.strip_prefix("error: ").unwrap_or(line);
    let cut = [" at line ", ", set DuplicateKeyPolicy"].iter().filter_map(|it| line.find(it)).min();
    line[..cut.unwrap_or(line.len())].trim_end_matches(':').to_owned()
}

fn priority(word: &str) -> Result<Option<u8>, ()> {
    match word.trim().to_lowercase().as_str() {
        "" | "0" | "none" | "p0" => Ok(None),
        "1" | "p1" | "urgent" | "critical" => Ok(Some(1)),
        "2" | "p2" | "high" => Ok(Some(2)),
        "3" | "p3" | "medium" | "normal" => Ok(Some(3)),
        "4" | "p4" | "low" => Ok(Some(4)),
        _ => Err(()),
    }
}

/// Their names.
pub const KEYS: [&str; 10] = [
    "title",
    "state",
    "status",
    "priority",
    "labels",
    "blocked_by",
    "blocked-by",
    "depends_on",
    "assignee",
    "created",
];

/// The keys that mean something; others are the person's own.
#[derive(serde::Deserialize)]
struct Raw {
    #[serde(default, deserialize_with = "there")]
    title: Option<Spanned<Word>>,
    #[serde(default, alias = "status", deserialize_with = "there")]
    state: Option<Spanned<Word>>,
    #[serde(default, deserialize_with = "there")]
    priority: Option<Spanned<Word>>,
    #[serde(default)]
    labels: Words,
    #[serde(default, alias = "blocked-by", alias = "depends_on")]
    blocked_by: Words,
    #[serde(default, deserialize_with = "there")]
    assignee: Option<Spanned<Word>>,
    #[serde(default, deserialize_with = "there")]
    created: Option<Spanned<Word>>,
}

fn there<'de, D: Deserializer<'de>>(of: D) -> Result<Option<Spanned<Word>>, D::Error> {
    Spanned::deserialize(of).map(Some)
}

/// A scalar, whatever YAML takes it for; nothing is an empty one.
#[derive(Debug, Default)]
struct Word(String);

/// A list of them, or a single one.
#[derive(Debug, Default)]
struct Words(Vec<String>);

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(of: D) -> Result<Self, D::Error> {
        let words = of.deserialize_any(Scalars { list: false })?;
        Ok(Word(words.0.into_iter().next().unwrap_or_default()))
    }
}

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(of: D) -> Result<Self, D::Error> {
        of.deserialize_any(Scalars { list: true })
    }
}

struct Scalars {
    list: bool,
}

impl<'de> Visitor<'de> for Scalars {
    type Value = Words;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.list { "a word or a list of words" } else { "a word" })
    }

    fn visit_str<E>(self, word: &str) -> Result<Words, E> {
        Ok(Words(if word.is_empty() { Vec::new() } else { vec![word.to_owned()] }))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Words, E> {
        Ok(Words(vec![value.to_string()]))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Words, E> {
        Ok(Words(vec![value.to_string()]))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Words, E> {
        Ok(Words(vec![value.to_string()]))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Words, E> {
        Ok(Words(vec![value.to_string()]))
    }

    fn visit_unit<E>(self) -> Result<Words, E> {
        Ok(Words::default())
    }

    fn visit_none<E>(self) -> Result<Words, E> {
        Ok(Words::default())
    }

    fn visit_some<D: Deserializer<'de>>(self, of: D) -> Result<Words, D::Error> {
        of.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Words, A::Error> {
        if !self.list {
            return Err(serde::de::Error::custom("a word is expected here, and no list"));
        }
        let mut words = Vec::new();
        while let Some(Word(word)) = list.next_element()? {
            words.push(word);
        }
        Ok(Words(words))
    }
}
