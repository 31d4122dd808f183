//! Moves by names, in the keys of the language.

use std::collections::BTreeMap;

use serde::Serialize;
use windlass_core::workflow::{Case, Go, Move, ScopeIx, StageIx, Workflow};

use super::stage::{StageView, VerdictView};
use crate::render::expr::{expr_text, scope_text};

/// Where a move goes, as the language says it: `{"to": "implement"}`, `{"finish": "failed"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// To a stage, or `again`, or `end` of a scope that does not settle.
    To(String),
    /// Settles the unit or child.
    End(&'static str),
    Pause(String),
    Rest(String),
    Return(String),
    Finish(&'static str),
}

impl Goal {
    pub fn of(flow: &Workflow, scope: ScopeIx, go: &Go) -> Self {
        let name = |stage: &StageIx| flow.stage(*stage).name.clone();
        let settles = scope == ScopeIx::UNIT || scope.is_child();
        match go {
            Go::To(stage) => Self::To(name(stage)),
            Go::Again => Self::To("again".to_owned()),
            Go::Leave(how) if settles => Self::End(how.name()),
            Go::Leave(_) => Self::To("end".to_owned()),
            Go::Pause(stage) => Self::Pause(name(stage)),
            Go::Rest(stage) => Self::Rest(name(stage)),
            Go::Return(word) => Self::Return(word.clone()),
            Go::Finish(outcome) => Self::Finish(outcome.name()),
        }
    }

    /// For people; `here` is the stage that moves.
    pub fn words(&self, here: &str) -> String {
        match self {
            Self::To(stage) => stage.clone(),
            Self::End(how) => (*how).to_owned(),
            Self::Pause(stage) if stage == here => "pause".to_owned(),
            Self::Pause(stage) => format!("pause, then {stage}"),
            Self::Rest(stage) if stage == here => "rest".to_owned(),
            Self::Rest(stage) => format!("rest, then {stage}"),
            Self::Return(word) => format!("return {word}"),
            Self::Finish(outcome) => format!("finish {outcome}"),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MoveView {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    #[serde(flatten)]
    pub goal: Goal,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spent: Option<Box<MoveView>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reset: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub widen: Vec<String>,
    /// Lists taken up, by the scope that they become: `STAGE.LIST`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub add: BTreeMap<String, Vec<String>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waive: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<&'static str>,
}

impl MoveView {
    pub fn of_case(flow: &Workflow, scope: ScopeIx, case: &Case) -> Self {
        let when = case.when.as_ref().map(|when| expr_text(flow, when));
        Self { when, ..Self::of(flow, scope, &case.take) }
    }

    pub fn of(flow: &Workflow, scope: ScopeIx, take: &Move) -> Self {
        let counter = |at: &windlass_core::workflow::CounterIx| flow.counters[at.at()].name.clone();
        let mut add: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for each in &take.add {
            let list = format!("{}.{}", flow.stage(each.list.stage).name, each.list.name);
            add.entry(scope_text(flow, each.scope).to_owned()).or_default().push(list);
        }
        Self {
            when: None,
            goal: Goal::of(flow, scope, &take.go),
            count: take.count.as_ref().map(counter),
            spent: take.spent.as_ref().map(|spent| Box::new(Self::of(flow, scope, spent))),
            reset: take.reset.iter().map(counter).collect(),
            widen: take.widen.clone(),
            add,
            waive: take.waive.iter().map(|stage| flow.stage(*stage).name.clone()).collect(),
            record: take.record.clone(),
            outcome: take.outcome.map(|outcome| outcome.name()),
        }
    }

    /// The same move with "this stage" in place of the stage's name, to compare two stages by.
    fn wherever_it_is(&self, here: &str) -> Self {
        let mut moved = self.clone();
        if let Goal::Pause(stage) | Goal::Rest(stage) = &mut moved.goal
            && stage == here
        {
            stage.clear();
        }
        moved.spent = self.spent.as_ref().map(|spent| Box::new(spent.wherever_it_is(here)));
        moved
    }
}

/// Where each mishap leads from most stages: mostly what `[always]` says. The stages that do the
/// same are marked, so that people need not read it a hundred times.
pub fn shared(stages: &mut [StageView]) -> Vec<VerdictView> {
    let anywhere = |stage: &StageView, verdict: &VerdictView| -> Vec<MoveView> {
        verdict.moves.iter().map(|each| each.wherever_it_is(&stage.name)).collect()
    };
    let mut tally: Vec<(String, Vec<MoveView>, usize)> = Vec::new();
    for stage in &*stages {
        for verdict in stage.verdicts.iter().filter(|verdict| verdict.mishap) {
            let moves = anywhere(stage, verdict);
            match tally.iter_mut().find(|(name, m, _)| *name == verdict.name && *m == moves) {
                Some((_, _, times)) => *times += 1,
                None => tally.push((verdict.name.clone(), moves, 1)),
            }
        }
    }
    let all = |name: &str| -> usize {
        tally.iter().filter(|(other, ..)| other == name).map(|(.., times)| times).sum()
    };
    let most = |(name, _, times): &&(String, Vec<MoveView>, usize)| times * 2 > all(name).max(2);
    let always: Vec<VerdictView> = tally
        .iter()
        .filter(most)
        .map(|(name, moves, _)| VerdictView {
            name: name.clone(),
            mishap: true,
            as_always: false,
            moves: moves.clone(),
        })
        .collect();
    for stage in stages {
        let same: Vec<bool> = stage
            .verdicts
            .iter()
            .map(|verdict| {
                let moves = anywhere(stage, verdict);
                always.iter().any(|one| one.name == verdict.name && one.moves == moves)
            })
            .collect();
        for (verdict, same) in stage.verdicts.iter_mut().zip(same) {
            verdict.as_always |= verdict.mishap && same;
        }
    }
    always
}
