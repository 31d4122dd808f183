//! The part of Linear's schema that is kept here: the whole has more than a thousand types, and reading it takes a second.
//!
//! Types and root fields are named; of a named type everything stays whose own type is named too. So what is valid for the
//! part is valid for the whole, and a field that the real Linear does not have is none here either.

use apollo_compiler::Schema;
use apollo_compiler::schema::ExtendedType;

/// Fields of the query and the mutation.
const ROOT: &[(&str, &[&str])] = &[
    (
        "Query",
        &[
            "comment",
            "comments",
            "issue",
            "issueLabels",
            "issues",
            "project",
            "projects",
            "team",
            "teams",
            "users",
            "viewer",
            "workflowStates",
        ],
    ),
    (
        "Mutation",
        &[
            "commentCreate",
            "commentDelete",
            "commentUpdate",
            "issueCreate",
            "issueDelete",
            "issueUpdate",
        ],
    ),
];

/// Object and input types. Scalars and enums need no mention.
const TYPES: &[&str] = &[
    "ActorBot",
    "ArchivePayload",
    "BooleanComparator",
    "Comment",
    "CommentConnection",
    "CommentCreateInput",
    "CommentEdge",
    "CommentFilter",
    "CommentPayload",
    "CommentUpdateInput",
    "DateComparator",
    "DeletePayload",
    "IDComparator",
    "Issue",
    "IssueArchivePayload",
    "IssueConnection",
    "IssueCreateInput",
    "IssueEdge",
    "IssueFilter",
    "IssueIDComparator",
    "IssueLabel",
    "IssueLabelCollectionFilter",
    "IssueLabelConnection",
    "IssueLabelEdge",
    "IssueLabelFilter",
    "IssuePayload",
    "IssueRelation",
    "IssueRelationConnection",
    "IssueRelationEdge",
    "IssueUpdateInput",
    "Mutation",
    "Node",
    "NullableIssueFilter",
    "NullableNumberComparator",
    "NullableProjectFilter",
    "NullableStringComparator",
    "NullableTeamFilter",
    "NullableUserFilter",
    "NumberComparator",
    "PageInfo",
    "Project",
    "ProjectConnection",
    "ProjectEdge",
    "ProjectFilter",
    "Query",
    "StringComparator",
    "Team",
    "TeamCollectionFilter",
    "TeamConnection",
    "TeamEdge",
    "TeamFilter",
    "User",
    "UserConnection",
    "UserEdge",
    "UserFilter",
    "WorkflowState",
    "WorkflowStateConnection",
    "WorkflowStateEdge",
    "WorkflowStateFilter",
];

/// The part of a whole schema.
///
/// # Errors
///
/// If the whole is no schema, or what is left of it is none.
pub fn cut(whole: &str) -> Result<String, String> {
    let mut schema =
        Schema::parse(whole, "linear.graphql").map_err(|bad| bad.errors.to_string())?;
    let leaves = schema.types.iter().filter(|(_, known)| known.is_leaf());
    let kept: Vec<String> = leaves
        .map(|(name, _)| name.to_string())
        .chain(TYPES.iter().map(ToString::to_string))
        .collect();
    let missing: Vec<_> = TYPES.iter().filter(|name| !schema.types.contains_key(**name)).collect();
    if !missing.is_empty() {
        return Err(format!("the schema has no {missing:?}"));
    }
    schema.schema_definition.make_mut().subscription = None;
    let stays = |name: &str| kept.iter().any(|kept| kept == name);
    schema.types.retain(|name, known| known.is_built_in() || stays(name));
    for known in schema.types.values_mut() {
        thin(known, &stays);
    }
    let used = used_leaves(&schema);
    schema.types.retain(|name, known| {
        known.is_built_in() || !known.is_leaf() || used.iter().any(|used| used == name.as_str())
    });
    schema.types.sort_keys();
    let valid = schema.validate().map_err(|bad| bad.errors.to_string())?;
    Ok(valid.to_string())
}

/// Takes away what is of a type that does not stay.
fn thin(known: &mut ExtendedType, stays: &dyn Fn(&str) -> bool) {
    match known {
        ExtendedType::Object(object) => {
            let object = object.make_mut();
            let root = ROOT.iter().find(|(name, _)| *name == object.name.as_str());
            object.fields.retain(|name, field| {
                stays(field.ty.inner_named_type())
                    && root.is_none_or(|(_, fields)| fields.contains(&name.as_str()))
            });
            object.implements_interfaces.retain(|interface| stays(&interface.name));
            for field in object.fields.values_mut() {
                let field = field.make_mut();
                field.arguments.retain(|argument| stays(argument.ty.inner_named_type()));
            }
        }
        ExtendedType::Interface(interface) => {
            let interface = interface.make_mut();
            interface.fields.retain(|_, field| stays(field.ty.inner_named_type()));
        }
        ExtendedType::InputObject(input) => {
            let input = input.make_mut();
            input.fields.retain(|_, field| stays(field.ty.inner_named_type()));
        }
        ExtendedType::Scalar(_) | ExtendedType::Enum(_) | ExtendedType::Union(_) => {}
    }
}

/// The types that fields, arguments and inputs have.
fn used_leaves(schema: &Schema) -> Vec<String> {
    let mut used = Vec::new();
    for known in schema.types.values() {
        let fields = match known {
            ExtendedType::Object(object) => &object.fields,
            ExtendedType::Interface(interface) => &interface.fields,
            ExtendedType::InputObject(input) => {
                used.extend(input.fields.values().map(|it| it.ty.inner_named_type().to_string()));
                continue;
            }
            ExtendedType::Scalar(_) | ExtendedType::Enum(_) | ExtendedType::Union(_) => continue,
        };
        for field in fields.values() {
            used.push(field.ty.inner_named_type().to_string());
            used.extend(field.arguments.iter().map(|it| it.ty.inner_named_type().to_string()));
        }
    }
    used
}
