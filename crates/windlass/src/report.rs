//! A report of a run: what became of each unit and on what evidence, who decided what, what it cost, what was sent back
//! and why, and a picture of its lanes.

mod claims;
mod layout;
mod page;
mod timeline;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;
use windlass_clerks::finding;
use windlass_core::run::{EffectId, Run, UnitIx};
use windlass_core::workflow::{RunOutcome, Workflow};
use windlass_engine::asserted;
use windlass_engine::date::instant;
use windlass_engine::entry::{Answered, Check, Entry, Note, Picture};
use windlass_journal::{Journal, RunId};
use windlass_words::Words;

use self::claims::Claim;
use self::timeline::Bar;
use crate::error::Error;
use crate::face::{standing, status_word};
use crate::progress::{Cause, Chronicle, Deed, Retry, Span};
use crate::render::{Teller, called};
use crate::replay::replay;

/// A report.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    pub run: String,
    pub workflow: String,
    pub about: String,
    pub branch: String,
    pub outcome: String,
    pub began: String,
    pub ended: String,
    pub minutes: i64,
    /// Time by the run's own clock: while nobody was at it, it stood still.
    pub elapsed_ms: u64,
    /// How many units may be under way at once.
    pub lanes: usize,
    pub cost_usd: f64,
    pub units: Vec<Unit>,
    /// What concerns no unit: the run's own stages.
    pub itself: Unit,
    /// What was decided, by whom, in order.
    pub decisions: Vec<Line>,
    pub waiting: Vec<String>,
    pub questions: Vec<String>,
    /// What each role and each agent cost.
    pub roles: Vec<Cost>,
    pub agents: Vec<Cost>,
    /// The commits that landed, in order.
    pub landed: Vec<Landed>,
    /// What was done, when, and in which lane.
    #[serde(skip)]
    bars: Vec<Bar>,
}

/// A unit, or the run itself.
#[derive(Debug, Default, Serialize)]
pub struct Unit {
    pub id: String,
    pub title: String,
    pub status: String,
    /// The unit that it depends on and that was not done, for a blocked one.
    pub because: Option<String>,
    pub cost_usd: f64,
    /// The most often that somebody was set to work at one of its stages.
    pub attempts: u32,
    pub elapsed_ms: u64,
    pub lane: Option<u32>,
    pub commits: Vec<String>,
    pub invocations: Vec<Invocation>,
    pub checks: Vec<CheckLine>,
    /// What was claimed, as it was judged last.
    pub claims: Vec<Claim>,
    /// What a browser took pictures of, with where they are.
    pub pictures: Vec<PictureLine>,
    pub retries: Vec<Again>,
    pub told: Vec<String>,
}

/// A picture that a browser took.
#[derive(Debug, Serialize)]
pub struct PictureLine {
    pub assertion: String,
    pub name: String,
    pub file: String,
}

#[derive(Debug, Serialize)]
pub struct Invocation {
    /// The part of the unit that it was about, and what the workflow calls such a part.
    pub task: Option<String>,
    pub called: Option<String>,
    pub stage: String,
    pub role: String,
    pub agent: String,
    pub attempt: u32,
    pub came: String,
    pub remarks: Vec<String>,
    pub files: usize,
    /// What it said it did, in a line.
    pub summary: String,
    /// What it found, a line each.
    pub findings: Vec<String>,
    /// It was there to judge, and could not change anything.
    pub judges: bool,
}

#[derive(Debug, Serialize)]
pub struct CheckLine {
    pub name: String,
    pub command: Option<String>,
    pub came: &'static str,
    pub tree: String,
    pub output: Option<String>,
    #[serde(skip)]
    pub failed: bool,
}

/// A stage that it went back to, and why.
#[derive(Debug, Serialize)]
pub struct Again {
    pub stage: String,
    pub attempt: u32,
    pub why: String,
}

/// What somebody cost.
#[derive(Debug, Default, Serialize)]
pub struct Cost {
    pub name: String,
    pub invocations: u64,
    pub cost_usd: f64,
    pub busy_ms: u64,
}

/// A commit that landed.
#[derive(Debug, Serialize)]
pub struct Landed {
    pub at: String,
    pub unit: Option<String>,
    pub commit: String,
    pub branch: String,
}

#[derive(Debug, Serialize)]
pub struct Line {
    pub at: String,
    pub text: String,
}

impl Report {
    /// The report of a run as its journal has it.
    pub fn of(journal: &Journal, id: &RunId, run: &Run) -> Result<Self, Error> {
        let mut report = Report {
            run: id.to_string(),
            workflow: run.workflow().name.clone(),
            about: run.workflow().about.clone(),
            cost_usd: usd(run.purse().settled.cost_micros),
            outcome: standing(run).to_owned(),
            lanes: run.width(),
            ..Report::default()
        };
        for unit in run.units() {
            report.units.push(Unit {
                id: unit.id.to_string(),
                title: unit.title.to_string(),
                status: status_word(unit.status).to_owned(),
                because: unit.because.map(|unit| unit.to_string()),
                cost_usd: usd(unit.purse.settled.cost_micros),
                ..Unit::default()
            });
        }
        report.questions = run.gates().iter().map(|gate| gate.question.clone()).collect();
        let mut telling = Telling::new(run, &report);
        replay(journal, id, |entry, run| {
            telling.enter(entry, run, journal, &mut report);
            Ok(())
        })?;
        telling.over(run, journal, &mut report);
        Ok(report)
    }

    /// As Markdown.
    pub fn markdown(&self) -> String {
        layout::page(self).markdown()
    }

    /// As a page of its own.
    pub fn html(&self) -> String {
        layout::page(self).html()
    }
}

fn usd(micros: u64) -> f64 {
    micros as f64 / 1e6
}

/// What is remembered while a journal is gone through.
struct Telling {
    teller: Teller,
    chronicle: Chronicle,
    began: Option<i64>,
    last: Option<i64>,
    /// Where each unit stands in the report.
    units: BTreeMap<String, usize>,
    /// Stages at which somebody judges.
    judges: BTreeMap<String, bool>,
    flow: Arc<Workflow>,
}

impl Telling {
    fn new(run: &Run, report: &Report) -> Self {
        let flow = run.workflow();
        let places = report.units.iter().enumerate().map(|(at, unit)| (unit.id.clone(), at));
        Telling {
            teller: Teller::new(flow.clone(), Words::default()),
            chronicle: Chronicle::new(flow.clone()),
            began: None,
            last: None,
            units: places.collect(),
            judges: flow.stages.iter().map(|it| (it.name.clone(), !it.edits)).collect(),
            flow: flow.clone(),
        }
    }

    fn unit<'r>(&self, id: Option<&str>, report: &'r mut Report) -> &'r mut Unit {
        match id.and_then(|id| self.units.get(id)) {
            Some(at) => &mut report.units[*at],
            None => &mut report.itself,
        }
    }

    fn enter(&mut self, entry: &Entry, run: &Run, journal: &Journal, report: &mut Report) {
        let at = match entry {
            Entry::Event(recorded) => recorded.at.wall_ms,
            Entry::Note(noted) => noted.at.wall_ms,
        };
        self.began.get_or_insert(at);
        self.last = Some(at);
        self.chronicle.enter(entry);
        match entry {
            Entry::Event(recorded) => {
                let told = self.teller.tell(entry, run);
                if is_decision(&recorded.event) {
                    let lines = told.into_iter().map(|text| Line { at: instant(at), text });
                    report.decisions.extend(lines);
                }
            }
            Entry::Note(noted) => self.note(&noted.note, at, journal, report),
        }
    }

    fn note(&self, note: &Note, at: i64, journal: &Journal, report: &mut Report) {
        match note {
            Note::TakenUp { target, .. } => report.branch.clone_from(target),
            Note::Answered(it) => self.answered(it, journal, report),
            Note::Checked { unit, name, command, came, tree, output, .. } => {
                self.unit(unit.as_deref(), report).checks.push(CheckLine {
                    name: name.clone(),
                    command: command.clone(),
                    came: came.words(),
                    tree: tree.clone(),
                    output: output.clone(),
                    failed: *came == Check::Fail,
                });
            }
            Note::Proved { units, tree, came, checks } => {
                // What a train fails with is its last car's to answer for, until it is known better.
                let whose = if *came == Check::Fail { units.len().saturating_sub(1) } else { 0 };
                for unit in &units[whose..] {
                    let unit = self.unit(Some(unit), report);
                    unit.checks.extend(checks.iter().map(|check| CheckLine {
                        name: check.name.clone(),
                        command: check.command.clone(),
                        came: check.came.words(),
                        tree: tree.clone(),
                        output: check.output.clone(),
                        failed: check.came == Check::Fail,
                    }));
                }
            }
            Note::Browsed { unit, pictures, .. } => {
                let line = |it: &Picture| PictureLine {
                    assertion: it.assertion.clone(),
                    name: it.name.clone(),
                    file: it.file.clone(),
                };
                self.unit(unit.as_deref(), report).pictures.extend(pictures.iter().map(line));
            }
            Note::Landed { unit, commit, waits, branch, .. } => {
                self.unit(unit.as_deref(), report).commits.push(commit.clone());
                report.landed.push(Landed {
                    at: instant(at),
                    unit: unit.clone(),
                    commit: commit.clone(),
                    branch: branch.clone(),
                });
                match waits {
                    Some(command) => report.waiting.push(command.clone()),
                    None => report.waiting.clear(),
                }
            }
            Note::Told { text, .. } if !text.is_empty() => report.itself.told.push(text.clone()),
            _ => {}
        }
    }

    fn answered(&self, it: &Answered, journal: &Journal, report: &mut Report) {
        let said = text(journal, it.said());
        let unit = self.unit(it.asked.unit.as_deref(), report);
        let judges = self.judges.get(&it.asked.stage).copied().unwrap_or(false);
        let claims = if judges { claims::of(&said, &it.asked.agent) } else { Vec::new() };
        if !claims.is_empty() {
            unit.claims = claims;
        }
        let called = || called(&self.flow, &it.asked.stage).to_owned();
        unit.invocations.push(Invocation {
            task: it.asked.task.clone(),
            called: it.asked.task.is_some().then(called),
            stage: it.asked.stage.clone(),
            role: it.asked.role.clone(),
            agent: it.asked.agent.clone(),
            attempt: it.asked.attempt,
            came: it.came.clone(),
            remarks: it.remarks.clone(),
            files: it.files.len(),
            summary: windlass_agents::gist(&said),
            findings: finding::all(&said).iter().map(finding::text).collect(),
            judges,
        });
    }

    /// All entries are in: what only the whole of them tells.
    fn over(self, run: &Run, journal: &Journal, report: &mut Report) {
        report.began = self.began.map(instant).unwrap_or_default();
        report.ended = self.last.map(instant).unwrap_or_default();
        report.minutes = self.began.zip(self.last).map_or(0, |(from, to)| (to - from) / 60_000);
        let now_ms = self.chronicle.watch().now().mono_ms;
        report.elapsed_ms = now_ms;
        // Who has validated a unit looked at it as it was then.
        let looked = report.itself.checks.iter().rfind(|it| it.name == asserted::CONTRACT);
        let looked = looked.filter(|it| it.failed && run.outcome() != Some(RunOutcome::Done));
        let said = looked.and_then(|it| it.output.as_deref()).map(|digest| text(journal, digest));
        let broken = asserted::broken(&said.unwrap_or_default());
        for (ix, unit) in (0..).zip(&mut report.units) {
            claims::broken(&mut unit.claims, &broken);
            let track = self.chronicle.track(UnitIx(ix), now_ms).unwrap_or_default();
            unit.attempts = track.attempts;
            unit.elapsed_ms = track.elapsed_ms;
            unit.lane = track.lane.map(|lane| lane.0);
        }
        let flow = run.workflow();
        for retry in &self.chronicle.retries {
            let unit = match retry.unit {
                Some(UnitIx(ix)) => report.units.get_mut(ix as usize),
                None => Some(&mut report.itself),
            };
            let Some(unit) = unit else { continue };
            unit.retries.push(Again {
                stage: flow.stage(retry.to).name.clone(),
                attempt: retry.attempt,
                why: why(flow, retry, journal),
            });
        }
        let (mut roles, mut agents) = (BTreeMap::new(), BTreeMap::new());
        let back = self.chronicle.retries.iter().filter_map(|retry| retry.cause.effect).collect();
        let open = self.chronicle.watch().open().collect::<Vec<_>>();
        for span in self.chronicle.spans.iter().chain(&open) {
            enter_cost(&mut roles, span.role.as_ref(), span);
            enter_cost(&mut agents, span.agent.as_ref(), span);
            report.bars.push(bar(flow, span, &report.units, &back));
        }
        (report.roles, report.agents) = (dearest_first(roles), dearest_first(agents));
    }
}

fn enter_cost(costs: &mut BTreeMap<String, Cost>, name: Option<&String>, span: &Span) {
    let Some(name) = name else { return };
    let cost = costs.entry(name.clone()).or_default();
    cost.name.clone_from(name);
    cost.invocations += 1;
    cost.cost_usd += usd(span.cost_micros);
    cost.busy_ms += span.to_ms.saturating_sub(span.from_ms);
}

fn dearest_first(costs: BTreeMap<String, Cost>) -> Vec<Cost> {
    let mut costs: Vec<Cost> = costs.into_values().collect();
    costs.sort_by(|one, two| two.cost_usd.total_cmp(&one.cost_usd));
    costs
}

/// Something that was done, as the picture has it.
fn bar(flow: &Workflow, span: &Span, units: &[Unit], back: &BTreeSet<EffectId>) -> Bar {
    let unit = span.unit.and_then(|UnitIx(ix)| units.get(ix as usize));
    let mut title = unit.map_or(String::new(), |unit| format!("{}: ", unit.id));
    title.push_str(&flow.stage(span.stage).name);
    if let (Some(role), Some(agent)) = (&span.role, &span.agent) {
        title.push_str(&format!(" ({role}, {agent})"));
    }
    if span.attempt > 1 {
        title.push_str(&format!(", attempt {}", span.attempt));
    }
    title.push_str(&format!(": {}", span.came));
    let took = span.to_ms.saturating_sub(span.from_ms);
    title.push_str(&format!(" · {}", crate::render::time(took)));
    if span.cost_micros > 0 {
        title.push_str(&format!(" · {:.2} dollars", usd(span.cost_micros)));
    }
    if let Some(commit) = &span.commit {
        title.push_str(&format!(" · {}", short(commit)));
    }
    Bar {
        lane: span.lane.map(|lane| lane.0),
        deed: span.deed,
        from_ms: span.from_ms,
        to_ms: span.to_ms,
        title,
        attempt: span.attempt,
        amiss: span.mishap || back.contains(&span.effect),
        landed: span.deed == Deed::Land && span.commit.is_some(),
    }
}

/// Why a stage was tried again.
fn why(flow: &Workflow, retry: &Retry, journal: &Journal) -> String {
    let stage = flow.stage(retry.from);
    let verdict = retry.verdict.map(|verdict| stage.verdict(verdict).name.as_str());
    let mut why = match verdict {
        Some(verdict) => format!("{}: {verdict}", stage.name),
        None => stage.name.clone(),
    };
    let Cause { effect: _, checks, said, remarks, conflicts, fault, who } = &retry.cause;
    if let Some(who) = who {
        why.push_str(&format!("; {who} wanted it done over"));
    }
    if !checks.is_empty() {
        why.push_str(&format!("; failed: {}", checks.join(", ")));
    }
    if !conflicts.is_empty() {
        why.push_str(&format!("; both sides are in {}", conflicts.join(", ")));
    }
    let gist = said.as_deref().map(|said| windlass_agents::gist(&text(journal, said)));
    let more = fault.iter().chain(remarks).chain(&gist).filter(|text| !text.is_empty());
    more.for_each(|text| why.push_str(&format!("; {text}")));
    why
}

fn text(journal: &Journal, digest: &str) -> String {
    let bytes = digest.parse().ok().and_then(|id| journal.get(id).ok()).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn is_decision(event: &windlass_core::run::Event) -> bool {
    use windlass_core::run::Event;
    match event {
        Event::Asked { policy, .. } => policy.is_some(),
        Event::Moved(moved) => moved.record.is_some(),
        Event::Answered { .. }
        | Event::Overridden { .. }
        | Event::Redone { .. }
        | Event::StopAsked { .. }
        | Event::PauseAsked { .. }
        | Event::ResumeAsked { .. }
        | Event::CancelAsked { .. }
        | Event::CapsRaised { .. } => true,
        Event::UnitSettled { by, .. } => by.is_some(),
        _ => false,
    }
}

/// A digest as people name it.
fn short(digest: &str) -> &str {
    digest.get(..10).unwrap_or(digest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::told_in_tests::{SIX, entries, told};

    /// A picture of a journal that is always the same one.
    #[test]
    fn the_picture_of_a_journal() {
        let (run, chronicle) = told(&entries(SIX));
        let named = |unit: windlass_core::run::UnitView| Unit {
            id: unit.id.to_string(),
            ..Unit::default()
        };
        let units: Vec<Unit> = run.units().map(named).collect();
        let back = chronicle.retries.iter().filter_map(|retry| retry.cause.effect).collect();
        let bars: Vec<Bar> =
            chronicle.spans.iter().map(|span| bar(run.workflow(), span, &units, &back)).collect();
        insta::assert_snapshot!(timeline::timeline(&bars).unwrap());
    }

    #[test]
    fn a_part_of_a_unit_is_called_what_its_workflow_calls_it() {
        let mut report = huge();
        let invocation = &mut report.units[0].invocations[0];
        (invocation.task, invocation.called) = (Some("g1".into()), Some("group".into()));
        let text = report.markdown();
        assert_eq!(text.matches("group g1: do").count(), 2, "on what evidence, and what was asked");
        assert!(!text.contains("task g1"));
    }

    /// Ten thousand units, each with a few of everything.
    fn huge() -> Report {
        let mut report = Report { run: "r-1".into(), outcome: "done".into(), ..Report::default() };
        for at in 0..10_000_u32 {
            let invocation = Invocation {
                task: None,
                called: None,
                stage: "do".into(),
                role: "worker".into(),
                agent: "acted".into(),
                attempt: 1,
                came: "done".into(),
                remarks: Vec::new(),
                files: 1,
                summary: "x".repeat(200),
                findings: Vec::new(),
                judges: true,
            };
            let failed = at % 100 == 0;
            report.units.push(Unit {
                id: format!("F-{at}"),
                title: "A title of a usual length, more or less".into(),
                status: if failed { "failed" } else { "done" }.into(),
                invocations: vec![invocation],
                commits: vec!["0123456789abcdef".into()],
                ..Unit::default()
            });
            report.decisions.push(Line { at: "then".into(), text: format!("F-{at}: NEXT") });
            let at_ms = u64::from(at) * 10;
            report.bars.push(Bar {
                lane: Some(at % 8),
                deed: Deed::Work,
                from_ms: at_ms,
                to_ms: at_ms + 70,
                title: format!("F-{at}"),
                attempt: 1,
                amiss: false,
                landed: true,
            });
        }
        report
    }

    #[test]
    fn ten_thousand_units_make_a_report_that_can_be_opened() {
        let report = huge();
        let began = std::time::Instant::now();
        let html = report.html();
        assert!(html.len() < 5_000_000, "{}", html.len());
        assert!(html.contains("F-9999"), "every unit is in the table");
        assert_eq!(html.matches("<details>").count(), 100, "those that failed are told of");
        assert!(html.contains("9900 more are left out here"));
        assert!(html.contains("And 9000 more"), "so many decisions");
        assert!(began.elapsed().as_secs() < 20, "nothing is quadratic: {:?}", began.elapsed());
        assert!(report.markdown().len() < 5_000_000);
    }
}
