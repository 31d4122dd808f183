//! A directory that is in no repository, and the shadow that stands in for one.

use std::{
    ffi::OsStr,
    fs,
    os::unix::{ffi::OsStrExt, fs::symlink, net::UnixListener},
    path::{Path, PathBuf},
    process::Command,
};

use windlass_repo::{
    Applied, Branch, Limits, Oid, Person, RepoError, Repository, Settings, Stock, Store,
};

use crate::scratch::{
    Meddles, Scratch, WHEN, as_nobody, differing, edited, read, scratch_for_nobody, set_mode, write,
};

fn names(stock: &Stock) -> Vec<String> {
    stock.left_out.iter().map(|one| one.path.to_string_lossy().into_owned()).collect()
}

/// The paths that a commit of the shadow holds.
fn held(scratch: &Scratch) -> Vec<String> {
    let said = scratch.git(&["-c", "core.quotePath=false", "ls-tree", "-r", "--name-only", "main"]);
    said.lines().map(str::to_owned).collect()
}

/// What a lane with this edit comes to.
fn made(store: &Store, file: &str, text: &str) -> (Oid, Oid) {
    let lane = edited(store, 1, "u1", file, text);
    let tree = store.snapshot(&lane, "x", WHEN).expect("a snapshot").subject.tree;
    (lane.base, tree)
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().expect("it starts").success());
}

#[test]
fn work_is_given_to_a_directory_without_git_and_nothing_else_changes_there() {
    let scratch = Scratch::new();
    scratch.forget_git();
    let before = scratch.everything();
    let store = scratch.store();
    let stock = store.take_stock(WHEN).unwrap();
    assert!(stock.changed && stock.left_out.is_empty(), "{stock:?}");
    assert_eq!(held(&scratch), [".gitignore", "readme.md", "src/lib.rs"]);

    let repository = store.repository();
    assert!(!repository.has_git());
    repository.usable().unwrap();
    assert_eq!(repository.head().unwrap(), stock.commit);
    assert_eq!(repository.branch().unwrap(), Branch::new("main").unwrap());
    assert_eq!(repository.identity().unwrap().email(), "zoe@example.org");
    assert_eq!(repository.pre_commit().unwrap(), None);
    assert_eq!(repository.remarks().unwrap(), []);
    let checkouts = repository.checkouts().unwrap();
    assert_eq!(checkouts.len(), 1);
    assert_eq!((&checkouts[0].path, checkouts[0].found), (&scratch.top, true));

    let lane = edited(&store, 1, "u1", "readme.md", "changed\n");
    write(&lane.work, "new/file.txt", "new\n");
    fs::remove_file(lane.work.join("src/lib.rs")).unwrap();
    let tree = store.snapshot(&lane, "x", WHEN).unwrap().subject.tree;
    assert_eq!(differing(&before, &scratch.everything()), Vec::<String>::new());
    for already in [false, true] {
        let applied = store.apply_to_checkout(&lane.base, &tree, &[]).unwrap();
        assert_eq!(applied, Applied::Applied { already });
    }
    let changed = differing(&before, &scratch.everything());
    assert_eq!(changed, ["new", "new/file.txt", "readme.md", "src", "src/lib.rs"]);
    assert_eq!(repository.head().unwrap(), stock.commit, "no commit is made of it");
}

#[test]
fn whoever_has_told_git_nothing_is_windlass() {
    let scratch = Scratch::without_git();
    fs::remove_file(scratch.dir.join("home/.gitconfig")).unwrap();
    assert_eq!(scratch.repository().identity().unwrap(), Person::windlass());
}

#[test]
fn settings_for_repositories_do_not_hold_where_there_is_none() {
    let scratch = Scratch::without_git();
    let attributes = scratch.dir.join("attributes");
    fs::write(&attributes, "* filter=odd text\n").unwrap();
    let home = &scratch.dir;
    let set =
        |key: &str, value: &str| drop(scratch.git_in(home, &["config", "--global", key, value]));
    set("core.autocrlf", "true");
    set("core.hooksPath", scratch.dir.join("hooks").to_str().unwrap());
    set("core.attributesFile", attributes.to_str().unwrap());
    set("filter.odd.clean", "false");
    scratch.write("dos.txt", "one\r\ntwo\r\n");
    write(&scratch.dir, "hooks/pre-commit", "#!/bin/sh\nexit 1\n");
    set_mode(&scratch.dir.join("hooks/pre-commit"), 0o755);
    let store = scratch.store();
    store.take_stock(WHEN).unwrap();
    assert_eq!(store.repository().pre_commit().unwrap(), None);
    let lane = edited(&store, 1, "u1", "dos.txt", "one\r\ntwo\r\nthree\n");
    write(&lane.work, "readme.md", "one\ntwo\n");
    let tree = store.snapshot(&lane, "x", WHEN).unwrap().subject.tree;
    let applied = store.apply_to_checkout(&lane.base, &tree, &[]).unwrap();
    assert_eq!(applied, Applied::Applied { already: false });
    assert_eq!(read(&scratch.top, "dos.txt"), "one\r\ntwo\r\nthree\n");
    assert_eq!(read(&scratch.top, "readme.md"), "one\ntwo\n");
}

#[test]
fn what_is_recorded_depends_on_the_directory_alone() {
    let scratch = Scratch::without_git();
    let store = scratch.store();
    let first = store.take_stock(WHEN).unwrap();
    assert!(!first.changed);
    // Gone, new, of another kind, and named by a `.gitignore` since.
    scratch.write("later.tmp", "x");
    scratch.write("a", "a file\n");
    assert!(store.take_stock(WHEN).unwrap().changed);
    fs::remove_file(scratch.top.join("readme.md")).unwrap();
    fs::remove_file(scratch.top.join("a")).unwrap();
    scratch.write("a/b", "below\n");
    scratch.write(".gitignore", "*.tmp\n");
    assert!(store.take_stock(WHEN).unwrap().changed);
    assert_eq!(held(&scratch), [".gitignore", "a/b", "src/lib.rs"]);
    assert_eq!(scratch.git(&["rev-list", "--count", "main"]), "3\n");
    // A lane stands on what was recorded last.
    let lane = edited(&store, 1, "u1", "x", "x");
    assert_eq!(read(&lane.work, "a/b"), "below\n");
    assert!(!lane.work.join("later.tmp").exists());
}

#[test]
fn locks_that_a_killed_git_left_in_the_shadow_are_removed() {
    let scratch = Scratch::without_git();
    scratch.write("readme.md", "by hand\n");
    for lock in ["index.lock", "HEAD.lock", "refs/heads/main.lock"] {
        fs::write(scratch.shadow().join(lock), "").unwrap();
    }
    assert!(scratch.store().take_stock(WHEN).unwrap().changed);
}

#[test]
fn names_of_every_kind_are_recorded_and_what_is_no_file_is_left_out_and_said() {
    let scratch = Scratch::without_git();
    let odd: [&[u8]; 8] =
        [b"\xff\xfe", b"a\nb", b" lead", b"-rf", b"\"q\"", b"*?[x]", b"#hash", b":(top)x"];
    for name in odd {
        fs::write(scratch.top.join(OsStr::from_bytes(name)), name).unwrap();
    }
    symlink("/nowhere/at/all", scratch.top.join("dangling")).unwrap();
    symlink("src", scratch.top.join("to-dir")).unwrap();
    symlink("..", scratch.top.join("up")).unwrap();
    pipe(&scratch.top.join("a pipe"));
    let _socket = UnixListener::bind(scratch.top.join("socket")).unwrap();
    scratch.write(".GIT/config", "x");
    let nested = scratch.top.join("nested");
    fs::create_dir_all(&nested).unwrap();
    scratch.git_in(&nested, &["init", "-q"]);
    scratch.write("nested/file", "theirs\n");
    let before = scratch.top.join("a pipe").symlink_metadata().unwrap().modified().unwrap();
    let store = scratch.store();
    let stock = store.take_stock(WHEN).unwrap();
    assert_eq!(names(&stock), [".GIT/config", "a pipe", "nested", "socket"]);
    let lane = edited(&store, 1, "u1", "x", "x");
    for name in odd {
        assert_eq!(fs::read(lane.work.join(OsStr::from_bytes(name))).unwrap(), name);
    }
    for (link, to) in [("dangling", "/nowhere/at/all"), ("to-dir", "src"), ("up", "..")] {
        assert_eq!(fs::read_link(lane.work.join(link)).unwrap(), PathBuf::from(to));
    }
    assert!(!lane.work.join("nested").exists());
    // All of it stands where it stood.
    let after = scratch.top.join("a pipe").symlink_metadata().unwrap().modified().unwrap();
    assert_eq!(before, after);
    // And odd names are given as they are.
    let (base, tree) = made(&store, "x", "y");
    let applied = store.apply_to_checkout(&base, &tree, &[]).unwrap();
    assert_eq!(applied, Applied::Applied { already: false });
}

#[test]
fn a_pipe_that_git_would_wait_for_is_refused_by_name() {
    for name in [".gitignore", "sub/.gitattributes", "node_modules/x/.gitignore"] {
        let scratch = Scratch::without_git();
        let path = scratch.top.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let _ = fs::remove_file(&path);
        pipe(&path);
        let error = scratch.store().take_stock(WHEN).unwrap_err();
        assert!(matches!(error, RepoError::Unreadable { .. }), "{error}");
        assert!(error.to_string().contains(name), "{error}");
    }
}

#[test]
fn what_may_not_be_read_is_left_out_and_said() {
    let scratch = scratch_for_nobody();
    if !as_nobody("without_git::what_may_not_be_read_is_left_out_and_said", &scratch) {
        return;
    }
    scratch.forget_git();
    scratch.write("closed.txt", "x");
    scratch.write("closed/x", "x");
    set_mode(&scratch.top.join("closed.txt"), 0o000);
    set_mode(&scratch.top.join("closed"), 0o000);
    let stock = scratch.store().take_stock(WHEN).unwrap();
    assert_eq!(names(&stock), ["closed", "closed.txt"]);
    assert_eq!(held(&scratch), [".gitignore", "readme.md", "src/lib.rs"]);
    set_mode(&scratch.top.join("closed"), 0o700);
}

#[test]
fn what_is_not_source_is_recorded_neither_here_nor_in_lanes() {
    let scratch = Scratch::new();
    scratch.forget_git();
    // Nothing of this is named by anybody else.
    scratch.write(".gitignore", "");
    let never = [
        "node_modules/x/index.js",
        "sub/target/debug/x",
        ".venv/bin/python",
        "sub/__pycache__/x.pyc",
        ".harness/state.json",
        "docs/harness/s/spec.md",
        ".env",
    ];
    for path in never {
        scratch.write(path, "x");
    }
    scratch.write("docs/guide.md", "x");
    scratch.write("other/docs/harness/x", "x");
    let store = scratch.store();
    let stock = store.take_stock(WHEN).unwrap();
    let left = [
        ".env",
        ".harness",
        ".venv",
        "docs/harness",
        "node_modules",
        "sub/__pycache__",
        "sub/target",
    ];
    assert_eq!(names(&stock), left);
    let kept = [".gitignore", "docs/guide.md", "other/docs/harness/x", "readme.md", "src/lib.rs"];
    assert_eq!(held(&scratch), kept);
    // What an agent builds is not given to the person either.
    let lane = edited(&store, 1, "u1", "readme.md", "changed\n");
    for path in never {
        write(&lane.work, path, "of the lane");
    }
    let snapshot = store.snapshot(&lane, "x", WHEN).unwrap();
    let changes = store.changes(&lane.base, &snapshot.commit).unwrap();
    assert_eq!(changes.len(), 1, "{changes:?}");
    // Nor is it for git in the lane.
    assert_eq!(scratch.git_in(&lane.work, &["status", "--porcelain"]), " M readme.md\n");
    // Whoever has source there says so.
    scratch.write(".gitignore", "!target/\n");
    let stock = store.take_stock(WHEN).unwrap();
    assert!(!names(&stock).contains(&"sub/target".to_owned()));
    assert!(held(&scratch).contains(&"sub/target/debug/x".to_owned()));
}

#[test]
fn what_nobody_means_to_be_copied_is_refused() {
    let scratch = Scratch::new();
    let git = scratch.windlass_git();
    let shadow = scratch.shadow();
    let refused = |dir: &Path, shadow: &Path| {
        let error = Repository::without_git(&git, dir, shadow).unwrap_err();
        assert!(error.to_string().contains("git init"), "{error}");
        error
    };
    let elsewhere = Path::new("/nonexistent/shadow.git");
    for dir in [Path::new("/"), &scratch.dir.join("home"), &scratch.dir] {
        let error = refused(dir, elsewhere);
        assert!(matches!(error, RepoError::NotCopied { .. }), "{error}");
    }
    // In a repository, in its git directory, in what is left of one.
    for dir in [scratch.top.clone(), scratch.top.join("src"), scratch.top.join(".git/refs")] {
        let error = refused(&dir, &shadow);
        assert!(matches!(error, RepoError::NotARepository { .. }), "{error}");
    }
    scratch.forget_git();
    scratch.write(".git", "gitdir: /nowhere\n");
    let error = refused(&scratch.top, &shadow);
    assert!(matches!(error, RepoError::NotARepository { .. }), "{error}");
    fs::remove_file(scratch.top.join(".git")).unwrap();
    // What Windlass itself keeps would be copied into what it keeps.
    let error = refused(&scratch.top, &scratch.top.join("deep/state/shadow.git"));
    assert!(error.to_string().contains("WINDLASS_STATE_DIR"), "{error}");
    let linked = scratch.dir.join("link");
    symlink(&scratch.top, &linked).unwrap();
    refused(&scratch.top, &linked.join("state/shadow.git"));
    assert!(Repository::without_git(&git, &scratch.top, &shadow).is_ok());
}

#[test]
fn a_directory_that_is_too_big_is_refused_and_nothing_is_recorded() {
    let usual = Limits::default();
    for limits in [
        Limits { files_max: 2, ..usual },
        Limits { bytes_max: 20, ..usual },
        Limits { file_bytes_max: 20, ..usual },
    ] {
        let scratch = Scratch::new();
        scratch.forget_git();
        let store = scratch.store_with(Settings { limits, ..Settings::default() });
        let error = store.take_stock(WHEN).unwrap_err();
        assert!(matches!(error, RepoError::TooBig { .. }), "{error}");
        let said = error.to_string();
        assert!(said.contains(".gitignore") && said.contains("git init"), "{said}");
        assert!(matches!(store.repository().head(), Err(RepoError::NoCommits { .. })));
    }
}

#[test]
fn what_the_person_has_changed_meanwhile_is_theirs() {
    let meddles: Meddles<Scratch> = &[
        ("edited", |s| s.write("readme.md", "by hand\n")),
        ("edited in the same second, to the same length", |s| s.write("readme.md", "hallo\n")),
        ("removed", |s| fs::remove_file(s.top.join("readme.md")).expect("it worked")),
        ("a directory", |s| {
            fs::remove_file(s.top.join("readme.md")).expect("it worked");
            s.write("readme.md/x", "x");
        }),
        ("a link", |s| {
            fs::remove_file(s.top.join("readme.md")).expect("it worked");
            symlink("src/lib.rs", s.top.join("readme.md")).expect("it worked");
        }),
        ("in the way", |s| s.write("new.log", "by hand\n")),
        ("a link in the way", |s| symlink("nowhere", s.top.join("new.log")).expect("it worked")),
        ("a file where a directory is to be", |s| s.write("dir", "by hand\n")),
        ("a directory in the way", |s| s.write("new.log/mine.log", "by hand\n")),
        ("recorded by another run", |s| {
            s.write("readme.md", "by hand\n");
            s.store().take_stock(WHEN).expect("it worked");
        }),
    ];
    for (name, meddle) in meddles {
        let scratch = Scratch::without_git();
        let store = scratch.store();
        let lane = edited(&store, 1, "u1", "readme.md", "changed\n");
        // What is ignored in the directory is no less the person's.
        write(&lane.work, ".gitignore", "");
        write(&lane.work, "new.log", "new\n");
        write(&lane.work, "dir/file", "new\n");
        let tree = store.snapshot(&lane, "x", WHEN).unwrap().subject.tree;
        meddle(&scratch);
        let before = scratch.everything();
        let refused = store.apply_to_checkout(&lane.base, &tree, &[]).unwrap();
        assert!(matches!(refused, Applied::Refused { .. }), "{name}: {refused:?}");
        assert_eq!(differing(&before, &scratch.everything()), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn what_a_change_does_not_touch_is_not_in_its_way() {
    let scratch = Scratch::without_git();
    let store = scratch.store();
    let (base, tree) = made(&store, "readme.md", "changed\n");
    scratch.write("src/lib.rs", "by hand\n");
    scratch.write("new.txt", "by hand\n");
    // Another run has begun meanwhile.
    assert!(store.take_stock(WHEN).unwrap().changed);
    scratch.write("src/lib.rs", "by hand, again\n");
    for already in [false, true] {
        let applied = store.apply_to_checkout(&base, &tree, &[]).unwrap();
        assert_eq!(applied, Applied::Applied { already });
    }
    // And has recorded what it was given.
    assert!(store.take_stock(WHEN).unwrap().changed);
    let applied = store.apply_to_checkout(&base, &tree, &[]).unwrap();
    assert_eq!(applied, Applied::Applied { already: true });
    assert_eq!(read(&scratch.top, "readme.md"), "changed\n");
    assert_eq!(read(&scratch.top, "src/lib.rs"), "by hand, again\n");
}

/// A link to the same file under a name in another case is what a file system that folds case looks like, but for the list of
/// names.
#[test]
fn two_names_of_one_file_do_not_pass_for_a_file_system_that_folds_case() {
    let scratch = Scratch::without_git();
    fs::hard_link(scratch.top.join("readme.md"), scratch.top.join("README.MD")).unwrap();
    let store = scratch.store();
    store.take_stock(WHEN).unwrap();
    let (base, tree) = made(&store, "new.txt", "new\n");
    let applied = store.apply_to_checkout(&base, &tree, &[]).unwrap();
    assert_eq!(applied, Applied::Applied { already: false });
}

#[test]
fn a_repository_that_is_made_later_is_another_one() {
    let scratch = Scratch::without_git();
    let store = scratch.store();
    let (base, tree) = made(&store, "readme.md", "changed\n");
    scratch.git_in(&scratch.top, &["init", "-q", "-b", "main"]);
    // A run that was under way still gives what it has made, and the new repository is left alone.
    let applied = store.apply_to_checkout(&base, &tree, &[]).unwrap();
    assert_eq!(applied, Applied::Applied { already: false });
    let status = scratch.git_in(&scratch.top, &["status", "--porcelain"]);
    assert_eq!(status, "?? .gitignore\n?? readme.md\n?? src/\n");
    let found = Repository::find(&scratch.windlass_git(), &scratch.top).unwrap();
    assert!(found.has_git());
    assert_ne!(found.common_dir(), store.repository().common_dir());
}
