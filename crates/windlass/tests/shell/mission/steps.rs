//! What a feature goes through besides its validator, where that is configured (M5).

use super::rig::{CONFIG, CONTRACT, Feature, Rig, builds, feature, says, val, who};

fn hi() -> [Feature; 1] {
    [feature("F-HI")]
}

/// A repository whose smoke test fails while the file is rough.
fn with_smoke(script: &str) -> Rig {
    let config = format!("{CONFIG}smoke = 'sh smoke.sh'\n");
    let smoke = "if grep -qs rough hi.txt; then echo 'error: hi.txt is rough'; exit 1; fi\n";
    Rig::with(&hi(), script, &[("windlass.toml", &config), ("smoke.sh", smoke)])
}

fn checks(rig: &Rig, name: &str) -> Vec<String> {
    let checked = rig.scratch.notes("checked");
    let own = checked.iter().filter(|it| it["name"] == name);
    own.map(|it| it["came"].as_str().unwrap().to_owned()).filter(|it| it != "skipped").collect()
}

#[test]
fn nothing_runs_that_is_not_configured() {
    let mut rig = with_smoke(&builds("F-HI", None, "rough\n"));
    rig.ends(&[], 0);
    for role in ["ui-qa", "crosscheck"] {
        assert_eq!(rig.came(role, ""), [""; 0], "{role}");
    }
    assert_eq!(rig.came("documenter", "F-HI"), [""; 0], "only once all is done");
    assert_eq!(rig.came("documenter", ""), ["nothing"]);
    assert_eq!(checks(&rig, "smoke"), [""; 0], "{}", rig.told);
    assert_eq!(rig.landed().len(), 1);
}

#[test]
fn smoke_that_fails_sends_the_feature_back_and_nothing_of_it_lands() {
    let mut rig = with_smoke(&builds("F-HI", Some(1), "rough\n"));
    rig.ends(&["--step", "smoke"], 0);
    let told = rig.prompts("mission-worker", "F-HI");
    assert_eq!(told.len(), 2, "{}", rig.told);
    assert!(told[1].contains("hi.txt is rough"), "{}", told[1]);
    assert_eq!(rig.feature("F-HI")["attempts"], 2);
    assert_eq!(rig.scratch.git(&["log", "--format=%h", "-S", "rough", "main", "--", "hi.txt"]), "");
    let came = checks(&rig, "smoke");
    assert!(came.contains(&"fail".to_owned()) && came.last().unwrap() == "pass", "{came:?}");
    rig.was_always_sound();
}

#[test]
fn who_tries_it_and_who_holds_it_against_the_others_send_it_back() {
    for role in ["ui-qa", "crosscheck"] {
        let finding = "{ id = 'x', severity = 'major', title = 'the button is dead', rationale = 'clicked it' }";
        let fails = says(
            &who(role, "F-HI", Some(1)),
            &format!("verdict = 'fail', summary = 'no way', findings = [{finding}]"),
            &[],
        );
        let script = builds("F-HI", Some(1), "first\n") + &fails;
        let mut rig = Rig::of(&hi(), &script);
        rig.ends(&["--step", role], 0);
        assert_eq!(rig.came(role, "F-HI"), ["fail", "pass"], "{role}: {}", rig.told);
        let told = rig.prompts("mission-worker", "F-HI");
        assert!(
            told[1].contains("no way") && told[1].contains("the button is dead"),
            "{role}: {}",
            told[1]
        );
        assert_eq!(rig.landed(), ["Build F-HI"], "{role}");
        assert_eq!(rig.scratch.git(&["show", "main:hi.txt"]), "F-HI", "{role}");
        let other = if role == "ui-qa" { "crosscheck" } else { "ui-qa" };
        assert_eq!(rig.came(other, ""), [""; 0]);
    }
}

#[test]
fn who_holds_it_against_the_others_is_shown_what_has_landed() {
    let mut rig = Rig::of(&[feature("F-A"), feature("F-B").on(&["F-A"])], "");
    rig.ends(&["--step", "crosscheck"], 0);
    let told = &rig.prompts("crosscheck", "F-B")[0];
    assert!(told.contains("- F-A: Build F-A ("), "{told}");
    assert!(!rig.prompts("crosscheck", "F-A")[0].contains("## landed"));
}

#[test]
fn what_the_documenter_writes_is_validated_and_lands_with_its_feature() {
    let writes = says(
        &who("documenter", "F-HI", None),
        "verdict = 'written', summary = 'it is in the guide'",
        &[("guide.md", "It says hi.\n")],
    );
    let mut rig = Rig::of(&hi(), &writes);
    rig.ends(&["--step", "documenter"], 0);
    assert_eq!(rig.came("documenter", "F-HI"), ["written"], "once: {}", rig.told);
    assert_eq!(rig.came("validator", "F-HI"), ["pass", "pass"], "what changed is looked at again");
    let told = rig.prompts("validator", "F-HI");
    assert!(told[1].contains("guide.md") && !told[0].contains("guide.md"), "{}", told[1]);
    assert_eq!(rig.landed(), ["Build F-HI"], "one landing");
    assert_eq!(rig.scratch.git(&["show", "main:guide.md"]), "It says hi.");
    rig.was_always_sound();
}

#[test]
fn a_documenter_that_breaks_something_does_not_get_it_in() {
    let writes = says(
        &who("documenter", "F-HI", None),
        "verdict = 'written', summary = 'it is in the guide'",
        &[("guide.txt", "bad\n")],
    );
    let mends = says(
        &who("mission-worker", "F-HI", Some(2)),
        "verdict = 'built', summary = 'mended the guide'",
        &[("guide.txt", "good\n")],
    );
    let mut rig = Rig::of(&hi(), &(writes + &mends));
    rig.ends(&["--step", "documenter"], 0);
    assert_eq!(rig.came("mission-worker", "F-HI").len(), 2, "{}", rig.told);
    assert_eq!(rig.scratch.git(&["show", "main:guide.txt"]), "good");
    rig.was_always_sound();
}

#[test]
fn the_last_documents_land_by_themselves_and_what_is_red_of_them_does_not() {
    let of = |text: &str| {
        says(
            &who("documenter", "", None),
            "verdict = 'written', summary = 'x'",
            &[("guide.txt", text)],
        )
    };
    let mut rig = Rig::of(&hi(), &of("all of it\n"));
    rig.ends(&[], 0);
    assert_eq!(rig.scratch.git(&["show", "main:guide.txt"]), "all of it");
    let documents = "Bring the documents up to date with what the mission has built";
    assert_eq!(rig.landed(), ["Build F-HI", documents]);
    rig.was_always_sound();

    let mut rig = Rig::of(&hi(), &of("bad\n"));
    rig.ends(&[], 0);
    assert_eq!(rig.landed(), ["Build F-HI"], "{}", rig.told);
    assert!(
        rig.records().contains(&"documents_left".to_owned()) || rig.decided("documents_left") == 1
    );
    rig.saw("lanes restore");
    rig.was_always_sound();
}

#[test]
fn the_last_documents_do_not_break_what_was_claimed() {
    let writes = says(
        &who("documenter", "", None),
        "verdict = 'written', summary = 'x'",
        &[("guide.txt", "all of it\n")],
    );
    let mut rig = Rig::of(&hi(), &writes);
    rig.write(
        CONTRACT,
        &format!("- {}: it needs no guide\n  file: `guide.txt` absent\n", val("F-HI")),
    );
    rig.ends(&[], 0);
    assert_eq!(rig.landed(), ["Build F-HI"], "{}", rig.told);
    assert_eq!(rig.decided("documents_left") + rig.decided("DONE"), 2);
    rig.saw("lanes restore");
    assert_eq!(checks(&rig, "contract").last().map(String::as_str), Some("fail"));
    assert_eq!(rig.standing(), "F-HI passed", "what has landed holds");
}

/// As they are run everywhere else.
#[test]
fn a_linter_and_a_type_checker_are_run_of_each_feature_and_of_the_last_documents() {
    for check in ["lint", "type-check"] {
        let config = format!("{CONFIG}{check} = 'sh tidy.sh'\n");
        let tidy = "if grep -qs untidy *.txt; then echo 'error: it is untidy'; exit 1; fi\n";
        let files = [("windlass.toml", config.as_str()), ("tidy.sh", tidy)];
        let documents = says(
            &who("documenter", "", None),
            "verdict = 'written', summary = 'x'",
            &[("guide.txt", "untidy\n")],
        );
        let script = builds("F-HI", Some(1), "untidy\n") + &documents;
        let mut rig = Rig::with(&hi(), &script, &files);
        rig.ends(&[], 0);
        let told = rig.prompts("mission-worker", "F-HI");
        assert_eq!(told.len(), 2, "{check}: {}", rig.told);
        assert!(told[1].contains("it is untidy"), "{check}: {}", told[1]);
        assert_eq!(rig.came("validator", "F-HI"), ["pass"], "{check}: nobody judges what is red");
        assert_eq!(checks(&rig, check), ["fail", "pass", "pass", "fail"], "{check}");
        assert_eq!(rig.landed(), ["Build F-HI"], "{check}: the documents are left");
        rig.saw("lanes restore");
    }
}

#[test]
fn smoke_that_fails_at_the_end_is_an_escalation_that_says_so() {
    // It fails only once the first feature is there and something else has come: as only a look at the whole shows.
    let config = format!("{CONFIG}smoke = 'sh smoke.sh'\n");
    let smoke = "[ ! -e \"$HOME/../never\" ] && [ ! -e rough.md ] || { echo 'error: rough.md is rough'; exit 1; }\n";
    let files = [("windlass.toml", config.as_str()), ("smoke.sh", smoke)];
    let mut rig = Rig::with(&hi(), "", &files);
    rig.ends(&["--step", "smoke", "--checkpoint", "pre-done"], 8);
    rig.write("rough.md", "rough\n");
    rig.scratch.git(&["add", "rough.md"]);
    rig.scratch.git(&["commit", "-qm", "Theirs"]);
    assert_eq!(rig.answers("done_grant", &["grant"]), Some(3), "{}", rig.told);
    let why = rig.file(super::rig::ESCALATION).unwrap();
    assert!(why.contains("`smoke` failed: error: rough.md is rough"), "{why}");
    assert_eq!(rig.standing(), "F-HI passed", "it stays landed");
}
