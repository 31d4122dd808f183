//! Looking at everything: the database's own pages, every chain, every blob.
//!
//! A flaw does not end the looking. A report names all of them, the worst place first: pages, then
//! runs, then blobs.

use std::fmt;

use rusqlite::Connection;

use crate::{
    blob::{self, BlobId},
    error::{ChainFlaw, Error},
    journal::Journal,
    read::{self, Entries},
    run::{self, Head, RunId, Standing},
};

/// What to look at.
#[derive(Clone, Copy, Debug)]
pub enum Scope<'a> {
    /// The pages and the chain of one run.
    Run(&'a RunId),
    /// Everything, each blob included.
    All,
}

/// What was looked at, and what is wrong.
#[derive(Debug, Default)]
pub struct Report {
    /// The runs, and how far each can be trusted.
    pub runs: Vec<RunReport>,
    /// How many blobs were read.
    pub blobs: u64,
    /// How much they hold.
    pub blob_bytes: u64,
    /// What is wrong, the worst first. Empty when all is well.
    pub flaws: Vec<Flaw>,
}

/// A run in a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunReport {
    /// Which.
    pub run: RunId,
    /// How far its row says that it goes.
    pub head: Head,
    /// How many of its events are there, in order and undamaged, from the first.
    pub sound_events: u64,
}

/// Something that is wrong.
#[derive(Debug)]
pub enum Flaw {
    /// With the pages of the database.
    Pages(String),
    /// With the list of runs.
    Runs(Error),
    /// With a run.
    Run {
        /// Which.
        run: RunId,
        /// The first event that cannot be trusted.
        seq: u64,
        /// Why.
        error: Error,
    },
    /// With a blob.
    Blob {
        /// Which; none if not even the list of blobs can be read.
        id: Option<BlobId>,
        /// Why.
        error: Error,
    },
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Flaw::Pages(what) => write!(f, "the database's pages: {what}"),
            Flaw::Runs(error) => write!(f, "the list of runs: {error}"),
            Flaw::Run { run, seq, error } => write!(f, "run {run} at event {seq}: {error}"),
            Flaw::Blob { id: Some(id), error } => write!(f, "blob {id}: {error}"),
            Flaw::Blob { id: None, error } => write!(f, "the list of blobs: {error}"),
        }
    }
}

impl Report {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.flaws.is_empty()
    }

    /// The worst.
    pub fn first_flaw(&self) -> Option<&Flaw> {
        self.flaws.first()
    }
}

impl Journal {
    /// Looks at a run or at everything.
    ///
    /// # Errors
    ///
    /// Only [`Error::NoSuchRun`]: what is wrong with the journal is in the report.
    pub fn verify(&self, scope: Scope<'_>) -> Result<Report, Error> {
        let mut report = Report::default();
        self.verify_pages(&mut report);
        let runs = self.reading(|conn| match scope {
            Scope::Run(run) => run::find(conn, self.file(), run).map(|one| vec![one]),
            Scope::All => run::all(conn, self.file()),
        });
        match runs {
            Ok(runs) => runs.iter().for_each(|standing| self.verify_run(standing, &mut report)),
            Err(error @ Error::NoSuchRun { .. }) => return Err(error),
            Err(error) => report.flaws.push(Flaw::Runs(error)),
        }
        if let Scope::All = scope {
            self.verify_blobs(&mut report);
        }
        Ok(report)
    }

    fn verify_pages(&self, report: &mut Report) {
        let found: Result<Vec<String>, Error> = self.reading(|conn| {
            let failed = |error| Error::database(self.file(), "read")(error);
            let mut query = conn.prepare("PRAGMA quick_check").map_err(failed)?;
            let rows = query.query_map([], |row| row.get(0)).map_err(failed)?;
            rows.collect::<Result<_, _>>().map_err(failed)
        });
        match found {
            Ok(lines) => {
                let bad = lines.into_iter().filter(|line| line != "ok");
                report.flaws.extend(bad.map(Flaw::Pages));
            }
            Err(error) => report.flaws.push(Flaw::Pages(error.to_string())),
        }
    }

    fn verify_run(&self, standing: &Standing, report: &mut Report) {
        let (run, head) = (&standing.info.id, standing.info.head);
        let mut sound_events = 0;
        let mut flaw = None;
        match self.reading(|conn| Entries::new(self, conn, standing, 0)) {
            Ok(entries) => {
                for entry in entries {
                    match entry {
                        Ok(entry) => sound_events = entry.seq + 1,
                        Err(error) => flaw = Some((sound_events, error)),
                    }
                }
            }
            Err(error) => flaw = Some((0, error)),
        }
        if flaw.is_none()
            && let Err(error) = self.reading(|conn| self.nothing_beyond(conn, run))
        {
            flaw = Some((head.events, error));
        }
        report.runs.push(RunReport { run: run.clone(), head, sound_events });
        report.flaws.extend(flaw.map(|(seq, error)| Flaw::Run { run: run.clone(), seq, error }));
    }

    /// After the last event of a run there is none. Where it ends is asked again, in the same
    /// breath: it may have grown since.
    fn nothing_beyond(&self, conn: &Connection, run: &RunId) -> Result<(), Error> {
        let tx = conn.unchecked_transaction().map_err(Error::database(self.file(), "read"))?;
        let Standing { number, info } = run::find(&tx, self.file(), run)?;
        let seq = info.head.events;
        match read::hash_at(&tx, self.file(), number, seq)? {
            None => Ok(()),
            Some(_) => {
                let (file, flaw) = (self.file().to_owned(), ChainFlaw::Beyond);
                Err(Error::Broken { file, run: run.clone(), seq, flaw })
            }
        }
    }

    fn verify_blobs(&self, report: &mut Report) {
        let ids = match self.reading(|conn| blob::ids(conn, self.file())) {
            Ok(ids) => ids,
            Err(error) => return report.flaws.push(Flaw::Blob { id: None, error }),
        };
        for id in ids {
            report.blobs += 1;
            let read = self.open_blob(id).and_then(|mut blob| {
                blob.read_all(|piece| report.blob_bytes += piece.len() as u64)
            });
            report.flaws.extend(read.err().map(|error| Flaw::Blob { id: Some(id), error }));
        }
    }
}
