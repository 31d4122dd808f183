//! Ending what a killed Windlass has left behind, before anything is started again.
//!
//! A process is ended only on evidence: it is the first process of a child, by pid and start; or it
//! carries the brand of a spawner that is gone, in its limits or its environment; or it is in the
//! session of a first process that can still be seen to be that one; or it is below one of these.
//! A name, or a pid alone, is no evidence. What is older than the Windlass that was killed cannot
//! have come from it and is not even looked at, which is also what makes the search quick.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    os::fd::OwnedFd,
    path::Path,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::{Signal, pidfd_send_signal},
};

use super::{Entries, FILE, LedgerError};
use crate::{
    cgroup,
    proc::{self, Life, Started, Stat},
    token::{Brand, Token},
};

/// How long we wait for what was killed; see the same in `ward.rs`.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often new processes may turn up after all of those found were ended.
const ROUNDS_MAX: u32 = 100;

/// A process that was left behind and has been ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Which one.
    pub process: Started,
    /// What it called itself.
    pub name: String,
    /// How it was known to be ours.
    pub evidence: Evidence,
    /// What it took.
    pub force: Force,
}

/// How a process was known to be ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// It is the first process of a child, by its pid and the time it started.
    Leader,
    /// It carries the token of a child.
    Token,
    /// It is in the session of a child's first process.
    Session,
    /// It is below one of the others.
    Descent,
}

/// What it took to end a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Force {
    /// It went when asked (TERM).
    Asked,
    /// It had to be killed (KILL).
    Killed,
}

/// What was left behind could not be ended. Nothing may be started: it could still be at work.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The ledger cannot be used.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The processes of this machine cannot be looked at.
    #[error("cannot look for programs that an earlier Windlass left behind: {0}")]
    Search(#[from] io::Error),
    /// They do not go.
    #[error(
        "programs that an earlier Windlass left behind could not be ended: {}; end them by hand, \
         or restart the machine",
        list(left)
    )]
    Left {
        /// Which.
        left: Vec<(Started, String)>,
    },
}

fn list(left: &[(Started, String)]) -> String {
    let left: Vec<String> =
        left.iter().map(|(process, name)| format!("{name} (pid {})", process.pid)).collect();
    left.join(", ")
}

/// Ends every process that the ledger in `directory` knows to be ours and that still lives, waits
/// until each has ended, and empties the ledger.
///
/// Only for the process that holds the repository's lock, and before it starts anything. Without a
/// ledger, or after an orderly end, it costs one look at a file.
pub fn sweep(directory: &Path, grace: Duration) -> Result<Vec<Ended>, SweepError> {
    let path = directory.join(FILE);
    let Some(entries) = Entries::read(&path)? else { return Ok(Vec::new()) };
    let ended = end(&entries.of_this_boot(&proc::boot()?), grace)?;
    std::fs::write(&path, "").map_err(|source| LedgerError::Io { path, source })?;
    Ok(ended)
}

/// The same for what one spawner has left behind, by somebody who does not hold the lock: the ledger stays as it is, and
/// what others have started since is not touched. If a sweep has come first, there is nothing left to be done.
pub(crate) fn sweep_after(
    directory: &Path,
    brand: Brand,
    grace: Duration,
) -> Result<Vec<Ended>, SweepError> {
    let Some(entries) = Entries::read(&directory.join(FILE))? else { return Ok(Vec::new()) };
    end(&entries.of_this_boot(&proc::boot()?).of_brand(brand), grace)
}

/// Ends all of it.
fn end(entries: &Entries, grace: Duration) -> Result<Vec<Ended>, SweepError> {
    let mut ended = Vec::new();
    if entries.brands.is_empty() {
        return Ok(ended);
    }
    let wanted = Wanted::new(entries);
    let mut rounds = 0;
    loop {
        let found = wanted.search()?;
        if found.is_empty() {
            break;
        }
        rounds += 1;
        if rounds > ROUNDS_MAX {
            return Err(SweepError::Left { left: found.into_iter().map(Found::named).collect() });
        }
        ended.extend(end_all(found, grace)?);
    }
    let is_theirs =
        |name: &str| Token::parse(name).is_some_and(|token| wanted.brands.contains(&token.brand()));
    for dir in &entries.groups {
        // An empty group harms nobody, so one that cannot be removed keeps nobody from starting.
        let _left = cgroup::sweep(dir, is_theirs);
    }
    Ok(ended)
}

/// What is looked for.
struct Wanted {
    /// Nothing older is ours.
    since_ticks: u64,
    brands: BTreeSet<Brand>,
    leaders: BTreeMap<i32, Started>,
}

struct Found {
    stat: Stat,
    evidence: Evidence,
}

impl Found {
    fn named(self) -> (Started, String) {
        (self.stat.started, self.stat.name)
    }
}

impl Wanted {
    fn new(entries: &Entries) -> Wanted {
        let starts = entries.brands.iter().map(|(_, _, at_ticks)| *at_ticks);
        Wanted {
            since_ticks: starts.min().unwrap_or(0),
            brands: entries.brands.iter().map(|(_, brand, _)| *brand).collect(),
            leaders: entries.leaders.iter().map(|(_, leader)| (leader.pid, *leader)).collect(),
        }
    }

    /// All processes that are ours and alive. Never our own, which may have come from there too.
    fn search(&self) -> io::Result<Vec<Found>> {
        let me = rustix::process::getpid().as_raw_nonzero().get();
        let mut young = Vec::new();
        for pid in proc::all()? {
            if pid != me
                && let Some(stat) = Stat::of(pid)?
                && stat.started.at_ticks >= self.since_ticks
            {
                young.push(stat);
            }
        }
        let sessions: BTreeSet<i32> =
            young.iter().filter(|stat| self.is_leader(stat)).map(|stat| stat.started.pid).collect();
        let mut found = Vec::new();
        let mut rest = Vec::new();
        for stat in young {
            if stat.life == Life::Zombie {
                continue;
            }
            match self.evidence(&stat, &sessions)? {
                Some(evidence) => found.push(Found { stat, evidence }),
                None => rest.push(stat),
            }
        }
        add_descendants(&mut found, rest);
        Ok(found)
    }

    fn is_leader(&self, stat: &Stat) -> bool {
        self.leaders.get(&stat.started.pid) == Some(&stat.started)
    }

    fn evidence(&self, stat: &Stat, sessions: &BTreeSet<i32>) -> io::Result<Option<Evidence>> {
        if self.is_leader(stat) {
            return Ok(Some(Evidence::Leader));
        }
        let ours = |token: Token| self.brands.contains(&token.brand());
        let pid = stat.started.pid;
        if proc::token_in_limits(pid)?.is_some_and(ours)
            || proc::tokens_in_environment(pid).into_iter().any(ours)
        {
            return Ok(Some(Evidence::Token));
        }
        // The first process must still be seen. If it is gone, its number may by now be that of a
        // stranger's session.
        Ok(sessions.contains(&stat.session).then_some(Evidence::Session))
    }
}

fn add_descendants(found: &mut Vec<Found>, mut rest: Vec<Stat>) {
    let mut parents: BTreeSet<i32> = found.iter().map(|found| found.stat.started.pid).collect();
    loop {
        let (below, others): (Vec<Stat>, Vec<Stat>) =
            rest.into_iter().partition(|stat| parents.contains(&stat.parent));
        if below.is_empty() {
            return;
        }
        parents = below.iter().map(|stat| stat.started.pid).collect();
        found.extend(below.into_iter().map(|stat| Found { stat, evidence: Evidence::Descent }));
        rest = others;
    }
}

/// Asks all of them, waits, kills those that are still there, and waits again.
fn end_all(found: Vec<Found>, grace: Duration) -> Result<Vec<Ended>, SweepError> {
    let mut held: Vec<(OwnedFd, Found)> = Vec::new();
    for one in found {
        if let Some(pidfd) = proc::hold(one.stat.started)? {
            held.push((pidfd, one));
        }
    }
    let mut ended = Vec::new();
    for (signal, patience, force) in
        [(Signal::TERM, grace, Force::Asked), (Signal::KILL, PATIENCE, Force::Killed)]
    {
        for (pidfd, _) in &held {
            // One that is gone, or not ours to signal, is told apart by waiting.
            let _ = pidfd_send_signal(pidfd, signal);
        }
        let (gone, still): (Vec<_>, Vec<_>) =
            wait_for(held, patience)?.into_iter().partition(|(_, _, life)| *life == Life::Zombie);
        ended.extend(gone.into_iter().map(|(_, found, _)| Ended {
            process: found.stat.started,
            name: found.stat.name,
            evidence: found.evidence,
            force,
        }));
        held = still.into_iter().map(|(pidfd, found, _)| (pidfd, found)).collect();
    }
    if held.is_empty() {
        return Ok(ended);
    }
    Err(SweepError::Left { left: held.into_iter().map(|(_, found)| found.named()).collect() })
}

/// Waits until all have ended or the time is up, and says which have.
fn wait_for(
    held: Vec<(OwnedFd, Found)>,
    patience: Duration,
) -> io::Result<Vec<(OwnedFd, Found, Life)>> {
    const DAY: Duration = Duration::from_secs(24 * 3600);
    let until = Instant::now() + patience.min(DAY);
    let mut held: Vec<_> =
        held.into_iter().map(|(pidfd, found)| (pidfd, found, Life::Alive)).collect();
    while held.iter().any(|(_, _, life)| *life == Life::Alive) {
        let left = until.saturating_duration_since(Instant::now());
        let timeout = Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(0),
            tv_nsec: left.subsec_nanos().into(),
        };
        let mut alive: Vec<_> =
            held.iter_mut().filter(|(_, _, life)| *life == Life::Alive).collect();
        let ready: Vec<bool> = {
            let mut fds: Vec<PollFd<'_>> =
                alive.iter().map(|(pidfd, _, _)| PollFd::new(pidfd, PollFlags::IN)).collect();
            match poll(&mut fds, Some(&timeout)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            fds.iter().map(|fd| fd.revents().contains(PollFlags::IN)).collect()
        };
        for (one, ready) in alive.iter_mut().zip(&ready) {
            if *ready {
                one.2 = Life::Zombie;
            }
        }
        if left.is_zero() && !ready.contains(&true) {
            break;
        }
    }
    Ok(held)
}
