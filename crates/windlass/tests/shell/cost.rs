//! What runs have cost, and what for.

use serde_json::Value;

use crate::scratch::{SCRIPT, Scratch};

fn said(scratch: &Scratch, args: &[&str]) -> String {
    let output = scratch.windlass(args).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn what_a_run_cost_is_told_by_unit_role_agent_and_model() {
    let scratch = Scratch::new();
    assert_eq!(scratch.start().output().unwrap().status.code(), Some(0));
    let json: Value = serde_json::from_str(&said(&scratch, &["cost", "--json"])).unwrap();
    let total = scratch.status()["runs"][0]["cost_usd"].as_f64().unwrap();
    assert_eq!(json["total"]["cost_micros"].as_f64().unwrap() / 1e6, total, "all of it");
    assert_eq!(json["total"]["invocations"], 4);
    let of = |by: &str, key: &str| {
        let rows = json["by"][by].as_array().unwrap();
        let row = rows.iter().find(|row| row[by] == key);
        row.unwrap_or_else(|| panic!("{by} {key}: {json:#}"))["cost_micros"].as_u64().unwrap()
    };
    assert_eq!((of("role", "worker"), of("role", "reviewer")), (20_000, 2_000));
    assert_eq!((of("unit", "hello"), of("unit", "bye")), (11_000, 11_000));
    assert_eq!((of("agent", "acted"), of("model", "(not said)")), (22_000, 22_000));
    assert_eq!(json["forecasts"], Value::Array(Vec::new()), "it is over");
    let told = said(&scratch, &["cost", "--by", "role"]);
    assert!(told.contains("worker") && told.contains("0.02"), "{told}");
    assert!(!told.contains("hello"), "{told}");
    let csv = said(&scratch, &["cost", "--all", "--csv"]);
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 5, "{csv}");
    assert!(lines[0].starts_with("run,unit,role,agent,model,"), "{csv}");
    assert!(lines[1..].iter().all(|line| line.split(',').count() == 14), "{csv}");
}

#[test]
fn what_is_still_to_come_is_told_of_a_run_that_goes_on() {
    let tasks = "[[task]]\nid = 'hello'\ntitle = 'Say hello'\ncareful = false\n\
                 [[task]]\nid = 'bye'\ntitle = 'Say goodbye'\ncareful = true\n";
    let scratch = Scratch::with(&[("tasks.toml", tasks)]);
    let output = scratch.start().output().unwrap();
    assert_eq!(output.status.code(), Some(8), "a question is open");
    let told = said(&scratch, &["cost"]);
    assert!(told.contains("nobody knows before two are done; 1 left"), "{told}");
    let again = "[[answer]]\nrole = 'worker'\nunit = 'again'\nwrite = { 'again.txt' = 'again' }\n\
                 say = { verdict = 'done', cost_usd = 0.01, tokens = 10 }\n";
    let script = format!("{again}{SCRIPT}");
    let tasks = format!("{tasks}[[task]]\nid = 'again'\ncareful = false\n");
    let scratch = Scratch::with(&[("tasks.toml", &tasks), ("script.toml", &script)]);
    assert_eq!(scratch.start().output().unwrap().status.code(), Some(8), "a question is open");
    let told = said(&scratch, &["cost"]);
    // Two of three are done for 1.1 cents each, and the third has cost as much already.
    assert!(told.contains("about 0.03 dollars in the end and "), "{told}");
    assert!(told.contains(" left: 1 left at 0.01 each"), "{told}");
    assert!(told.contains("it may cost 20.00 at most"), "{told}");
}
