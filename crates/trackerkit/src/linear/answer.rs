//! How a request is answered: field by field, as the schema says.

use std::sync::{Mutex, PoisonError};

use apollo_compiler::ExecutableDocument;
use apollo_compiler::resolvers::{Execution, FieldError, ObjectValue, ResolveInfo, ResolvedValue};
use apollo_compiler::response::{ExecutionResponse, JsonMap, JsonValue};
use apollo_compiler::validation::Valid;
use serde_json::{Map, Value, json};

use super::change::{Payload, change};
use super::list::{Page, page};
use super::schema::schema;
use super::world::{Field, World};

/// Who asks, and of what.
#[derive(Clone, Copy)]
pub(super) struct Asking<'a> {
    pub world: &'a Mutex<World>,
    /// The id of whose key it is.
    pub viewer: &'a str,
}

impl Asking<'_> {
    fn with<T>(&self, what: impl FnOnce(&mut World) -> T) -> T {
        what(&mut self.world.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Executes a document that is valid.
pub(super) fn execute(
    asking: Asking<'_>,
    document: &Valid<ExecutableDocument>,
    variables: &JsonMap,
) -> Result<ExecutionResponse, String> {
    let operation = document.operations.get(None).map_err(|bad| bad.message().to_string())?;
    let root = Root { asking, mutation: operation.is_mutation() };
    let execution = Execution::new(schema(), document).raw_variable_values(variables);
    execution.execute_sync(&root).map_err(|bad| bad.message().to_string())
}

/// The query or the mutation.
struct Root<'a> {
    asking: Asking<'a>,
    mutation: bool,
}

impl ObjectValue for Root<'_> {
    fn type_name(&self) -> &str {
        if self.mutation { "Mutation" } else { "Query" }
    }

    fn resolve_field<'a>(
        &'a self,
        info: &'a ResolveInfo<'a>,
    ) -> Result<ResolvedValue<'a>, FieldError> {
        let arguments = plain(info.arguments())?;
        let asking = self.asking;
        if self.mutation {
            let name = info.field_name();
            let made = asking.with(|world| change(world, asking.viewer, name, &arguments));
            let payload = made.map_err(error)?;
            return Ok(ResolvedValue::object(Paid { asking, payload }));
        }
        let named = |kind: &str| {
            let id = arguments.get("id").and_then(Value::as_str).unwrap_or_default();
            let found = asking.with(|world| match kind {
                "Issue" => world.issue(id),
                kind => world.of_kind(kind, id).map(|thing| thing.id.clone()),
            });
            found.ok_or_else(|| error(format!("Entity not found: {kind}")))
        };
        let kind = match info.field_name() {
            "viewer" => return Ok(self.one(asking.viewer.to_owned())),
            "issue" => return Ok(self.one(named("Issue")?)),
            "comment" => return Ok(self.one(named("Comment")?)),
            "team" => return Ok(self.one(named("Team")?)),
            "project" => return Ok(self.one(named("Project")?)),
            "comments" => "Comment",
            "issueLabels" => "IssueLabel",
            "issues" => "Issue",
            "projects" => "Project",
            "teams" => "Team",
            "users" => "User",
            "workflowStates" => "WorkflowState",
            _ => return Err(self.unknown_field_error(info)),
        };
        let list = asking.with(|world| page(world, asking.viewer, world.all(kind), &arguments));
        connection(asking, info, list.map_err(error)?)
    }
}

impl Root<'_> {
    fn one(&self, id: String) -> ResolvedValue<'_> {
        ResolvedValue::object(Node::new(self.asking, id))
    }
}

/// A thing.
struct Node<'a> {
    asking: Asking<'a>,
    kind: &'static str,
    id: String,
}

impl<'a> Node<'a> {
    fn new(asking: Asking<'a>, id: String) -> Self {
        let kind = asking.with(|world| world.thing(&id).map_or("", |thing| thing.kind));
        Node { asking, kind, id }
    }
}

impl ObjectValue for Node<'_> {
    fn type_name(&self) -> &str {
        self.kind
    }

    fn resolve_field<'a>(
        &'a self,
        info: &'a ResolveInfo<'a>,
    ) -> Result<ResolvedValue<'a>, FieldError> {
        let (asking, name) = (self.asking, info.field_name());
        let field = asking.with(|world| world.field(&self.id, name, asking.viewer));
        let field =
            field.ok_or_else(|| error(format!("{}.{name} is not pretended here", self.kind)))?;
        resolved(asking, info, field)
    }
}

fn resolved<'a>(
    asking: Asking<'a>,
    info: &'a ResolveInfo<'a>,
    field: Field,
) -> Result<ResolvedValue<'a>, FieldError> {
    match field {
        Field::Leaf(value) => leaf(&value),
        Field::One(id) => Ok(ResolvedValue::nullable_object(id.map(|id| Node::new(asking, id)))),
        Field::Many(ids) if info.field_definition().ty.is_list() => Ok(ResolvedValue::list(
            ids.into_iter().map(move |id| ResolvedValue::object(Node::new(asking, id))),
        )),
        Field::Many(ids) => {
            let arguments = plain(info.arguments())?;
            let list = asking.with(|world| page(world, asking.viewer, ids, &arguments));
            connection(asking, info, list.map_err(error)?)
        }
    }
}

fn connection<'a>(
    asking: Asking<'a>,
    info: &'a ResolveInfo<'a>,
    page: Page,
) -> Result<ResolvedValue<'a>, FieldError> {
    let kind = info.field_definition().ty.inner_named_type().as_str();
    Ok(ResolvedValue::object(Connection { asking, kind, page }))
}

/// A page of a list.
struct Connection<'a> {
    asking: Asking<'a>,
    kind: &'a str,
    page: Page,
}

impl ObjectValue for Connection<'_> {
    fn type_name(&self) -> &str {
        self.kind
    }

    fn resolve_field<'a>(
        &'a self,
        info: &'a ResolveInfo<'a>,
    ) -> Result<ResolvedValue<'a>, FieldError> {
        let (asking, page) = (self.asking, &self.page);
        match info.field_name() {
            "nodes" => Ok(ResolvedValue::list(
                page.ids.iter().map(move |id| ResolvedValue::object(Node::new(asking, id.clone()))),
            )),
            "pageInfo" => {
                let cursor = |id: Option<&String>| Field::Leaf(json!(id));
                let fields = [
                    ("startCursor", cursor(page.cursors.first())),
                    ("endCursor", cursor(page.cursors.last())),
                    ("hasNextPage", Field::Leaf(json!(page.more))),
                    ("hasPreviousPage", Field::Leaf(json!(page.begun))),
                ];
                let payload = Payload { kind: "PageInfo", fields: fields.into() };
                Ok(ResolvedValue::object(Paid { asking, payload }))
            }
            _ => Err(self.unknown_field_error(info)),
        }
    }
}

/// What came of a write, or anything else that is no thing.
struct Paid<'a> {
    asking: Asking<'a>,
    payload: Payload,
}

impl ObjectValue for Paid<'_> {
    fn type_name(&self) -> &str {
        self.payload.kind
    }

    fn resolve_field<'a>(
        &'a self,
        info: &'a ResolveInfo<'a>,
    ) -> Result<ResolvedValue<'a>, FieldError> {
        let field = self.payload.fields.get(info.field_name());
        let field = field.ok_or_else(|| self.unknown_field_error(info))?;
        resolved(self.asking, info, field.clone())
    }
}

fn error(message: String) -> FieldError {
    FieldError { message }
}

fn leaf<'a>(value: &Value) -> Result<ResolvedValue<'a>, FieldError> {
    let text = value.to_string();
    let value: JsonValue =
        serde_json::from_str(&text).map_err(|bad| error(format!("a value is none: {bad}")))?;
    Ok(ResolvedValue::leaf(value))
}

fn plain(arguments: &JsonMap) -> Result<Map<String, Value>, FieldError> {
    match serde_json::to_value(arguments) {
        Ok(Value::Object(plain)) => Ok(plain),
        Ok(_) | Err(_) => Err(error("arguments are no object".to_owned())),
    }
}
