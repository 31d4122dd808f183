//! What is foreseen of lanes that change the same: whenever a unit's lane holds something new, its change is merged in
//! memory with that of every other unit under way. What would not go together is written down, shown, and by policy told
//! to whoever works in the lane that began later, or has that lane wait.
//!
//! It is looked at on a thread of its own, from what the journal already has: the loop never waits for it, and whoever
//! takes a run up sees the same again. Foresight may err and fail; what lands is held against the branch all the same.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

use serde::{Deserialize, Serialize};
use windlass_core::run::{EffectId, EffectKind, FrameId, Run};
use windlass_core::workflow::ScopeIx;
use windlass_repo::Oid;

use crate::books::Books;
use crate::clock::wall_ms;
use crate::entry::Note;
use crate::message::Paper;
use crate::shop::Shop;

/// So many files of a pair are named.
const FILES_NAMED: usize = 20;

/// What is done about a conflict that is foreseen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// It is shown.
    Show,
    /// Whoever works in the later lane is told, too.
    #[default]
    Tell,
    /// The later lane waits until the earlier one has landed or is given up.
    Serialise,
}

/// What two units would not agree about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Foreseen {
    /// The files.
    pub files: Vec<String>,
    /// Since when, in milliseconds since 1970.
    pub since: i64,
}

/// A unit under way that has changed something.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Standing {
    unit: String,
    /// Scopes are numbered as they are opened: who began earlier has a lower one.
    frame: FrameId,
    base: Oid,
    held: Oid,
}

/// The units under way that have changed something, the earliest first. What it takes grows with what is under way alone.
fn standings(run: &Run, books: &Books) -> Vec<Standing> {
    let open = run.frames().filter(|frame| frame.scope == ScopeIx::UNIT);
    let mut found: Vec<Standing> = open
        .filter_map(|frame| {
            let unit = frame.unit?;
            if run.unit_named(&unit)?.landed {
                return None;
            }
            let oid = |text: Option<&str>| Oid::parse(text?).ok();
            let (base, held) = (oid(books.base(Some(&unit)))?, oid(books.held(Some(&unit)))?);
            let (unit, frame) = (unit.to_string(), frame.id);
            (base != held).then_some(Standing { unit, frame, base, held })
        })
        .collect();
    found.sort_by_key(|it| it.frame);
    found
}

/// Role invocations that have to wait where conflicts are serialised, each with the earlier unit that it waits for. Only
/// who began later waits, and only while the earlier one goes on by itself: so nobody waits for anybody who waits for a
/// person, and the earliest of all never waits.
pub(crate) fn held_back(run: &Run, books: &Books) -> BTreeMap<EffectId, (String, String)> {
    if books.all_foreseen().next().is_none() {
        return BTreeMap::new();
    }
    let wanted = || run.wanted().filter_map(|id| Some((id, run.want(id)?)));
    let at_work: BTreeSet<Arc<str>> = wanted().filter_map(|(_, effect)| effect.unit).collect();
    let behind = |unit: &str| {
        let own = books.foreseen(run).filter(|(_, later, _)| *later == unit);
        own.map(|(earlier, _, _)| earlier).find(|earlier| at_work.contains(*earlier))
    };
    let held = wanted().filter_map(|(id, effect)| {
        let unit = effect.unit.filter(|_| matches!(effect.kind, EffectKind::Invoke { .. }))?;
        Some((id, (unit.to_string(), behind(&unit)?.to_owned())))
    });
    held.collect()
}

/// What whoever works on a unit is told of others that change the same; nothing if nobody does.
pub fn told(unit: &str, run: &Run, books: &Books) -> Option<String> {
    let pairs: Vec<_> = books.foreseen(run).filter(|(_, later, _)| *later == unit).collect();
    if pairs.is_empty() {
        return None;
    }
    let mut text = String::from(
        "Others are at work on the same project just now, each in a lane of its own. As things stand, your change and \
         theirs could not be merged:\n\n",
    );
    for (earlier, _, it) in pairs {
        let title = run.unit_named(earlier).map(|unit| unit.title);
        let intent = title.as_deref().unwrap_or(earlier);
        text.push_str(&format!(
            "- {earlier} changes {}; its intent: {intent}\n",
            it.files.join(", ")
        ));
    }
    text.push_str(
        "\nThey began before you and most likely land first. Keep your change mergeable: touch as little of those files as \
         you can, leave what you need not change as it is, and put what is new into places of its own.\n",
    );
    Some(text)
}

/// Looks ahead, on a thread of its own.
#[derive(Default)]
pub(crate) struct Foresight {
    last: Vec<Standing>,
    watch: OnceLock<Watch>,
}

struct Watch {
    rounds: Sender<Vec<Standing>>,
    leaves: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Foresight {
    /// Has what is under way looked at, unless it is as it was.
    pub fn look(&mut self, shop: &Arc<Shop>, run: &Run, books: &Books) {
        let now = standings(run, books);
        if now == self.last {
            return;
        }
        self.last.clone_from(&now);
        // Where nobody is beside anybody there is nothing to foresee, and no thread for it.
        if self.watch.get().is_none() && now.len() < 2 && books.all_foreseen().next().is_none() {
            return;
        }
        let watch = self.watch.get_or_init(|| Watch::new(shop.clone(), books));
        // A thread that is gone has left nothing behind that anybody needs.
        let _ = watch.rounds.send(now);
    }

    /// Lets go of the thread, once it is at the end of what it tries.
    pub fn down(&mut self) {
        if let Some(Watch { rounds, leaves, thread }) = self.watch.take() {
            leaves.store(true, Ordering::Relaxed);
            drop(rounds);
            let _ = thread.join();
        }
    }
}

impl Watch {
    fn new(shop: Arc<Shop>, books: &Books) -> Self {
        let (rounds, inbox) = channel();
        let leaves = Arc::new(AtomicBool::new(false));
        let open = books.all_foreseen();
        let open = open.map(|(one, other, it)| ((one.to_owned(), other.to_owned()), it.clone()));
        let mut watcher = Watcher { open: open.collect(), ..Watcher::default() };
        let own = leaves.clone();
        let thread = std::thread::spawn(move || watcher.watch(&shop, &inbox, &own));
        Watch { rounds, leaves, thread }
    }
}

/// What the thread knows.
#[derive(Default)]
struct Watcher {
    /// What is on record, or about to be.
    open: BTreeMap<(String, String), Foreseen>,
    /// The paths that each unit changes, for what it holds.
    paths: BTreeMap<String, (Standing, BTreeSet<PathBuf>)>,
    /// What came of each pair, for what both hold.
    tried: BTreeMap<(Oid, Oid), Vec<String>>,
}

impl Watcher {
    fn watch(&mut self, shop: &Shop, inbox: &Receiver<Vec<Standing>>, leaves: &AtomicBool) {
        while let Ok(round) = inbox.recv() {
            // Only how it is now counts.
            let round = inbox.try_iter().last().unwrap_or(round);
            let notes = self.round(shop, &round, leaves);
            if !notes.is_empty() {
                let mut paper = Paper::default();
                paper.notes.extend(notes);
                shop.post(paper);
            }
        }
    }

    /// Looks at every pair, and says what is new about them.
    fn round(&mut self, shop: &Shop, round: &[Standing], leaves: &AtomicBool) -> Vec<Note> {
        self.look_at_paths(shop, round);
        let mut now = BTreeMap::new();
        let mut tried = BTreeMap::new();
        for (at, earlier) in round.iter().enumerate() {
            for later in &round[at + 1..] {
                if leaves.load(Ordering::Relaxed) {
                    return Vec::new();
                }
                let pair = (earlier.unit.clone(), later.unit.clone());
                let found = self.files(shop, earlier, later);
                let both = (earlier.held.clone(), later.held.clone());
                tried.extend(found.clone().map(|files| (both, files)));
                // Where it could not be found out, it is as it was.
                let before = || self.open.get(&pair).map(|it| it.files.clone());
                let files = found.or_else(before).unwrap_or_default();
                if !files.is_empty() {
                    now.insert(pair, files);
                }
            }
        }
        self.tried = tried;
        self.news(now)
    }

    fn news(&mut self, now: BTreeMap<(String, String), Vec<String>>) -> Vec<Note> {
        let mut notes = Vec::new();
        let over = self.open.keys().filter(|pair| !now.contains_key(*pair));
        notes.extend(over.map(|(earlier, later)| Note::ForeseenOver {
            earlier: earlier.clone(),
            later: later.clone(),
        }));
        let mut open = BTreeMap::new();
        for ((earlier, later), files) in now {
            let pair = (earlier, later);
            let before = self.open.get(&pair);
            let since = before.map_or_else(wall_ms, |it| it.since);
            if before.is_none_or(|it| it.files != files) {
                let ((earlier, later), files) = (pair.clone(), files.clone());
                notes.push(Note::Foreseen { earlier, later, files, since });
            }
            open.insert(pair, Foreseen { files, since });
        }
        self.open = open;
        notes
    }

    /// The paths of who is new or holds something else; those of who has gone are forgotten.
    fn look_at_paths(&mut self, shop: &Shop, round: &[Standing]) {
        let mut paths = BTreeMap::new();
        for standing in round {
            let known = self.paths.remove(&standing.unit).filter(|(of, _)| of == standing);
            let found = known.map(|(_, paths)| paths).or_else(|| {
                let changes = shop.store.changes(&standing.base, &standing.held).ok()?;
                Some(changes.into_iter().map(|change| change.path).collect())
            });
            if let Some(found) = found {
                paths.insert(standing.unit.clone(), (standing.clone(), found));
            }
        }
        self.paths = paths;
    }

    /// The files in which two would not go together. Nothing if that could not be found out.
    fn files(&self, shop: &Shop, earlier: &Standing, later: &Standing) -> Option<Vec<String>> {
        let (_, one) = self.paths.get(&earlier.unit)?;
        let (_, other) = self.paths.get(&later.unit)?;
        if !overlap(one, other) {
            return Some(Vec::new());
        }
        if let Some(known) = self.tried.get(&(earlier.held.clone(), later.held.clone())) {
            return Some(known.clone());
        }
        let found = shop.store.would_conflict(&earlier.held, &later.held).ok()?;
        // Where one stands on what has landed since the other began, that alone is no matter between the two.
        let of = |paths: &BTreeSet<PathBuf>, path: &Path| touches(paths, path);
        let both = found.into_iter().filter(|path| of(one, path) && of(other, path));
        Some(both.take(FILES_NAMED).map(|path| path.display().to_string()).collect())
    }
}

/// Whether two sets of paths have one in common, or one that would be below another.
fn overlap(one: &BTreeSet<PathBuf>, other: &BTreeSet<PathBuf>) -> bool {
    one.iter().any(|path| touches(other, path))
}

/// Whether a set has a path, one above it or one below it.
fn touches(paths: &BTreeSet<PathBuf>, path: &Path) -> bool {
    let above = || path.ancestors().any(|above| paths.contains(above));
    let below = || paths.range(path.to_owned()..).next().is_some_and(|it| it.starts_with(path));
    above() || below()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(paths: &[&str]) -> BTreeSet<PathBuf> {
        paths.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn paths_overlap_where_they_are_the_same_or_one_is_below_the_other() {
        let one = set(&["src/a.rs", "docs/x/y.md", "b"]);
        for (other, meets) in [
            (&["src/a.rs"][..], true),
            (&["src/b.rs", "src"][..], true),
            (&["docs/x"][..], true),
            (&["b/c"][..], true),
            (&["src/a", "docs/x/y.md.bak", "c"][..], false),
            (&[][..], false),
        ] {
            assert_eq!(overlap(&one, &set(other)), meets, "{other:?}");
            assert_eq!(overlap(&set(other), &one), meets, "{other:?}");
        }
    }

    #[test]
    fn a_pair_is_told_of_once_again_when_its_files_are_others_and_when_it_is_over() {
        let mut watcher = Watcher::default();
        let pair = || ("a".to_owned(), "b".to_owned());
        let with = |files: &[&str]| {
            let files = files.iter().map(|&file| file.to_owned()).collect();
            BTreeMap::from([(pair(), files)])
        };
        let first = watcher.news(with(&["x"]));
        let [Note::Foreseen { since, .. }] = &first[..] else { panic!("{first:?}") };
        assert_eq!(watcher.news(with(&["x"])), [], "nothing is new");
        let again = watcher.news(with(&["x", "y"]));
        let [Note::Foreseen { since: same, files, .. }] = &again[..] else { panic!("{again:?}") };
        assert_eq!((same, files.len()), (since, 2));
        let over = watcher.news(BTreeMap::new());
        let (earlier, later) = pair();
        assert_eq!(over, [Note::ForeseenOver { earlier, later }]);
        assert_eq!(watcher.news(BTreeMap::new()), []);
    }
}
