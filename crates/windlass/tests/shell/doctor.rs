//! What the doctor says of the sandbox.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::scratch::Scratch;

const AGENT: &str =
    "[agents.acted]\nkind = 'scripted'\nscript = 'script.toml'\n[roles]\ndefault = 'acted'\n";

/// What the doctor says of the sandbox with this in the configuration, and whether it is well.
fn says(config: &str) -> (bool, String) {
    let scratch = Scratch::with(&[("windlass.toml", &format!("{AGENT}{config}"))]);
    let output = scratch.windlass(&["doctor", "--json"]).output().unwrap();
    sandbox(&output.stdout)
}

/// The finding that is called sandbox. Nothing else is to be wrong.
fn sandbox(printed: &[u8]) -> (bool, String) {
    let printed: Value = serde_json::from_slice(printed).unwrap();
    let findings = printed["findings"].as_array().unwrap();
    let wrong = findings.iter().filter(|it| it["ok"] == false && it["what"] != "sandbox");
    assert_eq!(wrong.count(), 0, "{printed}");
    assert!(findings.iter().any(|it| it["what"] == "lands on"), "it goes on: {printed}");
    let found = findings.iter().find(|it| it["what"] == "sandbox").unwrap();
    let said = if found["ok"] == true { &found["found"] } else { &found["wrong"] };
    (found["ok"] == true, said.as_str().unwrap().to_owned())
}

#[test]
fn a_sandbox_that_anybody_can_live_in_is_said_to_be_one() {
    for level in ["bubblewrap", "landlock", "none"] {
        let (well, said) = says(&format!("[sandbox]\nlevel = '{level}'\n"));
        assert!(well && said.contains("a program starts there"), "{level}: {said}");
    }
}

#[test]
fn agents_of_every_kind_with_a_key_of_their_own_are_well() {
    let config = "[agents.own]\nkind = 'api'\napi = 'openai-chat'\nkey = ''\nmodels = { standard = 'm' }\ncost = 'none'\n\
                  [agents.more]\nkind = 'api'\napi = 'anthropic'\nkey = 'HOME'\nmodels = { standard = 'm' }\n";
    let (well, said) = says(config);
    assert!(well, "{said}");
}

#[test]
fn whoever_was_tried_out_is_gone_before_the_doctor_is() {
    let scratch = Scratch::new();
    for _ in 0..5 {
        assert!(scratch.windlass(&["doctor"]).output().unwrap().status.success());
        let of = fs::read_dir(scratch.path("state/repositories")).unwrap().next().unwrap().unwrap();
        let ledger = fs::read_to_string(of.path().join("processes.ledger")).unwrap();
        let last = ledger.lines().last().unwrap_or_default();
        assert!(last.starts_with("close "), "nothing is left to be swept up: {ledger}");
    }
}

#[test]
fn what_is_opened_and_is_not_there_is_named() {
    for level in ["bubblewrap", "landlock"] {
        for key in ["read", "write"] {
            let config = format!("[sandbox]\nlevel = '{level}'\n{key} = ['/not/there']\n");
            let (well, said) = says(&config);
            assert!(!well && said.contains("opens /not/there, which is not there"), "{said}");
        }
    }
}

#[test]
fn the_whole_machine_is_not_opened() {
    for config in ["read = ['/']", "write = ['/usr/..']"] {
        let (well, said) = says(&format!("[sandbox]\nlevel = 'bubblewrap'\n{config}\n"));
        assert!(!well && said.contains("opens `/`, the whole machine"), "{said}");
        assert!(!Path::new("/lane").exists(), "and nothing is made there");
    }
}

#[test]
fn what_hides_the_home_or_the_scratch_files_is_noticed() {
    let (well, said) = says("[sandbox]\nlevel = 'bubblewrap'\nread = ['/home']\n");
    assert!(!well && said.contains("/home/windlass cannot be written"), "{said}");
}

#[test]
fn limits_that_nobody_can_live_with_are_noticed() {
    let (well, said) = says("[limits]\nfiles = 2\n");
    assert!(!well && said.contains("/bin/sh exited with 127"), "{said}");
    for (limit, cause) in [
        ("processes = 1", "Resource temporarily unavailable"),
        ("memory-mb = 1", "there is too little memory to start anything"),
    ] {
        let config = format!("[limits]\n{limit}\n");
        let (well, said) = says(&config);
        // Where nobody but a look now and then sees to it, what is over in no time is not noticed.
        match windlass_process::LimitedBy::here() {
            windlass_process::LimitedBy::Groups(_) => {
                assert!(!well && said.contains(cause), "{limit}: {said}");
            }
            windlass_process::LimitedBy::Looking => assert!(well, "{limit}: {said}"),
        }
    }
}

#[test]
fn a_bubblewrap_that_says_nothing_is_told_by_how_it_ended() {
    let config = format!("{AGENT}[sandbox]\nlevel = 'bubblewrap'\n");
    let scratch = Scratch::with(&[("windlass.toml", &config)]);
    let broken = scratch.path("broken");
    fs::create_dir(&broken).unwrap();
    fs::write(broken.join("bwrap"), "#!/bin/sh\nexit 1\n").unwrap();
    fs::set_permissions(broken.join("bwrap"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", broken.display());
    let output = scratch.windlass(&["doctor", "--json"]).env("PATH", path).output().unwrap();
    let (well, said) = sandbox(&output.stdout);
    assert!(!well && said.contains("bubblewrap: it exited with 1 and said nothing"), "{said}");
}

#[test]
fn an_agent_without_its_key_is_noticed_and_one_without_prices_is_told_of() {
    // Any program will do: it is only looked for.
    let config = "[agents.claude]\nkind = 'claude'\ncommand = ['true']\n\
                  [agents.codex]\nkind = 'codex'\ncommand = ['true']\nkey = 'A_KEY_OF_MINE'\n\
                  [roles]\ndefault = 'claude'\n";
    let scratch = Scratch::with(&[("windlass.toml", config)]);
    let said = |key: Option<&str>| {
        let mut doctor = scratch.windlass(&["doctor"]);
        for name in ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"] {
            doctor.env_remove(name);
        }
        if let Some(key) = key {
            doctor.env("CLAUDE_CODE_OAUTH_TOKEN", key).env("A_KEY_OF_MINE", key);
        }
        let output = doctor.output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (well, without) = said(None);
    assert!(!well, "{without}");
    assert!(
        without.contains("the agent `claude` has no key: none of `ANTHROPIC_API_KEY`"),
        "{without}"
    );
    assert!(without.contains("`A_KEY_OF_MINE` is not set"), "{without}");
    let (well, with) = said(Some("test-key-1"));
    assert!(
        well && with.contains("codex has no `prices`") && !with.contains("test-key-1"),
        "{with}"
    );
}

/// An agent that tells its version, and the environment that it sees, and then says nothing for ever.
fn silent(scratch: &Scratch) -> PathBuf {
    let agent = scratch.path("silent");
    let script = "#!/bin/sh\n[ \"$1\" = --version ] && \
                  { echo \"1.0 $(tr '\\0' ' ' < /proc/$PPID/environ)\"; exit; }\nexec sleep 1{}\n";
    let script = script.replace("{}", &std::process::id().to_string());
    fs::write(&agent, script).unwrap();
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();
    let config = format!(
        "[agents.silent]\nkind = 'claude'\ncommand = ['{}']\n[agents.gone]\nkind = 'command'\ncommand = ['not-there']\n\
         [roles]\ndefault = 'silent'\n",
        agent.display()
    );
    fs::write(scratch.repo().join("windlass.toml"), config).unwrap();
    scratch.git(&["commit", "-qam", "Silent"]);
    let tmp = scratch.path("tmp");
    fs::create_dir(&tmp).unwrap();
    tmp
}

/// Whether it says nothing now: by how long it would.
fn sleeps() -> bool {
    let own = format!("sleep\01{}\0", std::process::id());
    let all = fs::read_dir("/proc").unwrap().flatten();
    all.into_iter()
        .any(|it| fs::read(it.path().join("cmdline")).is_ok_and(|it| it == own.as_bytes()))
}

fn left_in(tmp: &Path) -> Vec<String> {
    let entries = fs::read_dir(tmp).unwrap().map(|entry| entry.unwrap().file_name());
    entries.map(|name| name.to_string_lossy().into_owned()).collect()
}

#[test]
fn who_is_interrupted_while_agents_are_tried_out_leaves_nothing_behind() {
    let scratch = Scratch::new();
    let tmp = silent(&scratch);
    for signal in ["INT", "TERM", "KILL"] {
        let mut doctor = scratch.windlass(&["doctor", "--agents", "silent"]);
        let mut doctor = doctor.env("TMPDIR", &tmp).spawn().unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        // The agent is at work: nobody tells when, so it is looked for.
        while !sleeps() {
            assert!(Instant::now() < deadline);
            std::thread::park_timeout(Duration::from_millis(20));
        }
        let pid = doctor.id().to_string();
        assert!(
            Command::new("kill").args([&format!("-{signal}"), &pid]).status().unwrap().success()
        );
        let code = doctor.wait().unwrap().code();
        while sleeps() || !scratch.processes().is_empty() {
            assert!(Instant::now() < deadline, "{signal}: {:?}", scratch.processes());
            std::thread::park_timeout(Duration::from_millis(20));
        }
        if signal != "KILL" {
            assert_eq!((code, left_in(&tmp)), (Some(130), Vec::new()), "{signal}");
        }
    }
    // What was killed leaves something behind, and the next one takes it away.
    assert!(!left_in(&tmp).is_empty());
    let mut next = scratch.windlass(&["doctor", "--agents", "gone", "--json"]);
    next.env("TMPDIR", &tmp);
    let output = next.output().unwrap();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["agents"][0]["missing"], "`not-there` is not installed", "{found:#}");
    assert_eq!(left_in(&tmp), [""; 0]);
}

/// What an agent says of its version it says in the sandbox, where nobody's secrets are.
#[test]
fn a_version_is_asked_for_where_nothing_can_be_learnt() {
    let scratch = Scratch::new();
    let tmp = silent(&scratch);
    let config = fs::read_to_string(scratch.repo().join("windlass.toml")).unwrap();
    let config = config.replace("kind = 'claude'", "kind = 'command'");
    fs::write(scratch.repo().join("windlass.toml"), config).unwrap();
    let mut doctor = scratch.windlass(&["doctor", "--agents", "silent", "--json"]);
    let output = doctor.env("TMPDIR", &tmp).env("MY_SECRET", "hunter2hunter2").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let found: Value = serde_json::from_str(&said).unwrap();
    let version = found["agents"][0]["version"].as_str().unwrap();
    assert!(version.starts_with("1.0"), "{found:#}");
    assert!(!said.contains("hunter2"), "{said}");
    assert_eq!(left_in(&tmp), [""; 0]);
}

#[test]
fn what_is_wrong_before_anybody_is_tried_out_is_told_in_json_too() {
    let scratch = Scratch::new();
    let output = scratch.windlass(&["doctor", "--agents", "nobody", "--json"]).output().unwrap();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((found["ok"].as_bool(), output.status.code()), (Some(false), Some(2)));
    assert!(found["wrong"].as_str().unwrap().contains("no agent `nobody`"), "{found:#}");
}
