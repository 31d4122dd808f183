//! What to do with a journal that is damaged: read what holds, and put the file out of the way.
//!
//! Nothing is repaired. A prefix whose chain holds is exactly what was written; whatever comes
//! after the first bad place is not handed out. The file itself keeps its bytes under another
//! name, for whoever can do more with it.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use crate::{
    anchor,
    error::Error,
    journal::{DATABASE, Journal},
    lock::Lock,
    place,
    read::{Entries, Entry},
    run::RunId,
};

/// The longest beginning of a run that can be trusted.
#[derive(Debug)]
pub struct Prefix<'j> {
    entries: Entries<'j>,
    flaw: Option<Error>,
}

impl Prefix<'_> {
    /// Why it ended where it did; nothing if the run is whole. Known once it has ended.
    pub fn flaw(&self) -> Option<&Error> {
        self.flaw.as_ref()
    }
}

impl Iterator for Prefix<'_> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        match self.entries.next()? {
            Ok(entry) => Some(entry),
            Err(error) => {
                self.flaw = Some(error);
                None
            }
        }
    }
}

impl Journal {
    /// The events of a run as far as its chain holds.
    ///
    /// # Errors
    ///
    /// When not even the run's own row can be trusted.
    pub fn recover(&self, run: &RunId) -> Result<Prefix<'_>, Error> {
        Ok(Prefix { entries: self.read(run, 0)?, flaw: None })
    }
}

/// What was renamed to what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
    /// The database under its new name: [`Journal::inspect`] reads it.
    pub database: PathBuf,
    /// Every file that was renamed, old name and new.
    pub renamed: Vec<(PathBuf, PathBuf)>,
}

/// Puts a journal that cannot be used out of the way, log and all, so that the next
/// [`Journal::open`] starts a fresh one. Nothing is removed; blobs stay where they are. The journal
/// must not be open in this process.
///
/// # Errors
///
/// When a file cannot be renamed. Trying again goes on from there.
pub fn set_aside(lock: &Lock) -> Result<SetAside, Error> {
    let dir = lock.dir();
    let number = free_number(dir);
    let name = |suffix: &str| dir.join(format!("{DATABASE}{suffix}"));
    let aside = format!(".damaged-{number}");
    // The database goes after its log: without the database a fresh one could meet the old log.
    // The line beside it goes last: as long as it is there, a half-done move is noticed.
    let moves = [
        (name("-wal"), name(&format!("{aside}-wal"))),
        (name("-shm"), name(&format!("{aside}-shm"))),
        (name(""), name(&aside)),
        (dir.join(anchor::NAME), name(&format!("{aside}-head"))),
    ];
    let mut renamed = Vec::new();
    for (from, to) in moves {
        if from.exists() {
            fs::rename(&from, &to).map_err(Error::io(&from, "set aside"))?;
            place::sync_dir(dir)?;
            renamed.push((from, to));
        }
    }
    Ok(SetAside { database: name(&aside), renamed })
}

/// The first number under which nothing would be overwritten. One whose database is missing was
/// begun and not finished, and is gone on with.
fn free_number(dir: &Path) -> u32 {
    let taken = |number: u32, suffix: &str| {
        let mut name = OsString::from(format!("{DATABASE}.damaged-{number}"));
        name.push(suffix);
        dir.join(name).exists()
    };
    let here = |suffix: &str| dir.join(format!("{DATABASE}{suffix}")).exists();
    let blocked = |number| {
        taken(number, "")
            || taken(number, "-head")
            || ["-wal", "-shm"].into_iter().any(|log| here(log) && taken(number, log))
    };
    (1..u32::MAX).find(|&number| !blocked(number)).unwrap_or(u32::MAX)
}
