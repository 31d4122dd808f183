//! Every gate has an option that is always offered, and a policy answers only what is not a person's.

use super::super::compile::{Draft, StageOrigin};
use super::super::diagnostic::{Code, Diagnostic};
use super::super::problems::Problems;
use crate::workflow::{Gate, Go, Kind, Move, Stage, StageIx, Verdict};

pub(super) fn check(draft: &Draft, problems: &mut Problems<'_>) {
    let stages = draft.workflow.stages.iter().zip(&draft.origins.stages);
    for ((stage, origin), ix) in stages.zip((0..).map(StageIx)) {
        if let Kind::Gate(gate) = &stage.kind {
            way_out(stage, ix, origin, problems);
            policy(stage, gate, origin, problems);
            default(stage, gate, origin, problems);
        }
    }
}

/// Whether a person can always choose this option and gets somewhere else by it.
fn always_offered(verdict: &Verdict, ix: StageIx) -> bool {
    let gone_when_spent = |step: &Move| step.count.is_some() && step.spent.is_none();
    let stays = |step: &Move| match &step.go {
        Go::Again => true,
        Go::To(stage) | Go::Pause(stage) | Go::Rest(stage) => *stage == ix,
        Go::Leave(_) | Go::Return(_) | Go::Finish(_) => false,
    };
    let unconditional = verdict.cases.last().is_some_and(|case| case.when.is_none());
    unconditional
        && verdict.cases.iter().all(|case| {
            let spent = case.take.spent.as_deref();
            !gone_when_spent(&case.take) && !stays(&case.take) && !spent.is_some_and(stays)
        })
}

fn way_out(stage: &Stage, ix: StageIx, origin: &StageOrigin, problems: &mut Problems<'_>) {
    if stage.verdicts.iter().any(|verdict| always_offered(verdict, ix)) {
        return;
    }
    let message = format!("`{}` may have no option left that leads on", stage.name);
    problems.report(Diagnostic::at(origin.name.clone(), Code::GateWithoutWayOut, message).help(
        "give it an option that is always offered and leads elsewhere: without `when`, and \
             without a `count` that has no `spent`",
    ));
}

fn policy(stage: &Stage, gate: &Gate, origin: &StageOrigin, problems: &mut Problems<'_>) {
    for (rule, span) in gate.policy.iter().zip(&origin.policy) {
        let Some(option) = stage.verdicts.get(rule.answer.at()) else { continue };
        let steps = || option.cases.iter().map(|case| &case.take);
        let (message, help) = if gate.hard {
            let help = "leave out `policy`, or `hard`";
            (format!("`{}` is hard: no policy may answer it", stage.name), help)
        } else if steps().any(|step| !step.waive.is_empty()) {
            let help = "only a person may do without evidence";
            (format!("a policy may not answer `{}`, which waives", option.name), help)
        } else if steps().any(|step| step.reason) {
            let help = "only a person can say why";
            (format!("a policy may not answer `{}`, which needs a reason", option.name), help)
        } else {
            continue;
        };
        problems.report(Diagnostic::at(span.clone(), Code::PolicyAnswer, message).help(help));
    }
}

/// An empty answer says nothing, so it cannot say why, and does not do without evidence either.
fn default(stage: &Stage, gate: &Gate, origin: &StageOrigin, problems: &mut Problems<'_>) {
    let option = gate.default.and_then(|ix| stage.verdicts.get(ix.at()));
    let Some((option, span)) = option.zip(origin.default.as_ref()) else { return };
    if option.cases.iter().any(|case| case.take.reason) {
        let message = format!("`{}` needs a reason, which an empty answer has not", option.name);
        problems.report(
            Diagnostic::at(span.clone(), Code::PolicyAnswer, message)
                .help("let another option be the default"),
        );
    } else if option.cases.iter().any(|case| !case.take.waive.is_empty()) {
        let message = format!("`{}` waives evidence, which an empty answer must not", option.name);
        problems.report(
            Diagnostic::at(span.clone(), Code::PolicyAnswer, message)
                .help("let another option be the default"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::lang::testing::wrong;

    fn gate(keys: &str, on: &str) -> String {
        format!(
            "[inputs]\nx='flag'\n[counters]\nn={{per='unit',max=2}}\n\
             [[unit]]\nstage='work'\nrole='worker'\nedits=true\n\
             on={{done='next',failed={{to='work',count='n',spent='next'}}}}\n\
             [[unit]]\nstage='g'\ngate='?'\n{keys}\non={{{on}}}\n\
             [[unit]]\nstage='test'\nchecks=['test']\non={{pass='next',fail='failed',skipped='failed'}}\n\
             [[unit]]\nstage='land'\nland='merge'\nneeds=['test:pass']\n\
             on={{landed='done',moved='failed',conflict='failed'}}\n"
        )
    }

    #[test]
    fn an_option_must_always_be_offered_and_lead_on() {
        let sound = ["a='next'", "a={to='work',count='n',spent='test'}", "a='next', b='again'"];
        for on in sound {
            assert_eq!(wrong(&gate("", on)), [""; 0], "{on}");
        }
        let stuck = [
            "a={to='test',count='n'}",
            "a=[{when='x',to='test'}]",
            "a=[{when='x',to='test',count='n'},{to='test'}]",
            "a={to='test',count='n'}, b='again'",
            "a={to='test',count='n'}, b='pause'",
            "a={to='test',count='n'}, other='g'",
        ];
        for on in stuck {
            assert_eq!(wrong(&gate("", on)), ["gate-without-way-out: g"], "{on}");
        }
    }

    #[test]
    fn a_policy_answers_only_what_it_may() {
        let policy = |option: &str| format!("policy=[{{when='x',answer='{option}'}}]");
        let on = "a='next', w={to='land',waive=['test']}, r={to='next',reason=true}";
        assert_eq!(wrong(&gate(&policy("a"), on)), [""; 0]);
        assert_eq!(wrong(&gate(&policy("w"), on)), ["policy-answer: w"]);
        assert_eq!(wrong(&gate(&policy("r"), on)), ["policy-answer: r"]);
        assert_eq!(wrong(&gate(&policy("other"), on)), ["policy-answer: other"]);
        let hard = format!("hard=true\n{}", policy("a"));
        assert_eq!(wrong(&gate(&hard, on)), ["policy-answer: a"]);
    }

    #[test]
    fn a_default_is_an_option_that_needs_no_reason() {
        let on = "a='next', r={to='next',reason=true}";
        assert_eq!(wrong(&gate("default='a'", on)), [""; 0]);
        assert_eq!(wrong(&gate("default='r'", on)), ["policy-answer: r"]);
        assert_eq!(wrong(&gate("default='b'", on)), ["policy-answer: b"]);
        let on = "a='next', w={to='land',waive=['test']}";
        assert_eq!(wrong(&gate("default='a'", on)), [""; 0]);
        assert_eq!(wrong(&gate("default='w'", on)), ["policy-answer: w"]);
    }
}
