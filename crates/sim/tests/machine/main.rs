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

use std::{collections::BTreeMap, sync::Arc};

use windlass_core::{
    lang::{Catalogue, load},
    run::{EffectId, Ended, Event, Input, Item, Report, Start, Subject, Usage},
    workflow::Workflow,
};
use windlass_sim::{Saying, Walk, item};

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
intake list  read = "queue", on = { found = { to = "end", add = { unit = "jobs" } }, empty = "end" }
"#;

/// One stage that does it, and nothing more.
const JUST_DO: &str = r#"
unit do  role = "worker", on = { done = "next", failed = "failed" }
"#;

/// One stage that tries again while there are `tries` left.
const LOOP: &str = r#"
unit do  role = "worker",
    on = { done = "next", failed = { to = "do", count = "tries", spent = "failed" } }
"#;

/// A stage, and a person who may ask for more of it.
const MORE: &str = r#"
unit do   role = "worker", on = { done = "ask", failed = "failed" }
unit ask  gate = "more?", on = { more = "do", enough = "done" }
"#;

/// A definition with these tables, an intake that lists jobs, and `stages`.
///
/// Stages are written one to a line: the scope, the name, and what stands between the braces of an
/// inline table. An indented line goes on with the one before.
#[track_caller]
fn flow(head: &str, stages: &str) -> Arc<Workflow> {
    flow_after(head, LIST, stages)
}

/// The same with an intake of one's own.
#[track_caller]
fn flow_after(head: &str, intake: &str, stages: &str) -> Arc<Workflow> {
    let scopes = scopes(&format!("{intake}{stages}"));
    let counters = if head.contains("[counters]") { "" } else { "[counters]\n" };
    let text = format!(
        "workflow = \"tiny\"\nabout = \"tiny\"\n{scopes}{head}\n{counters}\
         redo = {{ per = \"stage\", max = 2 }}\n{ALWAYS}"
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

/// The stages as TOML: a list of tables for each scope, which has to stand before any header.
#[track_caller]
fn scopes(stages: &str) -> String {
    let mut scopes: Vec<(&str, String)> = Vec::new();
    let whole = stages.replace("\n ", " ");
    for line in whole.lines().filter(|line| !line.is_empty()) {
        let (scope, rest) = line.split_once(' ').expect("a scope");
        let (stage, keys) = rest.split_once(' ').expect("a stage");
        let table = format!("  {{ stage = \"{stage}\", {} }},\n", keys.trim_start());
        match scopes.iter_mut().find(|(name, _)| *name == scope) {
            Some((_, tables)) => tables.push_str(&table),
            None => scopes.push((scope, table)),
        }
    }
    scopes.iter().map(|(scope, tables)| format!("{scope} = [\n{tables}]\n")).collect()
}

/// A run whose intake has listed jobs with these ids.
#[track_caller]
fn listed<'f>(flow: &'f Arc<Workflow>, ids: &[&str]) -> Walk<'f> {
    listed_from(flow, Start::default(), ids)
}

/// The same with a start of its own.
#[track_caller]
fn listed_from<'f>(flow: &'f Arc<Workflow>, start: Start, ids: &[&str]) -> Walk<'f> {
    let mut walk = Walk::begin(flow, start).expect("starts");
    walk.says("list", Saying::new("found").list("jobs", ids));
    walk
}

/// The same with jobs that have more than an id.
#[track_caller]
fn listed_items(flow: &Arc<Workflow>, jobs: Vec<Item>) -> Walk<'_> {
    let mut walk = Walk::new(flow, &[]);
    walk.says("list", Saying::new("found").items("jobs", jobs));
    walk
}

fn ranked(id: &str, rank: i64) -> Item {
    Item { rank, ..item(id) }
}

fn claiming(id: &str, files: &[&str]) -> Item {
    Item { files: files.iter().map(|f| (*f).into()).collect(), ..item(id) }
}

/// The units that something is under way for.
fn units_at(walk: &Walk<'_>) -> Vec<String> {
    walk.run().wants().values().filter_map(|e| e.unit.as_ref()).map(|u| u.to_string()).collect()
}

/// The units in the order in which they come to be done, one after another.
fn order(walk: &mut Walk<'_>) -> Vec<String> {
    let mut order = Vec::new();
    while walk.is_at("do") {
        order.extend(units_at(walk));
        walk.says("do", "done");
    }
    order
}

/// A report of how an effect ended and what it looked at, with nothing else to say.
fn report(effect: EffectId, ended: Ended, subject: Option<Subject>) -> Input {
    Input::Report(Report {
        effect,
        ended,
        facts: BTreeMap::new(),
        lists: BTreeMap::new(),
        subject,
        usage: Usage::NONE,
    })
}

/// A tree and its change, both by this name.
fn subject(name: &str) -> Subject {
    Subject { tree: name.into(), change: name.into() }
}

/// What was wrong with the first report that had something wrong with it.
fn fault(walk: &Walk<'_>) -> Option<Arc<str>> {
    walk.journal().iter().find_map(|recorded| match &recorded.event {
        Event::Reported(ending) => ending.fault.clone(),
        _ => None,
    })
}
