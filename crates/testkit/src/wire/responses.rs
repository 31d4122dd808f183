//! OpenAI's Responses.

use serde_json::{Value, json};

use super::{
    Answer, CREATED, function, list, named, openai, other, parsed, string, text_of, whole_piece,
};
use crate::cache::Piece;
use crate::fault::Complaint;
use crate::reply::{Bit, Stop, Use, pieces};
use crate::request::{Form, Message, Part, Request, Role, Tool};
use crate::usage::Usage;

/// Takes the body apart.
pub(super) fn read(request: &mut Request) {
    let body = &request.body;
    let mut system = vec![string(&body["instructions"])];
    let mut tools: Vec<_> = list(&body["tools"]).iter().flat_map(|json| tool(json, None)).collect();
    let mut messages = Vec::new();
    match &body["input"] {
        Value::String(text) => {
            messages.push(Message { role: Role::User, parts: vec![Part::Text(text.clone())] });
        }
        input => {
            for item in list(input) {
                if matches!(item["role"].as_str(), Some("developer" | "system")) {
                    system.push(text_of(&item["content"]));
                    tools.extend(list(&item["tools"]).iter().flat_map(|json| tool(json, None)));
                } else {
                    said(item, &mut messages);
                }
            }
        }
    }
    system.retain(|text| !text.is_empty());
    let format = &body["text"]["format"];
    let schema = (format["type"] == "json_schema").then(|| format["schema"].clone());
    request.tokens_max = body["max_output_tokens"].as_u64();
    request.schema = schema;
    request.system = system.join("\n");
    request.tools = tools;
    request.messages = messages;
}

/// A tool, or all the tools of a namespace. Tools of the provider's own, as a search, are none of the agent's.
fn tool(json: &Value, namespace: Option<&str>) -> Vec<Tool> {
    let namespace_of = |tool: Tool| Tool { namespace: namespace.map(str::to_owned), ..tool };
    match json["type"].as_str() {
        Some("function") => vec![namespace_of(function(&json["name"], &json["parameters"]))],
        Some("custom") => {
            let tool = function(&json["name"], &Value::Null);
            vec![namespace_of(Tool { form: Form::Text, ..tool })]
        }
        Some("local_shell") => {
            let tool = function(&"local_shell".into(), &Value::Null);
            vec![Tool { form: Form::LocalShell, ..tool }]
        }
        Some("namespace") => {
            let name = json["name"].as_str();
            list(&json["tools"]).iter().flat_map(|one| tool(one, name)).collect()
        }
        _ => Vec::new(),
    }
}

/// Adds an item; what one side says without the other in between is one message.
fn said(item: &Value, messages: &mut Vec<Message>) {
    let (role, parts) = item_parts(item);
    match messages.last_mut() {
        Some(last) if last.role == role && role == Role::Assistant => last.parts.extend(parts),
        _ => messages.push(Message { role, parts }),
    }
}

fn item_parts(item: &Value) -> (Role, Vec<Part>) {
    let call = |input| {
        let part = Part::Call { id: string(&item["call_id"]), name: string(&item["name"]), input };
        (Role::Assistant, vec![part])
    };
    match item["type"].as_str() {
        Some("message") | None => {
            let role = if item["role"] == "assistant" { Role::Assistant } else { Role::User };
            let parts = match &item["content"] {
                Value::String(text) => vec![Part::Text(text.clone())],
                content => list(content).iter().map(content_part).collect(),
            };
            (role, parts)
        }
        Some("reasoning") => (Role::Assistant, vec![Part::Thinking(text_of(&item["summary"]))]),
        Some("function_call") => call(parsed(&string(&item["arguments"]))),
        Some("custom_tool_call") => call(item["input"].clone()),
        Some("local_shell_call") => call(item["action"]["command"].clone()),
        Some("function_call_output" | "custom_tool_call_output" | "local_shell_call_output") => {
            let text = text_of(&item["output"]);
            let part = Part::Result { id: string(&item["call_id"]), text, failed: false };
            (Role::User, vec![part])
        }
        _ => (Role::User, vec![other(item)]),
    }
}

fn content_part(json: &Value) -> Part {
    match json["type"].as_str() {
        Some("input_text" | "output_text" | "text") => Part::Text(string(&json["text"])),
        Some("refusal") => Part::Text(string(&json["refusal"])),
        _ => other(json),
    }
}

/// The prompt as OpenAI puts it together. The ids of items are not part of it.
pub(super) fn prompt(request: &Request) -> Vec<Piece> {
    let body = &request.body;
    let mut pieces = vec![whole_piece(&body["text"]["format"])];
    pieces.extend(list(&body["tools"]).iter().map(whole_piece));
    pieces.push(whole_piece(&body["instructions"]));
    match &body["input"] {
        Value::Array(items) => pieces.extend(items.iter().map(|item| {
            let mut item = item.clone();
            if let Some(item) = item.as_object_mut() {
                item.remove("id");
                item.remove("status");
            }
            whole_piece(&item)
        })),
        input => pieces.push(whole_piece(input)),
    }
    pieces
}

/// The answer at once.
pub(super) fn whole(answer: &Answer<'_>) -> Value {
    let output = answer.said.blocks.iter().enumerate().map(|(index, bit)| item(answer, index, bit));
    let output: Vec<_> = output.collect();
    let mut response = head(answer, "completed");
    response["output"] = output.into();
    if answer.said.stop == Stop::TokensMax {
        response["status"] = "incomplete".into();
        response["incomplete_details"] = json!({"reason": "max_output_tokens"});
    }
    if let Some(usage) = answer.usage {
        response["usage"] = usage_json(usage);
    }
    response
}

/// The answer event by event.
pub(super) fn events(answer: &Answer<'_>) -> Vec<String> {
    let mut events = Events { list: Vec::new() };
    events.push("response.created", json!({"response": head(answer, "in_progress")}));
    events.push("response.in_progress", json!({"response": head(answer, "in_progress")}));
    for (index, bit) in answer.said.blocks.iter().enumerate() {
        item_events(answer, index, bit, &mut events);
    }
    let end = match answer.said.stop {
        Stop::TokensMax => "response.incomplete",
        Stop::End | Stop::ToolUse | Stop::Refusal => "response.completed",
    };
    events.push(end, json!({"response": whole(answer)}));
    events.list
}

struct Events {
    list: Vec<String>,
}

impl Events {
    fn push(&mut self, name: &str, mut data: Value) {
        data["type"] = name.into();
        data["sequence_number"] = self.list.len().into();
        self.list.push(named(name, &data));
    }
}

fn head(answer: &Answer<'_>, status: &str) -> Value {
    json!({
        "id": format!("resp_{:06}", answer.request.serial),
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "model": answer.request.model,
        "output": [],
        "error": null,
        "incomplete_details": null,
        "usage": null,
    })
}

fn usage_json(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.input(),
        "input_tokens_details": {"cached_tokens": usage.read},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.input() + usage.output,
    })
}

fn id(answer: &Answer<'_>, index: usize, bit: &Bit) -> String {
    let kind = match bit {
        Bit::Text(_) => "msg",
        Bit::Thinking(_) => "rs",
        Bit::Use(Use { form: Form::Function, .. }) => "fc",
        Bit::Use(Use { form: Form::Text, .. }) => "ctc",
        Bit::Use(Use { form: Form::LocalShell, .. }) => "lsh",
    };
    format!("{kind}_{:06}_{index}", answer.request.serial)
}

fn item(answer: &Answer<'_>, index: usize, bit: &Bit) -> Value {
    let mut item = match bit {
        Bit::Text(text) => json!({
            "type": "message",
            "role": "assistant",
            "content": [text_part(answer, text)],
        }),
        Bit::Thinking(text) => json!({
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": text}],
            "encrypted_content": "c2NyaXB0ZWQ=",
        }),
        Bit::Use(call) => call_item(call),
    };
    item["id"] = id(answer, index, bit).into();
    item["status"] = "completed".into();
    item
}

fn text_part(answer: &Answer<'_>, text: &str) -> Value {
    if answer.said.stop == Stop::Refusal {
        json!({"type": "refusal", "refusal": text})
    } else {
        json!({"type": "output_text", "text": text, "annotations": []})
    }
}

fn call_item(call: &Use) -> Value {
    let mut item = match call.form {
        Form::Function => json!({"type": "function_call", "arguments": call.input_text()}),
        Form::Text => json!({"type": "custom_tool_call", "input": call.input_text()}),
        Form::LocalShell => json!({
            "type": "local_shell_call",
            "action": {"type": "exec", "command": call.input, "env": {}},
        }),
    };
    item["call_id"] = call.id.clone().into();
    if call.form != Form::LocalShell {
        item["name"] = call.name.clone().into();
    }
    if let Some(namespace) = &call.namespace {
        item["namespace"] = namespace.clone().into();
    }
    item
}

fn item_events(answer: &Answer<'_>, index: usize, bit: &Bit, events: &mut Events) {
    let done = item(answer, index, bit);
    let mut begun = done.clone();
    begun["status"] = "in_progress".into();
    for (field, empty) in [
        ("content", json!([])),
        ("summary", json!([])),
        ("arguments", json!("")),
        ("input", json!("")),
    ] {
        if begun.get(field).is_some() {
            begun[field] = empty;
        }
    }
    events.push("response.output_item.added", json!({"output_index": index, "item": begun}));
    let place = json!({"item_id": done["id"], "output_index": index});
    match bit {
        Bit::Text(text) => text_events(answer, &place, text, events),
        Bit::Thinking(text) => {
            let place = with(&place, json!({"summary_index": 0}));
            let part = json!({"type": "summary_text", "text": ""});
            events
                .push("response.reasoning_summary_part.added", with(&place, json!({"part": part})));
            bits(&place, "response.reasoning_summary_text", "text", text, events);
            let part = json!({"type": "summary_text", "text": text});
            events
                .push("response.reasoning_summary_part.done", with(&place, json!({"part": part})));
        }
        Bit::Use(call) => match call.form {
            Form::Function => {
                let name = "response.function_call_arguments";
                bits(&place, name, "arguments", &call.input_text(), events);
            }
            Form::Text => {
                let name = "response.custom_tool_call_input";
                bits(&place, name, "input", &call.input_text(), events);
            }
            Form::LocalShell => {}
        },
    }
    events.push("response.output_item.done", json!({"output_index": index, "item": done}));
}

fn text_events(answer: &Answer<'_>, place: &Value, text: &str, events: &mut Events) {
    let place = with(place, json!({"content_index": 0}));
    let part = |text| json!({"part": text_part(answer, text)});
    events.push("response.content_part.added", with(&place, part("")));
    let (name, field) = match answer.said.stop {
        Stop::Refusal => ("response.refusal", "refusal"),
        Stop::End | Stop::ToolUse | Stop::TokensMax => ("response.output_text", "text"),
    };
    bits(&place, name, field, text, events);
    events.push("response.content_part.done", with(&place, part(text)));
}

/// A text bit by bit, and then at once.
fn bits(place: &Value, name: &str, field: &str, text: &str, events: &mut Events) {
    for piece in pieces(text) {
        events.push(&format!("{name}.delta"), with(place, json!({"delta": piece})));
    }
    events.push(&format!("{name}.done"), with(place, json!({field: text})));
}

fn with(place: &Value, more: Value) -> Value {
    let mut all = place.clone();
    if let (Value::Object(all), Value::Object(more)) = (&mut all, more) {
        all.extend(more);
    }
    all
}

/// A complaint in the middle of a stream.
pub(super) fn complain_midway(request: &Request, complaint: Complaint) -> String {
    let (_, _, code, message) = openai::words(complaint);
    let data = json!({
        "type": "response.failed",
        "response": {
            "id": format!("resp_{:06}", request.serial),
            "object": "response",
            "status": "failed",
            "error": {"code": code, "message": message},
        },
    });
    named("response.failed", &data)
}
