//! What a row waits for, as its cell says: `-`, `26.1`, `26.1, 26.2`, `Task 3`, `1-3`.

use super::Number;

/// What a row waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Depends {
    /// Numbers, and ranges of them.
    pub on: Vec<On>,
    /// What is no number.
    pub unclear: Vec<String>,
}

/// Something to wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum On {
    /// The row of this number, or those below it.
    One(Number),
    /// All rows from one number to another.
    Range(Number, Number),
}

impl Depends {
    /// What a cell says.
    pub fn of(cell: &str) -> Self {
        let mut depends = Depends::default();
        if is_nothing(cell) {
            return depends;
        }
        for part in cell.split([',', '、', ';', '&', '/']).map(str::trim) {
            match On::of(part) {
                _ if part.is_empty() => {}
                Some(on) => depends.on.push(on),
                None => depends.words(part),
            }
        }
        depends
    }

    /// A part that is more than a number: what in it is one counts.
    fn words(&mut self, part: &str) {
        let before = self.on.len();
        for word in part.split_whitespace() {
            let number = Number::of(word.trim_matches(['(', ')'])).filter(Number::is_numeric);
            self.on.extend(number.map(On::One));
        }
        if self.on.len() == before {
            self.unclear.push(part.to_owned());
        }
    }

    /// The numbers that it names, ranges by their ends.
    pub fn numbers(&self) -> Vec<String> {
        let one = |on: &On| match on {
            On::One(number) => number.to_string(),
            On::Range(from, to) => format!("{from}-{to}"),
        };
        self.on.iter().map(one).collect()
    }

    /// Whether it says nothing: then what stands around the row counts.
    pub fn is_silent(&self) -> bool {
        self.on.is_empty() && self.unclear.is_empty()
    }
}

impl On {
    fn of(part: &str) -> Option<Self> {
        let range = ["..", "–", "—", "~", "-"].iter().find_map(|dash| {
            let (from, to) = part.split_once(dash)?;
            let (from, to) = (Number::of(from)?, Number::of(to)?);
            (from.is_numeric() && to.is_numeric()).then_some(On::Range(from, to))
        });
        range.or_else(|| Number::of(part).map(On::One))
    }

    /// Whether a row of this number is meant by a range.
    pub(super) fn spans(from: &Number, to: &Number, number: &Number) -> bool {
        number >= from && (number <= to || number.is_below(to))
    }
}

/// Whether a cell says in some way that there is nothing.
fn is_nothing(cell: &str) -> bool {
    let bare = cell.trim_matches(|letter: char| letter.is_whitespace() || "*`_.".contains(letter));
    let dashes = bare.chars().all(|letter| "-–—".contains(letter));
    dashes || ["none", "n/a", "no", "なし"].contains(&bare.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_says_what_a_row_waits_for() {
        let one = |number: &str| On::One(Number::of(number).unwrap());
        let range =
            |from: &str, to: &str| On::Range(Number::of(from).unwrap(), Number::of(to).unwrap());
        for (cell, want) in [
            ("26.1", vec![one("26.1")]),
            ("26.1, 26.2", vec![one("26.1"), one("26.2")]),
            ("Task 3", vec![one("3")]),
            ("1-3, 5", vec![range("1", "3"), one("5")]),
            ("1–3", vec![range("1", "3")]),
            ("26.1.1〜", vec![]),
            ("H-2", vec![one("H-2")]),
            ("26.1 and 26.2", vec![one("26.1"), one("26.2")]),
            ("26.1 (soft)", vec![one("26.1")]),
            ("#4; `5`", vec![one("4"), one("5")]),
        ] {
            assert_eq!(Depends::of(cell).on, want, "{cell:?}");
        }
    }

    #[test]
    fn nothing_is_said_in_many_ways() {
        for cell in ["", "-", "—", "–", "none", "None", "N/A", "`-`", "なし", " - "] {
            assert!(Depends::of(cell).is_silent(), "{cell:?}");
        }
        let odd = Depends::of("after the login");
        assert_eq!(
            (odd.on.len(), odd.unclear.as_slice()),
            (0, &["after the login".to_owned()][..])
        );
        assert!(!odd.is_silent());
    }
}
