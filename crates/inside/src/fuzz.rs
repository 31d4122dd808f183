//! What servers send, changed at random: a copy of something that is well, in which values are others, keys are missing and
//! texts are cut. Whoever hears it neither stumbles nor takes it for more than it is.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

/// Values that nobody expects.
fn odd() -> impl Strategy<Value = Value> {
    let deep = (0..100).fold(json!(1), |inside, _| json!([inside]));
    select(vec![
        json!(null),
        json!(true),
        json!(-1),
        json!(0),
        json!(u64::MAX),
        json!(1e308),
        json!(""),
        json!("ü\u{0}\u{1b}[2J"),
        json!("x".repeat(5_000)),
        json!([]),
        json!({}),
        json!([{}, null, [1]]),
        deep,
    ])
}

/// What is done to a text that is JSON.
#[derive(Clone, Debug)]
pub(crate) enum Damage {
    None,
    /// One of its values is another.
    Value(Index, Value),
    /// One of its keys is not there.
    Missing(Index),
    /// It stops here.
    Cut(Index),
}

pub(crate) fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        3 => Just(Damage::None),
        4 => (any::<Index>(), odd()).prop_map(|(at, value)| Damage::Value(at, value)),
        2 => any::<Index>().prop_map(Damage::Missing),
        1 => any::<Index>().prop_map(Damage::Cut),
    ]
}

pub(crate) fn damaged(text: &str, damage: &Damage) -> String {
    let Ok(mut json) = serde_json::from_str::<Value>(text) else { return text.to_owned() };
    match damage {
        Damage::None => return text.to_owned(),
        Damage::Cut(at) => {
            return text[..text.floor_char_boundary(at.index(text.len()))].to_owned();
        }
        Damage::Value(at, new) => {
            let mut at = at.index(count(&json));
            change(&mut json, &mut at, &mut |value| *value = new.clone());
        }
        Damage::Missing(at) => {
            let mut at = at.index(count(&json));
            change(&mut json, &mut at, &mut |value| {
                if let Value::Object(all) = value {
                    let first = all.keys().next().cloned();
                    first.map(|key| all.remove(&key));
                }
            });
        }
    }
    json.to_string()
}

/// How many values there are, one inside the other.
fn count(value: &Value) -> usize {
    let inside: usize = match value {
        Value::Array(all) => all.iter().map(count).sum(),
        Value::Object(all) => all.values().map(count).sum(),
        _ => 0,
    };
    1 + inside
}

/// Changes the how-manieth.
fn change(value: &mut Value, at: &mut usize, how: &mut dyn FnMut(&mut Value)) -> bool {
    if *at == 0 {
        how(value);
        return true;
    }
    *at -= 1;
    match value {
        Value::Array(all) => all.iter_mut().any(|one| change(one, at, how)),
        Value::Object(all) => all.values_mut().any(|one| change(one, at, how)),
        _ => false,
    }
}
