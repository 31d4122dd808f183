//! Markdown as people write it: headings, the sections below them, comments and lists, with their places.
//!
//! What stands in a code block or a comment is not what it looks like: a heading there is none.

use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// A text, taken apart.
#[derive(Debug)]
pub(crate) struct Outline<'t> {
    text: &'t str,
    /// Headings, from top to bottom.
    pub headings: Vec<Heading>,
    /// Where HTML stands, comments among it.
    html: Vec<Range<usize>>,
    /// Items of lists that are in no other list.
    pub items: Vec<ListItem>,
}

/// A heading and what is below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Heading {
    /// 1 is the highest.
    pub level: u8,
    /// What it says, without marks.
    pub text: String,
    /// Its line, from 1.
    pub line: usize,
    /// Where it begins.
    pub start: usize,
    /// Where what is below it begins.
    pub below: usize,
}

/// An item of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListItem {
    /// All of it, lists inside included.
    pub range: Range<usize>,
    /// What its first line says.
    pub text: String,
    /// Whether it is ticked off, if it has a box.
    pub ticked: Option<bool>,
    /// Its line, from 1.
    pub line: usize,
}

impl<'t> Outline<'t> {
    pub fn of(text: &'t str) -> Self {
        let mut outline =
            Outline { text, headings: Vec::new(), html: Vec::new(), items: Vec::new() };
        let lines = Lines::of(text);
        let (mut depth, mut quotes) = (0_usize, 0_usize);
        // What is being read: a heading, or the first line of an item.
        let mut said: Option<String> = None;
        for (event, range) in Parser::new_ext(text, Options::ENABLE_TASKLISTS).into_offset_iter() {
            match event {
                // What is quoted is somebody else's.
                Event::Start(Tag::BlockQuote(_)) => quotes += 1,
                Event::End(TagEnd::BlockQuote(_)) => quotes = quotes.saturating_sub(1),
                Event::Start(Tag::Heading { level, .. }) if quotes == 0 => {
                    outline.headings.push(Heading {
                        level: depth_of(level),
                        text: String::new(),
                        line: lines.at(range.start),
                        start: range.start,
                        below: range.end,
                    });
                    said = Some(String::new());
                }
                Event::End(TagEnd::Heading(_)) if quotes == 0 => {
                    if let (Some(said), Some(heading)) = (said.take(), outline.headings.last_mut())
                    {
                        heading.text = said.trim().to_owned();
                    }
                }
                Event::Start(Tag::Item) => {
                    depth += 1;
                    if depth == 1 {
                        let line = lines.at(range.start);
                        let item = ListItem { range, text: String::new(), ticked: None, line };
                        outline.items.push(item);
                        said = Some(String::new());
                    } else {
                        outline.said(&mut said);
                    }
                }
                Event::End(TagEnd::Item) => {
                    depth = depth.saturating_sub(1);
                    outline.said(&mut said);
                }
                Event::TaskListMarker(ticked) if depth == 1 => {
                    if let Some(item) = outline.items.last_mut() {
                        item.ticked = Some(ticked);
                    }
                }
                Event::Text(more) | Event::Code(more) => {
                    if let Some(said) = &mut said {
                        said.push_str(&more);
                    }
                }
                Event::SoftBreak | Event::HardBreak if depth > 0 => outline.said(&mut said),
                Event::Html(_) | Event::InlineHtml(_) => outline.html.push(range),
                _ => {}
            }
        }
        outline
    }

    /// The first line of an item is over.
    fn said(&mut self, said: &mut Option<String>) {
        if let (Some(said), Some(item)) = (said.take(), self.items.last_mut()) {
            item.text = said.trim().to_owned();
        }
    }

    /// Where the section of a heading ends: at the next one that is as high, or at the end.
    pub fn end(&self, heading: &Heading) -> usize {
        let next = self
            .headings
            .iter()
            .find(|other| other.start > heading.start && other.level <= heading.level);
        next.map_or(self.text.len(), |next| next.start)
    }

    /// What is below a heading, down to the end of its section.
    pub fn below(&self, heading: &Heading) -> &'t str {
        &self.text[heading.below..self.end(heading)]
    }

    /// What comments `<!-- key: value -->` in a part of the text give as the value of a key.
    pub fn noted(&self, key: &str, within: Range<usize>) -> Vec<(usize, &'t str)> {
        let mut found = Vec::new();
        let lines = Lines::of(self.text);
        for html in self.html.iter().filter(|html| within.contains(&html.start)) {
            let mut rest = &self.text[html.clone()];
            while let Some(at) = rest.find("<!--") {
                let comment = &rest[at + 4..];
                let end = comment.find("-->").unwrap_or(comment.len());
                let (name, value) = comment[..end].split_once(':').unwrap_or_default();
                if name.trim().eq_ignore_ascii_case(key) {
                    let line = lines.at(html.end - rest.len() + at);
                    found.push((line, value.trim()));
                }
                rest = &comment[end..];
            }
        }
        found
    }
}

/// Which line something is on.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Lines(
            text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect(),
        )
    }

    fn at(&self, offset: usize) -> usize {
        self.0.partition_point(|end| *end < offset) + 1
    }
}

fn depth_of(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

/// A name that files and branches can have: lower case, with a dash for whatever is neither letter nor digit.
pub fn slug(name: &str) -> String {
    let mut slug = String::new();
    for letter in name.chars().flat_map(char::to_lowercase) {
        if letter.is_alphanumeric() {
            slug.push(letter);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let cut = slug.floor_char_boundary(SLUG_MAX);
    slug[..cut].trim_end_matches('-').to_owned()
}

/// Names of files have a limit.
const SLUG_MAX: usize = 80;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_in_code_and_comments_are_none() {
        let text =
            "# One\n\n```\n## Not\n```\n<!--\n## Nor this\n-->\n\nTwo\n---\n\n    ### code\n";
        let outline = Outline::of(text);
        let seen: Vec<_> = outline.headings.iter().map(|h| (h.level, &*h.text, h.line)).collect();
        assert_eq!(seen, [(1, "One", 1), (2, "Two", 10)]);
    }

    #[test]
    fn a_section_ends_at_the_next_heading_that_is_as_high() {
        assert!(Outline::of("> ## Quoted\n").headings.is_empty());
        let text = "## A\na\n### B\nb\n## C\nc\n";
        let outline = Outline::of(text);
        assert_eq!(outline.below(&outline.headings[0]), "a\n### B\nb\n");
        assert_eq!(outline.below(&outline.headings[1]), "b\n");
        assert_eq!(outline.below(&outline.headings[2]), "c\n");
    }

    #[test]
    fn comments_are_found_wherever_they_stand() {
        let text = "### A <!-- complexity: low -->\n\n<!-- complexity: high --> <!-- other: 1 -->\n\
                    `<!-- complexity: code -->`\n";
        let outline = Outline::of(text);
        assert_eq!(outline.headings[0].text, "A");
        assert_eq!(outline.noted("Complexity", 0..text.len()), [(1, "low"), (3, "high")]);
        assert_eq!(outline.noted("complexity", 31..text.len()), [(3, "high")]);
    }

    #[test]
    fn items_know_their_first_line_and_whether_they_are_ticked() {
        let text = "- [x] one `code`\n  more\n  - inner\n- [ ] two\n- three\n";
        let outline = Outline::of(text);
        let seen: Vec<_> =
            outline.items.iter().map(|item| (&*item.text, item.ticked, item.line)).collect();
        assert_eq!(
            seen,
            [("one code", Some(true), 1), ("two", Some(false), 4), ("three", None, 5)]
        );
        assert_eq!(&text[outline.items[0].range.clone()], "- [x] one `code`\n  more\n  - inner\n");
    }

    #[test]
    fn a_slug_has_letters_digits_and_dashes() {
        assert_eq!(slug("Core Scanner"), "core-scanner");
        assert_eq!(slug("  CLI / Integration (v2)! "), "cli-integration-v2");
        assert_eq!(slug("Größe 北"), "größe-北");
        assert_eq!(slug("../../etc"), "etc");
        assert!(slug(&"ä".repeat(200)).len() <= 80);
    }
}
