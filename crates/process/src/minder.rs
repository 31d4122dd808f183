//! The one thread that starts every child and looks after all of them.
//!
//! One thread, because the kernel ends a child when the *thread* that started it ends, and because
//! one loop over everything that can happen needs no locks: a request, output, the end of a
//! process, a deadline. It waits for whichever comes first and for nothing else.

use std::{
    collections::BTreeMap,
    ffi::{CStr, OsStr},
    io,
    os::{fd::OwnedFd, unix::ffi::OsStrExt},
    path::PathBuf,
    sync::{
        Arc,
        mpsc::{Receiver, Sender},
    },
    time::{Duration, Instant},
};

use rustix::{
    io::Errno,
    process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid},
};

use crate::{
    Resource, Stragglers, Stream,
    cgroup::{Groups, Undertaker},
    command::Order,
    error::SpawnError,
    family::{self, Family},
    gauge::Gauge,
    launch::{self, Launched, Launcher, NotLaunched, Plan, Step},
    ledger::Ledger,
    poller::{Poller, Source, WardId, Watched},
    proc::Stat,
    spawner::Promise,
    token::{Brand, Token},
    ward::{Door, Flow, Terms, Ward},
    which,
};

/// What one read takes at most: as much as a pipe holds.
const CHUNK_BYTES: usize = 64 << 10;
/// How often, at most, zombies that are nobody else's are collected while children run.
const COLLECT_EVERY: Duration = Duration::from_secs(1);

/// How the thread is reached.
#[derive(Clone)]
pub(crate) struct Bell {
    pub(crate) requests: Sender<Request>,
    pub(crate) wake: Arc<OwnedFd>,
}

impl Bell {
    pub(crate) fn ask(&self, request: Request) {
        // If the thread is gone, the promise inside comes back and is broken, which says so.
        if self.requests.send(request).is_ok() {
            // It fails only when it was rung very often and not yet heard.
            let _ = rustix::io::write(&*self.wake, &1_u64.to_ne_bytes());
        }
    }
}

/// What the handles ask of the thread.
pub(crate) enum Request {
    Spawn {
        id: WardId,
        order: Box<Order>,
        promise: Promise,
    },
    Stop(WardId),
    /// It takes too much of the machine.
    Exceeds(WardId, Resource),
    /// Stop everything, start nothing more, and end.
    Close,
    /// Nobody can ask for anything any more: end when the children have.
    Abandon,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Doors {
    Open,
    /// Nobody can come in.
    Abandoned,
    Closed,
}

/// What the children that have ended have left behind.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    Nothing,
    /// Something could not be ended, or not be seen. The next sweep shall look for it.
    MayBeLeft,
}

pub(crate) struct Minder {
    requests: Receiver<Request>,
    /// How others reach us.
    bell: Bell,
    poller: Poller,
    launcher: Launcher,
    brand: Brand,
    ledger: Option<Ledger>,
    groups: Option<Groups>,
    undertaker: Undertaker,
    wards: BTreeMap<WardId, (Ward, Promise)>,
    buffer: Vec<u8>,
    /// The token that we carry ourselves, if we are a child of a Windlass.
    own: Option<Token>,
    doors: Doors,
    rest: Rest,
    collected: Instant,
}

impl Minder {
    /// On the thread that is to be the one.
    pub(crate) fn new(
        requests: Receiver<Request>,
        bell: Bell,
        brand: Brand,
        ledger: Option<Ledger>,
    ) -> io::Result<Minder> {
        let poller = Poller::new()?;
        poller.watch_for_good(&*bell.wake, Source::Wake)?;
        Ok(Minder {
            requests,
            bell,
            poller,
            launcher: Launcher::new()?,
            brand,
            ledger,
            groups: None,
            undertaker: Undertaker::new(),
            wards: BTreeMap::new(),
            buffer: vec![0; CHUNK_BYTES],
            own: family::own_token()?,
            doors: Doors::Open,
            rest: Rest::Nothing,
            collected: Instant::now(),
        })
    }

    /// Until nobody needs it any more. If waiting itself fails there is nothing left to stand on:
    /// the thread ends, the kernel kills the children, and everybody who waits for one is told.
    pub(crate) fn run(mut self) {
        while self.doors == Doors::Open || !self.wards.is_empty() {
            let now = Instant::now();
            let deadline = self.wards.values().filter_map(|(ward, _)| ward.deadline()).min();
            let timeout = deadline.map(|at| at.saturating_duration_since(now));
            let Ok(ready) = self.poller.wait(timeout) else { return };
            let now = Instant::now();
            for source in ready {
                self.handle(source, now);
            }
            self.expire(now);
        }
        // Waits until every group is gone. Whoever is cut off here has not said that everything has ended.
        drop(std::mem::replace(&mut self.undertaker, Undertaker::new()));
        if let Some(ledger) = &mut self.ledger
            && self.rest == Rest::Nothing
        {
            // Whoever sweeps next need not look.
            let _ = ledger.close(self.brand);
        }
    }

    fn handle(&mut self, source: Source, now: Instant) {
        let id = match source {
            Source::Wake => return self.take_requests(now),
            Source::Leader(id)
            | Source::Member(id, _)
            | Source::Output(id, _)
            | Source::Door(id) => id,
        };
        let Some((ward, _)) = self.wards.get_mut(&id) else { return };
        let poller = &self.poller;
        match source {
            Source::Wake => {}
            Source::Leader(_) => ward.leader_ended(poller, now),
            Source::Member(_, pid) => ward.member_ended(pid, poller, now),
            Source::Output(_, stream) => ward.read(stream, &mut self.buffer, now),
            Source::Door(_) => ward.hear(),
        }
        self.finish_if_over(id, now);
    }

    fn expire(&mut self, now: Instant) {
        let due = |ward: &Ward| ward.deadline().is_some_and(|at| at <= now);
        let due: Vec<WardId> =
            self.wards.iter().filter(|(_, (ward, _))| due(ward)).map(|(id, _)| *id).collect();
        for id in due {
            if let Some((ward, _)) = self.wards.get_mut(&id) {
                ward.expire(&self.poller, now);
            }
            self.finish_if_over(id, now);
        }
        if now.saturating_duration_since(self.collected) >= COLLECT_EVERY {
            self.collected = now;
            // If we cannot look now, we look again soon.
            let _ = family::collect_orphans(self.own);
        }
    }

    fn finish_if_over(&mut self, id: WardId, now: Instant) {
        if !self.wards.get(&id).is_some_and(|(ward, _)| ward.is_over()) {
            return;
        }
        if let Some((ward, promise)) = self.wards.remove(&id) {
            let token = ward.family.token;
            let finished = ward.finish(&mut self.buffer, &mut self.undertaker, now);
            self.note_end(token, &finished.stragglers);
            promise.finished(finished);
        }
    }

    /// A line too few only makes the next sweep look for what is not there. A line too many would
    /// make it overlook what is.
    fn note_end(&mut self, token: Token, stragglers: &Stragglers) {
        let Some(ledger) = &mut self.ledger else { return };
        if !stragglers.left.is_empty() || stragglers.unknown.is_some() {
            self.rest = Rest::MayBeLeft;
            return;
        }
        let _ = ledger.ended(token);
        if self.wards.is_empty() && self.rest == Rest::Nothing {
            let _ = ledger.shorten();
        }
    }

    fn take_requests(&mut self, now: Instant) {
        // Read before the requests: one that comes in between wakes us again.
        let _ = rustix::io::read(&*self.bell.wake, &mut [0; 8]);
        while let Ok(request) = self.requests.try_recv() {
            match request {
                Request::Spawn { promise, .. } if self.doors == Doors::Closed => {
                    promise.failed(SpawnError::Closed);
                }
                Request::Spawn { id, order, promise } => self.spawn(id, *order, promise),
                Request::Stop(id) => {
                    if let Some((ward, _)) = self.wards.get_mut(&id) {
                        ward.stop(&self.poller, now);
                    }
                }
                Request::Exceeds(id, resource) => {
                    if let Some((ward, _)) = self.wards.get_mut(&id) {
                        ward.exceeds(resource, &self.poller, now);
                    }
                }
                Request::Close => {
                    self.doors = Doors::Closed;
                    for (ward, _) in self.wards.values_mut() {
                        ward.stop(&self.poller, now);
                    }
                }
                Request::Abandon => self.doors = Doors::Abandoned,
            }
        }
    }

    fn spawn(&mut self, id: WardId, order: Order, promise: Promise) {
        match self.start(id, order) {
            Ok(ward) => {
                promise.running(ward.family.leader);
                self.wards.insert(id, (ward, promise));
            }
            Err(error) => promise.failed(error),
        }
    }

    fn start(&mut self, id: WardId, order: Order) -> Result<Ward, SpawnError> {
        let Order { mut plan, program, token, door, watch, limits, stdout, stderr } = order;
        let mut terms = Terms { watch, limits, door: None, group: None, gauge: None };
        if let Some((line, has_monitor)) = door {
            let line = self.poller.watch(line, Source::Door(id));
            let line =
                line.map_err(|error| SpawnError::system("await its door", &program, error))?;
            terms.door = Some(Door::new(line, has_monitor));
        }
        let grouped = |error| SpawnError::system("limit what it takes", &program, error);
        if terms.limits.bounds.are_watched() {
            terms.group = self.groups()?.make(token, &terms.limits.bounds).map_err(grouped)?;
        }
        if let Some(group) = &terms.group {
            plan.groups = group.doors().map_err(grouped)?;
        }
        let flow = |stream, (pipe, spool)| {
            let pipe = self.poller.watch(pipe, Source::Output(id, stream));
            let pipe = pipe.map_err(|error| SpawnError::system("await output", &program, error))?;
            Ok::<_, SpawnError>(Flow { pipe: Some(pipe), spool })
        };
        let flows = [flow(Stream::Stdout, stdout)?, flow(Stream::Stderr, stderr)?];
        let started = Instant::now();
        let launched = self.launcher.launch(&plan, token);
        let Launched { pid, pidfd } =
            launched.map_err(|error| not_launched(&plan, &program, error))?;
        drop(plan);
        if let Some(disk) = terms.limits.bounds.disk.clone() {
            let bell = self.bell.clone();
            let exceeds = move || bell.ask(Request::Exceeds(id, Resource::Disk));
            terms.gauge = Some(Gauge::start(disk, exceeds));
        }
        let (leader, family) = self.enrol(id, pid, pidfd, token, &program).inspect_err(|_| {
            give_back(pid);
        })?;
        Ok(Ward::new(id, family, leader, flows, terms, started))
    }

    /// Where control groups can be made. Looked up when they are needed first, and noted for whoever comes after us.
    fn groups(&mut self) -> Result<&Groups, SpawnError> {
        if self.groups.is_none() {
            let found = Groups::find(self.brand.token(u64::MAX));
            if let Some(ledger) = &mut self.ledger {
                ledger.grouped(self.brand, found.dirs())?;
            }
            self.groups = Some(found);
        }
        Ok(self.groups.get_or_insert_default())
    }

    /// Sees to it that a new process is known: to us, and to whoever comes after us.
    fn enrol(
        &mut self,
        id: WardId,
        pid: i32,
        pidfd: OwnedFd,
        token: Token,
        program: &OsStr,
    ) -> Result<(Watched, Family), SpawnError> {
        let system = |error| SpawnError::system("look after a new process", program, error);
        let leader = self.poller.watch(pidfd, Source::Leader(id)).map_err(system)?;
        let stat = Stat::of(pid).map_err(system)?;
        let stat = stat.ok_or_else(|| system(io::ErrorKind::NotFound.into()))?;
        if let Some(ledger) = &mut self.ledger {
            ledger.started(token, stat.started)?;
        }
        Ok((leader, Family { leader: stat.started, token }))
    }
}

/// Ends what was started but cannot be looked after.
fn give_back(pid: i32) {
    let Some(pid) = Pid::from_raw(pid) else { return };
    let _ = kill_process_group(pid, Signal::KILL);
    while let Err(Errno::INTR) = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED) {}
}

fn not_launched(plan: &Plan, program: &OsStr, error: NotLaunched) -> SpawnError {
    let NotLaunched { step, source } = error;
    let path = |text: &CStr| PathBuf::from(OsStr::from_bytes(text.to_bytes()));
    let step = match step {
        Step::EnterDirectory => {
            let directory = path(&plan.directory);
            return SpawnError::BadDirectory { program: program.into(), directory, source };
        }
        Step::BecomeProgram => match Errno::from_io_error(&source) {
            Some(Errno::TOOBIG) => {
                let bytes = launch::bytes(plan);
                return SpawnError::TooLong { program: program.into(), bytes };
            }
            Some(Errno::NOENT | Errno::ACCESS | Errno::NOEXEC | Errno::NOTDIR | Errno::ISDIR) => {
                return which::refused(path(&plan.path), source);
            }
            _ => "start the program",
        },
        Step::MakeProcess => "make a process",
        Step::LeaveSession => "make a session",
        Step::DieWithParent => "tie it to Windlass",
        Step::EnterGroup => "limit what it takes",
        Step::ConnectStdio => "connect its streams",
        Step::CloseFiles => "close our files",
    };
    SpawnError::system(step, program, source)
}
