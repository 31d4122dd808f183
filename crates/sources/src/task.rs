//! `.harness/state.json`: a session of the seed's task workflow, ours or another's; and what is read out of its papers
//! (docs/formats.md).

mod first;
mod places;

use serde::Serialize;
use serde_json::{Map, Value as Json};

pub use first::{First, Progress};
pub use places::{APART, For};

/// The version that is written.
pub const VERSION: &str = "2.0";

/// Where a session's own files are.
pub const HARNESS: &str = ".harness";

/// Where its state is.
pub const STATE: &str = ".harness/state.json";

/// Where sessions put their papers, unless somebody says otherwise.
pub const OUTPUT_BASE: &str = "docs/harness";

/// Lines that make a CLAUDE.md rich.
const RICH_LINES: usize = 50;

/// A slug is no longer than this.
const SLUG_MAX: usize = 50;

/// The states of the seed's machine, in order.
pub const PHASES: [&str; 13] = [
    "plan_ready",
    "planning",
    "plan_done",
    "generate_ready",
    "generating",
    "generate_done",
    "verify_ready",
    "verifying",
    "verify_done",
    "evaluate_ready",
    "evaluating",
    "evaluate_done",
    "completed",
];

/// The phases of the first version that have other names.
pub const FIRST_PHASES: [&str; 2] = ["gen_ready", "eval_ready"];

/// Whether this is a phase of either version.
pub fn is_phase(name: &str) -> bool {
    PHASES.contains(&name) || FIRST_PHASES.contains(&name)
}

/// How far a phase is, if it is one.
pub fn rank(phase: &str) -> Option<usize> {
    PHASES.iter().position(|name| *name == phase)
}

/// What a task is called: lower case, in ASCII, words with hyphens between them, 50 letters at most. A name that is
/// taken or says nothing is another one.
pub fn slug(task: &str) -> String {
    let plain = any_ascii::any_ascii(&task.to_lowercase()).to_lowercase();
    let mut slug = String::new();
    for letter in plain.chars() {
        match letter {
            'a'..='z' | '0'..='9' | '_' => slug.push(letter),
            '-' | ' ' | '\n' | '\t' | '\r' if !slug.is_empty() && !slug.ends_with('-') => {
                slug.push('-');
            }
            _ => {}
        }
    }
    slug.truncate(SLUG_MAX);
    match slug.trim_matches(['-', '_']) {
        "" => "task".to_owned(),
        // Where the team's knowledge is.
        "memory" => "memory-task".to_owned(),
        slug => slug.to_owned(),
    }
}

/// Where a session's papers go: below the output base, unless that is named after the task already.
pub fn docs_path(base: &str, slug: &str) -> String {
    let base = base.trim_end_matches('/');
    match base.rsplit('/').next() {
        Some(last) if last == slug && base.contains('/') => format!("{base}/"),
        _ => format!("{base}/{slug}/"),
    }
}

/// A session's state, as the seed writes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct State {
    /// Always [`VERSION`].
    pub version: String,
    /// The task, as it was given.
    pub task: String,
    /// `single`, `standard` or `multi`.
    pub mode: Option<String>,
    /// `auto`, `phase` or `step`.
    pub run_style: Option<String>,
    /// Which model each post has.
    pub model_config: Option<ModelConfig>,
    /// What was said at the command line; for the record only.
    pub cli_flags: CliFlags,
    /// The language that the person speaks.
    pub user_lang: String,
    /// Whether there is a repository.
    pub has_git: bool,
    /// The directory's name.
    pub repo_name: Option<String>,
    /// Where it is.
    pub repo_path: Option<String>,
    /// Where it is in the seed's machine.
    pub phase: Option<String>,
    /// The round, from 1.
    pub round: Option<u64>,
    /// So many there are.
    pub max_rounds: Option<u64>,
    /// So many files may be changed.
    pub max_files: Option<u64>,
    /// What may be changed.
    pub scope: Option<String>,
    /// The branch.
    pub branch: Option<String>,
    /// What the project is written in.
    pub lang: Option<String>,
    /// The command that builds it.
    pub build_cmd: Option<String>,
    /// The command that tests it.
    pub test_cmd: Option<String>,
    /// The command that lints it.
    pub lint_cmd: Option<String>,
    /// The command that checks its types.
    pub type_check_cmd: Option<String>,
    /// How verification stands.
    pub verify: Option<Verify>,
    /// The proposal, if there was one.
    pub autofix: Option<Autofix>,
    /// Where the papers are.
    pub docs_path: String,
    /// Nothing yet, `skipped`, or `file:` and where they are.
    pub conventions: Option<String>,
    /// What the task is called.
    pub slug: String,
    /// The run of Windlass whose projection this is: no session of its own, wherever it turns up.
    pub windlass_run: String,
    /// When it began.
    pub created_at: String,
    /// When it was written last.
    pub updated_at: Option<String>,
}

/// Which model each post has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ModelConfig {
    /// The preset, or `custom`.
    pub preset: String,
    /// Whoever implements.
    pub executor: Option<String>,
    /// Whoever advises.
    pub advisor: Option<String>,
    /// Whoever evaluates.
    pub evaluator: Option<String>,
    /// Whoever verifies.
    pub verifier: String,
}

/// What was said at the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CliFlags {
    /// `--verifier-model`.
    pub verifier_model: Option<String>,
    /// `--output-dir`.
    pub output_dir: Option<String>,
}

/// How verification stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verify {
    /// `PASS`, `FAIL`, or nothing yet.
    pub layer1_result: Option<String>,
    /// Retries of the implementation so far.
    pub layer1_retries: u64,
    /// `PASS`, `FAIL`, or nothing yet.
    pub layer2_result: Option<String>,
    /// Retries of the implementation so far.
    pub layer2_retries: u64,
    /// Whether what is left to be done fails verification.
    pub todo_blocking: bool,
    /// Whether a proposal was decided about: once a session.
    pub autofix_attempted: bool,
}

/// A proposed patch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Autofix {
    /// Where it is.
    pub last_patch_path: String,
    /// `proposed`, `applied`, `rejected` or `stopped`.
    pub applied: String,
    /// When it was asked for.
    pub triggered_at: String,
}

/// A session that somebody has left: as far as it can be gone on with, and every field that it lacks at its default.
#[derive(Clone, Debug, PartialEq)]
pub enum Left {
    /// Another skill's.
    Other {
        /// Which.
        skill: String,
    },
    /// What Windlass wrote from a journal.
    Projection,
    /// One of the first version: it has none on it.
    First(Box<First>),
    /// One that is over.
    Completed,
    /// One that can be gone on with.
    Open(Box<Open>),
}

/// A session that can be gone on with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Open {
    /// The task.
    pub task: String,
    /// What it is called.
    pub slug: String,
    /// Where it is in the seed's machine.
    pub phase: String,
    /// The mode.
    pub mode: Option<String>,
    /// The style.
    pub run_style: Option<String>,
    /// The preset.
    pub preset: Option<String>,
    /// The round.
    pub round: u64,
    /// So many files may be changed.
    pub max_files: u64,
    /// What may be changed.
    pub scope: String,
    /// The branch.
    pub branch: Option<String>,
    /// Retries so far.
    pub layer1_retries: u64,
    /// Retries so far.
    pub layer2_retries: u64,
    /// Which layer failed last.
    pub layer2_result: Option<String>,
    /// Whether a proposal was decided about.
    pub autofix_attempted: bool,
    /// What became of a proposal; `none` if there was none.
    pub autofix: String,
    /// Where the papers are.
    pub docs_path: String,
    /// As the file has it.
    pub conventions: Option<String>,
    /// Who verifies.
    pub verifier: String,
}

/// Reads the state of a session.
///
/// # Errors
///
/// What is wrong with it.
pub fn read(text: &str) -> Result<Left, String> {
    let json: Json = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let Json::Object(state) = json else { return Err("it is no object".to_owned()) };
    if let Some(skill) = state.get("skill").and_then(Json::as_str).filter(|it| *it != "workflow") {
        return Ok(Left::Other { skill: skill.to_owned() });
    }
    if state.get("windlass_run").is_some_and(|run| run.as_str().is_some_and(|it| !it.is_empty())) {
        return Ok(Left::Projection);
    }
    match state.get("version") {
        None => return First::of(state),
        Some(Json::String(version)) if version == VERSION => {}
        Some(other) => return Err(format!("its version is {other}, and not \"{VERSION}\"")),
    }
    let phase = text_of(&state, "phase").unwrap_or_else(|| "plan_ready".to_owned());
    if phase == "completed" {
        return Ok(Left::Completed);
    }
    if rank(&phase).is_none() {
        return Err(format!("there is no phase `{phase}`"));
    }
    Ok(Left::Open(Box::new(Open { phase, ..open(&state)? })))
}

/// What sessions of both versions say, but for the phase; what is missing has its default.
fn open(state: &Map<String, Json>) -> Result<Open, String> {
    let task = text_of(state, "task").ok_or("it names no task")?;
    let said = text_of(state, "slug").filter(|said| *said == slug(said));
    let slug = said.unwrap_or_else(|| slug(&task));
    let inner = |of: &str| state.get(of).and_then(Json::as_object).cloned().unwrap_or_default();
    let (verify, models, fix) = (inner("verify"), inner("model_config"), inner("autofix"));
    let number =
        |of: &Map<String, Json>, name: &str| of.get(name).and_then(Json::as_u64).unwrap_or(0);
    let autofix = text_of(&fix, "applied").unwrap_or_else(|| "none".to_owned());
    if !["none", "proposed", "applied", "rejected", "stopped"].contains(&autofix.as_str()) {
        return Err(format!("a proposal cannot be `{autofix}`"));
    }
    Ok(Open {
        docs_path: text_of(state, "docs_path").unwrap_or_else(|| docs_path(OUTPUT_BASE, &slug)),
        mode: text_of(state, "mode")
            .filter(|mode| ["single", "standard", "multi"].contains(&mode.as_str())),
        run_style: text_of(state, "run_style")
            .filter(|it| ["auto", "phase", "step"].contains(&it.as_str())),
        preset: text_of(&models, "preset")
            .filter(|it| ["default", "all-opus", "balanced", "economy"].contains(&it.as_str())),
        round: number(state, "round").max(1),
        max_files: Some(number(state, "max_files")).filter(|it| *it > 0).unwrap_or(20),
        scope: text_of(state, "scope").unwrap_or_else(|| "(no limit)".to_owned()),
        // Work lands on a branch of the session's own, whatever a stranger's file says.
        branch: text_of(state, "branch").filter(|it| it.starts_with("harness/")),
        layer1_retries: number(&verify, "layer1_retries").min(3),
        layer2_retries: number(&verify, "layer2_retries").min(2),
        layer2_result: text_of(&verify, "layer2_result"),
        autofix_attempted: verify.get("autofix_attempted") == Some(&Json::Bool(true)),
        conventions: text_of(state, "conventions"),
        verifier: text_of(&models, "verifier").unwrap_or_else(|| "haiku".to_owned()),
        autofix,
        task,
        slug,
        phase: String::new(),
    })
}

fn text_of(of: &Map<String, Json>, name: &str) -> Option<String> {
    of.get(name).and_then(Json::as_str).map(str::to_owned)
}

/// How much a project's CLAUDE.md says.
pub fn is_rich(text: &str) -> bool {
    text.lines().count() >= RICH_LINES
}

/// What a report comes to: the word of its line `### Verdict: …`. What stands in a block of code is none, and two that
/// disagree are none either.
pub fn verdict(report: &str) -> Option<Verdict> {
    let mut fenced = false;
    let mut found = None;
    for line in report.lines().map(str::trim) {
        if line.starts_with("```") || line.starts_with("~~~") {
            fenced = !fenced;
        }
        let word = line.strip_prefix("### Verdict:").filter(|_| !fenced);
        let own = match word.and_then(|rest| rest.split_whitespace().next()) {
            Some("PASS") => Verdict::Pass,
            Some("FAIL") => Verdict::Fail,
            _ => continue,
        };
        if found.is_some_and(|before| before != own) {
            return None;
        }
        found = Some(own);
    }
    found
}

/// What a report comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All is as it should be.
    Pass,
    /// Something is not.
    Fail,
}

/// What stands below a heading, up to the next one that is as high.
pub fn section<'t>(text: &'t str, heading: &str) -> Option<&'t str> {
    let level = heading.bytes().take_while(|byte| *byte == b'#').count();
    let mut at = 0;
    let mut from = None;
    for line in text.split_inclusive('\n') {
        let hashes = line.bytes().take_while(|byte| *byte == b'#').count();
        let is_heading = hashes > 0 && line[hashes..].starts_with(' ');
        match from {
            None if line.trim_end() == heading => from = Some(at + line.len()),
            Some(start) if is_heading && hashes <= level => return Some(text[start..at].trim()),
            _ => {}
        }
        at += line.len();
    }
    from.map(|start| text[start..].trim())
}

/// The paths that a list of changes names, without what is said about them.
pub fn paths(changes: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in changes.lines() {
        let line = line.trim().trim_start_matches(['-', '*', '|', ' ']);
        let quoted = line.strip_prefix('`').and_then(|rest| rest.split('`').next());
        let word = quoted.or_else(|| line.split_whitespace().next()).unwrap_or_default();
        let word = word.trim_end_matches([':', ',', '|']);
        let is_path = word.contains('/') || word.contains('.');
        let plain = word.bytes().all(|byte| byte.is_ascii_graphic() || byte >= 0x80);
        if is_path && plain && !word.ends_with('.') && !found.iter().any(|own| own == word) {
            found.push(word.to_owned());
        }
    }
    found
}

/// The paths that a report of failing commands names, wherever they stand, in order; `exists` says which are files.
pub fn named_in(report: &str, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let apart = |letter: char| letter.is_whitespace() || "`'\"()[]<>,;|=".contains(letter);
    for word in report.split(apart) {
        // As compilers have it: path:line:column.
        let mut path = word.trim_end_matches(['.', ':', '!', '?']);
        while let Some((before, after)) = path.rsplit_once(':') {
            if after.is_empty() || !after.bytes().all(|byte| byte.is_ascii_digit()) {
                break;
            }
            path = before;
        }
        let path = path.strip_prefix("./").unwrap_or(path);
        let looks = path.contains('.') || path.contains('/');
        if looks && !found.iter().any(|own| own == path) && exists(path) {
            found.push(path.to_owned());
        }
    }
    found
}

/// How sure somebody is of a patch, by its first lines.
pub fn confidence(text: &str) -> Option<&'static str> {
    let lower = text.to_lowercase();
    let (_, rest) = lower.split_once("confidence:")?;
    let word = rest.trim_start_matches(['*', ' ', '`', '_']);
    ["High", "Medium", "Low"].into_iter().find(|it| word.starts_with(&it.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_is_made_as_the_seed_says() {
        for (task, want) in [
            ("Fix the Login Bug!", "fix-the-login-bug"),
            ("Add  `--json`   to status", "add-json-to-status"),
            ("로그인 버그 고치기", "logeuin-beogeu-gochigi"),
            ("Größe ändern: Straße", "grosse-andern-strasse"),
            ("???", "task"),
            ("memory", "memory-task"),
            ("../../etc/passwd", "etcpasswd"),
            ("a\nb\tc", "a-b-c"),
            ("keep under_score and-hyphen", "keep-under_score-and-hyphen"),
        ] {
            assert_eq!(slug(task), want, "{task:?}");
        }
        let long = slug(&"word ".repeat(40));
        assert!(long.len() <= SLUG_MAX && !long.ends_with('-'), "{long}");
    }

    #[test]
    fn papers_go_below_the_output_base_and_the_slug_is_not_appended_twice() {
        assert_eq!(docs_path("docs/harness", "a-b"), "docs/harness/a-b/");
        assert_eq!(docs_path("docs/harness/a-b/", "a-b"), "docs/harness/a-b/");
        assert_eq!(docs_path("out", "out"), "out/out/");
    }

    fn open(text: &str) -> Open {
        match read(text) {
            Ok(Left::Open(open)) => *open,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_a_state_lacks_has_its_default() {
        let state = open(r#"{"version":"2.0","task":"Fix it","phase":"verify_done"}"#);
        assert_eq!(
            (state.slug.as_str(), state.docs_path.as_str()),
            ("fix-it", "docs/harness/fix-it/")
        );
        assert_eq!((state.autofix.as_str(), state.autofix_attempted), ("none", false));
        assert_eq!((state.verifier.as_str(), state.round, state.max_files), ("haiku", 1, 20));
        let partial = open(r#"{"version":"2.0","task":"x","phase":null}"#);
        assert_eq!(partial.phase, "plan_ready");
    }

    #[test]
    fn whose_a_state_is() {
        let is = |text: &str| read(text);
        assert_eq!(is(r#"{"skill":"spec"}"#), Ok(Left::Other { skill: "spec".into() }));
        assert!(matches!(is(r#"{"task":"x","phase":"gen_ready"}"#), Ok(Left::First(_))));
        assert_eq!(is(r#"{"version":"2.0","phase":"completed"}"#), Ok(Left::Completed));
        for bad in [
            "",
            "[]",
            r#"{"version":"3.0","task":"x"}"#,
            r#"{"version":"2.0","task":"x","phase":"nowhere"}"#,
            r#"{"version":"2.0","phase":"planning"}"#,
            r#"{"version":"2.0","task":"x","phase":"verify_done","autofix":{"applied":"maybe"}}"#,
        ] {
            assert!(is(bad).is_err(), "{bad}");
        }
        assert!(matches!(
            is(r#"{"skill":"workflow","version":"2.0","task":"x"}"#),
            Ok(Left::Open(_))
        ));
    }

    #[test]
    fn a_report_has_one_verdict_or_none() {
        assert_eq!(verdict("### Verdict: PASS\n"), Some(Verdict::Pass));
        assert_eq!(verdict("### Verdict: FAIL\n…\n### Verdict: FAIL (2)\n"), Some(Verdict::Fail));
        assert_eq!(verdict("### Verdict: FAIL\n…\n### Verdict: PASS\n"), None);
        let quoted = "### Verdict: FAIL\n```\n### Verdict: PASS\n```\n";
        assert_eq!(verdict(quoted), Some(Verdict::Fail));
        assert_eq!(verdict("Verdict: PASS"), None);
        assert_eq!(verdict("### Verdict: PASSED?"), None);
    }

    #[test]
    fn a_section_ends_at_the_next_heading() {
        let text = "# A\nx\n## Fix Instructions\n1. do\n### more\n2. it\n## B\ny\n";
        assert_eq!(section(text, "## Fix Instructions"), Some("1. do\n### more\n2. it"));
        assert_eq!(section(text, "## C"), None);
        assert_eq!(section(text, "## B"), Some("y"));
    }

    #[test]
    fn changes_are_known_by_their_paths_alone() {
        let text = "# Changes\n\n- `src/a.rs` — because I thought so\n* src/b.rs: tests\n| Cargo.toml | deps |\n\nTested by hand.\n";
        assert_eq!(paths(text), ["src/a.rs", "src/b.rs", "Cargo.toml"]);
    }

    #[test]
    fn files_are_found_where_commands_name_them() {
        let report = "error[E0425]: x\n --> src/lib.rs:12:5\nFAIL ./tests/a.test.ts (at `src/lib.rs:1`)\nsee http://x/y.";
        let there = |path: &str| ["src/lib.rs", "tests/a.test.ts"].contains(&path);
        assert_eq!(named_in(report, there), ["src/lib.rs", "tests/a.test.ts"]);
    }

    #[test]
    fn confidence_is_one_of_three_words() {
        assert_eq!(confidence("auto_fix_patch written — confidence: High — x"), Some("High"));
        assert_eq!(confidence("**Confidence:** low\n"), Some("Low"));
        assert_eq!(confidence("confidence: sure"), None);
        assert_eq!(confidence("none"), None);
    }
}
