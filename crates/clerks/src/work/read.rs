//! What work reads: markers against the history, the rows that are meant, a row as it is by now, contracts, and why something
//! failed.

use std::collections::BTreeMap;

use windlass_core::run::Item;
use windlass_core::value::Value;
use windlass_engine::clerk::Situation;
use windlass_engine::entry::Check;
use windlass_engine::shop::lock;
use windlass_sources::failure::{Cause, Proposal};
use windlass_sources::plans::{
    Chosen, Compared, Drift, Effort, Form, Known, Number, Plans, Row, Status, Targets, Unclear,
    compared,
};
use windlass_sources::sprint::{self, BrowserMode, SprintContract, Standing};
use windlass_sources::{Reading, SourceError};

use super::red::{self, Reason, Written};
use super::session::{CONTRACT, Session, Tale, UNLISTED_DOD};
use super::{Work, understood};
use crate::memory::failures;

/// What it can read.
pub const READS: [&str; 8] = [
    "plans-drift",
    "plans-table",
    "plans-row",
    "red-reason",
    "sprint-contract",
    "contract-standing",
    "browser-evidence",
    "failure-cause",
];

/// What an input says where there is nothing to say.
pub const NOTHING: &str = "-";

/// So many failing lines are told.
const TOLD: usize = 20;

impl Work {
    pub(super) fn look(&self, name: &str, at: &Situation) -> Result<Option<Reading>, SourceError> {
        Ok(Some(match name {
            "plans-drift" => self.stale()?,
            "plans-table" => self.table()?,
            "plans-row" => self.row_by_now(at)?,
            "red-reason" => self.red_reason(at),
            "sprint-contract" => self.contract(at)?,
            "contract-standing" => self.contract_by_now(at)?,
            "browser-evidence" => self.browser_evidence(at),
            "failure-cause" => self.cause(at),
            _ => return Ok(None),
        }))
    }

    /// The markers that do not say what the history says.
    fn stale(&self) -> Result<Reading, SourceError> {
        let Some(text) = self.text()? else { return Ok(came("clean")) };
        let Some(past) = &self.history.0 else { return Ok(came("clean")) };
        let commits = past.commits().map_err(|why| SourceError::bad("the history", why))?;
        let Compared { stale, unclear } = compared(Plans::read(text).rows(), &commits);
        // What nobody can tell is no reason to stop: it is said, and nothing is done about it.
        let unclear = unclear.iter().take(TOLD).map(Unclear::to_string);
        if stale.is_empty() {
            return Ok(Reading { remarks: unclear.collect(), ..came("clean") });
        }
        let mut remarks: Vec<String> = stale.iter().take(TOLD).map(Drift::to_string).collect();
        if stale.len() > TOLD {
            remarks.push(format!("… and {} more", stale.len() - TOLD));
        }
        Ok(Reading { remarks, ..came("stale") })
    }

    /// The rows that are meant.
    fn table(&self) -> Result<Reading, SourceError> {
        let Some(text) = self.text()?.filter(|text| !text.trim().is_empty()) else {
            return Ok(came("missing"));
        };
        let plans = Plans::read(text.clone());
        if plans.form() != Form::Second {
            return Ok(came("old_format"));
        }
        let chosen = match self.targets.as_str() {
            NOTHING => Ok(Chosen::default()),
            targets => Targets::parse(targets).and_then(|targets| plans.select(&targets)),
        };
        let chosen = match chosen {
            Ok(chosen) => chosen,
            Err(refusal) => {
                let what = format!("{refusal}: {}", refusal.next_step("windlass work"));
                return Err(SourceError::bad(&self.path, what));
            }
        };
        let failed = self.failed_before()?;
        let mut reading = came("found");
        reading.remarks = understood(&plans, &self.path);
        reading.remarks.extend(chosen.remarks.iter().cloned());
        let tasks = items(&chosen, &failed);
        let unlisted = unlisted(&plans, &self.extra);
        let number = |count: usize| Value::Number(i64::try_from(count).unwrap_or(i64::MAX));
        reading.facts = BTreeMap::from([
            ("target_count".to_owned(), number(tasks.len() + unlisted.len())),
            ("unlisted_count".to_owned(), number(unlisted.len())),
            ("test_framework".to_owned(), Value::Flag(self.checks.contains_key("test"))),
        ]);
        reading.lists.insert("tasks".to_owned(), tasks);
        reading.lists.insert("unlisted".to_owned(), unlisted);
        reading.papers.insert(self.path.clone(), text.into_bytes());
        Ok(reading)
    }

    /// What this project remembers of tasks that failed.
    fn failed_before(&self) -> Result<String, SourceError> {
        Ok(self.files.text(failures::PATH)?.unwrap_or_default())
    }

    /// A row as a person has it by now.
    fn row_by_now(&self, at: &Situation) -> Result<Reading, SourceError> {
        let Some((unit, _)) = &at.unit else { return Ok(came("open")) };
        let began = self.session().row(unit).cloned();
        // What has no row, or is new, is nobody else's.
        let Some(began) = began else { return Ok(came("open")) };
        let now = self.text()?.map(Plans::read);
        let Some(row) = now.as_ref().and_then(|plans| plans.row(&Number::of(unit)?)) else {
            return Ok(Reading {
                remarks: vec![format!("task {unit} was taken out of {}", self.path)],
                ..came("removed")
            });
        };
        let now = row.status.clone();
        let word = match &now {
            same if *same == began.status => "open",
            Status::Done { .. } => "done",
            // Who has set it works on it; one that was there when tasks were selected is of somebody who was cut off.
            Status::Wip if !lock(&self.cells).has_written(unit, &now) => "theirs",
            Status::Todo | Status::Wip => "open",
            Status::Other(_) => "theirs",
        };
        let mut reading = came(word);
        if word != "open" {
            reading
                .remarks
                .push(format!("task {unit} was set to {now} in {} meanwhile", self.path));
            return Ok(reading);
        }
        self.reworded(&began, row)
    }

    /// A row that is ours to do: as it was when tasks were selected, or with what somebody has made of it since.
    fn reworded(&self, began: &Row, now: &Row) -> Result<Reading, SourceError> {
        let (number, path) = (&now.number, &self.path);
        let says = |row: &Row| (row.content.clone(), row.dod.clone(), row.tags);
        if says(began) == says(now) {
            return Ok(came("open"));
        }
        if now.content.is_empty() {
            let what = format!("task {number} does not say any more what is to be done in {path}");
            return Ok(Reading { remarks: vec![what], ..came("theirs") });
        }
        let effort = effort(now, &self.failed_before()?).score();
        let facts = [
            ("skip_tdd".to_owned(), Value::Flag(now.tags.skip_tdd)),
            ("effort_score".to_owned(), Value::Number(effort)),
            ("dod".to_owned(), Value::text(&now.dod)),
        ];
        let item = Item {
            id: number.as_str().into(),
            title: now.content.as_str().into(),
            facts: facts.into(),
            ..Item::default()
        };
        let mut reading = came("reworded");
        reading.lists.insert("row".to_owned(), vec![item]);
        let what =
            format!("task {number} was changed in {path} meanwhile: it is done as it says by now");
        reading.remarks.push(what);
        Ok(reading)
    }

    /// Why the tests fail that are to fail.
    fn red_reason(&self, at: &Situation) -> Reading {
        let session = self.session();
        let tale = at.unit.as_ref().and_then(|(unit, _)| session.tales.get(unit));
        let Some((_, printed)) = tale.and_then(|tale| tale.red.as_ref()) else {
            return came("unclear");
        };
        let written = tale.map(|tale| self.written(tale)).unwrap_or_default();
        match red::reason(printed, session.on_base(), &written) {
            Reason::Right => came("right"),
            Reason::Wrong(what) => Reading { remarks: vec![what], ..came("wrong") },
            Reason::Unclear => {
                let what =
                    "the tests fail, and what they print does not say which: it is taken as it is";
                Reading { remarks: vec![what.to_owned()], ..came("unclear") }
            }
        }
    }

    /// What whoever writes its test has changed, as it is by now.
    fn written(&self, tale: &Tale) -> Written {
        let text = |path: &String| {
            let (past, commit) = (self.history.0.as_ref()?, tale.test_commit.as_ref()?);
            let bytes = past.files_built(commit, path).ok()?.remove(path)?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        };
        // Their names say enough where nobody can look.
        let all = tale.test_files.iter().take(TOLD);
        all.map(|path| (path.clone(), text(path).unwrap_or_default())).collect()
    }

    /// The contract of a task: as it is there, or made of its row.
    fn contract(&self, at: &Situation) -> Result<Reading, SourceError> {
        let Some((unit, _)) = &at.unit else { return Ok(came("drafted")) };
        let Some(number) = Number::of(unit) else {
            return Err(SourceError::bad(&self.path, format!("{unit:?} is no number of a task")));
        };
        let path = sprint::path(&number);
        let (draft, sealed) = {
            let session = self.session();
            let sealed = session.tales.get(unit).and_then(|tale| tale.sealed.clone());
            (draft(&session, unit, &self.checks), sealed)
        };
        let there = self.files.short(&path, sprint::BYTES_MAX)?;
        let (word, contract) = match there {
            Some(text) => {
                let own = lock(&self.projection).is_ours(&path, &text);
                let there = SprintContract::read(&path, &text)?;
                // Nobody's seal is on record here: then it stands or falls by the one that it has.
                let known = sealed.as_deref().or(there.digest.as_deref());
                match (there.standing(known), &sealed) {
                    (Standing::Changed, _) => ("changed", there),
                    (Standing::Ready, Some(_)) => ("ready", there),
                    // What we wrote for another run is made anew; what a person wrote is taken as it is, and reviewed.
                    _ if own => ("drafted", draft),
                    _ => ("drafted", there),
                }
            }
            None => ("drafted", draft),
        };
        let flaws = contract.flaws(&number);
        if !flaws.is_empty() {
            return Err(SourceError::bad(&path, flaws.join("; ")));
        }
        let mut reading = came(word);
        if word == "changed" {
            reading.remarks.push(not_approved(&path));
        }
        let profile = contract.review.reviewer_profile;
        reading.facts = BTreeMap::from([
            ("profile".to_owned(), Value::text(profile.word())),
            ("commands".to_owned(), Value::Flag(!contract.contract.runtime_validation.is_empty())),
        ]);
        if word == "drafted" {
            reading.papers.insert(path, contract.write().into_bytes());
        }
        Ok(reading)
    }

    /// Whether a contract is what was approved, on the disk as well.
    fn contract_by_now(&self, at: &Situation) -> Result<Reading, SourceError> {
        let unit = at.unit.as_ref().map(|(unit, _)| unit.as_str()).unwrap_or_default();
        let Some(number) = Number::of(unit) else { return Ok(came("unapproved")) };
        let path = sprint::path(&number);
        let (own, sealed) = {
            let session = self.session();
            let tale = session.tales.get(unit);
            (tale.and_then(|it| it.contract.clone()), tale.and_then(|it| it.sealed.clone()))
        };
        let standing = match self.files.short(&path, sprint::BYTES_MAX)? {
            // As we wrote it, it may be of a moment ago: then what is on record counts.
            Some(text) if !lock(&self.projection).is_ours(&path, &text) => {
                SprintContract::read(&path, &text)?.standing(sealed.as_deref())
            }
            _ => own.as_ref().map_or(Standing::Unapproved, |own| own.standing(sealed.as_deref())),
        };
        Ok(match standing {
            Standing::Ready => came("ready"),
            Standing::Unapproved => {
                Reading { remarks: vec![format!("{path} is not approved")], ..came("unapproved") }
            }
            Standing::Changed => Reading { remarks: vec![not_approved(&path)], ..came("changed") },
        })
    }

    /// Whether Windlass itself has seen in a browser all that the contract has steps for.
    fn browser_evidence(&self, at: &Situation) -> Reading {
        let unit = at.unit.as_ref().map(|(unit, _)| unit.as_str()).unwrap_or_default();
        let session = self.session();
        let tale = session.tales.get(unit);
        let contract = tale.and_then(|it| it.contract.as_ref());
        let scripted =
            contract.is_some_and(|it| it.review.browser_mode == Some(BrowserMode::Scripted));
        let steps = tale.and_then(|it| it.proofs.get(CONTRACT));
        let passed = steps.is_some_and(|(came, _)| *came == Check::Pass);
        let mut reading = came("looked");
        reading.facts.insert("seen".to_owned(), Value::Flag(scripted && passed));
        if scripted && !passed {
            let what = format!(
                "the contract of task {unit} has steps for a browser, and nobody has taken them"
            );
            reading.remarks.push(what);
        }
        reading
    }

    /// Why something fails after a task was done, and the task that would mend it.
    fn cause(&self, at: &Situation) -> Reading {
        let unit = at.unit.as_ref().map(|(unit, _)| unit.as_str()).unwrap_or_default();
        let session = self.session();
        let tale = session.tales.get(unit);
        let printed = tale.and_then(|tale| tale.failed_after.as_deref()).unwrap_or_default();
        let cause = Cause::of(printed);
        let mut reading = came("classified");
        let class = cause.first.class.word();
        let what = match &cause.first.test {
            Some(test) => format!("{class} in {test}"),
            None => class.to_owned(),
        };
        reading.facts.insert("cause".to_owned(), Value::text(class));
        reading.facts.insert("what".to_owned(), Value::text(&what));
        reading.facts.insert("same".to_owned(), Value::text(session.same(&cause.first.key())));
        let Some(number) = Number::of(unit) else { return reading };
        let taken = |number: &Number| {
            session.row(number.as_str()).is_some()
                || session.tales.contains_key(number.as_str())
                || session.proposals.iter().any(|(it, _)| it.fix_task_id == number.as_str())
        };
        let content = tale.map_or("", |tale| tale.content.as_str());
        let fix = Proposal::of_task(&number, content, &cause, taken);
        let text = |text: &str| Value::text(text);
        reading.facts.insert("fix".to_owned(), text(&fix.fix_task_id));
        let facts = BTreeMap::from([
            ("skip_tdd".to_owned(), Value::Flag(true)),
            ("effort_score".to_owned(), Value::Number(2)),
            ("category".to_owned(), text(&fix.failure_category)),
            ("key".to_owned(), text(&fix.cause_key)),
            ("test".to_owned(), text(fix.test.as_deref().unwrap_or_default())),
        ]);
        let item = Item {
            id: fix.fix_task_id.as_str().into(),
            title: fix.content.as_str().into(),
            depends: vec![unit.into()],
            facts,
            ..Item::default()
        };
        reading.lists.insert("fixes".to_owned(), vec![item]);
        let what = match &cause.first.test {
            Some(test) => format!("{class}: {test}: {}", cause.first.message),
            None => format!("{class}: {}", cause.first.message),
        };
        reading.remarks.push(what);
        reading
    }
}

/// The units of rows that were selected.
pub fn items(chosen: &Chosen, failed: &str) -> Vec<Item> {
    chosen.picked.iter().map(|picked| picked.item(&effort(&picked.row, failed))).collect()
}

/// How hard the task of a row is, by what the project remembers of its failures.
pub fn effort(row: &Row, failed: &str) -> Effort {
    let mark = failed_as(row.number.as_str(), &row.content);
    let known = failed.lines().any(|line| line.trim_end().ends_with(&mark));
    Effort::of(row, if known { Known::Failed } else { Known::Nothing })
}

/// How it is remembered that a task failed: what a line ends with, so that "Write 1" is not "Write 10".
pub fn failed_as(number: &str, content: &str) -> String {
    let content: Vec<&str> = content.split_whitespace().collect();
    format!("[skill:harness-work] [type:task]:** Task {number}: {}", content.join(" "))
}

/// The units of tasks that somebody named and that have no row yet, each with the next number that is free.
fn unlisted(plans: &Plans, extra: &[String]) -> Vec<Item> {
    // What has a row already is not there twice.
    let new = extra.iter().filter(|&it| !plans.rows().iter().any(|row| row.content == *it));
    let mut items = Vec::new();
    for (number, content) in plans.free().zip(new) {
        let facts = [
            ("skip_tdd".to_owned(), Value::Flag(false)),
            ("effort_score".to_owned(), Value::Number(0)),
        ];
        items.push(Item {
            id: number.as_str().into(),
            title: content.as_str().into(),
            facts: facts.into(),
            ..Item::default()
        });
    }
    items
}

/// That a contract was changed after it was approved, and what to do.
fn not_approved(path: &str) -> String {
    format!("{path} is not what was approved: remove it, and it is made anew")
}

/// A contract as it follows from a task and the project.
fn draft(session: &Session, unit: &str, checks: &BTreeMap<String, String>) -> SprintContract {
    let tale = session.tales.get(unit);
    if let Some(row) = session.row(unit) {
        let mut row = row.clone();
        if let Some(tale) = tale.filter(|tale| !tale.content.is_empty()) {
            (row.content, row.dod) = (tale.content.clone(), tale.dod.clone());
        }
        return SprintContract::draft(&row, checks);
    }
    let (content, dod) =
        tale.map_or(("", UNLISTED_DOD), |it| (it.content.as_str(), it.dod.as_str()));
    let dod = if dod.is_empty() { UNLISTED_DOD } else { dod };
    SprintContract::of_task(unit, content, dod, checks)
}

fn came(word: &str) -> Reading {
    Reading { verdict: word.to_owned(), ..Reading::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plans(rows: &[[&str; 2]]) -> Plans {
        let head = "| Task | Content | DoD | Depends | Status |\n|---|---|---|---|---|\n";
        let row = |[number, content]: &[&str; 2]| format!("| {number} | {content} | x | - | |\n");
        Plans::read(format!("{head}{}", rows.iter().map(row).collect::<String>()))
    }

    #[test]
    fn a_failure_is_remembered_of_the_task_that_failed_and_of_no_other() {
        let failed = format!("- **2026-01-31 {}\n  - too hard\n", failed_as("1", "Write  10"));
        let all = plans(&[["1", "Write 1"], ["1", "Write 10"], ["11", "Write 10"]]);
        let scores =
            all.rows().iter().map(|row| effort(row, &failed).score() - effort(row, "").score());
        assert_eq!(scores.map(|more| more > 0).collect::<Vec<_>>(), [false, true, false]);
    }

    #[test]
    fn a_new_task_has_a_number_however_large_the_others_are() {
        let all = plans(&[["18446744073709551615", "Write 1"], ["2", "Write 2"]]);
        let extra = ["Write 2", "Write 3", "Write 4"].map(str::to_owned);
        let new = unlisted(&all, &extra);
        let told: Vec<(&str, &str)> = new.iter().map(|it| (&*it.id, &*it.title)).collect();
        assert_eq!(told, [("1", "Write 3"), ("3", "Write 4")]);
    }
}
