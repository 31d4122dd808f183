//! Providers that serve nobody for a while.

use crate::scratch::Scratch;

/// A worker that is limited, until a time in seconds since 1970.
fn limited(until: &str) -> String {
    format!(
        "[[answer]]\nrole = 'worker'\nsay = {{ limited_until = {until}, cost_usd = 0.0, tokens = 0 }}\n"
    )
}

const TASKS: &str = "[[task]]\nid = 'hello'\ntitle = 'Say hello'\ncareful = false\n";

#[test]
fn what_is_limited_is_parked_and_stays_so_across_restarts_at_no_cost() {
    let script = limited("4000000000");
    let scratch = Scratch::with(&[("script.toml", &script), ("tasks.toml", TASKS)]);
    let mut run = scratch.follow(&mut scratch.start());
    let answer = run.until("it was limited", |entry| entry["note"] == "answered");
    assert_eq!(answer["came"], "limited");
    run.until("it is parked", |entry| entry["park_until_ms"].is_u64());
    let status = scratch.status();
    assert_eq!(status["runs"][0]["limited_until"], "2096-10-02T07:06:40.000Z", "{status:#}");
    run.child.kill().unwrap();
    run.code();
    for _ in 0..2 {
        let mut again = scratch.follow(&mut scratch.windlass(&["resume"]));
        again.until("it was taken up", |entry| entry["note"] == "taken_up");
        again.child.kill().unwrap();
        again.code();
    }
    assert_eq!(scratch.notes("asked").len(), 1, "nobody was asked again");
    let status = scratch.status();
    assert_eq!(status["runs"][0]["cost_usd"], 0.0, "{status:#}");
}

#[test]
fn who_looks_on_is_told_until_when_a_provider_is_waited_for() {
    let script = limited("4000000000");
    let scratch = Scratch::with(&[("script.toml", &script), ("tasks.toml", TASKS)]);
    let mut run = scratch.follow(&mut scratch.start());
    run.until("it is parked", |entry| entry["park_until_ms"].is_u64());
    run.child.kill().unwrap();
    run.code();
    let output = scratch.windlass(&["log"]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(told.contains("waits for its provider until 2096-10-02T07:06:40.000Z"), "{told}");
}

const TWO: &str = "[agents.first]\nkind = 'scripted'\nscript = 'first.toml'\n\
                   [agents.second]\nkind = 'scripted'\nscript = 'script.toml'\n\
                   [checks]\ntest = 'sh test.sh'\n";

/// The first of two agents begins and is limited for years; the second is not.
fn two(roles: &str, tasks: &str) -> Scratch {
    let first = "[[answer]]\nrole = 'worker'\nwrite = { 'half.txt' = \"half\\n\" }\nprint = 'half of it is there'\n\
                 say = { limited_until = 4000000000, cost_usd = 0.25, tokens = 7 }\n\
                 [[answer]]\nrole = 'reviewer'\nsay = { verdict = 'clear' }\n";
    let config = format!("{TWO}{roles}");
    Scratch::with(&[("windlass.toml", &config), ("first.toml", first), ("tasks.toml", tasks)])
}

#[test]
fn who_is_limited_hands_over_and_the_next_goes_on_from_there() {
    let roles = "[roles]\nworker = ['first', 'second']\nreviewer = 'second'\n";
    let scratch = two(roles, TASKS);
    let output = scratch.start().output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    // Both have done their part, in one lane, and both are paid for once.
    let landed = scratch.landed();
    assert_eq!((landed["half.txt"].as_str(), landed["hello.txt"].as_str()), ("half", "hello"));
    let answers = scratch.notes("answered");
    let workers: Vec<_> = answers.iter().filter(|it| it["role"] == "worker").collect();
    assert_eq!(workers.len(), 2);
    assert_eq!((&workers[0]["agent"], &workers[0]["came"]), (&"first".into(), &"limited".into()));
    assert_eq!(workers[0]["handed_to"], "second", "it is on record");
    assert_eq!(workers[0]["limited_until"], 4_000_000_000_000_i64);
    assert_eq!((&workers[1]["agent"], &workers[1]["came"]), (&"second".into(), &"done".into()));
    let told = String::from_utf8(scratch.windlass(&["log", "--full"]).output().unwrap().stdout);
    let told = told.unwrap();
    assert!(told.contains("`first` has begun this and had to stop"), "{told}");
    assert!(told.contains("half of it is there"), "{told}");
    assert!(told.contains("`second` takes over"), "{told}");
    let cost = scratch.status()["runs"][0]["cost_usd"].as_f64().unwrap();
    assert!((cost - 0.261).abs() < 1e-9, "{cost}");
}

#[test]
fn a_limit_is_everybodys_on_the_account_and_nobody_else_is_asked() {
    // The reviewer's agent shares the account with the worker's, and the second task's worker is the same agent.
    let tasks = format!("{TASKS}[[task]]\nid = 'bye'\ntitle = 'Say goodbye'\ncareful = false\n");
    let roles = "[roles]\ndefault = 'first'\n[accounts.one]\nagents = ['first']\nat-once = 1\n";
    let scratch = two(roles, &tasks);
    let mut run = scratch.follow(&mut scratch.start());
    for _ in 0..2 {
        run.until("it is parked", |entry| entry["park_until_ms"].is_u64());
    }
    run.child.kill().unwrap();
    run.code();
    assert_eq!(scratch.notes("asked").len(), 1, "the other one was not even asked");
    assert_eq!(scratch.status()["runs"][0]["cost_usd"], 0.25, "and cost nothing");
}

#[test]
fn a_limit_is_remembered_by_whoever_goes_on() {
    let scratch = two("[roles]\ndefault = 'first'\n", TASKS);
    let mut run = scratch.follow(&mut scratch.start());
    run.until("it is parked", |entry| entry["park_until_ms"].is_u64());
    run.child.kill().unwrap();
    run.code();
    // A redo wants the same agent again, which is still limited.
    let redone = scratch.windlass(&["redo", "do", "--unit", "hello"]).output().unwrap();
    assert!(redone.status.success(), "{}", String::from_utf8_lossy(&redone.stderr));
    let mut again = scratch.follow(&mut scratch.windlass(&["resume"]));
    again.until("it is parked again", |entry| entry["park_until_ms"].is_u64());
    again.child.kill().unwrap();
    again.code();
    assert_eq!(scratch.notes("asked").len(), 1);
}
