//! A report of a run: what became of each unit and on what evidence, who decided what, what it cost.

use std::fmt::Write as _;

use serde::Serialize;
use windlass_clerks::finding;
use windlass_core::run::Run;
use windlass_engine::date::instant;
use windlass_engine::entry::{Entry, Note};
use windlass_journal::{Journal, RunId};
use windlass_words::Words;

use crate::error::Error;
use crate::face::{standing, status_word};
use crate::render::{Teller, because_of};
use crate::replay::replay;

/// A report.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    pub run: String,
    pub workflow: String,
    pub about: String,
    pub branch: String,
    pub outcome: String,
    pub began: String,
    pub ended: String,
    pub minutes: i64,
    pub cost_usd: f64,
    pub units: Vec<Unit>,
    /// What concerns no unit: the run's own stages.
    pub itself: Unit,
    /// What was decided, by whom, in order.
    pub decisions: Vec<Line>,
    pub waiting: Vec<String>,
    pub questions: Vec<String>,
}

/// A unit, or the run itself.
#[derive(Debug, Default, Serialize)]
pub struct Unit {
    pub id: String,
    pub title: String,
    pub status: String,
    /// The unit that it depends on and that was not done, for a blocked one.
    pub because: Option<String>,
    pub cost_usd: f64,
    pub commits: Vec<String>,
    pub invocations: Vec<Invocation>,
    pub checks: Vec<CheckLine>,
    pub told: Vec<String>,
}

#[derive(Debug, Serialize)]
pub struct Invocation {
    pub task: Option<String>,
    pub stage: String,
    pub role: String,
    pub agent: String,
    pub attempt: u32,
    pub came: String,
    pub remarks: Vec<String>,
    pub files: usize,
    /// What it said it did, in a line.
    pub summary: String,
    /// What it found, a line each.
    pub findings: Vec<String>,
}

#[derive(Debug, Serialize)]
pub struct CheckLine {
    pub name: String,
    pub command: Option<String>,
    pub came: &'static str,
    pub tree: String,
    pub output: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct Line {
    pub at: String,
    pub text: String,
}

impl Report {
    /// The report of a run as its journal has it.
    pub fn of(journal: &Journal, id: &RunId, run: &Run) -> Result<Self, Error> {
        let mut report = Report {
            run: id.to_string(),
            workflow: run.workflow().name.clone(),
            about: run.workflow().about.clone(),
            cost_usd: run.purse().settled.cost_micros as f64 / 1e6,
            outcome: standing(run).to_owned(),
            ..Report::default()
        };
        for unit in run.units() {
            report.units.push(Unit {
                id: unit.id.to_string(),
                title: unit.title.to_string(),
                status: status_word(unit.status).to_owned(),
                because: unit.because.map(|unit| unit.to_string()),
                cost_usd: unit.purse.settled.cost_micros as f64 / 1e6,
                ..Unit::default()
            });
        }
        report.questions = run.gates().iter().map(|gate| gate.question.clone()).collect();
        let mut telling = Telling::new(run);
        replay(journal, id, |entry, run| {
            telling.enter(entry, run, journal, &mut report);
            Ok(())
        })?;
        report.began = telling.began.map(instant).unwrap_or_default();
        report.ended = telling.last.map(instant).unwrap_or_default();
        report.minutes =
            telling.began.zip(telling.last).map_or(0, |(from, to)| (to - from) / 60_000);
        Ok(report)
    }

    fn unit(&mut self, id: Option<&str>) -> &mut Unit {
        let at = id.and_then(|id| self.units.iter().position(|unit| unit.id == id));
        match at {
            Some(at) => &mut self.units[at],
            None => &mut self.itself,
        }
    }

    /// As Markdown.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) -> std::fmt::Result {
        writeln!(text, "# {}: {}\n", plain(&self.run), plain(&self.outcome))?;
        writeln!(text, "{}\n", plain(&self.about))?;
        writeln!(
            text,
            "- Lands on: {}\n- From {} to {} ({} min)\n- Cost: {:.2} dollars\n",
            plain(&self.branch),
            self.began,
            self.ended,
            self.minutes,
            self.cost_usd
        )?;
        writeln!(text, "| unit | status | commits | attempts | cost |\n|---|---|---|---|---|")?;
        for unit in &self.units {
            let commits: Vec<String> = unit.commits.iter().map(|it| short(it)).collect();
            writeln!(
                text,
                "| {}: {} | {} | {} | {} | {:.2} |",
                plain(&unit.id),
                plain(&unit.title),
                plain(&unit.stands()),
                commits.join(" "),
                unit.invocations.len(),
                unit.cost_usd
            )?;
        }
        for question in &self.questions {
            writeln!(text, "\n**Waiting for an answer:** {}", plain(question))?;
        }
        for waiting in &self.waiting {
            writeln!(text, "\n**Waits to be taken:** `{}`", waiting.replace('`', "'"))?;
        }
        for unit in &self.units {
            let stands = plain(&unit.stands());
            writeln!(text, "\n## {}: {} ({stands})\n", plain(&unit.id), plain(&unit.title))?;
            unit.write(text)?;
        }
        if !self.itself.is_empty() {
            writeln!(text, "\n## The run itself\n")?;
            if !self.itself.commits.is_empty() {
                let commits: Vec<String> = self.itself.commits.iter().map(|it| short(it)).collect();
                writeln!(text, "Landed {}\n", commits.join(" "))?;
            }
            self.itself.write(text)?;
        }
        if !self.decisions.is_empty() {
            writeln!(text, "\n## Decisions\n")?;
            for line in &self.decisions {
                writeln!(text, "- {} {}", line.at, plain(&line.text))?;
            }
        }
        Ok(())
    }

    /// As a page of its own.
    pub fn html(&self) -> String {
        use pulldown_cmark::{Event, Options, Parser, html};
        let markdown = self.markdown();
        // Nothing that somebody else wrote is markup here.
        let events = Parser::new_ext(&markdown, Options::ENABLE_TABLES).map(|event| match event {
            Event::Html(raw) | Event::InlineHtml(raw) => Event::Text(raw),
            other => other,
        });
        let mut body = String::new();
        html::push_html(&mut body, events);
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n\
             <style>{STYLE}</style>\n<main>\n{body}</main>\n</html>\n",
            self.run
        )
    }
}

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;margin:2rem;color:#222;background:#fff}\
main{max-width:60rem;margin:auto}table{border-collapse:collapse;width:100%}\
th,td{border-bottom:1px solid #ccc;padding:.3rem .6rem;text-align:left}code{background:#f3f3f3;padding:0 .2rem}\
@media(prefers-color-scheme:dark){body{color:#ddd;background:#161616}code{background:#2a2a2a}th,td{border-color:#444}}";

impl Unit {
    fn stands(&self) -> String {
        format!("{}{}", self.status, because_of(self.because.as_deref(), Words::default()))
    }

    fn is_empty(&self) -> bool {
        self.invocations.is_empty() && self.checks.is_empty() && self.told.is_empty()
    }

    fn write(&self, text: &mut String) -> std::fmt::Result {
        if !self.invocations.is_empty() {
            writeln!(
                text,
                "| stage | role | agent | attempt | came to | files |\n|---|---|---|---|---|---|"
            )?;
        }
        for it in &self.invocations {
            let task = it.task.as_ref().map_or(String::new(), |task| format!("task {task}: "));
            let came =
                it.remarks.iter().fold(it.came.clone(), |came, remark| format!("{came}; {remark}"));
            writeln!(
                text,
                "| {}{} | {} | {} | {} | {} | {} |",
                plain(&task),
                plain(&it.stage),
                plain(&it.role),
                plain(&it.agent),
                it.attempt,
                plain(&came),
                it.files
            )?;
        }
        if !self.checks.is_empty() {
            writeln!(
                text,
                "\n| check | command | came to | tree | output |\n|---|---|---|---|---|"
            )?;
        }
        for check in &self.checks {
            writeln!(
                text,
                "| {} | {} | {} | {} | {} |",
                plain(&check.name),
                plain(check.command.as_deref().unwrap_or("none")),
                check.came,
                short(&check.tree),
                check.output.as_deref().map(short).unwrap_or_default()
            )?;
        }
        let found = self.invocations.iter().filter(|it| !it.findings.is_empty());
        for it in found {
            writeln!(
                text,
                "\n{} of {}, attempt {}, found:\n",
                plain(&it.role),
                plain(&it.stage),
                it.attempt
            )?;
            for finding in &it.findings {
                writeln!(text, "- {}", plain(finding))?;
            }
        }
        for told in &self.told {
            writeln!(text, "\n> {}", plain(told))?;
        }
        Ok(())
    }
}

/// What is remembered while a journal is gone through.
struct Telling {
    teller: Teller,
    began: Option<i64>,
    last: Option<i64>,
}

impl Telling {
    fn new(run: &Run) -> Self {
        Telling {
            teller: Teller::new(run.workflow().clone(), Words::default()),
            began: None,
            last: None,
        }
    }

    fn enter(&mut self, entry: &Entry, run: &Run, journal: &Journal, report: &mut Report) {
        let at = match entry {
            Entry::Event(recorded) => recorded.at.wall_ms,
            Entry::Note(noted) => noted.at.wall_ms,
        };
        self.began.get_or_insert(at);
        self.last = Some(at);
        match entry {
            Entry::Event(recorded) => {
                let told = self.teller.tell(entry, run);
                if is_decision(&recorded.event) {
                    let lines = told.into_iter().map(|text| Line { at: instant(at), text });
                    report.decisions.extend(lines);
                }
            }
            Entry::Note(noted) => self.note(&noted.note, journal, report),
        }
    }

    fn note(&mut self, note: &Note, journal: &Journal, report: &mut Report) {
        match note {
            Note::TakenUp { target, .. } => report.branch.clone_from(target),
            Note::Answered(it) => {
                let said = it.said().parse().ok().and_then(|id| journal.get(id).ok());
                let said = said.unwrap_or_default();
                let said = String::from_utf8_lossy(&said);
                report.unit(it.asked.unit.as_deref()).invocations.push(Invocation {
                    task: it.asked.task.clone(),
                    stage: it.asked.stage.clone(),
                    role: it.asked.role.clone(),
                    agent: it.asked.agent.clone(),
                    attempt: it.asked.attempt,
                    came: it.came.clone(),
                    remarks: it.remarks.clone(),
                    files: it.files.len(),
                    summary: windlass_agents::gist(&said),
                    findings: finding::all(&said).iter().map(finding::text).collect(),
                });
            }
            Note::Checked { unit, name, command, came, tree, output, .. } => {
                report.unit(unit.as_deref()).checks.push(CheckLine {
                    name: name.clone(),
                    command: command.clone(),
                    came: came.words(),
                    tree: tree.clone(),
                    output: output.clone(),
                });
            }
            Note::Landed { unit, commit, waits, .. } => {
                report.unit(unit.as_deref()).commits.push(commit.clone());
                match waits {
                    Some(command) => report.waiting.push(command.clone()),
                    None => report.waiting.clear(),
                }
            }
            Note::Told { text, .. } if !text.is_empty() => report.itself.told.push(text.clone()),
            Note::Told { .. }
            | Note::Asked(_)
            | Note::Based { .. }
            | Note::BaseChecked { .. }
            | Note::Saved { .. }
            | Note::Turned { .. }
            | Note::Conflicted { .. }
            | Note::ByHand { .. }
            | Note::Lost { .. }
            | Note::Left { .. }
            | Note::Shown { .. }
            | Note::Paper { .. }
            | Note::Kept { .. }
            | Note::Tidied => {}
        }
    }
}

fn is_decision(event: &windlass_core::run::Event) -> bool {
    use windlass_core::run::Event;
    match event {
        Event::Asked { policy, .. } => policy.is_some(),
        Event::Moved(moved) => moved.record.is_some(),
        Event::Answered { .. }
        | Event::Overridden { .. }
        | Event::Redone { .. }
        | Event::StopAsked { .. }
        | Event::PauseAsked { .. }
        | Event::ResumeAsked { .. }
        | Event::CancelAsked { .. }
        | Event::CapsRaised { .. } => true,
        Event::UnitSettled { by, .. } => by.is_some(),
        _ => false,
    }
}

/// Somebody else's text, on one line and without any markup.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for letter in crate::render::clean(text).chars() {
        if matches!(letter, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '~' | '&')
        {
            plain.push('\\');
        }
        plain.push(letter);
    }
    plain
}

fn short(digest: &str) -> String {
    format!("`{}`", &digest[..digest.len().min(10)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_else_wrote_is_no_markup() {
        let mut report = Report { run: "r".into(), outcome: "done".into(), ..Report::default() };
        report.units.push(Unit {
            id: "1".into(),
            title: "<script>alert(1)</script> | **x** [y](z)\n# h".into(),
            ..Unit::default()
        });
        let html = report.html();
        assert!(!html.contains("<script>alert") && !html.contains("<strong>x"), "{html}");
        assert!(
            html.contains("&lt;script&gt;alert(1)&lt;/script&gt; | **x** [y](z) # h"),
            "{html}"
        );
        // The table has its columns, whatever a title holds.
        assert!(html.contains("<td>0.00</td>"), "{html}");
    }
}
