//! OpenAI's Chat Completions.

use serde_json::{Value, json};
use windlass_testkit::{Api, Complaint, Reply, Server, Tokens, Turn};

use crate::client::post;

const PATH: &str = "/v1/chat/completions";

pub fn body(streamed: bool) -> Value {
    json!({"model": "local", "stream": streamed, "max_completion_tokens": 7,
        "stream_options": {"include_usage": true},
        "tools": [{"type": "function", "function": {"name": "bash", "parameters": {
            "type": "object", "properties": {"command": {"type": "string"}}}}}],
        "messages": [
            {"role": "system", "content": "You are somebody."},
            {"role": "user", "content": [{"type": "text", "text": "hello"}]}]})
}

#[test]
fn a_text_comes_bit_by_bit_and_in_the_right_order() {
    let server =
        Server::start(|_| Turn::new().thinking("hm").text("one two three four five six").into());
    let events = post(&server.unwrap(), PATH, &body(true)).events();
    let deltas: Vec<_> = events.iter().map(|event| event["choices"][0]["delta"].clone()).collect();
    assert_eq!(deltas[0], json!({"role": "assistant", "content": ""}));
    assert_eq!(deltas[1], json!({"reasoning_content": "hm"}));
    assert_eq!(deltas[2], json!({"content": "one two three four five "}));
    assert_eq!(deltas[3], json!({"content": "six"}));
    assert_eq!(events[4]["choices"][0]["finish_reason"], "stop");
    assert_eq!(events[5]["choices"], json!([]));
    assert_eq!(events[5]["usage"]["completion_tokens"], 7);
    assert_eq!(events[5]["usage"]["prompt_tokens_details"]["cached_tokens"], 0);
    assert_eq!(events[6], "[DONE]");
}

#[test]
fn what_it_came_to_is_said_to_those_who_asked() {
    let server = Server::start(|request| match request.serial {
        1 => Reply::text("x"),
        _ => Turn::new().text("x").tokens(Tokens::AtTheEnd).into(),
    })
    .unwrap();
    let mut asked = body(true);
    asked["stream_options"] = json!(null);
    let says = || {
        let events = post(&server, PATH, &asked).events();
        events.iter().any(|event| event.get("usage").is_some())
    };
    assert!(!says());
    assert!(says());
}

#[test]
fn a_command_is_a_call_of_the_tool_that_was_offered() {
    let server = Server::start(|_| Reply::shell("ls")).unwrap();
    let events = post(&server, PATH, &body(true)).events();
    let begin = &events[1]["choices"][0]["delta"]["tool_calls"][0];
    assert_eq!(begin["function"]["name"], "bash");
    assert_eq!(begin["id"], "call_000001_0");
    let more = &events[2]["choices"][0]["delta"]["tool_calls"][0];
    assert_eq!(more, &json!({"index": 0, "function": {"arguments": r#"{"command":"ls"}"#}}));
    assert_eq!(events[3]["choices"][0]["finish_reason"], "tool_calls");
    let whole = post(&server, PATH, &body(false)).json();
    let call = &whole["choices"][0]["message"]["tool_calls"][0];
    assert_eq!(call["function"]["arguments"], r#"{"command":"ls"}"#);
}

#[test]
fn a_conversation_is_understood() {
    let mut asked = body(false);
    asked["response_format"] = json!({"type": "json_schema", "json_schema": {"schema": {"a": 1}}});
    asked["messages"].as_array_mut().unwrap().extend([
        json!({"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function",
               "function": {"name": "bash", "arguments": "{\"command\":\"ls\"}"}}]}),
        json!({"role": "tool", "tool_call_id": "c1", "content": "a.txt"}),
    ]);
    let server = Server::start(|_| Reply::text("ok")).unwrap();
    post(&server, PATH, &asked);
    let request = &server.requests()[0].request;
    assert_eq!(request.api, Api::Chat);
    assert_eq!(request.system, "You are somebody.");
    assert_eq!(request.last_user_text(), "hello");
    assert_eq!(request.tool_results(), ["a.txt"]);
    assert_eq!(request.schema, Some(json!({"a": 1})));
    assert_eq!(request.tokens_max, Some(7));
}

#[test]
fn it_ends_and_complains_in_its_own_words() {
    let server = Server::start(|request| match request.serial {
        1 => Reply::refusal("no"),
        2 => Reply::tokens_max("cut"),
        _ => Reply::complaint(Complaint::Overflow),
    })
    .unwrap();
    let refused = post(&server, PATH, &body(false)).json();
    assert_eq!(refused["choices"][0]["finish_reason"], "content_filter");
    assert_eq!(refused["choices"][0]["message"]["refusal"], "no");
    let cut = post(&server, PATH, &body(false)).json();
    assert_eq!(cut["choices"][0]["finish_reason"], "length");
    let long = post(&server, PATH, &body(true));
    assert_eq!(long.status, 400);
    assert_eq!(long.json()["error"]["code"], "context_length_exceeded");
    let message = long.json()["error"]["message"].clone();
    assert!(message.as_str().unwrap().contains("maximum context length is 128000 tokens"));
}

#[test]
fn a_request_for_a_title_is_not_about_the_work() {
    let server = Server::start(|_| Reply::text("A title")).unwrap();
    let mut asked = body(true);
    asked["tools"] = json!([]);
    asked["messages"][0]["content"] = "You output a Title only.".into();
    post(&server, PATH, &asked);
    assert!(server.requests()[0].request.is_side());
    asked["messages"][0]["content"] = format!("The title is bold. {}", "x".repeat(6000)).into();
    post(&server, PATH, &asked);
    assert!(!server.requests()[1].request.is_side());
}

/// As opencode asks for one, without tools and with the whole conversation in one message.
#[test]
fn a_request_for_a_summary_is_not_about_the_work() {
    let server = Server::start(|_| Reply::text("A summary")).unwrap();
    let last = "<conversation>[User]: go on</conversation>\n\nOutput exactly the Markdown structure shown inside \
                <template> and keep the section order unchanged.";
    let messages = json!([
        { "role": "system", "content": "You are a context summarization agent." },
        { "role": "user", "content": last },
    ]);
    post(&server, PATH, &json!({ "model": "m", "messages": messages, "stream": true }));
    assert!(server.requests()[0].request.is_summary() && server.requests()[0].request.is_side());
}
