//! Recording what a lane holds, whatever an agent did there.

use std::{
    ffi::OsStr,
    fs,
    os::unix::{
        ffi::OsStrExt,
        fs::{PermissionsExt, symlink},
    },
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use windlass_repo::{Land, Limits, Oid, RepoError, Settings};

use crate::{
    meddling::noted_store,
    scratch::{Meddles, Scratch, WHEN, edited, landed, read, request, with_edit, write},
};

#[test]
fn a_snapshot_says_what_changed_and_keeps_it_under_a_ref() {
    let (scratch, store, lane) = with_edit("readme.md", "hello\n");
    let same = store.snapshot(&lane, "turn 1", WHEN).unwrap();
    assert!(!same.changed);
    assert_eq!(same.subject.tree, scratch.oid("main^{tree}"));
    assert_eq!(same.commit, lane.base);

    write(&lane.work, "readme.md", "changed\n");
    write(&lane.work, "new file", "new\n");
    write(&lane.work, "x.log", "ignored\n");
    fs::remove_file(lane.work.join("src/lib.rs")).unwrap();
    let first = store.snapshot(&lane, "turn 1", WHEN).unwrap();
    assert!(first.changed);
    let files = scratch.files_of(&first.commit);
    assert_eq!(files, ".gitignore\nnew file\nreadme.md\n");
    let kept = scratch
        .git_in(&scratch.results(), &["rev-parse", "refs/windlass/run/u1/snapshots/turn%201"]);
    assert_eq!(kept.trim(), first.commit.as_str());
    let again = store.snapshot(&lane, "turn 1", WHEN).unwrap();
    assert_eq!((again.changed, &again.commit), (false, &first.commit));

    // The same label for something else replaces nothing.
    write(&lane.work, "readme.md", "changed once more\n");
    let second = store.snapshot(&lane, "turn 1", WHEN).unwrap();
    let refs = scratch.git_in(
        &scratch.results(),
        &["for-each-ref", "--format=%(objectname)", "refs/windlass/run/u1/snapshots"],
    );
    assert_eq!(refs, format!("{}\n{}\n", first.commit, second.commit));
    // Nothing of it reaches the person.
    assert!(
        !scratch.try_git(&scratch.top, &["cat-file", "-e", first.commit.as_str()]).status.success()
    );
}

#[test]
fn git_is_not_asked_again_about_a_lane_that_nobody_touched() {
    let scratch = Scratch::new();
    let (store, run) = noted_store(&scratch);
    let lane = edited(&store, 1, "u1", "readme.md", "hello\n");
    let asked = || run.calls().iter().filter(|call| call.name == "record.ls-files").count();
    // Times that are very fresh are not trusted, so it is asked a few times more.
    let began = Instant::now();
    let mut before;
    loop {
        before = asked();
        assert!(!store.snapshot(&lane, "x", WHEN).unwrap().changed);
        if asked() == before {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "it is asked every time");
    }
    write(&lane.work, "readme.md", "changed\n");
    assert!(store.snapshot(&lane, "x", WHEN).unwrap().changed);
    assert!(asked() > before, "somebody touched it");
}

#[test]
fn the_change_is_the_same_wherever_it_sits() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let text = read(&scratch.top, "src/lib.rs");
    let lane = edited(&store, 1, "u1", "src/lib.rs", &text.replace("eight", "EIGHT"));
    let here = store.snapshot(&lane, "x", WHEN).unwrap().subject;
    scratch.write("src/lib.rs", format!("zero\n{text}"));
    scratch.commit("more lines above");
    let lane =
        edited(&store, 2, "u2", "src/lib.rs", &format!("zero\n{}", text.replace("eight", "EIGHT")));
    let there = store.snapshot(&lane, "x", WHEN).unwrap().subject;
    assert_eq!(here.change, there.change);
    assert_ne!(here.tree, there.tree);
    write(&lane.work, "src/lib.rs", format!("zero\n{}", text.replace("eight", "EIGHT ")));
    let other = store.snapshot(&lane, "y", WHEN).unwrap().subject;
    assert_ne!(other.change, there.change);
}

#[test]
fn links_modes_and_names_that_are_not_utf8_are_recorded_as_they_are() {
    let (scratch, store, lane) = with_edit("tool", "#!/bin/sh\n");
    fs::set_permissions(lane.work.join("tool"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("/etc/passwd", lane.work.join("link")).unwrap();
    let strange: &[&[u8]] = &[b"\xff\xfe", b"new\nline", b"tab\tquote\"", b"-rf", b":(top)", b" "];
    for name in strange {
        fs::write(lane.work.join(OsStr::from_bytes(name)), "x").unwrap();
    }
    let status = Command::new("mkfifo").arg(lane.work.join("pipe")).status().unwrap();
    assert!(status.success());
    let snapshot = store.snapshot(&lane, "x", WHEN).unwrap();
    let changes = store.changes(&lane.base, &snapshot.commit).unwrap();
    let mode = |name: &[u8]| {
        let path = Path::new(OsStr::from_bytes(name));
        changes.iter().find(|change| change.path == path).map(|change| change.new.mode.clone())
    };
    assert_eq!(mode(b"tool").as_deref(), Some("100755"));
    assert_eq!(mode(b"link").as_deref(), Some("120000"));
    for name in strange {
        assert_eq!(mode(name).as_deref(), Some("100644"), "{name:?}");
    }
    assert_eq!(mode(b"pipe"), None);
    assert_eq!(
        store.file_at(&snapshot.commit, Path::new("link")).unwrap().unwrap(),
        b"/etc/passwd"
    );
    assert_eq!(store.file_at(&snapshot.commit, Path::new("new\nline")).unwrap().unwrap(), b"x");
    assert_eq!(store.file_at(&snapshot.commit, Path::new("absent")).unwrap(), None);
    assert_eq!(store.file_at(&snapshot.commit, Path::new("src")).unwrap(), None);
    assert_eq!(store.names_at(&snapshot.commit, Path::new("absent")).unwrap(), [""; 0]);
    // A commit that is not there is not one without the file.
    let gone = Oid::parse(&"1".repeat(40)).unwrap();
    store.file_at(&gone, Path::new("absent")).unwrap_err();
    store.names_at(&gone, Path::new("")).unwrap_err();
    landed(store.land(&request(&store, &lane, Land::Commit)).unwrap());
    assert_eq!(scratch.git(&["status", "--porcelain"]), "");
}

#[test]
fn repositories_inside_are_opened_up_and_told() {
    let (scratch, store, lane) = with_edit("vendor/with commits/a", "a\n");
    let inner = lane.work.join("vendor/with commits");
    scratch.git_in(&inner, &["init", "-q"]);
    scratch.git_in(&inner, &["add", "a"]);
    scratch.git_in(&inner, &["commit", "-q", "-m", "inner"]);
    write(&inner, "deeper/b", "b\n");
    scratch.git_in(&inner.join("deeper"), &["init", "-q"]);
    write(&lane.work, "unborn/c", "c\n");
    write(&lane.work, "unborn/x.log", "ignored by the outer one\n");
    scratch.git_in(&lane.work.join("unborn"), &["init", "-q"]);
    fs::create_dir(lane.work.join("empty")).unwrap();
    scratch.git_in(&lane.work.join("empty"), &["init", "-q"]);
    let snapshot = store.snapshot(&lane, "x", WHEN).unwrap();
    let files = scratch.files_of(&snapshot.commit);
    assert_eq!(
        files,
        ".gitignore\nreadme.md\nsrc/lib.rs\nunborn/c\nvendor/with commits/a\nvendor/with commits/deeper/b\n"
    );
    let nested: Vec<_> = snapshot.nested.iter().map(|path| path.to_str().unwrap()).collect();
    assert_eq!(nested, ["empty", "unborn", "vendor/with commits", "vendor/with commits/deeper"]);
    // A second look finds nothing new, and later edits inside are seen.
    assert!(!store.snapshot(&lane, "y", WHEN).unwrap().changed);
    write(&lane.work, "unborn/c", "c!\n");
    assert!(store.snapshot(&lane, "z", WHEN).unwrap().changed);
}

#[test]
fn what_git_cannot_hold_is_left_out_and_told() {
    let (scratch, store, lane) = with_edit(".GIT/config", "x\n");
    write(&lane.work, "sub/.Git/hooks/x", "x\n");
    write(&lane.work, "fine", "x\n");
    symlink("fine", lane.work.join(".gitmodules")).unwrap();
    let snapshot = store.snapshot(&lane, "x", WHEN).unwrap();
    let left_out: Vec<_> = snapshot.left_out.iter().map(|one| one.path.to_str().unwrap()).collect();
    assert_eq!(left_out, [".GIT/config", ".gitmodules", "sub/.Git/hooks/x"]);
    let files = scratch.files_of(&snapshot.commit);
    assert_eq!(files, ".gitignore\nfine\nreadme.md\nsrc/lib.rs\n");
}

#[test]
fn too_much_is_refused_with_a_number() {
    let scratch = Scratch::new();
    let limits = Limits { files_max: 3, bytes_max: 100, file_bytes_max: 60 };
    let store = scratch.store_with(Settings { limits, ..Settings::default() });
    let attempt = |files: &[(&str, usize)]| {
        let lane = edited(
            &store,
            1,
            files[files.len() - 1].0,
            "x.log",
            "ignored files do not count, however long they are; this one is",
        );
        for (name, bytes) in files {
            write(&lane.work, name, "x".repeat(*bytes));
        }
        let result = store.snapshot(&lane, "x", WHEN);
        for (name, _) in files {
            fs::remove_file(lane.work.join(name)).unwrap();
        }
        result
    };
    assert!(attempt(&[("a", 60), ("b", 40), ("c", 0)]).is_ok());
    for (files, what) in [
        (vec![("a", 61)], "bytes of a file"),
        (vec![("a", 60), ("b", 41)], "too many bytes"),
        (vec![("a", 1), ("b", 1), ("c", 1), ("d", 1)], "too many new files"),
    ] {
        let error = attempt(&files).unwrap_err();
        assert!(matches!(error, RepoError::TooMuch { .. }), "{error}");
        assert!(
            error.to_string().contains(what) && error.to_string().contains(".gitignore"),
            "{error}"
        );
    }
}

#[test]
fn a_directory_that_became_a_link_is_a_link_and_nothing_behind_it_is_touched() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let outside = scratch.dir.join("outside");
    // Behind the link there are files of the same name, one of them even with the same content.
    write(&outside, "lib.rs", read(&scratch.top, "src/lib.rs"));
    write(&outside, "precious", "precious\n");
    let lane = edited(&store, 1, "u1", "readme.md", "mine\n");
    fs::remove_dir_all(lane.work.join("src")).unwrap();
    symlink(&outside, lane.work.join("src")).unwrap();
    let snapshot = store.snapshot(&lane, "x", WHEN).unwrap();
    let files = scratch.files_of(&snapshot.commit);
    assert_eq!(files, ".gitignore\nreadme.md\nsrc\n");
    // Going back, and being given to another unit, write only in the lane.
    write(&outside, "lib.rs", "not yours\n");
    store.rewind(&lane, &lane.base, WHEN).unwrap();
    assert!(lane.work.join("src").symlink_metadata().unwrap().is_dir());
    fs::remove_dir_all(lane.work.join("src")).unwrap();
    symlink(&outside, lane.work.join("src")).unwrap();
    store.ensure_lane(1, &lane.base, "run", "u2", WHEN).unwrap();
    assert_eq!(read(&outside, "lib.rs"), "not yours\n");
    assert_eq!(read(&outside, "precious"), "precious\n");
    assert_eq!(read(&lane.work, "src/lib.rs"), read(&scratch.top, "src/lib.rs"));
}

#[test]
fn what_a_submodule_points_to_is_not_changed_from_a_lane() {
    let scratch = Scratch::new();
    let other = Scratch::new();
    let url = other.top.to_str().unwrap().to_owned();
    scratch.git(&["-c", "protocol.file.allow=always", "submodule", "add", "-q", &url, "sub"]);
    scratch.commit("a submodule");
    let store = scratch.store();
    let lane = edited(&store, 1, "u1", "readme.md", "mine\n");
    assert!(lane.work.join("sub").is_dir());
    assert!(!store.snapshot(&lane, "x", WHEN).unwrap().subject.change.is_empty());
    // The agent makes it a repository of its own, with a commit.
    write(&lane.work, "sub/x", "x\n");
    scratch.git_in(&lane.work.join("sub"), &["init", "-q"]);
    scratch.git_in(&lane.work.join("sub"), &["add", "-A"]);
    scratch.git_in(&lane.work.join("sub"), &["commit", "-q", "-m", "x"]);
    let snapshot = store.snapshot(&lane, "y", WHEN).unwrap();
    let sub =
        |commit: &str| scratch.git_in(&scratch.results(), &["rev-parse", &format!("{commit}:sub")]);
    assert_eq!(sub(snapshot.commit.as_str()), sub(lane.base.as_str()));
    assert_eq!(snapshot.left_out[0].path, Path::new("sub"));
    // It removes the directory.
    fs::remove_dir_all(lane.work.join("sub")).unwrap();
    let snapshot = store.snapshot(&lane, "z", WHEN).unwrap();
    assert_eq!(sub(snapshot.commit.as_str()), sub(lane.base.as_str()));
    landed(store.land(&request(&store, &lane, Land::Commit)).unwrap());
    assert_eq!(scratch.git(&["status", "--porcelain"]), "");
}

#[test]
fn what_the_agent_committed_is_kept_as_provenance() {
    let (scratch, store, lane) = with_edit("readme.md", "one\n");
    scratch.git_in(&lane.work, &["commit", "-q", "-am", "agent's own"]);
    scratch.git_in(&lane.work, &["switch", "-q", "-c", "aside"]);
    write(&lane.work, "readme.md", "two\n");
    scratch.git_in(&lane.work, &["commit", "-q", "-am", "on a branch"]);
    let own = scratch.git_in(&lane.work, &["rev-parse", "HEAD"]);
    scratch.git_in(&lane.work, &["gc", "-q"]);
    let snapshot = store.snapshot(&lane, "x", WHEN).unwrap();
    assert_eq!(snapshot.agent_commits.len(), 2);
    let log = scratch.git_in(
        &scratch.results(),
        &["log", "--format=%s", &format!("refs/windlass/run/u1/agent/{}", own.trim())],
    );
    assert_eq!(log, "on a branch\nagent's own\nfirst\n");
    // What we make of it is our own commit on the base.
    let parents =
        scratch.git_in(&scratch.results(), &["log", "-1", "--format=%P", snapshot.commit.as_str()]);
    assert_eq!(parents.trim(), lane.base.as_str());
}

#[test]
fn a_lane_with_a_ruined_git_directory_is_recorded_all_the_same() {
    let ruins: Meddles<Path> = &[
        ("removed", |git| fs::remove_dir_all(git).unwrap()),
        ("a file", |git| {
            fs::remove_dir_all(git).unwrap();
            fs::write(git, "gitdir: /nowhere\n").unwrap();
        }),
        ("a link", |git| {
            let other = git.parent().unwrap().parent().unwrap().join("elsewhere");
            fs::rename(git, &other).unwrap();
            symlink(other, git).unwrap();
        }),
        ("a link to itself", |git| {
            fs::remove_dir_all(git).unwrap();
            symlink(".git", git).unwrap();
        }),
        ("bare", |git| fs::write(git.join("config"), "[core]\n\tbare = true\n").unwrap()),
        ("another work tree", |git| {
            fs::write(git.join("config"), "[core]\n\tworktree = /\n").unwrap()
        }),
        ("nonsense", |git| fs::write(git.join("config"), "[[[\n").unwrap()),
        ("no refs", |git| fs::remove_dir_all(git.join("refs")).unwrap()),
        ("no head", |git| fs::write(git.join("HEAD"), "ref: refs/heads/gone\n").unwrap()),
        ("an index of lies", |git| fs::write(git.join("index"), "DIRC").unwrap()),
        ("excludes", |git| fs::write(git.join("info/exclude"), "*\n").unwrap()),
        ("borrowed", |git| fs::write(git.join("objects/info/alternates"), "/nowhere\n").unwrap()),
        ("a pipe for a head", |git| {
            fs::remove_file(git.join("HEAD")).unwrap();
            assert!(Command::new("mkfifo").arg(git.join("HEAD")).status().unwrap().success());
        }),
        ("moved", |git| fs::write(git.join("HEAD"), format!("{}\n", "1".repeat(40))).unwrap()),
    ];
    let scratch = Scratch::new();
    let store = scratch.store();
    let mut expected = None;
    for (at, (name, ruin)) in ruins.iter().enumerate() {
        let lane = edited(&store, 1, &format!("u{at}"), "readme.md", "mine\n");
        ruin(&lane.work.join(".git"));
        let tree = store.snapshot(&lane, "x", WHEN).unwrap().subject.tree;
        assert_eq!(*expected.get_or_insert_with(|| tree.clone()), tree, "{name}");
        // Asked for again, the lane has a git directory that works, and the same files.
        let lane = store.ensure_lane(1, &lane.base, "run", &lane.unit, WHEN).unwrap();
        assert_eq!(read(&lane.work, "readme.md"), "mine\n", "{name}");
        if !["an index of lies", "excludes"].contains(name) {
            let status = scratch.git_in(&lane.work, &["status", "--porcelain"]);
            assert_eq!(status, " M readme.md\n", "{name}");
            let head = scratch.git_in(&lane.work, &["rev-parse", "HEAD"]);
            assert_eq!(head.trim(), lane.base.as_str(), "{name}");
        }
    }
}

#[test]
fn a_file_is_read_beyond_links_as_far_as_they_stay_inside() {
    let scratch = Scratch::new();
    scratch.write("docs/guide.md", "how it is done\n");
    for (link, to) in
        [("link.md", "docs/guide.md"), ("dir", "docs"), ("out.md", "../secret"), ("loop", "loop")]
    {
        symlink(to, scratch.top.join(link)).unwrap();
    }
    scratch.write("empty", "");
    let commit = scratch.commit("links");
    let store = scratch.store();
    store.sync().unwrap();
    let read = |path: &str| store.linked_file_at(&commit, Path::new(path)).unwrap();
    for path in ["docs/guide.md", "link.md", "dir/guide.md"] {
        assert_eq!(read(path).as_deref(), Some(&b"how it is done\n"[..]), "{path}");
    }
    assert_eq!(read("empty").as_deref(), Some(&b""[..]));
    for path in ["out.md", "loop", "absent", "docs", "dir", "docs\n/guide.md"] {
        assert_eq!(read(path), None, "{path:?}");
    }
    // What is not beyond a link is read as it is.
    assert_eq!(store.file_at(&commit, Path::new("link.md")).unwrap().unwrap(), b"docs/guide.md");
}

#[test]
fn what_git_would_wait_for_is_taken_away_and_said() {
    let (_scratch, store, lane) = with_edit("mine", "mine\n");
    let pipe = |name: &str| {
        let path = lane.work.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let _ = fs::remove_file(&path);
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    // What git reads on its way, what decides whether a directory is a repository, and a file that it knew.
    for name in [".gitignore", "deep/er/.gitattributes", "own/.git/HEAD", "readme.md"] {
        pipe(name);
    }
    for dir in ["objects", "refs"] {
        fs::create_dir_all(lane.work.join("own/.git").join(dir)).unwrap();
    }
    let state = store.looked_at(1).unwrap();
    let unseen = state.expect_err("somebody may be at work there");
    assert!(unseen.why.to_string().contains(".gitignore"), "{}", unseen.why);
    let snapshot = store.snapshot(&lane, "x", WHEN).unwrap();
    let left_out: Vec<_> = snapshot.left_out.iter().map(|it| it.path.to_str().unwrap()).collect();
    let plugs = [".gitignore", "deep/er/.gitattributes", "own/.git/HEAD", "readme.md"];
    assert!(plugs.iter().all(|plug| left_out.contains(plug)), "{left_out:?}");
    let changes = store.changes(&lane.base, &snapshot.commit).unwrap();
    let changed: Vec<_> = changes.iter().map(|change| change.path.to_str().unwrap()).collect();
    assert_eq!(changed, [".gitignore", "mine", "readme.md"]);
    // And going back does not wait either.
    pipe("src/.gitattributes");
    store.rewind(&lane, &lane.base, WHEN).unwrap();
    let readme = store.file_at(&lane.base, Path::new("readme.md")).unwrap().unwrap();
    assert_eq!(read(&lane.work, "readme.md").as_bytes(), readme);
    let checkout = store.checkout(1, &lane.base).unwrap();
    let path = checkout.path.join(".gitattributes");
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    assert!(store.is_exactly(&checkout).unwrap(), "it holds nothing, and is gone");
}
