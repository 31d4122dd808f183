//! Whose an issue is: people's, another Windlass's, ours; and that nothing is said twice (I3, C4).

use std::io::{BufRead as _, BufReader, Write as _};

use super::rig::{Rig, STATE};

#[test]
fn what_somebody_has_is_left_alone_and_every_exclusion_is_explained() {
    let mut rig = Rig::of(&["A-1", "A-2", "A-3", "A-4"], "");
    rig.put("A-1", "assignee: Grace\n");
    rig.put("A-2", "state: in progress\n");
    rig.put("A-3", "blocked_by: [A-1]\n");
    let claim = "\n## Comments\n\n### Windlass · 2026-01-01T00:00:00Z\n\nstarting\n\n<!-- windlass claim b0b -->\n";
    rig.write("issues/A-4.md", &(rig.issue("A-4") + claim));
    let before: Vec<String> = ["A-1", "A-2", "A-3", "A-4"].map(|it| rig.issue(it)).into();
    let seen = rig.ends(&["--dry-run"], 0);
    insta::assert_snapshot!(seen, @r"
    $ windlass issues --dry-run
    next     none
    left out A-1  Do A-1
             Grace has it: it is assigned to them
    left out A-2  Do A-2
             somebody has it: it is in progress without a claim
    left out A-3  Do A-3
             it is blocked by A-1
    left out A-4  Do A-4
             another Windlass has claimed it (Windlass, 2026-01-01T00:00:00Z); `windlass issues release A-4` ends that claim
    ");
    assert!(rig.file(STATE).is_none(), "nothing was changed");
    let seen = rig.ends(&[], 0);
    assert!(seen.contains("left out: A-2: somebody has it"), "{seen}");
    let after: Vec<String> = ["A-1", "A-2", "A-3", "A-4"].map(|it| rig.issue(it)).into();
    assert_eq!(before, after);
    rig.ends(&["release", "A-4"], 0);
    rig.ends(&[], 0);
    assert_eq!(rig.state("completed_issues"), "[\"A-4\"]");
}

#[test]
fn an_issue_that_failed_is_taken_again_once_a_person_releases_it() {
    let fails =
        super::rig::simply(&super::rig::who("issue-worker", "A-1", "", 0), "failed", "no idea");
    let mut rig = Rig::of(&["A-1"], &fails);
    rig.ends(&["--once"], 4);
    let seen = rig.ends(&["--dry-run"], 0);
    assert!(seen.contains("next     none"), "{seen}");
    rig.ends(&["release", "A-1"], 0);
    let seen = rig.ends(&["--dry-run"], 0);
    assert!(seen.contains("next     A-1"), "{seen}");
}

#[test]
fn what_others_change_meanwhile_does_not_enter_the_work_and_is_said() {
    let script =
        super::rig::simply(&super::rig::who("issue-planner", "A-1", "", 1), "blocked", "wait");
    let mut rig = Rig::of(&["A-1"], &script);
    rig.ends(&["--once"], 8);
    let seen = rig.ends(&["--dry-run"], 0);
    assert!(seen.contains("the loop here is at it: `windlass issues` goes on with it"), "{seen}");
    let edited = rig.issue("A-1").replace("It is wanted.", "OTHER WORDS");
    rig.write("issues/A-1.md", &edited);
    assert_eq!(rig.answers("ask_blocked", &["--text", "go on"]), Some(0), "{}", rig.told);
    assert!(!rig.log().contains("OTHER WORDS"), "the running issue is what was claimed");
    let said = "This issue was changed while it was worked on (its description).";
    assert_eq!(rig.said("A-1", said), 1, "{}", rig.issue("A-1"));
}

/// An issue that waits for an answer of its planner, and what a person makes of it meanwhile: nothing of it lands.
#[track_caller]
fn is_left(meanwhile: impl Fn(&Rig), why: &str) -> Rig {
    let script =
        super::rig::simply(&super::rig::who("issue-planner", "A-1", "", 1), "blocked", "wait");
    let mut rig = Rig::of(&["A-1", "A-2"], &script);
    rig.ends(&[], 8);
    meanwhile(&rig);
    assert_eq!(rig.answers("ask_blocked", &["--text", "go on"]), Some(0), "{}", rig.told);
    let said = format!("Harness left this issue in iteration 1: {why}. Nothing of it has landed");
    assert_eq!(rig.said("A-1", &said), 1, "{}", rig.issue("A-1"));
    assert!(rig.told.contains(&format!("A-1: {why}: nothing of it lands")), "{}", rig.told);
    assert_eq!(rig.said("A-1", "Harness completed"), 0);
    // The other one is worked on, and this one is no failure.
    assert_eq!(rig.subjects(), ["feat: g1"]);
    assert_eq!(rig.state("completed_issues"), "[\"A-2\"]");
    assert_eq!(rig.state("skipped_issues"), "[\"A-1\"]");
    assert_eq!(rig.state("consecutive_failures"), "0");
    assert_eq!(rig.run(&["lanes", "list"]), Some(0));
    let kept = rig.told.rsplit("$ windlass").next().unwrap();
    assert!(kept.contains("A-1"), "its work is kept: {kept}");
    rig
}

#[test]
fn an_issue_that_a_person_cancels_or_takes_meanwhile_does_not_land_and_stays_as_they_have_it() {
    let set = |front: &'static str| {
        move |rig: &Rig| {
            let text = rig.issue("A-1").replace("state: in progress\n", front);
            rig.write("issues/A-1.md", &text);
        }
    };
    let rig = is_left(set("state: cancelled\nassignee: Grace\n"), "it is cancelled by now");
    let changed = "(its state, now cancelled, its assignee, now Grace)";
    assert!(rig.issue("A-1").contains("\nstate: cancelled\nassignee: Grace\n"));
    assert_eq!(rig.said("A-1", changed), 1, "{}", rig.issue("A-1"));
    let rig =
        is_left(set("state: in progress\nassignee: Grace\n"), "it is assigned to Grace by now");
    assert!(rig.issue("A-1").contains("\nstate: in progress\nassignee: Grace\n"));
    is_left(set("state: done\n"), "it is done by now");
}

#[test]
fn an_issue_that_is_cancelled_while_a_loop_stands_still_is_neither_moved_nor_worked_on() {
    let mut rig = Rig::of(&["A-1"], "");
    rig.killed_once_claimed(&mut rig.scratch.windlass(&["issues"]));
    assert!(!rig.issue("A-1").contains("state: in progress"), "{}", rig.issue("A-1"));
    let text = rig.issue("A-1").replacen("[ready]\n", "[ready]\nstate: cancelled\n", 1);
    rig.write("issues/A-1.md", &text);
    assert_eq!(rig.run(&["resume"]), Some(0), "{}", rig.told);
    assert!(rig.issue("A-1").contains("\nstate: cancelled\n"), "{}", rig.issue("A-1"));
    let said =
        "Harness left this issue in iteration 1: it is cancelled by now. Nothing of it has landed";
    assert_eq!(rig.said("A-1", said), 1, "{}", rig.issue("A-1"));
    assert_eq!((rig.subjects(), rig.log().contains("issue-planner")), (Vec::new(), false));
    assert_eq!(rig.state("skipped_issues"), "[\"A-1\"]");
}

#[test]
fn what_a_pull_request_completed_can_be_released_and_is_taken_again() {
    let mut rig = Rig::of(&["A-1"], "");
    // In progress with a claim that was completed: what is handed over as a pull request looks like that until it is merged.
    let said = |what: &str| {
        format!(
            "\n### Windlass · 2026-01-01T00:00:00Z\n\nIt is said.\n\n<!-- windlass {what} b0b -->\n"
        )
    };
    let comments = format!("\n## Comments\n{}{}", said("claim"), said("completed"));
    rig.put("A-1", "state: in progress\n");
    rig.write("issues/A-1.md", &(rig.issue("A-1") + &comments));
    let seen = rig.ends(&["--dry-run"], 0);
    assert!(seen.contains("`windlass issues release A-1` lets it be taken again"), "{seen}");
    let seen = rig.ends(&["release", "A-1"], 0);
    assert!(seen.contains("A-1 is released: one claim is ended"), "{seen}");
    let seen = rig.ends(&["--dry-run"], 0);
    assert!(seen.contains("next     A-1"), "{seen}");
}

#[test]
fn an_issue_is_released_by_whatever_name_people_have_for_it() {
    let fails =
        super::rig::simply(&super::rig::who("issue-worker", "A-1", "", 0), "failed", "no idea");
    let mut rig = Rig::of(&["A-1"], &fails);
    rig.ends(&["--once"], 4);
    assert_eq!(rig.state("failed_issues"), "[\"A-1\"]");
    let seen = rig.ends(&["release", "A-1.md"], 0);
    assert!(seen.contains("A-1 is released"), "{seen}");
    assert_eq!(rig.state("failed_issues"), "[]");
    let script =
        super::rig::simply(&super::rig::who("issue-planner", "A-1", "", 1), "blocked", "wait");
    let mut rig = Rig::of(&["A-1"], &script);
    rig.ends(&["--once"], 8);
    let seen = rig.ends(&["release", "A-1.md"], 2);
    assert!(seen.contains("the loop here is at A-1"), "{seen}");
}

#[test]
fn an_issue_whose_claim_is_ended_elsewhere_does_not_land() {
    let release = |rig: &Rig| {
        let text = rig.issue("A-1");
        let key = text.split("windlass claim ").nth(1).unwrap().split(' ').next().unwrap();
        let said = format!(
            "\n### Grace · 2026-11-18T21:08:02Z\n\nReleased.\n\n<!-- windlass release {key} -->\n"
        );
        rig.write("issues/A-1.md", &(text.clone() + &said));
    };
    is_left(release, "its claim was released");
}

#[test]
fn what_a_person_adds_below_our_comment_meanwhile_is_kept_and_said_and_the_work_lands() {
    let script =
        super::rig::simply(&super::rig::who("issue-planner", "A-1", "", 1), "blocked", "wait");
    let rapid: String = (0..20).map(|nth| format!("Remark {nth}.\n")).collect();
    for added in ["By the way: please use blue.\n", "### Ada\n\nBlue, please.\n", &rapid] {
        let mut rig = Rig::of(&["A-1"], &script);
        rig.ends(&["--once"], 8);
        let path = rig.issues_dir().join("A-1.md");
        let mut file = std::fs::File::options().append(true).open(path).unwrap();
        for line in added.split_inclusive('\n') {
            file.write_all(line.as_bytes()).unwrap();
        }
        assert_eq!(rig.answers("ask_blocked", &["--text", "go on"]), Some(0), "{}", rig.told);
        let issue = rig.issue("A-1");
        assert!(issue.contains("\nstate: done\n") && issue.contains(added), "{issue}");
        let said = "This issue was changed while it was worked on (1 comment).";
        assert_eq!(
            (rig.said("A-1", said), rig.said("A-1", "Harness completed")),
            (1, 1),
            "{issue}"
        );
        assert_eq!(rig.subjects(), ["feat: g1"]);
        assert!(!rig.log().contains(added.lines().last().unwrap()), "it is no part of the work");
    }
}

#[test]
fn an_issue_whose_claim_somebody_has_taken_out_is_takeable_once_it_is_released() {
    let taken_out = |rig: &Rig| {
        let text = rig.issue("A-1");
        let (before, _) = text.split_once("## Comments").unwrap();
        rig.write("issues/A-1.md", before);
    };
    let mut rig = is_left(taken_out, "its claim is not there any more");
    let seen = rig.ends(&["release", "A-1"], 0);
    assert!(seen.ends_with("A-1 is released: one claim is ended\n"), "{seen}");
    let seen = rig.ends(&["release", "A-1"], 0);
    assert!(seen.ends_with("A-1 may be taken again\n"), "{seen}");
    let seen = rig.ends(&["--dry-run"], 0);
    assert!(seen.contains("next     A-1"), "{seen}");
    rig.ends(&[], 8);
    assert_eq!(rig.answers("ask_blocked", &["--text", "go on"]), Some(0), "{}", rig.told);
    assert!(rig.issue("A-1").contains("\nstate: done\n"), "{}", rig.issue("A-1"));
    assert_eq!(rig.said("A-1", "Harness completed"), 1);
}

#[test]
fn releasing_says_what_is_still_in_the_way() {
    let mut rig = Rig::of(&["A-1", "A-2", "A-3"], "");
    rig.put("A-1", "state: done\n");
    rig.put("A-2", "state: in progress\n");
    rig.put("A-3", "assignee: Grace\n");
    for (issue, why) in [
        ("A-1", "it is done; open it again in issues/A-1.md, and it may be taken"),
        (
            "A-2",
            "somebody has it: it is in progress without a claim; if nobody is at it, \
             set its state back in issues/A-2.md, and it may be taken",
        ),
        ("A-3", "Grace has it: it is assigned to them"),
    ] {
        let before = rig.issue(issue);
        let seen = rig.ends(&["release", issue], 0);
        let said =
            format!("has no claim that could be ended\nit is left out all the same: {why}\n");
        assert!(seen.contains(&said), "{seen}");
        assert!(!seen.contains("may be taken again") && rig.issue(issue) == before, "{seen}");
    }
}

mod slow {
    use super::*;

    /// Killed after every few of its entries and resumed: each comment is there once, and so is each commit.
    #[test]
    fn killed_anywhere_and_resumed_nothing_is_said_or_done_twice() {
        let script = super::super::rig::plans("A-1", &["g1", "g2"]);
        let mut after = 4;
        loop {
            let mut rig = Rig::of(&["A-1"], &script);
            let mut child = rig.scratch.windlass(&["issues", "--once", "--json"]).spawn().unwrap();
            let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
            let read = lines.by_ref().take(after).count();
            child.kill().unwrap();
            child.wait().unwrap();
            let over = read < after;
            if !over {
                let code = rig.run(&["resume"]);
                // It may have come to its end before it was killed.
                assert!(
                    code == Some(0)
                        || rig.told.contains("no run is open")
                        || rig.told.contains("is over"),
                    "{}",
                    rig.told
                );
            }
            let issue = rig.issue("A-1");
            for said in ["Harness iteration 1 starting.", "Harness completed issue in iteration 1."]
            {
                assert_eq!(
                    rig.said("A-1", said),
                    1,
                    "after {after}: {said}: {issue}\n{}",
                    rig.told
                );
            }
            assert!(issue.contains("\nstate: done\n"), "{issue}");
            assert_eq!(rig.subjects(), ["feat: g1", "feat: g2"], "after {after}");
            assert_eq!(rig.state("completed_issues"), "[\"A-1\"]");
            if over {
                break;
            }
            after += 17;
        }
        assert!(after > 60, "it was killed a few times");
    }

    /// Two at one folder: none is worked on twice, and all are done.
    #[test]
    fn two_windlasses_at_one_tracker_never_work_on_the_same_issue() {
        let names: Vec<String> = (1..=12).map(|nth| format!("A-{nth}")).collect();
        let issues: Vec<&str> = names.iter().map(String::as_str).collect();
        let one = Rig::of(&issues, "");
        let other = Rig::of(&issues, "");
        let dir = one.issues_dir();
        let dir = dir.to_str().unwrap();
        let start = |rig: &Rig| {
            let args = ["issues", "--tracker", "folder", "--project", dir];
            rig.scratch.windlass(&args).spawn().unwrap()
        };
        let (first, second) = (start(&one), start(&other));
        let (first, second) =
            (first.wait_with_output().unwrap(), second.wait_with_output().unwrap());
        for output in [&first, &second] {
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{said}");
        }
        for issue in &issues {
            let text = one.issue(issue);
            assert!(text.contains("\nstate: done\n"), "{text}");
            assert_eq!(one.said(issue, "Harness completed issue"), 1, "{text}");
            assert_eq!(text.matches("windlass claim ").count(), 1, "what was lost is gone: {text}");
        }
        let done = one.subjects().len() + other.subjects().len();
        assert_eq!(done, issues.len());
        assert!(!one.subjects().is_empty() && !other.subjects().is_empty(), "both had some");
    }
}
