//! Why a verb could not do its work, and what its caller can do about it.

use std::io;
use std::path::PathBuf;

use windlass_core::lang::Diagnostic;

use crate::builtin;
use crate::exit::Exit;
use crate::source::{Origin, Source};
use crate::suggest;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("there is no built-in workflow called `{name}`")]
    UnknownWorkflow { name: String, nearest: Option<&'static str> },

    #[error("cannot read {}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },

    #[error("{} is not sound", file.name)]
    Unsound { file: Box<Source>, mistakes: Vec<Diagnostic> },

    #[error("{} is not UTF-8: the first byte that is none stands in line {line}", path.display())]
    NotText { path: PathBuf, line: usize },

    #[error("`{key}` is neither an input nor a stage of {workflow}")]
    UnknownKey { key: String, workflow: String, target: String, nearest: Option<String> },

    #[error("the input `{key}` is set twice")]
    SetTwice { key: String },

    #[error("there are no {runs} seeds from {seed} on")]
    SeedsRunOut { seed: u64, runs: u32 },

    #[error("the input `{key}` cannot be `{value}`")]
    BadValue { key: String, value: String, want: String },

    #[error("the stage `{stage}` never comes to `{word}`")]
    BadVerdict { stage: String, word: String, nearest: Option<String>, known: Vec<String> },

    #[error("the verdict of `{stage}` cannot be set: {why}")]
    NoVerdictToSet { stage: String, why: &'static str },

    #[error("an answer that --set gives is not taken: {refused}")]
    AnswerNotTaken { refused: String },

    #[error("cannot write the output")]
    Output(#[source] io::Error),

    #[error("{workflow} has no input `{key}`")]
    UnknownInput { key: String, workflow: String, known: Vec<String> },

    /// A run met something that is neither an agent's doing nor the work's.
    #[error("{run} is paused: {cause}")]
    Paused { run: String, cause: Box<Error> },

    /// What went wrong, where the disk explains it: git and SQLite say so in many ways, or only that they could not
    /// write.
    #[error("{cause}")]
    Disk { cause: Box<Error>, dir: PathBuf, is_full: bool },

    #[error("{0} is over")]
    Over(String),

    #[error("Cannot use --fast and --thorough together. Choose one.")]
    FastAndThorough,

    #[error("which spec?")]
    WhichSpec,

    #[error("the spec cannot be used: {0}")]
    BadSpec(String),

    #[error("{} is not inside of this repository", path.display())]
    OutsideRepository { path: PathBuf },

    #[error("no phase waits for a plan")]
    NoPlanWanted,

    #[error("{} is not empty", .0.display())]
    NotEmpty(PathBuf),

    #[error("windlass.toml is not what the branch's last commit has")]
    NotCommitted,

    #[error(
        "{run} began at commit {base}, which this repository has not got: it was another repository's"
    )]
    OtherRepository { run: String, base: String },

    #[error("{0}")]
    Held(String),

    #[error("no run is open here")]
    NothingOpen,

    #[error("several runs are open: {}", .0.join(", "))]
    SeveralOpen(Vec<String>),

    #[error("there is no run `{name}`")]
    NoRun { name: String, nearest: Option<String> },

    #[error("there is no open question `{0}`")]
    NoGate(String),

    #[error("there is no lane {0}")]
    NoLane(u32),

    #[error("{0}")]
    NotTaken(String),

    #[error("{} is there already", .0.display())]
    Exists(PathBuf),

    #[error("cannot write {}", path.display())]
    Unwritable { path: PathBuf, source: io::Error },

    #[error("cannot start {}", path.display())]
    Unstartable { path: PathBuf, source: io::Error },

    #[error("`{program}`, the agent `{agent}`, is not installed")]
    NoAgent { agent: String, program: String },

    #[error("nobody plays the role `{role}`")]
    NoPlayer { role: String },

    #[error("the role `{role}` is to write `{file}`, and {workflow} knows no such file")]
    NoPlace { workflow: String, role: String, file: String, known: &'static [&'static str] },

    #[error("{workflow} cannot be run yet: nothing reads `{reader}`")]
    NoReader { workflow: String, reader: String },

    #[error("{0}")]
    BadBranch(String),

    #[error("there is no branch `{0}` with a commit on it")]
    NoBranch(String),

    #[error(transparent)]
    Config(#[from] crate::config::BadConfig),

    #[error(transparent)]
    Role(#[from] windlass_engine::role::BadRole),

    #[error(transparent)]
    Refused(#[from] windlass_core::run::Refused),

    #[error(transparent)]
    Engine(#[from] windlass_engine::EngineError),

    #[error(transparent)]
    Trouble(#[from] windlass_engine::message::Trouble),

    #[error(transparent)]
    Journal(#[from] windlass_journal::Error),

    #[error(transparent)]
    Place(#[from] windlass_journal::PlaceError),

    #[error(transparent)]
    Serve(#[from] windlass_journal::BindError),

    #[error(transparent)]
    Ask(windlass_journal::AskError),

    #[error(transparent)]
    Repo(#[from] windlass_repo::RepoError),

    #[error(transparent)]
    Git(#[from] windlass_repo::GitError),

    #[error(transparent)]
    Spawner(#[from] windlass_process::StartError),

    #[error(transparent)]
    Sweep(#[from] windlass_process::ledger::SweepError),

    #[error(transparent)]
    Ledger(#[from] windlass_process::ledger::LedgerError),

    #[error("this cannot be: it is a defect of Windlass")]
    Defect,
}

impl Error {
    pub fn exit(&self) -> Exit {
        match self {
            Self::UnknownWorkflow { .. }
            | Self::UnknownKey { .. }
            | Self::UnknownInput { .. }
            | Self::NoRun { .. }
            | Self::NoGate(_)
            | Self::NoLane(_)
            | Self::NothingOpen
            | Self::FastAndThorough
            | Self::WhichSpec
            | Self::BadSpec(_)
            | Self::OutsideRepository { .. }
            | Self::NoPlanWanted
            | Self::NotEmpty(_)
            | Self::NotCommitted
            | Self::Over(_)
            | Self::OtherRepository { .. }
            | Self::SeveralOpen(_)
            | Self::NotTaken(_)
            | Self::Exists(_)
            | Self::BadBranch(_)
            | Self::NoBranch(_)
            | Self::Refused(_)
            | Self::SetTwice { .. }
            | Self::SeedsRunOut { .. }
            | Self::BadValue { .. }
            | Self::BadVerdict { .. }
            | Self::NoVerdictToSet { .. }
            | Self::AnswerNotTaken { .. } => Exit::Usage,
            Self::Unsound { file, .. } if file.from == Origin::File => Exit::Failed,
            Self::Held(_) => Exit::Held,
            Self::Unsound { .. }
            | Self::Unreadable { .. }
            | Self::NotText { .. }
            | Self::Unwritable { .. }
            | Self::Unstartable { .. }
            | Self::NoAgent { .. }
            | Self::NoPlayer { .. }
            | Self::NoReader { .. }
            | Self::NoPlace { .. }
            | Self::Config(_)
            | Self::Role(_)
            | Self::Engine(_)
            | Self::Trouble(_)
            | Self::Paused { .. }
            | Self::Disk { .. }
            | Self::Journal(_)
            | Self::Place(_)
            | Self::Serve(_)
            | Self::Ask(_)
            | Self::Repo(_)
            | Self::Git(_)
            | Self::Spawner(_)
            | Self::Sweep(_)
            | Self::Ledger(_)
            | Self::Defect
            | Self::Output(_) => Exit::Error,
        }
    }

    /// What to do next.
    pub fn hint(&self) -> Option<String> {
        let did_you_mean = |nearest: &str| format!("did you mean `{nearest}`?");
        match self {
            Self::UnknownWorkflow { nearest: Some(nearest), .. } => Some(did_you_mean(nearest)),
            Self::UnknownWorkflow { nearest: None, .. } => Some(
                "`windlass workflow list` names them; a file is given by a name that ends in .toml"
                    .to_owned(),
            ),
            Self::UnknownKey { nearest: Some(nearest), .. } => Some(did_you_mean(nearest)),
            Self::UnknownKey { target, nearest: None, .. } => {
                Some(format!("`windlass workflow show {target}` names its inputs and stages"))
            }
            Self::SetTwice { .. } => {
                Some("an input has one value; a stage may be given more words each time".to_owned())
            }
            Self::SeedsRunOut { .. } => Some("start at a smaller seed".to_owned()),
            Self::Unreadable { path, .. }
                if builtin::find(&path.display().to_string()).is_some() =>
            {
                Some(format!(
                    "the built-in workflows are sound already: `windlass workflow show {}`",
                    path.display()
                ))
            }
            Self::Unreadable { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                Some("is the path right, as seen from here?".to_owned())
            }
            Self::NotText { .. } => Some("save it as UTF-8".to_owned()),
            Self::BadValue { want, .. } => Some(format!("it is {want}")),
            Self::BadVerdict { nearest, known, .. } => {
                let nearest =
                    nearest.as_deref().map_or(String::new(), |near| did_you_mean(near) + " ");
                Some(format!("{nearest}it may come to {}", known.join(", ")))
            }
            Self::NoVerdictToSet { .. } => Some(
                "set the inputs it looks at, or the verdicts of the stages before it".to_owned(),
            ),
            Self::AnswerNotTaken { .. } => Some(
                "an option may be withheld at times, for instance when its counter is spent; \
                 the story above shows what was offered"
                    .to_owned(),
            ),
            Self::Unsound { file, .. } if file.from == Origin::BuiltIn => {
                Some("this is a defect of Windlass: please report it".to_owned())
            }
            Self::UnknownInput { known, key, .. } => {
                let near = suggest::nearest(key, known.iter().map(String::as_str));
                near.map(did_you_mean)
                    .or_else(|| Some(format!("its inputs are {}", known.join(", "))))
            }
            Self::NoRun { nearest: Some(nearest), .. } => Some(did_you_mean(nearest)),
            Self::NoRun { nearest: None, .. } => {
                Some("`windlass status --all` names them".to_owned())
            }
            Self::NothingOpen => Some("`windlass run` starts one".to_owned()),
            Self::WhichSpec => {
                Some("give its path: windlass autopilot docs/my-feature.md".to_owned())
            }
            Self::BadSpec(_) => Some("change the spec; nothing was started".to_owned()),
            Self::OutsideRepository { .. } => {
                Some("go to the repository that it belongs to, or copy it into this one".to_owned())
            }
            Self::NoPlanWanted => {
                Some("`windlass autopilot SPEC.md` starts a session, `windlass status` tells where one is".to_owned())
            }
            Self::NotCommitted => Some("commit it: only then does it count".to_owned()),
            Self::NotEmpty(_) => Some("name a directory that is empty, or not there yet".to_owned()),
            Self::FastAndThorough => None,
            Self::Over(run) => {
                Some(format!("`windlass log {run}` tells what happened, `windlass run` starts another"))
            }
            Self::OtherRepository { run, .. } => Some(format!(
                "`windlass stop --cancel {run}` ends it; nothing of it is in this repository"
            )),
            Self::SeveralOpen(runs) => {
                let first = runs.first().map_or("", String::as_str);
                Some(format!("say which, for instance: windlass resume {first}"))
            }
            Self::NoGate(_) => Some("`windlass gates` names them".to_owned()),
            Self::NoLane(_) => Some("`windlass lanes list` names them".to_owned()),
            Self::Exists(_) => Some("edit it; it is not overwritten".to_owned()),
            Self::NoAgent { agent, .. } => Some(format!(
                "install it, or change `[agents.{agent}]` in windlass.toml and commit that"
            )),
            Self::NoPlayer { role } if role == "default" => Some(
                "name an agent in windlass.toml, as `[roles] default = \"…\"`, and commit that; `windlass init` \
                 writes one to start from"
                    .to_owned(),
            ),
            Self::NoPlayer { role } => Some(format!(
                "name an agent in windlass.toml, as `[roles] default = \"…\"` or `[roles] {role} = \"…\"`, and \
                 commit that; `windlass init` writes one to start from"
            )),
            Self::NoPlace { role, known: [], .. } => {
                Some(format!("leave `writes` out of .windlass/roles/{role}.md, and commit that"))
            }
            Self::NoPlace { known, .. } => Some(format!("it knows {}", known.join(", "))),
            Self::NoReader { .. } => {
                Some("`windlass workflow simulate` walks through it meanwhile".to_owned())
            }
            Self::NoBranch(_) => Some("make a first commit there".to_owned()),
            Self::Config(bad) => bad.help.clone(),
            Self::Held(_) => Some("`windlass status` tells what it is doing".to_owned()),
            Self::Defect => Some("please report it".to_owned()),
            Self::Paused { run, cause } => {
                let first = cause.hint().unwrap_or("see to that".to_owned());
                Some(format!(
                    "{first}, then `windlass resume {run}`; nothing that was done is lost"
                ))
            }
            Self::Disk { dir, is_full: true, .. } => {
                Some(format!("the disk that holds {} is full: make room", dir.display()))
            }
            Self::Disk { dir, .. } => {
                Some(format!("the disk that holds {} is read-only: make it writable", dir.display()))
            }
            Self::Unsound { .. }
            | Self::Unreadable { .. }
            | Self::Unwritable { .. }
            | Self::Unstartable { .. }
            | Self::NotTaken(_)
            | Self::BadBranch(_)
            | Self::Role(_)
            | Self::Refused(_)
            | Self::Serve(_)
            | Self::Ask(_)
            | Self::Spawner(_)
            | Self::Output(_) => None,
            Self::Journal(flaw) if flaw.is_damage() => Some(
                "`windlass journal set-aside` puts it out of the way under another name, so that you can start afresh"
                    .to_owned(),
            ),
            Self::Engine(_)
            | Self::Trouble(_)
            | Self::Journal(_)
            | Self::Place(_)
            | Self::Repo(_)
            | Self::Git(_)
            | Self::Sweep(_)
            | Self::Ledger(_) => cure(&self.to_string()).map(str::to_owned),
        }
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
