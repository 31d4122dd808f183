//! `windlass task`: one task, from its plan to its commit.

mod ask;
mod first;
mod flags;
mod given;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand};
use windlass_clerks::memory::Files;
use windlass_core::run::{Input, Phase, Standing, Target as Whose, Wish};
use windlass_core::value::Value;
use windlass_engine::Engine;
use windlass_engine::clerk::{Clerk, Situation};
use windlass_engine::crew::Preset;
use windlass_repo::Branch;
use windlass_sources::task::{self as format, First, Left, Open};
use windlass_words::{Lang, Words, detect};

use self::ask::Choice;
use self::first::Instead;
use self::flags::{Asked, Flags};
use super::workflow::built_in;
use crate::config::Config;
use crate::error::Error;
use crate::exit::Exit;
use crate::face::Tone;
use crate::known::{self, Known};
use crate::meta::Meta;
use crate::relay::Silent;
use crate::render::Output;
use crate::replay::told;
use crate::request::who;
use crate::suggest;
use crate::under_way::{self, Lands, Order};
use crate::workplace::{Held, Workplace};

const NAME: &str = "task";

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  windlass task \"Add a --json flag to status\"      plan, confirm, generate, verify, evaluate, commit
  windlass task --file TASK.md --mode multi         a long task, planned by three specialists
  windlass task - < TASK.md                         the same, from standard input
  windlass task \"Fix the parser\" --scope src/parse --max-files 5
  windlass task                                     where things stand, and what to do next
  windlass task plan \"Add a flag\"                   step by step: plan, then generate, verify, evaluate
  windlass task generate

A session that another program left here in .harness/state.json is asked about first: resume, restart
or stop. One without a version goes on as it was begun, and its file keeps its form.

The work is done on a branch of its own, harness/<slug>; your checkout and its branch stay as they
are. Nothing is generated before you have confirmed the spec, and nothing lands that has not
passed the project's own checks. Papers are in docs/harness/<slug>/, unless --output-dir says
otherwise.
"
)]
pub struct TaskArgs {
    #[command(flatten)]
    what: What,

    #[command(flatten)]
    flags: Flags,

    /// Print every entry of the journal as a JSON line, and ask nothing
    #[arg(long)]
    json: bool,

    #[command(subcommand)]
    step: Option<Step>,
}

/// What should be done.
#[derive(Clone, Debug, Default, Args)]
struct What {
    /// The task, in words; `-` reads it from standard input
    #[arg(value_name = "TASK")]
    task: Vec<String>,

    /// Read the task from a file; `-` is standard input
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Step {
    /// Plan a task, and stop when its spec is there
    #[command(after_help = "Examples:\n  windlass task plan \"Add a --json flag\"\n")]
    Plan {
        #[command(flatten)]
        what: What,

        #[command(flatten)]
        flags: Box<Flags>,

        /// Print every entry of the journal as a JSON line, and ask nothing
        #[arg(long)]
        json: bool,
    },
    /// Generate what the spec says
    #[command(after_help = "Examples:\n  windlass task generate\n")]
    Generate(StepArgs),
    /// Run the checks of layer 1
    #[command(after_help = "Examples:\n  windlass task verify\n")]
    Verify(StepArgs),
    /// Have the change evaluated, layers 2 and 3
    #[command(after_help = "Examples:\n  windlass task evaluate\n")]
    Evaluate(StepArgs),
}

#[derive(Clone, Copy, Debug, Args)]
struct StepArgs {
    /// Print every entry of the journal as a JSON line, and ask nothing
    #[arg(long)]
    json: bool,
}

/// A step that needs another before it.
struct Later {
    name: &'static str,
    /// The papers that it needs, the phase that must have been reached, and what is said otherwise.
    papers: &'static [&'static str],
    from: &'static str,
    otherwise: &'static str,
    /// Where it begins when it is done again.
    stage: &'static str,
    style: &'static str,
}

const GENERATE: Later = Later {
    name: "generate",
    papers: &["spec.md"],
    from: "plan_done",
    otherwise: "Run plan first",
    stage: "generate_entry",
    style: "phase",
};

const VERIFY: Later = Later {
    name: "verify",
    papers: &["changes.md"],
    from: "generate_done",
    otherwise: "Run generate first",
    stage: "verify_ready",
    style: "step",
};

const EVALUATE: Later = Later {
    name: "evaluate",
    papers: &["spec.md", "changes.md", "verify_report.md"],
    from: "verify_done",
    otherwise: "Run verify first",
    stage: "evaluate_ready",
    style: "step",
};

impl Later {
    fn not_yet(&self) -> Error {
        let before = self.otherwise.trim_start_matches("Run ").trim_end_matches(" first");
        let task = if before == "plan" { " \"…\"" } else { "" };
        Error::usage(self.otherwise).hint(format!("windlass task {before}{task}"))
    }
}

pub fn run(args: &TaskArgs, out: &mut Output) -> Result<Exit, Error> {
    match &args.step {
        None => begin_or_tell(&args.what, &args.flags, "auto", Tone::of(args.json), out),
        Some(Step::Plan { what, flags, json }) => {
            let task = given::task(&what.task, what.file.as_ref())?;
            if task.is_none() && !ask::somebody() {
                return Err(
                    Error::usage("plan what?").hint("windlass task plan \"Add a --json flag\"")
                );
            }
            begin_or_tell(what, flags, "phase", Tone::of(*json), out)
        }
        Some(Step::Generate(step)) => later(&GENERATE, Tone::of(step.json), out),
        Some(Step::Verify(step)) => later(&VERIFY, Tone::of(step.json), out),
        Some(Step::Evaluate(step)) => later(&EVALUATE, Tone::of(step.json), out),
    }
}

/// A new session, or how the one that is there stands.
fn begin_or_tell(
    what: &What,
    flags: &Flags,
    style: &'static str,
    tone: Tone,
    out: &mut Output,
) -> Result<Exit, Error> {
    meant(&what.task)?;
    let asked = Asked::of(flags)?;
    let task = given::task(&what.task, what.file.as_ref())?;
    let place = Workplace::find_or_copy(Path::new("."))?;
    let open = open(&place)?;
    match (open, task) {
        (Some(known), Some(task))
            if first::is_undecided(&known) && first::is_one(&place, &known)? =>
        {
            first::resume(place, &known, Some(Instead { task, asked: &asked, style }), tone, out)
        }
        (Some(known), None) => tell(&place, &known, tone, out),
        (Some(known), Some(task)) => another(place, known, task, &asked, style, tone, out),
        (None, task) => {
            let found = match left_here(&place)? {
                Some(Earlier::First(first)) => {
                    let other = task.filter(|task| *task != first.open.task);
                    let instead = other.map(|task| Instead { task, asked: &asked, style });
                    return first::begin(place, &first, instead, tone, out);
                }
                Some(Earlier::Open(found)) => Some(found),
                None => None,
            };
            let task = match (task, &found) {
                (Some(task), _) => task,
                (None, Some(found)) => found.task.clone(),
                (None, None) => for_task()?,
            };
            start(place, task, found.as_deref(), &asked, Entry::Fresh(style), tone, out)
        }
    }
}

/// A single word that is nearly a step was meant as one.
fn meant(words: &[String]) -> Result<(), Error> {
    let [word] = words else { return Ok(()) };
    let steps = ["plan", "generate", "verify", "evaluate"];
    match suggest::nearest(word, steps) {
        Some(near) => Err(Error::usage(format!("is `{word}` a task, or a step?")).hint(format!(
            "the step is `windlass task {near}`; a task says more: windlass task \"{word} …\""
        ))),
        _ => Ok(()),
    }
}

fn for_task() -> Result<String, Error> {
    let which = || Error::usage("what should be done?").hint("windlass task \"Add a --json flag\"");
    if !ask::somebody() {
        return Err(which());
    }
    let words = Words::in_lang(Lang::ENGLISH);
    ask::for_line(&words.say("ask-task", &[]))?.ok_or_else(which)
}

/// The session that is not over, if there is one.
fn open(place: &Workplace) -> Result<Option<Known>, Error> {
    let Some(journal) = place.look()? else { return Ok(None) };
    let mut open = Vec::new();
    for known in known::all(&journal)?.readable {
        let workflow = Meta::of(&journal, &known.id)?.workflow;
        let own = [NAME, first::NAME].contains(&workflow.as_str());
        if own && known.run.phase() != Phase::Ended {
            open.push(known);
        }
    }
    if open.len() > 1 {
        let names: Vec<String> = open.iter().map(|known| known.id.to_string()).collect();
        return Err(Error::several_open(&names));
    }
    Ok(open.pop())
}

/// The clerk of a session, who knows how it stands.
fn clerk(place: &Workplace, known: &Known) -> Result<Arc<dyn Clerk>, Error> {
    let journal = place.look()?.ok_or_else(Error::never_run)?;
    let top = Meta::of(&journal, &known.id)?.home(&place.repository);
    told(&top, &place.dir, &journal, &known.id, &known.run, (None, None))
}

fn shows(clerk: &dyn Clerk, name: &str) -> String {
    clerk.artifact(name, &Situation::default()).unwrap_or_default()
}

/// Says where things stand, and what to do next.
fn tell(place: &Workplace, known: &Known, tone: Tone, out: &mut Output) -> Result<Exit, Error> {
    let clerk = clerk(place, known)?;
    let (status, phase) = (shows(&*clerk, "status"), shows(&*clerk, "phase"));
    let gates = known.run.gates().len();
    if tone == Tone::Json {
        let next = shows(&*clerk, "next");
        out.json(&serde_json::json!({
            "run": known.id.as_str(), "phase": phase, "status": status, "next": next, "gates": gates,
        }))?;
        return Ok(Exit::Done);
    }
    out.line(&crate::render::clean_lines(&status))?;
    if gates > 0 {
        let words = detect(
            &known.run.input_named("task").map_or(String::new(), Value::to_string),
            Lang::ENGLISH,
        );
        out.line(&Words::in_lang(words).say("ask-waits", &[]))?;
    } else {
        out.line(&shows(&*clerk, "next"))?;
    }
    Ok(Exit::Done)
}

/// A task is given while one is under way.
fn another(
    place: Workplace,
    known: Known,
    task: String,
    asked: &Asked,
    style: &'static str,
    tone: Tone,
    out: &mut Output,
) -> Result<Exit, Error> {
    let words = Words::in_lang(detect(&task, Lang::ENGLISH));
    let slug = format::slug(&task);
    let clerk = clerk(&place, &known)?;
    let same = known.run.input_named("task") == Some(&Value::text(&task));
    if !ask::somebody() || tone == Tone::Json {
        if same {
            return go_on(place, &known, tone);
        }
        let id = known.id.as_str();
        return Err(Error::usage(format!("{id} is under way, and a directory has one task at a time"))
            .hint(format!("`windlass resume {id}` goes on with it; `windlass stop --cancel {id}` ends it, and keeps its work")));
    }
    out.note(&crate::render::clean_lines(&shows(&*clerk, "status")))?;
    let phase = shows(&*clerk, "phase");
    let fresh = free_slug(&place, &slug, &asked.output_dir())?;
    let args = [("phase", phase.as_str()), ("slug", fresh.as_str())];
    let (question, options): (_, &[[&str; 3]]) = match same {
        true => (
            "ask-same",
            &[
                ["resume", "ask-same-resume", "ask-same-resume-about"],
                ["new", "ask-same-new", "ask-same-new-about"],
            ],
        ),
        false => (
            "ask-session",
            &[
                ["resume", "ask-session-resume", "ask-session-resume-about"],
                ["restart", "ask-session-restart", "ask-session-restart-about"],
                ["stop", "ask-session-stop", "ask-session-stop-about"],
            ],
        ),
    };
    let choice = Choice { question, options, args: &args, usual: "resume" };
    let answer = choice.ask(words, |_| Err(choice.keys()))?;
    if answer == "resume" {
        return go_on(place, &known, tone);
    }
    cancel(place, &known)?;
    if answer == "stop" {
        return Ok(Exit::Stopped);
    }
    let place = Workplace::find_or_copy(Path::new("."))?;
    start(place, task, None, asked, Entry::Fresh(style), tone, out)
}

/// Ends a session for good. What it made is kept.
fn cancel(place: Workplace, known: &Known) -> Result<(), Error> {
    let held = place.take("windlass task")?;
    wish(&held, known, Wish::Cancel)
}

/// Has a session do something else.
fn wish(held: &Held, known: &Known, wish: Wish) -> Result<(), Error> {
    let mut engine = Engine::resume(&held.journal, known.id.clone())?;
    let begun = engine.begun();
    engine.decide(Input::Control { who: who().into(), wish })?;
    engine.leave(&begun);
    Ok(engine.commit(&mut Silent)?)
}

fn go_on(place: Workplace, known: &Known, tone: Tone) -> Result<Exit, Error> {
    let held = place.take("windlass task")?;
    let known = known::open(&held.journal, Some(known.id.as_str()))?;
    under_way::go_on(&held, known, tone)
}

/// What another program left here.
enum Earlier {
    /// A session without a version.
    First(Box<First>),
    /// One of 2.0.
    Open(Box<Open>),
}

/// What another program left here, if that can be gone on with.
fn left_here(place: &Workplace) -> Result<Option<Earlier>, Error> {
    // Whoever left it may have left anything.
    let text = Files::of(place.repository.top()).text(format::STATE).map_err(|flaw| {
        Error::usage(format!("an earlier session cannot be read: {flaw}"))
            .hint(format!("look at {} and move it out of the way", format::STATE))
    })?;
    let Some(text) = text else { return Ok(None) };
    let written = std::fs::read_to_string(place.dir.join("projected.json")).unwrap_or_default();
    if windlass_clerks::wrote(&written, format::STATE, &text) {
        return Ok(None);
    }
    Ok(match format::read(&text) {
        Ok(Left::Open(open)) => Some(Earlier::Open(open)),
        Ok(Left::First(first)) => Some(Earlier::First(first)),
        _ => None,
    })
}

/// A step of a session that is under way, or that another program left.
fn later(step: &Later, tone: Tone, out: &mut Output) -> Result<Exit, Error> {
    let place = Workplace::find_or_copy(Path::new("."))?;
    let Some(known) = open(&place)? else {
        let found = match left_here(&place)?.ok_or_else(|| step.not_yet())? {
            Earlier::Open(found) => found,
            Earlier::First(first) => {
                first::has_no_steps(&first.open.task, out)?;
                return first::begin(place, &first, None, tone, out);
            }
        };
        let docs = found.docs_path.trim_end_matches('/').to_owned();
        let top = place.repository.top();
        let papers = ["spec.md", "changes.md", "verify_report.md"];
        let have = papers.into_iter().filter(|name| top.join(&docs).join(name).is_file());
        let have: BTreeSet<String> = have.map(str::to_owned).collect();
        if step.papers.iter().any(|paper| !have.contains(*paper)) {
            return Err(step.not_yet());
        }
        let (task, asked) = (found.task.clone(), Asked::default());
        return start(place, task, Some(&found), &asked, Entry::At(step, have), tone, out);
    };
    if first::is_one(&place, &known)? {
        let task = known.run.input_named("task").map_or(String::new(), Value::to_string);
        first::has_no_steps(&task, out)?;
        return first::resume(place, &known, None, tone, out);
    }
    let clerk = clerk(&place, &known)?;
    let phase = shows(&*clerk, "phase");
    let reached = format::rank(&phase) >= format::rank(step.from);
    if !reached || step.papers.iter().any(|paper| shows(&*clerk, paper).is_empty()) {
        return Err(step.not_yet());
    }
    let held = place.take(&format!("windlass task {}", step.name))?;
    // What is over is done again; what comes next is gone on with.
    let next = match step.name {
        "generate" => "generate_ready",
        "verify" => "verify_ready",
        _ => "evaluate_ready",
    };
    let unit = known.run.units().next().map(|unit| unit.id);
    if format::rank(&phase) > format::rank(next)
        && known.run.standing() == Standing::Resting
        && let Some(unit) = unit
    {
        let stage = step.stage.to_owned();
        wish(&held, &known, Wish::Redo { target: Whose::Unit(unit), stage })?;
    }
    let known = known::open(&held.journal, Some(known.id.as_str()))?;
    under_way::go_on(&held, known, tone)
}

/// Where a new session begins.
enum Entry<'a> {
    /// At its beginning, in this style.
    Fresh(&'static str),
    /// At a step, with these papers.
    At(&'a Later, BTreeSet<String>),
}

/// Begins a session.
fn start(
    place: Workplace,
    task: String,
    found: Option<&Open>,
    asked: &Asked,
    entry: Entry<'_>,
    tone: Tone,
    out: &mut Output,
) -> Result<Exit, Error> {
    let words = Words::in_lang(detect(&task, Lang::ENGLISH));
    let output = asked.output_dir();
    if place.repository.top().join(&output).symlink_metadata().is_ok_and(|it| !it.is_dir()) {
        return Err(Error::usage(format!(
            "`{output}` is no directory, and papers are to go below it"
        ))
        .hint("name another with --output-dir, or move it out of the way"));
    }
    let goes_on = found.filter(|found| found.task == task);
    let asks = ask::somebody() && tone == Tone::Plain && goes_on.is_none();
    let mode = match (&asked.mode, goes_on.and_then(|open| open.mode.clone())) {
        (Some(mode), _) => mode.clone(),
        (None, Some(mode)) => mode,
        (None, None) if asks => mode(words)?,
        (None, None) => defaulted(words, ("mode", "standard", "--mode"), out)?,
    };
    let models = match (&asked.models, goes_on.and_then(|open| open.preset.clone())) {
        (Some(models), _) => models.clone(),
        (None, Some(preset)) => preset,
        (None, None) if asks && !has_preset(&place) => models(words)?,
        // What the project has settled is not asked about again.
        (None, None) if has_preset(&place) => "default".to_owned(),
        (None, None) => defaulted(words, ("models", "balanced", "--model-config"), out)?,
    };
    let slug = match goes_on {
        Some(open) => open.slug.clone(),
        None => free_slug(&place, &format::slug(&task), &asked.output_dir())?,
    };
    let branch = goes_on.and_then(|open| open.branch.clone());
    let branch = branch.unwrap_or_else(|| format!("harness/{slug}"));
    let mut inputs = asked.rest.clone();
    let (style, entry) = match entry {
        Entry::Fresh(style) => {
            (goes_on.and_then(|open| open.run_style.clone()).unwrap_or(style.to_owned()), None)
        }
        Entry::At(step, have) => (step.style.to_owned(), Some((step.name.to_owned(), have))),
    };
    let is_preset = ["default", "all-opus", "balanced", "economy"].contains(&models.as_str());
    let (models, triple) =
        if is_preset { (models, None) } else { ("custom".to_owned(), Some(models)) };
    inputs.extend([
        ("task".to_owned(), Value::text(&task)),
        ("slug".to_owned(), Value::text(&slug)),
        ("mode".to_owned(), Value::text(mode)),
        ("models".to_owned(), Value::text(models)),
        ("style".to_owned(), Value::text(style)),
    ]);
    inputs.extend(triple.map(|triple| ("triple".to_owned(), Value::text(triple))));
    if let Some(open) = goes_on {
        inputs.entry("scope".to_owned()).or_insert_with(|| Value::text(&open.scope));
        let most = Value::Number(i64::try_from(open.max_files).unwrap_or(20));
        inputs.entry("max_files".to_owned()).or_insert(most);
    }
    let held = place.take("windlass task")?;
    // Without git there is nothing to land on, and nothing lands: the change is given.
    let lands = if held.has_git { Lands::OnItsOwn(branch) } else { Lands::Here };
    let order =
        Order { flow: built_in(NAME)?, inputs, about: Some(slug), lands, entry, lanes: None };
    under_way::begin(&held, order, tone)
}

/// Whether the project's configuration says which models are wanted. What is wrong with it is said when it is read.
fn has_preset(place: &Workplace) -> bool {
    let text = std::fs::read_to_string(place.repository.top().join(crate::config::FILE));
    let config = text.ok().and_then(|text| Config::parse(&text).ok());
    config.is_some_and(|config| config.crew.preset.is_some())
}

/// What is taken where nobody can be asked, said aloud.
fn defaulted(
    words: Words,
    (name, value, flag): (&str, &str, &str),
    out: &mut Output,
) -> Result<String, Error> {
    let args = [("name", name), ("value", value), ("flag", flag)];
    out.note(&words.say("ask-default", &args))?;
    Ok(value.to_owned())
}

fn mode(words: Words) -> Result<String, Error> {
    let options = [
        ["standard", "ask-mode-standard", "ask-mode-standard-about"],
        ["single", "ask-mode-single", "ask-mode-single-about"],
        ["multi", "ask-mode-multi", "ask-mode-multi-about"],
    ];
    let choice = Choice { question: "ask-mode", options: &options, args: &[], usual: "standard" };
    choice.ask(words, |_| Err(choice.keys()))
}

fn models(words: Words) -> Result<String, Error> {
    let options = [
        ["default", "ask-models-default", "ask-models-default-about"],
        ["all-opus", "ask-models-all-opus", "ask-models-all-opus-about"],
        ["balanced", "ask-models-balanced", "ask-models-balanced-about"],
        ["economy", "ask-models-economy", "ask-models-economy-about"],
    ];
    let choice = Choice { question: "ask-models", options: &options, args: &[], usual: "balanced" };
    choice.ask(words, |other| Preset::parse(other).map(drop))
}

/// A name that no branch has.
fn free_slug(place: &Workplace, slug: &str, output: &str) -> Result<String, Error> {
    let harness = Branch::new("harness").map_err(|_| Error::defect())?;
    if place.has_git && place.repository.tip(&harness)?.is_some() {
        return Err(Error::here("there is a branch `harness`, so git can have none below it")
            .hint("rename it: git branch -m harness another-name"));
    }
    // Papers that are there already are somebody's, and those that an earlier task left are too.
    let papers = ["spec.md", "changes.md", "verify_report.md", "qa_report.md"];
    let has_papers = |name: &str| {
        let docs = place.repository.top().join(format::docs_path(output, name));
        papers.iter().any(|paper| docs.join(paper).symlink_metadata().is_ok())
    };
    for number in 1_u32.. {
        let name = if number == 1 { slug.to_owned() } else { format!("{slug}-{number}") };
        let branch = Branch::new(&format!("harness/{name}")).map_err(|_| Error::defect())?;
        let taken = place.has_git && place.repository.tip(&branch)?.is_some();
        if !taken && !has_papers(&name) {
            return Ok(name);
        }
    }
    Err(Error::defect())
}
