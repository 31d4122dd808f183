//! The auditor: keeps its own books from the events alone, and objects when the run's do not agree
//! or something happened that must not.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use windlass_core::{
    expr::{Expr, Name},
    run::{
        Amount, EffectId, Ended, Ending, Event, FrameId, GateId, Item, Moved, PolicyAnswer,
        Recorded, Run, Standing, Subject, UnitIx,
    },
    value::Value,
    workflow::{
        Errand, Kind, ListRef, Need, Order, RunOutcome, ScopeIx, Settled, Stage, StageIx,
        VerdictIx, Workflow,
    },
};

/// Something that must not happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The event at which it was seen.
    pub seq: u64,
    /// The invariant that does not hold.
    pub invariant: &'static str,
    /// What exactly.
    pub what: String,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "event {}: {}: {}", self.seq, self.invariant, self.what)
    }
}

type Check = Result<(), (&'static str, String)>;

macro_rules! hold {
    ($cond:expr, $invariant:literal, $($what:tt)*) => {
        if !$cond {
            return Err(($invariant, format!($($what)*)));
        }
    };
}

#[derive(Debug)]
struct FrameBook {
    scope: ScopeIx,
    unit: Option<usize>,
    stage: Option<StageIx>,
    /// A person, not a policy, gave the last answer.
    person: bool,
    /// The verdict it moves on was given before, for what was looked at then.
    upheld: bool,
    evidence: BTreeMap<StageIx, (Option<VerdictIx>, Option<Subject>)>,
    lists: BTreeMap<ListRef, Vec<Item>>,
}

#[derive(Debug)]
struct UnitBook {
    item: Item,
    started: bool,
    settled: Option<Settled>,
    /// What blocked it.
    because: Option<usize>,
    landings: u32,
    subject: Option<Subject>,
}

#[derive(Debug)]
struct FlightBook {
    frame: FrameId,
    stage: StageIx,
    reserved: Amount,
    /// What its lane held then, if anybody knew.
    subject: Option<Subject>,
}

/// The books.
#[derive(Debug)]
pub struct Auditor<'a> {
    flow: &'a Workflow,
    frames: BTreeMap<FrameId, FrameBook>,
    units: Vec<UnitBook>,
    unit_ids: BTreeMap<Arc<str>, usize>,
    run_subject: Option<Subject>,
    run_landings: u32,
    wanted_ever: BTreeSet<EffectId>,
    flights: BTreeMap<EffectId, FlightBook>,
    gates: BTreeMap<GateId, FrameId>,
    settled: Amount,
    reserved: Amount,
    overrun: bool,
    paused: bool,
    finishing: bool,
    ended: bool,
    seq: u64,
}

fn plus(a: Amount, b: Amount) -> Amount {
    Amount { cost_micros: a.cost_micros + b.cost_micros, tokens: a.tokens + b.tokens }
}

impl<'a> Auditor<'a> {
    /// Empty books.
    pub fn new(flow: &'a Workflow) -> Self {
        Auditor {
            flow,
            frames: BTreeMap::new(),
            units: Vec::new(),
            unit_ids: BTreeMap::new(),
            run_subject: None,
            run_landings: 0,
            wanted_ever: BTreeSet::new(),
            flights: BTreeMap::new(),
            gates: BTreeMap::new(),
            settled: Amount::default(),
            reserved: Amount::default(),
            overrun: false,
            paused: false,
            finishing: false,
            ended: false,
            seq: 0,
        }
    }

    /// Enters an event into the books, given the run before and after it.
    ///
    /// # Errors
    ///
    /// When something happened that must not.
    pub fn enter(
        &mut self,
        before: &Run,
        recorded: &Recorded,
        after: &Run,
    ) -> Result<(), Violation> {
        let seq = recorded.seq;
        let violation = |(invariant, what)| Violation { seq, invariant, what };
        self.order(recorded).map_err(violation)?;
        self.event(before, &recorded.event, after).map_err(violation)?;
        self.balance(after).map_err(violation)
    }

    fn order(&mut self, recorded: &Recorded) -> Check {
        hold!(!self.ended, "nothing after the end", "{:?}", recorded.event);
        hold!(recorded.seq == self.seq, "no gaps", "expected {}", self.seq);
        self.seq += 1;
        Ok(())
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each event, and nothing else")]
    fn event(&mut self, before: &Run, event: &Event, after: &Run) -> Check {
        match event {
            Event::Started(_) => self.open(FrameId(0), ScopeIx::INTAKE, None),
            Event::Opened { frame, scope, parent, .. } => {
                let unit = parent.and_then(|id| self.frames.get(&id)).and_then(|book| book.unit);
                self.open(*frame, *scope, unit);
            }
            Event::FinaleOpened { frame, outcome } => {
                hold!(self.flights.is_empty(), "the finale comes last", "effects are under way");
                hold!(*outcome != RunOutcome::Cancelled, "a cancelled run just ends", "");
                self.finishing = false;
                self.gates.clear();
                self.open(*frame, ScopeIx::FINALE, None);
            }
            Event::UnitStarted { unit, frame, .. } => self.unit_started(*unit, *frame)?,
            Event::UnitSettled { unit, how, because, by } => {
                self.settled_alone(*unit, *how, *because, by.is_some())?;
                self.drop_abandoned(after);
            }
            Event::Passed { frame, stage } => {
                self.belongs(*frame, *stage)?;
                let book = self.frames.get(frame);
                let unit = book.filter(|book| book.scope == ScopeIx::UNIT).and_then(|b| b.unit);
                if let (Some(at), None) = (unit, self.flow.stage(*stage).next) {
                    self.settle(at, Settled::Done)?;
                }
            }
            Event::Upheld { frame, stage, verdict } => self.upheld(*frame, *stage, *verdict)?,
            Event::Entered { frame, stage, count } => {
                self.belongs(*frame, *stage)?;
                if let Some(book) = self.frames.get_mut(frame) {
                    book.stage = Some(*stage);
                    book.evidence.remove(stage);
                }
                if let Some(count) = count {
                    self.counted(after, count.counter.at(), count.value)?;
                }
            }
            Event::Wanted { effect, frame, reserved, .. } => {
                self.wanted(before, *effect, *frame, *reserved)?;
                let stands = self.flights.get(effect).and_then(|flight| flight.subject.clone());
                let wanted = after.want(*effect).and_then(|effect| effect.subject);
                let same = stands == wanted;
                hold!(same, "an effect is about what its lane holds", "{effect:?}: {wanted:?}");
            }
            Event::Reported(ending) => self.reported(ending)?,
            Event::Asked { gate, frame, policy, concerns } => {
                self.asked(*gate, *frame, policy.as_ref(), concerns)?;
            }
            Event::Answered { .. } => self.answered(before, event)?,
            Event::Moved(moved) => self.moved(moved, after)?,
            Event::Overridden { frame, stage, by, .. } => {
                hold!(!by.reason.is_empty(), "an override has a reason", "{:?}", stage);
                self.belongs(*frame, *stage)?;
                if let Some(book) = self.frames.get_mut(frame) {
                    book.stage = Some(*stage);
                }
                self.drop_abandoned(after);
                self.resync_gates(after);
            }
            Event::Redone { frame, stage, .. } => {
                if let Some(book) = self.frames.get_mut(frame) {
                    book.evidence.remove(stage);
                }
                self.drop_abandoned(after);
                self.resync_gates(after);
            }
            Event::CancelAsked { .. } => {
                self.finishing = true;
                self.drop_abandoned(after);
                self.gates.clear();
            }
            Event::PauseAsked { .. } => self.paused = true,
            Event::ResumeAsked { .. } => self.paused = false,
            Event::CapsRaised { .. } => self.overrun = false,
            Event::Ended { .. } => {
                hold!(self.flights.is_empty(), "nothing is wanted after the end", "");
                self.ended = true;
            }
            Event::UnitWoken { .. }
            | Event::FellBack { .. }
            | Event::Unparked { .. }
            | Event::Began { .. }
            | Event::Held { .. }
            | Event::Resumed { .. }
            | Event::StopAsked { .. }
            | Event::Reordered { .. } => {}
        }
        Ok(())
    }

    /// A unit that settles without a move of its own.
    fn settled_alone(
        &mut self,
        unit: UnitIx,
        how: Settled,
        because: Option<UnitIx>,
        by_a_person: bool,
    ) -> Check {
        match how {
            Settled::Blocked => {
                let why = because.and_then(|ix| self.units.get(ix.0 as usize));
                let settled = why.and_then(|why| why.settled);
                let failed = settled.is_some_and(|how| how != Settled::Done);
                hold!(failed, "blocked for a reason", "{how:?} because of {because:?}");
            }
            Settled::Skipped => {
                hold!(by_a_person, "overrides are a person's", "skipped by nobody");
            }
            Settled::Done | Settled::Failed | Settled::Unfinished => {}
        }
        self.settle(unit.0 as usize, how)?;
        if let Some(book) = self.units.get_mut(unit.0 as usize) {
            book.because = because.map(|ix| ix.0 as usize);
        }
        Ok(())
    }

    /// What came to nothing and is to be tried again may start once more, and so may what it has blocked.
    fn tried_again(&mut self, at: usize) {
        let Some(book) = self.units.get_mut(at) else { return };
        let nothing =
            matches!(book.settled, Some(Settled::Failed | Settled::Skipped | Settled::Blocked));
        if !nothing || book.landings > 0 {
            return;
        }
        (book.started, book.settled, book.because, book.subject) = (false, None, None, None);
        for other in 0..self.units.len() {
            let book = &self.units[other];
            if book.settled == Some(Settled::Blocked) && book.because == Some(at) {
                self.tried_again(other);
            }
        }
    }

    /// A verdict that counts once more without being earned anew.
    fn upheld(&mut self, frame: FrameId, stage: StageIx, verdict: VerdictIx) -> Check {
        self.belongs(frame, stage)?;
        if let Some(book) = self.frames.get_mut(&frame) {
            book.stage = Some(stage);
            book.upheld = true;
        }
        let need = Need { stage, verdicts: vec![verdict] };
        let book = self.frames.get(&frame);
        let proved = book.is_some_and(|book| self.proved(book, &need));
        let name = &self.flow.stage(stage).name;
        let have = book.map(|book| (book.evidence.get(&stage), self.subject(book)));
        hold!(proved, "only a verdict that still holds is upheld", "{name}: {have:?}");
        Ok(())
    }

    /// A gate that is asked, or that a policy answers.
    fn asked(
        &mut self,
        gate: GateId,
        frame: FrameId,
        policy: Option<&PolicyAnswer>,
        concerns: &[Option<bool>],
    ) -> Check {
        let stage = self.stage_at(frame)?;
        let Kind::Gate(declared) = &stage.kind else {
            return Err(("only gates ask", stage.name.clone()));
        };
        hold!(concerns.len() == declared.concerns.len(), "concerns are recorded", "");
        let Some(policy) = policy else {
            self.gates.insert(gate, frame);
            return Ok(());
        };
        hold!(!declared.hard, "hard gates are a person's", "{}", stage.name);
        let quiet = concerns.iter().all(|fired| *fired == Some(false));
        let named = policy.name.is_none() || quiet;
        hold!(named, "a fired concern is a person's", "{}", stage.name);
        for case in &stage.verdict(policy.verdict).cases {
            let personal = !case.take.waive.is_empty() || case.take.reason;
            hold!(!personal, "overrides are a person's", "{}", stage.name);
        }
        self.person(frame, false);
        Ok(())
    }

    /// A person's answer; `before` is as it was when they gave it.
    fn answered(&mut self, before: &Run, event: &Event) -> Check {
        let Event::Answered { gate, verdict, who, shown, text, subject } = event else {
            return Ok(());
        };
        let Some(frame) = self.gates.remove(gate) else {
            return Err(("answers are to open gates", format!("{gate:?}")));
        };
        let name = self.stage_at(frame)?.verdict(*verdict).name.clone();
        let open = before.gate(*gate);
        let offered = open.is_some_and(|gate| gate.options.iter().any(|o| o.key == name));
        let free = name == "other" && text.is_some();
        hold!(offered || free, "an answer is one of the options", "{name}");
        hold!(!who.is_empty() && !shown.is_empty(), "who saw what is recorded", "{name}");
        self.person(frame, true);
        if let Some(subject) = subject {
            let unit = self.frames.get(&frame).and_then(|book| self.lane(book));
            match unit.and_then(|at| self.units.get_mut(at)) {
                Some(unit) => unit.subject = Some(subject.clone()),
                None => self.run_subject = Some(subject.clone()),
            }
        }
        Ok(())
    }

    fn open(&mut self, frame: FrameId, scope: ScopeIx, unit: Option<usize>) {
        let book = FrameBook {
            scope,
            unit,
            stage: None,
            person: false,
            upheld: false,
            evidence: BTreeMap::new(),
            lists: BTreeMap::new(),
        };
        self.frames.insert(frame, book);
    }

    fn person(&mut self, frame: FrameId, person: bool) {
        if let Some(book) = self.frames.get_mut(&frame) {
            book.person = person;
        }
    }

    fn stage_at(&self, frame: FrameId) -> Result<&'a Stage, (&'static str, String)> {
        self.frames
            .get(&frame)
            .and_then(|book| book.stage)
            .map(|ix| self.flow.stage(ix))
            .ok_or(("a frame is at a stage", format!("{frame:?}")))
    }

    fn belongs(&self, frame: FrameId, stage: StageIx) -> Check {
        let scope = self.frames.get(&frame).map(|book| book.scope);
        let here = scope == Some(self.flow.stage(stage).scope);
        hold!(here, "moves stay in their scope", "{}", self.flow.stage(stage).name);
        Ok(())
    }

    fn unit_started(&mut self, unit: UnitIx, frame: FrameId) -> Check {
        let at = unit.0 as usize;
        let Some(book) = self.units.get(at) else {
            return Err(("units are added first", format!("{unit:?}")));
        };
        hold!(!book.started && book.settled.is_none(), "a unit starts once", "{}", book.item.id);
        hold!(!self.finishing, "nothing starts while finishing", "{}", book.item.id);
        let others: Vec<&UnitBook> =
            self.units.iter().filter(|book| book.started && book.settled.is_none()).collect();
        match self.flow.order {
            Order::Listed => {
                hold!(others.is_empty(), "listed units go one by one", "{}", book.item.id);
            }
            Order::Depends => {
                for id in &book.item.depends {
                    let on = self.unit_ids.get(id).and_then(|at| self.units.get(*at));
                    let done = on.is_some_and(|on| on.settled == Some(Settled::Done));
                    hold!(done, "dependencies come first", "{} before {id}", book.item.id);
                }
            }
        }
        for other in others {
            let clash = overlap(&book.item.files, &other.item.files);
            let (a, b) = (&book.item.id, &other.item.id);
            hold!(!clash, "claims do not overlap", "{a} and {b}");
        }
        self.open(frame, ScopeIx::UNIT, Some(at));
        if let Some(book) = self.units.get_mut(at) {
            book.started = true;
        }
        Ok(())
    }

    fn settle(&mut self, at: usize, how: Settled) -> Check {
        let Some(book) = self.units.get_mut(at) else {
            return Err(("units are added first", format!("{at}")));
        };
        hold!(book.settled.is_none(), "a unit settles once", "{}", book.item.id);
        book.settled = Some(how);
        Ok(())
    }

    fn subject(&self, frame: &FrameBook) -> Option<&Subject> {
        match self.lane(frame) {
            Some(at) => self.units.get(at)?.subject.as_ref(),
            None => self.run_subject.as_ref(),
        }
    }

    fn lane(&self, frame: &FrameBook) -> Option<usize> {
        (frame.scope == ScopeIx::UNIT || frame.scope.is_child()).then_some(frame.unit).flatten()
    }

    fn wanted(
        &mut self,
        before: &Run,
        effect: EffectId,
        frame: FrameId,
        reserved: Amount,
    ) -> Check {
        hold!(self.wanted_ever.insert(effect), "nothing is wanted twice", "{effect:?}");
        hold!(!self.paused, "nothing new is wanted while paused", "{effect:?}");
        let stage = self.stage_at(frame)?;
        let Some(book) = self.frames.get(&frame) else {
            return Err(("effects belong to frames", format!("{frame:?}")));
        };
        hold!(
            !self.finishing || book.scope == ScopeIx::FINALE,
            "nothing new is wanted while finishing",
            "{}",
            stage.name
        );
        for need in &stage.needs {
            let met = before.passes_over(frame, need.stage) || self.proved(book, need);
            let giver = &self.flow.stage(need.stage).name;
            hold!(met, "nothing lands without its evidence", "{} without {giver}", stage.name);
        }
        if stage.kind.lands() {
            let landings = match self.lane(book) {
                Some(at) => self.units.get(at).map_or(0, |unit| unit.landings),
                None => self.run_landings,
            };
            hold!(landings == 0, "a unit lands at most once", "{}", stage.name);
            let mut others =
                self.flights.values().map(|flight| &self.flow.stage(flight.stage).kind);
            let alone = others.all(|kind| !kind.lands() || (kind.queues() && stage.kind.queues()));
            hold!(alone, "one landing at a time, but for the queue", "{}", stage.name);
        }
        let stage = book.stage.unwrap_or(StageIx(0));
        let subject = self.subject(book).cloned();
        self.flights.insert(effect, FlightBook { frame, stage, reserved, subject });
        self.reserved = plus(self.reserved, reserved);
        self.lanes(before)
    }

    fn proved(&self, book: &FrameBook, need: &Need) -> bool {
        let Some((verdict, then)) = book.evidence.get(&need.stage) else { return false };
        let will_do = verdict.is_none_or(|verdict| need.verdicts.contains(&verdict));
        let now = self.subject(book);
        let bound = match (&self.flow.stage(need.stage).kind, then, now) {
            (_, None, None) => true,
            (_, None, Some(_)) | (_, Some(_), None) => false,
            (Kind::Errand(Errand::Checks { .. }), Some(then), Some(now)) => then.tree == now.tree,
            (_, Some(then), Some(now)) => then.change == now.change,
        };
        will_do && bound
    }

    /// No more units are worked on at once than there are lanes, where that is a plain number.
    fn lanes(&self, run: &Run) -> Check {
        let width = match &self.flow.lanes {
            Expr::Const(Value::Number(width)) => *width,
            Expr::Name(Name::Input(input)) => match run.input(*input) {
                Some(Value::Number(width)) => *width,
                Some(_) | None => return Ok(()),
            },
            _ => return Ok(()),
        };
        let units: BTreeSet<usize> = self
            .flights
            .values()
            .filter_map(|flight| self.lane(self.frames.get(&flight.frame)?))
            .collect();
        let width = usize::try_from(width).unwrap_or(1).max(1);
        hold!(units.len() <= width, "no more units than lanes", "{} of {width}", units.len());
        Ok(())
    }

    fn reported(&mut self, ending: &Ending) -> Check {
        let Some(flight) = self.flights.remove(&ending.effect) else {
            return Err(("reports are of wanted effects", format!("{:?}", ending.effect)));
        };
        self.close(flight.reserved, ending.settled);
        self.overrun |= !ending.overrun.is_zero();
        let stage = self.flow.stage(flight.stage);
        let said = |word: &str| matches!(&ending.ended, Ended::Verdict(v) if v.as_ref() == word);
        let Some(book) = self.frames.get_mut(&flight.frame) else { return Ok(()) };
        if matches!(ending.ended, Ended::Verdict(_)) {
            for (name, items) in &ending.lists {
                let list = ListRef { stage: flight.stage, name: name.clone() };
                book.lists.insert(list, items.clone());
            }
        }
        let unit =
            (book.scope == ScopeIx::UNIT || book.scope.is_child()).then_some(book.unit).flatten();
        let land = stage.kind.lands();
        if land && said("landed") {
            let landings = match unit.and_then(|at| self.units.get_mut(at)) {
                Some(unit) => &mut unit.landings,
                None => &mut self.run_landings,
            };
            *landings += 1;
            hold!(*landings == 1, "a unit lands at most once", "{}", stage.name);
            if unit.is_some() {
                self.run_subject = None;
            }
            return Ok(());
        }
        let subject = match unit.and_then(|at| self.units.get_mut(at)) {
            Some(unit) => &mut unit.subject,
            None => &mut self.run_subject,
        };
        if ending.ended == Ended::Lost {
            // The lane is back where the stage began.
        } else if stage.edits || (land && (said("moved") || said("conflict") || said("fail"))) {
            let mark: Arc<str> = format!("?{}", ending.effect.0).into();
            let nobody_knows = Subject { tree: mark.clone(), change: mark };
            *subject = Some(ending.subject.clone().unwrap_or(nobody_knows));
        } else if flight.subject.is_none()
            && ending.subject.is_some()
            && matches!(ending.ended, Ended::Verdict(_))
        {
            subject.clone_from(&ending.subject);
        }
        Ok(())
    }

    fn close(&mut self, reserved: Amount, settled: Amount) {
        self.reserved = self.reserved.minus(reserved);
        self.settled = plus(self.settled, settled);
    }

    /// What is no longer wanted without a report is settled at what was set aside.
    fn drop_abandoned(&mut self, after: &Run) {
        let wanted: BTreeSet<EffectId> = after.wanted().collect();
        let gone: Vec<EffectId> =
            self.flights.keys().filter(|id| !wanted.contains(id)).copied().collect();
        for id in gone {
            if let Some(flight) = self.flights.remove(&id) {
                self.close(flight.reserved, flight.reserved);
            }
        }
    }

    fn resync_gates(&mut self, after: &Run) {
        let open: BTreeSet<GateId> = after.gates().iter().map(|gate| gate.id).collect();
        self.gates.retain(|gate, _| open.contains(gate));
    }

    fn counted(&self, after: &Run, counter: usize, value: u32) -> Check {
        let declared = &self.flow.counters[counter];
        let max = match &declared.max {
            Expr::Const(Value::Number(max)) if declared.each_unit.is_none() => {
                u32::try_from(*max).unwrap_or(0)
            }
            _ => {
                let tallies = after.counters();
                tallies
                    .iter()
                    .filter(|(n, ..)| *n == declared.name)
                    .map(|(.., m)| *m)
                    .max()
                    .unwrap_or(0)
            }
        };
        hold!(value <= max, "no counter passes its maximum", "{} at {value}", declared.name);
        Ok(())
    }

    fn moved(&mut self, moved: &Moved, after: &Run) -> Check {
        if let Some(count) = &moved.count {
            self.counted(after, count.counter.at(), count.value)?;
        }
        let Some(book) = self.frames.get(&moved.frame) else {
            return Err(("moves are a frame's", format!("{:?}", moved.frame)));
        };
        hold!(
            moved.waive.is_empty() || book.person,
            "overrides are a person's",
            "{}",
            self.flow.stage(moved.stage).name
        );
        let subject = self.subject(book).cloned();
        let (scope, unit) = (book.scope, book.unit);
        let stage = self.flow.stage(moved.stage);
        let proves = stage.kind.proves();
        let mut taken = Vec::new();
        if let Some(book) = self.frames.get_mut(&moved.frame) {
            if proves && moved.verdict.is_some() && !std::mem::take(&mut book.upheld) {
                book.evidence.insert(moved.stage, (moved.verdict, subject.clone()));
            }
            for stage in &moved.waive {
                book.evidence.insert(*stage, (None, subject.clone()));
            }
            for (into, list) in &moved.add {
                if *into == ScopeIx::UNIT {
                    taken.extend(book.lists.get(list).cloned().unwrap_or_default());
                }
            }
        }
        let again = taken.iter().filter(|item| item.again && scope != ScopeIx::FINALE);
        let again = again.filter_map(|item| self.unit_ids.get(&item.id).copied());
        again.collect::<Vec<usize>>().into_iter().for_each(|at| self.tried_again(at));
        for item in taken {
            // What has not begun claims what was said of it last.
            let known = self.unit_ids.get(&item.id).and_then(|at| self.units.get_mut(*at));
            if let Some(book) = known.filter(|book| !book.started && book.settled.is_none()) {
                book.item.files.clone_from(&item.files);
            }
            if !self.unit_ids.contains_key(&item.id) {
                self.unit_ids.insert(item.id.clone(), self.units.len());
                self.units.push(UnitBook {
                    item,
                    started: false,
                    settled: None,
                    because: None,
                    landings: 0,
                    subject: None,
                });
            }
        }
        match &moved.go {
            windlass_core::workflow::Go::Leave(how) if scope == ScopeIx::UNIT => {
                if let Some(at) = unit {
                    self.settle(at, *how)?;
                }
            }
            windlass_core::workflow::Go::Finish(_) if scope != ScopeIx::FINALE => {
                self.finishing = true;
                self.gates.clear();
            }
            windlass_core::workflow::Go::To(stage) => self.belongs(moved.frame, *stage)?,
            _ => {}
        }
        Ok(())
    }

    /// The run's own books agree with these.
    fn balance(&self, after: &Run) -> Check {
        let wanted: Vec<EffectId> = after.wanted().collect();
        let ours: Vec<EffectId> = self.flights.keys().copied().collect();
        hold!(wanted == ours, "wants are what was wanted", "{wanted:?} and {ours:?}");
        let scratch = after.wanted_from_scratch();
        hold!(wanted == scratch, "wants can be worked out", "{wanted:?} and {scratch:?}");
        let purse = after.purse();
        let agree = purse.settled == self.settled && purse.reserved == self.reserved;
        hold!(agree, "the purse agrees", "{purse:?}, not {:?} {:?}", self.settled, self.reserved);
        if !self.overrun {
            let used = plus(purse.settled, purse.reserved);
            let caps = after.caps();
            let within = caps.run.cost_micros.is_none_or(|cap| used.cost_micros <= cap)
                && caps.run.tokens.is_none_or(|cap| used.tokens <= cap);
            hold!(within || after.has_ever_overrun(), "spending stays within the cap", "{used:?}");
        }
        let total = after.tally().total as usize;
        hold!(total == self.units.len(), "units are what was added", "{total}");
        Ok(())
    }

    /// When nothing follows by itself, something must be under way, due, or a person's to do.
    ///
    /// # Errors
    ///
    /// When a run is stuck, or a unit spent more than its cap.
    pub fn at_rest(&self, run: &Run) -> Result<(), Violation> {
        let seq = self.seq;
        let violation = |(invariant, what)| Violation { seq, invariant, what };
        let standing = run.standing();
        let check = || -> Check {
            hold!(standing != Standing::Stuck, "nothing is ever stuck", "{:?}", run.phase());
            hold!(
                (standing == Standing::Running) == (run.wanted().next().is_some()),
                "running means effects",
                "{standing:?}"
            );
            let caps = run.caps();
            if !run.has_ever_overrun() {
                for unit in run.units() {
                    let used = plus(unit.purse.settled, unit.purse.reserved);
                    let within = caps.unit.cost_micros.is_none_or(|cap| used.cost_micros <= cap);
                    hold!(within, "a unit stays within its cap", "{} at {used:?}", unit.id);
                }
            }
            Ok(())
        };
        check().map_err(violation)
    }

    /// How many landings there were.
    pub fn landings(&self) -> u32 {
        self.units.iter().map(|unit| unit.landings).sum::<u32>() + self.run_landings
    }
}

fn overlap(a: &[Arc<str>], b: &[Arc<str>]) -> bool {
    let below = |a: &str, b: &str| {
        let (a, b) = (a.trim_end_matches('/'), b.trim_end_matches('/'));
        a == b || a.starts_with(&format!("{b}/"))
    };
    a.iter().any(|a| b.iter().any(|b| below(a, b) || below(b, a)))
}
