//! Checkpoints, going back, patches.

use std::fs;

use windlass_repo::{Patched, RepoError, Store};

use crate::scratch::{Scratch, WHEN, edited, person, read, with_edit, write};

fn log(scratch: &Scratch, name: &str) -> String {
    scratch.git_in(&scratch.results(), &["log", "--format=%s", name])
}

#[test]
fn a_checkpoint_is_a_commit_on_the_units_chain() {
    let (scratch, store, lane) = with_edit("readme.md", "one\n");
    let one = store.checkpoint(&lane, "[autopilot] one\n\nIssue: X-1\n", &person(), WHEN).unwrap();
    assert!(one.saved);
    assert_eq!(log(&scratch, "refs/windlass/run/u1/head"), "[autopilot] one\nfirst\n");
    // The very same request finds what it made before.
    let again =
        store.checkpoint(&lane, "[autopilot] one\n\nIssue: X-1\n", &person(), WHEN).unwrap();
    assert_eq!(again, one);
    // Another one with nothing to commit says so.
    let nothing = store.checkpoint(&lane, "two", &person(), WHEN).unwrap();
    assert_eq!((nothing.saved, &nothing.commit), (false, &one.commit));
    write(&lane.work, "readme.md", "two\n");
    let two = store.checkpoint(&lane, "two", &person(), WHEN).unwrap();
    assert_eq!(log(&scratch, two.commit.as_str()), "two\n[autopilot] one\nfirst\n");
    // The change is that of the whole unit.
    let whole = store.snapshot(&lane, "x", WHEN).unwrap();
    assert_eq!(whole.subject, two.subject);
    assert!(!whole.changed);
}

#[test]
fn an_untouched_lane_has_nothing_to_commit() {
    let (_scratch, store, lane) = with_edit("readme.md", "hello\n");
    let nothing = store.checkpoint(&lane, "x", &person(), WHEN).unwrap();
    assert!(!nothing.saved);
    assert_eq!(nothing.commit, lane.base);
}

#[test]
fn going_back_keeps_the_edits_under_a_ref() {
    let (scratch, store, lane) = with_edit("readme.md", "one\n");
    let one = store.checkpoint(&lane, "one", &person(), WHEN).unwrap().commit;
    write(&lane.work, "readme.md", "half done\n");
    write(&lane.work, "new", "new\n");
    write(&lane.work, "target/build", "ignored\n");
    let rewound = store.rewind(&lane, &one, WHEN).unwrap();
    assert_eq!(read(&lane.work, "readme.md"), "one\n");
    assert!(!lane.work.join("new").exists());
    assert_eq!(read(&lane.work, "target/build"), "ignored\n");
    let saved = rewound.saved.unwrap();
    let half = store.file_at(&saved.commit, "readme.md".as_ref()).unwrap().unwrap();
    assert_eq!(half, b"half done\n");
    assert_eq!(log(&scratch, &saved.name), "Set aside before going back\none\nfirst\n");
    // With nothing to keep, nothing is kept.
    assert_eq!(store.rewind(&lane, &one, WHEN).unwrap().saved, None);
    // The agent's git knows the commit it is on.
    assert_eq!(scratch.git_in(&lane.work, &["log", "--format=%s"]), "one\nfirst\n");
    assert_eq!(scratch.git_in(&lane.work, &["status", "--porcelain"]), "");
    // Further back: the commit that is left behind is kept.
    let rewound = store.rewind(&lane, &lane.base, WHEN).unwrap();
    assert_eq!(rewound.subject.change, "none");
    assert_eq!(store.head(&lane).unwrap(), lane.base);
    let kept = format!("refs/windlass/run/u1/heads/{}", one.short());
    assert_eq!(log(&scratch, &kept), "one\nfirst\n");
}

#[test]
fn a_lane_goes_back_to_where_a_stage_began() {
    let (scratch, store, lane) = with_edit("readme.md", "one\n");
    let one = store.checkpoint(&lane, "one", &person(), WHEN).unwrap().commit;
    write(&lane.work, "readme.md", "before the stage\n");
    let began = store.snapshot(&lane, "stage 2", WHEN).unwrap();
    write(&lane.work, "readme.md", "lost half way\n");
    let rewound = store.rewind(&lane, &began.commit, WHEN).unwrap();
    assert_eq!(rewound.subject, began.subject);
    assert_eq!(read(&lane.work, "readme.md"), "before the stage\n");
    // The chain is where it was, and the rest is still to be committed.
    assert_eq!(store.head(&lane).unwrap(), one);
    let two = store.checkpoint(&lane, "two", &person(), WHEN).unwrap();
    assert_eq!(log(&scratch, two.commit.as_str()), "two\none\nfirst\n");
}

fn patch_of(store: &Store, from: &windlass_repo::Oid, to: &windlass_repo::Oid) -> Vec<u8> {
    store.patch(from, to).expect("it worked")
}

#[test]
fn a_patch_is_applied_whole_or_not_at_all() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let source = edited(&store, 1, "u1", "readme.md", "patched\n");
    write(&source.work, "bin", [0, 1, 2, 255]);
    write(&source.work, "src/lib.rs", "all new\n");
    let made = store.snapshot(&source, "x", WHEN).unwrap();
    let patch = patch_of(&store, &source.base, &made.commit);
    assert!(store.diff(&source.base, &made.commit).unwrap().len() < patch.len());

    let lane = edited(&store, 2, "u2", "other", "edited before\n");
    write(&lane.work, "target/build", "ignored\n");
    let Patched::Applied { subject, .. } =
        store.apply_patch(&lane, &patch, WHEN, &|_| None).unwrap()
    else {
        panic!("it applies");
    };
    assert_eq!(read(&lane.work, "readme.md"), "patched\n");
    assert_eq!(fs::read(lane.work.join("bin")).unwrap(), [0, 1, 2, 255]);
    assert_eq!(read(&lane.work, "other"), "edited before\n");
    assert_eq!(read(&lane.work, "target/build"), "ignored\n");
    assert_eq!(store.snapshot(&lane, "x", WHEN).unwrap().subject, subject);

    // One hunk that does not fit spoils all of it.
    let lane = edited(&store, 3, "u3", "src/lib.rs", "something else\n");
    let before = store.snapshot(&lane, "x", WHEN).unwrap().subject;
    let hostile = "diff --git a/../out b/../out\nnew file mode 100644\n--- /dev/null\n+++ b/../out\n@@ -0,0 +1 @@\n+x\n";
    let into_git = hostile.replace("../out", ".git/hooks/pre-commit");
    let absolute =
        hostile.replace("a/../out b/../out", "a//etc/x b//etc/x").replace("b/../out", "/etc/x");
    for (name, patch) in [
        ("a hunk that does not fit", patch.as_slice()),
        ("empty", b"".as_slice()),
        ("nonsense", b"nonsense".as_slice()),
        ("out of the lane", hostile.as_bytes()),
        ("into .git", into_git.as_bytes()),
        ("absolute", absolute.as_bytes()),
    ] {
        let patched = store.apply_patch(&lane, patch, WHEN, &|_| None).unwrap();
        assert!(matches!(patched, Patched::Rejected { .. }), "{name}: {patched:?}");
        assert_eq!(store.snapshot(&lane, "y", WHEN).unwrap().subject, before, "{name}");
    }
    assert_eq!(read(&lane.work, "readme.md"), "hello\n");
}

#[test]
fn nothing_is_restored_over_something() {
    let (scratch, store, lane) = with_edit("readme.md", "one\n");
    let error = store.restore(&lane.base, &scratch.top).unwrap_err();
    assert!(matches!(error, RepoError::NotEmpty { .. }), "{error}");
    store.restore(&lane.base, &scratch.dir.join("new/dir")).unwrap();
    assert_eq!(read(&scratch.dir.join("new/dir"), "readme.md"), "hello\n");
}

#[test]
fn a_bare_change_is_all_that_its_lane_holds() {
    let (scratch, store, lane) = with_edit("readme.md", "one\n");
    scratch.git_in(&lane.work, &["commit", "-q", "-am", "by the agent, with reasons"]);
    let held = store.checkpoint(&lane, "with reasons", &person(), WHEN).unwrap();
    // Whoever was there before has left something that git does not see, something that it does, and a branch.
    let other = edited(&store, 2, "u1~judge", "readme.md", "mine\n");
    write(&other.work, "target/build", "ignored\n");
    scratch.git_in(&other.work, &["branch", "reasons"]);
    let there = store.hold_bare(&other, &lane.base, &held.commit, WHEN).unwrap();
    assert_eq!(there.subject, held.subject);
    assert!(there.saved.is_some(), "what was there is kept");
    assert_eq!(
        scratch.git_in(&other.work, &["status", "--porcelain", "--ignored"]),
        "M  readme.md\n"
    );
    assert_eq!(scratch.git_in(&other.work, &["log", "--all", "--format=%s"]), "first\n");
    assert_eq!(scratch.git_in(&other.work, &["branch", "--format=%(refname:short)"]), "lane\n");
    let found = scratch.git_in(
        &other.work,
        &["cat-file", "--batch-all-objects", "--batch-check=%(objecttype)", "--unordered"],
    );
    assert_eq!(found.lines().filter(|kind| *kind == "commit").count(), 1, "{found}");
    assert_eq!(read(&other.work, "readme.md"), "one\n");
}
