//! Anthropic's Messages.

use serde_json::{Value, json};

use super::{Answer, Complained, function, list, named, other, stop_name, string, text_of};
use crate::cache::Piece;
use crate::fault::Complaint;
use crate::reply::{Bit, pieces};
use crate::request::{Message, Part, Request, Role};
use crate::usage::Usage;

/// Takes the body apart.
pub(super) fn read(request: &mut Request) {
    let body = &request.body;
    request.system = text_of(&body["system"]);
    request.messages = list(&body["messages"]).iter().map(message).collect();
    request.tools = list(&body["tools"])
        .iter()
        .map(|tool| function(&tool["name"], &tool["input_schema"]))
        .collect();
    request.tokens_max = body["max_tokens"].as_u64();
    let format = [&body["output_config"]["format"], &body["output_format"]];
    let schema = format.iter().find(|format| format["type"] == "json_schema");
    request.schema = schema.map(|format| format["schema"].clone());
}

fn message(json: &Value) -> Message {
    let role = if json["role"] == "assistant" { Role::Assistant } else { Role::User };
    let parts = match &json["content"] {
        Value::String(text) => vec![Part::Text(text.clone())],
        content => list(content).iter().map(part).collect(),
    };
    Message { role, parts }
}

fn part(json: &Value) -> Part {
    match json["type"].as_str() {
        Some("text") => Part::Text(string(&json["text"])),
        Some("thinking") => Part::Thinking(string(&json["thinking"])),
        Some("tool_use") => Part::Call {
            id: string(&json["id"]),
            name: string(&json["name"]),
            input: json["input"].clone(),
        },
        Some("tool_result") => Part::Result {
            id: string(&json["tool_use_id"]),
            text: text_of(&json["content"]),
            failed: json["is_error"] == true,
        },
        _ => other(json),
    }
}

/// The prompt as Anthropic puts it together. What is settled beside it (thinking, the choice of a tool) makes messages
/// different, but not what comes before them.
pub(super) fn prompt(request: &Request) -> Vec<Piece> {
    let body = &request.body;
    let mut pieces: Vec<_> = list(&body["tools"]).iter().map(|tool| piece("tool", tool)).collect();
    pieces.extend(blocks(&body["system"]).iter().map(|block| piece("system", block)));
    let before = pieces.len();
    for message in list(&body["messages"]) {
        let role = message["role"].as_str().unwrap_or_default();
        pieces.extend(blocks(&message["content"]).iter().map(|block| piece(role, block)));
    }
    if let Some(first) = pieces.get_mut(before) {
        first.beside = format!("{} {}", body["thinking"], body["tool_choice"]);
    }
    if let Some(last) = pieces.last_mut().filter(|_| body.get("cache_control").is_some()) {
        last.marked = true;
    }
    pieces
}

/// A text is the same as a block with it.
fn blocks(content: &Value) -> Vec<Value> {
    match content {
        Value::String(text) => vec![json!({"type": "text", "text": text})],
        content => list(content).to_vec(),
    }
}

fn piece(role: &str, block: &Value) -> Piece {
    let mut block = block.clone();
    let mark = block.as_object_mut().and_then(|block| block.remove("cache_control"));
    let marked = mark.is_some_and(|mark| mark.is_object());
    Piece { text: format!("{role}{block}"), marked, ..Piece::default() }
}

/// Why Anthropic would not take a request, in its own words.
pub(super) fn flaw(request: &Request) -> Option<String> {
    let marks = prompt(request).iter().filter(|piece| piece.marked).count();
    let most = "A maximum of 4 blocks with cache_control may be provided.";
    (marks > MARKS_MAX).then(|| format!("{most} Found {marks}."))
}

/// So many blocks may be marked.
const MARKS_MAX: usize = 4;

/// The answer at once.
pub(super) fn whole(answer: &Answer<'_>) -> Value {
    let content: Vec<_> = answer.said.blocks.iter().map(block).collect();
    let mut message = head(answer);
    message["content"] = content.into();
    message["stop_reason"] = stop(answer).into();
    if let Some(usage) = answer.usage {
        message["usage"] = usage_json(usage, usage.output);
    }
    message
}

/// The answer event by event.
pub(super) fn events(answer: &Answer<'_>) -> Vec<String> {
    let mut start = head(answer);
    if let Some(usage) = answer.usage.filter(|_| answer.early) {
        start["usage"] = usage_json(usage, 1);
    }
    let mut events =
        vec![event("message_start", json!({"message": start})), event("ping", json!({}))];
    for (index, bit) in answer.said.blocks.iter().enumerate() {
        block_events(index, bit, &mut events);
    }
    let delta = json!({"stop_reason": stop(answer), "stop_sequence": null});
    let mut end = json!({"delta": delta});
    if let Some(usage) = answer.usage {
        end["usage"] = usage_json(usage, usage.output);
    }
    events.push(event("message_delta", end));
    events.push(event("message_stop", json!({})));
    events
}

fn head(answer: &Answer<'_>) -> Value {
    json!({
        "id": format!("msg_{:06}", answer.request.serial),
        "type": "message",
        "role": "assistant",
        "model": answer.request.model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
    })
}

fn stop(answer: &Answer<'_>) -> &'static str {
    stop_name(answer.said.stop, ["end_turn", "tool_use", "max_tokens", "refusal"])
}

fn usage_json(usage: Usage, output: u64) -> Value {
    json!({
        "input_tokens": usage.fresh,
        "cache_creation_input_tokens": usage.written,
        "cache_read_input_tokens": usage.read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.written,
            "ephemeral_1h_input_tokens": 0,
        },
        "output_tokens": output,
        "service_tier": "standard",
    })
}

fn block(bit: &Bit) -> Value {
    match bit {
        Bit::Text(text) => json!({"type": "text", "text": text}),
        Bit::Thinking(text) => {
            json!({"type": "thinking", "thinking": text, "signature": SIGNATURE})
        }
        Bit::Use(call) => {
            json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.input})
        }
    }
}

/// What thoughts are signed with; nobody checks it.
const SIGNATURE: &str = "c2NyaXB0ZWQ=";

fn block_events(index: usize, bit: &Bit, events: &mut Vec<String>) {
    let (begin, deltas) = match bit {
        Bit::Text(text) => {
            (json!({"type": "text", "text": ""}), deltas(text, "text_delta", "text"))
        }
        Bit::Thinking(text) => {
            let mut all = deltas(text, "thinking_delta", "thinking");
            all.push(json!({"type": "signature_delta", "signature": SIGNATURE}));
            (json!({"type": "thinking", "thinking": "", "signature": ""}), all)
        }
        Bit::Use(call) => (
            json!({"type": "tool_use", "id": call.id, "name": call.name, "input": {}}),
            deltas(&call.input_text(), "input_json_delta", "partial_json"),
        ),
    };
    events.push(event("content_block_start", json!({"index": index, "content_block": begin})));
    for delta in deltas {
        events.push(event("content_block_delta", json!({"index": index, "delta": delta})));
    }
    events.push(event("content_block_stop", json!({"index": index})));
}

fn deltas(text: &str, kind: &str, field: &str) -> Vec<Value> {
    pieces(text).into_iter().map(|piece| json!({"type": kind, field: piece})).collect()
}

fn event(name: &str, mut data: Value) -> String {
    data["type"] = name.into();
    named(name, &data)
}

/// What Anthropic says when it cannot.
pub(super) fn complain(request: &Request, complaint: Complaint) -> Complained {
    let (status, kind, message) = words(complaint);
    let body = json!({
        "type": "error",
        "error": {"type": kind, "message": message},
        "request_id": format!("req_{:06}", request.serial),
    });
    let headers = match complaint {
        Complaint::RateLimited { reset_unix_s: Some(at), .. } => used_up(at),
        _ => Vec::new(),
    };
    Complained { status, headers, body }
}

pub(super) fn complain_midway(request: &Request, complaint: Complaint) -> String {
    named("error", &complain(request, complaint).body)
}

fn words(complaint: Complaint) -> (u16, &'static str, &'static str) {
    match complaint {
        Complaint::RateLimited { .. } => (
            429,
            "rate_limit_error",
            "This request would exceed your account's rate limit. Please try again later.",
        ),
        Complaint::Overloaded => (529, "overloaded_error", "Overloaded"),
        Complaint::Internal => (500, "api_error", "Internal server error"),
        Complaint::Unauthorized => (401, "authentication_error", "invalid x-api-key"),
        Complaint::Overflow => {
            (400, "invalid_request_error", "prompt is too long: 213462 tokens > 200000 maximum")
        }
    }
}

/// What is said above an answer when what a subscription includes is used up until then.
fn used_up(at: u64) -> Vec<(String, String)> {
    let at = at.to_string();
    let about = [
        ("status", "rejected"),
        ("reset", &at),
        ("representative-claim", "five_hour"),
        ("5h-status", "rejected"),
        ("5h-reset", &at),
        ("5h-utilization", "1.0"),
        ("overage-status", "rejected"),
    ];
    let full = |(name, value): (&str, &str)| {
        (format!("anthropic-ratelimit-unified-{name}"), value.to_owned())
    };
    about.into_iter().map(full).collect()
}
