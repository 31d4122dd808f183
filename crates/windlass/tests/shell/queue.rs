//! The queue: what is to land is proved as it lands, together with what else is ready, and lands together.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::agent::{EVERYBODY, hire, pipe};
use crate::scratch::{Followed, Scratch, ended, fixture};

/// Writes what its unit is about; all but `a` wait until they may begin. What it is told is kept.
const AGENT: &str = r#"#!/bin/sh
here="$(dirname "$0")"
cat > "$here/told-$WINDLASS_UNIT-$WINDLASS_ROLE-$WINDLASS_ATTEMPT"
if [ -p "$here/start-$WINDLASS_UNIT" ] && [ "$WINDLASS_ROLE$WINDLASS_ATTEMPT" = worker1 ]; then
  read line < "$here/start-$WINDLASS_UNIT"
fi
case "$WINDLASS_ROLE $WINDLASS_ATTEMPT" in
  "worker 1") if [ -e "$here/shared" ]; then echo "$WINDLASS_UNIT" > shared.txt; else echo "$WINDLASS_UNIT" > "$WINDLASS_UNIT.txt"; fi ;;
  "resolver "*) grep -v '^[<=>]' shared.txt > all; mv all shared.txt ;;
  *) echo mended > mended.txt ;;
esac
if [ "$WINDLASS_UNIT" = settings ]; then echo '# mine' >> windlass.toml; fi
if [ "$WINDLASS_UNIT $WINDLASS_ATTEMPT" = "secret 1" ]; then echo 'tok-abcdef-123456' > secret.txt; fi
if [ "$WINDLASS_UNIT $WINDLASS_ATTEMPT" = "secret 2" ]; then echo 'none of yours' > secret.txt; fi
if [ "$WINDLASS_UNIT $WINDLASS_ATTEMPT" = "odd 1" ]; then mkdir git~1; echo odd > git~1/odd; fi
if [ "$WINDLASS_UNIT $WINDLASS_ATTEMPT" = "odd 2" ]; then rm -r git~1; fi
if [ "$WINDLASS_UNIT" = large ] && [ ! -e "$here/large" ]; then touch "$here/large"; truncate -s 105000000 large.bin; fi
echo '{"verdict":"done"}'
"#;

/// Fails where both `c` and `d` are and nobody has mended that, which neither can know alone. Whoever runs it first says so
/// and waits; each run is counted, with what it saw.
const TEST: &str = r#"here="$1"
echo "$(ls | grep '\.txt$' | tr '\n' ' ')" >> "$here/runs"
if [ -p "$here/checking" ] && [ ! -e "$here/opened" ]; then
  echo "$here" > "$here/checking"
  read line < "$here/gate"
fi
if [ -e c.txt ] && [ -e d.txt ] && [ ! -e mended.txt ]; then echo 'c and d do not go together'; exit 1; fi
"#;

/// A repository in which these are to be done, each by an agent that waits for its turn, but for the first.
fn scratch(units: &[&str]) -> Scratch {
    with_flow(&fixture("queued.toml"), units)
}

/// What is made is also proved by itself before it is to land.
fn proved_before() -> String {
    let flow = fixture("queued.toml");
    let land = "[[unit]]\nstage = \"land\"";
    assert!(flow.contains(land));
    let prove = "[[unit]]\nstage = \"prove\"\nchecks = [\"test\"]\n\
                 on = { pass = \"next\", skipped = \"next\", fail = { to = \"do\", count = \"tries\" } }\n\n";
    flow.replace(land, &format!("{prove}{land}"))
}

fn with_flow(flow: &str, units: &[&str]) -> Scratch {
    let tasks: String =
        units.iter().map(|id| format!("[[task]]\nid = '{id}'\ntitle = 'Make {id}'\n")).collect();
    let catalogue = fixture("small-catalogue.toml");
    let catalogue = catalogue.replace("{ careful = \"flag\" }", "{}")
        + "[role.resolver]\nabout = 'makes one of two'\nverdicts = ['done', 'failed']\n";
    let files = [("flow.toml", flow), ("catalogue.toml", &catalogue), ("tasks.toml", &tasks)];
    let scratch = Scratch::with(&[&files[..], &[("test.sh", TEST)]].concat());
    let check = format!("sh test.sh {}", scratch.path("talk").display());
    hire(&scratch, AGENT, EVERYBODY, &check);
    for name in units[1..].iter().map(|unit| format!("start-{unit}")) {
        pipe(&scratch, &name);
    }
    pipe(&scratch, "checking");
    pipe(&scratch, "gate");
    scratch
}

fn queued(entry: &Value) -> bool {
    entry["note"] == "queued"
}

/// Has `a` be proved by itself, and all the others wait in the queue meanwhile.
fn gathered(scratch: &Scratch, others: &[&str], command: &mut Command) -> Followed {
    let mut run = scratch.follow(command);
    assert!(fs::read_to_string(scratch.path("talk/checking")).is_ok(), "a is being proved");
    for unit in others {
        fs::write(scratch.path(&format!("talk/start-{unit}")), "go\n").unwrap();
    }
    for _ in others {
        run.until("all of them wait", queued);
    }
    run
}

/// Lets checks go on, this one and all that come.
fn open(scratch: &Scratch) {
    fs::write(scratch.path("talk/opened"), "").unwrap();
    fs::write(scratch.path("talk/gate"), "go\n").unwrap();
}

/// What each run of the check saw.
fn runs(scratch: &Scratch) -> Vec<String> {
    let runs = fs::read_to_string(scratch.path("talk/runs")).unwrap();
    runs.lines().map(|line| line.trim().to_owned()).collect()
}

/// Where the branch has been since the run began, oldest first. Each of these passes the check.
fn moves(scratch: &Scratch) -> Vec<String> {
    fs::write(scratch.path("talk/opened"), "").unwrap();
    let been = scratch.git(&["reflog", "show", "--format=%H", "main"]);
    let mut been: Vec<String> = been.lines().map(str::to_owned).collect();
    been.reverse();
    been.retain(|commit| !scratch.git(&["log", "-1", "--format=%cn", commit]).contains("Ada"));
    for commit in &been {
        let dir = scratch.path(&format!("been/{commit}"));
        fs::create_dir_all(&dir).unwrap();
        scratch.sh(&format!("git archive {commit} | tar -x -C '{}'", dir.display()));
        let test = Command::new("sh").args(["test.sh", "."]).current_dir(&dir).output().unwrap();
        assert!(test.status.success(), "the branch was at {commit}, where its check fails");
    }
    been
}

fn merges(scratch: &Scratch) -> Vec<String> {
    let said = scratch.git(&["log", "--first-parent", "--merges", "--format=%s", "main"]);
    let mut said: Vec<String> = said.lines().map(str::to_owned).collect();
    said.sort();
    said
}

#[test]
fn what_is_ready_lands_together_on_one_run_of_the_checks() {
    let others = ["b", "c", "e", "f", "g"];
    let scratch = scratch(&["a", "b", "c", "e", "f", "g"]);
    let run = gathered(&scratch, &others, &mut scratch.start());
    open(&scratch);
    assert_eq!(run.code(), Some(0));
    assert_eq!(
        runs(&scratch),
        ["a.txt", "a.txt b.txt c.txt e.txt f.txt g.txt"],
        "six landings, two runs"
    );
    assert_eq!(moves(&scratch).len(), 2, "and two moves of the branch");
    let all = ["Make a", "Make b", "Make c", "Make e", "Make f", "Make g"];
    assert_eq!(merges(&scratch), all, "each with a commit of its own");
    assert_eq!(scratch.git(&["status", "--porcelain"]), "");
    // Each says why it was let in, and what was proved.
    let tree = scratch.git(&["rev-parse", "main^{tree}"]);
    for landed in scratch.notes("landed") {
        let commit = landed["commit"].as_str().unwrap();
        let note = scratch.git(&["notes", "--ref", "windlass", "show", commit]);
        let note: Value = serde_json::from_str(&note).unwrap();
        assert_eq!(note["unit"], landed["unit"]);
        let check = &note["checks"][0];
        assert_eq!((&check["check"], &check["came"]), (&"test".into(), &"pass".into()));
        if landed["unit"] != "a" {
            assert_eq!(check["tree"], *tree);
        }
    }
    let told = scratch.windlass(&["log"]).output().unwrap().stdout;
    let told = String::from_utf8_lossy(&told).into_owned();
    assert!(told.contains(": pass together"), "{told}");
    assert_eq!(scratch.processes(), [""; 0]);
}

#[test]
fn what_breaks_only_in_combination_is_found_and_the_others_land() {
    let others = ["b", "c", "d", "e", "f"];
    let scratch = scratch(&["a", "b", "c", "d", "e", "f"]);
    let run = gathered(&scratch, &others, &mut scratch.start());
    open(&scratch);
    assert_eq!(run.code(), Some(0));
    assert_eq!(merges(&scratch).len(), 6, "mended, it lands as well");
    moves(&scratch);
    let turned = scratch.notes("turned");
    assert_eq!(turned.len(), 1, "{turned:?}");
    assert_eq!(turned[0]["came"], "fail");
    let red = turned[0]["unit"].as_str().unwrap();
    assert!(["c", "d"].contains(&red), "{red}");
    // It was rebuilt on what it failed with, and its worker was told what failed.
    let held = if red == "c" { "d.txt" } else { "c.txt" };
    let tip = turned[0]["tip"].as_str().unwrap();
    assert!(scratch.git(&["ls-tree", "--name-only", tip]).contains(held), "landed before it");
    let told = fs::read_to_string(scratch.path(&format!("talk/told-{red}-worker-2"))).unwrap();
    assert!(told.contains("c and d do not go together"), "{told}");
    let landed = scratch.git(&["log", "--first-parent", "--format=%s", "main"]);
    assert!(landed.starts_with(&format!("Make {red}\n")), "the last of them: {landed}");
    let report = scratch.windlass(&["report"]).output().unwrap();
    let report = String::from_utf8(report.stdout).unwrap();
    assert!(report.contains("land: fail; failed: test"), "why it was tried again: {report}");
    let proved = format!("| {red} | check test | `sh test.sh");
    let proved = report.lines().find(|line| line.starts_with(&proved)).expect("its evidence");
    assert!(proved.contains("| pass |"), "{proved}");
    // Five that wait are cut in half at most three times, and those behind are proved once more.
    assert!(runs(&scratch).len() <= 7, "{:?}", runs(&scratch));
}

#[test]
fn what_conflicts_with_what_landed_is_resolved_with_both_intents_and_proved_again() {
    let scratch = scratch(&["a", "b", "c"]);
    fs::write(scratch.path("talk/shared"), "").unwrap();
    let run = gathered(&scratch, &["b", "c"], &mut scratch.start());
    open(&scratch);
    assert_eq!(run.code(), Some(0));
    assert_eq!(merges(&scratch), ["Make a", "Make b", "Make c"]);
    let shared = scratch.git(&["show", "main:shared.txt"]);
    let mut lines: Vec<&str> = shared.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["a", "b", "c"], "nobody's work is lost");
    moves(&scratch);
    let turned = scratch.notes("turned");
    let came: Vec<&Value> = turned.iter().map(|note| &note["came"]).collect();
    assert_eq!(
        came,
        ["conflict", "conflict", "conflict"],
        "b and c with a, then one of them again"
    );
    let told = |unit: &str| {
        fs::read_to_string(scratch.path(&format!("talk/told-{unit}-resolver-1"))).unwrap()
    };
    for unit in ["b", "c"] {
        let told = told(unit);
        assert!(told.contains("Both sides are in: shared.txt"), "{told}");
        assert!(told.contains("Make a") && told.contains("(`a`)"), "whose it is, and why: {told}");
    }
}

#[test]
fn who_moves_the_branch_while_checks_run_has_them_run_again_on_what_they_made() {
    let scratch = scratch(&["a", "b"]);
    let run = gathered(&scratch, &["b"], &mut scratch.start());
    fs::write(scratch.repo().join("theirs.txt"), "theirs\n").unwrap();
    scratch.git(&["add", "theirs.txt"]);
    scratch.git(&["commit", "-qm", "Theirs"]);
    let theirs = scratch.git(&["rev-parse", "HEAD"]);
    open(&scratch);
    assert_eq!(run.code(), Some(0));
    let expected = ["a.txt", "a.txt b.txt theirs.txt"];
    assert_eq!(runs(&scratch), expected, "nothing lands on what was not looked at");
    scratch.git(&["merge-base", "--is-ancestor", &theirs, "main"]);
    assert_eq!(moves(&scratch).len(), 1);
    assert_eq!(scratch.notes("turned"), [Value::Null; 0], "the workflow is not bothered");
    assert_eq!(fs::read_to_string(scratch.repo().join("theirs.txt")).unwrap(), "theirs\n");
}

fn theirs(scratch: &Scratch, round: usize) {
    fs::write(scratch.repo().join("theirs.txt"), format!("{round}\n")).unwrap();
    scratch.git(&["add", "theirs.txt"]);
    scratch.git(&["commit", "-qm", &format!("Theirs, {round}")]);
}

#[test]
fn whose_branch_is_never_at_rest_is_told_to_the_workflow_after_five_tries() {
    let scratch = scratch(&["a", "b"]);
    let mut run = gathered(&scratch, &["b"], &mut scratch.start());
    for round in 1..=5 {
        theirs(&scratch, round);
        fs::write(scratch.path("talk/gate"), "go\n").unwrap();
        if round < 5 {
            assert!(fs::read_to_string(scratch.path("talk/checking")).is_ok(), "proved anew");
        }
    }
    let turned = |entry: &Value| entry["note"] == "turned";
    for _ in 0..2 {
        run.until("both go back to their lanes", turned);
    }
    assert!(fs::read_to_string(scratch.path("talk/checking")).is_ok(), "and come again");
    open(&scratch);
    assert_eq!(run.code(), Some(0));
    let turned = scratch.notes("turned");
    assert!(turned.iter().all(|note| note["came"] == "moved"), "{turned:?}");
    assert_eq!(turned.len(), 2, "each of those who waited: {turned:?}");
    assert_eq!(merges(&scratch), ["Make a", "Make b"]);
    assert_eq!(scratch.landed()["theirs.txt"], "5");
    moves(&scratch);
}

#[test]
fn who_brings_a_secret_goes_back_and_the_others_land() {
    let scratch = scratch(&["a", "b", "secret", "e"]);
    let mut start = scratch.start();
    let run = gathered(
        &scratch,
        &["b", "secret", "e"],
        start.env("MY_DEPLOY_TOKEN", "tok-abcdef-123456"),
    );
    open(&scratch);
    assert_eq!(run.code(), Some(0));
    assert_eq!(merges(&scratch), ["Make a", "Make b", "Make e", "Make secret"]);
    assert_eq!(scratch.landed()["secret.txt"], "none of yours", "it was mended");
    let all = scratch.git(&["log", "--all", "-p", "--format=%B"]);
    assert!(!all.contains("tok-abcdef-123456"), "no commit ever had it");
    let turned = scratch.notes("turned");
    assert_eq!((turned.len(), &turned[0]["came"]), (1, &Value::from("fail")), "{turned:?}");
    let said = scratch.notes("told");
    let said: Vec<&str> = said.iter().filter_map(|note| note["text"].as_str()).collect();
    assert!(
        said.iter().any(|it| it.contains("secret.txt holds the value of a secret")),
        "{said:?}"
    );
}

#[test]
fn what_git_takes_nowhere_else_goes_back_with_the_reason_and_the_others_land() {
    let scratch = scratch(&["a", "b", "odd", "e"]);
    let run = gathered(&scratch, &["b", "odd", "e"], &mut scratch.start());
    open(&scratch);
    assert_eq!(run.code(), Some(0));
    assert_eq!(merges(&scratch), ["Make a", "Make b", "Make e", "Make odd"]);
    assert_eq!(scratch.landed()["odd.txt"], "odd");
    let turned = scratch.notes("turned");
    assert_eq!((turned.len(), &turned[0]["unit"]), (1, &Value::from("odd")), "{turned:?}");
    let refused = scratch.notes("checked").into_iter().filter(|it| it["name"] == "landing");
    let refused: Vec<Value> = refused.collect();
    assert_eq!(refused.len(), 1, "whoever mends it is told as of a check: {refused:?}");
    assert_eq!((&refused[0]["unit"], &refused[0]["came"]), (&"odd".into(), &"fail".into()));
    let all = scratch.git(&["log", "--all", "--name-only", "--format="]);
    assert!(!all.contains("git~1"), "{all}");
}

#[test]
fn who_leaves_too_much_behind_is_asked_again_and_the_others_land() {
    let scratch = scratch(&["a", "large", "b"]);
    let run = gathered(&scratch, &["large", "b"], &mut scratch.start());
    open(&scratch);
    assert_eq!(run.code(), Some(0));
    assert_eq!(merges(&scratch), ["Make a", "Make b", "Make large"]);
    assert!(!scratch.landed().contains_key("large.bin"));
    let answers = scratch.notes("answered").into_iter().filter(|it| it["unit"] == "large");
    let answers: Vec<Value> = answers.collect();
    assert_eq!(answers[0]["came"], "unknown", "{answers:#?}");
    let remarks = answers[0]["remarks"].to_string();
    assert!(remarks.contains("large.bin") && remarks.contains("kept beside its lane"), "{remarks}");
}

/// What it would take to make one of two has to be done: marks of a conflict are never anybody's work.
#[test]
fn marks_of_a_conflict_do_not_get_into_a_train() {
    let scratch = scratch(&["a", "b"]);
    fs::write(scratch.path("talk/shared"), "").unwrap();
    let agent = fs::read_to_string(scratch.path("talk/agent")).unwrap();
    let resolves = r#""resolver "*) grep"#;
    assert!(agent.contains(resolves));
    let agent = agent.replace(resolves, r#""resolver 1") ;; "resolver "*) grep"#);
    fs::write(scratch.path("talk/agent"), agent).unwrap();
    let run = gathered(&scratch, &["b"], &mut scratch.start());
    open(&scratch);
    assert_eq!(run.code(), Some(0));
    let been = moves(&scratch);
    for commit in been {
        let shared = scratch.git(&["show", &format!("{commit}:shared.txt")]);
        assert!(!shared.contains("<<<<"), "{shared}");
    }
    assert_eq!(merges(&scratch), ["Make a", "Make b"]);
    let told = scratch.path("talk/told-b-resolver-2");
    assert!(told.exists(), "the resolver that left the marks was asked again");
}

/// Checks do not wait for anybody.
fn unhindered(scratch: &Scratch) {
    fs::write(scratch.path("talk/opened"), "").unwrap();
}

#[test]
fn what_was_proved_of_that_very_tree_is_not_proved_again() {
    let flow = proved_before().replace("lanes  = 6", "lanes  = 1");
    let scratch = with_flow(&flow, &["a", "b"]);
    unhindered(&scratch);
    fs::remove_file(scratch.path("talk/start-b")).unwrap();
    let (code, said) = ended(scratch.start().output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(merges(&scratch), ["Make a", "Make b"]);
    let expected = ["", "a.txt", "a.txt b.txt"];
    assert_eq!(runs(&scratch), expected, "the base once, and each state once");
    assert_eq!(scratch.notes("proved"), [Value::Null; 0]);
    moves(&scratch);
}

#[test]
fn what_passed_alone_is_proved_again_with_what_has_landed_since() {
    let scratch = with_flow(&proved_before(), &["c", "d"]);
    unhindered(&scratch);
    // Neither can begin where the other has landed.
    pipe(&scratch, "start-c");
    let run = scratch.start().spawn().unwrap();
    for unit in ["c", "d"] {
        fs::write(scratch.path(&format!("talk/start-{unit}")), "go\n").unwrap();
    }
    let (code, said) = ended(run.wait_with_output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(merges(&scratch), ["Make c", "Make d"]);
    moves(&scratch);
    let turned = scratch.notes("turned");
    assert_eq!(turned.len(), 1, "the second of them was red");
    assert_eq!(turned[0]["came"], "fail");
    assert_eq!(scratch.landed()["mended.txt"], "mended");
}

#[test]
fn who_would_change_what_agents_may_do_does_not_land_with_others_either() {
    let scratch = scratch(&["a", "b", "settings"]);
    let before = scratch.git(&["show", "main:windlass.toml"]);
    let run = gathered(&scratch, &["b", "settings"], &mut scratch.start());
    open(&scratch);
    assert_ne!(run.code(), Some(0), "it is not done");
    assert_eq!(scratch.git(&["show", "main:windlass.toml"]), before);
    let told = scratch.notes("told");
    let told: Vec<&str> = told.iter().filter_map(|note| note["text"].as_str()).collect();
    assert!(
        told.iter().any(|it| it.contains("settings would land changes windlass.toml")),
        "{told:?}"
    );
    assert_eq!(merges(&scratch), ["Make a", "Make b"], "and it is in nobody's way");
}

#[test]
fn what_is_in_the_way_of_a_train_is_left_alone_and_the_train_waits() {
    let scratch = scratch(&["a", "b", "c"]);
    fs::write(scratch.repo().join("b.txt"), "a person's own\n").unwrap();
    let run = gathered(&scratch, &["b", "c"], &mut scratch.start());
    open(&scratch);
    assert_eq!(run.code(), Some(0));
    assert_eq!(merges(&scratch), ["Make a"], "b's file is in the way");
    assert_eq!(fs::read_to_string(scratch.repo().join("b.txt")).unwrap(), "a person's own\n");
    let landed = scratch.notes("landed");
    let waits: Vec<&str> = landed.iter().filter_map(|note| note["waits"].as_str()).collect();
    assert_eq!((waits.len(), waits[0]), (2, waits[1]), "both, and they are taken together");
    fs::remove_file(scratch.repo().join("b.txt")).unwrap();
    scratch.sh(waits[0]);
    assert_eq!(merges(&scratch), ["Make a", "Make b", "Make c"]);
}

#[test]
fn what_nothing_was_run_on_lands_and_that_is_said() {
    let flow = fixture("queued.toml");
    let proof = "proof = [\"test\"]\n";
    let flow = flow.replace(proof, &format!("{proof}with = {{ test = \"'none'\" }}\n"));
    let scratch = with_flow(&flow, &["a"]);
    let (code, said) = ended(scratch.start().output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(merges(&scratch), ["Make a"]);
    assert!(said.contains("although nothing has passed on it: test skipped"), "{said}");
}

#[test]
fn an_interrupt_and_a_cancel_leave_the_branch_alone() {
    let scratch = scratch(&["a", "b"]);
    let before = scratch.git(&["rev-parse", "main"]);
    let run = gathered(&scratch, &["b"], &mut scratch.start());
    let interrupt = ["-INT", &run.child.id().to_string()];
    assert!(Command::new("kill").args(interrupt).status().unwrap().success());
    assert_eq!(run.code(), Some(130));
    assert_eq!(scratch.processes(), [""; 0]);
    // Gone on with, and then called off while it is being proved.
    let again = scratch.windlass(&["resume"]).spawn().unwrap();
    assert!(
        fs::read_to_string(scratch.path("talk/checking")).is_ok(),
        "one of them is being proved"
    );
    let (code, said) = ended(scratch.windlass(&["stop", "--cancel"]).output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = ended(again.wait_with_output().unwrap());
    assert_eq!(code, Some(5), "{said}");
    assert_eq!(scratch.git(&["rev-parse", "main"]), before);
    assert_eq!(scratch.notes("landed"), [Value::Null; 0]);
    assert_eq!(scratch.processes(), [""; 0]);
}

/// Ends a run on one side of the move of the branch to the last car of a train of three.
fn cut_off(scratch: &Scratch, others: &[&str], side: &str) {
    let socket = scratch.path("failpoints");
    let listener = UnixListener::bind(&socket).unwrap();
    let mut start = scratch.start();
    start.env("WINDLASS_FAILPOINTS", &socket);
    let here = || {
        // Everything stands still here.
        let coupled = scratch.notes("coupled");
        let cars = coupled.last().and_then(|note| note["cars"].as_array().cloned());
        let Some(cars) = cars.filter(|cars| cars.len() == 3) else { return false };
        let moved = cars[2]["commit"] == *scratch.git(&["rev-parse", "main"]);
        moved == (side == "after")
    };
    std::thread::scope(|scope| {
        let watch = scope.spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap());
            let mut line = String::new();
            while lines.read_line(&mut line).unwrap_or(0) > 0 {
                if line.trim_end().ends_with(&format!("\tland.update-ref\t{side}")) && here() {
                    // Nobody answers any more, and whoever waits for that is killed.
                    return Some((stream, lines));
                }
                line.clear();
                if stream.write_all(b"\n").is_err() {
                    break;
                }
            }
            None
        });
        let mut run = gathered(scratch, others, &mut start);
        open(scratch);
        let reached = watch.join().unwrap();
        run.child.kill().unwrap();
        assert_eq!(run.code(), None, "it was killed");
        assert!(reached.is_some(), "{side} was never reached");
    });
}

#[test]
fn cut_off_on_either_side_of_the_swap_a_train_lands_exactly_once() {
    for (side, there) in [("before", 1), ("after", 4)] {
        let scratch = scratch(&["a", "b", "c", "e"]);
        cut_off(&scratch, &["b", "c", "e"], side);
        assert_eq!(merges(&scratch).len(), there, "{side}");
        let coupled = scratch.notes("coupled");
        let cars = coupled.last().unwrap()["cars"].as_array().unwrap().clone();
        assert_eq!(cars.len(), 3, "written down before the branch moves");
        let (code, said) = ended(scratch.windlass(&["resume"]).output().unwrap());
        assert_eq!(code, Some(0), "{side}: {said}");
        assert_eq!(merges(&scratch), ["Make a", "Make b", "Make c", "Make e"], "{side}");
        moves(&scratch);
        let landed: Vec<Value> =
            scratch.notes("landed").into_iter().map(|note| note["commit"].clone()).collect();
        assert_eq!(landed.len(), 4, "{side}");
        for car in cars.iter().filter(|_| side == "after") {
            assert!(landed.contains(&car["commit"]), "found, and not made again");
        }
        for commit in landed.iter().map(|commit| commit.as_str().unwrap()) {
            scratch.git(&["merge-base", "--is-ancestor", commit, "main"]);
            scratch.git(&["notes", "--ref", "windlass", "show", commit]);
        }
        assert_eq!(scratch.git(&["status", "--porcelain"]), "", "{side}");
        assert!(!Path::new(&scratch.repo().join(".git/index.lock")).exists());
        assert_eq!(scratch.processes(), [""; 0]);
    }
}
