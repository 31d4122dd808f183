//! Tells people and systems. So far that is the report that goes into the journal; trackers and files of the workflows
//! come with them.

use super::Job;
use crate::entry::Note;
use crate::message::{Done, Paper, Trouble};
use crate::shop::Shop;

pub(super) fn tell(_shop: &Shop, job: &Job, names: &[String]) -> Result<Done, Trouble> {
    let about = |name: &String| {
        let unit = job.unit().map(|unit| format!(" of {unit}")).unwrap_or_default();
        Note::Told { effect: job.id, name: name.clone(), text: format!("{name}{unit}") }
    };
    let notes = names.iter().map(about).collect();
    Ok(job.done("told", Paper { notes, blobs: Vec::new() }))
}
