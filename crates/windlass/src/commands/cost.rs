//! `windlass cost`: what runs have cost, and what for.

use std::path::Path;

use clap::Args;
use serde_json::json;
use windlass_core::run::Phase;
use windlass_journal::Journal;

use crate::asks::Asks;
use crate::bill::{Bill, By, Row};
use crate::error::Error;
use crate::exit::Exit;
use crate::forecast::{History, Outlook, Pace, forecast};
use crate::known::{self, Known};
use crate::progress::Chronicle;
use crate::render::{Output, clean, time};
use crate::spoken::words_about;
use crate::workplace::Workplace;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass cost
  windlass cost autopilot-1 --by model
  windlass cost --all --by run
  windlass cost --all --csv > costs.csv
  windlass cost mission-1 --units 12
")]
pub struct CostArgs {
    /// The run; without one, the newest
    #[arg(value_name = "RUN", conflicts_with = "all")]
    run: Option<String>,

    /// All runs of this repository
    #[arg(long)]
    all: bool,

    /// Put together by this alone
    #[arg(long, value_enum, value_name = "WHAT")]
    by: Option<By>,

    /// Print JSON
    #[arg(long, conflicts_with_all = ["by", "csv"])]
    json: bool,

    /// Print every figure as a table of commas
    #[arg(long, conflicts_with = "by")]
    csv: bool,

    /// Say what another run of its workflow with so many units will probably take
    #[arg(long, value_name = "N", conflicts_with_all = ["all", "by", "csv"])]
    units: Option<u64>,
}

pub fn run(args: &CostArgs, out: &mut Output) -> Result<Exit, Error> {
    let place = Workplace::find_known(Path::new("."))?;
    let journal = place.look()?.ok_or_else(Error::never_run)?;
    let runs: Vec<Known> = match args.all {
        true => known::all(&journal)?.readable,
        false => vec![known::named_or_newest(&journal, args.run.as_deref())?],
    };
    if let (Some(units), Some(known)) = (args.units, runs.first()) {
        return another(args, units, &journal, known, out);
    }
    let mut bill = Bill::default();
    for known in &runs {
        bill.add(&journal, &known.id)?;
    }
    let open = runs.iter().filter(|known| known.run.phase() != Phase::Ended);
    let mut forecasts: Vec<(&str, Outlook)> = Vec::new();
    for known in open {
        let chronicle = Chronicle::of(&journal, &known.id, known.run.workflow())?;
        let watch = chronicle.watch();
        let outlook = Pace::of(&chronicle).outlook(&known.run, watch, watch.now().mono_ms);
        forecasts.push((known.id.as_str(), outlook));
    }
    if args.json {
        let total = bill.total();
        let by = By::ALL.map(|by| {
            let rows = bill.by(by).into_iter();
            let rows: Vec<_> = rows.map(|(key, row)| figures(by.name(), &key, &row)).collect();
            (by.name().to_owned(), json!(rows))
        });
        let forecast = forecasts.iter().map(|(run, it)| json!({ "run": run, "forecast": it }));
        out.json(&json!({
            "total": figures("what", "total", &total),
            "by": serde_json::Map::from_iter(by),
            "rows": bill.rows,
            "forecasts": forecast.collect::<Vec<_>>(),
        }))?;
    } else if args.csv {
        csv(&bill, out)?;
    } else {
        told(args, &bill, out)?;
        for (run, forecast) in forecasts {
            out.line(&in_words(run, &forecast))?;
        }
    }
    Ok(Exit::Done)
}

/// What another run of the same workflow will probably take.
fn another(
    args: &CostArgs,
    units: u64,
    journal: &Journal,
    known: &Known,
    out: &mut Output,
) -> Result<Exit, Error> {
    let run = &known.run;
    let history = History::of(journal, &run.workflow().name)?;
    let forecast = forecast(&history, units, run.width() as u64, run.caps(), Asks::of(run, units));
    if args.json {
        out.json(&forecast)?;
    } else {
        let words = words_about(Some(journal), Some(known))?;
        out.line(&forecast.in_words(&run.workflow().called, words))?;
    }
    Ok(Exit::Done)
}

fn figures(what: &str, key: &str, row: &Row) -> serde_json::Value {
    json!({
        what: key,
        "invocations": row.invocations,
        "requests": row.requests,
        "input_tokens": row.input_tokens,
        "cached_tokens": row.cached_tokens,
        "cache_write_tokens": row.cache_write_tokens,
        "output_tokens": row.output_tokens,
        "cost_micros": row.cost_micros,
        "assumed_micros": row.assumed_micros,
        "saved_micros": row.saved_micros,
    })
}

fn told(args: &CostArgs, bill: &Bill, out: &mut Output) -> Result<(), Error> {
    let tables: Vec<By> = match args.by {
        Some(by) => vec![by],
        None => By::ALL.into_iter().filter(|by| *by != By::Run || args.all).collect(),
    };
    for by in tables {
        table(by, &bill.by(by), out)?;
    }
    let total = bill.total();
    out.line(&format!("total: {}", summed_up(&total)))
}

fn table(by: By, rows: &[(String, Row)], out: &mut Output) -> Result<(), Error> {
    let names: Vec<String> = rows.iter().map(|(key, _)| clean(key)).collect();
    let width = |name: &str| unicode_width::UnicodeWidthStr::width(name);
    let wide = names.iter().map(|name| width(name)).max().unwrap_or(0).max(width(by.name()));
    let pad = |name: &str| format!("{name}{}", " ".repeat(wide - width(name)));
    out.line(&format!(
        "{}  {:>9}  {:>6}  {:>11}  {:>7}  {:>10}",
        pad(by.name()),
        "dollars",
        "asked",
        "read",
        "cached",
        "written"
    ))?;
    for (name, (_, row)) in names.iter().zip(rows) {
        let read = row.read_tokens();
        let cached = match read {
            0 => "-".to_owned(),
            read => format!("{:.1} %", percent(row.cached_tokens, read)),
        };
        let mark = if row.assumed_micros > 0 { "~" } else { " " };
        out.line(&format!(
            "{}  {mark}{:>8}  {:>6}  {read:>11}  {cached:>7}  {:>10}",
            pad(name),
            dollars(row.cost_micros),
            row.invocations,
            row.output_tokens
        ))?;
    }
    out.line("")
}

fn summed_up(row: &Row) -> String {
    let mut text = format!("{} dollars, asked {} times", dollars(row.cost_micros), row.invocations);
    if row.read_tokens() > 0 {
        let share = percent(row.cached_tokens, row.read_tokens());
        text.push_str(&format!("; {share:.1} % of what models read came from a cache"));
    }
    if row.saved_micros != 0 {
        let saved = dollars(row.saved_micros.unsigned_abs());
        let word = if row.saved_micros > 0 { "saved" } else { "cost" };
        text.push_str(&format!(", which {word} {saved} dollars"));
    }
    if row.assumed_micros > 0 {
        let assumed = dollars(row.assumed_micros);
        text.push_str(&format!(
            "; ~ {assumed} of it nobody has accounted for: it counts as what was set aside (`prices` of an agent mend that)"
        ));
    }
    text
}

fn in_words(run: &str, outlook: &Outlook) -> String {
    let cap = match outlook.cap_micros {
        Some(cap) => format!("; it may cost {} at most", dollars(cap)),
        None => String::new(),
    };
    match (outlook.expected_micros, outlook.left_ms) {
        (Some(expected), Some(left)) => format!(
            "forecast for {run}: about {} dollars in the end and {} left: {} left at {} each{cap}",
            dollars(expected),
            time(left),
            outlook.open_units,
            dollars(outlook.median_micros),
        ),
        _ => format!(
            "forecast for {run}: nobody knows before two are done; {} left{cap}",
            outlook.open_units
        ),
    }
}

fn csv(bill: &Bill, out: &mut Output) -> Result<(), Error> {
    out.line(
        "run,unit,role,agent,model,invocations,requests,input_tokens,cached_tokens,cache_write_tokens,output_tokens,\
         cost_usd,assumed_usd,saved_usd",
    )?;
    for row in &bill.rows {
        let words = [
            &row.run,
            row.unit.as_deref().unwrap_or_default(),
            &row.role,
            &row.agent,
            row.model.as_deref().unwrap_or_default(),
        ];
        let words = words.map(field).join(",");
        let sign = if row.saved_micros < 0 { "-" } else { "" };
        out.line(&format!(
            "{words},{},{},{},{},{},{},{},{},{sign}{}",
            row.invocations,
            row.requests,
            row.input_tokens,
            row.cached_tokens,
            row.cache_write_tokens,
            row.output_tokens,
            exact(row.cost_micros),
            exact(row.assumed_micros),
            exact(row.saved_micros.unsigned_abs()),
        ))?;
    }
    Ok(())
}

/// A text as a field. A table program takes what begins so for a formula.
fn field(text: &str) -> String {
    let text = clean(text);
    let text = if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text };
    if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

fn exact(micros: u64) -> String {
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

fn dollars(micros: u64) -> String {
    format!("{:.2}", micros as f64 / 1e6)
}

fn percent(part: u64, whole: u64) -> f64 {
    part as f64 * 100.0 / whole.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_a_field_whatever_it_holds() {
        assert_eq!(field("plain"), "plain");
        assert_eq!(field("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(field("=1+1"), "'=1+1");
        assert!(!field("two\nlines\u{1b}[31m").contains(['\n', '\u{1b}']));
    }

    #[test]
    fn what_is_saved_and_what_is_assumed_is_said() {
        let row = Row {
            invocations: 2,
            input_tokens: 50,
            cached_tokens: 150,
            cost_micros: 2_500_000,
            assumed_micros: 2_000_000,
            saved_micros: 400_000,
            ..Row::default()
        };
        let said = summed_up(&row);
        assert!(said.starts_with("2.50 dollars, asked 2 times; 75.0 %"), "{said}");
        assert!(said.contains("saved 0.40 dollars") && said.contains("~ 2.00 of it"), "{said}");
        assert_eq!(exact(1_000_001), "1.000001");
    }
}
