//! Evidence: what a landing must have, bound to exactly what was looked at.

use super::{
    EffectId, FrameId,
    input::Subject,
    scene::Scene,
    state::{Evidence, Frame, Run},
};
use crate::workflow::{Errand, Kind, Need, Stage, StageIx, VerdictIx};

impl Run {
    /// The first of a stage's needs that is not met.
    pub(super) fn unmet_need(&self, frame: &Frame, stage: &Stage) -> Option<StageIx> {
        stage.needs.iter().find(|need| !self.is_met(frame, need)).map(|need| need.stage)
    }

    /// The verdict of a stage that a landing needs, if it was given already and still holds: what
    /// was paid for once is not asked again.
    pub(super) fn upheld(&self, frame: &Frame, ix: StageIx) -> Option<VerdictIx> {
        let stage = self.flow.stage(ix);
        let evidence = frame.evidence.get(&ix)?;
        let verdict = evidence.verdict?;
        let needed = self
            .flow
            .stages
            .iter()
            .flat_map(|stage| &stage.needs)
            .any(|need| need.stage == ix && need.verdicts.contains(&verdict));
        let stands = needed
            && !stage.edits
            && evidence.subject.is_some()
            && still_holds(&stage.kind, evidence, self.subject_of(frame));
        stands.then_some(verdict)
    }

    /// Whether a landing may be under way beside those that are: each is alone, but for those in the queue, which is
    /// there to have them wait together.
    pub(super) fn may_land(&self, stage: &Stage) -> bool {
        let queues = |effect: &EffectId| {
            let frame = self.flights.get(effect).and_then(|flight| self.frame(flight.frame));
            frame.and_then(|frame| self.stage_at(frame)).is_some_and(|stage| stage.kind.queues())
        };
        self.landings.is_empty() || (stage.kind.queues() && self.landings.iter().all(queues))
    }

    /// Whether a frame's landing is under way.
    pub(super) fn is_landing(&self, frame: FrameId) -> bool {
        let mut flights = self.landings.iter().filter_map(|effect| self.flights.get(effect));
        flights.any(|flight| flight.frame == frame)
    }

    fn is_met(&self, frame: &Frame, need: &Need) -> bool {
        let giver = self.flow.stage(need.stage);
        let scene = Scene::of(self, frame);
        if giver.when.as_ref().is_some_and(|when| when.truth(&scene) == Some(false)) {
            return true;
        }
        frame.evidence.get(&need.stage).is_some_and(|evidence| {
            let will_do = evidence.verdict.is_none_or(|v| need.verdicts.contains(&v));
            will_do && still_holds(&giver.kind, evidence, self.subject_of(frame))
        })
    }
}

/// Checks are bound to the tree; review is bound to the change, and so survives a clean rebase.
fn still_holds(kind: &Kind, evidence: &Evidence, now: Option<&Subject>) -> bool {
    match (&evidence.subject, now) {
        (Some(then), Some(now)) => match kind {
            Kind::Errand(Errand::Checks { .. }) => then.tree == now.tree,
            Kind::Role { .. }
            | Kind::Panel { .. }
            | Kind::Errand(_)
            | Kind::Gate(_)
            | Kind::Each { .. }
            | Kind::Decide(_) => then.change == now.change,
        },
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(tree: &str, change: &str) -> Subject {
        Subject { tree: tree.into(), change: change.into() }
    }

    #[test]
    fn checks_are_bound_to_the_tree_and_review_to_the_change() {
        let checks = Kind::Errand(Errand::Checks {
            names: vec![],
            expect: crate::workflow::Expect::NoWorse,
        });
        let review = Kind::Role { role: "reviewer".into(), agents: vec![], session: None };
        let evidence = Evidence { verdict: None, subject: Some(subject("t1", "c1")) };
        let holds = |kind, tree, change| still_holds(kind, &evidence, Some(&subject(tree, change)));
        assert!(holds(&checks, "t1", "c2"));
        assert!(!holds(&checks, "t2", "c1"));
        assert!(holds(&review, "t2", "c1"));
        assert!(!holds(&review, "t1", "c2"));
        assert!(!still_holds(&checks, &evidence, None));
        let nothing = Evidence { verdict: None, subject: None };
        assert!(still_holds(&review, &nothing, None));
        assert!(!still_holds(&review, &nothing, Some(&subject("t", "c"))));
    }
}
