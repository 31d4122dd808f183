//! The pretended GitHub as tests have it: how it is started, and what is in it.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use windlass_testkit::plain::{Asked, Given, Plain};

use super::route::{self, taken_apart};
use super::world::{Issue, Repository, World, Write};
use crate::fault::{Fault, Faults};
use crate::onlooker::Onlooker;

/// The repository that is there from the beginning.
pub const REPOSITORY: &str = "acme/harness";

/// When it begins: 2026-11-18T21:08:02Z.
const BEGIN_S: u64 = 1_795_036_082;

/// A pretended GitHub; dropped, it is gone.
///
/// From the beginning there are the users `windlass` (key `test-key`) and `ada` (key `ada-key`), and the repository
/// `acme/harness` with the labels `bug` and `ready` and the branch `main`.
pub struct GitHub {
    pub(super) shared: Arc<Shared>,
    plain: Plain,
}

pub(super) struct Shared {
    world: Mutex<World>,
    /// One request after another.
    turn: Mutex<()>,
    faults: Faults,
    url: OnceLock<String>,
    onlooker: Onlooker<Write>,
}

/// An issue for [`GitHub::issue`].
#[derive(Clone, Debug)]
pub struct NewIssue<'a> {
    /// Whoever made it.
    pub by: &'a str,
    /// In a line.
    pub title: &'a str,
    /// In Markdown.
    pub body: &'a str,
    /// By name; those that the repository has not are made.
    pub labels: &'a [&'a str],
    /// By number.
    pub blocked_by: &'a [u64],
}

impl Default for NewIssue<'_> {
    fn default() -> Self {
        NewIssue { by: "ada", title: "An issue", body: "", labels: &["ready"], blocked_by: &[] }
    }
}

/// The answer to somebody who has used up the requests of an hour, until a moment in seconds since 1970.
#[must_use]
pub fn limited(status: u16, now_s: u64, reset_s: u64) -> Fault {
    let pair = |name: &str, value: String| (name.to_owned(), value);
    Fault::Answer {
        status,
        headers: vec![
            pair("date", super::clock::date(now_s)),
            pair("x-ratelimit-limit", "5000".to_owned()),
            pair("x-ratelimit-remaining", "0".to_owned()),
            pair("x-ratelimit-reset", reset_s.to_string()),
        ],
        body: r#"{"message":"API rate limit exceeded for user ID 1.","status":"403"}"#.to_owned(),
    }
}

/// The answer to somebody who asks too much at once: how long to wait it says, if it does.
#[must_use]
pub fn secondary(status: u16, retry_after_s: Option<u64>) -> Fault {
    let wait = retry_after_s.map(|wait| ("retry-after".to_owned(), wait.to_string()));
    let message =
        "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";
    Fault::Answer {
        status,
        headers: wait.into_iter().collect(),
        body: format!(r#"{{"message":"{message}","status":"{status}"}}"#),
    }
}

impl GitHub {
    /// Starts one on any free port.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn start() -> io::Result<Self> {
        GitHub::start_on(0)
    }

    /// Starts one on a port.
    ///
    /// # Errors
    ///
    /// If it cannot be listened on.
    pub fn start_on(port: u16) -> io::Result<Self> {
        let world = World { now_s: BEGIN_S, ids: 100, ..World::default() };
        let shared = Arc::new(Shared {
            world: Mutex::new(world),
            turn: Mutex::default(),
            faults: Faults::default(),
            url: OnceLock::new(),
            onlooker: Onlooker::default(),
        });
        let own = Arc::clone(&shared);
        let plain = Plain::start(port, move |asked| own.answer(asked))?;
        shared.url.get_or_init(|| plain.url());
        let github = GitHub { shared, plain };
        github.user("windlass", "test-key");
        github.user("ada", "ada-key");
        github.repository(REPOSITORY);
        Ok(github)
    }

    /// Where requests go: `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> String {
        self.plain.url()
    }

    /// What goes wrong. The kinds are `issues.list`, `.get`, `.create`, `.update`, `comments.list`, `.create`, `.delete`,
    /// `timeline.list`, `labels.get`, `.create`, `issue-labels.add`, `.remove`, `dependencies.list`, `pulls.list`, `.get`, `.create`,
    /// `.update`, `reviews.list`, `review-comments.list`, `check-runs.list`, `status.get`, `annotations.list`, `user.get`,
    /// `repositories.list`, `repository.get`; an empty word is any.
    #[must_use]
    pub fn faults(&self) -> &Faults {
        &self.shared.faults
    }

    /// Adds a user; or, if there is one of that name, another key of theirs.
    pub fn user(&self, login: &str, key: &str) {
        let mut world = self.world();
        if !world.users.iter().any(|own| own == login) {
            world.users.push(login.to_owned());
        }
        world.keys.insert(key.to_owned(), login.to_owned());
    }

    /// From now on nobody is known by this key.
    pub fn expire(&self, key: &str) {
        self.world().keys.remove(key);
    }

    /// Adds a repository, `owner/name`.
    pub fn repository(&self, name: &str) {
        let label = |name: &str| (name.to_owned(), String::new());
        let repository = Repository {
            name: name.to_owned(),
            labels: vec![label("bug"), label("ready")],
            branches: [("main".to_owned(), "0".repeat(40))].into(),
            has_issues: true,
            ..Repository::default()
        };
        self.world().repositories.push(repository);
    }

    /// Adds an issue, and says its number.
    pub fn issue(&self, new: &NewIssue<'_>) -> u64 {
        let mut world = self.world();
        let owned = |list: &[&str]| list.iter().map(|&it| it.to_owned()).collect::<Vec<_>>();
        for label in new.labels {
            if world.repositories[0].label(label).is_none() {
                world.repositories[0].labels.push(((*label).to_owned(), String::new()));
            }
        }
        let issue = Issue {
            by: new.by.to_owned(),
            title: new.title.to_owned(),
            body: new.body.to_owned(),
            labels: owned(new.labels),
            blocked_by: new.blocked_by.to_vec(),
            ..Issue::default()
        };
        world.open(0, issue)
    }

    /// Where a branch is.
    pub fn branch(&self, name: &str, commit: &str) {
        self.world().repositories[0].branches.insert(name.to_owned(), commit.to_owned());
    }

    /// From now on branches are those of a real repository: its `.git`, or the whole of it if it is bare.
    pub fn branches_of(&self, git_dir: &Path) {
        self.world().repositories[0].git_dir = Some(git_dir.to_owned());
    }

    /// No list is longer than this.
    pub fn pages_of(&self, most: usize) {
        self.world().page_max = most;
    }

    /// It becomes an older one, which knows of no dependencies between issues.
    pub fn forget_dependencies(&self) {
        self.world().has_no_dependencies = true;
    }

    /// The repository has no issues any more.
    pub fn turn_issues_off(&self) {
        self.world().repositories[0].has_issues = false;
    }

    /// Somebody does not get to see the repository.
    pub fn hide_from(&self, login: &str) {
        self.world().repositories[0].hidden_from.insert(login.to_owned());
    }

    /// Somebody sees the repository and may write nothing.
    pub fn only_show_to(&self, login: &str) {
        self.world().repositories[0].read_only_for.insert(login.to_owned());
    }

    /// Every write that was carried out for somebody who asked over the network, in order.
    #[must_use]
    pub fn writes(&self) -> Vec<Write> {
        self.world().writes.clone()
    }

    /// Has somebody look on: they see each of these writes right after it, before whoever wrote hears of it.
    pub fn on_write(&self, look: impl Fn(&Write) + Send + 'static) {
        self.shared.onlooker.comes(look);
    }

    /// The kinds of all requests so far, in order.
    #[must_use]
    pub fn asked(&self) -> Vec<String> {
        self.world().asked.clone()
    }

    /// What time it is there, in seconds since 1970.
    #[must_use]
    pub fn now_s(&self) -> u64 {
        self.world().now_s
    }

    pub(super) fn world(&self) -> MutexGuard<'_, World> {
        self.shared.world()
    }
}

impl Shared {
    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, asked: &Asked) -> Given {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let (parts, _) = taken_apart(&asked.path);
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let kind = route::kind(&asked.method, &parts).unwrap_or("other");
        self.world().asked.push(kind.to_owned());
        let fault = self.faults.next(&[kind]);
        if let Some(fault) = fault.as_ref().filter(|fault| !fault.happens()) {
            return fault.given();
        }
        let base = self.url.get().map(String::as_str).unwrap_or_default();
        let mut world = self.world();
        let before = world.writes.len();
        let reply = route::answer(&mut world, base, asked);
        let (written, now_s) = (world.writes[before..].to_vec(), world.now_s);
        drop(world);
        self.onlooker.sees(&written);
        match fault {
            Some(fault) => fault.given(),
            None => reply.given(now_s),
        }
    }
}
