//! Saves: a checkpoint commit in the lane, edits undone, a change handed over without a commit.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;

use windlass_core::path::{NO_LIMIT, Scope, Walked};
use windlass_core::value::Value;
use windlass_core::workflow::{Land, Save};
use windlass_repo::{Applied, Branch, Lane, Oid, Patched, Person, Pushed};

use super::{Job, land, marked, patch, subject};
use crate::clerk::{Clerk, Destination, Patching};
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
            let at_hand = job.situation();
            let told = |name: &String| match shop.clerk.trailer(name, &at_hand) {
                Some(value) => format!("{name}: {}", value.replace(char::is_control, " ")),
                None => name.clone(),
            };
            let trailers: Vec<String> = trailers.iter().map(told).collect();
            let message = shop.setup.mask.text(&message(label, job, &trailers, &*shop.clerk));
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
        Save::Patch => patched(shop, job, base, &lane),
        Save::Apply => give(shop, job, base),
        Save::Push => pushed(shop, job),
    }
}

/// Applies the patch that was proposed, whole or not at all.
fn patched(shop: &Shop, job: &Job, base: &Oid, lane: &Lane) -> Result<Done, Trouble> {
    let at = when(job.effect.since);
    let Some(patch) = job.patch.as_deref().and_then(patch::found_in) else {
        return Ok(told(job, "nothing", "there is no patch in it".to_owned()));
    };
    let scope = Scope::parse(match job.effect.with.get("scope") {
        Some(Value::Text(scope)) => scope,
        _ => NO_LIMIT,
    });
    // How far it came before is not known: it goes on from what is on record.
    if let Some(held) = job.held.as_ref().filter(|_| job.again) {
        shop.store.rewind(lane, held, at)?;
    }
    if let Some(path) = patch::leads_out(&patch) {
        let text = shop.clerk.patched(Patching::Refused(&path)).unwrap_or_default();
        return Ok(told(job, "refused", format!("{text}\n{path}: it is no path below the top")));
    }
    let out = RefCell::new(None);
    let so_far = shop.store.changes(base, job.held.as_ref().unwrap_or(base))?;
    let touched = RefCell::new(so_far.into_iter().map(|it| it.path).collect::<BTreeSet<_>>());
    let most = match job.effect.with.get("max_files") {
        Some(Value::Number(most)) => usize::try_from(*most).unwrap_or(0),
        _ => usize::MAX,
    };
    let apart = shop.clerk.untouchable();
    let refuses = |path: &Path| {
        touched.borrow_mut().insert(path.to_owned());
        if touched.borrow().len() > most {
            return Some(format!("it would be a change of more than {most} files"));
        }
        let why = refused(path, &scope, &apart)?;
        out.replace(Some(path.display().to_string()));
        Some(why)
    };
    let patched = shop.store.apply_patch(lane, patch.as_bytes(), at, &refuses)?;
    Ok(match patched {
        Patched::Applied { subject: made, commit } => {
            let mut paper = saved(job, commit.to_string());
            let before = job.held.as_ref().unwrap_or(base);
            let changes = shop.store.changes(before, &commit)?.into_iter();
            let files: Vec<String> =
                changes.map(|change| change.path.display().to_string()).collect();
            let text = shop.clerk.patched(Patching::Applied(&files));
            paper.notes.extend(text.map(|text| said(job, text)));
            let mut done = job.done("saved", paper);
            done.report.subject = Some(subject(&made));
            done
        }
        Patched::Rejected { why } => {
            let out = out.take();
            let how = out.as_deref().map_or(Patching::Failed, Patching::Refused);
            let text = shop.clerk.patched(how).map(|text| format!("{text}\n{why}"));
            told(job, "refused", text.unwrap_or(why))
        }
    })
}

/// Why a patch may not change a file, if it may not.
fn refused(path: &Path, scope: &Scope, apart: &[String]) -> Option<String> {
    let shown = path.display();
    let Some(text) = path.to_str() else { return Some(format!("{shown}: it is no text")) };
    let why = Walked::target(text, scope, apart).err()?;
    Some(format!("{shown}: {why}"))
}

/// Gives the work to the person's checkout, without a commit. What units have landed on a branch of the run's own is given
/// whole: everything since that branch began.
fn give(shop: &Shop, job: &Job, base: &Oid) -> Result<Done, Trouble> {
    let began = shop.setup.made_from.as_ref().filter(|_| job.effect.unit.is_none());
    let base = began.unwrap_or(base);
    let checked = job.effect.subject.as_ref().and_then(|it| Oid::parse(&it.tree).ok());
    let Some(tree) = checked.or_else(|| job.held.clone()) else {
        return Ok(told(job, "nothing", "nothing was done".to_owned()));
    };
    if shop.store.changes(base, &tree)?.is_empty() {
        return Ok(told(job, "nothing", "nothing was changed".to_owned()));
    }
    Ok(match shop.store.apply_to_checkout(base, &tree, &shop.clerk.apart())? {
        Applied::Applied { .. } => job.done("saved", Paper::default()),
        Applied::Refused { why } => {
            told(job, "refused", format!("your checkout is as it was: {why}"))
        }
    })
}

/// Pushes what was checked to where the clerk says. What may not land may not be pushed either.
fn pushed(shop: &Shop, job: &Job) -> Result<Done, Trouble> {
    let Some(Destination { remote, branch }) = shop.clerk.destination(&job.situation()) else {
        let why = "nobody has said where to".to_owned();
        return Ok(told(job, "refused", why));
    };
    let branch = Branch::new(&branch).map_err(|error| Trouble::new(error.to_string()))?;
    let (request, _) = land::asked(shop, job, Land::FastForward, &[])?;
    if job.cancelled {
        return Ok(land::lost(job));
    }
    let marks = marked(shop, &request.tree, job.conflicts.iter().cloned())?;
    if !marks.is_empty() {
        let why = format!("nothing is pushed with the marks of a conflict: {}", marks.join(", "));
        return Ok(told(job, "refused", why));
    }
    let settings = land::settings_changed(shop, &request)?;
    if !settings.is_empty() {
        return Err(land::not_by_an_agent(job, &settings));
    }
    if let Some(path) = land::secret_in(shop, &request)? {
        return Err(land::secret(&path));
    }
    Ok(match shop.store.push(&request, &remote, &branch)? {
        Pushed::Nothing => told(job, "nothing", "there was nothing to push".to_owned()),
        Pushed::Refused { why } => told(job, "refused", shop.setup.mask.text(&why)),
        Pushed::There { commit, .. } => {
            let mut paper = saved(job, commit.to_string());
            paper
                .notes
                .push(said(job, format!("`{branch}` of `{remote}` is at {}", commit.short())));
            job.done("saved", paper)
        }
    })
}

/// A word, and what a person should know about it.
fn told(job: &Job, word: &str, text: String) -> Done {
    job.done(word, Paper::of(said(job, text)))
}

fn said(job: &Job, text: String) -> Note {
    Note::Told { effect: job.id, name: "save".to_owned(), text }
}

fn saved(job: &Job, commit: String) -> Paper {
    Paper::of(Note::Saved { effect: job.id, unit: job.unit_owned(), commit })
}

/// So many letters of a subject are shown in a history.
const SUBJECT_CHARS: usize = 100;
/// So many of a longer one stand below it.
const WHOLE_CHARS: usize = 2_000;

/// The label (or the unit's title), and the trailers. What is too long for a history stands below it.
pub(super) fn message(
    label: Option<&str>,
    job: &Job,
    trailers: &[String],
    clerk: &dyn Clerk,
) -> String {
    let own = || job.effect.name.replace('_', " ");
    let subject = label.or(job.title.as_deref()).map_or_else(own, str::to_owned);
    // Titles come from anywhere, and a history is read in a terminal.
    let whole = clerk.in_history(&subject.replace(char::is_control, " "));
    let whole = whole.trim();
    let mut parts = vec![cut(whole, SUBJECT_CHARS)];
    if parts[0] != whole {
        parts.push(cut(whole, WHOLE_CHARS));
    }
    if !trailers.is_empty() {
        parts.push(trailers.join("\n"));
    }
    parts.join("\n\n")
}

/// So much of a line, up to the end of a word where there is one nearby.
fn cut(line: &str, chars: usize) -> String {
    let Some((most, _)) = line.char_indices().nth(chars) else { return line.to_owned() };
    let room = line.char_indices().nth(chars - 1).map_or(most, |(at, _)| at);
    let word = line[..room].rfind(char::is_whitespace).filter(|at| *at > room / 2);
    format!("{}…", line[..word.unwrap_or(room)].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_as_long_as_a_history_can_show() {
        let exact = "x".repeat(SUBJECT_CHARS);
        assert_eq!(cut(&exact, SUBJECT_CHARS), exact);
        let long = cut(&format!("{exact}y"), SUBJECT_CHARS);
        assert_eq!((long.chars().count(), long.ends_with('…')), (SUBJECT_CHARS, true));
        assert_eq!(cut("one two three", 10), "one two…");
        assert_eq!(cut("한국어 제목이 아주 깁니다", 8), "한국어 제목이…");
    }
}
