//! A whole task by a real agent: planned by two, confirmed, built, mended, judged and committed.

pub mod slow {
    use std::collections::BTreeMap;
    use std::fs;
    use std::sync::Arc;

    use serde_json::{Value, json};
    use windlass_testkit::{Exchange, Reply, Request, Server};

    use crate::meeting::Meeting;
    use crate::rig::{Rig, Who};

    /// What the check says until hello.txt is as it should be: only from here its agent can know.
    const CHECK: &str = "[ ! -e hello.txt ] || grep -qx 'hello, world' hello.txt || \
                         { echo 'hello.txt has to say <hello, world>'; exit 1; }\n";

    /// Everything that whoever judges is to know nothing of has this in it.
    const SECRET: &str = "SECRET";

    /// What whoever judges looks at: the change, all history, every paper, whatever else lies about.
    const LOOK: &str = "cat hello.txt; git log --all --reflog --format=%B; git stash list; git branch -a; \
                        find . -path ./.git -prune -o -type f -print; grep -rs SECRET . && echo found; true";

    /// The model of all roles.
    fn brain(request: &Request, meeting: &Meeting) -> Reply {
        if request.is_side() {
            return Reply::text("A title");
        }
        let promised = |name: &str| request.promised(name).unwrap_or_else(|| format!("no {name}"));
        let says = |verdict: &str, summary: &str| {
            Reply::structured(json!({ "verdict": verdict, "summary": summary }))
        };
        let role = request.role().unwrap_or_default();
        match (role.as_str(), request.answers()) {
            ("architect", 0) => {
                meeting.wait();
                Reply::write(promised("proposal_architect.md"), "# Proposal\nSECRET: one file\n")
            }
            ("senior-developer", 0) => {
                meeting.wait();
                let path = promised("proposal_senior_developer.md");
                Reply::write(path, "# Proposal\nSECRET: one line\n")
            }
            ("architect" | "senior-developer", _) => says("generated", "proposal generated — so"),
            ("synthesis-standard", 0) => {
                Reply::write(promised("spec.md"), "# Spec\nAC1: hello.txt greets the world.\n")
            }
            ("synthesis-standard", _) => says("generated", "spec.md generated — 1 criterion"),
            // It may not, and writes what it should.
            ("lead-developer", 0) => Reply::write("hello.txt", "too early\n"),
            ("lead-developer", 1) => {
                Reply::write(promised("plan.md"), "# Plan\nSECRET: 1. write it\n")
            }
            ("lead-developer", _) => says("written", "plan.md written — 1 step"),
            ("combined-advisor", 0) => {
                Reply::write(promised("review_combined.md"), "SECRET: fine\n")
            }
            ("combined-advisor", _) => says("written", "review written — fine"),
            ("implementation-standard", 0) => Reply::shell(built(request)),
            ("implementation-standard", _) => says("changed", "changes.md changed — SECRET"),
            ("evaluator", 0) => Reply::shell(LOOK),
            ("evaluator", 1) => {
                let report = "## Layer 3\n| AC1 | PASS | cat hello.txt |\n\n### Verdict: PASS\n";
                Reply::write(promised("qa_report.md"), report)
            }
            ("evaluator", _) => says("pass", "PASS — 1 of 1 criteria"),
            _ => Reply::text(format!("nothing is written for {role}")),
        }
    }

    /// A first attempt that cannot be right, and then what the check asks for.
    fn built(request: &Request) -> String {
        let text = request.text();
        let wanted =
            text.split_once("hello.txt has to say <").and_then(|(_, it)| it.split_once('>'));
        let (greeting, _) = wanted.unwrap_or(("hello", ""));
        let changes = request.promised("changes.md").unwrap_or_default();
        format!(
            "cat hello.txt 2>&1; echo '{greeting}' > hello.txt && git add -A && \
             git commit -qm 'SECRET message' && echo '- `hello.txt` — SECRET reason' > {changes}"
        )
    }

    /// How often each role was asked.
    fn asked(requests: &[Exchange]) -> BTreeMap<String, usize> {
        let mut asked = BTreeMap::new();
        for exchange in requests.iter().filter(|one| one.request.answers() == 0) {
            *asked.entry(exchange.request.role().unwrap_or_default()).or_default() += 1;
        }
        asked
    }

    /// What a role's tools told it.
    fn told(requests: &[Exchange], role: &str) -> String {
        let own = requests.iter().filter(|one| one.request.role().as_deref() == Some(role));
        let told = own.flat_map(|one| {
            one.request.tool_results().into_iter().map(str::to_owned).collect::<Vec<_>>()
        });
        told.collect::<Vec<_>>().join("\n")
    }

    fn does_a_task(who: Who) {
        let meeting = Arc::new(Meeting::default());
        let server = Server::start(move |request| brain(request, &meeting)).unwrap();
        let conventions = "Use spaces.\n".repeat(60);
        let files = [("test.sh", CHECK), ("CLAUDE.md", conventions.as_str())];
        let rig = Rig::with(who, server, "[budget]\ninvocation = { tokens = 1000000 }\n", &files);
        let git = |args: &[&str]| rig.scratch.git(args);
        let before = git(&["rev-parse", "HEAD"]);
        let mut ran = rig.windlass(&["task", "Say hello", "--mode", "standard"]).output().unwrap();
        for answer in ["proceed", "code_only"] {
            let said = String::from_utf8_lossy(&ran.stderr).into_owned();
            assert_eq!(ran.status.code(), Some(8), "{said}");
            let gates = rig.windlass(&["gates", "--json"]).output().unwrap();
            let gates: Value = serde_json::from_slice(&gates.stdout).unwrap();
            assert_eq!(gates["gates"][0]["options"][0]["key"], answer, "{gates:#}");
            if answer == "proceed" {
                let spec = rig.scratch.repo().join("docs/harness/say-hello/spec.md");
                assert!(fs::read_to_string(spec).unwrap().contains("AC1: hello.txt greets"));
                assert!(!asked(&rig.server.requests()).contains_key("lead-developer"));
            }
            let id = gates["gates"][0]["id"].as_str().unwrap();
            assert!(rig.windlass(&["answer", id, answer]).status().unwrap().success());
            ran = rig.windlass(&["resume"]).output().unwrap();
        }
        assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));

        // What landed is the change, on a branch of its own; the person's checkout is as it was.
        assert_eq!(git(&["show", "harness/say-hello:hello.txt"]), "hello, world");
        assert_eq!(git(&["rev-parse", "harness/say-hello~1"]), before);
        assert_eq!(git(&["diff", "--name-only", "main", "harness/say-hello"]), "hello.txt");
        assert_eq!(
            (git(&["rev-parse", "HEAD"]), git(&["branch", "--show-current"])),
            (before, "main".into())
        );
        assert_eq!(git(&["status", "--porcelain"]), "");
        judged(&rig);
        billed(&rig);
    }

    /// Everybody was asked as often as they should be, and nobody saw what they should not.
    fn judged(rig: &Rig) {
        let requests = rig.server.requests();
        let requests: Vec<_> = requests.into_iter().filter(|one| !one.request.is_side()).collect();
        let want = [
            ("architect", 1),
            ("combined-advisor", 1),
            ("evaluator", 1),
            ("implementation-standard", 2),
            ("lead-developer", 1),
            ("senior-developer", 1),
            ("synthesis-standard", 1),
        ];
        let want: BTreeMap<String, usize> = want.map(|(role, it)| (role.to_owned(), it)).into();
        assert_eq!(asked(&requests), want, "no role is asked again for its answer");
        let known = |role: &str| {
            let mut own = requests.iter().filter(|one| one.request.role().as_deref() == Some(role));
            own.any(|one| {
                one.request.text().contains(SECRET) || told(&requests, role).contains(SECRET)
            })
        };
        assert!(known("synthesis-standard") && known("combined-advisor"));
        assert!(!known("evaluator"), "{}", told(&requests, "evaluator"));
        let looked = told(&requests, "evaluator");
        assert!(looked.contains("hello, world") && looked.contains("./test.sh"), "{looked}");
        assert!(looked.contains("./docs/harness/say-hello/spec.md"), "{looked}");
        assert!(!told(&requests, "implementation-standard").contains("too early"));
        let answers = rig.scratch.notes("answered");
        let remarks: Vec<&Value> =
            answers.iter().filter(|it| it.get("remarks").is_some()).collect();
        assert!(remarks.is_empty(), "{remarks:#?}");
    }

    /// What was settled is what the server has counted.
    fn billed(rig: &Rig) {
        let bill = rig.windlass(&["cost", "--json"]).output().unwrap();
        let bill: Value = serde_json::from_slice(&bill.stdout).unwrap();
        let figures = ["input_tokens", "cached_tokens", "cache_write_tokens", "output_tokens"];
        let own = &bill["by"]["agent"][0];
        let settled: u64 = figures.iter().map(|name| own[*name].as_u64().unwrap_or(0)).sum();
        let usage = rig.server.requests().into_iter().filter_map(|one| one.answered?.usage);
        let counted: u64 = usage.map(|usage| usage.input() + usage.output).sum();
        assert!(counted > 0);
        assert_eq!(settled, counted, "{bill:#}");
    }

    #[test]
    fn claude_does_a_task_from_its_plan_to_its_commit() {
        does_a_task(Who::Claude);
    }

    #[test]
    fn codex_does_a_task_from_its_plan_to_its_commit() {
        does_a_task(Who::Codex);
    }
}
