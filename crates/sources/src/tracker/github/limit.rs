//! How long GitHub wants to be left alone by whoever has asked too much.

use std::time::Duration;

use crate::tracker::http::Answer;

/// Where it says nothing, its documentation says: at least a minute.
const WAIT: Duration = Duration::from_secs(60);

/// How long, if an answer says that too much was asked.
pub(super) fn until_asked(answer: &Answer, message: &str) -> Option<Duration> {
    let number = |name: &str| answer.header(name)?.trim().parse::<u64>().ok();
    if let Some(seconds) = number("retry-after") {
        return Some(Duration::from_secs(seconds));
    }
    if answer.header("x-ratelimit-remaining") == Some("0") {
        // By its own clock: ours may be wrong. A second more, since both are cut to whole ones.
        let now = answer.header("date").and_then(unix_s);
        let left = number("x-ratelimit-reset")
            .zip(now)
            .map(|(reset, now)| Duration::from_secs(reset.saturating_sub(now) + 1));
        return Some(left.unwrap_or(WAIT));
    }
    let asks_for_less = answer.status == 429 || message.contains("secondary rate limit");
    asks_for_less.then_some(WAIT)
}

/// The seconds since 1970 of `Wed, 18 Nov 2026 21:08:02 GMT`.
fn unix_s(date: &str) -> Option<u64> {
    let (_, date) = date.split_once(", ")?;
    let words: Vec<&str> = date.split(' ').collect();
    let [day, month, year, clock, "GMT"] = words[..] else { return None };
    let months = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let month = (months.find(month).filter(|_| month.len() == 3)? / 3 + 1) as u64;
    let (day, year): (u64, u64) = (day.parse().ok()?, year.parse().ok()?);
    if !(1970..10_000).contains(&year) || !(1..=31).contains(&day) {
        return None;
    }
    let mut seconds = 0;
    for part in clock.split(':') {
        seconds = seconds * 60 + part.parse::<u64>().ok().filter(|it| *it < 62)?;
    }
    // Years are counted from March: the day that is now and then there is their last.
    let (from_march, year) = if month > 2 { (month - 3, year) } else { (month + 9, year - 1) };
    let day_of_year = (153 * from_march + 2) / 5 + day - 1;
    let days = year * 365 + year / 4 - year / 100 + year / 400 + day_of_year;
    Some((days - 719_468) * 86_400 + seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read() {
        for (date, expected) in [
            ("Wed, 18 Nov 2026 21:08:02 GMT", Some(1_795_036_082)),
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Tue, 29 Feb 2000 00:00:00 GMT", Some(951_782_400)),
            ("Mon, 01 Mar 2100 00:00:00 GMT", Some(4_107_542_400)),
            ("Wed, 18 Nov 2026 21:08:02 CET", None),
            ("Wed, 18 nov 2026 21:08:02 GMT", None),
            ("Wed, 18 Nov 0000 21:08:02 GMT", None),
            ("2026-11-18T21:08:02Z", None),
            ("", None),
        ] {
            assert_eq!(unix_s(date), expected, "{date}");
        }
    }
}
