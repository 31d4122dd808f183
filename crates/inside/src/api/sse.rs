//! Events as servers send them: lines of `event:` and `data:`, and an empty line after each.

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Event {
    /// Its name; empty, if it has none.
    pub name: String,
    pub data: String,
}

/// An event is not longer than this.
const EVENT_BYTES: usize = 32 << 20;

/// Takes a stream apart, however it is cut into pieces.
#[derive(Debug, Default)]
pub(super) struct Events {
    line: Vec<u8>,
    event: Event,
    has_data: bool,
    /// The last line ended with a carriage return: a line feed right after it belongs to it.
    returned: bool,
}

/// An event that is longer than any is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

impl Events {
    /// Hands on every event that is whole now.
    pub fn feed(&mut self, piece: &[u8], mut each: impl FnMut(Event)) -> Result<(), TooLong> {
        for &byte in piece {
            let follows = std::mem::replace(&mut self.returned, byte == b'\r');
            match byte {
                b'\n' if follows => {}
                b'\n' | b'\r' => self.end_of_line(&mut each),
                _ => self.line.push(byte),
            }
            if self.line.len() + self.event.data.len() > EVENT_BYTES {
                return Err(TooLong);
            }
        }
        Ok(())
    }

    fn end_of_line(&mut self, each: &mut impl FnMut(Event)) {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            if std::mem::take(&mut self.has_data) {
                each(event);
            }
            return;
        }
        let line = String::from_utf8_lossy(&line);
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => self.event.name = value.to_owned(),
            "data" => {
                if self.has_data {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
                self.has_data = true;
            }
            // Comments, and what nobody here asks for.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(pieces: &[&[u8]]) -> Vec<(String, String)> {
        let (mut events, mut found) = (Events::default(), Vec::new());
        for piece in pieces {
            events.feed(piece, |event| found.push((event.name, event.data))).unwrap();
        }
        found
    }

    fn want(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|&(name, data)| (name.to_owned(), data.to_owned())).collect()
    }

    #[test]
    fn an_event_is_whole_however_it_arrives() {
        let stream = "event: one\ndata: {\"a\":\"ä: b\"}\n\n: a comment\r\n\r\ndata:x\r\ndata: y\r\rid: 7\n\nevent: only a name\n\ndata\n\ndata: not to the e".as_bytes();
        let whole = want(&[("one", "{\"a\":\"ä: b\"}"), ("", "x\ny"), ("", "")]);
        assert_eq!(events(&[stream]), whole);
        for at in 0..stream.len() {
            assert_eq!(events(&[&stream[..at], &stream[at..]]), whole, "cut at {at}");
        }
        let bytes: Vec<&[u8]> = stream.chunks(1).collect();
        assert_eq!(events(&bytes), whole);
    }

    #[test]
    fn an_event_without_end_takes_no_room() {
        let mut events = Events::default();
        let piece = vec![b'x'; 1 << 20];
        let fed = (0..40).try_for_each(|_| events.feed(&piece, |_| {}));
        assert_eq!(fed, Err(TooLong));
    }
}
