//! `kind = "acp"`: any server of the Agent Client Protocol.
//!
//! What is started is Windlass itself, inside the sandbox: it starts the server there, speaks to it and tells what it does
//! (`windlass_inside`). The server has a home of its own, with the files in it that the configuration says; the words of
//! its command are among the arguments, so that the sandbox shows what they name.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::line::{ByTier, Cost, Words, without_key};
use crate::listen::Listener;
use crate::own::{Errand, Stream};
use crate::price::Prices;
use crate::{Agent, Ask, Flaw, Here, Missing, Program, environment};

/// What the configuration says.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Acp")]
pub struct Settings {
    /// The server and its arguments.
    command: Words,
    /// What it costs, if nothing.
    cost: Option<Cost>,
    /// Variables that it gets from Windlass's own environment, such as its key.
    #[serde(default)]
    env: Vec<String>,
    /// Variables that it gets besides, with what they hold. What is secret belongs into `env`, by name.
    #[serde(default)]
    set: BTreeMap<String, String>,
    /// Files that are in its home when it starts, by path from there.
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// Which model it is to use for roles of a tier (`strong`, `standard`, `fast`), by the server's own name; its own
    /// choice, if not said.
    #[serde(default)]
    models: ByTier,
    /// How it is to let us in, by the server's own name for that, if it wants to be asked.
    auth: Option<String>,
    /// Where its model is: this stands wherever `set` and `files` have `{base-url}`.
    base_url: Option<String>,
    /// Prices of models, in dollars for a million tokens, for servers that say what they have used up and not what that
    /// costs.
    #[serde(default)]
    prices: Prices,
}

/// What the one inside wants to know, besides what every errand says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Server {
    /// Its program, and arguments.
    pub command: Vec<String>,
    /// Variables that it gets besides.
    pub set: BTreeMap<String, String>,
    /// The model that it is to use, if that is said.
    pub model: Option<String>,
    /// How it is to let us in, if that is said.
    pub auth: Option<String>,
}

/// What stands in its settings for the place of its model.
const BASE_URL: &str = "{base-url}";

/// Ends of names of variables whose values nobody should read.
const SECRETIVE: [&str; 5] = ["_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "_CREDENTIALS"];

impl Settings {
    /// A text of `set` or `files`, with the place of its model in it.
    fn placed(&self, text: &str) -> String {
        text.replace(BASE_URL, self.base_url.as_deref().unwrap_or_default())
    }

    /// Either both of them are there, or none.
    fn base_url_flaw(&self) -> Option<Flaw> {
        let wanted = self.set.values().chain(self.files.values()).any(|it| it.contains(BASE_URL));
        let (what, help) = match (wanted, &self.base_url) {
            (true, None) => ("has `{base-url}` and no `base-url`", "say what stands there"),
            (false, Some(_)) => (
                "has a `base-url` that nothing makes use of",
                "write `{base-url}` where its own settings have it, in `set` or in `files`",
            ),
            (true, Some(_)) | (false, None) => return None,
        };
        Some(Flaw { what: what.into(), at: Some("base-url".into()), help: Some(help.into()) })
    }

    fn set_flaw(&self) -> Option<Flaw> {
        let flaw = |name: &String, what: &str, help: &str| Flaw {
            what: what.replace('*', name),
            at: Some(name.clone()),
            help: Some(help.to_owned()),
        };
        self.set.iter().find_map(|(name, value)| {
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                return Some(flaw(name, "sets a variable `*`, which cannot be", "choose another"));
            }
            let secret = SECRETIVE.iter().any(|end| name.to_uppercase().ends_with(end));
            let help = "name the variable in `env`: it is taken from your environment then";
            secret.then(|| flaw(name, "has a secret in its file: `set` has `*`", help))
        })
    }

    fn files_flaw(&self) -> Option<Flaw> {
        let outside = |path: &String| {
            let plain = |part: Component<'_>| matches!(part, Component::Normal(_));
            let own = Path::new(path).starts_with(".windlass");
            path.is_empty()
                || path.contains('\0')
                || own
                || !Path::new(path).components().all(plain)
        };
        let path = self.files.keys().find(|path| outside(path))?;
        Some(Flaw {
            what: format!("has a file `{path}` that cannot be put into its home"),
            at: Some(path.clone()),
            help: Some("a path is from its home, and does not lead out of it".to_owned()),
        })
    }
}

impl crate::Settings for Settings {
    fn flaw(&self) -> Option<Flaw> {
        let flaw = self.command.flaw().or_else(|| self.models.flaw("a model"));
        let flaw = flaw.or_else(|| self.prices.flaw());
        let flaw = flaw.or_else(|| self.set_flaw()).or_else(|| self.files_flaw());
        flaw.or_else(|| self.base_url_flaw())
    }

    fn is_free(&self) -> bool {
        self.cost == Some(Cost::None)
    }

    fn handed(&self) -> Vec<String> {
        self.env.clone()
    }

    fn lacks(&self, is_set: &dyn Fn(&str) -> bool) -> Option<(String, String)> {
        // Many a server needs no key.
        let none = !self.env.is_empty() && !self.env.iter().any(|name| is_set(name));
        none.then(|| without_key(&self.env))
    }

    fn advice(&self) -> Option<String> {
        let unknown = self.prices.is_empty() && !crate::Settings::is_free(self);
        unknown.then(|| UNSAID.to_owned())
    }

    fn led_to(&self, server: &str) -> Option<String> {
        // Whose words it speaks with its model, what comes after the host may say.
        let (_, place) = self.base_url.as_ref()?.split_once("://")?;
        let path = place.find('/').map_or("", |at| &place[at..]);
        Some(format!("{server}{path}"))
    }

    fn is_any(&self) -> bool {
        true
    }

    fn gives_up_at(&self) -> u64 {
        1
    }

    fn words(&self) -> &[String] {
        self.command.all()
    }

    fn agent(&self, here: &Here<'_>) -> Result<Arc<dyn Agent>, Missing> {
        let (program, args) = self.command.find(here)?;
        let command = [program.display().to_string()].into_iter().chain(args).collect();
        Ok(Arc::new(Acp { windlass: here.windlass.to_owned(), command, settings: self.clone() }))
    }
}

/// What is said of one whose models have no price.
const UNSAID: &str = "has no `prices`: unless it says itself what it costs, each invocation counts as all that is set aside for it";

struct Acp {
    windlass: PathBuf,
    command: Vec<String>,
    settings: Settings,
}

impl Agent for Acp {
    fn program(&self, ask: &Ask<'_>) -> Program {
        let set = self.settings.set.iter();
        let server = Server {
            command: self.command.clone(),
            set: set.map(|(name, text)| (name.clone(), self.settings.placed(text))).collect(),
            model: ask.model(&self.settings.models).map(str::to_owned),
            auth: self.settings.auth.clone(),
        };
        let errand = Errand::of(ask, serde_json::to_value(server).unwrap_or_default());
        let own = ["inside", "acp", &ask.home.display().to_string()].map(str::to_owned);
        let files = self.settings.files.iter();
        let files =
            files.map(|(path, text)| (path.into(), self.settings.placed(text).into_bytes()));
        Program {
            program: self.windlass.clone(),
            args: own.into_iter().chain(self.command.iter().cloned()).collect(),
            env: environment(ask),
            files: files.chain([errand.file()]).collect(),
            ..Program::default()
        }
    }

    fn listener(&self, ask: &Ask<'_>) -> Box<dyn Listener> {
        Box::new(Stream::new(ask.reporter.clone(), self.settings.prices.clone()))
    }
}

#[cfg(test)]
mod tests {
    use windlass_core::lang::Reporter;

    use super::*;
    use crate::{Settings as _, Tier};

    fn settings(more: &str) -> Settings {
        toml::from_str(&format!("command = ['there', '--acp']\n{more}")).unwrap()
    }

    fn here() -> Here<'static> {
        let which = |name: &str| (name == "there").then(|| PathBuf::from("/bin/there"));
        Here { top: Path::new("/"), windlass: Path::new("/windlass"), which }
    }

    #[test]
    fn the_one_inside_is_told_which_server_to_start_and_so_is_the_sandbox() {
        let settings = settings(
            "models = { fast = 'small' }\nauth = 'key'\nset = { A = 'b' }\nfiles = { '.own/x' = 'y' }",
        );
        assert_eq!(settings.flaw(), None);
        let reporter = Reporter::default();
        let ask = Ask { tier: Tier::Fast, ..Ask::example(&reporter) };
        let program = settings.agent(&here()).unwrap().program(&ask);
        assert_eq!(program.program, Path::new("/windlass"));
        assert_eq!(program.args, ["inside", "acp", "/home", "/bin/there", "--acp"]);
        assert_eq!(program.files[0], (".own/x".into(), b"y".to_vec()));
        let errand: Errand = serde_json::from_slice(&program.files[1].1).unwrap();
        let server: Server = serde_json::from_value(errand.own).unwrap();
        let want = Server {
            command: vec!["/bin/there".into(), "--acp".into()],
            set: [("A".to_owned(), "b".to_owned())].into(),
            model: Some("small".into()),
            auth: Some("key".into()),
        };
        assert_eq!(server, want);
    }

    #[test]
    fn where_its_model_is_stands_in_its_own_settings() {
        let settings = settings(
            "base-url = 'https://x.example.org/v1'\nset = { URL = '{base-url}' }\n\
             files = { a = 'at {base-url}/, {base-url}' }",
        );
        assert_eq!(settings.flaw(), None);
        let reporter = Reporter::default();
        let program = settings.agent(&here()).unwrap().program(&Ask::example(&reporter));
        let text = b"at https://x.example.org/v1/, https://x.example.org/v1".to_vec();
        assert_eq!(program.files[0].1, text);
        let errand: Errand = serde_json::from_slice(&program.files[1].1).unwrap();
        let server: Server = serde_json::from_value(errand.own).unwrap();
        assert_eq!(server.set["URL"], "https://x.example.org/v1");
        assert_eq!(settings.led_to("http://127.0.0.1:1").as_deref(), Some("http://127.0.0.1:1/v1"));
        let bare = self::settings("base-url = 'http://x'\nset = { URL = '{base-url}' }");
        assert_eq!(bare.led_to("http://127.0.0.1:1").as_deref(), Some("http://127.0.0.1:1"));
        assert_eq!(self::settings("").led_to("http://127.0.0.1:1"), None);
    }

    #[test]
    fn what_is_wrong_with_it_is_said() {
        for (more, at) in [
            ("models = { quick = 'small' }", "quick"),
            ("prices = { m = { input = -1.0, output = 1.0 } }", "m"),
            ("set = { 'A=B' = 'c' }", "A=B"),
            ("set = { GEMINI_API_KEY = 'c' }", "GEMINI_API_KEY"),
            ("base-url = 'http://x'\nset = { A = 'b' }", "base-url"),
            ("set = { A = '{base-url}' }", "base-url"),
            ("files = { '../x' = 'y' }", "../x"),
            ("files = { '/etc/x' = 'y' }", "/etc/x"),
            ("files = { '.windlass/errand.json' = 'y' }", ".windlass/errand.json"),
        ] {
            assert_eq!(settings(more).flaw().unwrap().at.as_deref(), Some(at), "{more}");
        }
        assert!(settings("set = { MAX_TOKENS = '9' }").flaw().is_none());
        assert!(toml::from_str::<Settings>("env = []").is_err(), "a command is needed");
    }

    #[test]
    fn a_key_is_missed_where_one_is_named_and_a_price_where_nothing_is_free() {
        assert_eq!(settings("").lacks(&|_| false), None);
        let keyed = settings("env = ['A_KEY', 'MORE']");
        assert!(keyed.lacks(&|_| false).unwrap().0.contains("A_KEY"));
        assert_eq!(keyed.lacks(&|name| name == "A_KEY"), None);
        assert!(settings("").advice().is_some());
        assert_eq!(settings("cost = 'none'").advice(), None);
        assert_eq!(settings("prices = { m = { input = 1.0, output = 1.0 } }").advice(), None);
    }
}
