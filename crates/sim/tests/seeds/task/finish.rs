//! Finish: commit code only / all / nothing, without git, and the removal of the output base.

use windlass_core::{
    run::{EffectKind, Standing, Target, Wish},
    workflow::{Errand, Save},
};
use windlass_sim::{Saying, Walk};

use super::{FLOW, begin, choices, fresh, given, last_record, stops_at};

const OUR_THREE: [&str; 3] = ["qa_notes.md", "critic_findings.md", "conventions.md"];

/// The artifacts that a landing keeps.
fn kept(walk: &Walk<'_>, stage: &str) -> Vec<String> {
    match walk.find(stage).map(|(_, effect)| effect.kind) {
        Some(EffectKind::Errand(Errand::Land { keep, .. })) => keep,
        _ => panic!("{stage} is not landing"),
    }
}

/// "Commit code only (Recommended)" / "Commit all" / "No commit".
#[test]
fn the_three_endings() {
    let offered = [
        ("Commit code only (Recommended)", "Clean artifacts, commit code changes only"),
        ("Commit all", "Commit everything including artifacts"),
        ("No commit", "Clean .harness/ only, keep changes in working tree"),
    ];
    let walk = fresh(&[], "commit_gate");
    assert_eq!(choices(&walk, "commit_gate"), offered.map(|(l, a)| (l.into(), a.into())));

    // (answer, record, the stages that follow)
    let rows: [(&str, &str, &[&str]); 3] = [
        ("code_only", "commit_code_only", &["land_code", "clean_artifacts", "clean_session"]),
        ("all", "commit_all", &["land_all", "clean_artifacts", "clean_session"]),
        ("nothing", "no_commit", &["give_back", "clean_session"]),
    ];
    for (answer, record, stages) in rows {
        let mut walk = fresh(&[], "commit_gate");
        walk.answers("commit_gate", answer);
        assert_eq!(last_record(&walk), record);
        let before = walk.entered().len();
        assert_eq!(walk.at(), stages[..1], "{answer}");
        walk.on_to("report", &[]);
        let mut entered = vec![stages[0]];
        entered.extend(&walk.entered()[before..walk.entered().len() - 1]);
        assert_eq!(entered, stages, "{answer}");
        walk.to_the_end(&[]);
        assert_eq!((walk.exit_code(), walk.run().tally().done), (Some(0), 1), "{answer}");
        assert_eq!(
            walk.run().unit_named("the-task").map(|unit| unit.landed),
            Some(answer != "nothing")
        );
    }
}

/// "Stage spec-persistence files" with the code; "Commit all: stage + commit {docs_path} + code".
#[test]
fn what_lands_with_the_code() {
    let at = |answer: &str, stage: &str| {
        let mut walk = fresh(&[], "commit_gate");
        walk.answers("commit_gate", answer);
        kept(&walk, stage)
    };
    assert_eq!(at("code_only", "land_code"), OUR_THREE);
    let all = at("all", "land_all");
    for artifact in
        ["spec.md", "changes.md", "verify_report.md", "qa_report.md"].iter().chain(&OUR_THREE)
    {
        assert!(all.contains(&(*artifact).to_owned()), "{artifact}");
    }
}

/// "If has_git == false: … Delete .harness/ only. No git operations."
#[test]
fn without_git_there_is_no_commit() {
    let mut walk = Walk::new(&FLOW, &[]);
    let except = [given(), ("surroundings", Saying::new("no_git"))];
    walk.on_to("give_back", &except);
    assert_eq!(
        (walk.at(), walk.runs("commit_gate")),
        (vec!["give_back".into()], 0),
        "nothing is asked"
    );
    let kind = walk.find("give_back").map(|(_, effect)| effect.kind);
    assert!(matches!(kind, Some(EffectKind::Errand(Errand::Save { how: Save::Apply, .. }))));
    walk.to_the_end(&[]);
    assert_eq!((walk.runs("clean_session"), walk.runs("clean_artifacts")), (1, 0));
    let landed = ["land_code", "land_all"].map(|stage| walk.runs(stage));
    assert_eq!((landed, walk.exit_code()), ([0, 0], Some(0)));
}

/// "No commit" on a checkout that cannot take the change: the lane is kept and named, and it is asked again.
#[test]
fn a_checkout_that_cannot_take_the_change_keeps_the_lane() {
    for (result, named) in [("saved", 0), ("nothing", 0)] {
        let mut walk = fresh(&[], "commit_gate");
        walk.answers("commit_gate", "nothing").says("give_back", result).to_the_end(&[]);
        let runs = (walk.runs("lane_kept"), walk.runs("clean_session"), walk.exit_code());
        assert_eq!(runs, (named, 1, Some(0)), "{result}");
    }
    let rows = [
        ("give_again", "give_back"),
        ("code_only", "land_code"),
        ("all", "land_all"),
        ("leave", "clean_session"),
    ];
    for (answer, at) in rows {
        let mut walk = fresh(&[], "commit_gate");
        walk.answers("commit_gate", "nothing")
            .says("give_back", "refused")
            .says("lane_kept", "told");
        assert_eq!(walk.answers("refused_gate", answer).at(), [at], "{answer}");
        walk.to_the_end(&[]);
        assert_eq!((walk.runs("clean_session"), walk.exit_code()), (1, Some(0)), "{answer}");
    }
    // Without git there is nothing else to choose.
    let mut walk = Walk::new(&FLOW, &[]);
    walk.on_to("give_back", &[given(), ("surroundings", Saying::new("no_git"))]);
    walk.says("give_back", "refused").says("lane_kept", "told");
    assert_eq!(walk.at(), ["clean_session"]);
}

/// C15: work that is not code has nothing to build or test, and lands on SKIPPED.
#[test]
fn work_without_checks_can_land() {
    for (answer, stage) in
        [("code_only", "land_code"), ("all", "land_all"), ("nothing", "give_back")]
    {
        let mut walk = begin(&[], None, &[]);
        let skipped = Saying::new("skipped");
        let except = [
            ("verifying", skipped.clone()),
            ("limits", skipped),
            ("commit_gate", Saying::new(answer)),
        ];
        walk.on_to(stage, &except);
        assert!(walk.is_at(stage), "{answer}");
        walk.to_the_end(&except);
        assert_eq!((walk.exit_code(), walk.runs("verify_report")), (Some(0), 0), "{answer}");
    }
}

/// Nothing lands, and nothing is given back, without a verified and evaluated change.
#[test]
fn nothing_is_finished_unproved() {
    let wish =
        |stage: &str| Wish::Redo { target: Target::Unit("the-task".into()), stage: stage.into() };
    for ending in ["land_code", "land_all", "give_back"] {
        for missing in ["verifying", "evaluating"] {
            let mut walk = fresh(&[], missing);
            walk.wishes(wish(ending));
            let standing = (walk.at(), walk.standing());
            assert_eq!(standing, (vec![], Standing::Escalated), "{ending} without {missing}");
        }
    }
}

/// A base that moved is verified again; conflicts are resolved three times, then a person is asked.
#[test]
fn a_landing_that_meets_others() {
    for (answer, stage) in [("code_only", "land_code"), ("all", "land_all")] {
        let landing = || {
            let mut walk = fresh(&[], "commit_gate");
            walk.answers("commit_gate", answer);
            walk
        };
        let except = [("commit_gate", Saying::new(answer))];
        assert_eq!(landing().says(stage, "moved").at(), ["verify_ready"], "{answer}");
        let mut walk = landing();
        for _ in 0..3 {
            walk.says(stage, "conflict").says("resolve", "resolved").on_to(stage, &except);
        }
        walk.says(stage, "conflict");
        assert_eq!(walk.options("conflict_gate"), ["manual", "stop", "other"], "{answer}");
        stops_at(&mut walk, "conflict_gate");
        assert_eq!(walk.answers("conflict_gate", "manual").at(), ["verify_ready"], "{answer}");
        assert_eq!(last_record(&walk), "fixed_manually", "{answer}");
        walk.on_to(stage, &except).says(stage, "conflict");
        assert_eq!(walk.at(), ["resolve"], "{answer}: a new budget after their fix");
        let mut walk = landing();
        for _ in 0..20 {
            walk.says(stage, "moved").on_to(stage, &except);
        }
        walk.says(stage, "moved");
        assert_eq!((walk.at(), walk.exit_code()), (vec![], Some(3)), "{answer}: ours, it ends");
        assert_eq!(walk.wishes(Wish::Resume(None)).at(), ["verify_ready"], "{answer}");
        assert_eq!(
            landing().says(stage, "conflict").says("resolve", "failed").at(),
            ["conflict_gate"]
        );
    }
}

/// "Full output base cleanup (only on explicit user request)": listed, warned, confirmed.
#[test]
fn the_output_base_is_removed_on_request_only() {
    let rows: [(&str, Option<&str>, usize); 3] =
        [("no", None, 0), ("yes", Some("yes"), 1), ("yes", Some("no"), 0)];
    for (asked, answer, removed) in rows {
        let mut walk = begin(&[("remove_output_base", asked)], None, &[]);
        if let Some(answer) = answer {
            walk.on_to("remove_gate", &[]);
            assert_eq!(walk.runs("output_base"), 1, "listed first");
            walk.answers("remove_gate", answer);
            assert_eq!(last_record(&walk) == "output_base_removed", removed == 1);
        }
        walk.to_the_end(&[]);
        assert_eq!(
            (walk.runs("remove_all"), walk.exit_code()),
            (removed, Some(0)),
            "{asked} {answer:?}"
        );
    }
    // Not after a run that was stopped.
    let mut walk = Walk::new(&FLOW, &[("remove_output_base", "yes")]);
    walk.says("surroundings", "git").says("session", "other_skill");
    walk.answers("session_conflict", "cancel").to_the_end(&[]);
    assert_eq!((walk.runs("remove_gate"), walk.exit_code()), (0, Some(5)));
}
