//! Values that inputs, facts and expressions carry, and their types.

use std::sync::Arc;

use serde::de::{self, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// A value. There is no "null": what is not known is `Option::None` around this type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// True or false.
    Flag(bool),
    /// A whole number.
    Number(i64),
    /// A word or a text.
    Text(Arc<str>),
    /// Some of a closed list of words.
    Set(Vec<Arc<str>>),
}

impl Value {
    /// A text value.
    pub fn text(text: impl AsRef<str>) -> Self {
        Value::Text(Arc::from(text.as_ref()))
    }
}

/// By what stands there: each kind looks different. A journal holds thousands, and trying one kind after the other takes far
/// longer.
impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("true or false, a whole number, a text, or a list of texts")
    }

    fn visit_bool<E: de::Error>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Flag(flag))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(number))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Value, E> {
        let too_large = |_| E::invalid_value(Unexpected::Unsigned(number), &self);
        i64::try_from(number).map(Value::Number).map_err(too_large)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut words = Vec::new();
        while let Some(word) = list.next_element()? {
            words.push(word);
        }
        Ok(Value::Set(words))
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Value::Flag(flag)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Value::Number(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::text(text)
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Flag(flag) => write!(f, "{flag}"),
            Value::Number(number) => write!(f, "{number}"),
            Value::Text(text) => f.write_str(text),
            Value::Set(words) => f.write_str(&words.join(",")),
        }
    }
}

/// The type of an input or a fact, as a definition or the catalogue declares it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Type {
    /// True or false.
    Flag,
    /// A whole number, both ends included.
    Number {
        /// The least allowed, if bounded below.
        min: Option<i64>,
        /// The greatest allowed, if bounded above.
        max: Option<i64>,
    },
    /// Any text.
    Text,
    /// A path; text to the core.
    Path,
    /// One of these words.
    OneOf(Vec<Arc<str>>),
    /// Any subset of these words.
    AnyOf(Vec<Arc<str>>),
}

impl Type {
    /// Whether the value is one of this type.
    pub fn admits(&self, value: &Value) -> bool {
        match (self, value) {
            (Type::Flag, Value::Flag(_)) | (Type::Text | Type::Path, Value::Text(_)) => true,
            (Type::Number { min, max }, Value::Number(n)) => {
                min.is_none_or(|min| *n >= min) && max.is_none_or(|max| *n <= max)
            }
            (Type::OneOf(words), Value::Text(text)) => words.contains(text),
            (Type::AnyOf(words), Value::Set(set)) => {
                set.iter().enumerate().all(|(i, w)| words.contains(w) && !set[..i].contains(w))
            }
            _ => false,
        }
    }

    /// What is taken when nothing is given: a flag is false, a set is empty, anything else must be said.
    pub fn implied_default(&self) -> Option<Value> {
        match self {
            Type::Flag => Some(Value::Flag(false)),
            Type::AnyOf(_) => Some(Value::Set(Vec::new())),
            Type::Number { .. } | Type::Text | Type::Path | Type::OneOf(_) => None,
        }
    }

    /// Reads a value of this type from the words a person types (`--set lanes=3`).
    pub fn parse(&self, text: &str) -> Option<Value> {
        let value = match self {
            Type::Flag => match text.to_ascii_lowercase().as_str() {
                "true" | "yes" | "on" => Value::Flag(true),
                "false" | "no" | "off" => Value::Flag(false),
                _ => return None,
            },
            Type::Number { .. } => Value::Number(text.parse().ok()?),
            Type::Text | Type::Path | Type::OneOf(_) => Value::text(text),
            Type::AnyOf(_) if text.is_empty() => Value::Set(Vec::new()),
            Type::AnyOf(_) => Value::Set(text.split(',').map(|w| Arc::from(w.trim())).collect()),
        };
        self.admits(&value).then_some(value)
    }
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Type::Flag => f.write_str("a flag (true or false)"),
            Type::Number { min: Some(min), max: Some(max) } => write!(f, "a number {min}..{max}"),
            Type::Number { .. } => f.write_str("a number"),
            Type::Text => f.write_str("text"),
            Type::Path => f.write_str("a path"),
            Type::OneOf(words) => write!(f, "one of {}", words.join(", ")),
            Type::AnyOf(words) => write!(f, "any of {}", words.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(list: &[&str]) -> Vec<Arc<str>> {
        list.iter().map(|w| Arc::from(*w)).collect()
    }

    #[test]
    fn a_value_is_read_as_what_it_looks_like() {
        /// As a derived reader has it, that tries one kind after the other.
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Derived {
            Flag(bool),
            Number(i64),
            Text(Arc<str>),
            Set(Vec<Arc<str>>),
        }
        for text in [
            "true",
            "false",
            "0",
            "-1",
            "9223372036854775807",
            "-9223372036854775808",
            "\"\"",
            "\"true\"",
            "\"ü\\n\"",
            "[]",
            "[\"a\",\"b\"]",
            "null",
            "1.5",
            "1e3",
            "[1]",
            "[[]]",
            "{}",
            "9223372036854775808",
            "{\"a\":1}",
        ] {
            let derived = serde_json::from_str(text).ok().map(|derived| match derived {
                Derived::Flag(flag) => Value::Flag(flag),
                Derived::Number(number) => Value::Number(number),
                Derived::Text(text) => Value::Text(text),
                Derived::Set(words) => Value::Set(words),
            });
            assert_eq!(serde_json::from_str(text).ok(), derived, "{text}");
        }
    }

    #[test]
    fn a_range_admits_both_of_its_ends_and_nothing_past_them() {
        let range = Type::Number { min: Some(1), max: Some(4) };
        let admitted: Vec<i64> = (0..=5).filter(|n| range.admits(&Value::Number(*n))).collect();
        assert_eq!(admitted, [1, 2, 3, 4]);
    }

    #[test]
    fn a_set_admits_only_its_own_words_once() {
        let set = Type::AnyOf(words(&["a", "b"]));
        assert!(set.admits(&Value::Set(words(&["b", "a"]))));
        assert!(!set.admits(&Value::Set(words(&["c"]))));
        assert!(!set.admits(&Value::Set(words(&["a", "a"]))));
    }

    #[test]
    fn typed_words_are_parsed_or_refused() {
        let cases = [
            (Type::Flag, "yes", Some(Value::Flag(true))),
            (Type::Flag, "off", Some(Value::Flag(false))),
            (Type::Flag, "TRUE", Some(Value::Flag(true))),
            (Type::Flag, "", None),
            (Type::Flag, "maybe", None),
            (Type::Number { min: None, max: Some(3) }, "3", Some(Value::Number(3))),
            (Type::Number { min: None, max: Some(3) }, "4", None),
            (Type::Number { min: None, max: None }, "x", None),
            (Type::OneOf(words(&["fast"])), "fast", Some(Value::text("fast"))),
            (Type::OneOf(words(&["fast"])), "slow", None),
            (Type::AnyOf(words(&["a", "b"])), "a, b", Some(Value::Set(words(&["a", "b"])))),
            (Type::AnyOf(words(&["a", "b"])), "", Some(Value::Set(vec![]))),
        ];
        for (ty, text, want) in cases {
            assert_eq!(ty.parse(text), want, "{ty} from {text:?}");
        }
    }

    #[test]
    fn only_flags_and_sets_have_an_implied_default() {
        assert_eq!(Type::Flag.implied_default(), Some(Value::Flag(false)));
        assert_eq!(Type::AnyOf(words(&["a"])).implied_default(), Some(Value::Set(vec![])));
        assert_eq!(Type::Text.implied_default(), None);
    }
}
