//! Who judges a change knows nothing of how it came about, and who proposes nothing of what others propose: whatever is
//! left lying about, by whole runs of `windlass task`.

use std::fs;
use std::path::Path;

use crate::agent::{EVERYBODY, hire, pipe};
use crate::scratch::{Scratch, ended, fixture};

/// Every trace that somebody leaves has this in it.
const MARK: &str = "PLANTED";

/// Writes down everything that it sees before it does anything: what it is asked, its environment, the lane with its
/// history, all objects that git finds there, and every file with a mark in it where anybody could have left one.
const LOOKS: &str = r#"#!/bin/sh
here="$(dirname "$0")"
number=0
while ! mkdir "$here/seen-$WINDLASS_ROLE.$number" 2>/dev/null; do number=$((number + 1)); done
seen="$here/seen-$WINDLASS_ROLE.$number"
cat > "$seen/prompt"
env > "$seen/env"
find . > "$seen/names"
find . -type f -exec cat {} + > "$seen/files"
find .git > "$seen/git-names"
{
  git log --all --reflog --format=raw; git reflog --all; git branch -a; git tag -n9; git for-each-ref
  git stash list; git notes list; git status --ignored; git config --list; git diff HEAD
} > "$seen/history" 2>&1
git cat-file --batch --batch-all-objects > "$seen/objects"
grep -rl PLANTED /home /lane /tmp /var --exclude-dir="$(basename "$here")" > "$seen/marked" 2>/dev/null
# Where a file is to be written, by its name.
promised() { sed -n "s/^- $1: \`\(.*\)\`\$/\1/p" "$seen/prompt" | tail -n 1; }
answers() { echo "{\"verdict\":\"$1\",\"summary\":\"$2\"}"; exit 0; }
"#;

/// Who plans and advises, each with a mark of its own in what it writes and says.
const PLANS: &str = r#"
echo "PLANTED-prose-of-$WINDLASS_ROLE"
echo "PLANTED-home-of-$WINDLASS_ROLE" > "$HOME/thoughts"
echo "PLANTED-tmp-of-$WINDLASS_ROLE" > "$TMPDIR/thoughts"
case "$WINDLASS_ROLE" in
  architect)
    echo "PLANTED-proposal-of-architect" > "$(promised proposal_architect.md)"
    answers generated "proposal generated — PLANTED-summary-of-architect" ;;
  synthesis-standard|synthesis|planner-single)
    printf '# Spec\nAC1: hello.txt greets.\n' > "$(promised spec.md)"
    answers generated "spec.md generated — PLANTED-summary-of-synthesis" ;;
  lead-developer)
    echo "PLANTED-plan" > "$(promised plan.md)"
    answers written "plan.md written — PLANTED-summary-of-lead" ;;
  combined-advisor)
    echo "PLANTED-review" > "$(promised review_combined.md)"
    answers written "review written — PLANTED-summary-of-advisor" ;;
esac
"#;

/// Who implements leaves its reasons wherever they can be left.
const IMPLEMENTS: &str = r#"
if [ "$WINDLASS_ROLE" = implementation-standard ] || [ "$WINDLASS_ROLE" = generator-single ]; then
  changes="$(promised changes.md)"
  docs="$(dirname "$changes")"
  echo "hello $number" > hello.txt
  echo "- \`hello.txt\` — PLANTED-reason" > "$changes"
  mkdir -p scratch .harness/generator .harness/evaluator
  echo PLANTED-ignored > scratch/thoughts
  git add hello.txt
  git commit -qm PLANTED-message
  git branch PLANTED-branch
  git tag -a PLANTED-tag -m PLANTED-tag-message
  git notes add -m PLANTED-note
  echo PLANTED-stashed > test.sh
  git stash -q -m PLANTED-stash
  git commit -q --allow-empty -m PLANTED-undone
  git reset -q --hard HEAD~1
  echo PLANTED-blob | git hash-object -w --stdin > /dev/null
  echo PLANTED-description > .git/description
  echo PLANTED-own > .git/thoughts
  for paper in .harness/thoughts.md .harness/generator/plan.md .harness/evaluator/read-me.md .harness/conventions.md \
    "$docs/spec.md" "$docs/verify_report.md" "$docs/qa_report.md" "$docs/thoughts.md"; do
    echo "PLANTED-in-$(basename "$paper")" >> "$paper"
  done
  answers changed "changes.md changed — PLANTED-summary-of-implementation"
fi
"#;

/// The first time it comes to nothing, the second time it finds something, the third time it is content.
const EVALUATES: &str = r#"
if [ "$WINDLASS_ROLE" = evaluator ]; then
  [ "$number" = 0 ] && exit 3
  report="$(promised qa_report.md)"
  if [ "$number" = 1 ]; then
    printf '## Layer 3\n### Verdict: FAIL\n## Fix Instructions\n1. greet better\n' > "$report"
    answers fail_l3 "FAIL L3 — AC1"
  fi
  printf '## Layer 3\n### Verdict: PASS\n' > "$report"
  answers pass "PASS — 1 of 1 criteria"
fi
"#;

/// The second of two proposes at once.
const PROPOSES: &str = r#"
if [ "$WINDLASS_ROLE" = senior-developer ]; then
  echo "PLANTED-proposal-of-senior" > "$(promised proposal_senior_developer.md)"
  answers generated "proposal generated — PLANTED-summary-of-senior"
fi
"#;

/// Three specialists. Two leave what they propose wherever others might look; the third comes to nothing when both have
/// ended, and is asked again.
const SPECIALISTS: &str = r#"
docs=docs/harness/say-hello
proposes() {
  echo "PLANTED-prose-by-$1"
  for paper in "$docs/qa_notes.md" "$docs/critic_findings.md" "$docs/spec.md" .harness/conventions.md \
    .harness/planner/thoughts.md .harness/planner/proposal_senior_developer.md; do
    echo "PLANTED-left-by-$1" >> "$paper"
  done
  for place in hello.txt .git/thoughts "$HOME/thoughts" "$TMPDIR/thoughts"; do
    echo "PLANTED-left-by-$1" > "$place"
  done 2>/dev/null
  git commit -q --allow-empty -m "PLANTED-left-by-$1" 2>/dev/null
  echo "PLANTED-proposal-by-$1" > "$(promised "$2")"
  answers generated "proposal generated — PLANTED-summary-by-$1"
}
case "$WINDLASS_ROLE" in
  architect) proposes architect proposal_architect.md ;;
  qa-specialist) proposes qa proposal_qa_specialist.md ;;
  senior-developer)
    # What it was shown it leaves nothing of: what is shown to it again is what others made of that.
    if [ "$number" = 0 ]; then read line < "$here/go"; rm "$docs"/*; exit 3; fi
    echo "PLANTED-proposal-by-senior" > "$(promised proposal_senior_developer.md)"
    answers generated "proposal generated — PLANTED-summary-by-senior" ;;
  cross-critique)
    whose="$(basename "$(promised critique.md)" .md)"
    echo "PLANTED-$whose" > "$(promised critique.md)"
    answers written "critique written — PLANTED-summary-of-$whose" ;;
  code-quality-advisor)
    echo fine > "$(promised review_code_quality.md)"
    answers written "review written — fine" ;;
  test-stability-advisor)
    echo fine > "$(promised review_test_stability.md)"
    answers written "review written — fine" ;;
  implementation)
    echo hello > hello.txt
    echo "- \`hello.txt\`" > "$(promised changes.md)"
    answers changed "changes.md changed — 1 file" ;;
  evaluator)
    printf '## Layer 3\n### Verdict: PASS\n' > "$(promised qa_report.md)"
    answers pass "PASS — 1 of 1 criteria" ;;
esac
"#;

/// A repository whose agents are a script; its conventions are rich, so that nobody asks for them.
fn project(script: &str) -> Scratch {
    let conventions = "Use spaces.\n".repeat(60);
    let scratch = Scratch::with(&[(".gitignore", "scratch/\n"), ("CLAUDE.md", &conventions)]);
    hire(&scratch, script, EVERYBODY, "grep -q hello hello.txt");
    scratch
}

const BEGIN: [&str; 5] = ["task", "Say hello", "--model-config", "balanced", "--mode"];

/// Answers what a run asks, one question after the other.
fn answered(scratch: &Scratch, asked: (Option<i32>, String), answers: &[&str]) {
    let (mut code, mut said) = asked;
    for answer in answers {
        assert_eq!(code, Some(8), "{said}");
        let gates = scratch.windlass(&["gates", "--json"]).output().unwrap();
        let gates: serde_json::Value = serde_json::from_slice(&gates.stdout).unwrap();
        let gate = gates["gates"][0]["id"].as_str().unwrap();
        let (taken, why) = ended(scratch.windlass(&["answer", gate, answer]).output().unwrap());
        assert_eq!(taken, Some(0), "{why}");
        (code, said) = ended(scratch.windlass(&["resume"]).output().unwrap());
    }
    assert_eq!(code, Some(0), "{said}");
}

/// Everything that somebody saw of one kind.
fn saw(scratch: &Scratch, role: &str, number: usize, what: &str) -> String {
    let path = scratch.path(&format!("talk/seen-{role}.{number}/{what}"));
    let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Lines of everything that somebody saw that have this in them.
fn lines(scratch: &Scratch, role: &str, number: usize, mark: &str) -> Vec<String> {
    let mut found = Vec::new();
    for what in ["prompt", "env", "names", "files", "git-names", "history", "objects", "marked"] {
        let text = saw(scratch, role, number, what);
        let lines = text.lines().filter(|line| line.contains(mark));
        found.extend(lines.map(|line| format!("{what}: {line}")));
    }
    found
}

/// The same of every mark, and the files that have one.
fn marks(scratch: &Scratch, role: &str, number: usize) -> Vec<String> {
    let files = saw(scratch, role, number, "marked");
    let files = files.lines().map(|line| format!("marked: {line}"));
    lines(scratch, role, number, MARK).into_iter().chain(files).collect()
}

/// How often a role was asked.
fn times(scratch: &Scratch, role: &str) -> usize {
    (0..).take_while(|it| scratch.path(&format!("talk/seen-{role}.{it}")).exists()).count()
}

/// Leaves a file in the person's checkout that they have not committed.
fn leaves(scratch: &Scratch, path: &str, text: &str) {
    let path = scratch.repo().join(path);
    fs::create_dir_all(path.parent().unwrap_or(Path::new(""))).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn whoever_evaluates_sees_the_change_and_nothing_of_how_it_came_about() {
    let scratch = project(&[LOOKS, PLANS, PROPOSES, IMPLEMENTS, EVALUATES].concat());
    for name in ["learnings.md", "failures.md", "summary.md"] {
        leaves(&scratch, &format!(".harness/{name}"), &format!("PLANTED-memory-{name}\n"));
    }
    let asked = ended(scratch.windlass(&BEGIN).arg("standard").output().unwrap());
    answered(&scratch, asked, &["proceed", "fix", "code_only"]);
    // A mishap, a failure with a round after it, and a pass.
    assert_eq!(times(&scratch, "evaluator"), 3);
    assert_eq!(times(&scratch, "implementation-standard"), 2);
    for number in 0..3 {
        assert_eq!(marks(&scratch, "evaluator", number), [""; 0], "evaluation {number}");
        // The change is there, and where it is is told.
        let prompt = saw(&scratch, "evaluator", number, "prompt");
        assert!(prompt.contains("## changed-files\n\nhello.txt\n"), "{prompt}");
        assert!(prompt.contains("AC1: hello.txt greets."), "{prompt}");
        assert!(prompt.contains("Layer 1 PASSED"), "{prompt}");
        let round = usize::from(number == 2);
        assert!(prompt.contains(&format!("round: {}", round + 1)), "{prompt}");
        let history = saw(&scratch, "evaluator", number, "history");
        assert!(history.contains(&format!("+hello {round}")), "{history}");
        assert!(saw(&scratch, "evaluator", number, "objects").contains("Another agent"));
    }
    // Those who may know did.
    let again = marks(&scratch, "implementation-standard", 1).join("\n");
    for mark in ["PLANTED-plan", "PLANTED-review", "PLANTED-reason", "PLANTED-ignored"] {
        assert!(again.contains(mark), "{mark}: {again}");
    }
    // What it wrote that was not its to write is nowhere, and was remarked.
    let answers = scratch.notes("answered");
    let own = answers.iter().find(|it| it["role"] == "implementation-standard").unwrap();
    let remark = own["remarks"][0].as_str().unwrap();
    assert!(remark.starts_with("it wrote what is not its to write"), "{remark}");
    assert!(remark.contains("docs/harness/say-hello/spec.md"), "{remark}");
    assert_eq!(scratch.git(&["show", "harness/say-hello:hello.txt"]), "hello 1");
}

#[test]
fn whoever_reads_a_change_for_the_evaluator_knows_no_more_than_the_evaluator() {
    let reads =
        "[ \"$WINDLASS_ROLE\" = layer1-verifier ] && answers pass 'PASS — 1 file read, whole'\n";
    let scratch = project(&[LOOKS, PLANS, IMPLEMENTS, reads, EVALUATES].concat());
    let nothing_to_run = ["single", "--test-cmd", "none"];
    let asked = ended(scratch.windlass(&BEGIN).args(nothing_to_run).output().unwrap());
    answered(&scratch, asked, &["proceed", "accept", "code_only"]);
    assert_eq!((times(&scratch, "layer1-verifier"), times(&scratch, "evaluator")), (1, 2));
    for (role, number) in [("layer1-verifier", 0), ("evaluator", 0), ("evaluator", 1)] {
        assert_eq!(marks(&scratch, role, number), [""; 0], "{role} {number}");
        let history = saw(&scratch, role, number, "history");
        assert!(history.contains("+hello 0"), "{history}");
    }
    let prompt = saw(&scratch, "evaluator", 1, "prompt");
    assert!(prompt.contains("PASS — 1 file read, whole"), "{prompt}");
    assert!(prompt.contains("Layer 1 was not executed for this session."), "{prompt}");
}

/// What the other two of three have proposed, by whose critique it is.
const OTHERS: [(&str, &str, [&str; 2]); 3] = [
    ("critique_architect.md", "architect", ["senior", "qa"]),
    ("critique_senior_developer.md", "senior", ["architect", "qa"]),
    ("critique_qa_specialist.md", "qa", ["architect", "senior"]),
];

#[test]
fn whoever_proposes_knows_no_other_proposal_even_when_asked_again_after_all_others() {
    let scratch = project(&[LOOKS, SPECIALISTS, PLANS].concat());
    leaves(&scratch, "docs/harness/say-hello/qa_notes.md", "NOTED: users want it loud\n");
    leaves(&scratch, "docs/harness/say-hello/critic_findings.md", "NOTED: nobody reads it\n");
    let go = pipe(&scratch, "go");
    let mut run = scratch.follow(scratch.windlass(&BEGIN).arg("multi"));
    for _ in 0..2 {
        let answer = run.until("a proposal", |entry| entry["note"] == "answered");
        assert_ne!(answer["role"], "senior-developer");
        assert_eq!(answer["came"], "generated");
    }
    fs::write(&go, "go\n").unwrap();
    answered(&scratch, (run.code(), String::new()), &["proceed", "code_only"]);

    // Nobody who proposes knows of anybody, and all have the notes.
    let proposals =
        [("architect", 0), ("qa-specialist", 0), ("senior-developer", 0), ("senior-developer", 1)];
    for (role, number) in proposals {
        assert_eq!(marks(&scratch, role, number), [""; 0], "{role} {number}");
        let prompt = saw(&scratch, role, number, "prompt");
        assert!(prompt.contains("NOTED: users want it loud"), "{role}: {prompt}");
        assert!(prompt.contains("NOTED: nobody reads it"), "{role}: {prompt}");
        assert!(prompt.contains("Use spaces."), "{role}: {prompt}");
    }
    let proposal = |by: &str| format!("PLANTED-proposal-by-{by}");
    // Who criticises knows what the two others propose, and neither the own proposal nor any critique.
    assert_eq!(times(&scratch, "cross-critique"), 3);
    for number in 0..3 {
        let prompt = saw(&scratch, "cross-critique", number, "prompt");
        let whose = OTHERS.iter().find(|(file, ..)| prompt.contains(file));
        let (file, own, others) = whose.expect("it is told what to write");
        for other in others {
            assert!(prompt.contains(&proposal(other)), "{file}: {prompt}");
        }
        let seen = marks(&scratch, "cross-critique", number);
        assert!(
            seen.iter().all(|line| line.starts_with("prompt: PLANTED-proposal-by-")),
            "{seen:?}"
        );
        assert!(!seen.iter().any(|line| line.contains(&proposal(own))), "{file}: {seen:?}");
    }
    let made = saw(&scratch, "synthesis", 0, "prompt");
    for (file, own, _) in OTHERS {
        assert!(made.contains(&proposal(own)), "{own}: {made}");
        let critique = format!("PLANTED-{}", file.trim_end_matches(".md"));
        assert!(made.contains(&critique), "{critique}: {made}");
    }
    assert!(!made.contains("PLANTED-left"), "{made}");
    // The notes reach proposals, and nobody after them.
    let later = ["cross-critique", "synthesis", "lead-developer", "code-quality-advisor"];
    let latest = ["test-stability-advisor", "implementation", "evaluator"];
    for role in later.iter().chain(&latest) {
        for number in 0..times(&scratch, role) {
            assert_eq!(lines(&scratch, role, number, "NOTED"), [""; 0], "{role} {number}");
        }
        assert!(times(&scratch, role) > 0, "{role} was asked");
    }
    let landed = scratch.git(&["show", "harness/say-hello:docs/harness/say-hello/qa_notes.md"]);
    assert_eq!(landed, "NOTED: users want it loud");
}

#[test]
fn whoever_is_to_see_a_change_alone_sees_no_commit_on_the_way_to_it() {
    let keeps = "[[unit]]\nstage = \"keep\"\nsave = \"commit\"\n\
                 on = { saved = \"next\", nothing = \"next\" }\n\n[[unit]]\nstage  = \"prove\"\n";
    let flow = fixture("small.toml").replace("[[unit]]\nstage  = \"prove\"\n", keeps);
    assert!(flow.contains("save ="));
    let role = "---\npurpose: looks at it\nlane: clean\n---\nLook at it.\n";
    let tasks = "[[task]]\nid = 'hello'\ntitle = 'PLANTED-title'\ncareful = false\n";
    let files = [
        ("flow.toml", flow.as_str()),
        (".windlass/roles/reviewer.md", role),
        ("tasks.toml", tasks),
    ];
    let scratch = Scratch::with(&files);
    // The first attempt is kept and fails, so that there is a commit below the one that is judged.
    let plays = "[ $number = 0 ] && greeting=helo || greeting=hello\n\
                 [ $WINDLASS_ROLE = worker ] && { echo $greeting > hello.txt; answers done so; }\n\
                 answers clear so\n";
    hire(&scratch, &format!("{LOOKS}{plays}"), EVERYBODY, "sh test.sh");
    let (code, said) = ended(scratch.start().output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(times(&scratch, "worker"), 2);
    assert!(saw(&scratch, "worker", 1, "history").contains(MARK), "a commit says so");
    let history = saw(&scratch, "reviewer", 0, "history");
    assert!(!history.contains(MARK), "{history}");
    let commits = saw(&scratch, "reviewer", 0, "objects").matches("\nauthor ").count();
    assert_eq!(commits, 2, "only those that it was begun from");
    assert!(history.contains("+hello"), "{history}");
}
