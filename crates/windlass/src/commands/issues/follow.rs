//! Following: whoever waits for new issues, how they are told to stop or of something new, and how long they wait.

use std::fs::{File, TryLockError};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use windlass_clerks::issues::{All, select};
use windlass_sources::Back;
use windlass_sources::tracker::Pause;

use super::{StartArgs, config, known, left, mask, wanted};
use crate::config::IssuesConfig;
use crate::error::Error;
use crate::render::{Output, clean};
use crate::tracker;
use crate::webhook::Webhook;
use crate::workplace::Workplace;

/// What is held by whoever follows, below the directory in which Windlass remembers things. Something in it is a wish to stop.
const MARK: &str = "issues/following";

/// A tracker that does not answer is asked again at least this often.
const LONGEST_MS: u64 = 15 * 60 * 1000;

/// Whoever waits looks this often whether they are to stop.
const LOOKS_MS: u64 = 250;

const TOLD_TO_STOP: &str = "told to stop: no more issues are waited for";

/// Somebody follows here, until this is dropped.
pub struct Following {
    mark: File,
    webhook: Option<Webhook>,
}

fn mark(place: &Workplace) -> PathBuf {
    place.dir.join(MARK)
}

impl Following {
    /// From now on it is known here that somebody follows.
    pub fn begin(args: &StartArgs, place: &Workplace, out: &mut Output) -> Result<Self, Error> {
        let path = mark(place);
        let failed = |error| Error::unwritable(&path, error);
        std::fs::create_dir_all(path.parent().unwrap_or(&place.dir)).map_err(failed)?;
        let file = File::options().create(true).append(true).open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::not_taken("somebody follows here already")
                    .hint("`windlass issues stop` ends that"));
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        // What was wished of whoever followed before has come to its end with them.
        file.set_len(0).map_err(failed)?;
        // From the beginning, so that nothing is missed between two waits.
        Ok(Following { mark: file, webhook: listens(args, place, out)? })
    }

    fn is_to_stop(&self) -> bool {
        self.mark.metadata().is_ok_and(|found| found.len() > 0)
    }

    /// Waits until there is something to do: false if that is to be nothing any more. A tracker that has no answer is asked
    /// again, less and less often.
    pub fn waits(
        &self,
        args: &StartArgs,
        place: &Workplace,
        out: &mut Output,
    ) -> Result<bool, Error> {
        let config = config(place)?;
        let said = adopting(args, place, &config.issues);
        // Each look is one try: how long to wait is for us to say.
        let impatient = Arc::new(|_: Pause| false);
        let open =
            args.which.open_with(&said, place.repository.top(), mask(place, &config), impatient)?;
        out.note(&format!("no issue is ready: looking again every {} s", args.interval))?;
        let wanted = wanted(open.filter, None);
        let every_ms = args.interval.saturating_mul(1_000);
        let (mut spread, mut failed) = (u64::from(std::process::id()), 0);
        let mut asked_ms = 0;
        loop {
            spread = next(spread);
            let goes_on = self.lets_pass(pause_ms(every_ms, failed, spread).max(asked_ms));
            asked_ms = 0;
            self.says_what_was_refused(out)?;
            if !goes_on {
                out.note(TOLD_TO_STOP)?;
                return Ok(false);
            }
            let left = left(place)?;
            let known = known(place, left.as_ref());
            match select(&*open.tracked.tracker, &wanted, &known, All::No) {
                Ok(found) if found.chosen.is_some() => return Ok(true),
                Ok(_) => failed = 0,
                Err(error) => match error.back() {
                    Some(Back::In(wait)) => {
                        asked_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                        out.note(&format!("{error}; looking again then"))?;
                    }
                    Some(Back::Late | Back::Sometime) => {
                        failed += 1;
                        let wait_s = longer_ms(every_ms, failed) / 1_000;
                        out.note(&format!("{error}; looking again in {wait_s} s"))?;
                    }
                    None => return Err(tracker::refused(error)),
                },
            }
        }
    }

    /// Lets a tracker be that was away in a loop, so many times in a row: false if somebody wants it to stop meanwhile.
    pub fn lets_it_be(
        &self,
        args: &StartArgs,
        failed: u32,
        error: &Error,
        out: &mut Output,
    ) -> Result<bool, Error> {
        let wait_ms = error
            .wait_ms()
            .unwrap_or_else(|| longer_ms(args.interval.saturating_mul(1_000), failed));
        out.note(&format!("{error}; going on in {} s", wait_ms / 1_000))?;
        let goes_on = self.lets_pass(wait_ms);
        if !goes_on {
            out.note(TOLD_TO_STOP)?;
        }
        Ok(goes_on)
    }

    /// Lets a person do what they have to do first, until it is looked again: false if somebody wants it to stop meanwhile. What
    /// that is is said until it was `said`.
    pub fn lets_a_person(
        &self,
        args: &StartArgs,
        error: &Error,
        said: &mut Option<String>,
        out: &mut Output,
    ) -> Result<bool, Error> {
        let what = clean(&error.to_string());
        if said.as_ref() != Some(&what) {
            out.note(&format!("{what}: looking again every {} s", args.interval))?;
            if let Some(next) = error.next_step() {
                out.note(&format!("  {}", clean(next)))?;
            }
            *said = Some(what);
        }
        let goes_on = self.lets_pass(args.interval.saturating_mul(1_000));
        if !goes_on {
            out.note(TOLD_TO_STOP)?;
        }
        Ok(goes_on)
    }

    /// Lets so much time pass, less if the tracker says that something changed; false if somebody wants it to stop meanwhile.
    fn lets_pass(&self, mut left_ms: u64) -> bool {
        while left_ms > 0 && !self.is_to_stop() {
            let part_ms = left_ms.min(LOOKS_MS);
            let part = Duration::from_millis(part_ms);
            match &self.webhook {
                Some(webhook) if webhook.hears(part) => break,
                Some(_) => {}
                None => std::thread::sleep(part),
            }
            left_ms -= part_ms;
        }
        !self.is_to_stop()
    }

    /// Says how much came that was not the tracker's.
    fn says_what_was_refused(&self, out: &mut Output) -> Result<(), Error> {
        match self.webhook.as_ref().map_or(0, Webhook::refused) {
            0 => Ok(()),
            1 => out.note("a message was refused: the tracker has not signed it, or not just now"),
            many => out.note(&format!(
                "{many} messages were refused: the tracker has not signed them, or not just now"
            )),
        }
    }
}

/// Listens for what the tracker sends, if somebody wants that.
fn listens(
    args: &StartArgs,
    place: &Workplace,
    out: &mut Output,
) -> Result<Option<Webhook>, Error> {
    let issues = config(place)?.issues;
    let Some(at) = args.webhook.as_ref().or(issues.webhook.as_ref()) else { return Ok(None) };
    let (said, top) = (adopting(args, place, &issues), place.repository.top());
    let webhook = Webhook::listen(at, args.which.which(&said, top), &issues, top)?;
    out.note(&format!("listening at {} for what the tracker sends", webhook.address()))?;
    Ok(Some(webhook))
}

/// What is said of issues, with what an earlier loop left.
fn adopting(args: &StartArgs, place: &Workplace, issues: &IssuesConfig) -> IssuesConfig {
    args.which.adopting(issues, left(place).ok().flatten().as_ref())
}

/// Tells whoever follows here to stop; whether somebody does.
pub fn stop(place: &Workplace) -> Result<bool, Error> {
    let path = mark(place);
    let failed = |error| Error::unwritable(&path, error);
    let mut file = match File::options().append(true).open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(failed(error)),
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => {
            file.write_all(b"stop\n").map_err(failed)?;
            Ok(true)
        }
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// The next number of a row that looks like chance.
fn next(spread: u64) -> u64 {
    spread.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407)
}

/// How long is waited, where so many looks in a row had no answer.
fn longer_ms(every_ms: u64, failed: u32) -> u64 {
    let longer = every_ms.saturating_mul(1 << failed.min(20));
    longer.min(LONGEST_MS.max(every_ms))
}

/// The same and up to a tenth more, so that many who wait do not come at once.
fn pause_ms(every_ms: u64, failed: u32, spread: u64) -> u64 {
    let longer = longer_ms(every_ms, failed);
    longer.saturating_add((spread >> 33) % (longer / 10 + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_comes_up_to_a_tenth_later_and_not_all_at_once() {
        let mut spread = 4711;
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..2_000 {
            spread = next(spread);
            let pause = pause_ms(60_000, 0, spread);
            assert!((60_000..=66_000).contains(&pause), "{pause}");
            seen.insert((pause - 60_000) / 1_000);
        }
        assert!(seen.is_superset(&(0..6).collect()), "every part of the tenth is used: {seen:?}");
    }

    #[test]
    fn who_has_no_answer_asks_less_and_less_often() {
        let waits: Vec<u64> = (0..6).map(|failed| longer_ms(60_000, failed) / 1_000).collect();
        assert_eq!(waits, [60, 120, 240, 480, 900, 900]);
        assert_eq!(longer_ms(3_600_000, 9), 3_600_000, "never more often than was said");
        assert_eq!(pause_ms(u64::MAX, 99, u64::MAX), u64::MAX);
    }
}
