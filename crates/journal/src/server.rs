//! The socket at which the holder of the lock can be asked.
//!
//! A request is one line, a response is one line; what they mean is the engine's business. The
//! socket lies in the repository's directory. A socket's address may have 108 bytes only, which a
//! deep state directory exceeds, so it is addressed through the open directory. Only processes of
//! the same user are answered.

use std::{
    fs::{self, File, Permissions},
    io::{self, BufRead, BufReader, Read, Write},
    os::{
        fd::AsRawFd,
        unix::{
            fs::PermissionsExt,
            net::{UnixListener, UnixStream},
        },
    },
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use rustix::{
    net::{Shutdown, sockopt::socket_peercred},
    process::{Uid, getuid},
};

use crate::{error::Error, lock::Lock};

/// What the socket is called in a repository's directory.
pub const SOCKET: &str = "socket";
/// Longest request and longest response.
pub const MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024;

const CONNECTIONS_MAX: usize = 32;
/// A client that says nothing for so long is left alone.
const IDLE_MAX: Duration = Duration::from_secs(30);
/// Before another is let in, when there was nothing left to let one in with.
const PAUSE: Duration = Duration::from_millis(50);

type Handler = dyn Fn(Vec<u8>) -> Vec<u8> + Send + Sync;

/// Why there is no socket.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// It cannot be made.
    #[error("cannot serve at {path:?}: {source}")]
    Bind {
        /// Where.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Nobody can be told.
    #[error(transparent)]
    Announce(#[from] Error),
}

/// Answers requests for as long as it lives.
#[derive(Debug)]
pub struct Server {
    lock: Arc<Lock>,
    path: PathBuf,
    listener: Arc<UnixListener>,
    accepting: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves the lock's directory. The handler is called with each request, on a thread of the
    /// connection's own; what it returns is sent back and must be a single line.
    ///
    /// # Errors
    ///
    /// When the socket cannot be made or announced.
    pub fn bind(
        lock: Arc<Lock>,
        handler: impl Fn(Vec<u8>) -> Vec<u8> + Send + Sync + 'static,
    ) -> Result<Server, BindError> {
        Server::bind_for(lock, getuid(), Arc::new(handler))
    }

    fn bind_for(lock: Arc<Lock>, user: Uid, handler: Arc<Handler>) -> Result<Server, BindError> {
        let path = lock.dir().join(SOCKET);
        let failed = |source| BindError::Bind { path: path.clone(), source };
        // We have the lock, so whatever lies there is a dead process's.
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        let dir = Directory::open(lock.dir()).map_err(failed)?;
        let listener = Arc::new(UnixListener::bind(dir.address()).map_err(failed)?);
        fs::set_permissions(&path, Permissions::from_mode(0o600)).map_err(failed)?;
        let accepting = {
            let listener = Arc::clone(&listener);
            let accept = move || accept(&listener, user, &handler);
            thread::Builder::new()
                .name("journal-socket".to_owned())
                .spawn(accept)
                .map_err(failed)?
        };
        let server = Server { lock, path, listener, accepting: Some(accepting) };
        server.lock.announce(Some(&server.path))?;
        Ok(server)
    }

    /// Where the socket is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Server {
    /// The lock is still ours here, so the socket is too. A request that is being answered is
    /// answered to its end by its own thread.
    fn drop(&mut self) {
        let _ = rustix::net::shutdown(&*self.listener, Shutdown::Both);
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
        let _ = fs::remove_file(&self.path);
        let _ = self.lock.announce(None);
    }
}

/// An open directory, through which the socket in it has a short address.
pub(crate) struct Directory(File);

impl Directory {
    pub(crate) fn open(dir: &Path) -> io::Result<Directory> {
        File::open(dir).map(Directory)
    }

    pub(crate) fn address(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}/{SOCKET}", self.0.as_raw_fd()))
    }
}

/// Ends when the listener is shut down.
fn accept(listener: &UnixListener, user: Uid, handler: &Arc<Handler>) {
    let busy = Arc::new(AtomicUsize::new(0));
    loop {
        let stream = match listener.accept() {
            Ok((stream, _)) => stream,
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => return,
            // No file or no memory is left for it. That passes, and whoever asks can wait.
            Err(_) => {
                thread::sleep(PAUSE);
                continue;
            }
        };
        let known = socket_peercred(&stream).is_ok_and(|peer| peer.uid == user);
        let Some(seat) = known.then(|| Seat::take(&busy)).flatten() else { continue };
        let handler = Arc::clone(handler);
        let converse = move || {
            let _seat = seat;
            // A client that leaves early is no concern of ours.
            let _ = converse(&stream, &*handler);
        };
        // Without a thread the stream is dropped and the client told so by that.
        let _ = thread::Builder::new().name("journal-request".to_owned()).spawn(converse);
    }
}

/// One of a limited number of connections.
struct Seat(Arc<AtomicUsize>);

impl Seat {
    fn take(busy: &Arc<AtomicUsize>) -> Option<Seat> {
        let seat = Seat(Arc::clone(busy));
        (busy.fetch_add(1, Ordering::Relaxed) < CONNECTIONS_MAX).then_some(seat)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn converse(stream: &UnixStream, handler: &Handler) -> io::Result<()> {
    stream.set_read_timeout(Some(IDLE_MAX))?;
    stream.set_write_timeout(Some(IDLE_MAX))?;
    let mut reader = BufReader::new(stream);
    while let Some(request) = read_line(&mut reader)? {
        let mut response = handler(request);
        if response.contains(&b'\n') || response.len() > MESSAGE_BYTES_MAX {
            // It would be taken for several; better none.
            return Err(io::ErrorKind::InvalidData.into());
        }
        response.push(b'\n');
        (&*stream).write_all(&response)?;
    }
    Ok(())
}

/// One line without its end; none at the end of the stream. Half a line is an error.
pub(crate) fn read_line(reader: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    reader.take(MESSAGE_BYTES_MAX as u64 + 1).read_until(b'\n', &mut line)?;
    match line.pop() {
        None => Ok(None),
        Some(b'\n') => Ok(Some(line)),
        Some(_) if line.len() >= MESSAGE_BYTES_MAX => Err(io::ErrorKind::FileTooLarge.into()),
        Some(_) => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AskError, Holder, ask};

    #[test]
    fn a_stranger_is_not_answered() {
        let temp = tempfile::tempdir().unwrap();
        let lock = Arc::new(Lock::take(temp.path(), Holder::this_process("test", 0)).unwrap());
        let us = getuid();
        let someone = Uid::from_raw(us.as_raw() + 1);
        let asked = |user| {
            let handler = Arc::new(|request| request);
            let server = Server::bind_for(Arc::clone(&lock), user, handler).unwrap();
            let answer = ask(temp.path(), b"hello", Duration::from_secs(20));
            drop(server);
            answer
        };
        assert_eq!(asked(us).unwrap(), b"hello");
        assert!(matches!(asked(someone), Err(AskError::Closed)));
    }

    #[test]
    fn a_line_is_bounded_and_whole() {
        let read = |bytes: &[u8]| read_line(&mut BufReader::new(bytes)).map_err(|e| e.kind());
        assert_eq!(read(b""), Ok(None));
        assert_eq!(read(b"\n"), Ok(Some(vec![])));
        assert_eq!(read(b"one\ntwo\n"), Ok(Some(b"one".to_vec())));
        assert_eq!(read(b"half"), Err(io::ErrorKind::UnexpectedEof));
        let mut longest = vec![b'x'; MESSAGE_BYTES_MAX];
        longest.push(b'\n');
        assert_eq!(
            read(&longest).map(|line| line.map(|line| line.len())),
            Ok(Some(MESSAGE_BYTES_MAX))
        );
        longest.insert(0, b'x');
        assert_eq!(read(&longest), Err(io::ErrorKind::FileTooLarge));
    }

    #[test]
    fn there_are_only_so_many_seats() {
        let busy = Arc::new(AtomicUsize::new(0));
        let seats: Vec<_> = (0..CONNECTIONS_MAX).map(|_| Seat::take(&busy).unwrap()).collect();
        assert!(Seat::take(&busy).is_none());
        assert!(Seat::take(&busy).is_none());
        drop(seats);
        assert!(Seat::take(&busy).is_some());
    }
}
