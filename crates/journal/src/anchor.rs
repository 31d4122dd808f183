//! The last acknowledged event, noted beside the database.
//!
//! A write-ahead log cannot tell a torn commit from one that was durable and has been damaged
//! since: it ends at the first frame that does not check out, without a word. A removed log or an
//! old copy of the database look just as sound. So after each commit we write one line to a file
//! of its own: which run, how many events, which hash. It is not synced, and need not be: it is
//! written only after the commit is durable, so it may be behind the database but never ahead. If
//! it is ahead, events are lost.

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::{FileExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use rusqlite::Connection;

use crate::{
    chain::Hash,
    error::Error,
    read,
    run::{self, Head, RunId},
};

/// What the file is called that holds the line.
pub(crate) const NAME: &str = "journal.head";

/// What was acknowledged last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Acknowledged {
    run: RunId,
    head: Head,
}

impl Acknowledged {
    /// What the line says. A line that does not check out says nothing: it is only a second
    /// witness, and the first can speak for itself.
    pub(crate) fn read(dir: &Path) -> Result<Option<Acknowledged>, Error> {
        let path = dir.join(NAME);
        match fs::read(&path) {
            Ok(bytes) => Ok(parse(&bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io(&path, "read")(error)),
        }
    }

    /// Whether the database has all that was acknowledged.
    pub(crate) fn confirm(&self, conn: &Connection, file: &Path) -> Result<(), Error> {
        let Some(standing) = run::look_up(conn, file, &self.run)? else {
            return Err(self.lost(file, "but is not there at all"));
        };
        let (number, found) = (standing.number, standing.info.head);
        if found.events < self.head.events {
            return Err(self.lost(file, &format!("but ends after {}", found.events)));
        }
        let at = match self.head.events.checked_sub(1) {
            None => Some(standing.birth()),
            Some(last) => read::hash_at(conn, file, number, last)?,
        };
        if at == Some(self.head.hash) {
            Ok(())
        } else {
            Err(self.lost(file, "but with other events"))
        }
    }

    pub(crate) fn lost(&self, file: &Path, found: &str) -> Error {
        Error::Lost {
            file: file.to_owned(),
            run: self.run.to_string(),
            acknowledged: self.head.events,
            found: found.to_owned(),
        }
    }
}

/// Where the line is written.
#[derive(Debug)]
pub(crate) struct Anchor(File);

impl Anchor {
    pub(crate) fn open(dir: &Path) -> Result<Anchor, Error> {
        let path: PathBuf = dir.join(NAME);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        options.open(&path).map(Anchor).map_err(Error::io(&path, "open"))
    }

    /// Notes what is durable now. A failure is no failure of the commit: the line stays behind,
    /// which it may.
    pub(crate) fn note(&self, run: &RunId, head: Head) {
        let _ = self.0.write_all_at(&line(run, head), 0);
    }
}

fn line(run: &RunId, head: Head) -> Vec<u8> {
    let says = format!("{run} {} {}", head.events, head.hash);
    format!("{says} {}\n", Hash::of(says.as_bytes())).into_bytes()
}

/// The first line counts: what a longer one left behind it does not.
fn parse(bytes: &[u8]) -> Option<Acknowledged> {
    let end = bytes.iter().position(|&byte| byte == b'\n')?;
    let text = str::from_utf8(&bytes[..end]).ok()?;
    let (says, check) = text.rsplit_once(' ')?;
    if check.parse() != Ok(Hash::of(says.as_bytes())) {
        return None;
    }
    let mut words = says.split(' ');
    let run = words.next()?.parse().ok()?;
    let head = Head { events: words.next()?.parse().ok()?, hash: words.next()?.parse().ok()? };
    Some(Acknowledged { run, head })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_back_or_says_nothing() {
        let (long, short): (RunId, RunId) = ("a-long-name".parse().unwrap(), "b".parse().unwrap());
        let head = Head { events: 12, hash: Hash::of(b"x") };
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Acknowledged::read(dir.path()).unwrap(), None);
        let anchor = Anchor::open(dir.path()).unwrap();
        anchor.note(&long, head);
        anchor.note(&short, head);
        let said = Acknowledged { run: short.clone(), head };
        assert_eq!(Acknowledged::read(dir.path()).unwrap(), Some(said.clone()));

        let good = line(&short, head);
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1;
            assert!(parse(&bad).is_none_or(|found| found == said), "byte {at}");
            assert_eq!(parse(&good[..at]), None);
        }
    }

    #[test]
    fn a_line_that_cannot_be_read_is_not_taken_for_none() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(NAME)).unwrap();
        let error = Acknowledged::read(dir.path()).unwrap_err();
        assert!(error.to_string().contains(NAME), "{error}");
    }
}
