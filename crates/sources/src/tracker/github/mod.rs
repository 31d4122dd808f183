//! GitHub's issues and pull requests, over its REST interface.
//!
//! | question | file |
//! |---|---|
//! | how is a request sent, sent again, and given up? | `ask.rs` |
//! | how long does GitHub want to be left alone? | `limit.rs` |
//! | what does an issue look like to us? | `shown.rs` |
//! | how does a branch land as a pull request? | `pulls.rs` |
//! | does somebody work on an issue in a pull request of theirs? | `linked.rs` |
//!
//! GitHub has no state for what is in progress: it is an open issue with a label. What is done is closed as completed; what
//! was closed as not planned or as a duplicate will not be done.

mod ask;
mod limit;
mod linked;
pub mod pulls;
mod shown;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use serde::de::IgnoredAny;
use serde_json::json;
use windlass_http::keeps_secrets;

use self::ask::{Asking, Trouble, encoded, refused, unwelcome};
use self::pulls::Pulls;
use self::shown::{Blocker, Given, Remark, User, same, waits_for};
use super::http::Http;
use super::kind::is_elsewhere;
use super::marker::Form;
use super::{
    Detail, Filter, Issue, Kind, Marker, NewIssue, Patience, Project, Signs, State, Target,
    Tracker, TrackerError,
};

/// What people call it.
const NAME: &str = "GitHub";

/// Where its key is expected.
pub const KEY: &str = "GITHUB_TOKEN";

/// Where it is, if nobody says otherwise.
pub const URL: &str = "https://api.github.com";

/// All that others know of it.
pub const KIND: Kind = Kind {
    name: "github",
    about: "GitHub Issues, over its API",
    key_variable: Some(KEY),
    url: Some(URL),
    project: None,
    question: "Which GitHub repository should the harness pull issues from?",
    has_teams: false,
    // When it was sent it does not say.
    signs: Some(Signs { header: "x-hub-signature-256", prefix: "sha256=", is_fresh: |_, _| true }),
    is_in: is_elsewhere,
    open: |setup| {
        let usual = Settings::default();
        let settings = Settings {
            url: setup.url.unwrap_or(usual.url),
            project: setup.project,
            in_progress: setup.in_progress.unwrap_or(usual.in_progress),
            answer_ms_max: setup.answer_ms_max.unwrap_or(usual.answer_ms_max),
        };
        Ok(Arc::new(GitHub::new(settings, &setup.key, setup.patience)?))
    },
};

/// GitHub takes 65,536 characters. What is longer is cut, and says so.
const BODY_CHARS_MAX: usize = 65_000;

/// How GitHub is reached, and what is called what there.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where requests go; [`URL`], or a company's `https://HOST/api/v3`.
    pub url: String,
    /// The repository, `owner/name`; empty for whoever only asks which there are.
    pub project: String,
    /// The label of open issues that are in progress; it is made if it is not there.
    pub in_progress: String,
    /// Nobody waits longer for an answer.
    pub answer_ms_max: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            url: URL.to_owned(),
            project: String::new(),
            in_progress: "in progress".to_owned(),
            answer_ms_max: 60_000,
        }
    }
}

/// GitHub.
pub struct GitHub {
    url: String,
    project: String,
    in_progress: String,
    key: Key,
    http: Http,
    patience: Arc<Patience>,
    /// Whose key it is, once that was asked.
    me: OnceLock<String>,
}

/// A key, which is shown to GitHub and to nobody else.
struct Key(String);

impl Key {
    fn shown(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for GitHub {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = out.debug_struct("GitHub");
        shown.field("url", &self.url).field("project", &self.project).finish_non_exhaustive()
    }
}

impl GitHub {
    /// GitHub, with the key of a person.
    ///
    /// # Errors
    ///
    /// When there is no key, it would be sent in the clear to another machine, or the project is no repository.
    pub fn new(
        settings: Settings,
        key: &str,
        patience: Arc<Patience>,
    ) -> Result<Self, TrackerError> {
        let Settings { url, project, in_progress, answer_ms_max } = settings;
        let url = url.trim_end_matches('/').to_owned();
        let key = key.trim();
        if key.is_empty() {
            return Err(unwelcome("there is none"));
        }
        if !key.chars().all(|it| it.is_ascii_graphic()) {
            return Err(unwelcome("it has characters that no key has"));
        }
        if !keeps_secrets(&url) {
            let why = format!("a key is not sent to {url}, where others could read it on the way");
            return Err(refused(why, "use a base URL that begins with https://"));
        }
        if !project.is_empty() && !is_repository(&project) {
            let why = format!("`{project}` is no repository");
            return Err(refused(why, "name one as `owner/name`"));
        }
        let (http, me) = (Http::new(&url, answer_ms_max), OnceLock::new());
        let key = Key(key.to_owned());
        Ok(GitHub { url, project, in_progress, key, http, patience, me })
    }

    /// Its pull requests.
    pub fn pulls(&self) -> Pulls<'_> {
        Pulls::of(self)
    }

    /// The beginning of all paths.
    fn here(&self) -> String {
        format!("/repos/{}", self.project)
    }

    /// Whose key it is.
    fn me(&self, asking: &mut Asking<'_>) -> Result<&str, Trouble> {
        if self.me.get().is_none() {
            let user: User = asking.get("/user")?;
            return Ok(self.me.get_or_init(|| user.login));
        }
        Ok(self.me.get().map(String::as_str).unwrap_or_default())
    }

    fn known(&self) -> Result<(), TrackerError> {
        match self.project.as_str() {
            "" => Err(refused("nobody has said which repository", "name one as `owner/name`")),
            _ => Ok(()),
        }
    }

    /// That what is asked about is this repository.
    fn meant(&self, filter: &Filter) -> Result<(), TrackerError> {
        self.known()?;
        if !filter.project.is_empty() && !same(&filter.project, &self.project) {
            let why = format!("it is {}, and not {}", self.project, filter.project);
            return Err(refused(why, format!("name {}", self.project)));
        }
        Ok(())
    }

    /// An issue, if it is there and no pull request.
    fn issue(&self, asking: &mut Asking<'_>, number: u64) -> Result<Option<Given>, Trouble> {
        match asking.get::<Given>(&format!("{}/issues/{number}", self.here())) {
            Ok(issue) => Ok(Some(issue).filter(|it| it.pull_request.is_none())),
            // Where the whole repository cannot be seen any more, nothing is known of its issues.
            Err(Trouble::Gone(_)) => asking.get::<IgnoredAny>(&self.here()).map(|_| None),
            Err(trouble) => Err(trouble),
        }
    }

    fn remarks(&self, asking: &mut Asking<'_>, number: u64) -> Result<Vec<Remark>, Trouble> {
        let path = format!("{}/issues/{number}/comments", self.here());
        let mut remarks: Vec<Remark> = asking.list(&path)?;
        remarks.sort_by_key(|it| it.id);
        remarks.dedup_by_key(|it| it.id);
        Ok(remarks)
    }

    /// Our comments with a marker.
    fn ours(
        &self,
        asking: &mut Asking<'_>,
        number: u64,
        marker: &Marker,
    ) -> Result<Vec<Remark>, Trouble> {
        let me = self.me(asking)?;
        let mut remarks = self.remarks(asking, number)?;
        remarks.retain(|it| {
            let is_mine = it.user.as_ref().is_some_and(|user| same(&user.login, me));
            is_mine && Marker::of(it.body.as_deref().unwrap_or_default()).as_ref() == Some(marker)
        });
        Ok(remarks)
    }

    /// Our issue with a marker, whatever has become of it. The marker may stand anywhere: people add to what we wrote.
    fn made(&self, asking: &mut Asking<'_>, marker: &Marker) -> Result<Option<Given>, Trouble> {
        let me = encoded(self.me(asking)?);
        let path = format!("{}/issues?state=all&creator={me}&sort=created", self.here());
        let issues: Vec<Given> = asking.list(&path)?;
        let marked = |issue: &Given| {
            let body = issue.body.as_deref().unwrap_or_default();
            body.lines().any(|line| Marker::of(line).as_ref() == Some(marker))
        };
        Ok(issues.into_iter().find(|it| it.pull_request.is_none() && marked(it)))
    }

    /// What an issue waits for: what GitHub knows; and where nobody has told it, what its body says.
    fn blockers(
        &self,
        asking: &mut Asking<'_>,
        issue: &Given,
        is_open: &mut BTreeMap<u64, bool>,
    ) -> Result<Vec<String>, Trouble> {
        if issue.issue_dependencies_summary.as_ref().is_some_and(|it| it.total_blocked_by > 0) {
            let path = format!("{}/issues/{}/dependencies/blocked_by", self.here(), issue.number);
            let mut blockers: Vec<Blocker> = asking.list(&path)?;
            blockers.retain(|it| it.state != "closed");
            return Ok(blockers.iter().map(|it| self.name_of(it)).collect());
        }
        let mut open = Vec::new();
        for number in waits_for(issue.body.as_deref().unwrap_or_default()) {
            if number == issue.number {
                continue;
            }
            let known = match is_open.get(&number) {
                Some(known) => *known,
                // What is not there, nobody knows to be done.
                None => {
                    let path = format!("{}/issues/{number}", self.here());
                    match asking.get::<Given>(&path) {
                        Ok(other) => !other.is_closed(),
                        Err(Trouble::Gone(_)) => true,
                        Err(trouble) => return Err(trouble),
                    }
                }
            };
            is_open.insert(number, known);
            if known {
                open.push(format!("#{number}"));
            }
        }
        Ok(open)
    }

    fn name_of(&self, blocker: &Blocker) -> String {
        let place = blocker.repository_url.rsplit_once("/repos/").map_or("", |(_, place)| place);
        let is_here = place.is_empty() || same(place, &self.project);
        format!("{}#{}", if is_here { "" } else { place }, blocker.number)
    }

    fn list(&self, asking: &mut Asking<'_>, filter: &Filter) -> Result<Vec<Issue>, Trouble> {
        let mut path = format!("{}/issues?state=open&sort=created&direction=asc", self.here());
        // A label with a comma cannot be asked for.
        if !filter.label.is_empty() && !filter.label.contains(',') {
            path.push_str(&format!("&labels={}", encoded(&filter.label)));
        }
        let mut given: Vec<Given> = asking.list(&path)?;
        // While parts are asked for one after another, what is in them may move.
        given.sort_by_key(|it| it.number);
        given.dedup_by_key(|it| it.number);
        given.retain(|it| {
            it.pull_request.is_none()
                && !it.is_closed()
                && (filter.label.is_empty() || it.has(&filter.label))
        });
        let me = self.me(asking)?;
        let mut is_open: BTreeMap<u64, bool> = given.iter().map(|it| (it.number, true)).collect();
        let mut issues = Vec::new();
        for one in &given {
            let blocked_by = self.blockers(asking, one, &mut is_open)?;
            issues.push(Issue { blocked_by, ..one.shown(&self.in_progress, me) });
        }
        Ok(issues)
    }

    /// Whether the repository has a label.
    fn has_label(&self, asking: &mut Asking<'_>, label: &str) -> Result<bool, Trouble> {
        let path = format!("{}/labels/{}", self.here(), encoded(label));
        match asking.get::<IgnoredAny>(&path) {
            Ok(_) => Ok(true),
            Err(Trouble::Gone(_)) => Ok(false),
            Err(trouble) => Err(trouble),
        }
    }

    /// Sees to it that the repository has the label of what is in progress.
    fn need_label(&self, asking: &mut Asking<'_>) -> Result<(), Trouble> {
        if self.has_label(asking, &self.in_progress)? {
            return Ok(());
        }
        let about = "Somebody is at it";
        let label = json!({"name": self.in_progress, "color": "fbca04", "description": about});
        let path = format!("{}/labels", self.here());
        let there = |asking: &mut Asking<'_>| {
            Ok(self.has_label(asking, &self.in_progress)?.then_some(IgnoredAny))
        };
        match asking.make(&path, &label, there) {
            Ok(IgnoredAny) => Ok(()),
            // Somebody else was quicker.
            Err(Trouble::No(_)) if self.has_label(asking, &self.in_progress)? => Ok(()),
            Err(trouble) => Err(trouble),
        }
    }

    fn move_issue(
        &self,
        asking: &mut Asking<'_>,
        issue: &Given,
        to: Target,
    ) -> Result<(), Trouble> {
        let path = format!("{}/issues/{}", self.here(), issue.number);
        let is_done = issue.shown(&self.in_progress, "").state == State::Done;
        let has_label = issue.has(&self.in_progress);
        match to {
            Target::InProgress => {
                if !has_label {
                    self.need_label(asking)?;
                    let labels = json!({"labels": [self.in_progress]});
                    let labels_path = format!("{path}/labels");
                    asking.set::<IgnoredAny>("POST", &labels_path, Some(&labels))?;
                }
                if issue.is_closed() {
                    let open = json!({"state": "open"});
                    asking.set::<IgnoredAny>("PATCH", &path, Some(&open))?;
                }
            }
            Target::Done => {
                if !is_done {
                    let done = json!({"state": "closed", "state_reason": "completed"});
                    asking.set::<IgnoredAny>("PATCH", &path, Some(&done))?;
                }
                if has_label {
                    let label = format!("{path}/labels/{}", encoded(&self.in_progress));
                    match asking.set::<IgnoredAny>("DELETE", &label, None) {
                        // Somebody else took it off.
                        Ok(_) | Err(Trouble::Gone(_)) => {}
                        Err(trouble) => return Err(trouble),
                    }
                }
            }
        }
        Ok(())
    }

    fn post_comment(
        &self,
        asking: &mut Asking<'_>,
        number: u64,
        text: &str,
        marker: &Marker,
    ) -> Result<(), Trouble> {
        if !self.ours(asking, number, marker)?.is_empty() {
            return Ok(());
        }
        let path = format!("{}/issues/{number}/comments", self.here());
        let body = json!({"body": marker.below(&cut(text), Form::Hidden)});
        let there = |asking: &mut Asking<'_>| {
            Ok((!self.ours(asking, number, marker)?.is_empty()).then_some(IgnoredAny))
        };
        asking.make::<IgnoredAny>(&path, &body, there).map(drop)
    }

    fn take_back(
        &self,
        asking: &mut Asking<'_>,
        number: u64,
        marker: &Marker,
    ) -> Result<(), Trouble> {
        let ours = match self.ours(asking, number, marker) {
            Err(Trouble::Gone(_)) => return Ok(()),
            ours => ours?,
        };
        for remark in ours {
            let path = format!("{}/issues/comments/{}", self.here(), remark.id);
            match asking.set::<IgnoredAny>("DELETE", &path, None) {
                Ok(_) | Err(Trouble::Gone(_)) => {}
                Err(trouble) => return Err(trouble),
            }
        }
        Ok(())
    }
}

impl Tracker for GitHub {
    fn name(&self) -> &'static str {
        NAME
    }

    fn projects(&self) -> Result<Vec<Project>, TrackerError> {
        #[derive(serde::Deserialize)]
        struct Repository {
            full_name: String,
            #[serde(default)]
            has_issues: bool,
        }
        let repositories: Vec<Repository> =
            self.asking().list("/user/repos?sort=pushed").map_err(|trouble| trouble.told(self))?;
        let with_issues = repositories.into_iter().filter(|it| it.has_issues);
        Ok(with_issues.map(|it| Project { id: it.full_name.clone(), name: it.full_name }).collect())
    }

    fn ready(&self, filter: &Filter) -> Result<Vec<Issue>, TrackerError> {
        self.meant(filter)?;
        let asking = &mut self.asking();
        let issues = self.list(asking, filter).map_err(|trouble| trouble.told(self))?;
        let has_label = |asking| self.has_label(asking, &filter.label);
        if issues.is_empty()
            && !filter.label.is_empty()
            && !has_label(asking).map_err(|trouble| trouble.told(self))?
        {
            return Err(refused(
                format!("{} has no label `{}`", self.project, filter.label),
                "make the label and put it on issues that are ready, or name another with --label",
            ));
        }
        Ok(issues)
    }

    fn look(&self, id: &str) -> Result<Option<Detail>, TrackerError> {
        self.known()?;
        let Some(number) = number(id) else { return Ok(None) };
        let asking = &mut self.asking();
        let mut looked = || {
            let Some(given) = self.issue(asking, number)? else { return Ok(None) };
            let me = self.me(asking)?;
            let blocked_by = self.blockers(asking, &given, &mut BTreeMap::new())?;
            let issue = Issue { blocked_by, ..given.shown(&self.in_progress, me) };
            let remarks = match self.remarks(asking, number) {
                Err(Trouble::Gone(_)) => return Ok(None),
                remarks => remarks?,
            };
            let comments = remarks.iter().map(|it| it.shown(me)).collect();
            let linked = self.linked(asking, number)?;
            Ok(Some(Detail { issue, comments, linked }))
        };
        looked().map_err(|trouble: Trouble| trouble.told(self))
    }

    fn move_to(&self, id: &str, state: Target) -> Result<(), TrackerError> {
        let number = self.numbered(id)?;
        let asking = &mut self.asking();
        match self.issue(asking, number).map_err(|trouble| trouble.told(self))? {
            Some(issue) => {
                self.move_issue(asking, &issue, state).map_err(|trouble| trouble.told(self))
            }
            None => Err(self.gone(id)),
        }
    }

    fn post(&self, id: &str, text: &str, marker: &Marker) -> Result<(), TrackerError> {
        let number = self.numbered(id)?;
        match self.post_comment(&mut self.asking(), number, text, marker) {
            Err(Trouble::Gone(_)) => Err(self.gone(id)),
            posted => posted.map_err(|trouble| trouble.told(self)),
        }
    }

    fn withdraw(&self, id: &str, marker: &Marker) -> Result<(), TrackerError> {
        let number = self.numbered(id)?;
        let taken = self.take_back(&mut self.asking(), number, marker);
        taken.map_err(|trouble| trouble.told(self))
    }

    fn create(&self, new: &NewIssue, marker: &Marker) -> Result<String, TrackerError> {
        self.meant(&new.filter)?;
        let asking = &mut self.asking();
        let mut made = || {
            if let Some(issue) = self.made(asking, marker)? {
                return Ok(issue);
            }
            let mut body = json!({
                "title": new.title,
                "body": marker.below(&cut(&new.body), Form::Hidden),
            });
            if !new.filter.label.is_empty() {
                body["labels"] = json!([new.filter.label]);
            }
            let path = format!("{}/issues", self.here());
            asking.make(&path, &body, |asking| self.made(asking, marker))
        };
        let issue = made().map_err(|trouble: Trouble| trouble.told(self))?;
        Ok(format!("#{}", issue.number))
    }
}

impl GitHub {
    fn numbered(&self, id: &str) -> Result<u64, TrackerError> {
        self.known()?;
        number(id).ok_or_else(|| self.gone(id))
    }

    fn gone(&self, id: &str) -> TrackerError {
        refused(
            format!("{} has no issue {id}, or none that this key may see", self.project),
            "take another issue",
        )
    }
}

/// The number of `#12` or `12`.
fn number(id: &str) -> Option<u64> {
    let digits = id.strip_prefix('#').unwrap_or(id);
    digits.parse().ok().filter(|_| digits.bytes().all(|it| it.is_ascii_digit()))
}

fn is_repository(name: &str) -> bool {
    let fits = |part: &str| {
        let letters = |it: char| it.is_ascii_alphanumeric() || "-_.".contains(it);
        !part.is_empty() && part != "." && part != ".." && part.chars().all(letters)
    };
    name.split_once('/').is_some_and(|(owner, name)| fits(owner) && fits(name))
}

/// A text that is no longer than GitHub takes, its marker included.
fn cut(text: &str) -> String {
    match text.char_indices().nth(BODY_CHARS_MAX) {
        None => text.to_owned(),
        Some((end, _)) => {
            let left = text[end..].chars().count();
            format!("{}\n\n… and {left} characters more, which GitHub does not take.", &text[..end])
        }
    }
}
