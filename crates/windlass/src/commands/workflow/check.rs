//! `windlass workflow check`: proves files sound. Exits 0 when all are, 4 when one has a mistake, 1
//! when one cannot be read.

use std::path::{Path, PathBuf};

use clap::Args;
use windlass_core::lang::{self, Catalogue};

use super::target::CatalogueArgs;
use crate::document::Document;
use crate::error::Error;
use crate::exit::Exit;
use crate::render::{self, Checked, Output, Verdict};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass workflow check my-flow.toml
  windlass workflow check my-flow.toml --catalogue my-roles.toml

Exits 0 when all files are sound, 4 when one is not, 1 when one cannot be read.
")]
pub struct CheckArgs {
    /// The workflow files to check
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Print JSON instead of text
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    catalogue: CatalogueArgs,
}

pub fn run(args: &CheckArgs, out: &mut Output) -> Result<Exit, Error> {
    let catalogue = args.catalogue.load()?;
    let mut checked = Vec::new();
    for file in &args.files {
        let one = check(file, &catalogue);
        // Each file's mistakes as soon as they are known; JSON is one document.
        if !args.json {
            out.checked(&one)?;
        }
        checked.push(one);
    }
    if args.json {
        out.json(&render::checked_json(&checked))?;
    } else if checked.len() > 1 {
        out.line(&render::checked_total(&checked))?;
    }
    Ok(exit(&checked))
}

fn check(file: &Path, catalogue: &Catalogue) -> Checked {
    let verdict = match Document::read(file) {
        Err(error) => Verdict::Unreadable(error),
        Ok(source) => match lang::load(&source.text, catalogue) {
            Ok(workflow) => Verdict::Sound(Box::new(workflow)),
            Err(mistakes) => Verdict::Mistaken { source, mistakes },
        },
    };
    Checked { name: file.display().to_string(), verdict }
}

/// A file that cannot be read is worse than one with mistakes: nobody knows what is in it.
fn exit(checked: &[Checked]) -> Exit {
    let any = |which: fn(&Verdict) -> bool| checked.iter().any(|one| which(&one.verdict));
    if any(|verdict| matches!(verdict, Verdict::Unreadable(_))) {
        Exit::Error
    } else if any(|verdict| matches!(verdict, Verdict::Mistaken { .. })) {
        Exit::Failed
    } else {
        Exit::Done
    }
}
