//! OpenAI's Responses.

use serde_json::{Value, json};
use windlass_testkit::{Call, Reply, Server, Turn};

use crate::client::post;

fn exec() -> Value {
    json!({"type": "function", "name": "exec_command", "parameters": {"type": "object",
        "properties": {"cmd": {"type": "string"}}, "required": ["cmd"]}})
}

pub fn body(streamed: bool) -> Value {
    json!({"model": "gpt-x", "stream": streamed, "tools": [exec()],
        "instructions": "You are somebody.",
        "input": [
            {"type": "message", "role": "developer",
             "content": [{"type": "input_text", "text": "Be brief."}]},
            {"type": "message", "role": "user",
             "content": [{"type": "input_text", "text": "hello"}]}]})
}

#[test]
fn a_text_comes_bit_by_bit_and_in_the_right_order() {
    let server = Server::start(|_| Reply::text("one two three four five six seven")).unwrap();
    let got = post(&server, "/v1/responses", &body(true));
    assert_eq!(
        got.types(),
        [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.completed"
        ]
    );
    let events = got.events();
    assert_eq!(events[2]["item"]["content"], json!([]));
    assert_eq!(events[8]["item"]["content"][0]["text"], "one two three four five six seven");
    assert_eq!(events[9]["response"]["output"][0], events[8]["item"]);
    let usage = &events[9]["response"]["usage"];
    assert_eq!(usage["output_tokens"], 8);
    assert_eq!(usage["input_tokens_details"]["cached_tokens"], 0);
    let numbers: Vec<_> = events.iter().map(|event| event["sequence_number"].clone()).collect();
    assert_eq!(numbers, (0..10).map(Value::from).collect::<Vec<_>>());
}

#[test]
fn an_answer_that_is_wanted_at_once_comes_at_once() {
    let server = Server::start(|_| Turn::new().thinking("hm").text("yes").into()).unwrap();
    let response = post(&server, "/v1/responses", &body(false)).json();
    assert_eq!(response["status"], "completed");
    assert_eq!(response["output"][0]["summary"][0]["text"], "hm");
    assert_eq!(response["output"][1]["content"][0]["text"], "yes");
}

#[test]
fn a_command_is_a_call_of_the_tool_that_was_offered() {
    let server = Server::start(|_| Reply::shell("ls")).unwrap();
    let got = post(&server, "/v1/responses", &body(true));
    let events = got.events();
    let done = events.iter().find(|event| event["type"] == "response.output_item.done").unwrap();
    assert_eq!(done["item"]["name"], "exec_command");
    assert_eq!(done["item"]["arguments"], r#"{"cmd":"ls"}"#);
    assert_eq!(done["item"]["call_id"], "call_000001_0");
    assert!(got.types().contains(&"response.function_call_arguments.delta".to_owned()));
}

#[test]
fn tools_that_take_text_are_found_where_codex_hides_them() {
    let mut asked = body(true);
    asked["tools"] = json!([{"type": "web_search"}]);
    asked["input"] = json!([{"type": "additional_tools", "role": "developer", "tools": [
        {"type": "namespace", "name": "functions", "tools": [{"type": "custom", "name": "exec"}]}]}]);
    let server = Server::start(|_| Reply::shell("ls")).unwrap();
    let events = post(&server, "/v1/responses", &asked).events();
    let done = events.iter().find(|event| event["type"] == "response.output_item.done").unwrap();
    assert_eq!(done["item"]["type"], "custom_tool_call");
    assert_eq!(done["item"]["namespace"], "functions");
    assert!(done["item"]["input"].as_str().unwrap().contains("tools.exec_command"));
}

#[test]
fn a_local_shell_is_called_in_its_own_way() {
    let mut asked = body(false);
    asked["tools"] = json!([{"type": "local_shell"}]);
    let server = Server::start(|_| Reply::call(Call::shell("ls"))).unwrap();
    let response = post(&server, "/v1/responses", &asked).json();
    let action = json!({"type": "exec", "command": ["bash", "-lc", "ls"], "env": {}});
    assert_eq!(response["output"][0]["type"], "local_shell_call");
    assert_eq!(response["output"][0]["action"], action);
}

#[test]
fn a_conversation_is_understood() {
    let mut asked = body(false);
    asked["text"] = json!({"format": {"type": "json_schema", "name": "x", "schema": {"a": 1}}});
    asked["input"].as_array_mut().unwrap().extend([
        json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}),
        json!({"type": "function_call", "call_id": "c1", "name": "exec_command",
               "arguments": "{\"cmd\":\"ls\"}"}),
        json!({"type": "custom_tool_call", "call_id": "c2", "name": "exec", "input": "text(1)"}),
        json!({"type": "function_call_output", "call_id": "c1", "output": "a.txt"}),
        json!({"type": "custom_tool_call_output", "call_id": "c2",
               "output": [{"type": "input_text", "text": "1"}]}),
    ]);
    let server = Server::start(|_| Reply::text("ok")).unwrap();
    post(&server, "/v1/responses", &asked);
    let request = &server.requests()[0].request;
    assert_eq!(request.system, "You are somebody.\nBe brief.");
    assert_eq!(request.last_user_text(), "hello");
    assert_eq!(request.tool_results(), ["a.txt", "1"]);
    assert_eq!(request.answers(), 1);
    assert_eq!(request.schema, Some(json!({"a": 1})));
}

#[test]
fn an_answer_without_room_is_incomplete_and_a_refusal_is_one() {
    let server = Server::start(|request| match request.serial {
        1 => Reply::tokens_max("cut"),
        _ => Reply::refusal("no"),
    })
    .unwrap();
    let cut = post(&server, "/v1/responses", &body(true)).events();
    let last = cut.last().unwrap();
    assert_eq!(last["type"], "response.incomplete");
    assert_eq!(last["response"]["incomplete_details"]["reason"], "max_output_tokens");
    let refused = post(&server, "/v1/responses", &body(true));
    assert!(refused.types().contains(&"response.refusal.delta".to_owned()));
    let last = refused.events().pop().unwrap();
    assert_eq!(last["response"]["output"][0]["content"][0]["refusal"], "no");
}
