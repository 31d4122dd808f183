//! Dates, in the form that files have them.

/// `2026-03-19`, of milliseconds since 1970.
pub fn date(wall_ms: i64) -> String {
    let (year, month, day) = civil(wall_ms.div_euclid(86_400_000));
    format!("{year:04}-{month:02}-{day:02}")
}

/// `2026-03-19T08:05:00.000Z`, of milliseconds since 1970.
pub fn instant(wall_ms: i64) -> String {
    let of_day = wall_ms.rem_euclid(86_400_000);
    let (seconds, ms) = (of_day / 1_000, of_day % 1_000);
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    format!("{}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z", date(wall_ms))
}

/// Year, month and day of a number of days since 1970. Years are counted from March, so that the leap day is the last.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_right_around_leap_days_and_before_1970() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_709_251_199_999, "2024-02-29T23:59:59.999Z"),
            (1_709_251_200_000, "2024-03-01T00:00:00.000Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(instant(ms), text);
            assert_eq!(date(ms), text[..10]);
        }
    }
}
