//! What becomes of features: the seven decisions, attempts, ambiguities, issues, what is stuck, what is believed (M4, M6,
//! M7, C7).

use serde_json::{Value, json};

use super::rig::{
    CONFIG, CONTRACT, ESCALATION, Feature, Rig, builds, contract, feature, judges, mends, passes,
    plans, queue, says, simply, val, who, worker,
};

fn hi() -> [Feature; 1] {
    [feature("F-HI")]
}

/// One mission that comes through each of the seven.
#[test]
fn the_seven_decisions_are_on_record() {
    let features = [feature("F-HI"), feature("F-BYE"), feature("F-BAD")];
    let script = worker("F-HI", Some(1), "ambiguous", "hello or hi?")
        + &says(
            &who("mission-architect", "F-HI", None),
            "verdict = 'resolved', summary = 'say hi'",
            &[],
        )
        + &judges("F-BYE", None, "issues", &[(&val("F-BYE"), "yes")], &["No full stop"])
        + &mends("F-FIX-BYE-1", "No full stop", &[("stop.txt", ".")])
        + &builds("F-BAD", None, "bad\n");
    let mut rig = Rig::of(&features, &script);
    rig.ends(&["--checkpoint", "pre-merge", "--max-attempts", "1"], 8);
    while rig.asked().is_some() {
        rig.answers("merge_grant", &["grant"]);
    }
    assert_eq!(rig.state()["outcome"], "escalated");
    for decision in
        ["NEXT_WORKER", "NEXT_VALIDATOR", "NEXT_ARCHITECT", "CONVERTED", "CHECKPOINT", "ESCALATE"]
    {
        assert!(rig.decided(decision) > 0, "{decision}: {}", rig.state());
    }
    assert_eq!(rig.decided("DONE"), 0);
    assert_eq!(rig.standing(), "F-HI passed, F-BYE passed, F-BAD failed, F-FIX-BYE-1 passed");
    // A second mission has only what is left, and is done.
    rig.now_says(&features, "");
    rig.ends(&[], 0);
    assert_eq!(rig.decided("DONE"), 1);
    assert_eq!(rig.begun(), ["F-BAD"]);
    rig.was_always_sound();
}

#[test]
fn attempts_are_counted_and_each_is_told_what_went_wrong() {
    let script = builds("F-HI", Some(1), "bad\n")
        + &judges("F-HI", Some(1), "fail", &[(&val("F-HI"), "no")], &[]);
    let mut rig = Rig::of(&hi(), &script);
    rig.ends(&[], 0);
    let told = rig.prompts("mission-worker", "F-HI");
    assert_eq!(told.len(), 3, "{}", rig.told);
    assert!(!told[0].contains("## findings"), "{}", told[0]);
    assert!(told[1].contains("hi.txt:1 is bad"), "{}", told[1]);
    assert!(told[2].contains("looked at F-HI: fail"), "{}", told[2]);
    assert_eq!(rig.feature("F-HI")["attempts"], 3);
    assert_eq!(rig.came("validator", "F-HI"), ["fail", "pass"], "nobody judges what is red");
    rig.was_always_sound();
}

#[test]
fn what_the_architect_answers_is_in_the_next_prompt_word_for_word() {
    let answer = "Say \"hi\": the spec has no room for more. Both files end in a newline.";
    let resolved = says(
        &who("mission-architect", "F-HI", None),
        &format!("verdict = 'resolved', summary = '''{answer}'''"),
        &[],
    );
    let script = worker("F-HI", Some(1), "ambiguous", "hello or hi?") + &resolved;
    let mut rig = Rig::of(&hi(), &script);
    rig.ends(&[], 0);
    let asked = &rig.prompts("mission-architect", "F-HI")[0];
    assert!(asked.contains("hello or hi?") && asked.contains("It says hello and bye."), "{asked}");
    let told = rig.prompts("mission-worker", "F-HI");
    assert_eq!(told.len(), 2);
    assert!(told[1].contains(answer) && told[1].contains("hello or hi?"), "{}", told[1]);
    assert!(rig.prompts("validator", "F-HI")[0].contains(answer), "who judges knows it, too");

    // The same from a validator.
    let script =
        judges("F-HI", Some(1), "ambiguous", &[(&val("F-HI"), "unclear")], &[]) + &resolved;
    let mut rig = Rig::of(&hi(), &script);
    rig.ends(&[], 0);
    assert!(rig.prompts("mission-worker", "F-HI")[1].contains(answer));
    assert_eq!((rig.decided("NEXT_ARCHITECT"), rig.landed().len()), (1, 1));
}

#[test]
fn what_the_architect_cannot_resolve_is_a_persons() {
    let script = worker("F-HI", None, "ambiguous", "hello or hi?")
        + &simply("mission-architect", "unresolved", "only a person knows: hello or hi");
    let mut rig = Rig::of(&[feature("F-HI"), feature("F-BYE")], &script);
    rig.ends(&[], 3);
    assert_eq!(rig.standing(), "F-HI failed, F-BYE passed");
    let why = rig.file(ESCALATION).unwrap();
    for part in ["the architect could not resolve", "hello or hi?", "only a person knows"] {
        assert!(why.contains(part), "{part}: {why}");
    }
}

#[test]
fn issues_become_features_once_with_their_origin() {
    let features = [feature("F-HI"), feature("F-BYE")];
    let yes = |id: &str, issues: &[&str]| judges(id, None, "issues", &[(&val(id), "yes")], issues);
    // The second reports the same in other letters, and one more.
    let script = yes("F-HI", &["No newline at the end"])
        + &yes("F-BYE", &["no newline, at the END!", "Nobody says thanks"])
        + &mends("F-FIX-HI-1", "No newline at the end", &[("newline.txt", "\n")])
        + &mends("F-FIX-BYE-1", "Nobody says thanks", &[("thanks.txt", "thanks\n")]);
    let mut rig = Rig::of(&features, &script);
    rig.ends(&[], 0);
    assert_eq!(rig.standing(), "F-HI passed, F-BYE passed, F-FIX-HI-1 passed, F-FIX-BYE-1 passed");
    let fix = rig.feature("F-FIX-HI-1");
    assert_eq!(
        (&fix["origin"], &fix["depends"], &fix["detail"]),
        (&json!("F-HI"), &json!(["F-HI"]), &json!("seen in F-HI"))
    );
    let told = &rig.prompts("mission-worker", "F-FIX-HI-1")[0];
    assert!(told.contains("No newline at the end") && told.contains("seen in F-HI"), "{told}");
    assert!(told.contains("Found by the validator of F-HI."), "{told}");
    assert_eq!(rig.decided("CONVERTED"), 2);
    // They have landed, and a second mission has nothing to do.
    rig.ends(&[], 0);
    rig.saw("there is nothing to do");
    let runs = rig.scratch.status()["runs"].as_array().map(Vec::len);
    assert_eq!((runs, rig.landed().len()), (Some(1), 4), "nobody was asked anything");
    rig.was_always_sound();
}

/// Whoever fails a feature may have found something else, too, and finds it again once it holds; and a `pass` hides nothing.
#[test]
fn what_was_found_is_built_whatever_came_before_and_whatever_it_was_called() {
    let yes = (val("F-HI"), "yes");
    let issue = ["No full stop"];
    let mend = mends("F-FIX-HI-1", "No full stop", &[("stop.txt", ".\n")]);
    for (name, script) in [
        (
            "after a fail",
            judges("F-HI", Some(1), "fail", &[(&yes.0, "no")], &issue)
                + &judges("F-HI", None, "issues", &[(&yes.0, yes.1)], &issue),
        ),
        ("as a pass", judges("F-HI", None, "pass", &[(&yes.0, yes.1)], &issue)),
    ] {
        let mut rig = Rig::of(&hi(), &(script + &mend));
        rig.ends(&[], 0);
        assert_eq!(rig.standing(), "F-HI passed, F-FIX-HI-1 passed", "{name}: {}", rig.told);
        assert_eq!(rig.decided("CONVERTED"), 1, "{name}");
    }
    // Where nothing was found, or nothing new, nothing is converted.
    let features = [feature("F-HI"), feature("F-BYE")];
    let script = judges("F-HI", None, "issues", &[(&yes.0, yes.1)], &[])
        + &judges("F-BYE", None, "issues", &[(&val("F-BYE"), "yes")], &["build f-hi"]);
    let mut rig = Rig::of(&features, &script);
    rig.ends(&[], 0);
    assert_eq!(
        (rig.standing().as_str(), rig.decided("CONVERTED")),
        ("F-HI passed, F-BYE passed", 0)
    );
    rig.saw("`issues` counts as `pass`");
}

/// Not in a later mission either, which reads the fix from the queue as it reads everything else.
#[test]
fn nor_is_an_issue_of_a_fix_that_an_earlier_mission_left() {
    let claim = "This does not occur any more: No full stop";
    let fix =
        json!({ "id": "F-FIX-HI-1", "title": "No full stop", "claims": [claim], "origin": "F-HI" });
    let script = judges("F-FIX-HI-1", Some(1), "issues", &[(claim, "yes")], &["No comma"])
        + &says(
            &who("mission-worker", "F-FIX-HI-1", Some(1)),
            "verdict = 'built'",
            &[("stop.txt", "")],
        )
        + &mends("F-FIX-HI-1", "No full stop", &[("stop.txt", ".")]);
    let mut rig = Rig::of(&hi(), &script);
    rig.edit(|features| {
        features[0]["status"] = json!("passed");
        features.push(fix);
    });
    rig.ends(&[], 0);
    assert_eq!(rig.standing(), "F-HI passed, F-FIX-HI-1 passed");
    assert_eq!((rig.decided("CONVERTED"), rig.came("mission-worker", "").len()), (0, 2));
}

/// What a validator finds at a fix is that fix's to mend: otherwise a mission would never end.
#[test]
fn an_issue_of_a_fix_is_no_feature() {
    let claim = "This does not occur any more: No full stop";
    let script = judges("F-HI", None, "issues", &[(&val("F-HI"), "yes")], &["No full stop"])
        + &judges("F-FIX-HI-1", Some(1), "issues", &[(claim, "yes")], &["No comma"])
        + &says(
            &who("mission-worker", "F-FIX-HI-1", Some(1)),
            "verdict = 'built'",
            &[("stop.txt", "")],
        )
        + &mends("F-FIX-HI-1", "No full stop", &[("stop.txt", ".")]);
    let mut rig = Rig::of(&hi(), &script);
    rig.ends(&[], 0);
    assert_eq!(rig.standing(), "F-HI passed, F-FIX-HI-1 passed");
    let told = rig.prompts("mission-worker", "F-FIX-HI-1");
    assert_eq!(told.len(), 2, "{}", rig.told);
    assert!(told[1].contains("No comma"), "what was found is told: {}", told[1]);
}

#[test]
fn a_stuck_feature_holds_what_depends_on_it_and_nothing_else() {
    let features = [
        feature("F-BAD"),
        feature("F-AFTER").on(&["F-BAD"]),
        feature("F-LATER").on(&["F-AFTER"]),
        feature("F-HI"),
    ];
    let mut rig = Rig::of(&features, &builds("F-BAD", None, "bad\n"));
    rig.ends(&[], 3);
    assert_eq!(rig.standing(), "F-BAD failed, F-AFTER blocked, F-LATER blocked, F-HI passed");
    assert_eq!(rig.landed(), ["Build F-HI"]);
    let bad = rig.feature("F-BAD");
    assert_eq!(bad["attempts"], 4, "three more after the first");
    assert_eq!(rig.feature("F-LATER")["reason"], "it depends on F-AFTER");
    let why = rig.file(ESCALATION).unwrap();
    for part in [
        "## F-BAD: Build F-BAD",
        "After 4 attempts",
        "bad.txt:1 is bad",
        "F-AFTER: it depends on F-BAD",
    ] {
        assert!(why.contains(part), "{part}: {why}");
    }
    assert_eq!(rig.came("curator", ""), ["curated"], "as after DONE");
    rig.told.push_str(&format!("$ cat {ESCALATION}\n{}", without_time(&why)));
    insta::assert_snapshot!("stuck", rig.seen());
    // What was built is kept, and the next mission tries again, with what comes after.
    rig.now_says(&features, "");
    rig.ends(&[], 0);
    assert_eq!(rig.standing(), "F-BAD passed, F-AFTER passed, F-LATER passed, F-HI passed");
    assert_eq!(rig.begun(), ["F-BAD", "F-AFTER", "F-LATER"]);
    rig.was_always_sound();
}

/// Two of them in one lane, so that nothing of the first is in any lane when it is over.
#[test]
fn what_is_stuck_is_shown_once_it_is_over_and_can_be_had_back() {
    let features =
        [feature("F-BAD"), feature("F-WORSE"), feature("F-AFTER").on(&["F-BAD"]), feature("F-HI")];
    let script = builds("F-BAD", None, "bad\n") + &builds("F-WORSE", None, "bad, too\n");
    let mut rig = Rig::of(&features, &script);
    rig.ends(&["--max-attempts", "0"], 3);
    rig.told.clear();
    assert_eq!(rig.run(&["status"]), Some(0));
    insta::assert_snapshot!("stuck_status", rig.seen());
    let status = rig.scratch.windlass(&["status", "--json"]).output().unwrap();
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    let run = &status["runs"][0];
    assert_eq!((&run["standing"], &run["exit"]), (&json!("escalated"), &json!(3)));
    assert!(run["next"].as_str().unwrap().contains("`windlass mission`"), "{run}");
    let why = rig.file(ESCALATION).unwrap();
    let kept = rig.scratch.windlass(&["lanes", "list"]).output().unwrap();
    let kept = String::from_utf8(kept.stdout).unwrap();
    for (at, id) in ["F-BAD", "F-WORSE"].into_iter().enumerate() {
        let unit = &run["units"][at];
        assert_eq!((&unit["id"], &unit["status"]), (&json!(id), &json!("failed")));
        let commit = unit["kept"].as_str().expect("what was built of it is kept");
        assert!(kept.contains(&format!("{}  mission-1 · {id}", &commit[..12])), "{kept}");
        let command = format!("windlass lanes restore {commit} ../{id}");
        assert!(why.contains(&command), "{command}: {why}");
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        assert_eq!(rig.run(&words), Some(0), "{}", rig.told);
        let there = rig.scratch.repo().join("..").join(id).join(super::rig::file_of(id));
        assert!(std::fs::read_to_string(there).unwrap().starts_with("bad"), "{id}");
    }
    assert_eq!(run["units"][2]["kept"], Value::Null, "nobody began it");
    // Once another has been begun it is over for everybody.
    rig.now_says(&features, "");
    rig.ends(&[], 0);
    rig.told.clear();
    assert_eq!(rig.run(&["status"]), Some(0));
    rig.saw("no run is open");
}

fn without_time(text: &str) -> String {
    text.lines().filter(|line| !line.starts_with("At ")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_validator_is_not_believed_against_its_own_claims() {
    for (name, answer) in [
        ("a claim that does not hold", judges("F-HI", None, "pass", &[(&val("F-HI"), "no")], &[])),
        ("nothing about a claim", judges("F-HI", None, "pass", &[], &[])),
        ("another claim", judges("F-HI", None, "issues", &[("VAL-BYE-001", "yes")], &["x y z"])),
    ] {
        let mut rig = Rig::of(&hi(), &answer);
        rig.ends(&[], 3);
        assert_eq!(rig.landed(), [""; 0], "{name}");
        assert_eq!(
            rig.came("validator", "F-HI").len(),
            3,
            "{name}: asked again twice, then a person"
        );
        assert_eq!(rig.features().len(), 1, "{name}");
        rig.saw("it says `");
        rig.told.clear();
        assert_eq!(rig.run(&["status"]), Some(0));
        rig.saw("F-HI waits at validator: a person must look at it");
        rig.saw("it says `");
        let status = rig.scratch.status();
        let held = &status["runs"][0]["holds"][0];
        assert_eq!(
            (&held["unit"], &held["stage"]),
            (&json!("F-HI"), &json!("validator")),
            "{held}"
        );
        // Once it says something that can be, it goes on.
        rig.now_says(&hi(), "");
        assert_eq!(rig.run(&["resume"]), Some(0), "{name}: {}", rig.told);
        assert_eq!(rig.landed(), ["Build F-HI"], "{name}");
    }
}

#[test]
fn a_failed_claim_never_lands() {
    let script = judges("F-HI", None, "fail", &[(&val("F-HI"), "no")], &["Something else"]);
    let mut rig = Rig::of(&hi(), &script);
    rig.ends(&["--max-attempts", "1"], 3);
    assert_eq!((rig.standing().as_str(), rig.landed().len()), ("F-HI failed", 0));
    let why = rig.file(ESCALATION).unwrap();
    assert!(why.contains("After 2 attempts") && why.contains("looked at F-HI: fail"), "{why}");
}

#[test]
fn a_worker_that_changes_nothing_and_says_so_lands_nothing() {
    let script = worker("F-HI", None, "built", "it is there already");
    let mut rig = Rig::with(&hi(), &script, &[("hi.txt", "hi\n")]);
    let before = rig.scratch.git(&["rev-parse", "main"]);
    rig.ends(&[], 0);
    assert_eq!(rig.standing(), "F-HI passed", "its claims were found to hold");
    assert_eq!(rig.scratch.git(&["rev-parse", "main"]), before, "and there is nothing to land");
}

#[test]
fn a_worker_that_fails_is_tried_again_with_what_it_said() {
    let script = worker("F-HI", Some(1), "failed", "the paint is wet");
    let mut rig = Rig::of(&hi(), &script);
    rig.ends(&[], 0);
    let told = rig.prompts("mission-worker", "F-HI");
    assert_eq!(told.len(), 2);
    assert!(told[1].contains("the paint is wet"), "{}", told[1]);
}

#[test]
fn the_iteration_cap_ends_it_with_4_and_the_next_mission_goes_on() {
    let features = [feature("F-HI"), feature("F-BYE")];
    let mut rig = Rig::of(&features, "");
    rig.ends(&["--max-iterations", "3"], 4);
    assert_eq!(rig.landed(), ["Build F-HI"]);
    assert_eq!(rig.state()["decisions"]["iteration_cap"], 1, "{}", rig.state());
    assert_eq!(rig.standing(), "F-HI passed, F-BYE pending");
    insta::assert_snapshot!("iteration_cap", rig.seen());
    rig.ends(&[], 0);
    assert_eq!(rig.standing(), "F-HI passed, F-BYE passed");
    rig.was_always_sound();
}

/// Six for each feature, unless somebody says otherwise.
#[test]
fn without_a_number_the_cap_is_six_for_each_feature() {
    let script = judges("F-HI", None, "fail", &[(&val("F-HI"), "no")], &[]);
    let mut rig = Rig::of(&hi(), &script);
    rig.ends(&["--max-attempts", "9"], 4);
    let asked = rig.came("mission-worker", "").len() + rig.came("validator", "").len();
    assert_eq!(asked, 6, "{}", rig.told);

    // What comes on the way counts as well: here what a validator has found.
    let claim = "This does not occur any more: No full stop";
    let script = judges("F-HI", None, "issues", &[(&val("F-HI"), "yes")], &["No full stop"])
        + &says(
            &who("mission-worker", "F-FIX-HI-1", None),
            "verdict = 'built'",
            &[("stop.txt", ".")],
        )
        + &judges("F-FIX-HI-1", None, "fail", &[(claim, "no")], &[]);
    let mut rig = Rig::of(&hi(), &script);
    rig.ends(&["--max-attempts", "9"], 4);
    let asked = rig.came("mission-worker", "").len() + rig.came("validator", "").len();
    assert_eq!(asked, 12, "{}", rig.told);
}

/// Nobody is kept busy for ever by a validator that makes things up.
#[test]
fn of_very_many_issues_the_first_become_features_and_the_rest_is_said() {
    let issues: Vec<String> = (1..=25).map(|at| format!("Flaw number {at}")).collect();
    let issues: Vec<&str> = issues.iter().map(String::as_str).collect();
    let mut rig =
        Rig::of(&hi(), &judges("F-HI", None, "issues", &[(&val("F-HI"), "yes")], &issues));
    rig.ends(&["--max-iterations", "2"], 4);
    rig.saw("F-HI: its validator reported 5 more issues than the 20 that become features");
    assert_eq!(rig.features().len(), 21);
}

/// An older mission's files are the newer one's by now.
#[test]
fn the_files_of_an_older_mission_are_not_written_over_those_of_a_newer_one() {
    let features = [feature("F-HI"), feature("F-BAD")];
    let mut rig = Rig::of(&features, &builds("F-BAD", None, "bad\n"));
    rig.ends(&["--max-attempts", "0"], 3);
    rig.now_says(&features, "");
    rig.ends(&[], 0);
    let (queue, state) = (rig.queue(), rig.state());
    assert_eq!(rig.run(&["project", "mission-1"]), Some(2), "{}", rig.told);
    rig.saw("the files of mission-1 are those of mission-2 by now");
    assert_eq!((rig.queue(), rig.state()), (queue.clone(), state.clone()));
    assert_eq!(rig.run(&["project"]), Some(0), "{}", rig.told);
    assert_eq!((rig.queue(), rig.state()), (queue, state));
}

/// Titles come from anywhere, and a history is read in a terminal.
#[test]
fn a_title_that_nobody_can_read_does_not_become_a_subject() {
    let mut rig = Rig::of(&hi(), "");
    let title = "say it again and ".repeat(6_000);
    rig.edit(|features| features[0]["title"] = json!(title));
    rig.ends(&[], 0);
    let landed = rig.landed();
    assert!(landed[0].chars().count() <= 100 && landed[0].ends_with('…'), "{landed:?}");
    let whole = rig.scratch.git(&["log", "-1", "--format=%b"]);
    assert!(whole.starts_with("say it again and say") && whole.len() < 3_000, "{whole}");
}

#[test]
fn the_cost_cap_ends_it_with_4() {
    let config = format!(
        "{CONFIG}[budget]\nrun = {{ dollars = 0.03 }}\ninvocation = {{ dollars = 0.02 }}\nrequest = {{ dollars = 0.01 }}\n"
    );
    let mut rig =
        Rig::with(&[feature("F-HI"), feature("F-BYE")], "", &[("windlass.toml", &config)]);
    rig.ends(&[], 4);
    assert!(rig.landed().len() < 2, "{}", rig.told);
    insta::assert_snapshot!("cost_cap", rig.seen());
    // Once there is more of it, it goes on where it was.
    rig.write("windlass.toml", &config.replace("0.03", "1"));
    rig.scratch.git(&["commit", "-qm", "More", "windlass.toml"]);
    assert_eq!(rig.run(&["mission"]), Some(0), "{}", rig.told);
    assert_eq!(rig.landed(), ["Build F-HI", "Build F-BYE"]);
    assert_eq!(rig.came("mission-worker", "").len(), 2, "nobody was asked twice");
}

#[test]
fn a_plan_of_nothing_is_no_plan() {
    let mut rig = Rig::unplanned(&[], &plans(None, &queue(&[]), "# Contract\n"), &[]);
    rig.ends(&[], 3);
    assert!(
        rig.file(ESCALATION).unwrap().contains("has no features"),
        "{:?}",
        rig.file(ESCALATION)
    );
}

#[test]
fn features_that_share_a_file_are_not_under_way_together() {
    let features = [
        feature("F-A").files(&["src/shared.txt"]),
        feature("F-B").files(&["src"]),
        feature("F-C").files(&["other.txt"]),
    ];
    let mut rig = Rig::of(&features, "");
    rig.ends(&["--lanes", "3"], 0);
    // Whichever goes first has landed before the other is begun.
    let entries = rig.scratch.entries();
    let at = |note: &str, unit: &str| {
        entries.iter().position(|it| it["note"] == note && it["unit"] == unit).unwrap()
    };
    let apart =
        at("landed", "F-A") < at("asked", "F-B") || at("landed", "F-B") < at("asked", "F-A");
    assert!(apart, "both at once: {}", rig.told);
    assert_eq!(rig.landed().len(), 3);
    rig.was_always_sound();
}

/// A feature that is there already, in a branch that somebody else has moved on.
#[test]
fn attempts_of_an_earlier_mission_do_not_count() {
    let features = hi();
    let mut rig = Rig::of(&features, &builds("F-HI", None, "bad\n"));
    rig.ends(&["--max-attempts", "1"], 3);
    assert_eq!(rig.feature("F-HI")["attempts"], 2);
    rig.now_says(&features, &(builds("F-HI", Some(1), "bad\n") + &passes("F-HI")));
    rig.ends(&["--max-attempts", "1"], 0);
    let done: Value = rig.feature("F-HI");
    assert_eq!((&done["status"], &done["attempts"]), (&json!("passed"), &json!(2)));
    assert_eq!(done["reason"], Value::Null, "what kept it is over");
}

/// The checks of everything that was claimed, and what each came to.
fn looked_at_all(rig: &Rig) -> Vec<String> {
    let checked = rig.scratch.notes("checked");
    let own = checked.iter().filter(|it| it["name"] == "contract" && it["unit"].is_null());
    own.map(|it| it["came"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_claim_that_a_later_feature_breaks_is_no_done() {
    let features = [feature("F-A"), feature("F-B").on(&["F-A"])];
    let mut rig = Rig::of(&features, "");
    let gone = "- VAL-A-001: there is no b\n  file: `b.txt` absent\n";
    rig.write(CONTRACT, &format!("{gone}{}", contract(&features[1..])));
    rig.ends(&[], 3);
    rig.saw("VAL-A-001: there is no b (file b.txt absent: it is there)");
    assert_eq!(looked_at_all(&rig), ["fail"], "once, however many features there are");
    for (decision, times) in [("DONE", 0), ("ESCALATE", 1), ("claims_broken", 1)] {
        assert_eq!(rig.decided(decision), times, "{decision}: {}", rig.state());
    }
    assert_eq!(rig.standing(), "F-A failed, F-B passed");
    assert_eq!(rig.feature("F-A")["reason"], "VAL-A-001 does not hold any more");
    let why = rig.file(ESCALATION).unwrap();
    for part in
        ["## F-A: Build F-A", "there is no b (file b.txt absent: it is there)", "It has landed as "]
    {
        assert!(why.contains(part), "{part}: {why}");
    }
    let output = rig.scratch.windlass(&["report"]).output().unwrap();
    let report = String::from_utf8(output.stdout).unwrap();
    let claim = report.lines().find(|line| line.contains("VAL-A-001")).unwrap();
    assert!(claim.contains("no") && claim.contains("it is there"), "{claim}");
    // The next mission begins with what has not passed after all.
    rig.write(CONTRACT, &contract(&features));
    rig.ends(&[], 0);
    assert_eq!(
        (rig.begun(), looked_at_all(&rig)),
        (vec!["F-A".to_owned()], vec!["pass".to_owned()])
    );
    assert_eq!(rig.standing(), "F-A passed, F-B passed");
    rig.was_always_sound();
}

/// Neither what a person has taken upon themselves nor what was left out, nor what nobody claims.
#[test]
fn only_what_was_built_has_to_hold_in_the_end() {
    let features = [feature("F-A"), feature("F-B"), feature("F-C")];
    let mut rig = Rig::of(&features, "");
    rig.edit(|features| {
        features[1]["status"] = json!("passed");
        features[2]["status"] = json!("skipped");
    });
    let nobody = "- VAL-NOBODY-001: it is there\n  file: `nobody.txt` exists\n";
    rig.write(CONTRACT, &format!("{nobody}{}", contract(&features)));
    rig.ends(&[], 0);
    assert_eq!((looked_at_all(&rig), rig.landed().len()), (vec!["pass".to_owned()], 1));
    assert_eq!(rig.standing(), "F-A passed, F-B passed, F-C skipped");
}

/// Also of a feature that an earlier mission has built.
#[test]
fn what_an_earlier_mission_has_built_has_to_hold_as_well() {
    let features = [feature("F-A"), feature("F-B")];
    let mut rig = Rig::of(&features[..1], "");
    rig.ends(&[], 0);
    rig.edit(|all| all.push(json!({ "id": "F-B", "title": "Build F-B", "claims": [val("F-B")] })));
    let gone = "- VAL-A-001: there is no b\n  file: `b.txt` absent\n";
    rig.write(CONTRACT, &format!("{gone}{}", contract(&features[1..])));
    rig.now_says(&features, "");
    rig.ends(&[], 3);
    assert_eq!(rig.standing(), "F-A failed, F-B passed");
}
