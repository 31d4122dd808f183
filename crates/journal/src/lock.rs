//! One Windlass for each repository.
//!
//! The lock is the kernel's (`flock`), so it goes with the process, however that ends. It belongs
//! to the open file, which is closed on exec: no agent or check that we start inherits it. Until
//! its exec is done a child shares it, and that is harmless: closing its copy does not unlock, so
//! the lock may be held a moment too long, never too short. That moment can outlive a holder that
//! is killed just then. Whoever finds the lock held by a process that is gone therefore waits for
//! the child, which cannot help getting there.
//!
//! Who holds it is written into the locked file. That takes a moment during which a loser would
//! read what the last holder left, so both happen behind a second lock, the door, which is held
//! only for as long as taking and writing, or refusing and reading, takes.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read},
    os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    process,
    sync::{Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};

use crate::{error::Error, place};

const LOCK: &str = "lock";
const DOOR: &str = "lock.door";
/// Whatever is larger was not written by us.
const HOLDER_BYTES_MAX: u64 = 64 * 1024;

/// Who holds a lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The process.
    pub pid: u32,
    /// When the process started, in the kernel's ticks since boot: a number that is used again
    /// belongs to another process.
    pub started: u64,
    /// In which PID namespace its number counts; 0 if that is not known.
    pub namespace: u64,
    /// What it runs.
    pub what: String,
    /// Since when, in milliseconds since 1970.
    pub since_ms: i64,
    /// The socket at which it can be asked, once there is one.
    pub socket: Option<String>,
}

impl Holder {
    /// This process.
    pub fn this_process(what: &str, since_ms: i64) -> Holder {
        let pid = process::id();
        Holder {
            pid,
            started: started(pid).unwrap_or(0),
            namespace: namespace(),
            what: what.to_owned(),
            since_ms,
            socket: None,
        }
    }

    /// Whether that process is certainly dead. From within another namespace nobody can tell.
    fn is_gone(&self) -> bool {
        self.namespace != 0
            && self.namespace == namespace()
            && self.started != 0
            && started(self.pid) != Some(self.started)
    }
}

fn namespace() -> u64 {
    fs::metadata("/proc/self/ns/pid").map_or(0, |namespace| namespace.ino())
}

/// When a living process started: the 22nd word of its `stat`. The second is a name in parentheses
/// that may contain anything, the third is its state; a zombie has closed its files.
fn started(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut words = stat.rsplit_once(')')?.1.split_whitespace();
    let state = words.next()?;
    if matches!(state, "Z" | "X") { None } else { words.nth(18)?.parse().ok() }
}

/// Somebody else has the lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The repository's directory.
    pub dir: PathBuf,
    /// Who, unless that cannot be read.
    pub holder: Option<Holder>,
}

/// Why a lock was not taken.
#[derive(Debug, thiserror::Error)]
pub enum TakeError {
    /// Somebody else has it.
    #[error("{}", describe(.0))]
    Held(Held),
    /// It cannot be tried.
    #[error(transparent)]
    Failed(#[from] Error),
}

fn describe(held: &Held) -> String {
    let by = match &held.holder {
        Some(Holder { pid, what, .. }) => format!("Windlass process {pid} ({what})"),
        None => "another Windlass, which has not said who it is".to_owned(),
    };
    format!("this repository is held by {by}: wait for it, or stop it ({:?})", held.dir)
}

/// The right to write a repository's journal, for as long as it lives.
#[derive(Debug)]
pub struct Lock {
    dir: PathBuf,
    file: File,
    holder: Mutex<Holder>,
}

impl Lock {
    /// Takes the lock of a repository's directory, which is made if it is not there. What a holder
    /// that died left behind is simply written over.
    ///
    /// # Errors
    ///
    /// [`TakeError::Held`] when somebody else has it.
    pub fn take(dir: &Path, holder: Holder) -> Result<Lock, TakeError> {
        place::make_private(dir)?;
        let _door = Door::pass(dir, true)?;
        let path = dir.join(LOCK);
        let file = open(&path, true)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => match read_holder(&file) {
                Some(holder) if holder.is_gone() => wait_for(&file, &path)?,
                holder => return Err(TakeError::Held(Held { dir: dir.to_owned(), holder })),
            },
            Err(TryLockError::Error(error)) => return Err(Error::io(&path, "lock")(error).into()),
        }
        write_holder(&file, &holder).map_err(Error::io(&path, "write"))?;
        Ok(Lock { dir: dir.to_owned(), file, holder: Mutex::new(holder) })
    }

    /// Who holds the lock of a directory now, if anybody does.
    ///
    /// # Errors
    ///
    /// When that cannot be found out.
    pub fn held(dir: &Path) -> Result<Option<Held>, Error> {
        let path = dir.join(LOCK);
        if !path.exists() {
            return Ok(None);
        }
        // Trying is taking, for a moment: behind the door nobody who is in earnest notices.
        let _door = Door::pass(dir, false)?;
        let file = open(&path, false)?;
        match file.try_lock_shared() {
            Ok(()) => Ok(None),
            Err(TryLockError::WouldBlock) => match read_holder(&file) {
                Some(holder) if holder.is_gone() => Ok(None),
                holder => Ok(Some(Held { dir: dir.to_owned(), holder })),
            },
            Err(TryLockError::Error(error)) => Err(Error::io(&path, "lock")(error)),
        }
    }

    /// The directory whose lock it is.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Lets everybody know where to ask.
    pub(crate) fn announce(&self, socket: Option<&Path>) -> Result<(), Error> {
        let _door = Door::pass(&self.dir, true)?;
        let mut holder = self.holder.lock().unwrap_or_else(PoisonError::into_inner);
        holder.socket = socket.map(|path| path.to_string_lossy().into_owned());
        write_holder(&self.file, &holder).map_err(Error::io(&self.dir.join(LOCK), "write"))
    }
}

impl Drop for Lock {
    /// Unlocks by name: a child that is just being started may still have the file open.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

/// Held by whoever takes, reads or writes; never for long.
struct Door(#[expect(dead_code, reason = "closing it opens the door")] File);

impl Door {
    fn pass(dir: &Path, make: bool) -> Result<Door, Error> {
        let path = dir.join(DOOR);
        let door = open(&path, make)?;
        wait_for(&door, &path)?;
        Ok(Door(door))
    }
}

/// Waits until nobody else has this file locked.
fn wait_for(file: &File, path: &Path) -> Result<(), Error> {
    loop {
        match file.lock() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result.map_err(Error::io(path, "lock")),
        }
    }
}

fn open(path: &Path, make: bool) -> Result<File, Error> {
    let mut options = OpenOptions::new();
    options.read(true).write(make).create(make).truncate(false).mode(0o600);
    options.open(path).map_err(Error::io(path, "open"))
}

fn read_holder(file: &File) -> Option<Holder> {
    let mut bytes = Vec::new();
    file.take(HOLDER_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

fn write_holder(file: &File, holder: &Holder) -> io::Result<()> {
    let mut bytes = serde_json::to_vec(holder)?;
    bytes.push(b'\n');
    file.set_len(0)?;
    file.write_all_at(&bytes, 0)
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, thread, time::Duration};

    use super::*;

    #[test]
    fn only_what_is_certainly_dead_is_gone() {
        let me = Holder::this_process("test", 0);
        assert!(me.started > 0 && me.namespace > 0);
        assert!(!me.is_gone());
        assert!(Holder { started: me.started + 1, ..me.clone() }.is_gone(), "a number used again");
        assert!(!Holder { namespace: me.namespace + 1, started: 1, ..me.clone() }.is_gone());
        assert!(!Holder { namespace: 0, started: 1, ..me.clone() }.is_gone());

        let mut child =
            process::Command::new("cat").stdin(process::Stdio::piped()).spawn().unwrap();
        let its = Holder { pid: child.id(), started: started(child.id()).unwrap(), ..me };
        assert!(!its.is_gone());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(its.is_gone());
    }

    #[test]
    fn a_namespace_is_known_by_the_kernels_number() {
        let link = fs::read_link("/proc/self/ns/pid").unwrap();
        assert_eq!(link.to_str().unwrap(), format!("pid:[{}]", namespace()));
    }

    #[test]
    fn a_lock_that_is_dropped_is_free_though_a_child_has_its_file_open() {
        let temp = tempfile::tempdir().unwrap();
        let lock = Lock::take(temp.path(), Holder::this_process("test", 0)).unwrap();
        let child = lock.file.try_clone().unwrap();
        drop(lock);
        assert_eq!(Lock::held(temp.path()).unwrap(), None);
        drop(child);
    }

    #[test]
    fn what_cannot_be_locked_is_not_waited_for() {
        // Open only as a place, which cannot be locked.
        let place = i32::try_from(rustix::fs::OFlags::PATH.bits()).unwrap();
        let file = OpenOptions::new().read(true).custom_flags(place).open("/").unwrap();
        let error = wait_for(&file, Path::new("/")).unwrap_err();
        assert!(matches!(error, Error::Io { doing: "lock", .. }), "{error}");
    }

    /// Long enough for a take that does not wait to be over.
    const A_WHILE: Duration = Duration::from_millis(300);

    /// Takes the lock on another thread, which must wait for what `release` does.
    fn take_while(dir: &Path, release: impl FnOnce()) -> Result<Lock, TakeError> {
        thread::scope(|scope| {
            let (done, taken) = mpsc::channel();
            scope.spawn(move || done.send(Lock::take(dir, Holder::this_process("late", 0))));
            let early = taken.recv_timeout(A_WHILE);
            assert!(early.is_err(), "it did not wait: {early:?}");
            release();
            taken.recv().unwrap()
        })
    }

    #[test]
    fn a_lock_that_outlives_its_holder_is_waited_for_and_named_to_nobody() {
        let temp = tempfile::tempdir().unwrap();
        let me = Holder::this_process("test", 0);
        let dead = Holder { started: me.started + 1, ..me };
        let lock = Lock::take(temp.path(), dead).unwrap();
        assert_eq!(Lock::held(temp.path()).unwrap(), None);
        take_while(temp.path(), || drop(lock)).unwrap();
    }

    #[test]
    fn who_loses_waits_until_the_winner_has_said_who_it_is() {
        let temp = tempfile::tempdir().unwrap();
        let winner = Holder::this_process("winner", 0);
        let door = Door::pass(temp.path(), true).unwrap();
        let file = open(&temp.path().join(LOCK), true).unwrap();
        file.try_lock().unwrap();
        let taken = take_while(temp.path(), || {
            write_holder(&file, &winner).unwrap();
            drop(door);
        });
        match taken {
            Err(TakeError::Held(held)) => assert_eq!(held.holder, Some(winner)),
            other => panic!("{other:?}"),
        }
    }
}
