//! What an agent asked, in words that are the same for every provider.

use std::fmt;

use serde_json::Value;

/// Whose words a request is in.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Api {
    /// Anthropic's Messages.
    Messages,
    /// OpenAI's Responses.
    Responses,
    /// OpenAI's Chat Completions.
    Chat,
    /// Google's Gemini.
    Gemini,
}

impl Api {
    /// All of them.
    pub const ALL: [Api; 4] = [Api::Messages, Api::Responses, Api::Chat, Api::Gemini];

    /// Its name in scripts and logs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Api::Messages => "messages",
            Api::Responses => "responses",
            Api::Chat => "chat",
            Api::Gemini => "gemini",
        }
    }
}

impl fmt::Display for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a request is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Purpose {
    /// To hear what comes next.
    Answer,
    /// To hear how many tokens it has. The server counts them itself; the brain is not asked.
    Count,
}

/// Who says something.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Role {
    /// The person, or the agent in their place; also where results of tools are.
    User,
    /// The model.
    Assistant,
}

/// Something that was said.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// By whom.
    pub role: Role,
    /// What.
    pub parts: Vec<Part>,
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Text.
    Text(String),
    /// What the model thought, as far as it is shown.
    Thinking(String),
    /// A tool that the model called.
    Call {
        /// The call.
        id: String,
        /// The tool.
        name: String,
        /// What it was given: an object, or text for a tool that takes text.
        input: Value,
    },
    /// What came of such a call.
    Result {
        /// The call.
        id: String,
        /// What it said.
        text: String,
        /// Whether the agent says that it failed.
        failed: bool,
    },
    /// Something else, by its type: an image, a reference.
    Other(String),
}

/// In which form a tool is called.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Form {
    /// With an object.
    Function,
    /// With text, as Codex' `apply_patch` and `exec` are.
    Text,
    /// With a command, in a form of its own: OpenAI's `local_shell`.
    LocalShell,
}

/// A tool that the agent offers.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// How it is called.
    pub form: Form,
    /// What it takes, as a JSON schema; null for a tool that takes text.
    pub schema: Value,
    /// The namespace it is in, if any.
    pub namespace: Option<String>,
}

/// A request.
#[derive(Clone, Debug)]
pub struct Request {
    /// The how-manieth it is at this server, from 1.
    pub serial: u64,
    /// Whose words it is in.
    pub api: Api,
    /// What it is for.
    pub purpose: Purpose,
    /// Where it went, with what follows a question mark.
    pub path: String,
    /// What it said above its body. Names are in small letters.
    pub headers: Vec<(String, String)>,
    /// The key it came with.
    pub key: Option<String>,
    /// The model it is for.
    pub model: String,
    /// What the model is told before everything else.
    pub system: String,
    /// Everything that was said so far.
    pub messages: Vec<Message>,
    /// What the model may use.
    pub tools: Vec<Tool>,
    /// How long an answer may be.
    pub tokens_max: Option<u64>,
    /// The form that the answer is to have. (Claude Code asks for one with a tool instead.)
    pub schema: Option<Value>,
    /// Whether the answer is wanted bit by bit.
    pub streamed: bool,
    /// Its body.
    pub body: Value,
    /// Its body, as it came.
    pub raw: Vec<u8>,
}

impl Request {
    /// A header; its name in small letters.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The tool of that name.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// All the text in it: what the model is told, what was said, and what tools said.
    #[must_use]
    pub fn text(&self) -> String {
        let mut all = vec![self.system.as_str()];
        for message in &self.messages {
            all.extend(message.parts.iter().filter_map(Part::text));
        }
        all.join("\n")
    }

    /// All the text of the last message of the user that has any. Results of tools are not text.
    #[must_use]
    pub fn last_user_text(&self) -> String {
        let users = self.messages.iter().rev().filter(|message| message.role == Role::User);
        let mut texts = users.map(Message::text).filter(|text| !text.is_empty());
        texts.next().unwrap_or_default()
    }

    /// What tools said since the model spoke last.
    #[must_use]
    pub fn tool_results(&self) -> Vec<&str> {
        let start = self.messages.iter().rposition(|message| message.role == Role::Assistant);
        let new = &self.messages[start.map_or(0, |at| at + 1)..];
        let parts = new.iter().flat_map(|message| &message.parts);
        parts
            .filter_map(|part| match part {
                Part::Result { text, .. } => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }

    /// How often the model has spoken so far.
    #[must_use]
    pub fn answers(&self) -> usize {
        let mut count = 0;
        let mut before = Role::User;
        for message in &self.messages {
            if message.role == Role::Assistant && before != Role::Assistant {
                count += 1;
            }
            before = message.role;
        }
        count
    }

    /// The role that Windlass asks the agent to take, from the heading of its prompts.
    #[must_use]
    pub fn role(&self) -> Option<String> {
        let text = self.text();
        let (_, after) = text.split_once("# Your role: ")?;
        Some(after.lines().next().unwrap_or_default().trim().to_owned())
    }

    /// Where Windlass wants a file to be written, by its name, from the list in its prompts.
    #[must_use]
    pub fn promised(&self, name: &str) -> Option<String> {
        let text = self.text();
        let (_, after) = text.split_once(&format!("\n- {name}: `"))?;
        Some(after.split_once('`')?.0.to_owned())
    }

    /// Whether the conversation is to be summed up because it has become too long. Such a request offers tools and looks
    /// like the work, but for its last words.
    #[must_use]
    pub fn is_summary(&self) -> bool {
        let last = self.messages.last().map(Message::text).unwrap_or_default();
        SUMMARY.iter().any(|words| last.contains(words))
    }

    /// Whether it is not about the work: a count of tokens, a summary, or a title for the session. A request for a title
    /// offers no tools, and the little that the model is told speaks of a title or a topic.
    #[must_use]
    pub fn is_side(&self) -> bool {
        let system = self.system.to_lowercase();
        let is_title = system.len() < TITLE_BYTES_MAX
            && ["title", "topic"].iter().any(|word| system.contains(word));
        self.purpose == Purpose::Count || self.is_summary() || (self.tools.is_empty() && is_title)
    }
}

/// What a model is told that is to find a title is shorter; what one is told that is to work is longer.
const TITLE_BYTES_MAX: usize = 6000;

/// How Claude Code, Codex, opencode and the built-in agent ask for a summary.
const SUMMARY: &[&str] = &[
    "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.",
    "CONTEXT CHECKPOINT COMPACTION",
    "Output exactly the Markdown structure shown inside <template>",
    "Sum up the work so far, for whoever goes on with it.",
];

impl Message {
    /// Its text, without results of tools.
    #[must_use]
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

impl Part {
    fn text(&self) -> Option<&str> {
        match self {
            Part::Text(text) | Part::Thinking(text) | Part::Result { text, .. } => Some(text),
            Part::Call { .. } | Part::Other(_) => None,
        }
    }
}
