//! What only the session itself shows.

use windlass_engine::entry::Invocation;

use super::*;

fn answered(effect: u64, came: &str) -> Answered {
    Answered {
        asked: Invocation {
            effect: EffectId(effect),
            unit: Some("F-A".to_owned()),
            task: None,
            stage: stage::WORKER.to_owned(),
            role: "mission-worker".to_owned(),
            agent: "acted".to_owned(),
            panel: None,
            attempt: 1,
            prompt: String::new(),
        },
        came: came.to_owned(),
        ended: String::new(),
        stdout: String::new(),
        stderr: String::new(),
        text: None,
        limited_until: None,
        models: Vec::new(),
        handed_to: None,
        remarks: Vec::new(),
        commit: None,
        files: Vec::new(),
    }
}

fn with(progress: &[(&str, Status)]) -> Session {
    let mut session = Session::default();
    for (id, status) in progress {
        let own = Progress { status: status.clone(), attempts: 1, ..Progress::default() };
        session.progress.insert((*id).to_owned(), own);
    }
    session
}

fn queue(text: &str) -> Vec<u8> {
    text.as_bytes().to_vec()
}

#[test]
fn what_a_person_sets_is_what_they_want_until_it_has_settled() {
    let mut session = with(&[
        ("F-A", Status::InProgress),
        ("F-B", Status::Passed),
        ("F-C", Status::Failed),
        ("F-D", Status::Pending),
    ]);
    let text = r#"[{"id": "F-A", "status": "passed"}, {"id": "F-B", "status": "skipped"},
        {"id": "F-C", "status": "skipped"}, {"id": "F-D", "status": "failed"}, {"id": "F-E", "status": "passed"}]"#;
    session.take_paper(features::PATH, queue(text));
    let wanted: Vec<(&str, &str)> =
        session.wanted.iter().map(|(id, status)| (id.as_str(), status.word())).collect();
    // What has passed stays so, and what is not settled is nobody's wish.
    assert_eq!(wanted, [("F-A", "passed"), ("F-C", "skipped")]);
    let whole = session.whole();
    let words: Vec<&str> = whole.features.iter().map(|it| it.status.word()).collect();
    assert_eq!(words, ["passed", "passed", "skipped", "pending", "passed"]);
    // Read again without it, it is no wish any more.
    let text = r#"[{"id": "F-A", "status": "in_progress"}, {"id": "F-C", "status": "skipped"}]"#;
    session.take_paper(features::PATH, queue(text));
    assert_eq!(session.wanted.keys().collect::<Vec<_>>(), ["F-C"]);
}

#[test]
fn a_queue_that_cannot_be_read_changes_nothing() {
    let mut session = with(&[]);
    session.take_paper(features::PATH, queue(r#"[{"id": "F-A"}]"#));
    session.take_paper(features::PATH, queue("[{"));
    assert!(session.feature("F-A").is_some());
}

#[test]
fn the_last_fifty_answers_have_a_file() {
    let mut session = Session::default();
    for effect in 0..60 {
        session.log(&answered(effect, "built"), "x");
    }
    assert_eq!(session.logs.len(), 50);
    assert_eq!(session.logs.front().unwrap().0, "00010-mission-worker-F-A.md");
    assert_eq!(session.old_logs.len(), 10);
    assert_eq!(session.old_logs[0], "00000-mission-worker-F-A.md");
    let long = "é".repeat(LOG_BYTES);
    session.log(&answered(60, "built"), &long);
    assert!(session.logs.back().unwrap().1.len() < LOG_BYTES + 200);
}

#[test]
fn the_latest_findings_are_kept() {
    let mut session = Session::default();
    for n in 0..20 {
        session.said(&answered(n, "failed"), &format!("{{\"summary\": \"number {n}\"}}"));
    }
    let findings = &session.tales["F-A"].findings;
    assert_eq!(findings.len(), KEPT);
    assert!(findings[0].contains("number 8") && findings[KEPT - 1].contains("number 19"));
}

#[test]
fn titles_that_mean_the_same_are_the_same() {
    assert_eq!(normal("No newline, at the END!"), normal("no newline at the end"));
    assert_ne!(normal("No newline at the end"), normal("No newline at the start"));
    assert_eq!(normal("로그인이 안 됨!"), normal("로그인이  안 됨"));
}

#[test]
fn what_a_person_wants_to_be_tried_again_stays_so_until_it_is() {
    let mut session = with(&[
        ("F-A", Status::Failed),
        ("F-B", Status::Skipped),
        ("F-C", Status::Blocked),
        ("F-D", Status::Passed),
        ("F-E", Status::InProgress),
        ("F-F", Status::Failed),
    ]);
    // By the verb, by hand where the file says why, by hand where it says how often; the last is a copy from before it failed.
    let text = r#"[{"id": "F-A", "again": true}, {"id": "F-B", "reason": "not now (ada)"}, {"id": "F-C", "attempts": 2},
        {"id": "F-D", "again": true}, {"id": "F-E", "again": true}, {"id": "F-F"}]"#;
    session.take_paper(features::PATH, queue(text));
    assert_eq!(session.wanted.keys().collect::<Vec<_>>(), ["F-A", "F-B", "F-C"]);
    let whole = session.whole();
    let words: Vec<&str> = whole.features.iter().map(|it| it.status.word()).collect();
    assert_eq!(words, ["pending", "pending", "pending", "passed", "in_progress", "failed"]);
    assert_eq!((whole.features[2].attempts, whole.features[2].again), (0, true), "counted anew");
}
