//! `kind = "api"`: the built-in agent, on a model's API.
//!
//! A loop of a model and its tools that Windlass has itself: nothing else need be installed. It speaks the formats of
//! four providers, and so to whatever server speaks one of them; what it does inside of its lane is in the room `inside`,
//! what it is asked and what it says is in `own.rs`. It writes everything down before it goes on, so a session that was
//! cut off goes on where it was.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::line::{ByTier, Cost, UNPRICED, without_key};
use crate::listen::Listener;
use crate::own::{Errand, RECORD, Stream};
use crate::price::Prices;
use crate::{Agent, Ask, Flaw, Here, Missing, Program, Record, Tier, environment};

/// What the configuration says.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Api")]
pub struct Settings {
    /// In whose words it speaks to the model: `anthropic` (Messages), `openai` (Responses), `openai-chat` (Chat
    /// Completions, which most local servers speak), `gemini`.
    api: Format,
    /// Where the model is; its provider's own place, if not said.
    base_url: Option<String>,
    /// The variable of Windlass's own environment that its key is in; the provider's usual one, if not said; none, if
    /// empty.
    key: Option<String>,
    /// Which model it is to use for roles of a tier (`strong`, `standard`, `fast`). One is enough for all.
    #[serde(default)]
    models: ByTier,
    /// How hard it is to think for roles of a tier, in the provider's own words; the model's own choice, if not said.
    #[serde(default)]
    effort: ByTier,
    /// Prices of models, in dollars for a million tokens: providers say what was used up, not what it costs.
    #[serde(default)]
    prices: Prices,
    /// What it costs, if nothing.
    cost: Option<Cost>,
    /// How many tokens the model's window has; 128000, if not said. Before it is full, what was said is summed up.
    context_tokens: Option<u64>,
    /// How many tokens an answer may have at most; as many as the provider lets it, if not said (16384 at Anthropic).
    max_output_tokens: Option<u64>,
    /// Variables that it, and what it runs, gets from Windlass's own environment besides.
    #[serde(default)]
    env: Vec<String>,
}

/// Whose words a model understands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum Format {
    /// Anthropic's Messages.
    #[default]
    Anthropic,
    /// OpenAI's Responses.
    Openai,
    /// OpenAI's Chat Completions.
    OpenaiChat,
    /// Google's generateContent.
    Gemini,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 4] =
        [Format::Anthropic, Format::Openai, Format::OpenaiChat, Format::Gemini];

    /// Where a model is that speaks so, if nobody says otherwise.
    pub fn base_url(self) -> &'static str {
        match self {
            Format::Anthropic => "https://api.anthropic.com",
            Format::Openai | Format::OpenaiChat => "https://api.openai.com/v1",
            Format::Gemini => "https://generativelanguage.googleapis.com",
        }
    }

    /// Where its key is, if nobody says otherwise.
    fn key(self) -> &'static str {
        match self {
            Format::Anthropic => "ANTHROPIC_API_KEY",
            Format::Openai | Format::OpenaiChat => "OPENAI_API_KEY",
            Format::Gemini => "GEMINI_API_KEY",
        }
    }
}

/// What the built-in agent wants to know besides what every errand says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Own {
    /// In whose words it speaks.
    pub format: Format,
    /// Where the model is.
    pub base_url: String,
    /// The variable that its key is in; empty, if there is none.
    pub key: String,
    /// The model.
    pub model: String,
    /// How hard it is to think.
    pub effort: Option<String>,
    /// How many tokens the model's window has.
    pub context_tokens: u64,
    /// How many tokens an answer may have at most.
    pub max_output_tokens: Option<u64>,
    /// How long it waits for what.
    pub pace: Pace,
}

/// How long the built-in agent waits for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pace {
    /// How often a request is made at most before it is given up.
    pub tries_max: u32,
    /// How long it waits before the second time, if nobody says how long; each time twice as long.
    pub wait_ms_first: u64,
    /// But no longer than this.
    pub wait_ms_max: u64,
    /// It does not wait longer than this for a provider that says how long: whoever is to wait longer ends.
    pub patience_ms_max: u64,
    /// So long a second of waiting is; less only in tests.
    pub second_ms: u64,
    /// So long a connection may take.
    pub connect_ms_max: u64,
    /// So long it may say nothing, before an answer or in the middle of one.
    pub idle_ms_max: u64,
}

impl Default for Pace {
    fn default() -> Self {
        Pace {
            tries_max: 7,
            wait_ms_first: 1_000,
            wait_ms_max: 60_000,
            patience_ms_max: 3 * 60_000,
            second_ms: 1_000,
            connect_ms_max: 30_000,
            idle_ms_max: 5 * 60_000,
        }
    }
}

/// A window that nobody says anything about has so many tokens.
const CONTEXT_TOKENS: u64 = 128_000;
/// In a smaller one there is no room for the work.
const CONTEXT_TOKENS_MIN: u64 = 4_000;

impl crate::Settings for Settings {
    fn flaw(&self) -> Option<Flaw> {
        let flaw = self.models.flaw("a model").or_else(|| self.effort.flaw("an effort"));
        flaw.or_else(|| self.prices.flaw())
            .or_else(|| self.without_model())
            .or_else(|| self.without_place())
            .or_else(|| self.without_room())
    }

    fn is_free(&self) -> bool {
        self.cost == Some(Cost::None)
    }

    fn handed(&self) -> Vec<String> {
        let key = Some(self.key()).filter(|key| !key.is_empty()).map(str::to_owned);
        let more = self.env.iter().filter(|name| Some(*name) != key.as_ref()).cloned();
        key.clone().into_iter().chain(more).collect()
    }

    fn lacks(&self, is_set: &dyn Fn(&str) -> bool) -> Option<(String, String)> {
        let key = self.key();
        (!key.is_empty() && !is_set(key)).then(|| without_key(&[key.to_owned()]))
    }

    fn advice(&self) -> Option<String> {
        (self.prices.is_empty() && !self.is_free()).then(|| UNPRICED.to_owned())
    }

    fn led_to(&self, server: &str) -> Option<String> {
        Some(match self.api {
            Format::Anthropic | Format::Gemini => server.to_owned(),
            Format::Openai | Format::OpenaiChat => format!("{server}/v1"),
        })
    }

    fn agent(&self, here: &Here<'_>) -> Result<Arc<dyn Agent>, Missing> {
        Ok(Arc::new(Api { windlass: here.windlass.to_owned(), settings: self.clone() }))
    }
}

impl Settings {
    fn key(&self) -> &str {
        self.key.as_deref().unwrap_or_else(|| self.api.key())
    }

    /// The model for a tier, or the next best.
    fn model(&self, tier: Tier) -> Option<&str> {
        let others = [Tier::Standard, Tier::Strong, Tier::Fast];
        [tier].into_iter().chain(others).find_map(|tier| self.models.of(tier))
    }

    fn without_model(&self) -> Option<Flaw> {
        self.model(Tier::Standard).is_none().then(|| Flaw {
            what: "has no model".to_owned(),
            at: None,
            help: Some("name one, as in `models = { standard = \"…\" }`".to_owned()),
        })
    }

    fn without_place(&self) -> Option<Flaw> {
        let url = self.base_url.as_ref()?;
        let known = ["http://", "https://"].iter().any(|start| url.starts_with(start));
        (!known).then(|| Flaw {
            what: format!("has a `base-url` that is none: `{url}`"),
            at: Some("base-url".to_owned()),
            help: Some("it begins with http:// or https://".to_owned()),
        })
    }

    fn without_room(&self) -> Option<Flaw> {
        let window = self.context_tokens.unwrap_or(CONTEXT_TOKENS);
        let what = if window < CONTEXT_TOKENS_MIN {
            format!("has a window of {window} tokens, which is too small to work in")
        } else if self.max_output_tokens.is_some_and(|most| most == 0 || most >= window) {
            "has answers that do not fit into its window".to_owned()
        } else {
            return None;
        };
        let help = format!(
            "`context-tokens` is at least {CONTEXT_TOKENS_MIN}, and more than `max-output-tokens`"
        );
        Some(Flaw { what, at: None, help: Some(help) })
    }

    fn own(&self, ask: &Ask<'_>) -> Own {
        Own {
            format: self.api,
            base_url: self.base_url.clone().unwrap_or_else(|| self.api.base_url().to_owned()),
            key: self.key().to_owned(),
            model: ask.model.or_else(|| self.model(ask.tier)).unwrap_or_default().to_owned(),
            effort: ask.effort_if_said(&self.effort).map(str::to_owned),
            context_tokens: self.context_tokens.unwrap_or(CONTEXT_TOKENS),
            max_output_tokens: self.max_output_tokens,
            pace: Pace::default(),
        }
    }
}

/// The built-in agent.
struct Api {
    windlass: PathBuf,
    settings: Settings,
}

impl Agent for Api {
    fn program(&self, ask: &Ask<'_>) -> Program {
        let own = serde_json::to_value(self.settings.own(ask)).unwrap_or_default();
        Program {
            program: self.windlass.clone(),
            args: ["inside", "api", &ask.home.display().to_string()].map(str::to_owned).to_vec(),
            env: environment(ask),
            files: vec![Errand::of(ask, own).file()],
            ..Program::default()
        }
    }

    fn listener(&self, ask: &Ask<'_>) -> Box<dyn Listener> {
        Box::new(Stream::new(ask.reporter.clone(), self.settings.prices.clone()))
    }

    fn record(&self) -> Option<Record> {
        let below = Path::new(RECORD).parent().unwrap_or(Path::new(""));
        Some(Record { below, live: false })
    }

    fn session(&self, home: &Path, session: &str, _: &[String]) -> Option<String> {
        // It writes down what it does before it does it, its own name first.
        let path = home.join(RECORD);
        // Whoever was there may have put anything in its place.
        std::fs::symlink_metadata(&path).ok().filter(std::fs::Metadata::is_file)?;
        let record = std::fs::File::open(path).ok()?;
        let mut first = String::new();
        BufReader::new(record.take(FIRST_LINE_BYTES)).read_line(&mut first).ok()?;
        first.ends_with('\n').then_some(())?;
        let first: serde_json::Value = serde_json::from_str(&first).ok()?;
        (first.get("session")?.as_str()? == session).then(|| session.to_owned())
    }
}

/// The first line of a record, which has the task in it, is not longer than this.
const FIRST_LINE_BYTES: u64 = 16 << 20;

#[cfg(test)]
mod tests {
    use windlass_core::lang::Reporter;

    use super::*;
    use crate::Settings as _;

    fn settings(text: &str) -> Settings {
        toml::from_str(text).unwrap()
    }

    fn own(settings: &Settings, tier: Tier) -> Own {
        let here = Here { top: Path::new("/"), windlass: Path::new("/windlass"), which: |_| None };
        let reporter = Reporter::default();
        let ask = Ask { tier, ..Ask::example(&reporter) };
        let program = settings.agent(&here).unwrap().program(&ask);
        assert_eq!(program.args, ["inside", "api", "/home"]);
        let errand: Errand = serde_json::from_slice(&program.files[0].1).unwrap();
        serde_json::from_value(errand.own).unwrap()
    }

    #[test]
    fn each_format_knows_its_place_and_its_key() {
        for (api, key, url) in [
            ("anthropic", "ANTHROPIC_API_KEY", "https://api.anthropic.com"),
            ("openai", "OPENAI_API_KEY", "https://api.openai.com/v1"),
            ("openai-chat", "OPENAI_API_KEY", "https://api.openai.com/v1"),
            ("gemini", "GEMINI_API_KEY", "https://generativelanguage.googleapis.com"),
        ] {
            let settings =
                settings(&format!("api = '{api}'\nmodels = {{ strong = 'm' }}\nenv = ['MORE']"));
            assert_eq!(settings.flaw(), None);
            assert_eq!(settings.handed(), [key, "MORE"]);
            assert!(settings.lacks(&|name| name != key).unwrap().0.contains(key));
            assert_eq!(settings.lacks(&|name| name == key), None);
            assert_eq!(settings.advice().as_deref(), Some(UNPRICED));
            let own = own(&settings, Tier::Fast);
            assert_eq!((own.base_url.as_str(), own.key.as_str()), (url, key));
            assert_eq!((own.model.as_str(), own.context_tokens), ("m", 128_000));
            assert_eq!(own.pace, Pace::default());
        }
    }

    #[test]
    fn a_server_of_ones_own_needs_no_key_and_costs_nothing() {
        let settings = settings(
            "api = 'openai-chat'\nbase-url = 'http://127.0.0.1:8080/v1'\nkey = ''\ncost = 'none'\n\
             models = { standard = 'small', strong = 'big' }\neffort = { strong = 'high' }\n\
             context-tokens = 32768\nmax-output-tokens = 4096",
        );
        assert_eq!(settings.flaw(), None);
        assert_eq!(settings.handed(), [""; 0]);
        assert_eq!(settings.lacks(&|_| false), None);
        assert_eq!(settings.advice(), None);
        assert!(settings.is_free());
        let strong = own(&settings, Tier::Strong);
        assert_eq!((strong.model.as_str(), strong.effort.as_deref()), ("big", Some("high")));
        assert_eq!((strong.context_tokens, strong.max_output_tokens), (32_768, Some(4_096)));
        let fast = own(&settings, Tier::Fast);
        assert_eq!((fast.model.as_str(), fast.effort), ("small", None));
    }

    #[test]
    fn what_cannot_be_is_a_flaw() {
        for (text, want) in [
            ("", "has no model"),
            ("models = { huge = 'm' }", "which is no tier"),
            ("models = { fast = 'm' }\nbase-url = 'example.org'", "`base-url` that is none"),
            ("models = { fast = 'm' }\ncontext-tokens = 100", "too small"),
            ("models = { fast = 'm' }\nmax-output-tokens = 128000", "do not fit"),
        ] {
            let flaw = settings(&format!("api = 'openai'\n{text}")).flaw().expect(text);
            assert!(flaw.what.contains(want), "{text}: {}", flaw.what);
        }
        assert!(toml::from_str::<Settings>("api = 'cohere'").is_err());
        assert!(toml::from_str::<Settings>("models = { fast = 'm' }").is_err());
    }

    #[test]
    fn a_session_goes_on_if_its_record_is_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let settings = settings("api = 'gemini'\nmodels = { fast = 'm' }");
        let agent = Api { windlass: "/windlass".into(), settings };
        assert_eq!(agent.session(dir.path(), "s", &[]), None);
        let record = dir.path().join(RECORD);
        assert!(record.starts_with(dir.path().join(agent.record().unwrap().below)));
        std::fs::create_dir_all(record.parent().unwrap()).unwrap();
        for (text, want) in [
            ("", None),
            ("{\"line\":\"begun\",\"session\":\"s\"}", None),
            ("{\"line\":\"begun\",\"session\":\"s\"}\n{\"line\":\"mess", Some("s")),
            ("{\"line\":\"begun\",\"session\":\"other\"}\n", None),
            ("nonsense\n", None),
        ] {
            std::fs::write(&record, text).unwrap();
            assert_eq!(agent.session(dir.path(), "s", &[]).as_deref(), want, "{text}");
        }
    }
}
