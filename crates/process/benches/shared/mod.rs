//! What both benches measure with.

use std::time::{Duration, Instant};

pub fn timed(work: impl FnOnce()) -> Duration {
    let from = Instant::now();
    work();
    from.elapsed()
}

pub fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort();
    times[times.len() * percent / 100]
}
