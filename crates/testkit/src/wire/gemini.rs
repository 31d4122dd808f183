//! Google's Gemini.

use serde_json::{Value, json};

use super::{Answer, Complained, function, list, stop_name, string, text_of, unnamed, whole_piece};
use crate::cache::Piece;
use crate::fault::Complaint;
use crate::reply::{Bit, pieces};
use crate::request::{Message, Part, Purpose, Request, Role};
use crate::usage::Usage;

/// What a path after `/models/` asks for: the model, what for, and whether bit by bit.
pub(super) fn asked(path: &str) -> Option<(&str, Purpose, bool)> {
    let (_, asked) = path.split_once("/models/")?;
    let (model, method) = asked.split('?').next()?.split_once(':')?;
    match method {
        "generateContent" => Some((model, Purpose::Answer, false)),
        "streamGenerateContent" => Some((model, Purpose::Answer, true)),
        "countTokens" => Some((model, Purpose::Count, false)),
        _ => None,
    }
}

/// Takes the body and the path apart.
pub(super) fn read(request: &mut Request) {
    if let Some((model, _, streamed)) = asked(&request.path) {
        request.model = model.to_owned();
        request.streamed = streamed;
    }
    let body = asked_of(&request.body);
    request.system = text_of(&body["systemInstruction"]["parts"]);
    request.messages = list(&body["contents"]).iter().map(message).collect();
    let tools = list(&body["tools"]).iter().flat_map(|some| list(&some["functionDeclarations"]));
    let schema = |tool: &Value| {
        let forms = [&tool["parametersJsonSchema"], &tool["parameters"]];
        forms.into_iter().find(|form| form.is_object()).cloned().unwrap_or_default()
    };
    request.tools = tools.map(|tool| function(&tool["name"], &schema(tool))).collect();
    let wishes = &body["generationConfig"];
    request.tokens_max = wishes["maxOutputTokens"].as_u64();
    let forms = [&wishes["responseJsonSchema"], &wishes["responseSchema"]];
    request.schema = forms.into_iter().find(|form| form.is_object()).cloned();
}

fn message(json: &Value) -> Message {
    let role = if json["role"] == "model" { Role::Assistant } else { Role::User };
    Message { role, parts: list(&json["parts"]).iter().map(part).collect() }
}

fn part(json: &Value) -> Part {
    let call = &json["functionCall"];
    let result = &json["functionResponse"];
    if let Some(text) = json["text"].as_str() {
        let thought = json["thought"] == true;
        let as_part = if thought { Part::Thinking } else { Part::Text };
        as_part(text.to_owned())
    } else if call.is_object() {
        let input = call["args"].clone();
        Part::Call { id: string(&call["id"]), name: string(&call["name"]), input }
    } else if result.is_object() {
        let (text, failed) = result_text(&result["response"]);
        Part::Result { id: string(&result["id"]), text, failed }
    } else {
        let kind = json.as_object().and_then(|parts| parts.keys().next());
        Part::Other(kind.cloned().unwrap_or_default())
    }
}

fn result_text(response: &Value) -> (String, bool) {
    match (&response["output"], &response["error"]) {
        (Value::String(output), _) => (output.clone(), false),
        (_, Value::String(error)) => (error.clone(), true),
        _ => (response.to_string(), false),
    }
}

/// What is asked; to count it, it may stand one level further in.
fn asked_of(body: &Value) -> &Value {
    body.get("generateContentRequest").unwrap_or(body)
}

/// The prompt as Google may put it together.
pub(super) fn prompt(request: &Request) -> Vec<Piece> {
    let body = asked_of(&request.body);
    let before = [&body["tools"], &body["systemInstruction"]];
    before.into_iter().chain(list(&body["contents"])).map(whole_piece).collect()
}

/// The answer at once.
pub(super) fn whole(answer: &Answer<'_>) -> Value {
    let parts: Vec<_> = answer.said.blocks.iter().map(part_json).collect();
    let mut all = chunk(answer, &parts, Some(stop(answer)));
    if let Some(usage) = answer.usage {
        all["usageMetadata"] = usage_json(usage);
    }
    all
}

/// The answer event by event: the last one says why it ends, each what it came to so far.
pub(super) fn events(answer: &Answer<'_>) -> Vec<String> {
    let mut parts = Vec::new();
    for bit in &answer.said.blocks {
        match bit {
            Bit::Text(text) => parts.extend(pieces(text).into_iter().map(Bit::Text)),
            Bit::Thinking(text) => parts.extend(pieces(text).into_iter().map(Bit::Thinking)),
            Bit::Use(_) => parts.push(bit.clone()),
        }
    }
    let mut chunks: Vec<_> =
        parts.iter().map(|bit| chunk(answer, &[part_json(bit)], None)).collect();
    chunks.push(chunk(answer, &[json!({"text": ""})], Some(stop(answer))));
    let last = chunks.len() - 1;
    for (index, chunk) in chunks.iter_mut().enumerate() {
        if let Some(usage) = answer.usage.filter(|_| answer.early || index == last) {
            chunk["usageMetadata"] = usage_json(usage);
        }
    }
    chunks.iter().map(unnamed).collect()
}

fn chunk(answer: &Answer<'_>, parts: &[Value], stop: Option<&str>) -> Value {
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    if let Some(stop) = stop {
        candidate["finishReason"] = stop.into();
    }
    json!({
        "candidates": [candidate],
        "modelVersion": answer.request.model,
        "responseId": format!("resp-{:06}", answer.request.serial),
    })
}

fn part_json(bit: &Bit) -> Value {
    match bit {
        Bit::Text(text) => json!({"text": text}),
        Bit::Thinking(text) => json!({"text": text, "thought": true}),
        Bit::Use(used) => json!({
            "functionCall": {"id": used.id, "name": used.name, "args": used.input},
            "thoughtSignature": "c2NyaXB0ZWQ=",
        }),
    }
}

fn stop(answer: &Answer<'_>) -> &'static str {
    stop_name(answer.said.stop, ["STOP", "STOP", "MAX_TOKENS", "SAFETY"])
}

fn usage_json(usage: Usage) -> Value {
    let mut json = json!({
        "promptTokenCount": usage.input(),
        "candidatesTokenCount": usage.output,
        "totalTokenCount": usage.input() + usage.output,
    });
    if usage.read > 0 {
        json["cachedContentTokenCount"] = usage.read.into();
    }
    json
}

/// What Google says when it cannot.
pub(super) fn complain(complaint: Complaint) -> Complained {
    let (status, name, message) = words(complaint);
    let mut error = json!({"code": status, "message": message, "status": name});
    if let Complaint::RateLimited { retry_after_s: Some(seconds), .. } = complaint {
        error["details"] = json!([{
            "@type": "type.googleapis.com/google.rpc.RetryInfo",
            "retryDelay": format!("{seconds}s"),
        }]);
    }
    Complained { status, headers: Vec::new(), body: json!({"error": error}) }
}

pub(super) fn complain_midway(complaint: Complaint) -> String {
    unnamed(&complain(complaint).body)
}

fn words(complaint: Complaint) -> (u16, &'static str, &'static str) {
    match complaint {
        Complaint::RateLimited { .. } => (
            429,
            "RESOURCE_EXHAUSTED",
            "You exceeded your current quota, please check your plan and billing details.",
        ),
        Complaint::Overloaded => {
            (503, "UNAVAILABLE", "The model is overloaded. Please try again later.")
        }
        Complaint::Internal => (500, "INTERNAL", "An internal error has occurred."),
        Complaint::Unauthorized => {
            (401, "UNAUTHENTICATED", "API key not valid. Please pass a valid API key.")
        }
        Complaint::Overflow => (
            400,
            "INVALID_ARGUMENT",
            "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).",
        ),
    }
}
