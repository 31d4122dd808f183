//! Which word was probably meant.

/// The word most like this one, if any is like it at all.
pub fn nearest<'w>(word: &str, words: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    // Comparing takes quadratic time, and nobody misspells a word that long.
    if word.len() > 64 {
        return None;
    }
    words
        .into_iter()
        .map(|known| (strsim::damerau_levenshtein(word, known), known))
        .filter(|(distance, known)| distance * 2 <= known.chars().count())
        .min()
        .map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn the_nearest_word_is_suggested_and_a_far_one_is_not() {
        let words = ["autopilot", "task", "work"];
        assert_eq!(nearest("tsak", words), Some("task"));
        assert_eq!(nearest("auto-pilot", words), Some("autopilot"));
        assert_eq!(nearest("wrk", words), Some("work"));
        assert_eq!(nearest("deploy", words), None);
        assert_eq!(nearest("", words), None);
        assert_eq!(nearest(&"task".repeat(100_000), words), None);
    }
}
