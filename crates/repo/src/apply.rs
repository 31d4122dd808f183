//! A change given to a person's checkout without a commit, because that is what they asked for.

use crate::{
    error::RepoError,
    oid::Oid,
    repository::{Checkout, Config},
    store::Store,
    transfer::{Moved, Note, copy_index},
};

/// What came of giving a change to a checkout without a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applied {
    /// The checkout has it.
    Applied {
        /// It had it before.
        already: bool,
    },
    /// Nothing was touched.
    Refused {
        /// Why.
        why: String,
    },
}

impl Store {
    /// Gives the change from a commit to a tree to the person's checkout, without a commit: their
    /// files change, their index and their branches do not. Only if the checkout is clean.
    pub fn apply_to_checkout(&self, base: &Oid, tree: &Oid) -> Result<Applied, RepoError> {
        let _one_at_a_time = self.landing.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        self.settle_unfinished()?;
        let refused = |why: &str| Ok(Applied::Refused { why: why.to_owned() });
        if self.repository.head()? != *base {
            return refused("another commit than the one it was checked on is checked out");
        }
        let top = self.repository.top();
        let checkouts = self.repository.checkouts()?;
        let Some(checkout) = checkouts.iter().find(|checkout| checkout.path == top) else {
            return refused("the checkout is gone");
        };
        let config = self.repository.config()?;
        match self.standing(checkout, base, tree, &config)? {
            Standing::Has => return Ok(Applied::Applied { already: true }),
            Standing::Dirty => return refused("there are changes in it that are not committed"),
            Standing::Clean => {}
        }
        if config.sparse || config.folds_case {
            return refused("it is sparse, or does not tell upper from lower case");
        }
        let note = Note::new(checkout, base, tree, None);
        match self.transfer(note, &config, || Ok(true))? {
            Moved::Blocked(why) => refused(&why),
            Moved::Done | Moved::Overtaken => Ok(Applied::Applied { already: false }),
        }
    }

    /// Whether a checkout holds its commit, the tree, or something else.
    fn standing(
        &self,
        checkout: &Checkout,
        base: &Oid,
        tree: &Oid,
        config: &Config,
    ) -> Result<Standing, RepoError> {
        self.with_index(|index| {
            let place = self.results().with_work(&checkout.path, index);
            let mut place = place.borrowing(&self.repository.objects());
            place.config = config.files.clone();
            if !copy_index(&checkout.git_dir, &place)? {
                return Ok(Standing::Dirty);
            }
            self.refresh(&place)?;
            let same = |args: &[&str]| self.git().call("apply.standing", &place).args(args).test();
            if !same(&["diff-index", "--quiet", "--cached", base.as_str()])? {
                return Ok(Standing::Dirty);
            }
            let clean = same(&["diff-files", "--quiet"])?;
            // As it would be after the change: the new tree's files, and nothing else different.
            let call = self.git().call("apply.read-tree", &place);
            call.args(["read-tree", "--reset", tree.as_str()]).ok()?;
            self.refresh(&place)?;
            let has = same(&["diff-files", "--quiet"])? && self.are_gone(checkout, base, tree)?;
            Ok(match (has, clean) {
                (true, _) => Standing::Has,
                (false, true) => Standing::Clean,
                (false, false) => Standing::Dirty,
            })
        })
    }

    /// Whether nothing is left in a checkout of what a change removes.
    fn are_gone(&self, checkout: &Checkout, base: &Oid, tree: &Oid) -> Result<bool, RepoError> {
        let changes = self.changes(base, tree)?;
        let mut removed = changes.iter().filter(|change| change.new.is_absent());
        // Where a file has become a directory, the directory is not the file.
        Ok(removed.all(|change| {
            let there = checkout.path.join(&change.path).symlink_metadata();
            there.map_or(true, |meta| meta.is_dir())
        }))
    }
}

enum Standing {
    Clean,
    Has,
    Dirty,
}
