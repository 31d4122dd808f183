//! The schema, and what a request costs by it.

use std::sync::LazyLock;

use apollo_compiler::executable::{Field, Selection, SelectionSet};
use apollo_compiler::response::JsonMap;
use apollo_compiler::validation::Valid;
use apollo_compiler::{ExecutableDocument, Schema};

/// What Linear allows a request to cost.
pub const COST_MAX: f64 = 10_000.0;

/// How many things a list has, if nobody says.
pub(super) const FIRST: u64 = 50;

static SCHEMA: LazyLock<Valid<Schema>> = LazyLock::new(|| {
    Schema::parse_and_validate(include_str!("schema.graphql"), "schema.graphql")
        .expect("the part is checked when it is cut")
});

/// The schema.
pub(super) fn schema() -> &'static Valid<Schema> {
    &SCHEMA
}

/// Holds a document against the schema.
///
/// # Errors
///
/// What is wrong with it.
pub fn check(document: &str) -> Result<Valid<ExecutableDocument>, String> {
    ExecutableDocument::parse_and_validate(schema(), document, "request.graphql")
        .map_err(|bad| bad.errors.to_string())
}

/// What a request costs, by Linear's published rule: a tenth of a point for each property, one for each object, and what is
/// in a list as many times as there may be things in it.
#[must_use]
pub fn cost(document: &ExecutableDocument, variables: &JsonMap) -> f64 {
    let sets = document.operations.iter().map(|operation| &operation.selection_set);
    sets.map(|set| of_set(document, set, variables)).sum()
}

fn of_set(document: &ExecutableDocument, set: &SelectionSet, variables: &JsonMap) -> f64 {
    let each = set.selections.iter().map(|selection| match selection {
        Selection::Field(field) => of_field(document, field, variables),
        Selection::FragmentSpread(spread) => document
            .fragments
            .get(&spread.fragment_name)
            .map_or(0.0, |fragment| of_set(document, &fragment.selection_set, variables)),
        Selection::InlineFragment(inline) => of_set(document, &inline.selection_set, variables),
    });
    each.sum()
}

fn of_field(document: &ExecutableDocument, field: &Field, variables: &JsonMap) -> f64 {
    if field.selection_set.is_empty() {
        return 0.1;
    }
    let inner = of_set(document, &field.selection_set, variables);
    if !field.ty().inner_named_type().ends_with("Connection") {
        return 1.0 + inner;
    }
    let given = field.specified_argument_by_name("first");
    let first = given.and_then(|value| match value.as_variable() {
        Some(name) => variables.get(name.as_str())?.as_u64(),
        None => value.to_i32().and_then(|it| u64::try_from(it).ok()),
    });
    #[expect(clippy::cast_precision_loss, reason = "lists are short")]
    let times = first.unwrap_or(FIRST) as f64;
    inner * times
}
