use serde_json::Value;

use crate::windlass::{BUILT_IN, json, printed, seen, windlass};

#[test]
fn a_workflow_is_shown_with_where_its_verdicts_lead() {
    insta::assert_snapshot!(seen(&mut windlass(&["workflow", "show", "tests/fixtures/tidy.toml"])), @"
    exit 0
    --- stdout
    tidy  Tidy each file on a list.
    units are files, each started when all it depends on is done; lanes: 2
    digest DIGEST

    inputs
      strict  flag = false

    counters
      attempts  to 3, per unit
      redo      to 2, per stage

    mishaps unless a stage says otherwise
      crashed    → again (counts redo; spent → pause)
      timed_out  → again (counts redo; spent → pause)
      invalid    → pause

    intake 1 stage
      list  read plans-table
        found       → end, adds list.tasks as unit
        old_format  → finish failed
        missing     → finish failed

    unit 4 stages
      tidy  role worker; edits
        done          → prove
        failed        → again (counts attempts; spent → failed)
        unknown       → again (counts redo; spent → pause)
        no_output     → again (counts redo; spent → pause)
        context_full  → pause
        cut_short     → pause
      prove  checks test
        pass     → land
        fail     → tidy (counts attempts; spent → failed)
        skipped  → ask
      ask  gate There are no tests here. Land it unproved?; aside
        yes  → land, waives prove
        no   → failed
      land  land fast-forward; needs prove:pass
        landed    → done
        moved     → prove (counts attempts; spent → failed)
        conflict  → failed
    ");
}

// As long as the page that it looks at.
#[test]
fn every_kind_of_thing_has_a_place() {
    insta::assert_snapshot!(seen(&mut windlass(&["workflow", "show", "tests/fixtures/garden.toml", "--catalogue", "tests/fixtures/roles.toml"])), @r#"
    exit 0
    --- stdout
    garden  Every kind of thing that can be shown, with roles of the user's own.
    units are trees, started one after another, as listed; lanes: gardeners
    digest DIGEST

    inputs
      gardeners  number 1..4 = 1; asks: How many gardeners are there?
      tools      any of saw, ladder = []
      season     spring | autumn = "autumn"

    entries
      prune  starts at prune; requires plan.md, else: Look at the trees first

    counters
      visits  to 9, per run
      climbs  from 1 to 3, per branch

    mishaps unless a stage says otherwise
      crashed       → pause
      timed_out     → pause
      invalid       → pause
      unknown       → pause
      no_output     → pause
      context_full  → pause
      cut_short     → pause

    intake 1 stage
      list  read plans-table
        found       → end, adds list.tasks as unit
        old_format  → finish failed
        missing     → finish failed

    unit 4 stages
      look  role gardener by old-hand, else default; with care = ('gentle' when season == 'spring', else
                 'usual'); shown as LOOKING; records looked_at; entering counts visits, spent → finish
                 stopped; limit 30m
        looked  → agree
        dead    → skipped, records felled
      agree  gate May this tree be pruned?
        concern wild: look.mood == 'wild'
        concern high: look.height > 20
        policy: answers yes when quiet and season == 'autumn', records agreed_by_itself
        yes  → prune (Go ahead; Prune every branch; the default)
        no   → skipped (a reason must be given)
      prune  each branch of look.twigs
        all     → keep
        some    → keep
        none    → failed
        broken  → finish escalated
      keep  save commit; labelled "Prune a tree"; edits
        saved    → done
        nothing  → done

    branch 1 stage
      cut  role pruner; edits; when not branch.thick or 'saw' in tools
        pruned    → done
        too_high  → again (counts climbs; spent → return broken), widens: a stool | a ladder, when
                    'ladder' in tools
                  → failed

    between 1 stage
      rake  tell progress
        told  → end

    finale 1 stage
      sum_up  decide
        fine  → end (when units.failed == 0 and units.skipped == 0)
        poor  → end, outcome failed (else)
    "#);
}

#[test]
fn nothing_in_a_file_reaches_the_terminal_as_a_command() {
    insta::assert_snapshot!(seen(&mut windlass(&["workflow", "show", "tests/fixtures/hostile.toml"])), @r#"
    exit 0
    --- stdout
    hostile  A text that means \u{1b}[31mmischief\u{1b}[0m wherever it is shown.
    units are things, each started when all it depends on is done; lanes: 1
    digest DIGEST

    intake 1 stage
      list  read plans-table
        found       → end, adds list.tasks as unit
        old_format  → finish failed
        missing     → finish failed
        crashed     → pause
        timed_out   → pause
        invalid     → pause

    unit 1 stage
      ask  gate "]; click s0 "javascript:alert(1)" <script>alert(2)</script> `x` | {y} #quot; %% end
        yes  → done, records a "quoted" record (yes end; </text><img src=x onerror=alert(3)>)
        no   → failed (�on; --> s0)
    "#);
}

#[test]
fn every_built_in_workflow_fits_the_terminal() {
    for name in BUILT_IN {
        for width in [40, 80, 100] {
            let output = windlass(&["workflow", "show", name])
                .env("COLUMNS", width.to_string())
                .output()
                .unwrap();
            assert_eq!(output.status.code(), Some(0), "{name}");
            let text = String::from_utf8(output.stdout).unwrap();
            for line in text.lines() {
                assert!(line.chars().count() <= width, "{name} at {width}: {line}");
            }
        }
    }
}

#[test]
fn json_lists_stages_roles_verdicts_gates_and_options() {
    for name in BUILT_IN {
        let (code, shown) = json(&["workflow", "show", name, "--json"]);
        assert_eq!(code, 0);
        for key in ["workflow", "about", "unit", "order", "lanes", "digest"] {
            assert!(shown[key].is_string(), "{name}: {key}");
        }
        for key in ["inputs", "entries", "counters", "roles", "scopes", "stages", "always"] {
            assert!(shown[key].is_array(), "{name}: {key}");
        }
        let stages = shown["stages"].as_array().unwrap();
        let names: Vec<&Value> = stages.iter().map(|stage| &stage["name"]).collect();
        for stage in stages {
            assert!(stage["kind"].is_string() && stage["scope"].is_string(), "{stage}");
            for verdict in stage["verdicts"].as_array().unwrap() {
                let moves = verdict["moves"].as_array().unwrap();
                assert!(!moves.is_empty(), "{stage}");
                for to in moves.iter().filter_map(|one| one.get("to")) {
                    let known = names.contains(&to) || to == "end" || to == "again";
                    assert!(known, "{to} in {stage}");
                }
            }
            if stage["kind"] == "gate" {
                let options = stage["options"].as_array().unwrap();
                assert!(stage["question"].is_string() && !options.is_empty(), "{stage}");
                assert!(options.iter().all(|option| option["label"].is_string()), "{stage}");
            }
        }
    }
}

#[test]
fn json_says_what_the_definition_says() {
    let (_, shown) = json(&["workflow", "show", "tests/fixtures/tidy.toml", "--json"]);
    let stage = |name: &str| {
        let stages = shown["stages"].as_array().unwrap();
        stages.iter().find(|stage| stage["name"] == name).unwrap()
    };
    let moves = |name: &str, verdict: &str| {
        let verdicts = stage(name)["verdicts"].as_array().unwrap();
        verdicts.iter().find(|one| one["name"] == verdict).unwrap()["moves"].clone()
    };
    let spent = serde_json::json!({ "end": "failed" });
    let retry = serde_json::json!([{ "to": "tidy", "count": "attempts", "spent": spent }]);
    assert_eq!(moves("prove", "fail"), retry);
    assert_eq!(moves("ask", "yes"), serde_json::json!([{ "to": "land", "waive": ["prove"] }]));
    assert_eq!(
        stage("land")["needs"],
        serde_json::json!([{ "stage": "prove", "verdicts": ["pass"] }])
    );
    assert_eq!((&stage("tidy")["role"], &stage("tidy")["edits"]), (&"worker".into(), &true.into()));
    assert_eq!(shown["roles"], serde_json::json!(["worker"]));
    assert_eq!(shown["inputs"][0]["default"], false);
}

#[test]
fn an_unknown_name_gets_a_suggestion() {
    insta::assert_snapshot!(seen(&mut windlass(&["workflow", "show", "tsak"])), @"
    exit 2
    --- stderr
    error: there is no built-in workflow called `tsak`
     |
     = help: did you mean `task`?
    ");
}

#[test]
fn an_unknown_name_that_resembles_nothing_is_told_where_to_look() {
    insta::assert_snapshot!(seen(&mut windlass(&["workflow", "show", "deploy"])), @"
    exit 2
    --- stderr
    error: there is no built-in workflow called `deploy`
     |
     = help: `windlass workflow list` names them; a file is given by a name that ends in .toml
    ");
}

#[test]
fn a_missing_file_is_named_with_its_cause() {
    insta::assert_snapshot!(seen(&mut windlass(&["workflow", "show", "no/such.toml"])), @"
    exit 1
    --- stderr
    error: cannot read no/such.toml
     |
     = cause: No such file or directory (os error 2)
     = help: is the path right, as seen from here?
    ");
}

#[test]
fn two_forms_at_once_are_refused() {
    assert_eq!(printed(&["workflow", "show", "task", "--mermaid", "--json"]).0, 2);
}
