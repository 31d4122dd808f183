//! Moves: counters, spent, reset, widening, cases, passing over, pausing, returning, finishing.

use std::sync::Arc;

use windlass_core::{
    run::{Ended, Event, Standing, Wish},
    workflow::{RunOutcome, Workflow},
};
use windlass_sim::{Saying, Walk};

use crate::{LOOP, MORE, flow, listed, listed_items, report, subject};

/// The context that a stage under way is given.
fn context(walk: &Walk<'_>, stage: &str) -> Option<String> {
    walk.find(stage).and_then(|(_, effect)| effect.context).map(|c| c.to_string())
}

#[test]
fn a_counter_allows_max_steps_and_then_its_spent_move() {
    let stages = r#"
unit do       role = "worker",
    on = { done = "next",
           failed = { to = "do", count = "tries", widen = ["error", "files"], spent = "gave_up" } }
unit gave_up  aside = true, tell = ["report"], on = { told = "failed" }
"#;
    let flow = flow("[counters]\ntries = { per = \"unit\", max = 3 }", stages);
    let mut walk = listed(&flow, &["a"]);
    assert_eq!(context(&walk, "do"), None);
    let mut seen = Vec::new();
    for _ in 0..3 {
        walk.says("do", "failed");
        seen.extend(context(&walk, "do"));
    }
    assert_eq!(seen, ["error", "files", "files"], "the nth step passes the nth entry");
    assert_eq!(walk.run().counters(), [("tries".to_owned(), 3, 3)]);
    walk.says("do", "failed");
    assert_eq!(walk.at(), ["gave_up"]);
    assert_eq!(walk.runs("do"), 4);
    let spent = walk.journal().iter().filter_map(|recorded| match &recorded.event {
        Event::Moved(moved) => moved.spent.map(|counter| &*flow.counters[counter.at()].name),
        _ => None,
    });
    assert_eq!(spent.collect::<Vec<_>>(), ["tries"], "what ran out is on record");
}

#[test]
fn a_new_unit_starts_its_counters_anew_and_a_runs_counter_goes_on() {
    let stages = r#"
unit do  role = "worker",
    on = { done = { to = "next", count = "all", spent = "failed" },
           failed = { to = "do", count = "tries", spent = "failed" } }
"#;
    let flow = flow(
        "[counters]\ntries = { per = \"unit\", max = 1 }\nall = { per = \"run\", max = 1 }",
        stages,
    );
    let mut walk = listed(&flow, &["a", "b"]);
    walk.says("do", "failed").says("do", "done");
    walk.says("do", "failed").says("do", "done");
    let tally = walk.run().tally();
    assert_eq!((tally.done, tally.failed), (1, 1), "the second found `all` spent");
}

#[test]
fn a_stage_counter_counts_again_within_a_visit_only() {
    let flow = flow("", MORE);
    let mut walk = listed(&flow, &["a"]);
    walk.says("do", "crashed").says("do", "crashed").says("do", "done").answers("ask", "more");
    walk.says("do", "unknown").says("do", "no_output");
    assert_eq!(walk.at(), ["do"], "a new visit had two new tries");
    walk.says("do", "timed_out");
    assert_eq!(walk.standing(), Standing::Escalated);
    assert_eq!(walk.runs("do"), 2, "again is the same visit");
    walk.wishes(Wish::Resume(None));
    assert_eq!(walk.at(), ["do"]);
    assert_eq!(walk.runs("do"), 3);
}

#[test]
fn reset_puts_a_counter_back_to_where_it_starts() {
    let stages = r#"
unit do   role = "worker",
    on = { done = "next", failed = { to = "do", count = "tries", spent = "ask" } }
unit ask  aside = true, gate = "once more?",
    on = { more = { to = "do", reset = ["tries"] }, enough = "failed" }
"#;
    let flow = flow("[counters]\ntries = { per = \"unit\", from = 1, max = 2 }", stages);
    let mut walk = listed(&flow, &["a"]);
    walk.says("do", "failed").says("do", "failed").answers("ask", "more");
    walk.says("do", "failed");
    assert_eq!(walk.at(), ["do"]);
    walk.says("do", "failed");
    assert_eq!(walk.at(), ["ask"]);
}

#[test]
fn a_counter_by_a_fact_keeps_one_tally_for_each_of_its_values() {
    let stages = r#"
unit do  role = "worker",
    on = { done = "next", failed = { to = "do", count = "causes", spent = "failed" } }
"#;
    let flow = flow("[counters]\ncauses = { per = \"unit\", by = \"do.cause\", max = 2 }", stages);
    let mut walk = listed(&flow, &["a"]);
    let because = |cause: &str| Saying::new("failed").fact("cause", cause);
    for cause in ["typo", "logic", "typo", "logic"] {
        walk.says("do", because(cause));
    }
    assert_eq!(walk.at(), ["do"]);
    walk.says("do", because("logic"));
    assert_eq!(walk.run().tally().failed, 1);
}

#[test]
fn a_maximum_may_be_an_expression_and_unknown_is_spent() {
    let flow = flow("[counters]\ntries = { per = \"unit\", max = \"do.size\" }", LOOP);
    let mut walk = listed(&flow, &["a"]);
    walk.says("do", Saying::new("failed").fact("size", 1));
    assert_eq!(walk.at(), ["do"]);
    walk.says("do", "failed");
    assert_eq!(walk.run().tally().failed, 1);
    let mut walk = listed(&flow, &["a"]);
    walk.says("do", "failed");
    assert_eq!(walk.run().tally().failed, 1, "an unknown maximum leaves no room");
}

#[test]
fn entering_a_stage_may_count_and_its_counters_spent_move_is_taken_instead() {
    let stages = r#"
unit do   count = "rounds", role = "worker", record = "DO", on = { done = "ask", failed = "failed" }
unit ask  gate = "more?", on = { more = "do", enough = "done" }
"#;
    let head =
        "[counters]\nrounds = { per = \"run\", max = 2, spent = { finish = \"escalated\" } }";
    let flow = flow(head, stages);
    let mut walk = listed(&flow, &["a"]);
    walk.says("do", "done").answers("ask", "more").says("do", "done").answers("ask", "more");
    assert_eq!(walk.standing(), Standing::Ended(RunOutcome::Escalated));
    assert_eq!((walk.records(), walk.exit_code()), (vec!["DO".into(), "DO".into()], Some(3)));
}

#[test]
fn a_stage_is_passed_over_only_when_its_condition_is_definitely_false() {
    let stages = r#"
unit heavy   when = "unit.weight > 5", role = "worker", on = { done = "next", failed = "failed" }
unit beside  aside = true, tell = ["report"], on = { told = "next" }
unit last    role = "reviewer",
    on = { clear = "next", blocking = { to = "beside", count = "turns", spent = "failed" } }
"#;
    let flow = flow("[counters]\nturns = { per = \"unit\", max = 1 }", stages);
    let at = |weight: Option<i64>| {
        let mut job = windlass_sim::item("a");
        job.facts.extend(weight.map(|w| ("weight".to_owned(), w.into())));
        let walk = listed_items(&flow, vec![job]);
        walk.at()
    };
    assert_eq!(at(Some(6)), ["heavy"]);
    assert_eq!(at(Some(5)), ["last"], "asides are passed by");
    assert_eq!(at(None), ["heavy"], "Unknown runs it");
    let mut walk = listed(&flow, &["a"]);
    walk.says("heavy", "done").says("last", "blocking").says("beside", "told");
    assert_eq!(walk.at(), ["last"], "next from an aside goes on in the order of the file");
}

#[test]
fn cases_are_tried_in_order_and_the_last_takes_the_rest() {
    let stages = r#"
unit do   role = "worker",
    on = { done = [{ when = "do.size > 10", to = "big", record = "big" },
                   { when = "do.size > 5", to = "big", record = "middling" },
                   { end = "done", record = "small" }],
           failed = "failed" }
unit big  aside = true, tell = ["report"], on = { told = "done" }
"#;
    let flow = flow("", stages);
    let record = |saying: Saying| {
        let mut walk = listed(&flow, &["a"]);
        walk.says("do", saying);
        walk.records().remove(0)
    };
    let sized = |size: i64| Saying::new("done").fact("size", size);
    assert_eq!(record(sized(11)), "big");
    assert_eq!(record(sized(6)), "middling");
    assert_eq!(record(sized(5)), "small");
    assert_eq!(record(Saying::new("done")), "small", "a case needs definite truth");
}

#[test]
fn a_scope_sees_what_belongs_to_those_around_it() {
    let stages = r#"
unit plan       when = "list.odd", role = "worker", on = { done = "next", failed = "failed" }
unit each_part  each = "part", from = "plan.found",
    on = { all = "next", some = "next", none = "next" }
part small      when = "plan.size < 5", role = "worker", on = { done = "next", failed = "failed" }
part odd        when = "list.odd and plan.size > 5", role = "worker",
    on = { done = "next", failed = "failed" }
"#;
    let flow = flow("", stages);
    let entered = |odd: bool, size: i64| {
        let mut walk = Walk::new(&flow, &[]);
        walk.says("list", Saying::new("found").fact("odd", odd).list("jobs", &["a"]));
        if walk.is_at("plan") {
            walk.says("plan", Saying::new("done").fact("size", size).list("found", &["p"]));
        }
        walk.at()
    };
    assert_eq!(entered(true, 4), ["small"]);
    assert_eq!(entered(true, 6), ["odd"]);
    assert_eq!(entered(false, 6), [""; 0]);
}

#[test]
fn an_each_tells_all_from_some_from_none() {
    let stages = r#"
unit plan       role = "worker", on = { done = "next", failed = "failed" }
unit each_part  each = "part", from = "plan.found",
    on = { all = { end = "done", record = "all" }, some = { end = "done", record = "some" },
           none = { end = "done", record = "none" } }
part make       role = "worker", on = { done = "done", failed = "failed" }
"#;
    let flow = flow("", stages);
    let came_to = |parts: &[(&str, &str)]| {
        let mut walk = listed(&flow, &["a"]);
        let ids: Vec<&str> = parts.iter().map(|(id, _)| *id).collect();
        walk.says("plan", Saying::new("done").list("found", &ids));
        for (_, verdict) in parts {
            walk.says("make", *verdict);
        }
        walk.records()
    };
    assert_eq!(came_to(&[("p", "done"), ("q", "done")]), ["all"]);
    assert_eq!(came_to(&[("p", "done"), ("q", "failed")]), ["some"]);
    assert_eq!(came_to(&[("p", "failed"), ("q", "done")]), ["some"]);
    assert_eq!(came_to(&[("p", "failed"), ("q", "failed")]), ["none"]);
    assert_eq!(came_to(&[]), ["none"]);
}

const CHILDREN: &str = r#"
unit plan       role = "worker", on = { done = "next", failed = "failed" }
unit each_part  each = "part", from = "plan.found",
    on = { all = "judge", some = "judge", none = "failed", revise = "plan_gate" }
unit plan_gate  aside = true, gate = "revise the plan", on = { go = "plan", stop = "pause" }
unit judge      role = "reviewer", on = { clear = "next", blocking = "more" }
unit more       aside = true, gate = "fix?",
    on = { fix = { to = "each_part", add = { part = "plan.found" } }, skip = "next" }
part make       role = "worker",
    on = { done = [{ when = "part.hard and make.runs < 2", to = "make",
                     count = "harder", spent = "failed" },
                   { end = "done" }],
           failed = "try_again" }
part try_again  aside = true, gate = "part failed",
    on = { give_up = "failed", revise = { return = "revise" }, skip = "skipped" }
"#;

fn children() -> Arc<Workflow> {
    flow("[counters]\nharder = { per = \"part\", max = 3 }", CHILDREN)
}

fn parts(walk: &Walk<'_>) -> Vec<String> {
    walk.run().wants().values().filter_map(|e| e.child.as_ref()).map(|c| c.id.to_string()).collect()
}

#[test]
fn children_run_one_after_another_and_what_is_done_is_not_run_again() {
    let flow = children();
    let mut walk = listed(&flow, &["a"]);
    walk.says("plan", Saying::new("done").list("found", &["p", "q", "r"]));
    assert_eq!(parts(&walk), ["p"]);
    walk.says("make", "done");
    assert_eq!(parts(&walk), ["q"]);
    walk.says("make", "failed").answers("try_again", "revise");
    assert_eq!(walk.at(), ["plan_gate"]);
    // The plan is made again: p stays done, q and r run, s is new, and nothing else.
    walk.answers("plan_gate", "go");
    walk.says("plan", Saying::new("done").list("found", &["p", "r", "s"]));
    assert_eq!(parts(&walk), ["r"], "q was taken off the list");
    walk.says("make", "done");
    assert_eq!(parts(&walk), ["s"]);
    walk.says("make", "done");
    assert_eq!(walk.at(), ["judge"]);
    assert_eq!(walk.runs("make"), 4);
}

#[test]
fn how_the_children_settled_decides_the_verdict_and_failed_ones_run_again() {
    let flow = children();
    let verdict = |answers: [&str; 2]| {
        let mut walk = listed(&flow, &["a"]);
        walk.says("plan", Saying::new("done").list("found", &["p", "q"]));
        for answer in answers {
            match answer {
                "done" => walk.says("make", "done"),
                other => walk.says("make", "failed").answers("try_again", other),
            };
        }
        walk.at().first().cloned().unwrap_or_default()
    };
    assert_eq!(verdict(["done", "done"]), "judge");
    assert_eq!(verdict(["done", "give_up"]), "judge");
    assert_eq!(verdict(["skip", "done"]), "judge");
    assert_eq!(verdict(["skip", "give_up"]), "", "none done: the unit failed");
    let mut walk = listed(&flow, &["a"]);
    walk.says("plan", Saying::new("done").list("found", &["p", "q", "r"]));
    walk.says("make", "done").says("make", "failed").answers("try_again", "give_up");
    walk.says("make", "failed").answers("try_again", "skip").says("judge", "blocking");
    walk.answers("more", "fix");
    assert_eq!(parts(&walk), ["q"], "what failed runs again, what was skipped does not");
}

#[test]
fn no_children_at_all_is_none() {
    let flow = children();
    let mut walk = listed(&flow, &["a"]);
    walk.says("plan", "done");
    assert_eq!(walk.run().tally().failed, 1);
}

#[test]
fn a_childs_facts_and_counters_are_its_own() {
    let flow = children();
    let mut walk = listed(&flow, &["a"]);
    let hard = |id: &str| {
        let mut part = windlass_sim::item(id);
        part.facts.insert("hard".into(), true.into());
        part
    };
    let found = vec![hard("p"), hard("q"), windlass_sim::item("r")];
    walk.says("plan", Saying::new("done").items("found", found));
    let mut order = Vec::new();
    while walk.is_at("make") {
        order.extend(parts(&walk));
        walk.says("make", "done");
    }
    assert_eq!(order, ["p", "p", "q", "q", "r"]);
}

#[test]
fn pause_rest_and_finish_stand_as_they_should() {
    let stages = r#"
unit ask  gate = "how?",
    on = { hold_on = { pause = "ask" }, halt = { rest = "do" }, fail = { finish = "failed" },
           reject = { finish = "rejected" }, escalate = { finish = "escalated" },
           stop = { finish = "stopped" }, fine = { finish = "done" } }
unit do   role = "worker", on = { done = "ask", failed = "pause" }
"#;
    let flow = flow("", stages);
    let code = |answer: &str| {
        let mut walk = listed(&flow, &["a"]);
        walk.answers("ask", answer);
        walk.exit_code()
    };
    assert_eq!(code("hold_on"), Some(5));
    assert_eq!(code("halt"), Some(0));
    assert_eq!(code("fail"), Some(4));
    assert_eq!(code("reject"), Some(7));
    assert_eq!(code("escalate"), Some(3));
    assert_eq!(code("stop"), Some(5));
    assert_eq!(code("fine"), Some(0));
    let mut walk = listed(&flow, &["a"]);
    walk.answers("ask", "halt").wishes(Wish::Resume(None));
    assert_eq!(walk.at(), ["do"], "it goes on where it said");
    walk.says("do", "failed");
    assert_eq!(walk.exit_code(), Some(3), "trouble is escalated");
    walk.wishes(Wish::Resume(None)).says("do", "done").answers("ask", "hold_on");
    walk.wishes(Wish::Resume(None));
    assert_eq!(walk.at(), ["ask"], "the question is put again");
}

#[test]
fn the_finale_picks_its_stages_by_outcome_and_may_change_it() {
    let stages = r#"
unit do            role = "worker", on = { done = "next", failed = { finish = "escalated" } }
finale smoke       when = "run.outcome == 'done'", checks = ["test"],
    on = { pass = "next", skipped = "next", fail = { to = "escalation", outcome = "escalated" } }
finale cheer       when = "run.outcome == 'done'", tell = ["report"], on = { told = "end" }
finale escalation  role = "worker", on = { done = "next", failed = { finish = "failed" } }
"#;
    let flow = flow("", stages);
    let end = |does: &str, smoke: &str, last: &str| {
        let mut walk = listed(&flow, &["a"]);
        let except = [("do", does.into()), ("smoke", smoke.into()), ("escalation", last.into())];
        walk.to_the_end(&except);
        (walk.runs("cheer"), walk.exit_code())
    };
    assert_eq!(end("done", "pass", "done"), (1, Some(0)));
    assert_eq!(end("done", "fail", "done"), (0, Some(3)));
    assert_eq!(end("failed", "pass", "done"), (0, Some(3)));
    assert_eq!(end("failed", "pass", "failed"), (0, Some(4)));
}

#[test]
fn a_decide_routes_by_the_first_case_that_is_definitely_true() {
    let stages = r#"
unit route  decide = [{ is = "high", when = "unit.level == 'high'" }, { is = "low" }],
    on = { high = "do", low = "done" }
unit do     aside = true, role = "worker", on = { done = "next", failed = "failed" }
"#;
    let flow = flow("", stages);
    let runs = |level: &str| {
        let mut job = windlass_sim::item("a");
        job.facts.insert("level".into(), level.into());
        let walk = listed_items(&flow, vec![job]);
        (walk.at().len(), walk.run().tally().done)
    };
    assert_eq!(runs("high"), (1, 0));
    assert_eq!(runs("low"), (0, 1));
    assert_eq!(runs("nonsense"), (0, 1), "what is not of its type is Unknown");
}

#[test]
fn findings_become_children_beside_those_of_the_list_and_runs_are_counted_over_all() {
    let stages = r#"
unit plan       role = "worker", on = { done = "next", failed = "failed" }
unit each_part  each = "part", from = "plan.found", on = { all = "prove", none = "failed" }
unit prove      checks = ["test"],
    on = { pass = "count", skipped = "count",
           fail = { to = "each_part", add = { part = "findings" },
                    count = "tries", spent = "failed" } }
unit count
    decide = [{ is = "as_expected", when = "make.runs == 3 and each_part.runs == 2" },
              { is = "otherwise" }],
    on = { as_expected = "done", otherwise = "failed" }
part make       role = "editor", edits = true, on = { mended = "done" }
"#;
    let flow = flow("[counters]\ntries = { per = \"unit\", max = 3 }", stages);
    let mut walk = listed(&flow, &["a"]);
    walk.says("plan", Saying::new("done").list("found", &["p"]));
    walk.says("make", "mended");
    walk.says("prove", Saying::new("fail").list("findings", &["lint", "test"]));
    assert_eq!(parts(&walk), ["lint"], "what was found is done beside what was listed");
    walk.says("make", "mended");
    assert_eq!(parts(&walk), ["test"]);
    walk.says("make", "mended").says("prove", "pass");
    assert_eq!(walk.run().tally().done, 1, "a child stage's runs are those of all children");
}

#[test]
fn only_what_was_looked_at_first_names_what_a_lane_holds() {
    let stages = r#"
unit look  role = "reviewer", on = { clear = "next", blocking = "failed" }
unit tell  tell = ["report"], on = { told = "next" }
unit last  role = "reviewer", on = { clear = "next", blocking = "failed" }
"#;
    let flow = flow("", stages);
    let mut walk = listed(&flow, &["a"]);
    let ends = |walk: &mut Walk<'_>, ended, name| {
        let effect = walk.run().wanted().next().expect("something is wanted");
        assert_eq!(walk.give(report(effect, ended, Some(subject(name)))), Ok(()));
    };
    ends(&mut walk, Ended::Lost, "nothing");
    ends(&mut walk, Ended::Verdict("clear".into()), "one");
    let holds = |walk: &Walk<'_>| walk.run().wants().into_values().next().and_then(|e| e.subject);
    assert_eq!(holds(&walk), Some(subject("one")));
    ends(&mut walk, Ended::Verdict("told".into()), "two");
    assert_eq!(holds(&walk), Some(subject("one")), "only an edit makes it hold something else");
}

#[test]
fn what_is_done_stays_done_even_if_it_leaves_the_list_for_a_while() {
    let flow = children();
    let mut walk = listed(&flow, &["a"]);
    walk.says("plan", Saying::new("done").list("found", &["p", "q"])).says("make", "done");
    for list in [&["q"] as &[&str], &["p", "q"]] {
        walk.says("make", "failed").answers("try_again", "revise").answers("plan_gate", "go");
        walk.says("plan", Saying::new("done").list("found", list));
        assert_eq!(parts(&walk), ["q"]);
    }
}

#[test]
fn a_list_that_is_read_again_brings_its_items_up_to_date() {
    let flow = children();
    let mut walk = listed(&flow, &["a"]);
    walk.says("plan", Saying::new("done").list("found", &["p"]));
    walk.says("make", "failed").answers("try_again", "revise").answers("plan_gate", "go");
    let mut part = windlass_sim::item("p");
    part.title = "p, revised".into();
    walk.says("plan", Saying::new("done").items("found", vec![part]));
    let title = walk.find("make").and_then(|(_, effect)| effect.child).map(|c| c.title.clone());
    assert_eq!(title.as_deref(), Some("p, revised"));
}

#[test]
fn the_finale_knows_what_the_intake_found_and_nothing_else_goes_on() {
    let stages = r#"
unit do         role = "worker", on = { done = { finish = "escalated" }, failed = "ask" }
unit ask        aside = true, gate = "well?",
    on = { once_more = "do", wait = "pause", no = "failed" }
finale odd_one  when = "list.odd", role = "reviewer", on = { clear = "next", blocking = "next" }
finale tell     tell = ["report"], on = { told = "next" }
"#;
    let flow = flow("[units]\nlanes = 3", stages);
    let at = |odd: bool| {
        let mut walk = Walk::new(&flow, &[]);
        walk.says("list", Saying::new("found").list("jobs", &["a", "b", "c"]).fact("odd", odd));
        walk.says("do", "failed").answers("ask", "wait").says("do", "failed").says("do", "done");
        assert!(walk.run().gates().is_empty(), "nobody is asked any more");
        walk.wishes(Wish::Resume(None));
        let stages: Vec<_> = walk.run().units().map(|unit| (unit.status, unit.stage)).collect();
        let unfinished =
            windlass_core::run::UnitStatus::Settled(windlass_core::workflow::Settled::Unfinished);
        assert_eq!(stages, [(unfinished, None); 3]);
        walk.at()
    };
    assert_eq!(at(true), ["odd_one"]);
    assert_eq!(at(false), ["tell"]);
}

#[test]
fn wider_context_outlives_a_mishap_but_not_the_stage_it_was_for() {
    let stages = r#"
unit do    role = "worker",
    on = { done = "next",
           failed = { to = "do", count = "tries", widen = ["error", "files"], spent = "failed" } }
unit look  role = "reviewer", on = { clear = "next", blocking = "failed" }
"#;
    let flow = flow("[counters]\ntries = { per = \"unit\", from = 1, max = 3 }", stages);
    let mut walk = listed(&flow, &["a"]);
    walk.says("do", "failed");
    assert_eq!(
        context(&walk, "do").as_deref(),
        Some("error"),
        "the first step, wherever it starts"
    );
    walk.says("do", "crashed");
    assert_eq!(context(&walk, "do").as_deref(), Some("error"), "the same attempt once more");
    walk.says("do", "failed");
    assert_eq!(context(&walk, "do").as_deref(), Some("files"));
    walk.says("do", "done");
    assert_eq!(context(&walk, "look"), None);
}
