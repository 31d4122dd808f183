//! What stands where: scopes, stages and their indices, names, and what every stage reports.
//!
//! Made before any expression or move is looked at, because those may name whatever stands further down.

mod facts;
mod names;
mod reports;
mod scopes;

use std::collections::{BTreeMap, BTreeSet};

pub(super) use facts::{FactAt, NoList};
pub(super) use names::Named;
pub(super) use reports::Report;

use super::catalogue::Catalogue;
use super::definition::{Definition, Stage};
use super::diagnostic::{Code, Diagnostic, Span};
use super::document::Text;
use super::problems::Problems;
use super::words;
use crate::workflow::{CounterIx, Fact, FactIx, InputIx, ScopeIx, StageIx};

/// What stands where.
pub(super) struct Outline<'d> {
    pub definition: &'d Definition,
    /// By [`ScopeIx`].
    pub scopes: Vec<ScopeOutline>,
    /// By [`StageIx`].
    pub stages: Vec<StageOutline<'d>>,
    /// By [`FactIx`].
    pub facts: Vec<Fact>,
    /// The part of the catalogue that is used.
    pub used: Catalogue,
    names: BTreeMap<&'d str, (Named, Span)>,
    stage_names: BTreeMap<&'d str, StageIx>,
    counter_names: BTreeMap<&'d str, CounterIx>,
    stage_facts: BTreeMap<(StageIx, String), FactIx>,
    item_facts: BTreeMap<(ScopeIx, String), FactIx>,
    /// Scopes whose items may have facts that could not be made out.
    vague_items: BTreeSet<ScopeIx>,
}

/// A scope.
pub(super) struct ScopeOutline {
    pub name: String,
    /// Where it first stands.
    pub span: Span,
    pub stages: Vec<StageIx>,
    /// The stage that runs it, for a child scope.
    pub each: Option<StageIx>,
}

/// A stage.
pub(super) struct StageOutline<'d> {
    pub raw: &'d Stage,
    pub scope: ScopeIx,
    /// The child scope that it runs, for an `each`.
    pub each: Option<ScopeIx>,
    pub report: Report,
}

impl<'d> Outline<'d> {
    pub fn new(
        definition: &'d Definition,
        catalogue: &Catalogue,
        problems: &mut Problems<'_>,
    ) -> Outline<'d> {
        let (scopes, stages) = scopes::lay_out(definition, problems);
        let mut outline = Outline {
            names: names::collect(definition, &scopes, &stages, problems),
            stage_names: names::of_stages(&stages),
            counter_names: names::of_counters(definition),
            definition,
            scopes,
            stages,
            facts: Vec::new(),
            used: Catalogue::default(),
            stage_facts: BTreeMap::new(),
            item_facts: BTreeMap::new(),
            vague_items: BTreeSet::new(),
        };
        outline.find_reports(catalogue, problems);
        outline.find_facts(problems);
        outline
    }

    pub fn stage(&self, ix: StageIx) -> &StageOutline<'d> {
        &self.stages[ix.at()]
    }

    pub fn scope(&self, ix: ScopeIx) -> &ScopeOutline {
        &self.scopes[ix.at()]
    }

    /// All stages with their indices.
    pub fn each_stage(&self) -> impl Iterator<Item = (StageIx, &StageOutline<'d>)> {
        self.stages.iter().zip((0..).map(StageIx)).map(|(stage, ix)| (ix, stage))
    }

    /// What a bare name stands for.
    pub fn named(&self, name: &str) -> Option<Named> {
        self.names.get(name).map(|(named, _)| *named)
    }

    /// The stage of this name, even when something else is called the same.
    pub fn stage_named(&self, name: &str) -> Option<StageIx> {
        self.stage_names.get(name).copied()
    }

    /// The counter of this name, even when something else is called the same.
    pub fn counter_named(&self, name: &str) -> Option<CounterIx> {
        self.counter_names.get(name).copied()
    }

    /// The scope of this name that has stages.
    pub fn scope_named(&self, name: &str) -> Option<ScopeIx> {
        let at = self.scopes.iter().position(|s| s.name == name && !s.stages.is_empty())?;
        index(at).map(ScopeIx)
    }

    /// Every name there is.
    pub fn all_names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().copied()
    }

    /// The names of all stages of a scope.
    pub fn names_in(&self, scope: ScopeIx) -> impl Iterator<Item = &'d str> {
        let stages = self.scope(scope).stages.iter().map(|ix| self.stage(*ix).raw);
        stages.filter_map(|raw| raw.name.as_ref()).map(Text::as_str)
    }

    /// The names of all counters.
    pub fn counter_names(&self) -> impl Iterator<Item = &'d str> {
        self.definition.counters.iter().map(|counter| counter.name.as_str())
    }

    /// The stage that a word in a scope means, or what is wrong with it and which stage was probably meant.
    pub fn stage_in(
        &self,
        scope: ScopeIx,
        word: &str,
        span: &Span,
        problems: &mut Problems<'_>,
    ) -> Result<StageIx, (Diagnostic, Option<StageIx>)> {
        let here = &self.scope(scope).name;
        if let Some(found) = self.stage_named(word) {
            return if self.stage(found).scope == scope {
                Ok(found)
            } else {
                Err((self.elsewhere(found, scope, span), None))
            };
        }
        let near = problems.nearest(word, self.names_in(scope));
        let help = near.map_or_else(
            || {
                let names: Vec<&str> = self.names_in(scope).take(50).collect();
                words::one_of(&names)
            },
            |near| format!("did you mean `{near}`?"),
        );
        let message = format!("there is no stage `{word}` in `[[{here}]]`");
        let problem = Diagnostic::at(span.clone(), Code::MoveToNowhere, message).help(help);
        Err((problem, near.and_then(|near| self.stage_named(near))))
    }

    fn elsewhere(&self, found: StageIx, scope: ScopeIx, span: &Span) -> Diagnostic {
        let (name, home) = (self.stage(found).raw.called(), self.stage(found).scope);
        let (here, there) = (&self.scope(scope).name, &self.scope(home).name);
        let help = if scope.is_child() && home == ScopeIx::UNIT {
            "a child goes back to its unit with `{ return = \"WORD\" }`, which the `each` stage handles"
        } else {
            "a scope knows its own stages only"
        };
        let message = format!("`{name}` is a stage of `[[{there}]]`, not of `[[{here}]]`");
        Diagnostic::at(span.clone(), Code::MoveToNowhere, message)
            .related(self.stage(found).raw.at(), "it stands here")
            .help(help)
    }

    /// The input at an index; `None` when its type could not be read.
    pub fn input(&self, ix: InputIx) -> Option<&'d crate::workflow::Input> {
        self.definition.inputs[ix.at()].input.as_ref()
    }
}

/// An index into a table, if it is not past the end of what an index can be.
pub(super) fn index(at: usize) -> Option<u16> {
    u16::try_from(at).ok().filter(|at| *at < u16::MAX)
}
