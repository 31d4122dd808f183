//! What a run was begun with, besides its first event. It never changes.

use std::path::{Path, PathBuf};

use windlass_clerks::Office;
use windlass_core::workflow::Workflow;
use windlass_journal::{Journal, RunId};
use windlass_repo::{Person, Repository};

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
    /// The top of the checkout that it was begun in: a repository may have several, and the files of a run are in this one.
    #[serde(default)]
    pub top: Option<String>,
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

    /// The top of the checkout where its files are: of the one that it was begun in, as long as that is one. Whoever does not know
    /// takes the one that they are in.
    pub fn home(&self, repository: &Repository) -> PathBuf {
        self.elsewhere(repository).unwrap_or_else(|| repository.top().to_owned())
    }

    /// The top of the checkout that it was begun in, if that is another one of this repository.
    pub fn elsewhere(&self, repository: &Repository) -> Option<PathBuf> {
        let begun = self.top.as_deref().map(Path::new).filter(|top| *top != repository.top())?;
        let whole = |path: &Path| path.canonicalize().ok();
        let begun = whole(begun).filter(|begun| Some(begun) != whole(repository.top()).as_ref())?;
        // One that was moved or removed has no files any more.
        let mut all = repository.checkouts().unwrap_or_default().into_iter();
        all.any(|it| it.found && whole(&it.path).as_ref() == Some(&begun)).then_some(begun)
    }

    /// Nothing if its files are here, or if it has none.
    ///
    /// # Errors
    ///
    /// When it was begun in another checkout: read and written here, its files would be somebody else's.
    pub fn is_at_home(
        &self,
        id: &RunId,
        flow: &Workflow,
        repository: &Repository,
    ) -> Result<(), Error> {
        let Some(begun) = Office::of(flow).and_then(|_| self.elsewhere(repository)) else {
            return Ok(());
        };
        let (begun, here) = (begun.display(), repository.top().display());
        let what = format!("{id} was begun in the checkout {begun}, and its files are there");
        Err(Error::usage(what).hint(format!(
            "`windlass resume {id}` goes on with it there: cd '{begun}'; nothing in {here} was read or written for it"
        )))
    }

    /// As the journal keeps it.
    pub fn bytes(&self) -> Result<Vec<u8>, Error> {
        serde_json::to_vec(self).map_err(|_| Error::defect())
    }
}
