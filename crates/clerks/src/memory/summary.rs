//! `summary.md` of a session: where it stands, in a few lines, for whoever comes to it cold.

use std::fmt::Write as _;

/// A summary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The session.
    pub session: String,
    /// When it was last active.
    pub last_active: String,
    /// Whose it is.
    pub skill: String,
    /// `2 of 3`.
    pub phase: Option<String>,
    /// How it stands.
    pub status: String,
    /// The spec.
    pub spec: String,
    /// The plan at hand.
    pub plan: Option<String>,
    /// What was done and decided, in a sentence or two.
    pub key_context: String,
    /// What is next.
    pub next_step: String,
}

impl Summary {
    /// The file.
    pub fn text(&self) -> String {
        let mut text = String::from("## Session Summary\n\n");
        let mut line = |name: &str, value: &str| {
            let value = value.replace(char::is_control, " ");
            let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
            // Writing to a String cannot fail.
            let _ = writeln!(text, "**{name}:** {value}");
        };
        line("Session", &self.session);
        line("Last active", &self.last_active);
        line("Skill", &self.skill);
        if let Some(phase) = &self.phase {
            line("Phase", phase);
        }
        line("Status", &self.status);
        line("Spec", &self.spec);
        if let Some(plan) = &self.plan {
            line("Plan", plan);
        }
        line("Key context", &self.key_context);
        line("Next step", &self.next_step);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_has_its_line() {
        let summary = Summary {
            session: "s".into(),
            phase: Some("1 of 3".into()),
            status: "Phase\u{1b} 1\ncomplete.".into(),
            ..Summary::default()
        };
        let text = summary.text();
        assert!(text.starts_with("## Session Summary\n\n**Session:** s\n"), "{text}");
        assert!(text.contains("**Phase:** 1 of 3\n**Status:** Phase 1 complete.\n"), "{text}");
        assert!(!text.contains("**Plan:**"), "{text}");
    }
}
