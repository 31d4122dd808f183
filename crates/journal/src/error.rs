//! What can go wrong with a journal, told apart by what a caller can do about it.
//!
//! Storage fails in a few ways that matter: full (pause, make room, reopen), read-only (stop),
//! failing (stop, never claim durability), busy (somebody else writes) and damaged (recover the
//! prefix, set the file aside). Whatever SQLite or the system says becomes one of these here.

use std::{
    io,
    path::{Path, PathBuf},
};

use rusqlite::{ErrorCode, ffi};

use crate::{blob::BlobId, chain::Hash, run::RunId};

/// Why a journal does not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Older SQLite libraries can lose a commit in WAL mode.
    #[error("the SQLite library is {found}, but the journal needs {needed} or newer")]
    OldSqlite {
        /// What is linked.
        found: String,
        /// What is needed.
        needed: String,
    },
    /// There is no journal.
    #[error("there is no journal at {file:?}: no run was started in this repository yet")]
    Missing {
        /// Where it would be.
        file: PathBuf,
    },
    /// The file is something else.
    #[error(
        "{file:?} is not a journal: {what}. Nothing was changed; set it aside to start a fresh one"
    )]
    NotAJournal {
        /// Which file.
        file: PathBuf,
        /// What it seems to be.
        what: String,
    },
    /// The database cannot be trusted.
    #[error(
        "the journal {file:?} is damaged: {what}. Nothing was changed; recover what is readable, \
         then set the file aside"
    )]
    Damaged {
        /// Which file.
        file: PathBuf,
        /// Where and how.
        what: String,
    },
    /// Less is there than was acknowledged.
    #[error(
        "the journal {file:?} has lost events: run {run} was acknowledged with {acknowledged} \
         events, {found}. Nothing was changed; bring back the file, or recover what is readable \
         and set it aside"
    )]
    Lost {
        /// Which file.
        file: PathBuf,
        /// The run that was written last.
        run: String,
        /// How many events it had.
        acknowledged: u64,
        /// What is there instead.
        found: String,
    },
    /// A newer Windlass wrote it.
    #[error(
        "the journal {file:?} has format {found}, but this Windlass writes format {known}: it can \
         only be read here. Use the newer Windlass"
    )]
    Newer {
        /// Which file.
        file: PathBuf,
        /// The file's format.
        found: u32,
        /// Ours.
        known: u32,
    },
    /// An older Windlass wrote it, and we may not write.
    #[error(
        "the journal {file:?} has format {found} and must be upgraded to {known} first: start or \
         resume a run, which does that"
    )]
    Older {
        /// Which file.
        file: PathBuf,
        /// The file's format.
        found: u32,
        /// Ours.
        known: u32,
    },
    /// It belongs to another repository.
    #[error("the journal {file:?} belongs to the repository {found:?}, not to {asked:?}")]
    OtherRepository {
        /// Which file.
        file: PathBuf,
        /// Whose it is.
        found: PathBuf,
        /// Whose it should be.
        asked: PathBuf,
    },
    /// Somebody appended in between.
    #[error("run {run} has {found} events, not {expected}: somebody else appended; read it again")]
    Conflict {
        /// Which run.
        run: RunId,
        /// How many the caller knew of.
        expected: u64,
        /// How many there are.
        found: u64,
    },
    /// The name is taken.
    #[error("there is a run {run} already")]
    RunExists {
        /// Which.
        run: RunId,
    },
    /// There is no such run.
    #[error("there is no run {run} in this repository's journal")]
    NoSuchRun {
        /// Which.
        run: RunId,
    },
    /// There is no such event.
    #[error("run {run} has {events} events; there is no event {seq}")]
    NoSuchEvent {
        /// Which run.
        run: RunId,
        /// Which event.
        seq: u64,
        /// How many there are.
        events: u64,
    },
    /// The chain of a run does not hold.
    #[error("the journal {file:?} is damaged: event {seq} of run {run} {flaw}")]
    Broken {
        /// Which file.
        file: PathBuf,
        /// Which run.
        run: RunId,
        /// The first event that cannot be trusted.
        seq: u64,
        /// What is wrong with it.
        flaw: ChainFlaw,
    },
    /// A snapshot of something that never happened.
    #[error("run {run} has no event {seq} with the hash {hash}: a snapshot of it is refused")]
    NotInChain {
        /// Which run.
        run: RunId,
        /// Which event.
        seq: u64,
        /// Which hash.
        hash: Hash,
    },
    /// There is no such blob.
    #[error("there is no blob {id}")]
    NoSuchBlob {
        /// Which.
        id: BlobId,
    },
    /// A blob is not what it was.
    #[error("the blob {id} is damaged: {flaw}")]
    BlobDamaged {
        /// Which.
        id: BlobId,
        /// How.
        flaw: BlobFlaw,
    },
    /// More than the journal takes in one piece.
    #[error("{what} has {bytes} bytes, but at most {bytes_max} are taken: put it in a blob")]
    TooLarge {
        /// What.
        what: &'static str,
        /// How large.
        bytes: u64,
        /// The limit.
        bytes_max: u64,
    },
    /// No room.
    #[error("the disk that holds {path:?} is full: make room there and resume; nothing was lost")]
    Full {
        /// What was written.
        path: PathBuf,
    },
    /// No writing.
    #[error("{path:?} cannot be written: it is read-only here")]
    ReadOnly {
        /// What was to be written.
        path: PathBuf,
    },
    /// Another process is writing.
    #[error("the journal {file:?} is being written by another process")]
    Busy {
        /// Which file.
        file: PathBuf,
    },
    /// A write failed before: what is on the disk is not known for certain any more.
    #[error(
        "the journal {file:?} takes no more events, because an earlier write failed ({cause}): \
         see to the disk and resume"
    )]
    Poisoned {
        /// Which file.
        file: PathBuf,
        /// What failed.
        cause: String,
    },
    /// The system failed.
    #[error("cannot {doing} {path:?}: {source}")]
    Io {
        /// Where.
        path: PathBuf,
        /// What was to be done.
        doing: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// The database failed, in a way that is none of the above.
    #[error("cannot {doing} the journal {file:?}: {source}")]
    Database {
        /// Which file.
        file: PathBuf,
        /// What was to be done.
        doing: &'static str,
        /// Why not.
        source: rusqlite::Error,
    },
}

/// What is wrong with an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChainFlaw {
    /// It is not there, but later ones or the run's own count say it should be.
    #[error("is missing")]
    Missing,
    /// Its bytes, its number or what came before it is not what was written.
    #[error("does not match its hash")]
    Mismatch,
    /// It is not the event that the run ends with.
    #[error("is not the one that the run ends with")]
    WrongEnd,
    /// There are more events than the run has.
    #[error("is beyond the end of the run")]
    Beyond,
}

/// What is wrong with a blob.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlobFlaw {
    /// Its file is gone.
    #[error("its file {0:?} is not there")]
    Missing(PathBuf),
    /// It cannot be unpacked.
    #[error("it cannot be unpacked")]
    Packed,
    /// It has another length.
    #[error("it is not as long as it was")]
    Length,
    /// It has another content.
    #[error("its content does not match its name")]
    Mismatch,
}

impl Error {
    /// Makes an error of the system's: `map_err(Error::io(path, "create"))`.
    pub(crate) fn io(path: &Path, doing: &'static str) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        move |source| match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Error::Full { path },
            io::ErrorKind::ReadOnlyFilesystem => Error::ReadOnly { path },
            _ => Error::Io { path, doing, source },
        }
    }

    /// Makes an error of the database's: `map_err(Error::database(file, "read"))`.
    pub(crate) fn database(
        file: &Path,
        doing: &'static str,
    ) -> impl FnOnce(rusqlite::Error) -> Error {
        let file = file.to_owned();
        move |source| classify(file, doing, source)
    }

    /// Whether the journal itself is not what it was: then it can be set aside, and nothing else helps.
    pub fn is_damage(&self) -> bool {
        matches!(
            self,
            Error::NotAJournal { .. }
                | Error::Damaged { .. }
                | Error::Lost { .. }
                | Error::Broken { .. }
        )
    }

    /// Whether the storage failed under a write, so that what is on the disk is uncertain.
    pub(crate) fn spoils_writes(&self) -> bool {
        matches!(
            self,
            Error::Full { .. }
                | Error::ReadOnly { .. }
                | Error::Io { .. }
                | Error::Damaged { .. }
                | Error::NotAJournal { .. }
        )
    }
}

fn classify(file: PathBuf, doing: &'static str, source: rusqlite::Error) -> Error {
    let Some(failure) = source.sqlite_error() else {
        // A row whose values are not of their types was not written by us.
        return match source {
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::Utf8Error(..) => {
                Error::Damaged { file, what: format!("a row cannot be read ({source})") }
            }
            _ => Error::Database { file, doing, source },
        };
    };
    match (failure.code, failure.extended_code) {
        (ErrorCode::DiskFull, _) => Error::Full { path: file },
        // The index of the write-ahead log could not be made larger: that is how a full disk
        // looks while a database is being opened.
        (_, ffi::SQLITE_IOERR_SHMSIZE) if is_full(&file) => Error::Full { path: file },
        (_, ffi::SQLITE_READONLY_DBMOVED) => {
            Error::Damaged { file, what: "it was moved or removed while it was open".to_owned() }
        }
        (ErrorCode::ReadOnly, _) => Error::ReadOnly { path: file },
        (ErrorCode::CannotOpen, _) if is_read_only(&file) => Error::ReadOnly { path: file },
        (ErrorCode::NotADatabase, _) => {
            Error::NotAJournal { file, what: "it is not an SQLite database".to_owned() }
        }
        (ErrorCode::DatabaseCorrupt, _) | (_, ffi::SQLITE_IOERR_CORRUPTFS) => {
            Error::Damaged { file, what: source.to_string() }
        }
        (ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked, _) => Error::Busy { file },
        (ErrorCode::SystemIoFailure | ErrorCode::CannotOpen, _) => {
            Error::Io { path: file, doing, source: io::Error::other(source) }
        }
        _ => Error::Database { file, doing, source },
    }
}

fn is_full(file: &Path) -> bool {
    rustix::fs::statvfs(file).is_ok_and(|disk| disk.f_bavail == 0)
}

pub(crate) fn is_read_only(file: &Path) -> bool {
    let dir = file.parent().unwrap_or(file);
    let read_only = rustix::fs::StatVfsMountFlags::RDONLY;
    rustix::fs::statvfs(dir).is_ok_and(|disk| disk.f_flag.contains(read_only))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(code: i32) -> Error {
        let source = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
        Error::database(Path::new("/s/journal.db"), "append to")(source)
    }

    #[test]
    fn what_the_database_says_is_told_apart() {
        assert!(matches!(failed(ffi::SQLITE_FULL), Error::Full { .. }));
        assert!(matches!(failed(ffi::SQLITE_READONLY), Error::ReadOnly { .. }));
        assert!(matches!(failed(ffi::SQLITE_NOTADB), Error::NotAJournal { .. }));
        assert!(matches!(failed(ffi::SQLITE_CORRUPT), Error::Damaged { .. }));
        assert!(matches!(failed(ffi::SQLITE_CORRUPT_INDEX), Error::Damaged { .. }));
        assert!(matches!(failed(ffi::SQLITE_READONLY_DBMOVED), Error::Damaged { .. }));
        assert!(matches!(failed(ffi::SQLITE_BUSY), Error::Busy { .. }));
        assert!(matches!(failed(ffi::SQLITE_IOERR_FSYNC), Error::Io { .. }));
        assert!(matches!(failed(ffi::SQLITE_CONSTRAINT), Error::Database { .. }));
    }

    #[test]
    fn the_disk_is_blamed_only_if_it_is_full_or_read_only() {
        let temp = tempfile::tempdir().unwrap();
        for code in [ffi::SQLITE_IOERR_SHMSIZE, ffi::SQLITE_CANTOPEN] {
            let source = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            let error = Error::database(temp.path(), "open")(source);
            assert!(matches!(error, Error::Io { .. }), "{error:?}");
        }
    }

    #[test]
    fn damage_is_what_setting_the_journal_aside_helps_against() {
        let (file, run): (PathBuf, RunId) = ("/s/journal.db".into(), "r".parse().unwrap());
        let lost = Error::Lost {
            file: file.clone(),
            run: run.to_string(),
            acknowledged: 2,
            found: "but is not there at all".to_owned(),
        };
        let broken = Error::Broken { file, run, seq: 0, flaw: ChainFlaw::Missing };
        for error in [failed(ffi::SQLITE_NOTADB), failed(ffi::SQLITE_CORRUPT), lost, broken] {
            assert!(error.is_damage(), "{error}");
        }
        for code in [ffi::SQLITE_FULL, ffi::SQLITE_READONLY, ffi::SQLITE_BUSY, ffi::SQLITE_IOERR] {
            assert!(!failed(code).is_damage(), "{}", failed(code));
        }
    }

    #[test]
    fn what_the_system_says_is_told_apart() {
        let error = |kind: io::ErrorKind| Error::io(Path::new("/s/x"), "write")(kind.into());
        assert!(matches!(error(io::ErrorKind::StorageFull), Error::Full { .. }));
        assert!(matches!(error(io::ErrorKind::QuotaExceeded), Error::Full { .. }));
        assert!(matches!(error(io::ErrorKind::ReadOnlyFilesystem), Error::ReadOnly { .. }));
        let denied = error(io::ErrorKind::PermissionDenied);
        assert_eq!(denied.to_string(), "cannot write \"/s/x\": permission denied");
    }
}
