//! Effects: what each kind does. Every one is a blocking function on a thread of its own.
//!
//! Each comes to a [`Done`], is [`Stopped`] because nobody wants it any more, or meets [`Trouble`]: something about
//! the world (a full disk, a git that fails) that is neither the agent's doing nor the work's, and that stops the run
//! with a message instead of being charged to anybody.

pub mod check;
mod contract;
mod heard;
mod invoke;
mod kept;
mod land;
mod measure;
mod meter;
mod patch;
mod read;
mod report;
mod save;
mod tell;
mod train;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use windlass_core::run::{Effect, EffectId, EffectKind, Ended, Report, Subject, Usage};
use windlass_core::value::Value;
use windlass_core::workflow::Errand;
use windlass_process::{Ending, Finished};
use windlass_repo::Oid;

use crate::clerk::{BUILT_BEFORE, Situation};
use crate::entry::{Member, Note, Proof};
use crate::message::{Done, Paper, Trouble};
use crate::room;
use crate::shop::{Brake, Seat, Shop, Stands, Stopped, lock, when};
use crate::tests_kept::Upheld;

/// An effect to be done, with what the run and its books know about it.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its id.
    pub id: EffectId,
    /// What.
    pub effect: Effect,
    /// The unit's title.
    pub title: Option<Arc<str>>,
    /// The commit that the unit's lane started from, if it has started.
    pub base: Option<Oid>,
    /// The commit that holds what the lane held when we looked last.
    pub held: Option<Oid>,
    /// How often the unit was begun anew after it had settled.
    pub anew: u32,
    /// The lane of the pool that the unit has, as far as that is on record.
    pub lane: Option<u32>,
    /// What landed last and did not wait, for a landing and for a unit that begins: for which unit, and the commit.
    pub landed_last: Option<(Option<String>, Oid)>,
    /// For a read of the run's own: the units that have landed, each with its commit.
    pub landed: Vec<(String, Oid)>,
    /// Those of the units that are over whose lanes may still be theirs and which have landed, for a unit that begins.
    pub landed_units: Vec<String>,
    /// The how-manieth attempt at its stage it is, from 1.
    pub attempt: u32,
    /// Whoever does it works apart from the lane, on the change alone.
    pub apart: bool,
    /// What was said before, what checks printed, and the like, by name.
    pub artifacts: Vec<(String, String)>,
    /// For a patch: what was said by whoever made it.
    pub patch: Option<String>,
    /// For a landing that was turned away before: what it came to, and the tip that its work is being rebuilt on.
    pub turned: Option<(String, Oid)>,
    /// For a landing that was about to happen as a car of a train: where that begins, and its commit.
    pub coupled: Option<(Oid, Oid)>,
    /// For a landing with a proof: what checks of its unit have come to, each with the tree that it ran on.
    pub checked: Vec<(String, Proof)>,
    /// For a landing: why it may land, for whoever reads the history.
    pub evidence: Option<String>,
    /// What work is held against: where its lane started from, and for the run itself where everything began. A check that
    /// failed there already is nobody's doing.
    pub before: Option<Oid>,
    /// Of a part of a unit: what the lane held when that was begun.
    pub since: Option<Oid>,
    /// What its tests are held against, where that is looked at.
    pub upheld: Option<Upheld>,
    /// Files of the lane that were left with both sides in them.
    pub conflicts: Vec<String>,
    /// It was under way when an earlier process went away.
    pub again: bool,
    /// The run was cancelled: nothing new happens on its behalf.
    pub cancelled: bool,
    /// It is the run's own, and units have landed since its lane was put where it is: nobody has looked at that yet.
    pub behind: bool,
}

/// What never started is neither the agent's failure nor the project's.
fn barred(finished: &Finished) -> Result<(), Trouble> {
    if finished.ending != Ending::Barred {
        return Ok(());
    }
    let why = finished.why.as_deref().unwrap_or("it was not said why");
    Err(Trouble::new(format!("the sandbox did not let it start: {why}")).next(
        "`windlass doctor` tells what starts here, `windlass lanes show LANE --mounts` what is seen inside; \
         `[sandbox] read` in windlass.toml shows more",
    ))
}

/// How an effect ends.
pub type Outcome = Result<Result<Done, Stopped>, Trouble>;

/// Does it.
pub fn perform(shop: &Shop, mut job: Job, brake: &Brake) -> Outcome {
    let lane = InLane::of(&job.effect.kind);
    let seat = job.seat();
    let turn = shop.turn(seat);
    if lane != InLane::Not && job.behind && !brake.is_pulled() {
        let own = shop.turn(Seat { number: 0, ..seat });
        let _alone = own.write();
        match caught_up(shop, &job)? {
            Ok(base) => {
                job.held = Some(base.clone());
                job.base = Some(base);
            }
            Err(stopped) => return Ok(Err(stopped)),
        }
    }
    let (mut looks, mut changes) = (None, None);
    match lane {
        InLane::Not => {}
        InLane::Looks => looks = Some(turn.read()),
        InLane::Changes => changes = Some(turn.write()),
    }
    // Held until the effect is over.
    let _turn = (looks, changes);
    if brake.is_pulled() {
        return Ok(Err(Stopped));
    }
    if lane != InLane::Not && job.base.is_none() {
        match based(shop, &job)? {
            Ok(Stands { base, held, shown }) => {
                job.held = Some(held);
                job.base = Some(base);
                job.artifacts.extend(shown.map(|text| (BUILT_BEFORE.to_owned(), text)));
            }
            Err(stopped) => return Ok(Err(stopped)),
        }
    }
    let job = &job;
    match &job.effect.kind {
        EffectKind::Invoke { role, agent, edits, .. } => {
            invoke::invoke(shop, job, role, agent.as_deref(), *edits, brake)
        }
        EffectKind::Errand(errand) => match errand {
            Errand::Checks { names, expect } => check::check(shop, job, names, *expect, brake),
            Errand::Read { name } => read::read(shop, job, name, brake),
            Errand::Save { how, label, trailers, .. } => {
                save::save(shop, job, *how, label.as_deref(), trailers).map(Ok)
            }
            Errand::Land { how, keep, proof, .. } if proof.is_empty() => {
                land::land(shop, job, *how, keep)
            }
            Errand::Land { how, keep, proof, .. } => {
                train::queued(shop, job, *how, keep, proof, brake)
            }
            Errand::Tell { names } => tell::tell(shop, job, names, brake),
        },
    }
}

/// What an effect has to do with its lane.
#[derive(Clone, Copy, PartialEq, Eq)]
enum InLane {
    Not,
    Looks,
    Changes,
}

impl InLane {
    fn of(kind: &EffectKind) -> Self {
        match kind {
            EffectKind::Invoke { edits: true, .. }
            | EffectKind::Errand(Errand::Save { .. } | Errand::Land { .. }) => InLane::Changes,
            EffectKind::Invoke { edits: false, .. } | EffectKind::Errand(Errand::Checks { .. }) => {
                InLane::Looks
            }
            EffectKind::Errand(Errand::Read { .. } | Errand::Tell { .. }) => InLane::Not,
        }
    }
}

/// A unit begins where the target branch is by then, and that is written down before anything is built on it.
fn based(shop: &Shop, job: &Job) -> Result<Result<Stands, Stopped>, Trouble> {
    // Of a panel several come here at once, and all begin at the same place.
    let mut begun = lock(&shop.begun);
    let key = (job.unit_owned(), job.anew);
    if let Some(stands) = begun.get(&key) {
        return Ok(Ok(stands.clone()));
    }
    let tip = shop.beginning()?;
    let note = Note::Based { unit: job.unit_owned(), base: tip.to_string() };
    let mut paper = Paper::of(note);
    let made = room::make(shop, &job.landed_units, when(job.effect.since))?;
    let told = made.into_iter().chain(land::taken_back(shop, job, &tip)?);
    paper.notes.extend(told.map(|text| Note::Told {
        effect: job.id,
        name: "lanes".to_owned(),
        text,
    }));
    let before = built_before(shop, job, &tip)?;
    let mut stands = Stands { held: tip.clone(), base: tip, shown: None };
    if let Some(before) = before {
        if let Some(held) = before.held {
            let (unit, commit) = (job.unit_owned(), held.to_string());
            paper.notes.push(Note::Saved { effect: job.id, unit, commit });
            stands.held = held;
        }
        let (name, text) = (BUILT_BEFORE.to_owned(), before.told);
        paper.notes.push(Note::Told { effect: job.id, name, text });
        stands.shown = Some(before.shown);
    }
    Ok(shop.write_down(paper).map(|()| {
        begun.insert(key, stands.clone());
        stands
    }))
}

/// What was built of a unit before it is begun once more.
struct Before {
    /// The commit that holds it on top of where the unit begins now, if it goes together with that.
    held: Option<Oid>,
    /// What a person should know of it.
    told: String,
    /// What whoever goes on with it should know.
    shown: String,
}

/// So much of a change that is not in the lane is shown.
const BEFORE_BYTES: usize = 24 * 1024;

/// Puts into a unit's lane what was built of it before, in this run or in an earlier one, where that still goes together with
/// where it begins now.
fn built_before(shop: &Shop, job: &Job, tip: &Oid) -> Result<Option<Before>, Trouble> {
    let Some(unit) = job.unit().filter(|_| job.seat().number == 0) else { return Ok(None) };
    let kept = shop.clerk.kept(unit).and_then(|commit| Oid::parse(&commit).ok());
    let kept = match kept {
        // A file says so that people write: nothing but what was put aside of this very unit is taken up.
        Some(commit) => shop.store.is_kept_of(unit, &commit)?.then_some(commit),
        None => None,
    };
    if kept.is_none() && job.anew == 0 {
        return Ok(None);
    }
    let at = when(job.effect.since);
    let lane = shop.lane(job.effect.lane, Some(unit), tip, at)?;
    let held = shop.store.begin_on(&lane, tip, kept.as_ref(), at)?;
    let Some(kept) = kept else { return Ok(None) };
    if held.is_some() {
        let told = format!("what was built of it before ({}) is in its lane again", kept.short());
        let shown = "What was built of it in an earlier attempt is in your lane already, on top of what has landed since;                      `git diff HEAD` and `git status` show it. Go on from there, or take back what is no good of it."
            .to_owned();
        return Ok(Some(Before { held, told, shown }));
    }
    let change = shop.store.own_change(&kept)?;
    let change = String::from_utf8_lossy(&change);
    let told = format!(
        "what was built of it before ({}) does not go together with what has landed since: its lane begins without it",
        kept.short()
    );
    let cut = change.floor_char_boundary(BEFORE_BYTES.min(change.len()));
    let more = if cut < change.len() { "\n[…]" } else { "" };
    let shown = format!(
        "What was built of it in an earlier attempt (commit {kept}) is not in your lane: it does not go together with what has \
         landed since. This was its change:\n\n{}{more}\n",
        &change[..cut]
    );
    Ok(Some(Before { held: None, told, shown }))
}

/// The run's own lane goes to where the branch is by now, with everything that has landed. It holds nothing of its own.
fn caught_up(shop: &Shop, job: &Job) -> Result<Result<Oid, Stopped>, Trouble> {
    let mut stands = lock(&shop.stands);
    if let Some(base) = &*stands {
        return Ok(Ok(base.clone()));
    }
    let tip = shop.beginning()?;
    let at = when(job.effect.since);
    let lane = shop.lane(job.effect.lane, job.unit(), &tip, at)?;
    // What lies about there was made by nobody that we know of. It is kept, and is no part of what is looked at.
    shop.store.rewind(&lane, &lane.base, at)?;
    // The lane first: whoever is cut off before it is on record finds that units have landed, and comes here again.
    shop.store.rebase(&lane, &tip, at)?;
    let note = Note::Based { unit: None, base: tip.to_string() };
    Ok(shop.write_down(Paper::of(note)).map(|()| {
        *stands = Some(tip.clone());
        tip
    }))
}

impl Job {
    /// Where it works: each member of a panel has a place of its own, so that nobody sees what others are about to say.
    fn seat(&self) -> Seat {
        let own = if self.apart { Seat::APART } else { 0 };
        let number = member(&self.effect.kind).map_or(own, |(_, number)| number);
        Seat { lane: self.effect.lane, number }
    }

    fn unit(&self) -> Option<&str> {
        self.effect.unit.as_deref()
    }

    fn unit_owned(&self) -> Option<String> {
        self.effect.unit.as_ref().map(ToString::to_string)
    }

    /// Whether whoever does it is shown something under a name.
    fn shows(&self, name: &str) -> bool {
        self.artifacts.iter().any(|(shown, _)| shown == name)
    }

    /// A text that the stage passes along.
    fn text(&self, name: &str) -> Option<&str> {
        match self.effect.with.get(name) {
            Some(Value::Text(text)) => Some(text),
            Some(Value::Flag(_) | Value::Number(_) | Value::Set(_)) | None => None,
        }
    }

    fn task_owned(&self) -> Option<String> {
        self.effect.child.as_ref().map(|child| child.id.to_string())
    }

    /// What it is about, for the clerk.
    fn situation(&self) -> Situation {
        situation(&self.effect, self.title.clone(), self.again)
    }

    /// A report with nothing but a verdict.
    fn verdict(&self, word: &str) -> Report {
        Report {
            effect: self.id,
            ended: Ended::Verdict(word.into()),
            facts: BTreeMap::new(),
            lists: BTreeMap::new(),
            subject: self.effect.subject.clone(),
            usage: Usage::NONE,
        }
    }

    fn done(&self, word: &str, paper: Paper) -> Done {
        Done { report: self.verdict(word), paper, desk: None }
    }
}

/// Those of some files in which a commit or tree has the marks that a conflict left there.
fn marked(
    shop: &Shop,
    tree: &Oid,
    files: impl Iterator<Item = String>,
) -> Result<Vec<String>, Trouble> {
    let mut marked = Vec::new();
    for file in files {
        let text = shop.store.file_at(tree, Path::new(&file))?.unwrap_or_default();
        if text.split(|byte| *byte == b'\n').any(is_mark) {
            marked.push(file);
        }
    }
    Ok(marked)
}

/// Whether a line is one of the marks that git writes with the names of the commits or trees that it was given.
fn is_mark(line: &[u8]) -> bool {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let name = line.strip_prefix(b"<<<<<<< ").or_else(|| line.strip_prefix(b">>>>>>> "));
    name.is_some_and(|name| {
        let name = name.split(|byte| *byte == b':').next().unwrap_or_default();
        name.len() >= 40 && name.iter().all(u8::is_ascii_hexdigit)
    })
}

/// What an effect is about, for a clerk.
pub(crate) fn situation(effect: &Effect, title: Option<Arc<str>>, again: bool) -> Situation {
    let unit = effect.unit.as_ref();
    Situation {
        stage: effect.name.to_string(),
        unit: unit.map(|id| (id.to_string(), title.unwrap_or_else(|| id.clone()).to_string())),
        child: effect.child.clone(),
        with: effect.with.clone(),
        panel: member(&effect.kind),
        since: effect.since,
        again,
        gone: Vec::new(),
    }
}

/// Which member of a panel an effect is, if of any.
pub(crate) fn member(kind: &EffectKind) -> Option<Member> {
    match kind {
        EffectKind::Invoke { panel, .. } => *panel,
        EffectKind::Errand(_) => None,
    }
}

/// A subject as the core knows it.
pub(crate) fn subject(of: &windlass_repo::Subject) -> Subject {
    Subject { tree: of.tree.as_str().into(), change: of.change.as_str().into() }
}
