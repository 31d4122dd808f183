//! How runs and units stand, in the words of whoever reads it. What programs read is in `face.rs`, and stays English.

use windlass_core::run::{Run, Standing, Why};
use windlass_core::workflow::{RunOutcome, Settled};
use windlass_words::Words;

use crate::progress::Watch;
use crate::render::clean;
use crate::story::why;

/// How a run stands.
pub fn stands(run: &Run, words: Words) -> String {
    let id = match run.standing() {
        Standing::Running => "status-under-way",
        Standing::Parked(_) => "status-limited",
        Standing::Stopped => "status-stopped",
        Standing::Waiting => "status-waiting",
        Standing::Exhausted => "status-exhausted",
        Standing::Escalated => "status-escalated",
        Standing::Resting => "status-resting",
        Standing::Ended(outcome) => return ended(outcome, words),
        Standing::Stuck => "status-stuck",
    };
    words.say(id, &[])
}

/// How a run ended.
pub fn ended(outcome: RunOutcome, words: Words) -> String {
    let id = match outcome {
        RunOutcome::Done => "status-run-done",
        RunOutcome::Failed => "status-run-failed",
        RunOutcome::Escalated => "status-run-escalated",
        RunOutcome::Rejected => "status-run-rejected",
        RunOutcome::Stopped => "status-run-stopped",
        RunOutcome::Cancelled => "status-run-cancelled",
    };
    words.say(id, &[])
}

/// Where a run that waits for a person waits, and why: a line for each unit, and one for the run itself.
pub fn holds(run: &Run, words: Words) -> Vec<String> {
    let flow = run.workflow();
    let line = |(unit, because): (Option<std::sync::Arc<str>>, Why)| {
        let why = why(flow, because, words);
        let view = unit.as_deref().and_then(|unit| run.unit_named(unit));
        let Some(view) = view else { return words.say("status-holds-itself", &[("why", &why)]) };
        let stage = view.stage.map_or("", |stage| flow.stage(stage).name.as_str());
        words.say("status-holds", &[("unit", &clean(&view.id)), ("stage", stage), ("why", &why)])
    };
    run.holds().map(line).collect()
}

/// What a run has used up of what it may, and how much of that nobody knows but by what was set aside for it.
pub fn used_up(run: &Run, watch: &Watch, words: Words) -> Vec<String> {
    let (used, cap, cut_off) = (run.purse(), run.caps().run, watch.cut_off());
    let none = || "∞".to_owned();
    let money = |micros: u64| format!("{:.2}", micros as f64 / 1e6);
    let args = [
        ("dollars", money(used.settled.cost_micros)),
        ("most", cap.cost_micros.map_or_else(none, money)),
        ("tokens", used.settled.tokens.to_string()),
        ("tokens_most", cap.tokens.map_or_else(none, |it| it.to_string())),
        ("calls", used.invocations.to_string()),
        ("calls_most", cap.invocations.map_or_else(none, |it| it.to_string())),
        ("time", time(used.active_ms(watch.now().mono_ms))),
        ("time_most", cap.wall_ms.map_or_else(none, time)),
    ];
    let args: Vec<(&str, &str)> = args.iter().map(|(name, it)| (*name, it.as_str())).collect();
    let mut lines = vec![words.say("face-used-up", &args)];
    if cut_off.calls > 0 {
        let args = [
            ("count", cut_off.calls.to_string()),
            ("dollars", money(cut_off.cost_micros)),
            ("tokens", cut_off.tokens.to_string()),
        ];
        let args: Vec<(&str, &str)> = args.iter().map(|(name, it)| (*name, it.as_str())).collect();
        lines.push(words.say("face-cut-off", &args));
    }
    lines
}

/// How a unit settled.
pub fn settled(how: Settled, words: Words) -> String {
    let id = match how {
        Settled::Done => "status-unit-done",
        Settled::Failed => "status-unit-failed",
        Settled::Skipped => "status-unit-skipped",
        Settled::Blocked => "status-unit-blocked",
        Settled::Unfinished => "status-unit-unfinished",
    };
    words.say(id, &[])
}

/// What a unit is blocked by, after that it is.
pub fn because_of(unit: Option<&str>, words: Words) -> String {
    unit.map_or(String::new(), |unit| {
        format!(" {}", words.say("status-because-of", &[("unit", unit)]))
    })
}

/// So much money.
pub fn dollars(micros: u64, words: Words) -> String {
    words.say("status-dollars", &[("amount", &format!("{:.2}", micros as f64 / 1e6))])
}

/// So much time, in two words at most.
pub fn time(ms: u64) -> String {
    let seconds = ms / 1_000;
    match (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60) {
        (0, 0, 0, seconds) => format!("{seconds}s"),
        (0, 0, minutes, seconds) => format!("{minutes}m{seconds:02}s"),
        (0, hours, minutes, _) => format!("{hours}h{minutes:02}m"),
        (days, hours, _, _) => format!("{days}d{hours:02}h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_english_words_are_what_programs_read() {
        let words = Words::default();
        for outcome in [
            RunOutcome::Done,
            RunOutcome::Failed,
            RunOutcome::Escalated,
            RunOutcome::Rejected,
            RunOutcome::Stopped,
            RunOutcome::Cancelled,
        ] {
            assert_eq!(ended(outcome, words), outcome.name());
        }
        for how in [
            Settled::Done,
            Settled::Failed,
            Settled::Skipped,
            Settled::Blocked,
            Settled::Unfinished,
        ] {
            assert_eq!(settled(how, words), how.name());
        }
        assert_eq!(because_of(Some("b"), words), " because of b");
        assert_eq!(dollars(1_234_567, words), "1.23 dollars");
    }
    #[test]
    fn time_is_short_whatever_it_is() {
        let told = [5, 65, 3_700, 93_600].map(|seconds| time(seconds * 1_000));
        assert_eq!(told, ["5s", "1m05s", "1h01m", "1d02h"]);
    }
}
