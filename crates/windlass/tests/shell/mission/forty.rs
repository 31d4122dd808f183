//! Forty features on eight lanes, with everything that may happen to them: dependencies, files that overlap, attempts that
//! fail, an ambiguity, a reported issue, two that conflict, a provider that serves nobody for a while.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use super::rig::{Feature, Rig, builds, feature, judges, mends, says, simply, val, who, worker};
use crate::agent::pipe;

fn id(n: usize) -> String {
    format!("F-{n:02}")
}

/// Some wait for others, and some share a directory.
fn forty() -> Vec<Feature> {
    let one = |n: usize| {
        let before = id(n.saturating_sub(5));
        let own = feature(&id(n));
        let own = if n > 8 && n.is_multiple_of(3) { own.on(&[&before]) } else { own };
        if (13..=16).contains(&n) { own.files(&["docs"]) } else { own }
    };
    (1..=40).map(one).collect()
}

fn script() -> String {
    // The first two write the same file: whoever comes second has it joined.
    let mut script = says(
        &who("conflict-resolver", "", None),
        "verdict = 'resolved', summary = 'both are in it'",
        &[("shared.txt", "one\ntwo\n")],
    );
    for (unit, text) in [("F-01", "one\n"), ("F-02", "two\n")] {
        let own = format!("{}.txt", &unit[2..]);
        script += &says(
            &who("mission-worker", unit, None),
            "verdict = 'built', summary = 'it is there'",
            &[(&own, "it\n"), ("shared.txt", text)],
        );
    }
    for n in (5..=40).step_by(5) {
        script += &builds(&id(n), Some(1), "bad\n");
    }
    // They write where they said they would.
    for n in 13..=16 {
        let (own, doc) = (format!("{n}.txt"), format!("docs/{n}.txt"));
        let files = [(own.as_str(), "it\n"), (doc.as_str(), "said\n")];
        script += &says(
            &who("mission-worker", &id(n), None),
            "verdict = 'built', summary = 'it is there'",
            &files,
        );
    }
    script += &judges("F-11", Some(1), "fail", &[(&val("F-11"), "no")], &[]);
    script += &builds("F-11", Some(1), "not quite\n");
    script += &worker("F-07", Some(1), "ambiguous", "hello or hi?");
    script += &simply("mission-architect", "resolved", "say hi");
    script += &judges("F-12", None, "issues", &[(&val("F-12"), "yes")], &["No full stop"]);
    script + &mends("F-FIX-12-1", "No full stop", &[("stop.txt", ".\n")])
}

/// A mission whose first two workers wait for each other, so that neither knows what the other lands, and whose validators
/// are turned away by the provider that they would like best.
fn rig() -> Rig {
    let rig = Rig::of(&forty(), &script());
    pipe(&rig.scratch, "meet");
    let talk = rig.scratch.path("talk");
    // Inside its sandbox it sees what lies beside it, and not where we were built.
    let (built, beside) = (env!("CARGO_BIN_EXE_windlass"), talk.join("windlass"));
    fs::hard_link(built, &beside).or_else(|_| fs::copy(built, &beside).map(drop)).unwrap();
    let meets = "#!/bin/sh\nhere=\"$(dirname \"$0\")\"\ncase \"$WINDLASS_UNIT $WINDLASS_ATTEMPT\" in\n\
         'F-01 1') echo met > \"$here/meet\" ;;\n'F-02 1') read line < \"$here/meet\" ;;\nesac\n\
         exec \"$here/windlass\" act script.toml\n";
    fs::write(talk.join("agent"), meets).unwrap();
    fs::set_permissions(talk.join("agent"), fs::Permissions::from_mode(0o755)).unwrap();
    let config = format!(
        "[sandbox]\nwrite = ['{}']\n[agents.own]\nkind = 'command'\ncommand = ['{}']\ncost = 'none'\n\
         [agents.acted]\nkind = 'scripted'\nscript = 'script.toml'\n\
         [agents.limited]\nkind = 'scripted'\nscript = 'limited.toml'\n\
         [roles]\nmission-worker = 'own'\nvalidator = ['limited', 'acted']\ndefault = 'acted'\n\
         [checks]\ntest = 'sh test.sh'\n",
        talk.display(),
        talk.join("agent").display()
    );
    rig.write("windlass.toml", &config);
    rig.write(
        "limited.toml",
        "[[answer]]\nsay = { limited_until = 4000000000, cost_usd = 0.0, tokens = 0 }\n",
    );
    rig.scratch.git(&["add", "-A", ":!.harness"]);
    rig.scratch.git(&["commit", "-qm", "Other agents"]);
    rig
}

/// When each feature was begun, and when it had landed: places in the journal.
fn spans(rig: &Rig) -> BTreeMap<String, (usize, usize)> {
    let mut spans = BTreeMap::new();
    for (at, entry) in rig.scratch.entries().iter().enumerate() {
        let Some(unit) = entry["unit"].as_str() else { continue };
        match entry["note"].as_str() {
            Some("asked") => drop(spans.entry(unit.to_owned()).or_insert((at, usize::MAX))),
            Some("landed") => spans.entry(unit.to_owned()).or_insert((at, at)).1 = at,
            _ => {}
        }
    }
    spans
}

/// Each was begun once what it depends on had landed, and those that share files one after the other.
#[track_caller]
fn kept_apart(rig: &Rig) {
    let spans = spans(rig);
    for feature in forty() {
        for on in &feature.depends {
            let (begun, landed) = (spans[&feature.id].0, spans[on].1);
            assert!(landed < begun, "{} was begun before {on} had landed", feature.id);
        }
    }
    let mut shared: Vec<(usize, usize)> = (13..=16).map(|n| spans[&id(n)]).collect();
    shared.sort_unstable();
    assert!(shared.windows(2).all(|two| two[0].1 < two[1].0), "two at once: {shared:?}");
    for n in 13..=16 {
        assert_eq!(rig.scratch.git(&["show", &format!("main:docs/{n}.txt")]), "said");
    }
}

/// The report as a page: when each lane was at what, what was tried again and why, and what speaks for each claim.
#[track_caller]
fn is_reported(rig: &mut Rig) {
    let page = rig.scratch.path("report.html");
    assert_eq!(rig.run(&["report", "mission-1", "--html", page.to_str().unwrap()]), Some(0));
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("what was done in each lane, and when"), "no timeline");
    for n in 1..=40 {
        assert!(page.contains(&val(&id(n))), "nothing about what {} claims", id(n));
    }
    assert!(page.matches("ran it: yes").count() >= 40, "no evidence of claims");
    assert!(page.contains("Tried again"), "nothing about what was tried again");
}

mod slow {
    use super::*;

    #[test]
    fn forty_features_on_eight_lanes_all_land_once_and_every_commit_is_sound() {
        let mut rig = rig();
        rig.ends(&["--lanes", "8"], 0);
        // All have passed, and each has landed, once.
        let features = rig.features();
        assert_eq!(features.len(), 41, "forty, and what a validator found");
        let open: Vec<&Value> = features.iter().filter(|it| it["status"] != "passed").collect();
        assert_eq!(open, [&Value::Null; 0]);
        let mut landed: BTreeMap<String, usize> = BTreeMap::new();
        for note in rig.scratch.notes("landed") {
            *landed.entry(note["unit"].as_str().unwrap_or_default().to_owned()).or_default() += 1;
        }
        let ids: Vec<&str> = features.iter().filter_map(|it| it["id"].as_str()).collect();
        assert!(ids.iter().all(|id| landed.get(*id) == Some(&1)), "{landed:?}");
        assert_eq!(landed.len(), 41, "{landed:?}");
        rig.was_always_sound();
        kept_apart(&rig);
        // And so has everything that was to happen.
        assert_eq!(rig.scratch.git(&["show", "main:shared.txt"]), "one\ntwo");
        assert_eq!(rig.came("conflict-resolver", ""), ["resolved"]);
        assert_eq!(rig.came("mission-architect", ""), ["resolved"]);
        assert_eq!(rig.feature("F-FIX-12-1")["origin"], "F-12");
        for (id, attempts) in [("F-05", 2), ("F-07", 2), ("F-11", 2), ("F-13", 1)] {
            assert_eq!(rig.feature(id)["attempts"], attempts, "{id}");
        }
        let limited = rig.came("validator", "").iter().filter(|it| *it == "limited").count();
        assert!((1..=8).contains(&limited), "{limited}: one for each lane at most");
        // The report has every one of them, with what speaks for its claims.
        assert_eq!(rig.run(&["report", "mission-1"]), Some(0));
        let missing: Vec<&&str> = ids.iter().filter(|id| !rig.told.contains(**id)).collect();
        assert_eq!(missing, [&""; 0], "not in the report");
        let report = rig.scratch.windlass(&["report", "mission-1", "--json"]).output().unwrap();
        let report: Value = serde_json::from_slice(&report.stdout).unwrap();
        for unit in report["units"].as_array().unwrap() {
            let invocations = unit["invocations"].as_array().unwrap();
            let judged = invocations.iter().rfind(|it| it["role"] == "validator").unwrap();
            assert!(["pass", "issues"].contains(&judged["came"].as_str().unwrap()), "{unit:#}");
            let checked = |it: &&Value| it["name"] == "contract" && it["came"] != "skipped";
            let contract = unit["checks"].as_array().unwrap().iter().rfind(checked);
            let has_none = unit["id"] == "F-FIX-12-1";
            assert!(has_none || contract.is_some_and(|it| it["came"] == "pass"), "{unit:#}");
        }
        is_reported(&mut rig);
        // Of more than eighty answers the last have a file.
        let logs = rig.scratch.repo().join(".harness/mission/logs");
        assert!(rig.scratch.notes("answered").len() > 80);
        assert_eq!(fs::read_dir(logs).unwrap().count(), 50);
        assert_eq!(rig.scratch.processes(), [""; 0]);
    }
}
