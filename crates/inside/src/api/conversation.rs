//! What was said so far, in words that are the same for every provider.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Who says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Who {
    /// Whoever asks: prompts, and what tools said.
    User,
    /// The model.
    Model,
}

/// Something that was said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Message {
    pub who: Who,
    pub parts: Vec<Part>,
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "part", rename_all = "snake_case")]
pub(super) enum Part {
    /// Text.
    Text { text: String },
    /// The model wants a tool to be used.
    Call(Call),
    /// What came of that.
    Result(Outcome),
    /// What a provider wants to have back just as it was: what the model thought, signed.
    Kept { value: Value },
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Call {
    pub id: String,
    pub name: String,
    /// What it is given: an object.
    pub input: Value,
    /// What the provider wants to have back with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Outcome {
    /// The call's.
    pub id: String,
    /// The tool's.
    pub name: String,
    pub text: String,
    pub failed: bool,
}

impl Part {
    pub fn text(text: impl Into<String>) -> Self {
        Part::Text { text: text.into() }
    }

    /// How many bytes it is about.
    fn bytes(&self) -> usize {
        match self {
            Part::Text { text } => text.len(),
            Part::Call(call) => call.name.len() + call.input.to_string().len(),
            Part::Result(outcome) => outcome.text.len(),
            Part::Kept { value } => value.to_string().len(),
        }
    }
}

impl Message {
    pub fn user(text: impl Into<String>) -> Self {
        Message { who: Who::User, parts: vec![Part::text(text)] }
    }

    /// The tools that it wants to be used.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call),
            _ => None,
        })
    }

    /// What tools said in it.
    fn outcomes(&self) -> impl Iterator<Item = &Outcome> {
        self.parts.iter().filter_map(|part| match part {
            Part::Result(outcome) => Some(outcome),
            _ => None,
        })
    }

    /// All its text.
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text { text } => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// About how many tokens it has.
    pub fn tokens(&self) -> u64 {
        tokens(self.parts.iter().map(Part::bytes).sum::<usize>() + 16)
    }
}

/// About how many tokens so many bytes are.
pub(super) fn tokens(bytes: usize) -> u64 {
    bytes as u64 / 4 + 1
}

/// Everything that was said so far. The first message is the task.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Conversation {
    pub messages: Vec<Message>,
}

impl Conversation {
    /// Adds what somebody says. What one side says without the other in between is one message.
    pub fn push(&mut self, message: Message) {
        match self.messages.last_mut() {
            Some(last) if last.who == message.who => last.parts.extend(message.parts),
            _ => self.messages.push(message),
        }
    }

    /// Calls of the model's last message that nothing came of yet.
    pub fn open(&self) -> Vec<Call> {
        let Some(at) = self.messages.iter().rposition(|message| message.who == Who::Model) else {
            return Vec::new();
        };
        let after = &self.messages[at + 1..];
        let is_answered =
            |call: &&Call| !after.iter().flat_map(Message::outcomes).any(|it| it.id == call.id);
        self.messages[at].calls().filter(is_answered).cloned().collect()
    }

    /// About how many tokens it has.
    pub fn tokens(&self) -> u64 {
        self.messages.iter().map(Message::tokens).sum()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(id: &str) -> Part {
        let (id, name) = (id.to_owned(), "read".to_owned());
        Part::Call(Call { id, name, input: json!({"path": "a"}), signature: None })
    }

    fn result(id: &str) -> Message {
        let (id, name, text) = (id.to_owned(), "read".to_owned(), "x".to_owned());
        Message {
            who: Who::User,
            parts: vec![Part::Result(Outcome { id, name, text, failed: false })],
        }
    }

    #[test]
    fn what_one_side_says_is_one_message_and_what_is_not_answered_is_open() {
        let mut talk = Conversation::default();
        talk.push(Message::user("do it"));
        talk.push(Message { who: Who::Model, parts: vec![call("a"), call("b")] });
        let open =
            |talk: &Conversation| talk.open().into_iter().map(|it| it.id).collect::<Vec<_>>();
        assert_eq!(open(&talk), ["a", "b"]);
        talk.push(result("a"));
        assert_eq!(open(&talk), ["b"]);
        talk.push(result("b"));
        talk.push(Message::user("go on"));
        assert_eq!(open(&talk), [""; 0]);
        assert_eq!(talk.messages.len(), 3);
        assert_eq!(talk.messages[2].parts.len(), 3);
    }

    #[test]
    fn a_message_comes_back_from_its_line_as_it_was() {
        let kept = Part::Kept { value: json!({"type": "thinking", "signature": "s"}) };
        let message =
            Message { who: Who::Model, parts: vec![kept, Part::text("I look."), call("a")] };
        let line = serde_json::to_string(&message).unwrap();
        assert_eq!(serde_json::from_str::<Message>(&line).unwrap(), message);
    }
}
