//! From what was written to a [`Workflow`]: names become indices, words become moves.
//!
//! What comes out is a draft: every mistake found on the way was noted and replaced by something harmless, so that
//! the checks can go on to what else there is to say. Only a draft without any mistake is handed out.

mod counters;
mod evidence;
mod kind;
mod moves;
mod origin;
mod stage;
mod verdicts;

use std::collections::{BTreeMap, BTreeSet};

pub(super) use origin::{MoveOrigin, Origins, StageOrigin};

use super::definition::Definition;
use super::diagnostic::{Code, Diagnostic, Span};
use super::document::Text;
use super::outline::{Outline, index};
use super::problems::Problems;
use super::resolve::{Context, Resolver, Want};
use crate::expr::Expr;
use crate::value::Value;
use crate::workflow::{
    Counter, CounterIx, Entry, Holder, Mishap, Order, Scope, ScopeIx, Source, Stage, StageIx,
    Workflow,
};

/// A workflow that is not proved yet, and where its parts stand.
pub(super) struct Draft {
    pub workflow: Workflow,
    pub origins: Origins,
}

/// How much text may be copied to every stage that takes a shared move, in all.
const SHARED_TEXT: usize = 8 << 20;
/// Needs of all stages together: each is proved on every path.
const NEEDS: usize = 256;

/// Every stage that some `needs` names, by scope.
fn needed<'d>(outline: &Outline<'d>) -> BTreeSet<(ScopeIx, &'d str)> {
    let mut needed = BTreeSet::new();
    for (_, stage) in outline.each_stage() {
        for need in &stage.raw.needs {
            needed.extend(need.value.split(':').next().map(|name| (stage.scope, name)));
        }
    }
    needed
}

struct Compiler<'o, 'd, 'p, 't> {
    outline: &'o Outline<'d>,
    resolver: Resolver<'o, 'd>,
    problems: &'p mut Problems<'t>,
    /// By [`CounterIx`]; `None` when it could not be made out.
    holders: Vec<Option<Holder>>,
    counters: Vec<Counter>,
    counted: BTreeSet<CounterIx>,
    /// Stages without a move for a mishap.
    unhandled: BTreeMap<Mishap, Vec<StageIx>>,
    shared_text_left: usize,
    needs_left: usize,
    needed: BTreeSet<(ScopeIx, &'d str)>,
}

/// Compiles what was written.
pub(super) fn compile(outline: &Outline<'_>, source: Source, problems: &mut Problems<'_>) -> Draft {
    let mut compiler = Compiler {
        outline,
        resolver: Resolver::new(outline),
        problems,
        holders: Vec::new(),
        counters: Vec::new(),
        counted: BTreeSet::new(),
        unhandled: BTreeMap::new(),
        shared_text_left: SHARED_TEXT,
        needs_left: NEEDS,
        needed: needed(outline),
    };
    compiler.draft(source)
}

impl Compiler<'_, '_, '_, '_> {
    fn draft(&mut self, source: Source) -> Draft {
        let definition = self.outline.definition;
        self.resolver.all_lets(self.problems);
        self.counters();
        let lanes = match &definition.units.lanes {
            Some(lanes) => self.resolver.amount(lanes, Context::ANYWHERE, self.problems),
            None => Expr::Const(Value::Number(1)),
        };
        let (stages, origins) = self.stages();
        let entries = self.entries();
        self.report_unhandled();
        self.report_unused();
        self.report_no_units();
        let workflow = Workflow {
            name: self.name(definition),
            about: text_of(definition.about.as_ref()),
            called: definition.units.called.as_ref().map_or("unit", Text::as_str).to_owned(),
            order: definition.units.order.unwrap_or(Order::Depends),
            lanes,
            inputs: definition.inputs.iter().filter_map(|input| input.input.clone()).collect(),
            entries,
            counters: std::mem::take(&mut self.counters),
            facts: self.outline.facts.clone(),
            scopes: self.scopes(),
            stages,
            roles: self.outline.used.roles.iter().map(says).collect(),
            source,
        };
        let origins = Origins {
            stages: origins,
            counters: definition.counters.iter().map(|it| it.name.span.clone()).collect(),
            scopes: self.outline.scopes.iter().map(|scope| scope.span.clone()).collect(),
        };
        Draft { workflow, origins }
    }

    fn name(&mut self, definition: &Definition) -> String {
        if let Some(name) = &definition.name {
            let span = name.span.clone();
            super::catalogue::check_name(&name.value, span, "a workflow", self.problems);
        }
        text_of(definition.name.as_ref())
    }

    /// Child scopes come first: what they can come to decides what the `each` that runs them must handle.
    fn stages(&mut self) -> (Vec<Stage>, Vec<StageOrigin>) {
        let mut made: BTreeMap<StageIx, (Stage, StageOrigin)> = BTreeMap::new();
        let outline = self.outline;
        let child = |ix: &StageIx| outline.stage(*ix).scope.is_child();
        let all: Vec<StageIx> = outline.each_stage().map(|(ix, _)| ix).collect();
        let (children, others): (Vec<_>, Vec<_>) = all.into_iter().partition(child);
        for ix in children.into_iter().chain(others) {
            let stage = self.stage(ix, &made);
            made.insert(ix, stage);
        }
        made.into_values().unzip()
    }

    fn scopes(&self) -> Vec<Scope> {
        let first = |stages: &[StageIx]| {
            stages.iter().copied().find(|ix| !self.outline.stage(*ix).raw.aside)
        };
        let scope = |scope: &super::outline::ScopeOutline| Scope {
            name: scope.name.clone(),
            first: first(&scope.stages),
            stages: scope.stages.clone(),
        };
        self.outline.scopes.iter().map(scope).collect()
    }

    fn entries(&mut self) -> Vec<Entry> {
        let mut entries = Vec::new();
        for raw in &self.outline.definition.entries {
            let span = raw.name.span.clone();
            super::catalogue::check_name(&raw.name.value, span, "an entry", self.problems);
            let Some(at) = &raw.at else { continue };
            let Some(stage) = self.stage_in(ScopeIx::UNIT, at) else { continue };
            entries.push(Entry {
                name: raw.name.value.clone(),
                at: stage,
                requires: raw.requires.iter().map(|text| text.value.clone()).collect(),
                otherwise: text_of(raw.otherwise.as_ref()),
            });
        }
        entries
    }

    /// The stage that a word means; a wrong word is noted, and the stage that was probably meant is taken.
    fn stage_in(&mut self, scope: ScopeIx, word: &Text) -> Option<StageIx> {
        match self.outline.stage_in(scope, word.as_str(), &word.span, self.problems) {
            Ok(stage) => Some(stage),
            Err((problem, meant)) => {
                self.problems.report(problem);
                meant
            }
        }
    }

    fn condition(&mut self, text: &Text, scope: ScopeIx) -> Expr {
        self.resolver.expression(text, Want::Flag, Context::within(scope), self.problems)
    }

    fn report_unused(&mut self) {
        self.resolver.unused_lets(self.problems);
        for (at, counter) in self.outline.definition.counters.iter().enumerate() {
            let counted = index(at).is_none_or(|ix| self.counted.contains(&CounterIx(ix)));
            if !counted {
                let message = format!("nothing counts `{}`", counter.name.value);
                self.problems.report(
                    Diagnostic::at(counter.name.span.clone(), Code::Unused, message)
                        .help("count it with `count` on a move or a stage, or leave it out"),
                );
            }
        }
    }

    /// A run without units does nothing; intake is where the first ones come from.
    fn report_no_units(&mut self) {
        let unit = self.outline.scope(ScopeIx::UNIT);
        if unit.stages.is_empty() {
            let span = self.outline.definition.name.as_ref().map_or(0..0, |name| name.span.clone());
            self.problems.report(
                Diagnostic::at(span, Code::NoUnits, "there are no stages in `[[unit]]`")
                    .help("say what happens to a unit: `[[unit]]` with `stage = \"…\"`"),
            );
            return;
        }
        // An `add` that could not be made out was noted, and was meant to be one.
        let adds = self.outline.scope(ScopeIx::INTAKE).stages.iter().any(|ix| {
            let cases = self.outline.stage(*ix).raw.on.iter().flat_map(|on| &on.cases);
            let spent = cases.clone().filter_map(|step| step.spent.as_deref());
            cases.chain(spent).any(|step| !step.add.is_empty())
        });
        if !adds {
            self.problems.report(
                Diagnostic::at(unit.span.clone(), Code::NoUnits, "no unit ever comes to be").help(
                    "add the items of a list in intake: `[[intake]]`, with a move such as \
                         `{ to = \"end\", add = { unit = \"LIST\" } }`",
                ),
            );
        }
    }
}

fn text_of(text: Option<&Text>) -> String {
    text.map(|text| text.value.clone()).unwrap_or_default()
}

/// A role and the verdicts it may answer with.
fn says((name, role): (&String, &super::catalogue::Reporter)) -> (String, Vec<String>) {
    (name.clone(), role.verdicts.clone())
}
