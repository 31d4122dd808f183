//! What a tracker sends when something changes there: a signed message ends a wait at once, and nothing else comes of it.
//!
//! Nothing that is sent is believed: who is told only looks at the tracker sooner. What is not signed with the secret, is
//! old, too long or too slow is counted and changes nothing. Nothing is answered but a status.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ring::hmac;
use windlass_engine::clock::wall_ms;
use windlass_sources::tracker::Signs;

use crate::config::{IssuesConfig, Which};
use crate::error::Error;

/// A sender has so long for all of it.
const LIMIT: Duration = Duration::from_secs(10);

/// A head is no longer than this.
const HEAD_BYTES_MAX: usize = 16 * 1024;

/// A message is no longer than this.
const BODY_BYTES_MAX: usize = 2 * 1024 * 1024;

/// So many are listened to at once.
const SENDERS_MAX: usize = 8;

/// So many messages are remembered, so that none of them counts twice.
const REMEMBERED: usize = 512;

/// Listens, until the program ends.
pub struct Webhook {
    told: Receiver<()>,
    address: SocketAddr,
    refused: Arc<AtomicU64>,
}

/// What a message is held against.
struct Ear {
    signs: &'static Signs,
    key: hmac::Key,
    tell: SyncSender<()>,
    refused: Arc<AtomicU64>,
    senders: AtomicUsize,
    seen: Mutex<VecDeque<String>>,
}

/// What becomes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Heard {
    /// It is the tracker's, and new.
    New,
    /// It is the tracker's, and was here before.
    Again,
    /// Nobody knows whose it is, or it is old.
    Unsigned,
    /// It is no message.
    Nonsense,
}

impl Webhook {
    /// Listens at an address.
    ///
    /// # Errors
    ///
    /// When that is no address of this machine alone, it cannot be listened at, there is no secret, or a tracker sends nothing.
    pub fn listen(
        at: &str,
        which: Which,
        config: &IssuesConfig,
        top: &Path,
    ) -> Result<Self, Error> {
        let address: SocketAddr = at.parse().map_err(|_| {
            Error::usage(format!("`{at}` is nothing to listen at"))
                .hint("name an address and a port: `127.0.0.1:8711`")
        })?;
        if !is_of_this_machine(address.ip()) && !config.webhook_anywhere.unwrap_or_default() {
            return Err(Error::usage(format!("others on the network could reach {address}")).hint(
                "listen at 127.0.0.1 and let a tunnel or a proxy with TLS pass on what the tracker sends; \
                 `[issues] webhook-anywhere = true` in windlass.toml allows any address",
            ));
        }
        let signs = which.kind().signs.as_ref().ok_or_else(|| {
            Error::usage(format!("a {} sends nothing", which.name))
                .hint("`--interval` says how often it is looked at")
        })?;
        let secret = config.webhook_secret(top)?.ok_or_else(|| {
            Error::usage("there is no secret that messages could be signed with").hint(format!(
                "set {}, or name a file that holds it: `[issues] webhook-secret-file` in windlass.toml",
                config.webhook_variable()
            ))
        })?;
        let bound = TcpListener::bind(address).and_then(|it| Ok((it.local_addr()?, it)));
        let (address, listener) = bound
            .map_err(|error| Error::here(format!("{address} cannot be listened at: {error}")))?;
        let (tell, told) = sync_channel(1);
        let refused = Arc::new(AtomicU64::new(0));
        let ear = Arc::new(Ear {
            signs,
            key: hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()),
            tell,
            refused: refused.clone(),
            senders: AtomicUsize::new(0),
            seen: Mutex::default(),
        });
        let listens = move || {
            for stream in listener.incoming().flatten() {
                ear.take(stream);
            }
        };
        std::thread::Builder::new()
            .name("webhook".to_owned())
            .spawn(listens)
            .map_err(|error| Error::here(format!("nobody can listen: {error}")))?;
        Ok(Webhook { told, address, refused })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits until something is sent, but no longer than this. Whether something was.
    pub fn hears(&self, most: Duration) -> bool {
        let heard = self.told.recv_timeout(most);
        // Who cannot listen any more looks as often as without it.
        if heard == Err(RecvTimeoutError::Disconnected) {
            std::thread::sleep(most);
        }
        heard.is_ok()
    }

    /// How many messages were refused since somebody asked last.
    pub fn refused(&self) -> u64 {
        self.refused.swap(0, Ordering::Relaxed)
    }
}

fn is_of_this_machine(ip: IpAddr) -> bool {
    ip.to_canonical().is_loopback()
}

impl Ear {
    /// Listens to a sender, beside others.
    fn take(self: &Arc<Self>, mut stream: TcpStream) {
        if self.senders.fetch_add(1, Ordering::AcqRel) >= SENDERS_MAX {
            self.senders.fetch_sub(1, Ordering::AcqRel);
            self.refused.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let ear = self.clone();
        let listens = move || {
            let heard =
                received(&mut stream).map_or(Heard::Nonsense, |it| ear.judge(&it, wall_ms()));
            ear.heeds(heard);
            answer(&mut stream, heard);
            ear.senders.fetch_sub(1, Ordering::AcqRel);
        };
        if std::thread::Builder::new().name("sender".to_owned()).spawn(listens).is_err() {
            self.senders.fetch_sub(1, Ordering::AcqRel);
        }
    }

    fn heeds(&self, heard: Heard) {
        match heard {
            // One that waits is as good as several.
            Heard::New => {
                let _ = self.tell.try_send(());
            }
            Heard::Again => {}
            Heard::Unsigned | Heard::Nonsense => {
                self.refused.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    fn judge(&self, message: &Message, now_ms: i64) -> Heard {
        let said = message.headers.get(self.signs.header).map(String::as_str);
        let given = said.and_then(|it| it.strip_prefix(self.signs.prefix));
        let Some(tag) = given.and_then(digits) else { return Heard::Unsigned };
        // This takes as long however much of it is right.
        if hmac::verify(&self.key, &message.body, &tag).is_err() {
            return Heard::Unsigned;
        }
        if !(self.signs.is_fresh)(&message.body, now_ms) {
            return Heard::Unsigned;
        }
        let signature = given.unwrap_or_default().to_ascii_lowercase();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.contains(&signature) {
            return Heard::Again;
        }
        if seen.len() == REMEMBERED {
            seen.pop_front();
        }
        seen.push_back(signature);
        Heard::New
    }
}

/// Bytes that were written as hexadecimal digits.
fn digits(text: &str) -> Option<Vec<u8>> {
    let text = text.trim().as_bytes();
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|it| u8::try_from(it).ok());
    let pair = |pair: &[u8]| Some(digit(pair[0])? * 16 + digit(pair[1])?);
    (text.len() == 64).then(|| text.chunks_exact(2).map(pair).collect())?
}

/// A message, as it was sent.
struct Message {
    headers: Headers,
    body: Vec<u8>,
}

/// What stands at the head of a message, by names in small letters.
type Headers = BTreeMap<String, String>;

/// A message, if it is one: a head and exactly as much of a body as it says, in time.
fn received(stream: &mut TcpStream) -> Option<Message> {
    let until = Instant::now() + LIMIT;
    let mut bytes = Vec::new();
    let (head, headers, length) = loop {
        more(stream, &mut bytes, until).ok()?;
        if let Some(head) = head(&bytes)? {
            break head;
        }
        if bytes.len() > HEAD_BYTES_MAX {
            return None;
        }
    };
    if length > BODY_BYTES_MAX {
        return None;
    }
    let mut body = bytes.split_off(head);
    while body.len() < length {
        more(stream, &mut body, until).ok()?;
    }
    body.truncate(length);
    Some(Message { headers, body })
}

/// Where the head ends, what it says, and how long the body is; nothing yet, if there is more to come.
fn head(bytes: &[u8]) -> Option<Option<(usize, Headers, usize)>> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut request = httparse::Request::new(&mut headers);
    let head = match request.parse(bytes).ok()? {
        httparse::Status::Complete(head) => head,
        httparse::Status::Partial => return Some(None),
    };
    if request.method != Some("POST") || head > HEAD_BYTES_MAX {
        return None;
    }
    let text = |header: &httparse::Header<'_>| {
        let value = std::str::from_utf8(header.value).ok()?.trim().to_owned();
        Some((header.name.to_ascii_lowercase(), value))
    };
    let headers: Headers = request.headers.iter().filter_map(text).collect();
    let length = headers.get("content-length")?.parse().ok()?;
    Some(Some((head, headers, length)))
}

/// Reads a little more, while there is time.
fn more(stream: &mut TcpStream, bytes: &mut Vec<u8>, until: Instant) -> io::Result<()> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    stream.set_read_timeout(Some(left))?;
    let mut part = [0; 16 * 1024];
    match stream.read(&mut part)? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        read => {
            bytes.extend_from_slice(&part[..read]);
            Ok(())
        }
    }
}

fn answer(stream: &mut TcpStream, heard: Heard) {
    let status = match heard {
        Heard::New | Heard::Again => "200 OK",
        Heard::Unsigned => "401 Unauthorized",
        Heard::Nonsense => "400 Bad Request",
    };
    let text = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    // Who does not want to know has gone away.
    let _ = stream.set_write_timeout(Some(LIMIT)).and_then(|()| stream.write_all(text.as_bytes()));
    let _ = stream.shutdown(std::net::Shutdown::Write);
}

#[cfg(test)]
mod tests {
    use windlass_sources::tracker::Kind;

    use super::*;

    const SECRET: &str = "s3cret";

    fn ear(name: &str) -> (Ear, Receiver<()>) {
        let signs = Kind::named(name).unwrap().signs.as_ref().unwrap();
        let (tell, told) = sync_channel(1);
        let key = hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes());
        let refused = Arc::new(AtomicU64::new(0));
        let senders = AtomicUsize::new(0);
        (Ear { signs, key, tell, refused, senders, seen: Mutex::default() }, told)
    }

    fn signed(secret: &str, body: &str) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        let tag = hmac::sign(&key, body.as_bytes());
        tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn message(linear: Option<String>, github: Option<String>, body: &str) -> Message {
        let said = [("linear-signature", linear), ("x-hub-signature-256", github)];
        let said = said.into_iter().filter_map(|(name, it)| Some((name.to_owned(), it?)));
        Message { headers: said.collect(), body: body.as_bytes().to_vec() }
    }

    #[test]
    fn the_digest_is_the_published_one() {
        // RFC 4231, test case 2.
        let is = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(signed("Jefe", "what do ya want for nothing?"), is);
    }

    #[test]
    fn linear_is_heard_when_it_signed_just_now_and_once() {
        let (ear, _told) = ear("linear");
        let now = 1_800_000_000_000_i64;
        let body = |at: i64| format!("{{\"action\":\"create\",\"webhookTimestamp\":{at}}}");
        let judge =
            |body: &str, signature: Option<String>| ear.judge(&message(signature, None, body), now);
        let sent = |at: i64| judge(&body(at), Some(signed(SECRET, &body(at))));
        assert_eq!(sent(now), Heard::New);
        assert_eq!(sent(now), Heard::Again);
        assert_eq!(sent(now - 60_000), Heard::New);
        assert_eq!((sent(now - 60_001), sent(now + 60_001)), (Heard::Unsigned, Heard::Unsigned));
        assert_eq!((sent(i64::MIN), sent(i64::MAX)), (Heard::Unsigned, Heard::Unsigned));
        let good = body(now - 5);
        assert_eq!(judge(&good, None), Heard::Unsigned);
        assert_eq!(judge(&good, Some(signed("another", &good))), Heard::Unsigned);
        assert_eq!(judge(&body(now - 6), Some(signed(SECRET, &good))), Heard::Unsigned);
        for bad in ["", "zz", "+1", &"é".repeat(32), &"0".repeat(64)] {
            assert_eq!(judge(&good, Some(bad.to_owned())), Heard::Unsigned, "{bad}");
        }
        for body in ["", "{}", "[]", "no", "{\"webhookTimestamp\":\"now\"}"] {
            assert_eq!(judge(body, Some(signed(SECRET, body))), Heard::Unsigned, "{body}");
        }
        // GitHub's header says nothing of a message of Linear's.
        let github = Some(format!("sha256={}", signed(SECRET, &good)));
        assert_eq!(ear.judge(&message(None, github, &good), now), Heard::Unsigned);
    }

    #[test]
    fn github_is_heard_when_it_signed_and_once() {
        let (ear, told) = ear("github");
        let sent = |signature: &str, body: &str| {
            ear.judge(&message(None, Some(signature.to_owned()), body), 0)
        };
        let tag = signed(SECRET, "{}");
        assert_eq!(sent(&tag, "{}"), Heard::Unsigned, "it says which digest it is");
        assert_eq!(sent(&format!("sha1={tag}"), "{}"), Heard::Unsigned);
        assert_eq!(sent(&format!("sha256={tag}"), "{} "), Heard::Unsigned);
        assert_eq!(sent(&format!("sha256={tag}"), "{}"), Heard::New);
        assert_eq!(sent(&format!("sha256={}", tag.to_uppercase()), "{}"), Heard::Again);
        for heard in [Heard::New, Heard::New, Heard::Again, Heard::Unsigned, Heard::Nonsense] {
            ear.heeds(heard);
        }
        assert_eq!((told.try_recv(), told.try_recv().is_err()), (Ok(()), true));
        assert_eq!(ear.refused.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn a_head_is_whole_a_post_and_says_how_long_its_body_is() {
        let whole = b"POST / HTTP/1.1\r\nLinear-Signature: ab\r\ncontent-length: 3\r\n\r\nabc";
        let (at, headers, length) = head(whole).flatten().unwrap();
        let signature = headers.get("linear-signature").map(String::as_str);
        assert_eq!((at, length, signature), (whole.len() - 3, 3, Some("ab")));
        assert!(matches!(head(b"POST / HT"), Some(None)));
        for bad in [
            &b"GET / HTTP/1.1\r\ncontent-length: 3\r\n\r\n"[..],
            b"POST / HTTP/1.1\r\n\r\n",
            b"POST / HTTP/1.1\r\ncontent-length: -3\r\n\r\n",
            b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n",
            b"\x16\x03\x01\x02\x00",
        ] {
            assert!(head(bad).is_none(), "{}", String::from_utf8_lossy(bad));
        }
    }
}
