//! Runs: a name, what it was given at its birth, and how far its events go.
//!
//! A run's row is the only thing in the journal that changes, so it carries a seal of its own over
//! everything in it: a flipped bit in a name or a count is damage, not another run.

use std::{fmt, path::Path, str::FromStr};

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::{
    chain::{self, Hash, Sealer},
    error::Error,
};

/// Most that a run may be given at its birth.
pub const META_BYTES_MAX: usize = 64 * 1024;
const ID_BYTES_MAX: usize = 128;

/// The name of a run: letters, digits, `.`, `_` and `-`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(String);

/// Text that cannot name a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} cannot name a run: a name has 1 to {ID_BYTES_MAX} letters, digits, '.', '_' or '-', and \
     begins with a letter or digit"
)]
pub struct BadRunId(String);

impl RunId {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for RunId {
    type Err = BadRunId;

    fn from_str(text: &str) -> Result<RunId, BadRunId> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let begins = text.starts_with(|c: char| c.is_ascii_alphanumeric());
        if begins && text.len() <= ID_BYTES_MAX && text.chars().all(plain) {
            Ok(RunId(text.to_owned()))
        } else {
            Err(BadRunId(text.chars().take(ID_BYTES_MAX).collect()))
        }
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How far a run goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// How many events it has: the number that the next one gets.
    pub events: u64,
    /// The hash of the last one, or that of the run's birth.
    pub hash: Hash,
}

/// What the journal knows of a run without reading its events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunInfo {
    /// Its name.
    pub id: RunId,
    /// What it was given at its birth.
    pub meta: Vec<u8>,
    /// When it was created, in milliseconds since 1970.
    pub created_ms: i64,
    /// When it was last appended to.
    pub updated_ms: i64,
    /// How far it goes.
    pub head: Head,
}

/// A run as it stands in the database.
pub(crate) struct Standing {
    pub(crate) number: i64,
    pub(crate) info: RunInfo,
}

const COLUMNS: &str =
    "SELECT number, id, meta, created_ms, updated_ms, events, hash, seal FROM runs";

impl Standing {
    fn seal(&self) -> Hash {
        let RunInfo { id, meta, created_ms, updated_ms, head } = &self.info;
        Sealer::new("windlass journal: standing, format 1")
            .number(self.number.cast_unsigned())
            .bytes(id.as_str().as_bytes())
            .bytes(meta)
            .number(created_ms.cast_unsigned())
            .number(updated_ms.cast_unsigned())
            .number(head.events)
            .hash(head.hash)
            .finish()
    }

    /// Where its chain starts from.
    pub(crate) fn birth(&self) -> Hash {
        chain::birth(&self.info.id, self.info.created_ms, &self.info.meta)
    }

    fn read(file: &Path, row: &Row<'_>) -> Result<Standing, Error> {
        let failed = |error| Error::database(file, "read")(error);
        let number = row.get(0).map_err(failed)?;
        let damaged = || Error::Damaged {
            file: file.to_owned(),
            what: format!("the row of run number {number} does not match its seal"),
        };
        let hash = |index| {
            let bytes: [u8; 32] = row.get(index).map_err(failed)?;
            Ok::<_, Error>(Hash::new(bytes))
        };
        let id: String = row.get(1).map_err(failed)?;
        let events: i64 = row.get(5).map_err(failed)?;
        let info = RunInfo {
            id: id.parse().map_err(|_| damaged())?,
            meta: row.get(2).map_err(failed)?,
            created_ms: row.get(3).map_err(failed)?,
            updated_ms: row.get(4).map_err(failed)?,
            head: Head { events: events.cast_unsigned(), hash: hash(6)? },
        };
        let standing = Standing { number, info };
        if standing.seal() == hash(7)? { Ok(standing) } else { Err(damaged()) }
    }
}

/// The run with this name.
pub(crate) fn find(conn: &Connection, file: &Path, run: &RunId) -> Result<Standing, Error> {
    look_up(conn, file, run)?.ok_or_else(|| Error::NoSuchRun { run: run.clone() })
}

pub(crate) fn look_up(
    conn: &Connection,
    file: &Path,
    run: &RunId,
) -> Result<Option<Standing>, Error> {
    let failed = |error| Error::database(file, "read")(error);
    let sql = format!("{COLUMNS} WHERE id = ?1");
    let mut query = conn.prepare_cached(&sql).map_err(failed)?;
    let mut rows = query.query(params![run.as_str()]).map_err(failed)?;
    // An index that leads to the wrong row gives a name that does not go with the row's seal.
    rows.next().map_err(failed)?.map(|row| Standing::read(file, row)).transpose()
}

/// All runs, the oldest first.
pub(crate) fn all(conn: &Connection, file: &Path) -> Result<Vec<Standing>, Error> {
    let failed = |error| Error::database(file, "read")(error);
    let sql = format!("{COLUMNS} NOT INDEXED ORDER BY number");
    let mut query = conn.prepare_cached(&sql).map_err(failed)?;
    let mut rows = query.query([]).map_err(failed)?;
    let mut runs = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        runs.push(Standing::read(file, row)?);
    }
    Ok(runs)
}

/// Adds a run that has no events.
pub(crate) fn create(
    conn: &Connection,
    file: &Path,
    run: &RunId,
    meta: &[u8],
    at_ms: i64,
) -> Result<Head, Error> {
    if meta.len() > META_BYTES_MAX {
        let (bytes, bytes_max) = (meta.len() as u64, META_BYTES_MAX as u64);
        return Err(Error::TooLarge { what: "what the run is given", bytes, bytes_max });
    }
    let failed = |error| Error::database(file, "append to")(error);
    // Asks the table, not its index: a damaged index must not let a name be taken twice.
    let taken = conn
        .prepare_cached("SELECT 1 FROM runs NOT INDEXED WHERE id = ?1")
        .and_then(|mut query| query.query_row([run.as_str()], |_| Ok(())).optional())
        .map_err(failed)?;
    if taken.is_some() {
        return Err(Error::RunExists { run: run.clone() });
    }
    let number = conn
        .prepare_cached("SELECT coalesce(max(number), 0) + 1 FROM runs NOT INDEXED")
        .and_then(|mut query| query.query_row([], |row| row.get(0)))
        .map_err(failed)?;
    let head = Head { events: 0, hash: chain::birth(run, at_ms, meta) };
    let info = RunInfo {
        id: run.clone(),
        meta: meta.to_owned(),
        created_ms: at_ms,
        updated_ms: at_ms,
        head,
    };
    let standing = Standing { number, info };
    let sql = "INSERT INTO runs (number, id, meta, created_ms, updated_ms, events, hash, seal)
               VALUES (?1, ?2, ?3, ?4, ?4, 0, ?5, ?6)";
    let seal = standing.seal();
    let row = params![number, run.as_str(), meta, at_ms, head.hash.as_bytes(), seal.as_bytes()];
    conn.prepare_cached(sql).and_then(|mut insert| insert.execute(row)).map_err(failed)?;
    Ok(head)
}

/// Writes down how far a run goes now.
pub(crate) fn advance(
    conn: &Connection,
    file: &Path,
    mut standing: Standing,
    head: Head,
    at_ms: i64,
) -> Result<(), Error> {
    standing.info.head = head;
    standing.info.updated_ms = at_ms;
    let seal = standing.seal();
    let sql =
        "UPDATE runs SET updated_ms = ?2, events = ?3, hash = ?4, seal = ?5 WHERE number = ?1";
    let row = params![
        standing.number,
        at_ms,
        head.events.cast_signed(),
        head.hash.as_bytes(),
        seal.as_bytes()
    ];
    conn.prepare_cached(sql)
        .and_then(|mut update| update.execute(row))
        .map_err(Error::database(file, "append to"))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_plain() {
        for good in ["a", "7", "task-2026.01_x", &"x".repeat(128)] {
            assert_eq!(good.parse::<RunId>().unwrap().as_str(), good);
        }
        for bad in ["", ".", "-x", "a b", "a/b", "a\n", "ä", &"x".repeat(129)] {
            assert!(bad.parse::<RunId>().is_err(), "{bad:?}");
        }
    }
}
