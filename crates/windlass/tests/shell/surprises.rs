//! What surprised strangers: a run means what it says about budgets, costs, secrets and where work is.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::scratch::{SCRIPT, Scratch, ended};

const CAREFUL: &str = "[[task]]\nid = 'hello'\ntitle = 'Say hello'\ncareful = true\n";

/// A command agent: a shell script that has read its prompt.
fn agent(scratch: &Scratch, script: &str) -> String {
    let path = scratch.path("talk/agent");
    fs::create_dir_all(scratch.path("talk")).unwrap();
    fs::write(&path, format!("#!/bin/sh\nprompt=$(cat)\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let talk = scratch.path("talk");
    format!(
        "[sandbox]\nwrite = ['{}']\n[agents.mine]\nkind = 'command'\ncommand = ['{}']\n",
        talk.display(),
        path.display()
    )
}

fn configure(scratch: &Scratch, config: &str) {
    fs::write(scratch.repo().join("windlass.toml"), config).unwrap();
    scratch.git(&["commit", "-qam", "Configure"]);
}

const ROLES: &str = "[roles]\ndefault = 'mine'\n[checks]\ntest = 'sh test.sh'\n";

#[test]
fn a_budget_that_was_raised_counts_when_the_run_is_resumed() {
    let budget = |dollars: &str| {
        format!(
            "[agents.acted]\nkind = 'scripted'\nscript = 'script.toml'\n[roles]\ndefault = 'acted'\n\
             [checks]\ntest = 'sh test.sh'\n[budget]\nrun = {{ dollars = {dollars} }}\n\
             invocation = {{ dollars = 0.3 }}\n"
        )
    };
    let scratch = Scratch::with(&[("windlass.toml", &budget("0.255"))]);
    let (code, said) = ended(scratch.start().output().unwrap());
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("commit that, then `windlass resume`"), "{said}");
    configure(&scratch, &budget("9"));
    let (code, said) = ended(scratch.windlass(&["resume"]).output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("at most 9.00 dollars"), "{said}");
    assert_eq!(scratch.landed().len(), 2);
}

#[test]
fn what_an_answer_leads_to_costs_nothing_before_somebody_begins_it() {
    let flow =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/small.toml"))
            .unwrap();
    // The question comes first, and an agent after it.
    let first = "[[unit]]\nstage = \"first\"\ngate = \"Begin {unit.id}?\"\non = { yes = \"do\", no = \"failed\" }\n\n[[unit]]\nstage = \"do\"";
    let flow = flow.replacen("[[unit]]\nstage = \"do\"", first, 1);
    let tasks = "[[task]]\nid = 'hello'\ncareful = false\n";
    let scratch = Scratch::with(&[("flow.toml", &flow), ("tasks.toml", tasks)]);
    assert_eq!(scratch.start().status().unwrap().code(), Some(8));
    assert_eq!(scratch.windlass(&["answer", "0", "yes"]).status().unwrap().code(), Some(0));
    let (code, said) = ended(scratch.windlass(&["resume"]).output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains("cut off"), "{said}");
    assert_eq!(scratch.status()["runs"][0]["cost_usd"], 0.011);
}

#[test]
fn a_cancelled_run_does_not_land_later() {
    let scratch = Scratch::with(&[("tasks.toml", "[[task]]\nid = 'hello'\ncareful = false\n")]);
    scratch.git(&["branch", "keep"]);
    let repo = scratch.repo().display().to_string();
    let script = format!(
        "case $WINDLASS_ROLE in\n\
         worker) echo hello > hello.txt; echo '{{\"verdict\":\"done\"}}' ;;\n\
         *) cd '{repo}' && git checkout -q keep && git branch -qD main; echo '{{\"verdict\":\"clear\"}}' ;;\n\
         esac"
    );
    let config = format!("{}cost = 'none'\n{ROLES}", agent(&scratch, &script));
    configure(&scratch, &config);
    scratch.git(&["branch", "-f", "keep"]);
    // In a sandbox it could not do that.
    let (code, said) = ended(scratch.start().env("WINDLASS_SANDBOX", "none").output().unwrap());
    assert_eq!(code, Some(1), "{said}");
    let (code, said) = ended(scratch.windlass(&["stop", "--cancel"]).output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    scratch.git(&["branch", "main", "keep"]);
    let (code, said) = ended(scratch.windlass(&["resume"]).output().unwrap());
    assert_eq!(code, Some(5), "{said}");
    assert!(scratch.landed().is_empty(), "{said}");
    assert_eq!(scratch.status()["runs"][0]["standing"], "cancelled");
}

#[test]
fn a_run_that_is_cancelled_while_nobody_drives_it_is_tidied_up_by_a_resume() {
    let scratch = Scratch::with(&[("tasks.toml", CAREFUL)]);
    assert_eq!(scratch.start().status().unwrap().code(), Some(8));
    assert_eq!(scratch.windlass(&["stop", "--cancel"]).status().unwrap().code(), Some(0));
    assert_eq!(scratch.status()["runs"][0]["tidy"], false);
    let status = scratch.windlass(&["status"]).output().unwrap();
    let status = String::from_utf8(status.stdout).unwrap();
    assert!(status.contains("cancelled, and not tidied up yet: `windlass resume`"), "{status}");
    let (code, said) = ended(scratch.windlass(&["resume"]).output().unwrap());
    assert_eq!(code, Some(5), "{said}");
    assert_eq!(scratch.status()["runs"][0]["tidy"], true);
    let lanes = scratch.windlass(&["lanes", "list", "--json"]).output().unwrap();
    let lanes: serde_json::Value = serde_json::from_slice(&lanes.stdout).unwrap();
    assert!(!lanes["lanes"].to_string().contains("small-1"), "its lane is free: {lanes:#}");
    assert_eq!(lanes["kept"][0]["unit"], "hello", "what was built is named: {lanes:#}");
    let (code, said) = ended(scratch.windlass(&["resume", "small-1"]).output().unwrap());
    assert!(code == Some(2) && said.contains("small-1 is over"), "{said}");
}

#[test]
fn later_work_builds_on_what_waits_and_takes_it_along() {
    let tasks = "[[task]]\nid = 'hello'\ncareful = false\n\
                 [[task]]\nid = 'bye'\ndepends = ['hello']\ncareful = false\n";
    let scratch = Scratch::with(&[("tasks.toml", tasks)]);
    let script = "case $WINDLASS_ROLE:$WINDLASS_UNIT in\n\
         worker:hello) echo hello > hello.txt; echo '{\"verdict\":\"done\"}' ;;\n\
         worker:bye) cat hello.txt > bye.txt; echo '{\"verdict\":\"done\"}' ;;\n\
         *) echo '{\"verdict\":\"clear\"}' ;;\nesac";
    let config = format!("{}cost = 'none'\n{ROLES}", agent(&scratch, script));
    configure(&scratch, &config);
    fs::write(scratch.repo().join("hello.txt"), "mine\n").unwrap();
    let (code, said) = ended(scratch.start().output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("waits beside main") && !said.contains("landed"), "{said}");
    assert!(scratch.landed().is_empty());
    let status = scratch.windlass(&["status", "--all"]).output().unwrap();
    let status = String::from_utf8(status.stdout).unwrap();
    assert!(status.contains("waits to be taken: git "), "{status}");
    assert_eq!(fs::read_to_string(scratch.repo().join("hello.txt")).unwrap(), "mine\n");
    // Once it is out of the way, the command that was given takes all of it.
    fs::remove_file(scratch.repo().join("hello.txt")).unwrap();
    scratch.git(&["merge", "-q", "--ff-only", "windlass/small-1"]);
    assert_eq!(scratch.landed()["bye.txt"], "hello");
}

#[test]
fn lanes_of_a_run_that_is_over_are_free_again() {
    let scratch = Scratch::with(&[("tasks.toml", CAREFUL)]);
    let mut run = scratch.follow(&mut scratch.windlass(&[
        "run",
        "flow.toml",
        "--catalogue",
        "catalogue.toml",
    ]));
    run.until("asked", |entry| entry["event"] == "asked");
    assert_eq!(run.code(), Some(8));
    assert_eq!(scratch.windlass(&["answer", "0", "no"]).status().unwrap().code(), Some(0));
    // The next run gives the lane of the one that is over back to the pool; what it held is still there.
    assert_eq!(scratch.start().status().unwrap().code(), Some(8));
    let lanes = scratch.windlass(&["lanes", "list", "--json"]).output().unwrap();
    let lanes = String::from_utf8(lanes.stdout).unwrap();
    assert!(!lanes.contains("small-1"), "{lanes}");
}

#[test]
fn a_run_whose_units_failed_is_not_done() {
    let config = "[agents.acted]\nkind = 'scripted'\nscript = 'script.toml'\n[roles]\ndefault = 'acted'\n\
                  [checks]\ntest = 'sh test.sh'\n[policies.never]\nstage = 'approve'\nanswer = 'no'\n";
    let scratch = Scratch::with(&[("tasks.toml", CAREFUL), ("windlass.toml", config)]);
    let (code, said) = ended(scratch.start().output().unwrap());
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("hello: approve: no, by never"), "{said}");
    assert!(
        said.contains("hello: what was in its lane is kept: windlass lanes restore "),
        "{said}"
    );
    assert!(said.contains("not everything was done"), "{said}");
    assert_eq!(scratch.status()["runs"][0]["exit"], 4);
    let (code, said) = ended(scratch.windlass(&["resume", "small-1"]).output().unwrap());
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("small-1 is over"), "{said}");
}

#[test]
fn a_fact_of_a_source_that_is_not_of_its_type_is_said_to_be_left_out() {
    let scratch = Scratch::with(&[("tasks.toml", "[[task]]\nid = 'hello'\ncareful = 'yes'\n")]);
    let (code, said) = ended(scratch.start().output().unwrap());
    assert_eq!(code, Some(8), "nobody knows whether to be careful: {said}");
    assert!(said.contains("`tasks[hello].careful` is left out: it is not "), "{said}");
}

#[test]
fn a_blocked_unit_says_whose_fault_it_is() {
    let config = "[agents.acted]\nkind = 'scripted'\nscript = 'script.toml'\n[roles]\ndefault = 'acted'\n\
                  [checks]\ntest = 'sh test.sh'\n[policies.never]\nstage = 'approve'\nanswer = 'no'\n";
    let tasks = format!("{CAREFUL}[[task]]\nid = 'bye'\ndepends = ['hello']\ncareful = false\n");
    let scratch = Scratch::with(&[("tasks.toml", &tasks), ("windlass.toml", config)]);
    let (code, said) = ended(scratch.start().output().unwrap());
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("bye: blocked because of hello\n"), "{said}");
    let told = |args: &[&str]| {
        let output = scratch.windlass(args).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let status = told(&["status", "--all"]);
    assert!(status.contains("  bye blocked because of hello — bye\n"), "{status}");
    let report = told(&["report"]);
    assert!(report.contains("| bye: bye | blocked because of hello |"), "{report}");
    let units = &scratch.status()["runs"][0]["units"];
    assert_eq!(units[1]["because"], "hello", "{units}");
    assert_eq!(units[0]["because"], serde_json::Value::Null, "{units}");
}

#[test]
fn secrets_reach_the_agent_that_is_handed_them_and_nothing_else() {
    let scratch = Scratch::with(&[
        ("tasks.toml", "[[task]]\nid = 'hello'\ncareful = false\n"),
        (".gitignore", ".env\n"),
    ]);
    let script = "echo \"$MY_KEY\" | sed s/h/H/ >> hello.seen\n\
         echo \"key $MY_KEY, other [$OTHER_KEY], file $(cat .env)\"\n\
         echo \"$MY_KEY\" >&2; mv hello.seen \"$(dirname \"$0\")/seen\"\n\
         case $WINDLASS_ROLE in\n\
         worker) echo hello > hello.txt; echo '{\"verdict\":\"done\"}' ;;\n\
         *) echo '{\"verdict\":\"clear\"}' ;;\nesac";
    let config = format!(
        "{}cost = 'none'\nenv = ['MY_KEY']\n[lanes]\ncopy = ['.env']\n{}",
        agent(&scratch, script),
        ROLES.replace("sh test.sh", "sh test.sh; cat .env 2> /dev/null; true")
    );
    configure(&scratch, &config);
    fs::write(scratch.repo().join(".env"), "DB_PASSWORD=under-the-doormat\n").unwrap();
    let mut run = scratch.start();
    run.env("MY_KEY", "hush-hush-hush").env("OTHER_KEY", "none-of-your-business");
    let (code, said) = ended(run.output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(fs::read_to_string(scratch.path("talk/seen")).unwrap().trim(), "Hush-hush-hush");
    let full = scratch.windlass(&["log", "--full"]).output().unwrap();
    let full = String::from_utf8(full.stdout).unwrap();
    assert!(full.contains("key [masked], other [], file DB_PASSWORD=[masked]"), "{full}");
    for secret in ["hush-hush-hush", "none-of-your-business", "under-the-doormat"] {
        assert!(!full.contains(secret), "{full}");
        let found = std::process::Command::new("grep")
            .args(["-rlaF", secret])
            .arg(scratch.path("state"))
            .output()
            .unwrap();
        let found = String::from_utf8(found.stdout).unwrap();
        // A lane has the file that it was given, and nothing else has it.
        assert!(found.lines().all(|file| file.ends_with("/.env")), "{found}");
    }
}

#[test]
fn a_secret_that_json_writes_otherwise_is_nowhere_in_clear() {
    let catalogue = "[role.worker]\nabout = 'does it'\nverdicts = ['done', 'failed']\n\
         facts = { note = 'text' }\nlists.found = { where = 'text' }\n\
         [role.reviewer]\nabout = 'looks at it'\nverdicts = ['clear', 'blocking']\n\
         [read.tasks]\nabout = 'tasks'\nverdicts = ['found', 'empty']\nlists.tasks = { careful = 'flag' }\n\
         [check.test]\nabout = 'the tests'\n";
    let scratch = Scratch::with(&[
        ("tasks.toml", "[[task]]\nid = 'hello'\ncareful = false\n"),
        ("catalogue.toml", catalogue),
    ]);
    // The worker says it as a fact and in a list, the reviewer in a remark, and each writes it in a way of its own.
    let script = r#"echo "$prompt" >> "$(dirname "$0")/prompts"
case $WINDLASS_ROLE in
worker) echo hello > hello.txt; cat <<'END' ;;
{"verdict":"done","note":"h\u00fcsh\"hush-12345",
 "found":[{"id":"f","title":"hüsh\u0022hush-12345","files":["hüsh\"hush-12345"],"where":"h\u00FCsh\"hush-12345"}]}
END
*) cat <<'END' ;;
{"verdict":"h\u00FCsh\"hush-12345"}
END
esac"#;
    let config = format!("{}cost = 'none'\nenv = ['MYSET']\n{ROLES}", agent(&scratch, script));
    configure(&scratch, &config);
    let mut run = scratch.start();
    run.env("MYSET", "hüsh\"hush-12345");
    let (_, said) = ended(run.output().unwrap());
    let mut seen = vec![said, fs::read_to_string(scratch.path("talk/prompts")).unwrap()];
    for verb in [&["log", "--full"][..], &["log", "--json"], &["status", "--all"], &["report"]] {
        let output = scratch.windlass(verb).output().unwrap();
        seen.push(String::from_utf8(output.stdout).unwrap());
    }
    assert!(seen[3].contains(r#""facts":[[0,"[masked]"]]"#), "{}", seen[3]);
    assert!(seen[3].contains("its verdict `[masked]` is not one of"), "{}", seen[3]);
    for text in &seen {
        // Whatever way it is written in, this is a part of it.
        assert!(!text.contains("hush-12345"), "{text}");
    }
}

/// A hook of the person's that objects to a word, mends a spelling, and would tidy up their home.
const HOOK: &str = "#!/bin/sh\nrm -rf \"$PRECIOUS\"\n\
     if git diff --cached --name-only | xargs grep -l TODO; then echo 'no TODO, please'; exit 1; fi\n\
     sed -i 's/helo/hello/' hello.txt\n";

#[test]
fn the_persons_hooks_are_heard_and_can_do_no_harm() {
    let script = "case $WINDLASS_ROLE$WINDLASS_ATTEMPT in\n\
         worker1) echo 'hello TODO' > hello.txt; echo '{\"verdict\":\"done\"}' ;;\n\
         worker2) echo helo > hello.txt; echo '{\"verdict\":\"done\"}' ;;\n\
         worker*) echo hello > hello.txt; echo '{\"verdict\":\"done\"}' ;;\n\
         *) echo '{\"verdict\":\"clear\"}' ;;\nesac";
    let scratch = Scratch::with(&[
        ("tasks.toml", "[[task]]\nid = 'hello'\ncareful = false\n"),
        ("test.sh", "true\n"),
    ]);
    configure(&scratch, &format!("{}cost = 'none'\n{ROLES}", agent(&scratch, script)));
    let precious = scratch.path("precious");
    fs::create_dir(&precious).unwrap();
    let hook = scratch.repo().join(".git/hooks/pre-commit");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, HOOK.replace("$PRECIOUS", precious.to_str().unwrap())).unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let (code, said) = ended(scratch.start().output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(said.matches("check commit-hooks: fail").count(), 2, "{said}");
    assert!(said.contains("check commit-hooks: pass"), "{said}");
    assert_eq!(scratch.landed()["hello.txt"], "hello");
    assert!(precious.exists(), "it ran in the sandbox");
    let full = scratch.windlass(&["log", "--full"]).output().unwrap();
    let full = String::from_utf8(full.stdout).unwrap();
    assert!(full.contains("no TODO, please"), "{full}");
    assert!(full.contains("-helo\n") && full.contains("+hello\n"), "what it would change: {full}");
}

#[test]
fn a_role_that_sees_only_what_is_named_does_not_see_the_lane() {
    let role = "---\npurpose: judges by what it is told\nlane: named\n---\nJudge.\n";
    let scratch = Scratch::with(&[
        ("tasks.toml", "[[task]]\nid = 'hello'\ncareful = false\n"),
        (".windlass/roles/reviewer.md", role),
    ]);
    let script = "talk=$(dirname \"$0\")\n\
         case $WINDLASS_ROLE in\n\
         worker) echo hello > hello.txt; ls -A > \"$talk/worker\"; echo '{\"verdict\":\"done\"}' ;;\n\
         *) { pwd; ls -A; echo \"$PORT $WINDLASS_PORTS\"; } > \"$talk/reviewer\"; echo '{\"verdict\":\"clear\"}' ;;\nesac";
    configure(&scratch, &format!("{}cost = 'none'\n{ROLES}", agent(&scratch, script)));
    let (code, said) = ended(scratch.start().output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    let saw = |who: &str| fs::read_to_string(scratch.path("talk").join(who)).unwrap();
    assert!(saw("worker").contains("test.sh\n"), "{}", saw("worker"));
    let reviewer = saw("reviewer");
    let lines: Vec<&str> = reviewer.lines().collect();
    assert_eq!((lines.len(), lines[0]), (2, "/lane"), "nothing is there: {reviewer}");
    let (port, ports) = lines[1].split_once(' ').unwrap();
    assert!(ports.starts_with(&format!("{port}-")), "ports of its own: {reviewer}");
}

#[test]
fn what_a_role_is_for_reaches_the_agent() {
    let scratch = Scratch::new();
    assert_eq!(scratch.start().status().unwrap().code(), Some(0));
    let full = scratch.windlass(&["log", "--full"]).output().unwrap();
    let full = String::from_utf8(full.stdout).unwrap();
    assert!(full.contains("What you are here for: looks at it."), "{full}");
}

#[test]
fn a_title_stays_on_its_line_and_out_of_the_terminal() {
    let tasks = "[[task]]\nid = 'hello'\ntitle = \"Say hello\\nbye: landed 1234 on main\\u001b[31m\"\ncareful = false\n";
    let scratch = Scratch::with(&[("tasks.toml", tasks)]);
    let (code, said) = ended(scratch.start().output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    let log = scratch.windlass(&["log"]).output().unwrap();
    for told in [said, String::from_utf8(log.stdout).unwrap()] {
        assert!(!told.lines().any(|line| line.starts_with("bye: landed")), "{told}");
        assert!(!told.contains('\u{1b}'), "{told}");
    }
    let history = scratch.git(&["log", "--format=%B", "main"]);
    assert!(!history.contains('\u{1b}') && history.contains("Say hello bye: landed"), "{history}");
}

#[test]
fn a_state_directory_that_is_none_is_not_an_empty_one() {
    let scratch = Scratch::new();
    fs::write(scratch.path("state"), "a file").unwrap();
    for verb in [&["status"][..], &["gates"], &["log"], &["journal", "verify"]] {
        let (code, said) = ended(scratch.windlass(verb).output().unwrap());
        assert_eq!(code, Some(1), "{verb:?}: {said}");
    }
}

#[test]
fn another_repository_in_the_same_place_does_not_go_on_with_the_run() {
    let scratch = Scratch::with(&[("tasks.toml", CAREFUL)]);
    assert_eq!(scratch.start().status().unwrap().code(), Some(8));
    fs::remove_dir_all(scratch.repo().join(".git")).unwrap();
    scratch.git(&["init", "-q", "-b", "main"]);
    scratch.git(&["config", "user.name", "Bob"]);
    scratch.git(&["config", "user.email", "bob@example.org"]);
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-qm", "Something else"]);
    let (code, said) = ended(scratch.windlass(&["resume"]).output().unwrap());
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("another repository") && said.contains("stop --cancel"), "{said}");
    assert_eq!(scratch.windlass(&["stop", "--cancel"]).status().unwrap().code(), Some(0));
}

#[test]
fn work_without_a_commit_of_its_own_lands_by_fast_forward() {
    let flow =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/small.toml"))
            .unwrap();
    let flow = flow.replace("land  = \"merge\"", "land  = \"fast-forward\"");
    let scratch = Scratch::with(&[("flow.toml", &flow), ("script.toml", SCRIPT)]);
    let (code, said) = ended(scratch.start().output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(scratch.landed().len(), 2);
    let merges = scratch.git(&["log", "--merges", "--format=%h", "main"]);
    assert_eq!(merges, "");
}

#[test]
fn a_slip_in_the_configuration_is_pointed_out() {
    let config = "[agents.acted]\nkind = 'scripted'\nscript = 'script.toml'\n\
                  [roles]\ndefault = 'acted'\nwroker = 'acted'\n[checks]\ntest = 'sh test.sh'\ntset = 'true'\n";
    let scratch = Scratch::with(&[("windlass.toml", config)]);
    let (_, said) = ended(scratch.start().output().unwrap());
    assert!(said.contains("`wroker` of [roles]; did you mean `worker`?"), "{said}");
    assert!(said.contains("`tset` of [checks]; did you mean `test`?"), "{said}");
    let config = config.replace("tset", "license-headers");
    let flow = fs::read_to_string(scratch.repo().join("flow.toml")).unwrap();
    let flow = flow.replace("gate  = \"Land", "sees  = [\"findings\"]\ngate  = \"Land");
    fs::write(scratch.repo().join("flow.toml"), flow).unwrap();
    configure(&scratch, &config);
    let (_, said) = ended(scratch.start().output().unwrap());
    assert!(said.contains("uses no `license-headers` of [checks]\n"), "it is never run: {said}");
    let unseen = "the stage `approve` sees `findings`, which nobody can show; there are attempts, ";
    assert!(said.contains(unseen), "{said}");
    let (code, said) = {
        let config = config.replace("script.toml", "scirpt.toml");
        configure(&scratch, &config);
        ended(scratch.start().output().unwrap())
    };
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("scirpt.toml"), "{said}");
}

#[test]
fn a_tool_that_is_not_installed_is_skipped_and_never_passes() {
    let config = "[agents.acted]\nkind = 'scripted'\nscript = 'script.toml'\n[roles]\ndefault = 'acted'\n\
                  [checks]\ntest = 'no-such-tool-anywhere --all'\n";
    let scratch = Scratch::with(&[("windlass.toml", config)]);
    let (code, said) = ended(scratch.start().output().unwrap());
    assert_eq!(code, Some(8), "nothing lands unproved: {said}");
    assert!(said.contains("check test: skipped: its command is not installed"), "{said}");
    assert!(scratch.landed().is_empty());
}
