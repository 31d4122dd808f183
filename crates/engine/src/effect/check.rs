//! Runs checks: commands of the project, on a clean checkout of exactly the tree in question. What Windlass looks at itself is
//! in `measure.rs` and `contract/`.
//!
//! An agent's word is never evidence. A check that does not exist is skipped, never passed; one that fails on the base
//! as well is not this work's doing, and is said to be so.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use windlass_core::run::Item;
use windlass_core::value::Value;
use windlass_core::workflow::Expect;
use windlass_process::{Command, Ending, Env, Finished, Limits, Output};
use windlass_repo::{Car, Oid};

use super::measure::{self, Measure};
use super::report;
use super::{Job, Outcome, barred, subject};
use crate::asserted::CONTRACT;
use crate::clerk::Trial;
use crate::entry::{Check, Note, Proof};
use crate::isolation::{Workspace, ran_short};
use crate::message::{Done, Paper, Trouble};
use crate::queue::Ticket;
use crate::shop::{Brake, Shop, Stopped, lock, when};

const KEPT_BYTES: u64 = 512 * 1024;
/// What a shell exits with when there is no such command.
const NOT_FOUND: i32 = 127;
/// The core watches the stage's own limit; this one is for what nobody limits.
const WALL: Duration = Duration::from_secs(4 * 3_600);

/// What a stage says of a check whose command is the project's own.
pub const DETECTED: &str = "detected";
/// What it says of one that is to be skipped.
pub const NO_COMMAND: &str = "none";

/// What the person's own hooks say of the work. It is there if they have any, runs with every other check, and proves
/// nothing by itself.
pub const COMMIT_HOOKS: &str = "commit-hooks";

/// Whether a change touches only what its plan has named: Windlass looks at that itself.
pub const BLAST_RADIUS: &str = "blast-radius";

/// How a hook is run as a check: with the work staged, as for a commit. One that changes files has failed, and what it
/// would change is what it printed.
pub fn hook_command(hook: &Path) -> String {
    let hook = hook.display().to_string().replace('\'', "'\\''");
    format!(
        "git reset -q --soft HEAD~1 2>/dev/null; before=$(git write-tree); '{hook}' && \
         git --no-pager diff --exit-code \"$before\" && \
         [ -z \"$(git ls-files --others --exclude-standard | tee /dev/stderr)\" ]"
    )
}

pub(super) fn check(
    shop: &Shop,
    job: &Job,
    names: &[String],
    expect: Expect,
    brake: &Brake,
) -> Outcome {
    let Some(base) = &job.base else { return Err(Trouble::defect("a check without a base")) };
    let at = when(job.effect.since);
    let (subject, commit) = match (&job.effect.subject, &job.held) {
        (Some(subject), Some(held)) => (subject.clone(), held.clone()),
        (_, _) => {
            let lane = shop.lane(job.effect.lane, job.unit(), base, at)?;
            let label = format!("{} {}", job.effect.name, job.id.0);
            let snapshot = shop.store.snapshot(&lane, &label, at)?;
            (subject(&snapshot.subject), snapshot.commit)
        }
    };
    let paper = Paper::default();
    let own = [job];
    let tree = subject.tree.as_ref();
    let bench = Checks { shop, job, brake, tree, about: &own, proof: None, expect, paper };
    let before = job.before.as_ref().unwrap_or(base);
    // Where something is to fail, hooks would have to as well; and where nothing is run, they are not either.
    let hooks = expect != Expect::Fail && names.iter().any(|name| !is_looked_at(name));
    let (verdict, paper) = match bench.all(names, hooks, &commit, before)? {
        Ok(judged) => judged,
        Err(stopped) => return Ok(Err(stopped)),
    };
    let word = match (verdict, expect == Expect::Fail) {
        (Check::Pass, false) | (Check::Fail, true) => "pass",
        (Check::Fail, false) | (Check::Pass, true) => "fail",
        (Check::Skipped | Check::FailedBefore, _) => "skipped",
    };
    let mut report = job.verdict(word);
    report.subject = Some(subject);
    let findings = findings(job, &paper);
    report.lists.insert("findings".to_owned(), findings);
    Ok(Ok(Done { report, paper, desk: None }))
}

/// The checks of a landing's proof, on what the branch would hold with a car and those in front of it: what they come to, with a
/// note for each. What is on record of that very tree is not run again, and where all is well nobody asks how it was before.
pub(super) fn prove(
    shop: &Shop,
    cars: &[(Arc<Ticket>, Car)],
    begins: &Oid,
    known: &[Proof],
    brake: &Brake,
) -> Result<Result<(Check, Paper), Stopped>, Trouble> {
    let Some((ticket, car)) = cars.last() else {
        return Err(Trouble::defect("a train without cars"));
    };
    let (job, tree) = (&ticket.job, car.tree.as_str());
    let paper = Paper::default();
    let about: Vec<&Job> = cars.iter().map(|(ticket, _)| &ticket.job).collect();
    let (proof, expect) = (Some(known), Expect::NoWorse);
    let bench = Checks { shop, job, brake, tree, about: &about, proof, expect, paper };
    let hooks = ticket.proof.iter().any(|name| !is_looked_at(name));
    bench.all(&ticket.proof, hooks, &car.whole, begins)
}

/// Whether Windlass looks at the change itself, and nothing is run.
fn is_looked_at(name: &str) -> bool {
    name == BLAST_RADIUS || Measure::of(name).is_some()
}

/// An item for each failing command. One that fails again is another finding, so its id has the effect's number.
fn findings(job: &Job, paper: &Paper) -> Vec<Item> {
    let failing = paper.notes.iter().filter_map(|note| match note {
        Note::Checked { name, command, came: Check::Fail, .. } => Some((name, command)),
        _ => None,
    });
    let item = |(name, command): (&String, &Option<String>)| {
        let command = command.as_deref().map_or(String::new(), |it| format!(" (`{it}`)"));
        Item {
            id: format!("{name}-{}", job.id.0).into(),
            title: format!("The check `{name}`{command} fails: make it pass").into(),
            ..Item::default()
        }
    };
    failing.map(item).collect()
}

/// How a command ended, and the report that it wrote.
type Ran = (Finished, Option<Vec<u8>>);

/// What a command that fails is held against.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Judged {
    /// What it comes to without this work: what fails there as well is not this work's doing.
    Beside,
    /// Nothing.
    Alone,
}

pub(super) struct Checks<'a> {
    pub(super) shop: &'a Shop,
    pub(super) job: &'a Job,
    pub(super) brake: &'a Brake,
    pub(super) tree: &'a str,
    /// Whose work it is: of several, the claims of each have to hold.
    pub(super) about: &'a [&'a Job],
    /// For a landing's proof: what is on record of this very tree.
    pub(super) proof: Option<&'a [Proof]>,
    /// What it looks at is to fail.
    expect: Expect,
    pub(super) paper: Paper,
}

impl Checks<'_> {
    /// Every check on the commit, each first on the base, once.
    fn all(
        mut self,
        names: &[String],
        hooks: bool,
        commit: &Oid,
        base: &Oid,
    ) -> Result<Result<(Check, Paper), Stopped>, Trouble> {
        let mut ran = Vec::new();
        for name in names {
            if let Some(measure) = Measure::of(name) {
                let came = self.measured(name, measure, commit, base)?;
                ran.extend(Some(came).filter(|came| measure.proves() || *came == Check::Fail));
                continue;
            }
            if name == BLAST_RADIUS {
                ran.push(self.radius(commit, base)?);
                continue;
            }
            let came = match name == CONTRACT {
                true => self.contract(commit, base)?.map(|came| vec![came]),
                false => self.named(name, commit, base)?,
            };
            match came {
                Ok(came) => ran.extend(came),
                Err(stopped) => return Ok(Err(stopped)),
            }
        }
        let named = names.iter().any(|name| name == COMMIT_HOOKS);
        if hooks && !named && self.shop.setup.checks.contains_key(COMMIT_HOOKS) {
            match self.one(COMMIT_HOOKS, commit, base)? {
                // That nobody objects is no evidence that anything works.
                Ok(Check::Pass | Check::Skipped | Check::FailedBefore) => {}
                Ok(Check::Fail) => ran.push(Check::Fail),
                Err(stopped) => return Ok(Err(stopped)),
            }
        }
        let verdict = if ran.contains(&Check::Fail) {
            Check::Fail
        } else if ran.contains(&Check::Pass) {
            Check::Pass
        } else {
            Check::Skipped
        };
        Ok(Ok((verdict, self.paper)))
    }

    /// What Windlass sees for itself.
    fn measured(
        &mut self,
        name: &str,
        measure: Measure,
        commit: &Oid,
        base: &Oid,
    ) -> Result<Check, Trouble> {
        let (came, said) = measure.take(self.shop, self.job, self.tree, base, commit)?;
        let said = self.shop.setup.mask.bytes(said.into_bytes());
        self.note(name, None, came, Some(said));
        Ok(came)
    }

    /// A check by its name: what the clerk says that it consists of, or else the project's own command.
    fn named(
        &mut self,
        name: &str,
        commit: &Oid,
        base: &Oid,
    ) -> Result<Result<Vec<Check>, Stopped>, Trouble> {
        let Some(trials) = self.shop.clerk.commands(name, &self.job.situation()) else {
            return Ok(self.one(name, commit, base)?.map(|came| vec![came]));
        };
        if trials.is_empty() {
            self.note(name, None, Check::Skipped, None);
        }
        let mut ran = Vec::new();
        for Trial { name, command, strict } in trials {
            let judged = if strict { Judged::Alone } else { Judged::Beside };
            match self.ran(&name, &command, judged, commit, base)? {
                Ok(came) => ran.push(came),
                Err(stopped) => return Ok(Err(stopped)),
            }
        }
        Ok(Ok(ran))
    }

    /// Whether only what may be was changed: of a part, since that was begun.
    fn radius(&mut self, commit: &Oid, base: &Oid) -> Result<Check, Trouble> {
        let since = self.job.since.as_ref().unwrap_or(base);
        let changes = self.shop.store.changes(since, commit)?;
        let paths: Vec<&Path> = changes.iter().map(|it| it.path.as_path()).collect();
        let may = self.shop.clerk.may_change(&self.job.situation());
        let (came, said) = measure::radius(&paths, may.as_deref(), &self.shop.clerk.untouchable());
        let said = self.shop.setup.mask.bytes(said.into_bytes());
        self.note(BLAST_RADIUS, None, came, Some(said));
        Ok(came)
    }

    fn one(
        &mut self,
        name: &str,
        commit: &Oid,
        base: &Oid,
    ) -> Result<Result<Check, Stopped>, Trouble> {
        match self.command(name) {
            Some(command) => {
                // A hook judges a change, not a state: what it said of somebody else's is no excuse.
                let hook = name == COMMIT_HOOKS;
                let judged = match self.expect {
                    Expect::NoWorse | Expect::Fail if !hook => Judged::Beside,
                    _ => Judged::Alone,
                };
                self.ran(name, &command, judged, commit, base)
            }
            None => {
                self.note(name, None, Check::Skipped, None);
                Ok(Ok(Check::Skipped))
            }
        }
    }

    fn ran(
        &mut self,
        name: &str,
        command: &str,
        judged: Judged,
        commit: &Oid,
        base: &Oid,
    ) -> Result<Result<Check, Stopped>, Trouble> {
        if let Some(known) = self.on_record(name, command, base) {
            self.record(name, Some(command), known.came, known.output.clone());
            return Ok(Ok(known.came));
        }
        let alone = judged == Judged::Alone;
        if self.proof.is_none() && !alone {
            match self.on_base(name, command, base)? {
                Ok(Check::Skipped) => {
                    self.note(name, Some(command), Check::Skipped, None);
                    return Ok(Ok(Check::Skipped));
                }
                Ok(_) => {}
                Err(stopped) => return Ok(Err(stopped)),
            }
        }
        let (finished, report) = match self.run(name, command, commit)? {
            Ok(ran) => ran,
            Err(stopped) => return Ok(Err(stopped)),
        };
        let came = if passed(&finished) {
            Check::Pass
        } else if alone {
            // Whose tool is not installed objects to nothing. What the work is to bring about is there, or it has failed.
            let ours = name == COMMIT_HOOKS || self.expect == Expect::Pass;
            let absent = ours && finished.ending == Ending::Exited(NOT_FOUND);
            if absent { Check::Skipped } else { Check::Fail }
        } else {
            match self.on_base(name, command, base)? {
                Ok(Check::Fail) => Check::FailedBefore,
                Ok(Check::Skipped) => Check::Skipped,
                Ok(_) => Check::Fail,
                Err(stopped) => return Ok(Err(stopped)),
            }
        };
        self.note(name, Some(command), came, Some(self.reported(report, &finished)?));
        Ok(Ok(came))
    }

    /// What is on record of a check on this very tree, for a proof. That it failed is found out again; that it did before
    /// this work counts only where that is known of what it would land on.
    fn on_record(&self, name: &str, command: &str, base: &Oid) -> Option<Proof> {
        let command = self.shop.setup.mask.text(command);
        let fails_there = || {
            let on_base = lock(&self.shop.on_base);
            on_base.get(base.as_str()).and_then(|all| all.get(name)) == Some(&Check::Fail)
        };
        let holds = |it: &&Proof| {
            let came = match it.came {
                Check::Pass => true,
                Check::FailedBefore => fails_there(),
                Check::Fail | Check::Skipped => false,
            };
            it.name == name && it.command.as_deref() == Some(&*command) && came
        };
        self.proof?.iter().find(holds).cloned()
    }

    /// The command of a check: what the stage says, or else what the project has.
    pub(super) fn command(&self, name: &str) -> Option<String> {
        match self.job.effect.with.get(&name.replace('-', "_")) {
            Some(Value::Text(said)) if &**said == NO_COMMAND => None,
            Some(Value::Text(said)) if &**said != DETECTED => Some(said.to_string()),
            _ => self.shop.setup.checks.get(name).cloned(),
        }
    }

    /// What a check comes to on the base, run there once.
    pub(super) fn on_base(
        &mut self,
        name: &str,
        command: &str,
        base: &Oid,
    ) -> Result<Result<Check, Stopped>, Trouble> {
        let known =
            lock(&self.shop.on_base).get(base.as_str()).and_then(|all| all.get(name)).copied();
        if let Some(known) = known {
            return Ok(Ok(known));
        }
        let (finished, report) = match self.run(name, command, base)? {
            Ok(ran) => ran,
            Err(stopped) => return Ok(Err(stopped)),
        };
        // A tool that is not installed says nothing about the project.
        let came = match finished.ending {
            Ending::Exited(0) => Check::Pass,
            Ending::Exited(NOT_FOUND) => Check::Skipped,
            _ => Check::Fail,
        };
        let output = self.reported(report, &finished)?;
        let output = self.paper.keep(output);
        self.paper.notes.push(Note::BaseChecked {
            name: name.to_owned(),
            base: base.to_string(),
            command: self.shop.setup.mask.text(command),
            came,
            output,
        });
        let mut on_base = lock(&self.shop.on_base);
        on_base.entry(base.to_string()).or_default().insert(name.to_owned(), came);
        Ok(Ok(came))
    }

    /// Runs a check's command on a clean checkout. How it ended, and the report that it wrote, if it is to write one.
    fn run(
        &self,
        name: &str,
        command: &str,
        commit: &Oid,
    ) -> Result<Result<Ran, Stopped>, Trouble> {
        let bench = self.shop.bench(commit)?;
        let quarters = self.shop.quarters()?;
        let space = Workspace {
            work: &bench.checkout.path,
            objects: &self.shop.store.mirror_objects(),
            quarters: &quarters.path,
        };
        let env = quarters.env(Env::inherited());
        if let Some(prepare) = &self.shop.setup.prepare {
            let ready = match self.shell(prepare, space, &env)? {
                Ok(ready) => ready,
                Err(stopped) => return Ok(Err(stopped)),
            };
            if !passed(&ready) {
                return Ok(Ok((ready, None)));
            }
        }
        let report = self.shop.setup.reports.get(name);
        if let Some(path) = report {
            report::clear(space.work, path)?;
        }
        let finished = match self.shell(command, space, &env)? {
            Ok(finished) => finished,
            Err(stopped) => return Ok(Err(stopped)),
        };
        let report = report.map(|path| report::read(space.work, path)).transpose()?.flatten();
        Ok(Ok((finished, report)))
    }

    /// What a check has printed, and before that what it has reported: what people read stands at the end.
    fn reported(&self, report: Option<Vec<u8>>, finished: &Finished) -> Result<Vec<u8>, Trouble> {
        let mut all = self.shop.setup.mask.bytes(report.unwrap_or_default());
        if !all.is_empty() && !all.ends_with(b"\n") {
            all.push(b'\n');
        }
        all.extend(self.printed(finished)?);
        Ok(all)
    }

    /// Runs a line in a checkout.
    pub(super) fn shell(
        &self,
        line: &str,
        space: Workspace<'_>,
        env: &Env,
    ) -> Result<Result<Finished, Stopped>, Trouble> {
        let ran = self.brake.run(&self.shop.spawner, self.line(line, space, env))?;
        if let Ok(finished) = &ran {
            barred(finished)?;
        }
        Ok(ran)
    }

    /// A line for the shell, as it is started in a checkout.
    pub(super) fn line(&self, line: &str, space: Workspace<'_>, env: &Env) -> Command {
        let isolation = &self.shop.setup.isolation;
        let command = Command::new("/bin/sh", space.work)
            .args(["-c", line])
            .env(env.clone())
            .stdout(Output::keep(KEPT_BYTES, KEPT_BYTES))
            .stderr(Output::keep(KEPT_BYTES, KEPT_BYTES));
        let limits = Limits {
            wall: Some(WALL),
            idle: None,
            grace: self.shop.setup.grace,
            bounds: self.shop.setup.bounds(space),
        };
        isolation.confine(command, limits, isolation.of_check(space))
    }

    pub(super) fn note(
        &mut self,
        name: &str,
        command: Option<&str>,
        came: Check,
        output: Option<Vec<u8>>,
    ) {
        let output = output.map(|output| self.paper.keep(output));
        self.record(name, command, came, output);
    }

    pub(super) fn record(
        &mut self,
        name: &str,
        command: Option<&str>,
        came: Check,
        output: Option<String>,
    ) {
        self.paper.notes.push(Note::Checked {
            effect: self.job.id,
            unit: self.job.unit_owned(),
            name: name.to_owned(),
            tree: self.tree.to_owned(),
            command: command.map(|command| self.shop.setup.mask.text(command)),
            came,
            output,
            to_fail: self.expect == Expect::Fail,
        });
    }

    /// Both streams, one after the other, and what it does not know of itself.
    pub(super) fn printed(&self, finished: &Finished) -> Result<Vec<u8>, Trouble> {
        let mut printed = finished.stdout.text()?;
        let errors = finished.stderr.text()?;
        let remark = ran_short(finished).map_or_else(String::new, |it| format!("windlass: {it}\n"));
        for more in [errors, remark.into_bytes()].into_iter().filter(|more| !more.is_empty()) {
            if !printed.is_empty() && !printed.ends_with(b"\n") {
                printed.push(b'\n');
            }
            printed.extend(more);
        }
        Ok(self.shop.setup.mask.bytes(printed))
    }
}

pub(super) fn passed(finished: &Finished) -> bool {
    finished.ending == Ending::Exited(0)
}
