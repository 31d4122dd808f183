//! The story of work on Plans.md: twelve tasks by a team on three lanes. One has a red test first, one a contract with a command
//! of its own, one a review that finds something, one fails at first, two write the same file and are made one by a resolver.
//! Meanwhile a person commits, writes into Plans.md, and marks a thirteenth task as done. Which of two comes first is nobody's to
//! say, so what is looked at is what must hold however it went.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use windlass_sources::sprint::{SprintContract, Standing};

use crate::beside::Over;

pub const PLANS: &str = "Plans.md";
pub const START: [&str; 4] = ["work", "all", "--breezing", "--no-simplify"];

/// So many are at work at a time.
pub const LANES: u32 = 3;

/// Where what is kept of it is, and contracts in it; fixes that were proposed.
const STATE: &str = ".claude";
const CONTRACTS: &str = ".claude/state/contracts";
const PROPOSALS: &str = ".claude/state/pending-fix-proposals.jsonl";

/// The tasks, each with what it depends on.
const TASKS: [(&str, &str); 12] = [
    ("1", "-"),
    ("2", "-"),
    ("3", "-"),
    ("4", "1"),
    ("5", "2"),
    ("6", "2"),
    ("7", "3"),
    ("8", "4"),
    ("9", "5, 6"),
    ("10", "7"),
    ("11", "8"),
    ("12", "9, 10"),
];

/// The one with a test of its own, and what says when the one with a command is done.
const TESTED: &str = "2";
const COMMAND: &str = "sh -c 'test -s 1.txt'";

/// A task that is a person's by the time it would begin, and what else they write.
const BY_HAND: &str = "| 13 | Write 13 | It is there | 7 | ";
const WORDS: &str = "And that is all, says Ada.\n";

/// Plans.md, with what the rows of the tasks say of their status.
fn plans(status: impl Fn(&str) -> String) -> String {
    let mut text =
        "# Plans\n\n| Task | Content | DoD | Depends | Status |\n|---|---|---|---|---|\n"
            .to_owned();
    for (number, depends) in TASKS {
        let tags = if number == TESTED { "[P]" } else { "[P] [skip:tdd]" };
        let dod = match number {
            "1" => format!("`{COMMAND}` passes"),
            _ => "It is there".to_owned(),
        };
        let status = status(number);
        text += &format!("| {number} | {tags} Write {number} | {dod} | {depends} | {status} |\n");
    }
    format!("{text}{BY_HAND}cc:TODO |\n\nAnd that is all.\n")
}

/// Plans.md as it is at first.
pub fn begun() -> String {
    plans(|_| "cc:TODO".to_owned())
}

/// As it is once a person has written into it.
fn edited(text: &str) -> String {
    text.replace(&format!("{BY_HAND}cc:TODO"), &format!("{BY_HAND}cc:Done"))
        .replace("And that is all.\n", WORDS)
}

/// What the person does, whose editor looks whether somebody else has written meanwhile.
pub fn edits(repo: &Path) {
    let (path, beside) = (repo.join(PLANS), repo.join(".Plans.md.swp"));
    loop {
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&beside, edited(&text)).unwrap();
        if fs::read_to_string(&path).unwrap() == text {
            return fs::rename(&beside, &path).unwrap();
        }
    }
}

/// Who works on it.
pub const AGENT: &str = r#"
me="$WINDLASS_ROLE/$WINDLASS_UNIT/$WINDLASS_STAGE/$WINDLASS_ATTEMPT"
echo "$me" >> "$here/tally"
file="$WINDLASS_UNIT.txt"
more=
case "$WINDLASS_ROLE" in
  scout) verdict=confident ;;
  test-writer) verdict=written; mkdir -p tests; echo "test -s $file" > "tests/has-$WINDLASS_UNIT.sh" ;;
  contract-reviewer) verdict=approved; more=',"checks":[{"id":"c","title":"It says who it is"}]' ;;
  worker)
    verdict=done
    echo "$WINDLASS_UNIT" > "$file"
    case "$WINDLASS_UNIT/$WINDLASS_STAGE/$WINDLASS_ATTEMPT" in
      # Whoever goes away without a word is not to stay.
      1/*) setsid -f sleep 600 > /dev/null 2>&1 < /dev/null ;;
      3/fix/*) echo mended > "$file" ;;
      4/implement/1) echo bad > "$file"; verdict=failed ;;
      5/implement/1) person "5 6"; share 5 ;;
      6/implement/1) person "6 5"; share 6 ;;
      7/implement/1) person late ;;
    esac
    ;;
  work-reviewer)
    verdict=approve
    if [ "$WINDLASS_UNIT $WINDLASS_ATTEMPT" = "3 1" ]; then
      verdict=request_changes
      more=',"findings":[{"severity":"major","file":"3.txt","line":1,"title":"Mend it","rationale":"seen"}]'
    fi
    ;;
  conflict-resolver) verdict=resolved; join "$WINDLASS_UNIT" ;;
  *) verdict=nothing ;;
esac
echo '{"verdict":"'"$verdict"'","summary":"'"$me"'","cost_usd":0.01,"tokens":10'"$more"'}'
"#;

/// Red while something is bad or bears the marks of a conflict, or one of the tests fails; each is told by its name.
pub const TEST: &str = "echo 'TAP version 13'\n\
    ! grep -qsE 'bad|^[<>=]{7}' *.txt || { echo 'not ok 1 - sound'; exit 1; }\n\
    echo 'ok 1 - sound'\nfor test in tests/*.sh; do\n  [ -e \"$test\" ] || continue\n\
    \x20 sh \"$test\" || { echo \"not ok 2 - $(basename \"$test\" .sh)\"; exit 1; }\n\
    \x20 echo \"ok 2 - $(basename \"$test\" .sh)\"\ndone\n";

/// What must not be, when so many agents were at work at most when it was cut off.
pub fn wrong(over: &Over, entries: &[Value], cut_off: u32) -> Option<String> {
    let all = [
        over.asked_again(0, cut_off),
        over.unproved(),
        landings(over),
        contracts(over, entries),
        over.left_over(LANES as usize),
    ];
    all.into_iter().flatten().next()
}

/// Each task has landed once, with its name; Plans.md says so, with that commit, and nothing else that a person has not written.
fn landings(over: &Over) -> Option<String> {
    let log = over.git(&["log", "--first-parent", "--format=%H %s", "main"]).unwrap();
    let landed = |number: &str| -> Vec<&str> {
        let subject = format!(" Write {number}");
        log.lines().filter_map(|line| line.strip_suffix(&subject)).collect()
    };
    if let Some((number, _)) = TASKS.iter().find(|(number, _)| landed(number).len() != 1) {
        return Some(format!("{number} has landed as {:?}:\n{log}", landed(number)));
    }
    // Besides them the first, and the person's.
    if log.lines().count() != TASKS.len() + 2 {
        return Some(format!("landed:\n{log}"));
    }
    let want = edited(&plans(|number| format!("cc:Done [{}]", &landed(number)[0][..7])));
    let is = fs::read_to_string(over.repo.join(PLANS)).unwrap();
    (is != want).then(|| format!("{PLANS} says:\n{is}\nand not:\n{want}"))
}

/// Each task has a contract, which was drafted and sealed once and is as it was sealed; and no fix was proposed.
fn contracts(over: &Over, entries: &[Value]) -> Option<String> {
    for (number, _) in TASKS {
        let path = format!("{CONTRACTS}/{number}.sprint-contract.json");
        let written = entries.iter().filter(|it| it["note"] == "paper" && it["path"] == *path);
        let written = written.count();
        let text = fs::read_to_string(over.repo.join(&path)).unwrap_or_default();
        let standing =
            SprintContract::read(&path, &text).map(|it| it.standing(it.digest.as_deref()));
        if written != 2 || !matches!(standing, Ok(Standing::Ready)) {
            return Some(format!("{path} was written {written} times, and says {text}"));
        }
    }
    let proposed = fs::read_to_string(over.repo.join(PROPOSALS));
    proposed.ok().map(|text| format!("proposed: {text}"))
}

/// What is kept in the checkout, without names of commits: Plans.md, contracts, and the names of the rest.
pub fn kept(repo: &Path) -> BTreeMap<String, String> {
    let mut kept = BTreeMap::new();
    let text = fs::read_to_string(repo.join(PLANS)).unwrap();
    let mut parts = text.split("cc:Done [");
    let mut bare = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        bare += &format!("cc:Done [COMMIT]{}", part.split_once(']').map_or(part, |(_, rest)| rest));
    }
    kept.insert(PLANS.to_owned(), bare);
    let mut dirs = vec![repo.join(STATE)];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                dirs.push(path);
                continue;
            }
            let name = path.strip_prefix(repo).unwrap().to_str().unwrap().to_owned();
            let is_contract = name.starts_with(CONTRACTS);
            let text = is_contract.then(|| fs::read_to_string(&path).unwrap());
            kept.insert(name, text.unwrap_or_default());
        }
    }
    kept
}

mod slow {
    use super::*;
    use crate::copies::{Point, Told, landing};
    use crate::place::{Place, Tale};
    use crate::results::digest;

    #[test]
    fn the_story_of_work_has_everything_in_it() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::new(Tale::Work, &dir.path().join("place"));
        place.finish().unwrap();
        let seen = place.seen();
        assert_eq!(place.compare(&seen, 0), None);
        let (over, entries) = (place.over(), place.entries());
        let asked = |who: &str| over.tally.lines().any(|line| line == who);
        assert!(asked("test-writer/2/red/1"), "a red test: {}", over.tally);
        assert!(asked("worker/3/fix/1"), "what a review found is mended: {}", over.tally);
        assert!(asked("work-reviewer/3/review/2"), "and reviewed again: {}", over.tally);
        assert!(asked("worker/4/implement/2"), "another attempt: {}", over.tally);
        assert!(over.tally.contains("conflict-resolver/"), "a conflict: {}", over.tally);
        assert!(!over.tally.contains("/13/"), "what is a person's: {}", over.tally);
        assert!(seen.tree.contains("main:shared.txt:5\nmain:shared.txt:6"), "{}", seen.tree);
        let came = |name: &str| {
            entries
                .iter()
                .any(|it| it["note"] == "checked" && it["name"] == name && it["came"] == "pass")
        };
        assert!(came("contract-2"), "the command of a contract: {:?}", seen.checkout);
        assert!(entries.iter().any(|it| it["record"] == "done_by_hand"));
        let busy = entries.iter().scan(0, |busy, entry| {
            *busy += i32::from(entry["event"] == "unit_started");
            *busy -= i32::from(entry["note"] == "landed" || entry["record"] == "done_by_hand");
            Some(*busy)
        });
        assert_eq!(busy.max(), i32::try_from(LANES).ok(), "every lane is in use");
        for (spoils, word) in SPOILS {
            spoils(&over);
            let wrong = wrong(&over, &entries, 0);
            assert!(wrong.as_ref().is_some_and(|it| it.contains(word)), "{word}: {wrong:?}");
        }
    }

    /// What makes it wrong, and what is said then.
    type Spoils = (fn(&Over), &'static str);

    /// Each is noticed before those that come before it here.
    const SPOILS: [Spoils; 4] = [
        (|over| fs::write(over.repo.join(PROPOSALS), "{}\n").unwrap(), "proposed: {}"),
        (
            |over| {
                let path = over.repo.join(CONTRACTS).join("7.sprint-contract.json");
                let text = fs::read_to_string(&path).unwrap();
                fs::write(&path, text.replace("It is there", "It may be there")).unwrap();
            },
            "7.sprint-contract.json was written 2 times",
        ),
        (
            |over| {
                let text = fs::read_to_string(over.repo.join(PLANS)).unwrap();
                fs::write(over.repo.join(PLANS), text.replace("says Ada", "says nobody")).unwrap();
            },
            "Plans.md says:",
        ),
        (
            |over| {
                over.git(&["commit", "-q", "--allow-empty", "-m", "Write 5"]).unwrap();
            },
            "5 has landed as",
        ),
    ];

    /// One where a task has landed and nobody knows it yet, the others around what goes on record: what was done is not known
    /// then, or what is to be done has not begun.
    #[test]
    fn a_sample_of_the_copies_of_work_comes_to_the_same() {
        let landed = landing(4);
        let seeded = |point: &Point| {
            let name = point.name_in(Tale::Work);
            let kept = point.thread == "main" && point.step == "commit";
            kept && digest(name.as_bytes()).is_multiple_of(250)
        };
        Told::cut_off(Tale::Work, |point| seeded(point) || landed(point), 4);
    }
}
