//! A walk through a run, step by step, for tests: say what each stage comes to, see where it leads.
//!
//! Nothing is left to chance, and every event passes under the auditor's eyes. What a step cannot
//! do is a panic that says what could have been done instead.

use std::{collections::BTreeMap, sync::Arc};

use windlass_core::{
    run::{
        Answer, Effect, EffectId, EffectKind, Ended, Event, Input, Item, Recorded, Refused, Report,
        Run, Stamp, Standing, Start, Subject, UnitStatus, Usage, Wish, decide, fold_with, start,
    },
    value::Value,
    workflow::{Mishap, StageIx, Workflow},
};

use crate::audit::Auditor;

/// A run that is walked through.
pub struct Walk<'a> {
    flow: &'a Arc<Workflow>,
    run: Run,
    journal: Vec<Recorded>,
    auditor: Auditor<'a>,
    now: Stamp,
    made: u32,
}

/// What a stage is to come to: a verdict, with facts and lists.
#[derive(Clone, Debug, Default)]
pub struct Saying {
    /// The verdict, or a mishap's name.
    pub verdict: String,
    /// Facts by name.
    pub facts: BTreeMap<String, Value>,
    /// Lists by name.
    pub lists: BTreeMap<String, Vec<Item>>,
    /// What it used up; nothing unless said.
    pub usage: Option<Usage>,
}

impl Saying {
    /// A verdict alone.
    pub fn new(verdict: &str) -> Self {
        Saying { verdict: verdict.to_owned(), ..Saying::default() }
    }

    /// With a fact.
    #[must_use]
    pub fn fact(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.facts.insert(name.to_owned(), value.into());
        self
    }

    /// With a list of items that have nothing but ids.
    #[must_use]
    pub fn list(self, name: &str, ids: &[&str]) -> Self {
        let items = ids.iter().map(|id| item(id)).collect();
        self.items(name, items)
    }

    /// With a list of items.
    #[must_use]
    pub fn items(mut self, name: &str, items: Vec<Item>) -> Self {
        self.lists.insert(name.to_owned(), items);
        self
    }
}

impl From<&str> for Saying {
    fn from(verdict: &str) -> Self {
        Saying::new(verdict)
    }
}

/// An item with nothing but an id.
pub fn item(id: &str) -> Item {
    Item { id: id.into(), title: id.into(), ..Item::default() }
}

impl<'a> Walk<'a> {
    /// Starts a run with these inputs, typed as a person would.
    ///
    /// # Panics
    ///
    /// When it cannot be started so.
    #[track_caller]
    pub fn new(flow: &'a Arc<Workflow>, inputs: &[(&str, &str)]) -> Self {
        let begin = Start { inputs: typed(flow, inputs), ..Start::default() };
        match Walk::begin(flow, begin) {
            Ok(walk) => walk,
            Err(refused) => panic!("cannot start: {refused}"),
        }
    }

    /// Starts a run.
    ///
    /// # Errors
    ///
    /// When the core refuses.
    pub fn begin(flow: &'a Arc<Workflow>, mut begin: Start) -> Result<Self, Refused> {
        for input in &flow.inputs {
            if input.default.is_none() && !begin.inputs.contains_key(&input.name) {
                let value = input.ty.parse("something").or_else(|| input.ty.parse("1"));
                begin.inputs.extend(value.map(|value| (input.name.clone(), value)));
            }
        }
        if begin.run.is_empty() {
            begin.run = "walk".into();
        }
        let now = Stamp { mono_ms: 0, wall_ms: 1_750_000_000_000 };
        let events = start(flow.clone(), now, begin)?;
        let run = crate::drive::after_first(flow, &events);
        let mut walk =
            Walk { flow, run, journal: Vec::new(), auditor: Auditor::new(flow), now, made: 0 };
        walk.apply(events);
        Ok(walk)
    }

    #[track_caller]
    fn apply(&mut self, events: Vec<Recorded>) {
        for recorded in events {
            let before = self.run.clone();
            // The first event is in the run already.
            if recorded.seq > 0 {
                self.run.evolve(&recorded);
            }
            if let Err(violation) = self.auditor.enter(&before, &recorded, &self.run) {
                panic!("{violation}\n{}", self.story());
            }
            self.journal.push(recorded);
        }
        if let Err(violation) = self.auditor.at_rest(&self.run) {
            panic!("{violation}\n{}", self.story());
        }
    }

    /// Hands the core an input.
    ///
    /// # Errors
    ///
    /// When the core refuses it.
    #[track_caller]
    pub fn give(&mut self, input: Input) -> Result<(), Refused> {
        let events = decide(&self.run, self.now, input)?;
        self.apply(events);
        Ok(())
    }

    /// The stage under way comes to this. Looks at exactly what was wanted, and an editing stage
    /// makes something new.
    ///
    /// # Panics
    ///
    /// When that stage is not under way.
    #[track_caller]
    pub fn says(&mut self, stage: &str, saying: impl Into<Saying>) -> &mut Self {
        let saying = saying.into();
        let Some((id, effect)) = self.find(stage) else {
            panic!("{stage} is not under way; {}", self.whereabouts())
        };
        let declared = self.flow.stage(effect.stage);
        let mishap = Mishap::ALL.into_iter().find(|mishap| mishap.name() == saying.verdict);
        let said = |word: &str| saying.verdict == word;
        let turned = said("moved") || said("conflict") || said("fail");
        let changes = declared.edits || (declared.kind.lands() && turned);
        let subject = if changes {
            self.made += 1;
            let kept = effect
                .subject
                .as_ref()
                .filter(|_| said("moved") || said("fail"))
                .map(|s| s.change.clone());
            let change = kept.unwrap_or_else(|| format!("change-{}", self.made).into());
            Some(Subject { tree: format!("tree-{}", self.made).into(), change })
        } else {
            effect.subject
        };
        let report = Report {
            effect: id,
            ended: match mishap {
                Some(mishap) => Ended::Mishap(mishap),
                None => Ended::Verdict(saying.verdict.as_str().into()),
            },
            facts: saying.facts,
            lists: saying.lists,
            subject,
            usage: saying.usage.unwrap_or(Usage::NONE),
        };
        if let Err(refused) = self.give(Input::Report(report)) {
            panic!("{stage}: {refused}");
        }
        self
    }

    /// An answer to the open gate of this stage.
    ///
    /// # Errors
    ///
    /// When the core refuses it.
    ///
    /// # Panics
    ///
    /// When that gate is not open.
    #[track_caller]
    pub fn try_answer(&mut self, stage: &str, option: &str) -> Result<(), Refused> {
        let Some(gate) = self.run.gates().into_iter().find(|gate| self.name(gate.stage) == stage)
        else {
            panic!("{stage} is not open; {}", self.whereabouts())
        };
        self.give(Input::Answer(Answer {
            gate: gate.id,
            option: Some(option.to_owned()),
            text: Some("because".into()),
            who: "tester".into(),
            shown: "what was shown".into(),
            subject: None,
        }))
    }

    /// As [`Walk::try_answer`], for an answer that is taken.
    ///
    /// # Panics
    ///
    /// When it is not.
    #[track_caller]
    pub fn answers(&mut self, stage: &str, option: &str) -> &mut Self {
        if let Err(refused) = self.try_answer(stage, option) {
            panic!("{stage}: {refused}");
        }
        self
    }

    /// A person's wish that is granted.
    ///
    /// # Panics
    ///
    /// When it is not.
    #[track_caller]
    pub fn wishes(&mut self, wish: Wish) -> &mut Self {
        if let Err(refused) = self.give(Input::Control { who: "tester".into(), wish }) {
            panic!("{refused}");
        }
        self
    }

    /// Time passes, and what falls due falls due.
    ///
    /// # Panics
    ///
    /// When the run has ended.
    #[track_caller]
    pub fn waits(&mut self, ms: u64) -> &mut Self {
        self.now.mono_ms += ms;
        self.now.wall_ms += i64::try_from(ms).unwrap_or(i64::MAX);
        if let Err(refused) = self.give(Input::Tick) {
            panic!("{refused}");
        }
        self
    }

    /// The machine sleeps: only the wall clock goes on. Then what falls due falls due.
    ///
    /// # Panics
    ///
    /// When the run has ended.
    #[track_caller]
    pub fn sleeps(&mut self, ms: i64) -> &mut Self {
        self.now.wall_ms += ms;
        self.waits(0)
    }

    /// The process goes away, and another takes the run up from its journal.
    ///
    /// # Panics
    ///
    /// When the journal does not fold.
    #[track_caller]
    pub fn comes_back(&mut self) -> &mut Self {
        match fold_with(self.flow.clone(), &self.journal) {
            Ok(run) => self.run = run,
            Err(broken) => panic!("{broken}"),
        }
        self.waits(0)
    }

    /// The time now.
    pub fn now(&self) -> Stamp {
        self.now
    }

    /// Lets every stage come to its first verdict and every gate be answered with its first
    /// option, until `stage` is under way or open, or nothing more happens. Stages in `except` come
    /// to what is said there, every time.
    ///
    /// # Panics
    ///
    /// When it takes more than 500 steps.
    #[track_caller]
    pub fn on_to(&mut self, stage: &str, except: &[(&str, Saying)]) -> &mut Self {
        for _ in 0..500 {
            if self.is_at(stage) {
                return self;
            }
            let wanted = self.run.wants().into_iter().next();
            if let Some((_, effect)) = wanted {
                let name = effect.name.to_string();
                let own = except.iter().find(|(stage, _)| *stage == name);
                let saying = own.map_or_else(|| self.first(&effect), |(_, s)| s.clone());
                self.says(&name, saying);
                continue;
            }
            let Some(gate) = self.run.gates().into_iter().next() else { return self };
            let name = self.name(gate.stage).to_owned();
            let own = except.iter().find(|(stage, _)| *stage == name);
            let option = match (own, gate.options.first()) {
                (Some((_, saying)), _) => saying.verdict.clone(),
                (None, Some(option)) => option.key.clone(),
                (None, None) => return self,
            };
            self.answers(&name, &option);
        }
        panic!("{stage} was not reached in 500 steps; {}", self.whereabouts())
    }

    /// As [`Walk::on_to`], to the very end.
    ///
    /// # Panics
    ///
    /// As [`Walk::on_to`].
    #[track_caller]
    pub fn to_the_end(&mut self, except: &[(&str, Saying)]) -> &mut Self {
        self.on_to("\u{0}", except)
    }

    /// The first verdict of an effect's stage (of its role, in a panel), with one item in each of its lists.
    fn first(&self, effect: &Effect) -> Saying {
        let stage = self.flow.stage(effect.stage);
        let own = match &effect.kind {
            EffectKind::Invoke { role, panel: Some(_), .. } => {
                self.flow.roles.get(role).and_then(|verdicts| verdicts.first()).cloned()
            }
            _ => None,
        };
        let verdict = own.or_else(|| stage.verdicts.first().map(|v| v.name.clone()));
        let verdict = verdict.as_deref().unwrap_or_default();
        let one = format!("{}-{}", stage.name, self.journal.len());
        stage
            .lists
            .iter()
            .fold(Saying::new(verdict), |saying, list| saying.list(&list.name, &[&one]))
    }

    /// Whether a stage is under way, or its gate open.
    pub fn is_at(&self, stage: &str) -> bool {
        self.find(stage).is_some()
            || self.run.gates().iter().any(|gate| self.name(gate.stage) == stage)
    }

    /// The effect under way for a stage.
    pub fn find(&self, stage: &str) -> Option<(EffectId, Effect)> {
        self.run.wants().into_iter().find(|(_, effect)| effect.name.as_ref() == stage)
    }

    /// The options that an open gate offers.
    pub fn options(&self, stage: &str) -> Vec<String> {
        let gates = self.run.gates();
        let gate = gates.iter().find(|gate| self.name(gate.stage) == stage);
        gate.map_or_else(Vec::new, |gate| gate.options.iter().map(|o| o.key.clone()).collect())
    }

    /// Stages under way and gates open.
    pub fn at(&self) -> Vec<String> {
        let wanted = self.run.wants();
        let wanted = wanted.values().map(|effect| effect.name.to_string());
        let gates = self.run.gates();
        wanted.chain(gates.iter().map(|gate| self.name(gate.stage).to_owned())).collect()
    }

    /// The decisions recorded so far.
    pub fn records(&self) -> Vec<String> {
        crate::drive::records(self.flow, &self.journal)
    }

    /// The names of all stages entered so far, in order.
    pub fn entered(&self) -> Vec<&str> {
        let entered = self.journal.iter().filter_map(|recorded| match recorded.event {
            Event::Entered { stage, .. } => Some(self.name(stage)),
            _ => None,
        });
        entered.collect()
    }

    /// How often a stage was entered.
    pub fn runs(&self, stage: &str) -> usize {
        self.entered().into_iter().filter(|name| *name == stage).count()
    }

    /// How a unit stands.
    pub fn unit(&self, id: &str) -> Option<UnitStatus> {
        self.run.unit_named(id).map(|unit| unit.status)
    }

    /// How things stand.
    pub fn standing(&self) -> Standing {
        self.run.standing()
    }

    /// The exit code that the process would end with now.
    pub fn exit_code(&self) -> Option<u8> {
        self.run.standing().exit_code()
    }

    /// The run.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// The journal.
    pub fn journal(&self) -> &[Recorded] {
        &self.journal
    }

    fn name(&self, ix: StageIx) -> &str {
        &self.flow.stage(ix).name
    }

    fn whereabouts(&self) -> String {
        let here = self.at().join(", ");
        format!("here we have: [{here}], standing {:?}\n{}", self.standing(), self.story())
    }

    fn story(&self) -> String {
        let last = self.journal.len().saturating_sub(12);
        let lines: Vec<String> =
            self.journal[last..].iter().map(|r| format!("  {} {:?}", r.seq, r.event)).collect();
        lines.join("\n")
    }
}

/// Inputs as a person types them.
///
/// # Panics
///
/// When one does not exist or cannot be read.
#[track_caller]
pub fn typed(flow: &Workflow, inputs: &[(&str, &str)]) -> BTreeMap<String, Value> {
    let read = |(name, text): &(&str, &str)| {
        let input = flow.input_named(name).map(|ix| &flow.inputs[ix.at()]);
        let Some(value) = input.and_then(|input| input.ty.parse(text)) else {
            panic!("no input {name} = {text}")
        };
        ((*name).to_owned(), value)
    };
    inputs.iter().map(read).collect()
}
