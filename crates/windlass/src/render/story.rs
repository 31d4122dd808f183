//! A story for people: a heading for each unit and child, a line for each move, indented below it.

use std::collections::{BTreeMap, BTreeSet};

use super::text::{BAD, FAINT, GOOD, Line, PLAIN, STRONG, WARN, WORD, count, plural, widest};
use super::view::Goal;
use crate::story::{Counted, MovedStep, OptionStep, Place, Step, What};

/// Names wider than this push their line's words to the right instead of everybody's.
const NAME_MAX: usize = 22;
/// As wide as the widest word for a kind, `decide`, and a gap.
const KIND_WIDTH: usize = 8;

/// The steps, in so many columns. `called` is what the workflow calls a unit.
pub fn story(steps: &[Step], called: &str, width: usize) -> String {
    let names = widest(steps.iter().filter_map(|step| step.what.stage()), NAME_MAX);
    let mut page = Page {
        text: String::new(),
        width,
        names,
        called,
        last: Place::RUN,
        seen: BTreeSet::new(),
        entered: BTreeMap::new(),
    };
    for step in steps {
        page.step(step);
    }
    page.text.truncate(page.text.trim_end().len());
    page.text
}

struct Page<'a> {
    text: String,
    width: usize,
    names: usize,
    called: &'a str,
    /// Where the last line was.
    last: Place,
    seen: BTreeSet<Place>,
    /// What entering a stage counted and recorded, until its move is told.
    entered: BTreeMap<Place, String>,
}

impl Page<'_> {
    fn line(&mut self, line: &Line) {
        self.text.push_str(&line.fold(self.width));
        self.text.push('\n');
    }

    fn step(&mut self, step: &Step) {
        let lane = match step.what {
            What::UnitStarted { lane } => format!(" in lane {}", lane.0 + 1),
            _ => String::new(),
        };
        // Where no line follows, no heading is needed.
        if !matches!(step.what, What::Finale { .. }) {
            self.heading(&step.place, &lane);
        }
        let depth = depth(&step.place);
        match &step.what {
            What::Started { .. } | What::UnitStarted { .. } => {}
            What::UnitSettled { how, because, reason } => {
                let because =
                    because.as_ref().map_or(String::new(), |id| format!(", because of {id}"));
                let reason = reason.as_ref().map_or(String::new(), |why| format!(" ({})", why));
                let line = Line::at(depth).add(PLAIN, "settles as ").add(outcome_style(how), how);
                self.line(&line.add(PLAIN, because).add(FAINT, reason));
            }
            What::Passed { stage, when } => {
                let when = when
                    .as_ref()
                    .map_or(String::new(), |when| format!(", as this is false: {when}"));
                let line = self.lead(depth, stage, "");
                self.line(&line.add(FAINT, format!("passed over{when}")));
            }
            What::Entered { stage, kind, count, record } => {
                let notes = entering(count.as_ref(), record.as_deref());
                if *kind == "each" {
                    let line = self.lead(depth, stage, kind).add(PLAIN, "begins").add(FAINT, notes);
                    self.line(&line);
                } else {
                    // Said with the move that it leads to.
                    self.entered.insert(step.place.clone(), notes);
                }
            }
            What::Trouble { stage, note } => {
                let line = self.lead(depth, stage, "").add(WARN, note);
                self.line(&line);
            }
            What::FellBack { stage, agent } => {
                let line =
                    self.lead(depth, stage, "").add(WARN, format!("falls back to {}", agent));
                self.line(&line);
            }
            What::Asked { stage, question, concerns, options, .. } => {
                self.asked(depth, stage, question, concerns, options);
            }
            What::Moved(moved) => self.moved(&step.place, moved),
            What::Held { stage, why } => {
                let line = self.lead(depth, stage.as_deref().unwrap_or(""), "");
                self.line(&line.add(WARN, format!("held: {}", why)));
            }
            What::Resumed { stage } => {
                let line = self.lead(depth, stage.as_deref().unwrap_or(""), "");
                self.line(&line.add(FAINT, "goes on"));
            }
            What::Wish { who, wish } => {
                let line = Line::at(depth).add(WARN, format!("{} {}", who, wish));
                self.line(&line);
            }
            What::Finale { .. } | What::Ended { .. } => {}
        }
    }

    /// A heading, when the last line was about somebody else. The run's own lines need none.
    fn heading(&mut self, place: &Place, lane: &str) {
        let Some(scope) = place.scope.as_deref().filter(|_| self.last != *place) else { return };
        let holder = Place { child: None, ..place.clone() };
        let same_unit = place.unit.is_some() && self.last.unit == place.unit;
        let within_unit =
            same_unit && scope != "between" && self.last.scope.as_deref() != Some("between");
        if !within_unit {
            let holder_scope = if place.child.is_some() { "unit" } else { scope };
            let unit = Place { scope: Some(holder_scope.to_owned()), ..holder };
            let again = if self.seen.contains(&unit) { ", still" } else { lane };
            let words = self.holder(&unit);
            self.line(&Line::at(0).add(STRONG, words).add(FAINT, again));
            self.seen.insert(unit);
        }
        if let Some(child) = place.child {
            let again = if self.seen.contains(place) { ", still" } else { "" };
            let words = format!("{scope} {child}");
            self.line(&Line::at(2).add(STRONG, words).add(FAINT, again));
            self.seen.insert(place.clone());
        }
        self.last = place.clone();
    }

    fn holder(&self, place: &Place) -> String {
        match (place.scope.as_deref(), &place.unit) {
            (Some("between"), Some(unit)) => format!("between, after {}", unit),
            (Some("unit"), Some(unit)) => format!("{} {}", self.called, unit),
            (Some(scope), _) => scope.to_owned(),
            (None, _) => String::new(),
        }
    }

    fn lead(&self, depth: usize, stage: &str, kind: &str) -> Line {
        Line::at(depth)
            .lead(STRONG, stage, self.names)
            .lead(PLAIN, "  ", 0)
            .lead(FAINT, kind, KIND_WIDTH)
    }

    fn asked(
        &mut self,
        depth: usize,
        stage: &str,
        question: &str,
        concerns: &[String],
        options: &[OptionStep],
    ) {
        let mut line = self.lead(depth, stage, "gate").add(PLAIN, question);
        if !concerns.is_empty() {
            line = line.add(WARN, format!(" (concerns: {})", concerns.join(", ")));
        }
        self.line(&line);
        let names = widest(options.iter().map(|option| option.option.as_str()), NAME_MAX);
        for option in options {
            let label = Some(&option.label).filter(|label| **label != option.option);
            let about = option.about.as_ref().or(label).map_or("", String::as_str);
            let line =
                self.lead(depth, "", "").lead(WORD, &option.option, names).lead(PLAIN, "  ", 0);
            self.line(&line.add(FAINT, about));
        }
    }

    fn moved(&mut self, place: &Place, moved: &MovedStep) {
        let mut line = self.lead(depth(place), &moved.stage, moved.kind);
        if let Some(answer) = &moved.answer {
            line = line.add(PLAIN, format!("{} answers ", &answer.who));
        }
        let style = if moved.mishap { WARN } else { WORD };
        line = match &moved.verdict {
            Some(verdict) => line.add(style, verdict),
            None => line.add(WARN, "not entered"),
        };
        line = line.add(FAINT, " → ").add(goal_style(&moved.goal), moved.goal.words(&moved.stage));
        if let Some(count) = &moved.count {
            line = line.add(FAINT, format!(" ({})", counted(count)));
        }
        if let Some(spent) = &moved.spent {
            line = line.add(WARN, format!(", as {} is spent", spent_words(spent)));
        }
        let on_entering = self.entered.remove(place).unwrap_or_default();
        self.line(&line.add(FAINT, on_entering).add(FAINT, self.notes(moved)));
    }

    /// What else was noted on the way.
    fn notes(&self, moved: &MovedStep) -> String {
        let mut notes = String::new();
        for adds in &moved.adds {
            let scope = if adds.scope == "unit" { self.called } else { &adds.scope };
            notes.push_str(&format!("; adds {} ({})", count(adds.items as u64, scope), adds.list));
        }
        if !moved.waive.is_empty() {
            notes.push_str(&format!("; waives {}", moved.waive.join(", ")));
        }
        if !moved.reset.is_empty() {
            notes.push_str(&format!("; resets {}", moved.reset.join(", ")));
        }
        if let Some(context) = &moved.context {
            notes.push_str(&format!("; with more context: {context}"));
        }
        let policy = moved.answer.as_ref().and_then(|answer| answer.record.as_ref());
        for record in policy.into_iter().chain(&moved.record) {
            notes.push_str(&format!("; records {record}"));
        }
        if let Some(outcome) = moved.outcome {
            notes.push_str(&format!("; the run's outcome is now {outcome}"));
        }
        notes
    }
}

fn depth(place: &Place) -> usize {
    match (&place.scope, place.child) {
        (None, _) => 0,
        (Some(_), None) => 2,
        (Some(_), Some(_)) => 4,
    }
}

fn entering(count: Option<&Counted>, record: Option<&str>) -> String {
    let count = count.map_or(String::new(), |count| format!(" ({} on entering)", counted(count)));
    let record = record.map_or(String::new(), |record| format!("; records {}", record));
    count + &record
}

fn counted(count: &Counted) -> String {
    match count.max {
        Some(max) => format!("{} {} of {max}", count.counter, count.value),
        None => format!("{} {}", count.counter, count.value),
    }
}

fn spent_words(spent: &Counted) -> String {
    match spent.max {
        Some(max) => format!("{} ({} of {max})", spent.counter, spent.value),
        None => spent.counter.clone(),
    }
}

fn goal_style(goal: &Goal) -> clap::builder::styling::Style {
    match goal {
        Goal::End(how) => outcome_style(how),
        Goal::Finish(how) => outcome_style(how),
        Goal::Pause(_) => WARN,
        Goal::To(_) | Goal::Rest(_) | Goal::Return(_) => PLAIN,
    }
}

/// How good it is that something came to this.
pub fn outcome_style(outcome: &str) -> clap::builder::styling::Style {
    match outcome {
        "done" => GOOD,
        "failed" | "escalated" | "rejected" => BAD,
        _ => WARN,
    }
}

/// `3 tasks: 2 done, 1 failed`
pub fn units(called: &str, tally: windlass_core::run::Tally) -> String {
    if tally.total == 0 {
        return format!("no {}", plural(called));
    }
    let parts = [
        (tally.done, "done"),
        (tally.failed, "failed"),
        (tally.skipped, "skipped"),
        (tally.blocked, "blocked"),
        (tally.left(), "unfinished"),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, how)| format!("{number} {how}"))
        .collect();
    format!("{}: {}", count(tally.total, called), parts.join(", "))
}
