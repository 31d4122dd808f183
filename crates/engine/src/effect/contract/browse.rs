//! What a person would see of the app: steps in a browser, with what it shows and reports, and pictures of it.

use std::path::Path;
use std::time::Duration;

use windlass_browser::{Browser, Came as Done, Place, Seen, Shot, Step, Target, find};
use windlass_process::{Env, Limits};
use windlass_sources::contract;

use super::super::check::Checks;
use super::app::App;
use super::{Finding, Halt};
use crate::entry::{Note, Picture};
use crate::isolation::Workspace;
use crate::message::Trouble;
use crate::shop::{Beside, Quarters};

/// How long a step may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a browser may run in all.
const WALL: Duration = Duration::from_secs(3_600);

/// What browsers saw for one check.
#[derive(Default)]
pub(super) struct Browsing<'s> {
    runs: Option<Running<'s>>,
    /// Why there is no browser here.
    none: Option<String>,
    /// Step by step.
    text: String,
    /// Pictures, by what was asserted.
    shots: Vec<(String, Shot)>,
}

/// A browser that runs. What it is told last goes first.
struct Running<'s> {
    browser: Browser,
    _held: Beside,
    _quarters: Quarters<'s>,
}

impl<'s> Browsing<'s> {
    /// Walks through the steps of an assertion.
    pub(super) fn walk(
        &mut self,
        checks: &Checks<'s>,
        app: &App,
        assertion: &str,
        steps: &[contract::Step],
    ) -> Result<Finding, Halt> {
        if self.runs.is_none() && self.none.is_none() {
            match start(checks, app)? {
                Ok(runs) => self.runs = Some(runs),
                Err(why) => self.none = Some(why),
            }
        }
        let Some(runs) = &mut self.runs else {
            let why = self.none.clone().unwrap_or_default();
            self.text.push_str(&format!("{assertion}: not looked at: {why}\n"));
            return Ok(Finding::open(why));
        };
        let steps: Vec<Step> = steps.iter().map(step).collect();
        let seen = match runs.browser.walk(&app.top(), &steps) {
            Ok(seen) => seen,
            Err(fault) => {
                // A page that brings the browser down is nothing to be passed; the next one has another.
                self.runs = None;
                let why = fault.to_string();
                self.text.push_str(&format!("{assertion}: FAILED: {why}\n"));
                return Ok(Finding::fail(why));
            }
        };
        self.text.push_str(&told(assertion, &seen));
        let finding = match seen.failed() {
            Some((step, why)) => Finding::fail(format!("`{step}` failed: {why}{}", aside(&seen))),
            None => Finding::pass(format!("all of it was done{}", aside(&seen))),
        };
        self.shots.extend(seen.shots.into_iter().map(|shot| (assertion.to_owned(), shot)));
        Ok(finding)
    }

    /// Keeps what was seen, and pictures where people can look at them.
    pub(super) fn write_down(self, checks: &mut Checks<'_>) -> Result<(), Halt> {
        if self.text.is_empty() {
            return Ok(());
        }
        let dir = checks.shop.pictures();
        let mut pictures: Vec<Picture> = Vec::new();
        for (assertion, Shot { name, png }) in self.shots {
            let earlier = pictures.iter().filter(|it| it.assertion == assertion && it.name == name);
            let again = match earlier.count() {
                0 => String::new(),
                before => format!("-{}", before + 1),
            };
            // What an earlier attempt looked like stays, too.
            let (unit, effect) = (checks.job.unit().unwrap_or("run"), checks.job.id.0);
            let file = format!("{unit} {assertion} {name}{again} {effect}");
            let file = windlass_sources::slug(&file);
            let file = dir.join(format!("{file}.png"));
            write(&dir, &file, &png)?;
            let (holds, file) = (checks.paper.keep(png), file.display().to_string());
            pictures.push(Picture { assertion, name, holds, file });
        }
        let seen = checks.shop.setup.mask.bytes(self.text.into_bytes());
        let seen = checks.paper.keep(seen);
        checks.paper.notes.push(Note::Browsed {
            effect: checks.job.id,
            unit: checks.job.unit_owned(),
            tree: checks.tree.to_owned(),
            seen,
            pictures,
        });
        Ok(())
    }
}

fn write(dir: &Path, file: &Path, png: &[u8]) -> Result<(), Trouble> {
    std::fs::create_dir_all(dir).map_err(|error| Trouble::io("make", dir, &error))?;
    std::fs::write(file, png).map_err(|error| Trouble::io("write", file, &error))
}

/// Starts a browser for an app, in quarters of its own. Why there is none, if there is none.
fn start<'s>(checks: &Checks<'s>, app: &App) -> Result<Result<Running<'s>, String>, Halt> {
    let shop = checks.shop;
    let Some(program) = find(&Env::inherited()) else {
        return Ok(Err("there is no Chromium on this machine".to_owned()));
    };
    let program = std::fs::canonicalize(&program).unwrap_or(program);
    let quarters = shop.quarters()?;
    let isolation = &shop.setup.isolation;
    let [home, seen] = isolation.home(&quarters.path);
    let space = Workspace { work: &home, objects: &home, quarters: &quarters.path.join("tmp") };
    let bounds = shop.setup.bounds(space);
    let limits = Limits { wall: Some(WALL), idle: None, grace: shop.setup.grace, bounds };
    let env = quarters.env(Env::inherited());
    let view = isolation.of_browser(&quarters.path, &program);
    let profile = seen.join("profile");
    let place =
        Place { program: &program, profile: &profile, port: app.port(), patience: PATIENCE };
    let confine =
        |command: windlass_process::Command| isolation.confine(command.env(env), limits, view);
    Ok(match Browser::start(&shop.spawner, &place, confine) {
        Ok(browser) => {
            let held = checks.brake.hold(browser.child().clone());
            Ok(Running { browser, _held: held, _quarters: quarters })
        }
        Err(fault) => Err(fault.to_string()),
    })
}

/// What happened, step by step.
fn told(assertion: &str, seen: &Seen) -> String {
    let word = if seen.failed().is_some() { "FAILED" } else { "passed" };
    let mut text = format!("{assertion}: {word}\n");
    for took in &seen.steps {
        let came = match &took.came {
            Done::Done(said) if said.is_empty() => "done".to_owned(),
            Done::Done(said) => format!("done: {said}"),
            Done::Failed(why) => format!("FAILED: {why}"),
            Done::NotTried => "not tried".to_owned(),
        };
        text.push_str(&format!("  {} — {came}\n", took.step));
    }
    for error in &seen.errors {
        text.push_str(&format!("  the page reported: {error}\n"));
    }
    for dialog in &seen.dialogs {
        text.push_str(&format!("  it asked, and was dismissed: {dialog}\n"));
    }
    text
}

/// What is worth knowing beside whether the steps could be done.
fn aside(seen: &Seen) -> String {
    let mut text = String::new();
    for error in seen.errors.iter().take(5) {
        text.push_str(&format!("\nthe page reported: {error}"));
    }
    for dialog in seen.dialogs.iter().take(5) {
        text.push_str(&format!("\nit asked, and was dismissed: {dialog}"));
    }
    text
}

fn step(step: &contract::Step) -> Step {
    use contract::Step as Said;
    match step {
        Said::Open(path) => Step::Open(path.clone()),
        Said::Click(at) => Step::Click(target(at)),
        Said::Type { field, text } => Step::Type { field: field.clone(), text: text.clone() },
        Said::See(at) => Step::See(target(at)),
        Said::Unseen(at) => Step::Unseen(target(at)),
        Said::WaitFor(at) => Step::WaitFor(target(at)),
        Said::Shot(name) => Step::Shot(name.clone()),
        Said::Quiet => Step::Quiet,
    }
}

fn target(target: &contract::Target) -> Target {
    match target {
        contract::Target::Text(text) => Target::Text(text.clone()),
        contract::Target::Selector(selector) => Target::Selector(selector.clone()),
    }
}
