//! A repository's directory to play in.

use std::{
    fs,
    ops::Deref,
    path::{Path, PathBuf},
};

use windlass_journal::{DATABASE, Error, Holder, Journal, Lock, Repository, RunId};

pub struct Scene {
    dir: PathBuf,
    _temp: Option<tempfile::TempDir>,
}

/// A journal that is open for writing, with the lock that lets it be.
pub struct Open {
    journal: Journal,
    _lock: Lock,
}

impl Deref for Open {
    type Target = Journal;

    fn deref(&self) -> &Journal {
        &self.journal
    }
}

impl Scene {
    pub fn new() -> Scene {
        let temp = tempfile::tempdir().expect("a temporary directory");
        Scene { dir: temp.path().join("repo"), _temp: Some(temp) }
    }

    pub fn at(dir: &Path) -> Scene {
        Scene { dir: dir.to_owned(), _temp: None }
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub fn database(&self) -> PathBuf {
        self.dir.join(DATABASE)
    }

    pub fn lock(&self) -> Lock {
        Lock::take(&self.dir, Holder::this_process("a test", 0)).expect("the lock is free")
    }

    pub fn try_open(&self) -> Result<Open, Error> {
        let lock = self.lock();
        Ok(Open { journal: Journal::open(&lock, &repository())?, _lock: lock })
    }

    pub fn open(&self) -> Open {
        self.try_open().expect("the journal opens")
    }

    pub fn read_only(&self) -> Result<Journal, Error> {
        Journal::open_read_only(&self.dir, &repository())
    }

    /// A copy of the directory as it is now, as a crash would leave it: what matters only to
    /// processes that are alive is left out.
    pub fn copy(&self) -> Scene {
        let copy = Scene::new();
        copy_dir(&self.dir, copy.dir());
        copy
    }
}

fn copy_dir(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory can be made");
    for entry in fs::read_dir(from).expect("a directory can be read") {
        let entry = entry.expect("a directory can be read");
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().expect("a kind");
        let transient = entry.file_name().to_string_lossy().ends_with("-shm");
        if kind.is_dir() {
            copy_dir(&from, &to);
        } else if kind.is_file() && !transient {
            fs::copy(from, to).expect("a file can be copied");
        }
    }
}

pub fn repository() -> Repository {
    Repository::known_at("/home/ada/loom/.git")
}

pub fn run(name: &str) -> RunId {
    name.parse().expect("a plain name")
}

/// All events of a run, or why not.
pub fn events(journal: &Journal, run: &RunId) -> Result<Vec<Vec<u8>>, Error> {
    journal.read(run, 0)?.map(|entry| entry.map(|entry| entry.bytes)).collect()
}

/// Bytes that do not pack well and are not the same for two seeds.
pub fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    std::iter::repeat_with(next).take(len).collect()
}
