//! Hands a request to the Windlass that holds the repository; where nobody does, takes it up itself.

use std::time::Duration;

use windlass_core::run::{Input, OpenGate, Run};
use windlass_engine::Engine;
use windlass_engine::clerk::Clerk;
use windlass_engine::entry::Entry;
use windlass_engine::gate::Reception;
use windlass_engine::message::{Face, Patience};
use windlass_journal::{AskError, Journal, ask};
use windlass_repo::{Settings, Store};

use crate::error::Error;
use crate::known;
use crate::meta::Meta;
use crate::replay::told;
use crate::request::{Request, Response};
use crate::under_way;
use crate::workplace::Workplace;

/// Whoever is there answers at once or not at all.
const PATIENCE: Duration = Duration::from_secs(30);

/// What became of a request that was taken.
pub struct Taken {
    /// What there is to say about it.
    pub said: Vec<String>,
    /// Somebody is at work, and goes on by themselves.
    pub under_way: bool,
}

/// Has a request taken, and on record, before it returns. What there is to say about what follows from it: whoever is at
/// work says that itself.
pub fn send(place: Workplace, request: Request) -> Result<Taken, Error> {
    let bytes = serde_json::to_vec(&request).map_err(|_| Error::defect())?;
    let (response, taken) = match ask(&place.dir, &bytes, PATIENCE) {
        Ok(bytes) => {
            let response = serde_json::from_slice(&bytes).map_err(|_| Error::defect())?;
            (response, Taken { said: Vec::new(), under_way: true })
        }
        Err(AskError::Nobody) => {
            let (response, said) = here(place, request)?;
            (response, Taken { said, under_way: false })
        }
        Err(error) => return Err(error.into()),
    };
    match response {
        Response::Taken => Ok(taken),
        Response::Refused(why) => Err(Error::not_taken(why)),
    }
}

/// Nobody holds the repository: takes the lock, appends, brings the files up to date, and leaves.
fn here(place: Workplace, request: Request) -> Result<(Response, Vec<String>), Error> {
    let held = place.take("windlass answer")?;
    let (Request::Answer { run, .. } | Request::Wish { run, .. }) = &request;
    let id = known::open(&held.journal, Some(run))?.id;
    let top = Meta::of(&held.journal, &id)?.home(&held.repository);
    let mut engine = Engine::resume(&held.journal, id.clone())?;
    let begun = engine.begun();
    let clerk = told(&top, &held.dir, &held.journal, &id, engine.run(), (None, None))?;
    let taken = match request {
        Request::Answer { gate, option, text, who, .. } => {
            let answer = under_way::answer(gate, option, text, &who);
            let store = Store::open(held.repository.clone(), &held.dir, Settings::default())?;
            store.recover()?;
            let at = Reception { clerk: &*clerk, journal: &held.journal, store: Some(&store) };
            engine.answer(answer, &at)?
        }
        Request::Wish { who, wish, .. } => engine.decide(Input::Control { who: who.into(), wish }),
    };
    // What follows from it is for whoever resumes the run to begin.
    engine.leave(&begun);
    // Whoever reads the files until then must not find a question in them that has been answered.
    engine.commit(&mut Looking { clerk: &*clerk, journal: &held.journal })?;
    Ok((under_way::respond(taken), clerk.flush()))
}

/// Only the clerk looks on.
struct Looking<'a> {
    clerk: &'a dyn Clerk,
    journal: &'a Journal,
}

impl Face for Looking<'_> {
    fn entry(&mut self, entry: &Entry, run: &Run) {
        let blobs = |digest: &str| self.journal.get(digest.parse().ok()?).ok();
        self.clerk.entry(entry, run, &blobs);
    }

    fn waits(&mut self, _: &Run, _: &dyn Fn(&OpenGate) -> String) -> Patience {
        Patience::Leave
    }
}

/// Nobody looks on.
pub struct Silent;

impl Face for Silent {
    fn entry(&mut self, _: &Entry, _: &Run) {}

    fn waits(&mut self, _: &Run, _: &dyn Fn(&OpenGate) -> String) -> Patience {
        Patience::Leave
    }
}
