//! The queue: where landings that bring a proof wait for each other.
//!
//! It is a group commit. Whoever comes leaves a ticket; one of those who wait leads: it takes every ticket there is,
//! decides about them (`effect/train.rs` says how), and hands the lead on as soon as its own is decided. So there is
//! no thread that serves the queue, and nothing is polled: who comes while checks run goes with the next train.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use windlass_core::run::EffectId;
use windlass_repo::{Oid, Request};

use crate::effect::Job;
use crate::entry::Proof;
use crate::message::Trouble;
use crate::shop::{Brake, lock};

/// A landing that waits.
#[derive(Debug)]
pub(crate) struct Ticket {
    pub job: Job,
    pub request: Request,
    /// The checks of its proof.
    pub proof: Vec<String>,
}

impl Ticket {
    /// Whether both are proved by the same commands, and so may go with the same train.
    pub fn goes_with(&self, other: &Ticket) -> bool {
        self.proof == other.proof
            && self.job.effect.with == other.job.effect.with
            && self.request.branch == other.request.branch
    }
}

/// What was decided about a landing.
#[derive(Debug)]
pub(crate) enum Decided {
    /// The branch has it, or what waits for the branch.
    Landed {
        commit: Oid,
        /// How to take it, and why it was not put there.
        waits: Option<(String, String)>,
        proof: Arc<Proved>,
    },
    /// There was nothing to land.
    Nothing,
    /// It goes back to its lane, which is to be rebuilt on this tip.
    Turned { came: &'static str, tip: Oid, proof: Option<Arc<Proved>> },
    /// The run was cancelled, so it does not land.
    CalledOff,
    /// It may not land.
    Refused {
        /// Why.
        why: Trouble,
        /// What it would have landed on.
        tip: Oid,
    },
}

/// What the checks of a proof came to on a tree.
#[derive(Debug)]
pub(crate) struct Proved {
    pub tree: String,
    pub came: crate::entry::Check,
    pub checks: Vec<Proof>,
}

/// Where landings wait.
#[derive(Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    /// What was proved of late, so that nothing is run twice on the same tree.
    recent: Mutex<Vec<Arc<Proved>>>,
}

/// So much of what was proved is remembered: more than a train is ever cut into.
const RECENT: usize = 64;

#[derive(Default)]
struct State {
    /// First come first.
    tickets: Vec<Arc<Ticket>>,
    decided: BTreeMap<EffectId, Decided>,
    /// Who leads, and what stops the checks it runs.
    led: Option<(EffectId, Brake)>,
    /// The run was cancelled.
    off: bool,
}

/// What is next for one who waits.
pub(crate) enum Turn<'q> {
    /// It leads.
    Lead(Lead<'q>),
    /// It has been decided about.
    Decided(Decided),
    /// It was stopped.
    Out,
}

/// A place in the queue; given up when this is dropped.
pub(crate) struct Place<'q> {
    queue: &'q Queue,
    id: EffectId,
    /// Somebody was there before.
    pub waits: bool,
}

/// The lead; handed on when this is dropped.
pub(crate) struct Lead<'q> {
    queue: &'q Queue,
    /// Stops the checks.
    pub brake: Brake,
}

impl Queue {
    /// Leaves a ticket. Whoever pulls the brake of that landing takes it out again.
    pub fn enter(self: &Arc<Self>, ticket: Ticket, brake: &Brake) -> Place<'_> {
        let id = ticket.job.id;
        let mut state = lock(&self.state);
        let waits = !state.tickets.is_empty() || state.led.is_some();
        state.tickets.push(Arc::new(ticket));
        drop(state);
        let queue = Arc::clone(self);
        brake.on_pull(move || queue.stopped(id));
        Place { queue: self, id, waits }
    }

    /// Nothing more lands: the run was cancelled.
    pub fn call_off(&self) {
        let mut state = lock(&self.state);
        state.off = true;
        let checks = state.led.as_ref().map(|(_, brake)| brake.clone());
        drop(state);
        if let Some(checks) = checks {
            checks.pull();
        }
        self.changed.notify_all();
    }

    /// Whether it was.
    pub fn is_off(&self) -> bool {
        lock(&self.state).off
    }

    fn stopped(&self, id: EffectId) {
        let state = lock(&self.state);
        let checks = state.led.as_ref().filter(|(leads, _)| *leads == id);
        let checks = checks.map(|(_, brake)| brake.clone());
        drop(state);
        if let Some(checks) = checks {
            checks.pull();
        }
        self.changed.notify_all();
    }

    /// Remembers what was proved.
    pub fn remember(&self, proved: Arc<Proved>) {
        let mut recent = lock(&self.recent);
        if recent.len() == RECENT {
            recent.remove(0);
        }
        recent.push(proved);
    }

    /// What is remembered of a tree.
    pub fn known(&self, tree: &str) -> Vec<Proof> {
        let recent = lock(&self.recent);
        let own = recent.iter().filter(|proved| proved.tree == tree);
        own.flat_map(|proved| proved.checks.iter().cloned()).collect()
    }
}

impl<'q> Place<'q> {
    /// Waits until it has been decided about, until it leads, or until it is stopped.
    pub fn turn(&self, brake: &Brake) -> Turn<'q> {
        let mut state = lock(&self.queue.state);
        loop {
            if let Some(decided) = state.decided.remove(&self.id) {
                return Turn::Decided(decided);
            }
            if brake.is_pulled() {
                return Turn::Out;
            }
            if state.led.is_none() {
                let brake = Brake::default();
                state.led = Some((self.id, brake.clone()));
                return Turn::Lead(Lead { queue: self.queue, brake });
            }
            state = self.queue.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.queue.state);
        state.tickets.retain(|ticket| ticket.job.id != self.id);
        state.decided.remove(&self.id);
    }
}

impl Lead<'_> {
    /// The landings that may go with the next train: the first that waits, and all that go with it.
    pub fn tickets(&self) -> Vec<Arc<Ticket>> {
        let state = lock(&self.queue.state);
        let Some(first) = state.tickets.first() else { return Vec::new() };
        state.tickets.iter().filter(|ticket| ticket.goes_with(first)).cloned().collect()
    }

    /// Decides about one of them. One that has left the queue meanwhile finds out another way.
    pub fn decide(&self, id: EffectId, decided: Decided) {
        let mut state = lock(&self.queue.state);
        let before = state.tickets.len();
        state.tickets.retain(|ticket| ticket.job.id != id);
        if state.tickets.len() < before {
            state.decided.insert(id, decided);
        }
        drop(state);
        self.queue.changed.notify_all();
    }
}

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        lock(&self.queue.state).led = None;
        self.queue.changed.notify_all();
    }
}
