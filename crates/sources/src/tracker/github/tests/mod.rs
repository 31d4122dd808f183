//! GitHub's client, against a pretended GitHub that was written apart from it.

mod issues;
mod pulls;
mod trouble;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use windlass_trackerkit::github::{self as pretended, REPOSITORY};

use super::*;
use crate::tracker::Pause;

/// What was waited for, in seconds.
type Waits = Arc<Mutex<Vec<u64>>>;

fn filter() -> Filter {
    Filter { project: REPOSITORY.to_owned(), team: None, label: "ready".to_owned() }
}

/// A client with a key, which waits for nothing and remembers for how long it would have.
fn with_key(there: &pretended::GitHub, key: &str) -> (GitHub, Waits) {
    let waits = Waits::default();
    let own = Arc::clone(&waits);
    let patience = move |pause: Pause| {
        own.lock().unwrap().push(pause.wait().as_secs());
        true
    };
    let settings = Settings {
        url: there.url(),
        project: REPOSITORY.to_owned(),
        answer_ms_max: 3000,
        ..Settings::default()
    };
    (GitHub::new(settings, key, Arc::new(patience)).unwrap(), waits)
}

fn github() -> (pretended::GitHub, GitHub, Waits) {
    let there = pretended::GitHub::start().unwrap();
    let (github, waits) = with_key(&there, "test-key");
    (there, github, waits)
}

fn marker() -> Marker {
    Marker::new("claim", "5f0c")
}
