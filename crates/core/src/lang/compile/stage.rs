//! A stage, put together.

use super::moves::Whose;
use super::*;
use crate::lang::definition;
use crate::workflow::{Errand, Kind, Limit, List, Move, Save};

impl Compiler<'_, '_, '_, '_> {
    /// A stage. `made` are those made before it: all stages of child scopes, for a stage of another scope.
    pub(super) fn stage(
        &mut self,
        ix: StageIx,
        made: &BTreeMap<StageIx, (Stage, StageOrigin)>,
    ) -> (Stage, StageOrigin) {
        let outline = self.outline.stage(ix);
        let (raw, scope) = (outline.raw, outline.scope);
        let done = self.kind(ix);
        let (verdicts, verdict_origins) = self.verdicts(ix, &done.kind, made);
        let count = raw.count.as_ref().and_then(|name| self.entry_count(name, ix));
        let (needs, need_spans) = self.needs(ix).into_iter().unzip();
        let with = raw.with.iter().map(|(name, text)| {
            let context = Context::within(scope);
            let value = self.resolver.expression(text, Want::Anything, context, self.problems);
            (name.value.clone(), value)
        });
        let with = with.collect();
        // A patch and a rewind change files whether or not anyone says so.
        let changes =
            matches!(done.kind, Kind::Errand(Errand::Save { how: Save::Patch | Save::Rewind, .. }));
        let stage = Stage {
            name: text_of(raw.name.as_ref()),
            shown_as: raw.shown_as.as_ref().map(|text| text.value.clone()),
            scope,
            kind: done.kind,
            when: raw.when.as_ref().map(|text| self.condition(text, scope)),
            aside: raw.aside,
            record: raw.record.as_ref().map(|text| text.value.clone()),
            count: count.as_ref().map(|(ix, step, _)| (*ix, Box::new(step.clone()))),
            limit: raw.limit.as_ref().map(|limit| self.limit(limit, scope)),
            edits: raw.edits.is_some() || changes,
            with,
            sees: raw.sees.iter().map(|text| text.value.clone()).collect(),
            needs,
            verdicts,
            lists: self.lists(ix),
            next: self.next(ix),
        };
        let count_at = raw.count.as_ref().map(|name| name.span.clone());
        let origin = StageOrigin {
            name: raw.at(),
            count: count_at.zip(count.map(|(_, _, origin)| origin)),
            needs: need_spans,
            policy: done.policy,
            default: done.default,
            verdicts: verdict_origins,
        };
        (stage, origin)
    }

    fn limit(&mut self, limit: &definition::Limit, scope: ScopeIx) -> Limit {
        match limit {
            definition::Limit::Ms(ms) => Limit::Ms(*ms),
            definition::Limit::Seconds(text) => {
                let context = Context::within(scope);
                Limit::Seconds(self.resolver.expression(text, Want::Number, context, self.problems))
            }
        }
    }

    fn lists(&self, ix: StageIx) -> Vec<List> {
        let lists = self.outline.stage(ix).report.lists.iter();
        lists
            .map(|(name, facts)| List {
                name: name.clone(),
                facts: facts.iter().map(|(fact, ty)| (fact.clone(), ty.clone())).collect(),
            })
            .collect()
    }

    /// Entering counts: the counter itself says where to go when it is spent.
    fn entry_count(
        &mut self,
        name: &Text,
        stage: StageIx,
    ) -> Option<(CounterIx, Move, MoveOrigin)> {
        let ix = self.counter(name, self.outline.stage(stage).scope, "count")?;
        if self.per_stage(ix) {
            let message = format!(
                "`{}` starts anew with every visit, so entering cannot count it",
                name.value
            );
            self.problems.report(
                Diagnostic::at(name.span.clone(), Code::CounterMisuse, message)
                    .help("count a counter per run, unit or child here"),
            );
        }
        let Some(spent) = &self.outline.definition.counters[ix.at()].spent else {
            let message = format!("nothing says where to go when `{}` is spent", name.value);
            self.problems.report(
                Diagnostic::at(name.span.clone(), Code::MissingSpent, message)
                    .help(format!("add `spent = \"…\"` to `{}` in `[counters]`", name.value)),
            );
            return None;
        };
        let (step, origin) = self.step(spent, stage, Whose::Counter);
        Some((ix, step, origin))
    }
}
