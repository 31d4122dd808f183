//! A stage by names: what it does, what it can come to, and where that leads.

use std::collections::BTreeMap;

use serde::Serialize;
use windlass_core::workflow::{
    Errand, Expect, Gate, Go, Kind, Limit, Owner, Stage, StageIx, VerdictIx, Workflow,
};

use super::moves::MoveView;
use super::type_word;
use crate::render::expr::{expr_text, scope_text};

#[derive(Clone, Debug, Serialize)]
pub struct StageView {
    pub name: String,
    pub scope: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown_as: Option<String>,
    #[serde(flatten)]
    pub kind: KindView,
    pub aside: bool,
    pub edits: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<CountView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_seconds: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub with: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sees: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<NeedView>,
    /// Facts that it reports and an expression asks for.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub facts: BTreeMap<String, &'static str>,
    /// Lists that it reports, and the facts of their items.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub lists: BTreeMap<String, BTreeMap<String, &'static str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    pub verdicts: Vec<VerdictView>,
}

/// Entering counts.
#[derive(Clone, Debug, Serialize)]
pub struct CountView {
    pub counter: String,
    pub spent: MoveView,
}

#[derive(Clone, Debug, Serialize)]
pub struct NeedView {
    pub stage: String,
    pub verdicts: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct VerdictView {
    pub name: String,
    pub mishap: bool,
    /// It goes without saying: a mishap that leads where it leads from most stages, or free text
    /// to a gate that has no option for it.
    #[serde(skip)]
    pub as_always: bool,
    pub moves: Vec<MoveView>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum KindView {
    Role {
        role: String,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        agents: Vec<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        session: Option<String>,
    },
    Panel {
        roles: Vec<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        critique: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        synthesis: Option<String>,
    },
    Checks {
        checks: Vec<String>,
        /// What they are to come to, if it is not that they pass or fail as before.
        #[serde(skip_serializing_if = "Option::is_none")]
        expect: Option<&'static str>,
    },
    Read {
        read: String,
    },
    Gate {
        question: String,
        hard: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        default: Option<String>,
        options: Vec<OptionView>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        concerns: Vec<ConcernView>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        policies: Vec<PolicyView>,
    },
    Each {
        each: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        from: Option<String>,
    },
    Save {
        save: windlass_core::workflow::Save,
        #[serde(skip_serializing_if = "Option::is_none")]
        label: Option<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        trailers: Vec<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        from: Option<String>,
    },
    Land {
        land: windlass_core::workflow::Land,
        #[serde(skip_serializing_if = "Option::is_none")]
        label: Option<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        keep: Vec<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        proof: Vec<String>,
    },
    Tell {
        tell: Vec<String>,
    },
    Decide {
        decide: Vec<CaseView>,
    },
}

#[derive(Clone, Debug, Serialize)]
pub struct OptionView {
    pub option: String,
    pub label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// The person must say why.
    pub reason: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct ConcernView {
    pub name: String,
    pub when: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct PolicyView {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    pub answer: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct CaseView {
    pub is: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
}

impl StageView {
    pub fn of(flow: &Workflow, at: u16, stage: &Stage) -> Self {
        let name = |stage: &StageIx| flow.stage(*stage).name.clone();
        let texts = |list: &[(String, windlass_core::expr::Expr)]| {
            list.iter().map(|(name, expr)| (name.clone(), expr_text(flow, expr))).collect()
        };
        Self {
            name: stage.name.clone(),
            scope: scope_text(flow, stage.scope).to_owned(),
            shown_as: stage.shown_as.clone(),
            kind: KindView::of(flow, stage),
            aside: stage.aside,
            edits: stage.edits,
            when: stage.when.as_ref().map(|when| expr_text(flow, when)),
            record: stage.record.clone(),
            count: stage.count.as_ref().map(|(counter, spent)| CountView {
                counter: flow.counters[counter.at()].name.clone(),
                spent: MoveView::of(flow, stage.scope, spent),
            }),
            limit_ms: match stage.limit {
                Some(Limit::Ms(ms)) => Some(ms),
                Some(Limit::Seconds(_)) | None => None,
            },
            limit_seconds: match &stage.limit {
                Some(Limit::Seconds(seconds)) => Some(expr_text(flow, seconds)),
                Some(Limit::Ms(_)) | None => None,
            },
            with: texts(&stage.with),
            sees: stage.sees.clone(),
            needs: stage.needs.iter().map(|need| NeedView::of(flow, need)).collect(),
            facts: flow
                .facts
                .iter()
                .filter(|fact| fact.owner == Owner::Stage(StageIx(at)))
                .map(|fact| (fact.name.clone(), type_word(&fact.ty)))
                .collect(),
            lists: stage.lists.iter().map(list_view).collect(),
            next: stage.next.as_ref().map(name),
            verdicts: stage
                .verdicts
                .iter()
                .map(|verdict| VerdictView {
                    name: verdict.name.clone(),
                    mishap: verdict.mishap.is_some(),
                    as_always: asks_again(stage, &verdict.name),
                    moves: verdict
                        .cases
                        .iter()
                        .map(|case| MoveView::of_case(flow, stage.scope, case))
                        .collect(),
                })
                .collect(),
        }
    }
}

fn list_view(list: &windlass_core::workflow::List) -> (String, BTreeMap<String, &'static str>) {
    let facts = list.facts.iter().map(|(name, ty)| (name.clone(), type_word(ty))).collect();
    (list.name.clone(), facts)
}

/// Whether this is not an option of a gate's own, but what becomes of free text at a gate without
/// one for it: the question is asked again.
pub fn asks_again(stage: &Stage, verdict: &str) -> bool {
    let silent = |case: &windlass_core::workflow::Case| {
        case.when.is_none() && case.take.go == Go::Again && case.take.label.is_none()
    };
    let option = stage.verdicts.iter().find(|option| option.name == verdict);
    matches!(stage.kind, Kind::Gate(_))
        && verdict == "other"
        && option.is_some_and(|option| option.cases.iter().all(silent))
}

impl NeedView {
    fn of(flow: &Workflow, need: &windlass_core::workflow::Need) -> Self {
        let stage = flow.stage(need.stage);
        let verdicts = need.verdicts.iter().map(|ix| stage.verdict(*ix).name.clone()).collect();
        Self { stage: stage.name.clone(), verdicts }
    }
}

impl KindView {
    fn of(flow: &Workflow, stage: &Stage) -> Self {
        let name = |stage: StageIx| flow.stage(stage).name.clone();
        match stage.kind.clone() {
            Kind::Role { role, agents, session } => Self::Role { role, agents, session },
            Kind::Panel { roles, critique, synthesis } => {
                Self::Panel { roles, critique, synthesis }
            }
            Kind::Errand(Errand::Checks { names, expect }) => {
                let expect = match expect {
                    Expect::NoWorse => None,
                    Expect::Pass => Some("pass"),
                    Expect::Fail => Some("fail"),
                };
                Self::Checks { checks: names, expect }
            }
            Kind::Errand(Errand::Read { name }) => Self::Read { read: name },
            Kind::Gate(gate) => Self::gate(flow, stage, &gate),
            Kind::Each { scope, from } => Self::Each {
                each: scope_text(flow, scope).to_owned(),
                from: from.map(|list| format!("{}.{}", name(list.stage), list.name)),
            },
            Kind::Errand(Errand::Save { how, label, trailers, from }) => {
                Self::Save { save: how, label, trailers, from: from.map(name) }
            }
            Kind::Errand(Errand::Land { how, label, keep, proof }) => {
                Self::Land { land: how, label, keep, proof }
            }
            Kind::Errand(Errand::Tell { names }) => Self::Tell { tell: names },
            Kind::Decide(cases) => {
                let case = |(when, is): &(Option<windlass_core::expr::Expr>, VerdictIx)| CaseView {
                    is: stage.verdict(*is).name.clone(),
                    when: when.as_ref().map(|when| expr_text(flow, when)),
                };
                Self::Decide { decide: cases.iter().map(case).collect() }
            }
        }
    }

    fn gate(flow: &Workflow, stage: &Stage, gate: &Gate) -> Self {
        let word = |ix: VerdictIx| stage.verdict(ix).name.clone();
        let option = |verdict: &windlass_core::workflow::Verdict| {
            let moves = || verdict.cases.iter().map(|case| &case.take);
            OptionView {
                option: verdict.name.clone(),
                label: moves()
                    .find_map(|take| take.label.clone())
                    .unwrap_or_else(|| verdict.name.clone()),
                about: moves().find_map(|take| take.about.clone()),
                reason: moves().any(|take| take.reason),
            }
        };
        Self::Gate {
            question: gate.question.clone(),
            hard: gate.hard,
            default: gate.default.map(word),
            options: stage
                .verdicts
                .iter()
                .filter(|verdict| !asks_again(stage, &verdict.name))
                .map(option)
                .collect(),
            concerns: gate
                .concerns
                .iter()
                .map(|(name, when)| ConcernView { name: name.clone(), when: expr_text(flow, when) })
                .collect(),
            policies: gate
                .policy
                .iter()
                .map(|policy| PolicyView {
                    when: policy.when.as_ref().map(|when| expr_text(flow, when)),
                    answer: word(policy.answer),
                    record: policy.record.clone(),
                })
                .collect(),
        }
    }

    /// Its word in the language.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Role { .. } => "role",
            Self::Panel { .. } => "panel",
            Self::Checks { .. } => "checks",
            Self::Read { .. } => "read",
            Self::Gate { .. } => "gate",
            Self::Each { .. } => "each",
            Self::Save { .. } => "save",
            Self::Land { .. } => "land",
            Self::Tell { .. } => "tell",
            Self::Decide { .. } => "decide",
        }
    }
}
