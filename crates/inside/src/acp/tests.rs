//! What conversations come to: those that were recorded with real servers, and those with servers that do as they like.

use std::fs;
use std::io::{self, Cursor, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value as Json, json};
use windlass_agents::own::{End, Errand, Fin, Said};
use windlass_agents::{AcpServer, Spend};

use super::client::{Client, Patience, Stop, Talk};
use super::files::Files;
use super::rpc::{Wire, message};
use crate::Teller;
use crate::fuzz::{damage, damaged};

/// A lane with `greet.py` in it, and what is asked there.
struct Bench {
    dir: tempfile::TempDir,
    errand: Errand,
    server: AcpServer,
    patience: Patience,
}

/// What came of a conversation.
struct Talked {
    end: End,
    said: Vec<Said>,
    /// What the server was sent.
    sent: Vec<Json>,
}

/// Bytes that several may write to.
#[derive(Clone, Default)]
struct Pad(Arc<Mutex<Vec<u8>>>);

impl Write for Pad {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Bench {
    fn new(tools: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("greet.py"), "def greet():\n    return \"hello\"\n").unwrap();
        let errand = Errand {
            stable: "Always. ".to_owned(),
            prompt: "Now.".to_owned(),
            tools: tools.iter().map(|&tool| tool.to_owned()).collect(),
            lane: dir.path().display().to_string(),
            ..Errand::default()
        };
        let patience =
            Patience { answer: Duration::from_secs(60), cancel: Duration::from_millis(20) };
        Bench { dir, errand, server: AcpServer::default(), patience }
    }

    /// The lines of a recorded server, as if the lane had been where it was recorded.
    fn recorded(&self, name: &str) -> Vec<String> {
        let path = format!("{}/tests/transcripts/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let lane = self.dir.path().display().to_string();
        let lines = text.lines().filter_map(|line| {
            let line: Json = serde_json::from_str(line).unwrap();
            (line["dir"] == "<-").then(|| line["msg"].to_string().replace("/repo", &lane))
        });
        lines.collect()
    }

    /// What it comes to if the server says this, whatever it is sent, and ends.
    fn hears(&self, lines: &[String]) -> Talked {
        let all: String = lines.iter().map(|line| format!("{line}\n")).collect();
        self.talks(Cursor::new(all.into_bytes()))
    }

    fn talks(&self, reader: impl Read + Send + 'static) -> Talked {
        let (sent, mut told) = (Pad::default(), Vec::new());
        let wire = Wire::over(reader, sent.clone()).unwrap();
        let end = {
            let mut teller = Teller::new(&mut told);
            let mut client = Client {
                wire: &wire,
                teller: &mut teller,
                errand: &self.errand,
                server: &self.server,
                files: Files::of(self.dir.path()).unwrap(),
                patience: self.patience,
                talk: Talk::default(),
            };
            match client.converse() {
                Ok(end) | Err(Stop::End(end)) => end,
                Err(Stop::Unheard(error)) => panic!("{error}"),
            }
        };
        // What was sent is written by a thread of its own; when it is over, everything is there.
        let writer = wire.finish();
        writer.join().unwrap();
        let lines = |bytes: &[u8]| -> Vec<Json> {
            let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
        };
        let said = lines(&told).into_iter().map(|it| serde_json::from_value(it).unwrap());
        let sent = lines(&sent.0.lock().unwrap());
        Talked { end, said: said.collect(), sent }
    }
}

impl Talked {
    fn answered(&self, id: &Json) -> &Json {
        let answer =
            self.sent.iter().find(|sent| sent["id"] == *id && sent.get("method").is_none());
        answer.unwrap_or_else(|| panic!("{id} in {:#?}", self.sent))
    }

    fn denied(&self) -> usize {
        self.said.iter().filter(|said| matches!(said, Said::Denied { .. })).count()
    }

    fn remarks(&self) -> Vec<&str> {
        let remarks = self.said.iter().filter_map(|said| match said {
            Said::Remark { text } => Some(text.as_str()),
            _ => None,
        });
        remarks.collect()
    }

    fn changes(&self) -> Vec<&str> {
        let paths = self.said.iter().filter_map(|said| match said {
            Said::Change { path } => Some(path.as_str()),
            _ => None,
        });
        let mut paths: Vec<&str> = paths.collect();
        paths.dedup();
        paths
    }

    fn tokens(&self) -> u64 {
        super::updates::total(&self.said)
    }
}

/// A server that lets us in, and then says this before it ends its turn.
fn good(more: &[Json]) -> Vec<String> {
    let begin = [
        json!({ "id": 1, "result": { "protocolVersion": 1 } }),
        json!({ "id": 2, "result": { "sessionId": "s" } }),
    ];
    let end = json!({ "id": 3, "result": { "stopReason": "end_turn" } });
    begin.iter().chain(more).chain([&end]).map(Json::to_string).collect()
}

fn update(update: Json) -> Json {
    json!({ "method": "session/update", "params": { "sessionId": "s", "update": update } })
}

fn chunk(text: &str) -> Json {
    update(
        json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } }),
    )
}

const NAMES: [&str; 7] = [
    "claude-acp",
    "claude-acp-cancel",
    "claude-acp-reject",
    "codex-acp",
    "codex-acp-zed",
    "gemini-acp",
    "opencode-acp",
];

const DONE: &str = "Done: greet() now returns \"hello, world\".";

#[test]
fn recorded_servers_come_to_what_they_came_to() {
    for (name, came, tokens, cost, accounted) in [
        ("claude-acp", Fin::Done, 47_653, Some(71_666), true),
        ("claude-acp-cancel", Fin::Failed, 12_427, Some(25_987), true),
        ("claude-acp-reject", Fin::Done, 47_625, Some(35_953), true),
        ("codex-acp", Fin::Done, 43_346, None, true),
        ("codex-acp-zed", Fin::Done, 0, None, false),
        ("gemini-acp", Fin::Done, 50_076, None, true),
        // It tells of its last request alone, and what all of them cost.
        ("opencode-acp", Fin::Done, 7_944, Some(10_655), false),
    ] {
        let bench = Bench::new(&[]);
        let talked = bench.hears(&bench.recorded(name));
        let End { came: found, text, cost_micros, accounted: all, .. } = &talked.end;
        assert_eq!(
            (*found, talked.tokens(), *cost_micros, *all),
            (came, tokens, cost, accounted),
            "{name}"
        );
        assert_eq!(text, if came == Fin::Done { DONE } else { "" }, "{name}");
        assert_eq!(talked.denied(), 0, "{name}");
        assert_eq!(talked.remarks(), [""; 0], "{name}: nothing in it is new");
        let turns = talked.said.iter().filter(|said| **said == Said::Turn).count();
        assert_eq!(turns, 1, "{name}");
        let tools = talked.said.iter().filter(|said| matches!(said, Said::Tool { .. })).count();
        assert_eq!(tools, if name == "claude-acp-cancel" { 1 } else { 3 }, "{name}");
        let edits = !["codex-acp", "claude-acp-cancel", "claude-acp-reject"].contains(&name);
        assert_eq!(talked.changes(), if edits { vec!["greet.py"] } else { vec![] }, "{name}");
    }
}

#[test]
fn gemini_reads_and_writes_through_us() {
    let bench = Bench::new(&["read", "edit", "run"]);
    let talked = bench.hears(&bench.recorded("gemini-acp"));
    let content = &talked.answered(&json!(0))["result"]["content"];
    assert_eq!(content, "def greet():\n    return \"hello\"\n");
    let option = &talked.answered(&json!(4))["result"]["outcome"]["optionId"];
    assert_eq!(option, "proceed_once", "never for good");
    let written = fs::read_to_string(bench.dir.path().join("greet.py")).unwrap();
    assert_eq!(written, "def greet():\n    return \"hello, world\"\n");
}

#[test]
fn gemini_is_told_that_a_file_is_new_in_words_that_it_knows() {
    let bench = Bench::new(&[]);
    fs::remove_file(bench.dir.path().join("greet.py")).unwrap();
    let talked = bench.hears(&bench.recorded("gemini-acp"));
    let error = talked.answered(&json!(0))["error"].as_str().unwrap();
    assert!(error.contains("ENOENT"), "{error}");
    assert_eq!(talked.changes(), ["greet.py"]);
}

#[test]
fn what_a_role_may_not_use_is_rejected_and_said() {
    let bench = Bench::new(&["read"]);
    for (name, id, option, denied) in [
        ("claude-acp", json!(0), "reject", 2),
        ("codex-acp-zed", json!("1b3fd228-9606-427d-99ad-75a9a884f2f3"), "abort", 1),
        ("gemini-acp", json!(1), "cancel", 3),
    ] {
        let talked = bench.hears(&bench.recorded(name));
        assert_eq!(talked.answered(&id)["result"]["outcome"]["optionId"], option, "{name}");
        assert_eq!(talked.denied(), denied, "{name}");
    }
    let before = fs::read_to_string(bench.dir.path().join("greet.py")).unwrap();
    assert!(!before.contains("world"), "what it would have us write, neither");
}

#[test]
fn cut_off_anywhere_nothing_is_taken_for_an_answer() {
    let bench = Bench::new(&[]);
    for name in NAMES {
        let lines = bench.recorded(name);
        for line in &lines {
            assert!(message(line.as_bytes()).is_some(), "{line}");
            // A line that is cut off is no message; so there are no more cuts than lines.
            let cut = (0..line.len()).find(|cut| message(&line.as_bytes()[..*cut]).is_some());
            assert_eq!(cut, None, "{name}: {line}");
        }
        for cut in 0..lines.len() {
            let End { came, text, accounted, .. } = bench.hears(&lines[..cut]).end;
            assert_eq!((came, text.as_str()), (Fin::Failed, ""), "{name}, cut after {cut} lines");
            let asked = lines[..cut].iter().any(|line| line.contains("\"sessionId\""));
            assert_eq!(accounted, !asked, "{name}, cut after {cut} lines");
        }
    }
}

#[test]
fn a_turn_ends_for_a_reason() {
    for (reason, came) in [
        ("end_turn", Fin::Done),
        ("max_tokens", Fin::TooLong),
        ("max_turn_requests", Fin::Exhausted),
        ("refusal", Fin::Refused),
        ("cancelled", Fin::Failed),
        ("of tomorrow", Fin::Failed),
    ] {
        let mut lines = good(&[chunk("yes")]);
        *lines.last_mut().unwrap() =
            json!({ "id": 3, "result": { "stopReason": reason } }).to_string();
        let end = Bench::new(&[]).hears(&lines).end;
        let text = if came == Fin::Done { "yes" } else { "" };
        assert_eq!((end.came, end.text.as_str(), end.accounted), (came, text, false), "{reason}");
    }
}

#[test]
fn who_is_not_let_in_has_used_nothing_and_a_limit_is_one() {
    let bench = Bench::new(&[]);
    let error =
        |id: u64, code: i64| json!({ "id": id, "error": { "code": code, "message": "no" } });
    let mut lines = good(&[]);
    lines[1] = error(2, -32000).to_string();
    let end = bench.hears(&lines).end;
    assert_eq!((end.came, end.accounted), (Fin::Unwelcome, true));
    assert_eq!(end.why, "session/new: no (-32000)");
    lines = good(&[]);
    lines[2] = error(3, 429).to_string();
    let talked = bench.hears(&lines);
    assert_eq!((talked.end.came, talked.end.accounted), (Fin::Limited, false));
    assert!(talked.said.contains(&Said::Limit { until: None }));
    lines[0] = json!({ "id": 1, "result": { "protocolVersion": 2 } }).to_string();
    let end = bench.hears(&lines).end;
    assert_eq!((end.came, end.accounted), (Fin::Failed, true));
    assert!(end.why.contains("version 2"), "{}", end.why);
}

#[test]
fn a_model_is_chosen_the_way_the_server_has_it_and_a_way_in_too() {
    let mut bench = Bench::new(&[]);
    bench.server.model = Some("small".to_owned());
    let offer = |offer: Json| {
        let mut lines = good(&[]);
        let mut session = json!({ "sessionId": "s" });
        session.as_object_mut().unwrap().extend(offer.as_object().unwrap().clone());
        lines[1] = json!({ "id": 2, "result": session }).to_string();
        lines[2] = json!({ "id": 3, "result": {} }).to_string();
        let used = json!({ "inputTokens": 1, "outputTokens": 1 });
        let end = json!({ "stopReason": "end_turn", "usage": used });
        lines.push(json!({ "id": 4, "result": end }).to_string());
        lines
    };
    let option = json!({ "id": "the-model", "category": "model", "currentValue": "big" });
    let talked = bench.hears(&offer(json!({ "configOptions": [{ "id": "mode" }, option] })));
    let params = json!({ "sessionId": "s", "configId": "the-model", "value": "small" });
    assert_eq!(talked.sent[2]["method"], "session/set_config_option");
    assert_eq!((&talked.sent[2]["params"], talked.end.came), (&params, Fin::Done));
    assert!(
        talked
            .said
            .iter()
            .any(|said| matches!(said, Said::Usage { model, .. } if model == "small"))
    );
    let talked = bench.hears(&offer(json!({ "models": { "currentModelId": "big" } })));
    assert_eq!(talked.sent[2]["method"], "session/set_model");
    assert_eq!(talked.sent[2]["params"]["modelId"], "small");
    let end = bench.hears(&offer(json!({}))).end;
    assert_eq!((end.came, end.accounted), (Fin::Failed, true), "another model would not do");
    bench.server = AcpServer { auth: Some("by key".to_owned()), ..AcpServer::default() };
    let talked = bench.hears(&good(&[]));
    assert_eq!(talked.sent[1]["method"], "authenticate");
    assert_eq!(talked.sent[1]["params"], json!({ "methodId": "by key" }));
}

#[test]
fn what_nobody_knows_is_answered_and_what_nobody_asked_is_left_out() {
    let bench = Bench::new(&[]);
    let params = json!({ "sessionId": "s" });
    let other = json!({ "method": "session/update", "params": { "sessionId": "another", "update":
        { "sessionUpdate": "agent_message_chunk", "content": { "text": "not this" } } } });
    let talked = bench.hears(&good(&[
        json!({ "id": 99, "result": { "stopReason": "end_turn" } }),
        json!({ "id": "3", "result": { "stopReason": "end_turn" } }),
        json!({ "id": "u-1", "method": "terminal/create", "params": params }),
        json!({ "id": 1, "method": "of/tomorrow" }),
        json!({ "id": 2, "method": "session/request_permission", "params": null }),
        json!({ "id": 5, "method": "fs/read_text_file", "params": { "path": "/etc/passwd" } }),
        json!({ "method": "_of/theirs", "params": [] }),
        other,
        json!("no message"),
        chunk("yes"),
    ]));
    assert_eq!((talked.end.came, talked.end.text.as_str()), (Fin::Done, "yes"));
    assert_eq!(talked.answered(&json!("u-1"))["error"]["code"], -32601);
    assert_eq!(talked.answered(&json!(1))["error"]["code"], -32601);
    let cancelled = json!({ "outcome": { "outcome": "cancelled" } });
    assert_eq!(talked.answered(&json!(2))["result"], cancelled);
    assert_eq!(talked.answered(&json!(5))["error"]["code"], -32602);
    let prompt = &talked.sent[2]["params"]["prompt"][0]["text"];
    assert_eq!(prompt, "Always. Now.");
}

#[test]
fn answers_that_come_before_they_are_asked_for_count_for_nothing() {
    // The end of the turn is there before there is a session.
    let mut lines = good(&[chunk("yes")]);
    let end = lines.pop().unwrap();
    lines.insert(1, end);
    let end = Bench::new(&[]).hears(&lines).end;
    assert_eq!((end.came, end.text.as_str()), (Fin::Failed, ""));
    // What is told before it was asked anything is no answer.
    let mut lines = good(&[]);
    lines.insert(1, chunk("too early").to_string());
    assert_eq!(Bench::new(&[]).hears(&lines).end.text, "");
}

#[test]
fn who_has_used_up_what_they_may_is_told_to_stop() {
    let mut bench = Bench::new(&[]);
    bench.errand.spend = Spend { cost_micros: Some(1_000), tokens: Some(9_000), turns: None };
    let usage = |used: u64, amount: f64| {
        let cost = json!({ "amount": amount, "currency": "USD" });
        update(json!({ "sessionUpdate": "usage_update", "used": used, "cost": cost }))
    };
    let permission = json!({ "id": 8, "method": "session/request_permission", "params": {
        "toolCall": { "toolCallId": "c", "kind": "read" },
        "options": [{ "optionId": "o", "kind": "allow_once" }] } });
    let little = bench.hears(&good(&[usage(8_999, 0.000_9), chunk("yes")]));
    assert_eq!(little.end.came, Fin::Done);
    for much in [usage(9_000, 0.0), usage(1, 0.001)] {
        let talked = bench.hears(&good(&[much, permission.clone(), chunk("yes")]));
        assert_eq!((talked.end.came, talked.end.text.as_str()), (Fin::Exhausted, ""));
        let cancels = talked.sent.iter().filter(|sent| sent["method"] == "session/cancel");
        assert_eq!(cancels.count(), 1);
        let outcome = &talked.answered(&json!(8))["result"]["outcome"]["outcome"];
        assert_eq!(outcome, "cancelled", "nothing more is begun");
    }
    // One that does not stop is not waited for.
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    let lines = good(&[usage(9_000, 0.0)]);
    lines[..3].iter().for_each(|line| writeln!(theirs, "{line}").unwrap());
    assert_eq!(bench.talks(ours).end.came, Fin::Exhausted);
    drop(theirs);
}

/// Says the same for ever.
struct Flood(Vec<u8>, usize);

impl Read for Flood {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        for byte in into.iter_mut() {
            *byte = self.0[self.1];
            self.1 = (self.1 + 1) % self.0.len();
        }
        // It ends some time: nobody ends it here, as a process would be.
        Ok(into.len())
    }
}

#[test]
fn a_server_that_floods_or_never_answers_is_not_waited_for() {
    let mut bench = Bench::new(&[]);
    bench.patience.answer = Duration::from_millis(100);
    let line = format!("{}\nnonsense\n", chunk("more"));
    let flood = Flood(line.into_bytes(), 0).take(64 << 20);
    let end = bench.talks(flood).end;
    assert_eq!((end.came, end.accounted), (Fin::Failed, true));
    assert_eq!(end.why, "its server did not answer `initialize` in time");
    let (ours, theirs) = UnixStream::pair().unwrap();
    assert_eq!(bench.talks(ours).end.why, "its server did not answer `initialize` in time");
    drop(theirs);
    // A line without an end is let go, and what follows is heard.
    let long = format!("{{\"x\":\"{}\"}}\n", "y".repeat(17 << 20));
    let rest: String = good(&[chunk("yes")]).iter().map(|line| format!("{line}\n")).collect();
    bench.patience.answer = Duration::from_secs(60);
    let end = bench.talks(Cursor::new([long.into_bytes(), rest.into_bytes()].concat())).end;
    assert_eq!((end.came, end.text.as_str()), (Fin::Done, "yes"));
}

/// A server that is a line of a shell, from end to end.
fn runs(script: &str) -> (End, PathBuf) {
    let bench = Bench::new(&[]);
    let command = ["sh", "-c", script].map(str::to_owned).to_vec();
    let set = [("OWN".to_owned(), "mine".to_owned())].into();
    let server = AcpServer { command, set, ..AcpServer::default() };
    let errand = Errand { own: serde_json::to_value(server).unwrap(), ..bench.errand.clone() };
    let home = bench.dir.path().join("home");
    fs::create_dir(&home).unwrap();
    let mut told = Vec::new();
    (super::run(&errand, &home, &mut Teller::new(&mut told)).unwrap(), home)
}

const INTRODUCTION: &str = r#"
read -r one; echo '{"id":1,"result":{"protocolVersion":1}}'
read -r two; echo '{"id":2,"result":{"sessionId":"s"}}'
read -r three
say() { printf '{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}}}}\n' "$1"; }
"#;

const END: &str = r#"echo '{"id":3,"result":{"stopReason":"end_turn"}}'"#;

#[test]
fn a_server_has_a_home_of_its_own_and_what_it_is_given() {
    let (end, home) =
        runs(&format!("{INTRODUCTION}\nsay \"$HOME $XDG_CONFIG_HOME $OWN $PWD\"\n{END}"));
    let (lane, home) = (home.parent().unwrap().display(), home.display());
    assert_eq!((end.came, end.why.as_str()), (Fin::Done, ""));
    assert_eq!(end.text, format!("{home} {home}/.config mine {lane}"));
}

#[test]
fn a_server_that_ends_early_has_failed_and_says_why() {
    let (end, _) = runs("read -r one; echo 'first' >&2; echo 'no such thing' >&2; exit 3");
    assert_eq!((end.came, end.accounted), (Fin::Failed, true));
    let why =
        "its server ended before it had answered `initialize` (exit status: 3): no such thing";
    assert_eq!(end.why, why);
    let (end, _) = runs(&format!("{INTRODUCTION}\nsay done\nkill -9 $$"));
    assert_eq!((end.came, end.text.as_str(), end.accounted), (Fin::Failed, "", false));
    let bench = Bench::new(&[]);
    let own = json!({ "command": ["/not/there"] });
    let errand = Errand { own, ..bench.errand.clone() };
    let end = super::run(&errand, Path::new("/"), &mut Teller::new(&mut Vec::new())).unwrap();
    assert!(end.why.starts_with("/not/there: ") && end.accounted, "{}", end.why);
}

#[test]
fn a_server_that_will_not_end_is_ended_with_what_it_has_started() {
    let (end, _) = runs(&format!(
        "{INTRODUCTION}\ntrap '' TERM\nsleep 1000 &\nsay $!\n{END}\nwhile :; do wait; done"
    ));
    assert_eq!(end.came, Fin::Done);
    let child: u32 = end.text.parse().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    // Nobody tells when it is gone, so it is looked for.
    let lives = || {
        let stat = fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
    };
    while lives() {
        assert!(Instant::now() < deadline, "{child} lives");
        std::thread::park_timeout(Duration::from_millis(10));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_a_server_says_is_not_taken_for_more_than_it_is(
        name in select(NAMES.to_vec()),
        steps in proptest::collection::vec((any::<Index>(), damage()), 1..4),
    ) {
        let bench = Bench::new(&["read"]);
        let mut lines = bench.recorded(name);
        for (at, how) in &steps {
            let at = at.index(lines.len());
            lines[at] = damaged(&lines[at], how);
        }
        let talked = bench.hears(&lines);
        let ended = lines.iter().any(|line| line.contains("\"stopReason\":\"end_turn\""));
        prop_assert!(ended || talked.end.came != Fin::Done, "{:?}", talked.end);
        // Whatever it is, nothing is written that the role may not write.
        let kept = fs::read_to_string(bench.dir.path().join("greet.py")).unwrap();
        prop_assert_eq!(kept, "def greet():\n    return \"hello\"\n");
    }
}
