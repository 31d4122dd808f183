//! The conventions of a project: the seed's decision tree, step 1.5.

use windlass_sources::{Reading, SourceError, task as format};

use super::Task;
use super::session::CONVENTIONS;

/// What a project tells agents about itself.
const CLAUDE: &str = "CLAUDE.md";

impl Task {
    /// Where the conventions are to come from.
    ///
    /// A live file stays as it is when a session is gone on with. What a spec has left beside its papers counts more than
    /// CLAUDE.md; a rich CLAUDE.md is copied; otherwise somebody is asked.
    pub(super) fn conventions(&self) -> Result<Reading, SourceError> {
        let adopted = self.session().adopted().and_then(|open| open.conventions.clone());
        let live = self.files.text(CONVENTIONS)?;
        let known = adopted.as_deref() == Some("file:.harness/conventions.md");
        if known && let Some(live) = live {
            return Ok(found("live", CONVENTIONS, live));
        }
        let kept = format!("{}conventions.md", self.docs());
        if let Some(text) = self.files.text(&kept)? {
            let mut reading = found("persisted", CONVENTIONS, text.clone());
            reading.papers.insert(kept, text.into_bytes());
            return Ok(reading);
        }
        if adopted.as_deref() == Some("skipped") {
            return Ok(Reading { verdict: "settled".to_owned(), ..Reading::default() });
        }
        Ok(match self.files.text(CLAUDE)? {
            Some(text) if format::is_rich(&text) => found("rich", CONVENTIONS, text),
            Some(_) => Reading { verdict: "sparse".to_owned(), ..Reading::default() },
            None => Reading { verdict: "missing".to_owned(), ..Reading::default() },
        })
    }
}

fn found(verdict: &str, path: &str, text: String) -> Reading {
    Reading {
        verdict: verdict.to_owned(),
        papers: [(path.to_owned(), text.into_bytes())].into(),
        ..Reading::default()
    }
}
