//! What is asserted of the work, tried out by Windlass itself: files, commands, requests, and a real browser.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::scratch::{Scratch, fixture};

const CATALOGUE: &str = "[check.contract]\nabout = 'what is asserted'\n";

const CONFIG: &str = "[agents.acted]\nkind = 'scripted'\nscript = 'script.toml'\n\
                      [roles]\ndefault = 'acted'\n";

/// A server that many projects would have: it serves what lies in the checkout, on the port that it is lent.
const SERVE: &str = "[checks]\nserve = 'exec python3 -m http.server --bind 127.0.0.1 $PORT'\n";

const TASKS: &str = "[[task]]\nid = 'page'\ntitle = 'A page'\ncareful = false\n";

/// A page with a button; what it does is another matter.
fn page(script: &str) -> String {
    format!(
        "<title>Shop</title><h1>Shop</h1><button id=buy>Buy</button><p id=out></p><script>{script}</script>"
    )
}

const WORKS: &str = "buy.onclick = () => { out.textContent = \"Sold to \" + location.pathname; };";
const DEAD: &str = "console.error(\"no handler\");";

fn scratch(contract: &str, config: &str, script: &str, tasks: &str) -> Scratch {
    let flow = fixture("small.toml").replace("checks = [\"test\"]", "checks = [\"contract\"]");
    let catalogue = fixture("small-catalogue.toml") + CATALOGUE;
    Scratch::with(&[
        ("flow.toml", &flow),
        ("catalogue.toml", &catalogue),
        ("script.toml", script),
        ("tasks.toml", tasks),
        ("windlass.toml", config),
        (".harness/validation-contract.md", contract),
    ])
}

/// A worker that writes these files at its attempts, the last of them ever after, and a reviewer who likes it.
fn writes(attempts: &[&[(&str, &str)]]) -> String {
    let mut script = String::new();
    for (number, files) in attempts.iter().enumerate() {
        let files: Vec<String> =
            files.iter().map(|(path, text)| format!("'{path}' = '{text}'")).collect();
        let attempt = match number + 1 < attempts.len() {
            true => format!("attempt = {}\n", number + 1),
            false => String::new(),
        };
        script.push_str(&format!(
            "[[answer]]\nrole = 'worker'\n{attempt}write = {{ {} }}\nsay = {{ verdict = 'done', cost_usd = 0.0, tokens = 1 }}\n",
            files.join(", ")
        ));
    }
    script
        + "[[answer]]\nrole = 'reviewer'\nsay = { verdict = 'clear', cost_usd = 0.0, tokens = 1 }\n"
}

#[track_caller]
fn ran(scratch: &Scratch, code: i32) {
    let output = scratch.start().output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{said}\n{}", log(scratch));
    assert_eq!(scratch.processes(), [""; 0], "nothing is left running");
}

fn log(scratch: &Scratch) -> String {
    let log = scratch.windlass(&["log", "--full"]).output().unwrap().stdout;
    String::from_utf8_lossy(&log).into_owned()
}

fn came(scratch: &Scratch) -> Vec<String> {
    let came = |note: &Value| note["came"].as_str().unwrap().to_owned();
    scratch.notes("checked").iter().map(came).collect()
}

#[test]
fn files_and_commands_are_looked_at_and_nobody_is_believed() {
    let contract = "# Contract\n\n- VAL-A-1: There is a greeting\n  - file: hello.txt contains \"hello\"\n\
                    - VAL-A-2: It is polite\n  - command: `grep -q please hello.txt`\n  - review: its tone\n\
                    - VAL-A-3: Nothing is left behind\n  - file: old.txt absent\n\
                    - VAL-A-4: It sounds well\n  - review: read it aloud\n";
    // The worker says that it is done, and makes the contract fit what it did.
    let easy = "- VAL-A-1: Nothing\\n  - file: hello.txt exists\\n";
    let script = writes(&[&[("hello.txt", "hello")], &[("hello.txt", "hello, please")]]);
    let script = script.replacen(
        "'hello.txt' = 'hello' ",
        &format!("'hello.txt' = 'hello', '.harness/validation-contract.md' = \"{easy}\" "),
        1,
    );
    assert!(script.contains("VAL-A-1: Nothing"), "{script}");
    let scratch = scratch(contract, CONFIG, &script, TASKS);
    ran(&scratch, 0);
    assert_eq!(came(&scratch), ["fail", "pass"]);
    let log = log(&scratch);
    for line in [
        "pass  VAL-A-1: There is a greeting",
        "file hello.txt contains \"hello\": it has that in it",
        "FAIL  VAL-A-2: It is polite",
        "command `grep -q please hello.txt`: exited with 1",
        "review its tone: the validator judges this",
        "pass  VAL-A-2: It is polite",
        "file old.txt absent: it is not there",
    ] {
        assert!(log.contains(line), "{line}\n{log}");
    }
    assert!(
        !log.contains("VAL-A-4: It sounds well\n"),
        "nobody but the validator can tell:\n{log}"
    );
    // What was seen reaches the next attempt.
    let prompts = scratch.notes("asked");
    assert!(prompts.len() >= 2);
    assert!(log.contains("`contract` failed:"), "{log}");
}

#[test]
fn what_nobody_can_tell_is_skipped_and_not_passed() {
    for (contract, why) in [
        ("", ""),
        ("- VAL-A-1: It is nice\n  - review: look at it\n", ""),
        ("- VAL-A-1: It answers\n  - http: GET / → 200\n", "nothing says how the app is started"),
    ] {
        let scratch = scratch(contract, CONFIG, &writes(&[&[("a.txt", "a")]]), TASKS);
        ran(&scratch, 8);
        assert_eq!(came(&scratch), ["skipped"], "{contract}");
        assert!(scratch.landed().is_empty());
        assert!(log(&scratch).contains(why), "{}", log(&scratch));
    }
}

#[test]
fn an_app_that_does_not_come_up_fails_and_says_what_it_said() {
    let contract = "- VAL-A-1: It answers\n  - http: GET / → 200\n";
    let config = format!("{CONFIG}[checks]\nserve = 'echo no database >&2; exit 3'\n");
    let scratch = scratch(contract, &config, &writes(&[&[("a.txt", "a")]]), TASKS);
    ran(&scratch, 8);
    assert_eq!(came(&scratch), ["fail"; 4]);
    let log = log(&scratch);
    assert!(log.contains("exited with 3 before anybody could reach it"), "{log}");
    assert!(log.contains("no database"), "{log}");
}

#[test]
fn an_app_is_started_and_asked() {
    let contract = "- VAL-A-1: There is a page\n  - http: GET /shop.html → 200 \"Shop\" \"Buy\"\n\
                    - VAL-A-2: There is no other\n  - http: GET /other.html → 404\n\
                    - VAL-A-3: Nothing can be put there\n  - http: POST /shop.html with \"a=b\" → 501\n";
    let wrong = page(WORKS).replace("Buy", "Sell");
    let right = page(WORKS);
    let script = writes(&[&[("shop.html", &wrong)], &[("shop.html", &right)]]);
    let scratch = scratch(contract, &format!("{CONFIG}{SERVE}"), &script, TASKS);
    ran(&scratch, 0);
    assert_eq!(came(&scratch), ["fail", "pass"]);
    let log = log(&scratch);
    assert!(log.contains("\"Buy\" is not in it; answered 200:"), "{log}");
    assert!(log.contains("http GET /other.html → 404: answered 404"), "{log}");
}

#[test]
fn an_app_that_never_answers_goes_when_the_run_is_stopped() {
    let contract = "- VAL-A-1: It answers\n  - http: GET / → 200\n";
    // Listens, and says nothing to anybody.
    let silent = "import os, socket; s = socket.create_server((\"127.0.0.1\", int(os.environ[\"PORT\"]))); \
                  c = s.accept(); d = s.accept(); open(os.environ[\"MEET\"], \"w\").close(); s.accept()";
    let scratch = scratch(contract, CONFIG, &writes(&[&[("a.txt", "a")]]), TASKS);
    let meet = scratch.path("meet");
    fs::create_dir(&meet).unwrap();
    assert!(
        std::process::Command::new("mkfifo").arg(meet.join("pipe")).status().unwrap().success()
    );
    let at = meet.display();
    let config = format!(
        "{CONFIG}[checks]\nserve = \"\"\"MEET={at}/pipe exec python3 -c '{silent}'\"\"\"\n[sandbox]\nwrite = ['{at}']\n"
    );
    fs::write(scratch.repo().join("windlass.toml"), config).unwrap();
    scratch.git(&["commit", "-qam", "Silent"]);
    let mut run = scratch.start().spawn().unwrap();
    // Whoever opens it waits until the request has reached the app.
    drop(fs::File::open(meet.join("pipe")).unwrap());
    let pid = i32::try_from(run.id()).unwrap();
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGINT)
        .unwrap();
    let asked = Instant::now();
    let _ = run.wait().unwrap();
    // A request may take thirty: nobody waits for that.
    assert!(asked.elapsed() < Duration::from_secs(20), "{:?}", asked.elapsed());
    assert_eq!(scratch.processes(), [""; 0]);
    assert_eq!(came(&scratch), [""; 0], "what was stopped has found nothing");
}

const SHOPPING: &str =
    "- VAL-UI-1: One can buy\n  - ui: open /shop.html; click \"Buy\"; see \"Sold to\"; shot sold\n";

/// The browser, and everything that needs it, is slow.
mod slow {
    use super::*;

    #[test]
    fn a_button_that_does_nothing_does_not_land() {
        let (dead, works) = (page(DEAD), page(WORKS));
        let script = writes(&[&[("shop.html", &dead)], &[("shop.html", &works)]]);
        let scratch = scratch(SHOPPING, &format!("{CONFIG}{SERVE}"), &script, TASKS);
        ran(&scratch, 0);
        assert_eq!(came(&scratch), ["fail", "pass"]);
        assert!(scratch.git(&["show", "main:shop.html"]).contains("onclick"));
        let log = log(&scratch);
        for line in [
            "`see \"Sold to\"` failed: it is not to be seen",
            "the page reported: no handler",
            "VAL-UI-1: FAILED",
            "VAL-UI-1: passed",
            "a picture of VAL-UI-1, failed: ",
        ] {
            assert!(log.contains(line), "{line}\n{log}");
        }
        let report = scratch.windlass(&["report"]).output().unwrap().stdout;
        let report = String::from_utf8_lossy(&report).into_owned();
        assert!(
            report.contains("VAL-UI-1, failed: ") && report.contains("VAL-UI-1, sold: "),
            "{report}"
        );
        let browsed = scratch.notes("browsed");
        let pictures: Vec<&Value> =
            browsed.iter().flat_map(|note| note["pictures"].as_array().unwrap()).collect();
        let names: Vec<&str> = pictures.iter().map(|it| it["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["failed", "sold"]);
        for picture in pictures {
            let file = picture["file"].as_str().unwrap();
            assert!(file.starts_with(scratch.path("state").to_str().unwrap()), "{file}");
            assert!(fs::read(file).unwrap().starts_with(b"\x89PNG"), "{file}");
        }
    }

    /// Says that it is clear if the browser's picture that it is told of can be looked at, in its sandbox.
    const LOOKS: &str = "picture=$(sed -n 's/^A picture of VAL-UI-1, sold: //p')\n\
                         head -c 4 \"$picture\" | grep -q PNG && word=clear || word=blocking\n\
                         echo \"{\\\"verdict\\\": \\\"$word\\\"}\"\n";

    #[test]
    fn who_is_shown_what_the_browser_saw_can_look_at_its_pictures() {
        let script = writes(&[&[("shop.html", &page(WORKS))]]);
        let config = format!(
            "{CONFIG}reviewer = 'looks'\n[agents.looks]\nkind = 'command'\ncommand = ['sh', 'look.sh']\ncost = 'none'\n{SERVE}"
        );
        let scratch = scratch(SHOPPING, &config, &script, TASKS);
        let flow = fs::read_to_string(scratch.repo().join("flow.toml")).unwrap();
        let flow =
            flow.replace("role  = \"reviewer\"\n", "role  = \"reviewer\"\nsees  = [\"browser\"]\n");
        fs::write(scratch.repo().join("flow.toml"), flow).unwrap();
        fs::write(scratch.repo().join("look.sh"), LOOKS).unwrap();
        scratch.git(&["add", "-A"]);
        scratch.git(&["commit", "-qm", "Look"]);
        ran(&scratch, 0);
        let log = log(&scratch);
        assert!(log.contains("  click \"Buy\" — done"), "{log}");
    }

    #[test]
    fn two_lanes_serve_the_same_app_at_once() {
        let tasks = format!("{TASKS}[[task]]\nid = 'other'\ncareful = false\n");
        let contract = "- VAL-UI-1: One can buy\n  - ui: open /shop.html; click #buy; see \"Sold to\"\n\
                        - VAL-UI-2: Its own\n  - command: `test -e page.txt -o -e other.txt`\n";
        let shop = page(WORKS);
        let mut script = String::new();
        for unit in ["page", "other"] {
            script.push_str(&format!(
                "[[answer]]\nrole = 'worker'\nunit = '{unit}'\nwrite = {{ '{unit}.txt' = '{unit}', 'shop.html' = '{shop}' }}\n\
                 say = {{ verdict = 'done', cost_usd = 0.0, tokens = 1 }}\n"
            ));
        }
        script.push_str("[[answer]]\nsay = { verdict = 'clear', cost_usd = 0.0, tokens = 1 }\n");
        let scratch = scratch(contract, CONFIG, &script, &tasks);
        // Neither begins to serve before both have come, each with a port of its own.
        let meet = scratch.path("meet");
        fs::create_dir(&meet).unwrap();
        let at = meet.display();
        let serve = format!(
            "touch {at}/$PORT; until [ $(ls {at} | wc -l) -ge 2 ]; do sleep 0.05; done; \
             exec python3 -m http.server --bind 127.0.0.1 $PORT"
        );
        let config = format!("{CONFIG}[checks]\nserve = '{serve}'\n[sandbox]\nwrite = ['{at}']\n");
        fs::write(scratch.repo().join("windlass.toml"), config).unwrap();
        scratch.git(&["commit", "-qam", "Meet"]);
        ran(&scratch, 0);
        assert!(fs::read_dir(&meet).unwrap().count() >= 2);
        assert!(came(&scratch).iter().all(|came| came == "pass"), "{:?}", came(&scratch));
        assert_eq!(scratch.landed().len(), 2);
    }
}
