//! A workflow by names instead of indices, with its expressions as text: what `show --json` prints,
//! and what the text and the picture are made from. What is not there is left out.

mod moves;
mod stage;

use std::collections::BTreeSet;

use serde::Serialize;
use windlass_core::value::{Type, Value};
use windlass_core::workflow::{self, Holder, Kind, Order, Workflow};

pub use self::moves::{Goal, MoveView};
pub use self::stage::{KindView, PolicyView, StageView, VerdictView, asks_again};
use super::expr::{expr_text, fact_text, scope_text};

#[derive(Clone, Debug, Serialize)]
pub struct WorkflowView {
    pub workflow: String,
    pub about: String,
    /// What a unit is called.
    pub unit: String,
    pub order: &'static str,
    pub lanes: String,
    pub digest: String,
    pub inputs: Vec<InputView>,
    pub entries: Vec<EntryView>,
    pub counters: Vec<CounterView>,
    /// Where mishaps lead, unless a stage says otherwise.
    pub always: Vec<VerdictView>,
    pub roles: Vec<String>,
    pub scopes: Vec<ScopeView>,
    pub stages: Vec<StageView>,
}

#[derive(Clone, Debug, Serialize)]
pub struct InputView {
    pub name: String,
    #[serde(rename = "type")]
    pub ty: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    pub required: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct EntryView {
    pub name: String,
    pub at: String,
    pub requires: Vec<String>,
    #[serde(rename = "else", skip_serializing_if = "String::is_empty")]
    pub otherwise: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct CounterView {
    pub name: String,
    /// `run`, `stage`, `unit` or a child scope.
    pub per: String,
    pub from: u32,
    pub max: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub each_unit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct ScopeView {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<String>,
    pub stages: Vec<String>,
}

impl WorkflowView {
    pub fn of(flow: &Workflow) -> Self {
        let mut stages: Vec<StageView> =
            (0..).zip(&flow.stages).map(|(at, stage)| StageView::of(flow, at, stage)).collect();
        let always = moves::shared(&mut stages);
        Self {
            workflow: flow.name.clone(),
            about: flow.about.clone(),
            unit: flow.called.clone(),
            order: match flow.order {
                Order::Listed => "listed",
                Order::Depends => "depends",
            },
            lanes: expr_text(flow, &flow.lanes),
            digest: flow.source.digest.to_string(),
            inputs: flow.inputs.iter().map(InputView::of).collect(),
            entries: flow.entries.iter().map(|entry| EntryView::of(flow, entry)).collect(),
            counters: flow.counters.iter().map(|counter| CounterView::of(flow, counter)).collect(),
            always,
            roles: roles(flow),
            scopes: flow.scopes.iter().map(|scope| ScopeView::of(flow, scope)).collect(),
            stages,
        }
    }

    /// The stages of a scope, in order.
    pub fn stages_of<'a>(&'a self, scope: &'a ScopeView) -> impl Iterator<Item = &'a StageView> {
        self.stages.iter().filter(move |stage| stage.scope == scope.name)
    }
}

impl InputView {
    fn of(input: &workflow::Input) -> Self {
        let (min, max) = match input.ty {
            Type::Number { min, max } => (min, max),
            _ => (None, None),
        };
        let words = match &input.ty {
            Type::OneOf(words) | Type::AnyOf(words) => {
                words.iter().map(ToString::to_string).collect()
            }
            _ => Vec::new(),
        };
        let default = input.default.clone().or_else(|| input.ty.implied_default());
        Self {
            name: input.name.clone(),
            ty: type_word(&input.ty),
            words,
            min,
            max,
            required: default.is_none(),
            default,
            question: input.ask.clone(),
        }
    }
}

/// The type's word in JSON.
pub fn type_word(ty: &Type) -> &'static str {
    match ty {
        Type::Flag => "flag",
        Type::Number { .. } => "number",
        Type::Text => "text",
        Type::Path => "path",
        Type::OneOf(_) => "one_of",
        Type::AnyOf(_) => "any_of",
    }
}

impl EntryView {
    fn of(flow: &Workflow, entry: &workflow::Entry) -> Self {
        Self {
            name: entry.name.clone(),
            at: flow.stage(entry.at).name.clone(),
            requires: entry.requires.clone(),
            otherwise: entry.otherwise.clone(),
        }
    }
}

impl CounterView {
    fn of(flow: &Workflow, counter: &workflow::Counter) -> Self {
        Self {
            name: counter.name.clone(),
            per: match counter.per {
                Holder::Run => "run".to_owned(),
                Holder::Stage => "stage".to_owned(),
                Holder::Scope(scope) => scope_text(flow, scope).to_owned(),
            },
            from: counter.from,
            max: expr_text(flow, &counter.max),
            each_unit: counter.each_unit.as_ref().map(|each| expr_text(flow, each)),
            by: counter.by.map(|fact| fact_text(flow, fact.at())),
        }
    }
}

impl ScopeView {
    fn of(flow: &Workflow, scope: &workflow::Scope) -> Self {
        let name = |stage: &workflow::StageIx| flow.stage(*stage).name.clone();
        Self {
            name: scope.name.clone(),
            first: scope.first.as_ref().map(name),
            stages: scope.stages.iter().map(name).collect(),
        }
    }
}

/// Every role that a stage names, once.
fn roles(flow: &Workflow) -> Vec<String> {
    let mut roles = BTreeSet::new();
    for stage in &flow.stages {
        match &stage.kind {
            Kind::Role { role, .. } => {
                roles.insert(role.clone());
            }
            Kind::Panel { roles: members, critique, synthesis } => {
                roles.extend(members.iter().chain(critique).chain(synthesis).cloned());
            }
            _ => {}
        }
    }
    roles.into_iter().collect()
}
