//! The words of the language, what may be a name, and which word someone may have meant.

/// Words with a meaning of their own where a stage's name may stand.
pub(super) const MOVES: [&str; 7] = ["next", "again", "end", "done", "failed", "skipped", "pause"];

/// Words with a meaning of their own where a name may stand in an expression.
const IN_EXPRESSIONS: [&str; 10] =
    ["and", "or", "not", "in", "true", "false", "unit", "units", "run", "quiet"];

/// The scopes that always mean the same, in the order of their indices.
pub(super) const SCOPES: [&str; 4] = ["intake", "unit", "between", "finale"];

/// The tables and keys at the top of a definition.
pub(super) const TOP: [&str; 8] =
    ["workflow", "about", "units", "inputs", "entry", "let", "counters", "always"];

/// The kinds of stage.
pub(super) const KINDS: [&str; 10] =
    ["role", "panel", "checks", "read", "gate", "each", "save", "land", "tell", "decide"];

/// Whether the word may not be the name of a stage, input, counter, let or child scope.
pub(super) fn is_reserved(word: &str) -> bool {
    MOVES.contains(&word)
        || IN_EXPRESSIONS.contains(&word)
        || SCOPES.contains(&word)
        || word == "stage"
        || is_mishap(word)
}

/// Whether the word is the name of a mishap.
pub(super) fn is_mishap(word: &str) -> bool {
    crate::workflow::Mishap::ALL.iter().any(|mishap| mishap.name() == word)
}

/// Whether the word can be a name: a letter or `_`, then letters, digits, `_` and `-`.
pub(super) fn is_name(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(starts_name) && letters.all(continues_name)
}

/// Whether a name may begin with this letter.
pub(super) fn starts_name(letter: char) -> bool {
    letter.is_ascii_alphabetic() || letter == '_'
}

/// Whether a name may go on with this letter. There is no arithmetic, so `-` can be one.
pub(super) fn continues_name(letter: char) -> bool {
    starts_name(letter) || letter.is_ascii_digit() || letter == '-'
}

/// The word most like `word`, if any is like it: few letters changed, or the one begins with the other.
pub(super) fn nearest<'w>(word: &str, words: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    let length = word.chars().count();
    // Nobody misspells a word of a hundred letters; comparing long ones takes quadratic time.
    if length > 64 {
        return None;
    }
    let fold = |text: &str| text.to_lowercase().replace('-', "_");
    let folded = fold(word);
    words
        .into_iter()
        .filter(|other| *other != word && other.chars().count() <= 64)
        .filter_map(|other| {
            let candidate = fold(other);
            let distance = strsim::damerau_levenshtein(&folded, &candidate);
            let longer = length.max(other.chars().count());
            let begins = length.min(other.chars().count()) >= 3
                && (candidate.starts_with(&folded) || folded.starts_with(&candidate));
            (distance <= longer / 3 || begins).then_some((distance, other))
        })
        .min()
        .map(|(_, other)| other)
}

/// "there are …", as many as one can read.
pub(super) fn one_of(words: &[&str]) -> String {
    const SHOWN: usize = 40;
    match words {
        [] => "there are none".to_owned(),
        [only] => format!("there is only `{only}`"),
        few if few.len() <= SHOWN => format!("there are {}", listed(few)),
        many => {
            let quoted: Vec<String> =
                many.iter().take(SHOWN).map(|word| format!("`{word}`")).collect();
            format!("there are {}, …", quoted.join(", "))
        }
    }
}

/// Words in backquotes, one after another.
pub(super) fn listed(words: &[&str]) -> String {
    let mut quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.pop() {
        Some(last) if !quoted.is_empty() => format!("{} and {last}", quoted.join(", ")),
        Some(only) => only,
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_another_word_is_not() {
        let words = ["implement", "verify", "land", "timed_out"];
        assert_eq!(nearest("implemnt", words), Some("implement"));
        assert_eq!(nearest("vreify", words), Some("verify"));
        assert_eq!(nearest("timed-out", words), Some("timed_out"));
        assert_eq!(nearest("Land", words), Some("land"));
        assert_eq!(nearest("implement_it", words), Some("implement"));
        assert_eq!(nearest("gate", words), None);
        assert_eq!(nearest("land", ["land"]), None);
        assert_eq!(nearest(&"x".repeat(1_000_000), words), None);
    }

    #[test]
    fn names_are_plain_words() {
        for good in ["a", "_x", "plan_2", "post-planner"] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", "2nd", "-a", "a b", "a.b", "é"] {
            assert!(!is_name(bad), "{bad}");
        }
    }
}
