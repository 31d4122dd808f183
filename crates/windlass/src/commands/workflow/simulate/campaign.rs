//! Many runs over all cores. Which core takes which seed is left to chance, and what they come to is
//! the same in any order.

use std::num::NonZero;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Instant;

use windlass_core::workflow::Workflow;
use windlass_sim::{Coverage, Plan, Totals, campaign};

use crate::render::{Progress, Sum};

/// Runs that a core takes at a time: few enough that the last ones are shared fairly.
const BLOCK: u64 = 16;

pub fn run(flow: &Arc<Workflow>, plan: &Plan, seed: u64, runs: u32) -> Sum {
    let started = Instant::now();
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let total = u64::from(runs);
    let taken = AtomicU64::new(0);
    let mut totals = Totals { coverage: Coverage::of(flow), ..Totals::default() };
    let mut progress = Progress::of(total);
    thread::scope(|scope| {
        let (report, reports) = mpsc::channel();
        for _ in 0..cores {
            let (report, taken) = (report.clone(), &taken);
            scope.spawn(move || {
                while let Some(block) = next(taken, total) {
                    let seeds = block.map(|offset| seed.wrapping_add(offset));
                    // Nobody is left to report to only when the other side has panicked.
                    if report.send(campaign(flow, plan, seeds)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(report);
        for block in reports {
            totals.merge(block);
            progress.advance(totals.runs);
        }
    });
    progress.clear();
    totals.failures.sort_by_key(|(failed, _)| failed.wrapping_sub(seed));
    Sum { totals, seed, took: started.elapsed() }
}

/// The next runs that nobody has taken.
fn next(taken: &AtomicU64, total: u64) -> Option<Range<u64>> {
    let start = taken.fetch_add(BLOCK, Ordering::Relaxed);
    (start < total).then(|| start..total.min(start + BLOCK))
}
