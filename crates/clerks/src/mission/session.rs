//! A mission as its journal folds to it, as far as its files and its roles want to know.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use std::sync::Arc;

use windlass_core::run::{
    EffectId, Ending, Event, FrameId, GateId, Item, Moved, Purse, Run, UnitIx, UnitStatus, UnitView,
};
use windlass_core::value::Value;
use windlass_core::workflow::{RunOutcome, ScopeIx, Settled, StageIx};
use windlass_engine::asserted::{self, Broken};
use windlass_engine::clerk::{BUILT_BEFORE, Blobs};
use windlass_engine::entry::{Answered, Check, Entry, Note};
use windlass_engine::lanes;
use windlass_sources::contract::{Assertion, Contract};
use windlass_sources::features::{self, Feature, Progress, Queue, Status};

use super::held::{Held, LastWord};
use super::{reason, stage};
use crate::{finding, printed};

/// Where the contract is.
pub const CONTRACT: &str = ".harness/validation-contract.md";

/// So many features land between two visits of the curator.
pub const CURATED_EVERY: u64 = 10;

/// So many of the last things that were said about a feature are kept.
const KEPT: usize = 12;

/// So many of them are left to the next mission, and so much of each.
const LEFT: usize = 5;
const LEFT_BYTES: usize = 2_000;

/// So many of the last answers of roles have a file.
const LOGS_MAX: usize = 50;

/// So much of an answer is in its file.
const LOG_BYTES: usize = 64 * 1024;

/// A mission.
#[derive(Debug, Default)]
pub struct Session {
    /// Papers by path.
    pub papers: BTreeMap<String, Arc<[u8]>>,
    /// The queue as it was read or written last, without what has become of it since.
    pub queue: Queue,
    /// Features that nobody planned: what validators found.
    pub fixes: Vec<Feature>,
    /// Where each feature is in it.
    places: BTreeMap<String, usize>,
    /// Features that a person has taken out of it since.
    removed: BTreeMap<String, Feature>,
    contract: Contract,
    /// Where each assertion is in it.
    assertions: BTreeMap<String, usize>,
    /// What a person has set a feature to, where that is not what has become of it.
    pub wanted: BTreeMap<String, Status>,
    /// What a person had settled in the queue when it was read, and as what: their decision, by now on record.
    pub(super) by_hand: BTreeMap<String, Status>,
    /// What an earlier mission has landed and the file has as open, with its commit.
    pub(super) landed_before: BTreeMap<String, String>,
    /// What the file has as passed and whose landing was given up, with its commit.
    pub(super) given_up: BTreeMap<String, String>,
    /// Features whose landing waits for a person to take it.
    waits: BTreeSet<String>,
    /// Papers that have come since files were written.
    pub fresh: BTreeSet<String>,
    /// The last answers of roles that have no file yet, by its name: older ones are in the journal.
    pub logs: VecDeque<(String, Arc<str>)>,
    /// Those that have one, the oldest first.
    pub kept_logs: VecDeque<String>,
    /// Names of files of answers that are older.
    pub old_logs: Vec<String>,
    /// What has become of each feature of this run.
    pub progress: BTreeMap<String, Progress>,
    /// What is known of each besides.
    pub tales: BTreeMap<String, Tale>,
    /// What the plan's reviewer came to, and said.
    pub review: Option<(String, String)>,
    /// Who denied the plan, and what they said.
    pub denied: Option<String>,
    /// What failed besides the features: the last checks of all that has landed.
    pub wrong: Vec<String>,
    /// Features that a check failed for as it did without them, by its name.
    pub(super) excused: BTreeMap<String, BTreeSet<String>>,
    /// Checks that fail on the branch as it is, without any of this.
    red: BTreeSet<String>,
    /// Those of them of which nobody has been told yet.
    pub(super) red_news: Vec<String>,
    /// What waits for a person who is asked nothing.
    pub(super) held: Vec<Held>,
    /// What was said last of each feature, and what of none.
    pub(super) last: BTreeMap<Option<String>, LastWord>,
    /// What the last look at everything that was claimed has found not to be so.
    pub not_so: Vec<Broken>,
    /// Features that claim what does not hold any more, and why they have not passed after all.
    pub broken: BTreeMap<String, String>,
    /// What has landed, in order.
    pub landed: Vec<Landed>,
    /// How many had landed when the curator was asked last.
    pub curated_at: u64,
    /// Invocations that count as iterations.
    pub iterations: u64,
    /// Decisions, and how often each was made.
    pub decisions: BTreeMap<String, u64>,
    /// What was spent, and of how much.
    pub spent: Purse,
    /// The run's cap in millionths of a dollar, if it has one.
    pub cost_cap: Option<u64>,
    /// Features that have landed and which the branch no longer has, each with its commit.
    pub gone: BTreeMap<String, String>,
    /// More than one feature may be under way: then whoever tells of a run says how far it is after each.
    pub(super) is_wide: bool,
    /// When the last entry was made.
    pub now_ms: i64,
    /// How it ended.
    pub ended: Option<RunOutcome>,
    /// Where each feature is built that is under way: what a file in the checkout says of it.
    pub lanes: BTreeMap<String, String>,
    /// Those whose file is not as it should be.
    pub moved: BTreeSet<String>,
    /// Something that files show has changed.
    pub dirty: bool,
    /// Titles of what validators have found and the journal does not have as features yet, by whose validator it was.
    pub found_now: BTreeMap<String, BTreeSet<String>>,
    /// Ids that what validators have found was given.
    pub numbered: BTreeSet<String>,
    /// What was built of each feature that has not landed: the commit that its lane stands on, and the one that has it.
    pub(super) built: BTreeMap<String, (String, String)>,
    /// The same, before a lane was rebuilt last; once that has left both sides in its files it is what counts.
    pub(super) before: BTreeMap<String, (String, String)>,
    /// Those whose lanes hold files with both sides of a conflict in them.
    pub(super) both_sides: BTreeSet<String>,
    /// What was built of each in this run before it was begun anew.
    pub(super) earlier: BTreeMap<String, String>,
    frames: BTreeMap<FrameId, String>,
    /// The feature that settled last and is followed by what comes between features.
    pub settled: Option<String>,
    /// Questions that are open: their stage, and the feature that they are about.
    gates: BTreeMap<GateId, (StageIx, Option<String>)>,
    flights: BTreeMap<EffectId, String>,
    known: u32,
    /// What validators said of what they found, by the feature's id.
    details: BTreeMap<String, String>,
}

/// What is known of a feature besides where it stands.
#[derive(Clone, Debug, Default)]
pub struct Tale {
    /// What the architect answered, with what was asked, and what people have said at their questions.
    pub answers: Vec<String>,
    /// What was asked last.
    pub question: Option<String>,
    /// Why it was sent back, a line each, the latest last.
    pub findings: Vec<String>,
    /// Each claim as the validator saw it last: whether it holds, and on what evidence.
    pub claims: BTreeMap<String, (String, String)>,
    /// When its first worker was asked.
    pub began_ms: Option<i64>,
}

/// A feature that has landed.
#[derive(Clone, Debug)]
pub struct Landed {
    /// Which.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The commit.
    pub commit: String,
}

impl Session {
    /// Takes an entry in; `run` is as it is after it.
    pub fn enter(&mut self, entry: &Entry, run: &Run, blob: Blobs<'_>) {
        self.spent = run.purse();
        self.is_wide = run.width() > 1;
        self.cost_cap = run.caps().run.cost_micros;
        self.held =
            run.holds().filter_map(|(unit, why)| Held::of(unit.as_deref(), why, run)).collect();
        match entry {
            Entry::Note(noted) => {
                self.now_ms = noted.at.wall_ms;
                self.note(&noted.note, run, blob);
            }
            Entry::Event(recorded) => {
                self.now_ms = recorded.at.wall_ms;
                self.event(&recorded.event, run);
            }
        }
    }

    /// A feature, planned or found.
    pub fn feature(&self, id: &str) -> Option<&Feature> {
        let planned = self.places.get(id).map(|at| &self.queue.features[*at]);
        let planned = planned.or_else(|| self.removed.get(id));
        planned.or_else(|| self.fixes.iter().find(|fix| fix.id == id))
    }

    /// Whether a feature is in the queue as it was read last, or was there before.
    pub fn is_planned(&self, id: &str) -> bool {
        self.places.contains_key(id) || self.is_removed(id)
    }

    /// Whether a person has taken a feature out of the queue.
    pub fn is_removed(&self, id: &str) -> bool {
        self.removed.contains_key(id)
    }

    /// What nobody has to find any more: titles of all features, and of what other lanes have found at this moment.
    pub(super) fn known_to(&self, unit: &str) -> BTreeSet<String> {
        let all = self.queue.features.iter().chain(self.removed.values()).chain(&self.fixes);
        let elsewhere = self.found_now.iter().filter(|(of, _)| *of != unit);
        let elsewhere = elsewhere.flat_map(|(_, titles)| titles.iter().cloned());
        all.map(|feature| normal(&feature.title)).chain(elsewhere).collect()
    }

    /// Whether a feature mends what a validator found, in this mission or in one before.
    fn is_fix(&self, id: &str) -> bool {
        self.feature(id).is_some_and(|feature| feature.origin.is_some())
    }

    /// The assertions of a claim.
    pub fn assertions(&self, claim: &str) -> Vec<&Assertion> {
        let ids = windlass_sources::contract::ids_in(claim);
        if ids.is_empty() {
            return self.contract.matching(claim);
        }
        let place = |id: &&str| self.assertions.get(&id.to_ascii_uppercase());
        ids.iter().filter_map(place).map(|at| &self.contract.assertions[*at]).collect()
    }

    /// The contract.
    pub fn contract(&self) -> &Contract {
        &self.contract
    }

    /// The whole queue as it stands: what was planned and what was found, with what has become of it.
    pub fn whole(&self) -> Queue {
        let mut queue = self.right(self.queue.clone());
        let found = self.fixes.iter().filter(|fix| !self.places.contains_key(&fix.id));
        queue.features.extend(found.cloned());
        let mut queue = queue.with(&self.progress);
        self.put_on_record(&mut queue);
        for feature in &mut queue.features {
            if let Some(wanted) = self.wanted.get(&feature.id) {
                feature.status = wanted.clone();
                match wanted {
                    Status::Pending => {
                        (feature.attempts, feature.reason, feature.again) = (0, None, true);
                    }
                    // Why they want it so is on record with it, and stays.
                    _ => feature.reason = self.given_reason(&feature.id),
                }
            }
            if let Some(why) = self.broken.get(&feature.id) {
                (feature.status, feature.reason) = (Status::Failed, Some(why.clone()));
            }
        }
        self.leave_behind(&mut queue);
        queue
    }

    /// What is known and there of features that nobody is at and that have not passed, for whoever goes on with them.
    pub(super) fn leave_behind(&self, queue: &mut Queue) {
        for feature in &mut queue.features {
            let Some(own) = self.progress.get(&feature.id) else { continue };
            if feature.status.is_settled() {
                continue;
            }
            if matches!(own.status, Status::InProgress | Status::Validating | Status::Passed) {
                continue;
            }
            if let Some(gone) = self.gone.get(&feature.id) {
                (feature.commit, feature.kept) = (None, Some(gone.clone()));
            } else if let Some(built) = self.built(&feature.id) {
                feature.kept = Some(built.to_owned());
            }
            let found = self.tales.get(&feature.id).map_or(&[][..], |tale| &tale.findings);
            if !found.is_empty() {
                let last = &found[found.len().saturating_sub(LEFT)..];
                feature.findings = last.iter().map(|it| beginning(it)).collect();
            }
        }
    }

    /// Whether a person wants a feature to be tried again that has failed, was left out or waits for such a one. A copy of the
    /// file from before it came to that says `pending` as well: it has no trace of what came after.
    pub(super) fn is_to_be_tried_again(&self, theirs: &Feature) -> bool {
        let known = self.progress.get(&theirs.id).map(|known| &known.status);
        let stuck = matches!(known, Some(Status::Failed | Status::Skipped | Status::Blocked));
        let knew = theirs.again || theirs.reason.is_some() || theirs.attempts > 0;
        stuck && knew && theirs.status == Status::Pending
    }

    /// Takes over what the queue's file holds. What a person has set to passed or left out is what they want, whatever has
    /// become of it; so is what is to be tried again.
    fn take_queue(&mut self, text: &str) {
        let Ok(queue) = Queue::read(text) else { return };
        // What they wanted before and do not want any more is forgotten.
        self.wanted.clear();
        for feature in &queue.features {
            let known = self.progress.get(&feature.id);
            let open = known.is_some_and(|known| !known.status.is_settled());
            if feature.status.is_settled() && open || self.is_to_be_tried_again(feature) {
                self.wanted.insert(feature.id.clone(), feature.status.clone());
            }
        }
        let places = queue.features.iter().enumerate();
        let places: BTreeMap<String, usize> = places.map(|(at, it)| (it.id.clone(), at)).collect();
        let before = std::mem::take(&mut self.queue.features).into_iter();
        let gone = before.filter(|it| !places.contains_key(&it.id));
        self.removed.extend(gone.map(|it| (it.id.clone(), it)));
        self.removed.retain(|id, _| !places.contains_key(id));
        (self.places, self.queue) = (places, queue);
    }

    /// A check has failed: of a feature, or of all that has landed.
    fn failed(&mut self, unit: Option<&str>, name: &str, printed: &[u8]) {
        let printed = String::from_utf8_lossy(printed);
        let mut what = format!("`{name}` failed: {}", printed::telling_line(&printed));
        match unit {
            None if name == asserted::CONTRACT => self.not_so = asserted::broken(&printed),
            Some(unit) => self.found(unit, what),
            None => {
                if let Some(units) = self.excused.get(name) {
                    // What made it no worse has landed. Whether it was to mend it, nobody has asked.
                    let units: Vec<&str> = units.iter().map(String::as_str).collect();
                    what.push_str(&format!(
                        " (it failed already when this was proved: {})",
                        units.join(", ")
                    ));
                }
                self.wrong.push(what);
            }
        }
    }

    fn note(&mut self, note: &Note, run: &Run, blob: Blobs<'_>) {
        self.lane_holds(note);
        match note {
            Note::Paper { path, holds: Some(holds), .. } => {
                if let Some(bytes) = blob(holds) {
                    self.take_paper(path, bytes);
                }
            }
            Note::Paper { path, holds: None, .. } => {
                self.papers.remove(path);
            }
            Note::Asked(asked) => {
                let Some(unit) = &asked.unit else { return };
                let now = self.now_ms;
                let tale = self.tales.entry(unit.clone()).or_default();
                if asked.stage == stage::WORKER {
                    tale.began_ms.get_or_insert(now);
                    let progress = self.progress.entry(unit.clone()).or_default();
                    progress.attempts = progress.attempts.max(u64::from(asked.attempt));
                    self.dirty = true;
                }
            }
            Note::Answered(answered) => {
                let said = blob(answered.said()).unwrap_or_default();
                self.said(answered, &String::from_utf8_lossy(&said));
            }
            // That what a feature claims is not there before it is built is as it should be.
            Note::BaseChecked { name, came: Check::Fail, .. }
                if name != asserted::CONTRACT && self.red.insert(name.clone()) =>
            {
                self.red_news.push(name.clone());
            }
            Note::Checked { unit, name, came, output, .. } => {
                let printed = || output.as_deref().and_then(blob).unwrap_or_default();
                match came {
                    Check::Fail => self.failed(unit.as_deref(), name, &printed()),
                    Check::FailedBefore => {
                        let units = self.excused.entry(name.clone()).or_default();
                        units.extend(unit.clone());
                    }
                    Check::Pass | Check::Skipped => {}
                }
            }
            // Why it does not land, and what has become of what was built of it before.
            Note::Told { effect, name, text } if name == "land" || name == BUILT_BEFORE => {
                if let Some(unit) = self.flights.get(effect).cloned() {
                    self.found(&unit, text.clone());
                }
            }
            Note::Conflicted { unit: Some(unit), files } => {
                self.found(
                    unit,
                    format!("it conflicts with what has landed: {}", files.join(", ")),
                );
            }
            Note::Laned { unit: Some(unit), lane, path } => {
                self.lanes.insert(unit.clone(), lanes::pointer(*lane, Path::new(path)));
                self.moved.insert(unit.clone());
            }
            Note::Landed { unit: Some(unit), commit, waits, .. } => {
                self.has_landed(unit, commit, waits.is_some(), run);
            }
            _ => {}
        }
    }

    /// A feature has landed, on the branch or where it waits for a person to take it.
    fn has_landed(&mut self, unit: &str, commit: &str, waits: bool, run: &Run) {
        // What lands takes along whatever waited before it.
        match waits {
            true => drop(self.waits.insert(unit.to_owned())),
            false => self.waits.clear(),
        }
        self.leave_lane(unit);
        let title = run.unit_named(unit).map_or_else(|| unit.to_owned(), |it| it.title.to_string());
        let progress = self.progress.entry(unit.to_owned()).or_default();
        if progress.commit.replace(commit.to_owned()).is_none() {
            let landed = Landed { id: unit.to_owned(), title, commit: commit.to_owned() };
            self.landed.push(landed);
        }
        self.dirty = true;
    }

    /// A paper as somebody wrote it.
    pub fn take_paper(&mut self, path: &str, bytes: Vec<u8>) {
        if path == features::PATH {
            self.take_queue(&String::from_utf8_lossy(&bytes));
            self.dirty = true;
        }
        if path == CONTRACT {
            self.contract = Contract::parse(&String::from_utf8_lossy(&bytes));
            let ids = self.contract.assertions.iter().enumerate();
            self.assertions = ids.map(|(at, it)| (it.id.to_ascii_uppercase(), at)).collect();
        }
        self.fresh.insert(path.to_owned());
        self.papers.insert(path.to_owned(), bytes.into());
    }

    /// What a role said.
    fn said(&mut self, answered: &Answered, said: &str) {
        let (asked, came) = (&answered.asked, answered.came.as_str());
        self.log(answered, said);
        let gist = windlass_agents::gist(said);
        let last = LastWord::of(answered, &gist);
        self.last.insert(asked.unit.clone(), last);
        match (asked.stage.as_str(), &asked.unit) {
            (stage::PLAN_REVIEW, _) => self.review = Some((came.to_owned(), gist)),
            (stage::ARCHITECT, Some(unit)) if came == "resolved" => {
                let tale = self.tales.entry(unit.clone()).or_default();
                let asked = tale.question.take().unwrap_or_default();
                tale.answers.push(format!("Asked: {asked}\nAnswered: {gist}"));
            }
            (stage::ARCHITECT, Some(unit)) if came == "unresolved" => {
                self.found(unit, format!("{} could not decide: {gist}", asked.role));
            }
            (_, Some(unit)) if came == "ambiguous" => {
                self.tales.entry(unit.clone()).or_default().question = Some(gist);
            }
            (stage::RESOLVE, Some(unit)) if came == "failed" => {
                // Which of two things that contradict each other is meant, a person has to say.
                self.found(unit, format!("{} said `{came}`: {gist}", asked.role));
                self.tales.entry(unit.clone()).or_default().question = Some(gist);
            }
            (stage::WORKER | stage::VALIDATOR | stage::UI_QA | stage::CROSSCHECK, Some(unit))
                if ["fail", "failed"].contains(&came) =>
            {
                let lines: Vec<String> = finding::all(said).iter().map(finding::text).collect();
                let what =
                    if lines.is_empty() { gist } else { format!("{gist}\n{}", lines.join("\n")) };
                self.found(unit, format!("{} said `{came}`: {}", asked.role, what.trim()));
            }
            _ => {}
        }
    }

    /// Keeps an answer for whoever looks for it in a file, and lets go of the oldest.
    fn log(&mut self, answered: &Answered, said: &str) {
        let asked = &answered.asked;
        let unit = asked.unit.as_ref().map_or(String::new(), |unit| format!("-{unit}"));
        let name = format!("{:05}-{}{unit}.md", asked.effect.0, asked.role);
        let cut = said.floor_char_boundary(LOG_BYTES);
        let text = format!(
            "# {}{unit}: {} (attempt {}, {})\n\n{}\n",
            asked.role,
            answered.came,
            asked.attempt,
            asked.agent,
            &said[..cut]
        );
        self.kept_logs.push_back(name.clone());
        self.logs.push_back((name, text.into()));
        if self.kept_logs.len() > LOGS_MAX
            && let Some(name) = self.kept_logs.pop_front()
        {
            self.logs.retain(|(own, _)| *own != name);
            self.old_logs.push(name);
        }
    }

    /// Something that speaks against a feature as it is.
    pub(super) fn found(&mut self, unit: &str, what: String) {
        let findings = &mut self.tales.entry(unit.to_owned()).or_default().findings;
        findings.push(what);
        let over = findings.len().saturating_sub(KEPT);
        findings.drain(..over);
    }

    fn event(&mut self, event: &Event, run: &Run) {
        match event {
            Event::UnitStarted { unit, frame, .. } => {
                if let Some(view) = run.unit_at(*unit) {
                    self.frames.insert(*frame, view.id.to_string());
                    self.begun_anew(&view.id);
                    self.stands(&view, run);
                }
            }
            Event::Opened { frame, scope: ScopeIx::BETWEEN, .. } => {
                let opened = run.frames().find(|it| it.id == *frame);
                self.settled = opened.and_then(|it| it.unit).map(|unit| unit.to_string());
            }
            Event::Entered { frame, stage, .. } => {
                let stage = run.workflow().stage(*stage);
                if let Some(record) = &stage.record {
                    *self.decisions.entry(record.clone()).or_default() += 1;
                }
                if stage.count.is_some() {
                    self.iterations += 1;
                }
                if stage.name.starts_with("curat") && stage.name != "curation" {
                    self.curated_at = self.landed.len() as u64;
                }
                if stage.name == stage::BROKEN_CLAIMS {
                    self.breaks();
                }
                self.refresh(*frame, run);
            }
            Event::Wanted { effect, frame, .. } => {
                if let Some(unit) = self.frames.get(frame) {
                    self.flights.insert(*effect, unit.clone());
                }
            }
            Event::Asked { gate, .. } => {
                if let Some(open) = run.gate(*gate) {
                    let unit = open.unit.map(|unit| unit.to_string());
                    self.gates.insert(*gate, (open.stage, unit));
                }
            }
            Event::Answered { gate, verdict, text, who, .. } => {
                let Some((stage, unit)) = self.gates.remove(gate) else { return };
                let stage = run.workflow().stage(stage);
                let option = &stage.verdict(*verdict).name;
                let text = text.as_deref().unwrap_or_default();
                self.answered(&stage.name, unit, option, text, who);
            }
            Event::Reported(ending) => self.reported(ending),
            Event::Moved(moved) => self.moved(moved, run),
            Event::UnitSettled { unit, because, by, .. } => {
                let Some(view) = run.unit_at(*unit) else { return };
                self.found_now.remove(&*view.id);
                self.stands(&view, run);
                let on = because.and_then(|on| run.unit_at(on)).map(|on| on.id);
                let reason = match (on, by) {
                    (Some(on), _) => Some(format!("{}{on}", reason::DEPENDS)),
                    (None, Some(by)) => Some(format!("{} ({})", by.reason, by.who)),
                    (None, None) => None,
                };
                self.progress.entry(view.id.to_string()).or_default().reason = reason;
            }
            Event::Ended { outcome } => {
                self.ended = Some(*outcome);
                for unit in run.units() {
                    self.stands(&unit, run);
                }
            }
            _ => {}
        }
    }

    /// What a person answered: whoever works on it next is to know what they said.
    fn answered(&mut self, stage: &str, unit: Option<String>, option: &str, text: &str, who: &str) {
        if stage == stage::PLAN_GRANT && option == "deny" {
            self.denied = Some(format!("It was denied by {who}. {text}").trim_end().to_owned());
        }
        if let Some(unit) = unit.filter(|_| !text.is_empty()) {
            let tale = self.tales.entry(unit).or_default();
            tale.answers.push(format!("{who} looked at it ({option}): {text}"));
        }
    }

    /// What an effect came to.
    fn reported(&mut self, ending: &Ending) {
        let unit = self.flights.remove(&ending.effect);
        for (name, items) in &ending.lists {
            match (name.as_ref(), &unit) {
                ("claims", Some(unit)) => {
                    let tale = self.tales.entry(unit.clone()).or_default();
                    tale.claims = items.iter().map(claim).collect();
                }
                ("issues", Some(unit)) if self.is_fix(unit) => {
                    for item in items {
                        let detail = item.facts.get("detail").map(ToString::to_string);
                        let detail = detail.map_or(String::new(), |detail| format!(": {detail}"));
                        self.found(unit, format!("its validator found: {}{detail}", item.title));
                    }
                }
                ("overrides", None) => self.overridden(items),
                ("landed", None) => self.found_otherwise(items, false),
                ("given_up", None) => self.found_otherwise(items, true),
                ("gone", None) => items.iter().for_each(|item| self.taken_back(item)),
                ("issues", _) => {
                    for item in items {
                        let detail = item.facts.get("detail").map(ToString::to_string);
                        self.details.insert(item.id.to_string(), detail.unwrap_or_default());
                    }
                }
                _ => {}
            }
        }
    }

    /// Somebody has taken back what has landed: it is as if it had not.
    fn taken_back(&mut self, item: &Item) {
        let commit = item.facts.get("commit").map(ToString::to_string).unwrap_or_default();
        let own = self.progress.entry(item.id.to_string()).or_default();
        own.status = Status::Failed;
        own.commit = None;
        let given_up = self.waits.contains(&*item.id);
        let why = if given_up { reason::GIVEN_UP } else { reason::TAKEN_BACK };
        own.reason = Some(why.to_owned());
        self.gone.insert(item.id.to_string(), commit);
        self.dirty = true;
    }

    fn moved(&mut self, moved: &Moved, run: &Run) {
        if let Some(record) = &moved.record {
            *self.decisions.entry(record.to_string()).or_default() += 1;
        }
        let unit = self.frames.get(&moved.frame).cloned();
        if let (Some(unit), Some(record)) = (&unit, &moved.record)
            && let Some(why) = reason::of(record)
        {
            let by_hand = reason::is_by_hand(record);
            let theirs = by_hand.then(|| self.given_reason(unit)).flatten();
            let own = self.progress.entry(unit.clone()).or_default();
            own.by_hand = by_hand;
            own.reason = Some(theirs.unwrap_or_else(|| why.to_owned()));
        }
        self.meet(run);
        if let Some(unit) = &unit {
            // What became a feature is known as one by now; what did not may be found again.
            self.found_now.remove(unit);
        }
        self.refresh(moved.frame, run);
        if !moved.add.is_empty() {
            // Some that had settled may be pending again.
            run.units().for_each(|view| self.stands(&view, run));
        }
    }

    /// Units that have come since.
    fn meet(&mut self, run: &Run) {
        let total = run.tally().total;
        for at in self.known..total {
            let Some(view) = run.unit_at(UnitIx(at)) else { break };
            self.known = at + 1;
            self.stands(&view, run);
            let id = view.id.to_string();
            let Some(origin) = view.origin.filter(|_| self.feature(&id).is_none()) else {
                continue;
            };
            let detail = self.details.remove(&id).filter(|it| !it.is_empty());
            let mut more = BTreeMap::new();
            more.extend(detail.map(|detail| ("detail".to_owned(), detail.into())));
            self.fixes.push(Feature {
                claims: vec![format!("This does not occur any more: {}", view.title)],
                title: view.title.to_string(),
                depends: vec![origin.to_string()],
                origin: Some(origin.to_string()),
                more,
                id,
                ..Feature::default()
            });
        }
    }

    fn refresh(&mut self, frame: FrameId, run: &Run) {
        let view = self.frames.get(&frame).and_then(|id| run.unit_named(id));
        if let Some(view) = view {
            self.stands(&view, run);
        }
    }

    /// A feature is no longer built where it was.
    fn leave_lane(&mut self, unit: &str) {
        self.moved.extend(self.lanes.remove(unit).map(|_| unit.to_owned()));
    }

    /// Where a feature stands by now.
    fn stands(&mut self, view: &UnitView, run: &Run) {
        let stage = view.stage.map(|stage| run.workflow().stage(stage).name.as_str());
        let status = match view.status {
            UnitStatus::Pending | UnitStatus::Settled(Settled::Unfinished) => Status::Pending,
            UnitStatus::Started if stage.is_some_and(|it| stage::JUDGED.contains(&it)) => {
                Status::Validating
            }
            UnitStatus::Started => Status::InProgress,
            UnitStatus::Settled(Settled::Done)
                if self.gone.contains_key(&*view.id) || self.broken.contains_key(&*view.id) =>
            {
                Status::Failed
            }
            UnitStatus::Settled(Settled::Done) => Status::Passed,
            UnitStatus::Settled(Settled::Failed) => Status::Failed,
            UnitStatus::Settled(Settled::Skipped) => Status::Skipped,
            UnitStatus::Settled(Settled::Blocked) => Status::Blocked,
        };
        let before = self.progress.get(&*view.id).map(|own| &own.status);
        let tried_again = self.wanted.get(&*view.id) == Some(&Status::Pending);
        if before != Some(&status) && (status.is_settled() || tried_again) {
            self.wanted.remove(&*view.id);
        }
        if !matches!(view.status, UnitStatus::Started) {
            self.leave_lane(&view.id);
        }
        let own = self.progress.entry(view.id.to_string()).or_default();
        let tried =
            |it: &Status| !it.is_settled() && !matches!(it, Status::Failed | Status::Blocked);
        if !tried(&own.status) && own.status != Status::Passed && tried(&status) {
            (own.reason, own.by_hand) = (None, false);
        }
        self.dirty |= own.status != status;
        own.status = status;
    }
}

/// As much of something that was said as is left to the next mission.
pub(super) fn beginning(text: &str) -> String {
    match text.len() <= LEFT_BYTES {
        true => text.to_owned(),
        false => format!("{} […]", &text[..text.floor_char_boundary(LEFT_BYTES)]),
    }
}

fn claim(item: &Item) -> (String, (String, String)) {
    let fact = |name: &str| match item.facts.get(name) {
        Some(Value::Text(text)) => text.to_string(),
        _ => String::new(),
    };
    (item.id.to_string(), (fact("holds"), fact("evidence")))
}

/// A title without what does not change its meaning.
pub fn normal(title: &str) -> String {
    let plain: String = title
        .chars()
        .map(|c| if c.is_alphanumeric() { c.to_lowercase().next().unwrap_or(c) } else { ' ' })
        .collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
