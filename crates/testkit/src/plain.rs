//! A server on loopback that answers what a function says, request by request: for pretended services that are no model.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::http::{Line, Unread, Whole};

/// What somebody asked.
#[derive(Clone, Debug)]
pub struct Asked {
    /// `GET` and the like.
    pub method: String,
    /// Where to, with what follows a question mark.
    pub path: String,
    /// Names are in small letters.
    pub headers: Vec<(String, String)>,
    /// What came with it.
    pub body: Vec<u8>,
}

impl Asked {
    /// A header by its name in small letters.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// What becomes of it.
#[derive(Clone, Debug)]
pub enum Given {
    /// An answer.
    Answer {
        /// 200 and the like.
        status: u16,
        /// Besides what every answer has.
        headers: Vec<(String, String)>,
        /// The body; JSON, if no header says otherwise.
        body: Vec<u8>,
    },
    /// The connection is reset, and nobody knows what became of the request.
    Cut,
    /// Nothing more is heard until the client gives up.
    Silence,
}

/// Says what becomes of a request.
pub type Handler = dyn Fn(&Asked) -> Given + Send + Sync;

/// The server; dropped, it is gone.
pub struct Plain {
    shared: Arc<Shared>,
    port: u16,
    listener: Option<JoinHandle<()>>,
}

struct Shared {
    handler: Box<Handler>,
    closing: AtomicBool,
    /// Weak, so that a connection is closed when its thread is done with it.
    lines: Mutex<BTreeMap<u64, Weak<TcpStream>>>,
}

impl Shared {
    fn lines(&self) -> MutexGuard<'_, BTreeMap<u64, Weak<TcpStream>>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Plain {
    /// Starts one on a port; 0 is any that is free.
    ///
    /// # Errors
    ///
    /// If the port cannot be listened on.
    pub fn start(
        port: u16,
        handler: impl Fn(&Asked) -> Given + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared {
            handler: Box::new(handler),
            closing: AtomicBool::new(false),
            lines: Mutex::default(),
        });
        let own = Arc::clone(&shared);
        let listener = thread::Builder::new()
            .name("plain-server".into())
            .spawn(move || listen(&own, &listener))?;
        Ok(Plain { shared, port, listener: Some(listener) })
    }

    /// Where it is: `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Drop for Plain {
    fn drop(&mut self) {
        self.shared.closing.store(true, Ordering::SeqCst);
        // The listener looks at what it was told only when somebody comes.
        _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        if let Some(listener) = self.listener.take() {
            _ = listener.join();
        }
    }
}

fn listen(shared: &Arc<Shared>, listener: &TcpListener) {
    let mut threads: Vec<JoinHandle<()>> = Vec::new();
    for number in 0.. {
        let taken = listener.accept();
        if shared.closing.load(Ordering::SeqCst) {
            break;
        }
        let Ok((stream, _)) = taken else { continue };
        threads.retain(|thread| !thread.is_finished());
        let stream = Arc::new(stream);
        shared.lines().insert(number, Arc::downgrade(&stream));
        let own = Arc::clone(shared);
        let name = format!("plain-server {number}");
        threads.extend(thread::Builder::new().name(name).spawn(move || {
            serve(&own, stream);
            own.lines().remove(&number);
        }));
    }
    for line in shared.lines().values().filter_map(Weak::upgrade) {
        _ = line.shutdown(Shutdown::Both);
    }
    for thread in threads {
        _ = thread.join();
    }
}

/// Answers everything that comes on a connection, until one of both sides closes it.
fn serve(shared: &Shared, stream: Arc<TcpStream>) {
    let mut line = Line::new(Arc::clone(&stream));
    loop {
        let raw = match line.request() {
            Ok(Some(raw)) => raw,
            Ok(None) | Err(Unread::Left(_)) => return,
            Err(Unread::Bad(why)) => {
                _ = line.answer(&Whole {
                    status: 400,
                    headers: &[],
                    body: why.as_bytes(),
                    shown: true,
                });
                return;
            }
        };
        let keeps = raw.keeps;
        let asked =
            Asked { method: raw.method, path: raw.path, headers: raw.headers, body: raw.body };
        match (shared.handler)(&asked) {
            Given::Answer { status, headers, body } => {
                let shown = asked.method != "HEAD";
                let sent = line.answer(&Whole { status, headers: &headers, body: &body, shown });
                if sent.is_err() || !keeps {
                    return;
                }
            }
            Given::Cut => {
                // Closed without lingering, a connection is reset rather than ended.
                _ = rustix::net::sockopt::set_socket_linger(&*stream, Some(Duration::ZERO));
                return;
            }
            Given::Silence => return line.wait_for_the_end(),
        }
    }
}
