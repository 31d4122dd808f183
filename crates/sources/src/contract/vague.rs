//! Words that nobody can check: what they say is a matter of taste, or left open.

/// They are looked for as whole words, in the text of assertions that no machine checks. A short list on purpose: a word that
/// is often part of something checkable ("quick reply", "simple form") does more harm on it than good.
pub(super) const WORDS: &[&str] = &[
    "works well",
    "works correctly",
    "works properly",
    "works fine",
    "as expected",
    "as appropriate",
    "as needed",
    "if possible",
    "user-friendly",
    "user friendly",
    "easy to use",
    "intuitive",
    "intuitively",
    "properly",
    "fast",
    "quickly",
    "performant",
    "robust",
    "robustly",
    "seamless",
    "seamlessly",
    "elegant",
    "clean code",
    "good quality",
    "high quality",
    "best practices",
    "looks good",
    "looks nice",
    "reasonable",
    "sufficient",
    "adequate",
    "etc",
    "and so on",
    "tbd",
    "todo",
];

/// The first of them that a text has.
pub(super) fn word_in(text: &str) -> Option<&'static str> {
    let text = text.to_lowercase();
    WORDS.iter().copied().find(|word| {
        text.match_indices(word).any(|(at, found)| {
            let (before, after) = (&text[..at], &text[at + found.len()..]);
            let joined = |letter: char| letter.is_alphanumeric() || letter == '-' || letter == '_';
            !before.ends_with(joined) && !after.starts_with(joined)
        })
    })
}
