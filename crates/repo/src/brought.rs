//! What a commit of ours brings along that somebody else has not: handed over file by file, where every object of it is one.
//!
//! What the result store has itself it has because nobody had it before, and all else lies in the mirror. So what a lane or the
//! mirror is without is found by going back from a commit to what they have, and is copied or linked as it is. Git is asked
//! where that cannot be known: where objects are in packs, where commits are somebody else's, or where there are many.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    error::{Doing, RepoError},
    objects::file_in,
    oid::Oid,
    store::Store,
};

/// More commits are packed.
const COMMITS_MAX: usize = 64;

/// More objects are packed.
const OBJECTS_MAX: usize = 500;

impl Store {
    /// The objects of ours that a commit brings along, those that others point to first, back to commits that are there
    /// already. Nothing if git has to say it.
    pub(crate) fn brought(
        &self,
        head: &Oid,
        is_there: impl Fn(&Oid) -> bool,
    ) -> Result<Option<Vec<Oid>>, RepoError> {
        if !self.objects.has_no_pack() {
            return Ok(None);
        }
        let (mut commits, mut due) = (Vec::new(), vec![head.clone()]);
        let mut seen = BTreeSet::new();
        while let Some(oid) = due.pop() {
            if is_there(&oid) || !seen.insert(oid.clone()) {
                continue;
            }
            if self.objects.own_file(&oid).is_none() {
                // What we have built on without having it ourselves is in the mirror.
                if oid == *head {
                    return Ok(None);
                }
                continue;
            }
            let commit = self.objects.read(&oid).and_then(|object| object.commit());
            let Some(commit) = commit.filter(|_| commits.len() < COMMITS_MAX) else {
                return Ok(None);
            };
            due.extend(commit.parents.iter().cloned());
            commits.push((oid, commit));
        }
        let mut brought = Vec::new();
        for (oid, commit) in commits.iter().rev() {
            let before = match commit.parents.first() {
                Some(parent) => Some(self.tree_of(parent)?),
                None => None,
            };
            let Some(differing) = self.differing(before.as_ref(), &commit.tree)? else {
                return Ok(None);
            };
            brought.extend(differing.objects());
            brought.push(oid.clone());
        }
        Ok((brought.len() <= OBJECTS_MAX).then_some(brought))
    }

    /// Hands over what a commit brings along, as files of their own. No if git has to do it.
    pub(crate) fn hand_over(
        &self,
        head: &Oid,
        objects: &Path,
        is_there: impl Fn(&Oid) -> bool,
        put: fn(&Path, &Path) -> io::Result<()>,
    ) -> Result<bool, RepoError> {
        match self.brought(head, is_there)? {
            Some(brought) => self.hand_over_all(&brought, objects, put).map(|()| true),
            None => Ok(false),
        }
    }

    /// Hands over those of some objects that are ours and files.
    pub(crate) fn hand_over_all(
        &self,
        oids: &[Oid],
        objects: &Path,
        put: fn(&Path, &Path) -> io::Result<()>,
    ) -> Result<(), RepoError> {
        for oid in oids {
            let to = file_in(objects, oid);
            if let Some(from) = self.objects.own_file(oid).filter(|_| !to.exists()) {
                put(&from, &to).doing("made", &to)?;
            }
        }
        Ok(())
    }
}

/// A second name for the file of an object, in another place of ours.
pub(crate) fn link(from: &Path, to: &Path) -> io::Result<()> {
    to.parent().map_or(Ok(()), fs::create_dir_all)?;
    match fs::hard_link(from, to) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(_) => copy(from, to),
        Ok(()) => Ok(()),
    }
}

/// A copy of it, for somebody who may write to it. It has its name when it is whole.
pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    to.parent().map_or(Ok(()), fs::create_dir_all)?;
    let beside = beside(to);
    fs::copy(from, &beside)?;
    fs::rename(&beside, to)
}

fn beside(to: &Path) -> PathBuf {
    let name = to.file_name().unwrap_or_default().to_string_lossy().into_owned();
    to.with_file_name(format!("tmp_obj_{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        person::When,
        store::Commit,
        trees::tests::{restless, store},
    };

    fn made(store: &Store, parent: &Oid, text: &str) -> Oid {
        let files = [("sub/new.txt".to_owned(), text)];
        let tree = store.with_files(&store.tree_of(parent).unwrap(), &files).unwrap();
        let commit = Commit {
            tree: &tree,
            parents: std::slice::from_ref(parent),
            message: text,
            author: &store.settings.committer,
            when: When::utc(1),
        };
        store.commit(&commit).unwrap()
    }

    #[test]
    fn what_is_brought_is_what_git_would_pack() {
        let dir = tempfile::tempdir().unwrap();
        let base = restless(&dir.path().join("top"), "sha1", 8).pop().unwrap();
        let store = store(dir.path());
        store.sync().unwrap();
        let one = made(&store, &base, "one");
        let two = made(&store, &one, "two");
        let place = store.results();
        let call = store.git().call("test", &place).args(["rev-list", "--objects"]);
        let said = call.args([two.to_string(), format!("^{base}")]).ok().unwrap();
        let said = String::from_utf8(said).unwrap();
        let mut by_git: Vec<&str> =
            said.lines().filter_map(|line| line.split(' ').next()).collect();
        by_git.sort_unstable();
        let ours = store.brought(&two, |commit| *commit == base).unwrap().unwrap();
        let mut ours: Vec<&str> = ours.iter().map(Oid::as_str).collect();
        ours.sort_unstable();
        assert_eq!(ours, by_git);
        assert_eq!(ours.len(), 8, "two commits, trees and files each, and the trees above");
    }

    #[test]
    fn where_an_object_may_be_in_a_pack_git_is_asked() {
        let dir = tempfile::tempdir().unwrap();
        let base = restless(&dir.path().join("top"), "sha1", 8).pop().unwrap();
        let store = store(dir.path());
        store.sync().unwrap();
        let one = made(&store, &base, "one");
        assert!(store.brought(&one, |commit| *commit == base).unwrap().is_some());
        // What is not ours is not handed over either, wherever it is.
        assert!(store.brought(&base, |_| false).unwrap().is_none());
        let pack = store.results_dir().join("objects/pack/pack-1.pack");
        fs::write(&pack, "").unwrap();
        assert!(store.brought(&one, |commit| *commit == base).unwrap().is_none());
    }
}
