//! One request to the model, with all its tries, and what it comes to.

use std::io;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use windlass_agents::api::{Format, Own};
use windlass_agents::own::{End, Fin, Said};

use super::http::Http;
use super::record::{Line, Record};
use super::retry::{self, Next, chance};
use super::sse::Events;
use super::wire::{self, Asked, Complaint, Ear, Posted, Refusal, Trouble, Turn, Used, Wire};
use crate::Teller;

/// Why a step is not taken.
#[derive(Debug)]
pub(super) enum Stopped {
    /// Nobody listens, or nothing can be written down.
    Io(io::Error),
    /// It has ended.
    End(End),
    /// What was said is too long for the model.
    TooLong,
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        Stopped::Io(error)
    }
}

impl Stopped {
    pub fn end(came: Fin, why: impl Into<String>) -> Self {
        Stopped::End(End { came, why: why.into(), ..End::default() })
    }
}

/// Speaks to the model.
pub(super) struct Model<'a> {
    own: &'a Own,
    wire: &'static dyn Wire,
    http: Http,
    base: String,
    key: Option<String>,
    /// How often the model was asked.
    pub requests: u64,
    /// All that was used up.
    pub used: u64,
    /// Nobody knows what some request has used up.
    pub unaccounted: bool,
}

/// Where it is said what happens, and where it is written down.
pub(super) struct Told<'a, 't> {
    pub teller: &'a mut Teller<'t>,
    pub record: &'a mut Record,
}

/// An answer, and what it used up if that was said.
pub(super) struct Heard {
    pub turn: Turn,
    pub used: Option<Used>,
}

impl<'a> Model<'a> {
    pub fn new(own: &'a Own) -> Self {
        // Anthropic's place is known with and without what all paths of it begin with.
        let base = own.base_url.trim_end_matches('/');
        let base = match own.format {
            Format::Anthropic => base.strip_suffix("/v1").unwrap_or(base),
            Format::Gemini => base.strip_suffix("/v1beta").unwrap_or(base),
            _ => base,
        };
        let key = Some(&own.key).filter(|key| !key.is_empty());
        Model {
            own,
            wire: wire::of(own.format),
            http: Http::new(&own.pace, base.starts_with("https")),
            base: base.to_owned(),
            key: key.and_then(|key| std::env::var(key).ok()),
            requests: 0,
            used: 0,
            unaccounted: false,
        }
    }

    /// Whether the provider's own place is asked.
    pub fn at_home(&self) -> bool {
        self.base == self.own.format.base_url()
    }

    /// Asks until there is an answer, or it makes no sense any more.
    pub fn ask(&mut self, asked: &Asked<'_>, told: &mut Told<'_, '_>) -> Result<Heard, Stopped> {
        let Posted { path, body } = self.wire.post(asked);
        let (url, body) = (format!("{}{path}", self.base), body.to_string());
        for met in 1.. {
            let complaint = match self.once(&url, body.as_bytes(), told)? {
                Ok(heard) => return Ok(heard),
                Err(complaint) => complaint,
            };
            let pace = &self.own.pace;
            match retry::next(complaint.trouble, met, pace, now_ms(), chance()) {
                Next::Wait(wait) => {
                    let ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                    told.teller.say(&Said::Waits { ms })?;
                    thread::sleep(Duration::from_millis(ms.saturating_mul(pace.second_ms) / 1_000));
                }
                Next::End(came, until) => {
                    if came == Fin::Limited {
                        told.teller.say(&Said::Limit { until })?;
                    }
                    return Err(Stopped::end(came, complaint.message));
                }
                Next::Shorten => return Err(Stopped::TooLong),
            }
        }
        Err(Stopped::end(Fin::Overloaded, "it was asked too often"))
    }

    /// Asks once.
    fn once(
        &mut self,
        url: &str,
        body: &[u8],
        told: &mut Told<'_, '_>,
    ) -> io::Result<Result<Heard, Complaint>> {
        self.requests += 1;
        told.record.write(&Line::Asked { request: self.requests })?;
        let headers = self.wire.headers(self.key.as_deref());
        let mut answer = match self.http.post(url, &headers, body) {
            Ok(answer) => answer,
            Err(failed) => {
                if failed.sent {
                    self.nobody_knows(told)?;
                }
                let trouble = if failed.for_good { Trouble::Odd } else { Trouble::Cut };
                return Ok(Err(Complaint::new(trouble, failed.why)));
            }
        };
        if answer.status != 200 {
            let text = answer.text();
            let (status, headers) = (answer.status, &answer.headers);
            let refusal = Refusal { status, headers, body: &text, now_ms: now_ms() };
            return Ok(Err(self.wire.complaint(&refusal)));
        }
        let mut hearing = Hearing { events: Events::default(), ear: self.wire.ear(), said: None };
        let heard = loop {
            match answer.piece() {
                Err(why) => break Err(Complaint::new(Trouble::Cut, why)),
                Ok(piece) if piece.is_empty() => break Ok(()),
                Ok(piece) => {
                    let heard = hearing.hear(&piece);
                    hearing.tell(self, told)?;
                    if let Err(complaint) = heard {
                        break Err(complaint);
                    }
                }
            }
        };
        self.end(heard, hearing, told)
    }

    /// What a stream came to that has ended, in whatever way.
    fn end(
        &mut self,
        heard: Result<(), Complaint>,
        hearing: Hearing,
        told: &mut Told<'_, '_>,
    ) -> io::Result<Result<Heard, Complaint>> {
        let used = hearing.ear.used();
        // Of a request that is under way nothing is written down: whoever takes the session up counts it as the most that
        // one can use up.
        if let Some(used) = used {
            told.record.said(&self.usage(used))?;
        }
        self.used = self.used.saturating_add(used.map_or(0, Used::total));
        let cut = || Complaint::new(Trouble::Cut, "the answer was cut off");
        let turn = heard.and_then(|()| hearing.ear.turn().ok_or_else(cut));
        // What was said of a stream before it was cut off is not all that it used up.
        if used.is_none() || turn.is_err() {
            self.nobody_knows(told)?;
        }
        Ok(turn.map(|turn| Heard { turn, used }))
    }

    fn usage(&self, used: Used) -> Said {
        let Used { input, cached, cache_write, output } = used;
        let (request, model) = (self.requests.to_string(), self.own.model.clone());
        Said::Usage { request, model, input, cached, cache_write, output }
    }

    fn nobody_knows(&mut self, told: &mut Told<'_, '_>) -> io::Result<()> {
        self.unaccounted = true;
        told.record.write(&Line::Unaccounted)
    }
}

/// Hears one answer.
struct Hearing {
    events: Events,
    ear: Box<dyn Ear>,
    /// What was said that it used up.
    said: Option<Used>,
}

impl Hearing {
    fn hear(&mut self, piece: &[u8]) -> Result<(), Complaint> {
        let Hearing { events, ear, .. } = self;
        let mut heard = Ok(());
        let whole = events.feed(piece, |event| {
            if heard.is_ok() {
                heard = ear.hear(&event);
            }
        });
        whole.map_err(|_| Complaint::new(Trouble::Odd, "an event without end"))?;
        heard
    }

    /// Says what it used up so far, if that is new.
    fn tell(&mut self, model: &Model<'_>, told: &mut Told<'_, '_>) -> io::Result<()> {
        let used = self.ear.used();
        if used == self.said {
            return Ok(());
        }
        self.said = used;
        told.teller.say(&model.usage(used.unwrap_or_default()))
    }
}

fn now_ms() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_millis()).unwrap_or(i64::MAX)
}
