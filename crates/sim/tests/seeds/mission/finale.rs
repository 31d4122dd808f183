//! DONE and ESCALATE (M11, M12).

use windlass_core::run::EffectKind;
use windlass_core::workflow::{Errand, Expect};

use super::{ONE, mission};
use crate::script::row;

#[test]
fn done_runs_the_smoke_gate_then_curator_and_documenter() {
    let built = format!("{ONE} >still_there still_there:all");
    mission().holds([
        row("optional smoke-test gate", built.clone()).with("steps", "smoke").at("final_smoke"),
        row("… only when it is configured", built.clone())
            .at("final_contract")
            .never("final_smoke"),
        row("… and passes", format!("{built} final_smoke:pass final_contract:pass"))
            .with("steps", "smoke")
            .at("all_done")
            .records("NEXT_WORKER NEXT_VALIDATOR DONE"),
        row("… or is not there", format!("{built} final_smoke:skipped"))
            .with("steps", "smoke")
            .at("final_contract"),
        row("… or fails: not DONE", format!("{built} final_smoke:fail >"))
            .with("steps", "smoke")
            .records("NEXT_WORKER NEXT_VALIDATOR ESCALATE")
            .passes("escalation curator")
            .never("all_done final_contract final_document")
            .exits(3),
        row("curator + documenter", format!("{built} >all_done all_done:told"))
            .at("curator")
            .tells("mission-summary"),
        row(
            "what has landed and was taken back is not done",
            format!("{ONE} >still_there still_there:gone >"),
        )
        .with("steps", "smoke")
        .records("NEXT_WORKER NEXT_VALIDATOR ESCALATE")
        .passes("escalation curator")
        .never("final_smoke final_contract all_done")
        .exits(3),
        row(
            "… documenter after curator",
            format!("{built} >all_done all_done:told curator:curated"),
        )
        .at("final_document"),
        row(
            "… exit 0",
            format!("{built} >all_done all_done:told curator:curated final_document:nothing"),
        )
        .exits(0)
        .never("final_merge"),
    ]);
}

/// A landing tries the claims of what lands with it; whether they hold once everything has landed only the whole of it shows.
#[test]
fn done_needs_every_claim_to_hold_of_all_that_has_landed() {
    let built = format!("{ONE} >final_contract");
    mission().holds([
        row("every claim spelled out as a verifiable assertion", built.clone())
            .at("final_contract")
            .never("all_done"),
        row("… holds", format!("{built} final_contract:pass")).at("all_done"),
        row("… is nothing that can be tried", format!("{built} final_contract:skipped"))
            .at("all_done"),
        row("… does not hold any more: not DONE", format!("{built} final_contract:fail >"))
            .records("NEXT_WORKER NEXT_VALIDATOR ESCALATE claims_broken")
            .passes("broken_claims escalation curator")
            .tells("broken-claims escalation mission-summary")
            .never("all_done final_document")
            .exits(3),
        row("… only looked at where all is settled", {
            format!("{ONE} worker:ambiguous architect:unresolved >")
        })
        .never("final_contract broken_claims")
        .exits(3),
    ]);
    let script = mission();
    let walk = script.play(&[], &format!("{ONE} >final_document final_document:written"));
    let effect = walk.find("final_proof").map(|(_, effect)| effect).expect("under way");
    let names = ["build", "test", "lint", "type-check", "contract"].map(str::to_owned).to_vec();
    assert_eq!(
        effect.kind,
        EffectKind::Errand(Errand::Checks { names, expect: Expect::NoWorse }),
        "so do the documents"
    );
}

#[test]
fn the_final_documents_are_proved_and_merged_or_left() {
    let documented = format!("{ONE} >final_document final_document:written");
    mission().holds([
        row("documenter; exit 0", format!("{documented} >"))
            .passes("final_proof final_merge")
            .exits(0),
        row("documents that break the build are left", format!("{documented} final_proof:fail >"))
            .records("NEXT_WORKER NEXT_VALIDATOR DONE documents_left")
            .never("final_merge")
            .exits(0),
        row("… and so are those that conflict", {
            format!("{documented} final_proof:pass final_merge:conflict >")
        })
        .records("NEXT_WORKER NEXT_VALIDATOR DONE documents_left")
        .exits(0),
        row("the base moves all the time: left", {
            format!("{documented} {} >", "final_proof:pass final_merge:moved ".repeat(21))
        })
        .records("NEXT_WORKER NEXT_VALIDATOR DONE documents_left")
        .exits(0),
        row("… twenty times are borne", {
            format!("{documented} {}", "final_proof:pass final_merge:moved ".repeat(20))
        })
        .at("final_proof"),
        row("the base moved: proved again", {
            format!("{documented} final_proof:pass final_merge:moved")
        })
        .at("final_proof"),
    ]);
}

#[test]
fn escalate_writes_the_escalation_and_runs_the_curator() {
    let escalated = format!("{ONE} worker:ambiguous architect:unresolved >escalation");
    mission().holds([
        row("escalation.md", escalated.clone())
            .at("escalation")
            .tells("escalation mission-summary"),
        row("curator", format!("{escalated} escalation:told")).at("curator"),
        row("exit 3", format!("{escalated} escalation:told curator:curated"))
            .exits(3)
            .never("all_done final_smoke final_document"),
    ]);
}

#[test]
fn what_ends_otherwise_is_neither_done_nor_escalated() {
    mission().holds([
        row("the cap: a summary and no more", format!("{ONE} worker:built prove:pass >"))
            .with("max_iterations", "1")
            .tells("mission-summary")
            .silent("escalation")
            .never("curator all_done")
            .exits(4),
        row("a rejected plan: the escalation and no more", {
            "queue:missing plan:planned check_plan:found plan_review:reject >"
        })
        .tells("escalation")
        .silent("mission-summary")
        .never("curator")
        .exits(7),
    ]);
}
