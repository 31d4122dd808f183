//! What the notes add up to: what prompts and people look at, and what an effect that is done again has to know.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use windlass_core::run::{EffectId, Event, Run, UnitStatus};

use crate::entry::{Answered, Check, Coupling, Invocation, Member, Note, Picture};
use crate::foresight::Foreseen;

/// What the notes of a run add up to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Books {
    /// How isolated agents and checks are, since a process took the run up last.
    isolation: Option<String>,
    /// The commit that each unit's lane started from; the run's own lane is the one without a unit.
    bases: BTreeMap<Option<String>, String>,
    /// Answers so far, by unit, part of it, and stage.
    attempts: BTreeMap<Spot, Vec<Attempt>>,
    /// What each check of a unit printed last.
    checks: BTreeMap<Option<String>, BTreeMap<String, Checked>>,
    /// What checks came to on a base, so that they are run there once.
    on_base: BTreeMap<String, BTreeMap<String, Check>>,
    /// The commit that holds what each unit's lane held when we looked last.
    held: BTreeMap<Option<String>, String>,
    /// Landings that were turned away and whose work is being rebuilt: what they came to, and the tip.
    turned: BTreeMap<EffectId, (String, String)>,
    /// Landings that were about to happen as cars of a train: where it begins, and the commit.
    #[serde(default)]
    coupled: BTreeMap<EffectId, (String, String)>,
    /// Where each unit's lane stood before it was last rebuilt.
    #[serde(default)]
    stood: BTreeMap<Option<String>, String>,
    /// Where each landing went.
    landings: Vec<Landed>,
    /// Effects that are wanted and that nobody has begun.
    left: BTreeSet<EffectId>,
    /// Files of each unit's lane that were left with both sides in them.
    conflicts: BTreeMap<Option<String>, Vec<String>>,
    /// Where the branch was when anything was first looked at.
    began: Option<String>,
    /// Nothing is left to be done for the run.
    tidy: bool,
    /// Units have landed since the run's own lane was put where it is.
    behind: bool,
    /// What is known of each unit and of each part of one that an agent was asked about.
    parts: BTreeMap<(Option<String>, Option<String>), Part>,
    /// Until when each agent is served no more, by the wall clock.
    #[serde(default)]
    limited: BTreeMap<String, i64>,
    /// The lane of the pool that each unit has had last.
    #[serde(default)]
    lanes: BTreeMap<Option<String>, u32>,
    /// What would not go together, by the units, the earlier one first.
    #[serde(default)]
    foreseen: BTreeMap<(String, String), Foreseen>,
    /// Effects that wait for an earlier unit, and for which.
    #[serde(default)]
    held_back: BTreeMap<EffectId, String>,
    /// What a browser saw last of what each unit has built.
    #[serde(default)]
    browsed: BTreeMap<Option<String>, Browsed>,
    /// What each unit had built by itself before its lane was left with both sides in its files: the commit that it stands
    /// on, and the one that has it; and the stage that is asked to make one of both.
    #[serde(default)]
    own: BTreeMap<Option<String>, Own>,
    /// The same, before each unit's lane was rebuilt last.
    #[serde(default)]
    before: BTreeMap<Option<String>, Own>,
    /// What was said of each unit last, if nothing else has become of it since.
    #[serde(default)]
    last_words: BTreeMap<String, Attempt>,
    /// How often each unit was begun anew after it had settled.
    #[serde(default)]
    anew: BTreeMap<String, u32>,
    /// What of each unit was seen to fail last, as it was to.
    #[serde(default)]
    red: BTreeMap<Option<String>, Red>,
    /// What checks printed on the bases, by digest.
    #[serde(default)]
    printed_on_base: BTreeMap<String, BTreeMap<String, String>>,
}

/// What a unit had built before its lane was left with both sides in its files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Own {
    base: String,
    held: String,
    resolved_at: Option<String>,
}

/// What was seen to fail, as it was to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Red {
    /// Where the unit's lane started from by then.
    pub base: String,
    /// The tree that it ran on.
    pub tree: String,
    /// What was printed, by digest.
    pub output: Option<String>,
}

/// What a browser saw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Browsed {
    /// The tree that it looked at.
    pub tree: String,
    /// Step by step, by digest.
    pub seen: String,
    /// Its pictures.
    pub pictures: Vec<Picture>,
    /// Those of the round before, when it looked at something else.
    #[serde(default)]
    pub before: Vec<Picture>,
}

/// A unit, or a part of one, that an agent was asked about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// What the lane held when it was asked for the first time.
    pub since: Option<String>,
    /// What it said last, by digest.
    pub said: Option<String>,
    /// What a person should know about that.
    pub remarks: Vec<String>,
}

/// A landing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Landed {
    /// For which unit.
    pub unit: Option<String>,
    /// The commit.
    pub commit: String,
    /// How to take it, while it waits.
    pub waits: Option<String>,
}

/// A unit, a part of it, and a stage.
type Spot = (Option<String>, Option<String>, String);

/// One answer of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The role that was played.
    pub role: String,
    /// Who played it.
    pub agent: String,
    /// What it came to.
    pub came: String,
    /// What a person should know about it.
    pub remarks: Vec<String>,
    /// What it said, by digest.
    pub said: String,
    /// It had to stop because its provider served it no more.
    #[serde(default)]
    pub unfinished: bool,
    /// In a panel: which of its members it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panel: Option<Member>,
}

/// The last run of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// The tree it ran on.
    pub tree: String,
    /// The command.
    pub command: Option<String>,
    /// What it came to.
    pub came: Check,
    /// What it printed, by digest.
    pub output: Option<String>,
}

impl Books {
    /// Takes a note in.
    pub fn enter(&mut self, note: &Note) {
        match note {
            Note::Based { unit, base } => self.based(unit, base),
            Note::Asked(asked) => self.asked(asked),
            Note::Answered(answered) => self.answered(answered),
            Note::Turned { effect, unit, came, tip } => self.turned_away(*effect, unit, came, tip),
            Note::Coupled { begins, cars } => {
                let landing = |car: &Coupling| (car.effect, (begins.clone(), car.commit.clone()));
                self.coupled.extend(cars.iter().map(landing));
            }
            Note::Saved { effect, unit, commit } => {
                self.turned.remove(effect);
                self.held.insert(unit.clone(), commit.clone());
            }
            Note::ByHand { unit, commit } => {
                self.held.insert(unit.clone(), commit.clone());
                self.own.remove(unit);
            }
            Note::Conflicted { unit, files } => {
                self.conflicts.insert(unit.clone(), files.clone());
                self.own.extend(self.before.remove(unit).map(|own| (unit.clone(), own)));
            }
            Note::BaseChecked { .. } | Note::Checked { .. } => self.of_checks(note),
            Note::Browsed { unit, tree, seen, pictures, .. } => {
                let (tree, seen, pictures) = (tree.clone(), seen.clone(), pictures.clone());
                let before = match self.browsed.remove(unit) {
                    Some(same) if same.tree == tree => same.before,
                    Some(earlier) => earlier.pictures,
                    None => Vec::new(),
                };
                self.browsed.insert(unit.clone(), Browsed { tree, seen, pictures, before });
            }
            Note::Landed { effect, unit, commit, waits, .. } => {
                self.coupled.remove(effect);
                self.landed(unit, commit, waits);
            }
            Note::Laned { .. }
            | Note::Foreseen { .. }
            | Note::ForeseenOver { .. }
            | Note::HeldBack { .. }
            | Note::LetGo { .. } => self.of_lanes(note),
            Note::Tidied => self.tidy = true,
            Note::Left { effects } => self.left.extend(effects),
            // Whoever takes the run up begins all that is wanted.
            Note::TakenUp { isolation, .. } => {
                self.left.clear();
                self.isolation.clone_from(isolation);
            }
            Note::Lost { .. }
            | Note::Queued { .. }
            | Note::Proved { .. }
            | Note::Told { .. }
            | Note::Shown { .. }
            | Note::Kept { .. }
            | Note::Paper { .. } => {}
        }
    }

    fn of_checks(&mut self, note: &Note) {
        match note {
            Note::BaseChecked { name, base, came, output, .. } => {
                self.on_base.entry(base.clone()).or_default().insert(name.clone(), *came);
                let printed = self.printed_on_base.entry(base.clone()).or_default();
                printed.insert(name.clone(), output.clone());
            }
            Note::Checked { unit, name, tree, command, came, output, to_fail, .. } => {
                if *to_fail && let Some(base) = self.bases.get(unit) {
                    let (base, tree, output) = (base.clone(), tree.clone(), output.clone());
                    self.red.insert(unit.clone(), Red { base, tree, output });
                }
                let checked = Checked {
                    tree: tree.clone(),
                    command: command.clone(),
                    came: *came,
                    output: output.clone(),
                };
                self.checks.entry(unit.clone()).or_default().insert(name.clone(), checked);
                self.own.remove(unit);
                self.went_on(unit.as_ref());
            }
            _ => {}
        }
    }

    fn turned_away(&mut self, effect: EffectId, unit: &Option<String>, came: &str, tip: &str) {
        self.turned.insert(effect, (came.to_owned(), tip.to_owned()));
        self.went_on(unit.as_ref());
        self.coupled.remove(&effect);
        let base = self.bases.get(unit).cloned();
        self.stood.extend(base.map(|base| (unit.clone(), base)));
    }

    fn landed(&mut self, unit: &Option<String>, commit: &str, waits: &Option<String>) {
        // What lands takes along whatever waited before it.
        if waits.is_none() {
            self.landings.iter_mut().for_each(|landed| landed.waits = None);
        }
        self.behind |= unit.is_some();
        self.own.remove(unit);
        let (unit, commit, waits) = (unit.clone(), commit.to_owned(), waits.clone());
        self.landings.push(Landed { unit, commit, waits });
    }

    /// Which lane a unit has, and what is foreseen of several.
    fn of_lanes(&mut self, note: &Note) {
        match note {
            Note::Laned { unit, lane, .. } => {
                self.lanes.insert(unit.clone(), *lane);
            }
            Note::Foreseen { earlier, later, files, since } => {
                let pair = (earlier.clone(), later.clone());
                self.foreseen.insert(pair, Foreseen { files: files.clone(), since: *since });
            }
            Note::ForeseenOver { earlier, later } => {
                self.foreseen.remove(&(earlier.clone(), later.clone()));
            }
            Note::HeldBack { effect, behind, .. } => {
                self.held_back.insert(*effect, behind.clone());
            }
            Note::LetGo { effect } => drop(self.held_back.remove(effect)),
            _ => {}
        }
    }

    /// Takes an event in; `run` is as it is after it. A unit that is begun anew stands nowhere yet.
    pub fn learn(&mut self, event: &Event, run: &Run) {
        let Event::UnitStarted { unit, .. } = event else { return };
        let Some(id) = run.unit_at(*unit).map(|unit| unit.id.to_string()) else { return };
        let key = Some(id.clone());
        if self.bases.remove(&key).is_some() {
            *self.anew.entry(id).or_default() += 1;
            self.held.remove(&key);
            self.stood.remove(&key);
            self.conflicts.remove(&key);
            self.own.remove(&key);
            self.before.remove(&key);
        }
    }

    /// How often a unit was begun anew after it had settled.
    pub fn anew(&self, unit: Option<&str>) -> u32 {
        unit.and_then(|unit| self.anew.get(unit)).copied().unwrap_or_default()
    }

    fn based(&mut self, unit: &Option<String>, base: &str) {
        let before = self.own.remove(unit).or_else(|| {
            let (base, held) = (self.bases.get(unit)?.clone(), self.held.get(unit)?.clone());
            Some(Own { base, held, resolved_at: None })
        });
        self.before.extend(before.map(|own| (unit.clone(), own)));
        self.bases.insert(unit.clone(), base.to_owned());
        self.held.insert(unit.clone(), base.to_owned());
        self.behind &= unit.is_some();
        self.conflicts.remove(unit);
        self.began.get_or_insert_with(|| base.to_owned());
        // What its changes were told from is no longer what it stands on.
        let own = self.parts.iter_mut().filter(|((of, _), _)| of == unit);
        own.for_each(|(_, part)| part.since = Some(base.to_owned()));
    }

    /// The first time somebody is asked about a part, what the lane holds is what its changes are told from.
    fn asked(&mut self, asked: &Invocation) {
        // Who is asked first after a conflict is to make one of both sides; whoever comes next goes on with that.
        if let Some(own) = self.own.get_mut(&asked.unit) {
            let at = own.resolved_at.get_or_insert_with(|| asked.stage.clone());
            if *at != asked.stage {
                self.own.remove(&asked.unit);
            }
        }
        let held = self.held.get(&asked.unit).cloned();
        let part = self.part_mut(asked);
        part.since = part.since.take().or(held);
    }

    fn part_mut(&mut self, asked: &Invocation) -> &mut Part {
        self.parts.entry((asked.unit.clone(), asked.task.clone())).or_default()
    }

    fn answered(&mut self, answered: &Answered) {
        let Answered { asked, came, remarks, commit, .. } = answered;
        self.asked(asked);
        if let Some(commit) = commit {
            self.held.insert(asked.unit.clone(), commit.clone());
        }
        match answered.limited_until {
            Some(until) => self.limited.insert(asked.agent.clone(), until),
            None => self.limited.remove(&asked.agent),
        };
        let part = self.part_mut(asked);
        part.said = Some(answered.said().to_owned());
        part.remarks.clone_from(remarks);
        let attempt = Attempt {
            role: asked.role.clone(),
            agent: asked.agent.clone(),
            came: came.clone(),
            remarks: remarks.clone(),
            said: answered.said().to_owned(),
            unfinished: answered.limited_until.is_some(),
            panel: asked.panel,
        };
        let spot = (asked.unit.clone(), asked.task.clone(), asked.stage.clone());
        if let Some(unit) = &asked.unit {
            self.last_words.insert(unit.clone(), attempt.clone());
        }
        self.attempts.entry(spot).or_default().push(attempt);
    }

    /// What was said of a unit last, if nothing else has become of it since: neither a check nor a landing.
    pub fn last_word(&self, unit: &str) -> Option<&Attempt> {
        self.last_words.get(unit)
    }

    /// Something else has become of a unit than that somebody said something.
    fn went_on(&mut self, unit: Option<&String>) {
        unit.and_then(|unit| self.last_words.remove(unit));
    }

    /// Until when agents are served no more, by the wall clock, as far as they were told.
    pub fn limited(&self) -> &BTreeMap<String, i64> {
        &self.limited
    }

    /// The commit that a unit's lane started from.
    pub fn base(&self, unit: Option<&str>) -> Option<&str> {
        self.bases.get(&unit.map(str::to_owned)).map(String::as_str)
    }

    /// The answers that a stage has had for a unit. One that was lost is none: it is asked again as if for the first
    /// time.
    pub fn attempts(&self, unit: Option<&str>, task: Option<&str>, stage: &str) -> &[Attempt] {
        let spot = (unit.map(str::to_owned), task.map(str::to_owned), stage.to_owned());
        self.attempts.get(&spot).map_or(&[], Vec::as_slice)
    }

    /// Everything that was answered for a unit, by stage.
    pub fn answers(&self, unit: Option<&str>) -> impl Iterator<Item = (&str, &[Attempt])> {
        let unit = unit.map(str::to_owned);
        let own = self.attempts.iter().filter(move |((of, _, _), _)| *of == unit);
        own.map(|((_, _, stage), attempts)| (stage.as_str(), attempts.as_slice()))
    }

    /// What the checks of a unit printed last.
    pub fn checks(&self, unit: Option<&str>) -> impl Iterator<Item = (&str, &Checked)> {
        let own = self.checks.get(&unit.map(str::to_owned));
        own.into_iter().flatten().map(|(name, checked)| (name.as_str(), checked))
    }

    /// What of a unit was seen to fail last, as it was to.
    pub fn red(&self, unit: Option<&str>) -> Option<&Red> {
        self.red.get(&unit.map(str::to_owned))
    }

    /// What a check printed on a base, by digest.
    pub(crate) fn printed_on_base(&self, base: &str, check: &str) -> Option<&str> {
        self.printed_on_base.get(base)?.get(check).map(String::as_str)
    }

    /// What a browser saw last of what a unit has built.
    pub fn browsed(&self, unit: Option<&str>) -> Option<&Browsed> {
        self.browsed.get(&unit.map(str::to_owned))
    }

    /// The commit that holds what a unit's lane held when we looked last.
    pub fn held(&self, unit: Option<&str>) -> Option<&str> {
        self.held.get(&unit.map(str::to_owned)).map(String::as_str)
    }

    /// The commit that holds what was built of a unit, if that is anything. While its lane holds files with both sides of a
    /// conflict in them, that is what it held before.
    pub fn built(&self, unit: Option<&str>) -> Option<&str> {
        let (base, held) = self.stands(unit)?;
        (base != held).then_some(held)
    }

    /// What a unit's own work stands on, and the commit that holds it.
    pub fn stands(&self, unit: Option<&str>) -> Option<(&str, &str)> {
        match self.own.get(&unit.map(str::to_owned)) {
            Some(own) => Some((&own.base, &own.held)),
            None => self.base(unit).zip(self.held(unit)),
        }
    }

    /// Files of a unit's lane that were left with both sides in them, when it was last rebuilt.
    pub fn conflicts(&self, unit: Option<&str>) -> &[String] {
        self.conflicts.get(&unit.map(str::to_owned)).map_or(&[], Vec::as_slice)
    }

    /// The lane of the pool that a unit has had last.
    pub fn lane(&self, unit: Option<&str>) -> Option<u32> {
        self.lanes.get(&unit.map(str::to_owned)).copied()
    }

    /// What would not go together as it was last looked at: the earlier unit, the later one, and what is foreseen of them.
    pub(crate) fn all_foreseen(&self) -> impl Iterator<Item = (&str, &str, &Foreseen)> {
        self.foreseen.iter().map(|((one, other), it)| (one.as_str(), other.as_str(), it))
    }

    /// The same, of units that are still under way.
    pub fn foreseen<'b>(
        &'b self,
        run: &'b Run,
    ) -> impl Iterator<Item = (&'b str, &'b str, &'b Foreseen)> {
        let under_way = |unit: &str| {
            run.unit_named(unit)
                .is_some_and(|unit| unit.status == UnitStatus::Started && !unit.landed)
        };
        self.all_foreseen().filter(move |(one, other, _)| under_way(one) && under_way(other))
    }

    /// Effects that wait for an earlier unit, and for which.
    pub(crate) fn held_back(&self) -> &BTreeMap<EffectId, String> {
        &self.held_back
    }

    /// Where the branch was when anything was first looked at.
    pub fn began(&self) -> Option<&str> {
        self.began.as_deref()
    }

    /// How isolated agents and checks are, since a process took the run up last.
    pub fn isolation(&self) -> Option<&str> {
        self.isolation.as_deref()
    }

    /// Whether nothing is left to be done for the run: it is over, its files are written and its lanes are free.
    pub fn is_tidy(&self) -> bool {
        self.tidy
    }

    /// Whether units have landed since the run's own lane was put where it is.
    pub(crate) fn is_behind(&self) -> bool {
        self.behind
    }

    /// What is known of a unit, or a part of one, that an agent was asked about.
    pub fn part(&self, unit: Option<&str>, task: Option<&str>) -> Option<&Part> {
        self.parts.get(&(unit.map(str::to_owned), task.map(str::to_owned)))
    }

    /// What a landing that was turned away came to, and the tip that its work is being rebuilt on.
    pub fn turned(&self, effect: EffectId) -> Option<(&str, &str)> {
        self.turned.get(&effect).map(|(came, tip)| (came.as_str(), tip.as_str()))
    }

    /// Where the train begins that a landing was about to be a car of, and the commit with which it would land.
    pub(crate) fn coupled(&self, effect: EffectId) -> Option<(&str, &str)> {
        self.coupled.get(&effect).map(|(begins, commit)| (begins.as_str(), commit.as_str()))
    }

    /// Where a unit's lane stood before it was last rebuilt.
    pub(crate) fn stood(&self, unit: Option<&str>) -> Option<&str> {
        self.stood.get(&unit.map(str::to_owned)).map(String::as_str)
    }

    /// Whether nobody has begun an effect that is wanted.
    pub(crate) fn is_left(&self, effect: EffectId) -> bool {
        self.left.contains(&effect)
    }

    /// What checks came to on the bases so far.
    pub fn on_base(&self) -> &BTreeMap<String, BTreeMap<String, Check>> {
        &self.on_base
    }

    /// The commits that landed.
    pub fn landings(&self) -> &[Landed] {
        &self.landings
    }

    /// What waits to be taken: for which unit, which commit, and how.
    pub fn waiting(&self) -> impl Iterator<Item = (Option<&str>, &str, &str)> {
        let waiting = self.landings.iter().filter_map(|it| Some((it, it.waits.as_deref()?)));
        waiting.map(|(it, command)| (it.unit.as_deref(), it.commit.as_str(), command))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invocation(unit: &str) -> Invocation {
        Invocation {
            effect: EffectId(7),
            unit: Some(unit.into()),
            task: None,
            stage: "review".into(),
            role: "reviewer".into(),
            agent: "somebody".into(),
            panel: None,
            attempt: 1,
            prompt: "p".into(),
        }
    }

    #[test]
    fn a_unit_on_another_base_is_told_from_that_one_and_the_others_as_before() {
        let mut books = Books::default();
        for unit in ["a", "b"] {
            books.enter(&Note::Based { unit: Some(unit.into()), base: "before".into() });
            books.enter(&Note::Asked(invocation(unit)));
        }
        books.enter(&Note::Based { unit: Some("a".into()), base: "later".into() });
        let since = |unit| books.part(Some(unit), None).unwrap().since.as_deref();
        assert_eq!((since("a"), since("b")), (Some("later"), Some("before")));
    }

    #[test]
    fn an_answer_says_by_itself_who_gave_it() {
        // Whoever was cut off between an answer and the note that somebody was asked has the answer alone.
        let mut books = Books::default();
        books.enter(&Note::Based { unit: Some("a".into()), base: "before".into() });
        books.enter(&Note::Answered(Box::new(Answered {
            asked: invocation("a"),
            came: "clear".into(),
            ended: "exited with 0".into(),
            stdout: "o".into(),
            stderr: "e".into(),
            text: Some("t".into()),
            limited_until: None,
            models: Vec::new(),
            handed_to: None,
            remarks: Vec::new(),
            commit: Some("after".into()),
            files: Vec::new(),
        })));
        let part = books.part(Some("a"), None).unwrap();
        assert_eq!(part.since.as_deref(), Some("before"), "what its change is told from");
        let attempt = &books.attempts(Some("a"), None, "review")[0];
        assert_eq!((attempt.role.as_str(), attempt.agent.as_str()), ("reviewer", "somebody"));
        assert_eq!(
            (attempt.said.as_str(), part.said.as_deref()),
            ("t", Some("t")),
            "not the stream"
        );
    }

    /// Both sides of a conflict are no work of the unit's own, until somebody has made one of them.
    #[test]
    fn what_was_built_is_what_was_there_before_a_conflict() {
        let unit = || Some("a".to_owned());
        let based = |base: &str| Note::Based { unit: unit(), base: base.into() };
        let saved =
            |commit: &str| Note::Saved { effect: EffectId(1), unit: unit(), commit: commit.into() };
        let both = || Note::Conflicted { unit: unit(), files: vec!["x".into()] };
        let mut books = Books::default();
        for note in [based("before"), saved("own"), based("later"), saved("marks"), both()] {
            books.enter(&note);
        }
        assert_eq!(books.stands(Some("a")), Some(("before", "own")));
        // Who is asked next is to make one of both; that alone is not enough.
        books.enter(&Note::Asked(Invocation { stage: "resolve".into(), ..invocation("a") }));
        assert_eq!(books.built(Some("a")), Some("own"));
        // Rebuilt once more meanwhile, it is still what was there at first.
        for note in [based("latest"), saved("more marks"), both()] {
            books.enter(&note);
        }
        assert_eq!(books.stands(Some("a")), Some(("before", "own")));
        books.enter(&Note::Asked(Invocation { stage: "resolve".into(), ..invocation("a") }));
        books.enter(&saved("one of both"));
        books.enter(&Note::Asked(invocation("a")));
        assert_eq!(books.stands(Some("a")), Some(("latest", "one of both")));
        // A lane that goes together with where it is put has nothing to hide.
        books.enter(&based("last"));
        books.enter(&saved("clean"));
        assert_eq!(books.built(Some("a")), Some("clean"));
    }
}
