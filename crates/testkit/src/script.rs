//! A brain that is read from a file: rules, of which the first that fits a request says the answer.
//!
//! ```toml
//! [[rule]]
//! when = { role = "worker", contains = ["add a file"], answers = 0 }
//! reply = { text = "I will.", write = { path = "a.txt", text = "x\n" } }
//!
//! [[rule]]
//! when = { times = 1 }
//! reply = { fault = { kind = "rate-limited", retry_after_s = 1 } }
//!
//! [[rule]]
//! reply = { structured = { verdict = "done" } }
//! ```
//!
//! A path `{plan}` is where Windlass wants the file of that name to be written.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

use crate::call::Call;
use crate::fault::{Complaint, Fault, Then};
use crate::reply::{Block, Reply, Stop, Turn};
use crate::request::{Api, Request};
use crate::usage::{Tokens, Usage};

/// A script that makes no sense.
#[derive(Debug, Error)]
pub enum BadScript {
    /// It is not written as scripts are.
    #[error("{0}")]
    Form(#[from] toml::de::Error),
    /// A rule says nothing, or too much.
    #[error("rule {rule}: {why}")]
    Rule {
        /// The how-manieth it is, from 1.
        rule: usize,
        /// What is wrong with it.
        why: &'static str,
    },
}

/// Rules, of which the first that fits a request says the answer.
#[derive(Debug)]
pub struct Script {
    rules: Vec<Rule>,
    /// How often each rule has fitted so far.
    fitted: Mutex<Vec<u64>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    rule: Vec<Rule>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    #[serde(default)]
    when: When,
    reply: Say,
}

/// What a request has to be like. What is not said does not matter, but for `side`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct When {
    /// The role that Windlass asks for.
    role: Option<String>,
    /// All of this is somewhere in its text.
    contains: Vec<String>,
    /// None of this is.
    lacks: Vec<String>,
    /// All of this is in what tools have said since the model spoke last.
    result: Vec<String>,
    /// Whose words it is in.
    api: Option<String>,
    /// How often the model has spoken before.
    answers: Option<usize>,
    /// Only the how-manieth request that is like this, from 1.
    nth: Option<u64>,
    /// Only the first so many.
    times: Option<u64>,
    /// Whether it is for a request that is not about the work.
    side: bool,
}

/// What is answered.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Say {
    thinking: Option<String>,
    text: Option<String>,
    shell: Option<String>,
    write: Option<Written>,
    read: Option<String>,
    structured: Option<Value>,
    call: Option<Named>,
    stop: Option<Stopped>,
    usage: Option<Said>,
    fault: Option<Broken>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    path: String,
    text: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    tool: String,
    input: Value,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Stopped {
    End,
    ToolUse,
    TokensMax,
    Refusal,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Said {
    Word(Word),
    Given(Given),
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Word {
    Missing,
    AtTheEnd,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Given {
    fresh: u64,
    read: u64,
    written: u64,
    output: u64,
}

/// What goes wrong. With `after`, it does so in the middle of the answer that is said beside it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Broken {
    kind: Kind,
    after: Option<usize>,
    retry_after_s: Option<u64>,
    reset_unix_s: Option<u64>,
    status: Option<u16>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    body: String,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    RateLimited,
    Overloaded,
    Internal,
    Unauthorized,
    Overflow,
    Status,
    Cut,
    Hang,
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    ///
    /// If it makes no sense.
    pub fn parse(text: &str) -> Result<Self, BadScript> {
        let File { rule: rules } = toml::from_str(text)?;
        for (index, rule) in rules.iter().enumerate() {
            rule.check().map_err(|why| BadScript::Rule { rule: index + 1, why })?;
        }
        let fitted = Mutex::new(vec![0; rules.len()]);
        Ok(Script { rules, fitted })
    }

    /// What it answers.
    #[must_use]
    pub fn reply(&self, request: &Request) -> Reply {
        let mut fitted = self.fitted.lock().unwrap_or_else(PoisonError::into_inner);
        for (rule, fitted) in self.rules.iter().zip(fitted.iter_mut()) {
            if rule.when.is_like(request) {
                *fitted += 1;
                if rule.when.is_due(*fitted) {
                    return rule.reply.placed(request).reply();
                }
            }
        }
        Reply::text(match (request.is_summary(), request.is_side()) {
            (true, _) => "<summary>\nA summary.\n</summary>",
            (false, true) => "A title",
            (false, false) => "[no rule of the script fits]",
        })
    }

    /// The brain that does as it says.
    pub fn brain(self) -> impl Fn(&Request) -> Reply + Send + Sync + 'static {
        move |request| self.reply(request)
    }
}

impl Rule {
    fn check(&self) -> Result<(), &'static str> {
        let api_is_known = |api: &String| Api::ALL.iter().any(|known| known.name() == api);
        if self.when.nth.is_some() && self.when.times.is_some() {
            return Err("`nth` and `times` do not go together");
        }
        if !self.when.api.iter().all(api_is_known) {
            return Err("`api` is messages, responses, chat or gemini");
        }
        match &self.reply.fault {
            Some(fault) => fault.check(),
            None if self.reply.turn().blocks.is_empty() && self.reply.stop.is_none() => {
                Err("`reply` says nothing")
            }
            None => Ok(()),
        }
    }
}

impl When {
    fn is_like(&self, request: &Request) -> bool {
        let text = request.text();
        let results = request.tool_results().join("\n");
        request.is_side() == self.side
            && self.role.as_ref().is_none_or(|role| request.role().as_ref() == Some(role))
            && self.api.as_ref().is_none_or(|api| request.api.name() == api)
            && self.answers.is_none_or(|answers| request.answers() == answers)
            && self.contains.iter().all(|some| text.contains(some))
            && !self.lacks.iter().any(|some| text.contains(some))
            && self.result.iter().all(|some| results.contains(some))
    }

    /// Whether it holds for the how-manieth request that is like this.
    fn is_due(&self, number: u64) -> bool {
        self.nth.is_none_or(|nth| number == nth) && self.times.is_none_or(|times| number <= times)
    }
}

impl Say {
    /// With `{plan}` as the path where Windlass wants the file of that name.
    fn placed(&self, request: &Request) -> Self {
        let mut say = self.clone();
        if let Some(written) = &mut say.write
            && let Some(name) = written.path.strip_prefix('{').and_then(|it| it.strip_suffix('}'))
            && let Some(path) = request.promised(name)
        {
            written.path = path;
        }
        say
    }

    fn reply(&self) -> Reply {
        match &self.fault {
            Some(fault) => fault.fault(self.turn()).into(),
            None => self.turn().into(),
        }
    }

    fn turn(&self) -> Turn {
        let say = self.clone();
        let mut turn = Turn::new();
        turn.blocks.extend(say.thinking.map(Block::Thinking));
        turn.blocks.extend(say.text.map(Block::Text));
        let calls = [
            say.shell.map(Call::Shell),
            say.read.map(Call::Read),
            say.write.map(|Written { path, text }| Call::Write { path, text }),
            say.structured.map(Call::Structured),
            say.call.map(|Named { tool, input }| Call::Named { tool, input }),
        ];
        turn.blocks.extend(calls.into_iter().flatten().map(Block::Call));
        turn.stop = say.stop.map(|stop| match stop {
            Stopped::End => Stop::End,
            Stopped::ToolUse => Stop::ToolUse,
            Stopped::TokensMax => Stop::TokensMax,
            Stopped::Refusal => Stop::Refusal,
        });
        turn.tokens = match say.usage {
            None => Tokens::Counted,
            Some(Said::Word(Word::Missing)) => Tokens::Missing,
            Some(Said::Word(Word::AtTheEnd)) => Tokens::AtTheEnd,
            Some(Said::Given(Given { fresh, read, written, output })) => {
                Tokens::Given(Usage { fresh, read, written, output })
            }
        };
        turn
    }
}

impl Broken {
    fn check(&self) -> Result<(), &'static str> {
        match (self.kind, self.after, self.status) {
            (Kind::Cut, None, _) => Err("a cut needs `after`"),
            (Kind::Status, None, None) => Err("a status needs `status`"),
            (Kind::Status, Some(_), _) => Err("a status cannot come in the middle"),
            (_, _, Some(_)) if self.kind != Kind::Status => Err("`status` is for kind \"status\""),
            _ => Ok(()),
        }
    }

    fn fault(&self, turn: Turn) -> Fault {
        let then = match self.complaint() {
            Some(complaint) => Then::Complain(complaint),
            None if self.kind == Kind::Cut => Then::Cut,
            None => Then::Hang,
        };
        match (self.after, then) {
            (None, _) if self.kind == Kind::Status => Fault::Status {
                status: self.status.unwrap_or(500),
                headers: self.headers.clone().into_iter().collect(),
                body: self.body.clone(),
            },
            (None, Then::Complain(complaint)) => Fault::Complaint(complaint),
            (None, Then::Hang) => Fault::HangBefore,
            (after, then) => Fault::Midway { after: after.unwrap_or(0), turn, then },
        }
    }

    fn complaint(&self) -> Option<Complaint> {
        let Broken { retry_after_s, reset_unix_s, .. } = *self;
        match self.kind {
            Kind::RateLimited => Some(Complaint::RateLimited { retry_after_s, reset_unix_s }),
            Kind::Overloaded => Some(Complaint::Overloaded),
            Kind::Internal => Some(Complaint::Internal),
            Kind::Unauthorized => Some(Complaint::Unauthorized),
            Kind::Overflow => Some(Complaint::Overflow),
            Kind::Status | Kind::Cut | Kind::Hang => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::wire;

    fn said(script: &Script, texts: &[&str]) -> String {
        let messages: Vec<_> =
            texts.iter().map(|text| json!({"role": "user", "content": text})).collect();
        let body = json!({"model": "m", "messages": messages});
        match script.reply(&wire::example("/v1/messages", &body)) {
            Reply::Turn(turn) => format!("{:?}", turn.blocks),
            Reply::Fault(fault) => format!("{fault:?}"),
        }
    }

    #[test]
    fn the_first_rule_that_fits_answers() {
        let script = Script::parse(
            "[[rule]]\nwhen = { contains = ['a', 'b'], lacks = ['c'] }\nreply = { text = 'one' }\n\
             [[rule]]\nwhen = { role = 'worker' }\nreply = { shell = 'ls' }\n\
             [[rule]]\nwhen = { api = 'chat' }\nreply = { text = 'chat' }\n",
        )
        .unwrap();
        assert_eq!(said(&script, &["a", "b"]), r#"[Text("one")]"#);
        assert_eq!(said(&script, &["a b c"]), r#"[Text("[no rule of the script fits]")]"#);
        assert_eq!(said(&script, &["# Your role: worker\n\nwork"]), r#"[Call(Shell("ls"))]"#);
    }

    #[test]
    fn a_rule_holds_for_the_nth_or_for_so_many() {
        let script = Script::parse(
            "[[rule]]\nwhen = { nth = 2 }\nreply = { text = 'second' }\n\
             [[rule]]\nwhen = { times = 1 }\nreply = { text = 'once' }\n\
             [[rule]]\nreply = { text = 'else' }\n",
        )
        .unwrap();
        let all: Vec<_> = (0..4).map(|_| said(&script, &["x"])).collect();
        let expected = ["once", "second", "else", "else"].map(|text| format!("[Text({text:?})]"));
        assert_eq!(all, expected);
    }

    #[test]
    fn an_answer_is_made_of_everything_that_a_rule_says() {
        let script = Script::parse(
            "[[rule]]\nreply = { text = 't', thinking = 'h', write = { path = 'p', text = 'x' }, \
             structured = { ok = true }, stop = 'tokens-max', usage = 'missing' }\n",
        )
        .unwrap();
        let blocks = said(&script, &["x"]);
        assert!(blocks.starts_with(r#"[Thinking("h"), Text("t"), Call(Write"#), "{blocks}");
        assert!(blocks.ends_with(r#"Call(Structured(Object {"ok": Bool(true)}))]"#), "{blocks}");
    }

    #[test]
    fn faults_are_written_by_their_kind() {
        for (written, fault) in [
            ("kind = 'overloaded'", "Complaint(Overloaded)"),
            ("kind = 'rate-limited', retry_after_s = 3", "retry_after_s: Some(3)"),
            ("kind = 'hang'", "HangBefore"),
            ("kind = 'hang', after = 2", "Midway { after: 2"),
            ("kind = 'cut', after = 3", "then: Cut"),
            ("kind = 'overflow', after = 1", "then: Complain(Overflow)"),
            ("kind = 'status', status = 418, body = 'tea'", "status: 418"),
        ] {
            let text = format!("[[rule]]\nreply = {{ text = 'x', fault = {{ {written} }} }}");
            let said = said(&Script::parse(&text).unwrap(), &["x"]);
            assert!(said.contains(fault), "{said}");
        }
    }

    #[test]
    fn a_script_that_makes_no_sense_is_refused() {
        for (text, why) in [
            ("[[rule]]\nreply = {}", "says nothing"),
            ("[[rule]]\nreply = { txt = 'x' }", "unknown field"),
            ("[[rule]]\nwhen = { api = 'x' }\nreply = { text = 'x' }", "`api` is"),
            ("[[rule]]\nwhen = { nth = 1, times = 1 }\nreply = { text = 'x' }", "`nth`"),
            ("[[rule]]\nreply = { fault = { kind = 'cut' } }", "`after`"),
            ("[[rule]]\nreply = { fault = { kind = 'status' } }", "`status`"),
        ] {
            let error = Script::parse(text).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn what_is_not_about_the_work_is_answered_by_rules_of_its_own() {
        let script =
            Script::parse("[[rule]]\nwhen = { times = 1 }\nreply = { text = 'x' }").unwrap();
        let body = json!({"system": "Make a title.", "messages": []});
        let reply = script.reply(&wire::example("/v1/messages", &body));
        assert!(matches!(reply, Reply::Turn(turn) if format!("{turn:?}").contains("A title")));
        assert_eq!(said(&script, &["x"]), r#"[Text("x")]"#);
    }
}
