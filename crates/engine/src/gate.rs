//! Gates: what a person is shown, which goes on record with their answer, and what they changed by hand meanwhile.

use std::collections::BTreeMap;
use std::path::Path;

use windlass_core::run::{EffectId, OpenGate, Phase, Refused, Run, Stamp, Subject};
use windlass_journal::Journal;
use windlass_repo::{Lane, Oid, Store};

use crate::books::Books;
use crate::clerk::{Clerk, Situation};
use crate::entry::Note;
use crate::exhibit::Exhibits;
use crate::message::{Paper, Trouble};
use crate::papers;
use crate::shop::{RUN_ITSELF, when};

/// Everything that a question shows.
pub(crate) fn shown(gate: &OpenGate, more: &str) -> String {
    let mut text = format!("{}\n", gate.question);
    if !more.is_empty() {
        text.push_str(&format!("{more}\n"));
    }
    if let Some(unit) = &gate.unit {
        text.push_str(&format!("unit: {unit}\n"));
    }
    for (name, fired) in &gate.concerns {
        let fired = match fired {
            Some(true) => "yes",
            Some(false) => "no",
            None => "unknown",
        };
        text.push_str(&format!("concern {name}: {fired}\n"));
    }
    for option in &gate.options {
        let about = option.about.as_deref().map_or(String::new(), |about| format!(": {about}"));
        text.push_str(&format!("{} = {}{about}\n", option.key, option.label));
    }
    text
}

/// What a question is about, for a clerk.
fn situation(gate: &OpenGate, run: &Run) -> Situation {
    let title = gate.unit.as_ref().and_then(|unit| run.unit_named(unit)).map(|unit| unit.title);
    let stage = run.workflow().stage(gate.stage);
    Situation {
        stage: stage.name.clone(),
        unit: gate
            .unit
            .as_ref()
            .map(|id| (id.to_string(), title.unwrap_or_else(|| id.clone()).to_string())),
        child: gate.child.clone(),
        ..Situation::default()
    }
}

/// Where a person's answers are taken: what a question shows, what speaks against an answer, what was changed by hand.
#[derive(Clone, Copy)]
pub struct Reception<'a> {
    /// What the workflow keeps.
    pub clerk: &'a dyn Clerk,
    /// Where texts are.
    pub journal: &'a Journal,
    /// Where lanes are; nothing if there is no repository to look into.
    pub store: Option<&'a Store>,
}

impl<'a> Reception<'a> {
    /// Everything that can be shown.
    pub(crate) fn exhibits(&self, books: &'a Books) -> Exhibits<'a> {
        Exhibits { clerk: self.clerk, books, journal: self.journal, store: self.store }
    }

    /// Why an answer cannot be taken now, if the workflow's clerk says so.
    pub(crate) fn refuses(&self, gate: &OpenGate, run: &Run, option: &str) -> Option<Refused> {
        self.clerk.refuses(option, &situation(gate, run)).map(Refused::Changed)
    }

    /// What a question shows besides itself: what there is to say about it, and what its stage names.
    pub fn shows(&self, gate: &OpenGate, run: &Run, books: &Books) -> String {
        let stage = run.workflow().stage(gate.stage);
        let situation = situation(gate, run);
        let exhibits = self.exhibits(books);
        let names = std::iter::once("question").chain(stage.sees.iter().map(String::as_str));
        let mut texts: Vec<String> = Vec::new();
        for text in names.filter_map(|name| exhibits.show(name, &situation)) {
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        // Whatever is decided here was made behind these walls, or without.
        texts.extend(books.isolation().map(|reached| format!("Isolation: {reached}")));
        texts.join("\n\n")
    }

    /// What a person changed in the lane of what a question is about ("fix manually and continue"): an attributed
    /// commit, and a new subject that has to be proved like any other work. What is on record decides whether anything
    /// was changed: somebody may have come this far before and been cut off.
    pub(crate) fn by_hand(
        &self,
        gate: &OpenGate,
        run: &Run,
        books: &Books,
        since: Stamp,
    ) -> Result<(Option<Subject>, Paper), Trouble> {
        let mut paper = Paper::default();
        let unit_id = gate.unit.as_deref();
        let oid = |text: Option<&str>| text.and_then(|text| Oid::parse(text).ok());
        let base = oid(books.base(unit_id)).filter(|_| has_lane(gate, run, books));
        let (Some(base), Some(store)) = (base, self.store) else { return Ok((None, paper)) };
        let on_record = oid(books.held(unit_id)).unwrap_or_else(|| base.clone());
        let (run, unit) = (run.id(), unit_id.unwrap_or(RUN_ITSELF));
        let ours = |lane: &Lane| lane.run == run && lane.unit == unit;
        let pool = store.pool()?;
        let Some(found) = pool.into_iter().filter_map(|pooled| pooled.lane).find(ours) else {
            return Ok((None, paper));
        };
        let lane = store.ensure_lane(found.number, &base, run, unit, when(since))?;
        // What belongs to the session is no part of the work, whoever put it there; it is kept as a paper.
        let held = store.head(&lane)?;
        let apart = self.clerk.apart();
        let mut gathered = papers::gather(&lane.work, &apart)?.papers;
        // What came with the base was written by nobody here.
        let mut own = BTreeMap::new();
        for (path, bytes) in gathered {
            if store.file_at(&held, Path::new(&path))?.as_ref() != Some(&bytes) {
                own.insert(path, bytes);
            }
        }
        gathered = own;
        if !gathered.is_empty() {
            // They leave the lane before they are on record: whoever is cut off in between finds them under a ref.
            store.snapshot(&lane, "papers by hand", when(since))?;
        }
        for (path, bytes) in gathered {
            paper.page(EffectId(u64::MAX), path, bytes);
        }
        papers::clear(store, &lane.work, &held, &apart)?;
        let snapshot = store.snapshot(&lane, "by hand", when(since))?;
        if store.changes(&on_record, &snapshot.commit)?.is_empty() {
            return Ok((None, paper));
        }
        let author = store.repository().identity()?;
        let made = store.checkpoint(&lane, "Changed by hand", &author, when(since))?;
        let subject = crate::effect::subject(&made.subject);
        let unit = unit_id.map(str::to_owned);
        paper.notes.push(Note::ByHand { unit, commit: made.commit.to_string() });
        Ok((Some(subject), paper))
    }
}

/// Whether a question is about something that a lane holds: a unit's, or in the end the run's own, once that is where
/// everything has landed.
fn has_lane(gate: &OpenGate, run: &Run, books: &Books) -> bool {
    gate.unit.is_some() || (run.phase() == Phase::Finale && !books.is_behind())
}
