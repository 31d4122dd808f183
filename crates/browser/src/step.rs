//! What is done in a page, and what came of it.

use std::fmt;

/// Something on a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// By what it says.
    Text(String),
    /// By a CSS selector.
    Selector(String),
}

/// A step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Go to a page of the app: a path from its top.
    Open(String),
    /// Click something, once it is there, enabled and not covered.
    Click(Target),
    /// Put a text into a field in place of what it holds; a line break at its end is the Enter key.
    Type {
        /// The field's selector.
        field: String,
        /// What is typed.
        text: String,
    },
    /// Something is to be seen, soon.
    See(Target),
    /// Something is not to be seen, soon and for a moment.
    Unseen(Target),
    /// Go on when something is to be seen.
    WaitFor(Target),
    /// Keep a picture of the page under a name.
    Shot(String),
    /// The page has reported no error so far.
    Quiet,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Text(text) => write!(f, "{text:?}"),
            Target::Selector(selector) => f.write_str(selector),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Open(path) => write!(f, "open {path}"),
            Step::Click(target) => write!(f, "click {target}"),
            Step::Type { field, text } => write!(f, "type {field} {text:?}"),
            Step::See(target) => write!(f, "see {target}"),
            Step::Unseen(target) => write!(f, "unseen {target}"),
            Step::WaitFor(target) => write!(f, "wait-for {target}"),
            Step::Shot(name) => write!(f, "shot {name}"),
            Step::Quiet => f.write_str("quiet"),
        }
    }
}

/// What was seen on the way through some steps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Each step, and what came of it.
    pub steps: Vec<Took>,
    /// What the page reported as errors, the first of them.
    pub errors: Vec<String>,
    /// What it asked in dialogs, which were dismissed.
    pub dialogs: Vec<String>,
    /// Pictures: those that were asked for, and one called `failed` of where it went wrong.
    pub shots: Vec<Shot>,
}

impl Seen {
    /// The step that could not be done, if there is one.
    pub fn failed(&self) -> Option<(&Step, &str)> {
        self.steps.iter().find_map(|took| match &took.came {
            Came::Failed(why) => Some((&took.step, why.as_str())),
            Came::Done(_) | Came::NotTried => None,
        })
    }
}

/// A step that was taken, or would have been.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Took {
    /// The step.
    pub step: Step,
    /// What came of it.
    pub came: Came,
}

/// What came of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Came {
    /// It was done; with something that is worth knowing, or nothing.
    Done(String),
    /// It could not be done, and why.
    Failed(String),
    /// One before it could not be done.
    NotTried,
}

/// A picture.
#[derive(Clone, PartialEq, Eq)]
pub struct Shot {
    /// Its name.
    pub name: String,
    /// A PNG file.
    pub png: Vec<u8>,
}

impl fmt::Debug for Shot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Shot({}, {} bytes)", self.name, self.png.len())
    }
}
