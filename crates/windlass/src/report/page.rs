//! A document of headings, tables and the like, and how it is written as Markdown and as an HTML page of its own.
//!
//! Whatever stands in it was written by somebody else: neither form takes any of it for markup, and none of it reaches the
//! reader's terminal, browser or sense of direction as anything but letters.

use crate::render::clean;

/// A document.
#[derive(Debug, Default)]
pub struct Page {
    pub title: String,
    pub blocks: Vec<Block>,
}

#[derive(Debug)]
pub enum Block {
    Heading(u8, Line),
    Text(Line),
    List(Vec<Line>),
    Table {
        heads: &'static [&'static str],
        rows: Vec<Vec<Line>>,
    },
    Quote(String),
    /// In HTML it is opened by whoever wants to see it.
    Folded {
        title: Line,
        blocks: Vec<Block>,
    },
    /// An SVG. Markdown has none.
    Picture(String),
}

/// Words on one line.
#[derive(Clone, Debug, Default)]
pub struct Line(Vec<(Voice, String)>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Voice {
    Plain,
    Code,
    Strong,
    Good,
    Bad,
}

impl Line {
    pub fn new(text: impl AsRef<str>) -> Self {
        Line::default().add(text)
    }

    pub fn code(text: impl AsRef<str>) -> Self {
        Line::default().push(Voice::Code, text)
    }

    pub fn good(text: impl AsRef<str>) -> Self {
        Line::default().push(Voice::Good, text)
    }

    pub fn bad(text: impl AsRef<str>) -> Self {
        Line::default().push(Voice::Bad, text)
    }

    pub fn strong(text: impl AsRef<str>) -> Self {
        Line::default().push(Voice::Strong, text)
    }

    pub fn add(self, text: impl AsRef<str>) -> Self {
        self.push(Voice::Plain, text)
    }

    pub fn and(mut self, other: Line) -> Self {
        self.0.extend(other.0);
        self
    }

    pub fn and_code(self, text: impl AsRef<str>) -> Self {
        self.push(Voice::Code, text)
    }

    /// Lines, one after the other.
    pub fn joined(lines: impl IntoIterator<Item = Line>, joint: &str) -> Self {
        let mut all = Line::default();
        for line in lines {
            if !all.0.is_empty() {
                all = all.add(joint);
            }
            all.0.extend(line.0);
        }
        all
    }

    fn push(mut self, voice: Voice, text: impl AsRef<str>) -> Self {
        let text = clean(text.as_ref());
        if !text.is_empty() {
            self.0.push((voice, text));
        }
        self
    }

    fn markdown(&self) -> String {
        let mut out = String::new();
        for (voice, text) in &self.0 {
            match voice {
                Voice::Plain | Voice::Good | Voice::Bad => out.push_str(&plain(text)),
                Voice::Code => {
                    out.push_str(&format!("`{}`", text.replace('`', "'").replace('|', "\\|")));
                }
                Voice::Strong => out.push_str(&format!("**{}**", plain(text))),
            }
        }
        out
    }

    fn html(&self, out: &mut String) {
        for (voice, text) in &self.0 {
            let (open, close) = match voice {
                Voice::Plain => ("", ""),
                Voice::Code => ("<code>", "</code>"),
                Voice::Strong => ("<strong>", "</strong>"),
                Voice::Good => ("<span class=\"good\">", "</span>"),
                Voice::Bad => ("<span class=\"bad\">", "</span>"),
            };
            out.push_str(open);
            out.push_str(&escaped(text));
            out.push_str(close);
        }
    }
}

impl Page {
    /// As Markdown.
    pub fn markdown(&self) -> String {
        let mut out = String::new();
        markdown(&self.blocks, &mut out);
        out
    }

    /// As a page of its own: nothing of it is fetched from anywhere, and nothing in it runs.
    pub fn html(&self) -> String {
        let mut body = String::new();
        html(&self.blocks, &mut body);
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n\
             <style>{STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n",
            escaped(&clean(&self.title))
        )
    }
}

fn markdown(blocks: &[Block], out: &mut String) {
    for block in blocks {
        if !out.is_empty() && !matches!(block, Block::Picture(_)) {
            out.push('\n');
        }
        match block {
            Block::Heading(level, line) => {
                out.push_str(&format!("{} {}\n", "#".repeat((*level).into()), line.markdown()));
            }
            Block::Text(line) => out.push_str(&format!("{}\n", line.markdown())),
            Block::List(lines) => {
                lines.iter().for_each(|line| out.push_str(&format!("- {}\n", line.markdown())));
            }
            Block::Table { heads, rows } => {
                out.push_str(&format!(
                    "| {} |\n|{}\n",
                    heads.join(" | "),
                    "---|".repeat(heads.len())
                ));
                for row in rows {
                    let cells: Vec<String> = row.iter().map(Line::markdown).collect();
                    out.push_str(&format!("| {} |\n", cells.join(" | ")));
                }
            }
            Block::Quote(text) => out.push_str(&format!("> {}\n", plain(&clean(text)))),
            Block::Folded { title, blocks } => {
                out.push_str(&format!("## {}\n", title.markdown()));
                markdown(blocks, out);
            }
            Block::Picture(_) => {}
        }
    }
}

fn html(blocks: &[Block], out: &mut String) {
    for block in blocks {
        match block {
            Block::Heading(level, line) => element(&format!("h{level}"), line, out),
            Block::Text(line) => element("p", line, out),
            Block::List(lines) => {
                out.push_str("<ul>\n");
                lines.iter().for_each(|line| element("li", line, out));
                out.push_str("</ul>\n");
            }
            Block::Table { heads, rows } => {
                out.push_str("<table>\n<thead><tr>");
                heads.iter().for_each(|head| out.push_str(&format!("<th>{}</th>", escaped(head))));
                out.push_str("</tr></thead>\n<tbody>\n");
                for row in rows {
                    out.push_str("<tr>");
                    for cell in row {
                        out.push_str("<td>");
                        cell.html(out);
                        out.push_str("</td>");
                    }
                    out.push_str("</tr>\n");
                }
                out.push_str("</tbody>\n</table>\n");
            }
            Block::Quote(text) => {
                out.push_str(&format!("<blockquote>{}</blockquote>\n", escaped(&clean(text))));
            }
            Block::Folded { title, blocks } => {
                out.push_str("<details>\n");
                element("summary", title, out);
                html(blocks, out);
                out.push_str("</details>\n");
            }
            Block::Picture(svg) => out.push_str(&format!("<figure>\n{svg}</figure>\n")),
        }
    }
}

fn element(name: &str, line: &Line, out: &mut String) {
    out.push_str(&format!("<{name}>"));
    line.html(out);
    out.push_str(&format!("</{name}>\n"));
}

/// A text without any markup, for Markdown.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '~' | '&')
        {
            plain.push('\\');
        }
        plain.push(letter);
    }
    plain
}

/// A text without any markup, for HTML and SVG.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            letter => escaped.push(letter),
        }
    }
    escaped
}

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;margin:2rem;color:#222;background:#fff}\
main{max-width:72rem;margin:auto}table{border-collapse:collapse;width:100%;margin:1rem 0}\
th,td{border-bottom:1px solid #ccc;padding:.3rem .6rem;text-align:left;vertical-align:top;overflow-wrap:anywhere}\
code{background:#f3f3f3;padding:0 .2rem}details{margin:.4rem 0;content-visibility:auto}\
summary{cursor:pointer}details[open] summary{font-weight:bold}blockquote{white-space:pre-wrap}\
.good{color:#1a7f37}.bad{color:#b42318}figure{margin:1rem 0;overflow-x:auto}svg{font:12px system-ui,sans-serif}\
svg text{fill:#444}svg .grid{stroke:#ddd}svg .work{fill:#3b82c4}svg .judge{fill:#8a63c9}svg .check{fill:#2f9e6e}\
svg .land{fill:#e0a100}svg .other{fill:#9aa3ad}svg .again{stroke:#b42318;stroke-width:1.5;stroke-dasharray:3 2}\
svg .amiss{fill-opacity:.45}svg .landed{fill:#b46900}svg .tries{fill:#fff}\
@media(prefers-color-scheme:dark){body{color:#ddd;background:#161616}code{background:#2a2a2a}th,td{border-color:#444}\
.good{color:#4ac26b}.bad{color:#ff8a80}svg text{fill:#bbb}svg .grid{stroke:#333}svg .tries{fill:#fff}}";

#[cfg(test)]
mod tests {
    use super::*;

    /// What tries to be everything but letters.
    const HOSTILE: &str = "<script>alert(1)</script> | **x** [y](z)\n# h \u{1b}[31m \u{202e}evil\u{202c} & \"q\" 'p' `c` \0";

    fn page() -> Page {
        let line = || Line::new(HOSTILE).and_code(HOSTILE);
        Page {
            title: HOSTILE.to_owned(),
            blocks: vec![
                Block::Heading(1, line()),
                Block::Text(Line::strong(HOSTILE)),
                Block::List(vec![Line::good(HOSTILE), Line::bad(HOSTILE)]),
                Block::Table { heads: &["a", "b"], rows: vec![vec![line(), line()]] },
                Block::Quote(HOSTILE.to_owned()),
                Block::Folded { title: line(), blocks: vec![Block::Text(line())] },
            ],
        }
    }

    #[test]
    fn what_somebody_else_wrote_is_no_markup_in_html() {
        let html = page().html();
        for markup in ["<script", "<b", "\u{1b}", "\u{202e}", "\0", "\"q\"", "'p'"] {
            let found = html.matches(markup).count();
            let own = match markup {
                "<b" => 2, // <body>, <blockquote>
                _ => 0,
            };
            assert_eq!(found, own, "{markup:?}: {html}");
        }
        assert!(
            html.contains("&lt;script&gt;alert(1)&lt;/script&gt; | **x** [y](z) # h"),
            "{html}"
        );
    }

    #[test]
    fn what_somebody_else_wrote_is_no_markup_in_markdown() {
        let text = page().markdown();
        for letter in ["\u{1b}", "\u{202e}", "\0"] {
            assert!(!text.contains(letter), "{text}");
        }
        assert!(
            text.contains("\\<script\\>alert(1)\\</script\\> \\| \\*\\*x\\*\\* \\[y\\](z) \\# h"),
            "{text}"
        );
        // The table has its columns, whatever stands in it.
        let row = text.lines().find(|line| line.starts_with("| \\<")).unwrap();
        let bars = row.replace("\\|", "").matches('|').count();
        assert_eq!(bars, 3, "{row}");
        // In a code span a backslash is a letter, and a backtick would end it.
        assert!(!row.replace("\\`", "").contains("`c`"), "{row}");
    }
}
