//! One page, and how steps are done in it.
//!
//! Everything waits for what is to happen, up to a limit: in the page where the page can tell, and for events where it
//! cannot. A page that goes elsewhere while it is looked at is looked at again there.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::base64;
use crate::step::{Came, Seen, Shot, Step, Target, Took};
use crate::wire::{Event, Fault, Wire, Word, result};

/// What runs in the page.
const LOOK: &str = include_str!("look.js");
/// The world that it runs in.
const WORLD: &str = "windlass";
/// How long the browser may take for what has nothing to do with the page.
const BROWSER: Duration = Duration::from_secs(20);
/// How much longer than the page is given we wait for what it says.
const SLACK: Duration = Duration::from_secs(2);
/// How long something must be gone to count as unseen: what comes a moment later was not.
const STEADY: Duration = Duration::from_millis(300);
/// How long until a page that is on its way elsewhere is looked at again, if nothing happens.
const AGAIN: Duration = Duration::from_millis(50);
/// So many errors are kept, and dialogs.
const KEPT_MAX: usize = 50;
/// So much of each.
const TEXT_BYTES_MAX: usize = 500;
/// So many pictures of one walk.
const SHOTS_MAX: usize = 20;

pub(crate) struct Page<'w> {
    wire: &'w mut Wire,
    patience: Duration,
    context: String,
    session: String,
    frame: String,
    /// How often a page has been loaded.
    loads: u64,
    crashed: bool,
    seen: Seen,
}

/// Why a step was not done: the page's doing, or the browser's.
enum Setback {
    Page(String),
    Browser(Fault),
}

impl From<Fault> for Setback {
    fn from(fault: Fault) -> Self {
        Setback::Browser(fault)
    }
}

impl Setback {
    /// Why the step was not done. What the browser refuses, it refuses because of the page that is there.
    fn of_page(self) -> Result<String, Fault> {
        match self {
            Setback::Page(why) => Ok(why),
            Setback::Browser(refused @ Fault::Refused { .. }) => Ok(refused.to_string()),
            Setback::Browser(fault) => Err(fault),
        }
    }
}

type Stepped = Result<String, Setback>;

impl<'w> Page<'w> {
    /// An empty page, with no memory of others.
    pub(crate) fn open(wire: &'w mut Wire, patience: Duration) -> Result<Page<'w>, Fault> {
        let mut ask = |method, params| wire.ask(None, method, params, BROWSER);
        let context = ask("Target.createBrowserContext", json!({}))?;
        let context = text(&context["browserContextId"]);
        let denied = json!({ "behavior": "deny", "browserContextId": context });
        ask("Browser.setDownloadBehavior", denied)?;
        let new = json!({
            "url": "about:blank", "browserContextId": context, "width": 1280, "height": 800,
        });
        let target = text(&ask("Target.createTarget", new)?["targetId"]);
        let attach = json!({ "targetId": target, "flatten": true });
        let session = text(&ask("Target.attachToTarget", attach)?["sessionId"]);
        let seen = Seen::default();
        let frame = target;
        let mut page =
            Page { wire, patience, context, session, frame, loads: 0, crashed: false, seen };
        for method in ["Page.enable", "Runtime.enable", "Log.enable", "Inspector.enable"] {
            page.call(method, json!({}), BROWSER)?;
        }
        let tree = page.call("Page.getFrameTree", json!({}), BROWSER)?;
        page.frame = text(&tree["frameTree"]["frame"]["id"]);
        Ok(page)
    }

    pub(crate) fn walk(mut self, top: &str, steps: &[Step]) -> Result<Seen, Fault> {
        let mut failed = false;
        for step in steps {
            let came = match failed {
                true => Came::NotTried,
                false => match self.step(top, step) {
                    Ok(said) => Came::Done(said),
                    Err(setback) => Came::Failed(setback.of_page()?),
                },
            };
            if matches!(came, Came::Failed(_)) {
                failed = true;
                // Where it went wrong is worth a picture, if there is one to be had.
                if let Err(setback) = self.shot("failed") {
                    setback.of_page()?;
                }
            }
            self.seen.steps.push(Took { step: step.clone(), came });
        }
        let dispose = json!({ "browserContextId": self.context });
        self.wire.ask(None, "Target.disposeBrowserContext", dispose, BROWSER)?;
        Ok(self.seen)
    }

    fn step(&mut self, top: &str, step: &Step) -> Stepped {
        let patience = self.patience;
        match step {
            Step::Open(path) => self.go(&format!("{top}{path}")),
            Step::Click(target) => {
                let ask = json!({ "what": "spot", "target": place(target) });
                let spot = self.look(ask, patience)?;
                self.click(&spot)
            }
            Step::Type { field, text } => self.enter(field, text),
            Step::See(target) | Step::WaitFor(target) => self.watch("see", target),
            Step::Unseen(target) => self.watch("unseen", target),
            Step::Shot(name) => {
                // A page that never settles is taken as it is.
                let _ = self.look(json!({ "what": "settled" }), patience);
                self.shot(name)
            }
            Step::Quiet => {
                self.look(json!({ "what": "settled" }), patience)?;
                match self.seen.errors.first() {
                    None => Ok(String::new()),
                    Some(error) => Err(Setback::Page(format!("the page reported: {error}"))),
                }
            }
        }
    }

    fn go(&mut self, url: &str) -> Stepped {
        let loads = self.loads;
        let until = Instant::now() + self.patience;
        let gone = self.within("Page.navigate", json!({ "url": url }), self.patience)?;
        if let Some(why) = gone["errorText"].as_str() {
            return Err(Setback::Page(format!("the page cannot be loaded: {why}")));
        }
        while self.loads == loads {
            self.alive()?;
            if !self.hear(until)? {
                let why = format!("it was still loading after {} s", self.patience.as_secs());
                return Err(Setback::Page(why));
            }
        }
        let page = self.look(json!({ "what": "page" }), self.patience)?;
        Ok(match (page["status"].as_u64().unwrap_or(0), text(&page["title"])) {
            (0 | 200, title) => title,
            (status, title) => format!("{status} {title}").trim().to_owned(),
        })
    }

    fn click(&mut self, spot: &Value) -> Stepped {
        for (kind, buttons) in [("mouseMoved", 0), ("mousePressed", 1), ("mouseReleased", 0)] {
            let params = json!({
                "type": kind, "x": spot["x"], "y": spot["y"], "buttons": buttons, "clickCount": 1,
                "button": if kind == "mouseMoved" { "none" } else { "left" },
            });
            self.within("Input.dispatchMouseEvent", params, self.patience)?;
        }
        Ok(String::new())
    }

    fn enter(&mut self, field: &str, typed: &str) -> Stepped {
        let (line, enters) = match typed.strip_suffix('\n') {
            Some(line) => (line, true),
            None => (typed, false),
        };
        let target = place(&Target::Selector(field.to_owned()));
        let ask = json!({ "what": "field", "target": target, "text": line });
        let field = self.look(ask, self.patience)?;
        if field["done"] == false {
            if !line.is_empty() {
                self.within("Input.insertText", json!({ "text": line }), self.patience)?;
            } else if field["empty"] == false {
                self.key("Backspace", 8, None)?;
            }
        }
        if enters {
            self.key("Enter", 13, Some("\r"))?;
        }
        Ok(String::new())
    }

    fn key(&mut self, key: &str, code: u32, text: Option<&str>) -> Result<(), Setback> {
        for kind in ["keyDown", "keyUp"] {
            let mut params =
                json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code });
            if let (Some(text), "keyDown") = (text, kind) {
                params["text"] = text.into();
            }
            self.within("Input.dispatchKeyEvent", params, self.patience)?;
        }
        Ok(())
    }

    fn watch(&mut self, what: &str, target: &Target) -> Stepped {
        let steady = u64::try_from(STEADY.as_millis()).unwrap_or(0);
        let ask = json!({ "what": what, "target": place(target), "steady": steady });
        match self.look(ask, self.patience) {
            Ok(_) => Ok(String::new()),
            Err(Setback::Page(why)) if !self.crashed => {
                let page = self.look(json!({ "what": "page" }), SLACK);
                let page = page.unwrap_or_else(|_| json!({ "text": "nothing that can be told" }));
                let (address, shown) = (text(&page["address"]), clipped(&text(&page["text"])));
                Err(Setback::Page(format!("{why}; {address} shows: {shown}")))
            }
            Err(setback) => Err(setback),
        }
    }

    fn shot(&mut self, name: &str) -> Stepped {
        if self.seen.shots.len() >= SHOTS_MAX {
            return Err(Setback::Page(format!("there are {SHOTS_MAX} pictures already")));
        }
        let taken =
            self.within("Page.captureScreenshot", json!({ "format": "png" }), self.patience)?;
        let png = base64::decode(taken["data"].as_str().unwrap_or_default());
        let png = png.filter(|png| png.starts_with(b"\x89PNG"));
        let Some(png) = png else { return Err(Setback::Page("there is no picture of it".into())) };
        self.seen.shots.push(Shot { name: name.to_owned(), png });
        Ok(String::new())
    }

    /// Looks at the page, and again if it goes elsewhere meanwhile.
    fn look(&mut self, mut ask: Value, patience: Duration) -> Result<Value, Setback> {
        let until = Instant::now() + patience;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            ask["ms"] = u64::try_from(left.as_millis()).unwrap_or(0).into();
            match self.evaluate(&ask, left + SLACK) {
                Ok(found) => {
                    return match found["why"].as_str() {
                        Some(why) => Err(Setback::Page(why.to_owned())),
                        None => Ok(found),
                    };
                }
                Err(Setback::Browser(Fault::Refused { why, .. })) => {
                    self.alive()?;
                    let now = Instant::now();
                    if now >= until {
                        return Err(Setback::Page(format!("the page cannot be looked at: {why}")));
                    }
                    // Whatever happens next may be that it has arrived.
                    self.hear(until.min(now + AGAIN))?;
                }
                Err(setback) => return Err(setback),
            }
        }
    }

    fn evaluate(&mut self, ask: &Value, within: Duration) -> Result<Value, Setback> {
        let world = json!({ "frameId": self.frame, "worldName": WORLD });
        let world = self.within("Page.createIsolatedWorld", world, within)?;
        let params = json!({
            "expression": format!("({LOOK})({ask})"), "contextId": world["executionContextId"],
            "awaitPromise": true, "returnByValue": true,
        });
        let mut answer = self.within("Runtime.evaluate", params, within)?;
        if answer.get("exceptionDetails").is_some() {
            return Err(Setback::Page(exception(&answer["exceptionDetails"])));
        }
        Ok(answer["result"]["value"].take())
    }

    /// A call that the page can hold up.
    fn within(
        &mut self,
        method: &'static str,
        params: Value,
        within: Duration,
    ) -> Result<Value, Setback> {
        self.alive()?;
        match self.call(method, params, within) {
            Err(Fault::Silent(_)) => {
                let why =
                    if self.crashed { "the page has crashed" } else { "the page does not answer" };
                Err(Setback::Page(why.to_owned()))
            }
            answer => Ok(answer?),
        }
    }

    fn alive(&self) -> Result<(), Setback> {
        match self.crashed {
            true => Err(Setback::Page("the page has crashed".to_owned())),
            false => Ok(()),
        }
    }

    fn call(
        &mut self,
        method: &'static str,
        params: Value,
        within: Duration,
    ) -> Result<Value, Fault> {
        let until = Instant::now() + within;
        let session = self.session.clone();
        let id = self.wire.tell(Some(&session), method, params, within)?;
        loop {
            match self.wire.next(until)? {
                None => return Err(Fault::Silent(method)),
                Some(Word::Answer(answered, answer)) if answered == id => {
                    return result(method, answer);
                }
                Some(Word::Answer(..)) => {}
                Some(Word::Event(event)) => {
                    self.happened(event)?;
                    if self.crashed {
                        return Err(Fault::Silent(method));
                    }
                }
            }
        }
    }

    /// Waits for something to happen. Nothing has if not.
    fn hear(&mut self, until: Instant) -> Result<bool, Fault> {
        match self.wire.next(until)? {
            None => return Ok(false),
            Some(Word::Event(event)) => self.happened(event)?,
            Some(Word::Answer(..)) => {}
        }
        Ok(true)
    }

    fn happened(&mut self, event: Event) -> Result<(), Fault> {
        let Event { method, session, params } = event;
        if session.as_deref() != Some(self.session.as_str()) {
            return Ok(());
        }
        match method.as_str() {
            "Page.loadEventFired" => self.loads += 1,
            "Inspector.targetCrashed" => self.crashed = true,
            "Page.javascriptDialogOpening" => {
                let kind = params["type"].as_str().unwrap_or_default();
                keep(&mut self.seen.dialogs, format!("{kind}: {}", text(&params["message"])));
                // One that asks whether to stay would keep us from leaving.
                let leave = json!({ "accept": kind == "beforeunload" });
                let session = self.session.clone();
                self.wire.tell(Some(&session), "Page.handleJavaScriptDialog", leave, BROWSER)?;
            }
            "Runtime.exceptionThrown" => {
                keep(&mut self.seen.errors, exception(&params["exceptionDetails"]));
            }
            "Runtime.consoleAPICalled"
                if matches!(params["type"].as_str(), Some("error" | "assert")) =>
            {
                let said = params["args"].as_array().into_iter().flatten().map(spoken);
                keep(&mut self.seen.errors, said.collect::<Vec<_>>().join(" "));
            }
            "Log.entryAdded" if params["entry"]["level"] == "error" => {
                let (what, url) = (text(&params["entry"]["text"]), text(&params["entry"]["url"]));
                // The browser asks for it on its own account.
                if !url.ends_with("/favicon.ico") {
                    keep(&mut self.seen.errors, format!("{what} {url}"));
                }
            }
            _ => {}
        }
        Ok(())
    }
}

fn place(target: &Target) -> Value {
    match target {
        Target::Text(text) => json!({ "text": text }),
        Target::Selector(selector) => json!({ "selector": selector }),
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// What was thrown, in one line.
fn exception(details: &Value) -> String {
    let described = details["exception"]["description"].as_str();
    let said = described.or_else(|| details["text"].as_str()).unwrap_or("something was thrown");
    said.lines().next().unwrap_or_default().to_owned()
}

/// A value as a console shows it.
fn spoken(value: &Value) -> String {
    let described = value["description"].as_str().map(|it| it.lines().next().unwrap_or_default());
    match (&value["value"], described) {
        (Value::String(text), _) => text.clone(),
        (Value::Null, Some(described)) => described.to_owned(),
        (plain, _) => plain.to_string(),
    }
}

fn keep(all: &mut Vec<String>, text: String) {
    if all.len() < KEPT_MAX {
        all.push(clipped(&text));
    }
}

fn clipped(text: &str) -> String {
    let text = text.trim();
    let cut = text.floor_char_boundary(TEXT_BYTES_MAX);
    if cut < text.len() { format!("{}…", &text[..cut]) } else { text.to_owned() }
}
