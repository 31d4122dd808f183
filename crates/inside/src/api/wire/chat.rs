//! OpenAI's Chat Completions, which most servers of one's own speak too: so nothing is asked of them that is not needed.

use serde_json::{Value, json};

use super::{
    Asked, Complaint, Ear, Event, Posted, Refusal, Stop, Trouble, Turn, Used, Wire, by_status,
    called, data, input, list, number, string,
};
use super::{in_words, is_too_long};
use crate::api::conversation::{Call, Message, Part, Who};

pub(super) struct Chat;

impl Wire for Chat {
    fn post(&self, asked: &Asked<'_>) -> Posted {
        let system = json!({"role": "system", "content": asked.system});
        let said = asked.messages.iter().flat_map(message);
        let messages: Vec<Value> = [system].into_iter().chain(said).collect();
        let mut body = json!({
            "model": asked.model,
            "stream": true,
            "stream_options": {"include_usage": true},
            "messages": messages,
        });
        if !asked.tools.is_empty() {
            let tool = |tool: &super::Tool| {
                let function = json!({"name": tool.name, "description": tool.about, "parameters": tool.schema});
                json!({"type": "function", "function": function})
            };
            body["tools"] = asked.tools.iter().map(tool).collect();
        }
        if let Some(effort) = asked.effort {
            body["reasoning_effort"] = effort.into();
        }
        if let Some(most) = asked.output_tokens_max {
            // The older name is the one that others know.
            let name = if asked.at_home { "max_completion_tokens" } else { "max_tokens" };
            body[name] = most.into();
        }
        Posted { path: "/chat/completions".to_owned(), body }
    }

    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        key.map(|key| ("authorization", format!("Bearer {key}"))).into_iter().collect()
    }

    fn ear(&self) -> Box<dyn Ear> {
        Box::new(Hearing::default())
    }

    fn complaint(&self, refusal: &Refusal<'_>) -> Complaint {
        complaint(refusal)
    }
}

/// What OpenAI, and who speaks like it, says when it cannot.
pub(super) fn complaint(refusal: &Refusal<'_>) -> Complaint {
    let body: Value = serde_json::from_str(refusal.body).unwrap_or_default();
    let error = match &body["error"] {
        Value::Null => &body,
        error => error,
    };
    let message = match error {
        Value::String(message) => message.clone(),
        error => string(&error["message"]),
    };
    let trouble = match (named(error), by_status(refusal)) {
        // How long to wait is said above.
        (Some(Trouble::Busy(_) | Trouble::Down(_)) | None, by_status) => match by_status {
            Trouble::Odd if is_too_long(&message) => Trouble::Overflow,
            other => other,
        },
        (Some(known), _) => known,
    };
    Complaint::new(trouble, in_words(refusal, &message))
}

/// Trouble by the provider's own name for it.
pub(super) fn named(error: &Value) -> Option<Trouble> {
    let names = [&error["code"], &error["type"]];
    names.into_iter().filter_map(Value::as_str).find_map(|name| {
        Some(match name {
            "context_length_exceeded" | "exceed_context_size_error" => Trouble::Overflow,
            "usage_limit_reached" => {
                let until = error["resets_at"].as_i64().and_then(|it| it.checked_mul(1_000));
                Trouble::UsedUp(until)
            }
            "insufficient_quota" | "billing_hard_limit_reached" => Trouble::UsedUp(None),
            "invalid_api_key" => Trouble::Unwelcome,
            "rate_limit_exceeded" => Trouble::Busy(None),
            "server_error" | "server_is_overloaded" | "slow_down" => Trouble::Down(None),
            _ => return None,
        })
    })
}

/// What was said, as one message or several: each thing that a tool said is one of its own.
fn message(message: &Message) -> Vec<Value> {
    match message.who {
        Who::Model => vec![assistant(message)],
        Who::User => {
            let results = message.parts.iter().filter_map(|part| match part {
                Part::Result(it) => {
                    Some(json!({"role": "tool", "tool_call_id": it.id, "content": it.text}))
                }
                _ => None,
            });
            let text = message.text();
            let said = (!text.is_empty()).then(|| json!({"role": "user", "content": text}));
            results.chain(said).collect()
        }
    }
}

fn assistant(message: &Message) -> Value {
    let text = message.text();
    let content = if text.is_empty() { Value::Null } else { text.into() };
    let mut all = json!({"role": "assistant", "content": content});
    let calls: Vec<Value> = message
        .calls()
        .map(|call| {
            let function = json!({"name": call.name, "arguments": call.input.to_string()});
            json!({"id": call.id, "type": "function", "function": function})
        })
        .collect();
    if calls.is_empty() {
        return all;
    }
    all["tool_calls"] = calls.into();
    // Who says what the model thought wants it back while tools are used.
    for part in &message.parts {
        if let Part::Kept { value } = part {
            all[THOUGHT] = value[THOUGHT].clone();
        }
    }
    all
}

/// Where a server says what the model thought, if it does.
const THOUGHT: &str = "reasoning_content";

#[derive(Default)]
struct Hearing {
    text: String,
    thought: String,
    refused: bool,
    calls: Vec<Begun>,
    used: Option<Used>,
    stop: Option<String>,
}

/// A call, as far as it was heard.
#[derive(Default)]
struct Begun {
    index: u64,
    id: String,
    name: String,
    given: String,
}

impl Ear for Hearing {
    fn hear(&mut self, event: &Event) -> Result<(), Complaint> {
        if event.data.trim() == "[DONE]" {
            return Ok(());
        }
        let data = data(event)?;
        if !data["error"].is_null() {
            let message = string(&data["error"]["message"]);
            let trouble = named(&data["error"]).unwrap_or(Trouble::Down(None));
            return Err(Complaint::new(trouble, message));
        }
        if data["usage"].is_object() {
            self.used = Some(used(&data["usage"]));
        }
        for choice in list(&data["choices"]) {
            self.delta(&choice["delta"]);
            if let Some(stop) = choice["finish_reason"].as_str() {
                self.stop = Some(stop.to_owned());
            }
        }
        Ok(())
    }

    fn used(&self) -> Option<Used> {
        self.used
    }

    fn turn(self: Box<Self>) -> Option<Turn> {
        let stop = match self.stop.as_deref()? {
            "length" => Stop::Length,
            "content_filter" => Stop::Refused,
            _ if self.refused => Stop::Refused,
            _ => Stop::End,
        };
        let mut parts = Vec::new();
        if !self.thought.is_empty() {
            parts.push(Part::Kept { value: json!({THOUGHT: self.thought}) });
        }
        parts.push(Part::text(self.text));
        let calls = self.calls.into_iter().map(|call| {
            let id = if call.id.is_empty() { format!("call-{}", call.index) } else { call.id };
            Call { id, name: call.name, input: input(&call.given), signature: None }
        });
        Some(Turn { parts: called(parts, calls.collect()), stop })
    }
}

impl Hearing {
    fn delta(&mut self, delta: &Value) {
        self.text.push_str(delta["content"].as_str().unwrap_or_default());
        self.thought.push_str(delta[THOUGHT].as_str().unwrap_or_default());
        self.refused |= delta["refusal"].as_str().is_some_and(|it| !it.is_empty());
        for (at, call) in list(&delta["tool_calls"]).iter().enumerate() {
            let index = call["index"].as_u64().unwrap_or(at as u64);
            self.call(index, call);
        }
    }

    fn call(&mut self, index: u64, call: &Value) {
        let id = call["id"].as_str().unwrap_or_default();
        // Some servers give every call the same index, and each an id of its own.
        let same = |own: &&mut Begun| {
            own.index == index && (id.is_empty() || own.id.is_empty() || own.id == id)
        };
        if self.calls.iter_mut().rev().find(same).is_none() {
            self.calls.push(Begun { index, ..Begun::default() });
        }
        let Some(own) = self.calls.iter_mut().rev().find(same) else { return };
        if own.id.is_empty() {
            id.clone_into(&mut own.id);
        }
        if own.name.is_empty() {
            own.name = string(&call["function"]["name"]);
        }
        own.given.push_str(call["function"]["arguments"].as_str().unwrap_or_default());
    }
}

/// Of what was read, some was in the cache.
fn used(usage: &Value) -> Used {
    let cached = number(&usage["prompt_tokens_details"]["cached_tokens"]);
    Used {
        input: number(&usage["prompt_tokens"]).saturating_sub(cached),
        cached,
        cache_write: 0,
        output: number(&usage["completion_tokens"]),
    }
}
