//! The server: what is on record, and who is told.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::cache::{self, Cache, Figures};
use crate::connection;
use crate::http::Raw;
use crate::listener::Listener;
use crate::record::{Answered, Exchange, News, Probe};
use crate::reply::Reply;
use crate::request::{Api, Purpose, Request};
use crate::usage::Usage;
use crate::wire;

/// What decides about answers. It is asked from the thread of a connection, for several connections at once, and may
/// take its time; but a server is dropped only when it has come back.
pub type Brain = dyn Fn(&Request) -> Reply + Send + Sync;

/// How a server is to be.
pub struct Options {
    /// Where it listens on 127.0.0.1; anywhere, if 0.
    pub port: u16,
    /// Who is told what happens.
    pub told: Option<Box<Told>>,
    /// How many tokens a prefix has at least that a provider keeps.
    pub cache_tokens_min: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options { port: 0, told: None, cache_tokens_min: 1024 }
    }
}

/// Who is told what happens, from the thread of a connection.
pub type Told = dyn Fn(News<'_>) + Send + Sync;

/// A scripted model server on loopback. When it is dropped, every connection is closed and every thread has ended.
pub struct Server {
    shared: Arc<Shared>,
    // Dropped, it waits for everybody who knows `shared`.
    listener: Listener,
}

impl Server {
    /// Starts one on a free port.
    ///
    /// # Errors
    ///
    /// If no port can be listened on.
    pub fn start(brain: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> io::Result<Self> {
        Server::start_with(Options::default(), brain)
    }

    /// Starts one that is to be like this.
    ///
    /// # Errors
    ///
    /// If the port cannot be listened on.
    pub fn start_with(
        options: Options,
        brain: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let port = options.port;
        let shared = Arc::new(Shared {
            brain: Box::new(brain),
            book: Mutex::default(),
            changed: Condvar::new(),
            told: options.told,
            cache: Mutex::new(Cache::new(options.cache_tokens_min)),
        });
        let own = Arc::clone(&shared);
        let serve = move |stream| connection::serve(&own, stream);
        Ok(Server { shared, listener: Listener::start("model-server", port, serve)? })
    }

    /// Where it is: `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> String {
        self.listener.url()
    }

    /// Its port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.listener.port()
    }

    /// Every request to a model so far and what became of it, in the order in which they came.
    #[must_use]
    pub fn requests(&self) -> Vec<Exchange> {
        self.shared.book().exchanges.clone()
    }

    /// Everything else that was asked so far.
    #[must_use]
    pub fn probes(&self) -> Vec<Probe> {
        self.shared.book().probes.clone()
    }

    /// What each request that was answered as a model does came to at the provider's cache, in the order of the answers.
    #[must_use]
    pub fn cache(&self) -> Vec<Figures> {
        self.shared.cache.lock().unwrap_or_else(PoisonError::into_inner).figures.clone()
    }

    /// Waits until so many requests to a model have come; false if they have not after that long.
    #[must_use]
    pub fn wait_for(&self, requests: usize, at_most: Duration) -> bool {
        self.wait_until(at_most, |exchanges| exchanges.len() >= requests)
    }

    /// Waits until something is on record; false if it is not after that long.
    #[must_use]
    pub fn wait_until(
        &self,
        at_most: Duration,
        mut is_there: impl FnMut(&[Exchange]) -> bool,
    ) -> bool {
        let end = Instant::now() + at_most;
        let mut book = self.shared.book();
        while !is_there(&book.exchanges) {
            let Some(left) = end.checked_duration_since(Instant::now()) else { return false };
            let waited = self.shared.changed.wait_timeout(book, left);
            book = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}

/// What all threads of a server know.
pub(crate) struct Shared {
    pub brain: Box<Brain>,
    book: Mutex<Book>,
    changed: Condvar,
    told: Option<Box<Told>>,
    cache: Mutex<Cache>,
}

#[derive(Default)]
struct Book {
    exchanges: Vec<Exchange>,
    probes: Vec<Probe>,
}

impl Shared {
    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a request on record.
    pub fn take(
        &self,
        raw: Raw,
        api: Api,
        purpose: Purpose,
    ) -> Result<Arc<Request>, serde_json::Error> {
        let mut book = self.book();
        let serial = book.exchanges.len() as u64 + 1;
        let request = Arc::new(wire::request(serial, raw, api, purpose)?);
        let exchange = Exchange { request: Arc::clone(&request), answered: None };
        book.exchanges.push(exchange.clone());
        drop(book);
        self.changed.notify_all();
        self.tell(News::Came(&exchange));
        Ok(request)
    }

    /// Puts on record what became of a request.
    pub fn answered(&self, serial: u64, answered: Answered) {
        let mut book = self.book();
        let place = usize::try_from(serial - 1).ok();
        if let Some(exchange) = place.and_then(|place| book.exchanges.get_mut(place)) {
            exchange.answered = Some(answered);
        }
        self.changed.notify_all();
    }

    /// Says what happened.
    pub fn tell(&self, news: News<'_>) {
        if let Some(told) = &self.told {
            told(news);
        }
    }

    /// Puts on record that somebody looked.
    pub fn probed(&self, raw: &Raw, status: u16) {
        let probe = Probe { method: raw.method.clone(), path: raw.path.clone(), status };
        self.book().probes.push(probe.clone());
        self.tell(News::Probed(&probe));
    }

    /// How many tokens a request has.
    pub fn tokens(&self, request: &Request) -> u64 {
        cache::length(&wire::prompt(request))
    }

    /// What a request with an answer of so many tokens comes to. It is then in the cache.
    pub fn count(&self, request: &Request, output: u64) -> Usage {
        let prompt = wire::prompt(request);
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        cache.look_up(request, &prompt).usage(output)
    }
}
