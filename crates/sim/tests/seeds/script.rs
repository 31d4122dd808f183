//! Rows of a seed's table, played on a definition.
//!
//! What happens is written as steps: `stage:word` lets the stage under way come to that verdict, or
//! answers its gate; `stage:word*3` does so three times; `stage:word,fact=7,list=a+b` reports facts
//! and lists as well, where `b<a` is an item that depends on `a` and `b@src/` one that expects to
//! change `src/`. `>stage` goes on to that stage the usual way, and `>` to the very end.

use std::sync::Arc;

use windlass_core::{
    run::{Item, UnitStatus, Wish},
    value::Value,
    workflow::{Errand, Go, Kind, Settled, Stage, StageIx, Workflow},
};
use windlass_sim::{Saying, Walk, item};

/// A definition, and what its stages usually come to where that is not their first verdict.
pub struct Script {
    pub flow: Arc<Workflow>,
    pub usual: &'static str,
    /// What happens by itself wherever it is met, unless a step says otherwise: looks at what people may have changed.
    pub by_itself: &'static str,
}

/// A condition of the seed, and what the definition makes of it. Only what is said is looked at.
#[must_use]
pub struct Row {
    seed: &'static str,
    inputs: Vec<(&'static str, &'static str)>,
    steps: String,
    at: Option<&'static str>,
    records: Option<&'static str>,
    exits: Option<u8>,
    passes: &'static str,
    never: &'static str,
    tells: &'static str,
    silent: &'static str,
    units: &'static str,
}

/// A row: the seed's words, and what happens.
pub fn row(seed: &'static str, steps: impl Into<String>) -> Row {
    Row {
        seed,
        inputs: Vec::new(),
        steps: steps.into(),
        at: None,
        records: None,
        exits: None,
        passes: "",
        never: "",
        tells: "",
        silent: "",
        units: "",
    }
}

impl Row {
    /// Started with this input, too.
    pub fn with(mut self, name: &'static str, value: &'static str) -> Self {
        self.inputs.push((name, value));
        self
    }

    /// Stages under way and gates open at the end of it.
    pub fn at(mut self, stages: &'static str) -> Self {
        self.at = Some(stages);
        self
    }

    /// Everything that was recorded, in order.
    pub fn records(mut self, records: &'static str) -> Self {
        self.records = Some(records);
        self
    }

    /// The exit code.
    pub fn exits(mut self, code: u8) -> Self {
        self.exits = Some(code);
        self
    }

    /// Stages that were entered, in this order, others between them or not.
    pub fn passes(mut self, stages: &'static str) -> Self {
        self.passes = stages;
        self
    }

    /// Stages that were not entered at all.
    pub fn never(mut self, stages: &'static str) -> Self {
        self.never = stages;
        self
    }

    /// What was told, in this order, other things between them or not.
    pub fn tells(mut self, names: &'static str) -> Self {
        self.tells = names;
        self
    }

    /// What was not told at all.
    pub fn silent(mut self, names: &'static str) -> Self {
        self.silent = names;
        self
    }

    /// How units stand: `a=done b=blocked`.
    pub fn units(mut self, units: &'static str) -> Self {
        self.units = units;
        self
    }

    fn asserts(&self) -> bool {
        let texts = [self.passes, self.never, self.tells, self.silent, self.units];
        self.at.is_some()
            || self.records.is_some()
            || self.exits.is_some()
            || texts.iter().any(|text| !text.is_empty())
    }
}

impl Script {
    /// Plays every row of a table and holds it against what it says.
    #[track_caller]
    pub fn holds(&self, rows: impl IntoIterator<Item = Row>) {
        for row in rows {
            let seed = row.seed;
            assert!(row.asserts(), "{seed}: the row says nothing");
            let walk = self.play(&row.inputs, &row.steps);
            let entered = walk.entered().join(" ");
            if let Some(at) = row.at {
                assert_eq!(walk.at().join(" "), at, "{seed}: where it leads, after {entered}");
            }
            if let Some(records) = row.records {
                assert_eq!(walk.records().join(" "), records, "{seed}: what is recorded");
            }
            if let Some(code) = row.exits {
                assert_eq!(walk.exit_code(), Some(code), "{seed}: how it exits");
            }
            let missing = out_of_order(&walk.entered(), row.passes);
            assert_eq!(missing, None, "{seed}: not passed in {entered}");
            for stage in row.never.split_whitespace() {
                assert_ne!(self.flow.stage_named(stage), None, "{seed}: no stage {stage}");
                assert_eq!(walk.runs(stage), 0, "{seed}: {stage} was entered: {entered}");
            }
            let told = self.told(&walk);
            let missing = out_of_order(&told, row.tells);
            assert_eq!(missing, None, "{seed}: not told in {told:?}");
            for name in row.silent.split_whitespace() {
                assert!(!told.contains(&name), "{seed}: {name} was told");
            }
            for unit in row.units.split_whitespace() {
                let (id, how) = unit.split_once('=').expect("unit=status");
                assert_eq!(status(&walk, id), how, "{seed}: how {id} stands");
            }
        }
    }

    /// Plays steps from the start.
    #[track_caller]
    pub fn play(&self, inputs: &[(&str, &str)], steps: &str) -> Walk<'_> {
        let mut walk = Walk::new(&self.flow, inputs);
        self.go_on(&mut walk, steps);
        walk
    }

    /// Plays further steps.
    #[track_caller]
    pub fn go_on(&self, walk: &mut Walk<'_>, steps: &str) {
        let mut steps = steps.split_whitespace().peekable();
        let named = |step: &&str| step.trim_start_matches('>').split(':').next().map(str::to_owned);
        self.settle(walk, steps.peek().and_then(named).as_deref());
        while let Some(step) = steps.next() {
            match step.strip_prefix('>') {
                Some(stage) => self.usually(walk, stage),
                None => self.step(walk, step),
            }
            // Whoever is to say something else of it says so next.
            self.settle(walk, steps.peek().and_then(named).as_deref());
        }
    }

    /// What happens by itself has happened, but for what is said next.
    #[track_caller]
    fn settle(&self, walk: &mut Walk<'_>, but: Option<&str>) {
        let steps = self.by_itself.split_whitespace();
        let steps: Vec<(&str, &str)> =
            steps.filter_map(|step| Some((step, step.split(':').next()?))).collect();
        for _ in 0..2_000 {
            let own = |(_, stage): &&(&str, &str)| Some(*stage) != but && walk.is_at(stage);
            let Some((step, _)) = steps.iter().find(own) else { return };
            self.step(walk, step);
        }
    }

    #[track_caller]
    fn step(&self, walk: &mut Walk<'_>, step: &str) {
        let (stage, said) = step.split_once(':').unwrap_or_else(|| panic!("no step: {step}"));
        let (said, times) = said.split_once('*').unwrap_or((said, "1"));
        for _ in 0..times.parse().expect("a number of times") {
            if walk.options(stage).is_empty() {
                walk.says(stage, self.saying(stage, said));
            } else {
                walk.answers(stage, said);
            }
        }
    }

    /// Everything as usual, until a stage is under way, or nothing more happens.
    #[track_caller]
    fn usually(&self, walk: &mut Walk<'_>, until: &str) {
        for _ in 0..2_000 {
            let Some(stage) = walk.at().first().cloned() else { return };
            if walk.is_at(until) {
                return;
            }
            let usual = self.usual.split_whitespace().filter_map(|step| step.split_once(':'));
            let said = usual.clone().find(|(name, _)| *name == stage).map(|(_, said)| said);
            let first = || self.stage(&stage).verdicts.first().map_or("", |v| v.name.as_str());
            self.step(walk, &format!("{stage}:{}", said.unwrap_or_else(first)));
        }
        panic!("{until} was not reached in 2000 steps");
    }

    #[track_caller]
    fn stage(&self, name: &str) -> &Stage {
        let ix = self.flow.stage_named(name).unwrap_or_else(|| panic!("there is no stage {name}"));
        self.flow.stage(ix)
    }

    #[track_caller]
    fn saying(&self, stage: &str, said: &str) -> Saying {
        let stage = self.stage(stage);
        let mut parts = said.split(',');
        let word = parts.next().unwrap_or_default();
        let known = stage.verdict_named(word).is_some();
        assert!(known, "{word:?} is not a verdict of {}", stage.name);
        let saying = Saying::new(word);
        parts.fold(saying, |saying, part| {
            let (name, value) = part.split_once('=').expect("name=value");
            if stage.lists.iter().any(|list| list.name == name) {
                let items = value.split('+').filter(|id| !id.is_empty());
                saying.items(name, items.map(written).collect())
            } else {
                saying.fact(name, fact(value))
            }
        })
    }

    /// What was told so far.
    pub fn told(&self, walk: &Walk<'_>) -> Vec<&str> {
        let told = walk.entered().into_iter().filter_map(|name| match &self.stage(name).kind {
            Kind::Errand(Errand::Tell { names }) => Some(names),
            _ => None,
        });
        told.flatten().map(String::as_str).collect()
    }

    /// The evidence that a stage must have: `stage:verdict|verdict`.
    #[track_caller]
    pub fn needs(&self, stage: &str) -> String {
        let needs = self.stage(stage).needs.iter().map(|need| {
            let giver = self.flow.stage(need.stage);
            let verdicts = need.verdicts.iter().map(|ix| giver.verdict(*ix).name.as_str());
            format!("{}:{}", giver.name, verdicts.collect::<Vec<_>>().join("|"))
        });
        needs.collect::<Vec<_>>().join(" ")
    }

    /// The stages that may change files, in the order of the file.
    pub fn editors(&self) -> String {
        let editors = self.flow.stages.iter().filter(|stage| stage.edits);
        editors.map(|stage| stage.name.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// Nothing that has landed comes by a landing again: the core would hold it there for ever.
    #[track_caller]
    pub fn lands_once(&self) {
        let lands =
            |ix: StageIx| matches!(self.flow.stage(ix).kind, Kind::Errand(Errand::Land { .. }));
        let stages = (0..).map(StageIx).take(self.flow.stages.len());
        for land in stages.filter(|ix| lands(*ix)) {
            let mut open = self.after(land, Some("landed"));
            let mut seen = Vec::new();
            while let Some(ix) = open.pop() {
                let name = &self.flow.stage(ix).name;
                assert!(!lands(ix), "{} leads to {name}", self.flow.stage(land).name);
                if !seen.contains(&ix) {
                    seen.push(ix);
                    open.extend(self.after(ix, None));
                }
            }
        }
    }

    /// The stages that follow a stage: by one of its verdicts, or by whatever may happen.
    fn after(&self, ix: StageIx, only: Option<&str>) -> Vec<StageIx> {
        let stage = self.flow.stage(ix);
        let verdicts = stage.verdicts.iter().filter(|v| only.is_none_or(|only| v.name == only));
        let cases = verdicts.flat_map(|verdict| &verdict.cases);
        let moves = cases.flat_map(|case| [Some(&case.take), case.take.spent.as_deref()]);
        let entry = stage.count.iter().map(|(_, spent)| Some(&**spent));
        let by_move = moves.chain(entry).flatten().filter_map(|take| match take.go {
            Go::To(to) | Go::Pause(to) | Go::Rest(to) => Some(to),
            Go::Again | Go::Leave(_) | Go::Return(_) | Go::Finish(_) => None,
        });
        let passed_over = stage.next.filter(|_| stage.when.is_some() && only.is_none());
        by_move.chain(passed_over).collect()
    }
}

/// The first of these words that is not there after those before it.
fn out_of_order<'w>(there: &[&str], words: &'w str) -> Option<&'w str> {
    let mut rest = there.iter();
    words.split_whitespace().find(|word| !rest.any(|name| name == word))
}

/// How a unit stands, in a word.
pub fn status(walk: &Walk<'_>, id: &str) -> &'static str {
    match walk.unit(id) {
        None => "absent",
        Some(UnitStatus::Pending) => "pending",
        Some(UnitStatus::Started) => "started",
        Some(UnitStatus::Settled(Settled::Done)) => "done",
        Some(UnitStatus::Settled(Settled::Failed)) => "failed",
        Some(UnitStatus::Settled(Settled::Skipped)) => "skipped",
        Some(UnitStatus::Settled(Settled::Blocked)) => "blocked",
        Some(UnitStatus::Settled(Settled::Unfinished)) => "unfinished",
    }
}

/// The units that something is under way for.
pub fn working(walk: &Walk<'_>) -> String {
    let wants = walk.run().wants();
    let units: Vec<&str> = wants.values().filter_map(|e| e.unit.as_deref()).collect();
    units.join(" ")
}

/// A person lets everything that is held go on.
pub fn resume(walk: &mut Walk<'_>) {
    walk.wishes(Wish::Resume(None));
}

fn written(text: &str) -> Item {
    let (text, file) = text.split_once('@').unwrap_or((text, ""));
    let (id, on) = text.split_once('<').unwrap_or((text, ""));
    let some = |word: &str| Some(word).filter(|w| !w.is_empty()).map(Into::into);
    Item {
        depends: some(on).into_iter().collect(),
        files: some(file).into_iter().collect(),
        ..item(id)
    }
}

fn fact(text: &str) -> Value {
    match (text.parse::<i64>(), text.parse::<bool>()) {
        (Ok(number), _) => number.into(),
        (Err(_), Ok(flag)) => flag.into(),
        (Err(_), Err(_)) => text.into(),
    }
}
