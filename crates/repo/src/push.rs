//! Pushing: a branch of a person's remote gets what was checked, and never by force.
//!
//! The address is the one that the person's own git would push to, and so is whoever it is that git says they are: their global
//! configuration counts, with its credential helper. Neither hooks nor anything else that the repository's configuration
//! names is started, and the address, which may hold a key, stands in no argument and in nothing that is said.

use std::ffi::OsString;

use crate::{
    error::RepoError,
    git::{GitError, Place},
    land::Request,
    name::Branch,
    oid::Oid,
    repository::Repository,
    store::Store,
};

/// What the remote is called where we push to it.
const NAME: &str = "windlass-push";

/// What came of a push.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// There is nothing in it: the tree is the one that it was a change of.
    Nothing,
    /// The branch has it.
    There {
        /// The commit.
        commit: Oid,
        /// It had it before.
        already: bool,
    },
    /// The branch there is not one that the work goes on from, and stays as it is.
    Refused {
        /// What is in the way.
        why: String,
    },
}

impl Store {
    /// Pushes the work of a request to a branch of a remote, if that is not there or goes on to it.
    ///
    /// # Errors
    ///
    /// When there is no such remote, or it cannot be reached.
    pub fn push(
        &self,
        request: &Request,
        remote: &str,
        branch: &Branch,
    ) -> Result<Pushed, RepoError> {
        if self.tree_of(&request.base)? == request.tree {
            return Ok(Pushed::Nothing);
        }
        let commit = self.build(request)?;
        let url = self.repository.push_address(remote)?;
        let place = self.reaching(url.clone());
        let there = self.tip_there(&place, remote, branch, &url)?;
        if there.as_ref() == Some(&commit) {
            return Ok(Pushed::There { commit, already: true });
        }
        if let Some(tip) = &there
            && !self.builds_on(tip, &commit)?
        {
            return Ok(Pushed::Refused {
                why: format!(
                    "`{branch}` of `{remote}` is at {}, which is not where we left it: somebody else has moved it",
                    tip.short()
                ),
            });
        }
        let what = format!("{commit}:{}", branch.full());
        let flags = ["push", "--porcelain", "--no-verify", "--no-follow-tags", "--no-signed"];
        let call = self.git().call("push", &place).args(flags);
        let call = call.args(["--recurse-submodules=no", NAME, &what]);
        let output = call.output()?;
        if output.code == Some(0) {
            return Ok(Pushed::There { commit, already: false });
        }
        // Somebody may have been quicker since we looked, or the remote wants none of it.
        let said = String::from_utf8_lossy(&output.stdout);
        match said.lines().find_map(|line| line.strip_prefix("!\t")) {
            Some(line) => {
                let why = line.rsplit('\t').next().unwrap_or(line);
                let why = format!("`{remote}` does not take `{branch}`: {}", without(why, &url));
                Ok(Pushed::Refused { why })
            }
            None => Err(unreachable(remote, &String::from_utf8_lossy(&output.stderr), &url)),
        }
    }

    /// Where calls stand that reach a remote.
    fn reaching(&self, url: OsString) -> Place {
        let mut place = Place { theirs: true, reaches: true, ..self.results() };
        place.config.push((format!("remote.{NAME}.url"), url));
        place
    }

    /// Where a branch of the remote is.
    fn tip_there(
        &self,
        place: &Place,
        remote: &str,
        branch: &Branch,
        url: &OsString,
    ) -> Result<Option<Oid>, RepoError> {
        let call = self.git().call("push.look", place);
        let output = call.args(["ls-remote", "--quiet", NAME, &branch.full()]).output()?;
        if output.code != Some(0) {
            return Err(unreachable(remote, &String::from_utf8_lossy(&output.stderr), url));
        }
        let said = String::from_utf8_lossy(&output.stdout);
        let full = branch.full();
        let own = said.lines().filter_map(|line| line.split_once('\t'));
        let tip = own.filter(|(_, name)| *name == full).map(|(oid, _)| oid).next();
        Ok(tip.map(Oid::parse).transpose()?)
    }

    /// Whether a commit goes on from another, which may be one that nobody here knows.
    fn builds_on(&self, tip: &Oid, commit: &Oid) -> Result<bool, GitError> {
        let place = self.results();
        let call = self.git().call("push.goes-on", &place);
        let call = call.args(["merge-base", "--is-ancestor", tip.as_str(), commit.as_str()]);
        Ok(call.output()?.code == Some(0))
    }
}

impl Repository {
    /// Where the person's own git would push to. It may hold a key.
    ///
    /// # Errors
    ///
    /// When there is no such remote.
    pub fn push_address(&self, remote: &str) -> Result<OsString, RepoError> {
        let named = !remote.is_empty() && !remote.starts_with('-');
        let place = Place { theirs: true, ..self.refs() };
        let call = self.git.call("push.address", &place);
        let output = call.args(["remote", "get-url", "--push", remote]).output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        let url = said.lines().next().unwrap_or_default().trim();
        if !named || output.code != Some(0) || url.is_empty() {
            return Err(RepoError::NoRemote { remote: remote.to_owned() });
        }
        Ok(url.into())
    }
}

fn unreachable(remote: &str, said: &str, url: &OsString) -> RepoError {
    RepoError::NotReached { remote: remote.to_owned(), said: without(said.trim(), url) }
}

/// What git said, in a line, and without an address that may hold a key.
fn without(said: &str, url: &OsString) -> String {
    let url = url.to_string_lossy();
    let line = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = line.replace(&*url, "its address");
    match url.split_once("://").and_then(|(_, rest)| rest.split_once('@')) {
        Some((who, _)) if !who.is_empty() => line.replace(who, "…"),
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_a_remote_holds_no_key() {
        let url = OsString::from("https://me:k3y@host/x.git");
        let said = without("fatal: unable to access\n 'https://me:k3y@host/x.git/': no", &url);
        assert_eq!(said, "fatal: unable to access 'its address/': no");
        assert_eq!(without("for me:k3y at host", &url), "for … at host");
        assert_eq!(without("no such host", &OsString::from("/srv/x.git")), "no such host");
    }
}
