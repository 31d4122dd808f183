//! Tasks that are seen in a browser: by the contract's own steps, and by a role that is shown what the browser saw. What is found
//! there only makes a review worse.

use serde_json::{Value, json};

use crate::work::rig::{CONFIG, CONTRACTS, Rig, reviews, says, table, who};

/// A task whose definition of done is about something that is seen.
fn plans() -> String {
    table(&["| 1 | Write 1 | the button sells | - | cc:TODO |\n".to_owned()])
}

/// The result of the review as it is kept.
#[track_caller]
fn result(rig: &Rig) -> Value {
    let text = rig.file(".claude/state/review-results/1.review-result.json");
    serde_json::from_str(&text.expect("a result")).unwrap()
}

/// A role that tries it out in a browser, at an attempt or at any.
fn tries(attempt: u32, verdict: &str, findings: &str) -> String {
    let say = format!("verdict = '{verdict}', summary = 'tried it', findings = [{findings}]");
    says(&who("browser-reviewer", "1", attempt), &say, &[])
}

#[test]
fn whoever_tries_it_out_never_makes_a_review_better() {
    // Sent back by who has read it: no browser is opened before that is mended.
    let script = reviews("1", 1, "request_changes", &["major"]) + &tries(0, "approve", "");
    let mut rig = Rig::with(&plans(), &script, &[]);
    rig.ends(&["1"], 0);
    let asked = rig.scratch.notes("asked");
    let judges = ["work-reviewer", "browser-reviewer", "worker"];
    let roles = asked.iter().map(|it| it["role"].as_str().unwrap());
    let roles: Vec<&str> = roles.filter(|role| judges.contains(role)).collect();
    assert_eq!(roles, ["worker", "work-reviewer", "worker", "work-reviewer", "browser-reviewer"]);
    // Liked by who has read it, and by who has tried it but for something that nobody may overlook.
    let finding = "{ severity = 'critical', title = 'It sells twice', rationale = 'pressed it' }";
    let script = tries(1, "approve", finding) + &tries(0, "approve", "");
    let mut rig = Rig::with(&plans(), &script, &[]);
    rig.ends(&["1"], 0);
    assert_eq!(rig.came("browser-reviewer", "1"), ["request_changes", "approve"]);
    assert_eq!(rig.came("work-reviewer", "1"), ["approve"], "nothing else has changed");
    let told = rig.shown("worker", "1", "findings");
    assert!(told.len() == 1 && told[0].contains("It sells twice"), "{told:?}");
    assert_eq!(
        (&result(&rig)["verdict"], &result(&rig)["browser"]["verdict"]),
        (&json!("APPROVE"), &json!("APPROVE"))
    );
}

/// A contract that a person has written, with this way of driving a browser.
fn written(mode: &str, route: &str) -> Rig {
    let rig = Rig::with(&plans(), &tries(0, "approve", ""), &[]);
    let flow = json!({ "description": "press it", "steps": if mode == "scripted" { "open /" } else { "" } });
    let contract = json!({
        "schema_version": "sprint-contract.v1", "task": { "id": "1" },
        "contract": { "checks": ["the button sells"], "browser_validation": [flow] },
        "review": { "reviewer_profile": "browser", "browser_mode": mode, "route": route },
    });
    rig.write(&format!("{CONTRACTS}/1.sprint-contract.json"), &contract.to_string());
    rig
}

#[test]
fn a_person_says_by_which_way_a_browser_is_driven() {
    for route in ["playwright", "agent-browser", "chrome-devtools"] {
        let mut rig = written("exploratory", route);
        rig.ends(&["1"], 0);
        assert_eq!(rig.contract("1")["review"]["route"], route);
        let told = rig.shown("browser-reviewer", "1", "contract");
        let way = format!("Review: browser, exploratory, {route}");
        assert!(told.len() == 1 && told[0].contains(&way), "{told:?}");
        assert_eq!(rig.came("browser-reviewer", "1"), ["approve"]);
    }
    for (mode, route, why) in [
        (
            "exploratory",
            "selenium",
            "expected one of `playwright`, `agent-browser`, `chrome-devtools`",
        ),
        ("by hand", "playwright", "expected `scripted` or `exploratory`"),
        ("scripted", "playwright", "by way of chrome-devtools, and its route is playwright"),
    ] {
        let mut rig = written(mode, route);
        let seen = rig.ends(&["1"], 1);
        assert!(seen.contains(why), "{mode}, {route}: {seen}");
        assert_eq!(rig.came("worker", "1"), [""; 0]);
    }
}

/// With a real Chromium.
mod slow {
    use super::*;

    const SERVE: &str = "serve = 'exec python3 -m http.server --bind 127.0.0.1 $PORT'\n";

    /// A page with a button; what that does is another matter.
    fn page(heading: &str, does: &str) -> String {
        format!(
            "<html lang=en><title>Shop</title><h1>{heading}</h1><button id=buy>Buy</button><p id=out></p>\
             <script>buy.onclick = () => {{ {does} }};</script></html>\n"
        )
    }

    const SELLS: &str = "out.textContent = \"Sold\"";
    const DEAD: &str = "console.error(\"nothing is sold\")";

    /// Whoever looks at the contract adds what is to be tried out.
    fn adds(title: &str, steps: &str) -> String {
        let say = format!(
            "verdict = 'approved', summary = 'it can be tried', flows = [{{ id = 'f', title = '{title}', steps = '{steps}' }}]"
        );
        says(&who("contract-reviewer", "1", 0), &say, &[])
    }

    /// Whoever mends something does so in vain: once the page looks other than before, once something else has changed.
    fn in_vain() -> String {
        let mends = |attempt: u32, file: &str, text: &str| {
            let who = format!("{}\nstage = 'fix'", who("worker", "1", attempt));
            says(&who, "verdict = 'done', summary = 'tried to'", &[(file, text)])
        };
        mends(1, "shop.html", &page("A shop", DEAD)) + &mends(2, "notes.txt", "tried\n")
    }

    fn rig(config: &str, script: &str, does: &str) -> Rig {
        let config = format!("{CONFIG}{SERVE}{config}");
        let config = match config.contains("[agents.tries]") {
            true => config.replace(
                "[roles]\n",
                "[roles]\nbrowser-reviewer = 'tries'\nwork-reviewer = 'acted'\n",
            ),
            false => config,
        };
        let page = page("Shop", does);
        let tries = ("tries.py", TRIES);
        let files = [("windlass.toml", config.as_str()), ("shop.html", page.as_str()), tries];
        Rig::with(&plans(), script, &files)
    }

    /// Two repositories that differ in the page alone: one lands, of the other a person is asked.
    #[track_caller]
    fn lands_or_not(config: &str, script: &str) -> (Rig, Rig) {
        let mut sells = rig(config, script, SELLS);
        sells.ends(&["1"], 0);
        assert_eq!(sells.came("worker", "1"), ["done"]);
        assert_eq!(result(&sells)["verdict"], "APPROVE");
        sells.only_marks_changed(&["1"]);
        let mut dead = rig(config, script, DEAD);
        dead.ends(&["1"], 8);
        assert_eq!(dead.came("worker", "1"), ["done"; 4], "{}", dead.told);
        assert_eq!(dead.asked().unwrap().1, "review_stuck");
        assert_eq!(dead.subjects(), [""; 0]);
        assert_eq!(result(&dead)["verdict"], "REQUEST_CHANGES");
        assert_eq!((sells.scratch.processes(), dead.scratch.processes()), (vec![], vec![]));
        (sells, dead)
    }

    /// What those who mend it are shown of the browser, in order.
    fn shown(rig: &Rig) -> Vec<String> {
        rig.shown("worker", "1", "browser")
    }

    #[test]
    fn the_page_alone_decides_where_the_contract_has_the_steps() {
        let steps = "open /shop.html; shot before; click \"Buy\"; see \"Sold\"; shot sold";
        let script = adds("the button sells", steps) + &in_vain();
        let (sells, dead) = lands_or_not("", &script);
        for rig in [&sells, &dead] {
            assert_eq!(rig.contract("1")["review"]["browser_mode"], "scripted");
            assert_eq!(rig.came("browser-reviewer", "1"), [""; 0], "Windlass takes the steps");
        }
        assert_eq!(dead.came("work-reviewer", "1"), [""; 0], "nobody is paid to read it");
        let result = result(&dead);
        assert_eq!(result["failed"][0]["check"], "contract", "{result:#}");
        let shown = shown(&dead);
        assert_eq!(shown.len(), 3, "{}", dead.told);
        for text in &shown {
            assert!(text.contains("see \"Sold\" — FAILED: it is not to be seen"), "{text}");
            assert!(text.contains("the page reported: nothing is sold"), "{text}");
        }
        let pictures: Vec<Vec<&str>> = shown.iter().map(|text| files(text)).collect();
        assert_eq!([pictures[0].len(), pictures[1].len(), pictures[2].len()], [2, 4, 4]);
        let of_before =
            |at: usize| pictures[at].iter().skip(1).step_by(2).copied().collect::<Vec<_>>();
        assert_eq!(of_before(1), pictures[0], "{}", shown[1]);
        assert!(!shown[0].contains("the round before"));
        assert_eq!(shown[1].matches("changed since the round before: ").count(), 2, "{}", shown[1]);
        assert_eq!(
            shown[2].matches("the same as in the round before: ").count(),
            2,
            "{}",
            shown[2]
        );
        for file in pictures.concat() {
            assert!(std::fs::read(file).unwrap().starts_with(b"\x89PNG"), "{file} is kept");
        }
    }

    /// The pictures that are listed: each, and that of the round before.
    fn files(text: &str) -> Vec<&str> {
        let paths = text.lines().filter_map(|line| Some(&line[line.find(": /")? + 2..]));
        paths.filter(|file| file.ends_with(".png")).collect()
    }

    /// Looks at what the browser saw, and at its picture; what the page complained about is a major finding.
    const TRIES: &str = r##"import json, re, sys

told = sys.stdin.read()
browser = told.split("\n## browser\n")[1].split("\n## ")[0]
picture = re.search(r"A picture of VAL-FLOW-002, after: (.*)", browser).group(1)
assert open(picture, "rb").read(4) == b"\x89PNG"
wrong = [line.strip() for line in browser.splitlines() if "the page reported" in line]
findings = [{"id": str(at), "severity": "major", "title": one, "rationale": "pressed Buy"} for at, one in enumerate(wrong)]
print(json.dumps({"verdict": "approve", "summary": "looked at it", "findings": findings}))
"##;

    #[test]
    fn the_page_alone_decides_where_a_role_looks_at_what_the_browser_saw() {
        let steps = "open /shop.html; click \"Buy\"; shot after";
        let script = adds("a visit", steps) + &in_vain();
        let config =
            "[agents.tries]\nkind = 'command'\ncommand = ['python3', 'tries.py']\ncost = 'none'\n";
        let (sells, dead) = lands_or_not(config, &script);
        for rig in [&sells, &dead] {
            assert_eq!(rig.contract("1")["review"]["browser_mode"], "exploratory");
        }
        assert_eq!(sells.came("browser-reviewer", "1"), ["approve"]);
        assert_eq!(dead.came("browser-reviewer", "1"), ["request_changes"; 4]);
        // Who has only read it likes it, and reads it again whenever it has changed.
        assert_eq!(dead.came("work-reviewer", "1"), ["approve"; 3]);
        let result = result(&dead);
        assert_eq!(result["browser"]["verdict"], "REQUEST_CHANGES", "{result:#}");
        assert_eq!(result["browser"]["findings"][0]["title"], "the page reported: nothing is sold");
        assert_eq!(result["counts"]["major"], 0, "nothing in it but what the browser found");
        let told = dead.shown("worker", "1", "findings");
        assert!(
            told.iter().any(|it| it.contains("the page reported: nothing is sold")),
            "{told:?}"
        );
    }
}
