//! What programs leave behind, and what is none of our business.

use std::{io::Read, process::Stdio};

use windlass_process::{Ending, Stragglers};

use super::*;

/// Runs a script that prints the pid of something it leaves behind, and ends by itself.
fn ends_with_its_program(command: Command) {
    let (command, said) = watched(command.limits(grace(LONG)));
    let finished = spawner().run(command).expect("it runs");
    let (pid, held) = Said::pid(&said);
    assert!(held.has_ended(), "{pid} lives on");
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists(), "{pid} was not collected");
    assert_eq!(finished.ending, Ending::Exited(0));
    let expected = Stragglers { ended: 1, ..Stragglers::default() };
    assert_eq!(finished.stragglers, expected);
}

#[test]
fn a_background_child_that_holds_the_pipe_ends_with_its_program() {
    ends_with_its_program(sh("sleep 1000 & echo $!; exit 0"));
}

#[test]
fn a_child_in_a_group_of_its_own_ends_too() {
    let script = "set -m; sleep 1000 & echo $!; exit 0";
    ends_with_its_program(Command::new("bash", "/").arg("-c").arg(script));
}

#[test]
fn a_daemon_ends_too() {
    ends_with_its_program(python(&daemon("pass", "")));
}

#[test]
fn a_daemon_without_its_environment_ends_too() {
    let scrub = "os.execve('/bin/sleep', ['sleep', '1000'], {})";
    ends_with_its_program(python(&daemon(scrub, "")));
}

#[test]
fn a_daemon_with_other_limits_ends_too() {
    let lift = "resource.setrlimit(10, (resource.RLIM_INFINITY,) * 2)";
    ends_with_its_program(python(&daemon(lift, "")));
}

#[test]
fn a_daemon_that_has_ended_before_its_program_is_collected() {
    let script = daemon("os._exit(0)", "time.sleep(0.3)");
    let (command, said) = watched(python(&script));
    assert!(spawner().run(command).unwrap().succeeded());
    let (pid, held) = Said::pid(&said);
    assert!(held.has_ended());
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists(), "{pid} was not collected");
}

#[test]
fn waiting_for_a_straggler_takes_no_time_of_the_processor() {
    // Its program has ended, and it does not go until it is killed, a second later.
    let script = daemon("signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])", "");
    let (send, thread) = channel();
    let command = python(&script).limits(grace(Duration::from_secs(1))).watch(move |_, _| {
        let _ = send.send(std::fs::read_link("/proc/thread-self"));
    });
    let spawner = spawner();
    let finished = spawner.run(command).unwrap();
    let thread = std::path::Path::new("/proc").join(thread.recv().unwrap().unwrap());
    let times = std::fs::read_to_string(thread.join("schedstat")).unwrap();
    let on_processor_ns: u64 = times.split(' ').next().unwrap().parse().unwrap();
    assert_eq!(finished.stragglers.ended, 1);
    assert!(on_processor_ns < 200_000_000, "{on_processor_ns} ns");
}

#[test]
fn a_daemon_that_ignores_term_is_killed() {
    let ignore = "signal.signal(signal.SIGTERM, signal.SIG_IGN)";
    let script = daemon(ignore, "time.sleep(1000)");
    let (command, said) = watched(python(&script).limits(grace(Duration::from_millis(50))));
    let child = spawner().spawn(command).unwrap();
    let (_, held) = Said::pid(&said);
    child.stop();
    assert_eq!(child.wait().unwrap().ending, Ending::Stopped);
    assert!(held.has_ended());
}

#[test]
fn what_a_straggler_leaves_behind_ends_too() {
    // Each generation leaves the next one behind when it is asked to end, twice.
    let script = "
import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
for _ in range(3):
    if os.fork() > 0: os._exit(0)
    os.setsid()
    os.write(1, b'%d\\n' % os.getpid())
    signal.sigwait([signal.SIGTERM])
";
    let (command, said) = watched(python(script).limits(grace(LONG)));
    let finished = spawner().run(command).unwrap();
    assert_eq!(finished.stragglers, Stragglers { ended: 3, ..Stragglers::default() });
    for _ in 0..3 {
        let (pid, held) = Said::pid(&said);
        assert!(held.has_ended(), "{pid} lives on");
    }
}

#[test]
fn a_program_that_leaves_nothing_behind_has_no_stragglers() {
    let finished = spawner().run(sh("sleep 0.01 & wait; (true; true)")).unwrap();
    assert_eq!(finished.stragglers, Stragglers::default());
}

#[test]
fn a_stranger_that_holds_the_pipe_does_not_hold_us_up() {
    let (command, said) = watched(sh("echo $$; read forever; exec sleep 1000"));
    let child = spawner().spawn(command).unwrap();
    let (pid, _) = Said::pid(&said);
    // Not started by the spawner, so none of ours, but with the pipe open.
    let script = format!("exec 3> /proc/{pid}/fd/1; echo open; exec sleep 1000");
    let mut stranger = std::process::Command::new("sh");
    let mut stranger = stranger.args(["-c", &script]).stdout(Stdio::piped()).spawn().unwrap();
    let mut open = [0; 5];
    stranger.stdout.as_mut().unwrap().read_exact(&mut open).unwrap();
    assert_eq!(&open, b"open\n");
    child.stop();
    assert_eq!(child.wait().unwrap().ending, Ending::Stopped);
    assert!(stranger.try_wait().unwrap().is_none(), "the stranger was ended");
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}

#[test]
fn children_of_other_code_are_neither_ended_nor_collected() {
    // Its thread ends, so its child becomes one of our first thread, where orphans are found too.
    let other = |program: &'static str, arg: &'static str| {
        let start = move || std::process::Command::new(program).arg(arg).spawn().unwrap();
        std::thread::spawn(start).join().unwrap()
    };
    let mut sleeper = other("sleep", "1000");
    let mut short = other("false", "");
    let short_one = Held::new(i32::try_from(short.id()).unwrap());
    assert!(short_one.ends_within(LONG));
    ends_with_its_program(python(&daemon("pass", "")));
    ends_with_its_program(sh("sleep 1000 & echo $!; exit 0"));
    // Still there to be collected by whoever started it.
    assert_eq!(short.wait().unwrap().code(), Some(1));
    assert!(sleeper.try_wait().unwrap().is_none());
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
}

#[test]
fn the_stragglers_of_one_child_are_not_those_of_another() {
    let spawner = spawner();
    let (command, said) = watched(python(&daemon("pass", "time.sleep(1000)")));
    let child = spawner.spawn(command).unwrap();
    let (_, held) = Said::pid(&said);
    for _ in 0..5 {
        let finished = spawner.run(sh("sleep 1000 & exit 0")).unwrap();
        assert_eq!(finished.stragglers.ended, 1);
    }
    assert!(!held.has_ended());
    child.stop();
    assert_eq!(child.wait().unwrap().ending, Ending::Stopped);
    assert!(held.has_ended());
}

/// A Windlass inside ours, whose program has left a daemon behind.
fn inner_windlass(state: &std::path::Path) -> (windlass_process::Child, Held) {
    let script = daemon("pass", "time.sleep(1000)");
    let inner = Command::new(STAND_IN, "/").arg("windlass").arg(state);
    let (command, said) = watched(inner.args(["python3", "-c", &script]));
    let child = spawner().spawn(command).expect("the stand-in starts");
    loop {
        match Said::next(&said) {
            Said::Pid(_, held) => return (child, held),
            Said::Line(line) => assert!(line.starts_with("leader"), "{line}"),
        }
    }
}

#[test]
fn a_windlass_inside_another_is_ended_with_all_that_is_below_it() {
    let state = tempfile::tempdir().unwrap();
    let (child, held) = inner_windlass(state.path());
    // It does not clean up: TERM ends it, like any program that does not know better.
    child.stop();
    assert_eq!(child.wait().unwrap().ending, Ending::Stopped);
    assert!(held.has_ended());
}

#[test]
fn what_a_killed_windlass_leaves_behind_is_ended_by_the_one_around_it() {
    let state = tempfile::tempdir().unwrap();
    let (child, held) = inner_windlass(state.path());
    let pid = Pid::from_raw(child.pid()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    assert_eq!(child.wait().unwrap().ending, Ending::Signalled(9));
    assert!(held.has_ended());
}
