//! `kind = "claude"`: Claude Code, headless.
//!
//! It is started for one answer (`-p`), with a session of its own, in a home of its own, without any settings, hooks,
//! servers, plugins, skills or memory files but its own built-in ones. What stays the same in every invocation of a role
//! goes into the system prompt, where it can be cached; the rest comes on standard input. It prints an event in each
//! line; the last one is the result.

mod contract;
mod record;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json};
use windlass_core::lang::Reporter;
use windlass_core::run::{Reported, Usage};

use crate::contract::Drift;
use crate::line::{ByTier, Words, without_key};
use crate::listen::{Event, Listener, ModelUse, Source, Tally, Tokens, event, text};
use crate::price::{Prices, micros};
use crate::{
    Agent, Answer, Ask, Came, Fate, Flaw, Heard, Here, Missing, Program, Record, Tier, environment,
    one_line, schema,
};

/// What the configuration says.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Claude")]
pub struct Settings {
    /// Its program, and arguments that it gets besides; `["claude"]` if not said.
    #[serde(default = "command")]
    command: Words,
    /// Where its model is, if not at its provider's usual place.
    base_url: Option<String>,
    /// Variables that it gets from Windlass's own environment; its keys, if not said.
    #[serde(default = "keys")]
    env: Vec<String>,
    /// Which model it is to use for roles of a tier (`strong`, `standard`, `fast`); its own choice, if not said.
    #[serde(default)]
    models: ByTier,
    /// How hard it is to think for roles of a tier: `low`, `medium`, `high`, `xhigh`, `max`.
    #[serde(default)]
    effort: ByTier,
    /// Prices of models, in dollars for a million tokens: with them it is stopped at its cap while it works, and what it
    /// had used up is known when it was cut off.
    #[serde(default)]
    prices: Prices,
    /// It gets what the repository has for it: memory files, and the settings, hooks, servers and skills that `[sandbox]
    /// unmask` shows. Whoever can change the repository can have it run anything then.
    #[serde(default)]
    repository_settings: bool,
}

fn command() -> Words {
    Words::of("claude")
}

fn keys() -> Vec<String> {
    ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"]
        .map(str::to_owned)
        .to_vec()
}

impl crate::Settings for Settings {
    fn flaw(&self) -> Option<Flaw> {
        let flaw = self.command.flaw().or_else(|| self.models.flaw("a model"));
        flaw.or_else(|| self.effort.flaw("an effort")).or_else(|| self.prices.flaw())
    }

    fn handed(&self) -> Vec<String> {
        self.env.clone()
    }

    fn lacks(&self, is_set: &dyn Fn(&str) -> bool) -> Option<(String, String)> {
        (!self.env.iter().any(|name| is_set(name))).then(|| without_key(&self.env))
    }

    fn led_to(&self, server: &str) -> Option<String> {
        Some(server.to_owned())
    }

    fn vendor(&self) -> Option<&'static str> {
        Some("Anthropic")
    }

    fn words(&self) -> &[String] {
        self.command.all()
    }

    fn agent(&self, here: &Here<'_>) -> Result<Arc<dyn Agent>, Missing> {
        let (program, args) = self.command.find(here)?;
        Ok(Arc::new(Claude { program, args, settings: self.clone() }))
    }
}

/// Claude Code.
struct Claude {
    program: PathBuf,
    args: Vec<String>,
    settings: Settings,
}

/// Where its own settings and sessions are, in its home.
const OWN: &str = ".claude";
/// Where the part of the prompt is that stays the same, in its home.
const STABLE: &str = ".claude/role.md";

/// Nothing of the person's or the repository's, nothing that calls home, nothing that varies from one prompt to the next.
const ENVIRONMENT: [(&str, &str); 8] = [
    ("DISABLE_AUTOUPDATER", "1"),
    ("DISABLE_TELEMETRY", "1"),
    ("DISABLE_ERROR_REPORTING", "1"),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("CLAUDE_CODE_ATTRIBUTION_HEADER", "0"),
    ("ENABLE_TOOL_SEARCH", "false"),
    // Nobody commits but Windlass; and what git says differs from lane to lane.
    ("CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS", "1"),
    // It does not start as root otherwise.
    ("IS_SANDBOX", "1"),
];

/// One answer, as events.
const ARGUMENTS: [&str; 8] = [
    "-p",
    "--output-format=stream-json",
    "--verbose",
    "--include-partial-messages",
    "--dangerously-skip-permissions",
    "--exclude-dynamic-system-prompt-sections",
    "--no-chrome",
    "--permission-prompts=none",
];
/// Nothing of the repository's.
const BARE: [&str; 4] =
    ["--safe-mode", "--setting-sources=", "--strict-mcp-config", "--disable-slash-commands"];
/// What the repository has for it.
const WITH_ITS_OWN: [&str; 1] = ["--setting-sources=project"];

impl Agent for Claude {
    fn program(&self, ask: &Ask<'_>) -> Program {
        let mut args = self.args.clone();
        let own = self.settings.repository_settings;
        let trusted: &[&str] = if own { &WITH_ITS_OWN } else { &BARE };
        args.extend(ARGUMENTS.iter().chain(trusted).map(|&arg| arg.to_owned()));
        args.push(format!("--tools={}", tools_of(ask.tools)));
        args.push(format!("--json-schema={}", schema(ask.reporter)));
        args.push(format!("--append-system-prompt-file={}", ask.home.join(STABLE).display()));
        let own_word = || ask.by_preset.then(|| own_word(ask.tier));
        let model = ask.model(&self.settings.models).or_else(own_word);
        args.extend(model.map(|it| format!("--model={it}")));
        args.extend(ask.effort(&self.settings.effort).map(|it| format!("--effort={it}")));
        args.extend(ask.spend.turns.map(|it| format!("--max-turns={it}")));
        // It counts on from what its session has cost.
        let before = if let Reported::Known(cost) = ask.before.cost { cost } else { 0 };
        let budget = ask.spend.cost_micros.map(|it| it.saturating_add(before));
        args.extend(budget.map(|it| format!("--max-budget-usd={}", dollars(it))));
        args.push(match ask.resumes {
            Some(session) => format!("--resume={session}"),
            None => format!("--session-id={}", ask.session),
        });
        let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let mut env = environment(ask);
        env.extend(ENVIRONMENT.map(own));
        env.push(("CLAUDE_CONFIG_DIR".to_owned(), ask.home.join(OWN).display().to_string()));
        env.extend(self.settings.base_url.iter().map(|url| own(("ANTHROPIC_BASE_URL", url))));
        Program {
            program: self.program.clone(),
            args,
            env,
            stdin: ask.rest().as_bytes().to_vec(),
            files: vec![(STABLE.into(), ask.stable().into())],
            ..Program::default()
        }
    }

    fn listener(&self, ask: &Ask<'_>) -> Box<dyn Listener> {
        let stream = Stream::new(ask.reporter.clone(), self.settings.prices.clone());
        Box::new(Stream { before: ask.before, ..stream })
    }

    fn record(&self) -> Option<Record> {
        Some(Record { below: Path::new(record::PROJECTS), live: false })
    }

    fn session(&self, home: &Path, session: &str, heard: &[String]) -> Option<String> {
        record::remembers(home, session, heard).then(|| session.to_owned())
    }
}

/// Its own word for the newest model of a tier.
fn own_word(tier: Tier) -> &'static str {
    match tier {
        Tier::Strong => "opus",
        Tier::Standard => "sonnet",
        Tier::Fast => "haiku",
    }
}

/// Its own names for what a role may use, in an order that stays the same.
fn tools_of(wanted: &[String]) -> String {
    const TOOLS: [(&str, &str); 8] = [
        ("Bash", "run"),
        ("Edit", "edit"),
        ("Glob", "read search"),
        ("Grep", "read search"),
        ("Read", "read"),
        ("WebFetch", "web"),
        ("WebSearch", "web"),
        ("Write", "edit"),
    ];
    let is_wanted = |of: &str| match wanted {
        [] => of != "web",
        wanted => of.split(' ').any(|one| wanted.iter().any(|own| own == one)),
    };
    let names = TOOLS.into_iter().filter(|(_, of)| is_wanted(of)).map(|(name, _)| name);
    names.collect::<Vec<_>>().join(",")
}

/// Dollars, as a number with a point, rounded down.
fn dollars(micros: u64) -> String {
    format!("{}.{:04}", micros / 1_000_000, micros % 1_000_000 / 100)
}

/// Listens to what it prints.
#[derive(Clone)]
struct Stream {
    reporter: Reporter,
    prices: Prices,
    tally: Tally,
    /// It was cut off before; what it used up then, its own account does not have.
    past: bool,
    /// What its session had used up when this invocation began, which its account has as well.
    before: Usage,
    /// A model has said something.
    answered: bool,
    /// The message that is being written.
    current: String,
    /// Its provider says: not before this.
    limit: Option<i64>,
    denied: Vec<String>,
    /// It was not let in, or has no key at all.
    unwelcome: bool,
    result: Option<Map<String, Json>>,
    drift: Drift,
}

impl Listener for Stream {
    fn line(&mut self, from: Source, line: &[u8]) -> Vec<Event> {
        let Some(event) = event(line) else { return self.drift.no_event(from, line) };
        let strange = self.drift.heed(from, &event);
        self.hear(from, event).into_iter().chain(strange).collect()
    }

    fn models(&self) -> Vec<ModelUse> {
        self.tally.models(&self.prices)
    }

    fn answer(self: Box<Self>, output: &Heard<'_>) -> Answer {
        let usage = self.usage();
        let mut answer = match (output.fate, &self.result) {
            (Fate::TimedOut, _) => Answer::only(Came::TimedOut, "it took too long"),
            (Fate::Signalled(signal), _) => killed(signal),
            (Fate::Exited(code @ 129..=159), None) => killed(code - 128),
            (Fate::Exited(code), None) => {
                let remark = format!("it exited with {code} and gave no result");
                Answer::only(Came::Crashed, remark)
            }
            (Fate::Exited(code), Some(result)) => self.read(code, result),
        };
        if !self.denied.is_empty() {
            let remark = format!("it was not allowed to use {}", self.denied.join(", "));
            answer.remarks.push(remark);
        }
        answer.remarks.extend(self.drift.remarks());
        Answer { usage, ..answer }
    }
}

impl Stream {
    /// One line of what it writes.
    fn hear(&mut self, from: Source, event: Map<String, Json>) -> Vec<Event> {
        let kind = text(&event, "type").unwrap_or_default();
        if from != Source::Output {
            // Its own record says what it has used up, and that is all that is of interest there.
            if kind == "assistant" && from == Source::Past {
                self.past = true;
                self.message(&event);
            }
            return Vec::new();
        }
        match kind {
            "system" => self.system(&event),
            "assistant" => {
                self.unwelcome |= text(&event, "error") == Some("authentication_failed");
                let mut events = said(&event);
                events.extend(self.message(&event));
                events.extend(record::steps(&event).map(Event::Step));
                events
            }
            "user" => record::steps(&event).map(Event::Step).collect(),
            "stream_event" => self.partial(&event).unwrap_or_default(),
            "rate_limit_event" => self.rate_limit(&event).into_iter().collect(),
            "result" => {
                self.result(event);
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn new(reporter: Reporter, prices: Prices) -> Self {
        Stream {
            reporter,
            prices,
            tally: Tally::default(),
            past: false,
            before: Usage::NONE,
            answered: false,
            current: String::new(),
            limit: None,
            denied: Vec::new(),
            unwelcome: false,
            result: None,
            drift: Drift::from(&contract::CONTRACT),
        }
    }

    fn system(&mut self, event: &Map<String, Json>) -> Vec<Event> {
        match text(event, "subtype") {
            Some("init") => {
                let session = text(event, "session_id").map(str::to_owned);
                session.map(Event::Session).into_iter().collect()
            }
            Some("api_retry") => {
                let wait = event.get("retry_delay_ms").and_then(Json::as_u64);
                wait.map(Event::Waits).into_iter().collect()
            }
            Some("permission_denied") => {
                let tool = text(event, "tool_name").unwrap_or("a tool");
                let tool = one_line(tool);
                if !self.denied.contains(&tool) && self.denied.len() < 20 {
                    self.denied.push(tool.clone());
                }
                vec![Event::Denied(tool)]
            }
            _ => Vec::new(),
        }
    }

    /// A message, or a part of one, with what it used up as far as that is known.
    fn message(&mut self, event: &Map<String, Json>) -> Option<Event> {
        let message = event.get("message")?.as_object()?;
        let id = text(message, "id")?;
        let model = text(message, "model")?;
        // What it says itself, in the model's place, nobody pays for.
        if model == "<synthetic>" {
            return None;
        }
        self.answered = true;
        let tokens = tokens(message.get("usage")?.as_object()?);
        self.tally.request(id, model, tokens);
        Some(Event::Usage(self.tally.usage(&self.prices)))
    }

    /// A part of a message while it is being written.
    fn partial(&mut self, event: &Map<String, Json>) -> Option<Vec<Event>> {
        let inner = event.get("event")?.as_object()?;
        match text(inner, "type")? {
            "message_start" => {
                self.current = text(inner.get("message")?.as_object()?, "id")?.to_owned();
                Some([Event::Turn].into_iter().chain(self.message(inner)).collect())
            }
            "message_delta" => {
                let id = text(event, "api_message_id").unwrap_or(&self.current).to_owned();
                let tokens = tokens(inner.get("usage")?.as_object()?);
                self.tally.request(&id, "", tokens);
                Some(vec![Event::Usage(self.tally.usage(&self.prices))])
            }
            _ => None,
        }
    }

    fn rate_limit(&mut self, event: &Map<String, Json>) -> Option<Event> {
        let info = event.get("rate_limit_info")?.as_object()?;
        if text(info, "status")? != "rejected" {
            return None;
        }
        let until = info.get("resetsAt").and_then(Json::as_i64);
        let until = until.and_then(|seconds| seconds.checked_mul(1_000));
        self.limit = until.or(self.limit);
        Some(Event::Limit(until))
    }

    /// Of several results the last one counts; what was spent only grows.
    fn result(&mut self, mut result: Map<String, Json>) {
        let cost = |of: &Map<String, Json>| of.get("total_cost_usd").and_then(Json::as_f64);
        if let Some(before) = self.result.as_ref().and_then(cost)
            && cost(&result).is_none_or(|now| now < before)
        {
            result.insert("total_cost_usd".to_owned(), before.into());
        }
        self.result = Some(result);
    }

    /// What a result says, given the code that the program ended with.
    fn read(&self, code: i32, result: &Map<String, Json>) -> Answer {
        let told = text(result, "result").unwrap_or_default();
        let failed = code != 0
            || text(result, "subtype").is_some_and(|it| it.starts_with("error"))
            || result.get("is_error").and_then(Json::as_bool) != Some(false)
            || text(result, "terminal_reason").is_some_and(|reason| reason != "completed");
        if failed {
            let why = one_line(if told.is_empty() { first_error(result) } else { told });
            let why = if why.is_empty() { format!("it exited with {code}") } else { why };
            return Answer::only(self.failure(result), why);
        }
        match result.get("structured_output").filter(|output| output.is_object()) {
            Some(output) => Answer::of_text(Fate::Exited(0), output.to_string(), &self.reporter),
            None => Answer::of_text(Fate::Exited(0), told.to_owned(), &self.reporter),
        }
    }

    fn failure(&self, result: &Map<String, Json>) -> Came {
        let status = result.get("api_error_status").and_then(Json::as_u64);
        match (text(result, "terminal_reason"), text(result, "subtype")) {
            (Some("prompt_too_long"), _) => return Came::ContextFull,
            (Some("max_turns" | "budget_exhausted"), _)
            | (_, Some("error_max_turns" | "error_max_budget_usd")) => return Came::Exhausted,
            (_, Some("error_max_structured_output_retries")) => return Came::Unknown,
            _ => {}
        }
        if text(result, "stop_reason") == Some("refusal") {
            return Came::Refused;
        }
        if self.unwelcome {
            return Came::Unwelcome;
        }
        match (status, text(result, "api_error"), text(result, "api_error_type")) {
            (_, Some("usage_limit_reached"), _) | (Some(429), _, _) => Came::Limited(self.limit),
            (Some(401 | 403), _, _) => Came::Unwelcome,
            (_, Some("max_output_tokens"), _) => Came::TooLong,
            (Some(500..), _, _) | (_, Some("connection_failed"), _) => Came::Overloaded,
            (_, _, Some("overloaded_error")) => Came::Overloaded,
            // The provider was asked and did not answer.
            (None, None, None) if text(result, "terminal_reason") == Some("api_error") => {
                Came::Overloaded
            }
            _ => Came::Crashed,
        }
    }

    /// What it used up: by its own account, or nobody knows all of it.
    fn usage(&self) -> Usage {
        let Some(result) = &self.result else { return Usage::UNKNOWN };
        let seen = self.tally.usage(&self.prices);
        let Reported::Known(tokens) = seen.tokens else { return seen };
        let less = |figure: u64, before: Reported| match before {
            Reported::Known(before) => figure.checked_sub(before),
            Reported::Unknown => None,
        };
        let account = less(accounted(result), self.before.tokens).unwrap_or(0);
        let tokens = if self.past { tokens } else { tokens.max(account) };
        if self.answered && tokens == 0 {
            // No model answers for nothing: its provider did not say.
            return Usage::UNKNOWN;
        }
        let cost = result.get("total_cost_usd").and_then(Json::as_f64).and_then(micros);
        let cost = cost.and_then(|cost| less(cost, self.before.cost));
        // Its own account does not go back to before it was cut off, and a model that it has no price for is not free.
        let cost = match cost {
            Some(cost) if !self.past && (cost > 0 || tokens == 0) => Reported::Known(cost),
            _ if seen.tokens == Reported::Known(tokens) => seen.cost,
            _ => Reported::Unknown,
        };
        Usage { cost, tokens: Reported::Known(tokens) }
    }
}

/// Tokens of all models, by its own account.
fn accounted(result: &Map<String, Json>) -> u64 {
    let models = result.get("modelUsage").and_then(Json::as_object);
    let figures =
        ["inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"];
    let of = |model: &Json| {
        let all = figures.iter().filter_map(|key| model.get(key)?.as_u64());
        all.fold(0, u64::saturating_add)
    };
    models.into_iter().flat_map(Map::values).map(of).fold(0, u64::saturating_add)
}

fn first_error(result: &Map<String, Json>) -> &str {
    let errors = result.get("errors").and_then(Json::as_array);
    errors.and_then(|errors| errors.first()?.as_str()).unwrap_or_default()
}

fn killed(signal: i32) -> Answer {
    Answer::only(Came::Killed, format!("it was ended by signal {signal}"))
}

fn tokens(usage: &Map<String, Json>) -> Tokens {
    let figure = |key: &str| usage.get(key).and_then(Json::as_u64).unwrap_or(0);
    Tokens {
        input: figure("input_tokens"),
        cached: figure("cache_read_input_tokens"),
        cache_write: figure("cache_creation_input_tokens"),
        output: figure("output_tokens"),
    }
}

/// What a message says and does.
fn said(event: &Map<String, Json>) -> Vec<Event> {
    let content = event.get("message").and_then(|message| message.get("content")?.as_array());
    let mut events = Vec::new();
    for block in content.into_iter().flatten().filter_map(Json::as_object) {
        match text(block, "type") {
            Some("text") => {
                events.extend(text(block, "text").map(|it| Event::Text(it.to_owned())));
            }
            Some("tool_use") => events.extend(used(block)),
            _ => {}
        }
    }
    events
}

fn used(block: &Map<String, Json>) -> Vec<Event> {
    let name = one_line(text(block, "name").unwrap_or_default());
    let input = block.get("input").and_then(Json::as_object);
    let about = input.and_then(|input| {
        ["file_path", "command", "pattern", "url", "query"].iter().find_map(|key| text(input, key))
    });
    let about = about.map(one_line).unwrap_or_default();
    let changed = matches!(name.as_str(), "Edit" | "Write").then(|| Event::Change(about.clone()));
    [Event::Tool { name, about }].into_iter().chain(changed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spend;
    use crate::transcripts::{comes_to, cut_everywhere, holds_to, mills, stream, worker};

    fn listener(prices: &str) -> Stream {
        Stream::new(worker(), toml::from_str(prices).unwrap())
    }

    fn came(name: &str, code: i32) -> (Came, Option<u64>) {
        let (came, usage) = comes_to(Box::new(listener("")), &stream(name), Fate::Exited(code));
        (came, mills(usage))
    }

    #[test]
    fn every_recorded_stream_comes_to_what_it_came_to() {
        let done = || Came::Verdict("done".to_owned());
        for (name, code, want, cost) in [
            ("claude-edit", 0, done(), Some(101)),
            ("claude-nonroot", 0, done(), Some(61)),
            ("claude-partial", 0, done(), Some(37)),
            ("claude-session1", 0, done(), Some(37)),
            ("claude-streamin", 0, Came::Verdict("second".into()), Some(86)),
            ("claude-resume", 0, Came::Verdict("second".into()), Some(44)),
            ("claude-resume-badid", 1, Came::Crashed, Some(0)),
            ("claude-rl429-recover", 0, done(), Some(101)),
            ("claude-rl429-forever", 1, Came::Limited(None), Some(79)),
            ("claude-e529-recover", 0, done(), Some(101)),
            ("claude-e529-forever", 1, Came::Overloaded, Some(16)),
            ("claude-e500-forever", 1, Came::Overloaded, Some(16)),
            ("claude-e401", 1, Came::Unwelcome, Some(0)),
            ("claude-cut-recover", 0, done(), Some(107)),
            ("claude-cut-forever", 1, Came::Overloaded, Some(22)),
            ("claude-hang-apitimeout", 1, Came::Overloaded, Some(16)),
            ("claude-overflow", 0, done(), Some(257)),
            ("claude-refusal", 1, Came::Refused, Some(93)),
            ("claude-maxtokens", 1, Came::TooLong, Some(43)),
            ("claude-maxturns", 1, Came::Exhausted, Some(23)),
            ("claude-budget", 1, Came::Exhausted, Some(79)),
            ("claude-sigterm", 143, Came::Killed, None),
            ("claude-sigint", 0, Came::Crashed, None),
            ("claude-perm-default", 0, done(), Some(101)),
        ] {
            assert_eq!(came(name, code), (want, cost), "{name}");
        }
    }

    #[test]
    fn a_stream_that_stops_without_a_result_is_no_success() {
        for name in ["claude-hangmid-idletimeout", "claude-hangmid-watchdog", "claude-sigkill"] {
            for (fate, want) in [
                (Fate::TimedOut, Came::TimedOut),
                (Fate::Signalled(9), Came::Killed),
                (Fate::Exited(137), Came::Killed),
                (Fate::Exited(0), Came::Crashed),
            ] {
                let (came, usage) = comes_to(Box::new(listener("")), &stream(name), fate);
                assert_eq!((came, usage), (want, Usage::UNKNOWN), "{name} {fate:?}");
            }
        }
    }

    #[test]
    fn what_is_not_as_it_was_is_noticed() {
        holds_to("claude-", &contract::CONTRACT, || listener(""));
    }

    #[test]
    fn cut_off_anywhere_it_is_never_taken_for_a_success() {
        cut_everywhere("claude-", || listener(""));
    }

    fn events(name: &str, prices: &str) -> Vec<Event> {
        let mut listener = listener(prices);
        let stream = stream(name);
        let lines = stream.split(|byte| *byte == b'\n');
        lines.flat_map(|line| listener.line(Source::Output, line)).collect()
    }

    #[test]
    fn events_say_what_it_does_as_it_does_it() {
        let events = events("claude-edit", "");
        let session = "22ed9903-db8b-4025-9a5f-d1a9e7b995de".to_owned();
        assert_eq!(events[0], Event::Session(session));
        assert_eq!(events[1], Event::Text("I will look at the file first.".into()));
        let tool = |name: &str, about: &str| Event::Tool { name: name.into(), about: about.into() };
        assert!(events.contains(&tool("Read", "/repo/greet.py")), "{events:?}");
        assert!(events.contains(&Event::Change("/repo/greet.py".into())));
        assert!(self::events("claude-rl429-recover", "").contains(&Event::Waits(1_000)));
        assert!(self::events("claude-perm-default", "").contains(&Event::Denied("Edit".into())));
    }

    #[test]
    fn what_it_has_used_up_is_known_while_it_works() {
        let prices =
            "claude-sonnet-4-5 = { input = 3.0, output = 15.0, cached = 0.3, cache-write = 3.75 }";
        let spent: Vec<u64> = events("claude-partial", prices)
            .into_iter()
            .filter_map(|event| match event {
                Event::Usage(Usage { cost: Reported::Known(micros), .. }) => Some(micros),
                _ => None,
            })
            .collect();
        assert!(spent.is_sorted() && spent.len() > 8, "{spent:?}");
        // By its own account 0.0379704 dollars, which it says at the end only.
        assert_eq!(spent.last(), Some(&37_971));
        assert_eq!(spent[0], 16_153, "what the first request reads is known before it is answered");
    }

    #[test]
    fn a_limit_says_until_when() {
        let line = br#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1794845365,"rateLimitType":"five_hour"}}"#;
        let result = br#"{"type":"result","subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":429,"api_error":"usage_limit_reached","total_cost_usd":0}"#;
        let mut own = listener("");
        let until = 1_794_845_365_000;
        assert_eq!(own.line(Source::Output, line), [Event::Limit(Some(until))]);
        own.line(Source::Output, result);
        let answer = Box::new(own).answer(&Heard { fate: Fate::Exited(1), stdout: b"" });
        assert_eq!(answer.came, Came::Limited(Some(until)));
        let warning = br#"{"type":"rate_limit_event","rate_limit_info":{"status":"allowed_warning","resetsAt":1}}"#;
        assert_eq!(listener("").line(Source::Output, warning), []);
    }

    #[test]
    fn what_was_used_up_before_it_was_cut_off_counts() {
        let past = br#"{"type":"assistant","message":{"id":"m1","model":"m","usage":{"input_tokens":1000,"output_tokens":100}}}"#;
        let now = br#"{"type":"assistant","message":{"id":"m2","model":"m","content":[],"usage":{"input_tokens":2000,"output_tokens":1}}}"#;
        let result = br#"{"type":"result","is_error":false,"terminal_reason":"completed","result":"done","total_cost_usd":0.002,"modelUsage":{"m":{"inputTokens":2000}}}"#;
        let usage = |prices: &str| {
            let mut listener = listener(prices);
            listener.line(Source::Past, past);
            listener.line(Source::Output, now);
            // It stands in its record too, and is not counted twice.
            listener.line(Source::Record, now);
            listener.line(Source::Output, result);
            Box::new(listener).answer(&Heard { fate: Fate::Exited(0), stdout: b"" }).usage
        };
        let tokens = Reported::Known(3_101);
        assert_eq!(usage(""), Usage { cost: Reported::Unknown, tokens });
        let cost = Reported::Known(3_101);
        assert_eq!(usage("m = { input = 1.0, output = 1.0 }"), Usage { cost, tokens });
    }

    #[test]
    fn a_model_without_a_price_of_its_own_is_not_free() {
        let line = br#"{"type":"result","is_error":false,"terminal_reason":"completed","result":"done","total_cost_usd":0,"modelUsage":{"m":{"inputTokens":2000}}}"#;
        let (came, usage) = comes_to(Box::new(listener("")), line, Fate::Exited(0));
        assert_eq!(came, Came::Verdict("done".into()));
        assert_eq!(usage, Usage { cost: Reported::Unknown, tokens: Reported::Known(2_000) });
    }

    #[test]
    fn who_has_no_key_at_all_is_not_let_in_either() {
        let said = br#"{"type":"assistant","error":"authentication_failed","message":{"id":"m","model":"<synthetic>","content":[]}}"#;
        let result = br#"{"type":"result","subtype":"success","is_error":true,"terminal_reason":"api_error","result":"Not logged in","total_cost_usd":0,"modelUsage":{}}"#;
        let stream = [&said[..], &result[..]].join(&b'\n');
        let (came, usage) = comes_to(Box::new(listener("")), &stream, Fate::Exited(1));
        assert_eq!((came, usage), (Came::Unwelcome, Usage::NONE));
        let odd = br#"{"type":"result","subtype":"error_during_execution","is_error":false,"result":"done"}"#;
        let (came, _) = comes_to(Box::new(listener("")), odd, Fate::Exited(0));
        assert_eq!(came, Came::Crashed, "an error is no success, whatever else it says");
    }

    #[test]
    fn a_provider_that_does_not_count_is_not_free() {
        let said = br#"{"type":"assistant","message":{"id":"m","model":"m","content":[],"usage":{"input_tokens":0,"output_tokens":0}}}"#;
        let result = br#"{"type":"result","is_error":false,"terminal_reason":"completed","result":"done","total_cost_usd":0,"modelUsage":{}}"#;
        let stream = [&said[..], &result[..]].join(&b'\n');
        let (_, usage) = comes_to(Box::new(listener("")), &stream, Fate::Exited(0));
        assert_eq!(usage, Usage::UNKNOWN);
    }

    fn claude(settings: &str) -> Claude {
        let settings = toml::from_str(settings).unwrap();
        Claude { program: "/bin/claude".into(), args: Vec::new(), settings }
    }

    #[test]
    fn it_is_told_what_stays_the_same_apart_from_the_rest() {
        let reporter = worker();
        let ask = Ask {
            prompt: "the role. the task.",
            stable_bytes: 10,
            tier: Tier::Strong,
            spend: Spend { cost_micros: Some(1_750_099), tokens: None, turns: Some(40) },
            ..Ask::example(&reporter)
        };
        let settings = "models = { strong = 'opus' }\neffort = { strong = 'high' }\nbase-url = 'http://127.0.0.1:1'";
        let program = claude(settings).program(&ask);
        assert_eq!(program.stdin, b"the task.");
        assert_eq!(program.files, [(PathBuf::from(STABLE), b"the role. ".to_vec())]);
        for arg in [
            "--model=opus",
            "--effort=high",
            "--max-turns=40",
            "--max-budget-usd=1.7500",
            "--append-system-prompt-file=/home/.claude/role.md",
            "--session-id=00000000-0000-4000-8000-000000000000",
            "--safe-mode",
        ] {
            assert!(program.args.iter().any(|own| own == arg), "{arg}: {:?}", program.args);
        }
        let variable =
            |name: &str| program.env.iter().find(|(own, _)| own == name).map(|it| &*it.1);
        assert_eq!(variable("CLAUDE_CONFIG_DIR"), Some("/home/.claude"));
        assert_eq!(variable("ANTHROPIC_BASE_URL"), Some("http://127.0.0.1:1"));
        let own = claude("repository-settings = true").program(&ask).args;
        assert!(own.contains(&"--setting-sources=project".to_owned()));
        assert!(!own.contains(&"--safe-mode".to_owned()));
        let again = Ask { resumes: Some("abc"), ..ask };
        let args = claude(settings).program(&again).args;
        assert!(
            args.contains(&"--resume=abc".to_owned())
                && !args.iter().any(|it| it.contains("session-id"))
        );
    }

    #[test]
    fn a_role_has_the_tools_that_it_may_use() {
        let tools = |wanted: &[&str]| {
            tools_of(&wanted.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(tools(&[]), "Bash,Edit,Glob,Grep,Read,Write");
        assert_eq!(tools(&["read", "search"]), "Glob,Grep,Read");
        assert_eq!(tools(&["web", "run"]), "Bash,WebFetch,WebSearch");
    }

    #[test]
    fn a_session_that_was_left_behind_is_found() {
        let home = tempfile::tempdir().unwrap();
        let found = || claude("").session(home.path(), "abc", &[]);
        assert_eq!(found(), None);
        let project = home.path().join(".claude/projects/-lane");
        std::fs::create_dir_all(&project).unwrap();
        assert_eq!(found(), None);
        std::fs::write(project.join("abc.jsonl"), "{}").unwrap();
        assert_eq!(found().as_deref(), Some("abc"));
    }
}
