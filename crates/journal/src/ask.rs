//! Asking the holder of the lock.

use std::{
    io::{self, BufReader, Read, Write},
    os::unix::net::UnixStream,
    path::Path,
    time::{Duration, Instant},
};

use rustix::{
    io::Errno,
    net::{
        AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with,
        sockopt::{Timeout, set_socket_timeout, socket_peercred},
    },
    process::getuid,
};

use crate::server::{Directory, MESSAGE_BYTES_MAX, read_line};

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// No process serves that directory.
    #[error("no Windlass is running for this repository")]
    Nobody,
    /// The answer did not come in time.
    #[error("the running Windlass gave no answer within {} ms", .0.as_millis())]
    TimedOut(Duration),
    /// It hung up: it is ending, too busy, or did not understand.
    #[error("the running Windlass hung up without an answer")]
    Closed,
    /// More than is sent in one piece.
    #[error("the request has {0} bytes, but at most {MESSAGE_BYTES_MAX} are sent")]
    TooLarge(usize),
    /// A request is one line.
    #[error("the request contains a line break")]
    LineBreak,
    /// The socket is somebody else's.
    #[error("the socket in the state directory belongs to user {0}: nothing was sent")]
    Stranger(u32),
    /// The system failed.
    #[error("cannot ask the running Windlass: {0}")]
    Io(#[from] io::Error),
}

/// Sends one request to the process that holds the lock of a repository's directory, and waits for
/// its response, no longer than `timeout` for all of it.
///
/// # Errors
///
/// When nobody is there, or no whole answer comes in time.
pub fn ask(dir: &Path, request: &[u8], timeout: Duration) -> Result<Vec<u8>, AskError> {
    if request.len() > MESSAGE_BYTES_MAX {
        return Err(AskError::TooLarge(request.len()));
    }
    if request.contains(&b'\n') {
        return Err(AskError::LineBreak);
    }
    let until = Until { deadline: Instant::now() + timeout, timeout };
    let stream = open(dir, &until)?;
    let peer = socket_peercred(&stream).map_err(io::Error::from)?;
    if peer.uid != getuid() {
        return Err(AskError::Stranger(peer.uid.as_raw()));
    }
    let mut line = request.to_owned();
    line.push(b'\n');
    send(&stream, &line, &until)?;
    let mut reader = BufReader::new(Patient { stream: &stream, until: &until });
    match read_line(&mut reader) {
        Ok(Some(response)) => Ok(response),
        Ok(None) => Err(AskError::Closed),
        Err(error) => Err(until.explain(error)),
    }
}

fn open(dir: &Path, until: &Until) -> Result<UnixStream, AskError> {
    let dir = match Directory::open(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(AskError::Nobody),
        dir => dir?,
    };
    let address = SocketAddrUnix::new(dir.address()).map_err(io::Error::from)?;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
        .map_err(io::Error::from)?;
    loop {
        // Connecting waits when the server does not keep up with accepting. Whoever is stopped
        // meanwhile and goes on is interrupted.
        set_socket_timeout(&socket, Timeout::Send, Some(until.left()?)).map_err(io::Error::from)?;
        match connect(&socket, &address) {
            Ok(()) => return Ok(UnixStream::from(socket)),
            Err(Errno::INTR) => {}
            Err(Errno::NOENT | Errno::CONNREFUSED) => return Err(AskError::Nobody),
            Err(error) => return Err(until.explain(error.into())),
        }
    }
}

fn send(mut stream: &UnixStream, mut line: &[u8], until: &Until) -> Result<(), AskError> {
    while !line.is_empty() {
        stream.set_write_timeout(Some(until.left()?))?;
        match stream.write(line) {
            Ok(n) => line = &line[n..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(until.explain(error)),
        }
    }
    Ok(())
}

/// The end of our patience.
struct Until {
    deadline: Instant,
    timeout: Duration,
}

impl Until {
    fn left(&self) -> Result<Duration, AskError> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(AskError::TimedOut(self.timeout)) } else { Ok(left) }
    }

    fn explain(&self, error: io::Error) -> AskError {
        use io::ErrorKind as Kind;
        match error.kind() {
            Kind::WouldBlock | Kind::TimedOut => AskError::TimedOut(self.timeout),
            Kind::BrokenPipe | Kind::ConnectionReset | Kind::UnexpectedEof => AskError::Closed,
            _ => AskError::Io(error),
        }
    }
}

/// Reads, but not beyond the deadline as a whole.
struct Patient<'a> {
    stream: &'a UnixStream,
    until: &'a Until,
}

impl Read for Patient<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.until.left().map_err(|_| io::ErrorKind::TimedOut)?;
        self.stream.set_read_timeout(Some(left))?;
        self.stream.read(buffer)
    }
}
