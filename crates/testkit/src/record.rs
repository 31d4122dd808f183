//! What happened at a server.

use std::sync::Arc;

use crate::request::Request;
use crate::usage::Usage;

/// A request and what became of it.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The request.
    pub request: Arc<Request>,
    /// What became of it; nothing while it is being answered or kept waiting.
    pub answered: Option<Answered>,
}

/// What became of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    /// The status; none if not a byte was sent.
    pub status: Option<u16>,
    /// What was said, in a few words: `text`, `call Bash`, `complaint overloaded`.
    pub what: String,
    /// How many events of a stream were sent.
    pub events: usize,
    /// What it came to, if that was said.
    pub usage: Option<Usage>,
    /// How it ended.
    pub ending: Ending,
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ending {
    /// Everything was sent.
    Whole,
    /// It was cut, as the brain wanted.
    Cut,
    /// It was kept waiting, as the brain wanted, until one of both sides went away.
    Hung,
    /// The client went away before the end.
    Left,
}

/// A request that is not for a model: what is there, is anybody there.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Probe {
    /// How it asked: `GET`, `HEAD`.
    pub method: String,
    /// What for.
    pub path: String,
    /// What it got.
    pub status: u16,
}

/// Something that happened.
#[derive(Clone, Copy, Debug)]
pub enum News<'a> {
    /// A request came.
    Came(&'a Exchange),
    /// It has been answered, or will never be.
    Answered(&'a Exchange),
    /// Somebody looked.
    Probed(&'a Probe),
}
