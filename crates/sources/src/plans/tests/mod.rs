//! What is read out of Plans.md.

mod editing;
mod judging;
mod selecting;

use super::*;

pub(super) const HEADER: &str =
    "| Task | Content | DoD | Depends | Status |\n|------|---------|-----|---------|--------|\n";

pub(super) fn number(text: &str) -> Number {
    Number::of(text).expect("a number")
}

/// A file with one table: number, content, depends, status.
pub(super) fn plans(rows: &[[&str; 4]]) -> Plans {
    let mut text = format!("# Plan\n\n{HEADER}");
    for [number, content, depends, status] in rows {
        text.push_str(&format!("| {number} | {content} | it works | {depends} | {status} |\n"));
    }
    Plans::read(text)
}

const FILE: &str = "# Plans\n\n\
    Text | with a pipe.\n\n\
    ## Phase 26: Log in [P1]\n\n\
    | Task | 内容 | DoD | Depends | Status |\n\
    |------|:----:|-----|--------:|--------|\n\
    | 26.1 | [P] Log in with `a\\|b` | `POST /login` answers 200 | - | cc:Done [a1b2c3d] |\n\
    | 26.1.2 | [skip:tdd] 画面を直す **now** | it fits | 26.1, 25.4 | cc:TODO |\n\
    | **Later** | | | | |\n\
    | 26.1.fix | fix: ultrathink about it | tests pass | 26.1 | cc:WIP (Ada) |\n\
    | ??? | no number | none | - | cc:TODO |\n\n\
    ## Other\n\n\
    | Marker | Means |\n|---|---|\n| cc:TODO | to do |\n\n\
    | Status | Note | Task | Depends | Content | DoD |\n|---|---|---|---|---|---|\n\
    | blocked | x | H-2 | none | Look `at|it` | done |\n";

#[test]
fn rows_are_read_with_all_that_they_say() {
    let plans = Plans::read(FILE);
    assert_eq!(plans.form(), Form::Second);
    let told: Vec<_> = plans
        .rows()
        .iter()
        .map(|row| (row.number.as_str(), row.content.as_str(), row.status.to_string(), row.line))
        .collect();
    assert_eq!(
        told,
        [
            ("26.1", "Log in with `a|b`", "cc:Done [a1b2c3d]".to_owned(), 9),
            ("26.1.2", "画面を直す **now**", "cc:TODO".to_owned(), 10),
            ("26.1.fix", "fix: ultrathink about it", "cc:WIP".to_owned(), 12),
            ("H-2", "Look `at|it`", "blocked".to_owned(), 23),
        ]
    );
    let tags: Vec<_> = plans
        .rows()
        .iter()
        .map(|row| (row.tags.parallel, row.tags.skip_tdd, row.tags.ultrathink))
        .collect();
    assert_eq!(
        tags,
        [(true, false, false), (false, true, false), (false, false, true), (false, false, false)]
    );
    let row = plans.row(&number("26.1.2")).unwrap();
    assert_eq!((row.dod.as_str(), row.depends.on.len()), ("it fits", 2));
    assert_eq!(row.section.as_deref(), Some("Phase 26: Log in [P1]"));
    assert!(plans.row(&number("H-2")).unwrap().depends.is_silent());
    assert_eq!(plans.cell(row, Column::Status), " cc:TODO ");
    assert_eq!(
        plans.remarks,
        [(13, "\"???\" is no number of a task: this row is left alone".to_owned())]
    );
}

#[test]
fn the_old_format_is_known_by_what_its_header_lacks() {
    let old = "| Task | Content | Status |\n|---|---|---|\n| 1 | a | cc:TODO |\n";
    let plans = Plans::read(old);
    assert_eq!((plans.form(), plans.rows().len()), (Form::Old, 0));
    assert_eq!(
        plans.remarks,
        [(
            1,
            "this table of tasks is in the old format (no DoD, Depends): it is left alone"
                .to_owned()
        )]
    );
    assert_eq!(Plans::read("- [ ] something `cc:TODO`\n").form(), Form::Old);
    assert_eq!(Plans::read(" \n\n").form(), Form::Empty);
    // Beside a table of version 2 an old one is said and left alone.
    let both = Plans::read(format!("{HEADER}| 1 | a | b | - | cc:TODO |\n\n{old}"));
    assert_eq!((both.form(), both.rows().len(), both.remarks.len()), (Form::Second, 1, 1));
    // Without a row there is a table all the same.
    assert_eq!(Plans::read(HEADER).form(), Form::Second);
}

#[test]
fn a_row_without_all_its_cells_is_left_alone() {
    let plans = Plans::read(format!("{HEADER}| 1 | a | b |\n| 2 | a | b | - | cc:TODO |\n"));
    assert_eq!(plans.rows().len(), 1);
    assert_eq!(
        plans.remarks,
        [(3, "task 1 has no cell for each column: this row is left alone".to_owned())]
    );
}

#[test]
fn a_tag_in_code_or_a_link_is_none() {
    let plans = plans(&[
        ["1", "Explain `[P]` to people", "-", "cc:TODO"],
        ["2", "See [p](x.md)", "-", "cc:TODO"],
        ["[P] 3", "Third", "-", "cc:TODO"],
    ]);
    let parallel: Vec<bool> = plans.rows().iter().map(|row| row.tags.parallel).collect();
    assert_eq!(parallel, [false, false, true]);
    assert_eq!(plans.rows()[0].content, "Explain `[P]` to people");
    assert_eq!(plans.rows()[2].number.as_str(), "3");
}

#[test]
fn new_rows_come_after_the_largest_number_and_where_there_is_none_in_a_gap() {
    let free = |numbers: &[&str]| {
        let rows: Vec<[&str; 4]> = numbers.iter().map(|it| [*it, "x", "-", "cc:TODO"]).collect();
        plans(&rows).free().take(2).map(|it| it.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(free(&[]), ["1", "2"]);
    assert_eq!(free(&["3", "26.1.2", "H-2"]), ["27", "28"]);
    assert_eq!(free(&["18446744073709551614"]), ["18446744073709551615", "1"]);
    assert_eq!(free(&["1", "3.1", "18446744073709551615"]), ["2", "4"]);
    // What is larger than can be counted is a name like any other.
    assert_eq!(free(&["2", "99999999999999999999"]), ["3", "4"]);
}
