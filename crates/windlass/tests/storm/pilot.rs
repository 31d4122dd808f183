//! The story of a spec of two phases, by autopilot.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

pub const SPEC: &str = "# Things\n\n## Implementation Order\n\n### Phase 1: Alpha\n<!-- complexity: low -->\n\n### Phase 2: Beta\n";

pub const POLICIES: &str = "[policies.no-pr]\nstage = 'offer_pr'\nanswer = 'no'\n";

/// Who works for autopilot.
pub const AGENT: &str = r#"
echo "$WINDLASS_ROLE $WINDLASS_UNIT $WINDLASS_TASK $WINDLASS_ATTEMPT" >> "$here/tally"
session=.harness/sessions/spec
more=
case "$WINDLASS_ROLE" in
  planner)
    verdict=planned
    concerns='[]'
    if [ "$WINDLASS_UNIT" = 1 ]; then
      printf '### Task 1: Write

### Task 2: Show [checkpoint:human-verify]
' > "$WINDLASS_FILE_PLAN"
    else
      printf '### Task 1: Clash
' > "$WINDLASS_FILE_PLAN"
      concerns='["it may clash"]'
    fi
    echo '{"fromSkill":"harness-planning","concerns":'"$concerns"'}' > "$WINDLASS_FILE_HANDOFF_JSON"
    ;;
  task-executor)
    verdict=done
    case "$WINDLASS_UNIT:$WINDLASS_TASK:$WINDLASS_ATTEMPT" in
      1:1:1) echo bad > one.txt ;;
      1:1:*) echo good > one.txt; mkdir -p $session; echo '- [outcome:gotcha] bad is not good' > $session/learnings.md ;;
      1:2:*) echo good > two.txt ;;
      2:1:*) echo ours > clash.txt ;;
      2:*) echo good > mended.txt ;;
      *) echo good > final.txt ;;
    esac
    ;;
  conflict-resolver) verdict=resolved; echo both > clash.txt ;;
  verifier) verdict=pass ;;
  code-reviewer)
    verdict=clear
    block() { verdict=blocking; more=',"blocking_count":1,"blockers":[{"id":"b'"$1"'","title":"mend it"}]'; }
    case "$WINDLASS_UNIT:$WINDLASS_ATTEMPT" in
      1:1) person late ;;
      2:1) block 1 ;;
      2:2) person clash ;;
      :1) block 2 ;;
    esac
    ;;
esac
echo '{"verdict":"'"$verdict"'","cost_usd":0.01,"tokens":10'"$more"'}'
"#;

/// The files that autopilot keeps in the checkout, without the times in them.
pub fn session(repo: &Path) -> BTreeMap<String, String> {
    let read = |name: &str| fs::read_to_string(repo.join(name)).unwrap_or_default();
    let mut all = BTreeMap::new();
    let dir = ".harness/sessions/spec";
    for name in [".harness/learnings.md", ".harness/failures.md"] {
        all.insert(name.to_owned(), read(name));
    }
    for name in
        ["handoff.json", "learnings.md", "state.json", "phase-1-review.json", "phase-2-review.json"]
    {
        all.insert(name.to_owned(), read(&format!("{dir}/{name}")));
    }
    let state = read(&format!("{dir}/autopilot-state.json"));
    let mut state: Value = serde_json::from_str(&state).unwrap_or_default();
    for list in ["decisions", "history"] {
        for entry in state[list].as_array_mut().into_iter().flatten() {
            for field in ["timestamp", "startedAt", "completedAt"] {
                entry.as_object_mut().map(|entry| entry.remove(field));
            }
        }
    }
    all.insert("autopilot-state.json".to_owned(), state.to_string());
    let aside = fs::read_dir(repo.join(dir)).into_iter().flatten().flatten();
    let aside = aside.filter(|it| it.file_name().to_string_lossy().contains("aside")).count();
    all.insert("(set aside)".to_owned(), aside.to_string());
    all
}
