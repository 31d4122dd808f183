//! What agents print, changed at random: whatever comes, a listener neither stumbles nor takes it for more than it is.
//!
//! Lines of recorded streams are damaged, mixed and repeated, and one value of one line is replaced by another, as deep as
//! there are any. `scripts/fuzz` does the same for longer.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Map, Value as Json, json};
use windlass_core::run::{Reported, Usage};

use crate::transcripts::{names, stream, worker};
use crate::{Ask, Came, Event, Fate, Heard, Here, Kind, Listener, Source};

/// Which agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    Claude,
    Codex,
    Gemini,
    Opencode,
}

/// Prices of the models that were recorded, one of them dear.
const PRICES: &str = "prices = { claude-sonnet-4-5 = { input = 3.0, output = 15.0, cached = 0.3 }, \
                      'gpt-5.2' = { input = 1.75, cached = 0.175, output = 14.0 }, \
                      'gemini-2.5-pro' = { input = 1.25, cached = 0.31, output = 10.0 }, m = { input = 90.0, output = 90.0 } }";

impl Who {
    /// Whose stream it is.
    fn of(name: &str) -> Self {
        match name.split('-').next() {
            Some("codex") => Who::Codex,
            Some("gemini") => Who::Gemini,
            Some("opencode") => Who::Opencode,
            _ => Who::Claude,
        }
    }

    fn listener(self) -> Box<dyn Listener> {
        let kind = match self {
            Who::Claude => "claude",
            Who::Codex => "codex",
            Who::Gemini => "gemini",
            Who::Opencode => "opencode",
        };
        let kind: Kind = toml::from_str(&format!("kind = '{kind}'\n{PRICES}")).unwrap();
        let which = |name: &str| Some(PathBuf::from("/bin").join(name));
        let here = Here { top: Path::new("/"), windlass: Path::new("/windlass"), which };
        let reporter = worker();
        kind.agent(&here).unwrap().listener(&Ask::example(&reporter))
    }

    /// Whether a line, if it says all of it, is about how the agent ended; and whether well.
    fn end(self, line: &[u8]) -> Option<bool> {
        let event: Map<String, Json> = serde_json::from_slice(line).ok()?;
        let text = |key: &str| event.get(key).and_then(Json::as_str);
        match (self, text("type")?) {
            (Who::Claude, "result") => {
                let reason = text("terminal_reason").is_none_or(|reason| reason == "completed");
                Some(reason && event.get("is_error") == Some(&json!(false)))
            }
            (Who::Gemini, "result") => Some(text("status") == Some("success")),
            (Who::Opencode, "step_finish") => {
                Some(event.get("part").and_then(|part| part.get("reason")) == Some(&json!("stop")))
            }
            (Who::Opencode, "step_start" | "error") => Some(false),
            (Who::Codex, "turn.completed") => Some(true),
            (Who::Codex, "turn.started" | "turn.failed") => Some(false),
            _ => None,
        }
    }

    /// Every line of what it was seen to print.
    fn printed(self) -> &'static [Vec<u8>] {
        static CLAUDE: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| all_lines("claude-"));
        static CODEX: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| all_lines("codex-"));
        static GEMINI: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| all_lines("gemini-"));
        static OPENCODE: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| all_lines("opencode-"));
        match self {
            Who::Claude => &CLAUDE,
            Who::Codex => &CODEX,
            Who::Gemini => &GEMINI,
            Who::Opencode => &OPENCODE,
        }
    }
}

fn all_lines(of: &str) -> Vec<Vec<u8>> {
    names(of).iter().flat_map(|name| lines(name)).collect()
}

/// The lines of a recorded stream.
fn lines(name: &str) -> Vec<Vec<u8>> {
    let stream = stream(name);
    let lines = stream.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(<[u8]>::to_vec).collect()
}

/// Lines of the records that they keep.
const RECORD: &[&str] = &[
    r#"{"type":"turn_context","payload":{"model":"gpt-5.2"}}"#,
    r#"{"type":"turn_context","payload":{"model":"m"}}"#,
    r#"{"type":"token_usage_record","payload":{"usage":{},"thread_token_usage":{"input_tokens":2000,"cached_input_tokens":1000,"output_tokens":10}}}"#,
    r#"{"type":"token_usage_record","payload":{"usage":{},"thread_token_usage":{"input_tokens":2100,"cached_input_tokens":2000,"output_tokens":20}}}"#,
    r#"{"type":"event_msg","payload":{"type":"token_count","rate_limits":{"primary":{"used_percent":100.0,"resets_at":1700000000},"secondary":null}}}"#,
    r#"{"type":"event_msg","payload":{"type":"task_complete","error":{"message":"m","codex_error_info":{"http_connection_failed":{"http_status_code":401}}}}}"#,
    r#"{"type":"assistant","message":{"id":"m1","model":"m","usage":{"input_tokens":1000,"output_tokens":100}}}"#,
    r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1794845365}}"#,
    r#"{"id":"m1","type":"gemini","tokens":{"input":7905,"output":29,"cached":6656,"thoughts":0,"tool":0,"total":7934},"model":"gemini-2.5-pro"}"#,
    r#"{"id":"m2","type":"gemini","tokens":{"input":9000,"output":99,"cached":7000,"thoughts":9,"tool":0,"total":9108},"model":"m"}"#,
];

/// What is done to a line.
#[derive(Clone, Debug)]
enum Damage {
    None,
    /// A byte of it is another.
    Flip(Index, u8),
    /// It stops here.
    Cut(Index),
    /// It goes on as another line does.
    Splice(Index, Index, Index),
    /// One of its values is another.
    Value(Index, Json),
    /// One of its keys is there twice.
    Twice(Index),
}

/// Values that nobody expects.
fn odd() -> impl Strategy<Value = Json> {
    let deep = |depth: usize| (0..depth).fold(json!(1), |inside, _| json!([inside]));
    select(vec![
        json!(null),
        json!(true),
        json!(false),
        json!(-1),
        json!(0),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(1e308),
        json!(-0.5),
        json!(""),
        json!("result"),
        json!("completed"),
        json!("claude-sonnet-4-5"),
        json!("gpt-5.2"),
        json!("\u{0}\u{1b}[2J\u{fffd}"),
        json!("x".repeat(5_000)),
        json!([]),
        json!({}),
        json!([{}]),
        json!({ "type": "result" }),
        deep(100),
        deep(1_000),
    ])
}

fn damage() -> impl Strategy<Value = Damage> {
    let index = any::<Index>;
    prop_oneof![
        3 => Just(Damage::None),
        2 => (index(), any::<u8>()).prop_map(|(at, byte)| Damage::Flip(at, byte)),
        2 => index().prop_map(Damage::Cut),
        1 => (index(), index(), index()).prop_map(|(at, other, from)| Damage::Splice(at, other, from)),
        4 => (index(), odd()).prop_map(|(at, value)| Damage::Value(at, value)),
        1 => index().prop_map(Damage::Twice),
    ]
}

fn damaged(line: &[u8], damage: &Damage, all: &[Vec<u8>]) -> Vec<u8> {
    let mut line = line.to_vec();
    match damage {
        Damage::None => {}
        Damage::Flip(at, byte) => {
            let at = at.index(line.len());
            line[at] = *byte;
        }
        Damage::Cut(at) => line.truncate(at.index(line.len())),
        Damage::Splice(at, other, from) => {
            let other: &Vec<u8> = other.get(all);
            line.truncate(at.index(line.len()));
            line.extend_from_slice(&other[from.index(other.len())..]);
        }
        Damage::Value(at, value) => {
            if let Ok(mut event) = serde_json::from_slice::<Json>(&line) {
                let places = count(&event);
                put(&mut event, &mut at.index(places), value);
                line = event.to_string().into_bytes();
            }
        }
        Damage::Twice(at) => {
            let event = serde_json::from_slice::<Map<String, Json>>(&line).unwrap_or_default();
            if let Some((key, value)) = event.iter().nth(at.index(event.len().max(1))) {
                line.truncate(line.len() - 1);
                line.extend_from_slice(format!(",{}:{value}}}", json!(key)).as_bytes());
            }
        }
    }
    line
}

/// How many values there are, one inside the other.
fn count(value: &Json) -> usize {
    let inside: usize = match value {
        Json::Array(all) => all.iter().map(count).sum(),
        Json::Object(all) => all.values().map(count).sum(),
        _ => 0,
    };
    1 + inside
}

/// Puts another value in the place of the how-manieth.
fn put(value: &mut Json, at: &mut usize, new: &Json) -> bool {
    if *at == 0 {
        *value = new.clone();
        return true;
    }
    *at -= 1;
    match value {
        Json::Array(all) => all.iter_mut().any(|one| put(one, at, new)),
        Json::Object(all) => all.values_mut().any(|one| put(one, at, new)),
        _ => false,
    }
}

/// One line, from where, and what is done to it.
type Step = (Index, Damage, Source);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let source =
        select(vec![Source::Output, Source::Output, Source::Record, Source::Past, Source::Before]);
    proptest::collection::vec((any::<Index>(), damage(), source), 1..24)
}

fn fates() -> impl Strategy<Value = Fate> {
    prop_oneof![
        4 => Just(Fate::Exited(0)),
        1 => select(vec![Fate::Exited(1), Fate::Exited(143), Fate::Signalled(9), Fate::TimedOut]),
    ]
}

/// Feeds lines to a listener: what it says of usage only grows, and only a good end is one.
fn hear(who: Who, lines: &[(Vec<u8>, Source)], fate: Fate) -> Result<(), TestCaseError> {
    let mut listener = who.listener();
    let (mut cost, mut tokens) = (0, 0);
    for (line, source) in lines {
        for event in listener.line(*source, line) {
            let Event::Usage(Usage { cost: now, tokens: all }) = event else { continue };
            for (before, now) in [(&mut cost, now), (&mut tokens, all)] {
                let Reported::Known(now) = now else { continue };
                prop_assert!(now >= *before, "{now} after {before}");
                *before = now;
            }
        }
    }
    let printed = lines.iter().filter(|(_, source)| *source == Source::Output);
    let ends: Vec<bool> = printed.filter_map(|(line, _)| who.end(line)).collect();
    // opencode ends with 1 if it got over an error.
    let code = fate == Fate::Exited(0) || (who == Who::Opencode && fate == Fate::Exited(1));
    let good = code && ends.last() == Some(&true);
    let answer = listener.answer(&Heard { fate, stdout: b"" });
    prop_assert!(good || !matches!(answer.came, Came::Verdict(_)), "{:?}", answer.came);
    if let Reported::Known(all) = answer.usage.tokens {
        prop_assert!(all >= tokens, "{all} at the end, and {tokens} before");
    }
    Ok(())
}

fn chosen(who: Who, steps: &[Step]) -> Vec<(Vec<u8>, Source)> {
    let printed = who.printed();
    let line = |(at, damage, source): &Step| {
        let whole = match source {
            Source::Output => at.get::<Vec<u8>>(printed).as_slice(),
            Source::Record | Source::Past | Source::Before => at.get::<&str>(RECORD).as_bytes(),
        };
        (damaged(whole, damage, printed), *source)
    };
    steps.iter().map(line).collect()
}

/// A whole stream, with one line of it damaged, and two that have changed places.
fn disturbed(
    name: &str,
    at: Index,
    damage: &Damage,
    swap: Option<(Index, Index)>,
) -> Vec<(Vec<u8>, Source)> {
    let mut lines = lines(name);
    let at = at.index(lines.len());
    lines[at] = damaged(&lines[at], damage, &lines);
    if let Some((one, other)) = swap {
        let (one, other) = (one.index(lines.len()), other.index(lines.len()));
        lines.swap(one, other);
    }
    lines.into_iter().map(|line| (line, Source::Output)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_claude_prints_is_not_taken_for_more_than_it_is(steps in steps(), fate in fates()) {
        hear(Who::Claude, &chosen(Who::Claude, &steps), fate)?;
    }

    #[test]
    fn whatever_codex_prints_is_not_taken_for_more_than_it_is(steps in steps(), fate in fates()) {
        hear(Who::Codex, &chosen(Who::Codex, &steps), fate)?;
    }

    #[test]
    fn whatever_gemini_prints_is_not_taken_for_more_than_it_is(steps in steps(), fate in fates()) {
        hear(Who::Gemini, &chosen(Who::Gemini, &steps), fate)?;
    }

    #[test]
    fn whatever_opencode_prints_is_not_taken_for_more_than_it_is(steps in steps(), fate in fates()) {
        hear(Who::Opencode, &chosen(Who::Opencode, &steps), fate)?;
    }

    #[test]
    fn what_one_prints_is_nothing_that_the_other_said(steps in steps(), fate in fates()) {
        hear(Who::Claude, &chosen(Who::Codex, &steps), fate)?;
        hear(Who::Codex, &chosen(Who::Claude, &steps), fate)?;
        hear(Who::Gemini, &chosen(Who::Claude, &steps), fate)?;
        hear(Who::Claude, &chosen(Who::Gemini, &steps), fate)?;
        hear(Who::Opencode, &chosen(Who::Gemini, &steps), fate)?;
    }

    #[test]
    fn a_stream_with_one_wrong_line_is_not_taken_for_more_than_it_is(
        name in select(["claude-", "codex-", "gemini-", "opencode-"].map(names).concat()),
        at in any::<Index>(),
        damage in damage(),
        swap in proptest::option::of(any::<(Index, Index)>()),
        fate in fates(),
    ) {
        let who = Who::of(&name);
        hear(who, &disturbed(&name, at, &damage, swap), fate)?;
    }
}

/// So much memory this process has, in bytes.
fn memory() -> u64 {
    let of = std::fs::read_to_string("/proc/self/statm").unwrap();
    of.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4_096
}

#[test]
fn whoever_makes_up_requests_without_end_is_heard_in_little_room() {
    let long = "x".repeat(512 << 10);
    let mut listener = Who::Claude.listener();
    let before = memory();
    for at in 0..80 {
        let line = format!(
            r#"{{"type":"assistant","message":{{"id":"{at}{long}","model":"{at}{long}","usage":{{"input_tokens":1}}}}}}"#
        );
        listener.line(Source::Output, line.as_bytes());
        listener.line(Source::Past, line.as_bytes());
    }
    let more = memory().saturating_sub(before);
    assert!(more < 16 << 20, "{more} bytes");
}
