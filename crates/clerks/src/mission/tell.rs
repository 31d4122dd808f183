//! What a mission tells people: checkpoints, escalations, its state, its outcome. Each may be done twice and is then done once.

use std::fmt::Write as _;

use windlass_core::value::Value;
use windlass_engine::asserted;
use windlass_engine::clerk::{Situation, Told};
use windlass_engine::date::instant;
use windlass_engine::shop::lock;
use windlass_sources::features::{Feature, Queue, Status};
use windlass_sources::slug;
use windlass_words::Words;

use super::Mission;
use super::session::Session;
use super::show;

/// Where the reason of an escalation is.
pub const ESCALATION: &str = ".harness/escalation.md";

/// So many features are named where there may be thousands.
pub(super) const NAMED: usize = 100;

impl Mission {
    pub(super) fn told(&self, name: &str, at: &Situation) -> Told {
        let flaws = if name == "escalation" { self.flaws() } else { Vec::new() };
        let words = lock(&self.spoken).words();
        let session = self.session();
        match name {
            "checkpoint-file" => checkpoint(&session, at, words),
            "escalation" => escalation(&session, &flaws, words),
            "broken-claims" => Told { text: broken(&session, words), ..Told::default() },
            "cost-check" if session.is_wide => Told::default(),
            "cost-check" => Told { text: spent(&session, words), ..Told::default() },
            "mission-summary" => Told { text: summary(&session, words), ..Told::default() },
            "outlook" => {
                let mut text = outlook(&session, words);
                if let Some(said) = self.no_pages(session.contract(), words) {
                    let _ = write!(text, "\n{said}");
                }
                Told { text, ..Told::default() }
            }
            // Snapshots and logs are written whenever something has happened, not only now.
            _ => Told::default(),
        }
    }
}

/// A checkpoint: what it is about, and how it is granted.
fn checkpoint(session: &Session, at: &Situation, words: Words) -> Told {
    let with = |name: &str| match at.with.get(name) {
        Some(Value::Text(text)) => Some(text.to_string()),
        _ => None,
    };
    let name = with("name").unwrap_or_else(|| at.stage.clone());
    // Where it has no name of its own, it is called by when it fires.
    let trigger = with("trigger").unwrap_or_else(|| name.clone());
    // What comes between features is about the one that has just settled.
    let settled = session.settled.as_deref().filter(|_| trigger == "post-feature");
    let unit = at.unit.as_ref().map(|(id, _)| id.as_str()).or(settled);
    let title = unit.and_then(|id| session.feature(id)).map_or(String::new(), Feature::line);
    let about = unit.map_or(String::new(), |id| format!("{id}: {title}\n\n"));
    let mut text = format!("# Checkpoint {name}\n\nAt {}.\n\n{about}", instant(session.now_ms));
    if let Some((came, said)) = session.review.as_ref().filter(|_| trigger == "post-planner") {
        let _ = writeln!(text, "The plan's reviewer: {came}. {said}\n");
    }
    if let Some(id) = unit {
        text.push_str(&show::evidence(session, id).unwrap_or_default());
    }
    let _ = writeln!(text, "\n{}\n", counts(session, Words::default()));
    text.push_str("`windlass gates` shows the question, `windlass answer` answers it, `windlass resume` goes on.\n");
    // Several features may be at the same checkpoint at once, each with a file of its own.
    let of = unit.map_or(String::new(), |id| format!("-{id}"));
    let file = match slug(&name) {
        file if file.is_empty() => trigger,
        file => file,
    };
    let path = format!(".harness/checkpoints/{file}{of}.md");
    let said = words.say("missionline-checkpoint", &[("name", &name), ("path", &path)]);
    Told { text: said, papers: [(path, text)].into(), ..Told::default() }
}

/// Why nothing else can run, feature by feature, and what to do about it.
fn escalation(session: &Session, flaws: &[String], words: Words) -> Told {
    let mut text = format!("# Escalation\n\nAt {}.\n", instant(session.now_ms));
    let whole = session.whole();
    let count = |status: Status| whole.features.iter().filter(|it| it.status == status).count();
    let said = match plan_refused(session, flaws) {
        Some((said, why)) => {
            text.push_str(&why);
            text.push_str(
                "\n## What next\n\nChange the spec, or write `.harness/features.json` and `.harness/validation-contract.md` yourself (they \
                 are taken as they are), then `windlass mission`. To have them planned anew, remove the two files first.\n",
            );
            words.say(said, &[("path", ESCALATION)])
        }
        None => {
            if !session.wrong.is_empty() {
                let wrong: String = session.wrong.iter().map(|it| format!("- {it}\n")).collect();
                let _ = write!(text, "\n## What has landed does not hold together\n\n{wrong}");
            }
            stuck(session, &whole, &mut text);
            text.push_str("\n## What next\n\n");
            text.push_str(&next(session, &whole));
            let (stuck, blocked) = (count(Status::Failed), count(Status::Blocked));
            let of = [("stuck", &*stuck.to_string()), ("blocked", &blocked.to_string())];
            match stuck + blocked {
                0 => words.say("missionline-not-together", &[("path", ESCALATION)]),
                _ => words.say("missionline-escalated", &[of[0], of[1], ("path", ESCALATION)]),
            }
        }
    };
    Told { text: said, papers: [(ESCALATION.to_owned(), text)].into(), ..Told::default() }
}

/// What a person may do about it, and what `windlass mission` does then.
fn next(session: &Session, whole: &Queue) -> String {
    let open = [Status::Failed, Status::Blocked];
    let mut open = whole.features.iter().filter(|it| open.contains(&it.status)).peekable();
    if open.peek().is_none() {
        return "Every feature has passed or was left out, and what they are together does not hold. Mend that and commit it, or add a \
                feature that does (`windlass mission add`); then `windlass mission` goes to the final checks again.\n"
            .to_owned();
    }
    let mut text = String::new();
    if open.any(|it| session.built(&it.id).is_some()) {
        text.push_str(
            "What was built of a stuck feature is kept, and the command that stands with it writes it into a new \
             directory; `windlass lanes list` names it, too. ",
        );
    }
    text.push_str(
        "Make the feature, its claims or the spec clearer, or set its status to `passed` or `skipped` in \
         `.harness/features.json`; then `windlass mission` goes on with everything that has not passed.\n",
    );
    text
}

/// Why the plan is not worked on, if it is not: the message that says so, and why at length.
fn plan_refused(session: &Session, flaws: &[String]) -> Option<(&'static str, String)> {
    let rejected = session.review.as_ref().filter(|(came, _)| came == "reject");
    if let Some((_, said)) = rejected {
        return Some((
            "missionline-plan-rejected",
            format!("\n## The plan was rejected\n\n{said}\n"),
        ));
    }
    if let Some(denied) = &session.denied {
        return Some((
            "missionline-plan-denied",
            format!("\n## The plan was denied\n\n{denied}\n"),
        ));
    }
    if !session.progress.is_empty() || flaws.is_empty() {
        return None;
    }
    let flaws: String = flaws.iter().map(|it| format!("- {it}\n")).collect();
    let why = format!(
        "\n## The plan cannot be worked on\n\nIt was sent back to its planner once.\n\n{flaws}"
    );
    Some(("missionline-plan-unusable", why))
}

/// Features that failed, with what speaks against each, and those that wait for them.
fn stuck(session: &Session, whole: &Queue, text: &mut String) {
    let failed = whole.features.iter().filter(|it| it.status == Status::Failed);
    for feature in failed.take(NAMED) {
        let _ = write!(text, "\n## {}: {}\n\n", feature.id, feature.line());
        let reason = feature.reason.as_deref().unwrap_or("it could not be built");
        let times = if feature.attempts == 1 { "attempt" } else { "attempts" };
        let _ = writeln!(text, "After {} {times}: {reason}.\n", feature.attempts);
        if let Some(tale) = session.tales.get(&feature.id) {
            for finding in &tale.findings {
                let _ = writeln!(text, "- {}", finding.replace('\n', "\n  "));
            }
            if let Some(question) = &tale.question {
                let _ = writeln!(text, "- Still open: {question}");
            }
        }
        if let Some(commit) =
            feature.commit.as_ref().filter(|_| session.broken.contains_key(&feature.id))
        {
            let _ = writeln!(text, "\nIt has landed as {commit}, and what landed later broke it.");
        }
        if let Some(commit) = session.gone.get(&feature.id) {
            let _ = writeln!(
                text,
                "\n`git merge {commit}` brings it back (then set its status to `passed`); the next mission builds it once more"
            );
        } else if let Some(commit) = session.built(&feature.id) {
            let id = &feature.id;
            let _ =
                writeln!(text, "\nWhat was built of it: `windlass lanes restore {commit} ../{id}`");
        }
    }
    let blocked = whole.features.iter().filter(|it| it.status == Status::Blocked).take(NAMED);
    let blocked: String = blocked
        .map(|it| {
            let why = it.reason.as_deref().unwrap_or("something it depends on");
            format!("- {}: {why}\n", it.id)
        })
        .collect();
    if !blocked.is_empty() {
        let _ = write!(text, "\n## Blocked\n\n{blocked}");
    }
}

/// What was claimed and does not hold any more, a line each.
fn broken(session: &Session, words: Words) -> String {
    let mut text = words.say("missionline-broken", &[]);
    for it in session.not_so.iter().take(NAMED) {
        // Writing to a String cannot fail.
        let _ = write!(text, "\n  {}: {} ({})", it.id, it.text, it.seen);
    }
    let over = session.not_so.len().saturating_sub(NAMED);
    if over > 0 {
        let _ =
            write!(text, "\n  {}", words.say("missionline-more", &[("count", &over.to_string())]));
    }
    text
}

/// What was spent so far, of how much.
fn spent(session: &Session, words: Words) -> String {
    let dollars = |micros: u64| format!("{:.2}", micros as f64 / 1e6);
    let (counts, iterations) = (counts(session, words), session.iterations.to_string());
    let spent = dollars(session.spent.settled.cost_micros);
    let args = [("counts", &*counts), ("spent", &spent), ("iterations", &iterations)];
    match session.cost_cap {
        Some(cap) => {
            let cap = dollars(cap);
            words.say("missionline-spent-of", &[args[0], args[1], args[2], ("cap", &cap)])
        }
        None => words.say("missionline-spent", &args),
    }
}

/// How many features there are, and how they stand.
pub(super) fn counts(session: &Session, words: Words) -> String {
    let mut by: [(&str, usize); 5] = [
        ("missionline-passed", 0),
        ("missionline-under-way", 0),
        ("missionline-failed", 0),
        ("missionline-blocked", 0),
        ("missionline-left-out", 0),
    ];
    for progress in session.progress.values() {
        let at = match progress.status {
            Status::Passed => 0,
            Status::InProgress | Status::Validating => 1,
            Status::Failed => 2,
            Status::Blocked => 3,
            Status::Skipped => 4,
            Status::Pending | Status::Other(_) => continue,
        };
        by[at].1 += 1;
    }
    let total = session.progress.len().to_string();
    let counts: Vec<String> = by
        .iter()
        .filter(|(_, many)| *many > 0)
        .map(|(id, many)| words.say(id, &[("count", &many.to_string())]))
        .collect();
    let counts = match counts.is_empty() {
        true => words.say("missionline-none-begun", &[]),
        false => counts.join(", "),
    };
    words.say("missionline-counts", &[("counts", &counts), ("total", &total)])
}

/// The outcome, feature by feature.
fn summary(session: &Session, words: Words) -> String {
    let mut text = counts(session, words);
    let whole = session.whole();
    for feature in whole.features.iter().take(NAMED) {
        let commit = feature
            .commit
            .as_deref()
            .map_or(String::new(), |it| format!("  {}", &it[..it.len().min(8)]));
        let why = feature.reason.as_deref().map_or(String::new(), |it| format!("  ({it})"));
        let _ = write!(
            text,
            "\n  {:<10} {}: {}{commit}{why}",
            feature.status.word(),
            feature.id,
            feature.short()
        );
    }
    if whole.features.len() > NAMED {
        let more = (whole.features.len() - NAMED).to_string();
        let _ = write!(text, "\n  {}", words.say("missionline-more", &[("count", &more)]));
    }
    for (check, units) in &session.excused {
        // What is expected to pass in the end, whoever broke it, has been looked at.
        let is_said = session.wrong.iter().any(|it| it.starts_with(&format!("`{check}` ")));
        if check == asserted::CONTRACT || is_said {
            continue;
        }
        let more = units.len().saturating_sub(NAMED);
        let named: Vec<&str> = units.iter().take(NAMED).map(String::as_str).collect();
        let more = if more > 0 { format!(" … (+{more})") } else { String::new() };
        let features = format!("{}{more}", named.join(", "));
        let args = [("check", check.as_str()), ("features", &features)];
        let _ = write!(text, "\n{}", words.say("missionline-red-still", &args));
    }
    text
}

/// What a plan comes to.
fn outlook(session: &Session, words: Words) -> String {
    let open: Vec<&Feature> =
        session.queue.features.iter().filter(|it| !it.status.is_settled()).collect();
    let claims: usize = open.iter().map(|it| it.claims.len()).sum();
    let mechanical = session.contract().assertions.iter().filter(|it| it.is_mechanical()).count();
    let free = open.iter().filter(|it| it.depends.is_empty()).count();
    let numbers = [open.len(), claims, mechanical, session.contract().assertions.len(), free];
    let [open, claims, mechanical, assertions, free] = numbers.map(|it| it.to_string());
    let args = [
        ("features", &*open),
        ("claims", &claims),
        ("mechanical", &mechanical),
        ("assertions", &assertions),
    ];
    let id = if free == "1" { "missionline-free-one" } else { "missionline-free" };
    let plan = words.say("missionline-plan", &args);
    let free = words.say(id, &[("free", &free)]);
    format!("{plan} {free}\n{}", words.say("missionline-plan-next", &[]))
}
