//! A seam for tests of crashes: with `WINDLASS_FAILPOINTS` set to a socket, every failpoint that this process passes is
//! named there, and it goes on when it is told to. Whoever listens may copy the world at that very instant, or end the
//! process. Without the variable a failpoint costs an atomic load.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, OnceLock, PoisonError};

use windlass_repo::failpoint::Side;

use crate::error::Error;

const SOCKET: &str = "WINDLASS_FAILPOINTS";

static LISTENER: OnceLock<Mutex<BufReader<UnixStream>>> = OnceLock::new();

/// Arms the failpoints, if somebody asks for it.
pub fn arm() -> Result<(), Error> {
    let Some(path) = std::env::var_os(SOCKET) else { return Ok(()) };
    let stream = UnixStream::connect(path).map_err(Error::output)?;
    if LISTENER.set(Mutex::new(BufReader::new(stream))).is_ok() {
        windlass_repo::failpoint::set(|name, side| match side {
            Side::Before => pass(name, "before"),
            Side::After => pass(name, "after"),
        });
        windlass_journal::failpoint::set(|name| match name.split_once('.') {
            Some((step, side)) => pass(step, side),
            None => pass(name, ""),
        })
        .map_err(|_| Error::defect())?;
    }
    Ok(())
}

/// One after the other, whichever thread it is.
fn pass(step: &str, side: &str) {
    let Some(listener) = LISTENER.get() else { return };
    let mut stream = listener.lock().unwrap_or_else(PoisonError::into_inner);
    let thread = std::thread::current();
    let line = format!("{}\t{step}\t{side}\n", thread.name().unwrap_or_default());
    // Once nobody listens any more, the failpoints are as if they were not there.
    if stream.get_mut().write_all(line.as_bytes()).is_ok() {
        let _ = stream.read_line(&mut String::new());
    }
}
