//! Tells people and systems: questions to the workflow's clerk, and on record what was said.

use std::time::Duration;

use windlass_process::{Command, Ending, Env, Limits, which};

use super::read::Waits;
use super::{Job, Outcome};
use crate::entry::Note;
use crate::message::{Paper, Trouble};
use crate::shop::{Brake, Shop};

/// Whoever opens a pull request is quick about it.
const WALL: Duration = Duration::from_secs(120);

pub(super) fn tell(shop: &Shop, job: &Job, names: &[String], brake: &Brake) -> Outcome {
    let situation = job.situation();
    let mut paper = Paper::default();
    let mut waits = Waits::of(shop, job, brake);
    for name in names {
        waits.away = None;
        let told = loop {
            // Whatever of it was told before is found there: each may be told twice and is then told once.
            let again = match shop.clerk.tell(name, &situation) {
                Ok(told) => break told,
                Err(trouble) => waits.again(trouble)?,
            };
            if let Err(stopped) = waits.for_it(name, again) {
                return Ok(Err(stopped));
            }
        };
        for (path, text) in told.papers {
            paper.page(job.id, path, shop.setup.mask.text(&text));
        }
        let done = told.command.and_then(|words| done(shop, &words).transpose()).transpose()?;
        let text = shop.setup.mask.text(&done.unwrap_or(told.text));
        paper.notes.push(Note::Told { effect: job.id, name: name.clone(), text });
    }
    Ok(Ok(job.done("told", paper)))
}

/// What a program of the person's own said, if they have it and it did what it should.
fn done(shop: &Shop, words: &[String]) -> Result<Option<String>, Trouble> {
    let env = Env::inherited().pass("GH_TOKEN").pass("GITHUB_TOKEN").pass("GH_HOST");
    let Some((name, args)) = words.split_first() else { return Ok(None) };
    let Some(program) = which(name, &env) else { return Ok(None) };
    let limits = Limits { wall: Some(WALL), grace: shop.setup.grace, ..Limits::default() };
    let command = Command::new(program, shop.store.repository().top());
    let command = command.args(args.iter().cloned()).env(env).limits(limits);
    let finished = shop.spawner.run(command).map_err(|error| Trouble::new(error.to_string()))?;
    if finished.ending != Ending::Exited(0) {
        return Ok(None);
    }
    Ok(Some(String::from_utf8_lossy(&finished.stdout.text()?).trim().to_owned()))
}
