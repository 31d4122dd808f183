//! Refs of our own stores: files that hold a name, and nothing else. None of them is ever packed, none has a log, and none but
//! this process moves them, so they are read and moved without git, in git's own way: by way of a lock beside them.

use std::{
    fs::{self, File},
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
};

use crate::{
    durable,
    error::{Doing, RepoError},
    failpoint,
    git::{Git, Place},
    oid::Oid,
};

/// When a ref that was moved has to be on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sync {
    /// Before anything else is done: with it what it points to counts.
    AtOnce,
    /// Its bytes are handed to the disk; what it says can be found out again.
    Later,
}

/// The refs of a store of ours.
pub(crate) struct OwnRefs<'r> {
    pub git: &'r Git,
    pub git_dir: PathBuf,
}

impl OwnRefs<'_> {
    /// Where a ref points.
    pub fn at(&self, name: &str) -> Result<Option<Oid>, RepoError> {
        let path = self.git_dir.join(name);
        match durable::read(&path) {
            Ok(Some(bytes)) => Ok(Some(Oid::printed(&bytes)?)),
            Ok(None) => Ok(None),
            // A directory of that name is what refs below it have left behind.
            Err(_) if path.is_dir() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Moves a ref, if it is still where it was thought to be.
    pub fn swap(
        &self,
        step: &'static str,
        name: &str,
        (to, from): (&Oid, Option<&Oid>),
    ) -> Result<(), RepoError> {
        let path = self.git_dir.join(name);
        if self.at(name)?.as_ref() == from {
            match failpoint::around(step, || write(&path, to, Sync::AtOnce)) {
                Ok(()) => return Ok(()),
                // A lock, or something else under that name: git says what is in the way, or clears it away.
                Err(error) if is_in_the_way(&error) => {}
                Err(error) => return Err(error).doing("written", &path),
            }
        }
        let place = Place::bare(&self.git_dir).flushing();
        let none = to.zero_like();
        let from = from.map_or(none.as_str(), Oid::as_str);
        let call = self.git.call(step, &place);
        call.args(["update-ref", "--no-deref", name, to.as_str(), from]).ok()?;
        Ok(())
    }

    /// Has a ref point somewhere, wherever it was.
    pub fn set(&self, name: &str, to: &Oid) -> Result<(), RepoError> {
        let path = self.git_dir.join(name);
        write(&path, to, Sync::Later).doing("written", &path)
    }

    /// Takes a ref away, if it is there.
    pub fn remove(&self, name: &str) -> Result<(), RepoError> {
        durable::remove(&self.git_dir.join(name))
    }
}

fn is_in_the_way(error: &io::Error) -> bool {
    use ErrorKind::{AlreadyExists, DirectoryNotEmpty, IsADirectory, NotADirectory};
    matches!(error.kind(), AlreadyExists | DirectoryNotEmpty | IsADirectory | NotADirectory)
}

fn write(path: &Path, to: &Oid, sync: Sync) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    let mut lock = path.as_os_str().to_owned();
    lock.push(".lock");
    let lock = PathBuf::from(lock);
    let mut file = File::create_new(&lock)?;
    let written = file.write_all(format!("{to}\n").as_bytes()).and_then(|()| match sync {
        Sync::AtOnce => file.sync_all(),
        Sync::Later => file.sync_data(),
    });
    let moved = written.and_then(|()| fs::rename(&lock, path));
    if moved.is_err() {
        // Whatever went wrong, it is our own lock.
        let _ = fs::remove_file(&lock);
    }
    moved
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{git::Host, std_run::StdRun};

    fn oid(digit: char) -> Oid {
        Oid::parse(&digit.to_string().repeat(40)).unwrap()
    }

    #[test]
    fn a_ref_is_moved_from_where_it_was_thought_to_be_and_from_nowhere_else() {
        let dir = tempfile::tempdir().unwrap();
        let mut init = std::process::Command::new("git");
        assert!(init.args(["init", "-q", "--bare"]).arg(dir.path()).status().unwrap().success());
        let git = Git::find(Arc::new(StdRun), Host::of_this_process()).unwrap();
        let refs = OwnRefs { git: &git, git_dir: dir.path().into() };
        let (name, lock) = ("refs/windlass/a/head", dir.path().join("refs/windlass/a/head.lock"));
        refs.swap("test", name, (&oid('1'), None)).unwrap();
        assert_eq!(refs.at(name).unwrap(), Some(oid('1')));
        assert!(refs.swap("test", name, (&oid('3'), Some(&oid('2')))).is_err());
        assert!(refs.swap("test", name, (&oid('3'), None)).is_err());
        assert_eq!(refs.at(name).unwrap(), Some(oid('1')));
        // Who holds the lock is not pushed aside.
        fs::write(&lock, "").unwrap();
        assert!(refs.swap("test", name, (&oid('2'), Some(&oid('1')))).is_err());
        assert!(lock.exists());
        fs::remove_file(&lock).unwrap();
        refs.swap("test", name, (&oid('1'), Some(&oid('1')))).unwrap();
        assert!(!lock.exists());
    }
}
