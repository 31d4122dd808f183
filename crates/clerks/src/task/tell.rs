//! What task tells people: its setup, its phases, its end. Each may be done twice and is then done once.

use windlass_core::value::Value;
use windlass_engine::clerk::{Situation, Told};
use windlass_engine::entry::Check;
use windlass_engine::exhibit::fence;
use windlass_engine::message::Trouble;

use super::session::Session;
use super::show::block;
use super::{COMMANDS, Task, Version};

/// So much of what a command printed is in the report, from its end.
const PRINTED_BYTES: usize = 16 * 1024;

impl Task {
    pub(super) fn told(&self, name: &str, at: &Situation) -> Result<Told, Trouble> {
        let text = match name {
            "setup-summary" => self.setup(),
            "phase-banner" => self.banner(at),
            "phase-result" => self.result(at),
            "verify-report" => return Ok(self.verify_report(at)),
            "v1-session" => self.first_session(),
            "start-task" => self.words().say("taskline-v1-start", &[]),
            "clear-session" => self.clear_earlier()?,
            "clean-session" => self.clean_session()?,
            "clean-artifacts" => self.clean_artifacts()?,
            "lane-kept" => self.words().say("taskline-lane-kept", &[]),
            "output-base-listing" => return Ok(self.listing()),
            "output-base-removal" => self.remove_output_base()?,
            "task-report" => self.report_text(),
            _ => String::new(),
        };
        Ok(Told { text, ..Told::default() })
    }

    /// The setup summary. Who verifies, it says; what that costs, only where it is a model.
    fn setup(&self) -> String {
        let (words, slug, docs) = (self.words(), self.slug(), self.docs());
        let session = self.session();
        let inputs = &self.inputs;
        let none = words.say("taskline-none", &[]);
        let [build, test, lint, types] = COMMANDS
            .map(|(check, _)| self.command(check, &session).unwrap_or_else(|| none.clone()));
        let by_model = reads(&session, self);
        let verifier = match by_model {
            true => words.say("taskline-verifier-model", &[("model", &inputs.verifier)]),
            false => words.say("taskline-verifier-commands", &[("model", &inputs.verifier)]),
        };
        let directory = self.files.root().display().to_string();
        let branch = format!("harness/{slug}");
        let mut rows = vec![("taskline-row-directory", directory.as_str())];
        if session.environment.has_git {
            rows.push(("taskline-row-branch", &branch));
        }
        rows.extend([
            ("taskline-row-mode", inputs.mode.as_str()),
            ("taskline-row-model", &inputs.models),
            ("taskline-row-verifier", &verifier),
            ("taskline-row-style", &inputs.style),
            ("taskline-row-language", &session.environment.language),
            ("taskline-row-test", &test),
            ("taskline-row-build", &build),
            ("taskline-row-lint", &lint),
            ("taskline-row-types", &types),
            ("taskline-row-scope", &inputs.scope),
            ("taskline-row-output", &docs),
        ]);
        let mut text = block(&words.say("taskline-started", &[]), &rows, words);
        if by_model && inputs.verifier != "haiku" {
            let warning = words.say("taskline-dear-verifier", &[("model", &inputs.verifier)]);
            text.push_str(&format!("\n{warning}"));
        }
        text
    }

    fn banner(&self, at: &Situation) -> String {
        let words = self.words();
        match phase(at) {
            "verify" => words.say("taskline-phase-verify", &[]),
            "evaluate" if self.version == Version::First => words.say("taskline-v1-evaluate", &[]),
            "evaluate" => words.say("taskline-phase-evaluate", &[]),
            _ => String::new(),
        }
    }

    /// How a session without a version stands; who is to go on with it, where somebody else has found it.
    fn first_session(&self) -> String {
        let words = self.words();
        let found = words.say("taskline-v1", &[]);
        match self.version {
            Version::First => format!("{found}\n{}", self.status()),
            Version::Second => format!("{found}\n{}", words.say("taskline-v1-elsewhere", &[])),
        }
    }

    /// How a phase ended, and where the session stands if it rests now.
    fn result(&self, at: &Situation) -> String {
        let words = self.words();
        let spec = self.place_of("spec.md", at).unwrap_or_default();
        let session = self.session();
        let (mut text, rests) = match phase(at) {
            "plan" => {
                let rests = words.say("taskline-rest-plan", &[("path", &spec)]);
                (words.say("taskline-plan-complete", &[]), rests)
            }
            "generate" => {
                let line = words.say("taskline-generate-complete", &[]);
                (line, words.say("taskline-rest-generate", &[]))
            }
            "verify" => {
                let result = session.layer1_result.unwrap_or("SKIPPED");
                let line = session.layer1_line();
                let text =
                    words.say("taskline-verify-complete", &[("result", result), ("line", &line)]);
                (text, words.say("taskline-rest-verify", &[]))
            }
            "evaluate" => {
                let line = words.say("taskline-evaluate-complete", &[]);
                (line, words.say("taskline-rest-evaluate", &[]))
            }
            "completed" => {
                let open =
                    ["accepted_as_is", "completed_with_open_issues", "adopted_verdict_accepted"];
                let open = open.iter().any(|record| session.records.contains(*record));
                let id = if open { "taskline-completed-open" } else { "taskline-completed" };
                (words.say(id, &[]), String::new())
            }
            _ => return String::new(),
        };
        // Retries go on by themselves, whatever the style.
        let retried = phase(at) == "generate" && session.layer1 + session.layer2 > 0;
        if self.inputs.style != "auto" && !rests.is_empty() && !retried {
            text.push_str(&format!("\n{rests}"));
        }
        text
    }

    /// `verify_report.md`: which commands ran, what each came to, what it printed.
    fn verify_report(&self, at: &Situation) -> Told {
        let Some(path) = self.place_of("verify_report.md", at) else { return Told::default() };
        let session = self.session();
        let result = session.layer1_result.unwrap_or("SKIPPED");
        let mut text = format!(
            "# Verify Report (Layer 1 — Mechanical)\n\n{}\n\nResult: {result}\n\n| check | command | result |\n|---|---|---|\n",
            session.layer1_line()
        );
        for check in &session.checks {
            let command = check.command.as_deref().unwrap_or("–").replace('|', "\\|");
            text.push_str(&format!("| {} | `{command}` | {} |\n", check.name, word(check.came)));
        }
        if let Some((came, line)) = &session.reading {
            text.push_str(&format!(
                "\nNo command could be run: the change was read ({came}). {line}\n"
            ));
        }
        for check in session.checks.iter().filter(|check| !check.output.trim().is_empty()) {
            let printed = &check.output;
            let from = printed.ceil_char_boundary(printed.len().saturating_sub(PRINTED_BYTES));
            let fence = fence(printed);
            let printed = printed[from..].trim_end();
            text.push_str(&format!("\n## {}\n\n{fence}\n{printed}\n{fence}\n", check.name));
        }
        Told { papers: [(path, text)].into(), ..Told::default() }
    }

    /// The end: how the session stands, where the work is, and the one command that takes it.
    fn report_text(&self) -> String {
        let words = self.words();
        let mut text = format!("{}\n{}", self.status(), self.evidence());
        let docs = self.docs();
        let session = self.session();
        // One that was not begun has nothing to show.
        if !session.begun {
            return String::new();
        }
        match &session.landed {
            Some((_, branch, None)) => {
                let line = words.say("taskline-take", &[("branch", branch)]);
                text.push_str(&format!("\n{line}"));
            }
            Some((_, _, Some(command))) => {
                let line = words.say("taskline-take-by", &[("command", command)]);
                text.push_str(&format!("\n{line}"));
            }
            None if session.given => {
                let line = words.say("taskline-given", &[("docs", &docs)]);
                text.push_str(&format!("\n{line}"));
            }
            None => {}
        }
        text
    }
}

/// Whether a model is to verify: nothing is there to be run.
fn reads(session: &Session, task: &Task) -> bool {
    COMMANDS.iter().all(|(check, _)| task.command(check, session).is_none())
}

/// The phase that a stage is about.
fn phase(at: &Situation) -> &str {
    match at.with.get("phase") {
        Some(Value::Text(phase)) => phase,
        _ => "",
    }
}

fn word(came: Check) -> &'static str {
    match came {
        Check::Pass => "PASS",
        Check::Fail => "FAIL",
        Check::Skipped => "SKIPPED",
        Check::FailedBefore => "FAIL (also before this change)",
    }
}
