//! What GitHub's issues look like to us: labels as states and priorities, and what they wait for.

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::tracker::{Comment, Issue, Person, State};

/// A user.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct User {
    pub login: String,
}

/// A label: an object, or in some answers only its name.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Label {
    Name(String),
    Whole { name: Option<String> },
}

/// An issue, as GitHub has it.
#[derive(Debug, Deserialize)]
pub(super) struct Given {
    pub number: u64,
    pub title: String,
    pub body: Option<String>,
    pub state: String,
    #[serde(default)]
    pub state_reason: Option<String>,
    #[serde(default)]
    pub labels: Vec<Label>,
    #[serde(default)]
    pub assignees: Vec<User>,
    pub created_at: String,
    pub html_url: String,
    /// It is a pull request.
    pub pull_request: Option<IgnoredAny>,
    /// Servers that know of dependencies say how many there are.
    pub issue_dependencies_summary: Option<Summary>,
}

/// How many issues one waits for.
#[derive(Debug, Deserialize)]
pub(super) struct Summary {
    #[serde(default)]
    pub total_blocked_by: u64,
}

/// An issue that another waits for; it may be in another repository.
#[derive(Debug, Deserialize)]
pub(super) struct Blocker {
    pub number: u64,
    pub state: String,
    #[serde(default)]
    pub repository_url: String,
}

/// A comment, as GitHub has it.
#[derive(Debug, Deserialize)]
pub(super) struct Remark {
    pub id: u64,
    pub body: Option<String>,
    pub user: Option<User>,
    pub created_at: String,
    #[serde(default)]
    pub author_association: Option<String>,
}

impl Given {
    /// The names of its labels.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        self.labels.iter().filter_map(|label| match label {
            Label::Name(name) => Some(name.as_str()),
            Label::Whole { name } => name.as_deref(),
        })
    }

    /// Whether it has a label, however its letters are written.
    pub fn has(&self, label: &str) -> bool {
        self.labels().any(|own| same(own, label))
    }

    pub fn is_closed(&self) -> bool {
        self.state == "closed"
    }

    /// As every tracker has it; what it waits for is added by whoever knows.
    pub fn shown(&self, in_progress: &str, me: &str) -> Issue {
        let reason = self.state_reason.as_deref();
        let (state, state_name) = match (self.is_closed(), reason) {
            (true, Some("not_planned" | "duplicate")) => {
                (State::Cancelled, "closed as not planned")
            }
            (true, _) => (State::Done, "closed"),
            (false, _) if self.has(in_progress) => (State::InProgress, in_progress),
            (false, _) => (State::Open, "open"),
        };
        let people = || self.assignees.iter().map(|it| it.person(me));
        Issue {
            id: format!("#{}", self.number),
            title: self.title.clone(),
            body: text(self.body.as_deref()),
            priority: self.labels().filter_map(priority).min(),
            labels: self.labels().map(str::to_owned).collect(),
            state,
            state_name: state_name.to_owned(),
            assignee: people().find(|it| !it.is_me).or_else(|| people().next()),
            blocked_by: Vec::new(),
            created: self.created_at.clone(),
            url: self.html_url.clone(),
        }
    }
}

impl User {
    pub fn person(&self, me: &str) -> Person {
        Person { name: self.login.clone(), is_me: same(&self.login, me) }
    }
}

impl Remark {
    pub fn shown(&self, me: &str) -> Comment {
        let author = self.user.as_ref().map(|user| user.person(me)).unwrap_or_default();
        Comment {
            id: self.id.to_string(),
            may_write: author.is_me || is_heard(self.author_association.as_deref()),
            author,
            at: self.created_at.clone(),
            body: text(self.body.as_deref()),
        }
    }
}

/// Whether somebody may write to the repository, as GitHub says.
pub(super) fn is_heard(association: Option<&str>) -> bool {
    association.is_some_and(|it| ["OWNER", "MEMBER", "COLLABORATOR"].contains(&it))
}

/// GitHub makes no difference between large and small letters in logins and labels.
pub(super) fn same(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

/// What was written in a browser has lines that end as on Windows.
pub(super) fn text(body: Option<&str>) -> String {
    body.unwrap_or_default().replace("\r\n", "\n")
}

/// How urgent a label says that an issue is.
fn priority(label: &str) -> Option<u8> {
    let label = label.trim().to_lowercase();
    let named = ["priority", "prio"].iter().find_map(|word| {
        let rest = label.strip_prefix(word)?;
        let word = rest.trim_start_matches([':', '/', '-', '_', ' ']);
        (word.len() < rest.len()).then_some(word)
    });
    match (named, named.unwrap_or(&label)) {
        (_, "p0" | "p1" | "urgent" | "critical") | (Some(_), "0" | "1") => Some(1),
        (_, "p2") | (Some(_), "2" | "high") => Some(2),
        (_, "p3") | (Some(_), "3" | "medium" | "normal") => Some(3),
        (_, "p4") | (Some(_), "4" | "low") => Some(4),
        _ => None,
    }
}

/// The issues of the same repository that a body says are to be done before: `Blocked by #12`, `Depends on: #13, #14`.
pub(super) fn waits_for(body: &str) -> Vec<u64> {
    let mut numbers = Vec::new();
    for line in body.lines() {
        let line = line.trim_start_matches([' ', '\t', '-', '*', '_', '>', '+']).to_lowercase();
        let rest = ["blocked by", "depends on"].iter().find_map(|words| line.strip_prefix(words));
        let rest = rest.unwrap_or_default();
        for (at, _) in rest.match_indices('#') {
            let digits: String = rest[at + 1..].chars().take_while(char::is_ascii_digit).collect();
            // `other/repository#12` is somewhere else.
            let is_here = !rest[..at].ends_with(char::is_alphanumeric);
            if let Some(number) = digits.parse().ok().filter(|it| is_here && !numbers.contains(it))
            {
                numbers.push(number);
            }
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_say_how_urgent_it_is() {
        for (label, expected) in [
            ("P0", Some(1)),
            ("p1", Some(1)),
            ("Priority: High", Some(2)),
            ("priority/medium", Some(3)),
            ("prio-4", Some(4)),
            ("urgent", Some(1)),
            ("priority", None),
            ("high", None),
            ("1", None),
            ("prioritise", None),
            ("low-hanging fruit", None),
        ] {
            assert_eq!(priority(label), expected, "{label}");
        }
    }

    #[test]
    fn a_line_says_what_is_waited_for() {
        let body = "Blocked by #12\n- **Depends on:** #13, #12 and #14.\n> blocked by acme/other#15\n\
                    This is blocked by #16.\nDepends on #17#18\nblocked by #x";
        assert_eq!(waits_for(body), [12, 13, 14, 17]);
    }
}
