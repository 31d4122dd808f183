//! A run as lines of JSON, for people and other programs.

use std::io::{self, Write};

use serde::de::IgnoredAny;

use crate::{error::Error, journal::Journal, run::RunId};

impl Journal {
    /// Writes one line for each event: `{"seq":0,"hash":"…","event":…}`, the event as it is when
    /// it is JSON, else `"bytes"` in hexadecimal digits. Returns how many events there were.
    ///
    /// # Errors
    ///
    /// When the run cannot be read, up to the line before; or the writer fails.
    pub fn export(&self, run: &RunId, writer: &mut impl Write) -> Result<u64, Error> {
        let mut events = 0;
        for entry in self.read(run, 0)? {
            let entry = entry?;
            write!(writer, "{{\"seq\":{},\"hash\":\"{}\",", entry.seq, entry.hash)
                .and_then(|()| write_event(writer, &entry.bytes))
                .map_err(Error::io(std::path::Path::new("export"), "write"))?;
            events = entry.seq + 1;
        }
        Ok(events)
    }
}

fn write_event(writer: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    // The parser alone would skip over a string without looking at its bytes.
    let text = str::from_utf8(bytes).ok();
    if text.is_none_or(|text| serde_json::from_str::<IgnoredAny>(text).is_err()) {
        writer.write_all(b"\"bytes\":\"")?;
        bytes.iter().try_for_each(|byte| write!(writer, "{byte:02x}"))?;
        return writer.write_all(b"\"}\n");
    }
    writer.write_all(b"\"event\":")?;
    // In JSON a line break can only be white space between two tokens.
    for (index, line) in bytes.split(|&byte| byte == b'\n' || byte == b'\r').enumerate() {
        if index > 0 {
            writer.write_all(b" ")?;
        }
        writer.write_all(line)?;
    }
    writer.write_all(b"}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(bytes: &[u8]) -> String {
        let mut out = Vec::new();
        write_event(&mut out, bytes).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_is_json_stays_as_it_is_on_one_line() {
        assert_eq!(line(br#"{"n":1.0e5}"#), "\"event\":{\"n\":1.0e5}}\n");
        assert_eq!(line(b"{\n \"a\\n\":\r\n1}"), "\"event\":{  \"a\\n\":  1}}\n");
    }

    #[test]
    fn what_is_not_json_is_written_in_digits() {
        assert_eq!(line(b"\"\xff\""), "\"bytes\":\"22ff22\"}\n");
        assert_eq!(line(b"\"a\nb\""), "\"bytes\":\"22610a6222\"}\n");
        assert_eq!(line(b""), "\"bytes\":\"\"}\n");
        assert_eq!(line(b"1 2"), "\"bytes\":\"312032\"}\n");
    }
}
