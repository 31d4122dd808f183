//! What an issue looks like to us.

use super::ask::{Asking, Trouble};
use super::place::Place;
use super::query::{self, Comment as Theirs, Filtered, Page, Parts, Relation};
use super::{Linear, NAME, PAGES_MAX, by_id};
use crate::tracker::{Comment, Detail, Issue, Person, State, TrackerError};

/// The type of relation that an issue has to what it holds up.
const BLOCKS: &str = "blocks";

impl Asking<'_> {
    /// Everything of a list, page by page, from a page that is there already.
    pub fn pages<T>(
        &mut self,
        first: Option<Page<T>>,
        mut next: impl FnMut(&mut Self, Option<String>) -> Result<Page<T>, Trouble>,
    ) -> Result<Vec<T>, Trouble> {
        let mut page = match first {
            Some(page) => page,
            None => next(self, None)?,
        };
        let mut all = page.nodes;
        for _ in 1..PAGES_MAX {
            if !page.page_info.has_next_page {
                return Ok(all);
            }
            page = next(self, page.page_info.end_cursor)?;
            all.append(&mut page.nodes);
        }
        let why = format!("a list has more than {PAGES_MAX} pages");
        Err(TrackerError::Strange { tracker: NAME, why }.into())
    }
}

impl Linear {
    /// The issues of a place that are not done.
    pub(super) fn issues(
        &self,
        asking: &mut Asking<'_>,
        place: &Place,
    ) -> Result<Vec<Issue>, Trouble> {
        let filter = place.open();
        let all = asking.pages(None, |asking, after| {
            let sent = Filtered { filter: filter.clone(), after };
            Ok(asking.ask::<query::Issues>(&sent)?.issues)
        })?;
        let mut issues: Vec<Issue> = Vec::new();
        for parts in all {
            // What moves while pages are turned may be on two of them.
            if issues.iter().any(|known| known.id == parts.identifier) {
                continue;
            }
            let issue = self.shown(asking, parts)?;
            if matches!(issue.state, State::Open | State::InProgress) {
                issues.push(issue);
            }
        }
        Ok(issues)
    }

    /// An issue with its comments; nothing if it was deleted.
    pub(super) fn whole(
        &self,
        asking: &mut Asking<'_>,
        id: &str,
    ) -> Result<Option<Detail>, Trouble> {
        let whole = asking.ask::<query::Issue>(&by_id(id, None))?.issue;
        if whole.parts.trashed == Some(true) {
            return Ok(None);
        }
        let comments = asking.pages(Some(whole.comments), |asking, after| {
            Ok(asking.ask::<query::Issue>(&by_id(id, after))?.issue.comments)
        })?;
        let issue = self.shown(asking, whole.parts)?;
        let mut comments: Vec<Comment> = comments.into_iter().map(comment).collect();
        // Times have the same form everywhere; of two at the same moment, everybody takes the same for older.
        comments.sort_by(|one, other| (&one.at, &one.id).cmp(&(&other.at, &other.id)));
        comments.dedup_by(|one, other| one.id == other.id);
        Ok(Some(Detail { issue, comments, linked: None }))
    }

    fn shown(&self, asking: &mut Asking<'_>, parts: Parts) -> Result<Issue, Trouble> {
        let id = parts.id;
        let labels = asking.pages(Some(parts.labels), |asking, after| {
            Ok(asking.ask::<query::Labels>(&by_id(&id, after))?.issue.labels)
        })?;
        let relations = asking.pages(Some(parts.inverse_relations), |asking, after| {
            Ok(asking.ask::<query::Blockers>(&by_id(&id, after))?.issue.inverse_relations)
        })?;
        let holds_up = |relation: &Relation| {
            relation.kind == BLOCKS
                && matches!(self.state(&relation.issue.state), State::Open | State::InProgress)
        };
        let blockers = relations.into_iter().filter(holds_up);
        Ok(Issue {
            state: self.state(&parts.state),
            state_name: line(&parts.state.name),
            id: parts.identifier,
            title: line(&parts.title),
            body: parts.description.unwrap_or_default(),
            priority: priority(parts.priority),
            labels: labels.into_iter().map(|label| line(&label.name)).collect(),
            assignee: parts.assignee.or(parts.delegate).as_ref().map(person),
            blocked_by: blockers.map(|relation| relation.issue.identifier).collect(),
            created: parts.created_at,
            url: parts.url,
        })
    }

    /// Where a state stands. What we move issues to counts as what we mean by it, whatever its type.
    fn state(&self, state: &query::State) -> State {
        let is = |name: &str| state.name.eq_ignore_ascii_case(name);
        match state.kind.as_str() {
            "completed" => State::Done,
            "canceled" | "duplicate" => State::Cancelled,
            _ if is(&self.done) => State::Done,
            _ if is(&self.in_progress) => State::InProgress,
            "started" => State::InProgress,
            _ => State::Open,
        }
    }
}

/// 1 is urgent and 4 is low; 0 is none.
fn priority(number: f64) -> Option<u8> {
    (1..=4_u8).find(|known| (f64::from(*known) - number).abs() < 0.5)
}

fn person(user: &query::User) -> Person {
    Person { name: line(&user.display_name), is_me: user.is_me }
}

fn comment(theirs: Theirs) -> Comment {
    let bot = theirs.bot_actor.and_then(|bot| bot.name).unwrap_or_default();
    let author = match &theirs.user {
        Some(user) => person(user),
        None => Person { name: line(&bot), is_me: false },
    };
    // Who is no user of the workspace wrote from somewhere else.
    let may_write = theirs.user.is_some();
    Comment { id: theirs.id, author, at: theirs.created_at, body: theirs.body, may_write }
}

/// A text that others wrote where a line is expected.
pub(super) fn line(text: &str) -> String {
    text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect()
}
