//! What roles have learned with an earlier program: taken over when a mission begins, once.

use std::path::PathBuf;

use windlass_clerks::memory::identity::Identities;
use windlass_clerks::memory::mission::CURATOR;
use windlass_core::workflow::Workflow;
use windlass_engine::clock::wall_ms;
use windlass_engine::date::date;

use crate::error::Error;
use crate::workplace::state_dir;

/// Where an earlier program kept it, in a person's home.
const EARLIER: &str = "autonomous-harness/identity";

/// Takes over what an earlier program kept, if a workflow has roles that learn. What a person should know.
pub fn take_over(flow: &Workflow) -> Result<Vec<String>, Error> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let Some(home) = home.filter(|_| flow.roles.contains_key(CURATOR)) else {
        return Ok(Vec::new());
    };
    let own = Identities::of(state_dir()?.path());
    let from = home.join(EARLIER);
    let count = own.import(&from, &date(wall_ms()));
    let count = count.map_err(|error| Error::unwritable(own.dir(), error))?;
    Ok(match count {
        0 => Vec::new(),
        _ => vec![format!(
            "{count} lines that roles have learned were taken over from {}; `windlass memory` shows them",
            from.display()
        )],
    })
}
