//! What a server may use, by what it says that a tool does.
//!
//! That is a policy and no wall: a server need not ask, and what it says of a tool is its own word. The wall is the sandbox
//! that it is in. But one that asks is answered as the role has it, at once and always the same.

use serde_json::{Value as Json, json};

use super::rpc::text;

/// What a role may use.
pub(crate) struct Policy {
    tools: Vec<String>,
}

/// What a server is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It may, by this option.
    Allowed(String),
    /// It may not, by this option.
    Rejected(String),
    /// There is no option that fits.
    Cancelled,
}

impl Outcome {
    pub fn to_json(&self) -> Json {
        match self {
            Outcome::Allowed(id) | Outcome::Rejected(id) => {
                json!({ "outcome": { "outcome": "selected", "optionId": id } })
            }
            Outcome::Cancelled => json!({ "outcome": { "outcome": "cancelled" } }),
        }
    }
}

impl Policy {
    /// By the words that roles use; everything but `web`, if there is none.
    pub fn new(tools: &[String]) -> Self {
        Policy { tools: tools.to_vec() }
    }

    fn has(&self, word: &str) -> bool {
        if self.tools.is_empty() { word != "web" } else { self.tools.iter().any(|own| own == word) }
    }

    /// Whether a tool of a kind may be used, by the protocol's own words for kinds.
    pub fn allows(&self, kind: &str) -> bool {
        match kind {
            "think" => true,
            "read" => self.has("read"),
            "search" => self.has("read") || self.has("search"),
            "edit" | "delete" | "move" => self.has("edit"),
            "fetch" => self.has("web"),
            // How it works is not for itself to say.
            "switch_mode" => false,
            // A command can do whatever a tool can that does not say what it does.
            _ => self.has("run"),
        }
    }

    /// Whether a file may be read for it.
    pub fn reads(&self) -> bool {
        ["read", "search", "edit"].iter().any(|word| self.has(word))
    }

    /// Whether a file may be written for it.
    pub fn writes(&self) -> bool {
        self.has("edit")
    }

    /// The answer to a request for permission, given what there is to choose from.
    pub fn outcome(&self, kind: &str, options: &Json) -> Outcome {
        let option = |wanted: &str| {
            let mut options = options.as_array().into_iter().flatten();
            let found = options.find(|option| text(option, "kind") == Some(wanted))?;
            text(found, "optionId").map(str::to_owned)
        };
        // What is allowed for good is not asked again, whatever it is then.
        let found = if self.allows(kind) {
            option("allow_once").map(Outcome::Allowed)
        } else {
            option("reject_once").or_else(|| option("reject_always")).map(Outcome::Rejected)
        };
        found.unwrap_or(Outcome::Cancelled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [&str; 10] = [
        "read",
        "search",
        "edit",
        "delete",
        "move",
        "execute",
        "think",
        "fetch",
        "switch_mode",
        "other",
    ];

    fn policy(tools: &[&str]) -> Policy {
        Policy::new(&tools.iter().map(|&tool| tool.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_role_says_which_kinds_of_tools_may_be_used() {
        for (tools, allowed) in [
            (&[][..], "read search edit delete move execute think other"),
            (&["read"], "read search think"),
            (&["search"], "search think"),
            (&["edit"], "edit delete move think"),
            (&["run"], "execute think other"),
            (&["web"], "think fetch"),
            (
                &["read", "search", "edit", "run"],
                "read search edit delete move execute think other",
            ),
        ] {
            let policy = policy(tools);
            let found: Vec<&str> = KINDS.into_iter().filter(|kind| policy.allows(kind)).collect();
            assert_eq!(found.join(" "), allowed, "{tools:?}");
            assert_eq!(policy.allows("a kind of tomorrow"), policy.allows("other"));
        }
        let may = |tools: &[&str]| (policy(tools).reads(), policy(tools).writes());
        assert_eq!(
            (may(&[]), may(&["read"]), may(&["run"])),
            ((true, true), (true, false), (false, false))
        );
    }

    #[test]
    fn once_is_enough_and_what_does_not_fit_is_cancelled() {
        let options = |kinds: &[&str]| {
            let option = |kind: &&str| json!({ "optionId": format!("the {kind}"), "kind": kind });
            Json::Array(kinds.iter().map(option).collect())
        };
        let all = options(&["allow_always", "reject_always", "allow_once", "reject_once"]);
        let policy = policy(&["read"]);
        assert_eq!(policy.outcome("read", &all), Outcome::Allowed("the allow_once".into()));
        assert_eq!(policy.outcome("edit", &all), Outcome::Rejected("the reject_once".into()));
        let for_good = options(&["allow_always", "reject_always"]);
        assert_eq!(policy.outcome("read", &for_good), Outcome::Cancelled);
        assert_eq!(
            policy.outcome("edit", &for_good),
            Outcome::Rejected("the reject_always".into())
        );
        for nothing in
            [json!([]), json!(null), json!([{ "kind": "allow_once" }]), json!("allow_once")]
        {
            assert_eq!(policy.outcome("read", &nothing), Outcome::Cancelled, "{nothing}");
            assert_eq!(policy.outcome("edit", &nothing), Outcome::Cancelled, "{nothing}");
        }
        let said = policy.outcome("read", &all).to_json();
        assert_eq!(said["outcome"]["optionId"], "the allow_once");
    }
}
