//! What every stage reports: its verdicts, facts and lists, by its kind and the catalogue.

use std::collections::{BTreeMap, BTreeSet};

use super::super::catalogue::{Catalogue, Reporter};
use super::super::definition::{Go, Kind, Move, Stage};
use super::super::diagnostic::{Code, Diagnostic};
use super::super::document::Text;
use super::super::problems::Problems;
use super::super::words;
use super::Outline;
use crate::value::Type;
use crate::workflow::{Save, ScopeIx, StageIx};

/// What a stage reports.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Report {
    /// The verdicts it can come to, mishaps aside. For an `each` these are all it might come to.
    pub verdicts: Vec<String>,
    pub facts: BTreeMap<String, Type>,
    pub lists: BTreeMap<String, BTreeMap<String, Type>>,
    /// It could not be made out; nothing more is to be said about it.
    pub vague: bool,
}

impl Report {
    fn of(verdicts: &[&str]) -> Report {
        let verdicts = verdicts.iter().map(|verdict| (*verdict).to_owned()).collect();
        Report { verdicts, ..Report::default() }
    }

    fn from(reporter: &Reporter) -> Report {
        Report {
            verdicts: reporter.verdicts.clone(),
            facts: reporter.facts.clone(),
            lists: reporter.lists.clone(),
            vague: false,
        }
    }

    /// For a stage that could not be made out: whatever its `on` says is right.
    fn vague(raw: &Stage) -> Report {
        Report { vague: true, ..Report::of(&keys_of(raw)) }
    }
}

fn keys_of(raw: &Stage) -> Vec<&str> {
    raw.on.iter().map(|on| on.verdict.as_str()).collect()
}

impl Outline<'_> {
    /// Finds what every stage reports, and which part of the catalogue that takes.
    pub(super) fn find_reports(&mut self, catalogue: &Catalogue, problems: &mut Problems<'_>) {
        let mut finder = Finder { catalogue, used: Catalogue::default(), problems };
        let mut reports = Vec::new();
        for stage in &self.stages {
            let returns = stage.each.map(|scope| self.returns_of(scope));
            reports.push(finder.report(stage.raw, returns));
        }
        self.used = finder.used;
        for (stage, report) in self.stages.iter_mut().zip(reports) {
            stage.report = report;
        }
    }

    /// Every word that some move might return from a scope.
    fn returns_of(&self, scope: ScopeIx) -> BTreeSet<&str> {
        let stages = self.scope(scope).stages.iter().map(|ix: &StageIx| self.stage(*ix).raw);
        let own = stages.flat_map(|raw| &raw.on).flat_map(|on| &on.cases);
        let always = self.definition.always.iter().map(|(_, step)| step);
        let spent = self.definition.counters.iter().filter_map(|counter| counter.spent.as_ref());
        let mut words = BTreeSet::new();
        for step in own.chain(always).chain(spent) {
            words.extend(returned(step));
            words.extend(step.spent.as_deref().and_then(returned));
        }
        words
    }
}

fn returned(step: &Move) -> Option<&str> {
    if let Some(Go::Return(word)) = &step.go { Some(word.as_str()) } else { None }
}

/// What a role or a reader reports. One that was only guessed counts if the stage handles its verdicts, slips aside:
/// otherwise it is probably another one, and all that would be said about it beside the point.
fn reported(raw: &Stage, found: Option<&Reporter>, known: bool) -> Report {
    let fits = |guess: &Reporter| {
        let verdicts = || guess.verdicts.iter().map(String::as_str);
        let known =
            |word: &str| words::is_mishap(word) || verdicts().any(|verdict| verdict == word);
        let handled = keys_of(raw);
        handled.iter().all(|word| known(word) || words::nearest(word, verdicts()).is_some())
    };
    match found {
        Some(reporter) if known || fits(reporter) => Report::from(reporter),
        Some(_) | None => Report::vague(raw),
    }
}

/// Looks things up in the catalogue and remembers what was used.
struct Finder<'c, 'p, 't> {
    catalogue: &'c Catalogue,
    used: Catalogue,
    problems: &'p mut Problems<'t>,
}

impl<'c> Finder<'c, '_, '_> {
    /// The report of a stage; `returns` is what the children of an `each` may return, if its scope is known.
    fn report(&mut self, raw: &Stage, returns: Option<BTreeSet<&str>>) -> Report {
        let Some(kind) = &raw.kind else { return Report::vague(raw) };
        match kind {
            Kind::Role { role: name, .. } => {
                let role = self.role(name);
                reported(raw, role, self.catalogue.roles.contains_key(name.as_str()))
            }
            Kind::Panel { roles, critique, synthesis } => {
                self.panel(raw, roles, critique.as_ref(), synthesis.as_ref())
            }
            Kind::Checks { names, .. } => {
                self.checks(names);
                let lists = BTreeMap::from([("findings".to_owned(), BTreeMap::new())]);
                Report { lists, ..Report::of(&["pass", "fail", "skipped"]) }
            }
            Kind::Read { name } => {
                let reader = self.reader(name);
                reported(raw, reader, self.catalogue.reads.contains_key(name.as_str()))
            }
            Kind::Gate(_) => {
                let mut verdicts = keys_of(raw);
                if !verdicts.contains(&"other") {
                    verdicts.push("other");
                }
                Report::of(&verdicts)
            }
            Kind::Each { .. } => match returns {
                Some(returns) => {
                    let own = ["all", "some", "none"];
                    let returns = returns.into_iter().filter(|word| !own.contains(word));
                    Report::of(&own.into_iter().chain(returns).collect::<Vec<_>>())
                }
                None => Report::vague(raw),
            },
            Kind::Save { how: Save::Commit | Save::Rewind, .. } => {
                Report::of(&["saved", "nothing"])
            }
            Kind::Save { how: Save::Patch | Save::Apply | Save::Push, .. } => {
                Report::of(&["saved", "nothing", "refused"])
            }
            Kind::Land { proof, .. } if proof.is_empty() => {
                Report::of(&["landed", "moved", "conflict"])
            }
            Kind::Land { proof, .. } => {
                self.checks(proof);
                Report::of(&["landed", "moved", "conflict", "fail"])
            }
            Kind::Tell { names } => {
                self.tells(names);
                Report::of(&["told"])
            }
            Kind::Decide(cases) => {
                let mut words: Vec<&str> = Vec::new();
                for word in cases.iter().filter_map(|case| case.is.as_ref()) {
                    if !words.contains(&word.as_str()) {
                        words.push(word.as_str());
                    }
                }
                Report::of(&words)
            }
        }
    }

    fn role(&mut self, name: &Text) -> Option<&'c Reporter> {
        let catalogue = self.catalogue;
        let found = self.look_up(name, &catalogue.roles, "role", Code::UnknownRole);
        if let Some((name, role)) = found {
            self.used.roles.insert(name.to_owned(), role.clone());
        }
        found.map(|(_, role)| role)
    }

    fn reader(&mut self, name: &Text) -> Option<&'c Reporter> {
        let catalogue = self.catalogue;
        let found = self.look_up(name, &catalogue.reads, "reader", Code::UnknownReader);
        if let Some((name, reader)) = found {
            self.used.reads.insert(name.to_owned(), reader.clone());
        }
        found.map(|(_, reader)| reader)
    }

    fn checks(&mut self, names: &[Text]) {
        let catalogue = self.catalogue;
        for name in names {
            if let Some((name, about)) =
                self.look_up(name, &catalogue.checks, "check", Code::UnknownCheck)
            {
                self.used.checks.insert(name.to_owned(), about.clone());
            }
        }
    }

    fn tells(&mut self, names: &[Text]) {
        let catalogue = self.catalogue;
        for name in names {
            if let Some((name, about)) =
                self.look_up(name, &catalogue.tells, "tell", Code::UnknownTell)
            {
                self.used.tells.insert(name.to_owned(), about.clone());
            }
        }
    }

    /// An entry of the catalogue; for a misspelled name the one that was probably meant.
    fn look_up<T>(
        &mut self,
        name: &Text,
        table: &'c BTreeMap<String, T>,
        what: &str,
        code: Code,
    ) -> Option<(&'c str, &'c T)> {
        if let Some((name, entry)) = table.get_key_value(name.as_str()) {
            return Some((name, entry));
        }
        let near = self.problems.nearest(&name.value, table.keys().map(String::as_str));
        let help = near.map_or_else(
            || {
                let names: Vec<&str> = table.keys().map(String::as_str).collect();
                format!("add it to the catalogue; {} already", words::one_of(&names))
            },
            |near| format!("did you mean `{near}`?"),
        );
        let message = format!("the catalogue has no {what} `{}`", name.value);
        self.problems.report(Diagnostic::at(name.span.clone(), code, message).help(help));
        let (name, entry) = table.get_key_value(near?)?;
        Some((name, entry))
    }

    fn panel(
        &mut self,
        raw: &Stage,
        roles: &[Text],
        critique: Option<&Text>,
        synthesis: Option<&Text>,
    ) -> Report {
        if let Some(critique) = critique {
            self.role(critique);
        }
        let members: Vec<Option<&Reporter>> = roles.iter().map(|role| self.role(role)).collect();
        if let Some(synthesis) = synthesis {
            return self.role(synthesis).map_or_else(|| Report::vague(raw), Report::from);
        }
        let mut all = roles.iter().zip(members);
        let Some((first_name, Some(first))) = all.next() else { return Report::vague(raw) };
        let mut report = Report::from(first);
        for (name, member) in all {
            let Some(member) = member else { return Report::vague(raw) };
            self.agree(first_name, first, name, member);
            for (fact, ty) in &member.facts {
                self.unite(&mut report.facts, fact, ty, name);
            }
            for (list, facts) in &member.lists {
                let united = report.lists.entry(list.clone()).or_default();
                facts.iter().for_each(|(fact, ty)| self.unite(united, fact, ty, name));
            }
        }
        report
    }

    /// Without a synthesis the members' common verdict is the panel's, so they must be able to have one.
    fn agree(&mut self, first_name: &Text, first: &Reporter, name: &Text, member: &Reporter) {
        let sorted =
            |reporter: &Reporter| reporter.verdicts.iter().cloned().collect::<BTreeSet<_>>();
        if sorted(first) == sorted(member) {
            return;
        }
        let message = format!(
            "`{}` says {}, but `{}` says {}",
            name.value,
            member.verdicts.join(" or "),
            first_name.value,
            first.verdicts.join(" or "),
        );
        self.problems.report(Diagnostic::at(name.span.clone(), Code::PanelVerdicts, message).help(
            "members of a panel share their verdicts; or add a `synthesis` role that has the \
                 last word",
        ));
    }

    fn unite(&mut self, facts: &mut BTreeMap<String, Type>, fact: &str, ty: &Type, role: &Text) {
        let known = facts.entry(fact.to_owned()).or_insert_with(|| ty.clone());
        if known != ty {
            let message = format!("`{}` reports `{fact}` as {ty}, another as {known}", role.value);
            self.problems.report(
                Diagnostic::at(role.span.clone(), Code::FactConflict, message)
                    .help("one name has one type in a panel; rename one in the catalogue"),
            );
        }
    }
}
