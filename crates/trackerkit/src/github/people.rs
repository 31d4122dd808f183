//! What other people do at a pretended GitHub, and what tests see of it.

use super::issues;
use super::server::GitHub;
use super::world::{Issue, Pull, Remark, Review, Rule, Said, Seen};

impl GitHub {
    /// Somebody comments on an issue or a pull request. The id of the comment; 0 if there is no such issue.
    pub fn comment(&self, number: u64, by: &str, body: &str) -> u64 {
        self.world().say(0, number, by, body).unwrap_or(0)
    }

    /// Somebody has nothing to do with the repository, and may say something all the same.
    pub fn stranger(&self, login: &str) {
        self.world().repositories[0].strangers.insert(login.to_owned());
    }

    /// Somebody deletes a comment.
    pub fn delete_comment(&self, id: u64) {
        for issue in self.world().repositories[0].issues.values_mut() {
            issue.comments.retain(|comment| comment.id != id);
        }
    }

    /// Somebody writes another body.
    pub fn edit(&self, number: u64, body: &str) {
        self.change(number, |issue, _| body.clone_into(&mut issue.body));
    }

    /// Somebody writes another title.
    pub fn rename(&self, number: u64, title: &str) {
        self.change(number, |issue, _| title.clone_into(&mut issue.title));
    }

    /// Somebody closes an issue: `completed`, `not_planned` or `duplicate`.
    pub fn close(&self, number: u64, reason: &str) {
        self.change(number, |issue, now_s| issues::close(issue, reason, now_s));
    }

    /// Somebody opens it again.
    pub fn reopen(&self, number: u64) {
        self.change(number, |issue, _| issues::reopen(issue));
    }

    /// An issue is gone for ever.
    pub fn delete(&self, number: u64) {
        self.change(number, |issue, _| issue.is_deleted = true);
    }

    /// Somebody is given an issue.
    pub fn assign(&self, number: u64, login: &str) {
        self.change(number, |issue, _| issue.assignees.push(login.to_owned()));
    }

    /// An issue is nobody's any more.
    pub fn unassign(&self, number: u64) {
        self.change(number, |issue, _| issue.assignees.clear());
    }

    /// Somebody puts a label on an issue.
    pub fn label(&self, number: u64, label: &str) {
        if self.world().repositories[0].label(label).is_none() {
            self.world().repositories[0].labels.push((label.to_owned(), String::new()));
        }
        self.change(number, |issue, _| issue.labels.push(label.to_owned()));
    }

    /// Somebody takes a label off an issue.
    pub fn unlabel(&self, number: u64, label: &str) {
        self.change(number, |issue, _| issue.labels.retain(|own| own != label));
    }

    /// An issue waits for another from now on.
    pub fn block(&self, number: u64, by: u64) {
        self.change(number, |issue, _| issue.blocked_by.push(by));
    }

    /// Everything that was said of an issue.
    #[must_use]
    pub fn said(&self, number: u64) -> Vec<Said> {
        let world = self.world();
        let issue = world.repositories[0].issues.get(&number);
        let comments = issue.into_iter().flat_map(|issue| &issue.comments);
        comments.map(|it| Said { id: it.id, by: it.by.clone(), body: it.body.clone() }).collect()
    }

    /// Where an issue stands: `open`, or why it was closed.
    #[must_use]
    pub fn state(&self, number: u64) -> String {
        let world = self.world();
        let issue = world.repositories[0].issues.get(&number);
        match issue {
            Some(issue) if issue.is_closed => issue.reason.clone().unwrap_or_default(),
            Some(_) => "open".to_owned(),
            None => "gone".to_owned(),
        }
    }

    /// The labels of an issue.
    #[must_use]
    pub fn labels(&self, number: u64) -> Vec<String> {
        let world = self.world();
        world.repositories[0].issues.get(&number).map(|it| it.labels.clone()).unwrap_or_default()
    }

    /// Title and body of an issue or a pull request.
    #[must_use]
    pub fn text(&self, number: u64) -> (String, String) {
        let world = self.world();
        let issue = world.repositories[0].issues.get(&number);
        issue.map(|it| (it.title.clone(), it.body.clone())).unwrap_or_default()
    }

    /// The numbers of all issues and pull requests.
    #[must_use]
    pub fn numbers(&self) -> Vec<u64> {
        self.world().repositories[0].issues.keys().copied().collect()
    }

    /// Somebody opens a pull request; its number.
    pub fn pull(&self, by: &str, head: &str, title: &str) -> u64 {
        let pull = Pull { head: head.to_owned(), base: "main".to_owned(), ..Pull::default() };
        let (by, title) = (by.to_owned(), title.to_owned());
        self.world().open(0, Issue { by, title, pull: Some(pull), ..Issue::default() })
    }

    /// Somebody connects an issue with a pull request by hand.
    pub fn connect(&self, number: u64) {
        self.change(number, |issue, _| issue.links.push("connected"));
    }

    /// Somebody takes that back.
    pub fn disconnect(&self, number: u64) {
        self.change(number, |issue, _| issue.links.push("disconnected"));
    }

    /// Somebody merges it.
    pub fn merge(&self, number: u64) {
        self.change(number, |issue, now_s| {
            issues::close(issue, "completed", now_s);
            if let Some(pull) = &mut issue.pull {
                pull.is_merged = true;
            }
        });
    }

    /// Somebody reviews it: `APPROVED`, `CHANGES_REQUESTED`, `COMMENTED` or `DISMISSED`.
    pub fn review(&self, number: u64, by: &str, state: &str, body: &str) {
        let (id, at_s) = self.moment();
        let commit = self.head_of(number);
        let (by, state, body) = (by.to_owned(), state.to_owned(), body.to_owned());
        self.on_pull(number, |pull| {
            pull.reviews.push(Review { id, by, state, body, at_s, commit });
        });
    }

    /// Somebody says something about a line of it.
    pub fn remark(&self, number: u64, by: &str, path: &str, line: u64, body: &str) {
        let (id, at_s) = self.moment();
        let commit = self.head_of(number);
        let (by, path, body) = (by.to_owned(), path.to_owned(), body.to_owned());
        let line = Some(line);
        self.on_pull(number, |pull| {
            pull.remarks.push(Remark { id, by, path, line, body, at_s, commit });
        });
    }

    /// How a check run goes: for each commit in the order in which they are looked at, what is seen look by look. The last
    /// look, and the last commit, stand for all that follow.
    pub fn check(&self, name: &str, commits: &[&[Seen]]) {
        self.rule(name, false, commits);
    }

    /// The same for a commit status.
    pub fn status(&self, context: &str, commits: &[&[Seen]]) {
        self.rule(context, true, commits);
    }

    fn rule(&self, name: &str, is_status: bool, commits: &[&[Seen]]) {
        let commits = commits.iter().map(|looks| looks.to_vec()).collect();
        let rule = Rule { name: name.to_owned(), is_status, commits, looks: Vec::new() };
        self.world().repositories[0].rules.push(rule);
    }

    fn moment(&self) -> (u64, u64) {
        let mut world = self.world();
        (world.fresh(), world.tick())
    }

    fn head_of(&self, number: u64) -> String {
        let world = self.world();
        let repository = &world.repositories[0];
        let pull = repository.issue(number).and_then(|it| it.pull.as_ref());
        pull.and_then(|pull| repository.commit(&pull.head)).unwrap_or_default()
    }

    fn on_pull(&self, number: u64, change: impl FnOnce(&mut Pull)) {
        self.change(number, |issue, _| {
            if let Some(pull) = &mut issue.pull {
                change(pull);
            }
        });
    }

    fn change(&self, number: u64, change: impl FnOnce(&mut Issue, u64)) {
        let mut world = self.world();
        let now_s = world.tick();
        if let Some(issue) = world.repositories[0].issues.get_mut(&number) {
            change(issue, now_s);
            issue.updated_s = now_s;
        }
    }
}
