//! Finding a person's repository, whatever state it is in.

use std::{
    fs, io,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use windlass_repo::{
    Branch, Call, Git, Host, Land, Output, Remark, RepoError, Repository, Run, Settings, StdRun,
    Store,
};

use crate::scratch::{
    Meddles, Scratch, as_nobody, edited, landed, request, scratch_for_nobody, set_mode, write,
};

fn find(scratch: &Scratch, path: &Path) -> Result<Repository, RepoError> {
    let repository = Repository::find(&scratch.windlass_git(), path)?;
    repository.usable()?;
    Ok(repository)
}

#[test]
fn what_lanes_cannot_be_built_from_is_refused_with_a_reason() {
    let scratch = Scratch::new();
    let dir = |name: &str| {
        let dir = scratch.dir.join(name);
        fs::create_dir_all(&dir).unwrap();
        dir
    };
    let error = find(&scratch, &dir("nothing")).unwrap_err();
    assert!(matches!(error, RepoError::NotARepository { .. }), "{error}");
    let error = find(&scratch, &scratch.top.join(".git")).unwrap_err();
    assert!(matches!(error, RepoError::NotARepository { .. }), "{error}");
    let error = find(&scratch, &scratch.dir.join("absent")).unwrap_err();
    assert!(matches!(error, RepoError::File { .. }), "{error}");

    let bare = dir("bare");
    scratch.git_in(&bare, &["init", "-q", "--bare"]);
    let error = find(&scratch, &bare).unwrap_err();
    assert!(matches!(error, RepoError::Bare { .. }), "{error}");

    let empty = dir("empty");
    scratch.git_in(&empty, &["init", "-q"]);
    let error = find(&scratch, &empty).unwrap_err();
    assert!(matches!(error, RepoError::NoCommits { .. }), "{error}");
    assert!(error.to_string().contains("git commit --allow-empty"), "{error}");

    scratch.write("x", "x");
    scratch.commit("second");
    let url = format!("file://{}", scratch.top.display());
    scratch.git_in(&scratch.dir, &["clone", "-q", "--depth=1", &url, "shallow"]);
    let error = find(&scratch, &scratch.dir.join("shallow")).unwrap_err();
    assert!(matches!(error, RepoError::Shallow { .. }), "{error}");
    assert!(error.to_string().contains("git fetch --unshallow"), "{error}");

    scratch.git(&["config", "uploadpack.allowFilter", "true"]);
    scratch.git_in(&scratch.dir, &["clone", "-q", "--filter=blob:none", &url, "partial"]);
    let error = find(&scratch, &scratch.dir.join("partial")).unwrap_err();
    assert!(matches!(error, RepoError::Partial { .. }), "{error}");
}

#[test]
fn a_repository_of_another_user_is_refused_with_the_command_that_trusts_it() {
    let scratch = Scratch::new();
    // Git's own way to test this: it takes every directory for somebody else's.
    let mut host = scratch.host();
    host.config.push(("GIT_TEST_ASSUME_DIFFERENT_OWNER".into(), "1".into()));
    let git = Git::find(Arc::new(StdRun), host).unwrap();
    let error = Repository::find(&git, &scratch.top).unwrap_err();
    assert!(matches!(error, RepoError::NotTrusted { .. }), "{error}");
    assert!(error.to_string().contains("safe.directory"), "{error}");
    let top = scratch.top.to_str().unwrap().to_owned();
    scratch.git_in(&scratch.dir, &["config", "--global", "--add", "safe.directory", &top]);
    let repository = Repository::find(&git, &scratch.top).unwrap();
    let store = Store::open(repository, &scratch.dir.join("state"), Settings::default()).unwrap();
    let lane = edited(&store, 1, "u1", "readme.md", "mine\n");
    landed(store.land(&request(&store, &lane, Land::Commit)).unwrap());
}

/// Counts the calls.
#[derive(Default)]
struct Counted(AtomicUsize);

impl Run for Counted {
    fn run(&self, call: &Call) -> io::Result<Output> {
        self.0.fetch_add(1, Relaxed);
        StdRun.run(call)
    }
}

/// What is found at a path, and how many calls of git that took.
fn found(host: Host, path: &Path) -> (String, usize) {
    let counted = Arc::new(Counted::default());
    let git = Git::find(counted.clone(), host).expect("git");
    let found = match Repository::find(&git, path) {
        Ok(repository) => format!("{repository:?}"),
        Err(error) => format!("refused: {error}"),
    };
    (found, counted.0.load(Relaxed))
}

/// Finds what is at a path in both ways, holds one against the other, and says whether git was asked where it need not be.
#[track_caller]
fn asks(scratch: &Scratch, path: &Path) -> bool {
    // A variable that git does not know keeps from going without it.
    let mut told_more = scratch.host();
    told_more.config.push(("GIT_OF_NO_CONSEQUENCE".into(), "1".into()));
    let (by_git, calls) = found(told_more, path);
    assert!(calls > 0, "{path:?}");
    let (found, calls) = found(scratch.host(), path);
    assert_eq!(found, by_git, "{path:?}");
    calls > 0
}

#[test]
fn an_ordinary_repository_is_found_without_git_and_is_the_one_that_git_finds() {
    let scratch = Scratch::new();
    let below = |path: &str| scratch.top.join(path);
    for dir in ["deep/er", "line\nbreak", "co:lon"] {
        fs::create_dir_all(below(dir)).unwrap();
    }
    std::os::unix::fs::symlink(&scratch.top, scratch.dir.join("link")).unwrap();
    let through_a_link = scratch.dir.join("link/deep");
    let places = [below(""), below("src"), below("deep/er"), below("line\nbreak"), below("co:lon")];
    for place in places.iter().chain([&through_a_link]) {
        assert!(!asks(&scratch, place), "{place:?}");
    }
    // As clones, further branches and whoever commits leave it.
    let url = scratch.top.to_str().unwrap();
    scratch.git_in(&scratch.dir, &["clone", "-q", url, "a clone"]);
    let clone = scratch.dir.join("a clone");
    scratch.git_in(&clone, &["switch", "-q", "-c", "side", "--track", "origin/main"]);
    scratch.git_in(&clone, &["config", "user.name", "Zoë"]);
    assert!(!asks(&scratch, &clone));
    scratch.git_in(&clone, &["switch", "-q", "--detach"]);
    assert!(!asks(&scratch, &clone));
    scratch.git_in(&clone, &["pack-refs", "--all"]);
    assert!(!asks(&scratch, &clone));
    scratch.git_in(&scratch.dir, &["init", "-q", "empty"]);
    assert!(!asks(&scratch, &scratch.dir.join("empty")));
}

#[test]
fn git_is_asked_about_every_other_repository() {
    let scratch = Scratch::new();
    let git = |args: &[&str]| scratch.git_in(&scratch.dir, args);
    let path = |name: &str| scratch.dir.join(name);
    let url = scratch.top.to_str().unwrap();
    scratch.git(&["worktree", "add", "-q", "../linked"]);
    git(&["init", "-q", "--bare", "bare"]);
    git(&["init", "-q", "--separate-git-dir=elsewhere", "separate"]);
    git(&["init", "-q", "--object-format=sha256", "sha256"]);
    git(&["init", "-q", "--ref-format=reftable", "reftable"]);
    git(&["clone", "-q", "--depth=1", &format!("file://{url}"), "shallow"]);
    fs::create_dir_all(path("nothing/.git/objects")).unwrap();
    for (name, key, value) in [
        ("moved", "core.worktree", "../../home"),
        ("told bare", "core.bare", "true"),
        ("of the future", "core.repositoryFormatVersion", "9"),
        ("including", "include.path", "more"),
        ("extended", "extensions.worktreeConfig", "true"),
        ("of a strange setting", "core.autocrlf", "perhaps"),
    ] {
        git(&["clone", "-q", url, name]);
        git(&["-C", name, "config", key, value]);
        assert!(asks(&scratch, &path(name)), "{name}");
    }
    fs::write(path("including/.git/more"), "[core]\n\tbare = true\n").unwrap();
    for &(name, meddle) in MEDDLED {
        git(&["clone", "-q", url, name]);
        meddle(&path(name).join(".git"));
        assert!(asks(&scratch, &path(name)), "{name}");
    }
    scratch.git(&["init", "-q", "--bare", "inner"]);
    for place in [
        "linked",
        "bare",
        "bare/refs",
        "separate",
        "sha256",
        "reftable",
        "nothing",
        "nothing/.git",
        "nothing/.git/objects",
        "their repo/inner/refs",
        "including",
        "home",
        "their repo/.git",
        "their repo/.git/refs/heads",
    ] {
        assert!(asks(&scratch, &path(place)), "{place}");
    }
    assert!(!asks(&scratch, &path("shallow")), "that is told later");
}

/// What is done to a git directory by other means than git's.
const MEDDLED: Meddles<Path> = &[
    ("without a head", |git| gone(&git.join("HEAD"))),
    ("of a strange head", |git| write(git, "HEAD", "elsewhere\n")),
    ("without refs", |git| gone(&git.join("refs"))),
    ("without objects", |git| gone(&git.join("objects"))),
    ("without settings", |git| gone(&git.join("config"))),
    ("broken", |git| write(git, "config", "[core\n")),
    ("shared", |git| write(git, "commondir", "../../their repo/.git\n")),
    ("linked elsewhere", |git| {
        fs::rename(git, git.with_file_name("own")).expect("it worked");
        linked(git, "own");
    }),
    ("of a linked head", |git| {
        gone(&git.join("HEAD"));
        linked(&git.join("HEAD"), "refs/heads/main");
    }),
];

fn gone(path: &Path) {
    let gone = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    gone.expect("it was there");
}

fn linked(path: &Path, to: &str) {
    std::os::unix::fs::symlink(to, path).expect("it worked");
}

#[test]
fn a_directory_that_cannot_be_written_is_told_before_anything_lands() {
    let scratch = scratch_for_nobody();
    let name = "find::a_directory_that_cannot_be_written_is_told_before_anything_lands";
    if !as_nobody(name, &scratch) {
        return;
    }
    let store = scratch.store();
    let lane = edited(&store, 1, "u1", "readme.md", "mine\n");
    let request = request(&store, &lane, Land::Commit);
    let common = scratch.top.join(".git");
    set_mode(&common, 0o555);
    assert!(store.repository().remarks().unwrap().contains(&Remark::ReadOnly));
    let error = store.land(&request).unwrap_err();
    assert!(matches!(error, RepoError::ReadOnly { .. }), "{error}");
    set_mode(&common, 0o755);
    landed(store.land(&request).unwrap());
}

#[test]
fn a_detached_head_works_but_has_no_branch_to_start_from() {
    let scratch = Scratch::new();
    scratch.git(&["switch", "-q", "--detach"]);
    let repository = scratch.repository();
    assert_eq!(repository.head().unwrap(), scratch.oid("main"));
    let error = repository.branch().unwrap_err();
    assert!(matches!(error, RepoError::Detached { .. }), "{error}");
    let store = scratch.store();
    let lane = edited(&store, 1, "u1", "readme.md", "mine\n");
    let before = fs::read(scratch.top.join("readme.md")).unwrap();
    landed(store.land(&request(&store, &lane, Land::Commit)).unwrap());
    assert_eq!(fs::read(scratch.top.join("readme.md")).unwrap(), before);
}

#[test]
fn strange_paths_work_from_end_to_end() {
    use std::os::unix::ffi::OsStrExt;
    for name in ["a b", "ünï", "line\nbreak", "co:lon", "quo\"te", "$(touch x)", "-dash"] {
        let mut scratch = Scratch::new();
        let top = scratch.dir.join(name);
        fs::rename(&scratch.top, &top).unwrap();
        scratch.top = top;
        let store = scratch.store();
        let lane = edited(&store, 1, "u1", "readme.md", "mine\n");
        landed(store.land(&request(&store, &lane, Land::Commit)).unwrap());
        assert_eq!(scratch.git(&["status", "--porcelain"]), "", "{name:?}");
    }
    let mut scratch = Scratch::new();
    let top = scratch.dir.join(std::ffi::OsStr::from_bytes(b"not \xff utf8"));
    fs::rename(&scratch.top, &top).unwrap();
    scratch.top = top;
    let store = scratch.store();
    let lane = edited(&store, 1, "u1", "readme.md", "mine\n");
    landed(store.land(&request(&store, &lane, Land::Commit)).unwrap());
}

#[test]
fn a_linked_work_tree_is_as_good_as_the_main_one() {
    let scratch = Scratch::new();
    let linked = scratch.dir.join("linked");
    scratch.git(&["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
    let repository = find(&scratch, &linked).unwrap();
    assert_eq!(repository.top(), linked);
    assert_eq!(repository.common_dir(), scratch.top.join(".git"));
    assert_eq!(repository.branch().unwrap(), Branch::new("side").unwrap());
    let checkouts = repository.checkouts().unwrap();
    let branches: Vec<_> = checkouts.iter().map(|c| c.branch.clone().unwrap()).collect();
    assert_eq!(branches, ["refs/heads/main", "refs/heads/side"]);
    assert_eq!(checkouts[1].path, linked);
}

#[test]
fn a_person_without_a_name_is_told_how_to_get_one() {
    let scratch = Scratch::new();
    let person = scratch.repository().identity().unwrap();
    assert_eq!(person.to_string(), "Zoë Person <zoe@example.org>");
    scratch.git(&["config", "author.email", "work@example.org"]);
    assert_eq!(scratch.repository().identity().unwrap().email(), "work@example.org");
    scratch.git(&["config", "--unset", "author.email"]);
    scratch.git(&["config", "--global", "--unset", "user.email"]);
    let error = scratch.repository().identity().unwrap_err();
    assert!(matches!(error, RepoError::NoIdentity { what: "email" }), "{error}");
    assert!(error.to_string().contains("git config --global user.email"), "{error}");
    // Lanes do without.
    let store = scratch.store();
    edited(&store, 1, "u1", "readme.md", "mine\n");
}

#[test]
fn what_a_person_should_know_is_remarked() {
    let scratch = Scratch::new();
    assert_eq!(scratch.repository().remarks().unwrap(), []);
    scratch.git(&["config", "filter.lfs.process", "git-lfs filter-process"]);
    scratch.write(".gitmodules", "[submodule \"x\"]\n\tpath = x\n\turl = ./x\n");
    scratch.commit("a submodule");
    scratch.git(&["sparse-checkout", "set", "src"]);
    scratch.write(".git/MERGE_HEAD", "");
    let remarks = scratch.repository().remarks().unwrap();
    assert_eq!(
        remarks,
        [
            Remark::Submodules,
            Remark::Filters(vec!["lfs".into()]),
            Remark::Sparse,
            Remark::UnderWay("a merge"),
        ]
    );
}

#[test]
fn a_repository_with_longer_names_works_too() {
    let mut scratch = Scratch::new();
    scratch.top = scratch.dir.join("sha256");
    fs::create_dir(&scratch.top).unwrap();
    scratch.git(&["init", "-q", "-b", "main", "--object-format=sha256"]);
    scratch.write("readme.md", "hello\n");
    assert_eq!(scratch.commit("first").as_str().len(), 64);
    let store = scratch.store();
    let lane = edited(&store, 1, "u1", "readme.md", "mine\n");
    scratch.git_in(&lane.work, &["status"]);
    landed(store.land(&request(&store, &lane, Land::Merge)).unwrap());
    assert_eq!(scratch.git(&["status", "--porcelain"]), "");
}
