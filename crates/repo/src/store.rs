//! What Windlass keeps beside a person's repository, in a directory of its own:
//!
//! ```text
//! mirror.git/       their branches and history: what lanes borrow, read-only
//! results.git/      everything made by units: snapshots, checkpoints, results; borrows the mirror
//! lanes/<n>/work    the work tree of a lane, with a `.git` of its own for the agent
//! lanes/<n>/…       what we keep about it, out of the agent's sight
//! checks/<n>/       clean checkouts, likewise
//! shadow.git/       only for a directory without git: what it held when each run began
//! unfinished/       landings that were under way: what to do about them after a crash
//! ```
//!
//! The mirror holds hard links to the person's objects, so neither side's clean-up touches the
//! other; nothing here is ever garbage-collected behind our back.

use std::{
    collections::{BTreeMap, HashMap},
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use serde::{Deserialize, Serialize};

use crate::{
    change::Difference,
    durable,
    error::{Doing, RepoError},
    failpoint,
    git::{Git, Place, quoted},
    objects::{Kind, Object, Objects},
    oid::Oid,
    person::{Person, When},
    pool::GONE,
    refs::OwnRefs,
    repository::Repository,
    shadow,
    sight::Sight,
    work::Recorded,
};

/// What holds for all lanes of a repository.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What a snapshot may hold.
    pub limits: Limits,
    /// Who commits.
    pub committer: Person,
    /// Files of the person's checkout that lanes get a copy of although git does not know them
    /// (`.env`). They never enter a commit.
    pub extras: Vec<PathBuf>,
    /// How long another git's lock on the person's index is waited for.
    pub lock_wait_ms: u64,
}

/// What a snapshot may take up newly. More is refused: it is most often something that belongs in
/// `.gitignore`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// New and changed files.
    pub files_max: u64,
    /// Their bytes, all together.
    pub bytes_max: u64,
    /// The bytes of one of them.
    pub file_bytes_max: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            limits: Limits::default(),
            committer: Person::windlass(),
            extras: vec![],
            lock_wait_ms: 5_000,
        }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { files_max: 50_000, bytes_max: 1 << 30, file_bytes_max: 100 << 20 }
    }
}

/// Exactly what was looked at, or made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// The tree: what checks are bound to.
    pub tree: Oid,
    /// The change itself, whatever it sits on: what review is bound to.
    pub change: String,
}

/// The store of a repository.
#[derive(Debug)]
pub struct Store {
    pub(crate) repository: Repository,
    pub(crate) dir: PathBuf,
    pub(crate) settings: Settings,
    /// Held while the mirror is brought up to date.
    pub(crate) syncing: Mutex<()>,
    /// Held while something lands.
    pub(crate) landing: Mutex<()>,
    /// Who commits in lanes.
    pub(crate) lane_person: OnceLock<Person>,
    /// How many indexes and directories were made for one use.
    indexes: AtomicU32,
    /// What lanes held when they were recorded last.
    pub(crate) seen: Mutex<BTreeMap<PathBuf, Seen>>,
    /// The trees of commits that were looked at: a commit has the same one for ever.
    trees: Mutex<HashMap<Oid, Oid>>,
    /// What trees are as changes of commits.
    differences: Mutex<HashMap<(Oid, Oid), Difference>>,
    /// The trees that indexes of ours are known to hold: since this process has put them there.
    index_trees: Mutex<HashMap<PathBuf, Oid>>,
    /// The objects of the result store, and those that it borrows.
    pub(crate) objects: Objects,
}

/// So many trees are remembered at most, and so many differences.
const TREES_MAX: usize = 4096;

/// So many objects are asked for at once at most.
const FETCHED_MAX: usize = 1_000;

/// What a lane held when it was recorded last.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub sight: Sight,
    /// What it is a change of.
    pub base: Oid,
    pub recorded: Recorded,
}

impl Store {
    /// Opens the store in a directory, making what is not there yet.
    pub fn open(
        repository: Repository,
        dir: &Path,
        settings: Settings,
    ) -> Result<Store, RepoError> {
        for extra in &settings.extras {
            crate::extras::sound(extra)?;
        }
        fs::create_dir_all(dir).doing("made", dir)?;
        let dir = dir.canonicalize().doing("found", dir)?;
        for name in ["lanes", "checks", "unfinished"] {
            let dir = dir.join(name);
            fs::create_dir_all(&dir).doing("made", &dir)?;
        }
        let store = Store::at(repository, dir, settings);
        store.make_mirror()?;
        if !store.results_dir().exists() {
            let config = bare_config(store.repository.format());
            let borrowed = store.mirror_objects();
            let beside = store.dir.join("results.new");
            let made = Skeleton { config: &config, borrowed: &[&borrowed] };
            made.make("results.rename", &beside, &store.results_dir(), |_| Ok(()))?;
        }
        if !store.repository.has_git() {
            // Without git there is most often no `.gitignore` either, and lanes are built in as well.
            shadow::exclude_in(&store.results_dir())?;
        }
        Ok(store)
    }

    /// The store as it is, to look into. Nothing if it is not all there; nothing is made.
    pub fn look(repository: Repository, dir: &Path) -> Option<Store> {
        let store = Store::at(repository, dir.canonicalize().ok()?, Settings::default());
        (store.results_dir().is_dir() && store.mirror_dir().is_dir()).then_some(store)
    }

    fn at(repository: Repository, dir: PathBuf, settings: Settings) -> Store {
        let (own, borrowed) = (dir.join("results.git/objects"), dir.join("mirror.git/objects"));
        Store {
            objects: Objects::new(own, borrowed, repository.format()),
            repository,
            dir,
            settings,
            syncing: Mutex::default(),
            landing: Mutex::default(),
            lane_person: OnceLock::new(),
            indexes: AtomicU32::new(0),
            seen: Mutex::default(),
            trees: Mutex::default(),
            differences: Mutex::default(),
            index_trees: Mutex::default(),
        }
    }

    /// Sets right what a crash left behind: locks of our own, and landings that were under way in
    /// a checkout. Only for the one process that may write; call it before anything else.
    pub fn recover(&self) -> Result<(), RepoError> {
        let mut ours = vec![self.results_dir(), self.mirror_dir()];
        ours.extend((!self.repository.has_git()).then(|| self.repository.common_dir().into()));
        for git_dir in ours {
            // Beside the refs there are packed ones, and a lock for them.
            let refs = git_dir.join("refs");
            remove_locks(&git_dir, 0).doing("searched for locks", &git_dir)?;
            remove_locks(&refs, usize::MAX).doing("searched for locks", &refs)?;
        }
        for name in ["lanes", "checks", "unfinished"] {
            let dir = self.dir.join(name);
            remove_locks(&dir, 1).doing("searched for locks", &dir)?;
        }
        self.remove_scratch()?;
        self.objects.tidy().doing("tidied up", &self.results_dir())?;
        let lanes = self.dir.join("lanes");
        for entry in fs::read_dir(&lanes).doing("read", &lanes)?.flatten() {
            if entry.file_name().to_string_lossy().starts_with(GONE) {
                fs::remove_dir_all(entry.path()).doing("removed", &entry.path())?;
            }
        }
        self.settle_unfinished()
    }

    fn remove_scratch(&self) -> Result<(), RepoError> {
        for entry in fs::read_dir(&self.dir).doing("read", &self.dir)?.flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            if name.to_string_lossy().starts_with("scratch-") {
                durable::remove(&path)?;
            } else if name.to_string_lossy().starts_with("trial-") {
                fs::remove_dir_all(&path).doing("removed", &path)?;
            }
        }
        Ok(())
    }

    /// Tries something in a directory of its own, which is gone afterwards.
    pub(crate) fn in_trial<T>(
        &self,
        try_it: impl FnOnce(&Path) -> Result<T, RepoError>,
    ) -> Result<T, RepoError> {
        let number = self.indexes.fetch_add(1, Ordering::Relaxed);
        let dir = self.dir.join(format!("trial-{}-{number}", std::process::id()));
        fs::create_dir_all(&dir).doing("made", &dir)?;
        let tried = try_it(&dir);
        fs::remove_dir_all(&dir).doing("removed", &dir)?;
        tried
    }

    /// Where calls stand that see the result store, and whose objects go elsewhere.
    pub(crate) fn beside_results(&self, objects: &Path) -> Place {
        let own = self.results_dir().join("objects");
        Place { objects: Some(objects.into()), ..self.results() }.borrowing(&own)
    }

    /// The repository it belongs to.
    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// Where it is.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn git(&self) -> &Git {
        &self.repository.git
    }

    pub(crate) fn mirror_dir(&self) -> PathBuf {
        self.dir.join("mirror.git")
    }

    /// What lanes borrow objects from: it must be readable, at this very path, where an agent is
    /// to use git.
    pub fn mirror_objects(&self) -> PathBuf {
        self.mirror_dir().join("objects")
    }

    pub(crate) fn results_dir(&self) -> PathBuf {
        self.dir.join("results.git")
    }

    pub(crate) fn results(&self) -> Place {
        Place::bare(&self.results_dir())
    }

    /// Does something with an index of its own, which is gone afterwards.
    pub(crate) fn with_index<T>(
        &self,
        use_it: impl FnOnce(&Path) -> Result<T, RepoError>,
    ) -> Result<T, RepoError> {
        let number = self.indexes.fetch_add(1, Ordering::Relaxed);
        let index = self.dir.join(format!("scratch-{}-{number}.index", std::process::id()));
        durable::remove(&index)?;
        let done = use_it(&index);
        durable::remove(&index)?;
        done
    }

    /// Makes a commit. The same arguments make the same commit.
    pub(crate) fn commit(&self, commit: &Commit<'_>) -> Result<Oid, RepoError> {
        let made = match commit.text(&self.settings.committer) {
            Some(text) => {
                let dir = self.results_dir();
                self.objects.write(Kind::Commit, text.as_bytes()).doing("written", &dir)?
            }
            None => self.commit_at(&self.results(), commit)?,
        };
        self.remember_tree(&made, commit.tree);
        Ok(made)
    }

    /// The same, somewhere else.
    pub(crate) fn commit_at(&self, place: &Place, commit: &Commit<'_>) -> Result<Oid, RepoError> {
        let when = commit.when.to_string();
        let committer = &self.settings.committer;
        let mut call = self.git().call("commit", place).args(["commit-tree", "-F", "-"]);
        for parent in commit.parents {
            call = call.args(["-p", parent.as_str()]);
        }
        let call = call
            .arg(commit.tree.as_str())
            .env("GIT_AUTHOR_NAME", commit.author.name())
            .env("GIT_AUTHOR_EMAIL", commit.author.email())
            .env("GIT_AUTHOR_DATE", &when)
            .env("GIT_COMMITTER_NAME", committer.name())
            .env("GIT_COMMITTER_EMAIL", committer.email())
            .env("GIT_COMMITTER_DATE", &when)
            .stdin(format!("{}\n", commit.message.trim_end().replace('\0', "\u{fffd}")));
        Ok(call.oid()?)
    }

    /// The tree of a commit. What is in the store stays there, so git is asked once.
    pub(crate) fn tree_of(&self, commit: &Oid) -> Result<Oid, RepoError> {
        if let Some(tree) = self.trees().get(commit) {
            return Ok(tree.clone());
        }
        let found = self.objects.read(commit).and_then(|object| match object.kind {
            Kind::Tree => Some(commit.clone()),
            _ => object.commit().map(|parsed| parsed.tree),
        });
        if let Some(tree) = found {
            self.remember_tree(commit, &tree);
            return Ok(tree);
        }
        let place = self.results();
        let call = self.git().call("tree-of", &place);
        let tree = call.args(["rev-parse", "--verify", &format!("{commit}^{{tree}}")]).oid()?;
        self.remember_tree(commit, &tree);
        Ok(tree)
    }

    pub(crate) fn index_trees(&self) -> MutexGuard<'_, HashMap<PathBuf, Oid>> {
        self.index_trees.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn trees(&self) -> MutexGuard<'_, HashMap<Oid, Oid>> {
        self.trees.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn remember_tree(&self, commit: &Oid, tree: &Oid) {
        let mut trees = self.trees();
        if trees.len() == TREES_MAX {
            trees.clear();
        }
        trees.insert(commit.clone(), tree.clone());
    }

    /// The change from a commit to a tree.
    pub(crate) fn subject(&self, base: &Oid, tree: &Oid) -> Result<Subject, RepoError> {
        Ok(Subject { tree: tree.clone(), change: self.difference(base, tree)?.change })
    }

    /// A commit without any change to it.
    pub(crate) fn unchanged(&self, commit: &Oid) -> Result<Subject, RepoError> {
        Ok(Subject { tree: self.tree_of(commit)?, change: Difference::none().change })
    }

    pub(crate) fn difference(&self, base: &Oid, tree: &Oid) -> Result<Difference, RepoError> {
        let before = self.tree_of(base)?;
        if before == *tree {
            return Ok(Difference::none());
        }
        let differences = || self.differences.lock().unwrap_or_else(PoisonError::into_inner);
        let both = (before, tree.clone());
        if let Some(known) = differences().get(&both) {
            return Ok(known.clone());
        }
        let said = self.raw_patch("change", base, tree, &["--raw", "--no-abbrev", "-U3"])?;
        let difference = Difference::read(&said);
        let mut differences = differences();
        if differences.len() == TREES_MAX {
            differences.clear();
        }
        differences.insert(both, difference.clone());
        Ok(difference)
    }

    /// Has these objects at hand that git has to be asked for. No if one of them is not there, or is too large.
    pub(crate) fn fetch(&self, oids: &[Oid]) -> Result<bool, RepoError> {
        let unknown: Vec<&Oid> =
            oids.iter().filter(|oid| self.objects.read(oid).is_none()).collect();
        if unknown.is_empty() {
            return Ok(true);
        }
        if unknown.len() > FETCHED_MAX {
            return Ok(false);
        }
        let place = self.results();
        let call = self.git().call("fetch", &place).args(["cat-file", "--batch"]);
        let said = call.stdin(unknown.iter().map(|oid| format!("{oid}\n")).collect::<String>());
        let said = said.ok()?;
        let mut rest = &said[..];
        for oid in unknown {
            let Some((object, behind)) = batched(rest) else { return Ok(false) };
            self.objects.remember(oid, &object);
            rest = behind;
        }
        Ok(true)
    }

    pub(crate) fn own_refs(&self) -> OwnRefs<'_> {
        OwnRefs { git: self.git(), git_dir: self.results_dir() }
    }

    /// Where a ref of the result store points.
    pub(crate) fn ref_at(&self, name: &str) -> Result<Option<Oid>, RepoError> {
        self.own_refs().at(name)
    }

    /// Moves a ref of the result store, if it is still where it was thought to be.
    pub(crate) fn move_ref(
        &self,
        name: &str,
        to: &Oid,
        from: Option<&Oid>,
    ) -> Result<(), RepoError> {
        self.own_refs().swap("results.update-ref", name, (to, from))
    }

    /// Keeps a commit under a ref that nothing else will ever move. A name that is taken by
    /// another commit gets a number.
    pub(crate) fn keep(&self, name: &str, commit: &Oid) -> Result<String, RepoError> {
        let mut numbered = name.to_owned();
        for count in 2.. {
            match self.ref_at(&numbered)? {
                None => {
                    self.move_ref(&numbered, commit, None)?;
                    break;
                }
                Some(there) if there == *commit => break,
                Some(_) => numbered = format!("{name}+{count}"),
            }
        }
        Ok(numbered)
    }
}

/// A commit to be.
pub(crate) struct Commit<'c> {
    pub tree: &'c Oid,
    pub parents: &'c [Oid],
    pub message: &'c str,
    pub author: &'c Person,
    pub when: When,
}

impl Commit<'_> {
    /// As git would write it. Nothing where git has something to say about it.
    fn text(&self, committer: &Person) -> Option<String> {
        let Commit { tree, parents, author, when, .. } = self;
        // Git takes these for no characters and writes others.
        let is_none =
            |c: char| ('\u{fdd0}'..='\u{fdef}').contains(&c) || u32::from(c) & 0xfffe == 0xfffe;
        let parts =
            [self.message, author.name(), author.email(), committer.name(), committer.email()];
        if parts.iter().any(|part| part.contains(is_none)) || when.seconds > i32::MAX as u64 {
            return None;
        }
        let mut text = format!("tree {tree}\n");
        for (at, parent) in parents.iter().enumerate() {
            if !parents[..at].contains(parent) {
                text += &format!("parent {parent}\n");
            }
        }
        let when = when.to_string();
        let when = when.trim_start_matches('@');
        text += &format!("author {author} {when}\ncommitter {committer} {when}\n\n");
        // Titles come from anywhere, and git takes any character but this one.
        text += &self.message.trim_end().replace('\0', "\u{fffd}");
        text.push('\n');
        Some(text)
    }
}

/// The first of what `cat-file --batch` has printed, and what comes behind it.
fn batched(said: &[u8]) -> Option<(Object, &[u8])> {
    let end = said.iter().position(|byte| *byte == b'\n')?;
    let head = std::str::from_utf8(&said[..end]).ok()?;
    let [_, kind, size] = head.split(' ').collect::<Vec<_>>()[..] else { return None };
    let size: usize = size.parse().ok()?;
    let bytes = said.get(end + 1..end + 1 + size)?;
    Some((Object { kind: Kind::named(kind)?, bytes: bytes.into() }, said.get(end + 2 + size..)?))
}

/// The configuration of a repository without a work tree.
pub(crate) fn bare_config(format: &str) -> String {
    format!("{}\tbare = true\n\tlogAllRefUpdates = false\n", core_config(format))
}

/// How the configuration of each of our repositories begins; it ends inside `[core]`.
pub(crate) fn core_config(format: &str) -> String {
    let (version, extensions) = if format == "sha1" {
        (0, String::new())
    } else {
        (1, format!("[extensions]\n\tobjectFormat = {format}\n"))
    };
    format!("{extensions}[core]\n\trepositoryFormatVersion = {version}\n\tfileMode = true\n")
}

/// A git directory to be.
pub(crate) struct Skeleton<'s> {
    pub config: &'s str,
    /// Where it borrows objects from.
    pub borrowed: &'s [&'s Path],
}

impl Skeleton<'_> {
    /// Makes it, whole or not at all: `beside` its place first, where `fill` may add to it. `git
    /// init` would do the same with a process more, and a template of somebody's choice.
    pub fn make(
        &self,
        name: &'static str,
        beside: &Path,
        dir: &Path,
        fill: impl FnOnce(&Path) -> Result<(), RepoError>,
    ) -> Result<(), RepoError> {
        if beside.symlink_metadata().is_ok() {
            fs::remove_dir_all(beside).doing("removed", beside)?;
        }
        self.write(beside).doing("made", dir)?;
        fill(beside)?;
        failpoint::around(name, || fs::rename(beside, dir)).doing("made", dir)
    }

    fn write(&self, dir: &Path) -> io::Result<()> {
        for part in ["hooks", "objects/info", "objects/pack", "refs/heads", "info"] {
            fs::create_dir_all(dir.join(part))?;
        }
        fs::write(dir.join("HEAD"), "ref: refs/heads/none\n")?;
        fs::write(dir.join("config"), self.config)?;
        if !self.borrowed.is_empty() {
            fs::write(dir.join("objects/info/alternates"), alternates(self.borrowed))?;
        }
        Ok(())
    }
}

/// The file that lists where objects are borrowed from.
pub(crate) fn alternates(borrowed: &[&Path]) -> Vec<u8> {
    let lines = borrowed.iter().flat_map(|path| [quoted(path), "\n".into()]);
    lines.flat_map(|part| part.into_encoded_bytes()).collect()
}

/// Removes the lock files below a directory.
fn remove_locks(dir: &Path, depth: usize) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() && depth > 0 {
            remove_locks(&entry.path(), depth - 1)?;
        } else if kind.is_file() && entry.path().extension().is_some_and(|e| e == "lock") {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}
