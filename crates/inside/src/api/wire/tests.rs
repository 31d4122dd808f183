//! What goes over the wire and what comes back, provider by provider.

use std::time::Duration;

use super::*;
use crate::api::conversation::{Outcome, Who};
use crate::api::sse::Events;

fn call(id: &str, name: &str, input: Value) -> Part {
    Part::Call(Call { id: id.to_owned(), name: name.to_owned(), input, signature: None })
}

fn result(id: &str, text: &str, failed: bool) -> Part {
    let (id, name, text) = (id.to_owned(), "read".to_owned(), text.to_owned());
    Part::Result(Outcome { id, name, text, failed })
}

/// A task, two calls at once, what came of them, and a word.
fn talk() -> Vec<Message> {
    vec![
        Message::user("do it"),
        Message {
            who: Who::Model,
            parts: vec![
                Part::text("I look."),
                call("c1", "read", json!({"path": "a"})),
                call("c2", "read", json!({"path": "b"})),
            ],
        },
        Message {
            who: Who::User,
            parts: vec![
                result("c1", "x", false),
                result("c2", "not there", true),
                Part::text("go on"),
            ],
        },
    ]
}

fn body(format: Format) -> (String, Value) {
    let tools = [Tool { name: "read", about: "Reads.", schema: json!({"type": "object"}) }];
    let asked = Asked {
        model: "m",
        system: "who you are",
        messages: &talk(),
        tools: &tools,
        effort: Some("high"),
        output_tokens_max: Some(99),
        at_home: false,
    };
    let posted = of(format).post(&asked);
    (posted.path, posted.body)
}

#[test]
fn a_conversation_is_said_in_anthropics_words() {
    let (path, body) = body(Format::Anthropic);
    assert_eq!(path, "/v1/messages");
    assert_eq!((&body["max_tokens"], &body["stream"]), (&json!(99), &json!(true)));
    assert_eq!(body["system"][0]["text"], "who you are");
    assert_eq!(body["tools"][0]["input_schema"], json!({"type": "object"}));
    let said = &body["messages"][1]["content"];
    assert_eq!(
        said[2],
        json!({"type": "tool_use", "id": "c2", "name": "read", "input": {"path": "b"}})
    );
    let came = &body["messages"][2]["content"];
    assert_eq!((&came[0]["tool_use_id"], &came[1]["is_error"]), (&json!("c1"), &json!(true)));
    assert_eq!(came[2]["cache_control"]["type"], "ephemeral");
    assert_eq!(of(Format::Anthropic).headers(Some("k"))[1], ("x-api-key", "k".to_owned()));
}

#[test]
fn a_conversation_is_said_as_items_for_responses() {
    let (path, body) = body(Format::Openai);
    assert_eq!(path, "/responses");
    assert_eq!((&body["instructions"], &body["store"]), (&json!("who you are"), &json!(false)));
    assert_eq!(body["parallel_tool_calls"], true);
    let items = body["input"].as_array().unwrap();
    let kinds: Vec<&str> = items.iter().map(|item| item["type"].as_str().unwrap()).collect();
    let want = ["message", "message", "function_call", "function_call"];
    assert_eq!(kinds[..4], want);
    assert_eq!(kinds[4..], ["function_call_output", "function_call_output", "message"]);
    assert_eq!(items[1]["content"][0]["type"], "output_text");
    assert_eq!(items[3]["arguments"], "{\"path\":\"b\"}");
    assert_eq!((&items[5]["call_id"], &items[5]["output"]), (&json!("c2"), &json!("not there")));
}

#[test]
fn a_conversation_is_said_as_messages_for_chat() {
    let (path, body) = body(Format::OpenaiChat);
    assert_eq!(path, "/chat/completions");
    assert_eq!(body["stream_options"]["include_usage"], true);
    assert_eq!((&body["max_tokens"], &body["reasoning_effort"]), (&json!(99), &json!("high")));
    let roles: Vec<&str> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "tool", "user"]);
    assert_eq!(body["messages"][2]["tool_calls"][1]["function"]["arguments"], "{\"path\":\"b\"}");
    assert_eq!(body["messages"][4]["tool_call_id"], "c2");
    assert_eq!(of(Format::OpenaiChat).headers(None), []);
    assert_eq!(of(Format::OpenaiChat).headers(Some("k"))[0].1, "Bearer k");
}

#[test]
fn a_conversation_is_said_as_contents_for_gemini() {
    let (path, body) = body(Format::Gemini);
    assert_eq!(path, "/v1beta/models/m:streamGenerateContent?alt=sse");
    assert_eq!(body["systemInstruction"]["parts"][0]["text"], "who you are");
    assert_eq!(body["generationConfig"]["thinkingConfig"]["thinkingLevel"], "high");
    assert_eq!(body["generationConfig"]["maxOutputTokens"], 99);
    let said = &body["contents"][1];
    assert_eq!(
        (&said["role"], &said["parts"][2]["functionCall"]["args"]),
        (&json!("model"), &json!({"path": "b"}))
    );
    let came = &body["contents"][2]["parts"];
    assert_eq!(came[0]["functionResponse"]["response"], json!({"output": "x"}));
    assert_eq!(came[1]["functionResponse"]["response"], json!({"error": "not there"}));
    assert_eq!(came[2]["text"], "go on");
}

/// Lines of a stream: each an event with a name, if there is one before a bar, and data.
fn stream(lines: &[&str]) -> String {
    let event = |line: &&str| match line.split_once('|') {
        Some((name, data)) if !name.starts_with('{') => format!("event: {name}\ndata: {data}\n\n"),
        _ => format!("data: {line}\n\n"),
    };
    lines.iter().map(event).collect()
}

type Came = (Result<(), Complaint>, Option<Used>, Option<Turn>);

/// What is heard of a stream that comes in these pieces.
fn heard(format: Format, pieces: &[&[u8]]) -> Came {
    let (mut events, mut ear) = (Events::default(), of(format).ear());
    let mut came = Ok(());
    for piece in pieces {
        let _ = events.feed(piece, |event| {
            if came.is_ok() {
                came = ear.hear(&event);
            }
        });
    }
    let used = ear.used();
    (came, used, ear.turn())
}

/// What is heard of a stream, which is the same wherever it is cut.
fn hear(format: Format, text: &str) -> Came {
    let bytes = text.as_bytes();
    let whole = heard(format, &[bytes]);
    for at in 0..bytes.len() {
        assert_eq!(heard(format, &[&bytes[..at], &bytes[at..]]), whole, "{format:?} cut at {at}");
    }
    whole
}

/// A stream that ends too early says nothing.
fn ends_early(format: Format, lines: &[&str]) {
    for length in 0..lines.len() {
        let text = stream(&lines[..length]);
        assert_eq!(heard(format, &[text.as_bytes()]).2, None, "{format:?} {length}");
    }
}

#[test]
fn what_a_model_says_is_heard_from_anthropic() {
    let lines = [
        r#"message_start|{"type":"message_start","message":{"usage":{"input_tokens":5,"cache_read_input_tokens":70,"cache_creation_input_tokens":9,"output_tokens":1}}}"#,
        r#"content_block_start|{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
        r#"content_block_delta|{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm"}}"#,
        r#"content_block_delta|{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"sig"}}"#,
        r#"content_block_start|{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}"#,
        r#"content_block_delta|{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Gr"}}"#,
        r#"content_block_delta|{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"üße"}}"#,
        r#"content_block_start|{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"a","name":"read","input":{}}}"#,
        r#"content_block_delta|{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"path\""}}"#,
        r#"content_block_delta|{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":":\"x\"}"}}"#,
        r#"content_block_start|{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"b","name":"look","input":{}}}"#,
        r#"message_delta|{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":33}}"#,
        r#"message_stop|{"type":"message_stop"}"#,
    ];
    let (came, used, turn) = hear(Format::Anthropic, &stream(&lines));
    assert_eq!(came, Ok(()));
    assert_eq!(used, Some(Used { input: 5, cached: 70, cache_write: 9, output: 33 }));
    let thought =
        Part::Kept { value: json!({"type": "thinking", "thinking": "Hm", "signature": "sig"}) };
    let calls = [call("a", "read", json!({"path": "x"})), call("b", "look", json!({}))];
    let parts: Vec<Part> = [thought, Part::text("Grüße")].into_iter().chain(calls).collect();
    assert_eq!(turn, Some(Turn { parts, stop: Stop::End }));
    ends_early(Format::Anthropic, &lines);
}

#[test]
fn what_a_model_says_is_heard_from_responses() {
    let lines = [
        r#"response.created|{"type":"response.created","response":{"usage":null}}"#,
        r#"response.output_item.done|{"type":"response.output_item.done","item":{"type":"reasoning","id":"rs","summary":[],"encrypted_content":"e","status":"completed"}}"#,
        r#"response.output_item.done|{"type":"response.output_item.done","item":{"type":"reasoning","id":"rs2","summary":[]}}"#,
        r#"response.output_text.delta|{"type":"response.output_text.delta","delta":"Gr"}"#,
        r#"response.output_item.done|{"type":"response.output_item.done","item":{"type":"message","content":[{"type":"output_text","text":"Grüße"}]}}"#,
        r#"response.output_item.done|{"type":"response.output_item.done","item":{"type":"function_call","call_id":"a","name":"read","arguments":"{\"path\":\"x\"}"}}"#,
        r#"response.output_item.done|{"type":"response.output_item.done","item":{"type":"function_call","call_id":"b","name":"look","arguments":"{\"pa"}}"#,
        r#"response.completed|{"type":"response.completed","response":{"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":64},"output_tokens":7}}}"#,
    ];
    let (came, used, turn) = hear(Format::Openai, &stream(&lines));
    assert_eq!(came, Ok(()));
    assert_eq!(used, Some(Used { input: 36, cached: 64, cache_write: 0, output: 7 }));
    let thought = json!({"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "e"});
    let parts = vec![
        Part::Kept { value: thought },
        Part::text("Grüße"),
        call("a", "read", json!({"path": "x"})),
        call("b", "look", json!({"unreadable": "{\"pa"})),
    ];
    assert_eq!(turn, Some(Turn { parts, stop: Stop::End }));
    ends_early(Format::Openai, &lines);
}

#[test]
fn what_a_model_says_is_heard_from_chat() {
    let lines = [
        r#"{"choices":[{"delta":{"role":"assistant","content":"","reasoning_content":"Hm"}}]}"#,
        r#"{"choices":[{"delta":{"content":"Gr"}}]}"#,
        r#"{"choices":[{"delta":{"content":"üße"}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":""}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":"}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"x\"}"}},{"index":1,"id":"b","function":{"name":"look","arguments":"{}"}}]}}]}"#,
        r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#,
        r#"{"choices":[],"usage":{"prompt_tokens":50,"completion_tokens":6,"prompt_tokens_details":{"cached_tokens":20}}}"#,
        "[DONE]",
    ];
    let (came, used, turn) = hear(Format::OpenaiChat, &stream(&lines));
    assert_eq!(came, Ok(()));
    assert_eq!(used, Some(Used { input: 30, cached: 20, cache_write: 0, output: 6 }));
    let thought = Part::Kept { value: json!({"reasoning_content": "Hm"}) };
    let calls = [call("a", "read", json!({"path": "x"})), call("b", "look", json!({}))];
    let parts: Vec<Part> = [thought, Part::text("Grüße")].into_iter().chain(calls).collect();
    assert_eq!(turn, Some(Turn { parts: parts.clone(), stop: Stop::End }));
    ends_early(Format::OpenaiChat, &lines[..6]);
    // What it thought goes back with its calls.
    let messages = [Message { who: Who::Model, parts }];
    let asked = Asked {
        model: "m",
        system: "",
        messages: &messages,
        tools: &[],
        effort: None,
        output_tokens_max: None,
        at_home: false,
    };
    assert_eq!(of(Format::OpenaiChat).post(&asked).body["messages"][1]["reasoning_content"], "Hm");
}

#[test]
fn a_server_that_numbers_every_call_the_same_is_understood() {
    let lines = [
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"look","arguments":"{}"}}]}}]}"#,
        r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
    ];
    let (_, used, turn) = hear(Format::OpenaiChat, &stream(&lines));
    let parts = vec![call("a", "read", json!({})), call("b", "look", json!({}))];
    assert_eq!((used, turn), (None, Some(Turn { parts, stop: Stop::End })));
}

#[test]
fn what_a_model_says_is_heard_from_gemini() {
    let lines = [
        r#"{"candidates":[{"content":{"parts":[{"text":"Hm","thought":true}]}}],"usageMetadata":{"promptTokenCount":40},"responseId":"r"}"#,
        r#"{"candidates":[{"content":{"parts":[{"text":"Gr"}]}}]}"#,
        r#"{"candidates":[{"content":{"parts":[{"text":"üße"},{"functionCall":{"name":"read","args":{"path":"x"}},"thoughtSignature":"sig"},{"functionCall":{"id":"b","name":"look"}}]}}]}"#,
        r#"{"candidates":[{"content":{"parts":[{"text":""}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":40,"cachedContentTokenCount":30,"candidatesTokenCount":5,"thoughtsTokenCount":2}}"#,
    ];
    let (came, used, turn) = hear(Format::Gemini, &stream(&lines));
    assert_eq!(came, Ok(()));
    assert_eq!(used, Some(Used { input: 10, cached: 30, cache_write: 0, output: 7 }));
    let read = Call {
        id: "windlass-r-0".to_owned(),
        name: "read".to_owned(),
        input: json!({"path": "x"}),
        signature: Some("sig".to_owned()),
    };
    let parts = vec![Part::text("Grüße"), Part::Call(read), call("b", "look", json!({}))];
    assert_eq!(turn, Some(Turn { parts: parts.clone(), stop: Stop::End }));
    ends_early(Format::Gemini, &lines);
    // The signature goes back with its call; a name that we gave stays with us.
    let messages = [
        Message { who: Who::Model, parts },
        Message {
            who: Who::User,
            parts: vec![result("windlass-r-0", "x", false), result("b", "y", false)],
        },
    ];
    let asked = Asked {
        model: "m",
        system: "",
        messages: &messages,
        tools: &[],
        effort: None,
        output_tokens_max: None,
        at_home: true,
    };
    let body = of(Format::Gemini).post(&asked).body;
    let said = &body["contents"][0]["parts"];
    assert_eq!(
        (&said[1]["thoughtSignature"], &said[1]["functionCall"]["id"]),
        (&json!("sig"), &Value::Null)
    );
    assert_eq!(said[2]["functionCall"]["id"], "b");
    assert_eq!(body["contents"][1]["parts"][0]["functionResponse"]["id"], Value::Null);
    assert_eq!(body["contents"][1]["parts"][1]["functionResponse"]["id"], "b");
}

#[test]
fn why_a_model_stopped_is_told_apart() {
    let stops = |format, line: &str, want| {
        let mut lines = vec![line];
        lines.extend((format == Format::Anthropic).then_some(r#"{"type":"message_stop"}"#));
        let (_, _, turn) = heard(format, &[stream(&lines).as_bytes()]);
        assert_eq!(turn.map(|turn| turn.stop), Some(want), "{line}");
    };
    for (reason, want) in [
        ("end_turn", Stop::End),
        ("max_tokens", Stop::Length),
        ("refusal", Stop::Refused),
        ("model_context_window_exceeded", Stop::Overflow),
    ] {
        let line = format!(r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}"}}}}"#);
        stops(Format::Anthropic, &line, want);
    }
    for (reason, want) in
        [("stop", Stop::End), ("length", Stop::Length), ("content_filter", Stop::Refused)]
    {
        let line = format!(r#"{{"choices":[{{"delta":{{}},"finish_reason":"{reason}"}}]}}"#);
        stops(Format::OpenaiChat, &line, want);
    }
    let refused = r#"{"choices":[{"delta":{"refusal":"No."},"finish_reason":"stop"}]}"#;
    stops(Format::OpenaiChat, refused, Stop::Refused);
    for (reason, want) in [
        ("STOP", Stop::End),
        ("MAX_TOKENS", Stop::Length),
        ("SAFETY", Stop::Refused),
        ("MALFORMED_FUNCTION_CALL", Stop::Garbled),
    ] {
        let line = format!(r#"{{"candidates":[{{"finishReason":"{reason}"}}]}}"#);
        stops(Format::Gemini, &line, want);
    }
    stops(Format::Gemini, r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#, Stop::Refused);
    for (reason, want) in [("max_output_tokens", Stop::Length), ("content_filter", Stop::Refused)] {
        let line = format!(
            r#"{{"type":"response.incomplete","response":{{"incomplete_details":{{"reason":"{reason}"}}}}}}"#
        );
        stops(Format::Openai, &line, want);
    }
}

fn complains(format: Format, status: u16, headers: &[(&str, &str)], body: &str) -> Trouble {
    let headers: Headers =
        headers.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
    of(format).complaint(&Refusal { status, headers: &headers, body, now_ms: 0 }).trouble
}

#[test]
fn a_status_means_the_same_whoever_says_it() {
    let wait = Some(Duration::from_secs(7));
    for format in Format::ALL {
        let says = |status, headers: &[(&str, &str)]| complains(format, status, headers, "<html>");
        for status in [401, 402, 403] {
            assert_eq!(says(status, &[]), Trouble::Unwelcome, "{format:?}");
        }
        for status in [500, 502, 503, 504, 529, 408] {
            assert_eq!(says(status, &[("retry-after", "7")]), Trouble::Down(wait), "{format:?}");
        }
        assert_eq!(says(429, &[]), Trouble::Busy(None), "{format:?}");
        assert_eq!(says(429, &[("retry-after", "7")]), Trouble::Busy(wait), "{format:?}");
        assert_eq!(says(413, &[]), Trouble::Overflow, "{format:?}");
        assert_eq!(says(404, &[]), Trouble::Odd, "{format:?}");
    }
}

#[test]
fn what_a_provider_says_of_itself_counts_more() {
    let used_up = [
        ("anthropic-ratelimit-unified-status", "rejected"),
        ("anthropic-ratelimit-unified-reset", "4000000000"),
    ];
    let until = Trouble::UsedUp(Some(4_000_000_000_000));
    assert_eq!(complains(Format::Anthropic, 429, &used_up, "{}"), until);
    let body = r#"{"error":{"type":"usage_limit_reached","resets_at":4000000000}}"#;
    assert_eq!(complains(Format::Openai, 429, &[("retry-after", "1")], body), until);
    let body = r#"{"error":{"code":"insufficient_quota","type":"insufficient_quota"}}"#;
    assert_eq!(complains(Format::OpenaiChat, 429, &[], body), Trouble::UsedUp(None));
    let body = r#"{"error":{"code":"rate_limit_exceeded"}}"#;
    let wait = Some(Duration::from_secs(2));
    assert_eq!(complains(Format::Openai, 429, &[("retry-after", "2")], body), Trouble::Busy(wait));
    let body = r#"{"error":{"details":[{"retryDelay":"1.5s"}]}}"#;
    let wait = Some(Duration::from_millis(1_500));
    assert_eq!(complains(Format::Gemini, 429, &[], body), Trouble::Busy(wait));
    let body = r#"[{"error":{"details":[{"violations":[{"quotaId":"RequestsPerDayPerProject"}]},{"retryDelay":"1s"}]}}]"#;
    assert_eq!(complains(Format::Gemini, 429, &[], body), Trouble::UsedUp(None));
    let body =
        r#"{"error":{"status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}"#;
    assert_eq!(complains(Format::Gemini, 400, &[], body), Trouble::Unwelcome);
}

#[test]
fn a_request_that_is_too_long_is_told_from_one_that_makes_no_sense() {
    for (format, body) in [
        (
            Format::Anthropic,
            r#"{"error":{"type":"invalid_request_error","message":"prompt is too long: 213462 tokens > 200000 maximum"}}"#,
        ),
        (Format::Openai, r#"{"error":{"code":"context_length_exceeded"}}"#),
        (
            Format::OpenaiChat,
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens."}}"#,
        ),
        (Format::OpenaiChat, r#"{"error":{"type":"exceed_context_size_error"}}"#),
        (
            Format::OpenaiChat,
            r#"{"object":"error","message":"the request exceeds the available context size"}"#,
        ),
        (
            Format::Gemini,
            r#"{"error":{"status":"INVALID_ARGUMENT","message":"The input token count (9) exceeds the maximum number of tokens allowed (8)."}}"#,
        ),
    ] {
        assert_eq!(complains(format, 400, &[], body), Trouble::Overflow, "{body}");
    }
    for format in Format::ALL {
        let body = r#"{"error":{"type":"invalid_request_error","message":"no such field"}}"#;
        assert_eq!(complains(format, 400, &[], body), Trouble::Odd);
    }
}

#[test]
fn trouble_in_the_middle_of_a_stream_is_told_apart() {
    for (format, line, want) in [
        (
            Format::Anthropic,
            r#"error|{"type":"error","error":{"type":"overloaded_error"}}"#,
            Trouble::Down(None),
        ),
        (
            Format::Anthropic,
            r#"error|{"type":"error","error":{"type":"rate_limit_error"}}"#,
            Trouble::Busy(None),
        ),
        (
            Format::Openai,
            r#"{"type":"response.failed","response":{"error":{"code":"server_error"}}}"#,
            Trouble::Down(None),
        ),
        (
            Format::Openai,
            r#"{"type":"response.failed","response":{"error":{"code":"context_length_exceeded"}}}"#,
            Trouble::Overflow,
        ),
        (Format::Openai, r#"{"type":"error","code":"rate_limit_exceeded"}"#, Trouble::Busy(None)),
        (Format::OpenaiChat, r#"{"error":{"message":"gone"}}"#, Trouble::Down(None)),
        (Format::Gemini, r#"{"error":{"status":"UNAVAILABLE"}}"#, Trouble::Down(None)),
        (Format::Gemini, r#"{"error":{"status":"RESOURCE_EXHAUSTED"}}"#, Trouble::Busy(None)),
    ] {
        let (came, _, turn) = hear(format, &stream(&[line]));
        assert_eq!((came.unwrap_err().trouble, turn), (want, None), "{line}");
    }
    for format in Format::ALL {
        let came = heard(format, &[b"data: {\"type\n\n"]).0;
        assert_eq!(came.unwrap_err().trouble, Trouble::Cut);
        // Whatever comes is no reason to stumble.
        for odd in ["null", "[]", "1", "\"\"", "{\"choices\":1,\"candidates\":{},\"type\":[]}"] {
            let _ = heard(format, &[format!("data: {odd}\n\n").as_bytes()]);
        }
    }
}
