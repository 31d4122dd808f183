//! A server on loopback that answers what a function says, request by request: for pretended services that are no model.

use std::io;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use crate::http::{Line, Unread, Whole};
use crate::listener::Listener;

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
    listener: Listener,
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
        let serve = move |stream| serve(&handler, stream);
        Ok(Plain { listener: Listener::start("plain-server", port, serve)? })
    }

    /// Where it is: `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> String {
        self.listener.url()
    }
}

/// Answers everything that comes on a connection, until one of both sides closes it.
fn serve(handler: &Handler, stream: Arc<TcpStream>) {
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
        match handler(&asked) {
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
