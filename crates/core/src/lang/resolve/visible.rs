//! Where a name may be asked for: nothing can be known of what is another unit's, or not yet, or no longer.

use super::Resolver;
use crate::expr::Name;
use crate::lang::diagnostic::{Code, Diagnostic, Span};
use crate::lang::document::Text;
use crate::lang::problems::Problems;
use crate::workflow::{CounterIx, Owner, ScopeIx, StageIx};

/// Where an expression is worked out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Context {
    /// The scope; `None` when it may be any.
    pub scope: Option<ScopeIx>,
    /// Whether it is the policy of a gate that has concerns.
    pub quiet: bool,
}

impl Context {
    pub const ANYWHERE: Context = Context { scope: None, quiet: false };

    pub fn within(scope: ScopeIx) -> Context {
        Context { scope: Some(scope), quiet: false }
    }

    fn is(self, scope: ScopeIx) -> bool {
        self.scope == Some(scope)
    }

    /// Whether there is a unit: in its own scope, in its children's, and after it settled.
    fn has_unit(self) -> bool {
        self.scope.is_some_and(|scope| {
            scope == ScopeIx::UNIT || scope == ScopeIx::BETWEEN || scope.is_child()
        })
    }
}

impl Resolver<'_, '_> {
    /// Notes a name that cannot be asked for here. `used_in` is the expression; the name may stand in one of its lets.
    pub(super) fn check_visible(
        &self,
        name: Name,
        span: &Span,
        used_in: &Text,
        context: Context,
        problems: &mut Problems<'_>,
    ) {
        let Some(why) = self.hidden(name, context) else { return };
        let what = problems.text().get(span.clone()).unwrap_or("this").to_owned();
        let message = format!("`{what}` cannot be asked for here");
        let inside = used_in.span.start <= span.start && span.end <= used_in.span.end;
        let problem = if inside {
            Diagnostic::at(span.clone(), Code::NotVisible, message)
        } else {
            Diagnostic::at(used_in.span.clone(), Code::NotVisible, message)
                .related(span.clone(), "it stands in this `let`")
        };
        problems.report(problem.help(why));
    }

    /// Why a name cannot be asked for, if it cannot.
    fn hidden(&self, name: Name, context: Context) -> Option<String> {
        match name {
            Name::Input(_) | Name::Units(_) | Name::RunStopping => None,
            Name::Counter(ix) => self.hidden_counter(ix, context),
            Name::Fact(ix) => match self.outline.facts[ix.at()].owner {
                Owner::Item(scope) => self.hidden_item(scope, context),
                Owner::Stage(stage) => self.hidden_stage(stage, context),
            },
            Name::Last(stage) => self.hidden_stage(stage, context),
            Name::Runs(stage) => {
                let child = self.outline.stage(stage).scope.is_child();
                let totalled = context.is(ScopeIx::UNIT) || context.is(ScopeIx::BETWEEN);
                if child && totalled { None } else { self.hidden_stage(stage, context) }
            }
            Name::UnitGeneration => self.hidden_item(ScopeIx::UNIT, context),
            Name::UnitStatus => (!context.is(ScopeIx::BETWEEN))
                .then(|| "a unit has a status once it settled: in `[[between]]` only".to_owned()),
            Name::RunOutcome => (!context.is(ScopeIx::FINALE))
                .then(|| "a run has an outcome at its end: in `[[finale]]` only".to_owned()),
            Name::Quiet => (!context.quiet).then(|| {
                "`quiet` says that no concern fired: in the `policy` of a gate with `concerns` only"
                    .to_owned()
            }),
        }
    }

    fn hidden_item(&self, scope: ScopeIx, context: Context) -> Option<String> {
        let name = &self.outline.scope(scope).name;
        if scope == ScopeIx::UNIT {
            return (!context.has_unit()).then(|| {
                "there is a unit in `[[unit]]`, in child scopes and in `[[between]]` only"
                    .to_owned()
            });
        }
        (!context.is(scope)).then(|| format!("there is a {name} in `[[{name}]]` only"))
    }

    fn hidden_stage(&self, stage: StageIx, context: Context) -> Option<String> {
        let home = self.outline.stage(stage).scope;
        let name = self.outline.stage(stage).raw.called();
        let seen = home == ScopeIx::INTAKE
            || context.is(home)
            || (home == ScopeIx::UNIT && context.has_unit());
        if seen {
            return None;
        }
        let home_name = &self.outline.scope(home).name;
        Some(if home.is_child() {
            format!(
                "`{name}` runs once for every {home_name}: only `{name}.runs` can be asked for \
                 from outside, and only in `[[unit]]` and `[[between]]`"
            )
        } else if home == ScopeIx::UNIT {
            format!("`{name}` runs in every unit, and here no unit is meant")
        } else {
            format!("`{name}` is in `[[{home_name}]]`, whose stages only that scope can ask about")
        })
    }

    /// Where a counter's value may be asked for follows from who holds it.
    fn hidden_counter(&self, ix: CounterIx, context: Context) -> Option<String> {
        let counter = &self.outline.definition.counters[ix.at()];
        let per = counter.per.as_ref().map_or("run", |per| per.as_str());
        match per {
            "run" => None,
            "unit" => self.hidden_item(ScopeIx::UNIT, context),
            "stage" => Some("a counter per stage lasts for one visit; it has no value".to_owned()),
            child => {
                let scope = self.outline.scope_named(child)?;
                self.hidden_item(scope, context)
            }
        }
    }
}
