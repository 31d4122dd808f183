//! What a stage does.

use super::super::catalogue::check_name;
use super::super::definition::{DecideCase, Gate as RawGate, Kind as RawKind, Stage as RawStage};
use super::super::words;
use super::*;
use crate::workflow::{Errand, Gate, Kind, Policy, VerdictIx};

/// What a stage does, and where the answers of its policy and its default stand.
pub(super) struct Made {
    pub kind: Kind,
    pub policy: Vec<Span>,
    pub default: Option<Span>,
}

impl From<Kind> for Made {
    fn from(kind: Kind) -> Self {
        Made { kind, policy: Vec::new(), default: None }
    }
}

impl Compiler<'_, '_, '_, '_> {
    pub(super) fn kind(&mut self, stage: StageIx) -> Made {
        let outline = self.outline.stage(stage);
        let texts = |texts: &[Text]| texts.iter().map(|text| text.value.clone()).collect();
        let text = |text: &Option<Text>| text.as_ref().map(|text| text.value.clone());
        // What could not be made out becomes a stage that does nothing.
        let nothing = || Kind::Decide(Vec::new()).into();
        let Some(raw) = &outline.raw.kind else { return nothing() };
        self.fits(raw, outline.raw, outline.scope);
        match raw {
            RawKind::Role { role, agents, session } => {
                self.one_role(role, session.as_ref(), stage);
                let (role, session) = (role.value.clone(), text(session));
                Kind::Role { role, agents: texts(agents), session }.into()
            }
            RawKind::Panel { roles, critique, synthesis } => Kind::Panel {
                roles: texts(roles),
                critique: text(critique),
                synthesis: text(synthesis),
            }
            .into(),
            RawKind::Checks { names, expect } => {
                Kind::Errand(Errand::Checks { names: texts(names), expect: *expect }).into()
            }
            RawKind::Read { name } => {
                Kind::Errand(Errand::Read { name: name.value.clone() }).into()
            }
            RawKind::Gate(gate) => self.gate(gate, stage),
            RawKind::Each { from, .. } => {
                let from = from.as_ref().and_then(|from| self.list_ref(from, stage));
                match outline.each {
                    Some(scope) => Kind::Each { scope, from }.into(),
                    None => nothing(),
                }
            }
            RawKind::Save { how, label, trailers, from } => Kind::Errand(Errand::Save {
                how: *how,
                label: text(label),
                trailers: texts(trailers),
                from: from.as_ref().and_then(|from| self.patch(from, outline.scope)),
            })
            .into(),
            RawKind::Land { how, label, keep, proof } => Kind::Errand(Errand::Land {
                how: *how,
                label: text(label),
                keep: texts(keep),
                proof: texts(proof),
            })
            .into(),
            RawKind::Tell { names } => Kind::Errand(Errand::Tell { names: texts(names) }).into(),
            RawKind::Decide(cases) => self.decide(cases, stage),
        }
    }

    /// A conversation is one role's: whoever is asked as another one would remember what it was told as the first.
    fn one_role(&mut self, role: &Text, session: Option<&Text>, stage: StageIx) {
        let Some(session) = session else { return };
        let scope = self.outline.stage(stage).scope;
        let before = self.outline.each_stage().take_while(|(ix, _)| *ix != stage);
        let other = before.filter(|(_, other)| other.scope == scope).find_map(|(_, other)| {
            let Some(RawKind::Role { role: own, session: Some(theirs), .. }) = &other.raw.kind
            else {
                return None;
            };
            (theirs.value == session.value && own.value != role.value).then_some((theirs, own))
        });
        if let Some((theirs, own)) = other {
            let message = format!(
                "the session `{}` is of the role `{}`, not of `{}`",
                session.value, own.value, role.value
            );
            self.problems.report(
                Diagnostic::at(session.span.clone(), Code::SharedSession, message)
                    .related(theirs.span.clone(), "it is begun here")
                    .help("give it a name of its own, or the stage the same role"),
            );
        }
    }

    /// Notes a kind that the scope cannot have.
    fn fits(&mut self, kind: &RawKind, raw: &RawStage, scope: ScopeIx) {
        let unit = scope == ScopeIx::UNIT;
        let lane = unit || scope.is_child() || scope == ScopeIx::FINALE;
        let (word, fits, help) = match kind {
            RawKind::Each { .. } => ("each", unit, "only a unit expands into children"),
            RawKind::Land { .. } => (
                "land",
                unit || scope == ScopeIx::FINALE,
                "only `[[unit]]` and `[[finale]]` land; a child's work lands with its unit",
            ),
            RawKind::Save { .. } => {
                ("save", lane, "only `[[unit]]`, child scopes and `[[finale]]` have a lane")
            }
            RawKind::Role { .. }
            | RawKind::Panel { .. }
            | RawKind::Checks { .. }
            | RawKind::Read { .. }
            | RawKind::Gate(_)
            | RawKind::Tell { .. }
            | RawKind::Decide(_) => ("", true, ""),
        };
        let here = &self.outline.scope(scope).name;
        if !fits {
            let message = format!("`[[{here}]]` cannot have a `{word}` stage");
            let span = raw.kind_key.clone();
            self.problems.report(Diagnostic::at(span, Code::WrongScope, message).help(help));
        } else if let Some(edits) = raw.edits.as_ref().filter(|_| !lane) {
            let message = format!("nothing can be edited in `[[{here}]]`");
            self.problems.report(
                Diagnostic::at(edits.span.clone(), Code::WrongScope, message)
                    .help("only `[[unit]]`, child scopes and `[[finale]]` have a lane"),
            );
        }
    }

    /// The stage whose patch is applied.
    fn patch(&mut self, from: &Text, scope: ScopeIx) -> Option<StageIx> {
        let stage = self.stage_in(scope, from)?;
        let raw = self.outline.stage(stage).raw;
        let makes_one = matches!(
            raw.kind,
            Some(RawKind::Role { .. } | RawKind::Panel { .. } | RawKind::Read { .. }) | None
        );
        if !makes_one {
            let message = format!("`{}` makes no patch", raw.called());
            self.problems.report(
                Diagnostic::at(from.span.clone(), Code::WrongValue, message)
                    .help("name a `role`, `panel` or `read` stage"),
            );
        }
        Some(stage)
    }

    fn gate(&mut self, raw: &RawGate, stage: StageIx) -> Made {
        let scope = self.outline.stage(stage).scope;
        let context = Context { scope: Some(scope), quiet: !raw.concerns.is_empty() };
        let mut concerns = Vec::new();
        for (name, text) in &raw.concerns {
            check_name(&name.value, name.span.clone(), "a concern", self.problems);
            concerns.push((name.value.clone(), self.condition(text, scope)));
        }
        let mut policy = Vec::new();
        let mut spans = Vec::new();
        for rule in &raw.policy {
            let when = rule
                .case
                .when
                .as_ref()
                .map(|text| self.resolver.expression(text, Want::Flag, context, self.problems));
            let Some(answer) = &rule.answer else { continue };
            let Some(option) = self.option(answer, stage) else { continue };
            let record = rule.record.as_ref().map(|text| text.value.clone());
            policy.push(Policy { when, answer: option, record });
            spans.push(answer.span.clone());
        }
        let default = raw.default.as_ref().and_then(|word| self.option(word, stage));
        let gate = Gate {
            question: raw.question.value.clone(),
            hard: raw.hard,
            concerns,
            policy,
            default,
        };
        Made {
            kind: Kind::Gate(gate),
            policy: spans,
            default: raw.default.as_ref().map(|word| word.span.clone()),
        }
    }

    /// An option of a gate; what every gate answers free text with is none.
    fn option(&mut self, word: &Text, stage: StageIx) -> Option<VerdictIx> {
        let raw = self.outline.stage(stage).raw;
        let options: Vec<&str> = raw.on.iter().map(|on| on.verdict.as_str()).collect();
        let found = options.iter().position(|option| *option == word.value);
        if found.is_none() {
            let help = self.problems.did_you_mean_one_of(&word.value, &options);
            let message = format!("`{}` has no option `{}`", raw.called(), word.value);
            let problem = Diagnostic::at(word.span.clone(), Code::PolicyAnswer, message);
            self.problems.report(problem.help(help));
        }
        found.and_then(index).map(VerdictIx)
    }

    fn decide(&mut self, raw: &[DecideCase], stage: StageIx) -> Made {
        let outline = self.outline.stage(stage);
        let mut cases = Vec::new();
        for case in raw {
            let when = case.case.when.as_ref().map(|text| self.condition(text, outline.scope));
            let Some(word) = &case.is else { continue };
            self.verdict_name(word, "a word of `decide`");
            let at = outline.report.verdicts.iter().position(|verdict| *verdict == word.value);
            cases.extend(at.and_then(index).map(|ix| (when, VerdictIx(ix))));
        }
        Kind::Decide(cases).into()
    }

    /// Notes a verdict of the definition's own that cannot be one.
    pub(super) fn verdict_name(&mut self, word: &Text, what: &str) {
        if words::is_mishap(&word.value) {
            let message = format!("`{}` is a mishap and cannot be {what}", word.value);
            self.problems.report(
                Diagnostic::at(word.span.clone(), Code::BadName, message).help("use another word"),
            );
        } else {
            check_name(&word.value, word.span.clone(), what, self.problems);
        }
    }
}
