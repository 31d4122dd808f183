//! What a caller holds: the spawner, and its children.
//!
//! Both are handles to the one thread that does the work. A handle sends a request and, where
//! there is something to wait for, waits on a slot that the thread fills. If the thread should
//! ever end, every slot it has not filled is marked lost, so nobody waits for ever.

use std::{
    fmt, io,
    path::{Path, PathBuf},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
        mpsc::channel,
    },
    thread::{self, JoinHandle, ThreadId},
};

use rustix::{
    event::{EventfdFlags, eventfd},
    process::{getpid, set_child_subreaper},
};

use crate::{
    Command, Finished, Started,
    error::{Lost, RunError, SpawnError, StartError},
    family,
    keeper::Keeper,
    ledger::Ledger,
    minder::{Bell, Minder, Request},
    poller::WardId,
    token::{self, Brand},
};

/// Starts programs and looks after them. Copies are handles to the same thread.
#[derive(Clone)]
pub struct Spawner {
    desk: Arc<Desk>,
}

/// Where requests are handed in.
struct Desk {
    bell: Bell,
    brand: Brand,
    outer: Option<String>,
    next: AtomicU64,
    minder: ThreadId,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// Where the ledger is, if there is one.
    ledger: Option<PathBuf>,
    keeper: Mutex<Option<Keeper>>,
}

impl Spawner {
    /// Starts the thread, without a ledger: what a killed Windlass leaves behind could not be
    /// found again. For commands that only look at things.
    ///
    /// This makes the whole process a child subreaper: what its children leave behind becomes a
    /// child of this process, also what was started by other code in it.
    pub fn start() -> Result<Spawner, StartError> {
        Spawner::launch(None)
    }

    /// Starts the thread. Everything that it starts is noted in the ledger.
    pub fn start_with(ledger: Ledger) -> Result<Spawner, StartError> {
        Spawner::launch(Some(ledger))
    }

    fn launch(ledger: Option<Ledger>) -> Result<Spawner, StartError> {
        let unsupported = |what| move |source| StartError::Unsupported { what, source };
        set_child_subreaper(Some(getpid()))
            .map_err(|error| unsupported("hand orphans to Windlass")(error.into()))?;
        family::our_orphans().map_err(unsupported("list the children of a process"))?;
        let system = |step| move |source| StartError::System { step, source };
        let brand = Brand::draw().map_err(system("draw a random number"))?;
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let wake = eventfd(0, flags).map_err(|e| system("make an event")(e.into()))?;
        let wake = Arc::new(wake);
        let ledger = match ledger {
            Some(mut ledger) => {
                ledger.opened(brand)?;
                Some(ledger)
            }
            None => None,
        };
        let directory = ledger.as_ref().map(|ledger| ledger.directory().to_owned());
        let (requests, inbox) = channel();
        let (ready, is_ready) = channel();
        let bell = Bell { requests, wake };
        let own = bell.clone();
        let body = move || match Minder::new(inbox, own, brand, ledger) {
            Ok(minder) => {
                // Nobody waits any more: then nobody needs a minder either, and it finds out.
                let _ = ready.send(Ok(()));
                minder.run();
            }
            Err(error) => {
                let _ = ready.send(Err(error));
            }
        };
        let thread = thread::Builder::new().name("processes".to_owned()).spawn(body);
        let thread = thread.map_err(system("start a thread"))?;
        let started = is_ready.recv().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()));
        started.map_err(system("wait for processes"))?;
        let own = std::env::var(token::VARIABLE).ok();
        Ok(Spawner {
            desk: Arc::new(Desk {
                bell,
                brand,
                outer: token::outer(own.as_deref()),
                next: AtomicU64::new(0),
                minder: thread.thread().id(),
                thread: Mutex::new(Some(thread)),
                ledger: directory,
                keeper: Mutex::new(None),
            }),
        })
    }

    /// Has what this process leaves behind swept up as soon as it is gone, however it goes. The program has to call
    /// [`keeper::called`](crate::keeper::called) first thing. Without a ledger there is nothing to go by.
    ///
    /// # Errors
    ///
    /// When nobody can be started. The next [sweep](crate::ledger::sweep) does it then.
    pub fn keep(&self, program: &Path) -> io::Result<()> {
        let Some(directory) = &self.desk.ledger else { return Ok(()) };
        let mut keeper = locked(&self.desk.keeper);
        if keeper.is_none() {
            *keeper = Some(Keeper::start(program, directory, self.desk.brand)?);
        }
        Ok(())
    }

    /// Starts a program. It is stopped when the last copy of its handle is dropped.
    pub fn spawn(&self, command: Command) -> Result<Child, SpawnError> {
        let (id, slot) = self.order(command)?;
        let started = slot.started()?;
        let handle = Handle { id, started, slot, desk: self.desk.clone() };
        Ok(Child { handle: Arc::new(handle) })
    }

    /// Starts a program and waits for its end: for short programs whose output is all that
    /// matters.
    pub fn run(&self, command: Command) -> Result<Finished, RunError> {
        let (_, slot) = self.order(command)?;
        slot.outcome()
    }

    fn order(&self, command: Command) -> Result<(WardId, Arc<Slot>), SpawnError> {
        if thread::current().id() == self.desk.minder {
            return Err(SpawnError::FromWatch);
        }
        let id = self.desk.next.fetch_add(1, Relaxed);
        let token = self.desk.brand.token(id);
        let order = Box::new(command.prepare(token, self.desk.outer.as_deref())?);
        let slot = Arc::new(Slot::default());
        let promise = Promise { slot: slot.clone() };
        self.desk.ask(Request::Spawn { id, order, promise });
        Ok((id, slot))
    }

    /// Stops everything that runs, waits until it has ended, and ends the thread. Nothing can be
    /// started afterwards, by any copy. Call it before the program exits: the kernel would end the children's
    /// first processes then, but not what those have started.
    pub fn shut_down(self) {
        self.desk.ask(Request::Close);
        if thread::current().id() == self.desk.minder {
            return;
        }
        if let Some(thread) = locked(&self.desk.thread).take() {
            // A panic there has reached everybody who waited for a child.
            let _ = thread.join();
        }
        if let Some(keeper) = locked(&self.desk.keeper).take() {
            keeper.dismiss();
        }
    }
}

impl Desk {
    fn ask(&self, request: Request) {
        self.bell.ask(request);
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        self.ask(Request::Abandon);
    }
}

/// A program that was started. Copies are handles to the same one.
#[derive(Clone)]
pub struct Child {
    handle: Arc<Handle>,
}

struct Handle {
    id: WardId,
    started: Started,
    slot: Arc<Slot>,
    desk: Arc<Desk>,
}

impl Child {
    /// The process id of its first process.
    pub fn pid(&self) -> i32 {
        self.handle.started.pid
    }

    /// What names its first process, also after its pid was used again.
    pub fn started(&self) -> Started {
        self.handle.started
    }

    /// Has it ended: TERM to all of it, and after the grace period KILL. Returns at once; does
    /// nothing if it has ended or is already being stopped.
    pub fn stop(&self) {
        self.handle.desk.ask(Request::Stop(self.handle.id));
    }

    /// Waits until nothing of it is left. Any number of threads may wait, any number of times.
    pub fn wait(&self) -> Result<Finished, Lost> {
        self.handle.slot.finished()
    }
}

impl fmt::Debug for Spawner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spawner").field("brand", &self.desk.brand).finish_non_exhaustive()
    }
}

impl fmt::Debug for Child {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Child").field("started", &self.handle.started).finish_non_exhaustive()
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if locked(&self.slot.state).finished.is_none() {
            self.desk.ask(Request::Stop(self.id));
        }
    }
}

/// Where the thread says what became of a request.
#[derive(Default)]
struct Slot {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    started: Option<Result<Started, SpawnError>>,
    finished: Option<Result<Finished, Lost>>,
}

impl Slot {
    fn started(&self) -> Result<Started, SpawnError> {
        let mut state = self.wait_while(|state| state.started.is_none());
        state.started.take().unwrap_or(Err(SpawnError::Closed))
    }

    fn finished(&self) -> Result<Finished, Lost> {
        let state = self.wait_while(|state| state.finished.is_none());
        state.finished.clone().unwrap_or(Err(Lost))
    }

    /// Both in one, for a caller who has nothing to do in between.
    fn outcome(&self) -> Result<Finished, RunError> {
        let mut state = self.wait_while(|state| state.finished.is_none());
        match state.started.take() {
            Some(Err(error)) => Err(error.into()),
            Some(Ok(_)) | None => Ok(state.finished.take().unwrap_or(Err(Lost))?),
        }
    }

    fn wait_while(&self, unsettled: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        let state = locked(&self.state);
        let settled = self.changed.wait_while(state, |state| unsettled(state));
        settled.unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread's side of a slot. A promise that is dropped unkept says so.
pub(crate) struct Promise {
    slot: Arc<Slot>,
}

impl Promise {
    pub(crate) fn running(&self, started: Started) {
        locked(&self.slot.state).started = Some(Ok(started));
        self.slot.changed.notify_all();
    }

    pub(crate) fn failed(self, error: SpawnError) {
        locked(&self.slot.state).started = Some(Err(error));
    }

    pub(crate) fn finished(self, finished: Finished) {
        locked(&self.slot.state).finished = Some(Ok(finished));
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        let mut state = locked(&self.slot.state);
        state.started.get_or_insert(Err(SpawnError::Closed));
        state.finished.get_or_insert(Err(Lost));
        drop(state);
        self.slot.changed.notify_all();
    }
}

/// What a thread that panicked has left there is whole: nothing is ever changed half.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_for_a_thread_that_is_gone() {
        let slot = Arc::new(Slot::default());
        let promise = Promise { slot: slot.clone() };
        let started = Started { pid: 1, at_ticks: 1 };
        promise.running(started);
        let waiter = {
            let slot = slot.clone();
            thread::spawn(move || slot.finished().map(drop))
        };
        // As the thread does when it panics.
        drop(promise);
        assert_eq!(waiter.join().unwrap(), Err(Lost));
        assert_eq!(slot.started().unwrap(), started);

        let slot = Arc::new(Slot::default());
        drop(Promise { slot: slot.clone() });
        assert!(matches!(slot.outcome(), Err(RunError::Spawn(SpawnError::Closed))));
    }

    #[test]
    fn handles_may_go_from_thread_to_thread() {
        fn may_go<T: Clone + Send + Sync + 'static>() {}
        may_go::<Spawner>();
        may_go::<Child>();
        may_go::<Finished>();
    }
}
