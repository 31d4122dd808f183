//! Whether an answer has the form that was asked for, and what is wrong with it if not. As much of JSON Schema as our own
//! schemas use.

use serde_json::Value;

/// What is wrong with a value, as a person would say it; nothing, if it is as the schema says.
pub(super) fn flaws(schema: &Value, value: &Value) -> Vec<String> {
    let mut flaws = Vec::new();
    look("the answer", schema, value, &mut flaws);
    flaws
}

fn look(place: &str, schema: &Value, value: &Value, flaws: &mut Vec<String>) {
    if flaws.len() >= FLAWS_MAX {
        return;
    }
    if let Some(types) = types(schema)
        && !types.iter().any(|ty| is(ty, value))
    {
        flaws.push(format!("{place} is not {}", types.join(" or ")));
        return;
    }
    if let Some(words) = schema["enum"].as_array()
        && !words.contains(value)
    {
        let words: Vec<String> = words.iter().map(Value::to_string).collect();
        flaws.push(format!("{place} is {value}, and not one of {}", words.join(", ")));
    }
    if let Some(number) = value.as_i64() {
        let (min, max) = (schema["minimum"].as_i64(), schema["maximum"].as_i64());
        if min.is_some_and(|min| number < min) || max.is_some_and(|max| number > max) {
            flaws.push(format!("{place} is {number}, which is out of bounds"));
        }
    }
    if let Some(object) = value.as_object() {
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !object.contains_key(name) {
                flaws.push(format!("{place} has no `{name}`"));
            }
        }
        for (name, of) in schema["properties"].as_object().into_iter().flatten() {
            // What may be left out may be nothing.
            if let Some(value) = object.get(name).filter(|value| !value.is_null()) {
                look(&format!("`{name}` of {place}"), of, value, flaws);
            }
        }
    }
    if let (Some(items), false) = (value.as_array(), schema["items"].is_null()) {
        for (at, item) in items.iter().enumerate() {
            look(&format!("item {} of {place}", at + 1), &schema["items"], item, flaws);
        }
    }
}

/// So many are told.
const FLAWS_MAX: usize = 8;

fn types(schema: &Value) -> Option<Vec<&str>> {
    match &schema["type"] {
        Value::String(ty) => Some(vec![ty]),
        Value::Array(types) => Some(types.iter().filter_map(Value::as_str).collect()),
        _ => None,
    }
}

fn is(ty: &str, value: &Value) -> bool {
    match ty {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_is_as_its_schema_says_or_it_is_said_what_is_wrong() {
        let item =
            json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]});
        let schema = json!({
            "type": "object",
            "required": ["verdict"],
            "properties": {
                "verdict": {"type": "string", "enum": ["good", "bad"]},
                "sure": {"type": "boolean"},
                "score": {"type": "integer", "minimum": 0, "maximum": 10},
                "found": {"type": "array", "items": item},
            },
        });
        let flaws = |value: Value| flaws(&schema, &value);
        assert_eq!(flaws(json!({"verdict": "good", "score": 3, "found": [{"id": "a"}]})), [""; 0]);
        assert_eq!(flaws(json!({"verdict": "good", "sure": null, "more": 1})), [""; 0]);
        assert_eq!(flaws(json!([])), ["the answer is not object"]);
        assert_eq!(flaws(json!({})), ["the answer has no `verdict`"]);
        for (odd, want) in [
            (json!({"verdict": "fine"}), "not one of \"good\", \"bad\""),
            (json!({"verdict": 1}), "`verdict` of the answer is not string"),
            (json!({"verdict": "bad", "sure": "very"}), "is not boolean"),
            (json!({"verdict": "bad", "score": 11}), "out of bounds"),
            (
                json!({"verdict": "bad", "found": [{"id": "a"}, {}]}),
                "item 2 of `found` of the answer has no `id`",
            ),
        ] {
            let flaws = flaws(odd);
            assert!(flaws.len() == 1 && flaws[0].contains(want), "{flaws:?}");
        }
        assert!(super::flaws(&json!({}), &json!("anything")).is_empty());
    }
}
