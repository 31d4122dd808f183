//! How a process is known to have come from one of ours, wherever it ran off to.
//!
//! A process can leave its session, its group and its parent. It can hardly leave two things that
//! every descendant inherits: a variable in its environment, and a resource limit. So each child
//! gets a random number, its token, in both: `WINDLASS_CHILD` in the environment, and as the soft
//! limit on file locks, which Linux has not enforced since version 2.4 and which nobody else sets.
//! The limit is the better of the two. It survives `env -i` and `setuid` programs, anybody may
//! read it, and a zombie still has it.
//!
//! A token is the brand of its spawner, drawn once, and a running number. Whoever knows the brand
//! knows all children of that spawner, also those started after the ledger was last written.

use std::fmt;

use rustix::rand::{GetRandomFlags, getrandom};

/// The variable that carries the token. In a Windlass that runs inside another one's child it
/// carries both, the outer first, so that the outer one finds everything below it.
pub(crate) const VARIABLE: &str = "WINDLASS_CHILD";

const NUMBER_BITS: u32 = 22;
const BITS: u32 = 62;
/// Windlasses inside one another, at most: the variable must not grow without end.
const DEPTH_MAX: usize = 8;

/// What all children of a spawner have in common.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Brand(u64);

/// The mark of one child and everything that comes from it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Token(u64);

impl Brand {
    pub(crate) fn draw() -> std::io::Result<Brand> {
        let mut random = [0; 8];
        getrandom(&mut random, GetRandomFlags::empty())?;
        let bits = u64::from_le_bytes(random) >> (64 - (BITS - NUMBER_BITS));
        // The highest bit keeps tokens far away from any limit that a person would set.
        Ok(Brand(bits | 1 << (BITS - NUMBER_BITS - 1)))
    }

    pub(crate) fn parse(text: &str) -> Option<Brand> {
        let bits = hex(text)?;
        (bits >> (BITS - NUMBER_BITS - 1) == 1).then_some(Brand(bits))
    }

    /// The token of a child. After four million children numbers come round again, which is no
    /// harm: the first ones are long over.
    pub(crate) fn token(self, number: u64) -> Token {
        Token(self.0 << NUMBER_BITS | number & ((1 << NUMBER_BITS) - 1))
    }
}

impl Token {
    pub(crate) fn brand(self) -> Brand {
        Brand(self.0 >> NUMBER_BITS)
    }

    /// As a limit on file locks.
    pub(crate) fn limit(self) -> u64 {
        self.0
    }

    /// A limit on file locks that can only be a token.
    pub(crate) fn from_limit(limit: u64) -> Option<Token> {
        (limit >> (BITS - 1) == 1).then_some(Token(limit))
    }

    pub(crate) fn parse(text: &str) -> Option<Token> {
        hex(text).and_then(Token::from_limit)
    }
}

/// The line of the environment that carries a token.
pub(crate) fn line(token: Token, outer: Option<&str>) -> String {
    match outer {
        Some(outer) => format!("{VARIABLE}={outer},{token}"),
        None => format!("{VARIABLE}={token}"),
    }
}

/// The tokens in the value of the variable.
pub(crate) fn tokens(value: &[u8]) -> impl Iterator<Item = Token> {
    let parts = value.split(|&byte| byte == b',');
    parts.filter_map(|part| std::str::from_utf8(part).ok().and_then(Token::parse))
}

/// What Windlass's own children must go on carrying if it is itself the child of another.
pub(crate) fn outer(own: Option<&str>) -> Option<String> {
    let own: Vec<String> =
        tokens(own?.as_bytes()).take(DEPTH_MAX).map(|token| token.to_string()).collect();
    (!own.is_empty()).then(|| own.join(","))
}

fn hex(text: &str) -> Option<u64> {
    let digits = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    digits.then(|| u64::from_str_radix(text, 16).ok()).flatten()
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Display for Brand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for Brand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_of_a_spawner_carry_its_brand_and_differ() {
        let (brand, other) = (Brand::draw().unwrap(), Brand::draw().unwrap());
        assert_ne!(brand, other);
        assert_eq!(brand.token(7).brand(), brand);
        assert_ne!(brand.token(7), brand.token(8));
        assert_eq!(Brand::parse(&brand.to_string()), Some(brand));
        assert_eq!(Token::parse(&brand.token(7).to_string()), Some(brand.token(7)));
        assert_eq!(Token::from_limit(brand.token(7).limit()), Some(brand.token(7)));
    }

    #[test]
    fn ordinary_limits_and_texts_are_no_tokens() {
        for limit in [0, 1, 1024, u64::from(u32::MAX), u64::MAX, i64::MAX as u64] {
            assert_eq!(Token::from_limit(limit), None, "{limit}");
        }
        for text in ["", "1", "unlimited", "0000000000000001", "+123456789abcdef"] {
            assert_eq!(Token::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_windlass_inside_another_carries_both_tokens() {
        let brand = Brand::draw().unwrap();
        let (outer_token, inner) = (brand.token(1), brand.token(2));
        let outer_line = outer(Some(&outer_token.to_string()));
        let line = line(inner, outer_line.as_deref());
        let value = line.strip_prefix("WINDLASS_CHILD=").unwrap();
        assert_eq!(tokens(value.as_bytes()).collect::<Vec<_>>(), [outer_token, inner]);
        assert_eq!(outer(Some("nonsense")), None);
        assert_eq!(outer(None), None);
    }
}
