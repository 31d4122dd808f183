//! Laying out words for a terminal: what is as wide as it looks, breaks where it may, and cannot
//! smuggle in control sequences.

use clap::builder::styling::{AnsiColor, Style};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

pub const PLAIN: Style = Style::new();
pub const STRONG: Style = Style::new().bold();
pub const FAINT: Style = Style::new().dimmed();
pub const GOOD: Style = AnsiColor::Green.on_default();
pub const BAD: Style = AnsiColor::Red.on_default();
pub const WARN: Style = AnsiColor::Yellow.on_default();
pub const WORD: Style = AnsiColor::Cyan.on_default();

/// Columns that are left for words, however narrow the terminal is.
const ROOM_MIN: usize = 24;

/// A text of somebody else's as it may be shown: on one line, without control characters and
/// without marks that turn the direction of writing around.
pub fn clean(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => cleaned.push(' '),
            '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' => {
                cleaned.push('\u{fffd}');
            }
            letter if letter.is_control() => cleaned.extend(letter.escape_default()),
            letter => cleaned.push(letter),
        }
    }
    cleaned
}

/// The same for a text of several lines: each is clean.
pub fn clean_lines(text: &str) -> String {
    text.lines().map(clean).collect::<Vec<_>>().join("\n")
}

/// A paragraph: what stands at its left edge, and words that flow beside it. Every text in it is
/// [`clean`]ed.
#[derive(Debug, Default)]
pub struct Line {
    lead: Vec<(Style, String)>,
    body: Vec<(Style, String)>,
}

impl Line {
    /// A paragraph that begins this many columns in.
    pub fn at(indent: usize) -> Self {
        Self::default().lead(PLAIN, &" ".repeat(indent), 0)
    }

    /// Puts something at the left edge, filled up with spaces to `width` columns.
    pub fn lead(mut self, style: Style, text: &str, width: usize) -> Self {
        let text = clean(text);
        let fill = width.saturating_sub(text.width());
        self.lead.push((style, text));
        self.lead.push((PLAIN, " ".repeat(fill)));
        self
    }

    /// Adds to the words. There is no space between these and those before unless it is written.
    pub fn add(mut self, style: Style, text: impl AsRef<str>) -> Self {
        self.body.push((style, clean(text.as_ref())));
        self
    }

    /// The paragraph in so many columns, its further lines below the first word.
    pub fn fold(&self, width: usize) -> String {
        let lead_width: usize = self.lead.iter().map(|(_, text)| text.width()).sum();
        // Where there is no room beside the lead, the words go below it.
        let narrow = lead_width + ROOM_MIN > width;
        let hang = if narrow { lead_indent(&self.lead) + 4 } else { lead_width };
        let mut page = String::new();
        let mut row = self.lead.clone();
        let mut column = lead_width;
        let mut fresh = true;
        for word in words(&self.body) {
            for part in word.broken(width.saturating_sub(hang).max(1)) {
                let gap = usize::from(!fresh);
                if column + gap + part.width > width && !(fresh && column == hang) {
                    paint(&mut page, &row);
                    page.push('\n');
                    row = vec![(PLAIN, " ".repeat(hang))];
                    column = hang;
                } else if gap > 0 {
                    // A gap between two words of one style is of that style, too.
                    let style = part.parts.first().map_or(PLAIN, |(style, _)| *style);
                    let same = row.last().is_some_and(|(last, _)| *last == style);
                    row.push((if same { style } else { PLAIN }, " ".to_owned()));
                    column += 1;
                }
                column += part.width;
                row.extend(part.parts);
                fresh = false;
            }
        }
        paint(&mut page, &row);
        page
    }
}

/// How far the first thing that can be seen is from the edge.
fn lead_indent(lead: &[(Style, String)]) -> usize {
    let text: String = lead.iter().map(|(_, text)| text.as_str()).collect();
    text.chars().take_while(|letter| *letter == ' ').count()
}

/// Writes a row, each style once for as long as it lasts, and no spaces at its end.
fn paint(page: &mut String, row: &[(Style, String)]) {
    let mut runs: Vec<(Style, String)> = Vec::new();
    for (style, text) in row {
        match runs.last_mut() {
            Some((last, run)) if last == style => run.push_str(text),
            Some(_) | None => runs.push((*style, text.clone())),
        }
    }
    while let Some((_, text)) = runs.last_mut() {
        text.truncate(text.trim_end_matches(' ').len());
        if !text.is_empty() {
            break;
        }
        runs.pop();
    }
    for (style, text) in runs.iter().filter(|(_, text)| !text.is_empty()) {
        if *style == PLAIN {
            page.push_str(text);
        } else {
            page.push_str(&format!("{style}{text}{style:#}"));
        }
    }
}

/// Letters without a space between them, in one style or several.
#[derive(Clone, Debug, Default)]
struct Word {
    parts: Vec<(Style, String)>,
    width: usize,
}

impl Word {
    fn push(&mut self, style: Style, letter: char) {
        match self.parts.last_mut() {
            Some((last, text)) if *last == style => text.push(letter),
            Some(_) | None => self.parts.push((style, letter.to_string())),
        }
        self.width += letter.width().unwrap_or(0);
    }

    /// The word in pieces that fit; most words are one.
    fn broken(self, width: usize) -> Vec<Word> {
        if self.width <= width {
            return vec![self];
        }
        let mut pieces = Vec::new();
        let mut piece = Word::default();
        for (style, text) in &self.parts {
            for letter in text.chars() {
                if piece.width + letter.width().unwrap_or(0) > width && piece.width > 0 {
                    pieces.push(std::mem::take(&mut piece));
                }
                piece.push(*style, letter);
            }
        }
        pieces.push(piece);
        pieces
    }
}

fn words(body: &[(Style, String)]) -> Vec<Word> {
    let mut words = Vec::new();
    let mut word = Word::default();
    for (style, text) in body {
        for letter in text.chars() {
            if letter == ' ' {
                if !word.parts.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            } else {
                word.push(*style, letter);
            }
        }
    }
    if !word.parts.is_empty() {
        words.push(word);
    }
    words
}

/// How many columns the widest of these takes, up to a limit.
pub fn widest<'a>(texts: impl IntoIterator<Item = &'a str>, limit: usize) -> usize {
    texts.into_iter().map(UnicodeWidthStr::width).max().unwrap_or(0).min(limit)
}

/// `1 stage`, `2 stages`, `3 patches`, `4 verbs`; what a unit is called is the author's own word.
pub fn count(number: impl Into<u64>, thing: &str) -> String {
    let number = number.into();
    if number == 1 { format!("1 {thing}") } else { format!("{number} {}", plural(thing)) }
}

pub fn plural(thing: &str) -> String {
    let ends = |endings: &[&str]| endings.iter().any(|ending| thing.ends_with(ending));
    match thing.strip_suffix('y') {
        Some(stem) if !ends(&["ay", "ey", "oy", "uy"]) => format!("{stem}ies"),
        _ if ends(&["s", "x", "ch", "sh"]) => format!("{thing}es"),
        _ => format!("{thing}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fold(lead: &str, body: &str, width: usize) -> String {
        Line::at(2).lead(PLAIN, lead, 10).add(PLAIN, body).fold(width)
    }

    #[test]
    fn words_flow_beside_the_lead_and_below_it_where_it_is_narrow() {
        insta::assert_snapshot!(fold("name", "all the words there are in the world", 38), @"
          name      all the words there are in
                    the world
        ");
        insta::assert_snapshot!(fold("name", "all the words there are in the world", 30), @"
          name      all the words
              there are in the world
        ");
    }

    #[test]
    fn no_line_is_wider_than_it_may_be() {
        let long = "a-word-that-has-no-end-and-no-space-in-it-and-is-too-wide";
        for width in 30..80 {
            for line in
                fold("name", &format!("so {long} it is, 日本語日本語日本語日本語"), width).lines()
            {
                assert!(line.width() <= width, "{width}: {line}");
            }
        }
    }

    #[test]
    fn styles_do_not_count_and_do_not_split_words() {
        let line = Line::at(0).add(STRONG, "a verdict").add(PLAIN, ", and more").fold(30);
        assert_eq!(line, "\u{1b}[1ma verdict\u{1b}[0m, and more");
    }

    #[test]
    fn control_characters_are_shown_and_not_obeyed() {
        assert_eq!(clean("a\u{1b}[31mb\nc\u{202e}d"), "a\\u{1b}[31mb c\u{fffd}d");
        assert_eq!(clean("a\u{2028}b\u{61c}c"), "a b\u{fffd}c");
    }

    #[test]
    fn things_are_counted_in_words() {
        let counted = [(1, "stage"), (2, "stage"), (0, "story"), (2, "day"), (2, "patch")];
        let counted = counted.map(|(number, thing)| count(number as u64, thing)).join(", ");
        assert_eq!(counted, "1 stage, 2 stages, 0 stories, 2 days, 2 patches");
    }
}
