//! Work that is handed over in the middle, from one vendor's agent to another's.

use serde_json::{Value, json};
use windlass_testkit::{Api, Call, Complaint, Reply, Request, Server, Turn};

use crate::rig::{Rig, TASKS, Who};
use crate::scratch::Scratch;

/// What the first of them says of what it has done.
const BEGUN: &str = "The first half is in half.txt; hello.txt is still to be written.";

/// The first begins and is limited for years. The second does the rest, if it knows what was done.
fn brain(request: &Request) -> Reply {
    if request.is_side() {
        return Reply::text("A title");
    }
    let begun = !request.tool_results().is_empty() || request.answers() > 0;
    let verdict = |verdict: &str| {
        Reply::structured(json!({ "verdict": verdict, "summary": "It is as it should be." }))
    };
    match (request.api, request.role().as_deref(), begun) {
        (Api::Messages, _, false) => {
            Turn::new().text(BEGUN).call(Call::write("half.txt", "half\n")).into()
        }
        (Api::Messages, _, true) => Reply::complaint(Complaint::RateLimited {
            retry_after_s: None,
            reset_unix_s: Some(4_000_000_000),
        }),
        (_, Some("worker"), false) if request.text().contains(BEGUN) => {
            Reply::shell("cat half.txt > hello.txt && echo hello > hello.txt")
        }
        (_, Some("worker"), false) => verdict("failed"),
        (_, Some("worker"), true) => verdict("done"),
        _ => verdict("clear"),
    }
}

#[test]
fn who_is_limited_hands_over_to_another_vendors_agent() {
    let server = Server::start(brain).unwrap();
    let config = format!(
        "{}{}[roles]\ndefault = ['claude', 'codex']\n[checks]\ntest = 'sh test.sh'\n",
        Who::Claude.config(&server),
        Who::Codex.config(&server)
    );
    let scratch = Scratch::with(&[("windlass.toml", &config), ("tasks.toml", TASKS)]);
    let rig = Rig { who: Who::Claude, scratch, server };
    let output = rig.start().env(Who::Codex.key(), "test-key-1").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    // The second went on in the first's lane: it has read what the first wrote.
    let landed = rig.scratch.landed();
    assert_eq!((landed["half.txt"].as_str(), landed["hello.txt"].as_str()), ("half", "hello"));
    let answers = rig.scratch.notes("answered");
    let told: Vec<Value> = answers.iter().map(|it| json!([it["agent"], it["came"]])).collect();
    let want = [["claude", "limited"], ["codex", "done"], ["codex", "clear"]];
    assert_eq!(told, want.map(|it| json!(it)));
    assert_eq!(answers[0]["handed_to"], "codex");
    // Both are paid for once: as many tokens as their providers have counted, and no more.
    let bill = rig.windlass(&["cost", "--json"]).output().unwrap();
    let bill: Value = serde_json::from_slice(&bill.stdout).unwrap();
    for (agent, api) in [("claude", Api::Messages), ("codex", Api::Responses)] {
        let answered = rig.server.requests().into_iter().filter(|one| one.request.api == api);
        let usage = answered.filter_map(|one| one.answered?.usage);
        let counted: u64 = usage.map(|usage| usage.input() + usage.output).sum();
        assert!(counted > 0);
        assert_eq!(tokens(&bill, agent), counted, "{agent}: {bill:#}");
    }
}

/// What was billed for an agent.
fn tokens(bill: &Value, agent: &str) -> u64 {
    let all = bill["by"]["agent"].as_array().unwrap();
    let own = all.iter().find(|it| it["agent"] == agent).unwrap();
    let figures = ["input_tokens", "cached_tokens", "cache_write_tokens", "output_tokens"];
    figures.iter().map(|figure| own[*figure].as_u64().unwrap()).sum()
}
