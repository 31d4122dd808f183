//! The picture of a run: a row for each lane, a bar for everything that was done in it, and where it landed. It stays
//! small enough to look at however long the run was: where there are too many bars, each stands for a stretch of time.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::page::escaped;
use crate::progress::Deed;
use crate::render::{clean, time};

/// Something that was done.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// The lane; the run itself without one.
    pub lane: Option<u32>,
    pub deed: Deed,
    pub from_ms: u64,
    pub to_ms: u64,
    /// What is told about it when one points at it.
    pub title: String,
    pub attempt: u32,
    /// It was not enough, or came to nothing.
    pub amiss: bool,
    /// Something landed at its end.
    pub landed: bool,
}

/// So many bars are drawn, one each.
const BARS_MAX: usize = 1_500;
/// So many rows are drawn; what has none is together in the last one.
const ROWS_MAX: usize = 65;
/// A title is no longer than this.
const TITLE_MAX: usize = 200;

const LEFT: f64 = 70.0;
const WIDE: f64 = 1_000.0;
const ROW: f64 = 24.0;
const BAR: f64 = 18.0;
const TOP: f64 = 34.0;

/// The picture, or nothing if nothing was done.
pub fn timeline(bars: &[Bar]) -> Option<String> {
    let from = bars.iter().map(|bar| bar.from_ms).min()?;
    let to = bars.iter().map(|bar| bar.to_ms).max()?.max(from + 1);
    let mut picture = Picture { from, long: to - from, out: String::new() };
    let rows = rows(bars);
    let shared = bars.len() > BARS_MAX;
    // Writing to a String cannot fail.
    let _ = picture.draw(&rows, shared);
    Some(picture.out)
}

/// The bars of each row, each row with its name.
fn rows(bars: &[Bar]) -> Vec<(String, Vec<&Bar>)> {
    let mut rows: BTreeMap<Option<u32>, Vec<&Bar>> = BTreeMap::new();
    for bar in bars {
        rows.entry(bar.lane).or_default().push(bar);
    }
    let mut named: Vec<(String, Vec<&Bar>)> = Vec::new();
    for (lane, bars) in rows {
        let name = lane.map_or("the run".to_owned(), |lane| format!("lane {lane}"));
        if named.len() < ROWS_MAX {
            named.push((name, bars));
        } else if let Some((name, last)) = named.last_mut() {
            "the others".clone_into(name);
            last.extend(bars);
        }
    }
    for (_, bars) in &mut named {
        bars.sort_by_key(|bar| (bar.from_ms, bar.to_ms));
    }
    named
}

struct Picture {
    from: u64,
    long: u64,
    out: String,
}

impl Picture {
    fn x(&self, ms: u64) -> f64 {
        LEFT + ms.saturating_sub(self.from) as f64 / self.long as f64 * WIDE
    }

    fn draw(&mut self, rows: &[(String, Vec<&Bar>)], shared: bool) -> std::fmt::Result {
        let high = TOP + ROW * rows.len() as f64 + 28.0;
        let width = LEFT + WIDE + 20.0;
        writeln!(
            self.out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {high:.0}\" width=\"{width:.0}\" \
             height=\"{high:.0}\" role=\"img\" aria-label=\"what was done in each lane, and when\">"
        )?;
        self.legend()?;
        self.axis(high - 28.0)?;
        for (at, (name, bars)) in rows.iter().enumerate() {
            let y = TOP + ROW * at as f64;
            writeln!(self.out, "<text x=\"0\" y=\"{:.1}\">{}</text>", y + 14.0, escaped(name))?;
            if shared {
                // As many bars in all as one each would be at most.
                self.stretches(bars, y, (BARS_MAX / rows.len()).max(20))?;
            } else {
                self.bars(bars, y)?;
            }
        }
        writeln!(self.out, "</svg>")
    }

    fn legend(&mut self) -> std::fmt::Result {
        let names = ["agent that edits", "agent that judges", "check", "landing", "other"];
        let mut x = LEFT;
        for (deed, name) in Deed::ALL.into_iter().zip(names) {
            writeln!(
                self.out,
                "<rect class=\"{}\" x=\"{x:.0}\" y=\"6\" width=\"12\" height=\"12\"/>\
                 <text x=\"{:.0}\" y=\"16\">{name}</text>",
                deed.name(),
                x + 16.0
            )?;
            x += 130.0;
        }
        writeln!(
            self.out,
            "<rect class=\"other again\" x=\"{x:.0}\" y=\"6\" width=\"12\" height=\"12\"/>\
             <text x=\"{:.0}\" y=\"16\">tried again</text>\
             <path class=\"landed\" d=\"M{:.0} 6l5 6l-5 6z\"/><text x=\"{:.0}\" y=\"16\">landed</text>",
            x + 16.0,
            x + 110.0,
            x + 120.0
        )
    }

    fn axis(&mut self, bottom: f64) -> std::fmt::Result {
        let step = step(self.long);
        for at in (0..=self.long / step).map(|at| at * step) {
            let x = self.x(self.from + at);
            writeln!(
                self.out,
                "<line class=\"grid\" x1=\"{x:.1}\" y1=\"{:.0}\" x2=\"{x:.1}\" y2=\"{bottom:.0}\"/>\
                 <text x=\"{x:.1}\" y=\"{:.0}\">{}</text>",
                TOP - 6.0,
                bottom + 16.0,
                time(at)
            )?;
        }
        Ok(())
    }

    /// A bar each. What was done at the same time in one lane stands one below the other.
    fn bars(&mut self, bars: &[&Bar], y: f64) -> std::fmt::Result {
        let mut tracks: Vec<u64> = Vec::new();
        let mut placed = Vec::with_capacity(bars.len());
        for bar in bars {
            let free = tracks.iter().position(|until| *until <= bar.from_ms);
            let track = free.unwrap_or(tracks.len());
            if free.is_none() {
                tracks.push(0);
            }
            tracks[track] = bar.to_ms.max(bar.from_ms + 1);
            placed.push((track, bar));
        }
        let high = BAR / tracks.len().max(1) as f64;
        for (track, bar) in placed {
            let (x, top) = (self.x(bar.from_ms), y + high * track as f64);
            let wide = (self.x(bar.to_ms) - x).max(1.0);
            self.bar(bar, (x, top, wide, high))?;
        }
        Ok(())
    }

    fn bar(&mut self, bar: &Bar, (x, y, wide, high): (f64, f64, f64, f64)) -> std::fmt::Result {
        let mut class = bar.deed.name().to_owned();
        for (name, is) in [("again", bar.attempt > 1), ("amiss", bar.amiss)] {
            if is {
                class.push_str(&format!(" {name}"));
            }
        }
        writeln!(
            self.out,
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{wide:.1}\" height=\"{high:.1}\">\
             <title>{}</title></rect>",
            titled(&bar.title)
        )?;
        if bar.attempt > 1 && wide >= 16.0 && high >= 12.0 {
            writeln!(
                self.out,
                "<text class=\"tries\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                x + 3.0,
                y + 13.0,
                bar.attempt
            )?;
        }
        if bar.landed {
            self.landed(x + wide, y + high / 2.0)?;
        }
        Ok(())
    }

    fn landed(&mut self, x: f64, middle: f64) -> std::fmt::Result {
        writeln!(self.out, "<path class=\"landed\" d=\"M{x:.1} {:.1}l6 7l-6 7z\"/>", middle - 7.0)
    }

    /// Stretches of time, each with what took most of it.
    fn stretches(&mut self, bars: &[&Bar], y: f64, count: usize) -> std::fmt::Result {
        let each = self.long.div_ceil(count as u64).max(1);
        let mut stretches: BTreeMap<u64, Stretch> = BTreeMap::new();
        for bar in bars {
            let (from, to) = (bar.from_ms - self.from, bar.to_ms.max(bar.from_ms + 1) - self.from);
            for at in from / each..=(to - 1) / each {
                let stretch = stretches.entry(at).or_default();
                let begins = from.max(at * each);
                let ms = to.min((at + 1) * each).saturating_sub(begins);
                *stretch.busy_ms.entry(bar.deed).or_default() += ms;
                if from / each == at {
                    *stretch.begun.entry(bar.deed).or_default() += 1;
                    stretch.again += usize::from(bar.attempt > 1);
                }
                stretch.landed += usize::from(bar.landed && (to - 1) / each == at);
            }
        }
        for (at, stretch) in stretches {
            let x = self.x(self.from + at * each);
            let wide = (self.x(self.from + (at + 1) * each).min(LEFT + WIDE) - x).max(0.5);
            let Some((deed, _)) = stretch.busy_ms.iter().max_by_key(|(_, ms)| **ms) else {
                continue;
            };
            let again = if stretch.again > 0 { " again" } else { "" };
            writeln!(
                self.out,
                "<rect class=\"{}{again}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{wide:.1}\" height=\"{BAR:.1}\">\
                 <title>{}</title></rect>",
                deed.name(),
                titled(&stretch.title())
            )?;
            if stretch.landed > 0 {
                self.landed(x + wide, y + BAR / 2.0)?;
            }
        }
        Ok(())
    }
}

/// A stretch of time in a lane.
#[derive(Default)]
struct Stretch {
    busy_ms: BTreeMap<Deed, u64>,
    begun: BTreeMap<Deed, usize>,
    again: usize,
    landed: usize,
}

impl Stretch {
    fn title(&self) -> String {
        let mut parts: Vec<String> =
            self.begun.iter().map(|(deed, count)| format!("{}: {count}", deed.name())).collect();
        if self.again > 0 {
            parts.push(format!("tried again: {}", self.again));
        }
        if self.landed > 0 {
            parts.push(format!("landed: {}", self.landed));
        }
        parts.join(", ")
    }
}

fn titled(title: &str) -> String {
    let title = clean(title);
    let mut letters = title.chars();
    let short: String = letters.by_ref().take(TITLE_MAX).collect();
    let more = if letters.next().is_some() { "…" } else { "" };
    format!("{}{more}", escaped(&short))
}

/// A round time, so that there are ten marks at most.
fn step(long: u64) -> u64 {
    const ROUND: [u64; 18] = [
        1, 10, 100, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000, 600_000,
        1_800_000, 3_600_000, 7_200_000, 21_600_000, 43_200_000, 86_400_000,
    ];
    let found = ROUND.into_iter().find(|step| long / step <= 10);
    found.unwrap_or_else(|| (long / 10).div_ceil(86_400_000) * 86_400_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(lane: Option<u32>, deed: Deed, from_ms: u64, to_ms: u64, title: &str) -> Bar {
        let title = title.to_owned();
        Bar { lane, deed, from_ms, to_ms, title, attempt: 1, amiss: false, landed: false }
    }

    #[test]
    fn a_row_for_each_lane_and_a_bar_for_everything() {
        let bars = [
            bar(None, Deed::Other, 0, 500, "list: found"),
            bar(Some(0), Deed::Work, 1_000, 9_000, "a: do: done"),
            Bar { amiss: true, ..bar(Some(0), Deed::Check, 9_000, 11_000, "a: prove: fail") },
            Bar {
                attempt: 2,
                ..bar(Some(0), Deed::Work, 11_000, 19_000, "a: do, attempt 2: done")
            },
            Bar { landed: true, ..bar(Some(0), Deed::Land, 20_000, 21_000, "a: landed") },
            bar(Some(1), Deed::Judge, 1_000, 30_000, "b: one of two <script>"),
            bar(Some(1), Deed::Judge, 2_000, 25_000, "b: the other\u{202e}"),
        ];
        insta::assert_snapshot!(timeline(&bars).unwrap(), @r#"
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1090 134" width="1090" height="134" role="img" aria-label="what was done in each lane, and when">
        <rect class="work" x="70" y="6" width="12" height="12"/><text x="86" y="16">agent that edits</text>
        <rect class="judge" x="200" y="6" width="12" height="12"/><text x="216" y="16">agent that judges</text>
        <rect class="check" x="330" y="6" width="12" height="12"/><text x="346" y="16">check</text>
        <rect class="land" x="460" y="6" width="12" height="12"/><text x="476" y="16">landing</text>
        <rect class="other" x="590" y="6" width="12" height="12"/><text x="606" y="16">other</text>
        <rect class="other again" x="720" y="6" width="12" height="12"/><text x="736" y="16">tried again</text><path class="landed" d="M830 6l5 6l-5 6z"/><text x="840" y="16">landed</text>
        <line class="grid" x1="70.0" y1="28" x2="70.0" y2="106"/><text x="70.0" y="122">0s</text>
        <line class="grid" x1="236.7" y1="28" x2="236.7" y2="106"/><text x="236.7" y="122">5s</text>
        <line class="grid" x1="403.3" y1="28" x2="403.3" y2="106"/><text x="403.3" y="122">10s</text>
        <line class="grid" x1="570.0" y1="28" x2="570.0" y2="106"/><text x="570.0" y="122">15s</text>
        <line class="grid" x1="736.7" y1="28" x2="736.7" y2="106"/><text x="736.7" y="122">20s</text>
        <line class="grid" x1="903.3" y1="28" x2="903.3" y2="106"/><text x="903.3" y="122">25s</text>
        <line class="grid" x1="1070.0" y1="28" x2="1070.0" y2="106"/><text x="1070.0" y="122">30s</text>
        <text x="0" y="48.0">the run</text>
        <rect class="other" x="70.0" y="34.0" width="16.7" height="18.0"><title>list: found</title></rect>
        <text x="0" y="72.0">lane 0</text>
        <rect class="work" x="103.3" y="58.0" width="266.7" height="18.0"><title>a: do: done</title></rect>
        <rect class="check amiss" x="370.0" y="58.0" width="66.7" height="18.0"><title>a: prove: fail</title></rect>
        <rect class="work again" x="436.7" y="58.0" width="266.7" height="18.0"><title>a: do, attempt 2: done</title></rect>
        <text class="tries" x="439.7" y="71.0">2</text>
        <rect class="land" x="736.7" y="58.0" width="33.3" height="18.0"><title>a: landed</title></rect>
        <path class="landed" d="M770.0 60.0l6 7l-6 7z"/>
        <text x="0" y="96.0">lane 1</text>
        <rect class="judge" x="103.3" y="82.0" width="966.7" height="9.0"><title>b: one of two &lt;script&gt;</title></rect>
        <rect class="judge" x="136.7" y="91.0" width="766.7" height="9.0"><title>b: the other�</title></rect>
        </svg>
        "#);
        assert_eq!(timeline(&[]), None);
    }

    #[test]
    fn however_much_was_done_the_picture_stays_small() {
        let mut many: Vec<Bar> = Vec::new();
        for at in 0..60_000_u64 {
            let lane = u32::try_from(at % 100).ok();
            let begin = at / 100 * 1_000;
            let deed = if at % 3 == 0 { Deed::Check } else { Deed::Work };
            let landed = at % 7 == 0;
            many.push(Bar { landed, ..bar(lane, deed, begin, begin + 900, &"x".repeat(5_000)) });
        }
        let svg = timeline(&many).unwrap();
        assert!(svg.matches("<rect").count() <= BARS_MAX + 10, "{}", svg.matches("<rect").count());
        assert!(svg.len() < 600_000, "{}", svg.len());
        assert!(svg.contains("lane 63") && svg.contains("the others") && !svg.contains("lane 65"));
        assert!(svg.contains("work: ") && svg.contains("landed: "), "what a stretch stands for");
    }

    #[test]
    fn there_are_ten_marks_at_most_however_long_it_was() {
        for long in [1, 999, 12_345, 600_000, 90_000_000, 5_000_000_000, u64::MAX / 2] {
            assert!(long / step(long) <= 10, "{long}");
        }
    }
}
