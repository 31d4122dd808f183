//! The server's process: started in the lane, with a home of its own, and ended with everything it has started.

use std::io::{self, Read};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use windlass_agents::AcpServer;

/// So long it may take to end by itself once nobody speaks to it any more, and once it was asked to end.
const GRACE: [Duration; 2] = [Duration::from_millis(700), Duration::from_millis(500)];
/// It is looked this often whether it has ended.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// So much is kept of what it complains about: the end.
const COMPLAINT_BYTES: usize = 64 << 10;

/// A server that was started.
pub(crate) struct Server {
    child: Child,
    complaint: Arc<Mutex<Vec<u8>>>,
    listener: JoinHandle<()>,
}

/// Where programs look for what is a person's, below their home.
const PLACES: [(&str, &str); 4] = [
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
    ("XDG_CACHE_HOME", ".cache"),
];

impl Server {
    /// Starts it; with what it writes to, and what it reads from.
    pub fn start(
        server: &AcpServer,
        lane: &Path,
        home: &Path,
    ) -> io::Result<(Server, ChildStdout, ChildStdin)> {
        let (program, args) = server.command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        command.args(args).current_dir(lane);
        command.env("HOME", home);
        for (name, below) in PLACES {
            command.env(name, home.join(below));
        }
        command.envs(&server.set);
        // In a group of its own, so that whoever it starts can be ended with it; the session stays the same.
        command.process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let taken = (child.stdout.take(), child.stdin.take(), child.stderr.take());
        let (Some(stdout), Some(stdin), Some(stderr)) = taken else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let complaint = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&complaint);
        let listener = thread::Builder::new()
            .name("complaints".to_owned())
            .spawn(move || keep(stderr, &kept))?;
        Ok((Server { child, complaint, listener }, stdout, stdin))
    }

    /// Ends it, if it has not ended by itself, and everything that came from it: how it ended, if that was by itself, and what
    /// it complained about last.
    pub fn end(mut self) -> (Option<ExitStatus>, String) {
        let by_itself = self.has_ended(GRACE[0]);
        if !by_itself {
            self.signal(Signal::TERM);
            self.has_ended(GRACE[1]);
        }
        // Also when it has ended: what it has started may be there. It is not collected yet, so its number is its own.
        self.signal(Signal::KILL);
        let status = self.child.wait().ok();
        // Who holds its stream may be outside of its group.
        let until = Instant::now() + GRACE[1];
        while !self.listener.is_finished() && Instant::now() < until {
            thread::park_timeout(LOOK_EVERY);
        }
        let complaint = String::from_utf8_lossy(&lock(&self.complaint)).into_owned();
        (status.filter(|_| by_itself), complaint)
    }

    /// Whether it ends in time.
    fn has_ended(&self, at_most: Duration) -> bool {
        let until = Instant::now() + at_most;
        let Some(pid) = self.pid() else { return true };
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        loop {
            match waitid(WaitId::Pid(pid), look) {
                Ok(None) | Err(Errno::INTR) if Instant::now() < until => {
                    thread::park_timeout(LOOK_EVERY);
                }
                Ok(None) | Err(Errno::INTR) => return false,
                Ok(Some(_)) | Err(_) => return true,
            }
        }
    }

    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.pid() {
            let _ = kill_process_group(group, signal);
        }
    }
}

fn lock(complaint: &Mutex<Vec<u8>>) -> MutexGuard<'_, Vec<u8>> {
    complaint.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps the end of what it complains about. It is not handed on at once: a server that complains of its provider for
/// ever would not be silent then, and nobody would stop it.
fn keep(mut stderr: impl Read, kept: &Mutex<Vec<u8>>) {
    let mut piece = [0; 4096];
    loop {
        match stderr.read(&mut piece) {
            Ok(0) => return,
            Ok(read) => {
                let mut kept = lock(kept);
                kept.extend_from_slice(piece.get(..read).unwrap_or_default());
                if kept.len() > 2 * COMPLAINT_BYTES {
                    let from = kept.len() - COMPLAINT_BYTES;
                    kept.drain(..from);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}
