//! A mistake in a definition: where it is, what is wrong, and what to do about it.
//!
//! Spans are byte offsets into the text that was read. Nothing here knows a terminal: [`Diagnostic::plain`] is the form
//! for logs and tests, and a renderer may draw a better one from the same parts.

use std::fmt::{self, Write as _};
use std::ops::Range;

/// Byte offsets into the text.
pub type Span = Range<usize>;

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The offending text.
    pub span: Span,
    /// What sort of mistake it is.
    pub code: Code,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// Other places that belong to it, and why.
    pub related: Vec<(Span, String)>,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// The sorts of mistake. Their names are stable: people search for them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code { $($(#[$doc])* $variant,)* }

        impl Code {
            /// All of them.
            pub const ALL: &[Code] = &[$(Code::$variant,)*];

            /// Its stable name.
            pub fn name(self) -> &'static str {
                match self { $(Code::$variant => $name,)* }
            }
        }
    };
}

codes! {
    /// The file is not TOML.
    Syntax = "syntax",
    /// A key or table stands twice.
    DuplicateKey = "duplicate-key",
    /// More than the checker is willing to look at.
    TooLarge = "too-large",
    /// A key that the language does not have.
    UnknownKey = "unknown-key",
    /// A key that must be there.
    MissingKey = "missing-key",
    /// A key on a kind of stage, or in a place, that does not have it.
    MisplacedKey = "misplaced-key",
    /// A value of the wrong type, or a word that is not one of those allowed.
    WrongValue = "wrong-value",
    /// A name that cannot be one.
    BadName = "bad-name",
    /// Two things of one name.
    DuplicateName = "duplicate-name",
    /// A stage without a kind, or with two.
    StageKind = "stage-kind",
    /// A stage or move in a scope that cannot have it.
    WrongScope = "wrong-scope",
    /// An expression that cannot be read.
    BadExpression = "bad-expression",
    /// An expression whose parts do not fit one another.
    TypeMismatch = "type-mismatch",
    /// A name that stands for nothing.
    UnknownName = "unknown-name",
    /// A name that exists but cannot be asked for here.
    NotVisible = "not-visible",
    /// Lets that need one another.
    LetCycle = "let-cycle",
    /// A role that the catalogue does not have.
    UnknownRole = "unknown-role",
    /// A reader that the catalogue does not have.
    UnknownReader = "unknown-reader",
    /// A check that the catalogue does not have.
    UnknownCheck = "unknown-check",
    /// A tell that the catalogue does not have.
    UnknownTell = "unknown-tell",
    /// A list that its stage does not report.
    UnknownList = "unknown-list",
    /// Two roles that would share one conversation.
    SharedSession = "shared-session",
    /// Two lists that give one fact two types.
    FactConflict = "fact-conflict",
    /// Members of a panel that do not share their verdicts.
    PanelVerdicts = "panel-verdicts",
    /// A move to a stage that is not there.
    MoveToNowhere = "move-to-nowhere",
    /// A verdict that the stage never comes to.
    UnknownVerdict = "unknown-verdict",
    /// A verdict that leads nowhere.
    UnhandledVerdict = "unhandled-verdict",
    /// A mishap that leads nowhere.
    UnhandledMishap = "unhandled-mishap",
    /// Ordered cases whose last has a condition.
    MissingElse = "missing-else",
    /// A case behind one that always holds.
    DeadCase = "dead-case",
    /// A counted move with nowhere to go when the counter is spent.
    MissingSpent = "missing-spent",
    /// A counter counted or reset by what does not hold it.
    CounterMisuse = "counter-misuse",
    /// A counter whose maximum may grow while it is counted.
    UnboundedMax = "unbounded-max",
    /// A counter or let that nothing uses.
    Unused = "unused",
    /// A child scope that no `each` runs, or that two run.
    UnusedScope = "unused-scope",
    /// No unit ever comes to be.
    NoUnits = "no-units",
    /// A stage that nothing leads to.
    UnreachableStage = "unreachable-stage",
    /// A stage from which the scope cannot be left.
    NoWayOut = "no-way-out",
    /// A gate that may be left without an option.
    GateWithoutWayOut = "gate-without-way-out",
    /// A policy that answers what only a person may.
    PolicyAnswer = "policy-answer",
    /// A cycle with neither a counter nor a person.
    UnboundedCycle = "unbounded-cycle",
    /// A counter that is reset inside its own cycle.
    ResetInCycle = "reset-in-cycle",
    /// Units or children that add others without end.
    UnboundedGrowth = "unbounded-growth",
    /// A landing that asks for no evidence.
    LandWithoutNeeds = "land-without-needs",
    /// Evidence from something that gives none.
    BadEvidence = "bad-evidence",
    /// A path to a landing without its evidence.
    MissingEvidence = "missing-evidence",
    /// A way from a landing to another one.
    LandsTwice = "lands-twice",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A place in a text as people count it: from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

const BYTE_ORDER_MARK: char = '\u{feff}';

/// The place of a byte offset. An offset past the end is the end, one inside a character is its start.
pub fn place(text: &str, offset: usize) -> Place {
    let offset = text.floor_char_boundary(offset);
    let before = &text[..offset];
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let column = text[start..offset].trim_start_matches(BYTE_ORDER_MARK).chars().count() + 1;
    Place { line, column }
}

/// How much of a line is shown, in characters: a definition may be one very long line.
const SHOWN: usize = 160;

impl Diagnostic {
    pub(super) fn at(span: Span, code: Code, message: impl Into<String>) -> Self {
        Diagnostic { span, code, message: message.into(), help: None, related: Vec::new() }
    }

    pub(super) fn too_large(span: Span, message: impl Into<String>) -> Self {
        Diagnostic::at(span, Code::TooLarge, message)
            .help("say it more briefly, or make more than one workflow of it")
    }

    pub(super) fn help(self, help: impl Into<String>) -> Self {
        Diagnostic { help: Some(help.into()), ..self }
    }

    pub(super) fn related(mut self, span: Span, note: impl Into<String>) -> Self {
        self.related.push((span, note.into()));
        self
    }

    /// The diagnostic as plain text: place, message, the offending line, what to do.
    pub fn plain(&self, file: &str, text: &str) -> String {
        let Place { line, column } = place(text, self.span.start);
        let mut out = format!("{file}:{line}:{column}: {} [{}]\n", self.message, self.code);
        let (shown, marks) = underline(text, &self.span);
        if !shown.trim().is_empty() {
            // Writing to a String cannot fail.
            let _ = writeln!(out, "    {shown}\n    {marks}");
        }
        for (span, note) in &self.related {
            let Place { line, column } = place(text, span.start);
            let _ = writeln!(out, "  note: {file}:{line}:{column}: {note}");
        }
        if let Some(help) = &self.help {
            let _ = writeln!(out, "  help: {help}");
        }
        out
    }
}

/// The line a span begins on, and marks below the span. A long line is cut down to what surrounds the span.
fn underline(text: &str, span: &Span) -> (String, String) {
    let start = text.floor_char_boundary(span.start);
    let end = text.ceil_char_boundary(span.end).max(start);
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
    let line: Vec<char> = text[line_start..line_end]
        .trim_end_matches('\r')
        .trim_start_matches(BYTE_ORDER_MARK)
        .chars()
        .collect();
    let count = |part: &str| part.trim_start_matches(BYTE_ORDER_MARK).chars().count();
    let from = count(&text[line_start..start]).min(line.len());
    let width = text[start..end.min(line_end)].trim_end_matches('\r').chars().count().max(1);

    let left = if line.len() <= SHOWN { 0 } else { from.saturating_sub(SHOWN / 4) };
    let right = line.len().min(left + SHOWN);
    let mut shown: String = line[left..right].iter().collect();
    // Tabs stay tabs, so that the marks stand below what they mark.
    let mut marks: String =
        line[left..from].iter().map(|c| if *c == '\t' { '\t' } else { ' ' }).collect();
    if left > 0 {
        shown.insert(0, '…');
        marks.insert(0, ' ');
    }
    if right < line.len() {
        shown.push('…');
    }
    marks.push_str(&"^".repeat(width.min(right.saturating_sub(from).max(1))));
    (shown, marks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(span: Span) -> Diagnostic {
        Diagnostic::at(span, Code::UnknownKey, "no such key").help("leave it out")
    }

    #[test]
    fn columns_count_characters_and_lines_end_either_way() {
        let text = "ä = 1\r\nöl = 2\n";
        let offset = text.find("= 2").unwrap();
        assert_eq!(place(text, offset), Place { line: 2, column: 4 });
        assert_eq!(
            at(offset..offset + 1).plain("f", text),
            "f:2:4: no such key [unknown-key]\n    öl = 2\n       ^\n  help: leave it out\n"
        );
        let first = text.find("= 1").unwrap();
        assert!(at(first..first + 3).plain("f", text).contains("    ä = 1\n      ^^^\n"));
    }

    #[test]
    fn a_byte_order_mark_is_no_column() {
        assert_eq!(place("\u{feff}abc", 3), Place { line: 1, column: 1 });
        assert!(at(3..6).plain("f", "\u{feff}abc").contains("    abc\n    ^^^\n"));
    }

    #[test]
    fn offsets_out_of_bounds_or_inside_a_character_are_harmless() {
        assert_eq!(place("ä", 1), Place { line: 1, column: 1 });
        assert_eq!(place("ab", 99), Place { line: 1, column: 3 });
        for start in 0..8 {
            for end in 0..8 {
                at(start..end).plain("f", "ä\r\nö\t");
            }
        }
    }

    #[test]
    fn a_long_line_is_cut_around_the_span() {
        let text = format!("{}x{}", "a".repeat(500), "b".repeat(500));
        let plain = at(500..501).plain("f", &text);
        let lines: Vec<&str> = plain.lines().collect();
        assert!(lines[1].chars().count() < 180, "{plain}");
        assert_eq!(lines[1].find('x').map(|at| lines[1][..at].chars().count()), lines[2].find('^'));
    }

    #[test]
    fn names_of_codes_are_unique() {
        let names: std::collections::BTreeSet<&str> = Code::ALL.iter().map(|c| c.name()).collect();
        assert_eq!(names.len(), Code::ALL.len());
    }
}
