//! What is to be written together: all of it with one sync, or none of it.
//!
//! A report and the intents that it leads to, the blobs that they name, a snapshot now and then,
//! and whatever other runs have to say at that moment. The sync is what costs, so it is shared.

use std::{collections::BTreeMap, path::Path};

use rusqlite::{Connection, ErrorCode, params};

use crate::{
    blob::{self, Staged},
    chain,
    error::{ChainFlaw, Error},
    journal::Journal,
    read::{self, EVENT_BYTES_MAX},
    run::{self, Head, RunId},
    snapshot,
};

/// Things to be written together.
#[derive(Debug)]
pub struct Batch {
    at_ms: i64,
    parts: Vec<Part>,
}

#[derive(Debug)]
enum Part {
    Run { run: RunId, meta: Vec<u8> },
    Events { run: RunId, expected: u64, events: Vec<Vec<u8>> },
    Blob(Staged),
    Snapshot { run: RunId, format: String, bytes: Vec<u8> },
}

impl Batch {
    /// Nothing yet; `at_ms` is when, in milliseconds since 1970.
    pub fn new(at_ms: i64) -> Batch {
        Batch { at_ms, parts: Vec::new() }
    }

    /// Adds a run. What it is given at its birth never changes.
    pub fn create_run(&mut self, run: RunId, meta: Vec<u8>) -> &mut Batch {
        self.parts.push(Part::Run { run, meta });
        self
    }

    /// Adds events to a run that has `expected` events by then.
    pub fn append(&mut self, run: RunId, expected: u64, events: Vec<Vec<u8>>) -> &mut Batch {
        self.parts.push(Part::Events { run, expected, events });
        self
    }

    /// Adds a blob that was [staged](Journal::stage).
    pub fn blob(&mut self, staged: Staged) -> &mut Batch {
        self.parts.push(Part::Blob(staged));
        self
    }

    /// Adds a snapshot of a run, as it is after what the batch has for it so far.
    pub fn snapshot(&mut self, run: RunId, format: &str, bytes: Vec<u8>) -> &mut Batch {
        self.parts.push(Part::Snapshot { run, format: format.to_owned(), bytes });
        self
    }

    fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    fn write(&self, conn: &Connection, file: &Path) -> Result<BTreeMap<RunId, Head>, Error> {
        let mut heads = BTreeMap::new();
        for part in &self.parts {
            match part {
                Part::Run { run, meta } => {
                    heads.insert(run.clone(), run::create(conn, file, run, meta, self.at_ms)?);
                }
                Part::Events { run, expected, events } => {
                    let head = append(conn, file, run, *expected, events, self.at_ms)?;
                    heads.insert(run.clone(), head);
                }
                Part::Blob(staged) => blob::insert(conn, file, staged)?,
                Part::Snapshot { run, format, bytes } => {
                    let standing = run::find(conn, file, run)?;
                    snapshot::insert(conn, file, &standing, format, bytes)?;
                }
            }
        }
        Ok(heads)
    }
}

impl Journal {
    /// Writes a batch. When this returns, all of it is on the disk; the heads of the runs that it
    /// touched come back.
    ///
    /// # Errors
    ///
    /// When any part is refused or cannot be written: then nothing of the batch was acknowledged.
    pub fn commit(&self, batch: &Batch) -> Result<BTreeMap<RunId, Head>, Error> {
        if batch.is_empty() {
            return Ok(BTreeMap::new());
        }
        self.writing(|conn| batch.write(conn, self.file()), |heads| heads.last_key_value())
    }

    /// Adds a run that has no events yet.
    ///
    /// # Errors
    ///
    /// When there is one with that name, or it cannot be written.
    pub fn create_run(&self, run: &RunId, meta: &[u8], at_ms: i64) -> Result<Head, Error> {
        self.writing(
            |conn| Ok((run, run::create(conn, self.file(), run, meta, at_ms)?)),
            |(run, head)| Some((run, head)),
        )
        .map(|(_, head)| head)
    }

    /// Adds events to a run that has `expected` events. When this returns, they are on the disk.
    ///
    /// # Errors
    ///
    /// [`Error::Conflict`] when the run has more or fewer events; otherwise when they cannot be
    /// written. In either case none of them was acknowledged.
    pub fn append<B: AsRef<[u8]>>(
        &self,
        run: &RunId,
        expected: u64,
        events: &[B],
        at_ms: i64,
    ) -> Result<Head, Error> {
        self.writing(
            |conn| Ok((run, append(conn, self.file(), run, expected, events, at_ms)?)),
            |(run, head)| Some((run, head)),
        )
        .map(|(_, head)| head)
    }
}

fn append<B: AsRef<[u8]>>(
    conn: &Connection,
    file: &Path,
    run: &RunId,
    expected: u64,
    events: &[B],
    at_ms: i64,
) -> Result<Head, Error> {
    let standing = run::find(conn, file, run)?;
    let mut head = standing.info.head;
    if head.events != expected {
        return Err(Error::Conflict { run: run.clone(), expected, found: head.events });
    }
    let failed = |error| Error::database(file, "append to")(error);
    let sql = "INSERT INTO events (place, hash, bytes) VALUES (?1, ?2, ?3)";
    let mut insert = conn.prepare_cached(sql).map_err(failed)?;
    for bytes in events.iter().map(AsRef::as_ref) {
        if bytes.len() > EVENT_BYTES_MAX {
            let (bytes, bytes_max) = (bytes.len() as u64, EVENT_BYTES_MAX as u64);
            return Err(Error::TooLarge { what: "an event", bytes, bytes_max });
        }
        let seq = head.events;
        let beyond = || Error::Broken {
            file: file.to_owned(),
            run: run.clone(),
            seq,
            flaw: ChainFlaw::Beyond,
        };
        let place = read::place(standing.number, seq).ok_or_else(beyond)?;
        let hash = chain::link(run, head.hash, seq, bytes);
        insert.execute(params![place, hash.as_bytes(), bytes]).map_err(|error| {
            // Something lies where the run has nothing yet.
            let taken = error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation);
            if taken { beyond() } else { failed(error) }
        })?;
        head = Head { events: seq + 1, hash };
    }
    run::advance(conn, file, standing, head, at_ms)?;
    Ok(head)
}
