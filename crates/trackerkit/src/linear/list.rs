//! Lists, a page at a time. The newest is first, and a cursor stays good when what it stands for is gone.

use serde_json::{Map, Value, json};

use super::filter::keeps;
use super::schema::FIRST;
use super::world::World;

/// The real one answers no longer lists.
const FIRST_MAX: u64 = 250;

/// A page of a list.
pub(super) struct Page {
    pub ids: Vec<String>,
    /// A cursor for each.
    pub cursors: Vec<String>,
    pub more: bool,
    pub begun: bool,
}

/// The page that the arguments of a field ask for.
pub(super) fn page(
    world: &World,
    viewer: &str,
    ids: Vec<String>,
    arguments: &Map<String, Value>,
) -> Result<Page, String> {
    let given = |name: &str| arguments.get(name).filter(|value| !value.is_null());
    for name in ["before", "last", "sort"] {
        if given(name).is_some() {
            return Err(format!("{name} is not pretended here"));
        }
    }
    let archived = given("includeArchived") == Some(&json!(true));
    let filter = given("filter").and_then(Value::as_object).cloned().unwrap_or_default();
    let by = given("orderBy").and_then(Value::as_str).unwrap_or("createdAt");
    let mut kept = Vec::new();
    for id in ids {
        let gone = !world.text(&id, "archivedAt").is_empty();
        if (!gone || archived) && keeps(world, viewer, &id, &filter)? {
            kept.push((world.text(&id, by), id));
        }
    }
    kept.sort_by(|one, other| other.cmp(one));

    let after = given("after").and_then(Value::as_str);
    let begun = after.is_some();
    if let Some(after) = after {
        let (at, id) = after.split_once('|').ok_or("after is no cursor")?;
        kept.retain(|(own_at, own)| (own_at.as_str(), own.as_str()) < (at, id));
    }
    let first = given("first").map_or(Some(FIRST), Value::as_u64).unwrap_or_default();
    if first == 0 || first > FIRST_MAX {
        return Err(format!("first is to be between 1 and {FIRST_MAX}"));
    }
    let first = usize::try_from(first).unwrap_or(usize::MAX);
    let length = if world.page_max == 0 { first } else { first.min(world.page_max) };
    let more = kept.len() > length;
    kept.truncate(length);
    let cursors = kept.iter().map(|(at, id)| format!("{at}|{id}")).collect();
    Ok(Page { ids: kept.into_iter().map(|(_, id)| id).collect(), cursors, more, begun })
}
