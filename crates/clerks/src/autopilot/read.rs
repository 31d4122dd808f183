//! What autopilot reads: its spec, an earlier session, the roadmap, plans. A person's edit always wins.

use std::collections::BTreeMap;

use windlass_core::run::Item;
use windlass_core::value::Value;
use windlass_engine::clerk::Situation;
use windlass_engine::shop::lock;
use windlass_sources::autopilot::{BadState, State};
use windlass_sources::handoff::Handoff;
use windlass_sources::plan::Plan;
use windlass_sources::roadmap::{Roadmap, Status};
use windlass_sources::spec::{BadSpec, Spec};
use windlass_sources::{Reading, SourceError, slug};

use super::{Autopilot, MARK, PLANS, stage};
use crate::memory::{Files, failures, learnings};

/// What it can read.
pub const READS: [&str; 6] =
    ["autopilot-session", "spec", "roadmap", "working-context", "session-summary", "phase-plan"];

/// A spec is no longer than this.
const SPEC_BYTES_MAX: u64 = 1 << 20;

/// A spec and its text, if it is there: the one way to read one, before a session begins and while it goes on.
///
/// # Errors
///
/// When it cannot be used, why, and what to do about it.
pub fn spec(files: &Files, path: &str) -> Result<Option<(Spec, String)>, SourceError> {
    spec_by(files, path, Spec::parse)
}

/// The same for phases in an order that is to be, or not to be, that of their numbers.
fn spec_by(
    files: &Files,
    path: &str,
    parse: fn(&str) -> Result<Spec, BadSpec>,
) -> Result<Option<(Spec, String)>, SourceError> {
    let Some(text) = files.short(path, SPEC_BYTES_MAX)? else { return Ok(None) };
    if text.contains('\0') || text.contains('\u{fffd}') {
        let bad = SourceError::bad(path, "it is no text");
        return Err(bad.or_else(format!("save {path} as UTF-8")));
    }
    let spec = parse(&text).map_err(|flaw| SourceError::bad(path, flaw.to_string()))?;
    Ok(Some((spec, text)))
}

impl Autopilot {
    pub(super) fn look(&self, name: &str, at: &Situation) -> Result<Option<Reading>, SourceError> {
        let reading = match name {
            "autopilot-session" => self.earlier(),
            "spec" if at.stage == stage::REORDER => self.reordered(),
            "spec" => self.spec_phases(),
            "roadmap" => self.roadmap_phases(),
            "working-context" => self.context(),
            "session-summary" => self.papers_of("found", "missing", &[self.in_dir("summary.md")]),
            "phase-plan" => self.plan(at),
            _ => return Ok(None),
        };
        reading.map(Some)
    }

    /// A file of the checkout.
    fn file(&self, path: &str) -> Result<Option<String>, SourceError> {
        self.files.text(path)
    }

    fn spec_phases(&self) -> Result<Reading, SourceError> {
        let Some((spec, text)) = spec(&self.files, &self.spec)? else { return Ok(came("missing")) };
        let phases: Vec<Item> = spec
            .phases
            .iter()
            .map(|phase| fresh(phase.number, &phase.name, phase.complexity.word()))
            .collect();
        let mut reading = came(if phases.is_empty() { "no_phases" } else { "found" });
        reading.lists.insert("phases".to_owned(), phases);
        reading.papers.insert(self.spec.clone(), text.into_bytes());
        Ok(reading)
    }

    /// The phases in a new order. Each keeps the number it has; it is known by its name.
    fn reordered(&self) -> Result<Reading, SourceError> {
        let read = spec_by(&self.files, &self.spec, Spec::in_any_order)?;
        let Some((spec, text)) = read else { return Ok(came("missing")) };
        let session = self.session();
        let numbers = session.phases.iter().filter_map(|phase| phase.number.parse::<u32>().ok());
        let mut next = numbers.max().unwrap_or(0);
        let mut phases = Vec::new();
        for (phase, rank) in spec.phases.iter().zip(0..) {
            let known = session.phases.iter().find(|own| slug(&own.name) == slug(&phase.name));
            let number = known.and_then(|own| own.number.parse().ok()).unwrap_or_else(|| {
                next += 1;
                next
            });
            phases.push(Item { rank, ..fresh(number, &phase.name, phase.complexity.word()) });
        }
        let mut reading = came(if phases.is_empty() { "no_phases" } else { "found" });
        reading.lists.insert("phases".to_owned(), phases);
        reading.papers.insert(self.spec.clone(), text.into_bytes());
        Ok(reading)
    }

    fn roadmap_phases(&self) -> Result<Reading, SourceError> {
        let Some(text) = self.file(&self.roadmap)? else { return Ok(came("missing")) };
        let features = Roadmap::parse(&text).features;
        let open = features.iter().filter(|feature| feature.status != Status::Done);
        let phases: Vec<Item> = (1_u32..)
            .zip(open)
            .map(|(number, feature)| fresh(number, &feature.name, feature.complexity.word()))
            .collect();
        let mut reading = came(if phases.is_empty() { "no_phases" } else { "found" });
        reading.lists.insert("phases".to_owned(), phases);
        reading.papers.insert(self.roadmap.clone(), text.into_bytes());
        Ok(reading)
    }

    /// A session that somebody left: ours or another harness's.
    fn earlier(&self) -> Result<Reading, SourceError> {
        let path = self.in_dir("autopilot-state.json");
        let Some(text) = self.file(&path)? else { return Ok(came("fresh")) };
        let state = match State::read(&text, &self.starting_commit) {
            Ok(state) => state,
            Err(BadState::Newer { found }) => {
                let what = format!("its schema {found} is newer than this Windlass");
                return Err(SourceError::bad(path, what).or_else("update Windlass"));
            }
            Err(flaw) => {
                let aside = lock(&self.projection).set_aside(&path);
                let aside =
                    aside.map_err(|trouble| SourceError::bad(&path, trouble.to_string()))?;
                let mut reading = came("corrupt");
                reading.remarks.push(format!("{path}: {flaw}; it is kept as {aside}"));
                return Ok(reading);
            }
        };
        if state.current_state == "DONE" {
            return Ok(came("finished"));
        }
        let mut reading = came("resumable");
        let phases = state.phases.iter().enumerate().map(|(at, phase)| {
            let recorded = match phase.status.as_str() {
                "complete" => "complete",
                "skipped" => "skipped",
                _ => "pending",
            };
            let here = at == state.current_phase && recorded == "pending";
            let resume_at = match state.current_state.as_str() {
                _ if !here => "ASSESS",
                "INIT" | "FINAL_REVIEW" | "DONE" => "ASSESS",
                other => other,
            };
            let number = u32::try_from(at + 1).unwrap_or(u32::MAX);
            let mut item = fresh(number, &phase.name, &phase.complexity);
            let override_word = phase.complexity_override.as_deref();
            let override_word = override_word.filter(|word| ["medium", "high"].contains(word));
            item.facts.insert("override".to_owned(), Value::text(override_word.unwrap_or("none")));
            item.facts.insert("recorded".to_owned(), Value::text(recorded));
            item.facts.insert("resume_at".to_owned(), Value::text(resume_at));
            item
        });
        reading.lists.insert("phases".to_owned(), phases.collect());
        reading.papers.insert(format!("{path}.adopted"), text.into_bytes());
        for phase in state.phases.iter().filter_map(|phase| phase.plan_path.as_ref()) {
            if let Some(plan) = self.file(phase)? {
                reading.papers.insert(phase.clone(), plan.into_bytes());
            }
        }
        Ok(reading)
    }

    fn context(&self) -> Result<Reading, SourceError> {
        let paths = [
            learnings::PATH.to_owned(),
            failures::PATH.to_owned(),
            self.in_dir("learnings.md"),
            self.in_dir("handoff.json"),
        ];
        self.papers_of("loaded", "loaded", &paths)
    }

    /// Files as they are, and whether any is there.
    fn papers_of(&self, found: &str, none: &str, paths: &[String]) -> Result<Reading, SourceError> {
        let mut papers = BTreeMap::new();
        for path in paths {
            if let Some(text) = self.file(path)? {
                papers.insert(path.clone(), text.into_bytes());
            }
        }
        let verdict = if papers.is_empty() { none } else { found };
        Ok(Reading { papers, ..came(verdict) })
    }

    /// The plan of a phase, as it stands in the checkout; else as a role of ours wrote it.
    fn plan(&self, at: &Situation) -> Result<Reading, SourceError> {
        let Some((unit, title)) = &at.unit else { return Ok(came("missing")) };
        let known = self.session().phase(unit).and_then(|phase| phase.plan_path.clone());
        let path = match known {
            Some(path) => Some(path),
            None => self.found_plan(title)?,
        };
        let Some(path) = path else { return Ok(came("missing")) };
        let ours = self.session().papers.get(&path).cloned();
        let text = match (self.file(&path)?, ours) {
            (Some(text), _) => text,
            (None, Some(bytes)) => String::from_utf8_lossy(&bytes).into_owned(),
            (None, None) => return Ok(came("missing")),
        };
        let plan = Plan::parse(&text);
        let number = |count: usize| Value::Number(i64::try_from(count).unwrap_or(i64::MAX));
        let mut reading = came("found");
        reading.facts = BTreeMap::from([
            ("task_count".to_owned(), number(plan.tasks.len())),
            ("checkpoint_count".to_owned(), number(plan.checkpoints)),
        ]);
        // What a planner was worried about and nobody can read is not nothing: the signal fires.
        if let Some(concerns) = self.concerns() {
            reading.facts.insert("concern_count".to_owned(), number(concerns));
        }
        let ours = self.session().made.contains(&path);
        reading.remarks = plan.remarks.iter().map(|remark| format!("{path}: {remark}")).collect();
        let tasks = plan.tasks.iter().map(|task| Item {
            id: task.id.as_str().into(),
            title: task.title.as_str().into(),
            files: task.files.iter().map(|file| file.as_str().into()).collect(),
            facts: BTreeMap::from([
                (
                    "checkpoint".to_owned(),
                    Value::text(task.checkpoint.map_or("none", |checkpoint| checkpoint.word())),
                ),
                // A planner has done nothing yet, whatever it ticks off.
                ("complete".to_owned(), Value::Flag(task.complete && !ours)),
            ]),
            ..Item::default()
        });
        reading.lists.insert("tasks".to_owned(), tasks.collect());
        reading.papers.insert(path, text.into_bytes());
        Ok(reading)
    }

    /// A plan that somebody made for a phase of this name: the newest.
    fn found_plan(&self, title: &str) -> Result<Option<String>, SourceError> {
        let own = slug(title);
        let dir = self.files.root().join(PLANS);
        let names = std::fs::read_dir(&dir).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            names.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        for name in names.iter().rev() {
            let Some(stem) = name.strip_suffix(".md") else { continue };
            let stem = stem.strip_suffix("-plan").unwrap_or(stem);
            let dated = stem.get(..11).is_some_and(|date| {
                date.ends_with('-') && date.bytes().all(|it| it.is_ascii_digit() || it == b'-')
            });
            let path = format!("{PLANS}/{name}");
            if (if dated { &stem[11..] } else { stem }) == own && self.is_open(&path)? {
                return Ok(Some(path));
            }
        }
        let handoff = self.file(&self.in_dir("handoff.json"))?;
        let handoff = handoff.and_then(|text| Handoff::parse(&text).ok());
        let named = handoff.and_then(|handoff| handoff.plan_path);
        let named = named.filter(|path| windlass_core::path::Below::parse(path).is_ok());
        Ok(named.filter(|path| slug(path).contains(&own)))
    }

    /// Whether a plan is a person's, or this run's own: what another run wrote is not for this one.
    fn is_open(&self, path: &str) -> Result<bool, SourceError> {
        let text = self.file(path)?.unwrap_or_default();
        let own = format!("{MARK}{} -->", self.run);
        Ok(!text.contains(MARK) || text.contains(&own))
    }

    /// How many concerns a planner handed on last; `None` when nobody can tell.
    fn concerns(&self) -> Option<usize> {
        let session = self.session();
        let Some(text) = session.papers.get(&self.in_dir("handoff.json")) else { return Some(0) };
        let handoff = Handoff::parse(&String::from_utf8_lossy(text)).ok()?;
        let planning = handoff.from_skill.is_empty() || handoff.from_skill.contains("plan");
        Some(if planning { handoff.concerns.len() } else { 0 })
    }
}

fn came(verdict: &str) -> Reading {
    Reading { verdict: verdict.to_owned(), ..Reading::default() }
}

/// A phase that nobody has begun.
fn fresh(number: u32, name: &str, complexity: &str) -> Item {
    let facts = [
        ("complexity", complexity),
        ("override", "none"),
        ("recorded", "pending"),
        ("resume_at", "ASSESS"),
    ];
    Item {
        id: number.to_string().into(),
        title: name.into(),
        facts: facts.map(|(name, word)| (name.to_owned(), Value::text(word))).into(),
        ..Item::default()
    }
}
