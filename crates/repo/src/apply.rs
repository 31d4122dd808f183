//! A change given to a person's checkout without a commit, because that is what they asked for.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use crate::{
    changes::Change,
    error::RepoError,
    git::Place,
    oid::Oid,
    repository::{Checkout, Config},
    store::Store,
    transfer::{Moved, Note, copy_index},
    work::as_path,
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
    ///
    /// What is kept beside the work, and is no part of the change, does not count.
    ///
    /// Where there is no git nobody could make it clean, so only the files that change count: each must be as it was when the
    /// commit was recorded.
    pub fn apply_to_checkout(
        &self,
        base: &Oid,
        tree: &Oid,
        beside: &[String],
    ) -> Result<Applied, RepoError> {
        let _one_at_a_time = self.landing.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        self.settle_unfinished()?;
        let refused = |why: &str| Ok(Applied::Refused { why: why.to_owned() });
        let has_git = self.repository.has_git();
        if has_git && self.repository.head()? != *base {
            return refused("another commit than the one it was checked on is checked out");
        }
        let top = self.repository.top();
        let checkouts = self.repository.checkouts()?;
        let found = checkouts.iter().find(|checkout| checkout.path == top);
        let Some(checkout) = found.filter(|checkout| has_git || checkout.found) else {
            return refused("the checkout is gone");
        };
        let config = self.repository.config()?;
        match self.standing(checkout, base, tree, &config, beside)? {
            Standing::Has => return Ok(Applied::Applied { already: true }),
            Standing::Other(why) => return refused(&why),
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
        beside: &[String],
    ) -> Result<Standing, RepoError> {
        let changes = self.changes(base, tree)?;
        let counts = counting(&changes, beside);
        self.with_index(|index| {
            let place = self.results().with_work(&checkout.path, index);
            let mut place = place.borrowing(&self.repository.objects());
            place.config = config.files.clone();
            if !copy_index(&checkout.git_dir, &place)? {
                return Ok(Standing::Other("it has no index".into()));
            }
            self.refresh(&place)?;
            let differs = |args: &[&str]| self.differs(&place, args, &changes, &counts);
            let read = |tree: &Oid| {
                let call = self.git().call("apply.read-tree", &place);
                call.args(["read-tree", "--reset", tree.as_str()]).ok()?;
                self.refresh(&place)
            };
            if !self.repository.has_git() {
                // A later run may have recorded more. What this one was about is the commit that it began with.
                read(base)?;
            } else if let Some(why) = differs(&["diff-index", "--cached", base.as_str()])? {
                return Ok(Standing::Other(why));
            }
            let before = differs(&["diff-files"])?;
            // As it would be after the change: the new tree's files, and nothing else different.
            read(tree)?;
            if differs(&["diff-files"])?.is_none() && are_gone(&checkout.path, &changes) {
                return Ok(Standing::Has);
            }
            let in_the_way = || {
                let path = in_the_way(&checkout.path, &changes)?;
                Some(format!("{} is in the way, and no record has it", path.display()))
            };
            Ok(before.or_else(in_the_way).map_or(Standing::Clean, Standing::Other))
        })
    }

    /// What git finds different, if it does: anything at all, or without git one of the files that change.
    fn differs(
        &self,
        place: &Place,
        args: &[&str],
        changes: &[Change],
        counts: &[String],
    ) -> Result<Option<String>, RepoError> {
        let call = self.git().call("apply.standing", place).args(args);
        if self.repository.has_git() {
            let same = call.args(["--quiet", "--"]).args(counts).test()?;
            return Ok((!same).then(|| "there are changes in it that are not committed".into()));
        }
        let said = call.args(["--name-only", "-z"]).ok()?;
        let differ: BTreeSet<PathBuf> = said.split(|b| *b == 0).map(as_path).collect();
        let first = changes.iter().find(|change| differ.contains(&change.path));
        Ok(first.map(|it| format!("{} is not what it was when the run began", it.path.display())))
    }
}

/// The paths that count, as git is told them: all but those beside, unless the change is about them.
fn counting(changes: &[Change], beside: &[String]) -> Vec<String> {
    let about = |it: &String| changes.iter().any(|change| change.path.starts_with(it));
    let beside = beside.iter().filter(|it| !about(it));
    let but = beside.map(|it| format!(":(top,exclude,literal){it}"));
    [":(top)".to_owned()].into_iter().chain(but).collect()
}

/// Something that a new file would take the place of, and that nobody could bring back. Git takes what it is told to ignore for
/// something that can be made again.
pub(crate) fn in_the_way(top: &Path, changes: &[Change]) -> Option<PathBuf> {
    let removed = changes.iter().filter(|it| it.new.is_absent());
    let removed: BTreeSet<&Path> = removed.map(|it| it.path.as_path()).collect();
    let goes = |path: &Path| removed.contains(path);
    let is_dir = |path: &Path| top.join(path).symlink_metadata().ok().map(|meta| meta.is_dir());
    let new = changes.iter().filter(|it| it.old.is_absent() && !it.new.is_absent());
    for path in new.map(|it| it.path.as_path()) {
        let above = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
        let file = above.chain([path]).find(|at| is_dir(at) == Some(false) && !goes(at));
        if let Some(file) = file {
            return Some(file.to_owned());
        }
        if is_dir(path) == Some(true) {
            let stays = stays_in(top, path, &goes);
            if stays.is_some() {
                return stays;
            }
        }
    }
    None
}

/// What would be left in a directory, or cannot be looked at.
fn stays_in(top: &Path, dir: &Path, goes: &dyn Fn(&Path) -> bool) -> Option<PathBuf> {
    let Ok(entries) = fs::read_dir(top.join(dir)) else { return Some(dir.to_owned()) };
    entries.flatten().find_map(|entry| {
        let path = dir.join(entry.file_name());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            stays_in(top, &path, goes)
        } else {
            (!goes(&path)).then_some(path)
        }
    })
}

/// Whether nothing is left in a checkout of what a change removes.
fn are_gone(top: &Path, changes: &[Change]) -> bool {
    let mut removed = changes.iter().filter(|change| change.new.is_absent());
    // Where a file has become a directory, the directory is not the file.
    removed.all(|change| {
        let there = top.join(&change.path).symlink_metadata();
        there.map_or(true, |meta| meta.is_dir())
    })
}

enum Standing {
    Clean,
    Has,
    /// Why it is neither.
    Other(String),
}
