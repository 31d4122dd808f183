//! Rebuilding a unit's work on another commit.
//!
//! Everything happens in the result store: no work tree is needed to merge. Each commit of the chain
//! is rebuilt in turn, and then what is not committed yet; where that does not go cleanly, all of it
//! is merged at once, and where that does not either, the tree has markers in it and the conflict is
//! described file by file. The same work on the same commit is always rebuilt the same way.

use std::{collections::BTreeMap, path::PathBuf};

use crate::{
    error::RepoError,
    git::{GitError, Place},
    lane::{Lane, Pending},
    objects::Kind,
    oid::Oid,
    person::{Person, When},
    store::{Commit, Store, Subject},
    work::{Clean, as_path},
};

/// A longer chain is git's business.
const CHAIN_MAX: usize = 1_000;

/// A file that two sides changed in ways that do not go together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conflicted {
    /// Its path.
    pub path: PathBuf,
    /// The blob it was before, on either side.
    pub before: Option<Oid>,
    /// The blob on the branch.
    pub theirs: Option<Oid>,
    /// The blob in the lane.
    pub ours: Option<Oid>,
}

/// Work rebuilt on another commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rebuilt {
    /// The last commit of the rebuilt chain.
    pub head: Oid,
    /// What the lane will hold.
    pub subject: Subject,
    /// Whether it went cleanly.
    pub clean: bool,
    /// The files in which it did not: they have markers in them. Without any, directories were
    /// renamed in ways that do not go together.
    pub conflicts: Vec<Conflicted>,
}

/// Work to be rebuilt.
pub(crate) struct Work<'w> {
    pub base: &'w Oid,
    pub head: &'w Oid,
    pub tree: &'w Oid,
}

/// What came of merging two trees.
struct Merged {
    tree: Oid,
    clean: bool,
    conflicts: Vec<Conflicted>,
}

impl Store {
    /// Rebuilds a lane's work on another commit, and puts the lane there. With conflicts, the lane
    /// holds files with markers, for somebody to resolve. What it held before is kept.
    pub fn rebase(&self, lane: &Lane, onto: &Oid, when: When) -> Result<Rebuilt, RepoError> {
        let mut opened = self.open_lane(lane)?;
        let head = self.head_of(&opened)?;
        if opened.record.base == *onto {
            let subject = opened.record_now()?.subject;
            return Ok(Rebuilt { head, subject, clean: true, conflicts: vec![] });
        }
        self.set_aside(&mut opened, "before being rebuilt", when)?;
        let tree = opened.record.subject.tree.clone();
        let work = Work { base: &opened.record.base, head: &head, tree: &tree };
        let rebuilt = self.rebuild(&work, onto)?;
        let commit = self.commit(&Commit {
            tree: &rebuilt.subject.tree,
            parents: std::slice::from_ref(&rebuilt.head),
            message: &format!("Rebuilt on {onto}"),
            author: &self.settings.committer,
            when,
        })?;
        self.keep(&format!("{}/rebuilt/{}", opened.refs, commit.short()), &commit)?;
        let pending = Pending {
            base: onto.clone(),
            head: rebuilt.head.clone(),
            commit,
            subject: rebuilt.subject.clone(),
            clean: Clean::Untracked,
            fresh: true,
        };
        self.turn_into(&mut opened, pending)?;
        Ok(rebuilt)
    }

    /// Puts a lane on a commit, with what was built elsewhere as one change where that goes together with it. The commit that
    /// holds both, if there is one. What the lane held before is kept.
    pub fn begin_on(
        &self,
        lane: &Lane,
        onto: &Oid,
        built: Option<&Oid>,
        when: When,
    ) -> Result<Option<Oid>, RepoError> {
        let mut opened = self.open_lane(lane)?;
        self.set_aside_all(&mut opened, "before it was begun anew", when)?;
        let bare = self.tree_of(onto)?;
        // Its own change alone: what it was built on may have been taken back since.
        let stood = built.map(|built| self.parents(built)).transpose()?;
        let merged = match (built, stood.and_then(|parents| parents.into_iter().next())) {
            (Some(built), Some(base)) => Some(self.merge(&base, &bare, &self.tree_of(built)?)?),
            _ => None,
        };
        let together = merged.filter(|it| it.clean && it.tree != bare).map(|it| it.tree);
        let held = together.as_ref().map(|tree| {
            let commit = self.commit(&Commit {
                tree,
                parents: std::slice::from_ref(onto),
                message: &format!("What was built before, on {onto}"),
                author: &self.settings.committer,
                when,
            })?;
            self.keep(&format!("{}/rebuilt/{}", opened.refs, commit.short()), &commit)?;
            Ok::<_, RepoError>(commit)
        });
        let held = held.transpose()?;
        let pending = Pending {
            base: onto.clone(),
            head: onto.clone(),
            commit: held.clone().unwrap_or_else(|| onto.clone()),
            subject: self.subject(onto, &together.unwrap_or(bare))?,
            clean: Clean::Untracked,
            fresh: true,
        };
        self.turn_into(&mut opened, pending)?;
        Ok(held)
    }

    /// The change that a commit is by itself.
    pub fn own_change(&self, commit: &Oid) -> Result<Vec<u8>, RepoError> {
        match self.parents(commit)?.first() {
            Some(parent) => self.diff(parent, commit),
            None => Ok(Vec::new()),
        }
    }

    /// The files in which two commits would not go together, if one were merged with the other now. Nothing is checked out,
    /// and nothing of it stays.
    pub fn would_conflict(&self, one: &Oid, other: &Oid) -> Result<Vec<PathBuf>, RepoError> {
        let Merged { clean, conflicts, .. } =
            self.in_trial(|objects| self.merge_commits(&self.beside_results(objects), one, other))?;
        Ok(if clean { vec![] } else { conflicts.into_iter().map(|it| it.path).collect() })
    }

    /// Rebuilds work on another commit.
    pub(crate) fn rebuild(&self, work: &Work<'_>, onto: &Oid) -> Result<Rebuilt, RepoError> {
        if let Some((head, tree)) = self.rebuild_chain(work, onto)? {
            let subject = self.subject(onto, &tree)?;
            return Ok(Rebuilt { head, subject, clean: true, conflicts: vec![] });
        }
        let merged = self.merge(work.base, &self.tree_of(onto)?, work.tree)?;
        let subject = self.subject(onto, &merged.tree)?;
        let Merged { clean, conflicts, .. } = merged;
        Ok(Rebuilt { head: onto.clone(), subject, clean, conflicts })
    }

    /// Commit by commit. Nothing, if that does not go cleanly.
    fn rebuild_chain(&self, work: &Work<'_>, onto: &Oid) -> Result<Option<(Oid, Oid)>, RepoError> {
        let mut head = onto.clone();
        let mut tree = self.tree_of(onto)?;
        for commit in self.chain(work.base, work.head)? {
            let Some(parent) = self.parents(&commit)?.into_iter().next() else { return Ok(None) };
            let merged = self.merge(&parent, &tree, &self.tree_of(&commit)?)?;
            if !merged.clean {
                return Ok(None);
            }
            // A commit whose change is there already leaves nothing behind.
            if merged.tree != tree {
                head = self.again(&commit, &merged.tree, &head)?;
                tree = merged.tree;
            }
        }
        let merged = self.merge(work.head, &tree, work.tree)?;
        Ok(merged.clean.then_some((head, merged.tree)))
    }

    /// The commits from one to another, oldest first.
    pub(crate) fn chain(&self, base: &Oid, head: &Oid) -> Result<Vec<Oid>, RepoError> {
        if let Some(chain) = self.own_chain(base, head) {
            return Ok(chain);
        }
        let place = self.results();
        let call = self.git().call("chain", &place);
        let range = format!("{base}..{head}");
        let said = call.args(["rev-list", "--reverse", "--first-parent", &range]).ok()?;
        let said = String::from_utf8_lossy(&said).into_owned();
        Ok(said.lines().map(Oid::parse).collect::<Result<_, _>>()?)
    }

    /// The same, where every commit of it is one that we know.
    fn own_chain(&self, base: &Oid, head: &Oid) -> Option<Vec<Oid>> {
        let (mut chain, mut at) = (Vec::new(), head.clone());
        while at != *base {
            let parents = self.objects.read(&at)?.commit()?.parents;
            chain.push(at);
            // What else is merged there may have a part of the chain in it.
            let [parent] = &parents[..] else { return None };
            at = parent.clone();
            if chain.len() > CHAIN_MAX {
                return None;
            }
        }
        chain.reverse();
        Some(chain)
    }

    /// The same commit with another tree and parent: author, message and dates stay.
    pub(crate) fn again(&self, commit: &Oid, tree: &Oid, parent: &Oid) -> Result<Oid, RepoError> {
        let said = match self.objects.read(commit) {
            Some(object) if object.kind == Kind::Commit => object.bytes.to_vec(),
            _ => {
                let place = self.results();
                let call = self.git().call("read-commit", &place);
                call.args(["cat-file", "commit", commit.as_str()]).ok()?
            }
        };
        let said = String::from_utf8_lossy(&said).into_owned();
        let strange = || GitError::Strange { name: "read-commit", what: said.clone() };
        let (headers, message) = said.split_once("\n\n").ok_or_else(strange)?;
        let author = headers.lines().find_map(|line| line.strip_prefix("author "));
        let (author, when) = author.and_then(signature).ok_or_else(strange)?;
        self.commit(&Commit {
            tree,
            parents: std::slice::from_ref(parent),
            message,
            author: &author,
            when,
        })
    }

    /// Merges two trees that come from one commit.
    fn merge(&self, from: &Oid, theirs: &Oid, ours: &Oid) -> Result<Merged, RepoError> {
        let same = |tree: &Oid| Merged { tree: tree.clone(), clean: true, conflicts: vec![] };
        let before = self.tree_of(from)?;
        if theirs == ours || before == *ours {
            return Ok(same(theirs));
        }
        if before == *theirs {
            return Ok(same(ours));
        }
        // Two commits on the one they come from: then git finds by itself what to merge against.
        let side = |tree: &Oid| {
            self.commit(&Commit {
                tree,
                parents: std::slice::from_ref(from),
                message: "One side of a merge",
                author: &self.settings.committer,
                when: When::utc(0),
            })
        };
        self.merge_commits(&self.results(), &side(theirs)?, &side(ours)?)
    }

    fn merge_commits(&self, place: &Place, one: &Oid, other: &Oid) -> Result<Merged, RepoError> {
        let call = self.git().call("merge-tree", place);
        let call = call.args(["merge-tree", "--write-tree", "-z", "--no-messages"]);
        let output = call.args([one.as_str(), other.as_str()]).output()?;
        match output.code {
            Some(code @ (0 | 1)) => merged(&output.stdout, code == 0),
            _ => {
                let what = String::from_utf8_lossy(&output.stderr).into_owned();
                Err(GitError::Strange { name: "merge-tree", what }.into())
            }
        }
    }
}

/// Reads what `merge-tree -z` prints: the tree, then a line for each side of each conflict.
fn merged(said: &[u8], clean: bool) -> Result<Merged, RepoError> {
    let mut fields = said.split(|b| *b == 0).filter(|field| !field.is_empty());
    let tree = Oid::printed(fields.next().unwrap_or_default())?;
    let mut conflicts: BTreeMap<PathBuf, Conflicted> = BTreeMap::new();
    for field in fields {
        let at = field.iter().position(|b| *b == b'\t').unwrap_or(field.len());
        let head = String::from_utf8_lossy(&field[..at]).into_owned();
        let words: Vec<&str> = head.split(' ').collect();
        let [_, blob, stage] = words[..] else {
            return Err(GitError::Strange { name: "merge-tree", what: head }.into());
        };
        let path = as_path(field.get(at + 1..).unwrap_or_default());
        let new = || Conflicted { path: path.clone(), ..Conflicted::default() };
        let conflict = conflicts.entry(path.clone()).or_insert_with(new);
        let blob = Some(Oid::parse(blob)?);
        match stage {
            "1" => conflict.before = blob,
            "2" => conflict.theirs = blob,
            _ => conflict.ours = blob,
        }
    }
    Ok(Merged { tree, clean, conflicts: conflicts.into_values().collect() })
}

/// Reads `Name <address> seconds offset`.
fn signature(text: &str) -> Option<(Person, When)> {
    let (name, rest) = text.split_once(" <")?;
    let (email, rest) = rest.rsplit_once("> ")?;
    let (seconds, offset) = rest.split_once(' ')?;
    let digits: i16 = offset.parse().ok()?;
    let when =
        When { seconds: seconds.parse().ok()?, offset_minutes: digits / 100 * 60 + digits % 100 };
    Some((Person::new(name, email).ok()?, when))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_reads_back_as_it_was_written() {
        let (person, when) = signature("Zoë X <z@x.org> 1700000000 -0330").unwrap();
        assert_eq!(person.to_string(), "Zoë X <z@x.org>");
        assert_eq!(when, When { seconds: 1_700_000_000, offset_minutes: -210 });
        assert_eq!(signature("nonsense"), None);
    }

    #[test]
    fn conflicts_are_gathered_by_file() {
        let (a, b) = ("a".repeat(40), "b".repeat(40));
        let said = format!("{a}\0100644 {a} 1\tx y\0100644 {b} 2\tx y\0100644 {a} 2\tz\0\0");
        let merged = merged(said.as_bytes(), false).unwrap();
        let oid = |text: &str| Some(Oid::parse(text).unwrap());
        assert_eq!(
            merged.conflicts,
            [
                Conflicted { path: "x y".into(), before: oid(&a), theirs: oid(&b), ours: None },
                Conflicted { path: "z".into(), before: None, theirs: oid(&a), ours: None },
            ]
        );
    }
}
