//! The app that is looked at: the project's own command, in a checkout of its own, on a port that nobody else has.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use windlass_process::{Finished, Lost};
use windlass_sources::contract::How;

use super::super::barred;
use super::super::check::Checks;
use super::http::{self, Reply};
use super::{Finding, Halt, Room, SHOWN_BYTES, ended};
use crate::message::Trouble;
use crate::shop::{Beside, Stopped};

/// How long it may take until it listens.
const UP: Duration = Duration::from_secs(120);
/// How soon and how late it is asked again whether it does.
const ASK_AGAIN: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(250));
/// How long an attempt to reach it may take.
const REACH: Duration = Duration::from_secs(1);
/// How long it may take to answer.
const ANSWER: Duration = Duration::from_secs(30);

/// An app that listens. It is ended with everything that it has started when this is dropped.
pub(super) struct App {
    at: SocketAddr,
    _runs: Beside,
}

impl App {
    /// Starts it, and waits until it listens. What is to be said if it does not.
    pub(super) fn start(
        checks: &Checks<'_>,
        serve: &str,
        room: &Room<'_>,
    ) -> Result<Result<App, Finding>, Halt> {
        let Some(port) = room.quarters.port() else {
            return Ok(Err(Finding::open("there is no port to be had for the app")));
        };
        if checks.brake.is_pulled() {
            return Err(Stopped.into());
        }
        let command = checks.line(serve, room.space(), &room.env());
        let child = checks.shop.spawner.spawn(command).map_err(Trouble::from)?;
        let runs = checks.brake.hold(child.clone());
        let (tell, over) = channel();
        thread::spawn(move || {
            // Nobody listens any more once it is up.
            let _ = tell.send(child.wait().map(Box::new));
        });
        match listens(port, &over) {
            Up::Listens(at) => Ok(Ok(App { at, _runs: runs })),
            Up::Over(finished) => {
                if checks.brake.is_pulled() {
                    return Err(Stopped.into());
                }
                let finished = finished.map_err(Trouble::from)?;
                barred(&finished)?;
                let said = format!("the app (`{serve}`) {}", ended(finished.ending));
                let said = format!("{said} before anybody could reach it on port {port} ($PORT)");
                Ok(Err(Finding::fail(checks.with_print(&said, &finished)?)))
            }
            Up::Never => {
                drop(runs);
                let said = format!(
                    "the app (`{serve}`) did not listen on port {port} ($PORT) within {} s",
                    UP.as_secs()
                );
                let finished = over.recv().unwrap_or(Err(Lost)).map_err(Trouble::from)?;
                Ok(Err(Finding::fail(checks.with_print(&said, &finished)?)))
            }
        }
    }

    /// What its pages are below.
    pub(super) fn top(&self) -> String {
        format!("http://{}", self.at)
    }

    /// Its port.
    pub(super) fn port(&self) -> u16 {
        self.at.port()
    }

    /// Sends a request, and holds the answer against what is wanted.
    pub(super) fn asked(&self, how: &How) -> Finding {
        let How::Http { method, path, body, status, contains } = how else {
            return Finding::open("this is no request");
        };
        match http::ask(self.at, method, path, body.as_deref(), ANSWER) {
            Ok(reply) => judged(&reply, *status, contains),
            Err(error) => Finding::fail(format!("there is no answer: {error}")),
        }
    }
}

fn judged(reply: &Reply, status: u16, contains: &[String]) -> Finding {
    let body = String::from_utf8_lossy(&reply.body);
    let cut = body.floor_char_boundary(SHOWN_BYTES);
    let shown = format!("answered {}:\n{}", reply.status, body[..cut].trim());
    if reply.status != status {
        return Finding::fail(shown);
    }
    match contains.iter().find(|text| !body.contains(text.as_str())) {
        Some(missing) => Finding::fail(format!("{missing:?} is not in it; {shown}")),
        None => Finding::pass(format!("answered {}", reply.status)),
    }
}

enum Up {
    Listens(SocketAddr),
    Over(Result<Box<Finished>, Lost>),
    Never,
}

/// Waits until somebody listens on a port, as long as who is to listen there runs. Some listen to one address of the machine
/// alone.
fn listens(port: u16, over: &Receiver<Result<Box<Finished>, Lost>>) -> Up {
    let own = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
    let until = Instant::now() + UP;
    let (mut wait, longest) = ASK_AGAIN;
    loop {
        let mut reached = own.iter().map(|ip| SocketAddr::new(*ip, port));
        if let Some(at) = reached.find(|at| reaches(*at).is_ok()) {
            return Up::Listens(at);
        }
        match over.recv_timeout(wait) {
            Ok(finished) => return Up::Over(finished),
            Err(RecvTimeoutError::Disconnected) => return Up::Over(Err(Lost)),
            Err(RecvTimeoutError::Timeout) if Instant::now() >= until => return Up::Never,
            Err(RecvTimeoutError::Timeout) => wait = (wait * 2).min(longest),
        }
    }
}

fn reaches(at: SocketAddr) -> io::Result<()> {
    TcpStream::connect_timeout(&at, REACH).map(drop)
}

#[cfg(test)]
mod tests {
    use super::super::Came;
    use super::*;

    #[test]
    fn an_answer_is_held_against_what_is_wanted() {
        let reply = Reply { status: 200, body: b"<h1>Sign in</h1>".to_vec() };
        let came = |status, contains: &[&str]| {
            let contains: Vec<String> = contains.iter().map(|text| (*text).to_owned()).collect();
            judged(&reply, status, &contains)
        };
        assert_eq!(came(200, &[]).came, Came::Pass);
        assert_eq!(came(200, &["Sign", "in"]).came, Came::Pass);
        assert_eq!(came(404, &["Sign"]), Finding::fail("answered 200:\n<h1>Sign in</h1>"));
        let missing = came(200, &["Sign", "Welcome"]);
        assert!(missing.came == Came::Fail && missing.seen.starts_with("\"Welcome\" is not in it"));
    }
}
