//! `kind = "opencode"`: opencode, headless.
//!
//! It is started for one answer (`run`), in a home of its own, with its whole configuration in its environment. What stays
//! the same in every invocation of a role is an instruction of its system prompt; the rest comes on standard input. It
//! prints an event in each line: what it said and did, and what each step of it has used up. It keeps its sessions in a
//! database of its own, and nobody can tell from that how far one has come: so none is gone on with.

mod contract;

use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};
use windlass_core::lang::Reporter;
use windlass_core::run::{Reported, Usage};

use crate::contract::Drift;
use crate::line::{ByTier, UNPRICED, Words, without_key};
use crate::listen::{Event, Listener, ModelUse, Source, Tally, Tokens, event, text};
use crate::price::{Prices, micros};
use crate::{
    Agent, Answer, Ask, Came, Fate, Flaw, Heard, Here, Missing, Program, environment, one_line,
};

/// What the configuration says.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Opencode")]
pub struct Settings {
    /// Its program, and arguments that it gets besides; `["opencode"]` if not said.
    #[serde(default = "command")]
    command: Words,
    /// Where its model is: anything that speaks OpenAI's Chat Completions. Without it, models are opencode's own, as in
    /// `anthropic/claude-sonnet-4-5`.
    base_url: Option<String>,
    /// The variable of Windlass's own environment that its key is in; `OPENAI_API_KEY` if not said.
    #[serde(default = "key")]
    key: String,
    /// Which model it is to use for roles of a tier (`strong`, `standard`, `fast`).
    #[serde(default)]
    models: ByTier,
    /// How hard it is to think for roles of a tier, in the words of the model's provider.
    #[serde(default)]
    effort: ByTier,
    /// Prices of models, in dollars for a million tokens. Without them, it costs what it says itself, if it knows.
    #[serde(default)]
    prices: Prices,
    /// It gets what the repository has for it: `AGENTS.md`, and the settings, servers, plugins and skills that `[sandbox]
    /// unmask` shows. Whoever can change the repository can have it run anything then.
    #[serde(default)]
    repository_settings: bool,
}

fn command() -> Words {
    Words::of("opencode")
}

fn key() -> String {
    "OPENAI_API_KEY".to_owned()
}

impl crate::Settings for Settings {
    fn flaw(&self) -> Option<Flaw> {
        let flaw = self.command.flaw().or_else(|| self.models.flaw("a model"));
        let flaw = flaw.or_else(|| self.effort.flaw("an effort")).or_else(|| self.prices.flaw());
        flaw.or_else(|| self.lacks_model()).or_else(|| self.lacks_provider())
    }

    fn handed(&self) -> Vec<String> {
        vec![self.key.clone()]
    }

    fn lacks(&self, is_set: &dyn Fn(&str) -> bool) -> Option<(String, String)> {
        (!is_set(&self.key)).then(|| without_key(&self.handed()))
    }

    fn advice(&self) -> Option<String> {
        // What others than its own providers cost, it does not know.
        let is_unknown = self.base_url.is_some() && self.prices.is_empty();
        is_unknown.then(|| UNPRICED.to_owned())
    }

    fn led_to(&self, server: &str) -> Option<String> {
        Some(format!("{server}/v1"))
    }

    fn gives_up_at(&self) -> u64 {
        1
    }

    fn words(&self) -> &[String] {
        self.command.all()
    }

    fn agent(&self, here: &Here<'_>) -> Result<Arc<dyn Agent>, Missing> {
        let (program, args) = self.command.find(here)?;
        Ok(Arc::new(Opencode { program, args, settings: self.clone() }))
    }
}

impl Settings {
    /// A place of one's own has models that only its owner knows.
    fn lacks_model(&self) -> Option<Flaw> {
        let lacks = self.base_url.is_some() && self.models.all().count() == 0;
        lacks.then(|| Flaw {
            what: "has a `base-url` and no `models`".to_owned(),
            at: None,
            help: Some("say which model there is for each tier".to_owned()),
        })
    }

    /// Its own models are named with their provider.
    fn lacks_provider(&self) -> Option<Flaw> {
        let own = self.base_url.is_none();
        let model = self.models.all().find(|model| own && !model.contains('/'))?;
        Some(Flaw {
            what: format!("has a model `{model}` without a provider"),
            at: Some(model.to_owned()),
            help: Some("write `provider/model`, or say with `base-url` where it is".to_owned()),
        })
    }
}

/// opencode.
struct Opencode {
    program: PathBuf,
    args: Vec<String>,
    settings: Settings,
}

/// What its provider is called, if it is one of the person's own.
const PROVIDER: &str = "windlass";
/// Where the part of the prompt is that stays the same, in its home.
const STABLE: &str = ".config/opencode/role.md";
/// Where it looks whether what plugins need is installed, in its home. It would fetch that otherwise.
const INSTALLED: [(&str, &str); 2] = [
    (
        ".config/opencode/package-lock.json",
        r#"{"packages":{"":{"dependencies":{"@opencode-ai/plugin":"0"}}}}"#,
    ),
    (".config/opencode/node_modules/.package-lock.json", "{}"),
];

/// One answer, as events. It has a title already, or it would ask its model for one.
const ARGUMENTS: [&str; 4] = ["run", "--format=json", "--auto", "--title=windlass"];

/// Nothing that calls home or fetches anything.
const ENVIRONMENT: [&str; 5] = [
    "OPENCODE_DISABLE_AUTOUPDATE",
    "OPENCODE_DISABLE_MODELS_FETCH",
    "OPENCODE_DISABLE_LSP_DOWNLOAD",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS",
    "OPENCODE_DISABLE_SHARE",
];
/// Nothing of the repository's.
const BARE: [&str; 4] = [
    "OPENCODE_DISABLE_PROJECT_CONFIG",
    "OPENCODE_DISABLE_CLAUDE_CODE",
    "OPENCODE_DISABLE_EXTERNAL_SKILLS",
    "OPENCODE_PURE",
];
/// Where its own things are: in its home, whoever's home it runs in.
const PLACES: [(&str, &str); 5] = [
    ("OPENCODE_TEST_HOME", ""),
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
    ("XDG_CACHE_HOME", ".cache"),
];

impl Agent for Opencode {
    fn program(&self, ask: &Ask<'_>) -> Program {
        let mut args = self.args.clone();
        args.extend(ARGUMENTS.map(str::to_owned));
        args.extend(self.model(ask).map(|it| format!("--model={it}")));
        args.extend(ask.effort_if_said(&self.settings.effort).map(|it| format!("--variant={it}")));
        let bare: &[&str] = if self.settings.repository_settings { &[] } else { &BARE };
        let on = |name: &&str| ((*name).to_owned(), "1".to_owned());
        let place = |(name, below): (&str, &str)| {
            (name.to_owned(), ask.home.join(below).display().to_string())
        };
        let mut env = environment(ask);
        env.extend(ENVIRONMENT.iter().chain(bare).map(on));
        env.extend(PLACES.map(place));
        env.push(("OPENCODE_CONFIG_CONTENT".to_owned(), self.configuration(ask).to_string()));
        let mut files = vec![(STABLE.into(), ask.stable().into())];
        files.extend(INSTALLED.map(|(path, text)| (path.into(), text.into())));
        Program {
            program: self.program.clone(),
            args,
            env,
            stdin: ask.rest().as_bytes().to_vec(),
            files,
            ..Program::default()
        }
    }

    fn listener(&self, ask: &Ask<'_>) -> Box<dyn Listener> {
        let model = ask.model(&self.settings.models).unwrap_or_default();
        Box::new(Stream::new(ask.reporter.clone(), self.settings.prices.clone(), model))
    }
}

impl Opencode {
    /// The model for a tier, as it calls it.
    fn model(&self, ask: &Ask<'_>) -> Option<String> {
        let model = ask.model(&self.settings.models)?;
        Some(match self.settings.base_url {
            Some(_) => format!("{PROVIDER}/{model}"),
            None => model.to_owned(),
        })
    }

    /// Its whole configuration.
    fn configuration(&self, ask: &Ask<'_>) -> Json {
        let bare = !self.settings.repository_settings;
        let mut own = json!({
            "share": "disabled",
            "autoupdate": false,
            "snapshot": false,
            "lsp": false,
            "formatter": false,
            "instructions": [ask.home.join(STABLE).display().to_string()],
            "permission": permission(ask.tools, bare),
        });
        if let Some(model) = self.model(ask) {
            own["small_model"] = json!(model);
        }
        let models = self.settings.models.all();
        match &self.settings.base_url {
            Some(url) => {
                own["enabled_providers"] = json!([PROVIDER]);
                let models: Map<String, Json> =
                    models.map(|model| (model.to_owned(), json!({ "name": model }))).collect();
                own["provider"] = json!({ PROVIDER: {
                    "npm": "@ai-sdk/openai-compatible",
                    "name": PROVIDER,
                    "options": { "baseURL": url, "apiKey": format!("{{env:{}}}", self.settings.key) },
                    "models": models,
                } });
            }
            None => {
                let mut providers: Vec<&str> =
                    models.filter_map(|model| Some(model.split_once('/')?.0)).collect();
                providers.sort_unstable();
                providers.dedup();
                if !providers.is_empty() {
                    own["enabled_providers"] = json!(providers);
                }
            }
        }
        own
    }
}

/// What a role may use, in its own words: what it may not is not offered to its model at all.
fn permission(wanted: &[String], bare: bool) -> Json {
    const TOOLS: [(&str, &str); 8] = [
        ("bash", "run"),
        ("edit", "edit"),
        ("glob", "read search"),
        ("grep", "read search"),
        ("list", "read search"),
        ("read", "read"),
        ("webfetch", "web"),
        ("websearch", "web"),
    ];
    let is_wanted = |of: &str| match wanted {
        [] => of != "web",
        wanted => of.split(' ').any(|one| wanted.iter().any(|own| own == one)),
    };
    let word = |yes: bool| json!(if yes { "allow" } else { "deny" });
    // The last that fits counts, and they are in the order of the alphabet. With what the repository has for it come
    // tools that have other names.
    let mut all = Map::from_iter([("*".to_owned(), word(!bare))]);
    all.extend(TOOLS.map(|(name, of)| (name.to_owned(), word(is_wanted(of)))));
    // Whoever is asked does it: a `task` would be somebody else's.
    let others =
        [("doom_loop", true), ("external_directory", true), ("question", false), ("task", false)];
    all.extend(others.map(|(name, yes)| (name.to_owned(), word(yes))));
    Json::Object(all)
}

/// How its last step ended.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// Not yet.
    Open,
    /// For a reason, in a word of its own.
    Finished(String),
    /// With an error.
    Failed(Failure),
}

/// Why it failed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Failure {
    came: Came,
    message: String,
}

/// Listens to what it prints.
#[derive(Clone)]
struct Stream {
    reporter: Reporter,
    prices: Prices,
    model: String,
    tally: Tally,
    /// What it says that its steps cost, in millionths of a dollar; nobody knows, once it had no price for one.
    own_cost: Option<u64>,
    /// The last step that has been counted.
    counted: String,
    /// Its session was told of.
    has_session: bool,
    /// It told of an error, and may have gone on after it.
    had_error: bool,
    /// What it said in its last step, if it did nothing since.
    said: String,
    step: Step,
    drift: Drift,
}

impl Listener for Stream {
    fn line(&mut self, from: Source, line: &[u8]) -> Vec<Event> {
        let Some(event) = event(line).filter(|_| from == Source::Output) else {
            return self.drift.no_event(from, line);
        };
        let strange = self.drift.heed(from, &event);
        let session = text(&event, "sessionID").filter(|_| !self.has_session);
        self.has_session |= session.is_some();
        let mut events: Vec<Event> =
            session.map(|session| Event::Session(session.to_owned())).into_iter().collect();
        events.extend(strange);
        let part = event.get("part").and_then(Json::as_object);
        match (text(&event, "type"), part) {
            (Some("step_start"), _) => {
                self.step = Step::Open;
                self.said.clear();
                events.push(Event::Turn);
            }
            (Some("text"), Some(part)) => events.extend(self.text(part)),
            (Some("tool_use"), Some(part)) => {
                self.said.clear();
                events.extend(used(part));
            }
            (Some("step_finish"), Some(part)) => events.push(self.finish(part)),
            (Some("error"), _) => {
                self.had_error = true;
                let failure = failure(&event);
                if let Came::Limited(until) = failure.came {
                    events.push(Event::Limit(until));
                }
                self.step = Step::Failed(failure);
            }
            _ => {}
        }
        events
    }

    fn models(&self) -> Vec<ModelUse> {
        self.tally.models(&self.prices)
    }

    fn answer(self: Box<Self>, output: &Heard<'_>) -> Answer {
        let mut answer = match (output.fate, &self.step) {
            (Fate::TimedOut, _) => Answer::only(Came::TimedOut, "it took too long"),
            (Fate::Signalled(signal), _) => killed(signal),
            (Fate::Exited(code @ 129..=159), _) => killed(code - 128),
            (Fate::Exited(_), Step::Failed(failure)) => {
                Answer::only(failure.came.clone(), failure.message.clone())
            }
            (Fate::Exited(code), Step::Finished(reason)) if self.ended_well(code) => {
                self.finished(reason)
            }
            (Fate::Exited(code), _) => {
                let remark = format!("it exited with {code} in the middle of a step");
                Answer::only(Came::Crashed, remark)
            }
        };
        let usage = self.usage(&answer.came);
        answer.remarks.extend(self.drift.remarks());
        Answer { usage, ..answer }
    }
}

impl Stream {
    fn new(reporter: Reporter, prices: Prices, model: &str) -> Self {
        Stream {
            reporter,
            prices,
            model: model.to_owned(),
            tally: Tally::default(),
            own_cost: Some(0),
            counted: String::new(),
            has_session: false,
            had_error: false,
            said: String::new(),
            step: Step::Open,
            drift: Drift::from(&contract::CONTRACT),
        }
    }

    /// What it said. Some of it it says to itself.
    fn text(&mut self, part: &Map<String, Json>) -> Option<Event> {
        if part.get("synthetic").and_then(Json::as_bool) == Some(true) {
            return None;
        }
        let said = text(part, "text")?;
        if !self.said.is_empty() {
            self.said.push('\n');
        }
        self.said.push_str(said);
        if self.said.len() > SAID_BYTES {
            let from = self.said.ceil_char_boundary(self.said.len() - SAID_BYTES / 2);
            self.said.drain(..from);
        }
        Some(Event::Text(said.to_owned()))
    }

    /// A step is over, and this is what it used up.
    fn finish(&mut self, part: &Map<String, Json>) -> Event {
        self.step = Step::Finished(one_line(text(part, "reason").unwrap_or_default()));
        let id = text(part, "id").unwrap_or_default();
        if self.counted != id || id.is_empty() {
            id.clone_into(&mut self.counted);
            let tokens = part.get("tokens").and_then(Json::as_object).map(tokens);
            let tokens = tokens.unwrap_or_default();
            self.tally.request(id, &self.model, tokens);
            let cost = part.get("cost").and_then(Json::as_f64).and_then(micros);
            // A model that it has no price for is not free.
            let cost = cost.filter(|cost| *cost > 0 || tokens.total() == 0);
            self.own_cost = self.own_cost.and_then(|sum| Some(sum.saturating_add(cost?)));
        }
        Event::Usage(self.so_far())
    }

    /// By the prices that the person has said, or else by its own.
    fn so_far(&self) -> Usage {
        let usage = self.tally.usage(&self.prices);
        let cost = match (usage.cost, self.own_cost) {
            (Reported::Known(cost), _) | (Reported::Unknown, Some(cost)) => Reported::Known(cost),
            (Reported::Unknown, None) => Reported::Unknown,
        };
        Usage { cost, ..usage }
    }

    /// Whether it ended as it does when all is well: with 1, if there was an error that it got over.
    fn ended_well(&self, code: i32) -> bool {
        code == 0 || (code == 1 && self.had_error)
    }

    fn finished(&self, reason: &str) -> Answer {
        match reason {
            "stop" if !self.said.trim().is_empty() => {
                Answer::of_text(Fate::Exited(0), self.said.clone(), &self.reporter)
            }
            "length" => Answer::only(Came::TooLong, "its model's answer was too long"),
            "content-filter" => Answer::only(Came::Refused, "its model's provider would not"),
            // It ends like this too when it was not allowed to use a tool.
            _ => Answer::only(Came::NoOutput, "it ended without a word"),
        }
    }

    /// What it used up, if that is known: a step that is not over has told nothing.
    fn usage(&self, came: &Came) -> Usage {
        let usage = self.so_far();
        let is_none = usage.tokens == Reported::Known(0);
        match (&self.step, came) {
            (_, Came::TimedOut | Came::Killed | Came::Crashed) | (Step::Open, _) => Usage::UNKNOWN,
            (Step::Failed(_), _) if is_none => Usage::NONE,
            // No model answers for nothing: its provider did not say.
            (Step::Finished(_), _) if is_none => Usage::UNKNOWN,
            _ => usage,
        }
    }
}

/// So much of what it says at once is kept.
const SAID_BYTES: usize = 4 << 20;

/// Why it failed, by the name of its error and by the status that its provider answered with.
fn failure(event: &Map<String, Json>) -> Failure {
    let error = event.get("error").and_then(Json::as_object);
    let name = error.and_then(|error| text(error, "name")).unwrap_or_default();
    let data = error.and_then(|error| error.get("data")?.as_object());
    let message = data.and_then(|data| text(data, "message")).unwrap_or(name);
    let status = data.and_then(|data| data.get("statusCode")?.as_u64());
    let again = data.and_then(|data| data.get("isRetryable")?.as_bool());
    let came = match (name, status) {
        ("ContextOverflowError", _) | ("APIError", Some(413)) => Came::ContextFull,
        ("ContentFilterError", _) => Came::Refused,
        ("MessageOutputLengthError", _) => Came::TooLong,
        ("ProviderAuthError", _) | ("APIError", Some(401 | 403)) => Came::Unwelcome,
        ("APIError", Some(429)) => Came::Limited(until(event, data)),
        ("APIError", Some(500..)) => Came::Overloaded,
        ("APIError", None) if again == Some(true) => Came::Overloaded,
        _ => Came::Crashed,
    };
    let message = one_line(message);
    let message = if message.is_empty() { "it failed".to_owned() } else { message };
    Failure { came, message }
}

/// When its provider will serve it again, by the wall clock in milliseconds: it says after how many seconds.
fn until(event: &Map<String, Json>, data: Option<&Map<String, Json>>) -> Option<i64> {
    let headers = data?.get("responseHeaders")?.as_object()?;
    let seconds: i64 = text(headers, "retry-after")?.parse().ok().filter(|seconds| *seconds > 0)?;
    let now = event.get("timestamp")?.as_i64()?;
    now.checked_add(seconds.checked_mul(1_000)?)
}

fn killed(signal: i32) -> Answer {
    Answer::only(Came::Killed, format!("it was ended by signal {signal}"))
}

fn tokens(tokens: &Map<String, Json>) -> Tokens {
    let figure =
        |of: &Map<String, Json>, key: &str| of.get(key).and_then(Json::as_u64).unwrap_or(0);
    let cache = tokens.get("cache").and_then(Json::as_object);
    let cache = |key: &str| cache.map_or(0, |cache| figure(cache, key));
    Tokens {
        input: figure(tokens, "input"),
        cached: cache("read"),
        cache_write: cache("write"),
        output: figure(tokens, "output").saturating_add(figure(tokens, "reasoning")),
    }
}

fn used(part: &Map<String, Json>) -> Vec<Event> {
    let name = one_line(text(part, "tool").unwrap_or_default());
    let state = part.get("state").and_then(Json::as_object);
    let input = state.and_then(|state| state.get("input")?.as_object());
    let keys = ["filePath", "command", "pattern", "path", "url", "query"];
    let about = input.and_then(|input| keys.iter().find_map(|key| text(input, key)));
    let about = about.map(one_line).unwrap_or_default();
    let is_done = state.and_then(|state| text(state, "status")) == Some("completed");
    let changed = is_done && matches!(name.as_str(), "edit" | "write");
    let changed = changed.then(|| Event::Change(about.clone()));
    [Event::Tool { name, about }].into_iter().chain(changed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcripts::{comes_to, cut_everywhere, holds_to, mills, stream, worker};
    use crate::{Settings as _, Tier};

    const PRICES: &str = "m = { input = 1.0, cached = 0.1, output = 2.0 }";

    fn listener(prices: &str) -> Stream {
        Stream::new(worker(), toml::from_str(prices).unwrap(), "m")
    }

    #[test]
    fn every_recorded_stream_comes_to_what_it_came_to() {
        let done = || Came::Verdict("done".to_owned());
        for (name, code, want, cost) in [
            ("opencode-edit", 0, done(), Some(10)),
            ("opencode-edit2", 0, done(), Some(3)),
            ("opencode-resume", 0, Came::Verdict("second".into()), Some(1)),
            ("opencode-rl429-recover", 0, done(), Some(4)),
            ("opencode-cut-recover", 0, done(), Some(3)),
            // It sums up what was said and goes on, and ends with 1 all the same.
            ("opencode-overflow", 1, done(), Some(4)),
            ("opencode-overflow-first", 1, Came::ContextFull, Some(0)),
            ("opencode-rl429-forever", 1, Came::Limited(Some(1_794_855_988_248)), Some(0)),
            ("opencode-e500-retries", 1, Came::Overloaded, Some(0)),
            ("opencode-e401", 1, Came::Unwelcome, Some(0)),
            ("opencode-refusal", 1, Came::Refused, Some(1)),
            ("opencode-maxtokens", 0, Came::TooLong, Some(1)),
            ("opencode-perm-noauto", 0, Came::NoOutput, Some(0)),
            ("opencode-e500-forever", 0, Came::NoOutput, Some(0)),
        ] {
            let (came, usage) =
                comes_to(Box::new(listener(PRICES)), &stream(name), Fate::Exited(code));
            assert_eq!((came, mills(usage)), (want, cost), "{name}");
        }
    }

    #[test]
    fn whoever_is_ended_by_others_is_no_success() {
        for (fate, want) in [
            (Fate::TimedOut, Came::TimedOut),
            (Fate::Signalled(9), Came::Killed),
            (Fate::Exited(143), Came::Killed),
            (Fate::Exited(1), Came::Crashed),
        ] {
            let (came, usage) =
                comes_to(Box::new(listener(PRICES)), &stream("opencode-edit"), fate);
            assert_eq!((came, usage), (want, Usage::UNKNOWN), "{fate:?}");
        }
        let (came, usage) = comes_to(Box::new(listener(PRICES)), b"", Fate::Exited(0));
        assert_eq!((came, usage), (Came::Crashed, Usage::UNKNOWN));
    }

    #[test]
    fn what_is_not_as_it_was_is_noticed() {
        holds_to("opencode-", &contract::CONTRACT, || listener(""));
    }

    #[test]
    fn cut_off_anywhere_it_is_never_taken_for_a_success() {
        cut_everywhere("opencode-", || listener(""));
    }

    #[test]
    fn a_model_without_a_price_is_not_free() {
        let cost = |prices, name| {
            comes_to(Box::new(listener(prices)), &stream(name), Fate::Exited(0)).1.cost
        };
        // Its own account, where it has a price; and what the person says goes before that.
        assert_eq!(cost("", "opencode-edit"), Reported::Known(10_665));
        assert_eq!(cost("m = { input = 0.0, output = 0.0 }", "opencode-edit"), Reported::Known(0));
        assert_eq!(cost("", "opencode-maxtokens"), Reported::Unknown);
        assert_ne!(cost(PRICES, "opencode-maxtokens"), Reported::Unknown);
    }

    fn events(name: &str) -> Vec<Event> {
        let mut listener = listener(PRICES);
        let stream = stream(name);
        let lines = stream.split(|byte| *byte == b'\n');
        lines.flat_map(|line| listener.line(Source::Output, line)).collect()
    }

    #[test]
    fn events_say_what_it_does_as_it_does_it() {
        let all = events("opencode-edit");
        assert_eq!(all[0], Event::Session("ses_e21f70ac4ffeiCxPLlVtBNd5nT".into()));
        assert_eq!(all[1], Event::Turn);
        assert_eq!(all[2], Event::Text("I will look at the file first.".into()));
        let tool = |name: &str, about: &str| Event::Tool { name: name.into(), about: about.into() };
        assert!(all.contains(&tool("read", "/repo/greet.py")), "{all:?}");
        assert!(all.contains(&Event::Change("/repo/greet.py".into())));
        let used = |event: &&Event| matches!(event, Event::Usage(_));
        assert_eq!(all.iter().filter(used).count(), 4);
        let first = Usage { cost: Reported::Known(7_700), tokens: Reported::Known(7_678) };
        assert_eq!(all.iter().find(used), Some(&Event::Usage(first)));
        let limit = |event: &Event| matches!(event, Event::Limit(Some(_)));
        assert!(events("opencode-rl429-forever").iter().any(limit));
        let to_itself = |event: &Event| matches!(event, Event::Text(it) if it.contains("media"));
        assert!(!events("opencode-overflow").iter().any(to_itself));
    }

    fn opencode(settings: &str) -> Opencode {
        let settings = toml::from_str(settings).unwrap();
        Opencode { program: "/bin/opencode".into(), args: Vec::new(), settings }
    }

    fn variable(program: &Program, name: &str) -> Option<String> {
        program.env.iter().find(|(own, _)| own == name).map(|it| it.1.clone())
    }

    fn configuration(program: &Program) -> Json {
        serde_json::from_str(&variable(program, "OPENCODE_CONFIG_CONTENT").unwrap()).unwrap()
    }

    #[test]
    fn it_is_told_what_it_may_and_nothing_else_tells_it() {
        let reporter = worker();
        let tools = ["read".to_owned(), "search".to_owned()];
        let ask = Ask {
            prompt: "the role. the task.",
            stable_bytes: 10,
            tools: &tools,
            tier: Tier::Strong,
            ..Ask::example(&reporter)
        };
        let settings = "models = { strong = 'm' }\neffort = { strong = 'high' }\n\
                        base-url = 'http://127.0.0.1:1/v1'\nkey = 'MY_KEY'";
        let program = opencode(settings).program(&ask);
        assert_eq!(program.stdin, b"the task.");
        assert_eq!(program.files[0], (PathBuf::from(STABLE), b"the role. ".to_vec()));
        for arg in ["--model=windlass/m", "--variant=high", "--format=json"] {
            assert!(program.args.iter().any(|own| own == arg), "{arg}: {:?}", program.args);
        }
        assert_eq!(variable(&program, "XDG_DATA_HOME").as_deref(), Some("/home/.local/share"));
        assert_eq!(variable(&program, "OPENCODE_PURE").as_deref(), Some("1"));
        let own = configuration(&program);
        assert_eq!(own["instructions"], json!(["/home/.config/opencode/role.md"]));
        let provider = &own["provider"]["windlass"];
        let options = json!({ "baseURL": "http://127.0.0.1:1/v1", "apiKey": "{env:MY_KEY}" });
        assert_eq!(
            (&provider["options"], &own["enabled_providers"]),
            (&options, &json!(["windlass"]))
        );
        assert_eq!(provider["models"], json!({ "m": { "name": "m" } }));
        assert_eq!(own["small_model"], "windlass/m");
        let own = &own["permission"];
        assert_eq!(
            (&own["*"], &own["read"], &own["edit"]),
            (&json!("deny"), &json!("allow"), &json!("deny"))
        );
        let theirs = opencode("repository-settings = true").program(&ask);
        assert_eq!(variable(&theirs, "OPENCODE_PURE"), None);
        let own = configuration(&theirs);
        assert_eq!(
            (&own["permission"]["*"], &own["permission"]["edit"]),
            (&json!("allow"), &json!("deny"))
        );
        assert_eq!((own.get("provider"), own.get("enabled_providers")), (None, None));
        let own = opencode("models = { strong = 'anthropic/a', fast = 'openai/b' }").program(&ask);
        assert!(own.args.contains(&"--model=anthropic/a".to_owned()));
        assert_eq!(configuration(&own)["enabled_providers"], json!(["anthropic", "openai"]));
    }

    #[test]
    fn a_role_has_the_tools_that_it_may_use() {
        let allowed = |wanted: &[&str]| {
            let wanted: Vec<String> = wanted.iter().map(|it| (*it).to_owned()).collect();
            let all = permission(&wanted, true);
            let all = all.as_object().unwrap().iter().filter(|(_, word)| *word == "allow");
            all.map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(",")
        };
        assert_eq!(allowed(&[]), "bash,doom_loop,edit,external_directory,glob,grep,list,read");
        assert_eq!(allowed(&["web"]), "doom_loop,external_directory,webfetch,websearch");
    }

    #[test]
    fn a_model_has_a_place_that_it_is_at() {
        let flaw = |settings: &str| {
            toml::from_str::<Settings>(settings).unwrap().flaw().map(|flaw| flaw.what)
        };
        assert_eq!(flaw("models = { strong = 'anthropic/a' }"), None);
        assert_eq!(flaw("models = { strong = 'a' }\nbase-url = 'http://x'"), None);
        let what = flaw("models = { strong = 'a' }").unwrap();
        assert_eq!(what, "has a model `a` without a provider");
        assert_eq!(flaw("base-url = 'http://x'").unwrap(), "has a `base-url` and no `models`");
    }
}
