//! HTTP/1.1, as much of it as agents use.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use thiserror::Error;

/// A head or a body that is longer is refused.
const HEAD_MAX: usize = 256 * 1024;
const BODY_MAX: usize = 256 * 1024 * 1024;
const HEADERS_MAX: usize = 128;

/// Why a request could not be read.
#[derive(Debug, Error)]
pub(crate) enum Unread {
    /// The client has gone, or was never there.
    #[error("the client left")]
    Left(#[from] io::Error),
    /// It is not HTTP as it is known here.
    #[error("{0}")]
    Bad(String),
}

fn bad(why: impl ToString) -> Unread {
    Unread::Bad(why.to_string())
}

/// A request, still without meaning.
#[derive(Debug)]
pub(crate) struct Raw {
    pub method: String,
    /// Where to, with what follows a question mark.
    pub path: String,
    /// Names are in small letters.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// Whether another may follow on this connection.
    pub keeps: bool,
}

impl Raw {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// One side of a connection: requests are read from it, and answers written to it.
pub(crate) struct Line {
    stream: Arc<TcpStream>,
    /// What has been read and not yet used.
    ahead: Vec<u8>,
}

impl Line {
    pub fn new(stream: Arc<TcpStream>) -> Self {
        Line { stream, ahead: Vec::new() }
    }

    /// The next request; nothing if the client has left in good order.
    pub fn request(&mut self) -> Result<Option<Raw>, Unread> {
        let Some(mut raw) = self.head()? else { return Ok(None) };
        if raw.header("expect").is_some_and(|what| what.eq_ignore_ascii_case("100-continue")) {
            self.send(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        raw.body = self.body(&raw)?;
        match raw.header("content-encoding") {
            None | Some("identity") => Ok(Some(raw)),
            Some(other) => Err(bad(format!("a body in {other} is not read here"))),
        }
    }

    fn head(&mut self) -> Result<Option<Raw>, Unread> {
        loop {
            if let Some((raw, length)) = parsed(&self.ahead)? {
                self.ahead.drain(..length);
                return Ok(Some(raw));
            }
            if self.ahead.len() > HEAD_MAX {
                return Err(bad("the head is too long"));
            }
            if !self.more()? {
                return if self.ahead.is_empty() { Ok(None) } else { Err(gone().into()) };
            }
        }
    }

    fn body(&mut self, raw: &Raw) -> Result<Vec<u8>, Unread> {
        if raw.header("transfer-encoding").is_some_and(|what| what.contains("chunked")) {
            return self.chunks();
        }
        match raw.header("content-length") {
            None => Ok(Vec::new()),
            Some(length) => {
                let length = length.parse().map_err(|_| bad("a length that is no number"))?;
                self.exactly(length)
            }
        }
    }

    fn chunks(&mut self) -> Result<Vec<u8>, Unread> {
        let mut body = Vec::new();
        loop {
            let line = self.line()?;
            let size = line.split(';').next().unwrap_or_default().trim();
            let size =
                usize::from_str_radix(size, 16).map_err(|_| bad("a chunk without a size"))?;
            if body.len() + size > BODY_MAX {
                return Err(bad("the body is too long"));
            }
            if size == 0 {
                while !self.line()?.is_empty() {}
                return Ok(body);
            }
            body.extend(self.exactly(size)?);
            self.line()?;
        }
    }

    /// Up to the end of a line, without it.
    fn line(&mut self) -> Result<String, Unread> {
        loop {
            if let Some(end) = self.ahead.windows(2).position(|two| two == b"\r\n") {
                let line = self.ahead.drain(..end + 2).take(end).collect();
                return String::from_utf8(line).map_err(bad);
            }
            if self.ahead.len() > HEAD_MAX {
                return Err(bad("a line is too long"));
            }
            if !self.more()? {
                return Err(gone().into());
            }
        }
    }

    fn exactly(&mut self, length: usize) -> Result<Vec<u8>, Unread> {
        if length > BODY_MAX {
            return Err(bad("the body is too long"));
        }
        while self.ahead.len() < length {
            if !self.more()? {
                return Err(gone().into());
            }
        }
        Ok(self.ahead.drain(..length).collect())
    }

    /// Reads on; false if nothing more will come.
    fn more(&mut self) -> io::Result<bool> {
        let mut buffer = [0; 16 * 1024];
        let length = (&*self.stream).read(&mut buffer)?;
        self.ahead.extend_from_slice(&buffer[..length]);
        Ok(length > 0)
    }

    /// Waits until the client has gone, or the server closes the connection.
    pub fn wait_for_the_end(&mut self) {
        while let Ok(true) = self.more() {}
    }

    /// A whole answer.
    pub fn answer(&self, answer: &Whole<'_>) -> io::Result<()> {
        let Whole { status, headers, body, shown, .. } = answer;
        let mut head = format!("HTTP/1.1 {status} {}\r\n", reason(*status));
        for (name, value) in *headers {
            head += &format!("{name}: {value}\r\n");
        }
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
            head += "content-type: application/json\r\n";
        }
        head += &format!("content-length: {}\r\n\r\n", body.len());
        let mut bytes = head.into_bytes();
        if *shown {
            bytes.extend_from_slice(body);
        }
        self.send(&bytes)
    }

    /// The head of an answer that comes event by event.
    pub fn begin_events(&self, headers: &[(String, String)]) -> io::Result<()> {
        let more: String =
            headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n\
                    cache-control: no-cache\r\ntransfer-encoding: chunked\r\n";
        self.send(format!("{head}{more}\r\n").as_bytes())
    }

    /// One event.
    pub fn event(&self, event: &str) -> io::Result<()> {
        self.send(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes())
    }

    /// No more events.
    pub fn end_events(&self) -> io::Result<()> {
        self.send(b"0\r\n\r\n")
    }

    fn send(&self, bytes: &[u8]) -> io::Result<()> {
        (&*self.stream).write_all(bytes)
    }
}

/// An answer that is sent at once.
pub(crate) struct Whole<'a> {
    pub status: u16,
    pub headers: &'a [(String, String)],
    pub body: &'a [u8],
    /// Whether the body is sent too; not for `HEAD`.
    pub shown: bool,
}

fn gone() -> io::Error {
    io::ErrorKind::UnexpectedEof.into()
}

/// The head of a request and its length, if it is all there.
fn parsed(bytes: &[u8]) -> Result<Option<(Raw, usize)>, Unread> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut head = httparse::Request::new(&mut headers);
    let httparse::Status::Complete(length) = head.parse(bytes).map_err(bad)? else {
        return Ok(None);
    };
    let headers: Vec<_> = head
        .headers
        .iter()
        .map(|header| {
            let value = String::from_utf8_lossy(header.value).into_owned();
            (header.name.to_ascii_lowercase(), value)
        })
        .collect();
    let mut raw = Raw {
        method: head.method.unwrap_or_default().to_owned(),
        path: head.path.unwrap_or_default().to_owned(),
        headers,
        body: Vec::new(),
        keeps: true,
    };
    let wish = raw.header("connection").unwrap_or_default().to_ascii_lowercase();
    raw.keeps = if head.version == Some(1) { wish != "close" } else { wish == "keep-alive" };
    Ok(Some((raw, length)))
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        529 => "Overloaded",
        _ => "Answered",
    }
}
