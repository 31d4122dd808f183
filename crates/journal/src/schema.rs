//! The format of the database, and how an older one becomes the current one.
//!
//! The format's number stands in the file's header and once more in a row; the text of every table
//! is compared with what we would write. So a flipped bit there is damage, not a newer format or
//! an invitation to upgrade.

use std::path::Path;

use rusqlite::{Connection, Transaction};

use crate::error::Error;

/// The format that this Windlass writes.
pub const FORMAT: u32 = 1;

/// Marks the file as ours (`WNDL`).
pub(crate) const APPLICATION_ID: i32 = 0x574e_444c;

/// One step from a format to the next: runs inside the transaction that raises the number.
pub(crate) type Step = fn(&Transaction<'_>) -> rusqlite::Result<()>;

/// The formats that this program knows.
#[derive(Clone, Copy)]
pub(crate) struct Formats {
    /// `steps[n]` leads from format n to n + 1. Format 0 is an empty file.
    pub(crate) steps: &'static [Step],
    /// The tables and indices of the last format, by name.
    pub(crate) tables: &'static [(&'static str, &'static str)],
}

pub(crate) const FORMATS: Formats = Formats { steps: &[first], tables: &TABLES };

/// In the order of their names.
const TABLES: [(&str, &str); 5] = [
    (
        "about",
        "CREATE TABLE about (
            only INTEGER PRIMARY KEY CHECK (only = 1),
            format INTEGER NOT NULL,
            repository BLOB NOT NULL
        ) STRICT",
    ),
    (
        "blobs",
        // `data` is packed; without it the blob is a file.
        "CREATE TABLE blobs (
            id BLOB NOT NULL UNIQUE,
            bytes INTEGER NOT NULL,
            data BLOB
        ) STRICT",
    ),
    (
        "events",
        // `place` is the run's number and the event's, packed into one key: a run's events lie
        // side by side, in order, in a single tree.
        "CREATE TABLE events (
            place INTEGER PRIMARY KEY,
            hash BLOB NOT NULL,
            bytes BLOB NOT NULL
        ) STRICT",
    ),
    (
        "runs",
        "CREATE TABLE runs (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            meta BLOB NOT NULL,
            created_ms INTEGER NOT NULL,
            updated_ms INTEGER NOT NULL,
            events INTEGER NOT NULL,
            hash BLOB NOT NULL,
            seal BLOB NOT NULL
        ) STRICT",
    ),
    (
        "snapshots",
        "CREATE TABLE snapshots (
            run INTEGER NOT NULL REFERENCES runs,
            seq INTEGER NOT NULL,
            hash BLOB NOT NULL,
            format TEXT NOT NULL,
            digest BLOB NOT NULL,
            data BLOB NOT NULL,
            UNIQUE (run, seq, format)
        ) STRICT",
    ),
];

fn first(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    TABLES.iter().try_for_each(|(_, sql)| tx.execute_batch(sql))?;
    // The first step gives the file its mark and its row; later steps leave them alone.
    tx.pragma_update(None, "application_id", APPLICATION_ID)?;
    tx.execute("INSERT INTO about (only, format, repository) VALUES (1, 0, x'')", [])?;
    Ok(())
}

/// What kind of file this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// Nothing was ever written to it.
    Fresh,
    /// Ours, in this format.
    Format(u32),
}

impl Formats {
    pub(crate) fn newest(&self) -> u32 {
        u32::try_from(self.steps.len()).unwrap_or(u32::MAX)
    }

    /// Looks at a file, changing nothing.
    pub(crate) fn look(&self, conn: &Connection, file: &Path) -> Result<Found, Error> {
        let failed = |error| Error::database(file, "read")(error);
        let pragma = |name| conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let (format, mark) =
            (pragma("user_version").map_err(failed)?, pragma("application_id").map_err(failed)?);
        let tables: i64 = conn
            .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
            .map_err(failed)?;
        if (format, mark, tables) == (0, 0, 0) {
            return Ok(Found::Fresh);
        }
        if mark != i64::from(APPLICATION_ID) {
            let what = "it is a database, but not one of Windlass's".to_owned();
            return Err(Error::NotAJournal { file: file.to_owned(), what });
        }
        let written: i64 = conn
            .query_row("SELECT format FROM about WHERE only = 1", [], |row| row.get(0))
            .map_err(damaged_by(file, "the row about its format cannot be read"))?;
        if written != format {
            let what = format!("its header says format {format}, its row says {written}");
            return Err(Error::Damaged { file: file.to_owned(), what });
        }
        match u32::try_from(format) {
            Ok(format) if format > 0 => Ok(Found::Format(format)),
            _ => Err(Error::Damaged {
                file: file.to_owned(),
                what: format!("there is no format {format}"),
            }),
        }
    }

    /// Brings a fresh or older file to the newest format: all of it, or nothing.
    pub(crate) fn raise(&self, tx: &Transaction<'_>, from: u32) -> rusqlite::Result<()> {
        for step in self.steps.iter().skip(from as usize) {
            step(tx)?;
        }
        tx.pragma_update(None, "user_version", self.newest())?;
        tx.execute("UPDATE about SET format = ?1", [self.newest()])?;
        Ok(())
    }

    /// Holds the tables of a file in the newest format against what we would have written.
    pub(crate) fn check_tables(&self, conn: &Connection, file: &Path) -> Result<(), Error> {
        let found = tables_of(conn).map_err(Error::database(file, "read"))?;
        let wanted = self.tables.iter().copied();
        if wanted.eq(found.iter().map(|(name, sql)| (name.as_str(), sql.as_str()))) {
            return Ok(());
        }
        let what = "its tables are not those of its format".to_owned();
        Err(Error::Damaged { file: file.to_owned(), what })
    }
}

fn tables_of(conn: &Connection) -> rusqlite::Result<Vec<(String, String)>> {
    let sql = "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name";
    conn.prepare(sql)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// A statement that cannot even be prepared against our own tables means that they are not ours.
fn damaged_by(file: &Path, what: &'static str) -> impl FnOnce(rusqlite::Error) -> Error {
    let file = file.to_owned();
    move |error| match Error::database(&file, "read")(error) {
        Error::Database { source, .. } => {
            Error::Damaged { file, what: format!("{what} ({source})") }
        }
        other => other,
    }
}

/// A next format, as it might come to be.
#[cfg(test)]
pub(crate) mod next {
    use super::*;

    pub(crate) const NEXT_TABLES: [(&str, &str); 6] = [
        TABLES[0],
        TABLES[1],
        TABLES[2],
        ("notes", "CREATE TABLE notes (text TEXT NOT NULL) STRICT"),
        TABLES[3],
        TABLES[4],
    ];
    pub(crate) const NEXT: Formats =
        Formats { steps: &[first, |tx| tx.execute_batch(NEXT_TABLES[3].1)], tables: &NEXT_TABLES };
}

#[cfg(test)]
mod tests {
    use super::next::{NEXT, NEXT_TABLES};
    use super::*;

    const FILE: &str = "/s/journal.db";

    fn raised(formats: &Formats, conn: &mut Connection, from: u32) -> rusqlite::Result<()> {
        let tx = conn.transaction()?;
        formats.raise(&tx, from)?;
        tx.commit()
    }

    const FAILING: Formats = Formats {
        steps: &[first, |tx| {
            tx.execute_batch("CREATE TABLE notes (text TEXT NOT NULL) STRICT")?;
            tx.execute_batch("CREATE TABLE runs (oops)")
        }],
        tables: &NEXT_TABLES,
    };

    #[test]
    fn there_is_a_step_to_every_format() {
        assert_eq!(FORMATS.newest(), FORMAT);
        assert!(TABLES.is_sorted_by_key(|(name, _)| *name));
    }

    #[test]
    fn an_empty_file_is_raised_to_the_newest_format() {
        let mut conn = Connection::open_in_memory().unwrap();
        let file = Path::new(FILE);
        assert_eq!(FORMATS.look(&conn, file).unwrap(), Found::Fresh);
        raised(&FORMATS, &mut conn, 0).unwrap();
        assert_eq!(FORMATS.look(&conn, file).unwrap(), Found::Format(1));
        FORMATS.check_tables(&conn, file).unwrap();
    }

    #[test]
    fn an_older_format_is_raised_step_by_step() {
        let mut conn = Connection::open_in_memory().unwrap();
        let file = Path::new(FILE);
        raised(&FORMATS, &mut conn, 0).unwrap();
        assert!(NEXT.check_tables(&conn, file).is_err());
        raised(&NEXT, &mut conn, 1).unwrap();
        assert_eq!(NEXT.look(&conn, file).unwrap(), Found::Format(2));
        NEXT.check_tables(&conn, file).unwrap();
    }

    #[test]
    fn a_step_that_fails_leaves_the_older_format_whole() {
        let mut conn = Connection::open_in_memory().unwrap();
        let file = Path::new(FILE);
        raised(&FORMATS, &mut conn, 0).unwrap();
        raised(&FAILING, &mut conn, 1).unwrap_err();
        assert_eq!(FORMATS.look(&conn, file).unwrap(), Found::Format(1));
        FORMATS.check_tables(&conn, file).unwrap();
    }

    #[test]
    fn a_number_in_the_header_that_the_row_does_not_confirm_is_damage() {
        let mut conn = Connection::open_in_memory().unwrap();
        raised(&FORMATS, &mut conn, 0).unwrap();
        for wrong in [0, 2, -1] {
            conn.pragma_update(None, "user_version", wrong).unwrap();
            let error = FORMATS.look(&conn, Path::new(FILE)).unwrap_err();
            assert!(matches!(error, Error::Damaged { .. }), "{wrong}: {error}");
        }
    }

    #[test]
    fn a_format_that_there_never_was_is_damage() {
        let mut conn = Connection::open_in_memory().unwrap();
        raised(&FORMATS, &mut conn, 0).unwrap();
        for wrong in [0, -1] {
            conn.pragma_update(None, "user_version", wrong).unwrap();
            conn.execute("UPDATE about SET format = ?1", [wrong]).unwrap();
            let error = FORMATS.look(&conn, Path::new(FILE)).unwrap_err();
            assert!(matches!(error, Error::Damaged { .. }), "{wrong}: {error}");
        }
    }

    #[test]
    fn somebody_elses_database_is_not_a_journal() {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch("CREATE TABLE bookmarks (url)").unwrap();
        let error = FORMATS.look(&conn, Path::new(FILE)).unwrap_err();
        assert!(matches!(error, Error::NotAJournal { .. }), "{error}");
    }

    #[test]
    fn a_table_that_we_would_not_have_made_is_damage() {
        let mut conn = Connection::open_in_memory().unwrap();
        raised(&FORMATS, &mut conn, 0).unwrap();
        conn.execute_batch("CREATE TRIGGER t AFTER INSERT ON runs BEGIN SELECT 1; END").unwrap();
        let error = FORMATS.check_tables(&conn, Path::new(FILE)).unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{error}");
    }
}
