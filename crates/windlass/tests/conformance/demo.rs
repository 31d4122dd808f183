//! The demo's spec, built from end to end by real agents.

pub mod slow {
    use std::fs;
    use std::path::Path;
    use std::process::Command;
    use std::sync::Arc;

    use windlass_agents::scripted::{Asked, Script};
    use windlass_testkit::Server;

    use crate::actor::{Wanted, actor};
    use crate::agents::with_agents;
    use crate::bubblewrap::with_bubblewrap;
    use crate::rig::Who;

    fn demo(name: &str) -> String {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../demo").join(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// The second attempt at the second phase: made out of what the check said, not of the script.
    fn mended(wanted: &Wanted, text: &str) -> Option<(String, String)> {
        if (wanted.role.as_str(), wanted.unit.as_str()) != ("task-executor", "2")
            || wanted.attempt < 2
        {
            return None;
        }
        // Which test fails is all that tells what there is to mend.
        let failing = text.lines().find_map(|line| line.trim().strip_prefix("FAIL tests/"));
        let command = failing.and_then(|test| test.strip_suffix(".sh")).unwrap_or("nothing");
        let script = Script::parse(&demo("script.toml")).unwrap();
        let whole = &script.entry(&Asked { attempt: 2, ..wanted.asked() }).unwrap().write["todo"];
        Some(("todo".to_owned(), whole.replace("  done)", &format!("  {command})"))))
    }

    /// Builds the demo, with these agents; what is said of them in windlass.toml.
    pub fn builds(players: &str, agents: &[Who]) -> Vec<windlass_testkit::Exchange> {
        let script = Script::parse(&demo("script.toml")).unwrap();
        let server = Server::start(actor(script, Arc::new(mended))).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let repo = dir.path().join("repo");
        let configs: String = agents.iter().map(|who| who.config(&server)).collect();
        let config = format!(
            "{configs}[roles]\n{players}\n[checks]\nvalidate = 'sh test.sh'\n\
             [policies.no-pull-request]\nstage = 'offer_pr'\nanswer = 'no'\n\
             [policies.go-on]\nstage = 'go_on'\nanswer = 'yes'\n\
             [budget]\ninvocation = {{ tokens = 1000000 }}\n"
        );
        for name in ["README.md", "todo", "test.sh", "tests/parses.sh", "docs/spec.md"] {
            let path = repo.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, demo(name)).unwrap();
        }
        fs::write(repo.join("windlass.toml"), config).unwrap();
        let git = |args: &[&str]| {
            let output = Command::new("git").args(args).current_dir(&repo).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap()
        };
        git(&["init", "-q", "-b", "main"]);
        git(&["config", "user.name", "Ada"]);
        git(&["config", "user.email", "ada@example.org"]);
        git(&["add", "-A"]);
        git(&["commit", "-qm", "A stub and a spec"]);
        let mut windlass = Command::new(env!("CARGO_BIN_EXE_windlass"));
        windlass
            .args(["autopilot", "docs/spec.md"])
            .current_dir(&repo)
            .env("WINDLASS_STATE_DIR", dir.path().join("state"))
            .env("PATH", with_agents(&with_bubblewrap()));
        agents.iter().for_each(|who| who.keys(&mut windlass));
        let output = windlass.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
        // Three phases have landed, and what was mended works.
        let landed = git(&["log", "--format=%s", "main"]);
        assert!(landed.lines().count() >= 4, "{landed}{said}");
        let list = dir.path().join("list");
        let todo = |args: &[&str]| {
            let mut command = Command::new("sh");
            command.arg("todo").args(args).current_dir(&repo).env("TODO_FILE", &list);
            command.output().unwrap()
        };
        assert!(todo(&["add", "milk"]).status.success());
        assert_eq!(todo(&["done", "7"]).status.code(), Some(1));
        assert_eq!(String::from_utf8_lossy(&todo(&["list"]).stdout), "1 milk\n");
        let requests = server.requests();
        // It was shown what failed, and that is where the mending came from.
        let shown = |exchange: &&windlass_testkit::Exchange| {
            let text = exchange.request.text();
            text.contains("# Your role: task-executor") && text.contains("FAIL tests/done.sh")
        };
        assert!(
            requests.iter().any(|exchange| shown(&exchange)),
            "no request shows the check's output"
        );
        requests
    }

    #[test]
    fn claude_builds_the_demo_from_end_to_end() {
        builds("default = 'claude'", &[Who::Claude]);
    }

    #[test]
    fn codex_builds_the_demo_from_end_to_end() {
        builds("default = 'codex'", &[Who::Codex]);
    }

    #[test]
    fn gemini_builds_the_demo_from_end_to_end() {
        builds("default = 'gemini'", &[Who::Gemini]);
    }

    #[test]
    fn opencode_builds_the_demo_from_end_to_end() {
        builds("default = 'opencode'", &[Who::Opencode]);
    }

    #[test]
    fn three_vendors_agents_build_the_demo_together() {
        let players = "default = 'openai-chat'\n[crew]\nplanner = 'gemini'\nevaluator = 'claude'";
        let own = Who::Api(windlass_agents::api::Format::OpenaiChat);
        let requests = builds(players, &[own, Who::Gemini, Who::Claude]);
        let mut seen = std::collections::BTreeSet::new();
        for exchange in requests.iter().filter(|exchange| !exchange.request.is_side()) {
            let role = exchange.request.role().unwrap_or_default();
            let by = match role.as_str() {
                "planner" | "plan-skeleton" => windlass_testkit::Api::Gemini,
                "code-reviewer" | "verifier" => windlass_testkit::Api::Messages,
                _ => windlass_testkit::Api::Chat,
            };
            assert_eq!(exchange.request.api, by, "{role}");
            seen.insert(role);
        }
        assert!(["planner", "task-executor", "code-reviewer"].iter().all(|it| seen.contains(*it)));
    }

    #[test]
    fn who_plans_and_reviews_may_be_another_than_who_builds() {
        let players = "default = 'codex'\nplanner = 'claude'\ncode-reviewer = 'claude'";
        let requests = builds(players, &Who::BOTH);
        for exchange in requests.iter().filter(|exchange| !exchange.request.is_side()) {
            let by_claude = exchange.request.api == windlass_testkit::Api::Messages;
            let role = exchange.request.role().unwrap_or_default();
            let theirs = ["planner", "code-reviewer"].contains(&role.as_str());
            assert_eq!(by_claude, theirs, "{role}");
        }
    }
}
