//! OpenAI's Responses. Nothing is stored there: what was said is sent each time, with what the model thought, sealed.

use serde_json::{Value, json};

use super::chat::{self, named};
use super::{
    Asked, Complaint, Ear, Event, Posted, Refusal, Stop, Tool, Trouble, Turn, Used, Wire, data,
    input, list, number, string,
};
use crate::api::conversation::{Call, Message, Part, Who};

pub(super) struct Responses;

/// Models that do not think, and do not take it well when asked for what they thought.
const THOUGHTLESS: &[&str] = &["gpt-3", "gpt-4", "chatgpt"];

impl Wire for Responses {
    fn post(&self, asked: &Asked<'_>) -> Posted {
        let mut body = json!({
            "model": asked.model,
            "stream": true,
            "store": false,
            "instructions": asked.system,
            "input": asked.messages.iter().flat_map(items).collect::<Vec<_>>(),
        });
        if !THOUGHTLESS.iter().any(|start| asked.model.starts_with(start)) {
            body["include"] = json!(["reasoning.encrypted_content"]);
        }
        if !asked.tools.is_empty() {
            body["tools"] = asked.tools.iter().map(tool).collect();
            body["parallel_tool_calls"] = true.into();
        }
        if asked.at_home {
            // Requests that begin alike go to the same machine, which has what they begin with.
            body["prompt_cache_key"] = format!("windlass-{:016x}", digest(asked.system)).into();
        }
        if let Some(effort) = asked.effort {
            body["reasoning"] = json!({"effort": effort});
        }
        if let Some(most) = asked.output_tokens_max {
            body["max_output_tokens"] = most.into();
        }
        Posted { path: "/responses".to_owned(), body }
    }

    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        chat::Chat.headers(key)
    }

    fn ear(&self) -> Box<dyn Ear> {
        Box::new(Hearing::default())
    }

    fn complaint(&self, refusal: &Refusal<'_>) -> Complaint {
        chat::complaint(refusal)
    }
}

/// The same number for the same text, wherever it is asked for (FNV-1a).
fn digest(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

fn tool(tool: &Tool) -> Value {
    json!({
        "type": "function",
        "name": tool.name,
        "description": tool.about,
        "parameters": tool.schema,
        "strict": false,
    })
}

fn items(message: &Message) -> Vec<Value> {
    message.parts.iter().map(|part| item(message.who, part)).collect()
}

fn item(who: Who, part: &Part) -> Value {
    match part {
        Part::Text { text } => {
            let (role, kind) = match who {
                Who::Model => ("assistant", "output_text"),
                Who::User => ("user", "input_text"),
            };
            json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
        }
        Part::Call(call) => json!({
            "type": "function_call",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.input.to_string(),
        }),
        Part::Result(outcome) => json!({
            "type": "function_call_output",
            "call_id": outcome.id,
            "output": outcome.text,
        }),
        Part::Kept { value } => value.clone(),
    }
}

#[derive(Default)]
struct Hearing {
    parts: Vec<Part>,
    refused: bool,
    used: Option<Used>,
    stop: Option<Stop>,
}

impl Ear for Hearing {
    fn hear(&mut self, event: &Event) -> Result<(), Complaint> {
        let data = data(event)?;
        match data["type"].as_str() {
            Some("response.output_item.done") => self.item(&data["item"]),
            Some(end @ ("response.completed" | "response.incomplete")) => {
                self.end(end == "response.incomplete", &data["response"]);
            }
            Some("response.failed") => return Err(failed(&data["response"]["error"])),
            Some("error") => {
                let error = if data["error"].is_object() { &data["error"] } else { &data };
                return Err(failed(error));
            }
            _ => {}
        }
        Ok(())
    }

    fn used(&self) -> Option<Used> {
        self.used
    }

    fn turn(self: Box<Self>) -> Option<Turn> {
        let stop = self.stop?;
        let stop = if self.refused && stop == Stop::End { Stop::Refused } else { stop };
        Some(Turn { parts: self.parts, stop })
    }
}

fn failed(error: &Value) -> Complaint {
    let message = string(&error["message"]);
    let by_words = || super::is_too_long(&message).then_some(Trouble::Overflow);
    let trouble = named(error).or_else(by_words).unwrap_or(Trouble::Down(None));
    Complaint::new(trouble, message)
}

impl Hearing {
    fn item(&mut self, item: &Value) {
        match item["type"].as_str() {
            Some("message") => {
                for part in list(&item["content"]) {
                    self.refused |= part["type"] == "refusal";
                    let text = string(&part["text"]);
                    if !text.is_empty() {
                        self.parts.push(Part::text(text));
                    }
                }
            }
            Some("function_call") => self.parts.push(Part::Call(Call {
                id: string(&item["call_id"]),
                name: string(&item["name"]),
                input: input(item["arguments"].as_str().unwrap_or_default()),
                signature: None,
            })),
            // What was not sealed cannot be given back.
            Some("reasoning") if item["encrypted_content"].is_string() => {
                let mut value = item.clone();
                if let Some(value) = value.as_object_mut() {
                    value.remove("status");
                }
                self.parts.push(Part::Kept { value });
            }
            _ => {}
        }
    }

    fn end(&mut self, incomplete: bool, response: &Value) {
        let reason = response["incomplete_details"]["reason"].as_str();
        self.stop = Some(match (incomplete, reason) {
            (true, Some("content_filter")) => Stop::Refused,
            (true, _) => Stop::Length,
            (false, _) => Stop::End,
        });
        let usage = &response["usage"];
        if usage.is_object() {
            let cached = number(&usage["input_tokens_details"]["cached_tokens"]);
            self.used = Some(Used {
                input: number(&usage["input_tokens"]).saturating_sub(cached),
                cached,
                cache_write: 0,
                output: number(&usage["output_tokens"]),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_alike_has_the_same_key() {
        assert_eq!(digest(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(digest("a"), 0xaf63_dc4c_8601_ec8c);
        let asked = |model, at_home| Asked {
            model,
            system: "s",
            messages: &[],
            tools: &[],
            effort: Some("low"),
            output_tokens_max: Some(9),
            at_home,
        };
        let body = Responses.post(&asked("gpt-5.2", true)).body;
        assert!(body["prompt_cache_key"].as_str().unwrap().starts_with("windlass-"));
        assert_eq!(body["include"], json!(["reasoning.encrypted_content"]));
        assert_eq!(
            (&body["reasoning"]["effort"], &body["max_output_tokens"]),
            (&json!("low"), &json!(9))
        );
        let body = Responses.post(&asked("gpt-4.1", false)).body;
        assert!(body.get("include").is_none() && body.get("prompt_cache_key").is_none());
    }
}
