//! What is still to come: of a run under way from its own history, and of one that has not begun from earlier ones.
//!
//! Medians, because one unit that went round and round should not make all the others look dear; and nothing at all where
//! there is nothing to go by.

use std::collections::{BTreeMap, VecDeque};

use serde::Serialize;
use windlass_core::run::{Caps, Phase, Run};
use windlass_core::workflow::Settled;
use windlass_journal::Journal;
use windlass_words::Words;

use crate::asks::Asks;
use crate::error::Error;
use crate::known;
use crate::progress::{Chronicle, Finished, Watch};
use crate::render::{dollars, time};

/// Nothing is said before so many units are done.
const DONE_MIN: usize = 2;
/// So many units are remembered, the latest: they are more like those to come than the first ones are.
const REMEMBERED: usize = 200;

/// What units have taken so far.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    /// Cost and time of each.
    done: VecDeque<(u64, u64)>,
}

/// What is still to come in a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outlook {
    /// Units that it is told from, and what one of them cost and took in the middle.
    pub done_units: u64,
    pub median_micros: u64,
    pub median_ms: u64,
    /// Units that are not settled.
    pub open_units: u64,
    /// What the run will have cost in the end, if those are like the others. Nobody knows before two are done.
    pub expected_micros: Option<u64>,
    /// How much longer it will take, with as many at a time as may be.
    pub left_ms: Option<u64>,
    /// The most that it may cost.
    pub cap_micros: Option<u64>,
}

impl Pace {
    /// Of a run so far.
    pub fn of(chronicle: &Chronicle) -> Self {
        let mut pace = Pace::default();
        chronicle.finished().for_each(|finished| pace.enter(finished));
        pace
    }

    /// A unit has settled. Only what is done says how long that takes.
    pub fn enter(&mut self, finished: &Finished) {
        let Some(begun) = finished.begun.as_ref().filter(|_| finished.how == Settled::Done) else {
            return;
        };
        if self.done.len() == REMEMBERED {
            self.done.pop_front();
        }
        self.done.push_back((begun.cost_micros, begun.busy_ms(finished.at_ms)));
    }

    /// What is still to come.
    pub fn outlook(&self, run: &Run, watch: &Watch, now_ms: u64) -> Outlook {
        let median_micros = percentile(self.done.iter().map(|(cost, _)| *cost).collect(), 50);
        let median_ms = percentile(self.done.iter().map(|(_, ms)| *ms).collect(), 50);
        let open_units = u64::from(run.tally().left());
        let over = matches!(run.phase(), Phase::Finale | Phase::Ended) || open_units == 0;
        let known = self.done.len() >= DONE_MIN;
        // What units under way have cost and taken already is part of what they will; one that takes longer than others
        // has nothing left to give back.
        let mut begun = (0, 0);
        for (_, unit) in watch.units() {
            begun.0 += unit.cost_micros.min(median_micros);
            begun.1 += unit.busy_ms(now_ms).min(median_ms);
        }
        let so_far = run.purse().settled.cost_micros;
        let cost = (median_micros * open_units).saturating_sub(begun.0);
        let at_once = (run.width() as u64).clamp(1, open_units.max(1));
        let left = (median_ms * open_units).saturating_sub(begun.1) / at_once;
        let told = |value| if over { None } else { known.then_some(value) };
        Outlook {
            done_units: self.done.len() as u64,
            median_micros,
            median_ms,
            open_units,
            expected_micros: if over { Some(so_far) } else { told(so_far + cost) },
            left_ms: if over { Some(0) } else { told(left) },
            cap_micros: run.caps().run.cost_micros,
        }
    }
}

/// The value that so many of a hundred do not pass; nothing is 0.
fn percentile(mut values: Vec<u64>, percent: usize) -> u64 {
    values.sort_unstable();
    let rank = (values.len() * percent).div_ceil(100).max(1);
    values.get(rank - 1).copied().unwrap_or(0)
}

/// What earlier runs of a workflow have taken.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// How many runs there were, and how many units in them were done.
    pub runs: u64,
    pub units: u64,
    /// What somebody in a role cost and took, each time, and whether that was for a unit.
    roles: BTreeMap<String, Asked>,
    /// How long checks and landings took for each unit.
    errands_ms: Vec<u64>,
}

#[derive(Clone, Debug, Default)]
struct Asked {
    micros: Vec<u64>,
    ms: Vec<u64>,
    /// How many of these were for units; the others were for the run itself.
    for_units: u64,
}

impl History {
    /// Of all runs of this workflow in a journal.
    pub fn of(journal: &Journal, workflow: &str) -> Result<Self, Error> {
        let mut history = History::default();
        for known in known::all(journal)?.readable {
            if known.run.workflow().name == workflow {
                history.add(&Chronicle::of(journal, &known.id, known.run.workflow())?);
            }
        }
        Ok(history)
    }

    /// Adds a run.
    pub fn add(&mut self, chronicle: &Chronicle) {
        let settled = chronicle.finished().filter(|it| it.how == Settled::Done).count() as u64;
        if settled == 0 {
            return;
        }
        self.runs += 1;
        self.units += settled;
        let mut errands: BTreeMap<_, u64> = BTreeMap::new();
        for span in &chronicle.spans {
            let ms = span.to_ms.saturating_sub(span.from_ms);
            match (&span.role, span.unit) {
                (Some(role), unit) => {
                    let asked = self.roles.entry(role.clone()).or_default();
                    asked.micros.push(span.cost_micros);
                    asked.ms.push(ms);
                    asked.for_units += u64::from(unit.is_some());
                }
                (None, Some(unit)) => *errands.entry(unit).or_default() += ms,
                (None, None) => {}
            }
        }
        self.errands_ms.extend(errands.into_values());
    }
}

/// What a run will probably take.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Forecast {
    pub units: u64,
    pub lanes: u64,
    /// Earlier runs that it is told from; without any it is the caps, which are the worst case.
    pub runs: u64,
    /// If all goes as in the middle of the earlier ones.
    pub likely: Option<Taken>,
    /// If everything takes what only one in ten has passed; without any history, the caps. Nothing where there is no cap.
    pub most_micros: Option<u64>,
    pub most_ms: Option<u64>,
    /// The most that one unit, and one invocation, may cost.
    pub unit_micros_max: Option<u64>,
    pub invocation_micros_max: u64,
    /// How often agents are asked, where the workflow says that.
    pub invocations: Option<Asks>,
}

/// What a run takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Taken {
    pub micros: u64,
    pub ms: u64,
}

/// What a run of so many units on so many lanes will probably take, going by earlier ones.
pub fn forecast(
    history: &History,
    units: u64,
    lanes: u64,
    caps: &Caps,
    invocations: Option<Asks>,
) -> Forecast {
    let (unit_micros_max, invocation_micros_max) =
        (caps.unit.cost_micros, caps.invocation.amount.cost_micros);
    let (cap_micros, cap_ms) = (caps.run.cost_micros, caps.run.wall_ms);
    let lanes = lanes.clamp(1, units.max(1));
    if history.units == 0 {
        let (likely, most_micros, most_ms) = (None, cap_micros, cap_ms);
        return Forecast {
            units,
            lanes,
            runs: 0,
            likely,
            most_micros,
            most_ms,
            unit_micros_max,
            invocation_micros_max,
            invocations,
        };
    }
    let taken = |percent: usize| {
        let errands = percentile(history.errands_ms.clone(), percent) * units / lanes;
        let mut all = Taken { micros: 0, ms: errands };
        for asked in history.roles.values() {
            let micros = percentile(asked.micros.clone(), percent);
            let ms = percentile(asked.ms.clone(), percent);
            // As often as it was, for a unit and for a run.
            let of_units = asked.for_units * units;
            let of_runs = asked.micros.len() as u64 - asked.for_units;
            all.micros += micros * of_units / history.units + micros * of_runs / history.runs;
            all.ms += ms * of_units / history.units / lanes + ms * of_runs / history.runs;
        }
        // Whatever it would take, it stops there.
        Taken {
            micros: all.micros.min(cap_micros.unwrap_or(u64::MAX)),
            ms: all.ms.min(cap_ms.unwrap_or(u64::MAX)),
        }
    };
    let (likely, most) = (taken(50), taken(90));
    Forecast {
        units,
        lanes,
        runs: history.runs,
        likely: Some(likely),
        most_micros: Some(most.micros.max(likely.micros)),
        most_ms: Some(most.ms.max(likely.ms)),
        unit_micros_max,
        invocation_micros_max,
        invocations,
    }
}

impl Forecast {
    /// In a line for people.
    pub fn in_words(&self, called: &str, words: Words) -> String {
        let no_cap = || words.say("face-no-cap", &[]);
        let no_limit = || words.say("face-no-limit", &[]);
        let most = self.most_micros.map_or_else(no_cap, |micros| dollars(micros, words));
        let longest = self.most_ms.map_or_else(no_limit, time);
        let mut args = vec![
            ("units", self.units.to_string()),
            ("called", called.to_owned()),
            ("lanes", self.lanes.to_string()),
            ("runs", self.runs.to_string()),
            ("most", most),
            ("longest", longest),
        ];
        let id = match (self.likely, self.invocations) {
            (Some(likely), _) => {
                args.push(("likely", dollars(likely.micros, words)));
                args.push(("time", time(likely.ms)));
                "forecast-before"
            }
            (None, Some(asks)) => {
                let unit = self.unit_micros_max;
                args.push(("unit", unit.map_or_else(no_cap, |micros| dollars(micros, words))));
                args.push(("least", asks.least.to_string()));
                args.push(("asks", asks.most.to_string()));
                args.push(("done", DONE_MIN.to_string()));
                "forecast-asks"
            }
            (None, None) => "forecast-unknown",
        };
        let args: Vec<(&str, &str)> = args.iter().map(|(name, it)| (*name, it.as_str())).collect();
        words.say(id, &args)
    }
}

#[cfg(test)]
mod tests {
    use windlass_core::run::{Cap, InvocationCap, UnitIx};
    use windlass_engine::entry::Entry;

    use super::*;
    use crate::progress::told_in_tests::{SIX, entries, told};

    #[test]
    fn a_percentile_is_a_value_that_was_there() {
        assert_eq!(percentile(vec![9, 1, 5], 50), 5);
        assert_eq!(percentile(vec![4, 1], 50), 1);
        assert_eq!(percentile((1..=20).collect(), 90), 18);
        assert_eq!(percentile(vec![7], 90), 7);
        assert_eq!(percentile(Vec::new(), 50), 0);
    }

    /// The journal up to the moment at which so many units are done.
    fn until_done(count: u32) -> Vec<Entry> {
        let all = entries(SIX);
        let enough = |until: &usize| told(&all[..*until]).0.tally().done >= count;
        let until = (1..all.len()).find(enough).unwrap();
        all[..until].to_vec()
    }

    fn outlook(entries: &[Entry]) -> Outlook {
        let (run, chronicle) = told(entries);
        let watch = chronicle.watch();
        Pace::of(&chronicle).outlook(&run, watch, watch.now().mono_ms)
    }

    #[test]
    fn nothing_is_said_before_two_units_are_done() {
        let one = outlook(&until_done(1));
        assert_eq!((one.done_units, one.expected_micros, one.left_ms), (1, None, None));
        let two = outlook(&until_done(2));
        assert_eq!((two.done_units, two.open_units, two.median_micros), (2, 4, 11_000));
        let so_far = told(&until_done(2)).0.purse().settled.cost_micros;
        let expected = two.expected_micros.unwrap();
        assert!(expected > so_far && expected <= so_far + 4 * 11_000, "{two:?}");
        let left = two.left_ms.unwrap();
        assert!(left > 0 && left <= 4 * two.median_ms / 3, "three at a time: {two:?}");
    }

    #[test]
    fn when_it_is_over_nothing_is_left() {
        let over = outlook(&entries(SIX));
        let cost = told(&entries(SIX)).0.purse().settled.cost_micros;
        assert_eq!((over.open_units, over.left_ms), (0, Some(0)));
        assert_eq!(over.expected_micros, Some(cost));
    }

    #[test]
    fn only_what_is_done_counts_and_only_the_latest_of_that() {
        let (_, chronicle) = told(&entries(SIX));
        let one = chronicle.finished().next().unwrap();
        let mut pace = Pace::default();
        pace.enter(&Finished { how: Settled::Failed, ..one.clone() });
        assert_eq!(pace.done.len(), 0);
        for _ in 0..REMEMBERED + 50 {
            pace.enter(&Finished { unit: UnitIx(0), ..one.clone() });
        }
        assert_eq!(pace.done.len(), REMEMBERED);
    }

    fn caps() -> Caps {
        let amount = windlass_core::run::Amount { cost_micros: 2_000_000, tokens: 1 };
        let run = Cap { cost_micros: Some(20_000_000), wall_ms: Some(3_600_000), ..Cap::NONE };
        let invocation = InvocationCap { amount, request: amount, wall_ms: 1, iterations: None };
        Caps { run, unit: Cap::NONE, invocation }
    }

    #[test]
    fn without_any_history_it_is_the_caps_and_says_so() {
        let none = forecast(&History::default(), 12, 4, &caps(), None);
        assert_eq!((none.likely, none.most_micros), (None, Some(20_000_000)));
        insta::assert_snapshot!(none.in_words("feature", Words::default()), @"nobody knows what 12 features will take, 4 at a time: there is no earlier run to go by; at most 20.00 dollars and 1h00m");
        let endless = Caps { run: Cap::NONE, ..caps() };
        let none = forecast(&History::default(), 12, 4, &endless, None);
        insta::assert_snapshot!(none.in_words("feature", Words::default()), @"nobody knows what 12 features will take, 4 at a time: there is no earlier run to go by; at most no cap and no limit");
        let asks = Some(Asks { least: 26, most: 74 });
        let none = forecast(&History::default(), 12, 4, &caps(), asks);
        insta::assert_snapshot!(none.in_words("feature", Words::default()), @"26 to 74 invocations of agents: 12 features, 4 at a time, from one attempt each to as many as they have; conflicts, questions and what is added come on top. In dollars it can be told once 2 are done; until then at most no cap for each, 20.00 dollars and 1h00m in all");
    }

    #[test]
    fn earlier_runs_say_what_units_take_and_the_caps_are_never_passed() {
        let (_, chronicle) = told(&entries(SIX));
        let mut history = History::default();
        history.add(&chronicle);
        assert_eq!((history.runs, history.units), (1, 6));
        let same = forecast(&history, 6, 3, &caps(), None);
        // Seven times a worker for a cent, six times a reviewer for a tenth of one.
        assert_eq!(same.likely.unwrap().micros, 76_000);
        let twice = forecast(&history, 12, 3, &caps(), None);
        assert_eq!(twice.likely.unwrap().micros, 152_000);
        let wide = forecast(&history, 12, 6, &caps(), None);
        assert!(wide.likely.unwrap().ms < twice.likely.unwrap().ms, "more at a time take less");
        assert!(twice.most_ms.unwrap() >= twice.likely.unwrap().ms);
        let many = forecast(&history, 1_000_000, 3, &caps(), None);
        assert_eq!(many.most_micros, Some(20_000_000));
        insta::assert_snapshot!(twice.in_words("task", Words::default()), @"about 0.15 dollars and 2s, or 0.15 dollars and 5s if much goes wrong: 12 tasks, 3 at a time, going by earlier runs (1)");
    }

    #[test]
    fn a_run_in_which_nothing_was_done_is_no_history() {
        let mut history = History::default();
        history.add(&told(&until_done(1)[..5]).1);
        assert_eq!(history.runs, 0);
    }
}
