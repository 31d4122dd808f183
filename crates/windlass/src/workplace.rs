//! Where work is done: the repository a person is in, and what Windlass remembers about it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use windlass_core::run::Phase;
use windlass_engine::Engine;
use windlass_engine::clock::wall_ms;
use windlass_engine::shop::GitRun;
use windlass_journal::{
    Holder, Journal, Lock, RunId, StateDir, Surroundings, TakeError, is_read_only, room,
};
use windlass_process::{Ledger, Spawner, ledger};
use windlass_repo::{Git, Host, Repository, Store, When};

use crate::error::Error;

/// A disk with less room than this is full.
const TIGHT: u64 = 1 << 20;

/// How long a process has between being asked to end and being ended.
pub const GRACE: Duration = Duration::from_secs(5);

/// The repository a person is in, and where its state is.
pub struct Workplace {
    pub repository: Repository,
    pub dir: PathBuf,
    known: windlass_journal::Repository,
}

impl Workplace {
    /// Looks from a directory, without changing anything.
    pub fn find(from: &Path) -> Result<Self, Error> {
        let spawner = Spawner::start()?;
        let git = Git::find(Arc::new(GitRun(spawner.clone())), Host::of_this_process())?;
        let repository = Repository::find(&git, from)?;
        let known = windlass_journal::Repository::find(repository.common_dir())?;
        let dir = state_dir()?.repo_dir(&known);
        Ok(Workplace { repository, dir, known })
    }

    /// The journal, to look at. `None` when nothing was ever written.
    pub fn look(&self) -> Result<Option<Journal>, Error> {
        let path = self.dir.join(windlass_journal::DATABASE);
        match path.try_exists() {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(source) => return Err(Error::unreadable(&path, source)),
        }
        match Journal::open_read_only(&self.dir, &self.known) {
            // Whoever was about to make it has been cut off.
            Err(windlass_journal::Error::Missing { .. }) => Ok(None),
            opened => Ok(Some(opened?)),
        }
    }

    /// Takes the lock alone.
    pub fn lock(&self, what: &str) -> Result<Lock, Error> {
        self.lock_unless_held(what)?.map_err(|held| Error::held(held.to_string()))
    }

    /// The same; that somebody else has it is an answer.
    pub fn lock_unless_held(&self, what: &str) -> Result<Result<Lock, TakeError>, Error> {
        let dir = state_dir()?.make_repo_dir(&self.known)?;
        match Lock::take(&dir, Holder::this_process(what, wall_ms())) {
            Err(TakeError::Failed(error)) => Err(error.into()),
            taken => Ok(taken),
        }
    }

    /// The journal, opened by the one who holds the lock.
    pub fn open(&self, lock: &Lock) -> Result<Journal, windlass_journal::Error> {
        Journal::open(lock, &self.known)
    }

    /// Takes the lock and opens the journal: from now on this process is the one that writes.
    pub fn take(self, what: &str) -> Result<Held, Error> {
        self.repository.usable()?;
        let lock = self.lock(what)?;
        let dir = lock.dir().to_owned();
        let ended = ledger::sweep(&dir, GRACE)?;
        let journal = self.open(&lock)?;
        let spawner = Spawner::start_with(Ledger::open(&dir)?)?;
        let repository = self.repository.run_by(Arc::new(GitRun(spawner.clone())));
        Ok(Held {
            lock: Arc::new(lock),
            journal,
            spawner,
            repository,
            dir,
            left_behind: ended.len(),
        })
    }
}

/// The repository, held by this process.
pub struct Held {
    pub lock: Arc<Lock>,
    pub journal: Journal,
    pub spawner: Spawner,
    pub repository: Repository,
    pub dir: PathBuf,
    /// Processes that an earlier Windlass left behind and that were ended.
    pub left_behind: usize,
}

impl Held {
    /// What went wrong, together with the disk that explains it, if one does.
    pub fn explained(&self, cause: Error) -> Error {
        if !cause.is_of_the_world() {
            return cause;
        }
        let places = [self.dir.as_path(), self.repository.top()];
        let is_full = |dir: &Path| room(dir).is_some_and(|room| room < TIGHT);
        let flawed = places.into_iter().find(|dir| is_full(dir) || is_read_only(dir));
        match flawed {
            Some(dir) => {
                let is_full = is_full(dir);
                Error::disk(cause, dir, is_full)
            }
            None => cause,
        }
    }

    /// Gives the lanes of runs that are over back to the pool. What is in them is kept.
    pub fn free_lanes(&self, store: &Store, own: &RunId) -> Result<(), Error> {
        let mut over = BTreeMap::new();
        for lane in store.pool()?.into_iter().filter_map(|pooled| pooled.lane) {
            if lane.run == own.as_str() {
                continue;
            }
            let ended = over.entry(lane.run.clone()).or_insert_with(|| {
                let id: Option<RunId> = lane.run.parse().ok();
                let engine = id.and_then(|id| Engine::resume(&self.journal, id).ok());
                engine.is_some_and(|engine| engine.run().phase() == Phase::Ended)
            });
            if *ended {
                let now = u64::try_from(wall_ms() / 1_000).unwrap_or(0);
                store.release(&lane, When::utc(now))?;
            }
        }
        Ok(())
    }
}

/// Where Windlass keeps what it remembers.
fn state_dir() -> Result<StateDir, Error> {
    let var = |name| std::env::var_os(name);
    let (own, xdg, home) = (var("WINDLASS_STATE_DIR"), var("XDG_STATE_HOME"), var("HOME"));
    Ok(StateDir::locate(Surroundings {
        windlass_state_dir: own.as_deref(),
        xdg_state_home: xdg.as_deref(),
        home: home.as_deref(),
    })?)
}
