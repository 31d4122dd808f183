//! The lock on a person's index, taken the way git takes it.
//!
//! While we hold `index.lock` no other git changes the index or, with it, the files of that
//! checkout; and while another git holds it we wait, for a limited time and without ever breaking
//! it. The file says whose it is, so that after a crash ours is told from anybody else's.

use std::{
    fs,
    io::{self, ErrorKind},
    mem::MaybeUninit,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::inotify,
};

use crate::{
    durable,
    error::{Doing, RepoError},
    failpoint,
};

/// A lock that is held.
#[derive(Debug)]
pub(crate) struct IndexLock {
    path: PathBuf,
}

fn content(token: &str) -> String {
    format!("held by Windlass: {token}\n")
}

impl IndexLock {
    /// Takes the lock of an index, waiting for whoever has it.
    pub fn take(git_dir: &Path, token: &str, wait_ms: u64) -> Result<IndexLock, RepoError> {
        let path = git_dir.join("index.lock");
        // Linked into place with its content: there is no moment at which it says nothing.
        let ticket = git_dir.join(format!("windlass-{token}"));
        fs::write(&ticket, content(token)).doing("written", &ticket)?;
        let taken = failpoint::around("lock.link", || wait_for(&path, &ticket, wait_ms));
        durable::remove(&ticket)?;
        match taken {
            Ok(true) => Ok(IndexLock { path }),
            Ok(false) => Err(RepoError::Locked { path, waited_ms: wait_ms }),
            Err(error) => Err(error).doing("locked", &path),
        }
    }

    /// Removes a lock, and the ticket for it, that a crash of ours left behind.
    pub fn forget(git_dir: &Path, token: &str) -> Result<(), RepoError> {
        durable::remove(&git_dir.join(format!("windlass-{token}")))?;
        let path = git_dir.join("index.lock");
        match durable::read(&path)? {
            Some(bytes) if bytes == content(token).as_bytes() => durable::remove(&path),
            _ => Ok(()),
        }
    }

    pub fn release(self) -> Result<(), RepoError> {
        durable::remove(&self.path)
    }
}

/// Links the ticket into the lock's place, once that is free. Says no when the time is over.
fn wait_for(path: &Path, ticket: &Path, wait_ms: u64) -> io::Result<bool> {
    if link(ticket, path)? {
        return Ok(true);
    }
    // From here on nothing that happens to the lock goes unnoticed.
    let watch = inotify::init(inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK)?;
    let gone = inotify::WatchFlags::DELETE | inotify::WatchFlags::MOVED_FROM;
    inotify::add_watch(&watch, path.parent().unwrap_or(Path::new("/")), gone)?;
    let until = Instant::now() + Duration::from_millis(wait_ms);
    loop {
        if link(ticket, path)? {
            return Ok(true);
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(false);
        }
        let left = Timespec::try_from(left).map_err(io::Error::other)?;
        match poll(&mut [PollFd::new(&watch, PollFlags::IN)], Some(&left)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut events = inotify::Reader::new(&watch, &mut buffer);
        while events.next().is_ok() {}
    }
}

fn link(ticket: &Path, path: &Path) -> io::Result<bool> {
    match fs::hard_link(ticket, path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn a_lock_of_another_is_waited_for_and_never_broken() {
        let dir = tempfile::tempdir().unwrap();
        let other = dir.path().join("index.lock");
        fs::write(&other, "").unwrap();
        let error = IndexLock::take(dir.path(), "t", 30).unwrap_err();
        assert!(matches!(error, RepoError::Locked { waited_ms: 30, .. }), "{error}");
        IndexLock::forget(dir.path(), "t").unwrap();
        assert_eq!(fs::read(&other).unwrap(), b"");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_lock_is_taken_as_soon_as_it_is_free() {
        let dir = tempfile::tempdir().unwrap();
        let first = IndexLock::take(dir.path(), "first", 0).unwrap();
        let begun = Instant::now();
        let second = thread::scope(|scope| {
            let waiting = scope.spawn(|| IndexLock::take(dir.path(), "second", 60_000));
            first.release().unwrap();
            waiting.join().unwrap()
        });
        assert!(begun.elapsed() < Duration::from_secs(30));
        second.unwrap().release().unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn only_a_lock_of_ours_is_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let lock = IndexLock::take(dir.path(), "mine", 0).unwrap();
        IndexLock::forget(dir.path(), "other").unwrap();
        assert!(lock.path.exists());
        IndexLock::forget(dir.path(), "mine").unwrap();
        assert!(!lock.path.exists());
    }
}
