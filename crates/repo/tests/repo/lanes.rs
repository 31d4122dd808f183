//! Lanes: made, found again, given to others, never emptied of what is not kept.

use std::{fs, os::unix::fs::MetadataExt, path::PathBuf};

use windlass_repo::{Lane, Limits, RepoError, Settings};

use crate::scratch::{Scratch, WHEN, edited, person, read, with_edit, write};

#[test]
fn a_lane_is_a_repository_that_an_agent_can_use() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let lane = edited(&store, 1, "fix login!", "readme.md", "mine\n");
    assert_eq!(scratch.git_in(&lane.work, &["status", "--porcelain"]), " M readme.md\n");
    assert_eq!(scratch.git_in(&lane.work, &["log", "--format=%s"]), "first\n");
    assert!(scratch.git_in(&lane.work, &["diff"]).contains("+mine"));
    assert_eq!(scratch.git_in(&lane.work, &["remote"]), "");
    scratch.git_in(&lane.work, &["commit", "-q", "-am", "by the agent"]);
    assert_eq!(scratch.git_in(&lane.work, &["log", "-1", "--format=%an"]), "Zoë Person\n");
}

#[test]
fn asked_for_again_a_lane_is_found_as_it_was_left() {
    let (scratch, store, lane) = with_edit("readme.md", "mine\n");
    write(&lane.work, "target/build", "ignored\n");
    scratch.write("later", "later\n");
    let later = scratch.commit("later");
    store.sync().unwrap();
    let again = scratch.store().ensure_lane(1, &later, "run", "u1", WHEN).unwrap();
    assert!(lane.untouched && !again.untouched, "somebody has been in it meanwhile");
    assert_eq!(again, Lane { untouched: false, ..lane.clone() });
    assert_eq!(read(&lane.work, "readme.md"), "mine\n");
    assert_eq!(read(&lane.work, "target/build"), "ignored\n");
}

#[test]
fn a_lane_goes_to_another_unit_with_nothing_left_of_the_first() {
    let (scratch, store, lane) = with_edit("readme.md", "mine\n");
    write(&lane.work, "new/file", "new\n");
    write(&lane.work, "target/build", "ignored\n");
    scratch.git_in(&lane.work, &["commit", "-q", "-am", "by the agent"]);
    write(&lane.work, ".git/hooks/pre-commit", "#!/bin/sh\n");
    scratch.write("later", "later\n");
    let later = scratch.commit("later");
    store.sync().unwrap();
    let other = store.ensure_lane(1, &later, "another run", "u2", WHEN).unwrap();
    assert_eq!(other.work, lane.work);
    assert_eq!(scratch.git_in(&other.work, &["status", "--porcelain", "--ignored"]), "");
    assert_eq!(scratch.git_in(&other.work, &["log", "--format=%s"]), "later\nfirst\n");
    assert_eq!(fs::read_dir(other.work.join(".git/hooks")).unwrap().count(), 0);
    assert_eq!(read(&other.work, "later"), "later\n");
    // What was in it is kept.
    let saved = scratch.git_in(
        &scratch.results(),
        &["for-each-ref", "--format=%(refname)", "refs/windlass/run/u1/saved"],
    );
    let restored = scratch.dir.join("restored");
    let commit = scratch.git_in(&scratch.results(), &["rev-parse", saved.trim()]);
    store.restore(&windlass_repo::Oid::parse(commit.trim()).unwrap(), &restored).unwrap();
    assert_eq!(read(&restored, "readme.md"), "mine\n");
    assert_eq!(read(&restored, "new/file"), "new\n");
    // The first unit no longer has it.
    let error = store.snapshot(&lane, "x", WHEN).unwrap_err();
    assert!(matches!(error, RepoError::NotTheirs { number: 1, .. }), "{error}");
}

/// What an agent may leave where we look next.
#[test]
fn a_pipe_or_a_link_in_a_lanes_git_is_neither_waited_for_nor_believed() {
    let harms = [
        "rm objects/info/alternates; mkfifo objects/info/alternates",
        "rm config; mkfifo config",
        "rm objects/info/alternates; ln -s /dev/zero objects/info/alternates",
        "ln -s /lane/evil commondir",
        "ln -s /lane/evil config.worktree",
    ];
    for harm in harms {
        let (scratch, store, lane) = with_edit("readme.md", "mine\n");
        let git = lane.work.join(".git");
        let done = std::process::Command::new("sh").args(["-c", harm]).current_dir(&git).status();
        assert!(done.unwrap().success(), "{harm}");
        let again =
            store.ensure_lane(lane.number, &lane.base, &lane.run, &lane.unit, WHEN).unwrap();
        for name in ["config", "objects/info/alternates"] {
            let meta = fs::symlink_metadata(again.work.join(".git").join(name)).unwrap();
            assert!(meta.is_file(), "{harm}: {name}");
        }
        for name in ["commondir", "config.worktree"] {
            let left = fs::symlink_metadata(again.work.join(".git").join(name)).is_ok();
            assert!(!left, "{harm}: {name}");
        }
        assert_eq!(read(&again.work, "readme.md"), "mine\n", "{harm}: its files stay");
        assert_eq!(scratch.git_in(&again.work, &["status", "--porcelain"]), " M readme.md\n");
    }
}

/// The `readme.md` of what was in nobody's lane any more, and is kept all the same.
fn lost_readme(scratch: &Scratch) -> String {
    let results = scratch.results();
    let refs = ["for-each-ref", "--format=%(objectname)", "refs/windlass/%lost"];
    let lost = scratch.git_in(&results, &refs);
    scratch.git_in(&results, &["cat-file", "blob", &format!("{}:readme.md", lost.trim())])
}

#[test]
fn a_released_lane_keeps_its_files_until_they_are_kept_under_a_ref() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let lane = edited(&store, 7, "u1", "readme.md", "mine\n");
    let saved = store.release(&lane, WHEN).unwrap().unwrap();
    assert!(saved.name.starts_with("refs/windlass/run/u1/saved/"), "{}", saved.name);
    assert_eq!(read(&lane.work, "readme.md"), "mine\n");
    let [Ok(state)] = &store.lanes().unwrap()[..] else { panic!("one lane") };
    assert_eq!((state.number, &state.owner, state.dirty), (7, &None, false));
    assert_eq!(state.saved.as_ref(), Some(&saved.name));
    assert!(state.bytes > 0);
    // A person edits there after all.
    write(&lane.work, "readme.md", "by hand\n");
    assert!(store.looked_at(7).unwrap().unwrap().dirty);
    store.ensure_lane(7, &lane.base, "run", "u2", WHEN).unwrap();
    assert_eq!(lost_readme(&scratch), "by hand\n");
    // What holds nothing new needs no saving.
    let lane = store.ensure_lane(7, &lane.base, "run", "u2", WHEN).unwrap();
    assert_eq!(store.release(&lane, WHEN).unwrap(), None);
}

#[test]
fn a_lane_whose_record_is_gone_or_broken_loses_nothing() {
    let (scratch, store, lane) = with_edit("readme.md", "mine\n");
    let record = scratch.dir.join("state/lanes/1/record.json");
    fs::write(&record, "{").unwrap();
    let error = store.ensure_lane(1, &lane.base, "run", "u1", WHEN).unwrap_err();
    assert!(matches!(error, RepoError::BadRecord { .. }), "{error}");
    fs::remove_file(&record).unwrap();
    store.ensure_lane(1, &lane.base, "run", "u1", WHEN).unwrap();
    assert_eq!(lost_readme(&scratch), "mine\n");
}

#[test]
fn a_lane_that_cannot_be_looked_at_does_not_hide_the_others() {
    let (scratch, store, _) = with_edit("readme.md", "mine\n");
    for number in [2, 3] {
        edited(&store, number, &format!("u{number}"), "readme.md", "mine\n");
    }
    fs::write(scratch.dir.join("state/lanes/1/record.json"), "{").unwrap();
    fs::write(scratch.dir.join("state/lanes/2/index"), "no index").unwrap();
    let [Err(first), Err(second), Ok(third)] = &store.lanes().unwrap()[..] else {
        panic!("three lanes, one of them as it should be")
    };
    assert_eq!((first.number, &first.owner), (1, &None));
    assert!(matches!(first.why, RepoError::BadRecord { .. }), "{}", first.why);
    let owner = Some(("run".to_owned(), "u2".to_owned()));
    assert_eq!((second.number, &second.owner), (2, &owner));
    assert!(third.number == 3 && third.dirty);
    assert!(store.pool().is_err(), "whoever goes by what lanes there are must know all of them");
    assert!(store.looked_at(7).is_none());
}

#[test]
fn files_of_a_lane_that_nothing_is_known_about_are_kept() {
    let (scratch, store, lane) = with_edit("readme.md", "mine\n");
    for known in ["record.json", "index"] {
        fs::remove_file(scratch.dir.join("state/lanes/1").join(known)).unwrap();
    }
    store.ensure_lane(1, &lane.base, "run", "u1", WHEN).unwrap();
    assert_eq!(lost_readme(&scratch), "mine\n");
    assert_eq!(read(&lane.work, "readme.md"), "hello\n");
}

#[test]
fn extra_files_are_copied_and_never_enter_a_commit() {
    let scratch = Scratch::new();
    scratch.write(".env", "SECRET=1\n");
    scratch.write("config/local [1].toml", "x = 1\n");
    let extras: Vec<PathBuf> =
        vec![".env".into(), "config/local [1].toml".into(), "absent.toml".into()];
    let settings = Settings { extras, ..Settings::default() };
    let store = scratch.store_with(settings);
    // The agent does what it can to get it in.
    let lane = edited(&store, 1, "u1", ".gitignore", "!.env\n");
    assert_eq!(read(&lane.work, ".env"), "SECRET=1\n");
    assert_eq!(read(&lane.work, "config/local [1].toml"), "x = 1\n");
    assert_eq!(scratch.git_in(&lane.work, &["status", "--porcelain"]), " M .gitignore\n?? .env\n");
    write(&lane.work, ".env", "SECRET=2\n");
    let snapshot = store.snapshot(&lane, "x", WHEN).unwrap();
    let files = scratch.files_of(&snapshot.commit);
    assert_eq!(files, ".gitignore\nreadme.md\nsrc/lib.rs\n");
    // An extra that changed is no reason to call the lane dirty.
    assert!(!store.looked_at(1).unwrap().unwrap().dirty);
    let patch = "diff --git a/.env b/.env\nnew file mode 100644\n--- /dev/null\n+++ b/.env\n@@ -0,0 +1 @@\n+X=1\n";
    let patched = store.apply_patch(&lane, patch.as_bytes(), WHEN, &|_| None).unwrap();
    assert!(matches!(patched, windlass_repo::Patched::Rejected { .. }), "{patched:?}");
    store.rewind(&lane, &lane.base, WHEN).unwrap();
    assert_eq!(read(&lane.work, ".env"), "SECRET=1\n");
}

#[test]
fn an_extra_file_is_not_written_through_a_link_or_over_a_tracked_file() {
    let scratch = Scratch::new();
    let outside = scratch.dir.join("outside");
    fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, scratch.top.join("config")).unwrap();
    scratch.commit("a link");
    fs::write(outside.join("local.toml"), "x = 1\n").unwrap();
    let with = |extra: &str| Settings { extras: vec![extra.into()], ..Settings::default() };
    let store = scratch.store_with(with("config/local.toml"));
    let tip =
        store.sync().unwrap().tip(&windlass_repo::Branch::new("main").unwrap()).unwrap().clone();
    let error = store.ensure_lane(1, &tip, "run", "u1", WHEN).unwrap_err();
    assert!(matches!(error, RepoError::BadExtra { .. }), "{error}");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    let store = scratch.store_with(with("readme.md"));
    let error = store.ensure_lane(2, &tip, "run", "u2", WHEN).unwrap_err();
    assert!(matches!(error, RepoError::BadExtra { .. }), "{error}");
    let error =
        windlass_repo::Store::open(scratch.repository(), &scratch.dir.join("state"), with("../x"));
    assert!(matches!(error, Err(RepoError::BadExtra { .. })));
}

#[test]
fn a_file_that_is_linked_to_one_outside_is_never_written_to() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let precious = scratch.dir.join("precious");
    for name in [".git/index", ".git/HEAD", "readme.md", ".git/refs/heads/lane"] {
        let lane = edited(&store, 1, name, "src/lib.rs", "x\n");
        // The link has the content that is expected there, so only its second name tells.
        fs::copy(lane.work.join(name), &precious).unwrap();
        fs::remove_file(lane.work.join(name)).unwrap();
        fs::hard_link(&precious, lane.work.join(name)).unwrap();
        let before = fs::read(&precious).unwrap();
        scratch.write("later", name);
        scratch.commit("later");
        edited(&store, 1, "another", "src/lib.rs", "y\n");
        assert_eq!(fs::read(&precious).unwrap(), before, "{name}");
        fs::remove_file(&precious).unwrap();
    }
}

#[test]
fn lanes_work_side_by_side() {
    let scratch = Scratch::new();
    let store = scratch.store();
    std::thread::scope(|scope| {
        for number in 0..6 {
            let store = &store;
            scope.spawn(move || {
                let unit = format!("u{number}");
                let lane = edited(store, number, &unit, "readme.md", &unit);
                let snapshot = store.snapshot(&lane, "x", WHEN).unwrap();
                let text = store.file_at(&snapshot.commit, "readme.md".as_ref()).unwrap();
                assert_eq!(text.unwrap(), unit.as_bytes());
                store.checkpoint(&lane, &unit, &person(), WHEN).unwrap();
                store.release(&lane, WHEN).unwrap();
            });
        }
    });
    assert_eq!(store.lanes().unwrap().len(), 6);
}

#[test]
fn locks_that_the_dead_left_in_our_own_directory_are_removed() {
    let (scratch, store, lane) = with_edit("readme.md", "mine\n");
    let tip = lane.base.clone();
    store.checkout(1, &tip).unwrap();
    write(&lane.work, "Cargo.lock", "not one of those\n");
    let state = scratch.dir.join("state");
    let locks =
        ["lanes/1/index.lock", "checks/1/index.lock", "results.git/refs/windlass/run/u1/head.lock"];
    for lock in locks {
        fs::write(state.join(lock), "").unwrap();
    }
    fs::write(state.join("scratch-1-1.index"), "").unwrap();
    assert!(store.checkpoint(&lane, "x", &person(), WHEN).is_err());
    store.recover().unwrap();
    store.checkpoint(&lane, "x", &person(), WHEN).unwrap();
    store.checkout(1, &tip).unwrap();
    assert!(lane.work.join("Cargo.lock").exists());
    assert!(!state.join("scratch-1-1.index").exists());
}

#[test]
fn a_lane_has_the_units_branch_checked_out_and_the_person_never_sees_it() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let base = edited(&store, 9, "elsewhere", "readme.md", "x\n").base;
    let made = |unit: &str| {
        let branch = windlass_repo::Branch::of_unit("harness", unit).unwrap();
        store.ensure_lane_on(1, &base, ("run", unit), Some(&branch), WHEN).unwrap()
    };
    let on = |lane: &Lane| scratch.git_in(&lane.work, &["branch", "--format=%(refname:short)"]);
    let lane = made("F-001");
    assert_eq!(on(&lane), "harness/F-001\n");
    write(&lane.work, "readme.md", "mine\n");
    scratch.git_in(&lane.work, &["commit", "-q", "-am", "by the agent"]);
    let snapshot = store.snapshot(&lane, "x", WHEN).unwrap();
    assert_eq!(snapshot.agent_commits.len(), 1, "what it commits there is kept");
    // Whatever is put into the lane again, and whoever mends it, it is the same branch.
    store.rewind(&lane, &snapshot.commit, WHEN).unwrap();
    fs::remove_dir_all(lane.work.join(".git")).unwrap();
    scratch.store().mend_lane(1).unwrap();
    assert_eq!(scratch.git_in(&lane.work, &["symbolic-ref", "--short", "HEAD"]), "harness/F-001\n");
    // The next unit has its own and nothing of the first.
    assert_eq!(on(&made("../evil name")), "harness/%2e%2e%2fevil%20name\n");
    let theirs = scratch.git_in(&scratch.top, &["for-each-ref", "--format=%(refname)"]);
    assert!(!theirs.contains("harness"), "{theirs}");
}

/// What the unit has committed is in the lane's own repository, so that an agent can go back to it; it can write there as it
/// likes, and never into what we have kept.
#[test]
fn a_lane_has_copies_of_what_its_unit_has_committed() {
    let (scratch, store, lane) = with_edit("src/new.rs", "one\n");
    let one = store.checkpoint(&lane, "one", &person(), WHEN).unwrap().commit;
    write(&lane.work, "src/new.rs", "two\n");
    store.rewind(&lane, &one, WHEN).unwrap();
    assert_eq!(scratch.git_in(&lane.work, &["log", "--format=%s"]), "one\nfirst\n");
    scratch.git_in(&lane.work, &["fsck", "--strict"]);
    let mut files = 0;
    for dir in fs::read_dir(lane.work.join(".git/objects")).unwrap().flatten() {
        for file in fs::read_dir(dir.path()).unwrap().flatten() {
            if dir.file_name().len() == 2 {
                assert_eq!(file.metadata().unwrap().nlink(), 1, "{}", file.path().display());
                files += 1;
            }
        }
    }
    // A commit, two trees and a file.
    assert_eq!(files, 4);
}

/// What a lane holds and nobody has committed is in its repository as well: its index names it.
#[test]
fn git_works_in_a_lane_that_holds_what_nobody_has_committed() {
    let (scratch, store, lane) = with_edit("src/new.rs", "one\n");
    let held = store.snapshot(&lane, "first", WHEN).unwrap().commit;
    write(&lane.work, "src/new.rs", "two\n");
    store.rewind(&lane, &held, WHEN).unwrap();
    assert_eq!(read(&lane.work, "src/new.rs"), "one\n");
    scratch.git_in(&lane.work, &["fsck", "--strict"]);
    write(&lane.work, "src/new.rs", "three\n");
    assert!(scratch.git_in(&lane.work, &["diff"]).contains("-one\n+three\n"));
    scratch.git_in(&lane.work, &["stash", "-q"]);
    scratch.git_in(&lane.work, &["stash", "pop", "-q"]);
    scratch.git_in(&lane.work, &["add", "-A"]);
    scratch.git_in(&lane.work, &["commit", "-qm", "by the agent"]);
    // And a lane that goes to another unit has nothing of it.
    let other = store.ensure_lane(1, &lane.base, "run", "u2", WHEN).unwrap();
    assert_eq!(scratch.git_in(&other.work, &["status", "--porcelain"]), "");
    let blob = scratch.git_in(&scratch.results(), &["rev-parse", &format!("{held}:src/new.rs")]);
    assert!(!scratch.try_git(&other.work, &["cat-file", "-e", blob.trim()]).status.success());
}

#[test]
fn more_than_a_snapshot_takes_is_kept_beside_the_lane() {
    let scratch = Scratch::new();
    let limits = Limits { file_bytes_max: 100, ..Limits::default() };
    let store = scratch.store_with(Settings { limits, ..Settings::default() });
    let lane = edited(&store, 1, "u1", "src/new.rs", "one\n");
    let held = store.snapshot(&lane, "first", WHEN).unwrap().commit;
    write(&lane.work, "src/large", "x".repeat(101));
    write(&lane.work, "src/new.rs", "two\n");
    assert!(matches!(store.snapshot(&lane, "second", WHEN), Err(RepoError::TooMuch { .. })));
    store.rewind(&lane, &held, WHEN).unwrap();
    assert_eq!(read(&lane.work, "src/new.rs"), "one\n");
    assert!(!lane.work.join("src/large").exists());
    let beside = lane.work.parent().unwrap().join("too-much-1");
    assert_eq!(read(&beside, "src/large"), "x".repeat(101));
    assert_eq!(read(&beside, "src/new.rs"), "two\n");
    assert!(!store.snapshot(&lane, "third", WHEN).unwrap().changed);
    // Nobody who comes after is kept from the lane either.
    write(&lane.work, "large", "x".repeat(101));
    let other = store.ensure_lane(1, &lane.base, "run", "u2", WHEN).unwrap();
    assert_eq!(scratch.git_in(&other.work, &["status", "--porcelain"]), "");
    assert!(lane.work.parent().unwrap().join("too-much-2/large").exists());
}
