//! How each provider says things: a request of its into a [`Request`], what is [`Said`] into an answer of its.

mod chat;
mod gemini;
mod messages;
mod openai;
mod responses;

use serde_json::{Value, json};

use crate::cache::Piece;
use crate::fault::Complaint;
use crate::http::Raw;
use crate::reply::{Said, Stop};
use crate::request::{Api, Form, Part, Purpose, Request, Tool};
use crate::usage::{Tokens, Usage};

/// A moment that is the same each time.
const CREATED: u64 = 1_700_000_000;

/// An answer, ready to be said in a provider's words.
pub(crate) struct Answer<'a> {
    pub request: &'a Request,
    pub said: &'a Said,
    /// What is said that it came to.
    pub usage: Option<Usage>,
    /// Whether that is said before the end, where the provider does so.
    pub early: bool,
}

impl<'a> Answer<'a> {
    /// An answer with what a turn says that it came to; `counted` is what it really came to.
    pub fn new(request: &'a Request, said: &'a Said, says: Tokens, counted: Usage) -> Self {
        let (usage, early) = match says {
            Tokens::Counted => (Some(counted), true),
            Tokens::AtTheEnd => (Some(counted), false),
            Tokens::Given(usage) => (Some(usage), true),
            Tokens::Missing => (None, false),
        };
        Answer { request, said, usage, early }
    }
}

/// What a provider says when it cannot.
pub(crate) struct Complained {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Value,
}

/// What a path of the server is.
pub(crate) enum Place {
    /// A model of this provider, asked for this.
    Model(Api, Purpose),
    /// A list of models.
    Models,
    /// Nothing known.
    Nowhere,
}

/// What a path is, without what follows a question mark.
pub(crate) fn place(path: &str) -> Place {
    if let Some((_, purpose, _)) = gemini::asked(path) {
        return Place::Model(Api::Gemini, purpose);
    }
    let path = path.split('?').next().unwrap_or_default().trim_end_matches('/');
    let path = ["/v1beta", "/v1"].iter().find_map(|start| path.strip_prefix(start)).unwrap_or(path);
    match path {
        "/messages" => Place::Model(Api::Messages, Purpose::Answer),
        "/messages/count_tokens" => Place::Model(Api::Messages, Purpose::Count),
        "/responses" => Place::Model(Api::Responses, Purpose::Answer),
        "/chat/completions" => Place::Model(Api::Chat, Purpose::Answer),
        "/models" => Place::Models,
        _ => Place::Nowhere,
    }
}

/// A list of models: none, which every agent takes for an answer.
pub(crate) fn models() -> Value {
    json!({"object": "list", "data": [], "models": [], "has_more": false})
}

/// Nothing is there.
pub(crate) fn nothing(path: &str) -> Value {
    json!({"type": "error", "error": {"type": "not_found_error", "message": format!("{path}: nothing is here")}})
}

/// A request, understood.
pub(crate) fn request(
    serial: u64,
    raw: Raw,
    api: Api,
    purpose: Purpose,
) -> Result<Request, serde_json::Error> {
    let body: Value = serde_json::from_slice(&raw.body)?;
    let key = key(&raw);
    let mut request = Request {
        serial,
        api,
        purpose,
        path: raw.path,
        headers: raw.headers,
        key,
        model: string(&body["model"]),
        system: String::new(),
        messages: Vec::new(),
        tools: Vec::new(),
        tokens_max: None,
        schema: None,
        streamed: body["stream"] == true,
        body,
        raw: raw.body,
    };
    match api {
        Api::Messages => messages::read(&mut request),
        Api::Responses => responses::read(&mut request),
        Api::Chat => chat::read(&mut request),
        Api::Gemini => gemini::read(&mut request),
    }
    Ok(request)
}

fn key(raw: &Raw) -> Option<String> {
    let bearer = raw.header("authorization").map(|value| value.trim_start_matches("Bearer "));
    let asked = raw.path.split(['?', '&']).find_map(|part| part.strip_prefix("key="));
    let key = raw.header("x-api-key").or(raw.header("x-goog-api-key")).or(bearer).or(asked);
    key.map(str::to_owned)
}

/// The prompt as the provider puts it together.
pub(crate) fn prompt(request: &Request) -> Vec<Piece> {
    match request.api {
        Api::Messages => messages::prompt(request),
        Api::Responses => responses::prompt(request),
        Api::Chat => chat::prompt(request),
        Api::Gemini => gemini::prompt(request),
    }
}

/// Why the provider would not take a request, whatever a brain says, and what it answers.
pub(crate) fn flaw(request: &Request) -> Option<Complained> {
    let message = match request.api {
        Api::Messages => messages::flaw(request)?,
        Api::Responses | Api::Chat | Api::Gemini => return None,
    };
    let error = json!({"type": "invalid_request_error", "message": message});
    let body = json!({"type": "error", "error": error});
    Some(Complained { status: 400, headers: Vec::new(), body })
}

/// An answer at once.
pub(crate) fn whole(answer: &Answer<'_>) -> Value {
    match answer.request.api {
        Api::Messages => messages::whole(answer),
        Api::Responses => responses::whole(answer),
        Api::Chat => chat::whole(answer),
        Api::Gemini => gemini::whole(answer),
    }
}

/// An answer event by event.
pub(crate) fn events(answer: &Answer<'_>) -> Vec<String> {
    match answer.request.api {
        Api::Messages => messages::events(answer),
        Api::Responses => responses::events(answer),
        Api::Chat => chat::events(answer),
        Api::Gemini => gemini::events(answer),
    }
}

/// How many tokens a request has.
pub(crate) fn count(api: Api, tokens: u64) -> Value {
    match api {
        Api::Gemini => json!({"totalTokens": tokens}),
        Api::Messages | Api::Responses | Api::Chat => json!({"input_tokens": tokens}),
    }
}

/// A complaint instead of an answer.
pub(crate) fn complain(request: &Request, complaint: Complaint) -> Complained {
    let mut said = match request.api {
        Api::Messages => messages::complain(request, complaint),
        Api::Responses => openai::complain(request, complaint),
        Api::Chat => chat::complain(request, complaint),
        Api::Gemini => gemini::complain(complaint),
    };
    if let Complaint::RateLimited { retry_after_s: Some(seconds), .. } = complaint {
        said.headers.push(("retry-after".into(), seconds.to_string()));
    }
    said
}

/// A complaint in the middle of a stream.
pub(crate) fn complain_midway(request: &Request, complaint: Complaint) -> String {
    match request.api {
        Api::Messages => messages::complain_midway(request, complaint),
        Api::Responses => responses::complain_midway(request, complaint),
        Api::Chat => chat::complain_midway(request, complaint),
        Api::Gemini => gemini::complain_midway(complaint),
    }
}

/// An event of a stream with a name.
fn named(name: &str, data: &Value) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

/// An event of a stream without a name.
fn unnamed(data: &Value) -> String {
    format!("data: {data}\n\n")
}

/// A part of a prompt that nobody marks.
fn whole_piece(part: &Value) -> Piece {
    let text = if part.is_null() { String::new() } else { part.to_string() };
    Piece { text, ..Piece::default() }
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The text of what may be a text, or a list of parts that have one.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<_> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

/// What was given to a tool as JSON in a text; the text itself if it is none.
fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}

/// Why a stop is called what it is called: by provider, in the order of [`Stop`].
fn stop_name(stop: Stop, names: [&'static str; 4]) -> &'static str {
    let [end, tool, max, refusal] = names;
    match stop {
        Stop::End => end,
        Stop::ToolUse => tool,
        Stop::TokensMax => max,
        Stop::Refusal => refusal,
    }
}

fn function(name: &Value, schema: &Value) -> Tool {
    Tool { name: string(name), form: Form::Function, schema: schema.clone(), namespace: None }
}

/// Something that is not read: what it is called.
fn other(value: &Value) -> Part {
    Part::Other(value["type"].as_str().unwrap_or("unknown").to_owned())
}

/// A request with this body, for tests.
#[cfg(test)]
pub(crate) fn example(path: &str, body: &Value) -> Request {
    let headers = vec![("authorization".to_owned(), "Bearer test-key".to_owned())];
    let raw = Raw {
        method: "POST".into(),
        path: path.into(),
        headers,
        body: body.to_string().into_bytes(),
        keeps: true,
    };
    let Place::Model(api, purpose) = place(path) else { panic!("{path} is no model") };
    request(1, raw, api, purpose).unwrap()
}
