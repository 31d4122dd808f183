//! Google's Gemini.

use serde_json::{Value, json};
use windlass_testkit::{Api, Call, Complaint, Fault, Reply, Server, Then, Tokens, Turn};

use crate::client::post;

const AT_ONCE: &str = "/v1beta/models/gemini-x:generateContent";
const STREAMED: &str = "/v1beta/models/gemini-x:streamGenerateContent?alt=sse";

pub fn body() -> Value {
    json!({
        "systemInstruction": {"role": "user", "parts": [{"text": "You are somebody."}]},
        "tools": [{"functionDeclarations": [
            {"name": "run_shell_command", "parametersJsonSchema": {"type": "object",
             "properties": {"command": {"type": "string"}}}},
            {"name": "write_file", "parameters": {"type": "OBJECT", "properties":
             {"file_path": {"type": "STRING"}, "content": {"type": "STRING"}}}}]}],
        "generationConfig": {"maxOutputTokens": 7},
        "contents": [{"role": "user", "parts": [{"text": "hello"}]}]})
}

#[test]
fn a_text_comes_bit_by_bit_and_in_the_right_order() {
    let server =
        Server::start(|_| Turn::new().thinking("hm").text("one two three four five six").into());
    let events = post(&server.unwrap(), STREAMED, &body()).events();
    let part = |at: usize| events[at]["candidates"][0]["content"]["parts"][0].clone();
    assert_eq!(part(0), json!({"text": "hm", "thought": true}));
    assert_eq!(part(1), json!({"text": "one two three four five "}));
    assert_eq!(part(2), json!({"text": "six"}));
    assert_eq!(events[3]["candidates"][0]["finishReason"], "STOP");
    assert_eq!(events[3]["usageMetadata"]["candidatesTokenCount"], 7);
    assert!(events[0]["usageMetadata"]["promptTokenCount"].as_u64() > Some(0));
    assert_eq!(events.len(), 4);
}

#[test]
fn what_it_came_to_can_be_said_at_the_end_alone() {
    let server = Server::start(|_| Turn::new().text("x").tokens(Tokens::AtTheEnd).into()).unwrap();
    let events = post(&server, STREAMED, &body()).events();
    let says: Vec<_> = events.iter().map(|event| event.get("usageMetadata").is_some()).collect();
    assert_eq!(says, [false, true]);
}

#[test]
fn tools_are_called_by_the_names_that_were_offered() {
    let server =
        Server::start(|_| Turn::new().call(Call::shell("ls")).call(Call::write("a", "x")).into())
            .unwrap();
    let all = post(&server, AT_ONCE, &body()).json();
    let parts = &all["candidates"][0]["content"]["parts"];
    assert_eq!(parts[0]["functionCall"]["name"], "run_shell_command");
    assert_eq!(parts[0]["functionCall"]["args"], json!({"command": "ls"}));
    assert_eq!(parts[1]["functionCall"]["args"], json!({"file_path": "a", "content": "x"}));
    assert_eq!(all["modelVersion"], "gemini-x");
}

#[test]
fn a_conversation_is_understood() {
    let mut asked = body();
    asked["generationConfig"]["responseJsonSchema"] = json!({"a": 1});
    asked["contents"].as_array_mut().unwrap().extend([
        json!({"role": "model", "parts": [{"text": "hm", "thought": true},
               {"functionCall": {"name": "run_shell_command", "args": {"command": "ls"}}}]}),
        json!({"role": "user", "parts": [
            {"functionResponse": {"name": "run_shell_command", "response": {"output": "a.txt"}}},
            {"functionResponse": {"name": "x", "response": {"error": "no"}}}]}),
    ]);
    let server = Server::start(|_| Reply::text("ok")).unwrap();
    post(&server, &format!("{AT_ONCE}?key=test-key"), &asked);
    let request = &server.requests()[0].request;
    assert_eq!((request.api, request.model.as_str()), (Api::Gemini, "gemini-x"));
    assert_eq!(request.key.as_deref(), Some("test-key"));
    assert_eq!(request.system, "You are somebody.");
    assert_eq!(request.last_user_text(), "hello");
    assert_eq!(request.tool_results(), ["a.txt", "no"]);
    assert_eq!(request.schema, Some(json!({"a": 1})));
    assert_eq!(request.tokens_max, Some(7));
}

#[test]
fn tokens_are_counted_without_asking_the_brain() {
    let server = Server::start(|_| panic!("asked")).unwrap();
    let asked = json!({"generateContentRequest": body()});
    let got = post(&server, "/v1beta/models/gemini-x:countTokens", &asked);
    assert!(got.json()["totalTokens"].as_u64() > Some(10));
}

#[test]
fn it_ends_and_complains_in_its_own_words() {
    for (reply, stop) in [(Reply::refusal("no"), "SAFETY"), (Reply::tokens_max("x"), "MAX_TOKENS")]
    {
        let server = Server::start(move |_| reply.clone()).unwrap();
        let all = post(&server, AT_ONCE, &body()).json();
        assert_eq!(all["candidates"][0]["finishReason"], stop);
    }
    for (complaint, status, name) in [
        (Complaint::rate_limited(5), 429, "RESOURCE_EXHAUSTED"),
        (Complaint::Overloaded, 503, "UNAVAILABLE"),
        (Complaint::Internal, 500, "INTERNAL"),
        (Complaint::Unauthorized, 401, "UNAUTHENTICATED"),
        (Complaint::Overflow, 400, "INVALID_ARGUMENT"),
    ] {
        let server = Server::start(move |_| Reply::complaint(complaint)).unwrap();
        let got = post(&server, STREAMED, &body());
        assert_eq!((got.status, &got.json()["error"]["status"]), (status, &json!(name)));
        if status == 429 {
            assert_eq!(got.json()["error"]["details"][0]["retryDelay"], "5s");
        }
    }
}

#[test]
fn a_stream_can_break() {
    let server = Server::start(|request| match request.serial {
        1 => Reply::cut(1, Turn::new().text("one two three four five six")),
        _ => {
            let then = Then::Complain(Complaint::Overloaded);
            Fault::Midway { after: 1, turn: Turn::new().text("x"), then }.into()
        }
    })
    .unwrap();
    let got = post(&server, STREAMED, &body());
    assert_eq!((got.events().len(), got.whole), (1, false));
    let got = post(&server, STREAMED, &body());
    assert_eq!(got.events()[1]["error"]["code"], 503);
}
