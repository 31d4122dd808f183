//! Lands: moves the target branch to what was checked, or says why it cannot be.

use std::path::Path;
use std::sync::Arc;

use windlass_core::run::{EffectKind, Ended};
use windlass_core::workflow::{Errand, Land};
use windlass_repo::{Landing, Oid, Request, Target};

use super::{Job, Outcome, marked, save, subject};
use crate::entry::Note;
use crate::message::{Done, Paper, Trouble};
use crate::shop::{Shop, lock, when};

/// What a person should know of papers that could not land with the work.
pub(super) type Left = Option<String>;

pub(super) fn land(shop: &Shop, job: &Job, how: Land, keep: &[String]) -> Outcome {
    if let Some((came, tip)) = &job.turned {
        return rebuilt(shop, job, came, tip).map(Ok);
    }
    let (request, left) = asked(shop, job, how, keep)?;
    if job.cancelled {
        // What has landed cannot be taken back, and what has not does not any more.
        return Ok(Ok(match shop.store.landed(&request)? {
            Some(commit) => landed(shop, job, &commit, None, left)?,
            None => lost(job),
        }));
    }
    let marks = marked(shop, &request.tree, job.conflicts.iter().cloned())?;
    if !marks.is_empty() {
        return Ok(Ok(has_marks(job, &marks)));
    }
    let settings = settings_changed(shop, &request)?;
    if !settings.is_empty() && shop.store.landed(&request)?.is_none() {
        return Err(not_by_an_agent(job, &settings));
    }
    if let Some(path) = secret_in(shop, &request)? {
        return Err(secret(&path));
    }
    let landing = shop.store.land(&request)?;
    if job.effect.unit.is_some() {
        *lock(&shop.stands) = None;
    }
    if let (Landing::Landed { commit, .. } | Landing::Waiting { commit, .. }, Some(evidence)) =
        (&landing, &job.evidence)
    {
        shop.store.note(commit, evidence, request.when)?;
    }
    match landing {
        Landing::Nothing => Ok(Ok(nothing(job))),
        Landing::Landed { commit, .. } => landed(shop, job, &commit, None, left).map(Ok),
        Landing::Waiting { commit, command, why, .. } => {
            landed(shop, job, &commit, Some((command, why)), left).map(Ok)
        }
        Landing::Moved { tip, .. } => turned_away(shop, job, "moved", &tip, Paper::default()),
        Landing::Conflict { tip, .. } => turned_away(shop, job, "conflict", &tip, Paper::default()),
    }
}

/// What is asked of git, with the papers of the session that land with it.
pub(super) fn asked(
    shop: &Shop,
    job: &Job,
    how: Land,
    keep: &[String],
) -> Result<(Request, Left), Trouble> {
    let Some(base) = &job.base else { return Err(Trouble::defect("a landing without a base")) };
    let Some(checked) = &job.effect.subject else {
        return Err(Trouble::defect("a landing of nobody knows what"));
    };
    let mut request = request(shop, job, how, base, &checked.tree)?;
    let left = with_papers(shop, job, keep, &mut request)?;
    Ok((request, left))
}

/// It has landed, or waits to be taken: how, and why.
pub(super) fn landed(
    shop: &Shop,
    job: &Job,
    commit: &Oid,
    waiting: Option<(String, String)>,
    left: Left,
) -> Result<Done, Trouble> {
    let taken_back = taken_back(shop, job, commit)?;
    // Nobody has anything further to say about it.
    shop.give_up_all_quarters(&super::invoke::talks_of(job.unit()))?;
    let (effect, unit) = (job.id, job.unit_owned());
    let (waits, why) = waiting.unzip();
    let (commit, branch) = (commit.to_string(), shop.setup.target.to_string());
    let mut paper = Paper::of(Note::Landed { effect, unit, commit, branch, waits, why });
    let texts = left.into_iter().chain(taken_back);
    paper.notes.extend(texts.flat_map(|text| said(job, text).notes));
    Ok(job.done("landed", paper))
}

/// What a person should know if the branch, at this commit, has no more what landed last before. That was theirs to do, and
/// it stays as they have it.
pub(super) fn taken_back(shop: &Shop, job: &Job, now: &Oid) -> Result<Option<String>, Trouble> {
    let Some((unit, commit)) = &job.landed_last else { return Ok(None) };
    // Work that began where that landed has it in any case.
    if job.base.as_ref() == Some(commit) || shop.store.has_in_history(now, commit)? {
        return Ok(None);
    }
    let (branch, unit) = (&shop.setup.target, unit.as_deref().unwrap_or("the run's own"));
    Ok(Some(format!(
        "{branch} no longer has what landed before ({unit}, {}): somebody has taken it back. It is not landed again; `git \
         merge {commit}` brings it back",
        commit.short()
    )))
}

/// It has not landed, and does not any more.
pub(super) fn lost(job: &Job) -> Done {
    let mut done = job.done("landed", Paper::default());
    done.report.ended = Ended::Lost;
    done
}

pub(super) fn nothing(job: &Job) -> Done {
    job.done("landed", said(job, "there was nothing to land".to_owned()))
}

/// Somebody said that it was resolved, and nobody may find out on the branch that it was not.
pub(super) fn has_marks(job: &Job, marks: &[String]) -> Done {
    let text = format!("nothing lands with the marks of a conflict: {}", marks.join(", "));
    job.done("conflict", said(job, text))
}

/// What holds a secret does not land.
pub(super) fn secret(path: &str) -> Trouble {
    Trouble::new(format!("{path} holds the value of a secret, so nothing lands")).next(
        "start the stage over that made it (`windlass redo`), or take the work without it by hand (`windlass lanes list` names \
         the lane) and end the run (`windlass stop --cancel`); if it is no secret, no variable that agents are handed may hold it",
    )
}

/// Has papers of the session land with the work. They are apart from it, so nothing that was proved is another thing with
/// them. One that cannot is no reason for the work not to land: what a person should know about that is returned.
fn with_papers(
    shop: &Shop,
    job: &Job,
    keep: &[String],
    request: &mut Request,
) -> Result<Left, Trouble> {
    let at = job.situation();
    let papers = shop.clerk.papers();
    let paths = keep.iter().filter_map(|name| shop.clerk.path(name, &at));
    let files: Vec<(String, Arc<[u8]>)> =
        paths.filter_map(|path| papers.get(&path).cloned().map(|bytes| (path, bytes))).collect();
    if files.is_empty() {
        return Ok(None);
    }
    let lane = shop.lane(job.effect.lane, job.unit(), &request.base, request.when)?;
    let ignored = shop.store.ignored(&lane, files.iter().map(|(path, _)| path.as_str()))?;
    let (out, with): (Vec<_>, Vec<_>) =
        files.into_iter().partition(|(path, _)| ignored.contains(path));
    request.tree = shop.store.with_files(&request.tree, &with)?;
    let told: Vec<String> = out
        .iter()
        .map(|(path, _)| shop.clerk.not_kept(path, "the project has git ignore it"))
        .collect();
    Ok((!told.is_empty()).then(|| told.join("\n")))
}

/// What a landing would change of what says what agents may do: who lands that has let itself in.
pub(super) fn settings_changed(shop: &Shop, request: &Request) -> Result<Vec<String>, Trouble> {
    let ours = |path: &Path| path == Path::new(SETTINGS[0]) || path.starts_with(SETTINGS[1]);
    let changed = |from: &Oid| -> Result<Vec<String>, Trouble> {
        let changes = shop.store.changes(from, &request.tree)?.into_iter();
        let ours = changes.map(|change| change.path).filter(|path| ours(path));
        Ok(ours.map(|path| path.display().to_string()).collect())
    };
    let mut settings = changed(&request.base)?;
    if !settings.is_empty() {
        // What a person has put on the branch meanwhile is theirs, and lands with nobody.
        let there = changed(&shop.beginning()?)?;
        settings.retain(|path| there.contains(path));
    }
    Ok(settings)
}

/// A file that a landing would bring and that holds what is never written down.
pub(super) fn secret_in(shop: &Shop, request: &Request) -> Result<Option<String>, Trouble> {
    let mask = &shop.setup.mask;
    for change in shop.store.changes(&request.base, &request.tree)? {
        let path = change.path.display().to_string();
        if change.new.is_absent() || change.new.mode == "160000" {
            continue;
        }
        let bytes = shop.store.blob(&change.new.blob)?;
        if mask.text(&path) != path {
            return Ok(Some(mask.text(&path)));
        }
        let known = !change.old.is_absent() && change.old.mode != "160000";
        // What was there before is the person's.
        if mask.bytes(bytes.clone()) != bytes
            && !(known && {
                let before = shop.store.blob(&change.old.blob)?;
                mask.bytes(before.clone()) != before
            })
        {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// What says what agents may do.
const SETTINGS: [&str; 2] = ["windlass.toml", ".windlass"];

pub(super) fn not_by_an_agent(job: &Job, settings: &[String]) -> Trouble {
    let what = job.unit().unwrap_or("the run itself");
    Trouble::new(format!(
        "what {what} would land changes {}, which says what agents may do: that is a person's to change",
        settings.join(", ")
    ))
    .next(
        "look at it (`windlass lanes list` names the lane, `windlass lanes shell` opens it); if it is right, commit the same \
         change to the branch yourself and `windlass resume`; until then nothing lands",
    )
}

/// What is asked of git.
fn request(shop: &Shop, job: &Job, how: Land, base: &Oid, tree: &str) -> Result<Request, Trouble> {
    let at = when(job.effect.since);
    let lane = shop.lane(job.effect.lane, job.unit(), base, at)?;
    let branch = shop.setup.target.clone();
    let makes = shop.setup.made_from.is_some() && shop.store.sync()?.tip(&branch).is_none();
    Ok(Request {
        run: shop.run.clone(),
        branch,
        target: if makes { Target::New } else { Target::There },
        how: how_in_git(how),
        // The one on record, not the lane's: a lane that was rebuilt just before a crash must not pass for one that was
        // checked there.
        base: base.clone(),
        head: shop.store.head(&lane)?,
        tree: Oid::parse(tree).map_err(|_| Trouble::defect("a tree that is none"))?,
        picks: Vec::new(),
        message: save::message(label(job), job, &[], &*shop.clerk),
        author: shop.setup.author.clone(),
        when: at,
    })
}

/// What a landing is called, where its stage says so.
fn label(job: &Job) -> Option<&str> {
    match &job.effect.kind {
        EffectKind::Errand(Errand::Land { label, .. }) => label.as_deref(),
        EffectKind::Errand(_) | EffectKind::Invoke { .. } => None,
    }
}

/// What a person should know about a landing that is none.
pub(super) fn said(job: &Job, text: String) -> Paper {
    Paper::of(Note::Told { effect: job.id, name: "land".to_owned(), text })
}

/// What the landing came to is on record before the lane is touched.
pub(super) fn turned_away(shop: &Shop, job: &Job, came: &str, tip: &Oid, with: Paper) -> Outcome {
    let note = Note::Turned {
        effect: job.id,
        unit: job.unit_owned(),
        came: came.to_owned(),
        tip: tip.to_string(),
    };
    let mut paper = with;
    paper.notes.insert(0, note);
    match shop.write_down(paper) {
        Ok(()) => rebuilt(shop, job, came, tip).map(Ok),
        Err(stopped) => Ok(Err(stopped)),
    }
}

/// Puts the lane on the branch's new tip; where that does not go cleanly the files have both sides in them.
pub(super) fn rebuilt(shop: &Shop, job: &Job, word: &str, tip: &Oid) -> Result<Done, Trouble> {
    let at = when(job.effect.since);
    let lane = shop.lane(job.effect.lane, job.unit(), tip, at)?;
    let rebuilt = shop.store.rebase(&lane, tip, at)?;
    let snapshot = shop.store.snapshot(&lane, &format!("{} {}", job.effect.name, job.id.0), at)?;
    let unit = || job.unit_owned();
    let mut paper = Paper::of(Note::Based { unit: unit(), base: tip.to_string() });
    let commit = snapshot.commit.to_string();
    paper.notes.push(Note::Saved { effect: job.id, unit: unit(), commit });
    if word == "conflict" {
        // Looked for where they are: the one who rebuilt it may have been cut off before this was on record.
        let changed = shop.store.changes(tip, &snapshot.commit)?.into_iter();
        let changed = changed.map(|change| change.path.display().to_string());
        let mut files = marked(shop, &snapshot.commit, changed)?;
        // Not every conflict leaves marks: one side may have deleted what the other changed.
        let others = rebuilt.conflicts.iter().map(|it| it.path.display().to_string());
        files.extend(others.filter(|it| !files.contains(it)).collect::<Vec<_>>());
        paper.notes.push(Note::Conflicted { unit: unit(), files });
    }
    let mut done = job.done(word, paper);
    done.report.subject = Some(subject(&rebuilt.subject));
    Ok(done)
}

fn how_in_git(how: Land) -> windlass_repo::Land {
    match how {
        Land::FastForward => windlass_repo::Land::FastForward,
        Land::Merge => windlass_repo::Land::Merge,
        Land::CherryPick => windlass_repo::Land::CherryPick,
        Land::Commit => windlass_repo::Land::Commit,
    }
}
