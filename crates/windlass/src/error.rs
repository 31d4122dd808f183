//! Why a verb could not do its work, and what its caller can do about it.
//!
//! An error is written where it happens, whole: what happened, how the program exits, what to do next. What several
//! verbs meet has a function of its own here.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use windlass_core::lang::Diagnostic;
use windlass_sources::Back;

use crate::builtin;
use crate::document::{Document, Origin};
use crate::exit::Exit;

/// Why a verb could not do its work.
#[derive(Debug)]
pub struct Error {
    exit: Exit,
    what: String,
    hint: Option<String>,
    cause: Option<Box<dyn StdError + Send + Sync>>,
    is_of_the_world: bool,
    back: Option<Back>,
    is_a_persons: bool,
    mistakes: Option<Box<Mistakes>>,
}

/// What is wrong with a definition.
#[derive(Debug)]
pub struct Mistakes {
    pub file: Document,
    pub found: Vec<Diagnostic>,
}

impl Error {
    fn new(exit: Exit, what: impl Into<String>) -> Self {
        let what = what.into();
        Error {
            exit,
            what,
            hint: None,
            cause: None,
            is_of_the_world: false,
            back: None,
            is_a_persons: false,
            mistakes: None,
        }
    }

    /// What was asked for cannot be done, and another command line could.
    pub fn usage(what: impl Into<String>) -> Self {
        Self::new(Exit::Usage, what)
    }

    /// Something here is not as it should be; the command line is right.
    pub fn here(what: impl Into<String>) -> Self {
        Self::new(Exit::Error, what)
    }

    /// Another Windlass holds the repository.
    pub fn held(what: impl Into<String>) -> Self {
        Self::new(Exit::Held, what).hint("`windlass status` tells what it is doing")
    }

    /// The person did not want to wait any longer.
    pub fn interrupted() -> Self {
        Self::new(
            Exit::Interrupted,
            "interrupted: what was begun is ended, and nothing is left of it",
        )
    }

    /// With what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// What it comes to, said before it.
    #[must_use]
    pub fn but(mut self, what: &str) -> Self {
        self.what = format!("{what}: {}", self.what);
        self
    }

    /// With what to do next, if somebody knows.
    #[must_use]
    pub fn maybe(mut self, hint: Option<String>) -> Self {
        self.hint = hint.or(self.hint);
        self
    }

    /// With what it comes from.
    #[must_use]
    pub fn because(mut self, cause: impl StdError + Send + Sync + 'static) -> Self {
        self.cause = Some(Box::new(cause));
        self
    }

    /// Nothing is wrong but that something is away, which may be there again.
    #[must_use]
    pub fn away(mut self, back: Option<Back>) -> Self {
        self.back = back;
        self
    }

    /// Whether nothing is wrong but that something is away.
    pub fn is_away(&self) -> bool {
        self.back.is_some()
    }

    /// Nothing is wrong but that a person has something to do first, and does it when they get to it.
    #[must_use]
    pub fn a_persons(mut self) -> Self {
        self.is_a_persons = true;
        self
    }

    /// Whether nothing is wrong but that a person has something to do first.
    pub fn is_a_persons(&self) -> bool {
        self.is_a_persons
    }

    /// How long it wants to be left alone, if it has said so.
    pub fn wait_ms(&self) -> Option<u64> {
        match self.back {
            Some(Back::In(wait)) => u64::try_from(wait.as_millis()).ok(),
            Some(Back::Late | Back::Sometime) | None => None,
        }
    }

    /// How the program exits.
    pub fn exit(&self) -> Exit {
        self.exit
    }

    /// What to do next.
    pub fn next_step(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// What is wrong with the definition that it is about.
    pub fn mistakes(&self) -> Option<&Mistakes> {
        self.mistakes.as_deref()
    }

    /// Whether a full or read-only disk may explain it: git and SQLite say so in many ways, or only that they could not
    /// write.
    pub fn is_of_the_world(&self) -> bool {
        self.is_of_the_world
    }
}

/// What several verbs meet.
impl Error {
    /// Something that cannot be.
    pub fn defect() -> Self {
        Self::here("this cannot be: it is a defect of Windlass").hint("please report it")
    }

    /// Standard output, or something else of the process itself.
    pub fn output(source: io::Error) -> Self {
        Self::here("cannot write the output").because(source)
    }

    /// A file that cannot be read.
    pub fn unreadable(path: &Path, source: io::Error) -> Self {
        let name = path.display().to_string();
        let hint = if builtin::find(&name).is_some() {
            Some(format!(
                "the built-in workflows are sound already: `windlass workflow show {name}`"
            ))
        } else if source.kind() == io::ErrorKind::NotFound {
            Some("is the path right, as seen from here?".to_owned())
        } else {
            None
        };
        Self::here(format!("cannot read {name}")).because(source).maybe(hint)
    }

    /// A file that cannot be written.
    pub fn unwritable(path: &Path, source: io::Error) -> Self {
        Self::here(format!("cannot write {}", path.display())).because(source)
    }

    /// A definition or a catalogue with mistakes.
    pub fn unsound(file: Document, found: Vec<Diagnostic>) -> Self {
        let what = format!("{} is not sound", file.name);
        let error = match file.from {
            Origin::File => Self::new(Exit::Failed, what),
            Origin::BuiltIn => {
                Self::here(what).hint("this is a defect of Windlass: please report it")
            }
        };
        Error { mistakes: Some(Box::new(Mistakes { file, found })), ..error }
    }

    /// What somebody refused, in their own words.
    pub fn not_taken(why: impl Into<String>) -> Self {
        Self::usage(why)
    }

    /// No run can be meant.
    pub fn nothing_open() -> Self {
        Self::usage("no run is open here").hint("`windlass run` starts one")
    }

    /// A run that is over cannot be gone on with; with what it was about one can.
    pub fn over(id: &str, workflow: &str) -> Self {
        let next = match workflow {
            "issues" => "`windlass issues` goes on with the queue".to_owned(),
            _ => "`windlass run` starts another".to_owned(),
        };
        Self::usage(format!("{id} is over"))
            .hint(format!("{next}; `windlass log {id}` tells what happened"))
    }

    /// Nothing was ever run here.
    pub fn never_run() -> Self {
        Self::usage("nothing has been run here yet").hint("`windlass run` starts a run")
    }

    /// Several runs could be meant.
    pub fn several_open(runs: &[String]) -> Self {
        let first = runs.first().map_or("", String::as_str);
        Self::usage(format!("several runs are open: {}", runs.join(", ")))
            .hint(format!("say which, for instance: windlass resume {first}"))
    }

    /// A run that is not known, and what was probably meant.
    pub fn no_run(name: &str, nearest: Option<&str>) -> Self {
        Self::usage(format!("there is no run `{name}`"))
            .hint("`windlass status --all` names them")
            .maybe(nearest.map(did_you_mean))
    }

    /// An input that cannot have this value.
    pub fn bad_value(key: &str, value: &str, want: &impl fmt::Display) -> Self {
        Self::usage(format!("the input `{key}` cannot be `{value}`")).hint(format!("it is {want}"))
    }

    /// An input that has two values.
    pub fn set_twice(key: &str) -> Self {
        Self::usage(format!("the input `{key}` is set twice"))
            .hint("an input has one value; a stage may be given more words each time")
    }

    /// A role that nobody plays; `default` stands for all of them.
    pub fn no_player(role: &str) -> Self {
        let own = if role == "default" {
            String::new()
        } else {
            format!(" or `[roles] {role} = \"…\"`")
        };
        Self::here(format!("nobody plays the role `{role}`")).hint(format!(
            "name an agent in windlass.toml, as `[roles] default = \"…\"`{own}, and commit that; `windlass init` writes \
             one to start from"
        ))
    }

    /// A run met something that is neither an agent's doing nor the work's.
    pub fn paused(run: &str, cause: Error) -> Self {
        let first = cause.hint.as_deref().unwrap_or("see to that");
        let hint = format!("{first}, then `windlass resume {run}`; nothing that was done is lost");
        let back = cause.back;
        Self::here(format!("{run} is paused: {cause}")).because(cause).hint(hint).away(back)
    }

    /// What went wrong, where the disk explains it.
    pub fn disk(cause: Error, dir: &Path, is_full: bool) -> Self {
        let state = if is_full { "full: make room" } else { "read-only: make it writable" };
        let hint = format!("the disk that holds {} is {state}", dir.display());
        Self::here(cause.to_string()).because(cause).hint(hint)
    }
}

/// The usual way to suggest a word.
pub fn did_you_mean(nearest: &str) -> String {
    format!("did you mean `{nearest}`?")
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.cause.as_deref().map(|cause| cause as &(dyn StdError + 'static))
    }
}

/// What rooms say, in their own words. `world`: a disk may be behind it.
macro_rules! said_by_rooms {
    ($($error:ty $(, $world:ident)?;)*) => {$(
        impl From<$error> for Error {
            fn from(error: $error) -> Self {
                let said = error.to_string();
                #[allow(unused_mut, reason = "some are of the world")]
                let mut own = Error::here(said.as_str());
                $(own = own.$world(&said);)?
                own.because(error)
            }
        }
    )*};
}

said_by_rooms! {
    windlass_engine::role::BadRole;
    windlass_process::StartError;
    windlass_journal::BindError;
    windlass_journal::AskError;
    windlass_journal::PlaceError, of_the_world;
    windlass_repo::RepoError, of_the_world;
    windlass_repo::GitError, of_the_world;
    windlass_process::ledger::SweepError, of_the_world;
    windlass_process::ledger::LedgerError, of_the_world;
}

impl From<windlass_sources::SourceError> for Error {
    fn from(error: windlass_sources::SourceError) -> Self {
        let (said, next) = (error.to_string(), error.next_step());
        Error::here(said.as_str()).of_the_world(&said).hint(next).because(error)
    }
}

impl From<windlass_engine::EngineError> for Error {
    fn from(error: windlass_engine::EngineError) -> Self {
        let (next, back) = match &error {
            windlass_engine::EngineError::Trouble(trouble) => (trouble.next_step(), trouble.back()),
            _ => (None, None),
        };
        let next = next.map(str::to_owned);
        let said = error.to_string();
        Error::here(said.as_str()).of_the_world(&said).maybe(next).away(back).because(error)
    }
}

impl From<windlass_engine::message::Trouble> for Error {
    fn from(trouble: windlass_engine::message::Trouble) -> Self {
        windlass_engine::EngineError::from(trouble).into()
    }
}

impl From<windlass_core::run::Refused> for Error {
    fn from(refused: windlass_core::run::Refused) -> Self {
        Error::usage(refused.to_string())
    }
}

impl From<crate::config::BadConfig> for Error {
    fn from(bad: crate::config::BadConfig) -> Self {
        Error::here(bad.to_string()).maybe(bad.help)
    }
}

impl From<windlass_journal::Error> for Error {
    fn from(flaw: windlass_journal::Error) -> Self {
        let set_aside = flaw.is_damage().then(|| {
            "`windlass journal set-aside` puts it out of the way under another name, so that you can start afresh"
                .to_owned()
        });
        let said = flaw.to_string();
        Error::here(said.as_str()).of_the_world(&said).maybe(set_aside).because(flaw)
    }
}

impl Error {
    /// As something that the system, or a git, said.
    fn of_the_world(mut self, said: &str) -> Self {
        self.is_of_the_world = true;
        self.maybe(cure(said).map(str::to_owned))
    }
}

/// What to do about what the system, or a git, said.
fn cure(said: &str) -> Option<&'static str> {
    let says = |words: &[&str]| words.iter().any(|word| said.contains(word));
    if says(&["No space left", "disk is full", "Out of diskspace", "Disk quota exceeded"]) {
        Some("the disk is full: make room")
    } else if says(&["Read-only file system", "read-only", "Permission denied"]) {
        Some("make it writable")
    } else {
        None
    }
}

/// Takes what `std::fs` says about a path for an error.
pub fn writing(path: PathBuf) -> impl FnOnce(io::Error) -> Error {
    move |source| Error::unwritable(&path, source)
}

/// The same for a path that is read.
pub fn reading(path: PathBuf) -> impl FnOnce(io::Error) -> Error {
    move |source| Error::unreadable(&path, source)
}
