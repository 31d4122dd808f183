//! A run under way: the loop with its hands, its face, the socket for other terminals, and the signals.

use std::collections::BTreeSet;
use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use windlass_clerks::Desk;
use windlass_core::lang::Catalogue;
use windlass_core::run::{
    Answer, GateId, Input, OpenGate, Phase, Recorded, Refused, Run, Standing, Wish,
};
use windlass_core::workflow::RunOutcome;
use windlass_engine::clerk::Clerk;
use windlass_engine::entry::{Entry, Note};
use windlass_engine::hands::Workers;
use windlass_engine::message::{Face, Message, Patience};
use windlass_engine::{Engine, Left};
use windlass_journal::{Journal, RunId, Server};

use crate::clerks::{self, Meta};
use crate::error::Error;
use crate::exit::Exit;
use crate::face::{Terminal, Tone};
use crate::request::{Request, Response};
use crate::workplace::{Held, Prepared};

/// How a session begins.
pub enum Beginning {
    /// With a new run.
    New { id: RunId, meta: Meta, events: Vec<Recorded> },
    /// With one that was left.
    Again { id: RunId },
}

/// Drives a run until nothing more can be done.
pub fn go(
    held: &Held,
    prepared: Prepared,
    catalogue: Catalogue,
    beginning: Beginning,
    tone: Tone,
) -> Result<Exit, Error> {
    let (id, engine, fresh) = match beginning {
        Beginning::New { id, meta, events } => {
            let meta = serde_json::to_vec(&meta).map_err(|_| Error::Defect)?;
            let engine = Engine::begin(&held.journal, id.clone(), &meta, events)?;
            (id, engine, true)
        }
        Beginning::Again { id } => {
            let engine = Engine::resume(&held.journal, id.clone())?;
            (id, engine, false)
        }
    };
    drive(held, prepared, catalogue, &id, engine, fresh, tone).map_err(|cause| Error::Paused {
        run: id.to_string(),
        cause: Box::new(held.explained(cause)),
    })
}

/// From here on there is a run: whatever goes wrong, it can be resumed.
fn drive(
    held: &Held,
    prepared: Prepared,
    catalogue: Catalogue,
    id: &RunId,
    mut engine: Engine<'_>,
    fresh: bool,
    tone: Tone,
) -> Result<Exit, Error> {
    let (sender, inbox) = channel();
    let begun = if fresh { BTreeSet::new() } else { engine.begun() };
    engine.taken_up(prepared.target.as_str());
    if !fresh {
        take_up(&mut engine, &prepared)?;
    }
    let target = prepared.target.to_string();
    let slips = prepared.slips(engine.run().workflow());
    held.free_lanes(&prepared.store, id)?;
    let base = Meta::of(&held.journal, id)?.base.unwrap_or_default();
    let clerk = windlass_clerks::clerk(&Desk {
        top: held.repository.top(),
        state: &held.dir,
        base: &base,
        run: engine.run(),
    });
    clerks::feed(&*clerk, &held.journal, id)?;
    let shop = held.shop(
        prepared,
        engine.run(),
        engine.books(),
        catalogue,
        clerk.clone(),
        sender.clone(),
    )?;
    let shop = Arc::new(shop);
    let tidy = shop.clone();
    let mut hands = Workers::new(shop, &held.journal, begun);
    let server = serve(held, id, sender.clone())?;
    interrupts(sender.clone())?;
    let interactive = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let mut face = Terminal::new(engine.run(), &target, tone, interactive.then_some(sender));
    face.begins(engine.run());
    for slip in slips {
        face.says(&slip);
    }
    if held.left_behind > 0 {
        face.says(&format!("ended {} processes that were left behind", held.left_behind));
    }
    let mut face = Watched { face, clerk, journal: &held.journal };
    let left = engine.drive(inbox, &mut hands, &mut face);
    drop(server);
    if left.is_err() {
        face.face.gone();
    }
    let left = left?;
    if engine.run().phase() == Phase::Ended {
        let mut kept = tidy.tidy_up(engine.run(), engine.books(), engine.now())?;
        kept.notes.push(Note::Tidied);
        engine.note(kept);
        engine.commit(&mut face)?;
    }
    for (unit, _, command) in engine.books().waiting() {
        let unit = unit.map_or(String::new(), |unit| format!("{unit}: "));
        face.face.says(&format!("{unit}not taken yet: {command}"));
    }
    face.face.ends(engine.run(), left);
    Ok(exit(left, engine.run()))
}

/// A terminal, and the clerk, who looks on as well.
struct Watched<'j> {
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

    fn waits(&mut self, gates: &[OpenGate], shows: &dyn Fn(&OpenGate) -> String) -> Patience {
        self.face.waits_with(gates, shows)
    }
}

/// Goes on with a run: with the caps that the configuration has by now, as far as they are higher.
fn take_up(engine: &mut Engine<'_>, prepared: &Prepared) -> Result<(), Error> {
    let who: Arc<str> = crate::request::who().into();
    let now = prepared.config.settings(engine.run().workflow()).caps;
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
            (run, Message::Wish { who, wish: Box::new(wish.wish()), reply })
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
        signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(Error::Output)?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            if inbox.send(Message::Interrupt).is_err() {
                // The loop is gone already: what the signal does by itself is what is wanted.
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
        }
    });
    Ok(())
}
