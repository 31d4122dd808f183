//! Why a verb could not do its work, and what its caller can do about it.

use std::io;
use std::path::PathBuf;

use windlass_core::lang::Diagnostic;

use crate::builtin;
use crate::exit::Exit;
use crate::source::{Origin, Source};

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
}

impl Error {
    pub fn exit(&self) -> Exit {
        match self {
            Self::UnknownWorkflow { .. }
            | Self::UnknownKey { .. }
            | Self::SetTwice { .. }
            | Self::SeedsRunOut { .. }
            | Self::BadValue { .. }
            | Self::BadVerdict { .. }
            | Self::NoVerdictToSet { .. }
            | Self::AnswerNotTaken { .. } => Exit::Usage,
            Self::Unsound { file, .. } if file.from == Origin::File => Exit::Failed,
            Self::Unsound { .. }
            | Self::Unreadable { .. }
            | Self::NotText { .. }
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
            Self::Unsound { .. } | Self::Unreadable { .. } | Self::Output(_) => None,
        }
    }
}
