//! What roles and people are shown of a session.

use unicode_width::UnicodeWidthStr as _;
use windlass_engine::clerk::Situation;
use windlass_engine::entry::Check;
use windlass_sources::task::{self as format, For, Open};

use super::session::LIMITS;
use super::{LAYER1_RETRIES, LAYER2_RETRIES, ROUNDS, Task, Version, stage};

/// What it can show.
pub(super) const SHOWS: [&str; 19] = super::papers_and![
    "output-base",
    "question",
    "status",
    "answers",
    "conventions",
    "failing-files",
    "evidence",
    "changed-files",
];

/// What people call each phase.
const LABELS: [(&str, &str); 15] = [
    ("plan_ready", "taskline-label-plan-ready"),
    ("planning", "taskline-label-planning"),
    ("plan_done", "taskline-label-plan-done"),
    ("generate_ready", "taskline-label-generate-ready"),
    ("generating", "taskline-label-generating"),
    ("generate_done", "taskline-label-generate-done"),
    ("verify_ready", "taskline-label-verify-ready"),
    ("verifying", "taskline-label-verifying"),
    ("verify_done", "taskline-label-verify-done"),
    ("evaluate_ready", "taskline-label-evaluate-ready"),
    ("evaluating", "taskline-label-evaluating"),
    ("evaluate_done", "taskline-label-evaluate-done"),
    ("completed", "taskline-label-completed"),
    ("gen_ready", "taskline-label-gen-ready"),
    ("eval_ready", "taskline-label-eval-ready"),
];

/// So much of a paper is shown.
const SHOWN_BYTES: usize = 48 * 1024;

/// So many files are named to whoever proposes a patch.
const FAILING_MAX: usize = 5;

impl Task {
    pub(super) fn shown(&self, name: &str, at: &Situation) -> Option<String> {
        match name {
            "question" => self.question(at),
            "status" => Some(self.status()),
            "phase" => Some(self.session().standing().0.to_owned()),
            "restarted" => {
                let session = self.session();
                let again =
                    ["restarted", "docs_path_refused"].map(|it| session.records.contains(it));
                again.contains(&true).then(|| "yes".to_owned())
            }
            "next" => self.next_step(),
            "answers" => {
                let session = self.session();
                (!session.answers.is_empty()).then(|| session.answers.join("\n"))
            }
            "conventions" => {
                let usable =
                    self.session().conventions.as_deref().is_some_and(|it| it != "skipped");
                usable.then(|| self.live_conventions()).flatten().map(|text| beginning(&text))
            }
            "output-base" => Some(self.listed(&self.on_the_list())),
            "failing-files" => self.failing_files(at),
            "evidence" => Some(self.evidence()),
            // Of a session that somebody else began: what it says it has changed, and nothing of why.
            "changed-files" => {
                let paths = format::paths(&self.paper("changes.md", at)?);
                (!paths.is_empty()).then(|| paths.join("\n"))
            }
            "auto-fix-patch" => self.paper("auto_fix_patch.md", at),
            "verify_report.md" if stage::IMPLEMENT.contains(&at.stage.as_str()) => {
                // Only what failed is to be mended.
                let failed = self.session().layer1_result == Some("FAIL");
                failed.then(|| self.paper(name, at)).flatten().map(|text| beginning(&text))
            }
            name => self.paper(name, at).map(|text| beginning(&text)),
        }
    }

    /// The seed's status block.
    pub(super) fn status(&self) -> String {
        let (words, slug) = (self.words(), self.slug());
        let session = self.session();
        let inputs = &self.inputs;
        let there = session.there();
        let task = there.map_or(&inputs.task, |open| &open.task);
        let task = windlass_agents::one_line(task);
        let (phase, round) = session.standing();
        let phase = self.label(phase, words);
        let round = format!("{round} / {ROUNDS}");
        let branch = there.map_or(format!("harness/{slug}"), branch_of);
        let mut rows = vec![
            ("taskline-row-task", task.as_str()),
            ("taskline-row-mode", &inputs.mode),
            ("taskline-row-model", &inputs.models),
            ("taskline-row-style", &inputs.style),
            ("taskline-row-phase", &phase),
            ("taskline-row-round", &round),
        ];
        // Of these, sessions without a version know nothing.
        rows.retain(|(_, value)| !value.is_empty());
        if session.environment.has_git {
            rows.push(("taskline-row-branch", &branch));
        }
        rows.push(("taskline-row-scope", &inputs.scope));
        block("[harness]", &rows, words)
    }

    /// What to do next, for somebody who only asks.
    fn next_step(&self) -> Option<String> {
        let id = match self.session().standing().0 {
            // Sessions without a version have no steps of their own.
            _ if self.version == Version::First => "taskline-next-resume",
            "plan_done" => "taskline-next-generate",
            "generate_done" => "taskline-next-verify",
            "verify_done" => "taskline-next-evaluate",
            "evaluate_done" | "completed" => "taskline-next-finish",
            _ => "taskline-next-resume",
        };
        Some(self.words().say(id, &[]))
    }

    /// What people call a phase.
    pub(super) fn label(&self, phase: &str, words: windlass_words::Words) -> String {
        let label = LABELS.iter().find(|(name, _)| *name == phase);
        label.map_or_else(|| phase.to_owned(), |(_, id)| words.say(id, &[]))
    }

    /// What a person should know when they are asked something.
    fn question(&self, at: &Situation) -> Option<String> {
        let words = self.words();
        match at.stage.as_str() {
            stage::SPEC_GATE | stage::EDIT_SPEC => {
                let path = self.place_of("spec.md", at)?;
                Some(words.say("taskline-spec-at", &[("path", &path)]))
            }
            stage::VERIFY_GATE => {
                let path = self.place_of("verify_report.md", at)?;
                let error = self.session().failure();
                let most = LAYER1_RETRIES.to_string();
                Some(words.say(
                    "taskline-spent-layer1",
                    &[("most", &most), ("error", &error), ("path", &path)],
                ))
            }
            stage::PATCH_GATE => Some(self.proposal(at)),
            stage::QA_LAYER2 => {
                let most = LAYER2_RETRIES.to_string();
                let items = self.failing_items(at);
                Some(words.say("taskline-spent-layer2", &[("most", &most), ("items", &items)]))
            }
            stage::SESSION_GATE => self.what_counts(),
            stage::QA_LAYER3 | stage::QA_GATE | stage::ROUNDS_SPENT => Some(self.failing_items(at)),
            stage::LIMITS_GATE => {
                let session = self.session();
                let check = session.checks.iter().find(|check| check.name == LIMITS)?;
                Some(check.output.clone())
            }
            stage::SCAN_FAILED => Some(words.say("taskline-scan-missing", &[])),
            stage::COMMIT_GATE => {
                let docs = self.docs();
                let cleans = words.say("taskline-cleans", &[("docs", &docs)]);
                Some(format!("{}\n{cleans}", self.evidence()))
            }
            _ => None,
        }
    }

    /// Whoever goes on with work that somebody else has done should know where it is looked for.
    fn what_counts(&self) -> Option<String> {
        let words = self.words();
        let session = self.session();
        let early = ["plan_ready", "planning", "plan_done", "generate_ready", "gen_ready"];
        let made = !early.contains(&session.standing().0);
        let branch = branch_of(session.there()?);
        (made && session.environment.has_git)
            .then(|| words.say("taskline-committed", &[("branch", &branch)]))
    }

    /// What is known of a proposed patch.
    fn proposal(&self, at: &Situation) -> String {
        let words = self.words();
        let model = self.model_config().advisor.unwrap_or_else(|| "opus".to_owned());
        let text = self.paper("auto_fix_patch.md", at).unwrap_or_default();
        let line = self.session().lines.get(stage::PROPOSE).cloned().unwrap_or_default();
        let mut said = words.say("taskline-autofix-model", &[("model", &model)]);
        if !line.is_empty() {
            said.push_str(&format!("\n{line}"));
        }
        if format::confidence(&text).or_else(|| format::confidence(&line)) == Some("Low") {
            said.push_str(&format!("\n{}", words.say("taskline-low-confidence", &[])));
        }
        said
    }

    /// What an evaluation wants fixed.
    fn failing_items(&self, at: &Situation) -> String {
        let report = self.paper("qa_report.md", at).unwrap_or_default();
        let items = format::section(&report, "## Fix Instructions").unwrap_or_default();
        match items.is_empty() {
            false => beginning(items),
            true => self.session().lines.get(stage::EVALUATING).cloned().unwrap_or_default(),
        }
    }

    /// The files that failing commands name: of the work, and no more than a few.
    fn failing_files(&self, at: &Situation) -> Option<String> {
        let report = self.paper("verify_report.md", at)?;
        let root = self.files.root().to_owned();
        let found = format::named_in(&report, |path| root.join(path).is_file());
        let mut named = Vec::new();
        for path in found {
            match For::Reference.take(&path) {
                Ok(_) => named.push(path),
                Err(_) => {
                    self.warns(self.words().say("taskline-path-excluded", &[("path", &path)]))
                }
            }
        }
        named.truncate(FAILING_MAX);
        if named.is_empty() {
            self.warns(self.words().say("taskline-no-paths", &[]));
            return None;
        }
        Some(named.join("\n"))
    }

    /// Why the work may land, for whoever decides how it ends.
    pub(super) fn evidence(&self) -> String {
        let words = self.words();
        let session = self.session();
        let mut text = words.say("taskline-evidence", &[]);
        for check in &session.checks {
            let command = check.command.as_deref().map_or(String::new(), |it| format!(" ({it})"));
            text.push_str(&format!("\n  {:<14}{}{command}", check.name, check.came.words()));
        }
        if let Some((came, line)) = &session.reading {
            let read = words.say("taskline-read-only", &[("came", came), ("line", line)]);
            text.push_str(&format!("\n  {read}"));
        }
        if let Some(line) = session.lines.get(stage::EVALUATING) {
            text.push_str(&format!("\n  {:<14}{line}", "evaluation"));
        }
        let ran =
            session.checks.iter().any(|check| check.came == Check::Pass && check.name != LIMITS);
        if !ran {
            text.push_str(&format!("\n  {}", words.say("taskline-all-skipped", &[])));
        }
        for (record, id) in [
            ("continued_after_layer1", "taskline-open-layer1"),
            ("accepted_as_is", "taskline-open-accepted"),
            ("completed_with_open_issues", "taskline-open-rounds"),
            ("limits_lifted", "taskline-open-limits"),
            ("continued_unproved", "taskline-open-unproved"),
        ] {
            if session.records.contains(record) {
                text.push_str(&format!("\n  {}", words.say(id, &[])));
            }
        }
        text
    }
}

/// Where a session that was found works.
fn branch_of(open: &Open) -> String {
    open.branch.clone().unwrap_or_else(|| format!("harness/{}", open.slug))
}

/// A block of rows below a heading, each with its name, as the seed prints them.
pub(super) fn block(heading: &str, rows: &[(&str, &str)], words: windlass_words::Words) -> String {
    let names: Vec<String> = rows.iter().map(|(id, _)| words.say(id, &[])).collect();
    let wide = names.iter().map(|name| name.width()).max().unwrap_or(0);
    let mut text = heading.to_owned();
    for (name, (_, value)) in names.iter().zip(rows) {
        let room = " ".repeat(wide - name.width());
        text.push_str(&format!("\n  {name}{room} : {value}"));
    }
    text
}

fn beginning(text: &str) -> String {
    if text.len() <= SHOWN_BYTES {
        return text.trim_end().to_owned();
    }
    let cut = text.floor_char_boundary(SHOWN_BYTES);
    format!("{}\n[… {} bytes more]", &text[..cut], text.len() - cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phase_has_a_label() {
        let known: Vec<&str> = LABELS.iter().map(|(phase, _)| *phase).collect();
        let all: Vec<&str> = format::PHASES.into_iter().chain(format::FIRST_PHASES).collect();
        assert_eq!(known, all);
    }
}
