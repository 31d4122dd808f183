//! Drives one run from start to end through everything that can happen to it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use windlass_core::{
    run::{
        Amount, Answer, Caps, EffectId, Event, Input, Phase, Recorded, Refused, Report, Reported,
        Run, Settings, Stamp, Standing, StandingPolicy, Start, Target, UnitStatus, Wish, decide,
        fold_with, start,
    },
    value::Value,
    workflow::{Kind, ScopeIx, Workflow},
};

use crate::{
    audit::{Auditor, Violation},
    choice::Choices,
    world::{World, value_of},
};

/// What a simulated run is to be like.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Inputs that are given; the others are chosen.
    pub inputs: BTreeMap<String, Value>,
    /// Verdicts and answers that are given, stage by stage, before any are chosen.
    pub script: BTreeMap<String, Vec<String>>,
    /// Nothing out of the ordinary happens by itself: for walking a person through a run.
    pub calm: bool,
    /// Throw the state away and fold it again after every single input.
    pub amnesia: bool,
}

/// How a simulated run went.
#[derive(Debug)]
pub struct Outcome {
    /// Its journal.
    pub journal: Vec<Recorded>,
    /// How it stood in the end.
    pub standing: Standing,
    /// What must not have happened, and did.
    pub violation: Option<Violation>,
    /// The choices that made it.
    pub tape: Vec<u32>,
    /// How many inputs it took.
    pub inputs: usize,
    /// How many landings there were.
    pub landings: u32,
    /// Exit codes that the process would have ended with on the way, the last one included.
    pub exits: BTreeSet<u8>,
}

/// A run that takes longer is cancelled by its person: random answers could go on for ever.
const INPUTS_MAX: usize = 1_200;
const YEAR_MS: i64 = 365 * 24 * 3_600_000;

struct Drive<'a> {
    flow: Arc<Workflow>,
    plan: &'a Plan,
    choices: Choices,
    world: World<'a>,
    auditor: Auditor<'a>,
    answers: BTreeMap<String, Vec<String>>,
    run: Run,
    journal: Vec<Recorded>,
    now: Stamp,
    inputs: usize,
    /// Reports already delivered, to be delivered again; and effects that never report.
    delivered: Vec<Report>,
    silent: BTreeSet<EffectId>,
    exits: BTreeSet<u8>,
}

/// Simulates one run.
pub fn drive(flow: &Arc<Workflow>, plan: &Plan, mut choices: Choices) -> Outcome {
    let mood = if plan.calm {
        crate::world::Mood { luck: 100, trouble: 0, stubborn: None, overruns: false }
    } else {
        World::mood(flow, &mut choices)
    };
    let mut world = World::new(flow, mood);
    let mut answers = BTreeMap::new();
    for (name, words) in &plan.script {
        match flow.stage_named(name) {
            Some(ix) if matches!(flow.stage(ix).kind, Kind::Gate(_)) => {
                answers.insert(name.clone(), words.clone());
            }
            Some(ix) => {
                world.script.insert(ix, words.clone());
            }
            None => {}
        }
    }
    let begin = beginning(flow, plan, &mut choices);
    let now = Stamp { mono_ms: 0, wall_ms: 1_750_000_000_000 };
    let journal = match start(flow.clone(), now, begin) {
        Ok(journal) => journal,
        Err(refused) => return refused_start(&refused, choices),
    };
    let run = after_first(flow, &journal);
    let mut drive = Drive {
        flow: flow.clone(),
        plan,
        choices,
        world,
        auditor: Auditor::new(flow),
        answers,
        run,
        journal: Vec::new(),
        now,
        inputs: 0,
        delivered: Vec::new(),
        silent: BTreeSet::new(),
        exits: BTreeSet::new(),
    };
    let violation = drive.begin(journal).and_then(|()| drive.on_to_the_end()).err();
    let standing = drive.run.standing();
    drive.exits.extend(standing.exit_code());
    Outcome {
        standing,
        violation,
        tape: drive.choices.tape().to_vec(),
        inputs: drive.inputs,
        landings: drive.auditor.landings(),
        exits: drive.exits,
        journal: drive.journal,
    }
}

fn refused_start(refused: &Refused, choices: Choices) -> Outcome {
    Outcome {
        journal: Vec::new(),
        standing: Standing::Stuck,
        violation: Some(Violation {
            seq: 0,
            invariant: "a run can be started",
            what: refused.to_string(),
        }),
        tape: choices.tape().to_vec(),
        inputs: 0,
        landings: 0,
        exits: BTreeSet::new(),
    }
}

/// The run after the first event of a journal that `start` made.
pub(crate) fn after_first(flow: &Arc<Workflow>, journal: &[Recorded]) -> Run {
    match fold_with(flow.clone(), journal.get(..1).unwrap_or_default()) {
        Ok(run) => run,
        Err(broken) => unreachable!("a journal made by start folds: {broken}"),
    }
}

fn beginning(flow: &Workflow, plan: &Plan, choices: &mut Choices) -> Start {
    let mut inputs = plan.inputs.clone();
    for input in &flow.inputs {
        if inputs.contains_key(&input.name) {
            continue;
        }
        let take_default = input.default.is_some() && (plan.calm || !choices.percent(50));
        if !take_default {
            inputs.insert(input.name.clone(), value_of(choices, &input.ty, None));
        }
    }
    let mut settings = Settings::default();
    let mut entry = None;
    if !plan.calm {
        if choices.percent(25) {
            settings.caps = tight(choices);
        }
        if choices.percent(20) {
            settings.policies.extend(policy(flow, choices));
        }
        if choices.percent(15) {
            settings.unpriced = flow
                .stages
                .iter()
                .filter_map(|stage| match &stage.kind {
                    Kind::Role { role, .. } if choices.percent(30) => Some(role.clone()),
                    _ => None,
                })
                .collect();
        }
        if choices.percent(15) {
            entry = choices.pick(&flow.entries).map(|entry| entry.name.clone());
        }
    }
    let have = flow.entries.iter().flat_map(|entry| entry.requires.iter().cloned()).collect();
    Start { run: "simulated".into(), inputs, entry, have, settings }
}

fn tight(choices: &mut Choices) -> Caps {
    let mut caps = Caps::default();
    let cents = |choices: &mut Choices, most: usize| (50 + choices.below(most)) as u64 * 10_000;
    caps.run.cost_micros = Some(cents(choices, 400));
    caps.unit.cost_micros = Some(cents(choices, 200));
    caps.invocation.amount.cost_micros = cents(choices, 100);
    if choices.percent(30) {
        caps.run.iterations = Some(5 + u32::try_from(choices.below(60)).unwrap_or(0));
        caps.unit.iterations = Some(3 + u32::try_from(choices.below(20)).unwrap_or(0));
        caps.unit.invocations = Some(1 + u32::try_from(choices.below(10)).unwrap_or(0));
    }
    if choices.percent(30) {
        caps.run.wall_ms = Some(60_000 * (1 + choices.below(60) as u64));
    }
    caps
}

fn policy(flow: &Workflow, choices: &mut Choices) -> Option<StandingPolicy> {
    let gates: Vec<_> = flow
        .stages
        .iter()
        .filter(|stage| matches!(&stage.kind, Kind::Gate(gate) if !gate.hard))
        .collect();
    let gate = choices.pick(&gates)?;
    let options: Vec<&str> = gate
        .verdicts
        .iter()
        .filter(|option| {
            option.cases.iter().all(|case| case.take.waive.is_empty() && !case.take.reason)
        })
        .map(|option| option.name.as_str())
        .collect();
    let answer = choices.pick(&options)?;
    Some(StandingPolicy {
        name: "night-shift".into(),
        stage: gate.name.clone(),
        answer: (*answer).to_owned(),
    })
}

impl Drive<'_> {
    /// Enters what starting led to. The first event is in the run already.
    fn begin(&mut self, journal: Vec<Recorded>) -> Result<(), Violation> {
        for recorded in journal {
            let before = self.run.clone();
            if recorded.seq > 0 {
                self.run.evolve(&recorded);
            }
            let checked = self.auditor.enter(&before, &recorded, &self.run);
            self.journal.push(recorded);
            checked?;
        }
        self.crash()?;
        self.auditor.at_rest(&self.run)
    }

    fn on_to_the_end(&mut self) -> Result<(), Violation> {
        loop {
            match self.run.standing() {
                Standing::Ended(_) => return self.after_the_end(),
                // Once: a landing under way is still waited for.
                _ if self.inputs > INPUTS_MAX && self.run.phase() != Phase::Finishing => {
                    self.wish(Wish::Cancel)?;
                }
                Standing::Running => self.something_happens()?,
                Standing::Parked(at) => {
                    self.now.mono_ms = self.now.mono_ms.max(at);
                    self.give(Input::Tick)?;
                }
                standing => {
                    self.exits.extend(standing.exit_code());
                    // The process has exited; a person comes back to it.
                    self.crash()?;
                    self.person_acts(standing)?;
                }
            }
        }
    }

    fn after_the_end(&mut self) -> Result<(), Violation> {
        let wanted = self.run.wanted().count();
        let again = decide(&self.run, self.now, Input::Tick);
        if wanted > 0 || again != Err(Refused::Ended) {
            return self.object("nothing after the end", format!("{wanted} wanted, {again:?}"));
        }
        self.crash()
    }

    fn object(&self, invariant: &'static str, what: String) -> Result<(), Violation> {
        Err(Violation { seq: self.run.seq(), invariant, what })
    }

    /// Hands an input to the core and applies what it leads to, under the auditor's eyes.
    fn give(&mut self, input: Input) -> Result<(), Violation> {
        let refused = self.offer(input)?;
        match refused {
            None => Ok(()),
            Some(refused) => self.object("a proper input is taken", refused.to_string()),
        }
    }

    /// As `give`, for an input that may well be refused.
    fn offer(&mut self, input: Input) -> Result<Option<Refused>, Violation> {
        self.inputs += 1;
        let events = match decide(&self.run, self.now, input) {
            Ok(events) => events,
            Err(refused) => return Ok(Some(refused)),
        };
        for recorded in events {
            let before = self.run.clone();
            self.run.evolve(&recorded);
            let checked = self.auditor.enter(&before, &recorded, &self.run);
            self.journal.push(recorded);
            checked?;
        }
        self.auditor.at_rest(&self.run)?;
        if self.plan.amnesia {
            self.crash()?;
        }
        Ok(None)
    }

    /// The process is killed: the state is thrown away and folded again.
    fn crash(&mut self) -> Result<(), Violation> {
        match fold_with(self.flow.clone(), &self.journal) {
            Ok(folded) if folded == self.run => {
                self.run = folded;
                Ok(())
            }
            Ok(_) => self.object("fold gives the same run", String::new()),
            Err(broken) => self.object("the journal folds", broken.to_string()),
        }
    }

    fn pass_time(&mut self) {
        if self.plan.calm {
            self.now.mono_ms += 60_000;
            self.now.wall_ms += 60_000;
            return;
        }
        let ms = match self.choices.below(400) {
            0..=320 => self.choices.below(5_000),
            321..=398 => self.choices.below(300_000),
            _ => self.choices.below(40_000_000),
        } as u64;
        self.now.mono_ms += ms;
        self.now.wall_ms = self.now.wall_ms.saturating_add(i64::try_from(ms).unwrap_or(0));
        if self.choices.percent(1) {
            let jump = if self.choices.percent(50) { YEAR_MS } else { -YEAR_MS };
            self.now.wall_ms = self.now.wall_ms.saturating_add(jump);
        }
    }

    fn something_happens(&mut self) -> Result<(), Violation> {
        self.pass_time();
        if !self.plan.calm {
            match self.choices.below(100) {
                0..=79 => {}
                80..=85 if !self.run.gates().is_empty() => return self.answer_gate(),
                86..=88 => return self.stale_report(),
                89..=90 => return self.some_wish(),
                91..=93 => return self.give(Input::Tick),
                94..=95 => return self.crash(),
                96 => return self.nonsense_answer(),
                _ => {}
            }
        }
        self.deliver()
    }

    /// One of the effects under way comes to its end.
    fn deliver(&mut self) -> Result<(), Violation> {
        let under_way: Vec<EffectId> =
            self.run.wanted().filter(|id| !self.silent.contains(id)).collect();
        let Some(&id) = self.choices.pick(&under_way) else {
            // Everything under way has gone silent: only its deadline can end it.
            let due = self.run.next_deadline();
            return match due {
                Some(at) => {
                    self.now.mono_ms = self.now.mono_ms.max(at);
                    self.give(Input::Tick)
                }
                None => self.object("what is silent has a deadline", format!("{under_way:?}")),
            };
        };
        let Some(effect) = self.run.want(id) else {
            return self.object("what is wanted can be described", format!("{id:?}"));
        };
        if !self.plan.calm && effect.deadline_ms.is_some() && self.choices.percent(2) {
            self.silent.insert(id);
            return Ok(());
        }
        let report = self.world.report(&mut self.choices, &self.run, id, &effect, self.now);
        let settled_before = self.run.purse().settled;
        let reserved_before = self.run.purse().reserved;
        if !self.plan.calm {
            self.delivered.push(report.clone());
        }
        let unknown = report.usage.cost == Reported::Unknown;
        self.give(Input::Report(report))?;
        let invoked = matches!(effect.kind, windlass_core::run::EffectKind::Invoke { .. });
        if unknown && invoked {
            let spent = self.run.purse().settled.minus(settled_before).cost_micros;
            let at_least = effect.spend.cost_micros;
            if spent < at_least && reserved_before != Amount::default() {
                let what = format!("{spent} instead of at least {at_least}");
                return self.object("unknown cost is never nothing", what);
            }
        }
        Ok(())
    }

    /// A report that came already, or for something no longer wanted, is refused.
    fn stale_report(&mut self) -> Result<(), Violation> {
        let Some(report) = self.choices.pick(&self.delivered).cloned() else {
            return self.deliver();
        };
        if self.run.wanted().any(|id| id == report.effect) {
            return self.object("an id is never used again", format!("{:?}", report.effect));
        }
        let effect = report.effect;
        match self.offer(Input::Report(report))? {
            Some(Refused::Stale(id)) if id == effect => Ok(()),
            other => self.object("stale reports are refused", format!("{other:?}")),
        }
    }

    fn answer_gate(&mut self) -> Result<(), Violation> {
        let gates = self.run.gates();
        let Some(gate) = self.choices.pick(&gates).cloned() else { return Ok(()) };
        let name = self.flow.stage(gate.stage).name.clone();
        let scripted = self.answers.get_mut(&name).filter(|words| !words.is_empty());
        let option = match scripted {
            Some(words) => words.remove(0),
            None => {
                let keys: Vec<&str> = gate
                    .options
                    .iter()
                    .map(|option| option.key.as_str())
                    .filter(|key| *key != "other" || self.flow_has_other(gate.stage))
                    .collect();
                if keys.is_empty() {
                    return self.object("a gate keeps a way out", name);
                }
                let first = self.plan.calm || !self.choices.percent(100 - self.world.mood.luck);
                let at = if first { 0 } else { self.choices.below(keys.len()) };
                keys.get(at).copied().unwrap_or_default().to_owned()
            }
        };
        let free_text = !self.plan.calm && self.choices.percent(3);
        let answer = Answer {
            gate: gate.id,
            option: (!free_text).then_some(option),
            text: Some("because I say so".into()),
            who: "somebody".into(),
            shown: "digest".into(),
            // Now and then the person has been at work in the lane themselves.
            subject: (!self.plan.calm && self.choices.percent(10)).then(|| self.world.fresh(None)),
        };
        self.give(Input::Answer(answer))
    }

    /// Whether a gate has an option `other` of its own.
    fn flow_has_other(&self, stage: windlass_core::workflow::StageIx) -> bool {
        let stage = self.flow.stage(stage);
        stage.verdict_named("other").is_some_and(|verdict| {
            let again = windlass_core::workflow::Go::Again;
            stage.verdict(verdict).cases.iter().any(|case| case.take.go != again)
        })
    }

    fn nonsense_answer(&mut self) -> Result<(), Violation> {
        let gates = self.run.gates();
        let Some(gate) = self.choices.pick(&gates) else { return self.deliver() };
        let answer = Answer {
            gate: gate.id,
            option: Some("certainly".into()),
            text: None,
            who: "somebody".into(),
            shown: "digest".into(),
            subject: None,
        };
        match self.offer(Input::Answer(answer))? {
            Some(Refused::NoSuchOption { .. }) => Ok(()),
            other => self.object("an answer is one of the options", format!("{other:?}")),
        }
    }

    fn wish(&mut self, wish: Wish) -> Result<(), Violation> {
        self.offer(Input::Control { who: "somebody".into(), wish }).map(|_| ())
    }

    /// A person wants something while the run goes on.
    fn some_wish(&mut self) -> Result<(), Violation> {
        let wish = match self.choices.below(10) {
            0 | 1 => Wish::Stop,
            2 | 3 => Wish::Pause,
            4 => Wish::Resume(None),
            5 => match self.redo() {
                Some(wish) => wish,
                None => return Ok(()),
            },
            6 => match self.overrule() {
                Some(wish) => wish,
                None => return Ok(()),
            },
            7 => match self.some_unit() {
                Some(unit) => Wish::Skip { unit, reason: "not now".into() },
                None => return Ok(()),
            },
            8 => {
                let ids: Vec<_> = self.run.units().map(|unit| unit.id).collect();
                Wish::Reorder(ids.into_iter().rev().collect())
            }
            _ => Wish::Raise(*self.run.caps()),
        };
        self.wish(wish)
    }

    fn some_unit(&mut self) -> Option<Arc<str>> {
        let open: Vec<Arc<str>> = self
            .run
            .units()
            .filter(|unit| !matches!(unit.status, UnitStatus::Settled(_)))
            .map(|unit| unit.id)
            .collect();
        self.choices.pick(&open).cloned()
    }

    fn some_target(&mut self) -> Option<(Target, ScopeIx)> {
        match self.some_unit() {
            Some(unit) => Some((Target::Unit(unit), ScopeIx::UNIT)),
            None => {
                let scope = match self.run.phase() {
                    Phase::Intake => ScopeIx::INTAKE,
                    Phase::Finale => ScopeIx::FINALE,
                    Phase::Units | Phase::Finishing | Phase::Ended => ScopeIx::BETWEEN,
                };
                Some((Target::Run, scope))
            }
        }
    }

    fn redo(&mut self) -> Option<Wish> {
        let (target, scope) = self.some_target()?;
        let stages = self.flow.scopes[scope.at()].stages.clone();
        let stage = *self.choices.pick(&stages)?;
        Some(Wish::Redo { target, stage: self.flow.stage(stage).name.clone() })
    }

    fn overrule(&mut self) -> Option<Wish> {
        let (target, scope) = self.some_target()?;
        let stages = self.flow.scopes[scope.at()].stages.clone();
        let stage = self.flow.stage(*self.choices.pick(&stages)?).clone();
        let verdict = self.choices.pick(&stage.verdicts)?.name.clone();
        Some(Wish::Override {
            target,
            stage: stage.name,
            verdict,
            reason: "I have looked at it".into(),
        })
    }

    /// A person comes back to a run that has nothing left to do without them.
    fn person_acts(&mut self, standing: Standing) -> Result<(), Violation> {
        self.pass_time();
        if !self.plan.calm && self.choices.percent(2) {
            return self.wish(Wish::Cancel);
        }
        match standing {
            Standing::Waiting => self.answer_gate(),
            Standing::Exhausted => {
                let mut caps = *self.run.caps();
                let more = |cap: Option<u64>| cap.map(|cap| cap.saturating_mul(2));
                let steps = |cap: Option<u32>| cap.map(|cap| cap.saturating_mul(2));
                for cap in [&mut caps.run, &mut caps.unit] {
                    cap.cost_micros = more(cap.cost_micros);
                    cap.tokens = more(cap.tokens);
                    cap.wall_ms = more(cap.wall_ms);
                    cap.invocations = steps(cap.invocations);
                    cap.iterations = steps(cap.iterations);
                }
                self.give(Input::Control { who: "somebody".into(), wish: Wish::Raise(caps) })?;
                self.wish(Wish::Resume(None))
            }
            Standing::Escalated if !self.plan.calm && self.choices.percent(60) => {
                let redo = self.redo();
                let wish = match (self.choices.below(3), redo) {
                    (0, Some(redo)) => redo,
                    (1, _) => match self.some_unit() {
                        Some(unit) => Wish::Skip { unit, reason: "no use".into() },
                        None => Wish::Resume(None),
                    },
                    (_, _) => Wish::Resume(None),
                };
                self.wish(wish)
            }
            Standing::Escalated | Standing::Stopped | Standing::Resting => {
                if self.plan.calm {
                    self.inputs += INPUTS_MAX / 8;
                }
                self.wish(Wish::Resume(None))
            }
            Standing::Running | Standing::Parked(_) | Standing::Ended(_) | Standing::Stuck => {
                self.object("nothing is ever stuck", format!("{standing:?}"))
            }
        }
    }
}

/// The decisions that a journal records, by name.
pub fn records(flow: &Workflow, journal: &[Recorded]) -> Vec<String> {
    let mut records = Vec::new();
    for recorded in journal {
        match &recorded.event {
            Event::Entered { stage, .. } => records.extend(flow.stage(*stage).record.clone()),
            Event::Moved(moved) => records.extend(moved.record.as_deref().map(str::to_owned)),
            Event::Asked { policy: Some(policy), .. } => {
                records.extend(policy.record.as_deref().map(str::to_owned));
            }
            _ => {}
        }
    }
    records
}
