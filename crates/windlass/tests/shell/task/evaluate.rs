//! Layers 2 and 3, and rounds.

use super::rig::{DOCS, Rig, evaluates, report, says};

const SINGLE: [&str; 4] = ["--mode", "single", "--model-config", "balanced"];

fn gates(rig: &Rig) -> String {
    String::from_utf8(rig.scratch.windlass(&["gates"]).output().unwrap().stdout).unwrap()
}

#[test]
fn layer_2_is_retried_twice_and_then_asked_about() {
    let mut rig = Rig::new(&evaluates(None, "fail_l2"));
    assert_eq!(rig.does(&SINGLE, &[]), Some(8), "{}", rig.told);
    for attempt in 1..=2 {
        rig.saw(&format!(
            "[harness] Evaluate FAIL (Layer 2) — retrying Generator (attempt {attempt}/2)"
        ));
    }
    let shown = gates(&rig);
    for line in [
        "[harness] Evaluate FAIL (Layer 2) — max retries reached (2/2)",
        "Failing items: 1. `hello.txt` — greet louder (AC1)",
        "Layer 2 structural verification failed after 2 retries.",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    assert_eq!(rig.asked().unwrap().2[..2], ["fix", "accept"]);
    let verify = rig.state()["verify"].clone();
    assert_eq!((&verify["layer2_retries"], &verify["layer2_result"]), (&2.into(), &"FAIL".into()));
    rig.answers(&[("qa_layer2", &["accept"])]);
    rig.saw("accepted as it is, with what the evaluation found");
    assert_eq!(rig.landed(), ["hello.txt"]);
    insta::assert_snapshot!("layer_2_accepted", rig.seen());
}

#[test]
fn layer_3_asks_until_the_last_round_completes_with_what_remains() {
    let mut rig = Rig::new(&evaluates(None, "fail_l3"));
    assert_eq!(rig.does(&SINGLE, &[]), Some(8), "{}", rig.told);
    assert!(gates(&rig).contains("QA result: FAIL (Layer 3)."));
    rig.answers(&[("qa_layer3", &["fix"]), ("stay", &[])]);
    let state = rig.state();
    assert_eq!((&state["round"], &state["max_rounds"]), (&2.into(), &3.into()));
    rig.answers(&[("qa_layer3", &["fix"]), ("stay", &[])]);
    assert_eq!(
        (rig.state()["round"].clone(), rig.asked().unwrap().1.as_str()),
        (3.into(), "rounds_spent")
    );
    assert!(
        gates(&rig).contains("[harness] Max rounds reached. Remaining issues in qa_report.md.")
    );
    assert_eq!(rig.answers(&[("rounds_spent", &["complete"])]), Some(0), "{}", rig.told);
    rig.saw("all rounds were used up, and issues remain");
    insta::assert_snapshot!("last_round", rig.seen());
}

#[test]
fn a_fix_round_that_passes_is_done_and_accept_as_is_ends() {
    let mut rig = Rig::new(&evaluates(Some(1), "fail_l3"));
    rig.does(&SINGLE, &[]);
    assert_eq!(rig.answers(&[("qa_layer3", &["fix"])]), Some(0), "{}", rig.told);
    rig.saw("[harness] ✓ QA PASS — task complete.");
    insta::assert_snapshot!("second_round_passes", rig.seen());
    let mut rig = Rig::new(&evaluates(None, "fail_l3"));
    rig.does(&SINGLE, &[]);
    assert_eq!(rig.answers(&[("qa_layer3", &["accept"])]), Some(0), "{}", rig.told);
    assert_eq!(rig.landed(), ["hello.txt"]);
    insta::assert_snapshot!("layer_3_accepted", rig.seen());
}

/// T1: a first line and a report that disagree are no pass, and no report is none either.
#[test]
fn a_pass_that_the_report_denies_is_no_pass() {
    let denies = |text: &str| {
        says(
            "role = 'evaluator'",
            "verdict = 'pass'",
            "PASS — all of it",
            &[("{qa_report.md}", text)],
        )
    };
    for text in [report("FAIL"), "I like it.".to_owned()] {
        let mut rig = Rig::new(&denies(&text));
        assert_eq!(rig.does(&SINGLE, &[]), Some(8), "{}", rig.told);
        assert_eq!(rig.asked().unwrap().1, "qa_layer3", "{}", rig.told);
        rig.saw("[harness] ⚠ 1-line return parse failed — fallback: confidence Unknown");
        assert!(rig.file(&format!("{DOCS}/qa_report.md")).is_some());
    }
}
