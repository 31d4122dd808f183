//! The review loop and the reviewer's profiles (W11, W12).

use windlass_core::run::{EffectKind, Event};
use windlass_sim::Walk;

use super::{BUILT, FIXED, ONE, work};
use crate::script::row;

/// Codex where it is there, or else somebody who does not implement.
const FIRST: &str = "codex | not worker";

/// The agent that the review under way is with.
fn reviewer(walk: &Walk<'_>) -> Option<String> {
    match walk.find("review")?.1.kind {
        EffectKind::Invoke { agent, .. } => agent,
        _ => None,
    }
}

#[test]
fn codex_reviews_first_and_another_agent_after_120_seconds_or_a_failing_exit() {
    let script = work();
    let mut walk = script.play(&[], BUILT);
    assert_eq!(reviewer(&walk).as_deref(), Some(FIRST), "1. Codex exec (priority)");
    walk.waits(119_999);
    assert_eq!(reviewer(&walk).as_deref(), Some(FIRST));
    walk.waits(1);
    assert_eq!(reviewer(&walk).as_deref(), Some("default"), "timeout (120s)");
    walk.waits(600_000);
    assert_eq!(reviewer(&walk).as_deref(), Some("default"), "2. Internal Reviewer (fallback)");

    let mut walk = script.play(&[], BUILT);
    script.go_on(&mut walk, "review:crashed");
    assert_eq!(reviewer(&walk).as_deref(), Some("default"), "exit code != 0");
    assert_eq!(walk.runs("review"), 1, "it is the same review");
    script.go_on(&mut walk, &format!("review:request_changes {FIXED}"));
    assert_eq!(reviewer(&walk).as_deref(), Some(FIRST), "re-execute: same priority");
    let fell_back = walk.journal().iter().filter(|r| matches!(r.event, Event::FellBack { .. }));
    assert_eq!(fell_back.count(), 1);

    let mut walk = script.play(&[], BUILT);
    script.go_on(&mut walk, "review:unknown");
    assert_eq!(reviewer(&walk).as_deref(), Some(FIRST), "an unreadable answer is asked for again");
    script.go_on(&mut walk, "review:crashed*3");
    assert_eq!((walk.at(), walk.exit_code()), (vec![], Some(3)), "never counts as APPROVE");
}

#[test]
fn the_verdict_approves_or_requests_changes() {
    work().holds([
        row("APPROVE: proceed to next step", format!("{BUILT} review:approve"))
            .at("residuals")
            .never("fix"),
        row("REQUEST_CHANGES: fix based on feedback", format!("{BUILT} review:request_changes"))
            .at("fix"),
        row("→ re-review", format!("{BUILT} review:request_changes {FIXED}")).at("review"),
        row("a fix that fails is proved all the same", {
            format!("{BUILT} review:request_changes fix:failed")
        })
        .at("prove"),
        row("AI Residuals scan", format!("{BUILT} review:approve residuals:fail")).at("fix"),
        row("the last proof", {
            format!("{BUILT} review:approve residuals:pass review_artifact:told landing:fail")
        })
        .at("fix"),
        row("C15: nothing to scan it with is SKIPPED", {
            format!("{BUILT} review:approve residuals:skipped")
        })
        .at("review_artifact"),
        row("save review artifact", format!("{BUILT} review:approve residuals:pass"))
            .at("review_artifact")
            .tells("review-result"),
    ]);
}

#[test]
fn there_are_exactly_three_fix_rounds() {
    // The contract's profile, and what asks for the fix, each time.
    let cases = [
        ("static", "review:request_changes", "REQUEST_CHANGES"),
        ("static", "review:approve residuals:fail", "residuals"),
        (
            "static",
            "review:approve residuals:pass review_artifact:told landing:fail",
            "test failures are major",
        ),
        (
            "browser",
            "review:approve browsed:looked,seen=false browser:request_changes",
            "the browser's verdict",
        ),
        ("runtime", "review:approve residuals:pass runtime:fail", "runtime_verdict"),
    ];
    for (profile, asks, why) in cases {
        let script = work();
        let built = BUILT.replace("profile=static", &format!("profile={profile}"));
        let mut walk = script.play(&[], &built);
        for round in 1..=3 {
            script.go_on(&mut walk, asks);
            assert_eq!(walk.at(), ["fix"], "review_count < MAX_REVIEWS: round {round}, {why}");
            script.go_on(&mut walk, FIXED);
        }
        script.go_on(&mut walk, asks);
        assert_eq!(walk.at(), ["review_stuck"], "Fixed 3 times but … remain: {why}");
        assert_eq!((walk.exit_code(), walk.runs("fix")), (Some(8), 3));
        let offered = walk.options("review_stuck");
        assert_eq!(offered[..3], ["continue", "manual", "abort"], "(continue / abort)");
        let tried = if asks.ends_with("landing:fail") { 4 } else { 0 };
        assert_eq!(walk.runs("landing"), tried, "what did not land: {why}");
    }
}

#[test]
fn rounds_of_all_kinds_count_together_and_failed_implementations_do_not() {
    let mixed = format!(
        "{ONE} >implement implement:failed*3 implement:done refine:done prove:fail \
         {FIXED} review:request_changes {FIXED} review:approve residuals:fail fix:done"
    );
    work().holds([
        row("review_count++, three of them", format!("{mixed} prove:pass")).at("review"),
        row("review_count >= MAX_REVIEWS", format!("{mixed} prove:fail")).at("review_stuck"),
    ]);
}

#[test]
fn a_person_decides_what_happens_with_the_remaining_findings() {
    let rounds = format!("review:request_changes {FIXED} ").repeat(3);
    let stuck = format!("{BUILT} {rounds} review:request_changes");
    work().holds([
        row("continue", format!("{stuck} review_stuck:continue"))
            .at("waived_artifact")
            .records("cc:WIP continued_with_findings"),
        row("… lands with the findings on record", format!("{stuck} review_stuck:continue >"))
            .passes("waived_artifact waived_landing mark_done")
            .units("1=done")
            .exits(0),
        row("abort", format!("{stuck} review_stuck:abort"))
            .units("1=failed")
            .records("cc:WIP aborted")
            .never("landing"),
        row("C17: fix manually and continue: proved and reviewed again", {
            format!("{stuck} review_stuck:manual")
        })
        .at("review")
        .records("cc:WIP fixed_manually"),
        row("… with three new rounds", format!("{stuck} review_stuck:manual {rounds}"))
            .at("review"),
    ]);
}

#[test]
fn the_profile_of_the_contract_adds_to_the_review_and_only_worsens_it() {
    let reviewed = |profile: &str, verdict: &str| {
        format!(
            "{ONE} >contract contract:drafted,profile={profile} contract_review:approved \
             implement:done refine:done prove:pass review:{verdict}"
        )
    };
    let runtime = reviewed("runtime", "approve") + " residuals:pass";
    let browser = reviewed("browser", "approve") + " browsed:looked,seen=false";
    let seen = reviewed("browser", "approve") + " browsed:looked,seen=true";
    work().holds([
        row("static", reviewed("static", "approve") + " residuals:pass")
            .at("review_artifact")
            .never("runtime browser")
            .records("cc:WIP"),
        row("runtime: run-contract-review-checks", runtime.clone()).at("runtime").never("browser"),
        row("… passes", runtime.clone() + " runtime:pass").at("review_artifact").records("cc:WIP"),
        row("… runtime_verdict == REQUEST_CHANGES", runtime.clone() + " runtime:fail").at("fix"),
        row("… no validation command → use static verdict as-is", runtime + " runtime:skipped")
            .at("review_artifact")
            .records("cc:WIP DOWNGRADE_TO_STATIC"),
        row("browser: PENDING_BROWSER, then the browser", browser.clone())
            .at("browser")
            .never("runtime")
            .records("cc:WIP PENDING_BROWSER"),
        row("… the static verdict stands", browser.clone() + " browser:approve").at("residuals"),
        row("… or is worsened", browser.clone() + " browser:request_changes").at("fix"),
        row("… never bettered: REQUEST_CHANGES opens no browser", {
            reviewed("browser", "request_changes")
        })
        .at("fix")
        .never("browser"),
        row("… and what the browser asked for is reviewed again", {
            format!(
                "{browser} browser:request_changes {FIXED} review:approve browsed:looked,seen=false"
            )
        })
        .at("browser"),
        row("… whose own steps were all taken is not asked for more", seen.clone())
            .at("residuals")
            .never("browser"),
        row("… and its commands are run like any other's", seen + " residuals:pass").at("runtime"),
        row("… that nobody can look at is no evidence", browser.clone() + " browser:cannot_look")
            .at("browser_unseen"),
        row("… but for a person's word", {
            format!("{browser} browser:cannot_look browser_unseen:continue")
        })
        .at("residuals")
        .records("cc:WIP PENDING_BROWSER browser_waived"),
    ]);
}
