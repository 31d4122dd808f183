//! Real programs that misbehave in every way we promise to survive.

mod crash;
mod ending;
mod hostile;
mod limits;
mod output;
mod refusal;
mod sandbox;
mod slow;
mod starting;
mod straggler;
mod walls;

use std::{
    os::fd::{AsFd, OwnedFd},
    sync::mpsc::{Receiver, channel},
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, pidfd_open},
};
use windlass_process::{Command, Limits, Spawner, Stream};

/// The program in `tests/stand_in`.
const STAND_IN: &str = env!("CARGO_BIN_EXE_windlass-process-stand-in");
/// How long a test waits for what must happen. It never takes that long unless it is broken.
const LONG: Duration = Duration::from_secs(20);

fn spawner() -> Spawner {
    Spawner::start().expect("a spawner starts")
}

fn sh(script: &str) -> Command {
    Command::new("/bin/sh", "/").arg("-c").arg(script)
}

fn python(script: &str) -> Command {
    Command::new("python3", "/").arg("-c").arg(script)
}

/// A double fork with a session of its own. The daemon does `daemon` and stays; only then its pid
/// is printed and its program goes on with `after`.
fn daemon(daemon: &str, after: &str) -> String {
    format!(
        "
import os, resource, signal, sys, time
told, tell = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(tell, b'%d\\n' % os.getpid())
        {daemon}
        os.close(tell)
        while True: signal.pause()
    os._exit(0)
os.close(tell)
os.wait()
pid = os.read(told, 99)
os.read(told, 1)
os.write(1, pid)
{after}
"
    )
}

fn grace(grace: Duration) -> Limits {
    Limits { grace, ..Limits::default() }
}

/// A process that is held on to, so that its end can be told from the end of another.
struct Held(OwnedFd);

impl Held {
    fn new(pid: i32) -> Held {
        let pid = Pid::from_raw(pid).expect("a pid");
        Held(pidfd_open(pid, PidfdFlags::empty()).expect("a process that is there"))
    }

    fn ends_within(&self, wait: Duration) -> bool {
        let fd = self.0.as_fd();
        let timeout = Timespec {
            tv_sec: i64::try_from(wait.as_secs()).expect("a short time"),
            tv_nsec: wait.subsec_nanos().into(),
        };
        let mut fds = [PollFd::new(&fd, PollFlags::IN)];
        poll(&mut fds, Some(&timeout)).expect("poll") > 0
    }

    fn has_ended(&self) -> bool {
        self.ends_within(Duration::ZERO)
    }
}

/// Takes hold of every process whose pid the program prints on a line of its own, as soon as it
/// does, and passes on the other lines.
fn watched(command: Command) -> (Command, Receiver<Said>) {
    let (send, said) = channel();
    let mut line = Vec::new();
    let command = command.watch(move |stream, chunk| {
        for &byte in chunk.iter().filter(|_| stream == Stream::Stdout) {
            if byte != b'\n' {
                line.push(byte);
                continue;
            }
            let text = String::from_utf8_lossy(&std::mem::take(&mut line)).into_owned();
            let said = match text.parse() {
                Ok(pid) => Said::Pid(pid, Held::new(pid)),
                Err(_) => Said::Line(text),
            };
            // The test may have heard enough.
            let _ = send.send(said);
        }
    });
    (command, said)
}

enum Said {
    Pid(i32, Held),
    Line(String),
}

impl Said {
    fn next(said: &Receiver<Said>) -> Said {
        said.recv_timeout(LONG).expect("a line from the program")
    }

    fn pid(said: &Receiver<Said>) -> (i32, Held) {
        match Said::next(said) {
            Said::Pid(pid, held) => (pid, held),
            Said::Line(line) => panic!("{line:?} is no pid"),
        }
    }

    fn line(said: &Receiver<Said>) -> String {
        match Said::next(said) {
            Said::Line(line) => line,
            Said::Pid(pid, _) => pid.to_string(),
        }
    }
}

fn text(captured: &windlass_process::Captured) -> String {
    String::from_utf8(captured.whole().expect("all of it")).expect("text")
}
