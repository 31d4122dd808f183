//! The kinds of agents that there are: what `windlass.toml` says of each, and how that becomes an agent.
//!
//! A kind is one file with a [`Settings`] of its own, and one line in the list at the end of this file. Nothing outside
//! of this crate names a kind.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::line::free_of_charge;
use crate::listen::{Event, Listener, ModelUse, Source};
use crate::{Agent, Answer, Ask, Heard, Program, Record};

/// What `[agents.NAME]` says of an agent of one kind.
pub trait Settings {
    /// What is wrong with it, as far as that can be seen from the file alone.
    fn flaw(&self) -> Option<Flaw> {
        None
    }

    /// Whether nothing that it does costs anything. Then what it says nothing about, it has not used.
    fn is_free(&self) -> bool {
        false
    }

    /// Variables that it gets from Windlass's own environment, such as its key, and no others. What they hold is never
    /// written down.
    fn handed(&self) -> Vec<String>;

    /// What it cannot work without and is not there, given whether a variable is set: what is wrong, as it goes on after
    /// "the agent `NAME` ", and what to do.
    fn lacks(&self, is_set: &dyn Fn(&str) -> bool) -> Option<(String, String)> {
        let _ = is_set;
        None
    }

    /// What its `base-url` would be, if its model were at a server of our own (`http://127.0.0.1:1234`, say); nothing, if it
    /// does not let us say where its model is.
    fn led_to(&self, server: &str) -> Option<String> {
        let _ = server;
        None
    }

    /// How many seconds a provider has to send it away for, so that it gives up soon: most do when that is long, some wait
    /// it out without a word.
    fn gives_up_at(&self) -> u64 {
        3_600
    }

    /// Whether it may be any of many, of which some tell less than others.
    fn is_any(&self) -> bool {
        false
    }

    /// Whose models it works with, where it works with nobody else's.
    fn vendor(&self) -> Option<&'static str> {
        None
    }

    /// The words of its command, if it is a program of somebody else's: with `--version` after the first it tells which
    /// one it is.
    fn words(&self) -> &[String] {
        &[]
    }

    /// What a person may want to know before it costs them something, as it goes on after the agent's name.
    fn advice(&self) -> Option<String> {
        None
    }

    /// The agent. [`Kind::agent`] sees to it that it gets what it is handed and that it costs what it may.
    ///
    /// # Errors
    ///
    /// When something that it needs is not there.
    fn agent(&self, here: &Here<'_>) -> Result<Arc<dyn Agent>, Missing>;
}

/// Where an agent is looked for.
#[derive(Clone, Copy, Debug)]
pub struct Here<'a> {
    /// The top of the repository.
    pub top: &'a Path,
    /// Windlass itself: it acts scripts out.
    pub windlass: &'a Path,
    /// Finds a program by its name, as a shell would.
    pub which: fn(&str) -> Option<PathBuf>,
}

/// What is wrong with the settings of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// What, as it goes on after "the agent `NAME` ".
    pub what: String,
    /// The word that stands where it is wrong; the agent's own name, if none does.
    pub at: Option<String>,
    /// What would be right.
    pub help: Option<String>,
}

/// What an agent needs and has not got.
#[derive(Debug, thiserror::Error)]
pub enum Missing {
    /// Its program is not installed.
    #[error("`{program}` is not installed")]
    Program {
        /// What was looked for.
        program: String,
    },
    /// A file of its own cannot be read.
    #[error("cannot read {}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// An agent of whatever kind, held to what its settings say.
struct Held {
    agent: Arc<dyn Agent>,
    handed: Vec<String>,
    free: bool,
}

impl Held {
    fn to(settings: &dyn Settings, here: &Here<'_>) -> Result<Arc<dyn Agent>, Missing> {
        let (handed, free) = (settings.handed(), settings.is_free());
        Ok(Arc::new(Held { agent: settings.agent(here)?, handed, free }))
    }
}

impl Agent for Held {
    fn program(&self, ask: &Ask<'_>) -> Program {
        Program { pass: self.handed.clone(), ..self.agent.program(ask) }
    }

    fn listener(&self, ask: &Ask<'_>) -> Box<dyn Listener> {
        let listener = self.agent.listener(ask);
        if self.free { Box::new(Free(listener)) } else { listener }
    }

    fn record(&self) -> Option<Record> {
        self.agent.record()
    }

    fn session(&self, home: &Path, session: &str, steps: &[String]) -> Option<String> {
        self.agent.session(home, session, steps)
    }
}

/// Listens to an agent that costs nothing.
struct Free(Box<dyn Listener>);

impl Listener for Free {
    fn line(&mut self, from: Source, line: &[u8]) -> Vec<Event> {
        let mut events = self.0.line(from, line);
        events.retain(|event| !matches!(event, Event::Usage(_)));
        events
    }

    fn models(&self) -> Vec<ModelUse> {
        self.0.models()
    }

    fn answer(self: Box<Self>, output: &Heard<'_>) -> Answer {
        let mut answer = self.0.answer(output);
        free_of_charge(&mut answer);
        answer
    }
}

impl Kind {
    /// The agent, held to what its settings say.
    ///
    /// # Errors
    ///
    /// When something that it needs is not there.
    pub fn agent(&self, here: &Here<'_>) -> Result<Arc<dyn Agent>, Missing> {
        Held::to(&**self, here)
    }
}

/// Makes a type of all kinds out of the list of them.
macro_rules! kinds {
    ($($(#[doc = $about:literal])+ $kind:ident = $file:ident,)+) => {
        /// What `[agents.NAME]` says of an agent: its `kind`, and what that kind wants to know.
        #[derive(Clone, Debug, PartialEq, serde::Deserialize, schemars::JsonSchema)]
        #[serde(tag = "kind", rename_all = "kebab-case")]
        #[schemars(rename = "Agent")]
        pub enum Kind {
            $($(#[doc = $about])+ $kind(crate::$file::Settings),)+
        }

        impl Kind {
            /// Its word in `windlass.toml`.
            pub fn word(&self) -> &'static str {
                match self {
                    $(Kind::$kind(_) => stringify!($file),)+
                }
            }
        }

        impl std::ops::Deref for Kind {
            type Target = dyn Settings;

            fn deref(&self) -> &Self::Target {
                match self {
                    $(Kind::$kind(settings) => settings,)+
                }
            }
        }
    };
}

kinds! {
    /// Any server of the Agent Client Protocol.
    Acp = acp,
    /// The built-in agent, on a model's API.
    Api = api,
    /// Claude Code.
    Claude = claude,
    /// Codex.
    Codex = codex,
    /// A program that reads a prompt and prints a verdict.
    Command = command,
    /// Gemini CLI.
    Gemini = gemini,
    /// opencode.
    Opencode = opencode,
    /// What a file says.
    Scripted = scripted,
}

#[cfg(test)]
mod tests {
    use windlass_core::lang::Reporter;
    use windlass_core::run::Reported;

    use super::*;
    use crate::Fate;

    /// A kind that hands on what it does not say, and leaves out what it says.
    struct Careless {
        handed: Vec<String>,
        free: bool,
    }

    struct CarelessAgent;

    impl Settings for Careless {
        fn is_free(&self) -> bool {
            self.free
        }

        fn handed(&self) -> Vec<String> {
            self.handed.clone()
        }

        fn agent(&self, _: &Here<'_>) -> Result<Arc<dyn Agent>, Missing> {
            Ok(Arc::new(CarelessAgent))
        }
    }

    impl Agent for CarelessAgent {
        fn program(&self, _: &Ask<'_>) -> Program {
            Program { pass: vec!["UNSAID".to_owned()], ..Program::default() }
        }

        fn listener(&self, ask: &Ask<'_>) -> Box<dyn Listener> {
            crate::listen::listen_at_the_end(ask)
        }
    }

    fn agent(free: bool) -> Arc<dyn Agent> {
        let here = Here { top: Path::new("/"), windlass: Path::new("/windlass"), which: |_| None };
        Held::to(&Careless { handed: vec!["MY_KEY".to_owned()], free }, &here).unwrap()
    }

    /// All that a program is handed, as a text.
    fn handed_to(kind: &str, more: &str, ask: &Ask<'_>) -> String {
        let which = |_: &str| Some(PathBuf::from("/bin/there"));
        let here = Here { top: Path::new("/"), windlass: Path::new("/windlass"), which };
        let kind: Kind = toml::from_str(&format!("kind = '{kind}'\n{more}")).unwrap();
        let program = kind.agent(&here).unwrap().program(ask);
        let env = program.env.iter().map(|(name, value)| format!("{name}={value}"));
        let files =
            program.files.iter().map(|(_, text)| String::from_utf8_lossy(text).into_owned());
        let stdin = String::from_utf8_lossy(&program.stdin).into_owned();
        program
            .args
            .into_iter()
            .chain(env)
            .chain(files)
            .chain([stdin])
            .collect::<Vec<_>>()
            .join("\n")
    }

    #[test]
    fn no_agent_has_others_work_for_it_or_is_set_what_its_maker_does_not_document() {
        let reporter = Reporter::default();
        let ask = Ask::example(&reporter);
        for own in ["", "repository-settings = true"] {
            for (kind, alone) in [
                // Its tools are those that are named, and the one that starts others is not.
                ("claude", "--tools=Bash,Edit,Glob,Grep,Read,Write\n"),
                ("codex", "--disable=multi_agent\n"),
                ("gemini", "\"enableAgents\":false"),
                ("opencode", "\"task\":\"deny\""),
            ] {
                let all = handed_to(kind, own, &ask);
                assert!(all.contains(alone), "{kind} {own}: {all}");
                for undocumented in ["autoMode", "auto_mode", "defaultMode", "permissionMode"] {
                    assert!(!all.contains(undocumented), "{kind} {own}: {undocumented} in {all}");
                }
            }
        }
    }

    /// What git says and how it is used is nobody's but ours: whoever has instructions about it leaves them out, in light tasks and in
    /// all others. The others have none.
    #[test]
    fn instructions_about_git_are_left_out() {
        let reporter = Reporter::default();
        let all = handed_to("claude", "", &Ask::example(&reporter));
        assert!(all.contains("CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS=1\n"), "{all}");
        assert!(all.contains("--dangerously-skip-permissions\n"), "as shipped: {all}");
    }

    #[test]
    fn who_works_with_one_vendors_models_alone_says_whose() {
        let vendor = |word: &str, more: &str| {
            toml::from_str::<Kind>(&format!("kind = '{word}'\n{more}")).unwrap().vendor()
        };
        let all = ["claude", "codex", "gemini"].map(|word| vendor(word, ""));
        assert_eq!(all, [Some("Anthropic"), Some("OpenAI"), Some("Google")]);
        assert_eq!(vendor("opencode", ""), None);
        assert_eq!(vendor("scripted", "script = 'x'"), None);
    }

    #[test]
    fn a_kind_is_called_what_the_configuration_calls_it() {
        for word in ["claude", "codex", "gemini", "opencode"] {
            let kind: Kind = toml::from_str(&format!("kind = '{word}'")).unwrap();
            assert_eq!(kind.word(), word);
        }
    }

    #[test]
    fn an_agent_gets_what_its_settings_say_and_nothing_else() {
        let reporter = Reporter::default();
        assert_eq!(agent(false).program(&Ask::example(&reporter)).pass, ["MY_KEY"]);
    }

    #[test]
    fn an_agent_without_cost_has_used_what_it_says_and_else_nothing() {
        let reporter = Reporter { verdicts: vec!["done".into()], ..Reporter::default() };
        let used = |free, stdout: &str| {
            let output = Heard { fate: Fate::Exited(0), stdout: stdout.as_bytes() };
            let usage = agent(free).listener(&Ask::example(&reporter)).answer(&output).usage;
            (usage.cost, usage.tokens)
        };
        let (known, unknown) = (Reported::Known, Reported::Unknown);
        assert_eq!(used(true, r#"{"verdict":"done"}"#), (known(0), known(0)));
        assert_eq!(used(true, r#"{"verdict":"done","tokens":7}"#), (known(0), known(7)));
        assert_eq!(used(true, r#"{"verdict":"done","cost_usd":0.5}"#), (known(0), known(0)));
        assert_eq!(used(false, r#"{"verdict":"done","cost_usd":0.5}"#).0, known(500_000));
        assert_eq!(used(false, r#"{"verdict":"done"}"#), (unknown, unknown));
    }
}
