//! A sound workflow definition.
//!
//! A [`Workflow`] can only be made by [`crate::lang::load`], which proves it sound first: an
//! invalid definition has no value of this type. Everything is indexed in order of appearance in
//! the file, and the file's text is kept in the journal, so the indices mean the same for as long
//! as the run lives.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{
    expr::Expr,
    value::{Type, Value},
};

macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub u16);

        impl $name {
            /// The position in its table.
            pub fn at(self) -> usize {
                usize::from(self.0)
            }
        }
    };
}

index!(
    /// A stage, counted over the whole file.
    StageIx
);
index!(
    /// A scope; the four fixed ones come first, see [`Scope`].
    ScopeIx
);
index!(
    /// A counter.
    CounterIx
);
index!(
    /// An input.
    InputIx
);
index!(
    /// A fact: of the items of a scope, or reported by a stage.
    FactIx
);
index!(
    /// A verdict of one stage: its position in [`Stage::verdicts`].
    VerdictIx
);

impl ScopeIx {
    /// `[[intake]]`
    pub const INTAKE: ScopeIx = ScopeIx(0);
    /// `[[unit]]`
    pub const UNIT: ScopeIx = ScopeIx(1);
    /// `[[between]]`
    pub const BETWEEN: ScopeIx = ScopeIx(2);
    /// `[[finale]]`
    pub const FINALE: ScopeIx = ScopeIx(3);

    /// Whether this is a child scope, one that an `each` stage expands into.
    pub fn is_child(self) -> bool {
        self > ScopeIx::FINALE
    }
}

/// A definition that has been proved sound.
#[derive(Clone, Debug, PartialEq)]
pub struct Workflow {
    /// Its name.
    pub name: String,
    /// What it is for, in a line.
    pub about: String,
    /// What a unit is called: phase, feature, issue.
    pub called: String,
    /// How units follow one another.
    pub order: Order,
    /// How many units may be under way at once.
    pub lanes: Expr,
    /// What a run is started with.
    pub inputs: Vec<Input>,
    /// Sub-commands.
    pub entries: Vec<Entry>,
    /// Counters.
    pub counters: Vec<Counter>,
    /// Every fact that an expression may ask for.
    pub facts: Vec<Fact>,
    /// The four fixed scopes, then the child scopes.
    pub scopes: Vec<Scope>,
    /// All stages, scope after scope in order of appearance.
    pub stages: Vec<Stage>,
    /// Every role it names, and the verdicts that role may answer with.
    pub roles: BTreeMap<String, Vec<String>>,
    /// What it was made from.
    pub source: Source,
}

/// The text a workflow was made from. It goes into the run's first event, so that a resumed run
/// never meets an edited file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The definition, as it was read.
    pub text: Arc<str>,
    /// The part of the catalogue that it uses, as TOML.
    pub catalogue: Arc<str>,
    /// BLAKE3 of both, in hexadecimal.
    pub digest: Arc<str>,
}

/// How units follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// One after another, whatever became of the one before.
    Listed,
    /// A unit may start when all that it depends on is done.
    Depends,
}

/// An input of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// What it may be.
    pub ty: Type,
    /// What it is when not given; without one it must be given.
    pub default: Option<Value>,
    /// The question to ask a person for it.
    pub ask: Option<String>,
}

/// A sub-command: where it starts and what must exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// The unit stage it starts at.
    pub at: StageIx,
    /// Artifacts that must exist.
    pub requires: Vec<String>,
    /// What to say when they do not.
    pub otherwise: String,
}

/// A counter.
#[derive(Clone, Debug, PartialEq)]
pub struct Counter {
    /// Its name.
    pub name: String,
    /// Who holds it: a new holder starts anew.
    pub per: Holder,
    /// Where it starts.
    pub from: u32,
    /// What it never passes.
    pub max: Expr,
    /// So much further for each unit that there is, those included that were added on the way.
    pub each_unit: Option<Expr>,
    /// One tally for each value of this fact.
    pub by: Option<FactIx>,
}

/// Who holds a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// The run.
    Run,
    /// A unit, or a child of that scope.
    Scope(ScopeIx),
    /// One visit to a stage.
    Stage,
}

/// A fact that expressions may ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Who has it.
    pub owner: Owner,
    /// Its name.
    pub name: String,
    /// What it may be; anything else reported under its name is Unknown.
    pub ty: Type,
}

/// Who has a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The items of a scope: `unit.FACT`, `CHILD.FACT`.
    Item(ScopeIx),
    /// A stage that reports it: `STAGE.FACT`.
    Stage(StageIx),
}

/// A scope: a run of stages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Its name.
    pub name: String,
    /// Its stages, in order.
    pub stages: Vec<StageIx>,
    /// Where it begins: the first stage that is not aside. `None` when it has no stages.
    pub first: Option<StageIx>,
}

/// How long a stage may take.
#[derive(Clone, Debug, PartialEq)]
pub enum Limit {
    /// So many milliseconds.
    Ms(u64),
    /// So many seconds as a value says; none are no limit.
    Seconds(Expr),
}

/// A stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// Its name, unique in the file.
    pub name: String,
    /// The name people see for this state.
    pub shown_as: Option<String>,
    /// The scope it belongs to.
    pub scope: ScopeIx,
    /// What it does.
    pub kind: Kind,
    /// Passed over when definitely false.
    pub when: Option<Expr>,
    /// Entered by name only.
    pub aside: bool,
    /// Written into the journal on entering.
    pub record: Option<String>,
    /// Entering counts; spent, this move is taken instead.
    pub count: Option<(CounterIx, Box<Move>)>,
    /// How long it may take.
    pub limit: Option<Limit>,
    /// May change files.
    pub edits: bool,
    /// Values passed along.
    pub with: Vec<(String, Expr)>,
    /// The artifacts that reach it.
    pub sees: Vec<String>,
    /// Evidence that a land or save must have.
    pub needs: Vec<Need>,
    /// Every verdict it can come to, mishaps included, and where each leads.
    pub verdicts: Vec<Verdict>,
    /// Lists that it reports.
    pub lists: Vec<List>,
    /// The stage after it, asides passed by; `None` ends the scope.
    pub next: Option<StageIx>,
}

/// A list of items that a stage reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    /// Its name.
    pub name: String,
    /// The facts of its items.
    pub facts: Vec<(String, Type)>,
}

/// A verdict and where it leads.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Its name.
    pub name: String,
    /// Set when it is a mishap rather than an answer.
    pub mishap: Option<Mishap>,
    /// Ordered cases; the last has no condition (for a gate's option it may have one: then the
    /// option is only offered when some case holds).
    pub cases: Vec<Case>,
}

/// What can go wrong with a stage that does something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mishap {
    /// The process died, refused, or could not be started.
    Crashed,
    /// Past its limit.
    TimedOut,
    /// It reported a list that cannot be.
    Invalid,
    /// No readable verdict, or two that disagree.
    Unknown,
    /// The promised file is missing.
    NoOutput,
    /// The agent ran out of context.
    ContextFull,
    /// Stopped at the invocation's own spending cap.
    CutShort,
}

impl Mishap {
    /// All of them.
    pub const ALL: [Mishap; 7] = [
        Mishap::Crashed,
        Mishap::TimedOut,
        Mishap::Invalid,
        Mishap::Unknown,
        Mishap::NoOutput,
        Mishap::ContextFull,
        Mishap::CutShort,
    ];

    /// Its word in the language.
    pub fn name(self) -> &'static str {
        match self {
            Mishap::Crashed => "crashed",
            Mishap::TimedOut => "timed_out",
            Mishap::Invalid => "invalid",
            Mishap::Unknown => "unknown",
            Mishap::NoOutput => "no_output",
            Mishap::ContextFull => "context_full",
            Mishap::CutShort => "cut_short",
        }
    }
}

/// One case of a verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Taken when definitely true; without one, always.
    pub when: Option<Expr>,
    /// Where it leads.
    pub take: Move,
}

/// A move: where to go and what to note on the way.
#[derive(Clone, Debug, PartialEq)]
pub struct Move {
    /// Where to.
    pub go: Go,
    /// Takes one step of this counter.
    pub count: Option<CounterIx>,
    /// Where to when that counter is at its maximum. Always there with `count`, except on a gate's
    /// option, which then is not offered.
    pub spent: Option<Box<Move>>,
    /// Counters put back to where they start.
    pub reset: Vec<CounterIx>,
    /// Context for the nth step of `count`.
    pub widen: Vec<String>,
    /// Items to take up.
    pub add: Vec<Add>,
    /// A person's override: evidence for exactly this change.
    pub waive: Vec<StageIx>,
    /// The person must say why.
    pub reason: bool,
    /// A decision to write into the journal.
    pub record: Option<String>,
    /// Changes the run's outcome (finale only).
    pub outcome: Option<RunOutcome>,
    /// A gate option's label.
    pub label: Option<String>,
    /// A gate option's description.
    pub about: Option<String>,
}

/// Where a move goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Go {
    /// To a stage of the same scope.
    To(StageIx),
    /// The same stage, the same visit.
    Again,
    /// Leaves the scope: for a unit or child, with this outcome.
    Leave(Settled),
    /// Holds the frame; it goes on at this stage.
    Pause(StageIx),
    /// A planned halt; it goes on at this stage.
    Rest(StageIx),
    /// From a child: the parent's `each` stage gets this verdict.
    Return(String),
    /// Ends the run with this outcome, through the finale.
    Finish(RunOutcome),
}

/// Items to take up as units or children.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Add {
    /// What they become.
    pub scope: ScopeIx,
    /// The list.
    pub list: ListRef,
}

/// A list that a stage of the same scope reported.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ListRef {
    /// The stage.
    pub stage: StageIx,
    /// The list's name.
    pub name: Arc<str>,
}

/// How a unit or a child settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Settled {
    /// It got done.
    Done,
    /// It failed.
    Failed,
    /// It was passed over, by a person or the workflow.
    Skipped,
    /// Something it depends on did not get done.
    Blocked,
    /// The run finished first.
    Unfinished,
}

impl Settled {
    /// All of them.
    pub const ALL: [Settled; 5] =
        [Settled::Done, Settled::Failed, Settled::Skipped, Settled::Blocked, Settled::Unfinished];

    /// Its word in the language.
    pub fn name(self) -> &'static str {
        match self {
            Settled::Done => "done",
            Settled::Failed => "failed",
            Settled::Skipped => "skipped",
            Settled::Blocked => "blocked",
            Settled::Unfinished => "unfinished",
        }
    }
}

/// How a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunOutcome {
    /// All there was to do is done, or explained.
    Done,
    /// It failed.
    Failed,
    /// It needs a person.
    Escalated,
    /// The plan was rejected.
    Rejected,
    /// Stopped as asked.
    Stopped,
    /// Cancelled by a person; never a workflow's own choice.
    Cancelled,
}

impl RunOutcome {
    /// Those that a definition may name.
    pub const NAMED: [RunOutcome; 5] = [
        RunOutcome::Done,
        RunOutcome::Failed,
        RunOutcome::Escalated,
        RunOutcome::Rejected,
        RunOutcome::Stopped,
    ];

    /// Its word in the language.
    pub fn name(self) -> &'static str {
        match self {
            RunOutcome::Done => "done",
            RunOutcome::Failed => "failed",
            RunOutcome::Escalated => "escalated",
            RunOutcome::Rejected => "rejected",
            RunOutcome::Stopped => "stopped",
            RunOutcome::Cancelled => "cancelled",
        }
    }

    /// The process's exit code.
    pub fn exit_code(self) -> u8 {
        match self {
            RunOutcome::Done => 0,
            RunOutcome::Escalated => 3,
            RunOutcome::Failed => 4,
            RunOutcome::Stopped | RunOutcome::Cancelled => 5,
            RunOutcome::Rejected => 7,
        }
    }
}

/// Evidence that a landing or a save must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// The stage that gives it.
    pub stage: StageIx,
    /// The verdicts that will do.
    pub verdicts: Vec<VerdictIx>,
}

/// What a stage does.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// One agent invocation.
    Role {
        /// The role.
        role: String,
        /// Agents in order of preference; empty means whatever the configuration says.
        agents: Vec<String>,
        /// Stages of a scope that name the same one go on with one conversation.
        session: Option<String>,
    },
    /// Independent roles in parallel, then critique, then synthesis.
    Panel {
        /// The members.
        roles: Vec<String>,
        /// Each member's critique of the others' work.
        critique: Option<String>,
        /// Makes one of it.
        synthesis: Option<String>,
    },
    /// Something that Windlass does itself.
    Errand(Errand),
    /// Asks a person.
    Gate(Gate),
    /// Runs a child scope over its children.
    Each {
        /// The child scope.
        scope: ScopeIx,
        /// The list to expand; without one only what moves `add`.
        from: Option<ListRef>,
    },
    /// Routes by ordered cases.
    Decide(Vec<(Option<Expr>, VerdictIx)>),
}

/// What a stage's checks are to come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// They pass, or fail as they do without this work: that is nobody's fault here.
    NoWorse,
    /// They pass, however it was before.
    Pass,
    /// A red test is what is wanted: `pass` and `fail` change places.
    Fail,
}

/// What Windlass does itself, without an agent and without a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Errand {
    /// Runs commands on a clean checkout.
    Checks {
        /// Which.
        names: Vec<String>,
        /// What they are to come to.
        expect: Expect,
    },
    /// Looks at an artifact or a source.
    Read {
        /// The reader.
        name: String,
    },
    /// Does something in the lane.
    Save {
        /// What.
        how: Save,
        /// The commit's subject.
        label: Option<String>,
        /// The commit's trailers.
        trailers: Vec<String>,
        /// The stage whose patch to apply.
        from: Option<StageIx>,
    },
    /// Moves the target branch.
    Land {
        /// How.
        how: Land,
        /// The commit's subject; without one, the unit's title.
        label: Option<String>,
        /// Artifacts that land with the code.
        keep: Vec<String>,
        /// Checks that are run on exactly what the branch is about to point to. With any, the queue does it: together with
        /// whatever else is to land just then.
        proof: Vec<String>,
    },
    /// Tells people and systems: comments, reports, projections, notifications.
    Tell {
        /// Which.
        names: Vec<String>,
    },
}

impl Kind {
    /// Its word in the language.
    pub fn name(&self) -> &'static str {
        match self {
            Kind::Role { .. } => "role",
            Kind::Panel { .. } => "panel",
            Kind::Errand(errand) => errand.name(),
            Kind::Gate(_) => "gate",
            Kind::Each { .. } => "each",
            Kind::Decide(_) => "decide",
        }
    }

    /// Whether its verdict is evidence: somebody has looked at the work.
    pub fn proves(&self) -> bool {
        matches!(self, Kind::Role { .. } | Kind::Panel { .. } | Kind::Errand(Errand::Checks { .. }))
    }

    /// Whether it moves the target branch.
    pub fn lands(&self) -> bool {
        matches!(self, Kind::Errand(Errand::Land { .. }))
    }

    /// Whether it moves the target branch by way of the queue, where several wait together.
    pub fn queues(&self) -> bool {
        matches!(self, Kind::Errand(Errand::Land { proof, .. }) if !proof.is_empty())
    }

    /// The checks that it runs.
    pub fn checks(&self) -> &[String] {
        match self {
            Kind::Errand(Errand::Checks { names, .. }) => names,
            Kind::Errand(Errand::Land { proof, .. }) => proof,
            Kind::Role { .. }
            | Kind::Panel { .. }
            | Kind::Errand(_)
            | Kind::Gate(_)
            | Kind::Each { .. }
            | Kind::Decide(_) => &[],
        }
    }

    /// The mishaps that a stage of this kind can meet.
    pub fn mishaps(&self) -> &'static [Mishap] {
        match self {
            Kind::Role { .. } | Kind::Panel { .. } => &Mishap::ALL,
            Kind::Errand(Errand::Read { .. }) => &Mishap::ALL[..3],
            Kind::Errand(_) => &Mishap::ALL[..2],
            Kind::Gate(_) | Kind::Each { .. } | Kind::Decide(_) => &[],
        }
    }
}

impl Errand {
    /// Its word in the language.
    pub fn name(&self) -> &'static str {
        match self {
            Errand::Checks { .. } => "checks",
            Errand::Read { .. } => "read",
            Errand::Save { .. } => "save",
            Errand::Land { .. } => "land",
            Errand::Tell { .. } => "tell",
        }
    }
}

/// A question to a person.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// The question.
    pub question: String,
    /// No policy may answer it.
    pub hard: bool,
    /// Signals; Unknown counts as fired.
    pub concerns: Vec<(String, Expr)>,
    /// The first that is definitely true answers.
    pub policy: Vec<Policy>,
    /// What an empty answer from a person means.
    pub default: Option<VerdictIx>,
}

/// A rule by which a gate answers itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Taken when definitely true; without one, always.
    pub when: Option<Expr>,
    /// The option.
    pub answer: VerdictIx,
    /// A decision to write into the journal.
    pub record: Option<String>,
}

/// What to do in the lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Save {
    /// A checkpoint commit.
    Commit,
    /// A patch, whole or not at all.
    Patch,
    /// Edits since the last commit undone, kept under a ref.
    Rewind,
    /// The change given to the person's checkout without a commit.
    Apply,
    /// The commits pushed to a branch of a remote, never by force.
    Push,
}

/// How the target branch moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Land {
    /// The lane's commits, as they are.
    FastForward,
    /// A merge commit.
    Merge,
    /// The approved commits, one by one.
    CherryPick,
    /// One commit of everything.
    Commit,
}

impl Workflow {
    /// The stage at an index.
    pub fn stage(&self, ix: StageIx) -> &Stage {
        &self.stages[ix.at()]
    }

    /// The stage of this name.
    pub fn stage_named(&self, name: &str) -> Option<StageIx> {
        let at = self.stages.iter().position(|stage| stage.name == name)?;
        u16::try_from(at).ok().map(StageIx)
    }

    /// The input of this name.
    pub fn input_named(&self, name: &str) -> Option<InputIx> {
        let at = self.inputs.iter().position(|input| input.name == name)?;
        u16::try_from(at).ok().map(InputIx)
    }
}

impl Stage {
    /// The verdict of this name.
    pub fn verdict_named(&self, name: &str) -> Option<VerdictIx> {
        let at = self.verdicts.iter().position(|verdict| verdict.name == name)?;
        u16::try_from(at).ok().map(VerdictIx)
    }

    /// The verdict at an index.
    pub fn verdict(&self, ix: VerdictIx) -> &Verdict {
        &self.verdicts[ix.at()]
    }

    /// The name people see for this state.
    pub fn shown(&self) -> &str {
        self.shown_as.as_deref().unwrap_or(&self.name)
    }
}
