//! What a run's journal holds: the core's events, and the shell's notes, in one chain.
//!
//! An event is a decision, and a run is what its events fold to. A note is what the shell saw and did: it never
//! changes a decision, but people and prompts look at it, and an effect that is done again finds its own traces in it.

use serde::{Deserialize, Serialize};
use windlass_agents::ModelUse;
use windlass_core::run::{EffectId, GateId, PanelPhase, Recorded, Stamp};

/// An entry of the journal.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// The core's.
    Event(Box<Recorded>),
    /// The shell's.
    Note(Box<Noted>),
}

/// A note and when it was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noted {
    /// What.
    #[serde(flatten)]
    pub note: Note,
    /// When.
    pub at: Stamp,
}

/// What the shell saw or did. Blobs are named by their digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "snake_case")]
pub enum Note {
    /// A process took the run up.
    TakenUp {
        /// Its version of Windlass.
        version: String,
        /// Its process.
        pid: u32,
        /// The branch that landings go to.
        target: String,
        /// How isolated its agents and checks are, really.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        isolation: Option<String>,
    },
    /// A unit's lane starts from this commit. Written before the first effect in its lane, and again whenever the lane is
    /// put on another one: a landing was turned away and the work is rebuilt, or units have landed and the run's own lane
    /// catches up.
    Based {
        /// The unit; the run's own lane has none.
        unit: Option<String>,
        /// The commit.
        base: String,
    },
    /// An agent was asked.
    Asked(Invocation),
    /// An agent answered, or failed to.
    Answered(Box<Answered>),
    /// A check was run.
    Checked {
        /// For this effect.
        effect: EffectId,
        /// The unit.
        unit: Option<String>,
        /// The check.
        name: String,
        /// The tree it ran on.
        tree: String,
        /// The command.
        command: Option<String>,
        /// What it came to.
        came: Check,
        /// What it printed.
        output: Option<String>,
        /// It was to fail: what it looked at is not built yet.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        to_fail: bool,
    },
    /// A browser looked at what a unit has built.
    Browsed {
        /// For this effect.
        effect: EffectId,
        /// The unit.
        unit: Option<String>,
        /// The tree that it looked at.
        tree: String,
        /// Step by step, what was seen.
        seen: String,
        /// What it took pictures of.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pictures: Vec<Picture>,
    },
    /// A check was run on the base, to tell what failed before.
    BaseChecked {
        /// The check.
        name: String,
        /// The commit.
        base: String,
        /// The command.
        command: String,
        /// What it came to.
        came: Check,
        /// What it printed.
        output: String,
    },
    /// A role wrote a paper of the session, or a source was read as it is: what it holds, by digest; nothing if it is
    /// gone.
    Paper {
        /// For this effect.
        effect: EffectId,
        /// Where, from the top of the project.
        path: String,
        /// What it holds.
        holds: Option<String>,
    },
    /// Something was saved in a lane.
    Saved {
        /// For this effect.
        effect: EffectId,
        /// The unit.
        unit: Option<String>,
        /// The commit.
        commit: String,
    },
    /// A landing was turned away, and the work is about to be rebuilt on the branch's new tip: whoever is cut off in
    /// the middle of that goes on with it, instead of taking what is half rebuilt for what was checked.
    Turned {
        /// For this effect.
        effect: EffectId,
        /// The unit.
        unit: Option<String>,
        /// `moved`, `conflict`, or `fail`.
        came: String,
        /// The tip.
        tip: String,
    },
    /// A landing waits in the queue while others are proved.
    Queued {
        /// For this effect.
        effect: EffectId,
        /// The unit.
        unit: Option<String>,
    },
    /// The checks of the queue were run on a train, or on the front part of one.
    Proved {
        /// Whose work that is.
        units: Vec<String>,
        /// The tree they ran on.
        tree: String,
        /// What they came to.
        came: Check,
        /// Each of them.
        checks: Vec<Proof>,
    },
    /// The branch is about to move from where a train begins to its last car: whoever is cut off there finds out by the
    /// commits whether it has.
    Coupled {
        /// Where it begins.
        begins: String,
        /// The cars, first to last.
        cars: Vec<Coupling>,
    },
    /// A landing.
    Landed {
        /// For this effect.
        effect: EffectId,
        /// The unit.
        unit: Option<String>,
        /// The commit.
        commit: String,
        /// The branch.
        branch: String,
        /// It could not be brought into the checkout, and waits: how to take it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        waits: Option<String>,
        /// Why it could not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// Somebody was told something.
    Told {
        /// For this effect.
        effect: EffectId,
        /// Which tell.
        name: String,
        /// What was told.
        text: String,
    },
    /// What was shown with a question, by digest: an answer names it.
    Shown {
        /// The gate.
        gate: GateId,
        /// What was shown.
        shown: String,
    },
    /// Work was rebuilt on the branch's new tip, and these files have both sides in them.
    Conflicted {
        /// The unit.
        unit: Option<String>,
        /// The files.
        files: Vec<String>,
    },
    /// A unit is built in this lane of the pool.
    Laned {
        /// The unit; the run itself without one.
        unit: Option<String>,
        /// The lane's number.
        lane: u32,
        /// Where its files are.
        path: String,
    },
    /// Two units under way change the same in ways that would not go together. Written again when the files are others.
    Foreseen {
        /// The one that began earlier.
        earlier: String,
        /// The other.
        later: String,
        /// The files.
        files: Vec<String>,
        /// Since when, in milliseconds since 1970.
        since: i64,
    },
    /// They do no more, or one of them is no longer under way.
    ForeseenOver {
        /// The one that began earlier.
        earlier: String,
        /// The other.
        later: String,
    },
    /// What is wanted of a unit waits for an earlier one that would be in conflict with it.
    HeldBack {
        /// Which.
        effect: EffectId,
        /// The unit.
        unit: String,
        /// The one that it waits for.
        behind: String,
    },
    /// It waits no longer.
    LetGo {
        /// Which.
        effect: EffectId,
    },
    /// A person changed what a lane holds.
    ByHand {
        /// The unit; the run itself without one.
        unit: Option<String>,
        /// The commit that holds it now.
        commit: String,
    },
    /// The run is over, its files are written and its lanes are free: nothing is left to be done for it.
    Tidied,
    /// These are wanted, and nobody has begun them: who wrote this down went away in good order.
    Left {
        /// Which.
        effects: Vec<EffectId>,
    },
    /// The run is over, and this was in a lane and has not landed: it is kept.
    Kept {
        /// The unit.
        unit: String,
        /// The commit that holds it.
        commit: String,
    },
    /// Nobody knows what became of an effect: Windlass went away meanwhile.
    Lost {
        /// Which.
        effect: EffectId,
        /// The commit that keeps its edits, if it made any.
        kept: Option<String>,
    },
}

/// What a check of the queue came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// The check.
    pub name: String,
    /// The command.
    pub command: Option<String>,
    /// What it came to.
    pub came: Check,
    /// What it printed.
    pub output: Option<String>,
}

/// A landing, as a car of a train.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coupling {
    /// For this effect.
    pub effect: EffectId,
    /// The unit.
    pub unit: Option<String>,
    /// The commit with which it lands.
    pub commit: String,
}

/// A picture that the browser took.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Picture {
    /// The assertion that it belongs to.
    pub assertion: String,
    /// What it is called there.
    pub name: String,
    /// A PNG file.
    pub holds: String,
    /// Where it can be looked at, unless a later one has taken its place.
    pub file: String,
}

/// An agent that is asked: on whose behalf, what for, and what exactly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invocation {
    /// For this effect.
    pub effect: EffectId,
    /// The unit.
    pub unit: Option<String>,
    /// The part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The stage.
    pub stage: String,
    /// The role.
    pub role: String,
    /// The agent.
    pub agent: String,
    /// In a panel: how far that is, and which of its members this is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panel: Option<Member>,
    /// The how-manieth attempt at this stage it is, from 1.
    pub attempt: u32,
    /// The prompt.
    pub prompt: String,
}

/// A member of a panel, by how far that is and by its number.
pub type Member = (PanelPhase, u16);

/// What an agent answered, or that it failed to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answered {
    /// What it was asked: whoever was cut off before that was on record has it here.
    #[serde(flatten)]
    pub asked: Invocation,
    /// What it came to.
    pub came: String,
    /// How its process ended.
    pub ended: String,
    /// What it printed.
    pub stdout: String,
    /// What it printed on standard error.
    pub stderr: String,
    /// What others see of what it printed, if its kind picks that out of the stream. See [`Answered::said`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Until when its provider serves it no more, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limited_until: Option<i64>,
    /// What it used of each model, as far as that was heard.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<ModelUse>,
    /// Who takes its place meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handed_to: Option<String>,
    /// What a person should know about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// The commit that holds what the lane held afterwards.
    pub commit: Option<String>,
    /// Files that it changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

impl Answered {
    /// What prompts, people and clerks take for what it said, by digest: its text, or the stream as it is.
    pub fn said(&self) -> &str {
        self.text.as_deref().unwrap_or(&self.stdout)
    }
}

impl Note {
    /// The digests that it names. What they stand for is in the journal before the note is.
    pub fn names(&self) -> Vec<&str> {
        match self {
            Note::Asked(Invocation { prompt, .. }) => vec![prompt],
            Note::Answered(answered) => {
                // Named one by one, so that whoever adds a field is asked about it.
                let Answered {
                    asked: Invocation { prompt, .. },
                    stdout,
                    stderr,
                    text,
                    came: _,
                    ended: _,
                    limited_until: _,
                    models: _,
                    handed_to: _,
                    remarks: _,
                    commit: _,
                    files: _,
                } = &**answered;
                [prompt, stdout, stderr].into_iter().chain(text).map(String::as_str).collect()
            }
            Note::Checked { output, .. } => output.iter().map(String::as_str).collect(),
            Note::Browsed { seen, pictures, .. } => {
                let pictures = pictures.iter().map(|picture| picture.holds.as_str());
                [seen.as_str()].into_iter().chain(pictures).collect()
            }
            Note::BaseChecked { output, .. } => vec![output],
            Note::Paper { holds, .. } => holds.iter().map(String::as_str).collect(),
            Note::Shown { shown, .. } => vec![shown],
            Note::Proved { checks, .. } => {
                checks.iter().filter_map(|it| it.output.as_deref()).collect()
            }
            Note::TakenUp { .. }
            | Note::Based { .. }
            | Note::Saved { .. }
            | Note::Turned { .. }
            | Note::Queued { .. }
            | Note::Coupled { .. }
            | Note::Landed { .. }
            | Note::Told { .. }
            | Note::Conflicted { .. }
            | Note::Laned { .. }
            | Note::Foreseen { .. }
            | Note::ForeseenOver { .. }
            | Note::HeldBack { .. }
            | Note::LetGo { .. }
            | Note::ByHand { .. }
            | Note::Tidied
            | Note::Left { .. }
            | Note::Kept { .. }
            | Note::Lost { .. } => Vec::new(),
        }
    }
}

/// What a check came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// Its command exited with 0.
    Pass,
    /// It did not.
    Fail,
    /// It does not on the base either: not this work's doing.
    FailedBefore,
    /// There is no such command.
    Skipped,
}

impl Check {
    /// In words, for people.
    pub fn words(self) -> &'static str {
        match self {
            Check::Pass => "pass",
            Check::Fail => "fail",
            Check::FailedBefore => "fails, as it does without this work",
            Check::Skipped => "skipped",
        }
    }
}

/// An entry that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("an entry of the journal cannot be read: {0}")]
pub struct Unreadable(#[from] serde_json::Error);

/// What a note's bytes begin with: no event does.
const NOTE: &[u8] = b"{\"note\":";

impl Entry {
    /// The bytes that go into the journal.
    ///
    /// # Errors
    ///
    /// None that could happen: every entry can be written as JSON.
    pub fn bytes(&self) -> Result<Vec<u8>, Unreadable> {
        Ok(match self {
            Entry::Event(recorded) => serde_json::to_vec(recorded)?,
            Entry::Note(noted) => serde_json::to_vec(noted)?,
        })
    }

    /// Reads an entry.
    ///
    /// # Errors
    ///
    /// When it is neither an event nor a note that this version knows.
    pub fn read(bytes: &[u8]) -> Result<Self, Unreadable> {
        Ok(if bytes.starts_with(NOTE) {
            Entry::Note(serde_json::from_slice(bytes)?)
        } else {
            Entry::Event(serde_json::from_slice(bytes)?)
        })
    }
}

#[cfg(test)]
mod tests {
    use windlass_core::{run::Event, workflow::RunOutcome};

    use super::*;

    #[test]
    fn entries_survive_being_written_down() {
        let at = Stamp { mono_ms: 1, wall_ms: 2 };
        let note = Note::Based { unit: Some("a".into()), base: "0123".into() };
        let event = Event::Ended { outcome: RunOutcome::Done };
        for entry in [
            Entry::Note(Box::new(Noted { note, at })),
            Entry::Event(Box::new(Recorded { seq: 7, at, event })),
        ] {
            let bytes = entry.bytes().unwrap();
            assert_eq!(Entry::read(&bytes).unwrap(), entry);
            assert_eq!(bytes.starts_with(NOTE), matches!(entry, Entry::Note(_)));
        }
        assert!(Entry::read(b"{}").is_err());
        assert!(Entry::read(b"{\"note\":\"unheard_of\"}").is_err());
    }
}
