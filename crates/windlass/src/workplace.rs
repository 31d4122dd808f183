//! Where work is done: the repository a person is in, and what Windlass remembers about it.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use windlass_core::run::Phase;
use windlass_engine::Engine;
use windlass_engine::clock::wall_ms;
use windlass_engine::shop::GitRun;
use windlass_journal::{
    Holder, Journal, Lock, RunId, StateDir, Surroundings, TakeError, is_read_only, room,
};
use windlass_process::{Ledger, Spawner, ledger};
use windlass_repo::{Call, Git, Host, LeftOut, RepoError, Repository, Run, Settings, Store, When};

use crate::error::Error;

/// A disk with less room than this is full.
const TIGHT: u64 = 1 << 20;

/// Of what is left out for one reason, this many are named.
const NAMED_MAX: usize = 5;

/// How long a process has between being asked to end and being ended.
pub const GRACE: Duration = Duration::from_secs(5);

/// What stands in for a repository where there is none, in the directory of its state.
const SHADOW: &str = "shadow.git";

/// The repository a person is in, and where its state is.
pub struct Workplace {
    pub repository: Repository,
    pub dir: PathBuf,
    /// Whether the person has a repository there. If not, Windlass works with copies of the directory.
    pub has_git: bool,
    known: windlass_journal::Repository,
}

/// Which directories will do besides those in a repository.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WithoutGit {
    /// None.
    No,
    /// One that something was run in already.
    Known,
    /// Any.
    Any,
}

impl Workplace {
    /// Looks from a directory, without changing anything: for what needs a repository.
    pub fn find(from: &Path) -> Result<Self, Error> {
        Self::look_from(from, WithoutGit::No)
    }

    /// The same for what has to do with runs that there are: where there is no repository, the directory that one was begun
    /// in, this one or one above it.
    pub fn find_known(from: &Path) -> Result<Self, Error> {
        Self::look_from(from, WithoutGit::Known)
    }

    /// The same for what begins a run that can do without git: if nothing was ever run in this directory or above it, it is
    /// this one that will be copied.
    pub fn find_or_copy(from: &Path) -> Result<Self, Error> {
        Self::look_from(from, WithoutGit::Any)
    }

    fn look_from(from: &Path, without_git: WithoutGit) -> Result<Self, Error> {
        let git = Git::find(Arc::new(GitAtNeed::default()), Host::of_this_process())?;
        match Repository::find(&git, from) {
            Ok(repository) => {
                let known = windlass_journal::Repository::find(repository.common_dir())?;
                Self::at(repository, known)
            }
            Err(RepoError::NotARepository { path }) if without_git != WithoutGit::No => {
                Self::copied(&git, path, without_git)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// A directory without git is known by its own path. A repository that is made in it later has another: that of its
    /// `.git`.
    fn copied(git: &Git, path: PathBuf, without_git: WithoutGit) -> Result<Self, Error> {
        let state = state_dir()?;
        let known = |dir: &Path| windlass_journal::Repository::known_at(dir);
        let shadow = |dir: &Path| state.repo_dir(&known(dir)).join(SHADOW);
        let begun = path.ancestors().find(|dir| shadow(dir).is_dir());
        let top = match (begun, without_git) {
            (Some(dir), _) => dir,
            (None, WithoutGit::Any) => &path,
            (None, _) => return Err(RepoError::NotARepository { path }.into()),
        };
        Self::at(Repository::without_git(git, top, &shadow(top))?, known(top))
    }

    fn at(repository: Repository, known: windlass_journal::Repository) -> Result<Self, Error> {
        let (dir, has_git) = (state_dir()?.repo_dir(&known), repository.has_git());
        Ok(Workplace { repository, dir, has_git, known })
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
        self.repository.make_shadow()?;
        let spawner = Spawner::start_with(Ledger::open(&dir)?)?;
        let repository = self.repository.run_by(Arc::new(GitRun(spawner.clone())));
        Ok(Held {
            lock: Arc::new(lock),
            journal,
            spawner,
            repository,
            dir,
            has_git: self.has_git,
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
    /// Whether the person has a repository there. If not, Windlass works with copies of the directory.
    pub has_git: bool,
    /// Processes that an earlier Windlass left behind and that were ended.
    pub left_behind: usize,
}

impl Held {
    /// Records what the directory holds, where there is no git: what a run begins with. Says so, and what was left out.
    /// Where there is git, a run begins with what the person has committed, and there is nothing to do or say.
    pub fn take_stock(&self) -> Result<Vec<String>, Error> {
        if self.has_git {
            return Ok(Vec::new());
        }
        let store = Store::open(self.repository.clone(), &self.dir, Settings::default());
        let stock = store.and_then(|store| store.take_stock(now()));
        let stock = stock.map_err(|error| self.explained(error.into()))?;
        // Nothing in the directory shows it, and it may be one above.
        let where_to = format!("no git here: copies of {} serve", self.repository.top().display());
        Ok([where_to].into_iter().chain(in_words(&stock.left_out)).collect())
    }

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
                store.release(&lane, now())?;
            }
        }
        Ok(())
    }
}

/// Git, for who looks: what minds its calls is started for the first of them, and often there is none.
#[derive(Default)]
struct GitAtNeed {
    spawner: Mutex<Option<Spawner>>,
}

impl Run for GitAtNeed {
    fn run(&self, call: &Call) -> io::Result<windlass_repo::Output> {
        let mut own = self.spawner.lock().unwrap_or_else(PoisonError::into_inner);
        let spawner = match &*own {
            Some(spawner) => spawner.clone(),
            None => own.insert(Spawner::start().map_err(io::Error::other)?).clone(),
        };
        drop(own);
        GitRun(spawner).run(call)
    }
}

pub fn now() -> When {
    When::utc(u64::try_from(wall_ms() / 1_000).unwrap_or(0))
}

/// What was left out, by the reason for it.
fn in_words(left_out: &[LeftOut]) -> Vec<String> {
    let mut by_reason: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for one in left_out {
        by_reason.entry(one.why).or_default().push(one.path.display().to_string());
    }
    let line = |(why, names): (&str, Vec<String>)| {
        let more = match names.len().saturating_sub(NAMED_MAX) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let named: Vec<String> = names.into_iter().take(NAMED_MAX).collect();
        format!("left out: {}{more} ({why})", named.join(", "))
    };
    by_reason.into_iter().map(line).collect()
}

/// Where Windlass keeps what it remembers.
pub fn state_dir() -> Result<StateDir, Error> {
    let var = |name| std::env::var_os(name);
    let (own, xdg, home) = (var("WINDLASS_STATE_DIR"), var("XDG_STATE_HOME"), var("HOME"));
    Ok(StateDir::locate(Surroundings {
        windlass_state_dir: own.as_deref(),
        xdg_state_home: xdg.as_deref(),
        home: home.as_deref(),
    })?)
}
