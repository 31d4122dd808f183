//! The loop: failures in a row, discovery, stop, context limits (I1, I9, I10).

use windlass_core::run::Wish;

use super::{FOUND, GROUP, PLANNED, issues, plays};
use crate::script::{resume, row};

#[test]
fn three_failures_in_a_row_stop_the_loop() {
    // Issues won and lost, how many of them are taken up, and how the run exits.
    let cases = [
        ("LLLWW", 3, Some(4), "3+ consecutive failures"),
        ("LLWLLWW", 8, None, "a success starts the count anew"),
        ("WLLLWW", 4, Some(4), "whenever they come"),
        ("LWLWLW", 7, None, "in a row"),
        ("LLWLLLWW", 6, Some(4), "… and again three"),
    ];
    for (outcomes, taken, code, seed) in cases {
        let script = issues();
        let mut walk = script.play(&[], FOUND);
        plays(&script, &mut walk, outcomes);
        assert_eq!(walk.runs("claim"), taken, "{outcomes}: {seed}");
        if code.is_some() {
            let stop = walk.records().last().cloned();
            assert_eq!(stop.as_deref(), Some("[HARNESS_STOP]"), "{outcomes}");
            script.go_on(&mut walk, ">");
            assert_eq!(walk.exit_code(), code, "{outcomes}");
            assert_eq!(script.told(&walk).last(), Some(&"issues-summary"));
        }
    }
}

#[test]
fn discovery_comes_with_every_nth_completed_issue() {
    // The interval, issues won and lost, and after which of them the discovery came.
    let cases = [
        ("5", "WWWWWWWWWWW", vec![5, 10]),
        ("2", "WWWWW", vec![2, 4]),
        ("1", "WWW", vec![1, 2, 3]),
        ("3", "WLWLLWLW", vec![6]),
        ("5", "WWWW", vec![]),
    ];
    for (interval, outcomes, expected) in cases {
        let script = issues();
        let mut walk = script.play(&[("discover_interval", interval)], FOUND);
        plays(&script, &mut walk, outcomes);
        let (mut settled, mut due) = (0, Vec::new());
        for stage in walk.entered() {
            match stage {
                "friction" => settled += 1,
                "discover" => due.push(settled),
                _ => {}
            }
        }
        assert_eq!(due, expected, "a multiple of discover_interval ({interval}): {outcomes}");
        let logged = script.told(&walk).iter().filter(|tell| **tell == "discovery-trigger").count();
        assert_eq!(logged, expected.len(), "Log: Discovery trigger");
    }
    let script = issues();
    let mut walk = script.play(&[], FOUND);
    plays(&script, &mut walk, "W");
    let interval = walk.run().counters().into_iter().find(|(name, ..)| name == "since_discovery");
    assert_eq!(interval, Some(("since_discovery".to_owned(), 2, 5)), "discover_interval: 5");
}

#[test]
fn the_success_that_is_followed_by_a_discovery_starts_the_count_of_failures_anew_too() {
    let script = issues();
    let mut walk = script.play(&[("discover_interval", "1")], FOUND);
    plays(&script, &mut walk, "LLWLLW");
    assert_eq!(walk.runs("claim"), 7);
}

#[test]
fn a_discovery_never_holds_the_queue_up() {
    let due = "previous:fresh fetch:found,issues=I-1 >discover";
    let words = "found nothing unknown no_output crashed timed_out cut_short context_full";
    issues().holds(words.split(' ').map(|word| {
        row("note them in state but continue the loop", format!("{due} discover:{word}"))
            .with("discover_interval", "1")
            .at("fetch_next")
    }));
    issues().holds([row("If patterns found, note them", format!("{due} discover:found"))
        .with("discover_interval", "1")
        .records("[ISSUE_COMPLETE] patterns_found")]);
}

#[test]
fn friction_is_logged_after_every_issue() {
    let script = issues();
    let mut walk = script.play(&[], FOUND);
    plays(&script, &mut walk, "WLW");
    let logged = script.told(&walk).iter().filter(|tell| **tell == "friction-log").count();
    assert_eq!(logged, 3);
}

#[test]
fn stop_lets_the_issue_under_way_finish() {
    let script = issues();
    for at in ["claim", "plan", "apply", "review", "landing"] {
        let mut walk = script.play(&[], &format!("{FOUND} >{at}"));
        walk.wishes(Wish::Stop);
        assert_eq!(walk.at(), [at], "Harness will stop after current issue completes");
        script.go_on(&mut walk, ">");
        assert_eq!(walk.records(), ["[ISSUE_COMPLETE]", "[HARNESS_STOP]"], "at {at}");
        assert_eq!((walk.exit_code(), walk.runs("fetch_next")), (Some(5), 0), "at {at}");
    }
}

#[test]
fn stop_is_heard_whatever_became_of_the_issue() {
    let lost = "claim:told look:ours in_progress:told plan:blocked ask_blocked:give_up report_failure:told >";
    let script = issues();
    let mut walk = script.play(&[], FOUND);
    walk.wishes(Wish::Stop);
    script.go_on(&mut walk, lost);
    assert_eq!(walk.records(), ["blocked", "[ISSUE_FAILED]", "[HARNESS_STOP]"]);
    let mut walk = script.play(&[], FOUND);
    walk.wishes(Wish::Stop);
    walk.wishes(Wish::Skip { unit: "I-1".into(), reason: "not now".into() });
    script.go_on(&mut walk, ">");
    assert_eq!(walk.records(), ["[HARNESS_STOP]"]);
    let words = "found nothing unknown no_output crashed timed_out cut_short context_full";
    for word in words.split(' ') {
        let mut walk = script.play(&[("discover_interval", "1")], &format!("{FOUND} >discover"));
        walk.wishes(Wish::Stop);
        script.go_on(&mut walk, &format!("discover:{word} >"));
        assert_eq!(walk.records().last().map(String::as_str), Some("[HARNESS_STOP]"), "{word}");
        assert_eq!((walk.exit_code(), walk.runs("fetch_next")), (Some(5), 0), "{word}");
    }
}

#[test]
fn an_issue_that_a_person_leaves_out_is_neither_completed_nor_failed() {
    let script = issues();
    let mut walk = script.play(&[("discover_interval", "1")], FOUND);
    plays(&script, &mut walk, "LL");
    walk.wishes(Wish::Skip { unit: "I-3".into(), reason: "not now".into() });
    script.go_on(&mut walk, "friction:told fetch_next:found,issues=I-4");
    assert_eq!(walk.at(), ["claim"], "two failures before it do not stop the loop");
    assert_eq!(walk.runs("discover"), 0);
    plays(&script, &mut walk, "L");
    assert_eq!(walk.records().last().map(String::as_str), Some("[HARNESS_STOP]"), "the third");
}

#[test]
fn what_is_not_a_verdict_is_asked_for_twice_more_and_never_counts_as_a_pass() {
    let looked_at = format!("{PLANNED} >review");
    let mishaps = ["unknown", "no_output", "crashed", "timed_out"];
    issues().holds(mishaps.map(|mishap| {
        row("C14", format!("{looked_at} review:{mishap}*2")).at("review").never("landing")
    }));
    issues().holds(mishaps.map(|mishap| {
        row("C14", format!("{looked_at} review:{mishap}*3")).at("").never("landing").exits(3)
    }));
}

#[test]
fn a_context_limit_comments_pauses_and_is_taken_up_again() {
    // Where the context fills up, and where the issue goes on.
    let cases = [
        ("plan", format!("{FOUND} >plan"), "plan"),
        ("apply", format!("{PLANNED} {GROUP}"), "apply"),
        ("invariants", format!("{PLANNED} apply:applied radius:pass"), "invariants"),
        ("classify", format!("{PLANNED} apply:failed"), "classify"),
        ("review", format!("{PLANNED} >review"), "review"),
        ("review_fix", format!("{PLANNED} >review review:fail,fixable=true"), "review_fix"),
        ("resolve", format!("{PLANNED} >landing landing:conflict"), "resolve"),
    ];
    for (stage, steps, on) in cases {
        let script = issues();
        let mut walk = script.play(&[], &format!("{steps} {stage}:context_full"));
        assert_eq!(walk.records(), ["[HARNESS_PAUSE]"], "{stage}");
        assert_eq!(script.told(&walk).last(), Some(&"issue-progress"), "{stage}: Comment first");
        let progress = walk.at().remove(0);
        script.go_on(&mut walk, &format!("{progress}:told"));
        assert_eq!(walk.exit_code(), Some(3), "{stage}: allow exit");
        assert_eq!(walk.runs("report_failure"), 0, "{stage}: it has not failed");
        resume(&mut walk);
        assert_eq!(walk.at(), [on], "{stage}: Next session can resume");
    }
}

#[test]
fn groups_that_were_committed_before_a_context_limit_stay_committed() {
    let script = issues();
    let steps = format!("{PLANNED} {GROUP} apply:context_full group_progress:told");
    let mut walk = script.play(&[], &steps);
    resume(&mut walk);
    let child = walk.find("apply").and_then(|(_, effect)| effect.child);
    assert_eq!(child.map(|child| child.id.to_string()).as_deref(), Some("g2"));
    script.go_on(&mut walk, GROUP);
    assert_eq!((walk.at().join(" "), walk.runs("commit")), ("blast_radius".to_owned(), 2));
}

#[test]
fn every_marker_is_recorded() {
    let lost = "claim:told look:ours in_progress:told plan:blocked ask_blocked:give_up report_failure:told";
    issues().holds([
        row("[ISSUE_COMPLETE: {issue_id}]", format!("{FOUND} >friction"))
            .records("[ISSUE_COMPLETE]"),
        row("[ISSUE_FAILED: {issue_id}]", format!("{FOUND} {lost}"))
            .records("blocked [ISSUE_FAILED]"),
        row("[HARNESS_DONE]", "previous:fresh fetch:empty").records("[HARNESS_DONE]"),
        row("[HARNESS_STOP]", format!("{FOUND} >fetch_next fetch_next:found,issues=I-2"))
            .with("max", "1")
            .records("[ISSUE_COMPLETE] [HARNESS_STOP]"),
        row("[HARNESS_PAUSE: {issue_id}]", format!("{FOUND} >plan plan:context_full"))
            .records("[HARNESS_PAUSE]"),
    ]);
}
