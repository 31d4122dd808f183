//! A landing that is interrupted in the middle of a person's checkout, and what they do meanwhile.

use std::fs;

use windlass_repo::{Land, Landing, RepoError, Request};

use crate::{
    meddling::{How, meddled_store},
    scratch::{Scratch, WHEN, differing, edited, landed, read, request, with_edit, write},
};

/// A landing of changes in three files, with somebody meddling.
fn meddled(at: &'static str, how: How) -> (Scratch, Request, Result<Landing, RepoError>) {
    let (scratch, store, lane) = with_edit("readme.md", "mine\n");
    write(&lane.work, "new/file", "new\n");
    fs::remove_file(lane.work.join("src/lib.rs")).expect("it worked");
    let request = request(&store, &lane, Land::Commit);
    scratch.write("untracked.txt", "untracked\n");
    let store = meddled_store(&scratch, at, how);
    let landing = store.land(&request);
    (scratch, request, landing)
}

/// As far as git gets when it is killed while it writes files.
fn half_written(scratch: &Scratch) {
    fs::remove_file(scratch.top.join("readme.md")).expect("readable");
    scratch.write("readme.md", "mi");
    fs::remove_dir_all(scratch.top.join("src")).expect("it worked");
    fs::create_dir(scratch.top.join("new")).expect("made");
}

fn untouched(scratch: &Scratch) {
    assert_eq!(read(&scratch.top, "readme.md"), "hello\n");
    assert!(read(&scratch.top, "src/lib.rs").starts_with("one\n"));
    assert!(!scratch.top.join("new/file").exists());
    assert_eq!(scratch.git(&["status", "--porcelain"]), "?? untracked.txt\n");
    assert!(!scratch.top.join(".git/index.lock").exists());
}

#[test]
fn files_written_half_way_are_taken_back_after_a_crash() {
    let (scratch, request, landing) = meddled("transfer.write", How::DiesHalfWay(half_written));
    assert!(landing.is_err());
    assert!(scratch.top.join(".git/index.lock").exists());
    let store = scratch.store();
    store.recover().unwrap();
    untouched(&scratch);
    landed(store.land(&request).unwrap());
    assert_eq!(scratch.git(&["status", "--porcelain"]), "?? untracked.txt\n");
}

#[test]
fn files_written_half_way_are_taken_back_when_writing_fails() {
    let (scratch, request, landing) = meddled("transfer.write", How::FailsHalfWay(half_written));
    assert!(landing.is_err());
    untouched(&scratch);
    assert_eq!(fs::read_dir(scratch.dir.join("state/unfinished")).unwrap().count(), 0);
    landed(scratch.store().land(&request).unwrap());
}

#[test]
fn a_landing_does_not_wait_for_recovery_to_be_asked_for() {
    let (scratch, request, _) = meddled("transfer.write", How::DiesHalfWay(half_written));
    landed(scratch.store().land(&request).unwrap());
    assert_eq!(scratch.git(&["status", "--porcelain"]), "?? untracked.txt\n");
}

#[test]
fn what_a_person_does_after_a_crash_is_left_alone() {
    // Files were written, the branch had not moved.
    let (scratch, request, _) = meddled("transfer.write", How::DiesAfter);
    scratch.write("readme.md", "by hand\n");
    let store = scratch.store();
    store.recover().unwrap();
    assert_eq!(read(&scratch.top, "readme.md"), "by hand\n");
    assert!(read(&scratch.top, "src/lib.rs").starts_with("one\n"));
    assert!(!scratch.top.join("new").exists());
    let landing = store.land(&request).unwrap();
    assert!(matches!(landing, Landing::Waiting { .. }), "{landing:?}");
    assert_eq!(read(&scratch.top, "readme.md"), "by hand\n");
}

#[test]
fn staged_by_hand_after_a_crash_stays_staged() {
    let (scratch, _, _) = meddled("transfer.write", How::DiesAfter);
    // The lock of the dead is still there; the person removes it, as git tells them to.
    fs::remove_file(scratch.top.join(".git/index.lock")).unwrap();
    scratch.git(&["add", "-A"]);
    let before = scratch.git(&["diff", "--cached"]);
    let store = scratch.store();
    store.recover().unwrap();
    assert_eq!(scratch.git(&["diff", "--cached"]), before);
    assert_eq!(scratch.git(&["diff"]), "");
}

#[test]
fn somebody_who_is_quicker_wins_and_the_files_are_theirs() {
    let overtake = |scratch: &Scratch| {
        let tree = scratch.git(&["rev-parse", "main^{tree}"]);
        let commit = scratch.git(&["commit-tree", tree.trim(), "-p", "main", "-m", "quicker"]);
        scratch.git(&["update-ref", "refs/heads/main", commit.trim()]);
    };
    let (scratch, _, landing) = meddled("transfer.write", How::After(overtake));
    let Landing::Moved { tip, .. } = landing.unwrap() else { panic!("moved") };
    assert_eq!(scratch.oid("main"), tip);
    assert_eq!(scratch.git(&["log", "-1", "--format=%s"]), "quicker\n");
    untouched(&scratch);
}

#[test]
fn a_branch_that_is_not_checked_out_is_not_moved_over_either() {
    let scratch = Scratch::new();
    scratch.git(&["switch", "-q", "-c", "elsewhere"]);
    let store = scratch.store();
    let lane = edited(&store, 1, "u1", "readme.md", "mine\n");
    let request = request(&store, &lane, Land::Commit);
    let overtake = |scratch: &Scratch| {
        let tree = scratch.git(&["rev-parse", "main^{tree}"]);
        let commit = scratch.git(&["commit-tree", tree.trim(), "-p", "main", "-m", "quicker"]);
        scratch.git(&["update-ref", "refs/heads/main", commit.trim()]);
    };
    let store = meddled_store(&scratch, "land.unpack", How::After(overtake));
    assert!(matches!(store.land(&request).unwrap(), Landing::Moved { .. }));
    assert_eq!(scratch.git(&["log", "-1", "--format=%s", "main"]), "quicker\n");
}

#[test]
fn an_edit_between_looking_and_writing_is_not_lost() {
    let edit = |scratch: &Scratch| scratch.write("readme.md", "by hand, just now\n");
    let (scratch, _, landing) = meddled("transfer.try", How::After(edit));
    let error = landing.unwrap_err();
    assert!(matches!(error, RepoError::Git(_)), "{error}");
    assert_eq!(read(&scratch.top, "readme.md"), "by hand, just now\n");
    assert!(!scratch.top.join("new/file").exists());
    assert!(!scratch.top.join(".git/index.lock").exists());
    let before = scratch.everything();
    scratch.store().recover().unwrap();
    assert_eq!(differing(&before, &scratch.everything()), Vec::<String>::new());
}

#[test]
fn a_conflict_that_was_cut_off_is_put_into_the_lane_once() {
    let (scratch, store, lane) = with_edit("readme.md", "mine\n");
    scratch.write("readme.md", "theirs\n");
    let tip = scratch.commit("theirs");
    store.sync().unwrap();
    let half = |scratch: &Scratch| write(&scratch.dir, "state/lanes/1/work/readme.md", "<<<<<<<\n");
    let dying = meddled_store(&scratch, "put.read-tree", How::DiesHalfWay(half));
    assert!(dying.rebase(&lane, &tip, WHEN).is_err());
    // Whoever opens the lane next finishes it.
    let again = scratch.store().rebase(&lane, &tip, WHEN).unwrap();
    assert_eq!(read(&lane.work, "readme.md").matches("<<<<<<<").count(), 1);
    assert_eq!(again.subject, scratch.store().snapshot(&lane, "x", WHEN).unwrap().subject);
}

#[test]
fn locks_that_a_killed_git_left_in_our_own_stores_are_removed() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let state = scratch.dir.join("state");
    let locks = [
        "results.git/packed-refs.lock",
        "results.git/HEAD.lock",
        "results.git/refs/windlass-test.lock",
        "mirror.git/packed-refs.lock",
        "unfinished/0123.index.lock",
    ];
    for lock in locks {
        fs::write(state.join(lock), "").unwrap();
    }
    store.recover().unwrap();
    for lock in locks {
        assert!(!state.join(lock).exists(), "{lock}");
    }
}
