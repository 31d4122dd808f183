//! The story of a loop over issues, at a tracker that is copied and cut off with everything else: a folder. Of two change groups
//! one needs another approach, what was made is mended after its review, and a gap in a spec becomes an issue; one group waits
//! for a person and the rest of its issue lands, on a base that has moved; one issue comes to nothing; one meets a conflict.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::copies::Told;
use crate::place::Tale;

/// So many points it has at least, and so many of those are around what goes on record.
const POINTS_MIN: usize = 1_200;
const KEPT_MIN: usize = 280;

/// Where its issues are.
pub const CONFIG: &str = "[issues]\ntracker = 'folder'\n";

const SPEC: &str = "name: texts\npaths: [one.txt, two.txt, part.txt, rest.txt, clash.txt, gap.txt]\n\
                    invariants:\n  - id: good\n    text: All of it is good\n\
                    tests:\n  tier0: sh test.sh\n  tier1: sh test.sh\n";

/// Who works on them.
pub const AGENT: &str = r#"
echo "$WINDLASS_ROLE $WINDLASS_UNIT $WINDLASS_TASK $WINDLASS_ATTEMPT" >> "$here/tally"
verdict=pass
more=',"invariants":[{"id":"good","title":"good","holds":"yes","evidence":"looked"}],"passed":1,"total":1'
group() { printf '{"id":"%s","title":"feat: %s","files":["%s"]}' "$1" "$2" "$2"; }
case "$WINDLASS_ROLE" in
  issue-planner)
    verdict=planned
    case "$WINDLASS_UNIT" in
      A-1) groups="$(group g1 one.txt),$(group g2 two.txt)" ;;
      A-2) groups="$(group g1 part.txt),$(group g2 rest.txt)" ;;
      A-3) groups="$(group g1 never.txt)" ;;
      A-4) groups="$(group g1 clash.txt)" ;;
      *) groups="$(group g1 gap.txt)" ;;
    esac
    more=',"groups":['"$groups"'],"criteria":[{"id":"c1","title":"it is there"}]'
    ;;
  issue-worker)
    verdict=applied
    more=',"friction":[{"id":"f1","title":"it was hard"}]'
    case "$WINDLASS_UNIT $WINDLASS_TASK $WINDLASS_ATTEMPT" in
      "A-1 g1 "*) echo good > one.txt ;;
      "A-1 g2 1") echo bad > two.txt ;;
      "A-1 g2 "*) echo good > two.txt ;;
      "A-1 "*) echo better > one.txt ;;
      "A-2 g1 "*) verdict=blocked ;;
      "A-2 "*) echo good > rest.txt ;;
      "A-3 "*) verdict=failed ;;
      "A-4 "*) echo ours > clash.txt ;;
      *) echo good > gap.txt ;;
    esac
    ;;
  failure-classifier) if [ "$WINDLASS_UNIT" = A-1 ]; then verdict=retryable; else verdict=structural; fi ;;
  conflict-resolver) verdict=resolved; echo both > clash.txt ;;
  discoverer) verdict=nothing ;;
  issue-reviewer)
    more="$more"',"criteria_met":true'
    case "$WINDLASS_UNIT $WINDLASS_ATTEMPT" in
      "A-1 1") verdict=fail; more=',"fixable":true' ;;
      "A-1 2") more="$more"',"spec_gaps":[{"id":"s1","title":"what one is","subsystem":"texts","missing":"it"}]' ;;
      "A-2 1") person late ;;
      "A-4 1") person clash ;;
    esac
    ;;
esac
echo '{"verdict":"'"$verdict"'","summary":"'"$WINDLASS_ROLE $verdict"'","cost_usd":0.01,"tokens":10'"$more"'}'
"#;

/// What is known of its one subsystem.
pub fn specs(repo: &Path) {
    fs::create_dir(repo.join("subsystems_knowledge")).unwrap();
    fs::write(repo.join("subsystems_knowledge/texts.yaml"), SPEC).unwrap();
}

/// The issues, in the order in which they are taken.
pub fn wanted(repo: &Path) {
    fs::create_dir(repo.join("issues")).unwrap();
    for nth in 1..=4 {
        let text =
            format!("---\nlabels: [ready]\npriority: {nth}\n---\n\n# Do {nth}\n\nIt is wanted.\n");
        fs::write(repo.join(format!("issues/A-{nth}.md")), text).unwrap();
    }
}

/// Everything that the tracker heard, and the loop's own file, without times, names of commits and keys.
pub fn heard(repo: &Path) -> BTreeMap<String, String> {
    let mut heard = BTreeMap::new();
    for entry in fs::read_dir(repo.join("issues")).unwrap().flatten() {
        let name = format!("issues/{}", entry.file_name().to_string_lossy());
        heard.insert(name, told(&fs::read_to_string(entry.path()).unwrap()));
    }
    for entry in fs::read_dir(repo.join(".claude")).into_iter().flatten().flatten() {
        let name = format!(".claude/{}", entry.file_name().to_string_lossy());
        heard.insert(name, told(&fs::read_to_string(entry.path()).unwrap()));
    }
    heard
}

fn told(text: &str) -> String {
    let word = |word: &str| {
        let bare = word.trim_matches(|it: char| "\"',.".contains(it));
        let all = |fits: fn(&char) -> bool| bare.chars().all(|it| fits(&it));
        if bare.len() == 12 && all(char::is_ascii_hexdigit) {
            "COMMIT".to_owned()
        } else if bare.len() == 24 && all(char::is_ascii_alphanumeric) {
            "KEY".to_owned()
        } else if bare.len() >= 20 && bare.ends_with('Z') && bare.starts_with("20") {
            "TIME".to_owned()
        } else {
            word.to_owned()
        }
    };
    let line = |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ");
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_story_of_issues_has_everything_in_it() {
    let told = Told::new(Tale::Issues, |_| false);
    let (tally, checkout) = (&told.seen.tally, &told.seen.checkout);
    assert_eq!(tally["issue-worker A-1 g2 2"], 1, "another approach: {tally:?}");
    assert_eq!(tally["issue-worker A-1  1"], 1, "what a review found is mended: {tally:?}");
    assert_eq!(tally["conflict-resolver A-4  1"], 1, "a conflict: {tally:?}");
    let said =
        |issue: &str, text: &str| checkout[&format!("issues/{issue}.md")].matches(text).count();
    for issue in ["A-1", "A-2", "A-4", "spec-gap-what-one-is"] {
        let counts = (said(issue, " starting. Autonomous"), said(issue, "Harness completed issue"));
        assert_eq!(counts, (1, 1), "{issue}: {checkout:?}");
    }
    assert_eq!(said("A-2", "needs human input"), 1, "{checkout:?}");
    assert_eq!(said("A-3", "Harness failed on this issue"), 1, "{checkout:?}");
    let state = &checkout[".claude/harness-state.local.md"];
    assert!(state.contains("failed_issues: [\"A-3\"]"), "{state}");
    assert!(state.matches("it was hard").count() >= 5, "{state}");
    let kept = told.points.iter().filter(|it| it.thread == "main" && it.step == "commit").count();
    let all = told.points.len();
    assert!(kept >= KEPT_MIN && all >= POINTS_MIN, "{kept} of {all} points");
}

mod slow {
    use super::*;
    use crate::Dice;

    /// Mostly around what goes on record: what the tracker was told is done then and nobody knows it, or known and not begun.
    #[test]
    fn a_sample_of_the_copies_of_issues_comes_to_the_same() {
        let (kept, all) =
            (Dice::new(0x155e).sample(KEPT_MIN, 4), Dice::new(0x9009).sample(POINTS_MIN, 2));
        let nth = Cell::new(0);
        Told::cut_off(
            Tale::Issues,
            |point| {
                let is_kept = point.thread == "main" && point.step == "commit";
                let here = is_kept && kept.contains(&nth.get());
                nth.set(nth.get() + usize::from(is_kept));
                here || all.contains(&point.number)
            },
            5,
        );
    }
}
