//! The machine, mechanism by mechanism, on definitions as small as they can be.

mod budgets;
mod control;
mod evidence;
mod folding;
mod gates;
mod moves;
mod panels;
mod slots;
mod units;

use std::sync::Arc;

use windlass_core::{
    lang::{Catalogue, load},
    workflow::Workflow,
};

/// A catalogue for these tests.
const CATALOGUE: &str = r#"
[role.worker]
about = "does it"
verdicts = ["done", "failed"]
facts = { size = "0..100", cause = ["typo", "logic"] }
lists.found = { hard = "flag" }
[role.reviewer]
about = "looks at it"
verdicts = ["clear", "blocking"]
[role.second]
about = "looks at it too"
verdicts = ["clear", "blocking"]
[role.editor]
about = "mends it"
verdicts = ["mended"]
[read.queue]
about = "what there is to do"
verdicts = ["found", "empty"]
facts = { odd = "flag" }
lists.jobs = { level = ["low", "high"], weight = "number" }
[check.test]
about = "tests"
[tell.report]
about = "report"
"#;

const ALWAYS: &str = r#"
[always]
unknown = { to = "again", count = "redo", spent = "pause" }
no_output = { to = "again", count = "redo", spent = "pause" }
crashed = { to = "again", count = "redo", spent = "pause" }
timed_out = { to = "again", count = "redo", spent = "pause" }
cut_short = "pause"
context_full = "pause"
invalid = "pause"
"#;

const LIST: &str = r#"
[[intake]]
stage = "list"
read = "queue"
on = { found = { to = "end", add = { unit = "jobs" } }, empty = "end" }
"#;

/// A definition around these tables: `head` before the stages, then an intake that lists jobs,
/// then `stages`.
#[track_caller]
fn flow(head: &str, stages: &str) -> Arc<Workflow> {
    flow_after(head, LIST, stages)
}

/// The same with an intake of one's own.
#[track_caller]
fn flow_after(head: &str, intake: &str, stages: &str) -> Arc<Workflow> {
    let counters = if head.contains("[counters]") { "" } else { "[counters]\n" };
    let text = format!(
        "workflow = \"tiny\"\nabout = \"tiny\"\n{head}\n{counters}\
         redo = {{ per = \"stage\", max = 2 }}\n{ALWAYS}{intake}{stages}"
    );
    let catalogue = match Catalogue::parse(CATALOGUE) {
        Ok(catalogue) => catalogue,
        Err(problems) => panic!("{problems:?}"),
    };
    match load(&text, &catalogue) {
        Ok(flow) => Arc::new(flow),
        Err(problems) => {
            let plain: Vec<String> =
                problems.iter().map(|problem| problem.plain("tiny.toml", &text)).collect();
            panic!("{}", plain.join("\n"))
        }
    }
}

/// One stage that does it, and nothing more.
const JUST_DO: &str = r#"
[[unit]]
stage = "do"
role = "worker"
on = { done = "next", failed = "failed" }
"#;
