//! The program, how it is started, and what it must not do.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use windlass_process::{Child, Command, Env, Feed, Output, Spawner, Stdin, which};

use crate::page::Page;
use crate::step::{Seen, Step};
use crate::wire::{Fault, Wire};

/// What it is called, on one system or another.
const NAMES: &[&str] = &["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

/// The protocol is spoken on descriptors 3 and 4: they are what the shell was given to read and to write.
const BECOME: &str = r#"exec 3<&0 4>&1 </dev/null >&2; exec "$@""#;

/// So much of what it says on standard error is kept.
const KEPT_BYTES: u64 = 16 * 1024;

/// How long it may take to answer for the first time.
const START: Duration = Duration::from_secs(30);

/// Where Chromium is, if it is installed.
pub fn find(env: &Env) -> Option<PathBuf> {
    NAMES.iter().find_map(|name| which(name, env))
}

/// Where a browser is to work.
#[derive(Clone, Debug)]
pub struct Place<'a> {
    /// The program.
    pub program: &'a Path,
    /// A directory of its own, as it sees it; empty, and thrown away afterwards.
    pub profile: &'a Path,
    /// The port of the app on this machine. It reaches nothing else.
    pub port: u16,
    /// How long a step may take.
    pub patience: Duration,
}

/// A browser that runs. It is ended with everything it has started when this is dropped.
pub struct Browser {
    wire: Wire,
    child: Child,
    port: u16,
    patience: Duration,
}

impl Browser {
    /// Starts one, and waits until it answers. `confine` makes of its command what is really started: with an environment, with limits,
    /// in a sandbox.
    ///
    /// # Errors
    ///
    /// When it cannot be started, or does not answer.
    pub fn start(
        spawner: &Spawner,
        place: &Place<'_>,
        confine: impl FnOnce(Command) -> Command,
    ) -> Result<Browser, Fault> {
        let (feed, fed) = Feed::pair().map_err(Fault::Pipe)?;
        let (hear, heard) = Wire::ear();
        let words = [OsString::from("-c"), BECOME.into(), "sh".into(), place.program.into()];
        let command = Command::new("/bin/sh", "/")
            .args(words)
            .args(arguments(place))
            .stdin(Stdin::Fed(fed))
            .stdout(Output::keep(0, 0))
            .stderr(Output::keep(KEPT_BYTES, KEPT_BYTES))
            .watch(hear);
        let child = spawner.spawn(confine(command))?;
        let mut wire = Wire::new(feed, heard);
        match wire.ask(None, "Browser.getVersion", serde_json::json!({}), START) {
            Ok(_) => {}
            Err(fault) => return Err(said_by(&child, fault)),
        }
        Ok(Browser { wire, child, port: place.port, patience: place.patience })
    }

    /// What can be stopped from elsewhere.
    pub fn child(&self) -> &Child {
        &self.child
    }

    /// Walks through steps, in a page of their own that knows nothing of those before it. `top` is what pages are opened below,
    /// such as `http://127.0.0.1:4000`.
    ///
    /// # Errors
    ///
    /// When the browser itself is in the way. What the page does wrong is no error: it is what was seen.
    pub fn walk(&mut self, top: &str, steps: &[Step]) -> Result<Seen, Fault> {
        let walked =
            Page::open(&mut self.wire, self.patience).and_then(|page| page.walk(top, steps));
        walked.map_err(|fault| said_by(&self.child, fault))
    }

    /// The port of the app.
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.child.stop();
        // Its profile goes next, and must not be written to any more.
        let _ = self.child.wait();
    }
}

/// What it said before it went away, if it did.
fn said_by(child: &Child, fault: Fault) -> Fault {
    if !matches!(fault, Fault::Gone(_)) {
        return fault;
    }
    child.stop();
    let said = child.wait().ok().and_then(|finished| finished.stderr.text().ok());
    let said = String::from_utf8_lossy(&said.unwrap_or_default()).trim().to_owned();
    let last: Vec<&str> = said.lines().rev().take(3).collect();
    Fault::Gone(last.into_iter().rev().collect::<Vec<_>>().join("\n"))
}

/// Everything that is not the app goes to a proxy on a port where nobody listens, so also what is addressed by number and
/// other servers of this machine; and no name but this machine's is ever looked up.
fn arguments(place: &Place<'_>) -> Vec<OsString> {
    let port = place.port;
    let mut profile = OsString::from("--user-data-dir=");
    profile.push(place.profile);
    let fixed = [
        "--headless=new",
        // It has no privileges to give up where the whole of it is in a sandbox already, and there it cannot make another.
        "--no-sandbox",
        "--no-zygote",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--remote-debugging-pipe",
        "--window-size=1280,800",
        "--hide-scrollbars",
        "--force-color-profile=srgb",
        "--no-first-run",
        "--no-default-browser-check",
        "--no-pings",
        "--mute-audio",
        "--password-store=basic",
        "--use-mock-keychain",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-default-apps",
        "--disable-domain-reliability",
        "--disable-extensions",
        "--disable-quic",
        "--disable-sync",
        "--disable-breakpad",
        "--disable-crash-reporter",
        "--disable-background-timer-throttling",
        "--disable-renderer-backgrounding",
        "--disable-features=Translate,OptimizationHints,MediaRouter,DialMediaRouteProvider",
        "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
        "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost , EXCLUDE [::1]",
        "--proxy-server=http://127.0.0.1:1",
    ];
    let mut all: Vec<OsString> = fixed.iter().map(Into::into).collect();
    all.push(
        format!("--proxy-bypass-list=<-loopback>;127.0.0.1:{port};localhost:{port};[::1]:{port}")
            .into(),
    );
    all.push(profile);
    all.push("about:blank".into());
    all
}
