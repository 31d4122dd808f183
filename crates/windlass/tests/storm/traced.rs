//! The story is watched from outside: every system call of Windlass that writes, moves, starts or ends something is a
//! point, before it and after it, and at each of them the whole process is killed.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use nix::sys::ptrace;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::place::{Place, Seen, Tale};
use crate::results::Results;
use crate::{Dice, part, whole};

/// The calls that leave something behind, or that somebody else notices.
fn matters(call: i64) -> bool {
    const CALLS: &[nix::libc::c_long] = &[
        nix::libc::SYS_write,
        nix::libc::SYS_pwrite64,
        nix::libc::SYS_writev,
        nix::libc::SYS_sendto,
        nix::libc::SYS_sendmsg,
        nix::libc::SYS_fsync,
        nix::libc::SYS_fdatasync,
        nix::libc::SYS_ftruncate,
        nix::libc::SYS_fallocate,
        nix::libc::SYS_renameat,
        nix::libc::SYS_renameat2,
        nix::libc::SYS_unlinkat,
        nix::libc::SYS_mkdirat,
        nix::libc::SYS_linkat,
        nix::libc::SYS_symlinkat,
        nix::libc::SYS_fchmod,
        nix::libc::SYS_fchmodat,
        nix::libc::SYS_flock,
        nix::libc::SYS_clone,
        nix::libc::SYS_clone3,
        nix::libc::SYS_kill,
        nix::libc::SYS_pidfd_send_signal,
        nix::libc::SYS_bind,
        nix::libc::SYS_connect,
        #[cfg(target_arch = "x86_64")]
        nix::libc::SYS_rename,
        #[cfg(target_arch = "x86_64")]
        nix::libc::SYS_unlink,
        #[cfg(target_arch = "x86_64")]
        nix::libc::SYS_rmdir,
        #[cfg(target_arch = "x86_64")]
        nix::libc::SYS_mkdir,
        #[cfg(target_arch = "x86_64")]
        nix::libc::SYS_link,
        #[cfg(target_arch = "x86_64")]
        nix::libc::SYS_chmod,
    ];
    CALLS.contains(&call)
}

#[cfg(target_arch = "x86_64")]
fn call_of(thread: Pid) -> Option<i64> {
    ptrace::getregs(thread).ok().map(|regs| regs.orig_rax as i64)
}

#[cfg(target_arch = "aarch64")]
fn call_of(thread: Pid) -> Option<i64> {
    ptrace::getregset::<ptrace::regset::NT_PRSTATUS>(thread).ok().map(|regs| regs.regs[8] as i64)
}

/// Runs a command under our eyes and kills it at the point of this number. Says how many points it passed, and
/// whether it was killed.
#[allow(clippy::zombie_processes, reason = "who traces it reaps it")]
fn trace(command: Command, kill_at: Option<usize>) -> (usize, bool) {
    // It stops itself before it becomes what it is to be, so that nothing of it is missed.
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "kill -STOP $$; exec \"$0\" \"$@\""]);
    shell.arg(command.get_program()).args(command.get_args());
    if let Some(dir) = command.get_current_dir() {
        shell.current_dir(dir);
    }
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.stdin(std::process::Stdio::null());
    shell.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    shell.process_group(0);
    let child = shell.spawn().unwrap();
    let main = Pid::from_raw(i32::try_from(child.id()).unwrap());
    let stopped = waitpid(main, Some(WaitPidFlag::WUNTRACED)).unwrap();
    assert!(matches!(stopped, WaitStatus::Stopped(_, Signal::SIGSTOP)), "{stopped:?}");
    // Its threads are followed; the programs that it starts are not.
    let options = ptrace::Options::PTRACE_O_TRACESYSGOOD
        | ptrace::Options::PTRACE_O_TRACECLONE
        | ptrace::Options::PTRACE_O_TRACEEXEC
        | ptrace::Options::PTRACE_O_EXITKILL;
    ptrace::seize(main, options).unwrap();
    kill(main, Signal::SIGCONT).unwrap();
    let (mut points, mut began) = (0, false);
    // Threads of ours may have children of their own: those are none of our business.
    let flags = Some(WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD);
    loop {
        let status = match waitpid(None, flags) {
            Ok(status) => status,
            Err(nix::errno::Errno::ECHILD) => return (points, false),
            Err(error) => panic!("{error}"),
        };
        let (thread, signal) = match status {
            WaitStatus::PtraceSyscall(thread) => {
                if began && call_of(thread).is_some_and(matters) {
                    if kill_at == Some(points) {
                        kill(main, Signal::SIGKILL).unwrap();
                        // Every thread of it is reaped here.
                        while waitpid(None, flags).is_ok() {}
                        return (points, true);
                    }
                    points += 1;
                }
                (thread, None)
            }
            WaitStatus::PtraceEvent(thread, _, event) => {
                began |= event == nix::libc::PTRACE_EVENT_EXEC;
                (thread, None)
            }
            // The notice that a group stop is over, or a new thread's first stop.
            WaitStatus::Stopped(thread, Signal::SIGTRAP | Signal::SIGSTOP | Signal::SIGCONT) => {
                (thread, None)
            }
            WaitStatus::Stopped(thread, signal) => (thread, Some(signal)),
            WaitStatus::Exited(thread, _) | WaitStatus::Signaled(thread, _, _) => {
                if thread == main {
                    return (points, false);
                }
                continue;
            }
            _ => continue,
        };
        // A thread that has just died needs no leave to go on.
        let _ = ptrace::syscall(thread, signal);
    }
}

/// A story that is killed at one point, and taken up again.
fn killed(whole: &Seen, at: usize) -> (Option<String>, bool) {
    let dir = tempfile::tempdir().unwrap();
    let place = Place::new(Tale::Tasks, &dir.path().join("place"));
    let (_, died) = trace(place.start(), Some(at));
    let wrong = match place.finish() {
        Err(why) => Some(why),
        Ok(()) => place.compare(whole, 1),
    };
    (wrong, died)
}

/// How many points a story has.
fn points() -> usize {
    let dir = tempfile::tempdir().unwrap();
    let place = Place::new(Tale::Tasks, &dir.path().join("place"));
    let (points, _) = trace(place.start(), None);
    assert!(place.answer().is_some(), "it went as far as its question");
    points
}

mod slow {
    use super::*;

    #[test]
    fn killed_at_a_few_system_calls_the_story_comes_to_the_same() {
        let whole = whole(Tale::Tasks);
        let points = points();
        assert!(points >= 300, "{points} points");
        for at in Dice::new(0x7ace).sample(points, 4) {
            let (wrong, _) = killed(&whole, at);
            assert_eq!(wrong, None, "at point {at} of {points}");
        }
    }

    /// Four hundred of them, all over the story.
    #[test]
    #[ignore = "takes long: scripts/storm"]
    fn killed_at_any_system_call_the_story_comes_to_the_same() {
        let (part, parts) = part();
        let mut results = Results::open(&format!("traced-{part}-of-{parts}"));
        let whole = whole(Tale::Tasks);
        let points = points();
        let mut wrong = Vec::new();
        let picked = Dice::new(0xca11).sample(points, 400);
        for at in picked.into_iter().skip(part).step_by(parts) {
            let point = format!("{at} of {points}");
            if !results.has(&point) {
                let (found, was) = killed(&whole, at);
                let covers = if was { vec!["killed".to_owned()] } else { Vec::new() };
                results.add(&point, found.as_deref(), &covers);
                wrong.extend(found.map(|found| format!("at point {point}: {found}")));
            }
        }
        assert_eq!(wrong, Vec::<String>::new());
        let died = results.covers().count();
        assert!(died >= 300 / parts, "only {died} were killed at all");
    }
}
