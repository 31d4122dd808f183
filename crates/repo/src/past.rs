//! What has been committed: the history of what is checked out, and what a commit of it has changed.

use crate::{
    error::RepoError,
    git::GitError,
    oid::Oid,
    repository::{NOTES, Repository},
};

/// What a commit has changed, compared with its first parent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// The files, in git's order.
    pub files: Vec<String>,
    /// How many lines were added.
    pub insertions: usize,
    /// How many lines were taken away.
    pub deletions: usize,
}

/// A commit of the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// Which.
    pub oid: Oid,
    /// The first line of its message.
    pub subject: String,
    /// Our note on it, if there is one.
    pub note: Option<String>,
}

impl Repository {
    /// Every commit in the history of what is checked out, newest first.
    pub fn past(&self) -> Result<Vec<Committed>, RepoError> {
        self.commits_of(&["HEAD"])
    }

    /// The same of what only other branches of this repository have: what has landed elsewhere, or waits there.
    pub fn past_elsewhere(&self) -> Result<Vec<Committed>, RepoError> {
        self.commits_of(&["--branches", "--not", "HEAD"])
    }

    fn commits_of(&self, which: &[&str]) -> Result<Vec<Committed>, RepoError> {
        let place = self.refs();
        let call = self.git.call("past", &place);
        let notes = format!("--notes={NOTES}");
        let call = call.args(["log", "-z", "--no-notes", &notes, "--format=%H %s%n%N"]);
        let call = call.args(which.iter().copied());
        let said = call.args(["--"]).ok()?;
        let said = String::from_utf8_lossy(&said);
        let commits = said.split('\0').filter(|text| !text.is_empty());
        commits
            .map(|text| {
                let (first, note) = text.split_once('\n').unwrap_or((text, ""));
                let (oid, subject) = first.split_once(' ').unwrap_or((first, ""));
                let oid = Oid::parse(oid)
                    .map_err(|_| GitError::Strange { name: "past", what: text.to_owned() })?;
                let note = Some(note.trim()).filter(|note| !note.is_empty()).map(str::to_owned);
                Ok(Committed { oid, subject: subject.to_owned(), note })
            })
            .collect()
    }

    /// What a commit has changed.
    pub fn changed_by(&self, commit: &Oid) -> Result<Changed, RepoError> {
        let place = self.refs();
        let call = self.git.call("changed-by", &place);
        let args = ["diff-tree", "-r", "-z", "--no-renames", "--numstat", "--root", "-m"];
        let call = call.args(args).args(["--first-parent", "--no-commit-id", commit.as_str()]);
        let said = call.ok()?;
        let said = String::from_utf8_lossy(&said);
        let mut changed = Changed::default();
        for line in said.split('\0').filter(|line| !line.is_empty()) {
            let mut parts = line.splitn(3, '\t');
            // Of what is no text nobody counts the lines.
            let mut lines = || parts.next().and_then(|it| it.parse().ok()).unwrap_or(0_usize);
            changed.insertions += lines();
            changed.deletions += lines();
            changed.files.extend(parts.next().map(str::to_owned));
        }
        Ok(changed)
    }
}
