//! Finds the last JSON object in what an agent wrote, among prose, fences and half-finished thoughts.

use serde_json::{Map, Value as Json};

/// So much of the end is looked at: an answer stands at the end, and what stands before may be endless.
const LOOKED_AT: usize = 256 * 1024;

/// The last object that stands for itself, not inside another.
pub fn last_object(text: &str) -> Option<Map<String, Json>> {
    let start = text.floor_char_boundary(text.len().saturating_sub(LOOKED_AT));
    let mut rest = &text[start..];
    let mut last = None;
    while let Some(at) = rest.find('{') {
        let from = &rest[at..];
        let mut stream = serde_json::Deserializer::from_str(from).into_iter::<Map<String, Json>>();
        match stream.next() {
            Some(Ok(object)) => {
                last = Some(object);
                rest = &from[stream.byte_offset()..];
            }
            Some(Err(_)) | None => rest = &from[1..],
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn verdict(text: &str) -> Option<String> {
        let object = last_object(text)?;
        Some(object.get("verdict").and_then(Json::as_str).unwrap_or("-").to_owned())
    }

    #[test]
    fn the_last_object_counts_wherever_it_stands() {
        assert_eq!(verdict(r#"{"verdict":"done"}"#).as_deref(), Some("done"));
        assert_eq!(
            verdict("I think { so }.\n```json\n{\"verdict\": \"done\",\n \"a\": {\"verdict\": \"x\"}}\n```\nBye.")
                .as_deref(),
            Some("done")
        );
        assert_eq!(verdict(r#"{"verdict":"a"} then {"verdict":"b"}"#).as_deref(), Some("b"));
        assert_eq!(verdict(r#"{"verdict":"a"} then {"verdict":"#).as_deref(), Some("a"));
        assert_eq!(verdict("no object { at all"), None);
        assert_eq!(verdict(""), None);
    }

    #[test]
    fn an_endless_beginning_is_not_looked_at() {
        let text = format!("{}{}", "{\"verdict\":\"old\"}".repeat(100_000), "x".repeat(LOOKED_AT));
        assert_eq!(verdict(&text), None);
        let text = format!("{}{{\"verdict\":\"new\"}}", "é{[\"".repeat(200_000));
        assert_eq!(verdict(&text).as_deref(), Some("new"));
    }

    proptest! {
        #[test]
        fn what_was_written_is_found(before in "[^{]{0,40}", word in "[a-z]{1,9}", after in "[^{]{0,40}") {
            let text = format!("{before}{{\"verdict\":\"{word}\"}}{after}");
            prop_assert_eq!(verdict(&text), Some(word));
        }

        #[test]
        fn nothing_makes_it_stumble(text in ".{0,200}") {
            let _ = last_object(&text);
        }
    }
}
