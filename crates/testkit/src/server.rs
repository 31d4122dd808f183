//! The server: who listens, what is on record, and how it all ends.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::cache::{self, Cache, Figures};
use crate::connection;
use crate::http::Raw;
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
    port: u16,
    listener: Option<JoinHandle<()>>,
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
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port))?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared {
            brain: Box::new(brain),
            book: Mutex::default(),
            changed: Condvar::new(),
            closing: AtomicBool::new(false),
            lines: Mutex::default(),
            told: options.told,
            cache: Mutex::new(Cache::new(options.cache_tokens_min)),
        });
        let for_listener = Arc::clone(&shared);
        let listener = thread::Builder::new()
            .name("model-server".into())
            .spawn(move || listen(&for_listener, &listener))?;
        Ok(Server { shared, port, listener: Some(listener) })
    }

    /// Where it is: `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Its port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
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

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.closing.store(true, Ordering::SeqCst);
        // The listener looks at what it was told only when somebody comes.
        _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        if let Some(listener) = self.listener.take() {
            _ = listener.join();
        }
    }
}

/// Takes connections until the server closes, and ends when all of them have ended.
fn listen(shared: &Arc<Shared>, listener: &TcpListener) {
    let mut threads: Vec<JoinHandle<()>> = Vec::new();
    for number in 0.. {
        let taken = listener.accept();
        if shared.closing.load(Ordering::SeqCst) {
            break;
        }
        let Ok((stream, _)) = taken else { continue };
        threads.retain(|thread| !thread.is_finished());
        threads.extend(connect(shared, number, stream));
    }
    shared.close_lines();
    for thread in threads {
        _ = thread.join();
    }
}

fn connect(shared: &Arc<Shared>, number: u64, stream: TcpStream) -> io::Result<JoinHandle<()>> {
    stream.set_nodelay(true)?;
    let stream = Arc::new(stream);
    shared.lines().insert(number, Arc::downgrade(&stream));
    let shared = Arc::clone(shared);
    thread::Builder::new().name(format!("model-server {number}")).spawn(move || {
        connection::serve(&shared, stream);
        shared.lines().remove(&number);
    })
}

/// What all threads of a server know.
pub(crate) struct Shared {
    pub brain: Box<Brain>,
    book: Mutex<Book>,
    changed: Condvar,
    closing: AtomicBool,
    /// Weak, so that a connection is closed when its thread is done with it.
    lines: Mutex<BTreeMap<u64, Weak<TcpStream>>>,
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

    fn lines(&self) -> MutexGuard<'_, BTreeMap<u64, Weak<TcpStream>>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close_lines(&self) {
        for line in self.lines().values().filter_map(Weak::upgrade) {
            _ = line.shutdown(Shutdown::Both);
        }
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
