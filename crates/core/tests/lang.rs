//! The language from outside: a sound definition loads, and a broken one says all that is wrong with it.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    reason = "the broken definitions are files; it is the crate that may not touch the disk, not its tests"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use windlass_core::lang::{Catalogue, Code, Diagnostic, load};
use windlass_core::workflow::{Errand, Go, Kind, ScopeIx, Settled, Workflow};

const SOUND: &str = include_str!("data/sound.toml");

fn catalogue() -> Catalogue {
    Catalogue::parse(include_str!("data/catalogue.toml")).unwrap()
}

fn sound() -> Workflow {
    let problems = |list: Vec<Diagnostic>| -> String {
        list.iter().map(|problem| problem.plain("sound.toml", SOUND)).collect()
    };
    load(SOUND, &catalogue()).map_err(problems).unwrap()
}

/// Every broken definition: its name and its text.
fn broken() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broken");
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    files.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

fn plain(name: &str, text: &str, problems: &[Diagnostic]) -> String {
    let file = format!("{name}.toml");
    problems.iter().map(|problem| problem.plain(&file, text) + "\n").collect()
}

#[test]
fn every_broken_definition_says_all_that_is_wrong_with_it() {
    let catalogue = catalogue();
    for (name, text) in broken() {
        let problems = load(&text, &catalogue).expect_err(&name);
        for problem in &problems {
            assert!(problem.help.is_some(), "{name}: no suggestion: {}", problem.message);
        }
        insta::with_settings!({
            snapshot_path => "broken/snapshots",
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, {
            insta::assert_snapshot!(name.clone(), plain(&name, &text, &problems));
        });
    }
}

/// One planted mistake is one report; the files that hold several say so.
#[test]
fn one_mistake_is_reported_once() {
    let catalogue = catalogue();
    for (name, text) in broken() {
        let problems = load(&text, &catalogue).unwrap_err();
        let several = ["several", "syntax", "empty", "unicode"];
        if !several.iter().any(|word| name.contains(word)) {
            assert_eq!(problems.len(), 1, "{}", plain(&name, &text, &problems));
        }
    }
}

#[test]
fn every_code_is_produced_by_a_broken_definition() {
    let catalogue = catalogue();
    let produced: BTreeSet<Code> = broken()
        .iter()
        .flat_map(|(_, text)| load(text, &catalogue).unwrap_err())
        .map(|problem| problem.code)
        .collect();
    let missing: Vec<&Code> = Code::ALL.iter().filter(|code| !produced.contains(code)).collect();
    assert!(missing.is_empty(), "no broken definition produces {missing:?}");
}

#[test]
fn what_is_kept_of_a_workflow_makes_the_same_workflow() {
    let first = sound();
    let kept = Catalogue::parse(&first.source.catalogue).unwrap();
    let again = load(&first.source.text, &kept).unwrap();
    assert_eq!(again, first);
    assert!(!first.source.catalogue.contains("backlog"), "an unused reader was kept");
    assert!(first.source.catalogue.contains("about"), "agents are told what a role is for");
    // A reworded sentence is not another workflow.
    let mut reworded = kept;
    reworded.roles.values_mut().for_each(|role| role.about = "something else".to_owned());
    let reworded = load(&first.source.text, &reworded).unwrap();
    assert_ne!(reworded.source.catalogue, first.source.catalogue);
    assert_eq!(reworded.source.digest, first.source.digest);
}

/// What a stage leads to, in a line.
fn verdicts(workflow: &Workflow, stage: &str) -> String {
    let stage = workflow.stage(workflow.stage_named(stage).unwrap());
    let name = |ix| workflow.stage(ix).name.clone();
    let shown = |go: &Go| match go {
        Go::To(ix) => name(*ix),
        Go::Again => "again".to_owned(),
        Go::Leave(settled) => format!("leave {}", settled.name()),
        Go::Pause(ix) => format!("pause {}", name(*ix)),
        Go::Rest(ix) => format!("rest {}", name(*ix)),
        Go::Return(word) => format!("return {word}"),
        Go::Finish(outcome) => format!("finish {}", outcome.name()),
    };
    let verdict = |verdict: &windlass_core::workflow::Verdict| {
        let cases = verdict.cases.iter().map(|case| {
            let spent = case.take.spent.as_ref().map(|spent| format!("/{}", shown(&spent.go)));
            format!("{}{}", shown(&case.take.go), spent.unwrap_or_default())
        });
        format!("{}: {}", verdict.name, cases.collect::<Vec<_>>().join(" | "))
    };
    stage.verdicts.iter().map(verdict).collect::<Vec<_>>().join(", ")
}

#[test]
fn verdicts_stand_in_order_and_lead_where_they_should() {
    let workflow = sound();
    let mishaps = "crashed: again/pause plan, timed_out: again/pause plan, invalid: pause plan, \
                   unknown: again/pause plan, no_output: again/pause plan, \
                   context_full: pause plan, cut_short: pause plan";
    assert_eq!(
        verdicts(&workflow, "plan"),
        format!("planned: approve, blocked: leave failed, {mishaps}")
    );
    assert_eq!(
        verdicts(&workflow, "approve"),
        "yes: work, redo: plan, stop: pause approve, other: again"
    );
    assert_eq!(
        verdicts(&workflow, "work"),
        "all: prove, some: stuck, none: stuck, replan: plan_again"
    );
    assert_eq!(verdicts(&workflow, "plan_again"), "late: stuck, early: plan/stuck");
    assert_eq!(
        verdicts(&workflow, "review").split(", crashed").next(),
        Some("clear: second_look, blocking: tell | mend/stuck")
    );
    assert_eq!(verdicts(&workflow, "tally"), "bad: leave done/finish escalated, good: leave done");
}

#[test]
fn stages_and_scopes_stand_in_order_of_appearance() {
    let workflow = sound();
    let scopes: Vec<&str> = workflow.scopes.iter().map(|scope| scope.name.as_str()).collect();
    assert_eq!(scopes, ["intake", "unit", "between", "finale", "task"]);
    let stages: Vec<&str> = workflow.stages.iter().map(|stage| stage.name.as_str()).collect();
    assert_eq!(stages[..4], ["list", "plan", "approve", "work"]);
    assert_eq!(stages[stages.len() - 2..], ["tally", "report"]);
    for (scope, at) in workflow.scopes.iter().zip(0..) {
        for ix in &scope.stages {
            assert_eq!(workflow.stage(*ix).scope, ScopeIx(at));
        }
    }
    let plan = workflow.stage_named("plan").unwrap();
    assert_eq!(workflow.scopes[1].first, Some(plan));
    let tell = workflow.stage(workflow.stage_named("tell").unwrap());
    assert_eq!(tell.next, None, "asides are passed by");
    let Some((_, spent)) = &workflow.stage(plan).count else { panic!("plan counts its entries") };
    assert_eq!(spent.go, Go::Finish(windlass_core::workflow::RunOutcome::Failed));
}

/// `some` must be handled when a child can fall short, and need not be when none can.
#[test]
fn some_is_a_verdict_when_a_child_can_fall_short() {
    let catalogue = catalogue();
    let without = SOUND.replace("some = \"stuck\", ", "");
    let problems = load(&without, &catalogue).unwrap_err();
    assert_eq!(problems.len(), 1);
    assert!(problems[0].message.contains("`some`"), "{}", problems[0].message);

    let never = without
        .replace("nothing = \"skipped\"", "nothing = \"done\"")
        .replace("spent = \"failed\" } }\n\n[[task]]", "spent = \"pause\" } }\n\n[[task]]");
    let workflow = load(&never, &catalogue).unwrap();
    assert_eq!(verdicts(&workflow, "work"), "all: prove, none: stuck, replan: plan_again");
}

#[test]
fn a_patch_and_a_rewind_count_as_edits() {
    let rewind = SOUND
        .replace("save  = \"commit\"", "save  = \"rewind\"")
        .replace("needs = [\"look:clear\"]\n", "");
    let workflow = load(&rewind, &catalogue()).unwrap();
    let keep = workflow.stage(workflow.stage_named("keep").unwrap());
    assert!(keep.edits && matches!(keep.kind, Kind::Errand(Errand::Save { .. })));
    assert!(keep.verdicts.iter().any(|verdict| {
        verdict.cases.iter().any(|case| case.take.go == Go::Leave(Settled::Skipped))
    }));
}

/// Spans that a renderer can use without a second look.
fn in_bounds(text: &str, problem: &Diagnostic) -> bool {
    let fits = |span: &std::ops::Range<usize>| {
        span.start <= span.end
            && span.end <= text.len()
            && text.is_char_boundary(span.start)
            && text.is_char_boundary(span.end)
    };
    fits(&problem.span) && problem.related.iter().all(|(span, _)| fits(span))
}

fn never_panics(text: &str, catalogue: &Catalogue) -> Result<(), TestCaseError> {
    match load(text, catalogue) {
        Ok(workflow) => prop_assert!(!workflow.stages.is_empty()),
        Err(problems) => {
            prop_assert!(!problems.is_empty());
            for problem in &problems {
                prop_assert!(in_bounds(text, problem), "{problem:?}");
                prop_assert!(!problem.plain("f", text).is_empty());
            }
        }
    }
    Ok(())
}

/// A change that someone might make to a file by accident.
#[derive(Clone, Debug)]
enum Slip {
    Delete(usize),
    Duplicate(usize),
    Swap(usize, usize),
    Truncate(usize),
    Insert(usize, String),
}

fn slip() -> impl Strategy<Value = Slip> {
    prop_oneof![
        any::<usize>().prop_map(Slip::Delete),
        any::<usize>().prop_map(Slip::Duplicate),
        (any::<usize>(), any::<usize>()).prop_map(|(a, b)| Slip::Swap(a, b)),
        any::<usize>().prop_map(Slip::Truncate),
        (any::<usize>(), "[ -~\\n\"'\\[\\]{}=.é🚢]{0,6}").prop_map(|(at, t)| Slip::Insert(at, t)),
    ]
}

/// The places of all words.
fn words(text: &str) -> Vec<std::ops::Range<usize>> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (is_word(c), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                words.push(from..at);
                start = None;
            }
            (true, Some(_)) | (false, None) => {}
        }
    }
    words
}

fn slipped(text: &str, slip: &Slip) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let count = lines.len().max(1);
    match slip {
        Slip::Delete(at) if !lines.is_empty() => {
            lines.remove(at % count);
            lines.join("\n")
        }
        Slip::Duplicate(at) if !lines.is_empty() => {
            lines.insert(at % count, lines[at % count]);
            lines.join("\n")
        }
        Slip::Swap(a, b) => {
            let words = words(text);
            if words.is_empty() {
                return text.to_owned();
            }
            let (a, b) = (words[a % words.len()].clone(), words[b % words.len()].clone());
            let (first, second) = if a.start < b.start { (a, b) } else { (b, a) };
            if first == second {
                return text.to_owned();
            }
            let between = &text[first.end..second.start];
            let head = &text[..first.start];
            format!(
                "{head}{}{between}{}{}",
                &text[second.clone()],
                &text[first],
                &text[second.end..]
            )
        }
        Slip::Truncate(at) => text[..text.floor_char_boundary(at % (text.len() + 1))].to_owned(),
        Slip::Insert(at, more) => {
            let at = text.floor_char_boundary(at % (text.len() + 1));
            format!("{}{more}{}", &text[..at], &text[at..])
        }
        Slip::Delete(_) | Slip::Duplicate(_) => text.to_owned(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_slip_makes_it_panic(slips in prop::collection::vec(slip(), 1..4)) {
        let text = slips.iter().fold(SOUND.to_owned(), |text, slip| slipped(&text, slip));
        never_panics(&text, &catalogue())?;
    }

    #[test]
    fn no_text_makes_it_panic(text in "(?s).{0,200}") {
        never_panics(&text, &catalogue())?;
        let _ = Catalogue::parse(&text);
    }

    #[test]
    fn what_loads_loads_again(slips in prop::collection::vec(slip(), 1..3)) {
        let text = slips.iter().fold(SOUND.to_owned(), |text, slip| slipped(&text, slip));
        if let Ok(workflow) = load(&text, &catalogue()) {
            let kept = Catalogue::parse(&workflow.source.catalogue).unwrap();
            prop_assert_eq!(load(&text, &kept), Ok(workflow));
        }
    }
}

/// Files that are large or deep beyond reason are refused, and within reason's time.
#[test]
fn hostile_files_are_refused() {
    let catalogue = catalogue();
    let stages = |count: usize| {
        let items: String = (0..count).map(|at| format!("{{stage='s{at}'}},")).collect();
        format!("workflow='w'\nunit=[{items}]")
    };
    let lets: String =
        (0..5_000).map(|at| format!("l{at} = \"l{} and l{}\"\n", at + 1, at + 1)).collect();
    let always = format!(
        "[always]\ncrashed = {{ to = \"again\", widen = [\"{}\"] }}\n{}",
        "x".repeat(400_000),
        (0..5_000)
            .map(|at| format!("[[unit]]\nstage='s{at}'\ntell=['report']\non.told='next'\n"))
            .collect::<String>(),
    );
    let files = [
        "x".repeat((1 << 20) + 1),
        stages(20_000),
        format!("workflow='w'\nunit=[{}]", "{},".repeat(70_000)),
        format!("workflow = {}", "[".repeat(100_000)),
        format!("workflow = \"w\"\n[let]\n{lets}"),
        format!("a{} = 1", ".a".repeat(50_000)),
        format!("workflow = 'w'\n{}", "[[a]]\n".repeat(60_000)),
        format!(
            "workflow = 'w'\n[inputs]\n{}",
            (0..70_000).map(|at| format!("i{at}='flag'\n")).collect::<String>()
        ),
        always,
    ];
    for text in files {
        let start = &text[..text.floor_char_boundary(40)];
        let problems = load(&text, &catalogue).expect_err(start);
        assert!(problems.iter().all(|problem| in_bounds(&text, problem)), "{start}");
        assert!(problems.len() <= 520, "{start}");
    }
}

#[test]
fn more_stages_than_an_index_can_count_are_refused() {
    let text = format!("workflow='w'\nunit=[{}]", "{},".repeat(70_000));
    let problems = load(&text, &catalogue()).unwrap_err();
    let large = problems.iter().find(|problem| problem.code == Code::TooLarge);
    assert_eq!(large.map(|p| p.message.as_str()), Some("there are more than 65535 stages"));
}

/// A cycle over a very long chain of stages is found without recursion.
#[test]
fn a_long_chain_is_walked() {
    let chain: String = (0..8_000)
        .map(|at| format!("[[unit]]\nstage='s{at}'\ntell=['report']\non.told='next'\n"))
        .collect();
    let always = "[always]\ncrashed='pause'\ntimed_out='pause'\n";
    let intake = "[[intake]]\nstage='list'\nread='features'\n[intake.on]\nmissing='end'\nfound={to='end',add={unit='features'}}\ninvalid='end'\n";
    let sound = format!("workflow='w'\n{always}{intake}{chain}");
    assert!(load(&sound, &catalogue()).is_ok());
    let endless = format!("{sound}[[unit]]\nstage='back'\ntell=['report']\non.told='s0'\n");
    let problems = load(&endless, &catalogue()).unwrap_err();
    assert!(problems.iter().any(|problem| problem.code == Code::UnboundedCycle));
}
