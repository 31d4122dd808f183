//! Speaks to a server: says who we are, begins a session, asks, answers what it wants to know meanwhile, and hears how it
//! ends.

use std::io;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use windlass_agents::AcpServer;
use windlass_agents::own::{End, Errand, Fin, Said};

use super::failure;
use super::files::Files;
use super::permission::{Outcome, Policy};
use super::rpc::{Fault, Gone, Message, Wire, text};
use super::updates::{Updates, total, used};
use crate::Teller;

/// The version of the protocol that is spoken.
const VERSION: u64 = 1;

/// How long something is waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// An answer to anything but the prompt itself: that may take as long as the engine lets it.
    pub answer: Duration,
    /// The end of a prompt that was cancelled.
    pub cancel: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Patience { answer: Duration::from_secs(5 * 60), cancel: Duration::from_secs(10) }
    }
}

/// Why it does not go on.
pub(crate) enum Stop {
    /// It has come to this.
    End(End),
    /// Nobody listens to us any more.
    Unheard(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Stop::Unheard(error)
    }
}

type Step<T> = Result<T, Stop>;

/// One conversation.
pub(crate) struct Client<'a, 't> {
    pub wire: &'a Wire,
    pub teller: &'a mut Teller<'t>,
    pub errand: &'a Errand,
    pub server: &'a AcpServer,
    pub files: Files,
    pub patience: Patience,
    pub talk: Talk,
}

/// How far a conversation has come.
#[derive(Default)]
pub(crate) struct Talk {
    /// How often we have asked something.
    asked: u64,
    /// The server's name for the session.
    session: String,
    /// The model that it uses, as far as it says.
    model: String,
    /// It was asked what this is all about, so what it uses up counts.
    prompted: bool,
    /// It knows that a file is new by the words of an error alone, and only if that is a text.
    wants_words: bool,
    /// It has used up what it may, and was told to stop.
    cut: bool,
    updates: Updates,
}

impl Client<'_, '_> {
    /// All of it.
    pub fn converse(&mut self) -> Step<End> {
        self.introduce()?;
        self.begin()?;
        self.prompt()
    }

    fn introduce(&mut self) -> Step<()> {
        let fs = json!({ "readTextFile": true, "writeTextFile": true });
        let answer = self.ask(
            "initialize",
            &json!({
                "protocolVersion": VERSION,
                "clientCapabilities": { "fs": fs, "terminal": false },
                "clientInfo": { "name": "windlass", "version": env!("CARGO_PKG_VERSION") },
            }),
        )?;
        let version = answer.get("protocolVersion").and_then(Json::as_u64);
        if version != Some(VERSION) {
            let other = answer.get("protocolVersion").cloned().unwrap_or_default();
            let why = format!("it speaks version {other} of the protocol, and not {VERSION}");
            return Err(self.failed(Fin::Failed, why));
        }
        let name = answer.pointer("/agentInfo/name").and_then(Json::as_str);
        self.talk.wants_words = name == Some("gemini-cli");
        match self.server.auth.clone() {
            Some(method) => self.ask("authenticate", &json!({ "methodId": method })).map(drop),
            None => Ok(()),
        }
    }

    fn begin(&mut self) -> Step<()> {
        let params = json!({ "cwd": self.errand.lane, "mcpServers": [] });
        let answer = self.ask("session/new", &params)?;
        let Some(session) = text(&answer, "sessionId") else {
            return Err(self.failed(Fin::Failed, "it began a session without a name".to_owned()));
        };
        session.clone_into(&mut self.talk.session);
        self.talk.model = current_model(&answer);
        self.teller.say(&Said::Session { id: session.to_owned() })?;
        self.set_model(&answer)
    }

    /// Has it use the model that the person has said.
    fn set_model(&mut self, offer: &Json) -> Step<()> {
        let Some(model) = self.server.model.clone() else { return Ok(()) };
        let session = self.talk.session.clone();
        if let Some(config) = model_option(offer) {
            let params = json!({ "sessionId": session, "configId": config, "value": model });
            self.ask("session/set_config_option", &params)?;
        } else if offer.get("models").is_some_and(Json::is_object) {
            let params = json!({ "sessionId": session, "modelId": model });
            self.ask("session/set_model", &params)?;
        } else {
            let why = format!("it lets nobody choose a model, and `{model}` is wanted");
            return Err(self.failed(Fin::Failed, why));
        }
        self.talk.model = model;
        Ok(())
    }

    fn prompt(&mut self) -> Step<End> {
        let all = format!("{}{}", self.errand.stable, self.errand.prompt);
        let parts = json!([{ "type": "text", "text": all }]);
        let params = json!({ "sessionId": self.talk.session, "prompt": parts });
        self.teller.say(&Said::Turn)?;
        self.talk.prompted = true;
        let answer = self.call("session/prompt", &params, None)?;
        let result = match answer {
            Ok(result) => result,
            Err(fault) => return Err(self.refused("session/prompt", &fault)?),
        };
        let used = used(&result, &self.talk.model);
        for said in &used {
            self.teller.say(said)?;
        }
        let mut end = self.ended(text(&result, "stopReason").unwrap_or_default());
        end.accounted = self.is_all(total(&used));
        Ok(end)
    }

    /// Whether that is all that was used up. Some tell of their last request alone: after a tool there were more, and
    /// each of them had something in its context.
    fn is_all(&self, tokens: u64) -> bool {
        let updates = &self.talk.updates;
        tokens > 0 && (!updates.acted() || tokens > updates.tokens_min().saturating_add(MARGIN))
    }

    fn ended(&self, reason: &str) -> End {
        let (came, why) = match reason {
            _ if self.talk.cut => (Fin::Exhausted, "it had used up what it may"),
            "end_turn" => (Fin::Done, ""),
            "max_tokens" => (Fin::TooLong, "its answer was longer than it may be"),
            "max_turn_requests" => (Fin::Exhausted, "it took the turns that it may"),
            "refusal" => (Fin::Refused, "the model would not do it"),
            "cancelled" => (Fin::Failed, "its server says that it was cancelled"),
            "" => (Fin::Failed, "its answer does not say why it stopped"),
            other => {
                return self.end(Fin::Failed, format!("it stopped for another reason: {other}"));
            }
        };
        self.end(came, why.to_owned())
    }

    fn end(&self, came: Fin, why: String) -> End {
        let updates = &self.talk.updates;
        let text = if came == Fin::Done { updates.answer() } else { String::new() };
        // Who was asked nothing has used nothing up.
        let accounted = !self.talk.prompted;
        End { came, text, why, accounted, cost_micros: updates.cost_micros() }
    }

    fn failed(&self, came: Fin, why: String) -> Stop {
        Stop::End(self.end(came, why))
    }

    /// An answer that there must be.
    fn ask(&mut self, method: &str, params: &Json) -> Step<Json> {
        let until = Instant::now() + self.patience.answer;
        match self.call(method, params, Some(until))? {
            Ok(result) => Ok(result),
            Err(fault) => Err(self.refused(method, &fault)?),
        }
    }

    fn refused(&mut self, method: &str, fault: &Fault) -> Step<Stop> {
        let came = if self.talk.cut { Fin::Exhausted } else { failure::comes_to(fault) };
        if came == Fin::Limited {
            self.teller.say(&Said::Limit { until: None })?;
        }
        let why = format!("{method}: {} ({})", fault.message, fault.code);
        Ok(self.failed(came, why))
    }

    /// Asks something, and deals with everything else until it is answered.
    fn call(
        &mut self,
        method: &str,
        params: &Json,
        mut until: Option<Instant>,
    ) -> Step<Result<Json, Fault>> {
        self.talk.asked += 1;
        let own = json!(self.talk.asked);
        self.sent(self.wire.request(self.talk.asked, method, params))?;
        loop {
            let message = match self.wire.next(until) {
                Ok(message) => message,
                Err(gone) => return Err(self.gone(gone, method)),
            };
            match message {
                Message::Response { id, result } if id == own => return Ok(result),
                // Nobody asked.
                Message::Response { .. } => {}
                Message::Request { id, method, params } => self.answer(&id, &method, &params)?,
                Message::Notice { method, params } => self.notice(&method, &params)?,
            }
            if self.is_spent() && !self.talk.cut {
                self.talk.cut = true;
                let params = json!({ "sessionId": self.talk.session });
                self.sent(self.wire.notify("session/cancel", &params))?;
                until = Some(Instant::now() + self.patience.cancel);
            }
        }
    }

    fn sent(&self, sent: Result<(), Gone>) -> Step<()> {
        sent.map_err(|gone| self.gone(gone, "what it was sent"))
    }

    fn gone(&self, gone: Gone, method: &str) -> Stop {
        let why = match gone {
            _ if self.talk.cut => {
                return self.failed(Fin::Exhausted, "it had used up what it may".into());
            }
            Gone::Closed => format!("its server ended before it had answered `{method}`"),
            Gone::Silent => format!("its server did not answer `{method}` in time"),
            Gone::Deaf => "its server does not read what it is sent".to_owned(),
        };
        self.failed(Fin::Failed, why)
    }

    /// Whether it has used up what it may, as far as it says so itself.
    fn is_spent(&self) -> bool {
        let (spend, updates) = (self.errand.spend, &self.talk.updates);
        let over = |figure: u64, most: Option<u64>| most.is_some_and(|most| figure >= most);
        over(updates.cost_micros().unwrap_or(0), spend.cost_micros)
            || over(updates.tokens_min(), spend.tokens)
    }

    fn notice(&mut self, method: &str, params: &Json) -> Step<()> {
        let ours = text(params, "sessionId") == Some(&self.talk.session);
        if method != "session/update" || !ours || !self.talk.prompted {
            return Ok(());
        }
        let said = self.talk.updates.take(params.get("update").unwrap_or(&Json::Null));
        self.tell(said)
    }

    /// Tells what there is to tell, and in any case that it works.
    fn tell(&mut self, said: Vec<Said>) -> Step<()> {
        if said.is_empty() {
            self.teller.breathe()?;
        }
        for one in said {
            let one = match one {
                Said::Change { path } => Said::Change { path: self.in_lane(path) },
                other => other,
            };
            self.teller.say(&one)?;
        }
        Ok(())
    }

    fn in_lane(&self, path: String) -> String {
        self.files.in_lane(&path).map_or(path, |path| path.display().to_string())
    }

    /// Answers what the server wants to know.
    fn answer(&mut self, id: &Json, method: &str, params: &Json) -> Step<()> {
        let policy = Policy::new(&self.errand.tools);
        let refusal =
            |what: &str| Fault::new(Fault::BAD_PARAMS, format!("it may not {what} files"));
        let result = match method {
            "fs/read_text_file" if policy.reads() => self.files.read(params),
            "fs/read_text_file" => Err(refusal("read")),
            "fs/write_text_file" if policy.writes() => match self.files.write(params) {
                Ok(path) => {
                    self.teller.say(&Said::Change { path: path.display().to_string() })?;
                    Ok(json!({}))
                }
                Err(fault) => Err(fault),
            },
            "fs/write_text_file" => {
                self.teller.say(&Said::Denied { tool: method.to_owned() })?;
                Err(refusal("write"))
            }
            "session/request_permission" => Ok(self.permit(&policy, params)?),
            other => Err(Fault::new(Fault::NO_METHOD, format!("there is no method {other}"))),
        };
        self.sent(match result {
            Err(fault) if fault.code == Fault::NOT_FOUND && self.talk.wants_words => {
                self.wire.refuse_in_words(id, &fault.message)
            }
            result => self.wire.respond(id, result),
        })
    }

    fn permit(&mut self, policy: &Policy, params: &Json) -> Step<Json> {
        let call = params.get("toolCall").unwrap_or(&Json::Null);
        let kind = self.talk.updates.kind(call);
        let said = self.talk.updates.tool(call);
        self.tell(said)?;
        let options = params.get("options").unwrap_or(&Json::Null);
        let outcome = match self.talk.cut {
            true => Outcome::Cancelled,
            false => policy.outcome(&kind, options),
        };
        if !matches!(outcome, Outcome::Allowed(_)) {
            let tool = text(call, "title").unwrap_or("a tool");
            self.teller.say(&Said::Denied { tool: format!("{tool} ({kind})") })?;
        }
        Ok(outcome.to_json())
    }
}

/// What the last request wrote itself is not in its context yet, or is counted a little differently.
const MARGIN: u64 = 256;

/// The setting that says which model is used.
fn model_option(offer: &Json) -> Option<String> {
    let options = offer.get("configOptions")?.as_array()?;
    let is_model = |key: &str| options.iter().find(|option| text(option, key) == Some("model"));
    let option = is_model("category").or_else(|| is_model("id"))?;
    text(option, "id").map(str::to_owned)
}

/// The model that a new session uses.
fn current_model(offer: &Json) -> String {
    let by_option = || {
        let (id, options) = (model_option(offer)?, offer.get("configOptions")?.as_array()?);
        let option = options.iter().find(|option| text(option, "id") == Some(&id))?;
        text(option, "currentValue")
    };
    let named = offer.pointer("/models/currentModelId").and_then(Json::as_str);
    named.or_else(by_option).unwrap_or_default().to_owned()
}
