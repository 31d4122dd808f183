//! `kind = "gemini"`: Gemini CLI, headless.
//!
//! It is started for one answer, with a session of its own, in a home of its own. It prints an event in each line, the
//! last one being the result, and ends with what is left of its provider's answer in its exit code. What it uses up it
//! prints only at the end; the record that it keeps of its session has it at once, so that is listened to as well.

mod contract;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};
use windlass_core::lang::Reporter;
use windlass_core::run::{Reported, Usage};

use crate::contract::Drift;
use crate::line::{ByTier, UNPRICED, Words, without_key};
use crate::listen::{Event, Listener, ModelUse, Source, Tally, Tokens, event, text};
use crate::price::Prices;
use crate::{
    Agent, Answer, Ask, Came, Fate, Flaw, Heard, Here, Missing, Program, Record, environment,
    one_line, record_files,
};

/// What the configuration says.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Gemini")]
pub struct Settings {
    /// Its program, and arguments that it gets besides; `["gemini"]` if not said.
    #[serde(default = "command")]
    command: Words,
    /// Where its model is, if not at its provider's usual place.
    base_url: Option<String>,
    /// Variables that it gets from Windlass's own environment; `GEMINI_API_KEY`, if not said.
    #[serde(default = "keys")]
    env: Vec<String>,
    /// Which model it is to use for roles of a tier (`strong`, `standard`, `fast`); its own choice, if not said.
    #[serde(default)]
    models: ByTier,
    /// Prices of models, in dollars for a million tokens: it does not say itself what it costs.
    #[serde(default)]
    prices: Prices,
    /// It gets what the repository has for it: `GEMINI.md`, and the settings, hooks, servers and skills that `[sandbox]
    /// unmask` shows. Whoever can change the repository can have it run anything then.
    #[serde(default)]
    repository_settings: bool,
}

fn command() -> Words {
    Words::of("gemini")
}

fn keys() -> Vec<String> {
    vec!["GEMINI_API_KEY".to_owned()]
}

impl crate::Settings for Settings {
    fn flaw(&self) -> Option<Flaw> {
        let flaw = self.command.flaw().or_else(|| self.models.flaw("a model"));
        flaw.or_else(|| self.prices.flaw())
    }

    fn handed(&self) -> Vec<String> {
        self.env.clone()
    }

    fn lacks(&self, is_set: &dyn Fn(&str) -> bool) -> Option<(String, String)> {
        (!self.env.iter().any(|name| is_set(name))).then(|| without_key(&self.env))
    }

    fn advice(&self) -> Option<String> {
        self.prices.is_empty().then(|| UNPRICED.to_owned())
    }

    fn led_to(&self, server: &str) -> Option<String> {
        Some(server.to_owned())
    }

    fn vendor(&self) -> Option<&'static str> {
        Some("Google")
    }

    fn words(&self) -> &[String] {
        self.command.all()
    }

    fn agent(&self, here: &Here<'_>) -> Result<Arc<dyn Agent>, Missing> {
        let (program, args) = self.command.find(here)?;
        Ok(Arc::new(Gemini { program, args, settings: self.clone() }))
    }
}

/// Gemini CLI.
struct Gemini {
    program: PathBuf,
    args: Vec<String>,
    settings: Settings,
}

/// Its own settings, in its home.
const SETTINGS: &str = ".gemini/settings.json";
/// What it may use, in its home.
const POLICY: &str = ".gemini/policies/windlass.toml";
/// Where its sessions are, in its home.
const SESSIONS: &str = ".gemini/tmp";

/// One answer, as events; nobody is there to be asked, so what it may do is in its policy.
const ARGUMENTS: [&str; 3] =
    ["--output-format=stream-json", "--approval-mode=default", "--extensions=none"];

impl Agent for Gemini {
    fn program(&self, ask: &Ask<'_>) -> Program {
        let mut args = self.args.clone();
        args.extend(ARGUMENTS.map(str::to_owned));
        args.extend(ask.model(&self.settings.models).map(|it| format!("--model={it}")));
        args.push(match ask.resumes {
            Some(session) => format!("--resume={session}"),
            None => format!("--session-id={}", ask.session),
        });
        let own = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut env = environment(ask);
        env.push(own("GEMINI_CLI_HOME", &ask.home.display().to_string()));
        // One program and not two: the first of them would not be ended by a signal.
        env.push(own("GEMINI_CLI_NO_RELAUNCH", "true"));
        // Where it does not trust, it heeds none of the settings, memory files, skills and servers that are there.
        let trusted = if self.settings.repository_settings { "true" } else { "false" };
        env.push(own("GEMINI_CLI_TRUST_WORKSPACE", trusted));
        env.extend(self.settings.base_url.iter().map(|url| own("GOOGLE_GEMINI_BASE_URL", url)));
        let bare = !self.settings.repository_settings;
        Program {
            program: self.program.clone(),
            args,
            env,
            stdin: ask.prompt.as_bytes().to_vec(),
            files: vec![
                (SETTINGS.into(), own_settings(bare, ask.spend.turns).to_string().into()),
                (POLICY.into(), policy(ask.tools, bare).into()),
            ],
            ..Program::default()
        }
    }

    fn listener(&self, ask: &Ask<'_>) -> Box<dyn Listener> {
        Box::new(Stream::new(ask.reporter.clone(), self.settings.prices.clone()))
    }

    fn record(&self) -> Option<Record> {
        Some(Record { below: Path::new(SESSIONS), live: true })
    }

    fn session(&self, home: &Path, session: &str, heard: &[String]) -> Option<String> {
        let read = |file: PathBuf| std::fs::read(file).ok();
        let records = record_files(&home.join(SESSIONS)).into_iter().filter_map(read);
        let mut written = HashSet::new();
        let mut is_there = false;
        for record in records {
            for line in record.split(|byte| *byte == b'\n').filter_map(event) {
                is_there |= text(&line, "sessionId") == Some(session);
                written.extend(steps(&line));
            }
        }
        let remembers = heard.iter().all(|step| written.contains(step));
        (is_there && remembers).then(|| session.to_owned())
    }
}

/// Its own settings: nothing that calls home, reaches out or varies, and no more patience with a provider in trouble than
/// Windlass has itself.
fn own_settings(bare: bool, turns: Option<u32>) -> Json {
    let mut settings = json!({
        // It would not work where it does not trust, if it cared.
        "security": {
            "auth": { "selectedType": "gemini-api-key" },
            "folderTrust": { "enabled": false },
        },
        "general": {
            "maxAttempts": 3,
            "retryFetchErrors": true,
            "enableAutoUpdate": false,
            "enableAutoUpdateNotification": false,
            "checkpointing": { "enabled": false },
            "sessionRetention": { "enabled": false },
            "topicUpdateNarration": false,
            "plan": { "enabled": false },
        },
        "privacy": { "usageStatisticsEnabled": false },
        "telemetry": { "enabled": false },
        "context": {
            "includeDirectoryTree": false,
            "fileFiltering": { "enableRecursiveFileSearch": false },
        },
        "advanced": { "ignoreLocalEnv": true, "autoConfigureMemory": false },
        "tools": { "shell": { "enableInteractiveShell": false } },
        "experimental": { "enableAgents": false },
    });
    if bare {
        settings["hooksConfig"] = json!({ "enabled": false });
        settings["skills"] = json!({ "enabled": false });
        let none = json!({ "enabled": false });
        settings["admin"] = json!({ "mcp": none, "extensions": none, "skills": none });
    }
    if let Some(turns) = turns {
        settings["model"] = json!({ "maxSessionTurns": turns });
    }
    settings
}

/// What a role may use, in its own words: what it may not is not offered to its model at all.
fn policy(wanted: &[String], bare: bool) -> String {
    const TOOLS: [(&str, &str); 9] = [
        ("glob", "read search"),
        ("google_web_search", "web"),
        ("grep_search", "read search"),
        ("list_directory", "read search"),
        ("read_file", "read"),
        ("replace", "edit"),
        ("run_shell_command", "run"),
        ("web_fetch", "web"),
        ("write_file", "edit"),
    ];
    let is_wanted = |of: &str| match wanted {
        [] => of != "web",
        wanted => of.split(' ').any(|one| wanted.iter().any(|own| own == one)),
    };
    let names = |whether: bool| {
        let all = TOOLS.into_iter().filter(|(_, of)| is_wanted(of) == whether);
        all.map(|(name, _)| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
    };
    // With what the repository has for it come tools that have other names.
    let denied = if bare { "\"*\"".to_owned() } else { names(false) };
    let rule = |names: &str, decision: &str, priority: u32, more: &str| {
        format!(
            "[[rule]]\ntoolName = [{names}]\ndecision = \"{decision}\"\npriority = {priority}\n{more}\n"
        )
    };
    // A rule about what a command is like goes before what it thinks itself of commands, such as those of git.
    let any = "argsPattern = \".\"\nallowRedirection = true\n";
    let shell = if is_wanted("run") {
        rule("\"run_shell_command\"", "allow", 999, any)
    } else {
        String::new()
    };
    format!("{}{shell}{}", rule(&names(true), "allow", 997, ""), rule(&denied, "deny", 996, ""))
}

/// So much of what it says at once is kept.
const SAID_BYTES: usize = 4 << 20;

/// Listens to what it prints and to what it writes down.
#[derive(Clone)]
struct Stream {
    reporter: Reporter,
    prices: Prices,
    /// By requests of the session that it has written down, also those from before it was cut off.
    tally: Tally,
    /// What they came to when it was started.
    before: Usage,
    /// The last message of its model that it has written down.
    message: String,
    /// What it has said since it did something.
    said: String,
    /// What went wrong besides, as it says itself.
    error: String,
    result: Option<Map<String, Json>>,
    drift: Drift,
}

impl Listener for Stream {
    fn line(&mut self, from: Source, line: &[u8]) -> Vec<Event> {
        let Some(event) = event(line) else { return self.drift.no_event(from, line) };
        let strange = self.drift.heed(from, &event);
        let events = match from {
            Source::Output => self.printed(event),
            Source::Record | Source::Past => self.written(&event).unwrap_or_default(),
            Source::Before => Vec::new(),
        };
        events.into_iter().chain(strange).collect()
    }

    fn models(&self) -> Vec<ModelUse> {
        self.tally.models(&self.prices)
    }

    fn answer(self: Box<Self>, output: &Heard<'_>) -> Answer {
        let fate = self.fate(output.fate);
        let usage = self.usage(fate);
        let mut answer = match (fate, &self.result) {
            (Fate::TimedOut, _) => Answer::only(Came::TimedOut, "it took too long"),
            (Fate::Signalled(signal), _) => killed(signal),
            // It ends like this before it says anything, if it has no key at all.
            (Fate::Exited(41), None) => Answer::only(Came::Unwelcome, "it has no key"),
            (Fate::Exited(code @ 129..=159), None) => killed(code - 128),
            (Fate::Exited(code), None) => {
                let remark = format!("it exited with {code} and gave no result");
                Answer::only(Came::Crashed, remark)
            }
            (Fate::Exited(code), Some(result)) => self.read(code, result),
        };
        answer.remarks.extend(self.drift.remarks());
        Answer { usage, ..answer }
    }
}

impl Stream {
    fn new(reporter: Reporter, prices: Prices) -> Self {
        Stream {
            reporter,
            prices,
            tally: Tally::default(),
            before: Usage::NONE,
            message: String::new(),
            said: String::new(),
            error: String::new(),
            result: None,
            drift: Drift::from(&contract::CONTRACT),
        }
    }

    /// One line of its standard output.
    fn printed(&mut self, event: Map<String, Json>) -> Vec<Event> {
        match text(&event, "type") {
            Some("init") => {
                self.before = self.tally.usage(&self.prices);
                let session = text(&event, "session_id").map(str::to_owned);
                session.map(Event::Session).into_iter().collect()
            }
            Some("message") if text(&event, "role") == Some("assistant") => {
                self.says(text(&event, "content").unwrap_or_default());
                Vec::new()
            }
            Some("tool_use") => self.spoken().into_iter().chain(used(&event)).collect(),
            Some("tool_result") => {
                let had = text(&event, "tool_id").map(|id| Event::Step(format!("had {id}")));
                self.spoken().into_iter().chain(had).collect()
            }
            Some("error") => {
                self.error = one_line(text(&event, "message").unwrap_or_default());
                Vec::new()
            }
            Some("result") => {
                self.result = Some(event);
                let said = (!self.said.is_empty()).then(|| Event::Text(self.said.clone()));
                said.into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    /// A piece of what it says. Of what is longer than any answer, the end is kept.
    fn says(&mut self, piece: &str) {
        self.said.push_str(piece);
        if self.said.len() > SAID_BYTES {
            let from = self.said.ceil_char_boundary(self.said.len() - SAID_BYTES / 2);
            self.said.drain(..from);
        }
    }

    /// What it has said until it did something else.
    fn spoken(&mut self) -> Option<Event> {
        let said = std::mem::take(&mut self.said);
        (!said.is_empty()).then_some(Event::Text(said))
    }

    /// One line of what it writes down: a message of its model may come several times, each time with more.
    fn written(&mut self, event: &Map<String, Json>) -> Option<Vec<Event>> {
        if text(event, "type")? != "gemini" {
            return None;
        }
        let id = text(event, "id")?;
        let tokens = tokens(event.get("tokens")?.as_object()?);
        self.tally.request(id, text(event, "model").unwrap_or_default(), tokens);
        let used = Event::Usage(self.tally.usage(&self.prices));
        if self.message == id {
            return Some(vec![used]);
        }
        id.clone_into(&mut self.message);
        Some(vec![Event::Turn, used])
    }

    /// How it ended. A code that stands for its provider's status may look like a signal to who told of it.
    fn fate(&self, fate: Fate) -> Fate {
        match fate {
            Fate::Signalled(signal) if self.result.is_some() && status(128 + signal).is_some() => {
                Fate::Exited(128 + signal)
            }
            fate => fate,
        }
    }

    /// What a result says, given the code that the program ended with.
    fn read(&self, code: i32, result: &Map<String, Json>) -> Answer {
        if code == 0 && text(result, "status") == Some("success") {
            if self.said.trim().is_empty() {
                return Answer::only(Came::NoOutput, "it ended its turn without a word");
            }
            return Answer::of_text(Fate::Exited(0), self.said.clone(), &self.reporter);
        }
        let error = result.get("error").and_then(Json::as_object);
        let told = error.and_then(|error| text(error, "message")).unwrap_or_default();
        let told = if told.is_empty() { self.error.clone() } else { one_line(told) };
        let told = if told.is_empty() { format!("it exited with {code}") } else { told };
        Answer::only(failure(code, result), told)
    }

    /// What it used up: by its own account, and nobody knows if it gave none.
    fn usage(&self, fate: Fate) -> Usage {
        let (Fate::Exited(code), Some(result)) = (fate, &self.result) else {
            return Usage::UNKNOWN;
        };
        let now = accounted(result, &self.prices);
        let all = Usage {
            cost: plus(self.before.cost, now.cost),
            tokens: plus(self.before.tokens, now.tokens),
        };
        // What it has written down is in its account, and what it asked its model besides the work.
        let written = self.tally.usage(&self.prices);
        let all = if known(all.tokens) < known(written.tokens) { written } else { all };
        let well = text(result, "status") == Some("success");
        match (known(all.tokens), well) {
            (0, false) if code != 0 && failure(code, result) != Came::Crashed => Usage::NONE,
            // No model answers for nothing: its provider did not say.
            (0, _) => Usage::UNKNOWN,
            _ => all,
        }
    }
}

fn known(figure: Reported) -> u64 {
    match figure {
        Reported::Known(figure) => figure,
        Reported::Unknown => 0,
    }
}

fn plus(one: Reported, other: Reported) -> Reported {
    match (one, other) {
        (Reported::Known(one), Reported::Known(other)) => {
            Reported::Known(one.saturating_add(other))
        }
        _ => Reported::Unknown,
    }
}

/// Why it failed, by the kind of its error and by the code that it ended with: that is the last byte of its provider's
/// status, where there was one.
fn failure(code: i32, result: &Map<String, Json>) -> Came {
    let Some(error) = result.get("error").and_then(Json::as_object) else {
        // Its model was asked again and again, and said nothing that can be used: blocked, cut short, or empty.
        return if code == 0 { Came::NoOutput } else { Came::Crashed };
    };
    let kind = text(error, "type").unwrap_or_default();
    match kind {
        "FatalTurnLimitedError" => return Came::Exhausted,
        "FatalAuthenticationError" => return Came::Unwelcome,
        "FatalCancellationError" => return Came::Killed,
        kind if kind.starts_with("Fatal") => return Came::Crashed,
        _ => {}
    }
    match status(code) {
        Some(400) if has_bad_key(text(error, "message").unwrap_or_default()) => Came::Unwelcome,
        Some(400 | 413) => Came::ContextFull,
        Some(401 | 403) => Came::Unwelcome,
        Some(429) => Came::Limited(None),
        Some(500..) => Came::Overloaded,
        // An error that is none of its own, and without a status: its provider was asked and did not answer to the end.
        None if code == 1 && kind == "unknown" => Came::Overloaded,
        _ => Came::Crashed,
    }
}

/// The status of a provider's answer, of which a program's code has the last byte.
fn status(code: i32) -> Option<i32> {
    (400..600).find(|status| code > 1 && status & 0xff == code)
}

/// Whether a provider's answer, handed on as it was, says that the key is wrong: it says so with the status that a prompt
/// has which is too long.
fn has_bad_key(message: &str) -> bool {
    let (Some(from), Some(to)) = (message.find('{'), message.rfind('}')) else { return false };
    let body = message.get(from..=to).and_then(|body| serde_json::from_str::<Json>(body).ok());
    let details = body.as_ref().and_then(|body| body.get("error")?.get("details")?.as_array());
    let reason =
        |detail: &Json| detail.get("reason").and_then(Json::as_str) == Some("API_KEY_INVALID");
    details.into_iter().flatten().any(reason)
}

fn killed(signal: i32) -> Answer {
    Answer::only(Came::Killed, format!("it was ended by signal {signal}"))
}

/// What it used up in this run, by its own account, model by model.
fn accounted(result: &Map<String, Json>, prices: &Prices) -> Usage {
    let models = result.get("stats").and_then(|stats| stats.get("models")?.as_object());
    let mut all = Usage::NONE;
    for (model, stats) in models.into_iter().flatten() {
        let figure = |key: &str| stats.get(key).and_then(Json::as_u64).unwrap_or(0);
        let (read, cached) = (figure("input_tokens"), figure("cached"));
        let tokens = Tokens {
            input: read.saturating_sub(cached),
            cached: cached.min(read),
            cache_write: 0,
            // What it thought is in the sum only.
            output: figure("output_tokens").max(figure("total_tokens").saturating_sub(read)),
        };
        if tokens.total() == 0 {
            continue;
        }
        let cost = prices.of(model, tokens).map_or(Reported::Unknown, Reported::Known);
        all.cost = plus(all.cost, cost);
        all.tokens = plus(all.tokens, Reported::Known(tokens.total()));
    }
    all
}

/// Tokens of one message. What was read from the cache it counts as read once more.
fn tokens(usage: &Map<String, Json>) -> Tokens {
    let figure = |key: &str| usage.get(key).and_then(Json::as_u64).unwrap_or(0);
    let (read, cached) = (figure("input"), figure("cached"));
    Tokens {
        input: read.saturating_sub(cached),
        cached: cached.min(read),
        cache_write: 0,
        output: figure("output").max(figure("total").saturating_sub(read)),
    }
}

fn used(event: &Map<String, Json>) -> Vec<Event> {
    let name = one_line(text(event, "tool_name").unwrap_or_default());
    let input = event.get("parameters").and_then(Json::as_object);
    let keys = ["file_path", "command", "pattern", "dir_path", "query", "prompt"];
    let about = input.and_then(|input| keys.iter().find_map(|key| text(input, key)));
    let about = about.map(one_line).unwrap_or_default();
    let changed = matches!(name.as_str(), "replace" | "write_file");
    let changed = changed.then(|| Event::Change(about.clone()));
    let step = text(event, "tool_id").map(|id| Event::Step(format!("used {id}")));
    [Event::Tool { name, about }].into_iter().chain(changed).chain(step).collect()
}

/// What a line of its record says of tools that it used: it is written when something has come of them.
fn steps(line: &Map<String, Json>) -> Vec<String> {
    let calls = line.get("toolCalls").and_then(Json::as_array).into_iter().flatten();
    let ids = calls
        .filter(|call| call.get("result").is_some())
        .filter_map(|call| call.get("id")?.as_str());
    ids.flat_map(|id| [format!("used {id}"), format!("had {id}")]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spend;
    use crate::transcripts::{comes_to, cut_everywhere, holds_to, mills, stream, worker};

    const PRICES: &str = "'gemini-2.5-pro' = { input = 1.25, cached = 0.31, output = 10.0 }";

    fn listener(prices: &str) -> Stream {
        Stream::new(worker(), toml::from_str(prices).unwrap())
    }

    #[test]
    fn every_recorded_stream_comes_to_what_it_came_to() {
        let done = || Came::Verdict("done".to_owned());
        for (name, code, want, cost) in [
            ("gemini-edit", 0, done(), Some(28)),
            ("gemini-session1", 0, done(), Some(17)),
            ("gemini-resume", 0, Came::Verdict("second".into()), Some(4)),
            ("gemini-rl429-recover", 0, done(), Some(25)),
            ("gemini-perm-default", 0, done(), Some(18)),
            ("gemini-rl429-forever", 173, Came::Limited(None), Some(3)),
            ("gemini-quota", 173, Came::Limited(None), Some(0)),
            ("gemini-e500-attempts", 244, Came::Overloaded, Some(3)),
            ("gemini-e401", 145, Came::Unwelcome, Some(0)),
            ("gemini-badkey", 144, Came::Unwelcome, Some(0)),
            ("gemini-overflow", 144, Came::ContextFull, Some(4)),
            ("gemini-cut-recover", 1, Came::Overloaded, Some(4)),
            // It says success, and nothing but its prose says that it would not.
            ("gemini-refusal", 0, Came::Unknown, Some(8)),
            ("gemini-blocked", 0, Came::NoOutput, Some(18)),
            ("gemini-e500-forever", 0, Came::Crashed, None),
            ("gemini-sigterm", 0, Came::Crashed, None),
        ] {
            let stream = stream(name);
            let came = |prices| comes_to(Box::new(listener(prices)), &stream, Fate::Exited(code));
            let (came_to, usage) = came(PRICES);
            assert_eq!((came_to, mills(usage)), (want, cost), "{name}");
            let unpriced = came("").1;
            let is_none = usage == Usage::NONE || usage == Usage::UNKNOWN;
            assert!(is_none || mills(unpriced).is_none(), "{name}: never free");
            assert_eq!(unpriced.tokens, usage.tokens, "{name}");
        }
    }

    #[test]
    fn a_stream_that_stops_without_a_result_is_no_success() {
        for (fate, want) in [
            (Fate::TimedOut, Came::TimedOut),
            (Fate::Signalled(9), Came::Killed),
            (Fate::Exited(137), Came::Killed),
            (Fate::Exited(0), Came::Crashed),
            (Fate::Exited(41), Came::Unwelcome),
        ] {
            let (came, usage) =
                comes_to(Box::new(listener(PRICES)), &stream("gemini-sigterm"), fate);
            assert_eq!((came, usage), (want, Usage::UNKNOWN), "{fate:?}");
        }
    }

    #[test]
    fn what_is_not_as_it_was_is_noticed() {
        holds_to("gemini-", &contract::CONTRACT, || listener(""));
    }

    #[test]
    fn cut_off_anywhere_it_is_never_taken_for_a_success() {
        cut_everywhere("gemini-", || listener(""));
    }

    #[test]
    fn a_status_is_not_taken_for_a_signal_nor_a_signal_for_a_status() {
        for (name, signal, want) in [
            ("gemini-rl429-forever", 45, Came::Limited(None)),
            ("gemini-e401", 17, Came::Unwelcome),
            ("gemini-overflow", 16, Came::ContextFull),
            ("gemini-overflow", 9, Came::Killed),
            ("gemini-sigterm", 17, Came::Killed),
        ] {
            let fate = Fate::Signalled(signal);
            let (came, _) = comes_to(Box::new(listener("")), &stream(name), fate);
            assert_eq!(came, want, "{name}: {signal}");
        }
    }

    #[test]
    fn a_code_is_the_last_byte_of_a_status() {
        for (code, want) in [
            (0, None),
            (1, None),
            (17, Some(529)),
            (144, Some(400)),
            (173, Some(429)),
            (247, Some(503)),
            (53, Some(565)),
            (130, None),
        ] {
            assert_eq!(status(code), want, "{code}");
        }
        let came = |kind: &str, code| {
            let result = json!({ "status": "error", "error": { "type": kind, "message": "m" } });
            failure(code, result.as_object().unwrap())
        };
        assert_eq!(came("FatalTurnLimitedError", 53), Came::Exhausted);
        assert_eq!(came("FatalAuthenticationError", 41), Came::Unwelcome);
        assert_eq!(came("FatalToolExecutionError", 54), Came::Crashed);
        assert_eq!(came("TypeError", 1), Came::Crashed);
        assert_eq!(came("unknown", 1), Came::Overloaded);
        assert_eq!(came("unknown", 147), Came::Unwelcome);
    }

    fn events(name: &str) -> Vec<Event> {
        let mut listener = listener("");
        let stream = stream(name);
        let lines = stream.split(|byte| *byte == b'\n');
        lines.flat_map(|line| listener.line(Source::Output, line)).collect()
    }

    #[test]
    fn events_say_what_it_does_as_it_does_it() {
        let events = events("gemini-edit");
        let session = "f12bc340-c8d1-40ba-930a-409f01a6adc2".to_owned();
        assert_eq!(events[0], Event::Session(session));
        assert_eq!(events[1], Event::Text("I will look at the file first.".into()));
        let tool = |name: &str, about: &str| Event::Tool { name: name.into(), about: about.into() };
        assert!(events.contains(&tool("read_file", "/repo/greet.py")), "{events:?}");
        assert!(events.contains(&Event::Change("/repo/greet.py".into())));
        let last = Event::Text("Done: greet() now returns \"hello, world\".".into());
        assert_eq!(events.last(), Some(&last));
    }

    const PAST: &[u8] = br#"{"id":"m1","type":"gemini","content":"I look.","tokens":{"input":7905,"output":29,"cached":6656,"thoughts":5,"tool":0,"total":7939},"model":"gemini-2.5-pro"}"#;
    const CALLED: &[u8] = br#"{"id":"m1","type":"gemini","content":"I look.","tokens":{"input":7905,"output":29,"cached":6656,"thoughts":5,"tool":0,"total":7939},"model":"gemini-2.5-pro","toolCalls":[{"id":"c1","name":"replace","args":{},"result":[],"status":"success"}]}"#;

    #[test]
    fn what_it_has_used_up_is_known_while_it_works() {
        let mut own = listener(PRICES);
        let cost = Reported::Known(3_965);
        let usage = Event::Usage(Usage { cost, tokens: Reported::Known(7_939) });
        assert_eq!(own.line(Source::Record, PAST), [Event::Turn, usage.clone()]);
        assert_eq!(own.line(Source::Record, CALLED), [usage], "the same once more");
        assert_eq!(own.line(Source::Record, br#"{"$set":{"lastUpdated":"now"}}"#), []);
    }

    #[test]
    fn what_was_used_up_before_it_was_cut_off_counts() {
        let mut own = listener(PRICES);
        own.line(Source::Past, PAST);
        let all = stream("gemini-resume");
        for line in all.split(|byte| *byte == b'\n') {
            own.line(Source::Output, line);
        }
        let answer = Box::new(own).answer(&Heard { fate: Fate::Exited(0), stdout: b"" });
        assert_eq!(answer.usage.tokens, Reported::Known(7_939 + 12_617));
    }

    fn gemini(settings: &str) -> Gemini {
        let settings = toml::from_str(settings).unwrap();
        Gemini { program: "/bin/gemini".into(), args: Vec::new(), settings }
    }

    #[test]
    fn it_goes_on_with_a_session_that_remembers_all_that_it_did() {
        let home = tempfile::tempdir().unwrap();
        let session = "11111111-1111-4111-8111-111111111111";
        let heard = ["used c1".to_owned(), "had c1".to_owned()];
        let found = |heard: &[String]| gemini("").session(home.path(), session, heard);
        assert_eq!(found(&[]), None, "there is no session");
        let chats = home.path().join(SESSIONS).join("lane/chats");
        std::fs::create_dir_all(&chats).unwrap();
        let file = chats.join("session-2026-11-16T18-42-11111111.jsonl");
        let first = format!("{{\"sessionId\":\"{session}\",\"kind\":\"main\"}}\n");
        std::fs::write(&file, [first.as_bytes(), PAST].concat()).unwrap();
        assert_eq!(found(&[]).as_deref(), Some(session));
        assert_eq!(found(&heard[..1]), None, "it does not know that it used a tool");
        std::fs::write(&file, [first.as_bytes(), CALLED].concat()).unwrap();
        assert_eq!(found(&heard).as_deref(), Some(session));
        let other = ["used c2".to_owned()];
        assert_eq!(found(&other), None);
    }

    #[test]
    fn it_is_told_what_it_may_and_nothing_else_tells_it() {
        let reporter = worker();
        let tools = ["read".to_owned(), "search".to_owned()];
        let spend = Spend { turns: Some(40), ..Spend::default() };
        let ask = Ask { prompt: "the role.", tools: &tools, spend, ..Ask::example(&reporter) };
        let settings = "models = { standard = 'gemini-2.5-pro' }\nbase-url = 'http://127.0.0.1:1'";
        let program = gemini(settings).program(&ask);
        assert_eq!(program.stdin, b"the role.");
        for arg in [
            "--model=gemini-2.5-pro",
            "--session-id=00000000-0000-4000-8000-000000000000",
            "--extensions=none",
        ] {
            assert!(program.args.iter().any(|own| own == arg), "{arg}: {:?}", program.args);
        }
        let variable = |program: &Program, name: &str| {
            program.env.iter().find(|(own, _)| own == name).map(|it| it.1.clone())
        };
        assert_eq!(variable(&program, "GEMINI_CLI_HOME").as_deref(), Some("/home"));
        assert_eq!(variable(&program, "GEMINI_CLI_TRUST_WORKSPACE").as_deref(), Some("false"));
        let url = variable(&program, "GOOGLE_GEMINI_BASE_URL");
        assert_eq!(url.as_deref(), Some("http://127.0.0.1:1"));
        let file =
            |program: &Program, at: usize| String::from_utf8(program.files[at].1.clone()).unwrap();
        let own: Json = serde_json::from_str(&file(&program, 0)).unwrap();
        assert_eq!(own["model"]["maxSessionTurns"], 40);
        assert_eq!(own["hooksConfig"]["enabled"], false);
        let policy: toml::Table = file(&program, 1).parse().unwrap();
        let allowed = policy["rule"][0]["toolName"].to_string();
        assert_eq!(allowed, r#"["glob", "grep_search", "list_directory", "read_file"]"#);
        assert_eq!(policy["rule"][1]["toolName"].to_string(), r#"["*"]"#, "and no shell before");
        let own = gemini("repository-settings = true").program(&ask);
        assert_eq!(variable(&own, "GEMINI_CLI_TRUST_WORKSPACE").as_deref(), Some("true"));
        assert!(!file(&own, 0).contains("hooksConfig") && !file(&own, 1).contains('*'));
        let again = gemini(settings).program(&Ask { resumes: Some("abc"), ..ask }).args;
        assert!(again.contains(&"--resume=abc".to_owned()));
        assert!(!again.iter().any(|arg| arg.contains("session-id")));
    }

    #[test]
    fn a_role_has_the_tools_that_it_may_use() {
        let allowed = |wanted: &[&str]| {
            let wanted: Vec<String> = wanted.iter().map(|it| (*it).to_owned()).collect();
            let policy: toml::Table = policy(&wanted, true).parse().unwrap();
            let names = policy["rule"][0]["toolName"].as_array().unwrap().iter();
            names.map(|name| name.as_str().unwrap().to_owned()).collect::<Vec<_>>().join(",")
        };
        let usual =
            "glob,grep_search,list_directory,read_file,replace,run_shell_command,write_file";
        assert_eq!(allowed(&[]), usual);
        assert_eq!(allowed(&["web", "run"]), "google_web_search,run_shell_command,web_fetch");
    }
}
