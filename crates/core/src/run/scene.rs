//! What expressions see from where they stand.

use super::state::{Frame, Run, UnitStatus};
use crate::{
    expr::{Env, Expr, Name, UnitTally},
    value::Value,
    workflow::{CounterIx, Holder, Owner, ScopeIx, StageIx},
};

/// A run, seen from one of its frames.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    run: &'a Run,
    frame: Option<&'a Frame>,
    quiet: Option<bool>,
}

impl<'a> Scene<'a> {
    pub fn of_run(run: &'a Run) -> Self {
        Scene { run, frame: None, quiet: None }
    }

    pub fn of(run: &'a Run, frame: &'a Frame) -> Self {
        Scene { run, frame: Some(frame), quiet: None }
    }

    /// With what `quiet` means in a gate's policy.
    pub fn with_quiet(self, quiet: bool) -> Self {
        Scene { quiet: Some(quiet), ..self }
    }

    /// The frame that holds what belongs to a scope, seen from here.
    fn frame_of(&self, scope: ScopeIx) -> Option<&'a Frame> {
        let here = self.frame;
        if here.is_some_and(|frame| frame.scope == scope) {
            return here;
        }
        if scope == ScopeIx::INTAKE {
            return self.run.frame(self.run.intake);
        }
        if scope == ScopeIx::UNIT {
            return here.and_then(|frame| frame.parent).and_then(|id| self.run.frame(id));
        }
        None
    }

    /// The frame that holds a counter, or `None` for the run itself.
    fn counter_frame(&self, per: Holder) -> Option<&'a Frame> {
        match per {
            Holder::Run => None,
            Holder::Scope(scope) => self.frame_of(scope),
            Holder::Stage => self.frame,
        }
    }

    /// The tally of a counter that is in question here, for one kept `by` a fact.
    pub fn counter_key(&self, counter: CounterIx) -> Option<std::sync::Arc<str>> {
        let fact = self.run.flow.counters[counter.at()].by?;
        match self.value(Name::Fact(fact)) {
            Some(Value::Text(word)) => Some(word),
            Some(Value::Flag(_) | Value::Number(_) | Value::Set(_)) | None => Some("?".into()),
        }
    }

    /// Where a counter stands.
    pub fn counter(&self, counter: CounterIx) -> u32 {
        let declared = &self.run.flow.counters[counter.at()];
        let key = (counter, self.counter_key(counter));
        let tallies = match declared.per {
            Holder::Run => Some(&self.run.counters),
            Holder::Scope(_) | Holder::Stage => {
                self.counter_frame(declared.per).map(|frame| &frame.counters)
            }
        };
        tallies.and_then(|tallies| tallies.get(&key)).copied().unwrap_or(declared.from)
    }

    /// What a counter never passes; Unknown leaves no room at all.
    pub fn counter_max(&self, counter: CounterIx) -> u32 {
        let declared = &self.run.flow.counters[counter.at()];
        let number = |expr: &Expr| expr.number(self).unwrap_or(0).max(0);
        let each_unit = declared.each_unit.as_ref().map_or(0, number);
        let max = number(&declared.max);
        let max = max.saturating_add(each_unit.saturating_mul(self.units(UnitTally::Total)));
        u32::try_from(max).unwrap_or(u32::MAX)
    }

    fn runs(&self, stage: StageIx) -> Option<i64> {
        let scope = self.run.flow.stage(stage).scope;
        // A child's stages are seen from outside as totals, kept in the unit's frame.
        let inside = self.frame.is_some_and(|frame| frame.scope == scope);
        let at = if scope.is_child() && !inside { ScopeIx::UNIT } else { scope };
        let frame = self.frame_of(at)?;
        Some(i64::from(frame.runs.get(&stage).copied().unwrap_or(0)))
    }

    fn units(&self, tally: UnitTally) -> i64 {
        let units = &self.run.tally;
        i64::from(match tally {
            UnitTally::Total => units.total,
            UnitTally::Left => units.left(),
            UnitTally::Done => units.done,
            UnitTally::Failed => units.failed,
            UnitTally::Skipped => units.skipped,
            UnitTally::Blocked => units.blocked,
        })
    }
}

impl Env for Scene<'_> {
    fn value(&self, name: Name) -> Option<Value> {
        let unit = || self.run.unit(self.frame?.unit?);
        match name {
            Name::Input(ix) => self.run.inputs[ix.at()].clone(),
            Name::Counter(ix) => Some(Value::Number(i64::from(self.counter(ix)))),
            Name::Fact(ix) => match self.run.flow.facts[ix.at()].owner {
                Owner::Item(ScopeIx::UNIT) => unit()?.facts.get(&ix).cloned(),
                Owner::Item(scope) => self.frame_of(scope)?.facts.get(&ix).cloned(),
                Owner::Stage(stage) => {
                    let scope = self.run.flow.stage(stage).scope;
                    self.frame_of(scope)?.facts.get(&ix).cloned()
                }
            },
            Name::Runs(stage) => self.runs(stage).map(Value::Number),
            Name::Last(stage) => {
                let declared = self.run.flow.stage(stage);
                let last = *self.frame_of(declared.scope)?.last.get(&stage)?;
                Some(Value::text(&declared.verdict(last).name))
            }
            Name::Units(tally) => Some(Value::Number(self.units(tally))),
            Name::UnitGeneration => Some(Value::Number(i64::from(unit()?.generation))),
            Name::UnitStatus => match unit()?.status {
                UnitStatus::Settled(how) => Some(Value::text(how.name())),
                UnitStatus::Pending | UnitStatus::Started => None,
            },
            Name::RunOutcome => self.run.outcome.map(|outcome| Value::text(outcome.name())),
            Name::RunStopping => Some(Value::Flag(self.run.stopping)),
            Name::Quiet => self.quiet.map(Value::Flag),
        }
    }
}
