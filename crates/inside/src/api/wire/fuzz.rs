//! Streams of four providers, changed at random.

use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::*;
use crate::api::retry;
use crate::fuzz::{Damage, damage, damaged};

/// Data of events that providers send, in the order in which they do.
fn events(format: Format) -> &'static [&'static str] {
    match format {
        Format::Anthropic => &[
            r#"{"type":"message_start","message":{"usage":{"input_tokens":5,"cache_read_input_tokens":70,"output_tokens":1}}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm"}}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Grüße"}}"#,
            r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"a","name":"read","input":{}}}"#,
            r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"path\":\"x\"}"}}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":33}}"#,
            r#"{"type":"message_stop"}"#,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
        ],
        Format::Openai => &[
            r#"{"type":"response.created","response":{"usage":null}}"#,
            r#"{"type":"response.output_item.done","item":{"type":"reasoning","id":"rs","summary":[],"encrypted_content":"e"}}"#,
            r#"{"type":"response.output_item.done","item":{"type":"message","content":[{"type":"output_text","text":"Grüße"}]}}"#,
            r#"{"type":"response.output_item.done","item":{"type":"function_call","call_id":"a","name":"read","arguments":"{\"path\":\"x\"}"}}"#,
            r#"{"type":"response.completed","response":{"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":64},"output_tokens":7}}}"#,
            r#"{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}"#,
            r#"{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"try again in 20s"}}}"#,
        ],
        Format::OpenaiChat => &[
            r#"{"choices":[{"delta":{"role":"assistant","content":"Gr","reasoning_content":"Hm"}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\":"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"x\"}"}},{"index":1,"id":"b","function":{"name":"look"}}]}}]}"#,
            r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#,
            r#"{"choices":[],"usage":{"prompt_tokens":50,"completion_tokens":6,"prompt_tokens_details":{"cached_tokens":20}}}"#,
            "[DONE]",
        ],
        Format::Gemini => &[
            r#"{"candidates":[{"content":{"parts":[{"text":"Hm","thought":true}]}}],"usageMetadata":{"promptTokenCount":40},"responseId":"r"}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":"üße"},{"functionCall":{"name":"read","args":{"path":"x"}},"thoughtSignature":"sig"}]}}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":""}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":40,"cachedContentTokenCount":30,"candidatesTokenCount":5}}"#,
        ],
    }
}

/// What only an event has that ends an answer.
fn ends(format: Format) -> &'static [&'static str] {
    match format {
        Format::Anthropic => &["message_stop"],
        Format::Openai => &["response.completed", "response.incomplete"],
        Format::OpenaiChat => &["finish_reason"],
        Format::Gemini => &["finishReason", "promptFeedback"],
    }
}

fn formats() -> impl Strategy<Value = Format> {
    select(Format::ALL.to_vec())
}

/// Some events in any order, or all of them in theirs, with one that is another.
fn streams() -> impl Strategy<Value = (Format, Vec<(Index, Damage)>, bool)> {
    let steps = proptest::collection::vec((any::<Index>(), damage()), 1..16);
    (formats(), steps, any::<bool>())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_a_provider_sends_is_not_taken_for_more_than_it_is(
        (format, steps, whole) in streams()
    ) {
        let all = events(format);
        let mut sent: Vec<String> =
            steps.iter().map(|(at, how)| damaged(at.get::<&str>(all), how)).collect();
        if whole {
            let (at, how) = &steps[0];
            let at = at.index(all.len());
            sent = all.iter().enumerate().map(|(own, text)| match own == at {
                true => damaged(text, how),
                false => (*text).to_owned(),
            }).collect();
        }
        let mut ear = of(format).ear();
        for data in &sent {
            let name = serde_json::from_str::<Value>(data).ok();
            let name = name.map(|it| string(&it["type"])).unwrap_or_default();
            if ear.hear(&Event { name, data: data.clone() }).is_err() {
                break;
            }
        }
        let ended = sent.iter().any(|data| ends(format).iter().any(|end| data.contains(end)));
        let turn = ear.turn();
        prop_assert!(ended || turn.is_none(), "{turn:?}");
        if let Some(turn) = turn {
            // Whatever it is, it can be said again, to whomever.
            let parts = turn.parts;
            let messages = [Message { who: crate::api::conversation::Who::Model, parts }];
            let asked = Asked {
                model: "m",
                system: "s",
                messages: &messages,
                tools: &[],
                effort: None,
                output_tokens_max: None,
                at_home: true,
            };
            for other in Format::ALL {
                prop_assert!(of(other).post(&asked).body.is_object());
            }
        }
    }

    #[test]
    fn whatever_a_provider_complains_about_is_some_trouble(
        format in formats(),
        status in any::<u16>(),
        body in prop_oneof![Just(r#"{"error":{"type":"rate_limit_error","code":"x","message":"m","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"3s"}],"resets_at":5}}"#)],
        how in damage(),
        (header, value) in (select(vec!["retry-after", "retry-after-ms", "x-other"]), ".{0,40}"),
        met in 1_u32..9,
        now_ms in any::<i64>(),
        chance in any::<f64>(),
    ) {
        let body = damaged(body, &how);
        let headers = vec![(header.to_owned(), value)];
        let refusal = Refusal { status, headers: &headers, body: &body, now_ms };
        let complaint = of(format).complaint(&refusal);
        prop_assert!(!complaint.message.is_empty());
        let pace = windlass_agents::api::Pace::default();
        // It is always known what to do.
        let next = retry::next(complaint.trouble, met, &pace, now_ms, chance);
        let at_once = matches!(next, retry::Next::Wait(wait) if wait.is_zero());
        prop_assert!(!at_once || header != "x-other", "{next:?}, and nobody has said so");
    }
}
