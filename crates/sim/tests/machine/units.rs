//! Units: order, dependencies, lanes, claims, generations, settling.

use windlass_core::{
    run::{Item, Standing, UnitStatus, Wish},
    workflow::{RunOutcome, Settled},
};
use windlass_sim::{Saying, Walk, item};

use crate::{JUST_DO, claiming, fault, flow, listed, listed_items, order, ranked, units_at};

fn after(id: &str, depends: &[&str]) -> Item {
    Item { depends: depends.iter().map(|d| (*d).into()).collect(), ..item(id) }
}

fn settled(how: Settled) -> Option<UnitStatus> {
    Some(UnitStatus::Settled(how))
}

#[test]
fn a_unit_starts_when_all_it_depends_on_is_done() {
    let flow = flow("[units]\nlanes = 3", JUST_DO);
    let jobs = vec![after("c", &["a", "b"]), item("a"), after("b", &["a"])];
    let mut walk = listed_items(&flow, jobs);
    assert_eq!(units_at(&walk), ["a"]);
    walk.says("do", "done");
    assert_eq!(units_at(&walk), ["b"]);
    walk.says("do", "done");
    assert_eq!(units_at(&walk), ["c"]);
    walk.says("do", "done");
    assert_eq!(walk.standing(), Standing::Ended(RunOutcome::Done));
}

#[test]
fn what_depends_on_a_failure_is_blocked_all_the_way_down() {
    let flow = flow("[units]\nlanes = 2", JUST_DO);
    let jobs = vec![item("a"), after("b", &["a"]), after("c", &["b"]), item("d")];
    let mut walk = listed_items(&flow, jobs);
    assert_eq!(units_at(&walk), ["a", "d"]);
    walk.says("do", "failed");
    assert_eq!(walk.unit("b"), settled(Settled::Blocked));
    assert_eq!(walk.unit("c"), settled(Settled::Blocked));
    assert_eq!(units_at(&walk), ["d"]);
    let tally = walk.run().tally();
    assert_eq!((tally.total, tally.left(), tally.failed, tally.blocked), (4, 1, 1, 2));
    walk.says("do", "done");
    assert_eq!(walk.standing(), Standing::Ended(RunOutcome::Done));
}

#[test]
fn a_definition_can_ask_how_many_units_there_are_of_each_kind() {
    let tallies = ["total", "left", "done", "failed", "skipped", "blocked"];
    let cases: Vec<String> = tallies
        .iter()
        .flat_map(|tally| (0..8).map(move |n| (tally, n)))
        .map(|(tally, n)| {
            let when = format!("when = \"units.{tally} == {n}\"");
            format!("finale {tally}_{n} {when}, tell = [\"report\"], on = {{ told = \"next\" }}")
        })
        .collect();
    let flow = flow("", &format!("{JUST_DO}{}", cases.join("\n")));
    let mut jobs: Vec<Item> = ["a", "b", "c", "d", "e"].iter().map(|id| item(id)).collect();
    jobs.extend([after("f", &["a"]), after("g", &["a"])]);
    let mut walk = listed_items(&flow, jobs);
    let reason = "not today".to_owned();
    walk.wishes(Wish::Skip { unit: "e".into(), reason });
    walk.says("do", "failed").says("do", "done").says("do", "done").says("do", "done");
    let mut seen = Vec::new();
    while let Some(stage) = walk.at().first().cloned() {
        walk.says(&stage, "told");
        seen.push(stage);
    }
    assert_eq!(seen, ["total_7", "left_0", "done_3", "failed_1", "skipped_1", "blocked_2"]);
}

#[test]
fn a_settled_unit_is_let_go() {
    let flow = flow("", JUST_DO);
    let jobs = (0..20).map(|n| item(&format!("u{n}"))).collect();
    let mut walk = listed_items(&flow, jobs);
    let open = walk.run().open_scopes();
    for _ in 1..20 {
        walk.says("do", "done");
        assert_eq!(walk.run().open_scopes(), open);
    }
}

#[test]
fn another_rank_does_not_take_a_unit_past_what_it_depends_on() {
    let flow = flow("[units]\nlanes = 2", JUST_DO);
    let mut walk = listed_items(&flow, vec![item("a"), after("b", &["a"])]);
    walk.wishes(Wish::Reorder(vec!["b".into()]));
    assert_eq!(units_at(&walk), ["a"]);
    walk.says("do", "done");
    assert_eq!(units_at(&walk), ["b"]);
}

#[test]
fn a_list_that_is_read_again_moves_only_what_has_not_begun() {
    let look = r#"
between look  read = "queue",
    on = { found = { to = "end", count = "looks", add = { unit = "jobs" }, spent = "end" },
           empty = "end" }
"#;
    let head = "[units]\nlanes = 2\n[counters]\nlooks = { per = \"run\", max = 9 }";
    let flow = flow(head, &format!("{JUST_DO}{look}"));
    let mut walk = listed(&flow, &["a", "b", "c", "d"]);
    assert_eq!(units_at(&walk), ["a", "b"]);
    walk.says("do", "done");
    // `a` is settled, `b` under way; only `c` and `d` have a place to change.
    let again = vec![ranked("a", 9), ranked("b", 9), ranked("c", 5), ranked("d", 4)];
    walk.says("look", Saying::new("found").items("jobs", again));
    assert_eq!(units_at(&walk), ["b", "d"]);
    while !walk.at().is_empty() {
        let stage = walk.at()[0].clone();
        walk.says(&stage, if stage == "do" { "done" } else { "empty" });
    }
    assert_eq!(walk.run().tally().done, 4);
    assert_eq!(walk.runs("do"), 4, "nothing ran twice");
}

#[test]
fn a_unit_under_way_is_called_what_it_says_of_itself() {
    let look = r#"
unit look  read = "queue",
    on = { found = [{ when = "unit.generation == 0", to = "do", add = { unit = "jobs" } }, "do"], empty = "do" }
"#;
    let flow = flow("", &format!("{look}{JUST_DO}"));
    let mut walk = listed(&flow, &["a", "b"]);
    assert_eq!(walk.at(), ["look"]);
    let mut own = item("a");
    (own.title, own.files) = ("Another word".into(), vec!["elsewhere".into()]);
    walk.says("look", Saying::new("found").items("jobs", vec![own]));
    let unit = walk.run().unit_named("a").unwrap();
    assert_eq!((&*unit.title, walk.run().tally().total), ("Another word", 2));
    walk.says("do", "done");
    // Of another that has begun nobody says so.
    let mut other = item("a");
    other.title = "A third".into();
    walk.says("look", Saying::new("found").items("jobs", vec![other]));
    assert_eq!(&*walk.run().unit_named("a").unwrap().title, "Another word");
}

#[test]
fn lower_rank_goes_first_and_equal_ranks_in_the_order_listed() {
    let flow = flow("", JUST_DO);
    let jobs = vec![ranked("a", 2), ranked("b", 1), ranked("c", 1), ranked("d", 0)];
    let mut walk = listed_items(&flow, jobs);
    assert_eq!(order(&mut walk), ["d", "b", "c", "a"]);
}

#[test]
fn no_more_units_than_lanes_are_under_way_and_the_lowest_free_lane_is_used() {
    let flow = flow("[units]\nlanes = 2", JUST_DO);
    let mut walk = listed(&flow, &["a", "b", "c"]);
    assert_eq!(units_at(&walk), ["a", "b"]);
    walk.says("do", "done");
    assert_eq!(units_at(&walk), ["b", "c"]);
    let lane = |id| walk.run().unit_named(id).and_then(|unit| unit.lane).map(|lane| lane.0);
    assert_eq!((lane("a"), lane("b"), lane("c")), (Some(0), Some(1), Some(0)));
}

#[test]
fn lanes_may_be_an_expression() {
    let flow = flow(
        "[units]\nlanes = \"wide\"\n[inputs]\nwide = { type = \"1..9\", default = 3 }",
        JUST_DO,
    );
    let walk = listed(&flow, &["a", "b", "c", "d"]);
    assert_eq!(units_at(&walk).len(), 3);
}

#[test]
fn overlapping_claims_are_not_under_way_together() {
    let flow = flow("[units]\nlanes = 4", JUST_DO);
    let jobs = vec![
        claiming("a", &["src/"]),
        claiming("b", &["src/x.rs"]),
        claiming("c", &["docs/y.md"]),
        claiming("d", &["src/x.rs"]),
    ];
    let mut walk = listed_items(&flow, jobs);
    assert_eq!(units_at(&walk), ["a", "c"]);
    walk.says("do", "done");
    assert_eq!(units_at(&walk), ["c", "b"]);
    walk.says("do", "done");
    assert_eq!(units_at(&walk), ["b"]);
    walk.says("do", "done");
    assert_eq!(units_at(&walk), ["d"]);
}

#[test]
fn listed_units_go_one_by_one_whatever_became_of_the_one_before() {
    let flow = flow("[units]\norder = \"listed\"\nlanes = 3", JUST_DO);
    let jobs = vec![item("a"), after("b", &["a"]), item("c")];
    let mut walk = listed_items(&flow, jobs);
    assert_eq!(units_at(&walk), ["a"]);
    walk.says("do", "failed");
    assert_eq!(units_at(&walk), ["b"]);
    walk.says("do", "done");
    assert_eq!(units_at(&walk), ["c"]);
}

const ASKS: &str = r#"
unit do     role = "worker", on = { done = "ask", failed = "failed" }
unit ask    gate = "well?", on = { yes = "next", no = "failed" }
unit close  role = "reviewer", on = { clear = "next", blocking = "next" }
"#;

#[test]
fn a_gate_holds_its_own_unit_only_and_gives_its_place_to_others() {
    let flow = flow("[units]\nlanes = 1", ASKS);
    let mut walk = listed_items(&flow, vec![item("a"), item("b"), after("c", &["a"])]);
    walk.says("do", "done");
    assert_eq!(walk.at(), ["do", "ask"]);
    assert_eq!(units_at(&walk), ["b"]);
    // The answer comes while another unit has the only place: it waits for it.
    walk.answers("ask", "yes");
    assert_eq!(walk.at(), ["do"]);
    walk.says("do", "failed");
    assert_eq!(walk.at(), ["close"]);
    assert_eq!(units_at(&walk), ["a"]);
    walk.says("close", "clear");
    assert_eq!(units_at(&walk), ["c"]);
}

#[test]
fn a_listed_unit_at_a_gate_keeps_the_next_from_starting() {
    let flow = flow("[units]\norder = \"listed\"", ASKS);
    let mut walk = listed(&flow, &["a", "b"]);
    walk.says("do", "done");
    assert_eq!(walk.at(), ["ask"]);
    assert_eq!(walk.exit_code(), Some(8));
}

/// What a unit finds becomes units too, but not what those find.
const GROWS: &str = r#"
unit do  role = "worker",
    on = { done = [{ when = "unit.generation == 0", to = "next", add = { unit = "found" } },
                   { to = "next" }],
           failed = "failed" }
"#;

#[test]
fn an_id_is_taken_up_once_and_added_units_know_their_origin() {
    let flow = flow("", GROWS);
    let mut walk = listed(&flow, &["a", "b"]);
    walk.says("do", Saying::new("done").list("found", &["fix-1", "b"]));
    walk.says("do", Saying::new("done").list("found", &["fix-1"]));
    assert_eq!(walk.run().tally().total, 3);
    let fix = walk.run().unit_named("fix-1").map(|unit| (unit.origin, unit.generation));
    assert_eq!(fix, Some((Some("a".into()), 1)));
    // Generation 1 adds nothing more.
    walk.says("do", Saying::new("done").list("found", &["fix-2"]));
    assert_eq!(walk.run().tally().total, 3);
    assert_eq!(walk.standing(), Standing::Ended(RunOutcome::Done));
}

#[test]
fn lists_that_cannot_be_are_invalid_and_say_why() {
    let flow = flow("", JUST_DO);
    let cases = [
        (vec![item("a"), item("a")], "the id \"a\" is there twice"),
        (vec![after("a", &["x"])], "\"a\" depends on \"x\", which does not exist"),
        (vec![after("a", &["a"])], "dependencies go round in a circle: a → a"),
        (
            vec![item("z"), after("a", &["c", "z"]), after("b", &["a"]), after("c", &["b"])],
            "dependencies go round in a circle: a → c → b → a",
        ),
    ];
    for (jobs, why) in cases {
        let walk = listed_items(&flow, jobs);
        assert_eq!(fault(&walk).as_deref(), Some(why));
        assert_eq!(walk.run().tally().total, 0);
        assert_eq!(walk.standing(), Standing::Escalated);
    }
}

#[test]
fn a_unit_may_depend_on_one_that_was_there_before() {
    let flow = flow("", GROWS);
    let mut walk = listed(&flow, &["a", "b"]);
    walk.says(
        "do",
        Saying::new("done").items("found", vec![after("x", &["a"]), after("y", &["b"])]),
    );
    walk.says("do", "failed");
    assert_eq!(walk.unit("y"), settled(Settled::Blocked));
    assert_eq!(units_at(&walk), ["x"]);
}

const COUNTED: &str = r#"
unit do        role = "worker", on = { done = "next", failed = "failed" }
between tally  decide = [{ is = "bad", when = "unit.status == 'failed'" }, { is = "good" }],
    on = { bad = { to = "tell", count = "streak", spent = { finish = "failed" } },
           good = { to = "tell", reset = ["streak"] } }
between tell   tell = ["report"], on = { told = "next" }
finale sum_up  when = "run.outcome == 'failed'", tell = ["report"], on = { told = "next" }
"#;

#[test]
fn between_runs_after_each_unit_and_blocks_new_starts_only() {
    let flow = flow(
        "[units]\nlanes = 2\n[counters]\nstreak = { per = \"run\", from = 1, max = 3 }",
        COUNTED,
    );
    let mut walk = listed(&flow, &["a", "b", "c"]);
    walk.says("do", "done");
    assert_eq!(walk.at(), ["do", "tell"]);
    assert_eq!(units_at(&walk), ["b"]);
    // The other settles meanwhile: its between waits for its turn.
    walk.says("do", "failed");
    assert_eq!(walk.at(), ["tell"]);
    walk.says("tell", "told");
    assert_eq!(walk.at(), ["tell"]);
    walk.says("tell", "told");
    assert_eq!(units_at(&walk), ["c"]);
}

#[test]
fn three_failures_in_a_row_finish_the_run_and_what_is_left_is_unfinished() {
    let flow = flow("[counters]\nstreak = { per = \"run\", from = 1, max = 3 }", COUNTED);
    let mut walk = listed(&flow, &["a", "b", "c", "d", "e", "f"]);
    for verdict in ["failed", "failed", "done", "failed", "failed"] {
        walk.says("do", verdict).says("tell", "told");
    }
    walk.says("do", "failed");
    assert_eq!(walk.at(), ["sum_up"]);
    walk.says("sum_up", "told");
    assert_eq!(walk.standing(), Standing::Ended(RunOutcome::Failed));
    assert_eq!(walk.exit_code(), Some(4));
    assert_eq!(walk.unit("f"), settled(Settled::Failed));
}

#[test]
fn finishing_lets_what_is_under_way_end_and_starts_nothing() {
    let flow = flow(
        "[units]\nlanes = 2\n[counters]\nstreak = { per = \"run\", from = 1, max = 1 }",
        COUNTED,
    );
    let mut walk = listed(&flow, &["a", "b", "c"]);
    walk.says("do", "failed");
    assert_eq!(units_at(&walk), ["b"], "the stage under way ends first");
    assert!(
        walk.give(windlass_core::run::Input::Control { who: "tester".into(), wish: Wish::Stop })
            .is_err()
    );
    walk.says("do", "done");
    assert_eq!(walk.at(), ["sum_up"]);
    assert_eq!(walk.unit("b"), settled(Settled::Unfinished));
    assert_eq!(walk.unit("c"), settled(Settled::Unfinished));
}

#[test]
fn a_run_without_units_is_done() {
    let flow = flow("", JUST_DO);
    let mut walk = Walk::new(&flow, &[]);
    walk.says("list", "empty");
    assert_eq!(walk.standing(), Standing::Ended(RunOutcome::Done));
}

#[test]
fn a_list_that_is_read_again_brings_the_order_up_to_date() {
    let flow = flow("", GROWS);
    let mut walk = listed(&flow, &["a", "b", "c"]);
    let again = ["c", "b", "a"].into_iter().zip(-3..);
    let again = again.map(|(id, rank)| ranked(id, rank)).collect();
    walk.says("do", Saying::new("done").items("found", again));
    assert_eq!(units_at(&walk), ["c"], "what has not started goes in the new order");
    assert_eq!(walk.run().tally().total, 3);
}

#[test]
fn a_list_that_is_read_again_brings_titles_and_files_of_what_has_not_begun_up_to_date() {
    let flow = flow("", GROWS);
    let mut walk = listed(&flow, &["a", "b", "c"]);
    let anew = |id: &str| Item { title: "anew".into(), files: vec!["src".into()], ..item(id) };
    walk.says("do", Saying::new("done").items("found", vec![anew("a"), anew("b")]));
    let title = |id: &str| walk.run().unit_named(id).map(|unit| unit.title.to_string());
    assert_eq!(title("b").as_deref(), Some("anew"));
    assert_ne!(title("a").as_deref(), Some("anew"), "what has begun keeps its name");
    assert_ne!(title("c").as_deref(), Some("anew"));
}

/// A queue that is looked at between units.
const LOOKS: &str = r#"
between look  read = "queue",
    on = { found = { to = "end", count = "looks", add = { unit = "jobs" }, spent = "end" },
           empty = "end" }
"#;

fn again(item: Item) -> Item {
    Item { again: true, ..item }
}

#[test]
fn what_came_to_nothing_is_tried_again_with_what_it_has_blocked() {
    let head = "[units]\nlanes = 2\n[counters]\nlooks = { per = \"run\", max = 9 }";
    let flow = flow(head, &format!("{JUST_DO}{LOOKS}"));
    let jobs = vec![
        item("a"),
        after("b", &["a"]),
        after("c", &["b", "d"]),
        item("d"),
        item("e"),
        after("f", &["e"]),
    ];
    let mut walk = listed_items(&flow, jobs);
    walk.wishes(Wish::Skip { unit: "e".into(), reason: "not today".into() });
    walk.says("do", "failed").says("look", "empty");
    let tally = walk.run().tally();
    assert_eq!((tally.left(), tally.failed, tally.skipped, tally.blocked), (1, 1, 1, 3));
    // `d` is done meanwhile; whoever reads the queue says that `a` is to be tried again, and so is what has not failed.
    walk.says("do", "done");
    let found = vec![again(item("a")), again(item("d")), after("b", &["a"]), item("e")];
    walk.says("look", Saying::new("found").items("jobs", found));
    let tally = walk.run().tally();
    assert_eq!((tally.left(), tally.done, tally.failed), (3, 1, 0), "what is done stays done");
    assert_eq!(
        (walk.unit("e"), walk.unit("f")),
        (settled(Settled::Skipped), settled(Settled::Blocked))
    );
    assert_eq!(units_at(&walk), ["a"]);
    for next in ["b", "c"] {
        walk.says("do", "done").says("look", "empty");
        assert_eq!(units_at(&walk), [next]);
    }
    walk.says("do", "failed");
    let found = vec![again(item("c")), again(item("e"))];
    walk.says("look", Saying::new("found").items("jobs", found));
    assert_eq!(units_at(&walk), ["c", "e"]);
    walk.says("do", "done").says("look", "empty");
    walk.says("do", "done").says("look", "empty");
    assert_eq!(units_at(&walk), ["f"], "what it had blocked as well");
    walk.says("do", "done").says("look", "empty");
    assert_eq!(walk.standing(), Standing::Ended(RunOutcome::Done));
    assert_eq!(walk.run().tally().done, 6);
}

/// Somebody who waits for two of them is told by each once, however often it was taken back.
#[test]
fn what_waits_for_two_is_not_begun_after_one_of_them() {
    let head = "[units]\nlanes = 3\n[counters]\nlooks = { per = \"run\", max = 9 }";
    let flow = flow(head, &format!("{JUST_DO}{LOOKS}"));
    let jobs = vec![item("a"), item("b"), item("c"), after("d", &["a", "b", "c"])];
    let mut walk = listed_items(&flow, jobs);
    walk.says("do", "failed");
    assert_eq!(walk.unit("d"), settled(Settled::Blocked));
    walk.says("look", Saying::new("found").items("jobs", vec![again(item("a"))]));
    assert_eq!(
        (walk.unit("a"), walk.unit("d")),
        (Some(UnitStatus::Started), Some(UnitStatus::Pending))
    );
    for _ in 0..2 {
        walk.says("do", "done").says("look", "empty");
        assert_eq!(walk.unit("d"), Some(UnitStatus::Pending));
    }
    walk.says("do", "done").says("look", "empty");
    assert_eq!(units_at(&walk), ["d"]);
}

/// A list that says so once and is read again and again: whoever is under way goes on.
#[test]
fn nothing_but_what_has_settled_is_taken_back() {
    let head = "[units]\nlanes = 2\n[counters]\nlooks = { per = \"run\", max = 9 }";
    let flow = flow(head, &format!("{JUST_DO}{LOOKS}"));
    let mut walk = listed(&flow, &["a", "b", "c"]);
    assert_eq!(units_at(&walk), ["a", "b"]);
    walk.says("do", "failed");
    let found = ["a", "b", "c"].iter().map(|id| again(item(id))).collect();
    walk.says("look", Saying::new("found").items("jobs", found));
    assert_eq!(units_at(&walk), ["b", "a"]);
    assert_eq!(walk.runs("do"), 3, "`b` was not begun again");
}
