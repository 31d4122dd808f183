//! `shell`: a command, in the lane, for so long and no longer.

use std::io::{self, PipeReader, Read};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use serde_json::Value;

use super::bounded::Kept;
use super::{Cannot, Did, Hands, number, text};

/// A command may take so long, if nobody says.
pub(super) const SECONDS: u64 = 120;
/// And never longer: whoever says nothing for ten minutes is taken for dead.
pub(super) const SECONDS_MAX: u64 = 540;
/// So much of what it prints is kept.
const KEPT_BYTES: usize = 256 << 10;
/// What somebody who left the group still holds open is not waited for any longer.
const LAST_WORDS: Duration = Duration::from_millis(300);

impl Hands {
    pub(super) fn shell(&self, input: &Value) -> Result<Did, Cannot> {
        let command = text(input, "command")?;
        let seconds = number(input, "seconds").unwrap_or(SECONDS).clamp(1, SECONDS_MAX);
        let (printed, ending) = self
            .run(command, Duration::from_secs(seconds))
            .map_err(|error| format!("the command could not be run: {error}"))?;
        match ending {
            Some(0) if printed.is_empty() => Ok(Did::said("(it printed nothing)")),
            Some(0) => Ok(Did::said(printed)),
            Some(code) => Err(format!("{printed}\n[it ended with {code}]")),
            None => {
                Err(format!("{printed}\n[it took longer than {seconds} seconds and was ended]"))
            }
        }
    }

    /// What a command printed, and what it ended with, if it did.
    fn run(&self, command: &str, limit: Duration) -> io::Result<(String, Option<i32>)> {
        let (reader, writer) = io::pipe()?;
        let mut sh = Command::new("sh");
        sh.arg("-c").arg(command).current_dir(&self.lane).process_group(0);
        sh.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        for name in &self.withheld {
            sh.env_remove(name);
        }
        let mut child = sh.spawn()?;
        // Its own copies of the pipe's end are closed with it.
        drop(sh);
        let kept = Arc::new(Mutex::new(Kept::new(KEPT_BYTES)));
        let over = hears(reader, kept.clone());
        let in_time = ends_in_time(&child, limit);
        // Whatever it started ends with it.
        let group = Pid::from_child(&child);
        let _ = kill_process_group(group, Signal::KILL);
        let status = child.wait()?;
        let _ = over.recv_timeout(LAST_WORDS);
        let printed = kept.lock().unwrap_or_else(PoisonError::into_inner).text();
        let code = status.code().or(status.signal().map(|signal| 128 + signal));
        Ok((printed, code.filter(|_| in_time.unwrap_or(false))))
    }
}

/// Takes in what is printed, beside; says when there will be no more.
fn hears(mut reader: PipeReader, kept: Arc<Mutex<Kept>>) -> mpsc::Receiver<()> {
    let (done, over) = mpsc::channel();
    thread::spawn(move || {
        let mut piece = [0; 8 * 1024];
        while let Ok(length @ 1..) = reader.read(&mut piece) {
            kept.lock().unwrap_or_else(PoisonError::into_inner).take(&piece[..length]);
        }
        let _ = done.send(());
    });
    over
}

/// Waits until a command has ended, or its time is over; which of both.
fn ends_in_time(child: &Child, limit: Duration) -> io::Result<bool> {
    let pidfd = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    let limit = Timespec::try_from(limit).map_err(io::Error::other)?;
    loop {
        match poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], Some(&limit)) {
            Ok(ready) => return Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
