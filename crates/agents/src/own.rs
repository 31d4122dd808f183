//! What programs of Windlass's own say that speak for an agent inside its lane: the built-in agent, and the one that
//! talks to servers of the Agent Client Protocol. What they are asked is an [`Errand`], in a file of their home; what they
//! print is one [`Said`] in each line, the last of them an end.

use serde::{Deserialize, Serialize};
use windlass_core::lang::Reporter;
use windlass_core::run::{Reported, Usage};

use crate::listen::{Event, Listener, ModelUse, Source, Tally, Tokens};
use crate::price::Prices;
use crate::{Answer, Ask, Came, Fate, Heard, Spend, one_line, schema};

/// Where the errand is, in the home of who runs it.
pub const ERRAND: &str = ".windlass/errand.json";
/// Where the record of the session is, in the same place: lines of [`Said`] among lines of its own.
pub const RECORD: &str = ".windlass/record.jsonl";

/// What a program of Windlass's own is asked to do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Errand {
    /// The part of the prompt that is the same in every invocation of the role.
    pub stable: String,
    /// The rest of it.
    pub prompt: String,
    /// The schema of the answer.
    pub schema: serde_json::Value,
    /// What may be used, by the words that roles use (`read`, `search`, `edit`, `run`, `web`); everything but `web`, if
    /// there is none.
    pub tools: Vec<String>,
    /// Where the lane is.
    pub lane: String,
    /// A name for the session that no other has.
    pub session: String,
    /// The session goes on: its record is there.
    pub resumes: bool,
    /// It had come to its answer there, and is told something further.
    pub further: bool,
    /// What may be used up.
    pub spend: Spend,
    /// What the kind wants to know besides.
    pub own: serde_json::Value,
}

impl Errand {
    /// What an agent is asked, with what its kind wants to know besides.
    pub(crate) fn of(ask: &Ask<'_>, own: serde_json::Value) -> Self {
        Errand {
            stable: ask.stable().to_owned(),
            prompt: ask.rest().to_owned(),
            schema: schema(ask.reporter),
            tools: ask.tools.to_vec(),
            lane: ask.lane.display().to_string(),
            session: ask.session.to_owned(),
            resumes: ask.resumes.is_some(),
            further: ask.further,
            spend: ask.spend,
            own,
        }
    }

    /// As a file of a home.
    pub(crate) fn file(&self) -> (std::path::PathBuf, Vec<u8>) {
        (ERRAND.into(), serde_json::to_vec(self).unwrap_or_default())
    }
}

/// One line of what such a program says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Said {
    /// Its session has this name.
    Session {
        /// The name.
        id: String,
    },
    /// The model said something.
    Text {
        /// What.
        text: String,
    },
    /// A tool is used.
    Tool {
        /// Which.
        name: String,
        /// On what, in a line.
        about: String,
    },
    /// A file was changed.
    Change {
        /// Which, from the lane.
        path: String,
    },
    /// The model is asked once more.
    Turn,
    /// What a request has used up so far. Of several with the same name the largest figures count.
    Usage {
        /// The request's name.
        request: String,
        /// The model's.
        model: String,
        /// Tokens read anew.
        input: u64,
        /// Tokens read from the provider's cache.
        cached: u64,
        /// Tokens written to it.
        cache_write: u64,
        /// Tokens that the model wrote.
        output: u64,
    },
    /// It waits so long before it asks its provider again.
    Waits {
        /// Milliseconds.
        ms: u64,
    },
    /// Its provider serves it no more until then, in milliseconds since 1970, if it says.
    Limit {
        /// When.
        until: Option<i64>,
    },
    /// It was not allowed to use a tool.
    Denied {
        /// Which.
        tool: String,
    },
    /// What a person should know.
    Remark {
        /// In a line.
        text: String,
    },
    /// It has ended.
    End(End),
}

/// How it ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct End {
    /// What it came to.
    pub came: Fin,
    /// The answer, if there is one: an object of the schema, or what the model said last.
    pub text: String,
    /// Why, if it did not come to an answer.
    pub why: String,
    /// Whether everything that was used up was heard of.
    pub accounted: bool,
    /// What it cost, in millionths of a dollar, if somebody says so who knows.
    pub cost_micros: Option<u64>,
}

/// What it came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fin {
    /// The model has answered.
    Done,
    /// Its provider serves it no more for now.
    Limited,
    /// Its provider cannot serve it just now.
    Overloaded,
    /// Its provider does not let it in.
    Unwelcome,
    /// The model would not do it.
    Refused,
    /// It ran out of context.
    ContextFull,
    /// It used up what it may, or took the turns that it may.
    Exhausted,
    /// The model's answer was longer than it may be.
    TooLong,
    /// Anything else.
    #[default]
    Failed,
}

/// Listens to such a program.
#[derive(Clone)]
pub(crate) struct Stream {
    reporter: Reporter,
    prices: Prices,
    tally: Tally,
    limit: Option<i64>,
    remarks: Vec<String>,
    end: Option<End>,
}

/// So many remarks are kept.
const REMARKS: usize = 20;

impl Stream {
    pub(crate) fn new(reporter: Reporter, prices: Prices) -> Self {
        Stream {
            reporter,
            prices,
            tally: Tally::default(),
            limit: None,
            remarks: Vec::new(),
            end: None,
        }
    }

    fn remark(&mut self, text: &str) {
        let text = one_line(text);
        if self.remarks.len() < REMARKS && !self.remarks.contains(&text) {
            self.remarks.push(text);
        }
    }

    fn usage(&self, end: &End) -> Usage {
        let seen = self.tally.usage(&self.prices);
        let tokens = if end.accounted { seen.tokens } else { Reported::Unknown };
        let cost = match (end.cost_micros, end.accounted) {
            (Some(cost), _) => Reported::Known(cost),
            (None, true) => seen.cost,
            (None, false) => Reported::Unknown,
        };
        Usage { cost, tokens }
    }
}

impl Listener for Stream {
    fn line(&mut self, from: Source, line: &[u8]) -> Vec<Event> {
        let Ok(said) = serde_json::from_slice(line) else { return Vec::new() };
        // Its own record says what it has used up, and that is all that is of interest there.
        let heeds = match from {
            Source::Output => true,
            Source::Record | Source::Past => matches!(said, Said::Usage { .. }),
            Source::Before => false,
        };
        if !heeds {
            return Vec::new();
        }
        vec![match said {
            Said::Session { id } => Event::Session(id),
            Said::Text { text } => Event::Text(text),
            Said::Tool { name, about } => {
                Event::Tool { name: one_line(&name), about: one_line(&about) }
            }
            Said::Change { path } => Event::Change(one_line(&path)),
            Said::Turn => Event::Turn,
            Said::Usage { request, model, input, cached, cache_write, output } => {
                let tokens = Tokens { input, cached, cache_write, output };
                self.tally.request(&request, &model, tokens);
                Event::Usage(self.tally.usage(&self.prices))
            }
            Said::Waits { ms } => Event::Waits(ms),
            Said::Limit { until } => {
                self.limit = until.or(self.limit);
                Event::Limit(until)
            }
            Said::Denied { tool } => {
                let tool = one_line(&tool);
                self.remark(&format!("it was not allowed to use {tool}"));
                Event::Denied(tool)
            }
            Said::Remark { text } => {
                self.remark(&text);
                return Vec::new();
            }
            Said::End(end) => {
                self.end = Some(end);
                return Vec::new();
            }
        }]
    }

    fn models(&self) -> Vec<ModelUse> {
        self.tally.models(&self.prices)
    }

    fn answer(self: Box<Self>, output: &Heard<'_>) -> Answer {
        let mut answer = match (output.fate, &self.end) {
            (Fate::TimedOut, _) => Answer::only(Came::TimedOut, "it took too long"),
            (Fate::Signalled(signal), _) => {
                Answer::only(Came::Killed, format!("it was ended by signal {signal}"))
            }
            (Fate::Exited(0), Some(end)) if end.came == Fin::Done => {
                Answer::of_text(Fate::Exited(0), end.text.clone(), &self.reporter)
            }
            (Fate::Exited(_), Some(end)) if end.came != Fin::Done => {
                Answer::only(self.failure(end.came), one_line(&end.why))
            }
            (Fate::Exited(code), _) => {
                Answer::only(Came::Crashed, format!("it exited with {code} and gave no result"))
            }
        };
        answer.usage = self.end.as_ref().map_or(Usage::UNKNOWN, |end| self.usage(end));
        answer.remarks.extend(self.remarks);
        answer
    }
}

impl Stream {
    fn failure(&self, fin: Fin) -> Came {
        match fin {
            Fin::Limited => Came::Limited(self.limit),
            Fin::Overloaded => Came::Overloaded,
            Fin::Unwelcome => Came::Unwelcome,
            Fin::Refused => Came::Refused,
            Fin::ContextFull => Came::ContextFull,
            Fin::Exhausted => Came::Exhausted,
            Fin::TooLong => Came::TooLong,
            Fin::Done | Fin::Failed => Came::Crashed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcripts::{comes_to, worker};

    fn stream(lines: &[Said]) -> Vec<u8> {
        let lines = lines.iter().map(|said| serde_json::to_string(said).unwrap() + "\n");
        lines.collect::<String>().into_bytes()
    }

    fn listener() -> Box<Stream> {
        let prices = toml::from_str("m = { input = 1.0, output = 10.0 }").unwrap();
        Box::new(Stream::new(worker(), prices))
    }

    fn usage(request: &str, input: u64, output: u64) -> Said {
        let (request, model) = (request.to_owned(), "m".to_owned());
        Said::Usage { request, model, input, cached: 0, cache_write: 0, output }
    }

    fn end(came: Fin, accounted: bool) -> Said {
        let (text, why) = ("done: as asked".to_owned(), "because".to_owned());
        Said::End(End { came, text, why, accounted, cost_micros: None })
    }

    #[test]
    fn an_end_is_what_it_says_and_what_was_used_is_counted_once() {
        let lines = stream(&[Said::Turn, usage("a", 10, 1), usage("a", 10, 5), usage("b", 20, 0)]);
        for (fin, want) in [
            (Fin::Done, Came::Verdict("done".to_owned())),
            (Fin::Limited, Came::Limited(None)),
            (Fin::Overloaded, Came::Overloaded),
            (Fin::Unwelcome, Came::Unwelcome),
            (Fin::Refused, Came::Refused),
            (Fin::ContextFull, Came::ContextFull),
            (Fin::Exhausted, Came::Exhausted),
            (Fin::TooLong, Came::TooLong),
            (Fin::Failed, Came::Crashed),
        ] {
            let all = [lines.clone(), stream(&[end(fin, true)])].concat();
            let code = i32::from(fin != Fin::Done);
            let (came, usage) = comes_to(listener(), &all, Fate::Exited(code));
            assert_eq!(came, want);
            let (cost, tokens) = (Reported::Known(80), Reported::Known(35));
            assert_eq!(usage, Usage { cost, tokens }, "{fin:?}");
        }
        let all = [lines.clone(), stream(&[end(Fin::Done, false)])].concat();
        assert_eq!(comes_to(listener(), &all, Fate::Exited(0)).1, Usage::UNKNOWN);
        for (fate, want) in [
            (Fate::Exited(0), Came::Crashed),
            (Fate::Signalled(9), Came::Killed),
            (Fate::TimedOut, Came::TimedOut),
        ] {
            assert_eq!(comes_to(listener(), &lines, fate), (want, Usage::UNKNOWN));
        }
        let (came, _) = comes_to(listener(), &all, Fate::Exited(1));
        assert_eq!(came, Came::Crashed, "who says that all is well and fails has failed");
    }

    #[test]
    fn a_limit_says_until_when_and_remarks_are_heard() {
        let mut own = listener();
        let lines = [
            Said::Limit { until: Some(77) },
            Said::Denied { tool: "rm".into() },
            Said::Remark { text: "it was made short".into() },
            end(Fin::Limited, true),
        ];
        for line in stream(&lines).split(|byte| *byte == b'\n') {
            own.line(Source::Output, line);
        }
        let answer = own.answer(&Heard { fate: Fate::Exited(1), stdout: b"" });
        assert_eq!(answer.came, Came::Limited(Some(77)));
        let remarks = ["because", "it was not allowed to use rm", "it was made short"];
        assert_eq!(answer.remarks, remarks);
    }

    #[test]
    fn of_a_record_only_what_was_used_up_counts() {
        let mut own = listener();
        let past = stream(&[usage("a", 100, 0), end(Fin::Done, true)]);
        for line in past.split(|byte| *byte == b'\n') {
            own.line(Source::Past, line);
        }
        assert!(own.end.is_none());
        assert_eq!(own.tally.usage(&own.prices).tokens, Reported::Known(100));
    }
}
