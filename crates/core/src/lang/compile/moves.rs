//! Moves: where each goes, in the scope of the stage that takes it.

use super::super::definition::{self, Go as RawGo};
use super::super::outline::NoList;
use super::super::words;
use super::*;
use crate::workflow::{Add, Go, ListRef, Move, RunOutcome, Settled};

/// Whose move it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// The stage's own.
    Own,
    /// An option of the gate that the stage is.
    Option,
    /// From `[always]`.
    Always,
    /// The `spent` of a counter.
    Counter,
}

impl Whose {
    fn shared(self) -> bool {
        matches!(self, Whose::Always | Whose::Counter)
    }
}

impl Compiler<'_, '_, '_, '_> {
    /// A move as the stage takes it.
    pub(super) fn step(
        &mut self,
        raw: &definition::Move,
        stage: StageIx,
        whose: Whose,
    ) -> (Move, MoveOrigin) {
        let affordable = !whose.shared() || self.affords(raw);
        let scope = self.outline.stage(stage).scope;
        let go = self.go(raw, stage, whose);
        let count = raw.count.as_ref().and_then(|name| {
            let ix = self.counter(name, scope, "count")?;
            self.counts_again_only(ix, name, &go);
            Some(ix)
        });
        let spent = self.spent(raw, count, stage, whose);
        let reset: Vec<(CounterIx, Span)> =
            raw.reset.iter().filter_map(|name| self.reset(name, scope)).collect();
        let add = self.add(raw, stage, whose);
        let text = |text: &Option<Text>| {
            text.as_ref().filter(|_| affordable).map(|text| text.value.clone())
        };
        let widen = raw.widen.iter().filter(|_| affordable).map(|text| text.value.clone());
        let (spent, spent_origin) = spent.unzip();
        let step = Move {
            count,
            spent: spent.map(Box::new),
            reset: reset.iter().map(|(ix, _)| *ix).collect(),
            widen: widen.collect(),
            add: add.iter().map(|(add, _)| add.clone()).collect(),
            waive: raw.waive.iter().filter_map(|name| self.waived(name, scope)).collect(),
            reason: raw.reason,
            record: text(&raw.record),
            outcome: raw.outcome.as_ref().and_then(|word| self.outcome(word, scope)),
            label: text(&raw.label),
            about: text(&raw.about),
            go,
        };
        let origin = MoveOrigin {
            go: raw.go.as_ref().map_or_else(|| raw.span(), |go| go.text().span.clone()),
            reset: reset.into_iter().map(|(_, span)| span).collect(),
            add: add.into_iter().map(|(_, span)| span).collect(),
            spent: spent_origin.map(Box::new),
        };
        (step, origin)
    }

    /// A shared move is copied to every stage that takes it; a hostile file could make that a lot.
    fn affords(&mut self, raw: &definition::Move) -> bool {
        let left = self.shared_text_left.checked_sub(raw.span().len());
        if left.is_none() {
            let message = "this move is too long for the number of stages that share it";
            self.problems.report(Diagnostic::too_large(raw.span(), message));
        }
        self.shared_text_left = left.unwrap_or(0);
        left.is_some()
    }

    fn go(&mut self, raw: &definition::Move, stage: StageIx, whose: Whose) -> Go {
        let scope = self.outline.stage(stage).scope;
        let Some(go) = &raw.go else { return Go::Leave(Settled::Done) };
        match go {
            RawGo::Word(word) => match word.as_str() {
                "done" | "failed" | "skipped" => self.settle(word, scope),
                "pause" => Go::Pause(stage),
                _ => self.to(word, stage, whose),
            },
            RawGo::To(word) => match word.as_str() {
                "done" | "failed" | "skipped" | "pause" => self.not_a_stage(word, stage),
                _ => self.to(word, stage, whose),
            },
            RawGo::End(word) => self.settle(word, scope),
            RawGo::Pause(word) => match self.target(word, stage, whose) {
                Some(target) => Go::Pause(target),
                None => Go::Leave(Settled::Done),
            },
            RawGo::Rest(word) => match self.target(word, stage, whose) {
                Some(target) => Go::Rest(target),
                None => Go::Leave(Settled::Done),
            },
            RawGo::Return(word) => self.returned(word, scope),
            RawGo::Finish(word) => Go::Finish(self.run_outcome(word, "`finish`")),
        }
    }

    fn to(&mut self, word: &Text, stage: StageIx, whose: Whose) -> Go {
        match word.as_str() {
            "next" => self.next(stage).map_or(Go::Leave(Settled::Done), Go::To),
            "again" => Go::Again,
            "end" => Go::Leave(Settled::Done),
            _ => self.target(word, stage, whose).map_or(Go::Leave(Settled::Done), Go::To),
        }
    }

    /// The stage after this one that is not aside.
    pub(super) fn next(&self, stage: StageIx) -> Option<StageIx> {
        let scope = self.outline.scope(self.outline.stage(stage).scope);
        let at = scope.stages.binary_search(&stage).ok()?;
        scope.stages[at + 1..].iter().copied().find(|ix| !self.outline.stage(*ix).raw.aside)
    }

    /// The stage that a move names. For a shared move it is also said which stage would take it.
    fn target(&mut self, word: &Text, stage: StageIx, whose: Whose) -> Option<StageIx> {
        let scope = self.outline.stage(stage).scope;
        match self.outline.stage_in(scope, word.as_str(), &word.span, self.problems) {
            Ok(found) => Some(found),
            Err((mut problem, meant)) => {
                let near = words::nearest(&word.value, words::MOVES);
                if let Some(near) = near.filter(|_| meant.is_none() && whose == Whose::Own) {
                    problem = problem.help(format!("did you mean `{near}`?"));
                }
                if whose.shared() {
                    let by = self.outline.stage(stage).raw;
                    let note = format!("`{}` of this scope would take it", by.called());
                    problem = problem.related(by.at(), note);
                }
                self.problems.report(problem);
                meant
            }
        }
    }

    fn not_a_stage(&mut self, word: &Text, stage: StageIx) -> Go {
        let message = format!("`to` names a stage, and `{}` is none", word.value);
        let help = if word.value == "pause" {
            let name = self.outline.stage(stage).raw.called();
            format!("write `pause = \"{name}\"`, the stage to go on at")
        } else {
            format!("write `end = \"{}\"`", word.value)
        };
        self.problems
            .report(Diagnostic::at(word.span.clone(), Code::MoveToNowhere, message).help(help));
        Go::Leave(Settled::Done)
    }

    fn settle(&mut self, word: &Text, scope: ScopeIx) -> Go {
        if scope != ScopeIx::UNIT && !scope.is_child() {
            let message = format!(
                "nothing settles as `{}` in `[[{}]]`",
                word.value,
                self.outline.scope(scope).name
            );
            let help = if word.value == "done" {
                "only a unit or a child settles; here, say `end`"
            } else {
                "only a unit or a child settles; here, say `end`, or `{ finish = \"failed\" }`"
            };
            self.problems
                .report(Diagnostic::at(word.span.clone(), Code::WrongScope, message).help(help));
            return Go::Leave(Settled::Done);
        }
        let known = [Settled::Done, Settled::Failed, Settled::Skipped];
        if let Some(settled) = known.iter().find(|settled| settled.name() == word.value) {
            return Go::Leave(*settled);
        }
        let names = known.map(|settled| settled.name());
        let help = self.problems.did_you_mean_one_of(&word.value, &names);
        let message = format!("nothing settles as `{}`", word.value);
        let problem = Diagnostic::at(word.span.clone(), Code::WrongValue, message);
        self.problems.report(problem.help(help));
        Go::Leave(Settled::Done)
    }

    fn returned(&mut self, word: &Text, scope: ScopeIx) -> Go {
        let taken = ["all", "some", "none"].contains(&word.as_str());
        let problem = if !scope.is_child() {
            let message = "only a child returns to its parent";
            Diagnostic::at(word.span.clone(), Code::WrongScope, message)
                .help("here, go to a stage, `end`, or `finish`")
        } else if taken || words::is_mishap(&word.value) || !words::is_name(&word.value) {
            let message = format!("`{}` cannot be what a child returns", word.value);
            Diagnostic::at(word.span.clone(), Code::BadName, message)
                .help("return a word of its own, and handle it in the `each` stage")
        } else {
            return Go::Return(word.value.clone());
        };
        self.problems.report(problem);
        Go::Leave(Settled::Done)
    }

    fn outcome(&mut self, word: &Text, scope: ScopeIx) -> Option<RunOutcome> {
        if scope != ScopeIx::FINALE {
            let message = "only a finale changes the outcome and goes on";
            self.problems.report(
                Diagnostic::at(word.span.clone(), Code::WrongScope, message)
                    .help("elsewhere, `{ finish = \"…\" }` ends the run with an outcome"),
            );
            return None;
        }
        Some(self.run_outcome(word, "`outcome`"))
    }

    fn run_outcome(&mut self, word: &Text, what: &str) -> RunOutcome {
        let known = RunOutcome::NAMED;
        if let Some(found) = known.iter().find(|outcome| outcome.name() == word.value) {
            return *found;
        }
        let names = known.map(|outcome| outcome.name());
        let help = self.problems.did_you_mean_one_of(&word.value, &names);
        let message = format!("{what} cannot be `{}`", word.value);
        let problem = Diagnostic::at(word.span.clone(), Code::WrongValue, message);
        self.problems.report(problem.help(help));
        RunOutcome::Failed
    }

    /// Where to go when the counter is spent: what the move says, else what the counter says.
    fn spent(
        &mut self,
        raw: &definition::Move,
        count: Option<CounterIx>,
        stage: StageIx,
        whose: Whose,
    ) -> Option<(Move, MoveOrigin)> {
        let count = count?;
        if let Some(spent) = &raw.spent {
            return Some(self.step(
                spent,
                stage,
                if whose == Whose::Option { Whose::Own } else { whose },
            ));
        }
        let counter = &self.outline.definition.counters[count.at()];
        if let Some(spent) = &counter.spent {
            return Some(self.step(spent, stage, Whose::Counter));
        }
        if whose != Whose::Option {
            let name = &counter.name.value;
            let span = raw.count.as_ref().map_or_else(|| raw.span(), |count| count.span.clone());
            let message = format!("nothing says where to go when `{name}` is spent");
            self.problems.report(Diagnostic::at(span, Code::MissingSpent, message).help(format!(
                "add `spent = \"STAGE\"` to the move, or to `{name}` in `[counters]`"
            )));
        }
        None
    }

    fn counts_again_only(&mut self, ix: CounterIx, name: &Text, go: &Go) {
        if self.per_stage(ix) && *go != Go::Again {
            let message = format!(
                "`{}` is held by one visit to a stage, and this move ends the visit",
                name.value
            );
            self.problems.report(
                Diagnostic::at(name.span.clone(), Code::CounterMisuse, message)
                    .help("use `to = \"again\"`, or a counter per unit or run"),
            );
        }
    }

    fn reset(&mut self, name: &Text, scope: ScopeIx) -> Option<(CounterIx, Span)> {
        let ix = self.counter(name, scope, "reset")?;
        if self.per_stage(ix) {
            let message = format!("`{}` starts anew with every visit by itself", name.value);
            self.problems.report(
                Diagnostic::at(name.span.clone(), Code::CounterMisuse, message)
                    .help("leave it out of `reset`"),
            );
        }
        Some((ix, name.span.clone()))
    }

    fn add(&mut self, raw: &definition::Move, stage: StageIx, whose: Whose) -> Vec<(Add, Span)> {
        let mut all = Vec::new();
        for (name, lists) in &raw.add {
            if whose.shared() {
                let message = "a move that stages share cannot `add`";
                self.problems.report(
                    Diagnostic::at(name.span.clone(), Code::MisplacedKey, message)
                        .help("put it on the move of the stage that has the list"),
                );
                continue;
            }
            let Some(scope) = self.added_to(name, stage) else { continue };
            for list in lists {
                let found = self.list_ref(list, stage);
                all.extend(found.map(|found| (Add { scope, list: found }, list.span.clone())));
            }
        }
        all
    }

    /// The scope whose units or children something becomes.
    fn added_to(&mut self, name: &Text, stage: StageIx) -> Option<ScopeIx> {
        let from = self.outline.stage(stage).scope;
        let adding = |scope: &ScopeIx| *scope == ScopeIx::UNIT || scope.is_child();
        let Some(scope) = self.outline.scope_named(name.as_str()).filter(adding) else {
            let children = self.outline.scopes[words::SCOPES.len()..].iter();
            let mut known = vec!["unit"];
            known.extend(children.map(|scope| scope.name.as_str()));
            let help = self.problems.did_you_mean_one_of(&name.value, &known);
            let message = format!("nothing can be added to `{}`", name.value);
            let problem = Diagnostic::at(name.span.clone(), Code::UnknownName, message);
            self.problems.report(problem.help(help));
            return None;
        };
        let (fits, help) = if scope == ScopeIx::UNIT {
            (from != ScopeIx::FINALE, "when the finale runs, no new unit starts")
        } else {
            let inside = from == ScopeIx::UNIT || from.is_child();
            (inside, "only a unit and its children can add children")
        };
        if !fits {
            let message =
                format!("`[[{}]]` cannot add a {}", self.outline.scope(from).name, name.value);
            self.problems
                .report(Diagnostic::at(name.span.clone(), Code::WrongScope, message).help(help));
            return None;
        }
        Some(scope)
    }

    /// The list that a stage means by `LIST` or `STAGE.LIST`.
    pub(super) fn list_ref(&mut self, text: &Text, by: StageIx) -> Option<ListRef> {
        let problem = match self.outline.list(by, text.as_str()) {
            Ok((stage, name)) => return Some(ListRef { stage, name: name.into() }),
            Err(NoList::Vague) => return None,
            Err(NoList::Stage(word)) => {
                let scope = self.outline.stage(by).scope;
                let span = text.part(0..word.len());
                match self.outline.stage_in(scope, word.trim(), &span, self.problems) {
                    Ok(_) => return None,
                    Err((problem, _)) => problem,
                }
            }
            Err(NoList::List(stage)) => self.no_list(text, stage, stage == by),
        };
        self.problems.report(problem);
        None
    }

    fn no_list(&mut self, text: &Text, stage: StageIx, own: bool) -> Diagnostic {
        let outline = self.outline.stage(stage);
        let name = outline.raw.called();
        let list = text.value.rsplit('.').next().unwrap_or(&text.value).trim();
        let lists: Vec<&str> = outline.report.lists.keys().map(String::as_str).collect();
        let help = if lists.is_empty() && own {
            "name the stage that reports it: `\"STAGE.LIST\"`".to_owned()
        } else if lists.is_empty() {
            format!("`{name}` reports no lists")
        } else {
            let near = self.problems.did_you_mean(list, lists.iter().copied());
            near.unwrap_or_else(|| format!("it reports {}", words::listed(&lists)))
        };
        let message = format!("`{name}` reports no list `{list}`");
        Diagnostic::at(text.span.clone(), Code::UnknownList, message).help(help)
    }
}
