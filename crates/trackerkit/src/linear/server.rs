//! The pretended Linear as tests have it: how it is started, what is in it, and what other people do there.

use std::io;
use std::sync::{Arc, Barrier, Mutex, MutexGuard, PoisonError};

use apollo_compiler::ExecutableDocument;
use apollo_compiler::response::JsonMap;
use apollo_compiler::validation::Valid;
use serde_json::{Value, json};
use windlass_testkit::plain::{Asked, Given, Plain};

use super::answer::{Asking, execute};
use super::change;
use super::schema::{COST_MAX, check, cost};
use super::world::{Field, Said, World, Write};
use crate::fault::{Fault, Faults};
use crate::onlooker::Onlooker;

/// A pretended Linear; dropped, it is gone.
///
/// From the beginning there are the users `Windlass` (key `test-key`) and `Ada` (key `ada-key`), the team `MB90` with the
/// states that new teams have, its label `ready`, and its project `Harness` (slug `5eed0f00d1e5`).
pub struct Linear {
    shared: Arc<Shared>,
    plain: Plain,
}

struct Shared {
    world: Mutex<World>,
    /// One request after another.
    turn: Mutex<()>,
    faults: Faults,
    gathering: Mutex<Option<Gathering>>,
    onlooker: Onlooker<Write>,
}

/// Requests that wait for each other.
struct Gathering {
    kind: String,
    left: usize,
    all: Arc<Barrier>,
}

/// An issue for [`Linear::issue`].
#[derive(Clone, Debug)]
pub struct NewIssue<'a> {
    /// The key of its team.
    pub team: &'a str,
    /// The name of its project, if it is in one.
    pub project: Option<&'a str>,
    /// In a line.
    pub title: &'a str,
    /// In Markdown.
    pub body: &'a str,
    /// 0 is none, 1 the most urgent, 4 the least.
    pub priority: u8,
    /// By name.
    pub labels: &'a [&'a str],
}

impl Default for NewIssue<'_> {
    fn default() -> Self {
        NewIssue {
            team: "MB90",
            project: Some("Harness"),
            title: "An issue",
            body: "",
            priority: 0,
            labels: &["ready"],
        }
    }
}

/// The states of a team, as a new one has them: name and type.
const STATES: &[(&str, &str)] = &[
    ("Triage", "triage"),
    ("Backlog", "backlog"),
    ("Todo", "unstarted"),
    ("In Progress", "started"),
    ("In Review", "started"),
    ("Done", "completed"),
    ("Canceled", "canceled"),
    ("Duplicate", "duplicate"),
];

/// The answer of somebody whose requests are used up until then, in milliseconds since 1970.
#[must_use]
pub fn limited(reset_ms: u64) -> Fault {
    let extensions = json!({
        "type": "ratelimited",
        "code": "RATELIMITED",
        "statusCode": 429,
        "userError": true,
        "userPresentableMessage": "Rate limit exceeded.",
    });
    let errors = json!({"errors": [{"message": "Rate limit exceeded", "extensions": extensions}]});
    Fault::Answer {
        status: 400,
        headers: vec![
            ("x-ratelimit-requests-limit".to_owned(), "1500".to_owned()),
            ("x-ratelimit-requests-remaining".to_owned(), "0".to_owned()),
            ("x-ratelimit-requests-reset".to_owned(), reset_ms.to_string()),
        ],
        body: errors.to_string(),
    }
}

impl Linear {
    /// Starts one on any free port.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn start() -> io::Result<Self> {
        Linear::start_on(0)
    }

    /// Starts one on a port.
    ///
    /// # Errors
    ///
    /// If it cannot be listened on.
    pub fn start_on(port: u16) -> io::Result<Self> {
        let (world, turn, faults) = (Mutex::default(), Mutex::default(), Faults::default());
        let (gathering, onlooker) = (Mutex::default(), Onlooker::default());
        let shared = Arc::new(Shared { world, turn, faults, gathering, onlooker });
        let own = Arc::clone(&shared);
        let plain = Plain::start(port, move |asked| own.answer(asked))?;
        let linear = Linear { shared, plain };
        linear.user("Windlass", "test-key");
        linear.user("Ada", "ada-key");
        linear.team("MB90", STATES);
        linear.label("ready", Some("MB90"));
        linear.project("Harness", "5eed0f00d1e5", &["MB90"]);
        Ok(linear)
    }

    /// Where requests go: `http://127.0.0.1:PORT/graphql`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{}/graphql", self.plain.url())
    }

    /// What goes wrong. The kinds are names of operations, and fields of the query or the mutation: `commentCreate`.
    #[must_use]
    pub fn faults(&self) -> &Faults {
        &self.shared.faults
    }

    /// The next requests of a kind wait for each other: none is carried out before so many are there.
    pub fn gather(&self, kind: &str, count: usize) {
        let (kind, all) = (kind.to_owned(), Arc::new(Barrier::new(count)));
        let mut gathering = self.shared.gathering.lock().unwrap_or_else(PoisonError::into_inner);
        *gathering = Some(Gathering { kind, left: count, all });
    }

    /// Adds a user; or, if there is one of that name, another key of theirs.
    pub fn user(&self, name: &str, key: &str) {
        let mut world = self.world();
        let known = world.with("User", "name", name);
        let id = known.unwrap_or_else(|| {
            let id = world.fresh();
            let fields = [("name", json!(name)), ("displayName", json!(name.to_lowercase()))];
            world.add("User", &id, leaves(fields));
            id
        });
        world.keys.insert(key.to_owned(), id);
    }

    /// From now on a key opens nothing.
    pub fn expire(&self, key: &str) {
        self.world().keys.remove(key);
    }

    /// Lists have no more than this at once, whatever is asked for.
    pub fn page_max(&self, length: usize) {
        self.world().page_max = length;
    }

    /// From now on everything happens at the same moment.
    pub fn stand_still(&self) {
        self.world().still = true;
    }

    /// Adds a team with its states, by name and type.
    pub fn team(&self, key: &str, states: &[(&str, &str)]) {
        let mut world = self.world();
        let team = world.fresh();
        let name = format!("Team {key}");
        world.add("Team", &team, leaves([("key", json!(key)), ("name", json!(name))]));
        for (at, (name, kind)) in (0_u32..).zip(states) {
            let state = world.fresh();
            let mut fields = leaves([
                ("name", json!(name)),
                ("type", json!(kind)),
                ("position", json!(f64::from(at))),
            ]);
            fields.push(("team", Field::One(Some(team.clone()))));
            world.add("WorkflowState", &state, fields);
        }
    }

    /// Adds a label, of a team or of all.
    pub fn label(&self, name: &str, team: Option<&str>) {
        let mut world = self.world();
        let id = world.fresh();
        let mut fields = leaves([("name", json!(name)), ("isGroup", json!(false))]);
        let team = team.map(|key| world.with("Team", "key", key).expect("there is such a team"));
        fields.push(("team", Field::One(team)));
        world.add("IssueLabel", &id, fields);
    }

    /// Adds a project of teams, by their keys.
    pub fn project(&self, name: &str, slug: &str, teams: &[&str]) {
        let mut world = self.world();
        let id = world.fresh();
        let mut fields = leaves([("name", json!(name)), ("slugId", json!(slug))]);
        let team = |key: &&str| world.with("Team", "key", key).expect("there is such a team");
        fields.push(("teams", Field::Many(teams.iter().map(team).collect())));
        world.add("Project", &id, fields);
    }

    /// Adds an issue, made by Ada. Its identifier.
    pub fn issue(&self, new: &NewIssue<'_>) -> String {
        let mut world = self.world();
        let find = |kind, field, text| {
            world.with(kind, field, text).unwrap_or_else(|| panic!("there is no {kind} {text}"))
        };
        let team = find("Team", "key", new.team);
        let project = new.project.map(|name| find("Project", "name", name));
        let labels = new.labels.iter().map(|name| find("IssueLabel", "name", name)).collect();
        let ada = find("User", "name", "Ada");
        let state = change::first_state(&world, &team);
        let mut fields = leaves([
            ("title", json!(new.title)),
            ("description", json!(new.body)),
            ("priority", json!(f64::from(new.priority))),
        ]);
        fields.extend([
            ("state", Field::One(state)),
            ("project", Field::One(project)),
            ("labels", Field::Many(labels)),
            ("assignee", Field::One(None)),
            ("creator", Field::One(Some(ada))),
        ]);
        let id = world.fresh();
        change::issue(&mut world, &id, &team, fields);
        world.text(&id, "identifier")
    }

    /// One issue blocks, duplicates or is related to another: `blocks`, `duplicate`, `related`.
    pub fn relate(&self, one: &str, how: &str, other: &str) {
        let mut world = self.world();
        let id = world.fresh();
        let (one, other) = (known(&world, one), known(&world, other));
        let mut fields = leaves([("type", json!(how))]);
        fields.push(("issue", Field::One(Some(one))));
        fields.push(("relatedIssue", Field::One(Some(other))));
        world.add("IssueRelation", &id, fields);
    }

    /// Somebody edits the title or the text of an issue: `title`, `description`.
    pub fn edit(&self, issue: &str, field: &'static str, text: &str) {
        let mut world = self.world();
        let id = known(&world, issue);
        world.set(&id, field, Field::Leaf(json!(text)));
    }

    /// An issue loses its text.
    pub fn empty(&self, issue: &str) {
        let mut world = self.world();
        let id = known(&world, issue);
        world.set(&id, "description", Field::Leaf(Value::Null));
    }

    /// Somebody moves an issue to a state of its team.
    pub fn move_to(&self, issue: &str, state: &str) {
        let mut world = self.world();
        let id = known(&world, issue);
        let team = world.link(&id, "team");
        let states = world.all("WorkflowState");
        let fits =
            |own: &&String| world.link(own, "team") == team && world.text(own, "name") == state;
        let state = states.iter().find(fits).expect("the team has such a state").clone();
        world.set(&id, "state", Field::One(Some(state)));
    }

    /// Somebody gives an issue to somebody, or to nobody.
    pub fn assign(&self, issue: &str, to: Option<&str>) {
        let mut world = self.world();
        let id = known(&world, issue);
        let user = to.map(|name| world.with("User", "name", name).expect("there is such a user"));
        world.set(&id, "assignee", Field::One(user));
    }

    /// Somebody changes which labels an issue has.
    pub fn relabel(&self, issue: &str, labels: &[&str]) {
        let mut world = self.world();
        let id = known(&world, issue);
        let label = |name: &&str| world.with("IssueLabel", "name", name).expect("such a label");
        let labels = labels.iter().map(label).collect();
        world.set(&id, "labels", Field::Many(labels));
    }

    /// Somebody says something about an issue; nothing for a bot. The comment's id.
    pub fn comment(&self, issue: &str, by: Option<&str>, text: &str) -> String {
        let mut world = self.world();
        let issue = known(&world, issue);
        let user = by.map(|name| world.with("User", "name", name).expect("there is such a user"));
        let id = world.fresh();
        change::comment(&mut world, &id, &issue, user.as_deref(), text).expect("a new id");
        id
    }

    /// Somebody changes what was said.
    pub fn reword(&self, comment: &str, text: &str) {
        self.world().set(comment, "body", Field::Leaf(json!(text)));
    }

    /// Somebody deletes what was said.
    pub fn unsay(&self, comment: &str) {
        self.world().remove(comment);
    }

    /// Somebody deletes an issue.
    pub fn delete(&self, issue: &str) {
        let mut world = self.world();
        let id = known(&world, issue);
        change::trash(&mut world, &id);
    }

    /// The name of the state that an issue is in.
    #[must_use]
    pub fn state(&self, issue: &str) -> String {
        let world = self.world();
        let state = world.link(&known(&world, issue), "state");
        world.text(&state.unwrap_or_default(), "name")
    }

    /// What was said about an issue, oldest first.
    #[must_use]
    pub fn said(&self, issue: &str) -> Vec<Said> {
        let world = self.world();
        let issue = known(&world, issue);
        let all = world.all("Comment").into_iter();
        let own = all.filter(|id| world.link(id, "issue").as_ref() == Some(&issue));
        let said = own.map(|id| {
            let by = world.text(&world.link(&id, "user").unwrap_or_default(), "name");
            Said { by, body: world.text(&id, "body"), id }
        });
        said.collect()
    }

    /// The text of a field of an issue: `title`, `description`, `createdAt`.
    #[must_use]
    pub fn text(&self, issue: &str, field: &str) -> String {
        let world = self.world();
        world.text(&known(&world, issue), field)
    }

    /// The identifiers of all issues, oldest first.
    #[must_use]
    pub fn issues(&self) -> Vec<String> {
        let world = self.world();
        world.all("Issue").iter().map(|id| world.text(id, "identifier")).collect()
    }

    /// Every write that was carried out for whoever asked over the network, in order.
    #[must_use]
    pub fn writes(&self) -> Vec<Write> {
        self.world().writes.clone()
    }

    /// Has somebody look on: they see each of these writes right after it, before whoever wrote hears of it.
    pub fn on_write(&self, look: impl Fn(&Write) + Send + 'static) {
        self.shared.onlooker.comes(look);
    }

    /// The operation of every request that came, by name, whatever became of it.
    #[must_use]
    pub fn asked(&self) -> Vec<String> {
        self.world().asked.clone()
    }

    /// What a request gets, without a network in between.
    #[cfg(test)]
    pub(super) fn answer(&self, asked: &Asked) -> Given {
        self.shared.answer(asked)
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.shared.world()
    }
}

fn known(world: &World, issue: &str) -> String {
    world.issue(issue).unwrap_or_else(|| panic!("there is no issue {issue}"))
}

fn leaves<const N: usize>(fields: [(&'static str, Value); N]) -> Vec<(&'static str, Field)> {
    fields.into_iter().map(|(name, value)| (name, Field::Leaf(value))).collect()
}

impl Shared {
    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a request is to wait for.
    fn gathered(&self, names: &[String]) -> Option<Arc<Barrier>> {
        let mut gathering = self.gathering.lock().unwrap_or_else(PoisonError::into_inner);
        let one = gathering.as_mut().filter(|it| it.left > 0 && names.contains(&it.kind))?;
        one.left -= 1;
        Some(Arc::clone(&one.all))
    }

    fn answer(&self, asked: &Asked) -> Given {
        if asked.method != "POST" || asked.path != "/graphql" {
            return given(404, &json!({}));
        }
        let Ok(body) = serde_json::from_slice::<Value>(&asked.body) else {
            return given(400, &refusal("the request is no JSON", "GRAPHQL_PARSE_FAILED"));
        };
        let document = body["query"].as_str().unwrap_or_default();
        let checked = check(document);
        let names = checked.as_ref().map(|document| names(document)).unwrap_or_default();
        if let Some(all) = self.gathered(&names) {
            all.wait();
        }
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.world().asked.push(names.first().cloned().unwrap_or_default());
        let kinds: Vec<&str> = names.iter().map(String::as_str).collect();
        let fault = self.faults.next(&kinds);
        if let Some(fault) = &fault
            && !fault.happens()
        {
            return fault.given();
        }
        let key = asked.header("authorization").unwrap_or_default();
        let Some(viewer) = self.world().keys.get(key).cloned() else {
            let what = "Authentication required, not authenticated";
            return given(401, &refusal(what, "AUTHENTICATION_ERROR"));
        };
        let before = self.world().writes.len();
        let answer = match checked {
            Err(wrong) => given(400, &refusal(&wrong, "GRAPHQL_VALIDATION_FAILED")),
            Ok(document) => self.execute(&viewer, &document, &body["variables"]),
        };
        let written = self.world().writes[before..].to_vec();
        self.onlooker.sees(&written);
        fault.map_or(answer, |fault| fault.given())
    }

    fn execute(
        &self,
        viewer: &str,
        document: &Valid<ExecutableDocument>,
        variables: &Value,
    ) -> Given {
        let variables: JsonMap = serde_json::from_str(&variables.to_string()).unwrap_or_default();
        let cost = cost(document, &variables);
        if cost > COST_MAX {
            let what = format!("Query too complex: it costs {cost}");
            return given(400, &refusal(&what, "INPUT_ERROR"));
        }
        let asking = Asking { world: &self.world, viewer };
        match execute(asking, document, &variables) {
            Err(wrong) => given(400, &refusal(&wrong, "GRAPHQL_VALIDATION_FAILED")),
            Ok(answer) => {
                let mut answer = json!(answer);
                let errors = answer.get_mut("errors").and_then(Value::as_array_mut);
                for error in errors.into_iter().flatten() {
                    let message = error["message"].as_str().unwrap_or_default();
                    let message = message.strip_prefix("resolver error: ").unwrap_or(message);
                    error["message"] = json!(message);
                    error["extensions"] =
                        json!({"type": "invalid input", "code": "INPUT_ERROR", "userError": true});
                }
                given(200, &answer)
            }
        }
    }
}

/// The names of the operation and of what it asks for.
fn names(document: &ExecutableDocument) -> Vec<String> {
    let mut names = Vec::new();
    for operation in document.operations.iter() {
        names.push(operation.name.as_ref().map(ToString::to_string).unwrap_or_default());
        names.extend(operation.root_fields(document).map(|field| field.name.to_string()));
    }
    names
}

fn refusal(what: &str, code: &str) -> Value {
    let kind = code.to_lowercase().replace('_', " ");
    json!({"errors": [{"message": what, "extensions": {"type": kind, "code": code}}]})
}

fn given(status: u16, answer: &Value) -> Given {
    Given::Answer { status, headers: Vec::new(), body: answer.to_string().into_bytes() }
}
