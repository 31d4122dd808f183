//! The person's repository: found, looked at, and otherwise left alone.
//!
//! What it may be like, and what comes of it:
//!
//! | it is | then |
//! |---|---|
//! | not a repository | refused, with what to do; or a shadow stands in for it (`shadow.rs`) |
//! | a bare one | refused, with what to do |
//! | owned by another user | refused, with the command that says it is trusted |
//! | without a commit | refused, with a command that makes one |
//! | shallow or partial | refused: a lane must be able to see the history it stands on |
//! | on a detached HEAD | works; there is no branch to start from, so one must be named |
//! | one of several linked work trees | works; each of them may have its own branch checked out |
//! | dirty | works; a landing waits when a file it changes is modified or in the way |
//! | in the middle of a merge, rebase, pick or revert | works; a landing on that checkout waits |
//! | sparse, or on a file system that folds case | works; a landing on that checkout waits |
//! | with submodules | works; lanes have empty directories there, and what submodules point to never changes |
//! | with filters (LFS and the like) | works on what git stores; a landing that changes such a file in a checkout waits |
//! | borrowing objects from elsewhere | works; the mirror gets copies |
//! | in a path with spaces, colons, line breaks or no UTF-8 | works |
//! | on a file system that cannot be written | works until something should land |

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::{OsStr, OsString},
    fs,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use rustix::{
    fs::{Access, access},
    process::geteuid,
};

use crate::{
    error::{Doing, RepoError},
    git::{Git, GitError, Place, Run, strange},
    name::Branch,
    oid::Oid,
    ordinary::Ordinary,
    person::Person,
    work::as_path,
};

/// The ref our notes are under.
pub(crate) const NOTES: &str = "refs/notes/windlass";

/// A repository of a person.
#[derive(Clone, Debug)]
pub struct Repository {
    pub(crate) git: Git,
    top: PathBuf,
    git_dir: PathBuf,
    common_dir: PathBuf,
    format: String,
    whose: Whose,
}

/// Whose git directory it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// The person's.
    Theirs,
    /// A shadow of ours: the person's directory is in no repository.
    Ours,
}

/// A checkout of the repository: its main work tree or a linked one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkout {
    /// Where its files are.
    pub path: PathBuf,
    pub(crate) git_dir: PathBuf,
    /// The whole name of the branch that is checked out, if one is.
    pub branch: Option<String>,
    /// Whether its files are really there: git may not know where the main work tree of a
    /// submodule, or of a repository with a separate git directory, is.
    pub found: bool,
}

/// Something about a repository that a person should know before a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remark {
    /// It has submodules.
    Submodules,
    /// These filters are configured, and files may be meant for them.
    Filters(Vec<String>),
    /// Not all files are checked out.
    Sparse,
    /// Its file system folds case.
    FoldsCase,
    /// This is under way in the checkout: a merge, for instance.
    UnderWay(&'static str),
    /// It cannot be written.
    ReadOnly,
}

impl std::fmt::Display for Remark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Remark::Submodules => f.write_str("it has submodules: lanes see them empty"),
            Remark::Filters(names) => {
                let names = names.join(", ");
                write!(
                    f,
                    "its filters ({names}) are not run: files that need them should be left alone"
                )
            }
            Remark::Sparse => f.write_str("its checkout is sparse: work waits beside it"),
            Remark::FoldsCase => f.write_str(
                "its file system does not tell upper from lower case: work waits beside it",
            ),
            Remark::UnderWay(what) => write!(f, "a {what} is under way in the checkout"),
            Remark::ReadOnly => f.write_str("it cannot be written: nothing can land"),
        }
    }
}

/// What the person's configuration says, of all that could matter here.
#[derive(Clone, Debug, Default)]
pub(crate) struct Config {
    /// As `author.…` and as `user.…`, of which the first outranks the second.
    name: [Option<String>; 2],
    email: [Option<String>; 2],
    pub sparse: bool,
    pub folds_case: bool,
    partial: bool,
    filters: BTreeSet<String>,
    /// Harmless settings that say how files of a checkout are written.
    pub files: Vec<(String, OsString)>,
    /// How new files in the git directory are shared.
    pub shared: Option<OsString>,
    /// Where hooks are, if not in the git directory.
    hooks: Option<PathBuf>,
}

impl Repository {
    /// Finds the repository that a path is in, without asking whether anything can be done with it. Git is asked wherever
    /// there is any doubt what it would say.
    pub fn find(git: &Git, path: &Path) -> Result<Repository, RepoError> {
        let path = path.canonicalize().doing("found", path)?;
        if git.sees_plainly()
            && let Some(Ordinary { top, git_dir }) = Ordinary::around(&path, geteuid().as_raw())
        {
            return Ok(Repository::whole(git, top, git_dir, Whose::Theirs));
        }
        Self::asked(git, path)
    }

    /// The same, as git says.
    fn asked(git: &Git, path: PathBuf) -> Result<Repository, RepoError> {
        let here = Place { dir: path.clone(), theirs: true, ..Place::default() };
        let flags = ["--is-bare-repository", "--is-inside-work-tree", "--show-object-format"];
        let places = ["--show-toplevel", "--git-dir", "--git-common-dir"];
        let call = || {
            let call = git.call("find.place", &here).args(["rev-parse", "--path-format=absolute"]);
            call.args(flags).args(places)
        };
        let said = call().output()?;
        let lines: Vec<&[u8]> = said.stdout.split(|b| *b == b'\n').collect();
        let flag = |at: usize| lines.get(at).is_some_and(|line| line == b"true");
        if flag(0) {
            return Err(RepoError::Bare { path });
        }
        if lines.get(1).is_some_and(|inside| *inside == b"false") {
            return Err(RepoError::NotARepository { path });
        }
        if said.code != Some(0) {
            // Once more, for what git has to say about it.
            call().ok().map_err(|error| not_found(&path, error))?;
        }
        let format = lines.get(2).map(|line| String::from_utf8_lossy(line).into_owned());
        // A path may have a line break in it: then each is asked for by itself.
        let [top, git_dir, common_dir] = match lines.get(3..) {
            Some([top, git_dir, common_dir, []]) => [*top, *git_dir, *common_dir].map(as_path),
            _ => {
                let ask = |what: &str| -> Result<PathBuf, RepoError> {
                    let call = git.call("find.path", &here);
                    let mut said = call.args(["rev-parse", "--path-format=absolute", what]).ok()?;
                    said.pop();
                    Ok(as_path(&said))
                };
                let [top, git_dir, common_dir] = places;
                [ask(top)?, ask(git_dir)?, ask(common_dir)?]
            }
        };
        let format = format.unwrap_or_default();
        let whose = Whose::Theirs;
        Ok(Repository { git: git.clone(), top, git_dir, common_dir, format, whose })
    }

    /// A directory with a git directory of ours.
    pub(crate) fn ours(git: &Git, top: PathBuf, git_dir: PathBuf) -> Repository {
        Self::whole(git, top, git_dir, Whose::Ours)
    }

    /// A work tree with a git directory for itself, of the kind that is made where nobody asks for another.
    fn whole(git: &Git, top: PathBuf, git_dir: PathBuf, whose: Whose) -> Repository {
        let (common_dir, format) = (git_dir.clone(), "sha1".to_owned());
        Repository { git: git.clone(), top, git_dir, common_dir, format, whose }
    }

    /// Whether the person has a repository. If not, a shadow stands in for it.
    pub fn has_git(&self) -> bool {
        self.whose == Whose::Theirs
    }

    /// Whether lanes can be built from it, and if not, why.
    pub fn usable(&self) -> Result<(), RepoError> {
        self.git.new_enough()?;
        if !self.has_git() {
            return Ok(());
        }
        let shallow = fs::metadata(self.common_dir.join("shallow"));
        if shallow.is_ok_and(|file| file.len() > 0) {
            return Err(RepoError::Shallow { path: self.top.clone() });
        }
        if self.config()?.partial {
            return Err(RepoError::Partial { path: self.top.clone() });
        }
        self.head().map(drop)
    }

    /// The same repository, with a git that is started by somebody else.
    pub fn run_by(&self, run: Arc<dyn Run>) -> Repository {
        Repository { git: self.git.run_by(run), ..self.clone() }
    }

    /// The top directory of the checkout.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// The git directory that all its checkouts share.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    pub(crate) fn objects(&self) -> PathBuf {
        self.common_dir.join("objects")
    }

    /// `sha1` or `sha256`.
    pub(crate) fn format(&self) -> &str {
        &self.format
    }

    /// Where calls stand that read and move its refs.
    pub(crate) fn refs(&self) -> Place {
        self.refs_of(&self.git_dir, &self.top)
    }

    pub(crate) fn refs_of(&self, git_dir: &Path, work_tree: &Path) -> Place {
        Place {
            dir: self.common_dir.clone(),
            git_dir: Some(git_dir.into()),
            common_dir: Some(self.common_dir.clone()),
            work_tree: Some(work_tree.into()),
            ..Place::default()
        }
    }

    /// The commit that is checked out.
    pub fn head(&self) -> Result<Oid, RepoError> {
        self.resolve("HEAD^{commit}")?
            .ok_or_else(|| RepoError::NoCommits { path: self.top.clone() })
    }

    /// The branch that is checked out.
    pub fn branch(&self) -> Result<Branch, RepoError> {
        let place = self.refs();
        let call = self.git.call("find.branch", &place).args(["symbolic-ref", "-q", "HEAD"]);
        let output = call.output()?;
        let name = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
        match name.strip_prefix("refs/heads/") {
            Some(name) => Ok(Branch::new(name)?),
            None => Err(RepoError::Detached { path: self.top.clone() }),
        }
    }

    /// The commit at the tip of a branch, if there is such a branch.
    pub fn tip(&self, branch: &Branch) -> Result<Option<Oid>, RepoError> {
        self.resolve(&format!("{}^{{commit}}", branch.full()))
    }

    /// What git calls itself.
    pub fn version(&self) -> String {
        self.git.version().unwrap_or_else(|error| error.to_string())
    }

    /// Whether it has a commit.
    pub fn has(&self, commit: &Oid) -> Result<bool, RepoError> {
        Ok(self.resolve(&format!("{commit}^{{commit}}"))?.is_some())
    }

    /// Whether what is checked out has a commit in its history.
    pub fn has_taken(&self, commit: &Oid) -> Result<bool, RepoError> {
        let place = self.refs();
        let call = self.git.call("find.has-taken", &place);
        let args = ["merge-base", "--is-ancestor", commit.as_str(), "HEAD"];
        Ok(call.args(args).output()?.code == Some(0))
    }

    fn resolve(&self, what: &str) -> Result<Option<Oid>, RepoError> {
        let place = self.refs();
        let call = self.git.call("find.resolve", &place);
        let output =
            call.args(["rev-parse", "-q", "--verify", "--end-of-options", what]).output()?;
        match output.code {
            Some(0) => Ok(Some(Oid::printed(&output.stdout)?)),
            _ => Ok(None),
        }
    }

    /// All branches, and our notes, by their whole names.
    /// Whether there is a branch of this name.
    pub fn has_branch(&self, branch: &Branch) -> Result<bool, RepoError> {
        Ok(self.heads()?.contains_key(branch.full().as_bytes()))
    }

    /// The branches that have a commit in their history, by the names people use.
    pub fn branches_with(&self, commit: &Oid) -> Result<Vec<String>, RepoError> {
        let place = self.refs();
        let call = self.git.call("branches-with", &place);
        let args = ["for-each-ref", "--format=%(refname:lstrip=2)", "--contains"];
        let said = call.args(args).args([commit.as_str(), "refs/heads"]).ok()?;
        Ok(String::from_utf8_lossy(&said).lines().map(str::to_owned).collect())
    }

    pub(crate) fn heads(&self) -> Result<BTreeMap<Vec<u8>, Oid>, RepoError> {
        let place = self.refs();
        let said = self
            .git
            .call("sync.heads", &place)
            .args(["for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", NOTES])
            .ok()?;
        let lines = said.split(|b| *b == b'\n').filter(|line| !line.is_empty());
        lines
            .map(|line| {
                let at = line.iter().position(|b| *b == b' ').unwrap_or(line.len());
                let name = line.get(at + 1..).unwrap_or_default().to_vec();
                Ok((name, Oid::printed(&line[..at]).map_err(|e| strange("sync.heads", &e))?))
            })
            .collect()
    }

    /// Its main work tree and the linked ones, as far as they are there.
    pub fn checkouts(&self) -> Result<Vec<Checkout>, RepoError> {
        if !self.has_git() {
            return Ok(vec![self.only_checkout()]);
        }
        let place = self.refs();
        let call = self.git.call("find.checkouts", &place);
        let said = call.args(["worktree", "list", "--porcelain", "-z"]).ok()?;
        let linked = self.linked();
        let mut checkouts = Vec::new();
        let fields: Vec<&[u8]> = said.split(|b| *b == 0).collect();
        for record in fields.split(|field| field.is_empty()) {
            let field = |name: &[u8]| record.iter().find_map(|f| f.strip_prefix(name));
            let Some(path) = field(b"worktree ") else { continue };
            let path = PathBuf::from(OsStr::from_bytes(path));
            let main = checkouts.is_empty();
            // Where git is asked from, it knows.
            let path =
                if main && self.git_dir == self.common_dir { self.top.clone() } else { path };
            let branch = field(b"branch ").map(|b| String::from_utf8_lossy(b).into_owned());
            let bare = record.contains(&b"bare".as_slice());
            let git_dir = match path.canonicalize().ok().and_then(|path| linked.get(&path)) {
                Some(git_dir) => git_dir.clone(),
                None => self.common_dir.clone(),
            };
            // Any other than the main one without a directory of its own is gone.
            if !bare && (main || git_dir != self.common_dir) {
                let found = belongs(&path, &git_dir);
                checkouts.push(Checkout { path, git_dir, branch, found });
            }
        }
        Ok(checkouts)
    }

    /// The git directories of linked work trees, by where those are.
    fn linked(&self) -> BTreeMap<PathBuf, PathBuf> {
        let Ok(entries) = fs::read_dir(self.common_dir.join("worktrees")) else {
            return BTreeMap::new();
        };
        let of = |git_dir: PathBuf| {
            let mut said = fs::read(git_dir.join("gitdir")).ok()?;
            said.pop_if(|last| *last == b'\n');
            let dot_git = git_dir.join(OsStr::from_bytes(&said));
            Some((dot_git.parent()?.canonicalize().ok()?, git_dir))
        };
        entries.filter_map(|entry| of(entry.ok()?.path())).collect()
    }

    /// Whether the person's index has a file: then it is theirs, whatever it holds.
    pub fn tracks(&self, path: &str) -> Result<bool, RepoError> {
        if !self.has_git() {
            return Ok(false);
        }
        let place = Place { dir: self.top.clone(), theirs: true, ..Place::default() };
        let call = self.git.call("tracks", &place).args(["ls-files", "-z", "--", path]);
        Ok(!call.ok()?.is_empty())
    }

    /// Who the person is, for the commits that land.
    pub fn identity(&self) -> Result<Person, RepoError> {
        let config = self.config()?;
        let first = |texts: [Option<String>; 2]| texts.into_iter().flatten().next();
        match (first(config.name), first(config.email)) {
            (Some(name), Some(email)) => Person::new(&name, &email),
            // Whoever does without git need not have told it who they are.
            _ if !self.has_git() => Ok(Person::windlass()),
            (None, _) => Err(RepoError::NoIdentity { what: "name" }),
            (_, None) => Err(RepoError::NoIdentity { what: "email" }),
        }
    }

    /// The hook that git would run before a commit of the person's, if they have one. We never run it ourselves: it is
    /// for whoever runs it where it can do no harm.
    pub fn pre_commit(&self) -> Result<Option<PathBuf>, RepoError> {
        if !self.has_git() {
            return Ok(None);
        }
        let named = self.config()?.hooks;
        let hooks = match named {
            None => self.common_dir.join("hooks"),
            Some(path) => match (path.strip_prefix("~"), self.git.home()) {
                (Ok(below), Some(home)) => home.join(below),
                _ => self.top.join(path),
            },
        };
        let hook = hooks.join("pre-commit");
        let runs = |meta: fs::Metadata| {
            meta.is_file()
                && std::os::unix::fs::PermissionsExt::mode(&meta.permissions()) & 0o111 != 0
        };
        Ok(fs::metadata(&hook).is_ok_and(runs).then_some(hook))
    }

    /// What a person should know before a run.
    pub fn remarks(&self) -> Result<Vec<Remark>, RepoError> {
        let config = self.config()?;
        let mut remarks = Vec::new();
        if self.has_git() && self.resolve("HEAD:.gitmodules")?.is_some() {
            remarks.push(Remark::Submodules);
        }
        if !config.filters.is_empty() {
            remarks.push(Remark::Filters(config.filters.into_iter().collect()));
        }
        if config.sparse {
            remarks.push(Remark::Sparse);
        }
        if config.folds_case {
            remarks.push(Remark::FoldsCase);
        }
        remarks.extend(under_way(&self.git_dir).map(Remark::UnderWay));
        if self.writable().is_err() {
            remarks.push(Remark::ReadOnly);
        }
        Ok(remarks)
    }

    pub(crate) fn writable(&self) -> Result<(), RepoError> {
        let path = if self.has_git() { &self.common_dir } else { &self.top };
        access(path, Access::WRITE_OK)
            .map_err(|errno| RepoError::ReadOnly { path: path.clone(), source: errno.into() })
    }

    /// Reads the person's configuration, all files of it. That runs nothing, whatever it says.
    pub(crate) fn config(&self) -> Result<Config, RepoError> {
        let place = Place { theirs: true, ..self.refs() };
        let call = self.git.call("find.config", &place);
        let said = call.args(["config", "--list", "--includes", "--show-scope", "-z"]).ok()?;
        let fields: Vec<&[u8]> = said.split(|b| *b == 0).collect();
        let mut config = Config::default();
        for pair in fields.chunks_exact(2) {
            // The command line's are our own.
            if pair[0] != b"command" {
                let at = pair[1].iter().position(|b| *b == b'\n');
                let (key, value) = match at {
                    Some(at) => (&pair[1][..at], &pair[1][at + 1..]),
                    None => (pair[1], b"true".as_slice()),
                };
                config.note(&String::from_utf8_lossy(key), value);
            }
        }
        if self.has_git() {
            return Ok(config);
        }
        // What they have settled for their repositories does not hold where there is none: files are copied as they are.
        let (name, email) = (config.name, config.email);
        Ok(Config { name, email, folds_case: self.folds_case(), ..Config::default() })
    }
}

impl Config {
    fn note(&mut self, key: &str, value: &[u8]) {
        let text = || Some(String::from_utf8_lossy(value).into_owned()).filter(|t| !t.is_empty());
        let yes = matches!(value.to_ascii_lowercase().as_slice(), b"true" | b"yes" | b"on" | b"1");
        match key {
            "author.name" => self.name[0] = text(),
            "user.name" => self.name[1] = text(),
            "author.email" => self.email[0] = text(),
            "user.email" => self.email[1] = text(),
            "core.sparsecheckout" => self.sparse = yes,
            "core.ignorecase" => self.folds_case = yes,
            "extensions.partialclone" => self.partial = true,
            "core.hookspath" => self.hooks = text().map(PathBuf::from),
            "core.sharedrepository" => self.shared = Some(OsStr::from_bytes(value).into()),
            "core.autocrlf"
            | "core.eol"
            | "core.filemode"
            | "core.symlinks"
            | "core.checkstat"
            | "core.trustctime"
            | "core.checkroundtripencoding" => {
                self.files.push((key.to_owned(), OsStr::from_bytes(value).into()));
            }
            _ => {
                if let Some(filter) = key.strip_prefix("filter.") {
                    let name = filter.rsplit_once('.').map_or(filter, |(name, _)| name);
                    self.filters.insert(name.to_owned());
                } else if key.starts_with("remote.") && key.ends_with(".promisor") {
                    self.partial |= yes;
                }
            }
        }
    }
}

/// Whether the `.git` of a work tree is, or names, this git directory.
fn belongs(path: &Path, git_dir: &Path) -> bool {
    let dot_git = path.join(".git");
    let named = || {
        let mut said = fs::read(&dot_git).ok()?;
        said.pop_if(|last| *last == b'\n');
        Some(path.join(OsStr::from_bytes(said.strip_prefix(b"gitdir: ")?)))
    };
    let there = if dot_git.is_dir() { Some(dot_git) } else { named() };
    let there = there.and_then(|there| there.canonicalize().ok());
    there.is_some() && there == git_dir.canonicalize().ok()
}

/// What is under way in a checkout, by the files that git leaves while it is.
pub(crate) fn under_way(git_dir: &Path) -> Option<&'static str> {
    let marks = [
        ("MERGE_HEAD", "a merge"),
        ("CHERRY_PICK_HEAD", "a cherry-pick"),
        ("REVERT_HEAD", "a revert"),
        ("rebase-merge", "a rebase"),
        ("rebase-apply", "a rebase"),
    ];
    marks.into_iter().find(|(mark, _)| git_dir.join(mark).exists()).map(|(_, what)| what)
}

fn not_found(path: &Path, error: GitError) -> RepoError {
    match error.said() {
        Some(said) if said.contains("dubious ownership") => {
            RepoError::NotTrusted { path: path.into() }
        }
        Some(said) if said.contains("not a git repository") => {
            RepoError::NotARepository { path: path.into() }
        }
        _ => error.into(),
    }
}
