//! The first-line rule: an agent that gives no JSON may begin with its verdict as a word, after the name of the file
//! it wrote, if any: `PASS`, `spec.md generated`, `qa_report.md — FAIL: two tests`.

/// The verdict that the first line begins with.
pub(crate) fn verdict<'v>(text: &str, verdicts: &'v [String]) -> Option<&'v str> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let line = line.trim_start_matches(['#', '*', '>', '✓', '✗', ' ']);
    begins(line, verdicts).or_else(|| begins(after_file(line)?, verdicts))
}

/// The longest verdict that a text begins with, as a word of its own.
fn begins<'v>(text: &str, verdicts: &'v [String]) -> Option<&'v str> {
    let is_it = |verdict: &&String| {
        let mut letters = text.chars();
        verdict.chars().all(|own| letters.next().is_some_and(|letter| same(own, letter)))
            && !letters.next().is_some_and(|c| c.is_alphanumeric() || c == '_')
    };
    verdicts.iter().filter(is_it).max_by_key(|verdict| verdict.len()).map(String::as_str)
}

/// `pass_with_warnings`, `Pass with warnings` and `PASS-WITH-WARNINGS` are one verdict.
fn same(own: char, letter: char) -> bool {
    own == letter.to_ascii_lowercase() || (own == '_' && [' ', '-'].contains(&letter))
}

/// What follows the name of a file and a mark.
fn after_file(line: &str) -> Option<&str> {
    let (name, rest) = line.split_once(char::is_whitespace)?;
    let name = name.trim_matches(['`', '"', '*', ':', '[', ']']);
    let is_file = name.rsplit('/').next()?.split_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty() && !extension.is_empty() && extension.chars().all(char::is_alphanumeric)
    });
    is_file.then(|| rest.trim_start_matches(|c: char| c.is_whitespace() || "-–—:→*`".contains(c)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Option<String> {
        let verdicts = ["pass", "pass_with_warnings", "fail", "generated", "fail_l2"];
        verdict(text, &verdicts.map(str::to_owned)).map(str::to_owned)
    }

    #[test]
    fn the_first_line_may_be_the_verdict() {
        let cases = [
            ("PASS", Some("pass")),
            ("\n\n  ✓ Pass: all is well\nFAIL", Some("pass")),
            ("Pass with warnings (2)", Some("pass_with_warnings")),
            ("PASS-WITH-WARNINGS", Some("pass_with_warnings")),
            ("FAIL L2 — two cases", Some("fail_l2")),
            ("spec.md generated", Some("generated")),
            ("`.harness/spec.md` — generated, 4 sections", Some("generated")),
            ("qa_report.md: FAIL", Some("fail")),
            ("passport checked", None),
            ("I think it will pass", None),
            ("All tests pass", None),
            ("", None),
        ];
        for (text, want) in cases {
            assert_eq!(said(text).as_deref(), want, "{text:?}");
        }
    }
}
