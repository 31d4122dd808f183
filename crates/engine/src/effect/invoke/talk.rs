//! Conversations: an agent that is asked again about the same thing goes on with the session that it has, where it can.
//!
//! There are two reasons to. It was cut off in the middle, and its invocation goes on. Or the stages of a scope name a
//! session: then whoever comes to an answer leaves their quarters for the next of them, by a name that says what the
//! conversation is about; who takes it up renames them to their own, so that nobody else can. Who cannot go on begins
//! anew, and is told everything that they need.

use std::path::Path;

use windlass_agents::{Agent, Came};
use windlass_core::run::{Effect, EffectKind, Usage};

use super::Visit;
use crate::effect::kept::{self, Steps};
use crate::effect::meter;
use crate::isolation;
use crate::message::Trouble;
use crate::shop::Quarters;

/// An agent's quarters, and the session in them that it is to go on with, if there is one.
pub(super) struct Left<'a> {
    pub quarters: Quarters<'a>,
    pub going: Option<Going>,
}

/// A session that is gone on with.
pub(super) struct Going {
    /// The name that we gave it when it began.
    pub begun: String,
    /// The agent's own name for it.
    pub session: String,
    /// It had come to its answer there; else it was cut off.
    pub further: bool,
    /// What earlier invocations have used up in it.
    pub before: Usage,
}

impl<'a> Visit<'a> {
    /// New quarters of this invocation.
    pub(super) fn quarters(&self, which: &str, agent: &str) -> Result<Quarters<'a>, Trouble> {
        let quarters = self.shop.quarters_of(&self.quarters_name(which))?;
        kept::mark(&quarters.path, agent, &self.session(), &self.lane.work)?;
        Ok(quarters)
    }

    pub(super) fn quarters_name(&self, which: &str) -> String {
        format!("effect-{}{which}", self.job.id.0)
    }

    /// What was left behind when the invocation was cut off, if the agent can go on with it. Where the machine itself went
    /// down, its record may be there and what it did may not.
    pub(super) fn left_behind(&self, agent: &dyn Agent) -> Option<Left<'a>> {
        let quarters = self.shop.quarters_left(&self.quarters_name(""))?;
        // Without a session they are given up, here and now.
        let going = self.going(&quarters.path, agent)?;
        kept::same_boot(&quarters.path).then_some(Left { quarters, going: Some(going) })
    }

    /// The session in quarters, if the agent can go on with it. One that was begun by an earlier invocation may not have
    /// been told yet what this one is about.
    pub(super) fn going(&self, quarters: &Path, agent: &dyn Agent) -> Option<Going> {
        let [home, _] = self.shop.setup.isolation.home(quarters);
        let begun = kept::session(quarters)?;
        let session = agent.session(&home, &begun, &Steps::taken(quarters)?)?;
        let further = begun != self.session();
        Some(Going { begun, session, further, before: kept::used(quarters) })
    }

    /// What the stages of a conversation call its quarters between two invocations; nothing, where this is no part of one.
    pub(super) fn talk(&self) -> Option<String> {
        let EffectKind::Invoke { session: Some(name), .. } = &self.job.effect.kind else {
            return None;
        };
        let part = self.job.effect.child.as_ref().map_or("", |child| &child.id);
        let whose = format!("{part}\n{name}");
        Some(format!("{}{}", talks_of(self.job.unit()), short(&whose)))
    }

    /// The conversation that is gone on with, if there is one and this agent, in this lane, can do that. Nobody else can
    /// from then on: its quarters are this invocation's.
    pub(super) fn take_up(
        &self,
        name: &str,
        agent: &dyn Agent,
    ) -> Result<Option<Left<'a>>, Trouble> {
        let Some(talk) = self.talk() else { return Ok(None) };
        let at = self.shop.quarters_at(&talk);
        let is_ours = kept::occupant(&at).is_some_and(|own| own == name)
            && kept::is_of_lane(&at, &self.lane.work)
            && self.going(&at, agent).is_some();
        if !is_ours {
            self.shop.give_up_quarters(&talk)?;
            return Ok(None);
        }
        let own = self.quarters_name("");
        self.shop.rename_quarters(&talk, &own)?;
        let Some(quarters) = self.shop.quarters_left(&own) else { return Ok(None) };
        let going = self.going(&quarters.path, agent);
        Ok(going.map(|going| Left { quarters, going: Some(going) }))
    }

    /// What an invocation has used up, with what no account has because it was cut off before.
    pub(super) fn with_what_was_cut_off(&self, usage: Usage, going: Option<&Going>) -> Usage {
        match going {
            // What it did by then, having been told something further, is in an account together with what was before.
            Some(Going { further: true, .. }) if self.job.again => Usage::UNKNOWN,
            // One request may have been under way.
            Some(Going { further: false, .. }) => {
                let Effect { set_aside, spend, .. } = &self.job.effect;
                meter::and_one_request(usage, set_aside.minus(*spend))
            }
            _ => usage,
        }
    }

    /// Leaves the quarters of a conversation as they are: whether somebody goes on there is decided when the answer is safe.
    pub(super) fn leave_talk(&self, quarters: Quarters<'_>, used: Usage) -> Result<(), Trouble> {
        if self.talk().is_some() {
            kept::uses(&quarters.path, self.job.id, used)?;
            quarters.leave();
        }
        Ok(())
    }

    /// Keeps the conversation for whoever goes on with it, if it came to an answer; else gives it up.
    pub(super) fn end_talk(&self, came: &Came) -> Result<(), Trouble> {
        let own = self.quarters_name("");
        match self.talk() {
            Some(talk) if matches!(came, Came::Verdict(_)) => {
                // Whoever was cut off here may have done it already.
                let there = isolation::are_quarters(&self.shop.quarters_at(&own));
                if there { self.shop.rename_quarters(&own, &talk) } else { Ok(()) }
            }
            Some(_) => self.shop.give_up_quarters(&own),
            None => Ok(()),
        }
    }

    /// A name for the agent's session: the same whenever it is asked for.
    pub(super) fn session(&self) -> String {
        let name = format!("{} {}", self.shop.run, self.job.id.0);
        let digest = windlass_journal::BlobId::of(name.as_bytes()).to_string();
        let part = |from: usize, to: usize| digest.get(from..to).unwrap_or_default().to_owned();
        format!(
            "{}-{}-4{}-8{}-{}",
            part(0, 8),
            part(8, 12),
            part(12, 15),
            part(15, 18),
            part(18, 30)
        )
    }
}

/// What the names of the quarters begin with where conversations about a unit wait.
pub(in crate::effect) fn talks_of(unit: Option<&str>) -> String {
    format!("talk-{}-", short(unit.unwrap_or_default()))
}

/// A name for a name that may be anything.
fn short(name: &str) -> String {
    let digest = windlass_journal::BlobId::of(name.as_bytes()).to_string();
    digest.get(..16).unwrap_or_default().to_owned()
}
