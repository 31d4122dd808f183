//! What it means that a server would not go on: told by codes and by words that programs use, never by its prose.

use serde_json::Value as Json;
use windlass_agents::own::Fin;

use super::rpc::Fault;

/// Keys that hold a status of HTTP where a server hands on what its provider said.
const STATUS: [&str; 5] = ["status", "statusCode", "status_code", "code", "http_status"];
/// Keys that hold a word for what went wrong.
const WORDS: [&str; 7] = ["type", "code", "name", "kind", "errorKind", "errorName", "status"];

/// What such words mean.
const MEANINGS: [(&str, Fin); 15] = [
    ("rate_limit", Fin::Limited),
    ("rate_limit_error", Fin::Limited),
    ("rate_limit_exceeded", Fin::Limited),
    ("usage_limit_reached", Fin::Limited),
    ("insufficient_quota", Fin::Limited),
    ("RESOURCE_EXHAUSTED", Fin::Limited),
    ("overloaded_error", Fin::Overloaded),
    ("UNAVAILABLE", Fin::Overloaded),
    ("authentication_error", Fin::Unwelcome),
    ("authentication_failed", Fin::Unwelcome),
    ("invalid_api_key", Fin::Unwelcome),
    ("UNAUTHENTICATED", Fin::Unwelcome),
    ("ProviderAuthError", Fin::Unwelcome),
    ("context_length_exceeded", Fin::ContextFull),
    ("ContextOverflowError", Fin::ContextFull),
];

/// It is not looked deeper than this.
const DEPTH: usize = 6;

/// What an error comes to.
pub(crate) fn comes_to(fault: &Fault) -> Fin {
    if fault.code == Fault::AUTH_REQUIRED {
        return Fin::Unwelcome;
    }
    // What a provider said is handed on beside the message, or in its place: then it is an object, too.
    let said = [&fault.data, &Json::String(fault.message.clone())];
    let search = |is: &dyn Fn(&str, &Json) -> Option<Fin>| {
        said.iter().find_map(|said| found(said, DEPTH, is))
    };
    let by_word = || search(&|key, value| WORDS.contains(&key).then(|| word(value))?);
    let by_status = || search(&|key, value| STATUS.contains(&key).then(|| status(value))?);
    // A word says more than a status: many things are a 400.
    by_word().or_else(|| meaning(fault.code)).or_else(by_status).unwrap_or(Fin::Failed)
}

/// What a status of HTTP means.
fn meaning(status: i64) -> Option<Fin> {
    match status {
        401 | 403 => Some(Fin::Unwelcome),
        413 => Some(Fin::ContextFull),
        429 => Some(Fin::Limited),
        408 | 500..=599 => Some(Fin::Overloaded),
        _ => None,
    }
}

fn status(value: &Json) -> Option<Fin> {
    let number = value.as_i64().or_else(|| value.as_str()?.parse().ok());
    number.and_then(meaning)
}

fn word(value: &Json) -> Option<Fin> {
    let word = value.as_str()?;
    MEANINGS.iter().find(|(own, _)| *own == word).map(|(_, fin)| *fin)
}

/// The first thing that is found, outside first.
fn found(data: &Json, depth: usize, is: &dyn Fn(&str, &Json) -> Option<Fin>) -> Option<Fin> {
    let deeper = depth.checked_sub(1)?;
    match data {
        Json::Object(all) => {
            let here = all.iter().find_map(|(key, value)| is(key, value));
            here.or_else(|| all.values().find_map(|value| found(value, deeper, is)))
        }
        Json::Array(all) => all.iter().find_map(|value| found(value, deeper, is)),
        // Some hand on what their provider said as a text.
        Json::String(text) if text.trim_start().starts_with('{') => {
            found(&serde_json::from_str(text).ok()?, deeper, is)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_error_is_told_by_its_code_and_by_what_a_provider_said() {
        let of = |code: i64, data: Json| comes_to(&Fault { code, message: "429 401".into(), data });
        for (code, data, want) in [
            (-32000, json!(null), Fin::Unwelcome),
            (429, json!(null), Fin::Limited),
            (401, json!(null), Fin::Unwelcome),
            (500, json!(null), Fin::Overloaded),
            (503, json!(null), Fin::Overloaded),
            (413, json!(null), Fin::ContextFull),
            (400, json!(null), Fin::Failed),
            (-32603, json!(null), Fin::Failed),
            (-32603, json!({ "status": 429 }), Fin::Limited),
            (-32603, json!({ "error": { "statusCode": "503" } }), Fin::Overloaded),
            (
                -32603,
                json!({ "error": { "code": "context_length_exceeded", "status": 400 } }),
                Fin::ContextFull,
            ),
            (
                -32603,
                json!({ "responseBody": "{\"error\":{\"type\":\"rate_limit_error\"}}" }),
                Fin::Limited,
            ),
            (500, json!({ "name": "ProviderAuthError" }), Fin::Unwelcome),
            (-32603, json!({ "details": "429 too many" }), Fin::Failed),
            (-32603, json!("{ not json"), Fin::Failed),
        ] {
            assert_eq!(of(code, data.clone()), want, "{code} {data}");
        }
        let message =
            r#"{"error":{"code":401,"message":"no","status":"UNAUTHENTICATED"}}"#.to_owned();
        let data = Json::Null;
        assert_eq!(comes_to(&Fault { code: 400, message, data }), Fin::Unwelcome);
        assert_eq!(of(-32603, json!({ "errorName": "ContextOverflowError" })), Fin::ContextFull);
        let deep = (0..1_000).fold(json!({ "status": 429 }), |inside, _| json!([inside]));
        assert_eq!(of(-32603, deep), Fin::Failed);
    }
}
