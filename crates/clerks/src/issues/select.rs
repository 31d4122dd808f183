//! Which issue comes next, and why none of the others does.

use windlass_sources::tracker::{Detail, Filter, Issue, State, Tracker, TrackerError};

use super::claim::{self, Claim, End, Secret};
use super::knots::Knots;

/// How it is said that an issue waits for others.
pub const BLOCKED: &str = "it is blocked by";

/// What somebody looks for.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Which issues are meant.
    pub filter: Filter,
    /// This one and no other: what a person names counts whatever its label says, and whatever became of it before.
    pub only: Option<String>,
}

/// What is known of issues besides what their tracker says.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Those that were settled, each with how.
    pub settled: Vec<(String, &'static str)>,
    /// The one that an earlier loop was at: that it is in progress speaks against nobody.
    pub adopted: Option<String>,
    /// Runs that are over, with their secrets: what they claimed is nobody's any more.
    pub past: Vec<(String, Secret)>,
    /// Runs of this very repository that are not over, for whoever only looks.
    pub present: Vec<(String, Secret)>,
    /// Issues that a loop here has had: what was claimed by such a name may have another by now.
    pub names: Vec<String>,
    /// The run that asks, with its secret, if there is one.
    pub own: Option<(String, Secret)>,
}

impl Known {
    /// Keys of claims that count for nothing.
    fn dead(&self, issue: &str) -> Vec<String> {
        let names = || self.names.iter().map(String::as_str).chain([issue]);
        let keys = |(run, secret): &(String, Secret)| {
            names().map(|name| secret.claim(run, name)).collect::<Vec<_>>()
        };
        self.past.iter().flat_map(keys).collect()
    }

    /// Whether a claim is that of a run that is under way here.
    fn is_here(&self, key: &str, issue: &str) -> bool {
        self.present.iter().any(|(run, secret)| secret.claim(run, issue) == key)
    }

    /// Keys of the claims that runs of this repository have, or had, on an issue.
    pub fn keys_here(&self, issue: &str) -> Vec<String> {
        let all = self.past.iter().chain(&self.present);
        all.map(|(run, secret)| secret.claim(run, issue)).collect()
    }

    /// What a loop of this repository has claimed with this key, if one has.
    fn claimed_here(&self, key: &str) -> Option<&str> {
        let runs = || self.past.iter().chain(&self.present).chain(&self.own);
        let is_its = |name: &&String| runs().any(|(run, secret)| secret.claim(run, name) == key);
        self.names.iter().find(is_its).map(String::as_str)
    }

    fn own_key(&self, issue: &str) -> Option<String> {
        self.own.as_ref().map(|(run, secret)| secret.claim(run, issue))
    }
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// The issue that comes next.
    pub chosen: Option<Detail>,
    /// Those that may come after it, in order.
    pub waiting: Vec<Issue>,
    /// Those that are left out, each with why.
    pub left_out: Vec<LeftOut>,
}

/// An issue that is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Which.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Why.
    pub why: String,
}

/// The highest-priority unblocked issue that is ready and nobody's; of two alike the older one. Issues are looked at one by
/// one only until there is one, unless `all` of them are to be explained.
///
/// # Errors
///
/// When the tracker cannot be asked.
pub fn select(
    tracker: &dyn Tracker,
    wanted: &Wanted,
    known: &Known,
    all: All,
) -> Result<Selection, TrackerError> {
    let mut issues = match &wanted.only {
        None => {
            let mut issues = tracker.ready(&wanted.filter)?;
            if all == All::Unlabelled {
                let any = Filter { label: String::new(), ..wanted.filter.clone() };
                let mut more = tracker.ready(&any)?;
                more.retain(|it| issues.iter().all(|known| known.id != it.id));
                issues.append(&mut more);
            }
            issues
        }
        Some(only) => match tracker.look(only)? {
            Some(detail) => vec![detail.issue],
            None => {
                let why = format!("{} has no such issue", tracker.name());
                let left = LeftOut { id: only.clone(), title: String::new(), why };
                return Ok(Selection { left_out: vec![left], ..Selection::default() });
            }
        },
    };
    // What was begun is finished first.
    let begun = |it: &Issue| known.adopted.as_ref() == Some(&it.id);
    issues.sort_by(|one, other| {
        begun(other).cmp(&begun(one)).then_with(|| order(one).cmp(&order(other)))
    });
    let mut selection = Selection::default();
    let knots = Knots::among(&issues);
    for issue in issues {
        let left_out =
            |why: String| LeftOut { id: issue.id.clone(), title: line(&issue.title), why };
        if let Some(why) = by_its_looks(&issue, wanted, known) {
            selection.left_out.push(left_out(why));
            continue;
        }
        if selection.chosen.is_some() && all == All::No {
            selection.waiting.push(issue);
            continue;
        }
        let Some(detail) = tracker.look(&issue.id)? else {
            selection.left_out.push(left_out("it is gone".to_owned()));
            continue;
        };
        match held(&detail, wanted, known) {
            Some(why) => selection.left_out.push(left_out(why)),
            None if selection.chosen.is_some() => selection.waiting.push(issue),
            None => selection.chosen = Some(detail),
        }
    }
    if selection.chosen.is_none() || all != All::No {
        knots.explain(&mut selection.left_out, |id| matches!(tracker.look(id), Ok(None)));
    }
    Ok(selection)
}

/// Whether every issue is to be explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum All {
    /// Every one, those without the label as well.
    Unlabelled,
    /// Every one that has the label.
    Yes,
    /// As far as it takes to find one.
    No,
}

/// What an issue is ordered by: urgency, then age, then its name.
fn order(issue: &Issue) -> (u8, &str, &str) {
    (issue.priority.unwrap_or(u8::MAX), &issue.created, &issue.id)
}

/// A title on a line.
pub fn line(title: &str) -> String {
    let line = windlass_agents::one_line(title);
    if line.is_empty() { "(no title)".to_owned() } else { line }
}

/// What speaks against an issue, as its own fields have it.
fn by_its_looks(issue: &Issue, wanted: &Wanted, known: &Known) -> Option<String> {
    if !is_usable(&issue.id) {
        return Some("its name has characters that a branch or a file could not have".to_owned());
    }
    match issue.state {
        State::Done => return Some(format!("it is {}", issue.state_name)),
        State::Cancelled => return Some(format!("it is {}", issue.state_name)),
        State::Open | State::InProgress => {}
    }
    if wanted.only.is_none() {
        let settled = known.settled.iter().find(|(id, _)| *id == issue.id);
        if let Some((_, how)) = settled {
            return Some(format!(
                "this loop {how} before; `windlass issues release {}` lets it be taken again",
                typed(&issue.id)
            ));
        }
        if !wanted.filter.label.is_empty() && !issue.has_label(&wanted.filter.label) {
            return Some(format!("it has no label `{}`", wanted.filter.label));
        }
    }
    if !issue.blocked_by.is_empty() {
        return Some(format!("{BLOCKED} {}", issue.blocked_by.join(", ")));
    }
    issue
        .assignee
        .as_ref()
        .filter(|person| !person.is_me)
        .map(|person| format!("{} has it: it is assigned to them", line(&person.name)))
}

/// Who works on an issue in a pull request, if somebody does.
fn in_a_pull(detail: &Detail) -> Option<String> {
    let linked = detail.linked.as_ref()?;
    let who = line(&linked.by.name);
    Some(format!("{who} works on it: the pull request {} is open", line(&linked.name)))
}

/// What speaks against taking an issue, looked at whole: who has it.
pub fn held(detail: &Detail, wanted: &Wanted, known: &Known) -> Option<String> {
    let Detail { issue, comments, .. } = detail;
    if let Some(why) = by_its_looks(issue, wanted, known).or_else(|| in_a_pull(detail)) {
        return Some(why);
    }
    let claims = claim::claims(comments);
    let (dead, own) = (known.dead(&issue.id), known.own_key(&issue.id));
    let holder = claim::holder(&claims, &dead);
    if let Some(holder) = holder.filter(|it| Some(&it.key) != own.as_ref()) {
        if known.is_here(&holder.key, &issue.id) {
            return Some("the loop here is at it: `windlass issues` goes on with it".to_owned());
        }
        if let Some(name) = known.claimed_here(&holder.key) {
            return Some(format!(
                "a loop of this repository has claimed it as {}; `windlass issues release {}` ends that claim",
                line(name),
                typed(&issue.id)
            ));
        }
        let by = line(&holder.by);
        return Some(format!(
            "another Windlass has claimed it ({by}, {}); `windlass issues release {}` ends that claim",
            holder.at,
            typed(&issue.id)
        ));
    }
    at_work(issue, &claims, &dead, known)
}

/// Why an issue that is in progress is somebody's, if it is; `claims` are those before whoever asks.
fn at_work(issue: &Issue, claims: &[Claim], dead: &[String], known: &Known) -> Option<String> {
    if issue.state != State::InProgress || known.adopted.as_ref() == Some(&issue.id) {
        return None;
    }
    let last = claims.last();
    match last.and_then(|it| it.ended) {
        Some(End::Released) => None,
        Some(End::Failed) => Some(format!(
            "it failed, and waits for a person: `windlass issues release {}` lets it be taken again",
            typed(&issue.id)
        )),
        // Who had it is not there any more.
        None if last.is_some_and(|it| dead.contains(&it.key)) => None,
        Some(End::Completed) => Some(format!(
            "it was worked on, and is {}: `windlass issues release {}` lets it be taken again",
            issue.state_name,
            typed(&issue.id)
        )),
        None => Some(format!("somebody has it: it is {} without a claim", issue.state_name)),
    }
}

/// Whose an issue is by now, for whoever has claimed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whose {
    /// Its own.
    Ours,
    /// Another Windlass was quicker.
    Taken(String),
    /// It is not ready any more, and why.
    Changed(String),
}

/// Whose an issue is. `own` is the key of the claim.
pub fn whose(detail: &Detail, wanted: &Wanted, known: &Known, own: &str) -> Whose {
    let claims = claim::claims(&detail.comments);
    let dead = known.dead(&detail.issue.id);
    match claim::holder(&claims, &dead) {
        Some(holder) if holder.key == own => {}
        Some(holder) => return Whose::Taken(line(&holder.by)),
        None => return Whose::Changed("the claim is not there any more".to_owned()),
    }
    // What was settled before was looked at when it was chosen.
    let known = Known { settled: Vec::new(), ..known.clone() };
    let before: Vec<Claim> = claims.iter().take_while(|it| it.key != own).cloned().collect();
    let issue = &detail.issue;
    let against = by_its_looks(issue, wanted, &known);
    let against = against.or_else(|| in_a_pull(detail));
    match against.or_else(|| at_work(issue, &before, &dead, &known)) {
        None => Whose::Ours,
        Some(why) => Whose::Changed(why),
    }
}

/// What people have made of an issue since it was claimed, if that speaks against going on with it; `own` is the key of the claim.
/// Labels, and what it waits for, only say what may be begun.
pub fn overridden(detail: &Detail, known: &Known, own: &str, at: Before) -> Option<String> {
    let issue = &detail.issue;
    let closed = match at {
        Before::Landing => matches!(issue.state, State::Done | State::Cancelled),
        Before::Done => issue.state == State::Cancelled,
    };
    if closed {
        return Some(format!("it is {} by now", line(&issue.state_name)));
    }
    if let Some(person) = issue.assignee.as_ref().filter(|person| !person.is_me) {
        return Some(format!("it is assigned to {} by now", line(&person.name)));
    }
    let claims = claim::claims(&detail.comments);
    let ours = claims.iter().find(|it| it.key == own);
    let dead = known.dead(&issue.id);
    match claim::holder(&claims, &dead) {
        Some(holder) if holder.key != own => {
            return Some(format!("another Windlass has claimed it ({})", line(&holder.by)));
        }
        Some(_) => return None,
        None => {}
    }
    match (ours.map(|it| it.ended), at) {
        (Some(Some(End::Released)), _) => Some("its claim was released".to_owned()),
        (None, Before::Landing) => Some("its claim is not there any more".to_owned()),
        // That it was completed is what the claim ends with.
        _ => None,
    }
}

/// What comes next for an issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// Its work lands.
    Landing,
    /// It is moved to done.
    Done,
}

/// An id as it is typed at a shell, which takes what begins with `#` for a remark.
pub fn typed(id: &str) -> String {
    if id.starts_with('#') { format!("'{id}'") } else { id.to_owned() }
}

/// Ids name branches and files, and stand in lines of logs.
fn is_usable(id: &str) -> bool {
    let plain = |it: char| it.is_alphanumeric() || "-_.#/".contains(it);
    !id.is_empty() && id.len() <= 200 && id.chars().all(plain) && !id.contains("..")
}
