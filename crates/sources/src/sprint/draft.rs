//! What a contract begins with: what can be read out of a row of Plans.md and of the project without anybody's opinion.

use std::collections::BTreeMap;

use super::{
    Approval, BrowserMode, Check, Flow, Origin, Profile, Review, Route, SprintContract, Task,
    Terms, VERSION, Validation,
};
use crate::plans::Row;

/// The project's checks that a contract takes over, in this order.
const CHECKS: [&str; 3] = ["test", "lint", "type-check"];

/// What commands begin with, where a DoD has them in code.
const PROGRAMS: [&str; 24] = [
    "bash", "bun", "bundle", "cargo", "deno", "docker", "dotnet", "go", "gradle", "jest", "just",
    "make", "mix", "mvn", "node", "npm", "npx", "phpunit", "pnpm", "pytest", "python", "python3",
    "sh", "yarn",
];

/// Risks by the words that speak of them.
const RISKS: [(&str, &[&str]); 3] = [
    ("needs-spike", &["spike", "investigate", "evaluate", "prototype", "feasibility", "unknown"]),
    (
        "security-sensitive",
        &[
            "security",
            "auth",
            "authentication",
            "authorization",
            "login",
            "password",
            "token",
            "secret",
            "permission",
            "encryption",
            "credential",
            "session",
        ],
    ),
    ("ux-regression", &UI),
];

/// Words that speak of something that is seen in a browser.
const UI: [&str; 10] = [
    "ui",
    "ux",
    "browser",
    "button",
    "click",
    "screenshot",
    "layout",
    "playwright",
    "画面",
    "ブラウザ",
];

impl SprintContract {
    /// The contract of a row, as far as it follows from the row and from the project's checks (commands by name).
    pub fn draft(row: &Row, commands: &BTreeMap<String, String>) -> Self {
        let task = Task {
            id: row.number.to_string(),
            title: row.content.clone(),
            definition_of_done: row.dod.clone(),
            depends_on: row.depends.numbers(),
        };
        Self::about(task, commands)
    }

    /// The same for a task that has no row.
    pub fn of_task(
        id: &str,
        content: &str,
        dod: &str,
        commands: &BTreeMap<String, String>,
    ) -> Self {
        let (id, title, dod) = (id.to_owned(), content.to_owned(), dod.to_owned());
        Self::about(Task { id, title, definition_of_done: dod, ..Task::default() }, commands)
    }

    /// What the review of a row would take, and nothing else of its contract.
    pub fn profile(row: &Row, commands: &BTreeMap<String, String>) -> Profile {
        profile(&said(&row.content, &row.dod), &runtime(&row.dod, commands))
    }

    fn about(task: Task, commands: &BTreeMap<String, String>) -> Self {
        let (content, dod) = (&task.title, &task.definition_of_done);
        let text = said(content, dod);
        let runtime = runtime(dod, commands);
        let browser: Vec<Flow> = checks_in(content, dod)
            .into_iter()
            .filter(|check| has(check, &UI))
            .map(|description| Flow { description, ..Flow::default() })
            .collect();
        let profile = profile(&text, &runtime);
        let is_browser = profile == Profile::Browser;
        let check = |description| Check { description, source: Origin::Dod, id: String::new() };
        let mut contract = SprintContract {
            schema_version: VERSION.to_owned(),
            contract: Terms {
                checks: checks_in(content, dod).into_iter().map(check).collect(),
                non_goals: Vec::new(),
                runtime_validation: runtime,
                browser_validation: browser,
                risk_flags: RISKS
                    .iter()
                    .filter(|(_, words)| has(&text, words))
                    .map(|(flag, _)| (*flag).to_owned())
                    .collect(),
            },
            review: Review {
                reviewer_profile: profile,
                browser_mode: is_browser.then_some(BrowserMode::Exploratory),
                route: is_browser.then_some(Route::ChromeDevtools),
            },
            approval: Approval::default(),
            digest: None,
            more: BTreeMap::new(),
            task,
        };
        contract.name();
        contract
    }
}

/// All that a row says about its task.
fn said(content: &str, dod: &str) -> String {
    format!("{content} {dod}")
}

/// What is run in the lane: the project's checks, and the commands that a DoD has.
fn runtime(dod: &str, commands: &BTreeMap<String, String>) -> Vec<Validation> {
    let mut runtime: Vec<Validation> = Vec::new();
    let known = CHECKS.iter().filter_map(|name| Some((*name, commands.get(*name)?.clone())));
    let named = commands_in(dod).into_iter().map(|command| ("dod", command));
    for (label, command) in known.chain(named) {
        if !runtime.iter().any(|own| own.command == command) {
            runtime.push(Validation { label: label.to_owned(), command });
        }
    }
    runtime
}

fn profile(text: &str, runtime: &[Validation]) -> Profile {
    match (has(text, &UI), runtime.is_empty()) {
        (true, _) => Profile::Browser,
        (false, false) => Profile::Runtime,
        (false, true) => Profile::Static,
    }
}

/// What a DoD asks for, item by item: `a; b`, `(a) one, (b) two`, or all of it. Without one, what is to be done.
fn checks_in(content: &str, dod: &str) -> Vec<String> {
    let dod = if dod.trim_matches(['-', ' ']).is_empty() { content } else { dod };
    let mut parts = vec![String::new()];
    let mut in_code = false;
    let mut rest = dod;
    while let Some(letter) = rest.chars().next() {
        let marker = if in_code { None } else { marker(rest) };
        match (letter, marker) {
            (_, Some(length)) => {
                parts.push(String::new());
                rest = &rest[length..];
                continue;
            }
            (';' | '；' | '。', None) if !in_code => parts.push(String::new()),
            (letter, _) => {
                in_code ^= letter == '`';
                if let Some(last) = parts.last_mut() {
                    last.push(letter);
                }
            }
        }
        rest = &rest[letter.len_utf8()..];
    }
    let trimmed = parts.iter().map(|part| part.trim_matches([' ', ',', '、', '.']).to_owned());
    trimmed.filter(|part| !part.is_empty()).collect()
}

/// How long the mark of an item is that a text begins with: `(a)`, `(12)`.
fn marker(text: &str) -> Option<usize> {
    let (inside, _) = text.strip_prefix('(')?.split_once(')')?;
    let number =
        (1..=2).contains(&inside.len()) && inside.bytes().all(|byte| byte.is_ascii_digit());
    let letter = inside.len() == 1 && inside.bytes().all(|byte| byte.is_ascii_lowercase());
    (number || letter).then_some(inside.len() + 2)
}

/// The commands that a DoD has in code.
fn commands_in(dod: &str) -> Vec<String> {
    let spans = dod.split('`').skip(1).step_by(2).map(str::trim);
    let is_command = |span: &&str| {
        let first = span.split_whitespace().next().unwrap_or_default();
        let more = span.split_whitespace().nth(1).is_some();
        (first.starts_with("./") && !first.ends_with('/'))
            || (PROGRAMS.contains(&first) && (more || first == "pytest" || first == "make"))
    };
    spans.filter(is_command).map(str::to_owned).collect()
}

/// Whether a text has one of some words; words of a script without spaces anywhere in it.
fn has(text: &str, words: &[&str]) -> bool {
    let lower = text.to_lowercase();
    // A table may have thousands of rows: each is gone through once for all words.
    let mut parts = lower.split(|letter: char| !letter.is_alphanumeric());
    let is_one = |part: &str| {
        words.contains(&part.strip_suffix('s').unwrap_or(part)) || words.contains(&part)
    };
    parts.any(is_one) || words.iter().any(|word| !word.is_ascii() && lower.contains(word))
}
