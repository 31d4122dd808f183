//! Finds the last JSON object in what an agent wrote, among prose, fences and half-finished thoughts.

use serde_json::{Map, Value as Json};

use crate::schema::SUMMARY;

/// So much of the end is looked at: an answer stands at the end, and what stands before may be endless.
const LOOKED_AT: usize = 256 * 1024;

/// The last object that stands for itself, not inside another.
pub fn last_object(text: &str) -> Option<Map<String, Json>> {
    let mut last = None;
    each_object(text, |object| last = Some(object));
    last
}

/// Every object that stands for itself, not inside another: one that had to ask again has said two.
pub fn each_object(text: &str, mut look: impl FnMut(Map<String, Json>)) {
    let start = text.floor_char_boundary(text.len().saturating_sub(LOOKED_AT));
    let mut rest = &text[start..];
    while let Some(at) = rest.find('{') {
        let from = &rest[at..];
        let mut stream = serde_json::Deserializer::from_str(from).into_iter::<Map<String, Json>>();
        match stream.next() {
            Some(Ok(object)) => {
                look(object);
                rest = &from[stream.byte_offset()..];
            }
            Some(Err(_)) | None => rest = &from[1..],
        }
    }
}

/// What an answer says, in a line: its summary, or else where its prose begins.
pub fn gist(text: &str) -> String {
    let summary = last_object(text).and_then(|object| {
        let own = object.get(SUMMARY)?.as_str()?.trim();
        (!own.is_empty()).then(|| own.to_owned())
    });
    let prose = || {
        let mut lines = text.lines().map(str::trim);
        let line = lines.find(|line| line.contains(char::is_alphabetic))?;
        (!line.starts_with(['{', '`'])).then(|| line.to_owned())
    };
    one_line(&summary.or_else(prose).unwrap_or_default())
}

/// A text on one line, without anything that a terminal would obey, and not too long.
pub fn one_line(text: &str) -> String {
    let words: Vec<&str> = text
        .split(|letter: char| letter.is_whitespace() || letter.is_control())
        .filter(|word| !word.is_empty())
        .collect();
    let mut gist = words.join(" ");
    if gist.len() > GIST_BYTES {
        gist.truncate(gist.floor_char_boundary(GIST_BYTES));
        gist.push('…');
    }
    gist
}

/// A line is not longer than this.
const GIST_BYTES: usize = 200;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn verdict(text: &str) -> Option<String> {
        let object = last_object(text)?;
        Some(object.get("verdict").and_then(Json::as_str).unwrap_or("-").to_owned())
    }

    #[test]
    fn the_gist_is_a_line() {
        for (text, want) in [
            (r#"{"verdict":"done","summary":" made\n it  \u001b[1mwork "}"#, "made it [1mwork"),
            ("\n  \nI made it work.\nAnd more.\n{\"verdict\":\"done\"}", "I made it work."),
            (r#"{"verdict":"done"}"#, ""),
            ("```json\n{\"verdict\":\"done\"}\n```", ""),
            ("", ""),
        ] {
            assert_eq!(gist(text), want, "{text}");
        }
        let long = gist(&"é ".repeat(300));
        assert!(long.ends_with('…') && long.len() < 210, "{}", long.len());
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
