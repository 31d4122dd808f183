//! A process that is killed, anywhere: what it was told is durable is there, and nothing else is
//! half there.

use std::{
    os::unix::process::ExitStatusExt,
    path::Path,
    sync::{
        OnceLock,
        atomic::{AtomicI64, Ordering},
    },
};

use rustix::process::{Signal, getpid, kill_process};
use windlass_journal::{Batch, Journal, Scope, failpoint};

use crate::{
    actor::{Actor, hear, say},
    scene::{Scene, noise, run},
};

const LARGE: usize = 100_000;

/// What event `seq` is: its own number, and the name of a blob that came with it. Every third
/// blob is large.
fn event(seq: u64) -> (Vec<u8>, Vec<u8>) {
    let content = noise(seq, if seq.is_multiple_of(3) { LARGE } else { 100 });
    let id = windlass_journal::BlobId::of(&content);
    (format!("{{\"n\":{seq},\"blob\":\"{id}\"}}").into_bytes(), content)
}

/// The role: goes on with the run for as long as it lives, and says the number of events after
/// each append. `word` is `point count`: die when that point is passed for the count-th time.
pub fn write(dir: &Path, word: &str) {
    if let Some((point, count)) = word.split_once(' ') {
        POINT.set(point.to_owned()).expect("set once");
        LEFT.store(count.parse().expect("a number"), Ordering::Relaxed);
    }
    let scene = Scene::at(dir);
    let journal = scene.open();
    let id = run("r");
    if journal.runs().expect("readable").is_empty() {
        journal.create_run(&id, b"", 0).expect("created");
    }
    let mut next = journal.head(&id).expect("readable").events;
    if !word.is_empty() {
        failpoint::set(die_in_time).expect("the only hook");
    }
    say(&next.to_string());
    for batches in 0.. {
        assert!(POINT.get().is_none() || batches < 100, "that point is never passed");
        let mut batch = Batch::new(0);
        let many = 1 + next % 3;
        for seq in next..next + many {
            let (bytes, content) = event(seq);
            batch.blob(journal.stage(&content).expect("staged"));
            batch.append(id.clone(), seq, vec![bytes]);
        }
        next = journal.commit(&batch).expect("committed")[&id].events;
        if next.is_multiple_of(4) {
            let head = journal.head(&id).expect("readable");
            let state = next.to_string();
            journal.put_snapshot(&id, next - 1, head.hash, "f", state.as_bytes()).expect("kept");
        }
        say(&next.to_string());
        if word == "asked" && hear().is_none() {
            return;
        }
    }
}

static POINT: OnceLock<String> = OnceLock::new();
static LEFT: AtomicI64 = AtomicI64::new(0);

fn die_in_time(point: &str) {
    let ours = POINT.get().is_some_and(|chosen| chosen == point);
    if ours && LEFT.fetch_sub(1, Ordering::Relaxed) == 1 {
        kill_process(getpid(), Signal::KILL).expect("a process may kill itself");
    }
}

/// Everything is there up to a point that is not before what was acknowledged.
pub fn check(scene: &Scene, acknowledged: u64) -> u64 {
    let journal = scene.open();
    let id = run("r");
    let head = journal.head(&id).expect("a whole row");
    assert!(head.events >= acknowledged, "{acknowledged} acknowledged, {} there", head.events);
    for (entry, seq) in journal.read(&id, 0).expect("readable").zip(0..) {
        let (bytes, content) = event(seq);
        assert_eq!(entry.expect("sound").bytes, bytes);
        assert_eq!(journal.get(windlass_journal::BlobId::of(&content)).expect("there"), content);
    }
    if let Some(snapshot) = journal.latest_snapshot(&id, "f") {
        assert_eq!(snapshot.bytes, (snapshot.seq + 1).to_string().as_bytes());
    }
    let report = journal.verify(Scope::All).expect("verified");
    assert!(report.is_sound(), "{:?}", report.flaws);
    head.events
}

fn number(line: &str) -> u64 {
    line.parse().expect("a number")
}

/// Listens until the actor is gone; what it acknowledged last.
fn last_word(actor: &mut Actor) -> u64 {
    std::iter::from_fn(|| actor.listen()).last().map_or(0, |line| number(&line))
}

#[test]
fn killed_at_every_point_it_loses_nothing_that_was_acknowledged() {
    for point in failpoint::ALL {
        let scene = Scene::new();
        let mut before = 0;
        for count in [1, 2, 5] {
            let mut actor = Actor::start("write", scene.dir(), &format!("{point} {count}"));
            let acknowledged = last_word(&mut actor);
            assert_eq!(actor.end().signal(), Some(9), "{point}: it died there");
            assert!(acknowledged >= before, "{point}: it went on from where it was");
            let there = check(&scene, acknowledged);
            if point == failpoint::AFTER_COMMIT {
                assert!(there > acknowledged || count > 1, "{point}: durable, though unsaid");
            } else {
                assert_eq!(there, acknowledged, "{point}: nothing of what was not committed");
            }
            before = there;
        }
    }
}

mod slow {
    use super::*;

    #[test]
    fn killed_at_any_moment_it_loses_nothing_that_was_acknowledged() {
        const KILLS: u64 = 30;
        let scene = Scene::new();
        let moments = noise(2026, KILLS as usize);
        let mut there = 0;
        for &moment in &moments {
            let mut actor = Actor::start("write", scene.dir(), "");
            let mut acknowledged = number(&actor.listen().expect("it starts"));
            assert_eq!(acknowledged, there, "it goes on from where it was");
            for _ in 0..moment % 12 {
                acknowledged = number(&actor.listen().expect("it goes on"));
            }
            actor.kill();
            // What it said between our last look and its death counts as well.
            acknowledged = acknowledged.max(last_word(&mut actor));
            there = check(&scene, acknowledged);
        }
        assert!(there > KILLS);
    }
}

#[test]
fn a_copy_of_a_living_journal_is_whole() {
    let scene = Scene::new();
    let mut actor = Actor::start("write", scene.dir(), "asked");
    actor.listen().unwrap();
    for _ in 0..3 {
        let acknowledged = number(&actor.listen().unwrap());
        check(&scene.copy(), acknowledged);
        let reader: Journal = scene.read_only().unwrap();
        assert_eq!(reader.head(&run("r")).unwrap().events, acknowledged);
        actor.tell("go on");
    }
    actor.listen().unwrap();
    assert!(actor.end().success());
}
