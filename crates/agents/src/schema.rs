//! What a role may answer, as a JSON schema: its verdicts, its facts and its lists, side by side.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};
use windlass_core::{lang::Reporter, value::Type};

/// Where any role may say, in a line or two, what it did or found.
pub(crate) const SUMMARY: &str = "summary";

/// The schema of a role's answer.
pub fn schema(reporter: &Reporter) -> Json {
    let mut properties = Map::new();
    properties.insert("verdict".to_owned(), json!({ "enum": reporter.verdicts }));
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
    json!({ "type": "object", "properties": properties, "required": ["verdict"] })
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
        Type::OneOf(words) => json!({ "enum": words }),
        Type::AnyOf(words) => json!({ "type": "array", "items": { "enum": words } }),
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
                    lists.found = { level = ['low', 'high'] }";
        let catalogue = Catalogue::parse(text).unwrap();
        let schema = schema(&catalogue.roles["judge"]);
        let at = |path: &str| schema.pointer(path).cloned().unwrap_or(Json::Null);
        assert_eq!(at("/properties/verdict"), json!({ "enum": ["good", "bad"] }));
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
            json!({ "enum": ["low", "high"] })
        );
        assert_eq!(at("/properties/found/items/required"), json!(["id", "title"]));
    }
}
