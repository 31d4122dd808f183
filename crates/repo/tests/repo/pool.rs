//! The pool: caches stay warm, whatever is in a lane comes back, and only what is clean and landed ever goes.

use std::{collections::BTreeMap, fs, process::Command};

use windlass_repo::{Lane, Oid, Settings};

use crate::scratch::{Scratch, WHEN, edited, read, with_edit, write};

#[test]
fn the_next_unit_of_a_run_finds_what_tools_have_made_and_nothing_else() {
    let (scratch, store, lane) = with_edit(".gitignore", "target\nnode_modules\n.env\nout/\n");
    for path in ["target/debug/app", "sub/node_modules/x/index.js", ".env", "out/log", "new"] {
        write(&lane.work, path, "made\n");
    }
    // A cache is known by its mark, too.
    write(&lane.work, "out/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n");
    scratch.write(".gitignore", "target\nnode_modules\n.env\nout/\n");
    let base = scratch.commit("ignores the same");
    store.sync().unwrap();
    let next = store.ensure_lane(1, &base, "run", "u2", WHEN).unwrap();
    let there = |path: &str| next.work.join(path).exists();
    assert!(there("target/debug/app") && there("sub/node_modules/x/index.js") && there("out/log"));
    assert!(!there(".env"), "what somebody wrote is no cache");
    assert!(!there("new"));
    assert_eq!(scratch.git_in(&next.work, &["status", "--porcelain"]), "");
    // A unit of another run sees nothing of it.
    let other = store.ensure_lane(1, &base, "run 2", "u1", WHEN).unwrap();
    assert_eq!(scratch.git_in(&other.work, &["status", "--porcelain", "--ignored"]), "");
}

/// Ways in which an agent leaves a lane, and the files that must come back, by path.
const LEFT: &[(&str, &str, &str, &str)] = &[
    ("modified", "echo mine > readme.md", "readme.md", "mine\n"),
    ("untracked", "mkdir -p a/b && echo mine > a/b/new", "a/b/new", "mine\n"),
    ("ignored", "echo notes > notes.log", "notes.log", "notes\n"),
    ("committed", "echo mine > readme.md; git commit -qam x", "readme.md", "mine\n"),
    (
        "committed elsewhere",
        "git checkout -qb side; echo mine > readme.md; git commit -qam x; git checkout -q lane",
        "readme.md",
        "mine\n",
    ),
    ("stashed", "echo mine > readme.md; git stash -q", "readme.md", "mine\n"),
    (
        "stashed twice",
        "echo mine > readme.md; git stash -q; echo other > readme.md; git stash -q",
        "readme.md",
        "mine\n",
    ),
    ("stashed with new files", "echo mine > new; git stash -qu", "new", "mine\n"),
    (
        "detached",
        "git checkout -q --detach; echo mine > readme.md; git commit -qam x",
        "readme.md",
        "mine\n",
    ),
    (
        "merging",
        "git checkout -qb side; echo mine > readme.md; git commit -qam x; git checkout -q lane; echo yours > readme.md; \
         git commit -qam y; git merge -q side || true",
        "readme.md",
        "mine\n",
    ),
];

#[test]
fn whatever_is_in_a_lane_when_it_goes_to_another_comes_back() {
    for (kind, harm, path, text) in LEFT {
        let scratch = Scratch::new();
        scratch.write(".gitignore", "*.log\ntarget\n");
        scratch.commit("ignores logs");
        let store = scratch.store();
        let lane = edited(&store, 1, "F-1", "other", "x\n");
        let done = Command::new("sh").args(["-ec", harm]).current_dir(&lane.work).output().unwrap();
        assert!(done.status.success(), "{kind}: {}", String::from_utf8_lossy(&done.stderr));
        store.ensure_lane(1, &lane.base, "run", "F-2", WHEN).unwrap();
        let kept = store.salvage().unwrap();
        assert!(kept.iter().all(|it| (it.run.as_deref(), &*it.unit) == (Some("run"), "F-1")));
        let mut found = BTreeMap::new();
        for (at, salvage) in kept.iter().enumerate() {
            let dir = scratch.dir.join(format!("back-{at}"));
            store.restore(&salvage.commit, &dir).unwrap();
            let held = fs::read_to_string(dir.join(path)).unwrap_or_default();
            found.insert(salvage.name.clone(), held);
        }
        assert!(found.values().any(|held| held.contains(text.trim())), "{kind}: {found:?}");
        if *kind == "merging" {
            let both = found.values().any(|held| held.contains("mine") && held.contains("yours"));
            assert!(both, "how far the merge had come: {found:?}");
        }
    }
}

#[test]
fn what_the_lane_was_given_is_not_set_aside_with_what_is_ignored() {
    let scratch = Scratch::new();
    scratch.write(".gitignore", ".env\n*.log\n");
    scratch.commit("ignores");
    scratch.write(".env", "SECRET=1\n");
    let store = scratch.store_with(Settings { extras: vec![".env".into()], ..Settings::default() });
    let lane = edited(&store, 1, "F-1", "a.log", "log\n");
    store.release(&lane, WHEN).unwrap();
    let kept = store.salvage().unwrap();
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert!(kept[0].what.starts_with("With ignored files"), "{kept:?}");
    let files = scratch.files_of(&kept[0].commit);
    assert!(files.contains("a.log") && !files.contains(".env"), "{files}");
    // Released again by whoever is next, the same is kept once.
    let lane = store.ensure_lane(1, &lane.base, "run", "F-2", WHEN).unwrap();
    store.release(&lane, WHEN).unwrap();
    assert!(store.salvage().unwrap().iter().filter(|it| it.unit == "F-2").count() == 0);
}

#[test]
fn only_an_idle_lane_that_is_clean_and_landed_goes() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let lane = |number: u32| edited(&store, number, &format!("u{number}"), "readme.md", "mine\n");
    let snapshot = |lane: &Lane| store.snapshot(lane, "x", WHEN).unwrap();
    let [in_use, unlanded, landed, dirty, unsaved] = [1, 2, 3, 4, 5].map(lane);
    for lane in [&in_use, &unlanded, &landed, &dirty] {
        snapshot(lane);
    }
    store.release_as(&unlanded, false, WHEN).unwrap();
    store.release_as(&landed, true, WHEN).unwrap();
    store.release_as(&dirty, true, WHEN).unwrap();
    write(&dirty.work, "readme.md", "by a person, later\n");
    store.release_as(&unsaved, true, WHEN).unwrap();
    let before = store.bytes_of_lanes();
    let gone: Vec<u32> =
        (1..=5).filter(|number| store.reap(*number).unwrap().is_some_and(|it| it > 0)).collect();
    assert_eq!(gone, [3], "in use, unlanded, dirty and just set aside stay");
    let numbers: Vec<u32> = store.pool().unwrap().iter().map(|pooled| pooled.number).collect();
    assert_eq!(numbers, [1, 2, 4, 5]);
    assert!(store.bytes_of_lanes() < before);
    assert_eq!(read(&dirty.work, "readme.md"), "by a person, later\n");
    // One that was cut off while it was removed is no lane.
    fs::rename(scratch.dir.join("state/lanes/2"), scratch.dir.join("state/lanes/gone-2")).unwrap();
    store.recover().unwrap();
    assert!(!scratch.dir.join("state/lanes/gone-2").exists());
}

#[test]
fn a_commit_is_found_by_the_beginning_of_its_name() {
    let (_scratch, store, lane) = with_edit("readme.md", "mine\n");
    let commit = store.snapshot(&lane, "x", WHEN).unwrap().commit;
    assert_eq!(store.commit_named(commit.short()).unwrap(), Some(commit.clone()));
    assert_eq!(store.commit_named(commit.as_str()).unwrap(), Some(commit));
    for none in ["", "abc", "main", "--all", "0123456789"] {
        assert_eq!(store.commit_named(none).unwrap(), None::<Oid>, "{none}");
    }
}

#[test]
fn what_two_commits_would_not_agree_about_is_found_without_leaving_anything_behind() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let made = |number: u32, text: &str| {
        let lane = edited(&store, number, &format!("u{number}"), "readme.md", text);
        write(&lane.work, &format!("own-{number}"), text);
        store.snapshot(&lane, "x", WHEN).unwrap().commit
    };
    let (one, other, same) = (made(1, "one\n"), made(2, "other\n"), made(3, "one\n"));
    let objects = || scratch.git_in(&scratch.results(), &["count-objects"]);
    let before = objects();
    let files = store.would_conflict(&one, &other).unwrap();
    assert_eq!(files, [std::path::PathBuf::from("readme.md")]);
    assert!(store.would_conflict(&one, &same).unwrap().is_empty());
    assert_eq!(objects(), before);
    let left = fs::read_dir(scratch.dir.join("state")).unwrap().flatten();
    assert!(left.into_iter().all(|it| !it.file_name().to_string_lossy().starts_with("trial-")));
}
