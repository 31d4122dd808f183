//! Whole runs of the five built-in workflows, and of the one for earlier sessions, by the thousand, under the auditor's eyes.

#[path = "../seeds/built_in.rs"]
mod built_in;

use built_in::built_in;
use windlass_core::run::{Run, fold_with};
use windlass_sim::{Choices, Plan, campaign, drive, journal_bytes, shrink};

/// Runs of each workflow: 2,000 unless `WINDLASS_SIM_RUNS` says otherwise (`scripts/mutants` makes
/// do with fewer for each mutant). `windlass workflow simulate NAME --runs 100000` is the long form.
fn runs() -> u64 {
    match std::env::var("WINDLASS_SIM_RUNS") {
        Ok(runs) => {
            runs.parse().unwrap_or_else(|_| panic!("WINDLASS_SIM_RUNS={runs} is no number"))
        }
        Err(_) => 2_000,
    }
}

/// Simulates runs, and shows the first failure as small as it can be made.
#[track_caller]
fn simulate(name: &str, text: &str) {
    let flow = built_in(text);
    let runs = runs();
    let totals = campaign(&flow, &Plan::default(), 0..runs);
    if let Some((seed, violation)) = totals.failures.first() {
        let failing = drive(&flow, &Plan::default(), Choices::from_seed(*seed));
        let small = shrink(&flow, &Plan::default(), failing);
        let story: Vec<String> = small
            .iter()
            .flat_map(|small| &small.journal)
            .map(|recorded| format!("{} {:?}", recorded.seq, recorded.event))
            .skip(1)
            .collect();
        panic!(
            "{} of {runs} runs broke an invariant; seed {seed}: {violation}\nshrunk:\n{}\n\
             rerun with: windlass workflow simulate {name} --seed {seed}",
            totals.failures.len(),
            story.join("\n"),
        );
    }
    assert_eq!(totals.runs, runs);
    assert!(totals.landings > 0, "some runs land something");
}

/// Crash-and-fold after every single input yields the same journal, byte for byte, and so does
/// the same seed again.
#[track_caller]
fn forgetful(text: &str) {
    let flow = built_in(text);
    let amnesia = Plan { amnesia: true, ..Plan::default() };
    for seed in 0..40 {
        let plain = drive(&flow, &Plan::default(), Choices::from_seed(seed));
        let again = drive(&flow, &Plan::default(), Choices::from_seed(seed));
        let forgot = drive(&flow, &amnesia, Choices::from_seed(seed));
        assert_eq!(forgot.violation, None, "seed {seed}");
        let bytes = |outcome: &windlass_sim::Outcome| {
            journal_bytes(&outcome.journal).unwrap_or_else(|error| panic!("{error}"))
        };
        assert_eq!(bytes(&plain), bytes(&again), "seed {seed} twice");
        assert_eq!(bytes(&plain), bytes(&forgot), "seed {seed} with a crash after every input");
    }
}

/// A run that was written down and read back is the same run, wherever it stood.
#[track_caller]
fn written_down(text: &str) {
    let flow = built_in(text);
    for seed in 0..12 {
        let journal = drive(&flow, &Plan::default(), Choices::from_seed(seed)).journal;
        for at in (1..=journal.len()).step_by(37) {
            let run = fold_with(flow.clone(), &journal[..at]).expect("folds");
            let bytes = rmp_serde::to_vec_named(&run).expect("written");
            let read: Run = rmp_serde::from_slice(&bytes).expect("read");
            assert_eq!(read, run, "seed {seed} after {at} events");
        }
    }
}

macro_rules! built_ins {
    ($($name:ident = $file:literal),* $(,)?) => {$(
        mod $name {
            const TEXT: &str =
                include_str!(concat!("../../../../workflows/", $file, ".toml"));

            mod slow {
                #[test]
                fn runs_keep_every_invariant() {
                    crate::simulate($file, super::TEXT);
                }
            }

            #[test]
            fn a_snapshot_is_as_good_as_the_journal() {
                super::written_down(TEXT);
            }

            #[test]
            fn crash_and_fold_yields_the_same_journal() {
                super::forgetful(TEXT);
            }
        }
    )*};
}

built_ins!(
    autopilot = "autopilot",
    task = "task",
    task_v1 = "task-v1",
    mission = "mission",
    issues = "issues",
    work = "work",
);
