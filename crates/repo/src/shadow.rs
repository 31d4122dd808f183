//! The shadow: a repository of ours for a directory that is in none.
//!
//! It lies in our own directory, and its work tree is the person's. Nothing is written into theirs, no `.git` either. What the
//! directory holds when a run begins is recorded on its only branch (`stock.rs`); from there on it is a repository like any
//! other, and mirror, lanes, checks and patches know no difference. It is ours alone, so nobody else's git ever locks
//! it, moves its branch or changes what it is configured with.

use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    fs,
    os::unix::{
        ffi::{OsStrExt, OsStringExt},
        fs::MetadataExt,
    },
    path::{Path, PathBuf},
};

use crate::{
    durable,
    error::{Doing, RepoError},
    git::Git,
    repository::{Checkout, Repository},
    store::{Skeleton, core_config},
};

/// The only branch of a shadow.
pub(crate) const BRANCH: &str = "refs/heads/main";

/// What is never recorded, as lines of git's: what tools fetch or make, what belongs to other systems, what Windlass's own
/// workflows write, and what nearly every project has secrets in. It holds in lanes as well, so none of it is ever given to
/// the person. A `.gitignore` of theirs outranks it: `!target/` has `target` recorded.
pub(crate) const NEVER: &[&str] = &[
    ".harness/",
    "/docs/harness/",
    "node_modules/",
    "target/",
    ".venv/",
    "venv/",
    "__pycache__/",
    ".tox/",
    ".mypy_cache/",
    ".pytest_cache/",
    ".ruff_cache/",
    ".gradle/",
    ".hg/",
    ".svn/",
    ".jj/",
    ".DS_Store",
    ".env",
    ".env.local",
];

impl Repository {
    /// A directory that is in no repository, with a shadow of ours in its place. Nothing is made yet.
    ///
    /// # Errors
    ///
    /// When it is in a repository after all, or in what is left of one; when it is one of those that nobody means to be
    /// copied: the whole machine, a home, what Windlass itself keeps.
    pub fn without_git(git: &Git, dir: &Path, shadow: &Path) -> Result<Repository, RepoError> {
        let top = dir.canonicalize().doing("found", dir)?;
        let shadow = as_it_will_be(shadow);
        // Git passes over a `.git` that it can make nothing of. Whoever has one wants it mended.
        if git_looks_at(&top).any(|dir| dir.join(".git").symlink_metadata().is_ok()) {
            return Err(RepoError::NotARepository { path: top });
        }
        let home = git.home().and_then(|home| home.canonicalize().ok());
        let why = if top.parent().is_none() {
            Some("is the whole machine")
        } else if home.is_some_and(|home| home.starts_with(&top)) {
            Some("is your home, or has it in it")
        } else if shadow.starts_with(&top) {
            Some("has in it what Windlass itself keeps (see WINDLASS_STATE_DIR)")
        } else {
            None
        };
        match why {
            Some(why) => Err(RepoError::NotCopied { path: top, why }),
            None => Ok(Repository::ours(git, top, shadow)),
        }
    }

    /// Makes the shadow, if it is not there: whole, or not at all. Only for the one process that may write. Nothing happens
    /// where the person has a repository.
    pub fn make_shadow(&self) -> Result<(), RepoError> {
        let dir = self.common_dir();
        if self.has_git() || dir.exists() {
            return Ok(());
        }
        let config =
            format!("{}\tbare = false\n\tlogAllRefUpdates = false\n", core_config(self.format()));
        let made = Skeleton { config: &config, borrowed: &[] };
        made.make("shadow.rename", &dir.with_extension("new"), dir, |new| {
            let head = new.join("HEAD");
            fs::write(&head, format!("ref: {BRANCH}\n")).doing("written", &head)
        })
    }

    /// The directory, as a checkout.
    pub(crate) fn only_checkout(&self) -> Checkout {
        Checkout {
            path: self.top().to_owned(),
            git_dir: self.common_dir().to_owned(),
            branch: Some(BRANCH.to_owned()),
            found: self.top().is_dir(),
        }
    }

    /// Whether names that differ in case alone are the same there. Git tries it out by writing; we look at what is there.
    pub(crate) fn folds_case(&self) -> bool {
        let names: BTreeSet<OsString> = fs::read_dir(self.top())
            .into_iter()
            .flatten()
            .flatten()
            .map(|e| e.file_name())
            .collect();
        let number = |name: &OsStr| {
            let meta = self.top().join(name).symlink_metadata().ok()?;
            Some((meta.dev(), meta.ino()))
        };
        names.iter().any(|name| {
            let other = with_other_case(name);
            !names.contains(&other) && number(&other).is_some_and(|it| Some(it) == number(name))
        })
    }
}

/// What git is told not to record.
pub(crate) fn exclude() -> Vec<u8> {
    NEVER.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect()
}

/// Tells the git directory, unless it knows.
pub(crate) fn exclude_in(git_dir: &Path) -> Result<(), RepoError> {
    let path = git_dir.join("info/exclude");
    if durable::read(&path)?.is_some_and(|told| told == exclude()) {
        return Ok(());
    }
    durable::write(&path, &exclude())
}

/// The directories in which git looks for a repository: it does not go up into another file system.
fn git_looks_at(dir: &Path) -> impl Iterator<Item = &Path> {
    let device = |dir: &Path| dir.symlink_metadata().map(|meta| meta.dev()).ok();
    let own = device(dir);
    dir.ancestors().take_while(move |dir| device(dir) == own)
}

/// The canonical form of a path that may not be there yet.
fn as_it_will_be(path: &Path) -> PathBuf {
    let there = path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    match there.and_then(|(above, real)| Some(real.join(path.strip_prefix(above).ok()?))) {
        Some(real) => real,
        None => path.to_owned(),
    }
}

fn with_other_case(name: &OsStr) -> OsString {
    let swap = |byte: &u8| match byte {
        b'a'..=b'z' => byte.to_ascii_uppercase(),
        other => other.to_ascii_lowercase(),
    };
    OsString::from_vec(name.as_bytes().iter().map(swap).collect())
}
