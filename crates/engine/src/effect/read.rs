//! Reads: looks at a source of work. Each reader is a file of the sources room, or a question to the workflow's clerk.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use windlass_agents::left_out;
use windlass_core::lang::Reporter;
use windlass_core::value::{Type, Value};
use windlass_repo::Oid;
use windlass_sources::tracker::clock;
use windlass_sources::{Again, Back, Reading};

use super::{Job, Outcome};
use crate::clock::wall_ms;
use crate::entry::Note;
use crate::message::{Done, Paper, Trouble};
use crate::shop::{Brake, Shop, Stopped};

pub(super) fn read(shop: &Shop, job: &Job, name: &str, brake: &Brake) -> Outcome {
    let mut waits = Waits::of(shop, job, brake);
    loop {
        let again = match look(shop, job, name) {
            Ok(None) => {
                let what = format!("nothing here reads `{name}`: this workflow cannot be run yet");
                return Err(Trouble::new(what));
            }
            Ok(Some(Reading { again: Some(again), .. })) => {
                waits.away = None;
                again
            }
            Ok(Some(reading)) => return Ok(Ok(heard(shop, job, name, reading))),
            Err(trouble) => waits.again(trouble)?,
        };
        if let Err(stopped) = waits.for_it(name, again) {
            return Ok(Err(stopped));
        }
    }
}

/// Somebody who waits, until the brake is pulled.
pub(super) struct Waits<'e> {
    shop: &'e Shop,
    job: &'e Job,
    pulled: Receiver<()>,
    said: Option<String>,
    /// What is away, as long as it is.
    pub away: Option<Away>,
}

/// Something that is away, and has not said for how long.
pub(super) struct Away {
    since: Instant,
    /// When it is asked no more.
    until: String,
    failed: u32,
}

/// What is away is asked again for so long.
const AWAY_MAX: Duration = Duration::from_secs(15 * 60);

/// It is asked after so long at first, and at least this often.
const AWAY_S: u64 = 2;
const AWAY_S_MAX: u64 = 60;

impl Away {
    fn from_now() -> Self {
        let ms = i64::try_from(AWAY_MAX.as_millis()).unwrap_or(i64::MAX);
        let until_ms = u64::try_from(wall_ms().saturating_add(ms)).unwrap_or_default();
        Away { since: Instant::now(), until: clock(until_ms), failed: 0 }
    }

    /// When it is asked again, after it had no answer for so long; nothing if that is long enough.
    fn next(&mut self, away: Duration) -> Option<Duration> {
        let wait_s = AWAY_S.saturating_mul(1 << self.failed.min(16)).min(AWAY_S_MAX);
        self.failed += 1;
        let wait = Duration::from_secs(wait_s);
        (away.saturating_add(wait) <= AWAY_MAX).then_some(wait)
    }
}

impl<'e> Waits<'e> {
    pub fn of(shop: &'e Shop, job: &'e Job, brake: &Brake) -> Self {
        let (alarm, pulled) = channel();
        brake.on_pull(move || {
            // Nobody listens any more once it is over.
            let _ = alarm.send(());
        });
        Waits { shop, job, pulled, said: None, away: None }
    }

    /// When what is away is asked again: at the moment that it has said itself, else now and then for a while. Each time that
    /// is said.
    pub fn again(&mut self, trouble: Trouble) -> Result<Again, Trouble> {
        match trouble.back() {
            Some(Back::In(after)) => Ok(Again { after, what: trouble.to_string() }),
            Some(Back::Sometime) => {
                let away = self.away.get_or_insert_with(Away::from_now);
                let Some(after) = away.next(away.since.elapsed()) else { return Err(trouble) };
                let (after_s, until) = (after.as_secs(), &away.until);
                let what = format!("{trouble}; asked again in {after_s} s, until {until} at most");
                self.said = None;
                Ok(Again { after, what })
            }
            Some(Back::Late) | None => Err(trouble),
        }
    }

    /// Lets so much time pass, and says for what: once, until it is something else.
    pub fn for_it(&mut self, name: &str, again: Again) -> Result<(), Stopped> {
        let Again { after, what } = again;
        if self.said.as_ref() != Some(&what) {
            let text = self.shop.setup.mask.text(&what);
            let note = Note::Told { effect: self.job.id, name: name.to_owned(), text };
            self.shop.write_down(Paper::of(note))?;
            self.said = Some(what);
        }
        match self.pulled.recv_timeout(after) {
            Err(RecvTimeoutError::Timeout) => Ok(()),
            Ok(()) | Err(RecvTimeoutError::Disconnected) => Err(Stopped),
        }
    }
}

fn look(shop: &Shop, job: &Job, name: &str) -> Result<Option<Reading>, Trouble> {
    Ok(match shop.readers.get(name) {
        Some(reader) => Some(reader.read(&job.effect.with)?),
        None => {
            let mut at = job.situation();
            if shop.clerk.asks_what_is_gone(name) {
                at.gone = gone(shop, job)?;
            }
            shop.clerk.read(name, &at)?
        }
    })
}

fn heard(shop: &Shop, job: &Job, name: &str, mut reading: Reading) -> Done {
    if let Some(reporter) = shop.setup.catalogue.reads.get(name) {
        hold(&mut reading, reporter);
    }
    let mask = &shop.setup.mask;
    mask.facts(&mut reading.facts);
    mask.lists(&mut reading.lists);
    mask.texts(&mut reading.remarks);
    let mut paper = Paper::default();
    for (path, bytes) in reading.papers {
        paper.page(job.id, path, mask.bytes(bytes));
    }
    if !reading.remarks.is_empty() {
        let text = reading.remarks.join("\n");
        paper.notes.push(Note::Told { effect: job.id, name: name.to_owned(), text });
    }
    let mut done = job.done(&reading.verdict, paper);
    done.report.facts = reading.facts;
    done.report.lists = reading.lists;
    done
}

/// Units that have landed and which the branch no longer has, each with its commit.
fn gone(shop: &Shop, job: &Job) -> Result<Vec<(String, String)>, Trouble> {
    if job.landed.is_empty() {
        return Ok(Vec::new());
    }
    let commits: Vec<Oid> = job.landed.iter().map(|(_, commit)| commit.clone()).collect();
    let missing = shop.store.missing_from(&shop.beginning()?, &commits)?;
    let gone = job.landed.iter().filter(|(_, commit)| missing.contains(commit));
    Ok(gone.map(|(unit, commit)| (unit.clone(), commit.to_string())).collect())
}

/// Leaves out what is not of the type that the catalogue gives it, and says so, as with what an agent reports. The core
/// would leave it out as well, and tell nobody.
fn hold(reading: &mut Reading, reporter: &Reporter) {
    let Reading { facts, lists, remarks, .. } = reading;
    hold_facts(facts, &reporter.facts, "", remarks);
    for (list, types) in &reporter.lists {
        for item in lists.get_mut(list).into_iter().flatten() {
            let place = format!("{list}[{}].", item.id);
            hold_facts(&mut item.facts, types, &place, remarks);
        }
    }
}

fn hold_facts(
    facts: &mut BTreeMap<String, Value>,
    types: &BTreeMap<String, Type>,
    place: &str,
    remarks: &mut Vec<String>,
) {
    facts.retain(|name, value| match types.get(name) {
        Some(ty) if !ty.admits(value) => {
            remarks.push(left_out(place, name, ty));
            false
        }
        _ => true,
    });
}

#[cfg(test)]
mod tests {
    use windlass_core::lang::Catalogue;
    use windlass_core::run::Item;

    use super::*;

    #[test]
    fn what_is_away_is_asked_less_often_and_not_for_ever() {
        let mut away = Away::from_now();
        assert!(away.until.ends_with(" UTC"), "{}", away.until);
        let (mut waits, mut gone) = (Vec::new(), Duration::ZERO);
        while let Some(wait) = away.next(gone) {
            waits.push(wait.as_secs());
            gone += wait;
        }
        assert_eq!(waits[..7], [2, 4, 8, 16, 32, 60, 60]);
        assert!(gone <= AWAY_MAX && gone + Duration::from_secs(60) > AWAY_MAX, "{gone:?}");
    }

    #[test]
    fn a_fact_that_is_not_of_its_type_is_left_out_and_said() {
        let text = "[read.tasks]\nverdicts = ['found']\nfacts = { count = '0..9' }\n\
                    lists.tasks = { careful = 'flag' }";
        let reporter = &Catalogue::parse(text).unwrap().reads["tasks"];
        let facts = |careful: Value| {
            BTreeMap::from([("careful".to_owned(), careful), ("own".to_owned(), Value::Number(1))])
        };
        let item =
            |id: &str, careful| Item { id: id.into(), facts: facts(careful), ..Item::default() };
        let tasks = vec![item("a", Value::text("yes")), item("b", Value::Flag(true))];
        let mut reading = Reading {
            facts: BTreeMap::from([("count".to_owned(), Value::Number(12))]),
            lists: BTreeMap::from([("tasks".to_owned(), tasks)]),
            ..Reading::default()
        };
        hold(&mut reading, reporter);
        assert_eq!(reading.facts, BTreeMap::new());
        let left = |at: usize| reading.lists["tasks"][at].facts.keys().cloned().collect::<Vec<_>>();
        assert_eq!((left(0), left(1)), (vec!["own".into()], vec!["careful".into(), "own".into()]));
        assert_eq!(reading.remarks.len(), 2);
        assert!(reading.remarks[1].starts_with("`tasks[a].careful` is left out: it is not "));
    }
}
