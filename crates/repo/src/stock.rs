//! Taking stock of a directory that is in no repository: what it holds becomes a commit of its shadow.
//!
//! What is recorded depends on the directory alone, not on what was recorded before: a file that the person has since named
//! in a `.gitignore` goes. The files are theirs, so nothing is opened up, moved or taken away to get at it, as in a lane: what
//! cannot be recorded is left out, and said.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use rustix::fs::{Access, access};

use crate::{
    error::RepoError,
    git::Place,
    oid::Oid,
    person::When,
    repository::Repository,
    shadow::{self, NEVER},
    store::{Commit, Limits, Store},
    work::{LeftOut, as_path, unholdable},
};

/// What a directory held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stock {
    /// The commit of it.
    pub commit: Oid,
    /// Whether it was made just now: before that the directory held something else, or nobody had looked.
    pub changed: bool,
    /// What was not recorded, in the order of its paths. What a `.gitignore` names is not in here.
    pub left_out: Vec<LeftOut>,
}

/// More than this is not even looked at, recorded or not.
const LOOKED_AT_MAX: u64 = 1_000_000;

const NOT_SOURCE: &str = "not source, by its name";
const NOT_READABLE: &str = "you may not read it";

impl Store {
    /// Records what the person's directory holds, as far as that has changed: what runs begin with where there is no git.
    /// What a crash left half done there is set right first, so that none of it is ever taken for the person's.
    ///
    /// # Errors
    ///
    /// When it holds more than the limits of a snapshot, or something that git would wait for without end.
    pub fn take_stock(&self, when: When) -> Result<Stock, RepoError> {
        let repository = &self.repository;
        if repository.has_git() {
            let what = "what it holds is recorded by its own git";
            return Err(RepoError::BadRequest(what.into()));
        }
        repository.make_shadow()?;
        self.recover()?;
        shadow::exclude_in(repository.common_dir())?;
        let mut walk = Walk::over(repository.top())?;
        let found = self.with_index(|empty| self.found(empty, walk.has_closed))?;
        let wanted = sift(repository, &self.settings.limits, found, &mut walk.left_out)?;
        walk.forget_what_is_wanted(&wanted);
        let tree = self.index_exactly(&wanted)?;
        let place = Place::bare(repository.common_dir());
        let before = repository.tip(&repository.branch()?)?;
        let held = before.as_ref().map(|before| self.tree_at(&place, before)).transpose()?;
        let (commit, changed) = match before {
            Some(before) if held.as_ref() == Some(&tree) => (before, false),
            before => (self.commit_stock(&place, &tree, before.as_ref(), when)?, true),
        };
        Ok(Stock { commit, changed, left_out: walk.left_out })
    }

    /// Makes the commit, and moves the branch of the shadow to it.
    fn commit_stock(
        &self,
        place: &Place,
        tree: &Oid,
        before: Option<&Oid>,
        when: When,
    ) -> Result<Oid, RepoError> {
        let parents: Vec<Oid> = before.into_iter().cloned().collect();
        let (parents, author) = (parents.as_slice(), &self.settings.committer);
        let message = "What the directory held";
        let commit = self.commit_at(place, &Commit { tree, parents, message, author, when })?;
        let none = commit.zero_like();
        let from = before.map_or(none.as_str(), Oid::as_str);
        let flushing = place.clone().flushing();
        let call = self.git().call("stock.update-ref", &flushing);
        let args = ["update-ref", "--no-deref", shadow::BRANCH, commit.as_str(), from];
        call.args(args).ok()?;
        Ok(commit)
    }

    /// Where calls stand that look at the person's files.
    fn files(&self, index: &Path) -> Place {
        Place::bare(self.repository.common_dir()).with_work(self.repository.top(), index)
    }

    /// All that git would record, told with an index that has nothing in it. A directory that nobody may read is passed over;
    /// anything else that git warns of would make the record another one than the person means.
    fn found(&self, empty: &Path, has_closed: bool) -> Result<Vec<Vec<u8>>, RepoError> {
        let place = self.files(empty);
        let call = self.git().call("stock.ls-files", &place);
        let output = call.args(["ls-files", "-z", "-o", "--exclude-standard"]).output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        let passed_over = |line: &str| {
            has_closed && line.starts_with("warning: could not open directory ") || line.is_empty()
        };
        if output.code != Some(0) || !said.lines().all(passed_over) {
            return Err(unreadable(&self.repository, &said));
        }
        let names = output.stdout.split(|b| *b == 0).filter(|name| !name.is_empty());
        Ok(names.map(<[u8]>::to_vec).collect())
    }

    /// Makes the index hold these files as they are now, and nothing else.
    fn index_exactly(&self, wanted: &BTreeSet<Vec<u8>>) -> Result<Oid, RepoError> {
        let index = self.repository.common_dir().join("index");
        let place = self.files(&index);
        let git = self.git();
        let known = git.call("stock.known", &place).args(["ls-files", "-z"]).ok()?;
        let known = known.split(|b| *b == 0).filter(|name| !name.is_empty());
        let gone: BTreeSet<Vec<u8>> =
            known.filter(|name| !wanted.contains(*name)).map(<[u8]>::to_vec).collect();
        let list = |names: &BTreeSet<Vec<u8>>| -> Vec<u8> {
            names.iter().flat_map(|name| [name.as_slice(), b"\0"].concat()).collect()
        };
        let call = git.call("stock.forget", &place);
        call.args(["update-index", "-z", "--force-remove", "--stdin"]).stdin(list(&gone)).ok()?;
        // What has vanished since it was listed is gone, and no mistake.
        let call = git.call("stock.add", &place);
        let call = call.args(["update-index", "-z", "--add", "--remove", "--replace", "--stdin"]);
        call.stdin(list(wanted)).ok().map_err(|error| match error.said() {
            Some(said) => unreadable(&self.repository, said),
            None => error.into(),
        })?;
        Ok(git.call("stock.write-tree", &place).arg("write-tree").oid()?)
    }

    fn tree_at(&self, place: &Place, commit: &Oid) -> Result<Oid, RepoError> {
        let call = self.git().call("stock.tree", place);
        Ok(call.args(["rev-parse", "--verify", &format!("{commit}^{{tree}}")]).oid()?)
    }
}

fn unreadable(repository: &Repository, said: &str) -> RepoError {
    RepoError::Unreadable { path: repository.top().into(), what: said.trim().to_owned() }
}

/// What of this can be recorded, held against the limits.
fn sift(
    repository: &Repository,
    limits: &Limits,
    found: Vec<Vec<u8>>,
    left_out: &mut Vec<LeftOut>,
) -> Result<BTreeSet<Vec<u8>>, RepoError> {
    let too_big = |path: &Path, found: String, limit: String| {
        Err(RepoError::TooBig { path: path.into(), found, limit })
    };
    let top = repository.top();
    let (mut wanted, mut bytes) = (BTreeSet::new(), 0);
    for name in found {
        let path = as_path(name.strip_suffix(b"/").unwrap_or(&name));
        let mut leave = |why| left_out.push(LeftOut { path: path.clone(), why });
        if name.ends_with(b"/") {
            leave("a repository of its own: Windlass can be started in there");
            continue;
        }
        let Ok(meta) = top.join(&path).symlink_metadata() else { continue };
        if let Some(why) = unholdable(&path, meta.is_symlink()) {
            leave(why);
            continue;
        }
        if meta.is_file() && access(top.join(&path), Access::READ_OK).is_err() {
            leave(NOT_READABLE);
            continue;
        }
        if meta.len() > limits.file_bytes_max {
            let limit = format!("files of {} bytes", limits.file_bytes_max);
            return too_big(&top.join(&path), format!("{} bytes", meta.len()), limit);
        }
        bytes += meta.len();
        wanted.insert(name);
    }
    let files = wanted.len() as u64;
    if files > limits.files_max {
        return too_big(top, format!("{files} files"), limits.files_max.to_string());
    }
    if bytes > limits.bytes_max {
        let limit = format!("{} in all", limits.bytes_max);
        return too_big(top, format!("files of {bytes} bytes in all"), limit);
    }
    left_out.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(wanted)
}

/// What git would not tell of: what it passes over, and what it would wait for.
struct Walk {
    left_out: Vec<LeftOut>,
    /// Whether there are directories that nobody may read.
    has_closed: bool,
}

impl Walk {
    fn over(top: &Path) -> Result<Walk, RepoError> {
        let mut walk = Walk { left_out: Vec::new(), has_closed: false };
        let (mut open, mut looked_at) = (vec![(PathBuf::new(), false)], 0);
        while let Some((below, hushed)) = open.pop() {
            let Ok(entries) = fs::read_dir(top.join(&below)) else {
                walk.has_closed = true;
                walk.leave(below, NOT_READABLE, hushed);
                continue;
            };
            for entry in entries.flatten() {
                looked_at += 1;
                let path = below.join(entry.file_name());
                let Ok(kind) = entry.file_type() else { continue };
                let never = is_never(&path, kind.is_dir());
                if never {
                    walk.leave(path.clone(), NOT_SOURCE, hushed);
                }
                if kind.is_dir() && entry.file_name() != ".git" {
                    open.push((path, hushed || never));
                } else if !(kind.is_dir() || kind.is_file() || kind.is_symlink()) {
                    pass_by(top, &path)?;
                    walk.leave(path, "neither a file, a directory nor a link", hushed || never);
                }
            }
            if looked_at > LOOKED_AT_MAX {
                let (found, limit) =
                    (format!("more than {LOOKED_AT_MAX} files"), "far fewer".to_owned());
                return Err(RepoError::TooBig { path: top.into(), found, limit });
            }
        }
        Ok(walk)
    }

    /// Within what is left out anyway there is nothing more to be said.
    fn leave(&mut self, path: PathBuf, why: &'static str, hushed: bool) {
        if !hushed {
            self.left_out.push(LeftOut { path, why });
        }
    }

    /// What a `.gitignore` has asked for all the same is not left out.
    fn forget_what_is_wanted(&mut self, wanted: &BTreeSet<Vec<u8>>) {
        self.left_out.retain(|one| {
            let name = one.path.as_os_str().as_bytes();
            let below = [name, b"/"].concat();
            let mut after = wanted.range(below.clone()..);
            one.why != NOT_SOURCE
                || !wanted.contains(name) && !after.next().is_some_and(|it| it.starts_with(&below))
        });
    }
}

/// Git opens these two wherever it finds them, and waits for whoever writes into a pipe.
fn pass_by(top: &Path, path: &Path) -> Result<(), RepoError> {
    let opened = [".gitignore", ".gitattributes"];
    if path.file_name().is_some_and(|name| opened.iter().any(|own| name == *own)) {
        let what = format!(
            "{} is neither a file, a directory nor a link: take it away",
            top.join(path).display()
        );
        return Err(RepoError::Unreadable { path: top.into(), what });
    }
    Ok(())
}

/// Whether a path is one of those that are never recorded.
fn is_never(path: &Path, is_dir: bool) -> bool {
    NEVER.iter().any(|line| {
        let (name, dirs_only) = match line.strip_suffix('/') {
            Some(name) => (name, true),
            None => (*line, false),
        };
        let is = match name.strip_prefix('/') {
            Some(whole) => path == Path::new(whole),
            None => path.file_name().is_some_and(|own| own == name),
        };
        is && (is_dir || !dirs_only)
    })
}
