//! Lands by way of the queue: what is to land goes on top of each other, is proved as it would land, and lands together.
//!
//! | step | what holds |
//! |---|---|
//! | coupled | each car is a unit's work rebuilt on the car in front of it, in memory; what does not go together with the branch goes back to its lane, what does not go together with a car waits for what becomes of that |
//! | proved | the checks run on exactly the tree of the last car; where they are red, halves of the train find the longest front part that is green |
//! | written down | which landing is which commit, before the branch moves |
//! | landed | the branch moves from where the train begins to the last car that is proved; if somebody has moved it meanwhile, everything is made anew |
//!
//! The first car that makes the train red goes back to its lane, on what it failed with. The others go round again.

use std::sync::Arc;

use windlass_core::workflow::Land;
use windlass_repo::{Car, Coupled, Landing, Oid, RepoError, Request};

use super::check::prove;
use super::land::{self, Left, not_by_an_agent, secret_in, settings_changed};
use super::{Job, Outcome, marked};
use crate::commit_note::with_proof;
use crate::entry::{Check, Coupling, Note, Proof};
use crate::message::{Paper, Trouble};
use crate::queue::{Decided, Lead, Proved, Ticket, Turn};
use crate::shop::{Brake, RUN_ITSELF, Shop, Stopped, lock};

/// So often somebody may move the branch while checks run, before the workflow is told.
const TRIES: u32 = 5;

/// What a landing that may not be is called among the checks.
const LANDING: &str = "landing";

/// What came of something that can be stopped.
type Came<T> = Result<Result<T, Stopped>, Trouble>;

pub(super) fn queued(
    shop: &Shop,
    job: &Job,
    how: Land,
    keep: &[String],
    proof: &[String],
    brake: &Brake,
) -> Outcome {
    if let Some((came, tip)) = &job.turned {
        return land::rebuilt(shop, job, came, tip).map(Ok);
    }
    let (mut request, left) = land::asked(shop, job, how, keep)?;
    if let Some(decided) = before_now(shop, job, &request)? {
        return concluded(shop, job, &request, left, decided);
    }
    if job.cancelled {
        return concluded(shop, job, &request, left, Decided::CalledOff);
    }
    let marks = marked(shop, &request.tree, job.conflicts.iter().cloned())?;
    if !marks.is_empty() {
        return Ok(Ok(land::has_marks(job, &marks)));
    }
    request.picks.clear();
    let ticket = Ticket { job: job.clone(), request: request.clone(), proof: proof.to_vec() };
    let place = shop.queue.enter(ticket, brake);
    if place.waits {
        shop.post(Paper::of(Note::Queued { effect: job.id, unit: job.unit_owned() }));
    }
    loop {
        match place.turn(brake) {
            Turn::Decided(decided) => return concluded(shop, job, &request, left, decided),
            Turn::Out => return Ok(Err(Stopped)),
            Turn::Lead(lead) => match round(shop, &lead)? {
                Ok(()) => {}
                // Everybody is told, this one as well.
                Err(Stopped) if shop.queue.is_off() => call_off(&lead),
                Err(Stopped) => return Ok(Err(Stopped)),
            },
        }
    }
}

/// A landing that was about to happen when an earlier process went away: whether it has.
fn before_now(shop: &Shop, job: &Job, request: &Request) -> Result<Option<Decided>, Trouble> {
    let Some((begins, commit)) = &job.coupled else { return Ok(None) };
    if !shop.store.has_arrived(&shop.run, &request.branch, commit)? {
        return Ok(None);
    }
    // The branch has it, or it waits: then everything that waits is tried once more.
    let landing = shop.store.arrive(request, begins, &shop.beginning()?)?;
    let waits = match landing {
        Landing::Waiting { command, why, .. } => Some((command, why)),
        _ => None,
    };
    let proof = Proved { tree: String::new(), came: Check::Pass, checks: Vec::new() };
    Ok(Some(Decided::Landed { commit: commit.clone(), waits, proof: Arc::new(proof) }))
}

/// What was decided about a landing, done and reported by the one whose lane it is.
fn concluded(shop: &Shop, job: &Job, request: &Request, left: Left, decided: Decided) -> Outcome {
    match decided {
        Decided::Landed { commit, waits, proof } => {
            if let Some(evidence) = &job.evidence {
                let evidence = with_proof(evidence, &proof.tree, &proof.checks);
                shop.store.note(&commit, &evidence, request.when)?;
            }
            let mut done = land::landed(shop, job, &commit, waits, left)?;
            if !proof.checks.is_empty() && proof.came != Check::Pass {
                let unproved =
                    proof.checks.iter().map(|it| format!("{} {}", it.name, it.came.words()));
                let unproved = unproved.collect::<Vec<_>>().join(", ");
                let text = format!("it landed although nothing has passed on it: {unproved}");
                done.paper.notes.extend(land::said(job, text).notes);
            }
            Ok(Ok(done))
        }
        Decided::Nothing => Ok(Ok(land::nothing(job))),
        Decided::Turned { came, tip, proof } => {
            let mut paper = Paper::default();
            paper.notes = proof.map(|proof| checked(job, &proof)).unwrap_or_default();
            land::turned_away(shop, job, came, &tip, paper)
        }
        Decided::CalledOff => Ok(Ok(land::lost(job))),
        // Whoever made it mends it, within their attempts: the others have nothing to do with it.
        Decided::Refused { why, tip } => {
            let mut paper = land::said(job, why.to_string());
            // Whoever is to mend it is told what was wrong, as of a check.
            let output = Some(paper.keep(why.to_string()));
            let proof =
                Proof { name: LANDING.to_owned(), command: None, came: Check::Fail, output };
            let refused =
                Proved { tree: request.tree.to_string(), came: Check::Fail, checks: vec![proof] };
            paper.notes.extend(checked(job, &refused));
            land::turned_away(shop, job, "fail", &tip, paper)
        }
    }
}

/// What was proved, as a check of this landing's.
fn checked(job: &Job, proved: &Proved) -> Vec<Note> {
    let note = |it: &Proof| Note::Checked {
        effect: job.id,
        unit: job.unit_owned(),
        name: it.name.clone(),
        tree: proved.tree.clone(),
        command: it.command.clone(),
        came: it.came,
        output: it.output.clone(),
        to_fail: false,
    };
    proved.checks.iter().map(note).collect()
}

fn call_off(lead: &Lead<'_>) {
    for ticket in lead.tickets() {
        lead.decide(ticket.job.id, Decided::CalledOff);
    }
}

/// Decides about some of those who wait: as many as can land together, and the first that keeps the others from it.
fn round(shop: &Shop, lead: &Lead<'_>) -> Came<()> {
    for _ in 0..TRIES {
        if shop.queue.is_off() {
            return Ok(Err(Stopped));
        }
        let begins = shop.beginning()?;
        let Some(train) = coupled(shop, lead, begins)? else { return Ok(Ok(())) };
        let proved = match train.prove_front(shop, &lead.brake)? {
            Ok(proved) => proved,
            Err(stopped) => return Ok(Err(stopped)),
        };
        match train.land(shop, lead, &proved)? {
            Ok(true) => return Ok(Ok(())),
            Ok(false) => {}
            Err(stopped) => return Ok(Err(stopped)),
        }
    }
    let tip = shop.beginning()?;
    for ticket in lead.tickets() {
        let decided = Decided::Turned { came: "moved", tip: tip.clone(), proof: None };
        lead.decide(ticket.job.id, decided);
    }
    Ok(Ok(()))
}

/// Landings on top of each other.
struct Train {
    begins: Oid,
    cars: Vec<(Arc<Ticket>, Car)>,
}

/// How much of a train is proved.
struct Front {
    /// So many cars, with what was proved of the last of them.
    green: usize,
    proof: Option<Arc<Proved>>,
    /// What the car behind them came to, if it is red.
    red: Option<Arc<Proved>>,
}

/// Makes a train of those who wait. About those who cannot go with any it decides at once; nothing, if none is left.
fn coupled(shop: &Shop, lead: &Lead<'_>, begins: Oid) -> Result<Option<Train>, Trouble> {
    loop {
        let tickets = lead.tickets();
        let requests: Vec<&Request> = tickets.iter().map(|ticket| &ticket.request).collect();
        let made = shop.store.train(&begins, &requests)?;
        let mut cars = Vec::new();
        let mut refused = false;
        for (ticket, coupled) in tickets.into_iter().zip(made) {
            let decided = match coupled {
                Coupled::On(car) => match refusal(shop, &ticket, &car)? {
                    None => {
                        cars.push((ticket, car));
                        continue;
                    }
                    Some(trouble) => {
                        refused = true;
                        Decided::Refused { why: trouble, tip: begins.clone() }
                    }
                },
                Coupled::Behind => continue,
                Coupled::Nothing => Decided::Nothing,
                Coupled::Conflict(_) => {
                    Decided::Turned { came: "conflict", tip: begins.clone(), proof: None }
                }
            };
            lead.decide(ticket.job.id, decided);
        }
        if !refused {
            return Ok((!cars.is_empty()).then_some(Train { begins, cars }));
        }
        // What may not land is in the cars behind it as well: they are made again, without it.
    }
}

/// Why a car may not land, by what it would bring.
fn refusal(shop: &Shop, ticket: &Ticket, car: &Car) -> Result<Option<Trouble>, Trouble> {
    let brings =
        Request { base: car.onto.clone(), tree: car.tree.clone(), ..ticket.request.clone() };
    let settings = settings_changed(shop, &brings)?;
    if !settings.is_empty() {
        return Ok(Some(not_by_an_agent(&ticket.job, &settings)));
    }
    Ok(secret_in(shop, &brings)?.map(|path| land::secret(&path)))
}

impl Train {
    /// Finds the longest front part that is proved: everything, mostly; else halves of it, until the first car that makes
    /// it red is known.
    fn prove_front(&self, shop: &Shop, brake: &Brake) -> Came<Front> {
        let (mut green, mut red) = (0, self.cars.len() + 1);
        let mut front = Front { green: 0, proof: None, red: None };
        let mut next = self.cars.len();
        while green + 1 < red {
            let proved = match self.prove(shop, next, brake)? {
                Ok(proved) => proved,
                Err(stopped) => return Ok(Err(stopped)),
            };
            if proved.came == Check::Fail {
                red = next;
                front.red = Some(proved);
            } else {
                green = next;
                front.proof = Some(proved);
            }
            next = usize::midpoint(green, red);
        }
        front.green = green;
        Ok(Ok(front))
    }

    /// Runs the checks on exactly what the branch would hold with so many cars.
    fn prove(&self, shop: &Shop, cars: usize, brake: &Brake) -> Came<Arc<Proved>> {
        let Some((ticket, car)) = cars.checked_sub(1).and_then(|at| self.cars.get(at)) else {
            return Err(Trouble::defect("a train without cars"));
        };
        let mut known = shop.queue.known(car.tree.as_str());
        let own = ticket.job.checked.iter().filter(|(tree, _)| tree == car.tree.as_str());
        known.extend(own.map(|(_, proof)| proof.clone()));
        let front = &self.cars[..cars];
        let (came, mut paper) = match prove(shop, front, &self.begins, &known, brake)? {
            Ok(judged) => judged,
            Err(stopped) => return Ok(Err(stopped)),
        };
        let tree = car.tree.to_string();
        let mut checks = Vec::new();
        paper.notes.retain(|note| match note {
            Note::Checked { name, command, came, output, .. } => {
                checks.push(Proof {
                    name: name.clone(),
                    command: command.clone(),
                    came: *came,
                    output: output.clone(),
                });
                false
            }
            _ => true,
        });
        let proved = Arc::new(Proved { tree: tree.clone(), came, checks: checks.clone() });
        if checks.iter().all(|it| known.contains(it)) {
            return Ok(Ok(proved));
        }
        shop.queue.remember(proved.clone());
        let units = front.iter().map(|(ticket, _)| named(&ticket.job)).collect();
        paper.notes.push(Note::Proved { units, tree, came, checks });
        // What it printed is on record before anybody names it.
        Ok(shop.write_down(paper).map(|()| proved))
    }

    /// Lands what is proved and sends back what is not. No, if somebody has moved the branch meanwhile.
    fn land(&self, shop: &Shop, lead: &Lead<'_>, front: &Front) -> Came<bool> {
        let mut top = self.begins.clone();
        if let (Some((last, car)), Some(proof)) =
            (front.green.checked_sub(1).and_then(|at| self.cars.get(at)), &front.proof)
        {
            if shop.queue.is_off() {
                return Ok(Err(Stopped));
            }
            if let Err(stopped) = self.announce(shop, front.green, proof) {
                return Ok(Err(stopped));
            }
            let arrived = shop.store.arrive(&last.request, &self.begins, &car.commit);
            if let Err(RepoError::Unsound { .. }) = &arrived
                && self.refuse_unsound(shop, lead, front.green)?
            {
                return Ok(Ok(false));
            }
            let waits = match arrived? {
                Landing::Waiting { command, why, .. } => Some((command, why)),
                Landing::Landed { .. } | Landing::Nothing => None,
                Landing::Moved { .. } | Landing::Conflict { .. } => return Ok(Ok(false)),
            };
            *lock(&shop.stands) = None;
            top = car.commit.clone();
            known_there(shop, &top, proof);
            for (ticket, car) in &self.cars[..front.green] {
                let (commit, waits, proof) = (car.commit.clone(), waits.clone(), proof.clone());
                lead.decide(ticket.job.id, Decided::Landed { commit, waits, proof });
            }
        }
        if let (Some((first, _)), Some(red)) = (self.cars.get(front.green), &front.red) {
            let proof = Some(red.clone());
            lead.decide(first.job.id, Decided::Turned { came: "fail", tip: top, proof });
        }
        Ok(Ok(true))
    }

    /// Sends back the first that git would take nowhere else; it is in the cars behind it as well. No, if there is none.
    fn refuse_unsound(&self, shop: &Shop, lead: &Lead<'_>, cars: usize) -> Result<bool, Trouble> {
        for (ticket, car) in &self.cars[..cars] {
            match shop.store.sound(&car.commit, &car.onto) {
                Ok(()) => {}
                Err(error @ RepoError::Unsound { .. }) => {
                    let (why, tip) = (error.into(), self.begins.clone());
                    lead.decide(ticket.job.id, Decided::Refused { why, tip });
                    return Ok(true);
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(false)
    }

    /// Has it written down which landing is which commit, and what was proved, before the branch moves.
    fn announce(&self, shop: &Shop, cars: usize, proof: &Proved) -> Result<(), Stopped> {
        let cars = self.cars.iter().take(cars);
        let mut paper = Paper::default();
        for (ticket, _) in cars.clone() {
            paper.notes.extend(checked(&ticket.job, proof));
        }
        let coupling = |(ticket, car): &(Arc<Ticket>, Car)| Coupling {
            effect: ticket.job.id,
            unit: ticket.job.unit_owned(),
            commit: car.commit.to_string(),
        };
        let cars = cars.map(coupling).collect();
        paper.notes.push(Note::Coupled { begins: self.begins.to_string(), cars });
        shop.write_down(paper)
    }
}

/// What was proved of a commit that has landed is what checks come to where work begins next.
fn known_there(shop: &Shop, top: &Oid, proof: &Proved) {
    let mut on_base = lock(&shop.on_base);
    let there = on_base.entry(top.to_string()).or_default();
    for it in proof.checks.iter().filter(|it| it.command.is_some()) {
        let came = match it.came {
            Check::Pass => Check::Pass,
            Check::Skipped => continue,
            Check::Fail | Check::FailedBefore => Check::Fail,
        };
        there.insert(it.name.clone(), came);
    }
}

fn named(job: &Job) -> String {
    job.unit().unwrap_or(RUN_ITSELF).to_owned()
}
