//! Whether anything lies in a work tree that is not in its tree: told by a walk over names, without git. Mostly there is nothing,
//! and then nothing has to be cleaned away or kept.

use std::{collections::BTreeMap, fs, os::unix::ffi::OsStringExt, path::PathBuf};

use crate::{error::RepoError, oid::Oid, trees, work::Work};

/// Where there are more files, git is asked: it passes over whole directories that it is told to ignore.
const FILES_MAX: usize = 20_000;

impl Work<'_> {
    /// Whether nothing is here but what a tree has, though something of that may be missing or changed. No where it takes git to
    /// tell.
    pub fn has_no_strays(&self, tree: &Oid) -> Result<bool, RepoError> {
        let mut level: Vec<(PathBuf, Oid)> = vec![(self.dir.clone(), tree.clone())];
        let mut files = 0;
        while !level.is_empty() {
            let wanted: Vec<Oid> = level.iter().map(|(_, tree)| tree.clone()).collect();
            if !self.store.fetch(&wanted)? {
                return Ok(false);
            }
            let mut below = Vec::new();
            for (dir, tree) in level {
                let Some(nodes) =
                    self.store.objects.read(&tree).and_then(|it| trees::subtrees(&it, &tree))
                else {
                    return Ok(false);
                };
                let Some(dirs) = self.known(dir, &nodes, &mut files) else { return Ok(false) };
                below.extend(dirs);
            }
            level = below;
        }
        Ok(true)
    }

    /// The directories in one of which everything is an entry of its tree. Nothing if something is not.
    fn known(
        &self,
        dir: PathBuf,
        nodes: &BTreeMap<Vec<u8>, Option<Oid>>,
        files: &mut usize,
    ) -> Option<Vec<(PathBuf, Oid)>> {
        let mut dirs = Vec::new();
        for entry in fs::read_dir(&dir).ok()? {
            let entry = entry.ok()?;
            let name = entry.file_name().into_vec();
            if name == b".git" && dir == self.dir {
                continue;
            }
            *files += 1;
            let is_dir = entry.file_type().ok()?.is_dir();
            match (nodes.get(&name)?, is_dir) {
                (Some(tree), true) => dirs.push((entry.path(), tree.clone())),
                (None, false) if *files <= FILES_MAX => {}
                _ => return None,
            }
        }
        Some(dirs)
    }
}

#[cfg(test)]
mod tests {
    use std::{os::unix::fs::symlink, path::Path};

    use super::*;
    use crate::trees::tests::{commit_all, restless, store};

    /// What is put into a work tree, and whether it is a stray.
    type Put = (fn(&Path), bool);

    #[test]
    fn whatever_git_would_clean_away_is_a_stray() {
        const PUTS: [Put; 9] = [
            (|_| {}, false),
            (|dir| fs::write(dir.join(".gitignore"), "other").unwrap(), false),
            (|dir| fs::remove_file(dir.join("sub/b")).unwrap(), false),
            (|dir| fs::write(dir.join("sub/new"), "").unwrap(), true),
            (|dir| fs::write(dir.join("x.log"), "").unwrap(), true),
            (|dir| fs::create_dir(dir.join("sub/empty")).unwrap(), true),
            (|dir| fs::create_dir_all(dir.join("sub/.git")).unwrap(), true),
            (|dir| symlink("sub", dir.join("link")).unwrap(), true),
            (
                |dir| {
                    fs::remove_dir_all(dir.join("sub")).unwrap();
                    symlink("/", dir.join("sub")).unwrap();
                },
                true,
            ),
        ];
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().join("top");
        restless(&top, "sha1", 1);
        fs::create_dir_all(top.join("sub")).unwrap();
        fs::write(top.join("sub/b"), "").unwrap();
        fs::write(top.join(".gitignore"), "*.log\n").unwrap();
        let tip = commit_all(&top);
        let store = store(dir.path());
        store.sync().unwrap();
        let tree = store.tree_of(&tip).unwrap();
        for (nth, (put, is_stray)) in PUTS.into_iter().enumerate() {
            let home = dir.path().join(nth.to_string());
            fs::create_dir(&home).unwrap();
            let (work, index) = (home.join("work"), home.join("index"));
            store.restore(&tip, &work).unwrap();
            fs::create_dir(work.join(".git")).unwrap();
            put(&work);
            let work = Work { store: &store, dir: work, index };
            assert_eq!(work.has_no_strays(&tree).unwrap(), !is_stray, "{nth}");
        }
        // A tree that is not there is git's business.
        let work = Work { store: &store, dir: top.clone(), index: top.join("none") };
        assert!(!work.has_no_strays(&tree.nought()).unwrap());
    }
}
