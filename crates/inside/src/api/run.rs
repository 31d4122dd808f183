//! How the built-in agent goes on from turn to turn: the model is asked, what it wants is done, and what came of that is
//! what it is asked next. Everything is written down before anything is done about it.

use std::io;
use std::path::Path;

use windlass_agents::api::Own;
use windlass_agents::last_object;
use windlass_agents::own::{End, Errand, Fin, Said};

use super::ask::{Heard, Model, Stopped, Told};
use super::compact::{self, Plan};
use super::conversation::{Call, Conversation, Message, Outcome, Part, Who, tokens};
use super::form::flaws;
use super::record::{Line, Record};
use super::tools::{ANSWER, Did, Hands, about, bounded};
use super::wire::{Asked, Stop};
use crate::Teller;

/// What the model is told before everything else.
const PREAMBLE: &str = "You work on a project by yourself, with tools. Nobody reads along and nobody answers questions: decide for \
     yourself, and do all that you are asked. Your working directory is the top of the project; paths are from there. If you want \
     several things that do not depend on each other, call their tools at once: they are used one after another, and you get \
     all that came of it together. When everything is done, or cannot be done, call `answer`: that ends your work, and what you \
     give it is all that anybody hears of you.\n\n";

/// What came of a call that nobody knows anything about.
/// What becomes of an answer to which something further is said.
const TAKEN: &str = "This was taken as your answer.";
const CUT_OFF: &str = "This was cut off: whether it was done, or how much of it, nobody knows. Look before you repeat it.";

/// A result has at most so many bytes.
const RESULT_BYTES: usize = 32 << 10;
/// And never fewer than this.
const RESULT_BYTES_MIN: usize = 600;
/// So often in a row the model is asked to go on, when its answer was longer than it may be.
const CONTINUED_MAX: u32 = 3;

pub(crate) fn run(errand: &Errand, home: &Path, teller: &mut Teller<'_>) -> io::Result<End> {
    let own: Own = match serde_json::from_value(errand.own.clone()) {
        Ok(own) => own,
        Err(error) => return Ok(failed(format!("its errand makes no sense: {error}"))),
    };
    if !own.key.is_empty() && std::env::var_os(&own.key).is_none_or(|key| key.is_empty()) {
        let why = format!("it has no key: `{}` is not set", own.key);
        return Ok(End { came: Fin::Unwelcome, ..failed(why) });
    }
    let withheld = [own.key.clone()].into_iter().filter(|key| !key.is_empty()).collect();
    let hands = Hands::new(Path::new(&errand.lane), &errand.tools, &errand.schema, withheld);
    let hands = match hands {
        Ok(hands) => hands,
        Err(error) => return Ok(failed(format!("{}: {error}", errand.lane))),
    };
    let began = match errand.resumes {
        true => Record::resume(home),
        false => Record::begin(home, &errand.session, Message::user(&errand.prompt)),
    };
    let (mut record, past) = match began {
        Ok(began) => began,
        Err(error) => return Ok(failed(format!("its record: {error}"))),
    };
    teller.say(&Said::Session { id: errand.session.clone() })?;
    let mut model = Model::new(&own);
    model.requests = past.requests;
    // What it has used up before it was told something further was settled then.
    if !errand.further {
        model.used = past.used;
        model.unaccounted = past.unaccounted;
    }
    let mut run = Run {
        errand,
        own: &own,
        hands,
        model,
        told: Told { teller, record: &mut record },
        talk: past.talk,
        system: format!("{PREAMBLE}{}", errand.stable),
        turns: if errand.further { 0 } else { past.turns },
        window: own.context_tokens,
        measured: None,
        continued: 0,
        corrected: false,
        shortened: false,
    };
    match run.through() {
        Ok(never) => match never {},
        Err(Stopped::Io(error)) => Err(error),
        Err(Stopped::End(end)) => Ok(End { accounted: !run.model.unaccounted, ..end }),
        Err(Stopped::TooLong) => Ok(End {
            came: Fin::ContextFull,
            why: "what was said is longer than the model's window".to_owned(),
            accounted: !run.model.unaccounted,
            ..End::default()
        }),
    }
}

fn failed(why: String) -> End {
    End { why, accounted: true, ..End::default() }
}

/// One session.
struct Run<'a, 't> {
    errand: &'a Errand,
    own: &'a Own,
    hands: Hands,
    model: Model<'a>,
    told: Told<'a, 't>,
    talk: Conversation,
    system: String,
    /// How often the model has answered.
    turns: u32,
    /// How many tokens its window has, as far as is known.
    window: u64,
    /// How many tokens so many messages have, with everything around them, as the provider counted them.
    measured: Option<(usize, u64)>,
    /// How often in a row it was asked to go on.
    continued: u32,
    /// It was told once what is wrong with its answer.
    corrected: bool,
    /// What was said was just made shorter.
    shortened: bool,
}

/// It ends only by stopping.
enum Never {}

impl Run<'_, '_> {
    fn through(&mut self) -> Result<Never, Stopped> {
        self.begin()?;
        loop {
            self.may_go_on()?;
            self.keep_short()?;
            self.told.teller.say(&Said::Turn)?;
            let heard = match self.ask() {
                Err(Stopped::TooLong) => {
                    self.overflows()?;
                    continue;
                }
                heard => heard?,
            };
            self.shortened = false;
            self.turn(heard)?;
        }
    }

    /// Whoever was cut off is told so, unless there is nothing left to do.
    fn begin(&mut self) -> Result<(), Stopped> {
        if !self.errand.resumes {
            return Ok(());
        }
        let open = self.talk.open();
        if self.errand.further {
            let taken = open.iter().map(|call| outcome(call, TAKEN.to_owned(), false));
            let parts: Vec<Part> = taken.chain([Part::text(&self.errand.prompt)]).collect();
            return self.push(Message { who: Who::User, parts });
        }
        if let Some(last) = self.talk.messages.last().filter(|last| last.who == Who::Model)
            && open.iter().all(|call| call.name == ANSWER)
        {
            // It may have had its answer, and nobody heard of it.
            let last = last.clone();
            self.answered(&last, open.first())?;
        }
        let open = self.talk.open().into_iter();
        let parts: Vec<Part> = open.map(|call| outcome(&call, CUT_OFF.to_owned(), true)).collect();
        if !parts.is_empty() {
            self.push(Message { who: Who::User, parts })?;
        }
        self.push(Message::user(&self.errand.prompt))
    }

    /// Adds what somebody says, and writes it down.
    fn push(&mut self, message: Message) -> Result<(), Stopped> {
        self.told.record.write(&Line::Message { message: message.clone() })?;
        self.talk.push(message);
        Ok(())
    }

    /// Stops where what it may use up is used up.
    fn may_go_on(&self) -> Result<(), Stopped> {
        let spend = self.errand.spend;
        if spend.turns.is_some_and(|most| self.turns >= most) {
            return Err(Stopped::end(Fin::Exhausted, "it has taken the turns that it may"));
        }
        if spend.tokens.is_some_and(|most| self.model.used >= most) {
            return Err(Stopped::end(Fin::Exhausted, "it has used up the tokens that it may"));
        }
        Ok(())
    }

    fn ask(&mut self) -> Result<Heard, Stopped> {
        let asked = Asked {
            model: &self.own.model,
            system: &self.system,
            messages: &self.talk.messages,
            tools: self.hands.tools(),
            effort: self.own.effort.as_deref(),
            output_tokens_max: self.own.max_output_tokens,
            at_home: self.model.at_home(),
        };
        self.model.ask(&asked, &mut self.told)
    }

    /// What the model said, and what comes of it.
    fn turn(&mut self, heard: Heard) -> Result<(), Stopped> {
        self.turns += 1;
        let Heard { turn, used } = heard;
        let said = Message { who: Who::Model, parts: turn.parts };
        let text = said.text();
        if !text.trim().is_empty() {
            self.told.teller.say(&Said::Text { text: text.clone() })?;
        }
        match turn.stop {
            Stop::Refused => {
                let why = if text.is_empty() { "the model would not do it" } else { &text };
                return Err(Stopped::end(Fin::Refused, why));
            }
            Stop::Overflow => return self.overflows(),
            Stop::Length => return self.goes_on(&text),
            Stop::Garbled => {
                return self.again(
                    &text,
                    "A tool was called in a way that cannot be read. Call it again.",
                );
            }
            Stop::End => self.continued = 0,
        }
        let nothing = said.parts.is_empty().then(|| Part::text("(nothing)"));
        let parts = said.parts.iter().cloned().chain(nothing).collect();
        self.push(Message { who: Who::Model, parts })?;
        self.measured = used.map(|used| (self.talk.messages.len(), used.total()));
        let calls: Vec<Call> = said.calls().cloned().collect();
        let (answers, others): (Vec<_>, Vec<_>) =
            calls.into_iter().partition(|it| it.name == ANSWER);
        let room = (RESULT_BYTES
            .min(usize::try_from(self.window).unwrap_or(RESULT_BYTES) / others.len().max(1)))
        .max(RESULT_BYTES_MIN);
        for call in &others {
            let came = self.using(call, room)?;
            self.push(Message { who: Who::User, parts: vec![came] })?;
        }
        if others.is_empty() || !answers.is_empty() {
            self.answered(&said, answers.first())?;
            for call in answers.iter().skip(1) {
                let one = outcome(call, "Answer once.".to_owned(), true);
                self.push(Message { who: Who::User, parts: vec![one] })?;
            }
        }
        Ok(())
    }

    /// Uses a tool; what came of it.
    fn using(&mut self, call: &Call, room: usize) -> Result<Part, Stopped> {
        if !self.hands.has(&call.name) {
            self.told.teller.say(&Said::Denied { tool: call.name.clone() })?;
        }
        let (name, about) = (call.name.clone(), about(&call.input));
        self.told.teller.say(&Said::Tool { name, about })?;
        let (text, is_failed) = match self.hands.using(&call.name, &call.input) {
            Ok(Did { text, changed }) => {
                if let Some(path) = changed {
                    self.told.teller.say(&Said::Change { path })?;
                }
                (text, false)
            }
            Err(why) => (why, true),
        };
        Ok(outcome(call, bounded(&text, room), is_failed))
    }

    /// Ends with an answer, if it is one, or tells the model once what is wrong with it.
    fn answered(&mut self, said: &Message, call: Option<&Call>) -> Result<(), Stopped> {
        let text = said.text();
        let (answer, wrong) = match call {
            Some(call) => (call.input.to_string(), flaws(&self.errand.schema, &call.input)),
            None => match last_object(&text) {
                Some(object) => (text, flaws(&self.errand.schema, &object.into())),
                None => (text, vec!["it is no call of `answer`".to_owned()]),
            },
        };
        if wrong.is_empty() || self.corrected {
            let came = Fin::Done;
            return Err(Stopped::End(End { came, text: answer, ..End::default() }));
        }
        self.corrected = true;
        let wrong = format!(
            "This is no answer as it was asked for: {}. If everything is done, call `answer` with what its schema says.",
            wrong.join("; ")
        );
        match call {
            Some(call) => {
                let part = outcome(call, wrong, true);
                self.push(Message { who: Who::User, parts: vec![part] })
            }
            None => self.push(Message::user(wrong)),
        }
    }

    /// An answer that was longer than it may be is gone on with. A call in it may not be whole.
    fn goes_on(&mut self, text: &str) -> Result<(), Stopped> {
        self.again(text, "Your answer was cut off: it was longer than an answer may be. Go on from there, in smaller steps.")
    }

    fn again(&mut self, text: &str, wish: &str) -> Result<(), Stopped> {
        self.continued += 1;
        if self.continued > CONTINUED_MAX {
            let why = "the model's answer was longer than it may be, again and again";
            return Err(Stopped::end(Fin::TooLong, why));
        }
        let text = if text.trim().is_empty() { "(cut off)" } else { text };
        self.measured = None;
        self.push(Message { who: Who::Model, parts: vec![Part::text(text)] })?;
        self.push(Message::user(wish))
    }

    /// About how many tokens the next request has.
    fn tokens(&self) -> u64 {
        match self.measured {
            Some((messages, counted)) => {
                let new =
                    self.talk.messages.iter().skip(messages).map(Message::tokens).sum::<u64>();
                counted.saturating_add(new)
            }
            None => {
                let tools = self.hands.tools().iter();
                let schemas =
                    tools.map(|tool| tool.about.len() + tool.schema.to_string().len() + 40);
                let around = tokens(self.system.len() + schemas.sum::<usize>());
                self.talk.tokens().saturating_add(around)
            }
        }
    }

    /// Sums up what was said, if there would be no room for an answer otherwise.
    fn keep_short(&mut self) -> Result<(), Stopped> {
        let answer = self.own.max_output_tokens.unwrap_or(0).min(self.window / 3);
        let room = self.window - (self.window / 5).max(answer).min(self.window);
        if self.tokens() <= room || self.shortened {
            return Ok(());
        }
        match Plan::of(&self.talk, self.window, false) {
            Some(plan) => self.shorten(plan),
            None => Ok(()),
        }
    }

    /// The model's window is smaller than was thought: what was said is summed up, once.
    fn overflows(&mut self) -> Result<(), Stopped> {
        if self.shortened {
            return Err(Stopped::TooLong);
        }
        self.window = self.window.min(self.tokens() / 4 * 3).max(1);
        match Plan::of(&self.talk, self.window, true) {
            Some(plan) => self.shorten(plan),
            None => Err(Stopped::TooLong),
        }
    }

    fn shorten(&mut self, plan: Plan) -> Result<(), Stopped> {
        self.may_go_on()?;
        let bytes_max = usize::try_from(self.window.saturating_mul(2)).unwrap_or(usize::MAX);
        let summary = match self.sum_up(&plan, bytes_max) {
            // A token may be shorter than was thought.
            Err(Stopped::TooLong) => self.sum_up(&plan, bytes_max / 3),
            summary => summary,
        }?;
        if summary.trim().is_empty() {
            return Err(Stopped::TooLong);
        }
        self.talk = plan.done(&summary);
        let messages = self.talk.messages.clone();
        self.told.record.write(&Line::Shortened { messages })?;
        self.measured = None;
        self.shortened = true;
        let text = "what was said was summed up: the model's window was full".to_owned();
        Ok(self.told.teller.say(&Said::Remark { text })?)
    }

    fn sum_up(&mut self, plan: &Plan, bytes_max: usize) -> Result<String, Stopped> {
        let messages = plan.question(bytes_max);
        let asked = Asked {
            model: &self.own.model,
            system: compact::SYSTEM,
            messages: &messages,
            tools: &[],
            effort: None,
            output_tokens_max: self.own.max_output_tokens,
            at_home: self.model.at_home(),
        };
        let Heard { turn, .. } = self.model.ask(&asked, &mut self.told)?;
        let said = Message { who: Who::Model, parts: turn.parts };
        Ok(bounded(&said.text(), bytes_max / 4))
    }
}

fn outcome(call: &Call, text: String, failed: bool) -> Part {
    Part::Result(Outcome { id: call.id.clone(), name: call.name.clone(), text, failed })
}
