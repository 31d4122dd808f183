//! A run under way: the loop with its hands, its face, the socket for other terminals, and the signals.

use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use windlass_core::run::{
    Answer, EffectId, GateId, Input, OpenGate, Phase, Refused, Run, Stamp, Standing, Start, Wish,
    start,
};
use windlass_core::value::Value;
use windlass_core::workflow::{RunOutcome, Workflow};
use windlass_engine::books::Books;
use windlass_engine::clerk::{Clerk, Situation};
use windlass_engine::clock::wall_ms;
use windlass_engine::entry::{Entry, Note};
use windlass_engine::foresight::Policy;
use windlass_engine::hands::Workers;
use windlass_engine::message::{Face, Message, Patience};
use windlass_engine::{Engine, Left};
use windlass_journal::{Journal, RunId, Server};
use windlass_repo::{Branch, Oid};

use crate::earlier;
use crate::editor;
use crate::error::Error;
use crate::exit::Exit;
use crate::face::{Terminal, Tone};
use crate::known::Known;
use crate::landed;
use crate::learned;
use crate::meta::Meta;
use crate::prepared::{Onto, Prepared};
use crate::progress::Chronicle;
use crate::render::clean;
use crate::replay::told;
use crate::request::{Request, Response};
use crate::spoken::spoken;
use crate::tracker;
use crate::workplace::Held;

/// A run that is to be begun.
pub struct Order {
    pub flow: Arc<Workflow>,
    pub inputs: BTreeMap<String, Value>,
    /// What it is about: two runs about the same are not open at once.
    pub about: Option<String>,
    /// Where it lands.
    pub lands: Lands,
    /// Where its units begin, for a sub-command, and the artifacts that are there already.
    pub entry: Option<(String, BTreeSet<String>)>,
    /// The input that gets as many lanes as make sense here, where nobody says how many.
    pub lanes: Option<&'static str>,
}

/// Where a run lands.
pub enum Lands {
    /// Where the configuration says, or else on the branch that is checked out.
    Here,
    /// On this branch.
    On(String),
    /// On this one, which is its own.
    OnItsOwn(String),
}

impl Lands {
    /// What a person says, if they say anything.
    pub fn on(branch: Option<String>) -> Self {
        branch.map_or(Lands::Here, Lands::On)
    }

    fn onto(&self) -> Onto<'_> {
        match self {
            Lands::Here => Onto::Here,
            Lands::On(branch) => Onto::Branch(branch),
            Lands::OnItsOwn(branch) => Onto::Own(branch, None),
        }
    }
}

/// Begins a run, and drives it until nothing more can be done.
pub fn begin(held: &Held, order: Order, tone: Tone) -> Result<Exit, Error> {
    begin_with(held, order, tone, |_| Vec::new())
}

/// The same, where somebody looks first at what it is done with: what they remark is said at its beginning.
pub fn begin_with(
    held: &Held,
    order: Order,
    tone: Tone,
    remarks: impl FnOnce(&Prepared) -> Vec<String>,
) -> Result<Exit, Error> {
    let Order { flow, mut inputs, about, lands, entry, lanes } = order;
    let mut told = held.take_stock()?;
    let prepared = held.prepare(lands.onto())?;
    prepared.suffices(&flow)?;
    let arrived = earlier::arrives(held, &prepared).map_err(|cause| held.explained(cause))?;
    let prepared = match arrived.is_empty() {
        true => prepared,
        // What has just landed is what this begins with.
        false => {
            drop(prepared);
            let prepared = held.prepare(lands.onto())?;
            prepared.suffices(&flow)?;
            prepared
        }
    };
    told.extend(arrived);
    if let Some(lanes) = lanes {
        inputs.entry(lanes.to_owned()).or_insert_with(|| prepared.sensible_lanes(&flow));
    }
    held.no_secrets(&prepared.config, &inputs)?;
    told.extend(remarks(&prepared));
    told.extend(learned::take_over(&flow)?);
    let id = next_id(held, &flow.name)?;
    let meta = Meta {
        workflow: flow.name.clone(),
        target: Some(prepared.target.to_string()),
        own_branch: matches!(lands, Lands::OnItsOwn(_)),
        base: Some(prepared.base.to_string()),
        about,
        author: Some(prepared.author.clone()),
        top: held.repository.top().to_str().map(str::to_owned),
    };
    let settings = prepared.settings(&flow);
    let (entry, have) = entry.unzip();
    let have = have.unwrap_or_default();
    let first = Start { run: id.as_str().into(), inputs, entry, have, settings };
    let events = start(flow, Stamp { mono_ms: 0, wall_ms: wall_ms() }, first)?;
    let mut engine = Engine::begin(&held.journal, id.clone(), &meta.bytes()?, events)?;
    engine.taken_up(prepared.target.as_str(), prepared.isolation.in_words());
    drive(held, prepared, &id, engine, (BTreeSet::new(), told), tone)
        .map_err(|cause| paused(held, &id, cause))
}

/// Goes on with a run, and drives it until nothing more can be done.
pub fn go_on(held: &Held, known: Known, tone: Tone) -> Result<Exit, Error> {
    let Known { id, run, books } = known;
    let meta = Meta::of(&held.journal, &id)?;
    meta.is_at_home(&id, run.workflow(), &held.repository)?;
    if let Some(base) = meta.base.as_deref().and_then(|base| Oid::parse(base).ok())
        && !held.repository.has(&base)?
    {
        let what = format!(
            "{id} began at commit {base}, which this repository has not got: it was another repository's"
        );
        return Err(Error::usage(what).hint(format!(
            "`windlass stop --cancel {id}` ends it; nothing of it is in this repository"
        )));
    }
    // One that was cut off at its very end has files to be written and lanes to be freed.
    if run.phase() == Phase::Ended && books.is_tidy() {
        return Err(Error::over(id.as_str(), &meta.workflow));
    }
    branch_is_there(held, &id, &meta, &books)?;
    let mut prepared = held.prepare(meta.onto())?;
    if let Some(author) = meta.author {
        prepared.author = author;
    }
    let mut engine = Engine::resume(&held.journal, id.clone())?;
    let begun = engine.begun();
    engine.taken_up(prepared.target.as_str(), prepared.isolation.in_words());
    take_up(&mut engine, &prepared)
        .and_then(|()| drive(held, prepared, &id, engine, (begun, Vec::new()), tone))
        .map_err(|cause| paused(held, &id, cause))
}

/// Whether the branch that a run lands on is still there; if not, where what landed on it is, and how to have it again.
fn branch_is_there(held: &Held, id: &RunId, meta: &Meta, books: &Books) -> Result<(), Error> {
    let Some(branch) = meta.target.as_deref().filter(|_| !meta.own_branch) else { return Ok(()) };
    let named = Branch::new(branch).map_err(|_| Error::defect())?;
    let landed = books.landings().iter().rev().find(|it| it.waits.is_none());
    let last = landed.map(|it| it.commit.as_str()).or(meta.base.as_deref());
    let Some(last) = last.and_then(|last| Oid::parse(last).ok()) else { return Ok(()) };
    if held.repository.has_branch(&named)? {
        return Ok(());
    }
    let mut on = held.repository.branches_with(&last).unwrap_or_default();
    on.truncate(3);
    let on: Vec<String> = on.iter().map(|name| format!("`{}`", clean(name))).collect();
    let on = match on.is_empty() {
        true => String::new(),
        false => format!("; what it had last is on {}", on.join(", ")),
    };
    Err(Error::here(format!("the branch `{branch}`, which {id} lands on, is gone{on}")).hint(
        format!("rename it back, or make it again with `git branch {branch} {last}`; then `windlass resume {id}`"),
    ))
}

/// Once there is a run, whatever goes wrong, it can be resumed.
fn paused(held: &Held, id: &RunId, cause: Error) -> Error {
    Error::paused(id.as_str(), held.explained(cause))
}

/// The next free number for a workflow in this repository.
pub fn next_id(held: &Held, workflow: &str) -> Result<RunId, Error> {
    let taken: BTreeSet<String> =
        held.journal.runs()?.into_iter().map(|run| run.id.as_str().to_owned()).collect();
    let free = (1_u64..).map(|n| format!("{workflow}-{n}")).find(|id| !taken.contains(id));
    free.and_then(|id| id.parse().ok()).ok_or_else(Error::defect)
}

/// The loop with everything around it. An earlier process has begun `begun` and not finished it; `slips` are to be told.
fn drive(
    held: &Held,
    prepared: Prepared,
    id: &RunId,
    mut engine: Engine<'_>,
    (begun, mut slips): (BTreeSet<EffectId>, Vec<String>),
    tone: Tone,
) -> Result<Exit, Error> {
    let (sender, inbox) = channel();
    // Without one, what a killed Windlass leaves behind is there until the next one starts.
    let _ = std::env::current_exe().and_then(|windlass| held.spawner.keep(&windlass));
    let target = prepared.target.to_string();
    engine.serialises(prepared.config.lanes.policy() == Policy::Serialise);
    slips.extend(prepared.slips(engine.run().workflow()));
    slips.extend(prepared.less_isolated());
    slips.extend(prepared.config.crew().dear_verifier());
    let agents = prepared.config.agents.iter();
    slips.extend(agents.filter_map(|(name, kind)| Some(format!("{name} {}", kind.advice()?))));
    held.free_lanes(&prepared.store, id)?;
    let before = landed::before(held, engine.run().workflow(), Some(id), &prepared.target)?;
    let (top, project) = (held.repository.top(), prepared.project(before));
    let issues = &prepared.config.issues;
    let mask = held.mask(&prepared.config);
    let tracked = tracker::of(engine.run(), issues, &held.repository, &target, mask)?;
    let known = (Some(&project), tracked.as_ref());
    let clerk = told(top, &held.dir, &held.journal, id, engine.run(), known)?;
    let state = (engine.run(), engine.books());
    let shop = Arc::new(prepared.shop(held, state, clerk.clone(), sender.clone())?);
    let mut hands = Workers::new(shop.clone(), &held.journal, begun);
    let server = serve(held, id, sender.clone())?;
    interrupts(sender.clone())?;
    let interactive = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let spoken = spoken(&held.journal, id, engine.run())?;
    let answers = interactive.then_some(sender);
    let so_far = Chronicle::of(&held.journal, id, engine.run().workflow())?;
    let mut face = Terminal::new(engine.run(), &target, tone, answers, (spoken, so_far));
    face.begins(engine.run());
    for slip in slips {
        face.says(&slip);
    }
    if held.left_behind > 0 {
        face.left_behind(held.left_behind);
    }
    let mut face = Watched { top: held.repository.top(), face, clerk, journal: &held.journal };
    let left = engine.drive(inbox, &mut hands, &mut face);
    drop(server);
    if left.is_err() {
        face.face.gone();
    }
    let left = left?;
    if engine.run().phase() == Phase::Ended {
        let mut kept = shop.tidy_up(engine.run(), engine.books(), engine.now())?;
        kept.notes.push(Note::Tidied);
        for said in face.clerk.over() {
            face.face.says(&said);
        }
        engine.note(kept);
        engine.commit(&mut face)?;
    } else {
        for said in face.clerk.left() {
            face.face.says(&said);
        }
    }
    for (unit, _, command) in engine.books().waiting() {
        face.face.not_taken(unit, command);
    }
    face.face.ends(engine.run(), left);
    Ok(exit(left, engine.run()))
}

/// A terminal, and the clerk, who looks on as well.
struct Watched<'j> {
    top: &'j Path,
    face: Terminal,
    clerk: Arc<dyn Clerk>,
    journal: &'j Journal,
}

impl Face for Watched<'_> {
    fn entry(&mut self, entry: &Entry, run: &Run) {
        self.face.entry(entry, run);
        let blobs = |digest: &str| self.journal.get(digest.parse().ok()?).ok();
        self.clerk.entry(entry, run, &blobs);
    }

    fn settled(&mut self, run: &Run) {
        for said in self.clerk.flush() {
            self.face.says(&said);
        }
        self.face.shows(run);
    }

    fn waits(&mut self, run: &Run, shows: &dyn Fn(&OpenGate) -> String) -> Patience {
        let file = |gate: &OpenGate| {
            let stage = run.workflow().stage(gate.stage);
            let may = gate.options.iter().any(|option| option.key == "edited");
            let at = Situation { stage: stage.name.clone(), ..Situation::default() };
            let path = stage.sees.iter().find_map(|name| self.clerk.path(name, &at));
            path.filter(|_| may && editor::named().is_some()).map(|path| self.top.join(path))
        };
        self.face.waits_with(run, shows, &file)
    }
}

/// Goes on with a run: with the caps that the configuration has by now, as far as they are higher.
fn take_up(engine: &mut Engine<'_>, prepared: &Prepared) -> Result<(), Error> {
    let who: Arc<str> = crate::request::who().into();
    let now = prepared.settings(engine.run().workflow()).caps;
    let caps = engine.run().caps().or_higher(&now);
    if engine.run().phase() != Phase::Ended && caps != *engine.run().caps() {
        let wish = Wish::Raise(caps);
        // A run that is about to end needs no caps any more.
        let _finishing = engine.decide(Input::Control { who: who.clone(), wish });
    }
    if engine.run().phase() != Phase::Ended && engine.run().standing().exit_code().is_some() {
        engine.decide(Input::Control { who, wish: Wish::Resume(None) })?;
    }
    Ok(())
}

/// The exit code for how a run was left.
fn exit(left: Left, run: &Run) -> Exit {
    match left {
        Left::Interrupted => Exit::Interrupted,
        Left::Standing(_) => standing_exit(run).unwrap_or(Exit::Stopped),
    }
}

/// The exit code for how a run stands, unless it can go on by itself. One that came to its end is done only if all of
/// its units are.
pub fn standing_exit(run: &Run) -> Option<Exit> {
    let standing = run.standing();
    let tally = run.tally();
    if standing == Standing::Ended(RunOutcome::Done) && tally.failed + tally.blocked > 0 {
        return Some(Exit::Failed);
    }
    let code = standing.exit_code()?;
    Some(Exit::ALL.into_iter().find(|exit| exit.code() == code).unwrap_or(Exit::Error))
}

/// Takes what people at other terminals have to say.
fn serve(held: &Held, id: &RunId, inbox: Sender<Message>) -> Result<Server, Error> {
    let own = id.as_str().to_owned();
    let inbox = std::sync::Mutex::new(inbox);
    let handler = move |bytes: Vec<u8>| {
        let inbox = inbox.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        let response = match serde_json::from_slice(&bytes) {
            Ok(request) => handle(&own, request, &inbox),
            Err(error) => Response::Refused(format!("the request cannot be read: {error}")),
        };
        serde_json::to_vec(&response).unwrap_or_default()
    };
    Ok(Server::bind(held.lock.clone(), handler)?)
}

fn handle(own: &str, request: Request, inbox: &Sender<Message>) -> Response {
    let (reply, wait) = channel();
    let (run, message) = match request {
        Request::Answer { run, gate, option, text, who } => {
            (run, Message::Answer(Box::new(answer(gate, option, text, &who)), reply))
        }
        Request::Wish { run, who, wish } => {
            (run, Message::Wish { who, wish: Box::new(wish), reply })
        }
    };
    if run != own {
        return Response::Refused(format!("this Windlass is doing {own}, not {run}"));
    }
    let gone = || Response::Refused("the run has just ended: ask again".to_owned());
    if inbox.send(message).is_err() {
        return gone();
    }
    match wait.recv() {
        Ok(taken) => respond(taken),
        Err(_) => gone(),
    }
}

/// What to tell whoever asked.
pub fn respond(taken: Result<(), Refused>) -> Response {
    match taken {
        Ok(()) => Response::Taken,
        Err(refused) => Response::Refused(refused.to_string()),
    }
}

/// An answer as the core takes it.
pub fn answer(gate: u32, option: Option<String>, text: Option<String>, who: &str) -> Answer {
    Answer { gate: GateId(gate), option, text, who: who.into(), shown: "".into(), subject: None }
}

/// Ctrl-C and the like end the process in good order; a second one does not wait.
fn interrupts(inbox: Sender<Message>) -> Result<(), Error> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals =
        signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(Error::output)?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            tracker::nobody_waits();
            if inbox.send(Message::Interrupt).is_err() {
                // The loop is gone already: what the signal does by itself is what is wanted.
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
        }
    });
    Ok(())
}
