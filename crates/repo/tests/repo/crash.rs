//! Killed at every step, and asked again.
//!
//! The operation runs in a process of its own that kills itself at the n-th failpoint. Then it is
//! asked for once more, here, and the outcome must be that of a run without a crash. Then the same
//! for the next failpoint, until the operation is through without meeting one.

mod slow {
    use std::{
        collections::BTreeMap,
        fs,
        os::unix::process::ExitStatusExt,
        path::Path,
        process::Command,
        sync::{
            OnceLock,
            atomic::{AtomicU32, Ordering},
        },
    };

    use windlass_repo::{Applied, Land, Landing, Lane, Oid, Patched, Request, Store, failpoint};

    use crate::scratch::{Scratch, WHEN, edited, person, read, request, with_edit, write};

    /// Where to die, if it is one place by name.
    static PLACE: OnceLock<String> = OnceLock::new();

    fn die() {
        let me = rustix::process::getpid();
        rustix::process::kill_process(me, rustix::process::Signal::KILL).expect("a kill");
    }

    static LEFT: AtomicU32 = AtomicU32::new(u32::MAX);

    /// After each call of git, and on both sides of what moves a file: what lies between one call
    /// and the next is the same moment.
    fn count_down(name: &'static str, side: failpoint::Side) {
        let moves_a_file = name.contains("rename") || name.contains("link");
        if side == failpoint::Side::Before && !moves_a_file {
            return;
        }
        if PLACE.get().is_some_and(|place| place == name)
            || LEFT.fetch_sub(1, Ordering::SeqCst) == 0
        {
            die();
        }
    }

    /// What can be cut off: how it begins, what is asked, and what must be true in the end.
    struct Case {
        name: &'static str,
        begin: fn(&Scratch, &Store),
        ask: fn(&Scratch, &Store) -> String,
        end: fn(&Scratch, &Store),
    }

    const CASES: &[Case] = &[
        Case {
            name: "land",
            begin: begin_landing,
            ask: |s, store| land(s, store, Land::Commit),
            end: landed_once,
        },
        Case {
            name: "wait",
            begin: begin_in_the_way,
            ask: |s, store| land(s, store, Land::Commit),
            end: waits_once,
        },
        Case { name: "apply", begin: begin_landing, ask: apply, end: applied_once },
        Case { name: "lane", begin: begin_full_lane, ask: take_lane, end: both_units_are_there },
        Case { name: "snapshot", begin: begin_full_lane, ask: snapshot, end: |_, _| {} },
        Case { name: "checkpoint", begin: begin_full_lane, ask: checkpoint, end: one_checkpoint },
        Case { name: "rewind", begin: begin_full_lane, ask: rewind, end: edits_are_kept },
        Case { name: "rebase", begin: begin_moved, ask: rebase, end: edits_are_kept },
        Case { name: "note", begin: begin_landing, ask: note, end: |_, _| {} },
        Case { name: "apply without git", begin: begin_landing, ask: apply, end: applied_once },
        Case { name: "stock", begin: begin_stock, ask: stock, end: recorded_once },
        Case {
            name: "open",
            begin: |_, _| {},
            ask: |_, store| store.sync().map(|_| "in sync".into()).expect("it worked"),
            end: |s, store| {
                edited(store, 9, "u9", "x", "x");
                s.git(&["fsck", "--strict"]);
            },
        },
    ];

    fn case(name: &str) -> &'static Case {
        CASES.iter().find(|case| case.name == name).expect("it worked")
    }

    /// The process that dies. Without being told to, it has nothing to do.
    #[test]
    fn child() {
        let Some(dir) = std::env::var_os("WINDLASS_CRASH_DIR") else { return };
        let case = case(&std::env::var("WINDLASS_CRASH_CASE").unwrap());
        let at: u32 = std::env::var("WINDLASS_CRASH_AT").unwrap().parse().unwrap();
        LEFT.store(at, Ordering::SeqCst);
        if let Ok(place) = std::env::var("WINDLASS_CRASH_PLACE") {
            PLACE.set(place).unwrap();
        }
        assert!(failpoint::set(count_down));
        let scratch = Scratch::at(Path::new(&dir));
        let store = scratch.store();
        store.recover().unwrap();
        (case.ask)(&scratch, &store);
        LEFT.store(u32::MAX, Ordering::SeqCst);
    }

    /// Runs a case in a process that dies at a failpoint. Says whether it did.
    fn dies(scratch: &Scratch, name: &str, at: u32) -> bool {
        dies_at(scratch, name, at, None)
    }

    fn dies_at(scratch: &Scratch, name: &str, at: u32, place: Option<&str>) -> bool {
        let mut child = Command::new(std::env::current_exe().expect("it worked"));
        if let Some(place) = place {
            child.env("WINDLASS_CRASH_PLACE", place);
        }
        let output = child
            .args(["--exact", "crash::slow::child", "--nocapture"])
            .env("WINDLASS_CRASH_DIR", &scratch.dir)
            .env("WINDLASS_CRASH_CASE", name)
            .env("WINDLASS_CRASH_AT", at.to_string())
            .output()
            .expect("it starts");
        let said = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        match output.status.signal() {
            Some(9) => true,
            _ if output.status.success() && said.contains("1 passed") => false,
            _ => panic!("{name} at {at}: {said}"),
        }
    }

    /// What both runs must come to: the answer, the person's files and refs, and the lanes.
    type Outcome = (String, BTreeMap<std::path::PathBuf, Vec<u8>>, String);

    fn outcome(scratch: &Scratch, store: &Store, answer: String) -> Outcome {
        let files = scratch.everything().into_iter().filter(|(path, _)| !path.starts_with(".git"));
        let refs = scratch.git(&["for-each-ref", "--format=%(refname) %(objectname)"]);
        let status = scratch.git(&["status", "--porcelain"]);
        let mut files: BTreeMap<_, _> = files.map(|(path, (_, bytes))| (path, bytes)).collect();
        for lane in store.lanes().expect("it worked") {
            let lane = lane.expect("it can be looked at");
            let text = fs::read(lane.work.join("readme.md")).unwrap_or_default();
            files.insert(format!("lane {} {:?}", lane.number, lane.owner).into(), text);
        }
        (answer, files, refs + &status)
    }

    fn try_everywhere(name: &str) {
        let case = case(name);
        let without_git = ["apply without git", "stock"].contains(&name);
        let scratch = if without_git { Scratch::without_git() } else { Scratch::new() };
        if name != "open" {
            (case.begin)(&scratch, &scratch.store());
        }
        // Every try begins at exactly the same place.
        let kept = scratch.dir.with_extension("kept");
        copy(&scratch.dir, &kept);
        let store = scratch.store();
        let answer = (case.ask)(&scratch, &store);
        let expected = outcome(&scratch, &store, answer);
        for at in 0.. {
            copy(&kept, &scratch.dir);
            let died = dies(&scratch, name, at);
            let store = scratch.store();
            store.recover().expect("it worked");
            for git_dir in [scratch.top.join(".git"), scratch.shadow()] {
                assert!(!git_dir.join("index.lock").exists(), "{name} at {at}");
            }
            assert_eq!(scratch.top.join(".git").exists(), !without_git, "{name} at {at}");
            let answer = (case.ask)(&scratch, &store);
            assert_eq!(outcome(&scratch, &store, answer), expected, "{name} at {at}");
            (case.end)(&scratch, &store);
            let left =
                fs::read_dir(scratch.dir.join("state/unfinished")).expect("readable").count();
            assert_eq!(left, 0, "{name} at {at}");
            if !died {
                assert!(at > 3, "{name} met {at} failpoints only");
                break;
            }
        }
        fs::remove_dir_all(kept).expect("it worked");
    }

    fn copy(from: &Path, to: &Path) {
        if to.exists() {
            fs::remove_dir_all(to).expect("it worked");
        }
        assert!(
            Command::new("cp").arg("-a").args([from, to]).status().expect("it starts").success()
        );
    }

    macro_rules! cases {
        ($($test:ident = $name:literal,)*) => {
            $(#[test] fn $test() { try_everywhere($name); })*
        };
    }

    cases! {
        a_landing_killed_anywhere_lands_once = "land",
        work_in_whose_way_something_is_waits_once_wherever_it_was_killed = "wait",
        a_change_is_given_once_wherever_that_was_killed = "apply",
        a_lane_killed_anywhere_on_its_way_to_another_unit_loses_nothing = "lane",
        a_snapshot_killed_anywhere_is_the_same_snapshot = "snapshot",
        a_checkpoint_killed_anywhere_is_one_commit = "checkpoint",
        going_back_killed_anywhere_loses_nothing = "rewind",
        a_rebase_killed_anywhere_is_the_same_rebase = "rebase",
        a_note_killed_anywhere_is_one_note = "note",
        a_store_killed_while_it_is_made_is_made = "open",
        without_git_a_change_is_given_once_wherever_that_was_killed = "apply without git",
        a_directory_whose_recording_was_killed_anywhere_is_recorded_once = "stock",
    }

    fn lane_of(scratch: &Scratch, store: &Store, unit: &str) -> Lane {
        let base = base_of(scratch);
        store.ensure_lane(1, &base, "run", unit, WHEN).expect("it worked")
    }

    fn base_of(scratch: &Scratch) -> Oid {
        Oid::parse(&read(&scratch.dir, "base")).expect("readable")
    }

    fn begin_full_lane(scratch: &Scratch, store: &Store) {
        let lane = edited(store, 1, "u1", "readme.md", "mine\n");
        write(&lane.work, "new/file", "new\n");
        scratch.git_in(&lane.work, &["commit", "-q", "-am", "the agent's own"]);
        fs::write(scratch.dir.join("base"), lane.base.as_str()).expect("written");
    }

    fn begin_landing(scratch: &Scratch, store: &Store) {
        let lane = edited(store, 1, "u1", "readme.md", "mine\n");
        write(&lane.work, "new/file", "new\n");
        fs::remove_file(lane.work.join("src/lib.rs")).expect("it worked");
        store.snapshot(&lane, "to land", WHEN).expect("it worked");
        scratch.write("untracked.txt", "untracked\n");
        fs::write(scratch.dir.join("base"), lane.base.as_str()).expect("written");
    }

    fn begin_in_the_way(scratch: &Scratch, store: &Store) {
        begin_landing(scratch, store);
        scratch.write("readme.md", "in the way\n");
    }

    fn begin_moved(scratch: &Scratch, store: &Store) {
        begin_full_lane(scratch, store);
        let lane = lane_of(scratch, store, "u1");
        store.checkpoint(&lane, "one", &person(), WHEN).expect("it worked");
        write(&lane.work, "readme.md", "edits\n");
        scratch.write("theirs.txt", "theirs\n");
        scratch.commit("theirs");
    }

    fn the_request(scratch: &Scratch, store: &Store, how: Land) -> Request {
        request(store, &lane_of(scratch, store, "u1"), how)
    }

    fn land(scratch: &Scratch, store: &Store, how: Land) -> String {
        match store.land(&the_request(scratch, store, how)).expect("it worked") {
            Landing::Nothing => "nothing".into(),
            Landing::Landed { commit, .. } => format!("landed {commit}"),
            Landing::Waiting { commit, branch, .. } => format!("waiting {commit} {branch}"),
            other => panic!("{other:?}"),
        }
    }

    fn landed_once(scratch: &Scratch, _: &Store) {
        assert_eq!(scratch.git(&["log", "--format=%s", "--first-parent"]), "Do u1\nfirst\n");
        scratch.git(&["fsck", "--strict", "--no-dangling"]);
        // At most one entry besides the first commit's.
        assert_eq!(scratch.git(&["reflog", "main"]).lines().count(), 2);
    }

    fn waits_once(scratch: &Scratch, _: &Store) {
        assert_eq!(read(&scratch.top, "readme.md"), "in the way\n");
        assert_eq!(scratch.git(&["branch", "--list", "windlass/*"]).lines().count(), 1);
    }

    fn apply(scratch: &Scratch, store: &Store) -> String {
        let request = the_request(scratch, store, Land::Commit);
        match store.apply_to_checkout(&request.base, &request.tree, &[]).expect("it worked") {
            Applied::Applied { .. } => "applied".into(),
            Applied::Refused { why } => format!("refused: {why}"),
        }
    }

    fn applied_once(scratch: &Scratch, _: &Store) {
        assert_eq!(read(&scratch.top, "readme.md"), "mine\n");
        assert_eq!(read(&scratch.top, "new/file"), "new\n");
        assert!(!scratch.top.join("src/lib.rs").exists());
        assert_eq!(scratch.oid("main"), base_of(scratch));
    }

    fn begin_stock(scratch: &Scratch, _: &Store) {
        scratch.write("readme.md", "by hand\n");
        scratch.write("new", "new\n");
        fs::remove_file(scratch.top.join("src/lib.rs")).expect("it worked");
    }

    fn stock(_: &Scratch, store: &Store) -> String {
        store.take_stock(WHEN).expect("it worked").commit.to_string()
    }

    fn recorded_once(scratch: &Scratch, _: &Store) {
        assert_eq!(scratch.git(&["rev-list", "--count", "main"]), "2\n");
        assert_eq!(scratch.git(&["show", "main:readme.md"]), "by hand\n");
        assert_eq!(scratch.git(&["status", "--porcelain"]), "");
        scratch.git(&["fsck", "--strict", "--no-dangling"]);
    }

    #[test]
    fn what_was_half_given_is_never_recorded_as_the_persons() {
        let scratch = Scratch::without_git();
        begin_landing(&scratch, &scratch.store());
        let kept = scratch.dir.with_extension("kept");
        copy(&scratch.dir, &kept);
        let mut seen = std::collections::BTreeSet::new();
        for at in 0.. {
            copy(&kept, &scratch.dir);
            let died = dies(&scratch, "apply without git", at);
            scratch.store().take_stock(WHEN).unwrap();
            let whole = scratch.git(&["ls-tree", "-r", "main"]);
            seen.insert(whole.lines().map(|line| line[12..].to_owned()).collect::<Vec<_>>());
            if !died {
                break;
            }
        }
        fs::remove_dir_all(kept).unwrap();
        assert_eq!(seen.len(), 2, "all of it or nothing: {seen:#?}");
    }

    fn take_lane(scratch: &Scratch, store: &Store) -> String {
        // Who finds it finished cannot tell that nobody has been in it.
        let lane = Lane { untouched: false, ..lane_of(scratch, store, "u2") };
        format!("{lane:?}").replace(scratch.dir.to_str().expect("it worked"), "")
    }

    fn both_units_are_there(scratch: &Scratch, store: &Store) {
        let lane = lane_of(scratch, store, "u2");
        assert_eq!(scratch.git_in(&lane.work, &["status", "--porcelain", "--ignored"]), "");
        edits_are_kept(scratch, store);
    }

    /// Some ref has the edits, and some ref has what the agent committed.
    fn edits_are_kept(scratch: &Scratch, _: &Store) {
        let refs = scratch.git_in(&scratch.results(), &["for-each-ref", "--format=%(refname)"]);
        let has = |file: &str, text: &str| {
            refs.lines().any(|name| {
                let blob = format!("{name}:{file}");
                let shown = scratch.try_git(&scratch.results(), &["cat-file", "blob", &blob]);
                shown.stdout == text.as_bytes()
            })
        };
        assert!(has("readme.md", "mine\n") && has("new/file", "new\n"), "{refs}");
        assert!(refs.contains("/agent/"), "{refs}");
    }

    fn snapshot(scratch: &Scratch, store: &Store) -> String {
        let snapshot =
            store.snapshot(&lane_of(scratch, store, "u1"), "turn", WHEN).expect("it worked");
        format!("{} {:?} {:?}", snapshot.commit, snapshot.subject, snapshot.agent_commits.len())
    }

    fn checkpoint(scratch: &Scratch, store: &Store) -> String {
        let lane = lane_of(scratch, store, "u1");
        let made = store.checkpoint(&lane, "one", &person(), WHEN).expect("it worked");
        format!("{made:?}")
    }

    fn one_checkpoint(scratch: &Scratch, _: &Store) {
        let log = scratch
            .git_in(&scratch.results(), &["log", "--format=%s", "refs/windlass/run/u1/head"]);
        assert_eq!(log, "one\nfirst\n");
    }

    fn rewind(scratch: &Scratch, store: &Store) -> String {
        let lane = lane_of(scratch, store, "u1");
        let rewound = store.rewind(&lane, &lane.base, WHEN).expect("it worked");
        format!("{:?}", rewound.subject)
    }

    fn rebase(scratch: &Scratch, store: &Store) -> String {
        store.sync().expect("it worked");
        let lane = lane_of(scratch, store, "u1");
        let rebuilt = store.rebase(&lane, &scratch.oid("main"), WHEN).expect("it worked");
        assert_eq!(read(&lane.work, "readme.md"), "edits\n");
        assert_eq!(read(&lane.work, "theirs.txt"), "theirs\n");
        format!("{rebuilt:?}")
    }

    fn note(scratch: &Scratch, store: &Store) -> String {
        store.note(&base_of(scratch), "a note", WHEN).expect("it worked");
        scratch.git(&["notes", "--ref=windlass", "show"])
    }

    #[test]
    fn a_patch_that_was_cut_off_is_finished_or_was_never_begun() {
        // After a crash the lane goes back to where the stage began, whatever was finished of it.
        let (_scratch, store, lane) = with_edit("readme.md", "mine\n");
        let began = store.snapshot(&lane, "began", WHEN).unwrap();
        let patch = b"--- a/readme.md\n+++ b/readme.md\n@@ -1 +1 @@\n-mine\n+patched\n";
        let patched = store.apply_patch(&lane, patch, WHEN, &|_| None).unwrap();
        assert!(matches!(patched, Patched::Applied { .. }));
        let rewound = store.rewind(&lane, &began.commit, WHEN).unwrap();
        assert_eq!(rewound.subject, began.subject);
    }

    #[test]
    fn what_a_person_does_after_the_branch_has_moved_is_left_alone() {
        // Killed when the files were written and the branch had moved, but the index had not.
        let scratch = Scratch::new();
        begin_landing(&scratch, &scratch.store());
        assert!(dies_at(&scratch, "land", u32::MAX, Some("transfer.rename-index")));
        assert!(scratch.top.join(".git/index.lock").exists());
        assert_eq!(read(&scratch.top, "readme.md"), "mine\n");
        scratch.write("readme.md", "by hand\n");
        let store = scratch.store();
        store.recover().unwrap();
        assert_eq!(read(&scratch.top, "readme.md"), "by hand\n");
        assert_eq!(read(&scratch.top, "new/file"), "new\n");
        assert!(!scratch.top.join("src/lib.rs").exists());
        assert_eq!(land(&scratch, &store, Land::Commit), format!("landed {}", scratch.oid("main")));
        // The rest is landed and clean; their edit is theirs.
        let status = scratch.git(&["status", "--porcelain"]);
        assert!(status.ends_with("M readme.md\n?? untracked.txt\n"), "{status}");
        assert_eq!(status.lines().count(), 2, "{status}");
    }
}
