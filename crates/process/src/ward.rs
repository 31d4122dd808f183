//! One child in our care, from its start until nothing of it is left.
//!
//! ```text
//!            limit, stop                 grace is over
//!  Running ──────────────▶ Asked (TERM) ──────────────▶ Killed (KILL)
//!     │ first process ends     │ nothing is left             │ nothing is left, or
//!     │ and nothing is left    │                             │ patience is over
//!     ▼                        ▼                             ▼
//!   over                     over                          over
//! ```
//!
//! The first process may end while others live on. They get the same treatment, Running → Asked →
//! Killed, and the child is over when none is left. Nobody waits for the pipes to close: they
//! could be held open for ever. When the last process is gone, what is in them is taken and they
//! are closed.
//!
//! The first process is collected last. Until then its pid cannot become another's, so a signal to
//! its group hits nobody else.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    os::fd::AsFd,
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};

use rustix::{
    io::Errno,
    pipe::fcntl_getpipe_size,
    process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, pidfd_send_signal, waitid},
};

use crate::{
    Captured, Limits, Resource, Started, Stream, Watch,
    cgroup::{Group, Undertaker},
    family::{self, Family, Member},
    gauge::Gauge,
    poller::{Poller, Source, WardId, Watched},
    proc::{self, Life, Taken},
    sandbox::doorman::{GO_ON, IN},
    spool::Spool,
};

/// How long we wait for what was killed. Only a process that hangs inside the kernel, or that is
/// not ours to kill, takes longer.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often a search for what is left may come up with processes that are gone when looked at.
const ROUNDS_MAX: u32 = 100;
/// How often somebody looks what a child takes of the machine.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Ending {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal that was not ours.
    Signalled(i32),
    /// It had used up its time and was ended.
    TimedOut(Limit),
    /// It was ended because somebody asked for it.
    Stopped,
    /// It took too much of something and was ended.
    Exceeded(Resource),
    /// It never started: what it was to run in could not be set up, or it is not to be seen from there.
    Barred,
}

/// Which time was used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// From start to end.
    Wall,
    /// Without a byte on either stream.
    Idle,
}

/// What a program's first process left behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stragglers {
    /// How many processes had to be ended after the first one had.
    pub ended: usize,
    /// Which could not be ended. They hang inside the kernel, or belong to another user.
    pub left: Vec<Started>,
    /// Why it is not known whether there are others. Their group was killed all the same.
    pub unknown: Option<String>,
}

/// A program that has ended, and nothing of it is left unless `stragglers` says so.
#[derive(Clone, Debug)]
#[must_use]
pub struct Finished {
    /// How it ended.
    pub ending: Ending,
    /// What it printed.
    pub stdout: Captured,
    /// What it printed to standard error.
    pub stderr: Captured,
    /// From its start until its first process had ended.
    pub wall: Duration,
    /// Why it never started, if it did not.
    pub why: Option<String>,
    /// It ended well itself, but the kernel has ended something that it started, for want of this.
    pub short_of: Option<Resource>,
    /// What it left behind.
    pub stragglers: Stragglers,
    /// The watch panicked, and has not seen everything.
    pub watch_panicked: bool,
}

impl Finished {
    /// Whether it ended by itself and says that all is well. For tests and benches: whoever starts programs in earnest
    /// asks how they ended.
    pub fn succeeded(&self) -> bool {
        self.ending == Ending::Exited(0)
    }
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Running,
    Asked { kill_at: Instant },
    Killed { give_up_at: Instant },
    Over,
}

/// One of the two streams of a child.
pub(crate) struct Flow {
    pub(crate) pipe: Option<Watched>,
    pub(crate) spool: Spool,
}

/// On what terms a child is looked after.
pub(crate) struct Terms {
    pub(crate) watch: Option<Watch>,
    /// The door of its sandbox, if it is in one.
    pub(crate) door: Option<Door>,
    pub(crate) limits: Limits,
    /// The control group that it is in, if there is one.
    pub(crate) group: Option<Group>,
    /// Looks how much of the disk it takes.
    pub(crate) gauge: Option<Gauge>,
}

pub(crate) struct Ward {
    pub(crate) id: WardId,
    pub(crate) family: Family,
    pub(crate) leader: Watched,
    pub(crate) stdout: Flow,
    pub(crate) stderr: Flow,
    pub(crate) watch: Option<Watch>,
    watch_panicked: bool,
    door: Option<Door>,
    group: Option<Group>,
    _gauge: Option<Gauge>,
    /// When to look again what it takes of the machine.
    look_at: Option<Instant>,
    limits: Limits,
    started: Instant,
    last_output: Instant,
    /// Set when the first process has ended.
    ended: Option<Instant>,
    phase: Phase,
    /// Why it was ended before its time.
    cause: Option<Ending>,
    members: BTreeMap<i32, Watched>,
    /// Everything that was ever found, after the first process.
    known: BTreeSet<Started>,
    stragglers: Stragglers,
}

impl Ward {
    pub(crate) fn new(
        id: WardId,
        family: Family,
        leader: Watched,
        [stdout, stderr]: [Flow; 2],
        Terms { watch, door, limits, group, gauge }: Terms,
        now: Instant,
    ) -> Ward {
        Ward {
            id,
            family,
            leader,
            stdout,
            stderr,
            watch,
            watch_panicked: false,
            door,
            group,
            _gauge: gauge,
            look_at: limits.bounds.are_watched().then(|| later(now, LOOK_EVERY)),
            limits,
            started: now,
            last_output: now,
            ended: None,
            phase: Phase::Running,
            cause: None,
            members: BTreeMap::new(),
            known: BTreeSet::new(),
            stragglers: Stragglers::default(),
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over)
    }

    /// When to come back even if nothing happens.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        match self.phase {
            Phase::Running => self.limit().map(|(at, _)| at).into_iter().chain(self.look_at).min(),
            Phase::Asked { kill_at } => Some(kill_at),
            Phase::Killed { give_up_at } => Some(give_up_at),
            Phase::Over => None,
        }
    }

    /// Which limit comes first, and when.
    fn limit(&self) -> Option<(Instant, Limit)> {
        let at = |from: Instant, limit: Option<Duration>| from.checked_add(limit?);
        let wall = at(self.started, self.limits.wall).map(|at| (at, Limit::Wall));
        let idle = at(self.last_output, self.limits.idle).map(|at| (at, Limit::Idle));
        [wall, idle].into_iter().flatten().min_by_key(|(at, _)| *at)
    }

    /// Does what is due by now.
    pub(crate) fn expire(&mut self, poller: &Poller, now: Instant) {
        match self.phase {
            Phase::Running => {
                if let Some((at, which)) = self.limit()
                    && at <= now
                {
                    self.ask(Ending::TimedOut(which), poller, now);
                } else if self.look_at.is_some_and(|at| at <= now) {
                    self.look_at = Some(later(now, LOOK_EVERY));
                    if let Some(resource) = self.exceeded() {
                        self.exceeds(resource, poller, now);
                    }
                }
            }
            Phase::Asked { kill_at } if kill_at <= now => self.kill(poller, now),
            Phase::Killed { give_up_at } if give_up_at <= now => self.give_up(),
            Phase::Asked { .. } | Phase::Killed { .. } | Phase::Over => {}
        }
    }

    /// Somebody wants it ended.
    pub(crate) fn stop(&mut self, poller: &Poller, now: Instant) {
        self.ask(Ending::Stopped, poller, now);
    }

    fn ask(&mut self, cause: Ending, poller: &Poller, now: Instant) {
        if matches!(self.phase, Phase::Running) && self.ended.is_none() {
            self.cause = Some(cause);
            self.phase = Phase::Asked { kill_at: later(now, self.limits.grace) };
            self.signal_group();
            self.signal_members(poller);
        }
    }

    /// What it takes too much of, if anything.
    fn exceeded(&mut self) -> Option<Resource> {
        match &self.group {
            Some(group) => group.exceeded(),
            None => self.taken_too_much(),
        }
    }

    /// The same where no group counts: what can be seen of its processes from outside.
    fn taken_too_much(&mut self) -> Option<Resource> {
        let members = self.find_members().ok()?;
        let pids = members.iter().map(|member| member.started.pid).chain([self.family.leader.pid]);
        let mut sum = Taken::default();
        for pid in pids {
            sum.add(proc::taken(pid));
        }
        let bounds = &self.limits.bounds;
        let over = |cap: Option<u64>, taken: u64| cap.is_some_and(|cap| taken > cap);
        if over(bounds.processes, sum.threads) {
            Some(Resource::Processes)
        } else if over(bounds.memory, sum.memory) {
            Some(Resource::Memory)
        } else {
            bounds.cpu.is_some_and(|cap| sum.cpu > cap).then_some(Resource::Cpu)
        }
    }

    /// Whoever takes too much is not asked: it would only go on meanwhile.
    pub(crate) fn exceeds(&mut self, resource: Resource, poller: &Poller, now: Instant) {
        if matches!(self.phase, Phase::Running) && self.ended.is_none() {
            self.cause = Some(Ending::Exceeded(resource));
            self.kill(poller, now);
        }
    }

    fn kill(&mut self, poller: &Poller, now: Instant) {
        if let Some(group) = &self.group {
            group.kill();
        }
        self.phase = Phase::Killed { give_up_at: later(now, PATIENCE) };
        self.signal_group();
        self.signal_members(poller);
    }

    /// Whoever is still there will not go.
    fn give_up(&mut self) {
        match self.find_members() {
            Ok(members) => {
                self.stragglers.left = members.iter().map(|member| member.started).collect();
                self.stragglers.ended = self.stragglers.ended.saturating_sub(members.len());
            }
            Err(error) => self.stragglers.unknown = Some(error.to_string()),
        }
        if self.ended.is_none() {
            self.stragglers.left.push(self.family.leader);
        }
        self.phase = Phase::Over;
    }

    fn find_members(&mut self) -> io::Result<Vec<Member>> {
        let leader = if self.ended.is_some() { Life::Zombie } else { Life::Alive };
        let members = self.family.members(leader, &self.known)?;
        self.known.extend(members.iter().map(|member| member.started));
        Ok(members)
    }

    /// Whether the first process is not the program but somebody who waits for it.
    fn has_monitor(&self) -> bool {
        self.door.as_ref().is_some_and(|door| door.has_monitor)
    }

    /// The signal that goes with the phase.
    fn signal(&self) -> Signal {
        match self.phase {
            Phase::Killed { .. } => Signal::KILL,
            Phase::Running | Phase::Asked { .. } | Phase::Over => Signal::TERM,
        }
    }

    /// Once for each phase: a second TERM means "now, and never mind the rest" to some programs.
    /// All of a group get it in one step, so none can slip away by forking.
    fn signal_group(&self) {
        // A monitor that is asked to end takes everything down at once; the others are asked one by one.
        if self.has_monitor() && !matches!(self.phase, Phase::Killed { .. }) {
            return;
        }
        if let Some(group) = Pid::from_raw(self.family.leader.pid) {
            // Nobody left to hear it is as good as done; it is checked later who is left.
            let _ = kill_process_group(group, self.signal());
        }
    }

    /// Signals those that have left the group.
    fn signal_members(&mut self, poller: &Poller) {
        match self.find_members() {
            Ok(members) => members.iter().for_each(|member| self.signal_member(member, poller)),
            // While the first process lives, this is found out again when it has ended.
            Err(_) if self.ended.is_none() => {}
            Err(error) => self.lose_sight(&error),
        }
    }

    /// Signals one process, unless it was told with its group. Once the first process has ended
    /// the others are waited for, and told again: a shell that is just starting a program may
    /// have swallowed the first signal.
    fn signal_member(&mut self, member: &Member, poller: &Poller) {
        let pid = member.started.pid;
        let held = match proc::hold(member.started) {
            Ok(Some(held)) => held,
            Ok(None) => return,
            Err(error) => return self.lose_sight(&error),
        };
        let in_group = member.group == self.family.leader.pid;
        if self.ended.is_some() || !in_group || self.has_monitor() {
            let _ = pidfd_send_signal(&held, self.signal());
        }
        if self.ended.is_none() || self.members.contains_key(&pid) {
            return;
        }
        match poller.watch(held, Source::Member(self.id, pid)) {
            Ok(watched) => {
                self.members.insert(pid, watched);
                // What a monitor leaves behind the kernel ends; we only wait for it.
                self.stragglers.ended += usize::from(!self.has_monitor());
            }
            Err(error) => self.lose_sight(&error),
        }
    }

    /// We can no longer see who is left: out of files, most likely. All that can still be done is
    /// to kill the group and say so.
    fn lose_sight(&mut self, error: &io::Error) {
        self.stragglers.unknown = Some(error.to_string());
        if let Some(group) = Pid::from_raw(self.family.leader.pid) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    /// The first process has ended. It stays a zombie until [`Ward::finish`].
    pub(crate) fn leader_ended(&mut self, poller: &Poller, now: Instant) {
        if self.ended.is_none() {
            self.ended = Some(now);
            self.leader.settle();
            self.settle(poller, now);
        }
    }

    /// One of the others has.
    pub(crate) fn member_ended(&mut self, pid: i32, poller: &Poller, now: Instant) {
        if let Some(member) = self.members.remove(&pid) {
            family::collect_one(WaitId::PidFd(member.as_fd()));
        }
        self.settle(poller, now);
    }

    /// Looks whether anything is left, and sees to it that it goes.
    fn settle(&mut self, poller: &Poller, now: Instant) {
        for _ in 0..ROUNDS_MAX {
            if self.is_over() || !self.members.is_empty() {
                return;
            }
            let members = match self.find_members() {
                Ok(members) if members.is_empty() => {
                    self.phase = Phase::Over;
                    return;
                }
                Ok(members) => members,
                Err(error) => {
                    self.lose_sight(&error);
                    self.phase = Phase::Over;
                    return;
                }
            };
            if matches!(self.phase, Phase::Running) {
                self.phase = Phase::Asked { kill_at: later(now, self.limits.grace) };
            }
            members.iter().for_each(|member| self.signal_member(member, poller));
        }
        let endless = io::Error::other("its processes come and go faster than they can be ended");
        self.lose_sight(&endless);
        self.phase = Phase::Over;
    }

    /// The doorman has said something.
    pub(crate) fn hear(&mut self) {
        if let Some(door) = &mut self.door {
            door.hear();
        }
    }

    fn flow(&mut self, stream: Stream) -> &mut Flow {
        match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        }
    }

    /// Takes one chunk of output, so that a flood of one child does not hold up the others.
    pub(crate) fn read(&mut self, stream: Stream, buffer: &mut [u8], now: Instant) {
        if self.take(stream, buffer, now) == Chunk::End {
            self.flow(stream).pipe = None;
        }
    }

    fn take(&mut self, stream: Stream, buffer: &mut [u8], now: Instant) -> Chunk {
        let Some(pipe) = &self.flow(stream).pipe else { return Chunk::End };
        let length = match rustix::io::read(pipe, &mut *buffer) {
            Ok(0) => return Chunk::End,
            Ok(length) => length,
            Err(Errno::AGAIN | Errno::INTR) => return Chunk::Nothing,
            Err(_) => return Chunk::End,
        };
        let chunk = &buffer[..length];
        self.last_output = now;
        self.flow(stream).spool.write(chunk);
        if let Some(watch) = &mut self.watch {
            // Its panic must not take all other children down.
            let seen = catch_unwind(AssertUnwindSafe(|| watch(stream, chunk)));
            if seen.is_err() {
                self.watch = None;
                self.watch_panicked = true;
            }
        }
        Chunk::Bytes(length)
    }

    /// What is in a pipe now that everybody has gone. Should a stranger hold its other end and
    /// write on, we take no more than a pipe can hold.
    fn drain(&mut self, stream: Stream, buffer: &mut [u8], now: Instant) {
        let Some(pipe) = &self.flow(stream).pipe else { return };
        let mut rest = fcntl_getpipe_size(pipe).unwrap_or(0);
        while rest > 0 {
            let room = rest.min(buffer.len());
            match self.take(stream, &mut buffer[..room], now) {
                Chunk::Bytes(length) => rest -= length,
                Chunk::Nothing | Chunk::End => return,
            }
        }
    }

    /// What an exit means. A monitor ends with what the program ended with, and tells a signal as a shell does.
    fn told_by(&self, exit: Ending) -> Ending {
        const SIGNALS: std::ops::RangeInclusive<i32> = 129..=192;
        match exit {
            Ending::Exited(code) if self.has_monitor() && SIGNALS.contains(&code) => {
                Ending::Signalled(code - 128)
            }
            exit => exit,
        }
    }

    /// Takes what is left in the pipes, collects the first process and sums up.
    pub(crate) fn finish(
        mut self,
        buffer: &mut [u8],
        undertaker: &mut Undertaker,
        now: Instant,
    ) -> Finished {
        for stream in [Stream::Stdout, Stream::Stderr] {
            self.drain(stream, buffer, now);
        }
        let exit = self.ended.and_then(|_| exit_of(&self.leader)).map(|exit| self.told_by(exit));
        let (stdout, stderr) = (self.stdout.spool.finish(), self.stderr.spool.finish());
        // What the kernel ended for want of memory has ended before anybody looked.
        let short = self.group.as_ref().and_then(Group::exceeded);
        let ended_well = exit.is_none_or(|exit| exit == Ending::Exited(0));
        let short_of = short.filter(|short| ended_well && *short == Resource::Memory);
        let short = short.filter(|_| !ended_well);
        let why = match &mut self.door {
            Some(door) if self.cause.is_none() => door.barred(&stderr),
            _ => None,
        };
        let why = why.map(|why| if why.is_empty() { without_a_word(exit, short) } else { why });
        let barred = why.as_ref().map(|_| Ending::Barred);
        let short = short.map(Ending::Exceeded);
        let ending = self.cause.or(barred).or(short).or(exit);
        if let Some(group) = self.group.take() {
            undertaker.take(group);
        }
        Finished {
            ending: ending.unwrap_or(Ending::Signalled(Signal::KILL.as_raw())),
            stdout,
            stderr,
            why,
            short_of: short_of.filter(|_| ending == Some(Ending::Exited(0))),
            wall: self.ended.unwrap_or(now).saturating_duration_since(self.started),
            stragglers: self.stragglers,
            watch_panicked: self.watch_panicked,
        }
    }
}

/// The door of a sandbox, from the outside.
pub(crate) struct Door {
    /// The line to the doorman.
    line: Watched,
    /// What it has said so far.
    said: Vec<u8>,
    /// The first process is not the program but somebody who waits for it.
    has_monitor: bool,
}

/// The doorman says no more than that.
const SAID_MAX: usize = 4096;

impl Door {
    pub(crate) fn new(line: Watched, has_monitor: bool) -> Door {
        Door { line, said: Vec::new(), has_monitor }
    }

    /// Hears the doorman out. Once it is in, it is told to go on: by then everything in there is tied to us, and whoever
    /// has no Windlass any more is never told.
    fn hear(&mut self) {
        let before = self.said.len();
        let mut words = [0; 512];
        while self.said.len() < SAID_MAX {
            match rustix::io::read(&self.line, &mut words) {
                Ok(length) if length > 0 => self.said.extend_from_slice(&words[..length]),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                // It has hung up, because it has become the program or because it has ended.
                Ok(_) | Err(_) => {
                    self.line.settle();
                    break;
                }
            }
        }
        if before < IN.len() && self.said.starts_with(IN) {
            // If it has gone meanwhile, that is found out otherwise.
            let _ = rustix::io::write(&self.line, GO_ON);
        }
    }

    /// Why the program never started, if the doorman has not said that it did. Somebody who could not even call the
    /// doorman has said so on standard error.
    fn barred(&mut self, stderr: &Captured) -> Option<String> {
        self.hear();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        match self.said.strip_prefix(IN) {
            Some([]) => None,
            Some(then) => Some(text(then)),
            None if !self.said.is_empty() => Some(text(&self.said)),
            None => Some(stderr.text().map_or_else(|error| error.to_string(), |said| text(&said))),
        }
    }
}

/// How somebody ended who was to start a program and has said nothing at all.
fn without_a_word(exit: Option<Ending>, short: Option<Resource>) -> String {
    match (short, exit) {
        (Some(Resource::Memory), _) => "there is too little memory to start anything".to_owned(),
        (_, Some(Ending::Exited(code))) => format!("it exited with {code} and said nothing"),
        (_, Some(Ending::Signalled(signal))) => {
            format!("signal {signal} ended it, and it said nothing")
        }
        _ => "it ended and said nothing".to_owned(),
    }
}

/// `Instant + Duration` panics where there is no such instant.
fn later(now: Instant, wait: Duration) -> Instant {
    const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);
    now + wait.min(YEAR)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Chunk {
    Bytes(usize),
    /// Just now.
    Nothing,
    /// For ever.
    End,
}

/// Collects a process that has ended.
fn exit_of(pidfd: &Watched) -> Option<Ending> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
    let status = loop {
        match waitid(WaitId::PidFd(pidfd.as_fd()), options) {
            Ok(status) => break status?,
            Err(Errno::INTR) => {}
            Err(_) => return None,
        }
    };
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Some(Ending::Exited(code)),
        (None, Some(signal)) => Some(Ending::Signalled(signal)),
        (None, None) => None,
    }
}
