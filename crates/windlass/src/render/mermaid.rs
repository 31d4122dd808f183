//! A workflow as a Mermaid flowchart: a box for each scope, a node for each stage, an arrow for each
//! verdict. Dotted arrows are for spent counters and for stages that are passed over.
//!
//! Nothing from the definition is used as an identifier, and in labels everything that could mean
//! something to Mermaid or to a browser becomes a character code, so that no name breaks the
//! picture or smuggles anything into a page that shows it.

use std::fmt::Write as _;

use super::text::clean;
use super::view::{Goal, KindView, MoveView, ScopeView, StageView, WorkflowView};

/// Letters of a label; a question can be long.
const LABEL_MAX: usize = 48;

pub fn mermaid(view: &WorkflowView) -> String {
    let mut picture = Picture { view, text: String::new(), edges: Vec::new(), ends: Vec::new() };
    picture.line(0, "flowchart TD");
    for (at, scope) in view.scopes.iter().enumerate().filter(|(_, scope)| !scope.stages.is_empty())
    {
        picture.scope(at, scope);
    }
    picture.entries();
    picture.between_scopes();
    picture.edges();
    picture.line(1, "classDef gate fill:#fff3c4,stroke:#b58900,color:#000");
    picture.line(1, "classDef land fill:#d5f5e3,stroke:#1e8449,color:#000");
    picture.text.truncate(picture.text.trim_end().len());
    picture.text
}

struct Picture<'a> {
    view: &'a WorkflowView,
    text: String,
    edges: Vec<Edge>,
    /// Where scopes can be left to: the scope and the words.
    ends: Vec<(usize, String)>,
}

/// Arrows between the same two nodes are drawn as one.
struct Edge {
    from: String,
    to: String,
    dotted: bool,
    labels: Vec<String>,
}

impl Picture<'_> {
    fn line(&mut self, depth: usize, line: &str) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "{}{line}", "  ".repeat(depth));
    }

    fn scope(&mut self, at: usize, scope: &ScopeView) {
        self.line(1, &format!("subgraph g{at}[\"{}\"]", label(&scope.name)));
        self.line(2, "direction TB");
        if let Some(first) = scope.first.as_ref().and_then(|first| self.node(first)) {
            self.line(2, &format!("b{at}([\"start\"])"));
            self.edge(format!("b{at}"), first, false, None);
        }
        let ends_before = self.ends.len();
        for stage in self.view.stages_of(scope) {
            self.stage(at, stage);
        }
        for end in ends_before..self.ends.len() {
            let text = label(&self.ends[end].1);
            self.line(2, &format!("e{end}([\"{text}\"])"));
        }
        self.line(1, "end");
    }

    fn stage(&mut self, scope: usize, stage: &StageView) {
        let Some(node) = self.node(&stage.name) else { return };
        let about = match &stage.kind {
            KindView::Decide { .. } => label(&stage.name),
            kind => format!("{}<br/>{}", label(&stage.name), label(&shortened(&summary(kind)))),
        };
        let drawn = match stage.kind {
            KindView::Gate { .. } => format!("{node}{{{{\"{about}\"}}}}:::gate"),
            KindView::Decide { .. } => format!("{node}{{\"{about}\"}}"),
            KindView::Land { .. } => format!("{node}[\"{about}\"]:::land"),
            KindView::Each { .. } => format!("{node}[[\"{about}\"]]"),
            _ => format!("{node}[\"{about}\"]"),
        };
        self.line(2, &drawn);
        for verdict in stage.verdicts.iter().filter(|verdict| !verdict.as_always) {
            for each in &verdict.moves {
                self.arrow(scope, stage, each, &verdict.name, false);
            }
        }
        if let Some(entering) = &stage.count {
            let why = format!("{} spent", entering.counter);
            self.arrow(scope, stage, &entering.spent, &why, true);
        }
        if stage.when.is_some() {
            let to = match stage.next.as_ref().and_then(|next| self.node(next)) {
                Some(next) => next,
                None => self.end(scope, "end".to_owned()),
            };
            self.edge(node.clone(), to, true, Some("passed over".to_owned()));
        }
        if let KindView::Each { each, .. } = &stage.kind
            && let Some(child) = self.view.scopes.iter().position(|scope| scope.name == *each)
        {
            self.edge(node, format!("g{child}"), true, Some("each".to_owned()));
        }
    }

    fn arrow(&mut self, scope: usize, stage: &StageView, each: &MoveView, why: &str, dotted: bool) {
        let Some(from) = self.node(&stage.name) else { return };
        let to = match &each.goal {
            Goal::To(name) if name == "again" => from.clone(),
            Goal::To(name) => match self.node(name) {
                Some(node) => node,
                None => self.end(scope, name.clone()),
            },
            goal => self.end(scope, goal.words(&stage.name)),
        };
        self.edge(from, to, dotted, Some(why.to_owned()));
        if let (Some(spent), Some(counter)) = (&each.spent, &each.count) {
            self.arrow(scope, stage, spent, &format!("{why}, {counter} spent"), true);
        }
    }

    fn edge(&mut self, from: String, to: String, dotted: bool, label: Option<String>) {
        let same = |edge: &&mut Edge| (&edge.from, &edge.to, edge.dotted) == (&from, &to, dotted);
        match self.edges.iter_mut().find(same) {
            Some(edge) => edge.labels.extend(label.filter(|label| !edge.labels.contains(label))),
            None => self.edges.push(Edge { from, to, dotted, labels: label.into_iter().collect() }),
        }
    }

    fn entries(&mut self) {
        let view = self.view;
        for (at, entry) in view.entries.iter().enumerate() {
            if let Some(node) = self.node(&entry.at) {
                let name = label(&format!("{} {}", view.workflow, entry.name));
                self.line(1, &format!("n{at}>\"{name}\"] -.-> {node}"));
            }
        }
    }

    /// Intake, then units; between after each; the finale last.
    fn between_scopes(&mut self) {
        let has =
            |at: usize| self.view.scopes.get(at).is_some_and(|scope| !scope.stages.is_empty());
        let links = [(0, 1, has(0) && has(1)), (1, 2, has(1) && has(2)), (1, 3, has(1) && has(3))];
        for (from, to, _) in links.into_iter().filter(|(.., drawn)| *drawn) {
            self.line(1, &format!("g{from} ==> g{to}"));
        }
    }

    fn edges(&mut self) {
        for Edge { from, to, dotted, labels } in std::mem::take(&mut self.edges) {
            let arrow = if dotted { "-.->" } else { "-->" };
            let label = labels.iter().map(|one| label(one)).collect::<Vec<_>>().join(", ");
            if label.is_empty() {
                self.line(1, &format!("{from} {arrow} {to}"));
            } else {
                self.line(1, &format!("{from} {arrow}|\"{label}\"| {to}"));
            }
        }
    }

    fn node(&self, stage: &str) -> Option<String> {
        let at = self.view.stages.iter().position(|one| one.name == *stage)?;
        Some(format!("s{at}"))
    }

    fn end(&mut self, scope: usize, words: String) -> String {
        let known = self.ends.iter().position(|end| *end == (scope, words.clone()));
        let at = known.unwrap_or_else(|| {
            self.ends.push((scope, words));
            self.ends.len() - 1
        });
        format!("e{at}")
    }
}

fn summary(kind: &KindView) -> String {
    let word = kind.word();
    match kind {
        KindView::Role { role, .. } => format!("{word} {role}"),
        KindView::Panel { roles, .. } => format!("{word} {}", roles.join(", ")),
        KindView::Checks { checks, .. } => format!("{word} {}", checks.join(", ")),
        KindView::Read { read } => format!("{word} {read}"),
        KindView::Gate { question, .. } => question.clone(),
        KindView::Each { each, .. } => format!("{word} {each}"),
        KindView::Tell { tell } => format!("{word} {}", tell.join(", ")),
        KindView::Save { .. } | KindView::Land { .. } | KindView::Decide { .. } => word.to_owned(),
    }
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= LABEL_MAX {
        return text.to_owned();
    }
    let kept: String = text.chars().take(LABEL_MAX - 1).collect();
    format!("{}…", kept.trim_end())
}

/// A text inside a quoted label: letters, digits and a few signs as they are, all else by number.
fn label(text: &str) -> String {
    let mut label = String::new();
    for letter in clean(text).chars() {
        let harmless = letter.is_alphanumeric() || " _-.,:?!/()…→'".contains(letter);
        if harmless {
            label.push(letter);
        } else {
            let _ = write!(label, "#{};", u32::from(letter));
        }
    }
    label
}

#[cfg(test)]
mod tests {
    use super::label;

    #[test]
    fn nothing_in_a_label_means_anything() {
        let label = label("a\"]; click s0 \"javascript:alert(1)\" <b>&`|{}#%%\n\\");
        assert!(
            label.chars().all(|c| c.is_alphanumeric() || " _-.,:?!/()…→'#;".contains(c)),
            "{label}"
        );
        assert!(label.starts_with("a#34;#93;#59; click s0 #34;javascript:alert(1)#34;"), "{label}");
    }
}
