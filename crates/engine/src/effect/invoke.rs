//! Invokes an agent: prepares its lane, asks it, reads its answer, and keeps what it did to the lane.

mod harvest;
mod talk;

use std::path::{Path, PathBuf};
use std::time::Duration;

use windlass_agents::{Agent, Ask, Came, DRIFT, Fate, Program, Source, Spend, one_line};
use windlass_core::lang::Reporter;
use windlass_core::run::{Ended, Report, Usage};
use windlass_process::beneath::{Links, Root};
use windlass_process::{Command, Ending, Env, Finished, Limits, Output, Stdin, Stream, View};
use windlass_repo::{Lane, Oid, RepoError, Rewound, Snapshot};

use super::heard::{HeardOf, Judge, Printed};
use super::kept::{self, Kept, Steps};
use super::meter::{self, Cut, Follower, Meter};
use super::{Job, Outcome, barred, marked, member, subject};
use crate::accounts::Place;
use crate::clerk::Said;
use crate::clock::wall_ms;
use crate::crew::Call;
use crate::entry::{Answered, Invocation, Note};
use crate::isolation::{self, Sight, Stay, Workspace};
use crate::message::{Done, Message, Paper, Trouble};
use crate::papers;
use crate::prompt::{self, Brief, Task};
use crate::role::{LaneSight, Role};
use crate::shop::{Brake, Quarters, Shop, Stopped, when};

pub(super) use talk::talks_of;
use talk::{Going, Left};

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
    let played = shop.setup.role(role);
    let crew = &shop.setup.crew;
    let wanted =
        wanted.and_then(|it| crew.meant(it, (role, &played), |name| shop.setup.role(name)));
    let Some(mut call) = crew.call(role, &played, wanted.as_deref()) else {
        return Err(Trouble::new(format!("no agent plays the role `{role}`")).next(format!(
            "name one in windlass.toml, as `[roles] {role} = \"…\"` or `[roles] default = \"…\"`, and commit that"
        )));
    };
    // Whom a person has asked for does it alone: nobody takes over.
    let only = job.text("agent").map(|name| crew.named(name)).filter(|only| !only.is_empty());
    call.agents = only.unwrap_or(call.agents);
    let Some(base) = &job.base else { return Err(Trouble::defect("an agent without a base")) };
    let at = when(job.effect.since);
    let lane = shop.seat(job.seat(), job.unit(), base, at)?;
    if job.seat().number > 0 && !job.again {
        // What the unit's own lane holds by now.
        put_right(shop, job, &lane, base)?;
    }
    let reporter = shop.setup.reporter(role);
    let promised = played.writes.iter();
    let writes = promised
        .filter_map(|name| Some((name.clone(), shop.clerk.path(name, &job.situation())?)))
        .collect();
    let visit = Visit {
        shop,
        job,
        role,
        call: &call,
        played: &played,
        reporter: &reporter,
        lane: &lane,
        base,
        edits,
        brake,
        writes,
        objects: shop.store.mirror_objects(),
    };
    let (name, place) = match visit.whom() {
        Whom::This(name, place) => (name, place),
        Whom::Nobody(until) => return visit.turned_away(until),
        Whom::NotWanted => return Ok(Err(Stopped)),
    };
    let Some(agent) = shop.setup.agents.get(&name) else {
        return Err(Trouble::new(format!("there is no agent `{name}`"))
            .next(format!("add `[agents.{name}]` to windlass.toml, and commit that")));
    };
    if place.waited {
        // The loop may have ended meanwhile; then nobody is there to be told.
        let _ = shop.inbox.send(Message::Began(job.id));
    }
    visit.done(&name, &**agent)
}

/// Takes a lane to what is on record; one in which nobody is to see how that came about, to the change alone.
fn put_right(shop: &Shop, job: &Job, lane: &Lane, base: &Oid) -> Result<Rewound, Trouble> {
    let (held, at) = (job.held.as_ref().unwrap_or(base), when(job.effect.since));
    Ok(match job.apart {
        true => shop.store.hold_bare(lane, base, held, at)?,
        false => shop.store.rewind(lane, held, at)?,
    })
}

/// Who is to be asked.
enum Whom<'a> {
    /// This agent; its place on its account is kept for it.
    This(String, Place<'a>),
    /// Nobody who may be is served before this, by the wall clock.
    Nobody(i64),
    /// It is not wanted any more.
    NotWanted,
}

/// One invocation.
struct Visit<'a> {
    shop: &'a Shop,
    job: &'a Job,
    role: &'a str,
    call: &'a Call,
    played: &'a Role,
    reporter: &'a Reporter,
    lane: &'a Lane,
    /// Where the lane started from, as it is on record.
    base: &'a Oid,
    /// It may change files.
    edits: bool,
    brake: &'a Brake,
    /// What it promises to write, by name and path.
    writes: Vec<(String, String)>,
    /// The objects that the lane's repository borrows.
    objects: PathBuf,
}

impl Judge for Visit<'_> {
    fn overrules(&self, verdict: &str, text: &str) -> Option<(String, String)> {
        self.shop.clerk.overrules(self.role, verdict, text)
    }

    fn examine(&self, verdict: &str, said: Said<'_>) -> Option<String> {
        self.shop.clerk.examine(self.role, verdict, said, &self.job.situation())
    }
}

impl<'a> Visit<'a> {
    /// Whom to ask: who was at work here, or else the first who is served. Others may find out meanwhile that they are not.
    fn whom(&self) -> Whom<'a> {
        let accounts = &self.shop.accounts;
        if self.job.again {
            let occupant = kept::occupant(&self.shop.quarters_at(&self.quarters_name("")));
            let name = occupant.or_else(|| self.call.agents.first().cloned()).unwrap_or_default();
            let place = accounts.place(&name, self.brake);
            return place.map_or(Whom::NotWanted, |place| Whom::This(name, place));
        }
        loop {
            let name = match accounts.first(self.call, wall_ms()) {
                Ok(name) => name.to_owned(),
                Err(until) => return Whom::Nobody(until),
            };
            let Some(place) = accounts.place(&name, self.brake) else {
                return Whom::NotWanted;
            };
            if accounts.first(self.call, wall_ms()) == Ok(name.as_str()) {
                return Whom::This(name, place);
            }
        }
    }

    /// Asks, hears, and looks at what came of it.
    fn done(&self, agent_name: &str, agent: &dyn Agent) -> Outcome {
        let left = if self.job.again {
            // What was complete before the process went away is taken. A session that was cut off goes on, where the agent
            // can do that and nothing else was lost; everything else is done anew.
            if let Some(kept) = Kept::find(&self.shop.desks(), self.job.id) {
                self.end_talk(&kept.came)?;
                return self.report(kept).map(Ok);
            }
            match self.left_behind(agent) {
                None => return self.lost(),
                left => left,
            }
        } else {
            self.prepare()?;
            self.take_up(agent_name, agent)?
        };
        let brief = self.brief();
        let text = match left.as_ref().and_then(|left| left.going.as_ref()) {
            Some(Going { further: false, .. }) => prompt::go_on(&brief),
            Some(Going { further: true, .. }) => prompt::further(&brief, &self.task()),
            None => prompt::prompt(&brief, &self.task()),
        };
        let text = self.shop.setup.mask.text(&text);
        // That the agent is wanted, and what it may cost, is on record already; what it is asked goes there meanwhile.
        let mut paper = Paper::default();
        let prompt = paper.keep(text.clone());
        paper.notes.extend(self.laned());
        paper.notes.push(Note::Asked(self.asked(agent_name, prompt)));
        self.shop.post(paper);
        let heard = match self.hear((agent_name, agent), &brief, &text, left)? {
            Ok(heard) => heard,
            Err(stopped) => return Ok(Err(stopped)),
        };
        match heard.answer.came {
            Came::Unwelcome => return Err(unwelcome(agent_name, &heard.answer.remarks)),
            Came::Strange => return Err(strange(agent_name, &heard.answer.remarks)),
            _ => {}
        }
        // The session's papers lie on the desk before they are taken out of the lane: whoever goes on after a crash finds
        // them in one place or the other.
        let kept = self.gathered(Kept::of(heard, agent_name, text))?;
        let desk = self.shop.desk()?;
        kept.write(&desk.path, self.job.id)?;
        self.end_talk(&kept.came)?;
        // Nobody else gets the desk before the journal has what lies there.
        self.report(kept).map(|done| Ok(Done { desk: Some(desk), ..done }))
    }

    /// Has the lane as it should be for whoever begins in it.
    fn prepare(&self) -> Result<(), Trouble> {
        self.put_back()?;
        let papers = self.shop.clerk.papers_for(&self.job.situation());
        papers::put(&self.lane.work, &papers)?;
        let promised = self.writes.iter().map(|(_, path)| path.as_str());
        papers::make_room(&self.lane.work, promised)
    }

    /// What is the same for every invocation of the role.
    fn brief(&self) -> Brief<'a> {
        let setup = &self.shop.setup;
        Brief {
            name: self.role,
            role: self.played,
            reporter: self.reporter,
            skills: setup.skills.of(self.role, &self.played.skills),
            identity: &setup.identity,
            summary: &setup.summary,
            remembered: self.shop.clerk.remembered(self.role),
        }
    }

    /// What this invocation is about.
    fn task(&self) -> Task<'a> {
        let job = self.job;
        Task {
            stage: &job.effect.name,
            unit: job.unit().map(|unit| {
                let title = job.title.as_deref().filter(|_| !self.shop.clerk.quotes_titles());
                (unit, title.unwrap_or(unit))
            }),
            child: job.effect.child.as_ref().map(|child| (&*child.id, &*child.title)),
            attempt: job.attempt,
            with: job.effect.with.clone(),
            context: job.effect.context.as_deref(),
            writes: self.writes.clone(),
            artifacts: job.artifacts.clone(),
            language: self.shop.clerk.language(),
        }
    }

    /// Which lane the unit has, unless that is on record.
    fn laned(&self) -> Option<Note> {
        let (lane, path) = (self.lane.number, self.lane.work.display().to_string());
        let own = self.job.seat().number == 0 && self.job.lane != Some(lane);
        own.then(|| Note::Laned { unit: self.job.unit_owned(), lane, path })
    }

    /// Who is asked, and what, by digest.
    fn asked(&self, agent: &str, prompt: String) -> Invocation {
        Invocation {
            effect: self.job.id,
            unit: self.job.unit_owned(),
            task: self.job.task_owned(),
            stage: self.job.effect.name.to_string(),
            role: self.role.to_owned(),
            agent: agent.to_owned(),
            panel: member(&self.job.effect.kind),
            attempt: self.job.attempt,
            prompt,
        }
    }

    /// Asks, and once more if the answer cannot be read.
    fn hear(
        &self,
        (name, agent): (&str, &dyn Agent),
        brief: &Brief<'_>,
        prompt: &str,
        left: Option<Left<'_>>,
    ) -> Result<Result<HeardOf, Stopped>, Trouble> {
        let prefix = self.shop.setup.mask.text(&prompt::prefix(brief));
        let stable = if prompt.starts_with(&prefix) { prefix.len() } else { 0 };
        let quarters = match left {
            Some(left) => left,
            None => Left { quarters: self.quarters("", name)?, going: None },
        };
        let further = quarters.going.as_ref().is_some_and(|going| going.further);
        let mut heard = match self.ask((name, agent), (prompt, stable), quarters)? {
            Ok(heard) => heard,
            Err(stopped) => return Ok(Err(stopped)),
        };
        if further && matches!(heard.answer.came, Came::ContextFull | Came::Crashed) {
            // What it remembers has become too much, or is no use to it: it begins anew, with all that it needs.
            self.prepare()?;
            self.shop.give_up_quarters(&self.quarters_name(""))?;
            let text = self.shop.setup.mask.text(&prompt::prompt(brief, &self.task()));
            let quarters = Left { quarters: self.quarters("", name)?, going: None };
            heard = match self.ask((name, agent), (&text, stable), quarters)? {
                Ok(anew) => heard.and(anew, "it could not go on from before, and began anew"),
                Err(stopped) => return Ok(Err(stopped)),
            };
        }
        if heard.answer.came != Came::Unknown {
            return Ok(Ok(heard));
        }
        let why = heard.answer.remarks.join("; ");
        let repair = prompt::repair(brief, &heard.said(), &why);
        let quarters = Left { quarters: self.quarters("-again", name)?, going: None };
        let again = self.ask((name, agent), (&repair, 0), quarters)?;
        let why = "it had to be asked again for an answer that could be read";
        Ok(again.map(|again| heard.and(again, why)))
    }

    fn ask(
        &self,
        (name, agent): (&str, &dyn Agent),
        (text, stable_bytes): (&str, usize),
        left: Left<'_>,
    ) -> Result<Result<HeardOf, Stopped>, Trouble> {
        let Left { quarters, going } = left;
        let [home, seen] = self.shop.setup.isolation.home(&quarters.path);
        let own = going.as_ref().map_or_else(|| self.session(), |going| going.begun.clone());
        let ask = Ask {
            role: self.role,
            reporter: self.reporter,
            tools: &self.played.tools,
            tier: self.call.tier,
            by_preset: self.call.by_preset,
            model: self.call.model_of(name),
            effort: self.call.effort.as_deref(),
            effort_min: self.job.text("effort"),
            unit: self.job.unit(),
            task: self.job.effect.child.as_ref().map(|child| &*child.id),
            stage: &self.job.effect.name,
            writes: &self.writes,
            attempt: self.job.attempt,
            run: &self.shop.run,
            prompt: text,
            stable_bytes,
            lane: &self.shop.setup.isolation.lane(&self.lane.work),
            home: &seen,
            session: &own,
            resumes: going.as_ref().map(|going| going.session.as_str()),
            further: going.as_ref().is_some_and(|going| going.further),
            before: going.as_ref().map_or(Usage::NONE, |going| going.before),
            spend: self.spend(),
        };
        let program = agent.program(&ask);
        put_files(&home, &program.files)?;
        let steps = Steps::of(&quarters.path)?;
        let (may_use, turns) = (self.job.effect.spend, self.job.effect.turns);
        let meter = Meter::new(agent.listener(&ask), may_use, turns, Some(steps));
        let follower = follower(agent, home, &meter, going.as_ref());
        let ears = meter.clone();
        let command = self.command(program, &quarters).watch(move |stream, chunk| {
            if stream == Stream::Stdout {
                ears.hear(chunk);
            }
        });
        let run = || self.brake.run_and(&self.shop.spawner, command, |child| meter.runs(child));
        let ran = match follower {
            Some((follower, true)) => follower.during(run),
            Some((_, false)) | None => run(),
        };
        self.shop.setup.isolation.clear_masks(&self.lane.work);
        let finished = match ran? {
            Ok(finished) => finished,
            Err(stopped) => {
                // Its session is there for whoever takes the run up.
                quarters.leave();
                return Ok(Err(stopped));
            }
        };
        barred(&finished)?;
        let mut heard = self.heard(finished, &meter)?;
        heard.answer.usage = self.with_what_was_cut_off(heard.answer.usage, going.as_ref());
        self.leave_talk(quarters, heard.answer.usage)?;
        Ok(Ok(heard))
    }

    /// What it may use up.
    fn spend(&self) -> Spend {
        let may_use = self.job.effect.spend;
        Spend {
            cost_micros: Some(may_use.cost_micros),
            tokens: Some(may_use.tokens),
            turns: self.job.effect.turns,
        }
    }

    /// What an invocation that has ended came to.
    fn heard(&self, finished: Finished, meter: &Meter) -> Result<HeardOf, Trouble> {
        let (listener, cut, seen) = meter.end();
        let listener =
            listener.ok_or_else(|| Trouble::defect("an agent that nobody listened to"))?;
        let too_much = isolation::ran_short(&finished);
        let printed = Printed {
            fate: fate(&finished),
            ended: in_words(&finished),
            stdout: finished.stdout.text()?,
            stderr: finished.stderr.text()?,
        };
        let mask = &self.shop.setup.mask;
        let mut heard = HeardOf::of(listener, self.job.attempt, printed, mask, self);
        let answer = &mut heard.answer;
        // Who came to no answer has said something all the same, and others see that instead of a stream of events.
        let words = meter.words();
        if answer.text.is_none() && !words.is_empty() {
            answer.text = Some(mask.text(&words));
        }
        // Who came to a verdict all the same has one: it ended before it could be stopped.
        if let Some(cut) = cut.filter(|_| !matches!(answer.came, Came::Verdict(_))) {
            let (came, remark) = meter::because(cut);
            answer.came = came;
            // What it does not understand, it knows best who listened.
            answer.remarks.retain(|told| cut == Cut::Strange && told.starts_with(DRIFT));
            answer.remarks.push(remark);
        }
        // Why somebody was ended is worth more than how, and what they said last may be why they ended.
        answer.remarks.splice(..0, too_much);
        if answer.came == Came::Crashed {
            let errors = String::from_utf8_lossy(&heard.stderr);
            let last = errors.lines().rev().map(str::trim).find(|line| !line.is_empty());
            answer.remarks.extend(last.map(|line| format!("it said: {}", one_line(line))));
        }
        answer.usage = meter::settled(answer.usage, seen, self.job.effect.set_aside);
        Ok(heard)
    }

    /// How an agent's program is started: in its lane, with quarters of its own, and nothing else.
    fn command(&self, program: Program, quarters: &Quarters<'_>) -> Command {
        let isolation = &self.shop.setup.isolation;
        let view = self.view(&program, &quarters.path);
        let mut env = Env::inherited();
        for (name, value) in program.env {
            env = env.set(name, value);
        }
        for name in program.pass {
            env = env.pass(name);
        }
        let env = quarters.env(env);
        // The core watches the deadline; this is the limit of one process, should the core not be there to see it.
        let wall = Duration::from_secs(24 * 3_600);
        let command = Command::new(program.program, &self.lane.work)
            .args(program.args)
            .env(env)
            .stdin(Stdin::Bytes(program.stdin))
            .stdout(Output::keep(KEPT_BYTES, KEPT_BYTES))
            .stderr(Output::keep(KEPT_BYTES / 8, KEPT_BYTES / 8));
        let limits = Limits {
            wall: Some(wall),
            idle: self.shop.setup.idle,
            grace: self.shop.setup.grace,
            bounds: self.shop.setup.bounds(self.space(&quarters.path)),
        };
        isolation.confine(command, limits, view)
    }

    /// What it sees: all of the lane or what it is shown of it, and what its own command line names.
    fn view(&self, program: &Program, quarters: &Path) -> View {
        let sight = match (self.edits, self.played.lane) {
            (_, LaneSight::Named) => Sight::Named,
            (true, LaneSight::Whole | LaneSight::Clean) => Sight::Change,
            (false, LaneSight::Whole | LaneSight::Clean) => Sight::Look,
        };
        let named = program.args.iter().map(PathBuf::from);
        let pictures = self.job.shows("browser").then(|| self.shop.pictures());
        let told: Vec<PathBuf> = named.chain([program.program.clone()]).chain(pictures).collect();
        let papers = self.shop.clerk.papers_for(&self.job.situation());
        let shown: Vec<String> = papers.into_keys().collect();
        // Of a file that is promised its directory may be written: many a program writes another file and renames it.
        let promised = self.writes.iter().filter_map(|(_, path)| Path::new(path).parent());
        // Who is to write nothing finds nowhere to write, not even where papers are.
        let apart = match self.edits || !self.writes.is_empty() {
            true => self.shop.clerk.apart(),
            false => Vec::new(),
        };
        let writable =
            promised.map(Path::to_owned).chain(apart.into_iter().map(PathBuf::from)).collect();
        let stay = Stay { sight, shown: &shown, writable: &writable, told: &told };
        self.shop.setup.isolation.of_agent(self.space(quarters), stay)
    }

    fn space<'s>(&'s self, quarters: &'s Path) -> Workspace<'s> {
        Workspace { work: &self.lane.work, objects: &self.objects, quarters }
    }

    /// What an agent that was stopped left in the lane must not pass for the work of the next: it is kept under a ref,
    /// and the lane goes back to what is on record.
    fn put_back(&self) -> Result<(), Trouble> {
        let held = self.job.held.as_ref().unwrap_or(&self.lane.base);
        let as_it_should_be = self.lane.untouched && *held == self.lane.base;
        if self.edits && !as_it_should_be {
            self.shop.store.rewind(self.lane, held, when(self.job.effect.since))?;
        }
        Ok(())
    }

    /// What the lane holds. Whoever left more there than a snapshot takes has not done what was asked, and holds up nobody else.
    fn looked_at(&self, label: &str, kept: &mut Kept) -> Result<Snapshot, Trouble> {
        let look = || self.shop.store.snapshot(self.lane, label, when(self.job.effect.since));
        let error = match look() {
            Err(error @ RepoError::TooMuch { .. }) => error,
            looked => return Ok(looked?),
        };
        put_right(self.shop, self.job, self.lane, self.base)?;
        let beside = self.lane.work.parent().unwrap_or(&self.lane.work).display();
        kept.remarks.push(format!(
            "{error}; nothing of it counts, and what was there is kept beside its lane, below {beside}"
        ));
        kept.came = Came::Unknown;
        Ok(look()?)
    }

    /// Looks at the lane, and reports.
    fn report(&self, mut kept: Kept) -> Result<Done, Trouble> {
        let label = format!("{} {}", self.job.effect.name, self.job.id.0);
        let held = self.job.held.as_ref().unwrap_or(&self.lane.base);
        papers::clear(&self.shop.store, &self.lane.work, held, &self.places())?;
        let papers = self.papers(&kept);
        let mut snapshot = self.looked_at(&label, &mut kept)?;
        let mut remarks = kept.remarks.clone();
        remarks.extend(snapshot_remarks(&snapshot));
        let conflicts = self.job.conflicts.iter().cloned();
        let marked = marked(self.shop, &snapshot.commit, conflicts)?;
        if self.edits
            && !marked.is_empty()
            && matches!(&kept.came, Came::Verdict(it) if !matches!(it.as_str(), "failed" | "blocked"))
        {
            remarks.push(format!("it left the marks of a conflict in {}", marked.join(", ")));
            kept.came = Came::Unknown;
        }
        let mut files = Vec::new();
        if snapshot.changed && !self.edits {
            remarks.push(
                "it changed files, which it may not: they were put back as they were".to_owned(),
            );
            let held = self.job.held.as_ref().unwrap_or(&self.lane.base);
            let back = put_right(self.shop, self.job, self.lane, self.base)?;
            snapshot.subject = back.subject;
            snapshot.commit = held.clone();
        } else if let Some(held) = self.job.held.as_ref().filter(|held| **held != snapshot.commit) {
            let changes = self.shop.store.changes(held, &snapshot.commit)?;
            files = changes.iter().map(|change| change.path.display().to_string()).collect();
        }
        let came = kept.came.name().to_owned();
        let Next { ended, limited_until, handed_to } = self.next(&kept);
        if let Some(to) = &handed_to {
            remarks.push(format!("`{to}` takes over"));
        }
        let mut paper = papers;
        let filed = kept.file(&mut paper);
        let note = Note::Answered(Box::new(Answered {
            asked: self.asked(&kept.agent, filed.prompt),
            came,
            ended: kept.ended,
            stdout: filed.stdout,
            stderr: filed.stderr,
            text: filed.text,
            limited_until,
            models: kept.models,
            handed_to,
            remarks,
            // What is at another place than the unit's lane is nothing that the unit holds.
            commit: (self.job.seat().number == 0).then(|| snapshot.commit.to_string()),
            files,
        }));
        paper.notes.push(note);
        let subject = if self.edits || self.job.effect.subject.is_none() {
            Some(subject(&snapshot.subject))
        } else {
            self.job.effect.subject.clone()
        };
        let report = Report {
            effect: self.job.id,
            ended,
            facts: kept.facts,
            lists: kept.lists,
            subject,
            usage: kept.usage,
        };
        Ok(Done { report, paper, desk: None })
    }

    /// How it goes on. Whoever is limited is not asked again before that is over, nor is anybody else on the account; who
    /// comes after them in the list takes over, if they are served.
    fn next(&self, kept: &Kept) -> Next {
        let now = wall_ms();
        let Ended::Limited(until) = kept.ended(now) else {
            return Next { ended: kept.ended(now), limited_until: None, handed_to: None };
        };
        let accounts = &self.shop.accounts;
        accounts.limit(&kept.agent, until, now);
        let (ended, handed_to) = match accounts.first(self.call, now) {
            Ok(other) => (Ended::HandedOver, Some(other.to_owned())),
            Err(until) => (Ended::Limited(until), None),
        };
        Next { ended, limited_until: Some(until), handed_to }
    }

    /// Nobody who may be asked is served now: nobody is asked, and nothing has changed.
    fn turned_away(&self, until: i64) -> Outcome {
        let label = format!("{} {}", self.job.effect.name, self.job.id.0);
        let snapshot = self.shop.store.snapshot(self.lane, &label, when(self.job.effect.since))?;
        let subject = if self.edits || self.job.effect.subject.is_none() {
            Some(subject(&snapshot.subject))
        } else {
            self.job.effect.subject.clone()
        };
        let report = Report {
            ended: Ended::Limited(until),
            subject,
            usage: Usage::NONE,
            ..self.job.verdict("")
        };
        Ok(Ok(Done { report, paper: Paper::default(), desk: None }))
    }

    /// Nobody knows what became of it: what it did to the lane is kept under a ref, and the lane goes back to where
    /// the stage began.
    fn lost(&self) -> Outcome {
        let back = put_right(self.shop, self.job, self.lane, self.base)?;
        let kept = back.saved.map(|saved| saved.commit.to_string());
        let report = Report { ended: Ended::Lost, usage: Usage::UNKNOWN, ..self.job.verdict("") };
        let paper = Paper::of(Note::Lost { effect: self.job.id, kept });
        Ok(Ok(Done { report, paper, desk: None }))
    }
}

/// How it goes on after an answer.
struct Next {
    ended: Ended,
    /// Its provider serves it no more until then.
    limited_until: Option<i64>,
    /// Who takes over.
    handed_to: Option<String>,
}

/// Who reads along in the record that an agent keeps in its home, if it keeps one, and whether that is while it works.
fn follower(
    agent: &dyn Agent,
    home: PathBuf,
    meter: &Meter,
    going: Option<&Going>,
) -> Option<(Follower, bool)> {
    let record = agent.record()?;
    let mut follower = Follower::new(home, record.below, meter.clone());
    if let Some(going) = going {
        follower.past(if going.further { Source::Before } else { Source::Past });
    }
    Some((follower, record.live))
}

/// Puts files into a home that nobody is in. Who was there before may have put a link in their way.
fn put_files(home: &Path, files: &[(PathBuf, Vec<u8>)]) -> Result<(), Trouble> {
    let root =
        Root::open(home, Links::Refuse).map_err(|error| Trouble::io("open", home, &error))?;
    for (path, bytes) in files {
        let made = path.parent().map_or(Ok(()), |dir| root.make_directories(dir));
        made.and_then(|()| root.replace(path, bytes)).map_err(papers::trouble)?;
    }
    Ok(())
}

/// A provider that does not let an agent in lets none in after it either: that is nobody's work to mend.
fn unwelcome(agent: &str, remarks: &[String]) -> Trouble {
    let why = remarks.first().map(String::as_str).unwrap_or_default();
    Trouble::new(format!("the provider of the agent `{agent}` does not let it in: {why}")).next(format!(
        "see that the key it is handed is right (`[agents.{agent}]` in windlass.toml says by which variable)"
    ))
}

/// Who speaks another language will speak it the next time as well.
fn strange(agent: &str, remarks: &[String]) -> Trouble {
    let told = remarks.first().map_or("", |told| told.strip_prefix(DRIFT).unwrap_or(told));
    let what = format!("Windlass does not understand what the agent `{agent}` says: {told}");
    Trouble::new(what).next(format!(
        "`windlass doctor --agents {agent}` tells what has changed; install a version that docs/agents.md names"
    ))
}

fn snapshot_remarks(snapshot: &Snapshot) -> Vec<String> {
    let nested = snapshot.nested.iter().map(|path| {
        format!(
            "{} is a repository of its own: its files were kept, its history was not",
            path.display()
        )
    });
    let left_out =
        snapshot.left_out.iter().map(|it| format!("left out: {} ({})", it.path.display(), it.why));
    nested.chain(left_out).chain(reopened(&snapshot.reopened)).collect()
}

/// What it left behind in such a way that nobody could read it.
fn reopened(paths: &[PathBuf]) -> Option<String> {
    /// So many are named.
    const NAMED: usize = 5;
    let names = paths.iter().take(NAMED).map(|path| match path.as_os_str().is_empty() {
        true => "the lane itself".to_owned(),
        false => path.display().to_string(),
    });
    let names = names.collect::<Vec<_>>().join(", ");
    let more = paths.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!paths.is_empty()).then(|| {
        format!("it left what nobody may read, and the permission was given back: {names}{more}")
    })
}

fn fate(finished: &Finished) -> Fate {
    match finished.ending {
        Ending::Exited(code) => Fate::Exited(code),
        Ending::Signalled(signal) => Fate::Signalled(signal),
        Ending::TimedOut(_) => Fate::TimedOut,
        Ending::Stopped | Ending::Barred => Fate::TimedOut,
        Ending::Exceeded(_) => Fate::Signalled(9),
    }
}

fn in_words(finished: &Finished) -> String {
    match finished.ending {
        Ending::Exited(code) => format!("exited with {code}"),
        Ending::Signalled(signal) => format!("ended by signal {signal}"),
        Ending::TimedOut(limit) => format!("took too long: {limit:?}"),
        Ending::Stopped => "stopped".to_owned(),
        Ending::Exceeded(resource) => isolation::too_much(resource),
        Ending::Barred => "never started".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn files_are_put_into_a_home_and_never_through_it() {
        let dir = tempfile::tempdir().unwrap();
        let (home, precious) = (dir.path().join("home"), dir.path().join("precious"));
        fs::create_dir_all(home.join(".own")).unwrap();
        fs::write(&precious, "precious").unwrap();
        let files = [(PathBuf::from(".own/role.md"), b"role".to_vec())];
        // Who was there before has put a link in its place: the link goes.
        symlink(&precious, home.join(".own/role.md")).unwrap();
        put_files(&home, &files).unwrap();
        assert_eq!(fs::read_to_string(&precious).unwrap(), "precious");
        assert_eq!(fs::read_to_string(home.join(".own/role.md")).unwrap(), "role");
        // Or in the place of its directory: then it is refused.
        fs::remove_dir_all(home.join(".own")).unwrap();
        symlink(dir.path(), home.join(".own")).unwrap();
        assert!(put_files(&home, &files).is_err());
        assert!(!dir.path().join("role.md").exists());
    }
}
