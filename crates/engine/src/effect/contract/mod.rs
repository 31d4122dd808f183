//! The check `contract`: what is asserted of the work, tried out by Windlass itself on a checkout of the exact tree.
//!
//! Nobody's word counts here, neither the worker's nor the validator's. Files are looked at before anything has run; then come
//! commands, in a checkout that was made ready once; then requests and a browser, in an app that is started once, in a checkout of
//! its own. What a machine cannot tell is the validator's, and what cannot be tried out here is said to be open: neither is
//! ever a pass.
//!
//! | question | file |
//! |---|---|
//! | is there an app to talk to? | `app.rs` |
//! | what does it answer? | `http.rs` |
//! | what does a person see of it? | `browse.rs` |

mod app;
mod browse;
mod http;

use std::collections::BTreeSet;
use std::path::Path;

use windlass_core::path::Below;
use windlass_process::beneath::{BeneathError, Links, Root};
use windlass_process::{Ending, Env, Finished};
use windlass_repo::Oid;
use windlass_sources::contract::{Assertion, Contract, FileWant, How};

use self::app::App;
use self::browse::Browsing;
use super::check::{Checks, passed};
use crate::asserted::{self, CONTRACT};
use crate::entry::{Check, Proof};
use crate::isolation::Workspace;
use crate::message::Trouble;
use crate::shop::{Bench, Quarters, Shop, Stopped};

/// The check whose command starts the app.
const SERVE: &str = "serve";
/// Where a project has its contract.
const FILE: &str = ".harness/validation-contract.md";
/// A file that is looked into may be as long as that.
const FILE_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// So much of what was printed or answered is shown.
const SHOWN_BYTES: usize = 2 * 1024;

/// Why the rest is not tried out.
enum Halt {
    Stopped(Stopped),
    Trouble(Trouble),
}

impl From<Stopped> for Halt {
    fn from(stopped: Stopped) -> Self {
        Halt::Stopped(stopped)
    }
}

impl From<Trouble> for Halt {
    fn from(trouble: Trouble) -> Self {
        Halt::Trouble(trouble)
    }
}

/// What one way of checking came to, and what was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Finding {
    came: Came,
    seen: String,
}

/// What became of an assertion, or of one way of checking it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Came {
    /// It is so.
    Pass,
    /// It is not.
    Fail,
    /// Nobody can tell here.
    Open,
}

impl Finding {
    fn pass(seen: impl Into<String>) -> Self {
        Finding { came: Came::Pass, seen: seen.into() }
    }

    fn fail(seen: impl Into<String>) -> Self {
        Finding { came: Came::Fail, seen: seen.into() }
    }

    fn open(seen: impl Into<String>) -> Self {
        Finding { came: Came::Open, seen: seen.into() }
    }
}

/// An assertion, and what each way of checking it has come to so far.
struct Trial<'a> {
    assertion: &'a Assertion,
    found: Vec<Option<Finding>>,
}

impl<'a> Trial<'a> {
    fn of(assertion: &'a Assertion) -> Self {
        Trial { assertion, found: assertion.how.iter().map(|_| None).collect() }
    }

    /// The ways of checking it that are of a kind, each with where to put what it comes to.
    fn each(
        &mut self,
        kind: fn(&How) -> bool,
    ) -> impl Iterator<Item = (&'a How, &mut Option<Finding>)> {
        let ways = self.assertion.how.iter().zip(&mut self.found);
        ways.filter(move |(how, _)| kind(how))
    }

    fn came(&self) -> Came {
        let all = || self.found.iter().flatten().map(|finding| finding.came);
        if all().any(|came| came == Came::Fail) {
            Came::Fail
        } else if all().any(|came| came == Came::Open) {
            Came::Open
        } else {
            Came::Pass
        }
    }

    /// A line for the assertion, and one for each way of checking it.
    fn lines(&self) -> String {
        let word = match self.came() {
            Came::Pass => asserted::PASS,
            Came::Fail => asserted::FAIL,
            Came::Open => asserted::OPEN,
        };
        let Assertion { id, text, how, .. } = self.assertion;
        let mut lines = asserted::line(word, id, text);
        for (how, found) in how.iter().zip(&self.found) {
            let seen = found.as_ref().map_or("the validator judges this", |it| it.seen.as_str());
            lines.push_str(&format!("      {}: {}\n", way(how), seen.replace('\n', "\n        ")));
        }
        lines
    }
}

/// A way of checking, as it stands in a contract.
fn way(how: &How) -> String {
    match how {
        How::Command(command) => format!("command `{command}`"),
        How::File { path, want } => match want {
            FileWant::Exists => format!("file {} exists", path.as_str()),
            FileWant::Absent => format!("file {} absent", path.as_str()),
            FileWant::Contains(text) => format!("file {} contains {text:?}", path.as_str()),
            FileWant::Lacks(text) => format!("file {} lacks {text:?}", path.as_str()),
        },
        How::Http { method, path, status, .. } => format!("http {method} {path} → {status}"),
        How::Ui(steps) => format!("ui, {} steps", steps.len()),
        How::Review(what) => format!("review {what}"),
    }
}

/// A clean checkout, with somebody's quarters.
struct Room<'s> {
    shop: &'s Shop,
    bench: Bench<'s>,
    quarters: Quarters<'s>,
    objects: std::path::PathBuf,
}

impl<'s> Room<'s> {
    fn of(shop: &'s Shop, commit: &Oid) -> Result<Self, Trouble> {
        let (bench, quarters) = (shop.bench(commit)?, shop.quarters()?);
        Ok(Room { shop, bench, quarters, objects: shop.store.mirror_objects() })
    }

    fn work(&self) -> &Path {
        &self.bench.checkout.path
    }

    fn space(&self) -> Workspace<'_> {
        Workspace { work: self.work(), objects: &self.objects, quarters: &self.quarters.path }
    }

    fn env(&self) -> Env {
        self.quarters.env(Env::inherited())
    }
}

impl Checks<'_> {
    /// Tries out what is asserted.
    pub(super) fn contract(
        &mut self,
        commit: &Oid,
        base: &Oid,
    ) -> Result<Result<Check, Stopped>, Trouble> {
        // For a proof: what holds of a unit's work holds of the same tree when it lands. With others in front of it, theirs is
        // looked at as well.
        let known = self.proof.filter(|_| self.about.len() == 1).unwrap_or_default();
        let known = known.iter().rfind(|it| it.name == CONTRACT && it.came == Check::Pass);
        if let Some(Proof { came, output, .. }) = known.cloned() {
            self.record(CONTRACT, None, came, output);
            return Ok(Ok(came));
        }
        match self.tried_out(commit, base) {
            Ok(came) => Ok(Ok(came)),
            Err(Halt::Stopped(stopped)) => Ok(Err(stopped)),
            Err(Halt::Trouble(trouble)) => Err(trouble),
        }
    }

    fn tried_out(&mut self, commit: &Oid, base: &Oid) -> Result<Check, Halt> {
        let contract = self.asserted(base)?;
        let mechanical = contract.assertions.iter().filter(|it| it.is_mechanical());
        let mut trials: Vec<Trial<'_>> = mechanical.map(Trial::of).collect();
        if trials.is_empty() {
            self.note(CONTRACT, None, Check::Skipped, None);
            return Ok(Check::Skipped);
        }
        self.in_checkout(&mut trials, commit, base)?;
        self.in_app(&mut trials, commit, base)?;
        let came = verdict(&trials);
        let flaws = contract.flaws.iter().map(|flaw| format!("{FILE}, {flaw}\n"));
        let said: String = trials.iter().map(Trial::lines).chain(flaws).collect();
        let said = self.shop.setup.mask.bytes(said.into_bytes());
        self.note(CONTRACT, None, came, Some(said));
        Ok(came)
    }

    /// What the clerk says is asserted, or else the contract that was there before the work.
    fn asserted(&self, base: &Oid) -> Result<Contract, Trouble> {
        let said = self.about.iter().map(|job| self.shop.clerk.assertions(&job.situation()));
        let said: Option<Vec<Vec<Assertion>>> = said.collect();
        if let Some(said) = said {
            let mut seen = BTreeSet::new();
            let mut assertions: Vec<Assertion> = said.into_iter().flatten().collect();
            assertions.retain(|it| seen.insert(it.id.clone()));
            return Ok(Contract { assertions, flaws: Vec::new() });
        }
        let file = self.shop.store.file_at(base, Path::new(FILE))?.unwrap_or_default();
        Ok(Contract::parse(&String::from_utf8_lossy(&file)))
    }

    /// Files as they are, then commands.
    fn in_checkout(
        &mut self,
        trials: &mut [Trial<'_>],
        commit: &Oid,
        base: &Oid,
    ) -> Result<(), Halt> {
        let is_here = |how: &How| matches!(how, How::File { .. } | How::Command(_));
        if !trials.iter().any(|trial| trial.assertion.how.iter().any(is_here)) {
            return Ok(());
        }
        let room = Room::of(self.shop, commit)?;
        let root = Root::open(room.work(), Links::Follow)
            .map_err(|error| Trouble::io("look into", room.work(), &error))?;
        for trial in &mut *trials {
            for (how, found) in trial.each(|how| matches!(how, How::File { .. })) {
                if let How::File { path, want } = how {
                    *found = Some(look(&root, path, want)?);
                }
            }
        }
        let is_command = |how: &How| matches!(how, How::Command(_));
        if !trials.iter().any(|trial| trial.assertion.how.iter().any(is_command)) {
            return Ok(());
        }
        let unready = self.made_ready(&room, base)?;
        for trial in trials {
            for (how, found) in trial.each(is_command) {
                if let How::Command(command) = how {
                    *found = Some(match &unready {
                        Some(finding) => finding.clone(),
                        None => self.commanded(command, &room)?,
                    });
                }
            }
        }
        Ok(())
    }

    fn commanded(&self, command: &str, room: &Room<'_>) -> Result<Finding, Halt> {
        let finished = self.shell(command, room.space(), &room.env())??;
        let ended = ended(finished.ending);
        if passed(&finished) {
            return Ok(Finding::pass(ended));
        }
        Ok(Finding::fail(self.with_print(&ended, &finished)?))
    }

    /// With the end of what somebody printed.
    fn with_print(&self, said: &str, finished: &Finished) -> Result<String, Trouble> {
        let printed = self.printed(finished)?;
        let printed = String::from_utf8_lossy(&printed);
        let printed = tail(printed.trim());
        Ok(if printed.is_empty() { said.to_owned() } else { format!("{said}:\n{printed}") })
    }

    /// Makes a checkout ready. What is to be said if that fails: where it does without this work too, nobody can tell.
    fn made_ready(&mut self, room: &Room<'_>, base: &Oid) -> Result<Option<Finding>, Halt> {
        let Some(prepare) = &room.shop.setup.prepare else { return Ok(None) };
        let finished = self.shell(prepare, room.space(), &room.env())??;
        if passed(&finished) {
            return Ok(None);
        }
        let said = format!("`{prepare}` does not make a checkout ready");
        let said = self.with_print(&said, &finished)?;
        Ok(Some(match self.on_base("setup", "true", base)?? {
            Check::Pass => Finding::fail(said),
            Check::Fail | Check::FailedBefore | Check::Skipped => Finding::open(said),
        }))
    }

    /// Requests and steps in a browser, in an app that is started for them.
    fn in_app(&mut self, trials: &mut [Trial<'_>], commit: &Oid, base: &Oid) -> Result<(), Halt> {
        let wanted = |trial: &Trial<'_>| trial.assertion.how.iter().any(How::wants_app);
        if !trials.iter().any(wanted) {
            return Ok(());
        }
        let room = Room::of(self.shop, commit)?;
        let app = match self.command(SERVE) {
            None => Err(Finding::open(format!(
                "nothing says how the app is started: `[checks] {SERVE}` in windlass.toml"
            ))),
            Some(serve) => match self.made_ready(&room, base)? {
                Some(unready) => Err(unready),
                None => App::start(self, &serve, &room)?,
            },
        };
        let mut browsing = Browsing::default();
        for trial in trials {
            let id = &trial.assertion.id;
            for (how, found) in trial.each(How::wants_app) {
                let finding = match (&app, how) {
                    (Err(finding), _) => finding.clone(),
                    (Ok(app), How::Ui(steps)) => browsing.walk(self, app, id, steps)?,
                    (Ok(app), how) => app.asked(how),
                };
                *found = Some(finding);
                // What was stopped under way has found nothing.
                if self.brake.is_pulled() {
                    return Err(Stopped.into());
                }
            }
        }
        drop(app);
        browsing.write_down(self)
    }
}

/// What all of it comes to: something that is not so fails it, and something has to be so.
fn verdict(trials: &[Trial<'_>]) -> Check {
    let any = |wanted: Came| trials.iter().any(|trial| trial.came() == wanted);
    if any(Came::Fail) {
        Check::Fail
    } else if any(Came::Pass) {
        Check::Pass
    } else {
        Check::Skipped
    }
}

/// Looks at a file of a checkout. What a link leads to outside of it is not the project's.
fn look(root: &Root, path: &Below, want: &FileWant) -> Result<Finding, Trouble> {
    let path = path.as_str();
    let there = match root.exists(path) {
        Ok(there) => there,
        Err(BeneathError::Io { .. }) => false,
        Err(refused) => return Ok(Finding::fail(refused.to_string())),
    };
    let text = match want {
        FileWant::Exists if there => return Ok(Finding::pass("it is there")),
        FileWant::Absent if there => return Ok(Finding::fail("it is there")),
        FileWant::Absent => return Ok(Finding::pass("it is not there")),
        _ if !there => return Ok(Finding::fail("it is not there")),
        FileWant::Exists => return Ok(Finding::pass("it is there")),
        FileWant::Contains(text) | FileWant::Lacks(text) => text,
    };
    let bytes = match root.read(path, FILE_BYTES_MAX) {
        Ok(bytes) => bytes,
        Err(refused) => return Ok(Finding::fail(refused.to_string())),
    };
    let has = memchr::memmem::find(&bytes, text.as_bytes()).is_some();
    let seen = if has { "it has that in it" } else { "it has that not in it" };
    let so = has == matches!(want, FileWant::Contains(_));
    Ok(if so { Finding::pass(seen) } else { Finding::fail(seen) })
}

fn ended(ending: Ending) -> String {
    match ending {
        Ending::Exited(code) => format!("exited with {code}"),
        Ending::Signalled(signal) => format!("was ended by signal {signal}"),
        Ending::TimedOut(_) => "took too long".to_owned(),
        Ending::Stopped | Ending::Exceeded(_) | Ending::Barred => "was ended".to_owned(),
    }
}

/// The end of a text.
fn tail(text: &str) -> String {
    let from = text.ceil_char_boundary(text.len().saturating_sub(SHOWN_BYTES));
    if from > 0 { format!("[…] {}", &text[from..]) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn wanted(text: &str) -> Contract {
        let contract = Contract::parse(text);
        assert_eq!(contract.flaws, []);
        contract
    }

    #[test]
    fn files_are_looked_at_where_they_are_and_nowhere_else() {
        let dir = tempfile::tempdir().unwrap();
        let (top, outside) = (dir.path().join("top"), dir.path().join("secret.txt"));
        std::fs::create_dir_all(top.join("src")).unwrap();
        std::fs::write(top.join("src/a.rs"), "fn login() {}\n").unwrap();
        std::fs::write(&outside, "a secret").unwrap();
        symlink(&outside, top.join("out")).unwrap();
        symlink("src/a.rs", top.join("in")).unwrap();
        let root = Root::open(&top, Links::Follow).unwrap();
        for (line, came) in [
            ("src/a.rs exists", Came::Pass),
            ("src absent", Came::Fail),
            ("src/b.rs absent", Came::Pass),
            ("src/b.rs exists", Came::Fail),
            ("src/a.rs contains \"fn login\"", Came::Pass),
            ("src/a.rs contains \"fn logout\"", Came::Fail),
            ("src/a.rs lacks \"fn logout\"", Came::Pass),
            ("src/a.rs lacks \"login\"", Came::Fail),
            ("src/b.rs lacks \"login\"", Came::Fail),
            ("src contains \"login\"", Came::Fail),
            ("in contains \"login\"", Came::Pass),
            ("out exists", Came::Fail),
            ("out contains \"secret\"", Came::Fail),
            ("out lacks \"xyz\"", Came::Fail),
            ("out absent", Came::Fail),
        ] {
            let contract = wanted(&format!("- VAL-A-1: So\n  file: {line}\n"));
            let [How::File { path, want }] = contract.assertions[0].how.as_slice() else {
                panic!("{line}");
            };
            let finding = look(&root, path, want).unwrap();
            assert_eq!(finding.came, came, "{line}: {}", finding.seen);
            assert!(!finding.seen.contains("a secret"), "{}", finding.seen);
        }
    }

    #[test]
    fn one_that_is_not_so_fails_all_and_what_is_open_is_no_pass() {
        let contract = wanted("- VAL-A-1: So\n  cmd: a\n  cmd: b\n- VAL-A-2: So too\n  cmd: c\n");
        let came = |found: [Option<Finding>; 3]| {
            let mut trials: Vec<_> = contract.assertions.iter().map(Trial::of).collect();
            let [a, b, c] = found;
            trials[0].found = vec![a, b];
            trials[1].found = vec![c];
            verdict(&trials)
        };
        let pass = || Some(Finding::pass("."));
        let (fail, open) = (|| Some(Finding::fail(".")), || Some(Finding::open(".")));
        assert_eq!(came([pass(), pass(), pass()]), Check::Pass);
        assert_eq!(came([pass(), pass(), fail()]), Check::Fail);
        assert_eq!(came([open(), fail(), pass()]), Check::Fail);
        assert_eq!(came([pass(), open(), pass()]), Check::Pass);
        assert_eq!(came([pass(), open(), open()]), Check::Skipped);
    }
}
