//! `windlass doctor --agents`: what works with the real agents, and that it is noticed when one of them speaks otherwise
//! than it did. The changes are made by a program that stands between the agent and Windlass.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::Value;
use windlass_testkit::{Reply, Request, Turn};

use crate::rig::{Rig, Who};

/// Says nothing that anybody would wait for: the probe has a model server of its own.
fn unused(_: &Request) -> Reply {
    Reply::text("nobody asked")
}

fn probed(rig: &Rig) -> (Value, bool) {
    let output = rig.windlass(&["doctor", "--json", "--agents", rig.who.name()]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let all: Value = serde_json::from_str(&said).unwrap_or_else(|error| {
        panic!("{error}: {said}\n{}", String::from_utf8_lossy(&output.stderr))
    });
    assert_eq!(rig.server.requests().len(), 0, "its own model was asked");
    (all["agents"][0].clone(), output.status.success())
}

const WORKS: [&str; 5] =
    ["answers in the form", "edits", "counts its tokens", "says that it is limited", "ends when"];

#[track_caller]
fn all_is_well(who: Who, besides: &[&str]) {
    let rig = Rig::new(who, unused, "", &[]);
    let (found, well) = probed(&rig);
    assert!(well && found["drifted"] == serde_json::json!([]), "{who:?}: {found:#}");
    let told = found["works"].to_string();
    for works in WORKS {
        assert_eq!(told.contains(works), !besides.contains(&works), "{who:?}: {works}: {found:#}");
    }
    assert!(!found["version"].as_str().unwrap().is_empty(), "{found:#}");
}

#[test]
fn the_agents_are_as_windlass_knows_them() {
    for who in [Who::Claude, Who::Codex] {
        all_is_well(who, &[]);
    }
    for format in windlass_agents::api::Format::ALL {
        all_is_well(Who::Api(format), &[]);
    }
}

#[test]
fn who_cannot_be_led_elsewhere_is_not_asked_anything() {
    let rig =
        Rig::new(Who::Claude, unused, "[agents.plain]\nkind = 'command'\ncommand = ['cat']\n", &[]);
    let output = rig.windlass(&["doctor", "--agents", "plain"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("is not tried out") && output.status.success(), "{said}");
    let unknown = rig.windlass(&["doctor", "--agents", "nobody"]).output().unwrap();
    let said = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(said.contains("no agent `nobody`") && said.contains("claude, plain"), "{said}");
    assert_eq!(unknown.status.code(), Some(2));
}

/// An agent whose output goes through a filter.
fn filtered(
    who: Who,
    brain: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    filter: &str,
) -> Rig {
    let rig = Rig::new(who, brain, "", &[]);
    let wrapper: PathBuf = rig.scratch.path("wrapper");
    let text = format!("#!/bin/bash\nset -o pipefail\n\"$@\" | {filter}\n");
    fs::write(&wrapper, text).unwrap();
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).unwrap();
    let (word, rest) = who.words();
    let path = crate::agents::with_agents(&crate::bubblewrap::with_bubblewrap());
    let real = std::env::split_paths(&path).map(|dir| dir.join(word)).find(|it| it.is_file());
    let command: Vec<String> = [wrapper, real.unwrap()]
        .iter()
        .map(|it| it.display().to_string())
        .chain(rest.iter().map(|&it| it.to_owned()))
        .collect();
    rig.command(&command);
    rig
}

/// What is changed: a field that Windlass reads has another name, there is an event that nobody knows, and the result
/// never comes. Each of them is told.
#[track_caller]
fn is_caught(who: Who, filter: &str, told: [&str; 3]) {
    let rig = filtered(who, unused, filter);
    let (found, well) = probed(&rig);
    let drifted = found["drifted"].to_string();
    assert!(!well, "{who:?}: {found:#}");
    for one in told {
        assert!(drifted.contains(one), "{who:?}: {one}: {found:#}");
    }
}

const NEWS: &str = "sed -u '1a {\"type\":\"news\"}'";

#[test]
fn a_changed_stream_of_claude_is_caught() {
    let renamed = "sed -u 's/\"model\":\"claude/\"modell\":\"claude/g'";
    let dropped = "grep --line-buffered -v '\"type\":\"result\"'";
    is_caught(
        Who::Claude,
        &format!("{renamed} | {NEWS} | {dropped}"),
        ["`assistant` is without `message.model`", "an event `news` is new", "gave no result"],
    );
}

#[test]
fn a_changed_stream_of_codex_is_caught() {
    let renamed = "sed -u 's/\"text\":/\"words\":/'";
    let dropped = "grep --line-buffered -v turn.completed";
    is_caught(
        Who::Codex,
        &format!("{renamed} | {NEWS} | {dropped}"),
        [
            "`item.completed/agent_message` is without `item.text`",
            "an event `news` is new",
            "came to crashed",
        ],
    );
}

/// The agent sees a key that opens nothing, whatever the person has.
#[test]
fn a_probe_knows_no_key() {
    let filter = "if [ \"$ANTHROPIC_API_KEY\" = windlass-probe ]; then cat; \
                  else echo '{\"type\":\"leaked\"}'; fi";
    let rig = filtered(Who::Claude, unused, filter);
    let (found, well) = probed(&rig);
    assert!(well && found["works"].as_array().unwrap().len() == WORKS.len(), "{found:#}");
}

/// It begins with something that nobody here understands, and its model never says anything: who waited for that would
/// wait for ever.
#[track_caller]
fn is_stopped(who: Who) {
    let brain = |_: &Request| Reply::hang(2, Turn::new().text("Nobody waits for me."));
    let rig = filtered(who, brain, "sed -u 's/\"type\":/\"sort\":/g'");
    let output = rig.start().output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let what = format!("Windlass does not understand what the agent `{}` says", who.name());
    assert!(said.contains(&what) && said.contains("an event without a name is new"), "{said}");
    assert!(said.contains(&format!("windlass doctor --agents {}", who.name())), "{said}");
    assert_ne!(output.status.code(), Some(0), "{said}");
    assert_eq!(rig.scratch.processes(), Vec::<String>::new());
}

#[test]
fn who_speaks_another_language_is_stopped_at_its_first_word() {
    for who in Who::QUICK {
        is_stopped(who);
    }
}

mod slow {
    use super::*;

    #[test]
    fn gemini_is_as_windlass_knows_it() {
        all_is_well(Who::Gemini, &[]);
    }

    #[test]
    fn opencode_is_as_windlass_knows_it() {
        all_is_well(Who::Opencode, &[]);
        is_stopped(Who::Opencode);
    }

    #[test]
    fn a_server_of_gemini_is_as_windlass_knows_it() {
        all_is_well(Who::GeminiAcp, &[]);
    }

    /// What it does not tell is noted, and no drift: others do not tell that either.
    #[test]
    fn a_server_of_opencode_is_as_windlass_knows_it() {
        all_is_well(Who::OpencodeAcp, &["counts its tokens", "says that it is limited"]);
    }

    #[test]
    fn a_changed_stream_of_gemini_is_caught() {
        let renamed = "sed -u 's/\"tool_id\":/\"id\":/'";
        let dropped = "grep --line-buffered -v '\"type\":\"result\"'";
        is_caught(
            Who::Gemini,
            &format!("{renamed} | {NEWS} | {dropped}"),
            ["`tool_use` is without `tool_id`", "an event `news` is new", "gave no result"],
        );
    }

    #[test]
    fn a_changed_stream_of_opencode_is_caught() {
        let renamed = "sed -u 's/\"tool\":/\"instrument\":/'";
        let dropped = "grep --line-buffered -v '\"type\":\"step_finish\"'";
        is_caught(
            Who::Opencode,
            &format!("{renamed} | {NEWS} | {dropped}"),
            [
                "`tool_use` is without `part.tool`",
                "an event `news` is new",
                "in the middle of a step",
            ],
        );
    }

    #[test]
    fn a_changed_stream_of_a_server_is_caught() {
        let renamed = "sed -u 's/\"toolCallId\":/\"id\":/'";
        let news = "sed -u s/tool_call_update/news/";
        // It ends instead of giving its answer: nobody waits for one who is there and says nothing.
        let dropped = "while IFS= read -r line; do \
                       case $line in *stopReason*) kill $$; exit;; esac; \
                       printf '%s\\n' \"$line\"; done";
        for who in [Who::GeminiAcp, Who::OpencodeAcp] {
            is_caught(
                who,
                &format!("{renamed} | {news} | {dropped}"),
                ["is without `toolCallId`", "an update `news` is new", "came to crashed"],
            );
        }
    }
}
