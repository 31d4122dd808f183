//! How things are with a run, for people who look on: who is at work on what, what waits to land, and how far it is.

use std::collections::BTreeSet;
use std::sync::Arc;

use windlass_core::run::{LaneIx, Run, Tally, UnitStatus};
use windlass_core::workflow::{Errand, Kind};

use super::watch::Watch;
use crate::forecast::{Outlook, Pace};

/// How things are with a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sight {
    /// What a unit is called.
    pub called: String,
    pub tally: Tally,
    /// A line for each lane in which something is done, or could be if its provider served it.
    pub at_work: Vec<AtWork>,
    /// Units that land now.
    pub landing: Vec<String>,
    /// Units that wait for those.
    pub to_land: Vec<String>,
    /// What waits for a person.
    pub waiting: usize,
    pub cost_micros: u64,
    pub outlook: Option<Outlook>,
}

/// A lane in which something is done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AtWork {
    pub lane: Option<LaneIx>,
    pub unit: String,
    pub title: String,
    pub stage: String,
    pub attempt: u32,
    /// How long it has been at this stage.
    pub elapsed_ms: u64,
    pub cost_micros: u64,
    /// Nobody is at it: it is not served, there is no place for it, or it waits for another unit.
    pub idle: bool,
}

impl Sight {
    /// Of a run. It takes as long as there are units under way, however many are done.
    pub fn of(run: &Run, watch: &Watch, pace: &Pace) -> Self {
        let now_ms = watch.now().mono_ms;
        let waiting = waiting(run);
        let mut sight = Sight {
            called: run.workflow().called.clone(),
            tally: run.tally(),
            waiting: waiting.len(),
            cost_micros: run.purse().settled.cost_micros,
            outlook: Some(pace.outlook(run, watch, now_ms)),
            ..Sight::default()
        };
        for (ix, begun) in watch.units() {
            let Some(unit) = run.unit_at(ix).filter(|it| it.status == UnitStatus::Started) else {
                continue;
            };
            let stage = unit.stage.map(|stage| run.workflow().stage(stage));
            let lands =
                stage.is_some_and(|it| matches!(it.kind, Kind::Errand(Errand::Land { .. })));
            if lands && begun.is_busy() && !watch.is_queued(ix) {
                sight.landing.push(unit.id.to_string());
            } else if waiting.contains(&Some(unit.id.clone())) {
                // It is counted, and its question stands elsewhere.
            } else if lands {
                sight.to_land.push(unit.id.to_string());
            } else {
                let (since_ms, attempt) =
                    begun.stage.map_or((now_ms, 1), |(_, since_ms, tries)| (since_ms, tries));
                sight.at_work.push(AtWork {
                    lane: unit.lane,
                    unit: unit.id.to_string(),
                    title: unit.title.to_string(),
                    stage: stage.map_or(String::new(), |stage| stage.shown().to_owned()),
                    attempt,
                    elapsed_ms: now_ms.saturating_sub(since_ms),
                    cost_micros: begun.cost_micros,
                    idle: !begun.is_busy() || watch.is_queued(ix),
                });
            }
        }
        sight.at_work.sort_by_key(|it| it.lane);
        sight
    }
}

/// What waits for a person: units, and the run itself, which is none.
pub fn waiting(run: &Run) -> BTreeSet<Option<Arc<str>>> {
    let asked = run.gates().into_iter().map(|gate| gate.unit);
    asked.chain(run.holds().map(|(unit, _)| unit)).collect()
}
