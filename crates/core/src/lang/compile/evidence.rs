//! Evidence: what a landing or a save needs, and what a person may waive.

use super::super::definition::Kind as RawKind;
use super::super::words;
use super::*;
use crate::workflow::{Expect, Need, VerdictIx};

impl Compiler<'_, '_, '_, '_> {
    /// The needs of a stage.
    pub(super) fn needs(&mut self, stage: StageIx) -> Vec<(Need, Span)> {
        let outline = self.outline.stage(stage);
        let Some(left) = self.needs_left.checked_sub(outline.raw.needs.len()) else {
            let message = "there are more needs than can be proved";
            self.problems.report(Diagnostic::too_large(outline.raw.at(), message));
            return Vec::new();
        };
        self.needs_left = left;
        let all = outline.raw.needs.iter();
        let found: Vec<_> = all.filter_map(|text| self.need(text, outline.scope)).collect();
        let lands = matches!(outline.raw.kind, Some(RawKind::Land { .. }));
        if lands {
            for (need, span) in &found {
                self.red_test(need.stage, span);
            }
        }
        let proves =
            matches!(&outline.raw.kind, Some(RawKind::Land { proof, .. }) if !proof.is_empty());
        if found.is_empty() && outline.raw.needs.is_empty() && lands && !proves {
            let message = format!("`{}` lands without any evidence", outline.raw.called());
            self.problems.report(
                Diagnostic::at(outline.raw.kind_key.clone(), Code::LandWithoutNeeds, message)
                    .help(
                        "add `needs = [\"STAGE:VERDICT\"]`: what must hold before it lands; or `proof = [\"test\"]`: what is \
                         run on exactly what lands",
                    ),
            );
        }
        found
    }

    /// `STAGE:VERDICT|VERDICT`
    fn need(&mut self, text: &Text, scope: ScopeIx) -> Option<(Need, Span)> {
        let Some((name, verdicts)) = text.value.split_once(':') else {
            let message = format!("`{}` does not say which verdict will do", text.value);
            self.problems
                .report(Diagnostic::at(text.span.clone(), Code::BadEvidence, message).help(
                    format!("write `{}:VERDICT`, or `{}:ONE|OTHER`", text.value, text.value),
                ));
            return None;
        };
        let stage = self.evidence(name, text.part(0..name.len()), scope)?;
        let known = self.outline.stage(stage).report.verdicts.clone();
        let vague = self.outline.stage(stage).report.vague;
        let mut found = Vec::new();
        let mut at = name.len() + 1;
        for word in verdicts.split('|') {
            let span = text.part(at..at + word.len());
            at += word.len() + 1;
            match known.iter().position(|verdict| verdict == word.trim()).and_then(index) {
                Some(ix) => found.push(VerdictIx(ix)),
                None if vague => {}
                None => {
                    let known: Vec<&str> = known.iter().map(String::as_str).collect();
                    let help = self.problems.did_you_mean_one_of(word.trim(), &known);
                    let message = format!("`{name}` never comes to `{}`", word.trim());
                    let problem = Diagnostic::at(span, Code::UnknownVerdict, message);
                    self.problems.report(problem.help(help));
                }
            }
        }
        if found.is_empty() {
            return None;
        }
        self.proves_something(stage, &found, text);
        Some((Need { stage, verdicts: found }, text.span.clone()))
    }

    /// A need that a failed check meets, or that any verdict meets, proves nothing.
    fn proves_something(&mut self, stage: StageIx, wanted: &[VerdictIx], text: &Text) {
        let outline = self.outline.stage(stage);
        let (name, known) = (outline.raw.called(), &outline.report.verdicts);
        let takes = |word: &str| wanted.iter().any(|ix| known[ix.at()] == word);
        let checks = matches!(outline.raw.kind, Some(RawKind::Checks { .. }));
        let (message, help) = if checks && takes("fail") {
            let help = format!(
                "`{name}:pass`, or `{name}:pass|skipped` where there may be nothing to run"
            );
            (format!("a failed `{name}` is no evidence"), help)
        } else if known.len() > 1 && known.iter().all(|word| takes(word)) {
            let help = format!("name those verdicts of `{name}` that speak for the work");
            (format!("whatever `{name}` comes to will do, so it proves nothing"), help)
        } else {
            return;
        };
        let problem = Diagnostic::at(text.span.clone(), Code::BadEvidence, message);
        self.problems.report(problem.related(outline.raw.at(), "it stands here").help(help));
    }

    /// Where a red test is wanted, `pass` says that the tree is broken.
    fn red_test(&mut self, stage: StageIx, span: &Span) {
        let outline = self.outline.stage(stage);
        if let Some(RawKind::Checks { expect: Expect::Fail, .. }) = outline.raw.kind {
            let name = outline.raw.called();
            let message = format!("`{name}` expects a failure, so what passes it must not land");
            self.problems.report(
                Diagnostic::at(span.clone(), Code::BadEvidence, message)
                    .related(outline.raw.at(), "it stands here")
                    .help("name a checks stage without `expect = \"fail\"`"),
            );
        }
    }

    /// A stage whose verdict can be evidence.
    fn evidence(&mut self, name: &str, span: Span, scope: ScopeIx) -> Option<StageIx> {
        let stage = match self.outline.stage_in(scope, name, &span, self.problems) {
            Ok(stage) => stage,
            Err((problem, meant)) => {
                self.problems.report(problem);
                meant?
            }
        };
        let raw = self.outline.stage(stage).raw;
        let (message, help) = match &raw.kind {
            None => return None,
            Some(RawKind::Role { .. }) if raw.edits.is_some() => (
                format!("`{name}` edits files, so its own verdict is no evidence"),
                "name a stage that looks at the result",
            ),
            Some(RawKind::Role { .. } | RawKind::Panel { .. } | RawKind::Checks { .. }) => {
                return Some(stage);
            }
            Some(
                RawKind::Read { .. }
                | RawKind::Gate(_)
                | RawKind::Each { .. }
                | RawKind::Save { .. }
                | RawKind::Land { .. }
                | RawKind::Tell { .. }
                | RawKind::Decide(_),
            ) => (
                format!("`{name}` gives no evidence"),
                "evidence comes from `role`, `panel` and `checks` stages",
            ),
        };
        self.problems.report(
            Diagnostic::at(span, Code::BadEvidence, message)
                .related(raw.at(), "it stands here")
                .help(help),
        );
        None
    }

    /// A stage whose evidence a person may do without.
    pub(super) fn waived(&mut self, name: &Text, scope: ScopeIx) -> Option<StageIx> {
        let stage = self.evidence(name.as_str(), name.span.clone(), scope)?;
        if !self.needed.contains(&(scope, name.as_str())) && words::is_name(&name.value) {
            let message =
                format!("nothing here needs `{}`, so there is nothing to waive", name.value);
            self.problems.report(
                Diagnostic::at(name.span.clone(), Code::BadEvidence, message)
                    .help("leave it out, or add it to the `needs` of a `land`"),
            );
        }
        Some(stage)
    }
}
