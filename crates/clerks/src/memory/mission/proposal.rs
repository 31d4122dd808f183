//! What a curator proposes: a summary, something to remember at length, and lines for roles' identities.

use serde_json::{Map, Value as Json};

use crate::memory::tokens;

/// A summary has no more lines than this,
pub const SUMMARY_LINES_MAX: usize = 40;
/// nor more tokens.
pub const SUMMARY_TOKENS_MAX: usize = 800;

/// What is to be remembered at length is no longer than this, each time.
pub const LONG_BYTES_MAX: usize = 16 * 1024;

/// A curator's answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proposal {
    /// The new summary.
    pub summary: Option<String>,
    /// What is to be appended to `MEMORY.md`.
    pub long: Option<String>,
    /// Lines for identities: the role, and what it should know.
    pub promote: Vec<(String, String)>,
}

impl Proposal {
    /// Reads an answer: its last object, as with every answer.
    pub fn read(said: &str) -> Self {
        let object = windlass_agents::last_object(said).unwrap_or_default();
        let promote = object.get(windlass_agents::PROMOTE).and_then(Json::as_array);
        let line = |item: &Json| {
            let text = |name: &str| item.get(name)?.as_str().map(str::trim).map(str::to_owned);
            Some((text("role")?, text("text").filter(|text| !text.is_empty())?))
        };
        Proposal {
            summary: text(&object, windlass_agents::SUMMARY),
            long: text(&object, windlass_agents::LONG),
            promote: promote.into_iter().flatten().filter_map(line).collect(),
        }
    }

    /// Why its summary cannot be taken, if it cannot.
    pub fn too_long(&self) -> Option<String> {
        self.summary.as_deref().and_then(over)
    }
}

/// A text of an answer, without what a terminal or an editor would stumble over.
fn text(object: &Map<String, Json>, name: &str) -> Option<String> {
    let text = object.get(name)?.as_str()?.replace("\r\n", "\n");
    let plain = |letter: char| letter == '\n' || letter == '\t' || !letter.is_control();
    let text: String = text.chars().filter(|letter| plain(*letter)).collect();
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Why a summary is too long, if it is.
pub fn over(summary: &str) -> Option<String> {
    let (lines, tokens) = (summary.lines().count(), tokens::estimate(summary));
    if lines > SUMMARY_LINES_MAX {
        return Some(format!(
            "its summary has {lines} lines, and {SUMMARY_LINES_MAX} are the most"
        ));
    }
    (tokens > SUMMARY_TOKENS_MAX).then(|| {
        format!("its summary has about {tokens} tokens, and {SUMMARY_TOKENS_MAX} are the most")
    })
}

/// As much of a summary as there is room for: a person may write more than a curator may.
pub fn capped(summary: &str) -> String {
    if over(summary).is_none() {
        return summary.to_owned();
    }
    // A line is kept for saying so.
    const LEFT_OUT: &str =
        "[… the rest is left out: summary.md is longer than 40 lines or 800 tokens]";
    let room = SUMMARY_TOKENS_MAX - tokens::estimate(LEFT_OUT) - 1;
    let mut kept = String::new();
    for line in summary.lines().take(SUMMARY_LINES_MAX - 1) {
        if tokens::estimate(&kept) + tokens::estimate(line) + 1 > room {
            break;
        }
        kept.push_str(line);
        kept.push('\n');
    }
    kept + LEFT_OUT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proposal_is_the_last_object_of_an_answer() {
        let said = "{\"verdict\":\"curated\",\"summary\":\"old\"} better: {\"verdict\":\"curated\",\
                    \"summary\":\" New.\\r\\n\\u001b[1mBold \",\"long\":\"\",\"promote\":[{\"role\":\"worker\",\
                    \"text\":\"TRICK: x\",\"features\":[\"F-1\"]},{\"role\":\"worker\"},7]}";
        let proposal = Proposal::read(said);
        assert_eq!(proposal.summary.as_deref(), Some("New.\n[1mBold"));
        assert_eq!(proposal.long, None);
        assert_eq!(proposal.promote, [("worker".to_owned(), "TRICK: x".to_owned())]);
        assert_eq!(Proposal::read("curated"), Proposal::default());
    }

    #[test]
    fn a_summary_has_forty_lines_and_eight_hundred_tokens() {
        let lines = |count: usize| vec!["- a line"; count].join("\n");
        assert_eq!(over(&lines(40)), None);
        assert_eq!(over(&lines(41)).unwrap(), "its summary has 41 lines, and 40 are the most");
        assert_eq!(over(&"word ".repeat(790)), None);
        assert!(over(&"word ".repeat(810)).unwrap().contains("810 tokens, and 800 are the most"));
        assert!(
            over(&"한글을".repeat(250)).unwrap().contains("tokens"),
            "few letters, many tokens"
        );
        for long in [lines(60), "word ".repeat(900), format!("{}\n", "word ".repeat(30)).repeat(39)]
        {
            let short = capped(&long);
            assert_eq!(over(&short), None, "{short}");
            assert!(short.ends_with("longer than 40 lines or 800 tokens]"), "{short}");
        }
        assert_eq!(capped("as it is\n"), "as it is\n");
    }
}
