//! `handoff.json`: what one role hands to the next (docs/formats.md). Read tolerantly, written strictly.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What one role hands to the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Handoff {
    /// Who.
    #[serde(default)]
    pub from_skill: String,
    /// Where.
    #[serde(default)]
    pub phase: String,
    /// What was done, in a sentence.
    #[serde(default)]
    pub summary: String,
    /// What is complete.
    #[serde(default, deserialize_with = "texts")]
    pub completed: Vec<String>,
    /// What is not.
    #[serde(default, deserialize_with = "texts")]
    pub pending: Vec<String>,
    /// What could go wrong.
    #[serde(default, deserialize_with = "texts")]
    pub concerns: Vec<String>,
    /// What was decided, and why.
    #[serde(default, deserialize_with = "texts")]
    pub decisions: Vec<String>,
    /// Words to find things by.
    #[serde(default, deserialize_with = "texts")]
    pub context_keywords: Vec<String>,
    /// The plan, if one was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_path: Option<String>,
    /// What the final review came to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_review: Option<FinalReview>,
}

/// What the final review came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FinalReview {
    /// `passed` or `overridden`.
    pub status: String,
    /// How many findings there were.
    pub findings_count: u64,
}

impl Handoff {
    /// Reads a handoff.
    ///
    /// # Errors
    ///
    /// When it is no JSON object.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        let fields: serde_json::Map<String, Value> =
            serde_json::from_str(text.trim_start_matches('\u{feff}'))?;
        serde_json::from_value(Value::Object(fields))
    }
}

/// A list of texts, whatever stands in it: an object is known by what it says first, nothing by nothing.
fn texts<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    Ok(match Value::deserialize(from)? {
        Value::Null => Vec::new(),
        Value::Array(all) => all.iter().map(text).filter(|text| !text.is_empty()).collect(),
        other => vec![text(&other)],
    })
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Object(fields) => {
            let said = ["text", "title", "what", "decision", "description", "summary"];
            let first = said.iter().find_map(|name| fields.get(*name)?.as_str());
            let why =
                ["why", "rationale", "context"].iter().find_map(|name| fields.get(*name)?.as_str());
            match (first, why) {
                (Some(first), Some(why)) => format!("{first} ({why})"),
                (Some(first), None) => first.to_owned(),
                (None, _) => value.to_string(),
            }
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handoff_is_read_whatever_its_lists_hold() {
        let text = r#"{"fromSkill":"harness-planning","summary":"s","concerns":["a",{"title":"b","why":"c"},null,3],
                       "decisions":"one","pending":null,"extra":{"x":1}}"#;
        let handoff = Handoff::parse(text).unwrap();
        assert_eq!(handoff.concerns, ["a", "b (c)", "3"]);
        assert_eq!(
            (handoff.decisions.as_slice(), handoff.pending.len()),
            (&["one".to_owned()][..], 0)
        );
        assert!(Handoff::parse("[]").is_err() && Handoff::parse("no").is_err());
    }

    #[test]
    fn a_handoff_is_written_as_the_seed_does() {
        let handoff = Handoff {
            from_skill: "harness-autopilot".into(),
            phase: "DONE".into(),
            final_review: Some(FinalReview { status: "passed".into(), findings_count: 2 }),
            ..Handoff::default()
        };
        let json: Value = serde_json::to_value(&handoff).unwrap();
        assert_eq!(json["fromSkill"], "harness-autopilot");
        assert_eq!(json["finalReview"]["findingsCount"], 2);
        assert_eq!(json["contextKeywords"], Value::Array(Vec::new()));
        assert!(json.get("planPath").is_none());
    }
}
