//! A roadmap: features with a status each, in milestones (docs/formats.md).
//!
//! It is a person's file. What we write is one word of it, where that moves a feature forward; a status that a person
//! set is never taken back.

use std::ops::Range;

use crate::markdown::Outline;
use crate::spec::Complexity;

/// A roadmap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roadmap {
    /// Its features, from top to bottom.
    pub features: Vec<Feature>,
}

/// A feature of a roadmap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feature {
    /// What it is called.
    pub name: String,
    /// The milestone it belongs to.
    pub milestone: Option<String>,
    /// How far it is.
    pub status: Status,
    /// Its spec.
    pub spec: Option<String>,
    /// What it is about.
    pub summary: Option<String>,
    /// What it waits for.
    pub blockers: Vec<String>,
    /// How important it is.
    pub priority: Option<String>,
    /// How hard it is said to be.
    pub complexity: Complexity,
    /// Where the word of its status stands.
    at: Range<usize>,
}

/// How far a feature is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// Somewhere in the backlog.
    Backlog,
    /// It will be built.
    Planned,
    /// It waits for another.
    Blocked,
    /// It is being built.
    InProgress,
    /// It needs a person.
    NeedsHuman,
    /// It is there.
    Done,
    /// Some other word that a person uses.
    Other(String),
}

impl Status {
    fn named(word: &str) -> Self {
        let plain: String = word
            .chars()
            .filter(|letter| letter.is_alphanumeric())
            .flat_map(char::to_lowercase)
            .collect();
        match plain.as_str() {
            "backlog" => Self::Backlog,
            "planned" => Self::Planned,
            "blocked" => Self::Blocked,
            "inprogress" => Self::InProgress,
            "needshuman" => Self::NeedsHuman,
            "done" | "complete" | "completed" => Self::Done,
            _ => Self::Other(word.to_owned()),
        }
    }

    /// Its word.
    pub fn word(&self) -> &str {
        match self {
            Self::Backlog => "backlog",
            Self::Planned => "planned",
            Self::Blocked => "blocked",
            Self::InProgress => "in-progress",
            Self::NeedsHuman => "needs-human",
            Self::Done => "done",
            Self::Other(word) => word,
        }
    }

    /// How far that is; a word of a person's own is beyond us.
    fn rank(&self) -> Option<u8> {
        match self {
            Self::Backlog => Some(0),
            Self::Planned | Self::Blocked => Some(1),
            Self::InProgress => Some(2),
            Self::NeedsHuman | Self::Other(_) => None,
            Self::Done => Some(3),
        }
    }
}

impl Roadmap {
    /// Reads a roadmap. What is none has no features.
    pub fn parse(text: &str) -> Self {
        let outline = Outline::of(text);
        let mut features = Vec::new();
        let mut milestone = None;
        for heading in &outline.headings {
            if heading.level <= 2 {
                milestone = (heading.level == 2).then(|| heading.text.clone());
                continue;
            }
            if heading.level != 3 {
                continue;
            }
            let end = outline.end(heading);
            let fields: Vec<Field<'_>> = outline
                .items
                .iter()
                .filter(|item| item.range.start > heading.start && item.range.start < end)
                .filter_map(|item| field(text, item.range.clone()))
                .collect();
            let value = |name: &str| {
                let field = fields.iter().find(|field| field.name.eq_ignore_ascii_case(name))?;
                (!field.value.is_empty() && field.value != "—" && field.value != "-")
                    .then(|| field.value.to_owned())
            };
            let Some(status) = fields.iter().find(|it| it.name.eq_ignore_ascii_case("status"))
            else {
                continue;
            };
            let noted = outline.noted("complexity", heading.start..end);
            let complexity = value("complexity")
                .or_else(|| noted.first().map(|(_, word)| (*word).to_owned()))
                .and_then(|word| Complexity::named(&word));
            let blockers = value("blockers").unwrap_or_default();
            features.push(Feature {
                name: heading.text.clone(),
                milestone: milestone.clone(),
                status: Status::named(status.value),
                spec: value("spec"),
                summary: value("summary"),
                blockers: blockers
                    .split(',')
                    .map(|name| name.trim().to_owned())
                    .filter(|name| !name.is_empty())
                    .collect(),
                priority: value("priority"),
                complexity: complexity.unwrap_or(Complexity::Medium),
                at: status.at.clone(),
            });
        }
        Roadmap { features }
    }

    /// The feature that a spec is about: the one that names its file, or is called as its title says.
    pub fn feature_of(&self, spec: &str, title: Option<&str>) -> Option<&Feature> {
        let by_file = self.features.iter().find(|feature| feature.spec.as_deref() == Some(spec));
        by_file.or_else(|| {
            let title = crate::slug(title?);
            self.features.iter().find(|feature| crate::slug(&feature.name) == title)
        })
    }
}

impl Feature {
    /// The text of the roadmap with this feature's status moved forward, if that is forward.
    pub fn forward(&self, text: &str, to: &Status) -> Option<String> {
        if to.rank()? <= self.status.rank()? {
            return None;
        }
        let mut text = text.to_owned();
        text.replace_range(self.at.clone(), to.word());
        Some(text)
    }
}

struct Field<'t> {
    name: &'t str,
    value: &'t str,
    at: Range<usize>,
}

/// The name and the value in `- **Name:** value`.
fn field(text: &str, range: Range<usize>) -> Option<Field<'_>> {
    let line = text[range.clone()].lines().next()?;
    let (name, value) = line.split_once(':')?;
    let name = name.trim_matches(|letter: char| !letter.is_alphanumeric());
    let trimmed = value.trim_start_matches(['*', ' ', '\t']);
    let start = range.start + line.len() - trimmed.len();
    let value = trimmed.trim_end();
    Some(Field { name, value, at: start..start + value.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROADMAP: &str = "---\nproject: demo\n---\n\n# Roadmap\n\n## MVP\n\n### Scanner\n\n\
        - **Status:** planned\n- **Spec:** docs/scanner.md\n- **Summary:** Finds things: all of them.\n\
        - **Blockers:** —\n- **Priority:** P1\n\n\
        ### Rules\n\n- **Status:** Done\n- **Spec:** —\n- **Blockers:** Scanner, Other\n\n\
        ## Backlog\n\n### Later\n\n- **Status:** parked by Ada\n\n### No feature\n\nText.\n";

    #[test]
    fn features_are_read_with_their_fields() {
        let roadmap = Roadmap::parse(ROADMAP);
        let seen: Vec<_> = roadmap
            .features
            .iter()
            .map(|it| (&*it.name, it.milestone.as_deref(), it.status.word(), it.blockers.len()))
            .collect();
        assert_eq!(
            seen,
            [
                ("Scanner", Some("MVP"), "planned", 0),
                ("Rules", Some("MVP"), "done", 2),
                ("Later", Some("Backlog"), "parked by Ada", 0),
            ]
        );
        let scanner = &roadmap.features[0];
        assert_eq!(scanner.summary.as_deref(), Some("Finds things: all of them."));
        assert_eq!(
            (scanner.priority.as_deref(), scanner.complexity),
            (Some("P1"), Complexity::Medium)
        );
        assert_eq!(roadmap.features[1].spec, None);
        assert_eq!(Roadmap::parse("# Nothing\n- **Status:** done\n"), Roadmap::default());
    }

    #[test]
    fn a_spec_finds_its_feature_by_file_or_by_title() {
        let roadmap = Roadmap::parse(ROADMAP);
        let name = |spec, title| roadmap.feature_of(spec, title).map(|feature| &*feature.name);
        assert_eq!(name("docs/scanner.md", Some("Rules")), Some("Scanner"));
        assert_eq!(name("docs/other.md", Some("RULES!")), Some("Rules"));
        assert_eq!(name("docs/other.md", None), None);
    }

    #[test]
    fn a_status_moves_forward_only_and_nothing_else_changes() {
        let roadmap = Roadmap::parse(ROADMAP);
        let moved = roadmap.features[0].forward(ROADMAP, &Status::InProgress).unwrap();
        assert_eq!(moved, ROADMAP.replace("**Status:** planned", "**Status:** in-progress"));
        assert_eq!(roadmap.features[1].forward(ROADMAP, &Status::InProgress), None);
        assert_eq!(roadmap.features[1].forward(ROADMAP, &Status::Done), None);
        // A person's own word stands.
        assert_eq!(roadmap.features[2].forward(ROADMAP, &Status::Done), None);
    }
}
