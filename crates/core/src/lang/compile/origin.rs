//! Where the parts of a draft stand in the file. Kept beside the workflow, in the same order, because a sound workflow
//! has no use for it.

use super::super::diagnostic::Span;

/// Where everything stands.
pub(in super::super) struct Origins {
    /// By stage.
    pub stages: Vec<StageOrigin>,
    /// By counter.
    pub counters: Vec<Span>,
    /// By scope.
    pub scopes: Vec<Span>,
}

/// Where a stage and its parts stand.
pub(in super::super) struct StageOrigin {
    /// Its name.
    pub name: Span,
    /// What it counts on entering, and the move when that is spent.
    pub count: Option<(Span, MoveOrigin)>,
    /// Its needs.
    pub needs: Vec<Span>,
    /// The answers of its policy.
    pub policy: Vec<Span>,
    /// Its default.
    pub default: Option<Span>,
    /// By verdict and case.
    pub verdicts: Vec<Vec<MoveOrigin>>,
}

/// Where a move and its parts stand.
#[derive(Clone, Debug)]
pub(in super::super) struct MoveOrigin {
    /// Where it says where to go.
    pub go: Span,
    /// The counters that it resets.
    pub reset: Vec<Span>,
    /// The lists that it adds.
    pub add: Vec<Span>,
    /// The move for a spent counter.
    pub spent: Option<Box<MoveOrigin>>,
}
