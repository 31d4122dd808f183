//! How a browser is spoken to: JSON, a zero byte after each message, over a pipe. One asks, and hears what happens meanwhile.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use windlass_process::{Feed, SpawnError, Stream};

/// No message of an honest page is as long; a picture is the longest.
const MESSAGE_BYTES_MAX: usize = 24 * 1024 * 1024;
/// What it may have said that nobody has heard yet.
const WAITING_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Why a browser cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// It cannot be started.
    #[error("the browser cannot be started: {0}")]
    Spawn(#[from] SpawnError),
    /// It cannot be spoken to.
    #[error("the browser cannot be spoken to: {0}")]
    Pipe(io::Error),
    /// It has ended.
    #[error("the browser has ended: {0}")]
    Gone(String),
    /// It says more than anybody could hear.
    #[error("the browser says too much: more than {MESSAGE_BYTES_MAX} bytes at once")]
    TooMuch,
    /// It has not answered.
    #[error("the browser does not answer {0}")]
    Silent(&'static str),
    /// It cannot do what it was asked to.
    #[error("the browser refuses {method}: {why}")]
    Refused {
        /// What it was asked.
        method: &'static str,
        /// What it said.
        why: String,
    },
}

enum Heard {
    Message(Vec<u8>),
    TooMuch,
}

/// What is heard, on its way.
pub(crate) struct Ear {
    heard: Receiver<Heard>,
    waiting: Arc<AtomicUsize>,
}

/// Something that happened without being asked for.
pub(crate) struct Event {
    pub(crate) method: String,
    pub(crate) session: Option<String>,
    pub(crate) params: Value,
}

/// Something that it says.
pub(crate) enum Word {
    /// The answer to what was asked under this number.
    Answer(u64, Value),
    /// What happened.
    Event(Event),
}

/// The line to a browser.
pub(crate) struct Wire {
    feed: Feed,
    ear: Ear,
    next: u64,
}

impl Wire {
    /// What listens, on the thread that must not wait, and where it can be heard.
    pub(crate) fn ear() -> (impl FnMut(Stream, &[u8]) + Send + 'static, Ear) {
        let (said, heard) = channel();
        let waiting = Arc::new(AtomicUsize::new(0));
        let counted = waiting.clone();
        let mut begun = Vec::new();
        let mut deaf = false;
        let hear = move |stream: Stream, bytes: &[u8]| {
            if stream == Stream::Stdout && !deaf {
                deaf = !take(bytes, &mut begun, &said, &counted);
            }
        };
        (hear, Ear { heard, waiting })
    }

    pub(crate) fn new(feed: Feed, ear: Ear) -> Wire {
        Wire { feed, ear, next: 0 }
    }

    /// Asks for something and does not wait for it. Which answer will be its.
    pub(crate) fn tell(
        &mut self,
        session: Option<&str>,
        method: &'static str,
        params: Value,
        within: Duration,
    ) -> Result<u64, Fault> {
        self.next += 1;
        let mut message = json!({ "id": self.next, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        let written = self.feed.write(&bytes, within);
        written.map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => Fault::Gone(String::new()),
            io::ErrorKind::TimedOut => Fault::Silent(method),
            _ => Fault::Pipe(error),
        })?;
        Ok(self.next)
    }

    /// What is said next: an answer, with its number, or something that happened. Nothing when the time is over.
    pub(crate) fn next(&mut self, until: Instant) -> Result<Option<Word>, Fault> {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let message = match self.ear.heard.recv_timeout(left) {
                Ok(Heard::Message(message)) => message,
                Ok(Heard::TooMuch) => return Err(Fault::TooMuch),
                Err(RecvTimeoutError::Timeout) => return Ok(None),
                Err(RecvTimeoutError::Disconnected) => return Err(Fault::Gone(String::new())),
            };
            self.ear.waiting.fetch_sub(message.len(), Relaxed);
            let Ok(mut message) = serde_json::from_slice::<Value>(&message) else { continue };
            if let Some(id) = message["id"].as_u64() {
                return Ok(Some(Word::Answer(id, message)));
            }
            if let Some(method) = message["method"].as_str() {
                let session = message["sessionId"].as_str().map(str::to_owned);
                let method = method.to_owned();
                let event = Event { method, session, params: message["params"].take() };
                return Ok(Some(Word::Event(event)));
            }
        }
    }

    /// Asks the browser itself and waits for the answer; what happens meanwhile is of no interest.
    pub(crate) fn ask(
        &mut self,
        session: Option<&str>,
        method: &'static str,
        params: Value,
        within: Duration,
    ) -> Result<Value, Fault> {
        let until = Instant::now() + within;
        let id = self.tell(session, method, params, within)?;
        loop {
            match self.next(until)? {
                None => return Err(Fault::Silent(method)),
                Some(Word::Answer(answered, answer)) if answered == id => {
                    return result(method, answer);
                }
                Some(_) => {}
            }
        }
    }
}

/// What an answer says, or why it says nothing.
pub(crate) fn result(method: &'static str, mut answer: Value) -> Result<Value, Fault> {
    match answer["error"]["message"].as_str() {
        Some(why) => Err(Fault::Refused { method, why: why.to_owned() }),
        None => Ok(answer["result"].take()),
    }
}

/// Takes what has arrived apart. Whether there is anything more to be heard.
fn take(bytes: &[u8], begun: &mut Vec<u8>, said: &Sender<Heard>, waiting: &AtomicUsize) -> bool {
    let mut parts = bytes.split(|byte| *byte == 0).peekable();
    while let Some(part) = parts.next() {
        if begun.len() + part.len() > MESSAGE_BYTES_MAX {
            *begun = Vec::new();
            let _ = said.send(Heard::TooMuch);
            return false;
        }
        begun.extend_from_slice(part);
        if parts.peek().is_some() {
            let message = std::mem::take(begun);
            if waiting.fetch_add(message.len(), Relaxed) > WAITING_BYTES_MAX {
                let _ = said.send(Heard::TooMuch);
                return false;
            }
            // Who no longer listens needs no more.
            if said.send(Heard::Message(message)).is_err() {
                return false;
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ears() -> (impl FnMut(&[u8]), Ear) {
        let (mut hear, ear) = Wire::ear();
        (move |bytes: &[u8]| hear(Stream::Stdout, bytes), ear)
    }

    fn heard(ear: &Ear) -> Vec<String> {
        let text = |heard| match heard {
            Heard::Message(bytes) => String::from_utf8(bytes).unwrap(),
            Heard::TooMuch => "too much".to_owned(),
        };
        ear.heard.try_iter().map(text).collect()
    }

    #[test]
    fn messages_are_put_together_however_they_arrive() {
        let (mut hear, ear) = ears();
        for part in [b"{\"a\"".as_slice(), b":1}", b"\0{}\0", b"x", b"", b"\0"] {
            hear(part);
        }
        assert_eq!(heard(&ear), ["{\"a\":1}", "{}", "x"]);
    }

    #[test]
    fn who_says_too_much_is_not_heard_any_more() {
        let (mut hear, ear) = ears();
        let much = vec![b'x'; MESSAGE_BYTES_MAX];
        hear(&much);
        assert_eq!(heard(&ear), [""; 0]);
        hear(b"y");
        hear(b"\0{}\0");
        assert_eq!(heard(&ear), ["too much"]);

        // Nor is who says it in many words that nobody has come to hear.
        let (mut hear, ear) = ears();
        let mut much = vec![b'x'; 1024 * 1024];
        much.push(0);
        for _ in 0..200 {
            hear(&much);
        }
        let heard = heard(&ear);
        assert!(heard.len() <= 66, "{}", heard.len());
        assert_eq!(heard.last().unwrap(), "too much");
    }
}
