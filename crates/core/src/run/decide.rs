//! What an input leads to. May refuse; changes nothing.

use std::sync::Arc;

use super::{
    EffectId, FrameId, UnitIx,
    budget::Usage,
    event::{By, Ending, Event, Recorded, Started},
    fold::fold_with,
    input::{Answer, Ended, Input, Refused, Report, Settings, Start, Target, Wish},
    state::{Flight, Frame, Phase, Run, Unit, UnitStatus},
    step::{deadline, role_of, step},
    time::Stamp,
    timer::Timer,
    units::flaw,
};
use crate::{
    value::Value,
    workflow::{FactIx, Kind, Mishap, Owner, Settled, Stage, StageIx, VerdictIx, Workflow},
};

/// The events that start a run.
///
/// # Errors
///
/// When inputs, caps, policies or the sub-command's artifacts are not what the workflow wants.
pub fn start(flow: Arc<Workflow>, now: Stamp, start: Start) -> Result<Vec<Recorded>, Refused> {
    let inputs = inputs(&flow, &start)?;
    let entry = entry(&flow, &start)?;
    check_settings(&flow, &start.settings)?;
    let started = Started {
        run: start.run,
        workflow: flow.name.as_str().into(),
        source: flow.source.clone(),
        inputs,
        entry,
        settings: start.settings,
    };
    let first = Recorded { seq: 0, at: now, event: Event::Started(Box::new(started)) };
    let mut events = vec![first];
    if let Ok(run) = fold_with(flow, &events) {
        events.extend(advance(run, now, Vec::new()));
    }
    Ok(events)
}

fn inputs(flow: &Workflow, start: &Start) -> Result<Vec<Option<Value>>, Refused> {
    if let Some(name) = start.inputs.keys().find(|name| flow.input_named(name).is_none()) {
        return Err(Refused::NoSuchInput(name.clone()));
    }
    let value = |input: &crate::workflow::Input| {
        let given = start.inputs.get(&input.name).cloned();
        let value =
            given.or_else(|| input.default.clone()).ok_or_else(|| Refused::InputMissing {
                name: input.name.clone(),
                ask: input.ask.clone().unwrap_or_else(|| format!("give {}", input.ty)),
            })?;
        if input.ty.admits(&value) {
            Ok(Some(value))
        } else {
            Err(Refused::InputType {
                name: input.name.clone(),
                want: input.ty.to_string(),
                given: value.to_string(),
            })
        }
    };
    flow.inputs.iter().map(value).collect()
}

fn entry(flow: &Workflow, start: &Start) -> Result<Option<StageIx>, Refused> {
    let Some(name) = &start.entry else { return Ok(None) };
    let entry = flow
        .entries
        .iter()
        .find(|entry| entry.name == *name)
        .ok_or_else(|| Refused::NoSuchEntry(name.clone()))?;
    let missing: Vec<String> =
        entry.requires.iter().filter(|file| !start.have.contains(*file)).cloned().collect();
    if missing.is_empty() {
        Ok(Some(entry.at))
    } else {
        Err(Refused::EntryNotReady { otherwise: entry.otherwise.clone(), missing })
    }
}

fn check_settings(flow: &Workflow, settings: &Settings) -> Result<(), Refused> {
    if let Some(flaw) = settings.caps.flaw() {
        return Err(Refused::BadCaps(flaw));
    }
    for policy in &settings.policies {
        let stage = flow.stage_named(&policy.stage).map(|ix| flow.stage(ix));
        if let Some(why) = policy_flaw(stage, &policy.answer) {
            return Err(Refused::BadPolicy {
                policy: policy.name.clone(),
                stage: policy.stage.clone(),
                answer: policy.answer.clone(),
                why,
            });
        }
    }
    Ok(())
}

/// Why no policy may give this answer here.
fn policy_flaw(stage: Option<&Stage>, answer: &str) -> Option<&'static str> {
    let Some(stage) = stage else { return Some("there is no such stage") };
    let Kind::Gate(gate) = &stage.kind else { return Some("it is not a gate") };
    if gate.hard {
        return Some("only a person may answer a hard gate");
    }
    let Some(verdict) = stage.verdict_named(answer) else {
        return Some("it is not one of the options");
    };
    let personal = |case: &crate::workflow::Case| !case.take.waive.is_empty() || case.take.reason;
    stage
        .verdict(verdict)
        .cases
        .iter()
        .any(personal)
        .then_some("overriding evidence or giving a reason is for a person")
}

/// The events that an input leads to.
///
/// # Errors
///
/// When the input makes no sense now: stale, not an option, not there, too late.
pub fn decide(run: &Run, now: Stamp, input: Input) -> Result<Vec<Recorded>, Refused> {
    if run.phase == Phase::Ended {
        return Err(Refused::Ended);
    }
    // Time never runs backwards, whatever we are told.
    let now = Stamp { mono_ms: now.mono_ms.max(run.now.mono_ms), ..now };
    let first = match input {
        Input::Report(report) => vec![take_report(run, now, report)?],
        Input::Answer(answer) => vec![take_answer(run, answer)?],
        Input::Tick => due(run, now),
        Input::Began(effect) => vec![begin(run, now, effect)?],
        Input::Control { who, wish } => take_wish(run, who, wish)?,
    };
    Ok(advance(run.clone(), now, first))
}

/// Applies first events to a copy of the run, and whatever follows by itself.
fn advance(mut run: Run, now: Stamp, first: Vec<Event>) -> Vec<Recorded> {
    let mut events = Vec::with_capacity(first.len() + 4);
    let mut record = |run: &mut Run, event| {
        let recorded = Recorded { seq: run.seq, at: now, event };
        run.evolve(&recorded);
        events.push(recorded);
    };
    for event in first {
        record(&mut run, event);
    }
    while let Some(event) = step(&run) {
        record(&mut run, event);
    }
    events
}

/// An effect that had to wait its turn has all its time from now on.
fn begin(run: &Run, now: Stamp, effect: EffectId) -> Result<Event, Refused> {
    let stale = || Refused::Stale(effect);
    let flight = run.flights.get(&effect).ok_or_else(stale)?;
    let frame = run.frame(flight.frame).ok_or_else(stale)?;
    let stage = run.stage_at(frame).ok_or_else(stale)?;
    Ok(Event::Began { effect, deadline_ms: deadline(run, frame, stage, now.mono_ms) })
}

fn take_report(run: &Run, now: Stamp, report: Report) -> Result<Event, Refused> {
    let stale = || Refused::Stale(report.effect);
    let flight = run.flights.get(&report.effect).ok_or_else(stale)?;
    let frame = run.frame(flight.frame).ok_or_else(stale)?;
    let ix = frame.stage.ok_or_else(stale)?;
    let stage = run.flow.stage(ix);
    let invocation = matches!(stage.kind, Kind::Role { .. } | Kind::Panel { .. });

    let (ended, fault) = match verdict_fault(run, frame, stage, flight, &report) {
        Some((mishap, fault)) => (Ended::Mishap(met(stage, mishap)), Some(Arc::from(fault))),
        None => match &report.ended {
            Ended::Mishap(mishap) => (Ended::Mishap(met(stage, *mishap)), None),
            Ended::Limited(_) | Ended::HandedOver if !invocation => {
                (Ended::Mishap(Mishap::Crashed), None)
            }
            Ended::Limited(_) | Ended::HandedOver | Ended::Verdict(_) | Ended::Lost => {
                (report.ended.clone(), None)
            }
        },
    };
    let usage = if invocation { report.usage } else { Usage::NONE };
    let settled = usage.settle(flight.reserved);
    let park_until_ms = match &ended {
        Ended::Limited(until) => Some(now.park_until(*until)),
        Ended::Verdict(_) | Ended::Mishap(_) | Ended::HandedOver | Ended::Lost => None,
    };
    Ok(Event::Reported(Box::new(Ending {
        effect: report.effect,
        ended,
        facts: declared_facts(&run.flow, ix, &report),
        lists: declared_lists(stage, &report),
        subject: report.subject,
        settled,
        overrun: settled.minus(flight.reserved),
        park_until_ms,
        fault,
    })))
}

/// The mishap as this kind of stage can meet it.
fn met(stage: &Stage, mishap: Mishap) -> Mishap {
    if stage.kind.mishaps().contains(&mishap) { mishap } else { Mishap::Crashed }
}

/// What keeps a verdict from being taken at its word.
fn verdict_fault(
    run: &Run,
    frame: &Frame,
    stage: &Stage,
    flight: &Flight,
    report: &Report,
) -> Option<(Mishap, String)> {
    let Ended::Verdict(name) = &report.ended else { return None };
    let (slot, wanted) = (usize::from(flight.slot), flight.subject.as_ref());
    // An agent answers as its role may, a panel's member as its own.
    let known = match role_of(stage, frame.work.phase, slot) {
        Some(role) => run.flow.roles.get(role).is_some_and(|own| own.iter().any(|v| **v == **name)),
        None => stage.verdict_named(name).is_some_and(|v| stage.verdict(v).mishap.is_none()),
    };
    if !known {
        return Some((Mishap::Unknown, format!("{name:?} is not a verdict of this stage")));
    }
    let looks = stage.kind.proves();
    if looks && !stage.edits && wanted.is_some() && report.subject.as_ref() != wanted {
        return Some((Mishap::Unknown, "it looked at something else than was wanted".into()));
    }
    let lists = stage.lists.iter().filter_map(|list| report.lists.get(&list.name));
    let fault = lists.filter_map(|items| flaw(run, items)).next()?;
    Some((Mishap::Invalid, fault))
}

fn declared_facts(flow: &Workflow, stage: StageIx, report: &Report) -> Vec<(FactIx, Value)> {
    let mut facts = Vec::new();
    for (at, fact) in flow.facts.iter().enumerate() {
        if fact.owner == Owner::Stage(stage)
            && let Some(value) = report.facts.get(&fact.name)
            && fact.ty.admits(value)
            && let Ok(at) = u16::try_from(at)
        {
            facts.push((FactIx(at), value.clone()));
        }
    }
    facts
}

fn declared_lists(stage: &Stage, report: &Report) -> Vec<(Arc<str>, Vec<super::input::Item>)> {
    let take = |list: &crate::workflow::List| {
        report.lists.get(&list.name).map(|items| (Arc::from(list.name.as_str()), items.clone()))
    };
    stage.lists.iter().filter_map(take).collect()
}

fn take_answer(run: &Run, answer: Answer) -> Result<Event, Refused> {
    let Answer { gate, option, text, who, shown, subject } = answer;
    let frame = run.gates.get(&gate).and_then(|id| run.frame(*id));
    let (frame, ix) = frame
        .and_then(|frame| frame.stage.map(|ix| (frame, ix)))
        .ok_or(Refused::NoSuchGate(gate))?;
    let stage = run.flow.stage(ix);
    let Kind::Gate(declared) = &stage.kind else { return Err(Refused::NoSuchGate(gate)) };
    let text = text.filter(|text| !text.trim().is_empty());
    let options = || run.option_names(frame, ix);
    let verdict = match (&option, &text) {
        (Some(name), _) => stage.verdict_named(name),
        (None, Some(_)) => stage.verdict_named("other"),
        (None, None) => {
            Some(declared.default.ok_or_else(|| Refused::NoDefault { options: options() })?)
        }
    };
    let no_such =
        || Refused::NoSuchOption { given: option.clone().unwrap_or_default(), options: options() };
    let verdict = verdict.ok_or_else(no_such)?;
    let take = run.offered(frame, ix, verdict).ok_or_else(no_such)?;
    // An answer in one's own words has some.
    let in_words = stage.verdict(verdict).name == "other";
    if (take.reason || in_words) && text.is_none() {
        let option = stage.verdict(verdict).name.clone();
        return Err(Refused::ReasonNeeded { option });
    }
    Ok(Event::Answered { gate, verdict, text: text.map(Arc::from), who, shown, subject })
}

fn due(run: &Run, now: Stamp) -> Vec<Event> {
    let expire = |effect: &EffectId| {
        let flight = run.flights.get(effect)?;
        Some(Event::Reported(Box::new(Ending {
            effect: *effect,
            ended: Ended::Mishap(Mishap::TimedOut),
            facts: Vec::new(),
            lists: Vec::new(),
            subject: None,
            settled: flight.reserved,
            overrun: super::budget::Amount::default(),
            park_until_ms: None,
            fault: None,
        })))
    };
    let due = run.timers.due(now.mono_ms).filter_map(|timer| match timer {
        Timer::Effect(effect) => expire(&effect),
        Timer::Slot(frame, slot) => Some(Event::Unparked { frame, slot }),
    });
    let mut events: Vec<Event> = due.collect();
    for (frame, slot) in run.reset_by(now) {
        let event = Event::Unparked { frame, slot };
        if !events.contains(&event) {
            events.push(event);
        }
    }
    events
}

fn take_wish(run: &Run, who: Arc<str>, wish: Wish) -> Result<Vec<Event>, Refused> {
    if run.phase == Phase::Finishing && wish != Wish::Cancel {
        return Err(Refused::Finishing);
    }
    Ok(match wish {
        Wish::Stop => vec![Event::StopAsked { who }],
        Wish::Pause => vec![Event::PauseAsked { who }],
        Wish::Cancel => vec![Event::CancelAsked { who }],
        Wish::Resume(target) => resume(run, who, target.as_ref())?,
        Wish::Raise(caps) => {
            if let Some(flaw) = caps.flaw() {
                return Err(Refused::BadCaps(flaw));
            }
            if !caps.at_least(&run.settings.caps) {
                return Err(Refused::CapsLowered("give values no lower than the present ones"));
            }
            vec![Event::CapsRaised { who, caps: Box::new(caps) }]
        }
        Wish::Redo { target, stage } => {
            let (frame, stage) = locate(run, &target, &stage)?;
            vec![Event::Redone { frame, stage, who }]
        }
        Wish::Override { target, stage, verdict, reason } => {
            vec![overrule(run, who, &target, &stage, &verdict, &reason)?]
        }
        Wish::Skip { unit, reason } => {
            let (ix, found) = unsettled(run, &unit)?;
            not_landing(run, found)?;
            let by = Some(By { who, reason: reason.into() });
            vec![Event::UnitSettled { unit: ix, how: Settled::Skipped, because: None, by }]
        }
        Wish::Reorder(ids) => vec![reorder(run, who, &ids)?],
    })
}

fn unsettled<'a>(run: &'a Run, id: &Arc<str>) -> Result<(UnitIx, &'a Unit), Refused> {
    let ix = *run.unit_ids.get(id).ok_or_else(|| Refused::NoSuchUnit(id.clone()))?;
    let unit = run.unit(ix).ok_or_else(|| Refused::NoSuchUnit(id.clone()))?;
    let over = matches!(unit.status, UnitStatus::Settled(_)) || run.phase == Phase::Finale;
    if over { Err(Refused::UnitSettled(id.clone())) } else { Ok((ix, unit)) }
}

/// A landing under way cannot be taken back, so nothing is done to its unit meanwhile.
fn not_landing(run: &Run, unit: &Unit) -> Result<(), Refused> {
    let landing = unit.frame.is_some_and(|frame| run.is_landing(frame));
    if landing { Err(Refused::Landing(unit.item.id.clone())) } else { Ok(()) }
}

fn resume(run: &Run, who: Arc<str>, target: Option<&Target>) -> Result<Vec<Event>, Refused> {
    let mut events = Vec::new();
    let held = |id: &FrameId| match target {
        None => Ok(true),
        Some(Target::Run) => Ok(run.frame(*id).is_some_and(|f| run.lane_unit(f).is_none())),
        Some(Target::Unit(unit)) => {
            let (ix, _) = unsettled(run, unit)?;
            Ok(run.frame(*id).and_then(|frame| run.lane_unit(frame)) == Some(ix))
        }
    };
    if let Some(Target::Unit(unit)) = target {
        unsettled(run, unit)?;
    }
    if target.is_none() {
        events.push(Event::ResumeAsked { who });
    }
    for id in run.held.keys() {
        if held(id)? {
            events.push(Event::Resumed { frame: *id });
        }
    }
    Ok(events)
}

/// The frame and stage that a wish is about.
fn locate(run: &Run, target: &Target, name: &str) -> Result<(FrameId, StageIx), Refused> {
    let not_here = |why| Refused::StageNotHere { stage: name.to_owned(), why };
    let stage = run.flow.stage_named(name).ok_or_else(|| not_here("no such stage"))?;
    let id = match target {
        Target::Unit(id) => {
            let (_, unit) = unsettled(run, id)?;
            not_landing(run, unit)?;
            unit.frame.ok_or_else(|| Refused::UnitNotStarted(id.clone()))?
        }
        Target::Run => run
            .finale
            .or(run.between)
            .or((run.phase == Phase::Intake).then_some(run.intake))
            .ok_or_else(|| not_here("the run itself is at no stage now"))?,
    };
    let frame = run.frame(id).ok_or_else(|| not_here("it is over"))?;
    if run.flow.stage(stage).scope != frame.scope {
        return Err(not_here("it belongs to another scope"));
    }
    if run.is_landing(id) {
        return Err(not_here("a landing is under way"));
    }
    Ok((id, stage))
}

fn overrule(
    run: &Run,
    who: Arc<str>,
    target: &Target,
    name: &str,
    verdict: &str,
    reason: &str,
) -> Result<Event, Refused> {
    if reason.trim().is_empty() {
        return Err(Refused::ReasonNeeded { option: "override".into() });
    }
    let (id, ix) = locate(run, target, name)?;
    let stage = run.flow.stage(ix);
    let not_here = |why| Refused::StageNotHere { stage: name.to_owned(), why };
    if !stage.kind.proves() {
        return Err(not_here("only the verdict of a role, a panel or checks can be overridden"));
    }
    if run.frame(id).is_none_or(|frame| !frame.runs.contains_key(&ix)) {
        return Err(not_here("it has not run yet"));
    }
    let own: Vec<&crate::workflow::Verdict> =
        stage.verdicts.iter().filter(|verdict| verdict.mishap.is_none()).collect();
    let Some(verdict) =
        own.iter().find(|own| own.name == verdict).and_then(|own| stage.verdict_named(&own.name))
    else {
        let options = own.iter().map(|verdict| verdict.name.clone()).collect();
        return Err(Refused::NoSuchOption { given: verdict.to_owned(), options });
    };
    let by = By { who, reason: reason.into() };
    Ok(Event::Overridden { frame: id, stage: ix, verdict, by })
}

fn reorder(run: &Run, who: Arc<str>, ids: &[Arc<str>]) -> Result<Event, Refused> {
    let mut pending = Vec::new();
    for id in ids {
        let (ix, unit) = unsettled(run, id)?;
        if unit.status == UnitStatus::Pending && !pending.contains(&ix) {
            pending.push(ix);
        }
    }
    let first = run.units.iter().map(|unit| unit.rank).min().unwrap_or(0);
    let count = i64::try_from(pending.len()).unwrap_or(i64::MAX);
    let start = first.saturating_sub(count);
    let ranks = pending.into_iter().zip(start..).collect();
    Ok(Event::Reordered { who, ranks })
}

impl Run {
    /// The options that a gate offers now.
    pub(super) fn option_names(&self, frame: &Frame, ix: StageIx) -> Vec<String> {
        let stage = self.flow.stage(ix);
        (0..)
            .zip(&stage.verdicts)
            .filter(|(at, _)| self.offered(frame, ix, VerdictIx(*at)).is_some())
            .map(|(_, verdict)| verdict.name.clone())
            .collect()
    }
}
