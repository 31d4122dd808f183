//! Requests about issues: lists, comments, labels, who has them, and what they wait for.

use serde_json::{Value, json};

use super::route::{Asking, Reply};
use super::world::Issue;

/// A body or a comment is no longer than this.
const BODY_CHARS_MAX: usize = 65_536;

/// Which kind of request it is, if it is one of these.
pub(super) fn kind(method: &str, path: &[&str]) -> Option<&'static str> {
    Some(match (method, path) {
        ("GET", ["issues"]) => "issues.list",
        ("POST", ["issues"]) => "issues.create",
        ("GET", ["issues", "comments", _]) => "comments.get",
        ("PATCH", ["issues", "comments", _]) => "comments.update",
        ("DELETE", ["issues", "comments", _]) => "comments.delete",
        ("GET", ["issues", _]) => "issues.get",
        ("PATCH", ["issues", _]) => "issues.update",
        ("GET", ["issues", _, "comments"]) => "comments.list",
        ("POST", ["issues", _, "comments"]) => "comments.create",
        ("GET", ["issues", _, "timeline"]) => "timeline.list",
        ("GET", ["issues", _, "labels"]) => "issue-labels.list",
        ("POST", ["issues", _, "labels"]) => "issue-labels.add",
        ("DELETE", ["issues", _, "labels", _]) => "issue-labels.remove",
        ("POST", ["issues", _, "assignees"]) => "assignees.add",
        ("GET", ["issues", _, "dependencies", "blocked_by"]) => "dependencies.list",
        ("POST", ["issues", _, "dependencies", "blocked_by"]) => "dependencies.add",
        ("GET", ["labels"]) => "labels.list",
        ("POST", ["labels"]) => "labels.create",
        ("GET", ["labels", _]) => "labels.get",
        _ => return None,
    })
}

pub(super) fn answer(asking: &mut Asking<'_>, at: usize, path: &[&str]) -> Reply {
    let repository = &asking.world.repositories[at];
    if path[0] == "issues" && !repository.has_issues {
        return Reply::refused(410, "Issues has been disabled in this repository.");
    }
    match path {
        ["labels"] if asking.kind == "labels.list" => {
            let place = asking.place(at);
            let names: Vec<&String> = repository.labels.iter().map(|(name, _)| name).collect();
            asking.page(&names, |name| place.label(name))
        }
        ["labels"] => new_label(asking, at),
        ["labels", name] => match repository.label(name) {
            Some((name, _)) => Reply::of(200, asking.place(at).label(name)),
            None => Reply::not_found(),
        },
        ["issues"] if asking.kind == "issues.list" => list(asking, at),
        ["issues"] => create(asking, at),
        ["issues", "comments", id] => comment(asking, at, id),
        ["issues", number, rest @ ..] => {
            let Ok(number) = number.parse() else { return Reply::not_found() };
            match repository.issues.get(&number) {
                Some(issue) if issue.is_deleted => Reply::refused(410, "This issue was deleted"),
                Some(_) => one(asking, at, number, rest),
                None => Reply::not_found(),
            }
        }
        _ => Reply::not_found(),
    }
}

fn one(asking: &mut Asking<'_>, at: usize, number: u64, rest: &[&str]) -> Reply {
    let issue = &asking.world.repositories[at].issues[&number];
    match (asking.kind, rest) {
        ("issues.get", _) => Reply::of(200, asking.place(at).issue(issue)),
        ("issues.update", _) => update(asking, at, number),
        ("timeline.list", _) => {
            let happened = asking.place(at).timeline(number);
            asking.page(&happened, Value::clone)
        }
        ("comments.list", _) => {
            let place = asking.place(at);
            asking.page(&issue.comments, |it| place.comment(number, it))
        }
        ("comments.create", _) => {
            let Some(body) = asking.text("body").map(str::to_owned) else {
                return Reply::invalid("IssueComment", "body", "missing_field");
            };
            if let Some(reply) = too_long("IssueComment", &body) {
                return reply;
            }
            let me = asking.me.clone();
            asking.wrote(number, &body);
            asking.world.say(at, number, &me, &body);
            let issue = &asking.world.repositories[at].issues[&number];
            match issue.comments.last() {
                Some(comment) => Reply::of(201, asking.place(at).comment(number, comment)),
                None => Reply::not_found(),
            }
        }
        ("issue-labels.list", _) => labels_of(asking, at, number),
        ("issue-labels.add", _) => {
            let Some(labels) = asking.texts("labels") else {
                return Reply::invalid("Label", "labels", "missing_field");
            };
            asking.wrote(number, labels.join(", "));
            label(asking, at, number, &labels);
            labels_of(asking, at, number)
        }
        ("issue-labels.remove", ["labels", name]) => {
            let name = (*name).to_owned();
            if !issue.labels.iter().any(|own| own.eq_ignore_ascii_case(&name)) {
                return Reply::refused(404, "Label does not exist");
            }
            asking.wrote(number, &name);
            let now_s = asking.world.tick();
            if let Some(issue) = asking.world.repositories[at].issues.get_mut(&number) {
                issue.labels.retain(|own| !own.eq_ignore_ascii_case(&name));
                issue.updated_s = now_s;
            }
            labels_of(asking, at, number)
        }
        ("assignees.add", _) => {
            let logins = asking.texts("assignees").unwrap_or_default();
            asking.wrote(number, logins.join(", "));
            if let Some(issue) = asking.world.repositories[at].issues.get_mut(&number) {
                issue.assignees.extend(logins);
            }
            let issue = &asking.world.repositories[at].issues[&number];
            Reply::of(201, asking.place(at).issue(issue))
        }
        ("dependencies.list" | "dependencies.add", _) => dependencies(asking, at, number),
        _ => Reply::not_found(),
    }
}

fn dependencies(asking: &mut Asking<'_>, at: usize, number: u64) -> Reply {
    if asking.world.has_no_dependencies {
        return Reply::not_found();
    }
    let repository = &asking.world.repositories[at];
    if asking.kind == "dependencies.list" {
        let blockers: Vec<&Issue> = repository.issues[&number]
            .blocked_by
            .iter()
            .filter_map(|number| repository.issue(*number))
            .collect();
        let place = asking.place(at);
        return asking.page(&blockers, |it| place.issue(it));
    }
    let id = asking.body["issue_id"].as_u64();
    let Some(blocker) = repository.issues.values().find(|it| Some(it.id) == id) else {
        return Reply::not_found();
    };
    let blocker = blocker.number;
    asking.wrote(number, format!("#{blocker}"));
    if let Some(issue) = asking.world.repositories[at].issues.get_mut(&number) {
        issue.blocked_by.push(blocker);
    }
    let issue = &asking.world.repositories[at].issues[&number];
    Reply::of(201, asking.place(at).issue(issue))
}

fn labels_of(asking: &Asking<'_>, at: usize, number: u64) -> Reply {
    let place = asking.place(at);
    asking.page(&place.repository.issues[&number].labels, |name| place.label(name))
}

fn new_label(asking: &mut Asking<'_>, at: usize) -> Reply {
    let Some(name) = asking.text("name").map(str::to_owned) else {
        return Reply::invalid("Label", "name", "missing_field");
    };
    if asking.world.repositories[at].label(&name).is_some() {
        return Reply::invalid("Label", "name", "already_exists");
    }
    let about = asking.text("description").unwrap_or_default().to_owned();
    asking.wrote(0, &name);
    asking.world.repositories[at].labels.push((name.clone(), about));
    Reply::of(201, asking.place(at).label(&name))
}

/// Puts labels on an issue; those that the repository has not are made.
pub(super) fn label(asking: &mut Asking<'_>, at: usize, number: u64, labels: &[String]) {
    let now_s = asking.world.tick();
    let repository = &mut asking.world.repositories[at];
    for label in labels {
        if repository.label(label).is_none() {
            repository.labels.push((label.clone(), String::new()));
        }
        let known = repository.label(label).map_or(label.clone(), |(name, _)| name.clone());
        if let Some(issue) = repository.issues.get_mut(&number)
            && !issue.labels.contains(&known)
        {
            issue.labels.push(known);
            issue.updated_s = now_s;
        }
    }
}

fn too_long(resource: &str, body: &str) -> Option<Reply> {
    let long = body.chars().count() > BODY_CHARS_MAX;
    long.then(|| Reply::invalid_because(resource, "body is too long (maximum is 65536 characters)"))
}

fn list(asking: &Asking<'_>, at: usize) -> Reply {
    let get = |name: &str| asking.query.get(name).map(String::as_str);
    let labels: Vec<&str> =
        get("labels").unwrap_or_default().split(',').filter(|it| !it.is_empty()).collect();
    let state = get("state").unwrap_or("open");
    let fits = |issue: &&Issue| {
        let has = |label: &&str| issue.labels.iter().any(|own| own.eq_ignore_ascii_case(label));
        !issue.is_deleted
            && (state == "all" || issue.is_closed == (state == "closed"))
            && labels.iter().all(has)
            && get("creator").is_none_or(|login| issue.by.eq_ignore_ascii_case(login))
            && get("assignee").is_none_or(|login| match login {
                "none" => issue.assignees.is_empty(),
                "*" => !issue.assignees.is_empty(),
                login => issue.assignees.iter().any(|own| own == login),
            })
    };
    let place = asking.place(at);
    let mut issues: Vec<&Issue> = place.repository.issues.values().filter(fits).collect();
    match get("sort").unwrap_or("created") {
        "updated" => issues.sort_by_key(|it| it.updated_s),
        "comments" => issues.sort_by_key(|it| it.comments.len()),
        _ => issues.sort_by_key(|it| it.created_s),
    }
    if get("direction").unwrap_or("desc") == "desc" {
        issues.reverse();
    }
    asking.page(&issues, |it| place.issue(it))
}

fn create(asking: &mut Asking<'_>, at: usize) -> Reply {
    let Some(title) = asking.text("title").filter(|it| !it.trim().is_empty()) else {
        return Reply::invalid("Issue", "title", "missing_field");
    };
    let (title, body) = (title.to_owned(), asking.text("body").unwrap_or_default().to_owned());
    if let Some(reply) = too_long("Issue", &body) {
        return reply;
    }
    let by = asking.me.clone();
    let number = asking.world.open(at, Issue { by, title, body, ..Issue::default() });
    let title = asking.world.repositories[at].issues[&number].title.clone();
    asking.wrote(number, title);
    let labels = asking.texts("labels").unwrap_or_default();
    label(asking, at, number, &labels);
    let issue = &asking.world.repositories[at].issues[&number];
    Reply::of(201, asking.place(at).issue(issue))
}

/// Changes what was sent of an issue.
fn update(asking: &mut Asking<'_>, at: usize, number: u64) -> Reply {
    let state = asking.text("state").map(str::to_owned);
    let reason = asking.text("state_reason").map(str::to_owned);
    if let Some(state) = state.as_deref().filter(|it| !["open", "closed"].contains(it)) {
        return Reply::invalid(
            "Issue",
            "state",
            if state.is_empty() { "missing" } else { "invalid" },
        );
    }
    let reasons = ["completed", "not_planned", "duplicate", "reopened"];
    if reason.as_deref().is_some_and(|reason| !reasons.contains(&reason)) {
        return Reply::invalid("Issue", "state_reason", "invalid");
    }
    let said: Vec<String> = [state.as_deref(), reason.as_deref(), asking.text("title")]
        .into_iter()
        .flatten()
        .map(str::to_owned)
        .collect();
    asking.wrote(number, said.join(" "));
    let (title, body) =
        (asking.text("title").map(str::to_owned), asking.text("body").map(str::to_owned));
    let labels = asking.texts("labels");
    let now_s = asking.world.tick();
    if let Some(issue) = asking.world.repositories[at].issues.get_mut(&number) {
        issue.title = title.unwrap_or_else(|| issue.title.clone());
        issue.body = body.unwrap_or_else(|| issue.body.clone());
        issue.updated_s = now_s;
        match state.as_deref() {
            Some("closed") => close(issue, reason.as_deref().unwrap_or("completed"), now_s),
            Some(_) => reopen(issue),
            None => {}
        }
        if labels.is_some() {
            issue.labels.clear();
        }
    }
    label(asking, at, number, &labels.unwrap_or_default());
    let issue = &asking.world.repositories[at].issues[&number];
    Reply::of(200, asking.place(at).issue(issue))
}

pub(super) fn close(issue: &mut Issue, reason: &str, now_s: u64) {
    issue.is_closed = true;
    issue.reason = Some(reason.to_owned());
    issue.closed_s = Some(now_s);
}

pub(super) fn reopen(issue: &mut Issue) {
    if issue.is_closed {
        (issue.is_closed, issue.closed_s) = (false, None);
        issue.reason = Some("reopened".to_owned());
    }
}

fn comment(asking: &mut Asking<'_>, at: usize, id: &str) -> Reply {
    let id = id.parse().unwrap_or(0);
    let mut found = asking.world.repositories[at]
        .issues
        .values()
        .flat_map(|issue| issue.comments.iter().map(move |comment| (issue.number, comment)));
    let Some((number, comment)) = found.find(|(_, comment)| comment.id == id) else {
        return Reply::not_found();
    };
    if asking.kind == "comments.get" {
        return Reply::of(200, asking.place(at).comment(number, comment));
    }
    if comment.by != asking.me && asking.kind == "comments.delete" {
        let why = "Must have admin rights to Repository.";
        return Reply::refused(403, why);
    }
    let old = comment.body.clone();
    let new = asking.text("body").map(str::to_owned);
    asking.wrote(number, new.clone().unwrap_or(old));
    let now_s = asking.world.tick();
    let Some(issue) = asking.world.repositories[at].issues.get_mut(&number) else {
        return Reply::not_found();
    };
    if asking.kind == "comments.delete" {
        issue.comments.retain(|comment| comment.id != id);
        return Reply::nothing();
    }
    let Some(comment) = issue.comments.iter_mut().find(|comment| comment.id == id) else {
        return Reply::not_found();
    };
    comment.body = new.unwrap_or_default();
    comment.updated_s = now_s;
    let comment = comment.clone();
    Reply::of(200, json!(asking.place(at).comment(number, &comment)) as Value)
}
