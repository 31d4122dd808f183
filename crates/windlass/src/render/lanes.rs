//! A run under way in a few lines: a line for each lane at work, one for what lands, and the totals. Pure: what is drawn
//! and when is `live.rs`'s.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};
use windlass_words::Words;

use super::{clean, dollars, time};
use crate::progress::{AtWork, Sight};

/// How much room there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    pub columns: usize,
    pub rows: usize,
}

/// So many rows are left for what is told above.
const ABOVE: usize = 4;
/// There is always room for so many lines.
const LINES_MIN: usize = 3;
/// A title has so many columns at most, so that what stands after it lines up.
const TITLE_MAX: usize = 32;

/// The lines, none wider than there are columns, and fewer than there are rows. So much time has passed since the run was
/// looked at, and so much since it was taken up.
pub fn lines(
    sight: &Sight,
    room: Room,
    (aged_ms, since_ms): (u64, u64),
    words: Words,
) -> Vec<String> {
    let cut = |text: String| cut(text, room.columns);
    let mut below: Vec<String> = queue(sight, words).into_iter().map(&cut).collect();
    let mut parts = totals(sight, words);
    parts.insert(0, clock(since_ms));
    below.extend(packed(&parts, room.columns).into_iter().map(&cut));
    let most = room.rows.saturating_sub(ABOVE).max(LINES_MIN);
    let room_for = most.saturating_sub(below.len());
    let all = sight.at_work.len();
    let shown = if all > room_for { room_for.saturating_sub(1) } else { all };
    let wide = |it: &AtWork| clean(&format!("{} · {}", it.unit, it.title)).width();
    let name_width = sight.at_work.iter().take(shown).map(wide).max().unwrap_or(0).min(TITLE_MAX);
    let mut lines: Vec<String> = Vec::new();
    for it in sight.at_work.iter().take(shown) {
        lines.push(cut(at_work(it, aged_ms, name_width, words)));
    }
    if all > shown && room_for > 0 {
        let more = [("count", &*(all - shown).to_string())];
        lines.push(cut(format!("  {}", words.say("live-more", &more))));
    }
    lines.extend(below);
    lines
}

/// How far it is, in a line, for whoever does not look on.
pub fn progress(sight: &Sight, words: Words) -> String {
    totals(sight, words).join(" · ")
}

fn at_work(it: &AtWork, aged_ms: u64, name_width: usize, words: Words) -> String {
    let name = cut(clean(&format!("{} · {}", it.unit, it.title)), name_width);
    let fill = " ".repeat(name_width.saturating_sub(name.width()));
    let mut line =
        format!("  {} {name}{fill} · {}", clock(it.elapsed_ms + aged_ms), clean(&it.stage));
    if it.attempt > 1 {
        let attempt = [("attempt", &*it.attempt.to_string())];
        line.push_str(&format!(" · {}", words.say("tell-attempt", &attempt)));
    }
    if it.idle {
        line.push_str(&format!(" · {}", words.say("live-idle", &[])));
    }
    if it.cost_micros > 0 {
        line.push_str(&format!(" · {}", dollars(it.cost_micros, words)));
    }
    line
}

/// What lands, and what waits for that.
fn queue(sight: &Sight, words: Words) -> Option<String> {
    let mut parts = Vec::new();
    for (id, units) in [("live-landing", &sight.landing), ("live-to-land", &sight.to_land)] {
        if !units.is_empty() {
            let units = [("units", &*clean(&units.join(", ")))];
            parts.push(words.say(id, &units));
        }
    }
    (!parts.is_empty()).then(|| format!("  {}", parts.join(" · ")))
}

/// Units, what became of them, cost, and what it will probably come to.
fn totals(sight: &Sight, words: Words) -> Vec<String> {
    let tally = sight.tally;
    let units = [
        ("done", &*tally.done.to_string()),
        ("total", &tally.total.to_string()),
        ("called", &sight.called),
    ];
    let mut parts = vec![words.say("live-units", &units)];
    let counts = [
        ("live-failed", u64::from(tally.failed)),
        ("live-skipped", u64::from(tally.skipped)),
        ("live-blocked", u64::from(tally.blocked)),
        ("live-waiting", sight.waiting as u64),
    ];
    for (id, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
        parts.push(words.say(id, &[("count", &count.to_string())]));
    }
    let spent = dollars(sight.cost_micros, words);
    let outlook = sight.outlook.as_ref();
    parts.push(match outlook.and_then(|outlook| outlook.cap_micros) {
        Some(cap) => {
            let cap = format!("{:.2}", cap as f64 / 1e6);
            words.say("live-spent-of", &[("spent", &spent), ("cap", &cap)])
        }
        None => spent,
    });
    if let Some(outlook) = outlook.filter(|outlook| outlook.open_units > 0)
        && let (Some(cost), Some(left)) = (outlook.expected_micros, outlook.left_ms)
    {
        let about = [("forecast", &*dollars(cost, words)), ("time", &time(left))];
        parts.push(words.say("live-forecast", &about));
    }
    parts
}

/// Parts in as few lines as they fit into.
fn packed(parts: &[String], columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let joint = if at == 1 { " " } else { " · " };
        match lines.last_mut() {
            Some(line) if line.width() + joint.width() + part.width() <= columns => {
                line.push_str(joint);
                line.push_str(part);
            }
            _ if at == 0 => lines.push(part.clone()),
            _ => lines.push(format!("{}{part}", " ".repeat(CLOCK + 1))),
        }
    }
    lines
}

/// A time takes so many columns.
const CLOCK: usize = 6;

fn clock(ms: u64) -> String {
    format!("{:>CLOCK$}", time(ms))
}

/// So much of a title is in a line about a unit.
const TITLE: usize = 100;

/// A title in a line about its unit: of a very long one the beginning.
pub fn in_a_line(title: &str) -> String {
    cut(clean(title), TITLE)
}

/// A text in so many columns. Hangul and the like take two each.
fn cut(text: String, columns: usize) -> String {
    if text.width() <= columns {
        return text;
    }
    let mut left = columns.saturating_sub(1);
    let fits = |c: &char| {
        let wide = c.width().unwrap_or(0);
        let fits = wide <= left;
        left = if fits { left - wide } else { 0 };
        fits
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use windlass_core::run::{LaneIx, Tally};

    use super::*;
    use crate::forecast::Outlook;

    fn lane(lane: u32, unit: &str, title: &str, stage: &str, attempt: u32) -> AtWork {
        AtWork {
            lane: Some(LaneIx(lane)),
            unit: unit.to_owned(),
            title: title.to_owned(),
            stage: stage.to_owned(),
            attempt,
            elapsed_ms: 65_000,
            cost_micros: 120_000,
            idle: false,
        }
    }

    fn sight() -> Sight {
        Sight {
            called: "feature".to_owned(),
            tally: Tally { total: 12, done: 4, failed: 1, skipped: 0, blocked: 2 },
            at_work: vec![
                lane(0, "AUTH-1", "Log in with a password", "worker", 2),
                lane(1, "AUTH-2", "로그인 버그를 고치고 테스트를 추가한다", "validator", 1),
                AtWork { idle: true, ..lane(3, "X", "\u{1b}[31mred\u{202e}", "worker", 1) },
            ],
            landing: vec!["A".to_owned(), "B".to_owned()],
            to_land: vec!["C".to_owned()],
            waiting: 1,
            cost_micros: 1_500_000,
            outlook: Some(Outlook {
                done_units: 4,
                median_micros: 300_000,
                median_ms: 600_000,
                open_units: 5,
                expected_micros: Some(3_000_000),
                left_ms: Some(900_000),
                cap_micros: Some(20_000_000),
            }),
        }
    }

    fn drawn(sight: &Sight, columns: usize, rows: usize) -> String {
        let room = Room { columns, rows };
        lines(sight, room, (1_000, 3_700_000), Words::default()).join("\n")
    }

    #[test]
    fn a_line_for_each_lane_the_queue_and_the_totals() {
        insta::assert_snapshot!(drawn(&sight(), 100, 40), @r#"
          1m06s AUTH-1 · Log in with a password  · worker · attempt 2 · 0.12 dollars
          1m06s AUTH-2 · 로그인 버그를 고치고 …  · validator · 0.12 dollars
          1m06s X · \u{1b}[31mred�               · worker · waiting · 0.12 dollars
         landing: A, B · waiting to land: C
        1h01m 4 of 12 features done · 1 failed · 2 blocked · 1 waiting for a person · 1.50 dollars of 20.00
              about 3.00 dollars in the end and 15m00s left
        "#);
        let korean = Words::in_lang(windlass_words::Lang::KOREAN);
        let room = Room { columns: 100, rows: 40 };
        insta::assert_snapshot!(lines(&sight(), room, (0, 0), korean).join("\n"), @r#"
         1m05s AUTH-1 · Log in with a password  · worker · 2번째 시도 · 0.12달러
         1m05s AUTH-2 · 로그인 버그를 고치고 …  · validator · 0.12달러
         1m05s X · \u{1b}[31mred�               · worker · 대기 중 · 0.12달러
        반영 중: A, B · 반영 대기: C
          0s feature 4/12 완료 · 실패 1 · 막힘 2 · 사람을 기다림 1 · 1.50달러 / 한도 20.00
             최종 약 3.00달러, 약 15m00s 남음
        "#);
    }

    #[test]
    fn nothing_is_wider_than_the_terminal_or_higher() {
        let mut many = sight();
        many.at_work =
            (0..64).map(|at| lane(at, &format!("F-{at}"), "한글 title", "worker", 3)).collect();
        many.landing = (0..200).map(|at| format!("로그인-{at}")).collect();
        for columns in [10, 30, 41, 80, 200] {
            for rows in [1, 5, 24, 60] {
                let text = drawn(&many, columns, rows);
                assert!(text.lines().all(|line| line.width() <= columns), "{columns}: {text}");
                let most = rows.saturating_sub(ABOVE).max(LINES_MIN);
                // Where it is very narrow the totals alone take their lines.
                let least = drawn(&Sight { at_work: Vec::new(), ..many.clone() }, columns, rows);
                let most = most.max(least.lines().count());
                assert!(text.lines().count() <= most, "{columns}×{rows}: {text}");
            }
        }
        let text = drawn(&many, 80, 12);
        assert!(text.contains("and 60 more"), "{text}");
    }

    #[test]
    fn nothing_is_foretold_before_anybody_knows() {
        let mut young = sight();
        if let Some(outlook) = &mut young.outlook {
            (outlook.expected_micros, outlook.left_ms) = (None, None);
        }
        assert!(!progress(&young, Words::default()).contains("about"), "{young:?}");
        insta::assert_snapshot!(progress(&sight(), Words::default()), @"4 of 12 features done · 1 failed · 2 blocked · 1 waiting for a person · 1.50 dollars of 20.00 · about 3.00 dollars in the end and 15m00s left");
    }
}
