//! Counters: who holds them, how far they go, and who may count them.

use super::super::definition;
use super::super::outline::{FactAt, index};
use super::super::words;
use super::*;
use crate::value::Type;
use crate::workflow::FactIx;

impl Compiler<'_, '_, '_, '_> {
    pub(super) fn counters(&mut self) {
        let definition = self.outline.definition;
        for raw in &definition.counters {
            let holder = raw.per.as_ref().and_then(|per| self.holder(per));
            self.holders.push(holder);
            let context = match holder {
                Some(Holder::Scope(scope)) => Context::within(scope),
                Some(Holder::Run | Holder::Stage) | None => Context::ANYWHERE,
            };
            let max = match &raw.max {
                Some(max) => self.resolver.amount(max, context, self.problems),
                None => Expr::Const(Value::Number(1)),
            };
            let each_unit = raw.each_unit.as_ref();
            let each_unit =
                each_unit.map(|each| self.resolver.amount(each, context, self.problems));
            let by = raw.by.as_ref().and_then(|by| self.by(by));
            self.counters.push(Counter {
                name: raw.name.value.clone(),
                per: holder.unwrap_or(Holder::Run),
                from: raw.from,
                max,
                each_unit,
                by,
            });
        }
    }

    fn holder(&mut self, per: &Text) -> Option<Holder> {
        let children = &self.outline.scopes[words::SCOPES.len()..];
        match per.as_str() {
            "run" => return Some(Holder::Run),
            "unit" => return Some(Holder::Scope(ScopeIx::UNIT)),
            "stage" => return Some(Holder::Stage),
            name => {
                if let Some(at) = children.iter().position(|scope| scope.name == name) {
                    return index(at + words::SCOPES.len()).map(|at| Holder::Scope(ScopeIx(at)));
                }
            }
        }
        let mut known = vec!["run", "unit", "stage"];
        known.extend(children.iter().map(|scope| scope.name.as_str()));
        let help = self.problems.did_you_mean_one_of(&per.value, &known);
        let message = format!("nothing called `{}` can hold a counter", per.value);
        let problem = Diagnostic::at(per.span.clone(), Code::WrongValue, message);
        self.problems.report(problem.help(help));
        None
    }

    /// One tally for each value of a fact: that must be finitely many.
    fn by(&mut self, by: &Text) -> Option<FactIx> {
        let (stage, fact) = by.value.split_once('.').unwrap_or((&by.value, ""));
        let found = self.outline.stage_named(stage).map(|ix| self.outline.stage_fact(ix, fact));
        let problem = match found {
            Some(FactAt::Vague) => return None,
            Some(FactAt::Is(ix)) => {
                if matches!(self.outline.facts[ix.at()].ty, Type::OneOf(_)) {
                    return Some(ix);
                }
                let message = format!("`{}` is not one of a list of words", by.value);
                Diagnostic::at(by.span.clone(), Code::TypeMismatch, message)
                    .help("there is one tally for each word, so the words must be known")
            }
            Some(FactAt::None) | None => {
                let message = format!("no stage reports a fact `{}`", by.value);
                Diagnostic::at(by.span.clone(), Code::UnknownName, message)
                    .help("`by` is `\"STAGE.FACT\"`")
            }
        };
        self.problems.report(problem);
        None
    }

    /// The counter of a name, when it may be counted or reset in a scope. `doing` says which of the two.
    pub(super) fn counter(
        &mut self,
        name: &Text,
        scope: ScopeIx,
        doing: &str,
    ) -> Option<CounterIx> {
        let Some(ix) = self.outline.counter_named(name.as_str()) else {
            let near = self.problems.did_you_mean(&name.value, self.outline.counter_names());
            let help = near.unwrap_or_else(|| {
                format!("add `{} = {{ per = \"unit\", max = 3 }}` to `[counters]`", name.value)
            });
            let message = format!("there is no counter `{}`", name.value);
            let problem = Diagnostic::at(name.span.clone(), Code::UnknownName, message);
            self.problems.report(problem.help(help));
            // The counter that was meant is not to be called unused as well.
            let near = self.problems.nearest(&name.value, self.outline.counter_names());
            let meant = near.and_then(|near| self.outline.counter_named(near));
            self.counted.extend(meant);
            return meant;
        };
        let allowed = match self.holders.get(ix.at()).copied().flatten() {
            Some(Holder::Scope(ScopeIx::UNIT)) => scope == ScopeIx::UNIT || scope.is_child(),
            Some(Holder::Scope(holder)) => scope == holder,
            Some(Holder::Run | Holder::Stage) | None => true,
        };
        if !allowed {
            let raw: &definition::Counter = &self.outline.definition.counters[ix.at()];
            let per = raw.per.as_ref().map_or("", Text::as_str);
            let here = &self.outline.scope(scope).name;
            let message = format!(
                "each {per} holds its own `{}`, so `[[{here}]]` cannot {doing} it",
                name.value
            );
            let places = match per {
                "unit" => "`[[unit]]` and child scopes".to_owned(),
                child => format!("`[[{child}]]`"),
            };
            self.problems.report(
                Diagnostic::at(name.span.clone(), Code::CounterMisuse, message)
                    .related(raw.name.span.clone(), "it stands here")
                    .help(format!("only {places} can; or make it `per = \"run\"`")),
            );
        }
        self.counted.extend((doing == "count").then_some(ix));
        Some(ix)
    }

    /// Whether a counter lasts for one visit to a stage.
    pub(super) fn per_stage(&self, ix: CounterIx) -> bool {
        self.holders.get(ix.at()).copied().flatten() == Some(Holder::Stage)
    }
}
