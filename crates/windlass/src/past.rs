//! What has been committed, as git knows it, for clerks.

use std::collections::BTreeMap;
use std::path::PathBuf;

use windlass_clerks::Changed;
use windlass_repo::{Branch, Oid, RepoError, Repository, Store};
use windlass_sources::plans::{Commit, Place};

/// The history of a person's repository, and of what is built beside it.
pub struct Past {
    pub repository: Repository,
    /// Where Windlass keeps what is built.
    pub dir: PathBuf,
    /// Where work lands.
    pub target: Branch,
    /// Where that was when the run was made ready; where it begins, if nothing has landed on it.
    pub base: Oid,
}

type Files = BTreeMap<String, Vec<u8>>;

/// All that markers are held against: what is checked out has it, or another branch of the repository.
pub fn commits(repository: &Repository) -> Result<Vec<Commit>, RepoError> {
    let commit = |place| {
        move |(oid, subject): (Oid, String)| Commit { hash: oid.to_string(), subject, place }
    };
    let here = repository.past()?.into_iter().map(commit(Place::Here));
    let elsewhere = repository.past_elsewhere()?.into_iter().map(commit(Place::Elsewhere));
    Ok(here.chain(elsewhere).collect())
}

impl windlass_clerks::Past for Past {
    fn commits(&self) -> Result<Vec<Commit>, String> {
        commits(&self.repository).map_err(|error| error.to_string())
    }

    fn changed_by(&self, commit: &str) -> Option<Changed> {
        let changed = self.repository.changed_by(&Oid::parse(commit).ok()?).ok()?;
        let windlass_repo::Changed { files, insertions, deletions } = changed;
        Some(Changed { files, insertions, deletions })
    }

    fn files_below(&self, dir: &str) -> Result<Files, String> {
        let tip = self.repository.tip(&self.target).map_err(|error| error.to_string())?;
        let tip = tip.unwrap_or_else(|| self.base.clone());
        self.repository.files_below(&tip, dir).map_err(|error| error.to_string())
    }

    fn files_built(&self, commit: &str, dir: &str) -> Result<Files, String> {
        let commit = Oid::parse(commit).map_err(|error| error.to_string())?;
        let store = Store::look(self.repository.clone(), &self.dir);
        let store = store.ok_or_else(|| "nothing was built here".to_owned())?;
        store.files_below(&commit, dir).map_err(|error| error.to_string())
    }
}
