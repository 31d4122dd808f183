//! `kind = "codex"`: Codex, headless.
//!
//! It is started for one answer (`exec`), in a home of its own, without any settings, hooks, servers, plugins, skills or
//! memory files. It prints an event in each line, but what it uses up it prints only at the end, and why it failed only
//! as prose. The record that it keeps of its session has both, at once and in fields of its own: so that is listened to
//! as well.

mod contract;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json};
use windlass_core::lang::Reporter;
use windlass_core::run::{Reported, Usage};

use crate::contract::Drift;
use crate::line::{ByTier, UNPRICED, Words, without_key};
use crate::listen::{Event, Listener, ModelUse, Source, Tokens, event, reported, text};
use crate::price::Prices;
use crate::schema::strict;
use crate::{
    Agent, Answer, Ask, Came, Fate, Flaw, Heard, Here, Missing, Program, Record, environment,
    one_line,
};

/// What the configuration says.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Codex")]
pub struct Settings {
    /// Its program, and arguments that it gets besides; `["codex"]` if not said.
    #[serde(default = "command")]
    command: Words,
    /// Where its model is; `https://api.openai.com/v1` if not said.
    #[serde(default = "base_url")]
    base_url: String,
    /// The variable of Windlass's own environment that its key is in; `OPENAI_API_KEY` if not said.
    #[serde(default = "key")]
    key: String,
    /// Which model it is to use for roles of a tier (`strong`, `standard`, `fast`); its own choice, if not said.
    #[serde(default)]
    models: ByTier,
    /// How hard it is to think for roles of a tier: `minimal`, `low`, `medium`, `high`, `xhigh`.
    #[serde(default)]
    effort: ByTier,
    /// Prices of models, in dollars for a million tokens: it does not say itself what it costs.
    #[serde(default)]
    prices: Prices,
    /// It gets what the repository has for it: `AGENTS.md`, and the settings, hooks and skills that `[sandbox] unmask`
    /// shows. Whoever can change the repository can have it run anything then.
    #[serde(default)]
    repository_settings: bool,
}

fn command() -> Words {
    Words::of("codex")
}

fn base_url() -> String {
    "https://api.openai.com/v1".to_owned()
}

fn key() -> String {
    "OPENAI_API_KEY".to_owned()
}

impl crate::Settings for Settings {
    fn flaw(&self) -> Option<Flaw> {
        let flaw = self.command.flaw().or_else(|| self.models.flaw("a model"));
        flaw.or_else(|| self.effort.flaw("an effort")).or_else(|| self.prices.flaw())
    }

    fn handed(&self) -> Vec<String> {
        vec![self.key.clone()]
    }

    fn lacks(&self, is_set: &dyn Fn(&str) -> bool) -> Option<(String, String)> {
        (!is_set(&self.key)).then(|| without_key(&self.handed()))
    }

    fn advice(&self) -> Option<String> {
        self.prices.is_empty().then(|| UNPRICED.to_owned())
    }

    fn led_to(&self, server: &str) -> Option<String> {
        Some(format!("{server}/v1"))
    }

    fn vendor(&self) -> Option<&'static str> {
        Some("OpenAI")
    }

    fn words(&self) -> &[String] {
        self.command.all()
    }

    fn agent(&self, here: &Here<'_>) -> Result<Arc<dyn Agent>, Missing> {
        let (program, args) = self.command.find(here)?;
        Ok(Arc::new(Codex { program, args, settings: self.clone() }))
    }
}

/// Codex.
struct Codex {
    program: PathBuf,
    args: Vec<String>,
    settings: Settings,
}

/// Where its own settings and sessions are, in its home.
const OWN: &str = ".codex";
/// Where its sessions are.
const SESSIONS: &str = ".codex/sessions";
/// Where the form of its answer is.
const SCHEMA: &str = ".codex/answer.json";

/// One answer, as events. Its own walls are not needed inside of ours. Whatever is not there for the work itself, reaches
/// out, or varies is left out.
const ARGUMENTS: [&str; 13] = [
    "--json",
    "--dangerously-bypass-approvals-and-sandbox",
    "--skip-git-repo-check",
    "--ignore-user-config",
    "--disable=plugins",
    "--disable=apps",
    "--disable=multi_agent",
    "--disable=goals",
    "--disable=image_generation",
    "--config=analytics.enabled=false",
    "--config=check_for_update_on_startup=false",
    "--config=shell_environment_policy.inherit=\"all\"",
    "--config=model_provider=\"windlass\"",
];
/// Nothing of the repository's.
const BARE: [&str; 5] = [
    "--strict-config",
    "--ignore-rules",
    "--disable=hooks",
    "--config=project_doc_max_bytes=0",
    "--config=skills.include_instructions=false",
];

impl Agent for Codex {
    fn program(&self, ask: &Ask<'_>) -> Program {
        let mut args = self.args.clone();
        args.push("exec".to_owned());
        args.extend(ask.resumes.map(|_| "resume".to_owned()));
        let trusted: &[&str] = if self.settings.repository_settings { &[] } else { &BARE };
        args.extend(ARGUMENTS.iter().chain(trusted).map(|&arg| arg.to_owned()));
        args.push(format!("--output-schema={}", ask.home.join(SCHEMA).display()));
        args.extend(ask.model(&self.settings.models).map(|it| format!("--model={it}")));
        let mut set = |name: &str, value: &str| args.push(format!("--config={name}={value}"));
        set("model_providers.windlass", &self.provider());
        let web = if ask.tools.iter().any(|tool| tool == "web") { "live" } else { "disabled" };
        set("web_search", &quoted(web));
        if let Some(effort) = ask.effort(&self.settings.effort) {
            set("model_reasoning_effort", &quoted(effort));
        }
        args.extend(ask.resumes.map(str::to_owned));
        args.push("-".to_owned());
        let mut env = environment(ask);
        env.push(("CODEX_HOME".to_owned(), ask.home.join(OWN).display().to_string()));
        Program {
            program: self.program.clone(),
            args,
            env,
            stdin: ask.prompt.as_bytes().to_vec(),
            files: vec![(SCHEMA.into(), strict(ask.reporter).to_string().into())],
            ..Program::default()
        }
    }

    fn listener(&self, ask: &Ask<'_>) -> Box<dyn Listener> {
        let model = ask.model(&self.settings.models).unwrap_or_default();
        Box::new(Stream::new(ask.reporter.clone(), self.settings.prices.clone(), model))
    }

    fn record(&self) -> Option<Record> {
        Some(Record { below: Path::new(SESSIONS), live: true })
    }

    fn session(&self, home: &Path, _: &str, _: &[String]) -> Option<String> {
        // `sessions/2026/01/31/rollout-2026-01-31T10-00-00-<id>.jsonl`, and there is one only.
        let files = crate::record_files(&home.join(SESSIONS));
        let name = files.last()?.file_stem()?.to_str()?.to_owned();
        let id = name.get(name.len().checked_sub(36)?..)?;
        let plain = |letter: char| letter.is_ascii_hexdigit() || letter == '-';
        id.chars().all(plain).then(|| id.to_owned())
    }
}

impl Codex {
    /// Where its model is and what opens it, as a table of its configuration.
    fn provider(&self) -> String {
        format!(
            "{{name=\"windlass\",base_url={},env_key={},wire_api=\"responses\",supports_websockets=false}}",
            quoted(&self.settings.base_url),
            quoted(&self.settings.key),
        )
    }
}

/// A text as TOML writes it.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// How its one turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// Not yet.
    Open,
    Completed,
    Failed,
}

/// Listens to what it prints and to what it writes down.
#[derive(Clone)]
struct Stream {
    reporter: Reporter,
    prices: Prices,
    model: String,
    /// By all requests of the session, also those from before it was cut off.
    used: Tokens,
    /// What earlier invocations of the same conversation had used up by then.
    before: Tokens,
    /// The most that this came to so far: what was spent only grows, also when it changes to a cheaper model.
    dearest: u64,
    /// Its provider says: not before this.
    limit: Option<i64>,
    /// Why it failed.
    error: Option<Failure>,
    /// What it said last, if it did nothing since.
    last: Option<String>,
    turn: Turn,
    drift: Drift,
}

/// Tokens as it counts them. What it read from the cache, or wrote to it, it counts as read once more.
fn figures(usage: &Map<String, Json>) -> Tokens {
    let figure = |key: &str| usage.get(key).and_then(Json::as_u64).unwrap_or(0);
    let (cached, written) = (figure("cached_input_tokens"), figure("cache_write_input_tokens"));
    Tokens {
        input: figure("input_tokens").saturating_sub(cached).saturating_sub(written),
        cached,
        cache_write: written,
        output: figure("output_tokens"),
    }
}

/// Why a turn failed.
#[derive(Clone)]
struct Failure {
    message: String,
    /// In a word of its own, and the code that its provider answered with.
    kind: Option<(String, Option<u64>)>,
}

impl Listener for Stream {
    fn line(&mut self, from: Source, line: &[u8]) -> Vec<Event> {
        let Some(event) = event(line) else { return self.drift.no_event(from, line) };
        let strange = self.drift.heed(from, &event);
        let events = match from {
            Source::Output => self.printed(&event),
            Source::Record | Source::Past | Source::Before => {
                self.written(from, &event).unwrap_or_default()
            }
        };
        events.into_iter().chain(strange).collect()
    }

    fn models(&self) -> Vec<ModelUse> {
        let used = self.used != Tokens::default();
        let of = || ModelUse::of(self.model.clone(), 0, self.used, &self.prices);
        used.then(of).into_iter().collect()
    }

    fn answer(self: Box<Self>, output: &Heard<'_>) -> Answer {
        let usage = self.usage();
        let mut answer = match (output.fate, self.turn) {
            (Fate::TimedOut, _) => Answer::only(Came::TimedOut, "it took too long"),
            (Fate::Signalled(signal), _) => {
                Answer::only(Came::Killed, format!("it was ended by signal {signal}"))
            }
            (Fate::Exited(0), Turn::Completed) => match &self.last {
                Some(text) => Answer::of_text(Fate::Exited(0), text.clone(), &self.reporter),
                None => Answer::only(Came::NoOutput, "it ended its turn without a word"),
            },
            (Fate::Exited(code), _) => {
                let message = self.error.as_ref().map(|error| one_line(&error.message));
                let remark = message.filter(|message| !message.is_empty());
                let remark = remark.unwrap_or_else(|| format!("it exited with {code}"));
                Answer::only(self.failure(), remark)
            }
        };
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
            used: Tokens::default(),
            before: Tokens::default(),
            dearest: 0,
            limit: None,
            error: None,
            last: None,
            turn: Turn::Open,
            drift: Drift::from(&contract::CONTRACT),
        }
    }

    /// One line of its standard output.
    fn printed(&mut self, event: &Map<String, Json>) -> Vec<Event> {
        match text(event, "type") {
            Some("thread.started") => {
                let session = text(event, "thread_id").map(str::to_owned);
                session.map(Event::Session).into_iter().collect()
            }
            Some("turn.started") => {
                (self.turn, self.last) = (Turn::Open, None);
                Vec::new()
            }
            Some(kind @ ("item.started" | "item.completed")) => {
                let item = event.get("item").and_then(Json::as_object);
                item.map(|item| self.item(item, kind == "item.completed")).unwrap_or_default()
            }
            Some("turn.completed") => {
                self.turn = Turn::Completed;
                let usage = event.get("usage").and_then(Json::as_object);
                usage.map(|usage| self.uses(usage)).into_iter().collect()
            }
            Some("turn.failed") => {
                self.turn = Turn::Failed;
                let error = event.get("error").and_then(Json::as_object);
                let message = error.and_then(|error| text(error, "message")).unwrap_or_default();
                let kind = self.error.take().and_then(|error| error.kind);
                self.error = Some(Failure { message: message.to_owned(), kind });
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn item(&mut self, item: &Map<String, Json>, completed: bool) -> Vec<Event> {
        let kind = text(item, "type").unwrap_or_default();
        let told = |key: &str| text(item, key).unwrap_or_default();
        match kind {
            "agent_message" if completed => {
                self.last = Some(told("text").to_owned());
                vec![Event::Text(told("text").to_owned())]
            }
            "command_execution" if !completed => {
                self.last = None;
                vec![Event::Tool { name: "shell".to_owned(), about: one_line(told("command")) }]
            }
            "file_change" if completed => {
                self.last = None;
                let changes = item.get("changes").and_then(Json::as_array);
                let paths = changes.into_iter().flatten().filter_map(|it| it.get("path")?.as_str());
                paths.map(|path| Event::Change(one_line(path))).collect()
            }
            // A warning, or what it thinks: neither is anything it does.
            "error" | "reasoning" | "agent_message" => Vec::new(),
            kind if !completed && !kind.is_empty() => {
                self.last = None;
                vec![Event::Tool { name: one_line(kind), about: String::new() }]
            }
            _ => Vec::new(),
        }
    }

    /// One line of what it writes down.
    fn written(&mut self, from: Source, event: &Map<String, Json>) -> Option<Vec<Event>> {
        let payload = event.get("payload")?.as_object()?;
        match (text(event, "type")?, text(payload, "type")) {
            ("turn_context", _) => {
                self.model = text(payload, "model")?.to_owned();
                None
            }
            ("token_usage_record", _) if from == Source::Before => {
                self.before = figures(payload.get("thread_token_usage")?.as_object()?);
                None
            }
            ("token_usage_record", _) => {
                let used = self.uses(payload.get("thread_token_usage")?.as_object()?);
                Some(vec![Event::Turn, used])
            }
            ("event_msg", Some("token_count")) => self.rate_limits(payload).map(|it| vec![it]),
            ("event_msg", Some("task_complete")) if from == Source::Record => {
                let error = payload.get("error")?.as_object()?;
                let kind = error.get("codex_error_info").and_then(failure_kind);
                let message = text(error, "message").unwrap_or_default().to_owned();
                self.error = Some(Failure { message, kind });
                None
            }
            _ => None,
        }
    }

    /// What the whole session has used up so far.
    fn uses(&mut self, usage: &Map<String, Json>) -> Event {
        let used = figures(usage).minus(self.before);
        if used.total() >= self.used.total() {
            self.used = used;
        }
        let so_far = self.so_far();
        if let Reported::Known(cost) = so_far.cost {
            self.dearest = cost;
        }
        Event::Usage(so_far)
    }

    fn so_far(&self) -> Usage {
        let cost = self.prices.of(&self.model, self.used).map(|cost| cost.max(self.dearest));
        Usage { cost: reported(cost), tokens: Reported::Known(self.used.total()) }
    }

    /// When its provider will serve it again, if it does not now.
    fn rate_limits(&mut self, payload: &Map<String, Json>) -> Option<Event> {
        let limits = payload.get("rate_limits")?.as_object()?;
        let full = ["primary", "secondary"].iter().filter_map(|which| {
            let window = limits.get(*which)?.as_object()?;
            let used = window.get("used_percent")?.as_f64()?;
            let resets = window.get("resets_at")?.as_i64()?.checked_mul(1_000)?;
            (used >= 100.0).then_some(resets)
        });
        // Both have to be over.
        let until = full.max()?;
        self.limit = Some(until);
        Some(Event::Limit(Some(until)))
    }

    fn failure(&self) -> Came {
        let Some(error) = &self.error else { return Came::Crashed };
        let (kind, status) = match &error.kind {
            Some((kind, status)) => (kind.as_str(), *status),
            None => return Came::Crashed,
        };
        match (kind, status) {
            ("usage_limit_exceeded", _) | (_, Some(429)) => Came::Limited(self.limit),
            ("unauthorized", _) | (_, Some(401 | 403)) => Came::Unwelcome,
            ("context_window_exceeded", _) => Came::ContextFull,
            ("invalid_prompt" | "cyber_policy", _) => Came::Refused,
            ("session_budget_exceeded", _) => Came::Exhausted,
            ("server_overloaded" | "internal_server_error", _) | (_, Some(500..)) => {
                Came::Overloaded
            }
            (
                "http_connection_failed"
                | "response_stream_connection_failed"
                | "response_stream_disconnected"
                | "response_too_many_failed_attempts",
                None,
            ) => Came::Overloaded,
            // It hands on what its provider said, as it was said.
            ("other", _)
                if provider_code(&error.message) == Some("context_length_exceeded".into()) =>
            {
                Came::ContextFull
            }
            _ => Came::Crashed,
        }
    }

    /// What it used up, if that is known: a request that failed in the middle is not in its account.
    fn usage(&self) -> Usage {
        match self.turn {
            // No model answers for nothing: its provider did not say.
            Turn::Completed if self.used.total() == 0 => Usage::UNKNOWN,
            Turn::Completed => self.so_far(),
            // Who was turned away before anything was used has cost nothing, whatever the price.
            Turn::Failed if self.failure() != Came::Crashed && self.used.total() == 0 => {
                Usage::NONE
            }
            Turn::Failed if self.failure() != Came::Crashed => self.so_far(),
            Turn::Open | Turn::Failed => Usage::UNKNOWN,
        }
    }
}

/// `"usage_limit_exceeded"`, or `{ "http_connection_failed": { "http_status_code": 401 } }`.
fn failure_kind(info: &Json) -> Option<(String, Option<u64>)> {
    if let Some(word) = info.as_str() {
        return Some((word.to_owned(), None));
    }
    let (word, about) = info.as_object()?.iter().next()?;
    Some((word.clone(), about.get("http_status_code").and_then(Json::as_u64)))
}

/// The code in an answer of its provider, if that is what a message is.
fn provider_code(message: &str) -> Option<String> {
    let body: Json = serde_json::from_str(message).ok()?;
    body.get("error")?.get("code")?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tier;
    use crate::transcripts::{comes_to, cut_everywhere, holds_to, stream, worker};

    const PRICES: &str = "'gpt-5.2' = { input = 1.75, cached = 0.175, output = 14.0 }";

    fn listener(prices: &str) -> Stream {
        Stream::new(worker(), toml::from_str(prices).unwrap(), "gpt-5.2")
    }

    #[test]
    fn every_recorded_stream_comes_to_what_it_came_to() {
        let done = || Came::Verdict("done".to_owned());
        for (name, code, want, tokens) in [
            ("codex-edit", 0, done(), Some(38_702)),
            ("codex-session1", 0, done(), Some(38_710)),
            ("codex-ws-write", 0, done(), Some(39_414)),
            ("codex-codemode", 0, done(), Some(55_725)),
            ("codex-resume", 0, Came::Verdict("second".into()), Some(48_644)),
            ("codex-rl429-recover", 0, done(), Some(38_702)),
            ("codex-cut-recover", 0, done(), Some(38_702)),
            ("codex-outside-ro", 0, done(), Some(28_778)),
            ("codex-refusal", 0, Came::NoOutput, Some(19_062)),
            // Why these failed is not in what it prints.
            ("codex-rl429-forever", 1, Came::Crashed, None),
            ("codex-e500-forever", 1, Came::Crashed, None),
            ("codex-e401", 1, Came::Crashed, None),
            ("codex-overflow", 1, Came::Crashed, None),
            ("codex-maxtokens", 1, Came::Crashed, None),
            ("codex-cut-forever", 1, Came::Crashed, None),
            ("codex-hangmid-idle", 1, Came::Crashed, None),
            ("codex-sigterm", 1, Came::Crashed, None),
        ] {
            let (came, usage) = comes_to(Box::new(listener("")), &stream(name), Fate::Exited(code));
            assert_eq!((came, usage.cost), (want, Reported::Unknown), "{name}");
            assert_eq!(usage.tokens, reported(tokens), "{name}");
        }
        let (came, _) =
            comes_to(Box::new(listener("")), &stream("codex-sigkill"), Fate::Signalled(9));
        assert_eq!(came, Came::Killed);
    }

    #[test]
    fn what_is_not_as_it_was_is_noticed() {
        holds_to("codex-", &contract::CONTRACT, || listener(""));
    }

    #[test]
    fn cut_off_anywhere_it_is_never_taken_for_a_success() {
        cut_everywhere("codex-", || listener(""));
    }

    #[test]
    fn it_is_priced_from_what_it_used() {
        let (_, usage) =
            comes_to(Box::new(listener(PRICES)), &stream("codex-edit"), Fate::Exited(0));
        // 10,058 tokens read, 28,544 from the cache, 100 written.
        assert_eq!(usage.cost, Reported::Known(17_602 + 4_995 + 1_400));
    }

    /// A session that fails, as its record has it.
    fn failed(record: &[&str]) -> (Came, Usage) {
        let mut listener = listener(PRICES);
        for line in record {
            listener.line(Source::Record, line.as_bytes());
        }
        let stdout = br#"{"type":"turn.failed","error":{"message":"in its own words"}}"#;
        comes_to(Box::new(listener), stdout, Fate::Exited(1))
    }

    #[test]
    fn its_record_says_why_it_failed() {
        for (info, want) in [
            (r#""usage_limit_exceeded""#, Came::Limited(None)),
            (
                r#"{"response_too_many_failed_attempts":{"http_status_code":429}}"#,
                Came::Limited(None),
            ),
            (r#"{"http_connection_failed":{"http_status_code":401}}"#, Came::Unwelcome),
            (r#"{"http_connection_failed":{"http_status_code":null}}"#, Came::Overloaded),
            (r#"{"response_stream_disconnected":{"http_status_code":null}}"#, Came::Overloaded),
            (r#""server_overloaded""#, Came::Overloaded),
            (r#""internal_server_error""#, Came::Overloaded),
            (r#""context_window_exceeded""#, Came::ContextFull),
            (r#""invalid_prompt""#, Came::Refused),
            (r#""other""#, Came::Crashed),
            (r#"[1]"#, Came::Crashed),
        ] {
            let line = format!(
                r#"{{"type":"event_msg","payload":{{"type":"task_complete","error":{{"message":"m","codex_error_info":{info}}}}}}}"#
            );
            let (came, usage) = failed(&[&line]);
            assert_eq!(came, want, "{info}");
            let known = want != Came::Crashed;
            assert_eq!(usage != Usage::UNKNOWN, known, "{info}");
        }
    }

    #[test]
    fn what_its_provider_said_is_read_where_it_is_handed_on() {
        let line = r#"{"type":"event_msg","payload":{"type":"task_complete","error":{"message":"","codex_error_info":"other"}}}"#;
        let mut own = listener("");
        own.line(Source::Record, line.as_bytes());
        let (came, _) = comes_to(Box::new(own), &stream("codex-overflow"), Fate::Exited(1));
        assert_eq!(came, Came::ContextFull);
    }

    #[test]
    fn a_limit_says_until_when() {
        let limits = |used: u32| {
            format!(
                r#"{{"type":"event_msg","payload":{{"type":"token_count","rate_limits":{{"primary":{{"used_percent":{used},"resets_at":1700000000}},"secondary":{{"used_percent":100.0,"resets_at":1800000000}}}}}}}}"#
            )
        };
        let line = r#"{"type":"event_msg","payload":{"type":"task_complete","error":{"message":"m","codex_error_info":"usage_limit_exceeded"}}}"#;
        assert_eq!(failed(&[&limits(3), line]).0, Came::Limited(Some(1_800_000_000_000)));
        let none = r#"{"type":"event_msg","payload":{"type":"token_count","rate_limits":{"primary":null}}}"#;
        assert_eq!(failed(&[none, line]).0, Came::Limited(None));
    }

    #[test]
    fn what_it_has_used_up_is_known_while_it_works() {
        let mut own = listener(PRICES);
        let record = |input: u64| {
            format!(
                r#"{{"type":"token_usage_record","payload":{{"usage":{{}},"thread_token_usage":{{"input_tokens":{input},"cached_input_tokens":1000,"output_tokens":10}}}}}}"#
            )
        };
        let mut heard = |from, input| own.line(from, record(input).as_bytes());
        let usage = |cost, tokens| {
            let usage = Usage { cost: Reported::Known(cost), tokens: Reported::Known(tokens) };
            [Event::Turn, Event::Usage(usage)]
        };
        assert_eq!(heard(Source::Past, 2_000), usage(1_750 + 175 + 140, 2_010));
        assert_eq!(heard(Source::Record, 3_000), usage(3_500 + 175 + 140, 3_010));
        assert_eq!(heard(Source::Record, 2_000), usage(3_500 + 175 + 140, 3_010), "never less");
        let model = r#"{"type":"turn_context","payload":{"model":"gpt-6"}}"#;
        own.line(Source::Record, model.as_bytes());
        assert_eq!(own.so_far().cost, Reported::Unknown, "a model without a price");
    }

    #[test]
    fn what_it_has_spent_only_grows_also_with_a_cheaper_model() {
        let prices =
            "dear = { input = 10.0, output = 10.0 }\ncheap = { input = 1.0, output = 1.0 }";
        let mut own = listener(prices);
        let mut spent = |model: &str, input: u64| {
            let model = format!(r#"{{"type":"turn_context","payload":{{"model":"{model}"}}}}"#);
            own.line(Source::Record, model.as_bytes());
            let usage = format!(
                r#"{{"type":"token_usage_record","payload":{{"thread_token_usage":{{"input_tokens":{input}}}}}}}"#
            );
            own.line(Source::Record, usage.as_bytes());
            own.so_far().cost
        };
        assert_eq!(spent("dear", 100), Reported::Known(1_000));
        assert_eq!(spent("nobody's", 150), Reported::Unknown);
        assert_eq!(spent("cheap", 200), Reported::Known(1_000));
        assert_eq!(spent("cheap", 2_000), Reported::Known(2_000));
    }

    #[test]
    fn events_say_what_it_does_as_it_does_it() {
        let mut own = listener("");
        let mut events = |name: &str| -> Vec<Event> {
            let stream = stream(name);
            let lines = stream.split(|byte| *byte == b'\n');
            lines.flat_map(|line| own.line(Source::Output, line)).collect()
        };
        let all = events("codex-edit");
        assert_eq!(all[0], Event::Session("01a1de08-1854-7570-9e34-958f45ebd9f0".into()));
        assert_eq!(all[1], Event::Text("I will look at the file first.".into()));
        let tool =
            Event::Tool { name: "shell".into(), about: "/bin/bash -lc \"cat 'greet.py'\"".into() };
        assert_eq!(all[2], tool);
        assert!(events("codex-apply-patch").contains(&Event::Change("/repo/greet.py".into())));
    }

    #[test]
    fn it_is_asked_with_a_form_for_its_answer_and_nothing_of_anybody_elses() {
        let reporter = worker();
        let settings: Settings = toml::from_str(
            "base-url = 'http://127.0.0.1:1/v1'\nkey = 'A_KEY'\nmodels = { fast = 'mini' }\neffort = { fast = 'low' }",
        )
        .unwrap();
        assert_eq!(crate::Settings::handed(&settings), ["A_KEY"]);
        let codex = Codex { program: "/bin/codex".into(), args: Vec::new(), settings };
        let ask = Ask {
            prompt: "all of it",
            stable_bytes: 3,
            tier: Tier::Fast,
            ..Ask::example(&reporter)
        };
        let program = codex.program(&ask);
        assert_eq!(program.stdin, b"all of it");
        assert_eq!(program.files[0].0, PathBuf::from(SCHEMA));
        assert_eq!(program.args[0], "exec");
        for arg in [
            "--model=mini",
            "--config=model_reasoning_effort=\"low\"",
            "--output-schema=/home/.codex/answer.json",
            "--config=project_doc_max_bytes=0",
            "--config=web_search=\"disabled\"",
            "--disable=hooks",
        ] {
            assert!(program.args.iter().any(|own| own == arg), "{arg}: {:?}", program.args);
        }
        let provider = program.args.iter().find(|arg| arg.contains("model_providers")).unwrap();
        assert!(
            provider.contains(r#"base_url="http://127.0.0.1:1/v1",env_key="A_KEY""#),
            "{provider}"
        );
        let again = codex.program(&Ask { resumes: Some("abc"), ..ask }).args;
        assert_eq!(again[..2], ["exec", "resume"]);
        assert_eq!(again[again.len() - 2..], ["abc", "-"]);
    }

    #[test]
    fn a_session_that_was_left_behind_is_found() {
        let settings: Settings = toml::from_str("").unwrap();
        let codex = Codex { program: "/bin/codex".into(), args: Vec::new(), settings };
        let home = tempfile::tempdir().unwrap();
        assert_eq!(codex.session(home.path(), "x", &[]), None);
        let day = home.path().join(".codex/sessions/2026/11/16");
        std::fs::create_dir_all(&day).unwrap();
        let id = "01a1e4e7-10b6-7d01-b892-32ca73d63563";
        std::fs::write(day.join(format!("rollout-2026-11-16T15-08-30-{id}.jsonl")), "{}").unwrap();
        assert_eq!(codex.session(home.path(), "x", &[]).as_deref(), Some(id));
        let odd = home.path().join(".codex/sessions/2027/x.jsonl");
        std::fs::create_dir_all(odd.parent().unwrap()).unwrap();
        std::fs::write(odd, "{}").unwrap();
        assert_eq!(codex.session(home.path(), "x", &[]), None, "no name of a session");
    }
}
