//! Units: how they are taken up, made ready, and settled.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    FrameId, LaneIx, UnitIx,
    budget::Purse,
    input::{Item, Subject},
    state::{Phase, Run, Unit, UnitStatus},
};
use crate::{
    value::Value,
    workflow::{FactIx, Order, Owner, ScopeIx, Settled, Workflow},
};

/// What is wrong with a list of items, if anything: an id twice, a dependency on nothing, a cycle.
pub(super) fn flaw(run: &Run, items: &[Item]) -> Option<String> {
    let mut places = BTreeMap::new();
    for (place, item) in items.iter().enumerate() {
        if places.insert(item.id.clone(), place).is_some() {
            return Some(format!("the id {:?} is there twice", item.id));
        }
    }
    let mut waits_for = vec![0_usize; items.len()];
    let mut dependents = vec![Vec::new(); items.len()];
    for (place, item) in items.iter().enumerate() {
        for id in &item.depends {
            if let Some(&on) = places.get(id) {
                waits_for[place] += 1;
                dependents[on].push(place);
            } else if !run.unit_ids.contains_key(id) {
                return Some(format!("{:?} depends on {id:?}, which does not exist", item.id));
            }
        }
    }
    let mut free: Vec<usize> = (0..items.len()).filter(|&place| waits_for[place] == 0).collect();
    let mut sorted = 0;
    while let Some(place) = free.pop() {
        sorted += 1;
        for &next in &dependents[place] {
            waits_for[next] -= 1;
            if waits_for[next] == 0 {
                free.push(next);
            }
        }
    }
    (sorted < items.len()).then(|| cycle(items, &places, &waits_for))
}

/// Names a cycle among items that wait for one another.
fn cycle(items: &[Item], places: &BTreeMap<Arc<str>, usize>, waits_for: &[usize]) -> String {
    let stuck = |place: &usize| waits_for[*place] > 0;
    let mut path: Vec<usize> = Vec::new();
    let mut at = (0..items.len()).find(stuck).unwrap_or(0);
    while !path.contains(&at) {
        path.push(at);
        let on = items[at].depends.iter().filter_map(|id| places.get(id).copied()).find(stuck);
        at = on.unwrap_or(at);
    }
    let start = path.iter().position(|&place| place == at).unwrap_or(0);
    let names: Vec<&str> =
        path[start..].iter().chain([&at]).map(|&place| items[place].id.as_ref()).collect();
    format!("dependencies go round in a circle: {}", names.join(" → "))
}

/// The facts of an item that a scope declares, of the right type.
pub(super) fn item_facts(flow: &Workflow, scope: ScopeIx, item: &Item) -> BTreeMap<FactIx, Value> {
    let mut facts = BTreeMap::new();
    for (at, fact) in flow.facts.iter().enumerate() {
        if fact.owner == Owner::Item(scope)
            && let Some(value) = item.facts.get(&fact.name)
            && fact.ty.admits(value)
            && let Ok(at) = u16::try_from(at)
        {
            facts.insert(FactIx(at), value.clone());
        }
    }
    facts
}

impl Run {
    /// Takes items up as units. Those already known are left as they are, but for rank, title and files of
    /// one that has not started: a list that is read again may have another order, and other words. One that has
    /// come to nothing and is to be tried again is as if it had never begun, and so is what it has blocked.
    pub(super) fn add_units(&mut self, items: &[Item], origin: Option<UnitIx>) {
        let first = self.units.len();
        let again = self.take_back(items);
        let generation = origin.and_then(|o| self.unit(o)).map_or(0, |unit| unit.generation + 1);
        for item in items {
            let Ok(ix) = u32::try_from(self.units.len()).map(UnitIx) else { return };
            if let Some(&known) = self.unit_ids.get(&item.id) {
                if again.contains(&known) {
                    // It is put in its place below, like one that is new.
                    if let Some(unit) = self.unit_mut(known) {
                        unit.rank = item.rank;
                    }
                    self.reword(known, item);
                } else if unit_is_pending(self, known) {
                    self.rerank(known, item.rank);
                    self.reword(known, item);
                }
                continue;
            }
            self.unit_ids.insert(item.id.clone(), ix);
            self.units.push_back(Arc::new(Unit {
                facts: item_facts(&self.flow, ScopeIx::UNIT, item),
                item: Arc::new(item.clone()),
                origin,
                generation,
                waits_for: 0,
                dependents: Vec::new(),
                rank: item.rank,
                status: UnitStatus::Pending,
                because: None,
                frame: None,
                leaf: None,
                lane: None,
                landed: false,
                subject: None,
                purse: Purse::default(),
            }));
            self.tally.total += 1;
        }
        // Only now, so that an item may depend on one listed after it.
        for ix in again {
            self.link(ix);
        }
        for at in first..self.units.len() {
            if let Ok(ix) = u32::try_from(at).map(UnitIx) {
                self.link(ix);
            }
        }
    }

    /// Takes back how units have settled that are to be tried again and have not landed, and what is blocked by them. They
    /// are pending, and in no queue yet.
    fn take_back(&mut self, items: &[Item]) -> BTreeSet<UnitIx> {
        let mut again = BTreeSet::new();
        if self.phase != Phase::Units || !items.iter().any(|item| item.again) {
            return again;
        }
        let wanted = items.iter().filter(|item| item.again);
        let wanted = wanted.filter_map(|item| self.unit_ids.get(&item.id).copied());
        let mut open: Vec<UnitIx> = wanted.filter(|ix| self.came_to_nothing(*ix)).collect();
        let mut blocked: BTreeMap<UnitIx, Vec<UnitIx>> = BTreeMap::new();
        for (unit, ix) in self.units.iter().zip((0..).map(UnitIx)) {
            if let (UnitStatus::Settled(Settled::Blocked), Some(on)) = (unit.status, unit.because) {
                blocked.entry(on).or_default().push(ix);
            }
        }
        for (ix, on) in &self.doomed {
            blocked.entry(*on).or_default().push(*ix);
        }
        while let Some(ix) = open.pop() {
            if again.insert(ix) {
                open.extend(blocked.remove(&ix).unwrap_or_default());
            }
        }
        again.iter().for_each(|ix| self.forget_settling(*ix));
        again
    }

    /// Whether a unit has settled and nothing of it has landed.
    fn came_to_nothing(&self, ix: UnitIx) -> bool {
        let Some(unit) = self.unit(ix).filter(|unit| !unit.landed) else { return false };
        match unit.status {
            UnitStatus::Settled(Settled::Failed | Settled::Skipped | Settled::Blocked) => true,
            UnitStatus::Settled(Settled::Done | Settled::Unfinished)
            | UnitStatus::Pending
            | UnitStatus::Started => false,
        }
    }

    /// A unit is as if nobody had begun it; what it has used up it has used up. Its frame goes with its `between`, before
    /// which no unit starts.
    fn forget_settling(&mut self, ix: UnitIx) {
        self.doomed.remove(&ix);
        let Some(unit) = self.unit_mut(ix) else { return };
        let was = std::mem::replace(&mut unit.status, UnitStatus::Pending);
        unit.because = None;
        unit.lane = None;
        unit.subject = None;
        let depends = unit.item.depends.clone();
        match was {
            UnitStatus::Settled(Settled::Done) => self.tally.done -= 1,
            UnitStatus::Settled(Settled::Failed) => self.tally.failed -= 1,
            UnitStatus::Settled(Settled::Skipped) => self.tally.skipped -= 1,
            UnitStatus::Settled(Settled::Blocked | Settled::Unfinished) => self.tally.blocked -= 1,
            UnitStatus::Pending | UnitStatus::Started => {}
        }
        // It is told once by what has not settled: linked anew, it would be told twice.
        for on in depends {
            let on = self.unit_ids.get(&on).copied();
            if let Some(on) = on.and_then(|on| self.unit_mut(on)) {
                on.dependents.retain(|it| *it != ix);
            }
        }
    }

    /// What a unit is called and which files it claims, from an item that says it anew.
    fn reword(&mut self, ix: UnitIx, by: &Item) {
        let Some(unit) = self.unit_mut(ix) else { return };
        if unit.item.title != by.title || unit.item.files != by.files {
            let item = Arc::make_mut(&mut unit.item);
            item.title.clone_from(&by.title);
            item.files.clone_from(&by.files);
        }
    }

    /// What a unit under way is called, and what is known of it, where it has read that of itself: an agent has no say in it. The
    /// files that it claims stay what they were.
    pub(super) fn rename(&mut self, ix: UnitIx, items: &[Item]) {
        let id = self.unit(ix).map(|unit| unit.item.id.clone());
        let Some(by) = items.iter().find(|item| Some(&item.id) == id.as_ref()) else { return };
        let facts = item_facts(&self.flow, ScopeIx::UNIT, by);
        let Some(unit) = self.unit_mut(ix).filter(|it| it.status == UnitStatus::Started) else {
            return;
        };
        if unit.item.title != by.title {
            Arc::make_mut(&mut unit.item).title.clone_from(&by.title);
        }
        unit.facts.extend(facts);
    }

    fn link(&mut self, ix: UnitIx) {
        let Some(unit) = self.unit(ix) else { return };
        let rank = unit.rank;
        let depends = match self.flow.order {
            Order::Listed => Vec::new(),
            Order::Depends => unit.item.depends.clone(),
        };
        let mut waits_for = 0;
        for id in &depends {
            let Some(&on) = self.unit_ids.get(id) else { continue };
            match self.unit(on).map(|unit| unit.status) {
                Some(UnitStatus::Settled(Settled::Done)) | None => {}
                Some(UnitStatus::Settled(_)) => {
                    self.doomed.insert(ix, on);
                }
                Some(UnitStatus::Pending | UnitStatus::Started) => {
                    waits_for += 1;
                    if let Some(on) = self.unit_mut(on) {
                        on.dependents.push(ix);
                    }
                }
            }
        }
        if let Some(unit) = self.unit_mut(ix) {
            unit.waits_for = waits_for;
        }
        if waits_for == 0 && !self.doomed.contains_key(&ix) {
            self.ready.insert((rank, ix));
        }
    }

    /// Puts aside units at the head of the queue whose files are claimed, so that the head of the
    /// queue can always start.
    pub(super) fn tidy_ready(&mut self) {
        while let Some(&(rank, ix)) = self.ready.get_min() {
            let claim = self.unit(ix).and_then(|unit| self.claims.conflict(&unit.item.files));
            let Some(claim) = claim else { return };
            self.ready.remove(&(rank, ix));
            self.claims.wait(claim, rank, ix);
        }
    }

    /// The unit to start next, if one may start now.
    pub(super) fn next_to_start(&self) -> Option<UnitIx> {
        let may = self.phase == Phase::Units
            && !self.stopping
            && !self.paused
            && self.between.is_none()
            && self.settled.is_empty()
            && self.waking.is_empty();
        if !may {
            return None;
        }
        let &(_, unit) = self.ready.get_min()?;
        let room = match self.flow.order {
            Order::Listed => self.lanes.is_empty(),
            Order::Depends => self.active.len() < self.width(),
        };
        room.then_some(unit)
    }

    /// The lowest lane that nobody uses.
    pub(super) fn free_lane(&self) -> LaneIx {
        let gap = (0..).map(LaneIx).zip(self.lanes.iter()).find(|(lane, used)| lane != *used);
        let next = || LaneIx(u32::try_from(self.lanes.len()).unwrap_or(u32::MAX));
        gap.map_or_else(next, |(lane, _)| lane)
    }

    pub(super) fn start_unit(&mut self, ix: UnitIx, frame: FrameId, lane: LaneIx) {
        let Some(unit) = self.unit_mut(ix) else { return };
        unit.status = UnitStatus::Started;
        unit.frame = Some(frame);
        unit.leaf = Some(frame);
        unit.lane = Some(lane);
        let (rank, item) = (unit.rank, unit.item.clone());
        self.ready.remove(&(rank, ix));
        self.claims.claim(ix, &item.files);
        self.active.insert(ix);
        self.lanes.insert(lane);
    }

    /// A unit settles: its place, lane and claims are free again, and its dependents learn of it.
    pub(super) fn settle_unit(&mut self, ix: UnitIx, how: Settled) {
        let Some(unit) = self.unit_mut(ix) else { return };
        let was = unit.status;
        if matches!(was, UnitStatus::Settled(_)) {
            return;
        }
        unit.status = UnitStatus::Settled(how);
        unit.leaf = None;
        let (rank, item, lane) = (unit.rank, unit.item.clone(), unit.lane);
        let dependents = std::mem::take(&mut unit.dependents);
        match how {
            Settled::Done => self.tally.done += 1,
            Settled::Failed => self.tally.failed += 1,
            Settled::Skipped => self.tally.skipped += 1,
            Settled::Blocked | Settled::Unfinished => self.tally.blocked += 1,
        }
        self.doomed.remove(&ix);
        self.active.remove(&ix);
        self.waking.remove(&ix);
        if was == UnitStatus::Pending {
            self.ready.remove(&(rank, ix));
            self.claims.forget(rank, ix);
        }
        if let Some(lane) = lane {
            self.lanes.remove(&lane);
        }
        for freed in self.claims.release(ix, &item.files) {
            self.ready.insert(freed);
        }
        for next in dependents {
            self.learn(next, ix, how);
        }
        let has_between = !self.flow.scopes[ScopeIx::BETWEEN.at()].stages.is_empty();
        if was == UnitStatus::Started {
            if has_between {
                self.settled.push_back(ix);
            } else {
                self.drop_unit_frame(ix);
            }
        }
    }

    /// A unit settles other than by its own last move, perhaps because of another.
    pub(super) fn settle_otherwise(&mut self, ix: UnitIx, how: Settled, because: Option<UnitIx>) {
        self.abandon_unit(ix);
        self.settle_unit(ix, how);
        if let Some(unit) = self.unit_mut(ix) {
            unit.because = because;
        }
    }

    fn learn(&mut self, dependent: UnitIx, on: UnitIx, how: Settled) {
        let Some(unit) = self.unit_mut(dependent) else { return };
        if unit.status != UnitStatus::Pending {
            return;
        }
        unit.waits_for = unit.waits_for.saturating_sub(1);
        let (free, rank) = (unit.waits_for == 0, unit.rank);
        if how != Settled::Done {
            self.doomed.insert(dependent, on);
        } else if free && !self.doomed.contains_key(&dependent) {
            self.ready.insert((rank, dependent));
        }
    }

    pub(super) fn drop_unit_frame(&mut self, ix: UnitIx) {
        if let Some(frame) = self.unit_mut(ix).and_then(|unit| unit.frame.take()) {
            self.frames.remove(&frame);
            self.agenda.remove(&frame);
            self.dispatch.remove(&frame);
            self.held.remove(&frame);
        }
    }

    pub(super) fn rerank(&mut self, ix: UnitIx, rank: i64) {
        let Some(unit) = self.unit_mut(ix) else { return };
        let old = std::mem::replace(&mut unit.rank, rank);
        if self.ready.remove(&(old, ix)).is_some() {
            self.ready.insert((rank, ix));
        } else if unit_is_pending(self, ix) {
            self.claims.forget(old, ix);
            let free = self.unit(ix).is_some_and(|unit| unit.waits_for == 0);
            if free && !self.doomed.contains_key(&ix) {
                self.ready.insert((rank, ix));
            }
        }
    }

    /// What a lane holds from now on.
    pub(super) fn set_subject(&mut self, unit: Option<UnitIx>, subject: Option<Subject>) {
        match unit {
            Some(ix) => {
                if let Some(unit) = self.unit_mut(ix) {
                    unit.subject = subject;
                }
            }
            None => self.subject = subject,
        }
    }
}

fn unit_is_pending(run: &Run, ix: UnitIx) -> bool {
    run.unit(ix).is_some_and(|unit| unit.status == UnitStatus::Pending)
}
