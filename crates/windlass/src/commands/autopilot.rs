//! `windlass autopilot`: builds an approved spec phase by phase.

use std::collections::BTreeMap;
use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::path::{Component, Path, PathBuf};

use clap::{Args, Subcommand};
use windlass_clerks::autopilot;
use windlass_clerks::memory::Files;
use windlass_core::run::{Input, Phase};
use windlass_core::value::Value;
use windlass_engine::Engine;
use windlass_sources::autopilot::session_slug;

use super::workflow::built_in;
use crate::error::{Error, reading};
use crate::exit::Exit;
use crate::face::Tone;
use crate::known;
use crate::meta::Meta;
use crate::relay::Silent;
use crate::render::Output;
use crate::request::who;
use crate::under_way::{self, Lands, Order};
use crate::workplace::{Held, Workplace};

const NAME: &str = "autopilot";

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  windlass autopilot docs/scanner.md            plan, build, verify, review and land each phase
  windlass autopilot docs/scanner.md --fast     approve every plan, validate only
  windlass autopilot                            go on with the session that was left
  windlass autopilot plan                       plan the high-complexity phase that waits for it

The spec has a section `## Implementation Order` with a heading `### Phase N: Name` for each phase
and, if you like, `<!-- complexity: low|medium|high -->` below it. Flags are read when a session
begins, and stay as they were when it goes on.
"
)]
pub struct AutopilotArgs {
    /// The spec; without one, the session that is not over goes on
    #[arg(value_name = "SPEC")]
    spec: Option<PathBuf>,

    #[command(flatten)]
    flags: Flags,

    /// The branch to land on, instead of the one that is checked out
    #[arg(long, value_name = "BRANCH")]
    branch: Option<String>,

    /// Print every entry of the journal as a JSON line, and ask nothing
    #[arg(long)]
    json: bool,

    #[command(subcommand)]
    command: Option<AutopilotCommand>,
}

#[derive(Clone, Debug, Default, Args)]
struct Flags {
    /// Approve every plan, keep no scratchpad, validate only
    #[arg(long)]
    fast: bool,

    /// Approve skeletons first, review every plan, verify in depth
    #[arg(long)]
    thorough: bool,

    /// Review every plan
    #[arg(long)]
    review_plans: bool,

    /// The roadmap to keep in step
    #[arg(long, value_name = "FILE")]
    roadmap: Option<PathBuf>,
}

impl Flags {
    /// What the two flags say together; nothing further in looks at them again.
    fn rigor(&self) -> Result<Rigor, Error> {
        match (self.fast, self.thorough) {
            (true, true) => {
                Err(Error::usage("Cannot use --fast and --thorough together. Choose one."))
            }
            (true, false) => Ok(Rigor::Fast),
            (false, true) => Ok(Rigor::Thorough),
            (false, false) => Ok(Rigor::Standard),
        }
    }

    fn any(&self) -> bool {
        self.fast || self.thorough || self.review_plans || self.roadmap.is_some()
    }
}

/// How much is asked of each plan and phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rigor {
    Fast,
    Standard,
    Thorough,
}

impl Rigor {
    /// As the workflow's input has it.
    fn name(self) -> &'static str {
        match self {
            Rigor::Fast => "fast",
            Rigor::Standard => "standard",
            Rigor::Thorough => "thorough",
        }
    }
}

#[derive(Debug, Subcommand)]
enum AutopilotCommand {
    /// Plan the high-complexity phase that waits for a plan
    #[command(after_help = "Examples:\n  windlass autopilot plan\n")]
    Plan {
        /// Print every entry of the journal as a JSON line, and ask nothing
        #[arg(long)]
        json: bool,
    },
}

pub fn run(args: &AutopilotArgs, out: &mut Output) -> Result<Exit, Error> {
    let rigor = args.flags.rigor()?;
    let place = Workplace::find(Path::new("."))?;
    if let Some(AutopilotCommand::Plan { json }) = &args.command {
        return plan(place, Tone::of(*json));
    }
    let tone = Tone::of(args.json);
    let asked = match &args.spec {
        Some(spec) => Some(below(&place, spec)?),
        None => None,
    };
    let open = open(&place, asked.as_deref())?;
    match (open.as_slice(), asked) {
        ([id], _) => {
            if args.flags.any() {
                out.note(
                    "flags are read when a session begins: this one keeps those it began with",
                )?;
            }
            let held = place.take("windlass autopilot")?;
            let known = known::open(&held.journal, Some(id))?;
            under_way::go_on(&held, known, tone)
        }
        ([], Some(spec)) => begin(place, spec, rigor, args, tone),
        ([], None) => {
            let spec = ask_for_spec()?;
            let spec = below(&place, &spec)?;
            begin(place, spec, rigor, args, tone)
        }
        (several, _) => Err(Error::several_open(several)),
    }
}

/// Sessions that are not over: all, or those of a spec.
fn open(place: &Workplace, spec: Option<&str>) -> Result<Vec<String>, Error> {
    let Some(journal) = place.look()? else { return Ok(Vec::new()) };
    let slug = spec.map(session_slug);
    let mut open = Vec::new();
    for known in known::all(&journal)?.readable {
        let meta = Meta::of(&journal, &known.id)?;
        let own = meta.workflow == NAME && (slug.is_none() || meta.about == slug);
        if own && known.run.phase() != Phase::Ended {
            open.push(known.id.as_str().to_owned());
        }
    }
    Ok(open)
}

/// A path as it is from the top of the repository.
pub(super) fn below(place: &Workplace, path: &Path) -> Result<String, Error> {
    let outside = || {
        Error::usage(format!("{} is not inside of this repository", path.display()))
            .hint("go to the repository that it belongs to, or copy it into this one")
    };
    let here = std::env::current_dir().map_err(Error::output)?;
    let mut whole = PathBuf::new();
    for part in here.join(path).components() {
        match part {
            Component::ParentDir => {
                whole.pop();
            }
            Component::CurDir => {}
            other => whole.push(other),
        }
    }
    // The directory may be reached by another way than the one git knows.
    let parent = whole.parent().and_then(|parent| parent.canonicalize().ok());
    let whole = parent.zip(whole.file_name()).map_or(whole.clone(), |(dir, name)| dir.join(name));
    let top = place.repository.top();
    let top = top.canonicalize().unwrap_or_else(|_| top.to_owned());
    let inside = whole.strip_prefix(&top).map_err(|_| outside())?;
    inside.to_str().map(str::to_owned).ok_or_else(outside)
}

fn ask_for_spec() -> Result<PathBuf, Error> {
    let which =
        || Error::usage("which spec?").hint("give its path: windlass autopilot docs/my-feature.md");
    if !std::io::stdin().is_terminal() {
        return Err(which());
    }
    // Whether the question can be seen shows when it is answered.
    let _ = write!(anstream::stderr(), "Which spec? > ");
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).map_err(Error::output)?;
    let line = line.trim();
    if line.is_empty() { Err(which()) } else { Ok(PathBuf::from(line)) }
}

/// Begins a session, if its spec can be used.
fn begin(
    place: Workplace,
    spec: String,
    rigor: Rigor,
    args: &AutopilotArgs,
    tone: Tone,
) -> Result<Exit, Error> {
    let top = place.repository.top();
    let path = top.join(&spec);
    std::fs::metadata(&path).map_err(reading(path))?;
    autopilot::spec(&Files::of(top), &spec).map_err(|flaw| {
        Error::usage(format!("the spec cannot be used: {flaw}"))
            .hint(format!("{}; nothing was started", flaw.next_step()))
    })?;
    let roadmap = match &args.flags.roadmap {
        Some(path) => Some(below(&place, path)?),
        None => None,
    };
    let held = place.take(&format!("windlass autopilot {spec}"))?;
    let mut inputs = BTreeMap::from([
        ("spec".to_owned(), Value::text(&spec)),
        ("review_plans".to_owned(), Value::Flag(args.flags.review_plans)),
        ("rigor".to_owned(), Value::text(rigor.name())),
    ]);
    inputs.extend(roadmap.map(|path| ("roadmap".to_owned(), Value::text(path))));
    start(&held, &spec, inputs, args.branch.clone(), tone)
}

/// Starts a session about a spec.
pub fn start(
    held: &Held,
    spec: &str,
    inputs: BTreeMap<String, Value>,
    branch: Option<String>,
    tone: Tone,
) -> Result<Exit, Error> {
    let order = Order {
        flow: built_in(NAME)?,
        inputs,
        about: Some(session_slug(spec)),
        lands: Lands::on(branch),
        entry: None,
        lanes: None,
    };
    under_way::begin(held, order, tone)
}

/// Plans the phase that waits for a plan, and goes on.
fn plan(place: Workplace, tone: Tone) -> Result<Exit, Error> {
    let held = place.take("windlass autopilot plan")?;
    let mut waiting = Vec::new();
    for known in known::all(&held.journal)?.readable {
        let meta = Meta::of(&held.journal, &known.id)?;
        if meta.workflow == NAME && known.run.phase() != Phase::Ended {
            let wish = autopilot::plans_what_waits(&known.run);
            waiting.extend(wish.map(|wish| (known.id.clone(), wish)));
        }
    }
    let Some((id, wish)) = waiting.pop() else {
        return Err(Error::usage("no phase waits for a plan").hint(
            "`windlass autopilot SPEC.md` starts a session, `windlass status` tells where one is",
        ));
    };
    let mut engine = Engine::resume(&held.journal, id.clone())?;
    let begun = engine.begun();
    engine.decide(Input::Control { who: who().into(), wish })?;
    engine.leave(&begun);
    engine.commit(&mut Silent)?;
    drop(engine);
    let known = known::open(&held.journal, Some(id.as_str()))?;
    under_way::go_on(&held, known, tone)
}
