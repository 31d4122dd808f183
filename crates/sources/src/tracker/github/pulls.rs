//! A branch that lands as a pull request: opened once, kept up to date, and watched.
//!
//! The branch itself is pushed by others. What is written here may be repeated: it is looked at first. What people write into
//! title and body stays: ours stands between two lines of the body, and only that part is ever replaced.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::json;

use super::ask::{Asking, Trouble, encoded};
use super::shown::{User, is_heard, same, text};
use super::{BODY_CHARS_MAX, GitHub};
use crate::tracker::marker::Form;
use crate::tracker::{Marker, Person, TrackerError};

/// The pull requests of a repository.
#[derive(Clone, Copy, Debug)]
pub struct Pulls<'a> {
    github: &'a GitHub,
}

/// What a pull request is to be like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The branch with the work; it has been pushed.
    pub head: String,
    /// The branch that it is to land on.
    pub base: String,
    /// In a line.
    pub title: String,
    /// What we called it before, if we have: a title that is anything else by now is somebody else's.
    pub title_before: Option<String>,
    /// Our part of the body, in Markdown.
    pub body: String,
    /// What our part stands between.
    pub marker: Marker,
}

/// A pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pull {
    /// Its number.
    pub number: u64,
    /// Where people read it.
    pub url: String,
    /// What has become of it.
    pub state: PullState,
    /// The branch with the work.
    pub head: String,
    /// Its commit, as far as GitHub knows.
    pub commit: String,
    /// The branch that it is to land on.
    pub base: String,
    /// In a line.
    pub title: String,
    /// In Markdown.
    pub body: String,
}

/// What has become of a pull request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PullState {
    /// It waits.
    Open,
    /// It has landed.
    Merged,
    /// Somebody closed it, and it has not landed.
    Closed,
}

/// How all checks of a commit stand together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// None has been heard of: there are none, or none yet.
    Nothing,
    /// Some are not over, and none has failed.
    Pending,
    /// At least one has failed.
    Failed,
    /// All are over, and none has failed.
    Succeeded,
}

/// A check: a check run, or a commit status of an older service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What it is called.
    pub name: String,
    /// How it stands.
    pub standing: Standing,
    /// What it says, as far as GitHub has it.
    pub output: String,
    /// Where people read the rest.
    pub url: String,
}

/// What somebody wants changed, or says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// GitHub's own name for it, which it keeps.
    pub id: String,
    /// Who wants it.
    pub author: Person,
    /// When it was said (RFC 3339).
    pub at: String,
    /// The commit that it was said of.
    pub commit: String,
    /// The file and the line that it is about; a review is about all of it.
    pub place: Option<(String, Option<u64>)>,
    /// What it says.
    pub body: String,
}

/// How all checks stand together.
pub fn standing(checks: &[Check]) -> Standing {
    let any = |standing| checks.iter().any(|it| it.standing == standing);
    match () {
        () if checks.is_empty() => Standing::Nothing,
        () if any(Standing::Failed) => Standing::Failed,
        () if any(Standing::Pending) => Standing::Pending,
        () => Standing::Succeeded,
    }
}

#[derive(Deserialize)]
struct GivenPull {
    number: u64,
    html_url: String,
    state: String,
    title: String,
    body: Option<String>,
    #[serde(default)]
    merged_at: Option<String>,
    head: End,
    base: End,
}

#[derive(Deserialize)]
struct End {
    #[serde(rename = "ref")]
    branch: String,
    sha: String,
    repo: Option<Repository>,
}

#[derive(Deserialize)]
struct Repository {
    full_name: String,
}

#[derive(Deserialize)]
struct Runs {
    check_runs: Vec<Run>,
}

#[derive(Deserialize)]
struct Run {
    id: u64,
    name: String,
    status: String,
    conclusion: Option<String>,
    #[serde(default)]
    details_url: Option<String>,
    #[serde(default)]
    html_url: Option<String>,
    #[serde(default)]
    output: Output,
    app: Option<App>,
}

#[derive(Default, Deserialize)]
struct Output {
    title: Option<String>,
    summary: Option<String>,
    text: Option<String>,
    #[serde(default)]
    annotations_count: u64,
}

#[derive(Deserialize)]
struct App {
    id: u64,
}

#[derive(Deserialize)]
struct Annotation {
    path: String,
    start_line: Option<u64>,
    message: Option<String>,
}

#[derive(Deserialize)]
struct Statuses {
    statuses: Vec<Status>,
}

#[derive(Deserialize)]
struct Status {
    context: String,
    state: String,
    description: Option<String>,
    target_url: Option<String>,
}

#[derive(Deserialize)]
struct Review {
    id: u64,
    user: Option<User>,
    #[serde(default)]
    author_association: Option<String>,
    body: Option<String>,
    state: String,
    submitted_at: Option<String>,
    commit_id: Option<String>,
}

#[derive(Deserialize)]
struct LineComment {
    id: u64,
    user: Option<User>,
    #[serde(default)]
    author_association: Option<String>,
    body: Option<String>,
    path: String,
    line: Option<u64>,
    original_line: Option<u64>,
    created_at: String,
    commit_id: Option<String>,
}

/// What was said below a pull request, of all of it.
#[derive(Deserialize)]
struct Word {
    id: u64,
    user: Option<Speaker>,
    body: Option<String>,
    created_at: String,
    #[serde(default)]
    author_association: Option<String>,
}

#[derive(Deserialize)]
struct Speaker {
    login: String,
    #[serde(default, rename = "type")]
    kind: String,
}

impl<'a> Pulls<'a> {
    pub(super) fn of(github: &'a GitHub) -> Self {
        Pulls { github }
    }

    /// A pull request; nothing if it is gone.
    ///
    /// # Errors
    ///
    /// When GitHub cannot be asked.
    pub fn look(&self, number: u64) -> Result<Option<Pull>, TrackerError> {
        self.github.known()?;
        let path = format!("{}/pulls/{number}", self.github.here());
        match self.github.asking().get::<GivenPull>(&path) {
            Ok(given) => Ok(Some(given.shown())),
            Err(Trouble::Gone(_)) => Ok(None),
            Err(trouble) => Err(trouble.told(self.github)),
        }
    }

    /// The open pull request of a branch of this repository, if there is one.
    ///
    /// # Errors
    ///
    /// When GitHub cannot be asked.
    pub fn open_of(&self, head: &str) -> Result<Option<Pull>, TrackerError> {
        self.github.known()?;
        let found = self.find(&mut self.github.asking(), head, None);
        let found = found.map_err(|trouble| trouble.told(self.github))?;
        Ok(found.filter(|it| it.state == PullState::Open))
    }

    /// Opens a pull request for a branch; or, if there is one, makes our part of it say what it is to say. One that has been
    /// merged or closed is left as it is, and no other is opened.
    ///
    /// # Errors
    ///
    /// When it cannot be opened or changed.
    pub fn put(&self, wanted: &Wanted) -> Result<Pull, TrackerError> {
        self.github.known()?;
        let put = self.put_once(&mut self.github.asking(), wanted);
        put.map_err(|trouble| trouble.told(self.github))
    }

    /// The checks of a commit, by name.
    ///
    /// # Errors
    ///
    /// When GitHub cannot be asked, or the key may not see them.
    pub fn checks(&self, commit: &str) -> Result<Vec<Check>, TrackerError> {
        self.github.known()?;
        let asking = &mut self.github.asking();
        let mut all = || {
            let mut checks = self.runs(asking, commit)?;
            checks.extend(self.statuses(asking, commit)?);
            checks.sort_by(|one, other| one.name.cmp(&other.name));
            Ok(checks)
        };
        all().map_err(|trouble: Trouble| trouble.told(self.github))
    }

    /// What others want changed: of each reviewer the last word, if it asks for changes; what was said of lines; and what people
    /// said below it. Only those are heard who may write to the repository. What was answered is left out by its id, so that
    /// whatever is said later is never taken for it.
    ///
    /// # Errors
    ///
    /// When GitHub cannot be asked.
    pub fn remarks(
        &self,
        number: u64,
        answered: &BTreeSet<String>,
    ) -> Result<Vec<Remark>, TrackerError> {
        self.github.known()?;
        let remarks = self.remarks_of(&mut self.github.asking(), number);
        let mut remarks = remarks.map_err(|trouble| trouble.told(self.github))?;
        remarks.retain(|it| !answered.contains(&it.id));
        Ok(remarks)
    }

    /// The pull request of a branch of this repository, if there is one: an open one rather than another, else the latest.
    fn find(
        &self,
        asking: &mut Asking<'_>,
        head: &str,
        base: Option<&str>,
    ) -> Result<Option<Pull>, Trouble> {
        let project = &self.github.project;
        let owner = project.split('/').next().unwrap_or_default();
        let whose = encoded(&format!("{owner}:{head}"));
        let path = format!("{}/pulls?state=all&head={whose}", self.github.here());
        let pulls: Vec<GivenPull> = asking.list(&path)?;
        let is_it = |it: &GivenPull| {
            // Somebody else's branch of the same name is not ours.
            let here = it.head.repo.as_ref().is_some_and(|repo| same(&repo.full_name, project));
            here && it.head.branch == head && base.is_none_or(|base| it.base.branch == base)
        };
        let own = pulls.into_iter().filter(is_it).map(GivenPull::shown);
        Ok(own.max_by_key(|it| (it.state == PullState::Open, it.number)))
    }

    fn put_once(&self, asking: &mut Asking<'_>, wanted: &Wanted) -> Result<Pull, Trouble> {
        let Wanted { head, base, title, .. } = wanted;
        let found = match self.find(asking, head, Some(base))? {
            Some(found) => found,
            None => {
                let body = wanted.within("");
                let new = json!({"title": title, "body": body, "head": head, "base": base});
                let path = format!("{}/pulls", self.github.here());
                let there = |asking: &mut Asking<'_>| {
                    Ok(self.find(asking, head, Some(base))?.map(Found::Already))
                };
                match asking.make::<Found>(&path, &new, there) {
                    Ok(Found::New(given)) => given.shown(),
                    Ok(Found::Already(found)) => found,
                    Err(Trouble::No(why)) => match self.find(asking, head, Some(base))? {
                        // Somebody else was quicker.
                        Some(found) => found,
                        None => return Err(Trouble::No(why)),
                    },
                    Err(trouble) => return Err(trouble),
                }
            }
        };
        let body = wanted.within(&found.body);
        let mine = wanted.title_before.as_ref() == Some(&found.title);
        let title = if mine { title } else { &found.title };
        let is_so = found.title == *title && found.body.trim_end() == body.trim_end();
        if is_so || found.state != PullState::Open {
            return Ok(found);
        }
        let path = format!("{}/pulls/{}", self.github.here(), found.number);
        // What is not ours is not sent: somebody may be changing it right now.
        let mut new = json!({"body": body});
        if *title != found.title {
            new["title"] = json!(title);
        }
        asking.set::<GivenPull>("PATCH", &path, Some(&new)).map(GivenPull::shown)
    }

    fn runs(&self, asking: &mut Asking<'_>, commit: &str) -> Result<Vec<Check>, Trouble> {
        let here = self.github.here();
        let path = format!("{here}/commits/{}/check-runs?filter=latest", encoded(commit));
        let mut runs = asking.list_in(&path, |part: Runs| part.check_runs)?;
        // What was run again counts by its last run.
        runs.sort_by_key(|run| (run.name.clone(), run.app_id(), std::cmp::Reverse(run.id)));
        runs.dedup_by(|next, kept| (next.app_id(), &next.name) == (kept.app_id(), &kept.name));
        let mut checks = Vec::new();
        for run in runs {
            let standing = run.standing();
            let mut output = run.output.said();
            if standing == Standing::Failed && run.output.annotations_count > 0 {
                let path = format!("{here}/check-runs/{}/annotations", run.id);
                let annotations: Vec<Annotation> = asking.list(&path)?;
                output.extend(annotations.iter().map(Annotation::said));
            }
            if standing == Standing::Failed && output.is_empty() {
                output.extend(run.conclusion.clone());
            }
            let url = run.details_url.or(run.html_url).unwrap_or_default();
            checks.push(Check { name: run.name, standing, output: output.join("\n"), url });
        }
        Ok(checks)
    }

    fn statuses(&self, asking: &mut Asking<'_>, commit: &str) -> Result<Vec<Check>, Trouble> {
        let path = format!("{}/commits/{}/status", self.github.here(), encoded(commit));
        let statuses = asking.list_in(&path, |part: Statuses| part.statuses)?;
        let check = |status: Status| Check {
            standing: match status.state.as_str() {
                "success" => Standing::Succeeded,
                "pending" => Standing::Pending,
                _ => Standing::Failed,
            },
            name: status.context,
            output: status.description.unwrap_or_default(),
            url: status.target_url.unwrap_or_default(),
        };
        Ok(statuses.into_iter().map(check).collect())
    }

    fn remarks_of(&self, asking: &mut Asking<'_>, number: u64) -> Result<Vec<Remark>, Trouble> {
        let me = self.github.me(asking)?.to_owned();
        let path = format!("{}/pulls/{number}", self.github.here());
        let reviews: Vec<Review> = asking.list(&format!("{path}/reviews"))?;
        let lines: Vec<LineComment> = asking.list(&format!("{path}/comments"))?;
        let path = format!("{}/issues/{number}/comments", self.github.here());
        let words: Vec<Word> = asking.list(&path)?;
        let mut remarks = Vec::new();
        for (at, review) in reviews.iter().enumerate() {
            // Who approves later, or takes it back, wants nothing changed; who only says something still does.
            let decides = |it: &&Review| it.login() == review.login() && it.state != "COMMENTED";
            let is_last_word = !reviews[at + 1..].iter().any(|later| decides(&later));
            let counts = is_heard(review.author_association.as_deref()) && review.login() != me;
            if review.state == "CHANGES_REQUESTED" && is_last_word && counts {
                remarks.push(review.shown(&me));
            }
        }
        let others = lines.iter().filter(|it| {
            let by_other = it.user.as_ref().is_none_or(|it| it.login != me);
            by_other && is_heard(it.author_association.as_deref())
        });
        remarks.extend(others.map(|it| it.shown(&me)));
        let people = words.iter().filter(|it| {
            let person =
                it.user.as_ref().is_some_and(|user| user.login != me && user.kind != "Bot");
            person && is_heard(it.author_association.as_deref())
        });
        remarks.extend(people.map(Word::shown));
        Ok(remarks)
    }
}

impl Wanted {
    /// A body with our part in it as it is to be, and everything else as it is.
    fn within(&self, body: &str) -> String {
        let (begin, end) = self.lines();
        let (before, after) = parted(body, &begin, &end).unwrap_or((body.trim_end(), ""));
        let around = before.chars().count() + after.chars().count();
        let room = BODY_CHARS_MAX.saturating_sub(around);
        // Nothing in our part may pass for its end.
        let ours = self.body.trim().replace("<!--", "&lt;!--");
        let ours = match ours.char_indices().nth(room) {
            Some((at, _)) => format!("{}…", &ours[..at]),
            None => ours,
        };
        let before = before.trim_end();
        let gap = if before.is_empty() { "" } else { "\n\n" };
        format!("{before}{gap}{begin}\n{ours}\n{end}{after}")
    }

    /// The lines that our part stands between.
    fn lines(&self) -> (String, String) {
        let line = |marker: &Marker| marker.below("", Form::Hidden).trim().to_owned();
        let end = Marker::new(&format!("{}-end", self.marker.what()), self.marker.key());
        (line(&self.marker), line(&end))
    }
}

/// What stands before our part and after it, if it is there.
fn parted<'b>(body: &'b str, begin: &str, end: &str) -> Option<(&'b str, &'b str)> {
    let from = body.rfind(begin)?;
    let to = from + body[from..].find(end)? + end.len();
    Some((&body[..from], &body[to..]))
}

impl Word {
    fn shown(&self) -> Remark {
        let name = self.user.as_ref().map(|user| user.login.clone()).unwrap_or_default();
        Remark {
            id: format!("said-{}", self.id),
            author: Person { name, is_me: false },
            at: self.created_at.clone(),
            commit: String::new(),
            place: None,
            body: text(self.body.as_deref()),
        }
    }
}

/// A pull request that was opened, or found when it was looked for again.
enum Found {
    New(GivenPull),
    Already(Pull),
}

impl<'de> Deserialize<'de> for Found {
    fn deserialize<D: serde::Deserializer<'de>>(of: D) -> Result<Self, D::Error> {
        GivenPull::deserialize(of).map(Found::New)
    }
}

impl GivenPull {
    fn shown(self) -> Pull {
        let state = match (self.merged_at.is_some(), self.state.as_str()) {
            (true, _) => PullState::Merged,
            (false, "closed") => PullState::Closed,
            (false, _) => PullState::Open,
        };
        Pull {
            number: self.number,
            url: self.html_url,
            state,
            head: self.head.branch,
            commit: self.head.sha,
            base: self.base.branch,
            title: self.title,
            body: text(self.body.as_deref()),
        }
    }
}

impl Run {
    fn app_id(&self) -> Option<u64> {
        self.app.as_ref().map(|app| app.id)
    }

    fn standing(&self) -> Standing {
        match (self.status.as_str(), self.conclusion.as_deref()) {
            ("completed", Some("success" | "neutral" | "skipped")) => Standing::Succeeded,
            ("completed", _) => Standing::Failed,
            _ => Standing::Pending,
        }
    }
}

impl Output {
    fn said(&self) -> Vec<String> {
        let said = [&self.title, &self.summary, &self.text].into_iter().flatten();
        said.filter(|it| !it.trim().is_empty()).map(|it| text(Some(it))).collect()
    }
}

impl Annotation {
    fn said(&self) -> String {
        let line = self.start_line.map(|line| format!(":{line}")).unwrap_or_default();
        format!("{}{line}: {}", self.path, self.message.as_deref().unwrap_or_default())
    }
}

impl Review {
    fn login(&self) -> &str {
        self.user.as_ref().map(|user| user.login.as_str()).unwrap_or_default()
    }

    fn shown(&self, me: &str) -> Remark {
        Remark {
            id: format!("review-{}", self.id),
            author: self.user.as_ref().map(|user| user.person(me)).unwrap_or_default(),
            at: self.submitted_at.clone().unwrap_or_default(),
            commit: self.commit_id.clone().unwrap_or_default(),
            place: None,
            body: text(self.body.as_deref()),
        }
    }
}

impl LineComment {
    fn shown(&self, me: &str) -> Remark {
        Remark {
            id: format!("comment-{}", self.id),
            author: self.user.as_ref().map(|user| user.person(me)).unwrap_or_default(),
            at: self.created_at.clone(),
            commit: self.commit_id.clone().unwrap_or_default(),
            place: Some((self.path.clone(), self.line.or(self.original_line))),
            body: text(self.body.as_deref()),
        }
    }
}
