//! The model of everybody in the mission: what each role does, told apart by what it is asked, and made out of that where
//! it can be known from nowhere else.

use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use windlass_testkit::{Api, Call, Complaint, Reply, Request, Turn};

use crate::actor::Wanted;
use crate::meeting::Meeting;

/// What a worker asks, and what the architect decides: only from there the worker can know it.
pub const QUESTION: &str = "Metres or feet?";
pub const DECISION: &str = "Measure in <furlongs>: the spec is a farmer's.";

/// What two features note, word for word.
pub const TRICK: &str = "TRICK: Read test.sh before you write.";

/// What a validator finds besides.
pub const ISSUE: &str = "list.txt has no heading";

/// What the curator makes of it all.
pub const SUMMARY: &str = "- every file ends in a newline";

/// For so long the first vendor serves nobody.
const LIMITED_S: u64 = 5;

/// What the plan is about: what depends on what, and which files each says that it will change. Left and right do not say that they
/// write to the same file.
const FEATURES: [(&str, &[&str], &[&str]); 8] = [
    ("F-LEFT", &[], &["left"]),
    ("F-RIGHT", &[], &["right"]),
    ("F-GREET", &[], &["greet.txt"]),
    ("F-OVER-1", &[], &["over.txt"]),
    ("F-OVER-2", &[], &["over.txt"]),
    ("F-UNIT", &["F-LEFT"], &["unit.txt"]),
    ("F-LIST", &["F-RIGHT"], &["list.txt"]),
    ("F-LAST", &["F-UNIT", "F-LIST", "F-OVER-2"], &["last.txt"]),
];

/// The place in it of the first of two that say that they change the same file.
pub const OVER: u64 = 3;

/// How each is checked.
const CHECKED: [(&str, &str); 8] = [
    ("F-LEFT", "command: `grep -qx left shared.txt`"),
    ("F-RIGHT", "command: `grep -qx right shared.txt`"),
    ("F-GREET", "file: greet.txt contains \"hello, \""),
    ("F-OVER-1", "command: `grep -qx F-OVER-1 over.txt`"),
    ("F-OVER-2", "command: `grep -qx F-OVER-2 over.txt`"),
    ("F-UNIT", "command: `grep -qx furlongs unit.txt`"),
    ("F-LIST", "review: there is a list in list.txt"),
    ("F-LAST", "command: `test -e unit.txt -a -e list.txt -a -e over.txt`"),
];

/// A feature of the plan.
struct Planned {
    id: String,
    depends: Vec<String>,
    files: Vec<String>,
    checked: String,
}

/// Those that the mission is about, and as many more as it is to have: each has a file of its own, every third waits for one
/// before it, and every fourth is bad at first.
fn plan(features: usize) -> Vec<Planned> {
    let named = FEATURES.iter().zip(&CHECKED).map(|((id, depends, files), (_, checked))| Planned {
        id: (*id).to_owned(),
        depends: depends.iter().map(|it| (*it).to_owned()).collect(),
        files: files.iter().map(|it| (*it).to_owned()).collect(),
        checked: (*checked).to_owned(),
    });
    let more = (1..=features.saturating_sub(FEATURES.len())).map(|n| Planned {
        id: more(n),
        depends: if n > 3 && n.is_multiple_of(3) { vec![more(n - 3)] } else { vec![] },
        files: vec![format!("more-{n}.txt")],
        checked: format!("command: `grep -qx good more-{n}.txt`"),
    });
    named.chain(more).collect()
}

fn more(n: usize) -> String {
    format!("F-MORE-{n}")
}

pub fn ids(features: usize) -> Vec<String> {
    plan(features).into_iter().map(|it| it.id).collect()
}

/// The assertion of a feature.
pub fn val(id: &str) -> String {
    format!("VAL-{}", id.trim_start_matches("F-"))
}

fn queue(plan: &[Planned]) -> String {
    let feature = |Planned { id, depends, files, .. }: &Planned| {
        json!({
            "id": id, "title": format!("Build {id}"), "claims": [val(id)], "status": "pending",
            "attempts": 0, "depends": depends, "files": files, "area": "all",
        })
    };
    let features: Vec<Value> = plan.iter().map(feature).collect();
    serde_json::to_string_pretty(&json!({ "features": features })).unwrap()
}

fn contract(plan: &[Planned]) -> String {
    let line = |Planned { id, checked, .. }: &Planned| {
        format!("- {}: {id} is there\n  - {checked}\n", val(id))
    };
    plan.iter().map(line).collect()
}

/// What it has to remember.
#[derive(Default)]
pub struct Brain {
    /// So many features it plans.
    features: usize,
    meeting: Meeting,
    /// Until when the first vendor's agents are served nothing, once that has begun.
    limit_s: Mutex<Option<u64>>,
}

impl Brain {
    pub fn planning(features: usize) -> Brain {
        Brain { features, ..Brain::default() }
    }

    pub fn says(&self, request: &Request) -> Reply {
        if request.is_side() {
            return Reply::text("A title");
        }
        let wanted = Wanted::of(request);
        if let Some(reset) = self.limited(request, &wanted) {
            let limit = Complaint::RateLimited { retry_after_s: None, reset_unix_s: Some(reset) };
            return Reply::complaint(limit);
        }
        let first = request.answers() == 0;
        match wanted.role.as_str() {
            "mission-planner" if first => planned(request, &plan(self.features)),
            "mission-planner" => answer(&wanted, "planned"),
            "plan-reviewer" => answer(&wanted, "accept"),
            "mission-worker" => self.works(request, &wanted),
            "mission-architect" => with(&wanted, "resolved", &json!({ "summary": DECISION })),
            "conflict-resolver" if first => Reply::shell(
                "grep -v '^[<=>|]' shared.txt > all; mv all shared.txt; cat shared.txt",
            ),
            "conflict-resolver" => answer(&wanted, "resolved"),
            "validator" if first => Reply::shell("sh test.sh && echo 'all is well'; ls"),
            "validator" => judged(request, &wanted),
            "crosscheck" => answer(&wanted, "pass"),
            "documenter" if first => Reply::write("GUIDE.md", "# Guide\n\nAll of it is there.\n"),
            "documenter" => answer(&wanted, "written"),
            "curator" => curated(&wanted, self.features),
            role => Reply::text(format!("nothing is written for {role}")),
        }
    }

    /// When the first vendor serves again, if it does not now. That begins late in the mission.
    fn limited(&self, request: &Request, wanted: &Wanted) -> Option<u64> {
        if request.api != Api::Messages {
            return None;
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        let mut limit = self.limit_s.lock().unwrap_or_else(PoisonError::into_inner);
        if limit.is_none() && wanted.unit == "F-FIX-LIST-1" {
            *limit = Some(now + LIMITED_S);
        }
        limit.filter(|reset| now < *reset)
    }

    fn works(&self, request: &Request, wanted: &Wanted) -> Reply {
        let text = request.text();
        let told = |before: &str| {
            let (_, after) = text.split_once(before)?;
            Some(after.split_once('>')?.0.to_owned())
        };
        let decided = told("Measure in <");
        if request.answers() > 0 {
            return match (wanted.unit.as_str(), &decided) {
                ("F-UNIT", None) => with(wanted, "ambiguous", &json!({ "summary": QUESTION })),
                ("F-LEFT" | "F-RIGHT", _) => with(wanted, "built", &json!({ "memory": [TRICK] })),
                _ => answer(wanted, "built"),
            };
        }
        let command = match wanted.unit.as_str() {
            // Whoever takes over from another finds what that has done.
            "F-LEFT" | "F-RIGHT" => {
                self.meeting.wait();
                let side = wanted.unit.trim_start_matches("F-").to_lowercase();
                format!("grep -qx {side} shared.txt || echo {side} >> shared.txt")
            }
            "F-GREET" => {
                let wish = told("greet.txt has to say <").unwrap_or("hello, you".into());
                format!("echo '{wish}' > greet.txt")
            }
            "F-UNIT" => match decided {
                Some(unit) => format!("echo '{unit}' > unit.txt"),
                None => "ls".to_owned(),
            },
            "F-LIST" => "printf 'one\\ntwo\\n' > list.txt".to_owned(),
            "F-FIX-LIST-1" if text.contains(ISSUE) => {
                "grep -q '^#' list.txt || sed -i '1i # A list' list.txt".to_owned()
            }
            "F-OVER-1" | "F-OVER-2" => {
                format!("grep -qsx {0} over.txt || echo {0} >> over.txt", wanted.unit)
            }
            "F-LAST" => "echo last > last.txt".to_owned(),
            unit => match unit.strip_prefix("F-MORE-").map(|n| (n, n.parse::<usize>())) {
                Some((n, Ok(nth))) => {
                    let bad =
                        nth.is_multiple_of(4) && !text.contains(&format!("more-{n}.txt is bad"));
                    format!("echo {} > more-{n}.txt", if bad { "bad" } else { "good" })
                }
                _ => format!("echo nothing is written for '{unit}'"),
            },
        };
        Reply::shell(command)
    }
}

/// What a role notes whenever it answers.
pub fn note(role: &str, unit: &str) -> String {
    format!("{role} was at {}", if unit.is_empty() { "it all" } else { unit })
}

fn answer(wanted: &Wanted, verdict: &str) -> Reply {
    with(wanted, verdict, &json!({}))
}

/// An answer with more in it, and with a note besides those that are in that.
fn with(wanted: &Wanted, verdict: &str, more: &Value) -> Reply {
    let mut all = json!({ "verdict": verdict, "summary": format!("{}: {verdict}.", wanted.role) });
    for (name, value) in more.as_object().into_iter().flatten() {
        all[name] = value.clone();
    }
    let mut notes = vec![json!(note(&wanted.role, &wanted.unit))];
    notes.extend(all["memory"].as_array().into_iter().flatten().cloned());
    all["memory"] = json!(notes);
    Reply::structured(all)
}

/// Both files at once.
fn planned(request: &Request, plan: &[Planned]) -> Reply {
    let promised = |name: &str| request.promised(name).unwrap_or_else(|| format!("no {name}"));
    let turn = Turn::new().text("I plan.");
    let turn = turn.call(Call::write(promised("features.json"), queue(plan)));
    turn.call(Call::write(promised("validation-contract.md"), contract(plan))).into()
}

/// Finds that each claim holds that it is asked about, if the tests that it ran said so, and once something else.
fn judged(request: &Request, wanted: &Wanted) -> Reply {
    let well = request.tool_results().iter().any(|text| text.contains("all is well"));
    let holds = if well { "yes" } else { "no" };
    let text = request.text();
    let section = text.split_once("\n## claims\n").map_or("", |(_, after)| after);
    let section = section.split("\n## ").next().unwrap_or_default();
    let claim = |line: &str| {
        let claim = line.strip_prefix("- ")?;
        let id = match claim.split_once(": ") {
            Some((id, _)) if id.starts_with("VAL-") => id,
            _ => claim,
        };
        Some(json!({ "id": id, "title": claim, "holds": holds, "evidence": "sh test.sh" }))
    };
    let claims: Vec<Value> = section.lines().filter_map(claim).collect();
    let issue = json!([{ "id": "heading", "title": ISSUE, "detail": "see its first line" }]);
    match (well, wanted.unit.as_str()) {
        (false, _) => with(wanted, "fail", &json!({ "claims": claims })),
        (true, "F-LIST") => with(wanted, "issues", &json!({ "claims": claims, "issues": issue })),
        (true, _) => with(wanted, "pass", &json!({ "claims": claims })),
    }
}

fn curated(wanted: &Wanted, features: usize) -> Reply {
    let trick = TRICK.trim_start_matches("TRICK: ");
    let promote =
        json!([{ "role": "mission-worker", "text": trick, "features": ["F-LEFT", "F-RIGHT"] }]);
    let more = json!({ "summary": SUMMARY, "long": format!("{features} features were planned."), "promote": promote });
    with(wanted, "curated", &more)
}
