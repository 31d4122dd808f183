//! A client of the Agent Client Protocol: speaks for an agent to whoever asks, and for whoever asks to the agent.
//!
//! | question | file |
//! |---|---|
//! | how is the server started and ended? | `server.rs` |
//! | how is something said, and heard? | `rpc.rs` |
//! | what is said, in which order? | `client.rs` |
//! | what does the server tell while it works? | `updates.rs` |
//! | which files may it have? | `files.rs` |
//! | what may it use? | `permission.rs` |
//! | what does it mean that it failed? | `failure.rs` |

mod client;
mod failure;
mod files;
mod permission;
mod rpc;
mod server;
#[cfg(test)]
mod tests;
mod updates;

use std::io::{self, Write as _};
use std::path::Path;

use windlass_agents::own::{End, Errand, Fin};
use windlass_agents::{AcpServer, one_line};

use self::client::{Client, Patience, Stop, Talk};
use self::files::Files;
use self::rpc::Wire;
use self::server::Server;
use crate::Teller;

pub(crate) fn run(errand: &Errand, home: &Path, teller: &mut Teller<'_>) -> io::Result<End> {
    let nothing = |why: String| End { why, accounted: true, ..End::default() };
    let server: AcpServer = match serde_json::from_value(errand.own.clone()) {
        Ok(server) => server,
        Err(error) => return Ok(nothing(format!("its errand makes no sense: {error}"))),
    };
    let lane = Path::new(&errand.lane);
    let files = match Files::of(lane) {
        Ok(files) => files,
        Err(error) => return Ok(nothing(format!("{}: {error}", lane.display()))),
    };
    let (process, stdout, stdin) = match Server::start(&server, lane, home) {
        Ok(started) => started,
        Err(error) => {
            let program = server.command.first().map(String::as_str).unwrap_or_default();
            return Ok(nothing(format!("{program}: {error}")));
        }
    };
    let talked = Wire::over(stdout, stdin).map_err(Stop::from).and_then(|wire| {
        let (talk, patience) = (Talk::default(), Patience::default());
        let (wired, server) = (&wire, &server);
        let end = Client { wire: wired, teller, errand, server, files, patience, talk }.converse();
        // Nobody waits until it has read everything: it is ended, if it does not end.
        let _ = wire.finish();
        end
    });
    let (status, complaint) = process.end();
    complain(&complaint);
    match talked {
        Ok(end) => Ok(end),
        Err(Stop::End(end)) => Ok(explained(end, status, &complaint)),
        Err(Stop::Unheard(error)) => Err(error),
    }
}

/// What a server complained about, for the record.
fn complain(complaint: &str) {
    let _ = io::stderr().write_all(complaint.as_bytes());
}

/// With how the server ended, where that is why.
fn explained(mut end: End, status: Option<std::process::ExitStatus>, complaint: &str) -> End {
    if let (Some(status), Fin::Failed) = (status, end.came)
        && end.why.contains("ended before")
    {
        let last = complaint.lines().rev().find(|line| !line.trim().is_empty());
        let last = last.map(|line| format!(": {}", one_line(line))).unwrap_or_default();
        end.why = format!("{} ({status}){last}", end.why);
    }
    end
}
