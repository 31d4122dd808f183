//! What the core costs: per event as a run grows, to fold a long journal, and for whole runs.
//!
//! `cargo bench -p windlass-sim` prints every figure beside the floor or the goal it is held
//! against. Each is the median of several rounds, with the spread of the rounds as the noise.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use windlass_core::{
    lang::{Catalogue, load},
    run::{
        Cap, Caps, Ended, Input, Item, Recorded, Report, Run, Settings, Stamp, Start, Usage,
        decide, fold_with, start,
    },
    workflow::Workflow,
};
use windlass_sim::{Choices, Plan, drive};

const ROUNDS: usize = 5;
const BUILT_IN: [(&str, &str); 5] = [
    ("autopilot", include_str!("../../../workflows/autopilot.toml")),
    ("task", include_str!("../../../workflows/task.toml")),
    ("mission", include_str!("../../../workflows/mission.toml")),
    ("issues", include_str!("../../../workflows/issues.toml")),
    ("work", include_str!("../../../workflows/work.toml")),
];

const MANY: &str = r#"
workflow = "many"
about = "Many small units over four lanes."
[units]
lanes = 4
[counters]
tries = { per = "unit", max = 3 }
[always]
unknown = "pause"
no_output = "pause"
crashed = "pause"
timed_out = "pause"
cut_short = "pause"
context_full = "pause"
invalid = "pause"
[[intake]]
stage = "list"
read = "queue"
on = { found = { to = "end", add = { unit = "jobs" } } }
[[unit]]
stage = "do"
role = "worker"
edits = true
on = { done = "next", failed = { to = "do", count = "tries", spent = "failed" } }
[[unit]]
stage = "prove"
checks = ["test"]
on = { pass = "next", skipped = "failed", fail = { to = "do", count = "tries", spent = "failed" } }
[[unit]]
stage = "land"
land = "merge"
needs = ["prove:pass"]
on = { landed = "done", moved = "failed", conflict = "failed" }
"#;

const CATALOGUE: &str = r#"
[role.worker]
about = "works"
verdicts = ["done", "failed"]
[read.queue]
about = "lists"
verdicts = ["found"]
lists.jobs = {}
[check.test]
about = "tests"
"#;

fn main() {
    println!("median of {ROUNDS} rounds, ± half the spread of the rounds\n");
    growth();
    folding();
    whole_runs();
}

fn flow(text: &str, catalogue: &str) -> Arc<Workflow> {
    let catalogue = Catalogue::parse(catalogue).unwrap_or_else(|p| panic!("{p:?}"));
    Arc::new(load(text, &catalogue).unwrap_or_else(|p| panic!("{p:?}")))
}

/// A run of `units` units, each of which fails its checks once; the journal and the time it took.
fn run_many(flow: &Arc<Workflow>, units: usize) -> (Vec<Recorded>, Duration) {
    let none = Caps { run: Cap::NONE, unit: Cap::NONE, ..Caps::default() };
    let settings = Settings { caps: none, ..Settings::default() };
    let now = Stamp::default();
    let begin = Start { run: "bench".into(), settings, ..Start::default() };
    let mut journal = start(flow.clone(), now, begin).unwrap_or_else(|r| panic!("{r}"));
    let mut run = fold_with(flow.clone(), &journal).unwrap_or_else(|b| panic!("{b}"));
    let jobs: Vec<Item> = (0..units)
        .map(|n| Item {
            id: format!("unit-{n}").into(),
            depends: if n % 3 == 2 { vec![format!("unit-{}", n - 1).into()] } else { vec![] },
            files: vec![format!("src/{}/file-{n}.rs", n % 50).into()],
            ..Item::default()
        })
        .collect();
    let first = run.wanted().next().unwrap_or_else(|| panic!("nothing wanted"));
    let mut report = Report {
        effect: first,
        ended: Ended::Verdict("found".into()),
        facts: Default::default(),
        lists: [("jobs".to_owned(), jobs)].into(),
        subject: None,
        usage: Usage::NONE,
    };
    take(&mut run, &mut journal, now, report.clone());
    report.lists.clear();
    let begun = Instant::now();
    loop {
        let Some(id) = run.wanted().next() else { break };
        let effect = run.want(id).unwrap_or_else(|| panic!("described"));
        let word = match effect.name.as_ref() {
            "do" => "done",
            "prove" if effect.visit == 1 => "fail",
            "prove" => "pass",
            _ => "landed",
        };
        report.effect = id;
        report.ended = Ended::Verdict(word.into());
        report.subject = if word == "done" { None } else { effect.subject };
        take(&mut run, &mut journal, now, report.clone());
    }
    (journal, begun.elapsed())
}

fn take(run: &mut Run, journal: &mut Vec<Recorded>, now: Stamp, report: Report) {
    let events = decide(run, now, Input::Report(report)).unwrap_or_else(|r| panic!("{r}"));
    for recorded in &events {
        run.evolve(recorded);
    }
    journal.extend(events);
}

fn median(mut rounds: Vec<f64>) -> (f64, f64) {
    rounds.sort_by(f64::total_cmp);
    let spread = (rounds[rounds.len() - 1] - rounds[0]) / 2.0;
    (rounds[rounds.len() / 2], spread)
}

fn growth() {
    let flow = flow(MANY, CATALOGUE);
    let per_event = |units: usize, times: usize| {
        let mut events = 0;
        let mut took = Duration::ZERO;
        for _ in 0..times {
            let (journal, time) = run_many(&flow, units);
            events += journal.len();
            took += time;
        }
        took.as_secs_f64() * 1e6 / events as f64
    };
    per_event(100, 20);
    let mut small = Vec::new();
    let mut large = Vec::new();
    for _ in 0..ROUNDS {
        small.push(per_event(100, 50));
        large.push(per_event(10_000, 1));
    }
    let ratios: Vec<f64> = small.iter().zip(&large).map(|(small, large)| large / small).collect();
    let ((small, s), (large, l), (ratio, r)) = (median(small), median(large), median(ratios));
    println!("decide and evolve, per event");
    println!("     100 units   {small:6.2} µs ± {s:.2}");
    println!("  10,000 units   {large:6.2} µs ± {l:.2}");
    println!("  ratio          {ratio:6.2}    ± {r:.2}   (goal: at most 1.5)\n");
}

fn folding() {
    let flow = flow(MANY, CATALOGUE);
    let before = resident_mb();
    let mut journal = Vec::new();
    let mut units = 55_000;
    while journal.len() < 1_000_000 {
        journal = run_many(&flow, units).0;
        units += units / 4;
    }
    journal.truncate(1_000_000);
    journal.shrink_to_fit();
    let held = resident_mb();
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        let run = fold_with(flow.clone(), &journal).unwrap_or_else(|b| panic!("{b}"));
        rounds.push(begun.elapsed().as_secs_f64());
        assert_eq!(run.seq(), 1_000_000);
    }
    let (time, noise) = median(rounds);
    println!("folding 1,000,000 events of a run with {} units", units * 4 / 5);
    println!("  time           {time:6.2} s  ± {noise:.2}   (goal: under 2 s)");
    println!(
        "  memory         {:6.0} MB, of which the journal itself {:.0} MB   (goal: under 300 MB)",
        peak_mb() - before,
        held - before
    );
    println!("  an event is {} bytes, boxes apart\n", size_of::<Recorded>());
}

fn whole_runs() {
    let catalogue = include_str!("../../../workflows/catalogue.toml");
    println!("whole simulated runs, one core, everything audited");
    for (name, text) in BUILT_IN {
        let flow = flow(text, catalogue);
        let mut rounds = Vec::new();
        let mut events = 0;
        for round in 0..ROUNDS as u64 {
            let begun = Instant::now();
            for seed in 0..200 {
                let outcome =
                    drive(&flow, &Plan::default(), Choices::from_seed(round * 1_000 + seed));
                assert!(outcome.violation.is_none(), "{:?}", outcome.violation);
                events += outcome.journal.len();
            }
            rounds.push(200.0 / begun.elapsed().as_secs_f64());
        }
        let (rate, noise) = median(rounds);
        let events = events / (200 * ROUNDS);
        println!(
            "  {name:<12} {rate:7.0} runs/s ± {noise:.0}, {events} events each   (goal: at least 300)"
        );
    }
}

fn status(key: &str) -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with(key)).unwrap_or_default();
    let kb = line.split_whitespace().nth(1).and_then(|kb| kb.parse::<f64>().ok());
    kb.unwrap_or(f64::NAN) / 1024.0
}

fn resident_mb() -> f64 {
    status("VmRSS:")
}

fn peak_mb() -> f64 {
    status("VmHWM:")
}
