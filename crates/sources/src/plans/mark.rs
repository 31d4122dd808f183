//! Markers: the words in a status cell that say how far a task is. They are the only thing of a row that we change.

use std::ops::Range;

/// How far a task is, as its cell says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// `cc:TODO`, or nothing.
    Todo,
    /// `cc:WIP`.
    Wip,
    /// `cc:Done [a1b2c3d]`; without a hash if nothing was committed.
    Done {
        /// The commit, as long as it is written there.
        hash: Option<String>,
    },
    /// Whatever else a person writes: it is theirs.
    Other(String),
}

/// So many letters of a hash are written.
pub const HASH_LETTERS: usize = 7;

/// The words, in lower case; the first of each is the one that we write.
const WORDS: [(&str, Word); 4] = [
    ("cc:todo", Word::Todo),
    ("cc:wip", Word::Wip),
    ("cc:done", Word::Done),
    ("cc:完了", Word::Done),
];

#[derive(Clone, Copy)]
enum Word {
    Todo,
    Wip,
    Done,
}

impl Status {
    /// Done, with a commit.
    pub fn done(commit: Option<&str>) -> Self {
        let short = |hash: &str| hash.chars().take(HASH_LETTERS).collect();
        Status::Done { hash: commit.map(short) }
    }

    /// What a cell says.
    pub fn of(cell: &str) -> Self {
        found(cell).0
    }

    /// Whether there is nothing left to be done.
    pub fn is_done(&self) -> bool {
        matches!(self, Status::Done { .. })
    }

    /// Whether it is one of ours that says that there is something left to be done.
    pub fn is_open(&self) -> bool {
        matches!(self, Status::Todo | Status::Wip)
    }

    /// The cell with this status instead of its own. Everything but the marker stays, padding included; where there is no
    /// marker, what the cell says is replaced.
    pub fn put_into(&self, cell: &str) -> String {
        match found(cell).1 {
            Some(at) => {
                let rest = &cell[at.end..];
                // A word of another script may end where the next begins; ours may not.
                let gap = if rest.starts_with(joins) { " " } else { "" };
                format!("{}{self}{gap}{rest}", &cell[..at.start])
            }
            None if cell.trim().is_empty() => format!(" {self} "),
            None => {
                let start = cell.len() - cell.trim_start().len();
                format!("{}{self}{}", &cell[..start], &cell[cell.trim_end().len()..])
            }
        }
    }
}

/// As we write it.
impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Status::Todo => f.write_str("cc:TODO"),
            Status::Wip => f.write_str("cc:WIP"),
            Status::Done { hash: None } => f.write_str("cc:Done"),
            Status::Done { hash: Some(hash) } => write!(f, "cc:Done [{hash}]"),
            Status::Other(text) => f.write_str(text),
        }
    }
}

/// What a cell says, and where its marker is.
fn found(cell: &str) -> (Status, Option<Range<usize>>) {
    // Lower case letters of ASCII are as long as others.
    let lower = cell.to_ascii_lowercase();
    let first = WORDS
        .iter()
        .filter_map(|(text, word)| Some((place(&lower, text)?, text.len(), *word)))
        .min_by_key(|(at, _, _)| *at);
    let Some((at, length, word)) = first else {
        let said = cell.trim();
        let status = if said.is_empty() { Status::Todo } else { Status::Other(said.to_owned()) };
        return (status, None);
    };
    let end = at + length;
    // A hash behind it is part of it, whatever it marks: somebody may have changed the word alone.
    let (hash, length) = match hash(&cell[end..]) {
        Some((hash, length)) => (Some(hash.to_owned()), length),
        None => (None, 0),
    };
    let status = match word {
        Word::Todo => Status::Todo,
        Word::Wip => Status::Wip,
        Word::Done => Status::Done { hash },
    };
    (status, Some(at..end + length))
}

/// Where a word stands by itself.
fn place(text: &str, word: &str) -> Option<usize> {
    let apart = |at: &usize| {
        let before = text[..*at].chars().next_back().is_some_and(joins);
        // What follows a word of another script is no part of it.
        let after = word.is_ascii() && text[at + word.len()..].starts_with(joins);
        !before && !after
    };
    text.match_indices(word).map(|(at, _)| at).find(apart)
}

/// Whether a letter makes one word with what is before it.
fn joins(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// The hash that a text begins with, ` [a1b2c3d]`, and how long all of that is.
fn hash(rest: &str) -> Option<(&str, usize)> {
    let open = rest.trim_start_matches([' ', '\t']).strip_prefix('[')?;
    let (hash, after) = open.split_once(']')?;
    let sound = (HASH_LETTERS..=64).contains(&hash.len())
        && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    sound.then(|| (hash, rest.len() - after.len()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_cell_says_how_far_a_task_is() {
        let done = |hash: Option<&str>| Status::Done { hash: hash.map(str::to_owned) };
        for (cell, want) in [
            (" cc:TODO ", Status::Todo),
            ("", Status::Todo),
            ("cc:todo", Status::Todo),
            (" cc:WIP", Status::Wip),
            ("`cc:WIP` (Ada)", Status::Wip),
            (" cc:Done [a1b2c3d] ", done(Some("a1b2c3d"))),
            ("cc:Done[a1b2c3d4e5]", done(Some("a1b2c3d4e5"))),
            ("cc:Done", done(None)),
            ("cc:Done [soon]", done(None)),
            ("cc:完了 [6ab79d32] (by hand)", done(Some("6ab79d32"))),
            (" blocked ", Status::Other("blocked".to_owned())),
            ("cc:TODOs", Status::Other("cc:TODOs".to_owned())),
            ("pm:requested", Status::Other("pm:requested".to_owned())),
        ] {
            assert_eq!(Status::of(cell), want, "{cell:?}");
        }
    }

    #[test]
    fn only_the_marker_is_replaced() {
        let done = Status::done(Some("a1b2c3d4e5f6"));
        for (cell, want) in [
            (" cc:TODO   ", " cc:Done [a1b2c3d]   "),
            ("cc:TODO", "cc:Done [a1b2c3d]"),
            (" `cc:WIP` see #4 ", " `cc:Done [a1b2c3d]` see #4 "),
            (" cc:Done [1111111] (Ada) ", " cc:Done [a1b2c3d] (Ada) "),
            (" cc:完了 [6ab79d32] ", " cc:Done [a1b2c3d] "),
            ("", " cc:Done [a1b2c3d] "),
            ("   ", " cc:Done [a1b2c3d] "),
            ("  blocked ", "  cc:Done [a1b2c3d] "),
            ("cc:TODO [1111111]", "cc:Done [a1b2c3d]"),
            ("cc:TODO [soon]", "cc:Done [a1b2c3d] [soon]"),
        ] {
            assert_eq!(done.put_into(cell), want, "{cell:?}");
        }
        assert_eq!(Status::done(None).put_into(" cc:Done [1111111] "), " cc:Done ");
        assert_eq!(Status::Wip.put_into(" cc:TODO "), " cc:WIP ");
    }

    proptest! {
        #[test]
        fn what_is_put_is_what_is_found(
            cell in "[ a`(]{0,3}(cc:(TODO|wip|Done|完了)( ?\\[[0-9a-f]{6,9}\\])?)?[ )`x|]{0,3}",
            to in prop_oneof![
                Just(Status::Todo), Just(Status::Wip), Just(Status::done(None)),
                Just(Status::done(Some("0123abcd"))),
            ],
        ) {
            let put = to.put_into(&cell);
            prop_assert_eq!(&Status::of(&put), &to);
            prop_assert_eq!(to.put_into(&put), put);
        }
    }
}
