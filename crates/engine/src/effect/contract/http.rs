//! One request to an app on this machine, and its answer: no more of HTTP than that takes.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// An answer is read so far.
const REPLY_BYTES_MAX: usize = 4 * 1024 * 1024;

/// What was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) body: Vec<u8>,
}

/// Asks, and waits for all of the answer, as long as it may take. Where it leads elsewhere, nobody follows.
pub(super) fn ask(
    at: SocketAddr,
    method: &str,
    path: &str,
    body: Option<&str>,
    within: Duration,
) -> io::Result<Reply> {
    let until = Instant::now() + within;
    let mut stream = TcpStream::connect_timeout(&at, within)?;
    stream.set_write_timeout(Some(within))?;
    let mut request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\nAccept: */*\r\n\
         Accept-Encoding: identity\r\nUser-Agent: windlass\r\n"
    );
    if let Some(body) = body {
        let kind = match body.trim_start().starts_with(['{', '[']) {
            true => "application/json",
            false => "application/x-www-form-urlencoded",
        };
        let length = body.len();
        request.push_str(&format!("Content-Type: {kind}\r\nContent-Length: {length}\r\n"));
    }
    request.push_str("\r\n");
    request.push_str(body.unwrap_or_default());
    stream.write_all(request.as_bytes())?;
    let mut bytes = Vec::new();
    let mut part = [0; 16 * 1024];
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut part) {
            Ok(0) => break,
            Ok(length) => bytes.extend_from_slice(&part[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Err(io::ErrorKind::TimedOut.into());
            }
            // It has hung up rudely, after it had said what it had to say.
            Err(_) if whole(&bytes, method).is_some() => break,
            Err(error) => return Err(error),
        }
        // Who keeps the line open all the same has said how long the answer is.
        if bytes.len() >= REPLY_BYTES_MAX || whole(&bytes, method) == Some(true) {
            break;
        }
    }
    reply(&bytes).ok_or_else(|| io::Error::other("what it says is no answer of HTTP"))
}

/// Whether an answer is all there; nothing where its head is not, or where only the end of the line tells.
fn whole(bytes: &[u8], method: &str) -> Option<bool> {
    let (head, body) = parts(bytes)?;
    if method == "HEAD" || matches!(status(&head)?, 204 | 304) {
        return Some(true);
    }
    if is_chunked(&head) {
        return Some(body.ends_with(b"0\r\n\r\n"));
    }
    let length: usize = field(&head, "content-length")?.parse().ok()?;
    Some(body.len() >= length)
}

fn reply(bytes: &[u8]) -> Option<Reply> {
    let (head, body) = parts(bytes)?;
    let body = if is_chunked(&head) { unchunked(body) } else { body.to_vec() };
    Some(Reply { status: status(&head)?, body })
}

/// The head and the body, without what was said on the way to them.
fn parts(mut bytes: &[u8]) -> Option<(String, &[u8])> {
    loop {
        let end = memchr::memmem::find(bytes, b"\r\n\r\n")?;
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        bytes = &bytes[end + 4..];
        if status(&head)? >= 200 {
            return Some((head, bytes));
        }
    }
}

fn status(head: &str) -> Option<u16> {
    let mut words = head.split(' ');
    words.next().filter(|version| version.starts_with("HTTP/"))?;
    words.next()?.get(..3)?.parse().ok()
}

fn field<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    let fields = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    let mut own = fields.filter(|(key, _)| key.trim().eq_ignore_ascii_case(name));
    own.next().map(|(_, value)| value.trim())
}

fn is_chunked(head: &str) -> bool {
    field(head, "transfer-encoding").is_some_and(|it| it.to_ascii_lowercase().contains("chunked"))
}

/// What chunks say together, as far as they can be understood.
fn unchunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = memchr::memmem::find(bytes, b"\r\n") {
        let size = String::from_utf8_lossy(&bytes[..end]);
        let size = size.split(';').next().unwrap_or_default().trim();
        let Ok(size) = usize::from_str_radix(size, 16) else { break };
        let rest = &bytes[end + 2..];
        let chunk = &rest[..size.min(rest.len())];
        body.extend_from_slice(chunk);
        // Each ends a line, and the last one is empty.
        match rest.get(chunk.len()..).and_then(|after| after.strip_prefix(b"\r\n")) {
            Some(next) if size > 0 => bytes = next,
            _ => break,
        }
    }
    body
}

#[cfg(test)]
mod tests {
    use std::io::BufRead as _;
    use std::net::{Ipv4Addr, TcpListener};
    use std::sync::mpsc::channel;

    use super::*;

    /// What comes of an answer, and what was asked.
    fn answered(
        answer: &'static [u8],
        method: &str,
        body: Option<&str>,
    ) -> (io::Result<Reply>, String) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let at = listener.local_addr().unwrap();
        let (tell, asked) = channel();
        let length = body.map_or(0, str::len);
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut reader = io::BufReader::new(stream.try_clone().unwrap());
            let mut said = String::new();
            while !said.ends_with("\r\n\r\n") && reader.read_line(&mut said).unwrap() > 0 {}
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            said.push_str(&String::from_utf8(body).unwrap());
            stream.write_all(answer).unwrap();
            tell.send(said).unwrap();
            // Held open: who has been told how long the answer is does not wait for its end.
            let _ = stream.read(&mut [0]);
        });
        let reply = ask(at, method, "/a?b=c", body, Duration::from_secs(5));
        (reply, asked.recv().unwrap())
    }

    #[test]
    fn answers_are_read_however_they_are_sent() {
        let ok = |body: &str| Reply { status: 200, body: body.as_bytes().to_vec() };
        for (answer, wanted) in [
            (&b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"[..], ok("hello")),
            (
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n",
                ok("hello"),
            ),
            (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", ok("")),
            (b"HTTP/1.0 404 Not Found\r\ncontent-length: 1\r\n\r\nx", Reply {
                status: 404,
                body: b"x".to_vec(),
            }),
            (b"HTTP/1.1 204 No Content\r\n\r\n", Reply { status: 204, body: Vec::new() }),
        ] {
            assert_eq!(answered(answer, "GET", None).0.unwrap(), wanted);
        }
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
        assert_eq!(answered(head, "HEAD", None).0.unwrap(), ok(""));
    }

    #[test]
    fn what_is_sent_along_says_what_it_is() {
        let (reply, asked) =
            answered(b"HTTP/1.1 201 C\r\nContent-Length: 0\r\n\r\n", "POST", Some("{}"));
        assert_eq!(reply.unwrap().status, 201);
        assert!(asked.starts_with("POST /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:"), "{asked}");
        assert!(
            asked.contains("Content-Type: application/json\r\nContent-Length: 2\r\n"),
            "{asked}"
        );
        assert!(asked.ends_with("\r\n\r\n{}"), "{asked}");
        let (_, asked) =
            answered(b"HTTP/1.1 201 C\r\nContent-Length: 0\r\n\r\n", "PUT", Some("a=b"));
        assert!(asked.contains("application/x-www-form-urlencoded"), "{asked}");
    }

    #[test]
    fn what_is_no_answer_is_none() {
        for nonsense in [&b"hello\r\n\r\n"[..], b"HTTP/1.1 abc\r\n\r\n"] {
            assert_eq!(reply(nonsense), None);
        }
        assert_eq!(unchunked(b"zz\r\n"), b"");
        assert_eq!(unchunked(b"ffffffffffffffff\r\nabc"), b"abc");
    }
}
