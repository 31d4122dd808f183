//! Languages as far as residuals are concerned: which file is in which, and what on a line is code, text and comment.

use std::path::Path;

/// A language, or several that are alike here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    JavaScript,
    Python,
    Rust,
    Go,
    /// Java, Kotlin, Scala, C#, Swift, Dart.
    Java,
    /// C and C++.
    C,
    Ruby,
    Php,
    Shell,
    /// Pages and templates: only their text is looked at.
    Page,
}

/// A line, taken apart.
#[derive(Clone, Debug)]
pub(crate) struct Line<'t> {
    /// All of it.
    pub whole: &'t str,
    /// Its code, with nothing left between quotes.
    pub code: String,
    /// What stands between quotes.
    pub texts: Vec<String>,
    /// What stands in a comment that is no documentation.
    pub comment: Option<&'t str>,
}

impl Language {
    pub fn of(path: &Path) -> Option<Self> {
        Some(match path.extension()?.to_str()? {
            "js" | "jsx" | "ts" | "tsx" | "mjs" | "cjs" | "mts" | "cts" | "vue" | "svelte" => {
                Language::JavaScript
            }
            "py" => Language::Python,
            "rs" => Language::Rust,
            "go" => Language::Go,
            "java" | "kt" | "kts" | "scala" | "cs" | "swift" | "dart" => Language::Java,
            "c" | "h" | "cc" | "cpp" | "cxx" | "hpp" => Language::C,
            "rb" => Language::Ruby,
            "php" => Language::Php,
            "sh" | "bash" | "zsh" => Language::Shell,
            "html" | "htm" | "erb" | "ejs" | "hbs" => Language::Page,
            _ => return None,
        })
    }

    /// What begins a comment that goes on to the end of the line.
    fn marks(self) -> &'static [&'static str] {
        match self {
            Language::Python | Language::Ruby | Language::Shell => &["#"],
            Language::Php => &["//", "#"],
            Language::Page => &[],
            _ => &["//"],
        }
    }

    /// What quotes a text.
    fn quotes(self) -> &'static [char] {
        match self {
            Language::JavaScript | Language::Go => &['"', '\'', '`'],
            // A lifetime is no text.
            Language::Rust => &['"'],
            Language::Page => &[],
            _ => &['"', '\''],
        }
    }

    /// The lines of a text. What is between the marks of a comment of several lines is documentation to us.
    pub fn lines(self, text: &str) -> Vec<Line<'_>> {
        let mut within: Option<&'static str> = None;
        let mut lines = Vec::new();
        for whole in text.lines() {
            if let Some(end) = within {
                if whole.contains(end) {
                    within = None;
                }
                lines.push(Line { whole, code: String::new(), texts: Vec::new(), comment: None });
                continue;
            }
            let line = self.line(whole);
            within = self.opens(&line);
            lines.push(line);
        }
        lines
    }

    /// What ends a comment, or a text of several lines, that a line begins and does not end.
    fn opens(self, line: &Line<'_>) -> Option<&'static str> {
        let marks: &[(&str, &str)] = match self {
            Language::Python => &[("\"\"\"", "\"\"\""), ("'''", "'''")],
            Language::Ruby => &[("=begin", "=end")],
            Language::Page => &[("<!--", "-->")],
            Language::Shell => &[],
            Language::Rust => &[("/*", "*/"), ("r#\"", "\"#")],
            _ => &[("/*", "*/")],
        };
        let bare = if self == Language::Python || self == Language::Rust {
            line.whole
        } else {
            line.code.as_str()
        };
        marks.iter().find_map(|(begin, end)| {
            let at = bare.find(begin)?;
            (!bare[at + begin.len()..].contains(end)).then_some(*end)
        })
    }

    fn line(self, whole: &str) -> Line<'_> {
        let (mut code, mut texts, mut comment) = (String::new(), Vec::new(), None);
        let mut rest = whole;
        while let Some(letter) = rest.chars().next() {
            if let Some(mark) = self.marks().iter().find(|mark| rest.starts_with(**mark)) {
                // `$#`, `"#{x}"` and `http://` are no comments.
                let apart = code
                    .chars()
                    .next_back()
                    .is_none_or(|it| it.is_whitespace() || ";){}],".contains(it));
                if apart && !rest.starts_with("#!") {
                    comment = remark(&rest[mark.len()..], mark);
                    break;
                }
            }
            if self.quotes().contains(&letter) {
                let (text, length) = quoted(rest, letter);
                code.extend([letter, letter]);
                texts.push(text.to_owned());
                rest = &rest[length..];
                continue;
            }
            code.push(letter);
            rest = &rest[letter.len_utf8()..];
        }
        Line { whole, code, texts, comment }
    }
}

/// What a comment says, if it is none that documents or that a tool reads.
fn remark<'t>(said: &'t str, mark: &str) -> Option<&'t str> {
    let documents = mark == "//" && (said.starts_with('/') || said.starts_with('!'));
    (!documents).then_some(said.trim())
}

/// What is between quotes, and how long it is with them.
fn quoted(text: &str, quote: char) -> (&str, usize) {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            letter if letter == quote => return (&text[1..at], at + 1),
            _ => {}
        }
    }
    (&text[1..], text.len())
}
