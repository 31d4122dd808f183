//! Names: one namespace for all that an expression or a move may mean by a bare word.

use std::collections::BTreeMap;

use super::super::catalogue::check_name;
use super::super::definition::Definition;
use super::super::diagnostic::{Code, Diagnostic, Span};
use super::super::document::Text;
use super::super::problems::Problems;
use super::super::words;
use super::{ScopeOutline, StageOutline, index};
use crate::workflow::{CounterIx, InputIx, ScopeIx, StageIx};

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Named {
    Input(InputIx),
    Counter(CounterIx),
    /// The position among the lets.
    Let(usize),
    Stage(StageIx),
    /// A child scope.
    Scope(ScopeIx),
}

impl Named {
    /// What it is, for people.
    pub fn what(self) -> &'static str {
        match self {
            Named::Input(_) => "an input",
            Named::Counter(_) => "a counter",
            Named::Let(_) => "a let",
            Named::Stage(_) => "a stage",
            Named::Scope(_) => "a child scope",
        }
    }
}

/// Gathers all names; a name that cannot be one, or that is taken, is noted.
pub(super) fn collect<'d>(
    definition: &'d Definition,
    scopes: &[ScopeOutline],
    stages: &[StageOutline<'d>],
    problems: &mut Problems<'_>,
) -> BTreeMap<&'d str, (Named, Span)> {
    let mut all: Vec<(&'d Text, Named)> = Vec::new();
    let inputs = definition.inputs.iter().enumerate();
    all.extend(inputs.filter_map(|(at, it)| Some((&it.name, Named::Input(InputIx(index(at)?))))));
    let counters = definition.counters.iter().enumerate();
    all.extend(
        counters.filter_map(|(at, it)| Some((&it.name, Named::Counter(CounterIx(index(at)?))))),
    );
    all.extend(definition.lets.iter().enumerate().map(|(at, it)| (&it.name, Named::Let(at))));
    for scope in &definition.scopes {
        // A misspelled fixed scope has no index of its own, and so no name.
        let at = scopes.iter().position(|other| other.name == scope.name.value);
        if let Some(ix) = at.and_then(index).map(ScopeIx).filter(|ix| ix.is_child()) {
            all.push((&scope.name, Named::Scope(ix)));
        }
    }
    all.extend(
        stages
            .iter()
            .zip((0..).map(StageIx))
            .filter_map(|(stage, ix)| Some((stage.raw.name.as_ref()?, Named::Stage(ix)))),
    );
    all.sort_by_key(|(name, _)| name.span.start);

    let mut names: BTreeMap<&'d str, (Named, Span)> = BTreeMap::new();
    for (name, named) in all {
        check(name, named, problems);
        if let Some((other, span)) = names.get(name.as_str()) {
            let message = format!("`{}` is already the name of {}", name.value, other.what());
            problems.report(
                Diagnostic::at(name.span.clone(), Code::DuplicateName, message)
                    .related(span.clone(), "it stands here")
                    .help("inputs, counters, lets, stages and child scopes share one set of names"),
            );
        } else {
            names.insert(name.as_str(), (named, name.span.clone()));
        }
    }
    names
}

/// All stages by name; of two that share one, the first.
pub(super) fn of_stages<'d>(stages: &[StageOutline<'d>]) -> BTreeMap<&'d str, StageIx> {
    let mut names = BTreeMap::new();
    for (stage, ix) in stages.iter().zip((0..).map(StageIx)) {
        if let Some(name) = &stage.raw.name {
            names.entry(name.as_str()).or_insert(ix);
        }
    }
    names
}

/// All counters by name.
pub(super) fn of_counters(definition: &Definition) -> BTreeMap<&str, CounterIx> {
    let counters = definition.counters.iter().enumerate();
    counters.filter_map(|(at, it)| Some((it.name.as_str(), CounterIx(index(at)?)))).collect()
}

fn check(name: &Text, named: Named, problems: &mut Problems<'_>) {
    if check_name(&name.value, name.span.clone(), named.what(), problems)
        && words::is_reserved(&name.value)
    {
        let message = format!("`{}` means something of its own in this language", name.value);
        problems.report(
            Diagnostic::at(name.span.clone(), Code::BadName, message).help("give it another name"),
        );
    }
}
