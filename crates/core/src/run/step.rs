//! What follows by itself: one event at a time, until nothing more does.

use super::{
    EffectId, FrameId, GateId,
    budget::{Priced, Short, reserve},
    event::{Event, PolicyAnswer, Why},
    scene::Scene,
    state::{Child, Frame, PanelPhase, Phase, Position, Run, Slot},
};
use crate::workflow::{
    Gate, Kind, Limit, Mishap, RunOutcome, ScopeIx, Settled, Stage, StageIx, VerdictIx,
};

/// The next event, or `None` when the run waits for something from outside.
pub(super) fn step(run: &Run) -> Option<Event> {
    if run.phase == Phase::Ended {
        return None;
    }
    run.agenda
        .iter()
        .find_map(|id| step_frame(run, *id))
        .or_else(|| block(run))
        .or_else(|| finish(run))
        .or_else(|| wake(run))
        .or_else(|| open_between(run))
        .or_else(|| start_unit(run))
        .or_else(|| run.dispatch.iter().find_map(|id| dispatch(run, *id)))
        .or_else(|| open_finale(run))
}

fn step_frame(run: &Run, id: FrameId) -> Option<Event> {
    let frame = run.frame(id)?;
    match frame.position {
        Position::Entering(stage) => Some(enter(run, id, frame, stage)),
        Position::Pending => {
            let ix = frame.stage?;
            match &run.flow.stage(ix).kind {
                Kind::Decide(cases) => {
                    let scene = Scene::of(run, frame);
                    let (_, verdict) = cases.iter().find(|(when, _)| {
                        when.as_ref().is_none_or(|when| when.truth(&scene) == Some(true))
                    })?;
                    Some(Event::Moved(Box::new(run.route(id, frame, ix, *verdict))))
                }
                Kind::Gate(gate) => Some(ask(run, id, frame, ix, gate)),
                Kind::Each { scope, .. } => Some(next_child(run, id, frame, ix, *scope)),
                Kind::Role { .. } | Kind::Panel { .. } | Kind::Errand(_) => None,
            }
        }
        Position::Judged(verdict) => {
            let ix = frame.stage?;
            let other_agent = fall_back(run, frame, run.flow.stage(ix), verdict);
            Some(match other_agent {
                Some(agent) => Event::FellBack { frame: id, agent },
                None => Event::Moved(Box::new(run.route(id, frame, ix, verdict))),
            })
        }
        Position::Working
        | Position::Asking(_)
        | Position::Expanded
        | Position::Held(_)
        | Position::Closed => None,
    }
}

fn enter(run: &Run, id: FrameId, frame: &Frame, ix: StageIx) -> Event {
    let stage = run.flow.stage(ix);
    let scene = Scene::of(run, frame);
    if stage.when.as_ref().is_some_and(|when| when.truth(&scene) == Some(false)) {
        return Event::Passed { frame: id, stage: ix };
    }
    if let Some(verdict) = run.upheld(frame, ix) {
        return Event::Upheld { frame: id, stage: ix, verdict };
    }
    match run.count_entry(id, frame, ix) {
        Ok(count) => Event::Entered { frame: id, stage: ix, count },
        Err(moved) => Event::Moved(moved),
    }
}

/// The next agent in a stage's list, when this one crashed or took too long.
fn fall_back(run: &Run, frame: &Frame, stage: &Stage, verdict: VerdictIx) -> Option<u16> {
    let Kind::Role { agents, .. } = &stage.kind else { return None };
    let mishap = stage.verdict(verdict).mishap?;
    let next = frame.work.agent + 1;
    let away = matches!(mishap, Mishap::Crashed | Mishap::TimedOut);
    // Only what an agent did itself: a person's override is not argued with.
    let acted = frame.work.slots.contains(&Slot::Mishap(mishap));
    (away && acted && usize::from(next) < agents.len() && run.phase != Phase::Finishing)
        .then_some(next)
}

fn ask(run: &Run, id: FrameId, frame: &Frame, ix: StageIx, gate: &Gate) -> Event {
    let scene = Scene::of(run, frame);
    let concerns: Vec<Option<bool>> =
        gate.concerns.iter().map(|(_, concern)| concern.truth(&scene)).collect();
    let quiet = concerns.iter().all(|fired| *fired == Some(false));
    let scene = scene.with_quiet(quiet);
    let own = gate
        .policy
        .iter()
        .find(|policy| policy.when.as_ref().is_none_or(|when| when.truth(&scene) == Some(true)))
        .map(|policy| PolicyAnswer {
            verdict: policy.answer,
            name: None,
            record: policy.record.as_deref().map(Into::into),
        });
    let policy = own
        .or_else(|| if quiet { standing_policy(run, frame, ix) } else { None })
        .filter(|answer| run.offered(frame, ix, answer.verdict).is_some());
    Event::Asked { gate: GateId(run.next_gate), frame: id, concerns, policy }
}

/// A policy from the configuration answers the first time only: the definition was proved to end
/// because a person has to answer here, and a policy that answered for ever would undo that.
fn standing_policy(run: &Run, frame: &Frame, ix: StageIx) -> Option<PolicyAnswer> {
    let stage = run.flow.stage(ix);
    let policy = run.settings.policies.iter().find(|policy| policy.stage == stage.name)?;
    let verdict = stage.verdict_named(&policy.answer)?;
    let first_time = !frame.last.contains_key(&ix);
    first_time.then(|| PolicyAnswer {
        verdict,
        name: Some(policy.name.as_str().into()),
        record: None,
    })
}

fn next_child(run: &Run, id: FrameId, frame: &Frame, ix: StageIx, scope: ScopeIx) -> Event {
    let children: &[Child] = frame.children.get(&scope).map_or(&[], Vec::as_slice);
    if let Some(place) = children.iter().position(|child| child.settled.is_none()) {
        return Event::Opened {
            frame: FrameId(run.next_frame),
            scope,
            parent: Some(id),
            child: u32::try_from(place).ok(),
        };
    }
    let done = children.iter().filter(|child| child.settled == Some(Settled::Done)).count();
    let word = match done {
        0 => "none",
        n if n == children.len() => "all",
        _ => "some",
    };
    match run.flow.stage(ix).verdict_named(word) {
        Some(verdict) => Event::Moved(Box::new(run.route(id, frame, ix, verdict))),
        None => Event::Held { frame: id, why: Why::Trouble },
    }
}

fn block(run: &Run) -> Option<Event> {
    let (unit, because) = run.doomed.get_min()?;
    Some(Event::UnitSettled {
        unit: *unit,
        how: Settled::Blocked,
        because: Some(*because),
        by: None,
    })
}

fn finish(run: &Run) -> Option<Event> {
    if run.phase == Phase::Finale && run.finale.is_none() {
        return Some(Event::Ended { outcome: run.outcome.unwrap_or(RunOutcome::Done) });
    }
    if run.phase != Phase::Finishing || !run.flights.is_empty() {
        return None;
    }
    let outcome = run.outcome.unwrap_or(RunOutcome::Failed);
    Some(if outcome == RunOutcome::Cancelled {
        Event::Ended { outcome }
    } else {
        Event::FinaleOpened { frame: FrameId(run.next_frame), outcome }
    })
}

fn wake(run: &Run) -> Option<Event> {
    let unit = *run.waking.get_min()?;
    (!run.paused && run.active.len() < run.width()).then_some(Event::UnitWoken { unit })
}

fn open_between(run: &Run) -> Option<Event> {
    if run.phase != Phase::Units || run.between.is_some() {
        return None;
    }
    let unit = run.settled.front()?;
    Some(Event::Opened {
        frame: FrameId(run.next_frame),
        scope: ScopeIx::BETWEEN,
        parent: run.unit(*unit).and_then(|unit| unit.frame),
        child: None,
    })
}

fn start_unit(run: &Run) -> Option<Event> {
    let unit = run.next_to_start()?;
    let stage = run.entry.or(run.flow.scopes[ScopeIx::UNIT.at()].first)?;
    Some(Event::UnitStarted { unit, frame: FrameId(run.next_frame), lane: run.free_lane(), stage })
}

fn open_finale(run: &Run) -> Option<Event> {
    let over = run.phase == Phase::Units
        && run.tally.left() == 0
        && run.between.is_none()
        && run.settled.is_empty();
    over.then(|| Event::FinaleOpened {
        frame: FrameId(run.next_frame),
        outcome: run.outcome.unwrap_or(RunOutcome::Done),
    })
}

/// Wants an effect, holds a frame that may not act, or leaves it for later.
fn dispatch(run: &Run, id: FrameId) -> Option<Event> {
    if run.paused {
        return None;
    }
    let frame = run.frame(id)?;
    let stage = run.stage_at(frame)?;
    let slot = frame.work.slots.iter().position(|slot| *slot == Slot::Idle)?;
    if let Some(why) = forbidden(run, frame, stage) {
        return Some(Event::Held { frame: id, why });
    }
    if stage.kind.lands() && !run.may_land(stage) {
        return None;
    }
    let role = role_of(stage, frame.work.phase, slot);
    if role.is_some() && run.overrun {
        return None;
    }
    let priced = role.map(|role| Priced::of(role, &run.settings.unpriced));
    let unit = run.lane_unit(frame).and_then(|unit| run.unit(unit)).map(|unit| &unit.purse);
    let now = run.now.mono_ms;
    match reserve(&run.settings.caps, &run.purse, unit, now, priced) {
        Ok(reserved) => Some(Event::Wanted {
            effect: EffectId(run.next_effect),
            frame: id,
            slot: u16::try_from(slot).ok()?,
            reserved,
            deadline_ms: deadline(run, frame, stage, run.now.mono_ms),
        }),
        // A panel is held when its members under way have come to their end, not before.
        Err(Short::Unit) if !has_more_under_way(frame) => {
            Some(Event::Held { frame: id, why: Why::Broke })
        }
        Err(Short::Unit | Short::Run | Short::Wait) => None,
    }
}

fn has_more_under_way(frame: &Frame) -> bool {
    frame.work.slots.iter().any(|slot| matches!(slot, Slot::Flying(_) | Slot::Parked(_)))
}

fn forbidden(run: &Run, frame: &Frame, stage: &Stage) -> Option<Why> {
    if stage.kind.lands() {
        let landed = match run.lane_unit(frame).and_then(|unit| run.unit(unit)) {
            Some(unit) => unit.landed,
            None => run.landed,
        };
        if landed {
            return Some(Why::LandedAlready);
        }
    }
    run.unmet_need(frame, stage).map(Why::Unproved)
}

/// The role that a slot of a stage invokes, if it invokes one.
pub(super) fn role_of(stage: &Stage, phase: PanelPhase, slot: usize) -> Option<&str> {
    match &stage.kind {
        Kind::Role { role, .. } => Some(role),
        Kind::Panel { roles, critique, synthesis } => match phase {
            PanelPhase::Propose => roles.get(slot).map(String::as_str),
            PanelPhase::Critique => critique.as_deref(),
            PanelPhase::Synthesise => synthesis.as_deref(),
        },
        Kind::Errand(_) | Kind::Gate(_) | Kind::Each { .. } | Kind::Decide(_) => None,
    }
}

/// How long a stage may take by what it says itself. No seconds at all are no limit.
fn limit_ms(limit: &Limit, scene: &Scene<'_>) -> Option<u64> {
    match limit {
        Limit::Ms(ms) => Some(*ms),
        Limit::Seconds(seconds) => {
            let seconds = u64::try_from(seconds.number(scene)?).ok().filter(|it| *it > 0)?;
            Some(seconds.saturating_mul(1_000))
        }
    }
}

/// When an effect that begins now will have taken too long. A landing has no deadline: nobody can tell from here
/// whether it happened, so it is waited for.
pub(super) fn deadline(run: &Run, frame: &Frame, stage: &Stage, now: u64) -> Option<u64> {
    let caps = &run.settings.caps;
    let invocation = matches!(stage.kind, Kind::Role { .. } | Kind::Panel { .. });
    if stage.kind.lands() {
        return None;
    }
    let unit_left = run
        .lane_unit(frame)
        .and_then(|unit| run.unit(unit))
        .map_or(u64::MAX, |unit| unit.purse.wall_left(caps.unit, now));
    // With several agents the limit is for falling back: the last one has the invocation's own.
    let last_of_several = matches!(&stage.kind, Kind::Role { agents, .. }
        if agents.len() > 1 && usize::from(frame.work.agent) + 1 == agents.len());
    let own = stage.limit.as_ref().filter(|_| !last_of_several);
    let limit = own
        .and_then(|limit| limit_ms(limit, &Scene::of(run, frame)))
        .unwrap_or(u64::MAX)
        .min(if invocation { caps.invocation.wall_ms } else { u64::MAX })
        .min(run.purse.wall_left(caps.run, now))
        .min(unit_left);
    (limit < u64::MAX).then(|| now.saturating_add(limit))
}
