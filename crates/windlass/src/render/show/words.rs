//! Parts of a definition in a few words each.

use windlass_core::value::Value;
use windlass_core::workflow::{Land, Save};

use crate::render::view::{InputView, KindView, MoveView, PolicyView, StageView};

/// A move in words: where to, and what is noted on the way.
pub fn move_text(each: &MoveView, here: &str) -> String {
    let mut text = each.goal.words(here);
    match (&each.count, &each.spent) {
        (Some(counter), Some(spent)) => {
            text.push_str(&format!(" (counts {counter}; spent → {})", move_text(spent, here)));
        }
        (Some(counter), None) => text.push_str(&format!(" (counts {counter})")),
        (None, _) => {}
    }
    let mut add = |part: String| {
        text.push_str(", ");
        text.push_str(&part);
    };
    if !each.reset.is_empty() {
        add(format!("resets {}", each.reset.join(" and ")));
    }
    if !each.widen.is_empty() {
        add(format!("widens: {}", each.widen.join(" | ")));
    }
    for (scope, lists) in &each.add {
        add(format!("adds {} as {scope}", lists.join(" and ")));
    }
    if !each.waive.is_empty() {
        add(format!("waives {}", each.waive.join(", ")));
    }
    if let Some(record) = &each.record {
        add(format!("records {record}"));
    }
    if let Some(outcome) = each.outcome {
        add(format!("outcome {outcome}"));
    }
    if let Some(when) = &each.when {
        add(format!("when {when}"));
    }
    text
}

pub fn type_text(input: &InputView) -> String {
    match (input.ty, input.min, input.max) {
        ("number", Some(min), Some(max)) => format!("number {min}..{max}"),
        ("one_of", ..) => input.words.join(" | "),
        ("any_of", ..) => format!("any of {}", input.words.join(", ")),
        (ty, ..) => ty.to_owned(),
    }
}

/// A value as a definition would write it.
pub fn value_text(value: &Value) -> String {
    match value {
        Value::Text(text) => format!("{:?}", text),
        Value::Set(words) => format!("[{}]", words.join(", ")),
        Value::Flag(_) | Value::Number(_) => value.to_string(),
    }
}

pub fn kind_text(kind: &KindView) -> String {
    match kind {
        KindView::Role { role, agents, session } => {
            let by = if agents.is_empty() {
                String::new()
            } else {
                format!(" by {}", agents.join(", else "))
            };
            let session = session.as_ref().map(|it| format!(", session {it}")).unwrap_or_default();
            format!("{role}{by}{session}")
        }
        KindView::Panel { roles, critique, synthesis } => {
            let mut text = roles.join(", ");
            if let Some(critique) = critique {
                text.push_str(&format!("; critique by {critique}"));
            }
            if let Some(synthesis) = synthesis {
                text.push_str(&format!("; synthesis by {synthesis}"));
            }
            text
        }
        KindView::Checks { checks, expect } => {
            let expected = expect.map(|it| format!("; expected to {it}")).unwrap_or_default();
            format!("{}{expected}", checks.join(", "))
        }
        KindView::Read { read } => read.clone(),
        KindView::Gate { question, hard, .. } => {
            format!("{question}{}", if *hard { " (hard)" } else { "" })
        }
        KindView::Each { each, from: Some(from) } => format!("{each} of {from}"),
        KindView::Each { each, from: None } => each.clone(),
        KindView::Save { save, from, .. } => match from {
            Some(from) => format!("{} from {from}", save_word(*save)),
            None => save_word(*save).to_owned(),
        },
        KindView::Land { land, .. } => land_word(*land).to_owned(),
        KindView::Tell { tell } => tell.join(", "),
        KindView::Decide { .. } => String::new(),
    }
}

/// What else there is to say of a stage, each thing in a few words.
pub fn remarks(stage: &StageView) -> Vec<String> {
    let mut remarks = Vec::new();
    let mut list = |word: &str, names: &[String]| {
        if !names.is_empty() {
            remarks.push(format!("{word} {}", names.join(", ")));
        }
    };
    if let KindView::Land { keep, proof, .. } = &stage.kind {
        list("keeps", keep);
        list("proves", proof);
    }
    let needs: Vec<String> = stage
        .needs
        .iter()
        .map(|need| format!("{}:{}", need.stage, need.verdicts.join("|")))
        .collect();
    list("needs", &needs);
    list("sees", &stage.sees);
    let with: Vec<String> =
        stage.with.iter().map(|(name, expr)| format!("{name} = {expr}")).collect();
    list("with", &with);
    if let KindView::Save { label: Some(label), .. } | KindView::Land { label: Some(label), .. } =
        &stage.kind
    {
        remarks.push(format!("labelled {label:?}"));
    }
    if stage.edits {
        remarks.push("edits".to_owned());
    }
    if stage.aside {
        remarks.push("aside".to_owned());
    }
    if let Some(shown) = &stage.shown_as {
        remarks.push(format!("shown as {shown}"));
    }
    if let Some(record) = &stage.record {
        remarks.push(format!("records {record}"));
    }
    if let Some(entering) = &stage.count {
        let spent = move_text(&entering.spent, &stage.name);
        remarks.push(format!("entering counts {}, spent → {spent}", entering.counter));
    }
    if let Some(limit) = stage.limit_ms {
        remarks.push(format!("limit {}", duration(limit)));
    }
    if let Some(seconds) = &stage.limit_seconds {
        remarks.push(format!("limit {seconds} s"));
    }
    if let Some(when) = &stage.when {
        remarks.push(format!("when {when}"));
    }
    remarks
}

/// Milliseconds as the language writes them.
fn duration(ms: u64) -> String {
    match ms / 1_000 {
        seconds if seconds > 0 && seconds % 3_600 == 0 => format!("{}h", seconds / 3_600),
        seconds if seconds > 120 && seconds % 60 == 0 => format!("{}m", seconds / 60),
        seconds => format!("{seconds}s"),
    }
}

fn save_word(save: Save) -> &'static str {
    match save {
        Save::Commit => "commit",
        Save::Patch => "patch",
        Save::Rewind => "rewind",
        Save::Apply => "apply",
        Save::Push => "push",
    }
}

fn land_word(land: Land) -> &'static str {
    match land {
        Land::FastForward => "fast-forward",
        Land::Merge => "merge",
        Land::CherryPick => "cherry-pick",
        Land::Commit => "commit",
    }
}

pub fn policy_text(policy: &PolicyView) -> String {
    let when = policy.when.as_ref().map_or(String::new(), |when| format!(" when {when}"));
    let record = policy.record.as_ref().map_or(String::new(), |r| format!(", records {r}"));
    format!("answers {}{when}{record}", policy.answer)
}

/// What a gate's option means, in parentheses.
pub fn option_note(kind: &KindView, verdict: &str) -> String {
    let KindView::Gate { default, options, .. } = kind else { return String::new() };
    let mut notes = Vec::new();
    for option in options.iter().filter(|option| option.option == verdict) {
        if option.label != option.option {
            notes.push(option.label.clone());
        }
        notes.extend(option.about.clone());
        if option.reason {
            notes.push("a reason must be given".to_owned());
        }
    }
    if default.as_deref() == Some(verdict) {
        notes.push("the default".to_owned());
    }
    if notes.is_empty() { String::new() } else { format!("({})", notes.join("; ")) }
}
