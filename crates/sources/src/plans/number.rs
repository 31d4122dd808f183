//! What a row is called: a number with points, such as `26.1.2` and `26.1.fix`, or a name, such as `H-2`.

use std::cmp::Ordering;

/// The number of a row. It can be part of the name of a file or a branch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Number(String);

/// No number is longer.
const BYTES_MAX: usize = 80;

impl Number {
    /// The number that a cell or a person says: `26.1`, `Task 26.1`, `**26.1**`, `#26.1.`
    pub fn of(said: &str) -> Option<Self> {
        let is_mark = |letter: char| letter.is_whitespace() || "*`_#".contains(letter);
        let mut bare = said;
        // What is below one dress may be another, and what is left has none: it is the same when it is said again.
        loop {
            let dressed = bare;
            bare = bare.trim_matches(is_mark).trim_end_matches(['.', ':']);
            let words = ["task", "phase", "タスク"];
            bare = words.iter().find_map(|word| without(bare, word)).unwrap_or(bare);
            if bare.len() == dressed.len() {
                break;
            }
        }
        let is_ours = |letter: char| letter.is_alphanumeric() || "._-".contains(letter);
        let sound = !bare.is_empty()
            && bare.len() <= BYTES_MAX
            && bare.chars().all(is_ours)
            && bare.chars().any(char::is_alphanumeric)
            && !bare.starts_with('-')
            && bare.split('.').all(|part| !part.is_empty());
        sound.then(|| Number(bare.to_owned()))
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is below another: 26.1.2 is below 26.1 and 26.
    pub fn is_below(&self, other: &Number) -> bool {
        self.0.strip_prefix(&other.0).is_some_and(|rest| rest.starts_with('.'))
    }

    /// The number below this one with that last part.
    pub fn below(&self, part: &str) -> Option<Number> {
        Number::of(&format!("{}.{part}", self.0))
    }

    /// The number of the task that this one mends, if it is one of a fix: 26.1 of `26.1.fix` and of `26.1.fix2`.
    pub fn mended(&self) -> Option<Number> {
        let (task, last) = self.0.rsplit_once('.')?;
        let nth = last.strip_prefix("fix")?;
        nth.bytes().all(|byte| byte.is_ascii_digit()).then(|| Number::of(task))?
    }

    /// Whether it begins as numbers do, and not as a name does.
    pub fn is_numeric(&self) -> bool {
        self.0.starts_with(|letter: char| letter.is_ascii_digit())
    }
}

/// A text without a word before it, if that is a word of its own.
fn without<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let head = text.get(..word.len())?;
    let rest = &text[word.len()..];
    let apart = rest.starts_with(|letter: char| letter.is_whitespace() || letter.is_ascii_digit());
    (head.to_lowercase() == word && apart).then_some(rest)
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Part by part: numbers by what they count, before words; 26 before 26.1 before 27.
impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        let mut ours = self.0.split('.');
        let mut theirs = other.0.split('.');
        loop {
            let order = match (ours.next(), theirs.next()) {
                (Some(one), Some(two)) => by_part(one, two),
                (one, two) => return one.is_some().cmp(&two.is_some()).then(self.0.cmp(&other.0)),
            };
            if order != Ordering::Equal {
                return order;
            }
        }
    }
}

fn by_part(one: &str, two: &str) -> Ordering {
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    match (digits(one), digits(two)) {
        (true, true) => {
            let (one, two) = (one.trim_start_matches('0'), two.trim_start_matches('0'));
            one.len().cmp(&two.len()).then(one.cmp(two))
        }
        (one_is, two_is) => two_is.cmp(&one_is).then(one.cmp(two)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn number(text: &str) -> Number {
        Number::of(text).unwrap()
    }

    #[test]
    fn a_number_is_what_a_cell_says_without_its_dress() {
        for (said, want) in [
            ("1", "1"),
            (" 26.1.2 ", "26.1.2"),
            ("26.1.fix", "26.1.fix"),
            ("**3**", "3"),
            ("`3.1`", "3.1"),
            ("Task 7", "7"),
            ("task7", "7"),
            ("Phase 65", "65"),
            ("タスク 4", "4"),
            ("#12", "12"),
            ("12.", "12"),
            ("H-2", "H-2"),
            ("tasks", "tasks"),
            ("H-2_.", "H-2"),
            ("Task Phase5:", "5"),
        ] {
            assert_eq!(Number::of(said).as_ref().map(Number::as_str), Some(want), "{said:?}");
        }
        // None of these could be the name of a file or a unit.
        for said in ["", "-", "---", "a b", "../../x", "1..2", ".1", "a/b", "1,2", "--help", "a\nb"]
        {
            assert_eq!(Number::of(said), None, "{said:?}");
        }
        assert_eq!(Number::of(&"1".repeat(81)), None);
    }

    #[test]
    fn numbers_count_and_come_before_words() {
        let mut all: Vec<Number> =
            ["10", "9", "26.1.fix", "26.2", "26.10", "26", "26.1", "H-2", "26.1.1"]
                .map(number)
                .into();
        all.sort();
        let told: Vec<&str> = all.iter().map(Number::as_str).collect();
        assert_eq!(told, ["9", "10", "26", "26.1", "26.1.1", "26.1.fix", "26.2", "26.10", "H-2"]);
    }

    #[test]
    fn a_fix_is_called_after_what_it_mends() {
        let mended = |text: &str| number(text).mended().map(|it| it.to_string());
        assert_eq!(mended("26.1.fix").as_deref(), Some("26.1"));
        assert_eq!(mended("26.1.fix12").as_deref(), Some("26.1"));
        for other in ["26.1", "26.fixes", "26.prefix", "fix", "26.fix.1"] {
            assert_eq!(mended(other), None, "{other}");
        }
    }

    #[test]
    fn what_is_below_begins_with_all_of_it() {
        assert!(number("26.1").is_below(&number("26")));
        assert!(number("26.1.fix").is_below(&number("26.1")));
        assert!(!number("26").is_below(&number("26")));
        assert!(!number("261").is_below(&number("26")));
        assert_eq!(number("26.1").below("fix").unwrap().as_str(), "26.1.fix");
    }

    proptest! {
        #[test]
        fn whatever_is_said_a_number_stays_what_it_is(said in "\\PC{0,12}") {
            if let Some(number) = Number::of(&said) {
                let again = Number::of(number.as_str());
                prop_assert_eq!(again.as_ref(), Some(&number));
                prop_assert!(!number.as_str().contains(['/', '\\', '|', ' ']));
            }
        }

        #[test]
        fn the_order_is_one(three in prop::collection::vec("[0-2]{1,2}(\\.[0-9a]{1,2}){0,2}", 3)) {
            let [a, b, c] = [number(&three[0]), number(&three[1]), number(&three[2])];
            prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
            prop_assert_eq!(a.cmp(&b) == Ordering::Equal, a == b);
            if a <= b && b <= c {
                prop_assert!(a <= c);
            }
            if b.is_below(&a) {
                prop_assert!(a < b);
            }
        }
    }
}
