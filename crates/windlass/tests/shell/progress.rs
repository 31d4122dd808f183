//! Runs of many units on several lanes: how far they are, what they will take, and what became of them.

use std::fs;

use serde_json::Value;

use crate::answers::Sitting;
use crate::scratch::{Scratch, ended, fixture};

/// Six tasks. The third fails its first check, the fourth is asked about, the sixth depends on the fourth, and the fifth
/// has a hostile title.
const TASKS: &str = "[[task]]\nid = 'one'\ntitle = 'One'\ncareful = false\n\
                     [[task]]\nid = 'two'\ntitle = 'Two'\ncareful = false\n\
                     [[task]]\nid = 'three'\ntitle = 'Three'\ncareful = false\n\
                     [[task]]\nid = 'four'\ntitle = 'Four'\ncareful = true\n\
                     [[task]]\nid = 'five'\ntitle = \"<script>alert('5')</script> \\u202e| **x** \\u001b[31m\"\ncareful = false\n\
                     [[task]]\nid = 'six'\ntitle = 'Six'\ncareful = false\ndepends = ['four']\n";

/// Everybody does it right, but for the third at its first attempt.
fn script() -> String {
    let wrong = "[[answer]]\nrole = 'worker'\nunit = 'three'\nattempt = 1\nwrite = { 'three.txt' = 'wrong' }\n\
                 say = { verdict = 'done', cost_usd = 0.01, tokens = 10, summary = 'I <b>did</b> it' }\n";
    let right = ["one", "two", "three", "four", "five", "six"].map(|unit| {
        format!(
            "[[answer]]\nrole = 'worker'\nunit = '{unit}'\nwrite = {{ '{unit}.txt' = 'right' }}\n\
             say = {{ verdict = 'done', cost_usd = 0.01, tokens = 10 }}\n"
        )
    });
    let clear = "[[answer]]\nrole = 'reviewer'\nsay = { verdict = 'clear', cost_usd = 0.001, tokens = 5 }\n";
    format!("{wrong}{}{clear}", right.concat())
}

const CHECK: &str = "for f in *.txt; do [ ! -e \"$f\" ] || grep -qx right \"$f\" || { echo \"$f is wrong\"; exit 1; }; done\n";

fn six() -> Scratch {
    let flow = fixture("small.toml").replace("lanes  = 2", "lanes  = 3\norder  = 'depends'");
    Scratch::with(&[
        ("flow.toml", &flow),
        ("tasks.toml", TASKS),
        ("script.toml", &script()),
        ("test.sh", CHECK),
    ])
}

fn said(scratch: &Scratch, args: &[&str]) -> String {
    let output = scratch.windlass(args).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Runs all six, and says yes whenever it is asked.
fn done() -> Scratch {
    let scratch = six();
    let (mut code, mut told) = ended(scratch.start().output().unwrap());
    while code == Some(8) {
        let gates: Value = serde_json::from_str(&said(&scratch, &["gates", "--json"])).unwrap();
        let gate = gates["gates"][0]["gate"].to_string();
        assert_eq!(
            scratch.windlass(&["answer", &gate, "yes"]).output().unwrap().status.code(),
            Some(0)
        );
        (code, told) = ended(scratch.windlass(&["resume"]).output().unwrap());
    }
    assert_eq!(code, Some(0), "{told}");
    scratch
}

fn json(scratch: &Scratch, args: &[&str]) -> Value {
    serde_json::from_str(&said(scratch, args)).unwrap()
}

fn unit<'s>(run: &'s Value, id: &str) -> &'s Value {
    let units = run["units"].as_array().unwrap();
    units.iter().find(|unit| unit["id"] == id).unwrap_or_else(|| panic!("{id}: {run:#}"))
}

#[test]
fn how_far_it_is_is_told_line_by_line_where_nobody_looks_on() {
    let scratch = six();
    let (code, told) = ended(scratch.start().output().unwrap());
    assert_eq!(code, Some(8), "{told}");
    let far: Vec<&str> = told.lines().filter(|line| line.contains(" of 6 tasks done")).collect();
    let last = far.last().copied().unwrap_or_default();
    assert!((1..=4).contains(&far.len()), "a line for each that settled at most: {told}");
    assert!(far[0].starts_with("1 of 6 tasks done · ") && !far[0].contains("about"), "{told}");
    assert!(
        last.contains("1 waiting for a person · ") && last.contains(" of 20.00 · about "),
        "{told}"
    );
    assert!(!told.contains('\u{1b}') && !told.contains("--html"), "it is not over: {told}");
    let scratch = Scratch::with(&[("tasks.toml", "[[task]]\nid = 'hello'\ncareful = false\n")]);
    let (_, told) = ended(scratch.start().output().unwrap());
    assert!(!told.contains("windlass report"), "one unit has been told of already: {told}");
}

#[test]
fn status_tells_each_unit_the_questions_the_landings_and_what_is_to_come() {
    let scratch = six();
    assert_eq!(scratch.start().output().unwrap().status.code(), Some(8));
    let status = json(&scratch, &["status", "--json"]);
    let run = &status["runs"][0];
    let (four, three, six) = (unit(run, "four"), unit(run, "three"), unit(run, "six"));
    assert_eq!((&four["status"], &four["stage"]), (&"under way".into(), &"approve".into()));
    assert_eq!(
        (&three["attempts"], &four["attempts"], &six["attempts"]),
        (&2.into(), &1.into(), &0.into())
    );
    assert_eq!((&three["cost_usd"], &six["cost_usd"]), (&0.021.into(), &0.0.into()), "{run:#}");
    assert!(three["elapsed_ms"].as_u64() >= three["busy_ms"].as_u64(), "{three}");
    assert!(three["lane"].is_u64() && six["lane"].is_null(), "{run:#}");
    assert_eq!(three["commit"].as_str().map(str::len), Some(40), "{three}");
    assert_eq!(
        (&run["under_way"], &run["waiting"], &run["lanes"]),
        (&1.into(), &1.into(), &3.into())
    );
    let question = &run["questions"][0];
    assert_eq!((&question["unit"], &question["question"]), (&"four".into(), &"Land four?".into()));
    assert_eq!(run["landings"].as_array().unwrap().len(), 4);
    let forecast = &run["forecast"];
    assert_eq!((&forecast["from_units"], &forecast["cap_usd"]), (&4.into(), &20.0.into()));
    let spent = run["cost_usd"].as_f64();
    assert!(forecast["cost_usd"].as_f64() > spent && forecast["left_ms"].is_u64(), "{forecast}");
    let told = said(&scratch, &["status"]);
    assert!(told.contains("about 0.08 dollars in the end"), "{told}");
    assert!(told.contains("four at approve — Four · "), "{told}");
}

#[test]
fn a_report_has_a_picture_of_the_lanes_and_says_what_was_sent_back_and_why() {
    let scratch = done();
    let text = said(&scratch, &["report"]);
    for line in [
        "| three | do | 2 | prove: fail; failed: test |",
        "| worker | 7 | ",
        "| acted | 13 | ",
        "| three | check test | `sh test.sh` | pass | `",
        "| three | review: reviewer | acted | clear |",
        "four: approve: yes, by ada",
        "## Landed",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let wrote = said(&scratch, &["report", "small-1", "--html", "report.html"]);
    assert_eq!(wrote, "wrote report.html\n");
    let html = fs::read_to_string(scratch.repo().join("report.html")).unwrap();
    let seen = well_formed(&html);
    assert!(!seen.contains(&"script".to_owned()), "{seen:?}");
    for tag in ["svg", "rect", "title", "table", "details"] {
        assert!(seen.iter().any(|it| it == tag), "{tag}: {html}");
    }
    for lane in ["the run", "lane 0", "lane 1", "lane 2"] {
        assert!(html.contains(&format!(">{lane}</text>")), "{lane}: {html}");
    }
    assert!(html.contains("&lt;script&gt;alert(&#39;5&#39;)&lt;/script&gt;"), "{html}");
    assert!(!html.contains(['\u{202e}', '\u{1b}']), "{html}");
    // Nothing is fetched from anywhere.
    let elsewhere = html.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
    assert!(!elsewhere.contains("http:") && !elsewhere.contains("src="), "{html}");
    assert!(!elsewhere.contains("href"), "{html}");
    assert_eq!(said(&scratch, &["report", "--html"]), html, "without a name it is printed");
    let report = json(&scratch, &["report", "--json"]);
    assert_eq!(unit(&report, "three")["retries"][0]["why"], "prove: fail; failed: test");
    assert_eq!(report["landed"].as_array().unwrap().len(), 6);
}

#[test]
fn what_another_run_will_take_is_told_from_earlier_ones() {
    let scratch = done();
    let told = said(&scratch, &["cost", "--units", "12"]);
    assert!(
        told.starts_with("about 0.15 dollars and ") && told.contains("12 tasks, 3 at a time"),
        "{told}"
    );
    let forecast = json(&scratch, &["cost", "--units", "12", "--json"]);
    assert_eq!((&forecast["runs"], &forecast["likely"]["micros"]), (&1.into(), &152_000.into()));
}

#[test]
fn a_plan_says_what_it_will_probably_take() {
    let features = r#"{"features": [
        {"id": "F-1", "title": "One", "claims": ["VAL-A-001"], "status": "pending"},
        {"id": "F-2", "title": "Two", "claims": ["VAL-A-002"], "status": "pending"},
        {"id": "F-3", "title": "Three", "claims": ["VAL-A-003"], "status": "passed"}]}"#;
    let contract = "- VAL-A-001: it is there\n  - command: `true`\n- VAL-A-002: it too\n  - command: `true`\n\
                    - VAL-A-003: and it\n  - command: `true`\n";
    let files = [
        (".harness/features.json", features),
        (".harness/validation-contract.md", contract),
        ("SPEC.md", "# Spec\n\nOne, two, three.\n"),
    ];
    let scratch = Scratch::with(&files);
    let told = said(&scratch, &["mission", "--plan-only", "--lanes", "2"]);
    assert!(told.contains("6 to 14 invocations of agents: 2 features, 2 at a time"), "{told}");
    assert!(told.contains("for each, 20.00 dollars and 8h00m in all"), "{told}");
}

#[test]
fn at_a_terminal_every_lane_has_its_line_and_at_the_end_the_report_is_named() {
    let scratch = six();
    let mut sitting = Sitting::at(&scratch);
    let seen = sitting.wait_for(1).to_owned();
    assert!(seen.contains("one · One"), "{seen}");
    assert!(seen.contains(" of 6 tasks done · "), "{seen}");
    assert!(
        !seen.lines().any(|line| line.starts_with("4 of 6 tasks done")),
        "no line besides: {seen}"
    );
    sitting.types("yes\n");
    sitting.wait_for(2);
    sitting.types("yes\n");
    let seen = sitting.rest();
    assert!(seen.contains("windlass report small-1 --html report.html"), "{seen}");
    assert_eq!(scratch.landed().len(), 6);
}

/// Goes through a page, and says which elements it has. Panics if one is not closed where it should be.
fn well_formed(html: &str) -> Vec<String> {
    let mut open: Vec<String> = Vec::new();
    let mut seen = Vec::new();
    let mut rest = html.strip_prefix("<!doctype html>").unwrap();
    while let Some(at) = rest.find('<') {
        let end = at + rest[at..].find('>').expect("a tag ends");
        let (tag, whole) = (&rest[at + 1..end], &rest[at..=end]);
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap().to_owned();
        assert!(name.chars().all(char::is_alphanumeric), "{whole}");
        if tag.starts_with('/') {
            assert_eq!(open.pop().as_ref(), Some(&name), "{whole}");
        } else if !tag.ends_with('/') && name != "meta" {
            open.push(name.clone());
        }
        // An attribute that would run something.
        assert!(!tag.split(' ').skip(1).any(|it| it.starts_with("on")), "{whole}");
        seen.push(name);
        rest = &rest[end + 1..];
    }
    assert_eq!(open, [""; 0]);
    seen
}
