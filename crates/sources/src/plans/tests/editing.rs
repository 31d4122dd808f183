//! What changes when something is changed, and what never does.

use proptest::prelude::*;

use super::*;

fn row(number_said: &str, content: &str, beside: Option<&str>) -> NewRow {
    NewRow {
        number: number(number_said),
        content: content.to_owned(),
        dod: "Tests/CI pass".to_owned(),
        depends: beside.map(number).into_iter().collect(),
        status: Status::Todo,
        beside: beside.map(number),
    }
}

#[test]
fn a_status_is_changed_and_nothing_else() {
    let plans = Plans::read(FILE);
    let done = Status::done(Some("0123456789"));
    let after = plans.with_status(&number("26.1.fix"), &done).unwrap();
    assert_eq!(after.text(), FILE.replace("cc:WIP (Ada)", "cc:Done [0123456] (Ada)"));
    let after = plans.with_status(&number("H-2"), &Status::Wip).unwrap();
    assert_eq!(after.text(), FILE.replace("| blocked |", "| cc:WIP |"));
    assert_eq!(plans.with_status(&number("99"), &done), None);
    let twice = super::plans(&[["1", "a", "-", "cc:TODO"], ["1", "b", "-", "cc:TODO"]]);
    assert_eq!(twice.with_status(&number("1"), &done), None);
}

#[test]
fn new_rows_stand_at_the_end_of_a_table_in_its_columns() {
    let plans = Plans::read(FILE);
    let new =
        [row("26.1.2.fix", "fix: a|b\nc - timeout", Some("26.1.2")), row("30", "Add it", None)];
    let after = plans.with_rows(&new).unwrap();
    assert!(after.known.is_empty());
    let want = FILE
        .replace(
            "| ??? | no number | none | - | cc:TODO |\n",
            "| ??? | no number | none | - | cc:TODO |\n\
             | 26.1.2.fix | fix: a\\|b c - timeout | Tests/CI pass | 26.1.2 | cc:TODO |\n",
        )
        .replace(
            "| H-2 | none | Look `at|it` | done |\n",
            "| H-2 | none | Look `at|it` | done |\n| cc:TODO |  | 30 | - | Add it | Tests/CI pass |\n",
        );
    assert_eq!(after.plans.text(), want);
    let read = after.plans.row(&number("26.1.2.fix")).unwrap();
    assert_eq!(read.content, "fix: a|b c - timeout");
    // Once is enough.
    let again = after.plans.with_rows(&new).unwrap();
    assert_eq!((again.plans.text(), again.known.len()), (want.as_str(), 2));
    assert_eq!(Plans::read("text").with_rows(&new), None);
}

#[test]
fn line_breaks_and_the_end_of_the_file_stay_as_they_are() {
    let crlf = format!("{HEADER}| 1 | a | b | - | cc:TODO |").replace('\n', "\r\n");
    let plans = Plans::read(crlf.clone());
    let after = plans.with_rows(&[row("2", "c", None)]).unwrap().plans;
    assert_eq!(after.text(), format!("{crlf}\r\n| 2 | c | Tests/CI pass | - | cc:TODO |"));
    let after = plans.with_status(&number("1"), &Status::Wip).unwrap();
    assert_eq!(after.text(), crlf.replace("cc:TODO", "cc:WIP"));
}

/// A file as somebody may have written it: text, tables with all kinds of cells, one kind of line break.
fn any_file() -> impl Strategy<Value = String> {
    let cell = prop_oneof![
        Just(String::new()),
        "[ ]{0,2}[a-z幅ü`*\\\\]{1,6}[ ]{0,2}",
        Just(" a \\| b ".to_owned()),
        Just(" `x|y` ".to_owned()),
        Just(" [P] build it ".to_owned()),
    ];
    let status = prop_oneof![
        Just("cc:TODO".to_owned()),
        Just(" cc:WIP   ".to_owned()),
        Just(" cc:Done [a1b2c3d] (x) ".to_owned()),
        Just(" ".to_owned()),
        "[ a-z`|]{0,6}",
    ];
    let number = prop_oneof!["[1-3]", "2\\.[1-4]", "[a-z ]{0,3}"];
    let depends = prop_oneof![Just("-".to_owned()), "[1-3](, ?2\\.[1-4])?", "[a-z|-]{0,4}"];
    let row = (number, cell.clone(), cell, depends, status, any::<bool>()).prop_map(
        |(number, content, dod, depends, status, closed)| {
            let end = if closed { "|" } else { "" };
            format!("| {number} |{content}|{dod}|{depends}|{status}{end}")
        },
    );
    let table =
        prop::collection::vec(row, 0..5).prop_map(|rows| format!("{}{}", HEADER, rows.join("\n")));
    let text = prop_oneof![
        Just("## Phase 2".to_owned()),
        Just("```\n| Task |\n```".to_owned()),
        Just("<!-- | Task | -->".to_owned()),
        Just("| Task | Status |\n|---|---|\n| 1 | cc:TODO |".to_owned()),
        "\\PC{0,20}",
    ];
    let part = prop_oneof![3 => table, 2 => text];
    (prop::collection::vec(part, 0..5), prop::bool::ANY, "[ \n]{0,2}").prop_map(
        |(parts, crlf, end)| {
            let text = parts.join("\n\n") + &end;
            if crlf { text.replace('\n', "\r\n") } else { text }
        },
    )
}

fn any_status() -> impl Strategy<Value = Status> {
    prop_oneof![
        Just(Status::Todo),
        Just(Status::Wip),
        Just(Status::done(None)),
        Just(Status::done(Some("0123456789"))),
    ]
}

fn cells_of(plans: &Plans, row: &Row) -> Vec<String> {
    Column::ALL.into_iter().map(|column| plans.cell(row, column).to_owned()).collect()
}

proptest! {
    #[test]
    fn whatever_is_read_is_written_back_byte_by_byte(text in prop_oneof![any_file(), ".{0,200}"]) {
        let plans = Plans::read(text.clone());
        prop_assert_eq!(plans.text(), &text);
        let mut end = 0;
        for row in plans.rows() {
            let mut cells = row.cells.to_vec();
            cells.sort_by_key(|cell| cell.start);
            for cell in cells {
                prop_assert!(end <= cell.start && cell.end <= text.len(), "{:?}", row);
                prop_assert!(text.get(cell.clone()).is_some());
                end = cell.end;
            }
        }
    }

    #[test]
    fn whatever_status_is_put_touches_one_cell(
        text in any_file(),
        at in any::<prop::sample::Index>(),
        status in any_status(),
    ) {
        let before = Plans::read(text);
        if before.rows().is_empty() {
            return Ok(());
        }
        let at = at.index(before.rows().len());
        let row = &before.rows()[at];
        let Some(after) = before.with_status(&row.number, &status) else {
            let same = before.rows().iter().filter(|other| other.number == row.number).count();
            // What else speaks against it is a tick in the cell that belongs to one in another.
            let tick = before.cell(row, Column::Status).contains('`');
            prop_assert!(same > 1 || tick, "{:?}", before.text());
            return Ok(());
        };
        let cell = row.cells[Column::Status as usize].clone();
        prop_assert!(after.text().starts_with(&before.text()[..cell.start]));
        prop_assert!(after.text().ends_with(&before.text()[cell.end..]));
        prop_assert_eq!(&after.rows()[at].status, &status);
        for (one, (old, new)) in before.rows().iter().zip(after.rows()).enumerate() {
            let (old, new) = (cells_of(&before, old), cells_of(&after, new));
            prop_assert_eq!(&old[..4], &new[..4]);
            prop_assert!(one == at || old[4] == new[4]);
        }
    }

    #[test]
    fn whatever_is_appended_leaves_the_rest_alone(
        text in any_file(),
        content in "\\PC{0,20}",
        beside in prop::option::of("[1-3]"),
    ) {
        let before = Plans::read(text);
        let new = row("77", &content, beside.as_deref());
        let Some(after) = before.with_rows(std::slice::from_ref(&new)) else {
            prop_assert!(before.form() != Form::Second);
            return Ok(());
        };
        let (old, now) = (before.text(), after.plans.text());
        let same = old.bytes().zip(now.bytes()).take_while(|(one, two)| one == two).count();
        prop_assert!(old.as_bytes().ends_with(&old.as_bytes()[same..]));
        prop_assert!(now.as_bytes().ends_with(&old.as_bytes()[same..]));
        prop_assert_eq!(after.plans.rows().len(), before.rows().len() + 1, "{:?}", now);
        let read = after.plans.row(&number("77")).unwrap();
        prop_assert_eq!(&read.status, &Status::Todo);
        prop_assert_eq!(&read.dod, "Tests/CI pass");
    }
}
