//! The command line as clap sees it. Each verb's own arguments stand beside the verb.

use clap::{Parser, Subcommand};

use crate::commands::act::ActArgs;
use crate::commands::answer::AnswerArgs;
use crate::commands::autopilot::AutopilotArgs;
use crate::commands::completions::CompletionsArgs;
use crate::commands::cost::CostArgs;
use crate::commands::demo::DemoArgs;
use crate::commands::doctor::DoctorArgs;
use crate::commands::fix::FixArgs;
use crate::commands::gates::GatesArgs;
use crate::commands::init::InitArgs;
use crate::commands::inside::InsideArgs;
use crate::commands::issues::IssuesArgs;
use crate::commands::journal::JournalCommand;
use crate::commands::lanes::LanesCommand;
use crate::commands::learnings::LearningsArgs;
use crate::commands::log::LogArgs;
use crate::commands::memory::MemoryArgs;
use crate::commands::mission::MissionArgs;
use crate::commands::plan::PlanArgs;
use crate::commands::project::ProjectArgs;
use crate::commands::report::ReportArgs;
use crate::commands::resume::ResumeArgs;
use crate::commands::run::RunArgs;
use crate::commands::status::StatusArgs;
use crate::commands::task::TaskArgs;
use crate::commands::wish::{OverrideArgs, RedoArgs, SkipArgs, StopArgs};
use crate::commands::work::WorkArgs;
use crate::commands::workflow::WorkflowCommand;
use crate::deferred::Deferred;
use crate::exit::Exit;

const EXAMPLES: &str = "\
Examples:
  windlass demo                             watch it build a small program, for free
  windlass autopilot docs/spec.md           build a spec, phase by phase
  windlass task \"Add a --json flag\"         do one task, on a branch of its own
  windlass mission SPEC.md --lanes 4        plan features, build and land them beside each other
  windlass issues --tracker folder          take the issues in issues/, one after another
  windlass work all                         work off the tasks of Plans.md
  windlass run my-flow.toml                 do a workflow of your own
  windlass resume                           go on after a stop, a crash or an answer
  windlass workflow list                    the built-in workflows
  windlass workflow show task --mermaid     a picture of one
  windlass workflow check my-flow.toml      prove a file of your own sound
  windlass workflow simulate my-flow.toml   walk through one imaginary run, for free
";

/// Makes coding agents build software on their own.
///
/// Windlass hauls software work up with coding agents: every verified step is recorded before the
/// next begins, so no crash, rate limit or bad idea can lose what was gained.
#[derive(Debug, Parser)]
#[command(
    name = "windlass",
    version,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = EXAMPLES,
    after_long_help = format!("{EXAMPLES}\n{}", Exit::table()),
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write a windlass.toml to start from
    Init(Deferred<InitArgs>),

    /// Build an approved spec, phase by phase
    Autopilot(Deferred<AutopilotArgs>),

    /// Do one task: plan, confirm, generate, verify, evaluate, commit
    Task(Deferred<TaskArgs>),

    /// Build a queue of features, several at a time
    Mission(Deferred<MissionArgs>),

    /// Take a tracker's issues, one after another, and report back
    Issues(Deferred<IssuesArgs>),

    /// Work off the tasks of Plans.md: alone, in parallel, or by a team
    Work(Deferred<WorkArgs>),

    /// Make a Plans.md, add tasks to it, mend its markers
    Plan(Deferred<PlanArgs>),

    /// Decide about fixes that were proposed after tests failed
    Fix(Deferred<FixArgs>),

    /// Start a workflow on this repository
    Run(Deferred<RunArgs>),

    /// Go on with a run that was stopped, interrupted or killed
    Resume(Deferred<ResumeArgs>),

    /// Stop a run: after the units under way, at once, or for good
    Stop(Deferred<StopArgs>),

    /// Tell how the runs of this repository stand
    Status(Deferred<StatusArgs>),

    /// List the questions that wait for an answer
    Gates(Deferred<GatesArgs>),

    /// Answer a question
    Answer(Deferred<AnswerArgs>),

    /// Start one stage over
    Redo(Deferred<RedoArgs>),

    /// Leave one unit out
    Skip(Deferred<SkipArgs>),

    /// Let a verdict of your own count, with a reason
    Override(Deferred<OverrideArgs>),

    /// Tell what happened in a run
    Log(Deferred<LogArgs>),

    /// Report what became of a run, on what evidence, and what it cost
    Report(Deferred<ReportArgs>),

    /// Say what runs have cost, and what for
    Cost(Deferred<CostArgs>),

    /// List what the project has learned, or prune it
    Learnings(Deferred<LearningsArgs>),

    /// Show what missions noted and roles have learned, or take it back
    Memory(Deferred<MemoryArgs>),

    /// Write the files that a run's journal makes anew
    Project(Deferred<ProjectArgs>),

    /// Say what is missing here, and how to get it
    Doctor(Deferred<DoctorArgs>),

    /// Watch autopilot build a small program: no key, no agent, nothing to install
    Demo(Deferred<DemoArgs>),

    /// List lanes, find their directories, restore what was kept
    #[command(subcommand)]
    Lanes(Deferred<LanesCommand>),

    /// Verify and export the journal
    #[command(subcommand)]
    Journal(Deferred<JournalCommand>),

    /// List, show, check and simulate workflows
    #[command(subcommand)]
    Workflow(Deferred<WorkflowCommand>),

    /// Print the completion script for a shell
    Completions(Deferred<CompletionsArgs>),

    /// Act out a script, as a scripted agent does
    #[command(hide = true)]
    Act(Deferred<ActArgs>),

    /// Speak for an agent, inside its lane
    #[command(hide = true)]
    Inside(Deferred<InsideArgs>),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    #[test]
    fn the_surface_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_verb_is_described_when_it_is_asked_for() {
        let mut cli = Cli::command();
        let described = |cli: &clap::Command| {
            let more = |verb: &&clap::Command| {
                verb.get_arguments().next().is_some() || verb.has_subcommands()
            };
            cli.get_subcommands().filter(more).count()
        };
        let about = |cli: &clap::Command| -> Vec<String> {
            let about = |verb: &clap::Command| format!("{:?}", verb.get_about());
            cli.get_subcommands().map(about).collect()
        };
        assert_eq!(described(&cli), 0);
        let listed = about(&cli);
        cli.build();
        assert!(described(&cli) > 20);
        assert_eq!(about(&cli), listed, "what a verb is for is not said by one of its arguments");
    }
}
