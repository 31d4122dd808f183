//! Titles that agents give, as they may stand in a history: trackers close issues that a commit says it closes.

/// Words after which GitHub or Linear take the name of an issue for one that is to be closed.
const CLOSES: [&str; 20] = [
    "close",
    "closes",
    "closed",
    "closing",
    "fix",
    "fixes",
    "fixed",
    "fixing",
    "resolve",
    "resolves",
    "resolved",
    "resolving",
    "complete",
    "completes",
    "completed",
    "completing",
    "implement",
    "implements",
    "implemented",
    "implementing",
];

/// The same title, in which no such word stands before the name of an issue: `fix #1` is `fix issue 1`, `fixes ENG-1` is
/// `fixes ENG 1`, and an address is told in words.
pub(super) fn harmless(title: &str) -> String {
    let mut told = Vec::new();
    let mut armed = false;
    for word in title.split(' ') {
        // `closes:#1` is one word, and means the same.
        let (before, rest) = match word.split_once(':') {
            Some((before, rest)) if is_closing(before) && !rest.is_empty() => {
                armed = true;
                (&word[..=before.len()], rest)
            }
            _ => ("", word),
        };
        let plain = if armed { in_words(rest) } else { None };
        let joins = plain.is_some() || matches!(bare(rest).as_str(), "and" | "or" | "");
        armed = is_closing(rest) || armed && joins;
        told.push(format!("{before}{}", plain.as_deref().unwrap_or(rest)));
    }
    told.join(" ")
}

fn bare(word: &str) -> String {
    word.trim_matches(|it: char| !it.is_alphanumeric()).to_lowercase()
}

fn is_closing(word: &str) -> bool {
    CLOSES.contains(&bare(word).as_str())
}

/// The name of an issue, told in words, if it is one.
fn in_words(word: &str) -> Option<String> {
    if let Some((_, place)) = word.split_once("://") {
        return Some(place.replace(['/', '#'], " "));
    }
    let digit_after = |at: usize| word[at + 1..].starts_with(|it: char| it.is_ascii_digit());
    if word.match_indices('#').any(|(at, _)| digit_after(at)) {
        let told = word.replace('#', " issue ");
        return Some(told.trim_start().to_owned());
    }
    let has_key = |at: usize| word[..at].ends_with(|it: char| it.is_ascii_alphanumeric());
    word.match_indices('-')
        .any(|(at, _)| has_key(at) && digit_after(at))
        .then(|| word.replace('-', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_title_closes_an_issue() {
        for (title, is) in [
            ("fix: it (closes #1)", "fix: it (closes issue 1)"),
            ("fix: #1", "fix: issue 1"),
            ("Fixes:#12 now", "Fixes:issue 12 now"),
            (
                "closed acme/harness#1, #2 and #3",
                "closed acme/harness issue 1, issue 2 and issue 3",
            ),
            ("resolves ENG-12, eng-13", "resolves ENG 12, eng 13"),
            ("fix GH-1", "fix GH 1"),
            (
                "closes https://github.com/acme/harness/issues/1",
                "closes github.com acme harness issues 1",
            ),
            ("completes  #7", "completes  issue 7"),
            ("(closes #1)", "(closes issue 1)"),
        ] {
            assert_eq!(harmless(title), is, "{title}");
        }
    }

    #[test]
    fn other_titles_stay_as_they_are() {
        for title in [
            "feat: g1",
            "fix: review findings of #1",
            "feat: read utf-8",
            "see #1",
            "fix: close the file: it was left open",
            "fix: co-author is kept",
            "",
        ] {
            assert_eq!(harmless(title), title);
        }
    }
}
