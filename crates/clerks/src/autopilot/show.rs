//! What roles and people are shown of a session.

use windlass_engine::clerk::Situation;
use windlass_sources::plan::Plan;
use windlass_sources::slug;
use windlass_sources::spec::Spec;

use super::session::{MINUTES_A_TASK, Phase, TASK_THRESHOLD};
use super::{Autopilot, MARK, stage};
use crate::finding;
use crate::memory::{failures, learnings};

/// So much of a text is shown: its beginning, or of what grows at its end, the end.
const SHOWN_BYTES: usize = 24 * 1024;

/// What it can show.
pub(super) const SHOWS: [&str; 14] = [
    "session",
    "spec",
    "phase",
    "plan",
    "skeleton",
    "task",
    "handoff.json",
    "learnings",
    "failures",
    "roadmap",
    "findings",
    "answers",
    "phases",
    "question",
];

impl Autopilot {
    pub(super) fn shown(&self, name: &str, at: &Situation) -> Option<String> {
        match name {
            "session" => Some(self.orientation()),
            "spec" => self.paper(&self.spec).map(|text| beginning(&text)),
            "phase" => self.phase_text(at),
            "plan" => {
                let unit = at.unit.as_ref()?;
                let path = self.session().phase(&unit.0)?.plan_path.clone()?;
                let text = self.plan_text(&path)?;
                Some(format!("{path}\n\n{}", beginning(&text)))
            }
            "skeleton" => {
                let session = self.session();
                let skeleton = &session.phase(&at.unit.as_ref()?.0)?.skeleton;
                (!skeleton.is_empty()).then(|| beginning(skeleton))
            }
            "task" => self.task_text(at),
            "handoff.json" => self.paper(&self.in_dir("handoff.json")).map(|text| beginning(&text)),
            "learnings" => {
                let own = [learnings::PATH.to_owned(), self.in_dir("learnings.md")];
                let texts: Vec<String> = own.iter().filter_map(|path| self.paper(path)).collect();
                (!texts.is_empty()).then(|| end(&texts.join("\n\n")))
            }
            "failures" => self.paper(failures::PATH).map(|text| end(&text)),
            "roadmap" => self.paper(&self.roadmap).map(|text| beginning(&text)),
            "findings" => self.findings(at),
            "answers" => {
                let session = self.session();
                let answers = &session.phase(&at.unit.as_ref()?.0)?.answers;
                (!answers.is_empty()).then(|| answers.join("\n"))
            }
            "phases" => Some(self.phase_list()),
            "question" => self.question(at),
            _ => None,
        }
    }

    fn paper(&self, path: &str) -> Option<String> {
        let session = self.session();
        session.papers.get(path).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    /// A plan, without what we put below it to know it again.
    fn plan_text(&self, path: &str) -> Option<String> {
        let text = self.paper(path)?;
        Some(text.split(MARK).next().unwrap_or(&text).trim_end().to_owned())
    }

    fn orientation(&self) -> String {
        format!(
            "Spec: {}\nSession directory: {}\nSession slug: {}\nStarting commit: {}\nRigor level: {}",
            self.spec,
            self.dir(),
            self.slug,
            self.starting_commit,
            self.rigor
        )
    }

    fn phase_text(&self, at: &Situation) -> Option<String> {
        let (unit, title) = at.unit.as_ref()?;
        let spec = Spec::in_any_order(&self.paper(&self.spec)?).ok()?;
        let name = slug(title);
        let phase = spec.phases.into_iter().find(|phase| slug(&phase.name) == name);
        let text = phase.map_or(String::new(), |phase| phase.text);
        Some(format!("Phase {unit}: {title}\n\n{}", beginning(&text)))
    }

    /// What the plan says about a task; about one that was added later, the finding that it is to mend.
    fn task_text(&self, at: &Situation) -> Option<String> {
        let child = at.child.as_ref()?;
        let unit = at.unit.as_ref()?;
        let path = self.session().phase(&unit.0)?.plan_path.clone();
        let plan = path.and_then(|path| self.plan_text(&path)).map(|text| Plan::parse(&text));
        let task = plan.and_then(|plan| plan.tasks.into_iter().find(|it| *it.id == *child.id));
        if let Some(task) = task {
            return Some(beginning(&task.text));
        }
        let session = self.session();
        let phase = session.phase(&unit.0)?;
        let is_it = |finding: &&serde_json::Value| {
            let title = finding["title"].as_str().unwrap_or_default();
            !title.is_empty() && child.title.starts_with(title)
        };
        let length = |finding: &&serde_json::Value| finding["title"].as_str().map_or(0, str::len);
        let findings = phase.unverified.iter().chain(&phase.findings);
        let finding = findings.filter(is_it).max_by_key(length);
        Some(finding.map_or_else(|| child.title.to_string(), finding::text))
    }

    /// What reviews have found: of this phase, or of all when the run itself asks.
    fn findings(&self, at: &Situation) -> Option<String> {
        let session = self.session();
        let unit = at.unit.as_ref().map(|(id, _)| id.as_str());
        let mut text = String::new();
        for phase in session.phases.iter().filter(|phase| unit.is_none_or(|it| it == phase.number))
        {
            for finding in &phase.findings {
                let line = finding::text(finding);
                text.push_str(&format!("- Phase {}: {line}\n", phase.number));
            }
        }
        if unit.is_none() {
            for finding in &session.final_findings {
                text.push_str(&format!("- Final review: {}\n", finding::text(finding)));
            }
        }
        (!text.is_empty()).then_some(text)
    }

    /// Blocking findings that somebody has overridden, a line each.
    pub(super) fn open_findings(&self) -> String {
        let session = self.session();
        let overridden = |record: &str| {
            let phases = session.decisions.iter().filter(|it| it["decision"] == record);
            phases.map(|it| it["phase"].as_u64()).collect::<Vec<_>>()
        };
        let by_phase = overridden("review_overridden");
        let blocking = |it: &&serde_json::Value| it["severity"] == "blocking";
        let mut text = String::new();
        for (at, phase) in session.phases.iter().enumerate() {
            if by_phase.contains(&u64::try_from(at).ok()) {
                for finding in phase.findings.iter().filter(blocking) {
                    text.push_str(&format!(
                        "- Phase {}: {}\n",
                        phase.number,
                        finding::line(finding)
                    ));
                }
            }
        }
        if session.final_status == "overridden" {
            for finding in session.final_findings.iter().filter(blocking) {
                text.push_str(&format!("- Final review: {}\n", finding::line(finding)));
            }
        }
        text
    }

    fn phase_list(&self) -> String {
        let session = self.session();
        let over = |number: &str| {
            session
                .phase(number)
                .is_some_and(|phase| matches!(phase.status.as_str(), "complete" | "skipped"))
        };
        let left: Vec<String> = session
            .proposed
            .iter()
            .filter(|(number, _)| !over(number))
            .map(|(_, name)| format!("- {name}"))
            .collect();
        if !left.is_empty() {
            return format!("What is left, in this order:\n{}", left.join("\n"));
        }
        let line = |phase: &Phase| {
            format!(
                "Phase {}: {} ({}, {})",
                phase.number,
                phase.name,
                phase.effective(),
                phase.status
            )
        };
        session.phases.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    /// Whether the plan that is up for approval has been edited since it was read.
    pub(super) fn edited_plan(&self, at: &Situation) -> Option<String> {
        if at.stage != stage::APPROVE_PLAN {
            return None;
        }
        let path = self.session().phase(&at.unit.as_ref()?.0)?.plan_path.clone()?;
        let there = self.files.text(&path).ok()??;
        let plain = |text: &str| text.split(MARK).next().unwrap_or(text).trim().to_owned();
        (plain(&there) != self.plan_text(&path)?.trim()).then(|| {
            format!("{path} was edited since it was shown: answer `revise`, then `edited`, and see it again")
        })
    }

    /// What a person should know when they are asked something.
    fn question(&self, at: &Situation) -> Option<String> {
        match at.stage.as_str() {
            stage::APPROVE_PLAN | stage::EDIT_PLAN => {
                let unit = &at.unit.as_ref()?.0;
                let pause = self.pause(unit)?;
                let session = self.session();
                let phase = session.phase(unit)?;
                let mut text = format!(
                    "{pause}\nPlan: {}\n{} tasks, {} checkpoints, about {} minutes, {} complexity",
                    phase.plan_path.as_deref().unwrap_or("none"),
                    phase.task_count,
                    phase.checkpoint_count,
                    phase.task_count * MINUTES_A_TASK,
                    phase.effective(),
                );
                for concern in &phase.concerns {
                    text.push_str(&format!("\nConcern: {concern}"));
                }
                Some(text)
            }
            stage::REVIEW_BLOCKED => self.findings(at),
            stage::FINAL_BLOCKED | stage::FINAL_STUCK => {
                let found = self.findings(at).unwrap_or_default();
                let session = self.session();
                let fixes = session.final_fixes.iter().enumerate();
                let fixes = fixes.map(|(at, fix)| format!("Attempt {}: {fix}", at + 1));
                let fixes: Vec<String> = fixes.collect();
                let text = format!("{}\n\n{}", found.trim_end(), fixes.join("\n"));
                (!text.trim().is_empty()).then(|| text.trim().to_owned())
            }
            stage::OFFER_PR => {
                let (title, body) = self.pull_request_text();
                Some(format!("Title: {title}\n\n{body}"))
            }
            stage::VERIFY_FAILED => {
                let session = self.session();
                let phase = session.phase(&at.unit.as_ref()?.0)?;
                let lines: Vec<String> = phase.unverified.iter().map(finding::text).collect();
                (!lines.is_empty()).then(|| lines.join("\n"))
            }
            stage::CHOOSE | stage::ACT | stage::CONFIRM => self.task_text(at),
            stage::EXHAUSTED => {
                let session = self.session();
                let phase = session.phase(&at.unit.as_ref()?.0)?;
                let child = at.child.as_ref()?;
                let task = phase.tasks.iter().find(|task| *task.id == *child.id)?;
                let attempts = task.attempts().join("\n");
                let title = format!("Task {}: {} — FAILED (budget exhausted)", task.id, task.title);
                Some(format!("{title}\n\n{attempts}"))
            }
            stage::REORDER_GATE => Some(self.phase_list()),
            _ => None,
        }
    }

    /// The report of a plan that nobody had to look at.
    pub(super) fn approval(&self, unit: &str, record: Option<&str>) -> Option<String> {
        let session = self.session();
        let phase = session.phase(unit)?;
        let title = format!("Auto-approved Phase {}: {}", phase.number, phase.name);
        match record? {
            "auto_approved_plan_fast" => {
                Some(format!("{title} (fast mode — signal evaluation skipped)"))
            }
            "auto_approved_plan" => Some(format!("{title}\n{}", self.signals(phase, false))),
            _ => None,
        }
    }

    /// The report of a plan that a person must look at, with the signals that fired.
    fn pause(&self, unit: &str) -> Option<String> {
        let session = self.session();
        let phase = session.phase(unit)?;
        let title = format!("Pausing for review -- Phase {}: {}", phase.number, phase.name);
        Some(format!("{title}\n{}", self.signals(phase, true)))
    }

    fn signals(&self, phase: &Phase, mark: bool) -> String {
        let fired = |fired: bool| if fired && mark { " (triggered)" } else { "" };
        let mode = match (self.review_plans, self.rigor.as_str()) {
            (true, _) => "manual (--review-plans flag set)".to_owned(),
            (false, "thorough") => "manual (--thorough)".to_owned(),
            (false, _) => "auto".to_owned(),
        };
        let complexity = match &phase.complexity_override {
            Some(word) => {
                format!("Complexity override: {} -> {word}{}", phase.complexity, fired(true))
            }
            None if phase.complexity == "high" => format!("Complexity: high{}", fired(true)),
            None => format!("Complexity: {} (no override)", phase.complexity),
        };
        let concerns = match phase.concerns.len() {
            0 => "none".to_owned(),
            count => format!("{count} concern(s){}", fired(true)),
        };
        let many = phase.task_count > TASK_THRESHOLD;
        format!(
            "  Review mode: {mode}\n  {complexity}\n  Planner concerns: {concerns}\n  Tasks: {} (threshold: {TASK_THRESHOLD}){}",
            phase.task_count,
            fired(many)
        )
    }
}

fn beginning(text: &str) -> String {
    if text.len() <= SHOWN_BYTES {
        return text.trim_end().to_owned();
    }
    let cut = text.floor_char_boundary(SHOWN_BYTES);
    format!("{}\n[… {} bytes more]", &text[..cut], text.len() - cut)
}

fn end(text: &str) -> String {
    let cut = text.ceil_char_boundary(text.len().saturating_sub(SHOWN_BYTES));
    text[cut..].trim().to_owned()
}
