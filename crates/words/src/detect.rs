//! Which language a person writes.
//!
//! A wrong guess is worse than none: everything would be said in it, to somebody who never wrote a word of it. So a text
//! that is too short or not clear changes nothing, and what is no prose (code, paths, options, names) does not count.

use whatlang::{Lang as Known, Script};

use crate::Lang;

/// Fewer words than these of a script that many languages share say nothing.
const WORDS_MIN: usize = 4;

/// The language of a text, or `so_far` where the text does not say.
pub fn detect(text: &str, so_far: Lang) -> Lang {
    let prose = prose(text);
    if mostly_hangul(&prose) {
        return Lang::KOREAN;
    }
    let joined = prose.join(" ");
    let Some(info) = whatlang::detect(&joined) else { return so_far };
    let lang = Lang(info.lang());
    match info.script() {
        // Han alone is Japanese as well, if that is what was written before.
        Script::Mandarin if so_far.0 == Known::Jpn => so_far,
        script if script.langs().len() == 1 => lang,
        Script::Mandarin | Script::Hiragana | Script::Katakana => lang,
        _ if prose.len() >= WORDS_MIN && info.is_reliable() => lang,
        _ => so_far,
    }
}

/// Korean has fewer and longer words than English, and its texts about programs are full of English ones.
fn mostly_hangul(prose: &[&str]) -> bool {
    let hangul = prose.iter().filter(|word| word.chars().any(is_hangul)).count();
    hangul > 0 && hangul * 4 >= prose.len()
}

fn is_hangul(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{11ff}' | '\u{3130}'..='\u{318f}' | '\u{ac00}'..='\u{d7a3}')
}

/// The words of a text that are words.
fn prose(text: &str) -> Vec<&str> {
    text.split_whitespace().filter(|word| is_word(word)).collect()
}

fn is_word(word: &str) -> bool {
    word.chars().any(char::is_alphabetic)
        && !word.chars().any(|c| matches!(c, '/' | '\\' | '_' | '`' | '=' | '@' | '#' | '<' | '>'))
        && !word.starts_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_in_korean_and_english() {
        assert_eq!(detect("로그인 버그를 고쳐줘", Lang::ENGLISH), Lang::KOREAN);
        assert_eq!(detect("네", Lang::ENGLISH), Lang::KOREAN);
        assert_eq!(detect("Fix the login bug", Lang::ENGLISH), Lang::ENGLISH);
        assert_eq!(detect("proceed", Lang::KOREAN), Lang::KOREAN);
    }
}
