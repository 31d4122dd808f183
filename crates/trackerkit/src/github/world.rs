//! What a pretended GitHub knows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// A write that was carried out for somebody who asked over the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// Who asked.
    pub by: String,
    /// The kind of request: `comments.create`.
    pub what: String,
    /// The number of the issue or pull request that it was about; 0 for none.
    pub number: u64,
    /// The text of a comment, the title of an issue, the label: what there was to write.
    pub text: String,
}

/// A comment, as tests look at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Its id.
    pub id: u64,
    /// Who said it.
    pub by: String,
    /// What it says.
    pub body: String,
}

/// What is seen of a check, one look after another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// It has not been heard of yet.
    Nothing,
    /// It waits for its turn.
    Queued,
    /// It is running.
    Running,
    /// It is over.
    Ended {
        /// `success`, `failure`, `neutral` and so on.
        conclusion: &'static str,
        /// What it says about that.
        summary: String,
        /// Path, line and what is wrong there.
        annotations: Vec<(String, u64, String)>,
    },
}

impl Seen {
    /// It went well.
    #[must_use]
    pub fn success() -> Self {
        Seen::ended("success", "")
    }

    /// It did not, and says why.
    #[must_use]
    pub fn failure(summary: &str) -> Self {
        Seen::ended("failure", summary)
    }

    /// It ended in some other way.
    #[must_use]
    pub fn ended(conclusion: &'static str, summary: &str) -> Self {
        Seen::Ended { conclusion, summary: summary.to_owned(), annotations: Vec::new() }
    }
}

/// How a check of a repository goes, commit by commit and look by look; what came last stays.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub name: String,
    /// A commit status, as older services give, instead of a check run.
    pub is_status: bool,
    pub commits: Vec<Vec<Seen>>,
    /// The commits that were looked at, and how often.
    pub looks: Vec<(String, usize)>,
}

impl Rule {
    /// What is seen of a commit now.
    pub fn look(&mut self, commit: &str) -> Seen {
        let known = self.looks.iter().position(|(own, _)| own == commit);
        let nth = known.unwrap_or_else(|| {
            self.looks.push((commit.to_owned(), 0));
            self.looks.len() - 1
        });
        let look = self.looks[nth].1;
        self.looks[nth].1 += 1;
        let seen = self.commits.get(nth).or(self.commits.last());
        seen.and_then(|seen| seen.get(look).or(seen.last())).cloned().unwrap_or(Seen::Nothing)
    }

    /// The same, without counting it as a look.
    pub fn last_seen(&self, commit: &str) -> Seen {
        let Some(nth) = self.looks.iter().position(|(own, _)| own == commit) else {
            return Seen::Nothing;
        };
        let seen = self.commits.get(nth).or(self.commits.last());
        let look = self.looks[nth].1.saturating_sub(1);
        seen.and_then(|seen| seen.get(look).or(seen.last())).cloned().unwrap_or(Seen::Nothing)
    }
}

/// An issue, or a pull request, which is an issue too.
#[derive(Clone, Debug, Default)]
pub(super) struct Issue {
    pub id: u64,
    pub number: u64,
    pub by: String,
    pub title: String,
    pub body: String,
    pub is_closed: bool,
    pub reason: Option<String>,
    pub labels: Vec<String>,
    pub assignees: Vec<String>,
    pub created_s: u64,
    pub updated_s: u64,
    pub closed_s: Option<u64>,
    pub comments: Vec<Comment>,
    /// Numbers in the same repository.
    pub blocked_by: Vec<u64>,
    pub is_deleted: bool,
    /// How it was connected with pull requests by hand: `connected`, `disconnected`.
    pub links: Vec<&'static str>,
    pub pull: Option<Pull>,
}

#[derive(Clone, Debug)]
pub(super) struct Comment {
    pub id: u64,
    pub by: String,
    pub body: String,
    pub created_s: u64,
    pub updated_s: u64,
}

/// What a pull request has besides.
#[derive(Clone, Debug, Default)]
pub(super) struct Pull {
    pub head: String,
    pub base: String,
    pub is_merged: bool,
    pub reviews: Vec<Review>,
    pub remarks: Vec<Remark>,
}

#[derive(Clone, Debug)]
pub(super) struct Review {
    pub id: u64,
    pub by: String,
    /// `APPROVED`, `CHANGES_REQUESTED`, `COMMENTED`, `DISMISSED`.
    pub state: String,
    pub body: String,
    pub at_s: u64,
    pub commit: String,
}

/// A comment on a line of a pull request.
#[derive(Clone, Debug)]
pub(super) struct Remark {
    pub id: u64,
    pub by: String,
    pub path: String,
    pub line: Option<u64>,
    pub body: String,
    pub at_s: u64,
    pub commit: String,
}

#[derive(Debug, Default)]
pub(super) struct Repository {
    /// `owner/name`.
    pub name: String,
    /// Label and what is said about it.
    pub labels: Vec<(String, String)>,
    pub issues: BTreeMap<u64, Issue>,
    /// Branches and their commits; those of a real repository are looked up there.
    pub branches: BTreeMap<String, String>,
    pub git_dir: Option<PathBuf>,
    pub rules: Vec<Rule>,
    /// Who does not get to see it.
    pub hidden_from: BTreeSet<String>,
    /// Who has nothing to do with it.
    pub strangers: BTreeSet<String>,
    /// Who sees it and may write nothing.
    pub read_only_for: BTreeSet<String>,
    pub has_issues: bool,
}

impl Repository {
    /// The commit of a branch.
    pub fn commit(&self, branch: &str) -> Option<String> {
        let Some(git_dir) = &self.git_dir else { return self.branches.get(branch).cloned() };
        let full = format!("refs/heads/{branch}");
        if let Ok(text) = std::fs::read_to_string(git_dir.join(&full)) {
            return Some(text.trim().to_owned());
        }
        let packed = std::fs::read_to_string(git_dir.join("packed-refs")).ok()?;
        packed.lines().find_map(|line| {
            let (commit, name) = line.split_once(' ')?;
            (name == full).then(|| commit.to_owned())
        })
    }

    /// A label as the repository writes it; how letters are written makes no difference.
    pub fn label(&self, name: &str) -> Option<&(String, String)> {
        self.labels.iter().find(|(own, _)| own.eq_ignore_ascii_case(name))
    }

    /// An issue that has not been deleted.
    pub fn issue(&self, number: u64) -> Option<&Issue> {
        self.issues.get(&number).filter(|issue| !issue.is_deleted)
    }
}

#[derive(Debug, Default)]
pub(super) struct World {
    /// Whose key is whose.
    pub keys: BTreeMap<String, String>,
    /// In the order in which they came.
    pub users: Vec<String>,
    pub repositories: Vec<Repository>,
    pub writes: Vec<Write>,
    /// The kinds of all requests so far, those that met a fault as well.
    pub asked: Vec<String>,
    pub now_s: u64,
    pub ids: u64,
    /// A list is never longer than this, whatever is asked for; 0 for as long as is asked for.
    pub page_max: usize,
    /// An older one, which knows of no dependencies between issues.
    pub has_no_dependencies: bool,
}

impl World {
    /// An id that nothing has.
    pub fn fresh(&mut self) -> u64 {
        self.ids += 1;
        self.ids
    }

    /// The time of something that happens now.
    pub fn tick(&mut self) -> u64 {
        self.now_s += 1;
        self.now_s
    }

    /// Which repository that is: letters may be written as one likes.
    pub fn repository(&self, name: &str) -> Option<usize> {
        self.repositories.iter().position(|it| it.name.eq_ignore_ascii_case(name))
    }

    /// Adds an issue, and says its number.
    pub fn open(&mut self, repository: usize, issue: Issue) -> u64 {
        let (id, now_s) = (self.fresh(), self.tick());
        let repository = &mut self.repositories[repository];
        let number = repository.issues.keys().next_back().map_or(1, |last| last + 1);
        let issue = Issue { id, number, created_s: now_s, updated_s: now_s, ..issue };
        repository.issues.insert(number, issue);
        number
    }

    /// Adds a comment, and says its id.
    pub fn say(&mut self, repository: usize, number: u64, by: &str, body: &str) -> Option<u64> {
        let (id, now_s) = (self.fresh(), self.tick());
        let issue = self.repositories[repository].issues.get_mut(&number)?;
        let (by, body) = (by.to_owned(), body.to_owned());
        issue.comments.push(Comment { id, by, body, created_s: now_s, updated_s: now_s });
        issue.updated_s = now_s;
        Some(id)
    }
}
