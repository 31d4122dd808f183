//! How often and after how long a provider is asked again, and when it is given up.

use std::time::Duration;

use windlass_agents::api::Pace;
use windlass_agents::own::Fin;

use super::wire::Trouble;

/// What was said above an answer. Names are in small letters.
pub(super) type Headers = Vec<(String, String)>;

/// A header; its name in small letters.
pub(super) fn header<'h>(headers: &'h Headers, name: &str) -> Option<&'h str> {
    headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.trim())
}

/// How long a provider wants us to wait, if it says.
pub(super) fn asked_to_wait(headers: &Headers, now_ms: i64) -> Option<Duration> {
    let number = |name: &str| header(headers, name)?.parse::<f64>().ok();
    if let Some(ms) = number("retry-after-ms") {
        return Duration::try_from_secs_f64(ms / 1_000.0).ok();
    }
    if let Some(seconds) = number("retry-after") {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let at_ms = http_date(header(headers, "retry-after")?)?.checked_mul(1_000)?;
    // A time that is over is no time to wait.
    Some(Duration::from_millis(u64::try_from(at_ms.saturating_sub(now_ms)).unwrap_or_default()))
}

/// Seconds since 1970 of `Sun, 06 Nov 1994 08:49:37 GMT`.
fn http_date(text: &str) -> Option<i64> {
    let (_, rest) = text.split_once(", ")?;
    let mut words = rest.split(' ');
    let day: i64 = words.next()?.parse().ok()?;
    let month = words.next()?;
    let months =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = i64::try_from(months.iter().position(|it| *it == month)?).ok()? + 1;
    let year: i64 = words.next()?.parse().ok()?;
    let mut clock = words.next()?.split(':').map(|part| part.parse::<i64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    let sane =
        (1..=31).contains(&day) && (1970..10_000).contains(&year) && hour < 24 && minute < 60;
    (words.next()? == "GMT" && sane).then_some(())?;
    // Days since 1970, with years that begin in March.
    let shifted = if month <= 2 { year - 1 } else { year };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + of_year - 719_468;
    Some(days * 86_400 + hour * 3_600 + minute * 60 + second)
}

/// What is done about trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Asked again after this long.
    Wait(Duration),
    /// Given up, as this; served again at this time, in milliseconds since 1970, if anybody says.
    End(Fin, Option<i64>),
    /// What was said is too long.
    Shorten,
}

/// What is done about trouble that was met so many times in a row, from 1. `chance` is somewhere from 0 to 1.
pub(super) fn next(trouble: Trouble, met: u32, pace: &Pace, now_ms: i64, chance: f64) -> Next {
    let given_up = met >= pace.tries_max;
    let after = |wait: Duration| {
        let wait = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
        Some(now_ms.saturating_add(wait))
    };
    let patience = Duration::from_millis(pace.patience_ms_max);
    let too_long = |wait: Duration| wait >= patience;
    match trouble {
        Trouble::Busy(Some(wait)) if given_up || too_long(wait) => {
            Next::End(Fin::Limited, after(wait))
        }
        Trouble::Busy(None) if given_up => Next::End(Fin::Limited, None),
        Trouble::UsedUp(until) => Next::End(Fin::Limited, until),
        Trouble::Down(Some(wait)) if too_long(wait) => Next::End(Fin::Limited, after(wait)),
        Trouble::Down(_) | Trouble::Cut if given_up => Next::End(Fin::Overloaded, None),
        Trouble::Busy(wait) | Trouble::Down(wait) => {
            let said = wait.map(|wait| {
                more(wait, chance).min(patience.saturating_sub(Duration::from_millis(1)))
            });
            Next::Wait(said.unwrap_or_else(|| backoff(met, pace, chance)))
        }
        Trouble::Cut => Next::Wait(backoff(met, pace, chance)),
        Trouble::Unwelcome => Next::End(Fin::Unwelcome, None),
        Trouble::Overflow => Next::Shorten,
        Trouble::Odd => Next::End(Fin::Failed, None),
    }
}

/// Twice as long each time, give or take a quarter, so that those who were sent away together do not come back together.
fn backoff(met: u32, pace: &Pace, chance: f64) -> Duration {
    let doubled = pace.wait_ms_first.saturating_mul(1 << met.saturating_sub(1).min(20));
    let wait = Duration::from_millis(doubled.min(pace.wait_ms_max));
    wait.mul_f64(0.75 + 0.5 * chance.clamp(0.0, 1.0))
}

/// What a provider says, and a little more: never less.
fn more(wait: Duration, chance: f64) -> Duration {
    wait + wait.min(Duration::from_secs(10)).mul_f64(0.1 * chance.clamp(0.0, 1.0))
}

/// A number from 0 to 1 that nobody can tell before.
pub(super) fn chance() -> f64 {
    let mut random = [0; 4];
    let _ = rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty());
    f64::from(u32::from_le_bytes(random)) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(name: &str, value: &str, now_ms: i64) -> Option<Duration> {
        asked_to_wait(&vec![(name.to_owned(), value.to_owned())], now_ms)
    }

    #[test]
    fn a_provider_says_how_long_in_seconds_milliseconds_or_as_a_date() {
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(wait("retry-after", "20", 0), seconds(20));
        assert_eq!(wait("retry-after", " 1.5 ", 0), Some(Duration::from_millis(1_500)));
        assert_eq!(wait("retry-after-ms", "250", 0), Some(Duration::from_millis(250)));
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        assert_eq!(http_date(date), Some(784_111_777));
        assert_eq!(wait("retry-after", date, 784_111_770_000), seconds(7));
        assert_eq!(wait("retry-after", date, 784_111_790_000), seconds(0), "it is over");
        assert_eq!(http_date("Thu, 29 Feb 2024 23:59:59 GMT"), Some(1_709_251_199));
        assert_eq!(http_date("Fri, 01 Mar 2024 00:00:00 GMT"), Some(1_709_251_200));
        for odd in ["", "soon", "-1", "nan", "1e400", "Sun, 06 Nov 1994", "Sun, 99 Xxx 0 0:0:0 GMT"]
        {
            assert_eq!(wait("retry-after", odd, 0), None, "{odd}");
        }
        let both = vec![
            ("retry-after".to_owned(), "9".to_owned()),
            ("retry-after-ms".to_owned(), "10".to_owned()),
        ];
        assert_eq!(asked_to_wait(&both, 0), Some(Duration::from_millis(10)));
        assert_eq!(asked_to_wait(&Vec::new(), 0), None);
    }

    #[test]
    fn each_time_it_waits_twice_as_long_and_not_for_ever() {
        let pace = Pace::default();
        let waits = |chance| {
            let each = (1..=6).map(|met| match next(Trouble::Cut, met, &pace, 0, chance) {
                Next::Wait(wait) => wait.as_millis(),
                other => panic!("{other:?}"),
            });
            each.collect::<Vec<_>>()
        };
        assert_eq!(waits(0.5), [1_000, 2_000, 4_000, 8_000, 16_000, 32_000]);
        assert_eq!(waits(0.0)[0], 750);
        assert_eq!(waits(1.0)[0], 1_250);
        assert_eq!(backoff(40, &pace, 0.5), Duration::from_secs(60));
        assert_eq!(next(Trouble::Cut, 7, &pace, 0, 0.5), Next::End(Fin::Overloaded, None));
        assert_eq!(next(Trouble::Down(None), 7, &pace, 0, 0.5), Next::End(Fin::Overloaded, None));
        assert_eq!(next(Trouble::Busy(None), 7, &pace, 0, 0.5), Next::End(Fin::Limited, None));
    }

    #[test]
    fn what_a_provider_says_is_waited_for_or_it_is_a_limit() {
        let pace = Pace::default();
        let busy = |seconds| Trouble::Busy(Some(Duration::from_secs(seconds)));
        assert_eq!(next(busy(7), 1, &pace, 0, 0.0), Next::Wait(Duration::from_secs(7)));
        let Next::Wait(wait) = next(busy(7), 3, &pace, 0, 1.0) else { panic!() };
        assert!(wait >= Duration::from_secs(7) && wait < Duration::from_secs(8));
        let Next::Wait(wait) = next(busy(179), 1, &pace, 0, 1.0) else { panic!() };
        assert_eq!(wait.as_millis(), 179_999, "never so long that it would be ended for it");
        assert_eq!(next(busy(180), 1, &pace, 5, 0.0), Next::End(Fin::Limited, Some(180_005)));
        assert_eq!(next(busy(7), 7, &pace, 5, 0.0), Next::End(Fin::Limited, Some(7_005)));
        let down = Trouble::Down(Some(Duration::from_secs(600)));
        assert_eq!(next(down, 1, &pace, 0, 0.0), Next::End(Fin::Limited, Some(600_000)));
        assert_eq!(
            next(Trouble::UsedUp(Some(9)), 1, &pace, 0, 0.0),
            Next::End(Fin::Limited, Some(9))
        );
    }

    #[test]
    fn what_would_not_help_is_not_tried() {
        let pace = Pace::default();
        let once = |trouble| next(trouble, 1, &pace, 0, 0.5);
        assert_eq!(once(Trouble::Unwelcome), Next::End(Fin::Unwelcome, None));
        assert_eq!(once(Trouble::Odd), Next::End(Fin::Failed, None));
        assert_eq!(once(Trouble::Overflow), Next::Shorten);
    }
}
