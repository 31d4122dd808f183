//! Each question, what it shows, and where each answer leads.

use crate::pilot::{HANDOFF, Pilot, SHORT, plans, says};

mod slow {
    use super::*;

    /// Each question of the seed, for real: how it comes about, what it shows, and where each answer leads. Stopping leaves
    /// it open: whoever starts again is asked the same.
    #[test]
    #[expect(clippy::too_many_lines, reason = "a table: a row for each question")]
    fn each_question_shows_what_it_is_about_and_leads_where_it_says() {
        struct Asked {
            script: String,
            flags: &'static [&'static str],
            /// Questions on the way, and what is answered.
            before: &'static [&'static str],
            question: &'static str,
            shows: &'static [&'static str],
            /// An answer, and the exit code and what is said or asked then.
            answers: &'static [(&'static [&'static str], i32, &'static str)],
        }
        let silent = |who: &str| format!("[[answer]]\n{who}\nfault = 'silent'\n\n");
        let verifier = says(
            "role = 'verifier'",
            "verdict = 'fail', findings = [{ id = 'f1', title = 'nothing is wired in', file = 'a.rs', line = 3 }]",
            &[],
        );
        let reviewer = says(
            "role = 'code-reviewer'\nunit = '1'",
            "verdict = 'blocking', blocking_count = 1, warning_count = 0, note_count = 0, \
         findings = [{ severity = 'blocking', title = 'a race', file = 'b.rs', line = 9 }]",
            &[],
        );
        let last_reviewer = reviewer.replace("unit = '1'\n", "");
        let marked = plans("1", "### Task 1: See [checkpoint:human-verify]\nWrite alpha.", HANDOFF);
        let seen = says(
            "role = 'task-executor'\nunit = '1'",
            "verdict = 'done', summary = 'wrote alpha'",
            &[("phase-1.txt", "good")],
        );
        let bad = says(
            "role = 'task-executor'\nunit = '1'",
            "verdict = 'failed', summary = 'tried hard'",
            &[("phase-1.txt", "good")],
        );
        let table = [
        Asked {
            script: says("role = 'planner'", "verdict = 'planned'", &[]),
            flags: &[],
            before: &[],
            question: "Retry the planning step, or stop?",
            shows: &["it did not write docs/plans/"],
            answers: &[(&["retry"], 8, "Retry the planning step, or stop?")],
        },
        Asked {
            script: "[[answer]]\nrole = 'plan-skeleton'\nprint = 'One task in a.txt.'\nsay = { verdict = 'drafted' }\n"
                .to_owned(),
            flags: &["--thorough"],
            before: &[],
            question: "Approve this plan skeleton?",
            shows: &["One task in a.txt."],
            answers: &[
                (&["revise", "--text", "two tasks"], 8, "Approve this plan skeleton?"),
                (&["yes"], 8, "Approve this plan and begin execution?"),
            ],
        },
        Asked {
            script: silent("role = 'task-executor'"),
            flags: &[],
            before: &[],
            question: "Retry the task, or stop?",
            shows: &["it printed nothing"],
            answers: &[(&["retry"], 8, "Retry the task, or stop?")],
        },
        Asked {
            script: marked + &seen,
            flags: &[],
            before: &[],
            question: "[checkpoint:human-verify] See: is this right?",
            shows: &["Write alpha.", "wrote alpha", "+++ b/phase-1.txt", "+good"],
            answers: &[
                (&["redo", "--text", "louder"], 8, "[checkpoint:human-verify] See"),
                (&["confirmed"], 0, ""),
            ],
        },
        Asked {
            script: bad,
            flags: &[],
            before: &[],
            question: "How should we proceed? (fix manually and continue / revise plan / stop)",
            shows: &["Attempt 3: tried hard → the executor reported that it failed"],
            answers: &[
                (&["revise"], 8, "Edit the plan file directly, then continue."),
            ],
        },
        Asked {
            script: verifier.clone(),
            flags: &[],
            before: &[],
            question: "Fix these issues before review?",
            shows: &["nothing is wired in a.rs:3"],
            answers: &[
                (&["fix"], 8, "Fix these issues before review?"),
                (&["skip"], 0, "verification_skipped"),
            ],
        },
        Asked {
            script: silent("role = 'verifier'"),
            flags: &[],
            before: &[],
            question: "Retry the verification step, or stop?",
            shows: &["it printed nothing"],
            answers: &[(&["retry"], 8, "Retry the verification step, or stop?")],
        },
        Asked {
            script: reviewer,
            flags: &[],
            before: &[],
            question: "Address blocking findings before completing this phase?",
            shows: &["[blocking] a race b.rs:9"],
            answers: &[
                (&["fix"], 8, "Address blocking findings before completing this phase?"),
                (&["override"], 0, "review_overridden"),
            ],
        },
        Asked {
            script: silent("role = 'code-reviewer'"),
            flags: &[],
            before: &[],
            question: "Retry the review step, or stop?",
            shows: &["it printed nothing"],
            answers: &[(&["retry"], 8, "Retry the review step, or stop?")],
        },
        Asked {
            script: last_reviewer,
            flags: &[],
            before: &["override"],
            question: "Address blocking findings before completing?",
            shows: &["Final review: [blocking] a race b.rs:9"],
            answers: &[
                (&["fix"], 8, "Address blocking findings before completing?"),
                (&["override", "--text", "it is fine"], 0, "finalReview:overridden"),
            ],
        },
    ];
        for case in table {
            let pilot = Pilot::new(SHORT, &case.script);
            let args: Vec<&str> =
                ["autopilot", "spec.md"].iter().chain(case.flags).copied().collect();
            let (mut code, mut said) = pilot.run(&args);
            for answer in case.before {
                (code, said) = pilot.answer(&[answer]);
            }
            assert_eq!(code, Some(8), "{}: {said}", case.question);
            let (_, gates) = pilot.run(&["gates"]);
            assert!(gates.contains(case.question), "{}: {gates}", case.question);
            for shown in case.shows {
                assert!(gates.contains(shown), "{}: {shown}: {gates}", case.question);
            }
            // Stopped on record, and asked the same as soon as somebody goes on.
            let stopped = pilot.answer(&["stop"]);
            assert_eq!(stopped.0, Some(8), "{}: {}", case.question, stopped.1);
            assert!(pilot.run(&["gates"]).1.contains(case.question), "{}", case.question);
            for (words, want, then) in case.answers {
                let now = pilot.answer(words);
                assert_eq!(now.0, Some(*want), "{} {words:?}: {}", case.question, now.1);
                let (_, gates) = pilot.run(&["gates"]);
                let decisions = pilot.decisions().join(" ");
                let found = gates.contains(then) || decisions.contains(then);
                assert!(found, "{} {words:?}: {gates} {decisions}", case.question);
            }
        }
    }
}
