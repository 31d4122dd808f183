//! What a report says, in which order.

use std::collections::BTreeMap;

use windlass_words::Words;

use super::page::{Block, Line, Page};
use super::timeline::timeline;
use super::{Cost, Report, Unit, short};
use crate::render::{because_of, time};

/// So many units are told of one by one. Where there are more, those that were not simply done come first.
const UNITS_MAX: usize = 500;
/// So many lines of anything else.
const LINES_MAX: usize = 1_000;

/// A report as a document.
pub fn page(report: &Report) -> Page {
    let mut blocks = head(report);
    blocks.extend(timeline(&report.bars).map(Block::Picture));
    blocks.push(units(report));
    for question in &report.questions {
        blocks.push(Block::Text(Line::strong("Waiting for an answer:").add(" ").add(question)));
    }
    for waiting in &report.waiting {
        blocks.push(Block::Text(Line::strong("Waits to be taken:").add(" ").and_code(waiting)));
    }
    blocks.extend(costs(report));
    let told = told(report);
    blocks.extend(retries(report, &told));
    blocks.extend(claims(&told));
    blocks.extend(evidence(report, &told));
    blocks.extend(landed(report));
    blocks.extend(told.iter().map(|unit| Block::Folded {
        title: Line::new(format!("{}: {} (", unit.id, unit.title)).and(stands(unit)).add(")"),
        blocks: details(unit),
    }));
    let left_out = report.units.len() - told.len();
    if left_out > 0 {
        let rest = format!("{left_out} more are left out here: ");
        blocks.push(Block::Text(Line::new(rest).and_code("--json").add(" has everything.")));
    }
    if !report.itself.is_empty() {
        let mut own = Vec::new();
        if !report.itself.commits.is_empty() {
            own.push(Block::Text(Line::new("Landed ").and(commits(&report.itself))));
        }
        own.extend(details(&report.itself));
        blocks.push(Block::Folded { title: Line::new("The run itself"), blocks: own });
    }
    blocks.extend(decisions(report));
    Page { title: format!("{}: {}", report.run, report.outcome), blocks }
}

fn head(report: &Report) -> Vec<Block> {
    let mut facts = vec![
        Line::new("Lands on: ").add(&report.branch),
        Line::new(format!("From {} to {} ({} min)", report.began, report.ended, report.minutes)),
        Line::new(format!("Cost: {:.2} dollars", report.cost_usd)),
    ];
    if report.lanes > 1 {
        let at_work = time(report.elapsed_ms);
        facts.push(Line::new(format!("Up to {} at a time, {at_work} at work", report.lanes)));
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for unit in &report.units {
        *counts.entry(&unit.status).or_default() += 1;
    }
    if report.units.len() > 1 {
        let counts: Vec<String> = counts.iter().map(|(word, n)| format!("{n} {word}")).collect();
        facts.push(Line::new(format!("Of {}: {}", report.units.len(), counts.join(", "))));
    }
    vec![
        Block::Heading(1, Line::new(format!("{}: {}", report.run, report.outcome))),
        Block::Text(Line::new(&report.about)),
        Block::List(facts),
    ]
}

fn units(report: &Report) -> Block {
    let row = |unit: &Unit| {
        vec![
            Line::new(format!("{}: {}", unit.id, unit.title)),
            stands(unit),
            commits(unit),
            Line::new(unit.attempts.to_string()),
            Line::new(time(unit.elapsed_ms)),
            Line::new(format!("{:.2}", unit.cost_usd)),
        ]
    };
    let heads = &["unit", "status", "commits", "attempts", "time", "cost"];
    Block::Table { heads, rows: report.units.iter().map(row).collect() }
}

fn stands(unit: &Unit) -> Line {
    let stands =
        format!("{}{}", unit.status, because_of(unit.because.as_deref(), Words::default()));
    match unit.status.as_str() {
        "done" => Line::good(stands),
        "failed" | "blocked" => Line::bad(stands),
        _ => Line::new(stands),
    }
}

fn commits(unit: &Unit) -> Line {
    Line::joined(unit.commits.iter().map(|commit| Line::code(short(commit))), " ")
}

fn costs(report: &Report) -> Vec<Block> {
    let mut blocks = Vec::new();
    let tables: [(&'static [&'static str], &[Cost]); 2] = [
        (&["role", "asked", "time", "dollars"], &report.roles),
        (&["agent", "asked", "time", "dollars"], &report.agents),
    ];
    for (heads, costs) in tables {
        let row = |cost: &Cost| {
            vec![
                Line::new(&cost.name),
                Line::new(cost.invocations.to_string()),
                Line::new(time(cost.busy_ms)),
                Line::new(format!("{:.2}", cost.cost_usd)),
            ]
        };
        if !costs.is_empty() {
            blocks.push(Block::Table { heads, rows: costs.iter().map(row).collect() });
        }
    }
    if !blocks.is_empty() {
        blocks.insert(0, Block::Heading(2, Line::new("Cost")));
    }
    blocks
}

/// The units that are told of one by one.
fn told(report: &Report) -> Vec<&Unit> {
    if report.units.len() <= UNITS_MAX {
        return report.units.iter().collect();
    }
    let odd = |unit: &&Unit| unit.status != "done" || !unit.retries.is_empty();
    report.units.iter().filter(odd).take(UNITS_MAX).collect()
}

fn retries(report: &Report, told: &[&Unit]) -> Vec<Block> {
    let mut rows = Vec::new();
    for unit in told.iter().copied().chain([&report.itself]) {
        for again in &unit.retries {
            rows.push(vec![
                Line::new(&unit.id),
                Line::new(&again.stage),
                Line::new(again.attempt.to_string()),
                Line::new(&again.why),
            ]);
        }
    }
    table("Tried again", &["unit", "stage", "attempt", "why"], rows)
}

/// What each unit claims, and on what evidence it was found to hold or not.
fn claims(told: &[&Unit]) -> Vec<Block> {
    let mut rows = Vec::new();
    for unit in told {
        for claim in &unit.claims {
            let holds = match claim.holds.as_str() {
                "yes" => Line::good("yes"),
                other => Line::bad(other),
            };
            rows.push(vec![
                Line::new(&unit.id),
                Line::new(claim.line()),
                holds,
                Line::new(&claim.evidence),
                Line::new(&claim.by),
            ]);
        }
    }
    table("Claims", &["unit", "claim", "holds", "evidence", "judged by"], rows)
}

/// What each unit stands on: the last run of each check, and the last word of everybody who judged.
fn evidence(report: &Report, told: &[&Unit]) -> Vec<Block> {
    let mut rows = Vec::new();
    for unit in told.iter().copied().chain([&report.itself]) {
        let of = || Line::new(&unit.id);
        for (name, check) in last(unit.checks.iter().map(|it| (it.name.as_str(), it))) {
            let came = if check.failed { Line::bad(check.came) } else { Line::new(check.came) };
            rows.push(vec![
                of(),
                Line::new(format!("check {name}")),
                Line::code(check.command.as_deref().unwrap_or("none")),
                came,
                Line::code(short(&check.tree)),
            ]);
        }
        let judged = unit.invocations.iter().filter(|it| it.judges);
        for ((_, stage, role), it) in last(judged.map(|it| ((&it.task, &it.stage, &it.role), it))) {
            rows.push(vec![
                of(),
                Line::new(format!("{}{stage}: {role}", part(it))),
                Line::new(&it.agent),
                Line::new(&it.came),
                Line::new(&it.summary),
            ]);
        }
    }
    table("Evidence", &["unit", "by", "command or agent", "came to", "tree or summary"], rows)
}

/// The part of the unit that an invocation was about, before what is said of it.
fn part(it: &super::Invocation) -> String {
    match (&it.called, &it.task) {
        (Some(called), Some(task)) => format!("{called} {task}: "),
        (None, Some(_)) | (_, None) => String::new(),
    }
}

/// The last of each, in order.
fn last<K: Ord, V>(all: impl Iterator<Item = (K, V)>) -> BTreeMap<K, V> {
    all.collect()
}

fn landed(report: &Report) -> Vec<Block> {
    let row = |it: &super::Landed| {
        vec![
            Line::new(&it.at),
            Line::new(it.unit.as_deref().unwrap_or("the run itself")),
            Line::code(short(&it.commit)),
            Line::new(&it.branch),
        ]
    };
    table("Landed", &["when", "unit", "commit", "branch"], report.landed.iter().map(row).collect())
}

fn decisions(report: &Report) -> Vec<Block> {
    let line = |line: &super::Line| Line::new(format!("{} {}", line.at, line.text));
    let lines: Vec<Line> = report.decisions.iter().take(LINES_MAX).map(line).collect();
    if lines.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::Heading(2, Line::new("Decisions")), Block::List(lines)];
    blocks.extend(more(report.decisions.len()));
    blocks
}

fn table(title: &str, heads: &'static [&'static str], mut rows: Vec<Vec<Line>>) -> Vec<Block> {
    if rows.is_empty() {
        return Vec::new();
    }
    let all = rows.len();
    rows.truncate(LINES_MAX);
    let mut blocks = vec![Block::Heading(2, Line::new(title)), Block::Table { heads, rows }];
    blocks.extend(more(all));
    blocks
}

fn more(all: usize) -> Option<Block> {
    let more = all.checked_sub(LINES_MAX).filter(|more| *more > 0)?;
    let more = Line::new(format!("And {more} more: "));
    Some(Block::Text(more.and_code("--json").add(" has everything.")))
}

/// Everything about a unit.
fn details(unit: &Unit) -> Vec<Block> {
    let mut blocks = Vec::new();
    let invoked = |it: &super::Invocation| {
        let came =
            it.remarks.iter().fold(it.came.clone(), |came, remark| format!("{came}; {remark}"));
        vec![
            Line::new(format!("{}{}", part(it), it.stage)),
            Line::new(&it.role),
            Line::new(&it.agent),
            Line::new(it.attempt.to_string()),
            Line::new(came),
            Line::new(it.files.to_string()),
        ]
    };
    if !unit.invocations.is_empty() {
        let rows = unit.invocations.iter().map(invoked).collect();
        let heads = &["stage", "role", "agent", "attempt", "came to", "files"];
        blocks.push(Block::Table { heads, rows });
    }
    let checked = |check: &super::CheckLine| {
        vec![
            Line::new(&check.name),
            Line::new(check.command.as_deref().unwrap_or("none")),
            if check.failed { Line::bad(check.came) } else { Line::new(check.came) },
            Line::code(short(&check.tree)),
            check.output.as_deref().map_or_else(Line::default, |it| Line::code(short(it))),
        ]
    };
    if !unit.checks.is_empty() {
        let rows = unit.checks.iter().map(checked).collect();
        let heads = &["check", "command", "came to", "tree", "output"];
        blocks.push(Block::Table { heads, rows });
    }
    let picture =
        |it: &super::PictureLine| Line::new(format!("{}, {}: {}", it.assertion, it.name, it.file));
    if !unit.pictures.is_empty() {
        blocks.push(Block::Text(Line::new("Pictures that a browser took:")));
        blocks.push(Block::List(unit.pictures.iter().map(picture).collect()));
    }
    for it in unit.invocations.iter().filter(|it| !it.findings.is_empty()) {
        let who = format!("{} of {}, attempt {}, found:", it.role, it.stage, it.attempt);
        blocks.push(Block::Text(Line::new(who)));
        blocks.push(Block::List(it.findings.iter().map(Line::new).collect()));
    }
    blocks.extend(unit.told.iter().map(|told| Block::Quote(told.clone())));
    blocks
}

impl Unit {
    fn is_empty(&self) -> bool {
        self.invocations.is_empty() && self.checks.is_empty() && self.told.is_empty()
    }
}
