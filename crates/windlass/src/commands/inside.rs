//! `windlass inside`: what the kinds of agents run that Windlass itself speaks for. See `windlass_inside`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use windlass_inside::Trade;

use crate::error::Error;
use crate::exit::Exit;

#[derive(Debug, Args)]
pub struct InsideArgs {
    /// What to do
    #[arg(value_enum)]
    trade: TradeArg,
    /// Where the errand is
    home: PathBuf,
    /// What of the machine it is to use: named here so that the sandbox shows it
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    shown: Vec<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum TradeArg {
    Api,
    Acp,
}

pub fn run(args: &InsideArgs) -> Result<Exit, Error> {
    let trade = match args.trade {
        TradeArg::Api => Trade::Api,
        TradeArg::Acp => Trade::Acp,
    };
    // The errand says the same of them.
    let _ = &args.shown;
    // Who is not heard any more is about to be ended.
    let done = windlass_inside::run(trade, &args.home, &mut std::io::stdout());
    Ok(if done.unwrap_or(false) { Exit::Done } else { Exit::Failed })
}
