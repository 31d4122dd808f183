//! How much of the disk lanes take, and what is done before another unit would make it more than they may.
//!
//! Lanes whose unit has landed and lanes that nobody has are there to be used again, with what tools have made in them. Where
//! there is too little room those go first, as far as they are clean and landed; whatever else there is stays, and the run
//! pauses until a person has made room.

use std::time::{Duration, Instant};

use windlass_repo::When;

use crate::message::Trouble;
use crate::shop::{Shop, lock, unit_of};

/// Looking takes so small a part of the time at most.
const PART_OF_TIME: u32 = 20;

/// What lanes were found to take of the disk.
#[derive(Debug, Default)]
pub(crate) struct Gauge {
    looked: Option<(Instant, Duration)>,
}

impl Gauge {
    /// Whether it is worth looking again: the longer it takes, the less often.
    fn is_due(&self) -> bool {
        self.looked.is_none_or(|(at, took)| at.elapsed() >= took * PART_OF_TIME)
    }
}

/// Makes room before a unit begins, if lanes take more than they may; what was done for that, in words.
///
/// # Errors
///
/// When there is too little all the same: nothing else may go.
pub(crate) fn make(shop: &Shop, landed: &[String], now: When) -> Result<Option<String>, Trouble> {
    let mut gauge = lock(&shop.gauge);
    let most = shop.setup.lanes_bytes_max;
    if !gauge.is_due() {
        return Ok(None);
    }
    let began = Instant::now();
    let mut taken = shop.store.bytes_of_lanes();
    gauge.looked = Some((began, began.elapsed()));
    if taken <= most {
        return Ok(None);
    }
    // What there is too much of is looked at again the next time.
    gauge.looked = None;
    let over = |unit: &str| landed.iter().any(|own| own == unit);
    let idle = shop.take_idle(over);
    let mut removed = Vec::new();
    let reaped = idle.iter().try_for_each(|number| {
        if taken > most
            && let Some(bytes) = reap(shop, *number, over, now)?
        {
            taken = taken.saturating_sub(bytes);
            removed.push(format!("lane {number} ({})", in_words(bytes)));
        }
        Ok::<(), Trouble>(())
    });
    shop.give_back(idle);
    reaped?;
    if taken > most {
        return Err(Trouble::new(format!(
            "lanes take {} of the disk and may take {}, so nothing new is begun",
            in_words(taken),
            in_words(most)
        ))
        .next(
            "`windlass lanes list` says what is where: make room in them, or raise `[lanes] disk` in windlass.toml and commit \
             that; then `windlass resume`",
        ));
    }
    Ok((!removed.is_empty()).then(|| {
        let text = "to make room, lanes were removed that were clean and whose work has landed";
        format!("{text}: {}", removed.join(", "))
    }))
}

/// Removes a lane that is out of use, if it may go: how much of the disk that gives back.
fn reap(
    shop: &Shop,
    number: u32,
    over: impl Fn(&str) -> bool,
    now: When,
) -> Result<Option<u64>, Trouble> {
    if let Some(lane) = shop.store.pooled(number)?.and_then(|pooled| pooled.lane) {
        if lane.run != shop.run {
            return Ok(None);
        }
        let landed = over(unit_of(&lane.unit));
        shop.store.release_as(&lane, landed, now)?;
    }
    Ok(shop.store.reap(number)?)
}

/// Bytes as people say them.
fn in_words(bytes: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)];
    let unit = UNITS.into_iter().find(|(_, size)| bytes >= *size);
    match unit {
        Some((name, size)) => format!("{:.1} {name}", bytes as f64 / size as f64),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_said_as_people_say_them() {
        let said = [0, 999, 1_500, 20_000_000_000].map(in_words);
        assert_eq!(said, ["0 bytes", "999 bytes", "1.5 kB", "20.0 GB"]);
    }

    #[test]
    fn what_takes_long_is_not_looked_at_often() {
        let mut gauge = Gauge::default();
        assert!(gauge.is_due(), "nobody has looked");
        gauge.looked = Some((Instant::now(), Duration::from_secs(60)));
        assert!(!gauge.is_due());
        gauge.looked = Some((Instant::now(), Duration::ZERO));
        assert!(gauge.is_due());
    }
}
