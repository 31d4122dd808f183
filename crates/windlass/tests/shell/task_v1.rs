//! Sessions of task without a version, as another program left them: whole runs.

use std::fs;

use serde_json::{Value, json};

use crate::scratch::{Scratch, ended};

/// What every role does unless a test says otherwise.
const SCRIPT: &str = r####"
[[answer]]
role = 'planner-single'
write = { '{spec.md}' = '# Spec' }
say = { verdict = 'generated', summary = 'spec.md generated — 1 criterion', cost_usd = 0.01, tokens = 1 }
[[answer]]
role = 'generator-single'
write = { 'hello.txt' = "hello\n", '{changes.md}' = '- `hello.txt`' }
say = { verdict = 'changed', summary = 'changes.md changed — 1 file', cost_usd = 0.01, tokens = 1 }
[[answer]]
role = 'evaluator'
write = { '{qa_report.md}' = "### Verdict: PASS\n" }
say = { verdict = 'pass', summary = 'PASS — 1 of 1 criteria', cost_usd = 0.01, tokens = 1 }
[[answer]]
say = { verdict = 'none', cost_usd = 0.0, tokens = 1 }
"####;

const STATE: &str = ".harness/state.json";

// What is asked.
const SESSION: &str = "Previous session detected (v1). Resume, restart, or stop?";
const SPEC: &str = "Review the spec above.";
const VERIFY: &str = "Mechanical verification failed after 3 attempts.";
const UNPROVED: &str = "This session has no verify step, and the project's own commands fail";
const QA: &str = "QA result: FAIL (Layer 3).";
const COMMIT: &str = "Implementation complete. Choose how to finish:";

const DOCS: &str = "docs/harness/say-hello";

/// A session of the first version, in this phase, with what no program of ours knows.
fn session(phase: &str) -> Value {
    json!({
        "task": "Say hello", "phase": phase, "round": 1, "scope": "(no limit)", "max_files": 20,
        "docs_path": format!("{DOCS}/"), "branch": "harness/say-hello", "user_lang": "en",
        "test_cmd": "sh test.sh", "build_cmd": null, "mine": { "kept": [1, null, "x"] },
        "verify": { "layer1_result": null, "layer1_retries": 2, "own": true },
    })
}

fn without_verify(phase: &str) -> Value {
    let mut state = session(phase);
    state.as_object_mut().expect("an object").remove("verify");
    state
}

struct Left {
    scratch: Scratch,
}

impl Left {
    /// A repository in which a session was left, with its papers, and this before the usual script.
    fn with(state: &Value, script: &str, files: &[(&str, &str)]) -> Self {
        let script = format!("{script}{SCRIPT}");
        let ignored = (".gitignore", ".harness/\n");
        let mut all = vec![("script.toml", script.as_str()), ignored];
        all.extend(files);
        let left = Left { scratch: Scratch::with(&all) };
        let phase = state["phase"].as_str().unwrap_or_default();
        if phase != "plan_ready" {
            left.write(&format!("{DOCS}/spec.md"), "# Spec of theirs\n");
        }
        if !["plan_ready", "gen_ready"].contains(&phase) {
            left.write(&format!("{DOCS}/changes.md"), "- `hello.txt`\n");
        }
        left.write(STATE, &state.to_string());
        left
    }

    fn new(state: &Value) -> Self {
        Left::with(state, "", &[])
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.scratch.repo().join(path);
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        fs::write(path, text).expect("a file");
    }

    fn file(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.scratch.repo().join(path)).ok()
    }

    fn state(&self) -> Value {
        serde_json::from_str(&self.file(STATE).expect("a state")).expect("JSON")
    }

    /// Runs a verb: its exit code, and all that was said.
    fn run(&self, args: &[&str]) -> (Option<i32>, String) {
        let output = self.scratch.windlass(args).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let (code, said) = ended(output);
        (code, printed + &said)
    }

    /// The question that is open.
    fn asked(&self) -> Value {
        let gates = self.scratch.windlass(&["gates", "--json"]).output().unwrap();
        let gates: Value = serde_json::from_slice(&gates.stdout).unwrap();
        gates["gates"][0].clone()
    }

    #[track_caller]
    fn answered(&self, question: &str, answer: &str) {
        let asked = self.asked();
        assert!(asked["question"].as_str().expect("a question").contains(question), "{asked}");
        let (code, said) = self.run(&["answer", asked["id"].as_str().expect("its id"), answer]);
        assert_eq!(code, Some(0), "{answer}: {said}");
    }

    /// Answers the question that is open, and goes on.
    #[track_caller]
    fn answer(&self, question: &str, answer: &str) -> (Option<i32>, String) {
        self.answered(question, answer);
        self.run(&["resume"])
    }

    /// Begins, resumes the session, and goes on as far as nobody has to be asked.
    #[track_caller]
    fn resumed(&self) -> String {
        let (code, said) = self.run(&["task"]);
        assert_eq!(code, Some(8), "{said}");
        assert!(said.contains("[harness] Previous session detected (v1)."), "{said}");
        let (code, more) = self.answer(SESSION, "resume");
        assert_eq!(code, Some(8), "{more}");
        said + &more
    }

    /// The roles that were asked, in order.
    fn roles(&self) -> Vec<String> {
        let asked = self.scratch.notes("asked");
        asked.iter().map(|it| it["role"].as_str().expect("a role").to_owned()).collect()
    }
}

/// An answer of the script: a generator that writes this into the file that is tested.
fn generates(text: &str) -> String {
    format!(
        "[[answer]]\nrole = 'generator-single'\n\
         write = {{ 'hello.txt' = \"{text}\\n\", '{{changes.md}}' = '- `hello.txt`' }}\n\
         say = {{ verdict = 'changed', summary = 'changes.md changed', cost_usd = 0.0, tokens = 1 }}\n"
    )
}

/// "Resume v1 session by jumping to the v1 phase's corresponding step in the original flow"
#[test]
fn each_phase_goes_on_at_its_step_and_what_was_verified_elsewhere_is_verified_here() {
    for (phase, question, roles) in [
        ("plan_ready", SPEC, &["planner-single"][..]),
        ("gen_ready", COMMIT, &["generator-single", "evaluator"]),
        ("verify_ready", COMMIT, &["evaluator"]),
        ("verifying", COMMIT, &["evaluator"]),
        ("verify_done", COMMIT, &["evaluator"]),
        ("eval_ready", COMMIT, &["evaluator"]),
    ] {
        let left = Left::new(&session(phase));
        let said = left.resumed();
        assert!(left.asked()["question"].as_str().unwrap().contains(question), "{phase}: {said}");
        assert_eq!(left.roles(), roles, "{phase}: {said}");
        let checked = left.scratch.notes("checked");
        let proved = checked.iter().any(|it| {
            it["name"] == "test" && it["came"] == "pass" && it["command"] == "sh test.sh"
        });
        assert_eq!(proved, question == COMMIT, "{phase}: {checked:?}");
    }
}

/// "Do NOT migrate v1 sessions to v2." Until somebody has decided, not a byte of it is touched.
#[test]
fn the_file_of_the_session_keeps_its_form() {
    let found = session("gen_ready");
    let left = Left::new(&found);
    let (code, said) = left.run(&["task"]);
    assert_eq!((code, left.file(STATE)), (Some(8), Some(found.to_string())), "{said}");
    for row in
        ["Task   : Say hello", "Style  : auto", "Phase  : Generate — ready", "Round  : 1 / 3"]
    {
        assert!(said.contains(row), "{row}: {said}");
    }
    assert!(!said.contains("Mode"), "v1 has none: {said}");
    let (code, said) = left.answer(SESSION, "resume");
    assert_eq!(code, Some(8), "{said}");
    for line in ["[harness] Phase: Generate", "[harness] Phase: Evaluate (Layer 3)"] {
        assert_eq!(said.matches(line).count(), 1, "{line}: {said}");
    }
    let mut want = found;
    want["phase"] = "completed".into();
    want["verify"]["layer1_result"] = "PASS".into();
    want["verify"]["layer1_retries"] = 0.into();
    assert_eq!(left.state(), want);
    assert!(!left.scratch.repo().join(".harness/state.json.aside-1").exists());
    // What somebody else makes of it meanwhile is not lost.
    left.write(STATE, "{\"task\":\"mine\"}");
    let (code, said) = left.answer(COMMIT, "code_only");
    assert_eq!(code, Some(0), "{said}");
    let kept = [STATE, ".harness/state.json.aside-1"].map(|path| left.file(path));
    assert!(kept.contains(&Some("{\"task\":\"mine\"}".to_owned())), "{kept:?} {said}");
}

/// From its spec to its commit, on its own branch; nothing is generated before the spec is confirmed.
#[test]
fn a_session_goes_on_to_its_commit_and_leaves_nothing_behind() {
    let left = Left::new(&session("plan_ready"));
    left.resumed();
    assert_eq!(left.state()["phase"], "plan_ready");
    assert_eq!(left.file(&format!("{DOCS}/spec.md")).as_deref(), Some("# Spec"));
    let (code, said) = left.answer(SPEC, "proceed");
    assert_eq!(code, Some(8), "{said}");
    for line in ["✓ changes.md changed — 1 file", "Result : PASS"] {
        assert!(said.contains(line), "{line}: {said}");
    }
    let report = left.file(&format!("{DOCS}/verify_report.md")).unwrap();
    assert!(report.contains("| test | `sh test.sh` | PASS |"), "{report}");
    let (code, said) = left.answer(COMMIT, "code_only");
    assert_eq!(code, Some(0), "{said}");
    let branch = "harness/say-hello";
    assert_eq!(left.scratch.git(&["show", &format!("{branch}:hello.txt")]), "hello");
    assert!(left.scratch.landed().is_empty(), "main is as it was");
    assert!(!left.scratch.repo().join(".harness").exists(), "{said}");
    assert!(!left.scratch.repo().join("docs").exists(), "{said}");
}

/// "verify absent → skip verify entirely"; our own checks are no phase of its, and nothing lands without them.
#[test]
fn a_session_without_verify_has_no_such_phase_and_lands_nothing_unproved() {
    let left = Left::new(&without_verify("gen_ready"));
    let said = left.resumed();
    assert!(!said.contains("Verify") && left.state().get("verify").is_none(), "{said}");
    assert_eq!(left.file(&format!("{DOCS}/verify_report.md")), None);
    let (code, said) = left.answer(COMMIT, "all");
    assert_eq!(code, Some(0), "{said}");
    let landed = left.scratch.git(&["ls-tree", "-r", "--name-only", "harness/say-hello"]);
    assert!(landed.contains("docs/harness/say-hello/qa_report.md"), "{landed}");

    let left = Left::with(&without_verify("gen_ready"), &generates("bad"), &[]);
    left.resumed();
    let asked = left.asked();
    assert!(asked["question"].as_str().unwrap().contains(UNPROVED), "{asked}");
    assert!(asked["shows"].as_str().unwrap().contains("hello.txt is wrong"), "{asked}");
    assert_eq!(left.roles(), ["generator-single"], "no retries, and nobody evaluates it");
    let branch = left.scratch.git(&["branch", "--list", "harness/*"]);
    assert_eq!(branch, "");
    let (code, said) = left.answer(UNPROVED, "continue");
    assert_eq!(code, Some(8), "{said}");
    let asked = left.asked();
    let open = "the project's own commands fail on it, and it was gone on with";
    assert!(asked["shows"].as_str().unwrap().contains(open), "a person's word: {asked}");
}

/// Three retries, each told what failed; then a person, and no auto-fix.
#[test]
fn what_fails_is_mended_three_times_and_then_somebody_is_asked() {
    let left = Left::with(&session("gen_ready"), &generates("bad"), &[]);
    let said = left.resumed();
    assert_eq!(left.roles(), ["generator-single"; 4], "{said}");
    assert!(said.contains("Verify (Layer 1) FAIL — retrying Generator (attempt 3/3)"), "{said}");
    let prompts = left.scratch.windlass(&["log", "--full"]).output().unwrap();
    let prompts = String::from_utf8_lossy(&prompts.stdout).into_owned();
    assert!(prompts.contains("## verify_report.md"), "who mends it is told");
    let asked = left.asked();
    let keys: Vec<&str> =
        asked["options"].as_array().unwrap().iter().filter_map(|it| it["key"].as_str()).collect();
    assert_eq!(keys, ["continue", "manual", "stop", "other"], "{asked}");
    let state = left.state();
    assert_eq!(
        (&state["phase"], &state["verify"]["layer1_result"]),
        (&"verify_done".into(), &"FAIL".into())
    );
    assert_eq!(state["verify"]["layer1_retries"], 3);
    left.answered(VERIFY, "stop");
    let (code, said) = left.run(&["task"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("Phase  : Verify — complete") && said.contains("windlass resume"),
        "{said}"
    );
}

/// "Evaluator runs Layer 3 only"; Fix is the next round, and what the session had used of those stays used.
#[test]
fn a_fault_is_fixed_in_the_next_round_while_there_are_any() {
    let finds = "[[answer]]\nrole = 'evaluator'\nwrite = { '{qa_report.md}' = \"### Verdict: FAIL\\n\\n## Fix Instructions\\n1. greet\\n\" }\n\
                 say = { verdict = 'fail_l3', summary = 'FAIL L3 — AC1', cost_usd = 0.0, tokens = 1 }\n";
    let mut state = session("eval_ready");
    state["round"] = 2.into();
    let left = Left::with(&state, finds, &[]);
    left.resumed();
    assert!(left.asked()["shows"].as_str().unwrap().contains("1. greet"));
    let (code, said) = left.answer(QA, "fix");
    assert_eq!(code, Some(8), "{said}");
    let last = "Max rounds reached. Remaining issues in qa_report.md.";
    assert!(left.asked()["question"].as_str().unwrap().contains(last), "{said}");
    assert_eq!(
        (left.state()["round"].clone(), left.roles()),
        (3.into(), ["evaluator", "generator-single", "evaluator"].map(str::to_owned).to_vec())
    );
    let told = left.scratch.windlass(&["log", "--full"]).output().unwrap();
    assert!(String::from_utf8_lossy(&told.stdout).contains("layers: Layer 3 only"));
}

/// "Stop: Delete .harness/ and halt". What is gone is in the journal; what is no session's stays.
#[test]
fn stop_clears_the_session_and_halts() {
    let left = Left::new(&session("eval_ready"));
    left.write(".harness/learnings.md", "# Learnings\n");
    left.write(".harness/planner/old.md", "old\n");
    left.run(&["task"]);
    let (code, said) = left.answer(SESSION, "stop");
    assert_eq!(code, Some(5), "{said}");
    assert!(left.file(STATE).is_none() && left.file(".harness/planner/old.md").is_none());
    assert_eq!(left.file(".harness/learnings.md").as_deref(), Some("# Learnings\n"));
    assert!(left.file(&format!("{DOCS}/spec.md")).is_some(), "papers are not .harness/");
    assert!(left.roles().is_empty() && !said.contains("Phase"), "{said}");
    let (code, said) = left.run(&["task"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("what should be done?"), "{said}");
}

/// "Restart: Delete .harness/ and proceed to Step 1": the task that was given comes next, and is one of 2.0.
#[test]
fn a_new_task_comes_after_the_question_about_the_session_that_is_there() {
    let left = Left::new(&session("gen_ready"));
    let (code, said) = left.run(&["task", "Say goodbye", "--mode", "single"]);
    assert_eq!(code, Some(8), "{said}");
    assert_eq!(left.state(), session("gen_ready"));
    // Nothing is decided by asking again.
    let (code, said) = left.run(&["task", "Say goodbye", "--mode", "single"]);
    assert_eq!(code, Some(8), "{said}");
    left.answered(SESSION, "restart");
    let (_, said) = left.run(&["task", "Say goodbye", "--mode", "single"]);
    assert!(said.contains("Start afresh: windlass task"), "{said}");
    assert!(said.contains("task-1: task → harness/say-goodbye"), "{said}");
    let state = left.state();
    assert_eq!((&state["version"], &state["task"]), (&"2.0".into(), &"Say goodbye".into()));
    assert_eq!(state["mode"], "single");

    // Whoever has the session resumed has not got the new task.
    let left = Left::new(&session("gen_ready"));
    left.run(&["task", "Say goodbye"]);
    let (code, said) = left.answer(SESSION, "resume");
    assert_eq!(code, Some(8), "{said}");
    let (code, said) = left.run(&["task", "Say goodbye"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("task-v1-1 is under way"), "{said}");
}

/// v1 is always auto: a step goes on with the session, from where it is.
#[test]
fn steps_go_on_with_the_session_to_its_end() {
    for step in ["generate", "verify", "evaluate"] {
        let left = Left::new(&session("gen_ready"));
        let (code, said) = left.run(&["task", step]);
        assert_eq!(code, Some(8), "{said}");
        assert!(said.contains("has no steps of its own"), "{said}");
        left.answered(SESSION, "resume");
        let (code, said) = left.run(&["task", step]);
        assert_eq!(code, Some(8), "{said}");
        assert!(left.asked()["question"].as_str().unwrap().contains(COMMIT), "{step}: {said}");
    }
}

/// "If validation fails: … treat as Restart"
#[test]
fn a_path_that_leads_out_is_a_restart() {
    let mut state = session("gen_ready");
    state["docs_path"] = "docs/../../outside/".into();
    let left = Left::new(&state);
    left.run(&["task"]);
    let (code, said) = left.answer(SESSION, "resume");
    assert_eq!(code, Some(5), "{said}");
    assert!(said.contains("Recovered docs_path failed validation: docs/../../outside/"), "{said}");
    assert!(said.contains("Start afresh: windlass task"), "{said}");
    assert!(left.file(STATE).is_none() && left.roles().is_empty(), "{said}");
    assert!(!said.contains("Phase  :"), "what is gone has nothing to show: {said}");
}

/// What is over is no session, and what cannot be read as one is asked about as for any other.
#[test]
fn what_is_no_session_is_not_taken_for_one() {
    let left = Left::new(&session("completed"));
    let (code, said) = left.run(&["task"]);
    assert_eq!(code, Some(2), "{said}");
    let left = Left::new(&session("nowhere"));
    let (code, said) = left.run(&["task", "Say goodbye", "--mode", "single"]);
    assert_eq!(code, Some(8), "{said}");
    assert!(said.contains("without one there is no phase `nowhere`"), "{said}");
    // By a copy of task's definition such a session is not begun either.
    let left = Left::new(&session("gen_ready"));
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/../../workflows/task.toml");
    fs::copy(own, left.scratch.repo().join("copy.toml")).unwrap();
    let (code, said) = left.run(&["run", "copy.toml", "--set", "task=Say goodbye"]);
    assert_eq!((code, left.state()), (Some(5), session("gen_ready")), "{said}");
    assert!(said.contains("`windlass task` goes on with it"), "{said}");
}

/// Without git the work that is there is what it goes on with, and the change is given.
#[test]
fn without_git_the_change_is_given() {
    let left = Left::new(&session("gen_ready"));
    fs::remove_dir_all(left.scratch.repo().join(".git")).unwrap();
    left.run(&["task"]);
    let (code, said) = left.answer(SESSION, "resume");
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(left.file("hello.txt").as_deref(), Some("hello\n"), "{said}");
    assert!(left.file(STATE).is_none(), "{said}");
}

/// The person's language is that of the task.
#[test]
fn a_korean_session_is_spoken_to_in_korean() {
    let mut state = session("verify_ready");
    state["task"] = "로그인 버그를 고치고 테스트를 추가해 주세요".into();
    let left = Left::new(&state);
    let (_, said) = left.run(&["task"]);
    assert!(
        said.contains("이전 세션(v1)을 찾았습니다") && said.contains("검증 — 준비됨"),
        "{said}"
    );
    let shows = left.asked()["shows"].as_str().unwrap().to_owned();
    assert!(shows.contains("이어서 하기 전에 커밋하세요"), "{shows}");
}

/// What the session had made and committed is verified where it is, and its branch has it in the end.
#[test]
fn work_that_was_committed_before_is_proved_and_stays_where_it_is() {
    let left = Left::new(&session("verify_ready"));
    left.scratch.git(&["checkout", "-q", "-b", "harness/say-hello"]);
    left.write("hello.txt", "hello\n");
    left.scratch.git(&["add", "hello.txt"]);
    left.scratch.git(&["commit", "-qm", "Say hello"]);
    let made = left.scratch.git(&["rev-parse", "HEAD"]);
    let said = left.resumed();
    assert!(said.contains("Result : PASS"), "{said}");
    let (code, said) = left.answer(COMMIT, "code_only");
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(left.scratch.git(&["rev-parse", "harness/say-hello"]), made, "{said}");
    assert!(left.file(STATE).is_none(), "{said}");
}
