//! The record of a session: everything that was said, written down before anything is done about it.

use std::fs::{File, OpenOptions, create_dir_all};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};
use windlass_agents::own::{RECORD, Said};

use super::conversation::{Conversation, Message, Who};
use super::wire::Used;

/// One line of its own; those of what was used up are lines of [`Said`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub(super) enum Line {
    /// A session begins, with its task: there is no session without one.
    Begun { session: String, task: Message },
    /// Somebody said something.
    Message { message: Message },
    /// What was said was summed up, and is this from now on.
    Shortened { messages: Vec<Message> },
    /// The model is asked, for the how-manieth time.
    Asked { request: u64 },
    /// Nobody knows what a request has used up.
    Unaccounted,
}

/// Where everything is written down.
#[derive(Debug)]
pub(super) struct Record {
    file: File,
}

/// What a record says of what was before.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Past {
    pub talk: Conversation,
    /// How often the model was asked.
    pub requests: u64,
    /// How often it has answered.
    pub turns: u32,
    /// All that was used up.
    pub used: u64,
    pub unaccounted: bool,
}

impl Record {
    /// A new one, in a home.
    pub fn begin(home: &Path, session: &str, task: Message) -> io::Result<(Self, Past)> {
        let path = home.join(RECORD);
        path.parent().map_or(Ok(()), create_dir_all)?;
        let file = OpenOptions::new().create(true).write(true).truncate(true).open(path)?;
        let mut record = Record { file };
        let begun = Line::Begun { session: session.to_owned(), task };
        record.write(&begun)?;
        let mut past = Past::default();
        past.take(begun);
        Ok((record, past))
    }

    /// The one that is there, and what it says.
    pub fn resume(home: &Path) -> io::Result<(Self, Past)> {
        let mut file = OpenOptions::new().read(true).append(true).open(home.join(RECORD))?;
        let past = Past::read(&mut BufReader::new(&file))?;
        // Its last line may not have been written to its end.
        let mut last = [b'\n'];
        if file.seek(SeekFrom::End(0))? > 0 {
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut last)?;
        }
        if last != *b"\n" {
            file.write_all(b"\n")?;
        }
        Ok((Record { file }, past))
    }

    pub fn write(&mut self, line: &Line) -> io::Result<()> {
        self.line(serde_json::to_vec(line)?)
    }

    /// What is said to others, too.
    pub fn said(&mut self, said: &Said) -> io::Result<()> {
        self.line(serde_json::to_vec(said)?)
    }

    /// It is not flushed to the disk: whoever goes on after the machine itself went down begins anew.
    fn line(&mut self, mut line: Vec<u8>) -> io::Result<()> {
        line.push(b'\n');
        self.file.write_all(&line)
    }
}

impl Past {
    fn read(lines: &mut impl io::BufRead) -> io::Result<Self> {
        let mut past = Past::default();
        let mut under_way: Option<(String, Used)> = None;
        for line in lines.split(b'\n') {
            let line = line?;
            if let Ok(line) = serde_json::from_slice(&line) {
                past.take(line);
            } else if let Ok(Said::Usage { request, input, cached, cache_write, output, .. }) =
                serde_json::from_slice(&line)
            {
                let used = Used { input, cached, cache_write, output };
                match &mut under_way {
                    Some((own, most)) if *own == request => *most = used,
                    _ => {
                        past.used += under_way.map_or(0, |(_, used)| used.total());
                        under_way = Some((request, used));
                    }
                }
            }
        }
        past.used += under_way.map_or(0, |(_, used)| used.total());
        Ok(past)
    }

    fn take(&mut self, line: Line) {
        match line {
            Line::Begun { task, .. } => {
                *self = Past { talk: Conversation { messages: vec![task] }, ..Past::default() };
            }
            Line::Message { message } => {
                self.turns += u32::from(message.who == Who::Model);
                self.talk.push(message);
            }
            Line::Shortened { messages } => self.talk = Conversation { messages },
            Line::Asked { request } => self.requests = request,
            Line::Unaccounted => self.unaccounted = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::conversation::Part;

    fn usage(request: &str, output: u64) -> Said {
        let (request, model) = (request.to_owned(), "m".to_owned());
        Said::Usage { request, model, input: 100, cached: 10, cache_write: 1, output }
    }

    #[test]
    fn what_was_written_down_is_there_again_also_if_the_last_line_was_cut() {
        let home = tempfile::tempdir().unwrap();
        let task = Message::user("do it");
        let (mut record, _) = Record::begin(home.path(), "s", task.clone()).unwrap();
        let said = Message { who: Who::Model, parts: vec![Part::text("I do.")] };
        record.write(&Line::Asked { request: 1 }).unwrap();
        record.said(&usage("1", 1)).unwrap();
        record.said(&usage("1", 5)).unwrap();
        record.write(&Line::Message { message: said.clone() }).unwrap();
        record.write(&Line::Asked { request: 2 }).unwrap();
        record.said(&usage("2", 0)).unwrap();
        let path = home.path().join(RECORD);
        let whole = std::fs::read(&path).unwrap();
        let talk = Conversation { messages: vec![task, said] };
        let want = Past { talk, requests: 2, turns: 1, used: 227, unaccounted: false };
        assert_eq!(Record::resume(home.path()).unwrap().1, want);
        // Wherever it is cut, it can be gone on with.
        for at in 0..whole.len() {
            std::fs::write(&path, &whole[..at]).unwrap();
            let (mut record, past) = Record::resume(home.path()).unwrap();
            assert!(past.requests <= 2 && past.used <= 227, "{past:?}");
            record.write(&Line::Unaccounted).unwrap();
            let (_, again) = Record::resume(home.path()).unwrap();
            assert!(again.unaccounted, "cut at {at}");
            assert_eq!(again.talk, past.talk, "cut at {at}");
        }
    }

    #[test]
    fn what_was_summed_up_takes_the_place_of_what_was_said() {
        let home = tempfile::tempdir().unwrap();
        let (mut record, _) = Record::begin(home.path(), "s", Message::user("one")).unwrap();
        let messages = vec![Message::user("in short")];
        record.write(&Line::Shortened { messages: messages.clone() }).unwrap();
        record.write(&Line::Message { message: Message::user("two") }).unwrap();
        let (_, past) = Record::resume(home.path()).unwrap();
        assert_eq!(past.talk.messages.len(), 1);
        assert_eq!(past.talk.messages[0].text(), "in short\ntwo");
        // A new one in the same place knows nothing of it.
        let (_, begun) = Record::begin(home.path(), "t", Message::user("three")).unwrap();
        assert_eq!(begun.talk.messages[0].text(), "three");
        assert_eq!(Record::resume(home.path()).unwrap().1, begun);
    }
}
