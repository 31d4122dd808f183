//! Reading a run's events, each held against its hash before it is handed out.
//!
//! The events come in bounded helpings, and between two helpings nothing is held: neither the
//! connection nor a transaction. That is sound because a run only grows. How far it goes is fixed
//! when the reading starts, and what is read must end exactly there.

use std::{collections::VecDeque, path::Path};

use rusqlite::{Connection, OptionalExtension, params};

use crate::{
    chain::{self, Hash},
    error::{ChainFlaw, Error},
    journal::Journal,
    run::{Head, RunId, Standing},
};

/// Largest event that is taken. Whatever is larger belongs in a blob.
pub const EVENT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// A helping ends after so many events or so many bytes.
const HELPING_EVENTS: i64 = 512;
const HELPING_BYTES: usize = 256 * 1024;

/// A run's number and an event's share one key.
const SEQ_BITS: u32 = 40;

/// One event as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its number, counted from 0.
    pub seq: u64,
    /// Its hash, which covers everything before it too.
    pub hash: Hash,
    /// What was written.
    pub bytes: Vec<u8>,
}

/// The key of an event. Numbers that do not fit were never given out.
pub(crate) fn place(number: i64, seq: u64) -> Option<i64> {
    let fits = (0..1 << (62 - SEQ_BITS)).contains(&number) && seq < 1 << SEQ_BITS;
    fits.then(|| number << SEQ_BITS | seq.cast_signed())
}

/// The hash that is written at an event, unverified.
pub(crate) fn hash_at(
    conn: &Connection,
    file: &Path,
    number: i64,
    seq: u64,
) -> Result<Option<Hash>, Error> {
    let Some(place) = place(number, seq) else { return Ok(None) };
    let hash = conn
        .prepare_cached("SELECT hash FROM events WHERE place = ?1")
        .and_then(|mut query| query.query_row([place], |row| row.get::<_, [u8; 32]>(0)).optional())
        .map_err(Error::database(file, "read"))?;
    Ok(hash.map(Hash::new))
}

/// The events of a run, in order. After an error there are no more.
#[derive(Debug)]
pub struct Entries<'j> {
    journal: &'j Journal,
    run: RunId,
    number: i64,
    /// The link before the next event.
    before: Hash,
    /// The number of the next event to be handed out.
    next: u64,
    end: Head,
    helping: VecDeque<Entry>,
    over: bool,
}

impl<'j> Entries<'j> {
    /// The events from number `from` to the run's end as it stands.
    pub(crate) fn new(
        journal: &'j Journal,
        conn: &Connection,
        standing: &Standing,
        from: u64,
    ) -> Result<Entries<'j>, Error> {
        let (number, end) = (standing.number, standing.info.head);
        let run = standing.info.id.clone();
        if from > end.events {
            return Err(Error::NoSuchEvent { run, seq: from, events: end.events });
        }
        let before = match from.checked_sub(1) {
            None => standing.birth(),
            // Not verified by itself; but if it is wrong, the next link does not fit.
            Some(last) => hash_at(conn, journal.file(), number, last)?
                .ok_or_else(|| broken(journal.file(), &run, last, ChainFlaw::Missing))?,
        };
        let helping = VecDeque::new();
        Ok(Entries { journal, run, number, before, next: from, end, helping, over: false })
    }

    /// How far the run goes.
    pub fn head(&self) -> Head {
        self.end
    }

    fn broken(&self, seq: u64, flaw: ChainFlaw) -> Error {
        broken(self.journal.file(), &self.run, seq, flaw)
    }

    fn advance(&mut self) -> Result<Option<Entry>, Error> {
        if self.next == self.end.events {
            let last = self.next.saturating_sub(1);
            let ends = self.before == self.end.hash;
            return if ends { Ok(None) } else { Err(self.broken(last, ChainFlaw::WrongEnd)) };
        }
        if self.helping.is_empty() {
            self.helping = self.journal.reading(|conn| self.fetch(conn))?;
        }
        let entry = match self.helping.pop_front() {
            Some(entry) if entry.seq == self.next => entry,
            _ => return Err(self.broken(self.next, ChainFlaw::Missing)),
        };
        let link = chain::link(&self.run, self.before, entry.seq, &entry.bytes);
        if link != entry.hash {
            return Err(self.broken(self.next, ChainFlaw::Mismatch));
        }
        self.before = link;
        self.next += 1;
        Ok(Some(entry))
    }

    fn fetch(&self, conn: &Connection) -> Result<VecDeque<Entry>, Error> {
        let failed = |error| Error::database(self.journal.file(), "read")(error);
        let unreadable = || self.broken(self.next, ChainFlaw::Missing);
        let from = place(self.number, self.next).ok_or_else(unreadable)?;
        let to = place(self.number, self.end.events).ok_or_else(unreadable)?;
        let sql = "SELECT place, hash, bytes FROM events
                   WHERE place >= ?1 AND place < ?2 ORDER BY place LIMIT ?3";
        let mut query = conn.prepare_cached(sql).map_err(failed)?;
        let mut rows = query.query(params![from, to, HELPING_EVENTS]).map_err(failed)?;
        let mut helping = VecDeque::new();
        let mut total = 0;
        while let Some(row) = rows.next().map_err(failed)? {
            let place: i64 = row.get(0).map_err(failed)?;
            let bytes: Vec<u8> = row.get(2).map_err(failed)?;
            total += bytes.len();
            helping.push_back(Entry {
                seq: (place & ((1 << SEQ_BITS) - 1)).cast_unsigned(),
                hash: Hash::new(row.get(1).map_err(failed)?),
                bytes,
            });
            if total >= HELPING_BYTES {
                break;
            }
        }
        Ok(helping)
    }
}

fn broken(file: &Path, run: &RunId, seq: u64, flaw: ChainFlaw) -> Error {
    Error::Broken { file: file.to_owned(), run: run.clone(), seq, flaw }
}

impl Iterator for Entries<'_> {
    type Item = Result<Entry, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        let item = self.advance().transpose();
        self.over = !matches!(item, Some(Ok(_)));
        item
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{place::Repository, schema::FORMATS};

    #[test]
    fn every_event_has_a_key_of_its_own_in_the_order_of_runs() {
        let last = (1 << SEQ_BITS) - 1;
        assert!(place(1, 0) > place(0, last));
        assert!(place(1, 1) > place(1, 0));
        assert_eq!(place(1, last + 1), None);
        assert_eq!(place(1 << 22, 0), None);
        assert_eq!(place(-1, 0), None);
        assert!(place((1 << 22) - 1, last).is_some_and(|key| key > 0));
    }

    #[test]
    fn a_helping_is_bounded_by_events_and_by_bytes() {
        let temp = tempfile::tempdir().unwrap();
        let repository = Repository::known_at("/r/.git");
        let journal = Journal::open_as(&FORMATS, temp.path(), &repository).unwrap();
        let helping = |name: &str, events: usize, bytes: usize| {
            let run = name.parse().unwrap();
            journal.create_run(&run, b"", 0).unwrap();
            journal.append(&run, 0, &vec![vec![0; bytes]; events], 0).unwrap();
            let mut entries = journal.read(&run, 0).unwrap();
            entries.next().unwrap().unwrap();
            1 + entries.helping.len()
        };
        assert_eq!(helping("few", 100, 10), 100);
        assert_eq!(helping("many", 600, 10), 512);
        assert_eq!(helping("large", 5, 100 << 10), 3, "the third is past 256 KiB");
    }
}
