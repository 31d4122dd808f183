//! The language of whoever is spoken to: found in what they write, followed when they change it, and told to agents.

use std::process::Command;

use crate::answers::Sitting;
use crate::scratch::{Scratch, ended, fixture};

/// The small workflow under the name of a built-in one, with one of its questions: the question is word for word the
/// built-in one, of the options one is and one is not.
fn flow() -> String {
    let small = fixture("small.toml").replace("workflow = \"small\"", "workflow = \"task\"");
    let task = "[inputs]\ntask = { type = 'text', default = 'none' }\n\n[units]";
    let asked = "stage = \"spec_gate\"\n\
        gate  = \"Review the spec above. Implementation consumes significant tokens. Confirm to proceed.\"\n\
        [unit.on]\n\
        proceed = { to = \"next\", label = \"Proceed\", about = \"Start implementation as specified\" }\n\
        stop    = { pause = \"spec_gate\", label = \"Give it up\", about = \"Halt the workflow\" }\n";
    let own = "stage = \"approve\"\nwhen  = \"unit.careful\"\ngate  = \"Land {unit.id}?\"\n\
               on    = { yes = \"next\", no = \"failed\" }\n";
    assert!(small.contains(own) && small.contains("[units]"));
    // Asked between the worker and the reviewer.
    let review = "[[unit]]\nstage = \"review\"";
    small
        .replace("[units]", task)
        .replace(&format!("[[unit]]\n{own}"), "")
        .replace(review, &format!("[[unit]]\n{asked}\n{review}"))
}

const ONE: &str = "[[task]]\nid = 'hello'\ntitle = 'Say hello'\ncareful = true\n";

fn scratch() -> Scratch {
    Scratch::with(&[("flow.toml", &flow()), ("tasks.toml", ONE)])
}

fn begin(scratch: &Scratch, task: &str) -> Command {
    let mut command = scratch.start();
    command.args(["--set", &format!("task={task}")]);
    command
}

fn says(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// What a role was told last.
fn prompt(scratch: &Scratch, role: &str) -> String {
    let log = says(&mut scratch.windlass(&["log", "--full"]));
    let from = log.rfind(&format!("# Your role: {role}")).expect("it was asked");
    let now = log[from..].find("# Now").expect("it was told what to do");
    log[from + now..].lines().skip(1).take_while(|line| line.starts_with("    |")).collect()
}

#[test]
fn who_writes_korean_reads_korean_and_who_changes_to_english_reads_english() {
    let scratch = scratch();
    let (code, said) = ended(begin(&scratch, "로그인 버그를 고쳐줘").output().unwrap());
    assert_eq!(code, Some(8), "{said}");
    for korean in [
        "최대: 실행 전체",
        "hello: 시작 — Say hello",
        "검사 test: 통과",
        "hello: spec_gate: 질문 (gate 0): 위 스펙을 검토해 주세요.",
        "답변을 기다리는 중: `windlass gates`",
    ] {
        assert!(said.contains(korean), "{korean} is missing: {said}");
    }

    let gates = says(&mut scratch.windlass(&["gates"]));
    assert!(gates.contains("  위 스펙을 검토해 주세요. 구현에는"), "{gates}");
    assert!(gates.contains("    proceed      진행 — 스펙대로 구현을 시작합니다\n"), "{gates}");
    assert!(gates.contains("    stop         Give it up — 워크플로를 멈춥니다\n"), "{gates}");
    assert!(gates.contains("    other        직접 입력 — 작업 담당에게 전달되며"), "{gates}");
    assert!(gates.contains("답하려면: windlass answer task-1:0 KEY"), "{gates}");
    let status = says(&mut scratch.windlass(&["status"]));
    assert!(status.contains("task-1: 답변을 기다리는 중\n"), "{status}");
    let log = says(&mut scratch.windlass(&["log"]));
    assert!(log.contains("검사 test: 통과"), "{log}");

    // Programs read English.
    let gates = says(&mut scratch.windlass(&["gates", "--json"]));
    assert!(gates.contains("\"Review the spec above.") && gates.contains("\"Proceed\""), "{gates}");
    let status = says(&mut scratch.windlass(&["status", "--json"]));
    assert!(status.contains("waiting for an answer"), "{status}");

    let told = prompt(&scratch, "worker");
    assert!(told.contains("in Korean. Names of fields, files and branches"), "{told}");

    // A key says nothing about a language; a sentence does.
    let text = "Please keep the old name and write the tests first";
    let answer = says(&mut scratch.windlass(&["answer", "0", "proceed", "--text", text]));
    assert_eq!(answer, "task-1:0 is answered\n");
    let (code, said) = ended(scratch.windlass(&["resume"]).output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("at most") && said.contains("1 done, 0 failed"), "{said}");
    let told = prompt(&scratch, "reviewer");
    assert!(!told.contains("Write what people read"), "{told}");
}

#[test]
fn who_answers_in_korean_is_spoken_to_in_korean_from_then_on() {
    let scratch = scratch();
    let (code, said) = ended(begin(&scratch, "Fix the login bug").output().unwrap());
    assert_eq!(code, Some(8), "{said}");
    assert!(said.contains("waiting for an answer"), "{said}");
    let answer = says(&mut scratch.windlass(&["answer", "0", "proceed", "--text", "좋아요"]));
    assert_eq!(answer, "task-1:0 질문에 답했습니다\n");
    let (code, said) = ended(scratch.windlass(&["resume"]).output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("전체 1개 중 완료 1"), "{said}");
    let told = prompt(&scratch, "reviewer");
    assert!(told.contains("in Korean."), "{told}");
}

#[test]
fn at_a_terminal_the_next_question_is_put_in_the_language_of_the_last_answer() {
    let scratch = scratch();
    let mut sitting = Sitting::at(&scratch);
    let seen = sitting.wait_for(1);
    assert!(seen.contains("Review the spec above.") && seen.contains("Proceed"), "{seen}");
    sitting.types("이름은 그대로 두고 테스트를 먼저 작성해줘\n");
    let seen = sitting.wait_for(2);
    let asked = seen.rsplit_once("Proceed").expect("it was asked before").1;
    assert!(asked.contains("위 스펙을 검토해 주세요."), "{asked}");
    assert!(asked.contains("proceed      진행  스펙대로 구현을 시작합니다"), "{asked}");
    // A key that is typed wrongly is no language either.
    sitting.types("procede\n");
    let seen = sitting.wait_for(3);
    assert!(seen.contains("`proceed`을(를) 뜻하셨나요?"), "{seen}");
    sitting.types("proceed\n");
    assert_eq!(sitting.code(), Some(0));
    assert_eq!(scratch.landed()["hello.txt"], "hello");
}

#[test]
fn the_environment_says_which_language_it_has_to_be() {
    let scratch = scratch();
    let status = says(scratch.windlass(&["status"]).env("WINDLASS_LANG", "ko"));
    assert_eq!(status, "실행 중인 것이 없습니다\n열린 실행이 없습니다\n");
    let mut german = begin(&scratch, "로그인 버그를 고쳐줘");
    let (code, said) = ended(german.env("WINDLASS_LANG", "de").output().unwrap());
    assert_eq!(code, Some(8), "{said}");
    assert!(said.contains("waiting for an answer"), "what has no file falls back: {said}");
    let told = prompt(&scratch, "worker");
    assert!(told.contains("in German."), "{told}");
    let mut strange = scratch.windlass(&["status"]);
    let (code, said) = ended(strange.env("WINDLASS_LANG", "klingon").output().unwrap());
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("WINDLASS_LANG") && said.contains("ko"), "{said}");
}
