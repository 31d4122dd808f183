//! What autopilot tells people, and writes into files that are theirs too. Each may be done twice and is then done
//! once.

use windlass_core::value::Value;
use windlass_engine::clerk::{Situation, Told};
use windlass_engine::date::{date, instant};
use windlass_engine::message::Trouble;
use windlass_sources::handoff::{FinalReview, Handoff};
use windlass_sources::roadmap::{Roadmap, Status};
use windlass_sources::slug;
use windlass_sources::spec::Spec;

use super::session::Phase;
use super::{Autopilot, stage};
use crate::memory::{BYTES_MAX, failures, learnings, summary::Summary};

/// What files call us.
const SKILL: &str = "harness-autopilot";

/// How it is said that a feature has a status now; the session takes the word from there.
pub(super) const SET_TO: &str = "is now ";

impl Autopilot {
    pub(super) fn told(&self, name: &str, at: &Situation) -> Result<Told, Trouble> {
        let text = match name {
            "fast-wins" => {
                "--fast overrules --review-plans: plans are approved without review".to_owned()
            }
            "resume-report" => self.resumed(),
            "interactive-plan" => self.interactive(at),
            "override-note" => self.larger(at),
            "failures-log" => self.failure(at)?,
            "phase-summary" => self.phase_summary(at),
            "clear-scratchpad" => self.clear_scratchpad(at)?,
            "roadmap-sync" => self.roadmap(&Status::InProgress)?,
            "roadmap-done" => self.roadmap(&Status::Done)?,
            "session-summary-file" => {
                let papers = [(self.in_dir("summary.md"), self.summary(at).text())].into();
                return Ok(Told { papers, ..Told::default() });
            }
            "review-the-spec" => {
                "Two phases in a row used up their retries: review the spec for what they \
                                  have in common before you go on"
                    .to_owned()
            }
            "totals" => self.totals(),
            "pull-request" => return Ok(self.pull_request()),
            "final-handoff" => return Ok(self.final_handoff()),
            "learnings" => self.learned(at)?,
            "promote-learnings" => self.promote()?,
            "prune-hint" => self.prune_hint()?,
            _ => String::new(),
        };
        Ok(Told { text, ..Told::default() })
    }

    fn of_unit<R: Default>(&self, at: &Situation, say: impl FnOnce(&Phase) -> R) -> R {
        let session = self.session();
        let unit = at.unit.as_ref().map(|(id, _)| id.as_str());
        unit.and_then(|unit| session.phase(unit)).map(say).unwrap_or_default()
    }

    fn resumed(&self) -> String {
        let session = self.session();
        // The phases are not units yet: they have only been read.
        let pending = |facts: &std::collections::BTreeMap<String, Value>| {
            facts.get("recorded") == Some(&Value::text("pending"))
        };
        let mut open: Vec<(u32, &str, String)> = session
            .listed
            .iter()
            .filter(|(_, (_, facts))| pending(facts))
            .map(|(id, (title, facts))| {
                let state = facts.get("resume_at").map_or(String::new(), Value::to_string);
                (id.parse().unwrap_or(u32::MAX), title.as_str(), state)
            })
            .collect();
        open.sort();
        match open.first() {
            Some((number, name, state)) => {
                format!("Resuming autopilot from state {state}, phase {number}: {name}.")
            }
            None => "Resuming autopilot: no phase is left.".to_owned(),
        }
    }

    fn interactive(&self, at: &Situation) -> String {
        self.of_unit(at, |phase| {
            format!(
                "Phase {}: {} is marked high-complexity. Plan it with `windlass autopilot plan` (or put a plan at \
                 docs/plans/<date>-{}-plan.md), then `windlass autopilot` goes on.",
                phase.number,
                phase.name,
                slug(&phase.name)
            )
        })
    }

    fn larger(&self, at: &Situation) -> String {
        self.of_unit(at, |phase| match phase.complexity_override.as_deref() {
            Some("high") => "This phase is significantly larger than expected. Consider breaking it down.".to_owned(),
            _ => format!(
                "Planning produced {} tasks — more than expected for low complexity. Reviewing with extra scrutiny.",
                phase.task_count
            ),
        })
    }

    fn failure(&self, at: &Situation) -> Result<String, Trouble> {
        let day = date(at.since.wall_ms);
        let (what, attempts) = match (&at.unit, &at.child) {
            (Some((unit, title)), Some(child)) => {
                let attempts = self.of_unit(at, |phase| {
                    let task = phase.tasks.iter().find(|task| *task.id == *child.id);
                    task.map(|task| task.attempts()).unwrap_or_default()
                });
                (format!("Phase {unit}: {title} — Task {}: {}", child.id, child.title), attempts)
            }
            _ => {
                let rounds = usize::try_from(self.session().final_rounds).unwrap_or(usize::MAX);
                let session = self.session();
                let fixes = session.final_fixes.iter().rev().take(rounds).rev().enumerate();
                let fixes =
                    fixes.map(|(at, fix)| format!("Attempt {}: {fix} → findings remain", at + 1));
                (format!("Final review of {}", self.spec), fixes.collect())
            }
        };
        let entry = failures::entry(&day, SKILL, "retry-budget-exhausted", &what, &attempts);
        self.files.append(failures::PATH, "Failures", &entry)?;
        Ok(format!("Recorded in {}.", failures::PATH))
    }

    fn phase_summary(&self, at: &Situation) -> String {
        self.of_unit(at, |phase| {
            // It is told just before the phase is over.
            let skipped = at.stage == stage::PHASE_SKIPPED;
            let title = format!("Phase {}: {}", phase.number, phase.name);
            if skipped {
                return format!("{title} — SKIPPED");
            }
            let [blocking, warning, note] = phase.review.unwrap_or_default();
            let minutes = phase.started_ms.map_or(0, |from| (at.since.wall_ms - from) / 60_000);
            format!(
                "{title} — COMPLETE\nTasks: {}/{} | Retries: {} | Verification: {} | Review: {blocking} blocking, \
                 {warning} warnings, {note} notes | {minutes} min",
                phase.tasks_done(),
                phase.tasks.len(),
                phase.retries,
                phase.verification.as_deref().unwrap_or("skipped"),
            )
        })
    }

    /// Where a phase's scratchpad is.
    fn clear_scratchpad(&self, at: &Situation) -> Result<String, Trouble> {
        if let Some((_, title)) = &at.unit {
            self.files.clear(&self.in_dir(&format!("scratchpad/{}", slug(title))))?;
        }
        Ok(String::new())
    }

    /// Moves the spec's feature forward; silent when there is no roadmap or no such feature, or a person has it
    /// further. A status that somebody has changed since we set it is theirs.
    fn roadmap(&self, to: &Status) -> Result<String, Trouble> {
        let title = self.title();
        let own = self.session().roadmap_status.clone();
        let mut said = String::new();
        self.files.revise(&self.roadmap, BYTES_MAX, |text| -> Result<_, Trouble> {
            said.clear();
            let Some(text) = text else { return Ok(None) };
            let roadmap = Roadmap::parse(text);
            let Some(feature) = roadmap.feature_of(&self.spec, title.as_deref()) else {
                return Ok(None);
            };
            let Some(moved) = feature.forward(text, to) else { return Ok(None) };
            let (name, now) = (&feature.name, feature.status.word());
            if own.as_deref().is_some_and(|own| own != now) {
                said = format!("{}: {name} stays {now}, as somebody has set it", self.roadmap);
                return Ok(None);
            }
            said = format!("{}: {name} {SET_TO}{}", self.roadmap, to.word());
            Ok(Some(moved))
        })?;
        Ok(said)
    }

    /// What the spec is called.
    pub(super) fn title(&self) -> Option<String> {
        let known = self.session().papers.get(&self.spec).cloned();
        let known = known.map(|text| String::from_utf8_lossy(&text).into_owned());
        let text = known.or_else(|| self.files.text(&self.spec).ok().flatten())?;
        Spec::in_any_order(&text).ok()?.title
    }

    fn summary(&self, at: &Situation) -> Summary {
        let session = self.session();
        let total = session.phases.len();
        let tasks: usize = session.phases.iter().map(|phase| phase.tasks.len()).sum();
        let done: usize = session.phases.iter().map(Phase::tasks_done).sum();
        let unit = at.unit.as_ref().map(|(id, _)| id.as_str());
        let index = session.phases.iter().position(|phase| Some(phase.number.as_str()) == unit);
        let next = session.phases.get(index.map_or(total, |at| at + 1));
        let (status, next_step) = match (index, at.stage.as_str()) {
            (Some(index), stage) => {
                let word = if stage == stage::PHASE_SKIPPED { "skipped" } else { "complete" };
                let phase = &session.phases[index];
                let next = next.map_or("Final review, then DONE".to_owned(), |it| {
                    format!("Continue to Phase {}: {}", it.number, it.name)
                });
                let (number, own) = (&phase.number, phase.tasks_done());
                (format!("Phase {number} {word}. {own}/{} tasks.", phase.tasks.len()), next)
            }
            (None, "wrap_up") => (
                format!("DONE. {total} phases, {done} tasks complete."),
                "All phases complete. Create PR or close session.".to_owned(),
            ),
            (None, _) => (
                format!("Stopped at {}. {done}/{tasks} tasks.", session.state),
                "`windlass autopilot` starts again with what is left".to_owned(),
            ),
        };
        let built: Vec<&str> = session
            .phases
            .iter()
            .filter(|phase| phase.status == "complete" || Some(phase.number.as_str()) == unit)
            .map(|phase| phase.name.as_str())
            .collect();
        Summary {
            session: self.slug.clone(),
            skill: SKILL.to_owned(),
            last_active: instant(at.since.wall_ms),
            phase: index.map(|index| format!("{} of {total}", index + 1)),
            status,
            spec: self.spec.clone(),
            plan: index.and_then(|index| session.phases[index].plan_path.clone()),
            key_context: format!("Built so far: {}.", built.join(", ")),
            next_step,
        }
    }

    fn totals(&self) -> String {
        let session = self.session();
        let done = session.phases.iter().filter(|phase| phase.status == "complete").count();
        let skipped: Vec<&str> = session
            .phases
            .iter()
            .filter(|phase| phase.status == "skipped")
            .map(|phase| phase.name.as_str())
            .collect();
        let tasks: usize = session.phases.iter().map(Phase::tasks_done).sum();
        let from = session.phases.iter().filter_map(|phase| phase.started_ms).min();
        let to = session.phases.iter().filter_map(|phase| phase.completed_ms).max();
        let minutes = from.zip(to).map_or(0, |(from, to)| (to - from) / 60_000);
        let findings = session.final_findings.len();
        let mut text = format!(
            "All phases complete.\nTotal: {done} phases, {tasks} tasks, {} retries, {minutes} min\n\
             Final review: {} ({findings} findings)",
            session.retries, session.final_status
        );
        if !skipped.is_empty() {
            text.push_str(&format!("\nSkipped: {}", skipped.join(", ")));
        }
        let overridden = session.decisions.iter().filter(|decision| {
            decision["decision"].as_str().is_some_and(|word| word.contains("overridden"))
        });
        for decision in overridden {
            text.push_str(&format!(
                "\nOverridden: {}",
                decision["decision"].as_str().unwrap_or("")
            ));
        }
        text
    }

    /// The title and the description of a pull request.
    pub(super) fn pull_request_text(&self) -> (String, String) {
        let title = self.title().unwrap_or_else(|| self.spec.clone());
        let mut body = format!("# {title}\n\nBuilt from `{}`, phase by phase.\n", self.spec);
        {
            let session = self.session();
            for phase in &session.phases {
                let [blocking, warning, note] = phase.review.unwrap_or_default();
                body.push_str(&format!(
                    "\n## Phase {}: {} ({})\n\n- Tasks: {}/{}\n- Retries: {}\n- Verification: {}\n- Review: {blocking} blocking, \
                     {warning} warnings, {note} notes\n",
                    phase.number,
                    phase.name,
                    phase.status,
                    phase.tasks_done(),
                    phase.tasks.len(),
                    phase.retries,
                    phase.verification.as_deref().unwrap_or("skipped"),
                ));
            }
            body.push_str(&format!("\nFinal review: {}\n", session.final_status));
        }
        let open = self.open_findings();
        if !open.is_empty() {
            body.push_str(&format!("\n## Findings that were overridden\n\n{open}"));
        }
        (title, body)
    }

    /// A title and a description, in a file, and the command to use them with.
    fn pull_request(&self) -> Told {
        let (title, body) = self.pull_request_text();
        let path = self.in_dir("pull-request.md");
        let text = format!(
            "Title and description are in {path}. Push the branch, then:\n  gh pr create --title '{}' --body-file {path}",
            title.replace('\'', "’")
        );
        let words = ["gh", "pr", "create", "--title", &title, "--body", &body];
        let command = Some(words.map(str::to_owned).to_vec());
        Told { text, papers: [(path, body)].into(), command }
    }

    fn final_handoff(&self) -> Told {
        let handoff = {
            let session = self.session();
            let done = session.phases.iter().filter(|phase| phase.status == "complete");
            let completed: Vec<String> =
                done.map(|phase| format!("Phase {}: {}", phase.number, phase.name)).collect();
            let tasks: usize = session.phases.iter().map(Phase::tasks_done).sum();
            let decisions = session.decisions.iter().filter_map(|it| it["decision"].as_str());
            Handoff {
                from_skill: SKILL.to_owned(),
                phase: "DONE".to_owned(),
                summary: format!("Completed {} phases with {tasks} total tasks", completed.len()),
                completed,
                decisions: decisions.map(str::to_owned).collect(),
                final_review: Some(FinalReview {
                    status: session.final_status.clone(),
                    findings_count: session.final_findings.len() as u64,
                }),
                ..Handoff::default()
            }
        };
        let text = serde_json::to_string_pretty(&handoff).unwrap_or_default() + "\n";
        Told { papers: [(self.in_dir("handoff.json"), text)].into(), ..Told::default() }
    }

    fn learned(&self, at: &Situation) -> Result<String, Trouble> {
        let name = self.title().unwrap_or_else(|| self.spec.clone());
        let block = {
            let session = self.session();
            let done = session.phases.iter().filter(|phase| phase.status == "complete").count();
            let tasks: usize = session.phases.iter().map(Phase::tasks_done).sum();
            let mut hard: Vec<&Phase> =
                session.phases.iter().filter(|phase| phase.retries > 0).collect();
            hard.sort_by_key(|phase| std::cmp::Reverse(phase.retries));
            let pattern = hard.first().map_or("No phase needed a retry".to_owned(), |phase| {
                format!("Phase {}: {} needed {} retries", phase.number, phase.name, phase.retries)
            });
            format!(
                "## {} — Autopilot: {name}\n- [skill:harness-autopilot] [outcome:complete] Executed {done} phases, {tasks} tasks, {} \
                 retries\n- [skill:harness-autopilot] [outcome:observation] {pattern}",
                date(at.since.wall_ms),
                session.retries
            )
        };
        self.files.append(learnings::PATH, learnings::HEADING, &block)?;
        Ok(String::new())
    }

    /// Entries of the session that matter beyond it go to the project's learnings; the others stay.
    fn promote(&self) -> Result<String, Trouble> {
        let texts: Vec<String> = {
            let session = self.session();
            let own = session.papers.iter().filter(|(path, _)| {
                **path == self.in_dir("learnings.md") || **path == *learnings::PATH
            });
            own.map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned()).collect()
        };
        let entries = texts.iter().flat_map(|text| learnings::parse(text));
        let (general, own): (Vec<_>, Vec<_>) = entries.partition(learnings::Entry::is_general);
        let mut promoted = 0;
        for entry in &general {
            promoted +=
                usize::from(self.files.append(learnings::PATH, learnings::HEADING, &entry.text)?);
        }
        Ok(format!(
            "Promoted {promoted} learnings to global, {} session-specific entries kept in session.",
            own.len()
        ))
    }

    fn prune_hint(&self) -> Result<String, Trouble> {
        let text = self.files.text(learnings::PATH)?.unwrap_or_default();
        let count = learnings::parse(&text).len();
        if count <= learnings::MANY {
            return Ok(String::new());
        }
        Ok(format!(
            "Global learnings.md has {count} entries (threshold: {}). Run `windlass learnings prune` to analyze patterns \
             and archive old entries.",
            learnings::MANY
        ))
    }
}
