//! A connection to a database, set up so that what it commits is on the disk.
//!
//! Whatever matters is asked back after it was set: a file system that keeps no write-ahead log
//! must not go unnoticed.

use std::{
    ffi::OsStr,
    fmt::Write as _,
    fs, io,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, OpenFlags, TransactionBehavior, config::DbConfig};

use crate::{
    error::{self, Error},
    place::Repository,
    schema::Formats,
};

/// Older libraries can, rarely, lose a commit while another connection resets the log.
const SQLITE_MIN: i32 = 3_051_003;

/// Readers hold the file for a moment while they start and we close.
const BUSY_MS_MAX: u64 = 5_000;
/// Enough for the pages that an append touches; the whole program is to stay small.
const CACHE_KIB: i64 = 1024;
/// The log is cut back to this after it was copied into the database.
const LOG_BYTES_KEPT: i64 = 8 * 1024 * 1024;

pub(crate) fn check_library(version: i32) -> Result<(), Error> {
    if version >= SQLITE_MIN {
        return Ok(());
    }
    let text = |v: i32| format!("{}.{}.{}", v / 1_000_000, v / 1_000 % 1_000, v % 1_000);
    Err(Error::OldSqlite { found: text(version), needed: text(SQLITE_MIN) })
}

/// Connects for reading. What a writer that was killed has left half done is put in order first, as the next writer would.
pub(crate) fn connect_to_read(file: &Path) -> Result<Connection, Error> {
    let looks = |conn: &Connection| {
        let version = conn.pragma_query_value(None, "schema_version", |_| Ok(()));
        version.map_err(Error::database(file, "open"))
    };
    let connected = connect(file, OpenFlags::SQLITE_OPEN_READ_ONLY);
    let looked = connected.and_then(|conn| looks(&conn).map(|()| conn));
    // Who only reads has nothing to write, unless there is something to be rolled back.
    if !matches!(looked, Err(Error::ReadOnly { .. })) {
        return looked;
    }
    looks(&connect(file, OpenFlags::SQLITE_OPEN_READ_WRITE)?)?;
    connect(file, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

pub(crate) fn connect(file: &Path, mode: OpenFlags) -> Result<Connection, Error> {
    let failed = |error| Error::database(file, "open")(error);
    let flags = mode | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    // On a read-only disk there is nowhere to put the log's index; but nobody writes there either.
    let frozen = mode == OpenFlags::SQLITE_OPEN_READ_ONLY && error::is_read_only(file);
    if frozen && !log_is_empty(file) {
        let source = io::Error::other(
            "the disk is read-only, and a crash left a log beside it that needs one that is not: \
             copy the directory to a writable disk",
        );
        return Err(Error::Io { path: file.to_owned(), doing: "read", source });
    }
    let conn = if frozen {
        Connection::open_with_flags(frozen_uri(file), flags | OpenFlags::SQLITE_OPEN_URI)
    } else {
        Connection::open_with_flags(file, flags)
    };
    let conn = conn.map_err(failed)?;
    // First of all, so that not even closing it again changes a file that we refuse.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(failed)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true).map_err(failed)?;
    conn.busy_timeout(Duration::from_millis(BUSY_MS_MAX)).map_err(failed)?;
    for (name, value) in [
        ("trusted_schema", "OFF"),
        ("cell_size_check", "ON"),
        ("foreign_keys", "ON"),
        ("synchronous", "FULL"),
        ("temp_store", "MEMORY"),
    ] {
        conn.pragma_update(None, name, value).map_err(failed)?;
    }
    conn.pragma_update(None, "cache_size", -CACHE_KIB).map_err(failed)?;
    conn.set_prepared_statement_cache_capacity(32);
    Ok(conn)
}

fn log_is_empty(file: &Path) -> bool {
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    fs::metadata(log).map_or(true, |log| log.len() == 0)
}

fn frozen_uri(file: &Path) -> String {
    let mut uri = "file:".to_owned();
    for &byte in file.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02x}");
        }
    }
    uri + "?immutable=1"
}

/// The first transaction of a journal: after it the file is ours and says whose.
pub(crate) fn begin(
    formats: &Formats,
    conn: &mut Connection,
    file: &Path,
    repository: &Repository,
) -> Result<(), Error> {
    make_durable(conn, file)?;
    let owner = repository.common_dir().as_os_str().as_bytes();
    let made = conn.transaction_with_behavior(TransactionBehavior::Immediate).and_then(|tx| {
        formats.raise(&tx, 0)?;
        tx.execute("UPDATE about SET repository = ?1", [owner])?;
        tx.commit()
    });
    made.map_err(Error::database(file, "create"))
}

/// Upgrades an older format, unless what comes out is not `sound`.
pub(crate) fn raise(
    formats: &Formats,
    conn: &mut Connection,
    file: &Path,
    from: u32,
    sound: impl FnOnce(&Connection) -> Result<(), Error>,
) -> Result<(), Error> {
    let failed = |error| Error::database(file, "upgrade")(error);
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    formats.raise(&tx, from).map_err(failed)?;
    sound(&tx)?;
    tx.commit().map_err(failed)
}

/// Sets up the log, and believes it only when SQLite says that it is so.
pub(crate) fn make_durable(conn: &Connection, file: &Path) -> Result<(), Error> {
    let failed = |error| Error::database(file, "open")(error);
    let mode: String = conn
        .pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))
        .map_err(failed)?;
    let sync: i64 =
        conn.pragma_query_value(None, "synchronous", |row| row.get(0)).map_err(failed)?;
    conn.pragma_update_and_check(None, "journal_size_limit", LOG_BYTES_KEPT, |_| Ok(()))
        .map_err(failed)?;
    if (mode.as_str(), sync) == ("wal", 2) {
        return Ok(());
    }
    let source = io::Error::other(format!(
        "this disk keeps no write-ahead log (journal_mode {mode}, synchronous {sync})"
    ));
    Err(Error::Io { path: file.to_owned(), doing: "write durably to", source })
}

pub(crate) fn check_repository(
    conn: &Connection,
    file: &Path,
    repository: &Repository,
) -> Result<(), Error> {
    let found: Vec<u8> = conn
        .query_row("SELECT repository FROM about WHERE only = 1", [], |row| row.get(0))
        .map_err(Error::database(file, "read"))?;
    let asked = repository.common_dir();
    if found == asked.as_os_str().as_bytes() {
        return Ok(());
    }
    Err(Error::OtherRepository {
        file: file.to_owned(),
        found: PathBuf::from(OsStr::from_bytes(&found)),
        asked: asked.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_library_is_refused() {
        check_library(rusqlite::version_number()).unwrap();
        check_library(3_051_003).unwrap();
        let error = check_library(3_051_002).unwrap_err();
        assert!(matches!(&error, Error::OldSqlite { .. }));
        assert_eq!(
            error.to_string(),
            "the SQLite library is 3.51.2, but the journal needs 3.51.3 or newer"
        );
    }

    #[test]
    fn a_connection_is_durable_and_distrustful() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("journal.db");
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let conn = connect(&file, flags).unwrap();
        make_durable(&conn, &file).unwrap();
        let pragma = |name: &str| {
            let value =
                conn.pragma_query_value(None, name, |row| row.get::<_, rusqlite::types::Value>(0));
            format!("{:?}", value.unwrap())
        };
        for (name, value) in [
            ("journal_mode", "Text(\"wal\")"),
            ("locking_mode", "Text(\"normal\")"),
            ("synchronous", "Integer(2)"),
            ("foreign_keys", "Integer(1)"),
            ("trusted_schema", "Integer(0)"),
            ("cell_size_check", "Integer(1)"),
            ("busy_timeout", "Integer(5000)"),
            ("cache_size", "Integer(-1024)"),
            ("journal_size_limit", "Integer(8388608)"),
        ] {
            assert_eq!(pragma(name), value, "{name}");
        }
    }

    #[test]
    fn a_database_that_keeps_no_log_is_refused() {
        let conn = Connection::open_in_memory().unwrap();
        let error = make_durable(&conn, Path::new("/s/journal.db")).unwrap_err();
        assert!(error.to_string().contains("write-ahead log"), "{error}");
        let temp = tempfile::tempdir().unwrap();
        let lax = Connection::open(temp.path().join("journal.db")).unwrap();
        lax.pragma_update(None, "synchronous", "NORMAL").unwrap();
        let error = make_durable(&lax, Path::new("/s/journal.db")).unwrap_err();
        assert!(error.to_string().contains("synchronous 1"), "{error}");
    }

    #[test]
    fn a_path_is_spelt_out_for_a_frozen_database() {
        let uri = frozen_uri(Path::new("/s/a b?#%ä/journal.db"));
        assert_eq!(uri, "file:/s/a%20b%3f%23%25%c3%a4/journal.db?immutable=1");
    }
}
