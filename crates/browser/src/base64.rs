//! What pictures come as.

/// The bytes of a text; nothing if it is none.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches('=').as_bytes();
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    for group in text.chunks(4) {
        let mut bits = 0_u32;
        for letter in group {
            bits = bits << 6 | six_bits(*letter)?;
        }
        let [_, all @ ..] = (bits << (6 * (4 - group.len()))).to_be_bytes();
        // Four letters are three bytes, three are two, two are one; and one is nothing.
        bytes.extend_from_slice(all.get(..group.len().checked_sub(1).filter(|it| *it > 0)?)?);
    }
    Some(bytes)
}

fn six_bits(letter: u8) -> Option<u32> {
    let value = match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(value.into())
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn texts_become_bytes() {
        for (text, bytes) in [
            ("", b"".as_slice()),
            ("Zg==", b"f"),
            ("Zm8=", b"fo"),
            ("Zm9v", b"foo"),
            ("Zm9vYg", b"foob"),
            ("+/8A", b"\xfb\xff\x00"),
        ] {
            assert_eq!(decode(text).as_deref(), Some(bytes), "{text}");
        }
        for bad in ["Zm9v Zg==", "Z", "Zm9vZ", "Zm9*"] {
            assert_eq!(decode(bad), None, "{bad}");
        }
    }
}
