//! The ways through a workflow: every move, every stage passed over, every counter spent.
//!
//! A stage is two places: arriving at it, where it may be passed over or its counter be spent, and running it, from
//! where its verdicts lead on. `again` runs it again without arriving. A stage whose verdict still holds as evidence is
//! not run again: its verdict then leads on from arriving, and nothing is counted.

use std::collections::BTreeSet;

use super::super::compile::{Draft, MoveOrigin};
use super::super::diagnostic::Span;
use crate::workflow::{CounterIx, Go, Kind, Move, Stage, StageIx, VerdictIx, Workflow};

/// A place on the way through a workflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Spot(usize);

impl Spot {
    pub fn arriving(stage: StageIx) -> Spot {
        Spot(stage.at() * 2)
    }

    pub fn running(stage: StageIx) -> Spot {
        Spot(stage.at() * 2 + 1)
    }

    pub fn stage(self) -> StageIx {
        StageIx(u16::try_from(self.0 / 2).unwrap_or(u16::MAX))
    }

    pub fn is_running(self) -> bool {
        self.0 % 2 == 1
    }

    pub fn at(self) -> usize {
        self.0
    }
}

/// Why the way is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// The stage is entered.
    Entered,
    /// The stage's `when` is false.
    PassedOver,
    /// The counter of the stage's entry is spent.
    EntrySpent,
    /// The stage came to a verdict.
    Verdict(VerdictIx),
    /// The stage came to a verdict, but the counter of the move is spent.
    VerdictSpent(VerdictIx),
}

/// A way from one place to the next.
#[derive(Clone, Debug)]
pub(super) struct Way {
    pub from: Spot,
    /// `None` leaves the scope.
    pub to: Option<Spot>,
    pub why: Why,
    /// Where it stands in the file.
    pub span: Span,
    /// Whether the run holds until a person lets it go on.
    pub held: bool,
    /// Whether a person chose it.
    pub person: bool,
    /// The counter of which it takes a step.
    pub counts: Option<CounterIx>,
    /// The counters it puts back, and where that stands.
    pub resets: Vec<(CounterIx, Span)>,
    /// The stages whose evidence a person does without.
    pub waives: Vec<StageIx>,
}

/// All ways.
pub(super) struct Graph {
    pub ways: Vec<Way>,
    /// By place: the ways that begin there.
    out: Vec<Vec<usize>>,
}

impl Graph {
    pub fn new(draft: &Draft) -> Graph {
        let stages = &draft.workflow.stages;
        let mut graph = Graph { ways: Vec::new(), out: vec![Vec::new(); stages.len() * 2] };
        let needs = stages.iter().flat_map(|stage| &stage.needs);
        let needed: BTreeSet<(StageIx, VerdictIx)> =
            needs.flat_map(|need| need.verdicts.iter().map(|v| (need.stage, *v))).collect();
        for (stage, ix) in stages.iter().zip((0..).map(StageIx)) {
            graph.arriving(draft, stage, ix);
            graph.verdicts(draft, stage, ix, Spot::running(ix), |_| true);
            // Without a counter on entering, running it leads the same ways.
            if stage.count.is_some() {
                let upheld = |verdict| needed.contains(&(ix, verdict));
                graph.verdicts(draft, stage, ix, Spot::arriving(ix), upheld);
            }
        }
        graph
    }

    /// The ways that begin at a place.
    pub fn from(&self, spot: Spot) -> impl Iterator<Item = (usize, &Way)> {
        self.out[spot.at()].iter().map(|at| (*at, &self.ways[*at]))
    }

    /// The ways that begin at the place of this number.
    pub fn ways_at(&self, at: usize) -> impl Iterator<Item = (usize, &Way)> {
        self.from(Spot(at))
    }

    /// How many places there are.
    pub fn spots(&self) -> usize {
        self.out.len()
    }

    fn add(&mut self, way: Way) {
        self.out[way.from.at()].push(self.ways.len());
        self.ways.push(way);
    }

    fn arriving(&mut self, draft: &Draft, stage: &Stage, ix: StageIx) {
        let origin = &draft.origins.stages[ix.at()];
        let from = Spot::arriving(ix);
        let plain = |to: Option<Spot>, why: Why| Way {
            from,
            to,
            why,
            span: origin.name.clone(),
            held: false,
            person: false,
            counts: None,
            resets: Vec::new(),
            waives: Vec::new(),
        };
        let counts = stage.count.as_ref().map(|(counter, _)| *counter);
        self.add(Way { counts, ..plain(Some(Spot::running(ix)), Why::Entered) });
        if stage.when.is_some() {
            self.add(plain(stage.next.map(Spot::arriving), Why::PassedOver));
        }
        if let (Some((_, spent)), Some((_, at))) = (&stage.count, &origin.count) {
            let way = way(from, ix, spent, at, Why::EntrySpent, false);
            self.add(way);
        }
    }

    /// The ways that verdicts lead from a place of their stage.
    fn verdicts(
        &mut self,
        draft: &Draft,
        stage: &Stage,
        ix: StageIx,
        from: Spot,
        which: impl Fn(VerdictIx) -> bool,
    ) {
        let origins = &draft.origins.stages[ix.at()].verdicts;
        let verdicts = stage.verdicts.iter().zip(origins).zip((0..).map(VerdictIx));
        for ((verdict, origins), verdict_ix) in verdicts.filter(|(_, ix)| which(*ix)) {
            let person = chosen_by_person(stage, verdict_ix);
            for (case, at) in verdict.cases.iter().zip(origins) {
                let why = Why::Verdict(verdict_ix);
                self.add(way(from, ix, &case.take, at, why, person));
                if let (Some(spent), Some(at)) = (&case.take.spent, &at.spent) {
                    let why = Why::VerdictSpent(verdict_ix);
                    self.add(way(from, ix, spent, at, why, person));
                }
            }
        }
    }
}

/// Whether only a person can bring a stage to this verdict: an option of a gate that no policy takes. A policy that
/// may not take it is reported as such and takes nothing.
pub(super) fn chosen_by_person(stage: &Stage, verdict: VerdictIx) -> bool {
    let Kind::Gate(gate) = &stage.kind else { return false };
    let cases = stage.verdicts.get(verdict.at()).into_iter().flat_map(|option| &option.cases);
    let reserved = cases.into_iter().any(|case| case.take.reason || !case.take.waive.is_empty());
    gate.hard || reserved || !gate.policy.iter().any(|rule| rule.answer == verdict)
}

fn way(from: Spot, stage: StageIx, step: &Move, at: &MoveOrigin, why: Why, person: bool) -> Way {
    let (to, held) = match &step.go {
        Go::To(target) => (Some(Spot::arriving(*target)), false),
        Go::Again => (Some(Spot::running(stage)), false),
        Go::Pause(target) | Go::Rest(target) => (Some(Spot::arriving(*target)), true),
        Go::Leave(_) | Go::Return(_) | Go::Finish(_) => (None, false),
    };
    Way {
        from,
        to,
        why,
        span: at.go.clone(),
        held,
        person,
        counts: step.count,
        resets: step.reset.iter().copied().zip(at.reset.iter().cloned()).collect(),
        waives: step.waive.clone(),
    }
}

impl Way {
    /// The way as people see it: the stage it leaves and why.
    pub fn shown(&self, workflow: &Workflow) -> Option<String> {
        let stage = workflow.stage(self.from.stage());
        let verdict = |ix: VerdictIx| &stage.verdict(ix).name;
        match self.why {
            Why::Entered => None,
            Why::PassedOver => Some(format!("{} (passed over)", stage.name)),
            Why::EntrySpent => Some(format!("{} (spent on entering)", stage.name)),
            Why::Verdict(ix) => Some(format!("{} ({})", stage.name, verdict(ix))),
            Why::VerdictSpent(ix) => Some(format!("{} ({}, spent)", stage.name, verdict(ix))),
        }
    }
}

/// A path for people to read. A long one is cut to its end, where it goes wrong.
pub(super) fn path<'w>(
    ways: impl IntoIterator<Item = &'w Way>,
    end: &str,
    workflow: &Workflow,
) -> String {
    const SHOWN: usize = 10;
    let mut steps: Vec<String> = ways.into_iter().filter_map(|way| way.shown(workflow)).collect();
    if steps.len() > SHOWN {
        let cut = steps.len() - SHOWN;
        steps.drain(..cut);
        steps.insert(0, "…".to_owned());
    }
    steps.push(end.to_owned());
    steps.join(" → ")
}
