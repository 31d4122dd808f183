//! What task reads: where it is, an earlier session, its argument, notes of a spec, its own papers as people left them.

use windlass_core::run::Item;
use windlass_core::value::Value;
use windlass_engine::clerk::Situation;
use windlass_engine::shop::lock;
use windlass_sources::task::{self as format, For, Left, Open, Verdict};
use windlass_sources::{Reading, SourceError};

use super::session::{ADOPTED, CONVENTIONS, ENVIRONMENT, Environment};
use super::{Task, has_git};

/// What it can read.
pub const READS: [&str; 9] = [
    "environment",
    "task-session",
    "session-paths",
    "task-argument",
    "conventions",
    "discovery-notes",
    "task-spec",
    "auto-fix-patch",
    "qa-report",
];

/// What a session without a version can read.
pub const FIRST_READS: [&str; 4] = ["environment", "task-v1-session", "session-paths", "task-spec"];

/// A title is no longer than this.
const TITLE_MAX: usize = 72;

impl Task {
    pub(super) fn look(&self, name: &str, at: &Situation) -> Result<Option<Reading>, SourceError> {
        let reading = match name {
            "environment" => Ok(self.environment()),
            "task-session" => self.earlier(),
            "task-v1-session" => self.first(),
            "session-paths" => Ok(self.recovered_paths()),
            "task-argument" => Ok(self.argument()),
            "conventions" => self.conventions(),
            "discovery-notes" => Ok(self.notes()),
            "task-spec" => self.spec(at),
            "auto-fix-patch" => self.patch(at),
            "qa-report" => Ok(self.report(at)),
            _ => return Ok(None),
        };
        reading.map(Some)
    }

    fn environment(&self) -> Reading {
        let project = self.project.clone().unwrap_or_default();
        let found = Environment {
            has_git: has_git(self.files.root()),
            language: project.language,
            checks: project.checks,
        };
        let mut reading = came(if found.has_git { "git" } else { "no_git" });
        let bytes = serde_json::to_vec(&found).unwrap_or_default();
        reading.papers.insert(ENVIRONMENT.to_owned(), bytes);
        reading
    }

    /// A session that somebody left. What we wrote ourselves is a projection, and no session of anybody's.
    fn earlier(&self) -> Result<Reading, SourceError> {
        let Some(text) = self.files.text(format::STATE)? else { return Ok(came("none")) };
        if lock(&self.projection).is_ours(format::STATE, &text) {
            return Ok(came("none"));
        }
        match format::read(&text) {
            Ok(Left::Other { skill }) => {
                let mut reading = came("other_skill");
                let warning = self.words().say("taskline-other-skill", &[("skill", &skill)]);
                reading.remarks.push(warning);
                reading.facts.insert("skill".to_owned(), Value::text(skill));
                Ok(reading)
            }
            Ok(Left::First(_)) => Ok(came("v1")),
            Ok(Left::Projection) => Ok(came("none")),
            Ok(Left::Completed) => Ok(came("completed")),
            Ok(Left::Open(open)) => self.adopted(&open, text),
            Err(flaw) => {
                let aside = lock(&self.projection).set_aside(format::STATE);
                let aside = aside
                    .map_err(|trouble| SourceError::bad(format::STATE, trouble.to_string()))?;
                let mut reading = came("corrupt");
                let args = [("path", format::STATE), ("flaw", &flaw), ("aside", &aside)];
                reading.remarks.push(self.words().say("taskline-corrupt", &args));
                Ok(reading)
            }
        }
    }

    /// A session without a version: it is gone on with as what it is. All else is none.
    fn first(&self) -> Result<Reading, SourceError> {
        let Some(text) = self.files.text(format::STATE)? else { return Ok(came("none")) };
        if lock(&self.projection).is_ours(format::STATE, &text) {
            return Ok(came("none"));
        }
        let first = match format::read(&text) {
            Ok(Left::First(first)) => first,
            Ok(_) => return Ok(came("none")),
            Err(flaw) => {
                let remarks = vec![format!("{}: {flaw}", format::STATE)];
                return Ok(Reading { remarks, ..came("none") });
            }
        };
        let open = &first.open;
        let mut reading = self.left_behind(open, text)?;
        reading.facts = [
            ("phase".to_owned(), Value::text(&open.phase)),
            ("round".to_owned(), number(open.round)),
            ("has_verify".to_owned(), Value::Flag(first.has_verify)),
        ]
        .into();
        let facts = [("phase".to_owned(), Value::text(&open.phase))].into();
        let (id, title) = (open.slug.as_str().into(), title(&open.task).into());
        let item = Item { id, title, facts, ..Item::default() };
        reading.lists.insert("tasks".to_owned(), vec![item]);
        Ok(reading)
    }

    /// A session that another program left: its state, and the papers that go with it.
    fn left_behind(&self, open: &Open, text: String) -> Result<Reading, SourceError> {
        let mut reading = came("found");
        let docs = open.docs_path.trim_end_matches('/');
        let papers = ["spec.md", "changes.md", "verify_report.md", "qa_report.md"];
        let beside = papers.map(|name| format!("{docs}/{name}"));
        let inside = self.files.below(format::HARNESS).into_iter();
        let inside = inside.filter(|path| path.ends_with(".md"));
        // A path that leads out is none of the session's; whether it is one, is looked at next.
        let sound = For::Output.take(docs).is_ok();
        for path in beside.into_iter().filter(|_| sound).chain(inside) {
            if let Some(text) = self.files.text(&path)? {
                reading.papers.insert(path, text.into_bytes());
            }
        }
        reading.papers.insert(ADOPTED.to_owned(), text.into_bytes());
        Ok(reading)
    }

    /// A session of 2.0 that another program left.
    fn adopted(&self, open: &Open, text: String) -> Result<Reading, SourceError> {
        let mut reading = self.left_behind(open, text)?;
        let docs = open.docs_path.trim_end_matches('/');
        let has_spec = reading.papers.contains_key(&format!("{docs}/spec.md"));
        reading.facts = [
            ("phase", Value::text(&open.phase)),
            ("round", number(open.round)),
            ("layer1_retries", number(open.layer1_retries)),
            ("layer2_retries", number(open.layer2_retries)),
            ("autofix", Value::text(&open.autofix)),
            ("autofix_attempted", Value::Flag(open.autofix_attempted)),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        let item = self.item(&open.task, &open.slug, &open.phase, &open.autofix, has_spec);
        reading.lists.insert("tasks".to_owned(), vec![item]);
        Ok(reading)
    }

    fn item(&self, task: &str, slug: &str, phase: &str, autofix: &str, has_spec: bool) -> Item {
        Item {
            id: slug.into(),
            title: title(task).into(),
            facts: [
                ("phase".to_owned(), Value::text(phase)),
                ("autofix".to_owned(), Value::text(autofix)),
                ("has_spec".to_owned(), Value::Flag(has_spec)),
            ]
            .into(),
            ..Item::default()
        }
    }

    /// Whether what an earlier session says about its papers can be believed.
    fn recovered_paths(&self) -> Reading {
        let Some(found) = self.session().found.clone() else { return came("refused") };
        let docs = found.docs_path.trim_end_matches('/').to_owned();
        // The last part is the task's own name, and not where the team's knowledge is.
        let slug = docs.rsplit('/').next().unwrap_or_default();
        let sound = !slug.trim().is_empty() && slug != "memory" && docs.contains('/');
        if sound && For::Output.take(&docs).is_ok() && self.is_inside(&docs) {
            return came("valid");
        }
        let mut reading = came("refused");
        reading.remarks.push(self.words().say("taskline-docs-path", &[("path", &found.docs_path)]));
        reading
    }

    /// Whether a path stays below the top, wherever links lead.
    pub(super) fn is_inside(&self, path: &str) -> bool {
        let mut so_far = self.files.root().to_owned();
        let parts = std::path::Path::new(path).iter();
        parts.into_iter().all(|part| {
            so_far.push(part);
            !so_far.is_symlink()
        })
    }

    fn argument(&self) -> Reading {
        let inputs = &self.inputs;
        let mut reading = came("given");
        let item = self.item(&inputs.task, &inputs.slug, "plan_ready", "none", false);
        reading.lists.insert("tasks".to_owned(), vec![item]);
        reading
    }

    /// What a spec phase has left for planners: missing is silent, unreadable is said and counts as empty.
    fn notes(&self) -> Reading {
        let mut reading = came("missing");
        for name in ["qa_notes.md", "critic_findings.md"] {
            let path = format!("{}{name}", self.docs());
            match self.files.bytes(&path) {
                Ok(Some(bytes)) => {
                    reading.papers.insert(path, bytes);
                }
                Ok(None) => {}
                Err(error) => {
                    let args = [("path", path.as_str()), ("error", &error.to_string())];
                    reading.remarks.push(self.words().say("taskline-notes-unreadable", &args));
                }
            }
        }
        reading.verdict = match (reading.remarks.is_empty(), reading.papers.is_empty()) {
            (false, _) => "unreadable",
            (true, false) => "loaded",
            (true, true) => "missing",
        }
        .to_owned();
        reading
    }

    /// The spec as a person has it; as a role wrote it, where they have none.
    fn spec(&self, at: &Situation) -> Result<Reading, SourceError> {
        let Some(path) = self.place_of("spec.md", at) else { return Ok(came("missing")) };
        // What a role has just written goes there first.
        self.project_files();
        let there = self.files.text(&path)?.filter(|text| !text.trim().is_empty());
        match there.or_else(|| self.session().paper(&path)) {
            Some(text) => {
                let papers = [(path, text.into_bytes())].into();
                Ok(Reading { papers, ..came("found") })
            }
            None => Ok(came("missing")),
        }
    }

    /// The proposed patch: usable with a block that is marked as one and has a hunk.
    fn patch(&self, at: &Situation) -> Result<Reading, SourceError> {
        let text = self.paper("auto_fix_patch.md", at).unwrap_or_default();
        let marked = text.lines().any(|line| line.trim_start().starts_with("```diff"));
        if marked && text.lines().any(|line| line.starts_with("@@")) {
            return Ok(came("usable"));
        }
        let mut reading = came("empty");
        reading.remarks.push(self.words().say("taskline-patch-empty", &[]));
        Ok(reading)
    }

    /// What an earlier session's report came to, and at which layer it failed.
    fn report(&self, at: &Situation) -> Reading {
        let report = self.paper("qa_report.md", at).unwrap_or_default();
        let layer2 = self.session().adopted().and_then(|open| open.layer2_result.clone());
        came(match format::verdict(&report) {
            None => "missing",
            Some(Verdict::Pass) => "pass",
            Some(Verdict::Fail) if layer2.as_deref() == Some("FAIL") => "fail_l2",
            Some(Verdict::Fail) => "fail_l3",
        })
    }

    /// Whether the spec that is up for approval has been edited since it was shown.
    pub(super) fn edited_spec(&self, at: &Situation) -> Option<String> {
        let path = self.place_of("spec.md", at)?;
        let there = self.files.text(&path).ok()??;
        let shown = self.session().paper(&path)?;
        (there.trim() != shown.trim())
            .then(|| self.words().say("taskline-spec-edited", &[("path", &path)]))
    }

    /// The conventions as a person has them, or as they were found.
    pub(super) fn live_conventions(&self) -> Option<String> {
        let live = self.files.text(CONVENTIONS).ok().flatten();
        live.or_else(|| self.session().paper(CONVENTIONS))
    }
}

/// A task in a line.
fn title(task: &str) -> String {
    let line = task.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("task");
    let line = line.trim_start_matches(['#', ' ']);
    match (line.char_indices().nth(TITLE_MAX), line.char_indices().nth(TITLE_MAX - 1)) {
        (Some(_), Some((cut, _))) => format!("{}…", line[..cut].trim_end()),
        _ => line.to_owned(),
    }
}

fn number(number: u64) -> Value {
    Value::Number(i64::try_from(number).unwrap_or(i64::MAX))
}

fn came(verdict: &str) -> Reading {
    Reading { verdict: verdict.to_owned(), ..Reading::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_the_first_line_that_says_something() {
        assert_eq!(title("\n# Add a flag\n\nlong text"), "Add a flag");
        assert_eq!(title(&"word".repeat(40)).chars().count(), TITLE_MAX);
        assert_eq!(title(""), "task");
    }
}
