//! What a run is done with, before there is a loop to report to: the branch it lands on, who does the work, what
//! checks it, and whether that is enough for a workflow.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use windlass_agents::{Agent, Here, Missing, Post};
use windlass_clerks::mission::before::Landing;
use windlass_clerks::{History, Office, Project, Tracks};
use windlass_core::lang::Catalogue;
use windlass_core::run::Run;
use windlass_core::value::Value;
use windlass_core::workflow::{Errand, InputIx, Kind, ScopeIx, Workflow};
use windlass_engine::books::Books;
use windlass_engine::clerk::Clerk;
use windlass_engine::crew::{self, Call, Crew, Model, Preset};
use windlass_engine::exhibit::Exhibits;
use windlass_engine::isolation::Isolation;
use windlass_engine::lanes;
use windlass_engine::mask::Mask;
use windlass_engine::message::Message;
use windlass_engine::role::Role;
use windlass_engine::setup::Setup;
use windlass_engine::shop::{Shop, Tools};
use windlass_engine::skill::Skills;
use windlass_engine::{COMMIT_HOOKS, hook_command};
use windlass_process::sandbox::{self, Level};
use windlass_process::{Bounds, Sandbox, Spawner};
use windlass_repo::{Branch, Heads, Oid, Person, Repository, Settings, Store};
use windlass_sources::READERS;

use crate::base::{self, Base, Checks, Roles};
use crate::config::{Config, LimitsConfig};
use crate::error::Error;
use crate::past::Past;
use crate::suggest;
use crate::workplace::{GRACE, Held};

/// What a run is done with. Somebody who only looks may find that there is no isolation to be had.
pub struct Prepared<I = Isolation> {
    pub store: Store,
    pub config: Config,
    pub target: Branch,
    /// Where that begins, if it is the run's own.
    pub made_from: Option<Oid>,
    /// Where the target is.
    pub base: Oid,
    /// Who commits are by.
    pub author: Person,
    pub agents: Agents,
    roles: Roles,
    skills: Skills,
    checks: Checks,
    identity: String,
    /// What agents and checks will see of the machine.
    pub isolation: I,
}

/// What is wrong, if it is, with each thing that a run can be looked over without.
pub struct LookedOver {
    pub prepared: Prepared<Result<Isolation, Error>>,
    /// The first agent that is not there.
    pub missing: Option<Error>,
}

/// Where a run is to land.
#[derive(Clone, Copy, Debug)]
pub enum Onto<'a> {
    /// Where the configuration says, or else on the branch that is checked out.
    Here,
    /// On this branch.
    Branch(&'a str),
    /// On a branch of the run's own: the first landing makes it, at this commit, or else where the checkout is.
    Own(&'a str, Option<&'a str>),
}

/// Where a run lands.
struct Destination {
    target: Branch,
    /// Where its work begins.
    commit: Oid,
    /// The commit whose settings count.
    settings: Oid,
    /// Where the branch is made, if it is the run's own.
    made_from: Option<Oid>,
}

/// Agents by name.
type Agents = BTreeMap<String, Arc<dyn Agent>>;

impl Held {
    /// Reads the configuration of the base commit and gets everything ready that a run needs.
    pub fn prepare(&self, onto: Onto<'_>) -> Result<Prepared, Error> {
        let LookedOver { prepared, missing } = self.looked_over(onto)?;
        match missing {
            Some(missing) => Err(self.explained(missing)),
            None => prepared.isolated().map_err(|cause| self.explained(cause)),
        }
    }

    /// The same as far as it goes without the agents that are missing and without a sandbox, and what is wrong with those.
    pub fn looked_over(&self, onto: Onto<'_>) -> Result<LookedOver, Error> {
        self.made_ready(onto).map_err(|cause| self.explained(cause))
    }

    fn made_ready(&self, onto: Onto<'_>) -> Result<LookedOver, Error> {
        // The configuration names the files that lanes need, so it is read with a store that knows of none.
        let looking = Store::open(self.repository.clone(), &self.dir, Settings::default())?;
        looking.recover()?;
        let heads = looking.sync()?;
        let Destination { target, commit, made_from, settings } =
            self.destination(&looking, &heads, onto)?;
        let config = base::config(&looking, &settings)?;
        let base = Base::at(&looking, if made_from.is_some() { &settings } else { &commit })?;
        let roles = base.roles()?;
        let skills = base.skills(&named(&roles, &config), &config)?;
        let mut checks = base.checks(&config)?;
        let hook =
            self.repository.pre_commit()?.filter(|_| !config.checks.contains_key(COMMIT_HOOKS));
        if let Some(hook) = &hook {
            checks.commands.insert(COMMIT_HOOKS.to_owned(), hook_command(hook));
        }
        drop(looking);
        let name = self.repository.top().file_name();
        let name = name.map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let extras = config.lanes.copy.iter().map(PathBuf::from).collect();
        let settings = Settings { extras, ..Settings::default() };
        let (agents, missing) = self.agents(&config)?;
        let prepared = Prepared {
            store: Store::open(self.repository.clone(), &self.dir, settings)?,
            agents,
            isolation: isolation(&config, &self.repository, &self.dir, &self.spawner)
                .map(|found| found.showing(hook.as_deref().and_then(Path::parent))),
            identity: format!("{name} ({})", checks.language),
            author: self.repository.identity()?,
            config,
            target,
            made_from,
            base: commit,
            roles,
            skills,
            checks,
        };
        Ok(LookedOver { prepared, missing })
    }

    /// Where a run is to land, where its work begins, and whose settings count.
    fn destination(
        &self,
        looking: &Store,
        heads: &Heads,
        onto: Onto<'_>,
    ) -> Result<Destination, Error> {
        let tip = |branch: &Branch| {
            heads.tip(branch).cloned().ok_or_else(|| {
                Error::usage(format!("there is no branch `{branch}` with a commit on it"))
                    .hint("make a first commit there")
            })
        };
        Ok(match onto {
            Onto::Branch(name) => {
                let target = branch(name)?;
                let commit = tip(&target)?;
                Destination { target, settings: commit.clone(), commit, made_from: None }
            }
            Onto::Here => {
                let here = self.repository.branch()?;
                let settings = tip(&here)?;
                let config = base::config(looking, &settings)?;
                // Copies have one branch, whatever the file says for repositories.
                let named = config.land.branch.as_deref().filter(|_| self.has_git);
                let target = named.map_or(Ok(here), branch)?;
                Destination { commit: tip(&target)?, target, settings, made_from: None }
            }
            Onto::Own(name, from) => {
                let target = branch(name)?;
                let from = match from {
                    Some(from) => Oid::parse(from).map_err(|_| Error::defect())?,
                    None => self.repository.head()?,
                };
                let commit = heads.tip(&target).unwrap_or(&from).clone();
                // Nobody commits to that branch but the run: what is mended is mended where the person is.
                let here = self.repository.branch().ok();
                let here = here.and_then(|branch| heads.tip(&branch).cloned());
                let settings = here.unwrap_or_else(|| commit.clone());
                Destination { target, commit, settings, made_from: Some(from) }
            }
        })
    }

    /// The agents that are there, and what is wrong with the first that is not.
    fn agents(&self, config: &Config) -> Result<(Agents, Option<Error>), Error> {
        let windlass = std::env::current_exe().map_err(Error::output)?;
        let here = Here { top: self.repository.top(), windlass: &windlass, which };
        let (mut agents, mut first) = (BTreeMap::new(), None);
        for (name, settings) in &config.agents {
            let missing = match settings.agent(&here) {
                Ok(agent) => {
                    agents.insert(name.clone(), agent);
                    continue;
                }
                Err(Missing::Program { program }) => Error::here(format!(
                    "`{program}`, the agent `{name}`, is not installed"
                ))
                .hint(format!(
                    "install it, or change `[agents.{name}]` in windlass.toml and commit that"
                )),
                Err(Missing::File { path, source }) => Error::unreadable(&path, source),
            };
            first.get_or_insert(missing);
        }
        Ok((agents, first))
    }

    /// Whether anything that a run is begun with holds what is never written down: it would be in the journal for ever.
    pub fn no_secrets(
        &self,
        config: &Config,
        inputs: &BTreeMap<String, Value>,
    ) -> Result<(), Error> {
        let mask = self.mask(config);
        for (name, value) in inputs {
            if let Value::Text(text) = value
                && mask.text(text) != **text
            {
                return Err(Error::usage(format!(
                    "`{name}` holds the value of a secret, and would be on record"
                ))
                .hint("leave the value out; a command may name the variable instead"));
            }
        }
        Ok(())
    }

    /// What is never written down: what agents are handed, and what lanes get.
    pub fn mask(&self, config: &Config) -> Mask {
        let issues = &config.issues;
        let own = [issues.key_variable.as_deref(), Some(issues.webhook_variable())];
        let handed = |name: &str| {
            own.contains(&Some(name))
                || config.agents.values().any(|agent| agent.handed().iter().any(|own| own == name))
        };
        let variables: Vec<_> = std::env::vars_os().collect();
        let variables = variables.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()));
        let mut mask = Mask::of(variables, handed);
        for file in &config.lanes.copy {
            let bytes = std::fs::read(self.repository.top().join(file)).unwrap_or_default();
            mask.file(&String::from_utf8_lossy(&bytes));
        }
        for key in issues.secrets(self.repository.top()) {
            mask.secret(&key);
        }
        mask
    }
}

/// What agents and checks will see of the machine: what the person says, or else the best that starts.
pub fn isolation(
    config: &Config,
    repository: &Repository,
    dir: &Path,
    spawner: &Spawner,
) -> Result<Isolation, Error> {
    let said = std::env::var(SAID_HERE).ok();
    // The file's own word was looked at when it was read.
    let wanted = config.sandbox.wanted(said.as_deref()).map_err(|flaw| {
        Error::usage(format!("{SAID_HERE}: {flaw}"))
            .hint(format!("set {SAID_HERE} to one of these, or to `best`"))
    })?;
    let tools = sandbox::Tools::here().map_err(Error::output)?;
    let found = Sandbox::find(wanted, &tools, spawner).map_err(|unavailable| {
        Error::here(format!("agents and checks cannot be isolated: {unavailable}")).hint(format!(
            "install bubblewrap, or say what you can do without: `[sandbox] level` in windlass.toml, or {SAID_HERE}=none"
        ))
    })?;
    let openings = config.sandbox.openings();
    if found.level() == Level::Bubblewrap && openings.open_everything() {
        let what =
            "`[sandbox]` opens `/`, the whole machine, and there is no place left for a lane";
        return Err(Error::here(what)
            .hint("name what agents need, or do without a sandbox: `level = \"none\"`"));
    }
    let made = Isolation::new(found, &openings, dir, repository.top());
    made.map_err(|error| Error::here(format!("cannot write to {}", dir.display())).because(error))
}

/// The variable by which a person says how isolated they want things, whatever the file says.
pub const SAID_HERE: &str = "WINDLASS_SANDBOX";

/// A program of the person's, as their shell would find it.
fn which(program: &str) -> Option<PathBuf> {
    windlass_process::which(program, &windlass_process::Env::inherited())
}

fn branch(name: &str) -> Result<Branch, Error> {
    Branch::new(name).map_err(|error| Error::usage(error.to_string()))
}

/// The guidance that somebody names.
fn named<'a>(roles: &'a Roles, config: &'a Config) -> BTreeSet<&'a String> {
    let by_roles = roles.all.values().flat_map(|role| &role.skills);
    by_roles.chain(config.skills.values().flatten()).collect()
}

impl Prepared<Result<Isolation, Error>> {
    /// The same, if there is isolation.
    fn isolated(self) -> Result<Prepared, Error> {
        Ok(Prepared {
            isolation: self.isolation?,
            store: self.store,
            config: self.config,
            target: self.target,
            made_from: self.made_from,
            base: self.base,
            author: self.author,
            agents: self.agents,
            roles: self.roles,
            skills: self.skills,
            checks: self.checks,
            identity: self.identity,
        })
    }
}

impl<I> Prepared<I> {
    /// A role, as far as somebody has written it down.
    fn role(&self, name: &str) -> Role {
        self.roles.all.get(name).cloned().unwrap_or_else(|| Role::plain(name, ""))
    }

    /// How many lanes make sense for a workflow, by the cores of the machine and by how many of those who build its units
    /// may work at once.
    pub fn sensible_lanes(&self, flow: &Workflow) -> Value {
        let crew = self.config.crew();
        let stages = flow.stages.iter().filter(|stage| stage.scope == ScopeIx::UNIT);
        let calls: Vec<Call> = stages
            .filter_map(|stage| match &stage.kind {
                Kind::Role { role, .. } => crew.call(role, &self.role(role), None),
                _ => None,
            })
            .collect();
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let lanes = lanes::sensible(&crew, calls.iter(), cores);
        Value::Number(i64::try_from(lanes).unwrap_or(1))
    }

    /// What is frozen into a run's first event.
    pub fn settings(&self, flow: &Workflow) -> windlass_core::run::Settings {
        self.config.settings(flow, |name| self.role(name))
    }

    /// Skills that somebody names and nobody has.
    pub fn absent_skills(&self) -> Vec<&str> {
        let named = named(&self.roles, &self.config);
        let absent = named.into_iter().filter(|name| !self.skills.known.contains_key(*name));
        absent.map(String::as_str).collect()
    }

    /// Whether there is a command for a check.
    pub fn has_check(&self, name: &str) -> bool {
        self.checks.commands.contains_key(name)
    }

    /// Who is asked first to play a role.
    pub fn plays(&self, role: &str) -> Option<String> {
        let call = self.config.crew().call(role, &self.role(role), None)?;
        call.agents.into_iter().next()
    }

    /// The checks that there are, each with its command.
    pub fn checks(&self) -> String {
        let all = self.checks.commands.iter().map(|(name, command)| format!("{name} ({command})"));
        let all: Vec<String> = all.collect();
        if all.is_empty() { "none: everything is skipped".to_owned() } else { all.join(", ") }
    }

    /// What a clerk is told of the project.
    pub fn project(&self, landed: Vec<Landing>) -> Project {
        let Checks { commands, language, .. } = &self.checks;
        let repository = self.store.repository().clone();
        // Where nobody can say, it is: then nothing of theirs goes.
        let tracks = Tracks(Arc::new(move |path| repository.tracks(path).unwrap_or(true)));
        let history = History(Some(Arc::new(Past {
            repository: self.store.repository().clone(),
            dir: self.store.dir().to_owned(),
            target: self.target.clone(),
            base: self.base.clone(),
            landed,
        })));
        Project { tracks, language: language.clone(), checks: commands.clone(), history }
    }

    /// What each agent and each check may take of the machine at a level.
    pub fn bounds(&self, level: Level) -> Bounds {
        match level {
            // Who wants nothing in the way gets nothing that they have not named.
            Level::None if self.config.limits == LimitsConfig::default() => Bounds::default(),
            _ => self.config.limits.bounds(),
        }
    }
}

impl Prepared {
    /// That agents are less isolated than they could be, and why.
    pub fn less_isolated(&self) -> Option<String> {
        let sandbox = self.isolation.sandbox();
        if sandbox.level() == Level::Bubblewrap {
            return None;
        }
        let why: Vec<String> = sandbox.not_here().iter().map(ToString::to_string).collect();
        let why = if why.is_empty() { String::new() } else { format!(" ({})", why.join("; ")) };
        Some(format!("isolation: {}{why}", self.isolation.in_words()))
    }

    /// What somebody named and nobody will ever look at: slips of the pen in the configuration, checks that no stage
    /// runs, exhibits that nobody can show.
    pub fn slips(&self, flow: &Workflow) -> Vec<String> {
        let config = &self.config;
        let players: Vec<&str> = flow.roles.keys().map(String::as_str).chain([crew::ANY]).collect();
        let near = |name: &str| suggest::nearest(name, players.iter().copied());
        let idle = |table: &str, name: &str, near: Option<&str>| {
            let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            format!("windlass.toml: `{}` uses no `{name}` of [{table}]{near}", flow.name)
        };
        // Roles and guidance may well be another workflow's.
        let of_roles = |table: &'static str, name: &str| {
            if players.contains(&name) { None } else { Some(idle(table, name, Some(near(name)?))) }
        };
        let roles = config.roles.keys().filter_map(|name| of_roles("roles", name));
        let skills = config.skills.keys().filter_map(|name| of_roles("skills", name));
        let run = run_checks(flow);
        let checks = config.checks.keys().filter(|name| !run.contains(&name.as_str()));
        let checks =
            checks.map(|name| idle("checks", name, suggest::nearest(name, run.iter().copied())));
        roles.chain(checks).chain(skills).chain(self.unseen(flow)).collect()
    }

    /// Exhibits that a stage or a role of the project's own names and nobody can show.
    fn unseen(&self, flow: &Workflow) -> Vec<String> {
        let of_clerk = Office::of(flow).map_or(&[][..], |office| office.shows);
        let known: Vec<&str> = Exhibits::ALWAYS.iter().chain(of_clerk).copied().collect();
        let stages = flow.stages.iter().map(|it| (format!("the stage `{}`", it.name), &it.sees));
        let own = flow.roles.keys().filter(|role| self.roles.own.contains(*role));
        let roles = own.filter_map(|role| Some((role, self.roles.all.get(role)?)));
        let roles = roles.map(|(name, role)| (format!("the role `{name}`"), &role.sees));
        let mut unseen = Vec::new();
        for (who, sees) in stages.chain(roles) {
            for name in sees.iter().filter(|name| !known.contains(&name.as_str())) {
                let can = known.join(", ");
                unseen.push(format!("{who} sees `{name}`, which nobody can show; there are {can}"));
            }
        }
        unseen
    }

    /// Whether a workflow can be done with this: every role has somebody to play it, every source somebody to read it.
    /// Better asked before anything starts than found out in the night.
    pub fn suffices(&self, flow: &Workflow) -> Result<(), Error> {
        let office = Office::of(flow);
        for stage in &flow.stages {
            if let Kind::Errand(Errand::Read { name }) = &stage.kind
                && !READERS.iter().any(|(own, _)| own == name)
                && !office.is_some_and(|office| office.reads.contains(&name.as_str()))
            {
                let what = format!("{} cannot be run yet: nothing reads `{name}`", flow.name);
                return Err(Error::here(what)
                    .hint("`windlass workflow simulate` walks through it meanwhile"));
            }
        }
        let crew = self.config.crew();
        let unplayed =
            flow.roles.keys().find(|role| crew.call(role, &self.role(role), None).is_none());
        if let Some(role) = unplayed {
            return Err(Error::no_player(role));
        }
        // What is built in is for the workflow it was made for.
        for role in flow.roles.keys().filter(|role| self.roles.own.contains(*role)) {
            let writes = self.roles.all.get(role).map_or(&[][..], |role| &role.writes);
            let known = office.map_or(&[][..], |office| office.files);
            if let Some(file) = writes.iter().find(|file| !known.contains(&file.as_str())) {
                let flow = &flow.name;
                let what = format!(
                    "the role `{role}` is to write `{file}`, and {flow} knows no such file"
                );
                return Err(Error::here(what).hint(if known.is_empty() {
                    format!("leave `writes` out of .windlass/roles/{role}.md, and commit that")
                } else {
                    format!("it knows {}", known.join(", "))
                }));
            }
        }
        Ok(())
    }

    /// Everything that the effects of a run may use.
    pub fn shop(
        self,
        held: &Held,
        (run, books): (&Run, &Books),
        clerk: Arc<dyn Clerk>,
        inbox: Sender<Message>,
    ) -> Result<Shop, Error> {
        let top = held.repository.top();
        let readers = READERS.iter().map(|(name, open)| ((*name).to_owned(), open(top)));
        let idle = self.config.budget.invocation.silent_minutes;
        let setup = Setup {
            mask: held.mask(&self.config),
            bounds: self.bounds(self.isolation.sandbox().level()),
            isolation: self.isolation,
            agents: self.agents,
            crew: crew(&self.config, run)?,
            roles: self.roles.all,
            skills: self.skills,
            catalogue: own_catalogue(run.workflow())?,
            checks: self.checks.commands,
            reports: self.checks.reports,
            prepare: self.checks.prepare,
            identity: self.identity,
            summary: summary(run),
            target: self.target,
            made_from: self.made_from,
            author: self.author,
            lanes_bytes_max: self.config.lanes.bytes_max(),
            conflicts: self.config.lanes.policy(),
            idle: idle.map(|it| Duration::from_secs(it * 60)),
            grace: GRACE,
        };
        let tools = Tools {
            spawner: held.spawner.clone(),
            store: self.store,
            setup,
            clerk,
            readers: readers.collect(),
            inbox,
            dir: held.dir.clone(),
        };
        Ok(Shop::open(tools, run, books)?)
    }
}

/// Who is there for a run. Where its workflow asks which models are wanted, the answer counts more than the configuration:
/// `models` is a preset or `custom`, `triple` then says which, `verifier_model` is the verifier's.
fn crew(config: &Config, run: &Run) -> Result<Crew, Error> {
    let mut crew = config.crew();
    let said = |name: &str| match run.input_named(name) {
        Some(Value::Text(text)) => Some(text.to_string()),
        _ => None,
    };
    let models = said("models").map(|preset| match preset.as_str() {
        "custom" => said("triple").unwrap_or_default(),
        _ => preset,
    });
    // What is inherited is what the configuration says.
    if let Some(models) = models.filter(|models| models != "default") {
        crew.preset = Some(Preset::parse(&models).map_err(Error::usage)?);
    }
    if let Some(model) = said("verifier_model").filter(|model| model != "haiku") {
        crew.posts.entry(Post::Verifier).or_default().model = Some(Model::parse(&model));
    }
    Ok(crew)
}

/// The checks that a workflow runs, and those that are part of others.
fn run_checks(flow: &Workflow) -> Vec<&str> {
    // `serve` is what the check `contract` starts.
    let usual = ["setup", "build", "test", "lint", "type-check", "serve", COMMIT_HOOKS];
    let named = flow.stages.iter().flat_map(|stage| stage.kind.checks());
    named.map(String::as_str).chain(usual).collect()
}

/// What a run is for: the same for everybody who is asked.
fn summary(run: &Run) -> String {
    let inputs = run
        .workflow()
        .inputs
        .iter()
        .zip(0..)
        .filter_map(|(input, at)| Some(format!("{}: {}", input.name, run.input(InputIx(at))?)));
    format!("{}\n\n{}", run.workflow().about, inputs.collect::<Vec<_>>().join("\n"))
}

/// The part of the catalogue that a workflow uses, as it was when the workflow was loaded.
fn own_catalogue(flow: &Workflow) -> Result<Catalogue, Error> {
    Catalogue::parse(&flow.source.catalogue).map_err(|_| Error::defect())
}
