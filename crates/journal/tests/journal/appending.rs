//! Runs and events: what is appended comes back, in order, once.

use std::{sync::Barrier, thread};

use proptest::prelude::*;
use windlass_journal::{Batch, EVENT_BYTES_MAX, Error, Head, META_BYTES_MAX};

use crate::scene::{Scene, events, noise, run};

#[test]
fn what_is_appended_is_read_back_by_the_next_process() {
    let scene = Scene::new();
    let id = run("task-1");
    let heads = {
        let journal = scene.open();
        let born = journal.create_run(&id, b"meta", 5).unwrap();
        assert_eq!(born.events, 0);
        let first = journal.append(&id, 0, &["a", "b"], 6).unwrap();
        let second = journal.append(&id, 2, &["c"], 9).unwrap();
        assert_eq!(journal.head(&id).unwrap(), second);
        [born, first, second]
    };
    let journal = scene.open();
    assert_eq!(events(&journal, &id).unwrap(), [b"a", b"b", b"c"]);
    let entries: Vec<_> = journal.read(&id, 0).unwrap().map(Result::unwrap).collect();
    assert_eq!(entries.iter().map(|entry| entry.seq).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(Head { events: 2, hash: entries[1].hash }, heads[1]);
    assert_eq!(Head { events: 3, hash: entries[2].hash }, heads[2]);
    let info = journal.run(&id).unwrap();
    assert_eq!((info.meta, info.created_ms, info.updated_ms), (b"meta".to_vec(), 5, 9));
}

#[test]
fn reading_can_start_anywhere_but_past_the_end() {
    let journal = Scene::new().open();
    let id = run("r");
    journal.create_run(&id, b"", 0).unwrap();
    journal.append(&id, 0, &["a", "b", "c"], 0).unwrap();
    let from = |seq| -> Result<Vec<u64>, Error> {
        Ok(journal.read(&id, seq)?.map(|entry| entry.unwrap().seq).collect())
    };
    assert_eq!(from(1).unwrap(), [1, 2]);
    assert_eq!(from(3).unwrap(), [0; 0]);
    let error = from(4).unwrap_err();
    assert!(matches!(error, Error::NoSuchEvent { seq: 4, events: 3, .. }), "{error}");
}

#[test]
fn an_append_that_expects_another_head_is_refused_and_changes_nothing() {
    let scene = Scene::new();
    let journal = scene.open();
    let id = run("r");
    journal.create_run(&id, b"", 0).unwrap();
    journal.append(&id, 0, &["a"], 0).unwrap();
    for expected in [0, 2] {
        let error = journal.append(&id, expected, &["x"], 0).unwrap_err();
        assert!(matches!(error, Error::Conflict { found: 1, .. }), "{error}");
    }
    assert_eq!(events(&journal, &id).unwrap(), [b"a"]);
    journal.append(&id, 1, &["b"], 0).unwrap();
}

#[test]
fn of_many_that_append_at_once_one_wins_each_place() {
    const THREADS: usize = 8;
    let journal = Scene::new().open();
    let id = run("r");
    journal.create_run(&id, b"", 0).unwrap();
    let start = Barrier::new(THREADS);
    let won: usize = thread::scope(|scope| {
        let attempt = |_| {
            scope.spawn(|| {
                start.wait();
                journal.append(&id, 0, &["x"], 0).is_ok()
            })
        };
        let threads: Vec<_> = (0..THREADS).map(attempt).collect();
        threads.into_iter().map(|thread| usize::from(thread.join().unwrap())).sum()
    });
    assert_eq!(won, 1);
    assert_eq!(journal.head(&id).unwrap().events, 1);
}

#[test]
fn a_name_is_given_once() {
    let journal = Scene::new().open();
    let id = run("r");
    let unknown = journal.append(&id, 0, &["a"], 0).unwrap_err();
    assert!(matches!(unknown, Error::NoSuchRun { .. }), "{unknown}");
    journal.create_run(&id, b"", 0).unwrap();
    let again = journal.create_run(&id, b"other", 0).unwrap_err();
    assert!(matches!(again, Error::RunExists { .. }), "{again}");
    assert_eq!(journal.run(&id).unwrap().meta, b"");
}

#[test]
fn a_batch_is_written_whole_or_not_at_all() {
    let scene = Scene::new();
    let journal = scene.open();
    let (one, two) = (run("one"), run("two"));
    journal.create_run(&one, b"", 0).unwrap();
    let staged = journal.stage(b"report").unwrap();
    let blob = staged.id();

    let mut bad = Batch::new(1);
    bad.create_run(two.clone(), vec![]).blob(staged);
    bad.append(one.clone(), 0, vec![b"a".to_vec()]).append(two.clone(), 7, vec![b"b".to_vec()]);
    let error = journal.commit(&bad).unwrap_err();
    assert!(matches!(error, Error::Conflict { expected: 7, found: 0, .. }), "{error}");
    assert_eq!(journal.head(&one).unwrap().events, 0);
    assert!(matches!(journal.head(&two), Err(Error::NoSuchRun { .. })));
    assert!(matches!(journal.get(blob), Err(Error::NoSuchBlob { .. })));

    let mut good = Batch::new(2);
    good.create_run(two.clone(), vec![]).blob(journal.stage(b"report").unwrap());
    good.append(one.clone(), 0, vec![b"a".to_vec()]).append(two.clone(), 0, vec![b"b".to_vec()]);
    good.append(one.clone(), 1, vec![b"c".to_vec()]).snapshot(one.clone(), "f", b"ac".to_vec());
    let heads = journal.commit(&good).unwrap();
    assert_eq!(heads[&one], journal.head(&one).unwrap());
    assert_eq!(heads[&two].events, 1);
    assert_eq!(journal.get(blob).unwrap(), b"report");
    let snapshot = journal.latest_snapshot(&one, "f").unwrap();
    assert_eq!((snapshot.seq, snapshot.hash), (1, heads[&one].hash));
    assert!(journal.commit(&Batch::new(3)).unwrap().is_empty());
    let reader = scene.read_only().unwrap();
    assert!(reader.commit(&Batch::new(3)).unwrap().is_empty(), "who writes nothing may");
}

#[test]
fn runs_are_listed_in_the_order_of_their_creation() {
    let journal = Scene::new().open();
    for (index, name) in ["zebra", "ant", "mule"].into_iter().enumerate() {
        journal.create_run(&run(name), name.as_bytes(), i64::try_from(index).unwrap()).unwrap();
    }
    journal.append(&run("zebra"), 0, &["x"], 100).unwrap();
    let runs = journal.runs().unwrap();
    let names: Vec<_> = runs.iter().map(|info| info.id.as_str()).collect();
    assert_eq!(names, ["zebra", "ant", "mule"]);
    assert_eq!((runs[0].updated_ms, runs[0].head.events), (100, 1));
}

#[test]
fn what_is_too_large_is_refused_with_its_limit() {
    let journal = Scene::new().open();
    let id = run("r");
    let error = journal.create_run(&id, &vec![0; META_BYTES_MAX + 1], 0).unwrap_err();
    assert!(matches!(error, Error::TooLarge { bytes_max: 65_536, .. }), "{error}");
    journal.create_run(&id, &vec![0; META_BYTES_MAX], 0).unwrap();
    let error = journal.append(&id, 0, &[vec![0; EVENT_BYTES_MAX + 1]], 0).unwrap_err();
    assert!(matches!(error, Error::TooLarge { bytes_max: 16_777_216, .. }), "{error}");
    journal.append(&id, 0, &[noise(1, EVENT_BYTES_MAX)], 0).unwrap();
    assert_eq!(events(&journal, &id).unwrap(), [noise(1, EVENT_BYTES_MAX)]);
}

#[test]
fn a_reader_goes_on_while_the_run_grows() {
    let scene = Scene::new();
    let journal = scene.open();
    let id = run("r");
    journal.create_run(&id, b"", 0).unwrap();
    let first: Vec<_> = (0..2_000).map(|n| format!("event {n}")).collect();
    journal.append(&id, 0, &first, 0).unwrap();
    let mut reading = journal.read(&id, 0).unwrap();
    assert_eq!(reading.next().unwrap().unwrap().bytes, b"event 0");
    // The same thread, in the middle of reading: nothing is held that the append would wait for.
    journal.append(&id, 2_000, &["later"], 0).unwrap();
    let elsewhere = scene.read_only().unwrap();
    assert_eq!(events(&elsewhere, &id).unwrap().len(), 2_001);
    assert_eq!(reading.count(), 1_999, "it ends where the run ended when it began");
}

#[test]
fn a_run_is_exported_line_by_line() {
    let journal = Scene::new().open();
    let id = run("r");
    journal.create_run(&id, b"", 0).unwrap();
    let head = journal.append(&id, 0, &["{\"event\":\n\"started\"}", "no json"], 0).unwrap();
    let mut out = Vec::new();
    assert_eq!(journal.export(&id, &mut out).unwrap(), 2);
    let text = String::from_utf8(out).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["event"]["event"], "started");
    assert_eq!(lines[0]["seq"], 0);
    assert_eq!(lines[1]["bytes"], "6e6f206a736f6e");
    assert_eq!(lines[1]["hash"], head.hash.to_string());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_history_comes_back_as_it_was(
        appends in prop::collection::vec(
            (0..3usize, prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..5)),
            0..12,
        ),
    ) {
        let scene = Scene::new();
        let names = [run("a"), run("b"), run("c")];
        let mut wanted = [vec![], vec![], vec![]];
        {
            let journal = scene.open();
            for id in &names {
                journal.create_run(id, b"", 0).unwrap();
            }
            for (which, bytes) in &appends {
                let expected = wanted[*which].len() as u64;
                let head = journal.append(&names[*which], expected, bytes, 0).unwrap();
                wanted[*which].extend(bytes.iter().cloned());
                prop_assert_eq!(head.events, wanted[*which].len() as u64);
            }
        }
        let journal = scene.read_only().unwrap();
        for (id, wanted) in names.iter().zip(&wanted) {
            prop_assert_eq!(&events(&journal, id).unwrap(), wanted);
        }
    }
}
