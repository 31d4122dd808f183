//! The `windlass` program: reads the command line, calls the verb, renders what came back.

mod asked;
mod asks;
mod base;
mod bill;
mod builtin;
mod caching;
mod cli;
mod commands;
mod config;
mod deferred;
mod document;
mod earlier;
mod editor;
mod error;
mod exit;
mod face;
mod failpoint;
mod forecast;
mod idle;
mod known;
mod landed;
mod learned;
mod meta;
mod past;
mod prepared;
mod probe;
mod progress;
mod pulls;
mod relay;
mod render;
mod replay;
mod report;
mod request;
mod scratch;
mod spoken;
mod story;
mod suggest;
mod tracker;
mod trust;
mod under_way;
mod waits;
mod webhook;
mod workplace;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::Cli;
use crate::render::Output;

fn main() -> ExitCode {
    // Started at the door of a sandbox it becomes another program, and started as a keeper it watches over another Windlass,
    // before anything else.
    let called =
        windlass_process::sandbox::doorman::called().or_else(windlass_process::keeper::called);
    if let Some(ended) = called {
        return ended;
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(refusal) => return render::refusal(&refusal).into(),
    };
    let mut out = Output::stdout();
    let exit = failpoint::arm()
        .and_then(|()| commands::run(cli.command, &mut out))
        .and_then(|exit| out.finish().map(|()| exit))
        .unwrap_or_else(|error| render::error(&error));
    exit.into()
}
