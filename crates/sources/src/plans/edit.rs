//! Changing the file: one cell, or lines at the end of a table. Everything else stays as it is, byte for byte.
//!
//! Whose a cell is, and so whether it may be changed, is not known here: whoever writes remembers what they wrote.

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
