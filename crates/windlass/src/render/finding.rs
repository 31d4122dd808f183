//! A remark about one place in a file, drawn below the line it is about.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use super::text::{Line, PLAIN};

/// What there is to say about one place. Spans are bytes of the file's text.
#[derive(Clone, Debug)]
pub struct Finding<'a> {
    /// The stable name of this sort of mistake, for people to search for.
    pub code: &'a str,
    pub message: &'a str,
    pub span: Range<usize>,
    /// Other places that belong to it, and why.
    pub related: Vec<(Range<usize>, &'a str)>,
    /// What to do about it.
    pub help: Option<&'a str>,
}

/// The edge that help hangs from, at most: `9999 = help: `.
const HELP_EDGE: usize = 14;

/// Draws a finding in so many columns; `name` is what the file is called, `text` the whole of it.
pub fn finding(
    renderer: &Renderer,
    width: usize,
    name: &str,
    text: &str,
    finding: &Finding<'_>,
) -> String {
    let place = AnnotationKind::Primary.span(inside(text, &finding.span));
    let related = finding
        .related
        .iter()
        .map(|(span, why)| AnnotationKind::Context.span(inside(text, span)).label(*why));
    let snippet = Snippet::source(text).path(name).annotation(place).annotations(related);
    let mut group = Level::ERROR.primary_title(finding.message).id(finding.code).element(snippet);
    if let Some(help) = finding.help {
        let help = Line::at(0).add(PLAIN, help).fold(width.saturating_sub(HELP_EDGE));
        group = group.element(Level::HELP.message(help));
    }
    renderer.render(&[group])
}

/// The renderer panics on a span that leaves the text or cuts a character in two; a wrong span must
/// cost no more than a wrong underline.
fn inside(text: &str, span: &Range<usize>) -> Range<usize> {
    let start = text.floor_char_boundary(span.start);
    let end = text.ceil_char_boundary(span.end).max(start);
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "workflow = \"tidy\"\n\n[[unit]]\nstage = \"prüfen\"\nroel  = \"worker\"\n";

    fn draw(text: &str, span: Range<usize>, related: Range<usize>) -> String {
        let remark = Finding {
            code: "unknown-key",
            message: "there is no key `roel`",
            span,
            related: vec![(related, "in this stage")],
            help: Some("did you mean `role`?"),
        };
        finding(&Renderer::plain(), 100, "my-flow.toml", text, &remark)
    }

    fn span_of(part: &str) -> Range<usize> {
        let start = TEXT.find(part).unwrap();
        start..start + part.len()
    }

    #[test]
    fn a_finding_shows_file_line_column_text_and_suggestion() {
        let drawn = draw(TEXT, span_of("roel"), span_of("\"prüfen\""));
        insta::assert_snapshot!(drawn, @r#"
        error[unknown-key]: there is no key `roel`
         --> my-flow.toml:5:1
          |
        4 | stage = "prüfen"
          |         -------- in this stage
        5 | roel  = "worker"
          | ^^^^
          |
          = help: did you mean `role`?
        "#);
    }

    #[test]
    fn no_span_makes_the_renderer_panic() {
        for start in 0..TEXT.len() + 3 {
            for end in 0..TEXT.len() + 3 {
                draw(TEXT, start..end, end..start);
            }
        }
        draw("", 0..0, 5..9);
        draw("\u{feff}", 1..2, 0..1);
    }
}
