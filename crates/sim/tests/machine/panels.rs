//! Panels: members in parallel, critique, synthesis, disagreement, nothing paid twice.

use windlass_core::run::{EffectKind, PanelPhase, Standing};
use windlass_sim::Walk;

use crate::{flow, listed, listed_from};

const PANEL: &str = r#"
unit think  panel = { roles = ["reviewer", "worker", "editor"],
                      critique = "editor", synthesis = "reviewer" },
    on = { clear = "next", blocking = "failed" }
"#;

fn members(walk: &Walk<'_>) -> Vec<(PanelPhase, u16, String)> {
    let invoked = |kind| match kind {
        EffectKind::Invoke { role, panel: Some((phase, member)), .. } => {
            Some((phase, member, role))
        }
        _ => None,
    };
    walk.run().wants().into_values().filter_map(|effect| invoked(effect.kind)).collect()
}

#[test]
fn proposals_then_critiques_then_one_synthesis() {
    let flow = flow("", PANEL);
    let mut walk = listed(&flow, &["a"]);
    let role = |role: &str| role.to_owned();
    assert_eq!(
        members(&walk),
        [
            (PanelPhase::Propose, 0, role("reviewer")),
            (PanelPhase::Propose, 1, role("worker")),
            (PanelPhase::Propose, 2, role("editor")),
        ]
    );
    walk.says("think", "clear").says("think", "done");
    assert_eq!(members(&walk).len(), 1, "a phase ends when all members are done");
    walk.says("think", "mended");
    assert_eq!(members(&walk).iter().filter(|(p, ..)| *p == PanelPhase::Critique).count(), 3);
    for _ in 0..3 {
        walk.says("think", "mended");
    }
    assert_eq!(members(&walk), [(PanelPhase::Synthesise, 0, role("reviewer"))]);
    walk.says("think", "clear");
    assert_eq!(walk.run().tally().done, 1);
    assert_eq!(walk.run().purse().invocations, 7);
}

#[test]
fn a_mishap_is_taken_up_when_the_others_are_done_and_they_are_not_paid_again() {
    let flow = flow("", PANEL);
    let mut walk = listed(&flow, &["a"]);
    walk.says("think", "clear").says("think", "crashed");
    assert_eq!(members(&walk).len(), 1, "the third goes on");
    walk.says("think", "mended");
    let again = members(&walk);
    assert_eq!(again, [(PanelPhase::Propose, 1, "worker".to_owned())], "only the one that crashed");
    assert_eq!(walk.runs("think"), 1);
    walk.says("think", "done");
    assert_eq!(members(&walk).len(), 3, "on to the critique");
}

#[test]
fn without_a_synthesis_the_members_must_agree() {
    let stages = r#"
unit advise  panel = { roles = ["reviewer", "second"] },
    on = { clear = "next", blocking = "failed" }
"#;
    let flow = flow("", stages);
    let mut walk = listed(&flow, &["a"]);
    walk.says("advise", "clear").says("advise", "clear");
    assert_eq!(walk.run().tally().done, 1);
    let mut walk = listed(&flow, &["a"]);
    walk.says("advise", "clear").says("advise", "blocking");
    assert_eq!(walk.run().counters(), [("redo".to_owned(), 1, 2)], "disagreement is unknown");
    assert_eq!(members(&walk).len(), 2, "and asked again of both");
    for _ in 0..2 {
        walk.says("advise", "blocking").says("advise", "clear");
    }
    assert_eq!(walk.standing(), Standing::Escalated);
}

#[test]
fn a_member_that_says_something_else_than_its_role_may_is_unknown() {
    let flow = flow("", PANEL);
    let mut walk = listed(&flow, &["a"]);
    walk.says("think", "LGTM").says("think", "done").says("think", "mended");
    assert_eq!(members(&walk), [(PanelPhase::Propose, 0, "reviewer".to_owned())]);
}

#[test]
fn a_panel_is_held_for_want_of_money_only_when_its_members_under_way_are_done() {
    let flow = flow("", PANEL);
    let mut settings = windlass_core::run::Settings::default();
    settings.caps.unit.invocations = Some(2);
    let start = windlass_core::run::Start { settings, ..windlass_core::run::Start::default() };
    let mut walk = listed_from(&flow, start, &["a", "b"]);
    assert_eq!(members(&walk).len(), 2, "there is room for two");
    walk.says("think", "clear");
    let unit = walk.find("think").and_then(|(_, effect)| effect.unit);
    assert_eq!(unit.as_deref(), Some("a"), "its place is still its own");
    walk.says("think", "done");
    let unit = walk.find("think").and_then(|(_, effect)| effect.unit);
    assert_eq!(unit.as_deref(), Some("b"), "now it is held and the next one starts");
}
