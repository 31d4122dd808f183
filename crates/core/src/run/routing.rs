//! Where a verdict leads: cases, counters, and what is noted on the way.

use std::sync::Arc;

use super::{
    FrameId,
    event::{Counted, Moved},
    scene::Scene,
    state::{Frame, Run},
};
use crate::workflow::{CounterIx, Go, Move, StageIx, VerdictIx};

impl Run {
    /// The move that a verdict leads to.
    pub(super) fn route(
        &self,
        id: FrameId,
        frame: &Frame,
        stage: StageIx,
        verdict: VerdictIx,
    ) -> Moved {
        let scene = Scene::of(self, frame);
        let cases = &self.flow.stage(stage).verdict(verdict).cases;
        let case = cases
            .iter()
            .find(|case| case.when.as_ref().is_none_or(|when| when.truth(&scene) == Some(true)));
        let mut moved = match case {
            Some(case) => take(&scene, self.counter_from(&case.take), &case.take),
            // An option that has meanwhile gone: the question is put again.
            None => nowhere(),
        };
        moved.frame = id;
        moved.stage = stage;
        moved.verdict = Some(verdict);
        if frame.recorded {
            moved.record = None;
        }
        moved
    }

    /// What entering a stage counts, or the move to take because its counter is spent.
    pub(super) fn count_entry(
        &self,
        id: FrameId,
        frame: &Frame,
        stage: StageIx,
    ) -> Result<Option<Counted>, Box<Moved>> {
        let Some((counter, otherwise)) = &self.flow.stage(stage).count else {
            return Ok(None);
        };
        let scene = Scene::of(self, frame);
        if let Some(counted) = step_of(&scene, *counter) {
            return Ok(Some(counted));
        }
        let mut moved = plain(otherwise);
        moved.frame = id;
        moved.stage = stage;
        moved.spent = Some(*counter);
        Err(Box::new(moved))
    }

    /// Whether a gate's option is offered now: some case holds, and its counter is not spent.
    pub(super) fn offered<'a>(
        &'a self,
        frame: &Frame,
        stage: StageIx,
        verdict: VerdictIx,
    ) -> Option<&'a Move> {
        let scene = Scene::of(self, frame);
        let case =
            self.flow.stage(stage).verdict(verdict).cases.iter().find(|case| {
                case.when.as_ref().is_none_or(|when| when.truth(&scene) == Some(true))
            })?;
        let spent = case.take.spent.is_none()
            && case.take.count.is_some_and(|counter| step_of(&scene, counter).is_none());
        (!spent).then_some(&case.take)
    }

    fn counter_from(&self, take: &Move) -> u32 {
        take.count.map_or(0, |counter| self.flow.counters[counter.at()].from)
    }
}

/// The next step of a counter, or `None` when it is at its maximum.
fn step_of(scene: &Scene<'_>, counter: CounterIx) -> Option<Counted> {
    let value = scene.counter(counter);
    (value < scene.counter_max(counter)).then(|| Counted {
        counter,
        key: scene.counter_key(counter),
        value: value + 1,
    })
}

fn take(scene: &Scene<'_>, from: u32, take: &Move) -> Moved {
    let Some(counter) = take.count else {
        return plain(take);
    };
    match (step_of(scene, counter), &take.spent) {
        (Some(counted), _) => {
            let nth = counted.value.saturating_sub(from).saturating_sub(1) as usize;
            let context = take.widen.get(nth).or(take.widen.last()).map(|c| Arc::from(c.as_str()));
            Moved { count: Some(counted), context, ..plain(take) }
        }
        (None, spent) => {
            let then = spent.as_deref().map_or_else(nowhere, plain);
            Moved { spent: Some(counter), ..then }
        }
    }
}

/// A move without its counter.
fn plain(take: &Move) -> Moved {
    Moved {
        go: take.go.clone(),
        reset: take.reset.clone(),
        add: take.add.iter().map(|add| (add.scope, add.list.clone())).collect(),
        waive: take.waive.clone(),
        record: take.record.as_deref().map(Arc::from),
        outcome: take.outcome,
        ..nowhere()
    }
}

fn nowhere() -> Moved {
    Moved {
        frame: FrameId(0),
        stage: StageIx(0),
        verdict: None,
        go: Go::Again,
        count: None,
        spent: None,
        reset: Vec::new(),
        context: None,
        add: Vec::new(),
        waive: Vec::new(),
        record: None,
        outcome: None,
    }
}
