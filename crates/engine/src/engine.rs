//! The one loop: takes what reaches it, lets the core decide, writes that down, and then does what is wanted.
//!
//! Nothing is done on the strength of what is not in the journal yet. Nothing here polls: the loop sleeps until a
//! message comes or the run's next deadline is due.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use windlass_core::run::{
    Answer, Broken, EffectId, Input, OpenGate, Recorded, Refused, Run, Stamp, Standing, decide,
};
use windlass_core::workflow::RunOutcome;
use windlass_journal::{Batch, Journal, RunId};

use crate::books::Books;
use crate::clock::{Clock, wall_ms};
use crate::entry::{Entry, Note, Noted, Unreadable};
use crate::foresight;
use crate::gate::{self, Reception};
use crate::message::{Done, Face, Hands, Message, Paper, Patience, Trouble};
use crate::shop::Desk;

/// How often the wall clock is looked at while a provider is waited for.
const LOOK_AT_THE_CLOCK: Duration = Duration::from_secs(60);

/// So many entries at least between two snapshots.
const SNAPSHOT_EVERY: u64 = 500;

/// A snapshot is as large as the run is long: where there is one only when a run is longer by this part of itself, what
/// they cost for each entry stays the same.
const SNAPSHOT_PART: u64 = 16;

/// The entry at which the next snapshot is due.
fn next_snapshot(last: u64) -> u64 {
    last + SNAPSHOT_EVERY.max(last / SNAPSHOT_PART)
}

/// How a run is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// It stands so, and nothing more can be done now.
    Standing(Standing),
    /// The process was asked to end; the run goes on when it is resumed.
    Interrupted,
}

/// Why the loop cannot go on. Nothing that was acknowledged is lost.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The journal cannot be written or read.
    #[error(transparent)]
    Journal(#[from] windlass_journal::Error),
    /// What it holds makes no run.
    #[error(transparent)]
    Broken(#[from] Broken),
    /// An entry of it cannot be read.
    #[error(transparent)]
    Entry(#[from] Unreadable),
    /// The core refused what it may not refuse.
    #[error("the run cannot go on: {0}")]
    Refused(#[from] Refused),
    /// Something about the world that is neither an agent's doing nor the work's. The run goes on when it is resumed.
    #[error("{0}")]
    Trouble(#[from] Trouble),
    /// Everybody who could have sent something is gone.
    #[error("the loop has been left alone: this is a defect of Windlass, please report it")]
    Alone,
}

/// A run with its journal.
pub struct Engine<'j> {
    journal: &'j Journal,
    id: RunId,
    run: Run,
    books: Books,
    /// Entries in the journal.
    entries: u64,
    snapshot_at: u64,
    clock: Clock,
    /// What is not written down yet.
    batch: Vec<Entry>,
    blobs: Vec<Vec<u8>>,
    /// Where that lies meanwhile.
    desks: Vec<Desk>,
    /// Whether a unit waits for an earlier one that would be in conflict with it.
    serialises: bool,
}

/// The name of the form that snapshots have: another version of a run is another form.
const SNAPSHOT: &str = concat!("run-", env!("CARGO_PKG_VERSION"));

/// What a snapshot holds.
#[derive(Serialize, Deserialize)]
struct Frozen {
    run: Run,
    books: Books,
    at: Stamp,
}

impl<'j> Engine<'j> {
    /// Begins a run: what `start` of the core decided is written down first.
    ///
    /// # Errors
    ///
    /// When it cannot be written down.
    pub fn begin(
        journal: &'j Journal,
        id: RunId,
        meta: &[u8],
        events: Vec<Recorded>,
    ) -> Result<Self, EngineError> {
        let run = windlass_core::run::fold(&events)?;
        let at = events.last().map_or(Stamp::default(), |last| last.at);
        let entries: Vec<Entry> =
            events.into_iter().map(|event| Entry::Event(Box::new(event))).collect();
        let mut bytes = Vec::new();
        for entry in &entries {
            bytes.push(entry.bytes()?);
        }
        let count = bytes.len() as u64;
        let mut batch = Batch::new(wall_ms());
        batch.create_run(id.clone(), meta.to_vec()).append(id.clone(), 0, bytes);
        journal.commit(&batch)?;
        Ok(Engine {
            journal,
            id,
            run,
            books: Books::default(),
            entries: count,
            snapshot_at: count,
            clock: Clock::from(at),
            batch: Vec::new(),
            blobs: Vec::new(),
            desks: Vec::new(),
            serialises: false,
        })
    }

    /// Takes a run up from its journal.
    ///
    /// # Errors
    ///
    /// When the journal is damaged or makes no run.
    pub fn resume(journal: &'j Journal, id: RunId) -> Result<Self, EngineError> {
        let frozen = journal.latest_snapshot(&id, SNAPSHOT).and_then(|snapshot| {
            // A snapshot is a convenience: one that cannot be read is as if there were none.
            let frozen: Frozen = rmp_serde::from_slice(&snapshot.bytes).ok()?;
            Some((snapshot.seq, frozen))
        });
        let (from, mut run, mut books, mut last) = match frozen {
            // It stands for all entries up to and with the one it is numbered by.
            Some((seq, Frozen { run, books, at })) => (seq + 1, Some(run), books, at),
            None => (0, None, Books::default(), Stamp::default()),
        };
        let mut entries = from;
        for entry in journal.read(&id, from)? {
            let entry = entry?;
            entries = entry.seq + 1;
            match Entry::read(&entry.bytes)? {
                Entry::Note(noted) => {
                    last = noted.at;
                    books.enter(&noted.note);
                }
                Entry::Event(recorded) => {
                    last = recorded.at;
                    match &mut run {
                        Some(run) if run.seq() != recorded.seq => {
                            let (expected, found) = (run.seq(), recorded.seq);
                            return Err(Broken::Gap { expected, found }.into());
                        }
                        Some(run) => run.evolve(&recorded),
                        None => {
                            let first = std::slice::from_ref(&*recorded);
                            run = Some(windlass_core::run::fold(first)?);
                        }
                    }
                    if let Some(run) = &run {
                        books.learn(&recorded.event, run);
                    }
                }
            }
        }
        let run = run.ok_or(Broken::Empty)?;
        Ok(Engine {
            journal,
            id,
            run,
            books,
            entries,
            snapshot_at: from,
            clock: Clock::from(last),
            batch: Vec::new(),
            blobs: Vec::new(),
            desks: Vec::new(),
            serialises: false,
        })
    }

    /// The run as it is.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// What the notes add up to.
    pub fn books(&self) -> &Books {
        &self.books
    }

    /// From now on a unit waits for an earlier one that would be in conflict with it, or does not.
    pub fn serialises(&mut self, serialises: bool) {
        self.serialises = serialises;
    }

    /// What an earlier process has begun and not finished: nobody knows how far it came.
    pub fn begun(&self) -> BTreeSet<EffectId> {
        let waits = |id: &EffectId| self.books.held_back().contains_key(id);
        self.run.wanted().filter(|id| !self.books.is_left(*id) && !waits(id)).collect()
    }

    /// Writes down that nobody has begun what is wanted, but for these.
    pub fn leave(&mut self, begun: &BTreeSet<EffectId>) {
        let effects: Vec<EffectId> = self.run.wanted().filter(|id| !begun.contains(id)).collect();
        if !effects.is_empty() {
            self.note(Paper::of(Note::Left { effects }));
        }
    }

    /// The time now.
    pub fn now(&self) -> Stamp {
        self.clock.now()
    }

    /// Lets the core decide, without doing anything about it yet.
    ///
    /// # Errors
    ///
    /// What the core refuses.
    pub fn decide(&mut self, input: Input) -> Result<(), Refused> {
        for recorded in decide(&self.run, self.clock.now(), input)? {
            self.run.evolve(&recorded);
            self.books.learn(&recorded.event, &self.run);
            self.batch.push(Entry::Event(Box::new(recorded)));
        }
        Ok(())
    }

    /// Takes a person's answer, with everything that they were shown and what they changed by hand, unless somebody has
    /// something against it.
    ///
    /// # Errors
    ///
    /// When nobody can tell what was changed. What the core or the clerk refuses is no error.
    pub fn answer(
        &mut self,
        mut answer: Answer,
        at: &Reception<'_>,
    ) -> Result<Result<(), Refused>, EngineError> {
        let Some(gate) = self.run.gate(answer.gate) else {
            return Ok(Err(Refused::NoSuchGate(answer.gate)));
        };
        // Asked before anything is done about what the person has changed.
        let option = answer.option.as_deref().unwrap_or_default();
        let refused = decide(&self.run, self.clock.now(), Input::Answer(answer.clone())).err();
        if let Some(refused) = refused.or_else(|| at.refuses(&gate, &self.run, option)) {
            return Ok(Err(refused));
        }
        let more = at.shows(&gate, &self.run, &self.books);
        let (subject, paper) = at.by_hand(&gate, &self.run, &self.books, self.clock.now())?;
        let mut own = Paper::default();
        let digest = own.keep(gate::shown(&gate, &more));
        answer.shown = digest.as_str().into();
        answer.subject = subject;
        if let Err(refused) = self.decide(Input::Answer(answer)) {
            return Ok(Err(refused));
        }
        own.notes.push(Note::Shown { gate: gate.id, shown: digest });
        self.note(own);
        self.note(paper);
        Ok(Ok(()))
    }

    /// Writes something down with what is decided next.
    pub fn note(&mut self, paper: Paper) {
        debug_assert_eq!(
            paper.missing(|id| self.journal.get(id).is_ok()),
            [""; 0],
            "a note names what nobody kept: `Paper::keep` does both"
        );
        let at = self.clock.now();
        let (notes, blobs) = paper.parts();
        for note in notes {
            self.books.enter(&note);
            self.batch.push(Entry::Note(Box::new(Noted { note, at })));
        }
        self.blobs.extend(blobs);
    }

    /// Makes everything decided so far durable, and only then shows it.
    ///
    /// # Errors
    ///
    /// When the journal cannot be written: then nothing may be done on its strength.
    pub fn commit(&mut self, face: &mut dyn Face) -> Result<(), EngineError> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let mut batch = Batch::new(wall_ms());
        for blob in &self.blobs {
            batch.blob(self.journal.stage(blob)?);
        }
        let mut bytes = Vec::new();
        for entry in &self.batch {
            bytes.push(entry.bytes()?);
        }
        let count = bytes.len() as u64;
        batch.append(self.id.clone(), self.entries, bytes);
        if self.entries + count >= next_snapshot(self.snapshot_at)
            && let Ok(frozen) = self.frozen()
        {
            batch.snapshot(self.id.clone(), SNAPSHOT, frozen);
            self.snapshot_at = self.entries + count;
        }
        self.journal.commit(&batch)?;
        self.entries += count;
        self.blobs.clear();
        self.desks.clear();
        for entry in std::mem::take(&mut self.batch) {
            face.entry(&entry, &self.run);
        }
        face.settled(&self.run);
        Ok(())
    }

    fn frozen(&self) -> Result<Vec<u8>, rmp_serde::encode::Error> {
        let (run, books) = (self.run.clone(), self.books.clone());
        rmp_serde::to_vec_named(&Frozen { run, books, at: self.clock.now() })
    }

    /// Goes on until nothing more can be done.
    ///
    /// # Errors
    ///
    /// When the journal cannot be written. What was acknowledged is safe; the run can be resumed.
    pub fn drive(
        &mut self,
        inbox: Receiver<Message>,
        hands: &mut dyn Hands,
        face: &mut dyn Face,
    ) -> Result<Left, EngineError> {
        let left = self.cycle(&inbox, hands, face);
        // Whoever waits for the loop must not wait any longer: nobody will answer.
        drop(inbox);
        hands.down();
        left
    }

    fn cycle(
        &mut self,
        inbox: &Receiver<Message>,
        hands: &mut dyn Hands,
        face: &mut dyn Face,
    ) -> Result<Left, EngineError> {
        let mut in_flight: BTreeSet<EffectId> = BTreeSet::new();
        if matches!(self.run.standing(), Standing::Parked(_)) {
            // A provider may serve again since we were away.
            self.decide(Input::Tick)?;
        }
        loop {
            self.hold_back(&in_flight);
            self.commit(face)?;
            self.reconcile(&mut in_flight, hands);
            hands.look_ahead(&self.run, &self.books);
            if let Some(standing) = self.at_rest(hands, face) {
                return Ok(Left::Standing(standing));
            }
            let Some(first) = self.next(inbox)? else {
                self.put_off();
                self.decide(Input::Tick)?;
                continue;
            };
            // Whatever else has come meanwhile shares the append.
            let more = std::iter::from_fn(|| inbox.try_recv().ok());
            let mut replies = Vec::new();
            for message in std::iter::once(first).chain(more) {
                match self.handle(message, &mut in_flight, hands)? {
                    Handled::Done => {}
                    Handled::Owes(reply) => replies.push(reply),
                    Handled::Ends(how) => {
                        self.leave(&in_flight);
                        self.commit(face)?;
                        return Ok(how?);
                    }
                }
            }
            self.commit(face)?;
            // Nobody is told that something was taken before it is durable.
            replies.into_iter().for_each(Reply::send);
        }
    }

    /// How the run stands, if nothing can go on and nobody is there who may answer.
    fn at_rest(&self, hands: &dyn Hands, face: &mut dyn Face) -> Option<Standing> {
        let standing = self.run.standing();
        standing.exit_code()?;
        let at = hands.reception();
        let shows = |gate: &OpenGate| at.shows(gate, &self.run, &self.books);
        let may_come =
            standing == Standing::Waiting && face.waits(&self.run, &shows) == Patience::Wait;
        (!may_come).then_some(standing)
    }

    /// Deals with one message; what comes of it is written down with what comes of the others.
    fn handle(
        &mut self,
        message: Message,
        in_flight: &mut BTreeSet<EffectId>,
        hands: &mut dyn Hands,
    ) -> Result<Handled, EngineError> {
        Ok(match message {
            Message::Done(done) => {
                hands.over(done.report.effect);
                self.done(*done, in_flight);
                Handled::Done
            }
            Message::Began(effect) => {
                // One that nobody wants any more is about to find that out.
                let _ = self.decide(Input::Began(effect));
                Handled::Done
            }
            Message::Trouble(id, trouble) => {
                hands.over(id);
                // One that nobody wants any more may meet what it likes.
                let is_wanted = in_flight.contains(&id);
                if is_wanted { Handled::Ends(Err(trouble)) } else { Handled::Done }
            }
            Message::Note(paper, written) => {
                self.note(*paper);
                Handled::Owes(Reply::Written(written))
            }
            Message::Answer(answer, reply) => {
                let taken = self.answer(*answer, &hands.reception())?;
                Handled::Owes(Reply::Taken(taken, reply))
            }
            Message::Wish { who, wish, reply } => {
                let taken = self.decide(Input::Control { who: who.into(), wish: *wish });
                Handled::Owes(Reply::Taken(taken, reply))
            }
            Message::Interrupt => Handled::Ends(Ok(Left::Interrupted)),
        })
    }

    /// The next message, or `None` when the next deadline is due.
    fn next(&self, inbox: &Receiver<Message>) -> Result<Option<Message>, EngineError> {
        let Some(due) = self.run.next_deadline() else {
            return inbox.recv().map(Some).map_err(|_| EngineError::Alone);
        };
        let mut wait = self.clock.until(due);
        if matches!(self.run.standing(), Standing::Parked(_)) {
            // The machine may have slept: the wall clock is looked at now and then.
            wait = wait.min(LOOK_AT_THE_CLOCK);
        }
        match inbox.recv_timeout(wait) {
            Ok(message) => Ok(Some(message)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(EngineError::Alone),
        }
    }

    fn done(&mut self, done: Done, in_flight: &mut BTreeSet<EffectId>) {
        let id = done.report.effect;
        in_flight.remove(&id);
        // What was cancelled may still report: the core calls that stale, and its notes are worth keeping.
        self.note(done.paper);
        self.desks.extend(done.desk);
        let _stale = self.decide(Input::Report(done.report));
    }

    /// Writes down what has to wait for an earlier unit, and what no longer has to: before it is begun, so that whoever
    /// takes the run up knows that nobody has.
    fn hold_back(&mut self, in_flight: &BTreeSet<EffectId>) {
        let mut waits = match self.serialises {
            true => foresight::held_back(&self.run, &self.books),
            false => BTreeMap::new(),
        };
        waits.retain(|id, _| !in_flight.contains(id));
        let before = self.books.held_back();
        let over: Vec<EffectId> =
            before.keys().filter(|id| !waits.contains_key(id)).copied().collect();
        waits.retain(|id, _| !before.contains_key(id));
        for effect in over {
            self.note(Paper::of(Note::LetGo { effect }));
            // It has all its time from now on. One that nobody wants any more needs none.
            let _stale = self.decide(Input::Began(effect));
        }
        for (effect, (unit, behind)) in waits {
            self.note(Paper::of(Note::HeldBack { effect, unit, behind }));
        }
    }

    /// The time of what waits has not begun.
    fn put_off(&mut self) {
        let waits: Vec<EffectId> = self.books.held_back().keys().copied().collect();
        for effect in waits {
            let _stale = self.decide(Input::Began(effect));
        }
    }

    /// Starts what is wanted and not in flight, ends what is in flight and not wanted.
    fn reconcile(&mut self, in_flight: &mut BTreeSet<EffectId>, hands: &mut dyn Hands) {
        let waits = self.books.held_back();
        let wanted: BTreeSet<EffectId> =
            self.run.wanted().filter(|id| !waits.contains_key(id)).collect();
        for id in in_flight.difference(&wanted) {
            hands.cancel(*id);
        }
        if self.run.outcome() == Some(RunOutcome::Cancelled) {
            hands.call_off();
        }
        for id in wanted.difference(in_flight) {
            if let Some(effect) = self.run.want(*id) {
                hands.start(*id, effect, &self.run, &self.books);
            }
        }
        *in_flight = wanted;
    }

    /// What a later process has to know about this one.
    pub fn taken_up(&mut self, target: &str, isolation: String) {
        let note = Note::TakenUp {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            target: target.to_owned(),
            isolation: Some(isolation),
        };
        self.note(Paper::of(note));
    }
}

/// What came of a message.
#[must_use]
enum Handled {
    /// Nobody waits for anything.
    Done,
    /// Somebody waits, and is told once it is durable.
    Owes(Reply),
    /// The loop ends.
    Ends(Result<Left, Trouble>),
}

/// What somebody waits for.
enum Reply {
    Written(std::sync::mpsc::Sender<()>),
    Taken(Result<(), Refused>, std::sync::mpsc::Sender<Result<(), Refused>>),
}

impl Reply {
    fn send(self) {
        // Whoever asked may have gone away: what was decided stands all the same.
        let _ = match self {
            Reply::Written(to) => to.send(()).is_ok(),
            Reply::Taken(taken, to) => to.send(taken).is_ok(),
        };
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use windlass_core::lang::{Catalogue, load};
    use windlass_core::run::{Start, start};
    use windlass_journal::{Holder, Lock, Repository};

    use super::*;

    /// Lets a test act on a run that has just begun.
    fn begun(act: impl FnOnce(&mut Engine<'_>)) {
        let dir = tempfile::tempdir().unwrap();
        let lock =
            Lock::take(&dir.path().join("state"), Holder::this_process("a test", 0)).unwrap();
        let journal = Journal::open(&lock, &Repository::known_at(dir.path())).unwrap();
        let flow = "workflow = 'one'\nabout = 'x'\n\
                    [always]\ncrashed = 'pause'\ntimed_out = 'pause'\ninvalid = 'pause'\n\
                    [[intake]]\nstage = 'list'\nread = 'tasks'\n\
                    on = { found = { to = 'end', add = { unit = 'tasks' } } }\n\
                    [[unit]]\nstage = 'do'\ngate = 'Well?'\non = { yes = 'done' }";
        let reads = "[read.tasks]\nverdicts = ['found']\nlists.tasks = {}";
        let reads = Catalogue::parse(reads).unwrap();
        let flow = Arc::new(load(flow, &reads).unwrap());
        let events =
            start(flow, Stamp::default(), Start { run: "one-1".into(), ..Start::default() });
        let id = "one-1".parse().unwrap();
        act(&mut Engine::begin(&journal, id, b"{}", events.unwrap()).unwrap());
    }

    #[cfg(debug_assertions)]
    #[test]
    #[should_panic(expected = "nobody kept")]
    fn a_note_that_names_what_nobody_kept_is_not_written_down() {
        begun(|engine| {
            let shown = windlass_journal::BlobId::of(b"never kept").to_string();
            engine.note(Paper::of(Note::Shown { gate: windlass_core::run::GateId(0), shown }));
        });
    }

    #[test]
    fn a_note_with_what_it_names_is_written_down() {
        begun(|engine| {
            let mut paper = Paper::default();
            let shown = paper.keep("kept");
            paper.notes.push(Note::Shown { gate: windlass_core::run::GateId(0), shown });
            engine.note(paper);
        });
    }

    /// A million entries take as much for each as ten thousand do.
    #[test]
    fn what_snapshots_cost_for_each_entry_does_not_grow_with_the_run() {
        let each = |entries: u64| {
            let due = std::iter::successors(Some(0), |last| Some(next_snapshot(*last)));
            due.take_while(|at| *at <= entries).sum::<u64>() / entries
        };
        assert!(each(1_000_000) <= each(10_000) * 2, "{} {}", each(1_000_000), each(10_000));
        assert_eq!(next_snapshot(0), 500, "and a short run is taken up quickly");
    }
}
