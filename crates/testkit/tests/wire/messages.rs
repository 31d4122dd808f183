//! Anthropic's Messages.

use serde_json::{Value, json};
use windlass_testkit::{
    Api, Call, Part, Purpose, Reply, Request, Role, Server, Tokens, Turn, Usage,
};

use crate::client::post;

fn bash() -> Value {
    json!({"name": "Bash", "input_schema": {"type": "object",
        "properties": {"command": {"type": "string"}}, "required": ["command"]}})
}

pub fn body(streamed: bool) -> Value {
    json!({"model": "claude-x", "max_tokens": 100, "stream": streamed,
        "system": [{"type": "text", "text": "You are somebody."}],
        "tools": [bash()],
        "messages": [{"role": "user", "content": "hello"}]})
}

fn answering(reply: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Server {
    Server::start(reply).expect("a server")
}

#[test]
fn a_text_comes_bit_by_bit_and_in_the_right_order() {
    let server = answering(|_| Reply::text("one two three four five six seven"));
    let got = post(&server, "/v1/messages?beta=true", &body(true));
    assert_eq!(got.status, 200);
    assert!(got.whole);
    assert_eq!(
        got.types(),
        [
            "message_start",
            "ping",
            "content_block_start",
            "content_block_delta",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop"
        ]
    );
    let events = got.events();
    let text: String = events.iter().filter_map(|event| event["delta"]["text"].as_str()).collect();
    assert_eq!(text, "one two three four five six seven");
    assert_eq!(events[0]["message"]["model"], "claude-x");
    assert!(events[0]["message"]["usage"]["input_tokens"].as_u64() > Some(0));
    assert_eq!(events[6]["delta"]["stop_reason"], "end_turn");
    assert_eq!(events[6]["usage"]["output_tokens"], 8);
}

#[test]
fn an_answer_that_is_wanted_at_once_comes_at_once() {
    let server = answering(|_| Turn::new().thinking("hm").text("yes").into());
    let got = post(&server, "/v1/messages", &body(false));
    let message = got.json();
    assert_eq!(message["content"][0]["thinking"], "hm");
    assert_eq!(message["content"][1], json!({"type": "text", "text": "yes"}));
    assert_eq!(message["stop_reason"], "end_turn");
}

#[test]
fn a_command_is_a_call_of_the_tool_that_was_offered() {
    let server = answering(|_| Turn::new().text("now").call(Call::shell("ls")).into());
    let got = post(&server, "/v1/messages", &body(true));
    let events = got.events();
    let begin = events.iter().find(|event| event["content_block"]["type"] == "tool_use").unwrap();
    assert_eq!(begin["content_block"]["name"], "Bash");
    assert_eq!(begin["index"], 1);
    let input: String =
        events.iter().filter_map(|event| event["delta"]["partial_json"].as_str()).collect();
    assert_eq!(input, r#"{"command":"ls"}"#);
    assert_eq!(events[events.len() - 2]["delta"]["stop_reason"], "tool_use");
    let answered = server.requests()[0].answered.clone().unwrap();
    assert_eq!(answered.what, "text, call Bash");
}

#[test]
fn a_conversation_is_understood() {
    let mut asked = body(false);
    asked["messages"] = json!([
        {"role": "user", "content": [{"type": "text", "text": "do it"}]},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm", "signature": "x"},
            {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "is_error": true,
             "content": [{"type": "text", "text": "no such file"}]},
            {"type": "image", "source": {}}]}]);
    let server = answering(|_| Reply::text("ok"));
    post(&server, "/v1/messages", &asked);
    let request = &server.requests()[0].request;
    assert_eq!(request.api, Api::Messages);
    assert_eq!(request.key.as_deref(), Some("test-key"));
    assert_eq!(request.system, "You are somebody.");
    assert_eq!(request.last_user_text(), "do it");
    assert_eq!(request.tool_results(), ["no such file"]);
    assert_eq!(request.answers(), 1);
    assert_eq!(request.messages[1].role, Role::Assistant);
    assert_eq!(
        request.messages[1].parts[1],
        Part::Call { id: "t1".into(), name: "Bash".into(), input: json!({"command": "ls"}) }
    );
    assert_eq!(request.messages[2].parts[1], Part::Other("image".into()));
    assert_eq!(request.text(), "You are somebody.\ndo it\nhm\nno such file");
    assert_eq!(request.tokens_max, Some(100));
    assert!(!request.is_side());
}

#[test]
fn tokens_are_counted_without_asking_the_brain() {
    let server = answering(|_| panic!("asked"));
    let got = post(&server, "/v1/messages/count_tokens?beta=true", &body(false));
    assert!(got.json()["input_tokens"].as_u64() > Some(10));
    let request = &server.requests()[0].request;
    assert_eq!(request.purpose, Purpose::Count);
    assert!(request.is_side());
}

#[test]
fn what_an_answer_came_to_can_be_anything() {
    let usage = Usage { fresh: 1, read: 2, written: 3, output: 4 };
    let says = [Tokens::Given(usage), Tokens::Missing, Tokens::AtTheEnd];
    let server = answering(move |request| {
        let says = says[usize::try_from(request.serial - 1).unwrap()];
        Turn::new().text("x").tokens(says).into()
    });
    let ask = || post(&server, "/v1/messages", &body(true)).events();
    let given = ask();
    assert_eq!(given[0]["message"]["usage"]["cache_read_input_tokens"], 2);
    assert_eq!(given[0]["message"]["usage"]["cache_creation_input_tokens"], 3);
    assert_eq!(given[5]["usage"]["output_tokens"], 4);
    let missing = ask();
    assert!(missing[0]["message"].get("usage").is_none());
    assert!(missing[5].get("usage").is_none());
    let late = ask();
    assert!(late[0]["message"].get("usage").is_none());
    assert!(late[5]["usage"]["input_tokens"].as_u64() > Some(0));
}
