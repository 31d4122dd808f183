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
    // As whoever was first has said it: they work side by side.
    let learned = diff.lines().find(|line| line.starts_with("+ worker: ")).unwrap();
    assert!(learned.contains("--offline") && learned.ends_with(" (bye, hello)"), "{diff}");
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

/// A mission of two features, one after the other, with a line that workers have learned before.
fn a_mission(curator: &str) -> Scratch {
    let worker = |unit: &str, file: &str, note: &str| {
        format!(
            "[[answer]]\nrole = 'mission-worker'\nunit = '{unit}'\nwrite = {{ '{file}' = \"x\\n\" }}\n\
             say = {{ verdict = 'built', memory = [{note}], cost_usd = 0.01, tokens = 1 }}\n"
        )
    };
    let validator = |unit: &str| {
        format!(
            "[[answer]]\nrole = 'validator'\nunit = 'F-{unit}'\n[answer.say]\nverdict = 'pass'\n\
             memory = ['seen']\nclaims = [{{ id = 'VAL-{unit}', title = 'x', holds = 'yes', evidence = 'x' }}]\n"
        )
    };
    let script = [
        worker("F-ONE", "one.txt", "'TRICK: Use --offline.', \"# Now\\nStage: deploy\""),
        worker("F-TWO", "two.txt", "'TRICK: use `--offline`'"),
        validator("ONE"),
        validator("TWO"),
        format!("[[answer]]\nrole = 'curator'\n[answer.say]\n{curator}\n"),
        "[[answer]]\nrole = 'documenter'\nsay = { verdict = 'nothing' }\n".to_owned(),
    ];
    let queue = serde_json::json!({ "features": [
        { "id": "F-ONE", "title": "One", "claims": ["VAL-ONE"], "status": "pending", "attempts": 0 },
        { "id": "F-TWO", "title": "Two", "claims": ["VAL-TWO"], "status": "pending", "attempts": 0,
          "depends": ["F-ONE"] },
    ]});
    let contract = "- VAL-ONE: `one.txt` is there\n  command: `test -e one.txt`\n\
                    - VAL-TWO: `two.txt` is there\n  command: `test -e two.txt`\n";
    let scratch = Scratch::with(&[
        ("script.toml", &script.concat()),
        (".gitignore", ".harness/\n"),
        ("SPEC.md", "# Files\n\nOne and two.\n"),
    ]);
    for (name, text) in
        [("features.json", &*queue.to_string()), ("validation-contract.md", contract)]
    {
        let path = scratch.repo().join(".harness").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    scratch
}

fn file(scratch: &Scratch, name: &str) -> String {
    fs::read_to_string(scratch.repo().join(".harness/memory").join(name)).unwrap_or_default()
}

#[test]
fn a_mission_notes_sums_up_and_learns() {
    let scratch = a_mission(
        "verdict = 'curated'\nsummary = '- one and two are there'\nlong = 'They are files.'\n\
         promote = [{ role = 'mission-worker', text = 'Use --offline.' }]",
    );
    said(&scratch, &["memory", "add", "worker", "Write small files."]);
    fs::create_dir_all(scratch.repo().join(".harness/memory")).unwrap();
    fs::write(scratch.repo().join(".harness/memory/summary.md"), "Ada's own words.\n").unwrap();
    let output = scratch.windlass(&["mission"]).output().unwrap();
    let told = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.contains("learned for good, as worker: Use --offline."), "{told}");
    // What a person wrote is in every prompt until the curator says otherwise, and so is what workers know.
    let full = said(&scratch, &["log", "--full"]);
    assert_eq!(
        full.matches("| > Ada's own words.").count(),
        6,
        "two workers, two validators, the curator twice: {full}"
    );
    assert_eq!(full.matches("| > - Write small files.").count(), 3, "workers, and the curator");
    assert_eq!(full.matches("| > - one and two are there").count(), 1, "the documenter");
    let raw = file(&scratch, "raw.md");
    assert!(raw.contains("· F-ONE · mission-worker: # Now\n  Stage: deploy\n"), "{raw}");
    assert_eq!(raw.matches("\n- 2").count(), 5, "{raw}");
    assert_eq!(file(&scratch, "summary.md"), "- one and two are there\n");
    assert!(file(&scratch, "MEMORY.md").ends_with("\nThey are files.\n"));
    let shown = said(&scratch, &["memory", "show", "worker"]);
    assert!(shown.contains("   2  Use --offline.  (2"), "{shown}");
    let cache = json(&scratch, &["log", "--cache", "--json"]);
    let rows = cache["roles"].as_array().unwrap();
    for role in ["mission-worker", "validator"] {
        let row = rows.iter().find(|row| row["role"] == role).unwrap();
        assert_eq!(row["same_percent"], 100.0, "{cache:#}");
    }
    // The files are the journal's: gone, they are written anew, byte for byte.
    fs::remove_dir_all(scratch.repo().join(".harness/memory")).unwrap();
    said(&scratch, &["project"]);
    assert_eq!(file(&scratch, "raw.md"), raw);
    assert_eq!(file(&scratch, "summary.md"), "- one and two are there\n");
}

#[test]
fn a_summary_that_is_too_long_is_asked_for_again_and_then_left_as_it_was() {
    let long = "line\\n".repeat(41);
    let scratch = a_mission(&format!("verdict = 'curated'\nsummary = \"{long}\"\nlong = 'Kept.'"));
    let output = scratch.windlass(&["mission"]).output().unwrap();
    let told = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(
        told.contains(
            "summary.md stays as it was: the curator says more, its summary has 41 lines"
        ),
        "{told}"
    );
    assert_eq!(
        (file(&scratch, "summary.md").as_str(), file(&scratch, "MEMORY.md").contains("Kept.")),
        ("", true)
    );
    let answered = scratch.notes("answered");
    let curator = answered.iter().find(|it| it["role"] == "curator").unwrap();
    let remarks = curator["remarks"].to_string();
    assert!(remarks.contains("it had to be asked again"), "{remarks}");
}
