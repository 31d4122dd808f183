//! Gates: options, defaults, free text, concerns, policies, waking.

use windlass_core::run::{
    Answer, Event, Input, Refused, Settings, Standing, StandingPolicy, Start,
};
use windlass_sim::{Saying, Walk};

use crate::{flow, listed, listed_from, listed_items, subject};

const GATE: &str = r#"
unit ask  gate = "go?", default = "no",
    on = { yes = { to = "next", label = "Yes", about = "go on" },
           twice = { to = "ask", count = "tries" },
           high = [{ when = "unit.level == 'high'", to = "next" }],
           why = { to = "next", reason = true }, no = "failed" }
"#;

const TRIES: &str = "[counters]\ntries = { per = \"unit\", max = 1 }";

/// An answer to the first gate that is open.
fn answered(walk: &Walk<'_>, option: Option<&str>, text: Option<&str>) -> Answer {
    Answer {
        gate: walk.run().gates()[0].id,
        option: option.map(str::to_owned),
        text: text.map(str::to_owned),
        who: "me".into(),
        shown: "digest".into(),
        subject: None,
    }
}

fn answer(walk: &mut Walk<'_>, option: Option<&str>, text: Option<&str>) -> Result<(), Refused> {
    let answer = answered(walk, option, text);
    walk.give(Input::Answer(answer))
}

#[test]
fn options_are_offered_while_their_case_holds_and_their_counter_is_not_spent() {
    let flow = flow(TRIES, GATE);
    let mut walk = listed(&flow, &["a"]);
    assert_eq!(walk.options("ask"), ["yes", "twice", "why", "no", "other"]);
    walk.answers("ask", "twice");
    assert_eq!(walk.options("ask"), ["yes", "why", "no", "other"]);
    let refused = walk.try_answer("ask", "twice");
    assert!(matches!(refused, Err(Refused::NoSuchOption { given, .. }) if given == "twice"));
    let refused = walk.try_answer("ask", "high");
    assert!(matches!(refused, Err(Refused::NoSuchOption { .. })));
    let view = walk.run().gates().remove(0);
    let yes = &view.options[0];
    assert_eq!((yes.label.as_str(), yes.about.as_deref()), ("Yes", Some("go on")));
    assert_eq!(view.options.iter().find(|o| o.default).map(|o| o.key.as_str()), Some("no"));
}

#[test]
fn an_empty_answer_is_the_default_and_free_text_asks_again() {
    let flow = flow(TRIES, GATE);
    let mut walk = listed(&flow, &["a"]);
    let first = walk.run().gates()[0].id;
    assert_eq!(answer(&mut walk, None, Some("what do you mean?")), Ok(()));
    let second = walk.run().gates()[0].id;
    assert_ne!(first, second, "the question is put again");
    assert_eq!(answer(&mut walk, None, Some("  ")), Ok(()), "blank text is no text");
    assert_eq!(walk.run().tally().failed, 1);
}

#[test]
fn a_gate_without_default_refuses_an_empty_answer() {
    let flow = flow("", r#"unit ask  gate = "go?", on = { yes = "next", no = "failed" }"#);
    let mut walk = listed(&flow, &["a"]);
    let refused = answer(&mut walk, None, None);
    assert!(
        matches!(refused, Err(Refused::NoDefault { options }) if options == ["yes", "no", "other"])
    );
}

#[test]
fn an_option_that_wants_a_reason_does_not_go_without() {
    let flow = flow(TRIES, GATE);
    let mut walk = listed(&flow, &["a"]);
    let refused = answer(&mut walk, Some("why"), Some(" "));
    assert_eq!(refused, Err(Refused::ReasonNeeded { option: "why".into() }));
    assert_eq!(answer(&mut walk, Some("why"), Some("it is late")), Ok(()));
    let text = walk.journal().iter().find_map(|r| match &r.event {
        Event::Answered { text, who, .. } => Some((text.clone(), who.clone())),
        _ => None,
    });
    assert_eq!(text, Some((Some("it is late".into()), "me".into())));
}

#[test]
fn a_gate_is_answered_once() {
    let flow = flow(TRIES, GATE);
    let mut walk = listed(&flow, &["a", "b"]);
    let late = answered(&walk, Some("no"), None);
    let gate = late.gate;
    walk.answers("ask", "yes");
    assert_eq!(walk.give(Input::Answer(late)), Err(Refused::NoSuchGate(gate)));
}

const CONCERNED: &str = r#"
unit ask  gate = "approve?",
    policy = [{ when = "fast", answer = "yes", record = "auto_fast" },
              { when = "quiet", answer = "yes", record = "auto" }],
    concerns = { high = "unit.level == 'high'", heavy = "unit.weight > 10" },
    on = { yes = { to = "next", record = "approved" }, no = "failed" }
"#;

fn judged(fast: &str, facts: &[(&str, windlass_core::value::Value)]) -> Vec<String> {
    let flow = flow("[inputs]\nfast = \"flag\"", CONCERNED);
    let mut walk = Walk::new(&flow, &[("fast", fast)]);
    let mut job = windlass_sim::item("a");
    job.facts = facts.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    walk.says("list", Saying::new("found").items("jobs", vec![job]));
    walk.records()
}

#[test]
fn a_policy_answers_only_when_no_concern_fired_and_unknown_has_fired() {
    let quiet = [("level", "low".into()), ("weight", 10.into())];
    assert_eq!(judged("no", &quiet), ["auto"]);
    assert_eq!(judged("no", &[("level", "high".into()), ("weight", 1.into())]), [""; 0]);
    assert_eq!(judged("no", &[("level", "low".into()), ("weight", 11.into())]), [""; 0]);
    assert_eq!(judged("no", &[("level", "low".into())]), [""; 0], "an absent fact has fired");
    assert_eq!(judged("yes", &[]), ["auto_fast"], "the first policy wins");
}

fn with_policy(stage: &str, answer: &str) -> Start {
    let policy =
        StandingPolicy { name: "night".into(), stage: stage.into(), answer: answer.into() };
    Start {
        settings: Settings { policies: vec![policy], ..Settings::default() },
        ..Start::default()
    }
}

#[test]
fn a_standing_policy_answers_the_first_time_only_and_is_named() {
    let stages = r#"
unit ask  gate = "go?", on = { more = "do", enough = "done" }
unit do   role = "worker", on = { done = "ask", failed = "failed" }
"#;
    let flow = flow("", stages);
    let mut walk = listed_from(&flow, with_policy("ask", "more"), &["a"]);
    let name = walk.journal().iter().find_map(|r| match &r.event {
        Event::Asked { policy: Some(policy), .. } => policy.name.clone(),
        _ => None,
    });
    assert_eq!(name.as_deref(), Some("night"));
    walk.says("do", "done");
    assert_eq!(walk.at(), ["ask"], "the second time a person is asked");
    assert_eq!(walk.standing(), Standing::Waiting);
}

#[test]
fn policies_that_would_override_a_person_are_refused_at_the_start() {
    let stages = r#"
unit prove  checks = ["test"], on = { pass = "land", fail = "soft", skipped = "soft" }
unit soft   aside = true, gate = "anyway?",
    on = { waive = { to = "land", waive = ["prove"] }, why = { to = "stop", reason = true },
           no = "failed" }
unit stop   aside = true, hard = true, gate = "really?", on = { yes = "failed", no = "failed" }
unit land   land = "merge", needs = ["prove:pass"],
    on = { landed = "done", moved = "failed", conflict = "failed" }
"#;
    let flow = flow("", stages);
    let why = |stage, answer| match Walk::begin(&flow, with_policy(stage, answer)) {
        Err(Refused::BadPolicy { why, .. }) => why,
        Err(_) => "another refusal",
        Ok(_) => "taken",
    };
    assert_eq!(why("soft", "no"), "taken");
    assert_eq!(why("soft", "maybe"), "it is not one of the options");
    assert!(why("soft", "waive").contains("for a person"));
    assert!(why("soft", "why").contains("for a person"));
    assert!(why("stop", "yes").contains("hard gate"));
    assert_eq!(why("prove", "pass"), "it is not a gate");
    assert_eq!(why("nowhere", "pass"), "there is no such stage");
}

#[test]
fn what_stands_between_braces_is_filled_in() {
    let stages = r#"
unit plan       role = "worker", on = { done = "next", failed = "failed" }
unit each_part  each = "part", from = "plan.found",
    on = { all = "next", some = "next", none = "next" }
part ask
    gate = "{part.title} of {unit.id} ({unit.title}, {unit.level}): {plan.size} or {plan.cause}? {} {x} {list.jobs",
    on = { yes = { end = "done", label = "yes to {part.id}", about = "{part.hard} {nobody.knows} {input.size} {input.none}" },
           no = "failed" }
"#;
    let flow = flow("[inputs]\nsize = { type = \"text\", default = \"big\" }", stages);
    let mut job = windlass_sim::item("a");
    job.title = "Alpha".into();
    job.facts.insert("level".into(), "low".into());
    let mut walk = listed_items(&flow, vec![job]);
    let mut part = windlass_sim::item("p1");
    part.title = "First".into();
    part.facts.insert("hard".into(), true.into());
    walk.says("plan", Saying::new("done").fact("size", 3).items("found", vec![part]));
    let gate = &walk.run().gates()[0];
    assert_eq!(gate.question, "First of a (Alpha, low): 3 or ?? {} {x} {list.jobs");
    let yes = &gate.options[0];
    assert_eq!((yes.label.as_str(), yes.about.as_deref()), ("yes to p1", Some("true ? big ?")));
}

#[test]
fn a_policy_answers_nothing_that_is_not_offered() {
    let stages = r#"
unit ask  gate = "go?", policy = [{ answer = "more" }],
    on = { more = { to = "do", count = "rounds" }, enough = "done" }
unit do   role = "worker", on = { done = "ask", failed = "failed" }
"#;
    let flow = flow("[counters]\nrounds = { per = \"unit\", max = 2 }", stages);
    let mut walk = listed(&flow, &["a"]);
    walk.says("do", "done").says("do", "done");
    assert_eq!(walk.at(), ["ask"]);
    assert_eq!(walk.options("ask"), ["enough", "other"], "the rounds are spent");
}

#[test]
fn a_standing_policy_does_not_answer_when_a_concern_fired() {
    let flow = flow("[inputs]\nfast = \"flag\"", CONCERNED);
    let walk = listed_from(&flow, with_policy("ask", "yes"), &["a"]);
    assert_eq!(walk.at(), ["ask"]);
}

#[test]
fn what_a_person_changed_in_the_lane_comes_with_their_answer() {
    let stages = r#"
unit prove  checks = ["test"], on = { pass = "ask", fail = "failed", skipped = "ask" }
unit ask    gate = "well?", on = { land = "land", redo_it = "prove" }
unit land   aside = true, land = "merge", needs = ["prove:pass|skipped"],
    on = { landed = "done", moved = "failed", conflict = "failed" }
"#;
    let flow = flow("", stages);
    let mut walk = listed(&flow, &["a"]);
    walk.says("prove", "pass");
    let theirs = Some(subject("theirs"));
    let land = Answer { subject: theirs.clone(), ..answered(&walk, Some("land"), None) };
    assert_eq!(walk.give(Input::Answer(land)), Ok(()));
    assert_eq!(walk.standing(), Standing::Escalated, "what they changed was never proved");
    walk.wishes(windlass_core::run::Wish::Redo {
        target: windlass_core::run::Target::Unit("a".into()),
        stage: "prove".into(),
    });
    let wanted = walk.find("prove").and_then(|(_, effect)| effect.subject);
    assert_eq!(wanted, theirs);
    walk.says("prove", "pass").answers("ask", "land").says("land", "landed");
    assert_eq!(walk.exit_code(), Some(0));
}
