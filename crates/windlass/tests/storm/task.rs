//! The story of one task: three planners criticise each other, the spec is confirmed, two advisors advise, and what is made
//! fails its check four times. Then a patch is asked for and decided on, and what is there lands on a branch of its own.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::Dice;
use crate::autofix::{self, Moment};
use crate::copies::{Point, Told};
use crate::place::{Place, Tale, ended};

/// What becomes of the patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patch {
    /// It is applied, and verification passes. Told in mode multi.
    Mends,
    /// It is applied, and verification fails again. Told in mode single, as what follows is too.
    FailsAgain,
    /// It is rejected.
    Rejected,
}

/// Where the session's state is, for everybody to read.
pub const STATE: &str = ".harness/state.json";

/// Where it lands.
pub const BRANCH: &str = "harness/say-hello";

/// The hard gates are answered by nobody but a person; conventions are not what this is about.
pub const POLICIES: &str = "[policies.no-scan]\nstage = 'ask_scan'\nanswer = 'skip'\n";

/// Who works on the task. What it makes is appended to, so that whatever was done twice is there twice.
const AGENT: &str = r#"
echo "$WINDLASS_ROLE $WINDLASS_ATTEMPT" >> "$here/tally"
verdict=written
more=
case "$WINDLASS_ROLE" in
  planner-single|synthesis) verdict=generated; printf '# Spec\n\nAC1: say hello.\n' > "$WINDLASS_FILE_SPEC_MD" ;;
  architect) verdict=generated; echo 'as an architect' > "$WINDLASS_FILE_PROPOSAL_ARCHITECT_MD" ;;
  senior-developer) verdict=generated; echo 'as a developer' > "$WINDLASS_FILE_PROPOSAL_SENIOR_DEVELOPER_MD" ;;
  qa-specialist) verdict=generated; echo 'as a tester' > "$WINDLASS_FILE_PROPOSAL_QA_SPECIALIST_MD" ;;
  cross-critique) echo 'it may do' > "$WINDLASS_FILE_CRITIQUE_MD" ;;
  lead-developer) echo '1. say it' > "$WINDLASS_FILE_PLAN_MD" ;;
  code-quality-advisor) echo 'well' > "$WINDLASS_FILE_REVIEW_CODE_QUALITY_MD" ;;
  test-stability-advisor) echo 'steady' > "$WINDLASS_FILE_REVIEW_TEST_STABILITY_MD" ;;
  implementation|generator-single)
    verdict=changed
    echo bad >> hello.txt
    printf -- '- `hello.txt` — says it\n' > "$WINDLASS_FILE_CHANGES_MD"
    ;;
  auto-fix-proposer)
    more=',"confidence":"High"'
    {
      printf 'confidence: High\nsummary: it is bad\n\n```diff\n--- a/hello.txt\n+++ b/hello.txt\n@@ -1,4 +1 @@\n'
      printf -- '-bad\n-bad\n-bad\n-bad\n+MENDED\n```\n'
    } > "$WINDLASS_FILE_AUTO_FIX_PATCH_MD"
    ;;
  evaluator) verdict=pass; printf '## Layer 2\n\n### Verdict: PASS\n' > "$WINDLASS_FILE_QA_REPORT_MD" ;;
esac
echo '{"verdict":"'"$verdict"'","summary":"'"$WINDLASS_ROLE"' '"$verdict"'","cost_usd":0.01,"tokens":10'"$more"'}'
"#;

impl Patch {
    pub fn agent(self) -> String {
        let mended = match self {
            Patch::Mends | Patch::Rejected => "good",
            Patch::FailsAgain => "still bad",
        };
        AGENT.replace("MENDED", mended)
    }

    pub fn start(self) -> [&'static str; 6] {
        let mode = match self {
            Patch::Mends => "multi",
            Patch::FailsAgain | Patch::Rejected => "single",
        };
        ["task", "Say hello", "--mode", mode, "--model-config", "default"]
    }

    /// Auto-fix wherever it is offered; when it is not, what there is goes on to the evaluator.
    pub fn answers(self) -> &'static [&'static str] {
        match self {
            Patch::Mends | Patch::FailsAgain => {
                &["proceed", "autofix", "apply", "continue", "code_only"]
            }
            Patch::Rejected => &["proceed", "autofix", "reject", "continue", "code_only"],
        }
    }
}

/// What is left of the session's own directories, without times.
pub fn left(repo: &Path) -> BTreeMap<String, String> {
    let mut left = BTreeMap::new();
    let mut dirs = vec![repo.join(".harness"), repo.join("docs")];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            let (path, is_dir) = (entry.path(), entry.file_type().unwrap().is_dir());
            let name = path.strip_prefix(repo).unwrap().display().to_string();
            let text =
                if is_dir { "a directory".to_owned() } else { fs::read_to_string(&path).unwrap() };
            left.insert(name, text);
            dirs.extend(is_dir.then_some(path));
        }
        if dir.exists() {
            left.insert(dir.strip_prefix(repo).unwrap().display().to_string(), "there".to_owned());
        }
    }
    left
}

/// The first moment that is not as it must be.
fn broken(told: &Told) -> Option<String> {
    let before = std::iter::once(None).chain(told.moments.iter().map(Some));
    before.zip(&told.moments).find_map(|(before, now)| autofix::wrong(before, now))
}

/// What stood under `applied`, one after the other.
fn course(told: &Told) -> Vec<&str> {
    let mut course: Vec<&str> = told.moments.iter().filter_map(Moment::applied).collect();
    course.dedup();
    course
}

fn decided(told: &Told, what: &str) -> usize {
    told.seen.decisions.iter().filter(|decision| decision.contains(what)).count()
}

/// The story has everything in it, and at no instant what must not be.
fn is_whole(told: &Told) {
    assert_eq!(broken(told), None);
    assert_eq!(course(told), ["proposed", "applied"]);
    let tally = &told.seen.tally;
    assert_eq!(tally["cross-critique 1"], 3, "three planners: {tally:?}");
    assert_eq!(tally["implementation 4"], 1, "three retries");
    assert!(tally.contains_key("code-quality-advisor 1"), "two advisors");
    assert!(tally.contains_key("test-stability-advisor 1"), "two advisors");
    assert_eq!(decided(told, "autofix:cleared"), 1, "{:?}", told.seen.decisions);
    assert!(told.seen.tree.starts_with("harness/say-hello:hello.txt:good\n"), "{}", told.seen.tree);
    assert_eq!(told.seen.landings, "Say hello\nStart");
    let checkout = &told.seen.checkout;
    let left: Vec<_> = checkout.keys().filter(|name| name.contains("harness")).collect();
    assert!(left.is_empty() && !checkout.contains_key("docs"), "{left:?}");
    assert!(told.points.len() > 700, "{} points", told.points.len());
}

/// Told once, and cut off at the first point of each of these threads, in the middle of an effect; and wherever else.
fn cut_off(
    patch: Patch,
    course_of_it: &[&str],
    threads: &[&str],
    elsewhere: impl Fn(&Point) -> bool,
) {
    let first = RefCell::new(Vec::new());
    let told = Told::new(Tale::Task(patch), |point| {
        let mut first = first.borrow_mut();
        let here = threads.contains(&point.thread.as_str()) && !first.contains(&point.thread);
        if here {
            first.push(point.thread.clone());
        }
        here || elsewhere(point)
    });
    assert_eq!(first.into_inner(), threads);
    assert_eq!(broken(&told), None);
    assert_eq!(course(&told), course_of_it);
    assert_eq!(decided(&told, "\"event\":\"asked\""), 6, "the first gate once more, then the last");
    for point in told.points.iter().filter(|point| told.copied(point)) {
        assert_eq!(told.take_up(point).0, None, "{}", point.name());
    }
}

mod slow {
    use super::*;

    #[test]
    fn a_sample_of_the_copies_of_a_task_comes_to_the_same() {
        let picked = Dice::new(0x7a5c).sample(700, 2);
        let proposing = Cell::new(None);
        let told = Told::new(Tale::Task(Patch::Mends), |point| {
            // One of them is where a proposal is on its way: the second gate comes next, not the first.
            if point.thread == "role propose" && proposing.get().is_none() {
                proposing.set(Some(point.number));
            }
            picked.contains(&point.number) || proposing.get() == Some(point.number)
        });
        assert!(proposing.get().is_some());
        is_whole(&told);
        for point in told.points.iter().filter(|point| told.copied(point)) {
            assert_eq!(told.take_up(point).0, None, "{}", point.name());
        }
    }

    /// I3: a stop decides nothing. What writes that were cut off have left goes with the rest, and nothing else does.
    #[test]
    fn stopped_at_the_second_gate_it_asks_again_and_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::new(Tale::Task(Patch::Rejected), &dir.path().join("place"));
        let proposed = |moment: &Moment| {
            assert_eq!(autofix::wrong(None, moment), None);
            moment.applied() == Some("proposed") && moment.offers("apply")
        };
        let mut code = ended(place.start().output().unwrap()).0;
        while !proposed(&place.moment().unwrap()) {
            assert_eq!(code, Some(8));
            assert_eq!(ended(place.answer().unwrap().output().unwrap()).0, Some(0));
            code = ended(place.windlass(&["resume"]).output().unwrap()).0;
        }
        assert_eq!(ended(place.answer_with("stop").unwrap().output().unwrap()).0, Some(0));
        let (code, said) = ended(place.windlass(&["resume"]).output().unwrap());
        assert_eq!(code, Some(8), "{said}");
        assert!(proposed(&place.moment().unwrap()), "{:?}", place.moment());
        for dir in [".harness", ".harness/generator", "docs/harness/say-hello"] {
            for name in [".windlass-of-mine", ".windlass-0123456789abcdef"] {
                fs::write(place.repo().join(dir).join(name), "half").unwrap();
            }
        }
        place.finish().unwrap();
        let files = left(&place.repo()).into_iter().filter(|(_, text)| text == "half");
        let names: Vec<String> = files.map(|(name, _)| name).collect();
        assert_eq!(names.len(), 3, "{names:?}");
        assert!(names.iter().all(|name| name.ends_with(".windlass-of-mine")), "{names:?}");
    }

    #[test]
    fn a_patch_that_does_not_help_is_the_only_one_however_it_is_cut_off() {
        let course = ["proposed", "applied", "stopped"];
        let threads = ["role propose", "save apply_patch"];
        cut_off(Patch::FailsAgain, &course, &threads, |_| false);
    }

    /// Cut off also when it has landed, with its files on their way out: none is left.
    #[test]
    fn a_patch_that_is_rejected_is_the_only_one_however_it_is_cut_off() {
        let (landed, ends) = (Cell::new(false), Cell::new(0));
        cut_off(Patch::Rejected, &["proposed", "rejected"], &["role propose"], |point| {
            landed.set(landed.get() || point.thread == "land land_code");
            let here = landed.get() && point.name().ends_with("main: commit after");
            ends.set(ends.get() + usize::from(here));
            here
        });
        assert!(ends.get() >= 4, "landed, papers gone, session gone, told: {}", ends.get());
    }
}
