use crate::windlass::{seen, windlass};

#[test]
fn long_help_documents_the_exit_codes() {
    insta::assert_snapshot!(seen(&mut windlass(&["--help"])), @"
    exit 0
    --- stdout
    Makes coding agents build software on their own.

    Windlass hauls software work up with coding agents: every verified step is recorded before the next
    begins, so no crash, rate limit or bad idea can lose what was gained.

    Usage: windlass <COMMAND>

    Commands:
      init         Write a windlass.toml to start from
      autopilot    Build an approved spec, phase by phase
      task         Do one task: plan, confirm, generate, verify, evaluate, commit
      mission      Build a queue of features, several at a time
      issues       Take a tracker's issues, one after another, and report back
      work         Work off the tasks of Plans.md: alone, in parallel, or by a team
      plan         Make a Plans.md, add tasks to it, mend its markers
      fix          Decide about fixes that were proposed after tests failed
      run          Start a workflow on this repository
      resume       Go on with a run that was stopped, interrupted or killed
      stop         Stop a run: after the units under way, at once, or for good
      status       Tell how the runs of this repository stand
      gates        List the questions that wait for an answer
      answer       Answer a question
      redo         Start one stage over
      skip         Leave one unit out
      override     Let a verdict of your own count, with a reason
      log          Tell what happened in a run
      report       Report what became of a run, on what evidence, and what it cost
      cost         Say what runs have cost, and what for
      learnings    List what the project has learned, or prune it
      memory       Show what missions noted and roles have learned, or take it back
      project      Write the files that a run's journal makes anew
      doctor       Say what is missing here, and how to get it
      demo         Watch autopilot build a small program: no key, no agent, nothing to install
      lanes        List lanes, find their directories, restore what was kept
      journal      Verify and export the journal
      workflow     List, show, check and simulate workflows
      completions  Print the completion script for a shell

    Options:
      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

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

    Exit codes:
        0  done
        1  environment or internal error; nothing that was done is lost
        2  usage: the command line cannot be understood
        3  escalated: a person must look before it can go on
        4  failed, or a budget is exhausted
        5  stopped by a person; can be resumed
        6  held by another Windlass
        7  the plan was rejected
        8  waiting for a person's answer
      130  interrupted
    ");
}

#[test]
fn workflow_help_names_the_verbs() {
    insta::assert_snapshot!(seen(&mut windlass(&["workflow", "--help"])), @"
    exit 0
    --- stdout
    List, show, check and simulate workflows

    Usage: windlass workflow <COMMAND>

    Commands:
      list      List the built-in workflows
      show      Show one workflow: its stages and where they lead, a picture, or JSON
      check     Prove files sound, and report every mistake with line, column and a suggestion
      simulate  Walk through imaginary runs of a workflow, for free

    Options:
      -h, --help  Print help

    Examples:
      windlass workflow list
      windlass workflow show task
      windlass workflow simulate task
    ");
}

#[test]
fn simulate_help_names_every_option() {
    insta::assert_snapshot!(seen(&mut windlass(&["workflow", "simulate", "--help"])), @"
    exit 0
    --- stdout
    Walk through imaginary runs of a workflow, for free

    Usage: windlass workflow simulate [OPTIONS] <NAME|FILE>

    Arguments:
      <NAME|FILE>  A built-in workflow, or a file that ends in .toml

    Options:
          --seed <N>          Let chance decide, starting here; without it all goes well and gates get
                              their first option
          --runs <N>          Sum up this many random runs, of this seed (or 1) and those after it
          --set <KEY=VALUE>   Set an input, or the next verdicts of a stage: lanes=2,
                              verifying=fail,pass (may be repeated)
          --json              Print JSON instead of text
          --catalogue <FILE>  Also know the roles, readers, checks and tells of this file (may be
                              repeated)
      -h, --help              Print help

    Examples:
      windlass workflow simulate task
      windlass workflow simulate task --set verifying=fail,fail,fail,fail
      windlass workflow simulate task --set mode=single --set spec_gate=modify
      windlass workflow simulate task --seed 7
      windlass workflow simulate task --runs 1000

    A --set KEY is an input, which gets the value; or a stage, whose verdicts (or, for a gate, whose
    answers) are taken from the list before any others. An input is set once; each further --set of a
    stage adds to its list.
    ");
}

#[test]
fn no_arguments_is_a_usage_error() {
    let output = windlass(&[]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
}

#[test]
fn a_misspelt_verb_is_a_usage_error_with_a_suggestion() {
    insta::assert_snapshot!(seen(&mut windlass(&["workflow", "chekc", "x.toml"])), @"
    exit 2
    --- stderr
    error: unrecognized subcommand 'chekc'

      tip: a similar subcommand exists: 'check'

    Usage: windlass workflow <COMMAND>

    For more information, try '--help'.
    ");
}

#[test]
fn a_setting_without_a_value_is_a_usage_error() {
    let mut simulate = windlass(&["workflow", "simulate", "task", "--set", "lanes"]);
    insta::assert_snapshot!(seen(&mut simulate), @"
    exit 2
    --- stderr
    error: invalid value 'lanes' for '--set <KEY=VALUE>': expected KEY=VALUE

    For more information, try '--help'.
    ");
}

#[test]
fn a_reason_says_something() {
    for args in [
        &["skip", "a", "--reason", ""] as &[&str],
        &["override", "review", "clear", "--reason", " \t"],
    ] {
        let said = seen(&mut windlass(args));
        assert!(said.starts_with("exit 2") && said.contains("say why"), "{args:?}: {said}");
    }
}
