//! `windlass report`: what became of a run, on what evidence, and what it cost.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::error::{Error, writing};
use crate::exit::Exit;
use crate::known;
use crate::render::Output;
use crate::report::Report;
use crate::workplace::Workplace;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass report
  windlass report autopilot-1 --html report.html
  windlass report --json
")]
pub struct ReportArgs {
    /// The run; without one, the newest
    #[arg(value_name = "RUN")]
    run: Option<String>,

    /// As an HTML page instead of Markdown, in this file if one is named
    #[arg(long, value_name = "FILE", num_args = 0..=1, conflicts_with = "json")]
    html: Option<Option<PathBuf>>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Write it to this file
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub fn run(args: &ReportArgs, out: &mut Output) -> Result<Exit, Error> {
    let place = Workplace::find_known(Path::new("."))?;
    let journal = place.look()?.ok_or_else(Error::never_run)?;
    let known = known::named_or_newest(&journal, args.run.as_deref())?;
    let report = Report::of(&journal, &known.id, &known.run)?;
    let text = if args.json {
        serde_json::to_string_pretty(&report).map_err(|_| Error::defect())? + "\n"
    } else if args.html.is_some() {
        report.html()
    } else {
        report.markdown()
    };
    match args.output.as_ref().or(args.html.iter().flatten().next()) {
        Some(path) => {
            std::fs::write(path, text).map_err(writing(path.clone()))?;
            out.line(&format!("wrote {}", path.display()))?;
        }
        None => out.bytes(text.as_bytes())?,
    }
    Ok(Exit::Done)
}
