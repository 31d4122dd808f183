//! What the providers say about their caches.

use serde_json::{Value, json};
use windlass_testkit::{Options, Reply, Server};

use crate::client::post;

fn server() -> Server {
    let options = Options { cache_tokens_min: 10, ..Options::default() };
    Server::start_with(options, |_| Reply::text("ok")).expect("a server")
}

fn marked(text: &str) -> Value {
    json!({"type": "text", "text": text, "cache_control": {"type": "ephemeral"}})
}

fn asked(system: &str, messages: &[Value]) -> Value {
    json!({"model": "claude-x", "stream": false, "tools": [{"name": "Bash"}],
        "system": [marked(system)],
        "messages": [{"role": "user", "content": messages}]})
}

/// What was read, written and neither.
fn anthropic(server: &Server, body: &Value) -> (u64, u64, u64) {
    let usage = post(server, "/v1/messages", body).json()["usage"].clone();
    let number = |name: &str| usage[name].as_u64().expect("a number");
    (
        number("cache_read_input_tokens"),
        number("cache_creation_input_tokens"),
        number("input_tokens"),
    )
}

#[test]
fn anthropic_reads_what_is_marked_and_the_same() {
    let server = server();
    let hello = json!({"type": "text", "text": "hello"});
    let first = asked("You are somebody.", std::slice::from_ref(&hello));
    // tool{"name":"Bash"} has 19 characters, system{"text":"You are somebody.","type":"text"} has 48: 67, or 16 tokens.
    // user{"text":"hello","type":"text"} has 34: 101, or 25 tokens.
    assert_eq!(anthropic(&server, &first), (0, 16, 9));
    assert_eq!(anthropic(&server, &first), (16, 0, 9));
    let more = asked("You are somebody.", &[hello, marked("more")]);
    // user{"text":"more","type":"text"} has 33: 134, or 33 tokens.
    assert_eq!(anthropic(&server, &more), (16, 17, 0));
    assert_eq!(anthropic(&server, &asked("You are else.", &[marked("more")])).0, 0);
    let mut thinking = more.clone();
    thinking["thinking"] = json!({"type": "enabled"});
    assert_eq!(anthropic(&server, &thinking).0, 16, "only messages are different");
    assert_eq!(anthropic(&server, &more).0, 33);
    let figures = server.cache();
    assert_eq!(figures.len(), 6);
    assert_eq!((figures[2].total, figures[2].cacheable, figures[2].read), (33, 33, 16));
}

#[test]
fn anthropic_takes_four_marks_and_no_more() {
    let server = server();
    let four: Vec<_> = (0..3).map(|_| marked("x")).collect();
    assert_eq!(post(&server, "/v1/messages", &asked("s", &four)).status, 200);
    let five: Vec<_> = (0..4).map(|_| marked("x")).collect();
    let got = post(&server, "/v1/messages", &asked("s", &five));
    assert_eq!(got.status, 400);
    let message = got.json()["error"]["message"].clone();
    assert_eq!(message, "A maximum of 4 blocks with cache_control may be provided. Found 5.");
}

#[test]
fn a_fault_leaves_nothing_in_the_cache() {
    let server =
        Server::start_with(Options { cache_tokens_min: 0, ..Options::default() }, |request| {
            if request.serial == 1 {
                return Reply::complaint(windlass_testkit::Complaint::Overloaded);
            }
            Reply::text("ok")
        })
        .unwrap();
    let body = asked("s", &[]);
    assert_eq!(post(&server, "/v1/messages", &body).status, 529);
    assert_eq!(anthropic(&server, &body).0, 0);
    assert!(anthropic(&server, &body).0 > 0);
}

#[test]
fn openai_and_google_read_whatever_is_the_same() {
    let server = Server::start(|_| Reply::text("ok")).unwrap();
    let long = "x".repeat(5000);
    // 5000 characters are 1250 tokens, in steps of 128 that is 1152.
    let responses = |id: &str, end: &str| {
        let body = json!({"model": "m", "input": [
            {"type": "message", "id": id, "role": "user", "content": long},
            {"type": "message", "role": "user", "content": end}]});
        let usage = post(&server, "/v1/responses", &body).json()["usage"].clone();
        usage["input_tokens_details"]["cached_tokens"].clone()
    };
    assert_eq!([responses("a", "1"), responses("b", "2")], [json!(0), json!(1152)]);
    let chat = |end: &str| {
        let body = json!({"model": "m", "messages": [
            {"role": "system", "content": long}, {"role": "user", "content": end}]});
        let usage = post(&server, "/v1/chat/completions", &body).json()["usage"].clone();
        usage["prompt_tokens_details"]["cached_tokens"].clone()
    };
    assert_eq!([chat("1"), chat("2")], [json!(0), json!(1152)]);
    let gemini = |end: &str| {
        let body = json!({"systemInstruction": {"parts": [{"text": long}]},
            "contents": [{"role": "user", "parts": [{"text": end}]}]});
        let all = post(&server, "/v1beta/models/m:generateContent", &body).json();
        all["usageMetadata"]["cachedContentTokenCount"].clone()
    };
    assert_eq!([gemini("1"), gemini("2")], [json!(null), json!(1152)]);
}
