//! Saves: a checkpoint commit in the lane, edits undone, a change handed over without a commit.

use windlass_core::workflow::Save;
use windlass_repo::Person;

use super::{Job, subject};
use crate::entry::Note;
use crate::message::{Done, Paper, Trouble};
use crate::shop::{Shop, when};

pub(super) fn save(
    shop: &Shop,
    job: &Job,
    how: Save,
    label: Option<&str>,
    trailers: &[String],
) -> Result<Done, Trouble> {
    let Some(base) = &job.base else { return Err(Trouble::defect("a save without a base")) };
    let at = when(job.effect.since);
    let lane = shop.lane(job.effect.lane, job.unit(), base, at)?;
    match how {
        Save::Commit => {
            let author: &Person = &shop.setup.author;
            let message = message(label, job, trailers);
            let made = shop.store.checkpoint(&lane, &message, author, at)?;
            let paper = saved(job, made.commit.to_string());
            let mut done = job.done(if made.saved { "saved" } else { "nothing" }, paper);
            done.report.subject = Some(subject(&made.subject));
            Ok(done)
        }
        Save::Rewind => {
            let to = shop.store.head(&lane)?;
            let back = shop.store.rewind(&lane, &to, at)?;
            let word = if back.saved.is_some() { "saved" } else { "nothing" };
            let mut done = job.done(word, saved(job, to.to_string()));
            done.report.subject = Some(subject(&back.subject));
            Ok(done)
        }
        Save::Patch | Save::Apply => {
            // The patch's text comes from an artifact of the stage it names; that reader comes with its workflow.
            let mut done = job.done("refused", Paper::default());
            done.paper.notes.push(Note::Told {
                effect: job.id,
                name: "save".to_owned(),
                text: "patches are not applied yet".to_owned(),
            });
            Ok(done)
        }
    }
}

fn saved(job: &Job, commit: String) -> Paper {
    Paper::of(Note::Saved { effect: job.id, unit: job.unit_owned(), commit })
}

/// The label (or the unit's title), and the trailers.
pub(super) fn message(label: Option<&str>, job: &Job, trailers: &[String]) -> String {
    let subject = label.or(job.title.as_deref()).unwrap_or(&job.effect.name);
    // Titles come from anywhere, and a history is read in a terminal.
    let subject = subject.replace(char::is_control, " ");
    let subject = subject.trim();
    if trailers.is_empty() {
        subject.to_owned()
    } else {
        format!("{subject}\n\n{}", trailers.join("\n"))
    }
}
