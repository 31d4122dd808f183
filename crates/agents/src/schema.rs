//! What a role may answer, as a JSON schema: its verdicts, its facts and its lists, side by side.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};
use windlass_core::{
    lang::{Memory, Reporter},
    value::Type,
};

/// Where any role may say, in a line or two, what it did or found.
pub const SUMMARY: &str = "summary";

/// Where a role may note what others should know later.
pub const MEMORY: &str = "memory";

/// What a curator would have appended to what is remembered at length.
pub const LONG: &str = "long";

/// What a curator would have roles remember for good.
pub const PROMOTE: &str = "promote";

/// The schema of a role's answer.
pub fn schema(reporter: &Reporter) -> Json {
    let mut properties = Map::new();
    properties.insert("verdict".to_owned(), json!({ "type": "string", "enum": reporter.verdicts }));
    properties.insert(SUMMARY.to_owned(), json!({ "type": "string" }));
    properties.extend(facts(&reporter.facts));
    for (name, of) in &reporter.lists {
        let mut item = Map::new();
        item.insert("id".to_owned(), json!({ "type": "string" }));
        item.insert("title".to_owned(), json!({ "type": "string" }));
        item.insert("depends".to_owned(), strings());
        item.insert("files".to_owned(), strings());
        item.insert("rank".to_owned(), json!({ "type": "integer" }));
        item.extend(facts(of));
        let item = json!({ "type": "object", "properties": item, "required": ["id", "title"] });
        properties.insert(name.clone(), json!({ "type": "array", "items": item }));
    }
    // What nobody takes up needs no name of its own.
    for (name, of) in &reporter.says {
        let mut item = Map::new();
        item.insert("title".to_owned(), json!({ "type": "string" }));
        item.extend(facts(of));
        let item = json!({ "type": "object", "properties": item, "required": ["title"] });
        properties.insert(name.clone(), json!({ "type": "array", "items": item }));
    }
    if reporter.memory != Memory::None {
        properties.insert(MEMORY.to_owned(), strings());
    }
    if reporter.memory == Memory::Curates {
        properties.insert(LONG.to_owned(), json!({ "type": "string" }));
        properties.insert(PROMOTE.to_owned(), json!({ "type": "array", "items": promoted() }));
    }
    json!({ "type": "object", "properties": properties, "required": ["verdict"] })
}

/// A line for a role's identity, and the features that bear it out.
fn promoted() -> Json {
    let text = json!({ "type": "string" });
    json!({
        "type": "object",
        "properties": { "role": text.clone(), "text": text, "features": strings() },
        "required": ["role", "text"],
    })
}

/// The same for providers that hold a model to a schema: they want every key to be there and no other. What may be left
/// out may be nothing instead.
pub(crate) fn strict(reporter: &Reporter) -> Json {
    let mut schema = schema(reporter);
    close(&mut schema);
    schema
}

fn close(schema: &mut Json) {
    if let Some(items) = schema.get_mut("items") {
        close(items);
    }
    let Some(object) = schema.as_object_mut() else { return };
    let required: Vec<Json> =
        object.get("required").and_then(Json::as_array).cloned().unwrap_or_default();
    let Some(properties) = object.get_mut("properties").and_then(Json::as_object_mut) else {
        return;
    };
    for (name, of) in properties.iter_mut() {
        close(of);
        if !required.iter().any(|own| own == name) {
            or_nothing(of);
        }
    }
    let all: Vec<Json> = properties.keys().cloned().map(Json::String).collect();
    object.insert("required".to_owned(), Json::Array(all));
    object.insert("additionalProperties".to_owned(), Json::Bool(false));
}

/// Lets a value be nothing.
fn or_nothing(schema: &mut Json) {
    let Some(object) = schema.as_object_mut() else { return };
    if let Some(words) = object.get_mut("enum").and_then(Json::as_array_mut) {
        words.push(Json::Null);
    }
    if let Some(ty) = object.get_mut("type") {
        *ty = json!([ty.clone(), "null"]);
    }
}

fn strings() -> Json {
    json!({ "type": "array", "items": { "type": "string" } })
}

fn facts(facts: &BTreeMap<String, Type>) -> impl Iterator<Item = (String, Json)> + '_ {
    facts.iter().map(|(name, ty)| (name.clone(), of_type(ty)))
}

fn of_type(ty: &Type) -> Json {
    match ty {
        Type::Flag => json!({ "type": "boolean" }),
        Type::Number { min, max } => {
            let mut number = Map::new();
            number.insert("type".to_owned(), json!("integer"));
            number.extend(min.map(|min| ("minimum".to_owned(), json!(min))));
            number.extend(max.map(|max| ("maximum".to_owned(), json!(max))));
            Json::Object(number)
        }
        Type::Text | Type::Path => json!({ "type": "string" }),
        Type::OneOf(words) => json!({ "type": "string", "enum": words }),
        Type::AnyOf(words) => {
            json!({ "type": "array", "items": { "type": "string", "enum": words } })
        }
    }
}

#[cfg(test)]
mod tests {
    use windlass_core::lang::Catalogue;

    use super::*;

    #[test]
    fn a_schema_has_everything_the_role_may_say() {
        let text = "[role.judge]\nverdicts = ['good', 'bad']\n\
                    facts = { sure = 'flag', score = '0..10', why = 'text', tags = { any_of = ['a', 'b'] } }\n\
                    lists.found = { level = ['low', 'high'] }\nsays.doubts = { about = 'text' }";
        let catalogue = Catalogue::parse(text).unwrap();
        let schema = schema(&catalogue.roles["judge"]);
        let at = |path: &str| schema.pointer(path).cloned().unwrap_or(Json::Null);
        assert_eq!(at("/properties/verdict"), json!({ "type": "string", "enum": ["good", "bad"] }));
        assert_eq!(at("/required"), json!(["verdict"]));
        assert_eq!(at("/properties/summary/type"), "string");
        assert_eq!(at("/properties/sure/type"), "boolean");
        assert_eq!(
            at("/properties/score"),
            json!({ "type": "integer", "minimum": 0, "maximum": 10 })
        );
        assert_eq!(at("/properties/why/type"), "string");
        assert_eq!(at("/properties/tags/items/enum"), json!(["a", "b"]));
        assert_eq!(
            at("/properties/found/items/properties/level"),
            json!({ "type": "string", "enum": ["low", "high"] })
        );
        assert_eq!(at("/properties/found/items/required"), json!(["id", "title"]));
        let doubts = json!({
            "type": "object", "required": ["title"],
            "properties": { "title": { "type": "string" }, "about": { "type": "string" } },
        });
        assert_eq!(at("/properties/doubts"), json!({ "type": "array", "items": doubts }));
    }

    #[test]
    fn only_who_has_to_do_with_memory_may_note_and_only_a_curator_propose() {
        let text = "[role.judge]\nverdicts = ['good']\n[role.worker]\nverdicts = ['done']\nmemory = 'notes'\n\
                    [role.keeper]\nverdicts = ['kept']\nmemory = 'curates'";
        let catalogue = Catalogue::parse(text).unwrap();
        let has = |role: &str| {
            let schema = schema(&catalogue.roles[role]);
            [MEMORY, LONG, PROMOTE].map(|name| schema["properties"].get(name).is_some())
        };
        assert_eq!(has("judge"), [false, false, false]);
        assert_eq!(has("worker"), [true, false, false]);
        assert_eq!(has("keeper"), [true, true, true]);
        let strict = strict(&catalogue.roles["keeper"]);
        assert_eq!(strict["properties"]["memory"]["type"], json!(["array", "null"]));
        let item = &strict["properties"]["promote"]["items"];
        assert_eq!(item["required"], json!(["features", "role", "text"]));
        assert_eq!(item["additionalProperties"], json!(false));
    }

    #[test]
    fn a_strict_schema_asks_for_every_key_and_lets_most_be_nothing() {
        let text = "[role.judge]\nverdicts = ['good', 'bad']\nfacts = { sure = 'flag' }\n\
                    lists.found = { level = ['low', 'high'] }";
        let catalogue = Catalogue::parse(text).unwrap();
        let schema = strict(&catalogue.roles["judge"]);
        let at = |path: &str| schema.pointer(path).cloned().unwrap_or(Json::Null);
        assert_eq!(at("/required"), json!(["found", "summary", "sure", "verdict"]));
        assert_eq!(at("/additionalProperties"), json!(false));
        assert_eq!(at("/properties/verdict/type"), "string");
        assert_eq!(at("/properties/sure/type"), json!(["boolean", "null"]));
        assert_eq!(at("/properties/found/type"), json!(["array", "null"]));
        let item = "/properties/found/items";
        assert_eq!(at(&format!("{item}/additionalProperties")), json!(false));
        let required = json!(["depends", "files", "id", "level", "rank", "title"]);
        assert_eq!(at(&format!("{item}/required")), required);
        assert_eq!(at(&format!("{item}/properties/id/type")), "string");
        assert_eq!(at(&format!("{item}/properties/level/enum")), json!(["low", "high", null]));
    }
}
