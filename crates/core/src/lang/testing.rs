//! A small sound definition, for tests to vary.

use super::{Catalogue, load};

const CATALOGUE: &str = r#"
[role.planner]
verdicts = ["planned", "blocked"]
facts = { risk = ["low", "high"], steps = "number", size = "1..9" }
lists.tasks = { kind = ["code", "text"] }
lists.more = { weight = "number" }
[role.worker]
verdicts = ["done", "failed"]
[role.judge]
verdicts = ["good", "bad"]
[role.witness]
verdicts = ["seen"]
[read.list]
verdicts = ["found"]
facts = { count = "number" }
lists.items = { weight = "number" }
[check.test]
[tell.say]
"#;

/// What every definition here begins with.
const HEAD: &str = r#"
workflow = "test"
[always]
crashed      = "pause"
timed_out    = "pause"
invalid      = "pause"
unknown      = "pause"
no_output    = "pause"
context_full = "pause"
cut_short    = "pause"
[[intake]]
stage = "first"
read  = "list"
on.found = { to = "end", add = { unit = "items" } }
"#;

pub(super) fn catalogue() -> Catalogue {
    Catalogue::parse(CATALOGUE).unwrap()
}

/// The definition, its tables and stages put below what every one begins with.
pub(super) fn definition(rest: &str) -> String {
    format!("{HEAD}{rest}")
}

/// What is wrong with a definition: `code: offending text`, one for each mistake.
pub(super) fn wrong(rest: &str) -> Vec<String> {
    let text = definition(rest);
    let problems = load(&text, &catalogue()).err().unwrap_or_default();
    problems.iter().map(|p| format!("{}: {}", p.code, &text[p.span.clone()])).collect()
}

/// The messages of all mistakes in a definition.
pub(super) fn messages(rest: &str) -> Vec<String> {
    let problems = load(&definition(rest), &catalogue()).err().unwrap_or_default();
    problems.into_iter().map(|problem| problem.message).collect()
}
