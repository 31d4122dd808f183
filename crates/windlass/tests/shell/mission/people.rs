//! People beside a mission: they edit its queue before and while it runs, add, reorder and leave out, start it twice, and
//! pull the plug.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use serde_json::{Value, json};

use super::rig::{
    CONTRACT, Feature, QUEUE, Rig, builds, contract, feature, judges, passes, queue, val,
};
use crate::agent::pipe;
use crate::scratch::ended;

pub(super) fn named(ids: &[&str]) -> Vec<Feature> {
    ids.iter().map(|id| feature(id)).collect()
}

/// A mission that stops after each feature.
#[track_caller]
fn stopped(ids: &[&str], script: &str) -> Rig {
    let mut rig = Rig::of(&named(ids), script);
    rig.ends(&["--checkpoint", "post-feature"], 8);
    rig
}

/// Grants every checkpoint until it is over. The exit code.
#[track_caller]
fn granted(rig: &mut Rig) -> Option<i32> {
    loop {
        let code = rig.answers("feature_grant", &["grant"]);
        if code != Some(8) {
            return code;
        }
    }
}

#[test]
fn what_a_person_changes_at_a_checkpoint_counts_from_there_on() {
    let more = builds("F-NEW", None, "new\n")
        + &passes("F-NEW")
        + &judges("F-D", None, "pass", &[("VAL-D-002", "yes")], &[]);
    let mut rig = stopped(&["F-A", "F-B", "F-C", "F-D", "F-E"], &more);
    assert_eq!(rig.begun(), ["F-A"]);
    rig.edit(|features| {
        features[1]["status"] = json!("passed");
        features[2]["status"] = json!("skipped");
        features[3]["claims"] = json!(["VAL-D-002"]);
        features[4]["priority"] = json!(-1);
        features[4]["title"] = json!("Say E better");
        features.push(
            json!({ "id": "F-NEW", "title": "New", "claims": [val("F-NEW")], "depends": ["F-D"] }),
        );
    });
    let mut assertions = contract(&named(&["F-A", "F-B", "F-C", "F-E", "F-NEW"]));
    assertions.push_str("- VAL-D-002: `d.txt` says more\n  command: `test -s d.txt`\n");
    rig.write(CONTRACT, &assertions);
    assert_eq!(granted(&mut rig), Some(0), "{}", rig.told);
    assert_eq!(rig.begun(), ["F-A", "F-E", "F-D", "F-NEW"], "{}", rig.told);
    assert_eq!(rig.landed(), ["Build F-A", "Say E better", "Build F-D", "New"]);
    assert_eq!(
        rig.standing(),
        "F-A passed, F-B passed, F-C skipped, F-D passed, F-E passed, F-NEW passed"
    );
    assert!(rig.prompts("mission-worker", "F-D")[0].contains("VAL-D-002: `d.txt` says more"));
    assert_eq!(rig.feature("F-B")["reason"], "a person set it to passed in features.json");
    let records = rig.records();
    for record in ["override", "left_out"] {
        assert_eq!(records.iter().filter(|it| *it == record).count(), 1, "{record}: {records:?}");
    }
    assert_eq!(rig.file(CONTRACT), Some(assertions), "theirs");
    rig.was_always_sound();
}

#[test]
fn what_depends_on_an_override_goes_on_and_on_what_was_left_out_does_not() {
    let features = [
        feature("F-A"),
        feature("F-B"),
        feature("F-C"),
        feature("F-ON-B").on(&["F-B"]),
        feature("F-ON-C").on(&["F-C"]),
    ];
    let mut rig = Rig::of(&features, "");
    rig.ends(&["--checkpoint", "post-feature"], 8);
    rig.edit(|features| {
        features[1]["status"] = json!("passed");
        features[2]["status"] = json!("skipped");
    });
    let code = granted(&mut rig);
    assert_eq!(rig.landed(), ["Build F-A", "Build F-ON-B"], "{}", rig.told);
    assert_eq!(rig.feature("F-ON-B")["status"], "passed");
    // What waits for something that a person left out cannot be built: they are told.
    assert_eq!((code, rig.feature("F-ON-C")["status"].as_str()), (Some(3), Some("blocked")));
    assert_eq!(rig.feature("F-ON-C")["reason"], "it depends on F-C");
}

#[test]
fn a_queue_that_cannot_be_read_meanwhile_is_left_alone_and_counts_once_it_can() {
    let mut rig = stopped(&["F-A", "F-B", "F-C"], "");
    let before = rig.file(QUEUE).unwrap();
    rig.write(QUEUE, "{ \"features\": [ I was just");
    assert_eq!(rig.answers("feature_grant", &["grant"]), Some(8), "{}", rig.told);
    rig.saw("until then it counts as it was read last");
    assert_eq!(rig.file(QUEUE).as_deref(), Some("{ \"features\": [ I was just"));
    // Mended from a copy that knows nothing of what has passed since.
    let mended = before.replace("Build F-C", "Build the last one");
    rig.write(QUEUE, &mended);
    assert_eq!(granted(&mut rig), Some(0), "{}", rig.told);
    assert_eq!(rig.landed(), ["Build F-A", "Build F-B", "Build the last one"]);
    assert_eq!(rig.standing(), "F-A passed, F-B passed, F-C passed");
    rig.was_always_sound();
}

#[test]
fn a_flawed_queue_meanwhile_is_said_and_left_alone() {
    let mut rig = stopped(&["F-A", "F-B"], "");
    rig.edit(|features| features[1]["depends"] = json!(["F-NONE"]));
    let theirs = rig.file(QUEUE);
    assert_eq!(granted(&mut rig), Some(0), "{}", rig.told);
    rig.saw("`F-B` depends on `F-NONE`, which does not exist");
    rig.saw("features.json counts as it was read last");
    assert_eq!(rig.file(QUEUE), theirs);
    assert_eq!(rig.landed().len(), 2);
    // At the end as well, with where it stands instead, and what to do.
    let end = rig.told.rsplit_once("F-B: done").map_or("", |(_, end)| end);
    let said = "`F-B` depends on `F-NONE`, which does not exist. .harness/features.json stays as you have it";
    assert!(end.contains(said) && end.contains("Mend yours, or copy that one over it"), "{end}");
    let standing: Value =
        serde_json::from_str(&rig.file(".harness/mission/features.json").unwrap()).unwrap();
    let statuses = standing["features"].as_array().unwrap().iter().map(|it| &it["status"]);
    assert_eq!(statuses.collect::<Vec<_>>(), ["passed", "passed"]);
    // That is what a person may go on with.
    let standing = rig.file(".harness/mission/features.json").unwrap();
    rig.write(QUEUE, &standing);
    rig.ends(&[], 0);
    rig.saw("there is nothing to do");
}

/// Nobody reads the queue any more once the last question is answered.
#[test]
fn what_is_changed_at_the_very_end_is_the_next_missions() {
    let mut rig = Rig::of(&named(&["F-A", "F-B"]), "");
    rig.ends(&["--checkpoint", "pre-done"], 8);
    assert_eq!(rig.standing(), "F-A passed, F-B passed");
    rig.edit(|features| {
        features[0]["status"] = json!("pending");
        features.push(json!({ "id": "F-NEW", "title": "New", "claims": ["VAL-NEW-001"] }));
    });
    assert_eq!(rig.answers("done_grant", &["grant"]), Some(0), "{}", rig.told);
    rig.saw("you have changed .harness/features.json since it was read last");
    assert_eq!(rig.standing(), "F-A passed, F-B passed, F-NEW pending");
}

#[test]
fn the_queues_file_is_up_to_date_wherever_a_mission_pauses() {
    // So long that it is not written again for every feature.
    let mut features = named(&["F-A", "F-B"]);
    for at in 0..3_000 {
        let mut more = feature(&format!("F-{at}"));
        more.more.insert("status".into(), json!("passed"));
        features.push(more);
    }
    let mut rig = Rig::of(&named(&["F-A", "F-B"]), "");
    rig.write(QUEUE, &queue(&features));
    rig.ends(&["--checkpoint", "post-feature"], 8);
    assert_eq!(rig.feature("F-A")["status"], "passed");
    assert_eq!(rig.state()["landed"], 1);
}

#[test]
fn what_is_taken_out_before_it_begins_is_left_out() {
    let mut rig = stopped(&["F-A", "F-B", "F-C"], "");
    rig.edit(|features| drop(features.remove(1)));
    assert_eq!(granted(&mut rig), Some(0), "{}", rig.told);
    assert_eq!(
        (rig.begun().join(" "), rig.standing()),
        ("F-A F-C".into(), "F-A passed, F-C passed".into())
    );
    assert_eq!(rig.records().iter().filter(|it| *it == "removed").count(), 1);
    // Whoever puts it back has it built.
    let features = named(&["F-A", "F-B", "F-C"]);
    let mut back = queue(&features);
    back = back.replacen("pending", "passed", 1);
    rig.write(QUEUE, &back);
    rig.ends(&[], 0);
    assert_eq!(rig.begun(), ["F-B"], "what has landed is there");
    assert_eq!(rig.standing(), "F-A passed, F-B passed, F-C passed");
}

#[test]
fn what_comes_too_late_in_the_queues_file_is_said() {
    let mut rig = patient(&named(&["F-A", "F-B", "F-C"]));
    let mut mission = rig.scratch.windlass(&["mission", "--lanes", "3"]);
    let mut run = mission.stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(run.stderr.take().unwrap()).lines().map(Result::unwrap);
    for id in ["F-A", "F-B", "F-C"] {
        begun(&rig, id);
    }
    rig.edit(|features| {
        features[2]["status"] = json!("skipped");
        features.remove(0);
    });
    // It is read when that has landed.
    may(&rig, "F-B", "b\n");
    let first = lines.find(|line| line.contains("it goes on")).expect("it was said");
    may(&rig, "F-A", "a\n");
    may(&rig, "F-C", "c\n");
    let said = first + &lines.collect::<Vec<_>>().join("\n");
    assert_eq!(run.wait().unwrap().code(), Some(0), "{said}");
    for late in [
        "F-A is not in .harness/features.json any more, and it is under way: it goes on; `windlass skip F-A",
        "F-C was set to `skipped`, and it is under way: it goes on; `windlass skip F-C",
    ] {
        assert!(said.contains(late), "{late}: {said}");
    }
    assert_eq!(rig.landed().len(), 3, "{said}");
    rig.told = said;
    rig.was_always_sound();
}

/// What a kill cuts off counts as much as was set aside for it, and that is said.
#[test]
fn a_budget_that_kills_have_used_up_says_so() {
    let mut rig = patient(&named(&["F-A"]));
    let config = rig.file("windlass.toml").unwrap();
    let budget =
        "[budget]\nrun = { tokens = 30 }\ninvocation = { tokens = 20 }\nrequest = { tokens = 5 }\n";
    rig.write("windlass.toml", &format!("{config}{budget}"));
    rig.scratch.git(&["commit", "-qm", "Less", "windlass.toml"]);
    for _ in 0..2 {
        let mut run = rig.scratch.windlass(&["mission", "--lanes", "1"]).spawn().unwrap();
        begun(&rig, "F-A");
        run.kill().unwrap();
        run.wait().unwrap();
    }
    assert_eq!(rig.run(&["mission"]), Some(4), "{}", rig.told);
    rig.saw("30 of 30 tokens");
    let why = "0.00 dollars and 30 tokens were set aside for calls that were cut off (2)";
    rig.saw(why);
    rig.told.clear();
    assert_eq!(rig.run(&["status"]), Some(0));
    rig.saw(why);
}

/// Each of the two is right by itself, and neither says so of the other: what they are together is tried out as well.
#[test]
fn a_claim_that_the_merged_result_breaks_does_not_land() {
    let mut rig = patient(&named(&["F-A", "F-B"]));
    let alone = |id: &str, other: &str| {
        format!("- {}: `{other}` is not there\n  command: `test ! -e {other}`\n", val(id))
    };
    rig.write(CONTRACT, &(alone("F-A", "b.txt") + &alone("F-B", "a.txt")));
    let run = rig
        .scratch
        .windlass(&["mission", "--lanes", "2", "--max-attempts", "0"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Both lanes are made before either has landed.
    for id in ["F-A", "F-B"] {
        begun(&rig, id);
    }
    for id in ["F-A", "F-B"] {
        may(&rig, id, "x\n");
    }
    let (code, said) = ended(run.wait_with_output().unwrap());
    assert_eq!((code, rig.landed().len()), (Some(3), 1), "{said}");
    let why = rig.file(".harness/escalation.md").unwrap();
    assert!(why.contains("`contract` failed"), "{why}");
    rig.told = said;
    rig.was_always_sound();
}

#[test]
fn a_feature_is_added_put_first_and_left_out_by_verbs() {
    let more = builds("F-EXPORT-AS-CSV", None, "csv\n")
        + &judges("F-EXPORT-AS-CSV", None, "pass", &[("It prints a header", "yes")], &[]);
    let mut rig = stopped(&["F-A", "F-B", "F-C"], &more);
    let add =
        ["mission", "add", "Export as CSV", "--claim", "It prints a header", "--depends", "F-A"];
    assert_eq!(rig.run(&add), Some(0), "{}", rig.told);
    assert_eq!(rig.run(&["mission", "first", "F-EXPORT-AS-CSV"]), Some(0), "{}", rig.told);
    assert_eq!(rig.run(&["skip", "F-B", "--reason", "done by hand"]), Some(0), "{}", rig.told);
    assert_eq!(granted(&mut rig), Some(0), "{}", rig.told);
    assert_eq!(rig.begun(), ["F-A", "F-EXPORT-AS-CSV", "F-C"]);
    assert_eq!(rig.feature("F-B")["status"], "skipped");
    assert_eq!(rig.feature("F-B")["reason"], "done by hand (ada)");
    assert_eq!(rig.landed(), ["Build F-A", "Export as CSV", "Build F-C"]);
    // The same title again has another id.
    rig.told.clear();
    assert_eq!(rig.run(&add), Some(0));
    rig.saw("F-EXPORT-AS-CSV-2 is in .harness/features.json");
}

#[test]
fn a_queue_of_verbs_alone_is_a_mission() {
    let mut rig = Rig::unplanned(&named(&["F-A"]), "", &[("SPEC.md", "")]);
    let add =
        ["mission", "add", "Build F-A", "--claim", "VAL-A-001", "--id", "F-A", "--file", "a.txt"];
    assert_eq!(rig.run(&add), Some(0), "{}", rig.told);
    rig.write(CONTRACT, &contract(&named(&["F-A"])));
    rig.ends(&[], 0);
    assert_eq!((rig.standing().as_str(), rig.landed().len()), ("F-A passed", 1));
}

#[test]
fn what_a_verb_cannot_do_is_said_and_nothing_is_changed() {
    let mut rig = Rig::of(&named(&["F-PAY-01", "F-PAY-02"]), "");
    rig.edit(|features| features[1]["status"] = json!("passed"));
    let before = rig.file(QUEUE);
    for args in [
        ["mission", "first", "F-PAY-03"].as_slice(),
        &["mission", "retry", "F-PAI-01"],
        &["mission", "retry", "F-PAY-02"],
        &["mission", "add", "Pay", "--claim", "It pays", "--id", "pay it"],
        &["mission", "add", "Pay", "--claim", "It pays", "--id", "F-PAY-01"],
        &["mission", "add", "Pay", "--claim", "It pays", "--depends", "F-PAY-09"],
        &["mission", "add", "Pay", "--claim", "It pays", "--id", "F-X", "--depends", "F-X"],
    ] {
        assert_eq!(rig.run(args), Some(2), "{}", rig.told);
        assert_eq!(rig.file(QUEUE), before, "{}", rig.told);
    }
    insta::assert_snapshot!("verbs_refused", rig.seen());
}

#[test]
fn a_failed_feature_is_tried_again_when_a_person_says_so() {
    let features = named(&["F-A", "F-B"]);
    let mut rig =
        Rig::of(&features, &(builds("F-A", None, "bad\n") + &builds("F-B", None, "bad\n")));
    rig.ends(&["--max-attempts", "0"], 3);
    assert_eq!(rig.standing(), "F-A failed, F-B failed");
    assert_eq!(rig.run(&["mission", "retry", "F-A"]), Some(0), "{}", rig.told);
    let again = rig.feature("F-A");
    assert_eq!((&again["status"], &again["attempts"]), (&json!("pending"), &json!(0)));
    assert!(again["reason"].is_null());
    rig.now_says(&features, "");
    rig.ends(&[], 0);
    assert_eq!(rig.standing(), "F-A passed, F-B passed", "what has not passed is tried");
}

/// A mission whose workers say that they have begun, wait until they may go on, and keep a tally.
pub(super) fn patient(features: &[Feature]) -> Rig {
    let rig = Rig::of(features, "");
    for Feature { id, .. } in features {
        pipe(&rig.scratch, &format!("begun-{id}"));
        pipe(&rig.scratch, &format!("gate-{id}"));
    }
    let talk = rig.scratch.path("talk");
    let script = "#!/bin/sh\ncat > /dev/null\nhere=\"$(dirname \"$0\")\"\n\
                  echo \"$WINDLASS_UNIT $WINDLASS_ATTEMPT\" >> \"$here/tally\"\n\
                  echo begun > \"$here/begun-$WINDLASS_UNIT\"\nread line < \"$here/gate-$WINDLASS_UNIT\"\n\
                  echo \"$line\" > \"$(echo \"${WINDLASS_UNIT#F-}\" | tr A-Z a-z).txt\"\n\
                  echo '{\"verdict\":\"built\"}'\n";
    fs::write(talk.join("agent"), script).unwrap();
    fs::set_permissions(talk.join("agent"), fs::Permissions::from_mode(0o755)).unwrap();
    let config = format!(
        "[sandbox]\nwrite = ['{}']\n[agents.own]\nkind = 'command'\ncommand = ['{}']\ncost = 'none'\n\
         [agents.acted]\nkind = 'scripted'\nscript = 'script.toml'\n\
         [roles]\nmission-worker = 'own'\ndefault = 'acted'\n[checks]\ntest = 'sh test.sh'\n",
        talk.display(),
        talk.join("agent").display()
    );
    rig.write("windlass.toml", &config);
    rig.scratch.git(&["commit", "-qm", "Another agent", "windlass.toml"]);
    rig
}

/// Waits until the worker of a feature has begun.
pub(super) fn begun(rig: &Rig, id: &str) {
    fs::read_to_string(rig.scratch.path("talk").join(format!("begun-{id}"))).unwrap();
}

/// Lets it go on, and write this.
pub(super) fn may(rig: &Rig, id: &str, text: &str) {
    fs::write(rig.scratch.path("talk").join(format!("gate-{id}")), text).unwrap();
}

#[test]
fn two_missions_at_once_are_refused_and_a_killed_one_goes_on() {
    let mut rig = patient(&named(&["F-A", "F-B"]));
    let mission = ["mission", "--lanes", "1"];
    let mut run = rig.scratch.windlass(&mission).spawn().unwrap();
    begun(&rig, "F-A");
    may(&rig, "F-A", "a\n");
    begun(&rig, "F-B");
    assert_eq!(rig.landed(), ["Build F-A"]);
    assert_eq!(rig.run(&mission), Some(6), "{}", rig.told);
    rig.saw(&run.id().to_string());
    // A person's verbs work while somebody else runs it.
    assert_eq!(rig.run(&["mission", "first", "F-B"]), Some(0), "{}", rig.told);
    run.kill().unwrap();
    run.wait().unwrap();
    let again = rig.scratch.windlass(&["mission"]).spawn().unwrap();
    begun(&rig, "F-B");
    may(&rig, "F-B", "b\n");
    let (code, said) = ended(again.wait_with_output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(rig.landed(), ["Build F-A", "Build F-B"]);
    assert_eq!(rig.standing(), "F-A passed, F-B passed");
    let tally = fs::read_to_string(rig.scratch.path("talk/tally")).unwrap();
    assert_eq!(tally, "F-A 1\nF-B 1\nF-B 1\n", "a lost attempt is no attempt");
    assert_eq!(rig.scratch.processes(), [""; 0]);
    rig.was_always_sound();
}

/// By verbs, while both lanes are at work: nobody has to wait for a checkpoint.
#[test]
fn a_queue_is_changed_by_verbs_while_lanes_work() {
    let mut rig = patient(&named(&["F-A", "F-B", "F-C", "F-D", "F-NEW"]));
    rig.write(QUEUE, &queue(&named(&["F-A", "F-B", "F-C", "F-D"])));
    let mut mission = rig.scratch.windlass(&["mission", "--lanes", "2", "--max-attempts", "0"]);
    let run = mission.stderr(Stdio::piped()).spawn().unwrap();
    begun(&rig, "F-A");
    begun(&rig, "F-B");
    // One is stuck, and the next one begins.
    may(&rig, "F-A", "bad\n");
    begun(&rig, "F-C");
    let add = ["mission", "add", "Build F-NEW", "--claim", &val("F-NEW"), "--id", "F-NEW"];
    assert_eq!(rig.run(&add), Some(0), "{}", rig.told);
    assert_eq!(rig.run(&["mission", "first", "F-NEW"]), Some(0), "{}", rig.told);
    // Another lane is free: what was put first goes before what was planned.
    may(&rig, "F-B", "b\n");
    begun(&rig, "F-NEW");
    assert_eq!(rig.feature("F-A")["status"], "failed");
    assert_eq!(rig.run(&["mission", "retry", "F-A"]), Some(0), "{}", rig.told);
    assert_eq!(rig.run(&["mission", "first", "F-A"]), Some(0), "{}", rig.told);
    may(&rig, "F-C", "c\n");
    begun(&rig, "F-A");
    may(&rig, "F-NEW", "new\n");
    begun(&rig, "F-D");
    may(&rig, "F-A", "a\n");
    may(&rig, "F-D", "d\n");
    let (code, said) = ended(run.wait_with_output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    let tally = fs::read_to_string(rig.scratch.path("talk/tally")).unwrap();
    let began: Vec<&str> =
        tally.lines().skip(2).map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(began, ["F-C", "F-NEW", "F-A", "F-D"], "{said}");
    assert_eq!(
        rig.standing(),
        "F-A passed, F-B passed, F-C passed, F-D passed, F-NEW passed",
        "{said}"
    );
    rig.told = said;
    rig.was_always_sound();
}

#[test]
fn a_person_who_commits_meanwhile_loses_nothing() {
    let mut rig = patient(&named(&["F-A"]));
    let run = rig.scratch.windlass(&["mission", "--lanes", "1"]).spawn().unwrap();
    begun(&rig, "F-A");
    rig.write("theirs.md", "theirs\n");
    rig.scratch.git(&["add", "theirs.md"]);
    rig.scratch.git(&["commit", "-qm", "Theirs"]);
    let theirs = rig.scratch.git(&["rev-parse", "HEAD"]);
    rig.write("notes.md", "not committed\n");
    may(&rig, "F-A", "a\n");
    let (code, said) = ended(run.wait_with_output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    rig.scratch.git(&["merge-base", "--is-ancestor", &theirs, "main"]);
    assert_eq!(rig.landed(), ["Build F-A"]);
    assert_eq!(rig.file("notes.md").as_deref(), Some("not committed\n"));
    fs::remove_file(rig.scratch.repo().join("notes.md")).unwrap();
    rig.told = said;
    rig.was_always_sound();
}

/// A queue that is in the repository is a person's as any other, and what becomes of it is theirs to commit.
#[test]
fn a_queue_that_is_committed_is_kept_up_to_date_in_the_checkout() {
    let features = named(&["F-A", "F-B"]);
    let (plan, assertions) = (queue(&features), contract(&features));
    let mut rig = Rig::unplanned(&features, "", &[(QUEUE, &plan), (CONTRACT, &assertions)]);
    rig.ends(&[], 0);
    assert_eq!(rig.standing(), "F-A passed, F-B passed");
    assert_eq!(
        rig.scratch.git(&["show", &format!("main:{QUEUE}")]),
        plan.trim(),
        "no lane changed it"
    );
    assert_eq!(rig.scratch.git(&["status", "--porcelain", "-uno"]), format!("M {QUEUE}"));
    rig.was_always_sound();
}
