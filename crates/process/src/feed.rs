//! What is written to a program while it runs.
//!
//! A pipe whose one end is the program's standard input. Our end never blocks for longer than it was told to: a program that
//! reads nothing is nobody's reason to wait for ever.

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
    sync::Arc,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    pipe::{PipeFlags, pipe_with},
};

/// Writes what a program reads. The program meets the end when this is dropped.
#[derive(Debug)]
pub struct Feed {
    pipe: OwnedFd,
}

/// The program's end of it, for [`Stdin::Fed`](crate::Stdin::Fed).
#[derive(Clone, Debug)]
pub struct Fed {
    pub(crate) pipe: Arc<OwnedFd>,
}

impl Feed {
    /// Both ends. One program reads; who is given a copy of what another reads takes it from them.
    pub fn pair() -> io::Result<(Feed, Fed)> {
        let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
        rustix::io::ioctl_fionbio(&write, true)?;
        Ok((Feed { pipe: write }, Fed { pipe: Arc::new(read) }))
    }

    /// Writes all of it.
    ///
    /// # Errors
    ///
    /// When the program is gone, or has not read on for so long. Part of it may be written then.
    pub fn write(&mut self, mut bytes: &[u8], within: Duration) -> io::Result<()> {
        let from = Instant::now();
        while !bytes.is_empty() {
            match rustix::io::write(&self.pipe, bytes) {
                Ok(length) => bytes = &bytes[length..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    let left = within.saturating_sub(from.elapsed());
                    if left.is_zero() {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                    self.wait(left)?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn wait(&self, left: Duration) -> io::Result<()> {
        let mut fds = [PollFd::from_borrowed_fd(self.pipe.as_fd(), PollFlags::OUT)];
        let left = Timespec::try_from(left).map_err(|_| io::ErrorKind::InvalidInput)?;
        match poll(&mut fds, Some(&left)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
