//! What came back from an agent: a verdict of the role's own with its facts and lists, or what went wrong.
//!
//! Exit code and output both count. An agent's word is taken only where there is one way to take it: a verdict that is
//! not the role's own, none at all, or a JSON answer and a first line that disagree are Unknown, never a pass.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use windlass_core::{
    lang::Reporter,
    run::{Item, Reported, Usage},
    value::{Type, Value},
    workflow::Mishap,
};

use crate::price::micros;
use crate::{find, first_line};

/// What a program left behind.
#[derive(Clone, Copy, Debug)]
pub struct Heard<'a> {
    /// How it came to its end.
    pub fate: Fate,
    /// Its standard output, or the end of it.
    pub stdout: &'a [u8],
}

/// How a program came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal that Windlass did not send.
    Signalled(i32),
    /// It took too long, or said nothing for too long.
    TimedOut,
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What it came to.
    pub came: Came,
    /// Facts that the role may report, each of its type.
    pub facts: BTreeMap<String, Value>,
    /// Lists that the role may report.
    pub lists: BTreeMap<String, Vec<Item>>,
    /// What it used up.
    pub usage: Usage,
    /// What a person should know about how it was read.
    pub remarks: Vec<String>,
    /// What it said, as prompts, people and clerks are to see it. Without one, that is what it printed, as it is.
    pub text: Option<String>,
}

/// What an agent came to. Told apart by how its program ended and by what the agent says in fields of its own, never by
/// its prose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Came {
    /// A verdict of the role's own.
    Verdict(String),
    /// Its provider says: not before this time of the wall clock (in milliseconds since 1970), if it says when.
    Limited(Option<i64>),
    /// Its provider cannot serve it just now.
    Overloaded,
    /// Its provider does not let it in: its key is wrong, or is not for this.
    Unwelcome,
    /// It speaks another language than we do: it was stopped at its first word.
    Strange,
    /// The model would not do it.
    Refused,
    /// It ran out of context.
    ContextFull,
    /// It was stopped at what it may use up, or at the turns that it may take.
    Exhausted,
    /// The model's answer was longer than it may be.
    TooLong,
    /// It ended with an error.
    Crashed,
    /// It took too long, or said nothing for too long.
    TimedOut,
    /// It was ended by somebody else.
    Killed,
    /// It said nothing, or did not write what it promised.
    NoOutput,
    /// It reported a list that cannot be.
    Invalid,
    /// No readable verdict, or two that disagree.
    Unknown,
}

impl Came {
    /// In a word.
    pub fn name(&self) -> &str {
        match self {
            Came::Verdict(word) => word,
            Came::Limited(_) => "limited",
            Came::Overloaded => "overloaded",
            Came::Unwelcome => "unwelcome",
            Came::Strange => "strange",
            Came::Refused => "refused",
            Came::ContextFull => "context_full",
            Came::Exhausted => "cut_short",
            Came::TooLong => "too_long",
            Came::Crashed => "crashed",
            Came::TimedOut => "timed_out",
            Came::Killed => "killed",
            Came::NoOutput => "no_output",
            Came::Invalid => "invalid",
            Came::Unknown => "unknown",
        }
    }

    /// What a workflow sees of it, if it is not a verdict and not a matter of waiting.
    pub fn mishap(&self) -> Option<Mishap> {
        Some(match self {
            Came::Verdict(_) | Came::Limited(_) | Came::Overloaded => return None,
            Came::Unwelcome
            | Came::Strange
            | Came::Refused
            | Came::TooLong
            | Came::Crashed
            | Came::Killed => Mishap::Crashed,
            Came::ContextFull => Mishap::ContextFull,
            Came::Exhausted => Mishap::CutShort,
            Came::TimedOut => Mishap::TimedOut,
            Came::NoOutput => Mishap::NoOutput,
            Came::Invalid => Mishap::Invalid,
            Came::Unknown => Mishap::Unknown,
        })
    }
}

impl Answer {
    /// No verdict, and this is what a person should know about it.
    pub fn only(came: Came, remark: impl Into<String>) -> Self {
        Answer {
            came,
            facts: BTreeMap::new(),
            lists: BTreeMap::new(),
            usage: Usage::UNKNOWN,
            remarks: vec![remark.into()],
            text: None,
        }
    }

    /// Reads a text that a kind of agent has picked out of what its program printed, and lets others see that text.
    pub fn of_text(fate: Fate, text: String, reporter: &Reporter) -> Self {
        let answer = Answer::read(&Heard { fate, stdout: text.as_bytes() }, reporter);
        Answer { text: Some(text), ..answer }
    }

    /// Reads what a program printed: the last JSON object, else the first line.
    pub fn read(output: &Heard<'_>, reporter: &Reporter) -> Self {
        let text = String::from_utf8_lossy(output.stdout);
        let object = find::last_object(&text);
        let usage = object.as_ref().map_or(Usage::UNKNOWN, usage);
        if let Some(until) = object.as_ref().and_then(|object| object.get("limited_until"))
            && output.fate != Fate::TimedOut
        {
            let until = until.as_i64().and_then(|seconds| seconds.checked_mul(1_000));
            let remark = "it says that its provider serves it no more for now";
            return Answer { usage, ..Answer::only(Came::Limited(until), remark) };
        }
        let object = object.filter(|object| object.contains_key("verdict"));
        let failed = match output.fate {
            Fate::Exited(0) => None,
            Fate::Exited(code) => Some((Came::Crashed, format!("it exited with {code}"))),
            Fate::Signalled(signal) => {
                Some((Came::Killed, format!("it was ended by signal {signal}")))
            }
            Fate::TimedOut => Some((Came::TimedOut, "it took too long".to_owned())),
        };
        if let Some((came, remark)) = failed {
            return Answer { usage, ..Answer::only(came, remark) };
        }
        if text.trim().is_empty() {
            return Answer::only(Came::NoOutput, "it printed nothing");
        }
        let word = first_line::verdict(&text, &reporter.verdicts);
        match object {
            Some(object) => Answer { usage, ..said(&object, word, reporter) },
            None => match word {
                Some(word) => Answer { came: Came::Verdict(word.to_owned()), ..Answer::plain() },
                None => Answer::only(
                    Came::Unknown,
                    format!(
                        "it gave no verdict: neither a JSON object with one, nor a first line that \
                         begins with {}",
                        reporter.verdicts.join(", ")
                    ),
                ),
            },
        }
    }

    fn plain() -> Self {
        Answer { remarks: Vec::new(), ..Answer::only(Came::Unknown, "") }
    }
}

fn said(object: &Map<String, Json>, word: Option<&str>, reporter: &Reporter) -> Answer {
    let Some(verdict) = object.get("verdict").and_then(Json::as_str) else {
        return Answer::only(Came::Unknown, "its `verdict` is no text");
    };
    let Some(verdict) = reporter.verdicts.iter().find(|own| own.as_str() == verdict.trim()) else {
        let remark =
            format!("its verdict `{verdict}` is not one of {}", reporter.verdicts.join(", "));
        return Answer::only(Came::Unknown, remark);
    };
    if let Some(word) = word.filter(|word| word != verdict) {
        let remark = format!("its first line says `{word}` and its JSON `{verdict}`");
        return Answer::only(Came::Unknown, remark);
    }
    let mut remarks = Vec::new();
    let facts = facts(object, &reporter.facts, "", &mut remarks);
    let mut lists = BTreeMap::new();
    for (name, of) in &reporter.lists {
        if let Some(list) = object.get(name).filter(|list| !list.is_null()) {
            match items(name, list, of, &mut remarks) {
                Ok(items) => {
                    lists.insert(name.clone(), items);
                }
                Err(remark) => return Answer::only(Came::Invalid, remark),
            }
        }
    }
    Answer { came: Came::Verdict(verdict.clone()), facts, lists, remarks, ..Answer::plain() }
}

/// The facts that are there and of their type; what is not stays Unknown, which fires concerns.
fn facts(
    object: &Map<String, Json>,
    types: &BTreeMap<String, Type>,
    place: &str,
    remarks: &mut Vec<String>,
) -> BTreeMap<String, Value> {
    let mut facts = BTreeMap::new();
    for (name, ty) in types {
        let Some(json) = object.get(name).filter(|json| !json.is_null()) else { continue };
        match value(json).filter(|value| ty.admits(value)) {
            Some(value) => {
                facts.insert(name.clone(), value);
            }
            None => remarks.push(left_out(place, name, ty)),
        }
    }
    facts
}

/// What is said of a fact that is not of its type, whoever reports it: an agent or a reader.
pub fn left_out(place: &str, name: &str, ty: &Type) -> String {
    format!("`{place}{name}` is left out: it is not {ty}")
}

fn value(json: &Json) -> Option<Value> {
    Some(match json {
        Json::Bool(flag) => Value::Flag(*flag),
        Json::Number(number) => Value::Number(number.as_i64()?),
        Json::String(text) => Value::text(text),
        Json::Array(words) => {
            let words = words.iter().map(|word| word.as_str().map(Arc::from));
            Value::Set(words.collect::<Option<_>>()?)
        }
        Json::Null | Json::Object(_) => return None,
    })
}

/// The items of a list. One without an id spoils the list: units would come and go unseen.
fn items(
    name: &str,
    list: &Json,
    types: &BTreeMap<String, Type>,
    remarks: &mut Vec<String>,
) -> Result<Vec<Item>, String> {
    let list = list.as_array().ok_or_else(|| format!("`{name}` is no list"))?;
    let mut items: Vec<Item> = Vec::new();
    let (mut taken, mut times) = (BTreeSet::new(), BTreeMap::new());
    let mut twice = false;
    for (at, one) in list.iter().enumerate() {
        let wrong = |what: &str| format!("item {} of `{name}` {what}", at + 1);
        let object = one.as_object().ok_or_else(|| wrong("is no object"))?;
        let text = |key: &str| object.get(key).and_then(Json::as_str).map(Arc::<str>::from);
        let texts = |key: &str| -> Option<Vec<Arc<str>>> {
            let Some(list) = object.get(key).filter(|list| !list.is_null()) else {
                return Some(Vec::new());
            };
            list.as_array()?.iter().map(|text| text.as_str().map(Arc::from)).collect()
        };
        let given = text("id").filter(|id| !id.is_empty()).ok_or_else(|| wrong("has no `id`"))?;
        let mut id = given.clone();
        let times = times.entry(given.clone()).or_insert(0_u32);
        *times += 1;
        while !taken.insert(id.clone()) {
            id = format!("{given}-{times}").into();
            *times += u32::from(taken.contains(&id));
        }
        twice |= id != given;
        items.push(Item {
            title: text("title").unwrap_or_else(|| id.clone()),
            depends: texts("depends")
                .ok_or_else(|| wrong("has a `depends` that is no list of ids"))?,
            files: texts("files").ok_or_else(|| wrong("has `files` that are no list of paths"))?,
            rank: object.get("rank").and_then(Json::as_i64).unwrap_or_default(),
            facts: facts(object, types, &format!("{name}[{id}]."), remarks),
            again: false,
            id,
        });
    }
    if twice {
        remarks.push(format!(
            "ids are there more than once in `{name}`: those after the first are numbered"
        ));
    }
    Ok(items)
}

/// `cost_usd` and `tokens`, where the agent says; else nobody knows.
fn usage(object: &Map<String, Json>) -> Usage {
    let cost = object.get("cost_usd").and_then(Json::as_f64).and_then(micros);
    let cost = cost.map_or(Reported::Unknown, Reported::Known);
    let tokens = object.get("tokens").and_then(Json::as_u64);
    Usage { cost, tokens: tokens.map_or(Reported::Unknown, Reported::Known) }
}

#[cfg(test)]
mod tests {
    use windlass_core::lang::Catalogue;

    use super::*;

    fn judge() -> Reporter {
        let text = "[role.judge]\nverdicts = ['good', 'bad']\n\
                    facts = { sure = 'flag', score = '0..10' }\n\
                    lists.found = { level = ['low', 'high'] }";
        Catalogue::parse(text).unwrap().roles["judge"].clone()
    }

    fn ended(fate: Fate, stdout: &str) -> Answer {
        Answer::read(&Heard { fate, stdout: stdout.as_bytes() }, &judge())
    }

    fn read(stdout: &str) -> Answer {
        ended(Fate::Exited(0), stdout)
    }

    fn good() -> Came {
        Came::Verdict("good".to_owned())
    }

    #[test]
    fn a_json_answer_has_verdict_facts_lists_and_usage() {
        let answer = read(
            r#"Here it is: {"verdict":"good","sure":true,"score":7,"cost_usd":0.25,"tokens":1200,
            "found":[{"id":"f1","title":"x","level":"low","files":["a.rs"],"depends":["f0"],"rank":-2}]}"#,
        );
        assert_eq!(answer.came, good());
        let facts =
            [("score".to_owned(), Value::Number(7)), ("sure".to_owned(), Value::Flag(true))];
        assert_eq!(answer.facts, facts.into());
        let found = &answer.lists["found"];
        assert_eq!((&*found[0].id, found[0].rank, found[0].files.len()), ("f1", -2, 1));
        assert_eq!(found[0].facts["level"], Value::text("low"));
        let known = Usage { cost: Reported::Known(250_000), tokens: Reported::Known(1200) };
        assert_eq!(answer.usage, known);
        assert_eq!(answer.remarks, [""; 0]);
    }

    #[test]
    fn only_the_roles_own_word_is_a_verdict() {
        let unknown = Came::Unknown;
        assert_eq!(read(r#"{"verdict":"excellent"}"#).came, unknown);
        assert_eq!(read(r#"{"verdict":1}"#).came, unknown);
        assert_eq!(read("all good, I think").came, unknown);
        assert_eq!(
            read("bad: two mistakes\n{\"verdict\":\"good\"}").came,
            unknown,
            "they disagree"
        );
        assert_eq!(read("good\n{\"verdict\":\"good\"}").came, good());
        assert_eq!(read("GOOD: fine").came, good());
        assert_eq!(read("{\"note\":1}\ngood").came, unknown, "not the first line");
        assert_eq!(
            read("good\n{\"note\":1}").came,
            good(),
            "an object without a verdict is no answer"
        );
    }

    #[test]
    fn the_exit_code_counts_too() {
        let crashed = ended(Fate::Exited(1), r#"{"verdict":"good","cost_usd":1}"#);
        assert_eq!(crashed.came, Came::Crashed);
        assert_eq!(crashed.usage.cost, Reported::Known(1_000_000), "what it cost, it cost");
        let came = |stopped, text| ended(stopped, text).came;
        assert_eq!(came(Fate::Signalled(9), "good"), Came::Killed);
        assert_eq!(came(Fate::TimedOut, "good"), Came::TimedOut);
        assert_eq!(came(Fate::Exited(0), " \n"), Came::NoOutput);
    }

    #[test]
    fn a_limit_is_no_failure_whatever_the_exit_code() {
        let came = |fate, text| ended(fate, text).came;
        let until = r#"{"limited_until":1794845365}"#;
        for fate in [Fate::Exited(0), Fate::Exited(1), Fate::Signalled(15)] {
            assert_eq!(came(fate, until), Came::Limited(Some(1_794_845_365_000)));
        }
        assert_eq!(came(Fate::TimedOut, until), Came::TimedOut);
        assert_eq!(came(Fate::Exited(0), r#"{"limited_until":null}"#), Came::Limited(None));
        let then = r#"{"limited_until":1} {"verdict":"good"}"#;
        assert_eq!(came(Fate::Exited(0), then), good(), "the last object counts");
    }

    #[test]
    fn what_is_not_of_its_type_is_left_out_and_said() {
        let answer = read(
            r#"{"verdict":"good","sure":"very","score":11,"found":[{"id":"a","level":"mid"}]}"#,
        );
        assert_eq!(answer.facts, BTreeMap::new());
        assert_eq!(answer.remarks.len(), 3);
        assert_eq!(&*answer.lists["found"][0].title, "a");
        for broken in [
            r#"{"verdict":"good","found":{}}"#,
            r#"{"verdict":"good","found":[1]}"#,
            r#"{"verdict":"good","found":[{"title":"no id"}]}"#,
            r#"{"verdict":"good","found":[{"id":"a","depends":"b"}]}"#,
        ] {
            assert_eq!(read(broken).came, Came::Invalid, "{broken}");
        }
    }

    #[test]
    fn a_cost_that_cannot_be_is_unknown() {
        for odd in ["-1", "\"1\"", "null"] {
            let answer = read(&format!("{{\"verdict\":\"good\",\"cost_usd\":{odd}}}"));
            assert_eq!(answer.usage.cost, Reported::Unknown, "{odd}");
        }
        let little = read(r#"{"verdict":"good","cost_usd":0.0000001}"#);
        assert_eq!(little.usage.cost, Reported::Known(1), "rounded up: never zero");
    }

    #[test]
    fn bytes_that_are_no_text_are_no_obstacle() {
        let output = Heard { fate: Fate::Exited(0), stdout: b"\xff\xfe {\"verdict\":\"good\"}" };
        assert_eq!(Answer::read(&output, &judge()).came, good());
    }
}
