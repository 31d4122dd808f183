//! Filters, as the schema has them: comparators for values, filters of things for links, some and every for lists.

use serde_json::{Map, Value};

use super::world::{Field, World};

/// Whether a thing is what a filter wants.
pub(super) fn keeps(
    world: &World,
    viewer: &str,
    id: &str,
    filter: &Map<String, Value>,
) -> Result<bool, String> {
    for (name, wanted) in filter {
        if wanted.is_null() {
            continue;
        }
        let fits = match (name.as_str(), wanted) {
            ("and", Value::Array(all)) => every(all, |one| keeps(world, viewer, id, one))?,
            ("or", Value::Array(all)) => some(all, |one| keeps(world, viewer, id, one))?,
            ("null", Value::Bool(null)) => !null,
            (name, Value::Object(wanted)) => {
                let known = if name == "accessibleTeams" { "teams" } else { name };
                let field = world.field(id, known, viewer);
                let kind = world.thing(id).map_or("", |thing| thing.kind);
                let field = field.ok_or(format!("no {kind} is filtered by its {name} here"))?;
                fits(world, viewer, &field, wanted)?
            }
            (name, _) => return Err(format!("a filter of {name} is not pretended here")),
        };
        if !fits {
            return Ok(false);
        }
    }
    Ok(true)
}

fn fits(
    world: &World,
    viewer: &str,
    field: &Field,
    wanted: &Map<String, Value>,
) -> Result<bool, String> {
    match field {
        Field::Leaf(value) => compares(value, wanted),
        Field::One(Some(id)) => keeps(world, viewer, id, wanted),
        Field::One(None) => Ok(wanted.get("null") == Some(&Value::Bool(true))),
        Field::Many(ids) => list_fits(world, viewer, ids, wanted),
    }
}

fn list_fits(
    world: &World,
    viewer: &str,
    ids: &[String],
    wanted: &Map<String, Value>,
) -> Result<bool, String> {
    let mut rest = wanted.clone();
    let all = |filter: &Map<String, Value>| {
        ids.iter().map(|id| keeps(world, viewer, id, filter)).collect::<Result<Vec<_>, _>>()
    };
    if let Some(Value::Object(filter)) = rest.remove("some")
        && !all(&filter)?.contains(&true)
    {
        return Ok(false);
    }
    if let Some(Value::Object(filter)) = rest.remove("every")
        && all(&filter)?.contains(&false)
    {
        return Ok(false);
    }
    if let Some(Value::Object(length)) = rest.remove("length")
        && !compares(&Value::from(ids.len()), &length)?
    {
        return Ok(false);
    }
    rest.retain(|_, wanted| !wanted.is_null());
    Ok(rest.is_empty() || all(&rest)?.contains(&true))
}

fn every(
    all: &[Value],
    one: impl Fn(&Map<String, Value>) -> Result<bool, String>,
) -> Result<bool, String> {
    for each in all.iter().filter_map(Value::as_object) {
        if !one(each)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn some(
    all: &[Value],
    one: impl Fn(&Map<String, Value>) -> Result<bool, String>,
) -> Result<bool, String> {
    for each in all.iter().filter_map(Value::as_object) {
        if one(each)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a value is what a comparator wants.
fn compares(value: &Value, wanted: &Map<String, Value>) -> Result<bool, String> {
    let text = value.as_str().unwrap_or_default();
    for (how, with) in wanted {
        if with.is_null() {
            continue;
        }
        let other = with.as_str().unwrap_or_default();
        let small = || (text.to_lowercase(), other.to_lowercase());
        let among = || with.as_array().is_some_and(|all| all.iter().any(|one| same(value, one)));
        let fits = match how.as_str() {
            "eq" => same(value, with),
            "neq" => !same(value, with),
            "in" => among(),
            "nin" => !among(),
            "null" => value.is_null() == (with == &Value::Bool(true)),
            "eqIgnoreCase" => small().0 == small().1,
            "neqIgnoreCase" => small().0 != small().1,
            "contains" => text.contains(other),
            "notContains" => !text.contains(other),
            "containsIgnoreCase" => small().0.contains(&small().1),
            "startsWith" => text.starts_with(other),
            "endsWith" => text.ends_with(other),
            "lt" | "lte" | "gt" | "gte" => ordered(value, how, with),
            _ => return Err(format!("the comparator {how} is not pretended here")),
        };
        if !fits {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Numbers are the same as numbers, whether they have a fraction or not.
fn same(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => (one - other).abs() < f64::EPSILON,
        _ => one == other,
    }
}

fn ordered(value: &Value, how: &str, with: &Value) -> bool {
    let ordering = match (value.as_f64(), with.as_f64()) {
        (Some(one), Some(other)) => one.partial_cmp(&other),
        _ => value.as_str().zip(with.as_str()).map(|(one, other)| one.cmp(other)),
    };
    ordering.is_some_and(|ordering| match how {
        "lt" => ordering.is_lt(),
        "lte" => ordering.is_le(),
        "gt" => ordering.is_gt(),
        _ => ordering.is_ge(),
    })
}
