//! Requests over HTTP, and answers as they come.

use std::io::Read;
use std::time::Duration;

use ureq::Agent;
use windlass_agents::api::Pace;
use windlass_http::{Failed, Timeouts, agent};

use super::retry::Headers;

/// A client of one provider.
pub(super) struct Http {
    agent: Agent,
}

/// The beginning of an answer.
pub(super) struct Answer {
    pub status: u16,
    pub headers: Headers,
    body: Box<dyn Read>,
}

/// An answer that is no stream is read so far.
const BODY_BYTES: u64 = 1 << 20;

impl Http {
    pub fn new(pace: &Pace, tls: bool) -> Self {
        let timeouts = Timeouts {
            connect: Duration::from_millis(pace.connect_ms_max),
            whole: None,
            piece: Some(Duration::from_millis(pace.idle_ms_max)),
        };
        Http { agent: agent(tls, timeouts) }
    }

    /// Sends a request, and waits for the beginning of an answer.
    pub fn post(
        &self,
        url: &str,
        headers: &[(&'static str, String)],
        body: &[u8],
    ) -> Result<Answer, Failed> {
        let mut request = self.agent.post(url).header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let answer = request.send(body).map_err(Failed::from)?;
        let (head, body) = answer.into_parts();
        let headers = head.headers.iter().map(|(name, value)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        });
        Ok(Answer {
            status: head.status.as_u16(),
            headers: headers.collect(),
            body: Box::new(body.into_reader()),
        })
    }
}

impl Answer {
    /// The next piece; empty at the end.
    pub fn piece(&mut self) -> Result<Vec<u8>, String> {
        let mut piece = vec![0; 16 * 1024];
        let length = self.body.read(&mut piece).map_err(|error| error.to_string())?;
        piece.truncate(length);
        Ok(piece)
    }

    /// All of an answer that is no stream, as far as it is of interest.
    pub fn text(&mut self) -> String {
        let mut bytes = Vec::new();
        let _ = self.body.by_ref().take(BODY_BYTES).read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn who_was_not_reached_was_sent_nothing() {
        let pace = Pace { connect_ms_max: 500, ..Pace::default() };
        let http = Http::new(&pace, false);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let failed = |url: &str| http.post(url, &[], b"{}").err().unwrap();
        let nobody = failed(&format!("http://127.0.0.1:{port}/"));
        assert!(!nobody.sent && !nobody.for_good, "{nobody:?}");
        let nowhere = failed("no address");
        assert!(!nowhere.sent && nowhere.for_good, "{nowhere:?}");
    }

    #[test]
    fn who_says_nothing_may_have_heard_it() {
        let pace = Pace { idle_ms_max: 50, ..Pace::default() };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let failed = Http::new(&pace, false).post(&url, &[], b"{}").err().unwrap();
        assert!(failed.sent, "{failed:?}");
    }
}
