//! What programs print.

use windlass_process::{Output, SpawnError};

use super::*;

#[test]
fn the_streams_are_kept_apart_and_raw() {
    let script = r"printf 'a\377\376b\0'; printf '\033[31merr' >&2";
    let finished = spawner().run(sh(script)).unwrap();
    assert_eq!(finished.stdout.whole().unwrap(), b"a\xff\xfeb\0");
    assert_eq!(finished.stderr.whole().unwrap(), b"\x1b[31merr");
}

#[test]
fn everything_printed_before_the_end_is_there() {
    // More than a pipe holds, from several writers, the last of them just before the end.
    let script = "for i in 1 2 3; do head -c 300000 /dev/zero | tr '\\0' $i; done; printf end";
    let finished = spawner().run(sh(script)).unwrap();
    let all = finished.stdout.whole().unwrap();
    assert_eq!(all.len(), 900_003);
    assert!(all.ends_with(b"333end"));
}

#[test]
fn what_is_still_in_the_pipe_at_the_end_is_there() {
    // A pipe of a megabyte, filled in one go.
    let script = "import fcntl, os
fcntl.fcntl(1, 1031, 1 << 20)
os.write(1, (b'%d\\n' % os.getpid()).ljust(1 << 20))";
    let mut first = true;
    let command = python(script).watch(move |_, chunk| {
        // Nobody reads on until the program has ended: this runs on the thread that reads.
        if std::mem::take(&mut first) {
            let line = chunk.split(|&byte| byte == b'\n').next().expect("a line");
            let pid = std::str::from_utf8(line).expect("text").parse().expect("a pid");
            assert!(Held::new(pid).ends_within(LONG));
        }
    });
    let finished = spawner().run(command).unwrap();
    assert!(finished.succeeded() && !finished.watch_panicked);
    assert_eq!(finished.stdout.total_bytes(), 1 << 20);
}

#[test]
fn a_program_that_closes_its_streams_is_still_waited_for() {
    let (command, said) = watched(sh("echo $$; exec >&- 2>&- </dev/null; sleep 0.3; exit 5"));
    let child = spawner().spawn(command).unwrap();
    let (_, held) = Said::pid(&said);
    assert_eq!(child.wait().unwrap().ending, windlass_process::Ending::Exited(5));
    assert!(held.has_ended());
}

#[test]
fn the_watch_sees_every_byte_in_order() {
    let (send, seen) = channel();
    let script = "for i in 1 2 3 4; do seq 1 20000; done; echo oops >&2";
    let command = sh(script).stderr(Output::keep(0, 0)).stdout(Output::keep(10, 10));
    let command = command.watch(move |stream, chunk| {
        let _ = send.send((stream, chunk.to_vec()));
    });
    let finished = spawner().run(command).unwrap();
    let (mut out, mut err) = (blake3::Hasher::new(), Vec::new());
    for (stream, chunk) in seen {
        match stream {
            Stream::Stdout => {
                out.update(&chunk);
            }
            Stream::Stderr => err.extend(chunk),
        }
    }
    assert_eq!(out.finalize(), finished.stdout.digest());
    assert_eq!(err, b"oops\n");
    assert_eq!(finished.stdout.head().unwrap(), b"1\n2\n3\n4\n5\n");
    assert_eq!(finished.stdout.tail().unwrap(), b"999\n20000\n");
    assert_eq!(finished.stderr.total_bytes(), 5);
}

#[test]
fn a_watch_that_panics_harms_only_itself() {
    let spawner = spawner();
    let (command, said) = watched(sh("echo ready; exec sleep 1000"));
    let other = spawner.spawn(command).unwrap();
    assert_eq!(Said::line(&said), "ready");
    let finished = spawner.run(sh("echo hello").watch(|_, _| panic!("a watch panics"))).unwrap();
    assert!(finished.watch_panicked && finished.succeeded());
    assert_eq!(text(&finished.stdout), "hello\n");
    other.stop();
    assert!(!other.wait().unwrap().watch_panicked);
}

#[test]
fn a_watch_cannot_start_a_program_but_may_stop_one() {
    let spawner = spawner();
    let inner = spawner.clone();
    let (send, refused) = channel();
    let finished = spawner.run(sh("echo hello").watch(move |_, _| {
        let _ = send.send(inner.spawn(sh("exit 0")).map(drop));
    }));
    assert!(finished.unwrap().succeeded());
    assert!(matches!(refused.recv().unwrap(), Err(SpawnError::FromWatch)));

    let sleeper = spawner.spawn(sh("exec sleep 1000")).unwrap();
    let stop = sleeper.clone();
    let finished = spawner.run(sh("echo hello").watch(move |_, _| stop.stop())).unwrap();
    assert!(finished.succeeded());
    assert_eq!(sleeper.wait().unwrap().ending, windlass_process::Ending::Stopped);
}

#[test]
fn a_file_of_the_caller_has_it_all_while_the_program_runs() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("stdout");
    let command = sh("echo one; exec sleep 1000").stdout(Output::default().in_file(&path));
    let (command, said) = watched(command);
    let child = spawner().spawn(command).unwrap();
    assert_eq!(Said::line(&said), "one");
    assert_eq!(std::fs::read(&path).unwrap(), b"one\n");
    child.stop();
    let finished = child.wait().unwrap();
    assert_eq!(finished.stdout.path(), Some(path.as_path()));
    // Nobody's file is overwritten, not even our own of before.
    let again = spawner().run(sh("echo two").stdout(Output::default().in_file(&path)));
    assert!(again.is_err());
    assert_eq!(std::fs::read(&path).unwrap(), b"one\n");
}
