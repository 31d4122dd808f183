//! Scopes and stages get their indices, in order of appearance.

use super::super::definition::{Definition, Kind, Scope, Stage};
use super::super::diagnostic::{Code, Diagnostic};
use super::super::document::Text;
use super::super::problems::Problems;
use super::super::words;
use super::{Report, ScopeOutline, StageOutline, index};
use crate::workflow::{ScopeIx, StageIx};

/// The scopes and the stages of a definition.
pub(super) fn lay_out<'d>(
    definition: &'d Definition,
    problems: &mut Problems<'_>,
) -> (Vec<ScopeOutline>, Vec<StageOutline<'d>>) {
    let mut scopes: Vec<ScopeOutline> =
        words::SCOPES.iter().map(|name| ScopeOutline::new(name, 0..0)).collect();
    let mut found: Vec<(ScopeIx, &Stage)> = Vec::new();
    for scope in &definition.scopes {
        let Some(ix) = place(scope, definition, &mut scopes, problems) else { continue };
        found.extend(scope.stages.iter().map(|stage| (ix, stage)));
    }
    found.sort_by_key(|(_, stage)| stage.span.start);
    let mut stages = Vec::new();
    for (at, (scope, raw)) in found.into_iter().enumerate() {
        let Some(ix) = index(at).map(StageIx) else {
            let message = format!("there are more than {at} stages");
            problems.report(Diagnostic::too_large(raw.span.clone(), message));
            break;
        };
        scopes[scope.at()].stages.push(ix);
        stages.push(StageOutline { raw, scope, each: None, report: Report::default() });
    }
    connect(&mut scopes, &mut stages, problems);
    (scopes, stages)
}

impl ScopeOutline {
    fn new(name: &str, span: super::Span) -> Self {
        ScopeOutline { name: name.to_owned(), span, stages: Vec::new(), each: None }
    }
}

/// The index of a scope, made if need be.
fn place(
    scope: &Scope,
    definition: &Definition,
    scopes: &mut Vec<ScopeOutline>,
    problems: &mut Problems<'_>,
) -> Option<ScopeIx> {
    let name = scope.name.as_str();
    let fixed = |name: &str| words::SCOPES.iter().position(|fixed| *fixed == name);
    if let Some(at) = fixed(name) {
        scopes[at].span = scope.name.span.clone();
        return index(at).map(ScopeIx);
    }
    // A misspelled `[[unit]]` is read as what it was meant to be, or every stage in it would be a mistake as well.
    if !used(name, definition)
        && let Some(near) = problems.nearest(name, words::SCOPES)
    {
        let message = format!("no `each` stage runs `[[{name}]]`");
        problems.report(
            Diagnostic::at(scope.name.span.clone(), Code::UnusedScope, message)
                .help(format!("did you mean `[[{near}]]`?")),
        );
        return fixed(near).and_then(index).map(ScopeIx);
    }
    let ix = index(scopes.len()).map(ScopeIx)?;
    scopes.push(ScopeOutline::new(name, scope.name.span.clone()));
    Some(ix)
}

fn used(name: &str, definition: &Definition) -> bool {
    let stages = definition.scopes.iter().flat_map(|scope| &scope.stages);
    stages.filter_map(each_of).any(|scope| scope.value == name)
}

fn each_of(stage: &Stage) -> Option<&Text> {
    if let Some(Kind::Each { scope, .. }) = &stage.kind { Some(scope) } else { None }
}

/// Finds the scope that every `each` runs.
fn connect(
    scopes: &mut [ScopeOutline],
    stages: &mut [StageOutline<'_>],
    problems: &mut Problems<'_>,
) {
    for at in 0..stages.len() {
        let Some(word) = each_of(stages[at].raw) else { continue };
        let Some(scope) = child_named(word, scopes, problems) else { continue };
        stages[at].each = Some(scope);
        let scope = &mut scopes[scope.at()];
        if let Some(first) = scope.each {
            let message = format!("`[[{}]]` is run by two stages", scope.name);
            problems.report(
                Diagnostic::at(word.span.clone(), Code::UnusedScope, message)
                    .related(stages[first.at()].raw.at(), "this one runs it already")
                    .help("keep one `each` and go back to it by its name"),
            );
        } else {
            scope.each = index(at).map(StageIx);
        }
    }
    for scope in scopes[words::SCOPES.len()..].iter().filter(|scope| scope.each.is_none()) {
        let message = format!("no `each` stage runs `[[{}]]`", scope.name);
        problems.report(Diagnostic::at(scope.span.clone(), Code::UnusedScope, message).help(
            format!(
                "run it from a stage of a unit with `each = \"{}\"`, or leave it out",
                scope.name
            ),
        ));
    }
}

/// The child scope of this name; for a misspelled name the one that was probably meant.
fn child_named(
    word: &Text,
    scopes: &[ScopeOutline],
    problems: &mut Problems<'_>,
) -> Option<ScopeIx> {
    let children: Vec<&str> =
        scopes[words::SCOPES.len()..].iter().map(|scope| scope.name.as_str()).collect();
    let at = |name: &str| children.iter().position(|child| *child == name);
    let mut found = at(&word.value);
    if found.is_none() {
        let near = problems.nearest(&word.value, children.iter().copied());
        let help = near.map_or_else(
            || format!("add `[[{}]]` with its stages", word.value),
            |near| format!("did you mean `{near}`?"),
        );
        let message = format!("there is no child scope `[[{}]]`", word.value);
        let problem = Diagnostic::at(word.span.clone(), Code::UnknownName, message);
        problems.report(problem.help(help));
        found = near.and_then(at);
    }
    index(found? + words::SCOPES.len()).map(ScopeIx)
}
