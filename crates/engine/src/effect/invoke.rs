//! Invokes an agent: prepares its lane, asks it, reads its answer, and keeps what it did to the lane.

use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use windlass_agents::{Agent, Answer, Ask, Came, Output as Heard, Program, Stopped as Ended};
use windlass_core::lang::Reporter;
use windlass_core::run::{EffectId, Report, Usage};
use windlass_core::workflow::Mishap;
use windlass_journal::BlobId;
use windlass_process::{Command, Ending, Env, Finished, Limits, Output, Stdin};
use windlass_repo::{Lane, Snapshot};

use super::{Job, Outcome, marked, subject};
use crate::clerk::Said;
use crate::entry::Note;
use crate::message::{Done, Paper, Trouble};
use crate::papers;
use crate::prompt::{self, Standing, Task};
use crate::role::Role;
use crate::shop::{Brake, Shop, Stopped, when};

/// So much of each stream is kept, from its beginning and from its end.
const KEPT_BYTES: u64 = 2 << 20;

pub(super) fn invoke(
    shop: &Shop,
    job: &Job,
    role: &str,
    wanted: Option<&str>,
    edits: bool,
    brake: &Brake,
) -> Outcome {
    let Some((agent_name, agent)) = shop.setup.agent(role, wanted) else {
        let what = format!(
            "no agent plays the role `{role}`: name one in windlass.toml, as `[roles] {role} = \"…\"` or \
             `[roles] default = \"…\"`"
        );
        return Err(Trouble { what });
    };
    let Some(base) = &job.base else { return Err(Trouble::defect("an agent without a base")) };
    let lane = shop.lane(job.effect.lane, job.unit(), base, when(job.effect.since))?;
    let reporter = shop.setup.reporter(role);
    let played = shop.setup.role(role);
    let standing = Standing {
        name: role,
        role: &played,
        reporter: &reporter,
        skills: shop.setup.skills.of(role, &played.skills),
        identity: &shop.setup.identity,
        summary: &shop.setup.summary,
    };
    let task = Task {
        stage: &job.effect.name,
        unit: job.unit().map(|unit| (unit, job.title.as_deref().unwrap_or(unit))),
        child: job.effect.child.as_ref().map(|child| (&*child.id, &*child.title)),
        attempt: job.attempt,
        with: job.effect.with.clone(),
        context: job.effect.context.as_deref(),
        writes: played
            .writes
            .iter()
            .filter_map(|name| Some((name.clone(), shop.clerk.path(name, &job.situation())?)))
            .collect(),
        artifacts: job.artifacts.clone(),
    };
    let writes = task.writes.clone();
    let visit =
        Visit { shop, job, role, played: &played, reporter: &reporter, lane: &lane, brake, writes };
    if job.again {
        // What was complete before the process went away is taken; everything else is done anew.
        return match Kept::find(&shop.desks(), job.id) {
            Some(kept) => visit.report(kept, edits).map(Ok),
            None => visit.lost(),
        };
    }
    visit.put_back(edits)?;
    papers::put(&lane.work, &shop.clerk.papers())?;
    papers::make_room(&lane.work, visit.writes.iter().map(|(_, path)| path.as_str()))?;
    let text = shop.setup.mask.text(&prompt::prompt(&standing, &task));
    let asked = Note::Asked {
        effect: job.id,
        unit: job.unit_owned(),
        task: job.task_owned(),
        stage: job.effect.name.to_string(),
        role: role.to_owned(),
        agent: agent_name.to_owned(),
        attempt: job.attempt,
        prompt: BlobId::of(text.as_bytes()).to_string(),
    };
    // That the agent is wanted, and what it may cost, is on record already; what it is asked goes there meanwhile.
    shop.post(Paper { notes: vec![asked], blobs: vec![text.clone().into_bytes()] });
    let mut heard = match visit.ask(&*agent, &text)? {
        Ok(heard) => heard,
        Err(stopped) => return Ok(Err(stopped)),
    };
    if heard.answer.came == Came::Mishap(Mishap::Unknown) {
        let why = heard.answer.remarks.join("; ");
        let said = String::from_utf8_lossy(&heard.stdout).into_owned();
        let again = match visit.ask(&*agent, &prompt::repair(&standing, &said, &why))? {
            Ok(again) => again,
            Err(stopped) => return Ok(Err(stopped)),
        };
        heard = heard.repaired(again);
    }
    // The session's papers lie on the desk before they are taken out of the lane: whoever goes on after a crash finds
    // them in one place or the other.
    let kept = visit.gathered(Kept::of(heard))?;
    let desk = shop.desk()?;
    kept.write(&desk.path, job.id)?;
    // Nobody else gets the desk before the journal has what lies there.
    visit.report(kept, edits).map(|done| Ok(Done { desk: Some(desk), ..done }))
}

/// One invocation.
struct Visit<'a> {
    shop: &'a Shop,
    job: &'a Job,
    role: &'a str,
    played: &'a Role,
    reporter: &'a Reporter,
    lane: &'a Lane,
    brake: &'a Brake,
    /// What it promises to write, by name and path.
    writes: Vec<(String, String)>,
}

/// What an agent said.
struct HeardOf {
    answer: Answer,
    ended: String,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl HeardOf {
    /// The second answer counts, and both cost.
    fn repaired(self, again: HeardOf) -> HeardOf {
        let mut answer = again.answer;
        answer.usage = plus(self.answer.usage, answer.usage);
        answer
            .remarks
            .insert(0, "it had to be asked again for an answer that could be read".to_owned());
        let mut stdout = self.stdout;
        stdout.extend_from_slice(b"\n");
        stdout.extend(again.stdout);
        HeardOf { answer, ended: again.ended, stdout, stderr: again.stderr }
    }
}

fn plus(one: Usage, other: Usage) -> Usage {
    use windlass_core::run::Reported::{Known, Unknown};
    let add = |one, other| match (one, other) {
        (Known(one), Known(other)) => Known(one + other),
        _ => Unknown,
    };
    Usage { cost: add(one.cost, other.cost), tokens: add(one.tokens, other.tokens) }
}

impl Visit<'_> {
    fn ask(&self, agent: &dyn Agent, text: &str) -> Result<Result<HeardOf, Stopped>, Trouble> {
        let ask = Ask {
            role: self.role,
            reporter: self.reporter,
            tools: &self.played.tools,
            tier: self.played.tier,
            unit: self.job.unit(),
            task: self.job.effect.child.as_ref().map(|child| &*child.id),
            writes: &self.writes,
            attempt: self.job.attempt,
            run: &self.shop.run,
            prompt: text,
            lane: &self.lane.work,
        };
        let command = self.command(agent.program(&ask));
        let finished = match self.brake.run(&self.shop.spawner, command)? {
            Ok(finished) => finished,
            Err(stopped) => return Ok(Err(stopped)),
        };
        // Before it is read: what an answer says goes into the journal as well.
        let mask = &self.shop.setup.mask;
        let stdout = mask.bytes(finished.stdout.text()?);
        let stderr = mask.bytes(finished.stderr.text()?);
        let mut answer = agent.answer(&ask, &Heard { stopped: ended(&finished), stdout: &stdout });
        if let Came::Verdict(verdict) = &answer.came {
            let text = &String::from_utf8_lossy(&stdout);
            let (facts, lists) = (&mut answer.facts, &mut answer.lists);
            let said = Said { attempt: self.job.attempt, text, facts, lists };
            if let Some(why) = self.shop.clerk.examine(self.role, verdict, said) {
                answer.came = Came::Mishap(Mishap::Unknown);
                answer.remarks.push(why);
            }
        }
        Ok(Ok(HeardOf { answer, ended: in_words(&finished), stdout, stderr }))
    }

    fn command(&self, program: Program) -> Command {
        let mut env = Env::inherited();
        for (name, value) in program.env {
            env = env.set(name, value);
        }
        for name in program.pass {
            env = env.pass(name);
        }
        // The core watches the deadline; this is the limit of one process, should the core not be there to see it.
        let wall = Duration::from_secs(24 * 3_600);
        Command::new(program.program, &self.lane.work)
            .args(program.args)
            .env(env)
            .stdin(Stdin::Bytes(program.stdin))
            .stdout(Output::keep(KEPT_BYTES, KEPT_BYTES))
            .stderr(Output::keep(KEPT_BYTES / 8, KEPT_BYTES / 8))
            .limits(Limits {
                wall: Some(wall),
                idle: self.shop.setup.idle,
                grace: self.shop.setup.grace,
            })
    }

    /// What an agent that was stopped left in the lane must not pass for the work of the next: it is kept under a ref,
    /// and the lane goes back to what is on record.
    fn put_back(&self, edits: bool) -> Result<(), Trouble> {
        let held = self.job.held.as_ref().unwrap_or(&self.lane.base);
        let as_it_should_be = self.lane.fresh && *held == self.lane.base;
        if edits && !as_it_should_be {
            self.shop.store.rewind(self.lane, held, when(self.job.effect.since))?;
        }
        Ok(())
    }

    /// Looks at the lane, and reports.
    fn report(&self, mut kept: Kept, edits: bool) -> Result<Done, Trouble> {
        let at = when(self.job.effect.since);
        let label = format!("{} {}", self.job.effect.name, self.job.id.0);
        let held = self.job.held.as_ref().unwrap_or(&self.lane.base);
        papers::clear(&self.shop.store, &self.lane.work, held, &self.places())?;
        let papers = self.papers(&kept);
        let mut snapshot = self.shop.store.snapshot(self.lane, &label, at)?;
        let mut remarks = kept.remarks.clone();
        remarks.extend(snapshot_remarks(&snapshot));
        let conflicts = self.job.conflicts.iter().cloned();
        let marked = marked(self.shop, &snapshot.commit, conflicts)?;
        if edits
            && !marked.is_empty()
            && kept.verdict.as_deref().is_some_and(|it| !matches!(it, "failed" | "blocked"))
        {
            remarks.push(format!("it left the marks of a conflict in {}", marked.join(", ")));
            (kept.verdict, kept.mishap) = (None, Some(Mishap::Unknown));
        }
        let mut files = Vec::new();
        if snapshot.changed && !edits {
            remarks.push(
                "it changed files, which it may not: they were put back as they were".to_owned(),
            );
            let held = self.job.held.as_ref().unwrap_or(&self.lane.base);
            let back = self.shop.store.rewind(self.lane, held, at)?;
            snapshot.subject = back.subject;
            snapshot.commit = held.clone();
        } else if let Some(held) = self.job.held.as_ref().filter(|held| **held != snapshot.commit) {
            let changes = self.shop.store.changes(held, &snapshot.commit)?;
            files = changes.iter().map(|change| change.path.display().to_string()).collect();
        }
        let came = kept.came();
        let note = Note::Answered {
            effect: self.job.id,
            unit: self.job.unit_owned(),
            task: self.job.task_owned(),
            stage: self.job.effect.name.to_string(),
            came: came.0.clone(),
            ended: kept.ended.clone(),
            stdout: BlobId::of(&kept.stdout).to_string(),
            stderr: BlobId::of(&kept.stderr).to_string(),
            remarks,
            commit: Some(snapshot.commit.to_string()),
            files,
        };
        let subject = if edits || self.job.effect.subject.is_none() {
            Some(subject(&snapshot.subject))
        } else {
            self.job.effect.subject.clone()
        };
        let report = Report {
            effect: self.job.id,
            ended: came.1,
            facts: kept.facts,
            lists: kept.lists,
            subject,
            usage: kept.usage,
        };
        let mut paper = papers;
        paper.notes.push(note);
        paper.blobs.extend([kept.stdout, kept.stderr]);
        Ok(Done { report, paper, desk: None })
    }

    /// Where the session's papers are in the lane.
    fn places(&self) -> Vec<String> {
        let promised = self.writes.iter().map(|(_, path)| path.clone());
        self.shop.clerk.apart().into_iter().chain(promised).collect()
    }

    /// An answer with the papers that came with it. A promise that was not kept is a failure, whatever the role says.
    fn gathered(&self, mut kept: Kept) -> Result<Kept, Trouble> {
        let found = papers::gather(&self.lane.work, &self.places())?;
        kept.remarks.extend(found.remarks);
        if kept.verdict.is_some() {
            let missing = self.writes.iter().filter(|(_, path)| {
                found.papers.get(path).is_none_or(|bytes| bytes.trim_ascii().is_empty())
            });
            let missing: Vec<String> = missing.map(|(_, path)| path.clone()).collect();
            if !missing.is_empty() {
                kept.remarks.push(format!("it did not write {}, as it should", missing.join(", ")));
                (kept.verdict, kept.mishap) = (None, Some(Mishap::NoOutput));
            }
        }
        let mask = &self.shop.setup.mask;
        kept.papers =
            found.papers.into_iter().map(|(path, bytes)| (path, mask.bytes(bytes))).collect();
        Ok(kept)
    }

    /// The papers that are new, or not as they were.
    fn papers(&self, kept: &Kept) -> Paper {
        let known = self.shop.clerk.papers();
        let mut paper = Paper::default();
        for (path, bytes) in &kept.papers {
            if known.get(path).is_none_or(|own| **own != **bytes) {
                let holds = Some(BlobId::of(bytes).to_string());
                let (effect, path) = (self.job.id, path.clone());
                paper.notes.push(Note::Paper { effect, path, holds });
                paper.blobs.push(bytes.clone());
            }
        }
        paper
    }

    /// Nobody knows what became of it: what it did to the lane is kept under a ref, and the lane goes back to where
    /// the stage began.
    fn lost(&self) -> Outcome {
        let held = self.job.held.as_ref().unwrap_or(&self.lane.base);
        let back = self.shop.store.rewind(self.lane, held, when(self.job.effect.since))?;
        let kept = back.saved.map(|saved| saved.commit.to_string());
        let report = Report {
            ended: windlass_core::run::Ended::Lost,
            usage: Usage::UNKNOWN,
            ..self.job.verdict("")
        };
        let notes = vec![Note::Lost { effect: self.job.id, kept }];
        Ok(Ok(Done { report, paper: Paper { notes, blobs: Vec::new() }, desk: None }))
    }
}

fn snapshot_remarks(snapshot: &Snapshot) -> Vec<String> {
    let nested = snapshot.nested.iter().map(|path| {
        format!(
            "{} is a repository of its own: its files were kept, its history was not",
            path.display()
        )
    });
    let left_out = snapshot.left_out.iter().map(|it| format!("left out: {it:?}"));
    nested.chain(left_out).collect()
}

fn ended(finished: &Finished) -> Ended {
    match finished.ending {
        Ending::Exited(code) => Ended::Exited(code),
        Ending::Signalled(signal) => Ended::Signalled(signal),
        Ending::TimedOut(_) => Ended::TimedOut,
        Ending::Stopped => Ended::TimedOut,
    }
}

fn in_words(finished: &Finished) -> String {
    match finished.ending {
        Ending::Exited(code) => format!("exited with {code}"),
        Ending::Signalled(signal) => format!("ended by signal {signal}"),
        Ending::TimedOut(limit) => format!("took too long: {limit:?}"),
        Ending::Stopped => "stopped".to_owned(),
    }
}

/// What was heard, on disk: complete before anybody acts on it, so that an agent whose answer is there is not paid
/// twice.
#[derive(Serialize, Deserialize)]
struct Kept {
    /// The time between two starts of the machine in which it was given.
    boot: String,
    verdict: Option<String>,
    mishap: Option<Mishap>,
    facts: std::collections::BTreeMap<String, windlass_core::value::Value>,
    lists: std::collections::BTreeMap<String, Vec<windlass_core::run::Item>>,
    usage: Usage,
    remarks: Vec<String>,
    ended: String,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    /// The session's papers, by path.
    papers: std::collections::BTreeMap<String, Vec<u8>>,
}

impl Kept {
    fn of(heard: HeardOf) -> Self {
        let (verdict, mishap) = match heard.answer.came {
            Came::Verdict(word) => (Some(word), None),
            Came::Mishap(mishap) => (None, Some(mishap)),
        };
        Kept {
            boot: boot(),
            verdict,
            mishap,
            facts: heard.answer.facts,
            lists: heard.answer.lists,
            usage: heard.answer.usage,
            remarks: heard.answer.remarks,
            ended: heard.ended,
            stdout: heard.stdout,
            stderr: heard.stderr,
            papers: Default::default(),
        }
    }

    fn came(&self) -> (String, windlass_core::run::Ended) {
        use windlass_core::run::Ended::{Mishap as Went, Verdict};
        match (&self.verdict, self.mishap) {
            (Some(word), _) => (word.clone(), Verdict(word.as_str().into())),
            (None, mishap) => {
                let mishap = mishap.unwrap_or(Mishap::Unknown);
                (mishap.name().to_owned(), Went(mishap))
            }
        }
    }

    /// On a desk, over what lay there before: a checksum tells whether it is whole. It is not flushed: what a power
    /// loss takes away is asked for again, and the journal, which is flushed, has it in a moment.
    fn write(&self, desk: &Path, effect: EffectId) -> Result<(), Trouble> {
        let bytes = rmp_serde::to_vec_named(&(effect, self))
            .map_err(|_| Trouble::defect("an answer that cannot be kept"))?;
        let mut page = (bytes.len() as u64).to_le_bytes().to_vec();
        page.extend(BlobId::of(&bytes).to_string().into_bytes());
        page.extend(bytes);
        fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(desk)
            .and_then(|file| file.write_all_at(&page, 0))
            .map_err(|error| Trouble::io("write", desk, &error))
    }

    /// What lies on a desk, if it is whole.
    fn read(desk: &Path) -> Option<(EffectId, Self)> {
        let page = fs::read(desk).ok()?;
        let (len, rest) = page.split_first_chunk::<8>()?;
        let digest_len = BlobId::of(&[]).to_string().len();
        let (digest, rest) = rest.split_at_checked(digest_len)?;
        let bytes = rest.get(..usize::try_from(u64::from_le_bytes(*len)).ok()?)?;
        if digest != BlobId::of(bytes).to_string().as_bytes() {
            return None;
        }
        rmp_serde::from_slice(bytes).ok()
    }

    /// The answer to an effect, if it is on any desk.
    fn find(desks: &Path, effect: EffectId) -> Option<Self> {
        let entries = fs::read_dir(desks).ok()?.flatten();
        let mut answers = entries.filter_map(|entry| Kept::read(&entry.path()));
        let (_, kept) = answers.find(|(own, _)| *own == effect)?;
        // Where the machine itself went down, the answer may be there and what the agent did may not.
        (kept.boot == boot()).then_some(kept)
    }
}

/// What tells one start of the machine from the next. Nothing, where nobody can tell: then no answer is taken.
fn boot() -> String {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    if id.is_empty() { format!("process {}", std::process::id()) } else { id }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(said: &str) -> Kept {
        Kept {
            boot: boot(),
            verdict: Some("done".into()),
            mishap: None,
            facts: Default::default(),
            lists: Default::default(),
            usage: Usage::NONE,
            remarks: Vec::new(),
            ended: "exited with 0".into(),
            stdout: said.into(),
            stderr: Vec::new(),
            papers: Default::default(),
        }
    }

    #[test]
    fn an_answer_is_found_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let desk = dir.path().join("0");
        let found = |effect| Kept::find(dir.path(), EffectId(effect)).map(|kept| kept.stdout);
        kept("a long answer, longer than the next").write(&desk, EffectId(1)).unwrap();
        assert_eq!(found(1).unwrap(), b"a long answer, longer than the next");
        Kept { boot: "another".into(), ..kept("x") }.write(&desk, EffectId(1)).unwrap();
        assert_eq!(found(1), None, "the machine was switched off in between");
        assert_eq!(found(2), None);
        kept("short").write(&desk, EffectId(2)).unwrap();
        assert_eq!((found(1), found(2).unwrap()), (None, b"short".to_vec()));
        // Cut off in the middle of the next one, whatever was there is gone, and nothing else is taken for it.
        let page = fs::read(&desk).unwrap();
        for cut in [0, 7, 8, 40, page.len() - 40] {
            let mut torn = page.clone();
            torn[cut] ^= 1;
            fs::write(&desk, torn).unwrap();
            assert_eq!((found(1), found(2)), (None, None), "byte {cut}");
        }
        fs::write(&desk, &page[..60]).unwrap();
        assert_eq!(found(2), None);
    }
}
