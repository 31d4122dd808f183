//! What has been committed, as git knows it, for clerks.

use windlass_clerks::Changed;
use windlass_repo::{Oid, Repository};
use windlass_sources::plans::Commit;

/// The history of a person's repository.
pub struct Past(pub Repository);

impl windlass_clerks::Past for Past {
    fn commits(&self) -> Result<Vec<Commit>, String> {
        let past = self.0.past().map_err(|error| error.to_string())?;
        let commit = |(oid, subject): (Oid, String)| Commit { hash: oid.to_string(), subject };
        Ok(past.into_iter().map(commit).collect())
    }

    fn changed_by(&self, commit: &str) -> Option<Changed> {
        let changed = self.0.changed_by(&Oid::parse(commit).ok()?).ok()?;
        let windlass_repo::Changed { files, insertions, deletions } = changed;
        Some(Changed { files, insertions, deletions })
    }
}
