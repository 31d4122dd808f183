//! Requests over HTTP, for trackers that are somewhere else.

use std::io::Read;
use std::time::Duration;

use ureq::Agent;
use ureq::http::Request;
use windlass_http::{Failed, Timeouts, agent};

/// A client of one tracker.
#[derive(Debug)]
pub(super) struct Http {
    agent: Agent,
}

/// An answer, all of it.
#[derive(Debug)]
pub(super) struct Answer {
    pub status: u16,
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// No answer is longer than this.
const BODY_BYTES_MAX: u64 = 32 << 20;

/// Nobody waits longer for a connection.
const CONNECT_MS_MAX: u64 = 10_000;

impl Http {
    /// A client that waits so long for an answer.
    pub fn new(url: &str, answer_ms_max: u64) -> Self {
        let timeouts = Timeouts {
            connect: Duration::from_millis(CONNECT_MS_MAX.min(answer_ms_max)),
            whole: Some(Duration::from_millis(answer_ms_max)),
            piece: None,
        };
        Http { agent: agent(url.starts_with("https:"), timeouts) }
    }

    /// Sends a request, and waits for all of the answer.
    pub fn send(
        &self,
        method: &str,
        url: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Answer, Failed> {
        let mut request = Request::builder().method(method).uri(url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(body).map_err(|error| Failed::for_good(&error))?;
        let answer = self.agent.run(request).map_err(Failed::from)?;
        let (head, body) = answer.into_parts();
        let mut bytes = Vec::new();
        let read = body.into_reader().take(BODY_BYTES_MAX + 1).read_to_end(&mut bytes);
        read.map_err(|error| Failed { sent: true, for_good: false, why: error.to_string() })?;
        if bytes.len() as u64 > BODY_BYTES_MAX {
            let why = format!("the answer has more than {} MiB", BODY_BYTES_MAX >> 20);
            return Err(Failed { sent: true, for_good: true, why });
        }
        let headers = head.headers.iter().map(|(name, value)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        });
        Ok(Answer { status: head.status.as_u16(), headers: headers.collect(), body: bytes })
    }
}

impl Answer {
    /// A header by its name in small letters.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}
