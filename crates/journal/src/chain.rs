//! The hash chain of a run: each event is sealed together with everything before it.
//!
//! A link covers the run's name, the link before, the event's number and its bytes, so an event
//! that was changed, dropped, doubled, moved or borrowed from another run does not fit. The first
//! link starts from the run's birth: its name, when it was created and what it was given.

use std::{fmt, str::FromStr};

use crate::run::RunId;

/// A BLAKE3 hash.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash([u8; 32]);

/// Text that is not a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a hash is written as 64 hexadecimal digits")]
pub struct NotAHash;

impl Hash {
    /// The hash with these bytes.
    pub const fn new(bytes: [u8; 32]) -> Hash {
        Hash(bytes)
    }

    /// The bytes of the hash.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    pub(crate) fn of(bytes: &[u8]) -> Hash {
        Hash(*blake3::hash(bytes).as_bytes())
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Hash {
    type Err = NotAHash;

    fn from_str(text: &str) -> Result<Hash, NotAHash> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return Err(NotAHash);
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
        }
        Ok(Hash(bytes))
    }
}

/// Lower case only, so that a hash has one spelling.
fn nibble(digit: u8) -> Result<u8, NotAHash> {
    match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        _ => Err(NotAHash),
    }
}

/// Hashes fields one after another. What may vary in length is preceded by its length, so that no
/// two lists of fields are the same bytes.
pub(crate) struct Sealer(blake3::Hasher);

impl Sealer {
    /// `domain` keeps the kinds of things that are hashed apart.
    pub(crate) fn new(domain: &str) -> Sealer {
        let mut sealer = Sealer(blake3::Hasher::new());
        sealer.bytes(domain.as_bytes());
        sealer
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> &mut Sealer {
        self.number(bytes.len() as u64);
        self.0.update(bytes);
        self
    }

    pub(crate) fn number(&mut self, number: u64) -> &mut Sealer {
        self.0.update(&number.to_le_bytes());
        self
    }

    pub(crate) fn hash(&mut self, hash: Hash) -> &mut Sealer {
        self.0.update(&hash.0);
        self
    }

    pub(crate) fn finish(&self) -> Hash {
        Hash(*self.0.finalize().as_bytes())
    }
}

/// Where the chain of a run starts from.
pub(crate) fn birth(run: &RunId, created_ms: i64, meta: &[u8]) -> Hash {
    Sealer::new("windlass journal: run, format 1")
        .bytes(run.as_str().as_bytes())
        .number(created_ms.cast_unsigned())
        .bytes(meta)
        .finish()
}

/// The link of event `seq` with these bytes, after the link `before`.
pub(crate) fn link(run: &RunId, before: Hash, seq: u64, bytes: &[u8]) -> Hash {
    Sealer::new("windlass journal: event, format 1")
        .bytes(run.as_str().as_bytes())
        .hash(before)
        .number(seq)
        .bytes(bytes)
        .finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn run(name: &str) -> RunId {
        name.parse().unwrap()
    }

    #[test]
    fn a_hash_reads_back_what_it_prints() {
        let hash = Hash::of(b"a pawl");
        assert_eq!(hash.to_string().parse(), Ok(hash));
        assert_eq!("ab".parse::<Hash>(), Err(NotAHash));
        assert_eq!(hash.to_string().to_uppercase().parse::<Hash>(), Err(NotAHash));
        assert_eq!("g".repeat(64).parse::<Hash>(), Err(NotAHash));
    }

    #[test]
    fn a_link_covers_all_that_it_is_made_of() {
        let before = birth(&run("a"), 7, b"meta");
        let link_of = |name, before, seq, bytes: &[u8]| link(&run(name), before, seq, bytes);
        let whole = link_of("a", before, 3, b"event");
        assert_ne!(whole, link_of("b", before, 3, b"event"));
        assert_ne!(whole, link_of("a", Hash::of(b""), 3, b"event"));
        assert_ne!(whole, link_of("a", before, 4, b"event"));
        assert_ne!(whole, link_of("a", before, 3, b"evens"));
        assert_ne!(before, birth(&run("b"), 7, b"meta"));
        assert_ne!(before, birth(&run("a"), 8, b"meta"));
        assert_ne!(before, birth(&run("a"), 7, b"mete"));
    }

    #[test]
    fn where_one_field_ends_and_the_next_begins_matters() {
        let one = Sealer::new("d").bytes(b"ab").bytes(b"c").finish();
        let two = Sealer::new("d").bytes(b"a").bytes(b"bc").finish();
        assert_ne!(one, two);
    }

    proptest! {
        #[test]
        fn no_two_different_histories_have_the_same_head(
            one in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..4), 0..6),
            two in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..4), 0..6),
        ) {
            let head = |events: &[Vec<u8>]| {
                let id = run("r");
                let numbered = events.iter().zip(0..);
                numbered.fold(birth(&id, 0, b""), |before, (bytes, seq)| link(&id, before, seq, bytes))
            };
            prop_assert_eq!(one == two, head(&one) == head(&two));
        }
    }
}
