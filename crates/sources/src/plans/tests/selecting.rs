//! Which rows are meant, and in what order.

use proptest::prelude::*;

use super::*;

/// The numbers that were picked, each with those that it waits for.
fn picked(plans: &Plans, said: &str) -> Vec<String> {
    told(&plans.select(&Targets::parse(said).unwrap()).unwrap())
}

fn told(chosen: &Chosen) -> Vec<String> {
    let one = |picked: &Picked| {
        let waits: Vec<&str> = picked.waits.iter().map(Number::as_str).collect();
        match waits.is_empty() {
            true => picked.row.number.to_string(),
            false => format!("{} < {}", picked.row.number, waits.join(" ")),
        }
    };
    chosen.picked.iter().map(one).collect()
}

fn refused(plans: &Plans, said: &str) -> (String, String) {
    let refusal = Targets::parse(said).and_then(|targets| plans.select(&targets)).unwrap_err();
    (refusal.to_string(), refusal.next_step("windlass work"))
}

fn some() -> Plans {
    plans(&[
        ["1", "[P] One", "-", "cc:Done [a1b2c3d]"],
        ["2", "[P] Two", "-", "cc:TODO"],
        ["3", "[P] Three", "2", "cc:TODO"],
        ["4", "[P] Four", "-", "cc:WIP"],
        ["5", "[P] Five", "-", "waiting"],
        ["26", "[P] Six", "-", "cc:TODO"],
        ["26.1", "[P] Six one", "-", "cc:TODO"],
        ["26.1.2", "[P] Six one two", "-", "cc:Done"],
        ["26.10", "[P] Six ten", "-", "cc:TODO"],
        ["H-2", "[P] Named", "-", "cc:TODO"],
    ])
}

#[test]
fn every_way_to_say_what_is_meant() {
    let plans = some();
    for (said, want) in [
        ("all", vec!["2", "3 < 2", "4", "26", "26.1", "26.10", "H-2"]),
        ("ALL", vec!["2", "3 < 2", "4", "26", "26.1", "26.10", "H-2"]),
        ("next", vec!["2"]),
        ("2", vec!["2"]),
        ("2-4", vec!["2", "3 < 2", "4"]),
        ("2 - 4", vec!["2", "3 < 2", "4"]),
        ("2–4", vec!["2", "3 < 2", "4"]),
        ("4, 2-3", vec!["2", "3 < 2", "4"]),
        ("4 2,3", vec!["2", "3 < 2", "4"]),
        // A number takes all below it, and a range what is below its end.
        ("26", vec!["26", "26.1", "26.10"]),
        ("26.1", vec!["26.1"]),
        ("4-26", vec!["4", "26", "26.1", "26.10"]),
        ("26.1-26.10", vec!["26.1", "26.10"]),
        // A name with a dash is no range.
        ("H-2", vec!["H-2"]),
        ("1-2", vec!["2"]),
    ] {
        assert_eq!(picked(&plans, said), want, "{said}");
    }
}

#[test]
fn what_is_done_is_done_again_only_if_it_is_named() {
    let plans = some();
    let chosen = plans.select(&Targets::parse("1").unwrap()).unwrap();
    assert_eq!(told(&chosen), ["1"]);
    assert_eq!(chosen.remarks, ["task 1 is done, and is done again, for it was named"]);
    assert_eq!(picked(&plans, "26.1.2"), ["26.1.2"]);
    assert_eq!(picked(&plans, "1-1"), [""; 0]);
}

#[test]
fn a_status_of_a_persons_own_is_left_out_unless_it_is_named() {
    let plans = some();
    let chosen = plans.select(&Targets::All).unwrap();
    assert_eq!(
        chosen.remarks,
        ["task 5 is left out, for its status is \"waiting\": name it to have it done"]
    );
    assert_eq!(picked(&plans, "5"), ["5"]);
}

#[test]
fn a_dependency_outside_is_refused_with_the_command_that_includes_it() {
    let plans = plans(&[
        ["1", "One", "-", "cc:TODO"],
        ["2", "Two", "1", "cc:TODO"],
        ["3", "Three", "2", "cc:TODO"],
        ["4", "Four", "-", "cc:TODO"],
    ]);
    assert_eq!(
        refused(&plans, "3,4"),
        (
            "task 3 depends on 2, which is neither done nor selected".to_owned(),
            "to include what is waited for: windlass work 1,2,3,4".to_owned()
        )
    );
    assert_eq!(picked(&plans, "1,2,3,4"), ["1", "2 < 1", "3 < 2", "4 < 3"]);
    // What only stands before it is no reason to refuse.
    assert_eq!(picked(&plans, "4"), ["4"]);
    let done = plans.with_status(&number("2"), &Status::done(None)).unwrap();
    assert_eq!(picked(&done, "3"), ["3"]);
}

#[test]
fn next_is_the_first_that_waits_for_nobody() {
    let plans = plans(&[
        ["1", "One", "-", "cc:Done"],
        ["2", "Two", "4", "cc:TODO"],
        ["3", "Three", "1", "cc:WIP"],
        ["4", "Four", "-", "cc:TODO"],
    ]);
    assert_eq!(picked(&plans, "next"), ["3"]);
    let all_done = super::plans(&[["1", "One", "-", "cc:Done"]]);
    assert_eq!(picked(&all_done, "next"), [""; 0]);
}

#[test]
fn circles_are_named() {
    let plans = plans(&[
        ["1", "One", "3", "cc:TODO"],
        ["2", "Two", "1", "cc:TODO"],
        ["3", "Three", "2", "cc:TODO"],
        ["4", "Four", "4", "cc:TODO"],
    ]);
    let circle = "tasks wait for each other in a circle: 1 → 3 → 2 → 1";
    assert_eq!(refused(&plans, "1-3").0, circle);
    assert_eq!(refused(&plans, "4").0, "tasks wait for each other in a circle: 4 → 4");
}

#[test]
fn where_depends_is_silent_a_mark_allows_overlap() {
    let plans = plans(&[
        ["1", "One", "-", "cc:TODO"],
        ["2", "[P] Two", "-", "cc:TODO"],
        ["3", "[P] Three", "-", "cc:TODO"],
        ["4", "Four", "-", "cc:TODO"],
        ["5", "[P] Five", "4", "cc:TODO"],
        ["6", "Six", "2", "cc:TODO"],
        ["7", "Seven", "after the others", "cc:TODO"],
    ]);
    assert_eq!(picked(&plans, "all"), ["1", "2", "3", "4 < 1 2 3", "5 < 4", "6 < 2", "7 < 6"]);
    // Only what was selected is waited for.
    assert_eq!(picked(&plans, "1,4"), ["1", "4 < 1"]);
}

#[test]
fn the_row_before_is_not_waited_for_by_what_it_waits_for() {
    let plans = plans(&[["1", "One", "2", "cc:TODO"], ["2", "Two", "-", "cc:TODO"]]);
    assert_eq!(picked(&plans, "all"), ["1 < 2", "2"]);
}

#[test]
fn dependencies_are_numbers_ranges_and_what_is_below() {
    let plans = plans(&[
        ["2.1", "[P] a", "-", "cc:TODO"],
        ["2.2", "[P] b", "-", "cc:TODO"],
        ["3", "c", "2", "cc:TODO"],
        ["4", "d", "2.1-3", "cc:TODO"],
        ["5", "e", "1.7, 2.1", "cc:TODO"],
    ]);
    let chosen = plans.select(&Targets::All).unwrap();
    assert_eq!(told(&chosen), ["2.1", "2.2", "3 < 2.1 2.2", "4 < 2.1 2.2 3", "5 < 2.1"]);
    assert_eq!(
        chosen.remarks,
        ["task 5 depends on 1.7, and there is no such row: it is taken for done"]
    );
}

#[test]
fn what_cannot_be_meant_is_said() {
    let plans = some();
    for (said, what, next) in [
        ("", "\"\" is neither the number of a task", "windlass work 3"),
        ("a/b", "\"a/b\" is neither the number of a task", "windlass work 3"),
        ("all,3", "\"all\" is neither the number of a task", "windlass work 3"),
        ("9", "there is no task 9: they go from 1 to H-2", "windlass work 3"),
        ("7-9", "there is no task 7-9", "windlass work 3"),
        ("6-3", "the range 6-3 ends before it begins", "windlass work 3-6"),
    ] {
        let (is, step) = refused(&plans, said);
        assert!(is.starts_with(what), "{said}: {is}");
        assert!(step.contains(next), "{said}: {step}");
    }
    let twice = super::plans(&[["1", "a", "-", "cc:TODO"], ["1", "b", "-", "cc:TODO"]]);
    assert_eq!(refused(&twice, "1").0, "the number 1 is there twice, on lines 5 and 6");
    assert_eq!(refused(&super::plans(&[]), "1").0, "there is no task 1: there is none at all");
}

#[test]
fn a_unit_has_what_its_row_says() {
    let plans = Plans::read(format!(
        "{HEADER}| 1 | [skip:tdd] Change `src/a.rs` | `src/b.rs` fits | - | cc:TODO |\n"
    ));
    let chosen = plans.select(&Targets::All).unwrap();
    let effort = Effort::of(&chosen.picked[0].row, Known::Failed);
    let item = chosen.picked[0].item(&effort);
    assert_eq!((&*item.id, &*item.title), ("1", "Change `src/a.rs`"));
    let files: Vec<&str> = item.files.iter().map(|file| &**file).collect();
    assert_eq!(files, ["src/a.rs", "src/b.rs"]);
    assert_eq!(item.facts["skip_tdd"].to_string(), "true");
    assert_eq!(item.facts["effort_score"].to_string(), "2");
}

proptest! {
    /// Whatever rows there are: what is picked can be done in some order, and each waits only for what is picked.
    #[test]
    fn whatever_is_picked_can_be_done(
        rows in prop::collection::vec((any::<bool>(), prop::collection::vec(1_u8..9, 0..3), 0_u8..3), 1..8),
        said in "(all|next|[1-8](-[1-8])?(,[1-8])?)",
    ) {
        let text: String = rows.iter().enumerate().map(|(at, (parallel, on, status))| {
            let on: Vec<String> = on.iter().map(u8::to_string).collect();
            let mark = if *parallel { "[P] " } else { "" };
            let status = ["cc:TODO", "cc:WIP", "cc:Done"][usize::from(*status)];
            format!("| {} | {mark}x | y | {} | {status} |\n", at + 1, on.join(", "))
        }).collect();
        let plans = Plans::read(format!("{HEADER}{text}"));
        let Ok(targets) = Targets::parse(&said) else { return Ok(()) };
        match plans.select(&targets) {
            Ok(chosen) => {
                let mut done: Vec<&Number> = Vec::new();
                let mut left: Vec<&Picked> = chosen.picked.iter().collect();
                while !left.is_empty() {
                    let before = left.len();
                    left.retain(|picked| {
                        let ready = picked.waits.iter().all(|on| done.contains(&on));
                        if ready {
                            done.push(&picked.row.number);
                        }
                        !ready
                    });
                    prop_assert!(left.len() < before, "{:?}", told(&chosen));
                }
            }
            // The command that includes what is missing is not refused for that reason again.
            Err(Refusal::Unfinished { targets, .. }) => {
                let again = plans.select(&Targets::parse(&targets).unwrap());
                let unfinished = matches!(again, Err(Refusal::Unfinished { .. }));
                prop_assert!(!unfinished, "{targets}");
            }
            Err(_) => {}
        }
    }

    #[test]
    fn whatever_is_said_is_understood_or_refused(said in ".{0,20}") {
        if let Ok(targets) = Targets::parse(&said) {
            prop_assert_eq!(&Targets::parse(&targets.to_string()).unwrap(), &targets);
        }
    }
}

#[test]
fn a_row_with_a_number_and_nothing_else_is_named_with_its_line() {
    let rows = "| 10 | Ten | it works | - | cc:TODO |\n| 11 |  |  |  |  |\n| **Later** | | | | |\n";
    let plans = Plans::read(format!("{HEADER}{rows}"));
    let said = "task 11 says nothing but its number: this row is left alone".to_owned();
    assert_eq!(plans.remarks, [(4, said)]);
    assert_eq!(picked(&plans, "all"), ["10"]);
    let (refusal, next) = refused(&plans, "11");
    assert_eq!(refusal, "task 11 says nothing but its number, on line 4");
    assert!(next.starts_with("say in its row what is to be done"), "{next}");
    assert!(refused(&plans, "12").0.starts_with("there is no task 12"));
    assert_eq!(plans.free().next(), Some(number("12")), "its number is taken");
}
