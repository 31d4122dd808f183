//! The journal of a repository: one database, one connection, one writer.
//!
//! Opening looks before it touches. A file that is newer is only read; one that is damaged, that
//! belongs to another repository or that has lost events is refused as it is, its write-ahead log
//! left in place. After a write has failed nobody can say what is on the disk, so that connection
//! takes no more writes at all.

use std::{
    fs::OpenOptions,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use rusqlite::{Connection, OpenFlags, TransactionBehavior, config::DbConfig};

use crate::{
    anchor::{Acknowledged, Anchor},
    blob,
    connection::{
        begin, check_library, check_repository, connect, connect_to_read, make_durable, raise,
    },
    error::Error,
    failpoint,
    lock::Lock,
    place::Repository,
    read::Entries,
    run::{self, Head, RunId, RunInfo},
    schema::{FORMATS, Formats, Found},
};

/// What the database is called in a repository's directory.
pub const DATABASE: &str = "journal.db";

/// What may be done with an open journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Everything.
    Write,
    /// Reading.
    Read,
    /// Reading: a newer Windlass wrote it, in this format.
    Newer(u32),
}

/// An open journal. It can be shared between threads; writes happen one after another.
#[derive(Debug)]
pub struct Journal {
    dir: PathBuf,
    file: PathBuf,
    access: Access,
    desk: Mutex<Desk>,
}

#[derive(Debug)]
struct Desk {
    conn: Connection,
    anchor: Option<Anchor>,
    poison: Option<Poison>,
}

#[derive(Debug)]
struct Poison {
    cause: String,
    /// A full disk refused the write before it was made: once there is room, a new connection
    /// starts from what is there. After a failed sync it would not know what is there.
    curable: bool,
}

impl Journal {
    /// Opens the journal in the lock's directory for writing, made if it is not there. A newer one
    /// is opened for reading only: see [`Journal::access`].
    ///
    /// # Errors
    ///
    /// When the file is damaged, has lost events, belongs to another repository, or cannot be
    /// written. It is left as it is.
    pub fn open(lock: &Lock, repository: &Repository) -> Result<Journal, Error> {
        Journal::open_as(&FORMATS, lock.dir(), repository)
    }

    pub(crate) fn open_as(
        formats: &Formats,
        dir: &Path,
        repository: &Repository,
    ) -> Result<Journal, Error> {
        check_library(rusqlite::version_number())?;
        let file = dir.join(DATABASE);
        let acknowledged = Acknowledged::read(dir)?;
        if !file.exists() {
            if let Some(acknowledged) = acknowledged {
                return Err(acknowledged.lost(&file, "but the file is not there"));
            }
            let mut options = OpenOptions::new();
            // Ours alone, and so will be the log beside it.
            options.write(true).create_new(true).mode(0o600);
            options.open(&file).map_err(Error::io(&file, "create"))?;
        }
        let mut conn = connect(&file, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        match (formats.look(&conn, &file)?, acknowledged) {
            (Found::Format(found), _) if found > formats.newest() => {
                drop(conn);
                let conn = connect(&file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
                check_repository(&conn, &file, repository)?;
                return Ok(Journal::with(dir, file, Access::Newer(found), conn, None));
            }
            (Found::Fresh, Some(acknowledged)) => {
                return Err(acknowledged.lost(&file, "but the file is empty"));
            }
            (Found::Fresh, None) => begin(formats, &mut conn, &file, repository)?,
            (Found::Format(found), acknowledged) => {
                check_repository(&conn, &file, repository)?;
                let sound = |conn: &Connection| {
                    formats.check_tables(conn, &file)?;
                    acknowledged.map_or(Ok(()), |known| known.confirm(conn, &file))
                };
                if found < formats.newest() {
                    raise(formats, &mut conn, &file, found, sound)?;
                } else {
                    sound(&conn)?;
                }
                make_durable(&conn, &file)?;
            }
        }
        blob::sweep(dir)?;
        let anchor = Anchor::open(dir)?;
        Ok(Journal::with(dir, file, Access::Write, conn, Some(anchor)))
    }

    /// Opens the journal in a repository's directory for reading, while another process may be
    /// writing it.
    ///
    /// # Errors
    ///
    /// When there is none, or it is damaged, has lost events, or belongs to another repository.
    pub fn open_read_only(dir: &Path, repository: &Repository) -> Result<Journal, Error> {
        // Before the database: the line may be behind it, never ahead.
        let acknowledged = Acknowledged::read(dir)?;
        let file = dir.join(DATABASE);
        if let (false, Some(acknowledged)) = (file.exists(), &acknowledged) {
            return Err(acknowledged.lost(&file, "but the file is not there"));
        }
        let journal = Journal::inspect(&file).map_err(|error| match (error, &acknowledged) {
            (Error::Missing { file }, Some(known)) => known.lost(&file, "but the file is empty"),
            (error, _) => error,
        })?;
        let newer = matches!(journal.access, Access::Newer(_));
        journal.reading(|conn| {
            check_repository(conn, &file, repository)?;
            match acknowledged {
                Some(acknowledged) if !newer => acknowledged.confirm(conn, &file),
                _ => Ok(()),
            }
        })?;
        Ok(journal)
    }

    /// Opens any journal for reading by the path of its database, whosever it is and whatever it
    /// has lost: for one that was set aside, and for what is still readable of a damaged one.
    ///
    /// # Errors
    ///
    /// When not even its first page can be read.
    pub fn inspect(file: &Path) -> Result<Journal, Error> {
        Journal::inspect_as(&FORMATS, file)
    }

    fn inspect_as(formats: &Formats, file: &Path) -> Result<Journal, Error> {
        check_library(rusqlite::version_number())?;
        if !file.exists() {
            return Err(Error::Missing { file: file.to_owned() });
        }
        let conn = connect_to_read(file)?;
        let access = match formats.look(&conn, file)? {
            Found::Fresh => return Err(Error::Missing { file: file.to_owned() }),
            Found::Format(found) if found > formats.newest() => Access::Newer(found),
            Found::Format(found) if found < formats.newest() => {
                let known = formats.newest();
                return Err(Error::Older { file: file.to_owned(), found, known });
            }
            Found::Format(_) => {
                formats.check_tables(&conn, file)?;
                Access::Read
            }
        };
        let dir = file.parent().unwrap_or(Path::new("."));
        Ok(Journal::with(dir, file.to_owned(), access, conn, None))
    }

    fn with(
        dir: &Path,
        file: PathBuf,
        access: Access,
        conn: Connection,
        anchor: Option<Anchor>,
    ) -> Journal {
        let desk = Mutex::new(Desk { conn, anchor, poison: None });
        Journal { dir: dir.to_owned(), file, access, desk }
    }

    /// What may be done with it.
    pub fn access(&self) -> Access {
        self.access
    }

    /// The repository's directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// Starts over after [`Error::Full`], once there is room. Compare the heads with what you
    /// know: the write that failed did not happen.
    ///
    /// # Errors
    ///
    /// [`Error::Poisoned`] when it was not a full disk that failed: only a new process, after the
    /// disk was seen to, may write again. Otherwise as [`Journal::open`].
    pub fn reopen(&self) -> Result<(), Error> {
        let mut desk = self.desk();
        match &desk.poison {
            None => return Ok(()),
            Some(poison) if !poison.curable => return Err(self.poisoned(poison)),
            Some(_) => {}
        }
        let acknowledged = Acknowledged::read(&self.dir)?;
        let conn = connect(&self.file, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        if let Some(acknowledged) = acknowledged {
            acknowledged.confirm(&conn, &self.file)?;
        }
        make_durable(&conn, &self.file)?;
        desk.conn = conn;
        desk.poison = None;
        Ok(())
    }

    /// How far a run goes.
    ///
    /// # Errors
    ///
    /// When there is no such run, or its row is damaged.
    pub fn head(&self, run: &RunId) -> Result<Head, Error> {
        self.reading(|conn| Ok(run::find(conn, &self.file, run)?.info.head))
    }

    /// What is known of a run without reading its events.
    ///
    /// # Errors
    ///
    /// As [`Journal::head`].
    pub fn run(&self, run: &RunId) -> Result<RunInfo, Error> {
        self.reading(|conn| Ok(run::find(conn, &self.file, run)?.info))
    }

    /// All runs, the oldest first.
    ///
    /// # Errors
    ///
    /// When a row is damaged.
    pub fn runs(&self) -> Result<Vec<RunInfo>, Error> {
        let runs = self.reading(|conn| run::all(conn, &self.file))?;
        Ok(runs.into_iter().map(|standing| standing.info).collect())
    }

    /// The events of a run from number `from` on, each verified before it is handed out.
    ///
    /// # Errors
    ///
    /// When there is no such run, or it has fewer than `from` events. Each item can be an error
    /// too: then the chain is broken there, and nothing follows.
    pub fn read(&self, run: &RunId, from: u64) -> Result<Entries<'_>, Error> {
        self.reading(|conn| {
            let standing = run::find(conn, &self.file, run)?;
            Entries::new(self, conn, &standing, from)
        })
    }

    pub(crate) fn reading<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Error>,
    ) -> Result<T, Error> {
        work(&self.desk().conn).map_err(|error| match (self.access, error) {
            // Its tables may have changed in any way.
            (Access::Newer(_), Error::Database { .. } | Error::Damaged { .. }) => self.newer(),
            (_, error) => error,
        })
    }

    pub(crate) fn writable(&self) -> Result<(), Error> {
        match self.access {
            Access::Write => Ok(()),
            Access::Read => Err(Error::ReadOnly { path: self.file.clone() }),
            Access::Newer(_) => Err(self.newer()),
        }
    }

    /// Does `work` in a transaction of its own and makes it durable; `last` says which run and
    /// head in the result stand for all of it.
    pub(crate) fn writing<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Error>,
        last: impl for<'t> FnOnce(&'t T) -> Option<(&'t RunId, &'t Head)>,
    ) -> Result<T, Error> {
        self.writable()?;
        let mut desk = self.desk();
        if let Some(poison) = &desk.poison {
            return Err(self.poisoned(poison));
        }
        let done = self.transact(&mut desk.conn, work).map_err(|(error, spoilt)| {
            // A transaction that could not even be rolled back is nothing to build on.
            if spoilt || error.spoils_writes() || !desk.conn.is_autocommit() {
                let curable = matches!(error, Error::Full { .. });
                desk.poison = Some(Poison { cause: error.to_string(), curable });
            }
            error
        })?;
        if let (Some(anchor), Some((run, head))) = (&desk.anchor, last(&done)) {
            anchor.note(run, *head);
        }
        Ok(done)
    }

    /// An error comes with whether it was the commit that failed.
    fn transact<T>(
        &self,
        conn: &mut Connection,
        work: impl FnOnce(&Connection) -> Result<T, Error>,
    ) -> Result<T, (Error, bool)> {
        let failed = |error| Error::database(&self.file, "append to")(error);
        let tx = conn
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|error| (failed(error), false))?;
        let done = work(&tx).map_err(|error| (error, false))?;
        failpoint::pass(failpoint::BEFORE_COMMIT);
        tx.commit().map_err(|error| (failed(error), true))?;
        failpoint::pass(failpoint::AFTER_COMMIT);
        Ok(done)
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        // A thread that panicked in the middle has rolled back while it unwound.
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn poisoned(&self, poison: &Poison) -> Error {
        Error::Poisoned { file: self.file.clone(), cause: poison.cause.clone() }
    }

    fn newer(&self) -> Error {
        let found = match self.access {
            Access::Newer(found) => found,
            Access::Write | Access::Read => FORMATS.newest(),
        };
        Error::Newer { file: self.file.clone(), found, known: FORMATS.newest() }
    }
}

impl Drop for Journal {
    /// Leaves one tidy file behind; but not after a failure, when the log is what there is.
    fn drop(&mut self) {
        let desk = self.desk.get_mut().unwrap_or_else(PoisonError::into_inner);
        if self.access == Access::Write && desk.poison.is_none() {
            let _ = desk.conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::next::NEXT;

    struct Scene {
        temp: tempfile::TempDir,
        repository: Repository,
        run: RunId,
    }

    impl Scene {
        /// A journal in our format with a run of three events.
        fn new() -> Scene {
            let temp = tempfile::tempdir().unwrap();
            let scene = Scene {
                temp,
                repository: Repository::known_at("/r/.git"),
                run: "r".parse().unwrap(),
            };
            let journal = scene.open(&FORMATS).unwrap();
            journal.create_run(&scene.run, b"", 1).unwrap();
            journal.append(&scene.run, 0, &["one", "two", "three"], 2).unwrap();
            scene
        }

        fn open(&self, formats: &Formats) -> Result<Journal, Error> {
            Journal::open_as(formats, self.temp.path(), &self.repository)
        }
    }

    fn events(journal: &Journal, run: &RunId) -> Vec<String> {
        let entries = journal.read(run, 0).unwrap();
        entries.map(|entry| String::from_utf8(entry.unwrap().bytes).unwrap()).collect()
    }

    #[test]
    fn an_older_journal_is_upgraded_with_all_that_is_in_it() {
        let scene = Scene::new();
        let journal = scene.open(&NEXT).unwrap();
        assert_eq!(journal.access(), Access::Write);
        assert_eq!(events(&journal, &scene.run), ["one", "two", "three"]);
        journal.append(&scene.run, 3, &["four"], 3).unwrap();
    }

    #[test]
    fn a_newer_journal_can_be_read_but_not_written() {
        let scene = Scene::new();
        drop(scene.open(&NEXT).unwrap());
        let file = scene.temp.path().join(DATABASE);
        let before = std::fs::read(&file).unwrap();
        let read_only = Journal::open_read_only(scene.temp.path(), &scene.repository).unwrap();
        for journal in [scene.open(&FORMATS).unwrap(), read_only] {
            assert_eq!(journal.access(), Access::Newer(2));
            assert_eq!(events(&journal, &scene.run), ["one", "two", "three"]);
            let refused = [
                journal.append(&scene.run, 3, &["four"], 3).map(drop),
                journal.create_run(&"s".parse().unwrap(), b"", 3).map(drop),
                journal.put(b"blob").map(drop),
                journal.put(&vec![0; 1 << 20]).map(drop),
                journal.put_snapshot(
                    &scene.run,
                    0,
                    journal.head(&scene.run).unwrap().hash,
                    "f",
                    b"",
                ),
            ];
            for refusal in refused {
                assert!(
                    matches!(refusal, Err(Error::Newer { found: 2, known: 1, .. })),
                    "{refusal:?}"
                );
            }
        }
        assert_eq!(std::fs::read(&file).unwrap(), before);
        assert!(!scene.temp.path().join("blobs").exists());
    }

    #[test]
    fn tables_of_a_newer_journal_that_we_do_not_know_are_no_damage() {
        let scene = Scene::new();
        drop(scene.open(&NEXT).unwrap());
        let conn = Connection::open(scene.temp.path().join(DATABASE)).unwrap();
        conn.execute_batch("ALTER TABLE events RENAME TO happenings").unwrap();
        drop(conn);
        let read_only = Journal::open_read_only(scene.temp.path(), &scene.repository).unwrap();
        for journal in [scene.open(&FORMATS).unwrap(), read_only] {
            let mut entries = journal.read(&scene.run, 0).unwrap();
            assert!(matches!(entries.next(), Some(Err(Error::Newer { .. }))));
        }
    }

    #[test]
    fn what_a_writer_left_half_done_is_rolled_back_by_whoever_reads() {
        let scene = Scene::new();
        let dir = scene.temp.path();
        let file = dir.join(DATABASE);
        // As in a file that is being made: its log is switched on by a transaction of the old kind.
        let conn = Connection::open(&file).unwrap();
        conn.pragma_update(None, "journal_mode", "DELETE").unwrap();
        conn.pragma_update(None, "cache_size", 1).unwrap();
        conn.execute_batch("BEGIN IMMEDIATE; CREATE TABLE half (done BLOB);").unwrap();
        for _ in 0..50 {
            conn.execute("INSERT INTO half VALUES (zeroblob(4000))", []).unwrap();
        }
        // Killed here, there would be this.
        let left = tempfile::tempdir().unwrap();
        for entry in std::fs::read_dir(dir).unwrap().map(Result::unwrap) {
            if entry.path().is_file() {
                std::fs::copy(entry.path(), left.path().join(entry.file_name())).unwrap();
            }
        }
        assert!(left.path().join(format!("{DATABASE}-journal")).exists());
        let journal = Journal::open_read_only(left.path(), &scene.repository).unwrap();
        assert_eq!(events(&journal, &scene.run), ["one", "two", "three"]);
    }

    #[test]
    fn an_older_journal_must_be_upgraded_before_it_is_read() {
        let scene = Scene::new();
        let found = Journal::inspect_as(&NEXT, &scene.temp.path().join(DATABASE));
        assert!(matches!(found, Err(Error::Older { found: 1, known: 2, .. })), "{found:?}");
    }

    #[test]
    fn what_has_lost_events_is_not_upgraded() {
        let scene = Scene::new();
        let file = scene.temp.path().join(DATABASE);
        let old = std::fs::read(&file).unwrap();
        let journal = scene.open(&FORMATS).unwrap();
        journal.append(&scene.run, 3, &["four"], 3).unwrap();
        drop(journal);
        std::fs::write(&file, &old).unwrap();
        assert!(matches!(scene.open(&NEXT), Err(Error::Lost { acknowledged: 4, .. })));
        assert_eq!(std::fs::read(&file).unwrap(), old);
    }
}
