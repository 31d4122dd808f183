//! What an agent is answered, in words that are the same for every provider.

use serde_json::Value;

use crate::call::Call;
use crate::fault::{Complaint, Fault, Then};
use crate::request::Form;
use crate::usage::{Tokens, tokens};

/// What an agent is answered.
#[derive(Clone, Debug)]
pub enum Reply {
    /// As a model does.
    Turn(Turn),
    /// As a provider in trouble does.
    Fault(Fault),
}

/// What a model says at once.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    /// What it is made of.
    pub blocks: Vec<Block>,
    /// Why it ends; by itself, or for a tool if one is called, unless that is said.
    pub stop: Option<Stop>,
    /// What it says that it came to.
    pub tokens: Tokens,
}

/// A part of what a model says.
#[derive(Clone, Debug)]
pub enum Block {
    /// Text.
    Text(String),
    /// What it thinks.
    Thinking(String),
    /// A tool that it calls.
    Call(Call),
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stop {
    /// It has said what it had to say.
    End,
    /// It wants to know what a tool says.
    ToolUse,
    /// There was no more room for its answer.
    TokensMax,
    /// It, or the provider, will not.
    Refusal,
}

impl Reply {
    /// Text, and the end.
    pub fn text(text: impl Into<String>) -> Self {
        Turn::new().text(text).into()
    }

    /// A call of a tool.
    #[must_use]
    pub fn call(call: Call) -> Self {
        Turn::new().call(call).into()
    }

    /// A command.
    pub fn shell(command: impl Into<String>) -> Self {
        Reply::call(Call::shell(command))
    }

    /// A file written.
    pub fn write(path: impl Into<String>, text: impl Into<String>) -> Self {
        Reply::call(Call::write(path, text))
    }

    /// An answer in the form that was asked for.
    #[must_use]
    pub fn structured(answer: Value) -> Self {
        Reply::call(Call::structured(answer))
    }

    /// The model, or the provider, will not.
    pub fn refusal(text: impl Into<String>) -> Self {
        Turn::new().text(text).stop(Stop::Refusal).into()
    }

    /// An answer that there was no room for.
    pub fn tokens_max(text: impl Into<String>) -> Self {
        Turn::new().text(text).stop(Stop::TokensMax).into()
    }

    /// What the provider answers instead.
    #[must_use]
    pub fn complaint(complaint: Complaint) -> Self {
        Fault::Complaint(complaint).into()
    }

    /// A stream that is cut after so many events.
    #[must_use]
    pub fn cut(after: usize, turn: Turn) -> Self {
        Fault::Midway { after, turn, then: Then::Cut }.into()
    }

    /// A stream that says no more after so many events.
    #[must_use]
    pub fn hang(after: usize, turn: Turn) -> Self {
        Fault::Midway { after, turn, then: Then::Hang }.into()
    }
}

impl From<Turn> for Reply {
    fn from(turn: Turn) -> Self {
        Reply::Turn(turn)
    }
}

impl From<Fault> for Reply {
    fn from(fault: Fault) -> Self {
        Reply::Fault(fault)
    }
}

impl Turn {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Turn::default()
    }

    /// With text.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.blocks.push(Block::Text(text.into()));
        self
    }

    /// With thoughts.
    #[must_use]
    pub fn thinking(mut self, text: impl Into<String>) -> Self {
        self.blocks.push(Block::Thinking(text.into()));
        self
    }

    /// With a call of a tool.
    #[must_use]
    pub fn call(mut self, call: Call) -> Self {
        self.blocks.push(Block::Call(call));
        self
    }

    /// With a reason to stop.
    #[must_use]
    pub fn stop(mut self, stop: Stop) -> Self {
        self.stop = Some(stop);
        self
    }

    /// With what it says that it came to.
    #[must_use]
    pub fn tokens(mut self, tokens: Tokens) -> Self {
        self.tokens = tokens;
        self
    }
}

/// A turn in which every tool is one that the agent offers.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    /// What it is made of.
    pub blocks: Vec<Bit>,
    /// Why it ends.
    pub stop: Stop,
}

/// A part of such a turn.
#[derive(Clone, Debug)]
pub(crate) enum Bit {
    /// Text.
    Text(String),
    /// What the model thinks.
    Thinking(String),
    /// A tool that it calls.
    Use(Use),
}

/// A call of a tool that the agent offers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Use {
    /// The call.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The namespace the tool is in, if any.
    pub namespace: Option<String>,
    /// How it is called.
    pub form: Form,
    /// What it is given: an object, or text.
    pub input: Value,
}

impl Use {
    /// What the tool is given, as text.
    pub fn input_text(&self) -> String {
        match &self.input {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

impl Said {
    /// How many tokens it has; at least one.
    pub fn output_tokens(&self) -> u64 {
        let chars = self.blocks.iter().map(|bit| match bit {
            Bit::Text(text) | Bit::Thinking(text) => text.chars().count(),
            Bit::Use(call) => call.name.len() + call.input_text().chars().count(),
        });
        tokens(chars.sum()).max(1)
    }
}

/// A text in a few pieces, as it comes in a stream: of 24 characters, or more if that would be more than 16 pieces.
pub(crate) fn pieces(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let length = 24.max(chars.len().div_ceil(16));
    chars.chunks(length).map(|piece| piece.iter().collect()).collect()
}
