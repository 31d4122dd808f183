//! What a person may want of a run: stop, pause, resume, cancel, redo, skip, reorder.

use windlass_core::{
    run::{Input, Refused, Standing, Start, Target, UnitStatus, Wish},
    workflow::{RunOutcome, Settled},
};
use windlass_sim::{Saying, Walk, item};

use crate::{JUST_DO, claiming, flow, listed, listed_from, listed_items, order, ranked, units_at};

const TWO: &str = r#"
unit do    role = "worker", edits = true, on = { done = "next", failed = "failed" }
unit look  role = "reviewer", on = { clear = "next", blocking = "failed" }
unit land  land = "merge", needs = ["look:clear"],
    on = { landed = "done", moved = "failed", conflict = "failed" }
"#;

fn refused(walk: &mut Walk<'_>, wish: Wish) -> Refused {
    match walk.give(Input::Control { who: "me".into(), wish }) {
        Err(refused) => refused,
        Ok(()) => panic!("the wish was granted"),
    }
}

fn of(unit: &str) -> Target {
    Target::Unit(unit.into())
}

#[test]
fn stop_lets_the_unit_under_way_settle_and_starts_no_other() {
    let flow = flow("", TWO);
    let mut walk = listed(&flow, &["a", "b"]);
    walk.wishes(Wish::Stop);
    walk.says("do", "done").says("look", "clear").says("land", "landed");
    assert_eq!((walk.standing(), walk.exit_code()), (Standing::Stopped, Some(5)));
    walk.wishes(Wish::Resume(None));
    assert_eq!(units_at(&walk), ["b"]);
}

#[test]
fn pause_wants_nothing_new_and_takes_the_reports_of_what_is_under_way() {
    let flow = flow("", TWO);
    let mut walk = listed(&flow, &["a", "b"]);
    walk.wishes(Wish::Pause);
    assert_eq!(walk.at(), ["do"], "what is under way stays wanted");
    walk.says("do", "done");
    assert_eq!((walk.at(), walk.exit_code()), (vec![], Some(5)));
    walk.wishes(Wish::Resume(None));
    assert_eq!(walk.at(), ["look"]);
}

#[test]
fn cancel_ends_the_run_at_once_but_not_a_landing() {
    let flow = flow("[units]\nlanes = 2", TWO);
    let mut walk = listed(&flow, &["a", "b"]);
    let reserved = walk.run().purse().reserved;
    walk.wishes(Wish::Cancel);
    assert_eq!(walk.standing(), Standing::Ended(RunOutcome::Cancelled));
    assert_eq!(walk.exit_code(), Some(5));
    assert_eq!(walk.run().purse().settled, reserved, "nobody knows what they have used");

    let mut walk = listed(&flow, &["a", "b"]);
    walk.says("do", "done").says("do", "done").says("look", "clear");
    assert!(walk.is_at("land") && walk.is_at("look"));
    walk.wishes(Wish::Cancel);
    assert_eq!(walk.at(), ["land"], "a landing cannot be taken back, so it is waited for");
    walk.says("land", "landed");
    assert_eq!(walk.standing(), Standing::Ended(RunOutcome::Cancelled));
    assert_eq!(walk.run().unit_named("a").map(|u| u.landed), Some(true));
}

#[test]
fn one_stage_can_be_done_over() {
    let flow = flow("", TWO);
    let mut walk = listed(&flow, &["a"]);
    let (old, _) = walk.find("do").expect("under way");
    walk.wishes(Wish::Redo { target: of("a"), stage: "do".into() });
    let (new, _) = walk.find("do").expect("under way");
    assert_ne!(old, new);
    walk.says("do", "done").says("look", "clear");
    let why = refused(&mut walk, Wish::Redo { target: of("a"), stage: "do".into() });
    assert_eq!(why, Refused::Landing("a".into()));
    walk.says("land", "landed");
    let why = refused(&mut walk, Wish::Redo { target: of("a"), stage: "do".into() });
    assert_eq!(why, Refused::Ended);
}

#[test]
fn the_runs_own_stages_can_be_done_over_too() {
    let flow = flow("", JUST_DO);
    let mut walk = Walk::new(&flow, &[]);
    walk.wishes(Wish::Redo { target: Target::Run, stage: "list".into() });
    assert_eq!(walk.runs("list"), 2);
    walk.says("list", Saying::new("found").list("jobs", &["a"]));
    let why = refused(&mut walk, Wish::Redo { target: Target::Run, stage: "list".into() });
    assert!(matches!(why, Refused::StageNotHere { .. }));
}

#[test]
fn wishes_about_what_is_not_there_are_refused() {
    let flow = flow("", TWO);
    let mut walk = listed(&flow, &["a", "b"]);
    let redo = |unit: &str, stage: &str| Wish::Redo { target: of(unit), stage: stage.into() };
    assert_eq!(refused(&mut walk, redo("x", "do")), Refused::NoSuchUnit("x".into()));
    assert_eq!(refused(&mut walk, redo("b", "do")), Refused::UnitNotStarted("b".into()));
    assert!(matches!(refused(&mut walk, redo("a", "list")), Refused::StageNotHere { .. }));
    assert!(matches!(refused(&mut walk, redo("a", "xx")), Refused::StageNotHere { .. }));
    let over = |stage: &str, verdict: &str, reason: &str| Wish::Override {
        target: of("a"),
        stage: stage.into(),
        verdict: verdict.into(),
        reason: reason.into(),
    };
    let why = refused(&mut walk, over("do", "done", " "));
    assert!(matches!(why, Refused::ReasonNeeded { .. }));
    let why = refused(&mut walk, over("look", "clear", "x"));
    assert!(matches!(why, Refused::StageNotHere { why, .. } if why.contains("not run")));
    let why = refused(&mut walk, over("land", "landed", "x"));
    assert!(matches!(why, Refused::StageNotHere { why, .. } if why.contains("only the verdict")));
    let why = refused(&mut walk, over("do", "fine", "x"));
    assert!(matches!(why, Refused::NoSuchOption { options, .. } if options == ["done", "failed"]));
    let why = refused(&mut walk, over("do", "crashed", "x"));
    assert!(matches!(why, Refused::NoSuchOption { .. }), "a mishap is nobody's verdict");
    let skip = |unit: &str| Wish::Skip { unit: unit.into(), reason: "x".into() };
    walk.wishes(skip("a"));
    assert_eq!(refused(&mut walk, skip("a")), Refused::UnitSettled("a".into()));
}

#[test]
fn a_skipped_unit_is_left_out_and_what_depends_on_it_is_blocked() {
    let flow = flow("", TWO);
    let mut c = item("c");
    c.depends.push("a".into());
    let mut walk = listed_items(&flow, vec![item("a"), item("b"), c]);
    walk.wishes(Wish::Skip { unit: "a".into(), reason: "not now".into() });
    assert_eq!(walk.unit("a"), Some(UnitStatus::Settled(Settled::Skipped)));
    assert_eq!(walk.unit("c"), Some(UnitStatus::Settled(Settled::Blocked)));
    assert_eq!(units_at(&walk), ["b"]);
    assert_eq!(walk.run().tally().skipped, 1);
}

#[test]
fn a_pending_unit_can_be_skipped_even_while_it_waits_for_a_claim() {
    let flow = flow("[units]\nlanes = 2", JUST_DO);
    let on = |id| claiming(id, &["f"]);
    let mut walk = listed_items(&flow, vec![on("a"), on("b"), on("c")]);
    walk.wishes(Wish::Skip { unit: "b".into(), reason: "x".into() });
    walk.says("do", "done");
    assert_eq!(units_at(&walk), ["c"]);
    walk.says("do", "done");
    assert_eq!(walk.standing(), Standing::Ended(RunOutcome::Done));
}

#[test]
fn pending_units_can_be_taken_in_another_order() {
    let flow = flow("", JUST_DO);
    let mut late = item("z");
    late.rank = -5;
    let mut walk = listed_items(&flow, vec![item("a"), item("b"), item("c"), late]);
    assert_eq!(units_at(&walk), ["z"]);
    walk.wishes(Wish::Reorder(vec!["c".into(), "z".into(), "a".into(), "c".into()]));
    assert_eq!(order(&mut walk), ["z", "c", "a", "b"]);
}

#[test]
fn units_taken_first_come_before_all_others_whatever_their_rank() {
    let flow = flow("", JUST_DO);
    let jobs = vec![ranked("a", -30), ranked("b", -20), ranked("c", 7), ranked("d", 9)];
    let mut walk = listed_items(&flow, jobs);
    walk.wishes(Wish::Reorder(vec!["d".into(), "c".into()]));
    assert_eq!(order(&mut walk), ["a", "d", "c", "b"], "the one under way stays");
}

#[test]
fn a_landing_keeps_wishes_from_its_own_unit_or_run_and_from_no_other() {
    let finale = r#"
finale check_all  checks = ["test"], on = { pass = "next", fail = "end", skipped = "next" }
finale land_all   land = "merge", needs = ["check_all:pass|skipped"],
    on = { landed = "next", moved = "end", conflict = "end" }
"#;
    let flow = flow("[units]\nlanes = 2", &format!("{TWO}{finale}"));
    let mut walk = listed(&flow, &["a", "b"]);
    walk.says("do", "done").says("do", "done").says("look", "clear");
    assert!(walk.is_at("land"));
    walk.wishes(Wish::Redo { target: of("b"), stage: "do".into() });
    walk.says("land", "landed").says("do", "done").says("look", "clear").says("land", "landed");
    walk.says("check_all", "pass");
    let why = refused(&mut walk, Wish::Redo { target: Target::Run, stage: "check_all".into() });
    assert!(matches!(why, Refused::StageNotHere { why, .. } if why.contains("landing")));
    walk.says("land_all", "landed");
    assert_eq!(walk.exit_code(), Some(0));
}

#[test]
fn a_unit_that_waits_for_a_claim_can_be_taken_in_another_order() {
    let flow = flow("[units]\nlanes = 2", JUST_DO);
    let on = |id| claiming(id, &["f"]);
    let mut walk = listed_items(&flow, vec![on("a"), on("b"), on("c")]);
    walk.wishes(Wish::Reorder(vec!["c".into(), "b".into()]));
    walk.says("do", "done");
    assert_eq!(units_at(&walk), ["c"]);
}

#[test]
fn resume_can_be_for_one_unit_alone() {
    let stages = r#"
unit do  role = "worker", on = { done = "next", failed = "pause" }
"#;
    let flow = flow("[units]\nlanes = 2", stages);
    let mut walk = listed(&flow, &["a", "b"]);
    walk.says("do", "failed").says("do", "failed");
    assert_eq!(walk.standing(), Standing::Escalated);
    walk.wishes(Wish::Resume(Some(Target::Run)));
    assert_eq!(walk.at(), [""; 0]);
    walk.wishes(Wish::Resume(Some(of("b"))));
    assert_eq!(units_at(&walk), ["b"]);
    assert_eq!(refused(&mut walk, Wish::Resume(Some(of("x")))), Refused::NoSuchUnit("x".into()));
}

#[test]
fn inputs_and_entries_are_held_to_what_the_workflow_says() {
    let head = "[inputs]\nwide = { type = \"1..3\", ask = \"How wide?\" }\nfast = \"flag\"\n\
                [entry.look]\nat = \"look\"\nrequires = [\"spec.md\"]\nelse = \"Run plan first\"";
    let flow = flow(head, TWO);
    let start =
        |pairs: &[(&str, windlass_core::value::Value)], entry: Option<&str>, have: &[&str]| {
            windlass_core::run::start(
                flow.clone(),
                windlass_core::run::Stamp::default(),
                Start {
                    inputs: pairs.iter().map(|(n, v)| ((*n).to_owned(), v.clone())).collect(),
                    entry: entry.map(str::to_owned),
                    have: have.iter().map(|h| (*h).to_owned()).collect(),
                    ..Start::default()
                },
            )
        };
    let wide = [("wide", 2.into())];
    assert!(start(&wide, None, &[]).is_ok());
    let missing = start(&[], None, &[]).unwrap_err();
    assert_eq!(missing.to_string(), "input \"wide\" is missing: How wide?");
    let wrong = start(&[("wide", 9.into())], None, &[]).unwrap_err();
    assert_eq!(wrong.to_string(), "input \"wide\" must be a number 1..3, not 9");
    let unknown = start(&[("wide", 2.into()), ("tall", 2.into())], None, &[]).unwrap_err();
    assert_eq!(unknown, Refused::NoSuchInput("tall".into()));
    let entry = start(&wide, Some("nowhere"), &[]).unwrap_err();
    assert_eq!(entry, Refused::NoSuchEntry("nowhere".into()));
    let not_ready = start(&wide, Some("look"), &[]).unwrap_err();
    assert_eq!(not_ready.to_string(), "Run plan first (missing: spec.md)");
    let events = start(&wide, Some("look"), &["spec.md"]).expect("starts");
    assert_eq!(events[0].seq, 0);
    let begin = Start {
        inputs: windlass_sim::typed(&flow, &[("wide", "2")]),
        entry: Some("look".into()),
        have: ["spec.md".to_owned()].into(),
        ..Start::default()
    };
    let walk = listed_from(&flow, begin, &["a"]);
    assert_eq!(walk.at(), ["look"], "it starts where the sub-command says");
}

#[test]
fn a_verdict_that_a_person_gives_may_lead_back_to_its_stage() {
    let stages = r#"
unit do  role = "worker",
    on = { done = "next", failed = { to = "again", count = "tries", spent = "failed" } }
"#;
    let flow = flow("[counters]\ntries = { per = \"unit\", max = 2 }", stages);
    let mut walk = listed(&flow, &["a"]);
    walk.wishes(Wish::Override {
        target: of("a"),
        stage: "do".into(),
        verdict: "failed".into(),
        reason: "I have seen it".into(),
    });
    assert_eq!(walk.at(), ["do"], "it is asked again");
    walk.says("do", "done");
    assert_eq!(walk.exit_code(), Some(0));
}
