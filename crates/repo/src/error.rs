//! Why something could not be done with a repository, a lane or a landing: what happened, where,
//! and what to do next.

use std::{
    io,
    path::{Path, PathBuf},
};

use crate::{git::GitError, name::NotABranch, oid::NotAnOid};

/// Why something could not be done. Nothing of the person's has changed.
#[derive(Debug, thiserror::Error)]
pub enum RepoError {
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A file or directory could not be dealt with.
    #[error("{} could not be {done}: {source}", path.display())]
    File {
        /// What was to be done, as a participle.
        done: &'static str,
        /// Which.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Not the name of an object.
    #[error(transparent)]
    Oid(#[from] NotAnOid),
    /// Not the name of a branch.
    #[error(transparent)]
    Branch(#[from] NotABranch),

    /// There is no repository here.
    #[error("{} is not in a git repository: go to one, or run `git init` and commit something", path.display())]
    NotARepository {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// A directory that no copies are made of.
    #[error("{} {why}, and without git Windlass would have to copy it: go to the directory of one project, or run `git init` there", path.display())]
    NotCopied {
        /// Which.
        path: PathBuf,
        /// Why not.
        why: &'static str,
    },
    /// A directory that is too big to be copied.
    #[error("{} holds {found}, and without git Windlass copies {limit} at most: name what is not source in a .gitignore there, go further down, or run `git init` and commit something", path.display())]
    TooBig {
        /// Which.
        path: PathBuf,
        /// How much there is.
        found: String,
        /// How much there may be.
        limit: String,
    },
    /// The repository belongs to somebody else.
    #[error("{} belongs to another user, so git will not use it; if you trust it: git config --global --add safe.directory {}", path.display(), quoted(path))]
    NotTrusted {
        /// Where it is.
        path: PathBuf,
    },
    /// A bare repository.
    #[error("{} is a bare repository: clone it and start Windlass in the clone", path.display())]
    Bare {
        /// Where it is.
        path: PathBuf,
    },
    /// There is no remote of this name.
    #[error(
        "there is no remote `{remote}` here: `git remote add {remote} ADDRESS` adds one, or `[issues] remote` in windlass.toml names another"
    )]
    NoRemote {
        /// What it is called.
        remote: String,
    },
    /// A remote could not be reached.
    #[error(
        "`{remote}` cannot be pushed to: {said}; when `git push` works there without a question, `windlass resume` goes on"
    )]
    NotReached {
        /// What it is called.
        remote: String,
        /// What git said.
        said: String,
    },
    /// Work of the run waits, and the branch has gone another way.
    #[error(
        "work of this run waits on `{waits}`, and `{branch}` has gone another way meanwhile: bring them together with `git merge {waits}`"
    )]
    Apart {
        /// The branch.
        branch: String,
        /// Where the work waits.
        waits: String,
    },
    /// Nothing was ever committed.
    #[error("{} has no commit yet: make one first, for instance with git commit --allow-empty -m Start", path.display())]
    NoCommits {
        /// Where it is.
        path: PathBuf,
    },
    /// History is cut off.
    #[error("{} is a shallow clone, which lanes cannot be built from: run `git fetch --unshallow` first", path.display())]
    Shallow {
        /// Where it is.
        path: PathBuf,
    },
    /// Objects are left out.
    #[error("{} is a partial clone, which lanes cannot be built from: clone it again without --filter", path.display())]
    Partial {
        /// Where it is.
        path: PathBuf,
    },
    /// Objects are missing.
    #[error("{} is damaged: {what}; `git fsck` tells more", path.display())]
    Damaged {
        /// Where it is.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// No branch is checked out.
    #[error("{} has no branch checked out (HEAD is detached): switch to one, or name the branch to land on", path.display())]
    Detached {
        /// The checkout.
        path: PathBuf,
    },
    /// The person has no name.
    #[error("git does not know who you are: run git config --global user.{what} …")]
    NoIdentity {
        /// `name` or `email`.
        what: &'static str,
    },
    /// A name or address that cannot be in a commit.
    #[error(
        "{what:?} cannot be in a commit: it has a line break or one of < and > in it, or is empty"
    )]
    BadIdentity {
        /// Which.
        what: String,
    },
    /// A branch that is not there.
    #[error("there is no branch {branch}: it was deleted or never made")]
    NoSuchBranch {
        /// Its name.
        branch: String,
    },
    /// A file system that cannot be written.
    #[error("{} cannot be written: {source}; nothing can land there", path.display())]
    ReadOnly {
        /// Where.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Another git works there.
    #[error("{} is held by another git for more than {waited_ms} ms: wait for it to end (if no git is running, one crashed, and the file can be removed)", path.display())]
    Locked {
        /// The lock.
        path: PathBuf,
        /// How long it was waited for.
        waited_ms: u64,
    },

    /// More than a snapshot takes.
    #[error("{what} in {}: {found}, and a snapshot takes {limit} at most; add what does not belong in git to .gitignore", path.display())]
    TooMuch {
        /// Too much of what.
        what: &'static str,
        /// Where.
        path: PathBuf,
        /// How much there is.
        found: u64,
        /// How much there may be.
        limit: u64,
    },
    /// A file of a lane that cannot be read, so that a snapshot would not be whole.
    #[error("a snapshot of {} would not be whole: {what}", path.display())]
    Unreadable {
        /// The work tree.
        path: PathBuf,
        /// Which file, and why.
        what: String,
    },
    /// A configuration file that cannot be given to lanes.
    #[error("{} cannot be copied into lanes: {why}", path.display())]
    BadExtra {
        /// Which.
        path: PathBuf,
        /// Why not.
        why: &'static str,
    },
    /// The lane is in use by another unit.
    #[error("lane {number} belongs to unit {unit:?} of run {run:?}: release it first")]
    LaneTaken {
        /// Which lane.
        number: u32,
        /// Whose.
        run: String,
        /// Whose.
        unit: String,
    },
    /// The lane is not what the caller thinks.
    #[error("lane {number} is not in use by unit {unit:?} of run {run:?} (any more)")]
    NotTheirs {
        /// Which lane.
        number: u32,
        /// Whose it should be.
        run: String,
        /// Whose it should be.
        unit: String,
    },
    /// A record of ours that cannot be read.
    #[error("{} is damaged ({what}): move it away to start afresh; what was saved is still in the result store", path.display())]
    BadRecord {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A directory that should have been empty.
    #[error("{} is not empty: nothing is written over what is there", path.display())]
    NotEmpty {
        /// Which.
        path: PathBuf,
    },
    /// A work tree that does not hold what it was given.
    #[error("{} does not hold exactly tree {tree}: {what}", path.display())]
    NotExact {
        /// Which.
        path: PathBuf,
        /// What it should hold.
        tree: String,
        /// What is different.
        what: String,
    },
    /// A request that does not fit together.
    #[error("this cannot land: {0}")]
    BadRequest(String),
    /// Objects that should not reach a person's repository.
    #[error("this cannot land, because git would refuse to take it anywhere else: {said}")]
    Unsound {
        /// What git says of it.
        said: String,
    },
}

/// A path that can be put on a command line.
pub(crate) fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', r"'\''"))
}

/// What was being done with a file, said only when it failed.
pub(crate) trait Doing<T> {
    fn doing(self, done: &'static str, path: &Path) -> Result<T, RepoError>;
}

impl<T> Doing<T> for io::Result<T> {
    fn doing(self, done: &'static str, path: &Path) -> Result<T, RepoError> {
        self.map_err(|source| RepoError::File { done, path: path.into(), source })
    }
}
