//! Sessions of task without a version: `windlass task` goes on with them as they were begun, by a definition of their own.

use std::collections::BTreeMap;
use std::path::Path;

use windlass_core::value::Value;
use windlass_sources::task::First;
use windlass_words::{Lang, Words, detect};

use super::super::workflow::built_in;
use super::{Asked, Entry, clerk, go_on, shows, start};
use crate::error::Error;
use crate::exit::Exit;
use crate::face::Tone;
use crate::known::{self, Known};
use crate::meta::Meta;
use crate::render::Output;
use crate::under_way::{self, Lands, Order};
use crate::workplace::Workplace;

pub const NAME: &str = "task-v1";

/// What is to be done once a session without a version is decided about: another task was given when it was found.
pub struct Instead<'a> {
    pub task: String,
    pub asked: &'a Asked,
    pub style: &'static str,
}

/// Whether a run goes on with such a session.
pub fn is_one(place: &Workplace, known: &Known) -> Result<bool, Error> {
    let journal = place.look()?.ok_or_else(Error::never_run)?;
    Ok(Meta::of(&journal, &known.id)?.workflow == NAME)
}

/// Whether it is still to be decided what becomes of it.
pub fn is_undecided(known: &Known) -> bool {
    known.run.units().next().is_none()
}

/// Says that it has no steps.
pub fn has_no_steps(task: &str, out: &mut Output) -> Result<(), Error> {
    let words = Words::in_lang(detect(task, Lang::ENGLISH));
    out.note(&words.say("taskline-v1-steps", &[]))
}

/// Goes on with a session that was found; what becomes of it is asked first.
pub fn begin(
    place: Workplace,
    first: &First,
    instead: Option<Instead<'_>>,
    tone: Tone,
    out: &mut Output,
) -> Result<Exit, Error> {
    let open = &first.open;
    let branch = open.branch.clone().unwrap_or_else(|| format!("harness/{}", open.slug));
    let held = place.take("windlass task")?;
    let lands = if held.has_git { Lands::OnItsOwn(branch) } else { Lands::Here };
    let about = Some(open.slug.clone());
    let order = Order {
        flow: built_in(NAME)?,
        inputs: inputs(first),
        about,
        lands,
        entry: None,
        lanes: None,
    };
    let exit = under_way::begin(&held, order, tone)?;
    let id = known::named_or_newest(&held.journal, None)?.id;
    drop(held);
    afterwards(exit, id.as_str(), instead, tone, out)
}

/// Goes on with a run of such a session.
pub fn resume(
    place: Workplace,
    known: &Known,
    instead: Option<Instead<'_>>,
    tone: Tone,
    out: &mut Output,
) -> Result<Exit, Error> {
    let exit = go_on(place, known, tone)?;
    afterwards(exit, known.id.as_str(), instead, tone, out)
}

/// When it was to be started afresh, the task that was given comes next.
fn afterwards(
    exit: Exit,
    id: &str,
    instead: Option<Instead<'_>>,
    tone: Tone,
    out: &mut Output,
) -> Result<Exit, Error> {
    let (Exit::Stopped, Some(Instead { task, asked, style })) = (exit, instead) else {
        return Ok(exit);
    };
    let place = Workplace::find_or_copy(Path::new("."))?;
    let journal = place.look()?.ok_or_else(Error::never_run)?;
    let known = known::open(&journal, Some(id))?;
    drop(journal);
    if shows(&*clerk(&place, &known)?, "restarted").is_empty() {
        return Ok(exit);
    }
    start(place, task, None, asked, Entry::Fresh(style), tone, out)
}

/// What the session says, as inputs; what it does not say has its default.
fn inputs(first: &First) -> BTreeMap<String, Value> {
    let open = &first.open;
    let most = i64::try_from(open.max_files).unwrap_or(i64::MAX);
    let commands = first.commands.iter();
    let commands = commands.map(|(name, command)| ((*name).to_owned(), Value::text(command)));
    let own = [
        ("task", Value::text(&open.task)),
        ("scope", Value::text(&open.scope)),
        ("max_files", Value::Number(most)),
        ("todo_blocking", Value::Flag(first.todo_blocking)),
    ];
    own.into_iter().map(|(name, value)| (name.to_owned(), value)).chain(commands).collect()
}

#[cfg(test)]
mod tests {
    use windlass_sources::task::{Left, read};

    use super::*;

    #[test]
    fn what_a_session_says_are_inputs_of_its_definition() {
        let text = r#"{"task":"Fix it","phase":"gen_ready","scope":"src","max_files":3,"build_cmd":"make",
            "test_cmd":"make test","lint_cmd":"none","type_check_cmd":"mypy .","verify":{"todo_blocking":true}}"#;
        let Ok(Left::First(first)) = read(text) else { panic!("no session") };
        let inputs = inputs(&first);
        let flow = built_in(NAME).unwrap();
        assert_eq!(inputs.len(), flow.inputs.len());
        for input in &flow.inputs {
            assert!(inputs.contains_key(&input.name), "{} has no value", input.name);
        }
        assert_eq!(inputs["lint_cmd"], Value::text("none"));
        let Ok(Left::First(bare)) = read(r#"{"task":"Fix it"}"#) else { panic!("no session") };
        assert!(!super::inputs(&bare).contains_key("test_cmd"), "then it is detected");
    }
}
