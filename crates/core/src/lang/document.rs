//! A TOML document with its spans, walked tolerantly: whatever is wrong is noted, and the walk goes on.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::diagnostic::{Code, Diagnostic, Span};
use super::problems::Problems;

/// Larger than any definition that a person could read.
const TEXT_MAX: usize = 1 << 20;
/// Items of a list, or entries of a table. Stages are not held to it; they are bounded by what an index can be.
pub(super) const ITEMS_MAX: usize = 1_000;

/// Parses the text and notes where it is not TOML. `None` when it is too large to be looked at.
pub(super) fn parse<'t>(
    text: &'t str,
    problems: &mut Problems<'_>,
) -> Option<Spanned<DeTable<'t>>> {
    if text.len() > TEXT_MAX {
        let message = format!("the file has {} bytes; at most {TEXT_MAX} are read", text.len());
        problems.report(
            Diagnostic::at(0..0, Code::TooLarge, message)
                .help("no workflow that a person can read is that long"),
        );
        return None;
    }
    let (document, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let span = error.span().unwrap_or(0..0);
        if error.message() == "duplicate key" {
            let key = text.get(span.clone()).unwrap_or("a key");
            let message = format!("`{key}` stands here a second time");
            problems.report(
                Diagnostic::at(span, Code::DuplicateKey, message).help("keep one of the two"),
            );
        } else {
            problems.report(
                Diagnostic::at(span, Code::Syntax, error.message())
                    .help("what stands below is checked once this is TOML"),
            );
        }
    }
    Some(document)
}

/// A piece of text from the document: a key or a string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Text {
    /// What it says.
    pub value: String,
    /// Where it stands, without its quotes.
    pub span: Span,
    /// Whether every byte of the value stands in the document as it is, so that parts of it have places too.
    exact: bool,
}

impl Text {
    fn new(value: &str, span: Span, source: &str) -> Text {
        let raw = source.get(span.clone()).unwrap_or_default();
        let at = ["\"\"\"\r\n", "'''\r\n", "\"\"\"\n", "'''\n", "\"\"\"", "'''", "\"", "'", ""]
            .iter()
            .find(|quote| raw.starts_with(**quote))
            .map_or(0, |quote| quote.len());
        let exact = raw.get(at..).is_some_and(|inner| inner.starts_with(value));
        let span = if exact { span.start + at..span.start + at + value.len() } else { span };
        Text { value: value.to_owned(), span, exact }
    }

    /// The place of a part of the value; the whole when the document has escapes in it.
    pub fn part(&self, part: Range<usize>) -> Span {
        if !self.exact {
            return self.span.clone();
        }
        let end = self.value.len();
        self.span.start + part.start.min(end)..self.span.start + part.end.min(end)
    }

    pub fn as_str(&self) -> &str {
        &self.value
    }
}

/// A value of the document.
#[derive(Clone, Copy)]
pub(super) struct Node<'d> {
    value: &'d Spanned<DeValue<'d>>,
    source: &'d str,
}

impl<'d> Node<'d> {
    pub fn span(self) -> Span {
        self.value.span()
    }

    pub fn is_text(self) -> bool {
        self.value.get_ref().is_str()
    }

    pub fn is_number(self) -> bool {
        self.value.get_ref().is_integer()
    }

    pub fn is_flag(self) -> bool {
        self.value.get_ref().is_bool()
    }

    pub fn is_list(self) -> bool {
        self.value.get_ref().is_array()
    }

    pub fn is_table(self) -> bool {
        self.value.get_ref().is_table()
    }

    /// Whether it is a list of tables, as `[[NAME]]` makes one.
    pub fn is_list_of_tables(self) -> bool {
        let array = self.value.get_ref().as_array();
        array.is_some_and(|array| array.iter().all(|item| item.get_ref().is_table()))
    }

    fn described(self) -> &'static str {
        match self.value.get_ref() {
            DeValue::String(_) => "text",
            DeValue::Integer(_) => "a number",
            DeValue::Float(_) => "a number with a fraction",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        }
    }

    /// Notes that the value is not what it must be.
    pub fn not_a(self, what: &str, must_be: &str, problems: &mut Problems<'_>) {
        let message = format!("{what} must be {must_be}, not {}", self.described());
        let help = match must_be {
            "text" => "write text in quotes: `\"…\"`",
            "a list" => "write a list in brackets: `[…]`",
            "a table" => "write a table in braces, `{ … }`, or below a header of its own, `[…]`",
            "true or false" => "write `true` or `false`, without quotes",
            _ => "write a value of that kind",
        };
        problems.report(Diagnostic::at(self.span(), Code::WrongValue, message).help(help));
    }

    /// The value as text that says something.
    pub fn text(self, what: &str, problems: &mut Problems<'_>) -> Option<Text> {
        let Some(value) = self.value.get_ref().as_str() else {
            self.not_a(what, "text", problems);
            return None;
        };
        let text = Text::new(value, self.span(), self.source);
        if value.trim().is_empty() {
            let message = format!("{what} is empty");
            let problem = Diagnostic::at(self.span(), Code::WrongValue, message);
            problems.report(problem.help("say something, or leave the key out"));
            return None;
        }
        Some(text)
    }

    /// The value as a whole number.
    pub fn number(self, what: &str, problems: &mut Problems<'_>) -> Option<i64> {
        let Some(number) = self.value.get_ref().as_integer() else {
            self.not_a(what, "a whole number", problems);
            return None;
        };
        let parsed = i64::from_str_radix(number.as_str(), number.radix()).ok();
        if parsed.is_none() {
            let message = format!("{what} is out of range: {number}");
            let help = format!("at most {}", i64::MAX);
            problems.report(Diagnostic::at(self.span(), Code::WrongValue, message).help(help));
        }
        parsed
    }

    /// The value as true or false.
    pub fn flag(self, what: &str, problems: &mut Problems<'_>) -> Option<bool> {
        let flag = self.value.get_ref().as_bool();
        if flag.is_none() {
            self.not_a(what, "true or false", problems);
        }
        flag
    }

    /// The value as a list.
    pub fn list(self, what: &str, problems: &mut Problems<'_>) -> Option<Vec<Node<'d>>> {
        let mut items = self.stages(what, problems)?;
        self.at_most(&mut items, what, problems);
        Some(items)
    }

    /// The value as a list of any length.
    pub fn stages(self, what: &str, problems: &mut Problems<'_>) -> Option<Vec<Node<'d>>> {
        let Some(array) = self.value.get_ref().as_array() else {
            self.not_a(what, "a list", problems);
            return None;
        };
        Some(array.iter().map(|value| Node { value, source: self.source }).collect())
    }

    fn at_most<T>(self, items: &mut Vec<T>, what: &str, problems: &mut Problems<'_>) {
        if items.len() > ITEMS_MAX {
            let message = format!("{what} has {} items; at most {ITEMS_MAX} are read", items.len());
            problems.report(Diagnostic::too_large(self.span(), message));
            items.truncate(ITEMS_MAX);
        }
    }

    /// The value as a list of texts, none of them twice.
    pub fn texts(self, what: &str, problems: &mut Problems<'_>) -> Vec<Text> {
        let items = self.list(what, problems).unwrap_or_default();
        let mut texts: Vec<Text> = Vec::new();
        for item in items {
            let Some(text) = item.text(&format!("an item of {what}"), problems) else { continue };
            if let Some(first) = texts.iter().find(|other| other.value == text.value) {
                let message = format!("`{}` is in {what} twice", text.value);
                problems.report(
                    Diagnostic::at(text.span.clone(), Code::WrongValue, message)
                        .related(first.span.clone(), "the first one is here")
                        .help("leave one of them out"),
                );
            } else {
                texts.push(text);
            }
        }
        texts
    }

    /// The value as a list of texts that has some.
    pub fn some_texts(self, what: &str, problems: &mut Problems<'_>) -> Vec<Text> {
        if self.value.get_ref().as_array().is_some_and(|array| array.is_empty()) {
            let message = format!("{what} is empty");
            let problem = Diagnostic::at(self.span(), Code::WrongValue, message);
            problems.report(problem.help("name at least one"));
        }
        self.texts(what, problems)
    }

    /// The value as a table with these keys; `what` is what people call such a table.
    pub fn table(
        self,
        what: &'static str,
        keys: &[&'static str],
        problems: &mut Problems<'_>,
    ) -> Option<Table<'d>> {
        let entries = self.entries(what, problems)?;
        Some(Table::new(what, self.span(), keys, entries, problems))
    }

    /// The value as a table whose keys are names, in order of appearance.
    pub fn entries(self, what: &str, problems: &mut Problems<'_>) -> Option<Vec<(Text, Node<'d>)>> {
        let Some(table) = self.value.get_ref().as_table() else {
            self.not_a(what, "a table", problems);
            return None;
        };
        let mut entries = entries(table, self.source);
        self.at_most(&mut entries, what, problems);
        Some(entries)
    }
}

/// The entries of a table in order of appearance. The map is sorted by key; people mean the order in which they wrote.
pub(super) fn entries<'d>(table: &'d DeTable<'d>, source: &'d str) -> Vec<(Text, Node<'d>)> {
    let mut entries: Vec<(Text, Node<'d>)> = table
        .iter()
        .map(|(key, value): (&'d Spanned<Cow<'d, str>>, _)| {
            (Text::new(key.get_ref(), key.span(), source), Node { value, source })
        })
        .collect();
    entries.sort_by_key(|(key, _)| key.span.start);
    entries
}

/// A table whose keys are known.
pub(super) struct Table<'d> {
    what: &'static str,
    span: Span,
    items: BTreeMap<&'static str, (Text, Node<'d>)>,
}

impl<'d> Table<'d> {
    /// Notes every key that is not one of `keys`. One that looks like a slip stands in for the key that was meant, so
    /// that the same slip is not reported again as something missing.
    pub fn new(
        what: &'static str,
        span: Span,
        keys: &[&'static str],
        entries: Vec<(Text, Node<'d>)>,
        problems: &mut Problems<'_>,
    ) -> Self {
        let mut items = BTreeMap::new();
        let mut unknown = Vec::new();
        for (key, node) in entries {
            match keys.iter().find(|known| **known == key.value) {
                Some(known) => {
                    items.insert(*known, (key, node));
                }
                None => unknown.push((key, node)),
            }
        }
        for (key, node) in unknown {
            unknown_key(&key, what, keys, problems);
            let near = problems.nearest(&key.value, keys.iter().copied());
            if let Some(meant) = near.and_then(|near| keys.iter().find(|known| **known == near)) {
                items.entry(*meant).or_insert((key, node));
            }
        }
        Table { what, span, items }
    }

    /// The table's header or braces.
    pub fn span(&self) -> Span {
        self.span.clone()
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<Node<'d>> {
        self.items.get(key).map(|(_, node)| *node)
    }

    /// The key as it stands there.
    pub fn key(&self, key: &str) -> Option<&Text> {
        self.items.get(key).map(|(key, _)| key)
    }

    /// The value of a key that must be there.
    pub fn need(&self, key: &str, problems: &mut Problems<'_>) -> Option<Node<'d>> {
        let node = self.get(key);
        if node.is_none() {
            let message = format!("{} has no `{key}`", self.what);
            problems.report(
                Diagnostic::at(self.span(), Code::MissingKey, message)
                    .help(format!("add `{key} = …`")),
            );
        }
        node
    }

    pub fn text(&self, key: &str, problems: &mut Problems<'_>) -> Option<Text> {
        self.get(key)?.text(&format!("`{key}`"), problems)
    }

    /// The text of a key that must be there.
    pub fn need_text(&self, key: &str, problems: &mut Problems<'_>) -> Option<Text> {
        self.need(key, problems)?.text(&format!("`{key}`"), problems)
    }

    pub fn flag(&self, key: &str, problems: &mut Problems<'_>) -> bool {
        self.get(key).and_then(|node| node.flag(&format!("`{key}`"), problems)).unwrap_or(false)
    }

    pub fn texts(&self, key: &str, problems: &mut Problems<'_>) -> Vec<Text> {
        self.get(key).map(|node| node.texts(&format!("`{key}`"), problems)).unwrap_or_default()
    }
}

/// Notes a key that the language does not have.
pub(super) fn unknown_key(key: &Text, what: &str, known: &[&str], problems: &mut Problems<'_>) {
    let help = problems.did_you_mean_one_of(&key.value, known);
    let message = format!("{what} has no key `{}`", key.value);
    problems.report(Diagnostic::at(key.span.clone(), Code::UnknownKey, message).help(help));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node_of<'d>(document: &'d Spanned<DeTable<'d>>, text: &'d str, key: &str) -> Node<'d> {
        let found = entries(document.get_ref(), text).into_iter().find(|(k, _)| k.value == key);
        found.map(|(_, node)| node).unwrap()
    }

    #[test]
    fn entries_stand_in_order_of_appearance() {
        let text = "z = 1\na = { y = 1, b = 2 }\nm.q = 1\nm.c = 2\n";
        let mut problems = Problems::new(text);
        let document = parse(text, &mut problems).unwrap();
        let keys = |entries: Vec<(Text, Node<'_>)>| -> Vec<String> {
            entries.into_iter().map(|(key, _)| key.value).collect()
        };
        assert_eq!(keys(entries(document.get_ref(), text)), ["z", "a", "m"]);
        for (key, want) in [("a", ["y", "b"]), ("m", ["q", "c"])] {
            let node = node_of(&document, text, key);
            assert_eq!(keys(node.entries("it", &mut problems).unwrap()), want);
        }
        assert!(problems.none());
    }

    #[test]
    fn parts_of_a_text_have_places_unless_it_has_escapes() {
        let cases = [
            ("k = \"ab cd\"", Some("cd")),
            ("k = 'ab cd'", Some("cd")),
            ("k = \"\"\"\nab cd\"\"\"", Some("cd")),
            ("k = '''ab cd'''", Some("cd")),
            ("k = \"a\\u0062 cd\"", None),
        ];
        for (source, want) in cases {
            let mut problems = Problems::new(source);
            let document = parse(source, &mut problems).unwrap();
            let text = node_of(&document, source, "k").text("k", &mut problems).unwrap();
            assert_eq!(text.value, "ab cd");
            let span = text.part(3..5);
            match want {
                Some(want) => assert_eq!(&source[span], want, "{source}"),
                None => assert_eq!(span, text.span, "{source}"),
            }
            assert!(text.part(7..99).end <= source.len());
        }
    }

    #[test]
    fn a_slip_stands_in_for_the_key_that_was_meant() {
        let text = "t = { cuont = 'x', extra = 1 }";
        let mut problems = Problems::new(text);
        let document = parse(text, &mut problems).unwrap();
        let node = node_of(&document, text, "t");
        let table = node.table("a move", &["count", "to"], &mut problems).unwrap();
        assert_eq!(table.text("count", &mut problems).map(|t| t.value).as_deref(), Some("x"));
        assert!(table.get("to").is_none());
        let found: Vec<String> = problems.into_list().into_iter().map(|p| p.message).collect();
        assert_eq!(found, ["a move has no key `cuont`", "a move has no key `extra`"]);
    }

    #[test]
    fn numbers_out_of_range_are_noted() {
        let text = "a = 9223372036854775807\nb = 9223372036854775808\nc = 0xff\nd = -1_000";
        let mut problems = Problems::new(text);
        let document = parse(text, &mut problems).unwrap();
        let numbers: Vec<Option<i64>> = entries(document.get_ref(), text)
            .into_iter()
            .map(|(_, node)| node.number("it", &mut problems))
            .collect();
        assert_eq!(numbers, [Some(i64::MAX), None, Some(255), Some(-1000)]);
        assert_eq!(problems.into_list().len(), 1);
    }
}
