//! What is said at the command line: each mistake in the seed's words.

use super::rig::{Rig, TASK};

#[test]
fn mistakes_are_told_in_the_seeds_words() {
    let mut rig = Rig::new("");
    for (flag, value, message) in [
        (
            "--verifier-model",
            "gpt",
            "Invalid --verifier-model value. Allowed: haiku, sonnet, opus.",
        ),
        ("--output-dir", "", "output-dir cannot be empty."),
        ("--output-dir", "\\\\server\\share", "UNC paths are not allowed."),
        ("--output-dir", "//server/share", "UNC paths are not allowed."),
        ("--output-dir", "/absolute/path", "output-dir must be a relative path."),
        ("--output-dir", "C:\\work", "output-dir must be a relative path."),
        ("--output-dir", "docs/../../etc", "output-dir must not contain '..'."),
        ("--output-dir", ".harness", "output-dir value starts with a reserved directory name."),
        ("--output-dir", "memory/foo", "output-dir value starts with a reserved directory name."),
        ("--output-dir", "docs/other", "output-dir under docs/ must be docs/harness/..."),
    ] {
        rig.told.clear();
        assert_eq!(rig.run(&["task", TASK, flag, value]), Some(2), "{flag} {value}");
        rig.saw(message);
    }
    for (flag, value) in [
        ("--mode", "many"),
        ("--model-config", "cheap"),
        ("--max-files", "0"),
        ("--scope", "src,../.."),
    ] {
        assert_eq!(rig.run(&["task", TASK, flag, value]), Some(2), "{flag} {value}");
    }
    assert!(rig.file(".harness/state.json").is_none(), "nothing was started");
}

#[test]
fn what_is_said_is_in_the_state() {
    let mut rig = Rig::new("");
    let code = rig.does(
        &[
            "--mode",
            "multi",
            "--model-config",
            "executor:haiku,evaluator:sonnet",
            "--verifier-model",
            "sonnet",
            "--output-dir",
            "out/papers/",
            "--scope",
            "*.txt",
            "--max-files",
            "3",
            "--lint-cmd",
            "true",
            "--todo-blocking",
        ],
        &[("stay", &[])],
    );
    assert_eq!(code, Some(8), "{}", rig.told);
    let state = rig.state();
    let models = &state["model_config"];
    for (found, want) in [
        (&state["mode"], "multi"),
        (&models["preset"], "custom"),
        (&models["executor"], "haiku"),
        (&models["advisor"], "opus"),
        (&models["evaluator"], "sonnet"),
        (&models["verifier"], "sonnet"),
        (&state["cli_flags"]["verifier_model"], "sonnet"),
        (&state["cli_flags"]["output_dir"], "out/papers"),
        (&state["docs_path"], "out/papers/say-hello-to-the-world/"),
        (&state["scope"], "*.txt"),
        (&state["lint_cmd"], "true"),
        (&state["test_cmd"], "sh test.sh"),
        (&state["version"], "2.0"),
        (&state["user_lang"], "en"),
        (&state["phase"], "plan_ready"),
    ] {
        assert_eq!(found, want, "{state:#}");
    }
    assert_eq!((&state["max_files"], &state["verify"]["todo_blocking"]), (&3.into(), &true.into()));
    assert!(
        state["build_cmd"].is_null()
            && state["autofix"].is_null()
            && state["conventions"].is_null()
    );
}
