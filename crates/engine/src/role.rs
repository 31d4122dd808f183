//! Roles: Markdown with front matter. Built in, and overridden by a file of the same name in `.windlass/roles/` of the
//! base commit.
//!
//! ```markdown
//! ---
//! purpose: writes the code
//! tier: executor          # a post of the crew (planner, executor, advisor, evaluator, verifier), or how strong a model it
//!                         # wants: strong, standard or fast
//! tools: [read, edit, run]
//! skills: [house-style]   # guidance that it is offered
//! sees: [attempts, check-output]
//! lane: named             # it sees only the papers of the session, not the code; `clean`: the change alone, in a place of
//!                         # its own, without what tells how it came about; the whole lane, if this is left out
//! ---
//! You write the code for one unit …
//! ```

use serde::Deserialize;
use windlass_agents::{Post, Tier};

/// A role as its agent is told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// What it is for, in a line.
    pub purpose: String,
    /// What it is in the crew.
    pub post: Option<Post>,
    /// Which of an agent's models suits it.
    pub tier: Tier,
    /// What it may use, of [`TOOLS`]; all of them, if it does not say.
    pub tools: Vec<String>,
    /// Guidance that it is offered, by name.
    pub skills: Vec<String>,
    /// The artifacts that reach it when a stage does not say.
    pub sees: Vec<String>,
    /// The files that it promises to write: one that is missing afterwards means that it has failed.
    pub writes: Vec<String>,
    /// How much of the lane it sees.
    pub lane: LaneSight,
    /// What it is told, in Markdown.
    pub text: String,
}

/// How much of a lane a role sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LaneSight {
    /// All of it.
    #[default]
    Whole,
    /// Only what it is shown by name.
    Named,
    /// The whole change, in a place of its own, without anything that tells how it came about.
    Clean,
}

/// What a role may use.
pub const TOOLS: [&str; 5] = ["read", "search", "edit", "run", "web"];

/// Why a role's file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadRole {
    /// It does not begin with front matter, or that does not end.
    #[error(
        "the role `{name}` has no front matter: begin with a line `---`, then `purpose: …`, then `---`"
    )]
    NoFrontMatter {
        /// The role.
        name: String,
    },
    /// The front matter is not what it should be.
    #[error("the front matter of the role `{name}` cannot be read: {what}")]
    FrontMatter {
        /// The role.
        name: String,
        /// What is wrong with it.
        what: String,
    },
}

/// What a role's word for its tier means.
fn tier(word: &str) -> Result<(Option<Post>, Tier), String> {
    if let Some(post) = Post::named(word) {
        return Ok((Some(post), post.usual()));
    }
    Tier::named(word).map(|tier| (None, tier)).ok_or_else(|| {
        let posts = Post::ALL.map(Post::name).join(", ");
        let tiers = Tier::ALL.map(Tier::name).join(", ");
        format!("`{word}` is no tier; there are {posts}, {tiers}")
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FrontMatter {
    purpose: String,
    tier: Option<String>,
    #[serde(default)]
    tools: Vec<String>,
    #[serde(default)]
    skills: Vec<String>,
    #[serde(default)]
    sees: Vec<String>,
    #[serde(default)]
    writes: Vec<String>,
    #[serde(default)]
    lane: LaneSight,
}

impl Role {
    /// Reads a role's file.
    ///
    /// # Errors
    ///
    /// When its front matter is missing or wrong.
    pub fn parse(name: &str, file: &str) -> Result<Self, BadRole> {
        let (front, text) = split(file).ok_or(BadRole::NoFrontMatter { name: name.to_owned() })?;
        let front: FrontMatter = serde_saphyr::from_str(front).map_err(|error| {
            BadRole::FrontMatter { name: name.to_owned(), what: error.to_string() }
        })?;
        if let Some(tool) = front.tools.iter().find(|tool| !TOOLS.contains(&tool.as_str())) {
            let what = format!("`{tool}` is no tool; there are {}", TOOLS.join(", "));
            return Err(BadRole::FrontMatter { name: name.to_owned(), what });
        }
        let (post, tier) = match front.tier.as_deref() {
            Some(word) => {
                tier(word).map_err(|what| BadRole::FrontMatter { name: name.to_owned(), what })?
            }
            None => (None, Tier::default()),
        };
        Ok(Role {
            purpose: front.purpose,
            post,
            tier,
            tools: front.tools,
            skills: front.skills,
            sees: front.sees,
            writes: front.writes,
            lane: front.lane,
            text: text.trim().to_owned(),
        })
    }

    /// A role that has no file: all that is known is what the catalogue says it is for.
    pub fn plain(name: &str, about: &str) -> Self {
        Role {
            purpose: about.to_owned(),
            post: None,
            tier: Tier::Standard,
            tools: Vec::new(),
            skills: Vec::new(),
            sees: Vec::new(),
            writes: Vec::new(),
            lane: LaneSight::Whole,
            text: format!("You are the {name}. What you are here for: {about}."),
        }
    }
}

/// What stands between the first line `---` and the next, and what follows.
pub(crate) fn split(file: &str) -> Option<(&str, &str)> {
    let file = file.trim_start_matches('\u{feff}');
    let rest = file.strip_prefix("---")?;
    let rest = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n'))?;
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Some((&rest[..at], &rest[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_is_front_matter_and_markdown() {
        let file = "---\npurpose: writes the code\ntier: strong\ntools: [read, edit]\nsees: [diff]\n---\n\n# You\nwrite.\n";
        let role = Role::parse("worker", file).unwrap();
        assert_eq!((role.purpose.as_str(), role.tier), ("writes the code", Tier::Strong));
        assert_eq!(
            (role.tools, role.sees),
            (vec!["read".into(), "edit".into()], vec!["diff".into()])
        );
        assert_eq!(role.text, "# You\nwrite.");
    }

    #[test]
    fn what_is_left_out_has_a_default() {
        let role = Role::parse("worker", "---\r\npurpose: x\r\n---\r\ntext").unwrap();
        assert_eq!((role.tier, role.tools.len(), role.text.as_str()), (Tier::Standard, 0, "text"));
    }

    #[test]
    fn a_mistake_in_the_front_matter_is_told() {
        let error = |file| Role::parse("worker", file).unwrap_err().to_string();
        assert!(error("just text").contains("no front matter"));
        assert!(error("---\npurpose: x\n").contains("no front matter"));
        assert!(error("---\npurpos: x\n---\n").contains("purpos"));
        assert!(error("---\npurpose: x\ntier: huge\n---\n").contains("huge"));
        assert!(error("---\npurpose: x\ntools: [axe]\n---\n").contains("`axe` is no tool"));
    }
}
