//! What a verb is told on the command line, described to clap only when somebody asks for that verb.
//!
//! There are some thirty verbs and hundreds of options. To describe all of them took longer than to do what many verbs do.

use std::ops::Deref;

use clap::builder::{Resettable, StyledStr};
use clap::error::Error;
use clap::{ArgMatches, Args, Command, FromArgMatches, Id, Subcommand};

/// Arguments of a verb.
#[derive(Debug)]
pub struct Deferred<A>(Box<A>);

impl<A> Deferred<A> {
    pub fn into_inner(self) -> A {
        *self.0
    }
}

/// A verb with its arguments. What it is for stands where verbs are listed, whatever is said of a group of its arguments.
fn described(command: Command, more: fn(Command) -> Command) -> Command {
    let about: Resettable<StyledStr> = command.get_about().cloned().into();
    let long: Resettable<StyledStr> = command.get_long_about().cloned().into();
    more(command).about(about).long_about(long)
}

impl<A> Deref for Deferred<A> {
    type Target = A;

    fn deref(&self) -> &A {
        &self.0
    }
}

impl<A: Args> Args for Deferred<A> {
    fn group_id() -> Option<Id> {
        A::group_id()
    }

    fn augment_args(command: Command) -> Command {
        command.defer(|command| described(command, A::augment_args))
    }

    fn augment_args_for_update(command: Command) -> Command {
        command.defer(|command| described(command, A::augment_args_for_update))
    }
}

impl<A: Subcommand> Subcommand for Deferred<A> {
    fn augment_subcommands(command: Command) -> Command {
        command.defer(|command| described(command, A::augment_subcommands))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        command.defer(|command| described(command, A::augment_subcommands_for_update))
    }

    fn has_subcommand(name: &str) -> bool {
        A::has_subcommand(name)
    }
}

impl<A: FromArgMatches> FromArgMatches for Deferred<A> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        A::from_arg_matches(matches).map(|args| Deferred(Box::new(args)))
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, Error> {
        A::from_arg_matches_mut(matches).map(|args| Deferred(Box::new(args)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }

    fn update_from_arg_matches_mut(&mut self, matches: &mut ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches_mut(matches)
    }
}
