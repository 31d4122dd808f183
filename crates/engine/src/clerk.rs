//! What a clerk is: who keeps what a workflow has besides the journal, and does its reading and telling (ADR 6).
//!
//! A clerk follows the journal entry by entry and answers questions about the session. Everything that knows a
//! workflow's files stands in its clerk, and clerks have a room of their own (`crates/clerks`).

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_core::run::{Item, Run, Stamp};
use windlass_core::value::Value;
use windlass_sources::contract::Assertion;
use windlass_sources::{Reading, SourceError};

use crate::entry::{Entry, Member};
use crate::message::Trouble;

/// What is told of what was built of a unit before it was begun once more, by this name.
pub const BUILT_BEFORE: &str = "built before";

/// What an effect is about.
#[derive(Clone, Debug, Default)]
pub struct Situation {
    /// The stage.
    pub stage: String,
    /// The unit's id and title.
    pub unit: Option<(String, String)>,
    /// The child.
    pub child: Option<Arc<Item>>,
    /// Values passed along.
    pub with: BTreeMap<String, Value>,
    /// In a panel: how far that is, and which of its members this is about.
    pub panel: Option<Member>,
    /// When the effect was first wanted.
    pub since: Stamp,
    /// It was under way before: what it would do may be done already.
    pub again: bool,
    /// For a reader that asks for it: units that have landed and which the branch no longer has, each with its commit.
    pub gone: Vec<(String, String)>,
}

/// What a role said besides its verdict.
#[derive(Debug)]
pub struct Said<'a> {
    /// The how-manieth answer of its stage it is, from 1.
    pub attempt: u32,
    /// All of it.
    pub text: &'a str,
    /// Facts by name.
    pub facts: &'a mut BTreeMap<String, Value>,
    /// Lists by name.
    pub lists: &'a mut BTreeMap<String, Vec<Item>>,
    /// The verdict that counts instead, and why, where that follows from what else was said.
    pub instead: &'a mut Option<(String, String)>,
}

/// What was told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// For people; nothing if there is nothing to say.
    pub text: String,
    /// Papers of the session that were written, by path.
    pub papers: BTreeMap<String, String>,
    /// A program of the person's own that does it, if they have it: then what it says is told, too.
    pub command: Option<Vec<String>>,
}

/// What a role is given of what was noted before. It is data: a prompt shows it as quoted material.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remembered {
    /// What those who had the role before have learned, in whatever run.
    pub identity: String,
    /// What was noted in this run.
    pub summary: String,
}

/// A command that is a part of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    /// What it is called: the same command has the same name wherever the work begins.
    pub name: String,
    /// For the shell.
    pub command: String,
    /// Whether it has to pass even if it fails without this work: what the work is asked to bring about, not what it must leave as
    /// it is.
    pub strict: bool,
}

/// What became of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patching<'a> {
    /// It was applied to these files.
    Applied(&'a [String]),
    /// It would change this file, which it may not.
    Refused(&'a str),
    /// It does not fit: nothing was changed.
    Failed,
}

/// What the journal holds under a digest.
pub type Blobs<'a> = &'a dyn Fn(&str) -> Option<Vec<u8>>;

/// Where work is pushed to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    /// The remote, by the name that the person's git has for it.
    pub remote: String,
    /// The branch there.
    pub branch: String,
}

/// What a workflow keeps besides the journal.
pub trait Clerk: Send + Sync {
    /// An entry is in the journal; `run` is as it is after it.
    fn entry(&self, entry: &Entry, run: &Run, blobs: Blobs<'_>);

    /// What was entered so far has happened long ago: there is nothing to be said about it.
    fn caught_up(&self) {}

    /// Brings files up to date with what was entered. What a person should know about it.
    fn flush(&self) -> Vec<String>;

    /// Looks at a source; `None` if it reads none of this name.
    ///
    /// # Errors
    ///
    /// When it is there and cannot be understood.
    fn read(&self, name: &str, at: &Situation) -> Result<Option<Reading>, SourceError>;

    /// Tells people and systems.
    ///
    /// # Errors
    ///
    /// When the world is in the way.
    fn tell(&self, name: &str, at: &Situation) -> Result<Told, Trouble>;

    /// What a prompt or a gate shows under a name; nothing if there is nothing.
    fn artifact(&self, name: &str, at: &Situation) -> Option<String>;

    /// What a role is given of what was noted before. The same for every invocation of it, until something is noted anew:
    /// providers' caches live on that.
    fn remembered(&self, _role: &str) -> Remembered {
        Remembered::default()
    }

    /// What a role's answer comes to, where that follows from what it found and not from what it concludes: the verdict that counts
    /// instead, and why. Nothing if its own does.
    fn overrules(&self, _role: &str, _verdict: &str, _text: &str) -> Option<(String, String)> {
        None
    }

    /// Looks at what a role said besides its verdict, and fills in what follows from it. Why the two do not go together,
    /// if they do not: then neither counts.
    fn examine(
        &self,
        _role: &str,
        _verdict: &str,
        _said: Said<'_>,
        _at: &Situation,
    ) -> Option<String> {
        None
    }

    /// Why a verdict and the papers that came with it do not go together, if they do not: then neither counts.
    fn contradicts(
        &self,
        _verdict: &str,
        _papers: &BTreeMap<String, Vec<u8>>,
        _at: &Situation,
    ) -> Option<String> {
        None
    }

    /// Why an answer cannot be taken now, if it cannot: what it is about is not what was shown any more.
    fn refuses(&self, _option: &str, _at: &Situation) -> Option<String> {
        None
    }

    /// Whether a reader wants to know what has landed and is gone from the branch.
    fn asks_what_is_gone(&self, _name: &str) -> bool {
        false
    }

    /// The commit that holds what was built of a unit before it was begun anew, in this run or in an earlier one.
    fn kept(&self, _unit: &str) -> Option<String> {
        None
    }

    /// The language that people read, by its name in English, where it is another one: what agents write prose in.
    fn language(&self) -> Option<String> {
        None
    }

    /// Where a role finds, in its lane, or is to write, the file of this name.
    fn path(&self, name: &str, at: &Situation) -> Option<String>;

    /// The session's papers, by path.
    fn papers(&self) -> BTreeMap<String, Arc<[u8]>>;

    /// Those of them that a role finds in its lane.
    fn papers_for(&self, _at: &Situation) -> BTreeMap<String, Arc<[u8]>> {
        self.papers()
    }

    /// Whether a paper that a role has written is kept; `promised` is what it is there to write, by name and path.
    fn keeps(&self, _path: &str, _promised: &[(String, String)]) -> bool {
        true
    }

    /// What is asserted of the work that the check `contract` is about: all that Windlass itself can see to be so or not is tried out on a
    /// checkout of the exact tree. Nothing said means the contract that the project had before the work began, all of it: what
    /// the work itself makes of its contract never counts.
    fn assertions(&self, _at: &Situation) -> Option<Vec<Assertion>> {
        None
    }

    /// The commands that a check consists of, each with a name of its own; an empty list means that there is nothing to run.
    /// Nothing said means the project's own command.
    fn commands(&self, _check: &str, _at: &Situation) -> Option<Vec<Trial>> {
        None
    }

    /// The paths that a change may touch, each with all that is below it; nothing if nobody can tell.
    fn may_change(&self, _at: &Situation) -> Option<Vec<String>> {
        None
    }

    /// What stands behind a commit's trailer of this name; nothing if the trailer is whole as it is.
    fn trailer(&self, _name: &str, _at: &Situation) -> Option<String> {
        None
    }

    /// Titles of units are words of strangers: no prompt has them but where they are quoted.
    fn quotes_titles(&self) -> bool {
        false
    }

    /// A title as it may stand in a history that others read.
    fn in_history(&self, title: &str) -> String {
        title.to_owned()
    }

    /// Directories and files of a lane that belong to the session and not to the work.
    fn apart(&self) -> Vec<String>;

    /// What no change of the work may touch, with all that is below it: more than that, where a session has places of its own that
    /// are part of the project.
    fn untouchable(&self) -> Vec<String> {
        self.apart()
    }

    /// What the branches begin with that units have checked out in their lanes (`harness`, for `harness/F-001`). Without it
    /// all of them are called the same.
    fn branches(&self) -> Option<&str> {
        None
    }

    /// The process goes away, and the run can go on later: brings files up to date for whoever looks at them meanwhile. What a
    /// person should know about it.
    fn left(&self) -> Vec<String> {
        self.flush()
    }

    /// The run is over, however it came to that: takes away what is only there while it goes on. What a person should
    /// know about it.
    fn over(&self) -> Vec<String> {
        Vec::new()
    }

    /// Where the work of a unit is pushed to, if anywhere.
    fn destination(&self, _at: &Situation) -> Option<Destination> {
        None
    }

    /// How it is said what became of a patch, if that is said.
    fn patched(&self, _: Patching<'_>) -> Option<String> {
        None
    }

    /// How it is said that a paper which was to land with the work does not.
    fn not_kept(&self, path: &str, why: &str) -> String {
        format!("{path} does not land with the work: {why}")
    }
}

/// The clerk of a workflow that keeps nothing.
#[derive(Debug)]
pub struct Nobody;

impl Clerk for Nobody {
    fn entry(&self, _: &Entry, _: &Run, _: Blobs<'_>) {}

    fn flush(&self) -> Vec<String> {
        Vec::new()
    }

    fn read(&self, _: &str, _: &Situation) -> Result<Option<Reading>, SourceError> {
        Ok(None)
    }

    fn tell(&self, name: &str, at: &Situation) -> Result<Told, Trouble> {
        let unit = at.unit.as_ref().map(|(id, _)| format!(" of {id}")).unwrap_or_default();
        Ok(Told { text: format!("{name}{unit}"), ..Told::default() })
    }

    fn artifact(&self, _: &str, _: &Situation) -> Option<String> {
        None
    }

    fn path(&self, _: &str, _: &Situation) -> Option<String> {
        None
    }

    fn papers(&self) -> BTreeMap<String, Arc<[u8]>> {
        BTreeMap::new()
    }

    fn apart(&self) -> Vec<String> {
        Vec::new()
    }
}
