//! The final review, what is told in the end, and the files that stay.

use std::fs;

use serde_json::{Value, json};

use crate::pilot::{CONFIG, Pilot, SHORT, SPEC, says};
use crate::scratch::ended;

#[test]
fn who_is_asked_about_a_pull_request_sees_it() {
    let config = CONFIG.replace("[policies.no-pr]\nstage = 'offer_pr'\nanswer = 'no'\n", "");
    let script = says(
        "role = 'code-reviewer'\nunit = '1'",
        "verdict = 'blocking', findings = [{ severity = 'blocking', title = 'It leaks' }]",
        &[],
    );
    let pilot = Pilot::with(SHORT, &script, &[("windlass.toml", config.as_str())]);
    assert_eq!(pilot.run(&["autopilot", "spec.md"]).0, Some(8));
    assert_eq!(pilot.answer(&["override"]).0, Some(8));
    let (_, gates) = pilot.run(&["gates"]);
    for line in [
        "Create a PR?",
        "Title: Things",
        "## Findings that were overridden",
        "Phase 1: [blocking] It leaks",
    ] {
        assert!(gates.contains(line), "{line}: {gates}");
    }
}

#[test]
fn a_final_review_that_blocks_is_fixed_validated_and_landed() {
    // The final review has no unit.
    let mut script = says(
        "role = 'code-reviewer'\nunit = ''\nattempt = 1",
        "verdict = 'blocking', blocking_count = 1, findings = [{ severity = 'blocking', title = 'Twice the same' }], blockers = [{ id = 'x', title = 'Twice the same' }]",
        &[],
    );
    script +=
        &says("role = 'task-executor'\nunit = ''", "verdict = 'done'", &[("fixed.txt", "good")]);
    let pilot = Pilot::new(SHORT, &script);
    assert_eq!(pilot.run(&["autopilot", "spec.md"]).0, Some(8));
    let (_, gates) = pilot.run(&["gates"]);
    assert!(gates.contains("Address blocking findings before completing?"), "{gates}");
    let (code, said) = pilot.answer(&["fix"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(pilot.scratch.landed()["fixed.txt"], "good");
    let review = &pilot.state()["finalReview"];
    assert_eq!((&review["status"], &review["retryCount"]), (&json!("passed"), &json!(1)));
}

#[test]
fn files_are_written_from_the_journal_and_can_be_written_anew() {
    let pilot = Pilot::new(SHORT, "");
    assert_eq!(pilot.run(&["autopilot", "spec.md"]).0, Some(0));
    let dir = ".harness/sessions/spec";
    let names =
        ["autopilot-state.json", "state.json", "handoff.json", "phase-1-review.json", "summary.md"];
    let before: Vec<_> =
        names.iter().map(|name| pilot.file(&format!("{dir}/{name}")).unwrap()).collect();
    let plan = pilot.plan("alpha");
    fs::remove_dir_all(pilot.scratch.repo().join(".harness/sessions")).unwrap();
    fs::remove_file(pilot.scratch.repo().join(&plan)).unwrap();
    assert_eq!(pilot.run(&["project"]).0, Some(0));
    let json = pilot.scratch.windlass(&["project", "--json"]).output().unwrap();
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json, json!({ "run": "autopilot-1", "remarks": [] }));
    for (name, text) in names.iter().zip(before) {
        assert_eq!(pilot.file(&format!("{dir}/{name}")).unwrap(), text, "{name}");
    }
    assert!(pilot.file(&plan).is_some());
    // An edit is noticed, kept, and does not count.
    let state = format!("{dir}/autopilot-state.json");
    pilot.write(&state, "{}");
    let (code, said) = pilot.run(&["project"]);
    assert_eq!(code, Some(0));
    assert!(said.contains("autopilot-state.json.aside-1"), "{said}");
    assert_eq!(pilot.state()["currentState"], "DONE");
}

#[test]
fn the_roadmap_moves_forward_one_word_at_a_time() {
    let roadmap = "# Roadmap\n\n## Now\n\n### Things\n\n- **Status:** planned\n- **Spec:** spec.md\n\n### Other\n\n- **Status:** planned\n";
    let pilot = Pilot::with(SPEC, "", &[]);
    pilot.write("docs/roadmap.md", roadmap);
    assert_eq!(pilot.run(&["autopilot", "spec.md"]).0, Some(0));
    let now = pilot.file("docs/roadmap.md").unwrap();
    assert_eq!(now, roadmap.replacen("planned", "done", 1));
    // What a person set is never taken back.
    let pilot = Pilot::with(SPEC, "", &[]);
    let own = roadmap.replacen("planned", "parked by Ada", 1);
    pilot.write("docs/roadmap.md", &own);
    assert_eq!(pilot.run(&["autopilot", "spec.md"]).0, Some(0));
    assert_eq!(pilot.file("docs/roadmap.md").unwrap(), own);
}

#[test]
fn a_pull_request_is_opened_by_the_persons_own_program_or_written_down() {
    let config = "[agents.acted]\nkind = 'scripted'\nscript = 'script.toml'\n[roles]\ndefault = 'acted'\n\
                  [checks]\nvalidate = 'sh check.sh'\n[policies.go-on]\nstage = 'go_on'\nanswer = 'yes'\n";
    for (fails, want) in
        [(false, "https://example.org/pull/1"), (true, "gh pr create --title 'Things' --body-file")]
    {
        let pilot = Pilot::with(SHORT, "", &[("windlass.toml", config)]);
        let bin = pilot.scratch.path("bin");
        fs::create_dir(&bin).unwrap();
        let gh = bin.join("gh");
        let script = format!(
            "#!/bin/sh\necho \"$@\" > '{}'\n{}\necho https://example.org/pull/1\n",
            pilot.scratch.path("asked").display(),
            if fails { "exit 1" } else { "" }
        );
        fs::write(&gh, script).unwrap();
        std::process::Command::new("chmod").arg("+x").arg(&gh).status().unwrap();
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        assert_eq!(pilot.run(&["autopilot", "spec.md"]).0, Some(8));
        // Nothing is opened before somebody asks for it.
        assert!(!pilot.scratch.path("asked").exists());
        let gates = pilot.scratch.windlass(&["gates", "--json"]).output().unwrap();
        let gates: Value = serde_json::from_slice(&gates.stdout).unwrap();
        let id = gates["gates"][0]["id"].as_str().unwrap();
        assert_eq!(pilot.run(&["answer", id, "yes"]).0, Some(0));
        let (code, said) = ended(pilot.autopilot(&[]).env("PATH", &path).output().unwrap());
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains(want), "{said}");
        let asked = fs::read_to_string(pilot.scratch.path("asked")).unwrap();
        assert!(asked.contains("pr create --title Things"), "{asked}");
        let body = pilot.file(".harness/sessions/spec/pull-request.md").unwrap();
        assert!(body.contains("## Phase 1: Alpha (complete)"), "{body}");
    }
}

#[test]
fn the_final_review_looks_at_everything_that_has_landed() {
    let seen = tempfile::tempdir().unwrap();
    let tell = |who: &str| {
        format!("echo \"{who} $(ls *.txt | tr '\\n' ' ')\" >> '{}/seen'", seen.path().display())
    };
    let reviewer = format!(
        "cat > /dev/null\n{}\necho '{{\"verdict\":\"clear\",\"blocking_count\":0,\"warning_count\":0,\"note_count\":0}}'\n",
        tell("reviewer")
    );
    let config = format!(
        "[sandbox]\nwrite = ['{}']\n\
         [agents.reviewer]\nkind = 'command'\ncommand = ['sh', 'reviewer.sh']\ncost = 'none'\n{CONFIG}",
        seen.path().display()
    )
    .replace("[roles]\n", "[roles]\ncode-reviewer = 'reviewer'\n");
    let check = format!("{}\n", tell("check"));
    let files = [
        ("reviewer.sh", reviewer.as_str()),
        ("windlass.toml", config.as_str()),
        ("check.sh", check.as_str()),
    ];
    let pilot = Pilot::with(SPEC, "", &files);
    let (code, said) = pilot.run(&["autopilot", "spec.md"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains("the branch has moved"), "{said}");
    let seen = fs::read_to_string(seen.path().join("seen")).unwrap();
    let last = seen.lines().rev().take(2).collect::<Vec<_>>();
    let all = "phase-1.txt phase-2.txt";
    assert_eq!(last, [format!("reviewer {all} "), format!("check {all} ")], "{seen}");
}

#[test]
fn a_roadmap_that_a_person_changes_meanwhile_is_theirs() {
    let config = CONFIG.replace("[policies.go-on]\nstage = 'go_on'\nanswer = 'yes'\n", "");
    let pilot = Pilot::with(SPEC, "", &[("windlass.toml", config.as_str())]);
    let roadmap = |status: &str| {
        format!("# Roadmap\n\n### Things\n\n- **Status:** {status}\n- **Spec:** spec.md\n")
    };
    pilot.write("docs/roadmap.md", &roadmap("planned"));
    assert_eq!(pilot.run(&["autopilot", "spec.md"]).0, Some(8));
    assert_eq!(pilot.file("docs/roadmap.md").unwrap(), roadmap("in-progress"));
    let theirs = format!("{}\nRemember the milk.\n", roadmap("blocked"));
    pilot.write("docs/roadmap.md", &theirs);
    let (code, said) = pilot.answer(&["yes"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(pilot.file("docs/roadmap.md").unwrap(), theirs);
}
