//! What a person meets at a terminal.

use super::rig::{DOCS, Rig, SLUG, TASK};
use crate::answers::Sitting;

/// What setup asks, the spec in their own editor, and on to the end without leaving the terminal.
#[test]
fn setup_asks_and_the_spec_is_opened_in_the_editor() {
    let rig = Rig::new("");
    let editor = rig.scratch.path("editor");
    std::fs::write(&editor, "#!/bin/sh\necho 'AC2: louder.' >> \"$1\"\n").unwrap();
    let mut command = rig.scratch.windlass(&["task", TASK]);
    command.env("VISUAL", format!("sh {}", editor.display()));
    let mut sitting = Sitting::with(&mut command);
    let seen = sitting.wait_for(1);
    assert!(
        seen.contains("Select workflow mode:") && seen.contains("standard (Recommended)"),
        "{seen}"
    );
    sitting.types("many\n");
    let seen = sitting.wait_for(2);
    assert!(seen.contains("`many` cannot be taken: standard, single, multi"), "{seen}");
    sitting.types("2\n");
    let seen = sitting.wait_for(3);
    assert!(seen.contains("Select model configuration for sub-agents:"), "{seen}");
    // Three models of one's own; what is left out is as in `balanced`.
    sitting.types("executor:haiku\n");
    sitting.wait_for(4);
    sitting.types("skip\n");
    let seen = sitting.wait_for(5);
    assert!(seen.contains("AC1: hello.txt greets."), "{seen}");
    sitting.types("modify\n");
    let seen = sitting.wait_for(6);
    assert!(seen.contains("in your editor; when you close it, it is read again"), "{seen}");
    sitting.types("edit\n");
    let seen = sitting.wait_for(7);
    assert!(seen.rsplit_once("in your editor").unwrap().1.contains("AC2: louder."), "{seen}");
    let state = rig.state();
    assert_eq!(
        (&state["mode"], &state["model_config"]["executor"]),
        (&"single".into(), &"haiku".into())
    );
    sitting.types("proceed\n");
    let seen = sitting.wait_for(8);
    assert!(seen.contains("Implementation complete. Choose how to finish:"), "{seen}");
    sitting.types("all\n");
    assert_eq!(sitting.code(), Some(0));
    let spec = rig.scratch.git(&["show", &format!("harness/{SLUG}:{DOCS}/spec.md")]);
    assert!(spec.ends_with("AC2: louder."), "{spec}");
}

#[test]
fn a_task_that_is_under_way_is_resumed_or_ended() {
    let mut rig = Rig::new("");
    rig.does(&["--mode", "single"], &[("stay", &[])]);
    let mut sitting = Sitting::with(&mut rig.scratch.windlass(&["task", TASK, "--mode", "single"]));
    let seen = sitting.wait_for(1);
    assert!(seen.contains("This task is under way already."), "{seen}");
    sitting.types("resume\n");
    let seen = sitting.wait_for(2);
    assert!(seen.contains("No rich CLAUDE.md found."), "{seen}");
    sitting.types("skip\n");
    sitting.wait_for(3);
    sitting.types("stop\n");
    assert_eq!(sitting.code(), Some(5));
    let flags = ["task", "Something else", "--mode", "single", "--model-config", "economy"];
    let mut sitting = Sitting::with(&mut rig.scratch.windlass(&flags));
    let seen = sitting.wait_for(1);
    assert!(
        seen.contains("[harness] Previous session detected. Resume, restart, or stop?"),
        "{seen}"
    );
    sitting.types("restart\n");
    sitting.wait_for(2);
    assert_eq!(rig.state()["slug"], "something-else");
    sitting.types("skip\n");
    sitting.wait_for(3);
    sitting.types("stop\n");
    assert_eq!(sitting.code(), Some(5));
    // What was cancelled is over, and its branch was never made.
    assert_eq!(rig.scratch.git(&["branch", "--list", "harness/*"]), "");
}

/// T4: whoever writes Korean is asked and told in Korean, and agents are told to write it.
#[test]
fn a_task_in_korean_is_spoken_about_in_korean() {
    let mut rig = Rig::new("");
    assert_eq!(rig.run(&["task", "세계에 인사하는 파일을 추가해줘", "--mode", "single"]), Some(8));
    rig.saw("[harness] 작업을 시작했습니다!");
    rig.saw("모드");
    assert_eq!(rig.state()["user_lang"], "ko");
    assert_eq!(rig.state()["branch"], "harness/segyee-insahaneun-paileul-chugahaejwo");
    assert_eq!(rig.answers(&[]), Some(0), "{}", rig.told);
    rig.saw("[harness] ✓ QA PASS — 작업이 완료되었습니다.");
    let mut words = rig.told.split(|letter: char| !letter.is_alphabetic());
    assert!(!words.any(|word| word == "Dispatching"), "{}", rig.told);
    // Whoever changes their language is answered in it from then on.
    let mut rig = Rig::new("");
    rig.run(&["task", "세계에 인사하는 파일을 추가해줘", "--mode", "single"]);
    let (id, ..) = rig.asked().unwrap();
    let text = "Please speak English with me from now on, and skip the scan of the code.";
    rig.run(&["answer", &id, "skip", "--text", text]);
    rig.run(&["resume"]);
    assert_eq!(rig.state()["user_lang"], "en");
    rig.saw("[harness] Phase: Plan");
}
