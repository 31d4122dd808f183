//! The words and signs of an expression.

use std::ops::Range;

use super::Mistake;
use crate::expr::Op;
use crate::lang::words;

/// A token and its place in the expression's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token<'t> {
    pub what: What<'t>,
    pub range: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What<'t> {
    Word(&'t str),
    Text(&'t str),
    Number(i64),
    Op(Op),
    Dot,
    Open,
    Close,
}

/// An expression with more tokens is not one that a person could read.
const TOKENS: usize = 512;

/// Splits the text into tokens.
pub(super) fn split(text: &str) -> Result<Vec<Token<'_>>, Mistake> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(letter) = text[at..].chars().next() {
        if letter.is_whitespace() {
            at += letter.len_utf8();
            continue;
        }
        if tokens.len() == TOKENS {
            return Err(Mistake::too_large(at..text.len()));
        }
        let (what, length) = token(text, at)?;
        tokens.push(Token { what, range: at..at + length });
        at += length;
    }
    Ok(tokens)
}

/// The token that begins at a place, and how long it is.
fn token(text: &str, at: usize) -> Result<(What<'_>, usize), Mistake> {
    let rest = &text[at..];
    let signs = [
        ("==", What::Op(Op::Eq)),
        ("!=", What::Op(Op::Ne)),
        ("<=", What::Op(Op::Le)),
        (">=", What::Op(Op::Ge)),
        ("<", What::Op(Op::Lt)),
        (">", What::Op(Op::Gt)),
        (".", What::Dot),
        ("(", What::Open),
        (")", What::Close),
    ];
    if let Some((sign, what)) = signs.iter().find(|(sign, _)| rest.starts_with(sign)) {
        return Ok((*what, sign.len()));
    }
    if rest.starts_with(words::starts_name) {
        let length = rest.find(|c| !words::continues_name(c)).unwrap_or(rest.len());
        return Ok((What::Word(&rest[..length]), length));
    }
    let digits = rest.strip_prefix('-').unwrap_or(rest);
    if digits.starts_with(|c: char| c.is_ascii_digit()) {
        return number(rest, at);
    }
    if let Some(inside) = rest.strip_prefix('\'') {
        let Some(length) = inside.find('\'') else {
            return Err(Mistake::at(at..text.len(), "this text has no end").help("add a `'`"));
        };
        return Ok((What::Text(&inside[..length]), length + 2));
    }
    Err(strange(rest, at))
}

fn number(rest: &str, at: usize) -> Result<(What<'_>, usize), Mistake> {
    let end = rest.char_indices().skip(1).find(|(_, c)| !words::continues_name(*c) && *c != '.');
    let length = end.map_or(rest.len(), |(at, _)| at);
    let range = at..at + length;
    if let Ok(number) = rest[..length].parse() {
        return Ok((What::Number(number), length));
    }
    let written = &rest[..length];
    let digits = written.trim_start_matches('-').chars().all(|c| c.is_ascii_digit());
    let message = if digits { "this number is out of range" } else { "this is not a whole number" };
    Err(Mistake::at(range, message))
}

/// What people write who come from other languages.
fn strange(rest: &str, at: usize) -> Mistake {
    let known = [
        ("&&", "write `and`"),
        ("||", "write `or`"),
        ("!", "write `not`"),
        ("=", "write `==`"),
        ("\"", "text stands in single quotes: 'text'"),
        ("+", "there is no arithmetic; what needs it is a fact that code reports"),
        ("-", "there is no arithmetic; what needs it is a fact that code reports"),
        ("*", "there is no arithmetic; what needs it is a fact that code reports"),
        ("/", "there is no arithmetic; what needs it is a fact that code reports"),
        ("%", "there is no arithmetic; what needs it is a fact that code reports"),
        ("[", "there are no lists; compare with each word, joined by `or`"),
    ];
    let found = known.iter().find(|(sign, _)| rest.starts_with(sign));
    let length =
        found.map_or_else(|| rest.chars().next().map_or(0, char::len_utf8), |(sign, _)| sign.len());
    let sign = &rest[..length];
    let mistake = Mistake::at(at..at + length, format!("`{sign}` means nothing in an expression"));
    match found {
        Some((_, help)) => mistake.help(*help),
        None => mistake,
    }
}
