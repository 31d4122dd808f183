//! What every effect may use, and how one is stopped.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use windlass_core::run::{LaneIx, Run, Stamp, UnitStatus, UnitView};
use windlass_core::workflow::Settled;
use windlass_process::{Child, Command, Ending, Env, Finished, Limits, Output, Spawner, Stdin};
use windlass_repo::{Branch, Call, CleanCheckout, Lane, Oid, RepoError, Store, When};
use windlass_sources::Reader;

use crate::accounts::Accounts;
use crate::books::Books;
use crate::clerk::Clerk;
use crate::entry::{Check, Note};
use crate::isolation;
use crate::message::{Message, Paper, Trouble};
use crate::ports::Ports;
use crate::queue::Queue;
use crate::room::Gauge;
use crate::setup::Setup;

/// What every effect may use.
pub struct Shop {
    pub(crate) spawner: Spawner,
    pub(crate) store: Store,
    pub(crate) setup: Setup,
    pub(crate) clerk: Arc<dyn Clerk>,
    pub(crate) readers: BTreeMap<String, Box<dyn Reader>>,
    pub(crate) inbox: Sender<Message>,
    /// Whom providers serve, and how many at once.
    pub(crate) accounts: Accounts,
    /// Where effects keep what they are about to report.
    dir: PathBuf,
    /// The run.
    pub(crate) run: String,
    /// What checks came to on a base, by commit and name.
    pub(crate) on_base: Mutex<BTreeMap<String, BTreeMap<String, Check>>>,
    /// Which lane of the pool each lane of the run is.
    lanes: Mutex<LaneTable>,
    /// Where the run's own lane has been put since a unit landed last.
    pub(crate) stands: Mutex<Option<Oid>>,
    /// Clean checkouts in use.
    benches: Mutex<BTreeSet<u32>>,
    /// Quarters in use.
    quarters: Mutex<BTreeSet<u32>>,
    /// Desks in use.
    desks_in_use: Arc<Mutex<BTreeSet<u32>>>,
    /// One who changes a lane has it alone; those who only look may look together. Who comes after one that was
    /// stopped waits until that one is really gone.
    turns: Mutex<BTreeMap<Seat, Arc<RwLock<()>>>>,
    /// Where landings that bring a proof wait for each other.
    pub(crate) queue: Arc<Queue>,
    /// What lanes were found to take of the disk.
    pub(crate) gauge: Mutex<Gauge>,
    /// Where units began that had begun nowhere when this process came.
    pub(crate) begun: Mutex<BTreeMap<(Option<String>, u32), Stands>>,
}

/// What a shop is opened with.
pub struct Tools {
    /// Starts processes.
    pub spawner: Spawner,
    /// Git.
    pub store: Store,
    /// Agents, roles, checks.
    pub setup: Setup,
    /// What the workflow keeps besides the journal.
    pub clerk: Arc<dyn Clerk>,
    /// What looks at sources, by name.
    pub readers: BTreeMap<String, Box<dyn Reader>>,
    /// Where the loop listens.
    pub inbox: Sender<Message>,
    /// Where Windlass remembers things.
    pub dir: PathBuf,
}

/// A place to work at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Seat {
    /// The lane; the run's own has no number.
    pub lane: Option<LaneIx>,
    /// Nought for the lane itself, and more for who looks at the same from beside it.
    pub number: u16,
}

impl Seat {
    /// The number of the seat of whoever looks at the change alone: no panel has as many members.
    pub(crate) const APART: u16 = u16::MAX;
}

/// What stands between a unit and the number of a seat, where lanes are filed.
const BESIDE: &str = " · seat ";

/// Which lane of the pool each seat of the run is.
#[derive(Debug, Default)]
struct LaneTable {
    owned: BTreeMap<Seat, u32>,
    /// The unit that had each of those last.
    units: BTreeMap<u32, String>,
    free: Vec<u32>,
    next: u32,
}

impl LaneTable {
    /// The table as the pool stands: what this run's units have stays theirs, and what other runs have is not touched.
    fn of(store: &Store, run: &Run) -> Result<Self, Trouble> {
        let mut table = LaneTable::default();
        for lane in store.pool()? {
            table.next = table.next.max(lane.number + 1);
            match lane.lane {
                Some(Lane { run: owner, unit, .. }) if owner == run.id() => {
                    // A unit that is over has no lane any more; what is in its old one is kept when another takes it.
                    let of_unit = |unit: &str| {
                        let unit = run.unit_named(unit)?;
                        let over = matches!(unit.status, UnitStatus::Settled(_));
                        unit.lane.filter(|_| !over).map(Some)
                    };
                    let beside = unit.rsplit_once(BESIDE);
                    let beside =
                        beside.and_then(|(unit, number)| Some((unit, number.parse().ok()?)));
                    let (unit, number) = beside.unwrap_or((unit.as_str(), 0));
                    let lane_of = if unit == RUN_ITSELF { Some(None) } else { of_unit(unit) };
                    match lane_of.map(|lane| Seat { lane, number }) {
                        Some(own) => {
                            table.owned.insert(own, lane.number);
                            table.units.insert(lane.number, unit.to_owned());
                        }
                        None => table.free.push(lane.number),
                    }
                }
                Some(_) => {}
                None => table.free.push(lane.number),
            }
        }
        Ok(table)
    }

    fn number(&mut self, seat: Seat, unit: &str) -> u32 {
        let number = self.numbered(seat);
        self.units.insert(number, unit.to_owned());
        number
    }

    fn numbered(&mut self, seat: Seat) -> u32 {
        if let Some(number) = self.owned.get(&seat) {
            return *number;
        }
        let number = self.free.pop().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        });
        self.owned.insert(seat, number);
        number
    }
}

/// The unit that a lane is filed under, whichever of its seats it is.
pub(crate) fn unit_of(filed: &str) -> &str {
    filed.rsplit_once(BESIDE).map_or(filed, |(unit, _)| unit)
}

/// The unit that the run's own lane is filed under.
pub const RUN_ITSELF: &str = "(the run itself)";

/// A clean checkout in use; its place is free again when this is dropped.
pub(crate) struct Bench<'a> {
    shop: &'a Shop,
    /// The checkout.
    pub checkout: CleanCheckout,
}

impl Drop for Bench<'_> {
    fn drop(&mut self) {
        lock(&self.shop.benches).remove(&self.checkout.number);
    }
}

/// A home and room for scratch files, which nobody has been in. Gone when this is dropped.
pub(crate) struct Quarters<'a> {
    shop: &'a Shop,
    /// Which of those that are used again they are, if any.
    number: Option<u32>,
    /// Where they are.
    pub path: PathBuf,
    ports: Option<Ports>,
    /// They stay, for whoever goes on here.
    stays: bool,
}

impl Quarters<'_> {
    /// Leaves them as they are: whoever was at work there was stopped, and may go on.
    pub(crate) fn leave(mut self) {
        self.stays = true;
    }

    /// The first of their ports: `PORT`.
    pub(crate) fn port(&self) -> Option<u16> {
        self.ports.as_ref().map(Ports::first)
    }

    /// What whoever has them finds in the environment.
    pub(crate) fn env(&self, env: Env) -> Env {
        let env = self.shop.setup.isolation.env(env, &self.path);
        match &self.ports {
            Some(ports) => ports.say(env),
            None => env,
        }
    }
}

impl Drop for Quarters<'_> {
    fn drop(&mut self) {
        if !self.stays {
            // What cannot be removed now is removed before they are used again, or else that fails and says so.
            let _ = isolation::remove(&self.path);
        }
        if let Some(number) = &self.number {
            lock(&self.shop.quarters).remove(number);
        }
    }
}

/// Where a unit begins: the commit that it stands on, and the one that its lane holds.
#[derive(Clone, Debug)]
pub(crate) struct Stands {
    /// Where the branch is.
    pub base: Oid,
    /// The same, or with what was built of it before.
    pub held: Oid,
    /// What whoever begins it should know of that.
    pub shown: Option<String>,
}

/// A desk in use; it is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Desk {
    in_use: Arc<Mutex<BTreeSet<u32>>>,
    number: u32,
    /// The file.
    pub path: PathBuf,
}

impl Drop for Desk {
    fn drop(&mut self) {
        lock(&self.in_use).remove(&self.number);
    }
}

/// Whether a unit is over and was not done.
fn is_undone(unit: &UnitView) -> bool {
    matches!(unit.status, UnitStatus::Settled(how) if how != Settled::Done)
}

/// The first number that is not in use; now it is.
fn first_free(used: &Mutex<BTreeSet<u32>>) -> u32 {
    let mut used = lock(used);
    let free = (0..).find(|number| !used.contains(number)).unwrap_or_default();
    used.insert(free);
    free
}

impl Shop {
    /// The shop of a run.
    ///
    /// # Errors
    ///
    /// When its lanes cannot be looked at.
    pub fn open(tools: Tools, run: &Run, books: &Books) -> Result<Self, Trouble> {
        Ok(Shop {
            lanes: Mutex::new(LaneTable::of(&tools.store, run)?),
            accounts: Accounts::of(&tools.setup.crew, books.limited()),
            spawner: tools.spawner,
            store: tools.store,
            setup: tools.setup,
            clerk: tools.clerk,
            readers: tools.readers,
            inbox: tools.inbox,
            dir: tools.dir,
            run: run.id().to_owned(),
            on_base: Mutex::new(books.on_base().clone()),
            stands: Mutex::default(),
            benches: Mutex::default(),
            quarters: Mutex::default(),
            desks_in_use: Arc::default(),
            turns: Mutex::default(),
            queue: Arc::default(),
            gauge: Mutex::default(),
            begun: Mutex::default(),
        })
    }

    /// The lane of a unit (of the run itself without one), standing on this commit if it is new.
    pub(crate) fn lane(
        &self,
        lane: Option<LaneIx>,
        unit: Option<&str>,
        base: &Oid,
        when: When,
    ) -> Result<Lane, Trouble> {
        self.seat(Seat { lane, number: 0 }, unit, base, when)
    }

    /// A place to work at, as it was left, or made.
    ///
    /// # Errors
    ///
    /// When it cannot be made.
    pub(crate) fn seat(
        &self,
        seat: Seat,
        unit: Option<&str>,
        base: &Oid,
        when: When,
    ) -> Result<Lane, Trouble> {
        let unit = unit.unwrap_or(RUN_ITSELF);
        let number = lock(&self.lanes).number(seat, unit);
        let filed = match seat.number {
            0 => unit.to_owned(),
            beside => format!("{unit}{BESIDE}{beside}"),
        };
        let prefix = self.clerk.branches().filter(|_| unit != RUN_ITSELF);
        let branch = prefix.map(|prefix| Branch::of_unit(prefix, unit)).transpose();
        let branch = branch.map_err(|error| Trouble::defect(&error.to_string()))?;
        let owner = (self.run.as_str(), filed.as_str());
        Ok(self.store.ensure_lane_on(number, base, owner, branch.as_ref(), when)?)
    }

    /// Where new work begins: where the branch is, or on top of what waits for it, or where the branch is to be made.
    ///
    /// # Errors
    ///
    /// When there is no such place.
    pub(crate) fn beginning(&self) -> Result<Oid, Trouble> {
        match (self.store.beginning(&self.run, &self.setup.target), &self.setup.made_from) {
            (Err(RepoError::NoSuchBranch { .. }), Some(from)) => Ok(from.clone()),
            (found, _) => Ok(found?),
        }
    }

    /// Whose turn it is in a lane.
    pub(crate) fn turn(&self, seat: Seat) -> Arc<RwLock<()>> {
        lock(&self.turns).entry(seat).or_default().clone()
    }

    /// Gives every lane of the run back to the pool, and lets go of what its effects kept: for a run that is over.
    ///
    /// # Errors
    ///
    /// When a lane cannot be dealt with. What is in it is safe.
    pub fn tidy_up(&self, run: &Run, books: &Books, now: Stamp) -> Result<Paper, Trouble> {
        let pool = self.store.pool()?.into_iter();
        let (mut paper, mut seen) = (Paper::default(), BTreeSet::new());
        for lane in pool.filter_map(|pooled| pooled.lane).filter(|lane| lane.run == self.run) {
            let landed = match lane.unit.as_str() {
                RUN_ITSELF => run.has_landed(),
                unit => run.unit_named(unit).is_some_and(|unit| unit.landed),
            };
            let saved = self.store.release_as(&lane, landed, when(now))?;
            let saved = saved.map(|saved| saved.commit.to_string());
            let unit = Some(lane.unit.as_str()).filter(|unit| *unit != RUN_ITSELF);
            let built = if landed || saved.is_some() { None } else { self.built(books, unit)? };
            let done = unit.and_then(|unit| run.unit_named(unit)).is_some_and(|it| !is_undone(&it));
            if let Some(built) = built.as_ref().filter(|_| !done) {
                self.keep_built(&lane.unit, built)?;
            }
            seen.insert(lane.unit.clone());
            let kept = saved.or(built).filter(|_| !landed);
            paper.notes.extend(kept.map(|commit| Note::Kept { unit: lane.unit, commit }));
        }
        // Another unit may have had the lane of one that is stuck: what was built of that is kept as well.
        for unit in run.units().filter(|unit| !unit.landed && is_undone(unit)) {
            if seen.contains(&*unit.id) {
                continue;
            }
            if let Some(commit) = self.built(books, Some(&unit.id))? {
                self.keep_built(&unit.id, &commit)?;
                paper.notes.push(Note::Kept { unit: unit.id.to_string(), commit });
            }
        }
        let quarters = self.all_quarters();
        isolation::remove(&quarters).map_err(|error| Trouble::io("tidy up", &quarters, &error))?;
        let desks = self.desks();
        match std::fs::remove_dir_all(&desks) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Trouble::io("tidy up", &desks, &error))
            }
            _ => Ok(paper),
        }
    }

    /// The commit with what was built of a unit, if that is anything.
    fn built(&self, books: &Books, unit: Option<&str>) -> Result<Option<String>, Trouble> {
        Ok(match books.stands(unit) {
            Some((base, built)) if self.differ(base, built)? => Some(built.to_owned()),
            _ => None,
        })
    }

    /// Has what was built of a unit that did not land be named among what is kept.
    fn keep_built(&self, unit: &str, commit: &str) -> Result<(), Trouble> {
        let Ok(commit) = Oid::parse(commit) else { return Ok(()) };
        Ok(self.store.keep_built(&self.run, unit, &commit)?)
    }

    /// The units that have or had a lane last.
    pub(crate) fn lane_units(&self) -> BTreeSet<String> {
        lock(&self.lanes).units.values().cloned().collect()
    }

    /// Takes lanes out of use that nobody has, or whose unit is over. Nobody gets one of them before it is given back.
    pub(crate) fn take_idle(&self, over: impl Fn(&str) -> bool) -> Vec<u32> {
        let mut lanes = lock(&self.lanes);
        let LaneTable { owned, units, free, .. } = &mut *lanes;
        let mut idle = std::mem::take(free);
        owned.retain(|_, number| {
            let stays = units.get(number).is_none_or(|unit| !over(unit));
            if !stays {
                idle.push(*number);
            }
            stays
        });
        idle
    }

    /// Gives them back; one that is no longer there is made when it is needed.
    pub(crate) fn give_back(&self, idle: Vec<u32>) {
        lock(&self.lanes).free.extend(idle);
    }

    fn differ(&self, one: &str, other: &str) -> Result<bool, Trouble> {
        let (Ok(one), Ok(other)) = (Oid::parse(one), Oid::parse(other)) else { return Ok(false) };
        Ok(one != other && !self.store.changes(&one, &other)?.is_empty())
    }

    /// A clean checkout of a commit.
    pub(crate) fn bench(&self, commit: &Oid) -> Result<Bench<'_>, Trouble> {
        let number = first_free(&self.benches);
        match self.store.checkout(number, commit) {
            Ok(checkout) => Ok(Bench { shop: self, checkout }),
            Err(error) => {
                lock(&self.benches).remove(&number);
                Err(error.into())
            }
        }
    }

    /// Quarters of one's own.
    pub(crate) fn quarters(&self) -> Result<Quarters<'_>, Trouble> {
        let number = first_free(&self.quarters);
        let path = self.all_quarters().join(number.to_string());
        self.made(Quarters {
            shop: self,
            number: Some(number),
            path,
            ports: Ports::lease(),
            stays: false,
        })
    }

    /// The quarters of an agent: whoever goes on with what it did after we are gone finds them by its name.
    pub(crate) fn quarters_of(&self, name: &str) -> Result<Quarters<'_>, Trouble> {
        let path = self.quarters_at(name);
        self.made(Quarters { shop: self, number: None, path, ports: Ports::lease(), stays: false })
    }

    /// Where they are.
    pub(crate) fn quarters_at(&self, name: &str) -> PathBuf {
        self.all_quarters().join(name)
    }

    /// The same, as they were left behind.
    pub(crate) fn quarters_left(&self, name: &str) -> Option<Quarters<'_>> {
        let path = self.quarters_at(name);
        let there = isolation::are_quarters(&path);
        there.then(|| Quarters {
            shop: self,
            number: None,
            path,
            ports: Ports::lease(),
            stays: false,
        })
    }

    /// Gives quarters another name: who had that has it no longer.
    pub(crate) fn rename_quarters(&self, from: &str, to: &str) -> Result<(), Trouble> {
        let (from, to) = (self.quarters_at(from), self.quarters_at(to));
        isolation::remove(&to).map_err(|error| Trouble::io("remove", &to, &error))?;
        std::fs::rename(&from, &to).map_err(|error| Trouble::io("rename", &from, &error))
    }

    /// Gives quarters up that somebody has left.
    pub(crate) fn give_up_quarters(&self, name: &str) -> Result<(), Trouble> {
        let path = self.quarters_at(name);
        isolation::remove(&path).map_err(|error| Trouble::io("remove", &path, &error))
    }

    /// Gives up the quarters whose names begin like this.
    pub(crate) fn give_up_all_quarters(&self, begins: &str) -> Result<(), Trouble> {
        let Ok(entries) = std::fs::read_dir(self.all_quarters()) else { return Ok(()) };
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        names.filter(|name| name.starts_with(begins)).try_for_each(|it| self.give_up_quarters(&it))
    }

    fn made<'q>(&self, quarters: Quarters<'q>) -> Result<Quarters<'q>, Trouble> {
        isolation::make_quarters(&quarters.path)
            .map_err(|error| Trouble::io("make", &quarters.path, &error))?;
        Ok(quarters)
    }

    fn all_quarters(&self) -> PathBuf {
        self.dir.join("quarters").join(&self.run)
    }

    /// Where desks stand: what effects are about to report lies there.
    pub(crate) fn desks(&self) -> PathBuf {
        self.dir.join("effects").join(&self.run)
    }

    /// Where pictures are kept that the browser took for the run, for people to look at. The journal has them too.
    pub(crate) fn pictures(&self) -> PathBuf {
        self.dir.join("pictures").join(&self.run)
    }

    /// A desk of one's own. Like lanes they are used again: making a file costs more than writing it.
    pub(crate) fn desk(&self) -> Result<Desk, Trouble> {
        let desks = self.desks();
        std::fs::create_dir_all(&desks).map_err(|error| Trouble::io("make", &desks, &error))?;
        let number = first_free(&self.desks_in_use);
        let in_use = self.desks_in_use.clone();
        Ok(Desk { in_use, number, path: desks.join(number.to_string()) })
    }

    /// Has something written down, and goes on.
    pub(crate) fn post(&self, paper: Paper) {
        // Whoever is no longer there to take it down has stopped this effect too.
        let (written, _nobody_waits) = channel();
        let _ = self.inbox.send(Message::Note(Box::new(paper), written));
    }

    /// Has something written down, and waits until it is.
    pub(crate) fn write_down(&self, paper: Paper) -> Result<(), Stopped> {
        let (written, wait) = channel();
        self.inbox.send(Message::Note(Box::new(paper), written)).map_err(|_| Stopped)?;
        wait.recv().map_err(|_| Stopped)
    }
}

/// The date that everything made for an effect carries.
pub(crate) fn when(since: Stamp) -> When {
    When::utc(u64::try_from(since.wall_ms / 1_000).unwrap_or(0))
}

/// What is behind a lock. A thread that panicked while it held one left nothing half done: every change is one step.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The loop no longer wants this effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stopped;

/// Stops an effect, from any thread.
#[derive(Clone, Default)]
pub(crate) struct Brake {
    state: Arc<Mutex<BrakeState>>,
}

#[derive(Default)]
struct BrakeState {
    pulled: bool,
    child: Option<Arc<Child>>,
    alarm: Option<Box<dyn FnOnce() + Send>>,
    /// What runs beside that.
    beside: Vec<Child>,
}

/// Something that runs beside what an effect does, until this is dropped.
pub(crate) struct Beside {
    brake: Brake,
    child: Child,
}

impl Drop for Beside {
    fn drop(&mut self) {
        self.child.stop();
        // Where it was at work is given to somebody else next.
        let _ = self.child.wait();
        let own = self.child.started();
        lock(&self.brake.state).beside.retain(|child| child.started() != own);
    }
}

impl Brake {
    /// Stops what runs, and whatever would run next.
    pub(crate) fn pull(&self) {
        let (child, beside, alarm) = {
            let mut state = lock(&self.state);
            state.pulled = true;
            (state.child.take(), std::mem::take(&mut state.beside), state.alarm.take())
        };
        if let Some(child) = child {
            child.stop();
        }
        for child in beside {
            child.stop();
        }
        if let Some(alarm) = alarm {
            alarm();
        }
    }

    /// Has this done when it is pulled, or now if it was: for who waits for something else than a program.
    pub(crate) fn on_pull(&self, alarm: impl FnOnce() + Send + 'static) {
        let mut state = lock(&self.state);
        if state.pulled {
            drop(state);
            alarm();
        } else {
            state.alarm = Some(Box::new(alarm));
        }
    }

    /// Has something stopped as well that runs beside what the effect does.
    pub(crate) fn hold(&self, child: Child) -> Beside {
        {
            let mut state = lock(&self.state);
            if state.pulled {
                child.stop();
            } else {
                state.beside.push(child.clone());
            }
        }
        Beside { brake: self.clone(), child }
    }

    /// Whether it was pulled.
    pub(crate) fn is_pulled(&self) -> bool {
        lock(&self.state).pulled
    }

    /// Runs a command to its end, unless stopped.
    pub(crate) fn run(
        &self,
        spawner: &Spawner,
        command: Command,
    ) -> Result<Result<Finished, Stopped>, Trouble> {
        self.run_and(spawner, command, |_| {})
    }

    /// The same, and hands on what can be stopped as soon as it runs.
    pub(crate) fn run_and(
        &self,
        spawner: &Spawner,
        command: Command,
        runs: impl FnOnce(&Arc<Child>),
    ) -> Result<Result<Finished, Stopped>, Trouble> {
        if self.is_pulled() {
            return Ok(Err(Stopped));
        }
        let child = Arc::new(spawner.spawn(command)?);
        {
            let mut state = lock(&self.state);
            state.child = Some(child.clone());
            if state.pulled {
                child.stop();
            }
        }
        runs(&child);
        let finished = child.wait()?;
        lock(&self.state).child = None;
        if self.is_pulled() { Ok(Err(Stopped)) } else { Ok(Ok(finished)) }
    }
}

/// Git, started by the one room that starts things.
pub struct GitRun(pub Spawner);

/// Git does what it has to do or is stuck.
const GIT_WALL: Duration = Duration::from_secs(600);

impl windlass_repo::Run for GitRun {
    fn run(&self, call: &Call) -> io::Result<windlass_repo::Output> {
        let mut env = Env::empty();
        for (name, value) in &call.env {
            env = env.set(name.clone(), value.clone());
        }
        let limits =
            Limits { wall: Some(GIT_WALL), grace: Duration::from_secs(2), ..Limits::default() };
        let command = Command::new(call.program.clone(), call.dir.clone())
            .args(call.args.iter().cloned())
            .env(env)
            .stdin(Stdin::Bytes(call.stdin.clone()))
            .stdout(Output::whole())
            .stderr(Output::keep(32 * 1024, 32 * 1024))
            .limits(limits)
            // A git that is killed leaves its locks behind, also in the person's repository.
            .asked_when_orphaned();
        let finished = self.0.run(command).map_err(io::Error::other)?;
        let code = match finished.ending {
            Ending::Exited(code) => Some(code),
            _ => None,
        };
        Ok(windlass_repo::Output {
            code,
            stdout: finished.stdout.whole().map_err(io::Error::other)?,
            stderr: finished.stderr.text().map_err(io::Error::other)?,
        })
    }
}
