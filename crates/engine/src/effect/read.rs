//! Reads: looks at a source of work. Each reader is a file of the sources room, or a question to the workflow's clerk.

use super::Job;
use crate::entry::Note;
use crate::message::{Done, Paper, Trouble};
use crate::shop::Shop;

pub(super) fn read(shop: &Shop, job: &Job, name: &str) -> Result<Done, Trouble> {
    let reading = match shop.readers.get(name) {
        Some(reader) => Some(reader.read(&job.effect.with)?),
        None => shop.clerk.read(name, &job.situation())?,
    };
    let Some(mut reading) = reading else {
        let what = format!("nothing here reads `{name}`: this workflow cannot be run yet");
        return Err(Trouble::new(what));
    };
    let mask = &shop.setup.mask;
    mask.facts(&mut reading.facts);
    mask.lists(&mut reading.lists);
    mask.texts(&mut reading.remarks);
    let mut paper = Paper::default();
    for (path, bytes) in reading.papers {
        paper.page(job.id, path, mask.bytes(bytes));
    }
    if !reading.remarks.is_empty() {
        let text = reading.remarks.join("\n");
        paper.notes.push(Note::Told { effect: job.id, name: name.to_owned(), text });
    }
    let mut done = job.done(&reading.verdict, paper);
    done.report.facts = reading.facts;
    done.report.lists = reading.lists;
    Ok(done)
}
