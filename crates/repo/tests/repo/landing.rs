//! What lands, what does not, and that it does so once.

use std::fs;

use windlass_repo::{Branch, Land, Landing, RepoError, Target};

use crate::scratch::{
    Scratch, WHEN, differing, edited, landed, person, read, request, with_edit, write,
};

#[test]
fn a_commit_lands_on_a_branch_that_is_checked_out() {
    let (scratch, store, lane) = with_edit("readme.md", "changed\n");
    write(&lane.work, "new/file.txt", "new\n");
    let request = request(&store, &lane, Land::Commit);
    let commit = landed(store.land(&request).unwrap());
    assert_eq!(scratch.oid("main"), commit);
    assert_eq!(read(&scratch.top, "readme.md"), "changed\n");
    assert_eq!(read(&scratch.top, "new/file.txt"), "new\n");
    assert_eq!(scratch.git(&["status", "--porcelain"]), "");
    assert_eq!(
        scratch.git(&["log", "-1", "--format=%an <%ae> %ad|%cn <%ce> %cd|%B", "--date=raw"]),
        "Zoë Person <zoe@example.org> 1700000000 +0100|Windlass <windlass@localhost> 1700000000 +0100|Do u1\n\n"
    );
    // The person's own git is content with it.
    scratch.git(&["fsck", "--strict", "--no-dangling"]);
    assert!(!scratch.top.join(".git/index.lock").exists());
}

#[test]
fn the_same_request_lands_once() {
    let (scratch, store, lane) = with_edit("readme.md", "changed\n");
    let request = request(&store, &lane, Land::Commit);
    let commit = landed(store.land(&request).unwrap());
    let again = store.land(&request).unwrap();
    assert_eq!(again, Landing::Landed { commit: commit.clone(), already: true });
    // Also when more has happened on the branch since.
    scratch.write("other.txt", "x");
    scratch.commit("later");
    let again = store.land(&request).unwrap();
    assert_eq!(again, Landing::Landed { commit, already: true });
    assert_eq!(scratch.git(&["rev-list", "--count", "main"]), "3\n");
}

#[test]
fn each_manner_of_landing_makes_its_own_history() {
    for (how, shape) in [
        (Land::FastForward, "step two\nstep one\nfirst\n"),
        (Land::CherryPick, "step two\nstep one\nfirst\n"),
        (Land::Commit, "Do u1\nfirst\n"),
    ] {
        let (scratch, store, lane) = with_edit("readme.md", "one\n");
        store.checkpoint(&lane, "step one", &person(), WHEN).unwrap();
        write(&lane.work, "readme.md", "two\n");
        store.checkpoint(&lane, "step two", &person(), WHEN).unwrap();
        landed(store.land(&request(&store, &lane, how)).unwrap());
        assert_eq!(scratch.git(&["log", "--format=%s"]), shape, "{how:?}");
        assert_eq!(read(&scratch.top, "readme.md"), "two\n");
    }
}

#[test]
fn a_merge_has_the_branch_first_and_the_units_commits_second() {
    let scratch = Scratch::new();
    let before = scratch.oid("main");
    let store = scratch.store();
    let lane = edited(&store, 1, "u1", "readme.md", "one\n");
    store.checkpoint(&lane, "step one", &person(), WHEN).unwrap();
    let head = store.head(&lane).unwrap();
    landed(store.land(&request(&store, &lane, Land::Merge)).unwrap());
    let parents = scratch.git(&["log", "-1", "--format=%P", "main"]);
    assert_eq!(parents, format!("{before} {head}\n"));
    // Without a commit of its own, the unit gets one.
    let lane = edited(&store, 2, "u2", "readme.md", "two\n");
    landed(store.land(&request(&store, &lane, Land::Merge)).unwrap());
    assert_eq!(scratch.git(&["log", "-1", "--format=%s|%p", "main"]).matches(' ').count(), 2);
    assert_eq!(read(&scratch.top, "readme.md"), "two\n");
}

#[test]
fn a_merge_takes_a_commit_that_holds_all_that_was_checked() {
    let (scratch, store, lane) = with_edit("readme.md", "one\n");
    store.checkpoint(&lane, "step one", &person(), WHEN).unwrap();
    write(&lane.work, "readme.md", "two\n");
    landed(store.land(&request(&store, &lane, Land::Merge)).unwrap());
    // What was in no commit yet is in one of the unit's, and not in the merge alone.
    assert_eq!(scratch.git(&["log", "--format=%s", "main^2"]), "Do u1\nstep one\nfirst\n");
    assert_eq!(scratch.git(&["diff", "main^2", "main"]), "");
    assert_eq!(read(&scratch.top, "readme.md"), "two\n");
}

#[test]
fn only_the_tree_that_was_checked_lands() {
    let (scratch, store, lane) = with_edit("readme.md", "one\n");
    store.checkpoint(&lane, "step one", &person(), WHEN).unwrap();
    let mut request = request(&store, &lane, Land::FastForward);
    write(&lane.work, "readme.md", "two\n");
    request.tree = store.snapshot(&lane, "later", WHEN).unwrap().subject.tree;
    let before = scratch.everything();
    request.how = Land::CherryPick;
    let error = store.land(&request).unwrap_err();
    assert!(matches!(error, RepoError::BadRequest(_)), "{error}");
    assert_eq!(differing(&before, &scratch.everything()), Vec::<String>::new());
    // What is in no commit yet gets one, on top of those there are.
    request.how = Land::FastForward;
    assert_eq!(store.landed(&request).unwrap(), None);
    let commit = landed(store.land(&request).unwrap());
    assert_eq!(store.landed(&request).unwrap(), Some(commit));
    let history = scratch.git(&["log", "--format=%s", "-3", "main"]);
    assert_eq!(history.lines().nth(1), Some("step one"), "{history}");
    assert_eq!(read(&scratch.top, "readme.md"), "two\n");
}

#[test]
fn approved_commits_are_picked_without_the_others() {
    let (scratch, store, lane) = with_edit("a.txt", "a\n");
    store.checkpoint(&lane, "a", &person(), WHEN).unwrap();
    write(&lane.work, "b.txt", "b\n");
    let b = store.checkpoint(&lane, "b", &person(), WHEN).unwrap().commit;
    // Checked with only the second in it.
    fs::remove_file(lane.work.join("a.txt")).unwrap();
    let mut request = request(&store, &lane, Land::CherryPick);
    request.picks = vec![b];
    landed(store.land(&request).unwrap());
    assert_eq!(scratch.git(&["log", "--format=%s"]), "b\nfirst\n");
    assert!(!scratch.top.join("a.txt").exists());
}

#[test]
fn a_moved_branch_gets_nothing_and_the_work_comes_back_rebuilt() {
    let (scratch, store, lane) = with_edit("readme.md", "mine\n");
    let request = request(&store, &lane, Land::Commit);
    let old = store.snapshot(&lane, "x", WHEN).unwrap().subject;
    scratch.write("theirs.txt", "theirs\n");
    let tip = scratch.commit("theirs");
    let before = scratch.everything();
    let Landing::Moved { tip: there, rebuilt } = store.land(&request).unwrap() else {
        panic!("it moved");
    };
    assert_eq!(there, tip);
    assert_eq!(differing(&before, &scratch.everything()), Vec::<String>::new());
    // Checks must run again; review stands.
    assert_ne!(rebuilt.subject.tree, old.tree);
    assert_eq!(rebuilt.subject.change, old.change);

    let moved = store.rebase(&lane, &tip, WHEN).unwrap();
    assert_eq!(moved, rebuilt);
    let lane = store.ensure_lane(1, &tip, "run", "u1", WHEN).unwrap();
    assert_eq!(lane.base, tip);
    assert_eq!(read(&lane.work, "theirs.txt"), "theirs\n");
    assert_eq!(read(&lane.work, "readme.md"), "mine\n");
    landed(store.land(&crate::scratch::request(&store, &lane, Land::Commit)).unwrap());
    assert_eq!(scratch.git(&["log", "--format=%s"]), "Do u1\ntheirs\nfirst\n");
}

#[test]
fn a_units_commits_are_rebuilt_one_by_one() {
    let (scratch, store, lane) = with_edit("a.txt", "a\n");
    store.checkpoint(&lane, "step one", &person(), WHEN).unwrap();
    write(&lane.work, "b.txt", "b\n");
    store.checkpoint(&lane, "step two", &person(), WHEN).unwrap();
    write(&lane.work, "c.txt", "not committed yet\n");
    scratch.write("theirs.txt", "theirs\n");
    let tip = scratch.commit("theirs");
    store.sync().unwrap();
    store.rebase(&lane, &tip, WHEN).unwrap();
    let again = store.rebase(&lane, &tip, WHEN).unwrap();
    assert!(again.clean);
    let lane = store.ensure_lane(1, &tip, "run", "u1", WHEN).unwrap();
    store.checkpoint(&lane, "step three", &person(), WHEN).unwrap();
    landed(store.land(&request(&store, &lane, Land::FastForward)).unwrap());
    let log = scratch.git(&["log", "--format=%s %an"]);
    assert_eq!(
        log,
        "step three Zoë Person\nstep two Zoë Person\nstep one Zoë Person\ntheirs Zoë Person\nfirst Zoë Person\n"
    );
}

#[test]
fn a_conflict_names_the_files_and_both_sides_and_leaves_the_branch_alone() {
    let (scratch, store, lane) = with_edit("readme.md", "mine\n");
    let request = request(&store, &lane, Land::Commit);
    scratch.write("readme.md", "theirs\n");
    let tip = scratch.commit("theirs");
    let before = scratch.everything();
    let Landing::Conflict { tip: there, files } = store.land(&request).unwrap() else {
        panic!("a conflict");
    };
    assert_eq!(there, tip);
    assert_eq!(differing(&before, &scratch.everything()), Vec::<String>::new());
    let [file] = &files[..] else { panic!("{files:?}") };
    assert_eq!(file.path.to_str(), Some("readme.md"));
    let text = |blob: &Option<_>| store.blob(blob.as_ref().unwrap()).unwrap();
    assert_eq!(text(&file.before), b"hello\n");
    assert_eq!(text(&file.theirs), b"theirs\n");
    assert_eq!(text(&file.ours), b"mine\n");

    // The lane gets the conflict to resolve, on the new tip; what it held is kept.
    let rebuilt = store.rebase(&lane, &tip, WHEN).unwrap();
    assert!(!rebuilt.clean);
    let text = read(&lane.work, "readme.md");
    assert!(text.contains("<<<<<<<") && text.contains("theirs") && text.contains("mine"), "{text}");
    write(&lane.work, "readme.md", "both\n");
    let lane = store.ensure_lane(1, &tip, "run", "u1", WHEN).unwrap();
    landed(store.land(&crate::scratch::request(&store, &lane, Land::Commit)).unwrap());
    assert_eq!(read(&scratch.top, "readme.md"), "both\n");
}

#[test]
fn a_branch_that_is_not_there_is_made_only_when_asked_for() {
    let (scratch, store, lane) = with_edit("readme.md", "mine\n");
    let mut request = request(&store, &lane, Land::Commit);
    request.branch = Branch::new("harness/add-login").unwrap();
    let error = store.land(&request).unwrap_err();
    assert!(matches!(error, RepoError::NoSuchBranch { .. }), "{error}");
    request.target = Target::New;
    let before = scratch.everything();
    let commit = landed(store.land(&request).unwrap());
    assert_eq!(scratch.oid("harness/add-login"), commit);
    assert_eq!(store.land(&request).unwrap(), Landing::Landed { commit, already: true });
    let changed = differing(&before, &scratch.everything());
    let wrong = changed.iter().find(|path| {
        !(path.starts_with(".git/objects/")
            || path.starts_with(".git/refs/heads/harness")
            || path.starts_with(".git/logs/refs/heads/harness"))
    });
    assert_eq!(wrong, None);
    // One that somebody else made meanwhile is not written over.
    scratch.git(&["branch", "-f", "harness/add-login", "main"]);
    assert!(matches!(store.land(&request).unwrap(), Landing::Moved { .. }));
}

#[test]
fn nothing_to_land_is_told_apart() {
    let (_scratch, store, lane) = with_edit("readme.md", "hello\n");
    let request = request(&store, &lane, Land::Commit);
    assert_eq!(store.land(&request).unwrap(), Landing::Nothing);
    let subject = store.snapshot(&lane, "x", WHEN).unwrap().subject;
    assert_eq!(subject.change, "none");
}

#[test]
fn trees_that_git_would_refuse_elsewhere_do_not_land() {
    let (scratch, store, lane) = with_edit("git~1/config", "[core]\n");
    let request = request(&store, &lane, Land::Commit);
    let before = scratch.everything();
    let error = store.land(&request).unwrap_err();
    assert!(matches!(error, RepoError::Unsound { .. }), "{error}");
    assert_eq!(scratch.oid("main"), lane.base);
    let changed = differing(&before, &scratch.everything());
    assert!(changed.iter().all(|path| path.starts_with(".git/objects")), "{changed:?}");
}

#[test]
fn a_lock_on_the_ref_is_waited_for_and_not_broken() {
    let scratch = Scratch::new();
    scratch.git(&["switch", "-q", "--detach"]);
    let store = scratch.store();
    let lane = edited(&store, 1, "u1", "readme.md", "mine\n");
    let request = request(&store, &lane, Land::Commit);
    let lock = scratch.top.join(".git/refs/heads/main.lock");
    fs::write(&lock, "").unwrap();
    let error = store.land(&request).unwrap_err();
    assert!(
        matches!(&error, RepoError::Locked { path, .. } if path.ends_with("main.lock")),
        "{error}"
    );
    assert!(lock.exists());
    assert_eq!(scratch.oid("main"), lane.base);
    fs::remove_file(lock).unwrap();
    landed(store.land(&request).unwrap());
}

#[test]
fn a_branch_that_cannot_be_made_is_not_taken_for_a_locked_one() {
    let (scratch, store, lane) = with_edit("readme.md", "mine\n");
    let mut request = request(&store, &lane, Land::Commit);
    // Git has no place for it: `main` is a file.
    request.branch = Branch::new("main/more").unwrap();
    request.target = Target::New;
    let error = store.land(&request).unwrap_err();
    assert!(matches!(error, RepoError::Git(_)), "{error}");
    assert!(error.to_string().contains("'refs/heads/main' exists"), "{error}");
    assert_eq!(scratch.oid("main"), lane.base);
}

#[test]
fn everything_else_of_the_persons_stays_as_it_was() {
    let scratch = Scratch::new();
    scratch.git(&["branch", "other"]);
    scratch.git(&["tag", "v1"]);
    scratch.write("stashed.txt", "stashed\n");
    scratch.git(&["stash", "-u", "-q"]);
    scratch.write(".git/hooks/post-commit", "#!/bin/sh\nexit 1\n");
    // Edits that are not in the way: modified, staged, untracked, ignored.
    scratch.write("src/lib.rs", "edited by hand\n");
    scratch.write("staged.txt", "staged\n");
    scratch.git(&["add", "staged.txt"]);
    scratch.write("untracked.txt", "untracked\n");
    scratch.write("x.log", "ignored\n");
    let store = scratch.store();
    let lane = edited(&store, 1, "u1", "readme.md", "mine\n");
    let request = request(&store, &lane, Land::Commit);
    let status = scratch.git(&["status", "--porcelain"]);
    let before = scratch.everything();
    landed(store.land(&request).unwrap());
    store.note(&request.base, "a note", WHEN).unwrap();
    let changed = differing(&before, &scratch.everything());
    let permitted = |path: &str| {
        path == "readme.md"
            || path.starts_with(".git/objects/")
            || path == ".git/index"
            || path == ".git/logs/HEAD"
            || path == ".git/refs/heads/main"
            || path == ".git/logs/refs/heads/main"
            || path.starts_with(".git/refs/notes")
            || path.starts_with(".git/logs/refs/notes")
    };
    let wrong: Vec<_> = changed.iter().filter(|path| !permitted(path)).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    assert_eq!(scratch.git(&["status", "--porcelain"]), status);
    assert_eq!(scratch.git(&["rev-parse", "main"]).trim(), scratch.oid("HEAD").as_str());
}

#[test]
fn a_large_landing_stays_together_in_a_pack() {
    let (scratch, store, lane) = with_edit("readme.md", "mine\n");
    for file in 0..300 {
        write(&lane.work, &format!("many/{file}"), format!("{file}\n"));
    }
    landed(store.land(&request(&store, &lane, Land::Commit)).unwrap());
    assert_eq!(scratch.git(&["status", "--porcelain"]), "");
    scratch.git(&["fsck", "--strict"]);
    let packs = fs::read_dir(scratch.top.join(".git/objects/pack")).unwrap();
    assert!(packs.count() > 0);
    // What git refuses elsewhere is refused in a pack as well.
    let lane = edited(&store, 2, "u2", "git~1/config", "[core]\n");
    for file in 0..300 {
        write(&lane.work, &format!("more/{file}"), format!("more {file}\n"));
    }
    let error = store.land(&request(&store, &lane, Land::Commit)).unwrap_err();
    assert!(matches!(error, RepoError::Unsound { .. }), "{error}");
}

#[test]
fn a_change_can_leave_files_out_and_bring_others_in() {
    let scratch = Scratch::new();
    scratch.write("Plans.md", "- [ ] one\n");
    scratch.commit("plans");
    let store = scratch.store();
    let lane = edited(&store, 1, "u1", "readme.md", "mine\n");
    write(&lane.work, "Plans.md", "- [x] one\n");
    write(&lane.work, "stray.md", "stray\n");
    let mut request = request(&store, &lane, Land::Commit);
    let left_out = ["Plans.md".into(), "stray.md".into(), "absent".into()];
    let added = [("docs/notes.md".into(), b"notes\n".to_vec())];
    let revised = store.revised(&lane.base, &request.tree, &left_out, &added).unwrap();
    request.tree = revised.tree;
    landed(store.land(&request).unwrap());
    assert_eq!(
        scratch.git(&["show", "--format=", "--name-status"]),
        "A\tdocs/notes.md\nM\treadme.md\n"
    );
}
