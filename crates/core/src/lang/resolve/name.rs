//! Names looked up.

use super::{Resolved, Resolver, Ty};
use crate::expr::{Name, UnitTally};
use crate::lang::diagnostic::{Code, Diagnostic, Span};
use crate::lang::outline::{FactAt, Named};
use crate::lang::problems::Problems;
use crate::lang::words;
use crate::workflow::{RunOutcome, ScopeIx, Settled, StageIx};

const TALLIES: [(&str, UnitTally); 6] = [
    ("total", UnitTally::Total),
    ("left", UnitTally::Left),
    ("done", UnitTally::Done),
    ("failed", UnitTally::Failed),
    ("skipped", UnitTally::Skipped),
    ("blocked", UnitTally::Blocked),
];

impl Resolver<'_, '_> {
    /// A name alone.
    pub(super) fn bare(
        &mut self,
        name: &str,
        span: Span,
        lets: usize,
        problems: &mut Problems<'_>,
    ) -> Resolved {
        if name == "quiet" {
            return Resolved::name(Name::Quiet, Ty::Flag, span);
        }
        let (message, help) = match self.outline.named(name) {
            Some(Named::Input(ix)) => {
                let ty = self.outline.input(ix).map_or(Ty::Any, |input| Ty::of(&input.ty));
                return Resolved::name(Name::Input(ix), ty, span);
            }
            Some(Named::Counter(ix)) => {
                return Resolved::name(Name::Counter(ix), Ty::Number, span);
            }
            Some(Named::Let(at)) => return self.used_let(at, span, lets, problems),
            Some(Named::Stage(_)) => (
                format!("`{name}` is a stage, not a value"),
                format!("say `{name}.runs`, `{name}.last`, or a fact that it reports"),
            ),
            Some(Named::Scope(_)) => {
                (format!("`{name}` is a child scope, not a value"), format!("say `{name}.FACT`"))
            }
            None if ["unit", "units", "run"].contains(&name) => {
                (format!("`{name}` alone is not a value"), self.parts_of(name))
            }
            None => {
                let help = problems.did_you_mean(name, self.outline.all_names());
                let help = help.unwrap_or_else(|| {
                    format!("an input, a counter or a `let` was expected; a text is `'{name}'`")
                });
                (format!("there is nothing called `{name}`"), help)
            }
        };
        problems.report(Diagnostic::at(span, Code::UnknownName, message).help(help));
        Resolved::unknown()
    }

    fn parts_of(&self, name: &str) -> String {
        match name {
            "units" => format!("say {}", words::listed(&TALLIES.map(|(word, _)| word))),
            "run" => "say `run.outcome` or `run.stopping`".to_owned(),
            _ => "say `unit.FACT`, `unit.generation` or `unit.status`".to_owned(),
        }
    }

    /// `OWNER.PART`
    pub(super) fn part(
        &mut self,
        owner: (&str, Span),
        part: (&str, Span),
        span: Span,
        problems: &mut Problems<'_>,
    ) -> Resolved {
        match owner.0 {
            "units" => return self.tally(part, span, problems),
            "run" => return self.run(part, span, problems),
            "unit" => return self.item(ScopeIx::UNIT, "unit", part, span, problems),
            _ => {}
        }
        let what = match self.outline.named(owner.0) {
            Some(Named::Stage(ix)) => return self.of_stage(ix, owner.0, part, span, problems),
            Some(Named::Scope(ix)) => return self.item(ix, owner.0, part, span, problems),
            Some(other) => other.what(),
            None => {
                let names = self.outline.all_names().chain(["unit", "units", "run"]);
                let help = problems.did_you_mean(owner.0, names).unwrap_or_else(|| {
                    "a stage, `unit`, a child scope, `units` or `run` was expected".to_owned()
                });
                let message = format!("there is no stage or scope called `{}`", owner.0);
                let problem = Diagnostic::at(owner.1, Code::UnknownName, message);
                problems.report(problem.help(help));
                return Resolved::unknown();
            }
        };
        let message = format!("`{}` is {what} and has no parts", owner.0);
        problems.report(
            Diagnostic::at(part.1, Code::UnknownName, message)
                .help(format!("say `{}` alone", owner.0)),
        );
        Resolved::unknown()
    }

    fn tally(&self, part: (&str, Span), span: Span, problems: &mut Problems<'_>) -> Resolved {
        match TALLIES.iter().find(|(word, _)| *word == part.0) {
            Some((_, tally)) => Resolved::name(Name::Units(*tally), Ty::Number, span),
            None => no_part("units", part, &TALLIES.map(|(word, _)| word), problems),
        }
    }

    fn run(&self, part: (&str, Span), span: Span, problems: &mut Problems<'_>) -> Resolved {
        match part.0 {
            "outcome" => {
                let outcomes = RunOutcome::NAMED.iter().chain([&RunOutcome::Cancelled]);
                let ty = Ty::words(outcomes.map(|outcome| outcome.name()));
                Resolved::name(Name::RunOutcome, ty, span)
            }
            "stopping" => Resolved::name(Name::RunStopping, Ty::Flag, span),
            _ => no_part("run", part, &["outcome", "stopping"], problems),
        }
    }

    fn item(
        &self,
        scope: ScopeIx,
        owner: &str,
        part: (&str, Span),
        span: Span,
        problems: &mut Problems<'_>,
    ) -> Resolved {
        let mut known = self.outline.item_fact_names(scope);
        if scope == ScopeIx::UNIT {
            match part.0 {
                "generation" => return Resolved::name(Name::UnitGeneration, Ty::Number, span),
                "status" => {
                    let ty = Ty::words(Settled::ALL.iter().map(|settled| settled.name()));
                    return Resolved::name(Name::UnitStatus, ty, span);
                }
                _ => known.extend(["generation", "status"]),
            }
        }
        match self.outline.item_fact(scope, part.0) {
            FactAt::Is(ix) => {
                let ty = Ty::of(&self.outline.facts[ix.at()].ty);
                Resolved::name(Name::Fact(ix), ty, span)
            }
            FactAt::Vague => Resolved::unknown(),
            FactAt::None => no_part(owner, part, &known, problems),
        }
    }

    fn of_stage(
        &self,
        stage: StageIx,
        owner: &str,
        part: (&str, Span),
        span: Span,
        problems: &mut Problems<'_>,
    ) -> Resolved {
        match part.0 {
            "runs" => return Resolved::name(Name::Runs(stage), Ty::Number, span),
            "last" => return Resolved::name(Name::Last(stage), self.verdicts_of(stage), span),
            _ => {}
        }
        match self.outline.stage_fact(stage, part.0) {
            FactAt::Is(ix) => {
                let ty = Ty::of(&self.outline.facts[ix.at()].ty);
                Resolved::name(Name::Fact(ix), ty, span)
            }
            FactAt::Vague => Resolved::unknown(),
            FactAt::None => {
                let report = &self.outline.stage(stage).report;
                let mut known: Vec<&str> = report.facts.keys().map(String::as_str).collect();
                known.extend(["runs", "last"]);
                if report.lists.contains_key(part.0) {
                    let message = format!("`{owner}.{}` is a list, not a value", part.0);
                    problems.report(
                        Diagnostic::at(part.1, Code::UnknownName, message)
                            .help("a list is taken up by `add` or by `each`"),
                    );
                    return Resolved::unknown();
                }
                no_part(owner, part, &known, problems)
            }
        }
    }

    fn verdicts_of(&self, stage: StageIx) -> Ty {
        let outline = self.outline.stage(stage);
        if outline.report.vague {
            return Ty::Text;
        }
        let mishaps = crate::workflow::Mishap::ALL.iter().map(|mishap| mishap.name());
        Ty::words(outline.report.verdicts.iter().map(String::as_str).chain(mishaps))
    }
}

fn no_part(
    owner: &str,
    part: (&str, Span),
    known: &[&str],
    problems: &mut Problems<'_>,
) -> Resolved {
    let help = problems.did_you_mean_one_of(part.0, known);
    let message = format!("`{owner}` has no `{}`", part.0);
    problems.report(Diagnostic::at(part.1, Code::UnknownName, message).help(help));
    Resolved::unknown()
}
