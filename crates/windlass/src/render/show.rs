//! A workflow for people: what it asks for, what it counts, and every stage with where its verdicts
//! lead.

mod words;

pub use self::words::value_text;
use self::words::{kind_text, move_text, option_note, policy_text, remarks, type_text};
use super::text::{FAINT, Line, PLAIN, STRONG, WARN, WORD, count, plural, widest};
use super::view::{
    CounterView, InputView, KindView, ScopeView, StageView, VerdictView, WorkflowView,
};

/// Names wider than this push their line's words to the right instead of everybody's.
const NAME_MAX: usize = 24;

/// The whole of it, in so many columns.
pub fn workflow(view: &WorkflowView, width: usize) -> String {
    let mut page = Page { text: String::new(), width };
    page.line(
        Line::at(0).lead(STRONG, &view.workflow, 0).lead(PLAIN, "  ", 0).add(PLAIN, &view.about),
    );
    let order = match view.order {
        "listed" => "started one after another, as listed",
        _ => "each started when all it depends on is done",
    };
    let units = plural(&view.unit);
    let lanes = format!("units are {units}, {order}; lanes: {}", view.lanes);
    page.line(Line::at(0).add(FAINT, lanes));
    page.line(Line::at(0).add(FAINT, format!("digest {}", view.digest)));
    page.inputs(&view.inputs);
    page.entries(view);
    page.counters(&view.counters);
    if !view.always.is_empty() {
        page.heading("mishaps", "unless a stage says otherwise");
        let names = widest(view.always.iter().map(|verdict| verdict.name.as_str()), NAME_MAX);
        for verdict in &view.always {
            page.verdict("", 2, names, verdict, "");
        }
    }
    for scope in in_order(&view.scopes) {
        page.heading(&scope.name, &count(scope.stages.len() as u64, "stage"));
        for stage in view.stages_of(scope) {
            page.stage(stage);
        }
    }
    page.text.truncate(page.text.trim_end().len());
    page.text
}

/// As a run goes through them: children belong to units.
fn in_order(scopes: &[ScopeView]) -> impl Iterator<Item = &ScopeView> {
    let place = |scope: &&ScopeView| match scope.name.as_str() {
        "intake" => 0,
        "unit" => 1,
        "between" => 3,
        "finale" => 4,
        _ => 2,
    };
    let mut scopes: Vec<&ScopeView> =
        scopes.iter().filter(|scope| !scope.stages.is_empty()).collect();
    scopes.sort_by_key(place);
    scopes.into_iter()
}

struct Page {
    text: String,
    width: usize,
}

impl Page {
    fn line(&mut self, line: Line) {
        self.text.push_str(&line.fold(self.width));
        self.text.push('\n');
    }

    fn heading(&mut self, name: &str, about: &str) {
        self.text.push('\n');
        self.line(Line::at(0).lead(STRONG, name, 0).lead(PLAIN, " ", 0).add(FAINT, about));
    }

    fn inputs(&mut self, inputs: &[InputView]) {
        if inputs.is_empty() {
            return;
        }
        self.heading("inputs", "");
        let names = widest(inputs.iter().map(|input| input.name.as_str()), NAME_MAX);
        for input in inputs {
            let mut line =
                Line::at(2).lead(WORD, &input.name, names + 2).add(PLAIN, type_text(input));
            line = match &input.default {
                Some(default) => line.add(PLAIN, format!(" = {}", value_text(default))),
                None => line.add(WARN, ", must be given"),
            };
            if let Some(question) = &input.question {
                line = line.add(FAINT, format!("; asks: {}", question));
            }
            self.line(line);
        }
    }

    fn entries(&mut self, view: &WorkflowView) {
        if view.entries.is_empty() {
            return;
        }
        self.heading("entries", "");
        let names = widest(view.entries.iter().map(|entry| entry.name.as_str()), NAME_MAX);
        for entry in &view.entries {
            let mut line = Line::at(2)
                .lead(WORD, &entry.name, names + 2)
                .add(PLAIN, format!("starts at {}", entry.at));
            if !entry.requires.is_empty() {
                line = line.add(PLAIN, format!("; requires {}", &entry.requires.join(", ")));
            }
            if !entry.otherwise.is_empty() {
                line = line.add(FAINT, format!(", else: {}", &entry.otherwise));
            }
            self.line(line);
        }
    }

    fn counters(&mut self, counters: &[CounterView]) {
        if counters.is_empty() {
            return;
        }
        self.heading("counters", "");
        let names = widest(counters.iter().map(|counter| counter.name.as_str()), NAME_MAX);
        for counter in counters {
            let by = counter.by.as_ref().map_or(String::new(), |by| format!(" and {by}"));
            let from =
                if counter.from == 0 { String::new() } else { format!("from {} ", counter.from) };
            let each = counter.each_unit.as_ref();
            let each = each.map_or(String::new(), |each| format!(" and {each} for each unit"));
            let body = format!("{from}to {}{each}, per {}{by}", counter.max, counter.per);
            self.line(Line::at(2).lead(WORD, &counter.name, names + 2).add(PLAIN, body));
        }
    }

    fn stage(&mut self, stage: &StageView) {
        let mut line = Line::at(2)
            .lead(STRONG, &stage.name, 0)
            .lead(FAINT, &format!("  {} ", stage.kind.word()), 0)
            .add(PLAIN, kind_text(&stage.kind));
        for (at, remark) in remarks(stage).iter().enumerate() {
            let first = at == 0 && matches!(stage.kind, KindView::Decide { .. });
            line = line.add(FAINT, if first { "" } else { "; " }).add(FAINT, remark);
        }
        self.line(line);
        if let KindView::Gate { concerns, policies, .. } = &stage.kind {
            for concern in concerns {
                let lead = format!("concern {}: ", concern.name);
                self.line(Line::at(4).lead(FAINT, &lead, 0).add(FAINT, &concern.when));
            }
            for policy in policies {
                self.line(Line::at(4).lead(FAINT, "policy: ", 0).add(FAINT, policy_text(policy)));
            }
        }
        let own = stage.verdicts.iter().filter(|verdict| !verdict.as_always);
        let names = widest(own.clone().map(|verdict| verdict.name.as_str()), NAME_MAX);
        if let KindView::Decide { decide } = &stage.kind {
            // The first case that holds counts, so they stand in their own order.
            for case in decide {
                let when =
                    case.when.as_ref().map_or("else".to_owned(), |when| format!("when {when}"));
                for verdict in own.clone().filter(|verdict| verdict.name == case.is) {
                    self.verdict(&stage.name, 4, names, verdict, &format!("({when})"));
                }
            }
            return;
        }
        for verdict in own {
            self.verdict(&stage.name, 4, names, verdict, &option_note(&stage.kind, &verdict.name));
        }
    }

    fn verdict(
        &mut self,
        here: &str,
        indent: usize,
        names: usize,
        verdict: &VerdictView,
        note: &str,
    ) {
        let style = if verdict.mishap { WARN } else { WORD };
        let last = verdict.moves.len().saturating_sub(1);
        for (at, each) in verdict.moves.iter().enumerate() {
            let name = if at == 0 { verdict.name.as_str() } else { "" };
            let mut line = Line::at(indent)
                .lead(style, name, names)
                .lead(FAINT, "  → ", 0)
                .add(PLAIN, move_text(each, here));
            if at == last && !note.is_empty() {
                line = line.add(FAINT, format!("  {note}"));
            }
            self.line(line);
        }
    }
}
