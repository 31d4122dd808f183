//! A scratch repository whose agent is a real one, and a model server for it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use windlass_agents::api::Format;
use windlass_testkit::{Reply, Request, Server};

use crate::acp::documented;
use crate::agents::with_agents;
use crate::alive::Alive;
use crate::bubblewrap::with_bubblewrap;
use crate::scratch::{Followed, Scratch};

/// Which agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    Claude,
    Codex,
    /// The built-in one, in the words of a provider.
    Api(Format),
    /// Gemini CLI, as a server of the Agent Client Protocol.
    GeminiAcp,
    /// opencode, as one.
    OpencodeAcp,
    Gemini,
    Opencode,
}

impl Who {
    pub const BOTH: [Who; 2] = [Who::Claude, Who::Codex];
    /// Those that do not take a core each for ten seconds to say anything.
    pub const QUICK: [Who; 3] = [Who::Claude, Who::Codex, Who::Gemini];
    pub const ALL: [Who; 4] = [Who::Claude, Who::Codex, Who::Gemini, Who::Opencode];

    pub fn name(self) -> &'static str {
        match self {
            Who::Claude => "claude",
            Who::Codex => "codex",
            Who::Api(Format::Anthropic) => "anthropic",
            Who::Api(Format::Openai) => "openai",
            Who::Api(Format::OpenaiChat) => "openai-chat",
            Who::Api(Format::Gemini) => "gemini",
            Who::GeminiAcp => "gemini-acp",
            Who::OpencodeAcp => "opencode-acp",
            Who::Gemini => "gemini",
            Who::Opencode => "opencode",
        }
    }

    /// What windlass.toml says of it: where its model is, and what that costs.
    pub fn config(self, server: &Server) -> String {
        let url = server.url();
        let price = "input = 3.0, output = 15.0, cached = 0.3, cache-write = 3.75";
        match self {
            Who::Claude => format!(
                "[agents.claude]\nkind = 'claude'\nbase-url = '{url}'\n\
                 env = ['ANTHROPIC_API_KEY', 'CLAUDE_CODE_OAUTH_TOKEN', 'CLAUDE_CODE_MAX_RETRIES']\n\
                 models = {{ strong = 'claude-sonnet-4-5', standard = 'claude-sonnet-4-5', fast = 'claude-sonnet-4-5' }}\n\
                 prices = {{ claude-sonnet-4-5 = {{ {price} }} }}\n"
            ),
            Who::Codex => format!(
                "[agents.codex]\nkind = 'codex'\nbase-url = '{url}/v1'\n\
                 models = {{ strong = 'gpt-5.2', standard = 'gpt-5.2', fast = 'gpt-5.2' }}\n\
                 prices = {{ 'gpt-5.2' = {{ {price} }} }}\n"
            ),
            Who::Api(format) => {
                let name = self.name();
                let path = match format {
                    Format::Anthropic | Format::Gemini => "",
                    Format::Openai | Format::OpenaiChat => "/v1",
                };
                format!(
                    "[agents.{name}]\nkind = 'api'\napi = '{name}'\nbase-url = '{url}{path}'\n\
                     models = {{ standard = 'm-1' }}\nprices = {{ m-1 = {{ {price} }} }}\n"
                )
            }
            Who::GeminiAcp | Who::OpencodeAcp => documented(self.name(), server),
            Who::Gemini => format!(
                "[agents.gemini]\nkind = 'gemini'\nbase-url = '{url}'\n\
                 models = {{ strong = 'gemini-2.5-pro', standard = 'gemini-2.5-pro', fast = 'gemini-2.5-pro' }}\n\
                 prices = {{ 'gemini-2.5-pro' = {{ {price} }} }}\n"
            ),
            Who::Opencode => format!(
                "[agents.opencode]\nkind = 'opencode'\nbase-url = '{url}/v1'\nkey = 'OPENCODE_KEY'\n\
                 models = {{ strong = 'some-model', standard = 'some-model', fast = 'some-model' }}\n\
                 prices = {{ some-model = {{ {price} }} }}\n"
            ),
        }
    }

    /// The words of its command.
    pub fn words(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Who::Claude => ("claude", &[]),
            Who::Codex => ("codex", &[]),
            Who::Gemini => ("gemini", &[]),
            Who::Opencode => ("opencode", &[]),
            Who::GeminiAcp => ("gemini", &["--acp"]),
            Who::OpencodeAcp => ("opencode", &["acp"]),
            Who::Api(_) => panic!("it is no program of its own"),
        }
    }

    /// The variable that its key is in.
    pub fn key(self) -> &'static str {
        match self {
            Who::Claude | Who::Api(Format::Anthropic) => "ANTHROPIC_API_KEY",
            Who::Codex | Who::Api(Format::Openai | Format::OpenaiChat) => "OPENAI_API_KEY",
            Who::GeminiAcp | Who::Api(Format::Gemini) => "GEMINI_API_KEY",
            Who::OpencodeAcp => "EXAMPLE_KEY",
            Who::Gemini => "GEMINI_API_KEY",
            Who::Opencode => "OPENCODE_KEY",
        }
    }

    /// What it is started with: a key that opens nothing.
    pub fn keys(self, command: &mut Command) {
        command.env(self.key(), "test-key-1");
        if self == Who::Claude {
            command.env("CLAUDE_CODE_MAX_RETRIES", "1");
        }
    }
}

/// A repository with one task, and who does it.
pub struct Rig {
    pub who: Who,
    pub server: Server,
    pub scratch: Scratch,
}

pub const TASKS: &str = "[[task]]\nid = 'hello'\ntitle = 'Say hello'\ncareful = false\n";

impl Rig {
    /// With a brain, and with more in windlass.toml and in the repository.
    pub fn new(
        who: Who,
        brain: impl Fn(&Request) -> Reply + Send + Sync + 'static,
        config: &str,
        files: &[(&str, &str)],
    ) -> Self {
        Rig::with(who, Server::start(brain).unwrap(), config, files)
    }

    /// With an agent whose prices are not known.
    pub fn unpriced(
        who: Who,
        brain: impl Fn(&Request) -> Reply + Send + Sync + 'static,
        config: &str,
    ) -> Self {
        let server = Server::start(brain).unwrap();
        let agent = who.config(&server);
        let lines = agent.lines().filter(|line| !line.starts_with("prices"));
        let agent: String = lines.map(|line| format!("{line}\n")).collect();
        Rig::of(who, server, &agent, config, &[])
    }

    /// With an agent that gets these arguments besides.
    pub fn with_arguments(
        who: Who,
        brain: impl Fn(&Request) -> Reply + Send + Sync + 'static,
        arguments: &[&str],
    ) -> Self {
        let server = Server::start(brain).unwrap();
        let command: Vec<&str> = [who.name()].iter().chain(arguments).copied().collect();
        let agent = format!("{}command = {command:?}\n", who.config(&server));
        Rig::of(who, server, &agent, "", &[])
    }

    /// With a server that is there already.
    pub fn with(who: Who, server: Server, config: &str, files: &[(&str, &str)]) -> Self {
        let agent = who.config(&server);
        Rig::of(who, server, &agent, config, files)
    }

    /// With this said of the agent.
    pub fn of(who: Who, server: Server, agent: &str, config: &str, files: &[(&str, &str)]) -> Self {
        let config = format!(
            "{agent}[roles]\ndefault = '{}'\n[checks]\ntest = 'sh test.sh'\n{config}",
            who.name()
        );
        let mut all = vec![("windlass.toml", config.as_str()), ("tasks.toml", TASKS)];
        all.extend(files);
        Rig { who, scratch: Scratch::with(&all), server }
    }

    /// Has the agent started with these words.
    pub fn command(&self, words: &[String]) {
        let path = self.scratch.repo().join("windlass.toml");
        let text = fs::read_to_string(&path).unwrap();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.retain(|line| !line.starts_with("command"));
        let at = lines.iter().position(|line| line.starts_with("kind")).unwrap();
        lines.insert(at + 1, format!("command = {words:?}"));
        fs::write(path, lines.join("\n")).unwrap();
        self.scratch.git(&["commit", "-qam", "Another command"]);
    }

    pub fn windlass(&self, args: &[&str]) -> Command {
        let mut command = self.scratch.windlass(args);
        command.env("PATH", with_agents(&with_bubblewrap()));
        self.who.keys(&mut command);
        command
    }

    pub fn start(&self) -> Command {
        self.windlass(&["run", "flow.toml", "--catalogue", "catalogue.toml"])
    }

    /// Starts a run, and waits until an agent has answered or failed to: what is on record of that.
    pub fn first_answer(&self) -> Value {
        let (mut followed, answer) = self.until_answered(self.start());
        followed.child.kill().unwrap();
        followed.code();
        answer
    }

    /// Processes that know where the model is: the agent, and what it has started.
    pub fn agents(&self) -> Vec<Alive> {
        Alive::all().into_iter().filter(|one| one.knows(&self.server.url())).collect()
    }

    pub fn until_answered(&self, mut command: Command) -> (Followed, Value) {
        let mut followed = self.scratch.follow(&mut command);
        let answer = followed.until("an agent answered", |entry| entry["note"] == "answered");
        (followed, answer)
    }

    /// Waits until the agent itself has written down what came of its first turn: Claude Code does so a moment after it
    /// has gone on. Nobody tells when it has, so it is looked for.
    pub fn until_written_down(&self) {
        let what = match self.who {
            Who::Claude => "\"tool_use_id\"",
            Who::Codex => "function_call_output",
            Who::Api(_) => "\"part\":\"result\"",
            Who::GeminiAcp | Who::OpencodeAcp => panic!("their sessions are not gone on with"),
            Who::Gemini => "\"toolCalls\"",
            // It does so in a database of its own, and does not go on with that.
            Who::Opencode => return,
        };
        let deadline = Instant::now() + Duration::from_secs(60);
        while self.record(what).is_none() {
            assert!(Instant::now() < deadline, "{:?} never wrote down {what}", self.who);
            std::thread::park_timeout(Duration::from_millis(20));
        }
    }

    /// The file of its own record that has this in it, and what it says.
    pub fn record(&self, what: &str) -> Option<(PathBuf, String)> {
        record_below(&self.scratch.path("state"), what)
    }
}

/// The file of lines below a directory that has this in it.
fn record_below(dir: &Path, what: &str) -> Option<(PathBuf, String)> {
    fs::read_dir(dir).into_iter().flatten().flatten().find_map(|entry| {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => record_below(&path, what),
            Ok(kind) if kind.is_file() && path.extension().is_some_and(|it| it == "jsonl") => {
                let text = fs::read_to_string(&path).ok()?;
                text.contains(what).then_some((path, text))
            }
            _ => None,
        }
    })
}
