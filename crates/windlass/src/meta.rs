//! What a run was begun with, besides its first event. It never changes.

use windlass_journal::{Journal, RunId};
use windlass_repo::Person;

use crate::error::Error;
use crate::prepared::Onto;

/// What a run was begun with, besides its first event.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Meta {
    /// The workflow.
    #[serde(default)]
    pub workflow: String,
    /// The branch that it lands on.
    #[serde(default)]
    pub target: Option<String>,
    /// That branch is the run's own: the first landing makes it.
    #[serde(default)]
    pub own_branch: bool,
    /// Where that was.
    #[serde(default)]
    pub base: Option<String>,
    /// What it is about: two runs about the same are not open at once.
    #[serde(default)]
    pub about: Option<String>,
    /// Who its commits are by: whatever git is told meanwhile, one that is made again is the same commit.
    #[serde(default)]
    pub author: Option<Person>,
}

impl Meta {
    /// Of a run.
    pub fn of(journal: &Journal, id: &RunId) -> Result<Self, Error> {
        Ok(serde_json::from_slice(&journal.run(id)?.meta).unwrap_or_default())
    }

    /// Where it lands.
    pub fn onto(&self) -> Onto<'_> {
        match &self.target {
            Some(branch) if self.own_branch => Onto::Own(branch, self.base.as_deref()),
            Some(branch) => Onto::Branch(branch),
            None => Onto::Here,
        }
    }

    /// As the journal keeps it.
    pub fn bytes(&self) -> Result<Vec<u8>, Error> {
        serde_json::to_vec(self).map_err(|_| Error::defect())
    }
}
