//! Who takes connections, a thread for each, and how all of that ends: when a listener is dropped, every connection is
//! closed and every thread has ended.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, JoinHandle};

/// Serves a connection until one of both sides closes it.
type Serve = dyn Fn(Arc<TcpStream>) + Send + Sync;

/// A port on 127.0.0.1 that is listened on.
pub struct Listener {
    shared: Arc<Shared>,
    port: u16,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    /// What its threads are called.
    name: &'static str,
    serve: Box<Serve>,
    closing: AtomicBool,
    /// Weak, so that a connection is closed when its thread is done with it.
    lines: Mutex<BTreeMap<u64, Weak<TcpStream>>>,
}

impl Shared {
    fn lines(&self) -> MutexGuard<'_, BTreeMap<u64, Weak<TcpStream>>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener {
    /// Listens on a port; 0 is any that is free.
    pub fn start(
        name: &'static str,
        port: u16,
        serve: impl Fn(Arc<TcpStream>) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let port = listener.local_addr()?.port();
        let serve: Box<Serve> = Box::new(serve);
        let (closing, lines) = (AtomicBool::new(false), Mutex::default());
        let shared = Arc::new(Shared { name, serve, closing, lines });
        let own = Arc::clone(&shared);
        let thread = thread::Builder::new().name(name.into());
        let thread = thread.spawn(move || listen(&own, &listener))?;
        Ok(Listener { shared, port, thread: Some(thread) })
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Where it is: `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.shared.closing.store(true, Ordering::SeqCst);
        // The thread looks at what it was told only when somebody comes.
        _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}

/// Takes connections until the listener closes, and ends when all of them have ended.
fn listen(shared: &Arc<Shared>, listener: &TcpListener) {
    let mut threads: Vec<JoinHandle<()>> = Vec::new();
    for number in 0.. {
        let taken = listener.accept();
        if shared.closing.load(Ordering::SeqCst) {
            break;
        }
        let Ok((stream, _)) = taken else { continue };
        threads.retain(|thread| !thread.is_finished());
        threads.extend(connect(shared, number, stream));
    }
    for line in shared.lines().values().filter_map(Weak::upgrade) {
        _ = line.shutdown(Shutdown::Both);
    }
    for thread in threads {
        _ = thread.join();
    }
}

fn connect(shared: &Arc<Shared>, number: u64, stream: TcpStream) -> io::Result<JoinHandle<()>> {
    stream.set_nodelay(true)?;
    let stream = Arc::new(stream);
    shared.lines().insert(number, Arc::downgrade(&stream));
    let own = Arc::clone(shared);
    thread::Builder::new().name(format!("{} {number}", shared.name)).spawn(move || {
        (own.serve)(stream);
        own.lines().remove(&number);
    })
}
