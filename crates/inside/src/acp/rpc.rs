//! JSON-RPC 2.0 over a pair of pipes: a message in each line.
//!
//! Who is on the other side is not trusted. A line that is too long or makes no sense is left out; whoever sends faster
//! than they are heard waits; and who does not read what they are sent is given up before that fills the memory.

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use serde_json::{Map, Value as Json, json};
use windlass_agents::Lines;

/// What the other side says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Message {
    /// It wants to know something. Its name for that is a number or a text.
    Request { id: Json, method: String, params: Json },
    /// It tells something.
    Notice { method: String, params: Json },
    /// It has answered.
    Response { id: Json, result: Result<Json, Fault> },
}

/// Why it would not answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Fault {
    pub code: i64,
    pub message: String,
    pub data: Json,
}

impl Fault {
    /// There is no such method.
    pub const NO_METHOD: i64 = -32601;
    /// The method cannot be had with these.
    pub const BAD_PARAMS: i64 = -32602;
    /// Something went wrong.
    pub const INTERNAL: i64 = -32603;
    /// Who asks has to say first who they are.
    pub const AUTH_REQUIRED: i64 = -32000;
    /// What is asked for is not there.
    pub const NOT_FOUND: i64 = -32002;

    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Fault { code, message: message.into(), data: Json::Null }
    }

    fn of(error: &Json) -> Self {
        Fault {
            code: error.get("code").and_then(Json::as_i64).unwrap_or(Fault::INTERNAL),
            message: text(error, "message").unwrap_or("an error without a message").to_owned(),
            data: error.get("data").cloned().unwrap_or_default(),
        }
    }
}

/// What a key holds, if it is a text.
pub(crate) fn text<'j>(object: &'j Json, key: &str) -> Option<&'j str> {
    object.get(key)?.as_str()
}

/// The message that a line holds.
pub(crate) fn message(line: &[u8]) -> Option<Message> {
    // Half a line is none, and is not read through to find that out.
    let whole = line.trim_ascii_end().ends_with(b"}");
    let mut object: Map<String, Json> = whole.then(|| serde_json::from_slice(line).ok())??;
    let id = object.remove("id").filter(|id| id.is_number() || id.is_string());
    if let Some(method) = object.remove("method") {
        let method = method.as_str()?.to_owned();
        let params = object.remove("params").unwrap_or_default();
        return Some(match id {
            Some(id) => Message::Request { id, method, params },
            None => Message::Notice { method, params },
        });
    }
    let result = match (object.remove("error"), object.remove("result")) {
        (Some(error), _) if !error.is_null() => Err(Fault::of(&error)),
        (_, Some(result)) => Ok(result),
        _ => return None,
    };
    Some(Message::Response { id: id?, result })
}

/// The other side is not there any more, or does not listen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gone {
    /// It has closed what it writes to.
    Closed,
    /// It does not read what it is sent.
    Deaf,
    /// It said nothing in time.
    Silent,
}

/// Both pipes.
pub(crate) struct Wire {
    incoming: Receiver<Message>,
    outgoing: Sender<Vec<u8>>,
    writer: JoinHandle<()>,
    /// So many bytes are on their way.
    pending: Arc<AtomicUsize>,
}

/// So many messages are waiting at most; then whoever sends them waits.
const WAITING: usize = 8;
/// So much is on its way to the other side at most.
const PENDING_BYTES: usize = if cfg!(test) { 4 << 20 } else { 64 << 20 };
/// So much is read at once.
const PIECE_BYTES: usize = 64 << 10;

impl Wire {
    /// Over what the other side writes to, and what it reads from.
    pub fn over(
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
    ) -> std::io::Result<Wire> {
        let (said, incoming) = sync_channel(WAITING);
        let (outgoing, to_write) = channel::<Vec<u8>>();
        let pending = Arc::new(AtomicUsize::new(0));
        let written = Arc::clone(&pending);
        thread::Builder::new().name("hears".to_owned()).spawn(move || hear(reader, &said))?;
        let writer = thread::Builder::new()
            .name("says".to_owned())
            .spawn(move || write(writer, &to_write, &written))?;
        Ok(Wire { incoming, outgoing, writer, pending })
    }

    /// The next message; it is waited for until then, or for ever.
    pub fn next(&self, until: Option<Instant>) -> Result<Message, Gone> {
        let Some(until) = until else { return self.incoming.recv().map_err(|_| Gone::Closed) };
        // Also if there is always something more: who talks without end does not answer either.
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Gone::Silent);
        }
        self.incoming.recv_timeout(left).map_err(|error| match error {
            RecvTimeoutError::Timeout => Gone::Silent,
            RecvTimeoutError::Disconnected => Gone::Closed,
        })
    }

    pub fn request(&self, id: u64, method: &str, params: &Json) -> Result<(), Gone> {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
    }

    pub fn notify(&self, method: &str, params: &Json) -> Result<(), Gone> {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
    }

    pub fn respond(&self, id: &Json, result: Result<Json, Fault>) -> Result<(), Gone> {
        self.send(&match result {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(Fault { code, message, .. }) => {
                let error = json!({ "code": code, "message": message });
                json!({ "jsonrpc": "2.0", "id": id, "error": error })
            }
        })
    }

    /// Refuses in a mere text, for who cannot read an error that is an object.
    pub fn refuse_in_words(&self, id: &Json, why: &str) -> Result<(), Gone> {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "error": why }))
    }

    fn send(&self, message: &Json) -> Result<(), Gone> {
        let mut line = message.to_string().into_bytes();
        line.push(b'\n');
        let before = self.pending.fetch_add(line.len(), Ordering::SeqCst);
        if before > PENDING_BYTES {
            return Err(Gone::Deaf);
        }
        // Who reads no more may still have said something: that is found when it is listened to.
        let _ = self.outgoing.send(line);
        Ok(())
    }

    /// Has no more to say: what the other side reads from is closed when it has everything, and then this thread ends.
    pub fn finish(self) -> JoinHandle<()> {
        self.writer
    }
}

fn hear(mut reader: impl Read, said: &SyncSender<Message>) {
    let (mut lines, mut piece, mut open) = (Lines::default(), vec![0; PIECE_BYTES], true);
    let mut hand_on = |line: &[u8]| {
        if let Some(message) = message(line) {
            open &= said.send(message).is_ok();
        }
        open
    };
    loop {
        let read = match reader.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        let mut goes_on = true;
        lines.feed(piece.get(..read).unwrap_or_default(), |line| goes_on &= hand_on(line));
        if !goes_on {
            // Nobody wants to hear it, but whoever writes to a pipe that is full would not end.
            let _ = std::io::copy(&mut reader, &mut std::io::sink());
            return;
        }
    }
    // What stands after the last line's end was cut off.
}

fn write(mut writer: impl Write, lines: &Receiver<Vec<u8>>, pending: &AtomicUsize) {
    let mut broken = false;
    for line in lines {
        broken = broken || writer.write_all(&line).and_then(|()| writer.flush()).is_err();
        pending.fetch_sub(line.len(), Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::os::unix::net::UnixStream;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_line_is_a_request_a_notice_or_an_answer_and_else_nothing() {
        let of = |line: &str| message(line.as_bytes());
        let request = |id: Json| Message::Request { id, method: "m".into(), params: json!({}) };
        assert_eq!(of(r#"{"id":0,"method":"m","params":{}}"#), Some(request(json!(0))));
        assert_eq!(of(r#"{"id":"a-b","method":"m","params":{}}"#), Some(request(json!("a-b"))));
        let notice = Message::Notice { method: "m".into(), params: Json::Null };
        assert_eq!(of(r#"{"method":"m"}"#), Some(notice.clone()));
        assert_eq!(of(r#"{"id":null,"method":"m"}"#), Some(notice));
        let response = |result| Some(Message::Response { id: json!(3), result });
        assert_eq!(of(r#"{"result":null,"id":3}"#), response(Ok(Json::Null)));
        assert_eq!(of(r#"{"error":null,"result":1,"id":3}"#), response(Ok(json!(1))));
        let fault = Fault { code: 429, message: "no".into(), data: json!({"a": 1}) };
        let line = r#"{"id":3,"error":{"code":429,"message":"no","data":{"a":1}}}"#;
        assert_eq!(of(line), response(Err(fault)));
        let odd = Fault::new(Fault::INTERNAL, "an error without a message");
        assert_eq!(of(r#"{"id":3,"error":"odd"}"#), response(Err(odd)));
        for nothing in ["", "{", "[]", "{}", "log: {}", r#"{"id":3}"#, r#"{"method":1}"#, "[1]}"] {
            assert_eq!(of(nothing), None, "{nothing}");
        }
        assert_eq!(of(r#"{"id":[1],"result":1}"#), None);
    }

    #[test]
    fn what_is_no_message_is_left_out_and_the_end_is_noticed() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let wire = Wire::over(ours.try_clone().unwrap(), ours).unwrap();
        theirs
            .write_all(b"starting\n\n{\"method\":\"a\"}\n\xff\xfe\n{\"method\":\"b\"}\n{\"meth")
            .unwrap();
        theirs.shutdown(std::net::Shutdown::Write).unwrap();
        let method = |message| match message {
            Ok(Message::Notice { method, .. }) => method,
            other => panic!("{other:?}"),
        };
        assert_eq!((method(wire.next(None)), method(wire.next(None))), ("a".into(), "b".into()));
        assert_eq!(wire.next(None), Err(Gone::Closed));
        wire.request(7, "m", &json!({ "x": "a\nb" })).unwrap();
        let mut line = String::new();
        BufReader::new(&theirs).read_line(&mut line).unwrap();
        let want = json!({ "jsonrpc": "2.0", "id": 7, "method": "m", "params": { "x": "a\nb" } });
        assert_eq!(serde_json::from_str::<Json>(&line).unwrap(), want);
    }

    #[test]
    fn who_does_not_read_is_given_up() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let wire = Wire::over(ours.try_clone().unwrap(), ours).unwrap();
        let long = json!("x".repeat(PENDING_BYTES / 4));
        let sent = (0..8).map(|at| wire.request(at, "m", &long)).collect::<Vec<_>>();
        assert!(sent[0].is_ok());
        assert_eq!(sent[7], Err(Gone::Deaf));
        let soon = Some(Instant::now() + Duration::from_millis(5));
        assert_eq!(wire.next(soon), Err(Gone::Silent));
    }
}
