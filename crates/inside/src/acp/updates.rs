//! What a server tells while it works (`session/update`), and what of it others are to hear.

use std::collections::{BTreeSet, VecDeque};

use serde_json::Value as Json;
use windlass_agents::own::Said;
use windlass_agents::{DRIFT, micros};

use super::rpc::text;

/// What was heard so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Updates {
    /// What the model has said since it used a tool, or since its last message began.
    said: String,
    /// The server's name for that message, if it has one.
    message: Option<String>,
    tools: VecDeque<Tool>,
    /// It has used a tool.
    acted: bool,
    /// What it says that the session has cost, in millionths of a dollar.
    cost_micros: Option<u64>,
    /// The most tokens that it had in its context.
    context: u64,
}

/// Something that is not as it should be.
fn strange(what: &str) -> Said {
    Said::Remark { text: format!("{DRIFT}{what}") }
}

fn without(update: &str, path: &str) -> Said {
    strange(&format!("`{update}` is without `{path}`"))
}

/// What is not an image, a link or the like.
fn is_text(content: &Json) -> bool {
    text(content, "type").is_none_or(|kind| kind == "text")
}

/// A tool that is used.
#[derive(Clone, Debug, Default)]
struct Tool {
    id: String,
    kind: String,
    title: String,
    /// Others have heard of it.
    told: bool,
    /// Files that it says it is about.
    places: BTreeSet<String>,
    /// What it was about when it ended has been told.
    over: bool,
}

/// So many tools may still be heard of again.
const TOOLS: usize = 256;
/// So many files of one are told.
const PLACES: usize = 64;
/// Of what a model says in one go, no more than this is kept: its end, where the answer is.
const SAID_BYTES: usize = 2 << 20;

impl Updates {
    /// One more update.
    pub fn take(&mut self, update: &Json) -> Vec<Said> {
        match text(update, "sessionUpdate") {
            Some("agent_message_chunk") => self.chunk(update),
            Some("tool_call" | "tool_call_update") => self.tool(update),
            Some("usage_update") => {
                self.usage(update);
                Vec::new()
            }
            // How it is doing: nobody listens to that.
            Some(
                "agent_thought_chunk"
                | "available_commands_update"
                | "config_option_update"
                | "current_mode_update"
                | "plan"
                | "session_info_update"
                | "user_message_chunk",
            ) => Vec::new(),
            Some(other) => vec![strange(&format!("an update `{other}` is new"))],
            None => vec![strange("an update without a name is new")],
        }
    }

    fn chunk(&mut self, update: &Json) -> Vec<Said> {
        let content = update.get("content").unwrap_or(&Json::Null);
        let Some(more) = text(content, "text").filter(|more| !more.is_empty()) else {
            let nothing = text(content, "text").is_none() && is_text(content);
            return nothing
                .then(|| without("agent_message_chunk", "content.text"))
                .into_iter()
                .collect();
        };
        let message = text(update, "messageId").map(str::to_owned);
        let another = message.is_some() && self.message.is_some() && message != self.message;
        let said = if another { self.hush() } else { None };
        self.message = message.or(self.message.take());
        self.said.push_str(more);
        if self.said.len() > 2 * SAID_BYTES {
            let from = self.said.floor_char_boundary(self.said.len() - SAID_BYTES);
            self.said.drain(..from);
        }
        said.into_iter().collect()
    }

    /// It says no more for now: what it has said.
    fn hush(&mut self) -> Option<Said> {
        self.message = None;
        let text = std::mem::take(&mut self.said);
        (!text.trim().is_empty()).then_some(Said::Text { text })
    }

    /// A tool is used, or is about to be: what is known of it now.
    pub fn tool(&mut self, call: &Json) -> Vec<Said> {
        let Some(id) = text(call, "toolCallId") else {
            return vec![without("tool_call", "toolCallId")];
        };
        let at = self.tools.iter().rposition(|tool| tool.id == id);
        let mut said = Vec::new();
        if at.is_none() {
            self.acted = true;
            said.extend(self.hush());
            if self.tools.len() >= TOOLS {
                self.tools.pop_front();
            }
            self.tools.push_back(Tool { id: id.to_owned(), ..Tool::default() });
        }
        let at = at.unwrap_or(self.tools.len() - 1);
        if let Some(tool) = self.tools.get_mut(at) {
            said.extend(tool.hear(call));
        }
        said
    }

    /// The kind of a tool, as a request for permission or an earlier update says it.
    pub fn kind(&self, call: &Json) -> String {
        let known = || {
            let id = text(call, "toolCallId")?;
            let tool = self.tools.iter().rev().find(|tool| tool.id == id)?;
            Some(tool.kind.as_str()).filter(|kind| !kind.is_empty())
        };
        text(call, "kind").or_else(known).unwrap_or("other").to_owned()
    }

    fn usage(&mut self, update: &Json) {
        let figure = |key: &str| update.get(key).and_then(Json::as_u64);
        self.context = self.context.max(figure("used").unwrap_or(0));
        let Some(cost) = update.get("cost") else { return };
        let amount = cost.get("amount").and_then(Json::as_f64);
        // Who has used tokens and says that they cost nothing does not know what they cost.
        let known = amount.filter(|it| *it > 0.0 && text(cost, "currency") == Some("USD"));
        self.cost_micros = self.cost_micros.max(known.and_then(micros));
    }

    /// What the session has cost, if the server says so.
    pub fn cost_micros(&self) -> Option<u64> {
        self.cost_micros
    }

    /// So many tokens were used up at least: that much was in its context at once.
    pub fn tokens_min(&self) -> u64 {
        self.context
    }

    /// Whether it has used a tool.
    pub fn acted(&self) -> bool {
        self.acted
    }

    /// What the model said last, after everything it did.
    pub fn answer(&self) -> String {
        self.said.clone()
    }
}

impl Tool {
    fn hear(&mut self, call: &Json) -> Vec<Said> {
        let mut said = Vec::new();
        for (own, key) in [(&mut self.kind, "kind"), (&mut self.title, "title")] {
            if let Some(new) = text(call, key) {
                new.clone_into(own);
            }
        }
        let list = |key: &str| call.get(key).and_then(Json::as_array).into_iter().flatten();
        let diffs = list("content").filter(|part| text(part, "type") == Some("diff"));
        let paths = diffs.chain(list("locations")).filter_map(|place| text(place, "path"));
        for path in paths {
            if self.places.len() < PLACES {
                self.places.insert(path.to_owned());
            }
        }
        let status = text(call, "status");
        let begun = matches!(status, Some("in_progress" | "completed" | "failed"));
        if !self.told && (begun || !self.places.is_empty() || call.get("options").is_some()) {
            self.told = true;
            let command = call.pointer("/rawInput/command").and_then(Json::as_str);
            let about = command.unwrap_or(&self.title).to_owned();
            said.push(Said::Tool { name: self.name(), about });
        }
        let changes = matches!(self.kind.as_str(), "edit" | "delete" | "move");
        if status == Some("completed") && changes && !self.over {
            self.over = true;
            said.extend(self.places.iter().map(|path| Said::Change { path: path.clone() }));
        }
        said
    }

    fn name(&self) -> String {
        if self.kind.is_empty() { "other".to_owned() } else { self.kind.clone() }
    }
}

/// What a prompt has used up, as the answer to it says: for each model, and else all together.
pub(crate) fn used(result: &Json, model: &str) -> Vec<Said> {
    let models = result.pointer("/_meta/quota/model_usage").and_then(Json::as_array);
    let by_model = models.into_iter().flatten().enumerate().filter_map(|(at, one)| {
        let model = text(one, "model").unwrap_or(model);
        figures(&format!("{at}"), model, one.get("token_count")?)
    });
    let by_model: Vec<Said> = by_model.collect();
    if !by_model.is_empty() {
        return by_model;
    }
    let all = result.get("usage").or_else(|| result.pointer("/_meta/quota/token_count"));
    all.and_then(|all| figures("all", model, all)).into_iter().collect()
}

fn figures(request: &str, model: &str, count: &Json) -> Option<Said> {
    let figure = |keys: &[&str]| keys.iter().find_map(|key| count.get(*key)?.as_u64()).unwrap_or(0);
    let input = figure(&["inputTokens", "input_tokens"]);
    let cached = figure(&["cachedReadTokens", "cachedInputTokens", "cached_read_tokens"]);
    let cache_write =
        figure(&["cachedWriteTokens", "cacheWriteInputTokens", "cached_write_tokens"]);
    let output = figure(&["outputTokens", "output_tokens"]);
    let total = figure(&["totalTokens", "total_tokens"]);
    let named =
        [input, cached, cache_write, output].iter().fold(0_u64, |a, b| a.saturating_add(*b));
    // What is in no other figure is what the model thought.
    let output = output.saturating_add(total.saturating_sub(named));
    let (request, model) = (request.to_owned(), model.to_owned());
    let some = named > 0 || total > 0;
    some.then_some(Said::Usage { request, model, input, cached, cache_write, output })
}

/// All tokens that are told of.
pub(crate) fn total(used: &[Said]) -> u64 {
    let tokens = used.iter().map(|said| match said {
        Said::Usage { input, cached, cache_write, output, .. } => {
            [input, cached, cache_write, output]
                .into_iter()
                .fold(0, |a: u64, b| a.saturating_add(*b))
        }
        _ => 0,
    });
    tokens.fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn chunk(message: Option<&str>, text: &str) -> Json {
        let content = json!({ "type": "text", "text": text });
        json!({ "sessionUpdate": "agent_message_chunk", "messageId": message, "content": content })
    }

    fn call(kind: &str, more: Json) -> Json {
        let mut call = json!({ "sessionUpdate": kind, "toolCallId": "c" });
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        call
    }

    fn text_of(said: &str) -> Said {
        Said::Text { text: said.to_owned() }
    }

    #[test]
    fn the_answer_is_what_was_said_after_everything_that_was_done() {
        let mut updates = Updates::default();
        assert_eq!(updates.take(&chunk(None, "I look ")), []);
        assert_eq!(updates.take(&chunk(None, "at it.")), []);
        let read = json!({ "status": "in_progress", "kind": "read", "title": "a.txt" });
        let tool = Said::Tool { name: "read".into(), about: "a.txt".into() };
        assert_eq!(updates.take(&call("tool_call", read)), [text_of("I look at it."), tool]);
        assert_eq!(updates.answer(), "");
        updates.take(&chunk(Some("m1"), "It is there."));
        // What comes late of a tool that is known is no new one.
        assert_eq!(updates.take(&call("tool_call_update", json!({ "status": "completed" }))), []);
        assert_eq!(updates.answer(), "It is there.");
        assert_eq!(updates.take(&chunk(Some("m2"), "")), []);
        assert_eq!(updates.take(&chunk(Some("m2"), "done")), [text_of("It is there.")]);
        assert_eq!(updates.answer(), "done");
        assert!(updates.acted());
    }

    #[test]
    fn a_change_is_told_when_it_is_made_and_once() {
        let mut updates = Updates::default();
        let pending =
            json!({ "status": "pending", "kind": "edit", "title": "edit", "locations": [] });
        assert_eq!(updates.take(&call("tool_call", pending)), []);
        let diff = json!({ "content": [{ "type": "diff", "path": "/lane/a" }, 7], "title": "a" });
        let tool = Said::Tool { name: "edit".into(), about: "a".into() };
        assert_eq!(updates.take(&call("tool_call_update", diff)), [tool]);
        let done = json!({ "status": "completed", "locations": [{ "path": "/lane/b" }, {}] });
        let change = |path: &str| Said::Change { path: path.to_owned() };
        let want = [change("/lane/a"), change("/lane/b")];
        assert_eq!(updates.take(&call("tool_call_update", done.clone())), want);
        assert_eq!(updates.take(&call("tool_call_update", done)), []);
        assert_eq!(updates.kind(&json!({ "toolCallId": "c" })), "edit");
        assert_eq!(updates.kind(&json!({ "toolCallId": "d" })), "other");
    }

    #[test]
    fn what_it_cost_only_grows_and_nothing_is_not_known() {
        let mut updates = Updates::default();
        let cost = |amount: Json, currency: &str| {
            let cost = json!({ "amount": amount, "currency": currency });
            json!({ "sessionUpdate": "usage_update", "used": 100, "cost": cost })
        };
        for unknown in [cost(json!(0.0), "USD"), cost(json!(1.0), "EUR"), cost(json!("1"), "USD")] {
            updates.take(&unknown);
            assert_eq!(updates.cost_micros(), None, "{unknown}");
        }
        updates.take(&cost(json!(0.010_655), "USD"));
        updates.take(&cost(json!(0.002), "USD"));
        assert_eq!((updates.cost_micros(), updates.tokens_min()), (Some(10_655), 100));
    }

    #[test]
    fn what_is_not_as_it_should_be_is_remarked() {
        let mut updates = Updates::default();
        let text = |kind: &str| json!({ "type": kind, "txet": "x" });
        for (update, want) in [
            (json!({ "sessionUpdate": "of tomorrow" }), Some("an update `of tomorrow` is new")),
            (json!({ "update": "plan" }), Some("an update without a name is new")),
            (
                json!({ "sessionUpdate": "tool_call", "id": "1" }),
                Some("`tool_call` is without `toolCallId`"),
            ),
            (
                json!({ "sessionUpdate": "agent_message_chunk", "content": text("text") }),
                Some("`agent_message_chunk` is without `content.text`"),
            ),
            (json!({ "sessionUpdate": "agent_message_chunk", "content": text("image") }), None),
            (json!({ "sessionUpdate": "plan", "entries": [] }), None),
            (chunk(None, ""), None),
        ] {
            let want: Vec<Said> = want.map(strange).into_iter().collect();
            assert_eq!(updates.take(&update), want, "{update}");
        }
    }

    #[test]
    fn whatever_is_in_an_update_is_no_reason_to_stumble() {
        let mut updates = Updates::default();
        let odd = [
            json!(null),
            json!([]),
            json!({ "sessionUpdate": 1 }),
            json!({ "sessionUpdate": "tool_call" }),
            json!({ "sessionUpdate": "tool_call", "toolCallId": {}, "content": 1 }),
            json!({ "sessionUpdate": "agent_message_chunk", "content": { "text": 1 } }),
            json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "image" } }),
            json!({ "sessionUpdate": "usage_update", "used": -1, "cost": [] }),
            json!({ "sessionUpdate": "plan", "entries": [] }),
            json!({ "sessionUpdate": "of tomorrow" }),
        ];
        for update in odd {
            let said = updates.take(&update);
            assert!(said.iter().all(|it| matches!(it, Said::Remark { .. })), "{update}");
        }
        for at in 0..2_000 {
            updates.take(&json!({ "sessionUpdate": "tool_call", "toolCallId": at.to_string() }));
        }
        assert!(updates.tools.len() <= TOOLS);
        let long = "ä".repeat(300_000);
        (0..20).for_each(|_| drop(updates.take(&chunk(None, &long))));
        updates.take(&chunk(None, "the end"));
        assert!(updates.answer().len() <= 2 * SAID_BYTES && updates.answer().ends_with("the end"));
    }

    #[test]
    fn what_was_used_is_told_by_model_where_the_server_says_so() {
        let count = json!({ "inputTokens": 5, "cachedInputTokens": 3, "outputTokens": 2, "totalTokens": 14 });
        let quota =
            json!({ "model_usage": [{ "model": "m", "token_count": count }, { "model": "n" }] });
        let both = json!({ "usage": { "inputTokens": 1 }, "_meta": { "quota": quota } });
        let usage = |request: &str, model: &str, input, cached, output| Said::Usage {
            request: request.to_owned(),
            model: model.to_owned(),
            input,
            cached,
            cache_write: 0,
            output,
        };
        assert_eq!(used(&both, "own"), [usage("0", "m", 5, 3, 6)], "what is left was thought");
        let plain =
            json!({ "usage": { "inputTokens": 1, "cachedReadTokens": 2, "outputTokens": 3 } });
        assert_eq!(used(&plain, "own"), [usage("all", "own", 1, 2, 3)]);
        assert_eq!(total(&used(&plain, "own")), 6);
        for nothing in [json!(null), json!({}), json!({ "usage": {} }), json!({ "usage": 1 })] {
            assert_eq!(used(&nothing, "own"), []);
        }
    }
}
