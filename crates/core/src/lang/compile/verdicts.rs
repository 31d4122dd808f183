//! The verdicts of a stage and where each leads.

use super::super::definition::{On, Stage as RawStage};
use super::super::words;
use super::moves::Whose;
use super::*;
use crate::workflow::{Case, Go, Kind, Move, Settled, Verdict};

/// A verdict that a stage can come to.
struct Expected {
    name: String,
    /// Whether it must be handled.
    must: bool,
}

impl Compiler<'_, '_, '_, '_> {
    pub(super) fn verdicts(
        &mut self,
        ix: StageIx,
        kind: &Kind,
        made: &BTreeMap<StageIx, (Stage, StageOrigin)>,
    ) -> (Vec<Verdict>, Vec<Vec<MoveOrigin>>) {
        let raw = self.outline.stage(ix).raw;
        let expected = self.expected(ix, kind, made);
        let handled = self.handled(raw, kind, &expected, self.outline.stage(ix).report.vague);
        let gate = matches!(kind, Kind::Gate(_));
        let whose = if gate { Whose::Option } else { Whose::Own };
        let mut all = Made::default();
        for expected in &expected {
            match handled.get(expected.name.as_str()) {
                Some(on) => {
                    let cases = self.cases(on, ix, whose);
                    all.push(&expected.name, None, cases);
                }
                None if gate && expected.name == "other" => all.ask_again(raw.at()),
                None if expected.must => {
                    self.not_handled(raw, &expected.name);
                    // It keeps its place, since others may mean it by its index.
                    all.push(&expected.name, None, Vec::new());
                }
                None => {}
            }
        }
        self.mishaps(ix, kind, &handled, &mut all);
        // A verdict that the stage never comes to was noted; its moves still count as ways to get about.
        for on in &raw.on {
            let name = on.verdict.as_str();
            let taken = handled.values().any(|other| std::ptr::eq(*other, on));
            if !taken && !all.verdicts.iter().any(|verdict| verdict.name == name) {
                let cases = self.cases(on, ix, whose);
                all.push(name, None, cases);
            }
        }
        (all.verdicts, all.origins)
    }

    /// What the stage can come to, mishaps aside.
    fn expected(
        &mut self,
        ix: StageIx,
        kind: &Kind,
        made: &BTreeMap<StageIx, (Stage, StageOrigin)>,
    ) -> Vec<Expected> {
        let must = |name: &str| Expected { name: name.to_owned(), must: true };
        if let Kind::Each { scope, .. } = kind {
            let children: Vec<&Stage> =
                made.values().map(|(stage, _)| stage).filter(|s| s.scope == *scope).collect();
            let (falls_short, returns) = outcomes(&children);
            let some = Expected { name: "some".to_owned(), must: falls_short };
            let mut expected = vec![must("all"), some, must("none")];
            expected.extend(returns.into_iter().map(must));
            return expected;
        }
        let outline = self.outline.stage(ix);
        if matches!(kind, Kind::Gate(_)) {
            for on in &outline.raw.on {
                self.verdict_name(&on.verdict, "an option");
            }
        }
        self.outline.stage(ix).report.verdicts.iter().map(|name| must(name)).collect()
    }

    /// Which key of `on` handles which verdict. One that is no verdict is noted, and handles the one that was
    /// probably meant.
    fn handled<'r>(
        &mut self,
        raw: &'r RawStage,
        kind: &Kind,
        expected: &[Expected],
        vague: bool,
    ) -> BTreeMap<String, &'r On> {
        let mishaps = kind.mishaps().iter().map(|mishap| mishap.name());
        let known: Vec<&str> =
            expected.iter().map(|expected| expected.name.as_str()).chain(mishaps).collect();
        let is_known = |on: &&On| {
            known.contains(&on.verdict.as_str()) || (vague && words::is_mishap(on.verdict.as_str()))
        };
        let (right, wrong): (Vec<&On>, Vec<&On>) = raw.on.iter().partition(is_known);
        let mut handled: BTreeMap<String, &On> =
            right.into_iter().map(|on| (on.verdict.value.clone(), on)).collect();
        for on in wrong {
            let free = known.iter().copied().filter(|known| !handled.contains_key(*known));
            let near = self.problems.nearest(on.verdict.as_str(), free);
            self.not_a_verdict(raw, kind, on, near, expected);
            handled.extend(near.map(|near| (near.to_owned(), on)));
        }
        handled
    }

    fn not_a_verdict(
        &mut self,
        raw: &RawStage,
        kind: &Kind,
        on: &On,
        near: Option<&str>,
        expected: &[Expected],
    ) {
        let name = on.verdict.as_str();
        let called = raw.called();
        let names: Vec<&str> = expected.iter().map(|expected| expected.name.as_str()).collect();
        let message = if words::is_mishap(name) {
            format!("a {} stage such as `{called}` cannot meet `{name}`", kind.name())
        } else {
            format!("`{called}` never comes to `{name}`")
        };
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => words::one_of(&names),
        };
        let problem = Diagnostic::at(on.verdict.span.clone(), Code::UnknownVerdict, message);
        self.problems.report(problem.help(help));
    }

    fn not_handled(&mut self, raw: &RawStage, verdict: &str) {
        let message = format!("`{}` does not say what `{verdict}` leads to", raw.called());
        self.problems.report(
            Diagnostic::at(raw.at(), Code::UnhandledVerdict, message)
                .help(format!("add `{verdict} = \"…\"` to its `on`")),
        );
    }

    fn cases(&mut self, on: &On, ix: StageIx, whose: Whose) -> Vec<(Case, MoveOrigin)> {
        let scope = self.outline.stage(ix).scope;
        let mut cases = Vec::new();
        for raw in &on.cases {
            let when = raw.case.when.as_ref().map(|text| self.condition(text, scope));
            let (take, origin) = self.step(raw, ix, whose);
            cases.push((Case { when, take }, origin));
        }
        cases
    }

    /// What can go wrong: handled by the stage itself, or by `[always]`.
    fn mishaps(
        &mut self,
        ix: StageIx,
        kind: &Kind,
        handled: &BTreeMap<String, &On>,
        all: &mut Made,
    ) {
        let always = &self.outline.definition.always;
        for mishap in kind.mishaps() {
            let cases = if let Some(on) = handled.get(mishap.name()) {
                self.cases(on, ix, Whose::Own)
            } else if let Some((_, step)) =
                always.iter().find(|(name, _)| name.value == mishap.name())
            {
                let (take, origin) = self.step(step, ix, Whose::Always);
                vec![(Case { when: None, take }, origin)]
            } else {
                self.unhandled.entry(*mishap).or_default().push(ix);
                continue;
            };
            all.push(mishap.name(), Some(*mishap), cases);
        }
    }

    /// One line for each mishap, not one for each stage: a missing line in `[always]` is one mistake.
    pub(super) fn report_unhandled(&mut self) {
        for (mishap, mut stages) in std::mem::take(&mut self.unhandled) {
            stages.sort_unstable();
            let Some(first) = stages.first() else { continue };
            let name = |ix: &StageIx| format!("`{}`", self.outline.stage(*ix).raw.called());
            let mut names: Vec<String> = stages.iter().take(4).map(name).collect();
            if stages.len() > 4 {
                names.push(format!("{} more", stages.len() - 4));
            }
            let word = mishap.name();
            let message = format!("nothing says what `{word}` leads to at {}", names.join(", "));
            let span = self.outline.stage(*first).raw.at();
            self.problems.report(Diagnostic::at(span, Code::UnhandledMishap, message).help(
                format!("add `{word} = \"pause\"` to `[always]`, or to the stage's own `on`"),
            ));
        }
    }
}

/// Whether some child can fall short of done, and every word that children return.
fn outcomes<'s>(children: &[&'s Stage]) -> (bool, Vec<&'s str>) {
    let mut falls_short = false;
    let mut returns: Vec<&str> = Vec::new();
    for stage in children {
        let entry = stage.count.iter().map(|(_, step)| &**step);
        let cases = stage.verdicts.iter().flat_map(|verdict| &verdict.cases);
        for step in cases.map(|case| &case.take).chain(entry) {
            for step in [Some(step), step.spent.as_deref()].into_iter().flatten() {
                match &step.go {
                    Go::Leave(Settled::Failed | Settled::Skipped) => falls_short = true,
                    Go::Return(word) if !returns.contains(&word.as_str()) => returns.push(word),
                    Go::Return(_)
                    | Go::Leave(Settled::Done | Settled::Blocked | Settled::Unfinished)
                    | Go::To(_)
                    | Go::Again
                    | Go::Pause(_)
                    | Go::Rest(_)
                    | Go::Finish(_) => {}
                }
            }
        }
    }
    (falls_short, returns)
}

/// Verdicts made so far.
#[derive(Default)]
struct Made {
    verdicts: Vec<Verdict>,
    origins: Vec<Vec<MoveOrigin>>,
}

impl Made {
    fn push(&mut self, name: &str, mishap: Option<Mishap>, cases: Vec<(Case, MoveOrigin)>) {
        let (cases, origins) = cases.into_iter().unzip();
        self.verdicts.push(Verdict { name: name.to_owned(), mishap, cases });
        self.origins.push(origins);
    }

    /// A gate without an option for free text records it and asks again.
    fn ask_again(&mut self, span: Span) {
        let take = Move {
            go: Go::Again,
            count: None,
            spent: None,
            reset: Vec::new(),
            widen: Vec::new(),
            add: Vec::new(),
            waive: Vec::new(),
            reason: false,
            record: None,
            outcome: None,
            label: None,
            about: None,
        };
        let origin = MoveOrigin { go: span, reset: Vec::new(), add: Vec::new(), spent: None };
        self.push("other", None, vec![(Case { when: None, take }, origin)]);
    }
}
