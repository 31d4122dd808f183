//! The story of a mission: features on several lanes at once. One needs a second attempt, two write the same file and are
//! made one by a resolver, two break the check only together, one has an issue that becomes a feature; what is ready
//! meanwhile lands in trains. Which of two comes first is nobody's to say, so what is looked at is what must hold however
//! it went.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::beside::Over;
use crate::copies::{Told, landing};
use crate::place::{Place, Tale};
use crate::results::digest;

/// Where the queue is, and what the roles noted.
const QUEUE: &str = ".harness/features.json";
const RAW: &str = ".harness/memory/raw.md";
const LONG: &str = ".harness/memory/MEMORY.md";

/// What a validator finds that no feature claims, and the feature that becomes of it.
const ISSUE: &str = "No full stop";
const FIX: &str = "F-FIX-Z-1";

/// How many lanes it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// Four, and most features depend on others.
    Four,
    /// Eight, and hardly any does: all of them are under way nearly all the time.
    Eight,
}

impl Width {
    pub fn lanes(self) -> usize {
        match self {
            Width::Four => 4,
            Width::Eight => 8,
        }
    }

    /// The features, each with what it depends on.
    fn features(self) -> &'static [(&'static str, &'static [&'static str])] {
        match self {
            Width::Four => &[
                ("F-W", &[]),
                ("F-X", &[]),
                ("F-Y", &[]),
                ("F-Z", &[]),
                ("F-ONE", &["F-W"]),
                ("F-TWO", &["F-W"]),
                ("F-BAD", &["F-X"]),
                ("F-LATE", &["F-ONE", "F-TWO"]),
            ],
            Width::Eight => &[
                ("F-W", &[]),
                ("F-X", &[]),
                ("F-Y", &[]),
                ("F-Z", &[]),
                ("F-ONE", &[]),
                ("F-TWO", &[]),
                ("F-BAD", &[]),
                ("F-B", &[]),
                ("F-C", &["F-W"]),
                ("F-D", &["F-Z"]),
                ("F-E", &[]),
                ("F-LATE", &["F-ONE", "F-TWO"]),
            ],
        }
    }

    /// How it is begun, and gone on with.
    pub fn start(self) -> [&'static str; 6] {
        let lanes = match self {
            Width::Four => "4",
            Width::Eight => "8",
        };
        ["mission", "--json", "--step", "smoke", "--lanes", lanes]
    }

    /// Writes what a person has planned.
    pub fn plan(self, repo: &Path) {
        let features = self.features().iter().map(|(id, depends)| {
            json!({ "id": id, "title": format!("Build {id}"), "claims": [claim(id)], "depends": depends })
        });
        let features: Vec<Value> = features.collect();
        fs::create_dir_all(repo.join(".harness")).unwrap();
        fs::write(repo.join(QUEUE), json!({ "features": features }).to_string()).unwrap();
        // One of them is tried out by Windlass itself.
        let contract = "- VAL-W-001: `w.txt` is there\n  command: `test -e w.txt`\n";
        fs::write(repo.join(".harness/validation-contract.md"), contract).unwrap();
    }

    /// What is to land: each feature, and what became of the issue.
    fn titles(self) -> BTreeMap<String, String> {
        let planned =
            self.features().iter().map(|(id, _)| ((*id).to_owned(), format!("Build {id}")));
        planned.chain([(FIX.to_owned(), ISSUE.to_owned())]).collect()
    }
}

/// What a feature claims; what becomes of an issue claims that it is gone.
fn claim(id: &str) -> String {
    match id {
        "F-W" => "VAL-W-001".to_owned(),
        _ => format!("The file of {id} is there"),
    }
}

/// Who works on it. What a second attempt is for depends on who came first; what comes of it does not.
pub const AGENT: &str = r#"
me="$WINDLASS_ROLE/${WINDLASS_UNIT:-none}/$WINDLASS_ATTEMPT"
echo "$me" >> "$here/tally"
id="${WINDLASS_UNIT#F-}"
file="${id,,}.txt"
more=
also=
case "$WINDLASS_ROLE" in
  mission-worker)
    verdict=built
    # Whoever goes away without a word is not to stay.
    [ "$WINDLASS_UNIT" != F-W ] || setsid -f sleep 600 > /dev/null 2>&1 < /dev/null
    also=',"TRICK: Mind the gap."'
    case "$WINDLASS_UNIT:$WINDLASS_ATTEMPT" in
      F-BAD:1) echo bad > "$file" ;;
      F-ONE:1) person "F-ONE F-TWO" ;;
      F-TWO:1) person "F-TWO F-ONE" ;;
      F-[XY]:1) ;;
      F-[XY]:*) echo mended > mended.txt ;;
    esac
    case "$WINDLASS_UNIT:$WINDLASS_ATTEMPT" in
      F-ONE:*|F-TWO:*) share "$id" ;;
      F-BAD:1) ;;
      *) echo "$id" > "$file" ;;
    esac
    ;;
  conflict-resolver)
    verdict=resolved
    join "$id"
    ;;
  validator)
    verdict=pass
    claim="The file of $WINDLASS_UNIT is there"
    case "$WINDLASS_UNIT" in
      F-W) claim=VAL-W-001 ;;
      # Those before it are one train, whichever of them leads: with the other that it does not go together with among the
      # first two, each would land by itself.
      F-Y) person "behind 2" ;;
      F-FIX-*) claim="This does not occur any more: No full stop" ;;
      F-Z) verdict=issues; more=',"issues":[{"id":"i","title":"No full stop","detail":"seen in F-Z"}]' ;;
    esac
    more="$more"',"claims":[{"id":"'"$claim"'","title":"it","holds":"yes","evidence":"looked"}]'
    ;;
  curator)
    verdict=curated
    more=',"summary":"- it is built","long":"Looked through.","promote":[{"role":"worker","text":"Mind the gap.","features":["F-W","F-X"]}]'
    ;;
  *) verdict=nothing ;;
esac
echo '{"verdict":"'"$verdict"'","cost_usd":0.01,"tokens":10,"memory":["note '"$me"'"'"$also"']'"$more"'}'
"#;

/// Red while something is bad, bears the marks of a conflict, or two are together that nobody has made go together.
pub const TEST: &str = "! grep -qsE 'bad|^[<>=]{7}' *.txt || { echo 'something is bad'; exit 1; }\n\
    if [ -e x.txt ] && [ -e y.txt ] && [ ! -e mended.txt ]; then echo 'x and y do not go together'; exit 1; fi\n";

/// A part of every proof of a landing, and of nothing else: the first of them waits until others are ready as well.
pub const MEET: &str = "person queue\n";

/// A mission that is over.
pub struct Flown {
    pub width: Width,
    pub over: Over,
    /// What workers have learned for good.
    pub learned: Value,
}

impl Flown {
    /// What must not be, when so many agents were at work at most when it was cut off.
    pub fn wrong(&self, cut_off: u32) -> Option<String> {
        // Whoever looks through it all is called the same each time.
        let asked_again = self.over.asked_again(self.curators() - 1, cut_off);
        let all = [
            asked_again,
            self.over.unproved(),
            self.landings(),
            self.noted(),
            self.over.left_over(self.width.lanes()),
        ];
        all.into_iter().flatten().next()
    }

    /// One looks through it all after every tenth landing, and one at the end.
    fn curators(&self) -> usize {
        self.width.titles().len() / 10 + 1
    }

    /// Each feature has landed once, says so in the queue's file, and why it was let in.
    fn landings(&self) -> Option<String> {
        let queue: Value =
            serde_json::from_str(&fs::read_to_string(self.over.repo.join(QUEUE)).unwrap())
                .unwrap_or_default();
        let features = queue["features"].as_array().cloned().unwrap_or_default();
        let merged =
            self.over.git(&["log", "--first-parent", "--merges", "--format=%H %s", "main"]);
        let merged = merged.unwrap();
        let merged: Vec<(&str, &str)> =
            merged.lines().filter_map(|line| line.split_once(' ')).collect();
        let titles = self.width.titles();
        if features.len() != titles.len() || merged.len() != titles.len() {
            return Some(format!("landed: {merged:?}, of {features:?}"));
        }
        for (id, title) in &titles {
            let feature = features.iter().find(|it| it["id"] == *id).cloned().unwrap_or_default();
            let commits: Vec<&str> = merged
                .iter()
                .filter(|(_, said)| said == title)
                .map(|(commit, _)| *commit)
                .collect();
            if feature["status"] != "passed"
                || commits.len() != 1
                || feature["commit"] != commits[0]
            {
                return Some(format!("{id} landed as {commits:?}, and its entry says {feature}"));
            }
            if let Err(why) = self.over.git(&["notes", "--ref", "windlass", "show", commits[0]]) {
                return Some(format!("nothing says why {id} was let in: {why}"));
            }
        }
        None
    }

    /// What everybody noted whose work counted is there once, and what was learned for good as well.
    fn noted(&self) -> Option<String> {
        let raw = fs::read_to_string(self.over.repo.join(RAW)).unwrap_or_default();
        let noted: Vec<&str> =
            raw.lines().filter_map(|line| Some(line.split_once(": note ")?.1)).collect();
        let once: BTreeSet<&str> = noted.iter().copied().collect();
        let asked: BTreeSet<&str> = self.over.tally.lines().collect();
        if once != asked || noted.len() != asked.len() + self.curators() - 1 {
            return Some(format!("noted:\n{raw}\nasked: {asked:?}"));
        }
        let long = fs::read_to_string(self.over.repo.join(LONG)).unwrap_or_default();
        // Whoever looks through it says the same, and the same is kept once.
        if long.matches("Looked through.").count() != 1 {
            return Some(format!("kept, not once:\n{long}"));
        }
        let learned = self.learned["lines"].as_array().cloned().unwrap_or_default();
        (learned.len() != 1).then(|| format!("learned for good, not once: {}", self.learned))
    }
}

/// The queue as its file has it: each feature and what has become of it.
pub fn standing(repo: &Path) -> Vec<String> {
    let queue = fs::read_to_string(repo.join(QUEUE)).unwrap_or_default();
    let queue: Value = serde_json::from_str(&queue).unwrap_or_default();
    let features = queue["features"].as_array().cloned().unwrap_or_default();
    let mut all: Vec<String> =
        features.iter().map(|it| format!("{} {}", it["id"], it["status"])).collect();
    all.sort();
    all
}

/// Files in the mission's own directory that are nobody's: set aside, or half written.
pub fn stray(repo: &Path) -> String {
    let mut stray = BTreeSet::new();
    let mut dirs = vec![repo.join(".harness")];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.contains("aside") || name.starts_with(".windlass") {
                stray.insert(name);
            } else if entry.file_type().unwrap().is_dir() {
                dirs.push(entry.path());
            }
        }
    }
    format!("{stray:?}")
}

const TALE: Tale = Tale::Mission(Width::Four);

/// How often a journal has a note.
fn notes(entries: &[Value], fits: impl Fn(&Value) -> bool) -> usize {
    entries.iter().filter(|entry| fits(entry)).count()
}

mod slow {
    use super::*;

    #[test]
    fn the_story_has_everything_in_it() {
        for width in [Width::Four, Width::Eight] {
            let dir = tempfile::tempdir().unwrap();
            let place = Place::new(Tale::Mission(width), &dir.path().join("place"));
            place.finish().unwrap();
            assert_eq!(place.compare(&place.seen(), 0), None);
            let (over, entries) = (place.over(), place.entries());
            let asked = |who: &str| over.tally.lines().any(|line| line == who);
            assert!(asked("mission-worker/F-BAD/2"), "a retry: {}", over.tally);
            assert!(over.tally.contains("conflict-resolver/F-"), "a conflict: {}", over.tally);
            assert!(asked(&format!("mission-worker/{FIX}/1")), "an issue: {}", over.tally);
            let cars = |note: &Value| note["cars"].as_array().map_or(0, Vec::len);
            assert!(notes(&entries, |note| cars(note) > 1) > 0, "what is ready lands together");
            let red = |note: &Value| {
                note["note"] == "proved"
                    && note["came"] == "fail"
                    && note["units"].as_array().unwrap().len() > 1
            };
            assert!(notes(&entries, red) > 0, "a train that is red, and cut into halves");
            let turned = |came: &str| {
                notes(&entries, |note| note["note"] == "turned" && note["came"] == came)
            };
            assert!(turned("fail") > 0 && turned("conflict") > 0, "{}", over.tally);
            assert!(
                asked("mission-worker/F-X/2") != asked("mission-worker/F-Y/2"),
                "{}",
                over.tally
            );
            let busy = entries.iter().scan(0, |busy, entry| {
                *busy += i32::from(entry["event"] == "unit_started");
                *busy -= i32::from(entry["note"] == "landed");
                Some(*busy)
            });
            assert_eq!(busy.max(), i32::try_from(width.lanes()).ok(), "every lane is in use");
        }
    }

    /// Points have no numbers that would be the same next time: what is picked is picked by name. And one of them is where
    /// a train has landed, and nobody knows it yet.
    #[test]
    fn a_sample_of_the_copies_of_a_mission_comes_to_the_same() {
        let landed = landing(2);
        let seeded = |name: &str| digest(name.as_bytes()).is_multiple_of(150);
        Told::cut_off(TALE, |point| seeded(&point.name_in(TALE)) || landed(point), 5);
    }

    /// When it is over and its files are not written yet: what it has landed is not landed again.
    #[test]
    fn cut_off_at_its_very_end_a_mission_still_writes_its_files() {
        let ends = Cell::new(false);
        Told::cut_off(
            TALE,
            |point| {
                ends.set(ends.get() || point.thread == "role final_document");
                ends.get()
                    && point.thread == "main"
                    && point.step == "commit"
                    && point.side == "after"
            },
            2,
        );
    }
}
