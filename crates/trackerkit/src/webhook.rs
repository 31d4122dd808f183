//! What a tracker sends when something changes there, signed as Linear and GitHub say that they do.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use ring::hmac;

/// A message to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Besides what every message has.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
}

/// The digest of a body: HMAC with SHA-256, in hexadecimal digits.
#[must_use]
pub fn signature(secret: &str, body: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let tag = hmac::sign(&key, body.as_bytes());
    tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Linear tells of an issue, at a moment in milliseconds since 1970.
#[must_use]
pub fn linear(secret: &str, at_ms: i64) -> Message {
    let body = format!(
        "{{\"action\":\"create\",\"type\":\"Issue\",\"data\":{{\"id\":\"x\"}},\"webhookTimestamp\":{at_ms}}}"
    );
    let header = |name: &str, value: String| (name.to_owned(), value);
    let headers = vec![
        header("Linear-Delivery", "234d1a4e-b617-4388-90fe-adc3633d6b72".to_owned()),
        header("Linear-Event", "Issue".to_owned()),
        header("Linear-Signature", signature(secret, &body)),
    ];
    Message { headers, body }
}

/// GitHub tells of an issue.
#[must_use]
pub fn github(secret: &str, number: u64) -> Message {
    let body = format!("{{\"action\":\"opened\",\"issue\":{{\"number\":{number}}}}}");
    let header = |name: &str, value: String| (name.to_owned(), value);
    let headers = vec![
        header("X-GitHub-Event", "issues".to_owned()),
        header("X-Hub-Signature-256", format!("sha256={}", signature(secret, &body))),
    ];
    Message { headers, body }
}

/// Sends a message, and says which status was answered.
///
/// # Errors
///
/// When nobody listens, or nothing is answered.
pub fn send(to: SocketAddr, message: &Message) -> io::Result<u16> {
    let Message { headers, body } = message;
    let mut text =
        format!("POST /windlass HTTP/1.1\r\nHost: {to}\r\nContent-Type: application/json\r\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
    said(to, text.as_bytes())
}

/// Sends these bytes, and says which status was answered.
///
/// # Errors
///
/// When nobody listens, or nothing is answered.
pub fn said(to: SocketAddr, bytes: &[u8]) -> io::Result<u16> {
    let mut stream = TcpStream::connect(to)?;
    stream.write_all(bytes)?;
    status(&mut stream)
}

/// The status of an answer.
///
/// # Errors
///
/// When there is none.
pub fn status(stream: &mut TcpStream) -> io::Result<u16> {
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let word = answer.split(' ').nth(1).and_then(|word| word.parse().ok());
    word.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}
