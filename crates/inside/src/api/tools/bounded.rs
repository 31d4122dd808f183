//! A text that is not longer than it may be, with its beginning and its end.

/// The beginning and the end of a text, and between them how much was left out.
pub(crate) fn bounded(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let half = bytes_max / 2;
    let head = &text[..text.floor_char_boundary(half)];
    let tail = &text[text.ceil_char_boundary(text.len() - half)..];
    let left_out = text.len() - head.len() - tail.len();
    format!("{head}\n[… {left_out} bytes left out …]\n{tail}")
}

/// Takes in what comes, and keeps its beginning and its end.
#[derive(Debug)]
pub(super) struct Kept {
    head: Vec<u8>,
    tail: std::collections::VecDeque<u8>,
    half: usize,
    left_out: usize,
}

impl Kept {
    pub fn new(bytes_max: usize) -> Self {
        let half = bytes_max / 2;
        Kept { head: Vec::new(), tail: Default::default(), half, left_out: 0 }
    }

    pub fn take(&mut self, piece: &[u8]) {
        let (head, rest) = piece.split_at(piece.len().min(self.half - self.head.len()));
        self.head.extend(head);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(self.half);
        self.tail.drain(..over);
        self.left_out += over;
    }

    pub fn text(&self) -> String {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        let gap = match self.left_out {
            0 => {
                return String::from_utf8_lossy(&[self.head.as_slice(), &tail].concat())
                    .into_owned();
            }
            left_out => format!("\n[… {left_out} bytes left out …]\n"),
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        format!("{}{gap}{}", text(&self.head), text(&tail))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_keeps_its_beginning_and_its_end() {
        assert_eq!(bounded("short", 5), "short");
        let long = format!("begin{}end", "ä".repeat(1_000));
        let short = bounded(&long, 101);
        assert!(short.starts_with("beginä") && short.ends_with("äend"), "{short}");
        assert!(short.len() < 160 && short.contains("bytes left out"));
        let mut kept = Kept::new(100);
        for piece in long.as_bytes().chunks(7) {
            kept.take(piece);
        }
        assert!(kept.text().starts_with("begin") && kept.text().ends_with("end"));
        assert!(kept.text().contains("[… 1908 bytes left out …]"), "{}", kept.text());
        let mut kept = Kept::new(100);
        kept.take("no more than äöü".as_bytes());
        assert_eq!(kept.text(), "no more than äöü");
    }
}
