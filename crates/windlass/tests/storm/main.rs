//! Storms: one story with retries, a gate, a conflict, a moved base and landings, cut off everywhere it can be; and
//! others, of autopilot, of a task that is mended by a patch, of a mission, of a loop over issues and of work on Plans.md.
//!
//! A seeded sample of everything is part of the ordinary tests. `scripts/storm` does all of it and keeps what it has
//! seen in `target/storm`, so that it can be stopped and taken up again.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod autofix;
mod beside;
#[path = "../shared/bubblewrap.rs"]
mod bubblewrap;
mod copies;
mod disk;
mod imprint;
mod issues;
mod kills;
mod mission;
mod pilot;
mod place;
mod results;
mod task;
mod traced;
mod usher;
mod work;

/// Numbers that look random and are the same each time: what was tried can be tried again.
pub struct Dice(u64);

impl Dice {
    /// From a seed.
    pub fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    /// A number below this one.
    pub fn below(&mut self, end: usize) -> usize {
        // Knuth's constants for a linear congruential generator; its high bits are good enough here.
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    /// So many different numbers below this one, in order.
    pub fn sample(&mut self, end: usize, count: usize) -> Vec<usize> {
        let mut picked = std::collections::BTreeSet::new();
        while picked.len() < count.min(end) {
            picked.insert(self.below(end));
        }
        picked.into_iter().collect()
    }
}

/// `WINDLASS_STORM_PART=0/2`: the first of two parts that are done side by side.
pub fn part() -> (usize, usize) {
    let text = std::env::var("WINDLASS_STORM_PART").unwrap_or("0/1".to_owned());
    let (part, parts) = text.split_once('/').unwrap();
    (part.parse().unwrap(), parts.parse().unwrap())
}

/// The story as it is when nothing cuts it off.
pub fn whole(tale: place::Tale) -> place::Seen {
    let dir = tempfile::tempdir().unwrap();
    let place = place::Place::new(tale, &dir.path().join("place"));
    place.finish().unwrap();
    place.seen()
}
