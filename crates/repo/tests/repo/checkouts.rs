//! Landing where the branch is checked out: when the checkout moves along, and when work waits.

use std::{fs, os::unix::fs::symlink, path::Path, thread};

use windlass_repo::{Applied, Land, Landing, RepoError, Settings, Store};

use crate::scratch::{
    Meddles, Scratch, WHEN, differing, edited, landed, read, request, with_edit, write,
};

/// Lands a change of `readme.md` and a new `new.txt` after `meddle` was at the checkout.
fn land_after(meddle: impl FnOnce(&Scratch)) -> (Scratch, Store, Landing) {
    let (scratch, store, lane) = with_edit("readme.md", "mine\n");
    write(&lane.work, "new.txt", "new\n");
    let request = request(&store, &lane, Land::Commit);
    meddle(&scratch);
    let before = scratch.everything();
    let landing = store.land(&request).expect("it worked");
    if matches!(landing, Landing::Waiting { .. }) {
        let permitted = ["objects", "refs/heads/windlass", "logs/refs/heads/windlass"];
        let wrong: Vec<_> = differing(&before, &scratch.everything())
            .into_iter()
            .filter(|path| !permitted.iter().any(|p| path.starts_with(&format!(".git/{p}"))))
            .collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
    (scratch, store, landing)
}

#[test]
fn work_waits_when_something_is_in_its_way() {
    let meddles: Meddles<Scratch> = &[
        ("modified", |s| s.write("readme.md", "edited by hand\n")),
        ("staged", |s| {
            s.write("readme.md", "staged\n");
            s.git(&["add", "readme.md"]);
        }),
        ("removed", |s| {
            s.git(&["rm", "-q", "readme.md"]);
        }),
        ("untracked", |s| s.write("new.txt", "by hand\n")),
        ("untracked, and the same", |s| s.write("new.txt", "new\n")),
        ("a directory in the way", |s| s.write("new.txt/x", "by hand\n")),
        ("a merge under way", |s| {
            s.git(&["branch", "side"]);
            s.write("z", "z");
            s.commit("z");
            s.git(&["switch", "-q", "side"]);
            s.write("y", "y");
            s.commit("y");
            s.git(&["switch", "-q", "main"]);
            s.git(&["reset", "-q", "--hard", "HEAD~1"]);
            s.git(&["merge", "-q", "--no-commit", "--no-ff", "side"]);
        }),
        ("sparse", |s| {
            s.git(&["sparse-checkout", "set", "src"]);
        }),
        ("no case", |s| {
            s.git(&["config", "core.ignoreCase", "true"]);
        }),
        ("a filter", |s| {
            s.git(&["config", "filter.x.smudge", "cat"]);
            s.write(".git/info/attributes", "*.md filter=x\n");
        }),
        ("attributes that only they have", |s| s.write(".git/info/attributes", "*.md eol=crlf\n")),
        ("an index in two parts", |s| {
            s.git(&["update-index", "--split-index"]);
        }),
        ("no index", |s| fs::remove_file(s.top.join(".git/index")).unwrap()),
        ("checked out twice", |s| {
            let twice = s.dir.join("twice");
            s.git(&["worktree", "add", "-q", "--force", twice.to_str().unwrap(), "main"]);
        }),
    ];
    for (name, meddle) in meddles {
        let (scratch, _, landing) = land_after(meddle);
        let Landing::Waiting { commit, branch, why, command } = landing else {
            panic!("{name}: {landing:?}");
        };
        assert_eq!(branch.as_str(), "windlass/run", "{name}");
        assert_eq!(scratch.oid("windlass/run"), commit, "{name}");
        assert!(!why.is_empty(), "{name}");
        assert!(command.ends_with("merge --ff-only windlass/run"), "{name}: {command}");
        assert!(!scratch.top.join(".git/index.lock").exists(), "{name}");
    }
}

#[test]
fn the_command_that_is_given_takes_the_work() {
    let (scratch, _, landing) = land_after(|s| s.write("readme.md", "edited by hand\n"));
    let Landing::Waiting { commit, command, .. } = landing else { panic!("{landing:?}") };
    scratch.write("readme.md", "hello\n");
    let done = std::process::Command::new("sh").args(["-c", &command]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(scratch.oid("main"), commit);
    assert_eq!(read(&scratch.top, "readme.md"), "mine\n");
}

#[test]
fn waiting_work_lands_as_soon_as_nothing_is_in_its_way() {
    let (scratch, store, lane) = with_edit("readme.md", "mine\n");
    let request = request(&store, &lane, Land::Commit);
    scratch.write("readme.md", "edited by hand\n");
    let waiting = store.land(&request).unwrap();
    assert!(matches!(waiting, Landing::Waiting { .. }), "{waiting:?}");
    assert_eq!(store.land(&request).unwrap(), waiting);
    scratch.write("readme.md", "hello\n");
    let commit = landed(store.land(&request).unwrap());
    assert_eq!(scratch.oid("main"), commit);
    // The branch it waited on has done its duty.
    assert_eq!(scratch.git(&["branch", "--list", "windlass/*"]), "");
}

#[test]
fn later_work_stands_on_work_that_waits() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let first = edited(&store, 1, "u1", "readme.md", "first\n");
    let second = edited(&store, 2, "u2", "other.txt", "second\n");
    let (first, second_request) =
        (request(&store, &first, Land::Commit), request(&store, &second, Land::Commit));
    scratch.write("readme.md", "edited by hand\n");
    let Landing::Waiting { commit, .. } = store.land(&first).unwrap() else { panic!("waits") };
    // It must be checked together with what waits.
    let Landing::Moved { tip, .. } = store.land(&second_request).unwrap() else { panic!("moved") };
    assert_eq!(tip, commit);
    store.rebase(&second, &tip, WHEN).unwrap();
    let second = store.ensure_lane(2, &tip, "run", "u2", WHEN).unwrap();
    let again = request(&store, &second, Land::Commit);
    let Landing::Waiting { commit, branch, .. } = store.land(&again).unwrap() else {
        panic!("waits");
    };
    assert_eq!(branch.as_str(), "windlass/run");
    assert_eq!(scratch.git(&["log", "--format=%s", "windlass/run"]), "Do u2\nDo u1\nfirst\n");
    // Both land together.
    scratch.write("readme.md", "hello\n");
    assert_eq!(landed(store.land(&again).unwrap()), commit);
    assert_eq!(scratch.git(&["log", "--format=%s"]), "Do u2\nDo u1\nfirst\n");
    assert_eq!(scratch.git(&["status", "--porcelain"]), "");
}

#[test]
fn work_that_waits_is_never_moved_over() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let first = edited(&store, 1, "u1", "readme.md", "first\n");
    let first = request(&store, &first, Land::Commit);
    scratch.write("readme.md", "edited by hand\n");
    let Landing::Waiting { commit, .. } = store.land(&first).unwrap() else { panic!("waits") };
    // The person goes another way, and stays in the way.
    scratch.commit("by hand");
    scratch.write("other.txt", "untracked\n");
    let second = edited(&store, 2, "u2", "other.txt", "second\n");
    let second = request(&store, &second, Land::Commit);
    let Landing::Waiting { branch, .. } = store.land(&second).unwrap() else { panic!("waits") };
    assert_eq!(branch.as_str(), "windlass/run-2");
    assert_eq!(scratch.oid("windlass/run"), commit);
}

#[test]
fn a_linked_work_tree_moves_along_too() {
    let scratch = Scratch::new();
    scratch.git(&["branch", "base"]);
    let linked = scratch.dir.join("linked\ntree");
    scratch.git(&["worktree", "add", "-q", linked.to_str().unwrap(), "base"]);
    let store = scratch.store();
    let lane = edited(&store, 1, "u1", "readme.md", "mine\n");
    let mut request = request(&store, &lane, Land::Commit);
    request.branch = windlass_repo::Branch::new("base").unwrap();
    let before = scratch.everything();
    let commit = landed(store.land(&request).unwrap());
    assert_eq!(read(&linked, "readme.md"), "mine\n");
    assert_eq!(scratch.git_in(&linked, &["status", "--porcelain"]), "");
    assert_eq!(scratch.git_in(&linked, &["rev-parse", "HEAD"]).trim(), commit.as_str());
    assert_eq!(read(&scratch.top, "readme.md"), "hello\n");
    let changed = differing(&before, &scratch.everything());
    assert!(!changed.iter().any(|path| path == ".git/index" || path == ".git/HEAD"), "{changed:?}");
    // A rebase there keeps the branch although it is checked out nowhere.
    fs::create_dir(scratch.top.join(".git/rebase-merge")).unwrap();
    scratch.write(".git/rebase-merge/head-name", "refs/heads/base\n");
    let lane = edited(&store, 2, "u2", "src/lib.rs", "x\n");
    store.rebase(&lane, &commit, WHEN).unwrap();
    let lane = store.ensure_lane(2, &commit, "run", "u2", WHEN).unwrap();
    let mut request = crate::scratch::request(&store, &lane, Land::Commit);
    request.branch = windlass_repo::Branch::new("base").unwrap();
    let landing = store.land(&request).unwrap();
    assert!(
        matches!(&landing, Landing::Waiting { why, .. } if why.contains("rebased")),
        "{landing:?}"
    );
}

#[test]
fn a_branch_that_is_bisected_gets_nothing_and_others_do() {
    let scratch = Scratch::new();
    for text in ["second", "third"] {
        scratch.write("later.txt", text);
        scratch.commit(text);
    }
    scratch.git(&["branch", "other"]);
    let store = scratch.store();
    let lane = edited(&store, 1, "u1", "readme.md", "mine\n");
    let main = request(&store, &lane, Land::Commit);
    let mut other = main.clone();
    other.branch = windlass_repo::Branch::new("other").unwrap();
    // Neither is checked out meanwhile.
    scratch.git(&["bisect", "start", "main", "main~2"]);
    let commit = landed(store.land(&other).unwrap());
    assert_eq!(scratch.oid("other"), commit);
    let landing = store.land(&main).unwrap();
    assert!(
        matches!(&landing, Landing::Waiting { why, .. } if why.contains("bisected")),
        "{landing:?}"
    );
    assert_eq!(scratch.oid("main"), lane.base);
}

#[test]
fn a_held_index_is_waited_for_and_not_broken() {
    let scratch = Scratch::new();
    let store = scratch.store_with(Settings { lock_wait_ms: 50, ..Settings::default() });
    let lane = edited(&store, 1, "u1", "readme.md", "mine\n");
    let request = request(&store, &lane, Land::Commit);
    let lock = scratch.top.join(".git/index.lock");
    fs::write(&lock, "").unwrap();
    let error = store.land(&request).unwrap_err();
    assert!(matches!(&error, RepoError::Locked { path, .. } if *path == lock), "{error}");
    assert_eq!(fs::read(&lock).unwrap(), b"");
    assert_eq!(scratch.oid("main"), lane.base);
    // Given back while we wait, it is ours.
    let patient = scratch.store_with(Settings { lock_wait_ms: 60_000, ..Settings::default() });
    thread::scope(|scope| {
        let landing = scope.spawn(|| patient.land(&request));
        fs::remove_file(&lock).unwrap();
        landed(landing.join().unwrap().unwrap());
    });
    assert_eq!(scratch.git(&["status", "--porcelain"]), "");
}

#[test]
fn symbolic_links_modes_and_directories_move_along() {
    let scratch = Scratch::new();
    scratch.write("dir/a", "a\n");
    scratch.write("file", "file\n");
    scratch.commit("more");
    let store = scratch.store();
    let lane = edited(&store, 1, "u1", "readme.md", "mine\n");
    fs::remove_dir_all(lane.work.join("dir")).unwrap();
    write(&lane.work, "dir", "now a file\n");
    fs::remove_file(lane.work.join("file")).unwrap();
    write(&lane.work, "file/inside", "now a directory\n");
    symlink("readme.md", lane.work.join("link")).unwrap();
    write(&lane.work, "tool", "#!/bin/sh\n");
    make_executable(&lane.work.join("tool"));
    landed(store.land(&request(&store, &lane, Land::Commit)).unwrap());
    assert_eq!(scratch.git(&["status", "--porcelain"]), "");
    assert_eq!(read(&scratch.top, "dir"), "now a file\n");
    assert_eq!(read(&scratch.top, "file/inside"), "now a directory\n");
    assert_eq!(fs::read_link(scratch.top.join("link")).unwrap(), Path::new("readme.md"));
}

fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("it worked");
}

#[test]
fn files_that_were_only_touched_are_not_in_the_way() {
    let (scratch, _, landing) = land_after(|s| {
        let file = fs::File::options().append(true).open(s.top.join("readme.md")).unwrap();
        file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    });
    landed(landing);
    assert_eq!(scratch.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_change_is_given_to_a_clean_checkout_without_a_commit() {
    let scratch = Scratch::new();
    scratch.write("untracked.txt", "mine\n");
    let store = scratch.store();
    let lane = edited(&store, 1, "u1", "readme.md", "changed\n");
    write(&lane.work, "new.txt", "new\n");
    fs::remove_file(lane.work.join("src/lib.rs")).unwrap();
    let tree = store.snapshot(&lane, "x", WHEN).unwrap().subject.tree;
    let before = scratch.everything();
    assert_eq!(
        store.apply_to_checkout(&lane.base, &tree, &[]).unwrap(),
        Applied::Applied { already: false }
    );
    let changed = differing(&before, &scratch.everything());
    assert_eq!(changed, ["new.txt", "readme.md", "src", "src/lib.rs"]);
    assert_eq!(
        store.apply_to_checkout(&lane.base, &tree, &[]).unwrap(),
        Applied::Applied { already: true }
    );
    scratch.write("readme.md", "and by hand\n");
    let refused = store.apply_to_checkout(&lane.base, &tree, &[]).unwrap();
    assert!(matches!(refused, Applied::Refused { .. }), "{refused:?}");
}

#[test]
fn a_change_is_not_given_to_a_checkout_that_is_not_clean() {
    let meddles: Meddles<Scratch> = &[
        ("modified elsewhere", |s| s.write("src/lib.rs", "by hand\n")),
        ("staged", |s| {
            s.write("x", "x");
            s.git(&["add", "x"]);
        }),
        ("in the way", |s| s.write("new.txt", "by hand\n")),
        ("sparse", |s| drop(s.git(&["config", "core.sparseCheckout", "true"]))),
        ("folding case", |s| drop(s.git(&["config", "core.ignoreCase", "true"]))),
        ("another commit", |s| {
            s.write("x", "x");
            s.commit("x");
        }),
        ("another commit of the same files", |s| {
            s.git(&["commit", "-q", "--allow-empty", "-m", "x"]);
        }),
    ];
    for (name, meddle) in meddles {
        let (scratch, store, lane) = with_edit("readme.md", "changed\n");
        write(&lane.work, "new.txt", "new\n");
        let tree = store.snapshot(&lane, "x", WHEN).unwrap().subject.tree;
        meddle(&scratch);
        let before = scratch.everything();
        let refused = store.apply_to_checkout(&lane.base, &tree, &[]).unwrap();
        assert!(matches!(refused, Applied::Refused { .. }), "{name}: {refused:?}");
        assert_eq!(differing(&before, &scratch.everything()), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn what_is_kept_beside_the_work_does_not_keep_a_change_from_being_given() {
    let (scratch, store, lane) = with_edit("readme.md", "changed\n");
    let tree = store.snapshot(&lane, "x", WHEN).unwrap().subject.tree;
    scratch.write("src/lib.rs", "by hand\n");
    let beside = |path: &str| store.apply_to_checkout(&lane.base, &tree, &[path.to_owned()]);
    assert!(matches!(beside("src/li").unwrap(), Applied::Refused { .. }), "that is another");
    let before = scratch.everything();
    assert_eq!(beside("src").unwrap(), Applied::Applied { already: false });
    assert_eq!(differing(&before, &scratch.everything()), ["readme.md"]);
    assert_eq!(beside("src/lib.rs").unwrap(), Applied::Applied { already: true });
    // What the change is about is not beside it.
    scratch.write("readme.md", "by hand\n");
    assert!(matches!(beside("readme.md").unwrap(), Applied::Refused { .. }));
}

#[test]
fn what_is_ignored_is_not_overwritten_by_a_change_that_is_given() {
    let (scratch, store, lane) = with_edit(".gitignore", "");
    write(&lane.work, "new.log", "new\n");
    let tree = store.snapshot(&lane, "x", WHEN).unwrap().subject.tree;
    scratch.write("new.log", "by hand\n");
    let before = scratch.everything();
    let refused = store.apply_to_checkout(&lane.base, &tree, &[]).unwrap();
    let Applied::Refused { why } = refused else { panic!("{refused:?}") };
    assert!(why.contains("new.log is in the way"), "{why}");
    assert_eq!(differing(&before, &scratch.everything()), Vec::<String>::new());
}

#[test]
fn a_checkout_is_found_where_git_itself_does_not_know_it() {
    // With a git directory elsewhere.
    let mut scratch = Scratch::new();
    let separate = scratch.dir.join("separate.git");
    scratch.git(&["init", "-q", "--separate-git-dir", separate.to_str().unwrap()]);
    let store = scratch.store();
    let lane = edited(&store, 1, "u1", "readme.md", "mine\n");
    landed(store.land(&request(&store, &lane, Land::Commit)).unwrap());
    assert_eq!(read(&scratch.top, "readme.md"), "mine\n");
    assert_eq!(scratch.git(&["status", "--porcelain"]), "");
    assert!(!separate.join("readme.md").exists());
    // Seen from a linked work tree, nobody knows where the main one is.
    let linked = scratch.dir.join("linked");
    scratch.git(&["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
    let main = std::mem::replace(&mut scratch.top, linked);
    let state = scratch.dir.join("other state");
    let store = Store::open(scratch.repository(), &state, Settings::default()).unwrap();
    let lane = edited(&store, 1, "u2", "readme.md", "more\n");
    let landing = store.land(&request(&store, &lane, Land::Commit)).unwrap();
    assert!(matches!(landing, Landing::Waiting { .. }), "{landing:?}");
    assert_eq!(read(&main, "readme.md"), "mine\n");

    // Inside a submodule.
    let mut scratch = Scratch::new();
    let other = Scratch::new();
    let url = other.top.to_str().unwrap().to_owned();
    scratch.git(&["-c", "protocol.file.allow=always", "submodule", "add", "-q", &url, "sub"]);
    scratch.commit("a submodule");
    scratch.top = scratch.top.join("sub");
    let store = scratch.store();
    let lane = edited(&store, 1, "u1", "readme.md", "mine\n");
    landed(store.land(&request(&store, &lane, Land::Commit)).unwrap());
    assert_eq!(read(&scratch.top, "readme.md"), "mine\n");
    assert_eq!(scratch.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_change_that_only_adds_or_only_removes_is_given_once() {
    for adds in [true, false] {
        let (scratch, store, lane) = with_edit("readme.md", "hello\n");
        if adds {
            write(&lane.work, "new.txt", "new\n");
        } else {
            fs::remove_file(lane.work.join("readme.md")).unwrap();
        }
        let tree = store.snapshot(&lane, "x", WHEN).unwrap().subject.tree;
        for already in [false, true, true] {
            let applied = store.apply_to_checkout(&lane.base, &tree, &[]).unwrap();
            assert_eq!(applied, Applied::Applied { already }, "adds: {adds}");
            assert_eq!(scratch.top.join("new.txt").exists(), adds);
            assert_eq!(scratch.top.join("readme.md").exists(), adds);
        }
    }
}

#[test]
fn an_index_with_extensions_is_none_the_worse_for_it() {
    let (scratch, _, landing) = land_after(|s| {
        s.git(&["update-index", "--untracked-cache", "--index-version", "4"]);
        s.git(&["status"]);
        s.write("staged", "staged\n");
        s.git(&["add", "staged"]);
        s.git(&["update-index", "--assume-unchanged", "src/lib.rs"]);
    });
    landed(landing);
    assert_eq!(scratch.git(&["status", "--porcelain"]), "A  staged\n");
    assert_eq!(scratch.git(&["ls-files", "-v", "src/lib.rs"]), "h src/lib.rs\n");
}
