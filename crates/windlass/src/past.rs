//! What has been committed, as git knows it, for clerks.

use std::collections::BTreeMap;
use std::path::PathBuf;

use windlass_clerks::Changed;
use windlass_clerks::mission::before::Landing;
use windlass_repo::{Branch, Committed, Oid, RepoError, Repository, Store};
use windlass_sources::plans::{Commit, Drift, Place, Plans, drift, looks_elsewhere};

/// The history of a person's repository, and of what is built beside it.
pub struct Past {
    pub repository: Repository,
    /// Where Windlass keeps what is built.
    pub dir: PathBuf,
    /// Where work lands.
    pub target: Branch,
    /// Where that was when the run was made ready; where it begins, if nothing has landed on it.
    pub base: Oid,
    /// What earlier missions have landed.
    pub landed: Vec<Landing>,
}

type Files = BTreeMap<String, Vec<u8>>;

/// All that markers are held against: what is checked out has it, or another branch of the repository.
pub fn commits(repository: &Repository) -> Result<Vec<Commit>, RepoError> {
    let mut commits = commits_here(repository)?;
    commits.extend(commits_elsewhere(repository)?);
    Ok(commits)
}

/// What is checked out has these.
fn commits_here(repository: &Repository) -> Result<Vec<Commit>, RepoError> {
    Ok(known(repository.past()?, Place::Here))
}

/// Only other branches have these.
fn commits_elsewhere(repository: &Repository) -> Result<Vec<Commit>, RepoError> {
    Ok(known(repository.past_elsewhere()?, Place::Elsewhere))
}

fn known(commits: Vec<Committed>, place: Place) -> Vec<Commit> {
    let one = |it: Committed| {
        let task = it.note.as_deref().and_then(windlass_engine::commit_note::unit);
        Commit { hash: it.oid.to_string(), subject: it.subject, task, place }
    };
    commits.into_iter().map(one).collect()
}

/// The markers that do not say what the history says. Other branches are looked at only where that matters.
pub fn stale(repository: &Repository, plans: &Plans) -> Result<Vec<Drift>, RepoError> {
    let mut commits = commits_here(repository)?;
    if looks_elsewhere(plans.rows(), &commits) {
        commits.extend(commits_elsewhere(repository)?);
    }
    Ok(drift(plans.rows(), &commits))
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

    fn landed_before(&self) -> Vec<Landing> {
        self.landed.clone()
    }
}
