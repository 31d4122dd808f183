//! An imaginary world: agents, checks, lanes and trackers that behave, misbehave and lie.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use windlass_core::{
    expr::{Expr, Name},
    run::{
        Effect, EffectId, EffectKind, Ended, Item, PanelPhase, Report, Reported, Run, Stamp,
        Subject, UnitStatus, UnitView, Usage,
    },
    value::{Type, Value},
    workflow::{Errand, FactIx, Kind, List, Owner, Save, Stage, StageIx, Workflow},
};

use crate::choice::Choices;

/// How a run's world is minded. Chosen once a run, so that some runs go smoothly to the end, some
/// fail at one thing again and again, and some are chaos.
#[derive(Clone, Debug)]
pub struct Mood {
    /// In how many of 100 cases the first (good) verdict is given.
    pub luck: usize,
    /// In how many of 100 cases something goes wrong with an effect.
    pub trouble: usize,
    /// A stage that never gives its first verdict.
    pub stubborn: Option<StageIx>,
    /// Reports may say more was used than was set aside.
    pub overruns: bool,
}

/// The world outside of the core.
#[derive(Debug)]
pub struct World<'a> {
    flow: &'a Workflow,
    /// Interesting numbers for each fact: those it is compared with.
    hints: BTreeMap<FactIx, Vec<i64>>,
    /// Lists whose items become units.
    unit_lists: BTreeSet<(StageIx, String)>,
    /// Lists that an `each` reads: the same items come back when they are read again.
    read_lists: BTreeSet<(StageIx, String)>,
    /// Verdicts that the person at the keyboard asked for, stage by stage.
    pub script: BTreeMap<StageIx, Vec<String>>,
    /// How it is minded.
    pub mood: Mood,
    made: u32,
}

const PATHS: [&str; 8] =
    ["src/a.rs", "src/b.rs", "src/", "docs/guide.md", "docs/", "tests/a.rs", "Cargo.toml", "lib/x"];

impl<'a> World<'a> {
    /// A world for a workflow.
    pub fn new(flow: &'a Workflow, mood: Mood) -> Self {
        let mut unit_lists = BTreeSet::new();
        let mut read_lists = BTreeSet::new();
        for stage in &flow.stages {
            if let Kind::Each { from: Some(list), .. } = &stage.kind {
                read_lists.insert((list.stage, list.name.to_string()));
            }
            for case in stage.verdicts.iter().flat_map(|verdict| &verdict.cases) {
                for add in &case.take.add {
                    if !add.scope.is_child() {
                        unit_lists.insert((add.list.stage, add.list.name.to_string()));
                    }
                }
            }
        }
        World {
            flow,
            hints: hints(flow),
            unit_lists,
            read_lists,
            script: BTreeMap::new(),
            mood,
            made: 0,
        }
    }

    /// A mood for a run.
    pub fn mood(flow: &Workflow, choices: &mut Choices) -> Mood {
        let luck = *choices.pick(&[95, 85, 70, 50, 30]).unwrap_or(&85);
        let trouble = *choices.pick(&[2, 0, 5, 12, 30]).unwrap_or(&2);
        let stubborn = choices
            .percent(20)
            .then(|| StageIx(u16::try_from(choices.below(flow.stages.len())).unwrap_or(0)));
        Mood { luck, trouble, stubborn, overruns: choices.percent(10) }
    }

    /// The report of an effect that came to its end.
    pub fn report(
        &mut self,
        choices: &mut Choices,
        run: &Run,
        id: EffectId,
        effect: &Effect,
        now: Stamp,
    ) -> Report {
        let stage = self.flow.stage(effect.stage);
        let ended = self.ending(choices, stage, effect, now);
        let subject = self.subject(choices, stage, effect, &ended);
        Report {
            effect: id,
            facts: self.facts(choices, effect.stage),
            lists: self.lists(choices, run, id, effect.stage),
            usage: self.usage(choices, effect),
            ended,
            subject,
        }
    }

    fn ending(
        &mut self,
        choices: &mut Choices,
        stage: &Stage,
        effect: &Effect,
        now: Stamp,
    ) -> Ended {
        if let Some(script) = self.script.get_mut(&effect.stage)
            && !script.is_empty()
        {
            return ended_as(stage, &script.remove(0));
        }
        if choices.percent(self.mood.trouble) {
            return self.trouble(choices, stage, now);
        }
        if let EffectKind::Invoke { role, panel: Some((phase, _)), .. } = &effect.kind
            && let Kind::Panel { synthesis: Some(_), .. } = &stage.kind
            && *phase != PanelPhase::Synthesise
        {
            let lucky = !choices.percent(100 - self.mood.luck);
            let own =
                self.flow.roles.get(role).and_then(|verdicts| {
                    if lucky { verdicts.first() } else { choices.pick(verdicts) }
                });
            return Ended::Verdict(own.map_or("nothing", String::as_str).into());
        }
        let own: Vec<&str> = stage
            .verdicts
            .iter()
            .filter(|verdict| verdict.mishap.is_none())
            .map(|verdict| verdict.name.as_str())
            .collect();
        let stubborn = self.mood.stubborn == Some(effect.stage);
        let first = !stubborn && !choices.percent(100 - self.mood.luck);
        let at = if first || own.len() < 2 { 0 } else { 1 + choices.below(own.len() - 1) };
        Ended::Verdict(own.get(at).copied().unwrap_or("nothing").into())
    }

    fn trouble(&self, choices: &mut Choices, stage: &Stage, now: Stamp) -> Ended {
        match choices.below(7) {
            0 => Ended::Lost,
            3 => Ended::HandedOver,
            1 => {
                let wait = i64::try_from(choices.below(7_200_000)).unwrap_or(0);
                Ended::Limited(now.wall_ms.saturating_add(wait))
            }
            2 => Ended::Verdict("looks_good_to_me".into()),
            _ => {
                let mishaps = stage.kind.mishaps();
                match choices.pick(mishaps) {
                    Some(mishap) => Ended::Mishap(*mishap),
                    None => Ended::Lost,
                }
            }
        }
    }

    /// What the lane holds after the effect, or what was looked at. Mostly the truth.
    fn subject(
        &mut self,
        choices: &mut Choices,
        stage: &Stage,
        effect: &Effect,
        ended: &Ended,
    ) -> Option<Subject> {
        let said = |word: &str| matches!(ended, Ended::Verdict(v) if v.as_ref() == word);
        let old = effect.subject.clone();
        let rewinds = matches!(
            stage.kind,
            Kind::Errand(Errand::Save { how: Save::Rewind | Save::Patch, .. })
        );
        if stage.edits || rewinds {
            return match choices.below(10) {
                0..=7 => Some(self.fresh(None)),
                8 => old,
                _ => None,
            };
        }
        if stage.kind.lands() {
            return match (said("moved") || said("fail"), said("conflict")) {
                (true, _) => Some(self.fresh(old.map(|old| old.change))),
                (_, true) => (!choices.percent(20)).then(|| self.fresh(None)),
                (false, false) => old,
            };
        }
        if choices.percent(self.mood.trouble / 2) {
            return Some(self.fresh(None));
        }
        if old.is_none() && choices.percent(50) { Some(self.fresh(None)) } else { old }
    }

    /// Something nobody has looked at: a new tree, and a new change unless one is kept.
    pub fn fresh(&mut self, change: Option<Arc<str>>) -> Subject {
        self.made += 1;
        let change = change.unwrap_or_else(|| format!("change-{}", self.made).into());
        Subject { tree: format!("tree-{}", self.made).into(), change }
    }

    fn usage(&self, choices: &mut Choices, effect: &Effect) -> Usage {
        if choices.percent(10) {
            return Usage::UNKNOWN;
        }
        let most = usize::try_from(effect.spend.cost_micros).unwrap_or(usize::MAX);
        let mut cost = choices.below(most / 4 + 1) as u64;
        if self.mood.overruns && choices.percent(3) {
            cost = effect.spend.cost_micros.saturating_mul(3).saturating_add(1);
        }
        let tokens = cost / 5;
        let cost = if choices.percent(5) { Reported::Unknown } else { Reported::Known(cost) };
        Usage { cost, tokens: Reported::Known(tokens) }
    }

    fn facts(&self, choices: &mut Choices, stage: StageIx) -> BTreeMap<String, Value> {
        let mut facts = BTreeMap::new();
        for (at, fact) in self.flow.facts.iter().enumerate() {
            if fact.owner != Owner::Stage(stage) || choices.percent(5) {
                continue;
            }
            let ix = FactIx(u16::try_from(at).unwrap_or(u16::MAX));
            let value = if choices.percent(2) {
                Value::text("?!")
            } else {
                value_of(choices, &fact.ty, self.hints.get(&ix))
            };
            facts.insert(fact.name.clone(), value);
        }
        facts
    }

    fn lists(
        &self,
        choices: &mut Choices,
        run: &Run,
        id: EffectId,
        stage: StageIx,
    ) -> BTreeMap<String, Vec<Item>> {
        let declared = &self.flow.stage(stage).lists;
        declared
            .iter()
            .map(|list| (list.name.clone(), self.items(choices, run, id, stage, list)))
            .collect()
    }

    fn items(
        &self,
        choices: &mut Choices,
        run: &Run,
        id: EffectId,
        stage: StageIx,
        list: &List,
    ) -> Vec<Item> {
        let key = (stage, list.name.clone());
        let units = self.unit_lists.contains(&key);
        let known = run.tally().total as usize;
        let count = match choices.below(10) {
            0..=3 => 1,
            4..=8 => 1 + choices.below(4),
            _ => choices.below(9),
        };
        let name = |place: usize| -> Arc<str> {
            if units {
                format!("{}-{}", list.name, known + place).into()
            } else if self.read_lists.contains(&key) {
                format!("{}-{place}", list.name).into()
            } else {
                format!("{}-{}-{place}", list.name, id.0).into()
            }
        };
        let mut items: Vec<Item> = Vec::with_capacity(count);
        for place in 0..count {
            let mut item = Item { id: name(place), title: name(place), ..Item::default() };
            for (fact, ty) in &list.facts {
                if !choices.percent(5) {
                    let hints = self.item_hints(fact);
                    item.facts.insert(fact.clone(), value_of(choices, ty, hints));
                }
            }
            if units {
                self.entangle(choices, place, &name, &mut item, run);
            }
            let over = |unit: &UnitView| matches!(unit.status, UnitStatus::Settled(_));
            if units
                && known > 0
                && choices.percent(10)
                && let Some(unit) = run.units().filter(over).nth(choices.below(known))
                && items.iter().all(|other| other.id != unit.id)
            {
                items.push(Item { again: true, ..Item { id: unit.id, ..item.clone() } });
            }
            items.push(item);
        }
        if choices.percent(1) {
            items.extend(items.first().cloned());
        }
        items
    }

    /// Dependencies, ranks and files for a unit to be. Rarely, ones that cannot be.
    fn entangle(
        &self,
        choices: &mut Choices,
        place: usize,
        name: &impl Fn(usize) -> Arc<str>,
        item: &mut Item,
        run: &Run,
    ) {
        if place > 0 && choices.percent(30) {
            item.depends.push(name(choices.below(place)));
        }
        if choices.percent(5)
            && let Some(unit) = run.units().next()
        {
            item.depends.push(unit.id);
        }
        if choices.percent(1) {
            item.depends.push(name(place + choices.below(3)));
        }
        if choices.percent(30) {
            item.rank = i64::try_from(choices.below(3)).unwrap_or(0);
        }
        if choices.percent(40) {
            let files = 1 + choices.below(2);
            item.files =
                (0..files).filter_map(|_| choices.pick(&PATHS)).map(|p| Arc::from(*p)).collect();
        }
    }

    fn item_hints(&self, name: &str) -> Option<&Vec<i64>> {
        let at = self
            .flow
            .facts
            .iter()
            .position(|fact| fact.name == name && matches!(fact.owner, Owner::Item(_)))?;
        self.hints.get(&FactIx(u16::try_from(at).ok()?))
    }
}

/// The ending that a word of the script asks for.
fn ended_as(stage: &Stage, word: &str) -> Ended {
    let mishap = stage.verdict_named(word).and_then(|verdict| stage.verdict(verdict).mishap);
    match mishap {
        Some(mishap) => Ended::Mishap(mishap),
        None => Ended::Verdict(word.into()),
    }
}

/// A value of a type: often one that an expression is about to compare it with.
pub fn value_of(choices: &mut Choices, ty: &Type, hints: Option<&Vec<i64>>) -> Value {
    match ty {
        Type::Flag => Value::Flag(choices.percent(50)),
        Type::Number { min, max } => {
            let near = match hints.filter(|hints| !hints.is_empty()) {
                Some(hints) => match choices.below(4) {
                    0 => hints.iter().copied().min().unwrap_or(0),
                    1 | 2 => {
                        let hint = choices.pick(hints).copied().unwrap_or(0);
                        hint.saturating_add(i64::try_from(choices.below(3)).unwrap_or(0) - 1)
                    }
                    _ => i64::try_from(choices.below(10)).unwrap_or(0),
                },
                None => choices.pick(&[30, 0, 1, 2, 5, 100]).copied().unwrap_or(0),
            };
            Value::Number(near.clamp(min.unwrap_or(0), max.unwrap_or(i64::MAX)))
        }
        Type::Text | Type::Path => Value::text("something"),
        Type::OneOf(words) => {
            Value::Text(choices.pick(words).cloned().unwrap_or_else(|| "".into()))
        }
        Type::AnyOf(words) => {
            Value::Set(words.iter().filter(|_| choices.percent(40)).cloned().collect())
        }
    }
}

/// Every number that a fact is compared with, anywhere in the definition.
fn hints(flow: &Workflow) -> BTreeMap<FactIx, Vec<i64>> {
    let mut hints: BTreeMap<FactIx, Vec<i64>> = BTreeMap::new();
    for_each_expr(flow, &mut |expr| {
        if let Expr::Compare(_, left, right) = expr {
            for (name, other) in [(left, right), (right, left)] {
                if let (Expr::Name(Name::Fact(fact)), Expr::Const(Value::Number(number))) =
                    (name.as_ref(), other.as_ref())
                {
                    hints.entry(*fact).or_default().push(*number);
                }
            }
        }
    });
    hints
}

/// Calls `see` for every expression of a definition, inner ones included.
fn for_each_expr<'a>(flow: &'a Workflow, see: &mut impl FnMut(&'a Expr)) {
    let mut walk = |expr: &'a Expr| expr.walk(see);
    walk(&flow.lanes);
    for counter in &flow.counters {
        walk(&counter.max);
        counter.each_unit.iter().for_each(&mut walk);
    }
    for stage in &flow.stages {
        stage.when.iter().for_each(&mut walk);
        stage.with.iter().for_each(|(_, expr)| walk(expr));
        for case in stage.verdicts.iter().flat_map(|verdict| &verdict.cases) {
            case.when.iter().for_each(&mut walk);
        }
        match &stage.kind {
            Kind::Gate(gate) => {
                gate.concerns.iter().for_each(|(_, expr)| walk(expr));
                gate.policy.iter().filter_map(|policy| policy.when.as_ref()).for_each(&mut walk);
            }
            Kind::Decide(cases) => {
                cases.iter().filter_map(|(when, _)| when.as_ref()).for_each(&mut walk);
            }
            _ => {}
        }
    }
}
