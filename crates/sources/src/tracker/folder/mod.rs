//! A folder of Markdown files as a tracker: an issue a file, with YAML front matter. It works without any account.
//!
//! | question | file |
//! |---|---|
//! | how is an issue's file read, and changed? | `file.rs` |
//! | what does its front matter say? | `front.rs` |
//! | how is the time written? | `time.rs` |
//!
//! Several Windlasses may share a folder: while one writes, it holds the directory, and the order of comments in a file is
//! the order in which they were written. Editors of people ask nobody, so a file is looked at again right before it is
//! replaced. Links are not followed.

mod file;
mod front;
mod time;

#[cfg(test)]
mod tests;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use windlass_process::beneath::{BeneathError, Held, Kind, Links, Root};

use self::file::{IssueFile, Said, new_file};
pub use self::front::States;
use self::front::Wrong;
use super::{
    Comment, Detail, Filter, Issue, Marker, NewIssue, Patience, Pause, Person, Project, State,
    Target, Tracker, TrackerError,
};
use crate::markdown::{Outline, slug};

/// Milliseconds since 1970.
pub type Clock = dyn Fn() -> u64 + Send + Sync;

/// Where issues are when nobody says otherwise.
pub const DIRECTORY: &str = "issues";

/// All that others know of it.
pub const KIND: super::Kind = super::Kind {
    name: "folder",
    about: "A folder of Markdown files",
    key_variable: None,
    url: None,
    project: Some(DIRECTORY),
    question: "Which directory should the harness take issues from?",
    has_teams: false,
    signs: None,
    is_in: |top| top.join(DIRECTORY).is_dir(),
    open: |setup| {
        let project = if setup.project.is_empty() { DIRECTORY.to_owned() } else { setup.project };
        let patience = setup.patience;
        let waits = move |pause: Pause| patience(pause);
        let folder = Folder::of(setup.top, project, Box::new(setup.clock), Box::new(waits));
        let usual = States::default();
        Ok(Arc::new(folder.with_states(States {
            in_progress: setup.in_progress.unwrap_or(usual.in_progress),
            done: setup.done.unwrap_or(usual.done),
        })))
    },
};

/// Who writes when nobody says otherwise.
const ME: &str = "Windlass";

const TRACKER: &str = "the folder of issues";

/// An issue's file is no longer than this.
const BYTES_MAX: u64 = 1 << 20;

/// How long until a directory that somebody else holds, or a file that somebody else writes, is tried again.
const PAUSE: Duration = Duration::from_millis(5);

/// A folder of Markdown files.
pub struct Folder {
    top: PathBuf,
    directory: PathBuf,
    me: String,
    states: States,
    clock: Box<Clock>,
    patience: Box<Patience>,
}

impl fmt::Debug for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Folder").field("directory", &self.place()).finish_non_exhaustive()
    }
}

/// What is in the folder.
#[derive(Default)]
struct Shelf {
    issues: Vec<Issue>,
    wrong: Vec<String>,
}

impl Folder {
    /// The folder of a project: a directory below its top, or any that a person names in full.
    pub fn of(
        top: impl Into<PathBuf>,
        directory: impl Into<PathBuf>,
        clock: Box<Clock>,
        patience: Box<Patience>,
    ) -> Self {
        Folder {
            top: top.into(),
            directory: directory.into(),
            me: ME.to_owned(),
            states: States::default(),
            clock,
            patience,
        }
    }

    /// Who writes comments, and has the issues that are assigned to it.
    #[must_use]
    pub fn called(self, me: impl Into<String>) -> Self {
        Folder { me: me.into(), ..self }
    }

    /// What states are called when they are written.
    #[must_use]
    pub fn with_states(self, states: States) -> Self {
        Folder { states, ..self }
    }

    fn place(&self) -> String {
        self.directory.display().to_string()
    }

    fn file_of(&self, id: &str) -> String {
        format!("{}/{id}.md", self.place())
    }

    /// The directory; nothing if it is not there.
    fn open(&self) -> Result<Option<Root>, TrackerError> {
        let opened = if self.directory.is_absolute() {
            Root::open(&self.directory, Links::Refuse)
                .map_err(|error| (error.kind(), error.to_string()))
        } else {
            Root::open(&self.top, Links::Refuse)
                .map_err(|error| (error.kind(), error.to_string()))
                .and_then(|top| {
                    top.directory(&self.directory).map_err(|error| match error.is_not_found() {
                        true => (std::io::ErrorKind::NotFound, error.to_string()),
                        false => (std::io::ErrorKind::Other, error.to_string()),
                    })
                })
        };
        match opened {
            Ok(root) => Ok(Some(root)),
            Err((std::io::ErrorKind::NotFound, _)) => Ok(None),
            Err((_, why)) => Err(self.refused(why, "make it a directory that can be read")),
        }
    }

    fn refused(&self, why: impl Into<String>, next: impl Into<String>) -> TrackerError {
        TrackerError::Refused { tracker: TRACKER, why: why.into(), next: next.into() }
    }

    fn beneath(&self, error: &BeneathError) -> TrackerError {
        self.refused(error.to_string(), format!("look at {} and its permissions", self.place()))
    }

    fn wrong(&self, id: &str, wrong: &Wrong) -> TrackerError {
        let path = self.file_of(id);
        self.refused(format!("{path}:{wrong}"), format!("mend {path}"))
    }

    /// The directory that is asked about.
    fn asked(&self, filter: &Filter) -> Result<Root, TrackerError> {
        let (named, own) = (Path::new(&filter.project), self.directory.as_path());
        if !filter.project.is_empty() && named.components().ne(own.components()) {
            let why = format!("it is {}, and not {}", self.place(), filter.project);
            return Err(self.refused(why, format!("name {}", self.place())));
        }
        self.open()?.ok_or_else(|| {
            self.refused(
                format!("there is no directory {}", self.place()),
                format!("make {} with a Markdown file for each issue", self.place()),
            )
        })
    }

    /// The text of an issue's file; nothing if it is gone.
    fn text(&self, root: &Root, id: &str) -> Result<Option<String>, TrackerError> {
        let name = format!("{id}.md");
        let bytes = match root.read(&name, BYTES_MAX) {
            Ok(bytes) => bytes,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => {
                let what = match &error {
                    BeneathError::TooLong { .. } => {
                        format!("it has more than {} KB", BYTES_MAX >> 10)
                    }
                    BeneathError::Link { .. } => "it is a link, and none is followed".to_owned(),
                    BeneathError::NotAFile { .. } => "it is no file".to_owned(),
                    BeneathError::Outside { .. } | BeneathError::Io { .. } => {
                        return Err(self.beneath(&error));
                    }
                };
                return Err(self.wrong(id, &Wrong { line: 1, column: 1, what }));
            }
        };
        String::from_utf8(bytes).map(Some).map_err(|error| {
            let up_to = error.utf8_error().valid_up_to();
            let before = String::from_utf8_lossy(&error.as_bytes()[..up_to]).into_owned();
            self.wrong(id, &Wrong::at(&before, before.len(), "this is not UTF-8"))
        })
    }

    /// Everything in the folder: what can be read, and what cannot.
    fn shelf(&self, root: &Root) -> Result<Shelf, TrackerError> {
        let mut shelf = Shelf::default();
        for entry in root.entries("").map_err(|error| self.beneath(&error))? {
            let Some(name) = entry.name.to_str() else {
                let name = entry.name.display();
                shelf.wrong.push(format!("{}/{name}: its name is not UTF-8", self.place()));
                continue;
            };
            let Some(id) = name.strip_suffix(".md").filter(|id| is_id(id)) else { continue };
            if entry.kind == Kind::Directory {
                continue;
            }
            match self.text(root, id) {
                Ok(None) => {}
                Ok(Some(text)) => match IssueFile::parse(&text, &self.states) {
                    Ok(file) => {
                        if !matches!(file.state(), State::Done | State::Cancelled) {
                            let doubts = file.doubts();
                            let doubts =
                                doubts.iter().map(|it| format!("{}:{it}", self.file_of(id)));
                            shelf.wrong.extend(doubts);
                        }
                        shelf.issues.push(self.issue(id, &file));
                    }
                    Err(wrong) => shelf.wrong.push(format!("{}:{wrong}", self.file_of(id))),
                },
                Err(TrackerError::Refused { why, .. }) => shelf.wrong.push(why),
                Err(error) => return Err(error),
            }
        }
        shelf.unblock();
        Ok(shelf)
    }

    fn issue(&self, id: &str, file: &IssueFile<'_>) -> Issue {
        let front = &file.front;
        let heading = || Outline::of(file.body()).headings.into_iter().next().map(|it| it.text);
        Issue {
            id: id.to_owned(),
            title: front.title.clone().or_else(heading).unwrap_or_else(|| id.to_owned()),
            body: file.body().to_owned(),
            priority: front.priority,
            labels: front.labels.clone(),
            state: file.state(),
            state_name: front.state.as_ref().map_or("open", |(_, word)| word).to_owned(),
            assignee: front.assignee.as_ref().map(|name| self.person(name)),
            blocked_by: front.blocked_by.clone(),
            created: front.created.clone().unwrap_or_default(),
            url: self.file_of(id),
        }
    }

    fn person(&self, name: &str) -> Person {
        Person { name: name.to_owned(), is_me: name == self.me }
    }

    /// Holds the directory, waiting for whoever has it.
    fn hold(&self, root: &Root) -> Result<Held, TrackerError> {
        loop {
            match root.hold().map_err(|error| self.beneath(&error))? {
                Some(held) => return Ok(held),
                None if (self.patience)(Pause::Busy(PAUSE)) => {}
                None => {
                    let why = format!("another program holds {} all the time", self.place());
                    return Err(TrackerError::Unreachable {
                        tracker: TRACKER,
                        place: self.place(),
                        why,
                    });
                }
            }
        }
    }

    /// Changes an issue's file; nothing is written if there is nothing to change. Whether the file is there.
    fn change(
        &self,
        id: &str,
        edit: impl Fn(&IssueFile<'_>) -> Result<Option<String>, Wrong>,
    ) -> Result<bool, TrackerError> {
        let Some(id) = plain(id) else { return Ok(false) };
        let Some(root) = self.open()? else { return Ok(false) };
        let _held = self.hold(&root)?;
        loop {
            let Some(before) = self.text(&root, id)? else { return Ok(false) };
            let edited = IssueFile::parse(&before, &self.states).and_then(|file| edit(&file));
            let Some(after) = edited.map_err(|wrong| self.wrong(id, &wrong))? else {
                return Ok(true);
            };
            if after.len() as u64 > BYTES_MAX {
                let path = self.file_of(id);
                let why = format!("{path} would have more than {} KB", BYTES_MAX >> 10);
                return Err(self.refused(why, format!("shorten {path}")));
            }
            // People's editors hold nothing: what they wrote meanwhile is what is changed.
            let name = format!("{id}.md");
            let written = root.rewrite(name, before.as_bytes(), after.as_bytes());
            if written.map_err(|error| self.beneath(&error))? {
                return Ok(true);
            }
            if !(self.patience)(Pause::Busy(PAUSE)) {
                let why = format!("{} is written all the time", self.file_of(id));
                return Err(TrackerError::Unreachable {
                    tracker: TRACKER,
                    place: self.place(),
                    why,
                });
            }
        }
    }

    fn gone(&self, id: &str) -> TrackerError {
        self.refused(
            format!("there is no {}", self.file_of(plain(id).unwrap_or(id))),
            "put it back, or take another issue",
        )
    }

    fn is_ours(&self, said: &Said, marker: &Marker) -> bool {
        said.author == self.me && Marker::of(&said.text).as_ref() == Some(marker)
    }
}

impl Tracker for Folder {
    fn name(&self) -> &'static str {
        TRACKER
    }

    fn projects(&self) -> Result<Vec<Project>, TrackerError> {
        let project = |name: String| Project { id: name.clone(), name };
        let top = match Root::open(&self.top, Links::Refuse) {
            Ok(top) => top,
            Err(error) => return Err(self.refused(error.to_string(), "look whether it is there")),
        };
        let mut projects = Vec::new();
        for entry in top.entries("").map_err(|error| self.beneath(&error))? {
            let Some(name) = entry.name.to_str().filter(|name| is_id(name)) else { continue };
            if entry.kind == Kind::Directory && has_issues(&top, name) {
                projects.push(project(name.to_owned()));
            }
        }
        let own = self.place();
        if projects.iter().all(|it| it.id != own) && self.open()?.is_some() {
            projects.push(project(own));
        }
        Ok(projects)
    }

    fn ready(&self, filter: &Filter) -> Result<Vec<Issue>, TrackerError> {
        let mut issues = self.shelf(&self.asked(filter)?)?.issues;
        issues.retain(|issue| {
            !matches!(issue.state, State::Done | State::Cancelled)
                && (filter.label.is_empty() || issue.has_label(&filter.label))
        });
        Ok(issues)
    }

    fn complaints(&self, filter: &Filter) -> Result<Vec<String>, TrackerError> {
        Ok(self.shelf(&self.asked(filter)?)?.wrong)
    }

    fn look(&self, id: &str) -> Result<Option<Detail>, TrackerError> {
        let Some(id) = plain(id) else { return Ok(None) };
        let Some(root) = self.open()? else { return Ok(None) };
        let Some(text) = self.text(&root, id)? else { return Ok(None) };
        let file = IssueFile::parse(&text, &self.states).map_err(|wrong| self.wrong(id, &wrong))?;
        let mut shelf = self.shelf(&root)?;
        shelf.issues.retain(|issue| issue.id != id);
        shelf.issues.push(self.issue(id, &file));
        shelf.unblock();
        let Some(issue) = shelf.issues.pop() else { return Ok(None) };
        let mut comments: Vec<Comment> = Vec::new();
        for said in file.comments(&self.me) {
            let own = format!("{} {}", said.at, said.author);
            let same = comments.iter().filter(|it| it.id.starts_with(&own)).count();
            let id = if same == 0 { own } else { format!("{own} {}", same + 1) };
            let author = self.person(&said.author);
            // Whoever can comment there has written to the file. What has no heading is nobody's word.
            let may_write = !said.author.is_empty();
            comments.push(Comment { id, author, at: said.at, body: said.text, may_write });
        }
        Ok(Some(Detail { issue, comments, linked: None }))
    }

    fn move_to(&self, id: &str, state: Target) -> Result<(), TrackerError> {
        let (state, word) = match state {
            Target::InProgress => (State::InProgress, &self.states.in_progress),
            Target::Done => (State::Done, &self.states.done),
        };
        let there = self.change(id, |file| match file.state() == state {
            true => Ok(None),
            false => file.with_state(word, &self.states).map(Some),
        })?;
        if there { Ok(()) } else { Err(self.gone(id)) }
    }

    fn post(&self, id: &str, text: &str, marker: &Marker) -> Result<(), TrackerError> {
        let there = self.change(id, |file| {
            if file.comments(&self.me).iter().any(|said| self.is_ours(said, marker)) {
                return Ok(None);
            }
            let at = time::rfc_3339((self.clock)());
            Ok(Some(file.with_comment(&self.me, &at, text, marker)))
        })?;
        if there { Ok(()) } else { Err(self.gone(id)) }
    }

    fn withdraw(&self, id: &str, marker: &Marker) -> Result<(), TrackerError> {
        // From a file that is gone everything has been taken back.
        self.change(id, |file| {
            let said = file.comments(&self.me);
            let ours: Vec<&Said> = said.iter().filter(|it| self.is_ours(it, marker)).collect();
            Ok((!ours.is_empty()).then(|| file.without(&ours)))
        })
        .map(drop)
    }

    fn create(&self, new: &NewIssue, marker: &Marker) -> Result<String, TrackerError> {
        let root = self.asked(&new.filter)?;
        let _held = self.hold(&root)?;
        let marked = |issue: &&Issue| {
            issue.body.lines().any(|line| Marker::of(line).as_ref() == Some(marker))
        };
        if let Some(issue) = self.shelf(&root)?.issues.iter().find(marked) {
            return Ok(issue.id.clone());
        }
        let created = time::rfc_3339((self.clock)());
        let text = new_file(&new.title, &new.filter.label, &created, &new.body, marker);
        let name = match slug(&new.title) {
            name if name.is_empty() => "issue".to_owned(),
            name => name,
        };
        let names = (1..).map(|number| match number {
            1 => name.clone(),
            _ => format!("{name}-{number}"),
        });
        for id in names {
            let placed = root.place(format!("{id}.md"), text.as_bytes());
            if placed.map_err(|error| self.beneath(&error))? {
                return Ok(id);
            }
        }
        Err(self.refused("no name is left", "tidy the folder up"))
    }
}

impl Shelf {
    /// What is done blocks nothing any more.
    fn unblock(&mut self) {
        let over: Vec<(String, bool)> = self
            .issues
            .iter()
            .map(|it| (it.id.clone(), matches!(it.state, State::Done | State::Cancelled)))
            .collect();
        for issue in &mut self.issues {
            issue.blocked_by = issue
                .blocked_by
                .iter()
                .map(|word| over.iter().find(|(id, _)| is_meant(word, id)).ok_or(word))
                .filter_map(|found| match found {
                    Ok((_, true)) => None,
                    Ok((id, false)) => Some(id.clone()),
                    // Whatever it is, nobody knows that it is done.
                    Err(word) => Some(word.clone()),
                })
                .collect();
        }
    }
}

/// Whether somebody who writes this means that issue: by its name, or by the number that its name begins with.
fn is_meant(word: &str, id: &str) -> bool {
    let word = plain(word).unwrap_or(word);
    let number = |text: &str| text.trim_start_matches('#').parse::<u64>().ok();
    let begins = id.split(['-', '_', ' ']).next().unwrap_or(id);
    word == id || number(word).is_some_and(|own| number(begins) == Some(own))
}

/// An id as people may write it; nothing if no file can be called that.
fn plain(id: &str) -> Option<&str> {
    let id = id.strip_suffix(".md").unwrap_or(id);
    is_id(id).then_some(id)
}

fn is_id(id: &str) -> bool {
    !id.is_empty() && !id.starts_with('.') && !id.contains(['/', '\0'])
}

/// Whether a directory has a file that looks like an issue.
fn has_issues(top: &Root, name: &str) -> bool {
    let Ok(directory) = top.directory(name) else { return false };
    let entries = directory.entries("").unwrap_or_default();
    entries.iter().filter(|it| it.kind == Kind::File).any(|entry| {
        let is_text = Path::new(&entry.name).extension().is_some_and(|it| it == "md");
        is_text && directory.read(&entry.name, BYTES_MAX).is_ok_and(|it| it.starts_with(b"---"))
    })
}
