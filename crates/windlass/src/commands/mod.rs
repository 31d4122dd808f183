//! One file for each verb. This one only routes.

pub mod act;
pub mod answer;
pub mod autopilot;
pub mod completions;
pub mod cost;
pub mod demo;
pub mod doctor;
pub mod fix;
pub mod gates;
pub mod init;
pub mod inside;
pub mod issues;
pub mod journal;
pub mod lanes;
pub mod learnings;
pub mod log;
pub mod memory;
pub mod mission;
pub mod plan;
pub mod project;
pub mod report;
pub mod resume;
pub mod run;
pub mod status;
pub mod task;
pub mod wish;
pub mod work;
pub mod workflow;

use crate::cli::Command;
use crate::error::Error;
use crate::exit::Exit;
use crate::render::Output;

pub fn run(command: Command, out: &mut Output) -> Result<Exit, Error> {
    match command {
        Command::Init(args) => init::run(&args, out),
        Command::Run(args) => run::run(&args, out),
        Command::Autopilot(args) => autopilot::run(&args, out),
        Command::Task(args) => task::run(&args, out),
        Command::Mission(args) => mission::run(&args, out),
        Command::Issues(args) => issues::run(&args, out),
        Command::Work(args) => work::run(&args, out),
        Command::Plan(args) => plan::run(&args, out),
        Command::Fix(args) => fix::run(&args, out),
        Command::Resume(args) => resume::run(&args, out),
        Command::Stop(args) => wish::stop(&args, out),
        Command::Status(args) => status::run(&args, out),
        Command::Gates(args) => gates::run(&args, out),
        Command::Answer(args) => answer::run(&args, out),
        Command::Redo(args) => wish::redo(&args, out),
        Command::Skip(args) => wish::skip(&args, out),
        Command::Override(args) => wish::overrule(&args, out),
        Command::Log(args) => log::run(&args, out),
        Command::Cost(args) => cost::run(&args, out),
        Command::Report(args) => report::run(&args, out),
        Command::Learnings(args) => learnings::run(&args, out),
        Command::Memory(args) => memory::run(&args, out),
        Command::Project(args) => project::run(&args, out),
        Command::Doctor(args) => doctor::run(&args, out),
        Command::Demo(args) => demo::run(&args, out),
        Command::Lanes(command) => lanes::run(&command, out),
        Command::Journal(command) => journal::run(&command, out),
        Command::Workflow(command) => workflow::run(command.into_inner(), out),
        Command::Completions(args) => completions::run(&args, out),
        Command::Act(args) => act::run(&args, out),
        Command::Inside(args) => inside::run(&args),
    }
}
