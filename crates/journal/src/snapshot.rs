//! Snapshots: what a run folds to after a certain event, so that the events before it need not be
//! folded again.
//!
//! A snapshot is a cache. One that is damaged, of another format or of an event that the chain
//! does not have is as good as none, and never an error.

use std::path::Path;

use rusqlite::{Connection, params};

use crate::{
    blob,
    chain::{Hash, Sealer},
    error::Error,
    journal::Journal,
    read,
    run::{self, RunId, Standing},
};

/// So many are kept for each run: the newest, and the one before in case it is damaged.
const KEPT: i64 = 2;

/// What a run folds to after an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The event's number.
    pub seq: u64,
    /// The event's hash.
    pub hash: Hash,
    /// The folded state.
    pub bytes: Vec<u8>,
}

impl Journal {
    /// Keeps what a run folds to after event `seq`, which has this hash. `format` says how the
    /// bytes are to be understood; see also [`Batch::snapshot`](crate::Batch::snapshot).
    ///
    /// # Errors
    ///
    /// When the run has no such event, or it cannot be written.
    pub fn put_snapshot(
        &self,
        run: &RunId,
        seq: u64,
        hash: Hash,
        format: &str,
        bytes: &[u8],
    ) -> Result<(), Error> {
        let row = |conn: &Connection| {
            let standing = run::find(conn, self.file(), run)?;
            if seq >= standing.info.head.events
                || read::hash_at(conn, self.file(), standing.number, seq)? != Some(hash)
            {
                return Err(Error::NotInChain { run: run.clone(), seq, hash });
            }
            store(conn, self.file(), &standing, seq, hash, format, bytes)
        };
        self.writing(row, |()| None)
    }

    /// The newest usable snapshot of a run in this format, if there is one.
    pub fn latest_snapshot(&self, run: &RunId, format: &str) -> Option<Snapshot> {
        self.reading(|conn| newest(conn, self.file(), run, format)).ok().flatten()
    }
}

/// Keeps what a run folds to as it stands. Before its first event there is nothing to keep.
pub(crate) fn insert(
    conn: &Connection,
    file: &Path,
    standing: &Standing,
    format: &str,
    bytes: &[u8],
) -> Result<(), Error> {
    let head = standing.info.head;
    match head.events.checked_sub(1) {
        Some(seq) => store(conn, file, standing, seq, head.hash, format, bytes),
        None => Ok(()),
    }
}

fn store(
    conn: &Connection,
    file: &Path,
    standing: &Standing,
    seq: u64,
    hash: Hash,
    format: &str,
    bytes: &[u8],
) -> Result<(), Error> {
    let failed = |error| Error::database(file, "append to")(error);
    let data = blob::pack(bytes).map_err(Error::io(file, "pack for"))?;
    let digest = digest(&standing.info.id, seq, hash, format, bytes);
    let sql = "INSERT OR REPLACE INTO snapshots (run, seq, hash, format, digest, data)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let (run, seq) = (standing.number, seq.cast_signed());
    let row = params![run, seq, hash.as_bytes(), format, digest.as_bytes(), data];
    conn.prepare_cached(sql).and_then(|mut insert| insert.execute(row)).map_err(failed)?;
    let sql = "DELETE FROM snapshots WHERE run = ?1 AND rowid NOT IN
               (SELECT rowid FROM snapshots WHERE run = ?1 ORDER BY seq DESC, rowid DESC LIMIT ?2)";
    conn.prepare_cached(sql)
        .and_then(|mut delete| delete.execute(params![run, KEPT]))
        .map_err(failed)?;
    Ok(())
}

fn digest(run: &RunId, seq: u64, hash: Hash, format: &str, bytes: &[u8]) -> Hash {
    Sealer::new("windlass journal: snapshot, format 1")
        .bytes(run.as_str().as_bytes())
        .number(seq)
        .hash(hash)
        .bytes(format.as_bytes())
        .bytes(bytes)
        .finish()
}

fn newest(
    conn: &Connection,
    file: &Path,
    run: &RunId,
    format: &str,
) -> Result<Option<Snapshot>, Error> {
    let failed = |error| Error::database(file, "read")(error);
    let standing = run::find(conn, file, run)?;
    let sql = "SELECT seq, hash, digest, data FROM snapshots
               WHERE run = ?1 AND format = ?2 ORDER BY seq DESC";
    let mut query = conn.prepare_cached(sql).map_err(failed)?;
    let mut rows = query.query(params![standing.number, format]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        if let Some(snapshot) = usable(conn, file, &standing, format, row) {
            return Ok(Some(snapshot));
        }
    }
    Ok(None)
}

fn usable(
    conn: &Connection,
    file: &Path,
    standing: &Standing,
    format: &str,
    row: &rusqlite::Row<'_>,
) -> Option<Snapshot> {
    let seq = row.get::<_, i64>(0).ok()?.cast_unsigned();
    let hash = Hash::new(row.get(1).ok()?);
    let written = Hash::new(row.get(2).ok()?);
    let bytes = blob::unpack(row.get_ref(3).ok()?.as_blob().ok()?)?;
    let in_chain = seq < standing.info.head.events
        && read::hash_at(conn, file, standing.number, seq).ok()? == Some(hash);
    let whole = digest(&standing.info.id, seq, hash, format, &bytes) == written;
    (in_chain && whole).then_some(Snapshot { seq, hash, bytes })
}
