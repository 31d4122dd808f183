//! Requests about pull requests: opening them, their checks, and what people say about them.

use serde_json::{Value, json};

use super::issues;
use super::route::{Asking, Reply};
use super::world::{Issue, Pull, Seen};

/// Which kind of request it is, if it is one of these.
pub(super) fn kind(method: &str, path: &[&str]) -> Option<&'static str> {
    Some(match (method, path) {
        ("GET", ["pulls"]) => "pulls.list",
        ("POST", ["pulls"]) => "pulls.create",
        ("GET", ["pulls", _]) => "pulls.get",
        ("PATCH", ["pulls", _]) => "pulls.update",
        ("GET", ["pulls", _, "reviews"]) => "reviews.list",
        ("GET", ["pulls", _, "comments"]) => "review-comments.list",
        ("GET", ["commits", .., "check-runs"]) => "check-runs.list",
        ("GET", ["commits", .., "status"]) => "status.get",
        ("GET", ["check-runs", _, "annotations"]) => "annotations.list",
        _ => return None,
    })
}

pub(super) fn answer(asking: &mut Asking<'_>, at: usize, path: &[&str]) -> Reply {
    match path {
        ["pulls"] if asking.kind == "pulls.list" => list(asking, at),
        ["pulls"] => create(asking, at),
        ["pulls", number, ..] => {
            let number = number.parse().unwrap_or(0);
            let issue = asking.world.repositories[at].issue(number);
            let Some((issue, pull)) = issue.and_then(|it| Some((it, it.pull.as_ref()?))) else {
                return Reply::not_found();
            };
            let place = asking.place(at);
            match asking.kind {
                "pulls.get" => Reply::of(200, place.pull(issue, pull)),
                "reviews.list" => asking.page(&pull.reviews, |it| place.review(number, it)),
                "review-comments.list" => asking.page(&pull.remarks, |it| place.remark(number, it)),
                _ => update(asking, at, number),
            }
        }
        ["commits", name @ .., _] => {
            let name = name.join("/");
            let repository = &asking.world.repositories[at];
            let commit = repository.commit(&name).unwrap_or(name);
            if commit.len() < 7 {
                return Reply::refused(422, &format!("No commit found for SHA: {commit}"));
            }
            checks(asking, at, &commit)
        }
        ["check-runs", id, _] => annotations(asking, at, id),
        _ => Reply::not_found(),
    }
}

fn list(asking: &Asking<'_>, at: usize) -> Reply {
    let place = asking.place(at);
    let get = |name: &str| asking.query.get(name).map(String::as_str);
    let owner = place.repository.name.split('/').next().unwrap_or_default();
    let fits = |(issue, pull): &(&Issue, &Pull)| {
        let state = get("state").unwrap_or("open");
        !issue.is_deleted
            && (state == "all" || issue.is_closed == (state == "closed"))
            && get("head").is_none_or(|head| head == format!("{owner}:{}", pull.head))
            && get("base").is_none_or(|base| base == pull.base)
    };
    let all = place.repository.issues.values().rev();
    let pulls: Vec<_> = all.filter_map(|it| Some((it, it.pull.as_ref()?))).filter(fits).collect();
    asking.page(&pulls, |(issue, pull)| place.pull(issue, pull))
}

fn create(asking: &mut Asking<'_>, at: usize) -> Reply {
    let text = |name: &str| asking.text(name).unwrap_or_default().to_owned();
    let (title, body, base) = (text("title"), text("body"), text("base"));
    let repository = &asking.world.repositories[at];
    let owner = repository.name.split('/').next().unwrap_or_default();
    let head = text("head");
    let head = head.strip_prefix(&format!("{owner}:")).unwrap_or(&head).to_owned();
    if title.is_empty() {
        return Reply::invalid("PullRequest", "title", "missing_field");
    }
    for (field, branch) in [("head", &head), ("base", &base)] {
        if repository.commit(branch).is_none() {
            return Reply::invalid("PullRequest", field, "invalid");
        }
    }
    if repository.commit(&head) == repository.commit(&base) {
        let why = format!("No commits between {base} and {head}");
        return Reply::invalid_because("PullRequest", &why);
    }
    let same = |it: &&Issue| {
        !it.is_closed && it.pull.as_ref().is_some_and(|it| it.head == head && it.base == base)
    };
    if repository.issues.values().any(|it| same(&it)) {
        let why = format!("A pull request already exists for {owner}:{head}.");
        return Reply::invalid_because("PullRequest", &why);
    }
    let pull = Some(Pull { head, base, ..Pull::default() });
    let by = asking.me.clone();
    let number = asking.world.open(at, Issue { by, title, body, pull, ..Issue::default() });
    let title = asking.world.repositories[at].issues[&number].title.clone();
    asking.wrote(number, title);
    shown(asking, at, number, 201)
}

fn update(asking: &mut Asking<'_>, at: usize, number: u64) -> Reply {
    let text = |name: &str| asking.text(name).map(str::to_owned);
    let (title, body, base, state) = (text("title"), text("body"), text("base"), text("state"));
    let said: Vec<String> = [&title, &state].into_iter().flatten().cloned().collect();
    asking.wrote(number, said.join(" "));
    let now_s = asking.world.tick();
    if let Some(issue) = asking.world.repositories[at].issues.get_mut(&number) {
        issue.title = title.unwrap_or_else(|| issue.title.clone());
        issue.body = body.unwrap_or_else(|| issue.body.clone());
        issue.updated_s = now_s;
        if let Some(pull) = &mut issue.pull {
            pull.base = base.unwrap_or_else(|| pull.base.clone());
        }
        match state.as_deref() {
            Some("closed") => issues::close(issue, "completed", now_s),
            Some(_) => issues::reopen(issue),
            None => {}
        }
    }
    shown(asking, at, number, 200)
}

fn shown(asking: &Asking<'_>, at: usize, number: u64, status: u16) -> Reply {
    let place = asking.place(at);
    match place.repository.issue(number).and_then(|it| Some((it, it.pull.as_ref()?))) {
        Some((issue, pull)) => Reply::of(status, place.pull(issue, pull)),
        None => Reply::not_found(),
    }
}

/// The id of what a rule gives a commit: the number of the rule, and how many commits it knew before.
fn id_of(rule: usize, nth: usize) -> u64 {
    (rule as u64 + 1) * 1000 + nth as u64
}

fn checks(asking: &mut Asking<'_>, at: usize, commit: &str) -> Reply {
    let wants_status = asking.kind == "status.get";
    let mut seen: Vec<(u64, String, Seen)> = Vec::new();
    for (number, rule) in asking.world.repositories[at].rules.iter_mut().enumerate() {
        if rule.is_status == wants_status {
            let what = rule.look(commit);
            let nth = rule.looks.iter().position(|(own, _)| own == commit).unwrap_or(0);
            seen.push((id_of(number, nth), rule.name.clone(), what));
        }
    }
    let place = asking.place(at);
    if !wants_status {
        let runs: Vec<Value> = seen
            .iter()
            .filter_map(|(id, name, what)| place.check_run(*id, name, commit, what))
            .collect();
        return asking.counted_page("check_runs", &runs, json!({}));
    }
    let all: Vec<Value> =
        seen.iter().filter_map(|(id, name, what)| place.status(*id, name, what)).collect();
    let any = |state: &str| all.iter().any(|it| it["state"] == state);
    let state = match () {
        () if any("failure") || any("error") => "failure",
        () if any("pending") || all.is_empty() => "pending",
        () => "success",
    };
    asking.counted_page("statuses", &all, json!({"state": state, "sha": commit}))
}

fn annotations(asking: &Asking<'_>, at: usize, id: &str) -> Reply {
    let id: usize = id.parse().unwrap_or(0);
    let rules = &asking.world.repositories[at].rules;
    let found = rules.get((id / 1000).wrapping_sub(1)).and_then(|rule| {
        let (commit, _) = rule.looks.get(id % 1000)?;
        Some(rule.last_seen(commit))
    });
    let Some(Seen::Ended { annotations, .. }) = found else { return Reply::not_found() };
    asking.page(&annotations, |(path, line, message)| {
        json!({
            "path": path,
            "start_line": line,
            "end_line": line,
            "start_column": null,
            "end_column": null,
            "annotation_level": "failure",
            "title": null,
            "message": message,
            "raw_details": null,
            "blob_href": "",
        })
    })
}
