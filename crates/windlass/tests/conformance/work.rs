//! Rows of Plans.md, worked off side by side by real agents of two vendors: Claude Code writes tests, builds and mends, and Codex
//! reviews because it is there.

mod slow {
    use std::collections::{BTreeMap, BTreeSet};
    use std::fs;

    use serde_json::{Value, json};
    use windlass_testkit::{Api, Exchange, Reply, Request, Server};

    use crate::actor::Wanted;
    use crate::meeting::Meeting;
    use crate::rig::{Rig, Who};
    use crate::scratch::Scratch;

    /// Three rows that wait for nobody. The last is hard: four files, one of them below `core`, and a word that counts.
    const PLANS: &str = "# Plans\n\nWhat is to be done; see `docs/`.\n\n\
        | Task | Content | DoD | Depends | Status |\n|------|:--------|-----|---------|--------|\n\
        | 1 | [P] Write one | `one.txt` says one | - | cc:TODO |\n\
        | 2    |   [P] Write two   | `two.txt` says two | - | cc:TODO |\n\
        | 3 | [P] Write three for security | `core/a.txt`, `core/b.txt`, `core/c.txt`, `core/three.txt`: three | - | cc:TODO |\n\
        \n- a list\twith a tab \n\nAnd that is all, without a line break at its end";

    /// Every file in `tests` is a test, and each is told by its name.
    const CHECK: &str = "echo 'TAP version 13'\nfailed=0\nn=0\nfor test in tests/*.sh; do\n  [ -e \"$test\" ] || continue\n  \
        n=$((n+1))\n  name=$(basename \"$test\" .sh)\n  if sh \"$test\" >/dev/null 2>&1; then echo \"ok $n - $name\"\n  \
        else echo \"not ok $n - $name\"; failed=1; fi\ndone\necho \"1..$n\"\nexit $failed\n";

    /// What the reviewer finds, and what the worker can only know from there.
    const FINDING: &str = "two.txt has to say <two, please>";

    /// What a worker's command prints: only whoever has run it can know.
    const WROTE: &str = "written at the first go";

    /// The word of a task, and where it belongs.
    fn place(unit: &str) -> (&'static str, &'static str) {
        match unit {
            "1" => ("one", "one.txt"),
            "2" => ("two", "two.txt"),
            _ => ("three", "core/three.txt"),
        }
    }

    fn says(meeting: &Meeting, request: &Request) -> Reply {
        if request.is_side() {
            return Reply::text("A title");
        }
        let wanted = Wanted::of(request);
        let (word, file) = place(&wanted.unit);
        let first = request.answers() == 0;
        match wanted.role.as_str() {
            "scout" => answer(
                "confident",
                &json!({ "background": [{ "id": "purpose", "title": "It is wanted" }, { "id": "impact", "title": file }] }),
            ),
            "test-writer" if first => Reply::shell(format!(
                "mkdir -p tests && echo 'grep -q {word} {file}' > tests/{word}.sh && ls tests"
            )),
            "test-writer" => answer("written", &json!({})),
            "contract-reviewer" => answer("approved", &json!({})),
            "worker" => works(meeting, request, &wanted),
            "simplifier" => answer("nothing", &json!({})),
            "work-reviewer" => reviews(request, &wanted),
            role => Reply::text(format!("nothing is written for {role}")),
        }
    }

    fn works(meeting: &Meeting, request: &Request, wanted: &Wanted) -> Reply {
        let (word, file) = place(&wanted.unit);
        let mended = request.tool_results().iter().any(|text| text.contains("it is mended"));
        if request.last_user_text().contains(FINDING) && !mended {
            let wish = FINDING.split(['<', '>']).nth(1).unwrap();
            return Reply::shell(format!("echo '{wish}' > {file} && echo it is mended"));
        }
        if request.answers() == 0 {
            if wanted.unit != "3" {
                meeting.wait();
            }
            let write = format!("mkdir -p core && echo {word} > {file} && echo {WROTE}");
            return Reply::shell(write);
        }
        let more = json!({
            "changes": [{ "id": "a", "title": format!("Writes {word}") }],
            "effect": [{ "id": "before", "title": "It was not there" }, { "id": "after", "title": "It is there" }],
        });
        answer("done", &more)
    }

    /// One change is polite only once it was sent back; a reviewer who approves of it all the same is not believed.
    fn reviews(request: &Request, wanted: &Wanted) -> Reply {
        if wanted.unit == "2" && !request.text().contains("+two, please") {
            let finding = json!({
                "severity": "major", "file": "two.txt", "line": 1, "title": FINDING, "rationale": "it was agreed",
            });
            return answer("approve", &json!({ "findings": [finding] }));
        }
        answer("approve", &json!({ "findings": [] }))
    }

    fn answer(verdict: &str, more: &Value) -> Reply {
        let mut all = json!({ "verdict": verdict, "summary": "As it was wanted." });
        for (name, value) in more.as_object().into_iter().flatten() {
            all[name] = value.clone();
        }
        Reply::structured(all)
    }

    /// Claude Code plays every role, with a model that can be told how hard to think; nobody says who reviews.
    fn rig() -> Rig {
        let meeting = Meeting::default();
        let server = Server::start(move |request| says(&meeting, request)).unwrap();
        let claude = Who::Claude.config(&server).replace("claude-sonnet-4-5", "claude-opus-4-6");
        let config = format!(
            "{claude}{}[roles]\ndefault = 'claude'\n[checks]\ntest = 'sh test.sh'\n\
             [budget]\nrun = {{ dollars = 200 }}\ninvocation = {{ tokens = 1000000 }}\n",
            Who::Codex.config(&server)
        );
        let files = [
            ("windlass.toml", config.as_str()),
            ("test.sh", CHECK),
            ("Plans.md", PLANS),
            (".gitignore", ".claude/\n"),
        ];
        Rig { who: Who::Claude, scratch: Scratch::with(&files), server }
    }

    #[test]
    fn claude_works_off_three_rows_side_by_side_and_codex_reviews() {
        let rig = rig();
        let mut command = rig.windlass(&["work", "all"]);
        Who::Codex.keys(&mut command);
        let output = command.output().unwrap();
        let told = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert_eq!(output.status.code(), Some(0), "{told}");
        assert_eq!(rig.scratch.processes(), [""; 0]);
        let all = rig.server.requests();
        let requests: Vec<&Exchange> = all.iter().filter(|it| !it.request.is_side()).collect();
        landed(&rig);
        everybody_did_their_part(&requests);
        the_one_who_made_it_has_mended_it(&rig, &requests, &told);
        what_is_hard_is_thought_about_harder(&requests);
    }

    /// A commit for each task, and nothing else in Plans.md but what the status cells say.
    fn landed(rig: &Rig) {
        let log = rig.scratch.git(&["log", "--reverse", "--format=%h %s", "--abbrev=7", "main"]);
        let commits: BTreeMap<&str, &str> =
            log.lines().skip(1).map(|line| (&line[8..], &line[..7])).collect();
        assert_eq!(log.lines().count(), 4, "{log}");
        let mut want = PLANS.to_owned();
        for subject in ["Write one", "Write two", "Write three for security"] {
            let commit = commits.get(subject).unwrap_or_else(|| panic!("no {subject}: {log}"));
            let at = want.find(subject).unwrap();
            let at = at + want[at..].find("cc:TODO").unwrap();
            want.replace_range(at..at + "cc:TODO".len(), &format!("cc:Done [{commit}]"));
        }
        assert_eq!(fs::read_to_string(rig.scratch.repo().join("Plans.md")).unwrap(), want);
        for (file, holds) in
            [("one.txt", "one"), ("two.txt", "two, please"), ("core/three.txt", "three")]
        {
            assert_eq!(rig.scratch.git(&["show", &format!("main:{file}")]), holds);
        }
    }

    fn everybody_did_their_part(requests: &[&Exchange]) {
        let mut by: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for exchange in requests {
            let role = exchange.request.role().unwrap_or_default();
            by.entry(role).or_default().insert(exchange.request.api.name());
        }
        for role in ["scout", "test-writer", "contract-reviewer", "worker", "simplifier"] {
            assert_eq!(by[role], [Api::Messages.name()].into(), "{role}");
        }
        assert_eq!(by["work-reviewer"], [Api::Responses.name()].into());
    }

    /// Requests of the worker about a task, in their order.
    fn of_worker<'a>(requests: &[&'a Exchange], unit: &str) -> Vec<&'a Request> {
        let all = requests.iter().map(|it| &*it.request);
        all.filter(|request| {
            let wanted = Wanted::of(request);
            (wanted.role.as_str(), wanted.unit.as_str()) == ("worker", unit)
        })
        .collect()
    }

    /// A major finding sends the change back, whatever its reviewer concludes, and the same conversation goes on.
    fn the_one_who_made_it_has_mended_it(rig: &Rig, requests: &[&Exchange], told: &str) {
        assert!(
            told.contains("the reviewer says `approve`, and finds 0 critical, 1 major"),
            "{told}"
        );
        let worker = of_worker(requests, "2");
        let mends = worker.iter().position(|it| it.text().contains(FINDING)).unwrap();
        assert!(mends > 0 && !worker[mends - 1].text().contains(FINDING));
        let mend = worker[mends];
        assert!(mend.answers() > 0 && mend.text().contains(WROTE), "it began anew");
        assert_eq!(mend.messages[0].role, worker[0].messages[0].role);
        assert_eq!(mend.messages[0].text(), worker[0].messages[0].text(), "one conversation");
        let answers = rig.scratch.notes("answered");
        let came = |role: &str| {
            let own = answers.iter().filter(|it| it["role"] == role && it["unit"] == "2");
            own.map(|it| {
                format!("{} {}", it["agent"].as_str().unwrap(), it["came"].as_str().unwrap())
            })
            .collect::<Vec<_>>()
        };
        assert_eq!(came("worker"), ["claude done", "claude done"]);
        assert_eq!(came("work-reviewer"), ["codex request_changes", "codex approve"]);
        let result = rig.scratch.repo().join(".claude/state/review-results/2.review-result.json");
        let result: Value = serde_json::from_str(&fs::read_to_string(result).unwrap()).unwrap();
        assert_eq!((&result["verdict"], &result["reviewer"]), (&json!("APPROVE"), &json!("codex")));
        let commit = rig.scratch.git(&["log", "-1", "--format=%H", "--grep=Write two", "main"]);
        assert_eq!(result["commit"], commit);
    }

    /// By its own setting, and not by what it is told.
    fn what_is_hard_is_thought_about_harder(requests: &[&Exchange]) {
        for (unit, effort) in [("1", "medium"), ("2", "medium"), ("3", "high")] {
            let worker = of_worker(requests, unit);
            assert!(!worker.is_empty());
            for request in worker {
                assert_eq!(request.body["output_config"]["effort"], effort, "task {unit}");
            }
        }
    }
}
