//! One connection: requests are read from it and answered, one after another.

use std::io;
use std::net::TcpStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::fault::{Complaint, Fault, Then};
use crate::http::{Line, Raw, Unread, Whole};
use crate::record::{Answered, Ending, Exchange, News};
use crate::reply::{Bit, Block, Reply, Said, Stop, Turn};
use crate::request::{Api, Purpose, Request};
use crate::server::Shared;
use crate::wire::{self, Answer, Place};

/// Answers everything that comes on a connection, until one of both sides closes it.
pub(crate) fn serve(shared: &Shared, stream: Arc<TcpStream>) {
    let mut line = Line::new(Arc::clone(&stream));
    loop {
        match line.request() {
            Ok(Some(raw)) => {
                let keeps = raw.keeps;
                let ending = handle(shared, &mut line, raw);
                if ending == Ending::Cut {
                    // Closed without lingering, a connection is reset rather than ended.
                    _ = rustix::net::sockopt::set_socket_linger(&*stream, Some(Duration::ZERO));
                }
                if !keeps || ending != Ending::Whole {
                    return;
                }
            }
            Ok(None) | Err(Unread::Left(_)) => return,
            Err(Unread::Bad(why)) => {
                _ = plain(&line, 400, &json!({"error": {"message": why}}), true);
                return;
            }
        }
    }
}

fn handle(shared: &Shared, line: &mut Line, raw: Raw) -> Ending {
    match wire::place(&raw.path) {
        Place::Model(api, purpose) if raw.method == "POST" => {
            exchange(shared, line, raw, api, purpose)
        }
        Place::Models => probe(shared, line, &raw, 200, &wire::models()),
        Place::Model(..) => probe(shared, line, &raw, 405, &wire::nothing(&raw.path)),
        Place::Nowhere if raw.method == "HEAD" || raw.path == "/" => {
            probe(shared, line, &raw, 200, &json!({}))
        }
        Place::Nowhere => probe(shared, line, &raw, 404, &wire::nothing(&raw.path)),
    }
}

fn probe(shared: &Shared, line: &Line, raw: &Raw, status: u16, body: &Value) -> Ending {
    shared.probed(raw, status);
    ending(plain(line, status, body, raw.method != "HEAD"))
}

fn plain(line: &Line, status: u16, body: &Value, shown: bool) -> io::Result<()> {
    let body = body.to_string();
    line.answer(&Whole { status, headers: &[], body: body.as_bytes(), shown })
}

fn ending(sent: io::Result<()>) -> Ending {
    if sent.is_ok() { Ending::Whole } else { Ending::Left }
}

fn exchange(shared: &Shared, line: &mut Line, raw: Raw, api: Api, purpose: Purpose) -> Ending {
    let request = match shared.take(raw, api, purpose) {
        Ok(request) => request,
        Err(why) => {
            let body = json!({"error": {"message": format!("the body is no JSON: {why}")}});
            return ending(plain(line, 400, &body, true));
        }
    };
    let mut exchange = Exchanging { shared, line, request: &request };
    let answered = match purpose {
        Purpose::Count => exchange.count(),
        Purpose::Answer => exchange.reply(),
    };
    let ending = answered.ending;
    shared.answered(request.serial, answered.clone());
    shared.tell(News::Answered(&Exchange { request, answered: Some(answered) }));
    ending
}

/// A request that is being answered.
struct Exchanging<'a> {
    shared: &'a Shared,
    line: &'a mut Line,
    request: &'a Request,
}

impl Exchanging<'_> {
    fn count(&self) -> Answered {
        let tokens = self.shared.tokens(self.request);
        let body = wire::count(self.request.api, tokens);
        self.sent_whole(200, &[], &body.to_string(), format!("count {tokens}"))
    }

    fn reply(&mut self) -> Answered {
        if let Some(said) = wire::flaw(self.request) {
            return self.sent_whole(
                said.status,
                &said.headers,
                &said.body.to_string(),
                "flaw".into(),
            );
        }
        let asked = catch_unwind(AssertUnwindSafe(|| (self.shared.brain)(self.request)));
        match asked {
            Ok(Reply::Turn(turn)) => self.turn(&turn, None),
            Ok(Reply::Fault(fault)) => self.fault(fault),
            Err(_) => {
                let body = json!({"error": {"message": "the brain panicked"}}).to_string();
                self.sent_whole(500, &[], &body, "panic".into())
            }
        }
    }

    fn fault(&mut self, fault: Fault) -> Answered {
        match fault {
            Fault::Complaint(complaint) => self.complain(complaint),
            Fault::Status { status, headers, body } => {
                self.sent_whole(status, &headers, &body, format!("status {status}"))
            }
            Fault::HangBefore => {
                self.line.wait_for_the_end();
                Answered {
                    status: None,
                    what: "hang".into(),
                    events: 0,
                    usage: None,
                    ending: Ending::Hung,
                }
            }
            Fault::Midway { after, turn, then } => self.turn(&turn, Some((after, then))),
        }
    }

    fn complain(&self, complaint: Complaint) -> Answered {
        let said = wire::complain(self.request, complaint);
        let what = format!("complaint {}", complaint.name());
        self.sent_whole(said.status, &said.headers, &said.body.to_string(), what)
    }

    fn turn(&mut self, turn: &Turn, broken: Option<(usize, Then)>) -> Answered {
        let said = said(turn, self.request);
        let counted = self.shared.count(self.request, said.output_tokens());
        let answer = Answer::new(self.request, &said, turn.tokens, counted);
        let plan = Answered {
            status: Some(200),
            what: in_short(&said),
            events: 0,
            usage: answer.usage,
            ending: Ending::Whole,
        };
        match broken {
            _ if self.request.streamed => self.stream(&wire::events(&answer), broken, plan),
            None => self.whole(&[], &wire::whole(&answer).to_string(), plan),
            Some((_, then)) => self.broken_whole(then, plan),
        }
    }

    /// An answer that was wanted at once has no middle: what was to come there comes instead of it.
    fn broken_whole(&mut self, then: Then, plan: Answered) -> Answered {
        let ending = match then {
            Then::Complain(complaint) => return self.complain(complaint),
            Then::Cut => Ending::Cut,
            Then::Hang => {
                self.line.wait_for_the_end();
                Ending::Hung
            }
        };
        Answered { status: None, usage: None, ending, ..plan }
    }

    fn stream(
        &mut self,
        events: &[String],
        broken: Option<(usize, Then)>,
        plan: Answered,
    ) -> Answered {
        let wanted = broken.map_or(events.len(), |(after, _)| after.min(events.len()));
        let mut answered = plan;
        let begun = self.line.begin_events(&self.headers());
        let sent =
            begun.and_then(|()| self.some(&events[..wanted], broken.is_none(), &mut answered));
        answered.ending = match (sent, broken.map(|(_, then)| then)) {
            (Err(_), _) => Ending::Left,
            (Ok(()), None) => ending(self.line.end_events()),
            (Ok(()), Some(Then::Cut)) => Ending::Cut,
            (Ok(()), Some(Then::Hang)) => {
                self.line.wait_for_the_end();
                Ending::Hung
            }
            (Ok(()), Some(Then::Complain(complaint))) => {
                let event = wire::complain_midway(self.request, complaint);
                ending(self.line.event(&event).and_then(|()| self.line.end_events()))
            }
        };
        answered
    }

    /// Sends events and counts them. Who has heard the last one finds it on record.
    fn some(&self, events: &[String], all: bool, answered: &mut Answered) -> io::Result<()> {
        for event in events {
            answered.events += 1;
            if all && answered.events == events.len() {
                self.shared.answered(self.request.serial, answered.clone());
            }
            self.line.event(event)?;
        }
        Ok(())
    }

    fn headers(&self) -> Vec<(String, String)> {
        vec![("request-id".to_owned(), format!("req_{:06}", self.request.serial))]
    }

    fn sent_whole(
        &self,
        status: u16,
        headers: &[(String, String)],
        body: &str,
        what: String,
    ) -> Answered {
        let ending = Ending::Whole;
        let plan = Answered { status: Some(status), what, events: 0, usage: None, ending };
        self.whole(headers, body, plan)
    }

    /// Sends an answer at once. Who has heard it finds it on record.
    fn whole(&self, headers: &[(String, String)], body: &str, plan: Answered) -> Answered {
        self.shared.answered(self.request.serial, plan.clone());
        let headers: Vec<_> = self.headers().into_iter().chain(headers.iter().cloned()).collect();
        let status = plan.status.unwrap_or(200);
        let whole = Whole { status, headers: &headers, body: body.as_bytes(), shown: true };
        Answered { ending: ending(self.line.answer(&whole)), ..plan }
    }
}

/// A turn in terms of what the agent offers.
fn said(turn: &Turn, request: &Request) -> Said {
    let blocks = turn.blocks.iter().enumerate().map(|(index, block)| match block {
        Block::Text(text) => Bit::Text(text.clone()),
        Block::Thinking(text) => Bit::Thinking(text.clone()),
        Block::Call(call) => {
            let prefix = if request.api == Api::Messages { "toolu" } else { "call" };
            call.resolve(request, format!("{prefix}_{:06}_{index}", request.serial))
        }
    });
    let blocks: Vec<_> = blocks.collect();
    let calls = blocks.iter().any(|bit| matches!(bit, Bit::Use(_)));
    let stop = turn.stop.unwrap_or(if calls { Stop::ToolUse } else { Stop::End });
    Said { blocks, stop }
}

fn in_short(said: &Said) -> String {
    let each = said.blocks.iter().map(|bit| match bit {
        Bit::Text(_) => "text".to_owned(),
        Bit::Thinking(_) => "thinking".to_owned(),
        Bit::Use(call) => format!("call {}", call.name),
    });
    let mut all: Vec<_> = each.collect();
    match said.stop {
        Stop::End | Stop::ToolUse => {}
        Stop::TokensMax => all.push("tokens max".to_owned()),
        Stop::Refusal => all.push("refusal".to_owned()),
    }
    all.join(", ")
}
