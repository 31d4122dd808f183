//! A real Chromium, and a small app on loopback with planted defects.

mod app;

use std::path::{Path, PathBuf};
use std::time::Duration;

use app::App;
use windlass_browser::{Browser, Came, Place, Seen, Step, Target, find};
use windlass_process::{Env, Limits, Spawner};

/// Long enough for a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);
/// For what is not going to happen.
const SHORT: Duration = Duration::from_millis(1500);

struct World {
    browser: Browser,
    app: App,
    _spawner: Spawner,
    _profile: tempfile::TempDir,
}

fn chromium() -> PathBuf {
    let of_tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/bin/chromium");
    let found = if of_tests.exists() { Some(of_tests) } else { find(&Env::inherited()) };
    found.expect("Chromium is not installed: `scripts/chromium` puts it below target/tools")
}

fn world(patience: Duration) -> World {
    let app = App::start();
    let profile = tempfile::tempdir().expect("a directory");
    let spawner = Spawner::start().expect("a spawner");
    let program = chromium();
    let place = Place { program: &program, profile: profile.path(), port: app.port, patience };
    let limits = Limits { wall: Some(Duration::from_secs(120)), ..Limits::default() };
    let home = profile.path().join("home");
    let browser = Browser::start(&spawner, &place, |command| {
        command.env(Env::inherited().set("HOME", &home)).limits(limits)
    });
    let browser = browser.expect("it starts");
    World { browser, app, _spawner: spawner, _profile: profile }
}

impl World {
    fn walk(&mut self, steps: &[Step]) -> Seen {
        let top = format!("http://127.0.0.1:{}", self.app.port);
        self.browser.walk(&top, steps).expect("the browser works")
    }
}

fn open(path: &str) -> Step {
    Step::Open(path.to_owned())
}

fn text(text: &str) -> Target {
    Target::Text(text.to_owned())
}

fn at(selector: &str) -> Target {
    Target::Selector(selector.to_owned())
}

fn enter(field: &str, text: &str) -> Step {
    Step::Type { field: field.to_owned(), text: text.to_owned() }
}

/// Why it failed, and at which step.
fn failed(seen: &Seen) -> (String, String) {
    let (step, why) = seen.failed().unwrap_or_else(|| panic!("nothing failed: {seen:?}"));
    (step.to_string(), why.to_owned())
}

#[test]
fn a_person_could_do_it() {
    let mut world = world(PATIENCE);
    let seen = world.walk(&[
        open("/"),
        Step::See(text("sign in")),
        enter("#name", "somebody else"),
        enter("[name=\"name\"]", "ada"),
        enter("#country", "Sweden"),
        Step::Unseen(text("Welcome")),
        Step::Click(text("Go")),
        Step::WaitFor(at(".late")),
        Step::See(text("Welcome, ada of se")),
        Step::Unseen(text("somebody")),
        Step::Quiet,
        Step::Shot("welcome".to_owned()),
    ]);
    assert_eq!(seen.failed(), None, "{seen:?}");
    assert_eq!((seen.errors.len(), seen.dialogs.len()), (0, 0), "{seen:?}");
    assert_eq!(seen.steps[0].came, Came::Done("Sign in".to_owned()));
    assert_eq!((seen.shots.len(), seen.shots[0].name.as_str()), (1, "welcome"));
    assert!(seen.shots[0].png.starts_with(b"\x89PNG") && seen.shots[0].png.len() > 1000);
    // By the keyboard, in a page of its own that knows nothing of the one before.
    let seen = world.walk(&[open("/"), enter("#name", "eve\n"), Step::See(text("Welcome, eve"))]);
    assert_eq!(seen.failed(), None, "{seen:?}");
    let seen = world.walk(&[open("/visits"), Step::See(text("visits: 0"))]);
    assert_eq!(seen.failed(), None, "{seen:?}");
}

#[test]
fn what_the_page_reports_is_heard_and_its_dialogs_are_dismissed() {
    let mut world = world(PATIENCE);
    let seen = world.walk(&[
        open("/errors"),
        Step::Click(at("#alert")),
        Step::See(text("answered: false")),
        Step::Quiet,
    ]);
    assert_eq!(seen.dialogs, ["alert: hello", "confirm: really?"]);
    let (step, why) = failed(&seen);
    assert_eq!((step.as_str(), why.as_str()), ("quiet", "the page reported: it broke 3 Object"));
    let all = seen.errors.join("\n");
    for wanted in ["Error: thrown", "404", "missing.js"] {
        assert!(all.contains(wanted), "{all}");
    }
}

#[test]
fn a_page_reaches_the_app_and_nothing_else() {
    let other = App::start();
    let mut world = world(PATIENCE);
    let away = format!("/away?port={}", other.port);
    let seen = world.walk(&[open(&away), Step::See(text("done: no no no no yes"))]);
    assert_eq!(seen.failed(), None, "{seen:?}");
    assert_eq!(other.asked(), 0);
    // Nor does the browser itself go there.
    let seen = world.walk(&[open(&format!("/redirect?port={}", other.port))]);
    assert!(failed(&seen).1.contains("cannot be loaded"), "{seen:?}");
    assert_eq!(other.asked(), 0);
}

#[test]
fn a_browser_that_is_gone_is_said_to_be() {
    let mut world = world(PATIENCE);
    world.browser.child().stop();
    let _ = world.browser.child().wait();
    let gone = world.browser.walk("http://127.0.0.1:1", &[open("/")]).unwrap_err();
    assert!(gone.to_string().starts_with("the browser has ended"), "{gone}");

    let (spawner, dir) = (Spawner::start().unwrap(), tempfile::tempdir().unwrap());
    let (program, profile) = (Path::new("/bin/false"), dir.path());
    let place = Place { program, profile, port: 1, patience: SHORT };
    let Err(none) = Browser::start(&spawner, &place, |command| command) else {
        panic!("it starts")
    };
    assert!(none.to_string().starts_with("the browser has ended"), "{none}");
}

/// Each waits for what is not going to happen.
mod slow {
    use super::*;

    #[test]
    fn what_does_not_work_is_found_and_said() {
        let mut world = world(SHORT);
        let dead = world.walk(&[
            open("/broken"),
            Step::Click(at("#dead")),
            Step::See(text("Saved")),
            Step::Shot("never".to_owned()),
        ]);
        let (step, why) = failed(&dead);
        assert_eq!(step, "see \"Saved\"");
        assert!(why.contains("it is not to be seen") && why.contains("Broken things"), "{why}");
        assert_eq!(dead.steps[3].came, Came::NotTried);
        assert_eq!(
            dead.shots.iter().map(|shot| shot.name.as_str()).collect::<Vec<_>>(),
            ["failed"]
        );

        for (steps, wanted) in [
            (vec![Step::Click(at("#nowhere"))], "it is not there"),
            (vec![Step::Click(at("#hidden"))], "it is not there"),
            (vec![Step::Click(at("#disabled"))], "it is disabled"),
            (vec![Step::Click(at("#covered"))], "it is covered by <div id=cover>"),
            (vec![enter("#check", "x")], "nothing can be typed into <input id=check>"),
            (vec![Step::See(text("hidden words"))], "it is not to be seen"),
            (vec![Step::Unseen(text("Broken things"))], "it is to be seen"),
            (vec![Step::See(at("#["))], "SyntaxError"),
            // It comes back a moment later, so it was not gone.
            (vec![Step::Click(at("#blink")), Step::Unseen(at("#lamp"))], "it is to be seen"),
        ] {
            let steps: Vec<Step> = [open("/broken")].into_iter().chain(steps).collect();
            let (step, why) = failed(&world.walk(&steps));
            assert!(why.contains(wanted), "{step}: {why}");
        }
    }

    #[test]
    fn a_page_that_hangs_or_floods_costs_its_own_steps_alone() {
        let mut world = world(SHORT);
        let seen = world.walk(&[open("/hang"), Step::Click(at("#hang")), Step::See(text("after"))]);
        let (_, why) = failed(&seen);
        assert!(why.contains("the page does not answer"), "{why}");
        let seen = world.walk(&[open("/never"), Step::See(text("x"))]);
        assert!(failed(&seen).1.contains("does not answer") || failed(&seen).1.contains("loading"));
        let seen = world.walk(&[open("/flood"), Step::Shot("flood".to_owned())]);
        assert_eq!((seen.errors.len(), seen.dialogs.len()), (50, 0), "{:?}", seen.steps);
        assert!(seen.errors.iter().all(|error| error.len() < 600));
        let seen = world.walk(&[open("/"), Step::See(text("Sign in"))]);
        assert_eq!(seen.failed(), None, "{seen:?}");
    }
}
