//! Where work is done: the repository a person is in, what Windlass remembers about it, and everything that a run
//! needs to get going.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use windlass_agents::{Agent, Here, Missing};
use windlass_clerks::Office;
use windlass_core::lang::Catalogue;
use windlass_core::run::{Phase, Run};
use windlass_core::workflow::{Kind, Workflow};
use windlass_engine::Engine;
use windlass_engine::books::Books;
use windlass_engine::clerk::Clerk;
use windlass_engine::clock::wall_ms;
use windlass_engine::detect::{self, Files};
use windlass_engine::mask::Mask;
use windlass_engine::message::Message;
use windlass_engine::role::Role;
use windlass_engine::setup::Setup;
use windlass_engine::shop::{GitRun, LaneTable, Shop};
use windlass_engine::skill::{Skill, Skills};
use windlass_journal::{
    Holder, Journal, Lock, RunId, StateDir, Surroundings, TakeError, is_read_only, room,
};
use windlass_process::{Ledger, Spawner, ledger};
use windlass_repo::{Branch, Git, Host, Oid, RepoError, Repository, Settings, Store, When};
use windlass_sources::READERS;

use crate::builtin;
use crate::config::{self, CheckConfig, Config};
use crate::error::Error;
use crate::suggest;

/// Where roles of the project's own are.
const ROLES: &str = ".windlass/roles";

/// Where skills of the project's own are, the first that has one counts.
const SKILLS: [&str; 3] = [".windlass/skills", ".agents/skills", ".claude/skills"];

/// A disk with less room than this is full.
const TIGHT: u64 = 1 << 20;

/// The check that stands for all.
const VALIDATE: &str = "validate";

/// How long a process has between being asked to end and being ended.
const GRACE: Duration = Duration::from_secs(5);

/// The repository a person is in, and where its state is.
pub struct Workplace {
    pub repository: Repository,
    pub dir: PathBuf,
    known: windlass_journal::Repository,
}

impl Workplace {
    /// Looks from a directory, without changing anything.
    pub fn find(from: &Path) -> Result<Self, Error> {
        let spawner = Spawner::start()?;
        let git = Git::find(Arc::new(GitRun(spawner.clone())), Host::of_this_process())?;
        let repository = Repository::find(&git, from)?;
        let known = windlass_journal::Repository::find(repository.common_dir())?;
        let dir = state_dir()?.repo_dir(&known);
        Ok(Workplace { repository, dir, known })
    }

    /// The journal, to look at. `None` when nothing was ever written.
    pub fn look(&self) -> Result<Option<Journal>, Error> {
        let path = self.dir.join(windlass_journal::DATABASE);
        match path.try_exists() {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(source) => return Err(Error::Unreadable { path, source }),
        }
        match Journal::open_read_only(&self.dir, &self.known) {
            // Whoever was about to make it has been cut off.
            Err(windlass_journal::Error::Missing { .. }) => Ok(None),
            opened => Ok(Some(opened?)),
        }
    }

    /// Takes the lock alone.
    pub fn lock(&self, what: &str) -> Result<Lock, Error> {
        let dir = state_dir()?.make_repo_dir(&self.known)?;
        match Lock::take(&dir, Holder::this_process(what, wall_ms())) {
            Ok(lock) => Ok(lock),
            Err(TakeError::Held(held)) => Err(Error::Held(TakeError::Held(held).to_string())),
            Err(TakeError::Failed(error)) => Err(error.into()),
        }
    }

    /// The journal, opened by the one who holds the lock.
    pub fn open(&self, lock: &Lock) -> Result<Journal, windlass_journal::Error> {
        Journal::open(lock, &self.known)
    }

    /// Takes the lock and opens the journal: from now on this process is the one that writes.
    pub fn take(self, what: &str) -> Result<Held, Error> {
        self.repository.usable()?;
        let lock = self.lock(what)?;
        let dir = lock.dir().to_owned();
        let ended = ledger::sweep(&dir, GRACE)?;
        let journal = self.open(&lock)?;
        let spawner = Spawner::start_with(Ledger::open(&dir)?)?;
        let repository = self.repository.run_by(Arc::new(GitRun(spawner.clone())));
        Ok(Held {
            lock: Arc::new(lock),
            journal,
            spawner,
            repository,
            dir,
            left_behind: ended.len(),
        })
    }
}

/// The repository, held by this process.
pub struct Held {
    pub lock: Arc<Lock>,
    pub journal: Journal,
    pub spawner: Spawner,
    pub repository: Repository,
    pub dir: PathBuf,
    /// Processes that an earlier Windlass left behind and that were ended.
    pub left_behind: usize,
}

/// What a run is done with, before there is a loop to report to.
pub struct Prepared {
    pub store: Store,
    pub config: Config,
    pub target: Branch,
    /// Where the target is.
    pub base: Oid,
    setup: Parts,
}

struct Parts {
    agents: BTreeMap<String, Arc<dyn Agent>>,
    roles: BTreeMap<String, Role>,
    /// Roles that the project has files of its own for.
    own_roles: BTreeSet<String>,
    skills: Skills,
    checks: BTreeMap<String, String>,
    prepare: Option<String>,
    identity: String,
    author: windlass_repo::Person,
}

impl Held {
    /// What went wrong, together with the disk that explains it, if one does.
    pub fn explained(&self, cause: Error) -> Error {
        let places = [self.dir.as_path(), self.repository.top()];
        let is_full = |dir: &Path| room(dir).is_some_and(|room| room < TIGHT);
        let flawed = places.into_iter().find(|dir| is_full(dir) || is_read_only(dir));
        match flawed {
            Some(dir) => {
                let (dir, is_full) = (dir.to_owned(), is_full(dir));
                Error::Disk { cause: Box::new(cause), dir, is_full }
            }
            None => cause,
        }
    }

    /// Reads the configuration of the base commit and gets everything ready that a run needs.
    pub fn prepare(&self, target: Option<&str>) -> Result<Prepared, Error> {
        self.made_ready(target).map_err(|cause| match cause {
            trouble @ (Error::Repo(_) | Error::Git(_) | Error::Journal(_)) => {
                self.explained(trouble)
            }
            other => other,
        })
    }

    fn made_ready(&self, target: Option<&str>) -> Result<Prepared, Error> {
        // The configuration names the files that lanes need, so it is read with a store that knows of none.
        let looking = Store::open(self.repository.clone(), &self.dir, Settings::default())?;
        looking.recover()?;
        let heads = looking.sync()?;
        let here = match target {
            Some(name) => Branch::new(name).map_err(|error| Error::BadBranch(error.to_string()))?,
            None => self.repository.branch()?,
        };
        let tip = |branch: &Branch| {
            heads.tip(branch).cloned().ok_or_else(|| Error::NoBranch(branch.to_string()))
        };
        let at = |base: &Oid, path: &str| -> Result<Option<String>, Error> {
            let bytes = looking.file_at(base, Path::new(path))?;
            Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
        };
        let here_tip = tip(&here)?;
        let config = match at(&here_tip, config::FILE)? {
            Some(text) => Config::parse(&text)?,
            None => Config::default(),
        };
        let target = match (&config.land.branch, target) {
            (Some(name), None) => {
                Branch::new(name).map_err(|error| Error::BadBranch(error.to_string()))?
            }
            _ => here,
        };
        let base = tip(&target)?;
        let mut roles = BTreeMap::new();
        for (name, text) in builtin::ROLES {
            roles.insert(name.to_owned(), Role::parse(name, text)?);
        }
        let names = looking.names_at(&base, Path::new(""))?;
        let has_roles = names.iter().any(|name| name == ".windlass");
        let mut own_roles = BTreeSet::new();
        let own = if has_roles { looking.names_at(&base, Path::new(ROLES))? } else { Vec::new() };
        for file in own {
            let Some(name) = file.strip_suffix(".md") else { continue };
            if let Some(text) = at(&base, &format!("{ROLES}/{file}"))? {
                roles.insert(name.to_owned(), Role::parse(name, &text)?);
                own_roles.insert(name.to_owned());
            }
        }
        let mut skills = Skills { offered: config.skills.clone(), ..Skills::default() };
        let named = roles.values().flat_map(|role| &role.skills);
        let named: BTreeSet<&String> = named.chain(config.skills.values().flatten()).collect();
        let mut places = Vec::new();
        for place in SKILLS {
            if names.iter().any(|name| place.split('/').next() == Some(name)) {
                places.push((place, looking.names_at(&base, Path::new(place))?));
            }
        }
        for name in named.into_iter().filter(|name| Skill::is_name(name)) {
            let mut found = None;
            for (place, there) in &places {
                let file = format!("{name}.md");
                let path = if there.contains(&file) {
                    format!("{place}/{file}")
                } else if there.contains(name) {
                    format!("{place}/{name}/SKILL.md")
                } else {
                    continue;
                };
                let bytes = looking.linked_file_at(&base, Path::new(&path))?;
                let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
                found = text.map(|text| Skill::parse(name, &path, &text));
                if found.is_some() {
                    break;
                }
            }
            let built_in = builtin::SKILLS.into_iter().find(|(own, _)| own == name);
            let found = found.or_else(|| built_in.map(|(_, text)| Skill::parse(name, "", text)));
            skills.known.extend(found.map(|skill| (name.clone(), skill)));
        }
        let files = AtCommit { store: &looking, base: &base, names, unread: RefCell::new(None) };
        let found = detect::detect(&files);
        if let Some(error) = files.unread.take() {
            return Err(error.into());
        }
        let detected = [
            ("build", found.build),
            ("test", found.test),
            ("lint", found.lint),
            ("type-check", found.type_check),
        ];
        let mut checks: BTreeMap<String, String> = detected
            .into_iter()
            .filter_map(|(name, command)| Some((name.to_owned(), command?)))
            .collect();
        let mut prepare = found.setup;
        for (name, check) in &config.checks {
            let command = match check {
                CheckConfig::Command(command) => Some(command.clone()),
                CheckConfig::Off(_) => None,
            };
            match (name.as_str(), command) {
                ("setup", command) => prepare = command,
                (name, Some(command)) => {
                    checks.insert(name.to_owned(), command);
                }
                (name, None) => {
                    checks.remove(name);
                }
            }
        }
        // Without a command of its own, a project is valid if it builds and its tests pass.
        if !config.checks.contains_key(VALIDATE) {
            let parts = ["build", "test"].into_iter().filter_map(|name| checks.get(name));
            let parts: Vec<String> = parts.map(|command| format!("({command})")).collect();
            if !parts.is_empty() {
                checks.insert(VALIDATE.to_owned(), parts.join(" && "));
            }
        }
        let name = self.repository.top().file_name();
        let name = name.map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let extras = config.lanes.copy.iter().map(PathBuf::from).collect();
        drop(looking);
        let settings = Settings { extras, ..Settings::default() };
        let store = Store::open(self.repository.clone(), &self.dir, settings)?;
        let parts = Parts {
            agents: self.agents(&config)?,
            roles,
            own_roles,
            skills,
            checks,
            prepare,
            identity: format!("{name} ({})", found.language),
            author: self.repository.identity()?,
        };
        Ok(Prepared { store, config, target, base, setup: parts })
    }

    fn agents(&self, config: &Config) -> Result<BTreeMap<String, Arc<dyn Agent>>, Error> {
        let windlass = std::env::current_exe().map_err(Error::Output)?;
        let here = Here { top: self.repository.top(), windlass: &windlass, which };
        let mut agents = BTreeMap::new();
        for (name, settings) in &config.agents {
            let agent = settings.agent(&here).map_err(|missing| match missing {
                Missing::Program { program } => Error::NoAgent { agent: name.clone(), program },
                Missing::File { path, source } => Error::Unreadable { path, source },
            })?;
            agents.insert(name.clone(), agent);
        }
        Ok(agents)
    }

    /// What is never written down: what agents are handed, and what lanes get.
    fn mask(&self, config: &Config) -> Mask {
        let handed = |name: &str| {
            config.agents.values().any(|agent| agent.handed().iter().any(|own| own == name))
        };
        let variables: Vec<_> = std::env::vars_os().collect();
        let variables = variables.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()));
        let mut mask = Mask::of(variables, handed);
        for file in &config.lanes.copy {
            let bytes = std::fs::read(self.repository.top().join(file)).unwrap_or_default();
            mask.file(&String::from_utf8_lossy(&bytes));
        }
        mask
    }

    /// Gives the lanes of runs that are over back to the pool. What is in them is kept.
    pub fn free_lanes(&self, store: &Store, own: &RunId) -> Result<(), Error> {
        let mut over = BTreeMap::new();
        for lane in store.pool()?.into_iter().filter_map(|pooled| pooled.lane) {
            if lane.run == own.as_str() {
                continue;
            }
            let ended = over.entry(lane.run.clone()).or_insert_with(|| {
                let id: Option<RunId> = lane.run.parse().ok();
                let engine = id.and_then(|id| Engine::resume(&self.journal, id).ok());
                engine.is_some_and(|engine| engine.run().phase() == Phase::Ended)
            });
            if *ended {
                let now = u64::try_from(wall_ms() / 1_000).unwrap_or(0);
                store.release(&lane, When::utc(now))?;
            }
        }
        Ok(())
    }

    /// Everything that the effects of a run may use.
    pub fn shop(
        &self,
        prepared: Prepared,
        run: &Run,
        books: &Books,
        catalogue: Catalogue,
        clerk: Arc<dyn Clerk>,
        inbox: Sender<Message>,
    ) -> Result<Shop, Error> {
        let Prepared { store, config, target, setup: parts, .. } = prepared;
        let lanes = Mutex::new(LaneTable::of(&store, run)?);
        let top = self.repository.top();
        let readers = READERS.iter().map(|(name, open)| ((*name).to_owned(), open(top)));
        let inputs = run.workflow().inputs.iter().zip(0..);
        let inputs = inputs.filter_map(|(input, at)| {
            let value = run.input(windlass_core::workflow::InputIx(at))?;
            Some(format!("{}: {value}", input.name))
        });
        let inputs: Vec<String> = inputs.collect();
        let setup = Setup {
            agents: parts.agents,
            players: config.roles.clone(),
            roles: parts.roles,
            skills: parts.skills,
            catalogue,
            checks: parts.checks,
            prepare: parts.prepare,
            identity: parts.identity,
            summary: format!("{}\n\n{}", run.workflow().about, inputs.join("\n")),
            target,
            author: parts.author,
            mask: self.mask(&config),
            idle: config.budget.invocation.silent_minutes.map(|it| Duration::from_secs(it * 60)),
            grace: GRACE,
        };
        Ok(Shop {
            spawner: self.spawner.clone(),
            store,
            setup,
            dir: self.dir.clone(),
            run: run.id().to_owned(),
            inbox,
            clerk,
            readers: readers.collect(),
            on_base: Mutex::new(books.on_base().clone()),
            lanes,
            stands: Mutex::default(),
            benches: Mutex::default(),
            desks_in_use: Arc::default(),
            turns: Mutex::default(),
        })
    }
}

impl Prepared {
    /// Skills that somebody names and nobody has.
    pub fn absent_skills(&self) -> Vec<&str> {
        let named = self.setup.roles.values().flat_map(|role| &role.skills);
        let named: BTreeSet<&String> = named.chain(self.config.skills.values().flatten()).collect();
        let absent = named.into_iter().filter(|name| !self.setup.skills.known.contains_key(*name));
        absent.map(String::as_str).collect()
    }

    /// The checks that there are, in words.
    pub fn checks(&self) -> String {
        let names: Vec<&str> = self.setup.checks.keys().map(String::as_str).collect();
        if names.is_empty() { "none: everything is skipped".to_owned() } else { names.join(", ") }
    }

    /// What the configuration names and the workflow does not, but for a slip of the pen.
    pub fn slips(&self, flow: &Workflow) -> Vec<String> {
        let usual = ["setup", "build", "test", "lint", "type-check"];
        let checks = flow.stages.iter().flat_map(|stage| match &stage.kind {
            Kind::Checks { names, .. } => names.as_slice(),
            _ => &[],
        });
        let checks: Vec<&str> = checks.map(String::as_str).chain(usual).collect();
        let players: Vec<&str> =
            flow.roles.keys().map(String::as_str).chain([Setup::ANY]).collect();
        let slip = |table: &str, name: &str, known: &[&str]| {
            if known.contains(&name) {
                return None;
            }
            let near = suggest::nearest(name, known.iter().copied())?;
            Some(format!(
                "windlass.toml: `{}` uses no `{name}` of [{table}]; did you mean `{near}`?",
                flow.name
            ))
        };
        let roles = self.config.roles.keys().filter_map(|name| slip("roles", name, &players));
        let checks = self.config.checks.keys().filter_map(|name| slip("checks", name, &checks));
        let skills = self.config.skills.keys().filter_map(|name| slip("skills", name, &players));
        roles.chain(checks).chain(skills).collect()
    }

    /// Whether a workflow can be done with this: every role has somebody to play it, every source somebody to read it.
    /// Better asked before anything starts than found out in the night.
    pub fn suffices(&self, flow: &Workflow) -> Result<(), Error> {
        let office = Office::of(flow);
        for stage in &flow.stages {
            if let Kind::Read { name } = &stage.kind
                && !READERS.iter().any(|(own, _)| own == name)
                && !office.is_some_and(|office| office.readers.contains(&name.as_str()))
            {
                return Err(Error::NoReader { workflow: flow.name.clone(), reader: name.clone() });
            }
        }
        let unplayed = flow.roles.keys().find(|role| {
            let roles = &self.config.roles;
            !roles.contains_key(*role) && !roles.contains_key(Setup::ANY)
        });
        if let Some(role) = unplayed {
            return Err(Error::NoPlayer { role: role.clone() });
        }
        // What is built in is for the workflow it was made for.
        for role in flow.roles.keys().filter(|role| self.setup.own_roles.contains(*role)) {
            let writes = self.setup.roles.get(role).map_or(&[][..], |role| &role.writes);
            let known = office.map_or(&[][..], |office| office.files);
            if let Some(file) = writes.iter().find(|file| !known.contains(&file.as_str())) {
                let (role, file) = (role.clone(), file.clone());
                return Err(Error::NoPlace { workflow: flow.name.clone(), role, file, known });
            }
        }
        Ok(())
    }
}

/// The files at the top of a commit.
struct AtCommit<'a> {
    store: &'a Store,
    base: &'a Oid,
    names: Vec<String>,
    /// Why a file could not be read: what was detected without it counts for nothing.
    unread: RefCell<Option<RepoError>>,
}

impl Files for AtCommit<'_> {
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    fn text(&self, name: &str) -> Option<String> {
        if !self.names.iter().any(|own| own == name) {
            return None;
        }
        match self.store.file_at(self.base, Path::new(name)) {
            Ok(bytes) => Some(String::from_utf8_lossy(&bytes?).into_owned()),
            Err(error) => {
                self.unread.replace(Some(error));
                None
            }
        }
    }
}

/// A program of the person's, as their shell would find it.
fn which(program: &str) -> Option<PathBuf> {
    windlass_process::which(program, &windlass_process::Env::inherited())
}

/// Where Windlass keeps what it remembers.
fn state_dir() -> Result<StateDir, Error> {
    let var = |name| std::env::var_os(name);
    let (own, xdg, home) = (var("WINDLASS_STATE_DIR"), var("XDG_STATE_HOME"), var("HOME"));
    Ok(StateDir::locate(Surroundings {
        windlass_state_dir: own.as_deref(),
        xdg_state_home: xdg.as_deref(),
        home: home.as_deref(),
    })?)
}
