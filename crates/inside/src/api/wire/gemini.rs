//! Google's generateContent.

use std::time::Duration;

use serde_json::{Value, json};

use super::{
    Asked, Complaint, Ear, Event, Posted, Refusal, Stop, Tool, Trouble, Turn, Used, Wire,
    by_status, called, data, in_words, is_too_long, list, number, string,
};
use crate::api::conversation::{Call, Message, Part, Who};

pub(super) struct Gemini;

impl Wire for Gemini {
    fn post(&self, asked: &Asked<'_>) -> Posted {
        let mut body = json!({
            "systemInstruction": {"parts": [{"text": asked.system}]},
            "contents": asked.messages.iter().map(content).collect::<Vec<_>>(),
        });
        if !asked.tools.is_empty() {
            let tools: Vec<Value> = asked.tools.iter().map(tool).collect();
            body["tools"] = json!([{"functionDeclarations": tools}]);
        }
        if let Some(effort) = asked.effort {
            body["generationConfig"]["thinkingConfig"] = json!({"thinkingLevel": effort});
        }
        if let Some(most) = asked.output_tokens_max {
            body["generationConfig"]["maxOutputTokens"] = most.into();
        }
        let path = format!("/v1beta/models/{}:streamGenerateContent?alt=sse", asked.model);
        Posted { path, body }
    }

    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        key.map(|key| ("x-goog-api-key", key.to_owned())).into_iter().collect()
    }

    fn ear(&self) -> Box<dyn Ear> {
        Box::new(Hearing::default())
    }

    fn complaint(&self, refusal: &Refusal<'_>) -> Complaint {
        let body: Value = serde_json::from_str(refusal.body).unwrap_or_default();
        // Some answers to a stream are a list of one.
        let error = if body.is_array() { &body[0]["error"] } else { &body["error"] };
        let message = string(&error["message"]);
        let trouble = match by_status(refusal) {
            Trouble::Busy(wait) => busy(error, wait),
            Trouble::Odd => named(error, &message),
            other => other,
        };
        Complaint::new(trouble, in_words(refusal, &message))
    }
}

/// Too many requests: for a minute or so, or for the day.
fn busy(error: &Value, wait: Option<Duration>) -> Trouble {
    let details = list(&error["details"]);
    let quotas = details.iter().flat_map(|detail| list(&detail["violations"]));
    let a_day = |quota: &Value| quota["quotaId"].as_str().is_some_and(|id| id.contains("PerDay"));
    if quotas.into_iter().any(a_day) {
        return Trouble::UsedUp(None);
    }
    let delay = details.iter().find_map(|detail| detail["retryDelay"].as_str());
    let seconds = delay.and_then(|delay| delay.strip_suffix('s')?.parse::<f64>().ok());
    let said = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    Trouble::Busy(said.or(wait))
}

/// Trouble by the provider's own name for it.
fn named(error: &Value, message: &str) -> Trouble {
    let reasons = list(&error["details"]).iter().filter_map(|detail| detail["reason"].as_str());
    let mut reasons = reasons.chain(error["status"].as_str());
    if reasons
        .clone()
        .any(|it| matches!(it, "API_KEY_INVALID" | "UNAUTHENTICATED" | "PERMISSION_DENIED"))
    {
        return Trouble::Unwelcome;
    }
    if reasons.clone().any(|it| it == "RESOURCE_EXHAUSTED") {
        return busy(error, None);
    }
    if reasons.any(|it| matches!(it, "UNAVAILABLE" | "INTERNAL" | "DEADLINE_EXCEEDED")) {
        return Trouble::Down(None);
    }
    if is_too_long(message) { Trouble::Overflow } else { Trouble::Odd }
}

fn tool(tool: &Tool) -> Value {
    json!({"name": tool.name, "description": tool.about, "parametersJsonSchema": tool.schema})
}

fn content(message: &Message) -> Value {
    let role = if message.who == Who::Model { "model" } else { "user" };
    json!({"role": role, "parts": message.parts.iter().map(part).collect::<Vec<_>>()})
}

fn part(part: &Part) -> Value {
    match part {
        Part::Text { text } => json!({"text": text}),
        Part::Call(call) => {
            let mut json = json!({"functionCall": {"name": call.name, "args": call.input}});
            if let Some(id) = given_id(&call.id) {
                json["functionCall"]["id"] = id.into();
            }
            if let Some(signature) = &call.signature {
                json["thoughtSignature"] = signature.as_str().into();
            }
            json
        }
        Part::Result(outcome) => {
            let key = if outcome.failed { "error" } else { "output" };
            let response = json!({key: outcome.text});
            let mut json =
                json!({"functionResponse": {"name": outcome.name, "response": response}});
            if let Some(id) = given_id(&outcome.id) {
                json["functionResponse"]["id"] = id.into();
            }
            json
        }
        Part::Kept { value } => value.clone(),
    }
}

/// Calls that come without a name get one from us, which is none of the provider's business.
const OWN_ID: &str = "windlass-";

fn given_id(id: &str) -> Option<&str> {
    (!id.starts_with(OWN_ID)).then_some(id)
}

#[derive(Default)]
struct Hearing {
    text: String,
    calls: Vec<Call>,
    used: Option<Used>,
    stop: Option<Stop>,
    /// The answer's own name: those of calls are made of it.
    answer: String,
}

impl Ear for Hearing {
    fn hear(&mut self, event: &Event) -> Result<(), Complaint> {
        let data = data(event)?;
        if data["error"].is_object() {
            let message = string(&data["error"]["message"]);
            return Err(Complaint::new(named(&data["error"], &message), message));
        }
        if let Some(answer) = data["responseId"].as_str() {
            answer.clone_into(&mut self.answer);
        }
        if data["usageMetadata"].is_object() {
            self.used = Some(used(&data["usageMetadata"]));
        }
        if data["promptFeedback"]["blockReason"].is_string() {
            self.stop = Some(Stop::Refused);
        }
        for candidate in list(&data["candidates"]) {
            list(&candidate["content"]["parts"]).iter().for_each(|part| self.part(part));
            if let Some(reason) = candidate["finishReason"].as_str() {
                self.stop = Some(stop(reason));
            }
        }
        Ok(())
    }

    fn used(&self) -> Option<Used> {
        self.used
    }

    fn turn(self: Box<Self>) -> Option<Turn> {
        let stop = self.stop?;
        Some(Turn { parts: called(vec![Part::text(self.text)], self.calls), stop })
    }
}

impl Hearing {
    fn part(&mut self, part: &Value) {
        if part["thought"] == true {
            return;
        }
        self.text.push_str(part["text"].as_str().unwrap_or_default());
        let call = &part["functionCall"];
        if call.is_object() {
            let own = || format!("{OWN_ID}{}-{}", self.answer, self.calls.len());
            let id = call["id"].as_str().filter(|id| !id.is_empty());
            let input = if call["args"].is_object() { call["args"].clone() } else { json!({}) };
            self.calls.push(Call {
                id: id.map_or_else(own, str::to_owned),
                name: string(&call["name"]),
                input,
                signature: part["thoughtSignature"].as_str().map(str::to_owned),
            });
        }
    }
}

fn stop(reason: &str) -> Stop {
    match reason {
        "MAX_TOKENS" => Stop::Length,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "LANGUAGE"
        | "IMAGE_SAFETY" => Stop::Refused,
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "MALFORMED_RESPONSE" => Stop::Garbled,
        _ => Stop::End,
    }
}

/// Of what was read, some was in the cache; what was thought is written, too.
fn used(usage: &Value) -> Used {
    let cached = number(&usage["cachedContentTokenCount"]);
    let read = number(&usage["promptTokenCount"])
        .saturating_add(number(&usage["toolUsePromptTokenCount"]));
    Used {
        input: read.saturating_sub(cached),
        cached,
        cache_write: 0,
        output: number(&usage["candidatesTokenCount"])
            .saturating_add(number(&usage["thoughtsTokenCount"])),
    }
}
