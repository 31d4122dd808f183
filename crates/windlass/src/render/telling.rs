//! Entries of a journal in lines for people: what a run says while it goes on, and what `windlass log` says afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windlass_core::run::{EffectId, Ended, Ending, Event, FrameId, Moved, Run, Why};
use windlass_core::workflow::{Go, ScopeIx, StageIx, Workflow};
use windlass_engine::date;
use windlass_engine::entry::{Check, Entry, Invocation, Note, Picture};
use windlass_words::Words;

use crate::asked::asked;
use crate::render::{because_of, clean, in_a_line, settled};
use crate::story::{Whereabouts, why};

/// Tells entries one after the other; it remembers what it needs to say whose they are.
pub struct Teller {
    flow: Arc<Workflow>,
    whereabouts: Whereabouts,
    /// Effects whose end has been told with what the agent said.
    told: BTreeSet<EffectId>,
    /// Checks of which it has been said that nobody can run them: once is enough.
    missing: BTreeSet<String>,
    /// The stage and the verdict that led to where each frame is, if decisions are told that are made by going there.
    led: Option<BTreeMap<FrameId, String>>,
    words: Words,
}

impl Teller {
    /// For a run that is told from its beginning.
    pub fn new(flow: Arc<Workflow>, words: Words) -> Self {
        Teller::beginning(Whereabouts::new(flow.clone()), flow, words)
    }

    /// For a run that is told from where it is.
    pub fn of(run: &Run, words: Words) -> Self {
        let flow = run.workflow().clone();
        Teller::beginning(Whereabouts::of(run), flow, words)
    }

    fn beginning(whereabouts: Whereabouts, flow: Arc<Workflow>, words: Words) -> Self {
        let (told, missing) = (BTreeSet::new(), BTreeSet::new());
        Teller { whereabouts, flow, told, missing, led: None, words }
    }

    /// Tells decisions as well that are made by entering a stage, with what led there.
    #[must_use]
    pub fn with_decisions(self) -> Self {
        Teller { led: Some(BTreeMap::new()), ..self }
    }

    /// From now on it tells in these words.
    pub fn speaks(&mut self, words: Words) {
        self.words = words;
    }

    /// An entry in lines, each fit to be shown; `run` is as it is after it. Most entries are worth none.
    pub fn tell(&mut self, entry: &Entry, run: &Run) -> Vec<String> {
        let lines = match entry {
            Entry::Note(noted) => self.note(&noted.note),
            Entry::Event(recorded) => {
                self.whereabouts.enter(run, &recorded.event);
                self.event(&recorded.event, run)
            }
        };
        // Whatever somebody else wrote stays on its own line.
        lines.iter().map(|line| clean(line)).collect()
    }

    fn say(&self, id: &str, args: &[(&str, &str)]) -> String {
        self.words.say(id, args)
    }

    fn note(&mut self, note: &Note) -> Vec<String> {
        match note {
            Note::Asked(asked) => {
                let Invocation { role, agent, attempt, .. } = asked;
                let again = || self.say("tell-attempt", &[("attempt", &attempt.to_string())]);
                let again = if *attempt > 1 { format!(", {}", again()) } else { String::new() };
                vec![format!("{}{role} ({agent}){again}", self.whose(asked))]
            }
            Note::Answered(it) => {
                self.told.insert(it.asked.effect);
                let mut lines = vec![format!("{}{}", self.whose(&it.asked), it.came)];
                lines.extend(it.remarks.iter().map(|remark| format!("    {remark}")));
                lines
            }
            Note::Checked { unit, name, came, command, output, .. } => {
                // Where Windlass has looked itself, there is no command to miss.
                let looked = command.is_none() && output.is_some();
                if *came == Check::Skipped && !looked && !self.missing.insert(name.clone()) {
                    return Vec::new();
                }
                vec![format!(
                    "{}{}",
                    of(unit),
                    self.checked(name, *came, command.is_some(), looked)
                )]
            }
            Note::Landed { .. }
            | Note::Turned { .. }
            | Note::Queued { .. }
            | Note::Proved { .. }
            | Note::Coupled { .. } => self.landing(note),
            Note::Lost { effect, kept } => {
                let mut lines =
                    vec![self.say("tell-cut-off", &[("effect", &effect.0.to_string())])];
                lines.extend(kept.as_ref().map(|kept| {
                    let command = [("command", &*restore(kept))];
                    format!("    {}", self.say("tell-edits-kept", &command))
                }));
                lines
            }
            Note::Told { text, .. } => text.lines().map(str::to_owned).collect(),
            Note::Kept { unit, commit } => {
                let command = [("command", &*restore(commit))];
                vec![format!("{unit}: {}", self.say("tell-lane-kept", &command))]
            }
            Note::ByHand { unit, .. } => {
                vec![format!("{}{}", of(unit), self.say("tell-by-hand", &[]))]
            }
            Note::Browsed { unit, pictures, .. } => {
                pictures.iter().map(|it| format!("{}{}", of(unit), self.pictured(it))).collect()
            }
            Note::Conflicted { .. }
            | Note::Foreseen { .. }
            | Note::ForeseenOver { .. }
            | Note::HeldBack { .. } => self.conflict(note).into_iter().collect(),
            Note::TakenUp { .. }
            | Note::Laned { .. }
            | Note::LetGo { .. }
            | Note::Tidied
            | Note::Based { .. }
            | Note::BaseChecked { .. }
            | Note::Saved { .. }
            | Note::Paper { .. }
            | Note::Left { .. }
            | Note::Shown { .. } => Vec::new(),
        }
    }

    /// What became of a landing, or of several together.
    fn landing(&self, note: &Note) -> Vec<String> {
        match note {
            Note::Landed { unit, commit, branch, waits, why, .. } => {
                let where_to =
                    [("commit", &commit[..commit.len().min(10)]), ("branch", branch.as_str())];
                let Some(command) = waits else {
                    return vec![format!("{}{}", of(unit), self.say("tell-landed", &where_to))];
                };
                let why = why.as_ref().map_or(String::new(), |why| format!(": {why}"));
                vec![
                    format!("{}{}{why}", of(unit), self.say("tell-waits-beside", &where_to)),
                    format!("    {}", self.say("tell-take-it", &[("command", command)])),
                ]
            }
            Note::Turned { unit, came, .. } => {
                let id = match came.as_str() {
                    "moved" => "tell-rebuilt",
                    "fail" => "tell-not-together",
                    _ => "tell-conflict",
                };
                vec![format!("{}{}", of(unit), self.say(id, &[]))]
            }
            Note::Queued { unit, .. } => {
                vec![format!("{}{}", of(unit), self.say("tell-queued", &[]))]
            }
            // What one comes to alone is told with what becomes of it.
            Note::Proved { units, came, .. } if units.len() > 1 => {
                let red = *came == Check::Fail;
                let id = if red { "tell-together-fail" } else { "tell-together-pass" };
                vec![self.say(id, &[("units", &*units.join(" + "))])]
            }
            _ => Vec::new(),
        }
    }

    fn pictured(&self, picture: &Picture) -> String {
        let Picture { assertion, name, file, .. } = picture;
        self.say("tell-picture", &[("assertion", assertion), ("name", name), ("file", file)])
    }

    /// What is to be said of work that does not go together with other work.
    fn conflict(&self, note: &Note) -> Option<String> {
        let (unit, said) = match note {
            Note::Conflicted { unit, files } => {
                let files = [("files", &*files.join(", "))];
                return Some(format!("{}{}", of(unit), self.say("tell-conflicts-in", &files)));
            }
            Note::Foreseen { earlier, later, files, .. } => {
                let what = [("other", &**earlier), ("files", &*files.join(", "))];
                (later, self.say("tell-foreseen", &what))
            }
            Note::ForeseenOver { earlier, later } => {
                (later, self.say("tell-foreseen-over", &[("other", earlier)]))
            }
            Note::HeldBack { unit, behind, .. } => {
                (unit, self.say("tell-held-back", &[("other", behind)]))
            }
            _ => return None,
        };
        Some(format!("{unit}: {said}"))
    }

    fn checked(&self, name: &str, came: Check, has_command: bool, looked: bool) -> String {
        let id = match came {
            Check::Pass => "tell-check-pass",
            Check::Fail => "tell-check-fail",
            Check::FailedBefore => "tell-check-failed-before",
            Check::Skipped if looked => "tell-check-skipped",
            Check::Skipped if has_command => "tell-check-not-installed",
            Check::Skipped => "tell-check-no-command",
        };
        self.say(id, &[("name", name)])
    }

    fn event(&mut self, event: &Event, run: &Run) -> Vec<String> {
        let line = match event {
            Event::UnitStarted { unit, .. } => run.unit_at(*unit).map(|unit| {
                let begins = self.say("tell-begins", &[("title", &in_a_line(&unit.title))]);
                format!("{}: {begins}", unit.id)
            }),
            Event::UnitSettled { unit, how, because, by } => {
                let id = self.whereabouts.unit_id(run, *unit).unwrap_or_default();
                let because = because.and_then(|unit| self.whereabouts.unit_id(run, unit));
                let because = because_of(because.as_deref(), self.words);
                let by = by.as_ref().map_or(String::new(), |by| {
                    let by = [("who", &*by.who), ("reason", &*by.reason)];
                    format!(" {}", self.say("tell-by", &by))
                });
                Some(format!("{id}: {}{because}{by}", settled(*how, self.words)))
            }
            Event::Reported(ending) => self.trouble(ending),
            Event::Asked { gate, frame, policy: None, .. } => {
                let question = run.gate(*gate).map_or(String::new(), |it| {
                    format!(": {}", asked(it, run, self.words).question)
                });
                let asks = self.say("tell-asks", &[("gate", &gate.0.to_string())]);
                Some(format!("{}{asks}{question}", self.here(*frame)))
            }
            Event::Asked { frame, policy: Some(policy), .. } => {
                let answer = self.answer(*frame, policy.verdict);
                let name = policy.name.as_deref().map(str::to_owned);
                let name = name.unwrap_or_else(|| self.say("tell-policy", &[]));
                let record = policy.record.as_deref();
                let record = record.map_or(String::new(), |record| format!(" ({record})"));
                Some(format!("{}{}{record}", self.here(*frame), self.answered(&answer, &name)))
            }
            Event::Answered { gate, verdict, text, who, .. } => {
                let frame = self.whereabouts.asker(*gate);
                let answer = frame.map(|frame| self.answer(frame, *verdict)).unwrap_or_default();
                let of = frame.map(|frame| self.here(frame)).unwrap_or_default();
                let text = text.as_ref().map_or(String::new(), |text| format!(" — {text}"));
                Some(format!("{of}{}{text}", self.answered(&answer, who)))
            }
            Event::Moved(moved) => {
                self.leads(moved);
                self.moved(moved)
            }
            Event::Entered { frame, stage, .. } => self.decided(*frame, *stage),
            Event::Held { frame, why: because } => {
                let mut why = why(&self.flow, *because, self.words);
                if *because == Why::Broke {
                    why.push_str(&self.spent(*frame, run));
                }
                Some(format!("{}{}", self.here(*frame), self.say("tell-waits", &[("why", &why)])))
            }
            Event::Overridden { frame, stage, verdict, by } => {
                let stage = self.flow.stage(*stage);
                let (name, verdict) = (&stage.name, &stage.verdict(*verdict).name);
                let by = [("verdict", &**verdict), ("who", &*by.who), ("reason", &*by.reason)];
                Some(format!("{}{name}: {}", self.unit(*frame), self.say("tell-overridden", &by)))
            }
            Event::Redone { frame, stage, who } => {
                let name = &self.flow.stage(*stage).name;
                let again = self.say("tell-redone", &[("who", who)]);
                Some(format!("{}{name}: {again}", self.unit(*frame)))
            }
            Event::StopAsked { who } => Some(self.say("tell-stops", &[("who", who)])),
            Event::PauseAsked { who } => Some(self.say("tell-pauses", &[("who", who)])),
            Event::ResumeAsked { who } => Some(self.say("tell-goes-on", &[("who", who)])),
            Event::CancelAsked { who } => Some(self.say("tell-cancels", &[("who", who)])),
            Event::CapsRaised { who, .. } => Some(self.say("tell-caps-raised", &[("who", who)])),
            _ => None,
        };
        line.into_iter().collect()
    }

    /// What a unit has used up of what it may, so that whoever raises a cap raises the right one.
    fn spent(&self, frame: FrameId, run: &Run) -> String {
        let unit = self.whereabouts.place(frame).unit;
        let Some(unit) = unit.and_then(|unit| run.unit_named(&unit)) else { return String::new() };
        let (used, caps) = (unit.purse.settled, run.caps().unit);
        let dollars = |micros: u64| format!("{:.2}", micros as f64 / 1e6);
        let (most, tokens_most) =
            (caps.cost_micros.map(dollars), caps.tokens.map(|it| it.to_string()));
        let none = || "∞".to_owned();
        let args = [
            ("dollars", dollars(used.cost_micros)),
            ("most", most.unwrap_or_else(none)),
            ("tokens", used.tokens.to_string()),
            ("tokens_most", tokens_most.unwrap_or_else(none)),
        ];
        let args: Vec<(&str, &str)> = args.iter().map(|(name, it)| (*name, it.as_str())).collect();
        format!(" ({})", self.say("tell-spent", &args))
    }

    /// A report that was not simply taken.
    fn trouble(&self, ending: &Ending) -> Option<String> {
        let at = self.at(ending.effect)?;
        match (&ending.ended, ending.fault.as_deref()) {
            // What it said is not what counts: why, only the core knows.
            (Ended::Mishap(mishap), Some(fault)) => Some(format!("{at}{}: {fault}", mishap.name())),
            (Ended::Mishap(mishap), None) if !self.told.contains(&ending.effect) => {
                Some(format!("{at}{}", mishap.name()))
            }
            (Ended::Limited(until), _) => {
                let until = [("instant", &*date::instant(*until))];
                Some(format!("{at}{}", self.say("tell-limited", &until)))
            }
            _ => None,
        }
    }

    /// Keeps what led on, for whoever asks why a stage was entered.
    fn leads(&mut self, moved: &Moved) {
        let Some(led) = &mut self.led else { return };
        let stage = self.flow.stage(moved.stage);
        let came = moved.verdict.map(|verdict| stage.verdict(verdict).name.as_str());
        let spent = moved
            .spent
            .map(|at| format!("{} is spent", self.flow.counters[usize::from(at.0)].name));
        let why: Vec<String> = came.map(str::to_owned).into_iter().chain(spent).collect();
        led.insert(moved.frame, format!("{}: {}", stage.name, why.join(", ")));
    }

    /// What is decided by entering a stage, and why it was entered.
    fn decided(&self, frame: FrameId, stage: StageIx) -> Option<String> {
        let (led, own) = (self.led.as_ref()?, self.flow.stage(stage));
        let record = own.record.as_ref()?;
        let why = led.get(&frame).map_or(String::new(), |why| format!(" ({why})"));
        Some(format!("{}{}: {record}{why}", self.unit(frame), own.name))
    }

    /// A move that says something, or that settles a unit.
    fn moved(&self, moved: &Moved) -> Option<String> {
        if let Some(record) = &moved.record {
            return Some(format!("{}{record}", self.here(moved.frame)));
        }
        let place = self.whereabouts.place(moved.frame);
        let own =
            place.scope.as_deref() == Some(crate::render::scope_text(&self.flow, ScopeIx::UNIT));
        match (&moved.go, place.unit) {
            (Go::Leave(how), Some(unit)) if own && place.child.is_none() => {
                Some(format!("{unit}: {}", settled(*how, self.words)))
            }
            _ => None,
        }
    }

    fn answered(&self, answer: &str, who: &str) -> String {
        self.say("tell-answered", &[("answer", answer), ("who", who)])
    }

    /// Whose an invocation is, before what is said of it.
    fn whose(&self, asked: &Invocation) -> String {
        let part = asked.task.as_ref().map_or(String::new(), |part| {
            let called = super::called(&self.flow, &asked.stage);
            format!("{}: ", self.say("tell-part", &[("called", called), ("part", part)]))
        });
        format!("{}{part}{}: ", of(&asked.unit), asked.stage)
    }

    fn unit(&self, frame: FrameId) -> String {
        self.whereabouts.place(frame).unit.map_or(String::new(), |unit| format!("{unit}: "))
    }

    /// Whose a frame is and what it is at.
    fn here(&self, frame: FrameId) -> String {
        let stage = self.whereabouts.stage(frame).map(|stage| &self.flow.stage(stage).name);
        let stage = stage.map_or(String::new(), |stage| format!("{stage}: "));
        format!("{}{stage}", self.unit(frame))
    }

    fn at(&self, effect: EffectId) -> Option<String> {
        self.whereabouts.landed(effect).map(|(frame, _)| self.here(frame))
    }

    fn answer(&self, frame: FrameId, verdict: windlass_core::workflow::VerdictIx) -> String {
        let stage = self.whereabouts.stage(frame).map(|stage| self.flow.stage(stage));
        stage.map_or(String::new(), |stage| stage.verdict(verdict).name.clone())
    }
}

/// A unit, before what is said of it.
fn of(unit: &Option<String>) -> String {
    unit.as_ref().map_or(String::new(), |unit| format!("{unit}: "))
}

/// How to have back what was kept.
pub fn restore(commit: &str) -> String {
    format!("windlass lanes restore {commit} DIRECTORY")
}

#[cfg(test)]
mod tests {
    use windlass_core::run::EffectId;

    use super::*;
    use crate::commands::workflow::built_in;

    #[test]
    fn a_part_of_a_unit_is_called_what_its_workflow_calls_it() {
        for (of, stage, want) in [
            ("issues", "apply", "I-1: group g1: apply: "),
            ("autopilot", "do", "I-1: task g1: do: "),
        ] {
            let asked = Invocation {
                effect: EffectId(1),
                unit: Some("I-1".to_owned()),
                task: Some("g1".to_owned()),
                stage: stage.to_owned(),
                role: "worker".to_owned(),
                agent: "acted".to_owned(),
                panel: None,
                attempt: 1,
                prompt: String::new(),
            };
            let teller = Teller::new(built_in(of).unwrap(), Words::default());
            assert_eq!(teller.whose(&asked), want);
        }
    }
}
