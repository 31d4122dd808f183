//! A work tree of ours: recording what is in it, and putting it right.
//!
//! Both are done with the git directory of the result store and an index that lies beside the work
//! tree, where an agent cannot reach it. Whatever was done to a `.git` inside of the work tree, ours
//! never looks at it: not its configuration, not its index, not its refs, not its excludes.

use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    fs::{self, File},
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::{Path, PathBuf},
};

use crate::{
    error::RepoError,
    extras::exclude_line,
    git::{GitError, Place},
    oid::Oid,
    plugs::{plugs, unplug},
    reopen::reopen,
    store::{Store, Subject},
};

/// A work tree with its index.
pub(crate) struct Work<'s> {
    pub store: &'s Store,
    pub dir: PathBuf,
    pub index: PathBuf,
}

/// What a work tree holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Recorded {
    pub subject: Subject,
    pub nested: Vec<PathBuf>,
    pub left_out: Vec<LeftOut>,
    /// What nobody was allowed to read, until we allowed it to ourselves.
    pub reopened: Vec<PathBuf>,
}

/// Something in a work tree that git cannot hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Where.
    pub path: PathBuf,
    /// Why.
    pub why: &'static str,
}

/// What goes, besides changes to the files that git knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Clean {
    /// Nothing: all of it is known.
    Nothing,
    /// Files that git does not know; what it is told to ignore stays.
    Untracked,
    /// Everything that is not in the tree.
    Everything,
    /// The same but for what git is told to ignore and tools make again, and which makes them quick.
    AllButCaches,
}

/// Directories that tools fill and can fill again, where git is told to ignore them.
const CACHES: &[&str] = &[
    "target",
    "node_modules",
    ".venv",
    "venv",
    "__pycache__",
    ".tox",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".gradle",
    ".next",
    ".nuxt",
    ".turbo",
    ".parcel-cache",
    ".cache",
    "build",
    "obj",
];

/// More than this many are not named one by one.
const CACHES_MAX: usize = 1_000;

/// What differs from the index.
#[derive(Default)]
struct Scan {
    /// Paths that are new or changed.
    changed: BTreeSet<Vec<u8>>,
    removed: BTreeSet<Vec<u8>>,
    /// Directories with a repository of their own.
    nested: BTreeSet<Vec<u8>>,
    /// Files that the lane was given, and that git would take.
    extras: BTreeSet<Vec<u8>>,
}

/// Repositories inside of repositories inside of …
const NESTING_MAX: usize = 32;

impl Work<'_> {
    pub fn place(&self) -> Place {
        self.store.results().with_work(&self.dir, &self.index)
    }

    /// Records everything that is not ignored as a tree. `base` is what it is a change of, and
    /// `last` what was recorded the last time. What may not be read is ours all the same: we give
    /// ourselves the permission, and it is tried once more.
    pub fn record(&self, base: &Oid, last: Option<&Subject>) -> Result<Recorded, RepoError> {
        match self.record_as_it_is(base, last) {
            // Where the work tree itself is closed, git cannot even be started.
            Err(
                closed @ (RepoError::Unreadable { .. }
                | RepoError::Git(GitError::NotStarted { .. })),
            ) => {
                let reopened = reopen(&self.dir);
                if reopened.is_empty() {
                    return Err(closed);
                }
                Ok(Recorded { reopened, ..self.record_as_it_is(base, last)? })
            }
            recorded => recorded,
        }
    }

    fn record_as_it_is(&self, base: &Oid, last: Option<&Subject>) -> Result<Recorded, RepoError> {
        let unplugged = unplug(&self.dir);
        let mut scan = self.scan()?;
        let mut nested = BTreeSet::new();
        for _ in 0..NESTING_MAX {
            let more: Vec<_> = scan.nested.difference(&nested).cloned().collect();
            if more.is_empty() {
                break;
            }
            self.open_up(&more)?;
            nested.extend(more);
            scan = self.scan()?;
        }
        let (wanted, mut left_out) = self.sift(&scan)?;
        let why = "neither a file, a directory nor a link: it was taken away";
        if wanted {
            self.add(&left_out, &scan.extras)?;
        }
        let mut tree = self.indexed()?;
        let change = match last.filter(|last| last.tree == tree) {
            Some(last) => last.change.clone(),
            None => {
                let mut difference = self.store.difference(base, &tree)?;
                if difference.submodules {
                    self.put_back_submodules(base, &tree, &mut left_out)?;
                    tree = self.indexed()?;
                    difference = self.store.difference(base, &tree)?;
                }
                difference.change
            }
        };
        left_out.extend(unplugged.into_iter().map(|path| LeftOut { path, why }));
        let nested = nested.into_iter();
        let nested = nested.map(|path| as_path(path.strip_suffix(b"/").unwrap_or(&path)));
        let (subject, nested) = (Subject { tree, change }, nested.collect());
        Ok(Recorded { subject, nested, left_out, reopened: Vec::new() })
    }

    /// The tree that the index holds.
    fn indexed(&self) -> Result<Oid, RepoError> {
        let known = self.store.index_trees().get(&self.index).cloned();
        if let Some(tree) = known.filter(|_| self.index.exists()) {
            return Ok(tree);
        }
        let place = self.place();
        let tree = self.store.git().call("record.write-tree", &place).arg("write-tree").oid()?;
        self.store.index_trees().insert(self.index.clone(), tree.clone());
        Ok(tree)
    }

    /// To be called by whoever is about to change the index.
    fn changes_index(&self) {
        self.store.index_trees().remove(&self.index);
    }

    /// Whether anything differs from what was recorded or put here last.
    pub fn is_dirty(&self) -> Result<bool, RepoError> {
        // Somebody may be at work here: what they use stays.
        if let Some(plug) = plugs(&self.dir).first() {
            let what = format!("{} is neither a file, a directory nor a link", plug.display());
            return Err(self.unreadable(what.as_bytes()));
        }
        let scan = self.scan()?;
        Ok(!(scan.changed.is_empty() && scan.removed.is_empty() && scan.nested.is_empty()))
    }

    fn scan(&self) -> Result<Scan, RepoError> {
        self.list(&["--exclude-standard"])
    }

    fn list(&self, more: &[&str]) -> Result<Scan, RepoError> {
        let place = self.place();
        let call = self.store.git().call("record.ls-files", &place);
        let call = call.args(["ls-files", "-z", "-t", "-o", "-m", "-d"]).args(more);
        let output = call.output()?;
        // A directory that cannot be read is only warned of, and its files would be missing.
        if output.code != Some(0) || !output.stderr.is_empty() {
            return Err(self.unreadable(&output.stderr));
        }
        let extras: BTreeSet<&[u8]> =
            self.store.settings.extras.iter().map(|e| e.as_os_str().as_bytes()).collect();
        let mut scan = Scan::default();
        for field in output.stdout.split(|b| *b == 0).filter(|field| field.len() > 2) {
            let (tag, path) = (field[0], &field[2..]);
            if extras.contains(path) {
                scan.extras.insert(path.to_vec());
                continue;
            }
            match tag {
                b'R' => scan.removed.insert(path.to_vec()),
                b'?' if path.ends_with(b"/") => scan.nested.insert(path.to_vec()),
                _ => scan.changed.insert(path.to_vec()),
            };
        }
        scan.changed.retain(|path| !scan.removed.contains(path));
        Ok(scan)
    }

    /// Makes git look into directories that have a repository of their own, instead of noting the
    /// repository: it does so where the index knows a file. The file is not there, so it goes again
    /// with the next record.
    fn open_up(&self, nested: &[Vec<u8>]) -> Result<(), RepoError> {
        self.changes_index();
        let place = self.place();
        let git = self.store.git();
        let blob =
            git.call("record.placeholder", &place).args(["hash-object", "-w", "--stdin"]).oid()?;
        let mut list = Vec::new();
        for path in nested {
            list.extend(format!("100644 {blob} 0\t").bytes());
            list.extend(path);
            list.extend(b".windlass-placeholder\0");
        }
        let call = git.call("record.open-up", &place);
        call.args(["update-index", "-z", "--index-info"]).stdin(list).ok()?;
        Ok(())
    }

    /// Holds what was found against the limits, and finds what git cannot hold. The first part says
    /// whether anything is left to be added.
    fn sift(&self, scan: &Scan) -> Result<(bool, Vec<LeftOut>), RepoError> {
        let limits = self.store.settings.limits;
        let too_much = |what, path: &Path, found, limit| {
            Err(RepoError::TooMuch { what, path: path.into(), found, limit })
        };
        let mut left_out = Vec::new();
        let (mut files, mut bytes) = (0, 0);
        for name in &scan.changed {
            let relative = as_path(name);
            let path = self.dir.join(&relative);
            let meta = path.symlink_metadata();
            if let Some(why) = unholdable(&relative, meta.as_ref().is_ok_and(|m| m.is_symlink())) {
                left_out.push(LeftOut { path: relative, why });
                continue;
            }
            let Ok(meta) = meta else { continue };
            if meta.is_file() {
                if meta.len() > limits.file_bytes_max {
                    let what = "the bytes of a file are too many";
                    return too_much(what, &path, meta.len(), limits.file_bytes_max);
                }
                File::open(&path).map_err(|error| {
                    self.unreadable(format!("{}: {error}", path.display()).as_bytes())
                })?;
            }
            files += 1;
            bytes += meta.len();
        }
        if files > limits.files_max {
            return too_much("there are too many new files", &self.dir, files, limits.files_max);
        }
        if bytes > limits.bytes_max {
            return too_much("new files have too many bytes", &self.dir, bytes, limits.bytes_max);
        }
        Ok((files > 0 || !scan.removed.is_empty(), left_out))
    }

    /// Adds everything but these. Git refuses to leave out by name what it leaves out anyway.
    fn add(&self, left_out: &[LeftOut], extras: &BTreeSet<Vec<u8>>) -> Result<(), RepoError> {
        self.changes_index();
        let mut specs = b":(top)\0".to_vec();
        let left_out = left_out.iter().map(|one| one.path.as_os_str().as_bytes());
        for path in left_out.chain(extras.iter().map(Vec::as_slice)) {
            specs.extend(b":(top,exclude,literal)");
            specs.extend(path);
            specs.push(0);
        }
        let place = self.place();
        let call = self.store.git().call("record.add", &place);
        call.args(["add", "-A", "--pathspec-from-file=-", "--pathspec-file-nul"])
            .stdin(specs)
            .ok()
            .map_err(|error| match error.said() {
                Some(said) => self.unreadable(said.as_bytes()),
                None => error.into(),
            })?;
        Ok(())
    }

    /// What a submodule points to is no business of a lane, which has no objects to check it by:
    /// it stays as it is in `base`.
    fn put_back_submodules(
        &self,
        base: &Oid,
        tree: &Oid,
        left_out: &mut Vec<LeftOut>,
    ) -> Result<(), RepoError> {
        let mut list = Vec::new();
        for change in self.store.changes(base, tree)? {
            if change.old.mode == "160000" || change.new.mode == "160000" {
                let old = &change.old;
                list.extend(format!("{} {} 0\t", old.mode, old.blob).bytes());
                list.extend(change.path.as_os_str().as_bytes());
                list.push(0);
                let why = "what a submodule points to is not changed from a lane";
                left_out.push(LeftOut { path: change.path, why });
            }
        }
        self.changes_index();
        let place = self.place();
        let call = self.store.git().call("record.submodules", &place);
        call.args(["update-index", "-z", "--replace", "--index-info"]).stdin(list).ok()?;
        Ok(())
    }

    /// Puts the files of a tree here, and takes away what `clean` says.
    pub fn put(&self, tree: &Oid, clean: Clean) -> Result<(), RepoError> {
        unplug(&self.dir);
        self.changes_index();
        self.insist(|| {
            let place = self.place();
            let call = self.store.git().call("put.read-tree", &place);
            call.args(["read-tree", "--reset", "-u", tree.as_str()]).ok()
        })?;
        self.store.index_trees().insert(self.index.clone(), tree.clone());
        self.clean(tree, clean)
    }

    /// Takes away what `clean` says of what is here besides a tree, which the index holds.
    pub fn clean(&self, tree: &Oid, clean: Clean) -> Result<(), RepoError> {
        if clean != Clean::Nothing && self.has_no_strays(tree)? {
            return Ok(());
        }
        let mut stays = Vec::new();
        let args: &[&str] = match clean {
            Clean::Nothing => return Ok(()),
            Clean::Untracked => &["clean", "-ffdq"],
            Clean::Everything => &["clean", "-ffdxq"],
            Clean::AllButCaches => {
                stays = self.ignored()?.into_iter().filter(|path| self.is_cache(path)).collect();
                &["clean", "-ffdxq"]
            }
        };
        let lines = stays.iter().take(CACHES_MAX).flat_map(|path| {
            let mut line = exclude_line(path);
            line.pop();
            [OsString::from("-e"), OsString::from_vec(line)]
        });
        let lines: Vec<OsString> = lines.collect();
        let place = self.place();
        let call = || self.store.git().call("put.clean", &place).args(args).args(&lines);
        self.insist(|| call().ok())
    }

    /// What git is told to ignore and is there; of a directory that is ignored as a whole, the directory.
    fn ignored(&self) -> Result<Vec<PathBuf>, RepoError> {
        let place = self.place();
        let call = self.store.git().call("ignored.ls-files", &place);
        let args = ["ls-files", "-z", "-o", "-i", "--exclude-standard", "--directory"];
        let listed = call.args(args).output()?.stdout;
        let paths = listed.split(|b| *b == 0).filter(|path| !path.is_empty());
        let paths = paths.map(|path| as_path(path.strip_suffix(b"/").unwrap_or(path)));
        Ok(paths.filter(|path| !path.as_os_str().as_bytes().contains(&b'\n')).collect())
    }

    fn is_cache(&self, path: &Path) -> bool {
        let dir = self.dir.join(path);
        let named = path.file_name().is_some_and(|name| CACHES.iter().any(|it| name == *it));
        let is_dir = dir.symlink_metadata().is_ok_and(|meta| meta.is_dir());
        is_dir && (named || dir.join("CACHEDIR.TAG").is_file())
    }

    /// A tree with what git is told to ignore besides, other than what tools make again and what the lane was given.
    /// Nothing if there is none.
    pub fn with_ignored(&self, tree: &Oid) -> Result<Option<Oid>, RepoError> {
        if self.has_no_strays(tree)? {
            return Ok(None);
        }
        let limits = self.store.settings.limits;
        let (mut bytes, mut specs) = (0, Vec::new());
        for path in self.ignored()? {
            if self.is_cache(&path) || self.store.settings.extras.contains(&path) {
                continue;
            }
            let whole = self.dir.join(&path);
            let own = whole.symlink_metadata().map_or(0, |meta| meta.len());
            let size = own + bytes_below(&whole);
            // So much is no work of anybody's.
            if size > limits.file_bytes_max || bytes + size > limits.bytes_max {
                continue;
            }
            bytes += size;
            specs.extend(b":(top,literal)");
            specs.extend(path.as_os_str().as_bytes());
            specs.push(0);
        }
        if specs.is_empty() {
            return Ok(None);
        }
        let made = self.store.with_index(|index| {
            let place = self.store.results().with_work(&self.dir, index);
            let git = self.store.git();
            git.call("ignored.read-tree", &place).args(["read-tree", tree.as_str()]).ok()?;
            let call = git.call("ignored.add", &place).args(["add", "-f", "--ignore-errors"]);
            // What git cannot hold it leaves out, and says so.
            call.args(["--pathspec-from-file=-", "--pathspec-file-nul"]).stdin(specs).output()?;
            Ok(git.call("ignored.write-tree", &place).arg("write-tree").oid()?)
        })?;
        Ok(Some(made).filter(|made| made != tree))
    }

    /// Directories that may not be written stand in the way of git, but they are ours: they are
    /// opened up, and it is tried once more.
    fn insist(&self, put: impl Fn() -> Result<Vec<u8>, GitError>) -> Result<(), RepoError> {
        match put() {
            Err(GitError::Failed(_)) => {
                reopen(&self.dir);
                put()?;
            }
            other => drop(other?),
        }
        Ok(())
    }

    /// What is here and not in the tree that was put here, ignored or not.
    pub fn differences(&self) -> Result<Vec<PathBuf>, RepoError> {
        unplug(&self.dir);
        let scan = self.list(&[])?;
        let all = scan.changed.iter().chain(&scan.removed).chain(&scan.nested);
        Ok(all.map(|path| as_path(path)).collect())
    }

    fn unreadable(&self, said: &[u8]) -> RepoError {
        let what = String::from_utf8_lossy(said).trim().to_owned();
        RepoError::Unreadable { path: self.dir.clone(), what }
    }
}

pub(crate) fn as_path(bytes: &[u8]) -> PathBuf {
    OsString::from_vec(bytes.to_vec()).into()
}

/// Why git would not take a path, if it would not. Other names that are special on other systems
/// are taken, so that nothing is lost; a landing refuses them.
pub(crate) fn unholdable(path: &Path, symlink: bool) -> Option<&'static str> {
    let is = |part: &OsStr, name: &str| part.eq_ignore_ascii_case(name);
    if path.iter().any(|part| is(part, ".git")) {
        Some("git keeps the name .git for itself")
    } else if symlink && path.file_name().is_some_and(|name| is(name, ".gitmodules")) {
        Some("git takes no symbolic link for .gitmodules")
    } else {
        None
    }
}

/// The bytes below a directory, as the disk counts them.
pub(crate) fn bytes_below(dir: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let mut sum = 0;
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if let Ok(meta) = entry.metadata() {
            sum += meta.blocks() * 512;
            if meta.is_dir() {
                sum += bytes_below(&entry.path());
            }
        }
    }
    sum
}
