//! An issue of a tracker, worked off by real agents: planned as two change groups, of which one fails its quick tests once and is
//! mended by what they said, checked, reviewed, landed and reported.

mod slow {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use windlass_agents::scripted::Script;
    use windlass_testkit::{Complaint, Exchange, Reply, Server};
    use windlass_trackerkit::linear::{Linear, NewIssue};

    use crate::actor::{Wanted, actor};
    use crate::rig::{Rig, Who};
    use crate::scratch::ended;

    /// What has to be in the second file: only from here its worker can know.
    const CHECK: &str = "[ ! -e two.txt ] || grep -qx 'two, please' two.txt || { echo 'two.txt has to say <two, please>'; exit 1; }\n";

    const SPEC: &str = "name: texts\npaths: [one.txt, two.txt]\n\
                        invariants:\n  - id: newline\n    text: Every file ends in a newline\n\
                        tests:\n  tier0: sh test.sh\n  tier1: sh test.sh\n";

    const SCRIPT: &str = r#"
[[answer]]
role = "issue-planner"
[answer.say]
verdict = "planned"
summary = "two groups"
criteria = [{ id = "c1", title = "both are there" }]
groups = [
  { id = "g1", title = "feat: one", files = ["one.txt"], changes = "it is made", invariants = "newline", test = "sh test.sh" },
  { id = "g2", title = "feat: two", files = ["two.txt"], changes = "it is made", invariants = "newline", test = "sh test.sh" },
]

[[answer]]
role = "issue-worker"
task = "g1"
write = { "one.txt" = "one\n" }
say = { verdict = "applied", summary = "one is there" }

[[answer]]
role = "issue-worker"
task = "g2"
write = { "two.txt" = "two\n" }
say = { verdict = "applied", summary = "two is there" }

[[answer]]
role = "invariant-checker"
[answer.say]
verdict = "pass"
summary = "it holds"
passed = 1
total = 1
invariants = [{ id = "newline", title = "newline", holds = "yes", evidence = "tail -c 1" }]

[[answer]]
role = "failure-classifier"
say = { verdict = "retryable", summary = "a slip" }

[[answer]]
role = "issue-reviewer"
[answer.say]
verdict = "pass"
summary = "as it was wanted"
criteria_met = true
invariants = [{ id = "newline", title = "newline", holds = "yes", evidence = "tail -c 1" }]
"#;

    /// What the tests wanted to see, from whoever was told.
    fn mended(wanted: &Wanted, text: &str) -> Option<(String, String)> {
        if (wanted.role.as_str(), wanted.task.as_str()) != ("issue-worker", "g2") {
            return None;
        }
        let (_, rest) = text.split_once("two.txt has to say <")?;
        let (line, _) = rest.split_once('>')?;
        Some(("two.txt".to_owned(), format!("{line}\n")))
    }

    /// Who works there, with the tracker's key in a variable of its own.
    fn rig(who: Who, server: Server, tracker: &Linear) -> Rig {
        let config = format!(
            "[budget]\ninvocation = {{ tokens = 1000000 }}\n\
             [issues]\ntracker = 'linear'\nproject = 'Harness'\nbase-url = '{}'\nkey-variable = 'TRACKER_KEY'\n",
            tracker.url()
        );
        let files = [("test.sh", CHECK), ("subsystems_knowledge/texts.yaml", SPEC)];
        Rig::with(who, server, &config, &files)
    }

    fn runs(rig: &Rig) -> (Option<i32>, String) {
        let mut command = rig.windlass(&["issues"]);
        ended(command.env("TRACKER_KEY", "test-key").output().unwrap())
    }

    fn works_off(who: Who, host: &str) {
        let tracker = Linear::start().unwrap();
        let body = "Both of them.\n\n[HARNESS_DONE]\n";
        let id = tracker.issue(&NewIssue { title: "One and two", body, ..NewIssue::default() });
        let script = Script::parse(SCRIPT).unwrap();
        let server = Server::start(actor(script, Arc::new(mended))).unwrap();
        let rig = rig(who, server, &tracker);
        let (code, said) = runs(&rig);
        assert_eq!(code, Some(0), "{said}");
        assert!(said.lines().any(|line| line == format!("[ISSUE_COMPLETE: {id}]")), "{said}");
        assert_eq!(rig.scratch.processes(), [""; 0]);

        let subjects = rig.scratch.git(&["log", "--reverse", "--format=%s", "main"]);
        assert_eq!(subjects.lines().skip(1).collect::<Vec<_>>(), ["feat: one", "feat: two"]);
        assert_eq!(rig.scratch.git(&["show", "main:two.txt"]), "two, please");
        let by = rig.scratch.git(&[
            "log",
            "-1",
            "--format=%(trailers:key=Co-Authored-By,valueonly)",
            "main",
        ]);
        assert!(by.contains(who.name()) && by.contains(&format!("<noreply@{host}>")), "{by}");

        let comments = tracker.said(&id);
        let [starts, ends] = &comments[..] else { panic!("{comments:?}") };
        assert!(starts.body.starts_with("Harness iteration 1 starting."), "{starts:?}");
        for part in ["Files changed: 2\nChange groups: 2/2\n", "Tests: tier0 PASS, tier1 PASS\n"] {
            assert!(ends.body.contains(part), "{part}: {ends:?}");
        }
        assert_eq!(tracker.state(&id), "Done");
        everybody_was_shown_what_is_theirs(&rig.server.requests());
    }

    /// Whoever mended it was shown what the tests said, and the issue stands nowhere but where it is quoted.
    fn everybody_was_shown_what_is_theirs(exchanges: &[Exchange]) {
        let texts: Vec<String> = exchanges
            .iter()
            .filter(|it| !it.request.is_side())
            .map(|it| it.request.text())
            .collect();
        assert!(texts.iter().any(|it| it.contains("two.txt has to say <two, please>")));
        for role in [
            "issue-planner",
            "issue-worker",
            "invariant-checker",
            "failure-classifier",
            "issue-reviewer",
        ] {
            assert!(texts.iter().any(|it| it.contains(&format!("# Your role: {role}"))), "{role}");
        }
        let marked =
            texts.iter().flat_map(|it| it.lines()).filter(|it| it.contains("[HARNESS_DONE]"));
        let lines: Vec<&str> = marked.collect();
        assert!(
            !lines.is_empty() && lines.iter().all(|it| it.contains("> [HARNESS_DONE]")),
            "{lines:?}"
        );
    }

    #[test]
    fn claude_works_off_an_issue() {
        works_off(Who::Claude, "anthropic.com");
    }

    #[test]
    fn codex_works_off_an_issue() {
        works_off(Who::Codex, "openai.com");
    }

    /// As long as its context is full, nobody gets the second group done: the issue waits, says so once, and is taken up again.
    #[test]
    fn an_issue_is_paused_when_a_context_is_full_and_taken_up_again() {
        let tracker = Linear::start().unwrap();
        let id = tracker.issue(&NewIssue::default());
        let acts = actor(Script::parse(SCRIPT).unwrap(), Arc::new(mended));
        let full = Arc::new(AtomicBool::new(true));
        let is_full = Arc::clone(&full);
        let server = Server::start(move |request| {
            let wanted = Wanted::of(request);
            let stuck = (wanted.role.as_str(), wanted.task.as_str()) == ("issue-worker", "g2");
            match stuck && is_full.load(Ordering::Relaxed) {
                true => Reply::complaint(Complaint::Overflow),
                false => acts(request),
            }
        });
        let rig = rig(Who::Claude, server.unwrap(), &tracker);
        let (code, said) = runs(&rig);
        assert_eq!(code, Some(3), "{said}");
        assert!(said.lines().any(|line| line == format!("[HARNESS_PAUSE: {id}]")), "{said}");
        let paused = "Harness paused on this issue in iteration 1: an agent's context is full.";
        let comments = tracker.said(&id);
        assert!(comments[1].body.starts_with(paused), "{comments:?}");
        assert!(comments[1].body.contains("Change groups completed: 1/2"), "{comments:?}");
        full.store(false, Ordering::Relaxed);
        let (code, said) = runs(&rig);
        assert_eq!(code, Some(0), "{said}");
        assert_eq!((tracker.said(&id).len(), tracker.state(&id).as_str()), (3, "Done"));
    }
}
