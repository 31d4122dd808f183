//! The facts that expressions may ask for: what stages report, and what the items of scopes have.

use super::super::definition::{Kind, Move};
use super::super::diagnostic::{Code, Diagnostic, Span};
use super::super::document::Text;
use super::super::problems::Problems;
use super::{Outline, index};
use crate::value::Type;
use crate::workflow::{Fact, FactIx, Owner, ScopeIx, StageIx};

/// What was found under a name that should be a fact.
pub(in super::super) enum FactAt {
    Is(FactIx),
    /// The owner could not be made out, so nothing can be said about its facts.
    Vague,
    None,
}

/// Why there is no such list.
pub(in super::super) enum NoList {
    /// There is no such stage here.
    Stage(String),
    /// The stage reports no such list.
    List(StageIx),
    /// The stage could not be made out; that was noted.
    Vague,
}

impl Outline<'_> {
    /// A fact that a stage reports.
    pub fn stage_fact(&self, stage: StageIx, name: &str) -> FactAt {
        match self.stage_facts.get(&(stage, name.to_owned())) {
            Some(ix) => FactAt::Is(*ix),
            None if self.stage(stage).report.vague => FactAt::Vague,
            None => FactAt::None,
        }
    }

    /// A fact of the items of a scope.
    pub fn item_fact(&self, scope: ScopeIx, name: &str) -> FactAt {
        match self.item_facts.get(&(scope, name.to_owned())) {
            Some(ix) => FactAt::Is(*ix),
            None if self.vague_items.contains(&scope) => FactAt::Vague,
            None => FactAt::None,
        }
    }

    /// The names of the facts that the items of a scope have.
    pub fn item_fact_names(&self, scope: ScopeIx) -> Vec<&str> {
        let facts = self.item_facts.keys().filter(|(of, _)| *of == scope);
        facts.map(|(_, name)| name.as_str()).collect()
    }

    /// The list that a stage means by `LIST` or `STAGE.LIST`.
    pub fn list(&self, by: StageIx, text: &str) -> Result<(StageIx, String), NoList> {
        let (stage, list) = match text.split_once('.') {
            None => (by, text),
            Some((stage, list)) => {
                let found = self.stage_named(stage.trim());
                let here = |ix: &StageIx| self.stage(*ix).scope == self.stage(by).scope;
                let found = found.filter(here).ok_or_else(|| NoList::Stage(stage.to_owned()))?;
                (found, list.trim())
            }
        };
        let report = &self.stage(stage).report;
        match report.lists.get(list) {
            Some(_) => Ok((stage, list.to_owned())),
            None if report.vague => Err(NoList::Vague),
            None => Err(NoList::List(stage)),
        }
    }

    /// Gives every fact its index.
    pub(super) fn find_facts(&mut self, problems: &mut Problems<'_>) {
        let mut facts = Vec::new();
        for (ix, stage) in self.each_stage() {
            for (name, ty) in &stage.report.facts {
                facts.push((Owner::Stage(ix), name.clone(), ty.clone(), stage.raw.at()));
            }
        }
        facts.extend(self.facts_of_items(problems));
        // What nothing runs has no items whose facts could be known.
        let idle = self.scopes.iter().zip((0..).map(ScopeIx));
        let idle = idle.filter(|(scope, ix)| ix.is_child() && scope.each.is_none());
        self.vague_items.extend(idle.map(|(_, ix)| ix));
        for (owner, name, ty, span) in facts {
            let Some(ix) = index(self.facts.len()).map(FactIx) else {
                let message = "there are too many facts";
                problems.report(Diagnostic::too_large(span, message));
                return;
            };
            match owner {
                Owner::Stage(stage) => self.stage_facts.insert((stage, name.clone()), ix),
                Owner::Item(scope) => self.item_facts.insert((scope, name.clone()), ix),
            };
            self.facts.push(Fact { owner, name, ty });
        }
    }

    /// The facts of items, by scope and name: those of every list that is added to the scope.
    fn facts_of_items(&mut self, problems: &mut Problems<'_>) -> Vec<(Owner, String, Type, Span)> {
        let mut found = std::collections::BTreeMap::<(ScopeIx, String), (Type, Span)>::new();
        for (scope, by, text) in self.all_added() {
            let Ok((stage, list)) = self.list(by, text.as_str()) else {
                self.vague_items.insert(scope);
                continue;
            };
            for (name, ty) in &self.stage(stage).report.lists[&list] {
                let key = (scope, name.clone());
                let known = found.entry(key).or_insert_with(|| (ty.clone(), text.span.clone()));
                if known.0 != *ty {
                    let message = format!("`{name}` is {ty} here, and {} in another list", known.0);
                    problems.report(
                        Diagnostic::at(text.span.clone(), Code::FactConflict, message)
                            .related(known.1.clone(), "the other list is added here")
                            .help("one fact of an item has one type; rename one in the catalogue"),
                    );
                }
            }
        }
        let found = found.into_iter();
        found.map(|((scope, name), (ty, span))| (Owner::Item(scope), name, ty, span)).collect()
    }

    /// Every list that is added to a scope, and the stage that does it.
    fn all_added(&self) -> Vec<(ScopeIx, StageIx, Text)> {
        let mut all = Vec::new();
        for (ix, stage) in self.each_stage() {
            if let (Some(Kind::Each { from: Some(from), .. }), Some(scope)) =
                (&stage.raw.kind, stage.each)
            {
                all.push((scope, ix, from.clone()));
            }
            let cases = stage.raw.on.iter().flat_map(|on| &on.cases);
            let spent = cases.clone().filter_map(|step| step.spent.as_deref());
            for step in cases.chain(spent) {
                all.extend(self.added_by(step).map(|(scope, text)| (scope, ix, text)));
            }
        }
        all
    }

    fn added_by<'s>(&'s self, step: &'s Move) -> impl Iterator<Item = (ScopeIx, Text)> + 's {
        step.add.iter().flat_map(|(scope, lists)| {
            let scope = self.scope_named(scope.as_str());
            scope.into_iter().flat_map(move |ix| lists.iter().map(move |list| (ix, list.clone())))
        })
    }
}
