//! Changing the file: one cell, or lines at the end of a table. Everything else stays as it is, byte for byte.
//!
//! What we want is a difference between the file as it was seen last and as it should be; it is put into the file as somebody
//! else has it by then, cell by cell. A cell that they changed is theirs.

use std::collections::BTreeMap;

use super::{Column, Number, Plans, Row, Status, plain};

/// A row to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRow {
    /// What it is called.
    pub number: Number,
    /// What is to be done.
    pub content: String,
    /// When it is done.
    pub dod: String,
    /// What it waits for; `-` is written for nothing.
    pub depends: Vec<Number>,
    /// How far it is.
    pub status: Status,
    /// It belongs into the table of this row, and else into the last one.
    pub beside: Option<Number>,
}

/// What became of new rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The file with them.
    pub plans: Plans,
    /// Those that were there already.
    pub known: Vec<Number>,
}

/// What became of what we wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// The file.
    pub plans: Plans,
    /// What stays as somebody else has it.
    pub kept: Vec<Kept>,
}

/// Something that stays as somebody else has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// They have changed the cell as well.
    Theirs {
        /// Of which row.
        number: Number,
        /// Which.
        column: Column,
        /// What it says.
        theirs: String,
        /// What it would have said.
        ours: String,
    },
    /// They have taken the row out.
    Gone {
        /// Which.
        number: Number,
    },
}

/// A line for people.
impl std::fmt::Display for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Kept::Theirs { number, column, theirs, ours } => {
                let column = column.word();
                write!(
                    f,
                    "{column} of task {number} was changed to {theirs:?} meanwhile: it stays so, and does not become {ours:?}"
                )
            }
            Kept::Gone { number } => {
                write!(
                    f,
                    "task {number} was taken out of the file meanwhile: it is not brought back"
                )
            }
        }
    }
}

impl Plans {
    /// The file with another status of a row. `None` if there is no such row, if two have that number, or if the row would not
    /// be the same afterwards.
    #[must_use]
    pub fn with_status(&self, number: &Number, status: &Status) -> Option<Plans> {
        let mut rows = self.rows.iter().filter(|row| row.number == *number);
        let row = rows.next().filter(|_| rows.next().is_none())?;
        self.with_cell(row, Column::Status, &status.put_into(self.cell(row, Column::Status)))
    }

    /// The file with other bytes in a cell.
    fn with_cell(&self, row: &Row, column: Column, bytes: &str) -> Option<Plans> {
        let at = row.cells[column as usize].clone();
        let mut text = String::with_capacity(self.text.len() + bytes.len());
        text.push_str(&self.text[..at.start]);
        text.push_str(bytes);
        text.push_str(&self.text[at.end..]);
        let plans = Plans::read(text);
        let same = self.rows.len() == plans.rows.len()
            && self.rows.iter().zip(&plans.rows).all(|(before, after)| {
                Column::ALL.into_iter().all(|other| {
                    let changed = before.cells == row.cells && other == column;
                    let want = if changed { bytes } else { self.cell(before, other) };
                    plans.cell(after, other) == want
                })
            });
        same.then_some(plans)
    }

    /// The file with more rows: each at the end of a table. `None` if there is no table.
    #[must_use]
    pub fn with_rows(&self, rows: &[NewRow]) -> Option<Appended> {
        let last = self.tables.len().checked_sub(1)?;
        let mut known: Vec<Number> = Vec::new();
        let mut lines: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        let mut taken: Vec<&Number> = Vec::new();
        for row in rows {
            if self.row(&row.number).is_some() || taken.contains(&&row.number) {
                known.push(row.number.clone());
                continue;
            }
            taken.push(&row.number);
            let beside = row.beside.as_ref().and_then(|number| self.row(number));
            let table = beside.map_or(last, |row| row.table);
            lines.entry(table).or_default().push(self.line(table, row));
        }
        let mut text = self.text.clone();
        for (table, lines) in lines.iter().rev() {
            let end = self.tables[*table].end;
            let brk = self.line_break(end);
            let lines: String = lines.iter().map(|line| format!("{brk}{line}")).collect();
            text.insert_str(end, &lines);
        }
        Some(Appended { plans: Plans::read(text), known })
    }

    /// The line of a new row, as the columns of its table are.
    fn line(&self, table: usize, row: &NewRow) -> String {
        let table = &self.tables[table];
        let depends: Vec<&str> = row.depends.iter().map(Number::as_str).collect();
        let depends = if depends.is_empty() { "-".to_owned() } else { depends.join(", ") };
        let texts = [
            row.number.to_string(),
            row.content.clone(),
            row.dod.clone(),
            depends,
            row.status.to_string(),
        ];
        let cell = |place: usize| {
            let own = table.columns.iter().position(|column| *column == place);
            own.map_or_else(String::new, |own| escaped(&texts[own]))
        };
        let cells: String = (0..table.width).map(|place| format!(" {} |", cell(place))).collect();
        format!("|{cells}")
    }

    /// How lines end around a place.
    fn line_break(&self, at: usize) -> &'static str {
        let rest = &self.text[at..];
        let crlf = match rest.find('\n') {
            Some(end) => rest[..end].ends_with('\r'),
            None => self.text.contains("\r\n"),
        };
        if crlf { "\r\n" } else { "\n" }
    }

    /// What `theirs` is with what we wanted of `base`, as `self` has it.
    #[must_use]
    pub fn merged_into(&self, base: &Plans, theirs: &Plans) -> Merged {
        let (known, there) = (base.by_name(), theirs.by_name());
        let mut kept = Vec::new();
        let mut cells: Vec<(std::ops::Range<usize>, String)> = Vec::new();
        let mut new = Vec::new();
        for ((number, which), row) in self.by_name() {
            let Some(before) = known.get(&(number, which)) else {
                new.push(self.as_new(row));
                continue;
            };
            let after = there.get(&(number, which));
            for column in Column::ALL {
                let (was, want) = (base.cell(before, column), self.cell(row, column));
                if was == want {
                    continue;
                }
                let Some(after) = after else {
                    kept.push(Kept::Gone { number: number.clone() });
                    break;
                };
                let is = theirs.cell(after, column);
                match changed(column, was, want, is) {
                    Change::Put(bytes) => cells.push((after.cells[column as usize].clone(), bytes)),
                    Change::Same => {}
                    Change::Theirs => kept.push(Kept::Theirs {
                        number: number.clone(),
                        column,
                        theirs: plain(is),
                        ours: plain(want),
                    }),
                }
            }
        }
        let mut text = theirs.text.clone();
        cells.sort_by_key(|(at, _)| std::cmp::Reverse(at.start));
        for (at, bytes) in cells {
            text.replace_range(at, &bytes);
        }
        let plans = Plans::read(text);
        let plans = match plans.with_rows(&new) {
            Some(appended) if !new.is_empty() => appended.plans,
            _ => plans,
        };
        Merged { plans, kept }
    }

    /// Rows by number, and the how-manieth of that number each is.
    fn by_name(&self) -> BTreeMap<(&Number, usize), &Row> {
        let mut counts: BTreeMap<&Number, usize> = BTreeMap::new();
        let mut rows = BTreeMap::new();
        for row in &self.rows {
            let count = counts.entry(&row.number).or_default();
            rows.insert((&row.number, *count), row);
            *count += 1;
        }
        rows
    }

    fn as_new(&self, row: &Row) -> NewRow {
        let said = |column| plain(self.cell(row, column));
        let depends = row.depends.on.iter().filter_map(|on| match on {
            super::depends::On::One(number) => Some(number.clone()),
            super::depends::On::Range(..) => None,
        });
        let before =
            self.rows.iter().rfind(|other| other.table == row.table && other.line < row.line);
        NewRow {
            number: row.number.clone(),
            content: said(Column::Content),
            dod: said(Column::Dod),
            depends: depends.collect(),
            status: row.status.clone(),
            beside: before.map(|row| row.number.clone()),
        }
    }
}

/// What is to be done with a cell.
enum Change {
    /// These bytes go there.
    Put(String),
    /// It says that already.
    Same,
    /// It is theirs.
    Theirs,
}

fn changed(column: Column, was: &str, want: &str, is: &str) -> Change {
    if column == Column::Status {
        let (was, want, is_now) = (Status::of(was), Status::of(want), Status::of(is));
        return match (is_now == want, is_now == was) {
            (true, _) => Change::Same,
            // What else they wrote into the cell stays.
            (false, true) => Change::Put(want.put_into(is)),
            (false, false) => Change::Theirs,
        };
    }
    match (plain(is) == plain(want), plain(is) == plain(was)) {
        (true, _) => Change::Same,
        (false, true) => Change::Put(want.to_owned()),
        (false, false) => Change::Theirs,
    }
}

/// A text as it can stand in a cell: on one line, with no pipe that ends it.
fn escaped(text: &str) -> String {
    let mut cell = String::new();
    for letter in plain(text).chars().filter(|letter| !letter.is_control()) {
        if letter == '|' && !cell.ends_with('\\') {
            cell.push('\\');
        }
        cell.push(letter);
    }
    cell
}
