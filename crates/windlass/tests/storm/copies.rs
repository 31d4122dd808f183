//! The story is told once. Before and after each append to the journal and each call of git it stands still, and
//! everything is copied. Then each copy is taken up as if the machine had been switched off there.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::autofix::Moment;
use crate::imprint;
use crate::place::{Place, Seen, Tale, ended};
use crate::results::{Results, digest};
use crate::{Dice, part};

/// A place where the story stood still.
#[derive(Clone, Debug)]
pub struct Point {
    /// Which, counted from 0.
    pub number: usize,
    /// Which of the programs that tell the story passed it.
    program: String,
    /// The effect's kind and stage; the loop's own thread is `main`.
    pub thread: String,
    /// The unit that the effect is for, if for any.
    pub unit: String,
    pub step: String,
    pub side: String,
    /// The how-manieth of its kind it is, from 1.
    nth: usize,
}

impl Point {
    /// Who tries it, of so many. Points that follow one another go to the same, who may find that they are one; and where
    /// who comes before whom is another matter each time, a point is always the same one's.
    fn part(&self, tale: Tale, parts: usize) -> usize {
        const TOGETHER: usize = 32;
        let Point { number, thread, unit, nth, .. } = self;
        match tale.is_parallel() {
            false => number / TOGETHER % parts,
            true => {
                let block = if thread == "main" { nth / TOGETHER } else { 0 };
                (digest(format!("{thread} {unit}").as_bytes()) as usize + block) % parts
            }
        }
    }

    pub fn name(&self) -> String {
        let Point { number, program, thread, step, side, .. } = self;
        format!("{number} {program}: {thread}: {step} {side}")
    }

    /// What it is called in a story. Where several are at work beside each other, who comes before whom is another matter
    /// each time: so it is counted among its own kind alone.
    pub fn name_in(&self, tale: Tale) -> String {
        let Point { thread, unit, step, side, nth, .. } = self;
        match tale.is_parallel() {
            true => format!("{thread} {unit}: {step} {side} {nth}"),
            false => self.name(),
        }
    }
}

/// The story, told once, with copies of some of its points.
pub struct Told {
    dir: TempDir,
    pub points: Vec<Point>,
    pub seen: Seen,
    /// How it stood before each commit and after each program, if that is what it is about.
    pub moments: Vec<Moment>,
    /// How many there were of each kind of point.
    kinds: BTreeMap<[String; 4], usize>,
    /// The copy that there is of what was on the disk.
    copies: BTreeMap<[u8; blake3::OUT_LEN], usize>,
    /// So many at most.
    most: usize,
    /// The points at which the same was on the disk as at one that was copied.
    twins: BTreeMap<usize, Vec<usize>>,
}

impl Told {
    /// Tells it, and copies the points that are asked for.
    pub fn new(tale: Tale, copied: impl Fn(&Point) -> bool) -> Told {
        Told::at_most(usize::MAX, tale, copied)
    }

    /// The same, until there are so many copies.
    fn at_most(most: usize, tale: Tale, copied: impl Fn(&Point) -> bool) -> Told {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::new(tale, &dir.path().join("place"));
        let mut told = Told {
            dir,
            points: Vec::new(),
            seen: Seen::default(),
            moments: Vec::new(),
            kinds: BTreeMap::new(),
            copies: BTreeMap::new(),
            most,
            twins: BTreeMap::new(),
        };
        // Whoever approved a change is asked again when it had to be rebuilt on a new base.
        let mut code = told.program(&place, "run", &mut place.start(), &copied);
        for round in 1.. {
            if code == Some(0) {
                break;
            }
            let mut answer = place.answer().unwrap();
            let answered = told.program(&place, &format!("answer {round}"), &mut answer, &copied);
            assert_eq!(answered, Some(0));
            let mut resume = place.windlass(&["resume"]);
            code = told.program(&place, &format!("resume {round}"), &mut resume, &copied);
        }
        told.seen = place.seen();
        told
    }

    /// Tells it, and takes it up at the points that are asked for, of which there must be so many: it comes to the same.
    pub fn cut_off(tale: Tale, at: impl Fn(&Point) -> bool, least: usize) {
        let told = Told::new(tale, at);
        let copied: Vec<&Point> = told.points.iter().filter(|point| told.copied(point)).collect();
        assert!(copied.len() >= least, "{} of {}", copied.len(), told.points.len());
        for point in copied {
            assert_eq!(told.take_up(point).0, None, "{}", point.name_in(tale));
        }
    }

    fn place(&self) -> PathBuf {
        self.dir.path().join("place")
    }

    fn copy(&self, number: usize) -> PathBuf {
        self.dir.path().join(format!("at-{number}"))
    }

    /// Whether there is a copy of this point.
    pub fn copied(&self, point: &Point) -> bool {
        self.copy(point.number).exists()
    }

    /// Copies a point, unless there is a copy of the very same: whoever is switched off finds nothing again but what is on
    /// the disk, so two points at which that is the same are one.
    fn keep(&mut self, place: &Place, number: usize) {
        let (from, to) = (self.place(), self.copy(number));
        let copies = &self.copies;
        let (hash, first) = place.frozen(|| {
            let hash = *imprint::of(&from).as_bytes();
            let first = copies.get(&hash).copied();
            if first.is_none() {
                copy(&from, &to);
            }
            (hash, first)
        });
        match first {
            Some(first) => self.twins.entry(first).or_default().push(number),
            None => drop(self.copies.insert(hash, number)),
        }
    }

    /// A point that was copied, and all those at which the same was on the disk.
    fn with_twins<'a>(&'a self, point: &'a Point) -> impl Iterator<Item = &'a Point> {
        let twins = self.twins.get(&point.number).into_iter().flatten();
        std::iter::once(point).chain(twins.map(|number| &self.points[*number]))
    }

    fn program(
        &mut self,
        place: &Place,
        program: &str,
        command: &mut Command,
        copied: &impl Fn(&Point) -> bool,
    ) -> Option<i32> {
        let socket = self.dir.path().join("socket");
        let ended = stopping(command, &socket, |thread, step, side| {
            let number = self.points.len();
            let program = program.to_owned();
            let (thread, unit) = thread.split_once(" · ").unwrap_or((&thread, ""));
            let (thread, unit) = (thread.to_owned(), unit.to_owned());
            let kind = [&thread, &unit, &step, &side].map(String::clone);
            let nth = self.kinds.entry(kind).or_default();
            *nth += 1;
            let nth = *nth;
            let point = Point { number, program, thread, unit, step, side, nth };
            if self.copies.len() < self.most && copied(&point) {
                self.keep(place, number);
            }
            // What was committed last is in the files by now.
            if point.thread == "main" && point.step == "commit" && point.side == "before" {
                self.moments.extend(place.moment());
            }
            self.points.push(point);
        });
        let (code, said) = (place.ends(ended.0), ended.1);
        self.moments.extend(place.moment());
        assert!(matches!(code, Some(0 | 8)), "{program}: {code:?} {said}");
        code
    }

    /// Takes the copy of a point up, and says what was wrong with how it went on, and which entries the journal had.
    pub fn take_up(&self, point: &Point) -> (Option<String>, usize) {
        self.take_up_with(point, None)
    }

    /// The same, when no more agents than these may be asked once more; else those that were at work.
    fn take_up_with(&self, point: &Point, again: Option<u32>) -> (Option<String>, usize) {
        fs::remove_dir_all(self.place()).unwrap();
        fs::rename(self.copy(point.number), self.place()).unwrap();
        let place = Place::put_back(&self.place());
        let entries = place.entries();
        let again = again.unwrap_or_else(|| under_way(&entries));
        let entries = entries.len();
        let wrong = match place.finish() {
            Err(why) => Some(why),
            Ok(()) => place.compare(&self.seen, again),
        };
        (wrong, entries)
    }
}

/// Runs a command and stands still at each of its failpoints: what is done then is told their thread, step and side.
pub fn stopping(
    command: &mut Command,
    socket: &Path,
    mut at: impl FnMut(String, String, String),
) -> (Option<i32>, String) {
    let listener = UnixListener::bind(socket).unwrap();
    let child = command.env("WINDLASS_FAILPOINTS", socket).spawn().unwrap();
    let (stream, _) = listener.accept().unwrap();
    let mut lines = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    while lines.read_line(&mut line).unwrap() > 0 {
        let mut words = line.trim_end().split('\t').map(str::to_owned);
        let mut word = || words.next().unwrap_or_default();
        at(word(), word(), word());
        line.clear();
        // It may have ended by itself meanwhile.
        let _ = (&stream).write_all(b"\n");
    }
    fs::remove_file(socket).unwrap();
    ended(child.wait_with_output().unwrap())
}

/// Where the so-manieth landing has moved the branch, and nobody knows it yet.
pub fn landing(which: usize) -> impl Fn(&Point) -> bool {
    let moves = Cell::new(0);
    move |point| {
        let moved = point.step == "land.update-ref" && point.side == "after";
        moves.set(moves.get() + usize::from(moved));
        moved && moves.get() == which
    }
}

/// How many effects are wanted and have not reported.
pub fn under_way(entries: &[Value]) -> u32 {
    let of = |kind: &str| entries.iter().filter(|entry| entry["event"] == kind).count();
    u32::try_from(of("wanted").saturating_sub(of("reported"))).unwrap()
}

fn copy(from: &Path, to: &Path) {
    let status = Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap();
    assert!(status.success());
}

/// The effects of the definition: what they are and which stage they belong to, in its order.
fn effects() -> Vec<Option<(String, String)>> {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/storm.toml");
    let text = fs::read_to_string(fixture).unwrap();
    let mut effects = Vec::new();
    for part in text.split("\nstage").skip(1) {
        let word = |line: &str| line.split('"').nth(1).map(str::to_owned);
        let stage = word(part).unwrap();
        let kinds = ["role", "checks", "read", "save", "land", "tell"];
        let kind = kinds
            .into_iter()
            .find(|kind| part.lines().any(|line| line.split_whitespace().next() == Some(kind)));
        effects.push(kind.map(|kind| (kind.to_owned(), stage)));
    }
    effects
}

/// What a point of the loop's own covers: after the commit that wants an effect, it is known and has not begun; before
/// the commit that has its report, it is done and nobody knows it.
fn covers(point: &Point, whole: &[Value], entries: usize) -> Option<String> {
    let (event, at) = match (point.step.as_str(), point.side.as_str()) {
        ("commit", "after") => {
            ("wanted", whole[..entries].iter().rposition(|entry| !entry["event"].is_null())?)
        }
        ("commit", "before") => {
            let ahead = whole[entries..].iter().position(|entry| !entry["event"].is_null())?;
            ("reported", entries + ahead)
        }
        _ => return None,
    };
    if whole[at]["event"] != event {
        return None;
    }
    let effect = &whole[at]["effect"];
    let wanted = whole.iter().position(|it| it["event"] == "wanted" && it["effect"] == *effect)?;
    let frame = &whole[wanted]["frame"];
    // The stage that an effect belongs to is the one that its frame had entered last.
    let entered = |it: &&Value| it["event"] == "entered" && it["frame"] == *frame;
    let stage = whole[..wanted].iter().rfind(entered)?["stage"].as_u64()?;
    let (kind, stage) = effects()[usize::try_from(stage).unwrap()].clone()?;
    Some(format!("{kind} {stage} {}", point.side))
}

#[test]
fn the_story_of_autopilot_has_everything_in_it() {
    let told = Told::new(Tale::Spec, |_| false);
    let tally = &told.seen.tally;
    assert_eq!(tally["task-executor 1 1 2"], 1, "a retry");
    assert_eq!(tally["conflict-resolver 2  1"], 1, "a conflict");
    assert_eq!(tally["task-executor 2 r1-b1 1"], 1, "a finding that is mended: {tally:?}");
    assert_eq!(tally["code-reviewer   2"], 1, "a final review that is mended");
    let decisions = told.seen.decisions.join("\n");
    for decision in ["checkpoint_verified", "approved_plan", "review_fix"] {
        assert!(decisions.contains(decision), "{decision}: {decisions}");
    }
    let checkout = &told.seen.checkout;
    assert!(checkout["clash.txt"].ends_with("both\n"), "{checkout:?}");
    assert_eq!(checkout[".harness/learnings.md"].matches("bad is not good").count(), 1);
    assert!(told.points.len() > 500, "{} points", told.points.len());
}

#[test]
fn the_story_has_everything_in_it() {
    let told = Told::new(Tale::Tasks, |_| false);
    let decisions = told.seen.decisions.join("\n");
    assert_eq!(
        told.seen.landings.lines().filter(|line| !line.starts_with("The person")).count(),
        6
    );
    assert_eq!(told.seen.tally["worker again 3"], 1, "retries");
    assert_eq!(told.seen.tally["worker broken 2"], 1, "a crash of an agent");
    assert_eq!(told.seen.tally["worker clash 1"], 2, "a conflict that is resolved");
    assert!(decisions.contains("\"event\":\"asked\""), "a gate: {decisions}");
    let checkout = &told.seen.checkout;
    assert!(checkout["clash.txt"].ends_with("both\n"), "{checkout:?}");
    assert!(checkout["notes.md"].ends_with("two, not staged\n"), "{checkout:?}");
    assert!(told.points.len() > 300, "{} points", told.points.len());
}

/// The first point that fits is copied.
fn cut_off_at(fits: impl Fn(&Point) -> bool) -> (Told, Point) {
    let chosen = Cell::new(None);
    let told = Told::new(Tale::Tasks, |point| {
        let here = chosen.get().is_none() && fits(point);
        if here {
            chosen.set(Some(point.number));
        }
        here
    });
    let point = told.points[chosen.get().unwrap()].clone();
    (told, point)
}

#[test]
fn an_agent_whose_answer_is_complete_is_not_asked_again() {
    // What it edited is being recorded: it has answered, and the journal does not know.
    let (told, point) = cut_off_at(|point| point.thread == "role do" && point.step == "record.add");
    assert_eq!(told.take_up_with(&point, Some(0)).0, None);
}

/// The first time that a landing puts files into a lane is when the person's commit is in the way; the second time it
/// has only moved the branch.
fn cut_off_while_being_rebuilt(time: usize) -> Option<String> {
    let times = Cell::new(0);
    let (told, point) = cut_off_at(|point| {
        let here = point.thread == "land land" && point.step == "put.read-tree";
        let here = here && point.side == "after";
        times.set(times.get() + usize::from(here));
        here && times.get() == time
    });
    told.take_up(&point).0
}

#[test]
fn cut_off_while_a_conflict_is_put_into_the_lane_it_is_still_a_conflict() {
    assert_eq!(cut_off_while_being_rebuilt(1), None);
}

#[test]
fn cut_off_while_the_lane_is_put_on_a_moved_base_it_is_not_taken_for_what_was_checked() {
    assert_eq!(cut_off_while_being_rebuilt(2), None);
}

mod slow {
    use super::*;

    #[test]
    fn a_sample_of_the_copies_comes_to_the_same() {
        sample(Tale::Tasks, &Dice::new(0x5707).sample(300, 6));
    }

    #[test]
    fn a_sample_of_the_copies_of_autopilot_comes_to_the_same() {
        sample(Tale::Spec, &Dice::new(0xa070).sample(500, 4));
    }

    fn sample(tale: Tale, picked: &[usize]) {
        let told = Told::new(tale, |point| picked.contains(&point.number));
        for point in told.points.iter().filter(|point| told.copied(point)) {
            let (wrong, _) = told.take_up(point);
            assert_eq!(wrong, None, "{}", point.name());
        }
    }

    /// When the run is over and its files are not written yet.
    #[test]
    fn cut_off_at_its_very_end_autopilot_still_writes_its_files() {
        let commit = |point: &Point| point.name().ends_with("commit after");
        let ends = Told::new(Tale::Spec, |_| false).points.len().saturating_sub(60);
        let told = Told::new(Tale::Spec, |point| point.number > ends && commit(point));
        let last = told.points.iter().filter(|point| told.copied(point));
        let last: Vec<&Point> = last.collect();
        assert!(last.len() >= 2, "the last of the story and what tidies up after it");
        for point in last {
            assert_eq!(told.take_up(point).0, None, "{}", point.name());
        }
    }

    /// Every point, in as many parts as there are processors to do them; so many copies are kept at a time.
    #[test]
    #[ignore = "takes long: scripts/storm"]
    fn every_copy_comes_to_the_same() {
        const AT_ONCE: usize = 200;
        let (part, parts) = part();
        let tale = Tale::asked_for();
        let mut results = Results::open(&format!("{}copies-{part}-of-{parts}", tale.prefix()));
        let mut wrong = Vec::new();
        let mut tried = BTreeSet::new();
        let points = loop {
            let due = |point: &Point| {
                let name = point.name_in(tale);
                let done = match tale.is_parallel() {
                    true => results.has(&name),
                    false => results.has_number(point.number),
                };
                point.part(tale, parts) == part && !done && !tried.contains(&name)
            };
            let told = Told::at_most(AT_ONCE, tale, due);
            let whole = Place::put_back(&told.place()).entries();
            for copied in told.points.iter().filter(|point| told.copied(point)) {
                let (found, entries) = told.take_up(copied);
                for point in told.with_twins(copied) {
                    let covers = match tale {
                        Tale::Tasks => covers(point, &whole, entries).into_iter().collect(),
                        _ => Vec::new(),
                    };
                    let name = point.name_in(tale);
                    results.add(&name, found.as_deref(), &covers);
                    tried.insert(name);
                }
                wrong.extend(found.map(|found| format!("{}: {found}", copied.name_in(tale))));
            }
            if told.copies.len() < AT_ONCE {
                break told.points.len();
            }
        };
        assert_eq!(wrong, Vec::<String>::new());
        assert!(points >= 300, "{points} points");
    }

    /// When all parts are done.
    #[test]
    #[ignore = "looks at what scripts/storm has seen"]
    fn every_effect_was_cut_off_on_either_side() {
        let (_, parts) = part();
        let all: Vec<Results> =
            (0..parts).map(|part| Results::open(&format!("copies-{part}-of-{parts}"))).collect();
        let covered: BTreeSet<&str> = all.iter().flat_map(Results::covers).collect();
        for (kind, stage) in effects().into_iter().flatten() {
            for side in ["before", "after"] {
                let key = format!("{kind} {stage} {side}");
                assert!(covered.contains(key.as_str()), "{key} is not among {covered:?}");
            }
        }
    }
}
