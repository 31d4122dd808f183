//! Tables of Markdown as places in a text: which lines are a table's, and where each of its cells begins and ends.
//!
//! Which lines those are the parser of Markdown says, so what stands in a code block, a comment or a quotation is no table.
//! Cells are cut as GitHub cuts them: at every `|` that has no backslash right before it. A row that comes to more cells than
//! its table has columns, and to exactly as many when pipes in code spans are left alone, was meant that way.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// A table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Table {
    /// The line of its header, from 1.
    pub line: usize,
    /// The cells of its header.
    pub header: Vec<Range<usize>>,
    /// Its rows.
    pub rows: Vec<Row>,
    /// Where its last line ends, before the line break.
    pub end: usize,
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// Its line, from 1.
    pub line: usize,
    /// Between its pipes: padding is part of a cell.
    pub cells: Vec<Range<usize>>,
}

/// All tables of a text that are in nothing else, from top to bottom.
pub(super) fn tables(text: &str) -> Vec<Table> {
    let (mut tables, mut depth) = (Vec::new(), 0_usize);
    let mut lines = Lines { text, at: 0, line: 1 };
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::BlockQuote(_) | Tag::Item) => depth += 1,
            Event::End(TagEnd::BlockQuote(_) | TagEnd::Item) => depth = depth.saturating_sub(1),
            Event::Start(Tag::Table(_)) if depth == 0 => {
                tables.extend(table(text, range, &mut lines))
            }
            _ => {}
        }
    }
    tables
}

fn table(text: &str, range: Range<usize>, lines: &mut Lines<'_>) -> Option<Table> {
    // It begins where its line does, whatever is before the first pipe.
    let start = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let mut at = start;
    let mut found = Vec::new();
    for line in text[start..range.end].split_inclusive('\n') {
        let bare = line.trim_end_matches(['\n', '\r']);
        if !bare.trim().is_empty() {
            found.push(at..at + bare.len());
        }
        at += line.len();
    }
    let mut found = found.into_iter();
    let (header, ruler) = (found.next()?, found.next()?);
    let line = lines.of(header.start);
    let header = cells(text, header);
    let mut end = ruler.end;
    let mut rows = Vec::new();
    for row in found {
        end = row.end;
        let line = lines.of(row.start);
        rows.push(Row { line, cells: cells_of(text, row, header.len()) });
    }
    Some(Table { line, header, rows, end })
}

/// The cells of a row in a table of so many columns.
fn cells_of(text: &str, line: Range<usize>, columns: usize) -> Vec<Range<usize>> {
    let found = cells(text, line.clone());
    if found.len() > columns {
        let meant = cut(text, line, code_spans);
        if meant.len() == columns {
            return meant;
        }
    }
    found
}

fn cells(text: &str, line: Range<usize>) -> Vec<Range<usize>> {
    cut(text, line, |_| Vec::new())
}

/// Cuts a line at its pipes, but not within what `whole` names.
fn cut(text: &str, line: Range<usize>, whole: fn(&str) -> Vec<Range<usize>>) -> Vec<Range<usize>> {
    let said = &text[line.clone()];
    let whole = whole(said);
    let bytes = said.as_bytes();
    let mut pipes = (0..bytes.len()).filter(|&at| {
        bytes[at] == b'|'
            && (at == 0 || bytes[at - 1] != b'\\')
            && !whole.iter().any(|span| span.contains(&at))
    });
    let indent = said.len() - said.trim_start().len();
    let mut start = if said[indent..].starts_with('|') {
        pipes.next();
        indent + 1
    } else {
        0
    };
    let mut found = Vec::new();
    for at in pipes {
        found.push(line.start + start..line.start + at);
        start = at + 1;
    }
    // Behind the last pipe there is a cell only if something stands there.
    if !said[start..].trim().is_empty() {
        found.push(line.start + start..line.end);
    }
    found
}

/// Where the code spans of a line are.
fn code_spans(line: &str) -> Vec<Range<usize>> {
    let bytes = line.as_bytes();
    let run = |at: usize| bytes[at..].iter().take_while(|byte| **byte == b'`').count();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let ticks = run(at);
        if ticks == 0 {
            at += 1;
            continue;
        }
        let inside = at + ticks;
        let mut end = inside;
        // A span ends at as many ticks as it began with.
        while end < bytes.len() && run(end) != ticks {
            end += run(end).max(1);
        }
        if end < bytes.len() {
            found.push(at..end + ticks);
            at = end + ticks;
        } else {
            at = inside;
        }
    }
    found
}

/// Counts lines, from top to bottom.
struct Lines<'t> {
    text: &'t str,
    at: usize,
    line: usize,
}

impl Lines<'_> {
    fn of(&mut self, at: usize) -> usize {
        if at > self.at {
            self.line += self.text[self.at..at].bytes().filter(|byte| *byte == b'\n').count();
            self.at = at;
        }
        self.line
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(line: &str) -> Vec<&str> {
        cells(line, 0..line.len()).into_iter().map(|cell| &line[cell]).collect()
    }

    #[test]
    fn a_line_is_cut_at_its_pipes() {
        assert_eq!(split("| a | b |"), [" a ", " b "]);
        assert_eq!(split("a | b"), ["a ", " b"]);
        assert_eq!(split("  | a || b |  "), [" a ", "", " b "]);
        assert_eq!(split(r"| a \| b | `c\|d` |"), [r" a \| b ", r" `c\|d` "]);
        assert_eq!(split("| 幅 | b"), [" 幅 ", " b"]);
        assert_eq!(split("|"), [""; 0]);
    }

    #[test]
    fn pipes_in_code_are_left_alone_where_the_row_would_have_too_many_cells() {
        let line = "| `a|b` | ``c`|`d`` | e |";
        let found = |columns| {
            let found = cells_of(line, 0..line.len(), columns);
            found.into_iter().map(|cell| line[cell].trim()).collect::<Vec<_>>()
        };
        assert_eq!(found(3), ["`a|b`", "``c`|`d``", "e"]);
        // As GitHub has it, where that goes up or neither does.
        assert_eq!(found(5), ["`a", "b`", "``c`", "`d``", "e"]);
        assert_eq!(found(4).len(), 5);
    }

    #[test]
    fn what_only_looks_like_a_table_is_none() {
        let table = "| a | b |\n|---|---|\n| 1 | 2 |\n";
        let text = format!(
            "```\n{table}```\n\n<!--\n{table}-->\n\n> {}\n\n- {}\n\n| not | one |\n\n{table}\nText\n",
            table.trim_end().replace('\n', "\n> "),
            table.trim_end().replace('\n', "\n  "),
        );
        let found = tables(&text);
        assert_eq!(found.len(), 1, "{found:?}");
        let line = found[0].line;
        assert_eq!(text.lines().nth(line - 1), Some("| a | b |"));
        assert_eq!(found[0].rows[0].line, line + 2);
        assert_eq!(&text[found[0].end - 9..found[0].end], "| 1 | 2 |");
    }

    proptest! {
        /// The parser of Markdown is the oracle: it has as many cells in a row as we have, up to the table's columns.
        #[test]
        fn cells_are_cut_as_the_parser_cuts_them(
            rows in prop::collection::vec("\\|?([ a]{0,2}[a1幅]\\\\?\\|){1,4}[ b]{0,2}", 1..4),
        ) {
            let mut text = "| a | b | c |\n|---|---|---|\n".to_owned();
            text.extend(rows.iter().map(|row| format!("{row}\n")));
            let ours = tables(&text);
            prop_assert_eq!(ours.len(), 1);
            let events = Parser::new_ext(&text, Options::ENABLE_TABLES).into_offset_iter();
            let mut theirs: Vec<Vec<String>> = Vec::new();
            for (event, range) in events {
                match event {
                    Event::Start(Tag::TableRow) => theirs.push(Vec::new()),
                    Event::Start(Tag::TableCell) if !theirs.is_empty() => {
                        let last = theirs.len() - 1;
                        theirs[last].push(text[range].trim_matches(['|', ' ', '\n']).to_owned());
                    }
                    _ => {}
                }
            }
            prop_assert_eq!(ours[0].rows.len(), theirs.len());
            for (own, theirs) in ours[0].rows.iter().zip(&theirs) {
                for (at, theirs) in theirs.iter().enumerate() {
                    let own = own.cells.get(at).map_or("", |cell| text[cell.clone()].trim());
                    prop_assert_eq!(own.trim_matches(['|', ' ']), theirs, "{:?}", text);
                }
            }
        }
    }
}
