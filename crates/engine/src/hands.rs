//! The hands of the loop: a thread for each effect in flight.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::thread::JoinHandle;

use windlass_core::run::{Effect, EffectId, EffectKind, PanelPhase, Run, UnitStatus};
use windlass_core::workflow::{Errand, Kind, RunOutcome, StageIx};
use windlass_journal::Journal;
use windlass_repo::Oid;

use crate::books::{Attempt, Books, Checked};
use crate::clerk::Situation;
use crate::commit_note::evidence;
use crate::effect::{Job, member, perform, situation};
use crate::entry::{Member, Proof};
use crate::exhibit::Exhibits;
use crate::foresight::{self, Foresight, Policy};
use crate::gate::Reception;
use crate::message::{Hands, Message, Trouble};
use crate::role::LaneSight;
use crate::shop::{Brake, Shop};
use crate::tests_kept::TESTS_KEPT;

/// Does what is wanted, each effect on a thread of its own.
pub struct Workers<'j> {
    shop: Arc<Shop>,
    journal: &'j Journal,
    /// Effects that were wanted when this process took the run up: nobody knows how far they came.
    inherited: BTreeSet<EffectId>,
    under_way: BTreeMap<EffectId, (Brake, JoinHandle<()>)>,
    foresight: Foresight,
}

impl<'j> Workers<'j> {
    /// Hands for a run; of what it wants, an earlier process has begun these.
    pub fn new(shop: Arc<Shop>, journal: &'j Journal, inherited: BTreeSet<EffectId>) -> Self {
        let (under_way, foresight) = (BTreeMap::new(), Foresight::default());
        Workers { shop, journal, inherited, under_way, foresight }
    }

    fn job(&mut self, id: EffectId, effect: Effect, run: &Run, books: &Books) -> Job {
        let unit = effect.unit.as_deref();
        let oid = |text: Option<&str>| text.and_then(|text| Oid::parse(text).ok());
        let title = unit.and_then(|unit| run.unit_named(unit)).map(|unit| unit.title);
        let task = effect.child.as_ref().map(|child| &*child.id);
        let own = member(&effect.kind);
        let tried = books.attempts(unit, task, &effect.name).iter().filter(|it| it.panel == own);
        let attempt = tried.count() + 1;
        let artifacts = self.shown_to(&effect, title.clone(), run, books);
        let lands = matches!(effect.kind, EffectKind::Errand(Errand::Land { .. }));
        let apart = matches!(&effect.kind, EffectKind::Invoke { role, .. }
            if self.shop.setup.role(role).lane == LaneSight::Clean);
        Job {
            id,
            patch: match &effect.kind {
                EffectKind::Errand(Errand::Save { from: Some(from), .. }) => {
                    self.said_at(*from, run, &situation(&effect, title.clone(), false), books)
                }
                _ => None,
            },
            turned: books
                .turned(id)
                .and_then(|(came, tip)| Some((came.to_owned(), oid(Some(tip))?))),
            coupled: books
                .coupled(id)
                .and_then(|(begins, commit)| Some((oid(Some(begins))?, oid(Some(commit))?))),
            checked: if lands { checked(books, unit) } else { Vec::new() },
            evidence: lands.then(|| evidence(run, books, &effect)),
            title,
            base: oid(books.base(unit)),
            held: oid(books.held(unit)),
            lane: books.lane(unit),
            anew: books.anew(unit),
            landed_last: books
                .landings()
                .iter()
                .rev()
                .find(|it| it.waits.is_none())
                .and_then(|it| Some((it.unit.clone(), oid(Some(&it.commit))?))),
            landed: match &effect.kind {
                EffectKind::Errand(Errand::Read { .. }) if unit.is_none() => landed(books),
                _ => Vec::new(),
            },
            landed_units: match unit.filter(|unit| books.base(Some(unit)).is_none()) {
                Some(_) => self.landed_units(run),
                None => Vec::new(),
            },
            attempt: u32::try_from(attempt).unwrap_or(u32::MAX),
            apart,
            artifacts,
            before: oid(if unit.is_some() { books.base(unit) } else { books.began() }),
            upheld: looks_at_tests(&effect.kind)
                .then(|| self.reception().exhibits(books).upheld(unit)),
            since: task.and_then(|task| oid(books.part(unit, Some(task))?.since.as_deref())),
            conflicts: books.conflicts(unit).to_vec(),
            again: self.inherited.remove(&id),
            // Only what the run's lane holds nobody has looked at yet, is looked for where the branch is by now.
            behind: unit.is_none() && effect.subject.is_none() && books.is_behind(),
            cancelled: run.outcome() == Some(RunOutcome::Cancelled),
            effect,
        }
    }

    /// What whoever is asked gets to see.
    fn shown_to(
        &self,
        effect: &Effect,
        title: Option<Arc<str>>,
        run: &Run,
        books: &Books,
    ) -> Vec<(String, String)> {
        match &effect.kind {
            EffectKind::Invoke { panel: Some((phase, number)), .. }
                if *phase != PanelPhase::Propose =>
            {
                self.round_table((*phase, *number), effect, title, run, books)
            }
            EffectKind::Invoke { role, edits, .. } => {
                let others = effect
                    .unit
                    .as_deref()
                    .filter(|_| *edits)
                    .and_then(|unit| self.others(unit, run, books));
                let mut shown = self.artifacts(role, effect, title, books);
                shown.extend(others.map(|text| ("others at work".to_owned(), text)));
                shown
            }
            _ => Vec::new(),
        }
    }

    /// What somebody gets to see of a panel: who criticises, what the others have proposed; who makes one of it all,
    /// everything. Nothing that the stage shows besides: what of that matters, they have made use of.
    fn round_table(
        &self,
        (phase, number): Member,
        effect: &Effect,
        title: Option<Arc<str>>,
        run: &Run,
        books: &Books,
    ) -> Vec<(String, String)> {
        let Kind::Panel { roles, .. } = &run.workflow().stage(effect.stage).kind else {
            return Vec::new();
        };
        let at = situation(effect, title, false);
        let exhibits = self.reception().exhibits(books);
        let before = exhibits.begun(&at).map(|text| ("what was done before".to_owned(), text));
        let shown = |of: PanelPhase, word: &str| {
            let others = roles
                .iter()
                .zip(0_u16..)
                .filter(|(_, other)| phase == PanelPhase::Synthesise || *other != number);
            let made = others.filter_map(|(role, other)| {
                let attempt = exhibits.member(&at, (of, other))?;
                Some((format!("{word} of {role}"), self.made(attempt, (of, other), &at, &exhibits)))
            });
            made.collect::<Vec<_>>()
        };
        let proposals = shown(PanelPhase::Propose, "proposal");
        let critiques = match phase {
            PanelPhase::Synthesise => shown(PanelPhase::Critique, "critique"),
            PanelPhase::Propose | PanelPhase::Critique => Vec::new(),
        };
        before.into_iter().chain(proposals).chain(critiques).collect()
    }

    /// What a member of a panel has made: the files that its role promises, or else what it said.
    fn made(
        &self,
        attempt: &Attempt,
        member: Member,
        at: &Situation,
        exhibits: &Exhibits<'_>,
    ) -> String {
        let papers = self.shop.clerk.papers();
        let at = Situation { panel: Some(member), ..at.clone() };
        let role = self.shop.setup.role(&attempt.role);
        let promised = role.writes.iter().filter_map(|name| {
            let bytes = papers.get(&self.shop.clerk.path(name, &at)?)?;
            Some(String::from_utf8_lossy(bytes).into_owned())
        });
        let files = promised.collect::<Vec<_>>().join("\n");
        if files.is_empty() { exhibits.text_of(attempt) } else { files }
    }

    /// Those units with a lane that are over and have landed.
    fn landed_units(&self, run: &Run) -> Vec<String> {
        let over = |unit: &String| {
            run.unit_named(unit)
                .is_some_and(|unit| unit.landed && matches!(unit.status, UnitStatus::Settled(_)))
        };
        self.shop.lane_units().into_iter().filter(over).collect()
    }

    /// What whoever changes something is told of others that change the same.
    fn others(&self, unit: &str, run: &Run, books: &Books) -> Option<String> {
        let tells = self.shop.setup.conflicts != Policy::Show;
        tells.then(|| foresight::told(unit, run, books)).flatten()
    }

    /// What was said at a stage: by its role the last time, or what its reader has read.
    fn said_at(&self, stage: StageIx, run: &Run, at: &Situation, books: &Books) -> Option<String> {
        let stage = run.workflow().stage(stage);
        match &stage.kind {
            Kind::Errand(Errand::Read { name }) => self.shop.clerk.artifact(name, at),
            _ => self.reception().exhibits(books).said(&stage.name, at),
        }
    }

    /// What a role gets to see: what the stage names, or else the role itself, or else what went before.
    fn artifacts(
        &self,
        role: &str,
        effect: &Effect,
        title: Option<Arc<str>>,
        books: &Books,
    ) -> Vec<(String, String)> {
        let situation = situation(effect, title, false);
        let role = self.shop.setup.role(role);
        let usual = ["attempts".to_owned(), "check-output".to_owned()];
        let names = match (effect.sees.as_slice(), role.sees.as_slice()) {
            ([], []) => &usual[..],
            ([], own) => own,
            (named, _) => named,
        };
        let exhibits = self.reception().exhibits(books);
        let before = exhibits.begun(&situation).map(|text| ("what was done before".into(), text));
        let shown =
            names.iter().filter_map(|name| Some((name.clone(), exhibits.show(name, &situation)?)));
        before.into_iter().chain(shown).collect()
    }
}

/// The units that have landed, each with its commit.
fn landed(books: &Books) -> Vec<(String, Oid)> {
    let landed = books.landings().iter();
    landed.filter_map(|it| Some((it.unit.clone()?, Oid::parse(&it.commit).ok()?))).collect()
}

/// Whether it is looked at what became of tests.
fn looks_at_tests(kind: &EffectKind) -> bool {
    let names = match kind {
        EffectKind::Errand(Errand::Checks { names, .. }) => names,
        EffectKind::Errand(Errand::Land { proof, .. }) => proof,
        EffectKind::Errand(_) | EffectKind::Invoke { .. } => return false,
    };
    names.iter().any(|name| *name == *TESTS_KEPT)
}

/// What the checks of a unit have come to, each with the tree that it ran on.
fn checked(books: &Books, unit: Option<&str>) -> Vec<(String, Proof)> {
    let of = |(name, it): (&str, &Checked)| {
        let (command, came, output) = (it.command.clone(), it.came, it.output.clone());
        (it.tree.clone(), Proof { name: name.to_owned(), command, came, output })
    };
    books.checks(unit).map(of).collect()
}

impl Hands for Workers<'_> {
    fn start(&mut self, id: EffectId, effect: Effect, run: &Run, books: &Books) {
        let job = self.job(id, effect, run, books);
        let (shop, brake) = (self.shop.clone(), Brake::default());
        let own = brake.clone();
        let whose = job.effect.unit.as_ref().map_or(String::new(), |unit| format!(" · {unit}"));
        let name = format!("{} {}{whose}", job.effect.kind.name(), job.effect.name);
        let work = move || {
            let message = match perform(&shop, job, &own) {
                Ok(Ok(done)) => Message::Done(Box::new(done)),
                Ok(Err(_stopped)) => return,
                Err(trouble) => Message::Trouble(id, trouble),
            };
            // The loop may have ended meanwhile; then nobody is there to be told.
            let _ = shop.inbox.send(message);
        };
        let inbox = self.shop.inbox.clone();
        match std::thread::Builder::new().name(name).spawn(work) {
            Ok(thread) => {
                self.under_way.insert(id, (brake, thread));
            }
            Err(error) => {
                let what = format!("no thread could be started: {error}");
                let _ = inbox.send(Message::Trouble(id, Trouble::new(what)));
            }
        }
    }

    fn reception(&self) -> Reception<'_> {
        let Shop { clerk, store, .. } = &*self.shop;
        Reception { clerk: &**clerk, journal: self.journal, store: Some(store) }
    }

    fn cancel(&mut self, id: EffectId) {
        if let Some((brake, _)) = self.under_way.get(&id) {
            brake.pull();
        }
    }

    fn call_off(&mut self) {
        self.shop.queue.call_off();
    }

    fn over(&mut self, id: EffectId) {
        if let Some((_, thread)) = self.under_way.remove(&id) {
            let _ = thread.join();
        }
    }

    fn look_ahead(&mut self, run: &Run, books: &Books) {
        self.foresight.look(&self.shop, run, books);
    }

    fn down(&mut self) {
        self.foresight.down();
        for (brake, _) in self.under_way.values() {
            brake.pull();
        }
        for (_, (_, thread)) in std::mem::take(&mut self.under_way) {
            let _ = thread.join();
        }
    }
}
