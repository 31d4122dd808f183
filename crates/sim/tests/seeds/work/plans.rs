//! Drift, and Plans.md itself (W4, W5).

use windlass_core::run::{Answer, Input};

use super::work;
use crate::script::row;

const FACTS: &str = "target_count=1,test_framework=false";

#[test]
fn stale_markers_ask_and_the_default_is_no() {
    work().holds([
        row("Exit 0 (no stale markers): proceed immediately", "drift:clean").at("plans"),
        row("Exit 1: Proceed anyway? (y/N)", "drift:stale").at("drift_gate").exits(8),
        row("If user confirms (y): continue", "drift:stale drift_gate:yes")
            .at("plans")
            .records("drift_accepted"),
        row("If user declines: stop with message", "drift:stale drift_gate:no")
            .at("drift_stop")
            .tells("drift-advice"),
        row("… stop", "drift:stale drift_gate:no >").records("drift").never("plans").exits(5),
    ]);
}

#[test]
fn no_response_is_a_no_and_time_never_answers() {
    let script = work();
    let mut walk = script.play(&[], "drift:stale");
    walk.waits(3_600_000);
    assert_eq!((walk.at().join(" "), walk.exit_code()), ("drift_gate".to_owned(), Some(8)));
    let gate = walk.run().gates()[0].id;
    let empty = walk.give(Input::Answer(Answer {
        gate,
        option: None,
        text: None,
        who: "tester".into(),
        shown: "the drift report".into(),
        subject: None,
    }));
    assert_eq!(empty, Ok(()));
    assert_eq!(walk.at(), ["drift_stop"], "[default: N]");
}

#[test]
fn plans_md_is_there_or_made_or_too_old() {
    let missing = "drift:clean plans:missing";
    let found = format!("plans:found,tasks=1,{FACTS},unlisted_count=0");
    work().holds([
        row("Read Plans.md and identify the target task", format!("drift:clean {found}"))
            .at("background"),
        row("If Plans.md does not exist: harness-plan create", missing).at("create"),
        row("→ Generate Plans.md and continue", format!("{missing} create:planned {found}"))
            .at("background"),
        row("… once", format!("{missing} create:planned plans:missing >"))
            .records("plans_missing")
            .exits(4),
        row("If header lacks DoD / Depends columns: stop", "drift:clean plans:old_format")
            .at("old_format")
            .tells("old-format"),
        row("→ Stop", "drift:clean plans:old_format >")
            .records("old_format")
            .never("create background")
            .exits(4),
    ]);
}

#[test]
fn unlisted_tasks_are_taken_up_with_a_notice_and_no_question() {
    let found =
        |unlisted: &str| format!("drift:clean plans:found,tasks=1,unlisted={unlisted},{FACTS}");
    work().holds([
        row("display \"Added the following to Plans.md\"", found("9") + ",unlisted_count=1")
            .at("unlisted")
            .tells("unlisted-tasks")
            .units("1=pending 9=pending"),
        row("… (default: continue)", found("9") + ",unlisted_count=1 unlisted:told")
            .at("background")
            .units("9=pending"),
        row("… and done like any other", found("9") + ",unlisted_count=1 >")
            .units("1=done 9=done")
            .exits(0),
        row("none: no notice", found("") + ",unlisted_count=0").at("background").never("unlisted"),
    ]);
}
