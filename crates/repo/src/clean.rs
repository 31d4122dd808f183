//! Clean checkouts: where checks run, on exactly the tree that is to land.
//!
//! They are pooled like lanes. Each has a `.git` of its own, because many tools ask git where they
//! are; it is made afresh each time, and what checks do to it counts for nothing.

use std::{fs, path::PathBuf};

use crate::{
    dotgit::{DotGit, LANE},
    error::{Doing, RepoError},
    oid::Oid,
    store::Store,
    work::{Clean, Work},
};

/// A directory that holds exactly a tree, until somebody works there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleanCheckout {
    /// Its number in the pool.
    pub number: u32,
    /// Where it is.
    pub path: PathBuf,
    /// The commit that is checked out.
    pub commit: Oid,
    /// Its tree.
    pub tree: Oid,
}

impl Store {
    /// Makes a checkout of the pool hold exactly the tree of a commit, and makes sure of it.
    pub fn checkout(&self, number: u32, commit: &Oid) -> Result<CleanCheckout, RepoError> {
        let work = self.clean_work(number);
        fs::create_dir_all(&work.dir).doing("made", &work.dir)?;
        let tree = self.tree_of(commit)?;
        work.put(&tree, Clean::Everything)?;
        let person = &self.settings.committer;
        self.make_dot_git(&work, &DotGit { head: commit, held: &tree, branch: LANE, person })?;
        let checkout =
            CleanCheckout { number, path: work.dir.clone(), commit: commit.clone(), tree };
        match self.differences(&checkout)?.first() {
            None => Ok(checkout),
            Some(path) => Err(RepoError::NotExact {
                path: checkout.path,
                tree: checkout.tree.to_string(),
                what: format!("{} differs", path.display()),
            }),
        }
    }

    fn clean_work(&self, number: u32) -> Work<'_> {
        let home = self.dir.join("checks").join(number.to_string());
        Work { store: self, dir: home.join("work"), index: home.join("index") }
    }

    /// What is in a checkout and not in its tree, or the other way round; ignored files count.
    pub fn differences(&self, checkout: &CleanCheckout) -> Result<Vec<PathBuf>, RepoError> {
        self.clean_work(checkout.number).differences()
    }

    /// Whether a checkout still holds exactly its tree.
    pub fn is_exactly(&self, checkout: &CleanCheckout) -> Result<bool, RepoError> {
        Ok(self.differences(checkout)?.is_empty())
    }
}
