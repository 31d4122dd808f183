//! An issue as it was when its claim was seen to hold: what it is about for whoever works on it, whatever others make of it later.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use windlass_sources::tracker::{Comment, Detail, Marker, State};

/// Where what was frozen is, by the digest of nothing but the issue's id.
const DIR: &str = ".harness/issues";

/// An issue that changes no more.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frozen {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its description.
    pub body: String,
    /// Where people read it.
    pub url: String,
    /// Its labels.
    pub labels: Vec<String>,
    /// What its tracker called its state.
    #[serde(default)]
    pub state: String,
    /// Whose it was, if it was somebody's.
    #[serde(default)]
    pub assignee: Option<String>,
    /// What was said about it by others, oldest first: who, and what.
    pub comments: Vec<(String, String)>,
}

impl Frozen {
    /// As an issue is now. What Windlass wrote itself is no part of what it is about; whatever it says, nobody's is not ours.
    pub fn of(detail: &Detail) -> Self {
        let is_ours = |it: &&Comment| !it.author.name.is_empty() && Marker::of(&it.body).is_some();
        let others = detail.comments.iter().filter(|it| !is_ours(it));
        Frozen {
            id: detail.issue.id.clone(),
            title: detail.issue.title.clone(),
            body: detail.issue.body.clone(),
            url: detail.issue.url.clone(),
            labels: detail.issue.labels.clone(),
            state: detail.issue.state_name.clone(),
            assignee: detail.issue.assignee.as_ref().map(|it| it.name.clone()),
            comments: others.map(|it| (it.author.name.clone(), it.body.clone())).collect(),
        }
    }

    /// As a paper of the run: where, and what.
    pub fn paper(&self) -> (String, Vec<u8>) {
        (path(&self.id), serde_json::to_vec_pretty(self).unwrap_or_default())
    }

    /// What others have changed since, in words; nothing if they have not.
    pub fn changes(&self, now: &Detail) -> Option<String> {
        let (stands, now) = (now.issue.state, Frozen::of(now));
        let mut changed = Vec::new();
        if self.title != now.title {
            changed.push("its title".to_owned());
        }
        if self.body != now.body {
            changed.push("its description".to_owned());
        }
        // That it is in progress is our own doing.
        if stands != State::InProgress && self.state != now.state {
            changed.push(format!("its state, now {}", windlass_agents::one_line(&now.state)));
        }
        if self.assignee != now.assignee {
            let whose = now.assignee.as_deref().unwrap_or("nobody");
            changed.push(format!("its assignee, now {}", windlass_agents::one_line(whose)));
        }
        // A tracker may have a label for what is in progress.
        let own = if stands == State::InProgress { now.state.as_str() } else { &self.state };
        if labels(&self.labels, own) != labels(&now.labels, own) {
            changed.push("its labels".to_owned());
        }
        let new = now.comments.iter().filter(|it| !self.comments.contains(it)).count();
        if new > 0 {
            changed.push(format!("{new} comment{}", if new == 1 { "" } else { "s" }));
        }
        (!changed.is_empty()).then(|| changed.join(", "))
    }

    /// All of it, for whoever is shown it as quoted material.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n\n{}", self.title, self.body.trim());
        for (who, what) in &self.comments {
            text.push_str(&format!("\n\nComment by {who}:\n\n{}", what.trim()));
        }
        text
    }
}

/// Labels as sets are compared: without case, and without the one that stands for a state.
fn labels(all: &[String], state: &str) -> BTreeSet<String> {
    let lower = all.iter().map(|it| it.to_lowercase());
    lower.filter(|it| *it != state.to_lowercase()).collect()
}

/// Where an issue is frozen.
fn path(id: &str) -> String {
    let digest = windlass_journal::BlobId::of(id.as_bytes()).to_string();
    let digest: String = digest.chars().filter(char::is_ascii_alphanumeric).take(16).collect();
    format!("{DIR}/{digest}.json")
}

/// A frozen issue, if a paper is one.
pub fn read(at: &str, text: &str) -> Option<(String, Frozen)> {
    let frozen: Frozen = at.starts_with(DIR).then(|| serde_json::from_str(text).ok())??;
    (path(&frozen.id) == at).then(|| (frozen.id.clone(), frozen))
}

#[cfg(test)]
mod tests {
    use windlass_sources::tracker::marker::Form;
    use windlass_sources::tracker::{Comment, Issue, Person};

    use super::*;

    #[test]
    fn an_issue_is_frozen_without_what_we_wrote_and_what_changes_later_is_noticed() {
        let ours = Marker::new("claim", "a1").below("Harness iteration 1 starting.", Form::Code);
        let author = Person { name: "Windlass".into(), is_me: true };
        let said = |body: &str| Comment { body: body.to_owned(), ..Comment::default() };
        let we = |body: &str| Comment { author: author.clone(), ..said(body) };
        let issue =
            Issue { id: "A/../1".into(), title: "T".into(), body: "B".into(), ..Issue::default() };
        let mut detail = Detail { issue, comments: vec![said("please"), we(&ours)], linked: None };
        let frozen = Frozen::of(&detail);
        assert_eq!(frozen.comments.len(), 1);
        let (path, bytes) = frozen.paper();
        assert!(!path.contains(".."), "{path}");
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(read(&path, &text), Some(("A/../1".to_owned(), frozen.clone())));
        assert_eq!(read(".harness/issues/other.json", &text), None);
        assert_eq!(frozen.changes(&detail), None);
        // What we do to it ourselves is no change.
        (detail.issue.state, detail.issue.state_name) = (State::InProgress, "in progress".into());
        detail.issue.labels.push("In Progress".into());
        assert_eq!(frozen.changes(&detail), None);
        detail.issue.body = "Another".into();
        // What nobody has put a name to is not ours, whatever it ends with.
        detail.comments.push(said(&format!("and this\n{ours}")));
        assert_eq!(frozen.changes(&detail).unwrap(), "its description, 1 comment");
        let grace = Person { name: "Grace".into(), is_me: false };
        detail.issue.assignee = Some(grace);
        (detail.issue.state, detail.issue.state_name) = (State::Cancelled, "cancelled".into());
        detail.issue.labels = vec!["late".into()];
        assert_eq!(
            frozen.changes(&detail).unwrap(),
            "its description, its state, now cancelled, its assignee, now Grace, its labels, 1 comment"
        );
    }
}
