//! `windlass.toml`: who does the work, what checks it, what it may cost. Read from the base commit, never from a lane.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use windlass_agents::{CONFIGURATION, Flaw, Post};
use windlass_core::path::Below;
use windlass_core::run::{Caps, Settings, StandingPolicy};
use windlass_core::workflow::{Kind, Stage, Workflow};
use windlass_engine::crew::{Crew, Model, Preset, Seat};
use windlass_engine::isolation::Openings;
use windlass_engine::role::Role;
use windlass_engine::skill::Skill;
use windlass_process::sandbox::{Level, Wanted};
use windlass_process::{Bounds, Disk};

use crate::suggest;

mod check;
mod issues;
mod lanes;

pub use check::{CheckConfig, ReportingConfig};
pub use issues::{IssuesConfig, LandsBy, Which};
pub use lanes::LaneConfig;

/// The name of the file, at the top of the repository.
pub const FILE: &str = "windlass.toml";

/// What the file says. Everything has a default.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// Agents by name.
    #[serde(default)]
    pub agents: BTreeMap<String, windlass_agents::Kind>,
    /// Which agent plays which role; `default` plays all others. Of several each takes over when those before it are
    /// limited by their provider.
    #[serde(default)]
    pub roles: BTreeMap<String, Players>,
    /// Who fills which post, and with which model.
    #[serde(default)]
    pub crew: CrewConfig,
    /// Accounts that agents share, by name.
    #[serde(default)]
    pub accounts: BTreeMap<String, AccountConfig>,
    /// Guidance that roles are offered, by role; `default` is for all of them.
    #[serde(default)]
    pub skills: BTreeMap<String, Vec<String>>,
    /// Commands by the name of their check; `false` means that there is none.
    #[serde(default)]
    pub checks: BTreeMap<String, CheckConfig>,
    /// Lanes.
    #[serde(default)]
    pub lanes: LaneConfig,
    /// What agents and checks see of the machine.
    #[serde(default)]
    pub sandbox: SandboxConfig,
    /// What an agent or a check may take of the machine.
    #[serde(default)]
    pub limits: LimitsConfig,
    /// Landing.
    #[serde(default)]
    pub land: LandConfig,
    /// Issues.
    #[serde(default)]
    pub issues: IssuesConfig,
    /// Caps.
    #[serde(default)]
    pub budget: Budget,
    /// Policies that answer gates, by name.
    #[serde(default)]
    pub policies: BTreeMap<String, PolicyConfig>,
}

/// An agent, or several.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "an agent's name, or a list of names")]
pub enum Players {
    /// One.
    One(String),
    /// Several, in the order in which they take over.
    Several(Vec<String>),
}

impl Players {
    /// Their names.
    pub fn names(&self) -> &[String] {
        match self {
            Players::One(name) => std::slice::from_ref(name),
            Players::Several(names) => names,
        }
    }
}

/// Who fills which post, and with which model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CrewConfig {
    /// How strong a model each post has: `default`, `all-opus`, `balanced`, `economy`, or three of them, as in
    /// `executor:sonnet,advisor:opus,evaluator:opus`.
    pub preset: Option<String>,
    /// Who plans.
    pub planner: Option<SeatConfig>,
    /// Who does the work.
    pub executor: Option<SeatConfig>,
    /// Who gives advice.
    pub advisor: Option<SeatConfig>,
    /// Who judges.
    pub evaluator: Option<SeatConfig>,
    /// Who runs what checks it.
    pub verifier: Option<SeatConfig>,
}

/// Who fills a post.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "an agent, a list of agents, or { agent, model, effort }")]
pub enum SeatConfig {
    /// An agent, or several.
    Agents(Players),
    /// With more to say.
    Seat(FullSeat),
}

/// Who fills a post, and with what.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FullSeat {
    /// The agent, or several.
    pub agent: Option<Players>,
    /// The model: `strong`, `standard`, `fast`, or its name.
    pub model: Option<String>,
    /// How hard it is to think.
    pub effort: Option<String>,
}

impl SeatConfig {
    fn seat(&self) -> Seat {
        match self {
            SeatConfig::Agents(agents) => {
                Seat { agents: agents.names().to_vec(), ..Seat::default() }
            }
            SeatConfig::Seat(FullSeat { agent, model, effort }) => Seat {
                agents: agent.as_ref().map(|agent| agent.names().to_vec()).unwrap_or_default(),
                model: model.as_deref().map(Model::parse),
                effort: effort.clone(),
            },
        }
    }
}

impl CrewConfig {
    fn posts(&self) -> impl Iterator<Item = (Post, &SeatConfig)> {
        let seats = [
            (Post::Planner, &self.planner),
            (Post::Executor, &self.executor),
            (Post::Advisor, &self.advisor),
            (Post::Evaluator, &self.evaluator),
            (Post::Verifier, &self.verifier),
        ];
        seats.into_iter().filter_map(|(post, seat)| Some((post, seat.as_ref()?)))
    }
}

/// An account that agents share.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AccountConfig {
    /// Who works on it. Agents that are handed the same keys share one without being named.
    pub agents: Vec<String>,
    /// How many of them may work at once.
    pub at_once: Option<usize>,
}

/// What agents and checks see of the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SandboxConfig {
    /// What stands between them and the machine: `bubblewrap`, `landlock` or `none`. Without it the best of the first two
    /// that starts here is taken.
    pub level: Option<String>,
    /// Further files and directories that they see; `~` is your home.
    #[serde(default)]
    pub read: Vec<String>,
    /// Further files and directories that they may change.
    #[serde(default)]
    pub write: Vec<String>,
    /// Agents' own configuration in the repository that they are to have, such as `.claude`.
    #[serde(default)]
    pub unmask: Vec<String>,
}

impl SandboxConfig {
    /// What is asked for; what a person says here and now counts more than the file.
    pub fn wanted(&self, said: Option<&str>) -> Result<Wanted, String> {
        let Some(name) = said.filter(|said| !said.is_empty()).or(self.level.as_deref()) else {
            return Ok(Wanted::Best);
        };
        if name == "best" {
            return Ok(Wanted::Best);
        }
        Level::named(name).map(Wanted::Level).ok_or_else(|| no_level(name))
    }

    /// What is shown besides.
    pub fn openings(&self) -> Openings {
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let path = |text: &String| match (text.strip_prefix("~/"), &home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(text),
        };
        Openings {
            read: self.read.iter().map(path).collect(),
            write: self.write.iter().map(path).collect(),
            unmask: self.unmask.clone(),
        }
    }
}

/// What an agent or a check, with everything that it starts, may take of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LimitsConfig {
    /// Processes and threads at once; 4096 if not said.
    pub processes: Option<u64>,
    /// Memory, in megabytes; three quarters of the machine's if not said.
    pub memory_mb: Option<u64>,
    /// Time of the processor, in minutes; no limit if not said.
    pub cpu_minutes: Option<u64>,
    /// Open files of each process; 65536 if not said.
    pub files: Option<u64>,
    /// The length of each file that is written, in megabytes; 16384 if not said.
    pub file_mb: Option<u64>,
    /// The lane with the home and the scratch files that go with it, in megabytes; 32768 if not said.
    pub disk_mb: Option<u64>,
}

impl LimitsConfig {
    /// As the spawner takes it.
    pub fn bounds(&self) -> Bounds {
        const MB: u64 = 1 << 20;
        let bytes = |mb: Option<u64>, usual: u64| mb.unwrap_or(usual).saturating_mul(MB);
        let memory = self.memory_mb.map(|mb| mb.saturating_mul(MB));
        Bounds {
            processes: Some(self.processes.unwrap_or(4096)),
            memory: memory.or_else(|| Some(memory_of_machine()? / 4 * 3)),
            cpu: self.cpu_minutes.map(|minutes| Duration::from_secs(minutes.saturating_mul(60))),
            files: Some(self.files.unwrap_or(65_536)),
            file: Some(bytes(self.file_mb, 16_384)),
            disk: Some(Disk { below: Vec::new(), bytes: bytes(self.disk_mb, 32_768) }),
        }
    }
}

/// How much memory the machine has, in bytes.
fn memory_of_machine() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kb: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kb * 1024)
}

fn no_level(name: &str) -> String {
    let known = Level::ALL.map(Level::name);
    format!("`{name}` is no level of isolation: there are {}", known.join(", "))
}

/// Landing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LandConfig {
    /// The branch; without one it is the one that is checked out.
    pub branch: Option<String>,
}

/// Caps, in dollars and hours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Over the whole run.
    #[serde(default)]
    pub run: Cap,
    /// Over each unit.
    #[serde(default)]
    pub unit: Cap,
    /// Over each invocation.
    #[serde(default)]
    pub invocation: Invocation,
    /// The most that one request inside an invocation can use up: so much is kept back for the one that is under way
    /// when an agent is stopped at its limit.
    #[serde(default)]
    pub request: Request,
}

/// A cap on one invocation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Invocation {
    /// Dollars.
    pub dollars: Option<f64>,
    /// Minutes.
    pub minutes: Option<u64>,
    /// Minutes without a word; without it silence has no limit of its own.
    pub silent_minutes: Option<u64>,
    /// Tokens.
    pub tokens: Option<u64>,
    /// Turns of an agent that tells of them: how often it may ask its model.
    pub turns: Option<u32>,
}

/// What one request can use up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Dollars.
    pub dollars: Option<f64>,
    /// Tokens.
    pub tokens: Option<u64>,
}

/// A cap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cap {
    /// Dollars.
    pub dollars: Option<f64>,
    /// Minutes.
    pub minutes: Option<u64>,
    /// Tokens.
    pub tokens: Option<u64>,
}

/// A policy that answers a gate.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyConfig {
    /// The gate's stage.
    pub stage: String,
    /// The option.
    pub answer: String,
}

/// What is wrong with the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{FILE}:{line}:{column}: {message}")]
pub struct BadConfig {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What was probably meant.
    pub help: Option<String>,
}

/// The form of the file, as a JSON schema.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Config).to_value()
}

impl Config {
    /// Reads the file.
    pub fn parse(text: &str) -> Result<Self, BadConfig> {
        let config: Config = toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            bad(text, start, error.message())
        })?;
        config.check(text)?;
        Ok(config)
    }

    /// What one part says about another.
    fn check(&self, text: &str) -> Result<(), BadConfig> {
        let at = |word: &str| text.find(word).unwrap_or(0);
        self.check_crew(text)?;
        for (name, agent) in &self.agents {
            if let Some(Flaw { what, at: word, help }) = agent.flaw() {
                let message = format!("the agent `{name}` {what}");
                let start = at(word.as_ref().unwrap_or(name));
                return Err(BadConfig { help, ..bad(text, start, &message) });
            }
        }
        for skill in self.skills.values().flatten() {
            if !Skill::is_name(skill) {
                let message =
                    format!("`{skill}` is no name of a skill: letters, digits, `-` and `_` only");
                return Err(bad(text, at(skill), &message));
            }
        }
        for (name, check) in &self.checks {
            if *check == CheckConfig::Off(true) {
                let message = format!("the check `{name}` is `true`: give its command, or `false`");
                return Err(bad(text, at(name), &message));
            }
            if let CheckConfig::Reporting(ReportingConfig { report, .. }) = check
                && let Err(flaw) = Below::parse(report)
            {
                return Err(bad(text, at(report), &flaw.to_string()));
            }
        }
        self.check_isolation(text)?;
        if let Some(flaw) = self.lanes.flaw() {
            return Err(bad(text, at(flaw.0), &flaw.1));
        }
        for copy in &self.lanes.copy {
            if let Err(flaw) = Below::parse(copy) {
                return Err(bad(text, at(copy), &flaw.to_string()));
            }
        }
        let Budget { run, unit, invocation, request } = &self.budget;
        let dollars = [run.dollars, unit.dollars, invocation.dollars, request.dollars];
        for dollars in dollars.into_iter().flatten() {
            if !dollars.is_finite() || dollars <= 0.0 {
                return Err(bad(text, at("dollars"), "a cap is more than 0 dollars"));
            }
        }
        Ok(())
    }

    /// What it says about who does what.
    fn check_crew(&self, text: &str) -> Result<(), BadConfig> {
        let at = |word: &str| text.find(word).unwrap_or(0);
        let by_role = self.roles.iter().map(|(role, players)| {
            (format!("the role `{role}` is played by"), players.names().to_vec())
        });
        let by_post = self.crew.posts().map(|(post, seat)| {
            (format!("the post `{}` of [crew] is filled by", post.name()), seat.seat().agents)
        });
        let by_account = self.accounts.iter().map(|(account, config)| {
            (format!("the account `{account}` is shared by"), config.agents.clone())
        });
        for (who, agents) in by_role.chain(by_post).chain(by_account) {
            for agent in agents {
                if self.agents.contains_key(&agent) {
                    continue;
                }
                let known = self.agents.keys().map(String::as_str);
                let help = suggest::nearest(&agent, known)
                    .map(|near| format!("did you mean `{near}`?"))
                    .or_else(|| Some(format!("add `[agents.{agent}]`")));
                let message = format!("{who} `{agent}`, which is no agent here");
                return Err(BadConfig { help, ..bad(text, at(&agent), &message) });
            }
        }
        if let Some((role, _)) = self.roles.iter().find(|(_, players)| players.names().is_empty()) {
            let message = format!("the role `{role}` is played by nobody");
            return Err(bad(text, at(role), &message));
        }
        if let Some(preset) = &self.crew.preset
            && let Err(flaw) = Preset::parse(preset)
        {
            return Err(bad(text, at(preset), &flaw));
        }
        for (account, config) in &self.accounts {
            if config.at_once == Some(0) {
                let message = format!("nobody could ever work on the account `{account}`");
                return Err(bad(text, at("at-once"), &message));
            }
            let twice = config.agents.iter().find(|agent| {
                let others = self.accounts.iter().filter(|(name, _)| *name != account);
                others.into_iter().any(|(_, other)| other.agents.contains(agent))
            });
            if let Some(agent) = twice {
                let message = format!("the agent `{agent}` is on two accounts");
                return Err(bad(text, at(account), &message));
            }
        }
        Ok(())
    }

    /// Who does what.
    pub fn crew(&self) -> Crew {
        let mut accounts = BTreeMap::new();
        for (name, agent) in &self.agents {
            // Who is handed the same keys is one customer.
            let mut keys = agent.handed();
            keys.sort_unstable();
            if !keys.is_empty() {
                accounts.insert(name.clone(), keys.join(" "));
            }
        }
        for (account, config) in &self.accounts {
            accounts.extend(config.agents.iter().map(|agent| (agent.clone(), account.clone())));
        }
        let players = |players: &Players| players.names().to_vec();
        let at_once =
            self.accounts.iter().filter_map(|(name, it)| Some((name.clone(), it.at_once?)));
        let kind = |(name, kind): (&String, &windlass_agents::Kind)| {
            (name.clone(), kind.word().to_owned())
        };
        Crew {
            agents: self.agents.iter().map(kind).collect(),
            roles: self.roles.iter().map(|(role, own)| (role.clone(), players(own))).collect(),
            posts: self.crew.posts().map(|(post, seat)| (post, seat.seat())).collect(),
            preset: self.crew.preset.as_deref().and_then(|preset| Preset::parse(preset).ok()),
            accounts,
            at_once: at_once.collect(),
        }
    }

    /// What it says about isolation and limits.
    fn check_isolation(&self, text: &str) -> Result<(), BadConfig> {
        let at = |word: &str| text.find(word).unwrap_or(0);
        if let Some(level) = &self.sandbox.level
            && Level::named(level).is_none()
        {
            return Err(bad(text, at(level), &no_level(level)));
        }
        let paths = self.sandbox.read.iter().chain(&self.sandbox.write);
        for path in paths {
            if !path.starts_with('/') && !path.starts_with("~/") {
                let message = format!("`{path}` of [sandbox] begins with neither `/` nor `~/`");
                return Err(bad(text, at(path), &message));
            }
        }
        let LimitsConfig { processes, memory_mb, cpu_minutes, files, file_mb, disk_mb } =
            self.limits;
        if [processes, memory_mb, cpu_minutes, files, file_mb, disk_mb].contains(&Some(0)) {
            return Err(bad(text, at("[limits]"), "a limit of 0 lets nothing start"));
        }
        for name in &self.sandbox.unmask {
            let known = CONFIGURATION.iter().map(|(name, _)| *name);
            if !known.clone().any(|known| known == name) {
                let help =
                    suggest::nearest(name, known).map(|near| format!("did you mean `{near}`?"));
                let message = format!("`{name}` is not masked, so it cannot be unmasked");
                return Err(BadConfig { help, ..bad(text, at(name), &message) });
            }
        }
        Ok(())
    }

    /// What is frozen into a run's first event; `played` is a role by its name.
    pub fn settings(&self, flow: &Workflow, played: impl Fn(&str) -> Role) -> Settings {
        let mut caps = Caps::default();
        let micros = |dollars: f64| (dollars * 1e6) as u64;
        let ms = |minutes: u64| minutes.saturating_mul(60_000);
        for (cap, own) in [(&mut caps.run, self.budget.run), (&mut caps.unit, self.budget.unit)] {
            cap.cost_micros = own.dollars.map(micros).or(cap.cost_micros);
            cap.wall_ms = own.minutes.map(ms).or(cap.wall_ms);
            cap.tokens = own.tokens.or(cap.tokens);
        }
        let own = self.budget.invocation;
        let invocation = &mut caps.invocation;
        invocation.amount.cost_micros = own.dollars.map_or(invocation.amount.cost_micros, micros);
        invocation.amount.tokens = own.tokens.unwrap_or(invocation.amount.tokens);
        invocation.iterations = own.turns.or(invocation.iterations);
        let request = self.budget.request;
        invocation.request.cost_micros =
            request.dollars.map_or(invocation.request.cost_micros, micros);
        invocation.request.tokens = request.tokens.unwrap_or(invocation.request.tokens);
        invocation.wall_ms = own.minutes.map_or(invocation.wall_ms, ms);
        let free = |agent: &String| self.agents.get(agent).is_some_and(|agent| agent.is_free());
        let crew = self.crew();
        // A role is without cost if everybody who may play it is: who is named here, or by a stage.
        let unpriced = flow.roles.keys().filter(|role| {
            let call = crew.call(role, &played(role), None);
            let named = call.map(|call| call.agents).unwrap_or_default();
            let by_stages = flow.stages.iter().flat_map(|stage| self.wanted_by(stage, role, &crew));
            named.into_iter().chain(by_stages).all(|agent| free(&agent))
        });
        Settings {
            caps,
            unpriced: unpriced.cloned().collect(),
            policies: self
                .policies
                .iter()
                .map(|(name, policy)| StandingPolicy {
                    name: name.clone(),
                    stage: policy.stage.clone(),
                    answer: policy.answer.clone(),
                })
                .collect(),
        }
    }
}

impl Config {
    /// The agents that a stage may want for a role. Where a person may say which, that is any of them.
    fn wanted_by(&self, stage: &Stage, role: &str, crew: &Crew) -> Vec<String> {
        match &stage.kind {
            Kind::Role { role: own, .. }
                if own == role && stage.with.iter().any(|(name, _)| name == "agent") =>
            {
                self.agents.keys().cloned().collect()
            }
            Kind::Role { role: own, agents, .. } if own == role => {
                agents.iter().flat_map(|name| crew.named(name)).collect()
            }
            _ => Vec::new(),
        }
    }
}

fn bad(text: &str, start: usize, message: &str) -> BadConfig {
    let at = windlass_core::lang::place(text, start);
    let mut words = message.split('`').skip(1).step_by(2);
    let help = message.starts_with("unknown ").then(|| words.next()).flatten().and_then(|word| {
        let near = suggest::nearest(word, words)?;
        Some(format!("did you mean `{near}`?"))
    });
    BadConfig { line: at.line, column: at.column, message: message.to_owned(), help }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = r#"
[agents.mine]
kind = "command"
command = ["my-agent", "--quiet"]
cost = "none"

[agents.acted]
kind = "scripted"
script = "script.toml"

[roles]
default = "acted"
worker = "mine"

[checks]
test = "make test"
lint = false

[lanes]
copy = [".env"]

[land]
branch = "main"

[budget]
run = { dollars = 5, minutes = 90 }
invocation = { dollars = 0.5, silent_minutes = 9, turns = 40 }
request = { dollars = 0.1, tokens = 1000 }

[policies.night]
stage = "approve"
answer = "yes"
"#;

    fn plain(name: &str) -> Role {
        Role::plain(name, "")
    }

    /// A workflow with a worker and a reviewer.
    fn small() -> Workflow {
        use windlass_core::lang::{Catalogue, load};
        let catalogue = include_str!("../tests/fixtures/small-catalogue.toml");
        let catalogue = Catalogue::parse(catalogue).unwrap();
        load(include_str!("../tests/fixtures/small.toml"), &catalogue).unwrap()
    }

    #[test]
    fn a_role_is_without_cost_if_everybody_who_may_play_it_is() {
        let agents = "[agents.free]\nkind = 'command'\ncommand = ['x']\ncost = 'none'\n\
                      [agents.dear]\nkind = 'command'\ncommand = ['x']\n";
        let unpriced = |roles: &str| {
            let config = Config::parse(&format!("{agents}[roles]\n{roles}")).unwrap();
            let mut flow = small();
            let of = |flow: &Workflow| {
                config.settings(flow, plain).unpriced.into_iter().collect::<Vec<_>>().join(" ")
            };
            let as_it_is = of(&flow);
            for stage in &mut flow.stages {
                if let Kind::Role { agents, .. } = &mut stage.kind {
                    agents.push("dear".to_owned());
                }
            }
            assert_eq!(of(&flow), "", "a stage that names another one");
            as_it_is
        };
        assert_eq!(unpriced("default = 'free'"), "reviewer worker");
        assert_eq!(unpriced("default = 'dear'\nworker = 'free'"), "worker");
        assert_eq!(unpriced("default = 'free'\nworker = 'dear'"), "reviewer");
        assert_eq!(unpriced("default = 'dear'"), "");
    }

    #[test]
    fn a_whole_file_is_understood() {
        let config = Config::parse(WHOLE).unwrap();
        assert_eq!(config.agents.len(), 2);
        assert_eq!(config.checks["lint"], CheckConfig::Off(false));
        let settings = config.settings(&small(), plain);
        assert_eq!(settings.caps.run.cost_micros, Some(5_000_000));
        assert_eq!(settings.caps.run.wall_ms, Some(90 * 60_000));
        assert_eq!(settings.caps.unit, Caps::default().unit);
        assert_eq!(settings.caps.invocation.amount.cost_micros, 500_000);
        assert_eq!(settings.caps.invocation.request.cost_micros, 100_000);
        assert_eq!(settings.caps.invocation.request.tokens, 1_000);
        assert_eq!(settings.caps.invocation.iterations, Some(40));
        assert_eq!(config.budget.invocation.silent_minutes, Some(9));
        assert!(settings.unpriced.contains("worker") && settings.unpriced.len() == 1);
        assert_eq!(settings.policies[0].name, "night");
        assert_eq!(Config::parse("").unwrap(), Config::default());
    }

    #[test]
    fn a_crew_is_understood() {
        let text = r#"
[agents.opus]
kind = "command"
command = ["x"]
env = ["KEY", "OTHER"]
[agents.sonnet]
kind = "command"
command = ["x"]
env = ["OTHER", "KEY"]
[agents.local]
kind = "command"
command = ["x"]
cost = "none"
[agents.codex]
kind = "command"
command = ["x"]
env = ["ELSE"]
[roles]
default = "sonnet"
worker = ["sonnet", "codex"]
[crew]
preset = "economy"
planner = "opus"
evaluator = { agent = ["codex", "opus"], model = "gpt-x", effort = "high" }
verifier = { agent = "local" }
[accounts.theirs]
agents = ["codex"]
at-once = 2
"#;
        let config = Config::parse(text).unwrap();
        let crew = config.crew();
        assert_eq!(crew.account("opus"), crew.account("sonnet"), "they are handed the same keys");
        assert_eq!((crew.account("codex"), crew.account("local")), ("theirs", "local"));
        assert_eq!(crew.at_once["theirs"], 2);
        let role = |post| Role { post: Some(post), ..plain("x") };
        let of = |post| crew.call("x", &role(post), None).unwrap();
        assert_eq!(of(Post::Planner).agents, ["opus"]);
        assert_eq!(of(Post::Executor).agents, ["sonnet"]);
        assert_eq!(crew.call("worker", &role(Post::Executor), None).unwrap().agents[1], "codex");
        let judge = of(Post::Evaluator);
        assert_eq!(
            (judge.model.as_deref(), judge.effort.as_deref()),
            (Some("gpt-x"), Some("high"))
        );
        let unpriced = |post| {
            let settings =
                config.settings(&small(), |name| Role { post: Some(post), ..plain(name) });
            settings.unpriced.into_iter().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(unpriced(Post::Verifier), "reviewer", "the worker is somebody else");
        assert_eq!(unpriced(Post::Planner), "");
    }

    #[test]
    fn a_mistake_is_told_with_its_place_and_what_was_meant() {
        let told = |text: &str| {
            let bad = Config::parse(text).unwrap_err();
            format!(
                "{}:{} {} / {}",
                bad.line,
                bad.column,
                bad.message,
                bad.help.unwrap_or_default()
            )
        };
        let unknown = told("[lanes]\ncopi = ['.env']");
        assert!(unknown.starts_with("2:1 unknown field `copi`"), "{unknown}");
        assert!(unknown.ends_with("did you mean `copy`?"), "{unknown}");
        let kind = told("[agents.x]\nkind = 'comand'\ncommand = ['x']");
        assert!(kind.ends_with("did you mean `command`?"), "{kind}");
        let role = told("[agents.mine]\nkind='command'\ncommand=['x']\n[roles]\ndefault = 'mien'");
        assert!(role.contains("no agent here") && role.ends_with("did you mean `mine`?"), "{role}");
        let mine = "[agents.mine]\nkind='command'\ncommand=['x']\n";
        let crew = |rest: &str| told(&format!("{mine}{rest}"));
        assert!(crew("[crew]\nplanner = 'mien'").contains("post `planner`"));
        assert!(crew("[crew]\nplanner = 3").contains("an agent, a list of agents"));
        assert!(crew("[crew]\npreset = 'cheap'").contains("no preset"));
        assert!(crew("[crew]\nplaner = 'mine'").ends_with("did you mean `planner`?"));
        assert!(crew("[accounts.a]\nagents = ['you']").contains("no agent here"));
        assert!(crew("[accounts.a]\nagents = ['mine']\nat-once = 0").contains("nobody could"));
        let twice = "[accounts.a]\nagents = ['mine']\n[accounts.b]\nagents = ['mine']";
        assert!(crew(twice).contains("on two accounts"));
        assert!(crew("[roles]\ndefault = []").contains("by nobody"));
        assert!(told("[agents.x]\nkind='command'\ncommand=[]").contains("empty command"));
        assert!(told("[checks]\ntest = true").contains("give its command"));
        assert!(told("[checks]\ntest = 3").contains("its command, or `false`"));
        assert!(told("[lanes]\ncopy = ['../secret']").contains("leads out"));
        assert!(told("[lanes]\ncopy = ['/etc/passwd']").contains("leads out"));
        assert!(told("[budget]\nrun = { dollars = 0 }").contains("more than 0"));
        assert!(told("[policies.x]\nstage = 'a'").contains("answer"));
        assert!(told("nonsense").starts_with("1:"));
    }
}
