//! What a run is to be done with: which agents play which roles, what checks the work, where it lands.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use windlass_agents::Agent;
use windlass_core::lang::{Catalogue, Reporter};
use windlass_process::{Bounds, Disk};
use windlass_repo::{Branch, Oid, Person};

use crate::crew::Crew;
use crate::foresight::Policy;
use crate::isolation::{Isolation, Workspace};
use crate::mask::Mask;
use crate::role::Role;
use crate::skill::Skills;

/// What a run is to be done with. Made from the configuration of the base commit before anything starts.
pub struct Setup {
    /// Agents by name.
    pub agents: BTreeMap<String, Arc<dyn Agent>>,
    /// Which of them play which roles.
    pub crew: Crew,
    /// Roles that have a file.
    pub roles: BTreeMap<String, Role>,
    /// Guidance for roles.
    pub skills: Skills,
    /// What roles and readers may report.
    pub catalogue: Catalogue,
    /// Commands by the name of their check, each a line for the shell.
    pub checks: BTreeMap<String, String>,
    /// Files that checks write a report into, below the top, by the name of the check.
    pub reports: BTreeMap<String, String>,
    /// What makes a clean checkout ready for its checks.
    pub prepare: Option<String>,
    /// The project, for prompts.
    pub identity: String,
    /// What the run is about, for prompts.
    pub summary: String,
    /// The branch that landings go to.
    pub target: Branch,
    /// Where that branch begins, if it is the run's own: the first landing makes it.
    pub made_from: Option<Oid>,
    /// Who the landed commits are from.
    pub author: Person,
    /// What is never written down.
    pub mask: Mask,
    /// What agents and checks see of the machine.
    pub isolation: Isolation,
    /// What an agent or a check may take of the machine. Its disk is its lane and its quarters.
    pub bounds: Bounds,
    /// What lanes may take of the disk, all together, before another unit begins.
    pub lanes_bytes_max: u64,
    /// What is done about lanes that change the same.
    pub conflicts: Policy,
    /// How long an agent may say nothing.
    pub idle: Option<Duration>,
    /// How long a process has between being asked to end and being ended.
    pub grace: Duration,
}

impl Setup {
    /// What a program that works here may take.
    pub fn bounds(&self, space: Workspace<'_>) -> Bounds {
        let below = vec![space.work.to_owned(), space.quarters.to_owned()];
        let disk = self.bounds.disk.as_ref().map(|disk| Disk { below, bytes: disk.bytes });
        Bounds { disk, ..self.bounds.clone() }
    }

    /// A role: from its file, or all that the catalogue knows of it.
    pub fn role(&self, name: &str) -> Role {
        let about = self.catalogue.roles.get(name).map_or("", |reporter| &reporter.about);
        self.roles.get(name).cloned().unwrap_or_else(|| Role::plain(name, about))
    }

    /// What a role may answer.
    pub(crate) fn reporter(&self, role: &str) -> Reporter {
        self.catalogue.roles.get(role).cloned().unwrap_or_default()
    }
}
