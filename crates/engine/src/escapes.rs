//! A text as somebody who reads JSON will see it: with its escapes undone, and where each byte stood before.
//!
//! A secret with a quotation mark, a backslash or a letter that is not ASCII is written in JSON in one of many ways.
//! Instead of looking for all of them, what is written is read.

/// A text with its escapes undone.
pub(crate) struct Unescaped {
    /// The text.
    pub bytes: Vec<u8>,
    /// Where each byte stood, and behind the last one the end.
    pub at: Vec<usize>,
}

impl Unescaped {
    /// A text as it is read. Nothing if no escape is in it.
    pub fn of(text: &[u8]) -> Option<Self> {
        memchr::memchr(b'\\', text)?;
        let mut read = Unescaped { bytes: Vec::with_capacity(text.len()), at: Vec::new() };
        let (mut from, mut undone) = (0, false);
        while from < text.len() {
            let (letter, length) = letter(&text[from..]);
            undone |= length > 1;
            let mut utf8 = [0; 4];
            let bytes = match letter {
                Letter::Byte(byte) => {
                    utf8[0] = byte;
                    &utf8[..1]
                }
                Letter::Char(letter) => letter.encode_utf8(&mut utf8).as_bytes(),
            };
            read.bytes.extend_from_slice(bytes);
            read.at.extend(bytes.iter().map(|_| from));
            from += length;
        }
        read.at.push(from);
        undone.then_some(read)
    }

    /// What it is when it is read once more, as JSON inside of JSON is.
    pub fn again(&self) -> Option<Self> {
        let mut read = Unescaped::of(&self.bytes)?;
        read.at.iter_mut().for_each(|at| *at = self.at[*at]);
        Some(read)
    }
}

/// What one escape, or one byte that is none, stands for.
enum Letter {
    Byte(u8),
    Char(char),
}

/// What a text begins with, and how long that is. A backslash that escapes nothing is one.
fn letter(text: &[u8]) -> (Letter, usize) {
    let plain = |byte| (Letter::Byte(byte), 2);
    match text {
        [b'\\', b'u', rest @ ..] => match unicode(rest) {
            Some((letter, length)) => (Letter::Char(letter), 2 + length),
            None => (Letter::Byte(b'\\'), 1),
        },
        [b'\\', byte @ (b'"' | b'\\' | b'/'), ..] => plain(*byte),
        [b'\\', b'n', ..] => plain(b'\n'),
        [b'\\', b'r', ..] => plain(b'\r'),
        [b'\\', b't', ..] => plain(b'\t'),
        [b'\\', b'b', ..] => plain(0x08),
        [b'\\', b'f', ..] => plain(0x0c),
        [byte, ..] => (Letter::Byte(*byte), 1),
        [] => (Letter::Byte(0), 1),
    }
}

/// The letter of a `\u`, and how long what follows that is: four digits, or for a pair of surrogates ten.
fn unicode(text: &[u8]) -> Option<(char, usize)> {
    let first = digits(text)?;
    if let Some(letter) = char::from_u32(first) {
        return Some((letter, 4));
    }
    let second = digits(text.get(4..)?.strip_prefix(b"\\u")?)?;
    let pair = [u16::try_from(first).ok()?, u16::try_from(second).ok()?];
    let letter = char::decode_utf16(pair).next()?.ok()?;
    Some((letter, 10))
}

fn digits(text: &[u8]) -> Option<u32> {
    let digits = text.get(..4).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> String {
        let read = Unescaped::of(text.as_bytes());
        read.map_or(text.to_owned(), |read| String::from_utf8(read.bytes).unwrap())
    }

    #[test]
    fn every_escape_of_json_is_undone() {
        assert_eq!(read(r#"\"\\\/\n\r\t\b\f"#), "\"\\/\n\r\t\u{8}\u{c}");
        assert_eq!(read(r"h\u00fcsh \u00FC \ud83e\udd2b"), "hüsh ü 🤫");
    }

    #[test]
    fn what_escapes_nothing_stays() {
        for plain in [r"C:\x", r"\u12", r"\uzzzz", r"\ud83e alone", "\\", ""] {
            assert_eq!(read(plain), plain);
        }
    }

    #[test]
    fn where_a_byte_stood_is_known_through_two_readings() {
        let text = r#"a\\\"b"#;
        let once = Unescaped::of(text.as_bytes()).unwrap();
        assert_eq!(
            (once.bytes.as_slice(), once.at.as_slice()),
            (&br#"a\"b"#[..], &[0, 1, 3, 5, 6][..])
        );
        let twice = once.again().unwrap();
        assert_eq!(
            (twice.bytes.as_slice(), twice.at.as_slice()),
            (&br#"a"b"#[..], &[0, 1, 5, 6][..])
        );
        assert!(twice.again().is_none());
    }

    proptest! {
        #[test]
        fn what_json_writes_is_read_again(text in ".{0,60}") {
            let json = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(read(&json), format!("\"{text}\""));
        }

        #[test]
        fn nothing_makes_it_stumble(text in proptest::collection::vec(any::<u8>(), 0..60)) {
            if let Some(read) = Unescaped::of(&text) {
                prop_assert_eq!(read.at.len(), read.bytes.len() + 1);
            }
        }
    }
}
