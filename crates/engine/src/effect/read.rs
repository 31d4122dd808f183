//! Reads: looks at a source of work. Each reader is a file of the sources room.

use super::Job;
use crate::message::{Done, Paper, Trouble};
use crate::shop::Shop;

pub(super) fn read(shop: &Shop, job: &Job, name: &str) -> Result<Done, Trouble> {
    let Some(reader) = shop.readers.get(name) else {
        let what = format!("nothing here reads `{name}`: this workflow cannot be run yet");
        return Err(Trouble { what });
    };
    let reading = reader.read(&job.effect.with)?;
    let mut done = job.done(&reading.verdict, Paper::default());
    done.report.facts = reading.facts;
    done.report.lists = reading.lists;
    Ok(done)
}
