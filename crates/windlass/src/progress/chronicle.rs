//! Everything that was done in a run, and how long it took: its journal, gone through once and without folding it.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_core::run::{LaneIx, UnitIx};
use windlass_core::workflow::{Settled, Workflow};
use windlass_engine::EngineError;
use windlass_engine::entry::Entry;
use windlass_journal::{Journal, RunId};

use super::watch::{Finished, Happening, Retry, Span, Watch};
use crate::error::Error;

/// Everything that was done in a run.
#[derive(Debug)]
pub struct Chronicle {
    watch: Watch,
    /// What has ended, in the order in which it did.
    pub spans: Vec<Span>,
    /// What was sent back, in order.
    pub retries: Vec<Retry>,
    settled: BTreeMap<UnitIx, Finished>,
}

/// How a unit has come along.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Track {
    pub lane: Option<LaneIx>,
    pub attempts: u32,
    pub cost_micros: u64,
    /// From its beginning to its end, or until now.
    pub elapsed_ms: u64,
    /// How long anything was under way for it.
    pub busy_ms: u64,
    pub settled: Option<Settled>,
}

impl Chronicle {
    /// Before anything has happened.
    pub fn new(flow: Arc<Workflow>) -> Self {
        Chronicle {
            watch: Watch::new(flow),
            spans: Vec::new(),
            retries: Vec::new(),
            settled: BTreeMap::new(),
        }
    }

    /// Of a run, as its journal has it.
    pub fn of(journal: &Journal, id: &RunId, flow: &Arc<Workflow>) -> Result<Self, Error> {
        let mut own = Chronicle::new(flow.clone());
        for entry in journal.read(id, 0)? {
            own.enter(&Entry::read(&entry?.bytes).map_err(EngineError::from)?);
        }
        Ok(own)
    }

    /// Takes an entry in.
    pub fn enter(&mut self, entry: &Entry) {
        for happening in self.watch.enter(entry) {
            match happening {
                Happening::Ended(span) => self.spans.push(*span),
                Happening::Back(retry) => self.retries.push(*retry),
                Happening::Settled(finished) => {
                    self.settled.insert(finished.unit, finished);
                }
            }
        }
    }

    /// What is under way.
    pub fn watch(&self) -> &Watch {
        &self.watch
    }

    /// The same, for whoever goes on from here and does not need what is over.
    pub fn into_watch(self) -> Watch {
        self.watch
    }

    /// How a unit has come along, at this time of the run's own clock; nothing if it has never begun.
    pub fn track(&self, unit: UnitIx, now_ms: u64) -> Option<Track> {
        let finished = self.settled.get(&unit);
        let begun = match finished {
            Some(finished) => finished.begun.as_ref()?,
            None => self.watch.unit(unit)?,
        };
        let until = finished.map_or(now_ms, |finished| finished.at_ms);
        Some(Track {
            lane: begun.lane,
            attempts: begun.attempts,
            cost_micros: begun.cost_micros,
            elapsed_ms: until.saturating_sub(begun.since_ms),
            busy_ms: begun.busy_ms(until),
            settled: finished.map(|finished| finished.how),
        })
    }

    /// Units that settled, as they did.
    pub fn finished(&self) -> impl Iterator<Item = &Finished> {
        self.settled.values()
    }
}

#[cfg(test)]
pub mod tests {
    use windlass_core::run::{EffectId, Event, Recorded, Run, fold};
    use windlass_engine::entry::{Check, Note, Noted, Proof};

    use super::*;

    /// Six tasks on three lanes: the third is mended once, and of two that land at a time one is rebuilt. Somebody was
    /// asked about the fourth twice.
    pub const SIX: &str = include_str!("../../tests/fixtures/lanes.jsonl");

    pub fn entries(journal: &str) -> Vec<Entry> {
        journal.lines().map(|line| Entry::read(line.as_bytes()).unwrap()).collect()
    }

    /// The run that entries are about, as far as they go.
    pub fn run_of(entries: &[Entry]) -> Run {
        let events = entries.iter().filter_map(|entry| match entry {
            Entry::Event(recorded) => Some((**recorded).clone()),
            Entry::Note(_) => None,
        });
        fold(&events.collect::<Vec<Recorded>>()).unwrap()
    }

    pub fn told(entries: &[Entry]) -> (Run, Chronicle) {
        let run = run_of(entries);
        let mut chronicle = Chronicle::new(run.workflow().clone());
        entries.iter().for_each(|entry| chronicle.enter(entry));
        (run, chronicle)
    }

    #[test]
    fn what_it_tells_is_what_the_run_knows() {
        let all = entries(SIX);
        // However far it goes.
        for until in (1..all.len()).step_by(7).chain([all.len()]) {
            let (run, chronicle) = told(&all[..until]);
            let now = chronicle.watch().now().mono_ms;
            for (ix, unit) in (0..).zip(run.units()) {
                let track = chronicle.track(UnitIx(ix), now);
                let settled = track.as_ref().and_then(|track| track.settled);
                let cost = track.map_or(0, |track| track.cost_micros);
                assert_eq!(cost, unit.purse.settled.cost_micros, "{until}: {}", unit.id);
                let known = match unit.status {
                    windlass_core::run::UnitStatus::Settled(how) => Some(how),
                    _ => None,
                };
                assert_eq!(settled, known, "{until}: {}", unit.id);
            }
            let open: Vec<_> = chronicle.watch().open().map(|span| span.effect).collect();
            assert_eq!(open, run.wanted().collect::<Vec<_>>(), "{until}");
        }
    }

    #[test]
    fn what_was_sent_back_is_told_with_why_and_what_follows_is_not() {
        let (run, chronicle) = told(&entries(SIX));
        let three = run.units().position(|unit| &*unit.id == "three").unwrap();
        let of = |retry: &&Retry| retry.unit == Some(UnitIx(three as u32));
        let stage = |ix| run.workflow().stage(ix).name.as_str();
        let back: Vec<String> = chronicle
            .retries
            .iter()
            .filter(of)
            .map(|it| format!("{} → {}: {:?}", stage(it.from), stage(it.to), it.cause.checks))
            .collect();
        assert_eq!(back[0], "prove → do: [\"test\"]");
        assert!(back[1..].iter().all(|it| it == "land → prove: []"), "{back:?}");
        let now = chronicle.watch().now().mono_ms;
        assert_eq!(chronicle.track(UnitIx(three as u32), now).unwrap().attempts, 2);
        assert_eq!(chronicle.track(UnitIx(0), now).unwrap().attempts, 1);
    }

    #[test]
    fn time_in_which_somebody_was_waited_for_is_no_time_at_work() {
        let (run, chronicle) = told(&entries(SIX));
        let four = run.units().position(|unit| &*unit.id == "four").unwrap();
        let now = chronicle.watch().now().mono_ms;
        let track = chronicle.track(UnitIx(four as u32), now).unwrap();
        assert!(track.busy_ms > 0 && track.busy_ms * 2 < track.elapsed_ms, "{track:?}");
    }

    #[test]
    fn what_is_given_up_has_an_end_and_nothing_is_remembered_of_what_is_over() {
        let all = entries(SIX);
        let flying = |entry: &Entry| matches!(entry, Entry::Event(it) if matches!(it.event, Event::Wanted { .. }));
        let last = all.iter().rposition(flying).unwrap();
        let mut cut: Vec<Entry> = all[..=last].to_vec();
        let Some(Entry::Event(end)) = all
            .iter()
            .rev()
            .find(|it| matches!(it, Entry::Event(it) if matches!(it.event, Event::Ended { .. })))
        else {
            panic!("it ended");
        };
        cut.push(Entry::Event(end.clone()));
        let mut chronicle = Chronicle::new(run_of(&all).workflow().clone());
        cut.iter().for_each(|entry| chronicle.enter(entry));
        assert_eq!(chronicle.watch().open().count(), 0);
        assert_eq!(chronicle.watch().units().count(), 0);
        assert!(chronicle.spans.iter().any(|span| span.came == "given up" && span.mishap));
    }

    /// A landing of the journal that was sent back: where it was wanted, where it was reported, and which it is.
    fn sent_back(all: &[Entry], chronicle: &Chronicle) -> (usize, usize, EffectId) {
        let retry = chronicle.retries.iter().find(|it| it.cause.checks.is_empty()).unwrap();
        let effect = retry.cause.effect.unwrap();
        let wanted = |entry: &Entry| matches!(entry, Entry::Event(it) if matches!(&it.event, Event::Wanted { effect: of, .. } if *of == effect));
        let reported = |entry: &Entry| matches!(entry, Entry::Event(it) if matches!(&it.event, Event::Reported(it) if it.effect == effect));
        let at = |which: &dyn Fn(&Entry) -> bool| all.iter().position(which).unwrap();
        (at(&wanted), at(&reported), effect)
    }

    #[test]
    fn what_waits_in_the_queue_is_not_landing_yet_and_what_fails_there_says_with_what() {
        let all = entries(SIX);
        let (run, chronicle) = told(&all);
        let (wanted, reported, effect) = sent_back(&all, &chronicle);
        let unit = chronicle.spans.iter().find(|it| it.effect == effect).unwrap().unit.unwrap();
        let Entry::Event(at) = &all[reported] else { panic!("an event") };
        let note = |note| Entry::Note(Box::new(Noted { note, at: at.at }));
        let mut own = Chronicle::new(run.workflow().clone());
        all[..=wanted].iter().for_each(|entry| own.enter(entry));
        assert!(!own.watch().is_queued(unit));
        own.enter(&note(Note::Queued { effect, unit: None }));
        assert!(own.watch().is_queued(unit));
        own.enter(&note(Note::LetGo { effect }));
        assert!(!own.watch().is_queued(unit));
        let (held, behind) = ("x".to_owned(), "y".to_owned());
        own.enter(&note(Note::HeldBack { effect, unit: held, behind }));
        assert!(own.watch().is_queued(unit), "nor is what is held back at work");
        let (name, command, output) = ("test".to_owned(), None, None);
        let red = Proof { name, command, came: Check::Fail, output };
        let (units, tree) = (vec!["x".to_owned()], "t".to_owned());
        own.enter(&note(Note::Proved { units, tree, came: Check::Fail, checks: vec![red] }));
        assert!(!own.watch().is_queued(unit), "it is on the next train");
        let (came, tip) = ("fail".to_owned(), "0".to_owned());
        own.enter(&note(Note::Turned { effect, unit: None, came, tip }));
        all[wanted + 1..].iter().for_each(|entry| own.enter(entry));
        let retry = own.retries.iter().find(|it| it.cause.effect == Some(effect)).unwrap();
        assert_eq!(retry.cause.checks, ["test"]);
    }
}
