//! How a mission is to be run, as `.harness/config.json` and flags say: what is taken from them, and what a person is told that
//! changes nothing or could not be done (M3, M5).

use serde_json::json;

use super::rig::{CONFIG, CONTRACT, Feature, QUEUE, Rig, contract, feature, queue, val};

const SETTINGS: &str = ".harness/config.json";

fn hi() -> [Feature; 1] {
    [feature("F-HI")]
}

/// What a doctor finds of missions here.
fn doctor(rig: &Rig) -> String {
    let output = rig.scratch.windlass(&["doctor"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter(|line| line.contains(" mission ")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn what_the_projects_file_says_in_vain_is_told_at_the_start() {
    let settings = r#"{"branchIsolation": {"enable": false}, "costCapUsd": 5, "smokeTest": {"command": "sh smoke.sh"}}"#;
    let mut rig = Rig::unplanned(&hi(), "", &[(SETTINGS, settings)]);
    rig.ends(&["--plan-only"], 0);
    let told = [
        "`branchIsolation.enable` means nothing to Windlass and changes nothing; did you mean `enabled`?",
        "`costCapUsd` means nothing to Windlass and changes nothing; what a run may cost is `run = { dollars = … }` below `[budget]`",
        "`smokeTest.command`, and commands are taken from windlass.toml alone, as it is committed: add `smoke = \"sh smoke.sh\"`",
    ];
    let doctor = doctor(&rig);
    for said in told {
        rig.saw(said);
        assert!(doctor.contains(said), "{said}: {doctor}");
    }
    // Where there is nothing to be said, nothing is.
    rig.write(SETTINGS, r#"{"branchIsolation": {"enabled": false}, "documenter": true}"#);
    rig.told.clear();
    rig.ends(&[], 0);
    assert!(!rig.told.contains("config.json"), "{}", rig.told);
}

#[test]
fn what_is_run_is_what_windlass_toml_says() {
    let settings = r#"{"smokeTest": {"command": "touch taken; exit 1"}}"#;
    let config = format!("{CONFIG}smoke = 'true'\n");
    let files = [(SETTINGS, settings), ("windlass.toml", config.as_str())];
    let mut rig = Rig::with(&hi(), "", &files);
    rig.ends(&[], 0);
    rig.saw("`smokeTest.command` of .harness/config.json (`touch taken; exit 1`) is not run: `smoke` below `[checks]` in windlass.toml is");
    let smoke = rig.scratch.notes("checked");
    let smoke: Vec<_> = smoke.iter().filter(|it| it["name"] == "smoke").collect();
    assert!(smoke.iter().all(|it| it["command"] == "true" && it["came"] == "pass"), "{smoke:?}");
    assert_eq!(smoke.len(), 2, "as it lands, and at the end");
    assert!(!rig.scratch.repo().join("taken").exists());
}

#[test]
fn a_checkpoint_has_the_name_that_it_was_given() {
    let settings = r#"{"checkpoints": {"types": [{"name": "Legal/look at it", "triggerOn": "pre-merge"}, {"triggerOn": "pre-done"}]}}"#;
    let mut rig = Rig::with(&hi(), "", &[(SETTINGS, settings)]);
    rig.ends(&[], 8);
    rig.saw("Checkpoint Legal/look at it: merge feature F-HI: Build F-HI?");
    let paper = rig.file(".harness/checkpoints/legal-look-at-it-F-HI.md").unwrap();
    assert!(paper.starts_with("# Checkpoint Legal/look at it\n"), "{paper}");
    assert_eq!(rig.answers("merge_grant", &["grant"]), Some(8), "{}", rig.told);
    // One without is called by when it fires.
    rig.saw("Checkpoint pre-done: every feature is settled.");
    assert!(
        rig.file(".harness/checkpoints/pre-done.md").unwrap().contains("1 passed of 1 features")
    );
    assert_eq!(rig.answers("done_grant", &["grant"]), Some(0), "{}", rig.told);
}

#[test]
fn a_step_that_would_run_nothing_says_what_to_add() {
    let told = [
        (
            "smoke",
            "the step `smoke` runs nothing: add `smoke = \"…\"` below `[checks]` in windlass.toml",
        ),
        ("ui-qa", "the step `ui-qa`: nothing says how the app is started"),
        (
            "ui-qa",
            "the step `ui-qa`: no assertion of .harness/validation-contract.md has a line `ui:`",
        ),
        (
            "crosscheck",
            "the step `crosscheck`: `acted` looks at what `acted` has built, which are the same eyes",
        ),
    ];
    for plan_only in [true, false] {
        for (step, said) in told {
            let mut rig = Rig::unplanned(&hi(), "", &[]);
            let mut args = vec!["--step", step];
            args.extend(plan_only.then_some("--plan-only"));
            rig.ends(&args, 0);
            let times = rig.told.matches(said).count();
            assert_eq!(times, 1, "{step}, once: {}", rig.told);
        }
        let mut rig = Rig::unplanned(&hi(), "", &[]);
        rig.ends(&if plan_only { vec!["--plan-only"] } else { vec![] }, 0);
        assert!(!rig.told.contains("the step `"), "nobody asked for one: {}", rig.told);
    }
    // Who reads only what the doctor says knows as much of what the project's file wants.
    let settings = r#"{"smokeTest": true, "uiQa": true, "crosscheck": true}"#;
    let rig = Rig::unplanned(&hi(), "", &[(SETTINGS, settings)]);
    let doctor = doctor(&rig);
    for (_, said) in told.into_iter().filter(|(_, said)| !said.contains("ui:")) {
        assert!(doctor.contains(said), "{said}: {doctor}");
    }
}

#[test]
fn a_step_that_can_be_taken_is_not_complained_about() {
    let config = "[agents.acted]\nkind = 'scripted'\nscript = 'script.toml'\n[agents.other]\nkind = 'scripted'\nscript = 'script.toml'\n\
                  [roles]\ndefault = 'acted'\ncrosscheck = 'other'\n[checks]\ntest = 'sh test.sh'\nsmoke = 'true'\nserve = 'true'\n";
    let mut rig = Rig::with(&hi(), "", &[("windlass.toml", config)]);
    rig.write(
        CONTRACT,
        &format!("- {}: a person sees it\n  file: `hi.txt` exists\n  ui: open /\n", val("F-HI")),
    );
    rig.ends(&["--plan-only", "--step", "smoke", "--step", "ui-qa", "--step", "crosscheck"], 0);
    assert!(!rig.told.contains("the step `"), "{}", rig.told);
}

/// It would be written back with more in it, and never be read again.
#[test]
fn a_queue_that_would_get_too_long_begins_nothing_and_a_long_one_does() {
    let long = |bytes: usize| {
        let mut features = vec![feature("F-HI")];
        for at in 0..8 {
            let mut more = feature(&format!("F-{at}"));
            more.more.insert("status".into(), json!("skipped"));
            more.more.insert("notes".into(), json!("x".repeat(bytes / 8)));
            features.push(more);
        }
        queue(&features)
    };
    let mut rig = Rig::of(&hi(), "");
    rig.write(CONTRACT, &contract(&hi()));
    let theirs = long((32 << 20) - 4_000);
    rig.write(QUEUE, &theirs);
    rig.ends(&[], 2);
    rig.saw("and at most 33554432 are read: make it shorter");
    assert!(rig.file(QUEUE).as_deref() == Some(theirs.as_str()), "nobody touched it");
    // More than was read once.
    rig.write(QUEUE, &long(5 << 20));
    rig.ends(&[], 0);
    assert_eq!(rig.feature("F-HI")["status"], "passed");
    rig.ends(&[], 0);
    rig.saw("there is nothing to do");
}

#[test]
fn each_decision_is_told_with_what_led_to_it() {
    let mut rig = Rig::of(&hi(), &super::rig::builds("F-HI", Some(1), "bad\n"));
    rig.ends(&["--checkpoint", "pre-done"], 8);
    assert_eq!(rig.answers("done_grant", &["grant"]), Some(0), "{}", rig.told);
    for args in [vec!["log"], vec!["log", "--full"]] {
        let output = rig.scratch.windlass(&args).output().unwrap();
        let log = String::from_utf8(output.stdout).unwrap();
        for said in [
            "F-HI: worker: NEXT_WORKER (look: open)",
            "F-HI: worker: NEXT_WORKER (prove: fail)",
            "F-HI: validator: NEXT_VALIDATOR (prove: pass)",
            "done_checkpoint: CHECKPOINT (settled: all)",
            "all_done: DONE (final_contract: pass)",
        ] {
            let times = log.lines().filter(|line| *line == said).count();
            assert_eq!(times, 1, "{said}: {log}");
        }
    }
}
