//! What must hold of auto-fix at every instant (seed: task, I1 to I4), said of what anybody can see: `state.json` and the
//! question that is open.

use serde_json::Value;

/// What the first gate is known by, however it is worded: nobody else offers it.
const FIRST: &str = "continue";
/// What the second is known by.
const SECOND: &str = "apply";

/// How things stand at one instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// `.harness/state.json`; null where there is none.
    pub state: Value,
    /// What the open question offers, if one is open.
    pub offered: Vec<String>,
}

impl Moment {
    pub fn applied(&self) -> Option<&str> {
        self.state["autofix"]["applied"].as_str()
    }

    fn attempted(&self) -> bool {
        self.state["verify"]["autofix_attempted"] == true
    }

    fn retries(&self) -> u64 {
        self.state["verify"]["layer1_retries"].as_u64().unwrap_or(0)
    }

    pub fn offers(&self, option: &str) -> bool {
        self.offered.iter().any(|offered| offered == option)
    }

    /// A pass has cleared the record, and the attempt stays used up.
    fn cleared(&self, before: Option<&Moment>) -> bool {
        let passed = self.state["verify"]["layer1_result"] == "PASS";
        let earlier = |before: &Moment| before.attempted() && before.applied().is_none();
        self.attempted() && self.applied().is_none() && (passed || before.is_some_and(earlier))
    }
}

/// The invariant that is broken, and how. What came before is the last instant that was looked at, if there was one.
pub fn wrong(before: Option<&Moment>, now: &Moment) -> Option<String> {
    let broken = if !first(before, now) {
        "I1"
    } else if !second(now) {
        "I2"
    } else if !third(before, now) {
        "I3"
    } else if !fourth(before, now) {
        "I4"
    } else {
        return None;
    };
    let before = before.map(|before| (&before.state["autofix"], &before.state["verify"]));
    let (autofix, verify) = (&now.state["autofix"], &now.state["verify"]);
    Some(format!("{broken}: {autofix} {verify} {:?}, after {before:?}", now.offered))
}

/// Attempted is what was decided, and nothing else; and it is never given back.
fn first(before: Option<&Moment>, now: &Moment) -> bool {
    let decided = now.applied().is_some_and(|applied| applied != "proposed");
    let back = before.is_some_and(|before| {
        before.attempted() && !now.attempted() && !now.state["verify"].is_null()
    });
    !back && (now.attempted() == decided || now.cleared(before))
}

/// It is offered only to whoever has not had it.
fn second(now: &Moment) -> bool {
    !now.offers("autofix") || (!now.attempted() && now.state["autofix"].is_null())
}

/// A proposal that nobody has decided on is asked about, and the first gate is not asked again.
fn third(before: Option<&Moment>, now: &Moment) -> bool {
    let proposed = now.applied() == Some("proposed");
    let taken_back = before.is_some_and(|it| it.applied() == Some("proposed"))
        && now.applied().is_none()
        && !now.attempted()
        && !now.state["verify"].is_null();
    let other = if proposed { FIRST } else { SECOND };
    !taken_back && !now.offers(other)
}

/// A patch that did not help costs no retry.
fn fourth(before: Option<&Moment>, now: &Moment) -> bool {
    let same = before
        .filter(|before| matches!(before.applied(), Some("applied" | "stopped")))
        .is_none_or(|before| before.retries() == now.retries());
    now.applied() != Some("stopped") || (now.retries() <= 3 && same)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn moment(applied: Option<&str>, attempted: bool) -> Moment {
        let autofix = applied.map(|applied| json!({ "applied": applied }));
        let verify =
            json!({ "autofix_attempted": attempted, "layer1_retries": 3, "layer1_result": null });
        Moment { state: json!({ "autofix": autofix, "verify": verify }), offered: Vec::new() }
    }

    fn asking(mut moment: Moment, options: &[&str]) -> Moment {
        moment.offered = options.iter().map(|&option| option.to_owned()).collect();
        moment
    }

    fn with(mut moment: Moment, field: &str, value: Value) -> Moment {
        moment.state["verify"][field] = value;
        moment
    }

    fn breaks(before: Option<&Moment>, now: &Moment) -> Option<String> {
        wrong(before, now).map(|why| why[..2].to_owned())
    }

    #[test]
    fn the_seeds_table_holds_from_row_to_row() {
        let first = asking(moment(None, false), &["autofix", "continue"]);
        let proposed = moment(Some("proposed"), false);
        let second = asking(proposed.clone(), &["apply", "reject"]);
        let applied = moment(Some("applied"), true);
        let cleared = with(moment(None, true), "layer1_result", json!("PASS"));
        let later = moment(None, true);
        let again = ["continue", "stop"];
        let stopped = asking(moment(Some("stopped"), true), &again);
        let rejected = asking(moment(Some("rejected"), true), &again);
        let nothing = Moment { state: Value::Null, offered: Vec::new() };
        for story in [
            vec![&nothing, &first, &proposed, &second, &applied, &cleared, &later, &nothing],
            vec![&first, &second, &applied, &stopped, &stopped],
            vec![&first, &proposed, &second, &rejected],
        ] {
            for pair in story.windows(2) {
                assert_eq!(wrong(Some(pair[0]), pair[1]), None);
            }
        }
    }

    #[test]
    fn an_attempt_without_a_decision_is_noticed_and_a_decision_without_an_attempt() {
        assert_eq!(breaks(None, &moment(Some("proposed"), true)).as_deref(), Some("I1"));
        assert_eq!(breaks(None, &moment(None, true)).as_deref(), Some("I1"));
        for applied in ["applied", "rejected", "stopped"] {
            assert_eq!(breaks(None, &moment(Some(applied), false)).as_deref(), Some("I1"));
        }
        let cleared = with(moment(None, true), "layer1_result", json!("PASS"));
        let back = moment(None, false);
        assert_eq!(breaks(Some(&cleared), &back).as_deref(), Some("I1"), "given back");
    }

    #[test]
    fn an_offer_to_whoever_has_had_it_is_noticed() {
        let offers = |moment| asking(moment, &["autofix", "continue"]);
        for applied in ["rejected", "stopped", "applied"] {
            let now = offers(moment(Some(applied), true));
            assert_eq!(breaks(None, &now).as_deref(), Some("I2"));
        }
        let cleared = with(moment(None, true), "layer1_result", json!("PASS"));
        assert_eq!(breaks(None, &offers(cleared)).as_deref(), Some("I2"));
        assert_eq!(breaks(None, &offers(moment(Some("proposed"), false))).as_deref(), Some("I2"));
    }

    #[test]
    fn the_first_gate_instead_of_the_second_is_noticed() {
        let now = asking(moment(Some("proposed"), false), &["continue"]);
        assert_eq!(breaks(None, &now).as_deref(), Some("I3"));
        let before = moment(Some("proposed"), false);
        assert_eq!(breaks(Some(&before), &moment(None, false)).as_deref(), Some("I3"));
        let nothing_proposed = asking(moment(None, false), &["apply"]);
        assert_eq!(breaks(None, &nothing_proposed).as_deref(), Some("I3"));
    }

    #[test]
    fn a_retry_after_a_patch_is_noticed() {
        let stopped = moment(Some("stopped"), true);
        let four = with(stopped.clone(), "layer1_retries", json!(4));
        assert_eq!(breaks(None, &four).as_deref(), Some("I4"));
        let two = with(moment(Some("applied"), true), "layer1_retries", json!(2));
        assert_eq!(breaks(Some(&two), &stopped).as_deref(), Some("I4"));
        let none = with(stopped.clone(), "layer1_retries", json!(0));
        assert_eq!(breaks(Some(&stopped), &none).as_deref(), Some("I4"));
    }
}
