//! Somebody or something that gets in between two calls of git, or only looks on.

use std::{
    io,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
    },
};

use windlass_repo::{Call, Git, Output, Repository, Run, Settings, StdRun, Store};

use crate::scratch::Scratch;

/// Starts programs until a certain one; there it does something else.
pub struct Meddling {
    at: &'static str,
    how: How,
    scratch: PathBuf,
    over: AtomicBool,
}

#[derive(Clone, Copy)]
pub enum How {
    /// Runs it, does this, and goes on.
    After(fn(&Scratch)),
    /// Does this instead of it, and fails once.
    FailsHalfWay(fn(&Scratch)),
    /// Does this instead of it, and starts nothing ever again: as if the machine went down.
    DiesHalfWay(fn(&Scratch)),
    /// Runs it, and starts nothing ever again.
    DiesAfter,
}

impl Run for Meddling {
    fn run(&self, call: &Call) -> io::Result<Output> {
        let dead = matches!(self.how, How::DiesHalfWay(_) | How::DiesAfter);
        if self.over.load(Ordering::SeqCst) && dead {
            return Err(io::Error::other("dead"));
        }
        if call.name != self.at || self.over.swap(true, Ordering::SeqCst) {
            return StdRun.run(call);
        }
        let scratch = Scratch::at(&self.scratch);
        match self.how {
            How::After(meddle) => {
                let output = StdRun.run(call);
                meddle(&scratch);
                output
            }
            How::FailsHalfWay(meddle) | How::DiesHalfWay(meddle) => {
                meddle(&scratch);
                Err(io::Error::other("no space left on device"))
            }
            How::DiesAfter => StdRun.run(call),
        }
    }
}

/// The store of a scratch, with somebody meddling.
pub fn meddled_store(scratch: &Scratch, at: &'static str, how: How) -> Store {
    let run = Meddling { at, how, scratch: scratch.dir.clone(), over: AtomicBool::new(false) };
    store_run_by(scratch, Arc::new(run))
}

/// Notes every call, and makes it.
#[derive(Default)]
pub struct Noting(Mutex<Vec<Call>>);

impl Noting {
    pub fn calls(&self) -> MutexGuard<'_, Vec<Call>> {
        self.0.lock().expect("no panic")
    }
}

impl Run for Noting {
    fn run(&self, call: &Call) -> io::Result<Output> {
        self.calls().push(call.clone());
        StdRun.run(call)
    }
}

/// The store of a scratch, and what it has git do.
pub fn noted_store(scratch: &Scratch) -> (Store, Arc<Noting>) {
    let run = Arc::new(Noting::default());
    (store_run_by(scratch, run.clone()), run)
}

fn store_run_by(scratch: &Scratch, run: Arc<dyn Run>) -> Store {
    let git = Git::find(run, scratch.host()).expect("git");
    let repository = Repository::find(&git, &scratch.top).expect("a repository");
    Store::open(repository, &scratch.dir.join("state"), Settings::default()).expect("a store")
}
