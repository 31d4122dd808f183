use std::path::Path;

use serde_json::Value;

use crate::windlass::{BUILT_IN, json, printed, seen, windlass};

const TIDY: &str = "tests/fixtures/tidy.toml";

#[test]
fn what_would_happen_if_the_proof_failed_too_often() {
    insta::assert_snapshot!(seen(&mut windlass(&["workflow", "simulate", "tests/fixtures/tidy.toml", "--set", "prove=fail,fail,fail,fail"])), @"
    exit 0
    --- stdout
    tidy: an imaginary run in which all goes well but what --set says
    inputs  all at their defaults

    intake
      list   read    found → end; adds 1 file (tasks)
    file tasks-0 in lane 1
      tidy   role    done → prove
      prove  checks  fail → tidy (attempts 1 of 3)
      tidy   role    done → prove
      prove  checks  fail → tidy (attempts 2 of 3)
      tidy   role    done → prove
      prove  checks  fail → tidy (attempts 3 of 3)
      tidy   role    done → prove
      prove  checks  fail → failed, as attempts (3 of 3) is spent

    The run ended done, exit code 0.
    1 file: 1 failed; 0 landings; 4 agent invocations; 5 other effects; 0 answers; 40 events.

    Steer it:
      --set tidy=failed                   what tidy comes to, each time it runs
      --seed 1                            let chance decide
      --runs 1000                         sum up a thousand random runs
    ");
}

/// What happens in a run that only `--set` steers: what is printed between the heading and the
/// hints, which are as above but for their names.
#[track_caller]
fn story(args: &[&str], hint: &str) -> String {
    let seen = seen(&mut windlass(&[&["workflow", "simulate"], args].concat()));
    let workflow = Path::new(args[0]).file_stem().and_then(|name| name.to_str()).expect("a name");
    let stage = hint.split('=').next().expect("a stage");
    let heading = format!(
        "exit 0\n--- stdout\n{workflow}: an imaginary run in which all goes well but what --set says\n"
    );
    let hints = format!(
        "\nSteer it:\n  --set {hint:<30}what {stage} comes to, each time it runs\n  \
         --seed 1                            let chance decide\n  \
         --runs 1000                         sum up a thousand random runs\n"
    );
    let story = seen.strip_prefix(&heading).and_then(|rest| rest.strip_suffix(&hints));
    story.unwrap_or_else(|| panic!("not between\n{heading}and\n{hints}but\n{seen}")).to_owned()
}

#[test]
fn a_gate_is_shown_with_its_options_and_the_answer() {
    insta::assert_snapshot!(story(&[TIDY, "--set", "prove=skipped", "--set", "ask=no", "--set", "strict=yes"], "tidy=failed"), @"
    inputs  strict = true; all others at their defaults

    intake
      list   read    found → end; adds 1 file (tasks)
    file tasks-0 in lane 1
      tidy   role    done → prove
      prove  checks  skipped → ask
      ask    gate    There are no tests here. Land it unproved?
                     yes
                     no
      ask    gate    somebody answers no → failed

    The run ended done, exit code 0.
    With nobody at hand it would have exited before: 8 (waiting for a person's answer).
    1 file: 1 failed; 0 landings; 1 agent invocation; 2 other effects; 1 answer; 21 events.
    ");
}

#[test]
fn children_policies_and_entering_are_told() {
    insta::assert_snapshot!(story(&["tests/fixtures/garden.toml", "--catalogue", "tests/fixtures/roles.toml", "--set", "tools=ladder", "--set", "cut=too_high,too_high,pruned"], "look=dead"), @"
    inputs  tools = [ladder]; all others at their defaults

    intake
      list    read    found → end; adds 1 tree (tasks)
    tree tasks-0 in lane 1
      look    role    looked → agree (visits 1 of 9 on entering); records looked_at
      agree   gate    May this tree be pruned?
      agree   gate    the workflow's policy answers yes → prune; records agreed_by_itself
      prune   each    begins
      branch 1
        cut     role    too_high → again (climbs 2 of 3); with more context: a stool
        cut     role    too_high → again (climbs 3 of 3); with more context: a ladder
        cut     role    pruned → done
      prune   each    all → keep
      keep    save    saved → done
    between, after tasks-0
      rake    tell    told → end
    finale
      sum_up  decide  fine → end

    The run ended done, exit code 0.
    1 tree: 1 done; 0 landings; 4 agent invocations; 3 other effects; 0 answers; 39 events.
    ");
}

#[test]
fn a_halted_run_is_taken_up_again_by_its_person() {
    insta::assert_snapshot!(story(&[TIDY, "--set", "tidy=crashed,crashed,crashed,done"], "prove=fail,fail"), @"
    inputs  all at their defaults

    intake
      list   read    found → end; adds 1 file (tasks)
    file tasks-0 in lane 1
      tidy   role    crashed → again (redo 1 of 2)
      tidy   role    crashed → again (redo 2 of 2)
      tidy   role    crashed → pause, as redo (2 of 2) is spent
    somebody resumes the run
      tidy           goes on
      tidy   role    done → prove
      prove  checks  pass → land
      land   land    landed → done

    The run ended done, exit code 0.
    With nobody at hand it would have exited before: 3 (escalated: a person must look before it can go
    on).
    1 file: 1 done; 1 landing; 4 agent invocations; 3 other effects; 0 answers; 33 events.
    ");
}

#[test]
fn words_that_were_not_needed_are_named() {
    let (_, text) = printed(&[
        "workflow",
        "simulate",
        TIDY,
        "--set",
        "prove=pass,fail,fail",
        "--set",
        "ask=no",
    ]);
    assert!(text.contains("prove came up once: it was not asked for fail,fail."), "{text}");
    assert!(text.contains("ask never came up: it was not asked for no."), "{text}");
}

#[test]
fn a_seed_gives_the_same_run_every_time() {
    let told = |seed| printed(&["workflow", "simulate", TIDY, "--seed", seed]);
    let (code, first) = told("4");
    assert_eq!(code, 0);
    assert!(first.starts_with("tidy: an imaginary run of seed 4\n"), "{first}");
    let digest = first.lines().last().unwrap().strip_prefix("journal digest ").unwrap();
    assert!(digest.len() == 64 && digest.chars().all(|c| c.is_ascii_hexdigit()), "{digest}");
    assert_eq!(told("4").1, first);
    assert!(!told("5").1.contains(digest));
}

#[test]
fn an_unknown_key_gets_a_suggestion() {
    insta::assert_snapshot!(seen(&mut windlass(&["workflow", "simulate", "task", "--set", "verifyng=fail"])), @"
    exit 2
    --- stderr
    error: `verifyng` is neither an input nor a stage of task
     |
     = help: did you mean `verifying`?
    ");
}

#[test]
fn an_unknown_key_that_resembles_nothing_is_told_where_to_look() {
    insta::assert_snapshot!(seen(&mut windlass(&["workflow", "simulate", "task", "--set", "colour=red"])), @"
    exit 2
    --- stderr
    error: `colour` is neither an input nor a stage of task
     |
     = help: `windlass workflow show task` names its inputs and stages
    ");
}

#[test]
fn where_to_look_is_given_as_it_was_typed() {
    insta::assert_snapshot!(seen(&mut windlass(&["workflow", "simulate", TIDY, "--set", "colour=red"])), @"
    exit 2
    --- stderr
    error: `colour` is neither an input nor a stage of tidy
     |
     = help: `windlass workflow show tests/fixtures/tidy.toml` names its inputs and stages
    ");
}

#[test]
fn an_input_is_set_once() {
    let twice = ["workflow", "simulate", "task", "--set", "mode=single", "--set", "mode=multi"];
    insta::assert_snapshot!(seen(&mut windlass(&twice)), @"
    exit 2
    --- stderr
    error: the input `mode` is set twice
     |
     = help: an input has one value; a stage may be given more words each time
    ");
}

#[test]
fn seeds_do_not_begin_anew_past_the_last() {
    let last = u64::MAX.to_string();
    let runs = |runs| windlass(&["workflow", "simulate", TIDY, "--seed", &last, "--runs", runs]);
    assert_eq!(runs("1").output().unwrap().status.code(), Some(0));
    insta::assert_snapshot!(seen(&mut runs("2")), @"
    exit 2
    --- stderr
    error: there are no 2 seeds from 18446744073709551615 on
     |
     = help: start at a smaller seed
    ");
}

#[test]
fn a_value_that_an_input_cannot_be_is_refused_with_what_it_may_be() {
    insta::assert_snapshot!(seen(&mut windlass(&["workflow", "simulate", "task", "--set", "mode=turbo"])), @"
    exit 2
    --- stderr
    error: the input `mode` cannot be `turbo`
     |
     = help: it is one of standard, single, multi
    ");
}

#[test]
fn a_verdict_that_a_stage_never_gives_is_refused_with_those_it_gives() {
    insta::assert_snapshot!(seen(&mut windlass(&["workflow", "simulate", "tests/fixtures/tidy.toml", "--set", "prove=pass,fial"])), @"
    exit 2
    --- stderr
    error: the stage `prove` never comes to `fial`
     |
     = help: did you mean `fail`? it may come to pass, fail, skipped, crashed, timed_out
    ");
}

#[test]
fn a_stage_that_nothing_outside_decides_cannot_be_set() {
    insta::assert_snapshot!(seen(&mut windlass(&["workflow", "simulate", "task", "--set", "plan_done=halt"])), @"
    exit 2
    --- stderr
    error: the verdict of `plan_done` cannot be set: it follows from its cases alone
     |
     = help: set the inputs it looks at, or the verdicts of the stages before it
    ");
}

#[test]
fn an_answer_that_is_not_offered_at_that_moment_is_the_persons_mistake() {
    let fails = format!("verifying={}", ["fail"; 8].join(","));
    let mut simulate = windlass(&[
        "workflow",
        "simulate",
        "task",
        "--set",
        &fails,
        "--set",
        "verify_gate=autofix,autofix",
    ]);
    let output = simulate.output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("\"autofix\" is not an option here"), "{stderr}");
    assert!(String::from_utf8(output.stdout).unwrap().contains("layer1 (3 of 3) is spent"));
}

#[test]
fn numbers_that_make_no_sense_are_usage_errors() {
    for args in
        [["--runs", "0"], ["--runs", "-1"], ["--runs", "many"], ["--seed", "-1"], ["--seed", "x"]]
    {
        let output = windlass(&["workflow", "simulate", TIDY, args[0], args[1]]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn one_run_as_json_has_its_end_and_its_steps() {
    let (code, run) =
        json(&["workflow", "simulate", TIDY, "--json", "--set", "prove=fail,fail,fail,fail"]);
    assert_eq!(code, 0, "an imaginary failure is none of ours");
    assert_eq!((&run["workflow"], &run["calm"]), (&"tidy".into(), &true.into()));
    assert_eq!((&run["ended"], &run["exit_code"]), (&"done".into(), &0.into()));
    assert_eq!(run["units"], serde_json::json!([{ "id": "tasks-0", "status": "failed" }]));
    assert_eq!(run["journal_digest"].as_str().unwrap().len(), 64);
    let spent: Vec<&Value> = run["steps"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|step| step.get("spent").is_some())
        .collect();
    let expected = serde_json::json!({ "counter": "attempts", "value": 3, "max": 3 });
    assert_eq!(spent.len(), 1);
    assert_eq!((&spent[0]["stage"], &spent[0]["verdict"]), (&"prove".into(), &"fail".into()));
    assert_eq!((&spent[0]["end"], &spent[0]["spent"]), (&"failed".into(), &expected));
}

#[test]
fn the_same_seeds_give_the_same_totals() {
    let totals = |args: &[&str]| {
        let (code, mut totals) = json(args);
        assert_eq!(code, 0);
        for varying in ["seconds", "runs_per_second"] {
            assert!(totals.as_object_mut().unwrap().remove(varying).unwrap().is_number());
        }
        totals
    };
    let args = ["workflow", "simulate", TIDY, "--runs", "50", "--seed", "1", "--json"];
    let first = totals(&args);
    assert_eq!(first, totals(&args));
    assert_eq!((&first["runs"], &first["failures"]), (&50.into(), &serde_json::json!([])));
    let ends = first["ends"].as_object().unwrap();
    assert_eq!(ends.values().map(|times| times.as_u64().unwrap()).sum::<u64>(), 50, "{ends:?}");
    assert!(first["reached"].is_object() && first["not_reached"].is_array());
    let other = ["workflow", "simulate", TIDY, "--runs", "50", "--seed", "51", "--json"];
    assert_ne!(first["events"], totals(&other)["events"]);
}

#[test]
fn totals_say_how_runs_ended_and_what_none_of_them_reached() {
    let (code, text) = printed(&["workflow", "simulate", TIDY, "--runs", "3"]);
    assert_eq!(code, 0);
    for part in [
        "tidy: 3 runs, seeds 1 to 3",
        "ended ",
        "events ",
        "reached ",
        "not reached: verdict",
        "invariants  all held",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn every_built_in_workflow_can_be_walked_through() {
    for name in BUILT_IN {
        let (code, text) = printed(&["workflow", "simulate", name]);
        assert_eq!(code, 0, "{text}");
        assert!(text.contains("The run ended "), "{text}");
        let (code, text) = printed(&["workflow", "simulate", name, "--seed", "7"]);
        assert_eq!(code, 0, "{text}");
        assert!(text.contains("journal digest "), "{text}");
    }
}

#[test]
fn a_narrow_terminal_is_not_overrun() {
    for width in [40, 60, 80] {
        let mut simulate = windlass(&["workflow", "simulate", "autopilot"]);
        let output = simulate.env("COLUMNS", width.to_string()).output().unwrap();
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
    }
}
