//! An issue as it was when its claim was seen to hold: what it is about for whoever works on it, whatever others make of it later.

use serde::{Deserialize, Serialize};
use windlass_sources::tracker::{Detail, Marker};

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
    /// What was said about it by others, oldest first: who, and what.
    pub comments: Vec<(String, String)>,
}

impl Frozen {
    /// As an issue is now. What Windlass wrote itself is no part of what it is about.
    pub fn of(detail: &Detail) -> Self {
        let others = detail.comments.iter().filter(|it| Marker::of(&it.body).is_none());
        Frozen {
            id: detail.issue.id.clone(),
            title: detail.issue.title.clone(),
            body: detail.issue.body.clone(),
            url: detail.issue.url.clone(),
            labels: detail.issue.labels.clone(),
            comments: others.map(|it| (it.author.name.clone(), it.body.clone())).collect(),
        }
    }

    /// As a paper of the run: where, and what.
    pub fn paper(&self) -> (String, Vec<u8>) {
        (path(&self.id), serde_json::to_vec_pretty(self).unwrap_or_default())
    }

    /// What others have changed since, in words; nothing if they have not.
    pub fn changes(&self, now: &Frozen) -> Option<String> {
        let mut changed = Vec::new();
        if self.title != now.title {
            changed.push("its title".to_owned());
        }
        if self.body != now.body {
            changed.push("its description".to_owned());
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
    use windlass_sources::tracker::{Comment, Issue};

    use super::*;

    #[test]
    fn an_issue_is_frozen_without_what_we_wrote_and_what_changes_later_is_noticed() {
        let ours = Marker::new("claim", "a1").below("Harness iteration 1 starting.", Form::Code);
        let said = |body: &str| Comment { body: body.to_owned(), ..Comment::default() };
        let issue =
            Issue { id: "A/../1".into(), title: "T".into(), body: "B".into(), ..Issue::default() };
        let mut detail = Detail { issue, comments: vec![said("please"), said(&ours)] };
        let frozen = Frozen::of(&detail);
        assert_eq!(frozen.comments.len(), 1);
        let (path, bytes) = frozen.paper();
        assert!(!path.contains(".."), "{path}");
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(read(&path, &text), Some(("A/../1".to_owned(), frozen.clone())));
        assert_eq!(read(".harness/issues/other.json", &text), None);
        assert_eq!(frozen.changes(&Frozen::of(&detail)), None);
        detail.issue.body = "Another".into();
        detail.comments.push(said("and this"));
        let changes = frozen.changes(&Frozen::of(&detail)).unwrap();
        assert_eq!(changes, "its description, 1 comment");
    }
}
