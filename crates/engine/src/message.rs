//! What reaches the loop, and what it hands out.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc::Sender;

use windlass_core::run::{Answer, Effect, EffectId, OpenGate, Refused, Report, Run, Wish};
use windlass_journal::BlobId;
use windlass_sources::Back;

use crate::books::Books;
use crate::entry::{Entry, Note};
use crate::gate::Reception;
use crate::shop::Desk;

/// What reaches the loop.
#[derive(Debug)]
pub enum Message {
    /// An effect came to its end.
    Done(Box<Done>),
    /// An effect that had to wait its turn is under way.
    Began(EffectId),
    /// Something is worth writing down before an effect goes on; the sender waits until it is.
    Note(Box<Paper>, Sender<()>),
    /// A person answered a gate.
    Answer(Box<Answer>, Sender<Result<(), Refused>>),
    /// A person wants something.
    Wish {
        /// Who.
        who: String,
        /// What.
        wish: Box<Wish>,
        /// Who waits for the reply.
        reply: Sender<Result<(), Refused>>,
    },
    /// An effect met something that is neither the agent's doing nor the work's.
    Trouble(EffectId, Trouble),
    /// The process has been asked to end.
    Interrupt,
}

/// Notes, and the blobs that they name.
#[derive(Debug, Default)]
pub struct Paper {
    /// What to write down.
    pub notes: Vec<Note>,
    /// What the notes name by digest.
    blobs: BTreeMap<String, Vec<u8>>,
}

impl Paper {
    /// A note that names nothing.
    pub fn of(note: Note) -> Self {
        Paper { notes: vec![note], blobs: BTreeMap::new() }
    }

    /// Keeps what a note is about to name, and says what it is called. There is no other way to a digest for a note, so
    /// none goes without what it names.
    #[must_use = "a note names it"]
    pub fn keep(&mut self, bytes: impl Into<Vec<u8>>) -> String {
        let bytes = bytes.into();
        let digest = BlobId::of(&bytes).to_string();
        self.blobs.insert(digest.clone(), bytes);
        digest
    }

    /// Adds a paper of the session's, with what it holds.
    pub fn page(&mut self, effect: EffectId, path: String, bytes: impl Into<Vec<u8>>) {
        let holds = Some(self.keep(bytes));
        self.notes.push(Note::Paper { effect, path, holds });
    }

    /// What notes name and neither this nor the journal has.
    pub(crate) fn missing(&self, has: impl Fn(BlobId) -> bool) -> Vec<&str> {
        let names = self.notes.iter().flat_map(Note::names);
        let has = |digest: &str| digest.parse().is_ok_and(&has);
        names.filter(|digest| !self.blobs.contains_key(*digest) && !has(digest)).collect()
    }

    /// The notes, and what they name.
    pub(crate) fn parts(self) -> (Vec<Note>, impl Iterator<Item = Vec<u8>>) {
        (self.notes, self.blobs.into_values())
    }
}

/// How an effect ended.
#[derive(Debug)]
pub struct Done {
    /// The report for the core.
    pub report: Report,
    /// What to write down with it.
    pub paper: Paper,
    /// Where it lies until it is written down.
    pub(crate) desk: Option<Desk>,
}

/// What an effect could not do because of the world around it: not the agent's doing and not the work's.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct Trouble {
    what: String,
    next: Option<String>,
    back: Option<Back>,
}

impl Trouble {
    /// What happened, and where.
    pub fn new(what: impl Into<String>) -> Self {
        Trouble { what: what.into(), next: None, back: None }
    }

    /// With what to do about it.
    #[must_use]
    pub fn next(mut self, step: impl Into<String>) -> Self {
        self.next = Some(step.into());
        self
    }

    /// Nothing is wrong but that something is away, and this is when it may be there again.
    #[must_use]
    pub fn passes(mut self, back: Option<Back>) -> Self {
        self.back = back;
        self
    }

    /// When what is away may be there again, if that is all.
    pub fn back(&self) -> Option<Back> {
        self.back
    }

    /// What to do about it, if somebody knows.
    pub fn next_step(&self) -> Option<&str> {
        self.next.as_deref()
    }

    /// What cannot be, and was.
    pub fn defect(what: &str) -> Self {
        Trouble::new(format!("{what}: this is a defect of Windlass, please report it"))
    }

    /// A file that cannot be dealt with.
    pub fn io(doing: &str, path: &Path, error: &std::io::Error) -> Self {
        Trouble::new(format!("cannot {doing} {}: {error}", path.display()))
    }
}

macro_rules! troubles {
    ($($error:ty),* $(,)?) => {$(
        impl From<$error> for Trouble {
            fn from(error: $error) -> Self {
                Trouble::new(error.to_string())
            }
        }
    )*};
}

troubles!(windlass_process::Lost, windlass_process::ReadError, windlass_process::SpawnError,);

impl From<windlass_repo::RepoError> for Trouble {
    fn from(error: windlass_repo::RepoError) -> Self {
        let gone = matches!(error, windlass_repo::RepoError::NoSuchBranch { .. });
        let trouble = Trouble::new(error.to_string());
        if gone { trouble.next("rename it back, or make it again where it was") } else { trouble }
    }
}

impl From<windlass_sources::SourceError> for Trouble {
    fn from(error: windlass_sources::SourceError) -> Self {
        Trouble::new(error.to_string()).next(error.next_step()).passes(error.back())
    }
}

/// Who does what is wanted.
pub trait Hands {
    /// Starts an effect. It reports to the loop.
    fn start(&mut self, id: EffectId, effect: Effect, run: &Run, books: &Books);

    /// Where a person's answers are taken.
    fn reception(&self) -> Reception<'_>;

    /// Ends an effect that is no longer wanted. It need not report.
    fn cancel(&mut self, id: EffectId);

    /// The run was cancelled: what has not landed yet does not any more, however long it would take to find out.
    fn call_off(&mut self) {}

    /// An effect has reported: nothing of it is left to be waited for.
    fn over(&mut self, id: EffectId);

    /// Has a look, besides, at how things stand among units. Nobody waits for that.
    fn look_ahead(&mut self, _run: &Run, _books: &Books) {}

    /// Ends everything, and waits until it has ended.
    fn down(&mut self);
}

/// Who looks on.
pub trait Face {
    /// An entry is in the journal now.
    fn entry(&mut self, entry: &Entry, run: &Run);

    /// All entries of a commit have been shown.
    fn settled(&mut self, _run: &Run) {}

    /// Questions are open and nothing else can go on; `shows` is what one shows besides itself. Whether an answer may
    /// still come while the process lives.
    fn waits(&mut self, run: &Run, shows: &dyn Fn(&OpenGate) -> String) -> Patience;
}

/// Whether to wait for a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// An answer may come.
    Wait,
    /// Nobody is there: leave it for later.
    Leave,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_do_about_a_source_survives() {
        let trouble: Trouble = windlass_sources::SourceError::bad("tasks.toml", "it is odd").into();
        assert_eq!(trouble.next_step(), Some("mend tasks.toml"));
    }

    #[test]
    fn a_note_that_names_what_nobody_kept_is_noticed() {
        let mut paper = Paper::default();
        paper.page(EffectId(1), "plan.md".into(), "a plan");
        assert_eq!(paper.missing(|_| false), [""; 0]);
        let elsewhere = BlobId::of(b"of earlier");
        let (effect, path) = (EffectId(2), "old.md".to_owned());
        paper.notes.push(Note::Paper { effect, path, holds: Some(elsewhere.to_string()) });
        assert_eq!(paper.missing(|_| false), [elsewhere.to_string()]);
        assert_eq!(paper.missing(|id| id == elsewhere), [""; 0], "the journal has it");
    }
}
