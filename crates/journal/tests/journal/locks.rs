//! One Windlass for each repository, and the others can say which.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    sync::Barrier,
    thread,
};

use windlass_journal::{Held, Holder, Lock, TakeError};

use crate::{
    actor::{Actor, hear, say},
    scene::Scene,
};

const CONTENDERS: usize = 20;

/// The role: waits for the word, tries, says how it went, and keeps what it has until the end.
pub fn contend(dir: &Path) {
    say("ready");
    hear().expect("the word to go");
    let me = Holder::this_process("a contender", 12);
    let lock = match Lock::take(dir, me) {
        Ok(lock) => {
            say("won");
            Some(lock)
        }
        Err(TakeError::Held(Held { holder: Some(holder), .. })) => {
            assert_eq!((holder.what.as_str(), holder.since_ms), ("a contender", 12));
            say(&format!("lost to {}", holder.pid));
            None
        }
        Err(error) => panic!("{error:?}"),
    };
    while hear().is_some() {}
    drop(lock);
}

/// The role: takes the lock, starts a program that lives on, and waits.
pub fn hold(dir: &Path) {
    let _lock = Lock::take(dir, Holder::this_process("holding", 0)).expect("free");
    // It ends when the test closes our input, which it shares.
    let mut cat = Command::new("cat").stdout(Stdio::null()).spawn().expect("cat can be started");
    say("holding");
    cat.wait().expect("cat can be waited for");
}

#[test]
fn of_twenty_processes_one_wins_and_the_others_name_it() {
    let scene = Scene::new();
    let start = |_| Actor::start("contend", scene.dir(), "");
    let mut actors: Vec<Actor> = (0..CONTENDERS).map(start).collect();
    for actor in &mut actors {
        assert_eq!(actor.listen().unwrap(), "ready");
    }
    for actor in &mut actors {
        actor.tell("go");
    }
    let said: Vec<String> = actors.iter_mut().map(|actor| actor.listen().unwrap()).collect();
    let winner = said.iter().position(|line| line == "won").expect("one wins");
    let named = format!("lost to {}", actors[winner].id());
    for (index, line) in said.iter().enumerate().filter(|(index, _)| *index != winner) {
        assert_eq!(*line, named, "contender {index}");
    }
    let held = Lock::held(scene.dir()).unwrap().unwrap();
    assert_eq!(held.holder.unwrap().pid, actors[winner].id());
    for actor in actors {
        assert!(actor.end().success());
    }
    assert_eq!(Lock::held(scene.dir()).unwrap(), None);
    drop(scene.lock());
}

#[test]
fn of_twenty_threads_one_wins_and_the_others_name_it() {
    let scene = Scene::new();
    // Left by a holder that is long gone: nobody may be told this name.
    let stale = Holder { pid: 1, ..Holder::this_process("long ago", 0) };
    drop(Lock::take(scene.dir(), stale).unwrap());
    let (start, end) = (Barrier::new(CONTENDERS), Barrier::new(CONTENDERS));
    let outcomes: Vec<Result<(), Holder>> = thread::scope(|scope| {
        let attempt = |index: usize| {
            let (start, end, dir) = (&start, &end, scene.dir());
            scope.spawn(move || {
                start.wait();
                let me = Holder::this_process(&format!("thread {index}"), 0);
                let taken = Lock::take(dir, me);
                end.wait();
                match taken {
                    Ok(_) => Ok(()),
                    Err(TakeError::Held(held)) => Err(held.holder.unwrap()),
                    Err(error) => panic!("{error}"),
                }
            })
        };
        let threads: Vec<_> = (0..CONTENDERS).map(attempt).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let winner = outcomes.iter().position(Result::is_ok).expect("one wins");
    let named = format!("thread {winner}");
    let losers = outcomes.iter().filter_map(|outcome| outcome.as_ref().err());
    assert_eq!(losers.filter(|holder| holder.what == named).count(), CONTENDERS - 1);
}

#[test]
fn the_lock_goes_with_its_process_and_not_with_what_that_started() {
    let scene = Scene::new();
    let mut holder = Actor::start("hold", scene.dir(), "");
    assert_eq!(holder.listen().unwrap(), "holding");
    let held = Lock::take(scene.dir(), Holder::this_process("test", 0)).unwrap_err();
    assert!(held.to_string().contains(&holder.id().to_string()), "{held}");
    holder.kill();
    // `cat` is alive, for its input, which was the holder's, is still open here. It may even be
    // so young that it has not closed the lock's file yet.
    drop(scene.lock());
}

#[test]
fn a_lock_that_is_dropped_is_free() {
    let scene = Scene::new();
    for _ in 0..3 {
        drop(scene.lock());
    }
    assert_eq!(Lock::held(scene.dir()).unwrap(), None);
    assert_eq!(Lock::held(&scene.dir().join("nothing")).unwrap(), None);
}

#[test]
fn a_file_without_a_lock_is_taken_over_whatever_it_says() {
    let scene = Scene::new();
    drop(scene.lock());
    for content in ["", "{", "{\"pid\":1}", &"x".repeat(1 << 20)] {
        fs::write(scene.dir().join("lock"), content).unwrap();
        let lock = scene.lock();
        let held = Lock::held(scene.dir()).unwrap().unwrap();
        assert_eq!(held.holder, Some(Holder::this_process("a test", 0)));
        drop(lock);
    }
}

#[test]
fn a_holder_may_run_something_with_a_long_name() {
    let scene = Scene::new();
    let holder = Holder::this_process(&"x".repeat(60_000), 0);
    let _lock = Lock::take(scene.dir(), holder.clone()).unwrap();
    assert_eq!(Lock::held(scene.dir()).unwrap().unwrap().holder, Some(holder));
}

#[test]
fn a_holder_that_cannot_be_read_is_still_a_holder() {
    let scene = Scene::new();
    let _lock = scene.lock();
    fs::write(scene.dir().join("lock"), "{").unwrap();
    let error = Lock::take(scene.dir(), Holder::this_process("test", 0)).unwrap_err();
    assert!(matches!(&error, TakeError::Held(Held { holder: None, .. })), "{error}");
    assert!(error.to_string().contains("another Windlass"), "{error}");
}

#[test]
fn a_process_is_known_by_its_number_and_its_start() {
    let me = Holder::this_process("x", 3);
    assert_eq!((me.pid, me.socket.as_ref()), (std::process::id(), None));
    assert!(me.started > 0);
    assert_eq!(me.started, Holder::this_process("x", 3).started);
}
