//! What the one thread waits on: ends of processes, output, and being woken.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    rc::Rc,
    time::Duration,
};

use rustix::{
    event::{
        Timespec,
        epoll::{self, CreateFlags, EventData, EventFlags},
    },
    io::Errno,
};

use crate::Stream;

/// Numbers the children of a spawner. No number is given twice.
pub(crate) type WardId = u64;

/// The longest wait in one go: the kernel takes no more than 24 days.
const WAIT_MAX: Duration = Duration::from_secs(24 * 3600);
/// How many of the ready are taken at a time; the others are found ready again.
const BATCH: usize = 256;

/// What has something to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A request has come in.
    Wake,
    /// A child's first process has ended.
    Leader(WardId),
    /// Another process of a child has ended.
    Member(WardId, i32),
    /// There is output, or the end of it.
    Output(WardId, Stream),
    /// The doorman of a child's sandbox has said something.
    Door(WardId),
}

/// A descriptor that is waited on for as long as it is held, or until it is settled.
pub(crate) struct Watched {
    fd: OwnedFd,
    epoll: Rc<OwnedFd>,
}

impl Watched {
    /// Waits on it no more. What has ended stays ready for ever, and would keep the thread busy.
    pub(crate) fn settle(&self) {
        // Not found: it was settled before.
        let _ = epoll::delete(&*self.epoll, &self.fd);
    }
}

impl AsFd for Watched {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Drop for Watched {
    // Closing alone is not enough while a process that some other code is just starting still has
    // a copy.
    fn drop(&mut self) {
        self.settle();
    }
}

pub(crate) struct Poller {
    epoll: Rc<OwnedFd>,
    events: Vec<epoll::Event>,
}

impl Poller {
    pub(crate) fn new() -> io::Result<Poller> {
        let epoll = Rc::new(epoll::create(CreateFlags::CLOEXEC)?);
        Ok(Poller { epoll, events: Vec::with_capacity(BATCH) })
    }

    pub(crate) fn watch(&self, fd: OwnedFd, source: Source) -> io::Result<Watched> {
        self.watch_for_good(&fd, source)?;
        Ok(Watched { fd, epoll: self.epoll.clone() })
    }

    /// For what lives as long as the poller does.
    pub(crate) fn watch_for_good(&self, fd: impl AsFd, source: Source) -> io::Result<()> {
        Ok(epoll::add(&*self.epoll, fd, EventData::new_u64(source.key()), EventFlags::IN)?)
    }

    /// Waits until something is ready or the time is up, and says what. By the time it is looked
    /// at, it may be held no more.
    pub(crate) fn wait(&mut self, timeout: Option<Duration>) -> io::Result<Vec<Source>> {
        let timeout = timeout.map(|timeout| {
            let timeout = timeout.min(WAIT_MAX);
            Timespec {
                tv_sec: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: timeout.subsec_nanos().into(),
            }
        });
        self.events.clear();
        let room = rustix::buffer::spare_capacity(&mut self.events);
        match epoll::wait(&*self.epoll, room, timeout.as_ref()) {
            Ok(_) => Ok(self.events.iter().map(|event| Source::of(event.data.u64())).collect()),
            // A signal: nothing is ready, and the caller looks at the time again.
            Err(Errno::INTR) => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Linux gives out no pid of more bits.
const PID_BITS: u32 = 22;

impl Source {
    /// As the number that the kernel hands back: two bits of kind, a pid, the rest for the child.
    fn key(self) -> u64 {
        let (kind, ward, detail) = match self {
            Source::Wake => (0, 0, 0),
            Source::Leader(ward) => (1, ward, 0),
            Source::Member(ward, pid) => (2, ward, u64::from(pid.cast_unsigned())),
            Source::Output(ward, Stream::Stdout) => (3, ward, 0),
            Source::Output(ward, Stream::Stderr) => (3, ward, 1),
            Source::Door(ward) => (3, ward, 2),
        };
        ward << (PID_BITS + 2) | detail << 2 | kind
    }

    fn of(key: u64) -> Source {
        let (ward, detail) = (key >> (PID_BITS + 2), key >> 2 & ((1 << PID_BITS) - 1));
        match (key & 3, detail) {
            (0, _) => Source::Wake,
            (1, _) => Source::Leader(ward),
            (2, pid) => Source::Member(ward, i32::try_from(pid).unwrap_or(0)),
            (_, 0) => Source::Output(ward, Stream::Stdout),
            (_, 1) => Source::Output(ward, Stream::Stderr),
            (_, _) => Source::Door(ward),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_key_stands_for_its_source(ward in 0_u64..1 << 40, pid in 1_i32..1 << PID_BITS) {
            let (out, err) = (Stream::Stdout, Stream::Stderr);
            for source in [
                Source::Wake,
                Source::Leader(ward),
                Source::Member(ward, pid),
                Source::Output(ward, out),
                Source::Output(ward, err),
                Source::Door(ward),
            ] {
                prop_assert_eq!(Source::of(source.key()), source);
            }
        }
    }
}
