//! Types of inputs and facts, as they are written: `"flag"`, `"1..4"`, `["one", "of"]`, `{ any_of = […] }`.

use std::sync::Arc;

use super::diagnostic::{Code, Diagnostic};
use super::document::{Node, Text};
use super::problems::Problems;
use crate::value::{Type, Value};

const NAMES: [&str; 4] = ["flag", "number", "text", "path"];

/// Reads a type.
pub(super) fn read(node: Node<'_>, problems: &mut Problems<'_>) -> Option<Type> {
    if node.is_list() {
        return words(node, problems).map(Type::OneOf);
    }
    if node.is_table() {
        let table = node.table("a type", &["any_of"], problems)?;
        return words(table.need("any_of", problems)?, problems).map(Type::AnyOf);
    }
    if !node.is_text() {
        let forms = "`\"flag\"`, `\"number\"`, `\"1..4\"`, `\"text\"`, `\"path\"`, a list of words, \
                     or `{ any_of = […] }`";
        node.not_a("a type", forms, problems);
        return None;
    }
    named(&node.text("a type", problems)?, problems)
}

fn named(text: &Text, problems: &mut Problems<'_>) -> Option<Type> {
    match text.as_str() {
        "flag" => return Some(Type::Flag),
        "number" => return Some(Type::Number { min: None, max: None }),
        "text" => return Some(Type::Text),
        "path" => return Some(Type::Path),
        _ => {}
    }
    if let Some((min, max)) = text.value.split_once("..") {
        return range(text, min, max, problems);
    }
    let help = problems.did_you_mean(&text.value, NAMES).unwrap_or_else(|| {
        "a type is `flag`, `number`, a range such as `1..4`, `text`, `path`, a list of words, or \
         `{ any_of = […] }`"
            .to_owned()
    });
    let message = format!("`{}` is not a type", text.value);
    problems.report(Diagnostic::at(text.span.clone(), Code::WrongValue, message).help(help));
    None
}

fn range(text: &Text, min: &str, max: &str, problems: &mut Problems<'_>) -> Option<Type> {
    let (low, high) = (min.trim().parse::<i64>().ok(), max.trim().parse::<i64>().ok());
    if let (Some(low), Some(high)) = (low, high)
        && low <= high
    {
        return Some(Type::Number { min: Some(low), max: Some(high) });
    }
    let message = format!("`{}` is not a range of numbers", text.value);
    problems.report(
        Diagnostic::at(text.span.clone(), Code::WrongValue, message)
            .help("write both ends, the lower one first: `1..4`"),
    );
    None
}

fn words(node: Node<'_>, problems: &mut Problems<'_>) -> Option<Vec<Arc<str>>> {
    let words = node.some_texts("a list of words", problems);
    (!words.is_empty()).then(|| words.iter().map(|word| Arc::from(word.as_str())).collect())
}

/// Reads a value, whatever its type.
pub(super) fn value(node: Node<'_>, problems: &mut Problems<'_>) -> Option<Value> {
    let what = "a default";
    if node.is_flag() {
        return node.flag(what, problems).map(Value::Flag);
    }
    if node.is_number() {
        return node.number(what, problems).map(Value::Number);
    }
    if node.is_list() {
        let words = node.texts(what, problems);
        return Some(Value::Set(words.iter().map(|word| Arc::from(word.as_str())).collect()));
    }
    node.text(what, problems).map(|text| Value::text(text.value))
}

/// The type as it is written in TOML.
pub(super) fn written(ty: &Type) -> toml::Value {
    let list = |words: &[Arc<str>]| {
        toml::Value::Array(words.iter().map(|w| toml::Value::String(w.to_string())).collect())
    };
    let text = |text: &str| toml::Value::String(text.to_owned());
    match ty {
        Type::Flag => text("flag"),
        Type::Number { min: Some(min), max: Some(max) } => text(&format!("{min}..{max}")),
        Type::Number { .. } => text("number"),
        Type::Text => text("text"),
        Type::Path => text("path"),
        Type::OneOf(words) => list(words),
        Type::AnyOf(words) => {
            toml::Value::Table([("any_of".to_owned(), list(words))].into_iter().collect())
        }
    }
}
