//! Plans.md (version 2): tasks as rows of tables, each with a status that we change and everything else a person's
//! (docs/formats.md, ADR 20).
//!
//! ```markdown
//! | Task | Content | DoD | Depends | Status |
//! |------|---------|-----|---------|--------|
//! | 26.1 | [P] Log in | `POST /login` answers 200 | - | cc:TODO |
//! ```
//!
//! A file is read into places, not into a model of it: writing it is putting other bytes into one of the places, so nothing
//! else can change. What is not understood is said with its line and left as it is.
//!
//! | question | file |
//! |---|---|
//! | where are the tables and their cells? | `table.rs` |
//! | what is a row called? | `number.rs` |
//! | how far is a task? | `mark.rs` |
//! | what does a row wait for? | `depends.rs` |
//! | which rows are meant, and in what order? | `select.rs` |
//! | how is the file changed? | `edit.rs` |
//! | how hard is a task? | `effort.rs` |
//! | do the markers say what the history says? | `drift.rs` |

mod depends;
mod drift;
mod edit;
mod effort;
mod mark;
mod number;
mod select;
mod table;

use std::collections::BTreeSet;
use std::ops::Range;

pub use depends::Depends;
pub use drift::{Commit, Compared, Drift, Place, Stale, Unclear, compared, drift, looks_elsewhere};
pub use edit::{Appended, NewRow};
pub use effort::{Effort, Factor, Known, THRESHOLD};
pub use mark::{HASH_LETTERS, Status};
pub use number::Number;
pub use select::{Chosen, Picked, Refusal, Targets};

use crate::markdown::Outline;

/// Where it is, unless somebody says otherwise.
pub const PATH: &str = "Plans.md";

/// No Plans.md has more bytes than this.
pub const BYTES_MAX: u64 = 8 << 20;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// It has a table of version 2 at least.
    Second,
    /// Its tables lack DoD or Depends, or it has none.
    Old,
    /// There is nothing in it.
    Empty,
}

/// A Plans.md.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plans {
    text: String,
    tables: Vec<Tasks>,
    rows: Vec<Row>,
    /// Rows that say nothing but their number, each with its line.
    bare: Vec<(Number, usize)>,
    /// What a person should know about how it was read, with the line.
    pub remarks: Vec<(usize, String)>,
}

/// A table of tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Tasks {
    /// Which column is which.
    columns: [usize; 5],
    /// How many columns there are.
    width: usize,
    /// The texts of its header.
    header: Vec<String>,
    /// Where its last line ends, before the line break.
    end: usize,
}

/// A row of a table of tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// What it is called.
    pub number: Number,
    /// What is to be done, without tags.
    pub content: String,
    /// When it is done.
    pub dod: String,
    /// What it waits for.
    pub depends: Depends,
    /// How far it is.
    pub status: Status,
    /// What it is tagged with.
    pub tags: Tags,
    /// Its line, from 1.
    pub line: usize,
    /// The heading that it stands below.
    pub section: Option<String>,
    table: usize,
    /// Its cells, by [`Column`].
    cells: [Range<usize>; 5],
}

/// What a row is tagged with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tags {
    /// `[P]`: it can be worked on beside others.
    pub parallel: bool,
    /// `[skip:tdd]`: no test is written first.
    pub skip_tdd: bool,
    /// `ultrathink` is written somewhere in the row.
    pub ultrathink: bool,
}

/// A column of a table of tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// The number.
    Task,
    /// What is to be done.
    Content,
    /// When it is done.
    Dod,
    /// What it waits for.
    Depends,
    /// How far it is.
    Status,
}

impl Column {
    /// All of them, in the order in which we write them.
    pub const ALL: [Column; 5] =
        [Column::Task, Column::Content, Column::Dod, Column::Depends, Column::Status];

    /// The word that we write into a header.
    pub fn word(self) -> &'static str {
        match self {
            Column::Task => "Task",
            Column::Content => "Content",
            Column::Dod => "DoD",
            Column::Depends => "Depends",
            Column::Status => "Status",
        }
    }

    fn named(header: &str) -> Option<Self> {
        let bare =
            header.trim_matches(|letter: char| letter.is_whitespace() || "*`_".contains(letter));
        Some(match bare.to_lowercase().as_str() {
            "task" | "タスク" => Column::Task,
            "content" | "内容" => Column::Content,
            "dod" => Column::Dod,
            "depends" | "依存" => Column::Depends,
            "status" | "ステータス" | "状態" => Column::Status,
            _ => return None,
        })
    }
}

impl Plans {
    /// Reads a file. What is none has no rows.
    pub fn read(text: impl Into<String>) -> Self {
        let text = text.into();
        let (mut tables, mut rows, mut remarks) = (Vec::new(), Vec::new(), Vec::new());
        let mut bare = Vec::new();
        let found = table::tables(&text);
        let sections = if found.is_empty() { Vec::new() } else { sections(&text) };
        for found in found {
            let header: Vec<String> =
                found.header.iter().map(|cell| plain(&text[cell.clone()])).collect();
            let place =
                |column: Column| header.iter().position(|it| Column::named(it) == Some(column));
            let places = Column::ALL.map(place);
            let [Some(task), Some(content), Some(dod), Some(depends), Some(status)] = places else {
                if places[0].is_some() && places[4].is_some() {
                    remarks.push((found.line, lacking(&places)));
                }
                continue;
            };
            let columns = [task, content, dod, depends, status];
            let section = sections.partition_point(|(at, _)| *at < found.end);
            let section = section.checked_sub(1).map(|at| sections[at].1.clone());
            for row in &found.rows {
                match one(&text, row, columns, tables.len()) {
                    Ok(read) => rows.push(Row { section: section.clone(), ..read }),
                    Err(NoTask::Wrong(what)) => remarks.push((row.line, what)),
                    Err(NoTask::Bare(number)) => {
                        let what = format!(
                            "task {number} says nothing but its number: this row is left alone"
                        );
                        remarks.push((row.line, what));
                        bare.push((number, row.line));
                    }
                    Err(NoTask::Heading) => {}
                }
            }
            tables.push(Tasks { columns, width: header.len(), header, end: found.end });
        }
        Plans { text, tables, rows, bare, remarks }
    }

    /// What the file is.
    pub fn form(&self) -> Form {
        match (self.tables.is_empty(), self.text.trim().is_empty()) {
            (false, _) => Form::Second,
            (true, false) => Form::Old,
            (true, true) => Form::Empty,
        }
    }

    /// The file's text: byte for byte what was read, but for what was changed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The rows, from top to bottom.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The first row of this number.
    pub fn row(&self, number: &Number) -> Option<&Row> {
        self.rows.iter().find(|row| row.number == *number)
    }

    /// Whole numbers for rows to be: those after the largest that is there, and where that is the last that can be counted,
    /// whichever no row begins with.
    pub fn free(&self) -> impl Iterator<Item = Number> {
        let first = |number: &Number| number.as_str().split('.').next()?.parse::<u64>().ok();
        let bare = self.bare.iter().map(|(number, _)| number);
        let all = self.rows.iter().map(|row| &row.number).chain(bare);
        let taken: BTreeSet<u64> = all.filter_map(first).collect();
        let after = taken.last().map_or(Some(1), |last| last.checked_add(1));
        let after = after.into_iter().flat_map(|first| first..=u64::MAX);
        let free = after.chain(1..=u64::MAX).filter(move |number| !taken.contains(number));
        free.filter_map(|number| Number::of(&number.to_string()))
    }

    /// What a cell of a row says, as it stands in the file.
    pub fn cell(&self, row: &Row, column: Column) -> &str {
        &self.text[row.cells[column as usize].clone()]
    }
}

/// What a table of tasks lacks.
fn lacking(places: &[Option<usize>; 5]) -> String {
    let missing: Vec<&str> = Column::ALL
        .into_iter()
        .zip(places)
        .filter(|(_, place)| place.is_none())
        .map(|(column, _)| column.word())
        .collect();
    format!(
        "this table of tasks is in the old format (no {}): it is left alone",
        missing.join(", ")
    )
}

/// Headings with their places.
fn sections(text: &str) -> Vec<(usize, String)> {
    let outline = Outline::of(text);
    outline.headings.into_iter().map(|heading| (heading.start, heading.text)).collect()
}

/// A row that is no task.
enum NoTask {
    /// Something like a heading within a table.
    Heading,
    /// It has a number, and says nothing else.
    Bare(Number),
    /// What is wrong with it.
    Wrong(String),
}

/// Reads a row.
fn one(text: &str, row: &table::Row, columns: [usize; 5], table: usize) -> Result<Row, NoTask> {
    let said = |place: usize| row.cells.get(place).map_or("", |cell| &text[cell.clone()]);
    let [task, content, dod, depends, status] = columns.map(said);
    let all = [task, content, dod];
    if [content, dod, depends, status].iter().all(|cell| cell.trim().is_empty()) {
        let number = Number::of(&plain(&untagged(task)));
        let number = number.filter(|it| it.as_str().contains(|it: char| it.is_ascii_digit()));
        return Err(number.map_or(NoTask::Heading, NoTask::Bare));
    }
    let tags = Tags {
        parallel: [task, content].iter().any(|cell| tag(cell, "[p]").is_some()),
        skip_tdd: [task, content].iter().any(|cell| tag(cell, "[skip:tdd]").is_some()),
        ultrathink: all.iter().any(|cell| cell.to_ascii_lowercase().contains("ultrathink")),
    };
    let number = Number::of(&plain(&untagged(task))).ok_or_else(|| {
        NoTask::Wrong(format!("{:?} is no number of a task: this row is left alone", plain(task)))
    })?;
    let cells = columns.map(|place| row.cells.get(place).cloned());
    let [Some(a), Some(b), Some(c), Some(d), Some(e)] = cells else {
        return Err(NoTask::Wrong(format!(
            "task {number} has no cell for each column: this row is left alone"
        )));
    };
    Ok(Row {
        number,
        content: plain(&untagged(content)),
        dod: plain(dod),
        depends: Depends::of(&plain(depends)),
        status: Status::of(status),
        tags,
        line: row.line,
        section: None,
        table,
        cells: [a, b, c, d, e],
    })
}

/// What a cell says: without padding, its pipes plain and its spaces single.
fn plain(cell: &str) -> String {
    cell.replace("\\|", "|").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Where a tag stands, in lower case; one that is written as code or a link is none.
fn tag(cell: &str, tag: &str) -> Option<Range<usize>> {
    // Hardly any cell has one, and a table has thousands of cells.
    if !cell.contains('[') {
        return None;
    }
    let lower = cell.to_ascii_lowercase();
    let mut places = lower.match_indices(tag).map(|(at, _)| at..at + tag.len());
    places.find(|at| !lower[..at.start].ends_with('`') && !lower[at.end..].starts_with('('))
}

/// A cell without its tags.
fn untagged(cell: &str) -> String {
    let mut cell = cell.to_owned();
    for word in ["[p]", "[skip:tdd]", "[ultrathink]"] {
        while let Some(at) = tag(&cell, word) {
            cell.replace_range(at, " ");
        }
    }
    cell
}

#[cfg(test)]
mod tests;
