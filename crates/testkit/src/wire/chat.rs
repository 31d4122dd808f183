//! OpenAI's Chat Completions, which many others speak too.

use serde_json::{Value, json};

use super::{
    Answer, Complained, function, list, openai, other, parsed, stop_name, string, text_of, unnamed,
    whole_piece,
};
use crate::cache::Piece;
use crate::fault::Complaint;
use crate::reply::{Bit, Stop, Use, pieces};
use crate::request::{Message, Part, Request, Role};
use crate::usage::Usage;

/// Takes the body apart.
pub(super) fn read(request: &mut Request) {
    let body = &request.body;
    let is_system =
        |message: &&Value| matches!(message["role"].as_str(), Some("system" | "developer"));
    let (system, rest): (Vec<_>, Vec<_>) = list(&body["messages"]).iter().partition(is_system);
    let system: Vec<_> = system.iter().map(|message| text_of(&message["content"])).collect();
    request.system = system.join("\n");
    request.messages = rest.into_iter().map(message).collect();
    let tools = list(&body["tools"]).iter().map(|tool| &tool["function"]);
    request.tools = tools.map(|tool| function(&tool["name"], &tool["parameters"])).collect();
    let most = [&body["max_completion_tokens"], &body["max_tokens"]];
    request.tokens_max = most.into_iter().find_map(Value::as_u64);
    let format = &body["response_format"];
    let asks = format["type"] == "json_schema";
    request.schema = asks.then(|| format["json_schema"]["schema"].clone());
}

fn message(json: &Value) -> Message {
    let mut parts = match &json["content"] {
        Value::String(text) => vec![Part::Text(text.clone())],
        content => list(content).iter().map(part).collect(),
    };
    match json["role"].as_str() {
        Some("assistant") => {
            if let Some(thought) = json["reasoning_content"].as_str() {
                parts.insert(0, Part::Thinking(thought.to_owned()));
            }
            parts.extend(list(&json["tool_calls"]).iter().map(call));
            Message { role: Role::Assistant, parts }
        }
        Some("tool") => {
            let text = text_of(&json["content"]);
            let part = Part::Result { id: string(&json["tool_call_id"]), text, failed: false };
            Message { role: Role::User, parts: vec![part] }
        }
        _ => Message { role: Role::User, parts },
    }
}

fn part(json: &Value) -> Part {
    match json["type"].as_str() {
        Some("text") => Part::Text(string(&json["text"])),
        _ => other(json),
    }
}

fn call(json: &Value) -> Part {
    let given = &json["function"];
    let input = parsed(given["arguments"].as_str().unwrap_or_default());
    Part::Call { id: string(&json["id"]), name: string(&given["name"]), input }
}

/// The prompt as OpenAI puts it together.
pub(super) fn prompt(request: &Request) -> Vec<Piece> {
    let body = &request.body;
    let parts = [list(&body["tools"]), list(&body["messages"])].into_iter().flatten();
    std::iter::once(&body["response_format"]).chain(parts).map(whole_piece).collect()
}

/// The answer at once.
pub(super) fn whole(answer: &Answer<'_>) -> Value {
    let mut message = json!({"role": "assistant", "content": null});
    let mut calls = Vec::new();
    for bit in &answer.said.blocks {
        match bit {
            Bit::Text(text) => append(&mut message[text_field(answer)], text),
            Bit::Thinking(text) => append(&mut message["reasoning_content"], text),
            Bit::Use(used) => calls.push(call_json(used, &used.input_text())),
        }
    }
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    let choice = json!({"index": 0, "message": message, "finish_reason": stop(answer)});
    let mut all = head(answer, "chat.completion");
    all["choices"] = json!([choice]);
    if let Some(usage) = answer.usage {
        all["usage"] = usage_json(usage);
    }
    all
}

fn append(field: &mut Value, text: &str) {
    *field = format!("{}{text}", field.as_str().unwrap_or_default()).into();
}

/// The answer event by event. What it came to is said at the end, to those who asked for it.
pub(super) fn events(answer: &Answer<'_>) -> Vec<String> {
    let mut events = vec![event(answer, &json!({"role": "assistant", "content": ""}), None)];
    let mut index = 0;
    for bit in &answer.said.blocks {
        let mut push = |delta: Value| events.push(event(answer, &delta, None));
        match bit {
            Bit::Text(text) => {
                pieces(text).into_iter().for_each(|piece| push(json!({text_field(answer): piece})));
            }
            Bit::Thinking(text) => {
                pieces(text)
                    .into_iter()
                    .for_each(|piece| push(json!({"reasoning_content": piece})));
            }
            Bit::Use(used) => {
                let mut begin = call_json(used, "");
                begin["index"] = index.into();
                push(json!({"tool_calls": [begin]}));
                for piece in pieces(&used.input_text()) {
                    let more = json!({"index": index, "function": {"arguments": piece}});
                    push(json!({"tool_calls": [more]}));
                }
                index += 1;
            }
        }
    }
    events.push(event(answer, &json!({}), Some(stop(answer))));
    let asked = answer.request.body["stream_options"]["include_usage"] == true;
    if let Some(usage) = answer.usage.filter(|_| asked || !answer.early) {
        let mut last = head(answer, "chat.completion.chunk");
        last["choices"] = json!([]);
        last["usage"] = usage_json(usage);
        events.push(unnamed(&last));
    }
    events.push("data: [DONE]\n\n".to_owned());
    events
}

fn event(answer: &Answer<'_>, delta: &Value, stop: Option<&str>) -> String {
    let mut chunk = head(answer, "chat.completion.chunk");
    chunk["choices"] = json!([{"index": 0, "delta": delta, "finish_reason": stop}]);
    unnamed(&chunk)
}

fn head(answer: &Answer<'_>, object: &str) -> Value {
    json!({
        "id": format!("chatcmpl-{:06}", answer.request.serial),
        "object": object,
        "created": super::CREATED,
        "model": answer.request.model,
    })
}

fn call_json(used: &Use, arguments: &str) -> Value {
    let given = json!({"name": used.name, "arguments": arguments});
    json!({"id": used.id, "type": "function", "function": given})
}

fn text_field(answer: &Answer<'_>) -> &'static str {
    if answer.said.stop == Stop::Refusal { "refusal" } else { "content" }
}

fn stop(answer: &Answer<'_>) -> &'static str {
    stop_name(answer.said.stop, ["stop", "tool_calls", "length", "content_filter"])
}

fn usage_json(usage: Usage) -> Value {
    json!({
        "prompt_tokens": usage.input(),
        "completion_tokens": usage.output,
        "total_tokens": usage.input() + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.read},
    })
}

/// What OpenAI says when it cannot.
pub(super) fn complain(request: &Request, complaint: Complaint) -> Complained {
    let mut said = openai::complain(request, complaint);
    if complaint == Complaint::Overflow {
        said.body["error"]["message"] =
            "This model's maximum context length is 128000 tokens. However, your messages resulted in \
             131072 tokens. Please reduce the length of the messages."
                .into();
        said.body["error"]["param"] = "messages".into();
    }
    said
}

pub(super) fn complain_midway(request: &Request, complaint: Complaint) -> String {
    unnamed(&complain(request, complaint).body)
}
