//! The time there: it moves when something is written, and is told in the two forms that GitHub uses.

/// A day and a time of day.
struct Moment {
    year: u64,
    month: usize,
    day: u64,
    weekday: usize,
    clock: String,
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];

fn moment(unix_s: u64) -> Moment {
    let (days, rest) = (unix_s / 86_400, unix_s % 86_400);
    let leap = |year: u64| {
        (year.is_multiple_of(4) && !year.is_multiple_of(100)) || year.is_multiple_of(400)
    };
    let (mut year, mut left) = (1970, days);
    loop {
        let length = if leap(year) { 366 } else { 365 };
        if left < length {
            break;
        }
        left -= length;
        year += 1;
    }
    let february = if leap(year) { 29 } else { 28 };
    let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while left >= lengths[month] {
        left -= lengths[month];
        month += 1;
    }
    let clock = format!("{:02}:{:02}:{:02}", rest / 3600, rest / 60 % 60, rest % 60);
    Moment { year, month, day: left + 1, weekday: usize::try_from(days % 7).unwrap_or(0), clock }
}

/// As fields have it: `2026-11-18T21:08:02Z`.
pub(super) fn stamp(unix_s: u64) -> String {
    let Moment { year, month, day, clock, .. } = moment(unix_s);
    format!("{year:04}-{:02}-{day:02}T{clock}Z", month + 1)
}

/// As the header `date` has it: `Wed, 18 Nov 2026 21:08:02 GMT`.
pub(super) fn date(unix_s: u64) -> String {
    let Moment { year, month, day, weekday, clock } = moment(unix_s);
    format!("{}, {day:02} {} {year:04} {clock} GMT", WEEKDAYS[weekday], MONTHS[month])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_tell_the_same_time() {
        assert_eq!(stamp(1_795_036_082), "2026-11-18T21:08:02Z");
        assert_eq!(date(1_795_036_082), "Wed, 18 Nov 2026 21:08:02 GMT");
        assert_eq!(stamp(951_782_400), "2000-02-29T00:00:00Z");
    }
}
