//! What a mission remembers, and who may write it (M9, M11).

use super::rig::{Feature, Rig, builds, feature, file_of, judges, says, val, who};

const RAW: &str = ".harness/memory/raw.md";
const SUMMARY: &str = ".harness/memory/summary.md";

fn named(ids: &[&str]) -> Vec<Feature> {
    ids.iter().map(|id| feature(id)).collect()
}

/// A worker that builds its feature and notes something.
fn notes(unit: &str, notes: &str) -> String {
    says(
        &who("mission-worker", unit, None),
        &format!("verdict = 'built', summary = 'there', memory = [{notes}]"),
        &[(&file_of(unit), "it\n")],
    )
}

fn curates(attempt: Option<u32>, say: &str) -> String {
    says(&who("curator", "", attempt), &format!("verdict = 'curated', {say}"), &[])
}

#[test]
fn what_roles_note_is_kept_and_what_two_bear_out_is_known_to_the_next_mission() {
    let features = named(&["F-A", "F-B", "F-C"]);
    let promoted = "summary = '- a and b are there', long = 'Both wanted the registry.', \
                    promote = [{ role = 'mission-worker', text = 'quote the paths', features = ['F-A', 'F-B'] }, \
                               { role = 'mission-worker', text = 'only once', features = ['F-A', 'F-B'] }]";
    let script =
        notes("F-A", "'TRICK: quote the paths', 'the tests are in test.sh', 'TRICK: only once'")
            + &notes("F-B", "'TRICK: quote the paths'")
            + &curates(None, promoted);
    let mut rig = Rig::of(&features[..2], &script);
    rig.ends(&[], 0);
    let raw = rig.file(RAW).unwrap();
    for line in [
        "F-A · mission-worker: the tests are in test.sh",
        "F-B · mission-worker: TRICK: quote the paths",
    ] {
        assert!(raw.contains(line), "{line}: {raw}");
    }
    assert_eq!(rig.file(SUMMARY).as_deref(), Some("- a and b are there\n"));
    assert!(rig.file(".harness/memory/MEMORY.md").unwrap().contains("Both wanted the registry."));
    let told = &rig.prompts("curator", "")[0];
    assert!(told.contains("the tests are in test.sh"), "{told}");
    // Another mission: its worker knows the trick, and what two have not borne out nobody does.
    rig.now_says(&features, "");
    rig.edit(|queue| {
        let c = super::rig::queue(&named(&["F-C"]));
        let c: serde_json::Value = serde_json::from_str(&c).unwrap();
        queue.push(c["features"][0].clone());
    });
    rig.write(super::rig::CONTRACT, &super::rig::contract(&features));
    rig.ends(&[], 0);
    let told = &rig.prompts("mission-worker", "F-C")[0];
    assert!(told.contains("quote the paths"), "{told}");
    assert!(!told.contains("only once"), "{told}");
    assert!(told.contains("- a and b are there"), "the summary is in every prompt: {told}");
    // Nobody else's identity has it.
    let judged = &rig.prompts("validator", "F-C")[0];
    assert!(!judged.contains("quote the paths"), "{judged}");
    assert!(judged.contains("- a and b are there"), "{judged}");
}

#[test]
fn the_curator_comes_after_every_tenth_landing_and_at_the_end() {
    let ids: Vec<String> = (1..=11).map(|n| format!("F-{n:02}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let script = curates(Some(1), "summary = '- ten have landed'") + &curates(None, "summary = ''");
    let mut rig = Rig::of(&named(&ids), &script);
    rig.ends(&[], 0);
    assert_eq!(rig.came("curator", "").len(), 2, "{}", rig.told);
    let entries = rig.scratch.entries();
    let first = entries.iter().position(|it| it["note"] == "asked" && it["role"] == "curator");
    let landed = entries[..first.unwrap()].iter().filter(|it| it["note"] == "landed").count();
    assert_eq!(landed, 10);
    assert!(rig.prompts("mission-worker", "F-11")[0].contains("- ten have landed"));
    assert!(!rig.prompts("mission-worker", "F-10")[0].contains("- ten have landed"));
    // Said empty, the old one stays.
    assert_eq!(rig.file(SUMMARY).as_deref(), Some("- ten have landed\n"));
}

#[test]
fn the_curator_comes_after_an_escalation_too() {
    let script = builds("F-A", None, "bad\n") + &curates(None, "summary = '- a is stuck'");
    let mut rig = Rig::of(&named(&["F-A"]), &script);
    rig.ends(&["--max-attempts", "0"], 3);
    assert_eq!(rig.came("curator", ""), ["curated"]);
    assert_eq!(rig.file(SUMMARY).as_deref(), Some("- a is stuck\n"));
}

#[test]
fn a_summary_that_is_too_long_is_sent_back_and_then_left_out() {
    let long: Vec<String> = (0..41).map(|n| format!("- line {n}")).collect();
    let long = format!("summary = \"{}\"", long.join("\\n"));
    let mut rig = Rig::of(&named(&["F-A"]), &curates(None, &long));
    rig.ends(&[], 0);
    rig.saw("it had to be asked again for an answer that could be read");
    rig.saw("summary.md stays as it was: the curator says more, its summary has 41 lines, and 40 are the most");
    assert_eq!(rig.file(SUMMARY), None);
}

/// Queue, contract and memory are nobody's to write but the planner's, the curator's by way of Windlass, and people's.
#[test]
fn what_is_not_theirs_to_write_does_not_get_through() {
    let sneaks = says(
        &who("mission-worker", "F-A", None),
        "verdict = 'built', summary = 'there'",
        &[
            ("a.txt", "it\n"),
            (".harness/features.json", "{\"features\": []}"),
            (".harness/validation-contract.md", "- VAL-A-001: nothing\n"),
            (".harness/memory/summary.md", "- do as I say\n"),
            (".harness/memory/MEMORY.md", "mine\n"),
        ],
    ) + &says(
        &who("curator", "", None),
        "verdict = 'curated', summary = '- a is there'",
        &[(".harness/memory/MEMORY.md", "mine\n"), ("sneaked.txt", "in\n")],
    ) + &judges("F-A", None, "pass", &[(&val("F-A"), "yes")], &[]);
    let mut rig = Rig::of(&named(&["F-A"]), &sneaks);
    let contract = rig.file(super::rig::CONTRACT);
    rig.ends(&[], 0);
    assert_eq!(rig.standing(), "F-A passed");
    assert_eq!(rig.file(super::rig::CONTRACT), contract);
    assert_eq!(rig.file(SUMMARY).as_deref(), Some("- a is there\n"));
    assert_eq!(rig.file(".harness/memory/MEMORY.md"), None);
    let tree = rig.scratch.git(&["ls-tree", "-r", "--name-only", "main"]);
    assert!(!tree.contains(".harness") && !tree.contains("sneaked"), "{tree}");
    rig.was_always_sound();
}

/// All that comes before what is new is the same, byte for byte, however often a role is asked.
#[test]
fn prompts_are_the_same_up_to_what_is_new() {
    let mut rig = Rig::of(&named(&["F-A", "F-B", "F-C"]), "");
    rig.ends(&[], 0);
    let heads: Vec<String> = rig
        .prompts("mission-worker", "")
        .iter()
        .map(|prompt| prompt.split("\n# Now\n").next().unwrap().to_owned())
        .collect();
    assert_eq!(heads.len(), 3);
    assert!(heads.iter().all(|head| *head == heads[0] && head.len() > 500), "{heads:#?}");
}
