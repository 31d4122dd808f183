//! How things look in JSON: the fields that GitHub's documentation calls required, and some more.

use serde_json::{Value, json};

use super::clock::stamp;
use super::world::{Comment, Issue, Pull, Remark, Repository, Review, Seen, World};

/// Where the interface is, as links in answers have it.
pub(super) struct Place<'a> {
    pub base: &'a str,
    pub world: &'a World,
    pub repository: &'a Repository,
}

pub(super) fn user(base: &str, login: &str, world: &World) -> Value {
    let id = world.users.iter().position(|it| it == login).unwrap_or(0) + 1;
    json!({
        "login": login,
        "id": id,
        "node_id": format!("U_{id}"),
        "url": format!("{base}/users/{login}"),
        "html_url": format!("https://github.com/{login}"),
        "type": if login.ends_with("[bot]") { "Bot" } else { "User" },
        "site_admin": false,
    })
}

pub(super) fn repository(base: &str, it: &Repository, world: &World) -> Value {
    let (owner, name) = it.name.split_once('/').unwrap_or(("", &it.name));
    json!({
        "id": 1,
        "node_id": "R_1",
        "name": name,
        "full_name": it.name,
        "owner": user(base, owner, world),
        "private": !it.hidden_from.is_empty(),
        "html_url": format!("https://github.com/{}", it.name),
        "description": null,
        "fork": false,
        "url": format!("{base}/repos/{}", it.name),
        "has_issues": it.has_issues,
        "archived": false,
        "default_branch": "main",
    })
}

impl Place<'_> {
    fn user(&self, login: &str) -> Value {
        user(self.base, login, self.world)
    }

    fn association(&self, login: &str) -> &'static str {
        if self.repository.strangers.contains(login) { "NONE" } else { "MEMBER" }
    }

    fn url(&self, rest: &str) -> String {
        format!("{}/repos/{}/{rest}", self.base, self.repository.name)
    }

    fn html(&self, rest: &str) -> String {
        format!("https://github.com/{}/{rest}", self.repository.name)
    }

    pub fn label(&self, name: &str) -> Value {
        let (name, about) =
            self.repository.label(name).cloned().unwrap_or((name.to_owned(), String::new()));
        json!({
            "id": name.len() + 1000,
            "node_id": format!("LA_{}", name.len()),
            "url": self.url(&format!("labels/{}", name.replace(' ', "%20"))),
            "name": name,
            "description": about,
            "color": "ededed",
            "default": false,
        })
    }

    pub fn issue(&self, it: &Issue) -> Value {
        let number = it.number;
        let place = if it.pull.is_some() { "pull" } else { "issues" };
        let assignees: Vec<Value> = it.assignees.iter().map(|login| self.user(login)).collect();
        let mut value = json!({
            "id": it.id,
            "node_id": format!("I_{}", it.id),
            "url": self.url(&format!("issues/{number}")),
            "repository_url": format!("{}/repos/{}", self.base, self.repository.name),
            "labels_url": self.url(&format!("issues/{number}/labels{{/name}}")),
            "comments_url": self.url(&format!("issues/{number}/comments")),
            "events_url": self.url(&format!("issues/{number}/events")),
            "html_url": self.html(&format!("{place}/{number}")),
            "number": number,
            "state": if it.is_closed { "closed" } else { "open" },
            "state_reason": it.reason,
            "title": it.title,
            "body": if it.body.is_empty() { Value::Null } else { json!(it.body) },
            "user": self.user(&it.by),
            "labels": it.labels.iter().map(|name| self.label(name)).collect::<Vec<_>>(),
            "assignee": assignees.first().cloned(),
            "assignees": assignees,
            "milestone": null,
            "locked": false,
            "active_lock_reason": null,
            "comments": it.comments.len(),
            "closed_at": it.closed_s.map(stamp),
            "created_at": stamp(it.created_s),
            "updated_at": stamp(it.updated_s),
            "author_association": self.association(&it.by),
        });
        if it.pull.is_some() {
            value["pull_request"] = json!({
                "url": self.url(&format!("pulls/{number}")),
                "html_url": self.html(&format!("pull/{number}")),
            });
        }
        if !self.world.has_no_dependencies {
            let is_open = |number: &&u64| {
                self.repository.issue(**number).is_some_and(|issue| !issue.is_closed)
            };
            let open = it.blocked_by.iter().filter(is_open).count();
            let blocks = |other: &&Issue| other.blocked_by.contains(&number);
            let blocking = self.repository.issues.values().filter(blocks).count();
            value["issue_dependencies_summary"] = json!({
                "blocked_by": open,
                "blocking": blocking,
                "total_blocked_by": it.blocked_by.len(),
                "total_blocking": blocking,
            });
        }
        value
    }

    /// What happened to an issue, as far as it is about pull requests and issues that name it.
    pub fn timeline(&self, number: u64) -> Vec<Value> {
        let name = format!("#{number}");
        let ends = |rest: &str| !rest.starts_with(|it: char| it.is_ascii_digit());
        let is_named = |it: &&Issue| {
            let mut places = it.body.match_indices(&name);
            it.number != number && places.any(|(at, _)| ends(&it.body[at + name.len()..]))
        };
        let mention = |it: &Issue| {
            let mut issue = self.issue(it);
            issue["repository"] = repository(self.base, self.repository, self.world);
            json!({
                "event": "cross-referenced",
                "actor": self.user(&it.by),
                "created_at": stamp(it.created_s),
                "updated_at": stamp(it.updated_s),
                "source": {"type": "issue", "issue": issue},
            })
        };
        let named = self.repository.issues.values().filter(|it| !it.is_deleted).filter(is_named);
        let mut happened: Vec<Value> = named.map(mention).collect();
        let links = self.repository.issue(number).map_or(&[][..], |it| &it.links);
        happened.extend(links.iter().enumerate().map(|(nth, event)| {
            json!({
                "id": nth + 1,
                "node_id": format!("CE_{nth}"),
                "url": self.url(&format!("issues/events/{}", nth + 1)),
                "actor": self.user("ada"),
                "event": event,
                "commit_id": null,
                "commit_url": null,
                "created_at": stamp(self.world.now_s),
            })
        }));
        happened
    }

    pub fn comment(&self, number: u64, it: &Comment) -> Value {
        json!({
            "id": it.id,
            "node_id": format!("IC_{}", it.id),
            "url": self.url(&format!("issues/comments/{}", it.id)),
            "html_url": self.html(&format!("issues/{number}#issuecomment-{}", it.id)),
            "issue_url": self.url(&format!("issues/{number}")),
            "body": it.body,
            "user": self.user(&it.by),
            "created_at": stamp(it.created_s),
            "updated_at": stamp(it.updated_s),
            "author_association": self.association(&it.by),
        })
    }

    pub fn pull(&self, it: &Issue, pull: &Pull) -> Value {
        let mut value = self.issue(it);
        let number = it.number;
        let owner = self.repository.name.split('/').next().unwrap_or_default();
        let end = |branch: &str| {
            json!({
                "label": format!("{owner}:{branch}"),
                "ref": branch,
                "sha": self.repository.commit(branch).unwrap_or_default(),
                "user": self.user(owner),
                "repo": repository(self.base, self.repository, self.world),
            })
        };
        let own = json!({
            "url": self.url(&format!("pulls/{number}")),
            "html_url": self.html(&format!("pull/{number}")),
            "head": end(&pull.head),
            "base": end(&pull.base),
            "draft": false,
            "merged": pull.is_merged,
            "merged_at": if pull.is_merged { it.closed_s.map(stamp) } else { None },
            "merge_commit_sha": null,
            "mergeable": true,
            "mergeable_state": "clean",
        });
        for field in ["pull_request", "issue_dependencies_summary", "state_reason"] {
            value.as_object_mut().map(|fields| fields.remove(field));
        }
        for (name, field) in own.as_object().into_iter().flatten() {
            value[name] = field.clone();
        }
        value
    }

    pub fn review(&self, number: u64, it: &Review) -> Value {
        json!({
            "id": it.id,
            "node_id": format!("PRR_{}", it.id),
            "user": self.user(&it.by),
            "body": it.body,
            "state": it.state,
            "html_url": self.html(&format!("pull/{number}#pullrequestreview-{}", it.id)),
            "pull_request_url": self.url(&format!("pulls/{number}")),
            "submitted_at": stamp(it.at_s),
            "commit_id": it.commit,
            "author_association": self.association(&it.by),
        })
    }

    pub fn remark(&self, number: u64, it: &Remark) -> Value {
        json!({
            "id": it.id,
            "node_id": format!("PRRC_{}", it.id),
            "url": self.url(&format!("pulls/comments/{}", it.id)),
            "pull_request_review_id": null,
            "diff_hunk": "@@ -1 +1 @@",
            "path": it.path,
            "commit_id": it.commit,
            "original_commit_id": it.commit,
            "user": self.user(&it.by),
            "body": it.body,
            "line": it.line,
            "original_line": it.line,
            "side": "RIGHT",
            "html_url": self.html(&format!("pull/{number}#discussion_r{}", it.id)),
            "pull_request_url": self.url(&format!("pulls/{number}")),
            "created_at": stamp(it.at_s),
            "updated_at": stamp(it.at_s),
            "author_association": self.association(&it.by),
        })
    }

    pub fn check_run(&self, id: u64, name: &str, commit: &str, seen: &Seen) -> Option<Value> {
        let (status, ended) = match seen {
            Seen::Nothing => return None,
            Seen::Queued => ("queued", None),
            Seen::Running => ("in_progress", None),
            Seen::Ended { conclusion, summary, annotations } => {
                ("completed", Some((conclusion, summary, annotations.len())))
            }
        };
        let over = ended.is_some();
        let summary = ended.map(|(_, summary, _)| summary.clone()).filter(|it| !it.is_empty());
        Some(json!({
            "id": id,
            "node_id": format!("CR_{id}"),
            "head_sha": commit,
            "external_id": "",
            "url": self.url(&format!("check-runs/{id}")),
            "html_url": self.html(&format!("runs/{id}")),
            "details_url": self.html(&format!("runs/{id}")),
            "status": status,
            "conclusion": ended.map(|(conclusion, _, _)| conclusion),
            "started_at": stamp(self.world.now_s),
            "completed_at": over.then(|| stamp(self.world.now_s)),
            "output": {
                "title": summary.as_ref().map(|_| name),
                "summary": summary,
                "text": null,
                "annotations_count": ended.map_or(0, |(_, _, count)| count),
                "annotations_url": self.url(&format!("check-runs/{id}/annotations")),
            },
            "name": name,
            "check_suite": {"id": 1},
            "app": {"id": 15368, "slug": "github-actions", "name": "GitHub Actions"},
            "pull_requests": [],
        }))
    }

    pub fn status(&self, id: u64, context: &str, seen: &Seen) -> Option<Value> {
        let (state, about) = match seen {
            Seen::Nothing => return None,
            Seen::Queued | Seen::Running => ("pending", String::new()),
            Seen::Ended { conclusion, summary, .. } => (*conclusion, summary.clone()),
        };
        Some(json!({
            "url": self.url(&format!("statuses/{id}")),
            "avatar_url": null,
            "id": id,
            "node_id": format!("SC_{id}"),
            "state": state,
            "description": about,
            "target_url": format!("https://ci.example/{id}"),
            "context": context,
            "created_at": stamp(self.world.now_s),
            "updated_at": stamp(self.world.now_s),
        }))
    }
}
