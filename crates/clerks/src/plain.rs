//! The clerk of a workflow that keeps nothing: all that it knows is which language the run is spoken in.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use windlass_core::run::Run;
use windlass_engine::clerk::{Blobs, Clerk, Nobody, Situation, Told};
use windlass_engine::entry::Entry;
use windlass_engine::message::Trouble;
use windlass_engine::shop::lock;
use windlass_sources::task::HARNESS;
use windlass_sources::{Reading, SourceError};

use crate::Place;
use crate::spoken::Spoken;

pub(crate) struct Plain {
    spoken: Mutex<Spoken>,
}

impl Plain {
    pub(crate) fn new(at: &Place<'_>) -> Self {
        Plain { spoken: Mutex::new(Spoken::at_first(at.run, at.lang)) }
    }
}

impl Clerk for Plain {
    fn entry(&self, entry: &Entry, _: &Run, _: Blobs<'_>) {
        lock(&self.spoken).enter(entry);
    }

    fn language(&self) -> Option<String> {
        lock(&self.spoken).for_agents()
    }

    fn flush(&self) -> Vec<String> {
        Nobody.flush()
    }

    fn read(&self, name: &str, at: &Situation) -> Result<Option<Reading>, SourceError> {
        Nobody.read(name, at)
    }

    fn tell(&self, name: &str, at: &Situation) -> Result<Told, Trouble> {
        Nobody.tell(name, at)
    }

    fn artifact(&self, name: &str, at: &Situation) -> Option<String> {
        Nobody.artifact(name, at)
    }

    fn path(&self, name: &str, at: &Situation) -> Option<String> {
        Nobody.path(name, at)
    }

    fn papers(&self) -> BTreeMap<String, Arc<[u8]>> {
        Nobody.papers()
    }

    fn apart(&self) -> Vec<String> {
        Nobody.apart()
    }

    /// It has no session; those of others are not its to change.
    fn untouchable(&self) -> Vec<String> {
        vec![HARNESS.to_owned()]
    }
}
