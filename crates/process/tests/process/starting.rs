//! How a program finds the world when it starts.

use std::os::fd::AsRawFd;
use std::time::Duration;

use windlass_process::{Env, Feed, Stdin};

use super::*;

#[test]
fn it_has_a_session_and_a_group_of_its_own() {
    let spawner = spawner();
    let child = spawner.spawn(python("import os; print(os.getpid(), os.getpgid(0), os.getsid(0))"));
    let child = child.unwrap();
    let finished = child.wait().unwrap();
    let pid = child.pid();
    assert_eq!(text(&finished.stdout), format!("{pid} {pid} {pid}\n"));
    assert_eq!(child.started().pid, pid);
}

#[test]
fn its_identity_is_what_the_kernel_says() {
    let (command, said) = watched(sh("echo ready; exec sleep 1000"));
    let child = spawner().spawn(command).unwrap();
    assert_eq!(Said::line(&said), "ready");
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.pid())).unwrap();
    let start = stat.split_ascii_whitespace().nth(21).unwrap();
    assert_eq!(start.parse::<u64>().unwrap(), child.started().at_ticks);
    assert!(child.started().at_ticks > 0);
}

#[test]
fn its_signals_are_at_their_defaults() {
    // The runtime of Rust ignores PIPE, and the spawner's thread blocks everything.
    let status = spawner().run(Command::new("cat", "/").arg("/proc/self/status")).unwrap();
    let status = text(&status.stdout);
    for field in ["SigIgn", "SigBlk", "SigCgt"] {
        let line = status.lines().find(|line| line.starts_with(field)).unwrap();
        assert_eq!(line, format!("{field}:\t0000000000000000"));
    }
}

#[test]
fn it_inherits_no_file() {
    let file = std::fs::File::open("/dev/null").unwrap();
    // Without close-on-exec, as careless code would leave it.
    let careless = rustix::io::fcntl_dupfd_cloexec(&file, 200).unwrap();
    rustix::io::fcntl_setfd(&careless, rustix::io::FdFlags::empty()).unwrap();
    assert!(careless.as_raw_fd() >= 200);
    let script = "import os; print(max(int(fd) for fd in os.listdir('/proc/self/fd')))";
    let finished = spawner().run(python(script)).unwrap();
    // 0, 1, 2 and the directory that was just read.
    assert_eq!(text(&finished.stdout), "3\n");
}

#[test]
fn its_environment_is_what_was_given_and_its_token() {
    let env = Env::empty().set("PATH", "/usr/bin:/bin").set("A", "1 2");
    let finished = spawner().run(Command::new("env", "/").env(env)).unwrap();
    let mut lines: Vec<_> = text(&finished.stdout).lines().map(str::to_owned).collect();
    lines.sort();
    assert_eq!(lines[..2], ["A=1 2", "PATH=/usr/bin:/bin"]);
    assert!(lines[2].starts_with("WINDLASS_CHILD="), "{lines:?}");
    assert_eq!(lines.len(), 3);
}

#[test]
fn it_reads_nothing_and_meets_the_end_at_once() {
    let finished = spawner().run(Command::new("cat", "/")).unwrap();
    assert!(finished.succeeded());
    assert_eq!(finished.stdout.total_bytes(), 0);
}

#[test]
fn it_reads_what_it_was_given_however_long() {
    let bytes: Vec<u8> = (0..3_000_000_u32).flat_map(u32::to_le_bytes).collect();
    let digest = blake3::hash(&bytes);
    let finished = spawner().run(Command::new("cat", "/").stdin(Stdin::Bytes(bytes))).unwrap();
    assert!(finished.succeeded());
    assert_eq!(finished.stdout.digest(), digest);
}

#[test]
fn what_it_was_given_need_not_be_read() {
    let bytes = vec![b'x'; 1_000_000];
    let finished = spawner().run(sh("exit 3").stdin(Stdin::Bytes(bytes))).unwrap();
    assert_eq!(finished.ending, windlass_process::Ending::Exited(3));
}

#[test]
fn it_can_be_written_to_while_it_runs() {
    let (mut feed, fed) = Feed::pair().unwrap();
    let (command, said) = watched(Command::new("cat", "/").stdin(Stdin::Fed(fed)));
    let child = spawner().spawn(command).unwrap();
    for line in ["one", "two"] {
        feed.write(format!("{line}\n").as_bytes(), Duration::from_secs(20)).unwrap();
        assert_eq!(Said::line(&said), line);
    }
    drop(feed);
    assert!(child.wait().unwrap().succeeded());
}

#[test]
fn who_reads_nothing_is_not_waited_for() {
    let (mut feed, fed) = Feed::pair().unwrap();
    let (command, said) = watched(sh("echo ready; exec sleep 1000").stdin(Stdin::Fed(fed)));
    let child = spawner().spawn(command).unwrap();
    assert_eq!(Said::line(&said), "ready");
    let much = vec![b'x'; 2_000_000];
    let error = feed.write(&much, Duration::from_millis(50)).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
    child.stop();
    let _ = child.wait();
    let error = feed.write(b"x", Duration::from_millis(50)).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
}

#[test]
fn its_umask_is_not_ours() {
    let finished = spawner().run(sh("umask").umask(0o027)).unwrap();
    assert_eq!(text(&finished.stdout), "0027\n");
    let script = format!("umask 077; exec {STAND_IN} run /bin/sh -c umask");
    let finished = spawner().run(sh(&script)).unwrap();
    assert_eq!(text(&finished.stdout), "0022\n");
}

#[test]
fn it_runs_where_it_was_told_to() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().canonicalize().unwrap();
    let finished = spawner().run(Command::new("pwd", &path)).unwrap();
    assert_eq!(text(&finished.stdout).trim_end(), path.to_str().unwrap());
}

#[test]
fn its_arguments_pass_through_no_shell() {
    let args = ["$HOME", "a b", "*", "; exit 1", "", "-n", "\u{1f9f5}"];
    let command = Command::new("printf", "/").arg("%s\\n").args(args);
    let finished = spawner().run(command).unwrap();
    assert_eq!(text(&finished.stdout).lines().collect::<Vec<_>>(), args);
}

#[test]
fn a_windlass_of_two_hundred_children_is_still_one_thread() {
    let spawner = spawner();
    let children: Vec<_> =
        (0..200).map(|_| spawner.spawn(sh("echo here; exec sleep 1000")).unwrap()).collect();
    for child in &children {
        assert!(!Held::new(child.pid()).has_ended());
    }
    let threads = std::fs::read_dir("/proc/self/task").unwrap().count();
    assert!(threads < 100, "{threads} threads");
    children.iter().for_each(windlass_process::Child::stop);
    for child in children {
        assert_eq!(child.wait().unwrap().ending, windlass_process::Ending::Stopped);
    }
}
