//! Looking at what the store holds: what differs, files as they were, whole trees.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use crate::{
    error::{Doing, RepoError},
    git::GitError,
    lane::Lane,
    oid::Oid,
    store::{Store, Subject},
    work::as_path,
};

/// One side of a path that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// As git writes it: `100644`, `100755`, `120000`, `160000`, or `000000` where there is none.
    pub mode: String,
    /// The blob; zeroes where there is none.
    pub blob: Oid,
}

impl Entry {
    /// Whether there is none.
    pub fn is_absent(&self) -> bool {
        self.mode == "000000"
    }
}

/// A path that differs between two trees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The path, below the top. It need not be UTF-8.
    pub path: PathBuf,
    /// What it was.
    pub old: Entry,
    /// What it is.
    pub new: Entry,
}

impl Store {
    /// A tree with these files in it besides, or instead of, its own.
    pub fn with_files(
        &self,
        tree: &Oid,
        files: &[(String, impl AsRef<[u8]>)],
    ) -> Result<Oid, RepoError> {
        if files.is_empty() {
            return Ok(tree.clone());
        }
        self.with_index(|index| {
            let place = self.results().with_index(index);
            let git = self.git();
            git.call("with.read-tree", &place).args(["read-tree", tree.as_str()]).ok()?;
            let mut list = Vec::new();
            for (path, bytes) in files {
                let call = git.call("with.hash", &place).args(["hash-object", "-w", "--stdin"]);
                let blob = call.stdin(bytes.as_ref()).oid()?;
                list.extend_from_slice(format!("100644 {blob}\t{path}\0").as_bytes());
            }
            let call = git.call("with.add", &place).args(["update-index", "-z", "--index-info"]);
            call.stdin(list).ok()?;
            Ok(git.call("with.write-tree", &place).arg("write-tree").oid()?)
        })
    }

    /// Those of some paths that git is told to ignore where a lane is.
    pub fn ignored<'p>(
        &self,
        lane: &Lane,
        paths: impl Iterator<Item = &'p str>,
    ) -> Result<BTreeSet<String>, RepoError> {
        let mut list: Vec<u8> = Vec::new();
        for path in paths {
            list.extend_from_slice(path.as_bytes());
            list.push(0);
        }
        let place = self.open_lane(lane)?.work.place();
        let call = self.git().call("ignored", &place);
        let call = call.args(["check-ignore", "-z", "--stdin", "--no-index"]);
        // It exits with 1 when there are none.
        let said = call.stdin(list).output()?.stdout;
        let said = said.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        Ok(said.map(|path| String::from_utf8_lossy(path).into_owned()).collect())
    }

    /// What differs between two commits or trees.
    pub fn changes(&self, from: &Oid, to: &Oid) -> Result<Vec<Change>, RepoError> {
        if let Some(found) = self.differing(Some(&self.tree_of(from)?), &self.tree_of(to)?)? {
            return Ok(found.changes);
        }
        self.changes_by_git(from, to)
    }

    pub(crate) fn changes_by_git(&self, from: &Oid, to: &Oid) -> Result<Vec<Change>, RepoError> {
        let place = self.results();
        let call = self.git().call("changes", &place);
        let args = ["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames"];
        let said = call.args(args).args([from.as_str(), to.as_str()]).ok()?;
        let fields: Vec<&[u8]> = said.split(|b| *b == 0).collect();
        let mut changes = Vec::new();
        for pair in fields.chunks_exact(2) {
            let head = String::from_utf8_lossy(pair[0]).into_owned();
            let words: Vec<&str> = head.trim_start_matches(':').split(' ').collect();
            let [old_mode, new_mode, old, new, _] = words[..] else {
                return Err(GitError::Strange { name: "changes", what: head }.into());
            };
            let entry = |mode: &str, oid| -> Result<Entry, RepoError> {
                Ok(Entry { mode: mode.into(), blob: Oid::parse(oid)? })
            };
            changes.push(Change {
                path: as_path(pair[1]),
                old: entry(old_mode, old)?,
                new: entry(new_mode, new)?,
            });
        }
        Ok(changes)
    }

    /// The change between two commits or trees, for reading: binary files are only named.
    pub fn diff(&self, from: &Oid, to: &Oid) -> Result<Vec<u8>, RepoError> {
        self.raw_patch("diff", from, to, &["-M"])
    }

    /// The change between two commits or trees, for applying: binary files are in it.
    pub fn patch(&self, from: &Oid, to: &Oid) -> Result<Vec<u8>, RepoError> {
        self.raw_patch("patch", from, to, &["--binary"])
    }

    /// A patch that depends on nothing but the two trees: no attributes, no work tree, no programs.
    pub(crate) fn raw_patch(
        &self,
        name: &'static str,
        from: &Oid,
        to: &Oid,
        more: &[&str],
    ) -> Result<Vec<u8>, RepoError> {
        let place = self.results();
        let call = self.git().call(name, &place);
        let call = call.args(["diff-tree", "-r", "-p", "--full-index", "--no-ext-diff"]);
        let call = call.args(["--no-textconv", "--no-color", "--no-renames"]).args(more);
        Ok(call.args([from.as_str(), to.as_str()]).ok()?)
    }

    /// A file as it is in a commit or tree: how policy is read from the base, never from a lane.
    pub fn file_at(&self, tree: &Oid, path: &Path) -> Result<Option<Vec<u8>>, RepoError> {
        let place = self.results();
        let mut line = format!("{tree}:").into_bytes();
        line.extend(path.as_os_str().as_bytes());
        line.push(0);
        let call = self.git().call("file-at", &place);
        let said = call.args(["cat-file", "--batch", "-Z"]).stdin(line).ok();
        // Before 2.42 there was no -Z; a path with a line break cannot be asked for there.
        let said = match said {
            Err(GitError::Failed(failure)) if failure.code == Some(129) => {
                let spec = format!("{tree}:{}", path.to_string_lossy());
                let call = self.git().call("file-at", &place);
                let output = call.args(["cat-file", "blob", spec.as_str()]).output()?;
                return match output.code {
                    Some(0) => Ok(Some(output.stdout)),
                    _ => self.tree_of(tree).map(|_| None),
                };
            }
            other => other?,
        };
        match batched(&said) {
            // Git calls a file missing whose commit it does not have. Nobody may take that for a commit without policy.
            None => self.tree_of(tree).map(|_| None),
            found => Ok(found),
        }
    }

    /// A file as it is in a commit or tree, beyond symbolic links, as far as those stay inside of it. Nothing, if it is
    /// no file or its path has a line break.
    pub fn linked_file_at(&self, tree: &Oid, path: &Path) -> Result<Option<Vec<u8>>, RepoError> {
        let mut line = format!("{tree}:").into_bytes();
        line.extend(path.as_os_str().as_bytes());
        if line.contains(&b'\n') {
            return Ok(None);
        }
        line.push(b'\n');
        let place = self.results();
        let call = self.git().call("linked-file-at", &place);
        let said = call.args(["cat-file", "--batch", "--follow-symlinks"]).stdin(line).ok()?;
        let Some(end) = said.iter().position(|byte| *byte == b'\n') else { return Ok(None) };
        let head = String::from_utf8_lossy(&said[..end]).into_owned();
        let [_, "blob", size] = head.split(' ').collect::<Vec<_>>()[..] else { return Ok(None) };
        let size: usize = size.parse().unwrap_or(0);
        Ok(said.get(end + 1..end + 1 + size).map(<[u8]>::to_vec))
    }

    /// The content of a blob.
    pub fn blob(&self, blob: &Oid) -> Result<Vec<u8>, RepoError> {
        let place = self.results();
        let call = self.git().call("blob", &place);
        Ok(call.args(["cat-file", "blob", blob.as_str()]).ok()?)
    }

    /// Writes the files of a commit or tree into a directory that is empty or not there.
    pub fn restore(&self, tree: &Oid, dir: &Path) -> Result<(), RepoError> {
        fs::create_dir_all(dir).doing("made", dir)?;
        if fs::read_dir(dir).doing("read", dir)?.next().is_some() {
            return Err(RepoError::NotEmpty { path: dir.into() });
        }
        let dir = dir.canonicalize().doing("found", dir)?;
        self.with_index(|index| {
            let place = self.results().with_work(&dir, index);
            let call = self.git().call("restore.read-tree", &place);
            call.args(["read-tree", "--reset", "-u", tree.as_str()]).ok()?;
            Ok(())
        })
    }

    /// A tree with some paths as they are in the base, and some files written over: how a lane's
    /// change to a person's own files stays out of a landing, and how artifacts come in.
    pub fn revised(
        &self,
        base: &Oid,
        tree: &Oid,
        as_in_base: &[PathBuf],
        written: &[(PathBuf, Vec<u8>)],
    ) -> Result<Subject, RepoError> {
        let changes = self.changes(base, tree)?;
        let put_back = changes.iter().filter(|change| as_in_base.contains(&change.path));
        let mut list = Vec::new();
        let mut enter = |mode: &str, blob: &Oid, path: &Path| {
            list.extend(format!("{mode} {blob} 0\t").bytes());
            list.extend(path.as_os_str().as_bytes());
            list.push(0);
        };
        for change in put_back {
            enter(&change.old.mode, &change.old.blob, &change.path);
        }
        let place = self.results();
        for (path, bytes) in written {
            let call = self.git().call("revise.hash-object", &place);
            let blob = call.args(["hash-object", "-w", "--stdin"]).stdin(bytes.clone()).oid()?;
            enter("100644", &blob, path);
        }
        let tree = self.with_index(|index| {
            let place = self.results().with_index(index);
            let git = self.git();
            git.call("revise.read-tree", &place).args(["read-tree", tree.as_str()]).ok()?;
            let call = git.call("revise.update-index", &place);
            call.args(["update-index", "-z", "--replace", "--index-info"]).stdin(list).ok()?;
            Ok(git.call("revise.write-tree", &place).arg("write-tree").oid()?)
        })?;
        self.subject(base, &tree)
    }
}

/// The content in the answer of `cat-file --batch -Z`, if there is one and it is a file.
fn batched(said: &[u8]) -> Option<Vec<u8>> {
    let at = said.iter().position(|b| *b == 0)?;
    let head = String::from_utf8_lossy(&said[..at]).into_owned();
    let mut words = head.rsplit(' ');
    let length: usize = words.next()?.parse().ok()?;
    if words.next()? != "blob" {
        return None;
    }
    said.get(at + 1..at + 1 + length).map(<[u8]>::to_vec)
}
