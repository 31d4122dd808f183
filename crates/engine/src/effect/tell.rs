//! Tells people and systems: questions to the workflow's clerk, and on record what was said.

use super::Job;
use crate::entry::Note;
use crate::message::{Done, Paper, Trouble};
use crate::shop::Shop;

pub(super) fn tell(shop: &Shop, job: &Job, names: &[String]) -> Result<Done, Trouble> {
    let situation = job.situation();
    let mut paper = Paper::default();
    for name in names {
        let text = shop.setup.mask.text(&shop.clerk.tell(name, &situation)?.text);
        paper.notes.push(Note::Told { effect: job.id, name: name.clone(), text });
    }
    Ok(job.done("told", paper))
}
