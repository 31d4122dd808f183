//! How programs end: by themselves, by a limit, or because somebody asked.

use windlass_process::{Ending, Limit};

use super::*;

const SHORT: Duration = Duration::from_millis(50);
const NEVER_ENDS: &str = "echo ready; exec sleep 1000";
const IGNORES_TERM: &str = "trap '' TERM; echo ready; while :; do sleep 1000; done";

#[test]
fn a_program_ends_by_itself() {
    let spawner = spawner();
    assert_eq!(spawner.run(sh("exit 0")).unwrap().ending, Ending::Exited(0));
    assert_eq!(spawner.run(sh("exit 42")).unwrap().ending, Ending::Exited(42));
    assert_eq!(spawner.run(sh("kill -USR1 $$")).unwrap().ending, Ending::Signalled(10));
}

#[test]
fn a_program_that_never_ends_is_ended_by_the_wall_limit() {
    // It prints all the time: that does not help it.
    let limits = Limits { wall: Some(SHORT), idle: Some(LONG), grace: LONG, ..Limits::default() };
    let finished = spawner().run(sh("while :; do echo busy; done").limits(limits)).unwrap();
    assert_eq!(finished.ending, Ending::TimedOut(Limit::Wall));
}

#[test]
fn a_program_that_says_nothing_is_ended_by_the_idle_limit() {
    let limits = Limits { wall: Some(LONG), idle: Some(SHORT), grace: LONG, ..Limits::default() };
    let finished = spawner().run(sh(NEVER_ENDS).limits(limits)).unwrap();
    assert_eq!(finished.ending, Ending::TimedOut(Limit::Idle));
    assert_eq!(text(&finished.stdout), "ready\n");
}

#[test]
fn a_program_that_ignores_term_is_killed() {
    let limits = Limits { wall: Some(SHORT), idle: None, grace: SHORT, ..Limits::default() };
    let finished = spawner().run(sh(IGNORES_TERM).limits(limits)).unwrap();
    assert_eq!(finished.ending, Ending::TimedOut(Limit::Wall));
    let (command, said) = watched(sh(IGNORES_TERM).limits(grace(SHORT)));
    let child = spawner().spawn(command).unwrap();
    assert_eq!(Said::line(&said), "ready");
    child.stop();
    assert_eq!(child.wait().unwrap().ending, Ending::Stopped);
}

#[test]
fn a_program_may_clean_up_when_it_is_asked_to_end() {
    let script = "import signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
print('ready', flush=True)
signal.sigwait([signal.SIGTERM])
print('bye')
sys.exit(7)";
    let (command, said) = watched(python(script).limits(grace(LONG)));
    let child = spawner().spawn(command).unwrap();
    assert_eq!(Said::line(&said), "ready");
    child.stop();
    child.stop();
    let finished = child.wait().unwrap();
    child.stop();
    assert_eq!(finished.ending, Ending::Stopped);
    assert_eq!(text(&finished.stdout), "ready\nbye\n");
}

#[test]
fn a_program_is_asked_once() {
    let script = "import signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
print('ready', flush=True)
while True:
    signal.sigwait([signal.SIGTERM])
    print('asked', flush=True)";
    let (command, said) = watched(python(script).limits(grace(Duration::from_secs(1))));
    let child = spawner().spawn(command).unwrap();
    assert_eq!(Said::line(&said), "ready");
    child.stop();
    assert_eq!(Said::line(&said), "asked");
    child.stop();
    assert_eq!(text(&child.wait().unwrap().stdout), "ready\nasked\n");
}

#[test]
fn stopping_may_race_with_a_natural_end() {
    let spawner = spawner();
    for _ in 0..100 {
        let child = spawner.spawn(Command::new("/bin/true", "/")).unwrap();
        let other = child.clone();
        let stopper = std::thread::spawn(move || other.stop());
        let ending = child.wait().unwrap().ending;
        assert!(matches!(ending, Ending::Exited(0) | Ending::Stopped), "{ending:?}");
        stopper.join().unwrap();
        child.stop();
        assert_eq!(child.wait().unwrap().ending, ending);
    }
}

#[test]
fn many_may_wait_for_one() {
    let (command, said) = watched(sh(NEVER_ENDS));
    let child = spawner().spawn(command).unwrap();
    assert_eq!(Said::line(&said), "ready");
    let waiters: Vec<_> = (0..4)
        .map(|_| {
            let child = child.clone();
            std::thread::spawn(move || child.wait().unwrap().ending)
        })
        .collect();
    child.stop();
    for waiter in waiters {
        assert_eq!(waiter.join().unwrap(), Ending::Stopped);
    }
}

#[test]
fn dropping_the_last_handle_stops_it() {
    let spawner = spawner();
    let child = spawner.spawn(sh(NEVER_ENDS)).unwrap();
    let held = Held::new(child.pid());
    let other = child.clone();
    drop(child);
    assert!(!held.has_ended());
    drop(other);
    assert!(held.ends_within(LONG));
}

#[test]
fn dropping_the_spawner_leaves_children_to_their_handles() {
    let spawner = spawner();
    let (command, said) = watched(sh(NEVER_ENDS));
    let child = spawner.spawn(command).unwrap();
    drop(spawner);
    assert_eq!(Said::line(&said), "ready");
    child.stop();
    assert_eq!(child.wait().unwrap().ending, Ending::Stopped);
}

#[test]
fn shutting_down_ends_everything_and_starts_nothing_more() {
    let spawner = spawner();
    let (command, said) = watched(python(&daemon("pass", "time.sleep(1000)")));
    let child = spawner.spawn(command).unwrap();
    let (_, held) = Said::pid(&said);
    let other = spawner.clone();
    spawner.shut_down();
    assert!(held.has_ended());
    assert_eq!(child.wait().unwrap().ending, Ending::Stopped);
    let refused = other.spawn(sh("exit 0"));
    assert!(matches!(refused, Err(windlass_process::SpawnError::Closed)));
    other.shut_down();
}

#[test]
fn limits_of_any_length_are_fine() {
    let forever = Limits {
        wall: Some(Duration::MAX),
        idle: Some(Duration::MAX),
        grace: Duration::MAX,
        ..Limits::default()
    };
    assert!(spawner().run(sh("exit 0").limits(forever.clone())).unwrap().succeeded());
    let (command, said) = watched(sh(NEVER_ENDS).limits(forever));
    let child = spawner().spawn(command).unwrap();
    assert_eq!(Said::line(&said), "ready");
    child.stop();
    assert_eq!(child.wait().unwrap().ending, Ending::Stopped);
    let none = Limits {
        wall: Some(Duration::ZERO),
        idle: None,
        grace: Duration::ZERO,
        ..Limits::default()
    };
    let ending = spawner().run(sh(IGNORES_TERM).limits(none)).unwrap().ending;
    assert_eq!(ending, Ending::TimedOut(Limit::Wall));
}
