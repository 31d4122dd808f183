//! A scratch repository whose agent is a real one, and a model server for it.

use std::process::Command;

use serde_json::Value;
use windlass_testkit::{Reply, Request, Server};

use crate::agents::with_agents;
use crate::bubblewrap::with_bubblewrap;
use crate::scratch::{Followed, Scratch};

/// Which agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    Claude,
    Codex,
}

impl Who {
    pub const BOTH: [Who; 2] = [Who::Claude, Who::Codex];

    pub fn name(self) -> &'static str {
        match self {
            Who::Claude => "claude",
            Who::Codex => "codex",
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
        }
    }

    /// What it is started with: a key that opens nothing.
    pub fn keys(self, command: &mut Command) {
        match self {
            Who::Claude => {
                command.env("ANTHROPIC_API_KEY", "test-key-1");
                command.env("CLAUDE_CODE_MAX_RETRIES", "1");
            }
            Who::Codex => {
                command.env("OPENAI_API_KEY", "test-key-1");
            }
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
        let server = Server::start(brain).unwrap();
        let config = format!(
            "{}[roles]\ndefault = '{}'\n[checks]\ntest = 'sh test.sh'\n{config}",
            who.config(&server),
            who.name()
        );
        let mut all = vec![("windlass.toml", config.as_str()), ("tasks.toml", TASKS)];
        all.extend(files);
        Rig { who, scratch: Scratch::with(&all), server }
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

    pub fn until_answered(&self, mut command: Command) -> (Followed, Value) {
        let mut followed = self.scratch.follow(&mut command);
        let answer = followed.until("an agent answered", |entry| entry["note"] == "answered");
        (followed, answer)
    }
}
