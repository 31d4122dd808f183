//! Tells people and systems: questions to the workflow's clerk, and on record what was said.

use windlass_journal::BlobId;

use super::Job;
use crate::entry::Note;
use crate::message::{Done, Paper, Trouble};
use crate::shop::Shop;

pub(super) fn tell(shop: &Shop, job: &Job, names: &[String]) -> Result<Done, Trouble> {
    let situation = job.situation();
    let mut paper = Paper::default();
    for name in names {
        let told = shop.clerk.tell(name, &situation)?;
        for (path, text) in told.papers {
            let bytes = shop.setup.mask.text(&text).into_bytes();
            let holds = Some(BlobId::of(&bytes).to_string());
            paper.notes.push(Note::Paper { effect: job.id, path, holds });
            paper.blobs.push(bytes);
        }
        let text = shop.setup.mask.text(&told.text);
        paper.notes.push(Note::Told { effect: job.id, name: name.clone(), text });
    }
    Ok(job.done("told", paper))
}
