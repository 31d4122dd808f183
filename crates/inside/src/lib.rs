//! What of Windlass speaks for an agent inside its lane.
//!
//! | question | file |
//! |---|---|
//! | how is it told what to do, and how does it say what it does? | `telling.rs` |
//! | the built-in agent: a loop of a model and its tools | `api/` |
//! | a client of the Agent Client Protocol | `acp/` |
//!
//! Everything here runs in a process of its own, inside the sandbox, started like any agent: what it is asked is in its
//! home, what it does it prints. Nothing here knows of runs, journals or lanes of others.

mod acp;
mod api;
#[cfg(test)]
mod fuzz;
mod telling;

use std::io::{self, Write};
use std::path::Path;

use windlass_agents::own::{End, Fin};

pub use crate::telling::Teller;

/// What there is to do inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trade {
    /// Be the built-in agent.
    Api,
    /// Speak to a server of the Agent Client Protocol.
    Acp,
}

/// Does what the errand in a home says, and tells what it does. Whether it came to an answer.
///
/// # Errors
///
/// When nobody listens any more.
pub fn run(trade: Trade, home: &Path, out: &mut (dyn Write + Send)) -> io::Result<bool> {
    let mut teller = Teller::new(out);
    let end = match telling::errand(home) {
        Ok(errand) => match trade {
            Trade::Api => api::run(&errand, home, &mut teller)?,
            Trade::Acp => acp::run(&errand, home, &mut teller)?,
        },
        Err(why) => End { why, accounted: true, ..End::default() },
    };
    let done = end.came == Fin::Done;
    teller.end(end)?;
    Ok(done)
}
