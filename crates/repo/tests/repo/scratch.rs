//! A person with a repository, a home of their own, and Windlass beside it.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::{ffi::OsStrExt, fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use tempfile::TempDir;
use windlass_repo::{
    Branch, Git, Host, Land, Landing, Lane, Oid, Person, Repository, Request, Settings, StdRun,
    Store, Target, When,
};

pub const WHEN: When = When { seconds: 1_700_000_000, offset_minutes: 60 };

/// Things that somebody does, by name.
pub type Meddles<T> = &'static [(&'static str, fn(&T))];

pub struct Scratch {
    pub dir: PathBuf,
    pub top: PathBuf,
    _temporary: Option<TempDir>,
}

impl Scratch {
    /// A repository with three files and one commit on `main`.
    pub fn new() -> Scratch {
        Self::below(&std::env::temp_dir())
    }

    /// In a directory of its own below this one.
    pub fn below(dir: &Path) -> Scratch {
        let temporary = TempDir::with_prefix_in("windlass", dir).expect("a temporary directory");
        let dir = temporary.path().canonicalize().expect("it is there");
        let scratch = Scratch { top: dir.join("their repo"), dir, _temporary: Some(temporary) };
        fs::create_dir_all(scratch.dir.join("home")).expect("a home");
        fs::create_dir_all(&scratch.top).expect("a directory");
        scratch.git(&["config", "--global", "user.name", "Zoë Person"]);
        scratch.git(&["config", "--global", "user.email", "zoe@example.org"]);
        scratch.git(&["init", "-q", "-b", "main"]);
        scratch.write("readme.md", "hello\n");
        scratch.write("src/lib.rs", "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n");
        scratch.write(".gitignore", "target/\n*.log\n");
        scratch.commit("first");
        scratch
    }

    /// The same files in no repository, recorded once.
    pub fn without_git() -> Scratch {
        let scratch = Self::new();
        scratch.forget_git();
        scratch.store().take_stock(WHEN).expect("a record");
        scratch
    }

    /// Takes the repository away.
    pub fn forget_git(&self) {
        fs::remove_dir_all(self.top.join(".git")).expect("it was there");
    }

    /// The shadow that stands in for a repository.
    pub fn shadow(&self) -> PathBuf {
        self.dir.join("state/shadow.git")
    }

    /// The same scratch, seen from another process.
    pub fn at(dir: &Path) -> Scratch {
        Scratch { top: dir.join("their repo"), dir: dir.into(), _temporary: None }
    }

    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        write(&self.top, path, text);
    }

    pub fn commit(&self, message: &str) -> Oid {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
        self.oid("HEAD")
    }

    pub fn oid(&self, what: &str) -> Oid {
        Oid::parse(self.git(&["rev-parse", what]).trim()).expect("a name")
    }

    /// What the person's own git says.
    pub fn git(&self, args: &[&str]) -> String {
        if self.shadow().exists() {
            let dir = |name: &str, path: &Path| format!("--{name}={}", path.display());
            let whole = [dir("git-dir", &self.shadow()), dir("work-tree", &self.top)];
            let whole: Vec<&str> =
                whole.iter().map(String::as_str).chain(args.iter().copied()).collect();
            return self.git_in(&self.top, &whole);
        }
        self.git_in(&self.top, args)
    }

    pub fn git_in(&self, dir: &Path, args: &[&str]) -> String {
        let output = self.try_git(dir, args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {args:?} in {}: {said}", dir.display());
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub fn try_git(&self, dir: &Path, args: &[&str]) -> std::process::Output {
        Command::new("git")
            .args(args)
            .current_dir(dir)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").expect("PATH"))
            .env("HOME", self.dir.join("home"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_DATE", "@1600000000 +0000")
            .env("GIT_COMMITTER_DATE", "@1600000000 +0000")
            .output()
            .expect("git starts")
    }

    pub fn host(&self) -> Host {
        Host {
            path: std::env::var_os("PATH").expect("PATH"),
            config: vec![
                ("HOME".into(), self.dir.join("home").into()),
                ("GIT_CONFIG_SYSTEM".into(), "/dev/null".into()),
            ],
            reach: vec![],
        }
    }

    pub fn windlass_git(&self) -> Git {
        Git::find(Arc::new(StdRun), self.host()).expect("git")
    }

    pub fn repository(&self) -> Repository {
        let git = self.windlass_git();
        if self.top.join(".git").exists() {
            return Repository::find(&git, &self.top).expect("a repository");
        }
        let without = Repository::without_git(&git, &self.top, &self.shadow());
        let without = without.expect("a directory that can be copied");
        without.make_shadow().expect("a shadow");
        without
    }

    pub fn store(&self) -> Store {
        self.store_with(Settings::default())
    }

    pub fn store_with(&self, settings: Settings) -> Store {
        Store::open(self.repository(), &self.dir.join("state"), settings).expect("a store")
    }

    pub fn results(&self) -> PathBuf {
        self.dir.join("state/results.git")
    }

    /// The files of a commit that Windlass made.
    pub fn files_of(&self, commit: &Oid) -> String {
        self.git_in(&self.results(), &["ls-tree", "-r", "--name-only", commit.as_str()])
    }

    /// Everything in the person's directory, and what is in it.
    pub fn everything(&self) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
        let mut all = BTreeMap::new();
        gather(&self.top, &self.top, &mut all);
        all
    }
}

fn gather(top: &Path, dir: &Path, all: &mut BTreeMap<PathBuf, (u32, Vec<u8>)>) {
    for entry in fs::read_dir(dir).expect("readable").flatten() {
        let path = entry.path();
        let meta = path.symlink_metadata().expect("there");
        let below = path.strip_prefix(top).expect("below").to_owned();
        if meta.is_dir() {
            all.insert(below, (meta.permissions().mode(), vec![]));
            gather(top, &path, all);
        } else if meta.is_symlink() {
            let target = fs::read_link(&path).expect("a link");
            all.insert(below, (0, target.as_os_str().as_bytes().to_vec()));
        } else {
            let bytes = fs::read(&path).expect("readable");
            all.insert(below, (meta.permissions().mode(), bytes));
        }
    }
}

/// What differs between two of those, as lines.
pub fn differing(
    before: &BTreeMap<PathBuf, (u32, Vec<u8>)>,
    after: &BTreeMap<PathBuf, (u32, Vec<u8>)>,
) -> Vec<String> {
    let paths: std::collections::BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let differs = paths.into_iter().filter(|path| before.get(*path) != after.get(*path));
    differs.map(|path| path.display().to_string()).collect()
}

pub fn write(dir: &Path, path: &str, text: impl AsRef<[u8]>) {
    let path = dir.join(path);
    fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
    fs::write(path, text).expect("written");
}

pub fn read(dir: &Path, path: &str) -> String {
    fs::read_to_string(dir.join(path)).expect("readable")
}

pub fn person() -> Person {
    Person::new("Zoë Person", "zoe@example.org").expect("a person")
}

/// A lane on the tip of `main`, with an edit in it.
pub fn edited(store: &Store, number: u32, unit: &str, file: &str, text: &str) -> Lane {
    let heads = store.sync().expect("in sync");
    let tip = heads.tip(&Branch::new("main").expect("main")).expect("a tip").clone();
    let lane = store.ensure_lane(number, &tip, "run", unit, WHEN).expect("a lane");
    write(&lane.work, file, text);
    lane
}

/// A repository, and the first lane of it, with an edit in it.
pub fn with_edit(file: &str, text: &str) -> (Scratch, Store, Lane) {
    let scratch = Scratch::new();
    let store = scratch.store();
    let lane = edited(&store, 1, "u1", file, text);
    (scratch, store, lane)
}

/// What a lane holds, as a request to land it.
pub fn request(store: &Store, lane: &Lane, how: Land) -> Request {
    let snapshot = store.snapshot(lane, "to land", WHEN).expect("a snapshot");
    Request {
        run: lane.run.clone(),
        branch: Branch::new("main").expect("main"),
        target: Target::There,
        how,
        base: lane.base.clone(),
        head: store.head(lane).expect("a head"),
        tree: snapshot.subject.tree,
        picks: vec![],
        message: format!("Do {}", lane.unit),
        author: person(),
        when: WHEN,
    }
}

#[track_caller]
pub fn landed(landing: Landing) -> Oid {
    match landing {
        Landing::Landed { commit, already: false } => commit,
        other => panic!("{other:?}"),
    }
}

/// Runs a test as somebody whom permissions hold for: as it is, or as nobody if this is root.
/// Says whether the rest of the test is to run here.
pub fn as_nobody(test: &str, scratch: &Scratch) -> bool {
    if !rustix::process::getuid().is_root() {
        return true;
    }
    let nobody = 65534;
    let status = Command::new("chown")
        .args(["-R", &format!("{nobody}:{nobody}")])
        .arg(&scratch.dir)
        .status()
        .expect("it worked");
    assert!(status.success());
    // The build directory may be out of reach for nobody.
    let copy = scratch.dir.join("test-binary");
    fs::copy(std::env::current_exe().expect("it worked"), &copy).expect("it worked");
    let output = Command::new(copy)
        .args(["--exact", test])
        .env("WINDLASS_TEST_SCRATCH", &scratch.dir)
        .current_dir(&scratch.dir)
        .gid(nobody)
        .uid(nobody)
        .output()
        .expect("it worked");
    let said = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    false
}

pub fn scratch_for_nobody() -> Scratch {
    match std::env::var_os("WINDLASS_TEST_SCRATCH") {
        Some(dir) => Scratch::at(Path::new(&dir)),
        None => Scratch::below(&reachable()),
    }
}

/// Where temporary directories go, or, if only their owner gets there, where everybody's go.
fn reachable() -> PathBuf {
    let everybody_passes =
        |dir: &Path| fs::metadata(dir).is_ok_and(|found| found.permissions().mode() & 0o001 != 0);
    [std::env::temp_dir(), "/tmp".into(), "/var/tmp".into()]
        .into_iter()
        .find(|dir| dir.ancestors().all(everybody_passes))
        .expect("a directory for temporary files that everybody gets to")
}

pub fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it worked");
}
