//! Which issues are ready, which comes next, and why none of the others does. Nothing is changed.

use std::path::Path;

use serde_json::{Value, json};
use windlass_clerks::issues::{All, Selection, line, select};
use windlass_sources::tracker::Issue;

use super::{Place, Whose, config, known, left, mask, wanted};
use crate::error::Error;
use crate::exit::Exit;
use crate::render::{Output, clean};
use crate::tracker;
use crate::workplace::Workplace;

/// How it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// To people.
    Words,
    /// To programs.
    Json,
}

impl Form {
    /// What somebody asks for with `--json`.
    pub fn of(is_json: bool) -> Self {
        if is_json { Form::Json } else { Form::Words }
    }
}

pub fn list(which: &Whose, form: Form, out: &mut Output) -> Result<Exit, Error> {
    explained(which, None, All::Yes, form, out)
}

/// What a loop would do, issue by issue.
pub fn explained(
    which: &Whose,
    only: Option<String>,
    all: All,
    form: Form,
    out: &mut Output,
) -> Result<Exit, Error> {
    let place = Workplace::find(Path::new("."))?;
    let config = config(&place)?;
    let top = place.repository.top();
    // A file that cannot be read is for whoever starts a loop to see to.
    let left = left(&place).ok().flatten();
    let said = which.adopting(&config.issues, left.as_ref());
    let Place { filter, tracked, .. } = which.open(&said, top, mask(&place, &config))?;
    let known = known(&place, left.as_ref());
    let tracker = &*tracked.tracker;
    let wanted = wanted(filter.clone(), only);
    let selection = tracker::asked(out, || select(tracker, &wanted, &known, all))?;
    let complaints = tracker::asked(out, || tracker.complaints(&filter))?;
    if form == Form::Json {
        let value = as_json(&selection, &complaints);
        out.line(&serde_json::to_string_pretty(&value).unwrap_or_default())?;
        return Ok(Exit::Done);
    }
    shown(&selection, out)?;
    for complaint in complaints {
        out.note(&clean(&complaint))?;
    }
    Ok(Exit::Done)
}

fn as_json(selection: &Selection, complaints: &[String]) -> Value {
    let issue = |it: &Issue| json!({"id": it.id, "title": it.title, "priority": it.priority, "url": it.url});
    let left_out = selection.left_out.iter();
    json!({
        "next": selection.chosen.as_ref().map(|it| issue(&it.issue)),
        "then": selection.waiting.iter().map(issue).collect::<Vec<_>>(),
        "left_out": left_out
            .map(|it| json!({"id": it.id, "title": it.title, "why": it.why}))
            .collect::<Vec<_>>(),
        "complaints": complaints,
    })
}

fn shown(selection: &Selection, out: &mut Output) -> Result<(), Error> {
    let urgency = |priority: Option<u8>| priority.map_or("-".to_owned(), |it| it.to_string());
    match &selection.chosen {
        Some(chosen) => {
            let issue = &chosen.issue;
            let (id, title) = (clean(&issue.id), line(&issue.title));
            out.line(&format!("next     {id}  priority {}  {title}", urgency(issue.priority)))?;
        }
        None => out.line("next     none")?,
    }
    for issue in &selection.waiting {
        let (id, title) = (clean(&issue.id), line(&issue.title));
        out.line(&format!("then     {id}  priority {}  {title}", urgency(issue.priority)))?;
    }
    for left in &selection.left_out {
        let (id, title) = (clean(&left.id), line(&left.title));
        out.line(&format!("left out {id}  {title}\n         {}", clean(&left.why)))?;
    }
    Ok(())
}
