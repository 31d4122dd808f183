//! Anthropic's Messages.
//!
//! A prefix is cached where it is marked: what stays the same in every invocation of a role (tools and system), and the
//! ends of the last two messages of ours, so that each request finds all of the one before.

use serde_json::{Map, Value, json};

use super::{
    Asked, Complaint, Ear, Event, Posted, Refusal, Stop, Tool, Trouble, Turn, Used, Wire,
    by_status, data, in_words, input, is_too_long, number, string,
};
use crate::api::conversation::{Call, Message, Part, Who};
use crate::api::retry::header;

pub(super) struct Anthropic;

/// An answer has at most so many tokens, if nobody says: this provider wants to know.
const OUTPUT_TOKENS: u64 = 16_384;

impl Wire for Anthropic {
    fn post(&self, asked: &Asked<'_>) -> Posted {
        let mut body = json!({
            "model": asked.model,
            "max_tokens": asked.output_tokens_max.unwrap_or(OUTPUT_TOKENS),
            "stream": true,
            "system": [marked(json!({"type": "text", "text": asked.system}))],
            "messages": messages(asked.messages),
        });
        if !asked.tools.is_empty() {
            body["tools"] = asked.tools.iter().map(tool).collect();
        }
        if let Some(effort) = asked.effort {
            body["thinking"] = json!({"type": "adaptive"});
            body["output_config"] = json!({"effort": effort});
        }
        Posted { path: "/v1/messages".to_owned(), body }
    }

    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        let version = ("anthropic-version", "2023-06-01".to_owned());
        [version].into_iter().chain(key.map(|key| ("x-api-key", key.to_owned()))).collect()
    }

    fn ear(&self) -> Box<dyn Ear> {
        Box::new(Hearing::default())
    }

    fn complaint(&self, refusal: &Refusal<'_>) -> Complaint {
        let body: Value = serde_json::from_str(refusal.body).unwrap_or_default();
        let (kind, message) = (string(&body["error"]["type"]), string(&body["error"]["message"]));
        let trouble = match by_status(refusal) {
            Trouble::Busy(wait) => used_up(refusal).unwrap_or(Trouble::Busy(wait)),
            Trouble::Odd => named(&kind, &message),
            other => other,
        };
        Complaint::new(trouble, in_words(refusal, &message))
    }
}

/// What a subscription includes is used up until a time that is said.
fn used_up(refusal: &Refusal<'_>) -> Option<Trouble> {
    let status = header(refusal.headers, "anthropic-ratelimit-unified-status")?;
    let reset = header(refusal.headers, "anthropic-ratelimit-unified-reset");
    let until = reset.and_then(|it| it.parse::<i64>().ok()).and_then(|it| it.checked_mul(1_000));
    (status == "rejected").then_some(Trouble::UsedUp(until))
}

/// Trouble by the provider's own name for it.
fn named(kind: &str, message: &str) -> Trouble {
    match kind {
        "rate_limit_error" => Trouble::Busy(None),
        "overloaded_error" | "api_error" | "timeout_error" => Trouble::Down(None),
        "authentication_error" | "permission_error" | "billing_error" => Trouble::Unwelcome,
        "request_too_large" => Trouble::Overflow,
        _ if is_too_long(message) => Trouble::Overflow,
        _ => Trouble::Odd,
    }
}

fn marked(mut block: Value) -> Value {
    block["cache_control"] = json!({"type": "ephemeral"});
    block
}

fn tool(tool: &Tool) -> Value {
    json!({"name": tool.name, "description": tool.about, "input_schema": tool.schema})
}

fn messages(messages: &[Message]) -> Vec<Value> {
    let ours = messages.iter().enumerate().filter(|(_, message)| message.who == Who::User);
    let ends: Vec<usize> = ours.map(|(at, _)| at).rev().take(2).collect();
    let each = messages.iter().enumerate().map(|(at, message)| {
        let mut blocks: Vec<Value> = message.parts.iter().map(block).collect();
        if let Some(last) = blocks.last_mut().filter(|_| ends.contains(&at)) {
            *last = marked(last.take());
        }
        let role = if message.who == Who::Model { "assistant" } else { "user" };
        json!({"role": role, "content": blocks})
    });
    each.collect()
}

fn block(part: &Part) -> Value {
    match part {
        Part::Text { text } => json!({"type": "text", "text": text}),
        Part::Call(call) => {
            json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.input})
        }
        Part::Result(outcome) => json!({
            "type": "tool_result",
            "tool_use_id": outcome.id,
            "content": outcome.text,
            "is_error": outcome.failed,
        }),
        Part::Kept { value } => value.clone(),
    }
}

#[derive(Default)]
struct Hearing {
    blocks: Vec<Block>,
    used: Option<Used>,
    stop: Option<String>,
    ended: bool,
}

/// A block of an answer, as far as it was heard.
struct Block {
    index: u64,
    /// As it was begun; what is heard later is added to it.
    begun: Map<String, Value>,
    /// What a tool is given, as text.
    given: String,
}

impl Ear for Hearing {
    fn hear(&mut self, event: &Event) -> Result<(), Complaint> {
        let data = data(event)?;
        match data["type"].as_str() {
            Some("message_start") => self.uses(&data["message"]["usage"]),
            Some("content_block_start") => {
                let begun = data["content_block"].as_object().cloned().unwrap_or_default();
                let index = number(&data["index"]);
                self.blocks.push(Block { index, begun, given: String::new() });
            }
            Some("content_block_delta") => self.delta(number(&data["index"]), &data["delta"]),
            Some("message_delta") => {
                self.uses(&data["usage"]);
                self.stop = data["delta"]["stop_reason"].as_str().map(str::to_owned);
            }
            Some("message_stop") => self.ended = true,
            Some("error") => {
                let message = string(&data["error"]["message"]);
                let trouble = named(&string(&data["error"]["type"]), &message);
                return Err(Complaint::new(trouble, message));
            }
            _ => {}
        }
        Ok(())
    }

    fn used(&self) -> Option<Used> {
        self.used
    }

    fn turn(self: Box<Self>) -> Option<Turn> {
        if !self.ended {
            return None;
        }
        let stop = match self.stop.as_deref() {
            Some("max_tokens") => Stop::Length,
            Some("refusal") => Stop::Refused,
            Some("model_context_window_exceeded") => Stop::Overflow,
            _ => Stop::End,
        };
        Some(Turn { parts: self.blocks.into_iter().filter_map(Block::part).collect(), stop })
    }
}

impl Hearing {
    /// What was used up is said twice, the second time with more.
    fn uses(&mut self, usage: &Value) {
        if !usage.is_object() {
            return;
        }
        let before = self.used.unwrap_or_default();
        let most = |key: &str, before: u64| number(&usage[key]).max(before);
        self.used = Some(Used {
            input: most("input_tokens", before.input),
            cached: most("cache_read_input_tokens", before.cached),
            cache_write: most("cache_creation_input_tokens", before.cache_write),
            output: most("output_tokens", before.output),
        });
    }

    fn delta(&mut self, index: u64, delta: &Value) {
        let Some(block) = self.blocks.iter_mut().find(|block| block.index == index) else { return };
        if let Some(piece) = delta["partial_json"].as_str() {
            block.given.push_str(piece);
        }
        for key in ["text", "thinking", "signature"] {
            if let Some(piece) = delta[key].as_str() {
                let so_far = block.begun.get(key).and_then(Value::as_str).unwrap_or_default();
                block.begun.insert(key.to_owned(), format!("{so_far}{piece}").into());
            }
        }
    }
}

impl Block {
    fn part(self) -> Option<Part> {
        let text = |key: &str| self.begun.get(key).map(string).unwrap_or_default();
        match text("type").as_str() {
            "text" => Some(text("text")).filter(|text| !text.is_empty()).map(Part::text),
            "tool_use" => {
                let given = match self.given.is_empty() {
                    true => self.begun.get("input").cloned().unwrap_or(json!({})),
                    false => input(&self.given),
                };
                let (id, name) = (text("id"), text("name"));
                Some(Part::Call(Call { id, name, input: given, signature: None }))
            }
            "thinking" | "redacted_thinking" => Some(Part::Kept { value: self.begun.into() }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_our_last_two_messages_are_marked_and_what_stays_the_same() {
        let mut all = Vec::new();
        for at in 0..5 {
            all.push(Message::user(format!("user {at}")));
            all.push(Message { who: Who::Model, parts: vec![Part::text("model")] });
        }
        let asked = Asked {
            model: "m",
            system: "s",
            messages: &all[..9],
            tools: &[],
            effort: None,
            output_tokens_max: None,
            at_home: true,
        };
        let body = Anthropic.post(&asked).body;
        let marks: Vec<usize> = body["messages"]
            .as_array()
            .unwrap()
            .iter()
            .enumerate()
            .filter(|(_, message)| message.to_string().contains("cache_control"))
            .map(|(at, _)| at)
            .collect();
        assert_eq!(marks, [6, 8]);
        assert!(body["system"][0]["cache_control"].is_object());
        assert_eq!(body["max_tokens"], OUTPUT_TOKENS);
        assert!(body.get("thinking").is_none() && body.get("tools").is_none());
        let body = Anthropic.post(&Asked { effort: Some("high"), ..asked }).body;
        assert_eq!(body["output_config"]["effort"], "high");
    }
}
