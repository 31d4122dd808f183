//! What roles note, what a curator makes of it, and what a person sees and takes back.

use std::fs;

use serde_json::Value;

use crate::scratch::{Scratch, fixture};

const SCRIPT: &str = r#"
[[answer]]
role = "worker"
unit = "hello"
write = { "hello.txt" = "hello\n" }
say = { verdict = "done", memory = ["TRICK: Use --offline.", "the key is hush-hush-12\nand # Now"] }
[[answer]]
role = "worker"
unit = "bye"
write = { "bye.txt" = "bye\n" }
say = { verdict = "done", memory = ["TRICK: use `--offline`", "TRICK: only once"] }
[[answer]]
role = "reviewer"
say = { verdict = "clear", memory = ["not asked to note anything, and heard all the same"] }
[[answer]]
role = "curator"
[answer.say]
verdict = "curated"
summary = "- hello and bye are said"
long = "Both wanted the registry."
promote = [
  { role = "worker", text = "Use --offline.", features = ["hello", "bye"] },
  { role = "worker", text = "only once", features = ["hello", "bye"] },
]
"#;

/// The small workflow, with a curator at its end.
fn scratch() -> Scratch {
    let flow = format!(
        "{}\n[[finale]]\nstage = 'curate'\nrole = 'curator'\non = {{ curated = 'end' }}\n",
        fixture("small.toml")
    );
    let catalogue = fixture("small-catalogue.toml").replace(
        "verdicts = [\"done\", \"failed\"]",
        "verdicts = [\"done\", \"failed\"]\nmemory = 'notes'",
    );
    let catalogue =
        format!("{catalogue}\n[role.curator]\nverdicts = ['curated']\nmemory = 'curates'\n");
    Scratch::with(&[("flow.toml", &flow), ("catalogue.toml", &catalogue), ("script.toml", SCRIPT)])
}

fn said(scratch: &Scratch, args: &[&str]) -> String {
    let output = scratch.windlass(args).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(scratch: &Scratch, args: &[&str]) -> Value {
    serde_json::from_str(&said(scratch, args)).unwrap()
}

#[test]
fn what_was_noted_is_shown_and_what_was_learned_is_taken_back() {
    let scratch = scratch();
    let mut run = scratch.start();
    run.env("OTHER_KEY", "hush-hush-12");
    assert_eq!(run.output().unwrap().status.code(), Some(0));
    let all = json(&scratch, &["memory", "--json"]);
    let notes = &all["notes"];
    assert_eq!((&notes["raw_entries"], &notes["curations"]), (&6.into(), &1.into()), "{all:#}");
    assert_eq!((&notes["summary_lines"], &notes["promoted"]), (&1.into(), &1.into()), "{all:#}");
    let raw = said(&scratch, &["memory", "show", "raw"]);
    assert!(raw.contains("· hello · worker: TRICK: Use --offline.\n"), "{raw}");
    assert!(raw.contains("worker: the key is [masked]\n  and # Now\n"), "{raw}");
    assert!(!raw.contains("hush-hush"), "{raw}");
    assert_eq!(said(&scratch, &["memory", "show", "summary.md"]), "- hello and bye are said\n");
    assert!(said(&scratch, &["memory", "show", "MEMORY"]).contains("Both wanted the registry."));
    let diff = said(&scratch, &["memory", "diff"]);
    assert!(diff.contains("\n+ - hello and bye are said\n"), "{diff}");
    assert!(diff.contains("\n+ worker: Use --offline. (bye, hello)\n"), "{diff}");
    assert!(
        diff.contains("not promoted: \"only once\": two features have to bear it out"),
        "{diff}"
    );
}

#[test]
fn a_line_of_a_persons_is_added_shown_and_taken_back_for_project_and_person() {
    let scratch = scratch();
    let line = "Run it with --offline.";
    said(&scratch, &["memory", "add", "mission-worker", line]);
    said(&scratch, &["memory", "add", "worker", line, "--user"]);
    said(&scratch, &["memory", "add", "worker", "Mine alone.", "--user"]);
    let shown = json(&scratch, &["memory", "show", "worker", "--json"]);
    let of = |shown: &Value| {
        let lines = shown["lines"].as_array().unwrap().clone();
        let line = |it: &Value| format!("{} {} {}", it["of"], it["number"], it["reverted"]);
        lines.iter().map(line).collect::<Vec<_>>().join(", ").replace('"', "")
    };
    assert_eq!(of(&shown), "project 1 false, user 1 false, user 2 false");
    let told = said(&scratch, &["memory", "remove", "worker", "1"]);
    assert_eq!(told, "taken back, no worker is given it: Run it with --offline.\n");
    let shown = json(&scratch, &["memory", "show", "worker", "--json"]);
    assert_eq!(of(&shown), "project 1 true, user 1 false, user 2 false");
    let only = json(&scratch, &["memory", "show", "worker", "--user", "--json"]);
    assert_eq!(of(&only), "user 1 false, user 2 false");
    let listed = said(&scratch, &["memory"]);
    assert!(listed.contains("worker (project): 0 lines, 1 taken back"), "{listed}");
    for (args, told) in [
        (&["memory", "revert", "worker", "1"][..], "worker (project) has no line 1"),
        (&["memory", "revert", "worker", "9", "--user"], "worker (user) has no line 9"),
        (&["memory", "show", "worer"], "did you mean"),
        (&["memory", "add", "../x", "text"], "cannot be the name of a role"),
    ] {
        let output = scratch.windlass(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains(told), "{args:?}: {error}");
    }
}

#[test]
fn what_an_earlier_program_had_learned_is_taken_over_when_a_mission_begins() {
    let scratch = scratch();
    let home = scratch.path("home");
    fs::create_dir_all(home.join("autonomous-harness/identity")).unwrap();
    let theirs = home.join("autonomous-harness/identity/worker.md");
    fs::write(&theirs, "# Worker\n- Small commits.\n").unwrap();
    let output = scratch.start().env("HOME", &home).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let told = [output.stdout, output.stderr].concat();
    let told = String::from_utf8(told).unwrap();
    assert!(told.contains("1 lines that roles have learned were taken over from"), "{told}");
    assert_eq!(fs::read_to_string(theirs).unwrap(), "# Worker\n- Small commits.\n");
    let shown = said(&scratch, &["memory", "show", "worker", "--user"]);
    assert!(shown.contains("   1  Small commits.  ("), "{shown}");
}

#[test]
fn how_a_cache_served_a_run_is_told_by_role() {
    let scratch = scratch();
    assert_eq!(scratch.start().output().unwrap().status.code(), Some(0));
    let told = json(&scratch, &["log", "--cache", "--json"]);
    let of = |role: &str| {
        let rows = told["roles"].as_array().unwrap();
        rows.iter().find(|row| row["role"] == role).unwrap().clone()
    };
    assert_eq!(
        (&of("worker")["invocations"], &of("curator")["invocations"]),
        (&2.into(), &1.into())
    );
    assert_eq!(of("worker")["same_percent"], 100.0, "{told:#}");
    assert_eq!(of("curator")["same_percent"], Value::Null, "it was asked once");
    assert_eq!(of("worker")["hit_percent"], Value::Null, "nobody has said");
    let table = said(&scratch, &["log", "--cache"]);
    let worker = table.lines().find(|line| line.starts_with("worker")).unwrap();
    assert!(worker.contains("acted") && worker.ends_with("100.00 %"), "{table}");
}
