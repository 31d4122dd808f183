//! A tracker with people at it, whichever it is: what a story does there, and what is to be seen there afterwards.

use std::sync::Arc;

use windlass_trackerkit::fault::{Fault, Faults};
use windlass_trackerkit::{github, linear};

/// Where an issue stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stands {
    Open,
    InProgress,
    Done,
    Cancelled,
}

/// A write that somebody sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrote {
    /// A comment, with its text.
    Said(String, String),
    /// That an issue is in progress.
    Begun(String),
    /// Anything else.
    Other,
}

/// What trackers call what goes wrong.
#[derive(Clone, Copy, Debug)]
pub struct Kinds {
    pub say: &'static str,
    pub change: &'static str,
    pub make: &'static str,
}

/// A tracker, and the people there. The others are one: Ada.
pub trait Place: Send + Sync {
    fn name(&self) -> &'static str;
    fn project(&self) -> &'static str;
    fn url(&self) -> String;
    fn kinds(&self) -> Kinds;
    fn faults(&self) -> &Faults;
    /// The answer to who asks too much: wait a second.
    fn limited(&self) -> Fault;
    /// A new issue; 1 is the most urgent, 0 is no priority.
    fn add(&self, title: &str, priority: u8, labels: &[&str]) -> String;
    fn block(&self, issue: &str, by: &str);
    fn duplicate(&self, issue: &str, of: &str);
    fn cancel(&self, issue: &str);
    fn assign(&self, issue: &str);
    fn begin(&self, issue: &str);
    fn edit(&self, issue: &str, text: &str);
    fn say(&self, issue: &str, text: &str);
    /// One key opens nothing any more, and another one does.
    fn renew(&self, old: &str, new: &str);
    /// Comments, each with whether it is Windlass's.
    fn said(&self, issue: &str) -> Vec<(bool, String)>;
    fn stands(&self, issue: &str) -> Stands;
    fn title(&self, issue: &str) -> String;
    /// All issues, the oldest first.
    fn issues(&self) -> Vec<String>;
    /// How much has been written.
    fn writes(&self) -> usize;
}

/// Has somebody look on at a place.
pub trait Watched: Place {
    fn on_write(self: &Arc<Self>, look: impl Fn(&Self, Wrote) + Send + 'static);
}

impl Place for linear::Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn project(&self) -> &'static str {
        "Harness"
    }

    fn url(&self) -> String {
        self.url()
    }

    fn kinds(&self) -> Kinds {
        Kinds { say: "commentCreate", change: "issueUpdate", make: "issueCreate" }
    }

    fn faults(&self) -> &Faults {
        self.faults()
    }

    fn limited(&self) -> Fault {
        linear::limited(0)
    }

    fn add(&self, title: &str, priority: u8, labels: &[&str]) -> String {
        self.issue(&linear::NewIssue { title, priority, labels, ..Default::default() })
    }

    fn block(&self, issue: &str, by: &str) {
        self.relate(by, "blocks", issue);
    }

    fn duplicate(&self, issue: &str, of: &str) {
        self.relate(issue, "duplicate", of);
        self.move_to(issue, "Duplicate");
    }

    fn cancel(&self, issue: &str) {
        self.move_to(issue, "Canceled");
    }

    fn assign(&self, issue: &str) {
        self.assign(issue, Some("Ada"));
    }

    fn begin(&self, issue: &str) {
        self.move_to(issue, "In Progress");
    }

    fn edit(&self, issue: &str, text: &str) {
        self.edit(issue, "description", text);
    }

    fn say(&self, issue: &str, text: &str) {
        self.comment(issue, Some("Ada"), text);
    }

    fn renew(&self, old: &str, new: &str) {
        self.user("Windlass", new);
        self.expire(old);
    }

    fn said(&self, issue: &str) -> Vec<(bool, String)> {
        self.said(issue).into_iter().map(|it| (it.by == "Windlass", it.body)).collect()
    }

    fn stands(&self, issue: &str) -> Stands {
        match self.state(issue).as_str() {
            "Done" => Stands::Done,
            "In Progress" => Stands::InProgress,
            "Canceled" | "Duplicate" => Stands::Cancelled,
            _ => Stands::Open,
        }
    }

    fn title(&self, issue: &str) -> String {
        self.text(issue, "title")
    }

    fn issues(&self) -> Vec<String> {
        self.issues()
    }

    fn writes(&self) -> usize {
        self.writes().len()
    }
}

impl Watched for linear::Linear {
    fn on_write(self: &Arc<Self>, look: impl Fn(&Self, Wrote) + Send + 'static) {
        let own = Arc::downgrade(self);
        linear::Linear::on_write(self, move |write| {
            let Some(place) = own.upgrade() else { return };
            let issue = write.issue.clone();
            look(
                &place,
                match write.what.as_str() {
                    "commentCreate" => Wrote::Said(issue, write.text.clone()),
                    "issueUpdate" if write.text == "In Progress" => Wrote::Begun(issue),
                    _ => Wrote::Other,
                },
            );
        });
    }
}

fn number(issue: &str) -> u64 {
    issue.trim_start_matches('#').parse().unwrap()
}

impl Place for github::GitHub {
    fn name(&self) -> &'static str {
        "github"
    }

    fn project(&self) -> &'static str {
        "acme/harness"
    }

    fn url(&self) -> String {
        self.url()
    }

    fn kinds(&self) -> Kinds {
        Kinds { say: "comments.create", change: "issues.update", make: "issues.create" }
    }

    fn faults(&self) -> &Faults {
        self.faults()
    }

    fn limited(&self) -> Fault {
        github::secondary(429, Some(1))
    }

    fn add(&self, title: &str, priority: u8, labels: &[&str]) -> String {
        let urgency = format!("P{priority}");
        let own = (priority > 0).then_some(urgency.as_str());
        let labels: Vec<&str> = labels.iter().copied().chain(own).collect();
        format!(
            "#{}",
            self.issue(&github::NewIssue { title, labels: &labels, ..Default::default() })
        )
    }

    fn block(&self, issue: &str, by: &str) {
        self.block(number(issue), number(by));
    }

    fn duplicate(&self, issue: &str, _: &str) {
        self.close(number(issue), "duplicate");
    }

    fn cancel(&self, issue: &str) {
        self.close(number(issue), "not_planned");
    }

    fn assign(&self, issue: &str) {
        self.assign(number(issue), "ada");
    }

    fn begin(&self, issue: &str) {
        self.label(number(issue), "in progress");
    }

    fn edit(&self, issue: &str, text: &str) {
        self.edit(number(issue), text);
    }

    fn say(&self, issue: &str, text: &str) {
        self.comment(number(issue), "ada", text);
    }

    fn renew(&self, old: &str, new: &str) {
        self.user("windlass", new);
        self.expire(old);
    }

    fn said(&self, issue: &str) -> Vec<(bool, String)> {
        let said = self.said(number(issue));
        said.into_iter().map(|it| (it.by == "windlass", it.body)).collect()
    }

    fn stands(&self, issue: &str) -> Stands {
        match self.state(number(issue)).as_str() {
            "completed" => Stands::Done,
            "open" if self.labels(number(issue)).iter().any(|it| it == "in progress") => {
                Stands::InProgress
            }
            "open" => Stands::Open,
            _ => Stands::Cancelled,
        }
    }

    fn title(&self, issue: &str) -> String {
        self.text(number(issue)).0
    }

    fn issues(&self) -> Vec<String> {
        self.numbers().iter().map(|it| format!("#{it}")).collect()
    }

    fn writes(&self) -> usize {
        self.writes().len()
    }
}

impl Watched for github::GitHub {
    fn on_write(self: &Arc<Self>, look: impl Fn(&Self, Wrote) + Send + 'static) {
        let own = Arc::downgrade(self);
        github::GitHub::on_write(self, move |write| {
            let Some(place) = own.upgrade() else { return };
            let issue = format!("#{}", write.number);
            look(
                &place,
                match write.what.as_str() {
                    "comments.create" => Wrote::Said(issue, write.text.clone()),
                    "issue-labels.add" if write.text.contains("in progress") => Wrote::Begun(issue),
                    _ => Wrote::Other,
                },
            );
        });
    }
}
