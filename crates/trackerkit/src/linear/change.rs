//! What writes do.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::world::{Field, World, Write};

/// What is answered to a write.
pub(super) struct Payload {
    /// Its type in the schema.
    pub kind: &'static str,
    pub fields: BTreeMap<&'static str, Field>,
}

/// Carries out a write.
pub(super) fn change(
    world: &mut World,
    viewer: &str,
    name: &str,
    arguments: &Map<String, Value>,
) -> Result<Payload, String> {
    let empty = Map::new();
    let input = arguments.get("input").and_then(Value::as_object).unwrap_or(&empty);
    let id = text(arguments, "id").unwrap_or_default();
    let (kind, fields) = match name {
        "commentCreate" => ("CommentPayload", ("comment", comment_create(world, viewer, input)?)),
        "commentUpdate" => {
            ("CommentPayload", ("comment", comment_update(world, viewer, id, input)?))
        }
        "commentDelete" => ("DeletePayload", ("entityId", comment_delete(world, viewer, id)?)),
        "issueCreate" => ("IssuePayload", ("issue", issue_create(world, viewer, input)?)),
        "issueUpdate" => ("IssuePayload", ("issue", issue_update(world, viewer, id, input)?)),
        "issueDelete" => ("IssueArchivePayload", ("entity", issue_delete(world, viewer, id)?)),
        _ => return Err(format!("{name} is not pretended here")),
    };
    let rest = [
        ("success", Field::Leaf(json!(true))),
        ("lastSyncId", Field::Leaf(number_of(world.writes.len()))),
    ];
    Ok(Payload { kind, fields: rest.into_iter().chain([fields]).collect() })
}

fn comment_create(
    world: &mut World,
    viewer: &str,
    input: &Map<String, Value>,
) -> Result<Field, String> {
    only(input, &["id", "issueId", "body"])?;
    let issue = text(input, "issueId").and_then(|name| world.issue(name));
    let issue = issue.ok_or("Entity not found: Issue")?;
    let body = text(input, "body").filter(|body| !body.is_empty()).ok_or("body is missing")?;
    let id = chosen(world, input)?;
    comment(world, &id, &issue, Some(viewer), body)?;
    log(world, viewer, "commentCreate", &issue, body);
    Ok(Field::One(Some(id)))
}

/// Adds a comment of a user, or of none.
pub(super) fn comment(
    world: &mut World,
    id: &str,
    issue: &str,
    user: Option<&str>,
    body: &str,
) -> Result<(), String> {
    let fields = vec![
        ("body", Field::Leaf(json!(body))),
        ("issue", Field::One(Some(issue.to_owned()))),
        ("issueId", Field::Leaf(json!(issue))),
        ("user", Field::One(user.map(ToOwned::to_owned))),
        ("parent", Field::One(None)),
        ("editedAt", Field::Leaf(Value::Null)),
        ("url", Field::Leaf(json!(format!("https://linear.app/acme/issue/{issue}#{id}")))),
    ];
    if !world.add("Comment", id, fields) {
        return Err(taken("Comment"));
    }
    let bot = user.is_none().then(|| bot_actor(world));
    world.amend(id, "botActor", Field::One(bot));
    Ok(())
}

fn bot_actor(world: &mut World) -> String {
    world.all("ActorBot").pop().unwrap_or_else(|| {
        let id = world.fresh();
        world.add("ActorBot", &id, vec![("name", Field::Leaf(json!("A bot")))]);
        id
    })
}

fn own_comment(world: &World, viewer: &str, id: &str) -> Result<String, String> {
    world.of_kind("Comment", id).ok_or("Entity not found: Comment")?;
    if world.link(id, "user").as_deref() != Some(viewer) {
        return Err("You cannot change what others said".to_owned());
    }
    world.link(id, "issue").ok_or_else(|| "Entity not found: Issue".to_owned())
}

fn comment_update(
    world: &mut World,
    viewer: &str,
    id: &str,
    input: &Map<String, Value>,
) -> Result<Field, String> {
    only(input, &["body"])?;
    let issue = own_comment(world, viewer, id)?;
    let body = text(input, "body").ok_or("body is missing")?;
    world.set(id, "body", Field::Leaf(json!(body)));
    log(world, viewer, "commentUpdate", &issue, body);
    Ok(Field::One(Some(id.to_owned())))
}

fn comment_delete(world: &mut World, viewer: &str, id: &str) -> Result<Field, String> {
    let issue = own_comment(world, viewer, id)?;
    let body = world.text(id, "body");
    world.remove(id);
    log(world, viewer, "commentDelete", &issue, &body);
    Ok(Field::Leaf(json!(id)))
}

fn issue_create(
    world: &mut World,
    viewer: &str,
    input: &Map<String, Value>,
) -> Result<Field, String> {
    only(
        input,
        &[
            "id",
            "teamId",
            "title",
            "description",
            "projectId",
            "labelIds",
            "stateId",
            "priority",
            "assigneeId",
        ],
    )?;
    let team = linked(world, input, "teamId", "Team")?.ok_or("teamId is missing")?;
    let title = text(input, "title").filter(|it| !it.is_empty()).ok_or("title is missing")?;
    let id = chosen(world, input)?;
    let first = first_state(world, &team);
    let state = state_of(world, input, &team)?.or(first).ok_or("the team has no states")?;
    let fields = vec![
        ("title", Field::Leaf(json!(title))),
        ("description", Field::Leaf(json!(text(input, "description")))),
        (
            "priority",
            Field::Leaf(json!(input.get("priority").and_then(Value::as_f64).unwrap_or(0.0))),
        ),
        ("state", Field::One(Some(state))),
        ("project", Field::One(linked(world, input, "projectId", "Project")?)),
        ("assignee", Field::One(linked(world, input, "assigneeId", "User")?)),
        ("creator", Field::One(Some(viewer.to_owned()))),
        ("labels", Field::Many(labels(world, input)?.unwrap_or_default())),
    ];
    if !issue(world, &id, &team, fields) {
        return Err(taken("Issue"));
    }
    log(world, viewer, "issueCreate", &id, title);
    Ok(Field::One(Some(id)))
}

/// Adds an issue to a team, with what every issue has. False if the id was given away before.
pub(super) fn issue(
    world: &mut World,
    id: &str,
    team: &str,
    fields: Vec<(&'static str, Field)>,
) -> bool {
    let known = world.all("Issue");
    let number = known.iter().filter(|id| world.link(id, "team").as_deref() == Some(team)).count();
    let identifier = format!("{}-{}", world.text(team, "key"), number + 1);
    let url = format!("https://linear.app/acme/issue/{identifier}");
    let mut all = vec![
        ("identifier", Field::Leaf(json!(identifier))),
        ("number", Field::Leaf(number_of(number + 1))),
        ("team", Field::One(Some(team.to_owned()))),
        ("url", Field::Leaf(json!(url))),
        ("branchName", Field::Leaf(json!(identifier.to_lowercase()))),
        ("parent", Field::One(None)),
        ("delegate", Field::One(None)),
        ("trashed", Field::Leaf(Value::Null)),
    ];
    all.extend(fields);
    world.add("Issue", id, all)
}

fn issue_update(
    world: &mut World,
    viewer: &str,
    id: &str,
    input: &Map<String, Value>,
) -> Result<Field, String> {
    only(input, &["stateId", "assigneeId", "title", "description", "labelIds", "priority"])?;
    let id = world.issue(id).ok_or("Entity not found: Issue")?;
    let team = world.link(&id, "team").unwrap_or_default();
    let mut text_of_log = String::new();
    if let Some(state) = state_of(world, input, &team)? {
        text_of_log = world.text(&state, "name");
        world.set(&id, "state", Field::One(Some(state)));
    }
    if input.contains_key("assigneeId") {
        let assignee = linked(world, input, "assigneeId", "User")?;
        world.set(&id, "assignee", Field::One(assignee));
    }
    for name in ["title", "description"] {
        if let Some(text) = text(input, name) {
            world.set(&id, name, Field::Leaf(json!(text)));
        }
    }
    if let Some(labels) = labels(world, input)? {
        world.set(&id, "labels", Field::Many(labels));
    }
    if let Some(priority) = input.get("priority").filter(|it| !it.is_null()) {
        world.set(&id, "priority", Field::Leaf(json!(priority.as_f64())));
    }
    log(world, viewer, "issueUpdate", &id, &text_of_log);
    Ok(Field::One(Some(id)))
}

fn issue_delete(world: &mut World, viewer: &str, id: &str) -> Result<Field, String> {
    let id = world.issue(id).ok_or("Entity not found: Issue")?;
    trash(world, &id);
    log(world, viewer, "issueDelete", &id, "");
    Ok(Field::One(Some(id)))
}

/// Deletes an issue as the real one does: it can still be looked at.
pub(super) fn trash(world: &mut World, id: &str) {
    let now = world.now();
    world.set(id, "trashed", Field::Leaf(json!(true)));
    world.set(id, "archivedAt", Field::Leaf(json!(now)));
}

/// The first state of a team in which nothing has begun.
pub(super) fn first_state(world: &World, team: &str) -> Option<String> {
    let states = world.all("WorkflowState");
    let own = states.into_iter().filter(|id| world.link(id, "team").as_deref() == Some(team));
    own.into_iter().find(|id| ["backlog", "unstarted"].contains(&world.text(id, "type").as_str()))
}

fn state_of(
    world: &World,
    input: &Map<String, Value>,
    team: &str,
) -> Result<Option<String>, String> {
    let state = linked(world, input, "stateId", "WorkflowState")?;
    match &state {
        Some(id) if world.link(id, "team").as_deref() != Some(team) => {
            Err("the state is another team's".to_owned())
        }
        _ => Ok(state),
    }
}

fn labels(world: &World, input: &Map<String, Value>) -> Result<Option<Vec<String>>, String> {
    let Some(given) = input.get("labelIds").and_then(Value::as_array) else { return Ok(None) };
    let ids = given.iter().filter_map(Value::as_str).map(ToOwned::to_owned);
    let ids: Vec<String> = ids.collect();
    match ids.iter().all(|id| world.of_kind("IssueLabel", id).is_some()) {
        true => Ok(Some(ids)),
        false => Err("Entity not found: IssueLabel".to_owned()),
    }
}

fn linked(
    world: &World,
    input: &Map<String, Value>,
    name: &str,
    kind: &str,
) -> Result<Option<String>, String> {
    let Some(id) = text(input, name) else { return Ok(None) };
    match world.of_kind(kind, id) {
        Some(thing) => Ok(Some(thing.id.clone())),
        None => Err(format!("Entity not found: {kind}")),
    }
}

/// The id that the client chose, or another one.
fn chosen(world: &mut World, input: &Map<String, Value>) -> Result<String, String> {
    let Some(id) = text(input, "id") else { return Ok(world.fresh()) };
    let digits = id.bytes().enumerate().all(|(at, byte)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        14 => byte == b'4',
        19 => b"89ab".contains(&byte),
        _ => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
    });
    match id.len() == 36 && digits {
        true => Ok(id.to_owned()),
        false => Err("id must be a UUID of version 4".to_owned()),
    }
}

fn taken(kind: &str) -> String {
    format!("Conflict on insert of {kind}: the id is taken")
}

fn text<'a>(input: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    input.get(name).and_then(Value::as_str)
}

/// What the schema knows and is not pretended is an error: nobody is to think that it was done.
fn only(input: &Map<String, Value>, known: &[&str]) -> Result<(), String> {
    let strange =
        input.iter().find(|(name, value)| !value.is_null() && !known.contains(&name.as_str()));
    match strange {
        Some((name, _)) => Err(format!("{name} is not pretended here")),
        None => Ok(()),
    }
}

fn log(world: &mut World, viewer: &str, what: &str, issue: &str, text: &str) {
    let by = world.text(viewer, "name");
    let issue = world.text(issue, "identifier");
    world.writes.push(Write { by, what: what.to_owned(), issue, text: text.to_owned() });
}

/// The schema says that it may have a fraction.
fn number_of(count: usize) -> Value {
    json!(f64::from(u32::try_from(count).unwrap_or(u32::MAX)))
}
