//! How each provider says things: a conversation into a request of its, events of its into what the model said, and what
//! it complains about into one of a few kinds of trouble. One file for each.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use std::time::Duration;

use serde_json::{Value, json};
use windlass_agents::api::Format;

use super::conversation::{Call, Message, Part};
use super::retry::{Headers, asked_to_wait};
use super::sse::Event;

/// What a model is asked.
pub(super) struct Asked<'a> {
    pub model: &'a str,
    /// What comes before everything else, and stays the same.
    pub system: &'a str,
    pub messages: &'a [Message],
    pub tools: &'a [Tool],
    pub effort: Option<&'a str>,
    /// How many tokens the answer may have.
    pub output_tokens_max: Option<u64>,
    /// The provider's own place is asked, and not one that only speaks like it.
    pub at_home: bool,
}

/// A tool that the model may use.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tool {
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// What it is given, as a JSON schema.
    pub schema: Value,
}

/// A request, ready to be sent.
#[derive(Debug, PartialEq)]
pub(super) struct Posted {
    /// Where to, after the base.
    pub path: String,
    pub body: Value,
}

/// What a request used up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Used {
    /// Read anew.
    pub input: u64,
    /// Read from the provider's cache.
    pub cached: u64,
    /// Written to it.
    pub cache_write: u64,
    /// Written by the model.
    pub output: u64,
}

impl Used {
    pub fn total(self) -> u64 {
        let sum = self.input.saturating_add(self.cached).saturating_add(self.cache_write);
        sum.saturating_add(self.output)
    }
}

/// What a model said at once.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Turn {
    pub parts: Vec<Part>,
    pub stop: Stop,
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// It has said what it had to say, or wants to know what tools say.
    End,
    /// There was no more room for its answer.
    Length,
    /// It, or the provider, will not.
    Refused,
    /// It called a tool in a way that nobody can read.
    Garbled,
    /// The window is full.
    Overflow,
}

/// What kind of trouble a provider is in, or makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// Too many requests for now.
    Busy(Option<Duration>),
    /// What may be used is used up until this time, in milliseconds since 1970.
    UsedUp(Option<i64>),
    /// It cannot serve just now.
    Down(Option<Duration>),
    /// It was not reached, or went away in the middle.
    Cut,
    /// It does not let us in.
    Unwelcome,
    /// The request is too long for the model.
    Overflow,
    /// Anything else: asking again would not help.
    Odd,
}

/// What a provider says instead of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Complaint {
    pub trouble: Trouble,
    /// In its own words.
    pub message: String,
}

impl Complaint {
    pub fn new(trouble: Trouble, message: impl Into<String>) -> Self {
        Complaint { trouble, message: message.into() }
    }
}

/// An answer that is none.
pub(super) struct Refusal<'a> {
    pub status: u16,
    pub headers: &'a Headers,
    pub body: &'a str,
    /// In milliseconds since 1970.
    pub now_ms: i64,
}

/// How a provider says things.
pub(super) trait Wire: Sync {
    /// A conversation as a request.
    fn post(&self, asked: &Asked<'_>) -> Posted;

    /// What goes above a request besides, with the key if there is one.
    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)>;

    /// Who hears an answer, event by event.
    fn ear(&self) -> Box<dyn Ear>;

    /// What an answer means that is none.
    fn complaint(&self, refusal: &Refusal<'_>) -> Complaint;
}

/// Hears an answer, event by event.
pub(super) trait Ear {
    /// One more event.
    fn hear(&mut self, event: &Event) -> Result<(), Complaint>;

    /// What it used up, as far as that was said.
    fn used(&self) -> Option<Used>;

    /// What was said, if it was heard to its end.
    fn turn(self: Box<Self>) -> Option<Turn>;
}

/// The one for a format.
pub(super) fn of(format: Format) -> &'static dyn Wire {
    match format {
        Format::Anthropic => &anthropic::Anthropic,
        Format::Openai => &responses::Responses,
        Format::OpenaiChat => &chat::Chat,
        Format::Gemini => &gemini::Gemini,
    }
}

/// What an event holds.
fn data(event: &Event) -> Result<Value, Complaint> {
    serde_json::from_str(&event.data).map_err(|error| {
        Complaint::new(Trouble::Cut, format!("an event that cannot be read: {error}"))
    })
}

/// A number that is there, or none.
fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// What a model gives to a tool, from its text. What cannot be read is kept, for the model to be told.
fn input(text: &str) -> Value {
    if text.trim().is_empty() {
        return json!({});
    }
    match serde_json::from_str(text) {
        Ok(input @ Value::Object(_)) => input,
        _ => json!({ UNREADABLE: text }),
    }
}

/// Where it stands what a model gave to a tool that cannot be read.
pub(super) const UNREADABLE: &str = "unreadable";

/// The parts of an answer with its calls, in the order in which they were begun.
fn called(parts: Vec<Part>, calls: Vec<Call>) -> Vec<Part> {
    let parts =
        parts.into_iter().filter(|part| !matches!(part, Part::Text { text } if text.is_empty()));
    parts.chain(calls.into_iter().map(Part::Call)).collect()
}

/// What a status means, whoever says it.
fn by_status(refusal: &Refusal<'_>) -> Trouble {
    let wait = asked_to_wait(refusal.headers, refusal.now_ms);
    match refusal.status {
        401..=403 => Trouble::Unwelcome,
        413 => Trouble::Overflow,
        429 => Trouble::Busy(wait),
        408 | 409 | 425 | 500.. => Trouble::Down(wait),
        _ => Trouble::Odd,
    }
}

/// What a body is about, in a few words of the provider's.
fn in_words(refusal: &Refusal<'_>, message: &str) -> String {
    let words = if message.is_empty() { refusal.body.trim() } else { message };
    let words = words.get(..words.floor_char_boundary(MESSAGE_BYTES)).unwrap_or_default();
    format!("{}: {words}", refusal.status)
}

/// So much of a complaint is passed on.
const MESSAGE_BYTES: usize = 600;

/// Whether a complaint is about the length of a request, where no field of it says so.
fn is_too_long(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    let signs = [
        "prompt is too long",
        "maximum context length",
        "context length exceeded",
        "context window",
        "context size",
        "exceeds the maximum number of tokens",
        "input length and `max_tokens` exceed context limit",
        "too many tokens",
    ];
    signs.iter().any(|sign| message.contains(sign))
}

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;
